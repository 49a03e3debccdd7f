#include "verdict/observer.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

#include "verdict/machine_flow.h"
#include "verdict/observe_internal.h"

enum { NOTICES = 64 }; /* of a condition variable, before some are forgotten */

/* Of a shared variable. */
enum {
    SETTLED = 1, /* its initial value is declared, found, or overwritten before any read */
    OPEN = 2,    /* its initial value was read and is unknown so far */
    COMPUTED = 4 /* likewise, and a term used it */
};

typedef struct once_state {
    uint32_t runner; /* thread + 1 */
    bool ended;
} once_state;

typedef struct condition_state {
    FT_VEC(uint32_t) waiters; /* threads */
    size_t notices;           /* that were left when some were forgotten last */
} condition_state;

struct ft_observer {
    ft_trace *trace;
    ft_machine *machine;
    ft_machine_room room;
    uint32_t flushed; /* ft_observer_take */
    FT_VEC(uint8_t) shared;
    FT_VEC(uint32_t) stuck; /* per thread: number of the event that it did not come past, + 1 */
    FT_VEC(once_state) onces;
    FT_VEC(uint32_t) runners; /* ft_observe_once */
    FT_VEC(condition_state) conditions;
    FT_VEC(uint32_t) arrivals; /* per barrier */
    ft_map rounds;             /* thread and barrier to its round */
    bool unvalued, symbolic;
    uint32_t broken;
    const char *broken_text;
};

ft_observer *ft_observer_new(ft_trace *trace)
{
    ft_observer *o = ft_calloc(1, sizeof *o);
    o->trace = trace;
    o->machine = ft_machine_new(trace);
    o->room = ft_machine_room_of(trace);
    o->broken = FT_NO_EVENT;
    return o;
}

void ft_observer_free(ft_observer *o)
{
    if (!o) return;
    ft_machine_grow(o->machine, &o->room);
    ft_machine_free(o->machine);
    ft_vec_release(&o->shared);
    ft_vec_release(&o->stuck);
    ft_vec_release(&o->onces);
    ft_vec_release(&o->runners);
    for (size_t i = 0; i < o->conditions.len; i++) ft_vec_release(&o->conditions.data[i].waiters);
    ft_vec_release(&o->conditions);
    ft_vec_release(&o->arrivals);
    ft_map_release(&o->rounds);
    free(o);
}

static void make_room(ft_observer *o)
{
    const ft_trace *trace = o->trace;
    ft_machine_grow(o->machine, &o->room);
    ft_vec_reserve(&o->shared, trace->shared.len);
    for (uint32_t v = (uint32_t)o->shared.len; v < trace->shared.len; v++)
        ft_vec_push(&o->shared, trace->shared_info[v].initial != FT_NO_VALUE ? SETTLED : 0);
    while (o->stuck.len < trace->threads.len) ft_vec_push(&o->stuck, 0);
    while (o->onces.len < trace->onces.len) ft_vec_push(&o->onces, (once_state){0});
    while (o->runners.len < trace->onces.len) ft_vec_push(&o->runners, 0);
    while (o->conditions.len < trace->conditions.len)
        ft_vec_push(&o->conditions, (condition_state){{0}, 0});
    while (o->arrivals.len < trace->barriers.len) ft_vec_push(&o->arrivals, 0);
    assert(o->shared.len == trace->shared.len && o->stuck.len == trace->threads.len);
    assert(o->onces.len == o->runners.len && o->conditions.len == trace->conditions.len);
}

/* ---- initial values, and what is known of values ----------------------------------------------
 */

/* The read of a plain event, with this value or none. False: the read settles an initial value that
 * a term has used before. */
static bool follow_read(ft_observer *o, uint32_t variable, uint32_t value)
{
    uint8_t *state = &o->shared.data[variable];
    if (*state & SETTLED) {
        if (value == FT_NO_VALUE && !ft_machine_shared(o->machine, variable).known)
            o->unvalued = true;
        return true;
    }
    if (value == FT_NO_VALUE) {
        *state |= OPEN;
        return true;
    }
    if (*state & COMPUTED) return false;
    o->trace->shared_info[variable].initial = value;
    assert(!(*state & SETTLED)); /* an initial value is found once */
    *state = SETTLED;
    return true;
}

static void follow_write(ft_observer *o, uint32_t variable, bool known)
{
    uint8_t *state = &o->shared.data[variable];
    if (*state & OPEN) o->unvalued = true;
    *state = SETTLED;
    if (!known) o->unvalued = true;
}

