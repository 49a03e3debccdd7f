/* From a model to a schedule. The model has the members, the sources of reads and the tokens of
 * waits. The order is rebuilt here: only order that a constraint needs is taken from the model, and
 * everything else stays as observed. A constraint that the schedule breaks becomes a lemma, and the
 * solver is asked again. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "encode/partial.h"
#include "problem/faults.h"

typedef struct edge {
    uint32_t from, next; /* next edge into the same target, UINT32_MAX: none */
    ft_lit literal;      /* the order atom that asks for it */
} edge;

typedef FT_VEC(uint32_t) open_sections;

struct ft_schedule {
    uint8_t *executed;  /* per event */
    uint8_t *reached;   /* per event; events that are passed over have a place until the order is
                           found, so that program order leads through them */
    uint32_t *incoming; /* per event: first edge, UINT32_MAX */
    uint32_t *waiting;  /* per event: executed predecessors not yet placed */
    uint32_t *place;    /* per event: index in order */
    FT_VEC(edge) edges;
    FT_VEC(uint32_t) order;
    FT_VEC(uint32_t) heap;
    uint32_t *outgoing; /* CSR by source, rebuilt each time */
    FT_VEC(uint32_t) targets;
    uint32_t *last_writer; /* per variable */
    open_sections *open;   /* per lock */
    uint32_t n_locks;
    uint32_t *mark; /* per event: stamp of the cycle walk */
    uint32_t stamp;
};

struct ft_schedule *ft_schedule_new(const ft_decider *d)
{
    const ft_trace *trace = d->problem->trace;
    struct ft_schedule *s = ft_calloc(1, sizeof *s);
    size_t n = trace->n_events;
    s->executed = ft_calloc(n, 1);
    s->reached = d->reached == d->member ? s->executed : ft_calloc(n, 1);
    s->incoming = ft_alloc(n * sizeof *s->incoming);
    s->waiting = ft_alloc(n * sizeof *s->waiting);
    s->place = ft_alloc(n * sizeof *s->place);
    s->outgoing = ft_alloc((n + 2) * sizeof *s->outgoing);
    s->mark = ft_calloc(n, sizeof *s->mark);
    s->last_writer = ft_alloc(((size_t)trace->shared.len + 1) * sizeof *s->last_writer);
    s->n_locks = trace->locks.len;
    s->open = ft_calloc((size_t)trace->locks.len + 1, sizeof *s->open);
    return s;
}

void ft_schedule_free(struct ft_schedule *s)
{
    if (!s) return;
    if (s->reached != s->executed) free(s->reached);
    free(s->executed);
    free(s->incoming);
    free(s->waiting);
    free(s->place);
    free(s->outgoing);
    free(s->mark);
    free(s->last_writer);
    for (uint32_t l = 0; l < s->n_locks; l++) ft_vec_release(&s->open[l]);
    free(s->open);
    ft_vec_release(&s->edges);
    ft_vec_release(&s->order);
    ft_vec_release(&s->heap);
    ft_vec_release(&s->targets);
    free(s);
}

/* ---- reading the model ---- */

static void read_members(ft_decider *d, const ft_query *query)
{
    struct ft_schedule *s = d->schedule;
    const ft_trace *trace = d->problem->trace;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        s->reached[e] = ft_session_true(d->session, d->reached[e]);
        s->executed[e] = s->reached[e] && ft_session_true(d->session, d->member[e]);
        s->incoming[e] = UINT32_MAX;
    }
    if (query->extra != FT_NO_EVENT) s->executed[query->extra] = s->reached[query->extra] = 1;
}

static uint32_t choose(ft_decider *d, const ft_source *sources, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        if (ft_session_true(d->session, sources[i].from)) return i;
    return UINT32_MAX;
}

static void add_edge(ft_decider *d, uint32_t a, uint32_t b)
{
    struct ft_schedule *s = d->schedule;
    if (a == b || !s->executed[a] || !s->executed[b]) return;
    ft_lit literal = ft_partial_before(d, a, b);
    if (literal == FT_LIT_TRUE) return; /* the graph has the hard order's edges anyway */
    ft_vec_push(&s->edges, (edge){a, s->incoming[b], literal});
    s->incoming[b] = (uint32_t)s->edges.len - 1;
}

