/* A library that no hooks see: a queue under a lock of its own, a table without one, a box that
 * calls back while it is locked, and a lock for whoever wants one. */
#include <pthread.h>
#include <stddef.h>

enum { MANY = 16 };
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER, boxed = PTHREAD_MUTEX_INITIALIZER,
                       lent = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static void *queue[MANY], *table[MANY], *box;
static int in, out;

void queue_put(void *what)
{
    pthread_mutex_lock(&own);
    queue[in++ % MANY] = what;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&own);
}

void *queue_take(void)
{
    pthread_mutex_lock(&own);
    while (in == out) pthread_cond_wait(&more, &own);
    void *what = queue[out++ % MANY];
    pthread_mutex_unlock(&own);
    return what;
}

void table_put(int at, void *what)
{
    table[at] = what;
}

void *table_get(int at)
{
    return table[at];
}

void box_put(void *(*make)(void))
{
    pthread_mutex_lock(&boxed);
    box = make();
    pthread_mutex_unlock(&boxed);
}

void box_end(void (*end)(void *))
{
    pthread_mutex_lock(&boxed);
    if (box) end(box);
    box = NULL;
    pthread_mutex_unlock(&boxed);
}

void lent_lock(void)
{
    pthread_mutex_lock(&lent);
}

void lent_unlock(void)
{
    pthread_mutex_unlock(&lent);
}