static void follow_action_reads(ft_observer *o, const ft_action *action)
{
    o->symbolic = true;
    for (uint32_t i = 0; i < action->n_accesses; i++) {
        uint32_t variable = action->accesses[i].variable;
        if (action->accesses[i].write) continue;
        if (!(o->shared.data[variable] & SETTLED))
            o->shared.data[variable] |= OPEN | COMPUTED;
        else if (!ft_machine_shared(o->machine, variable).known)
            o->unvalued = true;
    }
}

static void follow_action_writes(ft_observer *o, const ft_action *action, uint32_t e)
{
    for (uint32_t i = 0; i < action->n_accesses; i++) {
        uint32_t variable = action->accesses[i].variable;
        if (action->accesses[i].write)
            follow_write(o, variable, ft_machine_pending(o->machine, e, variable).known);
    }
}

/* ---- what synchronisation needs ---------------------------------------------------------------
 */

static ft_status join_ready(ft_observer *o, uint32_t e, ft_error *why)
{
    uint32_t child = o->trace->object[e];
    assert(child < o->stuck.len);
    uint32_t stuck = o->stuck.data[child];
    if (!stuck) return FT_OK;
    return ft_error_set(why, FT_INPUT, "thread %s has not ended: event %u is still to come",
                        ft_trace_thread_name(o->trace, child), stuck);
}

static ft_status always_ready(ft_observer *o, uint32_t e, ft_error *why)
{
    (void)o;
    (void)e;
    (void)why;
    return FT_OK;
}

static uint64_t barrier_key(const ft_observer *o, uint32_t e)
{
    return (uint64_t)o->trace->thread[e] << 32 | o->trace->object[e];
}

/* A round is as many arrivals, in observed order, as the barrier counts; all before one have
 * happened when the next begins. */
static ft_status leave_ready(ft_observer *o, uint32_t e, ft_error *why)
{
    uint32_t barrier = o->trace->object[e];
    uint64_t round, count = o->trace->barrier_count[barrier];
    if (ft_map_get(&o->rounds, barrier_key(o, e), &round) &&
        (round + 1) * count <= o->arrivals.data[barrier])
        return FT_OK;
    return ft_error_set(why, FT_INPUT, "its round of barrier %s has arrivals still to come",
                        ft_trace_object_name(o->trace, e));
}

static ft_status once_ready(ft_observer *o, uint32_t e, ft_error *why)
{
    if (o->onces.data[o->trace->object[e]].ended) return FT_OK;
    return ft_error_set(why, FT_INPUT, "the initialiser of %s has not ended",
                        ft_trace_object_name(o->trace, e));
}

static ft_status machine_ready(ft_observer *o, uint32_t e, ft_error *why)
{
    return ft_machine_ready(o->machine, e, FT_NO_EVENT, why);
}

static ft_status (*const READY[FT_EVENT_KINDS])(ft_observer *o, uint32_t e, ft_error *why) = {
    [FT_EVENT_JOIN] = join_ready,
    [FT_EVENT_EDGE_IN] = always_ready,
    [FT_EVENT_BARRIER_ARRIVE] = always_ready,
    [FT_EVENT_BARRIER_LEAVE] = leave_ready,
    [FT_EVENT_ONCE_PASS] = once_ready,
};

/* ---- what an event leaves behind --------------------------------------------------------------
 */

static void arrive(ft_observer *o, uint32_t e)
{
    uint32_t barrier = o->trace->object[e];
    assert(barrier < o->arrivals.len && o->trace->barrier_count[barrier] > 0);
    uint64_t round = o->arrivals.data[barrier]++ / o->trace->barrier_count[barrier];
    ft_map_put(&o->rounds, barrier_key(o, e), round);
}

static void end_once(ft_observer *o, uint32_t e)
{
    o->onces.data[o->trace->object[e]].ended = true;
}

static void stop_waiting(ft_observer *o, uint32_t e)
{
    condition_state *c = &o->conditions.data[o->trace->object[e]];
    for (size_t i = 0; i < c->waiters.len; i++)
        if (c->waiters.data[i] == o->trace->thread[e]) {
            c->waiters.data[i] = c->waiters.data[--c->waiters.len];
            return;
        }
}

static void start_waiting(ft_observer *o, uint32_t e)
{
    stop_waiting(o, e);
    ft_vec_push(&o->conditions.data[o->trace->object[e]].waiters, o->trace->thread[e]);
}

static void notify(ft_observer *o, uint32_t e)
{
    uint32_t condition = o->trace->object[e];
    condition_state *c = &o->conditions.data[condition];
    if (ft_machine_count_notices(o->machine, condition) < 2 * c->notices + NOTICES) return;
    ft_machine_forget_notices(o->machine, condition, c->waiters.data, c->waiters.len);
    c->notices = ft_machine_count_notices(o->machine, condition);
}

