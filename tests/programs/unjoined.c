/* A thread fails while main, which joins nobody, ends the process: in the recording of the failing
 * schedule main's end waits for the failure. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items;

static void *add(void *unused)
{
    pthread_mutex_lock(&lock);
    items++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *look(void *unused)
{
    pthread_mutex_lock(&lock);
    int seen = items;
    pthread_mutex_unlock(&lock);
    assert(seen != 1);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, add, NULL);
    pthread_create(&threads[1], NULL, look, NULL);
    return 0;
}
