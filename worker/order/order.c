#include "order/order.h"

#include <stdlib.h>
#include <string.h>

bool ft_order_effective(const ft_trace *trace, uint32_t e)
{
    uint8_t kind = trace->kind[e];
    return (kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_RELEASE ||
            kind == FT_EVENT_ACQUIRE_SHARED) &&
           !(trace->flags[e] & (FT_FLAG_NESTED | FT_FLAG_STRANGER));
}

bool ft_order_opens(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] != FT_EVENT_RELEASE && ft_order_effective(trace, e);
}

bool ft_order_reads_behind(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_ACQUIRE_SHARED && !(trace->flags[e] & FT_FLAG_TRY) &&
           trace->lock_kind[trace->object[e]] == FT_LOCK_WRITER_PREFERRING;
}

bool ft_order_waits_behind(const ft_trace *trace, uint32_t e, uint32_t writer)
{
    return ft_order_reads_behind(trace, e) && trace->kind[writer] == FT_EVENT_ACQUIRE &&
           trace->object[writer] == trace->object[e] && !(trace->flags[writer] & FT_FLAG_TRY);
}

const ft_section *ft_section_otherwise(const ft_section *all, const ft_section *section)
{
    FT_REQUIRE(all && section);
    return section->otherwise == FT_NO_SECTION ? NULL : &all[section->otherwise];
}

bool ft_order_conflict(const ft_section *a, const ft_section *b)
{
    return !(a->shared && b->shared);
}

/* ---- threads ------------------------------------------------------------------------------- */

static void group_by_thread(ft_order *order)
{
    const ft_trace *trace = order->trace;
    uint32_t n = trace->n_events;
    /* Locals, here and in the walks below: to the compiler, every store may change the order. */
    const uint16_t *thread = trace->thread;
    uint32_t *start = ft_calloc((size_t)order->n_threads + 1, sizeof *start);
    uint32_t *events = ft_alloc((size_t)n * sizeof *events);
    uint32_t *position = ft_alloc((size_t)n * sizeof *position);
    uint32_t *count = ft_calloc(order->n_threads, sizeof *count);
    for (uint32_t e = 0; e < n; e++) count[thread[e]]++;
    for (uint32_t t = 0; t < order->n_threads; t++) {
        start[t + 1] = start[t] + count[t];
        count[t] = 0;
    }
    for (uint32_t e = 0; e < n; e++) {
        position[e] = count[thread[e]]++;
        events[start[thread[e]] + position[e]] = e;
    }
    free(count);
    assert(start[order->n_threads] == n);
    order->thread_start = start;
    order->thread_events = events;
    order->position = position;
}

static void find_forks(ft_order *order)
{
    const ft_trace *trace = order->trace;
    order->fork_of = ft_alloc(((size_t)order->n_threads + 1) * sizeof *order->fork_of);
    memset(order->fork_of, 0xff, ((size_t)order->n_threads + 1) * sizeof *order->fork_of);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_FORK && order->fork_of[trace->object[e]] == FT_NO_EVENT)
            order->fork_of[trace->object[e]] = e;
}

/* One walk forward for the latest edge-out before each edge-in, one back for those without. */
static void find_edges(ft_order *order)
{
    const ft_trace *trace = order->trace;
    uint32_t *latest = ft_alloc(((size_t)trace->edges.len + 1) * sizeof *latest);
    memset(latest, 0xff, ((size_t)trace->edges.len + 1) * sizeof *latest);
    for (uint32_t e = 0; trace->edges.len && e < trace->n_events; e++) {
        if (trace->kind[e] == FT_EVENT_EDGE_OUT) latest[trace->object[e]] = e;
        if (trace->kind[e] == FT_EVENT_EDGE_IN && latest[trace->object[e]] != FT_NO_EVENT)
            ft_map_put(&order->edge_source, e, latest[trace->object[e]]);
    }
    memset(latest, 0xff, ((size_t)trace->edges.len + 1) * sizeof *latest);
    for (uint32_t e = trace->n_events; trace->edges.len && e-- > 0;) {
        if (trace->kind[e] == FT_EVENT_EDGE_OUT) latest[trace->object[e]] = e;
        if (trace->kind[e] == FT_EVENT_EDGE_IN && latest[trace->object[e]] != FT_NO_EVENT)
            ft_map_slot(&order->edge_source, e, latest[trace->object[e]], NULL);
    }
    free(latest);
}

