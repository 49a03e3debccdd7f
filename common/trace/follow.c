#include "trace/follow.h"
#include "base/contract.h"

#include <stdlib.h>

#include "trace/sections.h"

/* How far a thread is in a condition wait (normalise_waits.c). What may be part of a whole one is
 * marked at once; where it turns out to be none the marks were wrong. */
typedef enum wait_state { NO_WAIT, WAITS, RELEASED, WOKEN, ACQUIRED } wait_state;

typedef struct thread_state {
    bool acted, joined;
    wait_state wait;
    uint32_t lock;          /* of the wait */
    uint32_t marked, first; /* of its events, how many the input did not mark */
} thread_state;

typedef struct edge_state {
    bool in, out; /* seen */
} edge_state;

typedef struct holding {
    uint32_t thread, lock;
    ft_hold hold;
    uint32_t previous, next; /* in the lock's list of those that hold it; index + 1 */
    bool listed;
} holding;

/* A note that is put at the end, as normalising a whole trace does. */
typedef struct late_note {
    uint32_t count, first, thread, lock;
} late_note;

struct ft_follower {
    ft_builder *builder;
    const ft_trace *trace;
    thread_state *threads;
    edge_state *edges;
    uint32_t *holders; /* per lock: first holding, index + 1 */
    uint32_t n_threads, n_edges, n_locks;
    ft_map index; /* thread and lock to holding */
    FT_VEC(holding) holdings;
    bool canonical;        /* flags are compared, not set */
    uint32_t wrong;        /* canonical: first event that is not, FT_NO_EVENT: none */
    late_note stranger[2]; /* releases, acquires */
    late_note waits;
};

ft_follower *ft_follower_new(ft_builder *builder)
{
    FT_REQUIRE(builder && !builder->flowing);
    ft_follower *f = ft_calloc(1, sizeof *f);
    f->builder = builder;
    f->trace = builder->trace;
    f->canonical = builder->says_canonical;
    f->wrong = FT_NO_EVENT;
    return f;
}

void ft_follower_free(ft_follower *f)
{
    if (!f) return;
    free(f->threads);
    free(f->edges);
    free(f->holders);
    ft_map_release(&f->index);
    ft_vec_release(&f->holdings);
    free(f);
}

/* The tables of the trace grow while it is read. */
static void make_room(ft_follower *f)
{
    const ft_trace *trace = f->trace;
    f->threads = ft_grow_zeroed(f->threads, &f->n_threads, trace->threads.len, sizeof *f->threads);
    f->edges = ft_grow_zeroed(f->edges, &f->n_edges, trace->edges.len, sizeof *f->edges);
    f->holders = ft_grow_zeroed(f->holders, &f->n_locks, trace->locks.len, sizeof *f->holders);
}

/* ---- condition waits ------------------------------------------------------------------------- */

static void mark(ft_follower *f, thread_state *t, uint32_t e)
{
    if (f->trace->flags[e] & FT_FLAG_CONDITION) return;
    f->trace->flags[e] |= FT_FLAG_CONDITION;
    assert(t->wait != NO_WAIT);
    if (t->marked++ == 0) t->first = f->builder->flushed + e;
}

static void complete(ft_follower *f, thread_state *t)
{
    if (t->marked && !f->waits.count) f->waits.first = t->first;
    assert(t->wait == WOKEN || t->wait == ACQUIRED);
    f->waits.count += t->marked;
    t->wait = NO_WAIT;
    t->marked = 0;
}

static bool takes_back(const ft_follower *f, const thread_state *t, uint32_t e)
{
    return f->trace->kind[e] == FT_EVENT_ACQUIRE && f->trace->object[e] == t->lock &&
           !(f->trace->flags[e] & FT_FLAG_TRY);
}

