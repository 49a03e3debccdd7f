#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "engine/statistics.h"
#include "problem/faults.h"
#include "solve/session.h"

#ifdef FT_FAULTS
ft_fault_kind ft_fault = FT_FAULT_NONE;
unsigned ft_fault_refused;
#endif

/* ---- models ---- */

/* Which values the observed run of a trace has. */
typedef struct run_facts {
    bool valued, symbolic, arms_computed;
} run_facts;

static run_facts facts_of(const ft_run *run)
{
    return (run_facts){ft_run_valued(run), ft_run_symbolic(run), ft_run_arms_computed(run)};
}

static void models_of(run_facts run, uint32_t n_events, bool supported[FT_MODELS],
                      ft_model *initial)
{
    supported[FT_MODEL_OBSERVED] = true;
    supported[FT_MODEL_MAXIMAL] = run.valued;
    supported[FT_MODEL_CTP] = run.valued && run.symbolic && run.arms_computed;
    supported[FT_MODEL_CONTROL] = true;
    *initial = FT_MODEL_OBSERVED;
    for (int m = 0; m < FT_MODEL_CONTROL; m++)
        if (supported[m]) *initial = (ft_model)m;
    if (*initial == FT_MODEL_MAXIMAL && n_events > FT_ENGINE_MAXIMAL) *initial = FT_MODEL_OBSERVED;
}

static run_facts run_trace(const ft_trace *trace)
{
    ft_run *run = ft_run_new(trace);
    run_facts facts = facts_of(run);
    ft_run_free(run);
    return facts;
}

void ft_engine_models(const ft_trace *trace, bool supported[FT_MODELS], ft_model *initial)
{
    models_of(run_trace(trace), trace->n_events, supported, initial);
}

/* but: a note that is left out, because a finding says it; or NULL. */
static json_t *notes_json(const ft_trace *trace, const ft_note *but)
{
    json_t *notes = json_array();
    for (uint32_t i = 0; i < trace->n_notes; i++) {
        const ft_note *note = &trace->notes[i];
        if (note == but || !strcmp(note->code, FT_NOTE_LIMIT)) continue;
        json_t *json = json_pack("{s:s, s:I, s:s}", "code", note->code, "count",
                                 (json_int_t)note->count, "text", note->text);
        if (note->event != FT_NO_EVENT)
            json_object_set_new(json, "event", json_integer((json_int_t)note->event + 1));
        json_array_append_new(notes, json);
    }
    return notes;
}

static json_t *meta_of(const ft_trace *trace, uint32_t n_events, run_facts run,
                       const char *trace_hash)
{
    bool supported[FT_MODELS];
    ft_model best;
    models_of(run, n_events, supported, &best);
    json_t *models = json_array();
    for (int m = 0; m < FT_MODELS; m++)
        if (supported[m]) json_array_append_new(models, json_string(ft_model_name((ft_model)m)));
    json_t *broken = trace->broken == FT_NO_EVENT
                         ? json_null()
                         : json_pack("{s:I, s:s}", "event", (json_int_t)trace->broken + 1, "text",
                                     trace->broken_text);
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:s, s:o, s:o}", "trace", trace_hash,
                     "format", ft_format_name(trace->format), "events", (json_int_t)n_events,
                     "threads", (json_int_t)trace->threads.len, "variables",
                     (json_int_t)trace->shared.len, "locks", (json_int_t)trace->locks.len, "models",
                     models, "default_model", ft_model_name(best), "broken", broken, "notes",
                     notes_json(trace, NULL));
}

json_t *ft_engine_trace_meta(const ft_trace *trace, const char *trace_hash)
{
    return meta_of(trace, trace->n_events, run_trace(trace), trace_hash);
}

/* Without branches there are no arms. */
json_t *ft_engine_tables_meta(const ft_trace *trace, uint32_t n_events, bool valued, bool symbolic,
                              const char *trace_hash)
{
    run_facts run = {.valued = valued, .symbolic = symbolic, .arms_computed = true};
    return meta_of(trace, n_events, run, trace_hash);
}

/* ---- life ---- */

