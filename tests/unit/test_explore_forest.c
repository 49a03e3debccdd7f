/* Subtrees of the search as tasks, against brute force: whoever searches them, in whichever order
 * and however often, together they have every class, and each once. FT_SEEDS=N and FT_SEED_START=N
 * in the environment make longer runs. */
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

enum { LIMIT = 3000, DEFAULT_SEEDS = 400 };

typedef struct collected {
    const schedule_program *p;
    ft_intern names;
    uint64_t twice, wrong, runs, most;
} collected;

static bool collect(void *context, const ft_x_run *run, const ft_unfolding *u,
                    const ft_configuration *c)
{
    (void)u, (void)c;
    collected *all = context;
    uint32_t before = all->names.len;
    char *name = ft_schedules_name(all->p, run->steps.data, run->steps.len);
    if (name) ft_intern_add(&all->names, name, strlen(name));
    if (!name)
        all->wrong++;
    else
        all->twice += all->names.len == before;
    free(name);
    return true;
}

static bool interrupt(void *context)
{
    collected *all = context;
    return all->most && all->runs++ >= all->most;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 33;
}

static void expect_classes(uint64_t seed, const char *way, const schedule_classes *want,
                           const collected *got)
{
    if (got->names.len != want->classes || got->twice || got->wrong)
        fail_msg("seed %llu, %s: %u classes of %u, %u twice, %u wrong", (unsigned long long)seed,
                 way, got->names.len, (unsigned)want->classes, (unsigned)got->twice,
                 (unsigned)got->wrong);
    for (uint32_t n = 0; n < got->names.len; n++)
        assert_true(ft_intern_find(&want->names, got->names.names[n], got->names.lengths[n]) !=
                    FT_NO_ID);
}

typedef struct totals {
    uint64_t programs, classes, runs, subtrees, tasks, killed, resumed, proposals;
} totals;

/* ---- one forest, by several threads */

typedef struct grain {
    uint32_t threads, first, later;
    uint64_t events;
} grain;

static ft_x_counts search(uint64_t seed, const schedule_program *p, const grain *g,
                          uint64_t max_runs, collected *got, totals *t)
{
    bool finished = false;
    ft_error err = FT_ERROR_INIT;
    ft_x_counts counts = {0};
    schedule_executor *executor = ft_schedules_executor(p, g->threads + (uint32_t)(seed % 3), seed);
    ft_x_executor interface = ft_schedules_interface(executor);
    interface.threads = g->threads;
    ft_x_options options = {.on_class = collect, .context = got, .max_runs = max_runs};
    ft_x_forest *f = ft_x_forest_new(&interface, &options, &counts);
    ft_x_forest_grain(f, g->first, g->later, g->events);
    assert_int_equal(ft_x_forest_run(f, &finished, &err), FT_OK);
    assert_true(finished || max_runs);
    t->subtrees += ft_x_forest_size_of(f).subtrees;
    t->runs += counts.runs;
    ft_x_forest_free(f);
    ft_schedules_executor_free(executor);
    return counts;
}

static void check_threads(uint64_t seed, const schedule_program *p, const schedule_classes *want,
                          totals *t)
{
    static const grain GRAINS[] = {{1, 1, 1, 1}, {2, 1, 3, 10}, {8, 2, 2, 40}, {3, 8, 64, 4096}};
    for (size_t i = 0; i < sizeof GRAINS / sizeof *GRAINS; i++) {
        collected got = {.p = p};
        ft_x_counts counts = search(seed, p, &GRAINS[i], 0, &got, t);
        expect_classes(seed, "a forest", want, &got);
        assert_int_equal(counts.classes, want->classes);
        assert_int_equal(counts.stuck, want->stuck);
        ft_intern_release(&got.names);
    }
}

/* With a bound on runs: the same classes by any number of threads. */
static void check_bounded(uint64_t seed, const schedule_program *p, const schedule_classes *want,
                          totals *t)
{
    uint64_t most = 1 + ft_hash_u64(seed) % (want->classes + 3);
    grain g = {1, 1, 2, 20};
    collected one = {.p = p}, five = {.p = p};
    ft_x_counts a = search(seed, p, &g, most, &one, t);
    g.threads = 5;
    ft_x_counts b = search(seed, p, &g, most, &five, t);
    assert_true(a.runs <= most);
    assert_int_equal(a.runs, b.runs);
    assert_int_equal(a.classes, b.classes);
    assert_int_equal(one.names.len, five.names.len);
    for (uint32_t n = 0; n < one.names.len; n++)
        assert_true(ft_intern_find(&five.names, one.names.names[n], one.names.lengths[n]) !=
                    FT_NO_ID);
    ft_intern_release(&one.names);
    ft_intern_release(&five.names);
}

