/* Wait loops: a thread in one is about to look, asleep at the condition, or woken and about to look
 * again. With n threads in the loops of a condition, each asleep or not, 2^n states are too many.
 * One number for each condition is enough: how many of these threads are awake, at least.
 *
 * A thread arrives awake, where it has yet to look (one more), or asleep. A thread that goes on was
 * awake (one less). A signal that is not lost wakes one, or finds all awake; a broadcast leaves all
 * awake. While what one of them sees would let it sleep, each may have looked just now: then none
 * need be awake. Fewer awake allow whatever more do, so the least number stands for all; nobody
 * rests while one is awake and the lock is free. */
#include <stdlib.h>

#include "base/contract.h"
#include "proofs/stuck/states_internal.h"

/* ---- which steps ----------------------------------------------------------------------------- */

typedef struct wait_loops {
    ft_steps *steps;
    bool *needed; /* [steps] by another thread's step */
} wait_loops;

static uint32_t locks_at(const wait_loops *l, const ft_step *step)
{
    return ft_order_lockset(l->steps->s->order, step->event);
}

/* Asleep there, does it take the lock next, and does nobody else have to know when? */
static bool takes_again(const wait_loops *l, size_t at, size_t end)
{
    return at + 1 == end || (l->steps->all.data[at + 1].takes && !l->needed[at + 1]);
}

/* Does the step do no more than look and sleep? */
static bool looks_before(const wait_loops *l, size_t at, size_t begin)
{
    const ft_step *asleep = &l->steps->all.data[at], *look = asleep - 1;
    return at > begin && look->place == at - 1 - begin && look->others == 0 &&
           look->next == asleep->place && look->wait_loop == FT_STEPS_NO_COUNT &&
           ft_steps_looks_only(l->steps, look) && locks_at(l, look) == locks_at(l, asleep);
}

static bool begins_sleep(const wait_loops *l, size_t at, uint32_t thread)
{
    const ft_step *step = &l->steps->all.data[at];
    return step->asleep != FT_STEPS_AWAKE && step->place == at - l->steps->first[thread];
}

static void find_unfit(const wait_loops *l, uint32_t thread, bool *slept, bool *unfit)
{
    const ft_steps *steps = l->steps;
    for (size_t at = steps->first[thread]; at < steps->first[thread + 1]; at++) {
        if (!begins_sleep(l, at, thread)) continue;
        slept[steps->all.data[at].asleep] = true;
        if (!takes_again(l, at, steps->first[thread + 1])) unfit[steps->all.data[at].asleep] = true;
    }
}

static void number_conditions(ft_steps *steps, const bool *slept, const bool *unfit)
{
    for (uint32_t c = 0; c < steps->s->trace->conditions.len; c++)
        if (slept[c] && !unfit[c] && steps->n_counted < FT_STEPS_COUNTED)
            steps->counted[steps->n_counted++] = c;
}

static uint32_t number_of(const ft_steps *steps, uint32_t condition)
{
    for (uint32_t i = 0; i < steps->n_counted; i++)
        if (steps->counted[i] == condition) return i;
    return FT_STEPS_NO_COUNT;
}

/* From the look before the first sleep to the step that the thread goes on by: one place. */
static void merge(const wait_loops *l, size_t at, uint32_t thread, uint32_t number)
{
    ft_steps *steps = l->steps;
    size_t begin = steps->first[thread], end = steps->first[thread + 1];
    uint32_t place = (uint32_t)(at - begin);
    ft_step *all = steps->all.data;
    size_t i = looks_before(l, at, begin) ? at - 1 : at;
    do {
        all[i].place = place;
        all[i].wait_loop = number;
    } while (++i < end && (all[i].place == place || all[i].place == place + 1));
}

