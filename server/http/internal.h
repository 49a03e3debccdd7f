/* Private to server/http: servers, connections, requests. */
#ifndef FT_HTTP_INTERNAL_H
#define FT_HTTP_INTERNAL_H

#include <llhttp.h>

#include "base/contract.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "http/decode.h"
#include "http/guard.h"
#include "http/http.h"

#define FT_HTTP_BUFFER (64u << 10) /* input of a connection */
#define FT_HTTP_DISCARD                                                                            \
    (64u << 10) /* an unwanted body is read up to this, else the connection is closed */
#define FT_HTTP_LISTENERS 2
#define FT_HTTP_VARY      2
#define FT_HTTP_SCRATCH   (256u << 10) /* kept for the next answer */

typedef struct ft_connection ft_connection;
typedef struct ft_listener ft_listener;

/* ---- Requests -------------------------------------------------------------------------------- */

typedef struct ft_http_field {
    char *name, *value; /* name in lower case */
} ft_http_field;

typedef enum ft_body_state {
    FT_BODY_NONE,  /* no handler has taken it: discarded */
    FT_BODY_TAKEN, /* goes to the sink */
    FT_BODY_ENDED  /* the sink's end or abort was called */
} ft_body_state;

struct ft_http_request {
    ft_http *http;
    ft_connection *connection; /* NULL: closed; then the handler's response frees the request */
    ft_arena *arena;           /* texts of the head */
    /* head */
    char *method, *target, *path, *query;
    bool head, keep_alive, http_1_0, expects, chunked;
    bool if_match;              /* has the header */
    uint64_t content_length;    /* 0 without one */
    ft_strbuf url, name, value; /* being read */
    FT_VEC(ft_http_field) fields;
    char *params[FT_HTTP_PARAMS];
    void *kept, *user; /* the handler's */
    uint64_t number;   /* of the server's requests */
    uint64_t began;    /* loop time of the complete head */
    /* body */
    ft_body_state body;
    ft_http_sink sink;
    ft_http_body_limits limits;
    ft_decoder *decoder;
    uint64_t sent, decoded;
    /* answer */
    ft_strbuf headers;
    const char *vary[FT_HTTP_VARY];
    bool dispatched; /* the handler has it */
    bool started, answered, streaming, chunked_out, close;
    int in_callback; /* inside a handler's callback: freed afterwards */
    void (*gone)(void *data);
    void *gone_data;
    ft_http_request *previous, *next; /* of the server's list */
};

ft_http_request *ft_request_new(ft_connection *connection);
/* Frees it once it is answered, has no connection and no callback of its handler runs. */
void ft_request_settle(ft_http_request *request);
/* After a callback of the handler (in_callback was raised before): may free the request. */
void ft_request_leave(ft_http_request *request);
void ft_request_tell_gone(ft_http_request *request);
/* Ends a taken body without its end: abort to the sink. */
void ft_request_abort_body(ft_http_request *request);

/* Percent-decodes in place; false: malformed, or NUL (or slash, when not in a query) in it. */
bool ft_http_unescape(char *text, bool query);

/* encode.c: the body in a coding that the client takes; sets its headers. False: as it is. */
bool ft_http_encode(ft_http_request *request, const char *type, const void *body, size_t length,
                    ft_strbuf *packed);

/* Connections beyond the limit that get a 503 at the same time; further ones wait in the backlog.
 */
#define FT_HTTP_TURNED_AWAY 64
#define FT_HTTP_STALLED_MS  250 /* time without a byte after which a connection may be displaced */

/* ---- Connections ----------------------------------------------------------------------------- */

typedef enum ft_phase {
    FT_PHASE_IDLE,   /* waits for the first byte of a request */
    FT_PHASE_HEAD,   /* reads a head */
    FT_PHASE_BODY,   /* reads a body; the response may be out already */
    FT_PHASE_ANSWER, /* the request is read; waits for the rest of the response */
    FT_PHASE_LINGER, /* the last response is out; lets the client read it */
    FT_PHASE_CLOSED
} ft_phase;
#define FT_PHASES (FT_PHASE_CLOSED + 1)