uint32_t ft_order_previous(const ft_order *order, uint32_t e)
{
    FT_REQUIRE(e < order->trace->n_events);
    uint32_t at = order->position[e];
    if (at == 0) return FT_NO_EVENT;
    return order->thread_events[order->thread_start[order->trace->thread[e]] + at - 1];
}

uint32_t ft_order_next(const ft_order *order, uint32_t e)
{
    FT_REQUIRE(e < order->trace->n_events);
    uint32_t t = order->trace->thread[e];
    uint32_t at = order->thread_start[t] + order->position[e] + 1;
    return at < order->thread_start[t + 1] ? order->thread_events[at] : FT_NO_EVENT;
}

uint32_t ft_order_last(const ft_order *order, uint32_t thread)
{
    FT_REQUIRE(thread < order->n_threads);
    uint32_t end = order->thread_start[thread + 1];
    return end > order->thread_start[thread] ? order->thread_events[end - 1] : FT_NO_EVENT;
}

/* ---- segments and clocks ------------------------------------------------------------------- */

/* The last event of a joined thread is a source as well; which threads are joined is known only
 * at the end, so a thread's last event always ends its segment (it has no successor anyway). */
static bool is_source(uint8_t kind)
{
    return kind == FT_EVENT_FORK || kind == FT_EVENT_EDGE_OUT || kind == FT_EVENT_BARRIER_ARRIVE ||
           kind == FT_EVENT_ONCE_END;
}

typedef struct clock_pass {
    ft_order *order;
    uint32_t *current; /* per thread: its segment, UINT32_MAX before its first event */
    bool *closed;      /* per thread: the next event starts a segment */
    size_t capacity;   /* segments allocated */
} clock_pass;

static uint32_t *clock_of(const ft_order *order, uint32_t segment)
{
    return order->clock + (size_t)segment * order->n_threads;
}

static void segment_grow(clock_pass *pass)
{
    ft_order *order = pass->order;
    if (order->n_segments < pass->capacity) return;
    pass->capacity = pass->capacity ? pass->capacity * 2 : 64;
    order->clock =
        ft_realloc(order->clock, pass->capacity * order->n_threads, sizeof *order->clock);
    order->segment_thread =
        ft_realloc(order->segment_thread, pass->capacity, sizeof *order->segment_thread);
}

static void segment_start(clock_pass *pass, uint32_t e, const uint32_t *sources, uint32_t n_sources)
{
    ft_order *order = pass->order;
    uint32_t thread = order->trace->thread[e];
    segment_grow(pass);
    uint32_t segment = order->n_segments++;
    uint32_t *clock = clock_of(order, segment);
    if (pass->current[thread] == UINT32_MAX)
        memset(clock, 0, order->n_threads * sizeof *clock);
    else
        memcpy(clock, clock_of(order, pass->current[thread]), order->n_threads * sizeof *clock);
    for (uint32_t i = 0; i < n_sources; i++) {
        assert(sources[i] != e);
        if (sources[i] > e) continue; /* the observed order is broken here: no clock to take */
        const uint32_t *from = clock_of(order, order->segment[sources[i]]);
        for (uint32_t t = 0; t < order->n_threads; t++)
            if (from[t] > clock[t]) clock[t] = from[t];
        uint32_t *own = &clock[order->trace->thread[sources[i]]];
        if (order->position[sources[i]] + 1 > *own) *own = order->position[sources[i]] + 1;
    }
    assert(clock[thread] <= order->position[e]); /* else the event is ordered before itself */
    order->segment_thread[segment] = (uint16_t)thread;
    pass->current[thread] = segment;
    pass->closed[thread] = false;
}

static void compute_clocks(ft_order *order)
{
    const ft_trace *trace = order->trace;
    clock_pass pass = {.order = order,
                       .current = ft_alloc(order->n_threads * sizeof *pass.current),
                       .closed = ft_calloc(order->n_threads, sizeof *pass.closed)};
    memset(pass.current, 0xff, order->n_threads * sizeof *pass.current);
    uint32_t *segment = ft_alloc((size_t)trace->n_events * sizeof *segment);
    const uint8_t *kinds = trace->kind;
    order->segment = segment;
    for (uint32_t e = 0, n = trace->n_events; e < n; e++) {
        uint32_t thread = trace->thread[e];
        const uint32_t *sources;
        uint32_t n_sources = ft_order_hard_sources(order, e, &sources);
        uint8_t kind = kinds[e];
        bool first = pass.current[thread] == UINT32_MAX;
        if (first || n_sources || pass.closed[thread]) segment_start(&pass, e, sources, n_sources);
        segment[e] = pass.current[thread];
        if (is_source(kind)) pass.closed[thread] = true;
    }
    free(pass.current);
    free(pass.closed);
}

