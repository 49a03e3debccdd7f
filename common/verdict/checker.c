#include <stdlib.h>
#include <string.h>

#include "verdict/checker_internal.h"

struct ft_checker {
    const ft_trace *trace;
    ft_machine *machine;
    ft_observed *observed;
    ft_witness tried; /* of a trial: its model and wake-ups, no claim */
};

typedef ft_checker_run run;
typedef ft_decided decision;

ft_checker *ft_checker_new(const ft_trace *trace)
{
    ft_checker *checker = ft_calloc(1, sizeof *checker);
    checker->trace = trace;
    checker->machine = ft_machine_new(trace);
    checker->observed = ft_observed_new(trace);
    return checker;
}

void ft_checker_free(ft_checker *checker)
{
    if (!checker) return;
    ft_machine_free(checker->machine);
    ft_observed_free(checker->observed);
    free(checker);
}

void ft_reading_release(ft_reading *reading)
{
    free(reading->rows);
    free(reading->symbols);
    *reading = (ft_reading){0};
}

/* ---- refusals ------------------------------------------------------------------------------- */

ft_status ft_checker_refuse(run *r, ft_status code, uint32_t e, const char *why)
{
    FT_REQUIRE(code != FT_OK && e < r->trace->n_events && why);
    ft_strbuf text = {0}, place = {0};
    ft_trace_print_event(r->trace, e, &text);
    if (r->step < r->witness->n_steps)
        ft_strbuf_printf(&place, "step %u", r->step + 1);
    else
        ft_strbuf_puts(&place, "after the last step");
    ft_error_set(r->err, code, "%s: event %u (%s: %s): %s", ft_strbuf_text(&place), e + 1,
                 ft_trace_thread_name(r->trace, r->trace->thread[e]), ft_strbuf_text(&text), why);
    ft_strbuf_release(&text);
    ft_strbuf_release(&place);
    return code;
}

ft_status ft_checker_refuse_claim(run *r, const char *why)
{
    return ft_error_set(r->err, FT_INPUT, "claim: %s", why);
}

static const char UNKNOWN_VALUE[] = "depends on a value that is unknown or exceeds 64 bits";

/* ---- reads and guards ----------------------------------------------------------------------- */

static bool observed_value(const run *r, uint32_t slot, ft_value *value)
{
    assert(slot < r->observed->first[r->trace->n_events]);
    uint32_t id = r->observed->value[slot];
    if (id != 0) *value = r->observed->values[id];
    return id != 0;
}

/* A plain read without a value keeps its source in every model: nothing else is known of it. */
static bool is_silent(const run *r, uint32_t e)
{
    uint32_t data = r->trace->data[e];
    if (r->trace->kind[e] == FT_EVENT_RMW) return r->trace->updates[data].read == FT_NO_VALUE;
    return !ft_trace_is_symbolic_event(r->trace, e) && data == FT_NO_VALUE;
}

/* Wang et al. §7.1: a read returns what it returned; an unknown value equals only itself. */
static decision same_value(const run *r, uint32_t e, uint32_t slot, ft_held held)
{
    ft_value value;
    if (!is_silent(r, e) && held.known && observed_value(r, slot, &value))
        return ft_value_equal(held.value, value) ? YES : NO;
    return held.source == r->observed->source[slot] ? YES : NO;
}

/* Wang et al. §4: a symbolic event computes with whatever it reads. A plain read stands for code
 * that the trace does not show, so it keeps its value, or its source where it has no value. */
static decision same_program(const run *r, uint32_t e, uint32_t slot, ft_held held)
{
    if (ft_trace_is_symbolic_event(r->trace, e)) return YES;
    if (is_silent(r, e) || held.known) return same_value(r, e, slot, held);
    bool same_source = held.source == r->observed->source[slot];
    bool computed = held.source != FT_NO_EVENT && ft_trace_is_symbolic_event(r->trace, held.source);
    return same_source && !computed ? YES : UNDECIDED;
}

/* Whether one read of e, in the current state, satisfies the model. */
static decision read_agrees(const run *r, uint32_t e, uint32_t slot, uint32_t variable)
{
    ft_held held = ft_machine_shared(r->machine, variable);
    switch (r->witness->model) {
    case FT_MODEL_OBSERVED:
        return held.source == r->observed->source[slot] ? YES : NO;
    case FT_MODEL_MAXIMAL:
        return same_value(r, e, slot, held);
    case FT_MODEL_CTP:
        return same_program(r, e, slot, held);
    case FT_MODEL_CONTROL:
        return YES;
    case FT_MODELS:
        break;
    }
    return NO;
}

