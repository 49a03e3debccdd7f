#include "explore/levels.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/driver.h"

enum { AHEAD = 64, NO_THREAD = FT_X_THREADS };

/* The picks of a run, which the branches off it share. */
typedef struct origin {
    uint32_t branches, steps;
    uint8_t picks[][2]; /* thread, variant */
} origin;

/* A prefix that is wanted: the picks of a run up to a step, and another one there. */
typedef struct branch {
    origin *from;
    uint32_t steps;
    uint16_t preemptions; /* that the prefix has */
    uint8_t thread, variant;
    uint64_t leads_to; /* half of the name of its configuration */
} branch;

typedef FT_VEC(branch) branches;

struct ft_x_levels {
    const ft_x_executor *executor;
    ft_x_driver *driver;
    ft_x_counts *counts;
    ft_x_names *classes;
    ft_x_names reached;    /* configuration and running thread -> fewest preemptions, + 1 */
    branches open, later;  /* of this level, of the next one */
    branch running[AHEAD]; /* by task number modulo AHEAD */
    uint32_t asked;
    FT_VEC(ft_x_pick) prefix; /* scratch */
    ft_x_walk walk;
    ft_x_levels_result result;
    uint64_t met;   /* classes */
    uint32_t level; /* at hand */
    size_t origin_bytes;
    bool incomplete; /* a run was cut or strayed: no more levels are complete */
    bool done;       /* the last level has no more */
    bool begun;
};

/* ---- places */

static ft_x_name with_thread(ft_x_name name, uint32_t running)
{
    name.a ^= (uint64_t)(running + 1) << 56; /* as good as any half of a hash */
    return name;
}

/* Is the place new, or reached with fewer preemptions than before? Then it is now. */
static bool reach(ft_x_levels *l, ft_x_name name, uint32_t running, uint32_t preemptions)
{
    uint32_t *fewest = ft_x_names_slot(&l->reached, with_thread(name, running));
    if (*fewest && *fewest <= preemptions + 1) return false;
    *fewest = preemptions + 1;
    return true;
}

/* ---- branches */

static size_t origin_size(size_t steps)
{
    return sizeof(origin) + steps * sizeof(uint8_t[2]);
}

static origin *origin_of(ft_x_levels *l, const ft_x_run *run)
{
    origin *o = ft_alloc(origin_size(run->steps.len));
    *o = (origin){.steps = (uint32_t)run->steps.len};
    for (size_t i = 0; i < run->steps.len; i++) {
        assert(run->steps.data[i].variant <= UINT8_MAX);
        o->picks[i][0] = (uint8_t)run->steps.data[i].thread;
        o->picks[i][1] = (uint8_t)run->steps.data[i].variant;
    }
    l->origin_bytes += origin_size(run->steps.len);
    return o;
}

static void drop_branch(ft_x_levels *l, branch *b)
{
    if (b->from && --b->from->branches == 0) {
        l->origin_bytes -= origin_size(b->from->steps);
        free(b->from);
    }
    *b = (branch){0};
}

static void release_branches(ft_x_levels *l, branches *all)
{
    for (size_t i = 0; i < all->len; i++) drop_branch(l, &all->data[i]);
    ft_vec_release(all);
}

/* The other steps from the configuration at hand: those that lead somewhere new are wanted. A place
 * is reached when it is wanted: its own run comes there. */
static void branch_off(ft_x_levels *l, origin **from, uint32_t running, uint32_t preemptions)
{
    ft_x_branch enabled[FT_X_THREADS * 4];
    const ft_x_walk *w = &l->walk;
    const ft_x_action *taken = &w->run->steps.data[w->at];
    size_t n = ft_x_walk_branches(w, enabled, sizeof enabled / sizeof *enabled);
    assert(n <= sizeof enabled / sizeof *enabled);
    bool goes_on = ft_x_walk_enables(w, running);
    for (size_t k = 0; k < n; k++) {
        const ft_x_action *a = &enabled[k].action;
        uint32_t cost = preemptions + (goes_on && a->thread != running);
        if (a->thread == taken->thread && a->variant == taken->variant) continue;
        if (!reach(l, enabled[k].name, a->thread, cost)) continue;
        if (!*from) *from = origin_of(l, w->run);
        (*from)->branches++;
        branch b = {.from = *from,
                    .steps = (uint32_t)w->at,
                    .preemptions = (uint16_t)cost,
                    .thread = (uint8_t)a->thread,
                    .variant = (uint8_t)a->variant,
                    .leads_to = enabled[k].name.b};
        if (cost <= l->level)
            ft_vec_push(&l->open, b);
        else
            ft_vec_push(&l->later, b);
    }
}

/* ---- runs */

static void end_of_run(ft_x_levels *l)
{
    const ft_x_run *run = l->walk.run;
    if (run->end == FT_X_CUT) {
        l->incomplete = true;
        return;
    }
    if (run->end == FT_X_INFEASIBLE || run->end == FT_X_DISCARDED) return;
    uint32_t *class = ft_x_names_slot(l->classes, ft_x_walk_name(&l->walk));
    uint32_t *here = ft_x_names_slot(&l->reached, with_thread(ft_x_walk_name(&l->walk), NO_THREAD));
    l->met += !*here;
    *here = 1;
    bool is_new = !*class;
    *class = 1;
    if (is_new) ft_x_driver_class(l->driver, run, NULL, NULL);
}

