/* What the program says itself: assertions, transactions. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"
#include "trace/event.h"

void foretell_assert_failed(const char *expression, const char *file, unsigned line,
                            const char *function) __attribute__((noreturn));
void foretell_atomic_begin(void);
void foretell_atomic_end(void);
extern void __assert_fail(const char *expression, const char *file, unsigned line,
                          const char *function) __attribute__((noreturn));

void foretell_assert_failed(const char *expression, const char *file, unsigned line,
                            const char *function)
{
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

void foretell_atomic_end(void)
{
    mark(FT_EVENT_TX_END, __builtin_return_address(0));
}
