/* Normalising a trace (trace.h, ft_builder_finish): first what was logged too early moves behind
 * what it waits for, then condition waits are marked (normalise_waits.c), and sections and their
 * implied releases are worked out on that order. The steps only look at the arrays unless something
 * has to change, and all are linear. */
#include "base/contract.h"
#include "trace/builder_internal.h"
#include "trace/sections.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The order before and after: new[i] = old[order[i]], for each array of the trace. */
static void *permuted(void *array, size_t size, const uint32_t *order, uint32_t n)
{
    unsigned char *result = ft_alloc((size_t)n * size);
    for (uint32_t i = 0; i < n; i++)
        memcpy(result + i * size, (unsigned char *)array + order[i] * size, size);
    free(array);
    return result;
}

/* ---- events logged too early ---------------------------------------------------------------- */

typedef struct mover {
    ft_builder *builder;
    const ft_trace *trace;
    uint32_t n;
    uint32_t *last;     /* per thread: its last event */
    uint32_t *edge_out; /* per edge: its first edge-out */
    uint32_t *anchor; /* per event: the unmoved event behind which it ends up; itself if unmoved */
    uint32_t first_join, joins, first_edge, edges; /* what moves */
    /* while emitting */
    uint32_t *order, emitted;
    uint32_t *left;        /* per thread: events not emitted yet */
    uint32_t *queue, *end; /* per thread: its first and last held back event */
    uint32_t *next;        /* per event: the next one held back by its thread */
    uint32_t *waiters;     /* per thread, then per edge: first thread held back by it, plus 1 */
    uint32_t *next_waiter; /* per thread: the next one in the same list, plus 1 */
    bool *edge_done;
    FT_VEC(uint32_t) ready;
} mover;

static uint32_t *filled(size_t count, uint32_t value)
{
    uint32_t *array = ft_alloc(count * sizeof *array);
    for (size_t i = 0; i < count; i++) array[i] = value;
    return array;
}

/* The event that e has to wait for, or FT_NO_EVENT. */
static uint32_t host_of(const mover *m, uint32_t e)
{
    if (ft_trace_is_blocked(m->trace, e)) return FT_NO_EVENT;
    if (m->trace->kind[e] == FT_EVENT_JOIN) return m->last[m->trace->object[e]];
    if (m->trace->kind[e] == FT_EVENT_EDGE_IN) return m->edge_out[m->trace->object[e]];
    return FT_NO_EVENT;
}

static bool find_hosts(mover *m)
{
    const ft_trace *trace = m->trace;
    m->last = filled(trace->threads.len, FT_NO_EVENT);
    m->edge_out = filled(trace->edges.len, FT_NO_EVENT);
    for (uint32_t e = 0; e < m->n; e++) {
        m->last[trace->thread[e]] = e;
        if (trace->kind[e] == FT_EVENT_EDGE_OUT && m->edge_out[trace->object[e]] == FT_NO_EVENT)
            m->edge_out[trace->object[e]] = e;
    }
    for (uint32_t e = 0; e < m->n; e++) {
        uint32_t host = host_of(m, e);
        if (host != FT_NO_EVENT && host > e) return true;
    }
    return false;
}

static void count_move(mover *m, uint32_t e)
{
    bool join = m->trace->kind[e] == FT_EVENT_JOIN;
    *(join ? &m->first_join : &m->first_edge) = e; /* called from the end: the first one stays */
    ++*(join ? &m->joins : &m->edges);
}

/* Whether an event may end up behind `to`: what has to come after it (FT_NO_EVENT: nothing) comes
 * later, or waits for the same event as it does. */
static bool stays_before(const mover *m, uint32_t to, uint32_t after)
{
    if (after == FT_NO_EVENT || m->anchor[after] > to) return true;
    return m->anchor[after] == to && m->anchor[after] != after;
}

/* Decides what moves, from the end: a host comes later in the log, so its own place is known. An
 * event moves unless the next one of its thread, or a join that waits for it, would end up before
 * the host. */