static decision reads_agree(const run *r, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(r->trace, e, &scratch, &count);
    decision all = YES;
    assert(count <= r->observed->first[e + 1] - r->observed->first[e] ||
           ft_trace_is_blocked(r->trace, e));
    for (uint32_t i = 0; i < count; i++) {
        if (accesses[i].write) continue;
        decision one = read_agrees(r, e, r->observed->first[e] + i, accesses[i].variable);
        if (one == NO) return NO;
        if (one == UNDECIDED) all = UNDECIDED;
    }
    return all;
}

/* A compare-and-swap, whatever the model says of its read. */
static ft_outcome finds_again(const run *r, uint32_t e)
{
    ft_held held = ft_machine_shared(r->machine, r->trace->object[e]);
    ft_value found;
    bool differs = held.known && observed_value(r, r->observed->first[e], &found) &&
                   !ft_value_equal(held.value, found);
    return differs ? FT_OUTCOME_FALSE : FT_OUTCOME_TRUE;
}

/* Under `observed` and `maximal` an event whose reads agree holds the very values of the observed
 * run (its thread's locals included), in which it was executed: that decides what unknown values
 * leave open. */
static ft_outcome evaluate(run *r, uint32_t e, decision agrees)
{
    ft_outcome outcome = ft_machine_evaluate(r->machine, e);
    /* Wang et al. §7.2: conditions always hold, values are anything. */
    if (r->witness->model == FT_MODEL_CONTROL) return FT_OUTCOME_TRUE;
    if (ft_trace_compares(r->trace, e)) return finds_again(r, e);
    if (r->trace->kind[e] == FT_EVENT_IF) return outcome; /* which arm it is has to be known */
    bool as_observed = agrees == YES && r->witness->model != FT_MODEL_CTP;
    return outcome == FT_OUTCOME_UNDECIDED && as_observed ? FT_OUTCOME_TRUE : outcome;
}

/* RACE of claim.h: a guard's reads happen whatever its outcome, other accesses only if it holds. */
static decision takes_place(const run *r, uint32_t e, const ft_access *access, ft_outcome outcome)
{
    static const decision OTHERS[] = {[FT_OUTCOME_TRUE] = YES,
                                      [FT_OUTCOME_FALSE] = NO,
                                      [FT_OUTCOME_UNDEFINED] = NO,
                                      [FT_OUTCOME_UNDECIDED] = UNDECIDED};
    bool always = access->in_guard || (!access->write && ft_trace_compares(r->trace, e));
    return always ? YES : OTHERS[outcome];
}

/* ATOMICITY of claim.h: a compare-and-swap that failed reads as t_r only where it fails again. */
static decision remote_takes_place(const run *r, uint32_t e, const ft_access *access,
                                   ft_outcome outcome)
{
    ft_access own = *access;
    own.in_guard &= !ft_trace_failed_swap(r->trace, e);
    return takes_place(r, e, &own, outcome);
}

static const ft_access *find_access(const ft_trace *trace, uint32_t e, uint32_t variable,
                                    bool write, ft_access *scratch)
{
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].variable == variable && accesses[i].write == write) return &accesses[i];
    return NULL;
}

/* ---- annotations ---------------------------------------------------------------------------- */

/* Does the witness file describe the current step? */
static bool is_described(const run *r, uint32_t e)
{
    if (r->step >= r->full_from) return true;
    for (uint32_t i = 0; i < r->n_claimed; i++)
        if (r->claim->events[i] == e) return true;
    return false;
}

/* The variable that the term is, where its conditions lead now; FT_NO_ID: it is something else. */
static uint32_t chosen_variable(const run *r, uint32_t thread, ft_term term)
{
    ft_term_node node = ft_term_get(r->trace->terms, term);
    while (node.op == FT_OP_ITE) {
        bool first = ft_machine_condition(r->machine, thread, node.children[0]) == FT_OUTCOME_TRUE;
        node = ft_term_get(r->trace->terms, node.children[first ? 1 : 2]);
    }
    bool shared = node.op == FT_OP_SYMBOL && !FT_SYM_IS_LOCAL(node.symbol);
    return shared ? FT_SYM_INDEX(node.symbol) : FT_NO_ID;
}

/* Of an event that accesses one of several variables: which one. It is read into a local, or the
 * others keep their content. */
static uint32_t reached_variable(const run *r, uint32_t e)
{
    const ft_action *action = ft_trace_action(r->trace, e);
    for (uint32_t i = 0; i < action->n_assignments; i++) {
        const ft_assignment *one = &action->assignments[i];
        uint32_t found = chosen_variable(r, r->trace->thread[e], one->term);
        bool local = FT_SYM_IS_LOCAL(one->target);
        if (local && found != FT_NO_ID) return found;
        if (!local && found != FT_SYM_INDEX(one->target)) return FT_SYM_INDEX(one->target);
    }
    return FT_NO_ID;
}

