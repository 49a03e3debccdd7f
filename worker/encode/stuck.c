/* The claim STUCK: a final state in which the event and the next event of every other thread are
 * blocked (claim.h).
 *
 * Conditions need more here than in sync.c: a thread sleeps at its cond-wake only if no signal had
 * to wake it. Each cond-wait that is a member is woken at most once; a signal wakes a waiter if
 * there is one, and a broadcast wakes all waiters. */
#include <stdlib.h>

#include "base/contract.h"
#include "encode/partial.h"
#include "encode/units.h"

enum { PAIR_LIMIT = 300000 }; /* of units with waits, or of signals with cond-waits */

typedef FT_VEC(ft_lit) literals;

/* A cond-wait, its cond-wake and the signals that may end it. */
typedef struct episode {
    uint32_t condition, wait;
    uint32_t wake;         /* a member or the claim's event; FT_NO_EVENT: none */
    bool timed_out;        /* the wake needs no signal */
    uint32_t first, count; /* slice of wakers */
} episode;

typedef struct waker {
    uint32_t signal; /* or broadcast */
    ft_lit wakes;
} waker;

typedef struct stuck {
    ft_decider *d;
    ft_query *q;
    const ft_trace *trace;
    const ft_order *order;
    bool joins_only; /* the claim's event is a join */
    FT_VEC(episode) episodes;
    FT_VEC(waker) wakers;
    ft_map episode_of; /* cond-wake -> index in episodes */
    ft_lit *empty;     /* per semaphore: its count is 0; 0: not asked yet */
    literals clause;
} stuck;

static ft_lit fresh(stuck *k)
{
    return ft_session_variable(k->d->session);
}

static void implies(stuck *k, ft_lit premise, ft_lit conclusion)
{
    ft_partial_implies(k->d, premise, conclusion);
}

static void end_clause(stuck *k, literals *clause)
{
    ft_partial_clause(k->d, clause->data, (uint32_t)clause->len);
    clause->len = 0;
}

static bool happens(const stuck *k, uint32_t e)
{
    return e != FT_NO_EVENT && ft_partial_in(k->d, e);
}

/* ---- locks --------------------------------------------------------------------------------- */

static void or_lock_taken(stuck *k, uint32_t e)
{
    const ft_section request = {.shared = k->trace->kind[e] == FT_EVENT_ACQUIRE_SHARED};
    uint32_t lock = k->trace->object[e];
    if (ft_order_section_at(k->order, e, lock) != FT_NO_SECTION)
        ft_vec_push(&k->clause, FT_LIT_TRUE);
    for (uint32_t i = k->order->lock_first[lock]; i < k->order->lock_first[lock + 1]; i++) {
        const ft_section *s = &k->order->sections.data[k->order->lock_sections[i]];
        if (s->thread == k->trace->thread[e] || !ft_order_conflict(s, &request)) continue;
        if (!happens(k, s->acquire)) continue;
        ft_lit open = fresh(k);
        implies(k, open, k->d->member[s->acquire]);
        for (const ft_section *own = s; own;
             own = ft_section_otherwise(k->order->sections.data, own))
            if (happens(k, own->release)) implies(k, open, -k->d->member[own->release]);
        ft_vec_push(&k->clause, open);
    }
}

/* ---- semaphores ---------------------------------------------------------------------------- */

/* A wait takes the unit of the post (FT_NO_EVENT: an initial one); by[i]: the units that the i-th
 * wait may take. */
static void unit_is_taken(stuck *k, ft_lit empty, uint32_t post, const uint32_t *waits,
                          literals *by, size_t n_waits)
{
    literals choice = {0};
    ft_vec_push(&choice, -empty);
    if (post != FT_NO_EVENT) ft_vec_push(&choice, -k->d->member[post]);
    for (size_t i = 0; i < n_waits; i++) {
        ft_lit taken = fresh(k);
        implies(k, taken, k->d->member[waits[i]]);
        ft_vec_push(&by[i], taken);
        ft_vec_push(&choice, taken);
    }
    end_clause(k, &choice);
    ft_vec_release(&choice);
}

