#include "encode/units.h"

#include <stdlib.h>

#include "base/contract.h"

/* Beyond these a sum is too large: squares of events. */
enum { SQUARE_LIMIT = 300000 };

/* A wait with the post that returns its unit. */
typedef struct loan {
    uint32_t wait, post; /* post: event, FT_NO_EVENT: none */
} loan;
typedef FT_VEC(loan) loans;

static bool is_of(const ft_trace *trace, uint32_t e, uint32_t semaphore)
{
    return ft_event_kind_object(trace->kind[e]) == FT_OBJECT_SEMAPHORE &&
           trace->object[e] == semaphore;
}

bool ft_units_are_counted(const ft_trace *trace, uint32_t semaphore)
{
    uint64_t n = 0;
    for (uint32_t e = 0; e < trace->n_events; e++) n += is_of(trace, e, semaphore);
    return !trace->n_paths && n * n <= SQUARE_LIMIT;
}

/* ---- as a lock is used --------------------------------------------------------------------- */

/* Does every thread that uses it begin with a wait, and wait and post by turns? */
static bool are_returned(const ft_trace *trace, uint32_t semaphore)
{
    bool *out = ft_calloc((size_t)trace->threads.len + 1, sizeof *out), turns = true;
    for (uint32_t e = 0; turns && e < trace->n_events; e++) {
        if (!is_of(trace, e, semaphore)) continue;
        bool *own = &out[trace->thread[e]], takes = trace->kind[e] == FT_EVENT_WAIT;
        turns = *own != takes;
        *own = takes;
    }
    free(out);
    return turns;
}

static void list_loans(const ft_decider *d, uint32_t semaphore, uint32_t thread, loans *list)
{
    const ft_order *order = d->problem->order;
    list->len = 0;
    for (uint32_t i = order->thread_start[thread]; i < order->thread_start[thread + 1]; i++) {
        uint32_t e = order->thread_events[i];
        if (!ft_partial_in(d, e)) break;
        if (!is_of(d->problem->trace, e, semaphore)) continue;
        if (d->problem->trace->kind[e] == FT_EVENT_WAIT)
            ft_vec_push(list, (loan){e, FT_NO_EVENT});
        else {
            assert(list->len > 0 && list->data[list->len - 1].post == FT_NO_EVENT);
            list->data[list->len - 1].post = e;
        }
    }
}

/* A literal that is true wherever the thread has a unit. */
static ft_lit may_have(ft_decider *d, const loans *list)
{
    ft_lit has = ft_session_variable(d->session);
    for (size_t i = 0; i < list->len; i++) {
        loan l = list->data[i];
        ft_lit back = l.post == FT_NO_EVENT ? FT_LIT_FALSE : d->member[l.post];
        ft_partial_clause(d, (ft_lit[3]){-d->member[l.wait], back, has}, 3);
    }
    return has;
}

/* A literal that, with `out`, implies that the thread has a unit. */
static ft_lit must_have(ft_decider *d, const loans *list, ft_lit out)
{
    ft_lit has = ft_session_variable(d->session);
    FT_VEC(ft_lit) which = {0};
    ft_vec_push(&which, -out);
    ft_vec_push(&which, -has);
    for (size_t i = 0; i < list->len; i++) {
        loan l = list->data[i];
        ft_lit open = ft_session_variable(d->session);
        ft_partial_implies(d, open, d->member[l.wait]);
        if (l.post != FT_NO_EVENT) ft_partial_implies(d, open, -d->member[l.post]);
        ft_vec_push(&which, open);
    }
    ft_partial_clause(d, which.data, (uint32_t)which.len);
    ft_vec_release(&which);
    return has;
}

/* No more threads are between wait and post than there are units. */
static void limit_loans(ft_decider *d, uint32_t semaphore)
{
    uint32_t units = d->problem->trace->semaphore_initial[semaphore];
    FT_VEC(ft_lit) having = {0};
    loans list = {0};
    for (uint32_t t = 0; t < d->problem->order->n_threads; t++) {
        list_loans(d, semaphore, t, &list);
        if (!list.len) continue;
        ft_lit has = may_have(d, &list);
        ft_vec_push(&having, has);
    }
    if (having.len > units)
        ft_session_at_most(d->session, having.data, (uint32_t)having.len, units);
    ft_vec_release(&having);
    ft_vec_release(&list);
}

