/* What the daemon says of itself: /, /v1, /live, /ready, /metrics, /v1/workers. */
#include <stdlib.h>
#include <string.h>

#include "api/access.h"
#include "webhooks/webhooks.h"

/* For programs that ask for JSON there is what was here before the dashboard. */
void ft_serve_root(ft_api *api, ft_http_request *request)
{
    const char *accept = ft_http_header(request, "accept");
    bool page = !accept || strstr(accept, "text/html") || !strstr(accept, "application/json");
    ft_http_set(request, "Link", "</v1>; rel=\"service-desc\"");
    if (page)
        ft_web_serve_index(api->web, request);
    else
        ft_serve_about(api, request);
}

void ft_serve_about(ft_api *api, ft_http_request *request)
{
    (void)api;
    ft_http_vary(request, "Accept");
    ft_http_reply_json(
        request, 200,
        json_pack("{s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s, s:s}}", "name", "foretell", "version",
                  FT_VERSION, "about",
                  "Predicts concurrency bugs from the trace of a passing run: POST a trace to "
                  "/v1/traces, a job to /v1/jobs, then read its findings.",
                  "links", "traces", "/v1/traces", "jobs", "/v1/jobs", "workers", "/v1/workers",
                  "api", "/v1/openapi.json", "metrics", "/metrics"));
}

void ft_serve_live(ft_api *api, ft_http_request *request)
{
    (void)api;
    ft_http_reply(request, 200, "text/plain", "live\n", 5);
}

static void not_ready(ft_http_request *request, const char *why)
{
    ft_http_set(request, "Retry-After", "1");
    ft_http_fail(request, 503, "not-ready", "%s", why);
}

static void on_probe(void *data, const ft_error *err, json_t *nothing)
{
    (void)nothing;
    ft_call *call = data;
    ft_api *api = call->api;
    ft_http_request *request = call->request;
    free(call);
    if (err)
        not_ready(request, err->message);
    else if (api->closing)
        not_ready(request, "the server is stopping");
    else if (!ft_dispatch_ready(api->app->dispatch))
        not_ready(request, "the workers are starting");
    else
        ft_http_reply(request, 200, "text/plain", "ready\n", 6);
}

void ft_serve_ready(ft_api *api, ft_http_request *request)
{
    ft_store_probe(api->app->store, on_probe, ft_call_new(api, request));
}

void ft_serve_workers(ft_api *api, ft_http_request *request)
{
    json_t *workers = ft_dispatch_workers(api->app->dispatch), *worker;
    size_t i;
    /* The workers' tasks for other projects are hidden. */
    json_array_foreach(workers, i, worker)
    {
        if (!ft_access_projects(request)) break;
        json_object_set_new(worker, "job", json_null());
        json_object_set_new(worker, "trace", json_null());
        json_object_set_new(worker, "progress", json_null());
    }
    json_t *document = json_pack("{s:o}", "workers", workers);
    json_t *nodes = json_copy((json_t *)(uintptr_t)ft_dispatch_nodes(api->app->dispatch));
    if (nodes) json_object_set_new(document, "nodes", nodes);
    ft_reply_tagged(request, document);
    json_decref(document);
}

/* ---- /metrics -------------------------------------------------------------------------------- */

static void put_family(ft_strbuf *out, const char *name, bool gauge, const char *help)
{
    ft_strbuf_printf(out, "# HELP foretell_%s %s\n# TYPE foretell_%s %s\n", name, help, name,
                     gauge ? "gauge" : "counter");
}

static void put_number(ft_strbuf *out, const char *name, bool gauge, const char *help,
                       long long value)
{
    put_family(out, name, gauge, help);
    ft_strbuf_printf(out, "foretell_%s %lld\n", name, value);
}

/* One sample for each member of an object of integers. */
static void put_labelled(ft_strbuf *out, const char *name, bool gauge, const char *help,
                         const char *label, json_t *values)
{
    const char *key;
    json_t *value;
    put_family(out, name, gauge, help);
    json_object_foreach(values, key, value)
    {
        ft_strbuf_printf(out, "foretell_%s{%s=\"%s\"} %lld\n", name, label, key,
                         (long long)json_integer_value(value));
    }
}

static void put_dispatch(ft_strbuf *out, const ft_dispatch *dispatch)
{
    static const struct {
        const char *name, *help;
        bool gauge;
    } METRICS[] = {
#define FT_ROW(symbol, name, gauge, doc) {name, doc, gauge},
        FT_DISPATCH_METRIC_TABLE(FT_ROW)
#undef FT_ROW
    };
    json_t *values = ft_dispatch_metrics(dispatch);
    for (size_t i = 0; i < sizeof METRICS / sizeof *METRICS; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", METRICS[i].name, METRICS[i].gauge ? "" : "_total");
        put_number(out, name, METRICS[i].gauge, METRICS[i].help,
                   (long long)json_integer_value(json_object_get(values, METRICS[i].name)));
    }
    json_decref(values);
}

