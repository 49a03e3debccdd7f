#include "cover/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "cover/faults.h"
#include "cover/run.h"

void cover_graph_init(cover_graph *g, cover_world *world, ft_sym_state *state, cover_trace *trace)
{
    *g = (cover_graph){.world = world, .state = state, .trace = trace};
}

void cover_graph_release(cover_graph *g)
{
    ft_vec_release(&g->clocks);
    ft_vec_release(&g->chains);
    ft_vec_release(&g->rounds);
    ft_vec_release(&g->before);
}

/* ---- edges ---- */

static void after(cover_graph *g, uint32_t operation_1)
{
    if (operation_1) ft_vec_push(&g->before, operation_1 - 1);
}

static bool is_behind(const cover_graph *g, uint32_t a, uint32_t b) /* a = b: false */
{
    const cover_operation *o = &g->trace->operations.data[b];
    return a != b && g->clocks.data[a].of[o->thread] >= g->clocks.data[b].of[o->thread];
}

/* Does the edge follow from the thread's order or from another edge? */
static bool follows(const cover_graph *g, uint32_t thread, size_t i)
{
    uint32_t own = g->trace->threads[thread].last_operation, b = g->before.data[i];
    if (g->trace->operations.data[b].thread == thread) return true;
    if (own && is_behind(g, own - 1, b)) return true;
    for (size_t k = 0; k < g->before.len; k++) {
        uint32_t a = g->before.data[k];
        if (a == b ? k < i : is_behind(g, a, b)) return true;
    }
    return false;
}

/* Adds the operation behind those in `before`. */
static uint32_t put(cover_graph *g, cover_operation o)
{
    cover_trace *t = g->trace;
    cover_thread *th = &t->threads[o.thread];
    cover_clock clock = {{0}};
    uint32_t number = (uint32_t)t->operations.len;
    if (th->last_operation) clock = g->clocks.data[th->last_operation - 1];
    o.edges = (uint32_t)t->edges.len;
    for (size_t i = 0; i < g->before.len; i++) {
        const cover_clock *c = &g->clocks.data[g->before.data[i]];
        for (int k = 0; k < FT_SYM_THREADS; k++)
            if (clock.of[k] < c->of[k]) clock.of[k] = c->of[k];
        if (follows(g, o.thread, i)) continue;
        ft_vec_push(&t->edges, g->before.data[i]);
        o.n_edges++;
    }
    clock.of[o.thread] = ++g->counts[o.thread];
    ft_vec_push(&g->clocks, clock);
    ft_vec_push(&t->operations, o);
    th->last_operation = number + 1;
    g->before.len = 0;
    return number;
}

static cover_operation operation_of(const cover_graph *g, uint32_t thread, ft_node_kind kind,
                                    const ft_sym_place *place)
{
    ft_position nowhere = {FT_NO_FILE, 0, 0};
    return (cover_operation){.position = place ? ft_sym_position(g->state, thread) : nowhere,
                             .kind = (uint8_t)kind,
                             .thread = thread,
                             .peer = FT_NO_ID,
                             .object = FT_NO_ID,
                             .other = FT_NO_ID,
                             .function = place ? place->function : FT_NO_SYMBOL,
                             .instruction = place ? place->instruction : 0};
}

/* ---- objects ---- */

static cover_chain *chain_of(cover_graph *g, uint32_t object, uint64_t at)
{
    for (size_t i = 0; i < g->chains.len; i++)
        if (g->chains.data[i].object == object && g->chains.data[i].at == at)
            return &g->chains.data[i];
    ft_vec_push(&g->chains, (cover_chain){.object = object, .at = at});
    return &g->chains.data[g->chains.len - 1];
}

/* Atomics are ordered by cells of 8 bytes, so that those that overlap are. */
static bool is_atomic(ft_node_kind kind)
{
    return kind >= FT_NODE_ATOMIC_LOAD && kind <= FT_NODE_ATOMIC_SWAP;
}

