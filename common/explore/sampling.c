#include "explore/sampling.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"
#include "explore/driver.h"

/* Chains at once: the same number whatever the executor's width. */
enum { CHAINS = 16, MAX_CHANGES = FT_X_SAMPLE_DEPTHS - 1, NO_THREAD = FT_X_THREADS };

typedef struct chain {
    uint64_t sample; /* its number, from 1; 0: none */
    bool running;
    uint32_t length; /* steps that a run has, as known when the sample began */
    FT_VEC(ft_x_pick) prefix;
} chain;

struct ft_x_samples {
    const ft_x_executor *executor;
    ft_x_driver *driver;
    ft_x_counts *counts;
    ft_x_names *classes;
    uint64_t seed, begun, taken, most;
    uint32_t length; /* of the longest run */
    chain chains[CHAINS];
    uint32_t turn; /* the chain that is asked next */
    ft_x_walk walk;
};

/* ---- what is random: by the seed, the sample and what it is for */

static uint64_t draw(const ft_x_samples *s, uint64_t sample, uint64_t purpose)
{
    return ft_hash_u64(ft_hash_u64(ft_hash_u64(s->seed + 1) + sample) + purpose);
}

static uint64_t priority(const ft_x_samples *s, const chain *c, uint32_t thread)
{
    return draw(s, c->sample, thread) | UINT64_C(1) << 63; /* above all that have fallen */
}

/* Which change point is at the step, from 1; 0: none. */
static uint32_t change_at(const ft_x_samples *s, const chain *c, size_t step)
{
    uint32_t changes = (uint32_t)(c->sample % FT_X_SAMPLE_DEPTHS);
    for (uint32_t i = 1; i <= changes && c->length; i++)
        if (draw(s, c->sample, 1000 + i) % c->length == step) return i;
    return 0;
}

/* ---- chains */

/* Where nobody can do anything else. */
static bool wanted_late(const ft_x_walk *w, const uint64_t priorities[FT_X_THREADS],
                        ft_x_pick *pick)
{
    bool found = false;
    for (uint32_t t = 0; t < w->n_threads; t++) {
        if (!ft_x_may_be_late(&w->state, t, &w->next[t])) continue;
        if (found && priorities[t] <= priorities[pick->thread]) continue;
        *pick = (ft_x_pick){.thread = (uint16_t)t, .variant = FT_X_TIMED_OUT};
        found = true;
    }
    return found;
}

/* The choice of the priorities at this place; false: no thread can go on. */
static bool wanted(const ft_x_samples *s, const chain *c, uint64_t priorities[FT_X_THREADS],
                   ft_x_pick *pick)
{
    uint32_t best = NO_THREAD;
    ft_x_choice choices[FT_X_THREADS];
    const ft_x_walk *w = &s->walk;
    for (uint32_t t = 0; t < w->n_threads; t++)
        if (ft_x_walk_enables(w, t) && (best == NO_THREAD || priorities[t] > priorities[best]))
            best = t;
    if (best == NO_THREAD) return wanted_late(w, priorities, pick);
    uint32_t n = ft_x_choices(&w->state, best, &w->next[best], choices);
    uint64_t which = draw(s, c->sample, 5000 + w->at) % n;
    *pick = (ft_x_pick){.thread = (uint16_t)best, .variant = choices[which].variant};
    return true;
}

/* The running thread gives way to all others. */
static void fall(const ft_x_samples *s, const chain *c, uint64_t priorities[FT_X_THREADS])
{
    uint32_t change = change_at(s, c, s->walk.at);
    ft_x_pick next;
    if (change && wanted(s, c, priorities, &next)) priorities[next.thread] = change;
}

static void go_another_way(chain *c, const ft_x_run *run, size_t steps, ft_x_pick pick)
{
    c->prefix.len = 0;
    for (size_t i = 0; i < steps; i++)
        ft_vec_push(&c->prefix, (ft_x_pick){run->steps.data[i].thread, run->steps.data[i].variant});
    ft_vec_push(&c->prefix, pick);
}

