#include "explore/objects.h"

#include "base/contract.h"

static ft_x_object *object(const ft_x_state *state, uint32_t number)
{
    assert(number < state->n_objects);
    return &state->objects[number];
}

static uint64_t bit(uint32_t thread)
{
    return UINT64_C(1) << thread;
}

static bool is_free_for(const ft_x_object *mutex, uint32_t thread, bool recursive)
{
    return !mutex->owner || (recursive && mutex->owner == thread + 1);
}

static uint32_t one(ft_x_choice *choices, uint64_t outcome)
{
    choices[0] = (ft_x_choice){.outcome = outcome};
    return 1;
}

static uint32_t signal_choices(const ft_x_object *condition, ft_x_choice *choices)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < FT_X_THREADS; t++)
        if (condition->waits & bit(t)) choices[n++] = (ft_x_choice){.variant = t + 1};
    return n ? n : one(choices, 0);
}

static uint32_t arms(const ft_x_operation *o, ft_x_choice *choices)
{
    uint32_t n = 0;
    for (; n < FT_X_THREADS && n < (uint64_t)o->value; n++)
        choices[n] = (ft_x_choice){.variant = n};
    return n;
}

bool ft_x_is_always_enabled(ft_x_kind kind)
{
    return kind == FT_X_STEP || kind == FT_X_UNLOCK || kind == FT_X_WAIT || kind == FT_X_POST ||
           kind == FT_X_COUNT || kind == FT_X_LOAD || kind == FT_X_STORE || kind == FT_X_ADD ||
           kind == FT_X_UPDATE || kind == FT_X_READ_UNLOCK || kind == FT_X_WRITE_UNLOCK ||
           kind == FT_X_ARRIVE || kind == FT_X_READ || kind == FT_X_QUEUE || kind == FT_X_WRITE ||
           kind == FT_X_ONCE_END || kind == FT_X_CREATE || kind == FT_X_EXIT;
}

/* ---- channels */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t room_of(const ft_x_object *x, int64_t value2)
{
    return (value2 >> 20) - x->value;
}

static bool is_writable(const ft_x_object *x, int64_t value2)
{
    return (x->waits & FT_X_BROKEN) || room_of(x, value2) >= (value2 & ((1 << 20) - 1));
}

static uint64_t test(const ft_x_object *x, const ft_x_operation *o)
{
    uint64_t ready = x->waits;
    if (x->value > 0 || (x->waits & FT_X_ENDED)) ready |= FT_X_READABLE;
    if (is_writable(x, o->value2)) ready |= FT_X_WRITABLE;
    ready &= (uint64_t)o->value;
    return o->value & FT_X_ARRIVALS ? ready | x->wakes << FT_X_ARRIVALS_SHIFT : ready;
}

static uint64_t amount(const ft_x_object *x, const ft_x_operation *o)
{
    if (!x->value && !(x->waits & FT_X_ENDED)) return FT_X_WOULD_WAIT;
    return (uint64_t)least(x->value, o->value);
}

static uint32_t channel_choices(const ft_x_object *x, const ft_x_operation *o, ft_x_choice *choices)
{
    bool broken = x->waits & FT_X_BROKEN;
    switch (o->kind) {
    case FT_X_SEND:
        return broken || x->value + o->value <= o->value2 ? one(choices, broken) : 0;
    case FT_X_TRY_SEND:
        return one(choices, broken || !is_writable(x, o->value2)
                                ? 0
                                : (uint64_t)least(room_of(x, o->value2), o->value));
    case FT_X_RECEIVE:
        return amount(x, o) == FT_X_WOULD_WAIT ? 0 : one(choices, amount(x, o));
    case FT_X_TRY_RECEIVE:
        return one(choices, amount(x, o));
    case FT_X_TEST:
        return one(choices, test(x, o));
    default:
        return one(choices, 0);
    }
}

/* A last descriptor of an end is gone. */
static void close_end(ft_x_object *x, uint32_t *more, uint64_t flag)
{
    if (*more)
        --*more;
    else
        x->waits |= flag;
}

