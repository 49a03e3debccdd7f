/* usage: polls WHAT [N]: threads that wait by attempts.
 *   crossed   each of two threads holds a lock and tries for the other's: a live-lock
 *   give-up   a thread tries N times for a lock that is held for a moment, then aborts
 *   plain     the first thread reads a plain variable until another has set it */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int most, set;

static void *cross(void *which)
{
    pthread_mutex_t *own = which ? &locks[0] : &locks[1], *other = which ? &locks[1] : &locks[0];
    pthread_mutex_lock(own);
    while (pthread_mutex_trylock(other)) sched_yield();
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(own);
    return NULL;
}

static void *give_up(void *unused)
{
    int tries = 0;
    while (pthread_mutex_trylock(&locks[0]))
        if (++tries == most) abort();
    pthread_mutex_unlock(&locks[0]);
    return unused;
}

static void *set_it(void *unused)
{
    pthread_mutex_lock(&locks[0]);
    set = 1;
    pthread_mutex_unlock(&locks[0]);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t first, second;
    const char *what = argc > 1 ? argv[1] : "";
    most = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (!strcmp(what, "crossed")) {
        pthread_create(&first, NULL, cross, NULL);
        pthread_create(&second, NULL, cross, &most);
        pthread_join(second, NULL);
    } else if (!strcmp(what, "give-up")) {
        pthread_create(&first, NULL, give_up, NULL);
        pthread_mutex_lock(&locks[0]);
        pthread_mutex_unlock(&locks[0]);
    } else {
        pthread_create(&first, NULL, set_it, NULL);
        while (!set) continue;
    }
    pthread_join(first, NULL);
    return 0;
}
