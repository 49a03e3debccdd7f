/* One attempt: a process that is given a request and answers how it went. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "webhooks/internal.h"

#define ANSWER 65536 /* bytes of its answer that are read */

struct ft_attempt {
    ft_attempt *next;
    ft_webhooks *webhooks; /* NULL: nobody listens any more */
    ft_webhooks *holder;
    uv_process_t process;
    uv_pipe_t in, out;
    uv_timer_t limit;
    uv_write_t write;
    unsigned open; /* handles not closed */
    char *request, *delivery, *job, *project;
    uint64_t token;
    unsigned number;
    ft_strbuf answer;
    bool exited, ended, late;
};

/* ---- The request ----------------------------------------------------------------------------- */

static void add_header(json_t *headers, const char *name, const char *value)
{
    json_array_append_new(headers, json_sprintf("%s: %s", name, value));
}

static json_t *make_headers(const json_t *delivery)
{
    json_t *headers = json_array();
    ft_strbuf signature = {0};
    char number[24];
    snprintf(number, sizeof number, "%lld",
             (long long)json_integer_value(json_object_get(delivery, "attempt")));
    ft_webhook_sign(json_string_value(json_object_get(delivery, "secret")), (int64_t)time(NULL),
                    json_string_value(json_object_get(delivery, "body")), &signature);
    add_header(headers, "Content-Type", "application/json");
    add_header(headers, "User-Agent", "foretell/" FT_VERSION);
    add_header(headers, "Foretell-Event", "job.ended");
    add_header(headers, "Foretell-Delivery",
               json_string_value(json_object_get(delivery, "delivery")));
    add_header(headers, "Foretell-Attempt", number);
    add_header(headers, "Foretell-Signature", signature.text);
    ft_strbuf_release(&signature);
    return headers;
}

static char *make_request(const ft_config *config, const json_t *delivery)
{
    json_t *request = json_pack(
        "{s:O, s:O, s:o, s:I, s:b}", "url", json_object_get(delivery, "url"), "body",
        json_object_get(delivery, "body"), "headers", make_headers(delivery), "timeout_ms",
        (json_int_t)config->webhook_timeout_ms, "private", config->webhook_allow_private != 0);
    char *text = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    return text;
}

/* ---- The end --------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    ft_attempt *a = handle->data;
    assert(a->open > 0);
    if (--a->open > 0) return;
    assert(!a->webhooks);
    ft_webhooks *holder = a->holder;
    free(a->request);
    free(a->delivery);
    free(a->job);
    free(a->project);
    ft_strbuf_release(&a->answer);
    free(a);
    ft_webhooks_drop(holder);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle)) uv_close(handle, on_closed);
}

static void unlist(ft_attempt *a)
{
    ft_attempt **at = &a->webhooks->attempts;
    while (*at != a) at = &(*at)->next;
    *at = a->next;
    assert(a->webhooks->running > 0);
    a->webhooks->running--;
    a->webhooks = NULL;
}

/* The process handle stays until the kernel reports the exit, or a zombie would be left. */
static void detach(ft_attempt *a)
{
    unlist(a);
    close_handle((uv_handle_t *)&a->in);
    close_handle((uv_handle_t *)&a->out);
    close_handle((uv_handle_t *)&a->limit);
    if (a->exited)
        close_handle((uv_handle_t *)&a->process);
    else
        uv_process_kill(&a->process, SIGKILL);
}

static void end(ft_attempt *a, int status, const char *reason)
{
    ft_webhooks *webhooks = a->webhooks;
    const ft_attempt_result result = {a->delivery, a->job, a->project, a->token,
                                      a->number,   status, reason};
    detach(a);
    ft_attempt_over(webhooks, &result);
}

static void read_answer(ft_attempt *a)
{
    json_t *answer =
        json_loadb(ft_strbuf_text(&a->answer), a->answer.len, JSON_REJECT_DUPLICATES, NULL);
    json_int_t status = json_integer_value(json_object_get(answer, "status"));
    const char *reason = json_string_value(json_object_get(answer, "error"));
    if (!reason)
        reason = a->late ? "the receiver did not answer in time" : "the sending process failed";
    end(a, status >= 200 && status < 600 ? (int)status : 0, reason);
    json_decref(answer);
}

