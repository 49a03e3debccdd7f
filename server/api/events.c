/* GET /v1/jobs/{job}/events: a job's changes and findings until it has ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "api/stream.h"

#define PACE_MS 100
#define RECORDS 100 /* of one question */

typedef struct job_stream {
    ft_stream stream;
    char *job;
    ft_watch *watch;
    bool safe;         /* records of safe blocks too */
    int64_t n;         /* the last record that was sent */
    uint64_t revision; /* the last one that was sent */
} job_stream;

static void left(ft_stream *stream)
{
    ft_dispatch_unwatch(((job_stream *)stream)->watch);
}

static void freed(ft_stream *stream)
{
    job_stream *s = (job_stream *)stream;
    free(s->job);
    free(s);
}

static bool is_final(const json_t *snapshot)
{
    ft_job_state state;
    const char *name = json_string_value(json_object_get(snapshot, "state"));
    return name && ft_job_state_parse(name, &state) && ft_job_state_final(state);
}

/* The place in the stream after which a client that comes back goes on. */
static const char *place(const job_stream *s, const char *mark, char id[64])
{
    snprintf(id, 64, "%llu-%lld%s", (unsigned long long)s->revision, (long long)s->n, mark);
    return id;
}

static void put_records(job_stream *s, const json_t *records, ft_strbuf *out)
{
    char id[64];
    size_t i;
    json_t *row;
    json_array_foreach(records, i, row)
    {
        const json_t *record = json_object_get(row, "record");
        const char *verdict = json_string_value(json_object_get(record, "verdict"));
        bool violation = verdict && strcmp(verdict, ft_verdict_name(FT_VERDICT_VIOLATION)) == 0;
        bool safe = verdict && strcmp(verdict, ft_verdict_name(FT_VERDICT_SAFE)) == 0;
        const char *name = violation ? "finding" : safe ? "safe" : "undecided";
        s->n = json_integer_value(json_object_get(row, "n"));
        ft_stream_event(out, name, place(s, "", id), record);
    }
}

static void put_end(job_stream *s, const json_t *snapshot, ft_strbuf *out)
{
    char id[64];
    json_t *data = json_pack("{s:O, s:O, s:O}", "job", json_object_get(snapshot, "job"), "state",
                             json_object_get(snapshot, "state"), "revision",
                             json_object_get(snapshot, "revision"));
    ft_stream_event(out, "end", place(s, "-end", id), data);
    json_decref(data);
}

/* Records come before the state of the job that counts them: whoever resumes after an event has
 * had all that was before it. */
static void on_news(void *data, const ft_error *err, json_t *news)
{
    job_stream *s = data;
    char id[64];
    ft_strbuf out = {0};
    if (err) {
        ft_stream_fail(&s->stream, err);
        return;
    }
    json_t *snapshot = json_object_get(news, "job");
    bool more = json_is_true(json_object_get(news, "more"));
    uint64_t revision = (uint64_t)json_integer_value(json_object_get(snapshot, "revision"));
    bool last = !more && is_final(snapshot);
    put_records(s, json_object_get(news, "records"), &out);
    if (!more && revision != s->revision) {
        s->revision = revision;
        ft_stream_event(&out, "job", place(s, "", id), ft_job_view(snapshot));
    }
    if (last) put_end(s, snapshot, &out);
    ft_stream_answer(&s->stream, &out, last, more);
}

static void ask(ft_stream *stream)
{
    job_stream *s = (job_stream *)stream;
    ft_store_job_news(s->stream.api->app->store, s->job, s->n, RECORDS, s->safe, on_news, s);
}

static void on_changed(void *data, const char *job, uint64_t revision, ft_job_state state)
{
    (void)job;
    (void)revision;
    (void)state;
    ft_stream_wake(data);
}

/* "REVISION-N" or "REVISION-N-end". False: no place of ours. *ended: nothing will follow it. */
static bool parse_place(const char *text, uint64_t *revision, int64_t *n, bool *ended)
{
    unsigned long long r;
    long long record;
    int used = 0;
    *ended = false;
    if (!text || sscanf(text, "%19llu-%18lld%n", &r, &record, &used) != 2 || record < 0)
        return false;
    *ended = strcmp(text + used, "-end") == 0;
    if (text[used] != '\0' && !*ended) return false;
    *revision = r;
    *n = record;
    return true;
}

void ft_serve_job_events(ft_api *api, ft_http_request *request)
{
    static const ft_stream_kind KIND = {ask, left, freed, PACE_MS};
    uint32_t safe;
    bool ended;
    uint64_t revision = 0;
    int64_t n = 0;
    if (!ft_query_number(request, "safe", 0, 0, 1, &safe)) return;
    if (parse_place(ft_http_header(request, "last-event-id"), &revision, &n, &ended) && ended) {
        /* By 204 an EventSource stops reconnecting. */
        ft_http_reply(request, 204, NULL, NULL, 0);
        return;
    }
    job_stream *s = ft_calloc(1, sizeof *s);
    *s = (job_stream){.safe = safe != 0, .revision = revision, .n = n};
    s->job = ft_strdup(ft_http_param(request, 0));
    s->watch = ft_dispatch_watch(api->app->dispatch, s->job, on_changed, s);
    ft_stream_open(&s->stream, &KIND, api, request);
}
