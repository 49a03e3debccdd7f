/* Walks over the claims of a group: with a cut they visit the same claims in the same places, and
 * what clocks leave out is what they refute claim by claim; on random small programs. Of sites with
 * many classes they visit each open pair once, against a look at every pair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "candidate/candidate.h"
#include "causality/causality.h"
#include "engine/engine.h"
#include "oracle/generate.h"
#include "tiny_trace.h"

enum { SEEDS = 10000, ENOUGH = 1000 };

typedef struct walked {
    ft_causality *causality;
    FT_VEC(ft_claim) all;
    size_t at; /* of all: where the walk with a cut is */
    unsigned left_out, visited;
} walked;

static bool list(void *context, const ft_claim *claim)
{
    walked *w = context;
    ft_vec_push(&w->all, *claim);
    return true;
}

static bool is_needed_by_item(void *context, const uint32_t item[2], uint32_t event)
{
    walked *w = context;
    return ft_causality_needs(w->causality, item[0], event);
}

static bool needs_item(void *context, const uint32_t item[2], uint32_t event)
{
    walked *w = context;
    return ft_causality_needs(w->causality, event, item[1]);
}

static bool look_at_left_out(void *context, uint64_t claims)
{
    walked *w = context;
    for (uint64_t i = 0; i < claims; i++) {
        assert_true(w->at < w->all.len);
        assert_true(ft_causality_refutes_at_once(w->causality, &w->all.data[w->at++]));
        w->left_out++;
    }
    return true;
}

static bool compare(void *context, const ft_claim *claim)
{
    walked *w = context;
    assert_true(w->at < w->all.len);
    const ft_claim *same = &w->all.data[w->at++];
    assert_int_equal(claim->kind, same->kind);
    assert_int_equal(claim->variable, same->variable);
    assert_memory_equal(claim->events, same->events, sizeof claim->events);
    assert_memory_equal(claim->writes, same->writes, sizeof claim->writes);
    w->visited++;
    return true;
}

static void walk_group(const ft_candidates *c, const ft_group *group, walked *w)
{
    const ft_claim_cut cut = {is_needed_by_item, needs_item, look_at_left_out, w};
    w->all.len = w->at = 0;
    ft_candidates_each(c, group, NULL, list, w);
    ft_candidates_each(c, group, &cut, compare, w);
    assert_int_equal(w->at, w->all.len);
}

static void walk_trace(ft_trace *trace, ft_model model, walked *w)
{
    ft_order *order = ft_order_new(trace);
    ft_run *run = ft_run_new(trace);
    ft_problem problem = {.trace = trace, .order = order, .run = run, .model = model};
    ft_candidates *c = ft_candidates_new(trace, order, run, false, NULL);
    w->causality = ft_causality_new(&problem, FT_CAUSALITY_ALL);
    ft_candidates_race(c);
    ft_candidates_atomicity(c);
    ft_candidates_deadlock(c);
    for (size_t g = 0; g < c->groups.len; g++)
        if (c->groups.data[g].blocks.len) walk_group(c, &c->groups.data[g], w);
    ft_causality_free(w->causality);
    ft_candidates_free(c);
    ft_run_free(run);
    ft_order_free(order);
}

static void test_cut_leaves_out_what_is_refuted(void **state)
{
    (void)state;
    walked w = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        ft_trace *trace = ft_generate(seed);
        bool supported[FT_MODELS];
        ft_model most;
        ft_engine_models(trace, supported, &most);
        for (int m = 0; m < FT_MODELS; m++)
            if (supported[m]) walk_trace(trace, (ft_model)m, &w);
        ft_trace_free(trace);
    }
    ft_vec_release(&w.all);
    print_message("%u claims left out, %u visited\n", w.left_out, w.visited);
    assert_true(w.left_out > ENOUGH && w.visited > ENOUGH);
}

enum { TURNS = 40 };

/* Threads that take turns, since each reads what the one before wrote last; what each does in its
 * turn is `work`. Of their claims only those of neighbours are open, and what is left of a class
 * goes forward with the items. */
