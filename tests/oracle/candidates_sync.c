/* Candidates of the checks lock, deadlock and order, from what each thread does by itself. */
#include "oracle/candidates.h"

#include <assert.h>
#include <string.h>

/* ---- what a thread holds by its own events ---- */

typedef struct holding {
    bool exclusive[FT_ORACLE_LOCKS];
    uint8_t depth[FT_ORACLE_LOCKS]; /* acquires not yet given back, shared ones too */
    bool had[FT_ORACLE_LOCKS];      /* ever */
} holding;

static bool is_acquire(const ft_trace *trace, uint32_t event)
{
    return trace->kind[event] == FT_EVENT_ACQUIRE || trace->kind[event] == FT_EVENT_ACQUIRE_SHARED;
}

/* An acquire that its own thread's holding makes an error. */
static bool is_second_acquire(const ft_trace *trace, const holding *own, uint32_t event)
{
    uint32_t lock = trace->object[event];
    if (!is_acquire(trace, event) || own->depth[lock] == 0) return false;
    if (trace->kind[event] == FT_EVENT_ACQUIRE_SHARED) return own->exclusive[lock];
    return trace->lock_kind[lock] != FT_LOCK_RECURSIVE;
}

static void hold_on(const ft_trace *trace, holding *own, uint32_t event)
{
    uint32_t lock = trace->object[event];
    if (is_second_acquire(trace, own, event)) return;
    if (is_acquire(trace, event)) {
        if (own->depth[lock]++ == 0) own->exclusive[lock] = trace->kind[event] == FT_EVENT_ACQUIRE;
        own->had[lock] = true;
    } else if (trace->kind[event] == FT_EVENT_RELEASE && own->depth[lock]) {
        own->depth[lock]--;
    }
}

/* What the event's thread holds just before it. */
static holding holding_at(const ft_trace *trace, uint32_t event)
{
    holding own = {0};
    for (uint32_t e = 0; e < event; e++)
        if (trace->thread[e] == trace->thread[event] &&
            ft_event_kind_object(trace->kind[e]) == FT_OBJECT_LOCK)
            hold_on(trace, &own, e);
    return own;
}

/* ---- lock errors ---- */

static const char *lock_error(const ft_trace *trace, uint32_t event)
{
    if (ft_event_kind_object(trace->kind[event]) != FT_OBJECT_LOCK) return NULL;
    holding own = holding_at(trace, event);
    if (is_second_acquire(trace, &own, event))
        return trace->flags[event] & FT_FLAG_TRY ? NULL : "double-lock";
    if (trace->kind[event] != FT_EVENT_RELEASE || own.depth[trace->object[event]]) return NULL;
    return own.had[trace->object[event]] ? "double-unlock" : "unlock-by-stranger";
}

void ft_oracle_add_lock_errors(const ft_trace *trace, ft_oracle_result *result)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (lock_error(trace, e))
            ft_oracle_push(result, FT_CHECK_LOCK, FT_ORACLE_NO_PROPERTY,
                           (ft_claim){.kind = FT_CLAIM_LOCK_ERROR, .events = {e}});
}

/* ---- cycles of requests ---- */

/* An acquire that may have to wait for another thread, or a wait for an initialiser or a thread. */
static bool yields_to_writers(const ft_trace *trace, uint32_t event)
{
    return trace->kind[event] == FT_EVENT_ACQUIRE_SHARED &&
           trace->lock_kind[trace->object[event]] == FT_LOCK_WRITER_PREFERRING;
}

static bool is_request(const ft_trace *trace, uint32_t event)
{
    if (trace->flags[event] & FT_FLAG_TRY) return false;
    if (yields_to_writers(trace, event)) {
        holding own = holding_at(trace, event);
        return !own.depth[trace->object[event]] || !own.exclusive[trace->object[event]];
    }
    if (trace->kind[event] == FT_EVENT_ONCE_PASS || trace->kind[event] == FT_EVENT_JOIN)
        return true;
    if (!is_acquire(trace, event)) return false;
    return holding_at(trace, event).depth[trace->object[event]] == 0;
}

/* Does the event's thread run the initialiser when the event is next? */
static bool initialises(const ft_trace *trace, uint32_t event, uint32_t once)
{
    bool runs = false;
    for (uint32_t e = 0; e < event; e++) {
        if (trace->thread[e] != trace->thread[event] || trace->object[e] != once) continue;
        if (trace->kind[e] == FT_EVENT_ONCE_BEGIN) runs = true;
        if (trace->kind[e] == FT_EVENT_ONCE_END) return false;
    }
    return runs;
}

static bool waits_for(const ft_trace *trace, uint32_t request, uint32_t holder)
{
    holding other = holding_at(trace, holder);
    uint32_t object = trace->object[request];
    if (trace->kind[request] == FT_EVENT_JOIN) return trace->thread[holder] == object;
    if (trace->kind[request] == FT_EVENT_ONCE_PASS) return initialises(trace, holder, object);
    bool writes = trace->kind[holder] == FT_EVENT_ACQUIRE && trace->object[holder] == object;
    if (writes && yields_to_writers(trace, request)) return true;
    if (!other.depth[object]) return false;
    return other.exclusive[object] || trace->kind[request] == FT_EVENT_ACQUIRE;
}

