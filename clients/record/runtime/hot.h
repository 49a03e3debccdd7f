/* The recorder's way through the usual: a plain access of a power of two up to eight bytes by the
 * thread that has the baton and whose records are the log's last. All of it is inline, so that an
 * access that comes as predicted (raw/predict.h) is cheap: 40 million of a counting loop at -O0
 * took 0.44 s of user time, hand-overs included, those of the compiler's detector 0.28 s in the
 * same minute; before there was prediction 5 s (tests/bench/record counter, without the maker).
 *
 * What follows here writes to the log only as the thread that has the baton. */
#ifndef FT_RECORD_HOT_H
#define FT_RECORD_HOT_H

#include "predict.h"
#include "runtime.h"

#define FT_RT_NO_THREAD ((ft_rt_thread *)1)

/* log.c */
extern struct ft_rt_out {
    unsigned char *start, *end; /* behind the header; of the space that is taken */
    unsigned char *enough;      /* before it there is room for every event but ranges */
    ft_raw_site *sites;         /* [FT_RAW_SITES], from 1 */
    uint64_t value;             /* of the last access */
    uint32_t n_sites, n_modules;
    uint32_t thread; /* of the last TURN */
    int fd;
} ft_rt_out;

/* The site of that code there, made known to the log; NULL: too many, the recording has ended. */
ft_raw_site *ft_rt_site_of(uint64_t key);
/* An event that was not predicted in all; `written`: of an update. */
void ft_rt_emit_other(ft_rt_thread *self, ft_raw_site *site, uint64_t address, uint64_t value,
                      uint64_t written);
void ft_rt_end_run(void); /* writes how many events came as predicted */
/* Room for a record behind the run of predicted events and the TURN, which it writes; NULL: the
 * recording has ended. Then what stands before `at` is the log's. */
unsigned char *ft_rt_open_record(size_t bytes);
void ft_rt_close_record(unsigned char *at);
unsigned char *ft_rt_put(unsigned char *at, uint64_t value); /* a varint; returns behind it */
unsigned char *ft_rt_put_bytes(unsigned char *at, const void *bytes, size_t n);

/* events.c */
void ft_rt_sites_start(void);
/* False: accesses are not recorded any more. True: the log is at the thread's records. */
bool ft_rt_may_emit(ft_rt_thread *self);
void ft_rt_emit_call(ft_rt_thread *self, uint32_t site, uint32_t *follows);
/* value: of a size up to eight bytes, content: of other sizes (`address` itself, or a copy). */
void ft_rt_emit_memory(ft_rt_thread *self, ft_raw_site *site, uintptr_t address, uint64_t size,
                       uint64_t value, const void *content);
/* frames.c: writes the calls and returns since the thread's last event. */
void ft_rt_follow_calls(ft_rt_thread *self);

#define FT_RT_INLINE              inline __attribute__((always_inline))
#define FT_RT_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define FT_RT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

static FT_RT_INLINE uint64_t ft_rt_key(const void *pc, unsigned code)
{
    return (uintptr_t)pc | (uint64_t)code << FT_RAW_CODE_SHIFT;
}

/* One more event as predicted. */
static FT_RT_INLINE void ft_rt_count_predicted(ft_rt_thread *self, uint32_t *follows)
{
    uint64_t mark = ft_rt_header->mark + 1;
    self->follows = follows;
    __atomic_store_n(&ft_rt_header->mark, mark, __ATOMIC_RELEASE);
    if (FT_RT_UNLIKELY(ft_raw_run(mark) >= FT_RAW_LONGEST_RUN)) ft_rt_end_run();
}

/* Does the access come as predicted behind `follows`, `last` being the value before it? */
static FT_RT_INLINE bool ft_rt_is_predicted(const ft_raw_site *site, const uint32_t *follows,
                                            uint64_t address, uint64_t value, uint64_t last)
{
    return &ft_rt_out.sites[*follows] == site && address == ft_raw_next_address(site) &&
           value == ft_raw_next_value(site, last);
}

static FT_RT_INLINE void ft_rt_emit(ft_rt_thread *self, ft_raw_site *site, uint64_t address,
                                    uint64_t value)
{
    if (!ft_rt_is_predicted(site, self->follows, address, value, ft_rt_out.value)) {
        ft_rt_emit_other(self, site, address, value,
                         value + site->change); /* an update's is as before */
        return;
    }
    site->address = address;
    ft_rt_out.value = site->value = value;
    ft_rt_count_predicted(self, &site->next);
}

/* The site with that key, which is probably the one that followed last time. */
static FT_RT_INLINE ft_raw_site *ft_rt_site_behind(const uint32_t *follows, uint64_t key)
{
    ft_raw_site *expected = &ft_rt_out.sites[*follows];
    return FT_RT_LIKELY(expected->key == key) ? expected : ft_rt_site_of(key);
}

/* What memory of 1 << code bytes holds, signed. */
static FT_RT_INLINE uint64_t ft_rt_value(uintptr_t address, unsigned code)
{
    switch (code) {
    case 0:
        return (uint64_t) * (const volatile int8_t *)address;
    case 1:
        return (uint64_t) * (const volatile int16_t *)address;
    case 2:
        return (uint64_t) * (const volatile int32_t *)address;
    default:
        return (uint64_t) * (const volatile int64_t *)address;
    }
}

/* Opens a hook on the short way, as ft_rt_enter_holding does on the long one; NULL: go that. */
static FT_RT_INLINE ft_rt_thread *ft_rt_enter_hot(void)
{
    ft_rt_thread *self = ft_rt_self;
    if (FT_RT_UNLIKELY(!self || self->inside)) return NULL;
    __atomic_store_n(&self->inside, true, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the watchdog has the other half: steal() */
    if (FT_RT_LIKELY(__atomic_load_n(&ft_rt_hot, __ATOMIC_ACQUIRE) == self && self->left))
        return self;
    self->inside = false;
    return NULL;
}

/* Not ft_rt_leave: the turn must not end between the hook and the access; the next hook ends it. */
static FT_RT_INLINE void ft_rt_leave_hot(ft_rt_thread *self)
{
    self->left--;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&self->inside, false, __ATOMIC_RELAXED);
}

#endif
