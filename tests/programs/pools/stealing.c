/* Work stealing: each worker has a range of tasks, takes from its front, and steals from the
 * others' when that is empty. Both ends of a range are one atomic. Arguments: workers, tasks of
 * each. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST = 8, SHIFT = 32 };

static _Atomic uint64_t ranges[MOST]; /* front << SHIFT | back */
static atomic_int results[MOST * 64];
static int workers, each;

/* A task of that worker's range, -1: it is empty. */
static int take(int whose, int steals)
{
    uint64_t range = atomic_load(&ranges[whose]);
    for (;;) {
        uint32_t front = (uint32_t)(range >> SHIFT), back = (uint32_t)range;
        if (front == back) return -1;
        uint64_t rest = steals ? range - 1 : range + (UINT64_C(1) << SHIFT);
        if (!atomic_compare_exchange_weak(&ranges[whose], &range, rest)) continue;
        return whose * each + (int)(steals ? back - 1 : front);
    }
}

static void *work(void *number)
{
    int me = (int)(long)number, task;
    for (int i = 0; i < workers; i++)
        while ((task = take((me + i) % workers, i > 0)) >= 0) atomic_fetch_add(&results[task], 1);
    return NULL;
}

int main(int n, char **words)
{
    workers = n > 1 ? atoi(words[1]) : 2, each = n > 2 ? atoi(words[2]) : 3;
    pthread_t threads[MOST];
    for (int i = 0; i < workers; i++) atomic_store(&ranges[i], (uint64_t)each);
    for (long i = 0; i < workers; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < workers; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < workers * each; i++)
        if (atomic_load(&results[i]) != 1) return 1;
    return 0;
}