static bool decide_moves(mover *m)
{
    const ft_trace *trace = m->trace;
    uint32_t *next = filled(trace->threads.len, FT_NO_EVENT); /* of a thread, after e */
    uint32_t *join = filled(trace->threads.len, FT_NO_EVENT); /* the earliest to end up, after e */
    m->anchor = ft_alloc(m->n * sizeof *m->anchor);
    for (uint32_t e = m->n; e-- > 0;) {
        uint32_t host = host_of(m, e), t = trace->thread[e], to;
        m->anchor[e] = e;
        if (host != FT_NO_EVENT && host > e) {
            to = m->anchor[host];
            bool last = next[t] == FT_NO_EVENT;
            if (stays_before(m, to, next[t]) && (!last || stays_before(m, to, join[t]))) {
                m->anchor[e] = to;
                count_move(m, e);
            }
        }
        next[t] = e;
        if (trace->kind[e] != FT_EVENT_JOIN || ft_trace_is_blocked(trace, e)) continue;
        uint32_t *earliest = &join[trace->object[e]];
        if (*earliest == FT_NO_EVENT || m->anchor[e] <= m->anchor[*earliest]) *earliest = e;
    }
    free(next);
    free(join);
    return m->joins + m->edges > 0;
}

static uint32_t wait_list(const mover *m, uint32_t e)
{
    bool join = m->trace->kind[e] == FT_EVENT_JOIN;
    return join ? m->trace->object[e] : m->trace->threads.len + m->trace->object[e];
}

static bool fulfilled(const mover *m, uint32_t e)
{
    bool join = m->trace->kind[e] == FT_EVENT_JOIN;
    return join ? m->left[m->trace->object[e]] == 0 : m->edge_done[m->trace->object[e]];
}

static void wake(mover *m, uint32_t list)
{
    for (uint32_t w = m->waiters[list]; w; w = m->next_waiter[w - 1]) ft_vec_push(&m->ready, w - 1);
    m->waiters[list] = 0;
}

static void emit(mover *m, uint32_t e)
{
    const ft_trace *trace = m->trace;
    assert(m->emitted < m->n && m->left[trace->thread[e]]);
    m->order[m->emitted++] = e;
    if (--m->left[trace->thread[e]] == 0) wake(m, trace->thread[e]);
    if (trace->kind[e] != FT_EVENT_EDGE_OUT || m->edge_done[trace->object[e]]) return;
    m->edge_done[trace->object[e]] = true;
    wake(m, trace->threads.len + trace->object[e]);
}

/* Emits what thread t holds back, as far as it goes, or puts t on the list of what it waits for. */
static void drain(mover *m, uint32_t t)
{
    while (m->queue[t] != FT_NO_EVENT) {
        uint32_t e = m->queue[t];
        if (!fulfilled(m, e)) {
            uint32_t list = wait_list(m, e);
            m->next_waiter[t] = m->waiters[list];
            m->waiters[list] = t + 1;
            return;
        }
        assert(m->trace->thread[e] == t && (m->next[e] == FT_NO_EVENT || m->next[e] > e));
        m->queue[t] = m->next[e];
        emit(m, e);
    }
}

static void hold_back(mover *m, uint32_t e)
{
    assert(m->anchor[e] > e); /* it waits for a later event */
    uint32_t t = m->trace->thread[e];
    bool first = m->queue[t] == FT_NO_EVENT;
    *(first ? &m->queue[t] : &m->next[m->end[t]]) = e;
    m->end[t] = e;
    if (first) drain(m, t);
}

/* False when joins wait for one another in a circle: nothing can be moved to where it belongs. */
static bool emit_all(mover *m)
{
    for (uint32_t e = 0; e < m->n; e++) {
        uint32_t t = m->trace->thread[e];
        if (m->anchor[e] != e) {
            hold_back(m, e);
        } else {
            if (m->queue[t] != FT_NO_EVENT) return false;
            emit(m, e);
        }
        while (m->ready.len) drain(m, m->ready.data[--m->ready.len]);
    }
    return m->emitted == m->n;
}

static bool compute_order(mover *m)
{
    uint32_t threads = m->trace->threads.len, edges = m->trace->edges.len;
    m->order = ft_alloc(m->n * sizeof *m->order);
    m->left = filled(threads, 0);
    m->queue = filled(threads, FT_NO_EVENT);
    m->end = filled(threads, FT_NO_EVENT);
    m->next = filled(m->n, FT_NO_EVENT);
    m->waiters = filled((size_t)threads + edges, 0);
    m->next_waiter = filled(threads, 0);
    m->edge_done = ft_calloc(edges, sizeof *m->edge_done);
    for (uint32_t e = 0; e < m->n; e++) m->left[m->trace->thread[e]]++;
    return emit_all(m);
}

