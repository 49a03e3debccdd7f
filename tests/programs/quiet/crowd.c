/* More threads asleep at once than all could be told apart by who sleeps and who does not, each of
 * them woken in time: by as many signals, by those woken before, by jobs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CROWD = 20, WORKERS = 16, JOBS = 60 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, told = PTHREAD_COND_INITIALIZER;

/* ---- as many signals as threads; half as many, and those who wake pass them on ---- */

static int here, gone, open;
static int passed_on; /* by each of the first */

static void *wait_until_open(void *unused)
{
    pthread_mutex_lock(&lock);
    if (++here == CROWD) pthread_cond_signal(&told);
    while (!open) pthread_cond_wait(&changed, &lock);
    if (++gone <= CROWD / 2 && passed_on) pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static int let_go(int signals)
{
    pthread_t threads[CROWD];
    here = gone = open = 0;
    passed_on = signals < CROWD;
    for (int i = 0; i < CROWD; i++) pthread_create(&threads[i], NULL, wait_until_open, NULL);
    pthread_mutex_lock(&lock);
    while (here < CROWD) pthread_cond_wait(&told, &lock);
    open = 1;
    for (int i = 0; i < signals; i++) pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < CROWD; i++) pthread_join(threads[i], NULL);
    return gone;
}

/* ---- a pool ---- */

typedef struct job {
    struct job *next;
    int number;
} job;

static job *jobs, **last = &jobs;
static int left, stop;
static long sum;

static job *take_job(void)
{
    pthread_mutex_lock(&lock);
    while (!jobs && !stop) pthread_cond_wait(&changed, &lock);
    job *mine = jobs;
    if (mine && !(jobs = mine->next)) last = &jobs;
    pthread_mutex_unlock(&lock);
    return mine;
}

static void *work(void *unused)
{
    for (job *mine; (mine = take_job());) {
        int number = mine->number;
        free(mine);
        pthread_mutex_lock(&lock);
        sum += number;
        if (--left == 0) pthread_cond_signal(&told);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void give_job(int number)
{
    job *one = malloc(sizeof *one);
    *one = (job){.number = number};
    pthread_mutex_lock(&lock);
    left++;
    *last = one;
    last = &one->next;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void run_pool(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < JOBS; i++) give_job(i);
    pthread_mutex_lock(&lock);
    while (left) pthread_cond_wait(&told, &lock);
    stop = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
}

int main(void)
{
    int all = let_go(CROWD), passed = let_go(CROWD / 2);
    run_pool();
    printf("%d %d %ld\n", all, passed, sum);
    return all != CROWD || passed != CROWD || sum != JOBS * (JOBS - 1) / 2;
}
