/* In each round the thread that comes last to a barrier counts the round, under a lock. */
#include <assert.h>
#include <foretell/input.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char rounds;
static int counted;

static void *work(void *unused)
{
    for (int i = 0; i < (rounds & 3); i++) {
        if (pthread_barrier_wait(&barrier) != PTHREAD_BARRIER_SERIAL_THREAD) continue;
        pthread_mutex_lock(&lock);
        counted++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    enum { THREADS = 2 };
    pthread_t threads[THREADS];
    foretell_input(&rounds, sizeof rounds, "rounds");
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert(counted == (rounds & 3));
    return 0;
}
