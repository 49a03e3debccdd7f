/* A block is used up to where malloc_usable_size() says that it ends, behind what was asked for.
 * A larger block that was freed had lain there. */
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static sem_t full, empty;
static unsigned char *block;

static void *use(void *unused)
{
    for (int round = 0; round < 2; round++) {
        sem_wait(&full);
        for (size_t i = 0; i < malloc_usable_size(block); i++) block[i]++;
        sem_post(&empty);
    }
    return unused;
}

static void fill(size_t size)
{
    free(block);
    block = malloc(size);
    for (size_t i = 0; i < malloc_usable_size(block); i++) block[i] = 1;
    sem_post(&full);
    sem_wait(&empty);
}

int main(void)
{
    pthread_t thread;
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 0);
    pthread_create(&thread, NULL, use, NULL);
    fill(40);
    fill(25);
    pthread_join(thread, NULL);
    free(block);
    return 0;
}
