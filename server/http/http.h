/* An HTTP/1.1 server on libuv and llhttp: TCP and Unix socket listeners, keep-alive, pipelining in
 * order, streamed and decoded request bodies with back-pressure, deferred and streamed answers.
 *
 * Framing is stricter than llhttp's: every line ends in CRLF, folded headers, empty or malformed
 * header names, a missing, double or malformed Host, and transfer codings other than chunked are
 * refused (RFC 9112 §2.2, §3.2, §5, §6.1). http/guard.h finds the end of each message independently
 * of llhttp: if the two disagree, the connection ends with a 400.
 *
 * All functions are for the loop's thread. The process ignores SIGPIPE.
 *
 * A request's life: `request` is called when its head is complete. The handler owes it exactly one
 * answer (ft_http_reply, ft_http_problem..., or ft_http_reply_start ... ft_http_reply_end), at once
 * or later, also if the client has closed the connection: the answer is then discarded. The request
 * is invalid after its answer, except that texts got from it last until the handler's callback
 * returns.
 *
 * Imports: common/base. */
#ifndef FT_HTTP_HTTP_H
#define FT_HTTP_HTTP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/status.h"

typedef struct ft_http ft_http;
typedef struct ft_http_request ft_http_request;

/* Limits, all with an answer of their own (in brackets). */
typedef struct ft_http_limits {
    uint32_t connections;  /* served at once [503]; a new one takes the place of one that stalls */
    uint32_t target_bytes; /* request line [414] */
    uint32_t header_bytes; /* request line, headers, trailers [431] */
    uint32_t headers;      /* fields of one request [431] */
    uint32_t header_ms;    /* from a request's first byte to the end of its head [408] */
    uint32_t idle_ms;      /* without a byte: in a body [408], else the connection is closed */
    uint32_t linger_ms;    /* wait for a client to take in an error before its connection goes */
    uint32_t body_rate;    /* least bytes a second of a body, past its first minute [408] */
} ft_http_limits;

extern const ft_http_limits ft_http_default_limits;

typedef struct ft_http_handler {
    void (*request)(void *context, ft_http_request *request);
    void *context;
} ft_http_handler;

/* ---- Server ---------------------------------------------------------------------------------- */

ft_http *ft_http_new(uv_loop_t *loop, const ft_http_limits *limits, ft_http_handler handler);

/* FT_IO with the reason. *port is the one bound (port 0: any). */
ft_status ft_http_listen_tcp(ft_http *http, const char *address, int port, int *bound,
                             ft_error *err) FT_MUST_CHECK;
/* Mode 0600. A stale socket file is replaced. FT_CONFLICT: another process listens on it. */
ft_status ft_http_listen_unix(ft_http *http, const char *path, ft_error *err) FT_MUST_CHECK;

/* Stops listening, ends idle connections, tells the handlers of deferred requests that their
 * client is gone (they should answer at once), lets answers flow for up to grace_ms, ends the rest,
 * frees the server once the handlers have answered every request, then calls closed(data). */
void ft_http_close(ft_http *http, uint32_t grace_ms, void (*closed)(void *data), void *data);

/* Upper bounds of the latency buckets in milliseconds; the last one has none. */
#define FT_HTTP_BUCKETS 10
extern const uint32_t ft_http_bucket_ms[FT_HTTP_BUCKETS - 1];

/* Counters since start. */
typedef struct ft_http_stats {
    uint64_t connections, refused, displaced, requests;
    uint64_t bytes_in, bytes_out;
    uint64_t unsent;                               /* bytes of answers that clients do not take */
    uint32_t open;                                 /* connections now */
    uint64_t by_status[600];                       /* answers */
    uint64_t latency[FT_HTTP_BUCKETS], latency_ms; /* from the head to the end of the answer */
} ft_http_stats;
const ft_http_stats *ft_http_statistics(const ft_http *http);

/* Raises the process's limit of open files as far as it may; returns how many connections it then
 * has room for, at most `wanted`, with `reserve` files left for everything else. */
uint32_t ft_http_fit_connections(uint32_t wanted, uint32_t reserve);

/* ---- Request --------------------------------------------------------------------------------- */

const char *ft_http_method(const ft_http_request *request); /* "GET" for HEAD too: see is_head */
bool ft_http_is_head(const ft_http_request *request);
/* Its number among the requests since start, from 1, for log lines. */
uint64_t ft_http_number(const ft_http_request *request);
/* The path, percent-decoded; "*" for OPTIONS *. Neither NUL nor an encoded slash is in it. */
const char *ft_http_path(const ft_http_request *request);
/* A query parameter, decoded; NULL when it is not there. The first one wins. */
const char *ft_http_query(ft_http_request *request, const char *name);
/* A header by its lower-case name, several joined by ", "; NULL when it is not there. */
const char *ft_http_header(ft_http_request *request, const char *name);
/* True if the request announces a body (which may still turn out empty). */
bool ft_http_has_body(const ft_http_request *request);
/* The address of the client without its port, "unix" over a socket file, "" when it is gone. */
void ft_http_peer(const ft_http_request *request, char peer[64]);
/* A copy of the bytes that lives as long as the request; NULL before. The second forgets the first.
 */