static void put_workers(ft_strbuf *out, const ft_dispatch *dispatch)
{
    size_t i;
    json_t *worker, *list = ft_dispatch_workers(dispatch), *states = json_object();
    json_array_foreach(list, i, worker)
    {
        const char *state = json_string_value(json_object_get(worker, "state"));
        if (!state) continue;
        json_int_t count = json_integer_value(json_object_get(states, state));
        json_object_set_new(states, state, json_integer(count + 1));
    }
    put_labelled(out, "workers", true, "Worker processes by state.", "state", states);
    json_decref(states);
    json_decref(list);
}

/* Of a fleet: workers of each node. */
static void put_nodes(ft_strbuf *out, const ft_dispatch *dispatch)
{
    size_t i;
    const json_t *node, *nodes = ft_dispatch_nodes(dispatch);
    json_t *all = json_object(), *busy = json_object();
    if (nodes)
        put_number(out, "nodes", true, "Nodes seen lately.", (long long)json_array_size(nodes));
    json_array_foreach(nodes, i, node)
    {
        char name[300];
        const char *host = json_string_value(json_object_get(node, "name"));
        snprintf(name, sizeof name, "%.255s:%lld", host ? host : "",
                 (long long)json_integer_value(json_object_get(node, "pid")));
        for (char *c = name; *c; c++)
            if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ') *c = '_';
        json_object_set(all, name, json_object_get(node, "workers"));
        json_object_set(busy, name, json_object_get(node, "busy"));
    }
    if (nodes) {
        put_labelled(out, "node_workers", true, "Workers by node.", "node", all);
        put_labelled(out, "node_workers_busy", true, "Workers at a task by node.", "node", busy);
    }
    json_decref(all);
    json_decref(busy);
}

static void put_times(ft_strbuf *out, const ft_dispatch *dispatch)
{
    ft_dispatch_times times = ft_dispatch_task_times(dispatch);
    ft_strbuf_puts(out, "# HELP foretell_task_seconds Time of solve tasks by their verdict.\n"
                        "# TYPE foretell_task_seconds summary\n");
    for (int v = 0; v < FT_VERDICTS; v++) {
        const char *name = ft_verdict_name((ft_verdict)v);
        ft_strbuf_printf(out,
                         "foretell_task_seconds_sum{verdict=\"%s\"} %.3f\n"
                         "foretell_task_seconds_count{verdict=\"%s\"} %llu\n",
                         name, (double)times.ms[v] / 1000, name,
                         (unsigned long long)times.tasks[v]);
    }
}

static void put_passes(ft_strbuf *out, const ft_dispatch *dispatch)
{
    ft_dispatch_times times = ft_dispatch_task_times(dispatch);
    ft_strbuf_puts(out, "# HELP foretell_pass_seconds Time of solve tasks by deciding pass.\n"
                        "# TYPE foretell_pass_seconds summary\n");
    for (int r = 0; r < FT_REASONS; r++) {
        const char *name = ft_reason_name((ft_reason)r);
        if (times.pass_tasks[r] == 0) continue;
        ft_strbuf_printf(out,
                         "foretell_pass_seconds_sum{pass=\"%s\"} %.3f\n"
                         "foretell_pass_seconds_count{pass=\"%s\"} %llu\n",
                         name, (double)times.pass_ms[r] / 1000, name,
                         (unsigned long long)times.pass_tasks[r]);
    }
    put_family(out, "solver_seconds_total", false, "Time of solve tasks in the solver.");
    ft_strbuf_printf(out, "foretell_solver_seconds_total %.3f\n", times.solve_ms / 1000);
}

static void put_load(ft_strbuf *out, const ft_dispatch *dispatch)
{
    json_t *load = ft_dispatch_load(dispatch);
    put_number(out, "queue_age_milliseconds", true,
               "Longest time that a job with queued tasks has been without a worker.",
               (long long)json_integer_value(json_object_get(load, "age_ms")));
    put_number(out, "workers_resident_bytes", true, "Memory of the worker processes.",
               (long long)json_integer_value(json_object_get(load, "workers_memory")));
    json_decref(load);
}

static void put_latency(ft_strbuf *out, const ft_http_stats *stats)
{
    uint64_t count = 0;
    ft_strbuf_puts(out, "# HELP foretell_http_request_seconds Time from a request's headers to its "
                        "response; long polls and streams wait on purpose.\n"
                        "# TYPE foretell_http_request_seconds histogram\n");
    for (int i = 0; i < FT_HTTP_BUCKETS; i++) {
        count += stats->latency[i];
        ft_strbuf_puts(out, "foretell_http_request_seconds_bucket{le=\"");
        if (i + 1 < FT_HTTP_BUCKETS)
            ft_strbuf_printf(out, "%g", (double)ft_http_bucket_ms[i] / 1000);
        else
            ft_strbuf_puts(out, "+Inf");
        ft_strbuf_printf(out, "\"} %llu\n", (unsigned long long)count);
    }
    ft_strbuf_printf(out,
                     "foretell_http_request_seconds_sum %.3f\n"
                     "foretell_http_request_seconds_count %llu\n",
                     (double)stats->latency_ms / 1000, (unsigned long long)count);
}