static void add_read_edges(ft_decider *d, ft_query *query)
{
    for (size_t i = 0; i < d->reads.len; i++) {
        ft_read *read = &d->reads.data[i];
        read->chosen = UINT32_MAX;
        if (!d->schedule->executed[read->event] || read->event == query->extra) continue;
        read->chosen = choose(d, d->sources.data, read->first, read->count);
        assert(read->chosen != UINT32_MAX); /* a member's read has a source */
        uint32_t w = d->sources.data[read->chosen].write;
        if (w != FT_NO_EVENT) add_edge(d, w, read->event);
    }
    for (size_t i = 0; i < query->reads.len; i++) {
        ft_ghost_read *read = &query->reads.data[i];
        read->chosen = choose(d, query->sources.data, read->first, read->count);
        if (read->chosen == UINT32_MAX || read->at == FT_NO_EVENT) continue;
        uint32_t w = query->sources.data[read->chosen].write;
        if (w != FT_NO_EVENT) add_edge(d, w, read->at);
    }
    for (size_t i = 0; i < d->tokens.len; i++) {
        const ft_token *token = &d->tokens.data[i];
        if (token->post != FT_NO_EVENT && d->schedule->executed[token->wait] &&
            ft_session_true(d->session, token->match))
            add_edge(d, token->post, token->wait);
    }
    for (size_t i = 0; i < d->asked.len; i++) {
        ft_asked asked = d->asked.data[i];
        if (d->schedule->executed[asked.a] && d->schedule->executed[asked.b] &&
            ft_session_true(d->session, asked.literal))
            add_edge(d, asked.a, asked.b);
    }
}

static bool is_static(const ft_decider *d, uint32_t a, uint32_t b)
{
    return ft_order_before(d->problem->order, a, b);
}

/* For each lemma whose premises hold, adds the edge of one alternative that is true in the model:
 * preferably a static one, then one that agrees with the observed order. */
static void add_lemma_edges(ft_decider *d)
{
    for (size_t i = 0; i < d->lemmas.len; i++) {
        ft_lemma lemma = d->lemmas.data[i];
        if (lemma.n_alternatives == 0) continue;
        bool holds = true;
        for (uint32_t k = 0; k < lemma.n_premises && holds; k++)
            holds = ft_session_true(d->session, lemma.premise[k]);
        if (!holds) continue;
        uint32_t best = UINT32_MAX;
        int rank = 0;
        for (uint32_t k = 0; k < lemma.n_alternatives; k++) {
            uint32_t a = lemma.alternative[k].a, b = lemma.alternative[k].b;
            ft_lit gate = lemma.alternative[k].gate;
            if (!ft_session_true(d->session, gate ? gate : ft_partial_before(d, a, b))) continue;
            int value = is_static(d, a, b) ? 3 : a < b ? 2 : 1;
            if (value > rank) rank = value, best = k;
        }
        if (best != UINT32_MAX) add_edge(d, lemma.alternative[best].a, lemma.alternative[best].b);
    }
}

/* ---- topological order ---- */

static void heap_push(struct ft_schedule *s, uint32_t e)
{
    ft_vec_push(&s->heap, e);
    size_t at = s->heap.len - 1;
    for (; at > 0 && s->heap.data[(at - 1) / 2] > e; at = (at - 1) / 2)
        s->heap.data[at] = s->heap.data[(at - 1) / 2];
    s->heap.data[at] = e;
}

static uint32_t heap_pop(struct ft_schedule *s)
{
    assert(s->heap.len > 0);
    uint32_t top = s->heap.data[0], e = s->heap.data[--s->heap.len];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < s->heap.len) {
        if (child + 1 < s->heap.len && s->heap.data[child + 1] < s->heap.data[child]) child++;
        if (s->heap.data[child] >= e) break;
        s->heap.data[at] = s->heap.data[child];
        at = child;
    }
    if (s->heap.len) s->heap.data[at] = e;
    assert(!s->heap.len || s->heap.data[0] > top);
    return top;
}

/* Calls visit(a, literal) for each direct predecessor a of b, both reached; FT_LIT_TRUE: hard
 * order. */
typedef void (*visit_edge)(void *context, uint32_t a, uint32_t b, ft_lit literal);

static void each_predecessor(const ft_decider *d, uint32_t b, visit_edge visit, void *context)
{
    const struct ft_schedule *s = d->schedule;
    uint32_t previous = ft_order_previous(d->problem->order, b);
    const uint32_t *sources;
    if (previous != FT_NO_EVENT && s->reached[previous]) visit(context, previous, b, FT_LIT_TRUE);
    uint32_t count = ft_order_hard_sources(d->problem->order, b, &sources);
    for (uint32_t i = 0; i < count; i++)
        if (s->reached[sources[i]]) visit(context, sources[i], b, FT_LIT_TRUE);
    for (uint32_t i = s->incoming[b]; i != UINT32_MAX; i = s->edges.data[i].next)
        visit(context, s->edges.data[i].from, b, s->edges.data[i].literal);
}

