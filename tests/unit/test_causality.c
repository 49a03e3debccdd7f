/* The causality graph: the figures of Kahlon and Wang (TACAS 2010) by hand; exact for two threads
 * and synchronisation only (their theorem 1) against enumeration; never against the oracle. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "candidate/listed.h"
#include "causality/causality.h"
#include "encode/decide.h"
#include "engine/engine.h"
#include "oracle/generate.h"
#include "oracle/oracle.h"
#include "tiny_trace.h"
#include "values/chain.h"
#include "witness/prefix.h"

typedef struct graph {
    ft_trace *trace;
    ft_order *order;
    ft_run *run;
    ft_causality *causality;
} graph;

static graph graph_of(ft_trace *trace, ft_model model, ft_wakeups wakeups, unsigned rules)
{
    graph g = {.trace = trace, .order = ft_order_new(trace), .run = ft_run_new(trace)};
    ft_problem problem = {
        .trace = trace, .order = g.order, .run = g.run, .model = model, .wakeups = wakeups};
    g.causality = ft_causality_new(&problem, rules);
    return g;
}

static void graph_release(graph *g)
{
    ft_causality_free(g->causality);
    ft_run_free(g->run);
    ft_order_free(g->order);
}

/* A cycle is closed, its program order is that of a thread, its other edges lead between threads
 * (or are the claim's), and its lock edges leave a release (or a final event) for an acquire. */
static void assert_cycle(const graph *g, const ft_causality_edges *cycle)
{
    const ft_trace *trace = g->trace;
    assert_true(cycle->len >= 2);
    for (size_t i = 0; i < cycle->len; i++) {
        ft_causality_edge e = cycle->data[i];
        assert_int_equal(e.to, cycle->data[(i + 1) % cycle->len].from);
        bool same = trace->thread[e.from] == trace->thread[e.to];
        if (e.why == FT_CAUSALITY_PROGRAM_ORDER) {
            assert_true(same && g->order->position[e.from] < g->order->position[e.to]);
            continue;
        }
        /* A write or post may have to come before what its own thread executes first. */
        assert_true(!same || e.why == FT_CAUSALITY_OVERWRITES || e.why == FT_CAUSALITY_SEMAPHORE);
        if (e.why == FT_CAUSALITY_FORK) assert_int_equal(trace->kind[e.from], FT_EVENT_FORK);
        if (e.why == FT_CAUSALITY_JOIN) assert_int_equal(trace->kind[e.to], FT_EVENT_JOIN);
        if (e.why == FT_CAUSALITY_LOCK) assert_true(ft_order_opens(trace, e.to));
        if (e.why == FT_CAUSALITY_READS_FROM)
            assert_true(ft_run_find_access(trace, e.to, e.object, false) != UINT32_MAX);
    }
}

static bool refutes(graph *g, const ft_claim *claim)
{
    ft_causality_edges cycle = {0};
    bool quick = ft_causality_refutes(g->causality, claim, NULL);
    bool refuted = ft_causality_refutes(g->causality, claim, &cycle);
    assert_int_equal(quick, refuted);
    if (refuted) assert_cycle(g, &cycle);
    ft_vec_release(&cycle);
    return refuted;
}

/* ---- Kahlon and Wang, figures 1 to 3 --------------------------------------------------------- */

static const char *const FIGURE_1 = "mutex 1\nmutex 2\nmutex 3\ncond c\nvar sh\n"
                                    "T1: acq 3 @a0\n"
                                    "T1: acq 1 @a1\n"
                                    "T1: cwait c @a2\n"
                                    "T1: relc 1 @a3\n"
                                    "T2: acq 1 @b0\n"
                                    "T2: sig c @b1\n"
                                    "T2: rel 1 @b2\n"
                                    "T1: cwake c @a5\n"
                                    "T1: acqc 1 @a4\n"
                                    "T1: acq 2 @a6\n"
                                    "T1: rel 3 @a7\n"
                                    "T1: rel 1 @a8\n"
                                    "T1: w sh @a9\n"
                                    "T1: rel 2 @a10\n"
                                    "T2: acq 1 @b3\n"
                                    "T2: acq 3 @b4\n"
                                    "T2: rel 1 @b5\n"
                                    "T2: acq 2 @b6\n"
                                    "T2: rel 2 @b7\n"
                                    "T2: rel 3 @b8\n"
                                    "T2: w sh @b9\n";

static uint32_t event_at(const ft_trace *trace, const char *location)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->loc[e] && strcmp(ft_trace_location_text(trace, trace->loc[e]), location) == 0)
            return e;
    fail_msg("no event at %s", location);
    return FT_NO_EVENT;
}

static ft_claim race_at(const ft_trace *trace, const char *a, const char *b)
{
    return (ft_claim){.kind = FT_CLAIM_RACE, .events = {event_at(trace, a), event_at(trace, b)}};
}

