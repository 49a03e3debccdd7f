/* What the synchronisation hooks share. */
#ifndef FT_RECORD_SYNC_H
#define FT_RECORD_SYNC_H

#include "state/thread.h"

#define FT_RT_SYNC(kind, flags, object, site)                                                      \
    FT_RT_LOG(SYNC, FT_EVENT_##kind, (flags), (object)->id, (site))

/* Before the thread may be blocked: what it asks for. */
#define FT_RT_ASKS(self, event, flag, id, at)                                                      \
    ((self)->asks = (ft_rt_request){FT_EVENT_##event, (flag), (id), (at)})

/* A call that made an object anew, or one that destroys it: `at` finds it, at the call's place. */
#define FT_RT_BEGINS(address, at)                                                                  \
    do {                                                                                           \
        ft_rt_object_forget((const void *)(uintptr_t)(address), sizeof *(address));                \
        if (ft_rt_objects_told()) ft_rt_object_begins((at), FT_RT_SITE);                           \
    } while (0)
#define FT_RT_ENDS(address, at)                                                                    \
    do {                                                                                           \
        if (ft_rt_objects_told()) ft_rt_object_ends((at), FT_RT_SITE);                             \
        ft_rt_object_forget((const void *)(uintptr_t)(address), sizeof *(address));                \
    } while (0)

/* Opens a hook: where nothing is recorded, the real function does it. */
#define FT_RT_HOOK(name, ...)                                                                      \
    ft_rt_about(FT_RT_ANY, __builtin_return_address(0));                                           \
    ft_rt_thread *self = ft_rt_enter();                                                            \
    if (!self) return FT_REAL(name)(__VA_ARGS__)

/* Ends a hook with its result. */
#define FT_RT_END(result)                                                                          \
    ({                                                                                             \
        __typeof__(result) end_result = (result);                                                  \
        ft_rt_leave(self);                                                                         \
        end_result;                                                                                \
    })

/* A deadline of any clock as one of CLOCK_MONOTONIC (clock.c). */
struct timespec ft_rt_deadline(clockid_t clock, const struct timespec *until);

void ft_rt_mutexes_abandon(const ft_rt_thread *self); /* robust ones, at its end */
/* 0, EDEADLK (error-checking, held already) or ETIMEDOUT; writes no record. */
int ft_rt_mutex_lock(ft_rt_thread *self, ft_rt_object *o, const struct timespec *deadline);
/* Unlocks a mutex once; writes no record. */
void ft_rt_mutex_release(ft_rt_object *o);

#endif
