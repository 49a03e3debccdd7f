/* One group of candidates: cheap looks at all of its claims, then the solver for what is left. */
#include <string.h>

#include "base/contract.h"
#include "engine/internal.h"

enum { MINIMISE_MS = 1500 };

/* ---- a group ---- */

typedef struct group_pass {
    ft_engine *engine;
    const ft_group *group;
    double start, deadline;
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
    ft_strbuf ranges;         /* likewise by intervals */
    uint64_t visited;         /* claims of this walk over the group */
    FT_VEC(uint64_t) pending; /* claims, by their place in the walk, that are left to the solver */
    size_t decided;           /* of pending */
    bool certain; /* what refuted it holds whatever happened where the trace is broken */
    bool undecided;
    ft_judgement trouble; /* the first claim that was neither refuted nor violated */
} group_pass;

/* The bound that a witness found without the solver has to keep. */
static uint32_t fixed_bound(const ft_engine *engine)
{
    const ft_context_bound *bound = &engine->spec.context_bound;
    return bound->mode == FT_BOUND_FIXED ? bound->switches : FT_NO_BOUND;
}

static bool try_witness(group_pass *pass, ft_reason reason, bool observed)
{
    bool failed = pass->witness.claim.kind == FT_CLAIM_FAILURE; /* in whatever schedule */
    pass->witness.bound = failed ? FT_NO_BOUND : fixed_bound(pass->engine);
    if (ft_witness_switches(pass->engine->trace, &pass->witness) > pass->witness.bound) {
        ft_witness_release(&pass->witness);
        return false;
    }
    if (ft_engine_confirm(pass->engine, &pass->witness, &pass->reading, NULL) != FT_OK)
        return false;
    pass->found = true;
    pass->found_by = reason;
    pass->observed = observed;
    return true;
}

static bool accept_observed(group_pass *pass, const ft_claim *claim)
{
    ft_engine *engine = pass->engine;
    ft_model model = engine->problem.model;
    pass->blocked = ft_claim_was_blocked(engine->trace, claim);
    if (pass->blocked &&
        ft_prefix_accepts(ft_analyses_prefix(engine->analyses), model, claim, &pass->witness) &&
        try_witness(pass, FT_REASON_OBSERVED_RUN, false))
        return true;
    return ft_prefix_observed(engine->order, model, claim, &pass->witness) &&
           try_witness(pass, FT_REASON_OBSERVED_RUN, true);
}

/* For contracts: the witnesses have the same events. */
static bool is_permutation(const ft_witness *a, const ft_witness *b)
{
    if (a->n_steps != b->n_steps) return false;
    uint32_t last = 0;
    for (uint32_t i = 0; i < a->n_steps; i++)
        if (a->steps[i] > last) last = a->steps[i];
    int8_t *balance = ft_calloc((size_t)last + 1, sizeof *balance);
    bool same = true;
    for (uint32_t i = 0; i < a->n_steps; i++) balance[a->steps[i]]++;
    for (uint32_t i = 0; i < b->n_steps && same; i++)
        same = b->steps[i] <= last && --balance[b->steps[i]] == 0;
    free(balance);
    return same;
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
    FT_CHECK(is_permutation(&pass->witness, &other));
    bool better = gain.switches < gain.switches_before && gain.switches <= other.bound &&
                  ft_checker_check(ft_analyses_checker(engine->analyses), &other, &pass->reading,
                                   NULL) == FT_OK;
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

static bool accept_schedule(group_pass *pass, const ft_claim *claim)
{
    ft_engine *engine = pass->engine;
    if (!ft_engine_serves_schedules(engine, claim) ||
        !ft_engine_accept(engine, claim, fixed_bound(engine), &pass->witness, &pass->reading,
                          &pass->minimised))
        return false;
    pass->found = true;
    pass->reduced = pass->minimised.complete;
    pass->found_by = FT_REASON_REORDERED;
    return true;
}

static bool accept_prefix(group_pass *pass, const ft_claim *claim)
{
    ft_engine *engine = pass->engine;
    ft_model model = engine->problem.model;
    ft_prefix *prefix = ft_analyses_prefix(engine->analyses);
    if (ft_engine_serves_schedules(engine, claim) ||
        !ft_prefix_accepts(prefix, model, claim, &pass->witness))
        return false;
    if (ft_prefix_is_minimal(prefix, model) && try_relinearised(pass)) return true;
    return try_witness(pass, FT_REASON_REORDERED, false);
}

static bool (*const ACCEPTS[FT_PASSES])(group_pass *pass, const ft_claim *claim) = {
    [FT_PASS_OBSERVED] = accept_observed,
    [FT_PASS_SCHEDULE] = accept_schedule,
    [FT_PASS_PREFIX] = accept_prefix,
};

static void note_trouble(group_pass *pass, ft_judgement trouble)
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
    note_trouble(pass, ft_judgement_of(FT_VERDICT_UNKNOWN, FT_REASON_BUDGET));
    return true;
}

