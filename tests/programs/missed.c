/* Some wait for news for ever: who comes late has missed them. Others wait for some time only. It
 * is up while the news are made up, which they learn behind them. FIXED: who waits for ever looks
 * first whether they came. */
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum {
    COMES = 50000,
    WAITS = 100000000,
    SECOND = 1000000000,
    THINKS = 300000000,
    PATIENT = 4,
    HASTY = 2
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static int waits, came, missed;

static void *wait_for_ever(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!came)
#endif
        pthread_cond_wait(&news, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *wait_some_time(void *unused)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += WAITS;
    end.tv_sec += end.tv_nsec / SECOND;
    end.tv_nsec %= SECOND;
    pthread_mutex_lock(&lock);
    waits = 1;
    if (pthread_cond_timedwait(&news, &lock, &end) == ETIMEDOUT && came) missed = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

/* The recorder sees nothing of it: nobody else goes on meanwhile. */
__attribute__((no_sanitize("thread"))) static void think(void)
{
    for (int i = 0; i < THINKS; i++) __asm__ volatile("");
}

int main(void)
{
    pthread_t threads[PATIENT + HASTY];
    for (int i = 0; i < PATIENT + HASTY; i++)
        pthread_create(&threads[i], NULL, i < PATIENT ? wait_for_ever : wait_some_time, NULL);
    usleep(COMES);
    pthread_mutex_lock(&lock);
    think();
    came = waits;
    pthread_cond_broadcast(&news);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < PATIENT + HASTY; i++) pthread_join(threads[i], NULL);
    return !missed;
}
