/* One claim: asked of one solver after the other within its time, every witness checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/contract.h"
#include "engine/internal.h"
#include "engine/narrow.h"
#include "problem/faults.h"

enum { DELAY_STEPS = 300000 };

static void compute_cone(ft_engine *engine, const ft_claim *claim, ft_decide_stats *stats)
{
    uint32_t events = ft_cone_compute(&engine->problem, claim, ft_analyses_cone(engine->analyses));
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
    ft_decider *fresh = ft_decider_new(&engine->problem, ft_analyses_cone(engine->analyses));
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

static ft_answer decide_shared(ft_engine *engine, uint32_t share, const ft_question *question,
                               ft_witness *witness, ft_decide_stats *stats)
{
    double start = ft_now_ms(), left = question->deadline - start;
    ft_decider *base = engine->problem.solver == FT_SOLVER_ORDER
                           ? ft_analyses_order_base(engine->analyses)
                           : ft_analyses_z3_base(engine->analyses);
    if (!stats->sliced) compute_cone(engine, question->claim, stats);
    double encoded = ft_now_ms(), part = left * share / 100;
    stats->encode_ms += encoded - start;
    ft_question shared = *question;
    shared.deadline = encoded + (part > 1000 ? part : left / 2 + 1);
    return ft_decider_decide(base, &shared, witness, stats);
}

/* Products and quotients of unknowns can make the solver give up or wander, by luck of its search:
 * the shared base has a share of the time only, then the claim is asked without what others left
 * behind. */
static ft_answer decide_by(ft_engine *engine, ft_solver solver, uint32_t share,
                           const ft_question *question, ft_witness *witness, ft_decide_stats *stats)
{
    ft_answer answer = FT_ANSWER_UNKNOWN;
    engine->problem.solver = solver;
    if (ft_analyses_is_small(engine->analyses))
        answer = decide_shared(engine, share, question, witness, stats);
    if (answer == FT_ANSWER_UNKNOWN && !stats->beyond && !is_time_up(question))
        answer = decide_fresh(engine, question, witness, stats);
    engine->problem.solver = engine->spec.solver;
    if (answer != FT_ANSWER_SAT || !stats->beyond) return answer;
    /* A guess: the constraints that the solver was not given may not matter here. */
    witness->wakeups = engine->problem.wakeups;
    if (ft_checker_check(ft_analyses_checker(engine->analyses), witness, NULL, NULL) == FT_OK)
        return answer;
    ft_witness_release(witness);
    return FT_ANSWER_UNKNOWN;
}

/* ---- passes of the stage SOLVE --------------------------------------------------------------- */

/* A claim while the passes are walked. */
typedef struct solving {
    ft_engine *engine;
    const ft_question *question;
    ft_witness *witness;
    ft_decide_stats *stats;
    bool last; /* whatever the answer is: no later pass is asked */
} solving;

static bool may_use_windows(const solving *t)
{
    return !t->engine->spec.literal && t->question->bound == FT_NO_BOUND &&
           ft_engine_has_windows(t->engine, t->question->claim);
}

static ft_answer use_windows(solving *t, const ft_pass *row)
{
    ft_answer answer =
        ft_engine_decide_in_windows(t->engine, t->question, row->share, t->witness, t->stats);
    t->last = ft_windows_exact(ft_analyses_windows(t->engine->analyses));
    return answer;
}

static bool may_use_values(const solving *t)
{
    return !t->engine->spec.literal && t->engine->spec.solver != FT_SOLVER_Z3;
}

static ft_answer use_values(solving *t, const ft_pass *row)
{
    (void)row;
    ft_analyses_domains(t->engine->analyses);
    return FT_ANSWER_UNKNOWN;
}

/* ---- what the intervals narrow. Counted: what was looked at, and what was narrowed ---- */

static void tally(ft_engine *engine, ft_pass_id pass, uint64_t asked, uint64_t narrowed,
                  double start)
{
    ft_pass_tally *tally = &engine->tallies[pass];
    tally->asked += asked;
    tally->decided += narrowed;
    tally->ms += ft_now_ms() - start;
    ft_engine_tally_cut(engine, pass, ft_analyses_cuts(engine->analyses)->trace);
}

static bool may_use_ranges(const solving *t)
{
    return !t->engine->spec.literal && !t->engine->problem.intervals;
}

static bool may_use_range_values(const solving *t)
{
    return may_use_values(t) && !t->engine->narrowed;
}

