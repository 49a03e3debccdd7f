#include "explore/delays.h"

#include <stdlib.h>

#include "base/contract.h"

enum { NONE = UINT32_MAX };

/* A step's time, and the step with the longest delay that made it so late. */
typedef struct timed {
    uint64_t at, ready; /* ready: by its own thread alone */
    uint32_t cause;
    /* of the steps before it, as far as they are known */
    uint64_t enabled_at, inverted_at;
    uint32_t enabled_by, inverted_by;
} timed;

typedef struct times {
    const ft_x_run *run;
    const ft_x_delay *delays;
    timed *steps;                /* and behind them what each thread stands before at the end */
    uint32_t last[FT_X_THREADS]; /* by thread: its last timed step, from 1 */
    uint32_t *needed;
    size_t n, room;
} times;

static void need(times *t, uint32_t step)
{
    for (size_t i = 0; i < t->n && i < t->room; i++)
        if (t->needed[i] == step) return;
    if (t->n < t->room) t->needed[t->n] = step;
    t->n++;
}

static uint32_t longer(const times *t, uint32_t a, uint32_t b)
{
    if (a == NONE || b == NONE) return a == NONE ? b : a;
    return t->delays[a].ms >= t->delays[b].ms ? a : b;
}

/* The step's own time, and whether it was overtaken by a step that came too late for that. */
static void time_step(times *t, uint32_t i, uint32_t thread, uint32_t delay)
{
    timed *s = &t->steps[i];
    const timed *before = t->last[thread] ? &t->steps[t->last[thread] - 1] : NULL;
    uint32_t own = delay ? i : NONE;
    s->ready = (before ? before->at : 0) + delay;
    s->cause = longer(t, before ? before->cause : NONE, own);
    s->at = s->ready;
    if (s->inverted_by != NONE && s->inverted_at > s->ready) need(t, s->inverted_by);
    if (s->enabled_by != NONE && s->enabled_at > s->at) {
        s->at = s->enabled_at;
        s->cause = s->enabled_by;
    }
}

static bool is_enabled(const ft_x_walk *walk, uint32_t thread, const ft_x_operation *o)
{
    ft_x_choice choices[FT_X_THREADS];
    return ft_x_choices(&walk->state, thread, o, choices) > 0;
}

/* Step `first`, which is at hand, comes before `second`, another thread's. */
static void order(times *t, uint32_t first, uint32_t second, bool was_enabled)
{
    const timed *a = &t->steps[first];
    timed *b = &t->steps[second];
    if (a->cause == NONE) return;
    if (was_enabled && a->at > b->inverted_at && a->at > b->enabled_at) {
        b->inverted_at = a->at;
        b->inverted_by = a->cause;
    } else if (!was_enabled && a->at > b->enabled_at) {
        b->enabled_at = a->at;
        b->enabled_by = a->cause;
    }
}

/* Of the steps behind the one at hand: a bit says whether the state before it enabled them. */
static void look_ahead(times *t, const ft_x_walk *walk, uint32_t at, bool *enabled)
{
    const ft_x_run *run = t->run;
    for (size_t k = at + 1; k < run->steps.len; k++)
        enabled[k] = is_enabled(walk, run->steps.data[k].thread, &run->steps.data[k].operation);
}

/* A child does nothing before its creation, whatever it stands before. */
static bool creates(const ft_x_action *a, uint32_t thread)
{
    return a->operation.kind == FT_X_CREATE && a->operation.object == thread;
}

static void order_behind(times *t, uint32_t at, const bool *enabled)
{
    const ft_x_run *run = t->run;
    const ft_x_action *a = &run->steps.data[at];
    for (size_t k = at + 1; k < run->steps.len; k++) {
        const ft_x_action *b = &run->steps.data[k];
        if (b->thread == a->thread || !ft_x_dependent(a, b)) continue;
        order(t, at, (uint32_t)k, enabled[k] && !creates(a, b->thread));
    }
}

/* Orders the pending actions that the end of the process overtook. */
static void order_pending(times *t, const ft_x_walk *walk, uint32_t at)
{
    const ft_x_action *a = &t->run->steps.data[at];
    if (a->operation.kind != FT_X_EXIT) return;
    for (uint32_t u = 0; u < walk->n_threads; u++) {
        const ft_x_operation *o = &walk->next[u];
        if (u == a->thread || o->kind == FT_X_NONE || !is_enabled(walk, u, o)) continue;
        uint64_t ready = t->last[u] ? t->steps[t->last[u] - 1].at : 0;
        const timed *end = &t->steps[at];
        if (end->cause != NONE && end->at > ready) need(t, end->cause);
    }
}

static void go_along(times *t, ft_x_walk *walk)
{
    const ft_x_run *run = t->run;
    bool *enabled = ft_calloc(run->steps.len + 1, sizeof *enabled);
    for (uint32_t i = 0; ft_x_walk_fits(walk); i++) {
        uint32_t thread = run->steps.data[i].thread;
        time_step(t, i, thread, t->delays[i].ms);
        t->last[thread] = i + 1;
        look_ahead(t, walk, i, enabled);
        order_behind(t, i, enabled);
        order_pending(t, walk, i);
        ft_x_walk_step(walk);
    }
    free(enabled);
}

static size_t all_delays(const ft_x_run *run, const ft_x_delay *delays, uint32_t *steps,
                         size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < run->steps.len; i++)
        if (delays[i].ms && n++ < room) steps[n - 1] = (uint32_t)i;
    return n;
}

size_t ft_x_delays_needed(const ft_x_world *world, ft_x_walk *walk, const ft_x_run *run,
                          const ft_x_delay *delays, uint32_t *steps, size_t room)
{
    if (!all_delays(run, delays, steps, 0)) return 0;
    if (run->steps.len > FT_X_DELAYED) return all_delays(run, delays, steps, room);
    times t = {.run = run, .delays = delays, .needed = steps, .room = room};
    t.steps = ft_calloc(run->steps.len, sizeof *t.steps);
    for (size_t i = 0; i < run->steps.len; i++)
        t.steps[i].cause = t.steps[i].enabled_by = t.steps[i].inverted_by = NONE;
    ft_x_walk_begin(walk, world, run);
    go_along(&t, walk);
    free(t.steps);
    return t.n;
}
