#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/access.h"
#include "base/digest.h"
#include "setup/log.h"

#define PAGE_DEFAULT 50
#define PAGE_MOST    500

ft_call *ft_call_new(ft_api *api, ft_http_request *request)
{
    ft_call *call = ft_calloc(1, sizeof *call);
    *call = (ft_call){api, request};
    return call;
}

bool ft_call_end(ft_call *call, const ft_error *err, ft_http_request **request)
{
    ft_http_request *of = call->request;
    free(call);
    if (err) {
        ft_http_fail_error(of, err);
        return false;
    }
    *request = of;
    return true;
}

json_t *ft_job_view(json_t *snapshot)
{
    const char *job = json_string_value(json_object_get(snapshot, "job"));
    const char *trace = json_string_value(json_object_get(snapshot, "trace"));
    json_t *progress = json_object_get(snapshot, "progress");
    json_int_t total = json_integer_value(json_object_get(progress, "tasks"));
    json_int_t open = json_integer_value(json_object_get(progress, "open"));
    if (progress) {
        json_object_set_new(progress, "done", json_integer(total - open));
        json_object_set_new(progress, "total", json_integer(total));
    }
    json_t *links = json_object();
    json_object_set_new(links, "self", json_sprintf("/v1/jobs/%s", job));
    json_object_set_new(links, "findings", json_sprintf("/v1/jobs/%s/findings", job));
    json_object_set_new(links, "trace", json_sprintf("/v1/traces/%s", trace));
    json_object_set_new(snapshot, "links", links);
    return snapshot;
}

void ft_reply_job(ft_http_request *request, int status, json_t *snapshot)
{
    ft_http_set(request, "ETag", "W/\"%lld\"",
                (long long)json_integer_value(json_object_get(snapshot, "revision")));
    ft_http_set(request, "Cache-Control", "no-cache");
    if (status == 202)
        ft_http_set(request, "Location", "/v1/jobs/%s",
                    json_string_value(json_object_get(snapshot, "job")));
    ft_http_reply_json(request, status, ft_job_view(snapshot));
}

void ft_note_damage(ft_api *api, json_t *result)
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(result, "damaged"), i, one)
    {
        const char *finding = json_string_value(json_object_get(one, "finding"));
        const char *why = json_string_value(json_object_get(one, "why"));
        api->damaged++;
        ft_log(FT_LOG_ERROR, "damaged witness", "finding=%s reason=\"%s\"", finding ? finding : "",
               why ? why : "");
    }
    json_object_del(result, "damaged");
}

/* RFC 9110 §13.1.2: a list of tags, compared weakly. */
bool ft_matches_etag(ft_http_request *request, const char *etag)
{
    const char *list = ft_http_header(request, "if-none-match");
    size_t length = strlen(etag);
    while (list && *list) {
        list += strspn(list, " \t,");
        if (*list == '*') return true;
        if (strncmp(list, "W/", 2) == 0) list += 2;
        if (*list != '"') return false;
        const char *end = strchr(++list, '"');
        if (!end) return false;
        if ((size_t)(end - list) == length && memcmp(list, etag, length) == 0) return true;
        list = end + 1;
    }
    return false;
}

static bool not_modified(ft_http_request *request, const char *etag)
{
    if (ft_http_refuse_unmatched(request)) return true;
    if (!ft_matches_etag(request, etag)) return false;
    ft_http_reply(request, 304, NULL, NULL, 0);
    return true;
}

bool ft_reply_not_modified(ft_http_request *request, const char *etag)
{
    ft_http_set(request, "ETag", "W/\"%s\"", etag);
    ft_http_vary(request, "Accept-Encoding");
    return not_modified(request, etag);
}

bool ft_reply_same_bytes(ft_http_request *request, const char *etag)
{
    ft_http_set(request, "ETag", "\"%s\"", etag);
    return not_modified(request, etag);
}

void ft_reply_tagged(ft_http_request *request, json_t *document)
{
    char hex[FT_DIGEST_HEX + 1];
    ft_digest digest;
    char *text = json_dumps(document, JSON_COMPACT);
    size_t length = strlen(text);
    ft_digest_init(&digest);
    ft_digest_update(&digest, text, length);
    ft_digest_hex(&digest, hex);
    hex[16] = '\0';
    text[length] = '\n'; /* over the NUL: the length is what counts */
    ft_http_set(request, "Cache-Control", "no-cache");
    if (!ft_reply_not_modified(request, hex))
        ft_http_reply(request, 200, "application/json", text, length + 1);
    free(text);
}

bool ft_query_number(ft_http_request *request, const char *name, uint32_t initial, uint32_t least,
                     uint32_t most, uint32_t *value)
{
    const char *text = ft_http_query(request, name);
    *value = initial;
    if (!text) return true;
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == '\0' && number >= least && number <= most) {
        *value = (uint32_t)number;
        return true;
    }
    ft_http_fail(request, 400, "malformed-query", "\"%s\" must be a whole number from %u to %u",
                 name, least, most);
    return false;
}

/* RFC 7240 §2: names are compared without case, a value may stand in quotes. */
bool ft_prefer_wait(const ft_api *api, ft_http_request *request, uint32_t *seconds)
{
    uint32_t most = (uint32_t)api->app->config->max_wait_s;
    const char *prefer = ft_http_header(request, "prefer");
    for (const char *at = prefer; at && *at; at += strcspn(at, ",")) {
        at += strspn(at, ", \t");
        if (strncasecmp(at, "wait", 4) != 0) continue;
        at += 4 + strspn(at + 4, " \t");
        if (*at != '=') continue;
        at += 1 + strspn(at + 1, " \t\"");
        if (*at < '0' || *at > '9') continue;
        unsigned long wait = strtoul(at, NULL, 10);
        *seconds = wait < most ? (uint32_t)wait : most;
        return true;
    }
    return false;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

bool ft_query_page(ft_http_request *request, ft_store_page *page)
{
    uint32_t limit;
    if (!ft_query_number(request, "limit", PAGE_DEFAULT, 1, PAGE_MOST, &limit)) return false;
    *page = (ft_store_page){ft_http_query(request, "after"), limit, ft_access_projects(request)};
    return true;
}

static void put_escaped(ft_strbuf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~", c);
        ft_strbuf_printf(out, plain ? "%c" : "%%%02X", c);
    }
}

/* The next page of the same list. */
static void put_next(ft_http_request *request, const char *next)
{
    static const char *const KEPT[] = {"limit",   "state", "trace",   "check",  "safe",
                                       "witness", "since", "project", "search", "job"};
    ft_strbuf link = {0};
    ft_strbuf_printf(&link, "<%s?after=%s", ft_http_path(request), next);
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
        const char *value = ft_http_query(request, KEPT[i]);
        if (!value) continue;
        ft_strbuf_printf(&link, "&%s=", KEPT[i]);
        put_escaped(&link, value);
    }
    ft_http_set(request, "Link", "%s>; rel=\"next\"", link.text);
    ft_strbuf_release(&link);
}

bool ft_call_end_list(ft_call *call, const ft_error *err, const json_t *page,
                      ft_http_request **request)
{
    ft_error bad = err ? *err : FT_ERROR_INIT;
    if (bad.code == FT_USAGE) bad.code = FT_INPUT;
    if (!ft_call_end(call, err ? &bad : NULL, request)) return false;
    const char *next = json_string_value(json_object_get(page, "next"));
    if (next) put_next(*request, next);
    return true;
}
