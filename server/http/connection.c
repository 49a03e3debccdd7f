/* Connections: reading, writing, timing, closing, and the order of these (step). */
#include <stdlib.h>
#include <string.h>

#include "http/internal.h"

typedef struct write_request {
    uv_write_t write;
    ft_connection *connection;
    char *data;
    size_t length;
} write_request;

#define RATE_GRACE_MS 60000 /* a body may be slow in its first minute */

/* ---- Phases ---------------------------------------------------------------------------------- */

#define TO(phase) (1u << FT_PHASE_##phase)

/* HEAD to IDLE: a refused head. HEAD and BODY to ANSWER: the message has ended. */
static const unsigned NEXT[FT_PHASES] = {
    [FT_PHASE_IDLE] = TO(IDLE) | TO(HEAD) | TO(ANSWER) | TO(LINGER) | TO(CLOSED),
    [FT_PHASE_HEAD] = TO(BODY) | TO(ANSWER) | TO(IDLE) | TO(CLOSED),
    [FT_PHASE_BODY] = TO(ANSWER) | TO(IDLE) | TO(CLOSED),
    [FT_PHASE_ANSWER] = TO(ANSWER) | TO(IDLE) | TO(CLOSED),
    [FT_PHASE_LINGER] = TO(CLOSED),
    [FT_PHASE_CLOSED] = 0,
};
#undef TO

void ft_connection_enter(ft_connection *connection, ft_phase phase)
{
    FT_REQUIRE(phase < FT_PHASES);
    assert(NEXT[connection->phase] & 1u << phase);
    connection->phase = phase;
}

static bool input_is_sound(const ft_connection *c)
{
    if (!c->in) return c->in_len == 0 && c->in_pos == 0 && c->span_len == 0;
    if (c->in_pos > c->in_scanned || c->in_scanned > c->in_len || c->in_len > FT_HTTP_BUFFER)
        return false;
    return c->span_len == 0 || (c->span >= c->in && c->span + c->span_len <= c->in + c->in_len);
}

bool ft_connection_is_sound(const ft_connection *c)
{
    bool serves =
        c->phase == FT_PHASE_HEAD || c->phase == FT_PHASE_BODY || c->phase == FT_PHASE_ANSWER;
    if (c->request && c->request->connection != c) return false;
    if (!c->request && (serves || c->span_len > 0 || c->drained)) return false;
    return input_is_sound(c) && (!c->span_pushed || c->span_len > 0);
}

/* ---- Closing --------------------------------------------------------------------------------- */

static void give_buffer_back(ft_connection *connection)
{
    ft_http *http = connection->http;
    if (http->spare)
        free(connection->in);
    else
        http->spare = connection->in;
    connection->in = NULL;
}

static void on_handle_closed(uv_handle_t *handle)
{
    ft_connection *connection = handle->data;
    assert(connection->handles > 0 && connection->phase == FT_PHASE_CLOSED);
    if (--connection->handles) return;
    ft_http *http = connection->http;
    assert(!connection->request && connection->writing == 0 && http->stats.open > 0);
    if (connection->next) connection->next->previous = connection->previous;
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        http->connections = connection->next;
    http->stats.open--;
    give_buffer_back(connection);
    free(connection);
    for (unsigned i = 0; i < http->listening; i++)
        if (http->listeners[i].waits && !http->closing) ft_connection_accept(&http->listeners[i]);
    ft_http_settle(http);
}

void ft_connection_drained(ft_connection *connection, bool ok)
{
    ft_http_drained drained = connection->drained;
    if (!drained) return;
    connection->drained = NULL;
    ft_http_request *request = connection->request;
    assert(request && request->streaming);
    request->in_callback++;
    drained(connection->drained_data, request, ok);
    ft_request_leave(request);
}

/* The request goes on without its connection until its handler answers. */
static void let_go(ft_connection *connection)
{
    ft_http_request *request = connection->request;
    if (!request) return;
    request->in_callback++;
    ft_connection_drained(connection, false);
    connection->request = NULL;
    request->connection = NULL;
    if (request->body == FT_BODY_TAKEN) {
        ft_request_abort_body(request);
        request->answered = true;
    }
    ft_request_tell_gone(request);
    ft_request_leave(request);
}