/* Is the race of the events at `a` and `b` refuted? `cycle` (NULL: any) is how it is printed. */
static void expect_race(const char *text, ft_model model, unsigned rules, const char *a,
                        const char *b, bool refuted, const char *cycle)
{
    ft_trace *trace = tiny_trace(text);
    graph g = graph_of(trace, model, FT_WAKEUPS_ANY, rules);
    ft_claim claim = race_at(trace, a, b);
    ft_causality_edges why = {0};
    ft_strbuf printed = {0};
    assert_int_equal(refutes(&g, &claim), refuted);
    assert_int_equal(ft_causality_refutes(g.causality, &claim, &why), refuted);
    ft_show *show = ft_show_new(trace);
    ft_causality_print(trace, show, &why, &printed);
    ft_show_free(show);
    if (cycle) assert_string_equal(ft_strbuf_text(&printed), cycle);
    ft_strbuf_release(&printed);
    ft_vec_release(&why);
    graph_release(&g);
    ft_trace_free(trace);
}

/* Figure 1(c): locks and wait/notify together close the cycle a0, a2, b1, b8, a0; 1(d) and (e):
 * neither does alone. */
static void test_figure_1(void **state)
{
    (void)state;
    expect_race(FIGURE_1, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "a9", "b9", true,
                "signal c by T2 at b1 -> (program order) release 3 by T2 at b8 -> (lock 3) "
                "acquire 3 by T1 at a0 -> (program order) cond-wait c by T1 at a2 -> (condition c) "
                "signal c by T2 at b1");
    expect_race(FIGURE_1, FT_MODEL_CONTROL, FT_CAUSALITY_LOCKS, "a9", "b9", false, NULL);
    expect_race(FIGURE_1, FT_MODEL_CONTROL, FT_CAUSALITY_WAKES, "a9", "b9", false, NULL);
}

/* Without section b4 to b8 of lock 3, nothing keeps a9 and b9 apart. */
static void test_figure_1_reachable(void **state)
{
    (void)state;
    ft_strbuf text = {0};
    const char *from = strstr(FIGURE_1, "T2: acq 3 @b4\n"), *to = strstr(FIGURE_1, "T2: rel 1 @b5");
    ft_strbuf_printf(&text, "%.*s%s", (int)(from - FIGURE_1), FIGURE_1, to);
    char *cut = ft_strbuf_take(&text), *rest = strstr(cut, "T2: rel 3 @b8\n");
    memmove(rest, rest + strlen("T2: rel 3 @b8\n"), strlen(rest + strlen("T2: rel 3 @b8\n")) + 1);
    expect_race(cut, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "a9", "b9", false, NULL);
    free(cut);
}

/* Figure 2: a chain of edges through a third thread. T1 takes the lock, then T2 and after it T3 go
 * on; T3's section of the lock would have to be over before T1's begins. */
static void test_figure_2_chain(void **state)
{
    (void)state;
    static const char text[] = "mutex l\nvar x\n"
                               "T1: acq l @1\nT1: out e @2\nT1: w x @race1\nT1: rel l @4\n"
                               "T2: in e @5\nT2: out f @6\n"
                               "T3: in f @7\nT3: acq l @8\nT3: rel l @9\nT3: w x @race3\n";
    static const char other[] = "mutex l\nvar x\n"
                                "T3: acq l @8\nT3: rel l @9\n"
                                "T1: acq l @1\nT1: out e @2\nT1: w x @race1\nT1: rel l @4\n"
                                "T2: in e @5\nT2: out f @6\n"
                                "T3: in f @7\nT3: w x @race3\n";
    expect_race(text, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "race1", "race3", true, NULL);
    expect_race(text, FT_MODEL_CONTROL, FT_CAUSALITY_WAKES, "race1", "race3", false, NULL);
    expect_race(other, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "race1", "race3", false, NULL);
}

/* Figure 3 and §4: what lies before the last barrier is not looked at, however long it is. */
static void test_chopping(void **state)
{
    (void)state;
    uint32_t events[2];
    for (int i = 0; i < 2; i++) {
        ft_strbuf text = {0};
        ft_strbuf_puts(&text, "mutex k\nmutex l\nvar x\nvar y\n");
        for (int n = 0; n < (i ? 2000 : 2); n++)
            ft_strbuf_puts(&text, "T1: acq k\nT1: w y\nT1: rel k\n"
                                  "T2: acq k\nT2: acq l\nT2: r y\nT2: rel k\nT2: rel l\n");
        ft_strbuf_puts(&text, "T1: acq k\nT1: acq l\nT1: rel l\nT1: w x @a\nT1: rel k\n"
                              "T2: acq l\nT2: acq k\nT2: rel k\nT2: w x @b\nT2: rel l\n");
        ft_trace *trace = tiny_trace(ft_strbuf_text(&text));
        graph g = graph_of(trace, FT_MODEL_OBSERVED, FT_WAKEUPS_ANY, FT_CAUSALITY_ALL);
        ft_claim claim = race_at(trace, "a", "b");
        assert_true(refutes(&g, &claim));
        events[i] = ft_causality_get_stats(g.causality)->max_events;
        graph_release(&g);
        ft_trace_free(trace);
        ft_strbuf_release(&text);
    }
    assert_int_equal(events[0], events[1]);
    assert_true(events[0] <= 8);
}

