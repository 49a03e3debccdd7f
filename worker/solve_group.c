#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_internal.h"
#include "reduce/cone.h"

enum { MINIMISE_MS = 1500 };

/* ---- one claim by the solver ---- */

static bool is_shareable(ft_engine *engine)
{
    if (engine->shareable >= 0) return engine->shareable;
    const ft_trace *trace = engine->trace;
    uint64_t sources = 0;
    uint32_t *writes = ft_calloc((size_t)trace->shared.len + 1, sizeof *writes), count;
    ft_access scratch;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) writes[accesses[i].variable] += accesses[i].write;
    }
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!accesses[i].write)
                sources += engine->problem.model == FT_MODEL_OBSERVED
                               ? 1
                               : writes[accesses[i].variable] + 1;
    }
    free(writes);
    engine->shareable = trace->n_events <= FT_SHARED_EVENTS && sources <= FT_SHARED_SOURCES;
    return engine->shareable;
}

/* An encoding of the claim's own cone, for this claim alone. */
static ft_answer decide_fresh(ft_engine *engine, const ft_claim *claim, bool avoid_unknown,
                              double deadline, ft_witness *witness, ft_decide_stats *stats)
{
    double start = ft_now_ms();
    if (!engine->cone) engine->cone = ft_alloc(engine->trace->n_events);
    ft_cone_compute(&engine->problem, claim, engine->cone);
    ft_decider *fresh = ft_decider_new(&engine->problem, engine->cone);
    double encoded = ft_now_ms();
    stats->encode_ms += encoded - start;
    ft_answer answer = FT_ANSWER_UNKNOWN;
    if (encoded < deadline)
        answer = ft_decider_decide(fresh, claim, avoid_unknown, (uint32_t)ceil(deadline - encoded),
                                   witness, stats);
    ft_decider_free(fresh);
    return answer;
}

static ft_answer decide(ft_engine *engine, const ft_claim *claim, bool avoid_unknown,
                        uint32_t timeout_ms, ft_witness *witness, ft_decide_stats *stats)
{
    double start = ft_now_ms(), deadline = start + timeout_ms;
    if (engine->spec.literal)
        return ft_literal_decide(&engine->problem, claim, avoid_unknown, timeout_ms, witness,
                                 stats);
    if (is_shareable(engine)) {
        if (!engine->shared) engine->shared = ft_decider_new(&engine->problem, NULL);
        stats->encode_ms += ft_now_ms() - start;
        uint32_t share = timeout_ms / 4 > 1000 ? timeout_ms / 4 : timeout_ms / 2 + 1;
        ft_answer answer =
            ft_decider_decide(engine->shared, claim, avoid_unknown, share, witness, stats);
        if (answer != FT_ANSWER_UNKNOWN || ft_now_ms() >= deadline) return answer;
    }
    /* Products and quotients of unknowns can make the solver give up or wander, by luck of its
     * search: the shared base has a share of the time only, then the claim is asked without what
     * others left behind, and at last in the other encoding. */
    ft_answer answer = decide_fresh(engine, claim, avoid_unknown, deadline, witness, stats);
    double left = deadline - ft_now_ms();
    if (answer != FT_ANSWER_UNKNOWN || left <= 0 || !is_shareable(engine)) return answer;
    return ft_literal_decide(&engine->problem, claim, avoid_unknown, (uint32_t)ceil(left), witness,
                             stats);
}

static ft_outcome outcome(ft_verdict verdict, ft_reason reason, const char *text)
{
    ft_outcome o = {.verdict = verdict, .reason = reason};
    if (text) snprintf(o.text, sizeof o.text, "%.199s", text);
    return o;
}

/* The checker has the last word on every witness. */
static ft_status confirm(ft_engine *engine, ft_witness *witness, ft_reading *reading, ft_error *err)
{
    ft_status status = ft_checker_check(engine->checker, witness, reading, err);
    if (status != FT_OK) ft_witness_release(witness);
    return status;
}

ft_outcome ft_engine_solve_claim(ft_engine *engine, const ft_claim *claim, uint32_t timeout_ms,
                                 ft_witness *witness, ft_reading *reading, ft_decide_stats *stats)
{
    ft_error err = FT_ERROR_INIT;
    for (int attempt = 0; attempt < 2; attempt++) {
        ft_answer answer = decide(engine, claim, attempt > 0, timeout_ms, witness, stats);
        if (answer == FT_ANSWER_UNKNOWN) return outcome(FT_VERDICT_UNKNOWN, FT_REASON_BUDGET, NULL);
        /* With unknown values left out, "none" is no proof. */
        if (answer == FT_ANSWER_UNSAT && attempt > 0) break;
        if (answer == FT_ANSWER_UNSAT) return outcome(FT_VERDICT_SAFE, FT_REASON_UNSAT, NULL);
        ft_error fresh = FT_ERROR_INIT;
        ft_status status = confirm(engine, witness, reading, &fresh);
        err = fresh;
        if (status == FT_OK) return outcome(FT_VERDICT_VIOLATION, FT_REASON_SAT, NULL);
        if (status != FT_UNSUPPORTED)
            return outcome(FT_VERDICT_ERROR, FT_REASON_WITNESS_REJECTED, err.message);
    }
    return outcome(FT_VERDICT_UNKNOWN, FT_REASON_UNKNOWN_VALUE, err.message);
}

/* ---- a group ---- */

