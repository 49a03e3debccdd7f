/* The end of the program. A thread that ends it mostly comes there before threads that it has just
 * made have done anything. With some seeds the others go first, as far as they can. */
#include <time.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "scheduling/baton.h"
#include "scheduling/needs.h"
#include "state/thread.h"

enum { MS = 200 }; /* others that never end do not keep the program from its end */

static bool is_ready(void)
{
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++)
        if (ft_rt_baton.threads[i].state == FT_RT_READY) return true;
    return false;
}

/* With the other seeds it ends as soon as it comes there. */
static ft_rt_order order_of(uint64_t seed)
{
    static const ft_rt_order orders[] = {FT_RT_ANY_ORDER, FT_RT_ANY_ORDER, FT_RT_LATEST_FIRST,
                                         FT_RT_NO_ORDER};
    return seed ? orders[seed % (sizeof orders / sizeof *orders)] : FT_RT_NO_ORDER;
}

void ft_rt_go_last(ft_rt_thread *self)
{
    FT_REQUIRE(self == ft_rt_self && self->inside);
    struct timespec now;
    ft_rt_order order = order_of(ft_rt_header->seed);
    if (ft_rt_header->replay || ft_rt_header->feed || !ft_rt_logging || order == FT_RT_NO_ORDER)
        return;
    FT_REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
    ft_rt_baton.until = now;
    ft_rt_baton.until.tv_nsec += (long)MS * FT_RT_MS;
    ft_rt_baton.until.tv_sec += ft_rt_baton.until.tv_nsec / 1000000000;
    ft_rt_baton.until.tv_nsec %= 1000000000;
    ft_rt_baton.last = self;
    ft_rt_baton.order = order;
    if (is_ready()) ft_rt_yield(self);
    ft_rt_baton.last = NULL;
}
