#include "witness/minimise.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "witness/relinearise.h"

typedef struct pass {
    const ft_order *order;
    const ft_trace *trace;
    ft_checker *checker;
    ft_witness *best;
    ft_witness trial; /* steps: same capacity as best's */
    double deadline;
    bool timed_out;
} pass;

static bool holds(pass *p)
{
    if (ft_now_ms() > p->deadline) {
        p->timed_out = true;
        return false;
    }
    ft_error err = FT_ERROR_INIT;
    return ft_checker_check(p->checker, &p->trial, NULL, &err) == FT_OK;
}

/* The trial has only steps of the witness. */
static bool is_subset(const pass *p)
{
    bool *known = ft_calloc((size_t)p->trace->n_events + 1, sizeof *known), all = true;
    for (uint32_t i = 0; i < p->best->n_steps; i++) known[p->best->steps[i]] = true;
    for (uint32_t i = 0; i < p->trial.n_steps; i++) all = all && known[p->trial.steps[i]];
    free(known);
    return all && ft_witness_is_sound(p->trace, &p->trial);
}

static void keep(pass *p)
{
    FT_CHECK(is_subset(p));
    uint32_t *steps = p->best->steps;
    p->best->steps = p->trial.steps;
    p->best->n_steps = p->trial.n_steps;
    p->trial.steps = steps;
}

/* ---- dropping members -------------------------------------------------------------------------
 */

/* The trial without the last `drop` steps of the thread. */
static void without_tail(pass *p, uint32_t thread, uint32_t steps_of_thread, uint32_t drop)
{
    uint32_t kept = 0, seen = 0;
    for (uint32_t i = 0; i < p->best->n_steps; i++) {
        uint32_t e = p->best->steps[i];
        if (p->trace->thread[e] == thread && seen++ >= steps_of_thread - drop) continue;
        p->trial.steps[kept++] = e;
    }
    assert(kept + drop == p->best->n_steps);
    p->trial.n_steps = kept;
}

static uint32_t count_steps(const pass *p, uint32_t thread)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->best->n_steps; i++)
        count += p->trace->thread[p->best->steps[i]] == thread;
    return count;
}

/* Drops as much of the thread's tail as stays a witness; large cuts first, single events last. */
static bool shorten_thread(pass *p, uint32_t thread)
{
    bool shortened = false;
    uint32_t count = count_steps(p, thread);
    for (uint32_t drop = count; drop > 0 && !p->timed_out;) {
        without_tail(p, thread, count, drop);
        if (holds(p)) {
            keep(p);
            shortened = true;
            count -= drop;
            if (drop > count) drop = count;
        } else {
            drop = drop > 1 ? drop / 2 : 0;
        }
    }
    return shortened;
}

static void drop_members(pass *p)
{
    bool again = true;
    while (again && !p->timed_out) {
        again = false;
        for (uint32_t t = p->order->n_threads; t-- > 0 && !p->timed_out;)
            again |= shorten_thread(p, t);
    }
}

/* ---- fewer context switches ---------------------------------------------------------------------
 */

static void relinearise(pass *p)
{
    ft_relinearise(p->order, p->best->steps, p->best->n_steps, p->trial.steps);
    p->trial.n_steps = p->best->n_steps;
    if (ft_witness_switches(p->trace, &p->trial) < ft_witness_switches(p->trace, p->best) &&
        holds(p))
        keep(p);
}

void ft_minimise(const ft_order *order, ft_checker *checker, ft_witness *witness, double budget_ms,
                 ft_minimised *result)
{
    FT_REQUIRE(order && checker && witness && result);
    FT_CHECK(ft_witness_is_sound(order->trace, witness));
    pass p = {.order = order,
              .trace = order->trace,
              .checker = checker,
              .best = witness,
              .trial = *witness,
              .deadline = ft_now_ms() + budget_ms};
    result->members_before = witness->n_steps;
    result->switches_before = ft_witness_switches(p.trace, witness);
    p.trial.steps = ft_alloc(((size_t)witness->n_steps + 1) * sizeof *p.trial.steps);
    drop_members(&p);
    relinearise(&p);
    free(p.trial.steps);
    result->members = witness->n_steps;
    result->switches = ft_witness_switches(p.trace, witness);
    result->complete = !p.timed_out;
    assert(result->members <= result->members_before);
    assert(witness->n_steps < result->members_before ||
           result->switches <= result->switches_before);
}
