/* Internals of serve.h: serve.c (the loop), answer.c (messages to the server), upload.c (TRACE,
 * INGEST), program.c (INGEST and PLAN of programs) and job.c (PLAN, SOLVE, RECALL, SUMMARIZE).
 *
 * There are two kinds of failure: a status with `err` ends the service, and a request's `problem`
 * is answered with FAILED once its function has returned FT_OK.
 *
 * Every request except RECALL is answered by exactly one message that ends it (ft_wire_ends). */
#ifndef FT_SERVE_INTERNAL_H
#define FT_SERVE_INTERNAL_H

#include <jansson.h>

#include "base/contract.h"
#include "base/digest.h"
#include "base/strbuf.h"
#include "engine/engine.h"
#include "explore/exploring.h"
#include "serve/pulse.h"
#include "wire/wire.h"

typedef struct ft_service {
    int in, out;
    ft_pulse *pulse; /* writes PROGRESS between the answers: its lock is held over each frame */
    ft_wire_decoder decoder;
    ft_trace *trace;                    /* the last one that was loaded, NULL: none */
    struct ft_program *program;         /* likewise; there is one of the two at most */
    char trace_hash[FT_DIGEST_HEX + 1]; /* of either */
    ft_engine *engine;                  /* of `trace`, NULL: none */
    char *engine_key;                   /* its job */
    struct ft_cover_solver *solver;     /* of `program`, NULL: none */
    char *solver_key;                   /* its job and schedule set */
} ft_service;

/* A request, until it is answered. */
typedef struct ft_exchange {
    ft_service *service;
    ft_wire_type type;
    const json_t *body;
    ft_error problem; /* the request cannot be answered: why */
    bool ended;       /* its ending message is sent */
} ft_exchange;

/* Each function reads the rest of its request and answers it, or fills the problem. */
ft_status ft_serve_load(ft_exchange *exchange, ft_error *err);
ft_status ft_serve_ingest(ft_exchange *exchange, ft_error *err);
ft_status ft_serve_ingest_program(ft_exchange *exchange, ft_error *err); /* program.c */
ft_status ft_serve_plan(ft_exchange *exchange, ft_error *err);           /* and EXPLORE */
ft_status ft_serve_solve(ft_exchange *exchange, ft_error *err);
ft_status ft_serve_recall(ft_exchange *exchange, ft_error *err);
ft_status ft_serve_summarize(ft_exchange *exchange, ft_error *err);

/* A member that is text, borrowed. FT_INPUT: it is missing or something else. */
ft_status ft_exchange_text(const ft_exchange *exchange, const char *member, const char **text,
                           ft_error *err);
/* The error of a member that is missing or of the wrong type: FT_INPUT. */
ft_status ft_exchange_broken(const ft_exchange *exchange, const char *member, ft_error *err);

/* ---- upload.c, program.c */
/* The next frame of an upload or artifact: DATA or DATA_END. */
ft_status ft_exchange_data(ft_service *s, ft_wire_frame *frame, ft_error *err);
/* PLAN over a program; EXPLORE. NULL where there is a problem. */
ft_status ft_serve_explore(ft_exchange *exchange, json_t **plan, ft_error *err);
ft_status ft_serve_context(ft_exchange *exchange, json_t **plan, ft_error *err) FT_MUST_CHECK;
ft_status ft_serve_cover(ft_exchange *exchange, json_t **plan, ft_error *err) FT_MUST_CHECK;
/* SOLVE of a job over covering schedules: once, then a task. */
ft_status ft_serve_find_certificates(ft_exchange *exchange, ft_error *err) FT_MUST_CHECK;
ft_status ft_serve_certificate(ft_exchange *exchange, const json_t *task, json_t **record,
                               ft_error *err) FT_MUST_CHECK;
ft_status ft_serve_explore_part(ft_exchange *exchange, json_t **result, ft_error *err);

/* Whether an engine has its key and its trace, and a trace or program its hash. */
bool ft_service_is_sound(const ft_service *s);
void ft_service_forget_engine(ft_service *s); /* or the solver of certificates */
void ft_service_forget_trace(ft_service *s);  /* or the program; and the engine */

/* Takes `answer`, adds the request's token and sends it; an ending message at most once. An answer
 * that is too large for a frame becomes the problem, and nothing of it is sent. */
ft_status ft_answer_with(ft_exchange *exchange, ft_wire_type type, json_t *answer, ft_error *err);
ft_status ft_answer_problem(ft_exchange *exchange, ft_error *err); /* FAILED; there is a problem */

/* A stream of DATA frames, all full but the last. */
typedef struct ft_outlet {
    ft_service *service;
    ft_strbuf pending; /* less than a chunk */
    uint64_t bytes;    /* sent and pending */
    ft_error *err;     /* filled when the stream fails */
} ft_outlet;

/* An ft_sink (trace/reader.h) whose context is an ft_outlet. err: only that the stream failed; the
 * reason is in the outlet's err. */
ft_status ft_outlet_send(void *context, const void *data, size_t length, ft_error *err);
ft_status ft_outlet_flush(ft_outlet *out); /* sends the pending bytes, if there are any */

#endif
