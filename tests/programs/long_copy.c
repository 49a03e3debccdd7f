/* A message longer than any register is copied into shared memory and read there without a lock.
 * FIXED: under one. */
#include <pthread.h>
#include <string.h>

enum { LENGTH = 4096 };
static char made[LENGTH], message[LENGTH];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int last;

#ifdef FIXED
#define LOCK()   pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK()   (void)lock
#define UNLOCK() (void)lock
#endif

static void *sender(void *unused)
{
    memset(made, 'm', sizeof made);
    LOCK();
    memcpy(message, made, sizeof message);
    UNLOCK();
    return unused;
}

static void *receiver(void *unused)
{
    LOCK();
    last = message[LENGTH - 1];
    UNLOCK();
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, sender, NULL);
    pthread_create(&threads[1], NULL, receiver, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return last != 0 && last != 'm';
}