bool ft_order_before(const ft_order *order, uint32_t a, uint32_t b)
{
    FT_REQUIRE(a < order->trace->n_events && b < order->trace->n_events);
    uint32_t ta = order->trace->thread[a];
    if (ta == order->trace->thread[b]) return order->position[a] < order->position[b];
    return clock_of(order, order->segment[b])[ta] > order->position[a];
}

bool ft_order_before_next(const ft_order *order, uint32_t a, uint32_t b)
{
    FT_REQUIRE(a < order->trace->n_events && b < order->trace->n_events);
    uint32_t done = ft_order_previous(order, b);
    if (done == FT_NO_EVENT) done = order->fork_of[order->trace->thread[b]];
    return done != FT_NO_EVENT && (a == done || ft_order_before(order, a, done));
}

bool ft_order_certain(const ft_trace *trace, uint32_t a, uint32_t e)
{
    FT_REQUIRE(a < trace->n_events && e < trace->n_events);
    uint32_t path = ft_trace_path(trace, a);
    if (path == 0) return true;
    if (trace->thread[a] != trace->thread[e]) return false;
    for (uint32_t p = ft_trace_path(trace, e); p; p = trace->paths[p].parent)
        if (p == path) return true;
    return false;
}

bool ft_order_segments_before(const ft_order *order, uint32_t a, uint32_t b)
{
    FT_REQUIRE(a < order->n_segments && b < order->n_segments);
    uint32_t thread = order->segment_thread[a];
    if (thread == order->segment_thread[b]) return a < b;
    const uint32_t *events = order->thread_events + order->thread_start[thread];
    uint32_t known = clock_of(order, b)[thread];
    assert(known <= order->thread_start[thread + 1] - order->thread_start[thread]);
    /* A clock ends at the end of a segment: it counts all events of a segment or none. */
    return known > 0 && order->segment[events[known - 1]] >= a;
}

/* ---- locks --------------------------------------------------------------------------------- */

typedef struct lock_pass {
    ft_order *order;
    uint32_t *current; /* per thread: hold state */
    ft_map locksets;   /* hash -> lockset id */
    uint32_t *alone;   /* per word: id of the lockset of this lock only, 0: not yet known */
    FT_VEC(uint32_t) locks;
} lock_pass;

static uint32_t lockset_intern(lock_pass *pass, const uint32_t *locks, uint32_t count)
{
    ft_order *order = pass->order;
    uint64_t key = ft_hash_bytes(locks, count * sizeof *locks, count);
    for (;; key++) {
        bool inserted;
        uint64_t *slot =
            ft_map_slot(&pass->locksets, key, order->lockset_offset.len - 1, &inserted);
        uint32_t id = (uint32_t)*slot;
        if (inserted) {
            for (uint32_t i = 0; i < count; i++) ft_vec_push(&order->locksets, locks[i]);
            ft_vec_push(&order->lockset_offset, (uint32_t)order->locksets.len);
            return id;
        }
        uint32_t first = order->lockset_offset.data[id];
        if (order->lockset_offset.data[id + 1] - first == count &&
            memcmp(order->locksets.data + first, locks, count * sizeof *locks) == 0)
            return id;
    }
}

static uint32_t lockset_word(const ft_section *section)
{
    return section->lock << 1 | section->shared;
}

/* Most locks are held alone: their locksets are kept by lock and not interned again. */
static uint32_t lockset_of(lock_pass *pass, const uint32_t *sections, uint32_t count)
{
    const ft_section *all = pass->order->sections.data;
    if (count == 0) return 0;
    uint32_t *alone = count == 1 ? &pass->alone[lockset_word(&all[*sections])] : NULL;
    if (alone && *alone) return *alone;
    pass->locks.len = 0;
    for (uint32_t i = 0; i < count; i++) ft_vec_push(&pass->locks, lockset_word(&all[sections[i]]));
    uint32_t id = lockset_intern(pass, pass->locks.data, count);
    if (alone) *alone = id;
    return id;
}

