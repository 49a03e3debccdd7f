#include <string.h>

#include "dispatch/internal.h"
#include "setup/log.h"

#define TICK_MS   100
#define FLUSH_MS  500  /* results wait so long for others, if the batch does not end before */
#define LIMITS_MS 1000 /* between two looks at the projects' limits */
#define STEAL_MS  200  /* a task that takes longer leaves those behind it to an idle worker */

/* ---- Slow workers ---------------------------------------------------------------------------- */

static size_t unstarted(const ft_worker *worker)
{
    const ft_batch *batch = &worker->batch;
    if (worker->state != FT_WORKER_WORKING || batch->kind != FT_KIND_SOLVE) return 0;
    return batch->own > batch->next + 1 ? batch->own - batch->next - 1 : 0;
}

/* The one with the most to give, among those that are slow. */
static ft_worker *find_slow(const ft_dispatch *dispatch)
{
    ft_worker *found = NULL;
    for (unsigned i = 0; i < dispatch->worker_count; i++) {
        ft_worker *worker = &dispatch->workers[i];
        size_t rest = unstarted(worker);
        if (rest == 0 || uv_now(dispatch->loop) - worker->batch.turn < STEAL_MS) continue;
        if (!ft_job_find(dispatch, worker->batch.job)) continue;
        if (!ft_project_may_run(worker->project)) continue;
        if (!found || rest > unstarted(found)) found = worker;
    }
    return found;
}

/* Half of what a slow worker has not begun goes to one that has nothing to do. */
static void share_out(ft_dispatch *dispatch)
{
    for (unsigned i = 0; i + 1 < dispatch->worker_count; i++) {
        ft_worker *thief = &dispatch->workers[i];
        if (thief->state != FT_WORKER_IDLE) continue;
        ft_worker *slow = find_slow(dispatch);
        if (!slow) return;
        ft_batch_steal(thief, slow, (unstarted(slow) + 1) / 2);
    }
}

/* ---- Silent and large workers ---------------------------------------------------------------- */

static bool is_silent(const ft_worker *worker)
{
    uint64_t most = worker->dispatch->config->silence_ms;
    bool asked = worker->state == FT_WORKER_LOADING || worker->state == FT_WORKER_WORKING ||
                 worker->state == FT_WORKER_INGESTING;
    return most > 0 && asked && worker->heartbeats && !worker->paused &&
           uv_now(worker->dispatch->loop) - worker->heard > most;
}

static bool is_large(const ft_worker *worker)
{
    uint64_t most = (uint64_t)worker->batch.memory_mb << 20;
    return most > 0 && worker->state == FT_WORKER_WORKING && ft_worker_memory(worker) > most;
}

static void look_at(ft_worker *worker)
{
    assert(ft_worker_is_sound(worker));
    if (worker->project) ft_project_account(worker, ft_job_find(worker->dispatch, worker->job));
    if (is_silent(worker))
        ft_worker_die(worker, FT_DEATH_SILENT, "it was silent for %llu ms",
                      (unsigned long long)worker->dispatch->config->silence_ms);
    else if (is_large(worker))
        ft_worker_die(worker, FT_DEATH_MEMORY, "its memory exceeded the budget of %u MiB",
                      worker->batch.memory_mb);
    else if (uv_now(worker->dispatch->loop) - worker->batch.pending >= FLUSH_MS)
        ft_batch_flush(worker);
}

/* ---- Ticking --------------------------------------------------------------------------------- */

static bool somebody_works(const ft_dispatch *dispatch)
{
    for (unsigned i = 0; i < dispatch->worker_count; i++)
        if (ft_worker_busy(&dispatch->workers[i])) return true;
    return false;
}

static void on_tick(uv_timer_t *timer)
{
    ft_dispatch *dispatch = timer->data;
    uint64_t now = uv_now(dispatch->loop);
    for (unsigned i = 0; i < dispatch->worker_count; i++) look_at(&dispatch->workers[i]);
    if (!dispatch->store_ailing) share_out(dispatch);
    if (now - dispatch->limits_read >= LIMITS_MS) {
        dispatch->limits_read = now;
        ft_project_read_limits(dispatch, NULL);
        ft_project_check_time(dispatch);
    }
    if (!somebody_works(dispatch)) uv_timer_stop(timer);
}

void ft_watch_start(ft_dispatch *dispatch)
{
    if (dispatch->closing || uv_is_active((uv_handle_t *)&dispatch->tick)) return;
    uv_timer_start(&dispatch->tick, on_tick, TICK_MS, TICK_MS);
}
