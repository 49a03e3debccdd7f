/* What loops compute, from what another thread has written, decides about synchronisation. */
#include <foretell/input.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, extra = PTHREAD_MUTEX_INITIALIZER;
static unsigned char n, step;
static unsigned given, rounds, late;

static void *counter(void *unused)
{
    pthread_mutex_lock(&m);
    unsigned limit = given;
    pthread_mutex_unlock(&m);
    unsigned i = 0;
    while (i < limit) i += 3;
    if (i - limit == 1) {
        pthread_mutex_lock(&extra);
        late++;
        pthread_mutex_unlock(&extra);
    }
    return unused;
}

int main(void)
{
    pthread_t t;
    unsigned bits = 0;
    foretell_input(&n, sizeof n, "n");
    foretell_input(&step, sizeof step, "step");
    for (unsigned x = n; x; x >>= 1) bits++;
    pthread_mutex_lock(&m);
    given = n;
    pthread_mutex_unlock(&m);
    pthread_create(&t, 0, counter, 0);
    if (bits > 4) {
        pthread_mutex_lock(&extra);
        rounds += step;
        pthread_mutex_unlock(&extra);
    }
    return pthread_join(t, 0);
}