/* ---- each seed, both ways ------------------------------------------------------------------- */

static void test_fork_and_join(void **state)
{
    (void)state;
    static const char text[] = "var x\nM: w x @a\nM: fork T\nT: w x @b\nM: w x @c\n"
                               "M: join T\nM: w x @d\n";
    expect_race(text, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "a", "b", true,
                "write x by T at b -> (claim) write x by M at a -> (program order) fork T by M "
                "(event 2) -> (fork) write x by T at b");
    expect_race(text, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "b", "c", false, NULL);
    expect_race(
        text, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "b", "d", true,
        "join T by M (event 5) -> (claim) write x by T at b -> (join) join T by M (event 5)");
}

static void test_common_lock(void **state)
{
    (void)state;
    static const char text[] = "mutex l\nmutex m\nvar x\n"
                               "A: acq l @1\nA: w x @a\nA: rel l @3\n"
                               "B: acq m @4\nB: w x @b\nB: rel m @6\n"
                               "C: acq l @7\nC: w x @c\nC: rel l @9\n";
    expect_race(text, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "a", "c", true, NULL);
    expect_race(text, FT_MODEL_CONTROL, FT_CAUSALITY_WAKES, "a", "c", false, NULL);
    expect_race(text, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "a", "b", false, NULL);
}

/* One post for one wait is an edge; a second post, or an initial unit, leaves it open. */
static void test_semaphore(void **state)
{
    (void)state;
    static const char one[] = "sem s 0\nvar x\nA: w x @a\nA: post s @2\nB: wait s @3\nB: w x @b\n";
    static const char two[] = "sem s 0\nvar x\nA: w x @a\nA: post s @2\nC: post s @c\n"
                              "B: wait s @3\nB: w x @b\n";
    static const char three[] = "sem s 0\nvar x\nA: w x @a\nA: post s @2\nC: post s @c\n"
                                "B: wait s @3\nB: wait s @4\nB: w x @b\n";
    expect_race(one, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "a", "b", true,
                "wait s by B at 3 -> (claim) write x by A at a -> (program order) post s by A at 2 "
                "-> (semaphore s) wait s by B at 3");
    expect_race(two, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "a", "b", false, NULL);
    expect_race(three, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "a", "b", true, NULL);
    expect_race(one, FT_MODEL_CONTROL, FT_CAUSALITY_LOCKS, "a", "b", false, NULL);
}

/* Reads-from is order under `observed` (and where a value has one writer under `maximal`), not
 * under `control`. */
static void test_data(void **state)
{
    (void)state;
    static const char text[] = "var x 0\nvar y 0\nA: w y 1 @a\nA: w x 1 @2\nB: r x 1 @3\n"
                               "B: w y 2 @b\n";
    static const char two[] = "var x 0\nvar y 0\nA: w y 1 @a\nA: w x 1 @2\nC: w x 1 @c\n"
                              "B: r x 1 @3\nB: w y 2 @b\n";
    expect_race(text, FT_MODEL_OBSERVED, FT_CAUSALITY_ALL, "a", "b", true,
                "read x = 1 by B at 3 -> (claim) write y = 1 by A at a -> (program order) "
                "write x = 1 by A at 2 -> (reads from x) read x = 1 by B at 3");
    expect_race(text, FT_MODEL_MAXIMAL, FT_CAUSALITY_ALL, "a", "b", true, NULL);
    expect_race(text, FT_MODEL_CONTROL, FT_CAUSALITY_ALL, "a", "b", false, NULL);
    expect_race(two, FT_MODEL_MAXIMAL, FT_CAUSALITY_ALL, "a", "b", false, NULL);
}

/* ---- reads before initialisation ------------------------------------------------------------- */

#define HANDED_OVER(reads_p)                                                                       \
    "var p 0\nvar f 0\nvar x\nblock m x\nmain: fork T\nmain: alloc m\nmain: w p 1\n" reads_p       \
    "T: w x 5\nT: w f 1\nmain: r f 1\nmain: r x 5 @read\n"

static bool is_initialised(graph *g, const ft_claim *claim)
{
    ft_writes writes;
    ft_writes_init(&writes, g->trace);
    bool written = ft_causality_writes_before(g->causality, claim, writes.first, writes.events);
    ft_writes_release(&writes);
    return written;
}

