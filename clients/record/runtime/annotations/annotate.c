/* Annotations in the program's source (foretell/annotate.h): assertions, transactions, orders
 * between threads, and accesses to ignore. */
#include <stdlib.h>
#include <string.h>

#include "annotations/annotations.h"
#include "exploring/exploring.h"
#include "log/log.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "trace/event.h"

void foretell_assert_failed(const char *expression, const char *file, unsigned line,
                            const char *function) __attribute__((noreturn));
void foretell_atomic_begin(void);
void foretell_atomic_end(void);
void foretell_happens_before(const volatile void *what);
void foretell_happens_after(const volatile void *what);
void foretell_ignore_begin(void);
void foretell_ignore_end(void);
void foretell_benign(const volatile void *memory, unsigned long size);
#define ANNOTATED (UINT64_C(1) << 63)

extern void __assert_fail(const char *expression, const char *file, unsigned line,
                          const char *function) __attribute__((noreturn));

void foretell_assert_failed(const char *expression, const char *file, unsigned line,
                            const char *function)
{
    if (ft_rt_exploring && ft_rt_x_self) ft_rt_x_assert(expression, __builtin_return_address(0));
    ft_rt_about(FT_EVENT_ASSERT, __builtin_return_address(0));
    ft_rt_thread *self = ft_rt_enter();
    if (self) {
        ft_rt_log_bytes(FT_RAW_FAILED, FT_RT_SITE, expression, strlen(expression));
        ft_rt_log_end(FT_RAW_END_ASSERT);
        ft_rt_leave(self);
    }
    __assert_fail(expression, file, line, function);
}

static void mark(uint64_t kind, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    uint64_t site = ft_rt_site(pc);
    FT_RT_LOG(MARK, kind, site);
    ft_rt_leave(self);
}

void foretell_atomic_begin(void)
{
    mark(FT_EVENT_TX_BEGIN, __builtin_return_address(0));
}

/* Addresses of the program and numbers of descriptors (inputs/channels.c) stay apart. */
void ft_rt_meet(const volatile void *what, uint64_t direction, const void *pc)
{
    if (ft_rt_exploring && ft_rt_x_self) ft_rt_x_edge(what, direction == FT_RAW_CHANNEL_OUT);
    ft_rt_about(FT_RT_ANY, pc);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    uint64_t site = ft_rt_site(pc);
    FT_RT_LOG(CHANNEL, direction, ANNOTATED | (uint64_t)(uintptr_t)what, site);
    ft_rt_leave(self);
}

void foretell_happens_before(const volatile void *what)
{
    ft_rt_meet(what, FT_RAW_CHANNEL_OUT, __builtin_return_address(0));
}

void foretell_happens_after(const volatile void *what)
{
    ft_rt_meet(what, FT_RAW_CHANNEL_IN, __builtin_return_address(0));
}

static void ignore(bool on)
{
    if (ft_rt_exploring && ft_rt_x_self) ft_rt_x_ignore(on);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    self->ignores += on ? 1 : self->ignores ? UINT32_MAX : 0;
    FT_RT_LOG(IGNORE, self->ignores > 0);
    ft_rt_leave(self);
}

void foretell_ignore_begin(void)
{
    ignore(true);
}

void foretell_ignore_end(void)
{
    ignore(false);
}

void foretell_benign(const volatile void *memory, unsigned long size)
{
    if (ft_rt_exploring && ft_rt_x_self) ft_rt_x_benign(memory, size);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    FT_RT_LOG(BENIGN, (uintptr_t)memory, size);
    ft_rt_leave(self);
}

void foretell_atomic_end(void)
{
    mark(FT_EVENT_TX_END, __builtin_return_address(0));
}