/* A literal that implies that the count is 0: a wait of its own takes every unit. */
static ft_lit match_units(stuck *k, uint32_t semaphore)
{
    const ft_trace *trace = k->trace;
    FT_VEC(uint32_t) waits = {0};
    FT_VEC(uint32_t) posts = {0};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (ft_event_kind_object(trace->kind[e]) != FT_OBJECT_SEMAPHORE) continue;
        if (trace->object[e] != semaphore || !happens(k, e)) continue;
        if (trace->kind[e] == FT_EVENT_WAIT)
            ft_vec_push(&waits, e);
        else
            ft_vec_push(&posts, e);
    }
    uint32_t initial = trace->semaphore_initial[semaphore];
    ft_lit empty = initial > waits.len ? FT_LIT_FALSE : fresh(k);
    k->q->given_up |= (posts.len + waits.len) * waits.len > PAIR_LIMIT;
    if (empty != FT_LIT_FALSE && !k->q->given_up) {
        literals *by = ft_calloc(waits.len + 1, sizeof *by);
        for (uint32_t i = 0; i < initial; i++)
            unit_is_taken(k, empty, FT_NO_EVENT, waits.data, by, waits.len);
        for (size_t i = 0; i < posts.len; i++)
            unit_is_taken(k, empty, posts.data[i], waits.data, by, waits.len);
        for (size_t i = 0; i < waits.len; i++) {
            ft_session_at_most(k->d->session, by[i].data, (uint32_t)by[i].len, 1);
            ft_vec_release(&by[i]);
        }
        free(by);
    }
    ft_vec_release(&waits);
    ft_vec_release(&posts);
    return empty;
}

static ft_lit semaphore_empty(stuck *k, uint32_t semaphore)
{
    const ft_trace *trace = k->trace;
    if (!k->empty) k->empty = ft_calloc((size_t)trace->semaphores.len + 1, sizeof *k->empty);
    if (!k->empty[semaphore])
        k->empty[semaphore] = ft_units_are_counted(trace, semaphore)
                                  ? ft_units_all_out(k->d, semaphore)
                                  : match_units(k, semaphore);
    assert(k->empty[semaphore] != 0);
    return k->empty[semaphore];
}

/* ---- conditions ---------------------------------------------------------------------------- */

static void add_wakers(stuck *k, episode *c)
{
    const uint32_t *first = k->order->sync.condition_first;
    literals wakes = {0};
    c->first = (uint32_t)k->wakers.len;
    /* Where the trace ends at the wait, the thread's next steps are unknown, so no claim can rely
     * on its being woken: it sleeps to the end, and explains no signal. */
    for (uint32_t i = c->wake == FT_NO_EVENT ? first[c->condition + 1] : first[c->condition];
         i < first[c->condition + 1]; i++) {
        uint32_t s = k->order->sync.signals[i];
        if (!happens(k, s) || ft_order_before(k->order, s, c->wait)) continue;
        if (happens(k, c->wake) && ft_order_before(k->order, c->wake, s)) continue;
        ft_lit woken = fresh(k);
        implies(k, woken, k->d->member[s]);
        implies(k, woken, k->d->member[c->wait]);
        implies(k, woken, ft_partial_gate(k->d, c->wait, s));
        if (happens(k, c->wake)) implies(k, woken, ft_partial_gate(k->d, s, c->wake));
        ft_vec_push(&k->wakers, (waker){s, woken});
        ft_vec_push(&wakes, woken);
    }
    c->count = (uint32_t)k->wakers.len - c->first;
    ft_session_at_most(k->d->session, wakes.data, (uint32_t)wakes.len, 1);
    ft_vec_release(&wakes);
}