static bool writes_before(const char *text, ft_model model)
{
    graph g = graph_of(tiny_trace(text), model, FT_WAKEUPS_ANY, FT_CAUSALITY_ALL);
    ft_claim claim = {.kind = FT_CLAIM_UNINITIALISED,
                      .events = {event_at(g.trace, "read")},
                      .variable = ft_intern_find(&g.trace->shared, "x", 1)};
    bool before = is_initialised(&g, &claim);
    graph_release(&g);
    ft_trace_free(g.trace);
    return before;
}

/* A block that is handed to a thread which runs already, and back: the thread writes what was
 * allocated. If it does not need to know of the block, it may write before that is made. */
static void test_initialised(void **state)
{
    (void)state;
    assert_true(writes_before(HANDED_OVER("T: r p 1\n"), FT_MODEL_OBSERVED));
    assert_false(writes_before(HANDED_OVER("T: r p 1\n"), FT_MODEL_CONTROL));
    assert_false(writes_before(HANDED_OVER(""), FT_MODEL_OBSERVED));
}

/* ---- swaps ----------------------------------------------------------------------------------- */

static uint32_t number(ft_builder *b, uint64_t bits)
{
    return ft_builder_value(b, (ft_value){{FT_SORT_INT, 0}, bits});
}

/* A takes x from 0 to 1 and from there to 2, then B takes it from 2 back to 0. */
static ft_trace *trace_of_swaps(bool compares)
{
    ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
    uint32_t x = ft_builder_shared(b, "x", 1, (ft_sort){FT_SORT_INT, 0});
    uint32_t first = ft_builder_thread(b, "A", 1), second = ft_builder_thread(b, "B", 1);
    ft_builder_event(b, FT_EVENT_WRITE, first, x, FT_NO_LOC, number(b, 0), 0);
    ft_builder_update(b, first, x, FT_NO_LOC, number(b, 0), number(b, 1), true);
    ft_builder_update(b, first, x, FT_NO_LOC, number(b, 1), number(b, 2), true);
    ft_builder_update(b, second, x, FT_NO_LOC, number(b, 2), number(b, 0), compares);
    ft_trace *trace;
    ft_error err = FT_ERROR_INIT;
    if (ft_builder_finish(b, &trace, &err) != FT_OK) fail_msg("%s", err.message);
    return trace;
}

static bool swap_misses(bool compares, ft_model model, bool writes)
{
    graph g = graph_of(trace_of_swaps(compares), model, FT_WAKEUPS_ANY, FT_CAUSALITY_ALL);
    ft_claim claim = {
        .kind = FT_CLAIM_ATOMICITY, .events = {1, 3, 2}, .writes = {true, writes, false}};
    ft_writes all;
    ft_writes_init(&all, g.trace);
    bool misses = ft_causality_swap_misses(g.causality, &claim, all.first, all.events);
    ft_writes_release(&all);
    graph_release(&g);
    ft_trace_free(g.trace);
    return misses;
}

/* Between the two of A nobody finds a 2, so that B's swap can write nothing there; what is no swap
 * writes whatever it finds, and a swap reads in any case. */
static void test_swaps(void **state)
{
    (void)state;
    assert_true(swap_misses(true, FT_MODEL_OBSERVED, true));
    assert_true(swap_misses(true, FT_MODEL_MAXIMAL, true));
    assert_false(swap_misses(false, FT_MODEL_OBSERVED, true));
    assert_false(swap_misses(true, FT_MODEL_OBSERVED, false));
    assert_false(swap_misses(true, FT_MODEL_CONTROL, true));
}

/* More reads than claims are listed: none is left over. */
static void test_many_reads(void **state)
{
    (void)state;
    ft_strbuf text = {0};
    ft_error err = FT_ERROR_INIT;
    ft_engine *engine;
    json_t *plan, *spec = json_pack("{s:[s], s:s}", "checks", "order", "model", "observed");
    ft_strbuf_puts(&text, HANDED_OVER("T: r p 1\n"));
    for (uint32_t i = 0; i < FT_MAX_LISTED_CLAIMS; i++)
        ft_strbuf_puts(&text, "main: r x 5 @again\n");
    ft_trace *trace = tiny_trace(text.text);
    assert_int_equal(ft_engine_new(trace, "0", spec, &engine, &err), FT_OK);
    assert_int_equal(ft_engine_plan(engine, &plan, &err), FT_OK);
    json_t *records = json_object_get(plan, "records");
    assert_int_equal(json_array_size(json_object_get(plan, "subproblems")), 0);
    assert_int_equal(json_array_size(records), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *verdict = json_object_get(json_array_get(records, i), "verdict");
        assert_string_equal(json_string_value(verdict), "safe");
    }
    json_decref(plan);
    json_decref(spec);
    ft_engine_free(engine);
    ft_trace_free(trace);
    ft_strbuf_release(&text);
}