static void locate(cover_graph *g, ft_node_kind kind, uint64_t address, uint32_t *object,
                   uint64_t *at)
{
    if (!ft_sym_object_around(g->state, address, object)) return (void)(*object = FT_NO_ID);
    *at = address - ft_sym_object_made(g->state, *object).base;
    if (is_atomic(kind)) *at &= ~UINT64_C(7);
}

/* ---- barriers ---- */

/* `last`: of its round. */
static void arrive(cover_graph *g, cover_chain *c, const cover_operation *o, bool last)
{
    cover_thread *th = &g->trace->threads[o->thread];
    after(g, c->last);
    if (c->previous && !cover_fault_is(COVER_FAULT_ROUNDS))
        for (uint32_t i = 0; i < g->rounds.data[c->previous - 1].n; i++)
            after(g, g->rounds.data[c->previous - 1].arrivals[i] + 1);
    uint32_t number = put(g, *o);
    g->trace->operations.data[number].last = last;
    if (!c->round) {
        ft_vec_push(&g->rounds, (cover_round){0});
        c->round = (uint32_t)g->rounds.len;
        if (!c->first) c->first = c->round;
    }
    cover_round *round = &g->rounds.data[c->round - 1];
    round->arrivals[round->n++] = number;
    th->round = c->round;
    if (!last) return;
    c->previous = c->round;
    c->round = 0;
}

/* The round that ends first in the epoch: of threads that have arrived before it. */
static const cover_round *first_round(const cover_graph *g, const cover_chain *c)
{
    return c->first ? &g->rounds.data[c->first - 1] : NULL;
}

static void leave(cover_graph *g, const cover_chain *c, const cover_operation *o)
{
    uint32_t number = g->trace->threads[o->thread].round; /* 0: it has arrived before the epoch */
    const cover_round *round = number ? &g->rounds.data[number - 1] : first_round(g, c);
    for (uint32_t i = 0; round && i < round->n; i++) after(g, round->arrivals[i] + 1);
    put(g, *o);
}

/* Initialising and destroying a barrier are ordered with all that was done with it. */
static void after_all(cover_graph *g, const cover_operation *o)
{
    for (uint32_t i = 0; i < g->trace->operations.len; i++) {
        const cover_operation *other = &g->trace->operations.data[i];
        if (other->object == o->object && other->at == o->at) after(g, i + 1);
    }
}

static bool add_to_barrier(cover_graph *g, cover_chain *c, const cover_operation *o,
                           uint64_t address)
{
    ft_sym_object object = ft_sym_object_at(g->state, address);
    switch (o->kind) {
    case FT_NODE_ARRIVE:
        arrive(g, c, o, object.count + 1 == object.total);
        return true;
    case FT_NODE_LEAVE:
        leave(g, c, o);
        return true;
    case FT_NODE_BARRIER_INIT:
    case FT_NODE_BARRIER_DESTROY:
        after_all(g, o);
        return false;
    default:
        return false;
    }
}

/* ---- what else orders ---- */

static void wake_all(cover_graph *g, uint64_t waiters, uint32_t by)
{
    for (uint32_t t = 0; t < FT_SYM_THREADS; t++)
        if (waiters >> t & 1) g->woken[t] = by + 1;
}

/* What comes before by other rules than that of the object. */
static void after_peer(cover_graph *g, cover_operation *o, const ft_sym_operation *operation,
                       uint64_t variant)
{
    switch (o->kind) {
    case FT_NODE_CREATE:
        o->peer = (uint32_t)variant - 1;
        break;
    case FT_NODE_JOIN:
    case FT_NODE_DETACH:
        o->peer = operation->object < FT_SYM_THREADS ? (uint32_t)operation->object : FT_NO_ID;
        if (o->peer == FT_NO_ID) break;
        after(g, g->created[o->peer]);
        if (o->kind == FT_NODE_JOIN) after(g, g->ended[o->peer]);
        break;
    case FT_NODE_SIGNAL:
        if (variant) o->peer = (uint32_t)variant - 1;
        break;
    case FT_NODE_WAKE:
    case FT_NODE_TIMED_WAKE:
        if (!o->timed_out) after(g, g->woken[o->thread]);
        break;
    default:
        break;
    }
}

