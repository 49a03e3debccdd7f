#include "oracle/compare_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "verdict/checker.h"

#define HASH "0000000000000000000000000000000000000000000000000000000000000000"
/* Of one claim by the literal encoding: a claim that takes longer is a timeout, and counted. */
#define LITERAL_MS 2000

static const ft_pipeline_options EVENTS = {.per = "event", .encoding = "default"};

static void describe_claim(const ft_claim *claim, ft_strbuf *out)
{
    ft_strbuf_printf(out, "%s", ft_claim_kind_name(claim->kind));
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        ft_strbuf_printf(out, " %u", claim->events[i] + 1);
    if (claim->kind == FT_CLAIM_ATOMICITY)
        ft_strbuf_printf(out, " variable %u %c%c%c", claim->variable, claim->writes[0] ? 'W' : 'R',
                         claim->writes[1] ? 'W' : 'R', claim->writes[2] ? 'W' : 'R');
}

bool ft_compare_differs(subject *s, const char *what, const ft_claim *claim, const char *oracle,
                        const char *engine)
{
    ft_strbuf_printf(s->why, "seed %" PRIu64 ", model %s, wakeups %s, %s: ", s->seed,
                     ft_model_name(s->job.model), ft_wakeups_name(s->job.wakeups), what);
    if (claim) describe_claim(claim, s->why);
    ft_strbuf_printf(s->why, ": oracle %s, engine %s\n", oracle, engine);
    return false;
}

/* ---- per event ---- */

bool ft_compare_found(const ft_pipeline *pipeline, const ft_oracle_answer *answer)
{
    for (size_t i = 0; i < pipeline->violations.len; i++) {
        const ft_finding *finding = &pipeline->violations.data[i];
        if (finding->check == answer->check &&
            ft_oracle_claim_equal(&finding->claim, &answer->claim))
            return true;
    }
    return false;
}

const ft_oracle_answer *ft_compare_answer(const subject *s, const ft_finding *finding)
{
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &s->oracle.answers.data[i];
        if (answer->check == finding->check && answer->property == finding->property &&
            ft_oracle_claim_equal(&answer->claim, &finding->claim))
            return answer;
    }
    return NULL;
}

static bool is_violated(const subject *s, const ft_finding *finding)
{
    const ft_oracle_answer *answer = ft_compare_answer(s, finding);
    return answer && answer->violated;
}

static bool findings_are_violated(subject *s, const char *what, const ft_pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline->violations.len; i++)
        if (!is_violated(s, &pipeline->violations.data[i]))
            return ft_compare_differs(s, what, &pipeline->violations.data[i].claim,
                                      "safe or no candidate", "violation");
    return true;
}

static bool violated_are_found(subject *s, const char *what, const ft_pipeline *pipeline)
{
    uint64_t missing[FT_CHECKS] = {0};
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &s->oracle.answers.data[i];
        if (answer->check != FT_CHECK_PROPERTY && answer->violated &&
            !ft_compare_found(pipeline, answer) &&
            ++missing[answer->check] > pipeline->timeouts[answer->check])
            return ft_compare_differs(s, what, &answer->claim, "violation", "none");
    }
    return true;
}

/* The oracle calls unknown whatever depends on an unknown value; the engine may still prove it
 * safe, from conditions that held in the run. */
static bool verdict_agrees(ft_verdict want, ft_verdict have)
{
    return want == have || (want == FT_VERDICT_UNKNOWN && have == FT_VERDICT_SAFE);
}

