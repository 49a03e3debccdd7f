/* Where threads run, and how many processors there are: the program's own business, whatever the
 * recorder does to go from one thread to the next. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static pthread_barrier_t barrier;
static int tid;

static int of_thread(pid_t thread)
{
    cpu_set_t set;
    return sched_getaffinity(thread, sizeof set, &set) ? -1 : CPU_COUNT(&set);
}

static int of_handle(pthread_t thread)
{
    cpu_set_t set;
    return pthread_getaffinity_np(thread, sizeof set, &set) ? -1 : CPU_COUNT(&set);
}

/* Hands over time and again. */
static void meet(void)
{
    for (int i = 0; i < 8; i++) pthread_barrier_wait(&barrier);
}

static void *work(void *seen)
{
    tid = (int)syscall(SYS_gettid);
    meet();
    *(int *)seen = of_thread(0);
    meet();
    return NULL;
}

static void of_children(void)
{
    char line[20], *const arguments[] = {"nproc", NULL};
    pid_t child;
    fflush(stdout);
    if (system("nproc")) puts("no nproc");
    FILE *said = popen("nproc", "r");
    printf("%s", fgets(line, sizeof line, said));
    pclose(said);
    fflush(stdout);
    posix_spawnp(&child, "nproc", NULL, NULL, arguments, environ);
    waitpid(child, NULL, 0);
    if (!(child = fork())) {
        printf("%d\n", of_thread(0));
        fflush(stdout);
        execlp("nproc", "nproc", (char *)NULL);
    }
    waitpid(child, NULL, 0);
}

static void look(const char *when)
{
    pthread_t thread;
    int seen = 0;
    pthread_create(&thread, NULL, work, &seen);
    meet();
    printf("%s: %d %d %d %d %ld %d\n", when, of_thread(0), of_thread(tid), of_handle(thread),
           of_handle(pthread_self()), sysconf(_SC_NPROCESSORS_ONLN), get_nprocs());
    meet();
    pthread_join(thread, NULL);
    printf("in the thread: %d\n", seen);
    of_children();
}

int main(void)
{
    cpu_set_t set, first;
    pthread_barrier_init(&barrier, NULL, 2);
    look("as given");
    sched_getaffinity(0, sizeof set, &set);
    CPU_ZERO(&first);
    int one = 0;
    while (!CPU_ISSET(one, &set)) one++;
    CPU_ZERO(&first);
    CPU_SET(one, &first);
    sched_setaffinity(0, sizeof first, &first);
    look("on one");
    sched_setaffinity(0, sizeof set, &set);
    look("on all again");
    return 0;
}