/* The hold state `from` with section `add` opened or `drop` closed (FT_NO_SECTION: neither). */
static uint32_t hold_change(lock_pass *pass, uint32_t from, uint32_t add, uint32_t drop)
{
    ft_order *order = pass->order;
    ft_hold base = order->holds.data[from];
    ft_hold hold = {.first = (uint32_t)order->hold_sections.len};
    if (base.count == 1 && add == FT_NO_SECTION && order->hold_sections.data[base.first] == drop)
        return 0;
    for (uint32_t i = 0; i < base.count; i++) {
        uint32_t s = order->hold_sections.data[base.first + i];
        if (s != drop) ft_vec_push(&order->hold_sections, s);
    }
    if (add != FT_NO_SECTION) {
        assert(add < order->sections.len);
        ft_vec_push(&order->hold_sections, add);
        uint32_t *open = order->hold_sections.data, lock = order->sections.data[add].lock;
        size_t at = order->hold_sections.len - 1;
        for (; at > hold.first && order->sections.data[open[at - 1]].lock > lock; at--)
            open[at] = open[at - 1];
        open[at] = add;
    }
    hold.count = (uint32_t)order->hold_sections.len - hold.first;
    assert(hold.count + (drop != FT_NO_SECTION) == base.count + (add != FT_NO_SECTION));
    hold.lockset = lockset_of(pass, order->hold_sections.data + hold.first, hold.count);
    assert((hold.lockset == 0) == (hold.count == 0));
    ft_vec_push(&order->holds, hold);
    return (uint32_t)order->holds.len - 1;
}

static uint32_t open_section(const ft_order *order, uint32_t hold, uint32_t lock)
{
    ft_hold h = order->holds.data[hold];
    for (uint32_t i = 0; i < h.count; i++) {
        uint32_t s = order->hold_sections.data[h.first + i];
        if (order->sections.data[s].lock == lock) return s;
    }
    return FT_NO_SECTION;
}

/* A condition wait in an arm gives back a lock that was taken before the arm: not taken, the arm
 * leaves the one section open and the one behind the wait unopened. */
static void link_wait(ft_order *order, uint32_t opened)
{
    const ft_trace *trace = order->trace;
    const ft_section *own = &order->sections.data[opened];
    uint32_t path = ft_trace_path(trace, own->acquire);
    if (path == 0 || !own->waits) return;
    for (uint32_t s = opened; s-- > 0;) {
        ft_section *before = &order->sections.data[s];
        if (before->thread != own->thread || before->lock != own->lock) continue;
        if (before->release != FT_NO_EVENT && ft_trace_path(trace, before->release) == path)
            before->otherwise = opened;
        return;
    }
}

static void lock_event(lock_pass *pass, uint32_t e)
{
    ft_order *order = pass->order;
    const ft_trace *trace = order->trace;
    uint32_t thread = trace->thread[e], lock = trace->object[e];
    bool waits = (trace->flags[e] & FT_FLAG_CONDITION) != 0;
    if (ft_order_opens(trace, e)) {
        ft_section section = {.lock = lock,
                              .acquire = e,
                              .release = FT_NO_EVENT,
                              .thread = (uint16_t)thread,
                              .shared = trace->kind[e] == FT_EVENT_ACQUIRE_SHARED,
                              .waits = waits,
                              .otherwise = FT_NO_SECTION};
        ft_vec_push(&order->sections, section);
        order->section_of[e] = (uint32_t)order->sections.len - 1;
        link_wait(order, order->section_of[e]);
        order->hold[e] = pass->current[thread];
        pass->current[thread] =
            hold_change(pass, pass->current[thread], order->section_of[e], FT_NO_SECTION);
        return;
    }
    uint32_t s = open_section(order, pass->current[thread], lock);
    order->hold[e] = pass->current[thread];
    if (s == FT_NO_SECTION) return; /* builder marks these; a hostile stored trace might not */
    assert(order->sections.data[s].thread == thread);
    assert(order->sections.data[s].release == FT_NO_EVENT && order->sections.data[s].acquire < e);
    order->sections.data[s].release = e;
    order->sections.data[s].waits |= waits;
    order->section_of[e] = s;
    pass->current[thread] = hold_change(pass, pass->current[thread], FT_NO_SECTION, s);
}

