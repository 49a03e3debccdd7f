/* race: settings are filled in without the lock, since no thread should run yet; with a clock
 * thread, which starts first, one does. After a report about memcached 1.5.20 (POR-SE, section
 * 5.2). */
#include "open.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int oldest, now;

static void *tick(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    now++;
    if (oldest > now) now = oldest;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void fill_in(int start)
{
    oldest = start - 2;
}

int main(void)
{
    pthread_t clock;
    int start, ticks;
    foretell_input(&start, sizeof start, "start");
    foretell_input(&ticks, sizeof ticks, "ticks");
    if (start < 2 || start > 1000) return 0;
#ifdef FIXED
    fill_in(start);
#endif
    if (ticks > 30) pthread_create(&clock, 0, tick, 0);
#ifndef FIXED
    fill_in(start);
#endif
    if (ticks > 30) pthread_join(clock, 0);
    assert(oldest == start - 2);
    return 0;
}
