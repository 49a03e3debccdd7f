/* POSIX threads, semaphores and C11 threads by the language's instructions. Most functions are one
 * instruction: RETURN gives its result, DO gives 0. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "foretell.h"

#define RETURN(type, name, parameters, call)                                                       \
    type name parameters                                                                           \
    {                                                                                              \
        return call;                                                                               \
    }
#define DO(name, parameters, call)                                                                 \
    int name parameters                                                                            \
    {                                                                                              \
        call;                                                                                      \
        return 0;                                                                                  \
    }
#define VOID(name, parameters, call)                                                               \
    void name parameters                                                                           \
    {                                                                                              \
        call;                                                                                      \
    }

extern void foretell_input(void *to, size_t size, const char *name);

/* clang-format off */

enum { PROCESS = 1000 };

/* ---- threads. Of attributes only whether the thread is detached counts: the first int. */

/* A thread that would start more goes no further: `foretell lower --threads` sets the number. What
 * is explored of the program is bounded then (worker/explore/exploring.h knows the name). */
unsigned foretell_most_threads;
static __thread unsigned created;

/* Main waits there for ever, which is not a deadlock (worker/explore/exploring.c knows the name): its
 * locals stay, and states behind it can be compared. */
void __foretell_no_further(void)
{
    static pthread_mutex_t never;
    __foretell_lock(&never);
    __foretell_lock(&never);
}

static void count_thread(void)
{
    if (!foretell_most_threads || ++created <= foretell_most_threads) return;
    if (!__foretell_self()) __foretell_no_further();
    __foretell_assume(0);
}

typedef struct start {
    void *(*function)(void *);
    thrd_start_t c11;
    void *argument;
} start;

static void *run(void *argument)
{
    start s = *(start *)argument;
    __foretell_free(argument);
    void *result = s.c11 ? (void *)(long)s.c11(s.argument) : s.function(s.argument);
    if (foretell_thread_ends) __foretell_thread_end();
    return result;
}

static unsigned long create(start given)
{
    start *s = __foretell_alloc(sizeof *s);
    *s = given;
    return __foretell_create(run, s);
}

static void end(void *result)
{
    if (foretell_thread_ends) __foretell_thread_end();
    __foretell_end(result);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start_of)(void *),
                   void *argument)
{
    count_thread();
    *thread = foretell_thread_ends ? create((start){start_of, NULL, argument})
                                   : __foretell_create(start_of, argument);
    if (attributes && ((const int *)attributes)[0]) __foretell_detach(*thread);
    return 0;
}

int pthread_join(pthread_t thread, void **result)
{
    void *r = __foretell_join(thread);
    if (result) *result = r;
    return 0;
}

DO(pthread_detach, (pthread_t thread), __foretell_detach(thread))
RETURN(pthread_t, pthread_self, (void), __foretell_self())
RETURN(int, pthread_equal, (pthread_t a, pthread_t b), a == b)
VOID(pthread_exit, (void *result), end(result))
DO(pthread_attr_init, (pthread_attr_t *a), ((int *)a)[0] = 0)
DO(pthread_attr_destroy, (pthread_attr_t *a), (void)a)
DO(pthread_attr_setdetachstate, (pthread_attr_t *a, int state),
   ((int *)a)[0] = state == PTHREAD_CREATE_DETACHED)
DO(pthread_attr_setstacksize, (pthread_attr_t *a, size_t size), (void)a; (void)size)
DO(pthread_attr_setguardsize, (pthread_attr_t *a, size_t size), (void)a; (void)size)
DO(pthread_attr_setscope, (pthread_attr_t *a, int scope), (void)a; (void)scope)
DO(pthread_attr_setinheritsched, (pthread_attr_t *a, int inherit), (void)a; (void)inherit)
DO(pthread_attr_setschedpolicy, (pthread_attr_t *a, int policy), (void)a; (void)policy)
DO(pthread_attr_setschedparam, (pthread_attr_t *a, const struct sched_param *p), (void)a; (void)p)
DO(pthread_setconcurrency, (int level), (void)level)
DO(pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t *set),
   (void)thread; (void)size; (void)set)
