/* Barriers of an exploration: each thread arrives, then leaves when its round is full. Arrivals are
 * independent of each other, but for those of calls whose result the program may look at: the
 * thread that comes last has another one. So a round is a thread's own n-th: that holds where the
 * threads that use the barrier are as many as its count. */
#include <stddef.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

enum { BARRIERS = 64 };

/* Rewound with the run. */
static struct barrier {
    uint32_t object, count, n_users;
    uint64_t users; /* bits of threads */
    uint32_t rounds[FT_X_THREADS], arrived;
} barriers[BARRIERS];
static uint32_t n_barriers;

static struct barrier *barrier_of(uint32_t object, const void *pc)
{
    for (uint32_t i = 0; i < n_barriers; i++)
        if (barriers[i].object == object) return &barriers[i];
    if (n_barriers == BARRIERS) ft_rt_x_refuse("more than 64 barriers", pc);
    barriers[n_barriers] = (struct barrier){.object = object, .count = 1};
    return &barriers[n_barriers++];
}

int ft_rt_x_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                         unsigned count, const void *pc)
{
    int result = FT_REAL(pthread_barrier_init)(barrier, attributes, count);
    if (result) return result;
    barrier_of(ft_rt_x_new_object(FT_X_BARRIER, barrier, 0), pc)->count = count;
    return 0;
}

static uint32_t arrive(struct barrier *b, const void *pc)
{
    uint32_t self = ft_rt_x_number();
    uint64_t bit = UINT64_C(1) << self;
    b->n_users += !(b->users & bit);
    b->users |= bit;
    if (b->n_users > b->count)
        ft_rt_x_refuse("pthread_barrier_wait by more threads than the barrier's count", pc);
    b->arrived++;
    return ++b->rounds[self];
}

int ft_rt_x_barrier_wait(pthread_barrier_t *barrier, const void *pc)
{
    uint32_t object = ft_rt_x_object(FT_X_BARRIER, barrier, 0);
    struct barrier *b = barrier_of(object, pc);
    ft_x_operation o = {.kind = FT_X_ARRIVE,
                        .object = object,
                        .value = b->count,
                        .value2 = ft_rt_x_may_use_result(pc)};
    ft_rt_explore(&o, pc);
    o.kind = FT_X_LEAVE;
    o.value2 = arrive(b, pc);
    bool last = b->arrived == (uint64_t)o.value2 * b->count;
    ft_rt_explore(&o, pc);
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
