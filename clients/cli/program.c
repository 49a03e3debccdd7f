#include "program.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "signals.h"

static void run_child(char *const *argv, const char *variable, const char *value)
{
    ft_signals_default();
    setenv(variable, value, 1);
    execvp(argv[0], argv);
    fprintf(stderr, "foretell: %s: %s\n", argv[0], strerror(errno));
    _exit(FT_PROGRAM_NOT_STARTED);
}

int ft_program_run(char *const *argv, const char *variable, const char *value)
{
    int status = 0;
    bool told = false;
    ft_signals_catch();
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return FT_PROGRAM_NOT_STARTED << 8;
    if (!child) run_child(argv, variable, value);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        if (told || !ft_signals_caught()) continue;
        kill(child, ft_signals_caught());
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
