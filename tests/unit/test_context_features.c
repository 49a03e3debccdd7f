/* Contexts against brute force, on random programs of what programs are made of: read-write locks,
 * semaphores, locks that are tried, calls, the heap, barriers, ends of threads, kinds of mutexes,
 * conditions, once, objects of a thread, atomics, joins. Each state of a run is possible, and what
 * its threads do next is among the paths. A quarter of the programs is looked at without one of the
 * passes. FT_SEEDS, FT_SEED_START: which. */
#include "context_features.h"

static uint32_t left_out(uint64_t seed)
{
    return seed % 4 ? 0 : 1u << seed / 4 % FT_CONTEXT_PASSES;
}

static void write_features(flow_random *r, uint64_t seed, ft_strbuf *out)
{
    features_write(r, (uint32_t)(seed % FEATURES), out);
}

static void runs_are_among_contexts_and_paths(void **state)
{
    (void)state;
    oracle_counts counts = {0};
    uint64_t n = oracle_compare_seeds(80, write_features, left_out, &counts);
    if (n < 40) return; /* too few to say: some have a race, or too many states */
    assert_true(counts.programs > n / 3);
    assert_true(counts.runs > n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_among_contexts_and_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