static bool has_cycle(const group_pass *pass)
{
    return pass->refuted[FT_REASON_CAUSALITY] != pass->group->pruned[FT_REASON_CAUSALITY];
}

/* Many claims are settled in less time than it takes to look at the clock: of a pass that is asked
 * often, one question in SAMPLE is timed, for all of them. */
enum { TIMED = 64, SAMPLE = 16 };

static void count(ft_pass_tally *tally, bool settled, double start)
{
    if (start > 0) tally->ms += (ft_now_ms() - start) * (tally->asked < TIMED ? 1 : SAMPLE);
    tally->asked++;
    tally->decided += settled;
}

/* Does the pass settle the claim: refute it, and the next claim is looked at, or accept it? */
static bool is_settled_by(group_pass *pass, ft_pass_id id, const ft_claim *claim)
{
    const ft_pass *row = ft_pass_get(id);
    ft_pass_tally *tally = &pass->engine->tallies[id];
    double start = tally->asked < TIMED || tally->asked % SAMPLE == 0 ? ft_now_ms() : 0;
    bool settled = row->effect == FT_EFFECT_ACCEPTS
                       ? ACCEPTS[id](pass, claim)
                       : ft_pass_refutes_claim(id, pass->engine->analyses, claim,
                                               has_cycle(pass) ? NULL : &pass->cycle);
    count(tally, settled, start);
    if (id == FT_PASS_INTERVAL)
        ft_engine_tally_cut(pass->engine, id, ft_analyses_cuts(pass->engine->analyses)->claim);
    if (settled && id == FT_PASS_INTERVAL && !pass->ranges.len)
        ft_pass_explain_interval(pass->engine->analyses, claim, &pass->ranges);
    if (settled && row->effect == FT_EFFECT_REFUTES) pass->refuted[row->reason]++;
    return settled;
}

/* Asks the passes of a stage, from top to bottom. place: the claim's, in its walk. */
static bool is_settled(group_pass *pass, ft_pass_stage stage, uint64_t place, const ft_claim *claim)
{
    const ft_pass *rows = ft_pass_get((ft_pass_id)0);
    int p = 0;
    FT_CHECK(ft_passes_are_sound());
    while (rows[p].stage < stage) p++; /* the table is in the order of stages */
    for (; p < FT_PASSES && rows[p].stage == stage; p++)
        if (!ft_engine_goes_without(pass->engine, (ft_pass_id)p) && place >= rows[p].from &&
            ft_pass_serves((ft_pass_id)p, pass->engine->analyses, claim) &&
            is_settled_by(pass, (ft_pass_id)p, claim))
            return true;
    return false;
}

static bool look_in_observed_run(void *context, const ft_claim *claim)
{
    group_pass *pass = context;
    if (is_settled(pass, FT_STAGE_RUN, 0, claim)) return false;
    return ft_now_ms() < pass->deadline;
}

/* Refuted, accepted, or left to the solver. */
static bool judge_claim(void *context, const ft_claim *claim)
{
    group_pass *pass = context;
    if (is_late(pass)) return false;
    if (claim->kind == FT_CLAIM_FAILURE) { /* the observed run has it, or nothing is known */
        note_trouble(pass, ft_judgement_of(FT_VERDICT_UNKNOWN, FT_REASON_BROKEN_TRACE));
        return true;
    }
    uint64_t place = pass->visited++;
    if (!is_settled(pass, FT_STAGE_JUDGE, place, claim)) ft_vec_push(&pass->pending, place);
    return !pass->found;
}

