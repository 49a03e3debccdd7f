/* Claims about locks, waiting threads and memory. */
#include <stdlib.h>

#include "verdict/checker_internal.h"

typedef ft_checker_run run;

static ft_status any_shape(run *r)
{
    (void)r;
    return FT_OK;
}

static bool is_acquire(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_ACQUIRE || trace->kind[e] == FT_EVENT_ACQUIRE_SHARED;
}

/* ---- lock errors ----------------------------------------------------------------------------- */

/* An acquire that only its own thread's hold keeps waiting. Seen from the state in which it is
 * next: what its thread holds is fixed by the thread's own events. */
static bool waits_for_itself(run *r, uint32_t e)
{
    const uint8_t no_request = FT_FLAG_TRY | FT_FLAG_NESTED;
    if (!is_acquire(r->trace, e) || (r->trace->flags[e] & no_request)) return false;
    return ft_machine_holds_lock(r->machine, r->trace->thread[e], r->trace->object[e]) &&
           ft_checker_ready(r, e, NULL) != FT_OK;
}

static ft_status final_lock_error(run *r)
{
    uint32_t e = r->claim->events[0];
    ft_status status = ft_checker_next(r, e);
    if (status) return status;
    ft_checker_note(r, e);
    bool lock = ft_event_kind_object(r->trace->kind[e]) == FT_OBJECT_LOCK;
    if (lock && ((r->trace->flags[e] & FT_FLAG_STRANGER) || waits_for_itself(r, e))) return FT_OK;
    return ft_checker_refuse(r, FT_INPUT, e, "it is not a lock error there");
}

const ft_claim_rules FT_LOCK_ERROR_RULES = {any_shape, final_lock_error};

/* ---- cycles of requests ---------------------------------------------------------------------- */

/* Takes a writer-preferring lock for reading, and would wait for a writer. */
static bool reads_behind_writers(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_ACQUIRE_SHARED && !(trace->flags[e] & FT_FLAG_TRY) &&
           trace->lock_kind[trace->object[e]] == FT_LOCK_WRITER_PREFERRING;
}

static bool is_request(const ft_trace *trace, uint32_t e)
{
    uint8_t kind = trace->kind[e];
    if (trace->flags[e] & FT_FLAG_TRY) return false;
    if (trace->flags[e] & FT_FLAG_NESTED) return reads_behind_writers(trace, e);
    return kind == FT_EVENT_ONCE_PASS || kind == FT_EVENT_JOIN || is_acquire(trace, e);
}

/* The one waits because the other asks for the same lock for writing, and has to wait itself. */
static bool waits_behind(const ft_trace *trace, uint32_t reader, uint32_t writer)
{
    return reads_behind_writers(trace, reader) && trace->kind[writer] == FT_EVENT_ACQUIRE &&
           trace->object[writer] == trace->object[reader];
}

static ft_status shape_deadlock(run *r)
{
    const ft_claim *claim = r->claim;
    if (claim->n_events < 2) return ft_checker_refuse_claim(r, "a cycle has two requests or more");
    for (uint32_t i = 0; i < claim->n_events; i++) {
        uint32_t e = claim->events[i];
        if (!is_request(r->trace, e))
            return ft_checker_refuse_claim(r, "one of its events is not a request");
        for (uint32_t k = 0; k < i; k++)
            if (r->trace->thread[claim->events[k]] == r->trace->thread[e])
                return ft_checker_refuse_claim(r, "two of its events belong to the same thread");
    }
    return FT_OK;
}

/* Refusals: the request is not blocked (not asked for joins), or another thread than the next
 * request's blocks it. */
typedef struct request_words {
    const char *goes_on, *other;
} request_words;
static request_words words_of(ft_event_kind kind)
{
    if (kind == FT_EVENT_ONCE_PASS)
        return (request_words){"its initialiser has ended",
                               "the thread of the next request does not run its initialiser"};
    if (kind == FT_EVENT_JOIN) return (request_words){NULL, "the next request is not its child's"};
    return (request_words){"its lock is free",
                           "the thread of the next request does not hold its lock"};
}

/* A thread that is next at its request has not ended, whatever arms it may pass over there. */
static ft_status final_deadlock(run *r)
{
    const ft_claim *claim = r->claim;
    assert(claim->n_events >= 2 && claim->n_events <= FT_CLAIM_MAX_EVENTS);
    for (uint32_t i = 0; i < claim->n_events; i++) {
        uint32_t e = claim->events[i], holder = claim->events[(i + 1) % claim->n_events];
        ft_event_kind kind = (ft_event_kind)r->trace->kind[e];
        ft_status status = ft_checker_next(r, e);
        if (status) return status;
        ft_checker_note(r, e);
        if (waits_behind(r->trace, e, holder)) continue;
        if (kind != FT_EVENT_JOIN && ft_checker_ready(r, e, NULL) == FT_OK)
            return ft_checker_refuse(r, FT_INPUT, e, words_of(kind).goes_on);
        if (!ft_machine_keeps_waiting(r->machine, r->trace->thread[holder], e))
            return ft_checker_refuse(r, FT_INPUT, e, words_of(kind).other);
    }
    return FT_OK;
}

