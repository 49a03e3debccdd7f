/* Transactions, graphs and ranges of small programs against tests/golden/intervals/cases.json: the
 * figures of Ganai and Wang's running example, and programs on which the rules that the paper
 * leaves out matter. */
#include <jansson.h>

#include "interval_classes.h"
#include "interval_oracle.h"
#include "order/run.h"
#include "reduce/intervals/intervals.h"
#include "tiny_trace.h"

typedef struct subject {
    const json_t *expected;
    ft_trace *trace;
    ft_order *order;
    ft_run *run;
    ft_problem problem;
    ft_stepping *steps;
} subject;

static const char *const KINDS[] = {"plain", "first", "feasible"};
static const char *const WAYS[] = {"carried", "cumulative", "positions"};

static const char *name_of(const subject *s)
{
    return json_string_value(json_object_get(s->expected, "name"));
}

static ft_trace *trace_of(const json_t *lines)
{
    ft_strbuf text = {0};
    for (size_t i = 0; i < json_array_size(lines); i++)
        ft_strbuf_printf(&text, "%s\n", json_string_value(json_array_get(lines, i)));
    ft_trace *trace = tiny_trace(ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return trace;
}

static void open_subject(subject *s, const json_t *expected, ft_trace *trace)
{
    const ft_stepping_options options = {.whole = true, .most = 1000};
    *s = (subject){.expected = expected, .trace = trace};
    s->order = ft_order_new(trace);
    s->run = ft_run_new(trace);
    s->problem =
        (ft_problem){.trace = trace, .order = s->order, .run = s->run, .model = FT_MODEL_CTP};
    s->steps = ft_stepping_new(&s->problem, &options);
}

static void close_subject(subject *s)
{
    ft_stepping_free(s->steps);
    ft_run_free(s->run);
    ft_order_free(s->order);
    ft_trace_free(s->trace);
}

static ft_transactions *transactions_of(const subject *s, ft_transactions_options options)
{
    options.work = 10000000;
    ft_transactions *t = ft_transactions_new(s->steps, &options);
    assert_non_null(t);
    return t;
}

/* ---- words ---- */

static void print_state(const subject *s, uint32_t i, uint32_t state, ft_strbuf *out)
{
    const char *thread = ft_trace_thread_name(s->trace, s->steps->threads[i].thread);
    if (state == s->steps->threads[i].n)
        ft_strbuf_printf(out, "J%s", thread);
    else
        ft_strbuf_printf(out, "%u%s", state + 1, thread);
}

/* "1a,2b:1a=>5a,2b=>3b", and "!" where GenMAT' finds no feasible one. */
static void print_mat(const subject *s, const ft_mat *mat, bool strict, ft_strbuf *out)
{
    print_state(s, mat->i, mat->from[0], out);
    ft_strbuf_printf(out, ",");
    print_state(s, mat->j, mat->from[1], out);
    ft_strbuf_printf(out, ":");
    print_state(s, mat->i, mat->from[0], out);
    ft_strbuf_printf(out, "=>");
    print_state(s, mat->i, mat->to[0], out);
    ft_strbuf_printf(out, ",");
    print_state(s, mat->j, mat->from[1], out);
    ft_strbuf_printf(out, "=>");
    print_state(s, mat->j, mat->to[1], out);
    if (mat->is_fallback || (strict && mat->is_open)) ft_strbuf_printf(out, "!");
}

static uint32_t number_of(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);
    assert_true(json_is_integer(number));
    return (uint32_t)json_integer_value(number);
}

static void expect(const subject *s, const char *what, uint64_t got, uint64_t wanted)
{
    if (got != wanted)
        fail_msg("%s: %s: %u instead of %u", name_of(s), what, (unsigned)got, (unsigned)wanted);
}

/* ---- transactions ---- */

static uint32_t covered_by(const subject *s, const ft_transactions *t, uint32_t *most)
{
    classes permitted;
    assert_true(classes_find(&permitted, s->steps, t, true));
    uint32_t n = classes_count(&permitted, most);
    classes_release(&permitted);
    return n;
}