static uint32_t shown_access(const run *r, uint32_t e, const ft_access *accesses, uint32_t count)
{
    if (!ft_trace_reaches_one_of(r->trace, e)) return 0;
    const ft_action *action = ft_trace_action(r->trace, e);
    uint32_t variable = reached_variable(r, e), found = 0;
    bool reads = false;
    for (uint32_t i = 0; i < action->n_assignments; i++)
        reads |= FT_SYM_IS_LOCAL(action->assignments[i].target);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].variable == variable && accesses[i].write != reads) found = i;
    return found;
}

/* After evaluate(e), before its writes. */
static void note_row(run *r, uint32_t e)
{
    if (!r->reading || !is_described(r, e)) return;
    ft_reading_row row = {.event = e, .step = r->step, .source = FT_NO_EVENT};
    ft_access scratch;
    uint32_t count, slot = r->observed->first[e];
    const ft_access *accesses = ft_trace_accesses(r->trace, e, &scratch, &count);
    if (count > 0) {
        row.access = shown_access(r, e, accesses, count);
        const ft_access *shown = &accesses[row.access];
        ft_held held = shown->write ? ft_machine_pending(r->machine, e, shown->variable)
                                    : ft_machine_shared(r->machine, shown->variable);
        row.value_known = held.known;
        if (held.known) row.value = held.value;
        if (!shown->write) row.source = held.source;
        row.observed_known = observed_value(r, slot + row.access, &row.observed);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!accesses[i].write)
            row.departs |=
                !same_value(r, e, slot + i, ft_machine_shared(r->machine, accesses[i].variable));
    assert(r->reading->len == 0 || r->reading->data[r->reading->len - 1].step <= r->step);
    ft_vec_push(r->reading, row);
}

/* ---- steps ---------------------------------------------------------------------------------- */

ft_status ft_checker_ready(run *r, uint32_t e, ft_error *why)
{
    bool paired = r->trace->kind[e] == FT_EVENT_EDGE_IN || r->trace->kind[e] == FT_EVENT_COND_WAKE;
    assert(!paired || r->observed->first[e] < r->observed->first[e + 1]);
    uint32_t partner = paired ? r->observed->source[r->observed->first[e]] : FT_NO_EVENT;
    return ft_machine_ready(r->machine, e, partner, why);
}

static ft_status check_ready(run *r, uint32_t e)
{
    ft_error why = FT_ERROR_INIT;
    ft_status status = ft_checker_ready(r, e, &why);
    return status ? ft_checker_refuse(r, status, e, why.message) : FT_OK;
}

ft_status ft_checker_next(run *r, uint32_t e)
{
    ft_error why = FT_ERROR_INIT;
    ft_status status = ft_machine_next(r->machine, e, &why);
    return status ? ft_checker_refuse(r, status, e, why.message) : FT_OK;
}

/* The thread of t_r stops at it where its reads depart from the model: no step follows there, and
 * no join sees its end. */
static ft_status check_stopped(run *r, uint32_t e)
{
    bool concerned = r->trace->thread[e] == r->stopped ||
                     (r->trace->kind[e] == FT_EVENT_JOIN && r->trace->object[e] == r->stopped);
    if (r->stopped == FT_NO_ID || !concerned) return FT_OK;
    if (r->stop_undecided)
        return ft_checker_refuse(r, FT_UNSUPPORTED, e,
                                 "whether its thread stopped before it depends on a value "
                                 "that is unknown or exceeds 64 bits");
    return ft_checker_refuse(r, FT_INPUT, e, "the remote access stopped that thread");
}

static ft_status check_member_reads(run *r, uint32_t e, decision agrees)
{
    static const char *const WHY[FT_MODELS] = {
        [FT_MODEL_OBSERVED] = "it reads from another write than in the observed run",
        [FT_MODEL_MAXIMAL] = "it reads another value than in the observed run",
        [FT_MODEL_CTP] = "it is a read without a term and does not return what it returned"};
    assert(agrees != NO || WHY[r->witness->model]); /* control allows every value */
    if (agrees == NO) return ft_checker_refuse(r, FT_INPUT, e, WHY[r->witness->model]);
    if (agrees == UNDECIDED) return ft_checker_refuse(r, FT_UNSUPPORTED, e, UNKNOWN_VALUE);
    if (r->departed == FT_NO_EVENT) return FT_OK;
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(r->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!accesses[i].write &&
            ft_machine_shared(r->machine, accesses[i].variable).source == r->departed)
            return ft_checker_refuse(r, r->stop_undecided ? FT_UNSUPPORTED : FT_INPUT, e,
                                     "it reads what the departed remote access wrote");
    return FT_OK;
}

