/* Two threads take turns, and take two more locks in either order while it is theirs: never at
 * once, and nobody waits for ever. That is to be proved, which no count of anything shows. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long turn, rounds, acts;

static void await(long who)
{
    pthread_mutex_lock(&lock);
    while (turn != who) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void pass_on(long who)
{
    pthread_mutex_lock(&lock);
    turn = who;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *act(void *argument)
{
    long me = *(const long *)argument;
    for (long r = 0; r < rounds; r++) {
        await(me);
        pthread_mutex_lock(&locks[me]);
        pthread_mutex_lock(&locks[1 - me]);
        acts++;
        pthread_mutex_unlock(&locks[1 - me]);
        pthread_mutex_unlock(&locks[me]);
        pass_on(1 - me);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    long numbers[2] = {0, 1};
    rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, act, &numbers[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return acts != 2 * rounds;
}
