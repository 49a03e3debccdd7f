/* Sleeps and time limits that a run needs to be over before other threads go on. */
#include <stdlib.h>

#include "base/contract.h"
#include "explore/delays.h"
#include "exploring/exploring.h"

enum { MOST_NEEDS = 8, PER_S = 1000, LONGEST_MS = 5 * PER_S };

/* The steps whose delays the run needs. */
static size_t find(ft_explorer *x, const ft_x_run *run, uint32_t *steps)
{
    ft_x_delay *delays = ft_calloc(run->steps.len + 1, sizeof *delays);
    FT_REQUIRE(run->delays.len == run->steps.len);
    for (size_t i = 0; i < run->steps.len; i++)
        delays[i] = (ft_x_delay){.ms = (uint32_t)(run->delays.data[i] / 2),
                                 .is_limit = run->delays.data[i] % 2};
    size_t n = ft_x_delays_needed(&x->executor.world, &x->walk, run, delays, steps, MOST_NEEDS);
    free(delays);
    return n < MOST_NEEDS ? n : MOST_NEEDS;
}

static bool is_long(uint64_t delay)
{
    return delay % 2 && delay / 2 > LONGEST_MS;
}

ft_need ft_needs_of(ft_explorer *x, const ft_x_run *run)
{
    uint32_t steps[MOST_NEEDS];
    size_t n = find(x, run, steps);
    for (size_t i = 0; i < n; i++)
        if (is_long(run->delays.data[steps[i]])) return FT_NEEDS_LONG_LIMIT;
    return n ? FT_NEEDS_DELAY : FT_NEEDS_NOTHING;
}

static void print_time(uint32_t ms, ft_strbuf *out)
{
    if (ms % PER_S)
        ft_strbuf_printf(out, "%u ms", ms);
    else
        ft_strbuf_printf(out, "%u s", ms / PER_S);
}

void ft_needs_print(ft_explorer *x, const ft_x_run *run, ft_strbuf *out)
{
    uint32_t steps[MOST_NEEDS];
    size_t n = find(x, run, steps);
    for (size_t i = 0; i < n; i++) {
        const ft_native_delay *delay = &ft_native_delays(x->native)[steps[i]];
        ft_native_place place = ft_native_place_of(x->native, delay->pc);
        ft_strbuf_puts(out, i ? " and " : "needs ");
        ft_strbuf_puts(out, delay->is_limit ? "the time limit of " : "the sleep of ");
        print_time(delay->ms, out);
        ft_strbuf_puts(out, " at ");
        ft_places_print(&x->places, &place, out);
        ft_strbuf_puts(out, delay->is_limit ? " to pass first" : " to end first");
    }
}