/* What the operation, which has its number now, is to later ones. */
static void hand_on(cover_graph *g, const cover_operation *o, uint32_t number, uint64_t waiters)
{
    if (o->kind == FT_NODE_CREATE || o->kind == FT_NODE_DETACH || o->kind == FT_NODE_JOIN)
        if (o->peer != FT_NO_ID) g->created[o->peer] = number + 1;
    if (o->kind == FT_NODE_SIGNAL && o->peer != FT_NO_ID) g->woken[o->peer] = number + 1;
    if (o->kind == FT_NODE_BROADCAST) wake_all(g, waiters, number);
}

static bool is_object(const cover_graph *g, uint64_t address)
{
    uint32_t object;
    return ft_sym_object_around(g->state, address, &object);
}

bool cover_graph_takes(const cover_graph *g, ft_node_kind kind, const ft_sym_operation *operation)
{
    const ft_node_row *row = ft_node_row_of(kind);
    bool waits = row->code == FT_CODE_WAIT || row->code == FT_CODE_TIMED_WAIT;
    bool joins = kind == FT_NODE_JOIN || kind == FT_NODE_DETACH;
    return (!row->object || is_object(g, operation->object)) &&
           (!waits || is_object(g, operation->other)) &&
           (!joins || operation->object < ft_sym_thread_count(g->state));
}

void cover_graph_add(cover_graph *g, uint32_t thread, ft_node_kind kind,
                     const ft_sym_operation *operation, uint64_t variant)
{
    const ft_node_row *row = ft_node_row_of(kind);
    cover_operation o = operation_of(g, thread, kind, &operation->place);
    bool timed =
        kind == FT_NODE_TIMED_LOCK || kind == FT_NODE_SEM_TIMED || kind == FT_NODE_TIMED_WAKE;
    bool waits = row->code == FT_CODE_WAIT || row->code == FT_CODE_TIMED_WAIT;
    o.timed_out = timed && variant;
    if (row->object) locate(g, kind, operation->object, &o.object, &o.at);
    if (waits) locate(g, kind, operation->other, &o.other, &o.other_at);
    after_peer(g, &o, operation, variant);
    cover_chain *c = o.object == FT_NO_ID ? NULL : chain_of(g, o.object, o.at);
    size_t own = c ? (size_t)(c - g->chains.data) : 0;
    if (c && add_to_barrier(g, c, &o, operation->object)) return;
    bool woken = (kind == FT_NODE_WAKE || kind == FT_NODE_TIMED_WAKE) && !o.timed_out;
    bool condition = row->code == FT_CODE_WAIT || row->code == FT_CODE_SIGNAL;
    bool leaves_out = (cover_fault_is(COVER_FAULT_USUAL_EDGES) && condition) ||
                      (cover_fault_is(COVER_FAULT_NO_LOCK_EDGES) && kind == FT_NODE_LOCK);
    if (c && !woken && !leaves_out) after(g, c->last);
    cover_chain *mutex = o.other == FT_NO_ID ? NULL : chain_of(g, o.other, o.other_at);
    if (mutex) after(g, mutex->last);
    uint64_t waiters = ft_sym_object_at(g->state, operation->object).waiters;
    uint32_t number = put(g, o);
    if (c && !woken) g->chains.data[own].last = number + 1;
    if (mutex) mutex->last = number + 1;
    hand_on(g, &o, number, waiters);
}

void cover_graph_begin(cover_graph *g, uint32_t thread)
{
    after(g, g->created[thread]);
    put(g, operation_of(g, thread, FT_NODE_BEGIN, NULL));
}

void cover_graph_end(cover_graph *g, uint32_t thread)
{
    g->ended[thread] = put(g, operation_of(g, thread, FT_NODE_END, NULL)) + 1;
}

