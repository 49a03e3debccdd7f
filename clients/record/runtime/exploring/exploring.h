/* Exploring: the program runs under the search over schedules (raw/exploring.h), one run after the
 * other, and nothing is recorded.
 *
 * Threads change at *actions* alone (common/explore/action.h). A hook of a synchronising call
 * announces its action with ft_rt_explore; the call returns when it is the thread's turn and the
 * action has been carried out in the *model* (model.h), which has the states of all objects: the C
 * library's own functions are never called for them. Between two actions a thread runs alone.
 *
 *   explore.c    the one function: turns, prefix, log
 *   names.c      numbers and names of objects
 *   blocks.c     blocks of the heap, by the thread that made them
 *   threads.c    creation, join and end of threads, end of the process
 *   start.c      the program's start, and its first choice
 *   failures.c   crashes and assertions
 *   cycles.c     threads that wait for each other
 *   limits.c     time limits of waits
 *   lifetimes.c  synchronisation objects in memory that is freed
 *   clocks.c, races.c, points.c   races, and their accesses as actions
 *   inputs.c     time and random numbers
 *   kernel.c     turns of kernel threads
 *   server.c     grades: forks, new processes
 *   rewind.c     grade: rewinding
 *   mutexes.c, conditions.c, ...: the calls of each class
 *   futexes.c    futexes, by mutexes and conditions of the model
 *
 * To add a kind of action
 *   1. a row in FT_X_KIND_TABLE, what it does in explore/objects.c (the runtime runs that file as
 *      its model) and its dependence in explore/action.c; tests/oracle/schedules.c has both anew;
 *   2. a file here that finds the object (ft_rt_x_object), announces
 *      (ft_x_operation){.kind = ..., .object = ..., .value = ...} and turns the outcome into the
 *      call's result: mutexes.c is the pattern. A call may announce several actions one behind the
 *      other. What depends on nothing but the thread's own past needs no action;
 *   3. `FT_RT_EXPLORED(ft_rt_x_...(...));` as the first line of the hook.
 *
 * A hook that announces nothing runs its real function: in an exploration ft_rt_self is NULL.
 * Hooks that want something else (channels, inputs, refused calls) ask ft_rt_exploring.
 *
 * Imports: libc, raw, rewinding, common/explore. */
#ifndef FT_RECORD_RT_EXPLORING_H
#define FT_RECORD_RT_EXPLORING_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "exploring/model.h"
#include "raw/inputs.h"

#pragma GCC visibility push(hidden)

typedef struct ft_rt_x_thread ft_rt_x_thread;

extern bool ft_rt_exploring;                  /* the process serves an exploration */
extern __thread ft_rt_x_thread *ft_rt_x_self; /* NULL: the thread is none of the exploration's */

/* The calling thread begins a call: its actions until the next one are of this call. */
void ft_rt_x_call_begins(void);

/* First line of a hook with a result: an explored thread goes this way. */
#define FT_RT_EXPLORED(call)                                                                       \
    do {                                                                                           \
        if (__builtin_expect(ft_rt_exploring, 0) && ft_rt_x_self) {                                \
            ft_rt_x_call_begins();                                                                 \
            return call;                                                                           \
        }                                                                                          \
    } while (0)

/* A wait's time limit. */
typedef struct ft_rt_x_limit {
    bool is_set;
    uint32_t ms; /* from now on */
} ft_rt_x_limit;
#define FT_RT_X_NO_LIMIT ((ft_rt_x_limit){0})

/* ---- limits.c */
ft_rt_x_limit ft_rt_x_limit_until(clockid_t clock, const struct timespec *until);
ft_rt_x_limit ft_rt_x_limit_after(const struct timespec *time);
/* For the `value` of an operation that waits (explore/action.h). pc: of the wait. */
int64_t ft_rt_x_limit_bits(ft_rt_x_limit limit, const void *pc);
/* Then the wait is an attempt. */
bool ft_rt_x_limit_is_early(ft_rt_x_limit limit, const void *pc);
/* The wait has ended: did its limit pass? */
void ft_rt_x_limit_passed(ft_rt_x_limit limit, bool passed, const void *pc);
/* The same where the calling thread has looked in place of a wait: steps of the run since then. */
void ft_rt_x_looked_in_vain(uint32_t since, uint32_t ms, const void *pc);
uint32_t ft_rt_x_now(void); /* steps of the run that are done */

