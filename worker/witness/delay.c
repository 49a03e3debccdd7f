#include "witness/delay.h"

#include <stdlib.h>
#include <string.h>

typedef struct trial {
    const ft_problem *p;
    ft_checker *checker;
    const ft_claim *claim;
    uint32_t *next; /* per thread: place of its next event in its part of thread_events */
    uint32_t *steps;
    uint32_t n_steps;
    uint64_t left;    /* attempts that are left */
    uint32_t delayed; /* the event that its thread stops at, FT_NO_EVENT: none */
} trial;

static uint32_t next_of(const trial *t, uint32_t thread)
{
    const ft_order *order = t->p->order;
    uint32_t at = order->thread_start[thread] + t->next[thread];
    return at < order->thread_start[thread + 1] ? order->thread_events[at] : FT_NO_EVENT;
}

/* Executes every event that can be executed, in observed order, until none can. */
static void run_on(trial *t)
{
    const ft_trace *trace = t->p->trace;
    bool went_on = true;
    while (went_on && t->left > 0) {
        went_on = false;
        for (uint32_t e = 0; e < trace->n_events && t->left > 0; e++) {
            uint32_t thread = trace->thread[e];
            if (next_of(t, thread) != e || e == t->delayed || e == t->claim->events[0]) continue;
            t->left--;
            if (!ft_checker_try(t->checker, e)) continue;
            assert(t->n_steps < trace->n_events && e != t->delayed);
            t->steps[t->n_steps++] = e;
            t->next[thread]++;
            went_on = true;
        }
    }
}

static bool is_reached(trial *t, ft_witness *witness)
{
    uint32_t e = t->claim->events[0];
    if (next_of(t, t->p->trace->thread[e]) != e) return false;
    *witness = (ft_witness){.model = t->p->model,
                            .wakeups = t->p->wakeups,
                            .bound = FT_NO_BOUND,
                            .claim = *t->claim,
                            .n_steps = t->n_steps,
                            .steps = ft_alloc(((size_t)t->n_steps + 1) * sizeof *t->steps)};
    if (t->n_steps) memcpy(witness->steps, t->steps, t->n_steps * sizeof *t->steps);
    t->left -= t->left < t->n_steps ? t->left : t->n_steps;
    FT_CHECK(ft_witness_is_sound(t->p->trace, witness));
    if (ft_checker_check(t->checker, witness, NULL, NULL) == FT_OK) return true;
    ft_witness_release(witness);
    return false;
}

static bool try_delay(trial *t, uint32_t event, ft_witness *witness)
{
    memset(t->next, 0, t->p->trace->threads.len * sizeof *t->next);
    t->n_steps = 0;
    ft_checker_begin(t->checker, t->p->model, t->p->wakeups);
    t->delayed = event;
    run_on(t);
    t->delayed = FT_NO_EVENT;
    run_on(t);
    return is_reached(t, witness);
}

static bool reads_shared(const ft_trace *trace, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!accesses[i].write) return true;
    return false;
}

/* Does the thread continue with a value that may be stale? It has just read it, or released the
 * lock under which it did. */
static bool is_stale_at(const ft_problem *p, uint32_t e)
{
    uint32_t previous = ft_order_previous(p->order, e);
    if (previous == FT_NO_EVENT) return false;
    if (ft_order_lockset(p->order, e) != 0) return false;
    return reads_shared(p->trace, previous) || p->trace->kind[previous] == FT_EVENT_RELEASE;
}

bool ft_delay_find(const ft_problem *problem, ft_checker *checker, const ft_claim *claim,
                   uint64_t most_steps, ft_witness *witness)
{
    FT_REQUIRE(problem && checker && claim && witness);
    const ft_trace *trace = problem->trace;
    bool fits = claim->kind == FT_CLAIM_ASSERTION || claim->kind == FT_CLAIM_CONDITION;
    if (!fits || problem->model != FT_MODEL_CTP || trace->n_paths) return false;
    trial t = {.p = problem, .checker = checker, .claim = claim, .left = most_steps};
    t.next = ft_alloc(((size_t)trace->threads.len + 1) * sizeof *t.next);
    t.steps = ft_alloc(((size_t)trace->n_events + 1) * sizeof *t.steps);
    bool found = false;
    for (int stale = 1; stale >= 0 && !found; stale--)
        for (uint32_t e = 0; e < trace->n_events && t.left > 0 && !found; e++)
            if (is_stale_at(problem, e) == (stale == 1)) found = try_delay(&t, e, witness);
    free(t.next);
    free(t.steps);
    return found;
}
