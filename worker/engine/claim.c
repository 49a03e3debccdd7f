/* One claim: asked of one solver after the other within its time, every witness checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/internal.h"
#include "reduce/cone.h"
#include "witness/delay.h"

enum { DELAY_STEPS = 300000 };

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

static void compute_cone(ft_engine *engine, const ft_claim *claim, ft_decide_stats *stats)
{
    if (!engine->cone) engine->cone = ft_alloc(engine->trace->n_events);
    uint32_t events = ft_cone_compute(&engine->problem, claim, engine->cone);
    if (stats->sliced < events) stats->sliced = events;
}

/* An encoding of the claim's own cone, for this claim alone. It takes at least as long as to find
 * the cone. */
static ft_answer decide_fresh(ft_engine *engine, const ft_question *question, ft_witness *witness,
                              ft_decide_stats *stats)
{
    double start = ft_now_ms();
    compute_cone(engine, question->claim, stats);
    double computed = ft_now_ms();
    if (computed + (computed - start) >= question->deadline) return FT_ANSWER_UNKNOWN;
    ft_decider *fresh = ft_decider_new(&engine->problem, engine->cone);
    double encoded = ft_now_ms();
    stats->encode_ms += encoded - start;
    ft_answer answer = FT_ANSWER_UNKNOWN;
    if (encoded < question->deadline) answer = ft_decider_decide(fresh, question, witness, stats);
    ft_decider_free(fresh);
    return answer;
}

static bool is_time_up(const ft_question *question)
{
    return ft_now_ms() >= question->deadline;
}

static ft_answer decide_shared(ft_engine *engine, const ft_question *question, ft_witness *witness,
                               ft_decide_stats *stats)
{
    double start = ft_now_ms(), left = question->deadline - start;
    ft_decider **shared = &engine->shared[engine->problem.solver];
    if (!*shared) *shared = ft_decider_new(&engine->problem, NULL);
    if (!stats->sliced) compute_cone(engine, question->claim, stats);
    double encoded = ft_now_ms();
    stats->encode_ms += encoded - start;
    ft_question share = *question;
    share.deadline = encoded + (left / 4 > 1000 ? left / 4 : left / 2 + 1);
    return ft_decider_decide(*shared, &share, witness, stats);
}

/* Products and quotients of unknowns can make the solver give up or wander, by luck of its search:
 * the shared base has a share of the time only, then the claim is asked without what others left
 * behind. */
static ft_answer decide_by(ft_engine *engine, ft_solver solver, const ft_question *question,
                           ft_witness *witness, ft_decide_stats *stats)
{
    ft_answer answer = FT_ANSWER_UNKNOWN;
    engine->problem.solver = solver;
    if (is_shareable(engine)) answer = decide_shared(engine, question, witness, stats);
    if (answer == FT_ANSWER_UNKNOWN && !stats->beyond && !is_time_up(question))
        answer = decide_fresh(engine, question, witness, stats);
    engine->problem.solver = engine->spec.solver;
    if (answer != FT_ANSWER_SAT || !stats->beyond) return answer;
    /* A guess: what the solver was not told may not matter here. */
    witness->wakeups = engine->problem.wakeups;
    if (ft_checker_check(ft_engine_checker(engine), witness, NULL, NULL) == FT_OK) return answer;
    ft_witness_release(witness);
    return FT_ANSWER_UNKNOWN;
}

static bool find_by_delay(ft_engine *engine, const ft_claim *claim, ft_witness *witness,
                          ft_decide_stats *stats)
{
    double start = ft_now_ms();
    stats->delayed =
        ft_delay_find(&engine->problem, ft_engine_checker(engine), claim, DELAY_STEPS, witness);
    stats->encode_ms += ft_now_ms() - start;
    return stats->delayed;
}

/* The own solver, then, where values are too many for its tables, a quick look before the search
 * for sums, and Z3. */
static ft_answer decide_by_any(ft_engine *engine, const ft_question *question, ft_witness *witness,
                               ft_decide_stats *stats)
{
    ft_answer answer = decide_by(engine, FT_SOLVER_ORDER, question, witness, stats);
    if (answer != FT_ANSWER_UNKNOWN || !stats->beyond || is_time_up(question)) return answer;
    if (!question->avoid_unknown && question->bound == FT_NO_BOUND &&
        find_by_delay(engine, question->claim, witness, stats))
        return FT_ANSWER_SAT;
    return decide_by(engine, FT_SOLVER_Z3, question, witness, stats);
}

static ft_answer decide(ft_engine *engine, const ft_question *question, ft_witness *witness,
                        ft_decide_stats *stats)
{
    ft_solver solver = engine->spec.solver;
    const ft_claim *claim = question->claim;
    stats->lifted = true;
    if (engine->spec.literal) return ft_literal_decide(&engine->problem, question, witness, stats);
    if (question->bound == FT_NO_BOUND && (engine->first_window || !is_shareable(engine)) &&
        ft_engine_has_windows(engine, claim)) {
        ft_answer found =
            ft_engine_decide_in_windows(engine, claim, question->deadline, witness, stats);
        if (found != FT_ANSWER_UNKNOWN || ft_windows_exact(engine->windows)) return found;
    }
    if (solver != FT_SOLVER_Z3) ft_engine_find_domains(engine);
    ft_answer answer = solver == FT_SOLVER_AUTO
                           ? decide_by_any(engine, question, witness, stats)
                           : decide_by(engine, solver, question, witness, stats);
    bool again = solver != FT_SOLVER_ORDER && is_shareable(engine) && !is_time_up(question);
    if (answer != FT_ANSWER_UNKNOWN || !again) return answer;
    return ft_literal_decide(&engine->problem, question, witness, stats);
}

