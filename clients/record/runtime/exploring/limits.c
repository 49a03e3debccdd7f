/* Time limits of waits. No time passes in an exploration: a limit passes late, where no thread can
 * do anything else, or early, at any moment (options.early). */
#include <time.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

enum { PER_S = 1000, PER_MS = 1000000 };

/* Milliseconds from now, at least 1 where the limit has not passed. */
ft_rt_x_limit ft_rt_x_limit_until(clockid_t clock, const struct timespec *until)
{
    struct timespec now;
    if (ft_rt_x_time(clock, &now)) return (ft_rt_x_limit){.is_set = true};
    int64_t ms =
        (int64_t)(until->tv_sec - now.tv_sec) * PER_S + (until->tv_nsec - now.tv_nsec) / PER_MS;
    return (ft_rt_x_limit){.is_set = true, .ms = ms > 0 ? (uint32_t)ms : 0};
}

/* How long a limit is decides nothing, but the report names it. */
int64_t ft_rt_x_limit_bits(ft_rt_x_limit limit)
{
    if (!limit.is_set) return 0;
    ft_rt_x_self->limit = limit.ms;
    return ft_rt_x_header->options.early ? FT_X_TIMED | FT_X_EARLY : FT_X_TIMED;
}

bool ft_rt_x_limit_is_early(ft_rt_x_limit limit)
{
    return limit.is_set && ft_rt_x_header->options.early;
}