static void strays(ft_x_levels *l)
{
    l->incomplete = true;
    if (l->walk.run->end != FT_X_STRAYED) ft_x_driver_stray(l->driver, l->walk.run, l->walk.at);
}

/* Goes along the run; branches off behind the prefix. True: to its end. */
static bool follow(ft_x_levels *l, const branch *b, origin **from)
{
    ft_x_walk *w = &l->walk;
    uint32_t running = NO_THREAD, preemptions = 0, prefix = b->from ? b->steps + 1 : 0;
    while (w->at < w->run->steps.len) {
        uint32_t thread = w->run->steps.data[w->at].thread;
        if (!ft_x_walk_fits(w)) return strays(l), false;
        if (w->at >= prefix) branch_off(l, from, running, preemptions);
        preemptions += thread != running && ft_x_walk_enables(w, running);
        ft_x_walk_step(w);
        running = thread;
        if (w->at < prefix) continue;
        ft_x_name name = ft_x_walk_name(w);
        if (w->at == prefix && name.b != b->leads_to) return strays(l), false;
        if (w->at > prefix && !reach(l, name, running, preemptions)) return false;
    }
    if (w->at < prefix || w->run->end == FT_X_STRAYED) return strays(l), false;
    return true;
}

static void take_run(void *context, uint32_t number, const ft_x_run *run)
{
    ft_x_levels *l = context;
    branch *b = &l->running[number % AHEAD];
    origin *from = NULL;
    ft_x_walk_begin(&l->walk, &l->executor->world, run);
    if (follow(l, b, &from))
        end_of_run(l);
    else
        l->counts->redundant++;
    drop_branch(l, b);
}

static bool next_task(void *context, ft_x_task *task, uint32_t *number)
{
    ft_x_levels *l = context;
    if (l->begun && !l->open.len) return false;
    branch b = {0};
    if (l->begun) b = l->open.data[--l->open.len];
    l->begun = true;
    l->prefix.len = 0;
    for (uint32_t i = 0; b.from && i < b.steps; i++)
        ft_vec_push(&l->prefix, (ft_x_pick){b.from->picks[i][0], b.from->picks[i][1]});
    if (b.from) ft_vec_push(&l->prefix, (ft_x_pick){b.thread, b.variant});
    *number = l->asked++;
    l->running[*number % AHEAD] = b;
    task->prefix = l->prefix.data;
    task->n = l->prefix.len;
    return true;
}

/* ---- levels */

ft_x_levels *ft_x_levels_new(const ft_x_executor *executor, const ft_x_options *options,
                             ft_x_counts *counts, ft_x_names *classes)
{
    ft_x_levels *l = ft_calloc(1, sizeof *l);
    *l = (ft_x_levels){.executor = executor, .counts = counts, .classes = classes};
    l->driver = ft_x_driver_new(executor, options, counts);
    return l;
}

void ft_x_levels_free(ft_x_levels *l)
{
    if (!l) return;
    for (uint32_t i = 0; i < AHEAD; i++) drop_branch(l, &l->running[i]);
    release_branches(l, &l->open);
    release_branches(l, &l->later);
    ft_vec_release(&l->prefix);
    ft_x_names_release(&l->reached);
    ft_x_walk_release(&l->walk);
    ft_x_driver_free(l->driver);
    free(l);
}

size_t ft_x_levels_bytes(const ft_x_levels *l)
{
    return ft_x_names_bytes(&l->reached) + l->origin_bytes +
           (l->open.cap + l->later.cap) * sizeof(branch);
}

static void end_level(ft_x_levels *l)
{
    l->level++;
    l->done = l->later.len == 0;
    branches next = l->later;
    l->later = l->open;
    l->open = next;
    assert(!l->later.len);
    if (l->incomplete) return;
    l->result.complete = l->level;
    l->result.classes = l->met;
    l->result.all = l->done;
}

ft_status ft_x_levels_run(ft_x_levels *l, uint32_t last, ft_x_levels_result *result, ft_error *err)
{
    ft_x_way way = {.context = l, .next = next_task, .take = take_run, .ahead = AHEAD};
    ft_status status = FT_OK;
    while (!l->done && l->level <= last) {
        status = ft_x_drive(l->driver, &way, err);
        if (status != FT_OK || ft_x_driver_stopped(l->driver)) break;
        end_level(l);
    }
    *result = l->result;
    result->open_runs = l->open.len;
    result->met = l->met;
    result->done = l->done;
    return status;
}

ft_status ft_x_levels_all(const ft_x_executor *executor, const ft_x_options *options, uint32_t last,
                          ft_x_counts *counts, ft_x_levels_result *result, ft_error *err)
{
    ft_x_names classes = {0};
    *counts = (ft_x_counts){0};
    ft_x_levels *l = ft_x_levels_new(executor, options, counts, &classes);
    ft_status status = ft_x_levels_run(l, last, result, err);
    counts->most_bytes = ft_x_levels_bytes(l) + ft_x_names_bytes(&classes);
    ft_x_levels_free(l);
    ft_x_names_release(&classes);
    return status;
}
