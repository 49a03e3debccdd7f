/* A queue of one place between a producer and a consumer; the input says how many items there are,
 * and whether the consumer looks once more at the end. With -DMORE the producer has a section that
 * the schedules of the other build do not have, with -DREPLACED it becomes another program. */
#include <assert.h>
#include <foretell/input.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full, taken, again;
static unsigned char items;

static void *produce(void *unused)
{
    for (int i = 0; i < items; i++) {
#ifdef MORE
        if (i == 1) pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock);
#endif
#ifdef REPLACED
        execl("/bin/true", "true", (char *)0);
#endif
        pthread_mutex_lock(&lock);
        while (full) pthread_cond_wait(&changed, &lock);
        full = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *unused)
{
    for (int i = 0; i < items; i++) {
        pthread_mutex_lock(&lock);
        while (!full) pthread_cond_wait(&changed, &lock);
        full = 0;
        taken++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    if (again) {
        pthread_mutex_lock(&lock);
        taken += full;
        pthread_mutex_unlock(&lock);
    }
    pthread_exit(unused);
}

int main(void)
{
    pthread_t producer, consumer;
    foretell_input(&items, sizeof items, "items");
    foretell_input(&again, sizeof again, "again");
    if (items > 3) return 0;
    pthread_create(&producer, 0, produce, 0);
    pthread_create(&consumer, 0, consume, 0);
    pthread_join(producer, 0);
    pthread_join(consumer, 0);
    assert(taken == items);
    return 0;
}
