/* Two producers and two consumers share a bounded buffer under a lock; work is done on each item.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 64, WORK = 200 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static unsigned buffer[ROOM], first, count;
static unsigned long sum;
static long items;

static unsigned work(unsigned seed)
{
    unsigned mix[16];
    for (unsigned i = 0; i < 16; i++) mix[i] = seed + i;
    for (unsigned i = 0; i < WORK; i++) mix[i % 16] = mix[i % 16] * 31 + mix[(i + 7) % 16];
    return mix[seed % 16];
}

static void *produce(void *unused)
{
    for (long i = 0; i < items / 2; i++) {
        unsigned item = work((unsigned)i);
        pthread_mutex_lock(&lock);
        while (count == ROOM) pthread_cond_wait(&emptied, &lock);
        buffer[(first + count++) % ROOM] = item;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *unused)
{
    for (long i = 0; i < items / 2; i++) {
        pthread_mutex_lock(&lock);
        while (!count) pthread_cond_wait(&filled, &lock);
        unsigned item = buffer[first];
        first = (first + 1) % ROOM;
        count--;
        pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
        item = work(item);
        pthread_mutex_lock(&lock);
        sum += item;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    items = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    for (int t = 0; t < 4; t++) pthread_create(&threads[t], NULL, t % 2 ? consume : produce, NULL);
    for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
    printf("%lu\n", sum);
    return 0;
}