/* ---- start.c */
bool ft_rt_x_open(void); /* at the program's start; true: it is explored, not recorded */

/* ---- explore.c */
/* Announces the operation of the calling thread, waits until the thread goes on with it, carries it
 * out in the model and logs it. pc: of the call in the program. Returns the choice: its outcome is
 * the operation's result (an attempt's success). Does not return where the run ends. Before the
 * first choice it only carries it out. */
ft_x_choice ft_rt_explore(const ft_x_operation *operation, const void *pc);
/* The same of a call that has announced an action already. */
ft_x_choice ft_rt_explore_more(const ft_x_operation *operation, const void *pc);
bool ft_rt_x_has_begun(void); /* was the first choice met? */
/* Ends the run because of a call that no exploration does; the text names it. */
void ft_rt_x_refuse(const char *call, const void *pc) __attribute__((noreturn));

/* ---- polls.c: of plain accesses of the calling thread, which is explored */
void ft_rt_x_wrote(uintptr_t address);
void ft_rt_x_read(const void *pc);
/* Waits until one of the attempts would turn out otherwise than its result; false: the time limit
 * passed, if there is one. */
bool ft_rt_x_wait_for(const ft_x_attempt *attempts, uint32_t n, int ms, const void *pc);

/* ---- inputs.c */
int ft_rt_x_time(clockid_t clock, struct timespec *t); /* as clock_gettime */
void ft_rt_x_passes(int64_t ns);                       /* time, for the calling thread */
void ft_rt_x_sleeps(int64_t ns, const void *pc);
uint64_t ft_rt_x_random(void);
void ft_rt_x_random_bytes(void *to, size_t n);
ft_raw_unset *ft_rt_x_unset_inputs(void); /* FT_RAW_UNSETS: raw/inputs.h */
int ft_rt_x_pid(void);                    /* the program's process number, the same in all runs */

/* ---- start.c: the program reads input that no other process could read again; before the first
 * choice the process ends */
void ft_rt_x_asks_input(void);

/* ---- start.c: the output of a run, where the explorer wants it: its place, and its size at last
 */
bool ft_rt_x_keeps_output(void);
char *ft_rt_x_output(size_t *room);
void ft_rt_x_output_is(size_t size);

/* ---- names.c */
/* The number of the object at the address, in this run. One that is new begins with the content
 * `fresh` (a semaphore's count, an atomic's content; else 0). */
uint32_t ft_rt_x_object(ft_x_class class, const volatile void *address, int64_t fresh);
/* The same of one of the runtime's own models: a pipe, a file, by its maker and number. */
/* `value` of READ and WRITE of a file; of a look at a name, which leaves the thread as it was. */
enum { FT_RT_X_OF_FILE = 1, FT_RT_X_OF_NAME = 2 };
enum { FT_RT_X_KEPT = 0x1000 }; /* makers of models behind the threads: mutexes kept in a wait */
uint32_t ft_rt_x_model_object(ft_x_class class, uint32_t maker, uint32_t number, int64_t fresh);
/* The object is initialised: what is at the address from now on is another object. */
uint32_t ft_rt_x_new_object(ft_x_class class, const volatile void *address, int64_t fresh);
ft_x_object *ft_rt_x_state(uint32_t object); /* its state in the model */

/* ---- blocks.c: of the heap */
void ft_rt_x_block_begins(const void *memory, size_t size, const void *pc);
void ft_rt_x_block_ends(const void *memory);
/* The program frees it. True: it stays apart until the run ends, so that a use is seen. */
bool ft_rt_x_block_freed(const void *memory, const void *pc);

/* ---- races.c: a plain access that is about to happen */
void ft_rt_x_access(const volatile void *address, size_t size, bool writes, const void *pc);
/* Annotations: accesses of the thread are ignored; of that memory nobody's are looked at. */
void ft_rt_x_ignore(bool on);
void ft_rt_x_benign(const volatile void *memory, size_t size);
/* What the thread did before is ordered before what a thread does that takes it. */
void ft_rt_x_edge(const volatile void *what, bool gives);
void ft_rt_x_edge_at(uint32_t object, bool gives); /* the same of an object */