static void check_mats(const subject *s, const ft_transactions *t, bool strict,
                       const json_t *wanted)
{
    for (size_t k = 0; k < t->mats.len || k < json_array_size(wanted); k++) {
        ft_strbuf text = {0};
        if (k < t->mats.len) print_mat(s, &t->mats.data[k], strict, &text);
        const char *other = json_string_value(json_array_get(wanted, k));
        if (!other || strcmp(ft_strbuf_text(&text), other) != 0)
            fail_msg("%s: pair %u is %s instead of %s", name_of(s), (unsigned)k,
                     ft_strbuf_text(&text), other ? other : "none");
        ft_strbuf_release(&text);
    }
}

/* "2a>3b": a switch that cannot happen. None is left, and with those that are left they are all. */
static void check_removed(const subject *s, const ft_transactions *t, const json_t *wanted)
{
    size_t k;
    json_t *name;
    expect(s, "switches removed", t->n_switches - t->switches.len, json_array_size(wanted));
    json_array_foreach((json_t *)wanted, k, name)
    {
        for (size_t i = 0; i < t->switches.len; i++) {
            const ft_switch *w = &t->switches.data[i];
            ft_strbuf text = {0};
            print_state(s, w->from, w->from_state, &text);
            ft_strbuf_puts(&text, ">");
            print_state(s, w->to, w->to_state, &text);
            assert_string_not_equal(ft_strbuf_text(&text), json_string_value(name));
            ft_strbuf_release(&text);
        }
    }
}

static void check_pair(const subject *s, const char *key, ft_transactions_options options)
{
    const json_t *wanted = json_object_get(s->expected, key);
    uint32_t most;
    if (!wanted) return;
    options.no_ends = options.no_fallback;
    ft_transactions *t = transactions_of(s, options);
    check_mats(s, t, options.kind == FT_MAT_FEASIBLE, json_object_get(wanted, "mats"));
    expect(s, "switches", t->n_switches, number_of(wanted, "switches"));
    expect(s, "switches kept", t->switches.len, number_of(wanted, "kept"));
    check_removed(s, t, json_object_get(wanted, "removed"));
    expect(s, "classes covered", covered_by(s, t, &most), number_of(wanted, "covered"));
    expect(s, "representatives", most, number_of(wanted, "most"));
    ft_transactions_free(t);
}

static void check_closed(const subject *s)
{
    const json_t *wanted = json_object_get(s->expected, "closed"), *list;
    const char *thread;
    uint32_t most, i = 0;
    if (!wanted) return;
    ft_transactions *t = transactions_of(s, (ft_transactions_options){.kind = FT_MAT_FEASIBLE});
    json_object_foreach(json_object_get((json_t *)wanted, "boundaries"), thread, list)
    {
        expect(s, thread, t->n_boundaries[i], json_array_size(list));
        for (uint32_t k = 0; k < t->n_boundaries[i]; k++) {
            ft_strbuf text = {0};
            print_state(s, i, t->boundaries[i][k], &text);
            assert_string_equal(ft_strbuf_text(&text), json_string_value(json_array_get(list, k)));
            ft_strbuf_release(&text);
        }
        i++;
    }
    expect(s, "switches", t->switches.len, number_of(wanted, "switches"));
    expect(s, "classes covered", covered_by(s, t, &most), number_of(wanted, "covered"));
    ft_transactions_free(t);
}

/* ---- ranges ---- */

/* "a.X@3": what the third line of a assigns. */
static ft_range range_at(const subject *s, const ft_ranges *r, const char *key)
{
    char thread[16], variable[16];
    unsigned line;
    if (sscanf(key, "%15[^.].%15[^@]@%u", thread, variable, &line) != 3) fail_msg("key %s", key);
    uint32_t t = ft_intern_find(&s->trace->threads, thread, strlen(thread));
    uint32_t e = s->order->thread_events[s->order->thread_start[t] + line - 1];
    assert_int_equal(ft_trace_action(s->trace, e)->n_assignments, 1);
    return ft_ranges_assignment(r, e, 0);
}