static void remap_notes(ft_trace *trace, const uint32_t *place)
{
    for (uint32_t i = 0; i < trace->n_notes; i++)
        if (trace->notes[i].event != FT_NO_EVENT)
            trace->notes[i].event = place[trace->notes[i].event];
}

/* Every event once, and those of a thread in their order. */
static bool is_reordering(const mover *m)
{
    uint32_t *latest = filled(m->trace->threads.len, 0); /* per thread: its latest event, plus 1 */
    uint8_t *seen = ft_calloc((size_t)m->n / 8 + 1, 1);
    bool sound = m->emitted == m->n;
    for (uint32_t i = 0; sound && i < m->n; i++) {
        uint32_t e = m->order[i], *last = &latest[m->trace->thread[e]];
        sound = e < m->n && !(seen[e / 8] >> e % 8 & 1) && *last <= e;
        seen[e / 8] |= (uint8_t)(1u << e % 8);
        *last = e + 1;
    }
    free(latest);
    free(seen);
    return sound;
}

static void apply_order(mover *m, ft_trace *trace)
{
    uint32_t n = m->n;
    FT_CHECK(is_reordering(m));
    trace->kind = permuted(trace->kind, sizeof *trace->kind, m->order, n);
    trace->flags = permuted(trace->flags, sizeof *trace->flags, m->order, n);
    trace->thread = permuted(trace->thread, sizeof *trace->thread, m->order, n);
    trace->object = permuted(trace->object, sizeof *trace->object, m->order, n);
    trace->loc = permuted(trace->loc, sizeof *trace->loc, m->order, n);
    trace->data = permuted(trace->data, sizeof *trace->data, m->order, n);
    if (trace->hook) trace->hook = permuted(trace->hook, sizeof *trace->hook, m->order, n);
    if (trace->context)
        trace->context = permuted(trace->context, sizeof *trace->context, m->order, n);
    uint32_t *place = m->anchor; /* its work is done */
    for (uint32_t i = 0; i < n; i++) place[m->order[i]] = i;
    remap_notes(trace, place);
    if (m->joins)
        ft_builder_add_note(m->builder, "early-join", place[m->first_join], m->joins,
                            "a join was logged before the last event of the thread it waits for; "
                            "it was moved behind that event");
    if (m->edges)
        ft_builder_add_note(m->builder, "early-edge", place[m->first_edge], m->edges,
                            "the target of an order edge was logged before its source; it was "
                            "moved behind it");
}

static void release_mover(mover *m)
{
    free(m->last);
    free(m->edge_out);
    free(m->anchor);
    free(m->order);
    free(m->left);
    free(m->queue);
    free(m->end);
    free(m->next);
    free(m->waiters);
    free(m->next_waiter);
    free(m->edge_done);
    ft_vec_release(&m->ready);
}

static void move_early_events(ft_builder *b)
{
    if (!b->counts[FT_EVENT_JOIN] && !b->counts[FT_EVENT_EDGE_IN]) return;
    mover m = {.builder = b, .trace = b->trace, .n = b->trace->n_events};
    if (find_hosts(&m) && decide_moves(&m) && compute_order(&m)) apply_order(&m, b->trace);
    release_mover(&m);
}

/* ---- sections ------------------------------------------------------------------------------- */

/* Kept per thread, not per lock, so that a trace in which two threads hold a lock at once (which
 * the checker reports) makes no stranger out of either. While the trace is met from the end, depth
 * and saved are releases still to be matched. */
typedef struct holding {
    uint32_t thread, lock;
    ft_hold hold;
    uint32_t previous, next; /* in the lock's list of holdings that are never closed; index + 1 */
    bool listed;
} holding;

typedef struct implied {
    uint32_t before; /* event before which the release goes */
    uint32_t thread, lock;
    uint32_t depth;  /* nested releases first, the one that counts last */
    uint32_t serial; /* order of discovery */
} implied;

typedef struct sections {
    ft_builder *builder;
    ft_trace *trace;
    ft_map index; /* thread and lock to holding */
    FT_VEC(holding) holdings;
    uint32_t *endless;     /* per lock: first holding that is never closed, index + 1 */
    uint32_t *latest;      /* per thread: its latest event */
    uint32_t *arms;        /* per thread: ifs that are open */
    uint8_t *closed_later; /* a bit per event: a lock event whose thread later releases what it
                              holds of the lock after this event */
    FT_VEC(implied) implied;
    bool check_only; /* flags are compared, not set */
    uint32_t wrong;  /* check_only: first event that is not canonical */
} sections;