const ft_claim_rules FT_DEADLOCK_RULES = {shape_deadlock, final_deadlock};

/* ---- threads that wait forever --------------------------------------------------------------- */

static bool may_block(const ft_trace *trace, uint32_t e)
{
    static const bool WAITS[FT_EVENT_KINDS] = {
        [FT_EVENT_ACQUIRE] = true,  [FT_EVENT_ACQUIRE_SHARED] = true,
        [FT_EVENT_WAIT] = true,     [FT_EVENT_COND_WAKE] = true,
        [FT_EVENT_JOIN] = true,     [FT_EVENT_BARRIER_LEAVE] = true,
        [FT_EVENT_ONCE_PASS] = true};
    return WAITS[trace->kind[e]] && !(trace->flags[e] & FT_FLAG_TRY);
}

/* With any wake-ups, ft_checker_signals_explained decides which waiters sleep. A thread that comes
 * to a once object that no thread has begun runs the initialiser instead of waiting for it. */
static bool is_kept(run *r, uint32_t e)
{
    const ft_trace *trace = r->trace;
    bool wake = trace->kind[e] == FT_EVENT_COND_WAKE, pass = trace->kind[e] == FT_EVENT_ONCE_PASS;
    if (!may_block(trace, e)) return false;
    if (pass && !ft_machine_once_begun(r->machine, trace->object[e])) return false;
    if (wake && (trace->flags[e] & FT_FLAG_FAILED)) return false;
    if (wake && r->witness->wakeups == FT_WAKEUPS_ANY) return true;
    return ft_checker_ready(r, e, NULL) != FT_OK;
}

/* Where branches are open, a thread that may have ended may as well wait in one of their arms: at
 * the claim's event, or at what can be stuck beside it. */
static bool waits_in_arm(run *r, uint32_t thread)
{
    const ft_trace *trace = r->trace;
    uint32_t claimed = r->claim->events[0];
    for (uint32_t e = 0; trace->n_paths && e < trace->n_events; e++) {
        bool fits =
            e == claimed || (trace->kind[e] != FT_EVENT_JOIN &&
                             (trace->kind[claimed] != FT_EVENT_JOIN || is_acquire(trace, e)));
        if (trace->thread[e] == thread && fits && !ft_machine_executed(r->machine, e) &&
            ft_machine_next(r->machine, e, NULL) == FT_OK && (e == claimed || is_kept(r, e)))
            return true;
    }
    return false;
}

static bool is_blocked(run *r, uint32_t e)
{
    bool join = r->trace->kind[e] == FT_EVENT_JOIN && may_block(r->trace, e);
    return is_kept(r, e) || (join && waits_in_arm(r, r->trace->object[e]));
}

static ft_status shape_stuck(run *r)
{
    static const bool PRIMARY[FT_EVENT_KINDS] = {[FT_EVENT_WAIT] = true,
                                                 [FT_EVENT_COND_WAKE] = true,
                                                 [FT_EVENT_JOIN] = true,
                                                 [FT_EVENT_BARRIER_LEAVE] = true};
    if (PRIMARY[r->trace->kind[r->claim->events[0]]]) return FT_OK;
    return ft_checker_refuse_claim(r, "its event does not wait for another thread");
}

/* Why the thread of e, its next event, does not wait forever; NULL: it does. Beside a stuck join
 * only joins and acquires count. */
static const char *goes_on(run *r, uint32_t e)
{
    const ft_trace *trace = r->trace;
    bool join = trace->kind[r->claim->events[0]] == FT_EVENT_JOIN;
    if (!is_blocked(r, e)) return "its thread is not blocked there";
    if (join && !is_acquire(trace, e) && trace->kind[e] != FT_EVENT_JOIN)
        return "its thread waits for something other than a lock or a join";
    return NULL;
}

static ft_status none_goes_on_unseen(run *r)
{
    uint32_t n_threads = r->trace->threads.len;
    bool *cut = ft_calloc(n_threads, sizeof *cut), any = false;
    ft_trace_find_cut(r->trace, cut);
    for (uint32_t t = 0; t < n_threads; t++)
        any |= cut[t] && ft_machine_ended(r->machine, t) && !waits_in_arm(r, t);
    free(cut);
    if (!any) return FT_OK;
    return ft_checker_refuse_claim(
        r, "a thread may go on after the last event that the trace has of it");
}

