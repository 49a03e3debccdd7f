/* The graph of one claim: members enter row by row with a vector clock each; edges raise clocks;
 * raised clocks make the rules demand further edges; until nothing changes or a cycle closes. */
#include <stdlib.h>
#include <string.h>

#include "causality/internal.h"

/* Windows that had to begin earlier are built again this often at most. */
enum { LOWERINGS = 8 };

/* ---- look-ups ------------------------------------------------------------------------------- */

uint32_t *ft_causality_window_clock(const ft_causality_window *w, uint32_t row)
{
    return w->clock + (size_t)row * w->width;
}

ft_causality_lane *ft_causality_window_lane(const ft_causality *c, uint32_t thread)
{
    if (c->lane_epoch[thread] != c->epoch) return NULL;
    return &c->window.lanes.data[c->lane_of[thread]];
}

uint32_t ft_causality_window_row_from(const ft_causality_window *w, const ft_causality_lane *lane,
                                      uint32_t position)
{
    size_t low = 0, high = lane->rows.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->rows.data[lane->rows.data[middle]].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low < lane->rows.len ? lane->rows.data[low] : UINT32_MAX;
}

uint32_t ft_causality_window_row(const ft_causality *c, uint32_t event)
{
    const ft_causality_lane *lane = ft_causality_window_lane(c, c->trace->thread[event]);
    if (!lane) return UINT32_MAX;
    uint32_t row = ft_causality_window_row_from(&c->window, lane, c->order->position[event]);
    return row != UINT32_MAX && c->window.rows.data[row].event == event ? row : UINT32_MAX;
}

uint32_t ft_causality_window_tracks(const ft_causality *c, ft_track_kind kind, uint32_t object)
{
    const ft_causality_window *w = &c->window;
    if (w->track_epoch[kind][object] != c->epoch) return UINT32_MAX;
    return w->track_of[kind][object];
}

ft_track *ft_causality_window_track(ft_causality *c, ft_track_kind kind, uint32_t object,
                                    uint32_t lane)
{
    ft_causality_window *w = &c->window;
    uint32_t first = ft_causality_window_tracks(c, kind, object);
    for (uint32_t i = first; i != UINT32_MAX; i = w->tracks.data[i].next)
        if (w->tracks.data[i].lane == lane) return &w->tracks.data[i];
    if (w->n_tracks == w->tracks.len) ft_vec_push(&w->tracks, (ft_track){0});
    ft_track *track = &w->tracks.data[w->n_tracks];
    track->lane = lane;
    track->next = first;
    track->items.len = 0;
    w->track_of[kind][object] = w->n_tracks++;
    w->track_epoch[kind][object] = c->epoch;
    return track;
}

void ft_causality_window_demand(ft_causality_window *w, uint32_t from, uint32_t to,
                                ft_causality_why why, uint32_t object)
{
    ft_vec_push(&w->pending, (ft_causality_edge){from, to, why, object});
}

/* ---- rows whose clock changed ---------------------------------------------------------------- */

/* A heap by place in the run. Most edges lead forward in the run, so a row that is taken in this
 * order has received nearly all of its clock and is seldom taken again. */
void ft_causality_window_queue(ft_causality_window *w, uint32_t row)
{
    assert(row < w->rows.len);
    uint32_t event = w->rows.data[row].event;
    if (w->rows.data[row].queued) return;
    w->rows.data[row].queued = true;
    ft_vec_push(&w->queue, row);
    size_t at = w->queue.len - 1;
    for (; at > 0 && w->rows.data[w->queue.data[(at - 1) / 2]].event > event; at = (at - 1) / 2)
        w->queue.data[at] = w->queue.data[(at - 1) / 2];
    w->queue.data[at] = row;
}

static uint32_t event_in_queue(const ft_causality_window *w, size_t at)
{
    return w->rows.data[w->queue.data[at]].event;
}

static uint32_t take_first(ft_causality_window *w)
{
    assert(w->queue.len > 0 && w->rows.data[w->queue.data[0]].queued);
    uint32_t first = w->queue.data[0], last = w->queue.data[--w->queue.len];
    uint32_t event = w->rows.data[last].event;
    size_t at = 0, child;
    while ((child = 2 * at + 1) < w->queue.len) {
        if (child + 1 < w->queue.len && event_in_queue(w, child + 1) < event_in_queue(w, child))
            child++;
        if (event_in_queue(w, child) >= event) break;
        w->queue.data[at] = w->queue.data[child];
        at = child;
    }
    if (w->queue.len > 0) w->queue.data[at] = last;
    return first;
}

/* ---- lanes and rows ------------------------------------------------------------------------- */