static void check_ranges(const subject *s, const ft_ranges *r, const json_t *wanted,
                         const char *what)
{
    const char *key;
    json_t *bounds;
    json_object_foreach((json_t *)wanted, key, bounds)
    {
        ft_range got = range_at(s, r, key);
        int64_t low = json_integer_value(json_array_get(bounds, 0)),
                high = json_integer_value(json_array_get(bounds, 1));
        if (got.low != low || got.high != high)
            fail_msg("%s, %s: %s is [%d,%d] instead of [%d,%d]", name_of(s), what, key,
                     (int)got.low, (int)got.high, (int)low, (int)high);
    }
}

static ft_ranges *ranges_of(const ft_graph *graph, ft_propagation kind, uint32_t lookahead)
{
    const ft_ranges_options options = {
        .kind = kind, .lookahead = lookahead, .nodes = true, .no_reach = true};
    ft_ranges *r = ft_ranges_new(graph, NULL, 0, &options);
    assert_non_null(r);
    return r;
}

static void check_metric(const subject *s, const ft_ranges *r, const json_t *wanted)
{
    uint64_t local, global;
    if (!wanted) return;
    ft_ranges_metric(r, &local, &global);
    expect(s, "RBl", local, (uint64_t)json_integer_value(json_array_get(wanted, 0)));
    expect(s, "RBg", global, (uint64_t)json_integer_value(json_array_get(wanted, 1)));
}

static void check_nodes(const subject *s, const ft_ranges *r, const json_t *wanted)
{
    for (uint32_t v = 0; wanted && v < r->graph->n_nodes; v++) {
        ft_strbuf name = {0};
        const char *variable;
        json_t *bounds;
        ft_graph_print_node(r->graph, v, &name);
        json_object_foreach(json_object_get((json_t *)wanted, ft_strbuf_text(&name)), variable,
                            bounds)
        {
            uint32_t number = ft_intern_find(&s->trace->shared, variable, strlen(variable));
            ft_range got = r->at_node[v * r->n_slots + r->shared_slot[number]];
            assert_int_equal(got.low, json_integer_value(json_array_get(bounds, 0)));
            assert_int_equal(got.high, json_integer_value(json_array_get(bounds, 1)));
        }
        ft_strbuf_release(&name);
    }
}

static void check_lookahead(const subject *s, const ft_graph *graph)
{
    const json_t *all = json_object_get(s->expected, "lookahead");
    for (size_t k = 0; k < json_array_size(all); k++) {
        const json_t *wanted = json_array_get(all, k);
        ft_ranges *r = ranges_of(graph, FT_PROPAGATE_CARRIED, (uint32_t)k + 1);
        expect(s, "steps", r->steps, number_of(wanted, "steps"));
        check_metric(s, r, json_object_get(wanted, "metric"));
        check_nodes(s, r, json_object_get(wanted, "nodes"));
        check_ranges(s, r, json_object_get(wanted, "ranges"), "lookahead");
        ft_ranges_free(r);
    }
}

static void check_graph(const subject *s, ft_mat_kind kind)
{
    const json_t *wanted = json_object_get(json_object_get(s->expected, "graphs"), KINDS[kind]);
    const json_t *ranges = json_object_get(json_object_get(s->expected, "ranges"), KINDS[kind]);
    ft_transactions *t = transactions_of(s, (ft_transactions_options){.kind = kind});
    ft_graph *g = ft_graph_new(t);
    expect(s, "nodes", g->n_nodes, number_of(wanted, "nodes"));
    expect(s, "transactions", g->n_transactions, number_of(wanted, "transactions"));
    expect(s, "switch edges", g->n_switches, number_of(wanted, "switches"));
    expect(s, "edges", g->n_transactions + g->n_switches, number_of(wanted, "edges"));
    for (int way = 0; way < 3; way++) {
        char what[64];
        ft_ranges *r = ranges_of(g, (ft_propagation)way, 1);
        snprintf(what, sizeof what, "%s, %s", KINDS[kind], WAYS[way]);
        check_ranges(s, r, json_object_get(ranges, WAYS[way]), what);
        if (way == FT_PROPAGATE_CARRIED) {
            check_metric(s, r,
                         json_object_get(json_object_get(s->expected, "metric"), KINDS[kind]));
            if (kind == FT_MAT_FEASIBLE) check_nodes(s, r, json_object_get(s->expected, "nodes"));
        }
        ft_ranges_free(r);
    }
    if (kind == FT_MAT_FEASIBLE) check_lookahead(s, g);
    ft_graph_free(g);
    ft_transactions_free(t);
}