/* An assert that failed in the run, which went on; an if goes on in its else-arm. */
static bool may_be_false(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_IF || (trace->flags[e] & FT_FLAG_FAILED);
}

static ft_status check_enabled(run *r, uint32_t e, ft_outcome outcome)
{
    switch (outcome) {
    case FT_OUTCOME_TRUE:
        return FT_OK;
    case FT_OUTCOME_FALSE:
        if (may_be_false(r->trace, e)) return FT_OK;
        return ft_checker_refuse(r, FT_INPUT, e, "its condition is false");
    case FT_OUTCOME_UNDEFINED:
        return ft_checker_refuse(r, FT_INPUT, e, "a term of it divides by zero");
    case FT_OUTCOME_UNDECIDED:
        break;
    }
    return ft_checker_refuse(r, FT_UNSUPPORTED, e, UNKNOWN_VALUE);
}

static ft_status execute_member(run *r, uint32_t e)
{
    decision agrees = reads_agree(r, e);
    ft_status status = check_member_reads(r, e, agrees);
    if (status) return status;
    ft_outcome outcome = evaluate(r, e, agrees);
    status = check_enabled(r, e, outcome);
    if (status) return status;
    note_row(r, e);
    ft_machine_write(r->machine, e);
    ft_machine_advance(r->machine, e);
    return FT_OK;
}

void ft_checker_begin(ft_checker *checker, ft_model model, ft_wakeups wakeups)
{
    FT_REQUIRE(model < FT_MODELS && wakeups < FT_WAKEUPS_KINDS);
    checker->tried = (ft_witness){.model = model, .wakeups = wakeups};
    ft_machine_reset(checker->machine);
    ft_machine_set_wakeups(checker->machine, wakeups);
    ft_machine_leave_branches_open(checker->machine, false);
}

bool ft_checker_try(ft_checker *checker, uint32_t e)
{
    FT_REQUIRE(e < checker->trace->n_events);
    run r = {.trace = checker->trace,
             .machine = checker->machine,
             .observed = checker->observed,
             .witness = &checker->tried,
             .departed = FT_NO_EVENT,
             .stopped = FT_NO_ID};
    if (ft_machine_next(r.machine, e, NULL) || ft_checker_ready(&r, e, NULL)) return false;
    if (reads_agree(&r, e) != YES) return false;
    ft_outcome outcome = evaluate(&r, e, YES);
    bool fine = outcome == FT_OUTCOME_FALSE ? may_be_false(r.trace, e) : outcome == FT_OUTCOME_TRUE;
    if (!fine) return false;
    ft_machine_write(r.machine, e);
    ft_machine_advance(r.machine, e);
    return true;
}

static ft_status check_access(run *r, uint32_t index, ft_outcome outcome)
{
    uint32_t e = r->claim->events[index];
    ft_access scratch;
    const ft_access *access =
        find_access(r->trace, e, r->claim->variable, r->claim->writes[index], &scratch);
    assert(access && index < 3); /* shape_atomicity */
    decision happens =
        index == 1 ? remote_takes_place(r, e, access, outcome) : takes_place(r, e, access, outcome);
    if (happens == YES) return FT_OK;
    if (happens == UNDECIDED) return ft_checker_refuse(r, FT_UNSUPPORTED, e, UNKNOWN_VALUE);
    return ft_checker_refuse(r, FT_INPUT, e,
                             "its access does not take place: its guard is false or a term is "
                             "undefined");
}

static bool writes_shared(const ft_trace *trace, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].write) return true;
    return false;
}

/* By the value, wherever it comes from. */
static bool finds_value_again(const run *r, uint32_t e)
{
    ft_held held = ft_machine_shared(r->machine, r->trace->object[e]);
    ft_value found;
    return r->trace->kind[e] == FT_EVENT_RMW && held.known &&
           observed_value(r, r->observed->first[e], &found) && ft_value_equal(held.value, found);
}