static void count_edge(void *context, uint32_t a, uint32_t b, ft_lit literal)
{
    struct ft_schedule *s = context;
    (void)literal;
    s->waiting[b]++;
    s->outgoing[a + 2]++;
}

static void place_edge(void *context, uint32_t a, uint32_t b, ft_lit literal)
{
    struct ft_schedule *s = context;
    (void)literal;
    s->targets.data[s->outgoing[a + 1]++] = b;
}

static uint32_t build_graph(ft_decider *d)
{
    struct ft_schedule *s = d->schedule;
    uint32_t n = d->problem->trace->n_events, reached = 0;
    memset(s->outgoing, 0, ((size_t)n + 2) * sizeof *s->outgoing);
    for (uint32_t e = 0; e < n; e++) {
        if (!s->reached[e]) continue;
        reached++;
        s->waiting[e] = 0;
        each_predecessor(d, e, count_edge, s);
    }
    for (uint32_t e = 0; e < n; e++) s->outgoing[e + 2] += s->outgoing[e + 1];
    ft_vec_reserve(&s->targets, (size_t)s->outgoing[n + 1] + 1);
    for (uint32_t e = 0; e < n; e++)
        if (s->reached[e]) each_predecessor(d, e, place_edge, s);
    return reached;
}

static void drop_passed(struct ft_schedule *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->order.len; i++) {
        uint32_t e = s->order.data[i];
        if (!s->executed[e]) continue;
        s->place[e] = (uint32_t)kept;
        s->order.data[kept++] = e;
    }
    s->order.len = kept;
}

static bool sort_topologically(ft_decider *d)
{
    struct ft_schedule *s = d->schedule;
    uint32_t reached = build_graph(d);
    s->order.len = s->heap.len = 0;
    for (uint32_t e = 0; e < d->problem->trace->n_events; e++)
        if (s->reached[e] && s->waiting[e] == 0) heap_push(s, e);
    while (s->heap.len > 0) {
        uint32_t e = heap_pop(s);
        s->place[e] = (uint32_t)s->order.len;
        s->waiting[e] = UINT32_MAX; /* placed */
        ft_vec_push(&s->order, e);
        for (uint32_t i = s->outgoing[e]; i < s->outgoing[e + 1]; i++) {
            uint32_t to = s->targets.data[i];
            assert(s->waiting[to] > 0 && s->waiting[to] != UINT32_MAX);
            if (--s->waiting[to] == 0) heap_push(s, to);
        }
    }
    if (s->order.len != reached) return false;
    if (s->reached != s->executed) drop_passed(s);
    return true;
}