static ft_answer use_range_values(solving *t, const ft_pass *row)
{
    (void)row;
    double start = ft_now_ms();
    const ft_intervals *intervals = ft_analyses_intervals(t->engine->analyses);
    ft_domains *domains = ft_analyses_domains(t->engine->analyses);
    uint64_t looked = 0, narrowed = 0;
    if (intervals && domains) narrowed = ft_narrow_domains(intervals, domains, &looked);
    t->engine->narrowed = true;
    tally(t->engine, FT_PASS_INTERVAL_VALUES, looked, narrowed, start);
    return FT_ANSWER_UNKNOWN;
}

/* Before the encoding asks for them one by one. */
static ft_answer use_range_sources(solving *t, const ft_pass *row)
{
    (void)row;
    double start = ft_now_ms();
    const ft_intervals *intervals = ft_analyses_intervals(t->engine->analyses);
    uint64_t looked = 0, dropped = 0;
    t->engine->problem.intervals = intervals;
    if (intervals)
        dropped = ft_narrow_sources(intervals, ft_analyses_writes(t->engine->analyses), &looked);
    tally(t->engine, FT_PASS_INTERVAL_SOURCES, looked, dropped, start);
    return FT_ANSWER_UNKNOWN;
}

static bool may_use_order(const solving *t)
{
    return !t->engine->spec.literal && t->engine->spec.solver != FT_SOLVER_Z3;
}

static ft_answer use_order(solving *t, const ft_pass *row)
{
    return decide_by(t->engine, FT_SOLVER_ORDER, row->share, t->question, t->witness, t->stats);
}

/* The own solver has guessed or given up on values that are too many for its tables. */
static bool is_beyond(const solving *t)
{
    return !t->engine->spec.literal && t->engine->spec.solver == FT_SOLVER_AUTO &&
           t->stats->beyond && !is_time_up(t->question);
}

/* A quick look before Z3's search for sums. */
static bool may_use_delay(const solving *t)
{
    return !t->question->avoid_unknown && t->question->bound == FT_NO_BOUND && is_beyond(t);
}

static ft_answer use_delay(solving *t, const ft_pass *row)
{
    (void)row;
    double start = ft_now_ms();
    t->stats->delayed = ft_delay_find(&t->engine->problem, ft_analyses_checker(t->engine->analyses),
                                      t->question->claim, DELAY_STEPS, t->witness);
    t->stats->encode_ms += ft_now_ms() - start;
    return t->stats->delayed ? FT_ANSWER_SAT : FT_ANSWER_UNKNOWN;
}

static bool may_use_z3(const solving *t)
{
    bool only = !t->engine->spec.literal && t->engine->spec.solver == FT_SOLVER_Z3;
    return only || is_beyond(t);
}

static bool may_use_bounds(const solving *t)
{
    return may_use_z3(t) && !t->engine->problem.bounds;
}

static ft_answer use_bounds(solving *t, const ft_pass *row)
{
    (void)row;
    double start = ft_now_ms();
    const ft_intervals *intervals = ft_analyses_intervals(t->engine->analyses);
    uint64_t looked = 0, bounded = 0;
    t->engine->problem.bounds = intervals;
    if (intervals) bounded = ft_narrow_reads(intervals, &looked);
    tally(t->engine, FT_PASS_INTERVAL_BOUNDS, looked, bounded, start);
    return FT_ANSWER_UNKNOWN;
}

static bool may_use_integers(const solving *t)
{
    return may_use_z3(t) && !t->engine->problem.numbers;
}

static ft_answer use_integers(solving *t, const ft_pass *row)
{
    (void)row;
    double start = ft_now_ms();
    const ft_numbers *numbers = ft_analyses_numbers(t->engine->analyses);
    uint64_t looked = 0, found = 0;
    t->engine->problem.numbers = numbers;
    if (numbers) found = ft_narrow_numbers(numbers, &looked);
    tally(t->engine, FT_PASS_INTERVAL_INTEGERS, looked, found, start);
    return FT_ANSWER_UNKNOWN;
}

static bool may_use_widths(const solving *t)
{
    return may_use_z3(t) && !t->engine->problem.widths;
}

static ft_answer use_widths(solving *t, const ft_pass *row)
{
    (void)row;
    double start = ft_now_ms();
    const ft_intervals *intervals = ft_analyses_intervals(t->engine->analyses);
    uint64_t looked = 0, found = 0;
    t->engine->problem.widths = intervals;
    if (intervals) found = ft_narrow_widths(intervals, &looked);
    tally(t->engine, FT_PASS_INTERVAL_WIDTHS, looked, found, start);
    return FT_ANSWER_UNKNOWN;
}

