/* Every candidate of a job, straight from the definitions (docs/checks.md). */
#include "oracle/candidates.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* (first write, remote write, last write): RWR, RWW, WRW, WWR, WWW (Wang et al. §5.1). */
static const bool patterns[5][3] = {
    {false, true, false}, {false, true, true}, {true, false, true},
    {true, true, false},  {true, true, true},
};

typedef struct interval {
    uint32_t from, to; /* events of one thread, both inside */
} interval;

typedef struct intervals {
    FT_VEC(interval) list;
} intervals;

void ft_oracle_push(ft_oracle_result *result, ft_check check, uint32_t property, ft_claim claim)
{
    ft_vec_push(
        &result->answers,
        ((ft_oracle_answer){
            .check = check, .property = property, .claim = claim, .maybe_switches = UINT32_MAX}));
}

bool ft_oracle_ignored(const ft_trace *trace, uint32_t event)
{
    return trace->kind[event] != FT_EVENT_RELEASE && (trace->flags[event] & FT_FLAG_SYNTHETIC);
}

bool ft_oracle_accesses(const ft_trace *trace, uint32_t event, uint32_t variable, bool write)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *list = ft_trace_accesses(trace, event, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].variable == variable && list[i].write == write) return true;
    return false;
}

static bool conflict(const ft_trace *trace, uint32_t a, uint32_t b)
{
    for (uint32_t v = 0; v < trace->shared.len; v++) {
        bool write_a = ft_oracle_accesses(trace, a, v, true),
             write_b = ft_oracle_accesses(trace, b, v, true);
        if (write_a && (write_b || ft_oracle_accesses(trace, b, v, false))) return true;
        if (write_b && ft_oracle_accesses(trace, a, v, false)) return true;
    }
    return false;
}

static void add_races(const ft_trace *trace, ft_oracle_result *result)
{
    for (uint32_t a = 0; a < trace->n_events; a++) {
        for (uint32_t b = a + 1; b < trace->n_events; b++) {
            bool atomic = (trace->flags[a] & trace->flags[b] & FT_FLAG_ATOMIC) != 0;
            if (trace->thread[a] == trace->thread[b] || atomic || !conflict(trace, a, b)) continue;
            if (ft_oracle_ignored(trace, a) || ft_oracle_ignored(trace, b)) continue;
            ft_oracle_push(result, FT_CHECK_RACE, FT_ORACLE_NO_PROPERTY,
                           (ft_claim){.kind = FT_CLAIM_RACE, .events = {a, b}});
        }
    }
}

static void add_assertions(const ft_trace *trace, ft_oracle_result *result)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_ASSERT)
            ft_oracle_push(result, FT_CHECK_ASSERTION, FT_ORACLE_NO_PROPERTY,
                           (ft_claim){.kind = FT_CLAIM_ASSERTION, .events = {e}});
}

/* ---- transactions ---- */

static uint32_t last_of_thread(const ft_trace *trace, uint32_t thread)
{
    uint32_t last = FT_NO_EVENT;
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->thread[e] == thread) last = e;
    return last;
}

/* The tx-end that closes the tx-begin, or the thread's last event. */
static uint32_t closing(const ft_trace *trace, uint32_t begin)
{
    uint32_t depth = 0;
    for (uint32_t e = begin; e < trace->n_events; e++) {
        if (trace->thread[e] != trace->thread[begin]) continue;
        if (trace->kind[e] == FT_EVENT_TX_BEGIN) depth++;
        if (trace->kind[e] == FT_EVENT_TX_END && --depth == 0) return e;
    }
    return last_of_thread(trace, trace->thread[begin]);
}

static void add_marked(const ft_trace *trace, intervals *out)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_TX_BEGIN)
            ft_vec_push(&out->list, ((interval){e, closing(trace, e)}));
}

static void add_sections_of(const ft_trace *trace, uint32_t thread, intervals *out)
{
    uint32_t begin = FT_NO_EVENT, held = 0;
    bool waits = false;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint8_t flags = trace->flags[e];
        if (trace->thread[e] != thread || (flags & (FT_FLAG_NESTED | FT_FLAG_STRANGER))) continue;
        if (trace->kind[e] == FT_EVENT_ACQUIRE || trace->kind[e] == FT_EVENT_ACQUIRE_SHARED) {
            if (held++ == 0) {
                begin = e;
                waits = false;
            }
            waits |= (flags & FT_FLAG_CONDITION) != 0;
        } else if (trace->kind[e] == FT_EVENT_RELEASE) {
            waits |= (flags & FT_FLAG_CONDITION) != 0;
            if (--held == 0 && !waits) ft_vec_push(&out->list, ((interval){begin, e}));
        }
    }
}

