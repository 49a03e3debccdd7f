/* The rules: which further order a member, or what is known to come before it, makes necessary.
 * Each holds for every prefix that reaches the claim; docs/causality.md has the arguments. */
#include <stdlib.h>

#include "causality/internal.h"

/* ---- hard order ----------------------------------------------------------------------------- */

static ft_causality_why hard_why(const ft_trace *trace, uint32_t from, uint32_t to)
{
    static const ft_causality_why BY_TARGET[FT_EVENT_KINDS] = {
        [FT_EVENT_JOIN] = FT_CAUSALITY_JOIN,
        [FT_EVENT_BARRIER_ARRIVE] = FT_CAUSALITY_BARRIER,
        [FT_EVENT_BARRIER_LEAVE] = FT_CAUSALITY_BARRIER,
        [FT_EVENT_ONCE_PASS] = FT_CAUSALITY_ONCE};
    bool forks = trace->kind[from] == FT_EVENT_FORK && trace->object[from] == trace->thread[to];
    if (forks) return FT_CAUSALITY_FORK;
    ft_causality_why why = BY_TARGET[trace->kind[to]];
    return why == FT_CAUSALITY_PROGRAM_ORDER ? FT_CAUSALITY_HARD : why;
}

static void demand_sources(ft_causality *c, uint32_t e)
{
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(c->order, e, &sources);
    for (uint32_t i = 0; i < count; i++)
        if (c->trace->thread[sources[i]] != c->trace->thread[e])
            ft_causality_window_demand(&c->window, sources[i], e, hard_why(c->trace, sources[i], e),
                                       0);
}

/* ---- locks ---------------------------------------------------------------------------------- */

static bool excludes(const ft_section *section, const ft_held_section *held)
{
    return section->lock == held->lock && section->thread != held->thread &&
           !(section->shared && held->shared);
}

/* The event that ends the section for others: its release, or, where it never comes, the final
 * event of its thread, which holds the lock. FT_NO_EVENT: none is known. */
static uint32_t end_of(const ft_causality *c, const ft_section *section)
{
    const ft_causality_window *w = &c->window;
    if (section->release != FT_NO_EVENT) return section->release;
    for (uint32_t i = 0; i < w->n_finals; i++)
        if (c->trace->thread[w->finals[i]] == section->thread) return w->finals[i];
    return FT_NO_EVENT;
}

static void demand_section_before(ft_causality *c, const ft_section *section, uint32_t acquire)
{
    uint32_t end = end_of(c, section);
    assert(c->lock_shared[section->lock]);
    if (end != FT_NO_EVENT)
        ft_causality_window_demand(&c->window, end, acquire, FT_CAUSALITY_LOCK, section->lock);
}

static void add_held(ft_causality *c, ft_held_section held)
{
    ft_causality_window *w = &c->window;
    ft_vec_push(&w->held, held);
    for (uint32_t t = ft_causality_window_tracks(c, FT_TRACK_SECTIONS, held.lock); t != UINT32_MAX;
         t = w->tracks.data[t].next)
        for (size_t i = 0; i < w->tracks.data[t].items.len; i++) {
            const ft_section *s = &c->order->sections.data[w->tracks.data[t].items.data[i]];
            if (excludes(s, &held)) demand_section_before(c, s, held.event);
        }
}

static void enter_section(ft_causality *c, uint32_t row)
{
    ft_causality_window *w = &c->window;
    const ft_row *r = &w->rows.data[row];
    uint32_t id = c->order->section_of[r->event];
    if (id == FT_NO_SECTION || !ft_order_opens(c->trace, r->event)) return;
    const ft_section *section = &c->order->sections.data[id];
    if (!c->lock_shared[section->lock]) return;
    ft_track *track = ft_causality_window_track(c, FT_TRACK_SECTIONS, section->lock, r->lane);
    ft_vec_push(&track->items, id);
    for (size_t i = 0; i < w->held.len; i++)
        if (excludes(section, &w->held.data[i]))
            demand_section_before(c, section, w->held.data[i].event);
    if (section->release == FT_NO_EVENT && w->lanes.data[r->lane].limit == UINT32_MAX)
        add_held(c, (ft_held_section){r->event, section->lock, section->thread, section->shared});
}

