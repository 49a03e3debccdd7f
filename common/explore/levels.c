#include "explore/levels.h"

#include <stdlib.h>

#include "base/contract.h"
#include "explore/configurations.h"
#include "explore/driver.h"
#include "explore/extensions.h"

/* A prefix that is wanted: the picks up to a run's step, and another one there. */
typedef struct branch {
    FT_VEC(ft_x_pick) picks;
    uint32_t preemptions; /* that the prefix has */
} branch;

typedef FT_VEC(branch) branches;

typedef struct levels {
    const ft_x_options *options;
    ft_x_driver *driver;
    ft_unfolding *u;
    ft_configurations configurations;
    ft_map reached;         /* configuration << 32 | running thread -> fewest preemptions */
    ft_map classes;         /* maximal configurations that were met */
    branches open, later;   /* of this level, of the next one */
    FT_VEC(branch) running; /* by task number; a finished one's picks are NULL */
    uint32_t level;
    bool cut;
} levels;

static uint64_t key_of(levels *l, const ft_configuration *c, uint32_t running)
{
    return (uint64_t)ft_configurations_add(&l->configurations, c, NULL) << 32 | running;
}

/* Is the place new, or reached with fewer preemptions than before? Then it is now. */
static bool reach(levels *l, const ft_configuration *c, uint32_t running, uint32_t preemptions)
{
    bool inserted;
    uint64_t *fewest = ft_map_slot(&l->reached, key_of(l, c, running), preemptions, &inserted);
    if (!inserted && *fewest <= preemptions) return false;
    *fewest = preemptions;
    return true;
}

/* Does the place wait to be reached with as few preemptions, or was it? */
static bool is_reached(levels *l, const ft_configuration *c, uint32_t running, uint32_t preemptions)
{
    uint64_t fewest;
    return ft_map_get(&l->reached, key_of(l, c, running), &fewest) && fewest <= preemptions;
}

static void want(levels *l, const ft_x_run *run, size_t steps, const ft_x_action *last,
                 uint32_t preemptions)
{
    branch b = {.preemptions = preemptions};
    for (size_t i = 0; i < steps; i++)
        ft_vec_push(&b.picks, (ft_x_pick){.thread = run->steps.data[i].thread,
                                          .variant = run->steps.data[i].variant});
    ft_vec_push(&b.picks, (ft_x_pick){.thread = last->thread, .variant = last->variant});
    if (preemptions <= l->level)
        ft_vec_push(&l->open, b);
    else
        ft_vec_push(&l->later, b);
}

/* The other steps from the configuration: those that lead somewhere new are wanted. */
static void branch_off(levels *l, const ft_x_run *run, size_t i, const ft_configuration *c,
                       const uint32_t *enabled, size_t n, uint32_t running, uint32_t preemptions,
                       uint32_t taken)
{
    bool goes_on = false;
    for (size_t k = 0; k < n; k++)
        goes_on = goes_on || ft_unfolding_action(l->u, enabled[k]).thread == running;
    for (size_t k = 0; k < n; k++) {
        ft_x_action a = ft_unfolding_action(l->u, enabled[k]);
        uint32_t cost = preemptions + (goes_on && a.thread != running);
        ft_configuration next = *c;
        next.last[a.thread] = enabled[k];
        if (enabled[k] != taken && !is_reached(l, &next, a.thread, cost)) want(l, run, i, &a, cost);
    }
}

/* Was the step from the running thread to the event's a preemption? */
static bool is_preemption(const ft_unfolding *u, const uint32_t *enabled, size_t n,
                          uint32_t running, uint32_t thread)
{
    if (thread == running) return false;
    for (size_t k = 0; k < n; k++)
        if (ft_unfolding_action(u, enabled[k]).thread == running) return true;
    return false;
}

static void end_of_run(levels *l, const ft_x_run *run, const ft_configuration *c)
{
    bool is_new;
    if (run->end == FT_X_CUT) {
        l->cut = true;
        return;
    }
    ft_map_slot(&l->classes, key_of(l, c, 0), 0, &is_new);
    if (is_new) ft_x_driver_class(l->driver, run, c);
}

static void take_run(void *context, uint32_t number, const ft_x_run *run, const uint32_t *events)
{
    levels *l = context;
    uint32_t enabled[FT_X_THREADS * 4], running = FT_X_THREADS, preemptions = 0;
    size_t prefix = l->running.data[number].picks.len;
    ft_configuration c = {{0}};
    for (size_t i = 0; i < run->steps.len; i++) {
        uint32_t thread = run->steps.data[i].thread;
        size_t n = ft_extensions_enabled(l->u, &c, enabled, sizeof enabled / sizeof *enabled);
        assert(n <= sizeof enabled / sizeof *enabled);
        if (i >= prefix) branch_off(l, run, i, &c, enabled, n, running, preemptions, events[i]);
        preemptions += is_preemption(l->u, enabled, n, running, thread);
        c.last[thread] = events[i];
        running = thread;
        /* Steps of the prefix but the last were reached by the run that it comes from. */
        if (i + 1 >= prefix && !reach(l, &c, running, preemptions)) goto done;
        assert(i + 1 != prefix || preemptions == l->running.data[number].preemptions);
    }
    end_of_run(l, run, &c);
done:
    ft_vec_release(&l->running.data[number].picks);
}

/* Branches that were reached meanwhile are left out. (Their configuration is known by the run that
 * reached it; it is asked when the run comes back.) */
static bool next_task(void *context, ft_x_task *task, uint32_t *number)
{
    levels *l = context;
    if (!l->open.len) return false;
    *number = (uint32_t)l->running.len;
    ft_vec_push(&l->running, l->open.data[--l->open.len]);
    const branch *b = &l->running.data[*number];
    task->prefix = b->picks.data;
    task->n = b->picks.len;
    return true;
}

static void release_branches(branches *all)
{
    for (size_t i = 0; i < all->len; i++) ft_vec_release(&all->data[i].picks);
    ft_vec_release(all);
}

static void release(levels *l)
{
    for (size_t i = 0; i < l->running.len; i++) ft_vec_release(&l->running.data[i].picks);
    ft_vec_release(&l->running);
    release_branches(&l->open);
    release_branches(&l->later);
    ft_configurations_release(&l->configurations);
    ft_map_release(&l->reached);
    ft_map_release(&l->classes);
    ft_x_driver_free(l->driver);
}

ft_status ft_x_levels(const ft_x_executor *executor, const ft_x_options *options, uint32_t last,
                      ft_x_counts *counts, ft_x_levels_result *result, ft_error *err)
{
    FT_REQUIRE(result);
    levels l = {.options = options, .driver = ft_x_driver_new(executor, options, counts)};
    l.u = ft_x_driver_unfolding(l.driver);
    *result = (ft_x_levels_result){0};
    ft_status status = FT_OK;
    ft_x_way way = {.context = &l, .next = next_task, .take = take_run};
    ft_vec_push(&l.open, (branch){.preemptions = 0});
    for (l.level = 0; l.level <= last && status == FT_OK; l.level++) {
        status = ft_x_drive(l.driver, &way, err);
        if (status != FT_OK || ft_x_driver_stopped(l.driver) || l.cut) break;
        result->complete = l.level + 1;
        result->all = l.later.len == 0;
        if (result->all) break;
        branches next = l.later;
        l.later = l.open;
        l.open = next;
        l.later.len = 0;
    }
    result->open_runs = l.open.len;
    counts->bytes += ft_configurations_bytes(&l.configurations);
    release(&l);
    return status;
}