static bool decide_claim(void *context, const ft_claim *claim)
{
    group_pass *pass = context;
    if (is_late(pass)) return false;
    ft_judgement o = ft_engine_solve_claim(pass->engine, claim, pass->deadline, &pass->witness,
                                           &pass->reading, &pass->stats);
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
    bool late = o.verdict == FT_VERDICT_UNKNOWN && o.reason == FT_REASON_BUDGET;
    if (late && pass->engine->split_ms > 0)
        ft_cubes_find(pass->engine, claim, &pass->engine->cubes);
    note_trouble(pass, o);
    return true;
}

static bool decide_pending(void *context, const ft_claim *claim)
{
    group_pass *pass = context;
    if (pass->decided == pass->pending.len) return false;
    /* The walk is the one that found them, so it passes each place in turn. */
    assert(pass->visited <= pass->pending.data[pass->decided]);
    if (pass->visited++ != pass->pending.data[pass->decided]) return true;
    pass->decided++;
    return decide_claim(pass, claim);
}

/* Claims of a property are listed in the spec, but for transactions, which are triplets. */
void ft_engine_each_claim(const ft_engine *engine, const ft_group *group, const ft_claim_cut *cut,
                          ft_claim_visit visit, void *context)
{
    if (group->check == FT_CHECK_PROPERTY) {
        const ft_property *property = &engine->spec.properties.data[group->property];
        for (size_t i = 0; i < property->claims.len; i++)
            if (!visit(context, &property->claims.data[i])) return;
        if (property->kind != FT_PROPERTY_TRANSACTION || group->blocks.len == 0) return;
    }
    ft_candidates_each(engine->candidates, group, cut, visit, context);
}

/* ---- walks over its claims: of the 300 million pairs of a busy line few are worth a look ---- */

/* The run itself has an item's claims only with events that lie between its accesses or beside it.
 */
static bool is_far_before(void *context, const uint32_t item[2], uint32_t event)
{
    (void)context;
    return event + 1 < item[0];
}

static bool is_far_behind(void *context, const uint32_t item[2], uint32_t event)
{
    (void)context;
    return event > item[1] + 1;
}

/* It has a deadlock with what threads were left at: with the last event of each, if at all. */
static bool was_not_blocked(void *context, const uint32_t item[2], uint32_t event)
{
    const group_pass *pass = context;
    (void)item;
    return !ft_trace_is_blocked(pass->engine->trace, event);
}

static bool never(void *context, const uint32_t item[2], uint32_t event)
{
    (void)context, (void)item, (void)event;
    return false;
}

/* Causality refutes the ends of a class that the clocks order with the item; but the first claim
 * that it refutes is asked for its cycle. */
static bool is_needed_by_item(void *context, const uint32_t item[2], uint32_t event)
{
    const group_pass *pass = context;
    return has_cycle(pass) &&
           ft_causality_needs(ft_analyses_causality(pass->engine->analyses), item[0], event);
}

static bool needs_item(void *context, const uint32_t item[2], uint32_t event)
{
    const group_pass *pass = context;
    return has_cycle(pass) &&
           ft_causality_needs(ft_analyses_causality(pass->engine->analyses), event, item[1]);
}

static bool look_at_time(void *context, uint64_t claims)
{
    const group_pass *pass = context;
    (void)claims;
    return ft_now_ms() < pass->deadline;
}

static bool count_refuted(void *context, uint64_t claims)
{
    group_pass *pass = context;
    pass->visited += claims;
    pass->refuted[FT_REASON_CAUSALITY] += claims;
    pass->engine->tallies[FT_PASS_CAUSALITY].asked += claims;
    pass->engine->tallies[FT_PASS_CAUSALITY].decided += claims;
    return !is_late(pass);
}

static bool count_visited(void *context, uint64_t claims)
{
    group_pass *pass = context;
    pass->visited += claims;
    return pass->decided < pass->pending.len && !is_late(pass);
}

static void each_claim(group_pass *pass, const ft_claim_cut *cut, ft_claim_visit visit)
{
    ft_engine_each_claim(pass->engine, pass->group, cut, visit, pass);
}

static uint64_t refuted_claims(const group_pass *pass)
{
    uint64_t total = 0;
    for (int i = 0; i < FT_REASONS; i++) total += pass->refuted[i];
    return total;
}

