/* Cutoffs against the program's states: the search that does not go on where a state was met before
 * comes to every end and deadlock that a search over the states alone has, also where threads spin
 * without end; by any number of lanes and threads, and in parts.
 * FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explore/forest.h"
#include "oracle/schedules.h"

enum { STATES = 600, STEPS = 50, MOST_RUNS = 400, DEFAULT_SEEDS = 150 };

typedef struct collected {
    const schedule_program *p;
    ft_intern ends;
} collected;

static bool collect(void *context, const ft_x_run *run, const ft_unfolding *u,
                    const ft_configuration *c)
{
    (void)u, (void)c;
    collected *all = context;
    char *end = ft_schedules_end(all->p, run->steps.data, run->steps.len);
    ft_intern_add(&all->ends, end, strlen(end));
    free(end);
    return true;
}

typedef struct totals {
    uint64_t programs, large, spinning, ends, runs, plain_runs, cut_off, tasks;
} totals;

static void complain(uint64_t seed, const schedule_program *p, const char *what, const char *end)
{
    ft_strbuf code = {0};
    ft_schedules_print(p, &code);
    fail_msg("seed %llu: %s: %s\n%s", (unsigned long long)seed, what, end, ft_strbuf_text(&code));
}

/* Live-locks are no ends of executions. */
static bool spins(const char *end)
{
    return strstr(end, "| spins") != NULL;
}

static void expect_ends(uint64_t seed, const schedule_program *p, const ft_intern *want,
                        const ft_intern *got)
{
    for (uint32_t n = 0; n < got->len; n++)
        if (ft_intern_find(want, got->names[n], got->lengths[n]) == FT_NO_ID)
            complain(seed, p, "an end that the program does not have", got->names[n]);
    for (uint32_t n = 0; n < want->len; n++)
        if (!spins(want->names[n]) &&
            ft_intern_find(got, want->names[n], want->lengths[n]) == FT_NO_ID)
            complain(seed, p, "an end is missing", want->names[n]);
}

typedef struct way {
    bool complete, cutoffs;
    uint32_t threads, lanes, later;
} way;

/* False: it takes too many runs. */
static bool search(uint64_t seed, const schedule_program *p, const way *w, collected *got,
                   ft_x_counts *counts)
{
    bool finished = false;
    ft_error err = FT_ERROR_INIT;
    schedule_executor *executor = ft_schedules_executor(p, w->threads, seed);
    ft_schedules_bound(executor, STEPS);
    ft_x_executor interface = ft_schedules_interface(executor);
    interface.threads = w->threads;
    interface.lanes = w->lanes;
    ft_x_options options = {.complete = w->complete,
                            .cutoffs = w->cutoffs,
                            .on_class = collect,
                            .context = got,
                            .max_runs = MOST_RUNS};
    *counts = (ft_x_counts){0};
    if (w->complete) {
        assert_int_equal(ft_x_search(&interface, &options, counts, &finished, &err), FT_OK);
    } else {
        ft_x_forest *f = ft_x_forest_new(&interface, &options, counts);
        ft_x_forest_grain(f, 1, w->later, 60);
        assert_int_equal(ft_x_forest_run(f, &finished, &err), FT_OK);
        ft_x_forest_free(f);
    }
    ft_schedules_executor_free(executor);
    return finished && !counts->cut;
}

static void check_ways(uint64_t seed, const schedule_program *p, const ft_intern *want,
                       bool spinning, totals *t)
{
    static const way WAYS[] = {{false, true, 1, 1, 64},
                               {true, true, 1, 0, 1},
                               {false, true, 1, 0, 1},
                               {false, true, 3, 0, 3}};
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        collected got = {.p = p};
        ft_x_counts counts;
        if (search(seed, p, &WAYS[i], &got, &counts)) {
            expect_ends(seed, p, want, &got.ends);
            t->runs += i ? 0 : counts.runs;
            t->cut_off += i ? 0 : counts.cut_off;
        } else {
            t->large += !i;
        }
        ft_intern_release(&got.ends);
    }
    collected got = {.p = p};
    ft_x_counts counts;
    if (!spinning && search(seed, p, &(way){false, false, 1, 1, 64}, &got, &counts))
        t->plain_runs += counts.runs;
    ft_intern_release(&got.ends);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void check_programs(bool spinning)
{
    totals t = {0};
    uint64_t start = from_environment("FT_SEED_START", 1),
             seeds = from_environment("FT_SEEDS", DEFAULT_SEEDS);
    for (uint64_t seed = start; seed < start + seeds; seed++) {
        schedule_program p =
            spinning ? ft_schedules_random_polls(seed, seed % 2) : ft_schedules_random(seed);
        ft_intern ends = {0};
        p.polls = 0;
        if (ft_schedules_ends(&p, STATES, &ends)) {
            check_ways(seed, &p, &ends, spinning, &t);
            t.programs++;
            t.ends += ends.len;
            for (uint32_t n = 0; n < ends.len; n++) t.spinning += spins(ends.names[n]);
        }
        ft_intern_release(&ends);
    }
    print_message("%u programs (%u too large), %u ends, %u live-locks; %u runs (%u cut off), %u "
                  "without cutoffs where those end\n",
                  (unsigned)t.programs, (unsigned)t.large, (unsigned)t.ends, (unsigned)t.spinning,
                  (unsigned)t.runs, (unsigned)t.cut_off, (unsigned)t.plain_runs);
    assert_true(seeds < DEFAULT_SEEDS || (t.programs > seeds / 2 && t.cut_off > seeds / 4));
}

static void test_programs_that_end(void **state)
{
    (void)state;
    check_programs(false);
}

static void test_programs_that_spin(void **state)
{
    (void)state;
    check_programs(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs_that_end),
                                       cmocka_unit_test(test_programs_that_spin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
