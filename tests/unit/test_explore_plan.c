/* The plan above the search: what it says it has run is what there is, by brute force; the same for
 * any number of runs at once; and nothing that ended a search early lets it say `every`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "explore/plan.h"
#include "explore/sampling.h"
#include "oracle/schedules.h"

enum { LIMIT = 2000, DEFAULT_SEEDS = 300 };

/* ---- an executor that does what the real one does, and goes wrong now and then */

typedef struct wrapped {
    ft_x_executor inner;
    uint64_t runs;
    uint64_t stray_every; /* each such run takes other variants: it does not follow. 0: none */
    size_t cut_at;        /* steps that a run may have; 0: any number */
} wrapped;

static ft_status start_wrapped(void *context, uint32_t slot, const ft_x_task *task, ft_error *err)
{
    wrapped *w = context;
    return w->inner.start(w->inner.context, slot, task, err);
}

static ft_status finish_wrapped(void *context, uint32_t *slot, ft_x_run *run, ft_error *err)
{
    wrapped *w = context;
    ft_status status = w->inner.finish(w->inner.context, slot, run, err);
    w->runs++;
    if (w->stray_every && w->runs % w->stray_every == 0 && run->steps.len)
        run->steps.data[run->steps.len - 1].operation.object ^= 1;
    if (w->cut_at && run->steps.len > w->cut_at) {
        for (size_t i = run->steps.len; i-- > w->cut_at;)
            run->pending[run->steps.data[i].thread] = run->steps.data[i].operation;
        run->steps.len = w->cut_at;
        run->end = FT_X_CUT;
    }
    return status;
}

static ft_x_executor wrap(wrapped *w)
{
    ft_x_executor e = w->inner;
    e.context = w;
    e.start = start_wrapped;
    e.finish = finish_wrapped;
    return e;
}

/* ---- what was run */

typedef struct collected {
    const schedule_program *p;
    ft_intern names;
    uint64_t wrong;
    ft_strbuf order; /* of the runs: their lengths and last threads */
} collected;

static bool collect(void *context, const ft_x_run *run, const ft_unfolding *u,
                    const ft_configuration *c)
{
    (void)u, (void)c;
    collected *all = context;
    char *name = ft_schedules_name(all->p, run->steps.data, run->steps.len);
    if (name)
        ft_intern_add(&all->names, name, strlen(name));
    else
        all->wrong++;
    free(name);
    return true;
}

static bool note_run(void *context, const ft_x_run *run)
{
    collected *all = context;
    for (size_t i = 0; i < run->steps.len; i++)
        ft_strbuf_printf(&all->order, "%u.%u ", run->steps.data[i].thread,
                         (unsigned)run->steps.data[i].variant);
    ft_strbuf_puts(&all->order, "\n");
    return true;
}

static void release(collected *all)
{
    ft_intern_release(&all->names);
    ft_strbuf_release(&all->order);
    *all = (collected){0};
}

typedef struct setting {
    uint32_t width;
    uint64_t max_runs;
    uint32_t preemptions;
    uint64_t stray_every;
    size_t cut_at;
} setting;