static bool tally_agrees(subject *s, const char *what, ft_check check,
                         const uint64_t want[FT_VERDICTS], const ft_pipeline *pipeline)
{
    const uint64_t *have = pipeline->count[check];
    uint64_t late = pipeline->timeouts[check], all = 0, answered = 0;
    for (int v = 0; v < FT_VERDICTS; v++) {
        all += want[v];
        answered += have[v];
    }
    if (all == answered && have[FT_VERDICT_VIOLATION] <= want[FT_VERDICT_VIOLATION] &&
        have[FT_VERDICT_VIOLATION] + late >= want[FT_VERDICT_VIOLATION] &&
        have[FT_VERDICT_SAFE] + late >= want[FT_VERDICT_SAFE] &&
        have[FT_VERDICT_SAFE] <= want[FT_VERDICT_SAFE] + want[FT_VERDICT_UNKNOWN] &&
        have[FT_VERDICT_ERROR] + have[FT_VERDICT_BOUNDED] == 0)
        return true;
    for (int v = 0; v < FT_VERDICTS; v++)
        if (want[v] != have[v])
            ft_strbuf_printf(s->why, "%s %s: oracle %" PRIu64 ", engine %" PRIu64 "\n",
                             ft_check_name(check), ft_verdict_name((ft_verdict)v), want[v],
                             have[v]);
    return ft_compare_differs(s, what, NULL, "the first counts", "the second");
}

static bool counts_agree(subject *s, const char *what, const ft_pipeline *pipeline)
{
    uint64_t want[FT_CHECKS][FT_VERDICTS] = {{0}};
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &s->oracle.answers.data[i];
        want[answer->check][answer->violated  ? FT_VERDICT_VIOLATION
                            : answer->unknown ? FT_VERDICT_UNKNOWN
                                              : FT_VERDICT_SAFE]++;
    }
    for (int c = 0; c < FT_CHECK_PROPERTY; c++)
        if (!tally_agrees(s, what, (ft_check)c, want[c], pipeline)) return false;
    return true;
}

static ft_verdict property_verdict(const ft_oracle_result *oracle, uint32_t property)
{
    ft_verdict verdict = FT_VERDICT_SAFE;
    for (size_t i = 0; i < oracle->answers.len; i++) {
        const ft_oracle_answer *answer = &oracle->answers.data[i];
        if (answer->property != property) continue;
        if (answer->violated) return FT_VERDICT_VIOLATION;
        if (answer->unknown) verdict = FT_VERDICT_UNKNOWN;
    }
    return verdict;
}

static bool properties_agree(subject *s, const char *what, const ft_pipeline *pipeline)
{
    for (uint32_t p = 0; p < s->job.n_properties; p++) {
        const bool *has = pipeline->property[p];
        ft_verdict want = property_verdict(&s->oracle, p);
        ft_verdict have = has[FT_VERDICT_VIOLATION] ? FT_VERDICT_VIOLATION
                          : has[FT_VERDICT_ERROR]   ? FT_VERDICT_ERROR
                          : has[FT_VERDICT_UNKNOWN] ? FT_VERDICT_UNKNOWN
                                                    : FT_VERDICT_SAFE;
        bool late = have == FT_VERDICT_UNKNOWN && pipeline->timeouts[FT_CHECK_PROPERTY];
        if (late || verdict_agrees(want, have)) continue;
        ft_strbuf_printf(s->why, "property %u: ", p);
        return ft_compare_differs(s, what, NULL, ft_verdict_name(want), ft_verdict_name(have));
    }
    return true;
}

bool ft_compare_run(subject *s, const char *what, const ft_pipeline_options *options,
                    ft_pipeline *pipeline)
{
    json_t *spec = ft_pipeline_spec(s->trace, &s->job, options);
    if (s->ignored) json_object_set_new(spec, "ignore_locations", json_pack("[s]", s->ignored));
    bool ok = (options->as_long ? ft_pipeline_run_long : ft_pipeline_run)(s->trace, spec, pipeline,
                                                                          s->why);
    bool literal = strcmp(options->encoding, "literal") == 0;
    bool limited = literal || (options->solver && strcmp(options->solver, "order") == 0);
    bool unborn = ft_oracle_reads_unborn(s->trace);
    json_decref(spec);
    for (int c = 0; c < FT_CHECKS; c++) {
        if (!limited) pipeline->timeouts[c] = 0;
        if (literal && s->stats) s->stats->literal += pipeline->candidates[c];
        if (literal && s->stats) s->stats->literal_timeouts += pipeline->timeouts[c];
        /* A schedule that reads what nobody knows where it does not matter may be missed: the
         * engine looks for one that does, and then for one that reads no such value at all. */
        if (unborn) pipeline->timeouts[c] += pipeline->open[c];
        if (unborn && s->stats) s->stats->open += pipeline->open[c];
    }
    return ok || ft_compare_differs(s, what, NULL, "an answer", "failed as above");
}

