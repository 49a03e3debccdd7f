/* GET /v1/events: which jobs change, for whoever watches the list of them.
 *
 * The feed remembers the last changes in a ring, by number. A stream knows the last number that it
 * has told and asks for the rows of the jobs in between: many changes of a job are sent as one. */
#include "api/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/access.h"
#include "api/stream.h"

#define PACE_MS 250
#define RING    1024
#define NOWHERE UINT64_MAX /* where a stream has left off: nobody knows any more */

struct ft_event_feed {
    ft_api *api;
    ft_watch *watch;
    uint64_t next; /* changes so far */
    uint64_t run;  /* of the daemon: numbers of another one mean nothing */
    char ring[RING][FT_STORE_JOB_ID + 1];
    struct feed_stream *streams;
};

typedef struct feed_stream {
    ft_stream stream;
    ft_event_feed *feed;
    uint64_t told, asked; /* changes */
    bool fresh;           /* nothing was sent yet */
    char *projects;       /* owned; NULL: every one */
    struct feed_stream *next;
} feed_stream;

static void on_changed(void *data, const char *job, uint64_t revision, ft_job_state state)
{
    (void)revision;
    (void)state;
    ft_event_feed *feed = data;
    snprintf(feed->ring[feed->next++ % RING], sizeof feed->ring[0], "%s", job);
    for (feed_stream *s = feed->streams; s; s = s->next) ft_stream_wake(&s->stream);
}

ft_event_feed *ft_event_feed_new(ft_api *api)
{
    ft_event_feed *feed = ft_calloc(1, sizeof *feed);
    feed->api = api;
    feed->run = (uint64_t)uv_hrtime() ^ ((uint64_t)api->started << 24);
    feed->watch = ft_dispatch_watch(api->app->dispatch, NULL, on_changed, feed);
    return feed;
}

void ft_event_feed_free(ft_event_feed *feed)
{
    if (!feed) return;
    ft_dispatch_unwatch(feed->watch);
    free(feed);
}

/* ---- Streams --------------------------------------------------------------------------------- */

static void left(ft_stream *stream)
{
    feed_stream *s = (feed_stream *)stream, **at = &s->feed->streams;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
}

static void freed(ft_stream *stream)
{
    feed_stream *s = (feed_stream *)stream;
    free(s->projects);
    free(s);
}

static const char *place(const feed_stream *s, char id[64])
{
    snprintf(id, 64, "%llx-%llu", (unsigned long long)s->feed->run, (unsigned long long)s->told);
    return id;
}

static void put_plain(feed_stream *s, const char *name, ft_strbuf *out)
{
    char id[64];
    json_t *nothing = json_object();
    ft_stream_event(out, name, place(s, id), nothing);
    json_decref(nothing);
}

static void on_rows(void *data, const ft_error *err, json_t *page)
{
    feed_stream *s = data;
    ft_strbuf out = {0};
    char id[64];
    size_t i;
    json_t *job;
    if (err) {
        ft_stream_fail(&s->stream, err);
        return;
    }
    s->told = s->asked;
    json_array_foreach(json_object_get(page, "jobs"), i, job)
    {
        ft_stream_event(&out, "job", place(s, id), ft_job_view(job));
    }
    ft_stream_answer(&s->stream, &out, false, false);
}

/* The jobs of the changes that the stream has not sent, each once. */
static json_t *changed_jobs(const feed_stream *s)
{
    json_t *set = json_object(), *list = json_array();
    const char *id;
    json_t *value;
    for (uint64_t n = s->told; n < s->feed->next; n++)
        json_object_set_new(set, s->feed->ring[n % RING], json_true());
    json_object_foreach(set, id, value) json_array_append_new(list, json_string(id));
    json_decref(set);
    return list;
}

static void ask(ft_stream *stream)
{
    feed_stream *s = (feed_stream *)stream;
    ft_strbuf out = {0};
    uint64_t next = s->feed->next;
    if (s->told == NOWHERE || next - s->told > RING) {
        s->told = next;
        put_plain(s, "reset", &out);
    } else if (s->fresh) {
        put_plain(s, "ready", &out);
    } else if (s->told != next) {
        json_t *jobs = changed_jobs(s);
        s->asked = next;
        ft_store_jobs_named(stream->api->app->store, jobs, s->projects, on_rows, s);
        json_decref(jobs);
        return;
    }
    s->fresh = false;
    ft_stream_answer(stream, &out, false, s->told != next);
}

/* Where a client that comes back left off. */
static uint64_t parse_place(const ft_event_feed *feed, const char *text)
{
    unsigned long long run, told;
    if (sscanf(text, "%16llx-%19llu", &run, &told) != 2) return NOWHERE;
    return run == feed->run && told <= feed->next ? told : NOWHERE;
}

void ft_serve_events(ft_api *api, ft_http_request *request)
{
    static const ft_stream_kind KIND = {ask, left, freed, PACE_MS};
    ft_event_feed *feed = api->feed;
    const char *last = ft_http_header(request, "last-event-id");
    feed_stream *s = ft_calloc(1, sizeof *s);
    *s = (feed_stream){.feed = feed, .fresh = true, .next = feed->streams};
    s->told = last ? parse_place(feed, last) : feed->next;
    const char *projects = ft_access_projects(request);
    if (projects) s->projects = ft_strdup(projects);
    feed->streams = s;
    ft_stream_open(&s->stream, &KIND, api, request);
}
