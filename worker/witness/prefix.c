#include "witness/prefix.h"

#include <stdlib.h>
#include <string.h>

#include "problem/problem.h"

struct ft_prefix {
    const ft_trace *trace;
    const ft_order *order;
    const ft_run *run;
    uint32_t *frontier;       /* per thread: members are its first frontier[t] events */
    uint32_t *done;           /* per thread: members whose needs are included */
    FT_VEC(uint32_t) dirty;   /* threads with done < frontier */
    FT_VEC(uint32_t) members; /* scratch for sorting */
    uint32_t *held;           /* per lock: section open at a final event, FT_NO_SECTION */
    const uint32_t *finals;   /* the claim's events that are next when the prefix is over */
    uint32_t n_finals;
    bool stuck;               /* a member section that must be closed never is, or a
                                               member never happens */
    int choices;              /* has the trace events that one of several others can serve? -1: not
                                 known yet */
    uint32_t *last_acquired;  /* per lock: index + 1 in lock_sections of the latest member */
    uint32_t *last_exclusive; /* likewise, of the latest exclusive one */
    uint32_t *partner_of;    /* per event, the event that it needs in observed order: the post whose
                                unit a    semaphore wait takes (FIFO), the signal that wakes a
                                cond-wake,    the    acquire that makes an attempt fail */
    uint32_t *section_index; /* per section: its place in lock_sections, relative to its lock */
};

/* Passed over in the observed run. */
static bool is_passed(const ft_trace *trace, uint32_t e)
{
    return (trace->flags[e] & FT_FLAG_PASSED) != 0;
}

/* The k-th wait takes the initial tokens first, then the posts in observed order. */
static void match_tokens(ft_prefix *p)
{
    const ft_trace *trace = p->trace;
    uint32_t n = trace->semaphores.len;
    uint32_t *taken = ft_calloc((size_t)n + 1, sizeof *taken);
    FT_VEC(uint32_t) *posts = ft_calloc((size_t)n + 1, sizeof *posts);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t s = trace->object[e];
        if (is_passed(trace, e)) continue;
        if (trace->kind[e] == FT_EVENT_POST) ft_vec_push(&posts[s], e);
        if (trace->kind[e] != FT_EVENT_WAIT) continue;
        uint32_t k = taken[s]++;
        if (k < trace->semaphore_initial[s]) continue;
        k -= trace->semaphore_initial[s];
        if (k < posts[s].len) p->partner_of[e] = posts[s].data[k];
        assert(p->partner_of[e] == FT_NO_EVENT || p->partner_of[e] < e);
    }
    for (uint32_t s = 0; s < n; s++) ft_vec_release(&posts[s]);
    free(posts);
    free(taken);
}

/* The latest section, of another thread, that makes the attempt fail. */
static void match_attempt(ft_prefix *p, const uint32_t *open, size_t count, uint32_t e)
{
    ft_section attempt = {.shared = p->trace->kind[e] == FT_EVENT_TRY_FAILED_SHARED};
    for (size_t i = 0; i < count; i++) {
        const ft_section *section = &p->order->sections.data[open[i]];
        if (section->thread != p->trace->thread[e] && ft_order_conflict(section, &attempt))
            p->partner_of[e] = section->acquire;
        assert(section->acquire < e);
    }
}

static void match_attempts(ft_prefix *p)
{
    typedef FT_VEC(uint32_t) open_sections;
    const ft_trace *trace = p->trace;
    open_sections *open = ft_calloc((size_t)trace->locks.len + 1, sizeof *open);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint8_t kind = trace->kind[e];
        if (ft_event_kind_object(kind) != FT_OBJECT_LOCK) continue;
        if (is_passed(trace, e)) continue;
        open_sections *now = &open[trace->object[e]];
        if (kind == FT_EVENT_TRY_FAILED || kind == FT_EVENT_TRY_FAILED_SHARED)
            match_attempt(p, now->data, now->len, e);
        if (p->order->section_of[e] == FT_NO_SECTION) continue;
        if (ft_order_opens(trace, e)) ft_vec_push(now, p->order->section_of[e]);
        if (kind != FT_EVENT_RELEASE) continue;
        size_t kept = 0;
        for (size_t i = 0; i < now->len; i++)
            if (now->data[i] != p->order->section_of[e]) now->data[kept++] = now->data[i];
        now->len = kept;
    }
    for (uint32_t l = 0; l < trace->locks.len; l++) ft_vec_release(&open[l]);
    free(open);
}

