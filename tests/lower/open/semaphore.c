/* assertion: a semaphore that is to admit one begins at what the input says. */
#include <semaphore.h>

#include "open.h"

static sem_t room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static void change(int by)
{
    pthread_mutex_lock(&lock);
    inside += by;
    assert(inside <= 1);
    pthread_mutex_unlock(&lock);
}

static void *enter(void *unused)
{
    (void)unused;
    sem_wait(&room);
    change(1);
    change(-1);
    sem_post(&room);
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    unsigned count;
    foretell_input(&count, sizeof count, "count");
#ifdef FIXED
    if (count != 1) return 0;
#else
    if (count < 1 || count > 2) return 0;
#endif
    sem_init(&room, 0, count);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, enter, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
