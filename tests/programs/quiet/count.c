/* What a thread learns from a semaphore's count alone, by sem_getvalue and by tries that fail, is
 * an order of its own. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

static sem_t units, ready;
static int before_post, before_wait, between;

static void *changes(void *unused)
{
    before_post = 1;
    sem_post(&ready);
    before_wait = 1;
    sem_wait(&units);
    sched_yield();
    between = 1;
    sem_post(&units);
    return unused;
}

static void *looks(void *unused)
{
    int count = 0;
    sem_getvalue(&ready, &count);
    if (count) {
        assert(before_post == 1);
        before_post = 2;
    }
    if (sem_trywait(&units)) {
        assert(errno == EAGAIN && before_wait == 1);
        before_wait = 2;
        while (sem_trywait(&units)) sched_yield();
        assert(between == 1);
    }
    sem_post(&units);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    sem_init(&units, 0, 1);
    sem_init(&ready, 0, 0);
    pthread_create(&threads[0], NULL, changes, NULL);
    pthread_create(&threads[1], NULL, looks, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
