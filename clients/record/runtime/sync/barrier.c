/* Barriers; the `kind` of their objects is the number of threads in a round. */
#include "constrained/constrained.h"
#include "exploring/exploring.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/scheduling.h"
#include "state/object.h"
#include "state/thread.h"
#include "sync/sync.h"
#include "trace/event.h"

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                         unsigned count)
{
    FT_RT_EXPLORED(ft_rt_x_barrier_init(barrier, attributes, count, __builtin_return_address(0)));
    FT_RT_CONSTRAINED(INIT, barrier, FT_REAL(pthread_barrier_init)(barrier, attributes, count));
    ft_rt_about_followed(barrier, __builtin_return_address(0));
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(pthread_barrier_init)(barrier, attributes, count);
    if (!self) return result;
    if (!result) FT_RT_BEGINS(barrier, ft_rt_object_at(FT_RAW_CLASS_BARRIER, barrier, count));
    if (!result) ft_rt_object_at(FT_RAW_CLASS_BARRIER, barrier, count);
    return FT_RT_END(result);
}

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    FT_RT_CONSTRAINED(DESTROY, barrier, FT_REAL(pthread_barrier_destroy)(barrier));
    FT_RT_HOOK(pthread_barrier_destroy, barrier);
    FT_RT_ENDS(barrier, ft_rt_object_at(FT_RAW_CLASS_BARRIER, barrier, 1));
    return FT_RT_END(FT_REAL(pthread_barrier_destroy)(barrier));
}

static int arrive(ft_rt_thread *self, ft_rt_object *b, uint32_t site)
{
    uint32_t round = b->generation;
    assert(b->count < b->kind);
    FT_RT_SYNC(BARRIER_ARRIVE, 0, b, site);
    bool last = ++b->count >= b->kind;
    if (last) {
        b->count = 0;
        b->generation++;
        ft_rt_wake_all(b);
    }
    FT_RT_ASKS(self, BARRIER_LEAVE, 0, b->id, site);
    assert(b->count < b->kind && last == (b->generation != round));
    while (b->generation == round) ft_rt_block(self, b, NULL);
    FT_RT_SYNC(BARRIER_LEAVE, 0, b, site);
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    FT_RT_EXPLORED(ft_rt_x_barrier_wait(barrier, __builtin_return_address(0)));
    int constrained;
    if (__builtin_expect(ft_rt_constrained, 0) &&
        ft_rt_c_barrier(barrier, &constrained, __builtin_return_address(0)))
        return constrained;
    FT_RT_HOOK(pthread_barrier_wait, barrier);
    return FT_RT_END(arrive(self, ft_rt_object_at(FT_RAW_CLASS_BARRIER, barrier, 1), FT_RT_SITE));
}
