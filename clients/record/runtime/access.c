/* The compiler's hooks before plain reads and writes (-fsanitize=thread). */
#include "runtime.h"
#include "trace/event.h"

/* Compiled code of the program that runs while its thread is in the runtime is a signal handler. */
static void count_ignored(void)
{
    if (ft_rt_self && ft_rt_self->inside) ft_rt_header->ignored++;
}

static bool overlap(const ft_rt_pending *write, uintptr_t address, uint64_t size)
{
    return address < write->address + write->size && write->address < address + size;
}

static void copy(unsigned char *to, const void *from, uint64_t size)
{
    const volatile unsigned char *bytes = from;
    for (uint64_t i = 0; i < size && i < FT_RAW_CONTENT; i++) to[i] = bytes[i];
}

/* Keeps the read back: see ft_rt_held. The turn does not end before the next hook. */
static void hold(ft_rt_thread *self, const void *address, uint64_t size, uint32_t site)
{
    ft_rt_held *h = &self->held;
    h->address = (uintptr_t)address;
    h->size = size;
    h->site = site;
    copy(h->content, address, size);
    copy(h->before, (const void *)self->pending.address, self->pending.size);
}

/* Not ft_rt_leave: the turn must not end between the hook and the access; the next hook ends it. */
static void end_hook(ft_rt_thread *self)
{
    if (self->left) self->left--;
    self->inside = false;
}

static void plain_read(const void *address, uint64_t size, const void *pc)
{
    count_ignored();
    ft_rt_about(FT_EVENT_READ, pc);
    ft_rt_thread *self = ft_rt_enter_holding();
    if (!self) return;
    uint32_t site = ft_rt_site(pc);
    bool open = self->pending.size && !self->held.size;
    if (open && !overlap(&self->pending, (uintptr_t)address, size)) {
        hold(self, address, size, site);
        end_hook(self);
        return;
    }
    ft_rt_go_on(self);
    ft_rt_log_memory(FT_RAW_FORM_READ, site, (uintptr_t)address, size, address);
    end_hook(self);
}

static void plain_write(void *address, uint64_t size, const void *pc)
{
    count_ignored();
    ft_rt_about(FT_EVENT_WRITE, pc);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    uint32_t site = ft_rt_site(pc);
    if (ft_rt_replaying)
        ft_rt_replay_step(self, FT_EVENT_WRITE, site);
    else
        self->pending = (ft_rt_pending){(uintptr_t)address, site, (uint32_t)size};
    end_hook(self);
}

#define ACCESS(name, size)                                                                         \
    void __tsan_read##name(void *address);                                                         \
    void __tsan_write##name(void *address);                                                        \
    void __tsan_unaligned_read##name(void *address);                                               \
    void __tsan_unaligned_write##name(void *address);                                              \
    void __tsan_volatile_read##name(void *address);                                                \
    void __tsan_volatile_write##name(void *address);                                               \
    void __tsan_read##name(void *address)                                                          \
    {                                                                                              \
        plain_read(address, size, __builtin_return_address(0));                                    \
    }                                                                                              \
    void __tsan_write##name(void *address)                                                         \
    {                                                                                              \
        plain_write(address, size, __builtin_return_address(0));                                   \
    }                                                                                              \
    void __tsan_unaligned_read##name(void *address)                                                \
    {                                                                                              \
        plain_read(address, size, __builtin_return_address(0));                                    \
    }                                                                                              \
    void __tsan_unaligned_write##name(void *address)                                               \
    {                                                                                              \
        plain_write(address, size, __builtin_return_address(0));                                   \
    }                                                                                              \
    void __tsan_volatile_read##name(void *address)                                                 \
    {                                                                                              \
        plain_read(address, size, __builtin_return_address(0));                                    \
    }                                                                                              \
    void __tsan_volatile_write##name(void *address)                                                \
    {                                                                                              \
        plain_write(address, size, __builtin_return_address(0));                                   \
    }
ACCESS(1, 1)
ACCESS(2, 2)
ACCESS(4, 4)
ACCESS(8, 8)

#define WIDE(prefix)                                                                               \
    void __tsan_##prefix##read16(void *address);                                                   \
    void __tsan_##prefix##write16(void *address);                                                  \
    void __tsan_##prefix##read16(void *address)                                                    \
    {                                                                                              \
        plain_read(address, 16, __builtin_return_address(0));                                      \
    }                                                                                              \
    void __tsan_##prefix##write16(void *address)                                                   \
    {                                                                                              \
        plain_write(address, 16, __builtin_return_address(0));                                     \
    }
WIDE()
WIDE(unaligned_)
WIDE(volatile_)

void __tsan_read_range(void *address, size_t size);
void __tsan_write_range(void *address, size_t size);
void __tsan_vptr_read(void **pointer);
void __tsan_vptr_update(void **pointer, void *value);
void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

void __tsan_read_range(void *address, size_t size)
{
    if (size) plain_read(address, size, __builtin_return_address(0));
}

void __tsan_write_range(void *address, size_t size)
{
    if (size) plain_write(address, size, __builtin_return_address(0));
}

void __tsan_vptr_read(void **pointer)
{
    plain_read(pointer, sizeof *pointer, __builtin_return_address(0));
}

void __tsan_vptr_update(void **pointer, void *value)
{
    (void)value;
    plain_write(pointer, sizeof *pointer, __builtin_return_address(0));
}

/* The compiler may call these whatever its options; what they tell is not needed. */
void __tsan_func_entry(void *caller)
{
    (void)caller;
}
void __tsan_func_exit(void) {}
void __tsan_ignore_thread_begin(void) {}
void __tsan_ignore_thread_end(void) {}

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
        plain_read(from, size, pc);
        plain_write(to, size, pc);
    }
    return move(to, from, size);
}

static void *filled(void *to, int byte, size_t size, const void *pc)
{
    if (size) plain_write(to, size, pc);
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
