#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_internal.h"
#include "reduce/cone.h"
#include "reduce/delay.h"
#include "reduce/relinearise.h"

enum { MINIMISE_MS = 1500, DELAY_STEPS = 300000 };

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

static void compute_cone(ft_engine *engine, const ft_claim *claim, ft_decide_stats *stats)
{
    if (!engine->cone) engine->cone = ft_alloc(engine->trace->n_events);
    uint32_t events = ft_cone_compute(&engine->problem, claim, engine->cone);
    if (stats->sliced < events) stats->sliced = events;
}

/* An encoding of the claim's own cone, for this claim alone. */
static ft_answer decide_fresh(ft_engine *engine, const ft_claim *claim, bool avoid_unknown,
                              uint32_t bound, double deadline, ft_witness *witness,
                              ft_decide_stats *stats, bool *lifted)
{
    double start = ft_now_ms();
    compute_cone(engine, claim, stats);
    ft_decider *fresh = ft_decider_new(&engine->problem, engine->cone);
    double encoded = ft_now_ms();
    stats->encode_ms += encoded - start;
    ft_answer answer = FT_ANSWER_UNKNOWN;
    if (encoded < deadline)
        answer = ft_decider_decide(fresh, claim, avoid_unknown, bound,
                                   (uint32_t)ceil(deadline - encoded), witness, stats, lifted);
    ft_decider_free(fresh);
    return answer;
}

static void find_writes(ft_engine *engine)
{
    if (!engine->writes.first) ft_writes_init(&engine->writes, engine->trace);
}

static void look_for_domains(ft_engine *engine)
{
    if (engine->looked_for_domains) return;
    engine->looked_for_domains = true;
    find_writes(engine);
    engine->domains = ft_domains_new(&engine->problem, &engine->writes);
    engine->problem.domains = engine->domains;
}

/* What the solvers are asked, one after the other, and by when. */
typedef struct question {
    ft_engine *engine;
    const ft_claim *claim;
    bool avoid_unknown;
    uint32_t bound;
    double deadline;
    ft_witness *witness;
    ft_decide_stats *stats;
    bool *lifted;
} question;

static uint32_t time_left(const question *q)
{
    double left = q->deadline - ft_now_ms();
    return left > 0 ? (uint32_t)ceil(left) : 0;
}

static ft_answer decide_shared(const question *q, ft_solver solver)
{
    double start = ft_now_ms(), timeout_ms = q->deadline - start;
    ft_engine *engine = q->engine;
    ft_decider **shared = &engine->shared[solver];
    if (!*shared) *shared = ft_decider_new(&engine->problem, NULL);
    if (!q->stats->sliced) compute_cone(engine, q->claim, q->stats);
    q->stats->encode_ms += ft_now_ms() - start;
    double share = timeout_ms / 4 > 1000 ? timeout_ms / 4 : timeout_ms / 2 + 1;
    return ft_decider_decide(*shared, q->claim, q->avoid_unknown, q->bound, (uint32_t)share,
                             q->witness, q->stats, q->lifted);
}

/* Products and quotients of unknowns can make the solver give up or wander, by luck of its search:
 * the shared base has a share of the time only, then the claim is asked without what others left
 * behind. */
static ft_answer decide_by(const question *q, ft_solver solver)
{
    ft_engine *engine = q->engine;
    ft_answer answer = FT_ANSWER_UNKNOWN;
    engine->problem.solver = solver;
    if (is_shareable(engine)) answer = decide_shared(q, solver);
    if (answer == FT_ANSWER_UNKNOWN && !q->stats->beyond && time_left(q) > 0)
        answer = decide_fresh(engine, q->claim, q->avoid_unknown, q->bound, q->deadline, q->witness,
                              q->stats, q->lifted);
    engine->problem.solver = engine->spec.solver;
    if (answer != FT_ANSWER_SAT || !q->stats->beyond) return answer;
    /* A guess: what the solver was not told may not matter here. */
    q->witness->wakeups = engine->problem.wakeups;
    if (ft_checker_check(ft_engine_checker(engine), q->witness, NULL, NULL) == FT_OK) return answer;
    ft_witness_release(q->witness);
    return FT_ANSWER_UNKNOWN;
}

static bool find_by_delay(const question *q)
{
    double start = ft_now_ms();
    q->stats->delayed = ft_delay_find(&q->engine->problem, ft_engine_checker(q->engine), q->claim,
                                      DELAY_STEPS, q->witness);
    q->stats->encode_ms += ft_now_ms() - start;
    return q->stats->delayed;
}

/* The own solver, then, where values are too many for its tables, a quick look before the search
 * for sums, and Z3. */
