#include "api/stream.h"

#include <stdlib.h>
#include <string.h>

#define RETRY_MS 2000 /* for a client to come back after a cut */

static void on_closed(uv_handle_t *handle)
{
    ft_stream *stream = handle->data;
    stream->kind->freed(stream);
}

/* No request or write is under way: only the end of the response is still due. */
static ft_http_request *let_go(ft_stream *stream)
{
    ft_api *api = stream->api;
    if (stream->next) stream->next->previous = stream->previous;
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        api->streams = stream->next;
    assert(api->stream_count > 0 && !stream->asking && !stream->draining);
    api->stream_count--;
    stream->kind->left(stream);
    ft_http_on_gone(stream->request, NULL, NULL);
    uv_close((uv_handle_t *)&stream->timer, on_closed);
    return stream->request;
}

static void finish(ft_stream *stream)
{
    ft_http_request *request = let_go(stream);
    if (stream->started)
        ft_http_reply_end(request, true);
    else
        ft_http_fail(request, 503, "shutting-down", "the server is stopping");
}

static void step(ft_stream *stream);

static void end(ft_stream *stream)
{
    if (uv_is_closing((uv_handle_t *)&stream->timer)) return;
    stream->ending = true;
    if (!stream->asking && !stream->draining) finish(stream);
}

static void on_gone(void *data)
{
    end(data);
}

static void on_drained(void *data, ft_http_request *request, bool ok)
{
    (void)request;
    ft_stream *stream = data;
    assert(stream->draining);
    stream->draining = false;
    if (!ok || stream->ending) {
        finish(stream);
        return;
    }
    step(stream);
}

static void start(ft_stream *stream)
{
    ft_http_request *request = stream->request;
    stream->started = true;
    ft_http_set(request, "Cache-Control", "no-store");
    ft_http_set(request, "X-Accel-Buffering", "no"); /* else nginx buffers the events */
    ft_http_reply_start(request, 200, "text/event-stream; charset=utf-8", UINT64_MAX);
    if (ft_http_is_head(request)) stream->ending = true;
}

/* Takes the text. The stream may be gone afterwards. */
static void send_text(ft_stream *stream, ft_strbuf *text)
{
    ft_strbuf taken = *text;
    *text = (ft_strbuf){0};
    assert(stream->started && !stream->draining && taken.len > 0); /* one write at a time */
    stream->draining = true;
    ft_http_reply_data(stream->request, taken.text, taken.len, on_drained, stream);
    ft_strbuf_release(&taken);
}

static void on_timer(uv_timer_t *timer)
{
    ft_stream *stream = timer->data;
    if (stream->asking || stream->draining) return;
    if (stream->dirty) {
        step(stream);
        return;
    }
    ft_strbuf beat = {0};
    ft_strbuf_puts(&beat, ":\n\n");
    send_text(stream, &beat);
}

/* Asks for events if it is time to; else starts the timer that will. */
static void step(ft_stream *stream)
{
    if (stream->asking || stream->draining) return;
    uint64_t now = uv_now(stream->api->app->loop), pace = stream->kind->pace_ms;
    uint64_t since = now - stream->asked;
    if (!stream->dirty) {
        uv_timer_start(&stream->timer, on_timer, stream->api->app->config->heartbeat_ms, 0);
    } else if (stream->asked && since < pace) {
        uv_timer_start(&stream->timer, on_timer, pace - since, 0);
    } else {
        stream->dirty = false;
        stream->asking = true;
        stream->asked = now ? now : 1;
        stream->kind->ask(stream);
    }
}

void ft_stream_wake(ft_stream *stream)
{
    stream->dirty = true;
    if (!uv_is_closing((uv_handle_t *)&stream->timer)) step(stream);
}

void ft_stream_answer(ft_stream *stream, ft_strbuf *events, bool last, bool more)
{
    ft_strbuf text = {0};
    assert(stream->asking && !stream->draining);
    stream->asking = false;
    if (stream->ending) {
        ft_strbuf_release(events);
        finish(stream);
        return;
    }
    if (!stream->started) {
        start(stream);
        ft_strbuf_printf(&text, "retry: %d\n\n", RETRY_MS);
    }
    if (events->len) ft_strbuf_add(&text, ft_strbuf_text(events), events->len);
    ft_strbuf_release(events);
    if (last) stream->ending = true;
    if (more) {
        stream->dirty = true;
        stream->asked = 0;
    }
    if (text.len)
        send_text(stream, &text);
    else if (stream->ending)
        finish(stream);
    else
        step(stream);
}

void ft_stream_fail(ft_stream *stream, const ft_error *err)
{
    assert(stream->asking);
    stream->asking = false;
    if (stream->started || stream->ending)
        finish(stream);
    else
        ft_http_fail_error(let_go(stream), err);
}

void ft_stream_open(ft_stream *stream, const ft_stream_kind *kind, ft_api *api,
                    ft_http_request *request)
{
    *stream = (ft_stream){.kind = kind, .api = api, .request = request};
    if (api->closing || api->stream_count >= api->app->config->max_streams) {
        kind->left(stream);
        kind->freed(stream);
        ft_http_set(request, "Retry-After", "5");
        ft_http_fail(request, 503, "too-many-streams",
                     "%u event streams are open, the most that max-streams allows: try again later",
                     api->stream_count);
        return;
    }
    stream->next = api->streams;
    if (stream->next) stream->next->previous = stream;
    api->streams = stream;
    api->stream_count++;
    assert(api->stream_count <= api->app->config->max_streams);
    uv_timer_init(api->app->loop, &stream->timer);
    stream->timer.data = stream;
    ft_http_on_gone(request, on_gone, stream);
    ft_stream_wake(stream);
}

void ft_streams_end(ft_api *api, bool (*ends)(ft_http_request *request))
{
    for (ft_stream *stream = api->streams, *next; stream; stream = next) {
        next = stream->next;
        if (ends(stream->request)) end(stream);
    }
}

void ft_stream_event(ft_strbuf *out, const char *name, const char *id, const json_t *data)
{
    char *text = json_dumps(data, JSON_COMPACT);
    ft_strbuf_printf(out, "event: %s\n", name);
    if (id) ft_strbuf_printf(out, "id: %s\n", id);
    ft_strbuf_printf(out, "data: %s\n\n", text);
    free(text);
}
