/* assertion: an atomic is compared with its limit, and then raised: two threads pass a limit of 1.
 */
#include <stdatomic.h>

#include "open.h"

static atomic_int admitted;
static int limit;

static void *enter(void *unused)
{
    (void)unused;
#ifdef FIXED
    int seen = atomic_load(&admitted);
    while (seen < limit && !atomic_compare_exchange_strong(&admitted, &seen, seen + 1)) continue;
#else
    if (atomic_load(&admitted) < limit) atomic_fetch_add(&admitted, 1);
#endif
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    foretell_input(&limit, sizeof limit, "limit");
    if (limit < 0) return 0;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, enter, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(admitted <= limit);
    return 0;
}