DO(pthread_setname_np, (pthread_t thread, const char *name), (void)thread; (void)name)
RETURN(pid_t, getpid, (void), PROCESS)
RETURN(pid_t, gettid, (void), (pid_t)(PROCESS + __foretell_self()))

/* A sleep orders nothing. */
DO(sched_yield, (void), __foretell_yield())
RETURN(unsigned, sleep, (unsigned seconds), (__foretell_yield(), seconds & 0))
DO(usleep, (useconds_t time), (void)time; __foretell_yield())
DO(nanosleep, (const struct timespec *time, struct timespec *rest),
   (void)time; (void)rest; __foretell_yield())

/* ---- mutexes, spin locks */

DO(pthread_mutexattr_init, (pthread_mutexattr_t *a), ((int *)a)[0] = PTHREAD_MUTEX_NORMAL)
DO(pthread_mutexattr_destroy, (pthread_mutexattr_t *a), (void)a)
DO(pthread_mutexattr_settype, (pthread_mutexattr_t *a, int type), ((int *)a)[0] = type)
DO(pthread_mutexattr_gettype, (const pthread_mutexattr_t *a, int *type), *type = ((const int *)a)[0])
DO(pthread_mutexattr_setprotocol, (pthread_mutexattr_t *a, int protocol), (void)a; (void)protocol)
DO(pthread_mutexattr_setpshared, (pthread_mutexattr_t *a, int shared), (void)a; (void)shared)

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    int type = attributes ? ((const int *)attributes)[0] : PTHREAD_MUTEX_NORMAL;
    if (type == PTHREAD_MUTEX_RECURSIVE)
        __foretell_mutex_init_recursive(mutex);
    else if (type == PTHREAD_MUTEX_ERRORCHECK)
        __foretell_mutex_init_checking(mutex);
    else
        __foretell_mutex_init_normal(mutex);
    return 0;
}

DO(pthread_mutex_destroy, (pthread_mutex_t *m), __foretell_mutex_destroy(m))
RETURN(int, pthread_mutex_lock, (pthread_mutex_t *m), __foretell_lock(m))
RETURN(int, pthread_mutex_trylock, (pthread_mutex_t *m), __foretell_try_lock(m))
RETURN(int, pthread_mutex_timedlock, (pthread_mutex_t *m, const struct timespec *until),
       __foretell_pass(until, __foretell_timed_lock(m)))
RETURN(int, pthread_mutex_clocklock,
       (pthread_mutex_t *m, clockid_t clock, const struct timespec *until),
       ((void)clock, __foretell_pass(until, __foretell_timed_lock(m))))
RETURN(int, pthread_mutex_unlock, (pthread_mutex_t *m), __foretell_unlock(m))
DO(pthread_spin_init, (pthread_spinlock_t *l, int shared),
   (void)shared; __foretell_mutex_init_normal((void *)l))
DO(pthread_spin_destroy, (pthread_spinlock_t *l), __foretell_mutex_destroy((void *)l))
RETURN(int, pthread_spin_lock, (pthread_spinlock_t *l), __foretell_lock((void *)l))
RETURN(int, pthread_spin_trylock, (pthread_spinlock_t *l), __foretell_try_lock((void *)l))
RETURN(int, pthread_spin_unlock, (pthread_spinlock_t *l), __foretell_unlock((void *)l))

/* ---- read-write locks */

DO(pthread_rwlockattr_init, (pthread_rwlockattr_t *a), (void)a)
DO(pthread_rwlockattr_destroy, (pthread_rwlockattr_t *a), (void)a)
DO(pthread_rwlockattr_setpshared, (pthread_rwlockattr_t *a, int shared), (void)a; (void)shared)
DO(pthread_rwlockattr_setkind_np, (pthread_rwlockattr_t *a, int kind), (void)a; (void)kind)
DO(pthread_rwlock_init, (pthread_rwlock_t *l, const pthread_rwlockattr_t *a),
   (void)a; __foretell_rw_init(l))