/* ---- two threads: exact --------------------------------------------------------------------- */

enum { OPS = 16, LOCKS = 3, EDGES = 3 };

typedef struct two_ops {
    ft_event_kind kind[2][OPS];
    uint32_t object[2][OPS];
    uint32_t n[2];
} two_ops;

/* Locks are taken and released in any nesting; an edge goes from one thread to the other. */
static void random_ops(ft_random *random, two_ops *ops)
{
    uint32_t edges = ft_random_below(random, EDGES + 1), sources = 0;
    bool nested = ft_random_percent(random, 30);
    for (uint32_t t = 0; t < 2; t++) {
        uint32_t held[LOCKS], n_held = 0, n = 4 + ft_random_below(random, OPS - 3);
        ops->n[t] = n;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t lock = ft_random_below(random, LOCKS), kind = ft_random_below(random, 10);
            uint32_t at = n_held;
            for (uint32_t k = 0; k < n_held; k++)
                if (held[k] == lock) at = k;
            ops->kind[t][i] = FT_EVENT_WRITE;
            ops->object[t][i] = 0;
            if (kind < 4 && at == n_held) {
                ops->kind[t][i] = FT_EVENT_ACQUIRE;
                ops->object[t][i] = held[n_held++] = lock;
            } else if (kind < 7 && n_held > 0) {
                at = nested ? n_held - 1 : ft_random_below(random, n_held);
                ops->kind[t][i] = FT_EVENT_RELEASE;
                ops->object[t][i] = held[at];
                for (n_held--; at < n_held; at++) held[at] = held[at + 1];
            }
        }
    }
    for (uint32_t e = 0; e < edges; e++) {
        uint32_t from = ft_random_below(random, 2),
                 i = 1 + ft_random_below(random, ops->n[from] - 1);
        uint32_t j = 1 + ft_random_below(random, ops->n[1 - from] - 1);
        if (ops->kind[from][i] != FT_EVENT_WRITE || ops->kind[1 - from][j] != FT_EVENT_WRITE)
            continue;
        ops->kind[from][i] = FT_EVENT_EDGE_OUT;
        ops->kind[1 - from][j] = FT_EVENT_EDGE_IN;
        ops->object[from][i] = ops->object[1 - from][j] = sources++;
    }
}

/* Runs until nothing goes on: sections may stay open, threads may be cut short. */
static ft_trace *run_ops(ft_random *random, const two_ops *ops)
{
    static const char *const NAMES[] = {"0", "1", "2"};
    ft_builder *b = ft_builder_new(FT_FORMAT_NDJSON);
    uint32_t at[2] = {0}, owner[LOCKS] = {0}, stuck = 0;
    bool done[EDGES] = {false};
    for (uint32_t i = 0; i < 2; i++) ft_builder_thread(b, NAMES[i], 1);
    for (uint32_t i = 0; i < LOCKS; i++) ft_builder_lock(b, NAMES[i], 1, FT_LOCK_MUTEX);
    for (uint32_t i = 0; i < EDGES; i++) ft_builder_edge(b, NAMES[i], 1);
    ft_builder_shared(b, "x", 1, FT_INT_SORT);
    for (uint32_t t = ft_random_below(random, 2); stuck < 2; t = 1 - t) {
        for (uint32_t n = 1 + ft_random_below(random, 6); n > 0; n--) {
            if (at[t] == ops->n[t]) break;
            ft_event_kind kind = ops->kind[t][at[t]];
            uint32_t object = ops->object[t][at[t]];
            if (kind == FT_EVENT_ACQUIRE && owner[object]) break;
            if (kind == FT_EVENT_EDGE_IN && !done[object]) break;
            if (kind == FT_EVENT_ACQUIRE) owner[object] = t + 1;
            if (kind == FT_EVENT_RELEASE) owner[object] = 0;
            if (kind == FT_EVENT_EDGE_OUT) done[object] = true;
            ft_builder_event(b, kind, t, object, FT_NO_LOC, FT_NO_VALUE, 0);
            at[t]++;
            stuck = 0;
        }
        stuck++;
    }
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    if (ft_builder_finish(b, &trace, &err)) fail_msg("%s", err.message);
    return trace;
}

/* All reachable pairs of places, where `gate` of one thread waits until the other is past `key`. */
typedef struct two_machine {
    const ft_trace *trace;
    const ft_order *order;
    uint32_t gate, key; /* events, FT_NO_EVENT */
    bool seen[OPS + 1][OPS + 1];
} two_machine;

