/* Whoever gives up waiting for a lock knows that another one has it, and so what that one did
 * before. What it does behind the lock, the other one may not have done yet. FIXED: before. */
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 100000, KEEPS = 600000, SECOND = 1000000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static int owner, rows, seen;

static void *own(void *unused)
{
#ifdef FIXED
    owner = 1;
    rows = 2;
#endif
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&table);
#ifndef FIXED
    owner = 1;
    rows = 2;
#endif
    usleep(KEEPS);
    pthread_rwlock_unlock(&table);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *give_up(void *unused)
{
    struct timespec end;
    usleep(LOOKS);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += LOOKS * 1000;
    end.tv_sec += end.tv_nsec / SECOND;
    end.tv_nsec %= SECOND;
    if (pthread_mutex_timedlock(&mutex, &end) == ETIMEDOUT)
        seen += owner;
    else
        pthread_mutex_unlock(&mutex);
    if (pthread_rwlock_timedrdlock(&table, &end) == ETIMEDOUT)
        seen += rows;
    else
        pthread_rwlock_unlock(&table);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, own, NULL);
    pthread_create(&b, NULL, give_up, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return seen != 3;
}
