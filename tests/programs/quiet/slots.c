/* Producers and consumers over a ring of slots, counted by two semaphores: nobody waits for ever,
 * since units are neither made nor lost. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

enum { SLOTS = 8, ITEMS = 60 };
static sem_t filled, free_slots;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int slots[SLOTS], in, out;
static long sum;

static void *produce(void *unused)
{
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&free_slots);
        pthread_mutex_lock(&lock);
        slots[in] = i;
        in = (in + 1) % SLOTS;
        pthread_mutex_unlock(&lock);
        sem_post(&filled);
    }
    return unused;
}

static void *consume(void *unused)
{
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&filled);
        pthread_mutex_lock(&lock);
        sum += slots[out];
        out = (out + 1) % SLOTS;
        pthread_mutex_unlock(&lock);
        sem_post(&free_slots);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    sem_init(&filled, 0, 0);
    sem_init(&free_slots, 0, SLOTS);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, i % 2 ? consume : produce, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf("%ld\n", sum);
    return sum != (long)ITEMS * (ITEMS - 1);
}
