/* Standstills that worker/reduce says are none, against every state of small random monitors
 * (oracle/monitor.h). FT_SEEDS=N in the environment makes a longer run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "causality/causality.h"
#include "oracle/monitor.h"
#include "proofs/stuck/internal.h"

enum { DEFAULT_SEEDS = 60000 };

typedef struct tally {
    uint32_t runs, claims, none, refuted;
    uint32_t absent[2]; /* in the states of a lock alone; where these do not tell who sleeps */
} tally;

static void compare_claims(const ft_monitor_run *monitor, ft_stuck *stuck, uint64_t seed,
                           tally *all)
{
    for (uint32_t e = 0; e < monitor->trace->n_events; e++) {
        if (!ft_stuck_may_wait(monitor->trace, e)) continue;
        ft_claim claim = {.kind = FT_CLAIM_STUCK, .events = {e}};
        bool refuted = ft_stuck_refutes(stuck, &claim);
        all->claims++;
        all->none += !monitor->stuck[e];
        all->refuted += refuted;
        if (refuted && monitor->stuck[e])
            fail_msg("seed %llu: event %u can be stuck", (unsigned long long)seed, e + 1);
    }
}

/* What the states of one monitor alone say, whatever the rest knows. */
static void compare_states(const ft_monitor_run *monitor, const ft_stuck *stuck, uint64_t seed,
                           tally *all)
{
    for (uint32_t lock = 0; lock < FT_MONITOR_LOCKS; lock++) {
        ft_monitor_states *states = ft_monitor_states_new(stuck, lock);
        for (uint32_t e = 0; e < monitor->trace->n_events; e++) {
            if (!ft_monitor_states_lack(states, e)) continue;
            all->absent[stuck->merges] += monitor->trace->kind[e] == FT_EVENT_COND_WAKE;
            if (monitor->stuck[e])
                fail_msg("seed %llu: event %u can be stuck", (unsigned long long)seed, e + 1);
        }
        ft_monitor_states_free(states);
    }
}

static void compare_seed(uint64_t seed, tally *all)
{
    ft_monitor_run monitor;
    if (!ft_monitor_make(&monitor, seed)) return;
    ft_causality *graph = ft_causality_new(&monitor.problem, FT_CAUSALITY_ALL);
    ft_stuck *stuck = ft_stuck_new(&monitor.problem, graph);
    all->runs++;
    compare_claims(&monitor, stuck, seed, all);
    compare_states(&monitor, stuck, seed, all);
    stuck->merges = true;
    compare_states(&monitor, stuck, seed, all);
    ft_stuck_free(stuck);
    ft_causality_free(graph);
    ft_monitor_release(&monitor);
}

static void test_final_states(void **context)
{
    (void)context;
    uint64_t seeds = ft_monitor_seeds(DEFAULT_SEEDS);
    tally all = {0};
    for (uint64_t seed = 1; seed <= seeds; seed++) compare_seed(seed, &all);
    print_message("%u runs, %u waits; %u sleep to the end in no schedule, %u of them refuted, "
                  "%u in the states of a lock alone, %u where these do not tell who sleeps\n",
                  all.runs, all.claims, all.none, all.refuted, all.absent[false], all.absent[true]);
    if (seeds < DEFAULT_SEEDS) return;
    assert_true(all.refuted > 100 * 1000);
    assert_true(all.absent[false] > 5000);
    assert_true(all.absent[true] > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_final_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
