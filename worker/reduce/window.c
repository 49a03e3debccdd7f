#include "reduce/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

struct ft_windows {
    const ft_problem *problem;
    int plain;                        /* -1: not looked at yet */
    uint32_t *writer_first, *writers; /* by variable, in observed order */
    uint32_t *post_first, *posts;     /* by semaphore, likewise */
    uint32_t *wait_first, *waits;
    uint32_t *base, *frontier, *done, *limit; /* per thread, of the window being made */
};

/* ---- indexes ---- */

typedef struct entry {
    uint32_t object, event;
} entry;
typedef FT_VEC(entry) entries;

/* Events by object, in observed order: slices first[object] .. first[object + 1]. */
static uint32_t *index_events(entries *all, uint32_t objects, uint32_t **first)
{
    *first = ft_calloc((size_t)objects + 2, sizeof **first);
    uint32_t *events = ft_alloc((all->len + 1) * sizeof *events);
    for (size_t i = 0; i < all->len; i++) (*first)[all->data[i].object + 2]++;
    for (uint32_t o = 0; o < objects; o++) (*first)[o + 2] += (*first)[o + 1];
    for (size_t i = 0; i < all->len; i++)
        events[(*first)[all->data[i].object + 1]++] = all->data[i].event;
    ft_vec_release(all);
    return events;
}

static void index_trace(ft_windows *w)
{
    const ft_trace *trace = w->problem->trace;
    entries writes = {0}, posts = {0}, waits = {0};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        entry here = {trace->object[e], e};
        if (trace->kind[e] == FT_EVENT_WRITE || trace->kind[e] == FT_EVENT_RMW)
            ft_vec_push(&writes, here);
        if (trace->kind[e] == FT_EVENT_POST) ft_vec_push(&posts, here);
        bool takes = trace->kind[e] == FT_EVENT_WAIT && !ft_trace_is_blocked(trace, e);
        if (takes) ft_vec_push(&waits, here);
    }
    w->writers = index_events(&writes, trace->shared.len, &w->writer_first);
    w->posts = index_events(&posts, trace->semaphores.len, &w->post_first);
    w->waits = index_events(&waits, trace->semaphores.len, &w->wait_first);
}

static bool is_plain(const ft_trace *trace)
{
    static const bool PLAIN[FT_EVENT_KINDS] = {
        [FT_EVENT_READ] = true,          [FT_EVENT_WRITE] = true,     [FT_EVENT_RMW] = true,
        [FT_EVENT_FORK] = true,          [FT_EVENT_JOIN] = true,      [FT_EVENT_BEGIN] = true,
        [FT_EVENT_END] = true,           [FT_EVENT_ACQUIRE] = true,   [FT_EVENT_RELEASE] = true,
        [FT_EVENT_WAIT] = true,          [FT_EVENT_POST] = true,      [FT_EVENT_TX_BEGIN] = true,
        [FT_EVENT_TX_END] = true,        [FT_EVENT_EDGE_OUT] = true,  [FT_EVENT_EDGE_IN] = true,
        [FT_EVENT_ALLOC] = true,         [FT_EVENT_FREE] = true,      [FT_EVENT_COND_WAIT] = true,
        [FT_EVENT_SIGNAL] = true,        [FT_EVENT_COND_WAKE] = true, [FT_EVENT_BROADCAST] = true,
        [FT_EVENT_ONCE_BEGIN] = true,    [FT_EVENT_ONCE_END] = true,  [FT_EVENT_ONCE_PASS] = true,
        [FT_EVENT_ACQUIRE_SHARED] = true};
    uint32_t e = 0;
    while (e < trace->n_events && PLAIN[trace->kind[e]]) e++;
    return trace->broken == FT_NO_EVENT && e == trace->n_events;
}

ft_windows *ft_windows_new(const ft_problem *problem)
{
    ft_windows *w = ft_calloc(1, sizeof *w);
    FT_REQUIRE(problem && problem->trace && problem->order && problem->run);
    size_t threads = (size_t)problem->order->n_threads + 1;
    w->problem = problem;
    w->plain = -1;
    w->base = ft_calloc(threads, sizeof *w->base);
    w->frontier = ft_calloc(threads, sizeof *w->frontier);
    w->done = ft_calloc(threads, sizeof *w->done);
    w->limit = ft_calloc(threads, sizeof *w->limit);
    return w;
}

void ft_windows_free(ft_windows *w)
{
    if (!w) return;
    free(w->writer_first);
    free(w->writers);
    free(w->post_first);
    free(w->posts);
    free(w->wait_first);
    free(w->waits);
    free(w->base);
    free(w->frontier);
    free(w->done);
    free(w->limit);
    free(w);
}

