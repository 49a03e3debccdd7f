/* The largest and the smallest of what threads put in; the largest is written once more from what
 * was there before, which undoes another thread's. FIXED: it is not. */
#include <assert.h>
#include <pthread.h>

static int largest;
static unsigned smallest = 100;

static void put(int value)
{
    int seen = __atomic_fetch_max(&largest, value, __ATOMIC_SEQ_CST);
#ifndef FIXED
    __atomic_store_n(&largest, seen < value ? value : seen, __ATOMIC_SEQ_CST);
#else
    (void)seen;
#endif
    __atomic_fetch_min(&smallest, (unsigned)value, __ATOMIC_SEQ_CST);
}

static void *first(void *unused)
{
    put(3);
    return unused;
}

static void *second(void *unused)
{
    put(8);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(smallest == 3);
    assert(largest == 8);
    return 0;
}