static int by_key(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* The model of a bounded query has the whole order: the events of a segment are of one thread. */
static void sort_by_segments(ft_decider *d)
{
    struct ft_schedule *s = d->schedule;
    FT_VEC(uint64_t) keys = {0};
    for (uint32_t e = 0; e < d->problem->trace->n_events; e++)
        if (s->executed[e]) ft_vec_push(&keys, (uint64_t)ft_bound_segment(d, e) << 32 | e);
    if (keys.len) qsort(keys.data, keys.len, sizeof *keys.data, by_key);
    s->order.len = 0;
    for (size_t i = 0; i < keys.len; i++) {
        s->place[(uint32_t)keys.data[i]] = (uint32_t)i;
        ft_vec_push(&s->order, (uint32_t)keys.data[i]);
    }
    ft_vec_release(&keys);
}

/* ---- cycles ---- */

typedef struct cycle_step {
    const struct ft_schedule *s;
    uint32_t from;
    ft_lit literal;
} cycle_step;

static void pick_unplaced(void *context, uint32_t a, uint32_t b, ft_lit literal)
{
    cycle_step *step = context;
    (void)b;
    if (step->s->waiting[a] == UINT32_MAX) return;
    /* Hard edges first: they add no literal to the lemma. */
    if (step->from != FT_NO_EVENT && literal != FT_LIT_TRUE) return;
    step->from = a;
    step->literal = literal;
}

static cycle_step step_back(const ft_decider *d, uint32_t e)
{
    cycle_step step = {.s = d->schedule, .from = FT_NO_EVENT, .literal = FT_LIT_TRUE};
    each_predecessor(d, e, pick_unplaced, &step);
    return step;
}

/* Among events that could not be placed, every one has an unplaced predecessor: walking back must
 * close a cycle. Its order atoms cannot all hold. */
static void cut_cycle(ft_decider *d, uint32_t start)
{
    struct ft_schedule *s = d->schedule;
    FT_VEC(ft_lit) clause = {0};
    uint32_t e = start, stamp = ++s->stamp;
    while (s->mark[e] != stamp) {
        s->mark[e] = stamp;
        e = step_back(d, e).from;
        assert(e != FT_NO_EVENT);
    }
    uint32_t head = e;
    do {
        cycle_step step = step_back(d, e);
        if (step.literal != FT_LIT_TRUE) ft_vec_push(&clause, -step.literal);
        e = step.from;
    } while (e != head);
    ft_partial_clause(d, clause.data, (uint32_t)clause.len);
    ft_vec_release(&clause);
}

/* One cycle per thread's first unplaced event: several cuts a round save rounds. */
static void cut_cycles(ft_decider *d)
{
    struct ft_schedule *s = d->schedule;
    const ft_order *order = d->problem->order;
    for (uint32_t t = 0; t < order->n_threads; t++) {
        for (uint32_t i = order->thread_start[t]; i < order->thread_start[t + 1]; i++) {
            uint32_t e = order->thread_events[i];
            if (!s->reached[e]) break;
            if (s->waiting[e] == UINT32_MAX) continue;
            cut_cycle(d, e);
            break;
        }
    }
}

/* ---- what the schedule breaks ---- */

static bool writes_now(const ft_decider *d, const ft_query *query, uint32_t w)
{
    if (w == query->extra) return ft_session_true(d->session, query->extra_writes);
    return d->schedule->executed[w];
}

/* Where the other write is the query's extra event, it counts only if its writes take place. */
static ft_lemma between(const ft_decider *d, const ft_query *query, const ft_source *chosen,
                        uint32_t reader, uint32_t other)
{
    ft_lemma lemma = ft_partial_between(d, chosen->from, chosen->write, reader, other);
    if (other != query->extra) return lemma;
    lemma.premise[1] = query->extra_writes;
    lemma.premise[lemma.n_premises++] = query->active;
    return lemma;
}

/* Adds a lemma for each executed write of the variable between the source and the reader. */
static uint32_t separate(ft_decider *d, const ft_query *query, const ft_source *chosen,
                         uint32_t reader, uint32_t variable)
{
    const struct ft_schedule *s = d->schedule;
    uint32_t added = 0, w = chosen->write;
    assert(w == FT_NO_EVENT || s->executed[w]);
    uint32_t from = w == FT_NO_EVENT ? 0 : s->place[w] + 1;
    uint32_t until = reader == FT_NO_EVENT ? (uint32_t)s->order.len : s->place[reader];
    for (uint32_t i = d->writer_first[variable]; i < d->writer_first[variable + 1]; i++) {
        uint32_t other = d->writers[i];
        if (other == w || other == reader || !s->executed[other]) continue;
        if (s->place[other] < from || s->place[other] >= until) continue;
        if (!writes_now(d, query, other)) continue;
        ft_lemma lemma = between(d, query, chosen, reader, other);
        added += ft_partial_lemma(d, &lemma);
    }
    return added;
}

static uint32_t repair_event_reads(ft_decider *d, const ft_query *query, uint32_t e)
{
    const struct ft_schedule *s = d->schedule;
    uint32_t added = 0;
    for (uint32_t i = d->read_first[e]; i < d->read_first[e + 1]; i++) {
        const ft_read *read = &d->reads.data[i];
        if (read->chosen == UINT32_MAX) continue;
        ft_source chosen = d->sources.data[read->chosen];
        if (s->last_writer[read->variable] != chosen.write)
            added += separate(d, query, &chosen, e, read->variable);
    }
    for (size_t i = 0; e == query->extra && i < query->reads.len; i++) {
        const ft_ghost_read *read = &query->reads.data[i];
        if (read->at != e || read->chosen == UINT32_MAX) continue;
        ft_source chosen = query->sources.data[read->chosen];
        if (s->last_writer[read->variable] != chosen.write)
            added += separate(d, query, &chosen, e, read->variable);
    }
    return added;
}

static uint32_t repair_final_reads(ft_decider *d, const ft_query *query)
{
    uint32_t added = 0;
    for (size_t i = 0; i < query->reads.len; i++) {
        const ft_ghost_read *read = &query->reads.data[i];
        if (read->at != FT_NO_EVENT || read->chosen == UINT32_MAX) continue;
        ft_source chosen = query->sources.data[read->chosen];
        if (d->schedule->last_writer[read->variable] != chosen.write)
            added += separate(d, query, &chosen, FT_NO_EVENT, read->variable);
    }
    return added;
}

static uint32_t repair_lock(ft_decider *d, uint32_t e)
{
    struct ft_schedule *s = d->schedule;
    uint32_t section = d->problem->order->section_of[e];
    if (section == FT_NO_SECTION || ft_fault_is(FT_FAULT_NO_MUTEX)) return 0;
    open_sections *open = &s->open[d->problem->trace->object[e]];
    const ft_section *all = d->problem->order->sections.data;
    bool opens = d->problem->trace->kind[e] != FT_EVENT_RELEASE;
    uint32_t added = 0;
    size_t kept = 0;
    for (size_t i = 0; i < open->len; i++) {
        uint32_t other = open->data[i];
        bool conflicts = opens && ft_order_conflict(&all[other], &all[section]);
        if (conflicts) added += ft_partial_keep_apart(d, other, section);
        /* After a conflict the later one counts, as if the other had been closed. A release ends
         * its thread's section, which need not be that of section_of (ft_section, otherwise). */
        bool own = all[other].thread == all[section].thread;
        if (!own && !conflicts) open->data[kept++] = other;
    }
    open->len = kept;
    if (opens) ft_vec_push(open, section);
    return added;
}

static void note_writes(ft_decider *d, const ft_query *query, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(d->problem->trace, e, &scratch, &count);
    if (count == 0 || !writes_now(d, query, e)) return;
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].write) d->schedule->last_writer[accesses[i].variable] = e;
}

