/* A loop that polls a lock and counts its tries: it gives up, and fails, after as many as the
 * argument says. Without an argument it polls a flag and never gives up. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static long most, n;

static void *hold(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return NULL;
}

static void *try(void *unused)
{
    long tries = 0;
    (void)unused;
    while (pthread_mutex_trylock(&m)) assert(++tries != most);
    pthread_mutex_unlock(&m);
    return NULL;
}

static void *spin(void *unused)
{
    (void)unused;
    while (atomic_flag_test_and_set(&taken)) continue;
    n++;
    atomic_flag_clear(&taken);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    most = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    pthread_create(&threads[0], NULL, most ? hold : spin, NULL);
    pthread_create(&threads[1], NULL, most ? try : spin, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return !most && n != 2;
}
