/* Robust mutexes: a thread ends with one. With -DFIXED the next owner does its part. The argument
 * chooses: ignored   the next owner does not make it consistent: the one behind it cannot use it
 *   early     the value behind it is half written, and is used all the same
 *   tried     by a try, and by a wait for a condition
 *   woken     the same as ignored, where a wait for a condition ends with it
 *   nested    a recursive one, which is locked twice when its owner ends */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t m;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int low = 1, high = 1, told, lost;
static const char *what;

static int is(const char *name)
{
    return !strcmp(what, name);
}

static void *leave(void *unused)
{
    int result = pthread_mutex_lock(&m);
    if (result == ENOTRECOVERABLE) return unused;
    if (is("nested")) pthread_mutex_lock(&m);
    low = 2; /* and ends before it writes the other half */
    pthread_cond_broadcast(&c);
    return unused;
}

static void *use(void *unused)
{
    int result = is("tried") ? pthread_mutex_trylock(&m) : pthread_mutex_lock(&m);
    if (result == EBUSY) return unused;
    if ((is("tried") || is("woken")) && !result && low == 1) result = pthread_cond_wait(&c, &m);
    if (result == ENOTRECOVERABLE) {
        lost = 1;
        return unused;
    }
    if (result == EOWNERDEAD) {
        told++;
        if (is("nested")) pthread_mutex_lock(&m), pthread_mutex_unlock(&m);
#ifdef FIXED
        high = low;
        assert(!pthread_mutex_consistent(&m));
#endif
    }
    if (!is("ignored") && !is("woken")) assert(low == high);
    pthread_mutex_unlock(&m);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    pthread_mutexattr_t robust;
    if (argc < 2) return 2;
    what = argv[1];
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    if (is("nested")) pthread_mutexattr_settype(&robust, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m, &robust);
    int n = is("ignored") || is("woken") ? 3 : 2;
    for (int i = 0; i < n; i++) pthread_create(&threads[i], NULL, i ? use : leave, NULL);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    assert(told <= 1);
    return lost;
}
