/* The compiler's hooks before plain reads and writes (-fsanitize=thread). */
#include "hot.h"
#include "runtime.h"
#include "trace/event.h"

/* Compiled code of the program that runs while its thread is in the runtime is a signal handler. */
static void count_ignored(void)
{
    if (ft_rt_self && ft_rt_self->inside) ft_rt_header->ignored++;
}

static FT_RT_INLINE bool overlap(const ft_rt_pending *write, uintptr_t address, uint64_t size)
{
    return address < write->address + write->size && write->address < address + size;
}

/* May the pending write and a read of that be the two halves of one copy (ft_rt_held)? */
static FT_RT_INLINE bool may_be_copy(const ft_rt_thread *self, uintptr_t address, uint64_t size)
{
    return self->pending.size == size && !self->held.size && !self->moved &&
           !overlap(&self->pending, address, size);
}

/* ---- the long way */

static void copy(unsigned char *to, const void *from, uint64_t size)
{
    const volatile unsigned char *bytes = from;
    for (uint64_t i = 0; i < size && i < FT_RAW_CONTENT; i++) to[i] = bytes[i];
}

static bool is_small(uint64_t size)
{
    return size <= 8 && (size & (size - 1)) == 0;
}

static ft_raw_site *site_of(ft_raw_form form, uint64_t size, const void *pc)
{
    unsigned size_code = is_small(size) ? (unsigned)__builtin_ctzll(size) : FT_RAW_RANGE;
    return ft_rt_site_of(ft_rt_key(pc, 8 * (unsigned)form + size_code));
}

/* Keeps the read back: see ft_rt_held. The turn does not end before the next hook. */
static void hold(ft_rt_thread *self, const void *address, uint64_t size, ft_raw_site *site)
{
    ft_rt_held *h = &self->held;
    h->address = (uintptr_t)address;
    h->size = size;
    h->site = site;
    if (is_small(size)) {
        h->value = ft_rt_value((uintptr_t)address, ft_raw_code(site) % 8);
        h->before = ft_rt_value(self->pending.address, ft_raw_code(site) % 8);
    } else {
        copy(h->content, address, size);
        copy(h->content_before, (const void *)self->pending.address, self->pending.size);
    }
}

static void end_hook(ft_rt_thread *self)
{
    if (self->left) self->left--;
    self->inside = false;
}

static void log_read(ft_rt_thread *self, const void *address, uint64_t size, const void *pc)
{
    if (!ft_rt_may_emit(self)) return;
    if (self->moved) ft_rt_follow_calls(self);
    ft_raw_site *site = site_of(FT_RAW_FORM_READ, size, pc);
    uint64_t value = 0;
    if (!site) return;
    if (is_small(size)) value = ft_rt_value((uintptr_t)address, ft_raw_code(site) % 8);
    ft_rt_emit_memory(self, site, (uintptr_t)address, size, value, address);
}