bool ft_windows_serve(ft_windows *w, const ft_claim *claim)
{
    if (claim->kind != FT_CLAIM_RACE && claim->kind != FT_CLAIM_ATOMICITY &&
        claim->kind != FT_CLAIM_AFTER_FREE)
        return false;
    if (w->problem->model != FT_MODEL_OBSERVED && w->problem->model != FT_MODEL_MAXIMAL)
        return false;
    if (w->plain < 0) {
        w->plain = is_plain(w->problem->trace);
        if (w->plain) index_trace(w);
    }
    return w->plain;
}

bool ft_windows_exact(const ft_windows *w)
{
    FT_REQUIRE(w->plain == 1);
    return w->problem->trace->conditions.len == 0;
}

uint32_t ft_windows_cut(const ft_claim *claim, uint32_t events)
{
    uint32_t first = claim->events[0], last = first;
    for (uint32_t i = 1; i < ft_claim_events(claim); i++) {
        if (claim->events[i] < first) first = claim->events[i];
        if (claim->events[i] > last) last = claim->events[i];
    }
    FT_REQUIRE(ft_claim_events(claim) > 0);
    uint32_t reach = last + 1 > events ? last + 1 - events : 0;
    return reach < first ? reach : first;
}

/* How many of the ascending events come before the cut. */
static uint32_t count_before(const uint32_t *events, uint32_t count, uint32_t cut)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (events[middle] < cut)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- the events after the cut that matter: reduce/cone.h, for plain traces ---- */

typedef struct build {
    ft_windows *w;
    const ft_trace *trace;
    const ft_order *order;
    const ft_claim *claim;
    uint32_t cut;
    ft_window_kind kind;
    FT_VEC(uint32_t) dirty;
    bool again; /* a limit fell: what was included after it is no member */
    bool impossible;
    double deadline;
    uint64_t looks, next_look; /* possible sources visited, and when to read the clock */
    bool late;
    FT_VEC(uint32_t) events;  /* sorted */
    FT_VEC(uint32_t) holding; /* sections open at the cut whose locks are taken after it */
    ft_map lock_seen;
    ft_map thread_id, variable_id, lock_id, semaphore_id, edge_id; /* -> id in the window */
    FT_VEC(uint32_t) threads, variables, locks, semaphores;        /* id in the window -> id */
    FT_VEC(ft_update) updates;
    ft_window *window;
    uint32_t n, room; /* events written, and how many there is room for */
} build;

/* Returns whether e may be a member. */
static bool include(build *b, uint32_t e)
{
    uint32_t thread = b->trace->thread[e], want = b->order->position[e] + 1;
    ft_windows *w = b->w;
    if (e < b->cut) return true;
    if (want > w->limit[thread]) return false;
    if (w->frontier[thread] >= want) return true;
    if (w->done[thread] == w->frontier[thread]) ft_vec_push(&b->dirty, thread);
    w->frontier[thread] = want;
    return true;
}

static void lower_limit(build *b, uint32_t thread, uint32_t position)
{
    if (position >= b->w->limit[thread]) return;
    b->w->limit[thread] = position;
    if (b->w->frontier[thread] > position) b->again = true;
}

/* `final` and what comes after it in the hard order are no members. */
static void cut_after(build *b, uint32_t final)
{
    const ft_order *order = b->order;
    for (uint32_t t = 0; t < order->n_threads; t++) {
        uint32_t low = b->w->base[t], high = order->thread_start[t + 1] - order->thread_start[t];
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            uint32_t e = order->thread_events[order->thread_start[t] + middle];
            if (e == final || ft_order_before(order, final, e))
                high = middle;
            else
                low = middle + 1;
        }
        lower_limit(b, t, low);
    }
}

/* One read may have all the writes of a long trace for sources. */
static bool is_late(build *b, uint32_t looks)
{
    enum { LOOKS = 1 << 20 };
    b->looks += looks;
    if (b->looks < b->next_look) return false;
    b->next_look = b->looks + LOOKS;
    b->late = ft_now_ms() >= b->deadline;
    return b->late;
}

