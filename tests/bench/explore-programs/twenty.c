/* usage: twenty SECTIONS MEGABYTES: two threads with so many sections of one lock each (five:
 * twenty actions), in a process that has touched so much heap twenty SECTIONS MEGABYTES RUNS: so
 * many copies of that process, one behind the other, each of which runs the two threads and ends;
 * prints how many a second */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sections, done;

static void *run(void *unused)
{
    (void)unused;
    for (int i = 0; i < sections; i++) {
        pthread_mutex_lock(&lock);
        done++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void run_both(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    sections = (int)strtol(argv[1], NULL, 10);
    size_t bytes = (size_t)strtoul(argv[2], NULL, 10) << 20;
    char *heap = malloc(bytes + 1);
    memset(heap, 1, bytes + 1);
    if (argc == 3) {
        run_both();
        return done != 2 * sections || heap[bytes] != 1;
    }
    long runs = strtol(argv[3], NULL, 10);
    double start = now();
    for (long i = 0; i < runs; i++) {
        pid_t child = fork();
        if (!child) {
            run_both();
            _exit(0);
        }
        if (waitpid(child, NULL, 0) != child) return 1;
    }
    printf("%.0f\n", (double)runs / (now() - start));
    return 0;
}
