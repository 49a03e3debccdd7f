/* Programs: an upload becomes its binary form; a plan over one explores it. */
#include <inttypes.h>
#include <string.h>

#include "context/plan.h"
#include "cover/plan.h"
#include "serve/internal.h"

/* Programs are read whole: they are small beside traces. */
enum { MOST_BYTES = 64 << 20 };

static ft_status receive(ft_exchange *exchange, ft_strbuf *text, ft_error *err)
{
    for (;;) {
        ft_wire_frame frame;
        ft_status status = ft_exchange_data(exchange->service, &frame, err);
        if (status || frame.type == FT_WIRE_DATA_END) return status;
        if (exchange->problem.code != FT_OK) continue;
        if (text->len + frame.length > MOST_BYTES)
            ft_error_set(&exchange->problem, FT_LIMIT, "a program has %d MiB at most",
                         MOST_BYTES >> 20);
        else
            ft_strbuf_add(text, (const char *)frame.payload, frame.length);
    }
}

static ft_status answer(ft_exchange *exchange, const struct ft_program *program,
                        const ft_strbuf *text, ft_error *err)
{
    ft_digest digest;
    char hash[FT_DIGEST_HEX + 1];
    ft_strbuf binary = {0};
    ft_outlet out = {.service = exchange->service, .err = err};
    ft_digest_init(&digest);
    ft_digest_update(&digest, text->text, text->len);
    ft_digest_hex(&digest, hash);
    ft_explored_write(program, &binary);
    ft_status status = ft_outlet_send(&out, binary.text, binary.len, NULL);
    if (status == FT_OK) status = ft_outlet_flush(&out);
    ft_strbuf_release(&out.pending);
    json_t *meta = ft_explored_meta(program, hash);
    json_object_set_new(meta, "bytes", json_integer((json_int_t)text->len));
    json_object_set_new(meta, "stored_bytes", json_integer((json_int_t)binary.len));
    ft_strbuf_release(&binary);
    if (status == FT_OK)
        return ft_answer_with(exchange, FT_WIRE_INGESTED, json_pack("{s:o}", "meta", meta), err);
    json_decref(meta);
    return status;
}

ft_status ft_serve_ingest_program(ft_exchange *exchange, ft_error *err)
{
    ft_strbuf text = {0};
    struct ft_program *program = NULL;
    ft_status status = receive(exchange, &text, err);
    bool good = status == FT_OK && exchange->problem.code == FT_OK &&
                ft_explored_read(text.text, text.len, &program, &exchange->problem) == FT_OK;
    if (good) status = answer(exchange, program, &text, err);
    if (good) ft_explored_free(program);
    ft_strbuf_release(&text);
    return status;
}

/* ---- exploring ---- */

static void say(void *context, uint64_t runs, uint64_t classes, uint64_t found)
{
    ft_pulse_say(context, "%" PRIu64 " runs, %" PRIu64 " classes, %" PRIu64 " found", runs, classes,
                 found);
}

/* Is the request's program the one that is loaded? */
static ft_status find_program(ft_exchange *exchange, bool *found, ft_error *err)
{
    const char *hash;
    const ft_service *s = exchange->service;
    ft_status status = ft_exchange_text(exchange, "trace", &hash, err);
    if (status) return status;
    *found = s->program && strcmp(hash, s->trace_hash) == 0;
    if (!*found)
        ft_error_set(&exchange->problem, s->trace ? FT_USAGE : FT_CONFLICT,
                     s->trace ? "%.16s... is a trace, not a program"
                              : "program %.16s... is not loaded: send it first",
                     hash);
    return FT_OK;
}

