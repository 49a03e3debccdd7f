#include "witness/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "witness/schedule_internal.h"

/* ---- events that depend on other threads ------------------------------------------------------
 */

static bool is_plain(const ft_trace *trace)
{
    static const bool PLAIN[FT_EVENT_KINDS] = {
        [FT_EVENT_READ] = true,     [FT_EVENT_WRITE] = true,    [FT_EVENT_RMW] = true,
        [FT_EVENT_ASSIGN] = true,   [FT_EVENT_ASSUME] = true,   [FT_EVENT_ASSERT] = true,
        [FT_EVENT_FORK] = true,     [FT_EVENT_JOIN] = true,     [FT_EVENT_BEGIN] = true,
        [FT_EVENT_END] = true,      [FT_EVENT_ACQUIRE] = true,  [FT_EVENT_ACQUIRE_SHARED] = true,
        [FT_EVENT_RELEASE] = true,  [FT_EVENT_TX_BEGIN] = true, [FT_EVENT_TX_END] = true,
        [FT_EVENT_EDGE_OUT] = true, [FT_EVENT_EDGE_IN] = true};
    if (trace->broken != FT_NO_EVENT || trace->n_paths) return false;
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (!PLAIN[trace->kind[e]]) return false;
    return true;
}

enum { MET_BY_ONE = 1, WRITTEN = 2, MET_BY_SEVERAL = 4 };

static void find_met_variables(ft_schedules *s)
{
    const ft_trace *trace = s->trace;
    uint16_t *user = ft_calloc((size_t)trace->shared.len + 1, sizeof *user);
    uint8_t *seen = ft_calloc((size_t)trace->shared.len + 1, 1);
    s->variable_met = ft_calloc((size_t)trace->shared.len + 1, sizeof *s->variable_met);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_access scratch;
        uint32_t count;
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = accesses[i].variable;
            if (seen[v] && user[v] != trace->thread[e]) seen[v] |= MET_BY_SEVERAL;
            user[v] = trace->thread[e];
            seen[v] |= MET_BY_ONE | (accesses[i].write ? WRITTEN : 0);
        }
    }
    for (uint32_t v = 0; v < trace->shared.len; v++)
        s->variable_met[v] = (seen[v] & WRITTEN) && (seen[v] & MET_BY_SEVERAL);
    free(user);
    free(seen);
}

static bool is_busy(const ft_schedules *s, uint32_t e)
{
    const uint32_t *sources;
    ft_access scratch;
    uint32_t count;
    if (ft_event_kind_object((ft_event_kind)s->trace->kind[e]) == FT_OBJECT_LOCK ||
        ft_order_hard_sources(s->order, e, &sources))
        return true;
    const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (s->variable_met[accesses[i].variable]) return true;
    return false;
}

static void find_busy(ft_schedules *s)
{
    const ft_order *order = s->order;
    uint32_t n = s->trace->n_events;
    s->busy_first = ft_calloc((size_t)order->n_threads + 1, sizeof *s->busy_first);
    s->busy_index = ft_alloc(((size_t)n + 1) * sizeof *s->busy_index);
    s->n_busy = 0;
    for (uint32_t e = 0; e < n; e++) {
        bool busy = is_busy(s, e);
        s->busy_index[e] = busy ? 0 : FT_NO_EVENT;
        s->n_busy += busy;
    }
    s->busy = ft_alloc(((size_t)s->n_busy + 1) * sizeof *s->busy);
    s->by_time = ft_alloc(((size_t)s->n_busy + 1) * sizeof *s->by_time);
    uint32_t at = 0;
    for (uint32_t t = 0; t < order->n_threads; t++) {
        for (uint32_t i = order->thread_start[t]; i < order->thread_start[t + 1]; i++) {
            uint32_t e = order->thread_events[i];
            if (s->busy_index[e] == FT_NO_EVENT) continue;
            s->busy_index[e] = at;
            s->busy[at++] = e;
        }
        s->busy_first[t + 1] = at;
    }
    assert(at == s->n_busy);
    at = 0;
    for (uint32_t e = 0; e < n; e++)
        if (s->busy_index[e] != FT_NO_EVENT) s->by_time[at++] = s->busy_index[e];
    assert(at == s->n_busy);
}