static void (*const AFTER[FT_EVENT_KINDS])(ft_observer *o, uint32_t e) = {
    [FT_EVENT_BARRIER_ARRIVE] = arrive,   [FT_EVENT_ONCE_END] = end_once,
    [FT_EVENT_COND_WAIT] = start_waiting, [FT_EVENT_COND_WAKE] = stop_waiting,
    [FT_EVENT_SIGNAL] = notify,           [FT_EVENT_BROADCAST] = notify,
};

/* ---- events -----------------------------------------------------------------------------------
 */

static void break_at(ft_observer *o, uint32_t e, const ft_error *why)
{
    if (o->broken != FT_NO_EVENT) return;
    ft_observe_break(o->trace, e, o->flushed, why);
    o->broken = o->trace->broken;
    o->broken_text = o->trace->broken_text;
}

static void check_read(ft_observer *o, uint32_t e)
{
    ft_error why = {.code = FT_OK};
    if (ft_observe_read(o->machine, o->trace, e, &why) != FT_OK) break_at(o, e, &why);
}

static bool follow_access(ft_observer *o, uint32_t e)
{
    const ft_trace *trace = o->trace;
    bool update = trace->kind[e] == FT_EVENT_RMW, write = trace->kind[e] == FT_EVENT_WRITE;
    uint32_t variable = trace->object[e], data = trace->data[e];
    uint32_t written = update ? trace->updates[data].written : data;
    if (!write && !follow_read(o, variable, ft_observe_stated_read(trace, e))) return false;
    if (update || write) follow_write(o, variable, written != FT_NO_VALUE);
    if (write) return true;
    if (o->broken == FT_NO_EVENT) check_read(o, e);
    return true;
}

static void follow_action(ft_observer *o, uint32_t e)
{
    const ft_action *action = ft_trace_action(o->trace, e);
    assert(action);
    ft_error why = FT_ERROR_INIT;
    if (o->trace->kind[e] == FT_EVENT_ASSERT) o->trace->flags[e] &= (uint8_t)~FT_FLAG_FAILED;
    follow_action_reads(o, action);
    ft_outcome outcome = ft_machine_evaluate(o->machine, e);
    if (ft_observe_outcome(o->trace, e, outcome, &why) != FT_OK) break_at(o, e, &why);
    follow_action_writes(o, action, e);
}

static void follow_synchronisation(ft_observer *o, uint32_t e)
{
    ft_event_kind kind = o->trace->kind[e];
    ft_error why = FT_ERROR_INIT;
    bool effect = !(o->trace->flags[e] & (FT_FLAG_NESTED | FT_FLAG_STRANGER));
    ft_status status = READY[kind] && effect ? READY[kind](o, e, &why) : machine_ready(o, e, &why);
    ft_status once = ft_observe_once(o->trace, e, o->runners.data, status ? NULL : &why);
    if (status || once) break_at(o, e, &why);
}

static bool take_event(ft_observer *o, uint32_t e)
{
    const ft_trace *trace = o->trace;
    ft_event_kind kind = trace->kind[e];
    assert(trace->thread[e] < o->stuck.len && !trace->n_paths); /* no branches */
    if (ft_trace_is_blocked(trace, e)) {
        o->stuck.data[trace->thread[e]] = o->flushed + e + 1;
        return true;
    }
    if (ft_event_kind_object(kind) == FT_OBJECT_VARIABLE) {
        if (!follow_access(o, e)) return false;
    } else if (ft_trace_is_symbolic_event(trace, e)) {
        follow_action(o, e);
    } else {
        follow_synchronisation(o, e);
    }
    ft_machine_write(o->machine, e);
    ft_machine_advance(o->machine, e);
    if (AFTER[kind]) AFTER[kind](o, e);
    return true;
}

bool ft_observer_take(ft_observer *o, uint32_t flushed)
{
    FT_REQUIRE(flushed >= o->flushed);
    make_room(o);
    o->flushed = flushed;
    for (uint32_t e = 0; e < o->trace->n_events; e++)
        if (!take_event(o, e)) return false;
    return true;
}

ft_observer_facts ft_observer_end(ft_observer *o)
{
    o->trace->broken = o->broken;
    o->trace->broken_text = o->broken_text;
    for (size_t v = 0; v < o->shared.len; v++)
        if ((o->shared.data[v] & (OPEN | SETTLED)) == OPEN) o->unvalued = true;
    return (ft_observer_facts){.valued = !o->unvalued, .symbolic = o->symbolic};
}
