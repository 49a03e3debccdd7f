/* Steps that a thread takes again and again while it finds nothing to do: woken, it looks, and
 * sleeps again; or it takes the lock, looks, and gives it back. How often it did so in the run says
 * nothing: such steps get one place, from which the thread may look once more, or do what it did
 * behind the last of them. That allows more than the run's events do, and spares a state for each
 * number of looks of each thread. */
#include <stdlib.h>

#include "base/contract.h"
#include "proofs/stuck/states_internal.h"

enum { MOST_COMPARED = 64 };

typedef struct loops {
    ft_steps *steps;
    bool *needed; /* [steps] by another thread's step */
    ft_step *all; /* of the thread at hand */
    uint32_t n;
    bool *is_needed; /* likewise */
} loops;

static const ft_step_act *acts_of(const loops *l, const ft_step *step)
{
    return l->steps->acts.data + step->first_act;
}

bool ft_steps_looks_only(const ft_steps *steps, const ft_step *step)
{
    for (uint32_t k = 0; k < step->acts; k++)
        if (steps->acts.data[step->first_act + k].does != FT_STEP_READS) return false;
    return step->takes;
}

static bool looks_only(const loops *l, uint32_t i)
{
    return ft_steps_looks_only(l->steps, &l->all[i]);
}

static bool look_alike(const loops *l, const ft_step *a, const ft_step *b)
{
    if (a->acts != b->acts) return false;
    for (uint32_t k = 0; k < a->acts; k++) {
        const ft_step_act *of_a = &acts_of(l, a)[k], *of_b = &acts_of(l, b)[k];
        if (of_a->object != of_b->object || of_a->value != of_b->value) return false;
    }
    return true;
}

/* Where a thread is before them, do states know the same of it? */
static bool are_places_alike(const loops *l, uint32_t i, uint32_t k)
{
    const ft_order *order = l->steps->s->order;
    const ft_step *a = &l->all[i], *b = &l->all[k];
    return a->asleep == b->asleep && a->takes == b->takes && a->inside == b->inside &&
           a->stuck == b->stuck && a->certain == b->certain &&
           ft_order_lockset(order, a->event) == ft_order_lockset(order, b->event);
}

static void add_other(loops *l, ft_step *at, uint32_t other)
{
    if (!at->others) at->first_other = (uint32_t)l->steps->others.len;
    assert(at->first_other + at->others == l->steps->others.len && other < l->n); /* one slice */
    ft_vec_push(&l->steps->others, other);
    at->others++;
}

/* One of each kind. */
static void add_look(loops *l, ft_step *at, uint32_t look)
{
    for (uint32_t i = 0; i < at->others && i < MOST_COMPARED; i++)
        if (look_alike(l, &l->all[l->steps->others.data[at->first_other + i]], &l->all[look]))
            return;
    add_other(l, at, look);
}

/* Asleep before step i, does the thread look there and sleep again, and is it nobody's business
 * how often? */
static bool sleeps_again(const loops *l, uint32_t i)
{
    return i + 3 < l->n && l->all[i].asleep != FT_STEPS_AWAKE && looks_only(l, i + 1) &&
           are_places_alike(l, i, i + 2) && are_places_alike(l, i + 1, i + 3) &&
           !l->is_needed[i + 1] && !l->is_needed[i + 2] && !l->is_needed[i + 3];
}

/* Behind the loop. */
static uint32_t close_sleeps(loops *l, uint32_t first)
{
    uint32_t last = first;
    while (sleeps_again(l, last)) last += 2;
    if (last == first) return first;
    for (uint32_t i = first; i < last; i += 2) {
        l->all[i + 1].next = first;
        add_look(l, &l->all[first + 1], i + 1);
        l->all[i + 2].place = first;
        l->all[i + 3].place = first + 1;
    }
    add_other(l, &l->all[first + 1], last + 1);
    return last + 2;
}

static bool looks_again(const loops *l, uint32_t i)
{
    return i + 1 < l->n && l->all[i].asleep == FT_STEPS_AWAKE && looks_only(l, i) &&
           looks_only(l, i + 1) && are_places_alike(l, i, i + 1) && !l->is_needed[i + 1];
}

/* The last look is the one that the thread goes on by. */
static uint32_t close_looks(loops *l, uint32_t first)
{
    uint32_t last = first;
    while (looks_again(l, last)) l->all[++last].place = first;
    if (last == first) return first;
    add_other(l, &l->all[first], last);
    return last + 1;
}

static void close_loops(loops *l)
{
    for (uint32_t i = 0; i < l->n;) {
        uint32_t behind = close_sleeps(l, i);
        if (behind == i) behind = close_looks(l, i);
        i = behind == i ? i + 1 : behind;
    }
}

bool *ft_steps_needed(const ft_steps *steps)
{
    bool *needed = ft_calloc(steps->all.len + 1, sizeof *needed);
    for (size_t i = 0; i < steps->needs.len; i++) {
        uint32_t at = steps->first[steps->needs.data[i].thread] + steps->needs.data[i].step;
        assert(at <= steps->all.len);
        needed[at] = true;
    }
    return needed;
}

void ft_steps_find_loops(ft_steps *steps)
{
    loops l = {.steps = steps, .needed = ft_steps_needed(steps)};
    for (uint32_t t = 0; t < steps->s->order->n_threads; t++) {
        l.all = steps->all.data + steps->first[t];
        l.is_needed = l.needed + steps->first[t];
        l.n = steps->first[t + 1] - steps->first[t];
        close_loops(&l);
    }
    free(l.needed);
}
