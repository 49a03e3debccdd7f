#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "engine/intervals_view.h"
#include "engine/summary.h"
#include "serve/internal.h"
#include "wire/kinds.h"

/* Is the request's trace the one that is loaded? */
static bool has_trace(ft_exchange *exchange, const char *hash)
{
    const ft_service *s = exchange->service;
    if (s->trace && strcmp(hash, s->trace_hash) == 0) return true;
    if (s->program && strcmp(hash, s->trace_hash) == 0) {
        ft_error_set(&exchange->problem, FT_USAGE,
                     "%.16s... is a program: name it as \"program\" of the job, not as \"trace\"",
                     hash);
        return false;
    }
    ft_error_set(&exchange->problem, FT_CONFLICT, "trace %s is not loaded: send it first", hash);
    return false;
}

/* Makes the engine for the request's trace and job the service's, unless it is already. On a
 * problem there is none. */
static ft_status find_engine(ft_exchange *exchange, ft_error *err)
{
    const char *hash;
    ft_service *s = exchange->service;
    const json_t *spec = json_object_get(exchange->body, "spec");
    ft_status status = ft_exchange_text(exchange, "trace", &hash, err);
    if (status) return status;
    if (!json_is_object(spec)) return ft_exchange_broken(exchange, "spec", err);
    if (!has_trace(exchange, hash)) return FT_OK;
    char *key = json_dumps(spec, JSON_SORT_KEYS | JSON_COMPACT);
    if (s->engine && strcmp(key, s->engine_key) == 0) {
        free(key);
        return FT_OK;
    }
    ft_service_forget_engine(s);
    assert(s->trace && key);
    if (ft_engine_new(s->trace, s->trace_hash, spec, &s->engine, &exchange->problem) == FT_OK)
        s->engine_key = key;
    else
        free(key);
    return FT_OK;
}

/* ---- plans ---- */

static int put_plan(const char *text, size_t length, void *data)
{
    ft_outlet *out = data;
    if (out->bytes + length > FT_WIRE_MAX_PLAN) {
        out->bytes += length;
        return -1;
    }
    return ft_outlet_send(out, text, length, NULL) == FT_OK ? 0 : -1;
}

/* *bytes beyond FT_WIRE_MAX_PLAN: the plan was not sent to its end. */
static ft_status send_plan(ft_service *s, const json_t *plan, uint64_t *bytes, ft_error *err)
{
    ft_outlet out = {.service = s, .err = err};
    ft_status status = FT_OK;
    int failed = json_dump_callback(plan, put_plan, &out, JSON_COMPACT);
    if (!failed) status = ft_outlet_flush(&out);
    if (failed && out.bytes <= FT_WIRE_MAX_PLAN)
        status = ft_error_set(err, FT_INTERNAL, "the plan cannot be sent");
    *bytes = out.bytes;
    ft_strbuf_release(&out.pending);
    return status;
}

static ft_status predict(ft_exchange *exchange, json_t **plan, ft_error *err)
{
    ft_service *s = exchange->service;
    ft_status status = find_engine(exchange, err);
    if (status || exchange->problem.code != FT_OK) return status;
    assert(s->engine);
    if (ft_engine_plan(s->engine, plan, &exchange->problem) != FT_OK) {
        ft_service_forget_engine(s);
        *plan = NULL;
    }
    return FT_OK;
}

/* By kind of job. Each leaves *plan NULL where there is a problem. */
static ft_status (*const PLANNERS[FT_JOB_KINDS])(ft_exchange *exchange, json_t **plan,
                                                 ft_error *err) = {
    [FT_JOB_KIND_PREDICT] = predict,
    [FT_JOB_KIND_EXPLORE] = ft_serve_explore,
    [FT_JOB_KIND_CONTEXT] = ft_serve_context,
    [FT_JOB_KIND_COVER] = ft_serve_cover,
};

ft_status ft_serve_plan(ft_exchange *exchange, ft_error *err)
{
    json_t *plan = NULL;
    ft_service *s = exchange->service;
    ft_job_kind kind = ft_job_kind_of(json_object_get(exchange->body, "spec"));
    ft_status status = exchange->type == FT_WIRE_EXPLORE
                           ? ft_serve_explore_part(exchange, &plan, err)
                           : PLANNERS[kind](exchange, &plan, err);
    if (status || !plan) return status;
    size_t subproblems = json_array_size(json_object_get(plan, "subproblems"));
    uint64_t bytes = 0;
    status = send_plan(s, plan, &bytes, err);
    json_decref(plan);
    if (status) return status;
    if (bytes <= FT_WIRE_MAX_PLAN)
        return ft_answer_with(exchange, FT_WIRE_PLANNED,
                              json_pack("{s:I}", "bytes", (json_int_t)bytes), err);
    ft_service_forget_engine(s);
    ft_error_set(&exchange->problem, FT_LIMIT,
                 "the plan is too large: the job has %zu subproblems, which take more than %u MiB; "
                 "select fewer checks, choose by location, or use a shorter trace",
                 subproblems, FT_WIRE_MAX_PLAN >> 20);
    return FT_OK;
}

/* ---- subproblems ---- */

static ft_status predict_task(ft_exchange *exchange, const json_t *task, json_t **record,
                              ft_error *err)
{
    ft_service *s = exchange->service;
    json_t *number = json_object_get(task, "subproblem");
    const char *key = json_string_value(json_object_get(task, "key"));
    json_int_t subproblem = json_integer_value(number);
    FT_REQUIRE(s->engine);
    if (!json_is_integer(number) || subproblem < 0 || subproblem > (json_int_t)UINT32_MAX)
        return ft_exchange_broken(exchange, "tasks.subproblem", err);
    const json_t *split = json_object_get(exchange->body, "split_ms");
    const ft_engine_part part = {.cube = json_object_get(task, "cube"),
                                 .split_ms = (uint32_t)json_integer_value(split)};
    if (ft_engine_solve_part(s->engine, (uint32_t)subproblem, key, &part, record,
                             &exchange->problem) != FT_OK)
        ft_service_forget_engine(s);
    return FT_OK;
}

