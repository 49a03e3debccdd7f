/* Contexts against brute force, on random programs of what programs are made of: read-write locks,
 * semaphores, locks that are tried, calls, the heap, barriers, ends of threads, kinds of mutexes,
 * conditions, once, objects of a thread, atomics, joins. Each state of a run is possible, and what
 * its threads do next is among the paths. A quarter of the programs is looked at without one of the
 * passes. FT_SEEDS, FT_SEED_START: which. */
#include "context_features.h"

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static uint32_t left_out(uint64_t seed)
{
    return seed % 4 ? 0 : 1u << seed / 4 % FT_CONTEXT_PASSES;
}

static void runs_are_among_contexts_and_paths(void **state)
{
    (void)state;
    oracle_counts counts = {0};
    uint64_t first = number("FT_SEED_START", 1), n = number("FT_SEEDS", 80);
    for (uint64_t seed = first; seed < first + n; seed++) {
        flow_random r = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
        ft_strbuf text = {0};
        char why[700];
        bool used;
        features_write(&r, (uint32_t)(seed % FEATURES), &text);
        if (!oracle_compare(ft_strbuf_text(&text), left_out(seed), &counts, &used, why, sizeof why))
            fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, why, ft_strbuf_text(&text));
        ft_strbuf_release(&text);
    }
    print_message("%llu programs, %llu states, %llu contexts, %llu runs\n",
                  (unsigned long long)counts.programs, (unsigned long long)counts.states,
                  (unsigned long long)counts.contexts, (unsigned long long)counts.runs);
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
