#include "explore/driver.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

struct ft_x_driver {
    const ft_x_executor *executor;
    const ft_x_options *options;
    ft_x_counts *counts;
    ft_unfolding *u;
    ft_x_object *objects;    /* scratch */
    FT_VEC(uint32_t) events; /* of the run at hand */
    uint32_t *tasks;         /* by slot: the number of the task */
    bool *busy;              /* by slot */
    uint32_t n_busy;
    bool stopped;
};

ft_x_driver *ft_x_driver_new(const ft_x_executor *executor, const ft_x_options *options,
                             ft_x_counts *counts)
{
    FT_REQUIRE(executor->width > 0 && counts);
    ft_x_driver *d = ft_calloc(1, sizeof *d);
    *d = (ft_x_driver){.executor = executor, .options = options, .counts = counts};
    *counts = (ft_x_counts){0};
    d->u = ft_unfolding_new(&executor->world);
    d->tasks = ft_calloc(executor->width, sizeof *d->tasks);
    d->busy = ft_calloc(executor->width, sizeof *d->busy);
    return d;
}

void ft_x_driver_free(ft_x_driver *d)
{
    if (!d) return;
    FT_CHECK(ft_unfolding_is_sound(d->u));
    ft_unfolding_free(d->u);
    ft_vec_release(&d->events);
    free(d->objects);
    free(d->tasks);
    free(d->busy);
    free(d);
}

ft_unfolding *ft_x_driver_unfolding(const ft_x_driver *d)
{
    return d->u;
}

bool ft_x_driver_stopped(const ft_x_driver *d)
{
    return d->stopped;
}

void ft_x_driver_class(ft_x_driver *d, const ft_x_run *run, const ft_configuration *c)
{
    const ft_x_options *o = d->options;
    assert(run->end == FT_X_DONE || run->end == FT_X_STUCK);
    d->counts->classes++;
    d->counts->stuck += run->end == FT_X_STUCK;
    if (o->on_class && !o->on_class(o->context, run, d->u, c)) d->stopped = true;
}

/* ---- a run's events */

static ft_status disagree(const ft_x_action *a, size_t step, const char *why, ft_error *err)
{
    return ft_error_set(err, FT_INTERNAL, "step %zu, %s by thread %u: %s", step + 1,
                        ft_x_kind_name((ft_x_kind)a->operation.kind), a->thread, why);
}

/* What the thread stands before when the first i steps are done. */
static const ft_x_operation *next_operation(const ft_x_run *run, size_t i, uint32_t thread)
{
    for (size_t k = i; k < run->steps.len; k++)
        if (run->steps.data[k].thread == thread) return &run->steps.data[k].operation;
    return &run->pending[thread];
}

/* The state in which executions begin, with room for all objects of the run. */
static ft_x_state begin_state(ft_x_driver *d, const ft_x_run *run)
{
    const ft_x_world *w = &d->executor->world;
    uint32_t n_initial, n;
    const ft_x_object *initial = ft_unfolding_initial(d->u, &n_initial);
    n = n_initial;
    for (size_t i = 0; i < run->steps.len; i++) {
        const ft_x_operation *o = &run->steps.data[i].operation;
        if (o->object >= n) n = o->object + 1;
        if (o->other >= n) n = o->other + 1;
    }
    d->objects = ft_realloc(d->objects, n + 1, sizeof *d->objects);
    memset(d->objects, 0, (n + 1) * sizeof *d->objects);
    for (uint32_t i = 0; i < n_initial; i++) d->objects[i] = initial[i];
    ft_x_state state = {.objects = d->objects, .n_objects = n + 1};
    for (uint32_t t = 0; t < w->n_threads; t++)
        if (w->first[t].kind == FT_X_NONE) state.ended |= UINT64_C(1) << t;
    return state;
}

