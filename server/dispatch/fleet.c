/* The other nodes of a shared store: their changes of jobs are taken in as the own ones are, when
 * they announce them, and every few seconds in any case; this node announces its own to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch/internal.h"
#include "setup/log.h"

#define POLL_MS 2000 /* between two looks at all jobs in progress, should news be lost */

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* A job that is no longer in progress, though nobody said how it ended. */
static void on_ended(void *data, const ft_error *err, json_t *snapshot)
{
    ft_errand *errand = data;
    ft_job_state state;
    const char *name = err ? ft_job_state_name(FT_JOB_CANCELLED)
                           : json_string_value(json_object_get(snapshot, "state"));
    bool gone = !err || err->code == FT_NOT_FOUND; /* it was removed: it had ended */
    if (gone && name && ft_job_state_parse(name, &state) && ft_job_state_final(state)) {
        json_int_t revision = json_integer_value(json_object_get(snapshot, "revision"));
        json_t *change = json_pack("{s:s, s:s, s:I, s:i, s:b}", "job", errand->job, "state", name,
                                   "revision", revision, "ready", 0, "applied", 1);
        ft_job_changed(errand->dispatch, change);
        json_decref(change);
    }
    ft_errand_end(errand);
}

static void ask_for_end(ft_dispatch *dispatch, const ft_job *job)
{
    ft_errand *errand = ft_errand_new(dispatch, NULL);
    snprintf(errand->job, sizeof errand->job, "%s", job->id);
    ft_store_job(dispatch->store, job->id, on_ended, errand);
}

/* Whatever of it was not heard of. */
static void take_row(ft_dispatch *dispatch, ft_job *job, const json_t *row)
{
    uint64_t revision = (uint64_t)json_integer_value(json_object_get(row, "revision"));
    job->round = dispatch->round;
    if (revision <= job->revision) {
        job->ready = (uint64_t)json_integer_value(json_object_get(row, "ready"));
        return;
    }
    json_t *change = json_copy((json_t *)(uintptr_t)row);
    json_object_set_new(change, "applied", json_true());
    ft_job_changed(dispatch, change);
    json_decref(change);
}

void ft_fleet_take_jobs(ft_dispatch *dispatch, const json_t *rows)
{
    size_t i;
    const json_t *row;
    dispatch->round++;
    json_array_foreach(rows, i, row)
    {
        const char *id = json_string_value(json_object_get(row, "job"));
        ft_job_state state;
        ft_job *job = ft_job_find(dispatch, id);
        if (job) {
            take_row(dispatch, job, row);
        } else if (ft_job_state_parse(json_string_value(json_object_get(row, "state")), &state)) {
            ft_job_add(dispatch, row, state)->round = dispatch->round;
            ft_log(FT_LOG_INFO, "job taken up", "job=%s state=%s", id, ft_job_state_name(state));
        }
    }
    for (const ft_job *job = dispatch->jobs; job; job = job->next)
        if (job->round != dispatch->round) ask_for_end(dispatch, job);
}

static void on_jobs(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    ft_dispatch *dispatch = errand->dispatch;
    bool again = dispatch->look_again;
    dispatch->looking = dispatch->look_again = false;
    if (!err && !dispatch->closing) {
        ft_fleet_take_jobs(dispatch, json_object_get(result, "jobs"));
        ft_dispatch_pump(dispatch);
    }
    ft_errand_end(errand);
    if (again) ft_fleet_look(dispatch);
}

void ft_fleet_look(ft_dispatch *dispatch)
{
    if (dispatch->closing || !dispatch->recovered) return;
    if (dispatch->looking) {
        dispatch->look_again = true;
        return;
    }
    dispatch->looking = true;
    ft_store_jobs_open(dispatch->store, on_jobs, ft_errand_new(dispatch, NULL));
}

/* ---- News ------------------------------------------------------------------------------------ */

static void on_news(void *data, const json_t *change)
{
    ft_dispatch *dispatch = data;
    const char *id = json_string_value(json_object_get(change, "job"));
    const char *name = json_string_value(json_object_get(change, "state"));
    ft_job_state state;
    bool whole = id && strlen(id) < FT_JOB_ID && name && ft_job_state_parse(name, &state);
    if (dispatch->closing) return;
    ft_batch_drop(dispatch, json_object_get(change, "gone"));
    if (whole && (ft_job_find(dispatch, id) || ft_job_state_final(state)))
        ft_job_changed(dispatch, change);
    else
        ft_fleet_look(dispatch);
}

static void on_poll(uv_timer_t *timer)
{
    ft_fleet_look(timer->data);
}

ft_status ft_fleet_open(ft_dispatch *dispatch, ft_error *err)
{
    if (!ft_store_is_shared(dispatch->store)) return FT_OK;
    uv_timer_start(&dispatch->poll, on_poll, POLL_MS, POLL_MS);
    return ft_store_listen(dispatch->store, on_news, dispatch, err);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* Leases that ran out: somebody has to look for their tasks. */
void ft_fleet_take_up(ft_dispatch *dispatch, const json_t *released)
{
    size_t i;
    json_t *id;
    json_array_foreach(released, i, id)
    {
        ft_job *job = ft_job_find(dispatch, json_string_value(id));
        if (job && job->ready == 0) job->ready = 1;
    }
    if (json_array_size(released)) ft_dispatch_pump(dispatch);
}

static void count_workers(ft_dispatch *dispatch)
{
    size_t i;
    const json_t *node;
    uint64_t workers = 0;
    json_array_foreach(dispatch->nodes, i, node) workers +=
        (uint64_t)json_integer_value(json_object_get(node, "workers"));
    dispatch->fleet_workers = workers;
}

static void on_beaten(void *data, const ft_error *err, json_t *result)
{
    ft_errand *errand = data;
    ft_dispatch *dispatch = errand->dispatch;
    dispatch->beating = false;
    if (!err && !dispatch->closing) {
        json_decref(dispatch->nodes);
        dispatch->nodes = json_incref(json_object_get(result, "nodes"));
        count_workers(dispatch);
        ft_fleet_take_up(dispatch, json_object_get(result, "released"));
    }
    ft_errand_end(errand);
}

static json_t *own_state(const ft_dispatch *dispatch)
{
    unsigned busy = 0;
    uint64_t tasks = 0;
    for (unsigned i = 0; i + 1 < dispatch->worker_count; i++) {
        busy += ft_worker_busy(&dispatch->workers[i]);
        tasks += dispatch->workers[i].answered;
    }
    return json_pack("{s:I, s:I, s:I, s:s}", "workers", (json_int_t)dispatch->worker_count - 1,
                     "busy", (json_int_t)busy, "tasks", (json_int_t)tasks, "version", FT_VERSION);
}

void ft_fleet_beat(ft_dispatch *dispatch)
{
    if (dispatch->beating || dispatch->closing) return;
    dispatch->beating = true;
    ft_store_beat(dispatch->store, own_state(dispatch), on_beaten, ft_errand_new(dispatch, NULL));
}