/* ---- interrupted at random places, written down, and taken up again by another process */

static ft_x_subtree written_and_read(ft_x_subtree *s)
{
    ft_strbuf text = {0}, again = {0};
    ft_x_subtree read = {0};
    ft_error err = FT_ERROR_INIT;
    ft_x_subtree_print(s, &text);
    assert_int_equal(ft_x_subtree_parse(ft_strbuf_text(&text), &read, &err), FT_OK);
    ft_x_subtree_print(&read, &again);
    assert_string_equal(ft_strbuf_text(&text), ft_strbuf_text(&again));
    ft_strbuf_release(&text);
    ft_strbuf_release(&again);
    ft_vec_release(s);
    return read;
}

static void check_resumed(uint64_t seed, const schedule_program *p, const schedule_classes *want,
                          totals *t)
{
    uint64_t random = seed;
    ft_x_subtrees open = {0};
    collected got = {.p = p};
    for (bool first = true; first || open.len; first = false) {
        bool finished;
        ft_error err = FT_ERROR_INIT;
        ft_x_counts counts = {0};
        schedule_executor *executor = ft_schedules_executor(p, 2, seed);
        ft_x_executor interface = ft_schedules_interface(executor);
        interface.threads = 1 + (uint32_t)next_random(&random) % 2;
        got.runs = 0;
        got.most = 1 + next_random(&random) % 9;
        ft_x_options options = {.on_class = collect, .context = &got, .should_stop = interrupt};
        ft_x_forest *f = ft_x_forest_new(&interface, &options, &counts);
        ft_x_forest_grain(f, 1, 2, 30);
        for (size_t i = 0; i < open.len; i++) {
            ft_x_subtree read = written_and_read(&open.data[i]);
            ft_x_forest_add(f, &read, false);
            ft_vec_release(&read);
        }
        open.len = 0;
        assert_int_equal(ft_x_forest_run(f, &finished, &err), FT_OK);
        ft_x_forest_take(f, &open);
        assert_true(ft_x_forest_ended(f));
        ft_x_forest_free(f);
        ft_schedules_executor_free(executor);
        t->resumed++;
    }
    expect_classes(seed, "taken up again", want, &got);
    ft_intern_release(&got.names);
    ft_x_subtrees_release(&open);
}

/* ---- tasks of a service: in any order, some of them killed, some done twice */

typedef struct service {
    ft_x_subtrees tasks; /* all that were made; the first `n_done` of `order` are done */
    FT_VEC(size_t) open;
    ft_x_names keys; /* of the tasks: no two have one */
} service;

static void commit(service *s, ft_x_subtrees *made)
{
    for (size_t i = 0; i < made->len; i++) {
        uint32_t *slot = ft_x_names_slot(&s->keys, ft_x_subtree_key(&made->data[i]));
        if (*slot) {
            ft_vec_release(&made->data[i]);
            continue;
        }
        *slot = 1;
        ft_vec_push(&s->open, s->tasks.len);
        ft_vec_push(&s->tasks, made->data[i]);
    }
    made->len = 0;
}

/* Begins at the task, up to its soft budget; what it gives back. */
static void do_task(uint64_t seed, const schedule_program *p, const ft_x_subtree *task,
                    uint64_t budget, collected *got, ft_x_subtrees *made, totals *t)
{
    bool finished;
    ft_error err = FT_ERROR_INIT;
    ft_x_counts counts = {0};
    schedule_executor *executor = ft_schedules_executor(p, 1, seed);
    ft_x_executor interface = ft_schedules_interface(executor);
    ft_x_options options = {.on_class = collect, .context = got, .max_runs = budget};
    ft_x_forest *f = ft_x_forest_new(&interface, &options, &counts);
    ft_x_forest_grain(f, 1, 2, 40);
    ft_x_forest_add(f, task, true);
    assert_int_equal(ft_x_forest_run(f, &finished, &err), FT_OK);
    ft_x_forest_take(f, made);
    size_t before = made->len;
    ft_x_forest_proposals(f, made);
    t->proposals += made->len - before;
    t->runs += counts.runs;
    t->tasks++;
    ft_x_forest_free(f);
    ft_schedules_executor_free(executor);
}