static bool events_agree(subject *s, const char *what, const ft_pipeline_options *options)
{
    ft_pipeline pipeline;
    bool ok = ft_compare_run(s, what, options, &pipeline) &&
              findings_are_violated(s, what, &pipeline) && violated_are_found(s, what, &pipeline) &&
              counts_agree(s, what, &pipeline) && properties_agree(s, what, &pipeline);
    ft_pipeline_release(&pipeline);
    return ok;
}

static bool compare_events(subject *s, const char *what, const char *encoding, const char *solver)
{
    ft_pipeline_options options = {.per = "event", .encoding = encoding, .solver = solver};
    if (strcmp(encoding, "literal") == 0) options.subproblem_ms = LITERAL_MS;
    return events_agree(s, what, &options);
}

/* What `observed` refutes is asked of `maximal`: together they say what `maximal` does. */
static bool compare_long(subject *s)
{
    ft_pipeline_options options = {.per = "event", .encoding = "default", .as_long = true};
    return s->job.model != FT_MODEL_MAXIMAL || events_agree(s, "taken for long", &options);
}

/* ---- per location ---- */

typedef struct group_key {
    uint32_t check, kind, loc[FT_ORACLE_THREADS];
    uint32_t alone; /* a claim without location is its own group */
    char word[24];  /* the kind of claims of one check, where it has a name */
} group_key;

/* The kinds of a pair's conflicts, as bits: 1 read-write, 2 write-write. */
static unsigned race_kinds(const ft_trace *trace, uint32_t a, uint32_t b)
{
    ft_access scratch_a, scratch_b;
    uint32_t n_a, n_b;
    const ft_access *list_a = ft_trace_accesses(trace, a, &scratch_a, &n_a);
    const ft_access *list_b = ft_trace_accesses(trace, b, &scratch_b, &n_b);
    unsigned modes_a[FT_ORACLE_SHARED] = {0}, modes_b[FT_ORACLE_SHARED] = {0}, kinds = 0;
    for (uint32_t i = 0; i < n_a; i++) modes_a[list_a[i].variable] |= list_a[i].write ? 2u : 1u;
    for (uint32_t i = 0; i < n_b; i++) modes_b[list_b[i].variable] |= list_b[i].write ? 2u : 1u;
    for (uint32_t v = 0; v < trace->shared.len; v++) {
        if (modes_a[v] & modes_b[v] & 2u)
            kinds |= 2u;
        else if (modes_a[v] && modes_b[v] && ((modes_a[v] | modes_b[v]) & 2u))
            kinds |= 1u;
    }
    return kinds;
}

/* A pair that conflicts in both kinds, on two variables, may be counted under either. */
static bool kinds_are_clear(const subject *s)
{
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        const ft_claim *claim = &s->oracle.answers.data[i].claim;
        if (claim->kind == FT_CLAIM_RACE &&
            race_kinds(s->trace, claim->events[0], claim->events[1]) == 3u)
            return false;
    }
    return true;
}

static void sort_locations(uint32_t *loc, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k > 0 && loc[k - 1] > loc[k]; k--) {
            uint32_t swap = loc[k];
            loc[k] = loc[k - 1];
            loc[k - 1] = swap;
        }
}

