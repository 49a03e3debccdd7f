#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/internal.h"
#include "setup/log.h"

#define SUMMARIES 16 /* under way at once */

typedef struct waiter {
    struct waiter *next;
    ft_store_done done;
    void *data;
} waiter;

/* One trace whose summary, or intervals, are being computed. */
struct ft_summary {
    ft_task_kind kind;
    ft_summary *next;
    ft_dispatch *dispatch;
    char trace[FT_HASH];
    waiter *waiters;
    bool queued; /* waits for a worker */
    uint64_t token;
    unsigned deaths[FT_DEATHS];
};

/* ---- Ending ---------------------------------------------------------------------------------- */

/* Answers everybody who waits, forgets the summary. */
static void finish(ft_summary *summary, const ft_error *err, json_t *result)
{
    ft_summary **at = &summary->dispatch->summaries;
    while (*at != summary) at = &(*at)->next;
    *at = summary->next;
    waiter *w = summary->waiters;
    free(summary);
    for (waiter *next; w; w = next) {
        next = w->next;
        w->done(w->data, err, err ? NULL : result);
        free(w);
    }
}

static ft_summary *detach(ft_worker *worker)
{
    ft_summary *summary = worker->summary;
    worker->summary = NULL;
    return summary;
}

void ft_summary_failed(ft_worker *worker, const ft_error *error)
{
    ft_summary *summary = detach(worker);
    ft_worker_idle(worker);
    finish(summary, error, NULL);
    ft_dispatch_pump(worker->dispatch);
}

/* A client waits, so a death is reported sooner than that of a task. */
void ft_summary_lost(ft_worker *worker, ft_death death, const char *text)
{
    ft_summary *summary = worker->summary;
    ft_error err = FT_ERROR_INIT;
    if (!summary) return;
    detach(worker);
    const ft_death_row *row = ft_death_of(death);
    if (!worker->dispatch->closing && ++summary->deaths[death] < row->limit) {
        summary->queued = true;
        return;
    }
    ft_error_set(&err, row->status, "the %s cannot be computed: %s",
                 ft_task_kind_name(summary->kind), text);
    finish(summary, &err, NULL);
}

void ft_summary_close(ft_dispatch *dispatch)
{
    ft_error err = FT_ERROR_INIT;
    ft_error_set(&err, FT_IO, "the server is stopping");
    for (unsigned i = 0; i < dispatch->worker_count; i++) dispatch->workers[i].summary = NULL;
    while (dispatch->summaries) finish(dispatch->summaries, &err, NULL);
}

/* ---- Work ------------------------------------------------------------------------------------ */

bool ft_summary_waiting(const ft_dispatch *dispatch)
{
    for (const ft_summary *summary = dispatch->summaries; summary; summary = summary->next)
        if (summary->queued) return true;
    return false;
}

void ft_summary_start(ft_worker *worker)
{
    ft_dispatch *dispatch = worker->dispatch;
    ft_summary *summary = dispatch->summaries;
    while (!summary->queued) summary = summary->next;
    assert(ft_worker_is_sound(worker) && worker->state == FT_WORKER_IDLE);
    summary->queued = false;
    summary->token = ++dispatch->ingest_token;
    worker->summary = summary;
    worker->busy_since = worker->heard = uv_now(dispatch->loop);
    ft_watch_start(dispatch);
    memset(&worker->batch, 0, sizeof worker->batch);
    snprintf(worker->batch.trace, sizeof worker->batch.trace, "%s", summary->trace);
    if (strcmp(worker->loaded, summary->trace) == 0)
        ft_summary_ask(worker);
    else
        ft_batch_load(worker);
}

ft_task_kind ft_summary_kind(const ft_summary *summary)
{
    return summary->kind;
}

void ft_summary_ask(ft_worker *worker)
{
    assert(strcmp(worker->loaded, worker->summary->trace) == 0);
    json_t *request =
        json_pack("{s:I, s:s, s:s}", "token", (json_int_t)worker->summary->token, "trace",
                  worker->summary->trace, "of", ft_task_kind_name(worker->summary->kind));
    ft_worker_enter(worker, FT_WORKER_WORKING);
    ft_worker_limit_trace(worker, worker->loaded_bytes);
    ft_worker_send_json(worker, FT_WIRE_SUMMARIZE, request);
    json_decref(request);
}

static void on_saved(void *data, const ft_error *err, json_t *nothing)
{
    (void)nothing;
    ft_errand *errand = data;
    if (err) {
        ft_dispatch_count(errand->dispatch, FT_METRIC_STORE_ERRORS);
        ft_log(FT_LOG_ERROR, "summary cannot be stored", "reason=\"%s\"", err->message);
    }
    ft_errand_end(errand);
}

