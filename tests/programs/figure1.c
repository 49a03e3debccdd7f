/* Figure 1 of Wang et al. 2010: y is checked by whoever sees x positive, and x is positive already
 * between the two sections. In a run where T1 goes first x was 1 in the end; that its first value,
 * 2, would do as well only the condition itself says. FIXED: y is written before x. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t l;
static int x, y;

static void *first(void *unused)
{
    int a = x;
#ifdef FIXED
    y = 1 + a;
#endif
    sem_wait(&l);
    x = 2 + a;
    sem_post(&l);
#ifndef FIXED
    y = 1 + a;
#endif
    sem_wait(&l);
    x = 1 + a;
    sem_post(&l);
    return unused;
}

static void *second(void *unused)
{
    int b = 0;
    sem_wait(&l);
    if (x > b) assert(y == 1);
    sem_post(&l);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    sem_init(&l, 0, 1);
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