static ft_x_outcome explore(const schedule_program *p, uint64_t seed, const setting *s,
                            collected *got)
{
    ft_error err = FT_ERROR_INIT;
    ft_x_outcome outcome;
    schedule_executor *executor = ft_schedules_executor(p, s->width, seed);
    wrapped w = {.inner = ft_schedules_interface(executor),
                 .stray_every = s->stray_every,
                 .cut_at = s->cut_at};
    ft_x_executor interface = wrap(&w);
    *got = (collected){.p = p};
    ft_x_plan plan = {.preemptions = s->preemptions,
                      .max_runs = s->max_runs,
                      .seed = seed,
                      .on_class = collect,
                      .on_run = note_run,
                      .context = got};
    if (ft_x_explore(&interface, &plan, &outcome, &err) != FT_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
    ft_schedules_executor_free(executor);
    return outcome;
}

/* ---- tests */

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Calls it for each random program that is small enough. */
static void for_each_program(void (*check)(uint64_t, const schedule_program *,
                                           const schedule_classes *))
{
    uint64_t start = from_environment("FT_SEED_START", 1),
             seeds = from_environment("FT_SEEDS", DEFAULT_SEEDS);
    for (uint64_t seed = start; seed < start + seeds; seed++) {
        schedule_program p = ft_schedules_random(seed);
        schedule_classes want;
        if (ft_schedules_enumerate(&p, LIMIT, &want)) check(seed, &p, &want);
        ft_schedules_release(&want);
    }
}

static void check_every(uint64_t seed, const schedule_program *p, const schedule_classes *want)
{
    collected got;
    setting s = {.width = 3, .preemptions = FT_X_ALL_PREEMPTIONS};
    ft_x_outcome o = explore(p, seed, &s, &got);
    if (o.cover != FT_X_COVER_EVERY || o.stop != FT_X_STOP_END || o.classes != want->classes ||
        got.names.len != want->classes || got.wrong)
        fail_msg("seed %llu: %s, %u classes of %u", (unsigned long long)seed,
                 ft_x_cover_name(o.cover), (unsigned)o.classes, (unsigned)want->classes);
    release(&got);
}

static void test_every(void **state)
{
    (void)state;
    for_each_program(check_every);
}

/* A plan that ends at a level has the classes of plain enumeration. */
static void check_levels(uint64_t seed, const schedule_program *p, const schedule_classes *want)
{
    for (uint32_t last = 0; last < 3; last++) {
        collected got;
        ft_intern plain = {0};
        setting s = {.width = 2, .preemptions = last};
        if (ft_schedules_count(p, last, 20000, &plain) != UINT64_MAX) {
            ft_x_outcome o = explore(p, seed, &s, &got);
            bool right = o.cover == FT_X_COVER_EVERY
                             ? o.classes == want->classes
                             : o.cover == FT_X_COVER_LEVELS && o.level == last;
            if (!right || o.classes != plain.len || got.names.len != plain.len)
                fail_msg("seed %llu, level %u: %s, %u classes of %u", (unsigned long long)seed,
                         last, ft_x_cover_name(o.cover), (unsigned)o.classes, plain.len);
            release(&got);
        }
        ft_intern_release(&plain);
    }
}

static void test_levels(void **state)
{
    (void)state;
    for_each_program(check_levels);
}

/* With a bound on runs: the same runs in the same order whatever the width, not one more than the
 * bound, and `every` only where it is true. */
static void check_bounded(uint64_t seed, const schedule_program *p, const schedule_classes *want)
{
    collected one, five;
    setting s = {.width = 1,
                 .preemptions = FT_X_ALL_PREEMPTIONS,
                 .max_runs = 1 + ft_hash_u64(seed) % (2 * want->classes + 10)};
    ft_x_outcome a = explore(p, seed, &s, &one);
    s.width = 5;
    ft_x_outcome b = explore(p, seed, &s, &five);
    bool same = !strcmp(ft_strbuf_text(&one.order), ft_strbuf_text(&five.order));
    bool every = a.cover != FT_X_COVER_EVERY || one.names.len == want->classes;
    if (!same || !every || a.cover != b.cover || a.classes != b.classes || a.seen != b.seen ||
        a.total.runs > s.max_runs || one.wrong || one.names.len > want->classes)
        fail_msg("seed %llu, %u runs: %s, %u classes; %s, %u classes, of %u",
                 (unsigned long long)seed, (unsigned)s.max_runs, ft_x_cover_name(a.cover),
                 (unsigned)a.seen, ft_x_cover_name(b.cover), (unsigned)b.seen,
                 (unsigned)want->classes);
    release(&one);
    release(&five);
}

static void test_bounded(void **state)
{
    (void)state;
    for_each_program(check_bounded);
}

/* A program that does something else in an equal run, runs that are cut: never `every`. */
static void check_weakened(uint64_t seed, const schedule_program *p, const schedule_classes *want)
{
    collected got;
    setting strays = {.width = 2,
                      .preemptions = FT_X_ALL_PREEMPTIONS,
                      .max_runs = 500,
                      .stray_every = 2 + ft_hash_u64(seed) % 3};
    ft_x_outcome o = explore(p, seed, &strays, &got);
    if (o.total.strayed && o.cover >= FT_X_COVER_LEVELS)
        fail_msg("seed %llu: %s with %u strays", (unsigned long long)seed, ft_x_cover_name(o.cover),
                 (unsigned)o.total.strayed);
    release(&got);
    setting cuts = {.width = 2,
                    .preemptions = FT_X_ALL_PREEMPTIONS,
                    .max_runs = 500,
                    .cut_at = 1 + ft_hash_u64(seed) % 12};
    o = explore(p, seed, &cuts, &got);
    if (o.total.cut ? o.cover >= FT_X_COVER_LEVELS && !o.classes
                    : o.cover == FT_X_COVER_EVERY && o.classes != want->classes)
        fail_msg("seed %llu: %s with %u cuts", (unsigned long long)seed, ft_x_cover_name(o.cover),
                 (unsigned)o.total.cut);
    if (o.total.cut) assert_true(o.cover != FT_X_COVER_EVERY);
    release(&got);
}

static void test_weakened(void **state)
{
    (void)state;
    for_each_program(check_weakened);
}

/* Samples are schedules, find every class of a small program, and depend on the seed alone. */
static void check_samples(uint64_t seed, const schedule_program *p, const schedule_classes *want)
{
    ft_error err = FT_ERROR_INIT;
    ft_strbuf first = {0};
    if (want->classes > 40) return;
    for (uint32_t width = 1; width <= 4; width += 3) {
        collected got = {.p = p};
        ft_x_counts counts = {0};
        ft_x_names classes = {0};
        schedule_executor *executor = ft_schedules_executor(p, width, seed);
        ft_x_executor interface = ft_schedules_interface(executor);
        ft_x_options options = {.on_class = collect, .on_run = note_run, .context = &got};
        ft_x_samples *s = ft_x_samples_new(&interface, &options, &counts, &classes, seed);
        assert_int_equal(ft_x_samples_run(s, 60, &err), FT_OK);
        assert_int_equal(ft_x_samples_taken(s), 60);
        assert_int_equal(got.wrong, 0);
        assert_int_equal(counts.strayed, 0);
        assert_int_equal(classes.len, got.names.len);
        for (uint32_t i = 0; i < got.names.len; i++)
            assert_true(ft_intern_find(&want->names, got.names.names[i], got.names.lengths[i]) !=
                        FT_NO_ID);
        if (want->classes <= 2 && got.names.len != want->classes)
            fail_msg("seed %llu: 60 samples met %u of %u classes", (unsigned long long)seed,
                     got.names.len, (unsigned)want->classes);
        if (width == 1)
            ft_strbuf_puts(&first, ft_strbuf_text(&got.order));
        else
            assert_string_equal(ft_strbuf_text(&first), ft_strbuf_text(&got.order));
        ft_x_samples_free(s);
        ft_x_names_release(&classes);
        release(&got);
        ft_schedules_executor_free(executor);
    }
    ft_strbuf_release(&first);
}

static void test_samples(void **state)
{
    (void)state;
    for_each_program(check_samples);
}

/* Interrupted at random places, also while extensions are looked for, and taken up again: the word
 * and the classes are those of one that was not. */
typedef struct interrupted {
    collected all;
    uint64_t asks, most;
} interrupted;

static bool collect_interrupted(void *context, const ft_x_run *run, const ft_unfolding *u,
                                const ft_configuration *c)
{
    interrupted *i = context;
    return collect(&i->all, run, u, c);
}

static bool stops_now(void *context)
{
    interrupted *i = context;
    return i->asks++ >= i->most;
}

static void check_resumed(uint64_t seed, const schedule_program *p, const schedule_classes *want)
{
    ft_x_rest rest = {0};
    ft_x_outcome o;
    interrupted at = {.all = {.p = p}};
    uint64_t times = 0;
    do {
        ft_error err = FT_ERROR_INIT;
        schedule_executor *executor = ft_schedules_executor(p, 2, seed);
        ft_x_executor interface = ft_schedules_interface(executor);
        interface.threads = 1 + (uint32_t)(times % 2);
        at.asks = 0;
        times++;
        at.most = times + ft_hash_u64(seed + times) % 20;
        ft_x_plan plan = {.preemptions = FT_X_ALL_PREEMPTIONS,
                          .rest = &rest,
                          .on_class = collect_interrupted,
                          .should_stop = stops_now,
                          .context = &at};
        assert_int_equal(ft_x_explore(&interface, &plan, &o, &err), FT_OK);
        ft_schedules_executor_free(executor);
    } while (o.stop != FT_X_STOP_END);
    if (o.cover != FT_X_COVER_EVERY || o.classes != want->classes ||
        at.all.names.len != want->classes || at.all.wrong || rest.open.len)
        fail_msg("seed %llu: %s, %u classes of %u", (unsigned long long)seed,
                 ft_x_cover_name(o.cover), (unsigned)o.classes, (unsigned)want->classes);
    ft_x_rest_release(&rest);
    release(&at.all);
}

static void test_resumed(void **state)
{
    (void)state;
    for_each_program(check_resumed);
}

static void expect_word(ft_x_outcome outcome, const char *want)
{
    ft_strbuf out = {0};
    ft_x_outcome_print(&outcome, &out);
    assert_string_equal(ft_strbuf_text(&out), want);
    ft_strbuf_release(&out);
}

static void test_words(void **state)
{
    (void)state;
    expect_word((ft_x_outcome){.cover = FT_X_COVER_EVERY, .classes = 6}, "every schedule (6)");
    expect_word(
        (ft_x_outcome){.cover = FT_X_COVER_LEVELS, .level = 2, .classes = 20412, .of_next = 1300},
        "every schedule with at most 2 preemptions (20,412), 1,300 of 3");
    expect_word((ft_x_outcome){.cover = FT_X_COVER_LEVELS, .level = 1, .classes = 7, .samples = 40},
                "every schedule with at most 1 preemption (7), 40 random ones");
    expect_word((ft_x_outcome){.cover = FT_X_COVER_LEVELS, .level = 0, .classes = 1},
                "every schedule without a preemption (1)");
    expect_word((ft_x_outcome){.cover = FT_X_COVER_SAMPLED, .seen = 1234567},
                "sampled (1,234,567)");
    expect_word((ft_x_outcome){.cover = FT_X_COVER_BOUNDED, .seen = 12}, "bounded (12)");
    expect_word((ft_x_outcome){.cover = FT_X_COVER_NOTHING}, "nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every),   cmocka_unit_test(test_levels),
        cmocka_unit_test(test_bounded), cmocka_unit_test(test_weakened),
        cmocka_unit_test(test_samples), cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