/* ATOMICITY of claim.h: t_r is executed; where it departs from the model its thread stops. */
static ft_status execute_remote(run *r, uint32_t e)
{
    assert(r->departed == FT_NO_EVENT && r->stopped == FT_NO_ID); /* there is one t_r */
    if (!ft_machine_executed(r->machine, r->claim->events[0]))
        return ft_checker_refuse(r, FT_INPUT, e, "the remote access comes before the first access");
    decision agrees = reads_agree(r, e);
    ft_outcome outcome = evaluate(r, e, agrees);
    ft_status status = check_access(r, 1, outcome);
    if (status) return status;
    if (outcome == FT_OUTCOME_UNDECIDED && writes_shared(r->trace, e))
        return ft_checker_refuse(r, FT_UNSUPPORTED, e, UNKNOWN_VALUE);
    bool failed = outcome == FT_OUTCOME_FALSE && !may_be_false(r->trace, e);
    bool stops = agrees == NO || failed || outcome == FT_OUTCOME_UNDEFINED;
    r->stop_undecided = !stops && (agrees == UNDECIDED || outcome == FT_OUTCOME_UNDECIDED);
    if (stops || r->stop_undecided) r->stopped = r->trace->thread[e];
    if (agrees != YES) r->departed = e;
    bool again = agrees == YES || ft_trace_compares(r->trace, e) || finds_value_again(r, e);
    note_row(r, e);
    if (outcome == FT_OUTCOME_TRUE) ft_machine_write(r->machine, e);
    if (!again) ft_machine_forget(r->machine, e);
    ft_machine_advance(r->machine, e);
    return FT_OK;
}

/* Properties name locations by their text; one text has several ids, one for each function. */
static bool at_location(const ft_trace *trace, uint32_t e, uint32_t location)
{
    uint32_t own = trace->loc[e];
    return own == location || (own != FT_NO_LOC && strcmp(trace->locations[own].text,
                                                          trace->locations[location].text) == 0);
}

/* The fast path for most steps of a long witness: a plain access that the file does not describe
 * and whose read has to return what its observed source wrote. False: execute_step decides. */
static bool execute_plain(run *r, uint32_t e)
{
    uint8_t kind = r->trace->kind[e];
    if (kind != FT_EVENT_READ && kind != FT_EVENT_WRITE) return false;
    if (r->departed != FT_NO_EVENT || r->trace->thread[e] == r->stopped) return false;
    if (r->reading && is_described(r, e)) return false;
    if (kind == FT_EVENT_READ && r->witness->model == FT_MODEL_OBSERVED)
        return ft_machine_read(r->machine, e, r->observed->source[r->observed->first[e]]);
    return kind == FT_EVENT_WRITE && ft_machine_overwrite(r->machine, e);
}

static ft_status execute_step(run *r, uint32_t e)
{
    if (e >= r->trace->n_events)
        return ft_error_set(r->err, FT_INPUT, "step %u: the trace has %u events, not %u",
                            r->step + 1, r->trace->n_events, e + 1);
    if (ft_trace_is_blocked(r->trace, e))
        return ft_checker_refuse(r, FT_INPUT, e, "the trace does not show how its thread went on");
    if (r->claim->kind == FT_CLAIM_BEFORE && at_location(r->trace, e, r->claim->avoid))
        return ft_checker_refuse(r, FT_INPUT, e, "it is at the location that the claim avoids");
    bool remote = r->claim->kind == FT_CLAIM_ATOMICITY && e == r->claim->events[1];
    if (!remote && execute_plain(r, e)) return FT_OK;
    ft_status status = check_stopped(r, e);
    if (!status) status = ft_checker_next(r, e);
    if (!status) status = check_ready(r, e);
    if (status) return status;
    return remote ? execute_remote(r, e) : execute_member(r, e);
}

/* ---- claims: their shape, before the first step --------------------------------------------- */

static ft_status shape_pair(run *r)
{
    const uint32_t *events = r->claim->events;
    if (r->trace->thread[events[0]] != r->trace->thread[events[1]]) return FT_OK;
    return ft_checker_refuse_claim(r, "its events belong to the same thread");
}

static ft_status shape_assertion(run *r)
{
    if (r->trace->kind[r->claim->events[0]] == FT_EVENT_ASSERT) return FT_OK;
    return ft_checker_refuse_claim(r, "its event is not an assert");
}

static ft_status shape_condition(run *r)
{
    ft_term condition = r->claim->condition;
    if (condition == FT_NO_TERM || condition > ft_term_pool_count(r->trace->terms) ||
        ft_term_sort(r->trace->terms, condition).kind != FT_SORT_BOOL)
        return ft_checker_refuse_claim(r, "its condition is not a Bool term");
    return FT_OK;
}

