/* Hooks of the compiler (-fsanitize=thread) before plain reads and writes.
 *
 * Three ways lead into the log. The short one is inline and takes the usual access of the thread
 * that has the baton. The middle one is for that thread too, when the record does not fit or a read
 * may belong to a copy. The long one enters the runtime like every other hook. */
#include "accesses/accesses.h"
#include "exploring/exploring.h"
#include "libc/contract.h"
#include "log/hot.h"
#include "log/log.h"
#include "log/needs.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "state/writes.h"
#include "trace/event.h"

#define VAST (UINT64_C(1) << 28)

/* Compiled code of the program that runs while its thread is in the runtime is a signal handler. */
static void count_ignored(void)
{
    if (ft_rt_self && ft_rt_self->inside) ft_rt_header->ignored++;
}

/* Touches all its pages. */
static void touch_pages(const void *memory, uint64_t seen)
{
    const unsigned char *bytes = memory;
    for (uint64_t i = 0; i < seen; i += FT_RAW_PAGE) ft_rt_touch(bytes + i);
    ft_rt_touch(bytes + seen - 1);
}

/* Touches all pages that the hook reads. A vast range (a negative length, say) is touched whole: it
 * reaches unmapped memory, so the program's access faults, and must do so before it has a record.
 */
static void touch_range(const void *memory, uint64_t size)
{
    uint64_t seen = size < VAST ? ft_raw_content(size) : size;
    if (seen) touch_pages(memory, seen);
}

/* May a read of that memory be the other half of a copy (ft_rt_held)? With the write that has its
 * record: */
static FT_RT_INLINE bool may_be_late_copy(const ft_rt_late *late, uintptr_t address, uint32_t size)
{
    if (late->size != size) return false;
    return address >= late->address + size || late->address >= address + size;
}

/* With the other kind of pending write: */
static bool may_be_copy(const ft_rt_thread *self, uintptr_t address, uint64_t size)
{
    const ft_rt_pending *p = &self->pending;
    return p->size == size && !self->held.size &&
           (address >= p->address + size || p->address >= address + size);
}

/* ---- the long way */

static void copy(unsigned char *to, const void *from, uint64_t size)
{
    const volatile unsigned char *bytes = from;
    for (uint64_t i = 0; i < size && i < FT_RT_COPY; i++) to[i] = bytes[i];
}

static bool is_small(uint64_t size)
{
    return size <= 8 && (size & (size - 1)) == 0;
}

static uint32_t site_of(ft_raw_form form, uint64_t size, const void *pc)
{
    unsigned size_code = is_small(size) ? (unsigned)__builtin_ctzll(size) : FT_RAW_RANGE;
    return ft_rt_site_of(ft_rt_key(pc, 8 * (unsigned)form + size_code));
}

static void end_hook(ft_rt_thread *self)
{
    assert(self->inside && self->state == FT_RT_RUNNING);
    if (self->left) self->left--;
    self->inside = false;
}

/* Keeps the read back: see ft_rt_held. The turn does not end before the next hook. */
static void hold(ft_rt_thread *self, const void *address, uint64_t size, const void *pc)
{
    ft_rt_held *h = &self->held;
    unsigned code = self->pending.size_code;
    assert(self->pending.size == size && !h->size);
    uint32_t site = site_of(FT_RAW_FORM_READ, size, pc);
    if (!site) return;
    *h = (ft_rt_held){.address = (uintptr_t)address, .size = size, .site = site, .size_code = code};
    if (code != FT_RAW_RANGE) {
        h->value = ft_rt_value((uintptr_t)address, code);
        h->before = ft_rt_value(self->pending.address, code);
    } else {
        copy(h->content, address, size);
        copy(h->content_before, (const void *)self->pending.address, self->pending.size);
    }
}

/* Takes the record of the late write back. */
static void retract(ft_rt_thread *self)
{
    assert(self->late.value && !self->late.held && !self->pending.size);
    uint64_t *at = self->late.value - 1, first = *at;
    assert((uintptr_t)at - ft_rt_out.origin >= ft_rt_header->mark); /* no reader has seen it */
    self->pending = (ft_rt_pending){.address = self->late.address,
                                    .size = UINT64_C(1) << self->late.size_code,
                                    .site = (uint32_t)(first >> FT_RAW_SITE_SHIFT),
                                    .size_code = self->late.size_code};
    for (; at + 2 < ft_rt_out.at; at++) *at = at[2];
    ft_rt_out.at = at;
    self->late = (ft_rt_late){0};
    ft_rt_hot = FT_RT_NO_THREAD;
}