/* The pairs' switches alone, with the ranges that miss a value. */
static void check_pairwise(const subject *s)
{
    const json_t *wanted = json_object_get(s->expected, "pairwise");
    uint32_t most;
    if (!wanted) return;
    ft_transactions *t = transactions_of(
        s, (ft_transactions_options){.kind = FT_MAT_FIRST, .pairwise = true, .no_ends = true});
    ft_graph *g = ft_graph_new(t);
    ft_ranges *r = ranges_of(g, FT_PROPAGATE_CARRIED, 1);
    expect(s, "pairs", t->mats.len, number_of(wanted, "mats"));
    expect(s, "pairwise switches", t->switches.len, number_of(wanted, "switches"));
    expect(s, "pairwise classes", covered_by(s, t, &most), number_of(wanted, "covered"));
    check_ranges(s, r, json_object_get(wanted, "ranges"), "pairwise");
    ft_ranges_free(r);
    ft_graph_free(g);
    ft_transactions_free(t);
}

/* ---- what is reachable ---- */

static uint32_t event_at(const ft_machine *machine, const subject *s, const char *key)
{
    char thread[16], variable[16];
    unsigned line;
    if (sscanf(key, "%15[^.].%15[^@]@%u", thread, variable, &line) != 3) fail_msg("key %s", key);
    uint32_t t = ft_intern_find(&s->trace->threads, thread, strlen(thread));
    return machine->events[t][line - 1];
}

typedef struct hulls {
    const ft_machine *machine;
    const subject *s;
    ft_range *assigned; /* [events] what the first assignment of each computes */
    uint32_t thread, position, variable;
    ft_range there; /* of the variable while the thread is at the position */
} hulls;

static void extend(hulls *h, const ft_state *state, uint32_t e)
{
    const ft_action *action = ft_trace_action(h->s->trace, e);
    if (!action || action->n_assignments == 0) return;
    ft_symbol target = action->assignments[0].target;
    uint64_t bits = FT_SYM_IS_LOCAL(target)
                        ? state->local[h->s->trace->thread[e]][FT_SYM_INDEX(target)]
                        : state->shared[target];
    h->assigned[e] =
        ft_range_join(FT_INT_SORT, h->assigned[e], ft_range_single((ft_value){FT_INT_SORT, bits}));
}

static void visit_hulls(void *context, const ft_exploration *all, uint32_t number)
{
    hulls *h = context;
    const ft_monitor none = FT_NO_MONITOR;
    ft_state state = all->nodes.data[number].state, next[FT_MACHINE_BRANCHES];
    if (state.pos[h->thread] == h->position)
        h->there =
            ft_range_join(FT_INT_SORT, h->there,
                          ft_range_single((ft_value){FT_INT_SORT, state.shared[h->variable]}));
    for (uint32_t t = 0; t < h->machine->n_threads; t++) {
        if (state.pos[t] >= h->machine->length[t]) continue;
        uint32_t e = h->machine->events[t][state.pos[t]];
        if (!ft_machine_is_next(h->machine, &state, e)) continue;
        uint32_t n = ft_machine_step(h->machine, &none, &state, t, next);
        for (uint32_t k = 0; k < n; k++) extend(h, &next[k], e);
    }
}

static ft_machine *machine_of(const subject *s)
{
    ft_machine *machine = ft_calloc(1, sizeof *machine);
    ft_machine_init(machine, s->trace, FT_MODEL_CTP, FT_WAKEUPS_SPURIOUS);
    return machine;
}