static bool holds(const two_machine *m, uint32_t t, uint32_t place, uint32_t lock)
{
    bool held = false;
    const uint32_t *events = m->order->thread_events + m->order->thread_start[t];
    for (uint32_t i = 0; i < place; i++)
        if (m->trace->object[events[i]] == lock) {
            held |= m->trace->kind[events[i]] == FT_EVENT_ACQUIRE;
            held &= m->trace->kind[events[i]] != FT_EVENT_RELEASE;
        }
    return held;
}

static bool may_run(const two_machine *m, const uint32_t place[2], uint32_t t)
{
    uint32_t o = 1 - t, e = m->order->thread_events[m->order->thread_start[t] + place[t]];
    const uint32_t *others = m->order->thread_events + m->order->thread_start[o];
    if (e == m->gate && m->order->position[m->key] >= place[o]) return false;
    if (m->trace->kind[e] == FT_EVENT_ACQUIRE) return !holds(m, o, place[o], m->trace->object[e]);
    if (m->trace->kind[e] != FT_EVENT_EDGE_IN) return true;
    for (uint32_t i = 0; i < place[o]; i++)
        if (m->trace->kind[others[i]] == FT_EVENT_EDGE_OUT &&
            m->trace->object[others[i]] == m->trace->object[e])
            return true;
    return false;
}

static void walk(two_machine *m, uint32_t a, uint32_t b)
{
    if (m->seen[a][b]) return;
    m->seen[a][b] = true;
    uint32_t place[2] = {a, b};
    const uint32_t *start = m->order->thread_start;
    if (a < start[1] - start[0] && may_run(m, place, 0)) walk(m, a + 1, b);
    if (b < start[2] - start[1] && may_run(m, place, 1)) walk(m, a, b + 1);
}

static void dump(const graph *g, const ft_claim *claim, const char *what, uint64_t seed)
{
    ft_strbuf text = {0};
    for (uint32_t e = 0; e < g->trace->n_events; e++) {
        ft_strbuf_printf(&text, "%3u T%u ", e + 1, g->trace->thread[e]);
        ft_trace_print_event(g->trace, e, &text);
        ft_strbuf_puts(&text, "\n");
    }
    ft_causality_edges cycle = {0};
    ft_causality_refutes(g->causality, claim, &cycle);
    ft_show *show = ft_show_new(g->trace);
    ft_causality_print(g->trace, show, &cycle, &text);
    ft_show_free(show);
    fail_msg("seed %u, %s of events %u %u %u: %s\n%s", (unsigned)seed,
             ft_claim_kind_name(claim->kind), claim->events[0] + 1, claim->events[1] + 1,
             claim->events[2] + 1, what, ft_strbuf_text(&text));
}

typedef struct tally {
    unsigned refuted, reached;
} tally;

static void compare_two(graph *g, const ft_claim *claim, bool reachable, uint64_t seed, tally *n)
{
    bool refuted = refutes(g, claim);
    if (refuted && reachable) dump(g, claim, "refuted, but reachable", seed);
    if (!refuted && !reachable) dump(g, claim, "unreachable, but not refuted", seed);
    n->refuted += refuted;
    n->reached += reachable;
}

static void races_of_two(graph *g, uint64_t seed, tally *n)
{
    const uint32_t *start = g->order->thread_start, *events = g->order->thread_events;
    two_machine m = {.trace = g->trace, .order = g->order, .gate = FT_NO_EVENT};
    walk(&m, 0, 0);
    for (uint32_t a = 0; a < start[1] - start[0]; a++)
        for (uint32_t b = 0; b < start[2] - start[1]; b++) {
            ft_claim claim = {.kind = FT_CLAIM_RACE,
                              .events = {events[start[0] + a], events[start[1] + b]}};
            compare_two(g, &claim, m.seen[a][b], seed, n);
        }
}

/* t_c and t_c' of thread t, t_r of the other: after t_c was executed t_r is, and t_c' is next. */
static void triplets_of_two(graph *g, uint64_t seed, tally *n, uint32_t t, uint32_t first,
                            uint32_t remote)
{
    const uint32_t *start = g->order->thread_start, *events = g->order->thread_events;
    uint32_t o = 1 - t, length = start[t + 1] - start[t], other = start[o + 1] - start[o];
    two_machine m = {.trace = g->trace,
                     .order = g->order,
                     .gate = events[start[o] + remote],
                     .key = events[start[t] + first]};
    walk(&m, 0, 0);
    for (uint32_t last = first + 1; last < length; last++) {
        bool reachable = false;
        for (uint32_t p = remote + 1; p <= other; p++)
            reachable |= t == 0 ? m.seen[last][p] : m.seen[p][last];
        ft_claim claim = {.kind = FT_CLAIM_ATOMICITY,
                          .events = {m.key, m.gate, events[start[t] + last]},
                          .writes = {true, true, true}};
        compare_two(g, &claim, reachable, seed, n);
    }
}

