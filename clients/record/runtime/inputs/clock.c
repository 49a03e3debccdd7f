/* The time, and sleeping. A replay has the recording's time. After the recording's last answer the
 * time goes on from there at its usual pace, for clocks as for waits with a limit. */
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "exploring/exploring.h"
#include "inputs/inputs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "raw/inputs.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

#define CODE __builtin_return_address(0)

enum { SECOND = 1000000000, PER_US = 1000 };

/* ---- the recording's time */

/* How far behind the machine's clock of that kind the program's is. */
static struct lag {
    bool known;
    int64_t by; /* ns */
} lags[2];

static int64_t in_ns(const struct timespec *t)
{
    return (int64_t)t->tv_sec * SECOND + t->tv_nsec;
}

static struct timespec from_ns(int64_t ns)
{
    struct timespec t = {.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
    if (t.tv_nsec < 0) t.tv_sec--, t.tv_nsec += SECOND;
    assert(t.tv_nsec >= 0 && t.tv_nsec < SECOND);
    return t;
}

/* While recording with a seed: the time that sleeps and limits took at once (passing.c) is none of
 * the machine's, so the program's clocks are ahead. */
static struct lag ahead = {.known = true};

void ft_rt_clock_passes(int64_t ns)
{
    FT_REQUIRE(ns > 0 && !ft_rt_header->replay);
    ahead.by -= ns;
}

/* NULL: a clock that the recording says nothing of (a processor's). */
static struct lag *lag_of(clockid_t clock)
{
    static const struct {
        clockid_t clock;
        int kind;
    } rows[] = {{CLOCK_REALTIME, 0},      {CLOCK_REALTIME_COARSE, 0},  {CLOCK_MONOTONIC, 1},
                {CLOCK_MONOTONIC_RAW, 1}, {CLOCK_MONOTONIC_COARSE, 1}, {CLOCK_BOOTTIME, 1}};
    bool given = ft_rt_feeding && ft_rt_header->replay;
    for (size_t i = 0; (given || ahead.by) && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].clock == clock) return given ? &lags[rows[i].kind] : &ahead;
    return NULL;
}

/* The call, of the program's time. */
static int get(clockid_t clock, struct timespec *t)
{
    if (ft_rt_exploring && ft_rt_x_self) return ft_rt_x_time(clock, t);
    int result = FT_REAL(clock_gettime)(clock, t);
    const struct lag *lag = result ? NULL : lag_of(clock);
    if (lag && lag->known) *t = from_ns(in_ns(t) - lag->by);
    return result;
}

/* The program has got this time. Another thread may have got a later one. */
static void is_late(clockid_t clock, int64_t told)
{
    struct timespec here;
    struct lag *lag = lag_of(clock);
    if (!lag || lag == &ahead || FT_REAL(clock_gettime)(clock, &here)) return;
    int64_t by = in_ns(&here) - told;
    if (!lag->known || by < lag->by) *lag = (struct lag){true, by};
}

struct timespec ft_rt_deadline(clockid_t clock, const struct timespec *until)
{
    struct timespec now, here;
    get(clock, &now);
    FT_REAL(clock_gettime)(CLOCK_MONOTONIC, &here);
    return from_ns(in_ns(&here) + in_ns(until) - in_ns(&now));
}

/* ---- clocks */

static time_t get_time(void)
{
    struct timespec t;
    get(CLOCK_REALTIME_COARSE, &t); /* as the C library does */
    return t.tv_sec;
}

time_t time(time_t *t)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_TIME, CODE)) {
        time_t now = ft_rt_exploring ? get_time() : FT_REAL(time)(NULL);
        if (t) *t = now;
        return now;
    }
    FT_RT_GET(&in, FT_RT_STAYS, get_time());
    if (in.fed) is_late(CLOCK_REALTIME, in.result * SECOND);
    if (t && !in.fed) *t = (time_t)in.result;
    ft_rt_input_piece(&in, t, sizeof *t);
    return (time_t)ft_rt_input_end(&in);
}

static int get_day(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    if (ft_rt_exploring && t && !get(CLOCK_REALTIME, &now)) {
        *t = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / PER_US};
        return 0;
    }
    int result = FT_REAL(gettimeofday)(t, zone);
    const struct lag *lag = lag_of(CLOCK_REALTIME);
    if (result || !t || !lag || !lag->known) return result;
    now = from_ns((int64_t)t->tv_sec * SECOND + t->tv_usec * PER_US - lag->by);
    *t = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / PER_US};
    return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_GETTIMEOFDAY, CODE)) return get_day(t, zone);
    FT_RT_GET(&in, FT_RT_STAYS, get_day(t, zone));
    ft_rt_input_piece(&in, t, sizeof *t);
    if (in.fed) is_late(CLOCK_REALTIME, (int64_t)t->tv_sec * SECOND + t->tv_usec * PER_US);
    return (int)ft_rt_input_end(&in);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_CLOCK_GETTIME, CODE)) return get(clock, t);
    FT_RT_GET(&in, FT_RT_STAYS, get(clock, t));
    ft_rt_input_piece(&in, t, sizeof *t);
    if (in.fed && !in.result) is_late(clock, in_ns(t));
    return (int)ft_rt_input_end(&in);
}