/* It is not needed to be durable: whoever asks again gets it computed again. */
void ft_summary_on_summarized(ft_worker *worker, const json_t *message)
{
    ft_dispatch *dispatch = worker->dispatch;
    json_t *summary = json_object_get(message, "summary");
    const json_t *token = json_object_get(message, "token");
    if (!worker->summary || !json_is_object(summary) || !json_is_integer(token) ||
        (uint64_t)json_integer_value(token) != worker->summary->token) {
        ft_worker_die(worker, FT_DEATH_MALFORMED, "a summary without a request");
        return;
    }
    ft_summary *done = detach(worker);
    json_object_set_new(summary, "trace", json_string(done->trace));
    if (done->kind == FT_KIND_SUMMARY)
        ft_store_summary_save(dispatch->store, done->trace, FT_WIRE_SUMMARY, summary, on_saved,
                              ft_errand_new(dispatch, NULL));
    ft_dispatch_count(dispatch, FT_METRIC_SUMMARIES);
    worker->answered++;
    ft_worker_idle(worker);
    finish(done, NULL, summary);
    ft_dispatch_pump(dispatch);
}

/* ---- Asking ---------------------------------------------------------------------------------- */

static ft_summary *find(ft_dispatch *dispatch, ft_task_kind kind, const char *trace,
                        unsigned *count)
{
    *count = 0;
    for (ft_summary *summary = dispatch->summaries; summary; summary = summary->next) {
        if (summary->kind == kind && strcmp(summary->trace, trace) == 0) return summary;
        ++*count;
    }
    return NULL;
}

static ft_summary *summary_new(ft_dispatch *dispatch, ft_task_kind kind, const char *trace)
{
    ft_summary *summary = ft_calloc(1, sizeof *summary), **end = &dispatch->summaries;
    summary->dispatch = dispatch;
    summary->queued = true;
    summary->kind = kind;
    snprintf(summary->trace, sizeof summary->trace, "%.*s", FT_DIGEST_HEX, trace);
    while (*end) end = &(*end)->next;
    *end = summary;
    return summary;
}

/* Nothing is stored: a worker has to compute it. */
static void compute(ft_errand *errand, ft_task_kind kind)
{
    ft_dispatch *dispatch = errand->dispatch;
    ft_error err = FT_ERROR_INIT;
    unsigned count;
    ft_summary *summary = find(dispatch, kind, errand->text, &count);
    if (dispatch->closing)
        ft_error_set(&err, FT_IO, "the server is stopping");
    else if (!summary && count >= SUMMARIES)
        ft_error_set(&err, FT_BUDGET, "%u summaries are being computed: try again later", count);
    if (err.code != FT_OK) {
        errand->done(errand->data, &err, NULL);
        return;
    }
    if (!summary) summary = summary_new(dispatch, kind, errand->text);
    waiter *w = ft_calloc(1, sizeof *w);
    *w = (waiter){summary->waiters, errand->done, errand->data};
    summary->waiters = w;
    ft_dispatch_pump(dispatch);
}

static void on_stored(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    json_t *summary = json_object_get(result, "summary");
    if (err || json_is_object(summary))
        errand->done(errand->data, err, summary);
    else
        compute(errand, FT_KIND_SUMMARY);
    ft_errand_end(errand);
}

void ft_dispatch_summary(ft_dispatch *dispatch, const char *trace, ft_store_done done, void *data)
{
    ft_errand *errand = ft_errand_new(dispatch, NULL);
    errand->done = done;
    errand->data = data;
    snprintf(errand->text, sizeof errand->text, "%.*s", FT_DIGEST_HEX, trace);
    ft_store_summary(dispatch->store, errand->text, FT_WIRE_SUMMARY, on_stored, errand);
}

/* The store knows whether there is such a trace; intervals are never stored. */
static void on_known(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    (void)result;
    if (err)
        errand->done(errand->data, err, NULL);
    else
        compute(errand, FT_KIND_INTERVALS);
    ft_errand_end(errand);
}

void ft_dispatch_intervals(ft_dispatch *dispatch, const char *trace, ft_store_done done, void *data)
{
    ft_errand *errand = ft_errand_new(dispatch, NULL);
    errand->done = done;
    errand->data = data;
    snprintf(errand->text, sizeof errand->text, "%.*s", FT_DIGEST_HEX, trace);
    ft_store_summary(dispatch->store, errand->text, FT_WIRE_SUMMARY, on_known, errand);
}