static ft_status choose_model(ft_engine *engine, ft_error *err)
{
    bool supported[FT_MODELS];
    ft_model *model = &engine->problem.model;
    models_of(facts_of(engine->run), engine->trace->n_events, supported, model);
    if (!engine->spec.model_given) return FT_OK;
    if (!supported[engine->spec.model])
        return ft_error_set(err, FT_UNSUPPORTED,
                            "/model: the trace does not support `%s' (by default its model is "
                            "`%s'): maximal needs the value of every read and write, ctp symbolic "
                            "events as well, and no plain reads in arms that were not taken",
                            ft_model_name(engine->spec.model), ft_model_name(*model));
    *model = engine->spec.model;
    return FT_OK;
}

/* A recorded program's run in which no assertion failed, and nobody was left waiting. */
static bool ran_well(const ft_trace *trace)
{
    if (trace->n_modules == 0) return false;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_event_kind kind = (ft_event_kind)trace->kind[e];
        if (kind == FT_EVENT_ASSERT && trace->flags[e] & FT_FLAG_FAILED) return false;
        if (ft_event_kind_waits(kind) && trace->flags[e] & FT_FLAG_BLOCKED) return false;
    }
    return true;
}

static void slice_reads(ft_engine *engine)
{
    engine->conditions.len = 0;
    for (size_t p = 0; p < engine->spec.properties.len; p++) {
        const ft_property *property = &engine->spec.properties.data[p];
        for (size_t i = 0; i < property->claims.len; i++)
            if (property->claims.data[i].kind == FT_CLAIM_CONDITION)
                ft_vec_push(&engine->conditions, property->claims.data[i].condition);
    }
    engine->problem.conditions = engine->conditions.data;
    engine->problem.n_conditions = (uint32_t)engine->conditions.len;
    engine->slice = ft_slice_new(engine->trace, engine->problem.model, engine->conditions.data,
                                 engine->problem.n_conditions);
    engine->problem.slice = engine->slice;
}

ft_status ft_engine_new(ft_trace *trace, const char *trace_hash, const json_t *spec,
                        ft_engine **result, ft_error *err)
{
    ft_engine *engine = ft_calloc(1, sizeof *engine);
    ft_status status = ft_spec_parse(spec, trace, &engine->spec, err);
    if (status != FT_OK) {
        free(engine);
        return status;
    }
    engine->trace = trace;
    engine->trace_hash = ft_strdup(trace_hash);
    engine->order = ft_order_new(trace);
    engine->run = ft_run_new(trace);
    engine->problem = (ft_problem){.trace = trace,
                                   .order = engine->order,
                                   .run = engine->run,
                                   .wakeups = engine->spec.wakeups,
                                   .solver = engine->spec.solver};
    status = choose_model(engine, err);
    if (status != FT_OK) {
        ft_engine_free(engine);
        return status;
    }
    ft_engine_open_model(engine, NULL);
    engine->context =
        (ft_record_context){.trace = trace,
                            .order = engine->order,
                            .run = engine->run,
                            .spec = &engine->spec,
                            .trace_hash = engine->trace_hash,
                            .show = ft_show_new(trace),
                            .model = engine->problem.model,
                            .apart = ran_well(trace) && !ft_candidates_is_marked(trace)};
    *result = engine;
    return FT_OK;
}

/* Passes of the stage MODEL. */
static void (*const MODEL_PASSES[FT_PASSES])(ft_engine *engine) = {
    [FT_PASS_SLICE] = slice_reads,
};

void ft_engine_open_model(ft_engine *engine, ft_analyses *trace)
{
    FT_REQUIRE(!engine->analyses); /* those of another model are released first */
    for (int p = 0; p < FT_PASSES; p++)
        if (ft_pass_get((ft_pass_id)p)->stage == FT_STAGE_MODEL) MODEL_PASSES[p](engine);
    engine->analyses = ft_analyses_new(&engine->problem, trace);
}

void ft_engine_release_model(ft_engine *engine)
{
    ft_analyses_free(engine->analyses);
    engine->analyses = NULL;
    ft_slice_free(engine->slice);
    engine->slice = NULL;
    engine->problem.slice = NULL;
}

void ft_engine_tally(ft_engine *engine, ft_pass_id pass, bool decided, double start)
{
    ft_pass_tally *tally = &engine->tallies[pass];
    FT_REQUIRE(pass < FT_PASSES);
    tally->asked++;
    tally->decided += decided;
    tally->ms += ft_now_ms() - start;
}