ft_rt_pending ft_rt_take_pending(ft_rt_thread *self, uintptr_t at)
{
    ft_rt_pending taken = {.size = 0};
    const ft_rt_late *late = &self->late;
    if (late->value && at - late->address < UINT64_C(1) << late->size_code) retract(self);
    if (at - self->pending.address >= self->pending.size) return taken;
    taken = self->pending;
    self->pending.size = self->held.size = 0;
    return taken;
}

void ft_rt_put_pending(ft_rt_thread *self, ft_rt_pending taken)
{
    if (!taken.size) return;
    ft_rt_flush(self);
    assert(!self->pending.size && !self->late.value);
    self->pending = taken;
    ft_rt_hot = FT_RT_NO_THREAD;
}

/* The same after a write that has its record. The read gets a record after it if no new part of the
 * log is needed for that: going round the ring would complete the write before it has its value.
 * False: that has happened anyway, and the read is an ordinary one. */
static bool hold_late(ft_rt_thread *self, const void *memory, unsigned size_code, const void *pc)
{
    uintptr_t address = (uintptr_t)memory;
    uint64_t size = UINT64_C(1) << size_code;
    uint32_t site = site_of(FT_RAW_FORM_READ, size, pc);
    if (!self->late.value) return false;
    if (!site || !ft_rt_logging) return true;
    if (site >= FT_RT_NARROW || address & FT_RT_HIGH || ft_rt_out.at >= ft_rt_out.enough) {
        retract(self);
        hold(self, memory, size, pc);
        return true;
    }
    assert(!self->late.held);
    uint64_t *at = ft_rt_out.at;
    *self->late.value = ft_rt_written(&self->late);
    at[0] = (uint64_t)site << FT_RAW_SITE_SHIFT | (2 * address + 1);
    at[1] = ft_rt_value(address, size_code);
    ft_rt_out.at = at + 2;
    self->late.held = at;
    self->late.size = 0;
    return true;
}

static bool hold_any(ft_rt_thread *self, const void *address, uint64_t size, const void *pc)
{
    if (!self->late.value) {
        if (!may_be_copy(self, (uintptr_t)address, size)) return false;
        hold(self, address, size, pc);
        return true;
    }
    if (size > 8 || !may_be_late_copy(&self->late, (uintptr_t)address, (uint32_t)size))
        return false;
    return hold_late(self, address, self->late.size_code, pc);
}

static void log_read(ft_rt_thread *self, const void *address, uint64_t size, const void *pc)
{
    if (!ft_rt_may_emit(self)) return;
    uint32_t site = site_of(FT_RAW_FORM_READ, size, pc);
    uint64_t value = 0;
    if (!site) return;
    if (is_small(size)) value = ft_rt_value((uintptr_t)address, (unsigned)__builtin_ctzll(size));
    ft_rt_emit_memory(site, (uintptr_t)address, size, value, address);
}

static __attribute__((noinline)) void long_read(const void *address, uint64_t size, const void *pc)
{
    touch_range(address, size);
    if (FT_RT_UNLIKELY(ft_rt_exploring)) {
        ft_rt_x_access(address, size, false, pc);
        if (ft_rt_x_self) ft_rt_x_read(pc);
        return;
    }
    count_ignored();
    ft_rt_about_access(FT_EVENT_READ, pc, address, size);
    ft_rt_thread *self = ft_rt_enter_holding();
    if (!self) return;
    if (ft_rt_logging && hold_any(self, address, size, pc)) {
        end_hook(self);
        return;
    }
    ft_rt_go_on(self);
    if (ft_rt_replaying)
        ft_rt_replay_step(self, FT_EVENT_READ, ft_rt_site(pc));
    else
        log_read(self, address, size, pc);
    end_hook(self);
}

