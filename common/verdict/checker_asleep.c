/* A signal may wake any waiter. For a claim that some waiters sleep at the end, the signals of the
 * schedule must be explained: there must be an execution in which each signal wakes a waiter, if
 * there is one, and none of those that sleep at the end.
 *
 * The execution is built from left to right. A signal goes to the waiter whose wait has to end
 * first, which leaves the most choice to later signals. Waiters that need no signal (a time-out or
 * a broadcast ends their wait as well) are an exception: one of them takes the signal only if later
 * signals can serve all waiters that need one. That loses nothing (exchange argument of Mendelsohn
 * and Dulmage: signals that must be used and waiters that must be woken can be matched together if
 * each side can be matched).
 *
 * A waiter that the trace ends with (a recording of a deadlock, or a truncated one) counts as
 * sleeping: the trace does not show what it does once woken. */
#include <stdlib.h>

#include "verdict/checker_internal.h"

typedef ft_checker_run run;

enum { NEVER = UINT32_MAX };

/* A thread that waits and was not woken yet. */
typedef struct sleeper {
    uint32_t thread, condition;
    uint32_t until; /* step that ends its wait: its cond-wake or a broadcast; NEVER: none */
    bool needs;     /* that step is a cond-wake in time: it needs a signal before */
    bool asleep;    /* at the end of the schedule it sleeps: nobody may wake it */
} sleeper;
typedef FT_VEC(sleeper) sleepers;

typedef struct replay {
    const run *r;
    sleeper *waits; /* per step: of a cond-wait */
    sleepers waiting;
    sleepers trial; /* scratch */
} replay;

static uint32_t *filled(size_t count, uint32_t value)
{
    uint32_t *array = ft_alloc((count + 1) * sizeof *array);
    for (size_t i = 0; i < count; i++) array[i] = value;
    return array;
}

/* Per thread: its next event, if that is a cond-wake, else FT_NO_EVENT. */
static uint32_t *find_next_wakes(const run *r)
{
    const ft_trace *trace = r->trace;
    uint32_t *next = filled(trace->threads.len, FT_NO_EVENT);
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_COND_WAKE && ft_machine_next(r->machine, e, NULL) == FT_OK)
            next[trace->thread[e]] = e;
    return next;
}

/* The cond-wait at a step, from what is known of later steps. */
static sleeper describe_wait(const run *r, uint32_t e, uint32_t wake, uint32_t broadcast,
                             bool asleep)
{
    const ft_trace *trace = r->trace;
    bool first = wake < broadcast;
    bool late = wake != NEVER && trace->flags[r->witness->steps[wake]] & FT_FLAG_FAILED;
    return (sleeper){.thread = trace->thread[e],
                     .condition = trace->object[e],
                     .until = first ? wake : broadcast,
                     .needs = first && !late,
                     .asleep = wake == NEVER && asleep};
}

/* Per event: a cond-wait that no cond-wake of its thread follows, nor, where tracers log the
 * wake-up behind it, a request for the mutex that its thread wants back. */
static bool *find_open_waits(const ft_trace *trace)
{
    bool *open = ft_calloc((size_t)trace->n_events + 1, sizeof *open);
    bool *woken = ft_calloc((size_t)trace->threads.len + 1, sizeof *woken);
    for (uint32_t e = trace->n_events; e-- > 0;) {
        bool wants = trace->kind[e] == FT_EVENT_ACQUIRE && trace->flags[e] & FT_FLAG_CONDITION;
        if (trace->kind[e] == FT_EVENT_COND_WAKE || wants) woken[trace->thread[e]] = true;
        if (trace->kind[e] != FT_EVENT_COND_WAIT) continue;
        open[e] = !woken[trace->thread[e]];
        woken[trace->thread[e]] = false;
    }
    free(woken);
    return open;
}

static void find_waits(replay *p)
{
    const run *r = p->r;
    const ft_trace *trace = r->trace;
    uint32_t *wake = filled(trace->threads.len, NEVER), *next = find_next_wakes(r);
    uint32_t *broadcast = filled(trace->conditions.len, NEVER);
    bool *open = find_open_waits(trace);
    p->waits = ft_calloc((size_t)r->witness->n_steps + 1, sizeof *p->waits);
    for (uint32_t i = r->witness->n_steps; i-- > 0;) {
        uint32_t e = r->witness->steps[i], t = trace->thread[e], c = trace->object[e];
        if (trace->kind[e] == FT_EVENT_COND_WAKE) wake[t] = i;
        if (trace->kind[e] == FT_EVENT_BROADCAST) broadcast[c] = i;
        if (trace->kind[e] != FT_EVENT_COND_WAIT) continue;
        bool asleep = open[e] || (next[t] != FT_NO_EVENT && trace->object[next[t]] == c);
        p->waits[i] = describe_wait(r, e, wake[t], broadcast[c], asleep);
        wake[t] = NEVER;
        next[t] = FT_NO_EVENT;
    }
    free(wake);
    free(next);
    free(broadcast);
    free(open);
}

