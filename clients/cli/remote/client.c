#include "client.h"
#include "base/contract.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "terminal/terminal.h"

enum { CONNECT_SECONDS = 10, POLL_MS = 1000, PATIENCE_MS = 2000, STEP_MS = 50 };

struct ft_client {
    CURL *easy;
    CURLM *multi;
    char *base;   /* what goes before a path */
    char *shown;  /* the server as the user named it */
    char *socket; /* path or NULL */
    bool local;   /* no proxy on the way */
    bool busy;    /* a transfer is running: there is one handle */
    char reason[CURL_ERROR_SIZE];
};

typedef struct transfer {
    const ft_request *request;
    uint64_t left; /* bytes of the file not sent yet */
    ft_reply *reply;
    bool is_json;
} transfer;

/* ---- opening -------------------------------------------------------------------------------- */

static bool is_loopback(const char *url)
{
    static const char *const hosts[] = {"http://127.", "http://localhost", "http://[::1]"};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        if (strncmp(url, hosts[i], strlen(hosts[i])) == 0) return true;
    return false;
}

static bool has_host(const char *url)
{
    size_t scheme = strncmp(url, "http://", 7) == 0 ? 7 : strncmp(url, "https://", 8) == 0 ? 8 : 0;
    return scheme && url[scheme] && url[scheme] != '/';
}

static ft_client *new_client(const char *server, const char *base, const char *socket)
{
    ft_client *client = ft_calloc(1, sizeof *client);
    size_t length = strlen(base);
    while (length > 0 && base[length - 1] == '/') length--;
    client->base = ft_strndup(base, length);
    client->shown = ft_strdup(server);
    client->socket = socket ? ft_strdup(socket) : NULL;
    client->local = socket || is_loopback(base);
    return client;
}

ft_status ft_client_open(const char *server, ft_client **client, ft_error *err)
{
    ft_client *opened = NULL;
    if (strncmp(server, "unix:", 5) == 0 && server[5])
        opened = new_client(server, "http://localhost", server + 5);
    else if (has_host(server))
        opened = new_client(server, server, NULL);
    else
        return ft_error_set(
            err, FT_USAGE,
            "'%s' is not a server address; use http://HOST:PORT, https://HOST or unix:PATH",
            server);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    opened->easy = curl_easy_init();
    opened->multi = curl_multi_init();
    if (!opened->easy || !opened->multi) {
        ft_client_close(opened);
        return ft_error_set(err, FT_INTERNAL, "libcurl cannot be started");
    }
    *client = opened;
    return FT_OK;
}

void ft_client_close(ft_client *client)
{
    if (!client) return;
    if (client->easy) curl_easy_cleanup(client->easy);
    if (client->multi) curl_multi_cleanup(client->multi);
    free(client->base);
    free(client->shown);
    free(client->socket);
    free(client);
}

const char *ft_client_base(const ft_client *client)
{
    return client->base;
}

/* ---- one transfer --------------------------------------------------------------------------- */

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    transfer *now = context;
    ft_strbuf_add(&now->reply->body, data, size * count);
    return size * count;
}

static size_t give_body(char *data, size_t size, size_t count, void *context)
{
    transfer *now = context;
    size_t most = size * count;
    if (most > now->left) most = (size_t)now->left;
    size_t got = fread(data, 1, most, now->request->file);
    assert(got <= now->left && now->left <= now->request->file_bytes);
    if (got < most && ferror(now->request->file)) return CURL_READFUNC_ABORT;
    now->left -= got;
    if (now->request->sent)
        now->request->sent(now->request->context, now->request->file_bytes - now->left);
    return got;
}

/* The value of a header line "name: value\r\n" if it has that name; heap text or NULL. */
static char *header_value(const char *line, size_t length, const char *name)
{
    size_t prefix = strlen(name);
    if (length <= prefix || strncasecmp(line, name, prefix) != 0 || line[prefix] != ':')
        return NULL;
    line += prefix + 1;
    length -= prefix + 1;
    while (length > 0 && (*line == ' ' || *line == '\t')) line++, length--;
    while (length > 0 && strchr("\r\n \t", line[length - 1])) length--;
    return ft_strndup(line, length);
}

static size_t take_header(char *line, size_t size, size_t count, void *context)
{
    transfer *now = context;
    char *type = header_value(line, size * count, "content-type");
    char *etag = header_value(line, size * count, "etag");
    char *location = header_value(line, size * count, "location");
    if (type) now->is_json = strstr(type, "json") != NULL;
    free(type);
    if (etag) {
        free(now->reply->etag);
        now->reply->etag = etag;
    }
    if (location) {
        free(now->reply->location);
        now->reply->location = location;
    }
    return size * count;
}