static void search(group_pass *pass)
{
    const ft_claim_cut near = {is_far_before, is_far_behind, look_at_time, pass},
                       blocked = {was_not_blocked, never, look_at_time, pass};
    const ft_claim_cut judged = {is_needed_by_item, needs_item, count_refuted, pass};
    const ft_claim_cut decided = {is_needed_by_item, needs_item, count_visited, pass};
    if (pass->engine->spec.literal && pass->group->check != FT_CHECK_FAILURE) {
        each_claim(pass, NULL, decide_claim);
        return;
    }
    each_claim(pass, pass->group->check == FT_CHECK_DEADLOCK ? &blocked : &near,
               look_in_observed_run);
    pass->blocked &= pass->found;
    if (!pass->found) each_claim(pass, &judged, judge_claim);
    pass->visited = 0;
    if (!pass->found && pass->pending.len > 0) each_claim(pass, &decided, decide_pending);
    /* `safe` is said of a group of which each claim was refuted, once. */
    assert(pass->found || pass->undecided || refuted_claims(pass) == pass->group->pairs);
    assert(refuted_claims(pass) <= pass->group->pairs);
}

/* Drops what the witness does not need, and has the checker say what it reads. */
static ft_status reduce(group_pass *pass)
{
    if (pass->observed && pass->witness.claim.kind != FT_CLAIM_FAILURE)
        pass->reduced =
            ft_engine_reduce(pass->engine, &pass->witness, &pass->reading, &pass->minimised);
    if (pass->reduced) return FT_OK;
    if (!pass->observed)
        ft_minimise(pass->engine->order, ft_analyses_checker(pass->engine->analyses),
                    &pass->witness, MINIMISE_MS, &pass->minimised);
    ft_reading_release(&pass->reading);
    return ft_checker_check(ft_analyses_checker(pass->engine->analyses), &pass->witness,
                            &pass->reading, NULL);
}

