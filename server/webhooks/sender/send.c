#include "webhooks/sender/send.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"

typedef struct sending {
    bool private; /* such addresses may be reached */
    bool refused; /* one was not */
    size_t headers, body;
    char reason[CURL_ERROR_SIZE];
} sending;

static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    sending *s = data;
    bool good = purpose == CURLSOCKTYPE_IPCXN &&
                (address->family == AF_INET || address->family == AF_INET6) &&
                (s->private || ft_address_is_public(&address->addr));
    if (!good) {
        s->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t count_header(char *data, size_t size, size_t count, void *to)
{
    sending *s = to;
    (void)data;
    s->headers += size * count;
    return s->headers <= FT_SEND_ANSWER ? size * count : 0;
}

/* The status is known by then: a long body does not make the delivery fail. */
static size_t drop_body(char *data, size_t size, size_t count, void *to)
{
    sending *s = to;
    (void)data;
    s->body += size * count;
    return s->body <= FT_SEND_ANSWER ? size * count : 0;
}

static struct curl_slist *make_headers(const json_t *request)
{
    size_t i;
    const json_t *line;
    /* Without this libcurl adds an Expect header. */
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    json_array_foreach(json_object_get(request, "headers"), i, line)
    {
        struct curl_slist *longer = curl_slist_append(list, json_string_value(line));
        if (longer) list = longer;
    }
    return list;
}

static void set_up(CURL *easy, const json_t *request, struct curl_slist *headers, sending *s)
{
    const json_t *body = json_object_get(request, "body");
    long timeout = (long)json_integer_value(json_object_get(request, "timeout_ms"));
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_URL, json_string_value(json_object_get(request, "url")));
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)json_string_length(body));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, json_string_value(body));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, s);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, count_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, s);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, s->reason);
}

static json_t *outcome(CURLcode code, long status, const sending *s)
{
    /* Whatever became of the answer's body: its status is what was asked for. */
    if (status >= 200) return json_pack("{s:I}", "status", (json_int_t)status);
    if (s->refused) return json_pack("{s:s}", "error", "the address is not in the public internet");
    return json_pack("{s:s}", "error", s->reason[0] ? s->reason : curl_easy_strerror(code));
}

json_t *ft_send(const json_t *request)
{
    sending s = {.private = json_is_true(json_object_get(request, "private"))};
    CURL *easy = curl_easy_init();
    if (!easy) return json_pack("{s:s}", "error", "libcurl cannot be started");
    struct curl_slist *headers = make_headers(request);
    long status = 0;
    set_up(easy, request, headers, &s);
    CURLcode code = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    json_t *result = outcome(code, status, &s);
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    return result;
}