static ft_lit all_on_loan(ft_decider *d, uint32_t semaphore)
{
    uint32_t units = d->problem->trace->semaphore_initial[semaphore];
    FT_VEC(ft_lit) without = {0};
    loans list = {0};
    ft_lit out = ft_session_variable(d->session);
    for (uint32_t t = 0; t < d->problem->order->n_threads; t++) {
        list_loans(d, semaphore, t, &list);
        if (!list.len) continue;
        ft_lit has = must_have(d, &list, out);
        ft_vec_push(&without, -has);
    }
    uint32_t threads = (uint32_t)without.len;
    assert(threads <= d->problem->order->n_threads);
    if (threads >= units && units > 0)
        ft_session_at_most(d->session, without.data, threads, threads - units);
    ft_vec_release(&without);
    ft_vec_release(&list);
    return threads >= units ? out : FT_LIT_FALSE;
}

/* ---- any other ----------------------------------------------------------------------------- */

/* A number: its i-th literal says that it is more than i. */
typedef FT_VEC(ft_lit) unary;

static ft_lit more_than(const unary *number, size_t i)
{
    return i < number->len ? number->data[i] : FT_LIT_FALSE;
}

/* sum += more. The clauses give the sum both bounds: at least and at most the two numbers' sum. */
static void add_up(ft_decider *d, unary *sum, const unary *more)
{
    unary old = *sum;
    *sum = (unary){0};
    for (size_t i = 0; i < old.len + more->len; i++) {
        ft_lit fresh = ft_session_variable(d->session);
        ft_vec_push(sum, fresh);
    }
    for (size_t i = 0; i <= old.len; i++)
        for (size_t k = 0; k <= more->len; k++) {
            ft_lit a = i ? old.data[i - 1] : FT_LIT_TRUE, b = k ? more->data[k - 1] : FT_LIT_TRUE;
            if (i + k) ft_partial_clause(d, (ft_lit[3]){-a, -b, sum->data[i + k - 1]}, 3);
            if (i + k == sum->len) continue;
            ft_lit most[3] = {more_than(&old, i), more_than(more, k), -sum->data[i + k]};
            ft_partial_clause(d, most, 3);
        }
    ft_vec_release(&old);
}

/* The number of its waits, or posts, that are members. */
static unary count_members(ft_decider *d, uint32_t semaphore, ft_event_kind kind)
{
    const ft_order *order = d->problem->order;
    unary sum = {0}, own = {0};
    for (uint32_t t = 0; t < order->n_threads; t++) {
        own.len = 0;
        for (uint32_t i = order->thread_start[t]; i < order->thread_start[t + 1]; i++) {
            uint32_t e = order->thread_events[i];
            if (!ft_partial_in(d, e)) break;
            if (d->problem->trace->kind[e] == kind && is_of(d->problem->trace, e, semaphore))
                ft_vec_push(&own, d->member[e]);
        }
        if (own.len && !sum.len)
            for (size_t i = 0; i < own.len; i++) ft_vec_push(&sum, own.data[i]);
        else if (own.len)
            add_up(d, &sum, &own);
    }
    ft_vec_release(&own);
    return sum;
}

/* There are never more waits than units, and exactly as many where all units are out. */
static ft_lit all_taken(ft_decider *d, uint32_t semaphore)
{
    size_t units = d->problem->trace->semaphore_initial[semaphore];
    unary waits = count_members(d, semaphore, FT_EVENT_WAIT);
    unary posts = count_members(d, semaphore, FT_EVENT_POST);
    ft_lit out = ft_session_variable(d->session);
    if (units) ft_partial_implies(d, out, more_than(&waits, units - 1));
    for (size_t i = 0; i < posts.len || units + i < waits.len; i++) {
        ft_lit posted = more_than(&posts, i), waited = more_than(&waits, units + i);
        ft_partial_clause(d, (ft_lit[2]){-waited, posted}, 2);
        ft_partial_clause(d, (ft_lit[3]){-out, -posted, waited}, 3);
    }
    ft_vec_release(&waits);
    ft_vec_release(&posts);
    return out;
}

ft_lit ft_units_all_out(ft_decider *d, uint32_t semaphore)
{
    const ft_trace *trace = d->problem->trace;
    FT_REQUIRE(semaphore < trace->semaphores.len && !trace->n_paths);
    if (!d->units_out)
        d->units_out = ft_calloc((size_t)trace->semaphores.len + 1, sizeof *d->units_out);
    ft_lit *out = &d->units_out[semaphore];
    if (!*out && are_returned(trace, semaphore)) {
        limit_loans(d, semaphore);
        *out = all_on_loan(d, semaphore);
    } else if (!*out) {
        *out = all_taken(d, semaphore);
    }
    assert(*out != 0);
    return *out;
}