static ft_answer use_z3(solving *t, const ft_pass *row)
{
    return decide_by(t->engine, FT_SOLVER_Z3, row->share, t->question, t->witness, t->stats);
}

static bool may_use_literal(const solving *t)
{
    return t->engine->spec.literal ||
           (t->engine->spec.solver != FT_SOLVER_ORDER && !is_time_up(t->question));
}

static ft_answer use_literal(solving *t, const ft_pass *row)
{
    (void)row;
    return ft_literal_decide(&t->engine->problem, t->question, t->witness, t->stats);
}

static const struct {
    bool (*may)(const solving *t); /* beside what the row says */
    ft_answer (*use)(solving *t, const ft_pass *row);
} SOLVES[FT_PASSES] = {
    [FT_PASS_WINDOWS] = {may_use_windows, use_windows},
    [FT_PASS_VALUES] = {may_use_values, use_values},
    [FT_PASS_INTERVAL_VALUES] = {may_use_range_values, use_range_values},
    [FT_PASS_INTERVAL_SOURCES] = {may_use_ranges, use_range_sources},
    [FT_PASS_ORDER] = {may_use_order, use_order},
    [FT_PASS_DELAY] = {may_use_delay, use_delay},
    [FT_PASS_INTERVAL_BOUNDS] = {may_use_bounds, use_bounds},
    [FT_PASS_INTERVAL_INTEGERS] = {may_use_integers, use_integers},
    [FT_PASS_INTERVAL_WIDTHS] = {may_use_widths, use_widths},
    [FT_PASS_Z3] = {may_use_z3, use_z3},
    [FT_PASS_LITERAL] = {may_use_literal, use_literal},
};

static bool serves(const solving *t, ft_pass_id pass)
{
    bool yardstick = pass == FT_PASS_LITERAL && t->engine->spec.literal; /* any trace */
    return (yardstick || ft_pass_serves(pass, t->engine->analyses, t->question->claim)) &&
           SOLVES[pass].may(t);
}

static bool counts_itself(ft_pass_id pass)
{
    return pass == FT_PASS_INTERVAL_VALUES || pass == FT_PASS_INTERVAL_SOURCES ||
           pass == FT_PASS_INTERVAL_BOUNDS || pass == FT_PASS_INTERVAL_INTEGERS ||
           pass == FT_PASS_INTERVAL_WIDTHS;
}

static ft_answer decide(ft_engine *engine, const ft_question *question, ft_witness *witness,
                        ft_decide_stats *stats)
{
    solving t = {.engine = engine, .question = question, .witness = witness, .stats = stats};
    ft_answer answer = FT_ANSWER_UNKNOWN;
    stats->lifted = true;
    for (int p = 0; p < FT_PASSES && answer == FT_ANSWER_UNKNOWN && !t.last; p++) {
        const ft_pass *row = ft_pass_get((ft_pass_id)p);
        if (row->stage != FT_STAGE_SOLVE || !serves(&t, (ft_pass_id)p)) continue;
        if (ft_engine_goes_without(engine, (ft_pass_id)p)) continue;
        double start = ft_now_ms();
        answer = SOLVES[p].use(&t, row);
        if (!counts_itself((ft_pass_id)p))
            ft_engine_tally(engine, (ft_pass_id)p, answer != FT_ANSWER_UNKNOWN, start);
    }
    return answer;
}

ft_judgement ft_judgement_of(ft_verdict verdict, ft_reason reason)
{
    return (ft_judgement){.verdict = verdict, .reason = reason, .bound = FT_NO_BOUND};
}

ft_status ft_engine_confirm(ft_engine *engine, ft_witness *witness, ft_reading *reading,
                            ft_error *err)
{
    FT_REQUIRE(witness->steps || witness->n_steps == 0);
    witness->wakeups = engine->problem.wakeups;
    ft_status status =
        ft_checker_check(ft_analyses_checker(engine->analyses), witness, reading, err);
    if (status != FT_OK) ft_witness_release(witness);
    return status;
}

/* The verdict on a solver's schedule. UNKNOWN: it depends on a value that the trace does not
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
#ifdef FT_FAULTS
    ft_fault_refused += status != FT_UNSUPPORTED;
#endif
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
