/* What a function gives by a pointer was there before by chance: it does not depend on what was
 * read. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t unit;
static int x = 1;

static int read_x(void)
{
    pthread_mutex_lock(&lock);
    int seen = x;
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *write_x(void *unused)
{
    pthread_mutex_lock(&lock);
    x = 5;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *one(void *unused)
{
    (void)unused;
    return (void *)1;
}

static void *reader(void *unused)
{
    pthread_t child;
    pthread_mutexattr_t attributes;
    int units = read_x(), type = read_x();
    void *result = (void *)(long)read_x();
    sem_getvalue(&unit, &units);
    assert(units == 1);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, 1);
    pthread_mutexattr_gettype(&attributes, &type);
    assert(type == 1);
    pthread_create(&child, NULL, one, NULL);
    pthread_join(child, &result);
    assert(result == (void *)1);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    sem_init(&unit, 0, 1);
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, write_x, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
