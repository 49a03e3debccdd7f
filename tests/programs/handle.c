/* The handle of a thread is outside of the stack: whoever reads it has it of the creator, and has
 * heard of nothing that the new thread does. The lock is held while the thread is joined that takes
 * it. FIXED: it is given up before. */
#include <pthread.h>
#include <unistd.h>

static pthread_t worker;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int work, stopped, knows_itself;

static void *run(void *unused)
{
#ifdef FIXED
    knows_itself = pthread_equal(worker, pthread_self());
#endif
    pthread_mutex_lock(&lock);
    work++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_create(&worker, NULL, run, NULL);
    usleep(20000);
    pthread_mutex_lock(&lock);
    stopped = 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(worker, NULL);
#ifndef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return stopped + work != 2;
}