void ft_engine_tally_cut(ft_engine *engine, ft_pass_id pass, ft_intervals_cut cut)
{
    if (cut == FT_INTERVALS_CUT_NONE) return;
    engine->tallies[pass].left_out++;
    engine->tallies[pass].limit = cut;
}

void ft_engine_free(ft_engine *engine)
{
    if (!engine) return;
    ft_engine_free_wider(engine);
    ft_engine_free_relaxed(engine);
    ft_doubt_free(engine->doubt);
    ft_engine_release_model(engine);
    ft_candidates_free(engine->candidates);
    ft_show_free(engine->context.show);
    ft_run_free(engine->run);
    ft_order_free(engine->order);
    ft_spec_release(&engine->spec);
    ft_vec_release(&engine->subproblems);
    ft_vec_release(&engine->conditions);
    free(engine->trace_hash);
    free(engine);
}

/* ---- candidates ---- */

static void add_property(ft_engine *engine, uint32_t index)
{
    const ft_property *property = &engine->spec.properties.data[index];
    ft_candidates *c = engine->candidates;
    size_t before = c->groups.len;
    for (size_t i = 0; i < property->stretches.len; i++)
        ft_candidates_transaction(c, property->stretches.data[i].from,
                                  property->stretches.data[i].to, index);
    if (c->groups.len > before) return;
    ft_group group = {.check = FT_CHECK_PROPERTY,
                      .property = index,
                      .lock = UINT32_MAX,
                      .pairs = property->claims.len,
                      .sample = {.events = {FT_NO_EVENT, FT_NO_EVENT, FT_NO_EVENT}}};
    c->passes[FT_CHECK_PROPERTY].claims += property->claims.len;
    if (property->claims.len) group.sample = property->claims.data[0];
    ft_vec_push(&c->groups, group);
}

static uint64_t refuted_claims(const ft_group *group)
{
    uint64_t total = 0;
    for (int i = 0; i < FT_REASONS; i++) total += group->pruned[i];
    assert(total <= group->pairs);
    return total;
}

static bool is_refuted(const ft_group *group)
{
    return refuted_claims(group) == group->pairs;
}

enum { FEW_LISTED = 10000 };

/* Long traces have millions of these claims, more than are listed. Of the others in a trace of
 * usual length the solving says more: the cycle that refutes them, or what a wider model says. */
static ft_reason look_at_claim(void *context, const ft_claim *claim)
{
    ft_engine *engine = context;
    ft_analyses *analyses = engine->analyses;
    bool few = engine->candidates->listed.len < FEW_LISTED;
    if (!(few && ft_engine_looks_wider(engine)) &&
        ft_pass_serves(FT_PASS_WRITTEN, analyses, claim) &&
        ft_pass_refutes_claim(FT_PASS_WRITTEN, analyses, claim, NULL))
        return ft_pass_get(FT_PASS_WRITTEN)->reason;
    if (!few && ft_causality_refutes_at_once(ft_analyses_causality(analyses), claim))
        return FT_REASON_CAUSALITY;
    return FT_REASONS;
}

ft_status ft_engine_prepare(ft_engine *engine, ft_error *err)
{
    (void)err;
    if (engine->candidates) return FT_OK;
    const ft_spec *spec = &engine->spec;
    ft_candidates *c = ft_candidates_new(engine->trace, engine->order, engine->run, spec->per_event,
                                         spec->ignored);
    engine->candidates = c;
    engine->doubt = ft_doubt_new(engine->trace);
    if (engine->doubt) c->doubted = ft_doubt_locks(engine->doubt);
    if (!spec->literal) {
        c->look = look_at_claim;
        c->look_context = engine;
    }
    if (spec->checks[FT_CHECK_RACE]) ft_candidates_race(c);
    if (spec->checks[FT_CHECK_ATOMICITY]) ft_candidates_atomicity(c);
    if (spec->checks[FT_CHECK_ASSERTION]) ft_candidates_assertion(c);
    if (spec->checks[FT_CHECK_LOCK]) ft_candidates_lock(c);
    if (spec->checks[FT_CHECK_DEADLOCK]) ft_candidates_deadlock(c);
    if (spec->checks[FT_CHECK_ORDER]) ft_candidates_order(c);
    if (spec->checks[FT_CHECK_FAILURE]) ft_candidates_failure(c);
    for (uint32_t i = 0; i < spec->properties.len; i++) add_property(engine, i);
    for (uint32_t g = 0; g < c->groups.len; g++)
        if (!is_refuted(&c->groups.data[g])) ft_vec_push(&engine->subproblems, g);
    return FT_OK;
}

