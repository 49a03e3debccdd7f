/* A thread looks under a lock, and another one in a read lock, whether there is something to do. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int ready, seen;

static int is_ready(void)
{
    pthread_mutex_lock(&mutex);
    int value = ready;
    pthread_mutex_unlock(&mutex);
    return value;
}

static void *work(void *argument)
{
    while (!is_ready()) sched_yield();
    pthread_rwlock_wrlock(&lock);
    seen = 2;
    pthread_rwlock_unlock(&lock);
    return argument;
}

int main(void)
{
    pthread_t thread;
    int value = 0;
    pthread_create(&thread, NULL, work, NULL);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    while (!value) {
        pthread_rwlock_rdlock(&lock);
        value = seen;
        pthread_rwlock_unlock(&lock);
    }
    assert(value == 2);
    pthread_join(thread, NULL);
    return 0;
}