static void test_exact_for_two_threads(void **state)
{
    (void)state;
    tally races = {0}, triplets = {0};
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        ft_random random;
        two_ops ops;
        ft_random_init(&random, seed);
        random_ops(&random, &ops);
        ft_trace *trace = run_ops(&random, &ops);
        graph g = graph_of(trace, FT_MODEL_CONTROL, FT_WAKEUPS_ANY, FT_CAUSALITY_ALL);
        const uint32_t *start = g.order->thread_start;
        uint32_t length[2] = {start[1] - start[0], start[2] - start[1]};
        races_of_two(&g, seed, &races);
        for (uint32_t t = 0; t < 2; t++)
            for (uint32_t i = 0; i < 8 && length[t] && length[1 - t]; i++)
                triplets_of_two(&g, seed, &triplets, t, ft_random_below(&random, length[t]),
                                ft_random_below(&random, length[1 - t]));
        graph_release(&g);
        ft_trace_free(trace);
    }
    print_message("races: %u refuted, %u reachable; triplets: %u refuted, %u reachable\n",
                  races.refuted, races.reached, triplets.refuted, triplets.reached);
    assert_true(races.refuted > 5000 && races.reached > 5000);
    assert_true(triplets.refuted > 5000 && triplets.reached > 5000);
}

/* ---- any program: never what the oracle finds ----------------------------------------------- */

typedef struct soundness {
    unsigned refuted[FT_CHECKS], violated[FT_CHECKS];
    unsigned edges, whole, chopped, lost, initialised;
    unsigned decided[2]; /* with edges: safe, violated */
    unsigned why[FT_CAUSALITY_WHYS];
} soundness;

static void count_reasons(graph *g, const ft_claim *claim, soundness *n)
{
    ft_causality_edges cycle = {0};
    ft_causality_refutes(g->causality, claim, &cycle);
    for (size_t i = 0; i < cycle.len; i++) n->why[cycle.data[i].why]++;
    ft_vec_release(&cycle);
}

/* Order that holds for a violated claim holds in the oracle's schedule of it. */
static void check_edges(graph *g, const ft_oracle_answer *answer, uint64_t seed, soundness *n)
{
    ft_causality_edges edges = {0};
    ft_causality_holds(g->causality, &answer->claim, &edges);
    n->edges += (unsigned)edges.len;
    for (size_t i = 0; i < edges.len; i++) {
        unsigned from = UINT_MAX, to = UINT_MAX;
        for (unsigned k = 0; k < answer->n_steps; k++) {
            if (answer->steps[k] == edges.data[i].from) from = k;
            if (answer->steps[k] == edges.data[i].to) to = k;
        }
        if (from == UINT_MAX || to == UINT_MAX || from >= to) {
            print_message("edge %u -> %u (%s)\n", edges.data[i].from + 1, edges.data[i].to + 1,
                          ft_causality_why_text(edges.data[i].why));
            dump(g, &answer->claim, "an edge that its schedule does not keep", seed);
        }
    }
    ft_vec_release(&edges);
}

/* An encoding that assumes this order with each surviving claim answers as the oracle does. */
static void decide_with_edges(graph *g, const ft_oracle_job *job, const ft_oracle_result *result,
                              uint64_t seed, soundness *n)
{
    ft_problem problem = {.trace = g->trace,
                          .order = g->order,
                          .run = g->run,
                          .model = job->model,
                          .wakeups = job->wakeups,
                          .causality = g->causality};
    ft_decider *decider = ft_decider_new(&problem, NULL);
    for (size_t i = 0; i < result->answers.len; i++) {
        const ft_oracle_answer *answer = &result->answers.data[i];
        if (!ft_causality_covers(g->causality, &answer->claim) || refutes(g, &answer->claim))
            continue;
        ft_witness witness = {0};
        ft_decide_stats stats = {0};
        const ft_question question = {.claim = &answer->claim, .bound = FT_NO_BOUND};
        ft_answer got = ft_decider_decide(decider, &question, &witness, &stats);
        ft_witness_release(&witness);
        n->decided[answer->violated]++;
        if (got == FT_ANSWER_UNKNOWN || (got == FT_ANSWER_UNSAT && answer->violated) ||
            (got == FT_ANSWER_SAT && !answer->violated && !answer->unknown))
            dump(g, &answer->claim, "decided otherwise with the edges", seed);
    }
    ft_decider_free(decider);
}

