/* out-of-bounds: a place is taken under the lock, and used where the other thread has taken the
 * last one: for the capacity that the input says. */
#include "open.h"

enum { PLACES = 4 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char ring[PLACES];
static unsigned used;

static void *put(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    int full = used >= PLACES;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (!full) ring[used++] = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    foretell_input(&used, sizeof used, "used");
    if (used > PLACES) return 0;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, put, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