/* A secret does not belong on a command line, where everybody on the machine can read it. */
static struct curl_slist *add_token(struct curl_slist *headers)
{
    ft_strbuf line = {0};
    const char *token = getenv("FORETELL_TOKEN");
    size_t length = token ? strlen(token) : 0;
    for (size_t i = 0; i < length; i++)
        if (token[i] <= ' ' || token[i] > '~') length = 0;
    if (length == 0) return headers;
    ft_strbuf_printf(&line, "Authorization: Bearer %s", token);
    headers = curl_slist_append(headers, line.text);
    ft_strbuf_release(&line);
    return headers;
}

static struct curl_slist *request_headers(const ft_request *request)
{
    ft_strbuf line = {0};
    /* No "Expect: 100-continue": the pause that it brings buys nothing on a local server. */
    struct curl_slist *headers = add_token(curl_slist_append(NULL, "Expect:"));
    if (request->json) headers = curl_slist_append(headers, "Content-Type: application/json");
    if (request->file)
        headers = curl_slist_append(headers, "Content-Type: application/octet-stream");
    if (request->encoding) {
        ft_strbuf_printf(&line, "Content-Encoding: %s", request->encoding);
        headers = curl_slist_append(headers, line.text);
        ft_strbuf_clear(&line);
    }
    if (request->etag) {
        ft_strbuf_printf(&line, "If-None-Match: %s", request->etag);
        headers = curl_slist_append(headers, line.text);
        ft_strbuf_clear(&line);
    }
    if (request->wait) {
        ft_strbuf_printf(&line, "Prefer: wait=%" PRIu32, request->wait);
        headers = curl_slist_append(headers, line.text);
    }
    ft_strbuf_release(&line);
    return headers;
}

static void set_body(CURL *easy, const char *json_text, transfer *now)
{
    if (json_text) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, json_text);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(json_text));
    } else if (now->request->file) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)now->request->file_bytes);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(easy, CURLOPT_READDATA, now);
    }
}

static void set_up(ft_client *client, const char *url, const char *json_text,
                   struct curl_slist *headers, transfer *now)
{
    CURL *easy = client->easy;
    curl_easy_reset(easy);
    client->reason[0] = '\0';
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->reason);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, now);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, now);
    if (client->socket) curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, client->socket);
    if (client->local) curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    set_body(easy, json_text, now);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, now->request->method);
}

/* Waits for the connection or a signal; behind a signal, which keeps its pipe readable, in short
 * steps. */
static bool await(const ft_client *client, bool signalled)
{
    struct curl_waitfd extra = {.fd = ft_signals_fd(), .events = CURL_WAIT_POLLIN};
    unsigned n_extra = extra.fd >= 0 && !signalled ? 1 : 0;
    return !curl_multi_poll(client->multi, &extra, n_extra, signalled ? STEP_MS : POLL_MS, NULL);
}

/* Runs the transfer until it ends or a signal comes in. */
static CURLcode run(ft_client *client, const ft_request *request)
{
    CURLcode code = CURLE_ABORTED_BY_CALLBACK;
    int patience = request->patient ? PATIENCE_MS / STEP_MS : 0;
    curl_multi_add_handle(client->multi, client->easy);
    int running = 1;
    while (running) {
        bool signalled = ft_signals_caught() != 0;
        if (signalled && patience-- <= 0) break;
        if (curl_multi_perform(client->multi, &running)) break;
        if (running && !await(client, signalled)) break;
    }
    int left = 0;
    const CURLMsg *message = curl_multi_info_read(client->multi, &left);
    if (message && message->msg == CURLMSG_DONE) code = message->data.result;
    curl_multi_remove_handle(client->multi, client->easy);
    return code;
}

static ft_status no_answer(const ft_client *client, CURLcode code, ft_error *err)
{
    const char *reason = client->reason[0] ? client->reason : curl_easy_strerror(code);
    bool away = code == CURLE_COULDNT_CONNECT;
    /* Of a socket's path libcurl says that localhost does not answer. */
    if (away && client->socket) reason = "no process answers at that socket";
    return ft_error_set(err, FT_IO, "no answer from the server %s%s: %s", client->shown,
                        away ? " (is foretelld running there?)" : "", reason);
}