static ft_status shape_atomicity(run *r)
{
    const ft_claim *claim = r->claim;
    const uint16_t *thread = r->trace->thread;
    const uint32_t *events = claim->events;
    if (claim->variable >= r->trace->shared.len)
        return ft_checker_refuse_claim(r, "unknown variable");
    if (!ft_pattern_unserialisable(claim->writes[0], claim->writes[1], claim->writes[2]))
        return ft_checker_refuse_claim(r, "its pattern is serialisable");
    if (thread[events[0]] != thread[events[2]] || events[0] >= events[2])
        return ft_checker_refuse_claim(r,
                                       "its first and last access are not in order in one thread");
    if (thread[events[1]] == thread[events[0]])
        return ft_checker_refuse_claim(r, "its remote access belongs to the same thread");
    for (uint32_t i = 0; i < 3; i++) {
        ft_access scratch;
        if (!find_access(r->trace, events[i], claim->variable, claim->writes[i], &scratch))
            return ft_error_set(r->err, FT_INPUT, "claim: event %u does not %s %s", events[i] + 1,
                                claim->writes[i] ? "write" : "read",
                                r->trace->shared.names[claim->variable]);
    }
    return FT_OK;
}

static ft_status shape_before(run *r)
{
    if (r->claim->avoid != FT_NO_LOC && r->claim->avoid < r->trace->n_locations) return FT_OK;
    return ft_checker_refuse_claim(r, "unknown location to avoid");
}

/* ---- claims: the final state ---------------------------------------------------------------- */

static decision conflict_takes_place(run *r, const ft_outcome outcome[2])
{
    const uint32_t *events = r->claim->events;
    ft_access scratch[2];
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(r->trace, events[0], &scratch[0], &count);
    decision any = NO;
    for (uint32_t i = 0; i < count; i++)
        for (int write = 0; write <= 1; write++) {
            if (!accesses[i].write && !write) continue;
            const ft_access *other =
                find_access(r->trace, events[1], accesses[i].variable, write, &scratch[1]);
            if (!other) continue;
            decision one = takes_place(r, events[0], &accesses[i], outcome[0]);
            decision two = takes_place(r, events[1], other, outcome[1]);
            if (one == YES && two == YES) return YES;
            if (one != NO && two != NO) any = UNDECIDED;
        }
    return any;
}

static ft_status final_race(run *r)
{
    const uint32_t *events = r->claim->events;
    assert(r->trace->thread[events[0]] != r->trace->thread[events[1]]); /* shape_pair */
    ft_outcome outcome[2];
    for (int i = 0; i < 2; i++) {
        ft_status status = ft_checker_next(r, events[i]);
        if (status) return status;
        outcome[i] = evaluate(r, events[i], reads_agree(r, events[i]));
        note_row(r, events[i]);
    }
    if (r->trace->flags[events[0]] & r->trace->flags[events[1]] & FT_FLAG_ATOMIC)
        return ft_checker_refuse_claim(r, "both events are atomic");
    decision races = conflict_takes_place(r, outcome);
    if (races == YES) return FT_OK;
    if (races == UNDECIDED) return ft_checker_refuse(r, FT_UNSUPPORTED, events[0], UNKNOWN_VALUE);
    return ft_checker_refuse_claim(r, "no two conflicting accesses of its events take place");
}

static ft_status violated(run *r, uint32_t e, ft_term condition, ft_outcome outcome)
{
    if (r->witness->model == FT_MODEL_CONTROL) { /* a condition that is not constant may fail */
        ft_term_node node = ft_term_get(r->trace->terms, condition);
        bool true_anyway = node.op == FT_OP_LITERAL && node.bits;
        return true_anyway ? ft_checker_refuse(r, FT_INPUT, e, "the condition is constant") : FT_OK;
    }
    switch (outcome) {
    case FT_OUTCOME_FALSE:
        return FT_OK;
    case FT_OUTCOME_TRUE:
        return ft_checker_refuse(r, FT_INPUT, e, "the condition holds there");
    case FT_OUTCOME_UNDEFINED:
        return ft_checker_refuse(r, FT_INPUT, e, "the condition divides by zero there");
    case FT_OUTCOME_UNDECIDED:
        break;
    }
    return ft_checker_refuse(r, FT_UNSUPPORTED, e, UNKNOWN_VALUE);
}

static void note_symbol(void *context, ft_symbol symbol)
{
    run *r = context;
    uint32_t thread = r->trace->thread[r->claim->events[0]];
    ft_held held = ft_machine_symbol(r->machine, thread, symbol);
    ft_vec_push(&r->symbols, (ft_symbol_value){symbol, held.known, held.value});
}

/* Notes the values in the final state of the symbols that the condition depends on. */
static void note_symbols(run *r, ft_term condition)
{
    if (r->reading) ft_term_symbols(r->trace->terms, condition, note_symbol, r);
}

static ft_status final_assertion(run *r)
{
    uint32_t e = r->claim->events[0];
    ft_status status = ft_checker_next(r, e);
    if (status) return status;
    ft_outcome outcome = ft_machine_evaluate(r->machine, e);
    note_row(r, e);
    note_symbols(r, ft_trace_action(r->trace, e)->guard);
    return violated(r, e, ft_trace_action(r->trace, e)->guard, outcome);
}