static int get_based(struct timespec *t, int base)
{
    if (base != TIME_UTC) return FT_REAL(timespec_get)(t, base);
    return get(CLOCK_REALTIME, t) ? 0 : base;
}

int timespec_get(struct timespec *t, int base)
{
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_CLOCK_GETTIME, CODE)) return get_based(t, base);
    FT_RT_GET(&in, FT_RT_STAYS, get_based(t, base));
    ft_rt_input_piece(&in, t, sizeof *t);
    if (in.fed && in.result == TIME_UTC) is_late(CLOCK_REALTIME, in_ns(t));
    return (int)ft_rt_input_end(&in);
}

/* An exploration's clocks of the processor go as its others do. */
static clock_t explored_clock(void)
{
    struct timespec t;
    if (get(CLOCK_PROCESS_CPUTIME_ID, &t)) return -1;
    return (clock_t)(in_ns(&t) / PER_US);
}

clock_t clock(void)
{
    FT_RT_EXPLORED(explored_clock());
    return FT_RT_INPUT(FT_INPUT_CLOCK, FT_RT_STAYS, FT_REAL(clock)(), NULL, 0);
}

clock_t times(struct tms *t)
{
    return FT_RT_INPUT(FT_INPUT_TIMES, FT_RT_STAYS, FT_REAL(times)(t), t, sizeof *t);
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    return FT_RT_INPUT(FT_INPUT_GETRUSAGE, FT_RT_STAYS, FT_REAL(getrusage)(who, usage), usage,
                       sizeof *usage);
}

/* ---- sleeping */

/* In an exploration a sleep orders nothing, and time passes for the thread alone. */

/* A sleep that passes at once returns 0, and no other thread goes on meanwhile. */
static int way(int64_t ns, bool *passed)
{
    *passed = ft_rt_self && ft_rt_time_passes(ft_rt_self, ns);
    return *passed ? FT_RT_STAYS : FT_RT_SLEEPS;
}

#define SLEEP(input, ns, call)                                                                     \
    ({                                                                                             \
        bool passed = false;                                                                       \
        FT_RT_INPUT(input, way((ns), &passed), passed ? 0 : (call), NULL, 0);                      \
    })

unsigned sleep(unsigned seconds)
{
    FT_RT_EXPLORED((ft_rt_x_sleeps((int64_t)seconds * SECOND, CODE), 0));
    return SLEEP(FT_INPUT_SLEEP, (int64_t)seconds * SECOND, FT_REAL(sleep)(seconds));
}

int usleep(useconds_t us)
{
    FT_RT_EXPLORED((ft_rt_x_sleeps((int64_t)us * PER_US, CODE), 0));
    return SLEEP(FT_INPUT_USLEEP, (int64_t)us * PER_US, FT_REAL(usleep)(us));
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
    FT_RT_EXPLORED((ft_rt_x_sleeps(in_ns(t), CODE), 0));
    return SLEEP(FT_INPUT_NANOSLEEP, in_ns(t), FT_REAL(nanosleep)(t, left));
}

struct timespec ft_rt_machine_time(clockid_t clock, const struct timespec *until)
{
    const struct lag *lag = lag_of(clock);
    return lag && lag->known ? from_ns(in_ns(until) + lag->by) : *until;
}

/* Until a time of the program's. */
static int sleep_until(clockid_t clock, const struct timespec *until)
{
    struct timespec end = ft_rt_machine_time(clock, until);
    return FT_REAL(clock_nanosleep)(clock, TIMER_ABSTIME, &end, NULL);
}

static int64_t duration(clockid_t clock, int flags, const struct timespec *t)
{
    struct timespec now;
    bool until = flags & TIMER_ABSTIME;
    return in_ns(t) - (until && !get(clock, &now) ? in_ns(&now) : 0);
}

static int explored_sleep(clockid_t clock, int flags, const struct timespec *t, const void *pc)
{
    struct timespec now;
    if (!(flags & TIMER_ABSTIME))
        ft_rt_x_sleeps(in_ns(t), pc);
    else if (!get(clock, &now))
        ft_rt_x_sleeps(in_ns(t) - in_ns(&now), pc);
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
    FT_RT_EXPLORED(explored_sleep(clock, flags, t, CODE));
    return SLEEP(FT_INPUT_CLOCK_NANOSLEEP, duration(clock, flags, t),
                 flags & TIMER_ABSTIME ? sleep_until(clock, t)
                                       : FT_REAL(clock_nanosleep)(clock, flags, t, left));
}
