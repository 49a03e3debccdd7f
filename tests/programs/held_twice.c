/* A waiter holds its recursive mutex twice, and a wait unlocks it once: nobody can come and tell
 * it. FIXED: it holds it once. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static bool is_ready;

static void await(void)
{
#ifndef FIXED
    pthread_mutex_lock(&lock);
#endif
    while (!is_ready) pthread_cond_wait(&ready, &lock);
#ifndef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *waiter(void *unused)
{
    pthread_mutex_lock(&lock);
    await();
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, waiter, NULL);
    usleep(20000);
    pthread_mutex_lock(&lock);
    is_ready = true;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
