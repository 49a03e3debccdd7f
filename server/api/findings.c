/* Reports, findings and witnesses: views of what is stored. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/internal.h"

#define PAGE_MOST 100000

/* The report's JSON, with the records that it holds as texts. */
static void report_text(const json_t *report, ft_strbuf *out)
{
    static const char *const LISTS[] = {"findings", "undecided", "safe"};
    json_t *head = json_copy((json_t *)(uintptr_t)report);
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) json_object_del(head, LISTS[i]);
    json_object_del(head, "reviews");
    char *text = json_dumps(head, JSON_COMPACT);
    json_decref(head);
    ft_strbuf_add(out, text, strlen(text) - 1);
    free(text);
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        const json_t *list = json_object_get(report, LISTS[i]);
        if (!list) continue;
        ft_strbuf_printf(out, ",\"%s\":[", LISTS[i]);
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *record = json_array_get(list, k);
            if (k > 0) ft_strbuf_puts(out, ",");
            ft_strbuf_add(out, json_string_value(record), json_string_length(record));
        }
        ft_strbuf_puts(out, "]");
    }
    ft_strbuf_puts(out, "}\n");
}

/* True if the reply is still to be given. */
static bool begin_report(ft_call *call, const ft_error *err, json_t *report,
                         ft_http_request **request)
{
    char etag[FT_REPORT_TAG];
    ft_note_damage(call->api, report);
    if (!ft_call_end_list(call, err, report, request)) return false;
    ft_report_tag(report, etag);
    ft_http_set(*request, "Cache-Control", "no-cache");
    return !ft_reply_not_modified(*request, etag);
}

static void on_report(void *data, const ft_error *err, json_t *report)
{
    ft_api *api = ((ft_call *)data)->api;
    ft_http_request *request;
    if (begin_report(data, err, report, &request)) {
        ft_strbuf text = {0};
        report_text(report, &text);
        ft_http_reply(request, 200, "application/json", text.text, text.len);
        ft_strbuf_release(&text);
    }
    ft_turn_end(api);
}

/* A witness is most of a record; lists of findings do without. */
static void on_brief(void *data, const ft_error *err, json_t *report)
{
    ft_api *api = ((ft_call *)data)->api;
    ft_http_request *request;
    if (begin_report(data, err, report, &request))
        ft_http_reply_json(request, 200, json_incref(report));
    ft_turn_end(api);
}

typedef struct asking {
    ft_api *api;
    ft_http_request *request;
    ft_store_filter filter;
    uint32_t limit;
} asking;

static void ask(void *data)
{
    asking a = *(asking *)data;
    free(data);
    ft_store_page page = {ft_http_query(a.request, "after"), a.limit, NULL};
    ft_store_report(a.api->app->store, ft_http_param(a.request, 0), a.filter, page,
                    a.filter.as_text ? on_report : on_brief, ft_call_new(a.api, a.request));
}

void ft_serve_report(ft_api *api, ft_http_request *request)
{
    uint32_t limit, safe, witness;
    if (!ft_query_number(request, "limit", 0, 1, PAGE_MOST, &limit) ||
        !ft_query_number(request, "safe", 0, 0, 1, &safe) ||
        !ft_query_number(request, "witness", 1, 0, 1, &witness))
        return;
    asking *a = ft_calloc(1, sizeof *a);
    *a = (asking){.api = api,
                  .request = request,
                  .filter = {.check = ft_http_query(request, "check"),
                             .safe = safe != 0,
                             .brief = witness == 0,
                             .as_text = witness != 0},
                  .limit = limit};
    ft_turn_take(api, request, ask, a);
}

static void on_finding(void *data, const ft_error *err, json_t *record)
{
    ft_call *call = data;
    ft_http_request *request;
    ft_note_damage(call->api, record);
    if (ft_call_end(call, err, &request)) ft_reply_tagged(request, record);
}

void ft_serve_finding(ft_api *api, ft_http_request *request)
{
    ft_store_finding(api->app->store, ft_http_param(request, 0), on_finding,
                     ft_call_new(api, request));
}

static void on_witness(void *data, const ft_error *err, json_t *record)
{
    ft_call *call = data;
    ft_http_request *request;
    ft_note_damage(call->api, record);
    if (!ft_call_end(call, err, &request)) return;
    json_t *witness = json_object_get(record, "witness");
    const char *verdict = json_string_value(json_object_get(record, "verdict"));
    if (json_is_object(witness))
        ft_reply_tagged(request, witness);
    else
        ft_http_fail(request, 404, "no-witness",
                     "only violations have a witness; the verdict of this finding is %s",
                     verdict ? verdict : "missing");
}

void ft_serve_witness(ft_api *api, ft_http_request *request)
{
    ft_store_finding(api->app->store, ft_http_param(request, 0), on_witness,
                     ft_call_new(api, request));
}
