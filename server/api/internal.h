/* Private to server/api. */
#ifndef FT_API_INTERNAL_H
#define FT_API_INTERNAL_H

#include "api/api.h"
#include "api/web.h"
#include "base/contract.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "http/http.h"

typedef struct ft_upload ft_upload;
typedef struct ft_event_feed ft_event_feed;
typedef struct ft_access_table ft_access_table;
typedef struct ft_stats ft_stats;
typedef struct ft_polls ft_polls;
typedef struct ft_turn ft_turn;

struct ft_api {
    ft_app *app;
    ft_http *http;
    int port;
    bool closing;
    uint32_t receiving; /* uploads, each with an open file */
    uint32_t ingesting; /* those handed to dispatch and not ended */
    ft_upload *uploads; /* those, and the last that ended: newest first */
    ft_web *web;        /* NULL: no dashboard */
    ft_event_feed *feed;
    ft_access_table *access;
    ft_stats *stats;
    ft_polls *polls;
    struct ft_stream *streams; /* open ones */
    uint32_t stream_count;
    ft_turn *waiting; /* reports to be made, first come first */
    uint32_t turns;   /* those being made */
    uint64_t damaged; /* times that a stored witness could not be read */
    int64_t started;  /* seconds since 1970 */
    void (*closed)(void *data);
    void *closed_data;
};

/* ---- Routes ---------------------------------------------------------------------------------- */

typedef void (*ft_serve)(ft_api *api, ft_http_request *request);
/* body: borrowed. */
typedef void (*ft_serve_json)(ft_api *api, ft_http_request *request, const json_t *body);

/* The access that a route requires (api/access.h): nothing, any valid token, or a scope. */
typedef enum ft_route_needs {
    FT_NEEDS_NOTHING,
    FT_NEEDS_TOKEN,
    FT_NEEDS_READ,
    FT_NEEDS_SUBMIT,
    FT_NEEDS_ADMIN
} ft_route_needs;

/*  method  pattern  needs  handler  (JSON) handler of the body  one line of documentation */
#define FT_ROUTE_TABLE(X)                                                                          \
    X("GET", "/", NOTHING, ft_serve_root, NULL, "The dashboard")                                   \
    X("GET", "/live", NOTHING, ft_serve_live, NULL, "Whether the process runs")                    \
    X("GET", "/ready", NOTHING, ft_serve_ready, NULL, "Whether store and workers are ready")       \
    X("GET", "/metrics", READ, ft_serve_metrics, NULL, "Counters in Prometheus text")              \
    X("GET", "/v1", NOTHING, ft_serve_about, NULL, "Name, version and links")                      \
    X("GET", "/v1/openapi.json", NOTHING, ft_serve_openapi, NULL,                                  \
      "This API's description (OpenAPI)")                                                          \
    X("GET", "/v1/access", TOKEN, ft_serve_access, NULL, "Scopes and projects of the token")       \
    X("GET", "/v1/audit", ADMIN, ft_serve_audit, NULL, "Audit log of changes and refusals")        \
    X("GET", "/v1/events", READ, ft_serve_events, NULL, "Changes of jobs, as an event stream")     \
    X("POST", "/v1/traces", SUBMIT, ft_serve_upload, NULL, "Upload a trace in any format")         \
    X("POST", "/v1/programs", SUBMIT, ft_serve_program_upload, NULL,                               \
      "Upload a program, as text or binary")                                                       \
    X("GET", "/v1/programs/{program}", READ, ft_serve_program_meta, NULL,                          \
      "Size, inputs and counts of a program")                                                      \
    X("GET", "/v1/programs/{program}/content", READ, ft_serve_content, NULL, "Its binary form")    \
    X("GET", "/v1/uploads/{upload}", SUBMIT, ft_serve_reading, NULL,                               \
      "Progress and result of an upload")                                                          \
    X("GET", "/v1/traces", READ, ft_serve_traces, NULL, "Traces, newest first")                    \
    X("GET", "/v1/traces/{trace}", READ, ft_serve_trace_meta, NULL,                                \
      "Format, size and counts of a trace")                                                        \
    X("GET", "/v1/traces/{trace}/content", READ, ft_serve_content, NULL,                           \
      "Its canonical binary form")                                                                 \
    X("GET", "/v1/traces/{trace}/summary", READ, ft_serve_summary, NULL,                           \
      "Its threads, locks, variables and locations")                                               \
    X("GET", "/v1/traces/{trace}/intervals", READ, ft_serve_intervals, NULL,                       \
      "The ranges of its events, and its transaction sequence graphs")                             \
    X("POST", "/v1/jobs", SUBMIT, NULL, ft_serve_job_create, "Start a job")                        \
    X("GET", "/v1/jobs", READ, ft_serve_jobs, NULL, "Jobs, newest first")                          \
    X("GET", "/v1/jobs/{job}", READ, ft_serve_job, NULL, "State and counts of a job")              \
    X("DELETE", "/v1/jobs/{job}", SUBMIT, ft_serve_job_cancel, NULL, "Cancel a job")               \
    X("GET", "/v1/jobs/{job}/events", READ, ft_serve_job_events, NULL,                             \
      "Its changes and findings, as an event stream")                                              \
    X("GET", "/v1/jobs/{job}/findings", READ, ft_serve_report, NULL,                               \
      "Its report, also before it ends")                                                           \
    X("GET", "/v1/jobs/{job}/report", READ, ft_serve_view, NULL,                                   \
      "Its report as text, SARIF, JUnit, HTML, ...: ?format= or Accept")                           \
    X("GET", "/v1/reviews", READ, ft_serve_reviews, NULL, "A project's findings from run to run")  \
    X("GET", "/v1/reviews/{fingerprint}", READ, ft_serve_review, NULL, "One of these findings")    \
    X("PUT", "/v1/reviews/{fingerprint}", SUBMIT, NULL, ft_serve_review_set,                       \
      "Set its state: open, confirmed, false or fixed")                                            \
    X("GET", "/v1/findings/{finding}", READ, ft_serve_finding, NULL, "One verdict record")         \
    X("GET", "/v1/findings/{finding}/witness", READ, ft_serve_witness, NULL,                       \
      "The schedule that reaches the violation")                                                   \
    X("GET", "/v1/webhooks", ADMIN, ft_serve_webhooks, NULL, "Webhooks of the projects")           \
    X("PUT", "/v1/webhooks", ADMIN, NULL, ft_serve_webhook_set, "Set a project's webhook")         \
    X("DELETE", "/v1/webhooks", ADMIN, ft_serve_webhook_drop, NULL, "Remove a project's webhook")  \
    X("GET", "/v1/deliveries", ADMIN, ft_serve_deliveries, NULL,                                   \
      "Deliveries of webhooks, newest first")                                                      \
    X("POST", "/v1/deliveries/{delivery}/repeat", ADMIN, ft_serve_delivery_repeat, NULL,           \
      "Deliver it again")                                                                          \
    X("GET", "/v1/limits", ADMIN, ft_serve_limits, NULL, "Limits of the projects")                 \
    X("PUT", "/v1/limits", ADMIN, NULL, ft_serve_limits_set, "Set limits of a project")            \
    X("DELETE", "/v1/limits", ADMIN, ft_serve_limits_drop, NULL, "Remove a project's own limits")  \
    X("GET", "/v1/stats", READ, ft_serve_stats, NULL, "The queue, now and in the last hour")       \
    X("GET", "/v1/workers", READ, ft_serve_workers, NULL, "The worker processes")