/* Writes its record, whose value comes later; false: it does not fit into such a record. */
static bool begin_late(ft_rt_thread *self, uintptr_t address, unsigned code, uint32_t site)
{
    uint64_t *at = ft_rt_out.at;
    assert(!self->late.value && !self->pending.size);
    if (site >= FT_RT_NARROW || address & FT_RT_HIGH || at >= ft_rt_out.enough) return false;
    if (ft_rt_polling) ft_rt_polls_meet_write(address);
    at[0] = (uint64_t)site << FT_RAW_SITE_SHIFT | (2 * address + 1);
    ft_rt_out.at = at + 2;
    self->late =
        (ft_rt_late){.value = at + 1, .address = address, .size = 1u << code, .size_code = code};
    return true;
}

/* If there is no such record, the next hook has to go the long way. */
static void begin_write(ft_rt_thread *self, uintptr_t address, uint64_t size, const void *pc)
{
    uint32_t site = site_of(FT_RAW_FORM_WRITE, size, pc);
    unsigned code = is_small(size) ? (unsigned)__builtin_ctzll(size) : FT_RAW_RANGE;
    if (!site || (code != FT_RAW_RANGE && begin_late(self, address, code, site))) return;
    self->pending =
        (ft_rt_pending){.address = address, .size = size, .site = site, .size_code = code};
    ft_rt_hot = FT_RT_NO_THREAD;
}

static __attribute__((noinline)) void long_write(void *address, uint64_t size, const void *pc)
{
    if (FT_RT_UNLIKELY(size >= VAST)) touch_range(address, size);
    if (FT_RT_UNLIKELY(ft_rt_exploring)) {
        ft_rt_x_access(address, size, true, pc);
        if (ft_rt_x_self) ft_rt_x_wrote((uintptr_t)address);
        return;
    }
    count_ignored();
    ft_rt_about_access(FT_EVENT_WRITE, pc, address, size);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    if (ft_rt_replaying)
        ft_rt_replay_step(self, FT_EVENT_WRITE, ft_rt_site(pc));
    else if (ft_rt_may_emit(self))
        begin_write(self, (uintptr_t)address, size, pc);
    end_hook(self);
}

/* ---- the middle way: the thread has the baton, but something is not usual */

static __attribute__((noinline)) void middle_read(ft_rt_thread *self, void *at, unsigned size_code,
                                                  const void *pc)
{
    if (!self->late.value || !hold_any(self, at, UINT64_C(1) << size_code, pc)) {
        ft_rt_end_late(self);
        assert(!self->pending.size);
        log_read(self, at, UINT64_C(1) << size_code, pc);
    }
    ft_rt_leave_call(self);
}

static __attribute__((noinline)) void middle_write(ft_rt_thread *self, void *at, unsigned size_code,
                                                   const void *pc)
{
    ft_rt_end_late(self);
    assert(!self->pending.size); /* a hot thread has none */
    if (ft_rt_may_emit(self)) begin_write(self, (uintptr_t)at, UINT64_C(1) << size_code, pc);
    ft_rt_leave_call(self);
}

/* ---- the short way. It calls nothing, so that it keeps no registers. */

/* Counts the access too. The turn does not end before the next hook: not between one and its
 * access. */
static FT_RT_INLINE ft_rt_thread *enter_turn(void)
{
    ft_rt_thread *self = ft_rt_enter_hot();
    if (FT_RT_UNLIKELY(!self)) return NULL;
    if (FT_RT_LIKELY(--self->left >= 0)) return self;
    self->left = 0;
    ft_rt_leave_call(self);
    return NULL;
}

static FT_RT_INLINE void plain_read(void *at, unsigned size_code, const void *pc)
{
    if (FT_RT_UNLIKELY(
            ft_rt_replaying)) { /* no thread is hot; a call in ft_rt_touch() costs more */
        long_read(at, 1u << size_code, pc);
        return;
    }
    ft_rt_touch_now(at);
    uintptr_t address = (uintptr_t)at;
    uint64_t key = ft_rt_key(pc, size_code), *to;
    ft_rt_thread *self = enter_turn();
    if (FT_RT_UNLIKELY(!self)) {
        long_read(at, 1u << size_code, pc);
        return;
    }
    const ft_rt_site_slot *site = ft_rt_slot(key);
    to = ft_rt_out.at;
    if (FT_RT_UNLIKELY(site->key != key || address & FT_RT_HIGH || to >= ft_rt_out.enough)) {
        middle_read(self, at, size_code, pc);
        return;
    }
    to[0] = site->word + 2 * address;
    to[1] = ft_rt_value(address, size_code);
    if (self->late.value) {
        if (may_be_late_copy(&self->late, address, 1u << size_code)) {
            *self->late.value = ft_rt_value(self->late.address, size_code);
            self->late.held = to;
            self->late.size = 0;
            ft_rt_out.at = to + 2;
            ft_rt_leave_call(self);
            return;
        }
        if (FT_RT_UNLIKELY(!ft_rt_settle_late(&self->late))) {
            middle_read(self, at, size_code, pc);
            return;
        }
    }
    ft_rt_out.at = to + 2;
    ft_rt_publish(to + 2);
    ft_rt_leave_call(self);
}

