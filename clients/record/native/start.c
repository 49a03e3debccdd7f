/* The explored program: its memory file, its start, its first choice. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "native/inside.h"

extern char **environ;

enum { NOT_STARTED = 127, HIGH = 500 /* beyond the program's own descriptors */ };
#define READ_PERSONALITY 0xFFFFFFFFul

/* ---- the memory file. It has no name, and goes with the last process that has it. */

/* As many as pay, within some memory (which is used where runs are long). */
uint32_t ft_native_slots_each(const ft_exploring_options *options)
{
    enum { MOST = 16, BYTES = 64 << 20 };
    if (options->grade == FT_EXPLORING_ANEW) return 1;
    size_t fit = BYTES / ft_exploring_slot_bytes(options->max_steps);
    return fit < 1 ? 1 : fit > MOST ? MOST : (uint32_t)fit;
}

ft_status ft_native_share(ft_native *n, ft_error *err)
{
    uint32_t servers = n->options.workers, slots = n->n_slots;
    n->bytes = ft_exploring_bytes(servers, slots, n->options.run.max_steps);
    int low = memfd_create("foretell", 0);
    n->fd = low < 0 ? -1 : fcntl(low, F_DUPFD, HIGH);
    if (n->fd >= 0) close(low);
    if (n->fd < 0) n->fd = low;
    if (n->fd < 0 || ftruncate(n->fd, (off_t)n->bytes))
        return ft_error_set(err, FT_IO, "no shared memory for the exploration: %s",
                            strerror(errno));
    void *at = mmap(NULL, n->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, n->fd, 0);
    if (at == MAP_FAILED)
        return ft_error_set(err, FT_IO, "no shared memory for the exploration: %s",
                            strerror(errno));
    n->shared = at;
    snprintf(n->path, sizeof n->path, "/proc/self/fd/%d", n->fd);
    memcpy(n->shared->magic, FT_EXPLORING_MAGIC, sizeof n->shared->magic);
    n->shared->layout = ft_exploring_layout();
    n->shared->servers = servers;
    n->shared->slots = slots;
    n->shared->first_processor = (uint32_t)getpid(); /* explorations at once do not share one */
    n->shared->explorer = (uint32_t)getpid();
    n->shared->options = n->options.run;
    n->shared->options.patience_ms = n->options.seconds * 1000;
    if (sched_getaffinity(0, sizeof n->processors, &n->processors)) CPU_ZERO(&n->processors);
    return FT_OK;
}

/* ---- processors */

/* Where the calling thread is pinned; n NULL: nowhere. */
static _Thread_local struct {
    const ft_native *n;
    uint32_t server;
} pinned;

void ft_native_share_processor(ft_native *n, uint32_t server)
{
    cpu_set_t one;
    if (pinned.n == n && pinned.server == server) return;
    if (!ft_exploring_processor(n->shared, server, &n->processors, &one)) return;
    if (sched_setaffinity(0, sizeof one, &one)) return;
    pinned.n = n;
    pinned.server = server;
}

void ft_native_leave_processor(ft_native *n)
{
    if (pinned.n != n) return;
    (void)sched_setaffinity(0, sizeof n->processors, &n->processors);
    pinned.n = NULL;
}

/* ---- a process */

/* The program's symbols are bound at its start: what is bound in a run that is rewound would be
 * bound again in the next one. */
static char **environment_with(char *entry)
{
    static char bind_now[] = "LD_BIND_NOW=1";
    size_t n = 0, kept = 0, name = strcspn(entry, "=") + 1;
    while (environ[n]) n++;
    char **environment = ft_calloc(n + 3, sizeof *environment);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], entry, name) != 0) environment[kept++] = environ[i];
    environment[kept++] = entry;
    if (!getenv("LD_BIND_NOW")) environment[kept] = bind_now;
    return environment;
}

/* Ctrl-C ends the exploration, and the program by that: it does not end the program before. One
 * that may read from the terminal stays in its group. */
static void keep_from_terminal(void)
{
    if (!isatty(STDIN_FILENO)) {
        setpgid(0, 0);
        return;
    }
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
}

/* With a position of its own: another process reads it too. */
static void read_input_anew(const ft_native *n)
{
    int own = n->options.input_at < 0 ? -1 : open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    if (own >= 0) dup2(own, STDIN_FILENO);
    if (n->options.input_at >= 0) lseek(STDIN_FILENO, (off_t)n->options.input_at, SEEK_SET);
}

/* Addresses are values too, and are to be the same in the same run. */
static void become(const ft_native *n, char **environment)
{
    int nothing = n->options.shows ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (CPU_COUNT(&n->processors)) sched_setaffinity(0, sizeof n->processors, &n->processors);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    keep_from_terminal();
    read_input_anew(n);
    if (nothing >= 0) dup2(nothing, STDOUT_FILENO), dup2(nothing, STDERR_FILENO);
    int before = personality(READ_PERSONALITY);
    if (before >= 0) personality((unsigned long)before | ADDR_NO_RANDOMIZE);
    execvpe(n->options.argv[0], n->options.argv, environment);
    _exit(NOT_STARTED);
}

pid_t ft_native_launch(const ft_native *n)
{
    char entry[128];
    snprintf(entry, sizeof entry, "%s=%s", FT_EXPLORING_VARIABLE, n->path);
    char **environment = environment_with(entry);
    fflush(NULL);
    pid_t child = fork();
    if (!child) become(n, environment);
    free(environment);
    return child;
}

void ft_native_end(pid_t child)
{
    if (child <= 0) return;
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
}

/* ---- up to its first choice */

static ft_status ended_early(const ft_native *n, int status, ft_error *err)
{
    const char *name = n->options.argv[0];
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED && !n->shared->taken)
        return ft_error_set(
            err, FT_USAGE,
            "%s cannot be started: it is not an executable file, nor C or C++ sources or a "
            "program of `foretell lower`",
            name);
    if (!n->shared->taken)
        return ft_error_set(err, FT_USAGE,
                            "%s was not built with foretell-cc or foretell-c++, or with those of "
                            "another version; build it again with them",
                            name);
    if (n->shared->asks_input)
        return ft_error_set(err, FT_USAGE,
                            "%s reads standard input, which no further run could have: give it a "
                            "file (< FILE)",
                            name);
    if (WIFSIGNALED(status))
        return ft_error_set(err, FT_USAGE, "%s was ended by signal %d before it created a thread",
                            name, WTERMSIG(status));
    return ft_error_set(err, FT_USAGE, "%s ended with exit code %d before it created a thread",
                        name, WEXITSTATUS(status));
}

ft_status ft_native_start(ft_native *n, ft_error *err)
{
    const struct timespec look = {.tv_nsec = 20000000};
    int status = 0;
    n->child = ft_native_launch(n);
    if (n->child < 0) {
        n->child = 0;
        return ft_error_set(err, FT_IO, "no process for %s: %s", n->options.argv[0],
                            strerror(errno));
    }
    while (!__atomic_load_n(&n->shared->ready, __ATOMIC_ACQUIRE)) {
        syscall(SYS_futex, &n->shared->ready, FUTEX_WAIT, 0, &look, NULL, 0);
        pid_t ended = waitpid(n->child, &status, WNOHANG);
        if (ended != n->child || __atomic_load_n(&n->shared->ready, __ATOMIC_ACQUIRE)) continue;
        n->child = 0;
        return ended_early(n, status, err);
    }
    return FT_OK;
}
