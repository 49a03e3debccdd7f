#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    char *temporary; /* NULL: standard output */
    char *path;
};

static ft_status unwritable(ft_error *err)
{
    return ft_error_set(err, FT_USAGE, "cannot be written: %s", strerror(errno));
}

ft_status ft_output_sink(void *output, const void *data, size_t length, ft_error *err)
{
    ft_output *o = output;
    return fwrite(data, 1, length, o->file) == length ? FT_OK : unwritable(err);
}

static void release_output(ft_output *o)
{
    free(o->temporary);
    free(o->path);
    free(o);
}

ft_status ft_output_open(const char *path, ft_output **output, ft_error *err)
{
    ft_output *o = ft_calloc(1, sizeof *o);
    ft_strbuf name = {0};
    o->path = ft_strdup(path);
    o->file = stdout;
    if (strcmp(path, "-")) {
        ft_strbuf_printf(&name, "%s.part-%ld", path, (long)getpid());
        o->temporary = ft_strbuf_take(&name);
        o->file = fopen(o->temporary, "wxe");
    }
    if (o->file) {
        *output = o;
        return FT_OK;
    }
    ft_status status = unwritable(err);
    release_output(o);
    return status;
}

ft_status ft_output_close(ft_output *o, ft_status status, ft_error *err)
{
    if (o->temporary) {
        if (fclose(o->file) && !status) status = unwritable(err);
        if (!status && rename(o->temporary, o->path)) status = unwritable(err);
        if (status) remove(o->temporary);
    }
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
