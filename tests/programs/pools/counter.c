/* Workers that take tasks by an atomic index and report by a latch of an atomic and a condition
 * variable. Arguments: workers, tasks. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST = 64 };

static atomic_int next_task, left;
static int tasks, results[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static bool is_done;

static void *work(void *unused)
{
    for (int i; (i = atomic_fetch_add(&next_task, 1)) < tasks;) {
        results[i] = 3 * i;
        if (atomic_fetch_sub(&left, 1) != 1) continue;
        pthread_mutex_lock(&lock);
        is_done = true;
        pthread_cond_broadcast(&done);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int n, char **words)
{
    int workers = n > 1 ? atoi(words[1]) : 2, sum = 0;
    tasks = n > 2 ? atoi(words[2]) : 4;
    pthread_t threads[MOST];
    atomic_store(&left, tasks);
    for (int i = 0; i < workers; i++) pthread_create(&threads[i], NULL, work, NULL);
    pthread_mutex_lock(&lock);
    while (!is_done) pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < tasks; i++) sum += results[i];
    for (int i = 0; i < workers; i++) pthread_join(threads[i], NULL);
    return sum != 3 * tasks * (tasks - 1) / 2;
}