static ft_answer decide_by_any(const question *q)
{
    ft_answer answer = decide_by(q, FT_SOLVER_ORDER);
    if (answer != FT_ANSWER_UNKNOWN || !q->stats->beyond || time_left(q) == 0) return answer;
    if (!q->avoid_unknown && q->bound == FT_NO_BOUND && find_by_delay(q)) return FT_ANSWER_SAT;
    return decide_by(q, FT_SOLVER_Z3);
}

static ft_answer decide(ft_engine *engine, const ft_claim *claim, bool avoid_unknown,
                        uint32_t bound, uint32_t timeout_ms, ft_witness *witness,
                        ft_decide_stats *stats, bool *lifted)
{
    const question q = {engine,  claim, avoid_unknown, bound, ft_now_ms() + timeout_ms,
                        witness, stats, lifted};
    ft_solver solver = engine->spec.solver;
    *lifted = true;
    if (engine->spec.literal)
        return ft_literal_decide(&engine->problem, claim, avoid_unknown, bound, timeout_ms, witness,
                                 stats, lifted);
    if (bound == FT_NO_BOUND && (engine->first_window || !is_shareable(engine))) {
        if (ft_engine_has_windows(engine, claim)) {
            ft_answer found =
                ft_engine_decide_in_windows(engine, claim, q.deadline, witness, stats);
            if (found != FT_ANSWER_UNKNOWN || ft_windows_exact(engine->windows)) return found;
        }
    }
    if (solver != FT_SOLVER_Z3) look_for_domains(engine);
    ft_answer answer = solver == FT_SOLVER_AUTO ? decide_by_any(&q) : decide_by(&q, solver);
    uint32_t left = time_left(&q);
    if (answer != FT_ANSWER_UNKNOWN || left == 0 || !is_shareable(engine) ||
        solver == FT_SOLVER_ORDER)
        return answer;
    return ft_literal_decide(&engine->problem, claim, avoid_unknown, bound, left, witness, stats,
                             lifted); /* at last in the other encoding */
}

static ft_outcome outcome(ft_verdict verdict, ft_reason reason, const char *text)
{
    ft_outcome o = {.verdict = verdict, .reason = reason, .bound = FT_NO_BOUND};
    if (text) snprintf(o.text, sizeof o.text, "%.199s", text);
    return o;
}

/* The checker has the last word on every witness. */
static ft_status confirm(ft_engine *engine, ft_witness *witness, ft_reading *reading, ft_error *err)
{
    witness->wakeups = engine->problem.wakeups;
    ft_status status = ft_checker_check(ft_engine_checker(engine), witness, reading, err);
    if (status != FT_OK) ft_witness_release(witness);
    return status;
}

static ft_outcome bounded_by(ft_outcome o, uint32_t bound)
{
    o.bound = bound;
    return o;
}

/* more: none within the bound is no answer for a larger one. */
static ft_outcome solve_within(ft_engine *engine, const ft_claim *claim, uint32_t bound,
                               uint32_t timeout_ms, ft_witness *witness, ft_reading *reading,
                               ft_decide_stats *stats, bool *more)
{
    ft_error err = FT_ERROR_INIT;
    *more = false;
    for (int attempt = 0; attempt < 2; attempt++) {
        bool lifted;
        ft_answer answer =
            decide(engine, claim, attempt > 0, bound, timeout_ms, witness, stats, &lifted);
        bool beyond = stats->beyond && engine->spec.solver == FT_SOLVER_ORDER;
        if (answer == FT_ANSWER_UNKNOWN)
            return outcome(FT_VERDICT_UNKNOWN, beyond ? FT_REASON_BEYOND_SOLVER : FT_REASON_BUDGET,
                           NULL);
        /* With unknown values left out, "none" is no proof. */
        *more = answer == FT_ANSWER_UNSAT && !lifted;
        if (answer == FT_ANSWER_UNSAT && attempt > 0) break;
        if (answer == FT_ANSWER_UNSAT && !lifted)
            return bounded_by(outcome(FT_VERDICT_BOUNDED, FT_REASON_UNSAT, NULL), bound);
        if (answer == FT_ANSWER_UNSAT) return outcome(FT_VERDICT_SAFE, FT_REASON_UNSAT, NULL);
        ft_reason by = stats->delayed ? FT_REASON_DELAYED : FT_REASON_SAT;
        ft_outcome found = bounded_by(outcome(FT_VERDICT_VIOLATION, by, NULL), bound);
        witness->wakeups = engine->problem.wakeups;
        found.reduced = ft_engine_reduce(engine, witness, reading, &found.minimised);
        if (found.reduced) return found;
        ft_error fresh = FT_ERROR_INIT;
        ft_status status = confirm(engine, witness, reading, &fresh);
        err = fresh;
        if (status == FT_OK) return found;
        if (status != FT_UNSUPPORTED)
            return outcome(FT_VERDICT_ERROR, FT_REASON_WITNESS_REJECTED, err.message);
    }
    return outcome(FT_VERDICT_UNKNOWN, FT_REASON_UNKNOWN_VALUE, err.message);
}

