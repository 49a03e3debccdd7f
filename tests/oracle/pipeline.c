#include "oracle/pipeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "verdict/checker.h"

#define HASH "0000000000000000000000000000000000000000000000000000000000000000"

typedef struct reader {
    ft_trace *trace;
    ft_checker *checker;
    ft_pipeline *out;
    ft_strbuf *why;
} reader;

static bool wrong(reader *r, const char *what, const char *detail)
{
    ft_strbuf_printf(r->why, "%s: %s\n", what, detail ? detail : "?");
    return false;
}

static bool is_text(const json_t *value, const char *text)
{
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

/* Under control a finding is a possible one, whatever else it is; under the others never. */
static bool status_fits(const json_t *record, bool *observed)
{
    const json_t *status = json_object_get(record, "status");
    bool control = is_text(json_object_get(record, "model"), "control");
    *observed = is_text(status, "observed");
    return *observed || is_text(status, control ? "possible" : "predicted");
}

static bool read_witness(reader *r, ft_check check, uint32_t property, const json_t *record)
{
    ft_witness witness = {0};
    ft_error err = FT_ERROR_INIT;
    const json_t *json = json_object_get(record, "witness"),
                 *bound = json_object_get(record, "bound");
    ft_finding finding = {.check = check, .property = property};
    if (!status_fits(record, &finding.observed)) return wrong(r, "record", "not its status");
    if (!json_is_object(json)) return wrong(r, "violation", "without a witness");
    if (ft_witness_from_json(json, r->trace, &witness, &err) != FT_OK)
        return wrong(r, "witness unreadable", err.message);
    bool accepted = ft_checker_check(r->checker, &witness, NULL, &err) == FT_OK;
    finding.claim = witness.claim;
    finding.switches = ft_witness_switches(r->trace, &witness);
    finding.bound = json_is_integer(bound) ? (uint32_t)json_integer_value(bound) : FT_NO_BOUND;
    ft_vec_push(&r->out->violations, finding);
    ft_witness_release(&witness);
    if (!accepted) return wrong(r, "witness refused", err.message);
    return finding.switches <= finding.bound ||
           wrong(r, "witness", "more context switches than its record's bound");
}

static bool read_record(reader *r, const json_t *record)
{
    ft_check check;
    ft_verdict verdict;
    const char *check_name = json_string_value(json_object_get(record, "check"));
    const char *verdict_name = json_string_value(json_object_get(record, "verdict"));
    if (!check_name || !ft_check_parse(check_name, &check)) return wrong(r, "record", "no check");
    if (!verdict_name || !ft_verdict_parse(verdict_name, &verdict))
        return wrong(r, "record", "no verdict");
    json_int_t count = json_integer_value(json_object_get(record, "count"));
    if (count <= 0) return wrong(r, "record", "count is not positive");
    r->out->count[check][verdict] += (uint64_t)count;
    uint32_t property = FT_ORACLE_NO_PROPERTY;
    if (check == FT_CHECK_PROPERTY) {
        property = (uint32_t)json_integer_value(json_object_get(record, "property"));
        if (property >= FT_PIPELINE_PROPERTIES) return wrong(r, "record", "no such property");
        r->out->property[property][verdict] = true;
    }
    const json_t *pass = json_object_get(json_object_get(record, "reason"), "pass");
    if (verdict == FT_VERDICT_UNKNOWN && (is_text(pass, ft_reason_name(FT_REASON_BUDGET)) ||
                                          is_text(pass, ft_reason_name(FT_REASON_BEYOND_SOLVER))))
        r->out->timeouts[check] += (uint64_t)count;
    if (verdict == FT_VERDICT_UNKNOWN && is_text(pass, ft_reason_name(FT_REASON_UNKNOWN_VALUE)))
        r->out->open[check] += (uint64_t)count;
    if (verdict == FT_VERDICT_ERROR)
        return wrong(r, "error",
                     json_string_value(json_object_get(json_object_get(record, "reason"), "text")));
    if (verdict != FT_VERDICT_VIOLATION)
        return json_object_get(record, "witness") ? wrong(r, "record", "a witness of nothing")
                                                  : true;
    return read_witness(r, check, property, record);
}

static bool read_records(reader *r, const json_t *plan)
{
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(plan, "records"), i,
                       record) if (!read_record(r, record)) return false;
    return true;
}

static bool solve_all(reader *r, ft_engine *engine, const json_t *plan)
{
    size_t i;
    json_t *subproblem;
    json_array_foreach(json_object_get(plan, "subproblems"), i, subproblem)
    {
        json_t *record = NULL;
        ft_error err = FT_ERROR_INIT;
        uint32_t number = (uint32_t)json_integer_value(json_object_get(subproblem, "subproblem"));
        const char *key = json_string_value(json_object_get(subproblem, "key"));
        if (number != i) return wrong(r, "plan", "subproblems are not numbered in order");
        if (ft_engine_solve(engine, number, key, &record, &err) != FT_OK)
            return wrong(r, "solve", err.message);
        bool ok = read_record(r, record);
        json_decref(record);
        if (!ok) return false;
    }
    return true;
}