static __attribute__((noinline)) void long_read(const void *address, uint64_t size, const void *pc)
{
    count_ignored();
    ft_rt_about(FT_EVENT_READ, pc);
    ft_rt_thread *self = ft_rt_enter_holding();
    if (!self) return;
    if (may_be_copy(self, (uintptr_t)address, size)) {
        ft_raw_site *site = site_of(FT_RAW_FORM_READ, size, pc);
        if (site) hold(self, address, size, site);
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

static __attribute__((noinline)) void long_write(void *address, uint64_t size, const void *pc)
{
    count_ignored();
    ft_rt_about(FT_EVENT_WRITE, pc);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    if (ft_rt_replaying) {
        ft_rt_replay_step(self, FT_EVENT_WRITE, ft_rt_site(pc));
    } else if (ft_rt_may_emit(self)) {
        if (self->moved) ft_rt_follow_calls(self);
        ft_raw_site *site = site_of(FT_RAW_FORM_WRITE, size, pc);
        if (site)
            self->pending = (ft_rt_pending){.address = (uintptr_t)address,
                                            .size = size,
                                            .site = site,
                                            .size_code = ft_raw_code(site) % 8};
    }
    end_hook(self);
}

/* ---- the middle way: the thread has the baton, what it does is usual, something is not as
 * predicted */

/* Writes what is pending and held, of sizes up to eight bytes; else ft_rt_flush. */
static FT_RT_INLINE void flush_hot(ft_rt_thread *self)
{
    ft_raw_site *site = self->pending.site;
    uintptr_t address = self->pending.address;
    unsigned size_code = self->pending.size_code;
    if (FT_RT_UNLIKELY(size_code == FT_RAW_RANGE)) {
        ft_rt_flush(self);
        return;
    }
    uint64_t value = ft_rt_value(address, size_code);
    if (!self->held.size) {
        self->pending.size = 0;
        ft_rt_emit(self, site, address, value);
    } else if (value == self->held.before) {
        self->pending.size = 0;
        self->held.size = 0;
        ft_rt_emit(self, site, address, value);
        ft_rt_emit(self, self->held.site, self->held.address, self->held.value);
    } else {
        ft_rt_flush(self);
    }
}

static __attribute__((noinline)) void middle_read(ft_rt_thread *self, uintptr_t address,
                                                  unsigned size_code, const void *pc)
{
    uint64_t size = 1u << size_code, key = ft_rt_key(pc, size_code);
    uint64_t value = ft_rt_value(address, size_code);
    if (self->pending.size) {
        if (may_be_copy(self, address, size)) {
            ft_raw_site *site = ft_rt_site_behind(&self->pending.site->next, key);
            ft_rt_held *h = &self->held;
            h->address = address;
            h->size = site ? size : 0;
            h->site = site;
            h->value = value;
            h->before = ft_rt_value(self->pending.address, size_code);
            ft_rt_leave_hot(self);
            return;
        }
        flush_hot(self);
    }
    if (FT_RT_UNLIKELY(self->moved)) ft_rt_follow_calls(self);
    ft_raw_site *site = ft_rt_site_behind(self->follows, key);
    if (site) ft_rt_emit(self, site, address, value);
    ft_rt_leave_hot(self);
}

static __attribute__((noinline)) void middle_write(ft_rt_thread *self, uintptr_t address,
                                                   unsigned size_code, const void *pc)
{
    if (self->pending.size) flush_hot(self);
    if (FT_RT_UNLIKELY(self->moved)) ft_rt_follow_calls(self);
    uint64_t key = ft_rt_key(pc, 8 * FT_RAW_FORM_WRITE + size_code);
    ft_raw_site *site = ft_rt_site_behind(self->follows, key);
    self->pending.address = address;
    self->pending.site = site;
    self->pending.size = site ? 1u << size_code : 0;
    self->pending.size_code = size_code;
    ft_rt_leave_hot(self);
}

/* ---- the short way: everything comes as predicted, or nothing is done here. It calls nothing, so
 * that it keeps no registers. */

/* Where the prediction stands: behind what was pending and held, if that came as predicted. */
typedef struct standing {
    uint32_t *follows;
    uint64_t last;    /* value before */
    uint32_t n;       /* predicted so far */
    uint64_t written; /* by the pending write */
} standing;

static FT_RT_INLINE bool peek(const ft_rt_thread *self, standing *at)
{
    const ft_rt_pending *p = &self->pending;
    const ft_rt_held *h = &self->held;
    *at = (standing){.follows = self->follows, .last = ft_rt_out.value};
    if (!p->size) return true;
    if (p->size_code == FT_RAW_RANGE) return false;
    at->last = at->written = ft_rt_value(p->address, p->size_code);
    if (!ft_rt_is_predicted(p->site, at->follows, p->address, at->written, ft_rt_out.value))
        return false;
    at->follows = &p->site->next;
    at->n = 1;
    if (!h->size) return true;
    if (at->written != h->before ||
        !ft_rt_is_predicted(h->site, at->follows, h->address, h->value, at->last))
        return false;
    at->follows = &h->site->next;
    at->last = h->value;
    at->n = 2;
    return true;
}

static FT_RT_INLINE void take(ft_rt_thread *self, const standing *at)
{
    if (!at->n) return;
    self->pending.site->address = self->pending.address;
    self->pending.site->value = at->written;
    self->pending.size = 0;
    if (at->n == 1) return;
    self->held.site->address = self->held.address;
    self->held.site->value = self->held.value;
    self->held.size = 0;
}

static FT_RT_INLINE bool count(uint32_t n)
{
    uint64_t mark = ft_rt_header->mark + n;
    __atomic_store_n(&ft_rt_header->mark, mark, __ATOMIC_RELEASE);
    return ft_raw_run(mark) < FT_RAW_LONGEST_RUN;
}

static FT_RT_INLINE bool hold_hot(ft_rt_thread *self, uintptr_t address, unsigned size_code,
                                  const void *pc)
{
    ft_raw_site *site = &ft_rt_out.sites[self->pending.site->next];
    ft_rt_held *h = &self->held;
    if (site->key != ft_rt_key(pc, size_code)) return false;
    h->address = address;
    h->size = 1u << size_code;
    h->site = site;
    h->value = ft_rt_value(address, size_code);
    h->before = ft_rt_value(self->pending.address, size_code);
    ft_rt_leave_hot(self);
    return true;
}

static FT_RT_INLINE void plain_read(void *at, unsigned size_code, const void *pc)
{
    uintptr_t address = (uintptr_t)at;
    standing front;
    ft_rt_thread *self = ft_rt_enter_hot();
    if (FT_RT_UNLIKELY(!self)) {
        long_read(at, 1u << size_code, pc);
        return;
    }
    if (self->pending.size && may_be_copy(self, address, 1u << size_code)) {
        if (FT_RT_LIKELY(hold_hot(self, address, size_code, pc))) return;
        middle_read(self, address, size_code, pc);
        return;
    }
    if (FT_RT_UNLIKELY(self->moved || !peek(self, &front))) {
        middle_read(self, address, size_code, pc);
        return;
    }
    uint64_t value = ft_rt_value(address, size_code);
    ft_raw_site *site = &ft_rt_out.sites[*front.follows];
    bool predicted = site->key == ft_rt_key(pc, size_code) &&
                     address == ft_raw_next_address(site) &&
                     value == ft_raw_next_value(site, front.last);
    if (FT_RT_UNLIKELY(!predicted)) {
        middle_read(self, address, size_code, pc);
        return;
    }
    take(self, &front);
    site->address = address;
    ft_rt_out.value = site->value = value;
    self->follows = &site->next;
    bool more = count(front.n + 1);
    ft_rt_leave_hot(self);
    if (FT_RT_UNLIKELY(!more)) ft_rt_end_run();
}

static FT_RT_INLINE void plain_write(void *at, unsigned size_code, const void *pc)
{
    uintptr_t address = (uintptr_t)at;
    standing front;
    ft_rt_thread *self = ft_rt_enter_hot();
    if (FT_RT_UNLIKELY(!self)) {
        long_write(at, 1u << size_code, pc);
        return;
    }
    if (FT_RT_UNLIKELY(self->moved || !peek(self, &front))) {
        middle_write(self, address, size_code, pc);
        return;
    }
    ft_raw_site *site = &ft_rt_out.sites[*front.follows];
    if (FT_RT_UNLIKELY(site->key != ft_rt_key(pc, 8 * FT_RAW_FORM_WRITE + size_code))) {
        middle_write(self, address, size_code, pc);
        return;
    }
    if (front.n) {
        take(self, &front);
        ft_rt_out.value = front.last;
        self->follows = front.follows;
    }
    self->pending.address = address;
    self->pending.site = site;
    self->pending.size = 1u << size_code;
    self->pending.size_code = size_code;
    bool more = count(front.n);
    ft_rt_leave_hot(self);
    if (FT_RT_UNLIKELY(!more)) ft_rt_end_run();
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

void __tsan_vptr_update(void **pointer, void *value)
{
    (void)value;
    plain_write(pointer, 3, __builtin_return_address(0));
}

/* The compiler may call these whatever its options; what they tell is not needed. */
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

/* ---- for symbolic.c: no copies by halves, and what is read must be in the log at once */

void ft_rt_read(const void *address, uint64_t size, const void *pc)
{
    count_ignored();
    ft_rt_about(FT_EVENT_READ, pc);
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