void ft_serve_root(ft_api *api, ft_http_request *request);
void ft_serve_live(ft_api *api, ft_http_request *request);
void ft_serve_ready(ft_api *api, ft_http_request *request);
void ft_serve_metrics(ft_api *api, ft_http_request *request);
void ft_serve_openapi(ft_api *api, ft_http_request *request);
void ft_serve_upload(ft_api *api, ft_http_request *request);
void ft_serve_program_upload(ft_api *api, ft_http_request *request);
void ft_serve_program_meta(ft_api *api, ft_http_request *request);
void ft_serve_reading(ft_api *api, ft_http_request *request);
void ft_serve_traces(ft_api *api, ft_http_request *request);
void ft_serve_trace_meta(ft_api *api, ft_http_request *request);
/* Is it META of a program? */
bool ft_is_program(const json_t *meta);
void ft_serve_content(ft_api *api, ft_http_request *request);
void ft_serve_job_create(ft_api *api, ft_http_request *request, const json_t *body);
void ft_serve_jobs(ft_api *api, ft_http_request *request);
void ft_serve_job(ft_api *api, ft_http_request *request);
void ft_serve_job_cancel(ft_api *api, ft_http_request *request);
void ft_serve_access(ft_api *api, ft_http_request *request);
void ft_serve_audit(ft_api *api, ft_http_request *request);
void ft_serve_summary(ft_api *api, ft_http_request *request);
void ft_serve_intervals(ft_api *api, ft_http_request *request);
void ft_serve_stats(ft_api *api, ft_http_request *request);
void ft_serve_events(ft_api *api, ft_http_request *request);
void ft_serve_job_events(ft_api *api, ft_http_request *request);
void ft_serve_report(ft_api *api, ft_http_request *request);
void ft_serve_finding(ft_api *api, ft_http_request *request);
void ft_serve_view(ft_api *api, ft_http_request *request);
void ft_serve_reviews(ft_api *api, ft_http_request *request);
void ft_serve_review(ft_api *api, ft_http_request *request);
void ft_serve_review_set(ft_api *api, ft_http_request *request, const json_t *body);
void ft_serve_witness(ft_api *api, ft_http_request *request);
void ft_serve_webhooks(ft_api *api, ft_http_request *request);
void ft_serve_webhook_set(ft_api *api, ft_http_request *request, const json_t *body);
void ft_serve_webhook_drop(ft_api *api, ft_http_request *request);
void ft_serve_deliveries(ft_api *api, ft_http_request *request);
void ft_serve_delivery_repeat(ft_api *api, ft_http_request *request);
void ft_serve_limits(ft_api *api, ft_http_request *request);
void ft_serve_limits_set(ft_api *api, ft_http_request *request, const json_t *body);
void ft_serve_limits_drop(ft_api *api, ft_http_request *request);
void ft_serve_workers(ft_api *api, ft_http_request *request);
void ft_serve_about(ft_api *api, ft_http_request *request);

