/* Threads in rounds, apart by a barrier of the program's own: a number of the round, a counter of
 * those who have come, and a condition. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 25 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next = PTHREAD_COND_INITIALIZER;
static int come, number;
static long values[THREADS], wrong;

static void meet(void)
{
    pthread_mutex_lock(&lock);
    int now = number;
    if (++come == THREADS) {
        come = 0;
        number++;
        pthread_cond_broadcast(&next);
    } else {
        while (number == now) pthread_cond_wait(&next, &lock);
    }
    pthread_mutex_unlock(&lock);
}

static void *work(void *value)
{
    for (long round = 0; round < ROUNDS; round++) {
        long sum = 0;
        *(long *)value = round;
        meet();
        for (int i = 0; i < THREADS; i++) sum += values[i];
        meet();
        if (sum != THREADS * round) wrong = round;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, &values[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%ld\n", wrong);
    return wrong != 0;
}