/* False: a wait that was marked is none. */
static bool go_on_waiting(ft_follower *f, thread_state *t, uint32_t e)
{
    ft_event_kind kind = f->trace->kind[e];
    wait_state before = t->wait;
    if (before == WAITS && kind == FT_EVENT_RELEASE) {
        t->wait = RELEASED;
        t->lock = f->trace->object[e];
        mark(f, t, e);
    } else if (before == RELEASED && kind == FT_EVENT_COND_WAKE) {
        t->wait = WOKEN;
    } else if (before == RELEASED && takes_back(f, t, e)) {
        t->wait = ACQUIRED;
        mark(f, t, e);
    } else if (before == WOKEN && takes_back(f, t, e)) {
        mark(f, t, e);
        complete(f, t);
    } else if (before == ACQUIRED && kind == FT_EVENT_COND_WAKE) {
        complete(f, t);
    } else {
        t->wait = kind == FT_EVENT_COND_WAIT ? WAITS : NO_WAIT;
        return !t->marked;
    }
    return true;
}

/* ---- sections -------------------------------------------------------------------------------- */

static holding *holding_of(ft_follower *f, uint32_t thread, uint32_t lock)
{
    bool inserted;
    uint64_t key = (uint64_t)thread << 32 | lock;
    uint64_t *index = ft_map_slot(&f->index, key, f->holdings.len, &inserted);
    if (inserted) ft_vec_push(&f->holdings, (holding){.thread = thread, .lock = lock});
    assert(*index < f->holdings.len && f->holdings.data[*index].lock == lock);
    return &f->holdings.data[*index];
}

static void unlist(ft_follower *f, holding *h)
{
    if (!h->listed) return;
    assert(h->previous <= f->holdings.len && h->next <= f->holdings.len);
    if (h->previous)
        f->holdings.data[h->previous - 1].next = h->next;
    else
        f->holders[h->lock] = h->next;
    if (h->next) f->holdings.data[h->next - 1].previous = h->previous;
    h->listed = false;
}

static void enlist(ft_follower *f, holding *h)
{
    uint32_t index = (uint32_t)(h - f->holdings.data) + 1;
    if (h->listed) return;
    assert(index <= f->holdings.len && h->lock < f->n_locks);
    h->previous = 0;
    h->next = f->holders[h->lock];
    if (h->next) f->holdings.data[h->next - 1].previous = index;
    f->holders[h->lock] = index;
    h->listed = true;
}

/* Whether another thread stands in the way: perhaps it never gives the lock back. */
static bool is_taken(const ft_follower *f, uint32_t thread, uint32_t lock, bool shared)
{
    for (uint32_t at = f->holders[lock]; at; at = f->holdings.data[at - 1].next) {
        const holding *h = &f->holdings.data[at - 1];
        if (h->thread != thread && !(shared && h->hold.shared)) return true;
    }
    return false;
}

static void set_flags(ft_follower *f, uint32_t e, uint8_t flags, bool acquire)
{
    const uint8_t mask = FT_FLAG_NESTED | FT_FLAG_STRANGER;
    const ft_trace *trace = f->trace;
    uint32_t number = f->builder->flushed + e;
    if (f->canonical) {
        if ((trace->flags[e] & mask) != flags && f->wrong == FT_NO_EVENT) f->wrong = number;
        return;
    }
    trace->flags[e] = (uint8_t)((trace->flags[e] & ~mask) | flags);
    if (!(flags & FT_FLAG_STRANGER)) return;
    late_note *note = &f->stranger[acquire];
    if (note->count++ == 0) *note = (late_note){1, number, trace->thread[e], trace->object[e]};
}

static bool follow_lock(ft_follower *f, uint32_t e)
{
    const ft_trace *trace = f->trace;
    uint32_t thread = trace->thread[e], lock = trace->object[e];
    if (ft_trace_is_blocked(trace, e)) return true;
    ft_lock_event event = ft_lock_event_of(trace, e);
    if (event.acquire && is_taken(f, thread, lock, event.shared)) return false;
    holding *h = holding_of(f, thread, lock);
    uint32_t number = f->builder->flushed + e;
    uint8_t flags =
        event.acquire ? ft_hold_acquire(&h->hold, number, event) : ft_hold_release(&h->hold, event);
    set_flags(f, e, flags, event.acquire);
    if (h->hold.depth)
        enlist(f, h);
    else
        unlist(f, h);
    return true;
}

/* ---- order ----------------------------------------------------------------------------------- */

