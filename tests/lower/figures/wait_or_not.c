/* classes 4, fail 1: figures 2 and 3 of POR-SE: an input says whether the first thread waits. Three
 * classes have a lost signal; in one of these it waits, for ever. */
#include <foretell/input.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int x;

static void *first(void *unused)
{
    pthread_mutex_lock(&lock);
    if (x < 0) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *second(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    foretell_input(&x, sizeof x, "x");
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