void ft_connection_close(ft_connection *connection)
{
    if (connection->phase == FT_PHASE_CLOSED) return;
    ft_connection_enter(connection, FT_PHASE_CLOSED);
    uv_close(&connection->io.handle, on_handle_closed);
    uv_close((uv_handle_t *)&connection->timer, on_handle_closed);
    let_go(connection);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void on_written(uv_write_t *write, int status)
{
    write_request *done = (write_request *)write;
    ft_connection *connection = done->connection;
    assert(connection->writing >= done->length);
    assert(connection->http->stats.unsent >= done->length);
    connection->writing -= done->length;
    connection->http->stats.unsent -= done->length;
    connection->moved = uv_now(connection->http->loop);
    if (status == 0) connection->http->stats.bytes_out += done->length;
    free(done->data);
    free(done);
    if (connection->phase == FT_PHASE_CLOSED) return;
    if (status != 0) {
        ft_connection_close(connection);
        return;
    }
    if (connection->writing == 0) ft_connection_drained(connection, true);
    ft_connection_pump(connection);
}

void ft_connection_write(ft_connection *connection, char *data, size_t length)
{
    write_request *write = ft_calloc(1, sizeof *write);
    *write = (write_request){.connection = connection, .data = data, .length = length};
    uv_buf_t buffer = uv_buf_init(data, (unsigned)length);
    if (connection->phase == FT_PHASE_CLOSED ||
        uv_write(&write->write, &connection->io.stream, &buffer, 1, on_written) != 0) {
        free(data);
        free(write);
        return;
    }
    connection->writing += length;
    connection->http->stats.unsent += length;
}

void ft_connection_send(ft_connection *connection, const char *data, size_t length)
{
    int sent = 0;
    if (connection->phase != FT_PHASE_CLOSED && connection->writing == 0) {
        uv_buf_t buffer = uv_buf_init((char *)(uintptr_t)data, (unsigned)length);
        sent = uv_try_write(&connection->io.stream, &buffer, 1);
        /* An error shows again, and is dealt with, when the rest is written. */
        if (sent < 0) sent = 0;
        connection->http->stats.bytes_out += (uint64_t)sent;
    }
    size_t left = length - (size_t)sent;
    if (left == 0) return;
    char *rest = ft_alloc(left);
    memcpy(rest, data + sent, left);
    ft_connection_write(connection, rest, left);
}

void ft_connection_answered(ft_connection *connection)
{
    ft_connection_pump(connection);
}

void ft_connection_refuse(ft_connection *connection, const ft_http_problem *problem)
{
    ft_http_request *request = connection->request;
    FT_REQUIRE(request && problem->status >= 400);
    bool owed_by_handler =
        request->dispatched && request->body != FT_BODY_TAKEN && !request->answered;
    connection->last = true;
    connection->span_len = 0;
    connection->span_pushed = false;
    connection->in_pos = connection->in_scanned = connection->in_len;
    ft_request_abort_body(request);
    if (owed_by_handler) {
        connection->message_complete = true;
        return;
    }
    if (!request->started) ft_http_reply_problem(request, problem);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)suggested;
    ft_connection *connection = handle->data;
    ft_http *http = connection->http;
    if (!connection->in) {
        connection->in = http->spare ? http->spare : ft_alloc(FT_HTTP_BUFFER);
        http->spare = NULL;
    }
    assert(connection->in_len < FT_HTTP_BUFFER); /* a full buffer is not read into */
    size_t room = FT_HTTP_BUFFER - connection->in_len;
    *buffer = uv_buf_init(connection->in + connection->in_len, (unsigned)room);
}

