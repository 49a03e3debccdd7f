/* The first thread leaves by pthread_exit, and the other one ends the process by its end. The input
 * says how often both take the lock. */
#include <foretell/input.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned taken;
static unsigned char rounds;

static void take(void)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        taken++;
        pthread_mutex_unlock(&lock);
    }
}

static void *other(void *unused)
{
    take();
    return unused;
}

int main(void)
{
    pthread_t thread;
    foretell_input(&rounds, sizeof rounds, "rounds");
    if (rounds > 3) return 0;
    pthread_create(&thread, 0, other, 0);
    take();
    pthread_exit(0);
}