static void index_sections(ft_order *order)
{
    uint32_t n_locks = order->trace->locks.len;
    order->lock_first = ft_calloc((size_t)n_locks + 2, sizeof *order->lock_first);
    order->lock_sections = ft_alloc((order->sections.len + 1) * sizeof *order->lock_sections);
    uint32_t *first = order->lock_first;
    for (size_t s = 0; s < order->sections.len; s++) first[order->sections.data[s].lock + 2]++;
    for (uint32_t l = 0; l < n_locks; l++) first[l + 2] += first[l + 1];
    for (size_t s = 0; s < order->sections.len; s++)
        order->lock_sections[first[order->sections.data[s].lock + 1]++] = (uint32_t)s;
    assert(first[0] == 0 && first[n_locks] == order->sections.len);
}

static void compute_locks(ft_order *order)
{
    const ft_trace *trace = order->trace;
    lock_pass pass = {.order = order,
                      .current = ft_calloc(order->n_threads, sizeof *pass.current),
                      .alone = ft_calloc(2 * (size_t)trace->locks.len + 1, sizeof *pass.alone)};
    ft_vec_push(&order->holds, (ft_hold){0});
    ft_vec_push(&order->lockset_offset, 0);
    ft_vec_push(&order->lockset_offset, 0); /* lockset 0 is empty */
    order->hold = ft_alloc((size_t)trace->n_events * sizeof *order->hold);
    order->section_of = ft_alloc((size_t)trace->n_events * sizeof *order->section_of);
    memset(order->section_of, 0xff, (size_t)trace->n_events * sizeof *order->section_of);
    uint32_t *hold = order->hold, *current = pass.current;
    for (uint32_t e = 0, n = trace->n_events; e < n; e++) {
        if (ft_order_effective(trace, e))
            lock_event(&pass, e);
        else
            hold[e] = current[trace->thread[e]];
    }
    index_sections(order);
    free(pass.current);
    free(pass.alone);
    ft_vec_release(&pass.locks);
    ft_map_release(&pass.locksets);
}

uint32_t ft_order_common_lock(const ft_order *order, uint32_t lockset_a, uint32_t lockset_b)
{
    FT_REQUIRE(lockset_a + 1 < order->lockset_offset.len);
    FT_REQUIRE(lockset_b + 1 < order->lockset_offset.len);
    const uint32_t *offset = order->lockset_offset.data, *locks = order->locksets.data;
    uint32_t i = offset[lockset_a], j = offset[lockset_b];
    while (i < offset[lockset_a + 1] && j < offset[lockset_b + 1]) {
        uint32_t a = locks[i] >> 1, b = locks[j] >> 1;
        if (a == b && !(locks[i] & locks[j] & 1)) return a;
        i += a <= b;
        j += b <= a;
    }
    return UINT32_MAX;
}

uint32_t ft_order_section_at(const ft_order *order, uint32_t e, uint32_t lock)
{
    FT_REQUIRE(e < order->trace->n_events && lock < order->trace->locks.len);
    return open_section(order, order->hold[e], lock);
}

uint32_t ft_order_lockset(const ft_order *order, uint32_t e)
{
    FT_REQUIRE(e < order->trace->n_events);
    return order->holds.data[order->hold[e]].lockset;
}

ft_order *ft_order_new(const ft_trace *trace)
{
    FT_REQUIRE(trace);
    FT_CHECK(ft_trace_is_sound(trace));
    ft_order *order = ft_calloc(1, sizeof *order);
    order->trace = trace;
    order->n_threads = trace->threads.len;
    group_by_thread(order);
    find_forks(order);
    find_edges(order);
    ft_order_sync_init(order);
    compute_clocks(order);
    compute_locks(order);
    FT_CHECK(ft_order_is_sound(order));
    return order;
}

void ft_order_free(ft_order *order)
{
    if (!order) return;
    free(order->thread_start);
    free(order->thread_events);
    free(order->position);
    free(order->segment);
    free(order->segment_thread);
    free(order->clock);
    free(order->fork_of);
    ft_map_release(&order->edge_source);
    free(order->hold);
    ft_vec_release(&order->holds);
    ft_vec_release(&order->hold_sections);
    ft_vec_release(&order->sections);
    free(order->section_of);
    free(order->lock_first);
    free(order->lock_sections);
    ft_vec_release(&order->locksets);
    ft_vec_release(&order->lockset_offset);
    ft_order_sync_release(&order->sync);
    free(order);
}