static uint32_t repair(ft_decider *d, const ft_query *query)
{
    struct ft_schedule *s = d->schedule;
    uint32_t added = 0;
    memset(s->last_writer, 0xff, (size_t)d->problem->trace->shared.len * sizeof *s->last_writer);
    for (uint32_t l = 0; l < s->n_locks; l++) s->open[l].len = 0;
    for (size_t i = 0; i < s->order.len; i++) {
        uint32_t e = s->order.data[i];
        if (!ft_fault_is(FT_FAULT_NO_BETWEEN)) added += repair_event_reads(d, query, e);
        added += repair_lock(d, e);
        note_writes(d, query, e);
    }
    return added + repair_final_reads(d, query);
}

/* The order has each executed event once, a thread's in program order, after its hard sources, and
 * agrees with every edge that a constraint asked for. */
static bool order_is_linear(const ft_decider *d)
{
    const struct ft_schedule *s = d->schedule;
    size_t executed = 0;
    for (uint32_t e = 0; e < d->problem->trace->n_events; e++) {
        const uint32_t *sources;
        if (!s->executed[e]) continue;
        executed++;
        if (s->place[e] >= s->order.len || s->order.data[s->place[e]] != e) return false;
        uint32_t previous = ft_order_previous(d->problem->order, e);
        while (previous != FT_NO_EVENT && !s->executed[previous])
            previous = ft_order_previous(d->problem->order, previous);
        if (previous != FT_NO_EVENT && s->place[previous] >= s->place[e]) return false;
        uint32_t count = ft_order_hard_sources(d->problem->order, e, &sources);
        for (uint32_t i = 0; i < count; i++)
            if (s->executed[sources[i]] && s->place[sources[i]] >= s->place[e]) return false;
        for (uint32_t i = s->incoming[e]; i != UINT32_MAX; i = s->edges.data[i].next)
            if (s->place[s->edges.data[i].from] >= s->place[e]) return false;
    }
    return executed == s->order.len;
}

ft_linear ft_linearise(ft_decider *d, ft_query *query, const uint32_t **order, uint32_t *count)
{
    FT_REQUIRE(query && order && count);
    struct ft_schedule *s = d->schedule;
    s->edges.len = 0;
    read_members(d, query);
    add_read_edges(d, query);
    add_lemma_edges(d);
    if (query->bounded) {
        sort_by_segments(d);
    } else if (!sort_topologically(d)) {
        cut_cycles(d);
        return FT_LINEAR_REFINED;
    }
    FT_CHECK(order_is_linear(d));
    if (repair(d, query) > 0) return FT_LINEAR_REFINED;
    *order = s->order.data;
    *count = (uint32_t)s->order.len;
    return FT_LINEAR_DONE;
}
