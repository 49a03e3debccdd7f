#include "base/contract.h"
#include "recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "maker/maker.h"
#include "raw/schedule.h"
#include "terminal/terminal.h"

enum { LINE = 8192 };

/* The dynamic linker lists what it would load and runs nothing of the program (ld.so(8)). */
static FILE *list_libraries(const char *program, pid_t *child)
{
    FT_REQUIRE(strchr(program, '/')); /* execl looks nowhere for it */
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return NULL;
    *child = fork();
    if (*child == 0) {
        ft_signals_default();
        dup2(ends[1], STDOUT_FILENO);
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        execl(program, program, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    FILE *list = *child > 0 ? fdopen(ends[0], "re") : NULL;
    if (!list) close(ends[0]);
    return list;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "\tlibx.so => /lib/libx.so (0x...)": the path, NULL: another kind of line. */
static char *path_in(char *line)
{
    char *path = strstr(line, "=> ");
    if (!path) return NULL;
    path += strlen("=> ");
    char *end = strstr(path, " (0x");
    if (!end || *path != '/') return NULL;
    *end = 0;
    return path;
}

static ft_status check_library(const ft_trace *trace, const char *path, ft_error *err)
{
    char hash[FT_DIGEST_HEX + 1];
    for (uint32_t i = 1; i < trace->n_modules; i++) {
        const ft_module *module = &trace->modules[i];
        if (!module->hash[0] || strcmp(module->name, base_name(path)) != 0) continue;
        if (ft_record_hash(path, hash) && strcmp(hash, module->hash) != 0)
            return ft_error_set(
                err, FT_USAGE,
                "%s is not the recorded build: its SHA-256 is %s, that of %s in the trace is %s",
                path, hash, module->name, module->hash);
    }
    return FT_OK;
}

static ft_status check_linked(const ft_trace *trace, const char *program, ft_error *err)
{
    char line[LINE];
    pid_t child = -1;
    ft_status status = FT_OK;
    if (trace->n_modules < 2) return FT_OK;
    FILE *list = list_libraries(program, &child);
    while (list && fgets(line, sizeof line, list)) {
        const char *path = path_in(line);
        if (path && status == FT_OK) status = check_library(trace, path, err);
    }
    if (list) fclose(list);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    return status;
}

ft_status ft_libraries_check_loaded(const ft_trace *trace, int fd, uint64_t at, ft_error *err)
{
    ft_schedule head;
    ft_schedule_module module;
    if (pread(fd, &head, sizeof head, (off_t)at) != (ssize_t)sizeof head) return FT_OK;
    at += ft_schedule_modules_at(&head);
    for (uint32_t m = 0; m < head.modules; m++, at += sizeof module) {
        if (pread(fd, &module, sizeof module, (off_t)at) != (ssize_t)sizeof module) return FT_OK;
        module.path[FT_SCHEDULE_PATH - 1] = 0;
        ft_status status = *module.path ? check_library(trace, module.path, err) : FT_OK;
        if (status) return status;
    }
    return FT_OK;
}

/* A recording goes through a script (libtool's wrappers are some) to what it starts; a replay has
 * to know that. */
static bool is_script(const char *path)
{
    char begin[2] = {0};
    FILE *file = fopen(path, "re");
    bool found = file && fread(begin, 1, sizeof begin, file) == sizeof begin && begin[0] == '#' &&
                 begin[1] == '!';
    if (file) fclose(file);
    return found;
}

ft_status ft_build_check(const ft_trace *trace, const char *name, char **program, ft_error *err)
{
    char hash[FT_DIGEST_HEX + 1];
    const ft_module *built = &trace->modules[0];
    *program = ft_program_find(name);
    if (!*program) return ft_error_set(err, FT_USAGE, "%s: there is no such program", name);
    if (!ft_record_hash(*program, hash))
        return ft_error_set(err, FT_USAGE, "%s: cannot be read", name);
    if (!built->hash[0] || !strcmp(hash, built->hash)) return check_linked(trace, *program, err);
    if (is_script(*program))
        return ft_error_set(err, FT_INPUT,
                            "%s: is a script: name the program that it starts, which was recorded "
                            "(%s)",
                            name, built->name);
    return ft_error_set(err, FT_INPUT,
                        "%s: is not the program that was recorded: its content has SHA-256 "
                        "%.16s..., that of the trace (%s) %.16s...",
                        name, hash, built->name, built->hash);
}
