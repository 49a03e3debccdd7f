/* The compiler's calls in place of atomic operations. The hook itself does the operation,
 * sequentially consistent, in the step that it records. */
#include "accesses/accesses.h"
#include "accesses/needs.h"
#include "constrained/constrained.h"
#include "exploring/exploring.h"
#include "libc/contract.h"
#include "log/hot.h"
#include "log/log.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "state/writes.h"
#include "trace/event.h"

typedef int order;

static void log_one(ft_raw_form form, const volatile void *address, uint32_t size, int64_t value,
                    int64_t written, const void *pc)
{
    ft_rt_log_access(form, pc, (uintptr_t)address, size, value, written);
}

#define CODE __builtin_return_address(0)

#define EXPLORED(kind, a, value, value2, pc)                                                       \
    do {                                                                                           \
        if (__builtin_expect(ft_rt_exploring, 0) && ft_rt_x_self)                                  \
            ft_rt_x_atomic(FT_X_##kind, a, sizeof *(a), __atomic_load_n(a, __ATOMIC_SEQ_CST),      \
                           value, value2, pc);                                                     \
    } while (0)

/* explored: the kind and the operator of explore/action.h; an exchange is a store there (with
 * `value2` 1). */
#define UPDATE(bits, type, name, expression, explored, operator)                                   \
    type __tsan_atomic##bits##_##name(volatile type *a, type v, order o);                          \
    type __tsan_atomic##bits##_##name(volatile type *a, type v, order o)                           \
    {                                                                                              \
        (void)o;                                                                                   \
        ft_rt_touch(a);                                                                            \
        EXPLORED(explored, a, v, operator, CODE);                                                  \
        FT_RT_CONSTRAINED_SCOPE(UPDATE, a, CODE);                                                  \
        ft_rt_about_atomic(FT_EVENT_RMW, CODE, a, sizeof *a);                                      \
        ft_rt_thread *self = ft_rt_enter();                                                        \
        type old = __atomic_load_n(a, __ATOMIC_SEQ_CST), made;                                     \
        do made = (type)(expression);                                                              \
        while (!__atomic_compare_exchange_n(a, &old, made, false, __ATOMIC_SEQ_CST,                \
                                            __ATOMIC_SEQ_CST));                                    \
        if (!self) return old;                                                                     \
        log_one(FT_RAW_FORM_UPDATE, a, sizeof *a, old, made, CODE);                                \
        ft_rt_leave(self);                                                                         \
        return old;                                                                                \
    }

/* pc: the program's, whichever of the calls it makes. */
#define COMPARE_AT(bits, type)                                                                     \
    static bool compare##bits(volatile type *a, type *expected, type v, const void *pc)            \
    {                                                                                              \
        ft_rt_touch(a);                                                                            \
        EXPLORED(SWAP, a, *expected, v, pc);                                                       \
        FT_RT_CONSTRAINED_SCOPE(SWAP, a, pc);                                                      \
        ft_rt_about_atomic(FT_RT_ANY, pc, a, sizeof *a);                                           \
        ft_rt_thread *self = ft_rt_enter();                                                        \
        type old = *expected;                                                                      \
        bool done =                                                                                \
            __atomic_compare_exchange_n(a, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
        if (!done) *expected = old;                                                                \
        if (!self) return done;                                                                    \
        log_one(done ? FT_RAW_FORM_COMPARE : FT_RAW_FORM_ATOMIC_READ, a, sizeof *a, old, v, pc);   \
        ft_rt_leave(self);                                                                         \
        return done;                                                                               \
    }

#define COMPARE(bits, type, name)                                                                  \
    int __tsan_atomic##bits##_##name(volatile type *a, type *expected, type v, order o,            \
                                     order failed);                                                \
    int __tsan_atomic##bits##_##name(volatile type *a, type *expected, type v, order o,            \
                                     order failed)                                                 \
    {                                                                                              \
        (void)o;                                                                                   \
        (void)failed;                                                                              \
        return compare##bits(a, expected, v, CODE);                                                \
    }

#define LOAD(bits, type)                                                                           \
    type __tsan_atomic##bits##_load(const volatile type *a, order o);                              \
    type __tsan_atomic##bits##_load(const volatile type *a, order o)                               \
    {                                                                                              \
        (void)o;                                                                                   \
        ft_rt_touch(a);                                                                            \
        EXPLORED(LOAD, a, 0, 0, CODE);                                                             \
        FT_RT_CONSTRAINED_SCOPE(LOAD, a, CODE);                                                    \
        ft_rt_about_atomic(FT_EVENT_READ, CODE, a, sizeof *a);                                     \
        ft_rt_thread *self = ft_rt_enter();                                                        \
        type value = __atomic_load_n(a, __ATOMIC_SEQ_CST);                                         \
        if (!self) return value;                                                                   \
        log_one(FT_RAW_FORM_ATOMIC_READ, a, sizeof *a, value, 0, CODE);                            \
        ft_rt_leave(self);                                                                         \
        return value;                                                                              \
    }

