/* What a thread does because its robust mutex's owner ended, or because that was never mended,
 * comes behind that end, and behind who gave the mutex up. -DTWO: two threads are refused, and both
 * go on without a lock. */
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int left, given_up;

static void *end_with_it(void *unused)
{
    left = 1;
    pthread_mutex_lock(&mutex);
    return unused;
}

static void *inherit(void *unused)
{
    int told = pthread_mutex_lock(&mutex);
    if (told == EOWNERDEAD) {
        left = 2;
        given_up = 1;
    }
    if (told != ENOTRECOVERABLE) pthread_mutex_unlock(&mutex);
    return unused;
}

static void *come_late(void *unused)
{
    int told = pthread_mutex_lock(&mutex);
    if (told == ENOTRECOVERABLE) given_up = 2;
    if (told == EOWNERDEAD) pthread_mutex_consistent(&mutex);
    if (told != ENOTRECOVERABLE) pthread_mutex_unlock(&mutex);
    return unused;
}

#ifdef TWO
enum { THREADS = 4 };
#else
enum { THREADS = 3 };
#endif

int main(void)
{
    pthread_t threads[THREADS];
    void *(*const start[])(void *) = {end_with_it, inherit, come_late, come_late};
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, start[t], NULL);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    return 0;
}
