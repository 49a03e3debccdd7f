/* Uploads while workers read them: see api/uploads.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/access.h"
#include "api/uploads.h"
#include "wire/wire.h"

#define ENDED_MOST 256 /* uploads remembered after their end */

/* A request that is answered when the upload has ended, or its time is up. */
struct ft_upload_waiter {
    ft_upload_waiter *next;
    ft_upload *upload;
    ft_http_request *request;
    uv_timer_t timer; /* of one with Prefer: wait */
    bool timed;
    bool posted; /* it is the upload itself */
    uint32_t seconds;
};

/* Outlives an upload that is forgotten meanwhile. */
struct ft_upload_sharing {
    ft_upload *upload; /* NULL: forgotten */
    json_t *meta;
};

static void end_receiving(ft_upload *upload)
{
    if (upload->fd >= 0) close(upload->fd);
    upload->fd = -1;
    upload->api->receiving--;
}

void ft_upload_free(ft_upload *upload)
{
    if (!upload->ended) end_receiving(upload);
    free(upload);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static const char *state_of(const ft_upload *upload)
{
    if (upload->ended) return upload->error.code == FT_OK ? "stored" : "refused";
    if (!upload->ingest) return "storing";
    ft_ingest_look look = ft_dispatch_ingest_look(upload->ingest);
    if (look.waiting) return "waiting";
    return look.sent < upload->bytes ? "reading" : "storing";
}

static json_t *describe(const ft_upload *upload)
{
    bool failed = upload->error.code != FT_OK, stored = upload->ended && !failed;
    uint64_t sent = upload->ingest ? ft_dispatch_ingest_look(upload->ingest).sent : upload->bytes;
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:o}", "upload", upload->hash, "project",
                     upload->project, "state", state_of(upload), "bytes", (json_int_t)upload->bytes,
                     "read", (json_int_t)sent, "trace",
                     stored ? json_string(upload->hash) : json_null(), "error",
                     failed ? ft_wire_error_to_json(&upload->error) : json_null());
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* Takes the waiter off its upload. The request is owed an answer then. */
static ft_http_request *waiter_end(ft_upload_waiter *waiter)
{
    ft_http_request *request = waiter->request;
    ft_upload_waiter **at = &waiter->upload->waiters;
    while (*at != waiter) at = &(*at)->next;
    *at = waiter->next;
    if (!waiter->timed) {
        free(waiter);
        return request;
    }
    ft_http_on_gone(request, NULL, NULL);
    ft_http_set(request, "Preference-Applied", "wait=%u", waiter->seconds);
    uv_close((uv_handle_t *)&waiter->timer, on_timer_closed);
    return request;
}

static void reply_state(const ft_upload *upload, ft_http_request *request, int status)
{
    ft_http_set(request, "Cache-Control", "no-cache");
    if (status == 202) ft_http_set(request, "Location", "/v1/uploads/%s", upload->hash);
    ft_http_reply_json(request, status, describe(upload));
}

static void expire(ft_upload_waiter *waiter)
{
    const ft_upload *upload = waiter->upload;
    int status = waiter->posted ? 202 : 200;
    reply_state(upload, waiter_end(waiter), status);
}

static void on_time(uv_timer_t *timer)
{
    expire(timer->data);
}

static void on_gone(void *data)
{
    expire(data);
}

static void wait_for(ft_upload *upload, ft_http_request *request, bool posted)
{
    ft_upload_waiter *waiter = ft_calloc(1, sizeof *waiter);
    *waiter = (ft_upload_waiter){upload->waiters, upload, request, .posted = posted};
    upload->waiters = waiter;
    waiter->timed = ft_prefer_wait(upload->api, request, &waiter->seconds);
    if (!waiter->timed) return;
    uv_timer_init(upload->api->app->loop, &waiter->timer);
    waiter->timer.data = waiter;
    uv_timer_start(&waiter->timer, on_time, (uint64_t)waiter->seconds * 1000, 0);
    ft_http_on_gone(request, on_gone, waiter);
}

/* ---- Ending ---------------------------------------------------------------------------------- */

static void forget_oldest(ft_api *api)
{
    unsigned ended = 0;
    for (ft_upload **at = &api->uploads, *upload; (upload = *at) != NULL;) {
        ended += upload->ended;
        if (upload->ended && ended > ENDED_MOST) {
            *at = upload->next;
            ft_upload_free(upload);
        } else {
            at = &upload->next;
        }
    }
}