static bool has_kind(const ft_trace *trace, const ft_claim *claim, ft_event_kind kind)
{
    for (uint32_t i = 0; i < claim->n_events; i++)
        if (trace->kind[claim->events[i]] == kind) return true;
    return false;
}

static bool has_thread(const ft_trace *trace, const ft_claim *claim, uint32_t thread)
{
    for (uint32_t i = 0; i < claim->n_events; i++)
        if (trace->thread[claim->events[i]] == thread) return true;
    return false;
}

/* A cycle begins at its request of the lowest thread. */
static void extend_cycle(const ft_trace *trace, ft_claim *path, ft_oracle_result *result)
{
    uint32_t first = path->events[0], last = path->events[path->n_events - 1];
    /* A thread that is joined for ever, without once objects, is a finding of another kind. */
    bool joins = has_kind(trace, path, FT_EVENT_JOIN) && !has_kind(trace, path, FT_EVENT_ONCE_PASS);
    if (path->n_events > 1 && !joins && waits_for(trace, last, first))
        ft_oracle_push(result, FT_CHECK_DEADLOCK, FT_ORACLE_NO_PROPERTY, *path);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->thread[e] <= trace->thread[first] || has_thread(trace, path, trace->thread[e]) ||
            !is_request(trace, e) || !waits_for(trace, last, e))
            continue;
        path->events[path->n_events++] = e;
        extend_cycle(trace, path, result);
        path->n_events--;
    }
}

/* ---- threads that wait for a wake-up ---- */

/* Does a thread end with a lock that it took? One that was blocked when the run ended did not end.
 */
static bool any_kept(const ft_trace *trace)
{
    for (uint32_t t = 0; t < trace->threads.len; t++) {
        holding own = {0};
        bool blocked = false;
        for (uint32_t e = 0; e < trace->n_events; e++) {
            if (trace->thread[e] != t) continue;
            if (ft_event_kind_object(trace->kind[e]) == FT_OBJECT_LOCK) hold_on(trace, &own, e);
            blocked = ft_trace_is_blocked(trace, e);
        }
        if (blocked) continue;
        for (uint32_t l = 0; l < trace->locks.len; l++)
            if (own.depth[l]) return true;
    }
    return false;
}

static bool holds_any(const ft_trace *trace, uint32_t event)
{
    holding own = holding_at(trace, event);
    for (uint32_t l = 0; l < trace->locks.len; l++)
        if (own.depth[l]) return true;
    return false;
}

/* Whoever joins without a lock is nobody's obstacle: what keeps its child waiting is a finding of
 * its own, unless a thread has ended with the lock. */
static const char *stuck_kind(const ft_trace *trace, uint32_t event)
{
    static const char *const kinds[FT_EVENT_KINDS] = {
        [FT_EVENT_WAIT] = "semaphore",
        [FT_EVENT_COND_WAKE] = "lost-wakeup",
        [FT_EVENT_JOIN] = "join",
        [FT_EVENT_BARRIER_LEAVE] = "barrier",
    };
    ft_event_kind kind = (ft_event_kind)trace->kind[event];
    bool timed_out = kind == FT_EVENT_COND_WAKE && (trace->flags[event] & FT_FLAG_FAILED);
    bool gives_up = (trace->flags[event] & FT_FLAG_TRY) != 0;
    bool bystander = kind == FT_EVENT_JOIN && !holds_any(trace, event) && !any_kept(trace);
    return timed_out || gives_up || bystander ? NULL : kinds[kind];
}

/* ---- forked processes ---- */

static uint32_t edge_out(const ft_trace *trace, const char *name)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_EDGE_OUT &&
            strcmp(trace->edges.names[trace->object[e]], name) == 0)
            return e;
    return FT_NO_EVENT;
}

/* The process that is forked at `fork` waits for `lock`: each place where another thread is about
 * to give the lock up. */
static void add_forks(const ft_trace *trace, uint32_t fork, uint32_t lock, ft_oracle_result *result)
{
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] != FT_EVENT_RELEASE || trace->object[e] != lock) continue;
        if (trace->thread[e] == trace->thread[fork]) continue;
        uint32_t depth = holding_at(trace, e).depth[lock];
        if (depth == 1 || (depth && trace->flags[e] & FT_FLAG_CONDITION))
            ft_oracle_push(result, FT_CHECK_DEADLOCK, FT_ORACLE_NO_PROPERTY,
                           (ft_claim){.kind = FT_CLAIM_CO_ENABLED, .events = {e, fork}});
    }
}

