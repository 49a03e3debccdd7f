/* Event streams: server-sent events (WHATWG HTML, "Server-sent events").
 *
 * A woken stream asks for news, at most once in pace_ms, and only when its client has taken all
 * earlier events. Later events are not queued: the next request to the store finds them. A silent
 * stream sends a comment at intervals, so that each end notices when the other is gone. */
#ifndef FT_API_STREAM_H
#define FT_API_STREAM_H

#include "api/internal.h"

typedef struct ft_stream ft_stream;

/* A kind of stream. `ask` must lead to exactly one ft_stream_answer or ft_stream_fail, at once or
 * later. `left` is called once when the stream is over, to remove it from the structures of its
 * kind. `freed` is called after that, perhaps after the end of the api, to release the memory. */
typedef struct ft_stream_kind {
    void (*ask)(ft_stream *stream);
    void (*left)(ft_stream *stream);
    void (*freed)(ft_stream *stream);
    uint32_t pace_ms;
} ft_stream_kind;

/* Embedded: ft_stream_open. */
struct ft_stream {
    const ft_stream_kind *kind;
    ft_api *api;
    ft_http_request *request;
    uv_timer_t timer;
    bool started;               /* the head of the answer is out */
    bool dirty;                 /* woken since it last asked */
    bool asking, draining;      /* waits for the store, for the client */
    bool ending;                /* after the current write or request, or at once */
    uint64_t asked;             /* loop time */
    ft_stream *previous, *next; /* of api->streams */
};

/* Takes the request over and asks for the first time; the embedding structure must be ready. With
 * too many open streams the request gets a 503, and the stream is over at once. */
void ft_stream_open(ft_stream *stream, const ft_stream_kind *kind, ft_api *api,
                    ft_http_request *request);
void ft_stream_wake(ft_stream *stream);
/* `events` (may be empty) goes to the client, its text is taken; `last` ends the stream with it;
 * `more`: asks again as soon as they are sent. */
void ft_stream_answer(ft_stream *stream, ft_strbuf *events, bool last, bool more);
/* A problem if nothing was sent yet, else the stream is cut. */
void ft_stream_fail(ft_stream *stream, const ft_error *err);
/* Ends every stream that `ends` says true of. */
void ft_streams_end(ft_api *api, bool (*ends)(ft_http_request *request));

/* One event: its name, its data on one line; id may be NULL. */
void ft_stream_event(ft_strbuf *out, const char *name, const char *id, const json_t *data);

#endif