static void adjust_reading(ft_connection *connection);

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer)
{
    (void)buffer;
    ft_connection *connection = stream->data;
    if (connection->phase == FT_PHASE_CLOSED) return;
    if (got == 0) {
        adjust_reading(connection);
        return;
    }
    if (got < 0 && got != UV_EOF) {
        ft_connection_close(connection);
        return;
    }
    if (got == UV_EOF) {
        connection->eof = true;
        uv_read_stop(stream);
        connection->reading = false;
        if (connection->request && connection->message_complete)
            ft_request_tell_gone(connection->request);
    } else {
        assert((size_t)got <= FT_HTTP_BUFFER - connection->in_len);
        connection->in_len += (size_t)got;
        connection->http->stats.bytes_in += (uint64_t)got;
        connection->moved = uv_now(connection->http->loop);
    }
    ft_connection_pump(connection);
}

static void adjust_reading(ft_connection *connection)
{
    if (connection->phase == FT_PHASE_CLOSED) return;
    if (connection->in_pos == connection->in_len && !connection->span_len) {
        connection->in_pos = connection->in_scanned = connection->in_len = 0;
        if (connection->in) give_buffer_back(connection);
    }
    bool want = !connection->eof && connection->in_len < FT_HTTP_BUFFER;
    if (want == connection->reading) return;
    connection->reading = want;
    if (!want)
        uv_read_stop(&connection->io.stream);
    else if (uv_read_start(&connection->io.stream, on_alloc, on_read) != 0)
        ft_connection_close(connection);
}

/* ---- Time ------------------------------------------------------------------------------------ */

static void time_out_request(ft_connection *connection, const char *detail)
{
    ft_connection_refuse(connection,
                         &(ft_http_problem){408, "request-timeout", detail, NULL, NULL});
    ft_connection_pump(connection);
}

static void on_timer(uv_timer_t *timer)
{
    ft_connection *connection = timer->data;
    if (connection->yielded) {
        ft_connection_pump(connection);
        return;
    }
    size_t queued = uv_stream_get_write_queue_size(&connection->io.stream);
    bool moved = connection->writing && queued != connection->queue_seen;
    connection->queue_seen = queued;
    if (connection->phase == FT_PHASE_CLOSED) return;
    if (moved)
        uv_timer_start(timer, on_timer, connection->http->limits.idle_ms, 0);
    else if (connection->phase == FT_PHASE_HEAD)
        time_out_request(connection, "the headers took too long to arrive");
    else if (connection->phase == FT_PHASE_BODY && !connection->request->started)
        time_out_request(connection, "the body stopped arriving");
    else
        ft_connection_close(connection);
}

static bool too_slow(const ft_connection *connection)
{
    if (connection->phase != FT_PHASE_BODY || connection->request->body != FT_BODY_TAKEN)
        return false;
    uint64_t elapsed = uv_now(connection->http->loop) - connection->body_began;
    return elapsed > RATE_GRACE_MS &&
           connection->request->sent * 1000 < connection->http->limits.body_rate * elapsed;
}

/* How long the current phase may last, 0: without limit. */
static uint64_t patience(const ft_connection *connection)
{
    const ft_http_limits *limits = &connection->http->limits;
    switch (connection->phase) {
    case FT_PHASE_IDLE:
    case FT_PHASE_BODY:
        return limits->idle_ms;
    case FT_PHASE_HEAD:
        return limits->header_ms;
    case FT_PHASE_ANSWER:
        return connection->writing ? limits->idle_ms : 0;
    case FT_PHASE_LINGER:
        return connection->writing ? limits->idle_ms : limits->linger_ms;
    case FT_PHASE_CLOSED:
        return 0;
    }
    return 0;
}

/* A head and a lingering end have one deadline; every other phase may last while bytes flow. */
static void adjust_timer(ft_connection *connection)
{
    ft_phase phase = connection->phase;
    if (connection->yielded && phase != FT_PHASE_CLOSED) {
        connection->armed = FT_PHASE_CLOSED;
        uv_timer_start(&connection->timer, on_timer, 0, 0);
        return;
    }
    bool one_deadline =
        phase == FT_PHASE_HEAD || (phase == FT_PHASE_LINGER && !connection->writing);
    if (phase == FT_PHASE_CLOSED || (one_deadline && phase == connection->armed)) return;
    connection->armed = phase;
    uint64_t wait = patience(connection);
    if (wait)
        uv_timer_start(&connection->timer, on_timer, wait, 0);
    else
        uv_timer_stop(&connection->timer);
}

