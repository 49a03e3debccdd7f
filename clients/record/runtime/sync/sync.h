/* Synchronisation: mutexes, read-write locks, condition variables, semaphores, barriers and once.
 *
 * The runtime models these objects itself (state/object.h): a thread that has to wait blocks in the
 * scheduler, never in the C library. The program's own objects are only initialised, for what
 * initialisers leave in them. objects.c has the table of the models, by address.
 *
 * Imports: accesses, constrained, exploring, inputs, libc, log, raw, replay, scheduling, state,
 * common/trace. */
#ifndef FT_RECORD_SYNC_H
#define FT_RECORD_SYNC_H

#include "libc/libc.h"
#include "log/log.h"
#include "replay/replay.h"
#include "scheduling/scheduling.h"
#include "state/object.h"
#include "state/thread.h"

#pragma GCC visibility push(hidden)

/* ---- objects.c */
/* The object at an address, made with that kind (or count) if it is not known. */
ft_rt_object *ft_rt_object_at(ft_raw_class class, const void *address, uint32_t kind);
ft_rt_object *ft_rt_object_known(ft_raw_class class, const volatile void *address); /* or NULL */
/* Makes it a new object in the log; its generation is its old number plus 1. */
void ft_rt_object_again(ft_rt_object *object);
void ft_rt_object_forget(const void *address, size_t size); /* all in that range */
/* The same of memory that was just freed: logged if the program has several threads. */
void ft_rt_object_reclaim(const void *address, size_t size, uint32_t site);
bool ft_rt_objects_told(void); /* are INITIALISED and DESTROYED logged? With several threads */
void ft_rt_object_begins(const ft_rt_object *o, uint32_t site);
void ft_rt_object_ends(const ft_rt_object *o, uint32_t site); /* it is destroyed */
ft_rt_object *ft_rt_object_next(size_t *at);                  /* from *at = 0; NULL: no more */

#define FT_RT_SYNC(kind, flags, object, site)                                                      \
    FT_RT_LOG(SYNC, FT_EVENT_##kind, (flags), (object)->id, (site))

/* The request of a thread that may block now. */
#define FT_RT_ASKS(self, event, flag, id, at)                                                      \
    ((self)->asks = (ft_rt_request){FT_EVENT_##event, (flag), (id), (at)})

/* A call initialises an object, or destroys it; `at`: the expression that finds it. */
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

/* Opens a hook; if nothing is recorded, the real function alone is called. */
#define FT_RT_HOOK(name, ...)                                                                      \
    ft_rt_about_object(FT_RT_FIRST(__VA_ARGS__, 0), __builtin_return_address(0));                  \
    ft_rt_thread *self = ft_rt_enter();                                                            \
    if (!self) return FT_REAL(name)(__VA_ARGS__)
#define FT_RT_FIRST(first, ...) (const void *)(uintptr_t)(first)

/* Ends a hook with its result. */
#define FT_RT_END(result)                                                                          \
    ({                                                                                             \
        __typeof__(result) end_result = (result);                                                  \
        ft_rt_leave(self);                                                                         \
        end_result;                                                                                \
    })

/* In a process that the program forked: it is about to wait for a lock that it has from its parent.
 * (process/children.c) */
void ft_rt_child_makes(const void *lock); /* there: it initialises a lock anew */
void ft_rt_child_wants(ft_raw_class class, const void *lock, bool shared, const void *pc);

/* ---- mutex.c */
/* At the thread's end: its robust mutexes are abandoned. */
void ft_rt_mutexes_abandon(ft_rt_thread *self);
/* Locks a mutex again behind a wait for a condition, and writes its records. 0, or the health of a
 * robust one: EOWNERDEAD, or ENOTRECOVERABLE, and then it is not locked. */
int ft_rt_mutex_lock_behind_wait(ft_rt_thread *self, ft_rt_object *o, uint32_t site);
/* Locks a mutex for the calling thread. 0, EDEADLK (error-checking, held already) or ETIMEDOUT;
 * writes no record. */
int ft_rt_mutex_lock(ft_rt_thread *self, ft_rt_object *o, const struct timespec *deadline);
/* Unlocks a mutex of the calling thread once; writes no record. */
void ft_rt_mutex_release(ft_rt_object *o);

#pragma GCC visibility pop

#endif
