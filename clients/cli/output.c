#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *format, *endings; /* endings: ".a .b" */
    ft_trace_writer write;
} writers[] = {
    {"ndjson", ".ndjson .jsonl .json", ft_ndjson_write},
    {"binary", ".ftb .bin", ft_binary_write},
};
#define N_WRITERS (sizeof writers / sizeof writers[0])

static bool ends_in(const char *path, const char *endings)
{
    size_t length = strlen(path);
    while (*endings) {
        size_t one = strcspn(endings, " ");
        if (length > one && strncmp(path + length - one, endings, one) == 0) return true;
        endings += one + (endings[one] == ' ');
    }
    return false;
}

ft_trace_writer ft_output_writer(const char *format, const char *path)
{
    for (size_t i = 0; i < N_WRITERS; i++) {
        bool fits =
            format ? strcmp(writers[i].format, format) == 0 : ends_in(path, writers[i].endings);
        if (fits) return writers[i].write;
    }
    return NULL;
}

struct ft_output {
    FILE *file;
    char *temporary; /* NULL: written where it is */
    char *path;
};

static ft_status unwritable(const ft_output *o, ft_error *err)
{
    const char *name = strcmp(o->path, "-") == 0 ? "standard output" : o->path;
    return ft_error_set(err, FT_USAGE, "%s cannot be written: %s", name, strerror(errno));
}

ft_status ft_output_sink(void *output, const void *data, size_t length, ft_error *err)
{
    ft_output *o = output;
    return fwrite(data, 1, length, o->file) == length ? FT_OK : unwritable(o, err);
}

static void release_output(ft_output *o)
{
    free(o->temporary);
    free(o->path);
    free(o);
}

FILE *ft_output_file(ft_output *o)
{
    return o->file;
}

static bool is_standard(const char *path, const struct stat *there, bool exists)
{
    struct stat standard;
    if (strcmp(path, "-") == 0) return true;
    return exists && fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == there->st_dev &&
           standard.st_ino == there->st_ino;
}

/* Of a link the file behind it is replaced, not the link. */
static FILE *open_beside(ft_output *o)
{
    ft_strbuf name = {0};
    char *behind = realpath(o->path, NULL);
    if (behind) {
        free(o->path);
        o->path = behind;
    }
    ft_strbuf_printf(&name, "%s.part-%ld", o->path, (long)getpid());
    o->temporary = ft_strbuf_take(&name);
    return fopen(o->temporary, "wxe");
}

ft_status ft_output_open(const char *path, ft_output **output, ft_error *err)
{
    ft_output *o = ft_calloc(1, sizeof *o);
    struct stat there;
    bool exists = stat(path, &there) == 0;
    o->path = ft_strdup(path);
    if (is_standard(path, &there, exists))
        o->file = stdout;
    else if (exists && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
        o->file = fopen(path, "we");
    else
        o->file = open_beside(o);
    if (o->file) {
        *output = o;
        return FT_OK;
    }
    ft_status status = unwritable(o, err);
    release_output(o);
    return status;
}

ft_status ft_output_close(ft_output *o, ft_status status, ft_error *err)
{
    bool bad = fflush(o->file) != 0 || ferror(o->file);
    if (o->file == stdout)
        bad = false; /* what everybody prints there is looked at when the command ends */
    else
        bad |= fclose(o->file) != 0;
    if (bad && !status) status = unwritable(o, err);
    if (o->temporary && !status && rename(o->temporary, o->path)) status = unwritable(o, err);
    if (o->temporary && status) remove(o->temporary);
    release_output(o);
    return status;
}

ft_status ft_output_trace(const ft_trace *trace, ft_trace_writer write, const char *path,
                          ft_error *err)
{
    ft_output *output;
    ft_status status = ft_output_open(path, &output, err);
    return status ? status
                  : ft_output_close(output, write(trace, ft_output_sink, output, err), err);
}
