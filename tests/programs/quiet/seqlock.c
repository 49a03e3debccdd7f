/* A sequence lock: writers exclude each other by a mutex, and readers look whether its number is
 * the same behind what they read. -DTORN: the writer puts two states down, one after the other, and
 * the reader takes what it finds. */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint number;
static atomic_int low, high;

static void *writer(void *unused)
{
    pthread_mutex_lock(&writers);
#ifdef TORN
    atomic_store(&low, 1);
    atomic_store(&low, 2);
#else
    atomic_fetch_add(&number, 1);
    atomic_store(&low, 1);
    atomic_store(&high, 1);
    atomic_fetch_add(&number, 1);
#endif
    pthread_mutex_unlock(&writers);
    return unused;
}

static void *reader(void *unused)
{
    unsigned before = atomic_load(&number);
    int seen = atomic_load(&low) + atomic_load(&high);
    return before % 2 || atomic_load(&number) != before || seen ? unused : NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    pthread_create(&threads[2], NULL, reader, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