static FT_RT_INLINE void plain_write(void *at, unsigned size_code, const void *pc)
{
    uintptr_t address = (uintptr_t)at;
    uint64_t key = ft_rt_key(pc, 8 * FT_RAW_FORM_WRITE + size_code), *to;
    ft_rt_thread *self = enter_turn();
    if (FT_RT_UNLIKELY(!self)) {
        long_write(at, 1u << size_code, pc);
        return;
    }
    const ft_rt_site_slot *site = ft_rt_slot(key);
    ft_rt_late *late = &self->late;
    to = ft_rt_out.at;
    if (FT_RT_UNLIKELY(site->key != key || address & FT_RT_HIGH || to >= ft_rt_out.enough ||
                       (late->value && !ft_rt_settle_late(late)))) {
        middle_write(self, at, size_code, pc);
        return;
    }
    FT_CHECK(!late->value && !self->pending.size);
    to[0] = site->word + 2 * address;
    late->value = to + 1;
    late->address = address;
    late->size = 1u << size_code;
    late->size_code = size_code;
    ft_rt_out.at = to + 2;
    ft_rt_publish(to);
    ft_rt_leave_call(self);
}

#define HOOK(name, access, size_code)                                                              \
    void __tsan_##name(void *address);                                                             \
    void __tsan_##name(void *address)                                                              \
    {                                                                                              \
        access(address, size_code, __builtin_return_address(0));                                   \
    }