ft_outcome ft_engine_solve_claim(ft_engine *engine, const ft_claim *claim, uint32_t timeout_ms,
                                 ft_witness *witness, ft_reading *reading, ft_decide_stats *stats)
{
    const ft_context_bound *bound = &engine->spec.context_bound;
    double deadline = ft_now_ms() + timeout_ms;
    bool more;
    if (bound->mode != FT_BOUND_AUTO)
        return solve_within(engine, claim,
                            bound->mode == FT_BOUND_FIXED ? bound->switches : FT_NO_BOUND,
                            timeout_ms, witness, reading, stats, &more);
    ft_outcome o = outcome(FT_VERDICT_UNKNOWN, FT_REASON_BUDGET, NULL);
    for (uint32_t n = 1; n <= FT_MAX_CONTEXT_BOUND; n++) {
        double left = deadline - ft_now_ms();
        if (left <= 0) return outcome(FT_VERDICT_UNKNOWN, FT_REASON_BUDGET, NULL);
        o = solve_within(engine, claim, n, (uint32_t)ceil(left), witness, reading, stats, &more);
        if (!more) return o;
    }
    return o;
}

/* ---- a group ---- */

typedef struct group_pass {
    ft_engine *engine;
    const ft_group *group;
    double deadline;
    bool found, observed;
    bool blocked; /* the run itself ended there; the schedule may be a shorter one */
    ft_reason found_by;
    ft_witness witness;
    ft_reading reading;
    bool reduced; /* witness and reading are final, and `minimised` says what was gained */
    ft_minimised minimised;
    ft_decide_stats stats;
    uint64_t refuted[FT_REASONS];
    ft_causality_edges cycle; /* of the first claim refuted by causality, if it has one */
    uint32_t visited;         /* claims of this walk over the group */
    FT_VEC(uint32_t) pending; /* claims, by their place in the walk, that are left to the solver */
    size_t decided;           /* of pending */
    bool undecided;
    ft_outcome trouble; /* the first claim that was neither refuted nor violated */
} group_pass;

/* The bound that a witness found without the solver has to keep. */
static uint32_t fixed_bound(const ft_engine *engine)
{
    const ft_context_bound *bound = &engine->spec.context_bound;
    return bound->mode == FT_BOUND_FIXED ? bound->switches : FT_NO_BOUND;
}

static bool try_witness(group_pass *pass, ft_reason reason, bool observed)
{
    pass->witness.bound = fixed_bound(pass->engine);
    if (ft_witness_switches(pass->engine->trace, &pass->witness) > pass->witness.bound) {
        ft_witness_release(&pass->witness);
        return false;
    }
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
    pass->blocked = ft_claim_was_blocked(engine->trace, claim);
    if (pass->blocked &&
        ft_prefix_accepts(engine->prefix, engine->problem.model, claim, &pass->witness) &&
        try_witness(pass, FT_REASON_OBSERVED_RUN, false))
        return false;
    if (ft_prefix_observed(engine->order, engine->problem.model, claim, &pass->witness) &&
        try_witness(pass, FT_REASON_OBSERVED_RUN, true))
        return false;
    return ft_now_ms() < pass->deadline;
}

/* A witness that no member can be dropped from needs no more than a better order; then the check of
 * that order is the only one. */
static bool try_relinearised(group_pass *pass)
{
    ft_engine *engine = pass->engine;
    ft_witness other = pass->witness;
    other.steps = ft_alloc(((size_t)other.n_steps + 1) * sizeof *other.steps);
    ft_relinearise(engine->order, pass->witness.steps, other.n_steps, other.steps);
    ft_minimised gain = {.members_before = other.n_steps,
                         .members = other.n_steps,
                         .switches_before = ft_witness_switches(engine->trace, &pass->witness),
                         .switches = ft_witness_switches(engine->trace, &other),
                         .complete = true};
    other.wakeups = engine->problem.wakeups;
    other.bound = fixed_bound(engine);
    bool better =
        gain.switches < gain.switches_before && gain.switches <= other.bound &&
        ft_checker_check(ft_engine_checker(engine), &other, &pass->reading, NULL) == FT_OK;
    if (!better) {
        ft_witness_release(&other);
        return false;
    }
    ft_witness_release(&pass->witness);
    pass->witness = other;
    pass->minimised = gain;
    pass->reduced = pass->found = true;
    pass->found_by = FT_REASON_REORDERED;
    return true;
}

