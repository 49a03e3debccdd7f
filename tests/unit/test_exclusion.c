/* What worker/reduce says excludes each other, against every state of small random monitors
 * (oracle/monitor.h): each pair of places, whatever the events there are, and whether they are
 * next, behind a free, or between two accesses. FT_SEEDS=N in the environment makes a longer run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "causality/causality.h"
#include "oracle/monitor.h"
#include "proofs/exclusion.h"
#include "proofs/stuck/internal.h"

enum { DEFAULT_SEEDS = 4000 };

typedef struct tally {
    uint64_t claims, none, refuted;
    uint64_t alone;  /* of them: not by causality */
    uint64_t apart;  /* by the states of a lock */
    uint64_t merged; /* by those that do not tell who sleeps */
} tally;

typedef struct subject {
    uint64_t seed;
    ft_monitor_run monitor;
    ft_causality *graph;
    ft_exclusion *exclusion;
    ft_stuck *stuck, *merging;
    tally *all;
} subject;

static uint32_t thread_of(const subject *s, uint32_t e)
{
    return s->monitor.trace->thread[e];
}

static uint32_t position_of(const subject *s, uint32_t e)
{
    return s->monitor.order->position[e];
}

/* Is there a state with the other thread next at `other`, and e's next at a position in [from, to]?
 */
static bool is_reached(const subject *s, uint32_t e, uint32_t from, uint32_t to, uint32_t other)
{
    for (uint32_t at = from; at <= to; at++)
        if (ft_monitor_both(&s->monitor, thread_of(s, e), at, thread_of(s, other),
                            position_of(s, other)))
            return true;
    return false;
}

static void compare(const subject *s, const ft_claim *claim, bool reached)
{
    bool refuted = ft_exclusion_refutes(s->exclusion, claim);
    s->all->claims++;
    s->all->none += !reached;
    s->all->refuted += refuted;
    s->all->alone += refuted && !ft_causality_refutes(s->graph, claim, NULL);
    bool apart = ft_stuck_keeps_apart(s->stuck, claim);
    bool merged = ft_stuck_keeps_apart(s->merging, claim);
    s->all->apart += apart;
    s->all->merged += merged;
    if ((refuted || apart || merged) && reached)
        fail_msg("seed %llu: %s %u %u %u is possible (%s)", (unsigned long long)s->seed,
                 ft_claim_kind_name(claim->kind), claim->events[0] + 1, claim->events[1] + 1,
                 claim->events[2] + 1,
                 refuted ? "exclusion" : (apart ? "states" : "merged states"));
}

/* `c` stands behind `a` in its thread. */
static void compare_between(const subject *s, uint32_t a, uint32_t b)
{
    uint32_t c = ft_order_next(s->monitor.order, a);
    if (c != FT_NO_EVENT) c = ft_order_next(s->monitor.order, c);
    if (c == FT_NO_EVENT) return;
    /* Where b may come is asked, whatever the three do: a pattern that no serial order explains. */
    ft_claim claim = {
        .kind = FT_CLAIM_ATOMICITY, .events = {a, b, c}, .writes = {false, true, false}};
    compare(s, &claim, is_reached(s, a, position_of(s, a) + 1, position_of(s, c), b));
}

static void compare_pair(const subject *s, uint32_t a, uint32_t b)
{
    const ft_order *order = s->monitor.order;
    uint32_t thread = thread_of(s, a), at = position_of(s, a);
    uint32_t end = order->thread_start[thread + 1] - order->thread_start[thread];
    ft_claim claim = {.kind = FT_CLAIM_RACE, .events = {a, b}};
    compare(s, &claim, is_reached(s, a, at, at, b));
    claim.kind = FT_CLAIM_AFTER_FREE;
    compare(s, &claim, is_reached(s, a, at + 1, end, b));
    compare_between(s, a, b);
}

/* Is a read next where the write that it returned is not executed? */
static void compare_read(const subject *s, uint32_t read)
{
    const ft_trace *trace = s->monitor.trace;
    if (trace->kind[read] != FT_EVENT_READ) return;
    uint32_t write = ft_run_source(s->monitor.run, read, 0);
    if (write == FT_NO_EVENT || thread_of(s, write) == thread_of(s, read)) return;
    ft_claim claim = {
        .kind = FT_CLAIM_UNINITIALISED, .events = {read}, .variable = trace->object[read]};
    compare(s, &claim, is_reached(s, write, 0, position_of(s, write), read));
}

static void compare_seed(uint64_t seed, tally *all)
{
    subject s = {.seed = seed, .all = all};
    if (!ft_monitor_make(&s.monitor, seed)) return;
    s.graph = ft_causality_new(&s.monitor.problem, FT_CAUSALITY_ALL);
    s.exclusion = ft_exclusion_new(&s.monitor.problem);
    s.stuck = ft_stuck_new(&s.monitor.problem, s.graph);
    s.merging = ft_stuck_new(&s.monitor.problem, s.graph);
    s.merging->merges = true;
    for (uint32_t a = 0; a < s.monitor.trace->n_events; a++) compare_read(&s, a);
    for (uint32_t a = 0; a < s.monitor.trace->n_events; a++)
        for (uint32_t b = 0; b < s.monitor.trace->n_events; b++)
            if (thread_of(&s, a) != thread_of(&s, b)) compare_pair(&s, a, b);
    ft_stuck_free(s.stuck);
    ft_stuck_free(s.merging);
    ft_exclusion_free(s.exclusion);
    ft_causality_free(s.graph);
    ft_monitor_release(&s.monitor);
}

static void test_exclusion(void **context)
{
    (void)context;
    uint64_t seeds = ft_monitor_seeds(DEFAULT_SEEDS);
    tally all = {0};
    for (uint64_t seed = 1; seed <= seeds; seed++) compare_seed(seed, &all);
    print_message("%llu claims, %llu of them in no schedule; %llu refuted, %llu not by causality; "
                  "%llu by states, %llu by those that do not tell who sleeps\n",
                  (unsigned long long)all.claims, (unsigned long long)all.none,
                  (unsigned long long)all.refuted, (unsigned long long)all.alone,
                  (unsigned long long)all.apart, (unsigned long long)all.merged);
    if (seeds < DEFAULT_SEEDS) return;
    assert_true(all.alone > 1000);
    assert_true(all.apart > 200 * 1000);
    assert_true(all.merged > 100 * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exclusion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