void ft_oracle_add_deadlocks(const ft_trace *trace, ft_oracle_result *result)
{
    uint32_t fork = edge_out(trace, "process 1.1"), want = edge_out(trace, "process 1 locks l");
    uint32_t lock = ft_intern_find(&trace->locks, "l", 1);
    if (fork != FT_NO_EVENT && want != FT_NO_EVENT && lock != FT_NO_ID)
        add_forks(trace, fork, lock, result);
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_claim path = {.kind = FT_CLAIM_DEADLOCK, .n_events = 1, .events = {e}};
        if (is_request(trace, e)) extend_cycle(trace, &path, result);
    }
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (stuck_kind(trace, e))
            ft_oracle_push(result, FT_CHECK_DEADLOCK, FT_ORACLE_NO_PROPERTY,
                           (ft_claim){.kind = FT_CLAIM_STUCK, .events = {e}});
}

/* ---- order errors ---- */

static bool in_block(const ft_trace *trace, uint32_t event, uint32_t block)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *list = ft_trace_accesses(trace, event, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < trace->block_cells[block].count; k++)
            if (list[i].variable == trace->block_cells[block].variables[k]) return true;
    return false;
}

static void add_after_free(const ft_trace *trace, uint32_t freed, ft_oracle_result *result)
{
    for (uint32_t e = 0; e < trace->n_events; e++) {
        bool own = trace->thread[e] == trace->thread[freed];
        bool frees = trace->kind[e] == FT_EVENT_FREE && trace->object[e] == trace->object[freed];
        if ((own && e <= freed) || ft_oracle_ignored(trace, e)) continue;
        if (frees || in_block(trace, e, trace->object[freed]))
            ft_oracle_push(result, FT_CHECK_ORDER, FT_ORACLE_NO_PROPERTY,
                           (ft_claim){.kind = FT_CLAIM_AFTER_FREE, .events = {freed, e}});
    }
}

/* The last event before `event` in the observed run that writes the variable. An assignment of the
 * run took place, else it would not be there. */
static uint32_t observed_source(const ft_trace *trace, uint32_t event, uint32_t variable)
{
    for (uint32_t e = event; e-- > 0;)
        if (!(trace->flags[e] & FT_FLAG_PASSED) && ft_oracle_accesses(trace, e, variable, true))
            return e;
    return FT_NO_EVENT;
}

static bool in_one_block(const ft_trace *trace, uint32_t x, uint32_t y)
{
    for (uint32_t b = 0; b < trace->blocks.len; b++) {
        bool has_x = false, has_y = false;
        for (uint32_t i = 0; i < trace->block_cells[b].count; i++) {
            has_x |= trace->block_cells[b].variables[i] == x;
            has_y |= trace->block_cells[b].variables[i] == y;
        }
        if (has_x && has_y) return true;
    }
    return false;
}

/* Some write of it, or of memory that was allocated with it, was noticed later than it happened. */
static bool written_outside(const ft_trace *trace, uint32_t variable)
{
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint32_t written = trace->object[e];
        if (trace->kind[e] != FT_EVENT_WRITE || !ft_oracle_ignored(trace, e)) continue;
        if (written == variable || in_one_block(trace, written, variable)) return true;
    }
    return false;
}

static void add_uninitialised(const ft_trace *trace, uint32_t event, ft_oracle_result *result)
{
    if (trace->kind[event] == FT_EVENT_RMW || ft_oracle_ignored(trace, event)) return;
    for (uint32_t v = 0; v < trace->shared.len; v++) {
        if (trace->shared_info[v].initial != FT_NO_VALUE ||
            !ft_oracle_accesses(trace, event, v, false) || written_outside(trace, v))
            continue;
        uint32_t source = observed_source(trace, event, v);
        if (source == FT_NO_EVENT || trace->thread[source] == trace->thread[event]) continue;
        ft_oracle_push(
            result, FT_CHECK_ORDER, FT_ORACLE_NO_PROPERTY,
            (ft_claim){.kind = FT_CLAIM_UNINITIALISED, .events = {event}, .variable = v});
    }
}

void ft_oracle_add_order_errors(const ft_trace *trace, ft_oracle_result *result)
{
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (trace->kind[e] == FT_EVENT_FREE) add_after_free(trace, e, result);
    for (uint32_t e = 0; e < trace->n_events; e++) add_uninitialised(trace, e, result);
}

const char *ft_oracle_claim_kind(const ft_trace *trace, const ft_claim *claim)
{
    if (claim->kind == FT_CLAIM_LOCK_ERROR) return lock_error(trace, claim->events[0]);
    if (claim->kind == FT_CLAIM_DEADLOCK) return "cycle";
    if (claim->kind == FT_CLAIM_STUCK) return stuck_kind(trace, claim->events[0]);
    if (claim->kind == FT_CLAIM_UNINITIALISED) return "uninitialised";
    if (claim->kind == FT_CLAIM_CO_ENABLED) return "fork";
    if (claim->kind != FT_CLAIM_AFTER_FREE) return "";
    return trace->kind[claim->events[1]] == FT_EVENT_FREE ? "double-free" : "use-after-free";
}