/* ---- the plan ---- */

typedef struct plan_pass {
    ft_engine *engine;
    json_t *records;
    uint64_t candidates[FT_CHECKS];
} plan_pass;

static ft_reason reason_of(const ft_group *group)
{
    return ft_record_reason(group->pruned, FT_REASON_CONSTANT);
}

static void append_record(plan_pass *pass, const ft_group *group, const ft_decision *decision)
{
    json_array_append_new(pass->records, ft_record_new(&pass->engine->context, group, decision));
}

static void refuted_record(plan_pass *pass, const ft_group *group)
{
    ft_reason reason = reason_of(group);
    bool by_lock = reason == FT_REASON_LOCKSET || reason == FT_REASON_ATOMIC_SECTION;
    append_record(pass, group,
                  &(ft_decision){.verdict = FT_VERDICT_SAFE,
                                 .reason = reason,
                                 .text = group->pairs ? NULL : "no instances that could violate it",
                                 .count = 1,
                                 .certain = ft_engine_pruned_certainly(pass->engine, group),
                                 .pairs = group->pairs,
                                 .lock = by_lock ? group->lock : UINT32_MAX,
                                 .passes = group->pairs ? group->pruned : NULL});
}

static void block_record(plan_pass *pass, ft_check check, ft_reason reason, uint32_t lock,
                         uint64_t count, uint64_t pairs, bool certain, const ft_group *shape)
{
    ft_group group = *shape;
    group.check = check;
    append_record(pass, &group,
                  &(ft_decision){.verdict = FT_VERDICT_SAFE,
                                 .reason = reason,
                                 .certain = certain,
                                 .count = count,
                                 .pairs = pairs,
                                 .lock = lock});
}

typedef struct tally {
    const ft_group *first;
    ft_reason reason;
    uint32_t lock;
    bool certain;
    uint64_t count, pairs;
} tally;

/* Many refuted groups: one record for each check, reason and lock. */
static void tally_refuted(plan_pass *pass)
{
    const ft_candidates *c = pass->engine->candidates;
    FT_VEC(tally) tallies = {0};
    for (size_t g = 0; g < c->groups.len; g++) {
        const ft_group *group = &c->groups.data[g];
        if (!is_refuted(group)) continue;
        ft_reason reason = reason_of(group);
        bool certain = ft_engine_pruned_certainly(pass->engine, group);
        size_t at = 0;
        while (at < tallies.len &&
               (tallies.data[at].first->check != group->check ||
                tallies.data[at].reason != reason || tallies.data[at].lock != group->lock ||
                tallies.data[at].certain != certain))
            at++;
        if (at == tallies.len)
            ft_vec_push(&tallies, (tally){group, reason, group->lock, certain, 0, 0});
        tallies.data[at].count++;
        tallies.data[at].pairs += group->pairs;
    }
    for (size_t i = 0; i < tallies.len; i++)
        block_record(pass, tallies.data[i].first->check, tallies.data[i].reason,
                     tallies.data[i].reason == FT_REASON_MIXED ? UINT32_MAX : tallies.data[i].lock,
                     tallies.data[i].count, tallies.data[i].pairs, tallies.data[i].certain,
                     tallies.data[i].first);
    ft_vec_release(&tallies);
}

static void refuted_records(plan_pass *pass)
{
    const ft_candidates *c = pass->engine->candidates;
    size_t refuted = c->groups.len - pass->engine->subproblems.len;
    if (refuted > FT_LISTED_REFUTED) tally_refuted(pass);
    for (size_t g = 0; g < c->groups.len; g++) {
        const ft_group *group = &c->groups.data[g];
        pass->candidates[group->check]++;
        if (refuted <= FT_LISTED_REFUTED && is_refuted(group)) refuted_record(pass, group);
    }
    for (size_t i = 0; i < c->pruned.len; i++) {
        const ft_pruned_block *block = &c->pruned.data[i];
        ft_group shape = {.kind = block->kind, .sample = block->sample};
        pass->candidates[block->check] += block->count;
        bool certain = ft_engine_is_certain_reason(pass->engine, block->reason, block->lock);
        block_record(pass, block->check, block->reason, block->lock, block->count, block->count,
                     certain, &shape);
    }
}

