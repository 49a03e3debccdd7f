#include "reduce/prefix.h"

#include <stdlib.h>
#include <string.h>

#include "encode/problem.h"

struct ft_prefix {
    const ft_trace *trace;
    const ft_order *order;
    const ft_run *run;
    uint32_t *frontier;       /* per thread: members are its first frontier[t] events */
    uint32_t *done;           /* per thread: members whose needs were looked at */
    FT_VEC(uint32_t) dirty;   /* threads with done < frontier */
    FT_VEC(uint32_t) members; /* scratch for sorting */
    uint32_t *held;           /* per lock: section open at a final event, FT_NO_SECTION */
    bool stuck;               /* a member section would have to be closed and never is */
    uint32_t *last_acquired;  /* per lock: index + 1 in lock_sections of the latest member */
    uint32_t *token_of;       /* per event: the post a semaphore wait takes in FIFO order */
    uint32_t *section_index;  /* per section: its place in lock_sections, relative to its lock */
};

/* The k-th wait takes the initial tokens first, then the posts in observed order. */
static void match_tokens(ft_prefix *p)
{
    const ft_trace *trace = p->trace;
    uint32_t n = trace->semaphores.len;
    uint32_t *taken = ft_calloc((size_t)n + 1, sizeof *taken);
    FT_VEC(uint32_t) *posts = ft_calloc((size_t)n + 1, sizeof *posts);
    p->token_of = ft_alloc((size_t)trace->n_events * sizeof *p->token_of);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t s = trace->object[e];
        p->token_of[e] = FT_NO_EVENT;
        if (trace->kind[e] == FT_EVENT_POST) ft_vec_push(&posts[s], e);
        if (trace->kind[e] != FT_EVENT_WAIT) continue;
        uint32_t k = taken[s]++;
        if (k < trace->semaphore_initial[s]) continue;
        k -= trace->semaphore_initial[s];
        if (k < posts[s].len) p->token_of[e] = posts[s].data[k];
    }
    for (uint32_t s = 0; s < n; s++) ft_vec_release(&posts[s]);
    free(posts);
    free(taken);
}

ft_prefix *ft_prefix_new(const ft_trace *trace, const ft_order *order, const ft_run *run)
{
    ft_prefix *p = ft_calloc(1, sizeof *p);
    p->trace = trace;
    p->order = order;
    p->run = run;
    p->frontier = ft_calloc(order->n_threads, sizeof *p->frontier);
    p->done = ft_calloc(order->n_threads, sizeof *p->done);
    p->held = ft_alloc(((size_t)trace->locks.len + 1) * sizeof *p->held);
    p->last_acquired = ft_calloc((size_t)trace->locks.len + 1, sizeof *p->last_acquired);
    p->section_index = ft_calloc(order->sections.len + 1, sizeof *p->section_index);
    for (uint32_t l = 0; l < trace->locks.len; l++)
        for (uint32_t i = order->lock_first[l]; i < order->lock_first[l + 1]; i++)
            p->section_index[order->lock_sections[i]] = i - order->lock_first[l];
    match_tokens(p);
    return p;
}

void ft_prefix_free(ft_prefix *p)
{
    if (!p) return;
    free(p->frontier);
    free(p->done);
    free(p->held);
    free(p->last_acquired);
    free(p->token_of);
    free(p->section_index);
    ft_vec_release(&p->dirty);
    ft_vec_release(&p->members);
    free(p);
}

static void reset(ft_prefix *p)
{
    size_t threads = p->order->n_threads, locks = p->trace->locks.len;
    memset(p->frontier, 0, threads * sizeof *p->frontier);
    memset(p->done, 0, threads * sizeof *p->done);
    memset(p->last_acquired, 0, locks * sizeof *p->last_acquired);
    memset(p->held, 0xff, locks * sizeof *p->held);
    p->stuck = false;
    p->dirty.len = 0;
}

/* Makes e and its program-order predecessors members. */
static void include(ft_prefix *p, uint32_t e)
{
    uint32_t thread = p->trace->thread[e], want = p->order->position[e] + 1;
    if (p->frontier[thread] >= want) return;
    if (p->done[thread] == p->frontier[thread]) ft_vec_push(&p->dirty, thread);
    p->frontier[thread] = want;
}