ft_judgement ft_judgement_of(ft_verdict verdict, ft_reason reason)
{
    return (ft_judgement){.verdict = verdict, .reason = reason, .bound = FT_NO_BOUND};
}

ft_status ft_engine_confirm(ft_engine *engine, ft_witness *witness, ft_reading *reading,
                            ft_error *err)
{
    witness->wakeups = engine->problem.wakeups;
    ft_status status = ft_checker_check(ft_engine_checker(engine), witness, reading, err);
    if (status != FT_OK) ft_witness_release(witness);
    return status;
}

/* What a schedule of a solver's is worth. UNKNOWN: it rests on a value that the trace does not
 * give. */
static ft_judgement judge_schedule(ft_engine *engine, uint32_t bound, ft_witness *witness,
                                   ft_reading *reading, const ft_decide_stats *stats)
{
    ft_error err = FT_ERROR_INIT;
    ft_judgement found =
        ft_judgement_of(FT_VERDICT_VIOLATION, stats->delayed ? FT_REASON_DELAYED : FT_REASON_SAT);
    found.bound = bound;
    witness->wakeups = engine->problem.wakeups;
    found.reduced = ft_engine_reduce(engine, witness, reading, &found.minimised);
    if (found.reduced) return found;
    ft_status status = ft_engine_confirm(engine, witness, reading, &err);
    if (status == FT_OK) return found;
    ft_judgement refused = status == FT_UNSUPPORTED
                               ? ft_judgement_of(FT_VERDICT_UNKNOWN, FT_REASON_UNKNOWN_VALUE)
                               : ft_judgement_of(FT_VERDICT_ERROR, FT_REASON_WITNESS_REJECTED);
    snprintf(refused.text, sizeof refused.text, "%.199s", err.message);
    return refused;
}

static ft_judgement none_within(const ft_decide_stats *stats, uint32_t bound)
{
    if (stats->lifted) return ft_judgement_of(FT_VERDICT_SAFE, FT_REASON_UNSAT);
    ft_judgement o = ft_judgement_of(FT_VERDICT_BOUNDED, FT_REASON_UNSAT);
    o.bound = bound;
    o.more = true;
    return o;
}

static ft_reason why_undecided(const ft_engine *engine, const ft_question *question,
                               const ft_decide_stats *stats)
{
    if (stats->beyond && engine->spec.solver == FT_SOLVER_ORDER) return FT_REASON_BEYOND_SOLVER;
    return stats->too_large && !is_time_up(question) ? FT_REASON_TOO_LARGE : FT_REASON_BUDGET;
}

/* Where a schedule needs unknown values, it is asked for one without them: that there is none is no
 * proof then. */
static ft_judgement solve_within(ft_engine *engine, const ft_question *asked, ft_witness *witness,
                                 ft_reading *reading, ft_decide_stats *stats)
{
    ft_question question = *asked;
    ft_judgement o = ft_judgement_of(FT_VERDICT_UNKNOWN, FT_REASON_UNKNOWN_VALUE);
    for (int attempt = 0; attempt < 2 && o.reason == FT_REASON_UNKNOWN_VALUE; attempt++) {
        question.avoid_unknown = attempt > 0;
        ft_answer answer = decide(engine, &question, witness, stats);
        if (answer == FT_ANSWER_UNKNOWN)
            return ft_judgement_of(FT_VERDICT_UNKNOWN, why_undecided(engine, &question, stats));
        if (answer == FT_ANSWER_SAT)
            o = judge_schedule(engine, question.bound, witness, reading, stats);
        else if (attempt == 0)
            o = none_within(stats, question.bound);
        else
            o.more = !stats->lifted;
    }
    return o;
}

ft_judgement ft_engine_solve_claim(ft_engine *engine, const ft_claim *claim, double deadline,
                                   ft_witness *witness, ft_reading *reading, ft_decide_stats *stats)
{
    const ft_context_bound *bound = &engine->spec.context_bound;
    ft_question question = {.claim = claim,
                            .bound = bound->mode == FT_BOUND_FIXED ? bound->switches : FT_NO_BOUND,
                            .deadline = deadline};
    if (bound->mode != FT_BOUND_AUTO)
        return solve_within(engine, &question, witness, reading, stats);
    ft_judgement o = ft_judgement_of(FT_VERDICT_UNKNOWN, FT_REASON_BUDGET);
    for (uint32_t n = 1; n <= FT_MAX_CONTEXT_BOUND; n++) {
        if (is_time_up(&question)) return ft_judgement_of(FT_VERDICT_UNKNOWN, FT_REASON_BUDGET);
        question.bound = n;
        o = solve_within(engine, &question, witness, reading, stats);
        if (!o.more) return o;
    }
    return o;
}
