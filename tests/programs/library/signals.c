/* Handlers: one posts a semaphore that main waits for, one writes a flag that main spins on, one
 * comes while main sleeps, one interrupts a wait. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static sem_t posted, never;
static volatile sig_atomic_t flag, seen;
static pthread_t first;

static void post(int number)
{
    (void)number;
    sem_post(&posted);
}

static void set(int number, siginfo_t *info, void *context)
{
    (void)context;
    seen = info->si_signo == number;
    flag = 1;
}

static void *send(void *number)
{
    usleep(20000);
    pthread_kill(first, *(int *)number);
    return NULL;
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
    sigaction(number, NULL, &old);
    printf("%d\n", old.sa_handler == handler);
}

int main(void)
{
    pthread_t thread;
    int number = SIGUSR1;
    struct itimerval timer = {.it_value = {.tv_usec = 20000}};
    struct sigaction action = {.sa_sigaction = set, .sa_flags = SA_SIGINFO};
    first = pthread_self();
    sem_init(&posted, 0, 0);
    sem_init(&never, 0, 0);
    handle(SIGUSR1, post, SA_RESTART);
    pthread_create(&thread, NULL, send, &number);
    while (sem_wait(&posted)) {
    }
    pthread_join(thread, NULL);
    puts("posted by another thread's signal");
    handle(SIGALRM, post, SA_RESTART);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (sem_wait(&posted)) {
    }
    puts("posted by a timer");
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (!flag) {
    }
    printf("flag %d\n", seen);
    flag = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    int waited = sem_wait(&never), why = errno; /* no SA_RESTART */
    printf("%d %s, flag %d\n", waited, strerror(why), flag);
    flag = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    waited = usleep(2000000), why = errno;
    printf("%d %s, flag %d\n", waited, strerror(why), flag);
    raise(SIGUSR1);
    printf("%d\n", sem_trywait(&posted));
    printf("%d\n", signal(SIGUSR1, SIG_IGN) == post);
    raise(SIGUSR1);
    puts("ignored");
    return 0;
}
