/* Selectors that need static variables whose names the C library or another function has, too. */
#include <foretell/input.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned round, index;
static unsigned char rounds;

static int is_last(void)
{
    static unsigned seen = 1;
    return seen++ > rounds;
}

static void *work(void *unused)
{
    static unsigned seen, many;
    while (round < rounds) {
        pthread_mutex_lock(&lock);
        if (seen++ & 1) many += 2;
        round++;
        pthread_mutex_unlock(&lock);
    }
    while (seen != 3 * (unsigned)rounds) {
        pthread_mutex_lock(&lock);
        seen++, index++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    foretell_input(&rounds, sizeof rounds, "rounds");
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
    while (!is_last()) {
        pthread_mutex_lock(&lock);
        index--;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}