static void overflow_records(plan_pass *pass)
{
    for (int check = 0; check < FT_CHECKS; check++) {
        uint64_t count = pass->engine->candidates->overflow[check];
        if (!count) continue;
        pass->candidates[check] += count;
        ft_group group = {.check = (ft_check)check,
                          .sample = {.events = {FT_NO_EVENT, FT_NO_EVENT, FT_NO_EVENT}}};
        append_record(pass, &group,
                      &(ft_decision){.verdict = FT_VERDICT_UNKNOWN,
                                     .reason = FT_REASON_BUDGET,
                                     .text = "more candidates than one job decides one by one; "
                                             "group them by location, or split the trace",
                                     .count = count,
                                     .pairs = count,
                                     .lock = UINT32_MAX});
    }
}

static json_t *subproblem_list(const ft_engine *engine)
{
    json_t *list = json_array();
    for (size_t i = 0; i < engine->subproblems.len; i++) {
        const ft_group *group = &engine->candidates->groups.data[engine->subproblems.data[i]];
        char *key = ft_record_key(&engine->context, group);
        json_array_append_new(list, json_pack("{s:I, s:s, s:s, s:I}", "subproblem", (json_int_t)i,
                                              "check", ft_check_name(group->check), "key", key,
                                              "pairs", (json_int_t)group->pairs));
        free(key);
    }
    return list;
}

static void add_note(json_t *notes, const char *code, uint32_t event, uint64_t count,
                     const char *text)
{
    json_t *note =
        json_pack("{s:s, s:I, s:s}", "code", code, "count", (json_int_t)count, "text", text);
    if (event != FT_NO_EVENT)
        json_object_set_new(note, "event", json_integer((json_int_t)event + 1));
    json_array_append_new(notes, note);
}

/* Users whose recordings have values expect each of them to be checked under `maximal`. */
static void add_model_notes(const ft_engine *engine, json_t *notes)
{
    uint32_t unvalued = ft_run_unvalued(engine->run);
    if (ft_engine_looks_wider(engine))
        add_note(notes, "long-trace", FT_NO_EVENT, 1,
                 "a long trace: what the model observed refutes, maximal looks at for some seconds "
                 "only; with --model maximal it takes the time that it needs");
    if (!engine->spec.model_given && engine->trace->hook && unvalued != FT_NO_EVENT)
        add_note(
            notes, "no-values", unvalued, 1,
            "not every value is in the recording: the model is observed, and schedules in which "
            "a read sees another write are not looked at");
}

static json_t *plan_notes(const ft_engine *engine)
{
    const ft_trace *trace = engine->trace;
    bool told = engine->spec.checks[FT_CHECK_FAILURE];
    json_t *notes = notes_json(trace, told ? ft_trace_failure(trace) : NULL);
    if (trace->broken != FT_NO_EVENT)
        add_note(notes, "broken-trace", trace->broken, 1, trace->broken_text);
    add_model_notes(engine, notes);
    if (engine->candidates->ignored_events)
        add_note(notes, "ignored-locations", FT_NO_EVENT, engine->candidates->ignored_events,
                 "candidates at locations that the job ignores were left out");
    return notes;
}

/* For contracts: each candidate is a subproblem or in the count of one record. */
static bool counts_each_once(const plan_pass *pass)
{
    const ft_engine *engine = pass->engine;
    uint64_t left[FT_CHECKS];
    memcpy(left, pass->candidates, sizeof left);
    for (size_t i = 0; i < engine->subproblems.len; i++)
        left[engine->candidates->groups.data[engine->subproblems.data[i]].check]--;
    size_t i;
    const json_t *record;
    json_array_foreach(pass->records, i, record)
    {
        ft_check check;
        if (!ft_check_parse(json_string_value(json_object_get(record, "check")), &check))
            return false;
        left[check] -= (uint64_t)json_integer_value(json_object_get(record, "count"));
    }
    for (int check = 0; check < FT_CHECKS; check++)
        if (left[check]) return false;
    return true;
}

