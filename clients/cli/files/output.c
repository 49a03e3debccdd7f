#include "base/contract.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
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

static ft_trace_writer writer_of(const char *format, const char *path)
{
    for (size_t i = 0; i < N_WRITERS; i++) {
        bool fits =
            format ? strcmp(writers[i].format, format) == 0 : ends_in(path, writers[i].endings);
        if (fits) return writers[i].write;
    }
    return NULL;
}

/* It says that another tool has to unpack it first. */
static bool is_packed(const char *path)
{
    return ends_in(path, ".gz .bz2 .xz .zst .lz4 .zip");
}

ft_status ft_output_choose(const char *format, const char *path, const char *otherwise,
                           ft_trace_writer *writer, ft_error *err)
{
    FT_REQUIRE(path != NULL && writer != NULL);
    ft_trace_writer found = writer_of(format, path);
    if (!found && otherwise && !is_packed(path)) found = writer_of(otherwise, path);
    if (!found)
        return ft_error_set(err, FT_USAGE,
                            "the name %s does not imply a format: give --to ndjson or --to binary",
                            path);
    *writer = found;
    return FT_OK;
}

enum { PATH_ROOM = 32, MOST_LINKS = 40 };

struct ft_output {
    FILE *file;
    char *temporary; /* NULL: written where it is */
    bool nameless;   /* `temporary` is the name that it gets before it is moved */
    char *given;     /* the caller's name of it, for messages */
    char *path;      /* where it is */
};

static ft_status unwritable(const ft_output *o, ft_error *err)
{
    const char *name = strcmp(o->given, "-") == 0 ? "standard output" : o->given;
    return ft_error_set(err, FT_USAGE, "%s cannot be written: %s", name, strerror(errno));
}

ft_status ft_output_sink(void *output, const void *data, size_t length, ft_error *err)
{
    ft_output *o = output;
    FT_REQUIRE(data || !length);
    return fwrite(data, 1, length, o->file) == length ? FT_OK : unwritable(o, err);
}

static void release_output(ft_output *o)
{
    free(o->temporary);
    free(o->given);
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

bool ft_output_is_standard(const char *path)
{
    struct stat there;
    bool exists = stat(path, &there) == 0;
    return is_standard(path, &there, exists && !S_ISCHR(there.st_mode));
}

static void name_of(int fd, char name[PATH_ROOM])
{
    snprintf(name, PATH_ROOM, "/proc/self/fd/%d", fd);
}

/* A file that has no name goes with the process that writes it, however that ends. Without /proc it
 * would never get one. */
static FILE *open_nameless(const char *path)
{
    char own[PATH_ROOM], *copy = ft_strdup(path);
    int fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(copy);
    name_of(fd, own);
    if (fd >= 0 && access(own, F_OK)) {
        close(fd);
        return NULL;
    }
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && !file) close(fd);
    return file;
}

/* The link's target, relative to the current folder; NULL: it is not a link. */
static char *read_link(const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0) return NULL;
    ft_strbuf name = {0};
    const char *slash = strrchr(path, '/');
    target[n] = 0;
    if (target[0] != '/' && slash) ft_strbuf_add(&name, path, (size_t)(slash - path) + 1);
    ft_strbuf_puts(&name, target);
    return ft_strbuf_take(&name);
}

/* realpath() does not know of a file that is not there yet. */
char *ft_output_place(const char *path)
{
    char *place = realpath(path, NULL);
    if (place) return place;
    place = ft_strdup(path);
    char *next = NULL;
    for (int i = 0; i < MOST_LINKS && (next = read_link(place)); i++) {
        free(place);
        place = next;
    }
    if (!next) return place;
    free(place);
    errno = ELOOP;
    return NULL;
}

/* Of a link the file behind it is replaced, not the link. Not every file system has files without a
 * name. */
static FILE *open_beside(ft_output *o)
{
    ft_strbuf name = {0};
    char *place = ft_output_place(o->path);
    if (!place) return NULL;
    free(o->path);
    o->path = place;
    ft_strbuf_printf(&name, "%s.part-%ld", o->path, (long)getpid());
    o->temporary = ft_strbuf_take(&name);
    FILE *file = open_nameless(o->path);
    o->nameless = file != NULL;
    return file ? file : fopen(o->temporary, "wxe");
}

static bool give_name(ft_output *o)
{
    char own[PATH_ROOM];
    FT_REQUIRE(o->nameless && o->temporary);
    name_of(fileno(o->file), own);
    if (linkat(AT_FDCWD, own, AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW)) return false;
    o->nameless = false;
    return true;
}

ft_status ft_output_open(const char *path, ft_output **output, ft_error *err)
{
    ft_output *o = ft_calloc(1, sizeof *o);
    struct stat there;
    bool exists = stat(path, &there) == 0;
    o->given = ft_strdup(path);
    o->path = ft_strdup(path);
    if (is_standard(path, &there, exists))
        o->file = stdout;
    else if (exists && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
        o->file = fopen(path, "we");
    else
        o->file = open_beside(o);
    if (o->file) {
        assert(!o->nameless || o->temporary);
        assert(o->file != stdout || !o->temporary); /* standard output is written in place */
        *output = o;
        return FT_OK;
    }
    ft_status status = unwritable(o, err);
    release_output(o);
    return status;
}

ft_status ft_output_close(ft_output *o, ft_status status, ft_error *err)
{
    FT_REQUIRE(o->file != NULL);
    bool bad = fflush(o->file) != 0 || ferror(o->file);
    if (bad && !status && o->file != stdout) status = unwritable(o, err);
    if (o->nameless && !status && !give_name(o)) status = unwritable(o, err);
    /* Errors of standard output are reported when the command ends. */
    if (o->file != stdout && fclose(o->file) && !status) status = unwritable(o, err);
    if (o->temporary && !status && rename(o->temporary, o->path)) status = unwritable(o, err);
    assert(status || !o->nameless); /* what is written well has its name */
    if (o->temporary && status && !o->nameless) remove(o->temporary);
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

ft_status ft_output_json(const json_t *json, const char *path, ft_error *err)
{
    ft_output *output;
    ft_status status = ft_output_open(path, &output, err);
    if (status) return status;
    json_dumpf(json, output->file, JSON_INDENT(1));
    fputs("\n", output->file);
    return ft_output_close(output, FT_OK, err);
}
