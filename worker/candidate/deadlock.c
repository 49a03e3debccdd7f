/* Deadlocks: cycles of requests over distinct threads, and threads that wait for a wake-up.
 *
 * A request asks for a lock, for the end of an initialiser, or (in traces with initialisers) for
 * the end of a thread. Whether another thread holds it at its own request depends on that thread's
 * earlier events alone. Requests that no pass can tell apart form a class: same thread, segment,
 * locks held, initialisers under way, object asked for, location and, in a wrapper of a lock, call
 * of the wrapper. Cycles are
 * enumerated over classes, and a cycle of classes stands for the product of their events. A lock
 * that two of the requests hold both (a guard lock) refutes a cycle. A request for writing of a
 * writer-preferring lock counts as a holder of that lock for the readers that ask for it.
 *
 * A cycle of locks and joins alone is left to the joins (FT_LISTED_JOIN). */
#include <stdlib.h>
#include <string.h>

#include "candidate/components.h"
#include "candidate/listed.h"
#include "candidate/wrappers.h"

/* Cycles of classes, and steps of the search for them, a job; beyond: reported as undecided. */
enum { MAX_CYCLES = 100000, MAX_STEPS = 20000000 };

/* A class of requests whose thread holds a resource that others may ask for. */
typedef struct holding {
    uint32_t resource, class;
} holding;

typedef struct search {
    ft_candidates *c;
    ft_map index;    /* class key -> request class */
    uint32_t *epoch; /* [n_events] tells apart which initialisers are under way in the event's
                        thread, 0: none; NULL: never any */
    bool *joined;    /* per thread: a thread that others may wait for joins it */
    FT_VEC(holding) all;
    uint32_t *holder_first; /* [resources + 1] slices of holders; resources are locks, then once
                               objects, then threads */
    uint32_t *holders;      /* classes that hold the resource */
    uint32_t *component;    /* [resources] equal: on a cycle together */
    uint32_t path[FT_CLAIM_MAX_EVENTS], depth;
    uint64_t steps, cycles;
} search;

/* ---- request classes ---- */

/* Within a thread: how many initialisers began and ended before, where one is under way. */
static void number_epochs(search *s)
{
    const ft_trace *trace = s->c->trace;
    if (!trace->onces.len) return;
    uint32_t *seen = ft_calloc((size_t)trace->threads.len + 1, sizeof *seen);
    uint32_t *open = ft_calloc((size_t)trace->threads.len + 1, sizeof *open);
    s->epoch = ft_calloc((size_t)trace->n_events + 1, sizeof *s->epoch);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t t = trace->thread[e];
        if (open[t]) s->epoch[e] = seen[t];
        if (trace->kind[e] == FT_EVENT_ONCE_BEGIN) seen[t]++, open[t]++;
        if (trace->kind[e] == FT_EVENT_ONCE_END && open[t]) seen[t]++, open[t]--;
    }
    free(seen);
    free(open);
}

static uint32_t epoch_of(const search *s, uint32_t e)
{
    return s->epoch ? s->epoch[e] : 0;
}

/* A request to write keeps readers of a writer-preferring lock waiting, whatever its thread holds.
 */
static bool keeps_readers_waiting(const search *s, uint32_t e)
{
    const ft_trace *trace = s->c->trace;
    return trace->kind[e] == FT_EVENT_ACQUIRE &&
           trace->lock_kind[trace->object[e]] == FT_LOCK_WRITER_PREFERRING;
}

/* May another thread wait for a resource of e's thread, or for that thread itself? */
static bool is_waited_for(const search *s, uint32_t e)
{
    const ft_order *order = s->c->order;
    return order->holds.data[order->hold[e]].count > 0 || epoch_of(s, e) ||
           s->joined[s->c->trace->thread[e]] || keeps_readers_waiting(s, e);
}

static void find_joined(search *s)
{
    const ft_trace *trace = s->c->trace;
    FT_VEC(uint32_t) joins = {0};
    s->joined = ft_calloc((size_t)trace->threads.len + 1, sizeof *s->joined);
    for (uint32_t e = 0; trace->onces.len && e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_JOIN) ft_vec_push(&joins, e);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < joins.len; i++) {
            bool *joined = &s->joined[trace->object[joins.data[i]]];
            if (*joined || !is_waited_for(s, joins.data[i])) continue;
            *joined = changed = true;
        }
    }
    ft_vec_release(&joins);
}

/* A reader of a writer-preferring lock that takes it again waits for a writer that waits. */
static bool reads_again(const search *s, uint32_t e)
{
    const ft_order *order = s->c->order;
    if (!ft_order_reads_behind(s->c->trace, e)) return false;
    uint32_t own = ft_order_section_at(order, e, s->c->trace->object[e]);
    return own != FT_NO_SECTION && order->sections.data[own].shared;
}