static void apply_channel(ft_x_object *x, const ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    bool reads = o->value & FT_X_READABLE, writes = o->value & FT_X_WRITABLE;
    switch (o->kind) {
    case FT_X_SEND:
        if (!a->outcome) x->value += o->value;
        x->wakes += !a->outcome;
        break;
    case FT_X_TRY_SEND:
        x->value += (int64_t)a->outcome;
        x->wakes += a->outcome != 0;
        break;
    case FT_X_RECEIVE:
    case FT_X_TRY_RECEIVE:
        if (a->outcome != FT_X_WOULD_WAIT) x->value -= (int64_t)a->outcome;
        break;
    case FT_X_OPEN:
        x->readers += reads;
        x->writers += writes;
        break;
    case FT_X_CLOSE:
        if (reads) close_end(x, &x->readers, FT_X_BROKEN);
        if (writes) close_end(x, &x->writers, FT_X_ENDED);
        x->wakes += writes && (x->waits & FT_X_ENDED);
        break;
    default:
        break;
    }
    assert(x->value >= 0);
}

/* Is an operation that may wait, and has no outcome, enabled? */
static bool is_enabled(const ft_x_state *state, uint32_t thread, const ft_x_operation *o)
{
    if (o->kind == FT_X_JOIN) return state->ended & bit(o->object);
    const ft_x_object *x = object(state, o->object);
    switch (o->kind) {
    case FT_X_LOCK:
        return is_free_for(x, thread, o->value & FT_X_RECURSIVE);
    case FT_X_TAKE:
        return x->value > 0;
    case FT_X_READ_LOCK:
        return !x->owner && !((o->value & FT_X_PREFERS_WRITERS) && x->value);
    case FT_X_WRITE_LOCK:
        return !x->owner && !x->count;
    case FT_X_LEAVE:
        return x->value >= o->value * o->value2;
    default:
        return false;
    }
}

/* How a wait for a condition can end: notified, by an early limit, or by itself. */
static uint32_t wake_choices(const ft_x_state *state, uint32_t thread, const ft_x_operation *o,
                             ft_x_choice *choices)
{
    uint32_t n = 0;
    const ft_x_object *x = object(state, o->object);
    if (!is_free_for(object(state, o->other), thread, false)) return 0;
    if (x->wakes & bit(thread)) return one(choices, 0);
    if (!(x->waits & bit(thread))) return 0;
    if (o->value & FT_X_EARLY) choices[n++] = (ft_x_choice){.variant = FT_X_TIMED_OUT};
    if (o->value & FT_X_SPURIOUS) choices[n++] = (ft_x_choice){.variant = FT_X_BY_ITSELF};
    return n;
}

bool ft_x_may_be_late(const ft_x_state *state, uint32_t thread, const ft_x_operation *o)
{
    ft_x_action late = {.operation = *o, .thread = (uint16_t)thread, .variant = FT_X_TIMED_OUT};
    if (state->exited || !ft_x_is_late(&late)) return false;
    if (o->kind != FT_X_WAKE) return true;
    return (object(state, o->object)->waits & bit(thread)) &&
           is_free_for(object(state, o->other), thread, false);
}

/* The result that the attempt would have. */
static int64_t result_of(const ft_x_state *state, uint32_t thread, const ft_x_operation *attempt)
{
    ft_x_choice choices[FT_X_THREADS];
    ft_x_class class = ft_x_kind_class(attempt->kind);
    if (class == FT_X_ATOMIC || class == FT_X_MEMORY) return object(state, attempt->object)->value;
    uint32_t n = ft_x_choices(state, thread, attempt, choices);
    assert(n == 1); /* attempts never wait */
    return (int64_t)choices[0].outcome;
}

/* Would an attempt that the poll watches turn out otherwise? */
static bool differs(const ft_x_state *state, uint32_t thread, const ft_x_operation *poll)
{
    size_t n;
    const ft_x_attempt *a = ft_x_watched(state->watches, poll, &n);
    for (size_t i = 0; i < n; i++)
        if (result_of(state, thread, &a[i].operation) != a[i].result) return true;
    return false;
}

