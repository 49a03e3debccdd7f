#include "api/polls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/access.h"
#include "base/map.h"

#define FRESH_MS   1000
#define BUCKETS    1024
#define JOBS_MOST  1024         /* kept when nobody asks */
#define BYTES_MOST (16u << 20)  /* of their texts */
#define TEXT_MOST  (256u << 10) /* of one */
#define SLICE      128          /* answers in a row, then others get their turn */

typedef struct job_entry job_entry;

/* A request that could not be answered at once. */
typedef struct poll {
    job_entry *entry;
    ft_http_request *request;
    uv_timer_t timer; /* of one that waits */
    bool waits;       /* with Prefer: wait */
    bool any_change;  /* the client has a version: any other one will do */
    bool expired;
    uint32_t seconds;
    struct poll *previous, *next;
} poll;

typedef struct poll_list {
    poll *first, *last;
} poll_list;

struct job_entry {
    ft_polls *polls;
    char job[FT_STORE_JOB_ID + 1];
    char project[FT_PROJECT_LENGTH + 1];
    uint64_t revision, read; /* read: loop time of the snapshot */
    bool known;              /* the snapshot, apart from its text */
    bool final;
    ft_strbuf text;        /* empty: too long to keep */
    bool asking;           /* reads the store */
    bool changed;          /* since it last asked */
    bool sweeping;         /* some of `waiting` are to be answered with this snapshot */
    bool pinned;           /* an answer may let another request in, which may make room */
    poll_list asked, late; /* answered by what is being read; came after that began */
    poll_list waiting;     /* have seen the snapshot, and want another one */
    job_entry *chain;      /* of its bucket */
    job_entry *newer, *older;
};

struct ft_polls {
    ft_api *api;
    ft_watch *watch;
    uv_timer_t sweeper;
    job_entry *buckets[BUCKETS];
    job_entry *newest, *oldest; /* by last use */
    size_t jobs, bytes;
    unsigned asking;
    bool closed, timer_closed;
};

/* ---- Lists ----------------------------------------------------------------------------------- */

static void push(poll_list *list, poll *p)
{
    p->next = NULL;
    p->previous = list->last;
    if (list->last)
        list->last->next = p;
    else
        list->first = p;
    list->last = p;
}

static void take(poll_list *list, poll *p)
{
    if (p->next)
        p->next->previous = p->previous;
    else
        list->last = p->previous;
    if (p->previous)
        p->previous->next = p->next;
    else
        list->first = p->next;
}

static void unlink_use(job_entry *e)
{
    ft_polls *polls = e->polls;
    if (e->newer)
        e->newer->older = e->older;
    else
        polls->newest = e->older;
    if (e->older)
        e->older->newer = e->newer;
    else
        polls->oldest = e->newer;
}

static void link_use(job_entry *e)
{
    ft_polls *polls = e->polls;
    e->newer = NULL;
    e->older = polls->newest;
    if (e->older)
        e->older->newer = e;
    else
        polls->oldest = e;
    polls->newest = e;
}

static job_entry **place_of(ft_polls *polls, const char *job)
{
    job_entry **at = &polls->buckets[ft_hash_bytes(job, strlen(job), 0) % BUCKETS];
    while (*at && strcmp((*at)->job, job) != 0) at = &(*at)->chain;
    return at;
}

static void entry_free(job_entry *e)
{
    ft_polls *polls = e->polls;
    assert(!e->asking && !e->asked.first && !e->late.first && !e->waiting.first);
    assert(*place_of(polls, e->job) == e && polls->jobs > 0 && polls->bytes >= e->text.len);
    *place_of(polls, e->job) = e->chain;
    unlink_use(e);
    polls->jobs--;
    polls->bytes -= e->text.len;
    ft_strbuf_release(&e->text);
    free(e);
}

static bool is_idle(const job_entry *e)
{
    return !e->pinned && !e->asking && !e->asked.first && !e->late.first && !e->waiting.first;
}

static void make_room(ft_polls *polls)
{
    for (job_entry *e = polls->oldest, *newer; e; e = newer) {
        newer = e->newer;
        if (polls->jobs <= JOBS_MOST && polls->bytes <= BYTES_MOST) return;
        if (is_idle(e) && e != polls->newest) entry_free(e);
    }
}