static void reply_meta(ft_http_request *request, json_t *meta, bool created)
{
    const char *hash = json_string_value(json_object_get(meta, "trace"));
    ft_http_set(request, "Location", "/v1/%s/%s", ft_is_program(meta) ? "programs" : "traces",
                hash);
    ft_http_set(request, "ETag", "W/\"%s\"", hash);
    ft_http_reply_json(request, created ? 201 : 200, json_incref(meta));
}

/* meta NULL: upload->error says why there is none. */
static void end(ft_upload *upload, json_t *meta, bool created)
{
    end_receiving(upload);
    upload->ended = true;
    upload->api->ingesting--;
    while (upload->waiters) {
        bool posted = upload->waiters->posted;
        ft_http_request *request = waiter_end(upload->waiters);
        if (!posted)
            reply_state(upload, request, 200);
        else if (meta)
            reply_meta(request, meta, created);
        else if (upload->error.code == FT_CONFLICT)
            ft_http_fail(request, 409, "project-full", "%s", upload->error.message);
        else
            ft_http_fail_error(request, &upload->error);
    }
    forget_oldest(upload->api);
}

static void on_shared(void *data, const ft_error *err, json_t *result)
{
    ft_upload_sharing *sharing = data;
    ft_upload *upload = sharing->upload;
    if (upload) {
        upload->sharing = NULL;
        if (err) upload->error = *err;
        end(upload, err ? NULL : sharing->meta, json_is_true(json_object_get(result, "created")));
    }
    json_decref(sharing->meta);
    free(sharing);
}

/* The answer does not show whether another project uploaded the same: only the project's own count.
 */
static void on_ingested(void *data, const ft_error *err, const json_t *meta, bool created)
{
    (void)created;
    ft_upload *upload = data;
    upload->ingest = NULL;
    if (err) {
        upload->error = *err;
        end(upload, NULL, false);
        return;
    }
    ft_upload_sharing *sharing = ft_calloc(1, sizeof *sharing);
    *sharing = (ft_upload_sharing){upload, json_incref((json_t *)(uintptr_t)meta)};
    upload->sharing = sharing;
    const ft_app *app = upload->api->app;
    ft_store_trace_share(app->store, upload->hash, upload->project,
                         ft_dispatch_limit(app->dispatch, upload->project, FT_LIMIT_BYTES),
                         on_shared, sharing);
}

/* ---- Beginning ------------------------------------------------------------------------------- */

bool ft_uploads_full(ft_api *api, ft_http_request *request)
{
    if (api->closing) {
        ft_http_fail(request, 503, "shutting-down", "the server is stopping");
        return true;
    }
    if (api->ingesting < api->app->config->max_ingests) return false;
    ft_http_set(request, "Retry-After", "1");
    ft_http_fail(request, 503, "too-many-uploads", "%u uploads are being read: try again later",
                 api->ingesting);
    return true;
}

void ft_upload_read(ft_upload *upload)
{
    ft_api *api = upload->api;
    if (ft_uploads_full(api, upload->request)) {
        ft_upload_free(upload);
        return;
    }
    ft_digest_hex(&upload->digest, upload->hash);
    upload->next = api->uploads;
    api->uploads = upload;
    api->ingesting++;
    wait_for(upload, upload->request, true);
    upload->request = NULL;
    int fd = upload->fd;
    upload->fd = -1;
    upload->ingest = ft_dispatch_ingest(api->app->dispatch, fd, upload->bytes, upload->hash,
                                        upload->program, on_ingested, upload);
}

void ft_api_forget_uploads(ft_api *api)
{
    for (ft_upload *upload; (upload = api->uploads) != NULL;) {
        api->uploads = upload->next;
        if (upload->ingest) ft_dispatch_ingest_forget(upload->ingest);
        if (upload->sharing) upload->sharing->upload = NULL;
        if (!upload->ended) api->ingesting--;
        while (upload->waiters)
            ft_http_fail(waiter_end(upload->waiters), 503, "shutting-down",
                         "the server is stopping");
        ft_upload_free(upload);
    }
}

/* ---- GET /v1/uploads/{upload} ---------------------------------------------------------------- */

void ft_serve_reading(ft_api *api, ft_http_request *request)
{
    const char *name = ft_http_param(request, 0), *projects = ft_access_projects(request);
    ft_upload *upload = api->uploads;
    while (upload && (strcmp(upload->hash, name) != 0 ||
                      (projects && !ft_project_listed(projects, upload->project))))
        upload = upload->next;
    uint32_t ignored;
    if (!upload)
        ft_http_fail(request, 404, "not-found",
                     "no upload %.64s since the server started: GET /v1/traces lists what is "
                     "stored",
                     name);
    else if (upload->ended || !ft_prefer_wait(api, request, &ignored))
        reply_state(upload, request, 200);
    else
        wait_for(upload, request, false);
}
