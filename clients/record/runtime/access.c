/* The compiler's hooks before plain reads and writes (-fsanitize=thread). */
#include "runtime.h"

/* Compiled code of the program that runs while its thread is in the runtime is a signal handler. */
static ft_rt_thread *enter(void)
{
    if (ft_rt_self && ft_rt_self->inside) ft_rt_header->ignored++;
    return ft_rt_enter();
}

static void plain_read(const void *address, uint32_t size, const void *pc)
{
    ft_rt_thread *self = enter();
    if (!self) return;
    uint32_t site = ft_rt_site(pc);
    int64_t value;
    switch (size) {
    case 1:
        value = *(const volatile int8_t *)address;
        break;
    case 2:
        value = *(const volatile int16_t *)address;
        break;
    case 4:
        value = *(const volatile int32_t *)address;
        break;
    default:
        value = *(const volatile int64_t *)address;
        break;
    }
    ft_rt_log_access(FT_RAW_FORM_READ, site, (uintptr_t)address, size, value, 0);
    ft_rt_leave(self);
}

/* Not ft_rt_leave: the turn must not end between the hook and the write; the next hook ends it. */
static void plain_write(void *address, uint64_t size, const void *pc)
{
    ft_rt_thread *self = enter();
    if (!self) return;
    self->pending = (ft_rt_pending){
        .address = (uintptr_t)address, .site = ft_rt_site(pc), .size = (uint32_t)size};
    if (self->left) self->left--;
    self->inside = false;
}

/* gcc copies a structure as: write hook, read hook, copy. So a read of a range keeps the write of a
 * range that came just before pending. */
static void range_read(const void *address, uint64_t size, const void *pc)
{
    ft_rt_thread *self = ft_rt_self;
    ft_rt_pending kept = {0};
    if (self && !self->inside && self->pending.size > 8) {
        kept = self->pending;
        self->pending.size = 0;
    }
    self = enter();
    if (!self) return;
    ft_rt_log_range(FT_RAW_FORM_READ, ft_rt_site(pc), (uintptr_t)address, size);
    if (kept.size) {
        self->pending = kept;
        self->inside = false;
        return;
    }
    ft_rt_leave(self);
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
        range_read(address, 16, __builtin_return_address(0));                                      \
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
    if (size) range_read(address, size, __builtin_return_address(0));
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
        range_read(from, size, pc);
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