uint32_t ft_x_choices(const ft_x_state *state, uint32_t thread, const ft_x_operation *o,
                      ft_x_choice choices[FT_X_THREADS])
{
    FT_REQUIRE(thread < FT_X_THREADS && o->kind < FT_X_KINDS);
    if (o->kind == FT_X_BRANCH) return arms(o, choices);
    if (state->exited || o->kind == FT_X_NONE) return 0;
    if (ft_x_is_always_enabled(o->kind)) return one(choices, 0);
    if (ft_x_kind_class(o->kind) == FT_X_CHANNEL)
        return channel_choices(object(state, o->object), o, choices);
    switch (o->kind) {
    case FT_X_CHOOSE:
        return arms(o, choices);
    case FT_X_TRY_LOCK:
        return one(choices,
                   is_free_for(object(state, o->object), thread, o->value & FT_X_RECURSIVE));
    case FT_X_WAKE:
        return wake_choices(state, thread, o, choices);
    case FT_X_TRY_READ_LOCK:
        return one(choices, !object(state, o->object)->owner);
    case FT_X_TRY_WRITE_LOCK:
        return one(choices, !object(state, o->object)->owner && !object(state, o->object)->count);
    case FT_X_TRY_JOIN:
        return one(choices, state->ended >> o->object & 1);
    case FT_X_TRY_TAKE:
        return one(choices, object(state, o->object)->value > 0);
    case FT_X_SWAP:
        return one(choices, object(state, o->object)->value == o->value);
    case FT_X_SIGNAL:
        return signal_choices(object(state, o->object), choices);
    case FT_X_BROADCAST:
        return one(choices, object(state, o->object)->waits);
    case FT_X_AWAIT:
    case FT_X_READY:
    case FT_X_LINGER:
        return differs(state, thread, o) ? one(choices, 0) : 0;
    case FT_X_ONCE_BEGIN: {
        const ft_x_object *once = object(state, o->object);
        return once->owner ? 0 : one(choices, !once->value);
    }
    default:
        return is_enabled(state, thread, o) ? one(choices, 0) : 0;
    }
}

bool ft_x_is_choice(const ft_x_state *state, const ft_x_action *a)
{
    ft_x_choice choices[FT_X_THREADS];
    uint32_t n = ft_x_choices(state, a->thread, &a->operation, choices);
    if (ft_x_is_late(a)) return !n && ft_x_may_be_late(state, a->thread, &a->operation);
    for (uint32_t i = 0; i < n; i++)
        if (choices[i].variant == a->variant && choices[i].outcome == a->outcome) return true;
    return false;
}

static void take(ft_x_object *mutex, uint32_t thread)
{
    assert(!mutex->owner || mutex->owner == thread + 1);
    mutex->owner = thread + 1;
    mutex->count++;
}

static void release(ft_x_object *mutex)
{
    if (mutex->count) mutex->count--;
    if (!mutex->count) mutex->owner = 0;
}

/* Conditions: WAIT gives the whole mutex up, however often it was taken. */
static void apply_condition(ft_x_state *state, const ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    ft_x_object *x = object(state, o->object);
    uint64_t notified = o->kind == FT_X_BROADCAST ? a->outcome
                        : a->variant              ? bit((uint32_t)a->variant - 1)
                                                  : 0;
    switch (o->kind) {
    case FT_X_WAIT:
        object(state, o->other)->owner = object(state, o->other)->count = 0;
        x->waits |= bit(a->thread);
        break;
    case FT_X_WAKE:
        assert((a->variant ? x->waits : x->wakes) & bit(a->thread));
        take(object(state, o->other), a->thread);
        x->wakes &= ~bit(a->thread);
        x->waits &= ~bit(a->thread);
        break;
    default:
        assert((notified & ~x->waits) == 0);
        x->waits &= ~notified;
        x->wakes |= notified;
    }
}

static void apply_rwlock(ft_x_object *x, const ft_x_action *a)
{
    switch (a->operation.kind) {
    case FT_X_QUEUE:
        x->value++;
        break;
    case FT_X_READ_LOCK:
    case FT_X_TRY_READ_LOCK:
        assert(!x->owner);
        x->count++;
        break;
    case FT_X_READ_UNLOCK:
        x->count -= x->count > 0;
        break;
    case FT_X_WRITE_LOCK:
    case FT_X_TRY_WRITE_LOCK:
        assert(!x->owner && !x->count);
        x->owner = a->thread + 1u;
        break;
    default:
        x->owner = 0;
    }
}

/* However the wait ends. A thread of a run that strays may be in no queue. */
static void leave_queue(ft_x_state *state, const ft_x_operation *o)
{
    if (o->kind != FT_X_WRITE_LOCK || !(o->value & FT_X_PREFERS_WRITERS)) return;
    ft_x_object *x = object(state, o->object);
    x->value -= x->value > 0;
}