static ft_status finish(ft_client *client, CURLcode code, transfer *now, ft_error *err)
{
    ft_reply *reply = now->reply;
    long status = 0;
    curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
    reply->status = (int)status;
    if (now->is_json && reply->body.text)
        reply->json = json_loadb(reply->body.text, reply->body.len, JSON_REJECT_DUPLICATES, NULL);
    bool known = now->request->patient && !code;
    if (ft_signals_caught() && !known) return ft_error_set(err, FT_IO, "interrupted");
    /* A server that refuses an upload half-way answers and hangs up: the answer counts. */
    if (code && !(status >= 400 && reply->json)) return no_answer(client, code, err);
    if (status == 401)
        return ft_error_set(
            err, FT_IO, "%s",
            getenv("FORETELL_TOKEN")
                ? "the server rejects the token in FORETELL_TOKEN: it is unknown or has expired"
                : "the server requires an access token: set FORETELL_TOKEN "
                  "(`foretelld token create` makes one)");
    if (status >= 400) return ft_problem_error(reply->status, reply->json, err);
    if (now->is_json && !reply->json && status != 304)
        return ft_error_set(err, FT_IO, "the server %s sent a response that is not JSON",
                            client->shown);
    return FT_OK;
}

ft_status ft_client_send(ft_client *client, const ft_request *request, ft_reply *reply,
                         ft_error *err)
{
    transfer now = {.request = request, .left = request->file_bytes, .reply = reply};
    ft_strbuf url = {0};
    FT_REQUIRE(request->method && request->path[0] == '/');
    FT_REQUIRE(!(request->json && request->file) && (request->file || !request->file_bytes));
    FT_REQUIRE(!reply->json && !reply->body.len); /* of one request only */
    assert(!client->busy);
    client->busy = true;
    ft_strbuf_printf(&url, "%s%s", client->base, request->path);
    char *json_text = request->json ? json_dumps(request->json, JSON_COMPACT) : NULL;
    struct curl_slist *headers = request_headers(request);
    set_up(client, url.text, json_text, headers, &now);
    CURLcode code = run(client, request);
    ft_status status = finish(client, code, &now, err);
    client->busy = false;
    assert(status != FT_OK || (reply->status >= 200 && reply->status < 400));
    curl_slist_free_all(headers);
    free(json_text);
    ft_strbuf_release(&url);
    return status;
}

ft_status ft_client_get(ft_client *client, const char *path, json_t **json, ft_error *err)
{
    ft_request request = {.method = "GET", .path = path};
    ft_reply reply = {0};
    ft_status status = ft_client_send(client, &request, &reply, err);
    if (!status && !reply.json)
        status = ft_error_set(err, FT_IO, "the server %s sent a response that is not JSON for %s",
                              client->shown, path);
    if (!status) *json = json_incref(reply.json);
    ft_reply_release(&reply);
    return status;
}

void ft_reply_release(ft_reply *reply)
{
    ft_strbuf_release(&reply->body);
    json_decref(reply->json);
    free(reply->etag);
    free(reply->location);
    *reply = (ft_reply){0};
}

/* ---- problems ------------------------------------------------------------------------------- */

static uint64_t place(const json_t *json, const char *member)
{
    json_int_t value = json_integer_value(json_object_get(json, member));
    return value > 0 ? (uint64_t)value : 0;
}

/* A 4xx says that the request is wrong, but for these: the server will not have us now. */
static ft_status status_of_http(int status)
{
    if (status == 404) return FT_NOT_FOUND;
    if (status == 409) return FT_CONFLICT;
    if (status == 413) return FT_LIMIT;
    bool ours = status >= 400 && status < 500 && status != 401 && status != 403 && status != 408 &&
                status != 429;
    return ours ? FT_USAGE : FT_IO;
}

ft_status ft_problem_error(int status, const json_t *json, ft_error *err)
{
    FT_REQUIRE(status >= 400);
    const char *code_name = json_string_value(json_object_get(json, "code"));
    const char *text = json_string_value(json_object_get(json, "detail"));
    const char *pointer = json_string_value(json_object_get(json, "pointer"));
    if (!text) text = json_string_value(json_object_get(json, "title"));
    ft_status code = code_name ? ft_status_from_name(code_name) : FT_INTERNAL;
    if (code == FT_INTERNAL || code == FT_OK) code = status_of_http(status);
    if (status >= 500) code = FT_IO;
    ft_error problem = {.code = code, .line = place(json, "line"), .column = place(json, "column")};
    const json_t *offset = json_object_get(json, "offset");
    problem.has_offset = json_is_integer(offset);
    problem.offset = place(json, "offset");
    if (!text)
        snprintf(problem.message, sizeof problem.message, "the server answered with status %d",
                 status);
    else if (pointer && *pointer)
        snprintf(problem.message, sizeof problem.message, "%s (at %s)", text, pointer);
    else
        snprintf(problem.message, sizeof problem.message, "%s", text);
    assert(code != FT_OK && problem.message[0]);
    if (err && err->code == FT_OK) *err = problem;
    return code;
}
