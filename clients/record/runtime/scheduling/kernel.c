#include "scheduling/kernel.h"

#include <fcntl.h>
#include <linux/futex.h>
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
    int operation = (int)arguments[OPERATION], command = operation & FUTEX_CMD_MASK;
    bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
    return number == SYS_futex && waits && (operation & FUTEX_PRIVATE_FLAG) && !arguments[TIMEOUT];
}

ft_rt_call_kind ft_rt_kernel_call(int tid)
{
    char text[256], *at = text;
    unsigned long arguments[ARGUMENTS];
    if (!read_file(tid, "syscall", text, sizeof text)) return FT_RT_CALL_OTHER;
    if (text[0] < '0' || text[0] > '9') return FT_RT_CALL_OTHER; /* "running", "-1 ..." */
    long number = strtol(at, &at, 10);
    for (int i = 0; i < ARGUMENTS; i++) arguments[i] = strtoul(at, &at, 16);
    if (number == SYS_nanosleep || number == SYS_clock_nanosleep) return FT_RT_CALL_SLEEP;
    return is_endless_wait(number, arguments) ? FT_RT_CALL_WAIT : FT_RT_CALL_OTHER;
}
