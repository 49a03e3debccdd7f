/* Every kind of mutex, spin lock and read-write lock, by every call: what they return. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_mutex_t kinds[3];
static int counter, other;

static struct timespec soon(clockid_t clock, long ms)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
    return t;
}

static void say(const char *what, int result)
{
    printf("%s: %s\n", what, result ? strerror(result) : "ok");
}

/* While main holds everything for writing. */
static void *others(void *unused)
{
    struct timespec real = soon(CLOCK_REALTIME, 20), steady = soon(CLOCK_MONOTONIC, 20);
    say("try", pthread_mutex_trylock(&plain));
    say("timed", pthread_mutex_timedlock(&plain, &real));
    say("clock", pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &steady));
    for (int i = 0; i < 3; i++) {
        say("kind try", pthread_mutex_trylock(&kinds[i]));
        if (i == PTHREAD_MUTEX_ERRORCHECK) say("stranger", pthread_mutex_unlock(&kinds[i]));
    }
    say("spin try", pthread_spin_trylock(&spin));
    say("try read", pthread_rwlock_tryrdlock(&shared));
    say("try write", pthread_rwlock_trywrlock(&shared));
    say("timed read", pthread_rwlock_timedrdlock(&shared, &real));
    say("timed write", pthread_rwlock_timedwrlock(&shared, &real));
    say("clock read", pthread_rwlock_clockrdlock(&shared, CLOCK_MONOTONIC, &steady));
    say("clock write", pthread_rwlock_clockwrlock(&shared, CLOCK_MONOTONIC, &steady));
    return unused;
}

/* While main reads. */
static void *readers(void *unused)
{
    say("second reader", pthread_rwlock_tryrdlock(&shared));
    say("writer", pthread_rwlock_trywrlock(&shared));
    pthread_rwlock_unlock(&shared);
    return unused;
}

static void *count(void *unused)
{
    for (int i = 0; i < 20; i++) {
        pthread_spin_lock(&spin);
        counter++;
        pthread_spin_unlock(&spin);
        pthread_mutex_lock(&plain);
        other++;
        pthread_mutex_unlock(&plain);
    }
    return unused;
}

static void run(void *(*start)(void *), int n)
{
    pthread_t threads[4];
    for (int i = 0; i < n; i++) pthread_create(&threads[i], NULL, start, NULL);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
}

static void own_again(void)
{
    say("recursive", pthread_mutex_lock(&kinds[PTHREAD_MUTEX_RECURSIVE]));
    say("recursive try", pthread_mutex_trylock(&kinds[PTHREAD_MUTEX_RECURSIVE]));
    pthread_mutex_unlock(&kinds[PTHREAD_MUTEX_RECURSIVE]);
    pthread_mutex_unlock(&kinds[PTHREAD_MUTEX_RECURSIVE]);
    say("checked again", pthread_mutex_lock(&kinds[PTHREAD_MUTEX_ERRORCHECK]));
    say("normal try again", pthread_mutex_trylock(&kinds[PTHREAD_MUTEX_NORMAL]));
}

int main(void)
{
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 3; i++) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, i);
        pthread_mutex_init(&kinds[i], &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    run(count, 2);
    pthread_mutex_lock(&plain);
    pthread_spin_lock(&spin);
    pthread_rwlock_wrlock(&shared);
    for (int i = 0; i < 3; i++) pthread_mutex_lock(&kinds[i]);
    own_again();
    run(others, 1);
    for (int i = 0; i < 3; i++) pthread_mutex_unlock(&kinds[i]);
    say("not held", pthread_mutex_unlock(&kinds[PTHREAD_MUTEX_ERRORCHECK]));
    pthread_rwlock_unlock(&shared);
    pthread_rwlock_rdlock(&shared);
    run(readers, 1);
    pthread_rwlock_unlock(&shared);
    pthread_spin_unlock(&spin);
    pthread_mutex_unlock(&plain);
    printf("%d %d\n", counter, other);
    return 0;
}
