/* Clocks. How much time passes from one look of a thread to its next is an input, up to a quarter
 * of a second; a thread that looks waits for nobody. Where a time limit passed, the thread's next
 * look is behind it. The clocks of two threads are not compared. */
#include <errno.h>
#include <sys/time.h>
#include <time.h>

#include "foretell.h"

extern void foretell_input(void *to, size_t size, const char *name);

enum { BEGIN_S = 1000000000, PER_S = 1000, NS_PER_MS = 1000000, US_PER_MS = 1000 };

static _Thread_local unsigned long ms;

static unsigned long look(void)
{
    unsigned char passed = 0;
    foretell_input(&passed, sizeof passed, "milliseconds");
    return ms += passed;
}

/* To the end of the limit's second; without a branch, since inputs decide it. */
int __foretell_pass(const struct timespec *until, int result)
{
    unsigned long then = ((unsigned long)until->tv_sec - BEGIN_S + 1) * PER_S;
    unsigned long later = (unsigned long)(result == ETIMEDOUT && (long)then > (long)ms);
    ms ^= (ms ^ then) & -later;
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    unsigned long ms = look();
    (void)clock;
    t->tv_sec = (time_t)(BEGIN_S + ms / PER_S);
    t->tv_nsec = (long)(ms % PER_S * NS_PER_MS);
    return 0;
}

int timespec_get(struct timespec *t, int base)
{
    return clock_gettime(CLOCK_REALTIME, t) ? 0 : base;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    unsigned long ms = look();
    (void)zone;
    t->tv_sec = (time_t)(BEGIN_S + ms / PER_S);
    t->tv_usec = (long)(ms % PER_S * US_PER_MS);
    return 0;
}

/* std::chrono::system_clock::now() and steady_clock::now(), in nanoseconds */
long _ZNSt6chrono3_V212system_clock3nowEv(void)
{
    return (long)BEGIN_S * PER_S * NS_PER_MS + (long)look() * NS_PER_MS;
}

long _ZNSt6chrono3_V212steady_clock3nowEv(void)
{
    return _ZNSt6chrono3_V212system_clock3nowEv();
}

clock_t clock(void)
{
    return (clock_t)(look() * (CLOCKS_PER_SEC / PER_S));
}

time_t time(time_t *to)
{
    time_t now = (time_t)(BEGIN_S + look() / PER_S);
    if (to) *to = now;
    return now;
}
