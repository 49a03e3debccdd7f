#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "http/internal.h"

#define BACKLOG 1024

const ft_http_limits ft_http_default_limits = {.connections = 256,
                                               .target_bytes = 8u << 10,
                                               .header_bytes = 16u << 10,
                                               .headers = 100,
                                               .header_ms = 10000,
                                               .idle_ms = 60000,
                                               .linger_ms = 2000,
                                               .body_rate = 256};

ft_http *ft_http_new(uv_loop_t *loop, const ft_http_limits *limits, ft_http_handler handler)
{
    ft_http *http = ft_calloc(1, sizeof *http);
    http->loop = loop;
    http->limits = *limits;
    http->handler = handler;
    http->date_second = -1;
    return http;
}

uint32_t ft_http_fit_connections(uint32_t wanted, uint32_t reserve)
{
    struct rlimit files;
    rlim_t needed = (rlim_t)wanted + FT_HTTP_TURNED_AWAY + reserve;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
    if (files.rlim_cur < needed) {
        files.rlim_cur = files.rlim_max < needed ? files.rlim_max : needed;
        if (setrlimit(RLIMIT_NOFILE, &files) != 0) getrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur >= needed) return wanted;
    rlim_t taken = FT_HTTP_TURNED_AWAY + (rlim_t)reserve;
    return files.rlim_cur > taken ? (uint32_t)(files.rlim_cur - taken) : 1;
}

const ft_http_stats *ft_http_statistics(const ft_http *http)
{
    return &http->stats;
}

/* RFC 9110 §5.6.7, whatever the locale. */
const char *ft_http_date(ft_http *http)
{
    static const char DAYS[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char MONTHS[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t now = time(NULL);
    if ((int64_t)now == http->date_second) return http->date;
    struct tm utc;
    gmtime_r(&now, &utc);
    http->date_second = (int64_t)now;
    snprintf(http->date, sizeof http->date, "%s, %02d %s %04d %02d:%02d:%02d GMT",
             DAYS[utc.tm_wday % 7], utc.tm_mday % 100, MONTHS[utc.tm_mon % 12],
             (utc.tm_year + 1900) % 10000, utc.tm_hour % 100, utc.tm_min % 100, utc.tm_sec % 100);
    return http->date;
}

static void on_connection(uv_stream_t *stream, int status)
{
    ft_listener *listener = stream->data;
    if (status == 0) ft_connection_accept(listener);
}

static void on_listener_closed(uv_handle_t *handle)
{
    ft_listener *listener = handle->data;
    listener->open = false;
    free(listener->path);
    listener->path = NULL;
    listener->http->handles--;
    ft_http_settle(listener->http);
}

static ft_listener *listener_new(ft_http *http, bool pipe)
{
    assert(http->listening < FT_HTTP_LISTENERS);
    ft_listener *listener = &http->listeners[http->listening++];
    *listener = (ft_listener){.http = http, .pipe = pipe, .open = true};
    if (pipe)
        uv_pipe_init(http->loop, &listener->io.pipe, 0);
    else
        uv_tcp_init(http->loop, &listener->io.tcp);
    listener->io.handle.data = listener;
    http->handles++;
    return listener;
}

static ft_status resolve(const char *address, int port, struct sockaddr_storage *to, ft_error *err)
{
    const char *host = strcmp(address, "localhost") == 0 ? "127.0.0.1" : address;
    if (uv_ip4_addr(host, port, (struct sockaddr_in *)to) == 0) return FT_OK;
    if (uv_ip6_addr(host, port, (struct sockaddr_in6 *)to) == 0) return FT_OK;
    return ft_error_set(err, FT_USAGE, "\"%s\" is not an IP address", address);
}

static int bound_port(const uv_tcp_t *tcp)
{
    struct sockaddr_storage at;
    int length = sizeof at;
    if (uv_tcp_getsockname(tcp, (struct sockaddr *)&at, &length) != 0) return 0;
    return at.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&at)->sin6_port)
                                    : ntohs(((struct sockaddr_in *)&at)->sin_port);
}