static uint32_t holding_index(sections *s, uint32_t thread, uint32_t lock)
{
    bool inserted;
    uint64_t key = (uint64_t)thread << 32 | lock;
    uint64_t *index = ft_map_slot(&s->index, key, s->holdings.len, &inserted);
    if (inserted) ft_vec_push(&s->holdings, (holding){.thread = thread, .lock = lock});
    return (uint32_t)*index;
}

/* One lock event, met from the end: releases wait in `depth` for the acquire that they match. A
 * mutex has no inner acquires, so its latest acquire is the one; an error-checking one may have
 * some, which fail. */
static void match_backward(ft_hold *h, ft_lock_event event)
{
    if (event.lock == FT_LOCK_ERROR_CHECKING) {
        if (!event.acquire) h->depth = 1;
    } else if (!event.nests) {
        h->depth = event.acquire ? 0 : 1;
    } else if (event.acquire && event.waits) {
        h->saved = h->depth;
        h->depth = 0;
    } else if (event.acquire) {
        if (h->depth) h->depth--;
    } else if (event.waits) {
        h->depth = h->saved ? h->saved : 1;
        h->saved = 0;
    } else {
        h->depth++;
    }
}

static void mark_closed_later(sections *s)
{
    ft_trace *trace = s->trace;
    for (uint32_t e = trace->n_events; e-- > 0;) {
        if (!ft_lock_event_is(trace, e)) continue;
        uint32_t lock = trace->object[e];
        size_t index = holding_index(s, trace->thread[e], lock);
        holding *h = &s->holdings.data[index];
        if (h->hold.depth) s->closed_later[e / 8] |= (uint8_t)(1u << e % 8);
        match_backward(&h->hold, ft_lock_event_of(trace, e));
    }
    for (size_t i = 0; i < s->holdings.len; i++) {
        s->holdings.data[i].hold.depth = 0;
        s->holdings.data[i].hold.saved = 0;
    }
}

static void unlist(sections *s, holding *h)
{
    if (!h->listed) return;
    assert(h->previous <= s->holdings.len && h->next <= s->holdings.len);
    if (h->previous)
        s->holdings.data[h->previous - 1].next = h->next;
    else
        s->endless[h->lock] = h->next;
    if (h->next) s->holdings.data[h->next - 1].previous = h->previous;
    h->listed = false;
}

static void enlist(sections *s, uint32_t index)
{
    holding *h = &s->holdings.data[index];
    if (h->listed) return;
    h->previous = 0;
    h->next = s->endless[h->lock];
    if (h->next) s->holdings.data[h->next - 1].previous = index + 1;
    s->endless[h->lock] = index + 1;
    h->listed = true;
}

/* An acquire by thread t implies that whoever holds the lock in its way and never gives it back has
 * given it back: right after its latest event, but before its end event. */
static void imply_releases(sections *s, uint32_t t, uint32_t lock, bool shared)
{
    uint32_t next;
    for (uint32_t at = s->endless[lock]; at; at = next) {
        holding *h = &s->holdings.data[at - 1];
        next = h->next;
        if (h->thread == t || (shared && h->hold.shared)) continue;
        uint32_t latest = s->latest[h->thread];
        bool ended = s->trace->kind[latest] == FT_EVENT_END;
        ft_vec_push(&s->implied, (implied){.before = ended ? latest : latest + 1,
                                           .thread = h->thread,
                                           .lock = lock,
                                           .depth = h->hold.depth,
                                           .serial = (uint32_t)s->implied.len});
        unlist(s, h);
        assert(h->hold.depth); /* it is listed because it is held */
        h->hold.depth = 0;
    }
}

static void set_flags(sections *s, uint32_t e, uint8_t flags)
{
    const uint8_t mask = FT_FLAG_NESTED | FT_FLAG_STRANGER;
    ft_trace *trace = s->trace;
    if (s->check_only) {
        if ((trace->flags[e] & mask) != flags && s->wrong == FT_NO_EVENT) s->wrong = e;
        return;
    }
    trace->flags[e] = (uint8_t)((trace->flags[e] & ~mask) | flags);
    if (!(flags & FT_FLAG_STRANGER)) return;
    ft_sections_note_stranger(s->builder, e, trace->thread[e], trace->object[e],
                              trace->kind[e] == FT_EVENT_ACQUIRE);
}

