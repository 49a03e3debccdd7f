#include "base/contract.h"
#include "recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "terminal/terminal.h"

/* SOONEST, LATEST, LOOK: milliseconds between two looks whether the program has come up, and from
 * then on. */
enum { STRIDE = 1024, SOONEST = 1, LATEST = 64, LOOK = 1000, NOT_STARTED = 127 };
#define READ_PERSONALITY 0xFFFFFFFFul

/* ---- its file */

bool ft_program_file_make(const char *name, ft_program_file *file)
{
    char *made = ft_strdup(name);
    FT_REQUIRE(strlen(name) > 6 && !strcmp(name + strlen(name) - 6, "XXXXXX"));
    int fd = mkostemp(made, O_CLOEXEC);
    /* The program may be started in another folder (make -C). */
    char *path = fd < 0 ? NULL : realpath(made, NULL);
    if (fd >= 0) *file = (ft_program_file){.fd = fd, .path = path ? path : ft_strdup(made)};
    if (fd >= 0) snprintf(file->own, sizeof file->own, "/proc/self/fd/%d", fd);
    int why = errno;
    free(made);
    errno = why;
    return fd >= 0;
}

static void take_name(ft_program_file *file)
{
    if (file->path) unlink(file->path);
    free(file->path);
    file->path = NULL;
}

void ft_program_file_release(ft_program_file *file)
{
    take_name(file);
    close(file->fd);
}

static bool has_started(const ft_program_file *file)
{
    uint32_t started = 0;
    off_t at = offsetof(ft_raw_header, started);
    return pread(file->fd, &started, sizeof started, at) == sizeof started && started;
}

/* ---- running it */

/* NAME=PATH, the path as long as others are: stacks begin behind the environment, so its length
 * moves them. */
static char *padded(const char *variable, const char *path)
{
    ft_strbuf entry = {0};
    FT_REQUIRE(path[0] == '/'); /* more slashes before it change nothing */
    ft_strbuf_printf(&entry, "%s=/", variable);
    for (size_t left = STRIDE - strlen(path) % STRIDE; left; left--) ft_strbuf_add(&entry, "/", 1);
    ft_strbuf_add(&entry, path, strlen(path));
    assert((entry.len - strlen(variable) - 2) % STRIDE == 0);
    return ft_strbuf_take(&entry);
}

/* Ours, with that entry in place of one that was there; the array is on the heap. */
static char **environment_with(char *entry)
{
    size_t n = 0, kept = 0, name = strcspn(entry, "=") + 1;
    FT_REQUIRE(entry[name - 1] == '=');
    while (environ[n]) n++;
    char **environment = ft_calloc(n + 2, sizeof *environment);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], entry, name) != 0) environment[kept++] = environ[i];
    assert(kept <= n);
    environment[kept] = entry;
    return environment;
}

/* Without address space randomisation, where that is allowed: addresses are values too, and are to
 * be the same in the same run. It ends with us, however we end: a program whose threads wait for
 * each other would stay for ever. Other threads of ours ran when this process was made, so that
 * their locks are held for ever here: nothing is allocated any more. `why` closes if all is well.
 */
static void run_child(char *const *argv, char *const *environment, ft_program_way way, int why)
{
    int nothing = way.silent ? open("/dev/null", O_WRONLY) : -1;
    int out = way.silent && !way.keeps ? nothing : way.out;
    ft_signals_default();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (out >= 0 && out != STDOUT_FILENO) dup2(out, STDOUT_FILENO);
    if (nothing >= 0) dup2(nothing, STDERR_FILENO);
    int before = personality(READ_PERSONALITY);
    if (before >= 0) personality((unsigned long)before | ADDR_NO_RANDOMIZE);
    execvpe(argv[0], argv, environment);
    ssize_t ignored = write(why, &errno, sizeof errno);
    (void)ignored;
    _exit(NOT_STARTED);
}

static pid_t start_child(char *const *argv, const ft_program_file *file, ft_program_way way,
                         int why)
{
    char *entry = padded(FT_RAW_VARIABLE, file->path), **environment = environment_with(entry);
    fflush(NULL);
    pid_t child = fork();
    if (!child) run_child(argv, environment, way, why);
    free(environment);
    free(entry);
    return child;
}

