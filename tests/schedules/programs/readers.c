/* A worker reads an input in each of its rounds, and takes another lock where that is large: the
 * schedule of a later epoch depends on what is read within it. */
#include <foretell/input.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int sum, large;
static unsigned char kind, rounds;
static unsigned worked, looked;

static void *work(void *unused)
{
    for (; worked < rounds; worked++) {
        pthread_mutex_lock(&lock);
        foretell_input(&kind, sizeof kind, "kind");
        sum += kind;
        pthread_mutex_unlock(&lock);
        if (kind < 200) continue;
        pthread_mutex_lock(&other);
        large++;
        pthread_mutex_unlock(&other);
    }
    return unused;
}

int main(void)
{
    pthread_t worker;
    foretell_input(&rounds, sizeof rounds, "rounds");
    pthread_create(&worker, 0, work, 0);
    for (; looked < rounds; looked++) {
        pthread_mutex_lock(&other);
        large++;
        pthread_mutex_unlock(&other);
    }
    pthread_join(worker, 0);
    return 0;
}
