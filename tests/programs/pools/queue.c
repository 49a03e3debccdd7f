/* A pool whose workers wait for tasks by a condition variable. Arguments: workers, tasks. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER, all = PTHREAD_COND_INITIALIZER;
static int queue[MOST], first, last, open_tasks, sum;
static bool ends;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (first == last && !ends) pthread_cond_wait(&some, &lock);
        if (first == last) break;
        int task = queue[first++];
        pthread_mutex_unlock(&lock);
        int square = task * task;
        pthread_mutex_lock(&lock);
        sum += square;
        if (!--open_tasks) pthread_cond_signal(&all);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int n, char **words)
{
    int workers = n > 1 ? atoi(words[1]) : 2, tasks = n > 2 ? atoi(words[2]) : 4, wanted = 0;
    pthread_t threads[MOST];
    for (int i = 0; i < workers; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < tasks; i++) {
        pthread_mutex_lock(&lock);
        queue[last++] = i;
        open_tasks++;
        pthread_cond_signal(&some);
        pthread_mutex_unlock(&lock);
        wanted += i * i;
    }
    pthread_mutex_lock(&lock);
    while (open_tasks) pthread_cond_wait(&all, &lock);
    ends = true;
    pthread_cond_broadcast(&some);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < workers; i++) pthread_join(threads[i], NULL);
    return sum != wanted;
}