/* 0: it has become that program. */
static int why_not_started(int from)
{
    int why = 0;
    ssize_t n;
    while ((n = read(from, &why, sizeof why)) < 0 && errno == EINTR) continue;
    return n == sizeof why ? why : 0;
}

/* *child: -1, or a process that is to be waited for. Returns why it could not be started, 0: it
 * was. */
static int start(char *const *argv, const ft_program_file *file, ft_program_way way, pid_t *child)
{
    int ends[2];
    *child = -1;
    if (pipe2(ends, O_CLOEXEC)) return errno;
    *child = start_child(argv, file, way, ends[1]);
    int why = *child < 0 ? errno : 0;
    close(ends[1]);
    if (!why) why = why_not_started(ends[0]);
    close(ends[0]);
    return why;
}

/* Signals that came while no program ran are discarded. */
static void drop_words(void)
{
    while (ft_signals_take()) continue;
}

/* Ctrl-C reached it too; once is what its handler should see. */
static bool has_heard(pid_t child)
{
    return ft_signals_typed() && getpgid(child) == getpgrp();
}

/* Words go on to it; of the interruptions that came, the first one, a further one kills it. */
static void pass_on(pid_t child, unsigned *told)
{
    for (int word; (word = ft_signals_take());) kill(child, word);
    unsigned n = ft_signals_count();
    if (n == *told) return;
    if (*told || !has_heard(child)) kill(child, *told ? SIGKILL : ft_signals_caught());
    *told = n;
}

static bool is_stopped(pid_t child)
{
    siginfo_t info = {0};
    int options = WSTOPPED | WNOHANG | WNOWAIT;
    return waitid(P_PID, (id_t)child, &info, options) == 0 && info.si_pid == child;
}

/* Nothing in a program that is stopped sees that time passes. Once in LOOK. */
static void watch(pid_t child, uint32_t patience, uint32_t *stopped)
{
    FT_REQUIRE(child > 0);
    *stopped = patience && is_stopped(child) ? *stopped + 1 : 0;
    if (!patience || *stopped <= patience) return;
    fprintf(stderr,
            "foretell: the program was killed, because a signal had stopped it for %u seconds\n",
            patience);
    kill(child, SIGKILL);
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* The recorder in the program sees it within milliseconds, unless the program holds it up. */
static bool ask(const ft_program_file *file)
{
    uint32_t late = 1;
    off_t at = offsetof(ft_raw_header, late);
    return pwrite(file->fd, &late, sizeof late, at) == sizeof late;
}

static void end_late(pid_t child, const ft_program_file *file, const ft_program_way *way,
                     double end)
{
    enum { GRACE = 2 /* s */ };
    if (!way->seconds || now() < end) return;
    bool asked = way->asks && (*way->late || ask(file));
    *way->late = true;
    if (!asked || now() >= end + GRACE) kill(child, SIGKILL);
}

static int wait_for(pid_t child, ft_program_file *file, const ft_program_way *way)
{
    double end = now() + way->seconds;
    int status = 0, wait = SOONEST;
    unsigned told = 0;
    uint32_t stopped = 0;
    /* Old kernels have none of these: then the waits are as long as they are. */
    struct pollfd ended = {.fd = (int)syscall(SYS_pidfd_open, child, 0), .events = POLLIN};
    while (waitpid(child, &status, WNOHANG) == 0) {
        pass_on(child, &told);
        if (file->path && has_started(file)) take_name(file);
        bool looks = !file->path && ended.fd >= 0;
        if (poll(&ended, 1, looks ? LOOK : wait) == 0 && looks)
            watch(child, way->patience, &stopped);
        end_late(child, file, way, end);
        if (wait < LATEST) wait *= 2;
    }
    if (ended.fd >= 0) close(ended.fd);
    assert(WIFEXITED(status) || WIFSIGNALED(status)); /* not only stopped */
    return status;
}

/* A file of the current folder needs ./ before its name, as in a shell. */
static ft_status refuse(const char *program, int why, ft_error *err)
{
    if (why == ENOENT && !strchr(program, '/') && access(program, X_OK) == 0)
        return ft_error_set(err, FT_USAGE,
                            "%s: could not be started: it is not in PATH; for the file in this "
                            "folder, give ./%s",
                            program, program);
    return ft_error_set(err, FT_USAGE, "%s: could not be started: %s", program, strerror(why));
}

/* Once for all runs of a command. */
static void report_inputs(const ft_program_file *file)
{
    static bool reported;
    ft_raw_header header;
    if (reported || pread(file->fd, &header, sizeof header, 0) != (ssize_t)sizeof header) return;
    reported = header.unset[0].taken;
    ft_inputs_report(header.unset, stderr);
}

ft_status ft_program_execute(char *const *argv, ft_program_file *file, ft_program_way way,
                             int *status, ft_error *err)
{
    pid_t child;
    FT_REQUIRE(!way.seconds || way.late);
    FT_REQUIRE(argv[0] && file->fd >= 0 && file->path); /* the name goes when it has started */
    ft_signals_relay();
    drop_words();
    int why = start(argv, file, way, &child);
    if (child >= 0) *status = wait_for(child, file, &way);
    if (child >= 0 && !way.silent) report_inputs(file);
    if (!why) return FT_OK;
    return refuse(argv[0], why, err);
}

/* ---- what is said of it */

void ft_program_end(int status, ft_strbuf *out)
{
    FT_REQUIRE(WIFEXITED(status) || WIFSIGNALED(status));
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

/* Does the file have those bytes? */
static bool has(const char *path, const char *bytes, size_t n)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool plain = fd >= 0 && !fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_size > 0;
    size_t size = plain ? (size_t)info.st_size : 0;
    void *all = plain ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0) close(fd);
    if (all == MAP_FAILED) return false;
    bool found = memmem(all, size, bytes, n) != NULL;
    munmap(all, size);
    return found;
}