/* Without prefixes the end of the process waits for all that was done before. */
void cover_graph_exit(cover_graph *g, uint32_t thread, const ft_sym_place *place)
{
    bool waits = !g->world->control.prefix && !cover_fault_is(COVER_FAULT_NO_EXIT_EDGES);
    for (uint32_t t = 0; t < g->trace->n_threads && waits; t++)
        if (t != thread) after(g, g->trace->threads[t].last_operation);
    put(g, operation_of(g, thread, FT_NODE_EXIT, place));
}

/* ---- schedules ---- */

typedef struct making {
    const cover_world *world;
    const ft_sym_state *state;
    const cover_trace *trace;
    ft_schedule_set *set;
    ft_schedule *schedule;
    uint32_t threads[FT_SYM_THREADS]; /* in the schedule, + 1 */
    uint32_t *numbers;                /* by operation: its node + 1 */
    FT_VEC(uint32_t) made;            /* objects of threads, ascending, that have nodes */
} making;

static uint32_t thread_of(making *k, uint32_t thread)
{
    if (!k->threads[thread]) {
        ft_strbuf name = {0};
        cover_world_thread_name(k->world, thread, &name);
        ft_vec_push(&k->schedule->threads, ft_schedule_text(k->set, name.text));
        k->threads[thread] = (uint32_t)k->schedule->threads.len;
        ft_strbuf_release(&name);
    }
    return k->threads[thread] - 1;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Objects have ascending numbers as they are made. */
static void list_made(making *k)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->trace->operations.len; i++) {
        const cover_operation *o = &k->trace->operations.data[i];
        if (o->object != FT_NO_ID) ft_vec_push(&k->made, o->object);
        if (o->other != FT_NO_ID) ft_vec_push(&k->made, o->other);
    }
    if (k->made.len) qsort(k->made.data, k->made.len, sizeof *k->made.data, by_number);
    for (size_t i = 0; i < k->made.len; i++)
        if (!kept || k->made.data[kept - 1] != k->made.data[i])
            k->made.data[kept++] = k->made.data[i];
    k->made.len = kept;
}

/* Which of its maker's objects of that kind it is, from 1. */
static uint32_t number_of(const making *k, uint32_t object, const ft_sym_made *made)
{
    uint32_t n = 1;
    for (size_t i = 0; i < k->made.len && k->made.data[i] < object; i++) {
        ft_sym_made other = ft_sym_object_made(k->state, k->made.data[i]);
        n += other.symbol == FT_NO_SYMBOL && other.thread == made->thread &&
             other.heap == made->heap;
    }
    return n;
}

static uint32_t object_of(making *k, uint32_t object, uint64_t at)
{
    if (object == FT_NO_ID) return FT_NO_ID;
    ft_sym_made made = ft_sym_object_made(k->state, object);
    ft_strbuf name = {0};
    if (made.symbol == FT_NO_SYMBOL) ft_strbuf_puts(&name, made.heap ? "heap:" : "stack:");
    if (made.thread != FT_NO_ID) cover_world_thread_name(k->world, made.thread, &name);
    if (made.symbol == FT_NO_SYMBOL)
        ft_strbuf_printf(&name, "#%u", number_of(k, object, &made));
    else
        ft_strbuf_printf(&name, "@%s", ft_program_symbol_name(k->world->program, made.symbol));
    ft_strbuf_printf(&name, "+%" PRIu64, at);
    uint32_t text = ft_schedule_text(k->set, name.text), i = 0;
    ft_strbuf_release(&name);
    while (i < k->schedule->objects.len && k->schedule->objects.data[i] != text) i++;
    if (i == k->schedule->objects.len) ft_vec_push(&k->schedule->objects, text);
    return i;
}

static void add_place(making *k, const cover_operation *o, ft_node *node)
{
    node->function = node->file = FT_NO_ID;
    if (o->function == FT_NO_SYMBOL) return;
    const ft_program *p = k->world->program;
    const ft_position *at = &o->position;
    node->function = ft_schedule_text(k->set, ft_program_symbol_name(p, o->function));
    node->instruction = o->instruction;
    if (at->file == FT_NO_FILE) return;
    node->file = ft_schedule_text(k->set, p->files.names[at->file]);
    node->line = at->line;
    node->column = at->column;
}

