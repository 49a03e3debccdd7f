/* The others' results are read before the barrier, not behind it. FIXED: behind. */
#include <pthread.h>

static pthread_barrier_t meeting;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns, results[3];

static void *work(void *index)
{
    int i = *(int *)index;
    results[i] = i;
#ifdef FIXED
    pthread_barrier_wait(&meeting);
    pthread_mutex_lock(&lock);
    turns += results[(i + 1) % 3];
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_lock(&lock);
    turns += results[(i + 1) % 3];
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&meeting);
#endif
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int indices[3] = {0, 1, 2};
    pthread_barrier_init(&meeting, NULL, 3);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, &indices[i]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&meeting);
    return 0;
}