static const char *reason(const char *path)
{
    enum { KIND = 5 }; /* of the magic, whatever its number */
    struct stat info;
    if (path && stat(path, &info) == 0 && info.st_mode & (S_ISUID | S_ISGID))
        return "is set-user-ID or set-group-ID, so that the system does not let the recorder in: "
               "remove these bits for the recording (chmod ug-s)";
    if (path && has(path, FT_RAW_MAGIC, strlen(FT_RAW_MAGIC)))
        return "was built with the recorder, which could not open its file: it needs a free file "
               "descriptor (ulimit -n), the same user, and access to that folder (chroot, "
               "container)";
    if (path && has(path, FT_RAW_MAGIC, KIND))
        return "was built with the recorder of another version of Foretell: build it again";
    return "was not built with the recorder, nor was any program that it started: build with "
           "CC=foretell-cc CXX=foretell-c++, and keep " FT_RAW_VARIABLE " in the environment";
}

/* The dynamic linker ends one that lacks a library so. */
static bool is_broken_off(int status)
{
    return WIFSIGNALED(status) || WEXITSTATUS(status) == NOT_STARTED;
}

ft_status ft_program_absent(const char *name, int status, const ft_raw_header *header,
                            ft_error *err)
{
    if (header->end == FT_RAW_END_SPACE)
        return ft_error_set(err, FT_USAGE,
                            "%s has no address space for the recording (ulimit -v): raise that "
                            "limit, or use a smaller --limit",
                            name);
    ft_strbuf end = {0};
    char *path = ft_program_find(name);
    if (path && is_broken_off(status) && has(path, FT_RAW_MAGIC, strlen(FT_RAW_MAGIC))) {
        ft_program_end(status, &end);
        ft_error_set(err, FT_USAGE, "%s ended before its recorder started: %s", name,
                     ft_strbuf_text(&end));
    }
    ft_error_set(err, FT_USAGE, "%s %s", name, reason(path)); /* the first one counts */
    ft_strbuf_release(&end);
    free(path);
    return FT_USAGE;
}