#define ATOMICS(bits, type)                                                                        \
    void __tsan_atomic##bits##_store(volatile type *a, type v, order o);                           \
    void __tsan_atomic##bits##_store(volatile type *a, type v, order o)                            \
    {                                                                                              \
        (void)o;                                                                                   \
        ft_rt_touch(a);                                                                            \
        EXPLORED(STORE, a, v, 0, CODE);                                                            \
        FT_RT_CONSTRAINED_SCOPE(STORE, a, CODE);                                                   \
        ft_rt_about_atomic(FT_EVENT_WRITE, CODE, a, sizeof *a);                                    \
        ft_rt_thread *self = ft_rt_enter();                                                        \
        __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                  \
        if (!self) return;                                                                         \
        log_one(FT_RAW_FORM_ATOMIC_WRITE, a, sizeof *a, v, 0, CODE);                               \
        ft_rt_leave(self);                                                                         \
    }                                                                                              \
    UPDATE(bits, type, exchange, v, STORE, 1)                                                      \
    UPDATE(bits, type, fetch_add, old + v, UPDATE, FT_X_PLUS)                                      \
    UPDATE(bits, type, fetch_sub, old - v, UPDATE, FT_X_MINUS)                                     \
    UPDATE(bits, type, fetch_and, old &v, UPDATE, FT_X_AND)                                        \
    UPDATE(bits, type, fetch_or, old | v, UPDATE, FT_X_OR)                                         \
    UPDATE(bits, type, fetch_xor, old ^ v, UPDATE, FT_X_XOR)                                       \
    UPDATE(bits, type, fetch_nand, ~(old & v), UPDATE, FT_X_NAND)                                  \
    UPDATE(bits, type, fetch_max, old > v ? old : v, UPDATE, FT_X_MAX)                             \
    UPDATE(bits, type, fetch_min, old < v ? old : v, UPDATE, FT_X_MIN)                             \
    UPDATE(bits, type, fetch_umax, (uint##bits##_t)old > (uint##bits##_t)v ? old : v, UPDATE,      \
           FT_X_UNSIGNED_MAX)                                                                      \
    UPDATE(bits, type, fetch_umin, (uint##bits##_t)old < (uint##bits##_t)v ? old : v, UPDATE,      \
           FT_X_UNSIGNED_MIN)                                                                      \
    COMPARE_AT(bits, type)                                                                         \
    COMPARE(bits, type, compare_exchange_strong)                                                   \
    COMPARE(bits, type, compare_exchange_weak)                                                     \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type expected, type v,       \
                                                    order o, order failed);                        \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type expected, type v,       \
                                                    order o, order failed)                         \
    {                                                                                              \
        (void)o;                                                                                   \
        (void)failed;                                                                              \
        compare##bits(a, &expected, v, CODE);                                                      \
        return expected;                                                                           \
    }

int8_t __tsan_atomic8_load(const volatile int8_t *a, order o);

/* The turn does not end between a look and the next hook, which decides whether it was a read. */
static void hold_look(ft_rt_thread *self, const volatile void *address, const void *pc)
{
    assert(!self->look.address && !self->late.value && !self->pending.size);
    self->look = (ft_rt_look){(uintptr_t)address, pc};
    ft_rt_hot = FT_RT_NO_THREAD;
    if (self->left) self->left--;
    self->inside = false;
}

int8_t __tsan_atomic8_load(const volatile int8_t *a, order o)
{
    (void)o;
    ft_rt_touch(a);
    EXPLORED(LOAD, a, 0, 0, CODE);
    FT_RT_CONSTRAINED_SCOPE(LOAD, a, CODE);
    ft_rt_about_atomic(FT_RT_ANY, CODE, a, sizeof *a);
    ft_rt_thread *self = ft_rt_enter();
    int8_t value = __atomic_load_n(a, __ATOMIC_SEQ_CST);
    if (!self) return value;
    if (!value) {
        hold_look(self, a, CODE);
        return 0;
    }
    if (!ft_rt_guard_passed(self, a, CODE))
        log_one(FT_RAW_FORM_ATOMIC_READ, a, sizeof *a, value, 0, CODE);
    ft_rt_leave(self);
    return value;
}

LOAD(16, int16_t)
LOAD(32, int32_t)
LOAD(64, int64_t)
ATOMICS(8, int8_t)
ATOMICS(16, int16_t)
ATOMICS(32, int32_t)
ATOMICS(64, int64_t)

void __tsan_atomic_thread_fence(order o);
void __tsan_atomic_signal_fence(order o);

/* Everything here is sequentially consistent already. */
void __tsan_atomic_thread_fence(order o)
{
    (void)o;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(order o)
{
    (void)o;
}

/* A marker of a build that has no hooks of atomics (include/foretell/marker.h). */
void foretell_marker_stop(const volatile int *cell);
void foretell_marker_stop(const volatile int *cell)
{
    FT_RT_CONSTRAINED_SCOPE(LOAD, cell, CODE);
}
