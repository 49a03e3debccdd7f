/* Atomics of more than eight bytes: the compiler's calls for 16, and libatomic's functions, which
 * compilers call for other sizes and for unknown alignment. Each is recorded as accesses of at most
 * eight bytes, one after the other in one turn.
 *
 * The functions below do them, recorded or not. Sixteen aligned bytes take the processor's own
 * instruction, which all other code uses too. Sizes without an instruction take a lock: only these
 * functions access such objects. */
#include <sched.h>
#include <string.h>

#include "exploring/exploring.h"
#include "log/log.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "trace/event.h"

#define CODE __builtin_return_address(0)

enum { LANE = 8, WIDE = 16 };

typedef unsigned __int128 wide;
typedef int order;

/* ---- the operations */

static uint32_t taken;

static void lock(void)
{
    while (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(void)
{
    __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
}

#ifdef __x86_64__
static bool by_instruction(const volatile void *memory, size_t size)
{
    return size == WIDE && (uintptr_t)memory % WIDE == 0;
}

__attribute__((target("cx16"))) static wide swap_if(volatile wide *memory, wide old, wide made)
{
    return __sync_val_compare_and_swap(memory, old, made);
}

/* A processor with AVX moves 16 aligned bytes as one; memory that may only be read needs that. */
static wide look(const volatile wide *memory)
{
    wide seen;
    if (!__builtin_cpu_supports("avx")) return swap_if((volatile wide *)(uintptr_t)memory, 0, 0);
    __asm__ volatile("movdqa %1, %%xmm0\n\tmovdqu %%xmm0, %0"
                     : "=m"(seen)
                     : "m"(*memory)
                     : "xmm0", "memory");
    return seen;
}
#else
static bool by_instruction(const volatile void *memory, size_t size)
{
    (void)memory;
    (void)size;
    return false;
}

static wide swap_if(volatile wide *memory, wide old, wide made)
{
    (void)old;
    (void)made;
    return *memory;
}

static wide look(const volatile wide *memory)
{
    return *memory;
}
#endif

static wide swap(volatile wide *memory, wide made)
{
    wide old = look(memory), seen;
    while ((seen = swap_if(memory, old, made)) != old) old = seen;
    return old;
}

static wide wide_of(const void *bytes)
{
    wide value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static void load(const volatile void *memory, void *to, size_t size)
{
    if (by_instruction(memory, size)) {
        wide seen = look(memory);
        memcpy(to, &seen, sizeof seen);
        return;
    }
    lock();
    memcpy(to, (const void *)(uintptr_t)memory, size);
    unlock();
}

/* before: NULL, it is not asked for. */
static void exchange(volatile void *memory, const void *from, void *before, size_t size)
{
    if (by_instruction(memory, size)) {
        wide old = swap(memory, wide_of(from));
        if (before) memcpy(before, &old, sizeof old);
        return;
    }
    lock();
    if (before) memcpy(before, (const void *)(uintptr_t)memory, size);
    memcpy((void *)(uintptr_t)memory, from, size);
    unlock();
}

static bool compare(volatile void *memory, void *expected, const void *desired, size_t size)
{
    void *plain = (void *)(uintptr_t)memory;
    if (by_instruction(memory, size)) {
        wide old = wide_of(expected), seen = swap_if(memory, old, wide_of(desired));
        memcpy(expected, &seen, sizeof seen);
        return seen == old;
    }
    lock();
    bool same = memcmp(plain, expected, size) == 0;
    memcpy(same ? plain : expected, same ? desired : plain, size);
    unlock();
    return same;
}

/* ---- their records */

/* The largest part of `left` bytes there that is one access. */
static uint32_t lane(uintptr_t at, size_t left)
{
    uint32_t size = LANE;
    while (size > left || at % size) size /= 2;
    return size;
}

static int64_t value_of(const unsigned char *bytes, uint32_t size)
{
    int64_t value = 0;
    unsigned above = 64 - 8 * size;
    memcpy(&value, bytes, size);
    return (int64_t)((uint64_t)value << above) >> above;
}

static void log_lanes(ft_raw_form form, const void *pc, const volatile void *memory,
                      const void *values, const void *written, size_t size)
{
    for (size_t i = 0; i < size;) {
        uintptr_t at = (uintptr_t)memory + i;
        uint32_t n = lane(at, size - i);
        ft_rt_log_access(form, pc, at, n, value_of((const unsigned char *)values + i, n),
                         value_of((const unsigned char *)written + i, n));
        i += n;
    }
    FT_RT_LOG(WHOLE, (uintptr_t)memory, size);
}

/* ---- explored */

static int64_t hash(const volatile void *bytes, size_t size)
{
    uint64_t h = size;
    for (size_t i = 0; i < size; i += LANE) {
        uint64_t word = 0;
        memcpy(&word, (const char *)(uintptr_t)bytes + i, size - i < LANE ? size - i : LANE);
        h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return (int64_t)h;
}

static bool is_explored(void)
{
    return __builtin_expect(ft_rt_exploring, 0) && ft_rt_x_self;
}

/* `from` is NULL in a load, `expected` but in a swap. True: a swap takes place. */
static bool explore(ft_x_kind kind, const volatile void *memory, const void *expected,
                    const void *from, size_t size, const void *pc)
{
    if (!is_explored()) return false;
    const int64_t new = from ? hash(from, size) : 0;
    const int64_t hashes[] = {hash(memory, size), expected ? hash(expected, size) : new,
                              expected ? new : 0};
    return ft_rt_x_wide_atomic(kind, memory, size, hashes, pc);
}

/* Reads and writes: a store whose thread learns what was there. */
static void explore_exchange(const volatile void *memory, const void *from, size_t size,
                             const void *pc)
{
    if (!is_explored()) return;
    const int64_t hashes[] = {hash(memory, size), hash(from, size), 1};
    ft_rt_x_wide_atomic(FT_X_STORE, memory, size, hashes, pc);
}

/* ---- the hooks */

static void do_load(const volatile void *memory, void *to, size_t size, const void *pc)
{
    explore(FT_X_LOAD, memory, NULL, NULL, size, pc);
    ft_rt_about_atomic(FT_EVENT_READ, pc, memory, size);
    ft_rt_thread *self = ft_rt_enter();
    load(memory, to, size);
    if (!self) return;
    log_lanes(FT_RAW_FORM_ATOMIC_READ, pc, memory, to, to, size);
    ft_rt_leave(self);
}

static void do_store(volatile void *memory, const void *from, size_t size, const void *pc)
{
    explore(FT_X_STORE, memory, NULL, from, size, pc);
    ft_rt_about_atomic(FT_EVENT_WRITE, pc, memory, size);
    ft_rt_thread *self = ft_rt_enter();
    exchange(memory, from, NULL, size);
    if (!self) return;
    log_lanes(FT_RAW_FORM_ATOMIC_WRITE, pc, memory, from, from, size);
    ft_rt_leave(self);
}

static void do_exchange(volatile void *memory, const void *from, void *before, size_t size,
                        const void *pc)
{
    explore_exchange(memory, from, size, pc);
    ft_rt_about_atomic(FT_EVENT_RMW, pc, memory, size);
    ft_rt_thread *self = ft_rt_enter();
    exchange(memory, from, before, size);
    if (!self) return;
    log_lanes(FT_RAW_FORM_UPDATE, pc, memory, before, from, size);
    ft_rt_leave(self);
}

static bool do_compare(volatile void *memory, void *expected, const void *desired, size_t size,
                       const void *pc)
{
    explore(FT_X_SWAP, memory, expected, desired, size, pc);
    ft_rt_about_atomic(FT_RT_ANY, pc, memory, size);
    ft_rt_thread *self = ft_rt_enter();
    bool done = compare(memory, expected, desired, size);
    if (!self) return done;
    log_lanes(done ? FT_RAW_FORM_COMPARE : FT_RAW_FORM_ATOMIC_READ, pc, memory, expected, desired,
              size);
    ft_rt_leave(self);
    return done;
}

/* ---- libatomic's functions for any size */

/* The compiler knows these names, with other types. */
#define NAMED(name) __asm__(#name)
void any_load(size_t size, const volatile void *memory, void *to, order o) NAMED(__atomic_load);
void any_store(size_t size, volatile void *memory, const void *from, order o) NAMED(__atomic_store);
void any_exchange(size_t size, volatile void *memory, const void *from, void *before, order o)
    NAMED(__atomic_exchange);
bool any_compare(size_t size, volatile void *memory, void *expected, const void *desired, order o,
                 order failed) NAMED(__atomic_compare_exchange);

void any_load(size_t size, const volatile void *memory, void *to, order o)
{
    (void)o;
    do_load(memory, to, size, CODE);
}

void any_store(size_t size, volatile void *memory, const void *from, order o)
{
    (void)o;
    do_store(memory, from, size, CODE);
}

void any_exchange(size_t size, volatile void *memory, const void *from, void *before, order o)
{
    (void)o;
    do_exchange(memory, from, before, size, CODE);
}

bool any_compare(size_t size, volatile void *memory, void *expected, const void *desired, order o,
                 order failed)
{
    (void)o;
    (void)failed;
    return do_compare(memory, expected, desired, size, CODE);
}

/* ---- of 16 bytes: the compiler's calls, which are libatomic's functions too */

#define ALSO(name, function) NAMED(name) __attribute__((alias(#function)))

wide __tsan_atomic128_load(const volatile wide *a, order o);
void __tsan_atomic128_store(volatile wide *a, wide v, order o);
wide __tsan_atomic128_exchange(volatile wide *a, wide v, order o);
int __tsan_atomic128_compare_exchange_strong(volatile wide *a, wide *expected, wide v, order o,
                                             order failed);
int compare_weak(volatile wide *a, wide *expected, wide v, order o, order failed)
    ALSO(__tsan_atomic128_compare_exchange_weak, __tsan_atomic128_compare_exchange_strong);
wide __tsan_atomic128_compare_exchange_val(volatile wide *a, wide expected, wide v, order o,
                                           order failed);
wide load_16(const volatile wide *a, order o) ALSO(__atomic_load_16, __tsan_atomic128_load);
void store_16(volatile wide *a, wide v, order o) ALSO(__atomic_store_16, __tsan_atomic128_store);
wide exchange_16(volatile wide *a, wide v, order o)
    ALSO(__atomic_exchange_16, __tsan_atomic128_exchange);
/* It returns a bool, of which a 0 or 1 is one. */
int compare_16(volatile wide *a, wide *expected, wide v, order o, order failed)
    ALSO(__atomic_compare_exchange_16, __tsan_atomic128_compare_exchange_strong);

wide __tsan_atomic128_load(const volatile wide *a, order o)
{
    (void)o;
    wide value;
    do_load(a, &value, sizeof value, CODE);
    return value;
}

void __tsan_atomic128_store(volatile wide *a, wide v, order o)
{
    (void)o;
    do_store(a, &v, sizeof v, CODE);
}

wide __tsan_atomic128_exchange(volatile wide *a, wide v, order o)
{
    (void)o;
    wide before;
    do_exchange(a, &v, &before, sizeof v, CODE);
    return before;
}

int __tsan_atomic128_compare_exchange_strong(volatile wide *a, wide *expected, wide v, order o,
                                             order failed)
{
    (void)o;
    (void)failed;
    return do_compare(a, expected, &v, sizeof v, CODE);
}

wide __tsan_atomic128_compare_exchange_val(volatile wide *a, wide expected, wide v, order o,
                                           order failed)
{
    (void)o;
    (void)failed;
    do_compare(a, &expected, &v, sizeof v, CODE);
    return expected;
}

typedef wide make(wide old, wide value);

/* As libatomic does it: a load, and swaps until one takes place. */
static wide explore_update(volatile wide *memory, wide value, make *made, const void *pc)
{
    wide old, new;
    explore(FT_X_LOAD, memory, NULL, NULL, sizeof old, pc);
    for (;;) {
        load(memory, &old, sizeof old);
        new = made(old, value);
        if (explore(FT_X_SWAP, memory, &old, &new, sizeof old, pc)) break;
    }
    exchange(memory, &new, NULL, sizeof new);
    return old;
}

static wide updated(volatile wide *memory, wide value, make *made, const void *pc)
{
    wide old, new;
    if (is_explored()) return explore_update(memory, value, made, pc);
    ft_rt_about_atomic(FT_EVENT_RMW, pc, memory, sizeof value);
    ft_rt_thread *self = ft_rt_enter();
    load(memory, &old, sizeof old);
    do new = made(old, value);
    while (!compare(memory, &old, &new, sizeof value));
    if (!self) return old;
    log_lanes(FT_RAW_FORM_UPDATE, pc, memory, &old, &new, sizeof value);
    ft_rt_leave(self);
    return old;
}

#define UPDATE(name, expression)                                                                   \
    static wide make_##name(wide old, wide v)                                                      \
    {                                                                                              \
        return expression;                                                                         \
    }                                                                                              \
    wide __tsan_atomic128_fetch_##name(volatile wide *a, wide v, order o);                         \
    wide fetch_##name##_16(volatile wide *a, wide v, order o)                                      \
        ALSO(__atomic_fetch_##name##_16, __tsan_atomic128_fetch_##name);                           \
    wide name##_fetch_16(volatile wide *a, wide v, order o) NAMED(__atomic_##name##_fetch_16);     \
    wide __tsan_atomic128_fetch_##name(volatile wide *a, wide v, order o)                          \
    {                                                                                              \
        (void)o;                                                                                   \
        return updated(a, v, make_##name, CODE);                                                   \
    }                                                                                              \
    wide name##_fetch_16(volatile wide *a, wide v, order o)                                        \
    {                                                                                              \
        (void)o;                                                                                   \
        return make_##name(updated(a, v, make_##name, CODE), v);                                   \
    }
UPDATE(add, old + v)
UPDATE(sub, old - v)
UPDATE(and, old &v)
UPDATE(or, old | v)
UPDATE(xor, old ^ v)
UPDATE(nand, ~(old &v))
