/* What the files of server/api share. */
#ifndef FT_API_INTERNAL_H
#define FT_API_INTERNAL_H

#include "api/api.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "http/http.h"

typedef struct ft_upload ft_upload;
typedef struct ft_idempotency ft_idempotency;

struct ft_api {
    ft_app *app;
    ft_http *http;
    int port;
    bool closing;
    uint32_t ingesting; /* uploads handed to dispatch and not answered */
    ft_upload *uploads; /* those */
    ft_idempotency *idempotency;
    int64_t started; /* seconds since 1970 */
    void (*closed)(void *data);
    void *closed_data;
};

/* ---- Routes ---------------------------------------------------------------------------------- */

typedef void (*ft_serve)(ft_api *api, ft_http_request *request);
/* body: borrowed. */
typedef void (*ft_serve_json)(ft_api *api, ft_http_request *request, const json_t *body);

/*  method  pattern  handler  (JSON) handler of the body  one line of documentation */
#define FT_ROUTE_TABLE(X)                                                                          \
    X("GET", "/", ft_serve_root, NULL, "What this is and where to look")                           \
    X("GET", "/live", ft_serve_live, NULL, "The process runs")                                     \
    X("GET", "/ready", ft_serve_ready, NULL, "Store and workers are up")                           \
    X("GET", "/metrics", ft_serve_metrics, NULL, "Counters in Prometheus text")                    \
    X("GET", "/v1/openapi.json", ft_serve_openapi, NULL, "The routes, from this table")            \
    X("POST", "/v1/traces", ft_serve_upload, NULL, "Upload a trace in any format")                 \
    X("GET", "/v1/traces", ft_serve_traces, NULL, "Traces, newest first")                          \
    X("GET", "/v1/traces/{trace}", ft_serve_trace, NULL, "What is known of a trace")               \
    X("GET", "/v1/traces/{trace}/content", ft_serve_content, NULL, "Its canonical binary form")    \
    X("POST", "/v1/jobs", NULL, ft_serve_job_create, "Start a job")                                \
    X("GET", "/v1/jobs", ft_serve_jobs, NULL, "Jobs, newest first")                                \
    X("GET", "/v1/jobs/{job}", ft_serve_job, NULL, "State and counts of a job")                    \
    X("DELETE", "/v1/jobs/{job}", ft_serve_job_cancel, NULL, "Cancel a job")                       \
    X("GET", "/v1/jobs/{job}/findings", ft_serve_report, NULL, "The report, also while it runs")   \
    X("GET", "/v1/findings/{finding}", ft_serve_finding, NULL, "One verdict record")               \
    X("GET", "/v1/findings/{finding}/witness", ft_serve_witness, NULL,                             \
      "The schedule that hits it")                                                                 \
    X("GET", "/v1/workers", ft_serve_workers, NULL, "The worker processes")

void ft_serve_root(ft_api *api, ft_http_request *request);
void ft_serve_live(ft_api *api, ft_http_request *request);
void ft_serve_ready(ft_api *api, ft_http_request *request);
void ft_serve_metrics(ft_api *api, ft_http_request *request);
void ft_serve_openapi(ft_api *api, ft_http_request *request);
void ft_serve_upload(ft_api *api, ft_http_request *request);
void ft_serve_traces(ft_api *api, ft_http_request *request);
void ft_serve_trace(ft_api *api, ft_http_request *request);
void ft_serve_content(ft_api *api, ft_http_request *request);
void ft_serve_job_create(ft_api *api, ft_http_request *request, const json_t *body);
void ft_serve_jobs(ft_api *api, ft_http_request *request);
void ft_serve_job(ft_api *api, ft_http_request *request);
void ft_serve_job_cancel(ft_api *api, ft_http_request *request);
void ft_serve_report(ft_api *api, ft_http_request *request);
void ft_serve_finding(ft_api *api, ft_http_request *request);
void ft_serve_witness(ft_api *api, ft_http_request *request);
void ft_serve_workers(ft_api *api, ft_http_request *request);

/* The handler of the HTTP server; context is the api. */
void ft_api_route(void *context, ft_http_request *request);
/* Takes a JSON body (Content-Type, limits, strict syntax) and calls serve with it. */
void ft_api_take_json(ft_api *api, ft_http_request *request, ft_serve_json serve);

/* ---- Uploads, waits -------------------------------------------------------------------------- */

/* For closing: answers 503 to every upload that waits for its ingest. */
void ft_api_forget_uploads(ft_api *api);

/* Answers GET /v1/jobs/{job} later (Prefer: wait). */
void ft_api_wait(ft_api *api, ft_http_request *request, const char *job, uint32_t seconds);

/* ---- Small helpers --------------------------------------------------------------------------- */

/* A request on its way through the store. Freed by its callback. */
typedef struct ft_call {
    ft_api *api;
    ft_http_request *request;
} ft_call;
ft_call *ft_call_new(ft_api *api, ft_http_request *request);
/* Frees the call and answers err, if there is one; true: the caller goes on with the request. */
bool ft_call_end(ft_call *call, const ft_error *err, ft_http_request **request);

/* SNAPSHOT of store.h as clients see it: with "links", and "done" and "total" in "progress". */
json_t *ft_job_view(json_t *snapshot); /* steals and returns it */
/* Answers with a job's view; sets its ETag, and Location when status is 202. Steals snapshot. */
void ft_reply_job(ft_http_request *request, int status, json_t *snapshot);

/* Sets the ETag; true if If-None-Match has it (304 was then answered). */
bool ft_reply_not_modified(ft_http_request *request, const char *etag);
/* Whether If-None-Match is there and has the tag (text between the quotes). */
bool ft_matches_etag(ft_http_request *request, const char *etag);

/* Query parameter as a number in [least, most]; false: a 400 was answered. */
bool ft_query_number(ft_http_request *request, const char *name, uint32_t initial, uint32_t least,
                     uint32_t most, uint32_t *value);

/* Query of a list: limit and after. False: a 400 was answered. */
bool ft_query_page(ft_http_request *request, ft_store_page *page);
/* Ends a call for a list: as ft_call_end, but a bad query is a 400; sets Link for its next page. */
bool ft_call_end_list(ft_call *call, const ft_error *err, const json_t *page,
                      ft_http_request **request);

/* ---- Idempotency keys ------------------------------------------------------------------------ */

/* Remembers which job came of which Idempotency-Key, for the last FT_IDEMPOTENCY_KEYS keys and as
 * long as the daemon runs. */
#define FT_IDEMPOTENCY_KEYS 4096
ft_idempotency *ft_idempotency_new(void);
void ft_idempotency_free(ft_idempotency *table); /* accepts NULL */

typedef enum ft_key_state {
    FT_KEY_NEW,     /* remembered now, without a job yet */
    FT_KEY_PENDING, /* its job is being made */
    FT_KEY_KNOWN,   /* *job is its job */
    FT_KEY_CLASH    /* it came with another body */
} ft_key_state;
ft_key_state ft_idempotency_begin(ft_idempotency *table, const char *key, const char *body_hash,
                                  const char **job);
/* job NULL: no job was made, the key is forgotten. */
void ft_idempotency_end(ft_idempotency *table, const char *key, const char *job);

#endif
