/* POST /v1/traces: the decoded bytes go to a nameless file while they are hashed; a worker reads
 * them from there. Nothing of the upload is kept in memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/access.h"
#include "base/digest.h"

struct ft_upload {
    ft_api *api;
    ft_http_request *request;
    char project[FT_PROJECT_LENGTH + 1];
    int fd;
    uint64_t bytes;
    ft_digest digest;
    ft_ingest *ingest;
    ft_upload *previous, *next; /* of api->uploads, while being ingested */
};

static void upload_free(ft_upload *upload)
{
    if (upload->fd >= 0) close(upload->fd);
    upload->api->receiving--;
    free(upload);
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

static void on_data(void *context, ft_http_request *request, const void *bytes, size_t length)
{
    ft_upload *upload = context;
    if (write_all(upload->fd, bytes, length)) {
        ft_digest_update(&upload->digest, bytes, length);
        upload->bytes += length;
        return;
    }
    ft_http_fail(request, 500, ft_status_name(FT_IO), "the upload cannot be written: %s",
                 strerror(errno));
    upload_free(upload);
}

static void on_abort(void *context)
{
    upload_free(context);
}

static void unlist(ft_upload *upload)
{
    ft_api *api = upload->api;
    if (upload->next) upload->next->previous = upload->previous;
    if (upload->previous)
        upload->previous->next = upload->next;
    else
        api->uploads = upload->next;
    api->ingesting--;
}

typedef struct sharing {
    ft_http_request *request;
    json_t *meta;
} sharing;

static void on_shared(void *data, const ft_error *err, json_t *result)
{
    sharing *s = data;
    if (err) {
        ft_http_fail_error(s->request, err);
        json_decref(s->meta);
    } else {
        bool created = json_is_true(json_object_get(result, "created"));
        const char *hash = json_string_value(json_object_get(s->meta, "trace"));
        ft_http_set(s->request, "Location", "/v1/traces/%s", hash);
        ft_http_set(s->request, "ETag", "W/\"%s\"", hash);
        ft_http_reply_json(s->request, created ? 201 : 200, s->meta);
    }
    free(s);
}

/* Whether somebody else has uploaded the same is not told: what counts is what the project had. */
static void on_ingested(void *data, const ft_error *err, const json_t *meta, bool created)
{
    (void)created;
    ft_upload *upload = data;
    ft_http_request *request = upload->request;
    unlist(upload);
    if (err) {
        ft_http_fail_error(request, err);
    } else {
        sharing *s = ft_calloc(1, sizeof *s);
        *s = (sharing){request, json_incref((json_t *)(uintptr_t)meta)};
        ft_store_trace_share(upload->api->app->store,
                             json_string_value(json_object_get(meta, "trace")), upload->project,
                             on_shared, s);
    }
    upload_free(upload);
}

static bool too_many(ft_api *api, ft_http_request *request)
{
    if (api->closing) {
        ft_http_fail(request, 503, "shutting-down", "the server is stopping");
        return true;
    }
    if (api->ingesting < api->app->config->max_ingests) return false;
    ft_http_set(request, "Retry-After", "1");
    ft_http_fail(request, 503, "too-many-uploads",
                 "%u uploads are being read already: try again later", api->ingesting);
    return true;
}

static void begin_ingest(ft_upload *upload)
{
    ft_api *api = upload->api;
    if (too_many(api, upload->request)) {
        upload_free(upload);
        return;
    }
    char hash[FT_DIGEST_HEX + 1];
    ft_digest_hex(&upload->digest, hash);
    upload->next = api->uploads;
    if (upload->next) upload->next->previous = upload;
    api->uploads = upload;
    api->ingesting++;
    int fd = upload->fd;
    upload->fd = -1;
    upload->ingest =
        ft_dispatch_ingest(api->app->dispatch, fd, upload->bytes, hash, on_ingested, upload);
}

static void on_room(void *data, const ft_error *err, json_t *nothing)
{
    (void)nothing;
    ft_upload *upload = data;
    if (!err) {
        begin_ingest(upload);
        return;
    }
    if (err->code == FT_CONFLICT)
        ft_http_fail(upload->request, 409, "project-full", "%s", err->message);
    else
        ft_http_fail_error(upload->request, err);
    upload_free(upload);
}

static void on_end(void *context, ft_http_request *request)
{
    ft_upload *upload = context;
    const ft_app *app = upload->api->app;
    uint64_t most = ft_dispatch_limit(app->dispatch, upload->project, FT_LIMIT_BYTES);
    upload->request = request;
    if (most > 0)
        ft_store_room(app->store, upload->project, most, on_room, upload);
    else
        begin_ingest(upload);
}

void ft_api_forget_uploads(ft_api *api)
{
    while (api->uploads) {
        ft_upload *upload = api->uploads;
        ft_dispatch_ingest_forget(upload->ingest);
        unlist(upload);
        ft_http_fail(upload->request, 503, "shutting-down", "the server is stopping");
        upload_free(upload);
    }
}

void ft_serve_upload(ft_api *api, ft_http_request *request)
{
    const ft_config *config = api->app->config;
    ft_error err = FT_ERROR_INIT;
    int fd = -1;
    if (!ft_http_has_body(request) && !ft_http_header(request, "content-length")) {
        ft_http_fail(request, 411, "body-missing", "the trace must come as the body");
        return;
    }
    char project[FT_PROJECT_LENGTH + 1];
    if (!ft_access_project(request, ft_http_query(request, "project"), project)) return;
    if (too_many(api, request)) return;
    if (api->receiving >= FT_UPLOADS_MOST) {
        ft_http_set(request, "Retry-After", "1");
        ft_http_fail(request, 503, "too-many-uploads",
                     "%u uploads are being received already: try again later", api->receiving);
        return;
    }
    if (ft_dispatch_upload_file(api->app->dispatch, &fd, &err) != FT_OK) {
        ft_http_fail_error(request, &err);
        return;
    }
    ft_upload *upload = ft_calloc(1, sizeof *upload);
    api->receiving++;
    *upload = (ft_upload){.api = api, .fd = fd};
    memcpy(upload->project, project, sizeof project);
    ft_digest_init(&upload->digest);
    uint64_t own = ft_access_of(request)->max_upload, most = config->max_upload_bytes;
    ft_http_body_limits limits = {own && own < most ? own : most, config->max_trace_bytes};
    ft_http_sink sink = {on_data, on_end, on_abort, upload};
    if (!ft_http_take_body(request, limits, sink)) upload_free(upload);
}