static group_key key_of(const ft_trace *trace, const ft_oracle_answer *answer, uint32_t number)
{
    const ft_claim *claim = &answer->claim;
    group_key key = {.check = answer->check};
    snprintf(key.word, sizeof key.word, "%s", ft_oracle_claim_kind(trace, claim));
    uint32_t n = ft_claim_events(claim);
    for (uint32_t i = 0; i < n; i++) {
        key.loc[i] = trace->loc[claim->events[i]];
        if (key.loc[i] == FT_NO_LOC) key.alone = number + 1;
    }
    sort_locations(key.loc, n);
    if (claim->kind == FT_CLAIM_RACE)
        key.kind = race_kinds(trace, claim->events[0], claim->events[1]);
    if (claim->kind == FT_CLAIM_ATOMICITY)
        key.kind = claim->writes[0] * 4u + claim->writes[1] * 2u + claim->writes[2];
    bool by_object = claim->kind == FT_CLAIM_STUCK || claim->kind == FT_CLAIM_LOCK_ERROR;
    if (by_object && trace->kind[claim->events[0]] != FT_EVENT_JOIN)
        key.kind = trace->object[claim->events[0]] + 1; /* none of these traces has a[1] and a[2] */
    return key;
}

typedef struct group {
    group_key key;
    bool violated, unknown;
} group;

static bool compare_locations(subject *s)
{
    FT_VEC(group) groups = {0};
    uint64_t want[FT_CHECKS][FT_VERDICTS] = {{0}};
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &s->oracle.answers.data[i];
        group_key key = key_of(s->trace, answer, (uint32_t)i);
        size_t at = 0;
        while (at < groups.len && memcmp(&groups.data[at].key, &key, sizeof key) != 0) at++;
        if (at == groups.len) ft_vec_push(&groups, ((group){key, false, false}));
        groups.data[at].violated |= answer->violated;
        groups.data[at].unknown |= answer->unknown;
    }
    for (size_t i = 0; i < groups.len; i++)
        want[groups.data[i].key.check][groups.data[i].violated  ? FT_VERDICT_VIOLATION
                                       : groups.data[i].unknown ? FT_VERDICT_UNKNOWN
                                                                : FT_VERDICT_SAFE]++;
    ft_vec_release(&groups);
    ft_pipeline pipeline;
    ft_pipeline_options options = {.per = "location", .encoding = "default"};
    bool ok = ft_compare_run(s, "per location", &options, &pipeline) &&
              findings_are_violated(s, "per location", &pipeline) &&
              properties_agree(s, "per location", &pipeline);
    for (int c = 0; ok && c < FT_CHECK_PROPERTY; c++)
        ok = (c == FT_CHECK_RACE && !kinds_are_clear(s)) ||
             tally_agrees(s, "per location", (ft_check)c, want[c], &pipeline);
    ft_pipeline_release(&pipeline);
    return ok;
}

/* ---- single claims ---- */

static bool decide_agrees(subject *s, ft_engine *engine, ft_checker *checker,
                          const ft_oracle_answer *answer)
{
    ft_verdict verdict = FT_VERDICT_ERROR;
    ft_reason reason;
    ft_witness witness = {0};
    ft_error err = FT_ERROR_INIT;
    if (ft_engine_decide(engine, &answer->claim, &verdict, &reason, &witness, &err) != FT_OK)
        return ft_compare_differs(s, "decide", &answer->claim, "an answer", err.message);
    ft_verdict want = answer->violated  ? FT_VERDICT_VIOLATION
                      : answer->unknown ? FT_VERDICT_UNKNOWN
                                        : FT_VERDICT_SAFE;
    bool checked =
        verdict != FT_VERDICT_VIOLATION || ft_checker_check(checker, &witness, NULL, &err) == FT_OK;
    ft_witness_release(&witness);
    if (!checked) return ft_compare_differs(s, "decide", &answer->claim, "a witness", err.message);
    bool open = reason == FT_REASON_UNKNOWN_VALUE && ft_oracle_reads_unborn(s->trace);
    return verdict_agrees(want, verdict) || (verdict == FT_VERDICT_UNKNOWN && open) ||
           ft_compare_differs(s, "decide", &answer->claim, ft_verdict_name(want),
                              ft_verdict_name(verdict));
}