static uint32_t number_of(const ft_exchange *exchange, const char *member)
{
    json_int_t n = json_integer_value(json_object_get(exchange->body, member));
    return n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

static ft_exploring_share share_of(const ft_exchange *exchange)
{
    return (ft_exploring_share){.soft_ms = number_of(exchange, "soft_ms"),
                                .parts = number_of(exchange, "parts")};
}

ft_status ft_serve_explore(ft_exchange *exchange, json_t **plan, ft_error *err)
{
    bool found = false;
    ft_service *s = exchange->service;
    ft_status status = find_program(exchange, &found, err);
    if (status || !found) return status;
    ft_exploring_progress progress = {say, s->pulse};
    if (ft_exploring_plan(s->program, json_object_get(exchange->body, "spec"), share_of(exchange),
                          &progress, plan, &exchange->problem) != FT_OK)
        *plan = NULL;
    return FT_OK;
}

/* A question that is answered as a whole, by a plan without subproblems. */
static ft_status answer_question(ft_exchange *exchange,
                                 ft_status (*ask)(const struct ft_program *program,
                                                  const json_t *spec, json_t **plan, ft_error *err),
                                 json_t **plan, ft_error *err)
{
    bool found = false;
    ft_service *s = exchange->service;
    ft_status status = find_program(exchange, &found, err);
    if (status || !found) return status;
    const json_t *spec = json_object_get(exchange->body, "spec");
    if (ask(s->program, spec, plan, &exchange->problem) != FT_OK) *plan = NULL;
    return FT_OK;
}

ft_status ft_serve_context(ft_exchange *exchange, json_t **plan, ft_error *err)
{
    return answer_question(exchange, ft_context_plan, plan, err);
}

ft_status ft_serve_cover(ft_exchange *exchange, json_t **plan, ft_error *err)
{
    return answer_question(exchange, ft_cover_plan, plan, err);
}

/* ---- certificates ---- */

/* By the job and what the plan found. On a problem there is no solver. */
ft_status ft_serve_find_certificates(ft_exchange *exchange, ft_error *err)
{
    bool found = false;
    ft_service *s = exchange->service;
    json_t *spec = json_object_get(exchange->body, "spec"),
           *set = json_object_get(exchange->body, "set");
    ft_status status = find_program(exchange, &found, err);
    if (status || !found) return status;
    if (!json_is_object(spec)) return ft_exchange_broken(exchange, "spec", err);
    json_t *both = json_pack("[O, O?]", spec, set);
    char *key = json_dumps(both, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(both);
    if (s->solver && strcmp(key, s->solver_key) == 0) {
        free(key);
        return FT_OK;
    }
    ft_service_forget_engine(s);
    if (ft_cover_solver_new(s->program, spec, json_string_value(set), &s->solver,
                            &exchange->problem) == FT_OK)
        s->solver_key = key;
    else
        free(key);
    return FT_OK;
}

ft_status ft_serve_certificate(ft_exchange *exchange, const json_t *task, json_t **record,
                               ft_error *err)
{
    const char *key = json_string_value(json_object_get(task, "key"));
    if (!key) return ft_exchange_broken(exchange, "tasks.key", err);
    FT_REQUIRE(exchange->service->solver);
    if (ft_cover_solve(exchange->service->solver, key, record, &exchange->problem) != FT_OK)
        ft_service_forget_engine(exchange->service);
    return FT_OK;
}

ft_status ft_serve_explore_part(ft_exchange *exchange, json_t **result, ft_error *err)
{
    bool found = false;
    ft_service *s = exchange->service;
    const json_t *body = exchange->body, *first = json_array_get(json_object_get(body, "tasks"), 0);
    const char *task = json_string_value(json_object_get(first, "subtree"));
    ft_status status = find_program(exchange, &found, err);
    if (status || !found) return status;
    if (!task) return ft_exchange_broken(exchange, "tasks.subtree", err);
    ft_exploring_progress progress = {say, s->pulse};
    if (ft_exploring_part(s->program, json_object_get(body, "spec"),
                          json_object_get(body, "explored"), task, share_of(exchange), &progress,
                          result, &exchange->problem) != FT_OK)
        *result = NULL;
    return FT_OK;
}