ft_status ft_engine_plan(ft_engine *engine, json_t **plan, ft_error *err)
{
    ft_status status = ft_engine_prepare(engine, err);
    if (status != FT_OK) return status;
    plan_pass pass = {.engine = engine, .records = json_array()};
    refuted_records(&pass);
    overflow_records(&pass);
    FT_CHECK(counts_each_once(&pass));
    json_t *counts = json_object();
    for (int check = 0; check < FT_CHECKS; check++)
        if (engine->spec.checks[check] || pass.candidates[check])
            json_object_set_new(counts, ft_check_name((ft_check)check),
                                json_integer((json_int_t)pass.candidates[check]));
    *plan = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "model",
                      ft_model_name(engine->problem.model), "notes", plan_notes(engine),
                      "candidates", counts, "records", pass.records, "subproblems",
                      subproblem_list(engine), "statistics", ft_engine_statistics(engine));
    if (*plan) return FT_OK;
    return ft_error_set(err, FT_INTERNAL, "the plan has text that is not UTF-8");
}

/* ---- subproblems ---- */

ft_status ft_engine_solve(ft_engine *engine, uint32_t subproblem, const char *key, json_t **record,
                          ft_error *err)
{
    return ft_engine_solve_part(engine, subproblem, key, &(ft_engine_part){.cube = NULL}, record,
                                err);
}

static json_t *solve_part(ft_engine *engine, const ft_group *group, const ft_engine_part *part,
                          const ft_cube *cube)
{
    engine->problem.cube = part->cube ? cube : NULL;
    if (part->cube) { /* what was learned of the other cubes leads the search astray */
        ft_analyses_close(engine->analyses, FT_ANALYSIS_ORDER_BASE);
        ft_analyses_close(engine->analyses, FT_ANALYSIS_Z3_BASE);
    }
    engine->split_ms = part->cube ? 0 : part->split_ms; /* a cube is not split */
    json_t *record = ft_engine_solve_group(engine, group);
    engine->problem.cube = NULL;
    engine->split_ms = 0;
    return record;
}

ft_status ft_engine_solve_part(ft_engine *engine, uint32_t subproblem, const char *key,
                               const ft_engine_part *part, json_t **record, ft_error *err)
{
    FT_REQUIRE(part && record);
    ft_cube cube = {.count = 0};
    ft_status status = ft_engine_prepare(engine, err);
    if (status == FT_OK && part->cube) status = ft_cube_read(engine->trace, part->cube, &cube, err);
    if (status != FT_OK) return status;
    if (subproblem >= engine->subproblems.len)
        return ft_error_set(err, FT_INTERNAL, "the plan has no subproblem %u", subproblem);
    const ft_group *group = &engine->candidates->groups.data[engine->subproblems.data[subproblem]];
    char *own = ft_record_key(&engine->context, group);
    bool same = !key || strcmp(key, own) == 0;
    if (!same)
        status = ft_error_set(err, FT_INTERNAL, "subproblem %u is `%.200s' here, not `%.200s'",
                              subproblem, own, key);
    free(own);
    if (!same) return status;
    json_t *made = solve_part(engine, group, part, &cube);
    status = ft_session_trusted(err);
    if (status != FT_OK) {
        json_decref(made);
        return status;
    }
    *record = made;
    if (made) return FT_OK;
    return ft_error_set(err, FT_INTERNAL, "the record has text that is not UTF-8");
}

ft_status ft_engine_decide(ft_engine *engine, const ft_claim *claim, ft_verdict *verdict,
                           ft_reason *reason, ft_witness *witness, ft_error *err)
{
    (void)err;
    FT_REQUIRE(claim && verdict && reason);
    engine->problem.causality = NULL;
    if (claim->kind == FT_CLAIM_CONDITION && engine->problem.slice) {
        /* The condition may be none of the job's. */
        ft_analyses_close(engine->analyses, FT_ANALYSIS_ORDER_BASE);
        ft_analyses_close(engine->analyses, FT_ANALYSIS_Z3_BASE);
        ft_analyses_close(engine->analyses, FT_ANALYSIS_DOMAINS);
        engine->problem.slice = NULL;
    }
    ft_witness found = {0};
    ft_reading reading = {0};
    ft_decide_stats stats = {0};
    ft_judgement o = ft_engine_solve_claim(engine, claim, ft_now_ms() + engine->spec.subproblem_ms,
                                           &found, &reading, &stats);
    *verdict = o.verdict;
    *reason = o.reason;
    ft_reading_release(&reading);
    if (witness && o.verdict == FT_VERDICT_VIOLATION)
        *witness = found;
    else
        ft_witness_release(&found);
    return FT_OK;
}