static void take_turns(const char *const *work, int threads, uint32_t claims)
{
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, "var x 0\nvar turn 0\nmutex l\nmutex a\nmutex b\nmutex c\n");
    for (int i = 0; i < threads * TURNS; i++) {
        int t = 1 + i % threads;
        ft_strbuf_printf(&text, "T%d: acq l\nT%d: r turn %d @l\nT%d: w turn %d @l\nT%d: rel l\n", t,
                         t, i, t, i + 1, t);
        ft_strbuf_puts(&text, work[t - 1]);
    }
    walked w = {0};
    ft_trace *trace = tiny_trace(ft_strbuf_text(&text));
    walk_trace(trace, FT_MODEL_OBSERVED, &w);
    assert_int_equal(w.left_out + w.visited, claims);
    assert_true(w.visited < 9 * TURNS);
    ft_trace_free(trace);
    ft_strbuf_release(&text);
    ft_vec_release(&w.all);
}

static void test_turns(void **state)
{
    static const char *const writes[] = {"T1: w x 1 @busy\n", "T2: w x 2 @busy\n"};
    static const char *const pair[] = {"T1: acq a @p1\nT1: acq b @p2\nT1: rel b\nT1: rel a\n",
                                       "T2: acq b @p3\nT2: acq a @p4\nT2: rel a\nT2: rel b\n"};
    static const char *const ring[] = {"T1: acq a @r1\nT1: acq b @r2\nT1: rel b\nT1: rel a\n",
                                       "T2: acq b @r3\nT2: acq c @r4\nT2: rel c\nT2: rel b\n",
                                       "T3: acq c @r5\nT3: acq a @r6\nT3: rel a\nT3: rel c\n"};
    (void)state;
    take_turns(writes, 2, TURNS * TURNS);
    take_turns(pair, 2, TURNS * TURNS);
    take_turns(ring, 3, TURNS * TURNS * TURNS);
}

static void add_section(ft_strbuf *text, ft_random *random, int round)
{
    int owner = 1 + (int)ft_random_below(random, 3), other = 1 + owner % 3;
    bool tells = ft_random_percent(random, 50);
    int from = ft_random_percent(random, 50) ? owner : other, to = owner + other - from;
    if (ft_random_percent(random, 50)) return;
    ft_strbuf_printf(text, "T%d: acq l\nT%d: r x @read\n", owner, owner);
    if (tells) ft_strbuf_printf(text, "T%d: out m%d\nT%d: in m%d\n", from, round, to, round);
    ft_strbuf_printf(text, "T%d: w x 1 @written\nT%d: rel l\n", owner, owner);
}

/* Three threads that meet at barriers, and sometimes hand on: a class for each stretch, more than
 * are looked at one by one. */