static void apply_once(ft_x_object *x, const ft_x_action *a)
{
    if (a->operation.kind == FT_X_ONCE_END)
        *x = (ft_x_object){.value = !a->operation.value};
    else if (a->outcome)
        x->owner = a->thread + 1u;
}

static int64_t sized(uint64_t value, unsigned bytes)
{
    assert(bytes && bytes <= 8);
    unsigned above = 64 - 8 * bytes;
    return (int64_t)(value << above) >> above;
}

static uint64_t greater(bool wanted, bool is_first, uint64_t a, uint64_t b)
{
    return wanted == is_first ? a : b;
}

int64_t ft_x_updated(int64_t old, int64_t value, int64_t value2)
{
    unsigned bytes = (unsigned)(value2 % 16);
    uint64_t a = (uint64_t)old, b = (uint64_t)value, made = 0;
    switch ((ft_x_operator)(value2 / 16)) {
    case FT_X_PLUS:
        made = a + b;
        break;
    case FT_X_MINUS:
        made = a - b;
        break;
    case FT_X_AND:
        made = a & b;
        break;
    case FT_X_OR:
        made = a | b;
        break;
    case FT_X_XOR:
        made = a ^ b;
        break;
    case FT_X_NAND:
        made = ~(a & b);
        break;
    case FT_X_MAX:
        made = greater(true, old > value, a, b);
        break;
    case FT_X_MIN:
        made = greater(false, old > value, a, b);
        break;
    case FT_X_UNSIGNED_MAX: /* sign extension keeps the order of unsigned numbers */
        made = greater(true, a > b, a, b);
        break;
    case FT_X_UNSIGNED_MIN:
        made = greater(false, a > b, a, b);
        break;
    }
    return sized(made, bytes);
}

/* The remaining kinds: objects that are one number. */
static void apply_value(ft_x_object *x, const ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    switch (o->kind) {
    case FT_X_TAKE:
        assert(x->value > 0);
        x->value--;
        break;
    case FT_X_TRY_TAKE:
        x->value -= a->outcome != 0;
        break;
    case FT_X_POST:
    case FT_X_ARRIVE:
        x->value++;
        break;
    case FT_X_STORE:
        x->value = o->value;
        break;
    case FT_X_ADD:
        x->value = (int64_t)((uint64_t)x->value + (uint64_t)o->value);
        break;
    case FT_X_UPDATE:
        x->value = ft_x_updated(x->value, o->value, o->value2);
        break;
    case FT_X_SWAP:
        if (a->outcome) x->value = o->value2;
        break;
    default:
        break;
    }
}

/* A wait whose limit passed, or an attempt that failed; of WAKE it is the end of a wait. */
static bool leaves_all(const ft_x_action *a)
{
    ft_x_kind kind = (ft_x_kind)a->operation.kind;
    if (kind == FT_X_TRY_READ_LOCK || kind == FT_X_TRY_WRITE_LOCK) return !a->outcome;
    return kind != FT_X_WAKE && ft_x_is_late(a);
}

void ft_x_apply(ft_x_state *state, const ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    FT_REQUIRE(o->kind < FT_X_KINDS && a->thread < FT_X_THREADS);
    assert(!state->exited || o->kind == FT_X_BRANCH);
    FT_CHECK(ft_x_is_choice(state, a));
    leave_queue(state, o);
    if (leaves_all(a)) return;
    switch (ft_x_kind_class(o->kind)) {
    case FT_X_NO_OBJECT:
    case FT_X_THREAD:
        break;
    case FT_X_MEMORY:
        object(state, o->object)->value += o->kind == FT_X_WRITE;
        break;
    case FT_X_PROCESS:
        state->exited = true;
        break;
    case FT_X_MUTEX:
        if (o->kind == FT_X_UNLOCK)
            release(object(state, o->object));
        else if (o->kind == FT_X_LOCK || a->outcome)
            take(object(state, o->object), a->thread);
        break;
    case FT_X_CONDITION:
        apply_condition(state, a);
        break;
    case FT_X_RWLOCK:
        apply_rwlock(object(state, o->object), a);
        break;
    case FT_X_ONCE:
        apply_once(object(state, o->object), a);
        break;
    case FT_X_CHANNEL:
        apply_channel(object(state, o->object), a);
        break;
    case FT_X_SEMAPHORE:
    case FT_X_ATOMIC:
    case FT_X_BARRIER:
        apply_value(object(state, o->object), a);
        break;
    }
}