static ft_status final_condition(run *r)
{
    uint32_t e = r->claim->events[0];
    ft_status status = ft_checker_next(r, e);
    if (status) return status;
    ft_machine_evaluate(r->machine, e);
    note_row(r, e);
    note_symbols(r, r->claim->condition);
    return violated(r, e, r->claim->condition,
                    ft_machine_condition(r->machine, r->trace->thread[e], r->claim->condition));
}

static ft_status final_atomicity(run *r)
{
    uint32_t e = r->claim->events[2];
    if (!ft_machine_executed(r->machine, r->claim->events[0]))
        return ft_checker_refuse_claim(r, "its first access is not a step");
    if (!ft_machine_executed(r->machine, r->claim->events[1]))
        return ft_checker_refuse_claim(r, "its remote access is not a step");
    ft_status status = ft_checker_next(r, e);
    if (status) return status;
    ft_outcome outcome = evaluate(r, e, reads_agree(r, e));
    note_row(r, e);
    return check_access(r, 2, outcome);
}

/* CO_ENABLED of claim.h: e could be executed alone from here, its own reads exempt. An assert runs
 * whether it holds or not, and so does a compare-and-swap, whatever it finds. */
static ft_status check_executable(run *r, uint32_t e)
{
    ft_status status = ft_checker_next(r, e);
    if (!status) status = check_ready(r, e);
    if (status) return status;
    ft_outcome outcome = evaluate(r, e, reads_agree(r, e));
    note_row(r, e);
    if (ft_trace_compares(r->trace, e)) return FT_OK;
    bool runs_anyway = outcome == FT_OUTCOME_FALSE ||
                       (outcome == FT_OUTCOME_UNDECIDED && ft_machine_is_defined(r->machine, e));
    if (r->trace->kind[e] == FT_EVENT_ASSERT && runs_anyway) return FT_OK;
    return check_enabled(r, e, outcome);
}

static bool joins_thread_of(const ft_trace *trace, uint32_t join, uint32_t e)
{
    return trace->kind[join] == FT_EVENT_JOIN && trace->object[join] == trace->thread[e];
}

/* A thread with an event that is next has not ended. Where branches are open, ft_machine_ended may
 * be true all the same, for another arm. */
static ft_status final_co_enabled(run *r)
{
    const uint32_t *events = r->claim->events;
    const uint8_t *kind = r->trace->kind;
    ft_status status = check_executable(r, events[0]);
    if (!status) status = check_executable(r, events[1]);
    bool wakes = kind[events[0]] == FT_EVENT_COND_WAKE && kind[events[1]] == FT_EVENT_COND_WAKE;
    bool joins = joins_thread_of(r->trace, events[0], events[1]) ||
                 joins_thread_of(r->trace, events[1], events[0]);
    if (!status && joins)
        return ft_checker_refuse_claim(r, "the one event joins the thread of the other");
    if (status || !wakes) return status;
    ft_machine_advance(r->machine, events[0]); /* one signal does not wake both */
    return check_ready(r, events[1]);
}

static ft_status final_before(run *r)
{
    return check_executable(r, r->claim->events[0]);
}

static ft_status shape_failure(run *r)
{
    const ft_witness *w = r->witness;
    if (!ft_trace_failure(r->trace) || ft_trace_failure_event(r->trace) != r->claim->events[0])
        return ft_checker_refuse_claim(r, "the trace does not say that its run failed there");
    for (uint32_t i = 1; i < w->n_steps; i++)
        if (w->steps[i] <= w->steps[i - 1])
            return ft_checker_refuse_claim(r, "its schedule is not that of the run");
    return FT_OK;
}

static ft_status final_failure(run *r)
{
    uint32_t e = r->claim->events[0];
    ft_status status = ft_checker_next(r, e);
    if (!status) note_row(r, e);
    return status;
}

void ft_checker_note(run *r, uint32_t e)
{
    ft_machine_evaluate(r->machine, e);
    note_row(r, e);
}

ft_status ft_checker_final_access(run *r, uint32_t e, uint32_t variable, bool write)
{
    ft_access scratch;
    const ft_access *access = find_access(r->trace, e, variable, write, &scratch);
    ft_outcome outcome = evaluate(r, e, reads_agree(r, e));
    note_row(r, e);
    decision happens = access ? takes_place(r, e, access, outcome) : NO;
    if (happens == YES) return FT_OK;
    if (happens == UNDECIDED) return ft_checker_refuse(r, FT_UNSUPPORTED, e, UNKNOWN_VALUE);
    return ft_checker_refuse(r, FT_INPUT, e, "its access does not take place");
}