void ft_http_keep(ft_http_request *request, const void *bytes, size_t length);
const void *ft_http_kept(const ft_http_request *request);
/* A pointer of the caller's; NULL before. */
void ft_http_set_user(ft_http_request *request, void *user);
void *ft_http_user(const ft_http_request *request);
/* Whether Accept-Encoding lets the answer be sent with this coding ("gzip", "zstd"). */
bool ft_http_accepts_coding(ft_http_request *request, const char *coding);
/* Space for the router's path parameters. */
#define FT_HTTP_PARAMS 4
const char *ft_http_param(const ft_http_request *request, unsigned index);
void ft_http_set_param(ft_http_request *request, unsigned index, const char *text, size_t length);

/* Called when the client has closed its side, or the server is closing, while an answer is owed. A
 * handler that only waits should answer at once. At most once, never after the answer. */
void ft_http_on_gone(ft_http_request *request, void (*gone)(void *data), void *data);

/* ---- Request body ---------------------------------------------------------------------------- */

/* The sink of a body. After `data` calls either `end` comes (the handler owes the answer from then
 * on) or `abort` (the body was cut, corrupt, too long or too slow: the server answers itself, the
 * handler frees its things and does not touch the request again). A handler that answers from
 * within `data` gets neither. */
typedef struct ft_http_sink {
    void (*data)(void *context, ft_http_request *request, const void *bytes, size_t length);
    void (*end)(void *context, ft_http_request *request);
    void (*abort)(void *context);
    void *context;
} ft_http_sink;

typedef struct ft_http_body_limits {
    uint64_t sent;    /* bytes as sent [413] */
    uint64_t decoded; /* bytes after Content-Encoding [413] */
} ft_http_body_limits;

/* Takes the body, decoded (gzip, zstd; other codings were answered 415 and false is returned: the
 * request is then over). A body that no handler takes is discarded. Only within `request`. */
bool ft_http_take_body(ft_http_request *request, ft_http_body_limits limits, ft_http_sink sink);

/* ---- Answer ---------------------------------------------------------------------------------- */

/* Adds a header to the answer to come. Control characters in the value become '?'. */
void ft_http_set(ft_http_request *request, const char *name, const char *format, ...)
    FT_PRINTF(3, 4);
/* Adds a request header's name, a constant, to Vary; each is there once. */
void ft_http_vary(ft_http_request *request, const char *name);
/* RFC 9110 §13.1.1: true if If-Match does not have the ETag that was set (a weak one is never
 * matched); 412 was then answered. Answers with status 200 are checked without this. */
bool ft_http_refuse_unmatched(ft_http_request *request);
/* Answers; the body is copied. type may be NULL when there is no body. A text or JSON body of some
 * size is sent as zstd or gzip when the client takes that and no Content-Encoding was set; its ETag
 * is then a weak one. */
void ft_http_reply(ft_http_request *request, int status, const char *type, const void *body,
                   size_t length);
/* Answers with a JSON document; steals the reference. */
void ft_http_reply_json(ft_http_request *request, int status, json_t *body);

/* RFC 9457 problem+json. */
typedef struct ft_http_problem {
    int status;
    const char *code;      /* short stable word */
    const char *detail;    /* one sentence */
    const char *pointer;   /* RFC 6901, into the JSON body; NULL: none */
    const ft_error *place; /* its line, column and offset; NULL: none */
} ft_http_problem;
void ft_http_reply_problem(ft_http_request *request, const ft_http_problem *problem);
void ft_http_fail(ft_http_request *request, int status, const char *code, const char *format, ...)
    FT_PRINTF(4, 5);
void ft_http_fail_error(ft_http_request *request, const ft_error *err); /* status by its code */

/* Streamed answers. length UINT64_MAX: not known, sent chunked. Each ft_http_reply_data must wait
 * for the `drained` of the one before; ok is false when the client is gone (end the answer then).
 */
typedef void (*ft_http_drained)(void *data, ft_http_request *request, bool ok);
void ft_http_reply_start(ft_http_request *request, int status, const char *type, uint64_t length);
void ft_http_reply_data(ft_http_request *request, const void *bytes, size_t length,
                        ft_http_drained drained, void *data);
/* whole: false cuts the connection so that the client sees that the answer is not complete. */
void ft_http_reply_end(ft_http_request *request, bool whole);

#endif