static bool is_member(const ft_prefix *p, uint32_t e)
{
    return p->order->position[e] < p->frontier[p->trace->thread[e]];
}

/* Must the i-th access of e, a read, read from its observed write in this model? */
static bool tied(const ft_prefix *p, ft_model model, uint32_t e, uint32_t i)
{
    const ft_problem problem = {p->trace, p->order, p->run, model};
    return ft_problem_demand(&problem, e, i) == FT_DEMAND_SOURCE;
}

/* All but the last member section of the lock must be closed, in observed order. */
static void close_sections(ft_prefix *p, uint32_t section)
{
    const ft_section *s = &p->order->sections.data[section];
    uint32_t index = p->section_index[section] + 1;
    if (index <= p->last_acquired[s->lock]) return;
    p->last_acquired[s->lock] = index;
}

static bool settle_locks(ft_prefix *p)
{
    bool grown = false;
    for (uint32_t l = 0; l < p->trace->locks.len; l++) {
        const uint32_t *sections = p->order->lock_sections + p->order->lock_first[l];
        for (uint32_t i = 0; i + 1 < p->last_acquired[l]; i++) {
            const ft_section *s = &p->order->sections.data[sections[i]];
            if (!is_member(p, s->acquire)) continue;
            if (s->release == FT_NO_EVENT || is_member(p, s->release)) continue;
            include(p, s->release);
            grown = true;
        }
    }
    return grown;
}

/* A section that is open at a final event stays open, so every other member section of its lock
 * comes before and is closed. */
static void yield_to_held(ft_prefix *p, uint32_t e)
{
    uint32_t section = p->order->section_of[e];
    if (section == FT_NO_SECTION || p->trace->kind[e] != FT_EVENT_ACQUIRE) return;
    const ft_section *s = &p->order->sections.data[section];
    if (p->held[s->lock] == FT_NO_SECTION || p->held[s->lock] == section) return;
    if (s->release == FT_NO_EVENT)
        p->stuck = true;
    else
        include(p, s->release);
}

static void hold(ft_prefix *p, uint32_t final)
{
    ft_hold open = p->order->holds.data[p->order->hold[final]];
    for (uint32_t i = 0; i < open.count; i++) {
        uint32_t section = p->order->hold_sections.data[open.first + i];
        uint32_t lock = p->order->sections.data[section].lock;
        if (p->held[lock] != FT_NO_SECTION && p->held[lock] != section) p->stuck = true;
        p->held[lock] = section;
    }
}

static void need(ft_prefix *p, ft_model model, bool observed_order, uint32_t e)
{
    uint32_t sources[2], count = ft_order_hard_sources(p->order, e, sources), n_accesses;
    for (uint32_t i = 0; i < count; i++) include(p, sources[i]);
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(p->trace, e, &scratch, &n_accesses);
    for (uint32_t i = 0; i < n_accesses; i++) {
        if (accesses[i].write || !(observed_order || tied(p, model, e, i))) continue;
        uint32_t source = ft_run_source(p->run, e, i);
        if (source != FT_NO_EVENT) include(p, source);
    }
    if (!observed_order) {
        yield_to_held(p, e);
        return;
    }
    if (p->token_of[e] != FT_NO_EVENT) include(p, p->token_of[e]);
    uint32_t section = p->order->section_of[e];
    if (section != FT_NO_SECTION && p->trace->kind[e] == FT_EVENT_ACQUIRE)
        close_sections(p, section);
}

static void close_prefix(ft_prefix *p, ft_model model, bool observed_order)
{
    do {
        while (p->dirty.len > 0) {
            uint32_t t = p->dirty.data[--p->dirty.len];
            const uint32_t *events = p->order->thread_events + p->order->thread_start[t];
            while (p->done[t] < p->frontier[t]) {
                uint32_t e = events[p->done[t]];
                /* Counted as done first: include() may push this thread again while e is open. */
                p->done[t]++;
                need(p, model, observed_order, e);
            }
        }
    } while (observed_order && settle_locks(p));
}

