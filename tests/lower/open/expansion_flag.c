/* race: a timer looks, without the maintainer's lock, whether the table is being expanded, which
 * the maintainer notes under its lock. The table is large enough where the inputs say so. After a
 * report about memcached 1.5.19 (POR-SE, section 5.2). */
#include <stdbool.h>

#include "open.h"

static pthread_mutex_t maintenance = PTHREAD_MUTEX_INITIALIZER;
static bool expanding;
static unsigned items, buckets;
static bool wanted;

static void *maintain(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&maintenance);
    if (!expanding && items > buckets * 3 / 2) {
        expanding = true;
        buckets *= 2;
    }
    pthread_mutex_unlock(&maintenance);
    return 0;
}

static void look(void)
{
#ifdef FIXED
    pthread_mutex_lock(&maintenance);
#endif
    wanted = !expanding && items > 4;
#ifdef FIXED
    pthread_mutex_unlock(&maintenance);
#endif
}

int main(void)
{
    pthread_t maintainer;
    foretell_input(&items, sizeof items, "items");
    foretell_input(&buckets, sizeof buckets, "buckets");
    if (items > 1000 || !buckets || buckets > 1000) return 0;
    pthread_create(&maintainer, 0, maintain, 0);
    look();
    pthread_join(maintainer, 0);
    return 0;
}
