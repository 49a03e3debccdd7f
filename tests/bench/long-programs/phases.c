/* Two locks in one order before a flag under a lock says that the second phase has begun, and in
 * the other order from then on: no deadlock, with as many pairs of requests as the square of the
 * rounds. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static bool second;
static long rounds, x, y;

static void *first_phase(void *unused)
{
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_lock(&left);
        x++;
        pthread_mutex_lock(&right);
        y++;
        pthread_mutex_unlock(&right);
        pthread_mutex_unlock(&left);
    }
    pthread_mutex_lock(&gate);
    second = true;
    pthread_mutex_unlock(&gate);
    return unused;
}

static bool has_begun(void)
{
    pthread_mutex_lock(&gate);
    bool begun = second;
    pthread_mutex_unlock(&gate);
    return begun;
}

static void *second_phase(void *unused)
{
    while (!has_begun()) continue;
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_lock(&right);
        y++;
        pthread_mutex_lock(&left);
        x++;
        pthread_mutex_unlock(&left);
        pthread_mutex_unlock(&right);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t one, two;
    rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    pthread_create(&one, NULL, first_phase, NULL);
    pthread_create(&two, NULL, second_phase, NULL);
    pthread_join(one, NULL);
    return pthread_join(two, NULL);
}