static void find_episodes(stuck *k)
{
    const ft_trace *trace = k->trace;
    ft_map wake_of = {0};
    uint64_t wake;
    for (size_t i = 0; i < k->order->sync.wakes.len; i++) {
        ft_wake w = k->order->sync.wakes.data[i];
        if (w.wait != FT_NO_EVENT) ft_map_put(&wake_of, w.wait, w.wake);
    }
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_COND_WAIT || !happens(k, e)) continue;
        episode c = {.condition = trace->object[e], .wait = e, .wake = FT_NO_EVENT};
        if (ft_map_get(&wake_of, e, &wake)) {
            c.wake = (uint32_t)wake;
            assert(trace->kind[wake] == FT_EVENT_COND_WAKE && trace->object[wake] == c.condition);
            c.timed_out = (trace->flags[wake] & FT_FLAG_FAILED) != 0;
            ft_map_put(&k->episode_of, wake, k->episodes.len);
        }
        add_wakers(k, &c);
        ft_vec_push(&k->episodes, c);
    }
    ft_map_release(&wake_of);
}

/* A literal that implies that the episode ended before the signal. */
static ft_lit over_before(stuck *k, const episode *c, uint32_t signal)
{
    ft_lit over = fresh(k);
    assert(c->first + c->count <= k->wakers.len);
    literals how = {0};
    ft_vec_push(&how, -over);
    for (uint32_t i = c->first; i < c->first + c->count; i++) {
        waker w = k->wakers.data[i];
        ft_vec_push(&how, w.wakes);
        ft_lit before = w.signal == signal ? FT_LIT_FALSE : ft_partial_gate(k->d, w.signal, signal);
        ft_partial_clause(k->d, (ft_lit[3]){-over, -w.wakes, before}, 3);
    }
    if (c->timed_out && happens(k, c->wake)) {
        ft_lit time_out = fresh(k);
        implies(k, time_out, k->d->member[c->wake]);
        implies(k, time_out, ft_partial_gate(k->d, c->wake, signal));
        ft_vec_push(&how, time_out);
    }
    end_clause(k, &how);
    ft_vec_release(&how);
    return over;
}

/* The signal woke a waiter, or this episode was not waiting; a broadcast woke this episode, or it
 * was not waiting. */
static void signal_and_episode(stuck *k, uint32_t signal, const episode *c, const literals *woken)
{
    if (ft_order_before(k->order, signal, c->wait)) return;
    if (happens(k, c->wake) && ft_order_before(k->order, c->wake, signal)) return;
    literals clause = {0};
    ft_vec_push(&clause, -k->q->active);
    ft_vec_push(&clause, -k->d->member[signal]);
    ft_vec_push(&clause, -k->d->member[c->wait]);
    ft_vec_push(&clause, ft_partial_gate(k->d, signal, c->wait));
    ft_vec_push(&clause, over_before(k, c, signal));
    if (k->trace->kind[signal] == FT_EVENT_SIGNAL)
        for (size_t i = 0; i < woken->len; i++) ft_vec_push(&clause, woken->data[i]);
    else
        for (uint32_t i = c->first; i < c->first + c->count; i++)
            if (k->wakers.data[i].signal == signal) ft_vec_push(&clause, k->wakers.data[i].wakes);
    end_clause(k, &clause);
    ft_vec_release(&clause);
}

static void constrain_signal(stuck *k, uint32_t signal)
{
    literals woken = {0};
    for (size_t i = 0; i < k->wakers.len; i++)
        if (k->wakers.data[i].signal == signal) ft_vec_push(&woken, k->wakers.data[i].wakes);
    if (k->trace->kind[signal] == FT_EVENT_SIGNAL)
        ft_session_at_most(k->d->session, woken.data, (uint32_t)woken.len, 1);
    for (size_t i = 0; i < k->episodes.len; i++)
        if (k->episodes.data[i].condition == k->trace->object[signal])
            signal_and_episode(k, signal, &k->episodes.data[i], &woken);
    ft_vec_release(&woken);
}

/* A cond-wake that is a member and did not time out was woken. */
static void constrain_wake(stuck *k, const episode *c)
{
    if (c->timed_out || !happens(k, c->wake)) return;
    literals clause = {0};
    ft_vec_push(&clause, -k->q->active);
    ft_vec_push(&clause, -k->d->member[c->wake]);
    for (uint32_t i = c->first; i < c->first + c->count; i++)
        ft_vec_push(&clause, k->wakers.data[i].wakes);
    end_clause(k, &clause);
    ft_vec_release(&clause);
}