static void index_trace(ft_schedules *s)
{
    const ft_trace *trace = s->trace;
    find_met_variables(s);
    find_busy(s);
    s->rank = ft_alloc(((size_t)trace->n_events + 1) * sizeof *s->rank);
    for (uint32_t e = 0; e < trace->n_events; e++) s->rank[e] = e;
    s->next_open = ft_alloc((s->order->sections.len + 1) * sizeof *s->next_open);
    s->lanes = ft_calloc((size_t)s->order->n_threads + 1, sizeof *s->lanes);
    s->locks = ft_calloc((size_t)trace->locks.len + 1, sizeof *s->locks);
    s->cells = ft_calloc((size_t)trace->shared.len + trace->locks.len + 1, sizeof *s->cells);
    s->need_first = ft_alloc(((size_t)s->n_busy + 1) * sizeof *s->need_first);
    s->need_count = ft_alloc(((size_t)s->n_busy + 1) * sizeof *s->need_count);
    s->holdings = ft_calloc((size_t)trace->shared.len + 1, sizeof *s->holdings);
    s->readers = ft_alloc(((size_t)s->n_busy + 1) * sizeof *s->readers);
}

ft_schedules *ft_schedules_new(const ft_problem *problem)
{
    FT_REQUIRE(problem && problem->trace && problem->order && problem->run);
    ft_schedules *s = ft_calloc(1, sizeof *s);
    s->problem = problem;
    s->trace = problem->trace;
    s->order = problem->order;
    s->plain = -1;
    return s;
}

void ft_schedules_free(ft_schedules *s)
{
    if (!s) return;
    free(s->busy_first);
    free(s->busy);
    free(s->by_time);
    free(s->busy_index);
    free(s->variable_met);
    free(s->rank);
    free(s->next_open);
    free(s->lanes);
    free(s->locks);
    free(s->cells);
    free(s->need_first);
    free(s->need_count);
    free(s->holdings);
    free(s->readers);
    ft_vec_release(&s->needs);
    ft_vec_release(&s->dirty);
    ft_vec_release(&s->live);
    ft_vec_release(&s->held);
    ft_vec_release(&s->used_locks);
    free(s);
}

bool ft_schedules_serve(ft_schedules *s, const ft_claim *claim)
{
    if (claim->kind != FT_CLAIM_RACE && claim->kind != FT_CLAIM_ATOMICITY) return false;
    if (s->plain < 0) {
        s->plain = is_plain(s->trace);
        if (s->plain) index_trace(s);
    }
    return s->plain;
}

/* ---- members --------------------------------------------------------------------------------- */

uint32_t ft_schedules_last_step(const ft_schedules *s)
{
    uint32_t last = 0;
    for (uint32_t t = 0; t < s->order->n_threads; t++) {
        if (s->lanes[t].steps == 0) continue;
        uint32_t e = s->order->thread_events[s->order->thread_start[t] + s->lanes[t].steps - 1];
        if (e > last) last = e;
    }
    return last;
}

static void include(ft_schedules *s, uint32_t e)
{
    ft_schedule_lane *of = &s->lanes[s->trace->thread[e]];
    uint32_t want = s->order->position[e] + 1;
    if (of->members >= want) return;
    of->members = want;
    if (!of->queued) ft_vec_push(&s->dirty, s->trace->thread[e]);
    of->queued = true;
}

ft_schedule_lock *ft_schedules_lock(ft_schedules *s, uint32_t lock)
{
    assert(lock < s->trace->locks.len);
    ft_schedule_lock *use = &s->locks[lock];
    if (use->epoch == s->epoch) return use;
    ft_vec_push(&s->used_locks, lock);
    *use = (ft_schedule_lock){
        .epoch = s->epoch, .open = FT_NO_SECTION, .held = FT_NO_SECTION, .yields = FT_NO_SECTION};
    return use;
}