static bool counts_add_up(reader *r, const json_t *plan)
{
    for (int c = 0; c < FT_CHECKS; c++) {
        uint64_t sum = 0;
        const json_t *planned =
            json_object_get(json_object_get(plan, "candidates"), ft_check_name((ft_check)c));
        r->out->candidates[c] = (uint64_t)json_integer_value(planned);
        for (int v = 0; v < FT_VERDICTS; v++) sum += r->out->count[c][v];
        if (sum == r->out->candidates[c]) continue;
        ft_strbuf_printf(r->why, "%s: %" PRIu64 " candidates, %" PRIu64 " answered\n",
                         ft_check_name((ft_check)c), r->out->candidates[c], sum);
        return false;
    }
    return true;
}

static bool run(ft_trace *trace, const json_t *spec, bool as_long, ft_pipeline *out, ft_strbuf *why)
{
    *out = (ft_pipeline){0};
    ft_engine *engine = NULL;
    json_t *plan = NULL;
    ft_error err = FT_ERROR_INIT;
    reader r = {trace, ft_checker_new(trace), out, why};
    bool ok, opened = ft_engine_new(trace, HASH, spec, &engine, &err) == FT_OK;
    if (opened && as_long) ft_engine_take_for_long(engine);
    if (!opened)
        ok = wrong(&r, "job", err.message);
    else if (ft_engine_plan(engine, &plan, &err) != FT_OK)
        ok = wrong(&r, "plan", err.message);
    else
        ok = read_records(&r, plan) && solve_all(&r, engine, plan) && counts_add_up(&r, plan);
    json_decref(plan);
    ft_engine_free(engine);
    ft_checker_free(r.checker);
    return ok;
}

bool ft_pipeline_run(ft_trace *trace, const json_t *spec, ft_pipeline *out, ft_strbuf *why)
{
    return run(trace, spec, false, out, why);
}

bool ft_pipeline_run_long(ft_trace *trace, const json_t *spec, ft_pipeline *out, ft_strbuf *why)
{
    return run(trace, spec, true, out, why);
}

void ft_pipeline_release(ft_pipeline *pipeline)
{
    ft_vec_release(&pipeline->violations);
}

/* ---- the job ---- */

static json_t *location(const ft_trace *trace, uint32_t loc)
{
    return json_string(ft_trace_location_text(trace, loc));
}

static json_t *property_json(const ft_trace *trace, const ft_oracle_property *p)
{
    ft_scope scope = ft_trace_scope(trace);
    ft_strbuf term = {0};
    json_t *json = NULL;
    switch (p->kind) {
    case FT_ORACLE_ASSERTION_AT:
        ft_term_print(trace->terms, p->condition, &scope, &term);
        json = json_pack("{s:s, s:s}", "kind", "assertion", "term", ft_strbuf_text(&term));
        if (p->event == FT_NO_EVENT)
            json_object_set_new(json, "location", location(trace, p->from));
        else
            json_object_set_new(json, "event", json_integer((json_int_t)p->event + 1));
        break;
    case FT_ORACLE_CO_ENABLED_AT:
        json = json_pack("{s:s, s:[o, o]}", "kind", "co-enabled", "locations",
                         location(trace, p->from), location(trace, p->to));
        break;
    case FT_ORACLE_BEFORE_AT:
        json = json_pack("{s:s, s:o, s:o}", "kind", "before", "first", location(trace, p->from),
                         "then", location(trace, p->to));
        break;
    case FT_ORACLE_TRANSACTION_AT:
        json = json_pack("{s:s, s:o, s:o}", "kind", "transaction", "from", location(trace, p->from),
                         "to", location(trace, p->to));
        break;
    }
    ft_strbuf_release(&term);
    return json;
}

static json_t *bound_json(const char *text)
{
    if (!text) return json_null();
    if (strcmp(text, "auto") == 0) return json_string(text);
    return json_integer(strtoll(text, NULL, 10));
}

json_t *ft_pipeline_spec(const ft_trace *trace, const ft_oracle_job *job,
                         const ft_pipeline_options *options)
{
    json_t *checks = json_array(), *properties = json_array();
    for (int c = 0; c < FT_CHECK_PROPERTY; c++)
        if (job->checks[c]) json_array_append_new(checks, json_string(ft_check_name((ft_check)c)));
    for (uint32_t i = 0; i < job->n_properties; i++)
        json_array_append_new(properties, property_json(trace, &job->properties[i]));
    json_t *spec = json_pack(
        "{s:o, s:o, s:s, s:s, s:s, s:s, s:o}", "checks", checks, "properties", properties, "model",
        ft_model_name(job->model), "per", options->per, "encoding", options->encoding, "wakeups",
        ft_wakeups_name(job->wakeups), "context_bound", bound_json(options->bound));
    if (options->solver) json_object_set_new(spec, "solver", json_string(options->solver));
    if (options->subproblem_ms)
        json_object_set_new(
            spec, "budget",
            json_pack("{s:I}", "subproblem_ms", (json_int_t)options->subproblem_ms));
    return spec;
}