static void widen(ft_causality_window *w)
{
    uint32_t width = w->width ? w->width * 2 : 4;
    size_t capacity = width * (w->rows.len + 64);
    uint32_t *clock = ft_calloc(capacity, sizeof *clock);
    for (size_t r = 0; r < w->rows.len; r++)
        memcpy(clock + r * width, w->clock + r * w->width, w->width * sizeof *clock);
    free(w->clock);
    w->clock = clock;
    w->width = width;
    w->clock_capacity = capacity;
}

static uint32_t node_at(const ft_causality *c, uint32_t thread, uint32_t position)
{
    uint32_t low = c->node_first[thread], high = c->node_first[thread + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->order->position[c->nodes[middle]] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A lane that is too long begins later: it has fewer edges then, but each is right. */
static void shorten(ft_causality *c, ft_causality_lane *lane)
{
    uint32_t until = node_at(c, lane->thread, lane->limit);
    if (until - lane->node <= FT_CAUSALITY_LANE_EVENTS) return;
    lane->node = until - FT_CAUSALITY_LANE_EVENTS;
    lane->low = c->order->position[c->nodes[lane->node]];
    assert(lane->low < lane->limit);
}

static ft_causality_lane *open_lane(ft_causality *c, uint32_t thread)
{
    ft_causality_window *w = &c->window;
    ft_causality_lane *lane = ft_causality_window_lane(c, thread);
    if (lane) return lane;
    if (w->n_lanes == w->lanes.len) ft_vec_push(&w->lanes, (ft_causality_lane){0});
    lane = &w->lanes.data[w->n_lanes];
    lane->thread = thread;
    lane->low = c->cut.at[thread];
    lane->node = node_at(c, thread, lane->low);
    lane->limit = UINT32_MAX;
    lane->rows.len = 0;
    for (uint32_t i = 0; i < w->n_finals; i++)
        if (c->trace->thread[w->finals[i]] == thread)
            lane->limit = c->order->position[w->finals[i]];
    if (lane->limit != UINT32_MAX) shorten(c, lane);
    c->lane_of[thread] = w->n_lanes++;
    c->lane_epoch[thread] = c->epoch;
    if (w->n_lanes > w->width) widen(w);
    assert(w->n_lanes <= w->width);
    return lane;
}

static void enter(ft_causality *c, uint32_t lane_index, uint32_t event)
{
    ft_causality_window *w = &c->window;
    ft_causality_lane *lane = &w->lanes.data[lane_index];
    uint32_t row = (uint32_t)w->rows.len, previous = UINT32_MAX;
    if (row >= FT_CAUSALITY_EVENTS) w->abandoned = true;
    if (lane->rows.len) previous = lane->rows.data[lane->rows.len - 1];
    assert(previous == UINT32_MAX ||
           w->rows.data[previous].position < c->order->position[event]); /* in program order */
    assert(c->order->position[event] >= lane->low && c->order->position[event] < lane->limit);
    ft_vec_push(&w->rows, (ft_row){.event = event,
                                   .position = c->order->position[event],
                                   .lane = lane_index,
                                   .out = UINT32_MAX});
    ft_vec_push(&lane->rows, row);
    if (w->rows.len * w->width > w->clock_capacity) {
        w->clock_capacity = 2 * w->rows.len * w->width;
        w->clock = ft_realloc(w->clock, w->clock_capacity, sizeof *w->clock);
    }
    assert(w->rows.len * w->width <= w->clock_capacity);
    uint32_t *clock = ft_causality_window_clock(w, row);
    memset(clock, 0, w->width * sizeof *clock);
    if (previous != UINT32_MAX)
        memcpy(clock, ft_causality_window_clock(w, previous), w->width * sizeof *clock);
    ft_causality_window_queue(w, row);
    ft_rules_enter(c, row);
}

/* The claim's own member at or after `node` (an event of the lane) that has no static node. */
static uint32_t next_extra(const ft_causality *c, const ft_causality_lane *lane)
{
    const ft_causality_window *w = &c->window;
    uint32_t best = FT_NO_EVENT, after = 0;
    if (lane->rows.len) after = w->rows.data[lane->rows.data[lane->rows.len - 1]].position + 1;
    for (uint32_t i = 0; i < w->n_extras; i++) {
        uint32_t e = w->extras[i], at = c->order->position[e];
        if (c->trace->thread[e] != lane->thread || at < after || at < lane->low) continue;
        if (best == FT_NO_EVENT || at < c->order->position[best]) best = e;
    }
    return best;
}

/* Makes the events of the lane up to `position` members. */
static void extend(ft_causality *c, uint32_t lane_index, uint32_t position)
{
    ft_causality_window *w = &c->window;
    while (!w->abandoned) {
        ft_causality_lane *lane = &w->lanes.data[lane_index];
        uint32_t e = FT_NO_EVENT, extra = next_extra(c, lane);
        if (lane->node < c->node_first[lane->thread + 1]) e = c->nodes[lane->node];
        if (e == FT_NO_EVENT || (extra != FT_NO_EVENT && extra < e)) e = extra;
        if (e == FT_NO_EVENT || c->order->position[e] > position) return;
        if (lane->node < c->node_first[lane->thread + 1] && e == c->nodes[lane->node]) lane->node++;
        enter(c, lane_index, e);
    }
}

/* ---- edges ---------------------------------------------------------------------------------- */

/* Orders `from`, and all that comes before it, before `to`. */
static void join(ft_causality *c, uint32_t from, uint32_t to)
{
    ft_causality_window *w = &c->window;
    const ft_row *source = &w->rows.data[from], *target = &w->rows.data[to];
    const uint32_t *given = ft_causality_window_clock(w, from);
    uint32_t *clock = ft_causality_window_clock(w, to);
    bool changed = false;
    for (uint32_t lane = 0; lane < w->n_lanes; lane++) {
        uint32_t value = given[lane];
        if (lane == source->lane) value = source->position + 1;
        if (value <= clock[lane]) continue;
        clock[lane] = value;
        changed |= lane != target->lane;
        if (lane == target->lane && value > target->position) w->refuted = true;
    }
    if (w->refuted && !w->cycle.len) {
        w->refuted = ft_cycle_through(c, to);
        w->abandoned |= !w->refuted;
    }
    if (changed) ft_causality_window_queue(w, to);
}

static void link_rows(ft_causality *c, uint32_t from, uint32_t to, ft_causality_edge edge)
{
    ft_causality_window *w = &c->window;
    const ft_row *source = &w->rows.data[from], *target = &w->rows.data[to];
    uint32_t known = ft_causality_window_clock(w, to)[source->lane];
    if (source->lane == target->lane && source->position < target->position) return;
    if (source->lane != target->lane && known > source->position) return;
    ft_vec_push(&w->links, (ft_causality_link){from, to, source->out, edge});
    w->rows.data[from].out = (uint32_t)w->links.len - 1;
    join(c, from, to);
}

/* The window has an edge into an event below it, and cannot see the consequences: extend it. */
static void ask_lower(ft_causality_window *w, uint32_t thread, uint32_t position)
{
    for (size_t i = 0; i < w->lowerings.len; i++) {
        if (w->lowerings.data[i].thread != thread) continue;
        if (position < w->lowerings.data[i].position) {
            w->lowerings.data[i].position = position;
            w->lower_again = true;
        }
        return;
    }
    ft_vec_push(&w->lowerings, (ft_lowering){thread, position});
    w->lower_again = true;
}

static void add_edge(ft_causality *c, ft_causality_edge edge)
{
    ft_causality_window *w = &c->window;
    uint32_t position = c->order->position[edge.from];
    ft_causality_lane *lane = open_lane(c, c->trace->thread[edge.from]);
    uint32_t lane_index = (uint32_t)(lane - w->lanes.data);
    if (position >= lane->limit) {
        w->refuted = ft_cycle_outside(c, edge);
        w->abandoned |= !w->refuted;
        return;
    }
    const ft_causality_lane *target = ft_causality_window_lane(c, c->trace->thread[edge.to]);
    uint32_t at = c->order->position[edge.to];
    if (target && at == target->limit) ft_vec_push(&w->last, edge);
    extend(c, lane_index, position);
    if (w->refuted || w->abandoned) return;
    uint32_t from = ft_causality_window_row(c, edge.from), to = ft_causality_window_row(c, edge.to);
    if (from == UINT32_MAX) return;
    if (to != UINT32_MAX) {
        link_rows(c, from, to, edge);
        return;
    }
    bool shortened = target && target->low > c->cut.at[target->thread];
    if (!shortened && (!target || at < target->low)) ask_lower(w, c->trace->thread[edge.to], at);
}

/* ---- the fixpoint --------------------------------------------------------------------------- */

static uint32_t next_row(const ft_causality_window *w, uint32_t row)
{
    const ft_row *r = &w->rows.data[row];
    return ft_causality_window_row_from(w, &w->lanes.data[r->lane], r->position + 1);
}

static void propagate(ft_causality *c, uint32_t row)
{
    ft_causality_window *w = &c->window;
    w->rows.data[row].queued = false;
    uint32_t next = next_row(w, row);
    if (next != UINT32_MAX) join(c, row, next);
    for (uint32_t i = w->rows.data[row].out; i != UINT32_MAX && !w->refuted;
         i = w->links.data[i].next)
        join(c, row, w->links.data[i].to);
    if (!w->refuted) ft_rules_apply(c, row);
}

static void settle(ft_causality *c)
{
    ft_causality_window *w = &c->window;
    size_t swept = 0, size; /* of the graph, when the last sweep began */
    while (!w->refuted && !w->abandoned) {
        if (w->pending.len > 0) {
            ft_causality_edge edge = w->pending.data[--w->pending.len];
            add_edge(c, edge);
        } else if (w->queue.len > 0) {
            propagate(c, take_first(w));
        } else {
            size = w->rows.len + w->links.len;
            if (size == swept) return;
            swept = size;
            ft_rules_sweep(c);
        }
    }
}

static void next_epoch(ft_causality *c)
{
    const size_t objects[FT_TRACK_KINDS] = {[FT_TRACK_SECTIONS] = c->trace->locks.len,
                                            [FT_TRACK_WRITES] = c->trace->shared.len,
                                            [FT_TRACK_READS] = c->trace->shared.len};
    if (++c->epoch != 0) return;
    c->epoch = 1;
    memset(c->lane_epoch, 0, c->order->n_threads * sizeof *c->lane_epoch);
    for (int k = 0; k < FT_TRACK_KINDS; k++)
        memset(c->window.track_epoch[k], 0, objects[k] * sizeof(uint32_t));
}

static void clear(ft_causality *c)
{
    ft_causality_window *w = &c->window;
    next_epoch(c);
    w->rows.len = w->links.len = w->reads.len = w->held.len = 0;
    w->waits.len = w->wakes.len = w->queue.len = w->pending.len = 0;
    w->n_lanes = w->n_tracks = 0;
    w->cycle.len = w->last.len = 0;
    w->lower_again = w->refuted = w->abandoned = w->remote_bound = false;
}

/* No event that every schedule executes before a root is a final event, or comes after one. The
 * rules find that by themselves, with better reasons, unless the window is cut short. */
static void demand_hard(ft_causality *c, uint32_t root)
{
    ft_causality_window *w = &c->window;
    const uint32_t *clock = c->order->clock + (size_t)c->order->segment[root] * c->order->n_threads;
    for (uint32_t i = 0; i < w->n_finals; i++) {
        uint32_t thread = c->trace->thread[w->finals[i]], known = clock[thread];
        if (thread == c->trace->thread[root] || known <= c->order->position[w->finals[i]]) continue;
        const uint32_t *events = c->order->thread_events + c->order->thread_start[thread];
        ft_causality_window_demand(w, events[known - 1], root, FT_CAUSALITY_HARD, 0);
    }
}

/* A root past its thread's final event (a fork) was demanded before and refutes. */
static void enter_root(ft_causality *c, uint32_t root)
{
    const ft_causality_lane *lane = open_lane(c, c->trace->thread[root]);
    if (c->order->position[root] >= lane->limit) return;
    extend(c, (uint32_t)(lane - c->window.lanes.data), c->order->position[root]);
}

static void build_once(ft_causality *c)
{
    ft_causality_window *w = &c->window;
    clear(c);
    ft_cut_place(c);
    for (uint32_t i = 0; i < w->n_finals; i++) open_lane(c, c->trace->thread[w->finals[i]]);
    ft_rules_start(c);
    for (uint32_t i = 0; i < w->n_roots; i++) demand_hard(c, w->roots[i]);
    for (uint32_t i = 0; i < w->n_roots && !w->abandoned; i++) enter_root(c, w->roots[i]);
    for (uint32_t i = 1; i < w->n_extras; i++)
        ft_causality_window_demand(w, w->extras[i - 1], w->extras[i], FT_CAUSALITY_CLAIM, 0);
    settle(c);
    assert(!w->refuted || w->cycle.len > 0);
}

void ft_causality_window_build(ft_causality *c)
{
    ft_causality_window *w = &c->window;
    w->lowerings.len = 0;
    assert(w->n_finals <= FT_CLAIM_MAX_EVENTS && !c->idle);
    for (int round = 0; round < LOWERINGS; round++) {
        build_once(c);
        if (w->refuted || w->abandoned || !w->lower_again) return;
    }
}

void ft_causality_window_release(ft_causality_window *w)
{
    for (size_t i = 0; i < w->lanes.len; i++) ft_vec_release(&w->lanes.data[i].rows);
    for (size_t i = 0; i < w->tracks.len; i++) ft_vec_release(&w->tracks.data[i].items);
    for (int k = 0; k < FT_TRACK_KINDS; k++) {
        free(w->track_of[k]);
        free(w->track_epoch[k]);
    }
    free(w->clock);
    ft_vec_release(&w->rows);
    ft_vec_release(&w->links);
    ft_vec_release(&w->lanes);
    ft_vec_release(&w->tracks);
    ft_vec_release(&w->reads);
    ft_vec_release(&w->held);
    ft_vec_release(&w->waits);
    ft_vec_release(&w->wakes);
    ft_vec_release(&w->queue);
    ft_vec_release(&w->pending);
    ft_vec_release(&w->lowerings);
    ft_vec_release(&w->last);
    ft_vec_release(&w->cycle);
}
