#include "reduce/intervals/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ranges/faults.h"
#include "reduce/intervals/execute.h"

typedef struct walk {
    ft_ranges *r;
    const ft_graph *g;
    const ft_stepping *steps;
    const ft_ranges_options *options;
    ft_executor executor;
    uint32_t n_threads;
    uint32_t *first_local; /* [threads + 1] slots of each thread's locals */
    ft_range_state *now;   /* [nodes] D[i]; slots NULL: not there */
    ft_range_state *next;  /* likewise D[i + 1] */
    ft_range **known;      /* [nodes] locals that the node's thread brought there; NULL: never */
    ft_range **fresh;      /* likewise, in this step */
    ft_range_state *stack; /* [lookahead + 1] */
    uint32_t depth;        /* transactions done where a path of this step begins */
    bool late;
} walk;

static bool has_positions(const walk *w)
{
    return w->options->kind == FT_PROPAGATE_POSITIONS;
}

/* ---- states ---------------------------------------------------------------------------------- */

static ft_range_state new_state(const walk *w)
{
    uint32_t n = w->n_threads;
    ft_range_state s = {.slots = ft_alloc(((size_t)w->r->n_slots + 1) * sizeof *s.slots)};
    s.low = ft_calloc((size_t)3 * n + 1, sizeof *s.low);
    s.high = s.low + n;
    s.visited = s.high + n;
    memset(s.visited, 0xff, n * sizeof *s.visited);
    return s;
}

static void release_state(ft_range_state *s)
{
    free(s->slots);
    free(s->low);
    *s = (ft_range_state){0};
}

static void copy_state(const walk *w, ft_range_state *to, const ft_range_state *from)
{
    memcpy(to->slots, from->slots, w->r->n_slots * sizeof *to->slots);
    memcpy(to->low, from->low, (size_t)3 * w->n_threads * sizeof *to->low);
}

static void join_slots(const walk *w, ft_range *into, const ft_range *from, uint32_t first,
                       uint32_t end)
{
    for (uint32_t k = first; k < end; k++)
        into[k] = w->r->domain->join(w->r->sorts[k], into[k], from[k]);
    w->r->work += end - first;
}

static void join_state(const walk *w, ft_range_state *into, const ft_range_state *from)
{
    if (!into->slots) {
        *into = new_state(w);
        copy_state(w, into, from);
        memset(into->visited, 0xff, w->n_threads * sizeof *into->visited);
        w->r->work += w->r->n_slots;
        return;
    }
    join_slots(w, into->slots, from->slots, 0, w->r->n_slots);
    for (uint32_t t = 0; t < w->n_threads; t++) {
        if (from->low[t] < into->low[t]) into->low[t] = from->low[t];
        if (from->high[t] > into->high[t]) into->high[t] = from->high[t];
    }
}

static void show(const walk *w, uint32_t node, const ft_range_state *s)
{
    if (w->r->at_node)
        join_slots(w, w->r->at_node + (size_t)node * w->r->n_slots, s->slots, 0, w->r->n_slots);
}

/* ---- locals of a node ------------------------------------------------------------------------ */

static void learn(const walk *w, ft_range **table, uint32_t node, const ft_range *locals)
{
    uint32_t t = w->g->nodes[node].thread, first = w->first_local[t],
             n = w->first_local[t + 1] - first;
    if (!table[node]) {
        table[node] = ft_alloc(((size_t)n + 1) * sizeof **table);
        memcpy(table[node], locals, n * sizeof **table);
        return;
    }
    for (uint32_t k = 0; k < n; k++)
        table[node][k] = w->r->domain->join(w->r->sorts[first + k], table[node][k], locals[k]);
}

/* A path that looks ahead comes back to nodes of its own. */
static void arrive(const walk *w, uint32_t node, const ft_range_state *s)
{
    const ft_range *locals = s->slots + w->first_local[w->g->nodes[node].thread];
    bool at_once = has_positions(w) && w->options->lookahead > 1;
    learn(w, at_once ? w->known : w->fresh, node, locals);
}