static job_entry *entry_of(ft_polls *polls, const char *job)
{
    job_entry **at = place_of(polls, job), *e = *at;
    if (e) {
        unlink_use(e);
        link_use(e);
        return e;
    }
    e = ft_calloc(1, sizeof *e);
    e->polls = polls;
    snprintf(e->job, sizeof e->job, "%s", job);
    *at = e;
    link_use(e);
    polls->jobs++;
    make_room(polls);
    return e;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static bool is_fresh(const job_entry *e)
{
    return e->known && !e->changed && uv_now(e->polls->api->app->loop) - e->read < FRESH_MS;
}

static void tag_of(const job_entry *e, char tag[24])
{
    snprintf(tag, 24, "%llu", (unsigned long long)e->revision);
}

static void reply(const job_entry *e, ft_http_request *request)
{
    char tag[24];
    tag_of(e, tag);
    ft_http_set(request, "Cache-Control", "no-cache");
    if (!ft_reply_not_modified(request, tag))
        ft_http_reply(request, 200, "application/json", e->text.text, e->text.len);
}

static bool client_has_it(const job_entry *e, ft_http_request *request)
{
    char tag[24];
    tag_of(e, tag);
    return ft_matches_etag(request, tag);
}

static bool is_answer(const job_entry *e, const poll *p)
{
    if (!p->waits || p->expired || e->final) return true;
    return p->any_change && !client_has_it(e, p->request);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* The poll is over: its request. */
static ft_http_request *poll_end(poll *p)
{
    ft_http_request *request = p->request;
    ft_http_on_gone(request, NULL, NULL);
    if (p->waits)
        uv_close((uv_handle_t *)&p->timer, on_timer_closed);
    else
        free(p);
    return request;
}

static void answer(const job_entry *e, poll *p)
{
    if (p->waits) ft_http_set(p->request, "Preference-Applied", "wait=%u", p->seconds);
    reply(e, poll_end(p));
}

static void fail_all(poll_list *list, const ft_error *err)
{
    while (list->first) {
        poll *p = list->first;
        take(list, p);
        ft_http_fail_error(poll_end(p), err);
    }
}

static void on_sweep(uv_timer_t *timer);
static void on_read(void *data, const ft_error *err, json_t *snapshot);
static void polls_settle(ft_polls *polls);

/* Answers those that have waited for this snapshot, some at a time. */
static void sweep(job_entry *e)
{
    unsigned count = 0;
    e->sweeping = false;
    for (poll *p = e->waiting.first, *next; p; p = next) {
        next = p->next;
        if (!is_answer(e, p)) continue;
        if (count++ == SLICE || !e->text.len) {
            e->sweeping = true;
            break;
        }
        take(&e->waiting, p);
        answer(e, p);
    }
    if (e->sweeping && !e->polls->closed) uv_timer_start(&e->polls->sweeper, on_sweep, 0, 0);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Reads if somebody wants it. */
static void ask(job_entry *e)
{
    bool wanted = e->late.first || (e->changed && e->waiting.first) || e->sweeping;
    if (e->asking || !wanted || (is_fresh(e) && e->text.len)) return;
    e->asked = e->late;
    e->late = (poll_list){NULL, NULL};
    e->asking = true;
    e->changed = false;
    e->polls->asking++;
    ft_store_job(e->polls->api->app->store, e->job, on_read, e);
}

static void on_sweep(uv_timer_t *timer)
{
    ft_polls *polls = timer->data;
    job_entry *e = polls->newest;
    while (e && (!e->sweeping || e->asking)) e = e->older;
    if (!e) return;
    e->pinned = true;
    if (is_fresh(e) && e->text.len)
        sweep(e);
    else
        ask(e);
    e->pinned = false;
    uv_timer_start(&polls->sweeper, on_sweep, 0, 0);
}

static bool is_final(const json_t *snapshot)
{
    ft_job_state state;
    const char *name = json_string_value(json_object_get(snapshot, "state"));
    return name && ft_job_state_parse(name, &state) && ft_job_state_final(state);
}

static void fill(job_entry *e, json_t *snapshot)
{
    const char *project = json_string_value(json_object_get(snapshot, "project"));
    e->known = true;
    e->read = uv_now(e->polls->api->app->loop);
    e->revision = (uint64_t)json_integer_value(json_object_get(snapshot, "revision"));
    e->final = is_final(snapshot);
    snprintf(e->project, sizeof e->project, "%s", project ? project : "");
    json_t *view = ft_job_view(json_incref(snapshot));
    char *text = json_dumps(view, JSON_COMPACT);
    json_decref(view);
    e->polls->bytes -= e->text.len;
    ft_strbuf_clear(&e->text);
    ft_strbuf_printf(&e->text, "%s\n", text);
    free(text);
    e->polls->bytes += e->text.len;
}

static void answer_list(job_entry *e, poll_list *list)
{
    while (list->first) {
        poll *p = list->first;
        take(list, p);
        if (is_answer(e, p))
            answer(e, p);
        else
            push(&e->waiting, p);
    }
}

static void forget_long_text(job_entry *e)
{
    if (e->text.len <= TEXT_MOST || e->sweeping) return;
    e->polls->bytes -= e->text.len;
    ft_strbuf_release(&e->text);
}

static void on_read(void *data, const ft_error *err, json_t *snapshot)
{
    job_entry *e = data;
    ft_polls *polls = e->polls;
    polls->asking--;
    e->asking = false;
    e->pinned = true;
    if (polls->closed) {
        polls_settle(polls);
        return;
    }
    if (err) {
        e->known = e->sweeping = false;
        fail_all(&e->asked, err);
        fail_all(&e->waiting, err);
    } else {
        fill(e, snapshot);
        answer_list(e, &e->asked);
        if (!e->changed) answer_list(e, &e->late);
        sweep(e);
        forget_long_text(e);
    }
    ask(e);
    e->pinned = false;
    if (!e->known && is_idle(e)) entry_free(e);
}

/* ---- What happens ---------------------------------------------------------------------------- */

static void on_changed(void *data, const char *job, uint64_t revision, ft_job_state state)
{
    (void)revision;
    (void)state;
    job_entry *e = *place_of(data, job);
    if (!e) return;
    e->changed = true;
    ask(e);
}

static void expire(poll *p)
{
    if (p->expired) return;
    p->expired = true;
    p->entry->sweeping = true;
    uv_timer_start(&p->entry->polls->sweeper, on_sweep, 0, 0);
}

static void on_time(uv_timer_t *timer)
{
    expire(timer->data);
}

static void on_gone(void *data)
{
    expire(data);
}

/* RFC 7240 §4.3. */
static void start_waiting(poll *p, uint32_t seconds)
{
    const ft_api *api = p->entry->polls->api;
    p->waits = true;
    p->any_change = ft_http_header(p->request, "if-none-match") != NULL;
    p->expired = seconds == 0 || api->closing;
    uv_timer_init(api->app->loop, &p->timer);
    p->timer.data = p;
    uv_timer_start(&p->timer, on_time, (uint64_t)seconds * 1000, 0);
    p->seconds = seconds;
    ft_http_on_gone(p->request, on_gone, p);
}

void ft_polls_answer(ft_polls *polls, ft_http_request *request, const char *job,
                     const uint32_t *seconds)
{
    if (strlen(job) > FT_STORE_JOB_ID) {
        ft_http_fail(request, 404, "not-found", "no job %.64s", job);
        return;
    }
    job_entry *e = entry_of(polls, job);
    bool fresh = is_fresh(e) && (e->text.len || client_has_it(e, request));
    if (!seconds && fresh) {
        reply(e, request);
        return;
    }
    poll *p = ft_calloc(1, sizeof *p);
    *p = (poll){.entry = e, .request = request};
    if (seconds) start_waiting(p, *seconds);
    if (!fresh) {
        e->known = e->known && e->text.len;
        push(&e->late, p);
        ask(e);
    } else if (is_answer(e, p)) {
        answer(e, p);
    } else {
        push(&e->waiting, p);
    }
}

const char *ft_polls_project(ft_polls *polls, const char *job)
{
    const job_entry *e = *place_of(polls, job);
    return e && e->known ? e->project : NULL;
}

/* ---- Life ------------------------------------------------------------------------------------ */

ft_polls *ft_polls_new(ft_api *api)
{
    ft_polls *polls = ft_calloc(1, sizeof *polls);
    polls->api = api;
    polls->watch = ft_dispatch_watch(api->app->dispatch, NULL, on_changed, polls);
    uv_timer_init(api->app->loop, &polls->sweeper);
    polls->sweeper.data = polls;
    return polls;
}

static void polls_settle(ft_polls *polls)
{
    if (!polls->closed || !polls->timer_closed || polls->asking) return;
    while (polls->newest) entry_free(polls->newest);
    free(polls);
}

static void on_sweeper_closed(uv_handle_t *handle)
{
    ft_polls *polls = handle->data;
    polls->timer_closed = true;
    polls_settle(polls);
}

void ft_polls_free(ft_polls *polls)
{
    if (!polls) return;
    ft_dispatch_unwatch(polls->watch);
    polls->closed = true;
    uv_close((uv_handle_t *)&polls->sweeper, on_sweeper_closed);
}
