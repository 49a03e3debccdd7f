/* A timer's function, in a thread of its own, counts what main counts too. FIXED: under a lock. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t ticked;
static int ticks;

static void count(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    ticks++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void tick(union sigval unused)
{
    (void)unused;
    count();
    sem_post(&ticked);
}

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
    struct itimerspec soon = {.it_value = {.tv_nsec = 20000000}};
    timer_t timer;
    sem_init(&ticked, 0, 0);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, NULL))
        return 1;
    count();
    sem_wait(&ticked);
    timer_delete(timer);
    pthread_mutex_lock(&lock);
    int all = ticks;
    pthread_mutex_unlock(&lock);
    return all != 2;
}