/* The pairs of a signal and a waker of a waiter of its condition. */
static uint64_t count_pairs(const stuck *k)
{
    const uint32_t *first = k->order->sync.condition_first;
    uint64_t pairs = 0;
    for (size_t i = 0; i < k->episodes.len; i++) {
        const episode *c = &k->episodes.data[i];
        pairs += (uint64_t)c->count * (first[c->condition + 1] - first[c->condition] + 1);
    }
    return pairs;
}

static void encode_conditions(stuck *k)
{
    const ft_order_sync *sync = &k->order->sync;
    uint32_t n = k->trace->conditions.len;
    if (n == 0 || k->d->problem->wakeups != FT_WAKEUPS_ANY) return;
    find_episodes(k);
    k->q->given_up |= count_pairs(k) > PAIR_LIMIT;
    if (k->q->given_up) return;
    for (size_t i = 0; i < k->episodes.len; i++) constrain_wake(k, &k->episodes.data[i]);
    for (uint32_t i = 0; i < sync->condition_first[n]; i++)
        if (happens(k, sync->signals[i])) constrain_signal(k, sync->signals[i]);
}

/* Nothing woke the thread that is next at this cond-wake. */
static ft_lit asleep(stuck *k, uint32_t e)
{
    const ft_wake *wake = ft_order_wake(k->order, e);
    ft_wakeups wakeups = k->d->problem->wakeups;
    if (k->trace->flags[e] & FT_FLAG_FAILED) return FT_LIT_FALSE;
    if (wake->wait == FT_NO_EVENT) return FT_LIT_TRUE;
    if (wakeups == FT_WAKEUPS_SPURIOUS) return FT_LIT_FALSE;
    ft_lit sleeps = fresh(k);
    if (wakeups == FT_WAKEUPS_OBSERVED) {
        if (!happens(k, wake->signal)) return FT_LIT_TRUE;
        ft_lit clause[3] = {-sleeps, -k->d->member[wake->signal],
                            ft_partial_gate(k->d, wake->signal, wake->wait)};
        ft_partial_clause(k->d, clause, 3);
        return sleeps;
    }
    uint64_t index;
    if (!ft_map_get(&k->episode_of, e, &index)) return FT_LIT_TRUE;
    assert(index < k->episodes.len && k->episodes.data[index].wake == e);
    const episode *c = &k->episodes.data[index];
    for (uint32_t i = c->first; i < c->first + c->count; i++)
        implies(k, sleeps, -k->wakers.data[i].wakes);
    return sleeps;
}

/* ---- threads ------------------------------------------------------------------------------- */

static void or_source_missing(stuck *k, uint32_t e)
{
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(k->order, e, &sources);
    if (ft_order_never(k->order, e)) ft_vec_push(&k->clause, FT_LIT_TRUE);
    for (uint32_t i = 0; i < count; i++) ft_vec_push(&k->clause, -k->d->reached[sources[i]]);
    uint32_t awaited = ft_order_awaited(k->order, e);
    if (awaited != FT_NO_EVENT)
        ft_vec_push(&k->clause, happens(k, awaited) ? -k->d->reached[awaited] : FT_LIT_TRUE);
}

/* A thread waits for an initialiser only while another thread runs it: otherwise it would run it.
 */
static void or_initialiser_runs(stuck *k, uint32_t e)
{
    uint32_t once = k->trace->object[e];
    uint32_t begin = k->order->sync.once_begin[once], end = k->order->sync.once_end[once];
    if (!happens(k, begin)) return;
    ft_lit runs = fresh(k);
    implies(k, runs, k->d->reached[begin]);
    if (happens(k, end)) implies(k, runs, -k->d->reached[end]);
    ft_vec_push(&k->clause, runs);
}

