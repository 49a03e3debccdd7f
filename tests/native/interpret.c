/* usage: interpret PROGRAM: runs a program of tests/oracle/schedules.h with real calls of pthread,
 * for the native executor. PROGRAM is a line of numbers: threads; for each object its initial
 * content; then for each thread its instructions, how many and their kind, object, other, value and
 * value2. What the oracle has as two operations (a wait, a barrier) is one call here. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "explore/action.h"
#include "oracle/schedules.h"

static schedule_program program;

static pthread_mutex_t mutexes[SCHEDULE_OBJECTS];
static pthread_cond_t conditions[SCHEDULE_OBJECTS];
static sem_t semaphores[SCHEDULE_OBJECTS];
static atomic_long atomics[SCHEDULE_OBJECTS];
static pthread_rwlock_t rwlocks[SCHEDULE_OBJECTS];
static pthread_barrier_t barrier;
static pthread_once_t onces[SCHEDULE_OBJECTS];
static int64_t globals[SCHEDULE_GLOBALS];
static pthread_t threads[FT_X_THREADS];
static int is_created[FT_X_THREADS], is_joined[FT_X_THREADS];

static _Thread_local int initialised;

static void initialise(void)
{
    initialised = 1;
}

static struct timespec soon(void)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec++;
    return at;
}

static void *run(void *thread);

static void create(uint32_t thread)
{
    is_created[thread] = 1;
    pthread_create(&threads[thread], NULL, run, (void *)(uintptr_t)thread);
}

static int64_t once(uint32_t object)
{
    initialised = 0;
    pthread_once(&onces[object], initialise);
    return initialised;
}

static int64_t join(const ft_x_operation *o)
{
    const struct timespec until = soon();
    int error = o->kind == FT_X_TRY_JOIN ? pthread_tryjoin_np(threads[o->object], NULL)
                : o->value & FT_X_TIMED  ? pthread_timedjoin_np(threads[o->object], NULL, &until)
                                         : pthread_join(threads[o->object], NULL);
    if (!error) is_joined[o->object] = 1;
    return o->kind == FT_X_TRY_JOIN ? !error : error == ETIMEDOUT;
}

static int64_t on_mutex(const ft_x_operation *o)
{
    const struct timespec until = soon();
    pthread_mutex_t *m = &mutexes[o->object];
    if (o->kind == FT_X_UNLOCK) return pthread_mutex_unlock(m);
    if (o->kind == FT_X_TRY_LOCK) return !pthread_mutex_trylock(m);
    if (o->value & FT_X_TIMED) return pthread_mutex_timedlock(m, &until) == ETIMEDOUT;
    return pthread_mutex_lock(m);
}

static int64_t on_semaphore(const ft_x_operation *o)
{
    int count = 0;
    const struct timespec until = soon();
    sem_t *s = &semaphores[o->object];
    if (o->kind == FT_X_COUNT) return sem_getvalue(s, &count), count;
    if (o->kind == FT_X_POST) return sem_post(s);
    if (o->kind == FT_X_TRY_TAKE) return !sem_trywait(s);
    if (o->value & FT_X_TIMED) return sem_timedwait(s, &until) != 0;
    return sem_wait(s);
}

static int64_t on_atomic(const ft_x_operation *o)
{
    atomic_long *a = &atomics[o->object];
    long expected = o->value;
    if (o->kind == FT_X_LOAD) return atomic_load(a);
    if (o->kind == FT_X_ADD) return atomic_fetch_add(a, o->value);
    if (o->kind == FT_X_SWAP) return atomic_compare_exchange_strong(a, &expected, o->value2);
    if (o->kind == FT_X_STORE) return atomic_store(a, o->value), 0;
    return o->value2 / 16 == FT_X_PLUS ? atomic_fetch_add(a, o->value)
                                       : atomic_fetch_xor(a, o->value);
}

static int64_t on_rwlock(const ft_x_operation *o)
{
    pthread_rwlock_t *l = &rwlocks[o->object];
    if (o->kind == FT_X_READ_LOCK) return pthread_rwlock_rdlock(l);
    if (o->kind == FT_X_WRITE_LOCK) return pthread_rwlock_wrlock(l);
    if (o->kind == FT_X_TRY_READ_LOCK) return !pthread_rwlock_tryrdlock(l);
    if (o->kind == FT_X_TRY_WRITE_LOCK) return !pthread_rwlock_trywrlock(l);
    return pthread_rwlock_unlock(l);
}

/* `next` is the WAKE behind a WAIT. */
static int64_t on_condition(const ft_x_operation *o, const ft_x_operation *next)
{
    const struct timespec until = soon();
    pthread_cond_t *c = &conditions[o->object];
    if (o->kind == FT_X_SIGNAL) return pthread_cond_signal(c);
    if (o->kind == FT_X_BROADCAST) return pthread_cond_broadcast(c);
    pthread_mutex_t *m = &mutexes[o->other];
    if (next->value & FT_X_TIMED) return pthread_cond_timedwait(c, m, &until) == ETIMEDOUT;
    return pthread_cond_wait(c, m);
}

/* The executor orders arrivals only where the code looks at the call's result. */
static int64_t arrive(const ft_x_operation *o)
{
    if (o->value2) return pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    pthread_barrier_wait(&barrier);
    return 0;
}

