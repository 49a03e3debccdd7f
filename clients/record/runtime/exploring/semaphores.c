/* Semaphores of an exploration. */
#include <errno.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

static uint32_t object_of(sem_t *semaphore)
{
    int value = 0;
    FT_REAL(sem_getvalue)(semaphore, &value);
    return ft_rt_x_object(FT_X_SEMAPHORE, semaphore, value);
}

static int fail_with(int code)
{
    errno = code;
    return -1;
}

int ft_rt_x_take(sem_t *semaphore, bool try, ft_rt_x_limit limit, const void *pc)
{
    bool attempt = try || ft_rt_x_limit_is_early(limit, pc);
    ft_x_operation o = {.kind = attempt ? FT_X_TRY_TAKE : FT_X_TAKE,
                        .object = object_of(semaphore),
                        .value = try ? 0 : ft_rt_x_limit_bits(limit, pc)};
    ft_x_choice choice = ft_rt_explore(&o, pc);
    bool done = attempt ? choice.outcome != 0 : choice.variant != FT_X_TIMED_OUT;
    if (!try) ft_rt_x_limit_passed(limit, !done, pc);
    return done ? 0 : fail_with(try ? EAGAIN : ETIMEDOUT);
}

int ft_rt_x_post(sem_t *semaphore, const void *pc)
{
    ft_x_operation o = {.kind = FT_X_POST, .object = object_of(semaphore)};
    ft_rt_explore(&o, pc);
    return 0;
}

int ft_rt_x_count(sem_t *semaphore, int *value, const void *pc)
{
    ft_x_operation o = {.kind = FT_X_COUNT, .object = object_of(semaphore)};
    ft_rt_explore(&o, pc);
    *value = (int)ft_rt_x_state(o.object)->value;
    return 0;
}

int ft_rt_x_semaphore_init(sem_t *semaphore, int shared, unsigned value)
{
    int result = FT_REAL(sem_init)(semaphore, shared, value);
    if (!result) ft_rt_x_new_object(FT_X_SEMAPHORE, semaphore, value);
    return result;
}
