/* Threads whose turns the values of variables decide, each of them right: nobody waits for ever,
 * and what sums and counts do not show of it, the order of those values does. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 120, MOST = 8 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;

static void run(void *(*work)(void *), int n)
{
    pthread_t threads[MOST];
    for (long i = 0; i < n; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
}

/* ---- odd and even: a signal finds the only other waiter ---- */

static int next;

static void *count_half(void *parity)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (next < ROUNDS && next % 2 != (int)(long)parity) pthread_cond_wait(&changed, &lock);
        int at = next;
        if (at < ROUNDS) next++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
        if (at >= ROUNDS) return NULL;
    }
}

/* ---- await, act, pass on: two other locks in either order, never at once ---- */

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static long turn, acts;

static void await(long who)
{
    pthread_mutex_lock(&lock);
    while (turn != who) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void pass_on(long who)
{
    pthread_mutex_lock(&lock);
    turn = who;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *act_in_turn(void *number)
{
    long me = (long)number;
    for (int i = 0; i < ROUNDS; i++) {
        await(me);
        pthread_mutex_lock(me ? &right : &left);
        pthread_mutex_lock(me ? &left : &right);
        acts++;
        pthread_mutex_unlock(me ? &left : &right);
        pthread_mutex_unlock(me ? &right : &left);
        pass_on(1 - me);
    }
    return NULL;
}

/* ---- a list of jobs, made in rounds that are waited for ---- */

typedef struct job {
    struct job *next;
    int number;
} job;

enum { WORKERS = 3, JOBS = 4 };
static job *jobs;
static int pending, stop;
static long sum;

static void *do_jobs(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!jobs && !stop) pthread_cond_wait(&changed, &lock);
        if (!jobs) break;
        job *mine = jobs;
        jobs = mine->next;
        pthread_mutex_unlock(&lock);
        int number = mine->number;
        free(mine);
        pthread_mutex_lock(&lock);
        sum += number;
        if (--pending == 0) pthread_cond_signal(&idle);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void give_jobs(void)
{
    for (int i = 0; i < JOBS; i++) {
        job *one = malloc(sizeof *one);
        one->number = i;
        pthread_mutex_lock(&lock);
        one->next = jobs;
        jobs = one;
        pending++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    while (pending) pthread_cond_wait(&idle, &lock);
    pthread_mutex_unlock(&lock);
}

static void run_pool(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, do_jobs, NULL);
    for (int i = 0; i < ROUNDS / 4; i++) give_jobs();
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
}

int main(void)
{
    run(count_half, 2);
    run(act_in_turn, 2);
    run_pool();
    printf("%d %ld %ld\n", next, acts, sum);
    return next != ROUNDS || acts != 2 * ROUNDS || sum != ROUNDS / 4 * (JOBS * (JOBS - 1) / 2);
}
