/* Under a lock that guards something else a thread counts itself in by compare-and-swap, while
 * another one counts without it: whoever comes in between has the count read again. -DADDS: it adds
 * what the value that it read before allowed, and the limit is passed. */
#include <pthread.h>
#include <stdatomic.h>

enum { LIMIT = 5 };
static atomic_int users;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *locked(void *unused)
{
    pthread_mutex_lock(&m);
    int n = atomic_load(&users);
#ifdef ADDS
    if (n < LIMIT) atomic_fetch_add(&users, 1);
#else
    while (n < LIMIT && !atomic_compare_exchange_strong(&users, &n, n + 1)) {
    }
#endif
    pthread_mutex_unlock(&m);
    return unused;
}

static void *unlocked(void *unused)
{
    atomic_fetch_add(&users, 2);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, locked, NULL);
    pthread_create(&b, NULL, unlocked, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return atomic_load(&users) > LIMIT;
}
