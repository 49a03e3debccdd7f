/* Workers end with results, before the main thread, which goes on for some epochs, joins them. */
#include <foretell/input.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static unsigned rounds, seen;
static unsigned char code;

static void *worker(void *p)
{
    pthread_mutex_lock(&m);
    unsigned char own = code;
    seen++;
    pthread_mutex_unlock(&m);
    return (char *)p + (own & 3);
}

static void *keeper(void *p)
{
    (void)p;
    pthread_mutex_lock(&m);
    seen++;
    pthread_mutex_unlock(&m);
    return &seen;
}

int main(void)
{
    pthread_t t, k;
    void *result, *kept;
    foretell_input(&rounds, sizeof rounds, "rounds");
    foretell_input(&code, sizeof code, "code");
    pthread_create(&t, 0, worker, (void *)0);
    pthread_create(&k, 0, keeper, (void *)0);
    for (unsigned i = 0; i < rounds; i++) {
        pthread_mutex_lock(&m);
        seen++;
        pthread_mutex_unlock(&m);
    }
    pthread_join(t, &result);
    pthread_join(k, &kept);
    if (result == (void *)2) {
        pthread_mutex_lock(&other);
        pthread_mutex_unlock(&other);
    }
    pthread_mutex_lock(&m);
    ++*(unsigned *)kept;
    pthread_mutex_unlock(&m);
    return 0;
}