/* ---- The order of steps ---------------------------------------------------------------------- */

static void dispatch(ft_connection *connection)
{
    ft_http_request *request = connection->request;
    ft_http *http = connection->http;
    assert(!request->dispatched && !request->started && connection->head_complete);
    request->number = ++http->stats.requests;
    request->dispatched = true;
    request->began = uv_now(http->loop);
    request->in_callback++;
    http->handler.request(http->handler.context, request);
    ft_request_leave(request);
    if (connection->phase == FT_PHASE_CLOSED) return;
    bool waits = request->expects && !request->http_1_0 && !connection->message_complete &&
                 request->body == FT_BODY_TAKEN && connection->in_pos == connection->in_len;
    if (!waits) return;
    connection->continued = true;
    static const char GO_ON[] = "HTTP/1.1 100 Continue\r\n\r\n";
    ft_connection_write(connection, ft_strdup(GO_ON), sizeof GO_ON - 1);
}

static void finish_request(ft_connection *connection)
{
    ft_http_request *request = connection->request;
    assert(request->answered && connection->span_len == 0);
    connection->request = NULL;
    request->connection = NULL;
    ft_request_settle(request);
    ft_connection_enter(connection, FT_PHASE_IDLE);
}

static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
    (void)status;
    free(shutdown);
}

/* Closing with unread input would make the kernel reset the connection, and the client lose the
 * answer (RFC 9112 §9.6); so input is read and dropped for a while. */
static bool linger(ft_connection *connection)
{
    bool quiet = connection->message_complete && connection->in_pos == connection->in_len;
    if (connection->eof || quiet) {
        ft_connection_close(connection);
        return false;
    }
    uv_shutdown_t *shutdown = ft_calloc(1, sizeof *shutdown);
    if (uv_shutdown(shutdown, &connection->io.stream, on_shutdown) != 0) free(shutdown);
    ft_connection_enter(connection, FT_PHASE_LINGER);
    return true;
}

static bool end_of_input(ft_connection *connection)
{
    if (!connection->eof) return false;
    if (!connection->request) {
        if (!connection->writing) ft_connection_close(connection);
        return false;
    }
    ft_http_problem cut = {400, "malformed-request", "the connection was closed within the request",
                           NULL, NULL};
    ft_connection_refuse(connection, &cut);
    return true;
}

static bool read_on(ft_connection *connection)
{
    if (!connection->request) {
        connection->request = ft_request_new(connection);
        ft_connection_enter(connection, FT_PHASE_HEAD);
        ft_parser_begin(connection);
    }
    if (!ft_parser_feed(connection)) return true;
    if (connection->head_complete && !connection->request->dispatched) dispatch(connection);
    return true;
}

static bool step_request(ft_connection *connection, bool *again)
{
    ft_http_request *request = connection->request;
    *again = true;
    if (request->answered && (connection->message_complete || connection->last) &&
        (connection->last || request->body == FT_BODY_ENDED)) {
        finish_request(connection);
        return true;
    }
    if (connection->span_len) {
        *again = ft_body_deliver(connection);
        return true;
    }
    if (!connection->message_complete) return false;
    ft_connection_enter(connection, FT_PHASE_ANSWER);
    *again = request->body != FT_BODY_ENDED && ft_body_finish(connection);
    return true;
}

/* The body was the last of the input: llhttp, paused at it, has not said yet that the message ends.
 */
static bool end_is_due(const ft_connection *connection)
{
    return connection->request && connection->guard.state == FT_GUARD_END;
}

