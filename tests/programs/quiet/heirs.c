/* Who ends with a robust mutex gives it back: the next one to lock it is told, and goes on. */
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;
static int sum;

static void take(void)
{
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD) pthread_mutex_consistent(&mutex);
}

static void *add(void *unused)
{
    take();
    sum++;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *end_with_it(void *unused)
{
    take();
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    for (int t = 0; t < 3; t++) pthread_create(&threads[t], NULL, t == 2 ? end_with_it : add, NULL);
    for (int t = 0; t < 3; t++) pthread_join(threads[t], NULL);
    return sum != 2;
}
