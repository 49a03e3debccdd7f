/* The first thread ends the process beside one that takes a lock for ever. The input says how often
 * the first one takes it before its last section. */
#include <foretell/input.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned taken, i;
static unsigned char rounds;

static void *take(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        taken++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    foretell_input(&rounds, sizeof rounds, "rounds");
    pthread_create(&thread, 0, take, 0);
    for (i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    taken = 0;
    pthread_mutex_unlock(&lock);
    for (volatile int k = 0; k < 30000; k++) continue; /* the other one is at its end by then */
    return 0;
}