static bool has_attempts(const ft_trace *trace)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_TRY_FAILED || trace->kind[e] == FT_EVENT_TRY_FAILED_SHARED)
            return true;
    return false;
}

static void find_partners(ft_prefix *p)
{
    const ft_trace *trace = p->trace;
    p->partner_of = ft_alloc((size_t)trace->n_events * sizeof *p->partner_of);
    memset(p->partner_of, 0xff, (size_t)trace->n_events * sizeof *p->partner_of);
    if (trace->semaphores.len) match_tokens(p);
    if (has_attempts(trace)) match_attempts(p);
    for (size_t i = 0; i < p->order->sync.wakes.len; i++) {
        ft_wake wake = p->order->sync.wakes.data[i];
        if (!(trace->flags[wake.wake] & FT_FLAG_FAILED)) p->partner_of[wake.wake] = wake.signal;
    }
}

ft_prefix *ft_prefix_new(const ft_trace *trace, const ft_order *order, const ft_run *run)
{
    FT_REQUIRE(trace && order && run && order->trace == trace);
    ft_prefix *p = ft_calloc(1, sizeof *p);
    p->trace = trace;
    p->order = order;
    p->run = run;
    p->frontier = ft_calloc(order->n_threads, sizeof *p->frontier);
    p->done = ft_calloc(order->n_threads, sizeof *p->done);
    p->held = ft_alloc(((size_t)trace->locks.len + 1) * sizeof *p->held);
    p->last_acquired = ft_calloc((size_t)trace->locks.len + 1, sizeof *p->last_acquired);
    p->last_exclusive = ft_calloc((size_t)trace->locks.len + 1, sizeof *p->last_exclusive);
    p->section_index = ft_calloc(order->sections.len + 1, sizeof *p->section_index);
    for (uint32_t l = 0; l < trace->locks.len; l++)
        for (uint32_t i = order->lock_first[l]; i < order->lock_first[l + 1]; i++)
            p->section_index[order->lock_sections[i]] = i - order->lock_first[l];
    find_partners(p);
    p->choices = -1;
    return p;
}

void ft_prefix_free(ft_prefix *p)
{
    if (!p) return;
    free(p->frontier);
    free(p->done);
    free(p->held);
    free(p->last_acquired);
    free(p->last_exclusive);
    free(p->partner_of);
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
    memset(p->last_exclusive, 0, locks * sizeof *p->last_exclusive);
    memset(p->held, 0xff, locks * sizeof *p->held);
    p->stuck = false;
    p->dirty.len = 0;
}

/* Makes e and its program-order predecessors members (in arms: or passed over). */
static void include(ft_prefix *p, uint32_t e)
{
    assert(e < p->trace->n_events);
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
    const ft_problem problem = {
        .trace = p->trace, .order = p->order, .run = p->run, .model = model};
    return ft_problem_demand(&problem, e, i) == FT_DEMAND_SOURCE;
}

/* Member sections with a later conflicting one must be closed, in observed order. */
static void close_sections(ft_prefix *p, uint32_t section)
{
    const ft_section *s = &p->order->sections.data[section];
    uint32_t index = p->section_index[section] + 1;
    if (index > p->last_acquired[s->lock]) p->last_acquired[s->lock] = index;
    if (!s->shared && index > p->last_exclusive[s->lock]) p->last_exclusive[s->lock] = index;
}

static bool settle_locks(ft_prefix *p)
{
    bool grown = false;
    for (uint32_t l = 0; l < p->trace->locks.len; l++) {
        const uint32_t *sections = p->order->lock_sections + p->order->lock_first[l];
        assert(p->last_acquired[l] <= p->order->lock_first[l + 1] - p->order->lock_first[l]);
        for (uint32_t i = 0; i + 1 < p->last_acquired[l]; i++) {
            const ft_section *s = &p->order->sections.data[sections[i]];
            if (!is_member(p, s->acquire)) continue;
            if (s->shared && i + 1 >= p->last_exclusive[l]) continue;
            if (s->release == FT_NO_EVENT || is_member(p, s->release)) continue;
            include(p, s->release);
            grown = true;
        }
    }
    return grown;
}

/* A section that is open at a final event stays open, so every other member section of its lock
 * that conflicts with it comes before and is closed. */