static void walk_lock_event(sections *s, uint32_t e)
{
    ft_trace *trace = s->trace;
    uint32_t lock = trace->object[e];
    bool closed_later = s->closed_later[e / 8] >> e % 8 & 1;
    ft_lock_event event = ft_lock_event_of(trace, e);
    /* An acquire in an arm says nothing: the run may have passed over it. */
    if (event.acquire && !s->arms[trace->thread[e]])
        imply_releases(s, trace->thread[e], lock, event.shared);
    uint32_t index = holding_index(s, trace->thread[e], lock);
    holding *h = &s->holdings.data[index];
    set_flags(s, e,
              event.acquire ? ft_hold_acquire(&h->hold, e, event)
                            : ft_hold_release(&h->hold, event));
    if (h->hold.depth && !closed_later)
        enlist(s, index);
    else
        unlist(s, h);
}

static void walk_forward(sections *s)
{
    for (uint32_t e = 0; e < s->trace->n_events; e++) {
        uint32_t *arms = &s->arms[s->trace->thread[e]];
        if (ft_lock_event_is(s->trace, e)) walk_lock_event(s, e);
        s->latest[s->trace->thread[e]] = e;
        if (s->trace->kind[e] == FT_EVENT_IF) ++*arms;
        if (s->trace->kind[e] == FT_EVENT_END_IF && *arms) --*arms;
    }
}

static void note_unclosed(sections *s)
{
    uint32_t count = 0;
    const holding *first = NULL;
    for (size_t i = 0; i < s->holdings.len; i++) {
        const holding *h = &s->holdings.data[i];
        if (!h->hold.depth) continue;
        count++;
        if (!first || h->hold.opened < first->hold.opened) first = h;
    }
    if (!first) return;
    ft_sections_note_unclosed(s->builder, first->hold.opened, first->thread, first->lock, count);
}

static int by_place(const void *a, const void *b)
{
    const implied *x = a, *y = b;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return x->serial < y->serial ? -1 : 1;
}

static void grow_arrays(ft_trace *trace, size_t n)
{
    trace->kind = ft_realloc(trace->kind, n, sizeof *trace->kind);
    trace->flags = ft_realloc(trace->flags, n, sizeof *trace->flags);
    trace->thread = ft_realloc(trace->thread, n, sizeof *trace->thread);
    trace->object = ft_realloc(trace->object, n, sizeof *trace->object);
    trace->loc = ft_realloc(trace->loc, n, sizeof *trace->loc);
    trace->data = ft_realloc(trace->data, n, sizeof *trace->data);
    if (trace->hook) trace->hook = ft_realloc(trace->hook, n, sizeof *trace->hook);
    if (trace->context) trace->context = ft_realloc(trace->context, n, sizeof *trace->context);
}

static void copy_event(ft_trace *trace, uint32_t to, uint32_t from)
{
    trace->kind[to] = trace->kind[from];
    trace->flags[to] = trace->flags[from];
    trace->thread[to] = trace->thread[from];
    trace->object[to] = trace->object[from];
    trace->loc[to] = trace->loc[from];
    trace->data[to] = trace->data[from];
    if (trace->hook) trace->hook[to] = trace->hook[from];
    if (trace->context) trace->context[to] = trace->context[from];
}

/* Puts the releases of one section so that the last of them is at `to`. */
static uint32_t put_releases(ft_trace *trace, uint32_t to, const implied *one)
{
    assert(one->depth && to + 1 >= one->depth);
    for (uint32_t i = 0; i < one->depth; i++, to--) {
        trace->kind[to] = FT_EVENT_RELEASE;
        trace->flags[to] = (uint8_t)(FT_FLAG_SYNTHETIC | (i ? FT_FLAG_NESTED : 0));
        trace->thread[to] = (uint16_t)one->thread;
        trace->object[to] = one->lock;
        trace->loc[to] = FT_NO_LOC;
        trace->data[to] = 0;
        if (trace->hook) trace->hook[to] = 0;
        if (trace->context) trace->context[to] = FT_NO_CONTEXT;
    }
    return to;
}

