#include "explore/driver.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

typedef enum place_state { ASKED, RUNNING, ENDED } place_state;

/* A task that was asked for, until its run is taken. */
typedef struct place {
    place_state state;
    uint32_t number; /* the way's */
    FT_VEC(ft_x_pick) prefix;
    ft_x_task task;
    ft_x_run run;
} place;

struct ft_x_driver {
    const ft_x_executor *executor;
    const ft_x_options *options;
    ft_x_counts *counts;
    place *ring;       /* of the tasks first to first + n - 1 */
    uint32_t ahead;    /* its size */
    uint64_t first, n; /* the first one that is not taken yet, how many there are */
    uint64_t started;  /* all before it were */
    uint64_t *tasks;   /* by slot: the task that it runs */
    bool *busy;        /* by slot */
    uint32_t n_busy;
    bool stopped;
};

ft_x_driver *ft_x_driver_new(const ft_x_executor *executor, const ft_x_options *options,
                             ft_x_counts *counts)
{
    FT_REQUIRE(executor->width > 0 && counts);
    ft_x_driver *d = ft_calloc(1, sizeof *d);
    *d = (ft_x_driver){.executor = executor, .options = options, .counts = counts};
    d->tasks = ft_calloc(executor->width, sizeof *d->tasks);
    d->busy = ft_calloc(executor->width, sizeof *d->busy);
    return d;
}

void ft_x_driver_free(ft_x_driver *d)
{
    if (!d) return;
    for (uint32_t i = 0; i < d->ahead; i++) {
        ft_vec_release(&d->ring[i].prefix);
        ft_x_run_release(&d->ring[i].run);
    }
    free(d->ring);
    free(d->tasks);
    free(d->busy);
    free(d);
}

bool ft_x_driver_stopped(const ft_x_driver *d)
{
    return d->stopped;
}

static bool is_pending(const ft_x_run *run, ft_x_kind kind)
{
    for (uint32_t t = 0; t < FT_X_THREADS; t++)
        if (run->pending[t].kind == kind) return true;
    return false;
}

bool ft_x_run_lingers(const ft_x_run *run)
{
    for (size_t i = 0; i < run->steps.len; i++)
        if (run->steps.data[i].operation.kind == FT_X_LINGER) return true;
    return is_pending(run, FT_X_LINGER);
}

bool ft_x_run_is_live_lock(const ft_x_run *run)
{
    return run->end == FT_X_STUCK && is_pending(run, FT_X_AWAIT);
}

void ft_x_driver_class(ft_x_driver *d, const ft_x_run *run, const ft_unfolding *u,
                       const ft_configuration *c)
{
    const ft_x_options *o = d->options;
    assert(run->end == FT_X_DONE || run->end == FT_X_STUCK);
    d->counts->classes++;
    d->counts->stuck += run->end == FT_X_STUCK;
    d->counts->lingering += ft_x_run_lingers(run);
    if (o->on_class && !o->on_class(o->context, run, u, c)) d->stopped = true;
}

void ft_x_driver_stray(ft_x_driver *d, const ft_x_run *run, size_t step)
{
    enum { MOST = 64 }; /* of them: what the program does is not known then */
    d->counts->strayed++;
    if (d->options->on_stray) d->options->on_stray(d->options->context, run, step);
    if (d->counts->strayed >= MOST) d->stopped = true;
}

/* ---- asking and starting */

static place *at(const ft_x_driver *d, uint64_t task)
{
    assert(task - d->first < d->ahead);
    return &d->ring[task % d->ahead];
}

static bool ask(ft_x_driver *d, const ft_x_way *way)
{
    if (d->n == d->ahead) return false;
    ft_x_task task = {0};
    uint32_t number;
    if (!way->next(way->context, &task, &number)) return false;
    place *p = &d->ring[(d->first + d->n) % d->ahead];
    d->n++;
    p->state = ASKED;
    p->number = number;
    ft_vec_reserve(&p->prefix, task.n + 1);
    if (task.n) memcpy(p->prefix.data, task.prefix, task.n * sizeof *task.prefix);
    p->task = task;
    p->task.prefix = p->prefix.data;
    return true;
}