/* The locks that the claim holds at the end, and those that must be free then. */
void ft_rules_start(ft_causality *c)
{
    const ft_causality_window *w = &c->window;
    const ft_order *order = c->order;
    for (uint32_t i = 0; i < w->n_finals; i++) {
        uint32_t final = w->finals[i], section = order->section_of[final];
        ft_hold hold = order->holds.data[order->hold[final]];
        for (uint32_t k = 0; k < hold.count; k++) {
            const ft_section *s = &order->sections.data[order->hold_sections.data[hold.first + k]];
            if (c->lock_shared[s->lock])
                add_held(c, (ft_held_section){s->acquire, s->lock, s->thread, s->shared});
        }
        uint32_t fork = order->fork_of[c->trace->thread[final]];
        if (order->position[final] == 0 && fork != FT_NO_EVENT)
            ft_causality_window_demand(&c->window, fork, final, FT_CAUSALITY_FORK, 0);
        if (!w->executed) continue;
        demand_sources(c, final);
        if (section == FT_NO_SECTION || !ft_order_opens(c->trace, final)) continue;
        const ft_section *s = &order->sections.data[section];
        if (c->lock_shared[s->lock])
            add_held(c, (ft_held_section){final, s->lock, s->thread, s->shared});
    }
}

/* The row is inside one of its own thread's sections, or at its acquire. A section of another
 * thread that began before the row ended before that one began. Of each thread the last is enough.
 */
static void order_sections(ft_causality *c, uint32_t row, const ft_section *own)
{
    ft_causality_window *w = &c->window;
    const uint32_t *clock = ft_causality_window_clock(w, row);
    assert(own->thread == c->trace->thread[w->rows.data[row].event]);
    for (uint32_t t = ft_causality_window_tracks(c, FT_TRACK_SECTIONS, own->lock); t != UINT32_MAX;
         t = w->tracks.data[t].next) {
        const ft_track *track = &w->tracks.data[t];
        uint32_t known = clock[track->lane];
        size_t low = 0, high = track->items.len;
        if (track->lane == w->rows.data[row].lane) continue;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            const ft_section *s = &c->order->sections.data[track->items.data[middle]];
            if (c->order->position[s->acquire] < known)
                low = middle + 1;
            else
                high = middle;
        }
        while (low > 0 &&
               !ft_order_conflict(own, &c->order->sections.data[track->items.data[low - 1]]))
            low--;
        if (low == 0) continue;
        const ft_section *s = &c->order->sections.data[track->items.data[low - 1]];
        uint32_t begin = ft_causality_window_row(c, own->acquire);
        if (begin != UINT32_MAX && s->release != FT_NO_EVENT &&
            ft_causality_window_clock(w, begin)[track->lane] > c->order->position[s->release])
            continue;
        demand_section_before(c, s, own->acquire);
    }
}

static void apply_locks(ft_causality *c, uint32_t row)
{
    const ft_order *order = c->order;
    uint32_t e = c->window.rows.data[row].event, opened = order->section_of[e];
    ft_hold hold = order->holds.data[order->hold[e]];
    for (uint32_t i = 0; i < hold.count; i++) {
        const ft_section *s = &order->sections.data[order->hold_sections.data[hold.first + i]];
        if (c->lock_shared[s->lock]) order_sections(c, row, s);
    }
    if (opened == FT_NO_SECTION || !ft_order_opens(c->trace, e)) return;
    if (c->lock_shared[order->sections.data[opened].lock])
        order_sections(c, row, &order->sections.data[opened]);
}

/* ---- tied reads ----------------------------------------------------------------------------- */

/* Is `source` known to come before the row? */
static bool known_before(const ft_causality *c, uint32_t source, uint32_t row)
{
    const ft_row *r = &c->window.rows.data[row];
    const ft_causality_lane *lane = ft_causality_window_lane(c, c->trace->thread[source]);
    uint32_t position = c->order->position[source];
    if (c->trace->thread[source] == c->trace->thread[r->event]) return position < r->position;
    if (ft_order_before(c->order, source, r->event)) return true;
    return lane &&
           ft_causality_window_clock(&c->window, row)[lane - c->window.lanes.data] > position;
}

/* A write that comes after the source of a read does not come before the read. */
static void keep_apart(ft_causality *c, const ft_tied_read *read, uint32_t write)
{
    ft_causality_window *w = &c->window;
    uint32_t e = w->rows.data[write].event, reader = w->rows.data[read->row].event;
    if (e == read->source || e == reader || c->trace->thread[e] == c->trace->thread[reader]) return;
    if (read->source != FT_NO_EVENT && !known_before(c, read->source, write)) return;
    if (!known_before(c, reader, write))
        ft_causality_window_demand(w, reader, e, FT_CAUSALITY_OVERWRITES, read->variable);
}

