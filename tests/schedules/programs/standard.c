/* C11's threads and locks; a call that is made once within another one; a mutex that a static
 * initialiser makes recursive. */
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "foretell/input.h"

static once_flag outer = ONCE_FLAG_INIT;
static pthread_once_t inner = PTHREAD_ONCE_INIT;
static pthread_mutex_t nested = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static mtx_t lock;
static cnd_t changed;
static unsigned char depth, early;
static int made, ready;

static void make_inner(void)
{
    made = 1;
}

static void make_outer(void)
{
    pthread_once(&inner, make_inner);
    made = 2;
}

static void descend(unsigned n)
{
    pthread_mutex_lock(&nested);
    if (n) descend(n - 1);
    pthread_mutex_unlock(&nested);
}

static int work(void *argument)
{
    if (early) pthread_once(&inner, make_inner);
    call_once(&outer, make_outer);
    descend(depth & 1);
    mtx_lock(&lock);
    while (!ready) cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    return argument ? 1 : 0;
}

int main(void)
{
    const struct timespec until = {0};
    thrd_t thread;
    foretell_input(&depth, sizeof depth, "depth");
    foretell_input(&early, sizeof early, "early");
    mtx_init(&lock, mtx_timed);
    cnd_init(&changed);
    thrd_create(&thread, work, NULL);
    call_once(&outer, make_outer);
    descend(depth & 1);
    if (mtx_timedlock(&lock, &until) != thrd_success) mtx_lock(&lock);
    ready = 1;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    int result;
    thrd_join(thread, &result);
    cnd_destroy(&changed);
    mtx_destroy(&lock);
    return made == 2 ? result : 1;
}
