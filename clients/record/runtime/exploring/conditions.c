/* Condition variables of an exploration: a wait is two actions, WAIT and WAKE. */
#include <errno.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

/* A mutex that was locked several times stays locked in the wait: the C library unlocks it once. In
 * its place stands one that nobody else uses. */
static uint32_t given_up(uint32_t mutex)
{
    uint32_t self = ft_rt_x_number();
    if (ft_rt_x_state(mutex)->count <= 1) return mutex;
    return ft_rt_x_model_object(FT_X_MUTEX, FT_RT_X_KEPT, self, 0);
}

int ft_rt_x_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, ft_rt_x_limit limit,
                 const void *pc)
{
    uint32_t c = ft_rt_x_object(FT_X_CONDITION, condition, 0);
    uint32_t m = ft_rt_x_object(FT_X_MUTEX, mutex, 0);
    if (ft_rt_x_state(m)->owner != ft_rt_x_number() + 1) return EPERM;
    ft_x_operation o = {.kind = FT_X_WAIT, .object = c, .other = given_up(m)};
    ft_rt_explore(&o, pc);
    o.kind = FT_X_WAKE;
    o.value = ft_rt_x_limit_bits(limit, pc);
    if (ft_rt_x_header->options.spurious) o.value |= FT_X_SPURIOUS;
    bool passed = ft_rt_explore(&o, pc).variant == FT_X_TIMED_OUT;
    ft_rt_x_limit_passed(limit, passed, pc);
    int health = o.other == m ? ft_rt_x_locked(m, pc) : 0;
    return health ? health : passed ? ETIMEDOUT : 0;
}

int ft_rt_x_notify(pthread_cond_t *condition, bool all, const void *pc)
{
    ft_x_operation o = {.kind = all ? FT_X_BROADCAST : FT_X_SIGNAL,
                        .object = ft_rt_x_object(FT_X_CONDITION, condition, 0)};
    ft_rt_explore(&o, pc);
    return 0;
}

int ft_rt_x_condition_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    int result = FT_REAL(pthread_cond_init)(condition, attributes);
    if (!result) ft_rt_x_new_object(FT_X_CONDITION, condition, 0);
    return result;
}
