/* A signal comes while main waits for a mutex; its handler waits too, for the end of a thread and
 * at a semaphore, and main goes on behind it. Nothing may be found. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t left;
static pthread_t owner, other;
static atomic_int asks, handled;
static int shared;

static void handle(int number)
{
    struct timespec past = {.tv_sec = 1};
    (void)number;
    pthread_join(owner, NULL);
    sem_wait(&left);
    if (sem_timedwait(&left, &past)) atomic_store(&handled, 1);
}

static void *own(void *first)
{
    pthread_mutex_lock(&lock);
    shared++;
    while (!atomic_load(&asks)) usleep(1000);
    usleep(10000); /* main asks for the mutex by now */
    pthread_kill(*(pthread_t *)first, SIGUSR1);
    usleep(10000);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *leave(void *unused)
{
    while (!atomic_load(&asks)) usleep(1000);
    usleep(50000); /* the handler waits by now */
    pthread_mutex_lock(&lock);
    sem_post(&left);
    usleep(20000); /* the handler is done by now */
    shared++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t self = pthread_self();
    sem_init(&left, 0, 0);
    signal(SIGUSR1, handle);
    pthread_create(&owner, NULL, own, &self);
    pthread_create(&other, NULL, leave, NULL);
    usleep(10000); /* the owner has the mutex by now */
    atomic_store(&asks, 1);
    if (pthread_mutex_lock(&lock)) return 2;
    shared++;
    pthread_mutex_unlock(&lock);
    pthread_join(other, NULL);
    return shared != 3 || !atomic_load(&handled);
}
