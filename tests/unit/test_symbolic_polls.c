/* Programs whose threads poll, explored with AWAIT and LINGER, against all states of the program by
 * brute force, in which threads spin as they would: the ends and live-locks are the same; where a
 * thread had to linger, those of the explorer are among the others.
 * FT_SEEDS=N and FT_SEED_START=N make longer runs. */
#include "symbolic_polls.h"

enum { DEFAULT_SEEDS = 150 };

static void test_polls(void **state)
{
    (void)state;
    polled_totals t = {0};
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) compare_polls(seed, &t);
    print_message("%u programs (%u too large), %u states, %u ends; %u classes, %u live-locks, %u "
                  "with threads that lingered; %u with inputs, %u not followed\n",
                  (unsigned)t.programs, (unsigned)t.skipped, (unsigned)t.states, (unsigned)t.ends,
                  (unsigned)t.classes, (unsigned)t.live_locks, (unsigned)t.lingering,
                  (unsigned)t.open, (unsigned)t.refused);
    if (n < DEFAULT_SEEDS) return;
    assert_true(t.programs > n / 2 && t.live_locks > n / 10 && t.lingering && t.open);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_polls)};
    return cmocka_run_group_tests_name("symbolic_polls", tests, NULL, NULL);
}
