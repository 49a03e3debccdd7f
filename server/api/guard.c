/* A token of some projects must not tell the jobs of others from jobs that are not there. */
#include <stdlib.h>
#include <string.h>

#include "api/access.h"
#include "api/polls.h"

typedef struct guarded {
    ft_api *api;
    ft_http_request *request;
    ft_serve serve;
    ft_serve_json serve_json;
    json_t *body;
} guarded;

static void go_on(ft_api *api, ft_http_request *request, ft_serve serve, ft_serve_json serve_json,
                  const json_t *body)
{
    if (serve)
        serve(api, request);
    else
        serve_json(api, request, body);
}

static void on_known(void *data, const ft_error *err, json_t *nothing)
{
    (void)nothing;
    guarded *g = data;
    if (err)
        ft_http_fail_error(g->request, err);
    else
        go_on(g->api, g->request, g->serve, g->serve_json, g->body);
    json_decref(g->body);
    free(g);
}

/* Finding ids begin with their job's. */
static void ask_finding(ft_store *store, const char *finding, const char *projects,
                        ft_store_done done, void *data)
{
    char job[FT_STORE_JOB_ID + 1];
    snprintf(job, sizeof job, "%.*s", (int)strcspn(finding, "-"), finding);
    ft_store_job_visible(store, job, projects, done, data);
}

/* What a path parameter names, and who knows whose it is. */
static const struct {
    const char *param;
    void (*ask)(ft_store *store, const char *name, const char *projects, ft_store_done done,
                void *data);
} OWNED[] = {
    {"{job}", ft_store_job_visible},
    {"{trace}", ft_store_trace_visible},
    {"{finding}", ask_finding},
};

void ft_api_guard(ft_api *api, ft_http_request *request, const char *pattern, ft_serve serve,
                  ft_serve_json serve_json, const json_t *body)
{
    const char *projects = ft_access_projects(request), *param = strchr(pattern, '{');
    for (size_t i = 0; projects && param && i < sizeof OWNED / sizeof *OWNED; i++) {
        if (strncmp(param, OWNED[i].param, strlen(OWNED[i].param)) != 0) continue;
        const char *known = i == 0 ? ft_polls_project(api->polls, ft_http_param(request, 0)) : NULL;
        if (known && ft_project_listed(projects, known)) break;
        guarded *g = ft_calloc(1, sizeof *g);
        *g = (guarded){api, request, serve, serve_json, json_incref((json_t *)(uintptr_t)body)};
        OWNED[i].ask(api->app->store, ft_http_param(request, 0), projects, on_known, g);
        return;
    }
    if (projects && param && strncmp(param, "{project}", 9) == 0 &&
        !ft_project_listed(projects, ft_http_param(request, 0)))
        ft_http_fail(request, 404, "not-found", "no project %.64s", ft_http_param(request, 0));
    else
        go_on(api, request, serve, serve_json, body);
}
