/* An initialiser takes a lock that others hold when they come to it. FIXED: they take it after. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int limit, used;

static void set_limit(void)
{
    pthread_mutex_lock(&lock);
    limit = 10;
    pthread_mutex_unlock(&lock);
}

static void *ask(void *unused)
{
    pthread_once(&once, set_limit);
    return unused;
}

static void *use(void *unused)
{
#ifdef FIXED
    pthread_once(&once, set_limit);
#endif
    pthread_mutex_lock(&lock);
    pthread_once(&once, set_limit);
    used = limit;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, ask, NULL);
    pthread_create(&threads[1], NULL, use, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return used != 10;
}
