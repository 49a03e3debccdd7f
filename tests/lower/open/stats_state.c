/* race: workers count connections under the lock of the statistics; a request for them, which the
 * packet may be, copies the counters without it. After a report about memcached 1.5.20 (POR-SE,
 * section 5.2). */
#include "open.h"

static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static struct state {
    unsigned connections, refused;
} state;

static void *accept_one(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&stats_lock);
    state.connections++;
    pthread_mutex_unlock(&stats_lock);
    return 0;
}

static struct state answer(void)
{
#ifdef FIXED
    pthread_mutex_lock(&stats_lock);
#endif
    struct state copy = state;
#ifdef FIXED
    pthread_mutex_unlock(&stats_lock);
#endif
    return copy;
}

int main(void)
{
    pthread_t worker;
    unsigned char command;
    struct state seen = {0, 0};
    foretell_input(&command, sizeof command, "command");
    pthread_create(&worker, 0, accept_one, 0);
    if (command == 0x10) seen = answer();
    pthread_join(worker, 0);
    assert(seen.connections <= state.connections);
    return 0;
}
