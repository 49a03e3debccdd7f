#include "engine/intervals_view.h"

#include "base/clock.h"
#include "reduce/intervals/intervals.h"

enum { MOST_STEPS = 1500, MOST_WORK = 40000000, MOST_NODES = 400 };

static const char *const GRAPHS[] = {"plain", "transactions", "feasible"};

typedef struct view {
    const ft_trace *trace;
    ft_problem problem;
    ft_stepping *steps;
    json_t *graphs, *nodes, *switches, *events;
    const char *left_out; /* NULL: nothing */
} view;

static json_t *range_text(ft_sort sort, ft_range range)
{
    ft_strbuf text = {0};
    ft_range_print(sort, range, &text);
    json_t *json = json_string(ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return json;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static json_t *node_name(const ft_graph *g, uint32_t node)
{
    ft_strbuf text = {0};
    ft_graph_print_node(g, node, &text);
    json_t *json = json_string(ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return json;
}

/* The event in front of which a control state lies; 0: the end. */
static uint32_t event_of(const ft_stepping *s, const ft_graph_node *v)
{
    if (v->is_end) return 0;
    return ft_stepping_event(s, v->thread, s->threads[v->thread].steps[v->state].first) + 1;
}

static void add_graph(view *v, const ft_graph *g)
{
    const ft_stepping *s = v->steps;
    if (g->n_nodes > MOST_NODES) return;
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        const ft_graph_node *node = &g->nodes[n];
        json_array_append_new(
            v->nodes, json_pack("{s:o, s:s, s:I}", "node", node_name(g, n), "thread",
                                ft_trace_thread_name(v->trace, s->threads[node->thread].thread),
                                "event", (json_int_t)event_of(s, node)));
        for (uint32_t k = g->first_switch[n]; k < g->first_switch[n + 1]; k++)
            json_array_append_new(
                v->switches, json_pack("[o, o]", node_name(g, n), node_name(g, g->targets[k])));
    }
}

/* The figures of one graph; ranges as in the paper. */
static bool measure(view *v, ft_mat_kind kind, ft_graph **last, ft_transactions **of)
{
    const ft_transactions_options pairs = {.kind = kind, .work = MOST_WORK};
    const ft_ranges_options walk = {
        .kind = FT_PROPAGATE_CARRIED, .lookahead = 1, .nodes = true, .work = MOST_WORK};
    double start = ft_now_ms();
    uint64_t local = 0, global = 0;
    ft_transactions *t = ft_transactions_new(v->steps, &pairs);
    ft_graph *g = t ? ft_graph_new(t) : NULL;
    ft_ranges *r = g ? ft_ranges_new(g, NULL, 0, &walk) : NULL;
    if (r) ft_ranges_metric(r, &local, &global);
    if (r)
        json_object_set_new(
            v->graphs, GRAPHS[kind],
            json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "pairs", (json_int_t)t->mats.len,
                      "nodes", (json_int_t)g->n_nodes, "transactions",
                      (json_int_t)g->n_transactions, "switches_before", (json_int_t)t->n_switches,
                      "switches", (json_int_t)g->n_switches, "local_bits", (json_int_t)local,
                      "global_bits", (json_int_t)global, "ms", ft_now_ms() - start));
    ft_ranges_free(r);
    *last = g;
    *of = t;
    return g;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void add_value(json_t *list, const char *name, ft_sort sort, ft_range range)
{
    json_array_append_new(
        list, json_pack("{s:s, s:o}", "variable", name, "range", range_text(sort, range)));
}

static json_t *locals_of(const view *v, const ft_ranges *r, uint32_t e)
{
    json_t *list = json_array();
    const ft_action *action = ft_trace_action(v->trace, e);
    for (uint32_t k = 0; action && k < action->n_assignments; k++) {
        uint32_t local = FT_SYM_INDEX(action->assignments[k].target);
        if (FT_SYM_IS_LOCAL(action->assignments[k].target))
            add_value(list, v->trace->locals.names[local], v->trace->local_info[local].sort,
                      ft_ranges_assignment(r, e, k));
    }
    return list;
}

static void add_event(view *v, const ft_ranges *r, uint32_t e)
{
    json_t *reads = json_array(), *writes = json_array(), *locals = locals_of(v, r, e);
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(v->trace, e, &scratch, &count);
    const ft_action *action = ft_trace_action(v->trace, e);
    for (uint32_t k = 0; k < count; k++)
        add_value(accesses[k].write ? writes : reads, v->trace->shared.names[accesses[k].variable],
                  v->trace->shared_info[accesses[k].variable].sort, ft_ranges_access(r, e, k));
    bool guarded = action && action->guard != FT_NO_TERM;
    if (count || json_array_size(locals) || guarded) {
        ft_strbuf text = {0};
        ft_trace_print_event(v->trace, e, &text);
        json_array_append_new(
            v->events,
            json_pack("{s:I, s:s, s:s?, s:s, s:O, s:O, s:O, s:o}", "event", (json_int_t)e + 1,
                      "thread", ft_trace_thread_name(v->trace, v->trace->thread[e]), "location",
                      ft_trace_location_text(v->trace, v->trace->loc[e]), "text",
                      ft_strbuf_text(&text), "reads", reads, "writes", writes, "locals", locals,
                      "condition",
                      guarded ? range_text(FT_BOOL_SORT, ft_ranges_condition(r, e)) : json_null()));
        ft_strbuf_release(&text);
    }
    json_decref(reads);
    json_decref(writes);
    json_decref(locals);
}

static void add_events(view *v, const ft_graph *g)
{
    const ft_ranges_options walk = {
        .kind = FT_PROPAGATE_POSITIONS, .lookahead = 1, .work = MOST_WORK};
    ft_ranges *r = ft_ranges_new(g, NULL, 0, &walk);
    if (!r) v->left_out = "the propagation is too much work";
    for (uint32_t e = 0; r && e < v->trace->n_events; e++)
        if (ft_stepping_has(v->steps, e)) add_event(v, r, e);
    ft_ranges_free(r);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void look(view *v)
{
    const ft_stepping_options cut = {.most = MOST_STEPS};
    v->steps = ft_stepping_new(&v->problem, &cut);
    if (!v->steps) {
        v->left_out = "the trace has too many accesses that threads contend for";
        return;
    }
    for (int kind = FT_MAT_NONE; kind <= FT_MAT_FEASIBLE; kind++) {
        ft_graph *g;
        ft_transactions *t;
        bool made = measure(v, (ft_mat_kind)kind, &g, &t);
        if (kind == FT_MAT_FEASIBLE && made) add_graph(v, g), add_events(v, g);
        if (kind == FT_MAT_FEASIBLE && !made) v->left_out = "the graph is too large";
        ft_graph_free(g);
        ft_transactions_free(t);
    }
}

json_t *ft_intervals_view(const ft_trace *trace)
{
    double start = ft_now_ms();
    ft_order *order = ft_order_new(trace);
    ft_run *run = ft_run_new(trace);
    view v = {.trace = trace,
              .problem = {.trace = trace, .order = order, .run = run, .model = FT_MODEL_CTP},
              .graphs = json_object(),
              .nodes = json_array(),
              .switches = json_array(),
              .events = json_array()};
    if (!ft_run_symbolic(run))
        v.left_out = "the trace has no terms";
    else if (trace->n_events > FT_INTERVALS_EVENTS)
        v.left_out = "the trace has too many events";
    else
        look(&v);
    json_t *result =
        json_pack("{s:s?, s:I, s:o, s:o, s:o, s:o, s:f}", "left_out", v.left_out, "steps",
                  (json_int_t)(v.steps ? v.steps->n_contended : 0), "graphs", v.graphs, "nodes",
                  v.nodes, "switches", v.switches, "events", v.events, "ms", ft_now_ms() - start);
    ft_stepping_free(v.steps);
    ft_run_free(run);
    ft_order_free(order);
    return result;
}