static void never_refuted(ft_trace *trace, ft_oracle_job *job, uint64_t seed, soundness *n)
{
    ft_oracle_result result;
    graph g = graph_of(trace, job->model, job->wakeups, FT_CAUSALITY_ALL);
    graph whole = graph_of(trace, job->model, job->wakeups, FT_CAUSALITY_ALL | FT_CAUSALITY_WHOLE);
    ft_prefix *prefix = ft_prefix_new(trace, g.order, g.run);
    ft_oracle_enumerate(trace, job, &result);
    for (size_t i = 0; i < result.answers.len; i++) {
        const ft_oracle_answer *answer = &result.answers.data[i];
        bool refuted = refutes(&g, &answer->claim);
        bool initialised = is_initialised(&g, &answer->claim);
        n->initialised += initialised;
        if ((refuted || initialised) && (answer->violated || answer->unknown))
            dump(&g, &answer->claim, "refuted, but the oracle finds it", seed);
        /* What waits have taken before the barrier is counted by hard order alone. */
        bool everywhere = refutes(&whole, &answer->claim);
        n->lost += !refuted && everywhere;
        if (refuted != everywhere && (refuted || trace->semaphores.len == 0))
            dump(&whole, &answer->claim, "refuted with chopping or without, not both", seed);
        if (refuted) count_reasons(&g, &answer->claim, n);
        if (!refuted && ft_causality_covers(g.causality, &answer->claim) &&
            ft_prefix_refutes(prefix, job->model, &answer->claim))
            dump(&g, &answer->claim, "refuted by its closure alone", seed);
        n->refuted[answer->check] += refuted;
        n->violated[answer->check] += answer->violated;
        if (answer->violated) check_edges(&g, answer, seed, n);
    }
    decide_with_edges(&g, job, &result, seed, n);
    n->chopped += (unsigned)ft_causality_get_stats(g.causality)->events;
    n->whole += (unsigned)ft_causality_get_stats(whole.causality)->events;
    ft_oracle_release(&result);
    ft_prefix_free(prefix);
    graph_release(&g);
    graph_release(&whole);
}

#define FIRST 1001 /* from here on all reasons occur */
#define SEEDS 600

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void test_never_refutes_what_the_oracle_finds(void **state)
{
    (void)state;
    uint64_t start = from_environment("FT_SEED_START", FIRST),
             seeds = from_environment("FT_SEEDS", SEEDS);
    soundness n = {0};
    for (uint64_t seed = start; seed < start + seeds; seed++) {
        ft_trace *trace = ft_generate(seed);
        ft_oracle_property properties[3];
        ft_oracle_job job = {.properties = properties};
        bool supported[FT_MODELS];
        ft_model most;
        job.n_properties = ft_generate_properties(trace, seed, properties, 3);
        for (int c = 0; c < FT_CHECKS; c++) job.checks[c] = true;
        ft_engine_models(trace, supported, &most);
        for (int m = 0; m < FT_MODELS; m++)
            for (int w = 0; w < FT_WAKEUPS_KINDS; w++) {
                job.model = (ft_model)m;
                job.wakeups = (ft_wakeups)w;
                if (!supported[m] || (w != FT_WAKEUPS_ANY && trace->conditions.len == 0)) continue;
                never_refuted(trace, &job, seed, &n);
            }
        ft_trace_free(trace);
    }
    for (int c = 0; c < FT_CHECKS; c++)
        print_message("%s: %u refuted, %u violated\n", ft_check_name((ft_check)c), n.refuted[c],
                      n.violated[c]);
    print_message("%u edges kept by the schedules\n", n.edges);
    for (int i = 0; i < FT_CAUSALITY_WHYS; i++)
        print_message("%s: %u\n", ft_causality_why_text((ft_causality_why)i), n.why[i]);
    print_message("with edges: %u decided safe, %u violated\n", n.decided[0], n.decided[1]);
    print_message("events of the graphs: %u, without chopping %u; refuted only without: %u\n",
                  n.chopped, n.whole, n.lost);
    print_message("%u reads come after a write\n", n.initialised);
    if (seeds < SEEDS) return;
    assert_true(n.refuted[FT_CHECK_RACE] > 1000 && n.refuted[FT_CHECK_ATOMICITY] > 300);
    assert_true(n.violated[FT_CHECK_RACE] > 1000 && n.violated[FT_CHECK_ATOMICITY] > 200);
    assert_true(n.initialised > 20);
    assert_true(n.edges > 300 && n.decided[0] > 200 && n.decided[1] > 1000);
    for (int i = 0; i < FT_CAUSALITY_WHYS; i++)
        if (n.why[i] == 0)
            fail_msg("no cycle with: %s", ft_causality_why_text((ft_causality_why)i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_1),
        cmocka_unit_test(test_figure_1_reachable),
        cmocka_unit_test(test_figure_2_chain),
        cmocka_unit_test(test_chopping),
        cmocka_unit_test(test_fork_and_join),
        cmocka_unit_test(test_common_lock),
        cmocka_unit_test(test_semaphore),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_initialised),
        cmocka_unit_test(test_swaps),
        cmocka_unit_test(test_many_reads),
        cmocka_unit_test(test_exact_for_two_threads),
        cmocka_unit_test(test_never_refutes_what_the_oracle_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