static bool try_schedule(group_pass *pass, const ft_claim *claim)
{
    ft_engine *engine = pass->engine;
    if (!ft_engine_accept(engine, claim, fixed_bound(engine), &pass->witness, &pass->reading,
                          &pass->minimised))
        return false;
    pass->found = true;
    pass->reduced = pass->minimised.complete;
    pass->found_by = FT_REASON_REORDERED;
    return true;
}

static void note_trouble(group_pass *pass, ft_outcome trouble)
{
    bool worse =
        trouble.verdict == FT_VERDICT_ERROR ||
        (trouble.verdict == FT_VERDICT_UNKNOWN && pass->trouble.verdict == FT_VERDICT_BOUNDED);
    if (!pass->undecided || worse) pass->trouble = trouble;
    pass->undecided = true;
}

static bool is_late(group_pass *pass)
{
    if (ft_now_ms() < pass->deadline) return false;
    note_trouble(pass, outcome(FT_VERDICT_UNKNOWN, FT_REASON_BUDGET, NULL));
    return true;
}

static bool is_constant(ft_engine *engine, const ft_claim *claim)
{
    if (engine->problem.model != FT_MODEL_CTP) return false;
    if (claim->kind != FT_CLAIM_ASSERTION && claim->kind != FT_CLAIM_CONDITION) return false;
    find_writes(engine);
    if (ft_chain_proves(&engine->problem, &engine->writes, claim)) return true;
    look_for_domains(engine);
    return engine->domains && ft_domains_prove(engine->domains, claim);
}

ft_causality *ft_engine_causality(ft_engine *engine)
{
    if (!engine->causality)
        engine->causality = ft_causality_new(&engine->problem, FT_CAUSALITY_ALL);
    return engine->causality;
}

static bool is_cyclic(group_pass *pass, const ft_claim *claim)
{
    bool first = pass->refuted[FT_REASON_CAUSALITY] == pass->group->pruned[FT_REASON_CAUSALITY];
    return ft_causality_refutes(ft_engine_causality(pass->engine), claim,
                                first ? &pass->cycle : NULL);
}

/* What a look at the clocks says costs nothing beside a closure. */
static bool is_initialised(ft_engine *engine, const ft_claim *claim)
{
    if (claim->kind != FT_CLAIM_UNINITIALISED) return false;
    find_writes(engine);
    return ft_causality_writes_before(ft_engine_causality(engine), claim, engine->writes.first,
                                      engine->writes.events);
}

/* Linear time: refuted, accepted, or left to the solver. */
static bool judge_claim(void *context, const ft_claim *claim)
{
    group_pass *pass = context;
    ft_engine *engine = pass->engine;
    ft_model model = engine->problem.model;
    if (is_late(pass)) return false;
    uint32_t place = pass->visited++;
    if (is_cyclic(pass, claim)) {
        pass->refuted[FT_REASON_CAUSALITY]++;
        return true;
    }
    if (is_initialised(engine, claim) || (!ft_causality_covers(engine->causality, claim) &&
                                          ft_prefix_refutes(engine->prefix, model, claim))) {
        pass->refuted[FT_REASON_CLOSURE]++;
        return true;
    }
    if (is_constant(engine, claim)) {
        pass->refuted[FT_REASON_CONSTANT]++;
        return true;
    }
    if (ft_engine_serves_schedules(engine, claim)) {
        if (try_schedule(pass, claim)) return false;
    } else if (ft_prefix_accepts(engine->prefix, model, claim, &pass->witness)) {
        if (ft_prefix_is_minimal(engine->prefix, model) && try_relinearised(pass)) return false;
        if (try_witness(pass, FT_REASON_REORDERED, false)) return false;
    }
    ft_vec_push(&pass->pending, place);
    return true;
}

static bool decide_claim(void *context, const ft_claim *claim)
{
    group_pass *pass = context;
    if (is_late(pass)) return false;
    ft_outcome o =
        ft_engine_solve_claim(pass->engine, claim, (uint32_t)ceil(pass->deadline - ft_now_ms()) + 1,
                              &pass->witness, &pass->reading, &pass->stats);
    if (o.verdict == FT_VERDICT_SAFE) {
        pass->refuted[o.reason]++;
        return true;
    }
    if (o.verdict == FT_VERDICT_VIOLATION) {
        pass->found = true;
        pass->found_by = o.reason;
        pass->reduced = o.reduced;
        pass->minimised = o.minimised;
        return false;
    }
    note_trouble(pass, o);
    return true;
}