/* 0: before all. */
static uint32_t section_rank(const ft_schedules *s, const ft_schedule_lock *use, uint32_t section)
{
    if (section == use->held) return UINT32_MAX;
    if (section == use->yields) return UINT32_MAX - 1;
    return s->rank[s->order->sections.data[section].acquire] + 1;
}

static void close_section(ft_schedules *s, uint32_t section)
{
    const ft_section *of = &s->order->sections.data[section];
    if (of->release == FT_NO_EVENT || section == ft_schedules_lock(s, of->lock)->held)
        s->stuck = true;
    else
        include(s, of->release);
}

/* Of two member sections that conflict the earlier one is closed. */
static void add_section(ft_schedules *s, uint32_t section)
{
    const ft_section *all = s->order->sections.data, *of = &all[section];
    ft_schedule_lock *use = ft_schedules_lock(s, of->lock);
    uint32_t rank = section_rank(s, use, section);
    uint32_t *link = &use->open;
    while (*link != FT_NO_SECTION) {
        const ft_section *other = &all[*link];
        if (section_rank(s, use, *link) < rank && ft_order_conflict(of, other)) {
            close_section(s, *link);
            *link = s->next_open[*link];
        } else {
            link = &s->next_open[*link];
        }
    }
    if ((of->shared ? use->last_exclusive : use->last) > rank) {
        close_section(s, section);
    } else {
        assert(use->open != section);
        s->next_open[section] = use->open;
        use->open = section;
    }
    if (rank > use->last) use->last = rank;
    if (!of->shared && rank > use->last_exclusive) use->last_exclusive = rank;
}

static void look_at(ft_schedules *s, uint32_t e)
{
    const uint32_t *sources;
    ft_access scratch;
    uint32_t count = ft_order_hard_sources(s->order, e, &sources);
    for (uint32_t i = 0; i < count; i++) include(s, sources[i]);
    if (ft_event_kind_object((ft_event_kind)s->trace->kind[e]) == FT_OBJECT_LOCK) {
        uint32_t section = s->order->section_of[e];
        if (ft_order_never(s->order, e)) s->stuck = true;
        if (section != FT_NO_SECTION && s->trace->kind[e] != FT_EVENT_RELEASE)
            add_section(s, section);
        return;
    }
    const ft_access *accesses = ft_trace_accesses(s->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (accesses[i].write || s->problem->model == FT_MODEL_CONTROL) continue;
        uint32_t source = ft_run_source(s->problem->run, e, i);
        if (source != FT_NO_EVENT) include(s, source);
    }
}

static void close_members(ft_schedules *s)
{
    const uint32_t *position = s->order->position;
    while (s->dirty.len > 0) {
        uint32_t t = s->dirty.data[--s->dirty.len];
        ft_schedule_lane *of = &s->lanes[t];
        of->queued = false;
        assert(of->members <= s->order->thread_start[t + 1] - s->order->thread_start[t]);
        while (of->next < s->busy_first[t + 1] && position[s->busy[of->next]] < of->members)
            look_at(s, s->busy[of->next++]);
    }
}

static void begin(ft_schedules *s)
{
    s->epoch++;
    s->stuck = false;
    s->dirty.len = s->held.len = s->used_locks.len = 0;
    for (uint32_t t = 0; t < s->order->n_threads; t++)
        s->lanes[t] = (ft_schedule_lane){.next = s->busy_first[t]};
}

/* The events that must be executed before e is next in its thread. */
static void include_before(ft_schedules *s, uint32_t e)
{
    uint32_t previous = ft_order_previous(s->order, e), fork;
    if (previous == FT_NO_EVENT)
        fork = s->order->fork_of[s->trace->thread[e]];
    else
        fork = FT_NO_EVENT;
    if (previous != FT_NO_EVENT) include(s, previous);
    if (fork != FT_NO_EVENT) include(s, fork);
}

/* The sections open at e stay open; where a later event of the schedule needs the lock, t_r's are
 * closed before. */
