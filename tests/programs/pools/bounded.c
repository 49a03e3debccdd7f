/* A bounded buffer of semaphores between a producer and its consumers. Arguments: consumers, items.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

enum { SLOTS = 3, MOST = 64, END = -1 };

static sem_t filled, vacant;
static pthread_mutex_t ends = PTHREAD_MUTEX_INITIALIZER;
static int slots[SLOTS], in, out;
static long sum;

static int take(void)
{
    sem_wait(&filled);
    pthread_mutex_lock(&ends);
    int item = slots[out++ % SLOTS];
    pthread_mutex_unlock(&ends);
    sem_post(&vacant);
    return item;
}

static void put(int item)
{
    sem_wait(&vacant);
    pthread_mutex_lock(&ends);
    slots[in++ % SLOTS] = item;
    pthread_mutex_unlock(&ends);
    sem_post(&filled);
}

static void *consume(void *unused)
{
    for (int item; (item = take()) != END;) {
        pthread_mutex_lock(&ends);
        sum += item;
        pthread_mutex_unlock(&ends);
    }
    return unused;
}

int main(int n, char **words)
{
    int consumers = n > 1 ? atoi(words[1]) : 2, items = n > 2 ? atoi(words[2]) : 5;
    pthread_t threads[MOST];
    sem_init(&filled, 0, 0);
    sem_init(&vacant, 0, SLOTS);
    for (int i = 0; i < consumers; i++) pthread_create(&threads[i], NULL, consume, NULL);
    for (int i = 1; i <= items; i++) put(i);
    for (int i = 0; i < consumers; i++) put(END);
    for (int i = 0; i < consumers; i++) pthread_join(threads[i], NULL);
    return sum != (long)items * (items + 1) / 2;
}
