/* Four threads meet at a barrier after each step over their parts of an array, sum what all have
 * under a lock, and look at how far a neighbour is without it: one race, and a class of accesses
 * for each stretch between two barriers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, CELLS = 16 };

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long cells[THREADS * CELLS], rounds, sum, best, reached[THREADS];

static void *step(void *argument)
{
    long me = *(const long *)argument;
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < CELLS; i++) cells[me * CELLS + i] += r;
        pthread_barrier_wait(&barrier);
        long own = 0;
        for (int i = 0; i < THREADS * CELLS; i++) own += cells[i];
        pthread_mutex_lock(&lock);
        sum += own;
        if (sum > best) best = sum;
        pthread_mutex_unlock(&lock);
        pthread_barrier_wait(&barrier);
        reached[me] = r;
        if (reached[(me + 1) % THREADS] < 0) abort();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    long numbers[THREADS];
    rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, step, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
