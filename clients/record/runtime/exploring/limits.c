/* Time limits of waits. No time passes in an exploration: a limit passes late, where no thread can
 * do anything else, or early, at any moment (options.early). A thread that waits again and again at
 * a place until a limit passes would go on so for ever: after options.polls waits in a row that
 * ended so, the next limit passes late only, and that is no longer every schedule. */
#include <time.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

enum { PER_S = 1000, PER_MS = 1000000, PLACES = 16 };

static int64_t divided_up(int64_t ns)
{
    return ns > 0 ? (ns + PER_MS - 1) / PER_MS : ns / PER_MS;
}

/* Milliseconds from now, at least 1 where the limit has not passed. */
ft_rt_x_limit ft_rt_x_limit_until(clockid_t clock, const struct timespec *until)
{
    struct timespec now;
    if (ft_rt_x_time(clock, &now)) return (ft_rt_x_limit){.is_set = true};
    int64_t ms =
        (int64_t)(until->tv_sec - now.tv_sec) * PER_S + divided_up(until->tv_nsec - now.tv_nsec);
    return (ft_rt_x_limit){.is_set = true, .ms = ms > 0 ? (uint32_t)ms : 0};
}

ft_rt_x_limit ft_rt_x_limit_after(const struct timespec *t)
{
    int64_t ms = t->tv_sec * INT64_C(1000) + t->tv_nsec / PER_MS;
    return (ft_rt_x_limit){.is_set = true, .ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX};
}

/* The calling thread's last waits at a place: how many in a row ended by their limit. */
typedef struct waits {
    const void *pc;
    uint32_t in_vain;
} waits;
static waits all[FT_X_THREADS][PLACES];

static waits *waits_at(const void *pc)
{
    waits *own = all[ft_rt_x_number()];
    uint32_t i = 0;
    while (i < PLACES - 1 && own[i].pc && own[i].pc != pc) i++;
    own[i].in_vain = own[i].pc == pc ? own[i].in_vain : 0;
    own[i].pc = pc;
    return &own[i];
}

bool ft_rt_x_limit_is_early(ft_rt_x_limit limit, const void *pc)
{
    const ft_exploring_options *o = &ft_rt_x_header->options;
    return limit.is_set && o->early && waits_at(pc)->in_vain < o->polls;
}

/* How long a limit is decides nothing, but the report names it. */
int64_t ft_rt_x_limit_bits(ft_rt_x_limit limit, const void *pc)
{
    if (!limit.is_set) return 0;
    ft_rt_x_self->limit = limit.ms;
    return ft_rt_x_limit_is_early(limit, pc) ? FT_X_TIMED | FT_X_EARLY : FT_X_TIMED;
}

void ft_rt_x_limit_passed(ft_rt_x_limit limit, bool passed, const void *pc)
{
    if (!limit.is_set || !ft_rt_x_header->options.early) return;
    waits *w = waits_at(pc);
    w->in_vain = passed ? w->in_vain + 1 : 0;
}

/* The first look came when the limit had passed. */
void ft_rt_x_looked_in_vain(uint32_t since, uint32_t ms, const void *pc)
{
    uint32_t self = ft_rt_x_number(), now = ft_rt_x_now();
    ft_rt_x_passes((ms + INT64_C(1)) * PER_MS);
    while (since < now && ft_rt_x.steps[since].action.thread != self) since++;
    if (since == now) return;
    ft_exploring_step *step = &ft_rt_x.steps[since];
    step->delay_is_limit = ms >= step->delay_ms;
    if (step->delay_is_limit) step->delay_pc = (uintptr_t)pc;
    step->delay_ms += ms;
}