/* The claim's events that are not members: they are next when the prefix is over. */
static uint32_t final_events(const ft_claim *claim, uint32_t finals[3])
{
    uint32_t count = 0;
    if (claim->kind == FT_CLAIM_ATOMICITY) {
        finals[count++] = claim->events[1];
        finals[count++] = claim->events[2];
        return count;
    }
    for (uint32_t i = 0; i < ft_claim_kind_events(claim->kind); i++)
        finals[count++] = claim->events[i];
    return count;
}

static void start(ft_prefix *p, const uint32_t *finals, uint32_t count)
{
    reset(p);
    for (uint32_t i = 0; i < count; i++) hold(p, finals[i]);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t previous = ft_order_previous(p->order, finals[i]), sources[2];
        if (previous != FT_NO_EVENT) include(p, previous);
        uint32_t n = ft_order_hard_sources(p->order, finals[i], sources);
        /* Its own join or edge-in need not be fulfilled to be next; its thread's fork must. */
        if (previous == FT_NO_EVENT && n > 0 && p->trace->kind[sources[0]] == FT_EVENT_FORK)
            include(p, sources[0]);
    }
}

bool ft_prefix_refutes(ft_prefix *p, ft_model model, const ft_claim *claim)
{
    uint32_t finals[3], count = final_events(claim, finals);
    if (claim->kind == FT_CLAIM_ATOMICITY) { /* t_r may be a member that others need */
        finals[0] = finals[1];
        count = 1;
    }
    start(p, finals, count);
    if (claim->kind == FT_CLAIM_ATOMICITY) {
        uint32_t before = ft_order_previous(p->order, claim->events[1]);
        if (before != FT_NO_EVENT) include(p, before);
    }
    close_prefix(p, model, false);
    for (uint32_t i = 0; i < count; i++)
        if (is_member(p, finals[i])) return true;
    return p->stuck;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void collect(ft_prefix *p)
{
    p->members.len = 0;
    for (uint32_t t = 0; t < p->order->n_threads; t++) {
        const uint32_t *events = p->order->thread_events + p->order->thread_start[t];
        for (uint32_t i = 0; i < p->frontier[t]; i++) ft_vec_push(&p->members, events[i]);
    }
    if (p->members.len) qsort(p->members.data, p->members.len, sizeof *p->members.data, by_number);
}

bool ft_prefix_accepts(ft_prefix *p, ft_model model, const ft_claim *claim, ft_witness *witness)
{
    uint32_t finals[3], count = final_events(claim, finals);
    start(p, finals, count);
    close_prefix(p, model, true);
    for (uint32_t i = 0; i < count; i++)
        if (is_member(p, finals[i])) return false;
    collect(p);
    bool remote = claim->kind == FT_CLAIM_ATOMICITY;
    size_t n = p->members.len + remote;
    *witness = (ft_witness){.model = model,
                            .claim = *claim,
                            .n_steps = (uint32_t)n,
                            .steps = ft_alloc((n + 1) * sizeof *witness->steps)};
    if (p->members.len)
        memcpy(witness->steps, p->members.data, p->members.len * sizeof *witness->steps);
    if (remote) witness->steps[n - 1] = claim->events[1];
    return true;
}

bool ft_prefix_observed(const ft_order *order, ft_model model, const ft_claim *claim,
                        ft_witness *witness)
{
    const uint32_t *e = claim->events;
    uint32_t until = FT_NO_EVENT;
    if (claim->kind == FT_CLAIM_RACE && e[0] + 1 == e[1]) until = e[0];
    if (claim->kind == FT_CLAIM_ASSERTION && (order->trace->flags[e[0]] & FT_FLAG_FAILED))
        until = e[0];
    if (claim->kind == FT_CLAIM_ATOMICITY && e[0] < e[1] && e[1] < e[2]) until = e[2];
    if (until == FT_NO_EVENT) return false;
    *witness = (ft_witness){.model = model,
                            .claim = *claim,
                            .n_steps = until,
                            .steps = ft_alloc(((size_t)until + 1) * sizeof *witness->steps)};
    for (uint32_t i = 0; i < until; i++) witness->steps[i] = i;
    return true;
}
