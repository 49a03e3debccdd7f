/* A worker that is looked after by tries to join it: who finds it running goes on by that, so the
 * worker's end comes later in every schedule. Both workers count without the lock. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done, tries;

static void count(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
#else
    done++;
#endif
}

static void *work(void *unused)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    count();
    return unused;
}

static void *help(void *unused)
{
    count();
    return unused;
}

int main(void)
{
    pthread_t worker, helper;
    pthread_create(&worker, NULL, work, NULL);
    while (pthread_tryjoin_np(worker, NULL) == EBUSY && tries < 3) tries++;
    pthread_create(&helper, NULL, help, NULL);
    for (struct timespec until = {.tv_sec = time(NULL)};
         pthread_timedjoin_np(worker, NULL, &until) == ETIMEDOUT; until.tv_sec++)
        tries++;
    pthread_join(helper, NULL);
    printf("%d tries\n", tries);
    return 0;
}