static bool follow_fork(ft_follower *f, uint32_t e)
{
    return !f->threads[f->trace->object[e]].acted;
}

static bool follow_join(ft_follower *f, uint32_t e)
{
    if (!ft_trace_is_blocked(f->trace, e)) f->threads[f->trace->object[e]].joined = true;
    return f->trace->object[e] != f->trace->thread[e];
}

static bool follow_edge_out(ft_follower *f, uint32_t e)
{
    edge_state *edge = &f->edges[f->trace->object[e]];
    edge->out = true;
    return !edge->in;
}

static bool follow_edge_in(ft_follower *f, uint32_t e)
{
    edge_state *edge = &f->edges[f->trace->object[e]];
    edge->in |= !edge->out;
    return true;
}

static bool follow_branch(ft_follower *f, uint32_t e)
{
    (void)f;
    (void)e;
    return false;
}

static bool (*const FOLLOW[FT_EVENT_KINDS])(ft_follower *f, uint32_t e) = {
    [FT_EVENT_ACQUIRE] = follow_lock,    [FT_EVENT_ACQUIRE_SHARED] = follow_lock,
    [FT_EVENT_RELEASE] = follow_lock,    [FT_EVENT_FORK] = follow_fork,
    [FT_EVENT_JOIN] = follow_join,       [FT_EVENT_EDGE_OUT] = follow_edge_out,
    [FT_EVENT_EDGE_IN] = follow_edge_in, [FT_EVENT_IF] = follow_branch,
    [FT_EVENT_ELSE] = follow_branch,     [FT_EVENT_END_IF] = follow_branch,
};

bool ft_follower_take(ft_follower *f)
{
    const ft_trace *trace = f->trace;
    bool waits = f->builder->counts[FT_EVENT_COND_WAIT] && !f->canonical;
    make_room(f);
    assert(f->n_threads >= trace->threads.len && f->n_locks >= trace->locks.len);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        thread_state *t = &f->threads[trace->thread[e]];
        if (t->joined) return false;
        t->acted = true;
        if (waits && !go_on_waiting(f, t, e)) return false;
        if (FOLLOW[trace->kind[e]] && !FOLLOW[trace->kind[e]](f, e)) return false;
    }
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void note_stranger(ft_follower *f, bool acquire)
{
    const late_note *note = &f->stranger[acquire];
    if (!note->count) return;
    ft_sections_note_stranger(f->builder, note->first, note->thread, note->lock, acquire);
    if (note->count == 1) return;
    const char *code = acquire ? "failed-acquire" : "stranger-release";
    ft_builder_add_note(f->builder, code, note->first, note->count - 1, "");
}

static void note_unclosed(ft_follower *f)
{
    uint32_t count = 0;
    const holding *first = NULL;
    for (size_t i = 0; i < f->holdings.len; i++) {
        const holding *h = &f->holdings.data[i];
        if (!h->hold.depth) continue;
        count++;
        if (!first || h->hold.opened < first->hold.opened) first = h;
    }
    if (first)
        ft_sections_note_unclosed(f->builder, first->hold.opened, first->thread, first->lock,
                                  count);
}

ft_status ft_follower_end(ft_follower *f, bool *whole, ft_error *err)
{
    FT_REQUIRE(f && whole);
    *whole = f->canonical != f->builder->canonical; /* cut short */
    for (uint32_t t = 0; t < f->n_threads; t++) *whole |= f->threads[t].marked > 0;
    if (*whole) return FT_OK;
    if (f->wrong != FT_NO_EVENT)
        return ft_error_set(err, FT_INPUT,
                            "event %u: its lock flags contradict the events before it; the file "
                            "says it is canonical and is not",
                            f->wrong + 1);
    if (f->canonical) return FT_OK;
    if (f->waits.count) ft_builder_note_waits(f->builder, f->waits.first, f->waits.count);
    bool acquire_first =
        f->stranger[true].count &&
        (!f->stranger[false].count || f->stranger[true].first < f->stranger[false].first);
    note_stranger(f, acquire_first);
    note_stranger(f, !acquire_first);
    note_unclosed(f);
    return FT_OK;
}