static ft_trace *rounds(uint64_t seed)
{
    enum { ROUNDS = 80 };
    ft_random random;
    ft_strbuf text = {0};
    ft_random_init(&random, seed);
    ft_strbuf_puts(&text, "var x 0\nbar b 3\nmutex l\n");
    for (int i = 0; i < ROUNDS; i++) {
        for (int t = 1; t <= 3; t++)
            if (ft_random_percent(&random, 80))
                ft_strbuf_printf(&text, "T%d: w x 1 @%s\n", t,
                                 ft_random_percent(&random, 40) ? "here" : "there");
        add_section(&text, &random, i);
        if (ft_random_percent(&random, 40))
            ft_strbuf_printf(&text, "T%d: out o%d\nT%d: in o%d\n", 1 + i % 3, i, 1 + (i + 1) % 3,
                             i);
        if (!ft_random_percent(&random, 50)) continue;
        for (int t = 1; t <= 3; t++) ft_strbuf_printf(&text, "T%d: arr b\n", t);
        for (int t = 1; t <= 3; t++) ft_strbuf_printf(&text, "T%d: leave b\n", t);
    }
    ft_trace *trace = tiny_trace(ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return trace;
}

/* What a look at every claim counts. */
typedef struct counted {
    uint64_t all, by_locks, by_order, open;
} counted;

static bool is_write(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_WRITE;
}

static bool is_access(const ft_trace *trace, uint32_t e)
{
    return is_write(trace, e) || trace->kind[e] == FT_EVENT_READ;
}

static bool is_locked(const ft_order *order, uint32_t e)
{
    return ft_order_section_at(order, e, 0) != FT_NO_SECTION;
}

static void count(counted *n, bool locked, bool ordered)
{
    n->all++;
    n->by_locks += locked;
    n->by_order += ordered;
    n->open += !locked && !ordered;
}

static counted count_races(const ft_trace *trace, const ft_order *order)
{
    counted n = {0};
    for (uint32_t e = 0; e < trace->n_events; e++)
        for (uint32_t f = e + 1; f < trace->n_events; f++)
            if (is_access(trace, e) && is_access(trace, f) &&
                (is_write(trace, e) || is_write(trace, f)) && trace->thread[e] != trace->thread[f])
                count(&n, is_locked(order, e) && is_locked(order, f), ft_order_before(order, e, f));
    return n;
}

static uint32_t write_behind(const ft_trace *trace, uint32_t read)
{
    uint32_t e = read + 1;
    while (trace->thread[e] != trace->thread[read] || !is_write(trace, e)) e++;
    return e;
}

/* The transactions are sections of a read and a write behind it. */
static counted count_triplets(const ft_trace *trace, const ft_order *order)
{
    counted n = {0};
    for (uint32_t e = 0; e < trace->n_events; e++)
        for (uint32_t r = 0; r < trace->n_events; r++)
            if (trace->kind[e] == FT_EVENT_READ && is_write(trace, r) &&
                trace->thread[e] != trace->thread[r])
                count(&n, is_locked(order, r),
                      ft_order_before(order, r, e) ||
                          ft_order_before(order, write_behind(trace, e), r));
    return n;
}

static int by_events(const void *a, const void *b)
{
    return memcmp(((const ft_claim *)a)->events, ((const ft_claim *)b)->events,
                  sizeof(((const ft_claim *)a)->events));
}

/* What the groups of the check count and have; each claim that is left once. */
static void compare_counts(const ft_candidates *c, ft_check check, const counted *expected)
{
    walked w = {0};
    uint64_t pairs = 0;
    for (size_t g = 0; g < c->groups.len; g++) {
        if (c->groups.data[g].check != check) continue;
        pairs += c->groups.data[g].pairs;
        if (c->groups.data[g].blocks.len) ft_candidates_each(c, &c->groups.data[g], NULL, list, &w);
    }
    assert_int_equal(pairs, expected->all);
    assert_int_equal(c->passes[check].claims, expected->all);
    assert_int_equal(c->passes[check].by_locks, expected->by_locks);
    assert_int_equal(c->passes[check].by_order, expected->by_order);
    assert_int_equal(w.all.len, expected->open);
    qsort(w.all.data, w.all.len, sizeof *w.all.data, by_events);
    for (size_t i = 1; i < w.all.len; i++)
        assert_true(by_events(&w.all.data[i - 1], &w.all.data[i]) != 0);
    ft_vec_release(&w.all);
}

static void test_many_classes(void **state)
{
    (void)state;
    unsigned indexed = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        ft_trace *trace = rounds(seed);
        ft_order *order = ft_order_new(trace);
        ft_run *run = ft_run_new(trace);
        ft_candidates *c = ft_candidates_new(trace, order, run, false, NULL);
        counted races = count_races(trace, order), triplets = count_triplets(trace, order);
        ft_candidates_race(c);
        ft_candidates_atomicity(c);
        indexed += c->threaded != NULL;
        compare_counts(c, FT_CHECK_RACE, &races);
        compare_counts(c, FT_CHECK_ATOMICITY, &triplets);
        ft_candidates_free(c);
        ft_run_free(run);
        ft_order_free(order);
        ft_trace_free(trace);
    }
    assert_true(indexed > 25);
}

static bool stop_at_second(void *context, const ft_claim *claim)
{
    (void)claim;
    return ++*(unsigned *)context < 2;
}

static void test_stopped(void **state)
{
    (void)state;
    unsigned visited = 0;
    ft_trace *trace =
        tiny_trace("var x 0\nT1: w x 1 @a\nT1: w x 2 @a\nT2: w x 3 @a\nT2: w x 4 @a\n");
    ft_order *order = ft_order_new(trace);
    ft_run *run = ft_run_new(trace);
    ft_candidates *c = ft_candidates_new(trace, order, run, false, NULL);
    ft_candidates_race(c);
    assert_int_equal(c->groups.len, 1);
    ft_candidates_each(c, &c->groups.data[0], NULL, stop_at_second, &visited);
    assert_int_equal(visited, 2);
    ft_candidates_free(c);
    ft_run_free(run);
    ft_order_free(order);
    ft_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_leaves_out_what_is_refuted),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_many_classes),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
