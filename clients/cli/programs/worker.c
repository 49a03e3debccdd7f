#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/memory.h"
#include "programs/programs.h"

extern char **environ;

#define PROGRAM "foretell-worker"

/* Beside this program, or on PATH. */
static char *find_worker(void)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ft_strbuf path = {0};
    if (length > 0) {
        self[length] = '\0';
        char *slash = strrchr(self, '/');
        if (slash) *slash = '\0';
        ft_strbuf_printf(&path, "%s/" PROGRAM, self);
        if (access(ft_strbuf_text(&path), X_OK) == 0) return ft_strbuf_take(&path);
    }
    ft_strbuf_release(&path);
    return ft_strdup(PROGRAM);
}

static ft_status append_file(FILE *to, const char *path, FILE *from, ft_error *err)
{
    char part[65536];
    FILE *file = from ? from : fopen(path, "re");
    if (!file) return ft_error_set(err, FT_IO, "cannot be read: %s", strerror(errno));
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) (void)fwrite(part, 1, n, to);
    bool good = !ferror(file) && !ferror(to);
    if (!from) fclose(file);
    return good ? FT_OK : ft_error_set(err, FT_IO, "cannot be copied: %s", strerror(errno));
}

/* The question and the program, as the worker reads them. */
static ft_status make_input(const ft_options *o, const json_t *question, FILE *to, ft_error *err)
{
    const char *first = o->arguments.data[0];
    if (json_dumpf(question, to, JSON_COMPACT) || putc('\n', to) == EOF)
        return ft_error_set(err, FT_IO, "a temporary file cannot be written: %s", strerror(errno));
    if (!ft_lowering_takes(first)) {
        if (o->arguments.len > 1)
            return ft_error_set(err, FT_USAGE, "give one program, or sources of one");
        return append_file(to, first, NULL, err);
    }
    FILE *lowered = tmpfile();
    if (!lowered)
        return ft_error_set(err, FT_IO, "a temporary file cannot be made: %s", strerror(errno));
    ft_status status = ft_lowering_run(o, NULL, lowered, err);
    if (status == FT_OK) status = append_file(to, NULL, lowered, err);
    fclose(lowered);
    return status;
}

static ft_status start(const char *mode, FILE *input, int output, pid_t *pid, ft_error *err)
{
    char *program = find_worker(), *words[] = {program, (char *)mode, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    int error = posix_spawnp(pid, program, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    free(program);
    if (!error) return FT_OK;
    return ft_error_set(err, FT_USAGE, PROGRAM " cannot be started: %s; install it beside foretell",
                        strerror(error));
}

static ft_status end(pid_t pid, json_t **answer, ft_error *err)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFSIGNALED(status))
        return ft_error_set(err, FT_INTERNAL, PROGRAM " was ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) || !*answer)
        return ft_error_set(err, FT_INTERNAL, PROGRAM " ended with exit code %d and no answer",
                            WEXITSTATUS(status));
    return FT_OK;
}

ft_status ft_worker_ask(const ft_options *options, const char *mode, const json_t *question,
                        json_t **answer, ft_error *err)
{
    FT_REQUIRE(options->arguments.len && mode && question && answer);
    int ends[2] = {-1, -1};
    pid_t pid = -1;
    FILE *input = tmpfile(), *output = NULL;
    if (!input || pipe(ends))
        return ft_error_set(err, FT_IO, "a temporary file cannot be made: %s", strerror(errno));
    ft_status status = make_input(options, question, input, err);
    if (status == FT_OK && fflush(input))
        status =
            ft_error_set(err, FT_IO, "a temporary file cannot be written: %s", strerror(errno));
    rewind(input);
    if (status == FT_OK) status = start(mode, input, ends[1], &pid, err);
    close(ends[1]);
    if (status == FT_OK && (output = fdopen(ends[0], "r"))) {
        *answer = json_loadf(output, 0, NULL);
        status = end(pid, answer, err);
    }
    if (output)
        fclose(output);
    else
        close(ends[0]);
    fclose(input);
    return status;
}
