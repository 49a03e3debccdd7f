#include "program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "signals.h"

enum { STRIDE = 256 };
#define READ_PERSONALITY 0xFFFFFFFFul

/* NAME=PATH, the path as long as others are: stacks begin behind the environment, so its length
 * moves them. */
static char *padded(const char *variable, const char *path)
{
    ft_strbuf entry = {0};
    ft_strbuf_printf(&entry, "%s=%s", variable, *path == '/' ? "//" : "./");
    for (size_t left = STRIDE - strlen(path) % STRIDE; left; left--) ft_strbuf_add(&entry, "/", 1);
    ft_strbuf_add(&entry, path, strlen(path));
    return ft_strbuf_take(&entry);
}

/* Ours, with that entry in place of one that was there; the array is on the heap. */
static char **environment_with(char *entry)
{
    size_t n = 0, kept = 0, name = strcspn(entry, "=") + 1;
    while (environ[n]) n++;
    char **environment = ft_calloc(n + 2, sizeof *environment);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], entry, name) != 0) environment[kept++] = environ[i];
    environment[kept] = entry;
    return environment;
}

/* Without address space randomisation, where that is allowed: addresses are values too, and are to
 * be the same in the same run. Other threads of ours ran when this process was made, so that their
 * locks are held for ever here: nothing is allocated any more. */
static void run_child(char *const *argv, char *const *environment)
{
    ft_signals_default();
    int before = personality(READ_PERSONALITY);
    if (before >= 0) personality((unsigned long)before | ADDR_NO_RANDOMIZE);
    execvpe(argv[0], argv, environment);
    fprintf(stderr, "foretell: %s: %s\n", argv[0], strerrordesc_np(errno));
    _exit(FT_PROGRAM_NOT_STARTED);
}

int ft_program_run(char *const *argv, const char *variable, const char *path)
{
    int status = 0;
    bool told = false;
    char *entry = padded(variable, path), **environment = environment_with(entry);
    ft_signals_catch();
    fflush(NULL);
    pid_t child = fork();
    if (!child) run_child(argv, environment);
    free(environment);
    free(entry);
    if (child < 0) return FT_PROGRAM_NOT_STARTED << 8;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        if (!ft_signals_caught()) continue;
        kill(child, told ? SIGKILL : ft_signals_caught());
        told = true;
    }
    return status;
}

void ft_program_end(int status, ft_strbuf *out)
{
    if (WIFSIGNALED(status))
        ft_strbuf_printf(out, "killed by signal %d (%s)", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
    else
        ft_strbuf_printf(out, "exit code %d", WEXITSTATUS(status));
}

char *ft_program_find(const char *name)
{
    const char *at = getenv("PATH");
    if (strchr(name, '/') || !at) return access(name, X_OK) ? NULL : ft_strdup(name);
    for (;;) {
        size_t length = strcspn(at, ":");
        ft_strbuf path = {0};
        ft_strbuf_add(&path, at, length);
        ft_strbuf_printf(&path, "%s%s", length ? "/" : "", name);
        char *file = ft_strbuf_take(&path);
        if (!access(file, X_OK)) return file;
        free(file);
        if (!at[length]) return NULL;
        at += length + 1;
    }
}

const char *ft_program_absent(const char *name)
{
    struct stat file;
    char *path = ft_program_find(name);
    bool changes = path && stat(path, &file) == 0 && file.st_mode & (S_ISUID | S_ISGID);
    free(path);
    return changes ? "is set-user-ID or set-group-ID, so that the system keeps the recorder out: "
                     "take that away for the recording (chmod ug-s)"
                   : "was not built with the recorder, or with that of another Foretell: build it "
                     "with CC=foretell-cc CXX=foretell-c++";
}