static void find_transactions(const ft_trace *trace, intervals *out)
{
    add_marked(trace, out);
    if (out->list.len) return;
    for (uint32_t t = 0; t < trace->threads.len; t++) add_sections_of(trace, t, out);
}

static bool together(const intervals *transactions, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < transactions->list.len; i++) {
        interval in = transactions->list.data[i];
        if (in.from <= a && b <= in.to) return true;
    }
    return false;
}

static bool pattern_at(const ft_trace *trace, const uint32_t events[3], uint32_t variable,
                       const bool *pattern)
{
    for (uint32_t i = 0; i < 3; i++)
        if (!ft_oracle_accesses(trace, events[i], variable, pattern[i])) return false;
    return true;
}

static void add_triplets(const ft_trace *trace, ft_check check, uint32_t property, uint32_t first,
                         uint32_t last, ft_oracle_result *result)
{
    if (ft_oracle_ignored(trace, first) || ft_oracle_ignored(trace, last)) return;
    for (uint32_t remote = 0; remote < trace->n_events; remote++) {
        if (trace->thread[remote] == trace->thread[first]) continue;
        if (ft_oracle_ignored(trace, remote)) continue;
        uint32_t events[3] = {first, remote, last};
        for (uint32_t v = 0; v < trace->shared.len; v++) {
            for (uint32_t p = 0; p < 5; p++) {
                const bool *w = patterns[p];
                if (!pattern_at(trace, events, v, w)) continue;
                ft_oracle_push(result, check, property,
                               (ft_claim){.kind = FT_CLAIM_ATOMICITY,
                                          .events = {first, remote, last},
                                          .variable = v,
                                          .writes = {w[0], w[1], w[2]}});
            }
        }
    }
}

/* Intervals lie in one thread each, so only the first event's thread has to be compared. */
static void add_atomicity(const ft_trace *trace, ft_check check, uint32_t property,
                          const intervals *transactions, ft_oracle_result *result)
{
    for (uint32_t thread = 0; thread < trace->threads.len; thread++) {
        intervals own = {0};
        for (size_t i = 0; i < transactions->list.len; i++)
            if (trace->thread[transactions->list.data[i].from] == thread)
                ft_vec_push(&own.list, transactions->list.data[i]);
        for (uint32_t a = 0; a < trace->n_events; a++)
            for (uint32_t b = a + 1; b < trace->n_events; b++)
                if (trace->thread[a] == thread && trace->thread[b] == thread &&
                    together(&own, a, b))
                    add_triplets(trace, check, property, a, b, result);
        ft_vec_release(&own.list);
    }
}

/* ---- properties ---- */

static void add_conditions(const ft_trace *trace, uint32_t number, const ft_oracle_property *p,
                           ft_oracle_result *result)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (p->event == FT_NO_EVENT ? trace->loc[e] == p->from : e == p->event)
            ft_oracle_push(
                result, FT_CHECK_PROPERTY, number,
                (ft_claim){.kind = FT_CLAIM_CONDITION, .events = {e}, .condition = p->condition});
}

static void add_co_enabled(const ft_trace *trace, uint32_t number, const ft_oracle_property *p,
                           ft_oracle_result *result)
{
    for (uint32_t a = 0; a < trace->n_events; a++) {
        for (uint32_t b = a + 1; b < trace->n_events; b++) {
            uint32_t at_a = trace->loc[a], at_b = trace->loc[b];
            bool match = (at_a == p->from && at_b == p->to) || (at_a == p->to && at_b == p->from);
            if (match && trace->thread[a] != trace->thread[b])
                ft_oracle_push(result, FT_CHECK_PROPERTY, number,
                               (ft_claim){.kind = FT_CLAIM_CO_ENABLED, .events = {a, b}});
        }
    }
}

static void add_before(const ft_trace *trace, uint32_t number, const ft_oracle_property *p,
                       ft_oracle_result *result)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->loc[e] == p->to)
            ft_oracle_push(result, FT_CHECK_PROPERTY, number,
                           (ft_claim){.kind = FT_CLAIM_BEFORE, .events = {e}, .avoid = p->from});
}

