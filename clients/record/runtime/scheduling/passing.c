/* Time that passes before another thread goes on, as on a machine that is busy. With a seed a sleep
 * or a time limit may do so: the thread keeps the baton, and the clock of the program is put on by
 * that time. Children see no such clock, so a program that has some really sleeps meanwhile. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "raw/raw.h"
#include "scheduling/baton.h"
#include "scheduling/needs.h"
#include "state/thread.h"

#define SECOND  INT64_C(1000000000)
#define LONGEST (5 * SECOND) /* longer ones end in their own time */

/* Numbers of their own, so that the turns are those of the same program without sleeps. */
static uint64_t next_random(void) /* xorshift64 */
{
    static uint64_t random;
    if (!random) random = ft_rt_header->seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random >> 32;
}

/* Often or seldom by the seed. A thread that polls with sleeps in between must not go on alone for
 * long. */
static bool is_chosen(void)
{
    static const unsigned eighths[] = {6, 4, 7, 2};
    return next_random() % 8 < eighths[ft_rt_header->seed % 4];
}

static bool has_others(const ft_rt_thread *self)
{
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++)
        if (i != self->id && ft_rt_baton.threads[i].state != FT_RT_DONE) return true;
    return false;
}

static int64_t in_ns(const struct timespec *t)
{
    return t->tv_sec * SECOND + t->tv_nsec;
}

int64_t ft_rt_time_left(const struct timespec *deadline)
{
    struct timespec now;
    FT_REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
    return in_ns(deadline) - in_ns(&now);
}

/* The limits of waits count on the machine's clock. */
static void put_on(int64_t ns)
{
    ft_rt_clock_passes(ns);
    ft_rt_baton_lock();
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        ft_rt_thread *t = &ft_rt_baton.threads[i];
        if (t->state != FT_RT_BLOCKED || !t->timed) continue;
        int64_t then = in_ns(&t->deadline) - ns;
        t->deadline = (struct timespec){.tv_sec = then / SECOND, .tv_nsec = then % SECOND};
    }
    ft_rt_baton_unlock();
}

bool ft_rt_time_passes(const ft_rt_thread *self, int64_t ns)
{
    FT_REQUIRE(self == ft_rt_self && self->inside);
    bool recorded = !ft_rt_header->replay && !ft_rt_header->feed && ft_rt_logging;
    if (!recorded || !ft_rt_baton.random || ft_rt_timers || ns <= 0 || ns > LONGEST) return false;
    if (self->signals || !has_others(self) || !is_chosen()) return false;
    const struct timespec all = {.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
    if (ft_rt_processes)
        syscall(SYS_nanosleep, &all, NULL);
    else
        put_on(ns);
    return true;
}

void ft_rt_log_expired(const ft_rt_thread *self, int64_t ns)
{
    if (ns > 0 && !ft_rt_replaying) FT_RT_LOG(EXPIRED, self->asks.site, (uint64_t)ns);
}