static void hold(ft_schedules *s, uint32_t e, bool yields)
{
    ft_hold open = s->order->holds.data[s->order->hold[e]];
    const ft_section *all = s->order->sections.data;
    for (uint32_t i = 0; i < open.count; i++) {
        uint32_t section = s->order->hold_sections.data[open.first + i];
        ft_schedule_lock *use = ft_schedules_lock(s, all[section].lock);
        if (use->held == section) continue;
        if (use->held == FT_NO_SECTION) {
            use->held = section;
            ft_vec_push(&s->held, all[section].acquire);
        } else if (yields) {
            use->yields = section;
        } else {
            s->stuck = true;
        }
    }
}

static uint32_t count_steps(ft_schedules *s, uint32_t extra)
{
    uint32_t total = 0;
    for (uint32_t t = 0; t < s->order->n_threads; t++) {
        s->lanes[t].steps = s->lanes[t].members;
        if (extra != FT_NO_EVENT && s->trace->thread[extra] == t &&
            s->order->position[extra] == s->lanes[t].members)
            s->lanes[t].steps++;
        total += s->lanes[t].steps;
    }
    return total;
}

/* Members before event `until` in observed order, but for the sections that come last. */
static void add_observed(ft_schedules *s, uint32_t until, uint32_t extra)
{
    for (uint32_t i = 0; i < s->n_busy && s->busy[s->by_time[i]] < until; i++) {
        uint32_t e = s->busy[s->by_time[i]], section = s->order->section_of[e];
        if (!ft_schedules_is_step(s, e) || e == extra) continue;
        bool last = section != FT_NO_SECTION && s->held.len &&
                    ft_schedules_lock(s, s->order->sections.data[section].lock)->held == section;
        if (!last) ft_schedules_add_needs(s, s->by_time[i]);
    }
}

/* ---- in observed order ----------------------------------------------------------------------- */

/* In the order of the run, except for the sections that come last. */
static bool accept_in_order(ft_schedules *s, uint32_t extra, uint32_t total, ft_witness *witness)
{
    s->any_order = false;
    s->needs.len = 0;
    s->cell_epoch++;
    add_observed(s, ft_schedules_last_step(s) + 1, extra);
    for (size_t i = 0; i < s->held.len; i++)
        ft_schedules_add_needs(s, s->busy_index[s->held.data[i]]);
    if (extra != FT_NO_EVENT) ft_schedules_add_needs(s, s->busy_index[extra]);
    return ft_schedules_run(s, total, witness);
}

static bool accept_in_any_order(ft_schedules *s, const ft_claim *claim, uint32_t total,
                                ft_witness *witness)
{
    bool triplet = claim->kind == FT_CLAIM_ATOMICITY;
    s->any_order = true;
    s->after = triplet ? claim->events[0] : FT_NO_EVENT;
    s->only = triplet ? claim->events[1] : FT_NO_EVENT;
    bool done = ft_schedules_run(s, total, witness);
    s->early = triplet && !done;
    if (s->early) done = ft_schedules_run(s, total, witness);
    s->any_order = s->early = false;
    return done;
}

bool ft_schedules_accept(ft_schedules *s, const ft_claim *claim, ft_witness *witness)
{
    FT_REQUIRE(s->plain == 1 && witness);
    FT_REQUIRE(claim->kind == FT_CLAIM_RACE || claim->kind == FT_CLAIM_ATOMICITY);
    bool triplet = claim->kind == FT_CLAIM_ATOMICITY;
    uint32_t last = claim->events[triplet ? 2 : 1], other = claim->events[triplet ? 1 : 0];
    begin(s);
    hold(s, last, false);
    hold(s, other, triplet);
    include_before(s, last);
    include_before(s, other);
    close_members(s);
    bool other_is_member = ft_schedules_is_member(s, other);
    if (s->stuck || ft_schedules_is_member(s, last) || (other_is_member && !triplet)) return false;
    uint32_t total = count_steps(s, triplet ? other : FT_NO_EVENT);
    *witness = (ft_witness){.model = s->problem->model, .bound = FT_NO_BOUND, .claim = *claim};
    if (!other_is_member && accept_in_order(s, triplet ? other : FT_NO_EVENT, total, witness))
        return true;
    return accept_in_any_order(s, claim, total, witness);
}