static bool asks(const search *s, uint32_t e)
{
    const ft_trace *trace = s->c->trace;
    if (trace->flags[e] & FT_FLAG_TRY) return false;
    switch (trace->kind[e]) {
    case FT_EVENT_ACQUIRE:
    case FT_EVENT_ACQUIRE_SHARED:
        if (reads_again(s, e)) return true;
        return ft_order_effective(trace, e) &&
               ft_order_section_at(s->c->order, e, trace->object[e]) == FT_NO_SECTION;
    case FT_EVENT_ONCE_PASS:
    case FT_EVENT_JOIN:
        return trace->onces.len > 0;
    default:
        return false;
    }
}

static bool is_request(const search *s, uint32_t e)
{
    return asks(s, e) && is_waited_for(s, e) && !ft_candidates_skipped(s->c, e);
}

static bool same_class(const search *s, const ft_request_class *class, uint32_t e)
{
    const ft_candidates *c = s->c;
    const ft_trace *trace = c->trace;
    uint32_t other = class->events.data[0];
    return trace->thread[other] == trace->thread[e] && trace->kind[other] == trace->kind[e] &&
           trace->object[other] == trace->object[e] && trace->loc[other] == trace->loc[e] &&
           c->order->segment[other] == c->order->segment[e] &&
           ft_order_lockset(c->order, other) == ft_order_lockset(c->order, e) &&
           epoch_of(s, other) == epoch_of(s, e) &&
           ft_helper_call(c->order, other) == ft_helper_call(c->order, e);
}

static void add_request(search *s, uint32_t e)
{
    ft_candidates *c = s->c;
    const ft_trace *trace = c->trace;
    uint32_t words[] = {
        trace->object[e], trace->loc[e],  c->order->segment[e],       ft_order_lockset(c->order, e),
        trace->kind[e],   epoch_of(s, e), ft_helper_call(c->order, e)};
    for (uint64_t key = ft_hash_bytes(words, sizeof words, 11);; key++) {
        bool inserted;
        uint64_t *slot = ft_map_slot(&s->index, key, c->requests.len, &inserted);
        if (inserted) ft_vec_push(&c->requests, (ft_request_class){0});
        ft_request_class *class = &c->requests.data[*slot];
        if (!inserted && !same_class(s, class, e)) continue;
        ft_vec_push(&class->events, e);
        return;
    }
}

static uint32_t sample(const search *s, uint32_t class)
{
    return s->c->requests.data[class].events.data[0];
}

static ft_hold hold_of(const search *s, uint32_t class)
{
    return s->c->order->holds.data[s->c->order->hold[sample(s, class)]];
}

static const ft_section *held_section(const search *s, ft_hold hold, uint32_t i)
{
    const ft_order *order = s->c->order;
    return &order->sections.data[order->hold_sections.data[hold.first + i]];
}

/* ---- resources and their holders ---- */

static uint32_t resource_of(const search *s, uint32_t class)
{
    const ft_trace *trace = s->c->trace;
    uint32_t e = sample(s, class), object = trace->object[e];
    if (trace->kind[e] == FT_EVENT_ONCE_PASS) return trace->locks.len + object;
    if (trace->kind[e] == FT_EVENT_JOIN) return trace->locks.len + trace->onces.len + object;
    return object;
}

static void list_holdings(search *s, uint32_t class)
{
    const ft_trace *trace = s->c->trace;
    uint32_t e = sample(s, class), locks = trace->locks.len, onces = trace->onces.len;
    ft_hold hold = hold_of(s, class);
    for (uint32_t i = 0; i < hold.count; i++)
        ft_vec_push(&s->all, (holding){held_section(s, hold, i)->lock, class});
    for (uint32_t o = 0; epoch_of(s, e) && o < onces; o++)
        if (ft_order_initialises(s->c->order, e, o))
            ft_vec_push(&s->all, (holding){locks + o, class});
    if (s->joined[trace->thread[e]])
        ft_vec_push(&s->all, (holding){locks + onces + trace->thread[e], class});
    if (keeps_readers_waiting(s, e)) ft_vec_push(&s->all, (holding){trace->object[e], class});
}