static const ft_claim_rules *rules_of(ft_claim_kind kind)
{
    static const ft_claim_rules *const SYNC[FT_CLAIM_KINDS] = {
        [FT_CLAIM_LOCK_ERROR] = &FT_LOCK_ERROR_RULES,
        [FT_CLAIM_DEADLOCK] = &FT_DEADLOCK_RULES,
        [FT_CLAIM_STUCK] = &FT_STUCK_RULES,
        [FT_CLAIM_AFTER_FREE] = &FT_AFTER_FREE_RULES,
        [FT_CLAIM_UNINITIALISED] = &FT_UNINITIALISED_RULES};
    static const ft_claim_rules DATA[FT_CLAIM_KINDS] = {
        [FT_CLAIM_RACE] = {shape_pair, final_race},
        [FT_CLAIM_ASSERTION] = {shape_assertion, final_assertion},
        [FT_CLAIM_CONDITION] = {shape_condition, final_condition},
        [FT_CLAIM_ATOMICITY] = {shape_atomicity, final_atomicity},
        [FT_CLAIM_CO_ENABLED] = {shape_pair, final_co_enabled},
        [FT_CLAIM_BEFORE] = {shape_before, final_before},
        [FT_CLAIM_FAILURE] = {shape_failure, final_failure},
    };
    assert(SYNC[kind] || (DATA[kind].shape && DATA[kind].final));
    return SYNC[kind] ? SYNC[kind] : &DATA[kind];
}

static ft_status check_shape(run *r)
{
    if ((unsigned)r->claim->kind >= FT_CLAIM_KINDS)
        return ft_checker_refuse_claim(r, "unknown kind");
    if ((unsigned)r->witness->model >= FT_MODELS)
        return ft_checker_refuse_claim(r, "unknown model");
    if ((unsigned)r->witness->wakeups >= FT_WAKEUPS_KINDS)
        return ft_checker_refuse_claim(r, "unknown choice of wake-ups");
    if (r->claim->n_events > FT_CLAIM_MAX_EVENTS)
        return ft_checker_refuse_claim(r, "it has too many events");
    for (uint32_t i = 0; i < ft_claim_events(r->claim); i++)
        if (r->claim->events[i] >= r->trace->n_events)
            return ft_checker_refuse_claim(r, "it names an event that the trace does not have");
    return rules_of(r->claim->kind)->shape(r);
}

/* Where the final events have no order of their own, ft_witness_switches takes the best one. */
static ft_status check_bound(run *r)
{
    if (r->witness->bound == FT_NO_BOUND) return FT_OK;
    uint32_t switches = ft_witness_switches(r->trace, r->witness);
    if (switches <= r->witness->bound) return FT_OK;
    return ft_error_set(r->err, FT_INPUT,
                        "claim: the schedule has %u context switches; the bound is %u", switches,
                        r->witness->bound);
}

static ft_status execute(run *r)
{
    ft_status status = check_shape(r);
    if (status) return status;
    r->n_claimed = ft_claim_events(r->claim);
    r->full_from = ft_witness_full_from(r->witness);
    ft_machine_reset(r->machine);
    ft_machine_set_wakeups(r->machine, r->witness->wakeups);
    ft_machine_leave_branches_open(r->machine, r->witness->model == FT_MODEL_CONTROL);
    for (r->step = 0; r->step < r->witness->n_steps; r->step++) {
        status = execute_step(r, r->witness->steps[r->step]);
        if (status) return status;
    }
    assert(r->step == r->witness->n_steps);
    status = rules_of(r->claim->kind)->final(r);
    return status ? status : check_bound(r);
}

ft_status ft_checker_check(ft_checker *checker, const ft_witness *witness, ft_reading *reading,
                           ft_error *err)
{
    FT_REQUIRE(checker && witness && (witness->steps || witness->n_steps == 0));
    reading_rows rows = {0};
    run r = {.trace = checker->trace,
             .machine = checker->machine,
             .observed = checker->observed,
             .witness = witness,
             .claim = &witness->claim,
             .stopped = FT_NO_ID,
             .departed = FT_NO_EVENT,
             .reading = reading ? &rows : NULL,
             .err = err};
    ft_status status = execute(&r);
    FT_CHECK(status || ft_witness_is_sound(checker->trace, witness));
    FT_CHECK(ft_machine_is_sound(checker->machine));
    if (status != FT_OK || !reading) {
        ft_vec_release(&rows);
        ft_vec_release(&r.symbols);
        return status;
    }
    assert(rows.len <= UINT32_MAX && r.symbols.len <= UINT32_MAX);
    *reading = (ft_reading){rows.data, (uint32_t)rows.len, r.symbols.data, (uint32_t)r.symbols.len};
    return FT_OK;
}