static void keep_locals(const walk *w)
{
    for (uint32_t v = 0; v < w->g->n_nodes; v++) {
        bool forget = ft_interval_fault_is(FT_INTERVAL_FAULT_STEP_LOCALS) && w->fresh[v];
        if (forget) free(w->known[v]), w->known[v] = NULL;
        if (w->fresh[v]) learn(w, w->known, v, w->fresh[v]);
        free(w->fresh[v]);
        w->fresh[v] = NULL;
    }
}

/* The locals of a switch's target. False: no path brought the thread there. */
static bool use_locals(const walk *w, uint32_t node, ft_range_state *s)
{
    uint32_t t = w->g->nodes[node].thread, first = w->first_local[t],
             n = w->first_local[t + 1] - first;
    const ft_range *known = w->known[node];
    if (w->options->kind == FT_PROPAGATE_CARRIED) return true;
    if (w->options->kind == FT_PROPAGATE_CUMULATIVE) {
        if (s->visited[t] != UINT32_MAX) return true;
        if (known) memcpy(s->slots + first, known, n * sizeof *known);
        return known;
    }
    for (uint32_t k = 0; known && k < n; k++) {
        ft_range *slot = &s->slots[first + k];
        *slot = w->r->domain->meet(w->r->sorts[first + k], *slot, known[k]);
        if (w->r->domain->is_empty(*slot)) return false;
    }
    return known;
}

/* ---- positions ------------------------------------------------------------------------------- */

/* The indices add up to the number of transactions done. */
static bool add_up(const walk *w, ft_range_state *s, uint32_t depth)
{
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_POSITIONS) && depth) depth--;
    for (int round = 0; round < 2; round++) {
        uint64_t low = 0, high = 0;
        for (uint32_t t = 0; t < w->n_threads; t++) low += s->low[t], high += s->high[t];
        if (low > depth || high < depth) return false;
        for (uint32_t t = 0; t < w->n_threads; t++) {
            uint64_t most = depth - (low - s->low[t]), others = high - s->high[t];
            uint64_t least = depth > others ? depth - others : 0;
            if (most < s->high[t]) high -= s->high[t] - most, s->high[t] = (uint32_t)most;
            if (least > s->low[t]) low += least - s->low[t], s->low[t] = (uint32_t)least;
            if (s->low[t] > s->high[t]) return false;
        }
    }
    return true;
}

/* Where the others can be while thread i is at a control state. */
static bool reach(const walk *w, ft_range_state *s, uint32_t i, uint32_t state)
{
    const ft_transactions *t = w->g->transactions;
    if (w->options->no_reach) return true;
    for (uint32_t k = 0; k < w->n_threads; k++) {
        if (k == i) continue;
        while (s->low[k] <= s->high[k] &&
               !ft_transactions_reach(t, i, state, k, t->boundaries[k][s->low[k]]))
            s->low[k]++;
        if (s->low[k] > s->high[k]) return false;
        while (s->high[k] > s->low[k] &&
               !ft_transactions_reach(t, i, state, k, t->boundaries[k][s->high[k]]))
            s->high[k]--;
    }
    w->r->work += w->n_threads;
    return true;
}