ft_status ft_http_listen_tcp(ft_http *http, const char *address, int port, int *bound,
                             ft_error *err)
{
    struct sockaddr_storage to;
    ft_status status = resolve(address, port, &to, err);
    if (status != FT_OK) return status;
    ft_listener *listener = listener_new(http, false);
    int code = uv_tcp_bind(&listener->io.tcp, (const struct sockaddr *)&to, 0);
    if (code == 0) code = uv_listen(&listener->io.stream, BACKLOG, on_connection);
    if (code != 0)
        return ft_error_set(
            err, FT_IO, "cannot listen on %s port %d: %s%s", address, port, uv_strerror(code),
            code == UV_EADDRINUSE ? "; end the program that listens there, or choose another port"
                                  : "");
    *bound = bound_port(&listener->io.tcp);
    return FT_OK;
}

/* True if a connection to the socket file succeeds. */
static bool somebody_listens(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return true;
    memcpy(to.sun_path, path, strlen(path) + 1);
    bool refused = connect(fd, (struct sockaddr *)&to, sizeof to) != 0 && errno == ECONNREFUSED;
    close(fd);
    return !refused;
}

static ft_status make_room(const char *path, ft_error *err)
{
    struct stat info;
    if (strlen(path) >= sizeof((struct sockaddr_un *)0)->sun_path)
        return ft_error_set(err, FT_USAGE, "socket: the path is too long: %.200s", path);
    if (lstat(path, &info) != 0) return FT_OK;
    if (!S_ISSOCK(info.st_mode))
        return ft_error_set(err, FT_CONFLICT,
                            "%.200s exists and is not a socket: remove it or name another path",
                            path);
    if (somebody_listens(path))
        return ft_error_set(err, FT_CONFLICT, "another process already listens on %.200s", path);
    unlink(path);
    return FT_OK;
}

static bool has_folder(const char *path)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? ft_strndup(path, (size_t)(slash - path) + 1) : ft_strdup(".");
    bool has = stat(folder, &info) == 0;
    free(folder);
    return has;
}

ft_status ft_http_listen_unix(ft_http *http, const char *path, ft_error *err)
{
    ft_status status = make_room(path, err);
    if (status != FT_OK) return status;
    ft_listener *listener = listener_new(http, true);
    mode_t mask = umask(0177);
    int code = uv_pipe_bind(&listener->io.pipe, path);
    umask(mask);
    if (code == 0) code = uv_listen(&listener->io.stream, BACKLOG, on_connection);
    if (code == UV_EACCES && !has_folder(path)) code = UV_ENOENT; /* libuv reports them as one */
    if (code != 0)
        return ft_error_set(err, FT_IO, "cannot listen on %.200s: %s", path, uv_strerror(code));
    listener->path = ft_strdup(path);
    return FT_OK;
}

/* ---- Closing --------------------------------------------------------------------------------- */

static void on_grace_closed(uv_handle_t *handle)
{
    ft_http *http = handle->data;
    http->timer_open = false;
    http->handles--;
    ft_http_settle(http);
}

void ft_http_settle(ft_http *http)
{
    if (!http->closing || http->connections || http->requests) return;
    if (http->timer_open && !uv_is_closing((uv_handle_t *)&http->grace))
        uv_close((uv_handle_t *)&http->grace, on_grace_closed);
    if (http->handles) return;
    void (*closed)(void *data) = http->closed;
    void *data = http->closed_data;
    ft_strbuf_release(&http->scratch);
    free(http->spare);
    free(http);
    closed(data);
}

static void on_grace(uv_timer_t *timer)
{
    ft_http *http = timer->data;
    for (ft_connection *c = http->connections, *next; c; c = next) {
        next = c->next;
        ft_connection_close(c);
    }
}

static void wind_down(ft_connection *connection)
{
    connection->last = true;
    if (connection->phase == FT_PHASE_IDLE || connection->phase == FT_PHASE_HEAD) {
        ft_connection_close(connection);
        return;
    }
    if (connection->request) ft_request_tell_gone(connection->request);
}

void ft_http_close(ft_http *http, uint32_t grace_ms, void (*closed)(void *data), void *data)
{
    assert(!http->closing);
    http->closing = true;
    http->closed = closed;
    http->closed_data = data;
    uv_timer_init(http->loop, &http->grace);
    http->grace.data = http;
    http->timer_open = true;
    http->handles++;
    uv_timer_start(&http->grace, on_grace, grace_ms, 0);
    for (unsigned i = 0; i < http->listening; i++)
        uv_close(&http->listeners[i].io.handle, on_listener_closed);
    for (ft_connection *c = http->connections, *next; c; c = next) {
        next = c->next;
        wind_down(c);
    }
    ft_http_settle(http);
}
