/* What programs ask of the system: nothing of it depends on the machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "foretell.h"

enum { PROCESSORS = 2, PAGE = 4096, TICKS = 100, STACK = 8 << 20 };

long sysconf(int name)
{
    switch (name) {
    case _SC_NPROCESSORS_ONLN:
    case _SC_NPROCESSORS_CONF:
        return PROCESSORS;
    case _SC_PAGESIZE:
        return PAGE;
    case _SC_CLK_TCK:
        return TICKS;
    default: /* no limit, or it is not known */
        return -1;
    }
}

int getpagesize(void)
{
    return PAGE;
}

int get_nprocs(void)
{
    return PROCESSORS;
}

int sched_getcpu(void)
{
    return 0;
}

pid_t getppid(void)
{
    return 1;
}

/* The environment is empty. */
char *getenv(const char *name)
{
    (void)name;
    return NULL;
}

char *strerror(int number)
{
    static const struct {
        int number;
        const char *text;
    } TEXTS[] = {{0, "Success"},
                 {EPERM, "Operation not permitted"},
                 {ENOENT, "No such file or directory"},
                 {EINTR, "Interrupted system call"},
                 {EAGAIN, "Resource temporarily unavailable"},
                 {ENOMEM, "Cannot allocate memory"},
                 {EBUSY, "Device or resource busy"},
                 {EINVAL, "Invalid argument"},
                 {ERANGE, "Numerical result out of range"},
                 {EDEADLK, "Resource deadlock avoided"},
                 {ETIMEDOUT, "Connection timed out"}};
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++)
        if (TEXTS[i].number == number) return (char *)TEXTS[i].text;
    return (char *)"Unknown error";
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
    (void)clock, (void)flags, (void)time, (void)rest;
    __foretell_yield();
    return 0;
}

/* ---- of threads. No thread is ever cancelled: pthread_cancel has no model. */

int pthread_setcancelstate(int state, int *before)
{
    (void)state;
    if (before) *before = PTHREAD_CANCEL_ENABLE;
    return 0;
}

int pthread_setcanceltype(int type, int *before)
{
    (void)type;
    if (before) *before = PTHREAD_CANCEL_DEFERRED;
    return 0;
}

void pthread_testcancel(void) {}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *parameters)
{
    (void)thread, (void)policy, (void)parameters;
    return 0;
}

int pthread_attr_getstacksize(const pthread_attr_t *attributes, size_t *size)
{
    (void)attributes;
    *size = STACK;
    return 0;
}