static bool stand_at(const walk *w, ft_range_state *s, uint32_t node, uint32_t depth)
{
    uint32_t t = w->g->nodes[node].thread, index = node - w->g->base[t];
    if (index < s->low[t] || index > s->high[t]) return false;
    s->low[t] = s->high[t] = index;
    return add_up(w, s, depth) && reach(w, s, t, w->g->nodes[node].state) && add_up(w, s, depth);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* The transaction from node to node + 1. False: no state gets to its end; ranges inside are kept.
 */
static bool run(walk *w, uint32_t node, ft_range_state *s)
{
    uint32_t i = w->g->nodes[node].thread, end = w->g->nodes[node + 1].state;
    bool alive = true;
    w->r->runs++;
    for (uint32_t p = w->g->nodes[node].state; p < end && alive; p++) {
        if (has_positions(w) && !reach(w, s, i, p + 1)) alive = false;
        if (alive) alive = ft_executor_step(&w->executor, i, p, s->slots);
    }
    return ft_executor_close(&w->executor, s->slots) && alive;
}

static void go_on(walk *w, uint32_t node, uint32_t level);

/* From the path's state at `level`: a switch to the node, if it is not where the path is, and the
 * transaction behind it. */
static void take(walk *w, uint32_t from, uint32_t node, uint32_t level)
{
    ft_range_state *s = &w->stack[level + 1];
    uint32_t t = w->g->nodes[node].thread, depth = w->depth + level;
    if (w->stack[level].visited[t] != UINT32_MAX && w->stack[level].visited[t] != node) return;
    copy_state(w, s, &w->stack[level]);
    w->r->work += w->r->n_slots;
    if (has_positions(w) && !stand_at(w, s, node, depth)) return;
    if (from != node && !use_locals(w, node, s)) return;
    if (from != node) show(w, node, s);
    bool quiet = ft_interval_fault_is(FT_INTERVAL_FAULT_BLOCKED_INSIDE);
    if (quiet) {
        w->executor.discard = true;
        bool whole = run(w, node, s);
        w->executor.discard = false;
        if (!whole) return;
        copy_state(w, s, &w->stack[level]);
        if (has_positions(w) && !stand_at(w, s, node, depth)) return;
        if (from != node && !use_locals(w, node, s)) return;
    }
    if (!run(w, node, s)) return;
    s->low[t] = s->high[t] = node + 1 - w->g->base[t];
    s->visited[t] = node + 1;
    show(w, node + 1, s);
    arrive(w, node + 1, s);
    if (level + 1 == w->options->lookahead)
        join_state(w, &w->next[node + 1], s);
    else
        go_on(w, node + 1, level + 1);
}

static void go_on(walk *w, uint32_t node, uint32_t level)
{
    if (w->options->work && w->r->work > w->options->work) w->late = true;
    if (w->options->deadline && w->r->runs % 64 == 0 && ft_now_ms() > w->options->deadline)
        w->late = true;
    if (!w->g->nodes[node].is_end) take(w, node, node, level);
    for (uint32_t k = w->g->first_switch[node]; k < w->g->first_switch[node + 1] && !w->late; k++)
        take(w, node, w->g->targets[k], level);
}

/* D[i] to D[i + 1]. Returns whether anything is there. */
static bool advance(walk *w)
{
    bool any = false;
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_LAST_STEP))
        for (size_t k = 0; k < w->r->values.len; k++) w->r->values.data[k] = ft_range_empty();
    for (uint32_t v = 0; v < w->g->n_nodes && !w->late; v++) {
        if (!w->now[v].slots) continue;
        uint32_t t = w->g->nodes[v].thread;
        copy_state(w, &w->stack[0], &w->now[v]);
        w->stack[0].visited[t] = v;
        if (w->options->kind == FT_PROPAGATE_CUMULATIVE && w->known[v])
            memcpy(w->stack[0].slots + w->first_local[t], w->known[v],
                   (w->first_local[t + 1] - w->first_local[t]) * sizeof **w->known);
        go_on(w, v, 0);
    }
    keep_locals(w);
    for (uint32_t v = 0; v < w->g->n_nodes; v++) {
        if (w->now[v].slots) release_state(&w->now[v]);
        w->now[v] = w->next[v];
        w->next[v] = (ft_range_state){0};
        any |= w->now[v].slots != NULL;
    }
    w->depth += w->options->lookahead;
    w->r->steps++;
    return any;
}

static void propagate(walk *w)
{
    uint32_t n = w->g->n_transactions, b = w->options->lookahead, steps = (n + b - 1) / b;
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_SHORT) && steps) steps--;
    for (uint32_t k = 0; k < steps && !w->late; k++)
        if (!advance(w)) return;
}

/* ---- slots ----------------------------------------------------------------------------------- */

typedef struct slots {
    ft_ranges *r;
    FT_VEC(ft_sort) sorts;
    FT_VEC(ft_range) initial;
    uint32_t *local; /* of the thread at hand */
} slots;

static void add_shared(slots *s, uint32_t variable)
{
    const ft_problem *p = s->r->problem;
    if (s->r->shared_slot[variable] != FT_NO_SLOT) return;
    ft_sort sort = p->trace->shared_info[variable].sort;
    ft_vid vid = ft_run_initial_vid(p->run, variable);
    s->r->shared_slot[variable] = (uint32_t)s->sorts.len;
    ft_vec_push(&s->sorts, sort);
    ft_vec_push(&s->initial,
                FT_VID_IS_KNOWN(vid)
                    ? s->r->domain->single((ft_value){sort, ft_run_value(p->run, vid).bits})
                    : s->r->domain->any(sort));
}