static void drop(ft_x_subtrees *made, collected *got)
{
    ft_x_subtrees_release(made);
    ft_intern_release(&got->names);
}

static void merge(collected *to, collected *from)
{
    for (uint32_t n = 0; n < from->names.len; n++) {
        uint32_t before = to->names.len;
        ft_intern_add(&to->names, from->names.names[n], from->names.lengths[n]);
        to->twice += to->names.len == before;
    }
    to->twice += from->twice;
    to->wrong += from->wrong;
}

static void check_service(uint64_t seed, const schedule_program *p, const schedule_classes *want,
                          totals *t)
{
    uint64_t random = seed ^ 77;
    service s = {0};
    ft_x_subtrees all = {0};
    collected got = {.p = p};
    ft_vec_push(&all, (ft_x_subtree){0});
    commit(&s, &all);
    while (s.open.len) {
        size_t at = next_random(&random) % s.open.len, task = s.open.data[at];
        uint64_t fate = next_random(&random) % 5, budget = 1 + next_random(&random) % 6;
        ft_x_subtrees made = {0};
        collected here = {.p = p};
        do_task(seed, p, &s.tasks.data[task], budget, &here, &made, t);
        if (fate) {
            merge(&got, &here);
            commit(&s, &made);
            s.open.data[at] = s.open.data[--s.open.len];
        }
        t->killed += !fate;
        drop(&made, &here);
        if (fate != 1) continue;
        /* It was done elsewhere too: the same subtrees, which are there, and the same classes. */
        collected again = {.p = p};
        size_t before = s.tasks.len;
        do_task(seed + 1, p, &s.tasks.data[task], budget, &again, &made, t);
        commit(&s, &made);
        assert_int_equal(s.tasks.len, before);
        for (uint32_t n = 0; n < again.names.len; n++)
            assert_true(ft_intern_find(&got.names, again.names.names[n], again.names.lengths[n]) !=
                        FT_NO_ID);
        drop(&made, &again);
    }
    expect_classes(seed, "tasks", want, &got);
    ft_x_subtrees_release(&s.tasks);
    ft_vec_release(&s.open);
    ft_x_names_release(&s.keys);
    ft_vec_release(&all);
    ft_intern_release(&got.names);
}

/* ---- tests */

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

typedef void (*check)(uint64_t, const schedule_program *, const schedule_classes *, totals *);

static void for_each_program(check run)
{
    totals t = {0};
    uint64_t start = from_environment("FT_SEED_START", 1),
             seeds = from_environment("FT_SEEDS", DEFAULT_SEEDS);
    for (uint64_t seed = start; seed < start + seeds; seed++) {
        schedule_program p = ft_schedules_random(seed);
        schedule_classes want;
        if (ft_schedules_enumerate(&p, LIMIT, &want)) {
            run(seed, &p, &want, &t);
            t.programs++;
            t.classes += want.classes;
        }
        ft_schedules_release(&want);
    }
    print_message("%u programs, %u classes; %u runs, %u subtrees, %u tasks (%u killed), %u "
                  "proposals, %u times begun\n",
                  (unsigned)t.programs, (unsigned)t.classes, (unsigned)t.runs, (unsigned)t.subtrees,
                  (unsigned)t.tasks, (unsigned)t.killed, (unsigned)t.proposals,
                  (unsigned)t.resumed);
}

static void test_threads(void **state)
{
    (void)state;
    for_each_program(check_threads);
}

static void test_bounded(void **state)
{
    (void)state;
    for_each_program(check_bounded);
}

static void test_resumed(void **state)
{
    (void)state;
    for_each_program(check_resumed);
}

static void test_service(void **state)
{
    (void)state;
    for_each_program(check_service);
}

static void test_names(void **state)
{
    (void)state;
    static const char *const WRONG[] = {"0", "+", "+0.", "+64", "+0x", ">0+1", "+0.256", "+ 0"};
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        ft_x_subtree s = {0};
        ft_error err = FT_ERROR_INIT;
        if (ft_x_subtree_parse(WRONG[i], &s, &err) == FT_OK) fail_msg("accepted: %s", WRONG[i]);
        assert_int_equal(s.len, 0);
        ft_vec_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads), cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_resumed), cmocka_unit_test(test_service),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
