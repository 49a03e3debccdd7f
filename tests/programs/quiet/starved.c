/* A thread looks under a mutex, again and again, whether another one has set what it waits for:
 * that one must get the mutex at some time, whatever the length of turns. */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int set;

static void *look(void *unused)
{
    for (int seen = 0; !seen;) {
        pthread_mutex_lock(&m);
        seen = set;
        pthread_mutex_unlock(&m);
    }
    return unused;
}

static void *put(void *unused)
{
    pthread_mutex_lock(&m);
    set = 1;
    pthread_mutex_unlock(&m);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, put, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