static int64_t operate(const ft_x_operation *o)
{
    if (o->kind >= FT_X_LOCK && o->kind <= FT_X_UNLOCK) return on_mutex(o);
    if (o->kind >= FT_X_WAIT && o->kind <= FT_X_BROADCAST) return on_condition(o, o + 1);
    if (o->kind >= FT_X_TAKE && o->kind <= FT_X_POST) return on_semaphore(o);
    if (o->kind >= FT_X_LOAD && o->kind <= FT_X_UPDATE) return on_atomic(o);
    if (o->kind >= FT_X_READ_LOCK && o->kind <= FT_X_WRITE_UNLOCK) return on_rwlock(o);
    if (o->kind == FT_X_ARRIVE) return arrive(o);
    if (o->kind == FT_X_ONCE_BEGIN) return once(o->object);
    if (o->kind == FT_X_CREATE) return create(o->object), 0;
    if (o->kind == FT_X_JOIN || o->kind == FT_X_TRY_JOIN) return join(o);
    if (o->kind == FT_X_EXIT) _exit(0);
    return 0;
}

/* The second half of a call that is two operations. */
static int is_done(uint16_t kind)
{
    return kind == FT_X_WAKE || kind == FT_X_LEAVE || kind == FT_X_ONCE_END;
}

static void *run(void *thread)
{
    uint32_t t = (uint32_t)(uintptr_t)thread;
    int64_t registers[SCHEDULE_REGISTERS] = {0}, add[2] = {0, 0};
    for (uint32_t at = 0; at < program.length[t]; at++) {
        ft_x_operation two[2] = {program.code[t][at], program.code[t][at + 1]}, *i = two;
        int64_t *r = &registers[i->other % SCHEDULE_REGISTERS];
        int equal = *r == i->value;
        if (i->kind < FT_X_KINDS && is_done(i->kind)) continue;
        if (i->kind < FT_X_KINDS) {
            i->value += add[0];
            i->value2 += add[1];
            add[0] = add[1] = 0;
            registers[0] = operate(i);
        }
        if (i->kind == LOCAL_SET) globals[i->object] = i->value;
        if (i->kind == LOCAL_PUT) globals[i->object] = *r + i->value;
        if (i->kind == LOCAL_GET) *r = globals[i->object];
        if (i->kind == LOCAL_COPY) *r = registers[0];
        if (i->kind == LOCAL_ADD) *r += i->value;
        if (i->kind == LOCAL_USE) add[i->value] = *r;
        if (i->kind == LOCAL_NEED && !equal) _exit(1);
        if (i->kind == LOCAL_SKIP_IF ? equal : i->kind == LOCAL_SKIP_UNLESS && !equal)
            at = (uint32_t)((int64_t)at + i->value2);
    }
    return NULL;
}

static void read_program(const char *text)
{
    char *at = (char *)(uintptr_t)text;
    program.n_threads = (uint32_t)strtol(at, &at, 10);
    for (uint32_t i = 0; i < SCHEDULE_OBJECTS; i++) program.initial[i] = strtol(at, &at, 10);
    for (uint32_t t = 0; t < program.n_threads; t++) {
        program.length[t] = (uint32_t)strtol(at, &at, 10);
        for (uint32_t i = 0; i < program.length[t]; i++) {
            ft_x_operation *o = &program.code[t][i];
            o->kind = (uint16_t)strtol(at, &at, 10);
            o->object = (uint32_t)strtol(at, &at, 10);
            o->other = (uint32_t)strtol(at, &at, 10);
            o->value = strtol(at, &at, 10);
            o->value2 = strtol(at, &at, 10);
            if (o->kind == FT_X_CREATE) is_created[o->object] = 1;
        }
    }
}

/* At the only barrier. */
static unsigned arrivals(void)
{
    for (uint32_t t = 0; t < program.n_threads; t++)
        for (uint32_t i = 0; i < program.length[t]; i++)
            if (program.code[t][i].kind == FT_X_ARRIVE) return (unsigned)program.code[t][i].value;
    return program.n_threads;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    read_program(argv[1]);
    for (uint32_t i = 0; i < SCHEDULE_OBJECTS; i++) {
        pthread_mutex_init(&mutexes[i], NULL);
        pthread_cond_init(&conditions[i], NULL);
        sem_init(&semaphores[i], 0, (unsigned)program.initial[i]);
        atomic_store(&atomics[i], program.initial[i]);
        pthread_rwlock_init(&rwlocks[i], NULL);
        onces[i] = (pthread_once_t)PTHREAD_ONCE_INIT;
    }
    pthread_barrier_init(&barrier, NULL, arrivals());
    uint32_t last =
        program.n_threads - 1; /* one that begins by joining all others is the first thread */
    if (last && program.length[last] > last && program.code[last][last - 1].kind == FT_X_JOIN &&
        program.code[last][0].kind == FT_X_JOIN)
        is_created[last] = is_joined[last] = 1;
    else
        last++;
    for (uint32_t t = program.n_threads; t-- > 0;) /* the first one may join the last */
        if (!is_created[t]) create(t);
    if (last < program.n_threads) run((void *)(uintptr_t)last);
    for (uint32_t t = 0; t < program.n_threads; t++)
        if (!is_joined[t]) pthread_join(threads[t], NULL);
    return 0;
}