static json_t *violation(group_pass *pass, ft_decision *decision)
{
    assert(pass->witness.steps || pass->witness.n_steps == 0);
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

static void assume_edges(ft_engine *engine)
{
    engine->problem.causality = ft_analyses_causality(engine->analyses);
}

/* Passes of the stage GROUP. */
static void (*const GROUP_PASSES[FT_PASSES])(ft_engine *engine) = {
    [FT_PASS_EDGES] = assume_edges,
};

static void narrow(ft_engine *engine)
{
    for (int p = 0; p < FT_PASSES && !engine->spec.literal; p++)
        if (ft_pass_get((ft_pass_id)p)->stage == FT_STAGE_GROUP) GROUP_PASSES[p](engine);
}

static group_pass look(ft_engine *engine, const ft_group *group, double ms)
{
    double start = ft_now_ms();
    group_pass pass = {.engine = engine, .group = group, .start = start, .deadline = start + ms};
    for (int i = 0; i < FT_REASONS; i++) pass.refuted[i] = group->pruned[i];
    memset(engine->tallies, 0, sizeof engine->tallies);
    narrow(engine);
    search(&pass);
    return pass;
}

static void release(group_pass *pass)
{
    ft_witness_release(&pass->witness);
    ft_reading_release(&pass->reading);
    ft_vec_release(&pass->pending);
    ft_vec_release(&pass->cycle);
    ft_strbuf_release(&pass->ranges);
}

static json_t *record_of(group_pass *pass)
{
    ft_decision decision = {.count = 1,
                            .pairs = pass->group->pairs,
                            .lock = UINT32_MAX,
                            .stats = &pass->stats,
                            .tallies = pass->engine->tallies,
                            .total_ms = ft_now_ms() - pass->start};
    decision.bound = pass->found ? pass->witness.bound
                     : pass->undecided && pass->trouble.verdict == FT_VERDICT_BOUNDED
                         ? pass->trouble.bound
                         : FT_NO_BOUND;
    decision.bounded = decision.bound != FT_NO_BOUND;
    if (pass->found) return violation(pass, &decision);
    decision.certain = pass->certain;
    decision.passes = pass->refuted;
    decision.cycle = &pass->cycle;
    decision.verdict = pass->undecided ? pass->trouble.verdict : FT_VERDICT_SAFE;
    decision.reason =
        pass->undecided ? pass->trouble.reason : ft_record_reason(pass->refuted, FT_REASON_UNSAT);
    if (pass->undecided && pass->trouble.text[0]) decision.text = pass->trouble.text;
    if (decision.reason == FT_REASON_INTERVAL && pass->ranges.len)
        decision.text = ft_strbuf_text(&pass->ranges);
    return ft_record_new(&pass->engine->context, pass->group, &decision);
}

/* A refuted group is asked of the wider engine too; where that one has no answer, the first one's
 * stands. */
static void look_wider(group_pass *pass)
{
    double start = ft_now_ms(), ms = pass->deadline - start;
    bool refuted = !pass->found && !pass->undecided;
    ft_engine *wider = refuted ? ft_engine_wider(pass->engine, &ms) : NULL;
    if (!wider) return;
    group_pass again = look(wider, pass->group, ms);
    pass->engine->wider_ms += ft_now_ms() - start;
    bool answered = again.found || !again.undecided;
    again.start = pass->start;
    if (answered) {
        group_pass first = *pass;
        *pass = again;
        again = first;
    }
    release(&again);
}

typedef struct doubt_pass {
    const ft_doubt *doubt;
    bool allowed;
} doubt_pass;

static bool look_for_doubt(void *context, const ft_claim *claim)
{
    doubt_pass *pass = context;
    pass->allowed = ft_doubt_allows(pass->doubt, claim);
    return pass->allowed;
}

static bool is_allowed(const ft_engine *engine, const ft_group *group)
{
    doubt_pass pass = {engine->doubt, true};
    ft_engine_each_claim(engine, group, NULL, look_for_doubt, &pass);
    return pass.allowed;
}

/* A broken trace: the relaxed trace, which allows more, is asked first. What it refutes is safe;
 * a witness that the checker accepts for the trace as it is serves too. Else the trace itself is
 * asked, and *ms is the time that is left. */
static bool look_relaxed(ft_engine *engine, const ft_group *group, double *ms, group_pass *pass)
{
    ft_engine *relaxed = ft_engine_relaxed(engine);
    if (!relaxed || !is_allowed(engine, group)) return false;
    *pass = look(relaxed, group, *ms / 2);
    *ms -= ft_now_ms() - pass->start;
    memcpy(engine->tallies, relaxed->tallies, sizeof engine->tallies);
    pass->engine = engine;
    pass->certain = ft_engine_pruned_certainly(engine, group);
    if (pass->found) {
        ft_reading_release(&pass->reading);
        if (ft_engine_confirm(engine, &pass->witness, &pass->reading, NULL) == FT_OK) return true;
    } else if (!pass->undecided) {
        return true;
    }
    release(pass);
    return false;
}

static json_t *solve_for(ft_engine *engine, const ft_group *group, double ms)
{
    group_pass pass;
    if (!look_relaxed(engine, group, &ms, &pass)) {
        pass = look(engine, group, ms);
        look_wider(&pass);
    }
    engine->looked_ms += ft_now_ms() - pass.start;
    json_t *record = record_of(&pass);
    release(&pass);
    return record;
}

/* A group that cannot be split has all of its time. */
json_t *ft_engine_solve_group(ft_engine *engine, const ft_group *group)
{
    FT_REQUIRE(engine->candidates && group);
    FT_REQUIRE(!(engine->problem.cube && engine->split_ms > 0)); /* a cube is not split */
    double all = engine->spec.subproblem_ms, soft = engine->split_ms;
    bool splits = soft > 0 && soft < all && !engine->problem.cube;
    engine->cubes.count = 0;
    if (!splits) engine->split_ms = 0;
    json_t *record = solve_for(engine, group, splits ? soft : all);
    const char *verdict = json_string_value(json_object_get(record, "verdict"));
    if (!splits || !verdict || strcmp(verdict, ft_verdict_name(FT_VERDICT_UNKNOWN)) != 0)
        return record;
    if (engine->cubes.count > 1) {
        json_object_set_new(record, "cubes", ft_cubes_json(&engine->cubes));
        return record;
    }
    json_decref(record);
    engine->split_ms = 0;
    return solve_for(engine, group, all - soft);
}