/* ---- in the order of a schedule -------------------------------------------------------------- */

/* Its first steps that are the observed run's. */
static uint32_t observed_steps(const ft_witness *witness)
{
    uint32_t n = 0;
    while (n < witness->n_steps && witness->steps[n] == n) n++;
    return n;
}

static void find_members(ft_schedules *s, const ft_claim *claim)
{
    bool triplet = claim->kind == FT_CLAIM_ATOMICITY;
    begin(s);
    for (uint32_t i = triplet; i < ft_claim_events(claim); i++) include_before(s, claim->events[i]);
    close_members(s);
}

/* The members' own switches in the order they have. */
static uint32_t switches_now(const ft_schedules *s, const ft_witness *witness)
{
    uint32_t switches = 0, last = UINT32_MAX;
    for (uint32_t i = 0; i < witness->n_steps; i++) {
        uint32_t e = witness->steps[i], thread = s->trace->thread[e];
        if (!ft_schedules_is_step(s, e)) continue;
        switches += thread != last && last != UINT32_MAX;
        last = thread;
    }
    return switches;
}

static void keep_order(const ft_schedules *s, const ft_witness *witness, uint32_t *steps)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < witness->n_steps; i++)
        if (ft_schedules_is_step(s, witness->steps[i])) steps[n++] = witness->steps[i];
    assert(n <= witness->n_steps);
}

static uint32_t switches_of(const ft_schedules *s, const uint32_t *steps, uint32_t count)
{
    uint32_t switches = 0;
    for (uint32_t i = 1; i < count; i++)
        switches += s->trace->thread[steps[i]] != s->trace->thread[steps[i - 1]];
    return switches;
}

static bool reduce(ft_schedules *s, uint32_t observed, const ft_witness *witness, ft_witness *less)
{
    const ft_claim *claim = &witness->claim;
    uint32_t extra = claim->kind == FT_CLAIM_ATOMICITY ? claim->events[1] : FT_NO_EVENT;
    find_members(s, claim);
    if (s->stuck) return false;
    uint32_t total = count_steps(s, extra);
    s->needs.len = 0;
    s->cell_epoch++;
    /* The witness is not checked yet: a member that it lacks waits for nothing. */
    memset(s->need_count, 0, s->n_busy * sizeof *s->need_count);
    add_observed(s, observed, FT_NO_EVENT);
    for (uint32_t i = observed; i < witness->n_steps; i++) {
        uint32_t e = witness->steps[i];
        if (ft_schedules_is_step(s, e) && s->busy_index[e] != FT_NO_EVENT)
            ft_schedules_add_needs(s, s->busy_index[e]);
    }
    *less = *witness;
    if (!ft_schedules_run(s, total, less)) return false;
    if (switches_of(s, less->steps, less->n_steps) > switches_now(s, witness))
        keep_order(s, witness, less->steps);
    return true;
}

/* At rest, ranks are those of the observed order. */
static bool ranks_are_observed(const ft_schedules *s)
{
    for (uint32_t e = 0; e < s->trace->n_events; e++)
        if (s->rank[e] != e) return false;
    return true;
}

bool ft_schedules_reduce(ft_schedules *s, ft_witness *witness)
{
    FT_REQUIRE(s->plain == 1);
    FT_CHECK(ft_witness_is_sound(s->trace, witness));
    ft_witness less;
    uint32_t observed = observed_steps(witness);
    if (s->problem->model != FT_MODEL_OBSERVED) return false;
    for (uint32_t i = observed; i < witness->n_steps; i++) s->rank[witness->steps[i]] = i;
    bool reduced = reduce(s, observed, witness, &less);
    for (uint32_t i = observed; i < witness->n_steps; i++)
        s->rank[witness->steps[i]] = witness->steps[i];
    FT_CHECK(ranks_are_observed(s));
    if (reduced) *witness = less;
    return reduced;
}