bool ft_steps_merge_sleepers(ft_steps *steps)
{
    size_t conditions = steps->s->trace->conditions.len;
    wait_loops l = {.steps = steps, .needed = ft_steps_needed(steps)};
    bool *slept = ft_calloc(conditions + 1, sizeof *slept),
         *unfit = ft_calloc(conditions + 1, sizeof *unfit);
    uint32_t n = steps->s->order->n_threads;
    for (uint32_t t = 0; t < n; t++) find_unfit(&l, t, slept, unfit);
    number_conditions(steps, slept, unfit);
    for (uint32_t t = 0; t < n; t++)
        for (size_t at = steps->first[t]; at < steps->first[t + 1]; at++) {
            uint32_t number = begins_sleep(&l, at, t) ? number_of(steps, steps->all.data[at].asleep)
                                                      : FT_STEPS_NO_COUNT;
            if (number != FT_STEPS_NO_COUNT) merge(&l, at, t, number);
        }
    free(slept);
    free(unfit);
    free(l.needed);
    return steps->n_counted > 0;
}

/* ---- states ---------------------------------------------------------------------------------- */

static bool arrives(const ft_steps *steps, uint32_t *state, uint32_t thread)
{
    const ft_step *step = ft_steps_next(steps, state, thread);
    if (!step || step->wait_loop == FT_STEPS_NO_COUNT || state[thread] == step->place ||
        !ft_steps_are_met(steps, state, step))
        return false;
    state[thread] = step->place;
    assert(step->wait_loop < steps->n_counted);
    state[steps->first_awake + step->wait_loop]++;
    return true;
}

bool ft_wait_loops_enter(const ft_steps *steps, uint32_t *state)
{
    bool any = false;
    for (uint32_t t = 0; t < steps->s->order->n_threads && steps->n_counted; t++)
        any |= arrives(steps, state, t);
    return any;
}

static bool sees(const ft_steps *steps, const uint32_t *state, const ft_step *look)
{
    const ft_step_act *acts = steps->acts.data + look->first_act;
    for (uint32_t i = 0; i < look->acts; i++)
        if (state[steps->s->order->n_threads + acts[i].object] != acts[i].value) return false;
    return true;
}

/* Does one of the looks of a thread in a wait loop let it sleep? */
static bool may_sleep(const ft_steps *steps, const uint32_t *state, uint32_t thread)
{
    const ft_step *all = steps->all.data + steps->first[thread], *again;
    uint32_t place = state[thread], end = steps->first[thread + 1] - steps->first[thread];
    if (place > 0 && all[place - 1].place == place && sees(steps, state, &all[place - 1]))
        return true;
    again = &all[place + 1];
    for (uint32_t i = 0; place + 1 < end && i < again->others; i++) {
        const ft_step *other = &all[steps->others.data[again->first_other + i]];
        if (other->next == place && sees(steps, state, other)) return true;
    }
    return false;
}

void ft_wait_loops_sleep(const ft_steps *steps, uint32_t *state)
{
    for (uint32_t t = 0; t < steps->s->order->n_threads && steps->n_counted; t++) {
        const ft_step *step = ft_steps_next(steps, state, t);
        if (!ft_wait_loop_at(step, state[t])) continue;
        uint32_t *awake = &state[steps->first_awake + step->wait_loop];
        if (*awake && may_sleep(steps, state, t)) *awake = 0;
    }
}

/* But the one that signals. */
static uint32_t count_others(const ft_steps *steps, const uint32_t *state, const ft_step *step,
                             uint32_t number)
{
    uint32_t n = 0, self = steps->s->trace->thread[step->event];
    for (uint32_t t = 0; t < steps->s->order->n_threads; t++) {
        const ft_step *next = ft_steps_next(steps, state, t);
        n += t != self && ft_wait_loop_at(next, state[t]) && next->wait_loop == number;
    }
    return n;
}

bool ft_wait_loops_wake(const ft_steps *steps, uint32_t *state, const ft_step *step,
                        const ft_step_act *signal)
{
    uint32_t number = number_of(steps, signal->object);
    FT_REQUIRE(signal->does == FT_STEP_SIGNALS || signal->does == FT_STEP_BROADCASTS);
    if (number == FT_STEPS_NO_COUNT) return false;
    uint32_t *awake = &state[steps->first_awake + number],
             n = count_others(steps, state, step, number);
    if (signal->does == FT_STEP_BROADCASTS)
        *awake = n;
    else if (!signal->value && *awake < n)
        ++*awake;
    return true;
}
