/* The short way into the log: a plain access of 1, 2, 4 or 8 bytes, a call or a return, by the
 * thread that has the baton and the log's last TURN. It is inline and calls nothing.
 *
 * Only the thread that has the baton uses the functions below. */
#ifndef FT_RECORD_HOT_H
#define FT_RECORD_HOT_H

#include "libc/contract.h"
#include "log/log.h"
#include "state/thread.h"

#pragma GCC visibility push(hidden)

/* The thread that may go the short way: it has the baton and the log's last TURN, and accesses are
 * recorded. FT_RT_NO_THREAD: none may. */
extern ft_rt_thread *ft_rt_hot;

#define FT_RT_NO_THREAD ((ft_rt_thread *)1)
#define FT_RT_WIDE      (UINT64_C(1) << 63)
#define FT_RT_HIGH      (UINT64_MAX << FT_RAW_ADDRESS_BITS)

enum { FT_RT_SLOTS = 1 << 20, FT_RT_NARROW = 1 << (64 - FT_RAW_SITE_SHIFT), FT_RT_SPREAD = 3 };

/* A slot of the table of sites. The hash keeps the order of addresses, so that neighbouring code
 * shares cache lines. */
typedef struct ft_rt_site_slot {
    uint64_t key;  /* 0: free; with FT_RT_WIDE: its number is too large for an event's first word */
    uint64_t word; /* first word of an event there at address 0; with FT_RT_WIDE: the site */
} ft_rt_site_slot;

/* log.c */
extern struct ft_rt_out {
    uint64_t *at;           /* where the next record goes */
    uint64_t *enough;       /* below it there is room for every event but ranges */
    ft_rt_site_slot *slots; /* [FT_RT_SLOTS], by hash of the key */
    uintptr_t origin;       /* where the log would begin if it had no ring */
    unsigned char *start;   /* first byte after the header; a ring is mapped twice from there */
    unsigned char *ready;   /* records may be written up to here */
    unsigned char *made;    /* pages are populated up to here */
    unsigned char *end;     /* the file has disk space up to here */
    uint64_t *keys;         /* [FT_RAW_SITES] by site, from 1: return address and code */
    uint32_t n_sites;
    uint32_t thread; /* of the last TURN */
    int fd;
} ft_rt_out;

/* The site of a key, logged when it is new; 0: there are too many, and the recording has ended. */
uint32_t ft_rt_site_of(uint64_t key);
/* An event of up to eight bytes, a call or a return; `written`: of an update. */
void ft_rt_emit(uint32_t site, uint64_t address, uint64_t value, uint64_t written);
/* open: room for a record of that size, after the TURN that it writes if needed; NULL: the
 * recording has ended. close: the record ends at `at`, and is published unless a write's value is
 * to come. */
unsigned char *ft_rt_open_record(size_t bytes);
void ft_rt_close_record(unsigned char *at);
unsigned char *ft_rt_put(unsigned char *at, uint64_t value); /* a varint; returns its end */

/* events.c */
void ft_rt_sites_start(void);
/* True: the log's last TURN is the thread's. False: accesses are not recorded any more. */
bool ft_rt_may_emit(ft_rt_thread *self);
/* A range or an access. value: of sizes up to eight bytes; content: of a range, `address` itself or
 * a copy; NULL: unknown. */
void ft_rt_emit_memory(uint32_t site, uintptr_t address, uint64_t size, uint64_t value,
                       const void *content);
/* Reads the value of the late write and publishes its record. */
void ft_rt_end_late(ft_rt_thread *self);

#define FT_RT_INLINE              inline __attribute__((always_inline))
#define FT_RT_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define FT_RT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

static FT_RT_INLINE uint64_t ft_rt_key(const void *pc, unsigned code)
{
    return (uintptr_t)pc | (uint64_t)code << FT_RAW_CODE_SHIFT;
}

/* The first slot for a key: its site is there unless another key took the slot before. */
static FT_RT_INLINE const ft_rt_site_slot *ft_rt_slot(uint64_t key)
{
    return &ft_rt_out.slots[(key >> FT_RT_SPREAD) % FT_RT_SLOTS];
}

/* Records before `at` are complete: the reader may have them, even if the process dies now. */
static FT_RT_INLINE void ft_rt_publish(const uint64_t *at)
{
    FT_CHECK((uintptr_t)at - ft_rt_out.origin >= ft_rt_header->mark);
    FT_CHECK(at <= ft_rt_out.at);
    __atomic_store_n(&ft_rt_header->mark, (uintptr_t)at - ft_rt_out.origin, __ATOMIC_RELEASE);
}

/* The content of 1 << code bytes of memory, eight at most, signed. Only these bytes are loaded: a
 * wider load of memory that the program has just written waits until the write has left the
 * processor's store buffer (a third of the reads of `sort -O2`: tests/bench/README.md). */
static FT_RT_INLINE uint64_t ft_rt_value(uintptr_t address, unsigned code)
{
    if (code == 3) return (uint64_t) * (const volatile int64_t *)address;
    if (code == 2) return (uint64_t) * (const volatile int32_t *)address;
    if (code == 1) return (uint64_t) * (const volatile int16_t *)address;
    return (uint64_t) * (const volatile int8_t *)address;
}

/* The content of the late write's memory now. */
static FT_RT_INLINE uint64_t ft_rt_written(const ft_rt_late *late)
{
    return ft_rt_value(late->address, late->size_code);
}

/* Completes the late write's record. False: a read is held, and it came before the write. */
static FT_RT_INLINE bool ft_rt_settle_late(ft_rt_late *late)
{
    FT_CHECK(late->value < ft_rt_out.at);
    uint64_t now = ft_rt_written(late);
    if (FT_RT_UNLIKELY(late->held)) {
        if (now != *late->value) return false;
        late->held = NULL;
    }
    *late->value = now;
    late->value = NULL;
    return true;
}

/* Opens a hook on the short way; NULL: the long way is needed (ft_rt_enter_holding). */
static FT_RT_INLINE ft_rt_thread *ft_rt_enter_hot(void)
{
    ft_rt_thread *self = ft_rt_self;
    if (FT_RT_UNLIKELY(!self || self->inside)) return NULL;
    __atomic_store_n(&self->inside, true, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the watchdog has the other half: steal() */
    if (FT_RT_LIKELY(__atomic_load_n(&ft_rt_hot, __ATOMIC_ACQUIRE) == self)) return self;
    self->inside = false;
    return NULL;
}

static FT_RT_INLINE void ft_rt_leave_call(ft_rt_thread *self)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&self->inside, false, __ATOMIC_RELAXED);
}

#pragma GCC visibility pop

#endif
