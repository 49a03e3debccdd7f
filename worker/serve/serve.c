#include "serve/serve.h"
#include "cover/plan.h"

#include <stdlib.h>
#include <unistd.h>

#include "serve/internal.h"

ft_status ft_exchange_broken(const ft_exchange *exchange, const char *member, ft_error *err)
{
    return ft_error_set(err, FT_INPUT, "request `%s': member `%s' is missing or of the wrong type",
                        ft_wire_name(exchange->type), member);
}

ft_status ft_exchange_text(const ft_exchange *exchange, const char *member, const char **text,
                           ft_error *err)
{
    FT_REQUIRE(member && text);
    const char *found = json_string_value(json_object_get(exchange->body, member));
    if (!found) return ft_exchange_broken(exchange, member, err);
    *text = found;
    return FT_OK;
}

bool ft_service_is_sound(const ft_service *s)
{
    if (s->engine && (!s->trace || !s->engine_key)) return false;
    if (s->solver && (!s->program || !s->solver_key)) return false;
    if (s->trace && s->program) return false;
    return (s->trace || s->program) == (s->trace_hash[0] != 0);
}

void ft_service_forget_engine(ft_service *s)
{
    ft_engine_free(s->engine);
    free(s->engine_key);
    s->engine = NULL;
    s->engine_key = NULL;
    ft_cover_solver_free(s->solver);
    free(s->solver_key);
    s->solver = NULL;
    s->solver_key = NULL;
}

void ft_service_forget_trace(ft_service *s)
{
    ft_service_forget_engine(s);
    ft_trace_free(s->trace);
    ft_explored_free(s->program);
    s->trace = NULL;
    s->program = NULL;
    s->trace_hash[0] = 0;
}

static const struct {
    ft_wire_type type;
    ft_status (*serve)(ft_exchange *exchange, ft_error *err);
} REQUESTS[] = {
    {FT_WIRE_TRACE, ft_serve_load},    {FT_WIRE_INGEST, ft_serve_ingest},
    {FT_WIRE_PLAN, ft_serve_plan},     {FT_WIRE_SOLVE, ft_serve_solve},
    {FT_WIRE_RECALL, ft_serve_recall}, {FT_WIRE_SUMMARIZE, ft_serve_summarize},
    {FT_WIRE_EXPLORE, ft_serve_plan},
};

static ft_status serve_frame(ft_service *s, const ft_wire_frame *frame, ft_error *err)
{
    enum { COUNT = sizeof REQUESTS / sizeof *REQUESTS };
    size_t row = 0;
    json_t *body;
    while (row < COUNT && REQUESTS[row].type != frame->type) row++;
    if (row == COUNT)
        return ft_error_set(err, FT_INPUT, "the message `%s' is not a request",
                            ft_wire_name(frame->type));
    ft_status status = ft_wire_json(frame, &body, err);
    if (status) return status;
    ft_exchange exchange = {
        .service = s, .type = frame->type, .body = body, .problem = FT_ERROR_INIT};
    assert(ft_service_is_sound(s));
    ft_pulse_begin(s->pulse, ft_wire_name(frame->type));
    status = REQUESTS[row].serve(&exchange, err);
    ft_pulse_end(s->pulse);
    if (status == FT_OK && exchange.problem.code != FT_OK)
        status = ft_answer_problem(&exchange, err);
    assert(status || exchange.ended != (frame->type == FT_WIRE_RECALL));
    assert(ft_service_is_sound(s));
    json_decref(body);
    return status;
}

static ft_status say_hello(ft_service *s, ft_error *err)
{
    json_t *hello = json_pack("{s:i,s:s,s:i,s:b}", "protocol", FT_WIRE_PROTOCOL, "version",
                              FT_VERSION, "pid", (int)getpid(), "heartbeats", s->pulse != NULL);
    ft_status status = ft_wire_write_json(s->out, FT_WIRE_HELLO, hello, err);
    json_decref(hello);
    return status;
}

ft_status ft_worker_serve(int in, int out, ft_error *err)
{
    FT_REQUIRE(in >= 0 && out >= 0);
    ft_service s = {.in = in, .out = out, .pulse = ft_pulse_new(out)};
    bool eof = false;
    ft_status status = say_hello(&s, err);
    while (status == FT_OK) {
        ft_wire_frame frame;
        status = ft_wire_read(in, &s.decoder, &frame, &eof, err);
        if (status || eof) break;
        status = serve_frame(&s, &frame, err);
    }
    ft_pulse_free(s.pulse);
    ft_service_forget_trace(&s);
    ft_wire_decoder_release(&s.decoder);
    return status;
}
