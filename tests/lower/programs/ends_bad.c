/* The destructor of a thread's buffer counts without the lock. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int buffers;

static void release(void *buffer)
{
    free(buffer);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    buffers--;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *run(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&lock);
    buffers++;
    pthread_mutex_unlock(&lock);
    pthread_setspecific(key, malloc(8));
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_key_create(&key, release);
    pthread_create(&a, NULL, run, NULL);
    pthread_create(&b, NULL, run, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(buffers == 0);
    return 0;
}
