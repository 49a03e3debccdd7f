/* The yardstick of tests/bench/native/run: a loop that forks this process, lets it run two threads
 * of five sections each, and reaps it. Prints how often a second. */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 3000, SECTIONS = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused)
{
    (void)unused;
    for (int i = 0; i < SECTIONS; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

int main(void)
{
    double start = now();
    for (int i = 0; i < RUNS; i++) {
        pthread_t threads[2];
        pid_t child = fork();
        if (child) {
            waitpid(child, NULL, 0);
            continue;
        }
        for (int t = 0; t < 2; t++) pthread_create(&threads[t], NULL, run, NULL);
        for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
        _exit(0);
    }
    printf("%.0f a second\n", RUNS / (now() - start));
    return 0;
}