static void index_holders(search *s)
{
    const ft_trace *trace = s->c->trace;
    uint32_t resources = trace->locks.len + trace->onces.len + trace->threads.len;
    for (uint32_t k = 0; k < s->c->requests.len; k++) list_holdings(s, k);
    s->holder_first = ft_calloc((size_t)resources + 2, sizeof *s->holder_first);
    for (size_t i = 0; i < s->all.len; i++) s->holder_first[s->all.data[i].resource + 2]++;
    for (uint32_t r = 0; r < resources; r++) s->holder_first[r + 2] += s->holder_first[r + 1];
    s->holders = ft_alloc((s->all.len + 1) * sizeof *s->holders);
    for (size_t i = 0; i < s->all.len; i++)
        s->holders[s->holder_first[s->all.data[i].resource + 1]++] = s->all.data[i].class;
    uint32_t *asked = ft_alloc((s->all.len + 1) * sizeof *asked);
    for (size_t i = 0; i < s->all.len; i++) asked[i] = resource_of(s, s->holders[i]);
    s->component = ft_components(resources, s->holder_first, asked);
    free(asked);
    assert(s->holder_first[resources] == s->all.len);
}

/* Is the resource that the class asks for on a cycle with one that it holds? */
static bool may_be_in_cycle(const search *s, uint32_t class, const holding *from,
                            const holding *end)
{
    uint32_t asked = s->component[resource_of(s, class)];
    for (; from < end && from->class == class; from++)
        if (s->component[from->resource] == asked) return true;
    return false;
}

/* ---- cycles ---- */

/* Does `holder` hold the resource that `asker` asks for, in a mode that keeps it waiting? */
static bool blocks(const search *s, uint32_t holder, uint32_t asker)
{
    const ft_trace *trace = s->c->trace;
    uint32_t request = sample(s, asker), other = sample(s, holder);
    ft_hold hold = hold_of(s, holder);
    if (ft_order_waits_behind(trace, request, other)) return true;
    if (trace->kind[request] == FT_EVENT_ONCE_PASS)
        return ft_order_initialises(s->c->order, other, trace->object[request]);
    if (trace->kind[request] == FT_EVENT_JOIN)
        return trace->object[request] == trace->thread[other];
    for (uint32_t i = 0; i < hold.count; i++) {
        const ft_section *section = held_section(s, hold, i);
        if (section->lock == trace->object[request])
            return !(section->shared && trace->kind[request] == FT_EVENT_ACQUIRE_SHARED);
    }
    return false;
}

/* lock: one that refutes the cycle, UINT32_MAX: none; ordered: the hard order refutes it. */
static ft_reason reason_of(const search *s, uint32_t *lock, bool *ordered)
{
    const ft_order *order = s->c->order;
    *ordered = false;
    *lock = UINT32_MAX;
    for (uint32_t i = 0; i < s->depth; i++)
        for (uint32_t k = 0; k < i; k++) {
            uint32_t a = sample(s, s->path[i]), b = sample(s, s->path[k]);
            if (*lock == UINT32_MAX)
                *lock = ft_order_common_lock(order, ft_order_lockset(order, a),
                                             ft_order_lockset(order, b));
            *ordered =
                *ordered || ft_order_before_next(order, a, b) || ft_order_before_next(order, b, a);
        }
    if (*lock != UINT32_MAX) return FT_REASON_LOCKSET;
    return *ordered ? FT_REASON_MUST_HAPPEN_BEFORE : FT_REASONS;
}

static bool path_has(const search *s, ft_event_kind kind)
{
    for (uint32_t i = 0; i < s->depth; i++)
        if (s->c->trace->kind[sample(s, s->path[i])] == kind) return true;
    return false;
}

static void add_cycle(search *s)
{
    ft_candidates *c = s->c;
    if (path_has(s, FT_EVENT_JOIN) && !path_has(s, FT_EVENT_ONCE_PASS)) return;
    if (s->cycles++ >= MAX_CYCLES) {
        ft_candidates_overflow(c, FT_CHECK_DEADLOCK);
        return;
    }
    assert(s->depth > 1 && s->depth <= FT_CLAIM_MAX_EVENTS);
    uint32_t lock;
    bool ordered;
    ft_reason reason = reason_of(s, &lock, &ordered);
    ft_block block = {.left = (uint32_t)c->cycles.len, .right = s->depth};
    ft_claim claim = {.kind = FT_CLAIM_DEADLOCK, .n_events = s->depth};
    uint64_t count = 1;
    for (uint32_t i = 0; i < s->depth; i++) {
        claim.events[i] = sample(s, s->path[i]);
        count *= c->requests.data[s->path[i]].events.len;
        if (reason == FT_REASONS) ft_vec_push(&c->cycles, s->path[i]);
    }
    if (ordered && lock != UINT32_MAX) c->passes[FT_CHECK_DEADLOCK].by_order += count;
    ft_candidates_list_block(c, FT_LISTED_CYCLE, &claim, reason, lock, count, block);
}

static bool on_path(const search *s, uint32_t thread)
{
    for (uint32_t i = 0; i < s->depth; i++)
        if (s->c->trace->thread[sample(s, s->path[i])] == thread) return true;
    return false;
}