static bool compare_decide(subject *s)
{
    ft_engine *engine = NULL;
    ft_error err = FT_ERROR_INIT;
    ft_checker *checker = ft_checker_new(s->trace);
    json_t *spec = ft_pipeline_spec(s->trace, &s->job, &EVENTS);
    bool ok = ft_engine_new(s->trace, HASH, spec, &engine, &err) == FT_OK ||
              ft_compare_differs(s, "decide", NULL, "an engine", err.message);
    for (size_t i = 0; ok && i < s->oracle.answers.len; i++)
        ok = decide_agrees(s, engine, checker, &s->oracle.answers.data[i]);
    json_decref(spec);
    ft_engine_free(engine);
    ft_checker_free(checker);
    return ok;
}

/* ---- between models ---- */

static bool compare_inclusion(subject *s, const bool supported[FT_MODELS])
{
    ft_oracle_job wider = s->job;
    ft_oracle_result more;
    bool ok = true;
    int next = (int)s->job.model + 1;
    while (next < FT_MODELS && !supported[next]) next++;
    if (next == FT_MODELS) return true;
    wider.model = (ft_model)next;
    ft_oracle_enumerate(s->trace, &wider, &more);
    for (size_t i = 0; ok && i < s->oracle.answers.len; i++)
        if (s->oracle.answers.data[i].violated && !more.answers.data[i].violated)
            ok = ft_compare_differs(s, "inclusion", &s->oracle.answers.data[i].claim,
                                    "violated here, not in the wider model", "not asked");
    ft_oracle_release(&more);
    return ok;
}

/* ---- another order ---- */

static bool has_failed_assert(const ft_trace *trace)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_ASSERT && (trace->flags[e] & FT_FLAG_FAILED)) return true;
    return false;
}

/* Properties are not asked of the other order; what is a read before initialisation depends on who
 * wrote first in the run. */
static bool depends_on_order(const ft_claim *claim, ft_check check)
{
    return check == FT_CHECK_PROPERTY || claim->kind == FT_CLAIM_UNINITIALISED;
}

static bool same_violations(subject *s, const ft_pipeline *pipeline, const uint32_t *order)
{
    size_t violated = 0, found = 0;
    for (size_t i = 0; i < s->oracle.answers.len; i++)
        violated +=
            s->oracle.answers.data[i].violated &&
            !depends_on_order(&s->oracle.answers.data[i].claim, s->oracle.answers.data[i].check);
    for (size_t i = 0; i < pipeline->violations.len; i++) {
        ft_finding finding = pipeline->violations.data[i];
        if (depends_on_order(&finding.claim, finding.check)) continue;
        found++;
        for (uint32_t k = 0; k < ft_claim_events(&finding.claim); k++)
            finding.claim.events[k] = order[finding.claim.events[k]];
        if (!is_violated(s, &finding))
            return ft_compare_differs(s, "another order", &finding.claim, "safe", "violation");
    }
    return violated == found ||
           ft_compare_differs(s, "another order", NULL, "more violations", "fewer");
}

/* A plain read may be in an arm that the other order does not take: no ctp then. */
static bool supports_ctp(const ft_trace *trace)
{
    bool supported[FT_MODELS];
    ft_model best;
    ft_engine_models(trace, supported, &best);
    return supported[FT_MODEL_CTP];
}

static bool compare_reorder(subject *s)
{
    uint32_t order[FT_ORACLE_EVENTS];
    if (s->job.model != FT_MODEL_CTP || has_failed_assert(s->trace) ||
        !ft_oracle_reorder(s->trace, FT_MODEL_CTP, s->seed, order))
        return true;
    ft_trace *other = ft_oracle_permute(s->trace, order);
    if (!supports_ctp(other)) {
        ft_trace_free(other);
        return true;
    }
    if (s->stats) s->stats->reordered++;
    ft_oracle_job job = s->job;
    job.n_properties = 0;
    json_t *spec = ft_pipeline_spec(other, &job, &EVENTS);
    ft_pipeline pipeline;
    bool ok =
        ft_pipeline_run(other, spec, &pipeline, s->why) && same_violations(s, &pipeline, order);
    if (!ok) {
        char *dump = ft_oracle_dump(other);
        ft_strbuf_printf(s->why, "in the other order:\n%s", dump);
        free(dump);
    }
    json_decref(spec);
    ft_pipeline_release(&pipeline);
    ft_trace_free(other);
    return ok;
}

