/* Two threads look under locks whether the other one has begun: neither ever does. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int one, two;

static int get(pthread_mutex_t *lock, const int *from)
{
    pthread_mutex_lock(lock);
    int value = *from;
    pthread_mutex_unlock(lock);
    return value;
}

static void set(pthread_mutex_t *lock, int *to)
{
    pthread_mutex_lock(lock);
    *to = 1;
    pthread_mutex_unlock(lock);
}

static void *work(void *argument)
{
    while (!get(&mutex, &one)) {
    }
    set(&other, &two);
    return argument;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    while (!get(&other, &two)) {
    }
    set(&mutex, &one);
    pthread_join(thread, NULL);
    return 0;
}
