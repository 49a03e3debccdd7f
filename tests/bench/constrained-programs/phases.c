/* Phases with a barrier behind each; every thread reads the other's part of the phase before. */
#include "work.h"

enum { PHASES = 16 };
static pthread_barrier_t barrier;
static unsigned long parts[PHASES + 1][2];

static void *compute(void *number)
{
    long me = (long)number;
    for (int i = 0; i < PHASES; i++) {
        parts[i + 1][me] = work(parts[i][1 - me]);
        pthread_barrier_wait(&barrier);
    }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    read_rounds(argc, argv);
    pthread_barrier_init(&barrier, 0, 2);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, compute, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
