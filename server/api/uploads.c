/* POST /v1/traces and /v1/programs: the decoded bytes go to a nameless file while they are hashed;
 * a worker reads them from there. Nothing of the upload is kept in memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/access.h"
#include "api/uploads.h"

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
        assert(upload->bytes <= upload->api->app->config->max_trace_bytes);
        return;
    }
    ft_error err = FT_ERROR_INIT;
    ft_error_set(&err, ft_status_from_errno(errno), "the upload cannot be written: %s",
                 strerror(errno));
    ft_http_fail_error(request, &err);
    ft_upload_free(upload);
}

static void on_abort(void *context)
{
    ft_upload_free(context);
}

static void on_room(void *data, const ft_error *err, json_t *nothing)
{
    (void)nothing;
    ft_upload *upload = data;
    if (!err) {
        ft_upload_read(upload);
        return;
    }
    if (err->code == FT_CONFLICT)
        ft_http_fail(upload->request, 409, "project-full", "%s", err->message);
    else
        ft_http_fail_error(upload->request, err);
    ft_upload_free(upload);
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
        ft_upload_read(upload);
}

static void serve_upload(ft_api *api, ft_http_request *request, bool program)
{
    const ft_config *config = api->app->config;
    ft_error err = FT_ERROR_INIT;
    int fd = -1;
    if (!ft_http_has_body(request) && !ft_http_header(request, "content-length")) {
        ft_http_fail(request, 411, "body-missing", "the request needs the %s as its body",
                     program ? "program" : "trace");
        return;
    }
    char project[FT_PROJECT_LENGTH + 1];
    if (!ft_access_project(request, ft_http_query(request, "project"), project)) return;
    if (ft_uploads_full(api, request)) return;
    if (api->receiving >= FT_UPLOADS_MOST) {
        ft_http_set(request, "Retry-After", "1");
        ft_http_fail(request, 503, "too-many-uploads",
                     "%u uploads are being received: try again later", api->receiving);
        return;
    }
    if (ft_dispatch_upload_file(api->app->dispatch, &fd, &err) != FT_OK) {
        ft_http_fail_error(request, &err);
        return;
    }
    ft_upload *upload = ft_calloc(1, sizeof *upload);
    api->receiving++;
    assert(api->receiving <= FT_UPLOADS_MOST);
    *upload = (ft_upload){.api = api, .fd = fd, .program = program};
    memcpy(upload->project, project, sizeof project);
    ft_digest_init(&upload->digest);
    uint64_t own = ft_access_of(request)->max_upload, most = config->max_upload_bytes;
    ft_http_body_limits limits = {own && own < most ? own : most, config->max_trace_bytes};
    ft_http_sink sink = {on_data, on_end, on_abort, upload};
    if (!ft_http_take_body(request, limits, sink)) ft_upload_free(upload);
}

void ft_serve_upload(ft_api *api, ft_http_request *request)
{
    serve_upload(api, request, false);
}

void ft_serve_program_upload(ft_api *api, ft_http_request *request)
{
    serve_upload(api, request, true);
}