static void end_of_run(ft_x_samples *s, chain *c, const ft_x_run *run)
{
    if (s->walk.at > s->length) s->length = (uint32_t)s->walk.at;
    c->sample = 0;
    s->taken++;
    if (run->end != FT_X_DONE && run->end != FT_X_STUCK) return;
    uint32_t *class = ft_x_names_slot(s->classes, ft_x_walk_name(&s->walk));
    bool is_new = !*class;
    *class = 1;
    if (is_new) ft_x_driver_class(s->driver, run, NULL, NULL);
}

static void take_run(void *context, uint32_t number, const ft_x_run *run)
{
    ft_x_samples *s = context;
    chain *c = &s->chains[number];
    ft_x_walk *w = &s->walk;
    uint64_t priorities[FT_X_THREADS];
    c->running = false;
    for (uint32_t t = 0; t < FT_X_THREADS; t++) priorities[t] = priority(s, c, t);
    ft_x_walk_begin(w, &s->executor->world, run);
    for (; ft_x_walk_fits(w); ft_x_walk_step(w)) {
        ft_x_pick pick;
        fall(s, c, priorities);
        bool any = wanted(s, c, priorities, &pick); /* else the step is a late one (watch.h) */
        const ft_x_action *a = &run->steps.data[w->at];
        if (w->at < c->prefix.len || !any) continue;
        if (pick.thread == a->thread && pick.variant == a->variant) continue;
        return go_another_way(c, run, w->at, pick);
    }
    bool whole = w->at == run->steps.len && w->at >= c->prefix.len;
    if (!whole && run->end != FT_X_STRAYED) ft_x_driver_stray(s->driver, run, w->at);
    end_of_run(s, c, run);
}

/* The chain whose turn it is, of those that have none running. */
static chain *next_chain(ft_x_samples *s)
{
    for (uint32_t i = 0; i < CHAINS; i++) {
        chain *c = &s->chains[(s->turn + i) % CHAINS];
        bool may_begin = !s->most || s->begun < s->most;
        if (c->running || (!c->sample && !may_begin)) continue;
        s->turn = (uint32_t)(c - s->chains + 1) % CHAINS;
        return c;
    }
    return NULL;
}

static bool next_task(void *context, ft_x_task *task, uint32_t *number)
{
    ft_x_samples *s = context;
    chain *c = next_chain(s);
    if (!c) return false;
    if (!c->sample) {
        c->sample = ++s->begun;
        c->length = s->length;
        c->prefix.len = 0;
    }
    c->running = true;
    task->prefix = c->prefix.data;
    task->n = c->prefix.len;
    *number = (uint32_t)(c - s->chains);
    return true;
}

/* ---- the whole */

ft_x_samples *ft_x_samples_new(const ft_x_executor *executor, const ft_x_options *options,
                               ft_x_counts *counts, ft_x_names *classes, uint64_t seed)
{
    ft_x_samples *s = ft_calloc(1, sizeof *s);
    *s = (ft_x_samples){.executor = executor, .counts = counts, .classes = classes, .seed = seed};
    s->driver = ft_x_driver_new(executor, options, counts);
    return s;
}

void ft_x_samples_free(ft_x_samples *s)
{
    if (!s) return;
    for (uint32_t i = 0; i < CHAINS; i++) ft_vec_release(&s->chains[i].prefix);
    ft_x_walk_release(&s->walk);
    ft_x_driver_free(s->driver);
    free(s);
}

ft_status ft_x_samples_run(ft_x_samples *s, uint64_t most, ft_error *err)
{
    ft_x_way way = {.context = s, .next = next_task, .take = take_run, .ahead = CHAINS};
    s->most = most;
    return ft_x_drive(s->driver, &way, err);
}

uint64_t ft_x_samples_taken(const ft_x_samples *s)
{
    return s->taken;
}