/* Moves events up from the end and fills the gaps. */
static void insert_releases(sections *s, uint32_t added)
{
    FT_REQUIRE(added && s->implied.len);
    ft_trace *trace = s->trace;
    uint32_t old = trace->n_events, to = old + added - 1;
    uint32_t *place = ft_alloc(old * sizeof *place);
    size_t left = s->implied.len;
    grow_arrays(trace, (size_t)old + added);
    s->builder->event_cap = (size_t)old + added;
    trace->n_events = old + added;
    for (uint32_t e = old;; e--) {
        for (; left && s->implied.data[left - 1].before == e; left--)
            to = put_releases(trace, to, &s->implied.data[left - 1]);
        if (e == 0) break;
        copy_event(trace, to, e - 1);
        place[e - 1] = to--;
    }
    assert(left == 0 && to == UINT32_MAX); /* each gap was filled */
    remap_notes(trace, place);
    free(place);
}

static void note_implied(sections *s)
{
    ft_trace *trace = s->trace;
    uint32_t first = 0;
    while (trace->kind[first] != FT_EVENT_RELEASE || !(trace->flags[first] & FT_FLAG_SYNTHETIC))
        first++;
    assert(first < trace->n_events);
    ft_builder_note(s->builder, "implied-release", first,
                    "%s never releases %s, which another thread takes later; a release is implied "
                    "after its latest event before that",
                    ft_trace_thread_name(trace, trace->thread[first]),
                    ft_trace_object_name(trace, first));
    ft_builder_add_note(s->builder, "implied-release", first, (uint32_t)s->implied.len - 1, "");
}

static ft_status add_implied(sections *s, ft_error *err)
{
    if (!s->implied.len) return FT_OK;
    uint64_t added = 0;
    for (size_t i = 0; i < s->implied.len; i++) added += s->implied.data[i].depth;
    if (added > s->builder->max_events - s->trace->n_events)
        return ft_error_set(err, FT_LIMIT,
                            "the trace has more than %u events with the releases that it implies",
                            s->builder->max_events);
    qsort(s->implied.data, s->implied.len, sizeof *s->implied.data, by_place);
    insert_releases(s, (uint32_t)added);
    note_implied(s);
    return FT_OK;
}

static void open_sections(sections *s, ft_builder *b, bool check_only)
{
    *s =
        (sections){.builder = b, .trace = b->trace, .check_only = check_only, .wrong = FT_NO_EVENT};
    s->endless = filled(b->trace->locks.len, 0);
    s->latest = filled(b->trace->threads.len, FT_NO_EVENT);
    s->arms = filled(b->trace->threads.len, 0);
    s->closed_later = ft_calloc((size_t)b->trace->n_events / 8 + 1, 1);
    mark_closed_later(s);
    walk_forward(s);
}

static void close_sections(sections *s)
{
    ft_map_release(&s->index);
    ft_vec_release(&s->holdings);
    ft_vec_release(&s->implied);
    free(s->endless);
    free(s->latest);
    free(s->arms);
    free(s->closed_later);
}

static bool has_locks(const ft_builder *b)
{
    return b->counts[FT_EVENT_ACQUIRE] || b->counts[FT_EVENT_ACQUIRE_SHARED] ||
           b->counts[FT_EVENT_RELEASE];
}

/* Normalising again would change nothing. */
static bool is_canonical(ft_builder *b)
{
    ft_error err = FT_ERROR_INIT;
    return ft_builder_check_canonical(b, &err) == FT_OK;
}

ft_status ft_builder_normalise(ft_builder *b, ft_error *err)
{
    move_early_events(b);
    if (!has_locks(b)) return FT_OK;
    ft_builder_mark_waits(b);
    sections s;
    open_sections(&s, b, false);
    note_unclosed(&s);
    ft_status status = add_implied(&s, err);
    close_sections(&s);
    FT_CHECK(status != FT_OK || is_canonical(b));
    return status;
}

ft_status ft_builder_check_canonical(ft_builder *b, ft_error *err)
{
    if (!has_locks(b)) return FT_OK;
    sections s;
    open_sections(&s, b, true);
    ft_status status = FT_OK;
    if (s.wrong != FT_NO_EVENT)
        status = ft_error_set(err, FT_INPUT,
                              "event %u: its lock flags contradict the events before it; the file "
                              "says it is canonical and is not",
                              s.wrong + 1);
    else if (s.implied.len)
        status = ft_error_set(err, FT_INPUT,
                              "event %u: a release is missing before it; the file says it is "
                              "canonical and is not",
                              s.implied.data[0].before + 1);
    close_sections(&s);
    return status;
}