/* ---- all ---- */

static void add_samples(const subject *s)
{
    ft_comparison_stats *stats = s->stats;
    bool any[FT_CHECKS] = {false}, violated[FT_CHECKS] = {false};
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &s->oracle.answers.data[i];
        any[answer->check] = true;
        violated[answer->check] |= answer->violated;
        stats->claims[answer->claim.kind][answer->violated]++;
        ft_compare_count_claim(s->trace, answer, stats);
    }
    for (int c = 0; c < FT_CHECK_PROPERTY; c++)
        if (any[c]) stats->samples[c][violated[c]]++;
    for (uint32_t p = 0; p < s->job.n_properties; p++)
        stats
            ->samples[FT_CHECK_PROPERTY][property_verdict(&s->oracle, p) == FT_VERDICT_VIOLATION]++;
}

/* Whoever is woken by what woke it in the run is woken by anything, and may wake by itself. A
 * thread that is stuck is the other way round. */
static bool wakeups_are_nested(subject *s, const ft_oracle_result *any)
{
    bool fewer = s->job.wakeups == FT_WAKEUPS_OBSERVED;
    for (size_t i = 0; i < any->answers.len; i++) {
        const ft_oracle_answer *less = fewer ? &s->oracle.answers.data[i] : &any->answers.data[i],
                               *more = fewer ? &any->answers.data[i] : &s->oracle.answers.data[i];
        if (less->claim.kind != FT_CLAIM_STUCK && less->violated && !more->violated)
            return ft_compare_differs(s, "wake-ups", &less->claim, "fewer with more wake-ups",
                                      "not asked");
    }
    return true;
}

/* The other two options of wake-ups, where the trace has a condition. */
static bool compare_wakeups(subject *s)
{
    ft_oracle_result any = s->oracle;
    bool ok = true;
    if (s->trace->conditions.len == 0) return true;
    for (int w = 0; ok && w < FT_WAKEUPS_KINDS; w++) {
        if (w == FT_WAKEUPS_ANY) continue;
        s->job.wakeups = (ft_wakeups)w;
        ft_oracle_enumerate(s->trace, &s->job, &s->oracle);
        ok = wakeups_are_nested(s, &any) && ft_compare_with_checker(s) &&
             compare_events(s, "per event", "default", NULL);
        ft_oracle_release(&s->oracle);
    }
    s->job.wakeups = FT_WAKEUPS_ANY;
    s->oracle = any;
    return ok;
}

/* A property that names its places is asked there all the same. */
static bool is_ignored(const ft_trace *trace, const ft_oracle_answer *answer, uint32_t loc)
{
    const ft_claim *claim = &answer->claim;
    bool asked = answer->check == FT_CHECK_PROPERTY;
    if (claim->kind == FT_CLAIM_CONDITION || claim->kind == FT_CLAIM_BEFORE ||
        (asked && claim->kind == FT_CLAIM_CO_ENABLED))
        return false;
    for (uint32_t i = 0; i < ft_claim_events(claim); i++)
        if (trace->loc[claim->events[i]] == loc) return true;
    return false;
}