#define ACCESS(bytes, size_code)                                                                   \
    HOOK(read##bytes, plain_read, size_code)                                                       \
    HOOK(write##bytes, plain_write, size_code)                                                     \
    HOOK(unaligned_read##bytes, plain_read, size_code)                                             \
    HOOK(unaligned_write##bytes, plain_write, size_code)                                           \
    HOOK(volatile_read##bytes, plain_read, size_code)                                              \
    HOOK(volatile_write##bytes, plain_write, size_code)
ACCESS(1, 0)
ACCESS(2, 1)
ACCESS(4, 2)
ACCESS(8, 3)

#define WIDE(prefix)                                                                               \
    void __tsan_##prefix##read16(void *address);                                                   \
    void __tsan_##prefix##write16(void *address);                                                  \
    void __tsan_##prefix##read16(void *address)                                                    \
    {                                                                                              \
        long_read(address, 16, __builtin_return_address(0));                                       \
    }                                                                                              \
    void __tsan_##prefix##write16(void *address)                                                   \
    {                                                                                              \
        long_write(address, 16, __builtin_return_address(0));                                      \
    }
WIDE()
WIDE(unaligned_)
WIDE(volatile_)

void __tsan_read_range(void *address, size_t size);
void __tsan_write_range(void *address, size_t size);
void __tsan_vptr_read(void **pointer);
void __tsan_vptr_update(void **pointer, void *value);
void __tsan_init(void);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

void __tsan_read_range(void *address, size_t size)
{
    if (size) long_read(address, size, __builtin_return_address(0));
}

void __tsan_write_range(void *address, size_t size)
{
    if (size) long_write(address, size, __builtin_return_address(0));
}

void __tsan_vptr_read(void **pointer)
{
    plain_read(pointer, 3, __builtin_return_address(0));
}

/* A destructor writes the pointer that is already there, unless the object is of a derived class. A
 * concurrent caller of a virtual function is not affected by that. */
void __tsan_vptr_update(void **pointer, void *value)
{
    if (*pointer == value)
        plain_read(pointer, 3, __builtin_return_address(0));
    else
        plain_write(pointer, 3, __builtin_return_address(0));
}

/* The compiler may call these with any options; the runtime does not need them. */
void __tsan_ignore_thread_begin(void) {}
void __tsan_ignore_thread_end(void) {}

/* ---- ranges */

void ft_rt_read_range(const void *memory, size_t size, const void *pc)
{
    if (size) long_read(memory, size, pc);
}

void ft_rt_write_range(void *memory, size_t size, const void *pc)
{
    if (size) long_write(memory, size, pc);
}

/* ---- for heap.c */

static void log_blind_read(ft_rt_thread *self, const void *memory, uint64_t size, const void *pc)
{
    if (!ft_rt_may_emit(self)) return;
    uint32_t site = ft_rt_site_of(ft_rt_key(pc, 8 * FT_RAW_FORM_READ + FT_RAW_RANGE));
    if (site) ft_rt_emit_memory(site, (uintptr_t)memory, size, 0, NULL);
}

void ft_rt_read_blindly(const void *memory, size_t size, const void *pc)
{
    if (!size) return;
    if (FT_RT_UNLIKELY(ft_rt_exploring)) {
        ft_rt_x_access(memory, size, false, pc);
        return;
    }
    count_ignored();
    ft_rt_about_access(FT_EVENT_READ, pc, memory, size);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    if (ft_rt_replaying)
        ft_rt_replay_step(self, FT_EVENT_READ, ft_rt_site(pc));
    else
        log_blind_read(self, memory, size, pc);
    end_hook(self);
}

void ft_rt_read_outgoing(const void *memory, size_t size, const void *pc)
{
    enum { SHORT = 256 };
    if (size > SHORT)
        ft_rt_read_blindly(memory, size, pc);
    else
        ft_rt_read_range(memory, size, pc);
}

/* ---- for symbolic.c: no read is held, since each must be in the log at once */

void ft_rt_read(const void *address, uint64_t size, const void *pc)
{
    touch_range(address, size);
    if (FT_RT_UNLIKELY(ft_rt_exploring)) {
        ft_rt_x_access(address, size, false, pc);
        if (ft_rt_x_self) ft_rt_x_read(pc);
        return;
    }
    count_ignored();
    ft_rt_about_access(FT_EVENT_READ, pc, address, size);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    if (ft_rt_replaying)
        ft_rt_replay_step(self, FT_EVENT_READ, ft_rt_site(pc));
    else
        log_read(self, address, size, pc);
    end_hook(self);
}

void ft_rt_write(void *address, uint64_t size, const void *pc)
{
    long_write(address, size, pc);
}

/* ---- ranges that the program copies through the C library (linked with --wrap) */

void *__real_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);
void *__real_memset(void *to, int byte, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);
void *__wrap_memset(void *to, int byte, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);
void *__tsan_memset(void *to, int byte, size_t size);

static void *moved(void *(*move)(void *, const void *, size_t), void *to, const void *from,
                   size_t size, const void *pc)
{
    if (size) {
        long_read(from, size, pc);
        long_write(to, size, pc);
    }
    return move(to, from, size);
}

static void *filled(void *to, int byte, size_t size, const void *pc)
{
    if (size) long_write(to, size, pc);
    return __real_memset(to, byte, size);
}

void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    return moved(__real_memcpy, to, from, size, __builtin_return_address(0));
}
void *__wrap_memmove(void *to, const void *from, size_t size)
{
    return moved(__real_memmove, to, from, size, __builtin_return_address(0));
}
void *__wrap_memset(void *to, int byte, size_t size)
{
    return filled(to, byte, size, __builtin_return_address(0));
}
void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    return moved(__real_memcpy, to, from, size, __builtin_return_address(0));
}
void *__tsan_memmove(void *to, const void *from, size_t size)
{
    return moved(__real_memmove, to, from, size, __builtin_return_address(0));
}
void *__tsan_memset(void *to, int byte, size_t size)
{
    return filled(to, byte, size, __builtin_return_address(0));
}

void ft_rt_settle(uint32_t ranges)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    FT_REQUIRE(ranges);
    if (self->left < ranges) self->left = ranges;
    self->inside = false;
}