static bool decide_pending(void *context, const ft_claim *claim)
{
    group_pass *pass = context;
    if (pass->decided == pass->pending.len) return false;
    if (pass->visited++ != pass->pending.data[pass->decided]) return true;
    pass->decided++;
    return decide_claim(pass, claim);
}

/* Claims of a property are listed in the spec, but for transactions, which are triplets. */
void ft_engine_each_claim(const ft_engine *engine, const ft_group *group, ft_claim_visit visit,
                          void *context)
{
    if (group->check == FT_CHECK_PROPERTY) {
        const ft_property *property = &engine->spec.properties.data[group->property];
        for (size_t i = 0; i < property->claims.len; i++)
            if (!visit(context, &property->claims.data[i])) return;
        if (property->kind != FT_PROPERTY_TRANSACTION || group->blocks.len == 0) return;
    }
    ft_candidates_each(engine->candidates, group, visit, context);
}

static void each_claim(group_pass *pass, ft_claim_visit visit)
{
    ft_engine_each_claim(pass->engine, pass->group, visit, pass);
}

static void search(group_pass *pass)
{
    if (pass->engine->spec.literal) {
        each_claim(pass, decide_claim);
        return;
    }
    each_claim(pass, look_in_observed_run);
    pass->blocked &= pass->found;
    if (!pass->found) each_claim(pass, judge_claim);
    pass->visited = 0;
    if (!pass->found && pass->pending.len > 0) each_claim(pass, decide_pending);
}

/* Drops what the witness does not need, and has the checker say what it reads. */
static ft_status reduce(group_pass *pass)
{
    if (pass->observed)
        pass->reduced =
            ft_engine_reduce(pass->engine, &pass->witness, &pass->reading, &pass->minimised);
    if (pass->reduced) return FT_OK;
    if (!pass->observed)
        ft_minimise(pass->engine->order, ft_engine_checker(pass->engine), &pass->witness,
                    MINIMISE_MS, &pass->minimised);
    ft_reading_release(&pass->reading);
    return ft_checker_check(ft_engine_checker(pass->engine), &pass->witness, &pass->reading, NULL);
}

static json_t *violation(group_pass *pass, ft_decision *decision)
{
    decision->verdict = FT_VERDICT_VIOLATION;
    decision->reason = pass->found_by;
    decision->observed = pass->observed || pass->blocked;
    decision->witness = &pass->witness;
    if (reduce(pass) != FT_OK) {
        decision->verdict = FT_VERDICT_ERROR; /* cannot happen: each change was confirmed */
        decision->reason = FT_REASON_WITNESS_REJECTED;
    }
    if (!pass->observed || pass->reduced) decision->minimised = &pass->minimised;
    decision->reading = &pass->reading;
    return ft_record_new(&pass->engine->context, pass->group, decision);
}

json_t *ft_engine_solve_group(ft_engine *engine, const ft_group *group)
{
    double start = ft_now_ms();
    group_pass pass = {
        .engine = engine, .group = group, .deadline = start + engine->spec.subproblem_ms};
    for (int i = 0; i < FT_REASONS; i++) pass.refuted[i] = group->pruned[i];
    if (!engine->spec.literal) engine->problem.causality = ft_engine_causality(engine);
    search(&pass);
    ft_decision decision = {.count = 1,
                            .pairs = group->pairs,
                            .lock = UINT32_MAX,
                            .stats = &pass.stats,
                            .total_ms = ft_now_ms() - start};
    json_t *record;
    decision.bound = pass.found ? pass.witness.bound
                     : pass.undecided && pass.trouble.verdict == FT_VERDICT_BOUNDED
                         ? pass.trouble.bound
                         : FT_NO_BOUND;
    decision.bounded = decision.bound != FT_NO_BOUND;
    if (pass.found) {
        record = violation(&pass, &decision);
    } else {
        decision.passes = pass.refuted;
        decision.cycle = &pass.cycle;
        decision.verdict = pass.undecided ? pass.trouble.verdict : FT_VERDICT_SAFE;
        decision.reason =
            pass.undecided ? pass.trouble.reason : ft_record_reason(pass.refuted, FT_REASON_UNSAT);
        if (pass.undecided && pass.trouble.text[0]) decision.text = pass.trouble.text;
        record = ft_record_new(&engine->context, group, &decision);
    }
    ft_witness_release(&pass.witness);
    ft_reading_release(&pass.reading);
    ft_vec_release(&pass.pending);
    ft_vec_release(&pass.cycle);
    return record;
}
