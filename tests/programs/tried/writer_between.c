/* Two readers of a lock that prefers writers and of a mutex, in opposite orders: readers alone
 * never wait for each other, but a writer that waits keeps the second one out. Corrected, the lock
 * prefers readers. */
#define _GNU_SOURCE
#include <pthread.h>

static pthread_rwlock_t index_lock;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int entries, lines;

static void *look_and_log(void *unused)
{
    pthread_rwlock_rdlock(&index_lock);
    pthread_mutex_lock(&log_lock);
    lines += entries >= 0;
    pthread_mutex_unlock(&log_lock);
    pthread_rwlock_unlock(&index_lock);
    return unused;
}

static void *log_and_look(void *unused)
{
    pthread_mutex_lock(&log_lock);
    pthread_rwlock_rdlock(&index_lock);
    lines += entries >= 0;
    pthread_rwlock_unlock(&index_lock);
    pthread_mutex_unlock(&log_lock);
    return unused;
}

static void *add(void *unused)
{
    pthread_rwlock_wrlock(&index_lock);
    entries++;
    pthread_rwlock_unlock(&index_lock);
    return unused;
}

int main(void)
{
    void *(*const runs[])(void *) = {look_and_log, log_and_look, add};
    pthread_t threads[3];
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
#ifndef FIXED
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&index_lock, &attributes);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, runs[i], NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