static void add_local(slots *s, uint32_t local)
{
    const ft_trace *trace = s->r->problem->trace;
    if (s->local[local] != FT_NO_SLOT) return;
    ft_sort sort = trace->local_info[local].sort;
    uint32_t initial = trace->local_info[local].initial;
    s->local[local] = (uint32_t)s->sorts.len;
    ft_vec_push(&s->sorts, sort);
    ft_vec_push(&s->initial,
                initial == FT_NO_VALUE
                    ? s->r->domain->any(sort)
                    : s->r->domain->single((ft_value){sort, trace->values[initial].bits}));
}

static void add_symbol(void *context, ft_symbol symbol)
{
    slots *s = context;
    if (s->local && FT_SYM_IS_LOCAL(symbol)) add_local(s, FT_SYM_INDEX(symbol));
    if (!s->local && !FT_SYM_IS_LOCAL(symbol)) add_shared(s, FT_SYM_INDEX(symbol));
}

static void add_terms(slots *s, const ft_action *action)
{
    const ft_term_pool *pool = s->r->problem->trace->terms;
    if (action->guard != FT_NO_TERM) ft_term_symbols(pool, action->guard, add_symbol, s);
    for (uint32_t k = 0; k < action->n_assignments; k++) {
        ft_term_symbols(pool, action->assignments[k].term, add_symbol, s);
        add_symbol(s, action->assignments[k].target);
    }
}

/* Variables of the thread's events: shared ones (local NULL) or locals. */
static void add_thread(slots *s, uint32_t i, const ft_probe *probes)
{
    const ft_trace *trace = s->r->problem->trace;
    const ft_stepping *steps = s->r->graph->transactions->steps;
    const ft_step_thread *t = &steps->threads[i];
    for (uint32_t k = 0; k < t->n; k++) {
        const ft_step *step = &t->steps[k];
        if (step->probe != FT_NO_PROBE)
            ft_term_symbols(trace->terms, probes[step->probe].term, add_symbol, s);
        for (uint32_t place = step->first; place < step->first + step->count; place++) {
            uint32_t e = ft_stepping_event(steps, i, place), count;
            const ft_action *action = ft_trace_action(trace, e);
            if (action) add_terms(s, action);
            ft_access scratch;
            const ft_access *found = ft_trace_accesses(trace, e, &scratch, &count);
            for (uint32_t a = 0; !s->local && a < count; a++) add_shared(s, found[a].variable);
        }
    }
}

static ft_range *add_slots(walk *w, const ft_probe *probes)
{
    ft_ranges *r = w->r;
    const ft_trace *trace = r->problem->trace;
    slots s = {.r = r};
    size_t n_shared = (size_t)trace->shared.len + 1, n_locals = (size_t)trace->locals.len + 1;
    r->shared_slot = ft_alloc(n_shared * sizeof *r->shared_slot);
    memset(r->shared_slot, 0xff, n_shared * sizeof *r->shared_slot);
    r->local_slot = ft_calloc((size_t)w->n_threads + 1, sizeof *r->local_slot);
    w->first_local = ft_calloc((size_t)w->n_threads + 1, sizeof *w->first_local);
    for (uint32_t i = 0; i < w->n_threads; i++) add_thread(&s, i, probes);
    for (uint32_t i = 0; i < w->n_threads; i++) {
        w->first_local[i] = (uint32_t)s.sorts.len;
        s.local = r->local_slot[i] = ft_alloc(n_locals * sizeof *s.local);
        memset(s.local, 0xff, n_locals * sizeof *s.local);
        add_thread(&s, i, probes);
    }
    w->first_local[w->n_threads] = r->n_slots = (uint32_t)s.sorts.len;
    r->sorts = s.sorts.data;
    return s.initial.data;
}

static void count_symbol(void *context, ft_symbol symbol)
{
    (void)symbol;
    ++*(uint32_t *)context;
}

