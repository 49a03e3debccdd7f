/* Answers that go on: server-sent events (WHATWG HTML, "Server-sent events").
 *
 * A stream asks for news when it was woken, at most once in its pace, and never while its client
 * has not taken in what it was sent before: what happens meanwhile is not queued, the next question
 * finds it in the store. A silent stream sends a comment now and then, so that both ends learn when
 * the other is gone. */
#ifndef FT_API_STREAM_H
#define FT_API_STREAM_H

#include "api/internal.h"

typedef struct ft_stream ft_stream;

/* What a kind of stream does. `ask` is called with the stream woken; it must lead to exactly one
 * ft_stream_answer or ft_stream_fail, then or later. `left` is called once when the stream is over:
 * it takes it out of wherever it is waited with. `freed` comes later, perhaps after the end of the
 * api, and releases the memory. */
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
    bool ending;                /* with what is being sent, or at once */
    uint64_t asked;             /* loop time */
    ft_stream *previous, *next; /* of api->streams */
};

/* Takes the request over and asks for the first time; what embeds the stream must be ready. With
 * too many streams open the request is answered 503 and the stream is over at once. */
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
