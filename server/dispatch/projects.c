#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/internal.h"
#include "setup/log.h"

/* ---- Limits ---------------------------------------------------------------------------------- */

static uint64_t standard(const ft_config *config, ft_limit limit)
{
    const uint64_t values[FT_LIMITS] = {
        [FT_LIMIT_JOBS] = config->project_jobs,
        [FT_LIMIT_WORKERS] = config->project_workers,
        [FT_LIMIT_BYTES] = config->project_bytes,
        [FT_LIMIT_SECONDS] = config->project_seconds,
        [FT_LIMIT_MEMORY_MB] = config->project_memory_mb,
    };
    return values[limit];
}

uint64_t ft_dispatch_limit(const ft_dispatch *dispatch, const char *project, ft_limit limit)
{
    const json_t *own = json_object_get(json_object_get(dispatch->limits, "projects"), project);
    const json_t *value = json_object_get(own, ft_limit_name(limit));
    if (!json_is_integer(value)) return standard(dispatch->config, limit);
    return (uint64_t)json_integer_value(value);
}

static void take_limits(ft_dispatch *dispatch, ft_project *project)
{
    const json_t *projects = json_object_get(dispatch->limits, "projects");
    const json_t *own = json_object_get(projects, project->name);
    for (int i = 0; i < FT_LIMITS; i++)
        project->limits[i] = ft_dispatch_limit(dispatch, project->name, (ft_limit)i);
    project->used_ms = (uint64_t)json_integer_value(json_object_get(own, "used_ms"));
}

static void on_limits(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    ft_dispatch *dispatch = errand->dispatch;
    dispatch->reading_limits = false;
    if (err) {
        ft_dispatch_count(dispatch, FT_METRIC_STORE_ERRORS);
        ft_log(FT_LOG_ERROR, "limits cannot be read", "reason=\"%s\"", err->message);
    } else if (!dispatch->closing) {
        json_decref(dispatch->limits);
        dispatch->limits = json_incref(result);
        for (ft_project *p = dispatch->projects; p; p = p->next) take_limits(dispatch, p);
    }
    if (errand->again && !dispatch->closing)
        errand->again(errand);
    else
        ft_errand_end(errand);
}

void ft_project_read_limits(ft_dispatch *dispatch, void (*then)(ft_errand *errand))
{
    if (dispatch->reading_limits) return;
    dispatch->reading_limits = true;
    ft_errand *errand = ft_errand_new(dispatch, NULL);
    errand->again = then;
    ft_store_limits(dispatch->store, on_limits, errand);
}

/* ---- Projects -------------------------------------------------------------------------------- */

/* One that comes back starts with the least service of those in progress: it neither waits until
 * they have had as little as it, nor counts as far behind. */
static uint64_t least_served(const ft_dispatch *dispatch)
{
    uint64_t least = UINT64_MAX;
    for (const ft_project *p = dispatch->projects; p; p = p->next)
        if (p->served < least) least = p->served;
    return least == UINT64_MAX ? 0 : least;
}

ft_project *ft_project_enter(ft_dispatch *dispatch, const char *name)
{
    ft_project *project = dispatch->projects;
    while (project && strcmp(project->name, name) != 0) project = project->next;
    if (!project) {
        project = ft_calloc(1, sizeof *project);
        project->name = ft_strdup(name);
        project->served = least_served(dispatch);
        project->next = dispatch->projects;
        dispatch->projects = project;
        take_limits(dispatch, project);
    }
    project->jobs++;
    return project;
}

/* It is kept while a worker, or time that the store does not know of, is on its account. */
static void forget_if_over(ft_dispatch *dispatch, ft_project *project)
{
    if (project->jobs || project->running || project->fresh_ms) return;
    ft_project **at = &dispatch->projects;
    while (*at != project) at = &(*at)->next; /* it is in the list */
    *at = project->next;
    free(project->name);
    free(project);
}

void ft_projects_sweep(ft_dispatch *dispatch)
{
    for (ft_project *project = dispatch->projects, *next; project; project = next) {
        next = project->next;
        forget_if_over(dispatch, project);
    }
}

void ft_project_leave(ft_dispatch *dispatch, ft_project *project)
{
    assert(project->jobs > 0);
    project->jobs--;
    forget_if_over(dispatch, project);
}

void ft_projects_close(ft_dispatch *dispatch)
{
    while (dispatch->projects) {
        ft_project *project = dispatch->projects;
        dispatch->projects = project->next;
        free(project->name);
        free(project);
    }
    json_decref(dispatch->limits);
    dispatch->limits = NULL;
}

bool ft_project_may_run(const ft_project *project)
{
    uint64_t most = project->limits[FT_LIMIT_WORKERS];
    return most == 0 || project->running < most;
}

/* ---- Accounts -------------------------------------------------------------------------------- */

void ft_project_begin(ft_worker *worker, ft_job *job)
{
    assert(!worker->project && worker->job[0] == '\0');
    worker->project = job->project;
    worker->accounted = uv_now(worker->dispatch->loop);
    snprintf(worker->job, sizeof worker->job, "%s", job->id);
    job->project->running++;
    ft_job_begin(job);
}

void ft_project_account(ft_worker *worker, ft_job *job)
{
    uint64_t now = uv_now(worker->dispatch->loop), ms = now - worker->accounted;
    if (!worker->project) return;
    assert(now >= worker->accounted && (!job || job->project == worker->project));
    worker->accounted = now;
    worker->project->served += ms;
    worker->project->fresh_ms += ms;
    if (job) job->served += ms;
}

void ft_project_end(ft_worker *worker)
{
    ft_project *project = worker->project;
    if (!project) return;
    ft_job *job = ft_job_find(worker->dispatch, worker->job);
    ft_project_account(worker, job);
    worker->project = NULL;
    worker->job[0] = '\0';
    assert(project->running > 0);
    project->running--;
    if (job) ft_job_end(job);
    forget_if_over(worker->dispatch, project);
}

static bool is_spent(const ft_project *project)
{
    uint64_t most = project->limits[FT_LIMIT_SECONDS];
    return most > 0 && project->used_ms + project->fresh_ms >= most * 1000;
}

void ft_project_check_time(ft_dispatch *dispatch)
{
    for (ft_job *job = dispatch->jobs, *next; job; job = next) {
        next = job->next;
        if (job->expired || !is_spent(job->project)) continue;
        char text[160];
        snprintf(text, sizeof text,
                 "the project has used its %llu s of worker time for today (UTC)",
                 (unsigned long long)job->project->limits[FT_LIMIT_SECONDS]);
        ft_log(FT_LOG_WARN, "project budget exhausted", "job=%s project=%s", job->id,
               job->project->name);
        ft_job_expire(job, text);
    }
}

bool ft_project_out_of_time(const ft_dispatch *dispatch, const char *project)
{
    const json_t *projects = json_object_get(dispatch->limits, "projects");
    uint64_t most = ft_dispatch_limit(dispatch, project, FT_LIMIT_SECONDS), used = 0;
    used = (uint64_t)json_integer_value(
        json_object_get(json_object_get(projects, project), "used_ms"));
    for (const ft_project *p = dispatch->projects; p; p = p->next)
        if (strcmp(p->name, project) == 0) used = p->used_ms + p->fresh_ms;
    return most > 0 && used >= most * 1000;
}