/* Room for what each event can be, empty. */
static void add_events(walk *w)
{
    ft_ranges *r = w->r;
    ft_access scratch;
    for (uint32_t i = 0; i < w->n_threads; i++) {
        const ft_step_thread *t = &w->steps->threads[i];
        uint32_t places = t->n ? t->steps[t->n - 1].first + t->steps[t->n - 1].count : 0;
        for (uint32_t place = 0; place < places; place++) {
            uint32_t e = ft_stepping_event(w->steps, i, place), count;
            const ft_action *action = ft_trace_action(r->problem->trace, e);
            ft_trace_accesses(r->problem->trace, e, &scratch, &count);
            ft_map_put(&r->events, e, r->values.len);
            count += action ? action->n_assignments + 1 : 0;
            if (r->problem->trace->kind[e] == FT_EVENT_ASSERT)
                ft_term_symbols(r->problem->trace->terms, action->guard, count_symbol, &count);
            for (uint32_t k = 0; k < count; k++) ft_vec_push(&r->values, ft_range_empty());
        }
    }
}

static void prepare(walk *w, const ft_probe *probes, uint32_t n_probes)
{
    ft_ranges *r = w->r;
    size_t n = w->g->n_nodes;
    ft_range *initial = add_slots(w, probes);
    r->n_terms = ft_term_pool_count(r->problem->trace->terms);
    r->terms.range = ft_alloc(((size_t)r->n_terms + 1) * sizeof *r->terms.range);
    r->terms.wraps = ft_calloc((size_t)r->n_terms + 1, 1);
    for (uint32_t k = 0; k <= r->n_terms; k++) r->terms.range[k] = ft_range_empty();
    for (uint32_t k = 0; k < n_probes; k++) ft_vec_push(&r->probes, ft_range_empty());
    if (n_probes) {
        uint32_t symbols = 0;
        ft_term_symbols(r->problem->trace->terms, probes[0].term, count_symbol, &symbols);
        for (uint32_t k = 0; k < symbols; k++) ft_vec_push(&r->probe_symbols, ft_range_empty());
    }
    add_events(w);
    w->now = ft_calloc(n + 1, sizeof *w->now);
    w->next = ft_calloc(n + 1, sizeof *w->next);
    w->known = ft_calloc(n + 1, sizeof *w->known);
    w->fresh = ft_calloc(n + 1, sizeof *w->fresh);
    w->stack = ft_calloc((size_t)w->options->lookahead + 1, sizeof *w->stack);
    for (uint32_t k = 0; k <= w->options->lookahead; k++) w->stack[k] = new_state(w);
    if (w->options->nodes) {
        r->at_node = ft_alloc((n * r->n_slots + 1) * sizeof *r->at_node);
        for (size_t k = 0; k < n * r->n_slots; k++) r->at_node[k] = ft_range_empty();
    }
    if (r->n_slots) memcpy(w->stack[0].slots, initial, r->n_slots * sizeof *initial);
    for (uint32_t t = 0; t < w->n_threads; t++) {
        uint32_t start = w->g->base[t];
        if (w->g->nodes[start].is_end) continue;
        join_state(w, &w->now[start], &w->stack[0]);
        show(w, start, &w->stack[0]);
        learn(w, w->known, start, w->stack[0].slots + w->first_local[t]);
    }
    free(initial);
}

static void release_walk(walk *w)
{
    for (uint32_t v = 0; v < w->g->n_nodes; v++) {
        release_state(&w->now[v]);
        release_state(&w->next[v]);
        free(w->known[v]);
        free(w->fresh[v]);
    }
    for (uint32_t k = 0; k <= w->options->lookahead; k++) release_state(&w->stack[k]);
    free(w->now);
    free(w->next);
    free(w->known);
    free(w->fresh);
    free(w->stack);
    free(w->first_local);
}

/* A step of the propagation looks at each transaction and each switch, and joins all variables
 * there: measured, the work is a third to three times that. */
static bool is_too_much(const walk *w)
{
    uint64_t paths = (uint64_t)w->g->n_transactions + w->g->n_switches;
    return w->options->work && paths * w->g->n_transactions * w->r->n_slots > w->options->work;
}

ft_ranges *ft_ranges_new(const ft_graph *graph, const ft_probe *probes, uint32_t n_probes,
                         const ft_ranges_options *options)
{
    FT_REQUIRE(graph && options && options->lookahead > 0);
    ft_ranges *r = ft_calloc(1, sizeof *r);
    const ft_stepping *steps = graph->transactions->steps;
    walk w = {
        .r = r, .g = graph, .steps = steps, .options = options, .n_threads = steps->n_threads};
    r->graph = graph;
    r->problem = steps->problem;
    r->domain = ft_intervals_domain();
    prepare(&w, probes, n_probes);
    ft_executor_init(&w.executor, r, probes);
    w.late = is_too_much(&w);
    propagate(&w);
    ft_executor_release(&w.executor);
    release_walk(&w);
    if (!w.late) return r;
    ft_ranges_free(r);
    return NULL;
}

