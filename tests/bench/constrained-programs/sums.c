/* Each thread adds what it computes to a sum that both have. */
#include "work.h"

enum { STEPS = 32 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;

static void *compute(void *number)
{
    for (int i = 0; i < STEPS; i++) {
        unsigned long mine = work((unsigned long)number);
        pthread_mutex_lock(&lock);
        sum += mine;
        pthread_mutex_unlock(&lock);
    }
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