/* Where branches are open, a thread may have come to any of the events that are next in it. */
static ft_status all_blocked(run *r)
{
    const ft_trace *trace = r->trace;
    uint32_t n_threads = trace->threads.len;
    uint32_t *offender = ft_calloc(n_threads, sizeof *offender); /* event + 1, 0: none */
    bool *blocked = ft_calloc(n_threads, sizeof *blocked);
    ft_status status = FT_OK;
    for (uint32_t t = 0; t < n_threads; t++) blocked[t] = ft_machine_ended(r->machine, t);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t t = trace->thread[e];
        bool own = t == trace->thread[r->claim->events[0]] && e != r->claim->events[0];
        if (blocked[t] || own || ft_machine_executed(r->machine, e)) continue;
        if (ft_machine_next(r->machine, e, NULL) != FT_OK) continue;
        blocked[t] = !goes_on(r, e);
        if (!offender[t]) offender[t] = e + 1;
    }
    for (uint32_t t = 0; t < n_threads && !status; t++)
        if (offender[t] && !blocked[t])
            status = ft_checker_refuse(r, FT_INPUT, offender[t] - 1, goes_on(r, offender[t] - 1));
    free(offender);
    free(blocked);
    return status;
}

static ft_status final_stuck(run *r)
{
    uint32_t e = r->claim->events[0];
    ft_status status = ft_checker_next(r, e);
    if (!status && goes_on(r, e)) status = ft_checker_refuse(r, FT_INPUT, e, goes_on(r, e));
    if (!status) status = none_goes_on_unseen(r);
    if (!status) status = all_blocked(r);
    if (status) return status;
    ft_checker_note(r, e);
    if (ft_checker_signals_explained(r)) return FT_OK;
    return ft_checker_refuse_claim(r,
                                   "a signal of the schedule would have woken one of the waiters");
}

const ft_claim_rules FT_STUCK_RULES = {shape_stuck, final_stuck};

/* ---- memory ---------------------------------------------------------------------------------- */

static bool contains(const ft_block_cells *cells, uint32_t variable)
{
    for (uint32_t i = 0; i < cells->count; i++)
        if (cells->variables[i] == variable) return true;
    return false;
}

static ft_status shape_after_free(run *r)
{
    if (r->trace->kind[r->claim->events[0]] == FT_EVENT_FREE) return FT_OK;
    return ft_checker_refuse_claim(r, "its first event is not a free");
}

/* An access of e to the block takes place. */
static ft_status use_takes_place(run *r, uint32_t e, uint32_t block)
{
    const ft_trace *trace = r->trace;
    ft_access scratch;
    uint32_t count;
    assert(block < trace->blocks.len);
    const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count), *best = NULL;
    for (uint32_t i = 0; i < count; i++) /* a guard's read happens whatever the guard says */
        if (contains(&trace->block_cells[block], accesses[i].variable) &&
            (!best || accesses[i].in_guard))
            best = &accesses[i];
    if (!best) return ft_checker_refuse(r, FT_INPUT, e, "it does not use the block");
    return ft_checker_final_access(r, e, best->variable, best->write);
}

static ft_status final_after_free(run *r)
{
    const ft_trace *trace = r->trace;
    uint32_t f = r->claim->events[0], e = r->claim->events[1], block = trace->object[f];
    ft_status status = ft_checker_next(r, e);
    if (status) return status;
    if (ft_machine_block(r->machine, block) != f)
        return ft_checker_refuse_claim(r, "its free is not the block's last alloc or free");
    if (trace->kind[e] != FT_EVENT_FREE) return use_takes_place(r, e, block);
    ft_checker_note(r, e);
    if (trace->object[e] == block) return FT_OK;
    return ft_checker_refuse_claim(r, "it frees another block");
}

const ft_claim_rules FT_AFTER_FREE_RULES = {shape_after_free, final_after_free};

static ft_status shape_uninitialised(run *r)
{
    if (r->claim->variable < r->trace->shared.len) return FT_OK;
    return ft_checker_refuse_claim(r, "unknown variable");
}

static bool is_allocated(const ft_trace *trace, uint32_t block)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_ALLOC && trace->object[e] == block) return true;
    return false;
}

/* The variable's memory is there, or no step says when it is. */
static bool is_there(const run *r, uint32_t variable)
{
    const ft_trace *trace = r->trace;
    bool allocated = false;
    for (uint32_t b = 0; b < trace->blocks.len; b++) {
        if (!contains(&trace->block_cells[b], variable)) continue;
        uint32_t last = ft_machine_block(r->machine, b);
        if (last != FT_NO_EVENT && trace->kind[last] == FT_EVENT_ALLOC) return true;
        allocated |= is_allocated(trace, b);
    }
    return !allocated;
}

static ft_status final_uninitialised(run *r)
{
    uint32_t e = r->claim->events[0];
    ft_status status = ft_checker_next(r, e);
    if (status) return status;
    if (r->trace->shared_info[r->claim->variable].initial != FT_NO_VALUE)
        return ft_checker_refuse(r, FT_INPUT, e, "the variable has an initial value");
    if (ft_machine_written(r->machine, r->claim->variable))
        return ft_checker_refuse(r, FT_INPUT, e, "the variable was written before");
    if (!is_there(r, r->claim->variable))
        return ft_checker_refuse(r, FT_INPUT, e, "the variable's block is not allocated");
    return ft_checker_final_access(r, e, r->claim->variable, false);
}

const ft_claim_rules FT_UNINITIALISED_RULES = {shape_uninitialised, final_uninitialised};