void ft_ranges_free(ft_ranges *r)
{
    if (!r) return;
    uint32_t n = r->graph->transactions->steps->n_threads;
    for (uint32_t i = 0; i < n; i++) free(r->local_slot[i]);
    free(r->local_slot);
    free(r->shared_slot);
    free(r->sorts);
    free(r->terms.range);
    free(r->terms.wraps);
    free(r->at_node);
    ft_map_release(&r->events);
    ft_vec_release(&r->values);
    ft_vec_release(&r->probes);
    ft_vec_release(&r->probe_symbols);
    free(r);
}

/* ---- results --------------------------------------------------------------------------------- */

static ft_range value_of(const ft_ranges *r, uint32_t e, uint32_t number)
{
    uint64_t first;
    bool found = ft_map_get(&r->events, e, &first);
    FT_REQUIRE(found && first + number < r->values.len);
    return r->values.data[first + number];
}

ft_range ft_ranges_access(const ft_ranges *r, uint32_t e, uint32_t access)
{
    return value_of(r, e, access);
}

ft_range ft_ranges_assignment(const ft_ranges *r, uint32_t e, uint32_t assignment)
{
    const ft_action *action = ft_trace_action(r->problem->trace, e);
    FT_REQUIRE(action && assignment < action->n_assignments);
    return value_of(r, e, action->n_accesses + assignment);
}

ft_range ft_ranges_condition(const ft_ranges *r, uint32_t e)
{
    const ft_action *action = ft_trace_action(r->problem->trace, e);
    if (!action || action->guard == FT_NO_TERM) return ft_range_any(FT_BOOL_SORT);
    return value_of(r, e, action->n_accesses + action->n_assignments);
}

ft_range ft_ranges_symbol(const ft_ranges *r, uint32_t assertion, uint32_t number)
{
    const ft_action *action = ft_trace_action(r->problem->trace, assertion);
    FT_REQUIRE(action && r->problem->trace->kind[assertion] == FT_EVENT_ASSERT);
    return value_of(r, assertion, action->n_accesses + action->n_assignments + 1 + number);
}

static uint64_t bits_at(const ft_ranges *r, uint32_t node)
{
    uint64_t bits = 0;
    for (uint32_t v = 0; v < r->problem->trace->shared.len; v++) {
        uint32_t slot = r->shared_slot[v];
        if (slot == FT_NO_SLOT) continue;
        bits += ft_range_bits(r->sorts[slot], r->at_node[(size_t)node * r->n_slots + slot]);
    }
    return bits;
}

static void add_event_bits(const ft_ranges *r, uint32_t e, uint64_t *local, uint64_t *global)
{
    const ft_trace *trace = r->problem->trace;
    const ft_action *action = ft_trace_action(trace, e);
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t k = 0; k < count; k++)
        if (accesses[k].write)
            *global += ft_range_bits(trace->shared_info[accesses[k].variable].sort,
                                     ft_ranges_access(r, e, k));
    for (uint32_t k = 0; action && k < action->n_assignments; k++) {
        ft_symbol target = action->assignments[k].target;
        if (FT_SYM_IS_LOCAL(target))
            *local += ft_range_bits(trace->local_info[FT_SYM_INDEX(target)].sort,
                                    ft_ranges_assignment(r, e, k));
    }
}

void ft_ranges_metric(const ft_ranges *r, uint64_t *local_bits, uint64_t *global_bits)
{
    FT_REQUIRE(r->at_node);
    const ft_graph *g = r->graph;
    const ft_stepping *steps = g->transactions->steps;
    *local_bits = *global_bits = 0;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        if (!g->nodes[v].is_end) *global_bits += bits_at(r, v);
    for (uint32_t e = 0; e < r->problem->trace->n_events; e++)
        if (ft_stepping_has(steps, e)) add_event_bits(r, e, local_bits, global_bits);
}
