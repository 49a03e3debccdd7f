/* deadlock: where the input asks for it, the flag is set and signalled without the mutex, between
 * the waiter's look and its wait. */
#include <stdatomic.h>

#include "open.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int stop;

static void *wait_for_stop(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!stop) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t thread;
    int quick;
    foretell_input(&quick, sizeof quick, "quick");
    pthread_create(&thread, 0, wait_for_stop, 0);
#ifdef FIXED
    quick = 0;
#endif
    if (quick != 42) pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_signal(&changed);
    if (quick != 42) pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