/* One thing that can be done now; false: nothing. */
static bool step(ft_connection *connection)
{
    bool again;
    if (connection->phase == FT_PHASE_CLOSED) return false;
    if (connection->phase == FT_PHASE_LINGER) {
        connection->in_pos = connection->in_scanned = connection->in_len = 0;
        if (connection->eof) ft_connection_close(connection);
        return false;
    }
    if (connection->request && step_request(connection, &again)) return again;
    if (!connection->request && connection->writing) return false;
    if (!connection->request && connection->last) return linger(connection);
    if (connection->in_pos == connection->in_len && !end_is_due(connection)) {
        connection->in_pos = connection->in_scanned = connection->in_len = 0;
        return end_of_input(connection);
    }
    return read_on(connection);
}

void ft_connection_pump(ft_connection *connection)
{
    if (connection->pumping || connection->phase == FT_PHASE_CLOSED) return;
    assert(ft_connection_is_sound(connection));
    connection->pumping = true;
    connection->yielded = false;
    if (too_slow(connection)) {
        ft_http_problem slow = {408, "request-timeout", "the body arrives too slowly", NULL, NULL};
        ft_connection_refuse(connection, &slow);
    }
    while (step(connection)) {
    }
    assert(ft_connection_is_sound(connection));
    connection->pumping = false;
    adjust_reading(connection);
    adjust_timer(connection);
}

/* ---- Accepting ------------------------------------------------------------------------------- */

static ft_connection *connection_new(ft_http *http, bool pipe)
{
    ft_connection *connection = ft_calloc(1, sizeof *connection);
    connection->http = http;
    connection->armed = FT_PHASE_CLOSED;
    connection->handles = 2;
    connection->pipe = pipe;
    connection->moved = uv_now(http->loop);
    if (pipe)
        uv_pipe_init(http->loop, &connection->io.pipe, 0);
    else
        uv_tcp_init(http->loop, &connection->io.tcp);
    uv_timer_init(http->loop, &connection->timer);
    connection->io.handle.data = connection->timer.data = connection;
    connection->next = http->connections;
    if (connection->next) connection->next->previous = connection;
    http->connections = connection;
    http->stats.connections++;
    http->stats.open++;
    assert(http->stats.open <= http->limits.connections + FT_HTTP_TURNED_AWAY);
    return connection;
}

/* No request is read: there is no room for it. */
static void turn_away(ft_connection *connection)
{
    connection->http->stats.refused++;
    ft_http_request *request = connection->request = ft_request_new(connection);
    connection->last = true;
    ft_http_set(request, "Retry-After", "1");
    ft_http_fail(request, 503, "too-many-connections",
                 "all %u connections are in use: try again later",
                 connection->http->limits.connections);
}

/* It waits for its client, which has been silent for a while. */
static bool is_stalled(const ft_connection *c, uint64_t now)
{
    bool ours = c->phase == FT_PHASE_CLOSED || (c->phase == FT_PHASE_ANSWER && !c->writing);
    return !ours && now - c->moved >= FT_HTTP_STALLED_MS;
}

/* At the limit, the connection that has stalled for longest is closed in favour of the new one, so
 * that a crowd of slow clients does not keep others out. */
static bool displace(ft_http *http)
{
    ft_connection *longest = NULL;
    uint64_t now = uv_now(http->loop);
    for (ft_connection *c = http->connections; c; c = c->next)
        if (is_stalled(c, now) && (!longest || c->moved < longest->moved)) longest = c;
    if (!longest) return false;
    http->stats.displaced++;
    ft_connection_close(longest);
    return true;
}

void ft_connection_accept(ft_listener *listener)
{
    ft_http *http = listener->http;
    bool full = http->stats.open >= http->limits.connections;
    bool room = !full || displace(http);
    listener->waits =
        !http->closing && http->stats.open >= http->limits.connections + FT_HTTP_TURNED_AWAY;
    if (listener->waits) return;
    ft_connection *connection = connection_new(http, listener->pipe);
    if (uv_accept(&listener->io.stream, &connection->io.stream) != 0 || http->closing) {
        ft_connection_close(connection);
        return;
    }
    if (!listener->pipe) uv_tcp_nodelay(&connection->io.tcp, 1);
    if (room)
        ft_connection_pump(connection);
    else
        turn_away(connection);
}
