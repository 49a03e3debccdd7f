/* assertion: the stop flag is obeyed before the queue is empty: jobs are left where there are any.
 */
#include "open.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queued, done, stop;

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!queued && !stop) pthread_cond_wait(&changed, &lock);
#ifdef FIXED
        if (!queued) break;
#else
        if (stop) break;
#endif
        queued--;
        done++;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t thread;
    int jobs;
    foretell_input(&jobs, sizeof jobs, "jobs");
    if (jobs < 0 || jobs > 3) return 0;
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&lock);
    queued = jobs;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    assert(done == jobs);
    return 0;
}
