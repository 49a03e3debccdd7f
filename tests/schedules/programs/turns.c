/* In each epoch a loop computes whether the worker takes a second lock, and the main thread too. */
#include <foretell/input.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, odd = PTHREAD_MUTEX_INITIALIZER;
static unsigned turns, seen, found;
static volatile int done;

static void *worker(void *unused)
{
    for (unsigned i = 0; i < turns; i++) {
        pthread_mutex_lock(&m);
        unsigned x = seen++;
        pthread_mutex_unlock(&m);
        unsigned bits = 0;
        for (unsigned y = x; y; y >>= 1) bits += y & 1;
        if (bits == 2) {
            pthread_mutex_lock(&odd);
            found++;
            pthread_mutex_unlock(&odd);
        }
    }
    return unused;
}

int main(void)
{
    pthread_t t;
    foretell_input(&turns, sizeof turns, "turns");
    pthread_create(&t, 0, worker, 0);
    for (unsigned i = 0; i < turns; i++) {
        pthread_mutex_lock(&m);
        seen += 2;
        pthread_mutex_unlock(&m);
    }
    return pthread_join(t, 0);
}
