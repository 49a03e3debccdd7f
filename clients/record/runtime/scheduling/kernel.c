#include "scheduling/kernel.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libc/libc.h"

enum { ARGUMENTS = 6 };

/* The start of a file of the thread; false: there is none. */
static bool read_file(int tid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", tid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    return true;
}

char ft_rt_kernel_state(int tid, int *status)
{
    char text[512];
    if (!read_file(tid, "stat", text, sizeof text)) return 0;
    const char *state = strrchr(text, ')'); /* the name before it may hold anything */
    const char *last = strrchr(text, ' ');
    if (status && last) *status = (int)strtol(last, NULL, 10);
    return state && state[1] ? state[2] : 0;
}

int64_t ft_rt_kernel_used(int tid)
{
    struct timespec used;
    clockid_t clock = (clockid_t)(~(unsigned)tid << 3 | 6); /* the kernel's name of it */
    return FT_REAL(clock_gettime)(clock, &used)
               ? 0
               : used.tv_sec * INT64_C(1000) + used.tv_nsec / 1000000;
}

static bool is_endless_wait(long number, const unsigned long *arguments)
{
    enum { OPERATION = 1, TIMEOUT = 3 };
    int command = (int)arguments[OPERATION] & FUTEX_CMD_MASK;
    bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
    return number == SYS_futex && waits && !arguments[TIMEOUT];
}

/* The call that the thread is in; false: it is in none, or that is not known. */
static bool find_call(int tid, long *number, unsigned long *arguments)
{
    char text[256], *at = text;
    if (!read_file(tid, "syscall", text, sizeof text)) return false;
    if (text[0] < '0' || text[0] > '9') return false; /* "running", "-1 ..." */
    *number = strtol(at, &at, 10);
    for (int i = 0; i < ARGUMENTS; i++) arguments[i] = strtoul(at, &at, 16);
    return true;
}

ft_rt_call_kind ft_rt_kernel_call(int tid)
{
    long number;
    unsigned long arguments[ARGUMENTS];
    if (!find_call(tid, &number, arguments)) return FT_RT_CALL_OTHER;
    if (number == SYS_nanosleep || number == SYS_clock_nanosleep) return FT_RT_CALL_SLEEP;
    return is_endless_wait(number, arguments) ? FT_RT_CALL_WAIT : FT_RT_CALL_OTHER;
}

/* ---- waits for content */

/* As the kernel lists the members of the set: "tfd: 5 events: 19 ...". */
static int list_members(int epoll, int *fds)
{
    char text[4096], name[32];
    int n = 0;
    snprintf(name, sizeof name, "fdinfo/%d", epoll);
    if (!read_file((int)syscall(SYS_getpid), name, text, sizeof text)) return 0;
    if (strlen(text) == sizeof text - 1) return 0; /* there is more */
    for (char *at = text; (at = strstr(at, "tfd:")); at++) {
        if (n == FT_RT_CALL_FDS) return 0;
        fds[n++] = (int)strtol(at + 4, NULL, 10);
    }
    return n;
}

/* The program's memory stays as it is while its thread sleeps in the call. */
static int list_polled(const struct pollfd *all, unsigned long n, int *fds)
{
    int found = 0;
    for (unsigned long i = 0; i < n; i++) {
        if (all[i].fd < 0) continue;
        if (found == FT_RT_CALL_FDS || all[i].events & POLLOUT) return 0;
        fds[found++] = all[i].fd;
    }
    return found;
}

int ft_rt_kernel_waits(int tid, int fds[FT_RT_CALL_FDS])
{
    enum { NO_LIMIT = -1 };
    long number;
    unsigned long a[ARGUMENTS];
    if (ft_rt_kernel_state(tid, NULL) != 'S' || !find_call(tid, &number, a)) return 0;
    fds[0] = (int)a[0];
    switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
        return 1;
    case SYS_poll:
        return (int)a[2] == NO_LIMIT ? list_polled((const struct pollfd *)a[0], a[1], fds) : 0;
    case SYS_ppoll:
        return a[2] ? 0 : list_polled((const struct pollfd *)a[0], a[1], fds);
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        return (int)a[3] == NO_LIMIT ? list_members((int)a[0], fds) : 0;
    default:
        return 0;
    }
}
