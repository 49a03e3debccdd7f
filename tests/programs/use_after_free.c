/* The owner frees what another thread may still use. FIXED: it joins first. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *shared;

static void *user(void *unused)
{
    pthread_mutex_lock(&lock);
    *shared += 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    shared = malloc(sizeof *shared);
    *shared = 0;
    pthread_create(&thread, NULL, user, NULL);
#ifdef FIXED
    pthread_join(thread, NULL);
    free(shared);
#else
    usleep(20000); /* long enough, it seems */
    pthread_mutex_lock(&lock);
    free(shared);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
#endif
    return 0;
}