/* ---- threads.c */
int ft_rt_x_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument, const void *pc);
/* try: it may still run, EBUSY. */
int ft_rt_x_join(pthread_t handle, void **result, bool try, ft_rt_x_limit limit, const void *pc);
int ft_rt_x_detach(pthread_t handle);    /* no action: nothing can be seen of it */
int ft_rt_x_number_of(pthread_t handle); /* -1: none has it */
bool ft_rt_x_is_alive(uint32_t thread);
int ft_rt_x_set_name(const char *name); /* of any thread */
/* The process is about to end; they do not return if it is explored. finish: behind all that the
 * program registered, with the code that exit() was given. */
void ft_rt_x_exit(int code);
void ft_rt_x_finish(void);
uint32_t ft_rt_x_number(void); /* of the calling thread, which is explored */

/* ---- failures.c: the thread cannot go on, and ends the process at its next turn */
void ft_rt_x_fail(uint32_t failure, int code, const char *text, const void *pc)
    __attribute__((noreturn));

void ft_rt_x_assert(const char *expression, const void *pc) __attribute__((noreturn));

/* ---- mutexes.c. Spin locks are mutexes whose type the C library does not know. */
int ft_rt_x_lock(pthread_mutex_t *mutex, ft_rt_x_limit limit, const void *pc);
int ft_rt_x_spin_lock(const volatile void *lock, bool try, const void *pc);
int ft_rt_x_spin_unlock(const volatile void *lock, const void *pc);
void ft_rt_x_spin_init(const volatile void *lock);
int ft_rt_x_try_lock(pthread_mutex_t *mutex, const void *pc);
int ft_rt_x_unlock(pthread_mutex_t *mutex, const void *pc);
int ft_rt_x_consistent(const pthread_mutex_t *mutex);
int ft_rt_x_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);

/* ---- conditions.c */
int ft_rt_x_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, ft_rt_x_limit limit,
                 const void *pc);
int ft_rt_x_notify(pthread_cond_t *condition, bool all, const void *pc);
int ft_rt_x_condition_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);

/* ---- futexes.c: the arguments of the system call. False: the operation is not modelled. */
bool ft_rt_x_futex(const long *arguments, long *result, const void *pc);

/* ---- semaphores.c */
int ft_rt_x_take(sem_t *semaphore, bool try, ft_rt_x_limit limit, const void *pc);
int ft_rt_x_post(sem_t *semaphore, const void *pc);
int ft_rt_x_count(sem_t *semaphore, int *value, const void *pc);
int ft_rt_x_semaphore_init(sem_t *semaphore, int shared, unsigned value);

/* ---- rwlocks.c */
int ft_rt_x_rwlock(pthread_rwlock_t *lock, bool write, bool try, ft_rt_x_limit limit,
                   const void *pc);
int ft_rt_x_rwlock_unlock(pthread_rwlock_t *lock, const void *pc);
int ft_rt_x_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes);

/* ---- results.c */
/* May the code behind the call with that return address look at its result (an integer)? True also
 * where it is not known. */
bool ft_rt_x_may_use_result(const void *pc);

/* ---- barriers.c */
int ft_rt_x_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                         unsigned count, const void *pc);
int ft_rt_x_barrier_wait(pthread_barrier_t *barrier, const void *pc);

/* ---- onces.c */
bool ft_rt_x_once_begins(const volatile void *once, const void *pc); /* the caller initialises */
void ft_rt_x_once_ends(const volatile void *once, bool left, const void *pc);
int ft_rt_x_guard_acquire(int64_t *guard, const void *pc);
void ft_rt_x_guard_release(int64_t *guard, bool done, const void *pc);

/* ---- atomics.c */
/* An operation (LOAD, STORE, SWAP) on an atomic of more bytes, by hashes: of the content, and of
 * `value` and `value2` as below. Returns whether a swap takes place. */
bool ft_rt_x_wide_atomic(ft_x_kind kind, const volatile void *address, size_t size,
                         const int64_t hashes[3], const void *pc);
/* Announces the operation on an atomic of so many bytes, which the caller then
 * does. content: what it holds; value, value2: as in explore/action.h; of UPDATE value2 is the
 * operator. All are sign-extended. */
void ft_rt_x_atomic(ft_x_kind kind, const volatile void *address, unsigned bytes, int64_t content,
                    int64_t value, int64_t value2, const void *pc);

#pragma GCC visibility pop

#endif