/* The event of the i-th step; says what its thread, and one that it creates, stand before next. */
static ft_status take_event(ft_x_driver *d, const ft_x_run *run, size_t i, ft_configuration *c,
                            ft_x_state *state, ft_error *err)
{
    const ft_x_action *a = &run->steps.data[i];
    const ft_x_operation *o = &a->operation, *next = next_operation(run, i + 1, a->thread);
    bool creates = o->kind == FT_X_CREATE;
    const ft_x_operation *first = creates ? next_operation(run, i + 1, o->object) : NULL;
    if (!ft_x_is_choice(state, a))
        return disagree(a, i, "the object's state does not allow it", err);
    uint32_t e = ft_unfolding_event(d->u, c, a);
    if (!ft_unfolding_say_next(d->u, e, next) ||
        (creates && !ft_unfolding_say_first(d->u, e, first)))
        return disagree(a, i, "the thread goes on otherwise than in an equal run", err);
    ft_x_apply(state, a);
    if (next->kind == FT_X_NONE) state->ended |= UINT64_C(1) << a->thread;
    if (creates && first->kind == FT_X_NONE) state->ended |= UINT64_C(1) << o->object;
    c->last[a->thread] = e;
    ft_vec_push(&d->events, e);
    return FT_OK;
}

static bool is_served(const ft_x_action *a)
{
    return a->thread < FT_X_THREADS &&
           (ft_x_kind_class((ft_x_kind)a->operation.kind) != FT_X_THREAD ||
            a->operation.object < FT_X_THREADS);
}

static ft_status say_initial(ft_x_driver *d, const ft_x_run *run, ft_error *err)
{
    for (size_t i = 0; i < run->initial.len; i++)
        if (!ft_unfolding_say_initial(d->u, run->initial.data[i].object,
                                      &run->initial.data[i].state))
            return ft_error_set(err, FT_INTERNAL,
                                "object %u does not begin with the content that it had in an "
                                "earlier run",
                                run->initial.data[i].object);
    return FT_OK;
}

static ft_status take_events(ft_x_driver *d, const ft_x_run *run, ft_error *err)
{
    ft_configuration c = {{0}};
    ft_status status = say_initial(d, run, err);
    if (status != FT_OK) return status;
    ft_x_state state = begin_state(d, run);
    d->events.len = 0;
    for (size_t i = 0; i < run->steps.len && status == FT_OK; i++)
        status = is_served(&run->steps.data[i])
                     ? take_event(d, run, i, &c, &state, err)
                     : disagree(&run->steps.data[i], i, "the search serves 64 threads", err);
    return status;
}

/* ---- runs */

static bool may_start(ft_x_driver *d)
{
    const ft_x_options *o = d->options;
    if ((o->max_runs && d->counts->runs >= o->max_runs) ||
        (o->should_stop && o->should_stop(o->context)))
        d->stopped = true;
    return !d->stopped;
}

static ft_status start(ft_x_driver *d, const ft_x_way *way, uint32_t slot, bool *started,
                       ft_error *err)
{
    ft_x_task task = {0};
    *started = way->next(way->context, &task, &d->tasks[slot]);
    if (!*started) return FT_OK;
    if (!may_start(d)) return *started = false, FT_OK;
    assert(d->n_busy < d->executor->width && !d->busy[slot]);
    d->busy[slot] = true;
    d->n_busy++;
    d->counts->runs++;
    return d->executor->start(d->executor->context, slot, &task, err);
}

static ft_status finish(ft_x_driver *d, const ft_x_way *way, ft_error *err)
{
    uint32_t slot;
    ft_x_run run = {0};
    ft_status status = d->executor->finish(d->executor->context, &slot, &run, err);
    if (status != FT_OK) return status;
    assert(slot < d->executor->width && d->busy[slot]);
    d->busy[slot] = false;
    d->n_busy--;
    d->counts->cut += run.end == FT_X_CUT;
    if (run.end == FT_X_STRAYED) d->stopped = true;
    if (!d->stopped) status = take_events(d, &run, err);
    if (!d->stopped && status == FT_OK)
        way->take(way->context, d->tasks[slot], &run, d->events.data);
    ft_x_run_release(&run);
    return status;
}

ft_status ft_x_drive(ft_x_driver *d, const ft_x_way *way, ft_error *err)
{
    ft_status status = FT_OK;
    for (;;) {
        bool started = true;
        for (uint32_t slot = 0; slot < d->executor->width && started && !d->stopped; slot++)
            if (!d->busy[slot] && (status = start(d, way, slot, &started, err)) != FT_OK)
                return status;
        if (!d->n_busy) break;
        if ((status = finish(d, way, err)) != FT_OK) return status;
    }
    assert(d->counts->classes + d->counts->redundant <= d->counts->runs);
    d->counts->events = ft_unfolding_events(d->u);
    d->counts->bytes = ft_unfolding_bytes(d->u);
    return FT_OK;
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
}
