/* Orders between threads by what is no lock: joins of every kind, signals, timers, semaphores of
 * System V, message queues. Nothing races. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int cells[8];
static sem_t ticked;
static volatile sig_atomic_t alarmed;
static int set;
static mqd_t queue;

static void *write_cell(void *which)
{
    *(int *)which = 1;
    return NULL;
}

static void on_timer(union sigval value)
{
    cells[3] = *(int *)value.sival_ptr;
    sem_post(&ticked);
}

static void on_alarm(int number)
{
    (void)number;
    alarmed = cells[4];
}

static void *give(void *unused)
{
    struct sembuf up = {0, 1, 0};
    char c = 'x';
    cells[5] = 1;
    semop(set, &up, 1);
    cells[6] = 1;
    if (queue != (mqd_t)-1) mq_send(queue, &c, 1, 0);
    return unused;
}

static void *wait_for_end(void *signals)
{
    int number;
    sigwait(signals, &number);
    return (void *)(long)cells[7];
}

static struct timespec soon(clockid_t clock)
{
    struct timespec until;
    clock_gettime(clock, &until);
    until.tv_sec += 60;
    return until;
}

static int joins(void)
{
    pthread_t t;
    struct timespec real = soon(CLOCK_REALTIME), steady = soon(CLOCK_MONOTONIC);
    pthread_create(&t, NULL, write_cell, &cells[0]);
    while (pthread_tryjoin_np(t, NULL)) sched_yield();
    pthread_create(&t, NULL, write_cell, &cells[1]);
    if (pthread_timedjoin_np(t, NULL, &real)) return -1;
    pthread_create(&t, NULL, write_cell, &cells[2]);
    if (pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &steady)) return -1;
    return cells[0] + cells[1] + cells[2];
}

static int timers(void)
{
    timer_t timer;
    int start = 1;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_ptr = &start};
    struct itimerspec when = {.it_value = {.tv_nsec = 1000000}};
    struct itimerval also = {.it_value = {.tv_usec = 1000}};
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    event.sigev_notify_function = on_timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &when, NULL);
    while (sem_wait(&ticked)) continue;
    timer_delete(timer);
    cells[4] = 1;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &also, NULL);
    while (!alarmed) continue;
    return cells[3] + alarmed;
}

static int queues(void)
{
    char name[32], c[8];
    struct mq_attr size = {.mq_maxmsg = 2, .mq_msgsize = sizeof c};
    struct sembuf down = {0, -1, 0};
    pthread_t t;
    snprintf(name, sizeof name, "/ordered%d", (int)getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &size); /* a container may have none */
    set = semget(IPC_PRIVATE, 1, 0600);
    pthread_create(&t, NULL, give, NULL);
    semop(set, &down, 1);
    int got = cells[5];
    if (queue != (mqd_t)-1 && mq_receive(queue, c, sizeof c, NULL) == 1) got += cells[6];
    pthread_join(t, NULL);
    semctl(set, 0, IPC_RMID);
    if (queue != (mqd_t)-1) mq_unlink(name);
    return got;
}

int main(void)
{
    sigset_t signals;
    pthread_t waiter;
    void *seen;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    sem_init(&ticked, 0, 0);
    pthread_create(&waiter, NULL, wait_for_end, &signals);
    int sum = joins() + timers() + queues();
    cells[7] = 1;
    kill(getpid(), SIGTERM);
    pthread_join(waiter, &seen);
    return sum < 6 || !seen;
}
