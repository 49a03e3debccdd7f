/* The first pthread_exit loads a library while another thread is being created: both take the
 * dynamic linker's lock, and memory is taken under it. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cleaned;

static void clean(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    cleaned++;
    pthread_mutex_unlock(&lock);
}

static void leave(int depth)
{
    if (!depth) pthread_exit(NULL);
    leave(depth - 1);
}

static void *leaf(void *argument)
{
    pthread_cleanup_push(clean, NULL);
    leave(3);
    pthread_cleanup_pop(1);
    return argument;
}

static void *parent(void *argument)
{
    pthread_t children[3];
    for (int i = 0; i < 3; i++) pthread_create(&children[i], NULL, leaf, NULL);
    for (int i = 0; i < 3; i++) pthread_join(children[i], NULL);
    sem_post(&ended);
    return argument;
}

int main(void)
{
    pthread_t thread;
    sem_init(&ended, 0, 0);
    pthread_create(&thread, NULL, parent, NULL);
    pthread_detach(thread);
    sem_wait(&ended);
    printf("%d cleaned\n", cleaned);
    return 0;
}