static void add_node(making *k, uint32_t operation)
{
    const cover_operation *o = &k->trace->operations.data[operation];
    ft_schedule *s = k->schedule;
    ft_node node = {.kind = o->kind,
                    .timed_out = o->timed_out,
                    .thread = thread_of(k, o->thread),
                    .object = object_of(k, o->object, o->at),
                    .other = object_of(k, o->other, o->other_at),
                    .peer = o->peer == FT_NO_ID ? FT_NO_ID : thread_of(k, o->peer),
                    .edges = (uint32_t)s->edges.len,
                    .n_edges = o->n_edges};
    add_place(k, o, &node);
    for (uint32_t i = 0; i < o->n_edges; i++)
        ft_vec_push(&s->edges, k->numbers[k->trace->edges.data[o->edges + i]] - 1);
    if (s->edges.len)
        qsort(s->edges.data + node.edges, node.n_edges, sizeof *s->edges.data, by_number);
    ft_vec_push(&s->nodes, node);
    k->numbers[operation] = (uint32_t)s->nodes.len;
}

/* The arrival that a schedule lists last of a round is the one that barrier_wait says so. */
static bool is_awaited(const making *k, uint32_t operation)
{
    const cover_operation *all = k->trace->operations.data, *o = &all[operation];
    if (!o->last || !k->world->orders_arrivals) return false;
    for (uint32_t i = 0; i < operation; i++)
        if (all[i].kind == FT_NODE_ARRIVE && all[i].object == o->object && all[i].at == o->at &&
            !k->numbers[i])
            return true;
    return false;
}

static bool is_ready(const making *k, uint32_t operation)
{
    const cover_operation *o = &k->trace->operations.data[operation];
    if (is_awaited(k, operation)) return false;
    for (uint32_t i = 0; i < o->n_edges; i++)
        if (!k->numbers[k->trace->edges.data[o->edges + i]]) return false;
    return true;
}

/* The first thread goes on as long as it can, then the next: so equal graphs are equal lists. With
 * dynamic inputs the order of the path: what comes before an input is read does not depend on it.
 */
static void add_nodes(making *k)
{
    const cover_trace *t = k->trace;
    uint32_t n = (uint32_t)t->operations.len;
    for (uint32_t i = 0; i < n && cover_world_is_tree(k->world); i++) add_node(k, i);
    if (cover_world_is_tree(k->world)) return;
    uint32_t *next = ft_alloc(FT_SYM_THREADS * sizeof *next);
    for (uint32_t i = 0; i < FT_SYM_THREADS; i++)
        for (next[i] = 0; next[i] < n && t->operations.data[next[i]].thread != i;) next[i]++;
    while (k->schedule->nodes.len < n) {
        size_t before = k->schedule->nodes.len;
        for (uint32_t i = 0; i < t->n_threads; i++)
            while (next[i] < n && is_ready(k, next[i])) {
                add_node(k, next[i]);
                do next[i]++;
                while (next[i] < n && t->operations.data[next[i]].thread != i);
            }
        assert(k->schedule->nodes.len > before);
    }
    free(next);
}

void cover_graph_schedule(const cover_world *world, const ft_sym_state *state,
                          const cover_trace *trace, ft_schedule_end end, ft_schedule_set *set,
                          ft_schedule *schedule)
{
    *schedule = (ft_schedule){.name = FT_NO_ID, .end = (uint8_t)end, .next = FT_NO_ID};
    making k = {.world = world, .state = state, .trace = trace, .set = set, .schedule = schedule};
    k.numbers = ft_calloc(trace->operations.len + 1, sizeof *k.numbers);
    list_made(&k);
    add_nodes(&k);
    ft_vec_release(&k.made);
    free(k.numbers);
}
