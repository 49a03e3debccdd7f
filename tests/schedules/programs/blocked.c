/* By the input `waits` all threads wait forever, each way in another operation; 0: none does. */
#include <foretell/input.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_barrier_t barrier;
static sem_t tokens;
static unsigned char waits;

static void initialise(void)
{
    if (waits == 3) sem_wait(&tokens);
}

static void *work(void *unused)
{
    if (waits == 1) sem_wait(&tokens);
    if (waits == 2) pthread_barrier_wait(&barrier);
    pthread_once(&once, initialise);
    return unused;
}

int main(void)
{
    pthread_t thread;
    foretell_input(&waits, sizeof waits, "waits");
    sem_init(&tokens, 0, 0);
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, work, 0);
    if (waits == 2) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&changed, &lock);
    }
    if (waits == 3) pthread_once(&once, initialise);
    pthread_join(thread, 0);
    return 0;
}