/* By enumeration: the ranges are compared with it, and it with what the case says. */
static void check_reachable(const subject *s)
{
    const char *key;
    json_t *bounds;
    const ft_monitor none = FT_NO_MONITOR;
    ft_machine *machine = machine_of(s);
    hulls h = {.machine = machine, .s = s, .there = ft_range_empty()};
    h.assigned = ft_alloc(s->trace->n_events * sizeof *h.assigned);
    for (uint32_t e = 0; e < s->trace->n_events; e++) h.assigned[e] = ft_range_empty();
    ft_explore(machine, &none, false, visit_hulls, &h);
    json_object_foreach(json_object_get(s->expected, "reachable"), key, bounds)
    {
        ft_range got = h.assigned[event_at(machine, s, key)];
        if (got.low != json_integer_value(json_array_get(bounds, 0)) ||
            got.high != json_integer_value(json_array_get(bounds, 1)))
            fail_msg("%s: %s reaches [%d,%d]", name_of(s), key, (int)got.low, (int)got.high);
    }
    free(h.assigned);
    free(machine);
}

static void check_classes(const subject *s)
{
    classes all;
    uint32_t most;
    assert_true(classes_find(&all, s->steps, NULL, false));
    expect(s, "classes", classes_count(&all, &most), number_of(s->expected, "classes"));
    classes_release(&all);
}

static void test_cases(void **state)
{
    (void)state;
    json_error_t err;
    json_t *all = json_load_file(FT_SOURCE_DIR "/tests/golden/intervals/cases.json", 0, &err), *one;
    size_t k;
    assert_non_null(all);
    json_array_foreach(all, k, one)
    {
        subject s;
        open_subject(&s, one, trace_of(json_object_get(one, "trace")));
        assert_non_null(s.steps);
        check_classes(&s);
        check_reachable(&s);
        check_pair(&s, "first", (ft_transactions_options){.kind = FT_MAT_FIRST});
        check_pair(&s, "feasible", (ft_transactions_options){.kind = FT_MAT_FEASIBLE});
        check_pair(&s, "feasible only",
                   (ft_transactions_options){.kind = FT_MAT_FEASIBLE, .no_fallback = true});
        check_closed(&s);
        check_pairwise(&s);
        for (int kind = 0; kind < 3; kind++) check_graph(&s, (ft_mat_kind)kind);
        close_subject(&s);
    }
    assert_int_equal(json_array_size(all), 9);
    json_decref(all);
}

/* Classes of one outcome: the step of the arm that is not taken accesses nothing. */
static void check_outcome(const ft_stepping *steps, const ft_transactions *t, uint32_t passed,
                          uint32_t wanted)
{
    ft_step *step = &steps->threads[0].steps[passed];
    uint32_t n_accesses = step->n_accesses, most;
    classes all, some;
    step->n_accesses = 0;
    assert_true(classes_find(&all, steps, NULL, false));
    assert_true(classes_find(&some, steps, t, false));
    assert_int_equal(classes_count(&all, &most), wanted);
    assert_int_equal(classes_count(&some, &most), wanted);
    step->n_accesses = n_accesses;
    classes_release(&all);
    classes_release(&some);
}

/* Arms in line: each class of either outcome has a member. */
static void test_branch(void **state)
{
    (void)state;
    const ft_stepping_options cut = {.most = 100};
    const ft_transactions_options options = {.kind = FT_MAT_FEASIBLE, .work = 100000};
    subject s;
    open_subject(&s, NULL,
                 tiny_trace("var x 0\nvar y 0\nvar $ 0\nlocal p 0\nlocal q 0\n"
                            "a: p := x\na: if (> p 0)\na: y := 1\na: else\na: x := 1\n"
                            "a: end-if\na: $ := 0\nb: x := 2\nb: q := y\nb: $ := 0\n"));
    ft_stepping *steps = ft_stepping_new(&s.problem, &cut);
    ft_transactions *t = ft_transactions_new(steps, &options);
    assert_int_equal(steps->threads[0].n, 4);
    assert_int_equal(t->mats.len, 10);
    assert_int_equal(t->switches.len, 14);
    check_outcome(steps, t, 2, 8);
    check_outcome(steps, t, 1, 6);
    ft_transactions_free(t);
    ft_stepping_free(steps);
    close_subject(&s);
}