static void yield_to_held(ft_prefix *p, uint32_t e)
{
    uint32_t section = p->order->section_of[e];
    if (section == FT_NO_SECTION || p->trace->kind[e] == FT_EVENT_RELEASE) return;
    const ft_section *all = p->order->sections.data, *s = &all[section];
    if (p->held[s->lock] == FT_NO_SECTION || p->held[s->lock] == section) return;
    if (!ft_order_conflict(s, &all[p->held[s->lock]])) return;
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
        const ft_section *all = p->order->sections.data;
        uint32_t *held = &p->held[all[section].lock];
        if (*held != FT_NO_SECTION && *held != section &&
            ft_order_conflict(&all[*held], &all[section]))
            p->stuck = true;
        *held = section;
    }
}

static void need(ft_prefix *p, ft_model model, bool observed_order, uint32_t e)
{
    const uint32_t *sources;
    uint32_t count = ft_order_hard_sources(p->order, e, &sources), n_accesses;
    for (uint32_t i = 0; i < count; i++) include(p, sources[i]);
    if (ft_order_never(p->order, e)) p->stuck = true;
    ft_access scratch;
    const ft_access *accesses = ft_trace_accesses(p->trace, e, &scratch, &n_accesses);
    for (uint32_t i = 0; i < n_accesses; i++) {
        if (accesses[i].write || model == FT_MODEL_CONTROL) continue;
        if (!observed_order && !tied(p, model, e, i)) continue;
        uint32_t source = ft_run_source(p->run, e, i);
        if (source != FT_NO_EVENT) include(p, source);
    }
    if (!observed_order) {
        yield_to_held(p, e);
        return;
    }
    if (p->partner_of[e] != FT_NO_EVENT) include(p, p->partner_of[e]);
    uint32_t section = p->order->section_of[e];
    if (section != FT_NO_SECTION && p->trace->kind[e] != FT_EVENT_RELEASE)
        close_sections(p, section);
}

/* Is the member e passed over, or may it be? Then it needs nothing. The arms around the claim's
 * final events are taken. */
static bool may_be_passed(const ft_prefix *p, ft_model model, bool observed_order, uint32_t e)
{
    bool as_observed = observed_order || model == FT_MODEL_OBSERVED || model == FT_MODEL_MAXIMAL;
    if (as_observed) return is_passed(p->trace, e);
    for (uint32_t i = 0; i < p->n_finals; i++)
        if (ft_order_certain(p->trace, e, p->finals[i])) return false;
    return ft_trace_path(p->trace, e) != 0;
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
                if (!p->trace->n_paths || !may_be_passed(p, model, observed_order, e))
                    need(p, model, observed_order, e);
            }
        }
    } while (observed_order && settle_locks(p));
}

/* All needs are included: hard sources of every member that is executed, and in observed order the
 * sources of its reads and its partner. */
static bool is_closed(const ft_prefix *p, ft_model model, bool observed_order)
{
    for (uint32_t e = 0; e < p->trace->n_events; e++) {
        const uint32_t *sources;
        ft_access scratch;
        if (!is_member(p, e)) continue;
        if (p->trace->n_paths && may_be_passed(p, model, observed_order, e)) continue;
        uint32_t count = ft_order_hard_sources(p->order, e, &sources);
        for (uint32_t i = 0; i < count; i++)
            if (!is_member(p, sources[i])) return false;
        if (!observed_order) continue;
        if (p->partner_of[e] != FT_NO_EVENT && !is_member(p, p->partner_of[e])) return false;
        const ft_access *accesses = ft_trace_accesses(p->trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count && model != FT_MODEL_CONTROL; i++) {
            uint32_t source = accesses[i].write ? FT_NO_EVENT : ft_run_source(p->run, e, i);
            if (source != FT_NO_EVENT && !is_member(p, source)) return false;
        }
    }
    return true;
}

/* The claim's events that are not members: they are next when the prefix is over. */
static uint32_t final_events(const ft_claim *claim, uint32_t finals[FT_CLAIM_MAX_EVENTS])
{
    uint32_t count = 0, first = ft_claim_first_final(claim->kind);
    if (claim->kind == FT_CLAIM_ATOMICITY) first = 1;
    for (uint32_t i = first; i < ft_claim_events(claim); i++) finals[count++] = claim->events[i];
    return count;
}

