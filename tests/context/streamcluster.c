/* The synchronisation of PARSEC's streamcluster, written anew: rounds in lock-step, with a barrier
 * before and behind the part that the first thread does alone. */
#include <pthread.h>

void foretell_input(void *, unsigned long, const char *);

enum { THREADS = 3, POINTS = 9 };
static pthread_barrier_t barrier;
static int iterations, centre, open_cost, weight[POINTS], gain[THREADS];

static void *worker(void *argument)
{
    int id = *(int *)argument;
    for (int i = 0; i < iterations; i++) {
        int mine = 0;
        for (int p = id; p < POINTS; p += THREADS)
            if (weight[p] > open_cost) mine++;
        gain[id] = mine;
        pthread_barrier_wait(&barrier); /* A, B, C */
        if (id == 0 && gain[0] > gain[1]) centre++;
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    static int ids[THREADS];
    foretell_input(&iterations, sizeof iterations, "iterations");
    foretell_input(&open_cost, sizeof open_cost, "cost");
    for (int i = 0; i < (int)(sizeof weight / sizeof weight[0]); i++)
        foretell_input(&weight[i], sizeof weight[i], "weight");
    pthread_barrier_init(&barrier, 0, THREADS);
    for (int i = 0; i < THREADS; i++) ids[i] = i;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, worker, &ids[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