DO(pthread_rwlock_destroy, (pthread_rwlock_t *l), __foretell_rw_destroy(l))
RETURN(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), __foretell_read_lock(l))
RETURN(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), __foretell_write_lock(l))
RETURN(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *l), __foretell_try_read_lock(l))
RETURN(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *l), __foretell_try_write_lock(l))
RETURN(int, pthread_rwlock_unlock, (pthread_rwlock_t *l), __foretell_rw_unlock(l))

/* Where it would wait, the limit passes or it waits: an input says which. */
static int is_over(void)
{
    unsigned char over = 0;
    foretell_input(&over, sizeof over, "timed out");
    return over & 1;
}
#define TIMED(try, wait)                                                                           \
    int r = try;                                                                                   \
    if (r != EBUSY) return r;                                                                      \
    return is_over() ? __foretell_pass(until, ETIMEDOUT) : wait;
int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *until)
{
    TIMED(__foretell_try_read_lock(l), __foretell_read_lock(l))
}
int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *until)
{
    TIMED(__foretell_try_write_lock(l), __foretell_write_lock(l))
}
RETURN(int, pthread_rwlock_clockrdlock,
       (pthread_rwlock_t *l, clockid_t clock, const struct timespec *until),
       ((void)clock, pthread_rwlock_timedrdlock(l, until)))
RETURN(int, pthread_rwlock_clockwrlock,
       (pthread_rwlock_t *l, clockid_t clock, const struct timespec *until),
       ((void)clock, pthread_rwlock_timedwrlock(l, until)))

/* ---- condition variables */

DO(pthread_condattr_init, (pthread_condattr_t *a), (void)a)
DO(pthread_condattr_destroy, (pthread_condattr_t *a), (void)a)
DO(pthread_condattr_setclock, (pthread_condattr_t *a, clockid_t clock), (void)a; (void)clock)
DO(pthread_condattr_setpshared, (pthread_condattr_t *a, int shared), (void)a; (void)shared)
DO(pthread_cond_init, (pthread_cond_t *c, const pthread_condattr_t *a),
   (void)a; __foretell_cond_init(c))
DO(pthread_cond_destroy, (pthread_cond_t *c), __foretell_cond_destroy(c))
RETURN(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), __foretell_wait(c, m))
RETURN(int, pthread_cond_timedwait,
       (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until),
       __foretell_pass(until, __foretell_timed_wait(c, m)))
RETURN(int, pthread_cond_clockwait,
       (pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until),
       ((void)clock, __foretell_pass(until, __foretell_timed_wait(c, m))))
DO(pthread_cond_signal, (pthread_cond_t *c), __foretell_signal(c))
DO(pthread_cond_broadcast, (pthread_cond_t *c), __foretell_broadcast(c))

/* ---- errno; semaphores give their error there */

static __thread int error_number;
RETURN(int *, __errno_location, (void), &error_number)

static int or_error(int number)
{
    if (!number) return 0;
    error_number = number;
    return -1;
}

DO(sem_init, (sem_t *s, int shared, unsigned count), (void)shared; __foretell_sem_init(s, count))
DO(sem_destroy, (sem_t *s), __foretell_sem_destroy(s))
RETURN(int, sem_wait, (sem_t *s), or_error(__foretell_sem_wait(s)))
RETURN(int, sem_trywait, (sem_t *s), or_error(__foretell_sem_try(s)))
RETURN(int, sem_timedwait, (sem_t *s, const struct timespec *until),
       or_error(__foretell_pass(until, __foretell_sem_timed(s))))
RETURN(int, sem_clockwait, (sem_t *s, clockid_t clock, const struct timespec *until),
       ((void)clock, or_error(__foretell_pass(until, __foretell_sem_timed(s)))))
RETURN(int, sem_post, (sem_t *s), or_error(__foretell_sem_post(s)))
DO(sem_getvalue, (sem_t *s, int *value), *value = __foretell_sem_count(s))