typedef struct group_pass {
    ft_engine *engine;
    const ft_group *group;
    double deadline;
    bool found, observed;
    ft_reason found_by;
    ft_witness witness;
    ft_reading reading;
    ft_decide_stats stats;
    uint64_t refuted[FT_REASONS];
    bool undecided;
    ft_outcome trouble; /* the first claim that was neither refuted nor violated */
} group_pass;

static bool try_witness(group_pass *pass, ft_reason reason, bool observed)
{
    if (confirm(pass->engine, &pass->witness, &pass->reading, NULL) != FT_OK) return false;
    pass->found = true;
    pass->found_by = reason;
    pass->observed = observed;
    return true;
}

static bool look_in_observed_run(void *context, const ft_claim *claim)
{
    group_pass *pass = context;
    const ft_engine *engine = pass->engine;
    if (ft_prefix_observed(engine->order, engine->problem.model, claim, &pass->witness) &&
        try_witness(pass, FT_REASON_OBSERVED_RUN, true))
        return false;
    return ft_now_ms() < pass->deadline;
}

static bool try_to_accept(void *context, const ft_claim *claim)
{
    group_pass *pass = context;
    ft_engine *engine = pass->engine;
    if (ft_prefix_accepts(engine->prefix, engine->problem.model, claim, &pass->witness) &&
        try_witness(pass, FT_REASON_REORDERED, false))
        return false;
    return ft_now_ms() < pass->deadline;
}

static void note_trouble(group_pass *pass, ft_outcome trouble)
{
    if (!pass->undecided || trouble.verdict == FT_VERDICT_ERROR) pass->trouble = trouble;
    pass->undecided = true;
}

static bool decide_claim(void *context, const ft_claim *claim)
{
    group_pass *pass = context;
    ft_engine *engine = pass->engine;
    double left = pass->deadline - ft_now_ms();
    if (left <= 0) {
        note_trouble(pass, outcome(FT_VERDICT_UNKNOWN, FT_REASON_BUDGET, NULL));
        return false;
    }
    if (!engine->spec.literal && ft_prefix_refutes(engine->prefix, engine->problem.model, claim)) {
        pass->refuted[FT_REASON_CLOSURE]++;
        return true;
    }
    ft_outcome o = ft_engine_solve_claim(engine, claim, (uint32_t)ceil(left), &pass->witness,
                                         &pass->reading, &pass->stats);
    if (o.verdict == FT_VERDICT_SAFE) {
        pass->refuted[o.reason]++;
        return true;
    }
    if (o.verdict == FT_VERDICT_VIOLATION) {
        pass->found = true;
        pass->found_by = o.reason;
        return false;
    }
    note_trouble(pass, o);
    return true;
}

/* Claims of a property are listed in the spec, but for transactions, which are triplets. */
static void each_claim(group_pass *pass, ft_claim_visit visit)
{
    const ft_engine *engine = pass->engine;
    if (pass->group->check == FT_CHECK_PROPERTY) {
        const ft_property *property = &engine->spec.properties.data[pass->group->property];
        for (size_t i = 0; i < property->claims.len; i++)
            if (!visit(pass, &property->claims.data[i])) return;
        if (property->kind != FT_PROPERTY_TRANSACTION || pass->group->blocks.len == 0) return;
    }
    ft_candidates_each(engine->candidates, pass->group, visit, pass);
}

static void search(group_pass *pass)
{
    if (!pass->engine->spec.literal) {
        each_claim(pass, look_in_observed_run);
        if (!pass->found) each_claim(pass, try_to_accept);
    }
    if (!pass->found) each_claim(pass, decide_claim);
}

static json_t *violation(group_pass *pass, ft_decision *decision)
{
    ft_minimised minimised;
    decision->verdict = FT_VERDICT_VIOLATION;
    decision->reason = pass->found_by;
    decision->observed = pass->observed;
    decision->witness = &pass->witness;
    if (!pass->observed) {
        ft_minimise(pass->engine->order, pass->engine->checker, &pass->witness, MINIMISE_MS,
                    &minimised);
        decision->minimised = &minimised;
    }
    ft_reading_release(&pass->reading);
    ft_error err = FT_ERROR_INIT;
    if (ft_checker_check(pass->engine->checker, &pass->witness, &pass->reading, &err) != FT_OK) {
        decision->verdict = FT_VERDICT_ERROR; /* cannot happen: each change was confirmed */
        decision->reason = FT_REASON_WITNESS_REJECTED;
    }
    decision->reading = &pass->reading;
    return ft_record_new(&pass->engine->context, pass->group, decision);
}

json_t *ft_engine_solve_group(ft_engine *engine, const ft_group *group)
{
    double start = ft_now_ms();
    group_pass pass = {
        .engine = engine, .group = group, .deadline = start + engine->spec.subproblem_ms};
    for (int i = 0; i < FT_REASONS; i++) pass.refuted[i] = group->pruned[i];
    search(&pass);
    ft_decision decision = {.count = 1,
                            .pairs = group->pairs,
                            .lock = UINT32_MAX,
                            .stats = &pass.stats,
                            .total_ms = ft_now_ms() - start};
    json_t *record;
    if (pass.found) {
        record = violation(&pass, &decision);
    } else {
        decision.passes = pass.refuted;
        decision.verdict = pass.undecided ? pass.trouble.verdict : FT_VERDICT_SAFE;
        decision.reason =
            pass.undecided ? pass.trouble.reason : ft_record_reason(pass.refuted, FT_REASON_UNSAT);
        if (pass.undecided && pass.trouble.text[0]) decision.text = pass.trouble.text;
        record = ft_record_new(&engine->context, group, &decision);
    }
    ft_witness_release(&pass.witness);
    ft_reading_release(&pass.reading);
    return record;
}
