/* Waits for a signal without asking whether it came already. FIXED: a flag says so. */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static bool is_ready;

static void *waiter(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!is_ready) pthread_cond_wait(&ready, &lock);
#else
    pthread_cond_wait(&ready, &lock);
#endif
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
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
