/* Two pairs of accesses race: `data` by both threads, `ready` by both threads. */
#include <pthread.h>

static int ready, data, seen;

static void *publish(void *unused)
{
    (void)unused;
    data = 1;
    ready = 1;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    if (ready) seen = data;
    seen += data;
    pthread_join(thread, NULL);
    return seen < 0;
}