/* The only alloc of a block with the variable; FT_NO_EVENT: there is none, or several. */
static uint32_t only_alloc(const ft_trace *trace, uint32_t variable)
{
    uint32_t found = FT_NO_EVENT;
    for (uint32_t a = 0; trace->blocks.len && a < trace->n_events; a++) {
        if (trace->kind[a] != FT_EVENT_ALLOC) continue;
        if (!ft_problem_in_block(trace, trace->object[a], variable)) continue;
        if (found != FT_NO_EVENT) return FT_NO_EVENT;
        found = a;
    }
    return found;
}

static void start(ft_prefix *p, const ft_claim *claim, const uint32_t *finals, uint32_t count)
{
    reset(p);
    p->finals = finals;
    p->n_finals = count;
    if (claim->kind == FT_CLAIM_AFTER_FREE) include(p, claim->events[0]);
    uint32_t alloc =
        claim->kind == FT_CLAIM_UNINITIALISED ? only_alloc(p->trace, claim->variable) : FT_NO_EVENT;
    if (alloc != FT_NO_EVENT) include(p, alloc);
    for (uint32_t i = 0; i < count; i++) hold(p, finals[i]);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t previous = ft_order_previous(p->order, finals[i]);
        const uint32_t *sources;
        if (previous != FT_NO_EVENT) include(p, previous);
        uint32_t n = ft_order_hard_sources(p->order, finals[i], &sources);
        /* Its own join or edge-in need not be fulfilled to be next; its thread's fork must. */
        if (previous == FT_NO_EVENT && n > 0 && p->trace->kind[sources[0]] == FT_EVENT_FORK)
            include(p, sources[0]);
    }
}

static bool any_passed(const ft_trace *trace, const ft_claim *claim)
{
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        if (is_passed(trace, claim->events[i])) return true;
    return false;
}

/* Every alloc of a block with the variable comes before the write, if at all. */
static bool is_kept(const ft_prefix *p, uint32_t w, uint32_t variable)
{
    const ft_trace *trace = p->trace;
    for (uint32_t a = 0; trace->blocks.len && a < trace->n_events; a++)
        if (trace->kind[a] == FT_EVENT_ALLOC && !ft_order_before(p->order, a, w) &&
            ft_problem_in_block(trace, trace->object[a], variable))
            return false;
    return true;
}

/* UNINITIALISED: a member writes the variable, and no alloc can make it forgotten. */
static bool is_written(const ft_prefix *p, uint32_t variable)
{
    const ft_trace *trace = p->trace;
    for (uint32_t e = 0; e < trace->n_events && !trace->n_paths; e++)
        if (ft_run_find_access(trace, e, variable, true) != UINT32_MAX && is_member(p, e) &&
            is_kept(p, e, variable))
            return true;
    return false;
}

