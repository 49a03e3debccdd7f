/* Which places of two threads no state of a lock's sections has at once.
 *
 * States have whole steps. A schedule that stops anywhere stands for the state with the steps that
 * are done with the lock, or have taken none; who is next at an event with the lock may count as
 * before its step or behind it. Steps that nobody else sees are behind at once in a state; whoever
 * is woken is at the step behind its sleep, while it may still be next at the cond-wake, or,
 * woken by one that is not done with the lock, behind it. */
#include <stdlib.h>

#include "base/contract.h"
#include "proofs/stuck/states_internal.h"

static uint32_t count_of(const ft_steps *steps, uint32_t thread)
{
    return steps->first[thread + 1] - steps->first[thread];
}

static const ft_step *step_at(const ft_steps *steps, uint32_t thread, uint32_t at)
{
    assert(at < count_of(steps, thread));
    return &steps->all.data[steps->first[thread] + at];
}

static uint32_t begin_of(const ft_steps *steps, uint32_t thread, uint32_t at)
{
    return steps->s->order->position[step_at(steps, thread, at)->event];
}

/* The step of the thread's event there; behind the last: their number. */
static uint32_t step_of(const ft_steps *steps, uint32_t thread, uint32_t position)
{
    const ft_order *order = steps->s->order;
    uint32_t low = 0, high = count_of(steps, thread);
    if (position >= order->thread_start[thread + 1] - order->thread_start[thread]) return high;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (begin_of(steps, thread, middle) <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool is_behind_at_once(const ft_step *step)
{
    return step->asleep != FT_STEPS_AWAKE || (step->certain && !step->takes && step->acts == 0);
}

/* The first step that states may have who is next at that event before, loops apart. */
static uint32_t first_place(const ft_steps *steps, uint32_t thread, uint32_t position)
{
    uint32_t at = step_of(steps, thread, position);
    if (at < count_of(steps, thread) && position > begin_of(steps, thread, at) &&
        position > step_at(steps, thread, at)->held_to)
        at++;
    return at > 0 && step_at(steps, thread, at - 1)->asleep != FT_STEPS_AWAKE ? at - 1 : at;
}

static uint32_t last_place(const ft_steps *steps, uint32_t thread, uint32_t position)
{
    uint32_t at = step_of(steps, thread, position), n = count_of(steps, thread);
    if (at < n && position > begin_of(steps, thread, at)) at++;
    while (at < n && is_behind_at_once(step_at(steps, thread, at))) at++;
    return at;
}

typedef struct places {
    uint32_t thread, low, high;
} places;

static uint32_t place_of(const ft_steps *steps, uint32_t thread, uint32_t at)
{
    return at < count_of(steps, thread) ? step_at(steps, thread, at)->place : at;
}

/* A loop has two places at most, one behind the other, and steps of it are at either in turn. */
static places places_of(const ft_steps *steps, const ft_stretch *where)
{
    uint32_t t = where->thread, first = first_place(steps, t, where->from),
             last = last_place(steps, t, where->to);
    places p = {t, place_of(steps, t, first), place_of(steps, t, last)};
    if (first < last && place_of(steps, t, first + 1) < p.low)
        p.low = place_of(steps, t, first + 1);
    if (first < last && place_of(steps, t, last - 1) > p.high)
        p.high = place_of(steps, t, last - 1);
    return p;
}

enum { MOST_PLACES = 64 };

/* While the one thread is at one of its places, is the other one never at one of its? */
static bool is_never_met(const ft_monitor_states *states, const places *one, const places *other)
{
    if (one->high - one->low >= MOST_PLACES) return false;
    for (uint32_t at = one->low; at <= one->high; at++) {
        size_t row = ft_states_row(states, one->thread, at);
        uint32_t low = states->low[row + other->thread], high = states->high[row + other->thread];
        if (low <= other->high && high >= other->low) return false;
    }
    return true;
}

bool ft_monitor_states_keep_apart(const ft_monitor_states *states, const ft_stretch *a,
                                  const ft_stretch *b)
{
    FT_REQUIRE(a->thread != b->thread);
    if (!states || !states->all || !states->low) return false;
    places at_a = places_of(states->steps, a), at_b = places_of(states->steps, b);
    return is_never_met(states, &at_a, &at_b) || is_never_met(states, &at_b, &at_a);
}

bool ft_monitor_states_lack(const ft_monitor_states *states, uint32_t event)
{
    if (!states || !states->all) return false;
    const ft_steps *steps = states->steps;
    uint32_t thread = steps->s->trace->thread[event];
    const ft_step *step =
        step_at(steps, thread, step_of(steps, thread, steps->s->order->position[event]));
    return step->event == event && !states->stuck[steps->first[thread] + step->place];
}
