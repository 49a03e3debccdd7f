/* A server forks a process for each request while another thread may hold the log's lock; the
 * process logs too. Corrected, the log's lock is taken around the fork (pthread_atfork). */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;

static void note(void)
{
    pthread_mutex_lock(&log_lock);
    lines++;
    pthread_mutex_unlock(&log_lock);
}

static void *work(void *unused)
{
    for (int i = 0; i < 3; i++) note();
    return unused;
}

#ifdef FIXED
static void before(void)
{
    pthread_mutex_lock(&log_lock);
}

static void after(void)
{
    pthread_mutex_unlock(&log_lock);
}
#endif

static void serve(void)
{
    pid_t process = fork();
    if (!process) {
        note();
        _exit(0);
    }
    waitpid(process, NULL, 0);
}

int main(void)
{
    pthread_t worker;
#ifdef FIXED
    pthread_atfork(before, after, after);
#endif
    pthread_create(&worker, NULL, work, NULL);
    for (int i = 0; i < 2; i++) serve();
    pthread_join(worker, NULL);
    return 0;
}