static void check_end(ft_attempt *a)
{
    if (a->webhooks && a->exited && a->ended) read_answer(a);
}

static void on_exited(uv_process_t *process, int64_t status, int signal)
{
    ft_attempt *a = process->data;
    (void)status;
    (void)signal;
    a->exited = true;
    if (a->webhooks)
        check_end(a);
    else
        close_handle((uv_handle_t *)process);
}

static void on_limit(uv_timer_t *timer)
{
    ft_attempt *a = timer->data;
    a->late = true;
    if (!a->exited) uv_process_kill(&a->process, SIGKILL);
}

/* ---- Its pipes ------------------------------------------------------------------------------- */

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    (void)handle;
    buf->base = ft_alloc(suggested);
    buf->len = suggested;
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buf)
{
    ft_attempt *a = stream->data;
    bool fits = length > 0 && a->answer.len + (size_t)length <= ANSWER;
    if (fits) ft_strbuf_add(&a->answer, buf->base, (size_t)length);
    free(buf->base);
    if (fits || length == 0) return;
    a->ended = true;
    uv_read_stop(stream);
    if (!a->exited && length > 0) uv_process_kill(&a->process, SIGKILL);
    check_end(a);
}

static void on_written(uv_write_t *write, int status)
{
    ft_attempt *a = write->data;
    (void)status;
    if (a->webhooks) close_handle((uv_handle_t *)&a->in);
}

static int spawn(ft_attempt *a)
{
    char *arguments[] = {a->holder->program, NULL};
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&a->in},
        {.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&a->out},
        {.flags = UV_INHERIT_FD, .data.fd = 2},
    };
    uv_process_options_t options = {
        .file = a->holder->program,
        .args = arguments,
        .exit_cb = on_exited,
        .stdio = stdio,
        .stdio_count = 3,
    };
    return uv_spawn(a->holder->app->loop, &a->process, &options);
}

static ft_attempt *new_attempt(ft_webhooks *webhooks, const json_t *delivery)
{
    ft_attempt *a = ft_calloc(1, sizeof *a);
    uv_loop_t *loop = webhooks->app->loop;
    a->webhooks = a->holder = webhooks;
    a->delivery = ft_strdup(json_string_value(json_object_get(delivery, "delivery")));
    a->job = ft_strdup(json_string_value(json_object_get(delivery, "job")));
    a->project = ft_strdup(json_string_value(json_object_get(delivery, "project")));
    a->token = (uint64_t)json_integer_value(json_object_get(delivery, "token"));
    a->number = (unsigned)json_integer_value(json_object_get(delivery, "attempt"));
    a->request = make_request(webhooks->app->config, delivery);
    uv_pipe_init(loop, &a->in, 0);
    uv_pipe_init(loop, &a->out, 0);
    uv_timer_init(loop, &a->limit);
    a->process.data = a->in.data = a->out.data = a->limit.data = a->write.data = a;
    a->open = 4;
    webhooks->holds++;
    a->next = webhooks->attempts;
    webhooks->attempts = a;
    webhooks->running++;
    assert(webhooks->running <= webhooks->app->config->webhook_senders);
    return a;
}

void ft_attempt_start(ft_webhooks *webhooks, const json_t *delivery)
{
    ft_attempt *a = new_attempt(webhooks, delivery);
    int result = spawn(a);
    if (result != 0) {
        a->exited = true;
        end(a, 0, uv_strerror(result));
        return;
    }
    uv_buf_t text = uv_buf_init(a->request, (unsigned)strlen(a->request));
    uv_timer_start(&a->limit, on_limit,
                   webhooks->app->config->webhook_timeout_ms + FT_WEBHOOK_GRACE_MS, 0);
    uv_read_start((uv_stream_t *)&a->out, on_allocate, on_read);
    if (uv_write(&a->write, (uv_stream_t *)&a->in, &text, 1, on_written) != 0)
        close_handle((uv_handle_t *)&a->in);
}

void ft_attempts_kill(ft_webhooks *webhooks)
{
    while (webhooks->attempts) detach(webhooks->attempts);
}
