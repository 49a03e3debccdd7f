/* What a program finds where it is started: signals that are ignored or blocked, limits, the
 * folder, a terminal, processors, files of today's size; and where its threads run. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static long sum;

static void *add(void *seen)
{
    sum += *(long *)seen % 7;
    return NULL;
}

static long signals(void)
{
    struct sigaction action;
    sigset_t blocked;
    long seen = 0;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < 32; number++) {
        seen += !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN ? number : 0;
        seen += sigismember(&blocked, number) ? 100 * number : 0;
    }
    return seen;
}

int main(int argc, char **argv)
{
    char folder[4096];
    struct rlimit limit;
    struct stat file = {.st_size = 0};
    cpu_set_t processors;
    pthread_t thread;
    if (!getcwd(folder, sizeof folder) || getrlimit(RLIMIT_STACK, &limit) ||
        sched_getaffinity(0, sizeof processors, &processors) || stat(argv[argc - 1], &file))
        return 1;
    long seen = signals() + (long)strlen(folder) + (long)(limit.rlim_cur >> 10) + isatty(0) +
                CPU_COUNT(&processors) + (long)file.st_size;
    pthread_create(&thread, NULL, add, &seen);
    for (long i = 0; i < seen % 5; i++) sum++;
    pthread_join(thread, NULL);
    printf("%s %ld %d\n", folder, seen, sched_getcpu() >= 0);
    return 0;
}
