/* Three threads that meet in one atomic each: before that each uses a lock of its own. */
#include <pthread.h>
#include <stdatomic.h>

enum { ALL = 3, SECTIONS = 2 };

static pthread_mutex_t locks[ALL] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_MUTEX_INITIALIZER};
static int done[ALL];
static _Atomic int sum;

static void *run(void *number)
{
    int own = *(int *)number;
    for (int i = 0; i < SECTIONS; i++) {
        pthread_mutex_lock(&locks[own]);
        done[own]++;
        pthread_mutex_unlock(&locks[own]);
    }
    atomic_fetch_add(&sum, done[own]);
    return NULL;
}

int main(void)
{
    int numbers[ALL];
    pthread_t threads[ALL];
    for (int i = 0; i < ALL; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, run, &numbers[i]);
    }
    for (int i = 0; i < ALL; i++) pthread_join(threads[i], NULL);
    return atomic_load(&sum) != ALL * SECTIONS;
}
