/* Each thread wants both locks, in its own order, and gives back the one that it has where the
 * other one is taken, as std::lock does. With turns of one length both may do so in step for ever.
 * RACE: they also set a flag without a lock, so that there is something to replay. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_there;
static int flag;

static void lock_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    for (;;) {
        pthread_mutex_lock(first);
        if (!pthread_mutex_trylock(second)) return;
        pthread_mutex_unlock(first);
        pthread_mutex_t *taken = second;
        second = first;
        first = taken;
    }
}

static void *run(void *first)
{
#ifdef RACE
    flag = first == &a;
#else
    pthread_barrier_wait(&both_there);
#endif
    lock_both(first, first == &a ? &b : &a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return NULL;
}

int main(void)
{
    pthread_t one, other;
    pthread_barrier_init(&both_there, NULL, 2);
    pthread_create(&one, NULL, run, &a);
    pthread_create(&other, NULL, run, &b);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return flag < 0;
}