static bool may_start(ft_x_driver *d)
{
    const ft_x_options *o = d->options;
    if ((o->max_runs && d->counts->runs >= o->max_runs) ||
        (o->should_stop && o->should_stop(o->context)))
        d->stopped = true;
    return !d->stopped;
}

static ft_status start(ft_x_driver *d, uint32_t slot, ft_error *err)
{
    place *p = at(d, d->started);
    assert(p->state == ASKED && !d->busy[slot]);
    p->state = RUNNING;
    d->busy[slot] = true;
    d->tasks[slot] = d->started++;
    d->n_busy++;
    d->counts->runs++;
    return d->executor->start(d->executor->context, slot, &p->task, err);
}

static ft_status start_all(ft_x_driver *d, ft_error *err)
{
    ft_status status = FT_OK;
    const ft_x_executor *e = d->executor;
    uint32_t room = e->room ? e->room(e->context, 0, 1) : e->width;
    for (uint32_t s = 0; s < e->width && d->n_busy < room && status == FT_OK; s++)
        if (!d->busy[s] && d->started < d->first + d->n && may_start(d)) status = start(d, s, err);
    return status;
}

/* ---- finishing and taking */

static ft_status finish(ft_x_driver *d, ft_error *err)
{
    uint32_t slot;
    ft_x_run run = {0};
    ft_status status = d->executor->finish(d->executor->context, &slot, &run, err);
    if (status != FT_OK) return status;
    assert(slot < d->executor->width && d->busy[slot]);
    d->busy[slot] = false;
    d->n_busy--;
    place *p = at(d, d->tasks[slot]);
    p->state = ENDED;
    p->run = run;
    return FT_OK;
}

static void take(ft_x_driver *d, const ft_x_way *way)
{
    place *p = at(d, d->first);
    const ft_x_options *o = d->options;
    ft_x_run run = p->run;
    p->run = (ft_x_run){0};
    d->counts->cut += run.end == FT_X_CUT;
    d->counts->infeasible += run.end == FT_X_INFEASIBLE;
    d->counts->discarded += run.end == FT_X_DISCARDED;
    if (o->on_run && !o->on_run(o->context, &run)) d->stopped = true;
    if (run.end == FT_X_STRAYED) ft_x_driver_stray(d, &run, run.steps.len);
    way->take(way->context, p->number, &run);
    d->first++;
    d->n--;
    ft_x_run_release(&run);
}

static bool may_take(const ft_x_driver *d)
{
    return d->n && at(d, d->first)->state == ENDED;
}

ft_status ft_x_drive(ft_x_driver *d, const ft_x_way *way, ft_error *err)
{
    FT_REQUIRE(way->ahead > 0 && (!d->ahead || d->ahead == way->ahead));
    if (!d->ahead) d->ring = ft_calloc(way->ahead, sizeof *d->ring);
    d->ahead = way->ahead;
    d->stopped = false;
    for (ft_status status;;) {
        while (ask(d, way)) continue;
        if ((status = start_all(d, err)) != FT_OK) return status;
        if (may_take(d)) {
            take(d, way);
            continue;
        }
        if (!d->n_busy) break;
        if ((status = finish(d, err)) != FT_OK) return status;
    }
    assert(d->stopped || !d->n);
    return FT_OK;
}

bool ft_x_driver_withdraw(ft_x_driver *d, uint32_t *number)
{
    if (!d->n || at(d, d->first + d->n - 1)->state != ASKED) return false;
    *number = at(d, d->first + --d->n)->number;
    assert(d->started <= d->first + d->n);
    return true;
}

/* ---- names */

const char *ft_x_end_name(ft_x_end end)
{
    static const char *const NAMES[FT_X_ENDS] = {
#define FT_ROW(symbol, name, doc) name,
        FT_X_END_TABLE(FT_ROW)
#undef FT_ROW
    };
    FT_REQUIRE(end < FT_X_ENDS);
    return NAMES[end];
}

void ft_x_run_release(ft_x_run *run)
{
    ft_vec_release(&run->steps);
    ft_vec_release(&run->initial);
    ft_vec_release(&run->prints);
    ft_vec_release(&run->delays);
}
