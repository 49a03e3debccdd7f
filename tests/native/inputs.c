/* Time never goes back from a cause to its effect, passes with sleeps and limits, and lets a loop
 * that waits for it end; random numbers are the thread's own. No assertion fails in any schedule.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static long long newest;
static unsigned drawn[2];

static long long now(clockid_t clock)
{
    struct timespec t;
    assert(!clock_gettime(clock, &t));
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void *look(void *number)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        long long t = now(CLOCK_MONOTONIC);
        assert(t > newest);
        newest = t;
        pthread_mutex_unlock(&lock);
    }
    assert(getrandom(number, sizeof(unsigned), 0) == sizeof(unsigned));
    return NULL;
}

static void waits(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    long long before = now(CLOCK_REALTIME), end = before + 50000000;
    until.tv_sec = (time_t)(end / 1000000000);
    until.tv_nsec = end % 1000000000;
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&never, &lock, &until);
    pthread_mutex_unlock(&lock);
    assert(now(CLOCK_REALTIME) >= end);
    before = now(CLOCK_MONOTONIC);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = 3000000}, NULL);
    assert(now(CLOCK_MONOTONIC) - before >= 3000000);
    time_t start = time(NULL);
    while (time(NULL) < start + 2) continue;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, look, &drawn[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(drawn[0] != drawn[1]);
    waits();
    return 0;
}
