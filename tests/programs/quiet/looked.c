/* Under a lock one thread looks twice at an atomic, which another one updates without: each time
 * with nothing new. -DFAILS: once with an error. */
#include <pthread.h>

static pthread_mutex_t tasks = PTHREAD_MUTEX_INITIALIZER;
static int error, skipped;

static void *look(void *unused)
{
    pthread_mutex_lock(&tasks);
    if (__atomic_load_n(&error, __ATOMIC_SEQ_CST)) skipped++;
    if (__atomic_load_n(&error, __ATOMIC_SEQ_CST)) skipped++;
    pthread_mutex_unlock(&tasks);
    return unused;
}

static void *work(void *unused)
{
    for (int i = 0; i < 2; i++) {
#ifdef FAILS
        int result = i;
#else
        int result = 0;
#endif
        __atomic_fetch_or(&error, result, __ATOMIC_SEQ_CST);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