/* ---- one signal ------------------------------------------------------------------------------ */

static void take(sleepers *list, const sleeper *one)
{
    size_t at = (size_t)(one - list->data);
    assert(at < list->len);
    list->data[at] = list->data[--list->len];
}

/* The waiter that may be woken whose wait ends first, among those that need it or the others. */
static sleeper *first_to_end(sleepers *list, uint32_t condition, bool needs)
{
    sleeper *best = NULL;
    for (size_t i = 0; i < list->len; i++) {
        sleeper *s = &list->data[i];
        if (s->condition != condition || s->asleep || s->needs != needs) continue;
        if (!best || s->until < best->until) best = s;
    }
    return best;
}

static bool is_overdue(const sleepers *list, uint32_t condition, uint32_t step)
{
    for (size_t i = 0; i < list->len; i++)
        if (list->data[i].condition == condition && list->data[i].needs &&
            list->data[i].until == step)
            return true;
    return false;
}

/* Can later signals serve all waiters that need one, if this signal goes to another? */
static bool can_spare(replay *p, uint32_t condition, uint32_t step)
{
    const ft_trace *trace = p->r->trace;
    p->trial.len = 0;
    for (size_t i = 0; i < p->waiting.len; i++) ft_vec_push(&p->trial, p->waiting.data[i]);
    for (uint32_t i = step + 1; i < p->r->witness->n_steps; i++) {
        uint32_t e = p->r->witness->steps[i];
        if (is_overdue(&p->trial, condition, i)) return false;
        if (trace->object[e] != condition) continue;
        if (trace->kind[e] == FT_EVENT_COND_WAIT) ft_vec_push(&p->trial, p->waits[i]);
        if (trace->kind[e] != FT_EVENT_SIGNAL) continue;
        const sleeper *served = first_to_end(&p->trial, condition, true);
        if (served) take(&p->trial, served);
    }
    return true;
}

static bool sleeps(const replay *p, uint32_t condition)
{
    for (size_t i = 0; i < p->waiting.len; i++)
        if (p->waiting.data[i].asleep && p->waiting.data[i].condition == condition) return true;
    return false;
}

/* False: it wakes one that sleeps at the end. */
static bool signal_one(replay *p, uint32_t condition, uint32_t step)
{
    const sleeper *needs = first_to_end(&p->waiting, condition, true);
    const sleeper *other = first_to_end(&p->waiting, condition, false);
    if (!needs && !other) return !sleeps(p, condition);
    bool spare =
        other && (!needs || (other->until < needs->until && can_spare(p, condition, step)));
    take(&p->waiting, spare ? other : needs);
    return true;
}

/* ---- the schedule ---------------------------------------------------------------------------- */

static bool end_waits(replay *p, uint32_t condition)
{
    if (sleeps(p, condition)) return false;
    for (size_t i = p->waiting.len; i-- > 0;)
        if (p->waiting.data[i].condition == condition) take(&p->waiting, &p->waiting.data[i]);
    return true;
}

/* False: it goes on in time though no signal was left for it. */
static bool go_on(replay *p, uint32_t thread)
{
    for (size_t i = 0; i < p->waiting.len; i++) {
        sleeper gone = p->waiting.data[i];
        if (gone.thread != thread) continue;
        take(&p->waiting, &p->waiting.data[i]);
        return !gone.needs;
    }
    return true;
}

static bool replay_step(replay *p, uint32_t i)
{
    const ft_trace *trace = p->r->trace;
    uint32_t e = p->r->witness->steps[i], c = trace->object[e];
    ft_event_kind kind = trace->kind[e];
    if (kind == FT_EVENT_COND_WAIT) {
        assert(p->waits[i].thread == trace->thread[e] && p->waits[i].condition == c);
        ft_vec_push(&p->waiting, p->waits[i]);
    }
    assert(p->waiting.len <= trace->threads.len); /* a thread is in one wait at most */
    if (kind == FT_EVENT_SIGNAL) return signal_one(p, c, i);
    if (kind == FT_EVENT_BROADCAST) return end_waits(p, c);
    if (kind == FT_EVENT_COND_WAKE) return go_on(p, trace->thread[e]);
    return true;
}

bool ft_checker_signals_explained(run *r)
{
    replay p = {.r = r};
    bool explained = true;
    if (r->witness->wakeups != FT_WAKEUPS_ANY || r->trace->conditions.len == 0) return true;
    find_waits(&p);
    for (uint32_t i = 0; i < r->witness->n_steps && explained; i++) explained = replay_step(&p, i);
    free(p.waits);
    ft_vec_release(&p.waiting);
    ft_vec_release(&p.trial);
    return explained;
}