static void need_reads(build *b, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(b->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (accesses[i].write || !ft_slice_needs(b->w->problem->slice, e, accesses[i].variable))
            continue;
        if (ft_problem_demand(b->w->problem, e, i) == FT_DEMAND_SOURCE) {
            uint32_t source = ft_run_source(b->w->problem->run, e, i);
            if (source != FT_NO_EVENT && !include(b, source))
                lower_limit(b, b->trace->thread[e], b->order->position[e]);
            continue;
        }
        uint32_t first = b->w->writer_first[accesses[i].variable];
        uint32_t n = b->w->writer_first[accesses[i].variable + 1] - first;
        const uint32_t *writers = b->w->writers + first;
        uint32_t from = count_before(writers, n, b->cut);
        if (is_late(b, n - from)) return;
        for (uint32_t k = from; k < n; k++)
            if (writers[k] != e && !ft_order_before(b->order, e, writers[k]) &&
                ft_problem_allows(b->w->problem, e, i, writers[k]))
                include(b, writers[k]);
    }
}

/* The place, among the lock's sections, after the last one that begins before the cut. */
static uint32_t begun_at_cut(const build *b, uint32_t lock)
{
    uint32_t low = b->order->lock_first[lock], high = b->order->lock_first[lock + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (b->order->sections.data[b->order->lock_sections[middle]].acquire < b->cut)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sections of the lock that are open at the cut: several if they are shared. Before an exclusive
 * one all others were closed. */
static void need_open_at_cut(build *b, uint32_t lock)
{
    const ft_section *s;
    uint32_t first = b->order->lock_first[lock], at = begun_at_cut(b, lock);
    do {
        if (at == first) return;
        uint32_t section = b->order->lock_sections[--at];
        s = &b->order->sections.data[section];
        if (s->release != FT_NO_EVENT && s->release < b->cut) continue;
        ft_vec_push(&b->holding, section);
        if (s->release != FT_NO_EVENT) include(b, s->release);
    } while (s->shared);
}

static void need_section(build *b, uint32_t section)
{
    const ft_section *s = &b->order->sections.data[section];
    bool inserted;
    if (s->release != FT_NO_EVENT) include(b, s->release);
    if (s->acquire < b->cut) return;
    ft_map_slot(&b->lock_seen, s->lock, 0, &inserted);
    if (inserted) need_open_at_cut(b, s->lock);
}

static void need(build *b, uint32_t e)
{
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(b->order, e, &sources);
    for (uint32_t i = 0; i < count; i++)
        if (!include(b, sources[i])) lower_limit(b, b->trace->thread[e], b->order->position[e]);
    if (ft_order_never(b->order, e)) lower_limit(b, b->trace->thread[e], b->order->position[e]);
    need_reads(b, e);
    if (b->order->section_of[e] != FT_NO_SECTION) need_section(b, b->order->section_of[e]);
    if (b->trace->kind[e] != FT_EVENT_WAIT) return;
    uint32_t first = b->w->post_first[b->trace->object[e]];
    uint32_t n = b->w->post_first[b->trace->object[e] + 1] - first;
    const uint32_t *posts = b->w->posts + first;
    for (uint32_t k = count_before(posts, n, b->cut); k < n; k++)
        if (!ft_order_before(b->order, e, posts[k])) include(b, posts[k]);
}

static bool is_final(const ft_claim *claim, uint32_t i)
{
    return i >= ft_claim_first_final(claim->kind);
}

/* A final compare-and-swap writes only where it finds what it found in the run. */
static void need_found(build *b, uint32_t e)
{
    uint32_t variable = b->trace->object[e], first = b->w->writer_first[variable];
    uint32_t n = b->w->writer_first[variable + 1] - first;
    const uint32_t *writers = b->w->writers + first;
    for (uint32_t k = count_before(writers, n, b->cut); k < n; k++)
        if (writers[k] != e && !ft_order_before(b->order, e, writers[k])) include(b, writers[k]);
}

/* Everything up to t_c, and up to before the others, has to happen. */
static void start(build *b)
{
    for (uint32_t i = 0; i < ft_claim_events(b->claim); i++) {
        uint32_t e = b->claim->events[i], previous = ft_order_previous(b->order, e);
        if (previous != FT_NO_EVENT && !include(b, previous)) b->impossible = true;
        const uint32_t *sources;
        uint32_t count = previous == FT_NO_EVENT ? ft_order_hard_sources(b->order, e, &sources) : 0;
        if (count > 0 && b->trace->kind[sources[0]] == FT_EVENT_FORK && !include(b, sources[0]))
            b->impossible = true;
        if (!is_final(b->claim, i) && !include(b, e)) b->impossible |= i == 0;
        if (is_final(b->claim, i) && ft_trace_compares(b->trace, e)) need_found(b, e);
    }
}

static void close_window(build *b)
{
    ft_windows *w = b->w;
    while (b->dirty.len > 0 && !b->late) {
        uint32_t t = b->dirty.data[--b->dirty.len];
        const uint32_t *events = b->order->thread_events + b->order->thread_start[t];
        assert(w->frontier[t] <= b->order->thread_start[t + 1] - b->order->thread_start[t]);
        while (w->done[t] < w->frontier[t] && !b->late) need(b, events[w->done[t]++]);
    }
}

static void find_events(build *b)
{
    const ft_order *order = b->order;
    ft_windows *w = b->w;
    size_t bytes = order->n_threads * sizeof *w->base;
    for (uint32_t t = 0; t < order->n_threads; t++)
        w->base[t] = count_before(order->thread_events + order->thread_start[t],
                                  order->thread_start[t + 1] - order->thread_start[t], b->cut);
    memset(w->limit, 0xff, bytes);
    memset(w->frontier, 0, bytes);
    for (uint32_t i = 0; i < ft_claim_events(b->claim); i++)
        if (is_final(b->claim, i)) cut_after(b, b->claim->events[i]);
    do { /* again without what a lowered limit excludes */
        b->again = false;
        b->dirty.len = b->holding.len = 0;
        ft_map_release(&b->lock_seen);
        memcpy(w->frontier, w->base, bytes);
        memcpy(w->done, w->base, bytes);
        start(b);
        close_window(b);
    } while (b->again && !b->impossible && !b->late);
}

static int ascending(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* The claim's events are in the window even where they are no members. */
static bool collect(build *b)
{
    for (uint32_t t = 0; t < b->order->n_threads; t++)
        for (uint32_t i = b->w->base[t]; i < b->w->frontier[t]; i++)
            ft_vec_push(&b->events, b->order->thread_events[b->order->thread_start[t] + i]);
    for (uint32_t i = 0; i < ft_claim_events(b->claim); i++) {
        uint32_t e = b->claim->events[i], t = b->trace->thread[e];
        if (b->order->position[e] < b->w->frontier[t]) {
            if (is_final(b->claim, i)) return false;
            continue;
        }
        /* A t_r that cannot be a member may depart: the encoding of the whole trace decides that.
         */
        if (!is_final(b->claim, i)) return false;
        ft_vec_push(&b->events, e);
    }
    qsort(b->events.data, b->events.len, sizeof *b->events.data, ascending);
    return true;
}

/* ---- the window's trace ---- */

static uint32_t id_of(ft_map *ids, uint64_t object)
{
    return (uint32_t)*ft_map_slot(ids, object, ids->len, NULL);
}

static void emit(build *b, uint8_t kind, uint32_t thread, uint32_t object, uint32_t data,
                 uint32_t event)
{
    ft_trace *t = &b->window->trace;
    assert(b->n < b->room);
    assert(event == FT_NO_EVENT || b->trace->thread[event] == thread);
    uint32_t n = b->n++;
    t->kind[n] = kind;
    t->thread[n] = (uint16_t)id_of(&b->thread_id, thread);
    t->object[n] = object;
    t->data[n] = data;
    t->flags[n] = event == FT_NO_EVENT ? 0 : b->trace->flags[event];
    t->loc[n] = FT_NO_LOC;
    b->window->event[n] = event;
}

static bool emit_nothing(build *b, uint32_t e)
{
    emit(b, FT_EVENT_TX_END, b->trace->thread[e], 0, 0, e);
    uint8_t of_locks = FT_FLAG_NESTED | FT_FLAG_STRANGER; /* of what it stands for */
    b->window->trace.flags[b->n - 1] &= (uint8_t)~of_locks;
    return true;
}

static bool in_window(const build *b, uint32_t e)
{
    return e >= b->cut && b->order->position[e] < b->w->frontier[b->trace->thread[e]];
}

/* Does the event's read constrain the events after the cut alone? It does if its source is one of
 * them, or if no write after the cut can come before its source: then those writes come after the
 * read, as if the source were the initial value. */
static bool is_kept(const build *b, uint32_t e)
{
    const ft_problem *p = b->w->problem;
    uint32_t variable = b->trace->object[e], first = b->w->writer_first[variable];
    uint32_t n = b->w->writer_first[variable + 1] - first;
    const uint32_t *writers = b->w->writers + first;
    uint32_t before = count_before(writers, n, b->cut);
    if (b->kind == FT_WINDOW_STRICT || before == 0) return true;
    if (ft_problem_demand(p, e, 0) != FT_DEMAND_SOURCE) return false;
    uint32_t source = ft_run_source(p->run, e, 0);
    if (source == FT_NO_EVENT || source >= b->cut) return true;
    for (uint32_t k = before; k < n; k++)
        if (in_window(b, writers[k]) && !ft_order_before(b->order, source, writers[k]))
            return false;
    return true;
}

static bool is_claimed(const build *b, uint32_t e)
{
    const uint32_t *events = b->claim->events; /* two or three */
    return events[0] == e || events[1] == e ||
           (b->claim->kind == FT_CLAIM_ATOMICITY && events[2] == e);
}

static uint32_t add_update(build *b, uint32_t variable, const ft_update *from)
{
    ft_update own = *from;
    own.accesses[0].variable = own.accesses[1].variable = variable;
    ft_vec_push(&b->updates, own);
    return (uint32_t)b->updates.len - 1;
}

/* False: the window is of no use. */
static bool emit_access(build *b, uint32_t e)
{
    uint8_t kind = b->trace->kind[e];
    uint32_t variable = id_of(&b->variable_id, b->trace->object[e]), data = b->trace->data[e];
    if (variable == b->variables.len) ft_vec_push(&b->variables, b->trace->object[e]);
    bool free_read = kind != FT_EVENT_WRITE && in_window(b, e) && !is_kept(b, e);
    if (free_read && is_claimed(b, e)) return false;
    if (free_read && kind == FT_EVENT_READ) return emit_nothing(b, e);
    if (free_read) {
        kind = FT_EVENT_WRITE;
        data = b->trace->updates[data].written;
    }
    if (kind == FT_EVENT_RMW) data = add_update(b, variable, &b->trace->updates[data]);
    emit(b, kind, b->trace->thread[e], variable, data, e);
    /* Any value may have been written before the cut: the claim's swaps may find it or not. */
    bool open = kind == FT_EVENT_RMW && b->kind == FT_WINDOW_RELAXED && is_claimed(b, e);
    if (open) b->window->trace.flags[b->n - 1] &= (uint8_t)~FT_FLAG_TRY;
    return true;
}

/* The fork of a thread without events after the cut, or forked before it, has no effect. */
static bool emit_fork(build *b, uint32_t e)
{
    uint32_t child = b->trace->object[e];
    uint64_t id;
    if (b->order->fork_of[child] == e && ft_map_get(&b->thread_id, child, &id))
        emit(b, FT_EVENT_FORK, b->trace->thread[e], (uint32_t)id, 0, e);
    else
        emit_nothing(b, e);
    return true;
}

static bool emit_join(build *b, uint32_t e)
{
    uint32_t child = b->trace->object[e], last = ft_order_last(b->order, child);
    if (last != FT_NO_EVENT && last >= b->cut)
        emit(b, FT_EVENT_JOIN, b->trace->thread[e], id_of(&b->thread_id, child), 0, e);
    else
        emit_nothing(b, e);
    return true;
}

static void emit_lock(build *b, uint8_t kind, uint32_t thread, uint32_t lock, uint32_t e)
{
    emit(b, kind, thread, id_of(&b->lock_id, lock), 0, e);
    if (b->lock_id.len > b->locks.len) ft_vec_push(&b->locks, lock);
}

/* A lock that no thread takes after the cut is left out. */
static bool emit_section(build *b, uint32_t e)
{
    uint32_t lock = b->trace->object[e];
    if (ft_order_effective(b->trace, e) && b->order->section_of[e] != FT_NO_SECTION &&
        ft_map_get(&b->lock_seen, lock, NULL))
        emit_lock(b, b->trace->kind[e], b->trace->thread[e], lock, e);
    else
        emit_nothing(b, e);
    return true;
}

static bool emit_semaphore(build *b, uint32_t e)
{
    uint32_t semaphore = b->trace->object[e];
    emit(b, b->trace->kind[e], b->trace->thread[e], id_of(&b->semaphore_id, semaphore), 0, e);
    if (b->semaphore_id.len > b->semaphores.len) ft_vec_push(&b->semaphores, semaphore);
    return true;
}

/* An edge is numbered by its source event. */
static bool emit_edge(build *b, uint32_t e)
{
    uint64_t source = e;
    if (b->trace->kind[e] == FT_EVENT_EDGE_IN &&
        (!ft_map_get(&b->order->edge_source, e, &source) || source < b->cut))
        emit_nothing(b, e);
    else
        emit(b, b->trace->kind[e], b->trace->thread[e], id_of(&b->edge_id, source), 0, e);
    return true;
}

/* A thread that reaches an initialiser which another thread runs waits for its end: an edge. */
static bool emit_once(build *b, uint32_t e)
{
    bool pass = b->trace->kind[e] == FT_EVENT_ONCE_PASS;
    uint32_t end = b->order->sync.once_end[b->trace->object[e]];
    if (end == FT_NO_EVENT || end < b->cut || (!pass && e != end))
        emit_nothing(b, e);
    else
        emit(b, pass ? FT_EVENT_EDGE_IN : FT_EVENT_EDGE_OUT, b->trace->thread[e],
             id_of(&b->edge_id, end), 0, e);
    return true;
}

/* The block of an AFTER_FREE is the window's only one. */
static bool emit_block(build *b, uint32_t e)
{
    if (b->claim->kind == FT_CLAIM_AFTER_FREE &&
        b->trace->object[e] == b->trace->object[b->claim->events[0]])
        emit(b, b->trace->kind[e], b->trace->thread[e], 0, 0, e);
    else
        emit_nothing(b, e);
    return true;
}

/* False: the window is of no use. Kinds without a row have no effect on others. */
typedef bool emitter(build *b, uint32_t e);
static emitter *const EMIT[FT_EVENT_KINDS] = {
    [FT_EVENT_READ] = emit_access,     [FT_EVENT_WRITE] = emit_access,
    [FT_EVENT_RMW] = emit_access,      [FT_EVENT_FORK] = emit_fork,
    [FT_EVENT_JOIN] = emit_join,       [FT_EVENT_ACQUIRE] = emit_section,
    [FT_EVENT_RELEASE] = emit_section, [FT_EVENT_ACQUIRE_SHARED] = emit_section,
    [FT_EVENT_WAIT] = emit_semaphore,  [FT_EVENT_POST] = emit_semaphore,
    [FT_EVENT_EDGE_OUT] = emit_edge,   [FT_EVENT_EDGE_IN] = emit_edge,
    [FT_EVENT_ONCE_END] = emit_once,   [FT_EVENT_ONCE_PASS] = emit_once,
    [FT_EVENT_ALLOC] = emit_block,     [FT_EVENT_FREE] = emit_block};

static bool emit_event(build *b, uint32_t e)
{
    return EMIT[b->trace->kind[e]] ? EMIT[b->trace->kind[e]](b, e) : emit_nothing(b, e);
}

/* Sections open at the cut begin in the window; in a strict one, before all else: one after the
 * other, and every other thread waits for the last. */
static void emit_holders(build *b)
{
    const ft_section *sections = b->order->sections.data;
    bool chain = b->kind == FT_WINDOW_STRICT;
    uint32_t last = FT_NO_ID, link = 0;
    for (size_t i = 0; i < b->holding.len; i++) {
        const ft_section *s = &sections[b->holding.data[i]];
        if (chain && i > 0) emit(b, FT_EVENT_EDGE_IN, s->thread, link, 0, FT_NO_EVENT);
        emit_lock(b, s->shared ? FT_EVENT_ACQUIRE_SHARED : FT_EVENT_ACQUIRE, s->thread, s->lock,
                  FT_NO_EVENT);
        link = id_of(&b->edge_id, (uint64_t)FT_NO_EVENT + 1 + i); /* no event's */
        if (chain) emit(b, FT_EVENT_EDGE_OUT, s->thread, link, 0, FT_NO_EVENT);
        last = s->thread;
    }
    for (size_t i = 0; chain && last != FT_NO_ID && i < b->threads.len; i++) {
        uint32_t t = b->threads.data[i], fork = b->order->fork_of[t];
        bool forked_here = fork != FT_NO_EVENT && in_window(b, fork);
        if (t != last && !forked_here) emit(b, FT_EVENT_EDGE_IN, t, link, 0, FT_NO_EVENT);
    }
}

/* The value that the cut leaves in the variable. */
static uint32_t value_at_cut(const build *b, uint32_t variable)
{
    uint32_t first = b->w->writer_first[variable];
    uint32_t before =
        count_before(b->w->writers + first, b->w->writer_first[variable + 1] - first, b->cut);
    if (before == 0) return b->trace->shared_info[variable].initial;
    uint32_t e = b->w->writers[first + before - 1], data = b->trace->data[e];
    return b->trace->kind[e] == FT_EVENT_RMW ? b->trace->updates[data].written : data;
}

/* Units that waits after the cut find: in a strict window those that are left at the cut, in a
 * relaxed one all that the posts before the cut may leave. */
static uint32_t units_at_cut(const build *b, uint32_t semaphore)
{
    const ft_windows *w = b->w;
    uint32_t posts = count_before(w->posts + w->post_first[semaphore],
                                  w->post_first[semaphore + 1] - w->post_first[semaphore], b->cut);
    uint32_t waits = count_before(w->waits + w->wait_first[semaphore],
                                  w->wait_first[semaphore + 1] - w->wait_first[semaphore], b->cut);
    uint32_t units = b->trace->semaphore_initial[semaphore] + posts;
    return b->kind == FT_WINDOW_RELAXED ? units : units - waits;
}

static void fill_tables(build *b)
{
    ft_trace *t = &b->window->trace;
    t->n_events = b->n;
    t->updates = b->updates.data;
    t->n_updates = (uint32_t)b->updates.len;
    b->updates.data = NULL;
    t->threads.len = (uint32_t)b->thread_id.len;
    t->shared.len = (uint32_t)b->variables.len;
    t->locks.len = (uint32_t)b->locks.len;
    t->semaphores.len = (uint32_t)b->semaphores.len;
    t->edges.len = (uint32_t)b->edge_id.len;
    t->notes = NULL; /* they are about the whole trace, whose events have other numbers */
    t->n_notes = 0;
    t->shared_info = ft_calloc(b->variables.len + 1, sizeof *t->shared_info);
    t->lock_kind = ft_calloc(b->locks.len + 1, sizeof *t->lock_kind);
    t->semaphore_initial = ft_calloc(b->semaphores.len + 1, sizeof *t->semaphore_initial);
    for (size_t v = 0; v < b->variables.len; v++)
        t->shared_info[v] = (ft_variable){.sort = b->trace->shared_info[b->variables.data[v]].sort,
                                          .initial = value_at_cut(b, b->variables.data[v])};
    for (size_t l = 0; l < b->locks.len; l++)
        t->lock_kind[l] = b->trace->lock_kind[b->locks.data[l]];
    for (size_t s = 0; s < b->semaphores.len; s++)
        t->semaphore_initial[s] = units_at_cut(b, b->semaphores.data[s]);
}

/* The variable that the claim's last event accesses, unless that event is a free. */
static void fill_block(build *b)
{
    ft_window *window = b->window;
    uint32_t last = b->claim->events[1];
    window->trace.blocks.len = b->claim->kind == FT_CLAIM_AFTER_FREE;
    window->trace.block_cells = &window->cells;
    if (!window->trace.blocks.len || b->trace->kind[last] == FT_EVENT_FREE) return;
    window->accessed = id_of(&b->variable_id, b->trace->object[last]);
    window->cells = (ft_block_cells){&window->accessed, 1};
}

static void number_thread(build *b, uint32_t thread)
{
    id_of(&b->thread_id, thread);
    if (b->thread_id.len > b->threads.len) ft_vec_push(&b->threads, thread);
}

static void prepare(build *b)
{
    ft_trace *t = &b->window->trace;
    *t = *b->trace;
    for (size_t i = 0; i < b->holding.len; i++)
        number_thread(b, b->order->sections.data[b->holding.data[i]].thread);
    for (size_t i = 0; i < b->events.len; i++)
        number_thread(b, b->trace->thread[b->events.data[i]]);
    size_t n = b->events.len + 3 * b->holding.len + b->threads.len + 1;
    b->room = (uint32_t)n;
    t->kind = ft_calloc(n, sizeof *t->kind);
    t->flags = ft_calloc(n, sizeof *t->flags);
    t->thread = ft_calloc(n, sizeof *t->thread);
    t->object = ft_calloc(n, sizeof *t->object);
    t->loc = ft_calloc(n, sizeof *t->loc);
    t->data = ft_calloc(n, sizeof *t->data);
    t->conditions.len = t->barriers.len = t->onces.len = t->blocks.len = 0;
    t->updates = NULL;
    t->shared_info = NULL;
    t->lock_kind = NULL;
    t->semaphore_initial = NULL;
    b->window->event = ft_calloc(n, sizeof *b->window->event);
}

static void renumber_claim(build *b)
{
    ft_window *window = b->window;
    window->claim = *b->claim;
    for (uint32_t n = 0; n < b->n; n++)
        for (uint32_t i = 0; i < ft_claim_events(b->claim); i++)
            if (window->event[n] == b->claim->events[i]) window->claim.events[i] = n;
    if (b->claim->kind == FT_CLAIM_ATOMICITY)
        window->claim.variable = id_of(&b->variable_id, b->claim->variable);
}

static bool write_trace(build *b)
{
    if (!collect(b)) return false;
    assert(b->events.len == 0 || b->events.data[0] >= b->cut);
    prepare(b);
    emit_holders(b);
    for (size_t i = 0; i < b->events.len; i++)
        if (!emit_event(b, b->events.data[i])) return false;
    fill_tables(b);
    fill_block(b);
    renumber_claim(b);
    ft_window *window = b->window;
    window->problem = *b->w->problem;
    window->problem.cube = NULL; /* its events have other numbers here */
    window->problem.trace = &window->trace;
    window->problem.order = window->order = ft_order_new(&window->trace);
    window->problem.run = window->run = ft_run_new(&window->trace);
    window->problem.causality =
        NULL; /* that is of the whole trace, whose events have other numbers */
    FT_CHECK(ft_window_is_sound(window, b->trace, b->claim));
    return true;
}

ft_window *ft_window_new(ft_windows *w, const ft_claim *claim, uint32_t cut, ft_window_kind kind,
                         double deadline)
{
    FT_REQUIRE(w->plain == 1 && cut <= ft_windows_cut(claim, 0));
    FT_CHECK(ft_claim_is_sound(w->problem->trace, claim));
    build b = {.w = w,
               .trace = w->problem->trace,
               .order = w->problem->order,
               .claim = claim,
               .cut = cut,
               .kind = kind,
               .deadline = deadline,
               .window = ft_calloc(1, sizeof *b.window)};
    b.window->cut = cut;
    find_events(&b);
    b.window->impossible = b.impossible;
    if (b.late || (!b.impossible && !write_trace(&b))) {
        ft_window_free(b.window);
        b.window = NULL;
    }
    ft_vec_release(&b.dirty);
    ft_vec_release(&b.events);
    ft_vec_release(&b.holding);
    ft_vec_release(&b.updates);
    ft_vec_release(&b.threads);
    ft_vec_release(&b.variables);
    ft_vec_release(&b.locks);
    ft_vec_release(&b.semaphores);
    ft_map_release(&b.lock_seen);
    ft_map_release(&b.thread_id);
    ft_map_release(&b.variable_id);
    ft_map_release(&b.lock_id);
    ft_map_release(&b.semaphore_id);
    ft_map_release(&b.edge_id);
    return b.window;
}

void ft_window_free(ft_window *window)
{
    if (!window) return;
    ft_order_free(window->order);
    ft_run_free(window->run);
    free(window->trace.kind);
    free(window->trace.flags);
    free(window->trace.thread);
    free(window->trace.object);
    free(window->trace.loc);
    free(window->trace.data);
    free(window->trace.updates);
    free(window->trace.shared_info);
    free(window->trace.lock_kind);
    free(window->trace.semaphore_initial);
    free(window->event);
    free(window);
}

static bool events_are_sound(const ft_window *window, const ft_trace *trace)
{
    uint32_t before = 0;
    for (uint32_t n = 0; n < window->trace.n_events; n++) {
        uint32_t e = window->event[n];
        if (e == FT_NO_EVENT) continue;
        if (e < window->cut || e >= trace->n_events || e < before) return false;
        before = e + 1;
        if (window->trace.thread[n] >= window->trace.threads.len) return false;
    }
    return true;
}

bool ft_window_is_sound(const ft_window *window, const ft_trace *trace, const ft_claim *claim)
{
    if (window->claim.kind != claim->kind || !events_are_sound(window, trace)) return false;
    for (uint32_t i = 0; i < ft_claim_events(claim); i++) {
        uint32_t n = window->claim.events[i];
        if (n >= window->trace.n_events || window->event[n] != claim->events[i]) return false;
    }
    return ft_claim_is_sound(&window->trace, &window->claim);
}

void ft_window_restore(const ft_window *window, const ft_claim *claim, ft_witness *witness)
{
    FT_REQUIRE(window && !window->impossible && witness->n_steps <= window->trace.n_events);
    FT_CHECK(ft_witness_is_sound(&window->trace, witness));
    uint32_t n = window->cut;
    uint32_t *steps = ft_alloc(((size_t)n + witness->n_steps + 1) * sizeof *witness->steps);
    for (uint32_t e = 0; e < window->cut; e++) steps[e] = e;
    for (uint32_t i = 0; i < witness->n_steps; i++) {
        uint32_t e = window->event[witness->steps[i]];
        assert(e >= window->cut);
        if (e != FT_NO_EVENT) steps[n++] = e;
    }
    free(witness->steps);
    witness->steps = steps;
    witness->n_steps = n;
    witness->claim = *claim;
}
