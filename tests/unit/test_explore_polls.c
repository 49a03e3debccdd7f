/* Loops that wait by attempts. The search with AWAIT is held against brute force twice: it finds
 * every maximal configuration once, and its ends are those of the program's states, in which
 * threads spin as they would. With loops that count, its ends are among those, and they are all of
 * them unless a thread had to linger.
 * FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explore/levels.h"
#include "explore/search.h"
#include "oracle/schedules.h"

enum { CLASSES = 2000, STATES = 3000, DEFAULT_SEEDS = 1500 };

typedef struct collected {
    const schedule_program *p;
    ft_intern names, ends;
    uint64_t twice, wrong, lingering, live_locks;
} collected;

static bool collect(void *context, const ft_x_run *run, const ft_unfolding *u,
                    const ft_configuration *c)
{
    (void)u, (void)c;
    collected *all = context;
    uint32_t before = all->names.len;
    char *name = ft_schedules_name(all->p, run->steps.data, run->steps.len);
    char *end = ft_schedules_end(all->p, run->steps.data, run->steps.len);
    if (name) ft_intern_add(&all->names, name, strlen(name));
    ft_intern_add(&all->ends, end, strlen(end));
    all->wrong += !name;
    all->twice += name && all->names.len == before;
    all->lingering += ft_x_run_lingers(run);
    all->live_locks += ft_x_run_is_live_lock(run);
    free(name);
    free(end);
    return true;
}

static void complain(uint64_t seed, const schedule_program *p, const char *text)
{
    ft_strbuf code = {0};
    ft_schedules_print(p, &code);
    fprintf(stderr, "seed %llu: %s\n%s", (unsigned long long)seed, text, ft_strbuf_text(&code));
    ft_strbuf_release(&code);
    fail();
}

static void check_ends(uint64_t seed, const schedule_program *p, const collected *got,
                       const ft_intern *want)
{
    for (uint32_t n = 0; n < got->ends.len; n++)
        if (ft_intern_find(want, got->ends.names[n], got->ends.lengths[n]) == FT_NO_ID) {
            fprintf(stderr, "%s\n", got->ends.names[n]);
            complain(seed, p, "an end that the program does not have");
        }
    if (got->lingering) return;
    for (uint32_t n = 0; n < want->len; n++)
        if (ft_intern_find(&got->ends, want->names[n], want->lengths[n]) == FT_NO_ID) {
            fprintf(stderr, "%s\n", want->names[n]);
            complain(seed, p, "an end is missing");
        }
}

static void search(uint64_t seed, const schedule_program *p, bool complete, uint32_t width,
                   collected *got, ft_x_counts *counts)
{
    bool finished = false;
    ft_error err = FT_ERROR_INIT;
    schedule_executor *executor = ft_schedules_executor(p, width, seed);
    ft_x_executor interface = ft_schedules_interface(executor);
    ft_x_options options = {
        .complete = complete, .on_class = collect, .context = got, .max_runs = 100 * CLASSES};
    if (ft_x_search(&interface, &options, counts, &finished, &err) != FT_OK)
        complain(seed, p, err.message);
    if (!finished) complain(seed, p, "not finished");
    ft_schedules_executor_free(executor);
}

static void search_levels(uint64_t seed, const schedule_program *p, collected *got)
{
    ft_x_counts counts;
    ft_error err = FT_ERROR_INIT;
    ft_x_levels_result result;
    schedule_executor *executor = ft_schedules_executor(p, 2, seed);
    ft_x_executor interface = ft_schedules_interface(executor);
    ft_x_options options = {.on_class = collect, .context = got};
    if (ft_x_levels_all(&interface, &options, 63, &counts, &result, &err) != FT_OK)
        complain(seed, p, err.message);
    if (!result.all) complain(seed, p, "levels not finished");
    ft_schedules_executor_free(executor);
}

typedef struct totals {
    uint64_t programs, skipped, classes, ends, live_locks, lingering, runs;
} totals;

static void compare(uint64_t seed, bool counted, totals *t)
{
    static const struct {
        bool complete, levels;
        uint32_t width;
    } WAYS[] = {{false, false, 1}, {true, false, 1}, {false, false, 3}, {false, true, 1}};
    char text[200];
    schedule_program p = ft_schedules_random_polls(seed, counted);
    schedule_classes want;
    ft_intern ends = {0};
    bool small = ft_schedules_ends(&p, STATES, &ends);
    if (!ft_schedules_enumerate(&p, CLASSES, &want) || !small) {
        t->skipped++;
        ft_schedules_release(&want);
        ft_intern_release(&ends);
        return;
    }
    for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++) {
        collected got = {.p = &p};
        ft_x_counts counts = {0};
        if (WAYS[i].levels)
            search_levels(seed, &p, &got);
        else
            search(seed, &p, WAYS[i].complete, WAYS[i].width, &got, &counts);
        snprintf(text, sizeof text, "way %zu: expected %u classes, got %u, %u twice, %u wrong", i,
                 (unsigned)want.classes, got.names.len, (unsigned)got.twice, (unsigned)got.wrong);
        if (got.names.len != want.classes || got.twice || got.wrong) complain(seed, &p, text);
        check_ends(seed, &p, &got, &ends);
        if (!i) t->live_locks += got.live_locks, t->lingering += got.lingering;
        if (!i) t->runs += counts.runs;
        ft_intern_release(&got.names);
        ft_intern_release(&got.ends);
    }
    t->programs++;
    t->classes += want.classes;
    t->ends += ends.len;
    ft_schedules_release(&want);
    ft_intern_release(&ends);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static totals compare_all(bool counted)
{
    totals t = {0};
    uint64_t start = from_environment("FT_SEED_START", 1),
             seeds = from_environment("FT_SEEDS", DEFAULT_SEEDS);
    for (uint64_t seed = start; seed < start + seeds; seed++) compare(seed, counted, &t);
    print_message("%u programs (%u too large), %u classes, %u ends, %u live-locks, %u classes with "
                  "threads that lingered, %u runs\n",
                  (unsigned)t.programs, (unsigned)t.skipped, (unsigned)t.classes, (unsigned)t.ends,
                  (unsigned)t.live_locks, (unsigned)t.lingering, (unsigned)t.runs);
    if (seeds < DEFAULT_SEEDS) return t;
    assert_true(t.programs > seeds / 2);
    assert_true(t.live_locks > seeds / 10);
    return t;
}

static void test_spinning_threads_await(void **state)
{
    (void)state;
    totals t = compare_all(false);
    assert_int_equal(t.lingering, 0);
}

static void test_counting_threads_linger(void **state)
{
    (void)state;
    totals t = compare_all(true);
    assert_true(t.lingering > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spinning_threads_await),
                                       cmocka_unit_test(test_counting_threads_linger)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
