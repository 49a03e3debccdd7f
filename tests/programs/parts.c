/* A structure of main's that another thread has a pointer to: main counts in it too. FIXED: under
 * the lock, and whoever waits for the other one in the same structure finds it done. */
#include <pthread.h>
#include <stdbool.h>

struct job {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done;
    int counts[2];
};

static void *work(void *argument)
{
    struct job *job = argument;
    pthread_mutex_lock(&job->lock);
    job->counts[1]++;
    job->is_done = true;
    pthread_cond_signal(&job->changed);
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

int main(void)
{
    struct job job = {.is_done = false};
    pthread_t thread;
    pthread_mutex_init(&job.lock, NULL);
    pthread_cond_init(&job.changed, NULL);
    pthread_create(&thread, NULL, work, &job);
#ifndef FIXED
    job.counts[1]++;
#endif
    pthread_mutex_lock(&job.lock);
#ifdef FIXED
    job.counts[1]++;
#endif
    while (!job.is_done) pthread_cond_wait(&job.changed, &job.lock);
    pthread_mutex_unlock(&job.lock);
    pthread_join(thread, NULL);
    return job.counts[1] != 2;
}