/* Adds to k->clause the reasons for which the event may wait in the final state. */
static void or_blocked(stuck *k, uint32_t e)
{
    uint8_t kind = k->trace->kind[e];
    bool requests = kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_ACQUIRE_SHARED;
    if (k->trace->flags[e] & FT_FLAG_TRY) return;
    if (requests && ft_order_effective(k->trace, e)) or_lock_taken(k, e);
    if (kind == FT_EVENT_JOIN) or_source_missing(k, e);
    if (k->joins_only) return;
    if (kind == FT_EVENT_WAIT) ft_vec_push(&k->clause, semaphore_empty(k, k->trace->object[e]));
    if (kind == FT_EVENT_COND_WAKE) ft_vec_push(&k->clause, asleep(k, e));
    if (kind == FT_EVENT_BARRIER_LEAVE) or_source_missing(k, e);
    if (kind == FT_EVENT_ONCE_PASS) or_initialiser_runs(k, e);
}

/* Where the thread is next at e, it is blocked there. */
static void blocked_if_next(stuck *k, uint32_t e)
{
    uint32_t previous = ft_order_previous(k->order, e);
    uint32_t fork = k->order->fork_of[k->trace->thread[e]];
    if (previous == FT_NO_EVENT) previous = fork;
    k->clause.len = 0;
    ft_vec_push(&k->clause, -k->q->active);
    if (previous != FT_NO_EVENT) ft_vec_push(&k->clause, -k->d->reached[previous]);
    if (ft_partial_in(k->d, e)) ft_vec_push(&k->clause, k->d->reached[e]);
    ft_vec_push(&k->clause, -ft_cssa_path(k->d->cssa, e));
    or_blocked(k, e);
    end_clause(k, &k->clause);
}

/* A literal that implies that the event is on the thread's path and not reached. */
static ft_lit still_to_come(stuck *k, uint32_t e)
{
    ft_lit to_come = fresh(k);
    implies(k, to_come, ft_cssa_path(k->d->cssa, e));
    if (ft_partial_in(k->d, e)) implies(k, to_come, -k->d->reached[e]);
    return to_come;
}

/* A thread that is cut has an event left. */
static void not_through(stuck *k, uint32_t t)
{
    k->clause.len = 0;
    ft_vec_push(&k->clause, -k->q->active);
    for (uint32_t i = k->order->thread_start[t]; i < k->order->thread_start[t + 1]; i++)
        if (k->trace->n_paths || i + 1 == k->order->thread_start[t + 1])
            ft_vec_push(&k->clause, still_to_come(k, k->order->thread_events[i]));
    end_clause(k, &k->clause);
}

static void constrain_cut_threads(stuck *k)
{
    bool *cut = ft_calloc(k->order->n_threads, sizeof *cut);
    ft_trace_find_cut(k->trace, cut);
    for (uint32_t t = 0; t < k->order->n_threads && !k->q->given_up; t++)
        if (cut[t]) not_through(k, t);
    free(cut);
}

static bool can_be_stuck(const ft_trace *trace, uint32_t e)
{
    uint8_t kind = trace->kind[e];
    if (trace->flags[e] & FT_FLAG_TRY) return false;
    return kind == FT_EVENT_WAIT || kind == FT_EVENT_COND_WAKE || kind == FT_EVENT_JOIN ||
           kind == FT_EVENT_BARRIER_LEAVE;
}

void ft_query_stuck(ft_decider *d, ft_query *q, uint32_t e)
{
    stuck k = {.d = d,
               .q = q,
               .trace = d->problem->trace,
               .order = d->problem->order,
               .joins_only = d->problem->trace->kind[e] == FT_EVENT_JOIN};
    FT_REQUIRE(q->extra == FT_NO_EVENT);
    q->impossible |= !can_be_stuck(k.trace, e);
    ft_query_next(d, q, e);
    encode_conditions(&k);
    constrain_cut_threads(&k);
    for (uint32_t t = 0; t < k.order->n_threads && !q->given_up; t++)
        for (uint32_t i = k.order->thread_start[t]; i < k.order->thread_start[t + 1]; i++) {
            blocked_if_next(&k, k.order->thread_events[i]);
            if (!ft_partial_in(d, k.order->thread_events[i])) break;
        }
    ft_vec_release(&k.episodes);
    ft_vec_release(&k.wakers);
    ft_map_release(&k.episode_of);
    free(k.empty);
    ft_vec_release(&k.clause);
}