static void add_transaction(const ft_trace *trace, uint32_t number, const ft_oracle_property *p,
                            ft_oracle_result *result)
{
    intervals stretches = {0};
    for (uint32_t a = 0; a < trace->n_events; a++) {
        if (trace->loc[a] != p->from) continue;
        for (uint32_t b = a + 1; b < trace->n_events; b++) {
            if (trace->loc[b] != p->to || trace->thread[a] != trace->thread[b]) continue;
            ft_vec_push(&stretches.list, ((interval){a, b}));
            break;
        }
    }
    add_atomicity(trace, FT_CHECK_PROPERTY, number, &stretches, result);
    ft_vec_release(&stretches.list);
}

static void add_property(const ft_trace *trace, uint32_t number, const ft_oracle_property *p,
                         ft_oracle_result *result)
{
    switch (p->kind) {
    case FT_ORACLE_ASSERTION_AT:
        add_conditions(trace, number, p, result);
        return;
    case FT_ORACLE_CO_ENABLED_AT:
        add_co_enabled(trace, number, p, result);
        return;
    case FT_ORACLE_BEFORE_AT:
        add_before(trace, number, p, result);
        return;
    case FT_ORACLE_TRANSACTION_AT:
        add_transaction(trace, number, p, result);
        return;
    }
}

static void add_failure(const ft_trace *trace, ft_oracle_result *result)
{
    for (uint32_t i = 0; i < trace->n_notes; i++) {
        const ft_note *note = &trace->notes[i];
        if (strncmp(note->code, "failure-", strlen("failure-")) != 0) continue;
        uint32_t e = note->event != FT_NO_EVENT ? note->event : trace->n_events - 1;
        ft_oracle_push(result, FT_CHECK_FAILURE, FT_ORACLE_NO_PROPERTY,
                       (ft_claim){.kind = FT_CLAIM_FAILURE, .events = {e}});
    }
}

void ft_oracle_candidates(const ft_trace *trace, const ft_oracle_job *job, ft_oracle_result *result)
{
    *result = (ft_oracle_result){0};
    intervals transactions = {0};
    find_transactions(trace, &transactions);
    if (job->checks[FT_CHECK_RACE]) add_races(trace, result);
    if (job->checks[FT_CHECK_ATOMICITY])
        add_atomicity(trace, FT_CHECK_ATOMICITY, FT_ORACLE_NO_PROPERTY, &transactions, result);
    if (job->checks[FT_CHECK_ASSERTION]) add_assertions(trace, result);
    if (job->checks[FT_CHECK_LOCK]) ft_oracle_add_lock_errors(trace, result);
    if (job->checks[FT_CHECK_DEADLOCK]) ft_oracle_add_deadlocks(trace, result);
    if (job->checks[FT_CHECK_ORDER]) ft_oracle_add_order_errors(trace, result);
    if (job->checks[FT_CHECK_FAILURE]) add_failure(trace, result);
    for (uint32_t i = 0; i < job->n_properties; i++)
        add_property(trace, i, &job->properties[i], result);
    ft_vec_release(&transactions.list);
}

void ft_oracle_release(ft_oracle_result *result)
{
    ft_vec_release(&result->answers);
}

/* The same cycle from another of its requests. */
static bool rotated(const ft_claim *a, const ft_claim *b, uint32_t by)
{
    for (uint32_t i = 0; i < a->n_events; i++)
        if (a->events[i] != b->events[(i + by) % a->n_events]) return false;
    return true;
}

static bool same_cycle(const ft_claim *a, const ft_claim *b)
{
    for (uint32_t by = 0; by < a->n_events; by++)
        if (a->n_events == b->n_events && rotated(a, b, by)) return true;
    return false;
}

bool ft_oracle_claim_equal(const ft_claim *a, const ft_claim *b)
{
    if (a->kind != b->kind) return false;
    if (a->kind == FT_CLAIM_DEADLOCK) return same_cycle(a, b);
    if (a->kind == FT_CLAIM_RACE || a->kind == FT_CLAIM_CO_ENABLED)
        return (a->events[0] == b->events[0] && a->events[1] == b->events[1]) ||
               (a->events[0] == b->events[1] && a->events[1] == b->events[0]);
    if (a->events[0] != b->events[0]) return false;
    if (a->kind == FT_CLAIM_AFTER_FREE) return a->events[1] == b->events[1];
    if (a->kind == FT_CLAIM_UNINITIALISED) return a->variable == b->variable;
    if (a->kind == FT_CLAIM_CONDITION) return a->condition == b->condition;
    if (a->kind == FT_CLAIM_BEFORE) return a->avoid == b->avoid;
    if (a->kind != FT_CLAIM_ATOMICITY) return true;
    return a->events[1] == b->events[1] && a->events[2] == b->events[2] &&
           a->variable == b->variable && memcmp(a->writes, b->writes, sizeof a->writes) == 0;
}