static void put_http(ft_strbuf *out, const ft_http_stats *stats)
{
    put_family(out, "http_requests_total", false, "Responses by status.");
    for (int status = 0; status < 600; status++)
        if (stats->by_status[status])
            ft_strbuf_printf(out, "foretell_http_requests_total{status=\"%d\"} %llu\n", status,
                             (unsigned long long)stats->by_status[status]);
    put_number(out, "http_connections", true, "Connections open now.", stats->open);
    put_number(out, "http_connections_total", false, "Connections accepted.",
               (long long)stats->connections);
    put_number(out, "http_connections_refused_total", false, "Connections refused with a 503.",
               (long long)stats->refused);
    put_number(out, "http_connections_displaced_total", false,
               "Stalled connections closed in favour of new ones.", (long long)stats->displaced);
    put_number(out, "http_received_bytes_total", false, "Bytes received.",
               (long long)stats->bytes_in);
    put_number(out, "http_sent_bytes_total", false, "Bytes sent.", (long long)stats->bytes_out);
}

static void put_store(ft_strbuf *out, const json_t *counts)
{
    static const struct {
        const char *member, *name, *help;
        bool gauge;
    } ROWS[] = {{"traces", "traces", "Traces stored.", true},
                {"trace_bytes", "trace_bytes", "Bytes of the traces as uploaded.", true},
                {"stored_bytes", "stored_bytes", "Bytes of the traces as stored.", true},
                {"commits", "store_commits_total", "Transactions committed.", false},
                {"requests", "store_requests_total", "Requests to the store.", false},
                {"parts_fetched", "parts_fetched_total",
                 "Parts of traces and programs read from the database.", false},
                {"parts_kept", "parts_cached_total",
                 "Parts of traces and programs read from the node's cache instead.", false},
                {"parts_damaged", "parts_damaged_total",
                 "Parts in the node's cache that were damaged, and fetched again.", false}};
    json_t *tasks = json_object_get(counts, "tasks");
    put_labelled(out, "jobs", true, "Jobs by state.", "state", json_object_get(counts, "jobs"));
    put_labelled(out, "tasks", true, "Tasks by state.", "state", tasks);
    put_labelled(out, "verdicts", true, "Verdict records by verdict.", "verdict",
                 json_object_get(counts, "verdicts"));
    put_number(out, "queue_depth", true, "Tasks that wait for a worker.",
               (long long)json_integer_value(json_object_get(tasks, "ready")) +
                   (long long)json_integer_value(json_object_get(tasks, "dropped")));
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        put_number(out, ROWS[i].name, ROWS[i].gauge, ROWS[i].help,
                   (long long)json_integer_value(json_object_get(counts, ROWS[i].member)));
}

static void put_process(ft_strbuf *out, const ft_api *api)
{
    size_t resident = 0;
    uv_resident_set_memory(&resident);
    put_family(out, "build_info", true, "The version of this program.");
    ft_strbuf_printf(out, "foretell_build_info{version=\"%s\"} 1\n", FT_VERSION);
    put_number(out, "resident_bytes", true, "Memory of the server process.", (long long)resident);
    put_number(out, "start_time_seconds", true, "When the server started (Unix time).",
               (long long)api->started);
}

static void put_webhooks(ft_strbuf *out, const ft_webhooks *webhooks)
{
    static const struct {
        const char *name, *help;
    } METRICS[] = {
#define FT_ROW(symbol, name, doc) {name, doc},
        FT_WEBHOOK_METRIC_TABLE(FT_ROW)
#undef FT_ROW
    };
    json_t *values = ft_webhooks_metrics(webhooks);
    for (size_t i = 0; i < sizeof METRICS / sizeof *METRICS; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_total", METRICS[i].name);
        put_number(out, name, false, METRICS[i].help,
                   (long long)json_integer_value(json_object_get(values, METRICS[i].name)));
    }
    json_decref(values);
}

static void on_counts(void *data, const ft_error *err, json_t *counts)
{
    ft_call *call = data;
    ft_api *api = call->api;
    ft_http_request *request;
    if (!ft_call_end(call, err, &request)) return;
    ft_strbuf out = {0};
    put_process(&out, api);
    put_store(&out, counts);
    put_dispatch(&out, api->app->dispatch);
    put_workers(&out, api->app->dispatch);
    put_nodes(&out, api->app->dispatch);
    put_times(&out, api->app->dispatch);
    put_passes(&out, api->app->dispatch);
    put_load(&out, api->app->dispatch);
    put_webhooks(&out, api->app->webhooks);
    put_number(&out, "damaged_witnesses_total", false,
               "Times that a stored witness could not be read.", (long long)api->damaged);
    put_number(&out, "event_streams", true, "Event streams open now.", api->stream_count);
    put_latency(&out, ft_http_statistics(api->http));
    put_http(&out, ft_http_statistics(api->http));
    ft_http_reply(request, 200, "text/plain; version=0.0.4; charset=utf-8", out.text, out.len);
    ft_strbuf_release(&out);
}

void ft_serve_metrics(ft_api *api, ft_http_request *request)
{
    ft_store_counts(api->app->store, on_counts, ft_call_new(api, request));
}
