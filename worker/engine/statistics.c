#include "engine/statistics.h"

#include "base/contract.h"

typedef struct counting {
    ft_engine *engine;
    uint64_t claims, asked, left;
    uint64_t nodes; /* of graphs that were built before */
    bool given_up;
} counting;

enum { FIRST_LOOK = 64 };

/* The claims asked so far say what the rest will cost. */
static bool is_too_much(const counting *k, const ft_causality *graph)
{
    uint64_t nodes = ft_causality_get_stats(graph)->events - k->nodes;
    if (k->asked < FIRST_LOOK) return nodes > FT_MAX_COUNTED_NODES;
    return nodes / k->asked > FT_MAX_COUNTED_NODES / k->claims;
}

static bool ask_graph(void *context, const ft_claim *claim)
{
    counting *k = context;
    ft_causality *graph = ft_analyses_causality(k->engine->analyses);
    k->given_up = is_too_much(k, graph);
    if (k->given_up) return false;
    k->asked++;
    k->left += !ft_causality_refutes(graph, claim, NULL);
    return true;
}

/* Of a check: claims that the first two passes leave, in groups that they do not refute. */
static uint64_t surviving(const ft_engine *engine, ft_check check)
{
    uint64_t total = 0;
    for (size_t i = 0; i < engine->subproblems.len; i++) {
        const ft_group *group = &engine->candidates->groups.data[engine->subproblems.data[i]];
        if (group->check != check) continue;
        total += group->pairs;
        for (int r = 0; r < FT_REASONS; r++) total -= group->pruned[r];
    }
    assert(total <= engine->candidates->passes[check].claims);
    return total;
}

/* The number of a check's claims that all three passes leave; false: too many to ask one by one. */
static bool count_left(ft_engine *engine, ft_check check, uint64_t *left)
{
    counting k = {.engine = engine, .claims = surviving(engine, check)};
    const ft_candidates *c = engine->candidates;
    *left = 0;
    if (k.claims == 0) return !c->overflow[check];
    /* The yardstick has no graph, and is not to pay for one. */
    if (c->overflow[check] || engine->spec.literal || k.claims > FT_MAX_COUNTED_CLAIMS)
        return false;
    k.nodes = ft_causality_get_stats(ft_analyses_causality(engine->analyses))->events;
    for (size_t i = 0; i < engine->subproblems.len && !k.given_up; i++) {
        const ft_group *group = &c->groups.data[engine->subproblems.data[i]];
        if (group->check == check) ft_engine_each_claim(engine, group, NULL, ask_graph, &k);
    }
    *left = k.left;
    return !k.given_up;
}

/* Counts of one check, or their sum over all: those that were not counted stay so. */
typedef struct left_counts {
    uint64_t claims, by_lockset, by_order, by_all;
    bool order_open, all_open;
} left_counts;

static left_counts of_check(ft_engine *engine, ft_check check)
{
    const ft_pass_counts *passes = &engine->candidates->passes[check];
    left_counts counts = {.claims = passes->claims,
                          .by_lockset = passes->claims - passes->by_locks,
                          .by_order = passes->claims - passes->by_order,
                          .order_open = passes->order_open};
    assert(passes->by_locks <= passes->claims && passes->by_order <= passes->claims);
    counts.all_open = !count_left(engine, check, &counts.by_all);
    return counts;
}

static void add(left_counts *sum, const left_counts *more)
{
    sum->claims += more->claims;
    sum->by_lockset += more->by_lockset;
    sum->by_order += more->by_order;
    sum->by_all += more->by_all;
    sum->order_open |= more->order_open;
    sum->all_open |= more->all_open;
}

static json_t *number_or_null(uint64_t number, bool open)
{
    return open ? json_null() : json_integer((json_int_t)number);
}

static json_t *counts_json(const left_counts *counts)
{
    return json_pack("{s:I, s:{s:I, s:o, s:o}}", "pairs", (json_int_t)counts->claims, "left",
                     ft_reason_name(FT_REASON_LOCKSET), (json_int_t)counts->by_lockset,
                     ft_reason_name(FT_REASON_MUST_HAPPEN_BEFORE),
                     number_or_null(counts->by_order, counts->order_open),
                     ft_reason_name(FT_REASON_CAUSALITY),
                     number_or_null(counts->by_all, counts->all_open));
}

static uint64_t count_reads(const ft_trace *trace)
{
    uint64_t total = 0;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint8_t kind = trace->kind[e];
        if (kind == FT_EVENT_READ || kind > FT_EVENT_ASSERT) {
            total += kind == FT_EVENT_READ || kind == FT_EVENT_RMW;
            continue;
        }
        ft_access scratch;
        uint32_t count;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) total += !accesses[i].write;
    }
    return total;
}

/* Of variables that one thread alone touches, or that nobody writes, no order is asked; a read
 * whose value cannot matter has no source. */
static json_t *reduction_json(const ft_engine *engine)
{
    const ft_trace *trace = engine->trace;
    const uint32_t *classes = engine->candidates->variable_classes;
    uint64_t reads = count_reads(trace), needed = reads, contended = 0;
    if (engine->slice) ft_slice_count(engine->slice, &reads, &needed);
    if (engine->problem.model == FT_MODEL_CONTROL) needed = 0;
    for (uint32_t v = 0; v < trace->shared.len; v++) contended += classes[v] < classes[v + 1];
    return json_pack("{s:I, s:I, s:I, s:I, s:I}", "trace", (json_int_t)trace->n_events, "reads",
                     (json_int_t)reads, "reads_needed", (json_int_t)needed, "variables",
                     (json_int_t)trace->shared.len, "variables_contended", (json_int_t)contended);
}

json_t *ft_engine_statistics(ft_engine *engine)
{
    const ft_candidates *c = engine->candidates;
    left_counts all = {0};
    json_t *checks = json_object();
    for (int i = 0; i < FT_CHECKS; i++) {
        if (!engine->spec.checks[i] && !c->passes[i].claims) continue;
        left_counts counts = of_check(engine, (ft_check)i);
        json_object_set_new(checks, ft_check_name((ft_check)i), counts_json(&counts));
        add(&all, &counts);
    }
    return json_pack("{s:o, s:o, s:o}", "checks", checks, "all", counts_json(&all), "events",
                     reduction_json(engine));
}