/* Of another thread's writes, in program order, those that come after the source are the last; the
 * read comes before the first of them, and so before the others. A write whose clock has not
 * arrived yet is compared when it arrives (apply_write). */
static void keep_before(ft_causality *c, const ft_tied_read *read, const ft_track *writes)
{
    const uint32_t *rows = writes->items.data;
    size_t low = 0, high = writes->items.len;
    while (low < high && read->source != FT_NO_EVENT) {
        size_t middle = low + (high - low) / 2;
        if (known_before(c, read->source, rows[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    if (low < writes->items.len) keep_apart(c, read, rows[low]);
}

static void enter_read(ft_causality *c, uint32_t row, uint32_t variable, uint32_t source)
{
    ft_causality_window *w = &c->window;
    ft_row *r = &w->rows.data[row];
    ft_tied_read read = {row, variable, source};
    ft_track *track = ft_causality_window_track(c, FT_TRACK_READS, variable, r->lane);
    ft_vec_push(&track->items, (uint32_t)w->reads.len);
    ft_vec_push(&w->reads, read);
    r->n_reads++;
    if (source != FT_NO_EVENT && c->trace->thread[source] != c->trace->thread[r->event])
        ft_causality_window_demand(w, source, r->event, FT_CAUSALITY_READS_FROM, variable);
    for (uint32_t t = ft_causality_window_tracks(c, FT_TRACK_WRITES, variable); t != UINT32_MAX;
         t = w->tracks.data[t].next)
        if (w->tracks.data[t].lane != r->lane) keep_before(c, &read, &w->tracks.data[t]);
}

static void enter_accesses(ft_causality *c, uint32_t row)
{
    ft_causality_window *w = &c->window;
    uint32_t e = w->rows.data[row].event, count, source;
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(c->trace, e, &scratch, &count);
    bool remote = e == w->remote && !w->remote_bound;
    w->rows.data[row].reads = (uint32_t)w->reads.len;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = accesses[i].variable;
        if (!c->tied[v]) continue;
        if (!accesses[i].write && !remote && ft_causality_tie(c, e, i, &source))
            enter_read(c, row, v, source);
        /* A t_r whose guard fails writes nothing. */
        if (!accesses[i].write || (remote && c->trace->kind[e] != FT_EVENT_WRITE)) continue;
        ft_track *track = ft_causality_window_track(c, FT_TRACK_WRITES, v, w->rows.data[row].lane);
        ft_vec_push(&track->items, row);
    }
}

/* Of each thread, the last write that comes before the read comes before the read's source too. */
static void apply_read(ft_causality *c, uint32_t row, ft_tied_read read)
{
    ft_causality_window *w = &c->window;
    const ft_row *r = &w->rows.data[row];
    const uint32_t *clock = ft_causality_window_clock(w, row);
    for (uint32_t t = ft_causality_window_tracks(c, FT_TRACK_WRITES, read.variable);
         t != UINT32_MAX; t = w->tracks.data[t].next) {
        const ft_track *track = &w->tracks.data[t];
        uint32_t known = track->lane == r->lane ? r->position : clock[track->lane];
        size_t low = 0, high = track->items.len;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (w->rows.data[track->items.data[middle]].position < known)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == 0) continue;
        uint32_t write = w->rows.data[track->items.data[low - 1]].event;
        if (write == read.source) continue;
        if (read.source == FT_NO_EVENT)
            ft_causality_window_demand(w, r->event, write, FT_CAUSALITY_OVERWRITES, read.variable);
        else if (c->trace->thread[write] != c->trace->thread[read.source] ||
                 c->order->position[write] > c->order->position[read.source])
            ft_causality_window_demand(w, write, read.source, FT_CAUSALITY_OVERWRITES,
                                       read.variable);
    }
}

static void apply_write(ft_causality *c, uint32_t row)
{
    ft_causality_window *w = &c->window;
    uint32_t count;
    ft_access scratch;
    const ft_access *accesses =
        ft_trace_accesses(c->trace, w->rows.data[row].event, &scratch, &count);
    uint32_t e = w->rows.data[row].event;
    if (e == w->remote && !w->remote_bound && c->trace->kind[e] != FT_EVENT_WRITE) return;
    for (uint32_t i = 0; i < count; i++) {
        if (!accesses[i].write || !c->tied[accesses[i].variable]) continue;
        for (uint32_t t = ft_causality_window_tracks(c, FT_TRACK_READS, accesses[i].variable);
             t != UINT32_MAX; t = w->tracks.data[t].next)
            for (size_t k = 0; k < w->tracks.data[t].items.len; k++)
                keep_apart(c, &w->reads.data[w->tracks.data[t].items.data[k]], row);
    }
}

/* ---- semaphores and conditions -------------------------------------------------------------- */

/* How many events of a thread are known to come before the row. */
static uint32_t before_row(const ft_causality *c, uint32_t row, uint32_t thread)
{
    const ft_row *r = &c->window.rows.data[row];
    const ft_causality_lane *lane = ft_causality_window_lane(c, thread);
    if (thread == c->trace->thread[r->event]) return r->position;
    uint32_t known =
        c->order->clock[(size_t)c->order->segment[r->event] * c->order->n_threads + thread];
    uint32_t seen = 0;
    if (lane) seen = ft_causality_window_clock(&c->window, row)[lane - c->window.lanes.data];
    return known > seen ? known : seen;
}

/* The place in a thread from which on all events come after the row, or after the claim. */
static uint32_t after_row(const ft_causality *c, uint32_t row, uint32_t thread)
{
    const ft_causality_window *w = &c->window;
    const ft_row *r = &w->rows.data[row];
    const ft_causality_lane *lane = ft_causality_window_lane(c, thread);
    const uint32_t *events = c->order->thread_events + c->order->thread_start[thread];
    uint32_t low = 0, high = c->order->thread_start[thread + 1] - c->order->thread_start[thread];
    if (thread == c->trace->thread[r->event]) return r->position;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ft_order_before(c->order, r->event, events[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    if (!lane) return low;
    if (lane->limit < low) low = lane->limit;
    size_t first = 0, last = lane->rows.len;
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (ft_causality_window_clock(w, lane->rows.data[middle])[r->lane] > r->position)
            last = middle;
        else
            first = middle + 1;
    }
    if (first < lane->rows.len && w->rows.data[lane->rows.data[first]].position < low)
        low = w->rows.data[lane->rows.data[first]].position;
    return low;
}

static uint32_t event_at(const ft_causality *c, uint32_t thread, uint32_t position)
{
    assert(position < c->order->thread_start[thread + 1] - c->order->thread_start[thread]);
    return c->order->thread_events[c->order->thread_start[thread] + position];
}

/* Units that are certainly taken before the wait, itself included. */
static int64_t units_needed(const ft_causality *c, uint32_t row, uint32_t semaphore)
{
    int64_t need = 1 - (int64_t)c->trace->semaphore_initial[semaphore];
    for (uint32_t i = c->waits.first[semaphore]; i < c->waits.first[semaphore + 1]; i++) {
        const ft_user_thread *user = &c->waits.threads.data[i];
        need += ft_users_below(&c->waits, user, before_row(c, row, user->thread));
    }
    return need;
}

/* Where no more posts can come before a wait than it needs, all of them do. Where fewer can, one
 * that cannot would have to, which closes a cycle. */
static void sweep_wait(ft_causality *c, uint32_t row)
{
    ft_causality_window *w = &c->window;
    uint32_t e = w->rows.data[row].event, semaphore = c->trace->object[e], late = FT_NO_EVENT;
    const ft_users *posts = &c->posts;
    int64_t need = units_needed(c, row, semaphore), can = 0;
    for (uint32_t i = posts->first[semaphore]; need > 0 && i < posts->first[semaphore + 1]; i++) {
        const ft_user_thread *user = &posts->threads.data[i];
        uint32_t n = ft_users_below(posts, user, after_row(c, row, user->thread));
        can += n;
        if (n < user->count && late == FT_NO_EVENT)
            late = event_at(c, user->thread, posts->positions[user->first + n]);
    }
    if (need <= 0 || can > need) return;
    if (can < need && late != FT_NO_EVENT)
        ft_causality_window_demand(w, late, e, FT_CAUSALITY_SEMAPHORE, semaphore);
    for (uint32_t i = posts->first[semaphore]; i < posts->first[semaphore + 1]; i++) {
        const ft_user_thread *user = &posts->threads.data[i];
        uint32_t n = ft_users_below(posts, user, after_row(c, row, user->thread));
        if (n == 0 || user->thread == c->trace->thread[e]) continue;
        uint32_t at = posts->positions[user->first + n - 1];
        if (before_row(c, row, user->thread) <= at)
            ft_causality_window_demand(w, event_at(c, user->thread, at), e, FT_CAUSALITY_SEMAPHORE,
                                       semaphore);
    }
}

static void demand_wake(ft_causality *c, uint32_t wake, uint32_t wait, uint32_t signal)
{
    ft_causality_window *w = &c->window;
    uint32_t row = ft_causality_window_row(c, wake), sent = ft_causality_window_row(c, signal);
    uint32_t condition = c->trace->object[wake];
    /* The last demand is handled first: it makes the signal a member. */
    if (sent == UINT32_MAX || !known_before(c, wait, sent))
        ft_causality_window_demand(w, wait, signal, FT_CAUSALITY_CONDITION, condition);
    if (row == UINT32_MAX || !known_before(c, signal, row))
        ft_causality_window_demand(w, signal, wake, FT_CAUSALITY_CONDITION, condition);
}

/* A signal between its wait and its wake-up wakes a waiter. If only one can be there, it is. */
static void sweep_wake(ft_causality *c, uint32_t row)
{
    uint32_t wake = c->window.rows.data[row].event, condition = c->trace->object[wake];
    const ft_wake *seen = ft_order_wake(c->order, wake);
    uint32_t only = seen->signal, can = 0, wait = ft_causality_window_row(c, seen->wait);
    for (uint32_t i = c->signals.first[condition]; i < c->signals.first[condition + 1]; i++) {
        const ft_user_thread *user = &c->signals.threads.data[i];
        if (user->thread == c->trace->thread[wake]) continue;
        uint32_t low = 0, high = after_row(c, row, user->thread);
        if (wait != UINT32_MAX) low = before_row(c, wait, user->thread);
        uint32_t first = ft_users_below(&c->signals, user, low);
        uint32_t end = ft_users_below(&c->signals, user, high);
        if (end <= first) continue;
        assert(end <= user->count);
        can += end - first;
        only = event_at(c, user->thread, c->signals.positions[user->first + first]);
    }
    if (can > 1 || only == FT_NO_EVENT) return;
    demand_wake(c, wake, seen->wait, only);
}

static void enter_wake(ft_causality *c, uint32_t row)
{
    uint32_t e = c->window.rows.data[row].event;
    if (!(c->rules & FT_CAUSALITY_WAKES)) return;
    if (c->trace->kind[e] == FT_EVENT_WAIT) ft_vec_push(&c->window.waits, row);
    if (c->trace->kind[e] != FT_EVENT_COND_WAKE || (c->trace->flags[e] & FT_FLAG_FAILED)) return;
    const ft_wake *seen = ft_order_wake(c->order, e);
    if (c->problem.wakeups == FT_WAKEUPS_SPURIOUS || seen->wait == FT_NO_EVENT) return;
    if (c->problem.wakeups == FT_WAKEUPS_ANY)
        ft_vec_push(&c->window.wakes, row);
    else if (seen->signal != FT_NO_EVENT)
        demand_wake(c, e, seen->wait, seen->signal);
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* The thread of t_r continues only if t_r read what the model demands. */
static void bind_remote(ft_causality *c, uint32_t row)
{
    ft_causality_window *w = &c->window;
    if (w->remote == FT_NO_EVENT || w->remote_bound) return;
    uint32_t e = w->rows.data[row].event, remote = ft_causality_window_row(c, w->remote);
    if (c->trace->thread[e] != c->trace->thread[w->remote] || remote == UINT32_MAX ||
        c->order->position[e] <= c->order->position[w->remote])
        return;
    w->remote_bound = true;
    if (c->trace->kind[w->remote] == FT_EVENT_WRITE) return; /* is one already */
    enter_accesses(c, remote);
    ft_causality_window_queue(w, remote);
}

void ft_rules_enter(ft_causality *c, uint32_t row)
{
    assert(row + 1 == c->window.rows.len);
    bind_remote(c, row);
    demand_sources(c, c->window.rows.data[row].event);
    enter_section(c, row);
    enter_accesses(c, row);
    enter_wake(c, row);
}

void ft_rules_apply(ft_causality *c, uint32_t row)
{
    ft_causality_window *w = &c->window;
    if (c->rules & FT_CAUSALITY_LOCKS) apply_locks(c, row);
    uint32_t first = w->rows.data[row].reads, count = w->rows.data[row].n_reads;
    assert(count == 0 || first + count <= w->reads.len);
    for (uint32_t i = first; i < first + count; i++) apply_read(c, row, w->reads.data[i]);
    if (c->rules & FT_CAUSALITY_DATA) apply_write(c, row);
}

void ft_rules_sweep(ft_causality *c)
{
    ft_causality_window *w = &c->window;
    for (size_t i = 0; i < w->waits.len; i++) sweep_wait(c, w->waits.data[i]);
    for (size_t i = 0; i < w->wakes.len; i++) sweep_wake(c, w->wakes.data[i]);
}