/* A range at a node says nothing of a variable that the transactions to it do not access: X is 0 at
 * 2b where thread a comes first, and there is no such path in the graph. What events read and write
 * is what holds. */
static void test_arrival(void **state)
{
    (void)state;
    subject s;
    open_subject(&s, NULL,
                 tiny_trace("var X 2\nvar Y 2\nvar $ 0\na: X := 0\na: X := 3\na: $ := 0\n"
                            "b: X := 3\nb: $ := 0\n"));
    const ft_transactions_options options = {.kind = FT_MAT_FEASIBLE, .work = 100000};
    ft_transactions *t = ft_transactions_new(s.steps, &options);
    ft_graph *g = ft_graph_new(t);
    ft_ranges *r = ranges_of(g, FT_PROPAGATE_CARRIED, 1);
    uint32_t x = ft_intern_find(&s.trace->shared, "X", 1), node = g->base[1] + 1;
    ft_strbuf name = {0};
    ft_graph_print_node(g, node, &name);
    assert_string_equal(ft_strbuf_text(&name), "2b");
    ft_range at = r->at_node[node * r->n_slots + r->shared_slot[x]];
    assert_int_equal(at.low, 3);
    assert_int_equal(at.high, 3);
    const ft_monitor none = FT_NO_MONITOR;
    ft_machine *machine = machine_of(&s);
    hulls h = {.machine = machine, .s = &s, .thread = 1, .position = 1, .variable = x};
    h.there = ft_range_empty();
    h.assigned = ft_calloc(s.trace->n_events, sizeof *h.assigned);
    ft_explore(machine, &none, false, visit_hulls, &h);
    assert_int_equal(h.there.low, 0);
    assert_int_equal(h.there.high, 3);
    free(h.assigned);
    free(machine);
    ft_strbuf_release(&name);
    ft_ranges_free(r);
    ft_graph_free(g);
    ft_transactions_free(t);
    close_subject(&s);
}

/* ---- limits ---- */

static ft_intervals_cut cut_at(const ft_problem *problem, ft_intervals_options limits)
{
    ft_intervals_cut cut = FT_INTERVALS_CUT_NONE;
    limits.cut = &cut;
    ft_intervals *v = ft_intervals_new(problem, &limits);
    assert_int_equal(v == NULL, cut != FT_INTERVALS_CUT_NONE);
    ft_intervals_free(v);
    return cut;
}

/* What is left out is reported, with the limit. */
static void test_limits(void **state)
{
    (void)state;
    ft_intervals_options wide = ft_intervals_limits(), tight;
    wide.ms = 1e9;
    wide.work = 1000000000;
    ft_strbuf text = {0};
    subject s;
    ft_strbuf_puts(&text, "var x 0\nlocal p 0\nlocal q 0\n");
    for (int k = 0; k < 25; k++)
        ft_strbuf_puts(&text, "a: p := x\nb: q := x\na: x := (+ p 1)\nb: x := (+ q 1)\n");
    open_subject(&s, NULL, tiny_trace(ft_strbuf_text(&text)));
    assert_int_equal(cut_at(&s.problem, wide), FT_INTERVALS_CUT_NONE);
    tight = wide, tight.most_steps = 39;
    assert_int_equal(cut_at(&s.problem, tight), FT_INTERVALS_CUT_STEPS);
    tight = wide, tight.work = 10;
    assert_int_equal(cut_at(&s.problem, tight), FT_INTERVALS_CUT_TRANSACTIONS);
    tight.work = 1300000;
    assert_int_equal(cut_at(&s.problem, tight), FT_INTERVALS_CUT_WORK);
    tight = wide, tight.ms = 0;
    assert_int_equal(cut_at(&s.problem, tight), FT_INTERVALS_CUT_TIME);
    ft_strbuf_release(&text);
    close_subject(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_branch),
                                       cmocka_unit_test(test_arrival),
                                       cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
