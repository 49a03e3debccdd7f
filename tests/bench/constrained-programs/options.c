/* Each thread computes its part, and is joined. */
#include "work.h"

static unsigned long results[2];

static void *compute(void *number)
{
    for (int i = 0; i < 16; i++) results[(long)number] += work((unsigned long)i);
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    read_rounds(argc, argv);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, compute, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
