#include "explore/action.h"

#include "base/contract.h"
#include "explore/watch.h"

static const struct row {
    const char *name;
    ft_x_class class;
} ROWS[FT_X_KINDS] = {
#define FT_ROW(symbol, name, class, doc) {name, FT_X_##class},
    FT_X_KIND_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_x_kind_name(ft_x_kind kind)
{
    FT_REQUIRE(kind < FT_X_KINDS);
    return ROWS[kind].name;
}

ft_x_class ft_x_kind_class(ft_x_kind kind)
{
    FT_REQUIRE(kind < FT_X_KINDS);
    return ROWS[kind].class;
}

static bool is_wait(const ft_x_operation *o)
{
    return o->kind == FT_X_WAIT || o->kind == FT_X_WAKE;
}

bool ft_x_mutex_of(const ft_x_operation *o, uint32_t *mutex)
{
    if (is_wait(o)) return *mutex = o->other, true;
    return *mutex = o->object, ROWS[o->kind].class == FT_X_MUTEX;
}

static bool failed(const ft_x_action *a, ft_x_kind kind)
{
    return a->operation.kind == kind && !a->outcome;
}

static bool reads(const ft_x_action *a)
{
    return a->operation.kind == FT_X_LOAD || failed(a, FT_X_SWAP);
}

static bool is_poll(const ft_x_operation *o)
{
    return o->kind == FT_X_AWAIT || o->kind == FT_X_READY || o->kind == FT_X_LINGER;
}

static bool has_limit(const ft_x_operation *o)
{
    switch (o->kind) {
    case FT_X_LOCK:
    case FT_X_WAKE:
    case FT_X_TAKE:
    case FT_X_READ_LOCK:
    case FT_X_WRITE_LOCK:
    case FT_X_JOIN:
        return (o->value & FT_X_TIMED) && !(o->value & FT_X_EARLY);
    case FT_X_READY:
        return o->other & FT_X_TIMED;
    default:
        return false;
    }
}

bool ft_x_is_late(const ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    return a->variant == FT_X_TIMED_OUT && (o->kind == FT_X_LINGER || has_limit(o));
}

static bool shares(const ft_x_action *a)
{
    return a->operation.kind == FT_X_READ_LOCK || a->operation.kind == FT_X_TRY_READ_LOCK ||
           a->operation.kind == FT_X_READ_UNLOCK;
}

/* Of one lock. A queued writer matters to readers that wait behind it, and to nobody else. */
static bool queue_dependent(const ft_x_action *a)
{
    return a->operation.kind == FT_X_READ_LOCK && (a->operation.value & FT_X_PREFERS_WRITERS);
}

static bool try_failed(const ft_x_action *a)
{
    return failed(a, FT_X_TRY_READ_LOCK) || failed(a, FT_X_TRY_WRITE_LOCK);
}

static bool counts(const ft_x_action *a)
{
    return a->operation.kind == FT_X_COUNT || failed(a, FT_X_TRY_TAKE);
}

static uint64_t bit(uint32_t thread)
{
    return UINT64_C(1) << thread;
}

/* The waiters that a SIGNAL or BROADCAST notifies, as bits. */
static uint64_t notified(const ft_x_action *a)
{
    if (a->operation.kind == FT_X_BROADCAST) return a->outcome;
    return a->variant ? bit((uint32_t)a->variant - 1) : 0;
}

/* Of one condition variable: the table of the notes, §1 (POR-SE, appendix). */
static bool condition_dependent(const ft_x_action *a, const ft_x_action *b)
{
    ft_x_kind ka = a->operation.kind, kb = b->operation.kind;
    if (ka > kb) return condition_dependent(b, a);
    if (kb <= FT_X_WAKE) return false;           /* waits: by their mutex alone */
    bool leaves = ka == FT_X_WAKE && a->variant; /* the waiters, without being notified */
    if (ka == FT_X_WAIT || leaves)
        return kb == FT_X_BROADCAST || !notified(b) || (notified(b) & bit(a->thread));
    if (ka == FT_X_WAKE) return notified(b) & bit(a->thread);
    if (kb == FT_X_SIGNAL) /* two signals */
        return !notified(a) != !notified(b) || (notified(a) && notified(a) == notified(b));
    if (ka == FT_X_SIGNAL) return notified(a) || notified(b); /* a signal and a broadcast */
    return notified(a) || notified(b);
}

/* Takes nothing out of a channel, and puts nothing in. */
static bool looks(const ft_x_action *a)
{
    switch (a->operation.kind) {
    case FT_X_SEND:
        return a->outcome;
    case FT_X_TRY_SEND:
    case FT_X_RECEIVE:
        return !a->outcome;
    case FT_X_TRY_RECEIVE:
        return !a->outcome || a->outcome == FT_X_WOULD_WAIT;
    default:
        return a->operation.kind == FT_X_TEST;
    }
}

/* Of one object that both are about. */
static bool object_dependent(ft_x_class class, const ft_x_action *a, const ft_x_action *b)
{
    switch (class) {
    case FT_X_MUTEX:
        return !(failed(a, FT_X_TRY_LOCK) && failed(b, FT_X_TRY_LOCK));
    case FT_X_CONDITION:
        return condition_dependent(a, b);
    case FT_X_SEMAPHORE:
        return !(a->operation.kind == FT_X_POST && b->operation.kind == FT_X_POST) &&
               !(counts(a) && counts(b));
    case FT_X_ATOMIC:
        return !(reads(a) && reads(b));
    case FT_X_RWLOCK:
        if (a->operation.kind == FT_X_QUEUE) return queue_dependent(b);
        if (b->operation.kind == FT_X_QUEUE) return queue_dependent(a);
        return !(shares(a) && shares(b)) && !(try_failed(a) && try_failed(b));
    case FT_X_BARRIER:
        return a->operation.kind != b->operation.kind ||
               (a->operation.kind == FT_X_ARRIVE && (a->operation.value2 || b->operation.value2));
    case FT_X_CHANNEL:
        return !(looks(a) && looks(b));
    case FT_X_MEMORY:
        return a->operation.kind == FT_X_WRITE || b->operation.kind == FT_X_WRITE;
    case FT_X_ONCE:
        return true;
    case FT_X_NO_OBJECT:
    case FT_X_THREAD:
    case FT_X_PROCESS:
        return false;
    }
    return false;
}

/* As far as attempts can see. */
static bool leaves_as_it_was(const ft_x_action *a)
{
    if (a->operation.kind == FT_X_READ || a->operation.kind == FT_X_QUEUE) return true;
    return reads(a) || looks(a) || failed(a, FT_X_TRY_LOCK) || counts(a) || try_failed(a);
}

/* May the action change the result of an attempt that the poll watches? */
static bool wakes_poll(const ft_x_operation *poll, const ft_x_action *a)
{
    uint32_t mutex;
    const ft_x_operation *o = &a->operation;
    if (is_poll(o) || leaves_as_it_was(a)) return false;
    if (ft_x_mutex_of(o, &mutex) && ft_x_watches_object(poll, mutex)) return true;
    switch (ROWS[o->kind].class) {
    case FT_X_NO_OBJECT:
    case FT_X_THREAD:
    case FT_X_PROCESS:
        return false;
    default:
        return ft_x_watches_object(poll, o->object);
    }
}

/* CREATE and JOIN concern the thread that they name, whatever it does. */
static bool concerns(const ft_x_operation *o, uint32_t thread)
{
    return ROWS[o->kind].class == FT_X_THREAD && o->object == thread;
}

static bool ends_process(const ft_x_operation *o)
{
    return o->kind == FT_X_EXIT;
}

/* No other thread's action matters to it, nor does the end of the process. */
static bool is_private(const ft_x_operation *o)
{
    return o->kind == FT_X_BRANCH;
}

bool ft_x_dependent(const ft_x_action *a, const ft_x_action *b)
{
    const ft_x_operation *oa = &a->operation, *ob = &b->operation;
    uint32_t ma, mb;
    if (a->thread == b->thread || concerns(oa, b->thread) || concerns(ob, a->thread)) return true;
    if (ft_x_is_late(a) || ft_x_is_late(b)) return true;
    if (is_private(oa) || is_private(ob)) return false;
    if (ends_process(oa) || ends_process(ob)) return true;
    if (is_poll(oa)) return wakes_poll(oa, b);
    if (is_poll(ob)) return wakes_poll(ob, a);
    if (ft_x_mutex_of(oa, &ma) && ft_x_mutex_of(ob, &mb) && ma == mb &&
        object_dependent(FT_X_MUTEX, a, b))
        return true;
    return ROWS[oa->kind].class == ROWS[ob->kind].class && oa->object == ob->object &&
           ROWS[oa->kind].class != FT_X_MUTEX && object_dependent(ROWS[oa->kind].class, a, b);
}

/* An attempt may go either way; one that fails wakes nobody. */
static bool may_wake_poll(const ft_x_operation *poll, const ft_x_operation *o)
{
    ft_x_action one = {.operation = *o, .outcome = 1}, none = {.operation = *o};
    return wakes_poll(poll, &one) || wakes_poll(poll, &none);
}

bool ft_x_may_depend(uint32_t thread, const ft_x_operation *operation, const ft_x_action *action)
{
    const ft_x_operation *o = &action->operation;
    uint32_t ma, mb;
    if (thread == action->thread || ft_x_is_late(action) || concerns(operation, action->thread) ||
        concerns(o, thread))
        return true;
    if (is_private(operation) || is_private(o)) return false;
    if (ends_process(operation) || ends_process(o)) return true;
    if (is_poll(operation)) return wakes_poll(operation, action);
    if (is_poll(o)) return may_wake_poll(o, operation);
    if (ft_x_mutex_of(operation, &ma) && ft_x_mutex_of(o, &mb) && ma == mb) return true;
    if (ROWS[operation->kind].class != ROWS[o->kind].class || operation->object != o->object)
        return false;
    /* Where the kinds alone decide, ask; attempts, swaps and notifications may go either way. */
    ft_x_action as = {.operation = *operation, .thread = (uint16_t)thread};
    if (operation->kind == FT_X_WAKE && (operation->value & (FT_X_EARLY | FT_X_SPURIOUS)))
        return o->kind != FT_X_WAIT && o->kind != FT_X_WAKE;
    switch (operation->kind) {
    case FT_X_TRY_LOCK:
    case FT_X_TRY_TAKE:
    case FT_X_TRY_READ_LOCK:
    case FT_X_TRY_WRITE_LOCK:
    case FT_X_SWAP:
    case FT_X_SIGNAL:
    case FT_X_BROADCAST:
    case FT_X_SEND:
    case FT_X_TRY_SEND:
    case FT_X_RECEIVE:
    case FT_X_TRY_RECEIVE:
        return true;
    default:
        return ft_x_dependent(&as, action);
    }
}