/* Without the claims that have an event at some location. */
static bool compare_ignored(subject *s)
{
    ft_oracle_result all = s->oracle;
    uint32_t loc = s->trace->loc[s->seed % s->trace->n_events];
    if (loc == FT_NO_LOC) return true;
    s->oracle = (ft_oracle_result){0};
    for (size_t i = 0; i < all.answers.len; i++)
        if (!is_ignored(s->trace, &all.answers.data[i], loc))
            ft_vec_push(&s->oracle.answers, all.answers.data[i]);
    s->ignored = ft_trace_location_text(s->trace, loc);
    bool ok = compare_events(s, "with a location ignored", "default", NULL);
    s->ignored = NULL;
    ft_oracle_release(&s->oracle);
    s->oracle = all;
    return ok;
}

static bool compare_model(subject *s, unsigned wanted, const bool supported[FT_MODELS])
{
    s->job.switches = (wanted >> FT_COMPARE_CHECKER & 1u) && s->seed % 4 == 0;
    ft_oracle_enumerate(s->trace, &s->job, &s->oracle);
    if (s->stats) add_samples(s);
    bool ok =
        (!(wanted & 1u << FT_COMPARE_CHECKER) || ft_compare_with_checker(s)) &&
        (!(wanted & 1u << FT_COMPARE_EVENTS) || compare_events(s, "per event", "default", NULL)) &&
        (!(wanted & 1u << FT_COMPARE_LONG) || compare_long(s)) &&
        (!(wanted & 1u << FT_COMPARE_LOCATIONS) || compare_locations(s)) &&
        (!(wanted & 1u << FT_COMPARE_LITERAL) || compare_events(s, "literal", "literal", NULL)) &&
        (!(wanted & 1u << FT_COMPARE_SOLVER) ||
         (compare_events(s, "solver z3", "default", "z3") &&
          compare_events(s, "solver order", "default", "order"))) &&
        (!(wanted & 1u << FT_COMPARE_DECIDE) || compare_decide(s)) &&
        (!(wanted & 1u << FT_COMPARE_INCLUSION) || compare_inclusion(s, supported)) &&
        (!(wanted & 1u << FT_COMPARE_REORDER) || compare_reorder(s)) &&
        (!(wanted & 1u << FT_COMPARE_WAKEUPS) || compare_wakeups(s)) &&
        (!(wanted & 1u << FT_COMPARE_BOUND) || ft_compare_bounds(s)) &&
        (!(wanted & 1u << FT_COMPARE_IGNORED) || compare_ignored(s));
    ft_oracle_release(&s->oracle);
    return ok;
}

static bool compare_models(subject *s, unsigned wanted)
{
    bool supported[FT_MODELS], ok = true;
    ft_model best;
    s->job.properties = s->properties;
    for (int c = 0; c < FT_CHECK_PROPERTY; c++) s->job.checks[c] = true;
    ft_engine_models(s->trace, supported, &best);
    for (int m = 0; ok && m < FT_MODELS; m++) {
        if (!supported[m]) continue;
        s->job.model = (ft_model)m;
        ok = compare_model(s, wanted, supported);
    }
    if (!ok) {
        char *dump = ft_oracle_dump(s->trace);
        ft_strbuf_puts(s->why, dump);
        free(dump);
    }
    return ok;
}

bool ft_compare_trace(ft_trace *trace, unsigned wanted, ft_strbuf *why)
{
    subject s = {.trace = trace, .why = why};
    return compare_models(&s, wanted);
}

bool ft_compare_seed(uint64_t seed, unsigned wanted, ft_comparison_stats *stats, ft_strbuf *why)
{
    subject s = {.seed = seed, .trace = ft_generate(seed), .stats = stats, .why = why};
    s.job.n_properties = ft_generate_properties(s.trace, seed, s.properties, FT_COMPARE_PROPERTIES);
    if (stats) stats->traces++;
    for (uint32_t e = 0; stats && e < s.trace->n_events; e++) {
        stats->kinds[s.trace->kind[e]]++;
        stats->blocked[s.trace->kind[e]] += ft_trace_is_blocked(s.trace, e);
    }
    if (stats) ft_compare_count_shapes(s.trace, stats);
    bool ok = compare_models(&s, wanted);
    ft_trace_free(s.trace);
    return ok;
}