/* Each cycle is found once: from its request of the lowest thread. */
static void extend(search *s)
{
    const ft_trace *trace = s->c->trace;
    uint32_t last = s->path[s->depth - 1], asked = resource_of(s, last);
    uint32_t lowest = trace->thread[sample(s, s->path[0])];
    for (uint32_t i = s->holder_first[asked]; i < s->holder_first[asked + 1]; i++) {
        uint32_t holder = s->holders[i], thread = trace->thread[sample(s, holder)];
        if (++s->steps > MAX_STEPS || s->cycles > MAX_CYCLES) return;
        if (s->component[resource_of(s, holder)] != s->component[asked]) continue;
        if (thread <= lowest || on_path(s, thread) || !blocks(s, holder, last)) continue;
        assert(s->depth < FT_CLAIM_MAX_EVENTS);
        s->path[s->depth++] = holder;
        if (blocks(s, s->path[0], holder)) add_cycle(s);
        if (s->depth < FT_CLAIM_MAX_EVENTS) extend(s);
        s->depth--;
    }
}

static void find_cycles(ft_candidates *c)
{
    search s = {.c = c};
    number_epochs(&s);
    find_joined(&s);
    for (uint32_t e = 0; e < c->trace->n_events; e++)
        if (is_request(&s, e)) add_request(&s, e);
    index_holders(&s);
    size_t at = 0; /* holdings are listed class by class */
    for (uint32_t k = 0; k < c->requests.len; k++) {
        const holding *end = s.all.data + s.all.len;
        while (at < s.all.len && s.all.data[at].class < k) at++;
        if (!may_be_in_cycle(&s, k, s.all.data + at, end)) continue;
        s.path[0] = k;
        s.depth = 1;
        extend(&s);
    }
    if (s.steps > MAX_STEPS) ft_candidates_overflow(c, FT_CHECK_DEADLOCK);
    ft_map_release(&s.index);
    ft_vec_release(&s.all);
    free(s.epoch);
    free(s.joined);
    free(s.holder_first);
    free(s.holders);
    free(s.component);
}

/* ---- waiting for a wake-up ---- */

/* A thread that was blocked might have closed its sections later: they do not count. */
static bool any_unclosed(const ft_order *order)
{
    for (size_t i = 0; i < order->sections.len; i++) {
        const ft_section *s = &order->sections.data[i];
        uint32_t last = ft_order_last(order, s->thread);
        if (s->release == FT_NO_EVENT && !ft_trace_is_blocked(order->trace, last)) return true;
    }
    return false;
}

/* The kind of an event that waits for a wake-up; FT_LISTED_KINDS: another event, or one that
 * continues by itself. A join without a lock is not listed: no other thread can wait for the thread
 * that joins. Its child waits forever only in a cycle of requests, or in a join with a lock, which
 * are findings of their own, or for a thread that has ended with a lock (unclosed: the trace has
 * such a section). */
static ft_listed_kind stuck_kind(const ft_candidates *c, uint32_t e, bool unclosed)
{
    static const uint8_t KINDS[FT_EVENT_KINDS] = {[FT_EVENT_WAIT] = FT_LISTED_SEMAPHORE,
                                                  [FT_EVENT_COND_WAKE] = FT_LISTED_LOST_WAKEUP,
                                                  [FT_EVENT_BARRIER_LEAVE] = FT_LISTED_BARRIER,
                                                  [FT_EVENT_JOIN] = FT_LISTED_JOIN};
    ft_event_kind kind = c->trace->kind[e];
    bool continues = c->trace->flags[e] & (FT_FLAG_TRY | FT_FLAG_FAILED);
    bool bystander =
        kind == FT_EVENT_JOIN && !unclosed && c->order->holds.data[c->order->hold[e]].count == 0;
    if (!KINDS[kind] || continues || bystander) return FT_LISTED_KINDS;
    return (ft_listed_kind)KINDS[kind];
}

static void find_stuck(ft_candidates *c)
{
    bool unclosed = any_unclosed(c->order);
    for (uint32_t e = 0; e < c->trace->n_events; e++) {
        ft_listed_kind kind = stuck_kind(c, e, unclosed);
        if (kind == FT_LISTED_KINDS) continue;
        ft_claim claim = {.kind = FT_CLAIM_STUCK, .events = {e}};
        ft_candidates_list(c, kind, &claim, FT_REASONS, UINT32_MAX);
    }
}

void ft_candidates_deadlock(ft_candidates *c)
{
    find_cycles(c);
    ft_candidates_forks(c);
    find_stuck(c);
    FT_CHECK(ft_candidates_add_up(c, FT_CHECK_DEADLOCK));
}