/* By kind of job; NULL: its plans have no subproblems that are asked one by one. `find` makes ready
 * for a request's tasks. Each leaves a problem where it fails, `solve` else the record. */
static const struct {
    ft_status (*find)(ft_exchange *exchange, ft_error *err);
    ft_status (*solve)(ft_exchange *exchange, const json_t *task, json_t **record, ft_error *err);
} SOLVERS[FT_JOB_KINDS] = {
    [FT_JOB_KIND_PREDICT] = {find_engine, predict_task},
    [FT_JOB_KIND_COVER] = {ft_serve_find_certificates, ft_serve_certificate},
};

static ft_status solve_task(ft_exchange *exchange, const json_t *task, ft_error *err)
{
    json_t *record = NULL, *id = json_object_get(task, "task");
    ft_job_kind kind = ft_job_kind_of(json_object_get(exchange->body, "spec"));
    if (!id) return ft_exchange_broken(exchange, "tasks.task", err);
    ft_status status = SOLVERS[kind].solve(exchange, task, &record, err);
    if (status || exchange->problem.code != FT_OK) return status;
    return ft_answer_with(exchange, FT_WIRE_VERDICT,
                          json_pack("{s:O,s:o}", "task", id, "record", record), err);
}

static bool is_readable(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, 0) > 0;
}

/* Takes a frame that has arrived already, without waiting for one. */
static ft_status take_frame(ft_service *s, ft_wire_frame *frame, bool *have, ft_error *err)
{
    bool eof = false;
    ft_status status = ft_wire_decoder_next(&s->decoder, frame, have, err);
    if (status || *have || !is_readable(s->in)) return status;
    status = ft_wire_read(s->in, &s->decoder, frame, &eof, err);
    if (status == FT_OK && eof)
        status = ft_error_set(err, FT_IO, "the server closed the connection");
    *have = status == FT_OK;
    return status;
}

/* Lowers *keep to what the RECALLs leave that have arrived since the last call. */
static ft_status hear_recalls(ft_exchange *exchange, size_t *keep, ft_error *err)
{
    ft_wire_frame frame;
    json_t *recall;
    FT_REQUIRE(!exchange->ended);
    for (;;) {
        bool have = false;
        ft_status status = take_frame(exchange->service, &frame, &have, err);
        if (status || !have) return status;
        if (frame.type != FT_WIRE_RECALL)
            return ft_error_set(err, FT_INPUT, "`%s' in the middle of a request",
                                ft_wire_name(frame.type));
        status = ft_wire_json(&frame, &recall, err);
        if (status) return status;
        json_int_t kept = json_integer_value(json_object_get(recall, "keep"));
        bool ours =
            json_equal(json_object_get(recall, "token"), json_object_get(exchange->body, "token"));
        if (ours && kept >= 0 && (size_t)kept < *keep) *keep = (size_t)kept;
        json_decref(recall);
    }
}

static ft_status solve_tasks(ft_exchange *exchange, const json_t *tasks, ft_error *err)
{
    size_t keep = json_array_size(tasks);
    for (size_t i = 0; i < keep; i++) {
        ft_pulse_say(exchange->service->pulse, "task %zu of %zu", i + 1, keep);
        ft_status status = solve_task(exchange, json_array_get(tasks, i), err);
        if (status == FT_OK && exchange->problem.code == FT_OK)
            status = hear_recalls(exchange, &keep, err);
        if (status || exchange->problem.code != FT_OK) return status;
    }
    return FT_OK;
}

ft_status ft_serve_solve(ft_exchange *exchange, ft_error *err)
{
    const json_t *tasks = json_object_get(exchange->body, "tasks");
    ft_job_kind kind = ft_job_kind_of(json_object_get(exchange->body, "spec"));
    if (!SOLVERS[kind].find) return ft_exchange_broken(exchange, "spec", err);
    ft_status status = SOLVERS[kind].find(exchange, err);
    if (status || exchange->problem.code != FT_OK) return status;
    if (!json_is_array(tasks)) return ft_exchange_broken(exchange, "tasks", err);
    status = solve_tasks(exchange, tasks, err);
    if (status || exchange->problem.code != FT_OK) return status;
    return ft_answer_with(exchange, FT_WIRE_SOLVED, json_object(), err);
}

/* A RECALL that arrives here crossed with the end of its request: ignored. */
ft_status ft_serve_recall(ft_exchange *exchange, ft_error *err)
{
    (void)exchange;
    (void)err;
    return FT_OK;
}

/* ---- summaries ---- */

ft_status ft_serve_summarize(ft_exchange *exchange, ft_error *err)
{
    const char *hash;
    ft_status status = ft_exchange_text(exchange, "trace", &hash, err);
    if (status || !has_trace(exchange, hash)) return status;
    const json_t *of = json_object_get(exchange->body, "of");
    bool intervals = json_is_string(of) && strcmp(json_string_value(of), "intervals") == 0;
    json_t *made = intervals ? ft_intervals_view(exchange->service->trace)
                             : ft_summary_new(exchange->service->trace);
    return ft_answer_with(exchange, FT_WIRE_SUMMARIZED, json_pack("{s:o}", "summary", made), err);
}