/* ---- barriers, once */

DO(pthread_barrierattr_init, (pthread_barrierattr_t *a), (void)a)
DO(pthread_barrierattr_destroy, (pthread_barrierattr_t *a), (void)a)
DO(pthread_barrierattr_setpshared, (pthread_barrierattr_t *a, int shared), (void)a; (void)shared)

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                         unsigned count)
{
    (void)attributes;
    if (!count) return EINVAL;
    __foretell_barrier_init(barrier, count);
    return 0;
}

DO(pthread_barrier_destroy, (pthread_barrier_t *b), __foretell_barrier_destroy(b))
RETURN(int, pthread_barrier_wait, (pthread_barrier_t *b), __foretell_barrier_wait(b))
DO(pthread_once, (pthread_once_t *once, void (*function)(void)), __foretell_once(once, function))

/* ---- C11 */

int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    count_thread();
    *thread = create((start){NULL, function, argument});
    return thrd_success;
}

int thrd_join(thrd_t thread, int *result)
{
    long r = (long)__foretell_join(thread);
    if (result) *result = (int)r;
    return thrd_success;
}

DO(thrd_detach, (thrd_t thread), __foretell_detach(thread))
RETURN(thrd_t, thrd_current, (void), __foretell_self())
RETURN(int, thrd_equal, (thrd_t a, thrd_t b), a == b)
VOID(thrd_exit, (int result), end((void *)(long)result))
VOID(thrd_yield, (void), __foretell_yield())
DO(thrd_sleep, (const struct timespec *time, struct timespec *rest),
   (void)time; (void)rest; __foretell_yield())

int mtx_init(mtx_t *mutex, int type)
{
    if (type & mtx_recursive)
        __foretell_mutex_init_recursive(mutex);
    else
        __foretell_mutex_init_normal(mutex);
    return thrd_success;
}

VOID(mtx_destroy, (mtx_t *m), __foretell_mutex_destroy(m))
RETURN(int, mtx_lock, (mtx_t *m), __foretell_lock(m) ? thrd_error : thrd_success)
RETURN(int, mtx_trylock, (mtx_t *m), __foretell_try_lock(m) ? thrd_busy : thrd_success)
RETURN(int, mtx_timedlock, (mtx_t *m, const struct timespec *until),
       __foretell_pass(until, __foretell_timed_lock(m)) ? thrd_timedout : thrd_success)
RETURN(int, mtx_unlock, (mtx_t *m), __foretell_unlock(m) ? thrd_error : thrd_success)
DO(cnd_init, (cnd_t *c), __foretell_cond_init(c))
VOID(cnd_destroy, (cnd_t *c), __foretell_cond_destroy(c))
RETURN(int, cnd_wait, (cnd_t *c, mtx_t *m), __foretell_wait(c, m) ? thrd_error : thrd_success)
RETURN(int, cnd_timedwait, (cnd_t *c, mtx_t *m, const struct timespec *until),
       __foretell_pass(until, __foretell_timed_wait(c, m)) ? thrd_timedout : thrd_success)
DO(cnd_signal, (cnd_t *c), __foretell_signal(c))
DO(cnd_broadcast, (cnd_t *c), __foretell_broadcast(c))
VOID(call_once, (once_flag *flag, void (*function)(void)), __foretell_once(flag, function))

/* ---- the sections of SV-COMP and of two other checkers */

void reach_error(void);
void __VERIFIER_assert(int condition) { if (!condition) reach_error(); }
VOID(__VERIFIER_atomic_begin, (void), __foretell_atomic_begin())
VOID(__VERIFIER_atomic_end, (void), __foretell_atomic_end())
VOID(__CPROVER_atomic_begin, (void), __foretell_atomic_begin())
VOID(__CPROVER_atomic_end, (void), __foretell_atomic_end())
VOID(__ESBMC_atomic_begin, (void), __foretell_atomic_begin())
VOID(__ESBMC_atomic_end, (void), __foretell_atomic_end())
VOID(__ESBMC_yield, (void), __foretell_yield())