/* schema/openapi.json, which is made from openapi.yaml. */
extern const char ft_openapi[];

/* The handler of the HTTP server; context is the api. */
void ft_api_route(void *context, ft_http_request *request);
/* Takes a JSON body (Content-Type, limits, strict syntax) and calls serve with it, guarded. */
void ft_api_take_json(ft_api *api, ft_http_request *request, const char *pattern,
                      ft_serve_json serve);
/* Calls one of serve and serve_json (with body, borrowed), at once or later, if the project of what
 * the path names is one of the request's; else 404 is answered. */
void ft_api_guard(ft_api *api, ft_http_request *request, const char *pattern, ft_serve serve,
                  ft_serve_json serve_json, const json_t *body);

/* Uploads received at once; more are refused. Their files are among the descriptors that
 * connections do not get. */
#define FT_UPLOADS_MOST 512

/* ---- Uploads --------------------------------------------------------------------------------- */

/* For closing: answers 503 to all clients that wait for an upload, and forgets the uploads. */
void ft_api_forget_uploads(ft_api *api);

/* ---- Reports --------------------------------------------------------------------------------- */

/* Calls go, at once or when fewer reports are being made; ft_turn_end when the reply is given.
 * Where too much waits for slow clients the answer is a 503 instead, and data is freed. */
void ft_turn_take(ft_api *api, ft_http_request *request, void (*go)(void *data), void *data);
void ft_turn_end(ft_api *api);

/* ---- Small helpers --------------------------------------------------------------------------- */

/* A request on its way through the store. Freed by its callback. */
typedef struct ft_call {
    ft_api *api;
    ft_http_request *request;
} ft_call;
ft_call *ft_call_new(ft_api *api, ft_http_request *request);
/* Frees the call and answers err, if there is one; true: the caller goes on with the request. */
bool ft_call_end(ft_call *call, const ft_error *err, ft_http_request **request);

/* Takes "damaged" out of a report or RECORD of the store: logged and counted. Accepts NULL. */
void ft_note_damage(ft_api *api, json_t *result);

/* SNAPSHOT of store.h as clients see it: with "links", and "done" and "total" in "progress". */
json_t *ft_job_view(json_t *snapshot); /* steals and returns it */
/* Answers with a job's view; sets its ETag, and Location when status is 202. Steals snapshot. */
void ft_reply_job(ft_http_request *request, int status, json_t *snapshot);

/* Sets the ETag, a weak one (texts are sent in several codings), and Vary; what else a 200 has must
 * be set before (RFC 9110 §15.4.5). True: 304 or 412 was answered. */
bool ft_reply_not_modified(ft_http_request *request, const char *etag);
/* The same with a strong ETag: the bytes never differ. */
bool ft_reply_same_bytes(ft_http_request *request, const char *etag);
/* Answers 200 with the document (not taken) and the ETag of its text, or 304. */
void ft_reply_tagged(ft_http_request *request, json_t *document);
/* The ETag of a report: its job's revision and the reviews of its findings. */
#define FT_REPORT_TAG 48
void ft_report_tag(const json_t *report, char tag[FT_REPORT_TAG]);
/* Whether If-None-Match is there and has the tag (text between the quotes). */
bool ft_matches_etag(ft_http_request *request, const char *etag);

/* Query parameter as a number in [least, most]; false: a 400 was answered. */
bool ft_query_number(ft_http_request *request, const char *name, uint32_t initial, uint32_t least,
                     uint32_t most, uint32_t *value);

/* RFC 7240 §4.3: "wait=N" among other preferences; no more than the configuration allows. */
bool ft_prefer_wait(const ft_api *api, ft_http_request *request, uint32_t *seconds);

/* Query of a list: limit and after. False: a 400 was answered. */
bool ft_query_page(ft_http_request *request, ft_store_page *page);
/* Ends a call for a list: as ft_call_end, but a bad query is a 400; sets Link for its next page. */
bool ft_call_end_list(ft_call *call, const ft_error *err, const json_t *page,
                      ft_http_request **request);

#endif
