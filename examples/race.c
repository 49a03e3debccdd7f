/* A counter of hits that one thread updates and another prints, with no lock: a data race. */
#include <pthread.h>
#include <stdio.h>

static int hits;

static void *serve(void *unused)
{
    hits = hits + 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, serve, NULL);
    printf("%d hits so far\n", hits);
    pthread_join(thread, NULL);
    return 0;
}