struct ft_connection {
    ft_http *http;
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } io;
    bool pipe;
    uv_timer_t timer;
    unsigned handles; /* not closed yet */
    ft_phase phase;
    bool reading, eof, pumping, last; /* last: no request after this one */
    bool head_complete, message_complete, continued;
    llhttp_t parser;
    ft_guard guard;
    ft_http_request *request;
    /* NULL, or FT_HTTP_BUFFER bytes: parsed | scanned by the guard | read. Lent by the server while
     * there is something in it. */
    char *in;
    size_t in_pos, in_scanned, in_len;
    const char *span; /* body bytes (in `in`) that the sink has not had yet */
    size_t span_len;
    bool span_pushed; /* the decoder has it */
    size_t writing;   /* bytes handed to libuv and not written yet */
    uint64_t body_began;
    uint64_t moved;    /* loop time of the last byte, in or out */
    size_t queue_seen; /* by the write timeout */
    bool yielded;      /* goes on at the loop's next turn */
    ft_phase armed;    /* the phase that the timer runs for */
    ft_http_drained drained;
    void *drained_data;
    ft_connection *previous, *next;
};

/* The invariant, in constant time: buffer positions in order and within the buffer, body bytes only
 * for a request, a request in every phase that serves one. */
bool ft_connection_is_sound(const ft_connection *connection);
/* Changes the phase; the change must be one of the table in connection.c. */
void ft_connection_enter(ft_connection *connection, ft_phase phase);
void ft_connection_accept(ft_listener *listener);
/* Takes every step that is possible now. To be called after each event that may allow one. */
void ft_connection_pump(ft_connection *connection);
void ft_connection_close(ft_connection *connection);
/* Takes ownership of data. Then pumps when it is written. */
void ft_connection_write(ft_connection *connection, char *data, size_t length);
/* Sends the caller's bytes; the part that the kernel does not take at once is copied. */
void ft_connection_send(ft_connection *connection, const char *data, size_t length);
/* Calls the `drained` of the streamed answer, if one waits for it. */
void ft_connection_drained(ft_connection *connection, bool ok);
/* After the current request's answer, which is complete now. */
void ft_connection_answered(ft_connection *connection);
/* Refuses the current request: aborts its body, answers, closes afterwards. */
void ft_connection_refuse(ft_connection *connection, const ft_http_problem *problem);

/* parse.c: the next bytes through guard and llhttp; false: the request was refused. */
void ft_parser_begin(ft_connection *connection);
bool ft_parser_feed(ft_connection *connection);
/* body.c: hands `span` on; false: nothing more can be done now. */
bool ft_body_deliver(ft_connection *connection);
bool ft_body_finish(ft_connection *connection);

/* ---- Servers --------------------------------------------------------------------------------- */

struct ft_listener {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } io;
    ft_http *http;
    bool pipe, open;
    bool waits; /* a connection stays in the backlog: there are too many */
    char *path; /* of a Unix socket: unlinked at the end */
};

struct ft_http {
    uv_loop_t *loop;
    ft_http_limits limits;
    ft_http_handler handler;
    ft_http_stats stats;
    ft_listener listeners[FT_HTTP_LISTENERS];
    unsigned listening;
    ft_connection *connections;
    ft_http_request *requests; /* not freed yet */
    ft_strbuf scratch;         /* an answer on its way out */
    char *spare;               /* an unused input buffer; NULL: none */
    char date[40];
    int64_t date_second;
    bool closing, timer_open;
    unsigned handles; /* listeners and grace timer that are not closed yet */
    uv_timer_t grace;
    void (*closed)(void *data);
    void *closed_data;
};

const char *ft_http_date(ft_http *http); /* now, as a Date header has it */
/* When closing: ends and frees the server once nothing is left of it. */
void ft_http_settle(ft_http *http);

#endif