bool ft_prefix_refutes(ft_prefix *p, ft_model model, const ft_claim *claim)
{
    FT_REQUIRE(p && claim && (unsigned)model < FT_MODELS);
    FT_CHECK(ft_claim_is_sound(p->trace, claim));
    uint32_t finals[FT_CLAIM_MAX_EVENTS], count = final_events(claim, finals);
    bool follows_run = model == FT_MODEL_OBSERVED || model == FT_MODEL_MAXIMAL;
    if (follows_run && any_passed(p->trace, claim)) return true;
    if (claim->kind == FT_CLAIM_ATOMICITY) { /* t_r may be a member that others need */
        finals[0] = finals[1];
        count = 1;
    }
    start(p, claim, finals, count);
    if (claim->kind == FT_CLAIM_ATOMICITY) {
        uint32_t before = ft_order_previous(p->order, claim->events[1]);
        if (before != FT_NO_EVENT) include(p, before);
    }
    close_prefix(p, model, false);
    FT_CHECK(is_closed(p, model, false));
    for (uint32_t i = 0; i < count; i++)
        if (is_member(p, finals[i])) return true;
    if (claim->kind == FT_CLAIM_UNINITIALISED && is_written(p, claim->variable)) return true;
    return p->stuck;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts few members; many are found by a walk over the trace up to the last one. */
static void collect(ft_prefix *p)
{
    uint32_t total = 0, last = 0;
    p->members.len = 0;
    for (uint32_t t = 0; t < p->order->n_threads; t++) {
        if (p->frontier[t] == 0) continue;
        total += p->frontier[t];
        uint32_t e = p->order->thread_events[p->order->thread_start[t] + p->frontier[t] - 1];
        if (e > last) last = e;
    }
    if (total > last / 16) {
        for (uint32_t e = 0; total > 0 && e <= last; e++)
            if (is_member(p, e) && !is_passed(p->trace, e)) ft_vec_push(&p->members, e);
        return;
    }
    for (uint32_t t = 0; t < p->order->n_threads; t++) {
        const uint32_t *events = p->order->thread_events + p->order->thread_start[t];
        for (uint32_t i = 0; i < p->frontier[t]; i++)
            if (!is_passed(p->trace, events[i])) ft_vec_push(&p->members, events[i]);
    }
    if (p->members.len) qsort(p->members.data, p->members.len, sizeof *p->members.data, by_number);
}

/* Without these kinds each need has one event that serves it: every member is needed by another
 * member that stays, and so on up to the claim. */
static bool has_no_choices(const ft_trace *trace)
{
    static const bool CHOICES[FT_EVENT_KINDS] = {
        [FT_EVENT_WAIT] = true,         [FT_EVENT_TRY_FAILED] = true,
        [FT_EVENT_COND_WAIT] = true,    [FT_EVENT_TRY_FAILED_SHARED] = true,
        [FT_EVENT_COND_WAKE] = true,    [FT_EVENT_SIGNAL] = true,
        [FT_EVENT_BROADCAST] = true,    [FT_EVENT_BARRIER_ARRIVE] = true,
        [FT_EVENT_BARRIER_LEAVE] = true};
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (CHOICES[trace->kind[e]]) return false;
    return true;
}

bool ft_prefix_is_minimal(ft_prefix *p, ft_model model)
{
    if (p->choices < 0) p->choices = !has_no_choices(p->trace);
    return model == FT_MODEL_OBSERVED && !p->choices;
}

bool ft_prefix_accepts(ft_prefix *p, ft_model model, const ft_claim *claim, ft_witness *witness)
{
    FT_REQUIRE(p && claim && witness && (unsigned)model < FT_MODELS);
    uint32_t finals[FT_CLAIM_MAX_EVENTS], count = final_events(claim, finals);
    if (any_passed(p->trace, claim)) return false;
    start(p, claim, finals, count);
    close_prefix(p, model, true);
    FT_CHECK(is_closed(p, model, true));
    for (uint32_t i = 0; i < count; i++)
        if (is_member(p, finals[i])) return false;
    if (p->stuck) return false;
    collect(p);
    bool remote = claim->kind == FT_CLAIM_ATOMICITY;
    size_t n = p->members.len + remote;
    *witness = (ft_witness){.model = model,
                            .bound = FT_NO_BOUND,
                            .claim = *claim,
                            .n_steps = (uint32_t)n,
                            .steps = ft_alloc((n + 1) * sizeof *witness->steps)};
    if (p->members.len)
        memcpy(witness->steps, p->members.data, p->members.len * sizeof *witness->steps);
    if (remote) witness->steps[n - 1] = claim->events[1];
    FT_CHECK(ft_witness_is_sound(p->trace, witness));
    return true;
}

bool ft_prefix_observed(const ft_order *order, ft_model model, const ft_claim *claim,
                        ft_witness *witness)
{
    FT_REQUIRE(order && claim && witness);
    const uint32_t *e = claim->events;
    uint32_t until = FT_NO_EVENT;
    if (claim->kind == FT_CLAIM_RACE && e[0] + 1 == e[1]) until = e[0];
    if (claim->kind == FT_CLAIM_ASSERTION && (order->trace->flags[e[0]] & FT_FLAG_FAILED))
        until = e[0];
    if (claim->kind == FT_CLAIM_ATOMICITY && e[0] < e[1] && e[1] < e[2]) until = e[2];
    if (claim->kind == FT_CLAIM_LOCK_ERROR || claim->kind == FT_CLAIM_FAILURE) until = e[0];
    if (claim->kind == FT_CLAIM_AFTER_FREE && e[0] < e[1]) until = e[1];
    if (ft_claim_was_blocked(order->trace, claim)) until = order->trace->n_events;
    if (until == FT_NO_EVENT) return false;
    *witness = (ft_witness){.model = model,
                            .bound = FT_NO_BOUND,
                            .claim = *claim,
                            .n_steps = until,
                            .steps = ft_alloc(((size_t)until + 1) * sizeof *witness->steps)};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < until; i++)
        if (!is_passed(order->trace, i) && !ft_trace_is_blocked(order->trace, i))
            witness->steps[kept++] = i;
    witness->n_steps = kept;
    assert(kept <= until);
    FT_CHECK(ft_witness_is_sound(order->trace, witness));
    return true;
}
