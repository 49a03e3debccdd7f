#include "exploring/oracle.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "terminal/terminal.h"

extern char **environ;

enum {
    PATIENCE = 30 /* s */,
    NOT_EXECUTABLE = 126, /* a shell's exit codes for a command that it cannot run */
    NOT_FOUND = 127,
    SIGNALLED = 128,
    MOST_SAID = 200,
    MOST_QUOTED = 60
};

/* ---- the command */

static int memory_file(ft_output_text content)
{
    int fd = memfd_create("foretell-output", MFD_CLOEXEC);
    for (size_t n = 0; fd >= 0 && n < content.size;) {
        ssize_t wrote = write(fd, content.bytes + n, content.size - n);
        if (wrote <= 0) break;
        n += (size_t)wrote;
    }
    if (fd >= 0) lseek(fd, 0, SEEK_SET);
    return fd;
}

/* In a process group of its own, so that all of it can be ended. 0, or an error number. */
static int start(const char *command, int in, int out, pid_t *child)
{
    char shell[] = "sh", option[] = "-c";
    char *text = ft_strdup(command);
    char *const words[] = {shell, option, text, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    int error = posix_spawn(child, "/bin/sh", &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(text);
    return error;
}

/* False: it was ended, since it took too long or the user wants to stop. */
static bool await(pid_t child, int *status)
{
    struct timespec pause = {.tv_nsec = 100000};
    long waited = 0; /* ns; longer pauses with time */
    while (waitpid(child, status, WNOHANG) != child) {
        if (waited / 1000000000 >= PATIENCE || ft_signals_caught()) {
            kill(-child, SIGKILL);
            while (waitpid(child, status, 0) < 0 && errno == EINTR) continue;
            return false;
        }
        nanosleep(&pause, NULL);
        waited += pause.tv_nsec;
        if (pause.tv_nsec < 20000000) pause.tv_nsec += pause.tv_nsec / 4;
    }
    return true;
}

/* The first line that it printed, for people. */
static char *first_line(int fd)
{
    char text[MOST_SAID + 1];
    ft_strbuf line = {0};
    ssize_t n = pread(fd, text, MOST_SAID, 0);
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    for (const char *at = text; *at; at++)
        ft_strbuf_printf(&line, "%c", (unsigned char)*at < ' ' || *at == 127 ? '?' : *at);
    return ft_strbuf_take(&line);
}

static ft_status run(const char *command, int in, int out, int *code, ft_error *err)
{
    pid_t child = 0;
    int status = 0, error = start(command, in, out, &child);
    if (error)
        return ft_error_set(err, FT_USAGE, "--oracle: the shell cannot be started: %s",
                            strerror(error));
    if (!await(child, &status)) {
        *code = 0;
        if (ft_signals_caught()) return FT_OK;
        return ft_error_set(err, FT_USAGE, "--oracle: '%s' did not end within %d seconds", command,
                            PATIENCE);
    }
    *code = WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
    return FT_OK;
}

ft_status ft_oracle_run(const char *command, ft_output_text output, int *code, char **said,
                        ft_error *err)
{
    int in = memory_file(output), out = memory_file((ft_output_text){0});
    ft_status status = FT_OK;
    *said = NULL;
    if (in < 0 || out < 0)
        status = ft_error_set(err, FT_IO, "no memory file for --oracle: %s", strerror(errno));
    if (status == FT_OK) status = run(command, in, out, code, err);
    if (status == FT_OK) *said = first_line(out);
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    bool broken = status == FT_OK && (*code == NOT_FOUND || *code == NOT_EXECUTABLE);
    if (!broken) return status;
    ft_error_set(err, FT_USAGE, "--oracle: '%s' cannot be run: %s", command, *said);
    free(*said);
    *said = NULL;
    return FT_USAGE;
}

/* ---- two outputs */

static size_t line_length(ft_output_text t, size_t at)
{
    const char *end = memchr(t.bytes + at, '\n', t.size - at);
    return end ? (size_t)(end - t.bytes) - at : t.size - at;
}

static void quote(ft_output_text t, size_t at, ft_strbuf *out)
{
    if (at >= t.size) {
        ft_strbuf_puts(out, "missing");
        return;
    }
    size_t length = line_length(t, at), shown = length < MOST_QUOTED ? length : MOST_QUOTED;
    ft_strbuf_puts(out, "'");
    for (size_t i = 0; i < shown; i++) {
        unsigned char c = (unsigned char)t.bytes[at + i];
        ft_strbuf_printf(out, "%c", c < ' ' || c == 127 ? '?' : c);
    }
    ft_strbuf_puts(out, shown < length ? "...'" : "'");
}

void ft_outputs_compare(ft_output_text own, ft_output_text other, ft_strbuf *out)
{
    size_t at = 0, line = 1, begin = 0;
    while (at < own.size && at < other.size && own.bytes[at] == other.bytes[at])
        if (own.bytes[at++] == '\n') line++, begin = at;
    ft_strbuf_printf(out, "line %zu is ", line);
    quote(own, begin, out);
    ft_strbuf_puts(out, ", in another schedule ");
    quote(other, begin, out);
}

ft_status ft_output_judge_run(const ft_output_judge *judge, ft_output_text own, const char **kind,
                              ft_strbuf *why, ft_error *err)
{
    int code = 0;
    char *said = NULL;
    *kind = NULL;
    if (judge->oracle) {
        ft_status status = ft_oracle_run(judge->oracle, own, &code, &said, err);
        if (status == FT_OK && code) {
            *kind = "oracle";
            ft_strbuf_printf(why, "the oracle '%s' ended with exit code %d on the output",
                             judge->oracle, code);
            if (said && *said) ft_strbuf_printf(why, ": %s", said);
        }
        free(said);
        return status;
    }
    bool same = own.size == judge->other.size && !memcmp(own.bytes, judge->other.bytes, own.size);
    if (same) return FT_OK;
    *kind = "output";
    ft_strbuf_puts(why, "the output is not that of another schedule that passes: ");
    ft_outputs_compare(own, judge->other, why);
    return FT_OK;
}
