/* Three threads wait for what a fourth one counts, in loops that read an atomic, change it to what
 * it was, or fail to exchange it: nothing is wrong, and the recording is not mostly their reads. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { COUNTS = 100000 };
static atomic_int ready;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static long counted, seen[3];

static void *wait_for(void *argument)
{
    long way = (long)argument;
    int one = 1;
    if (way == 0)
        while (atomic_load(&ready) == 0) {
        }
    if (way == 1)
        while (atomic_flag_test_and_set(&taken)) {
        }
    if (way == 2)
        while (!atomic_compare_exchange_weak(&ready, &one, 1)) one = 1;
    seen[way] = counted;
    return NULL;
}

static void *count(void *unused)
{
    for (int i = 0; i < COUNTS; i++) counted++;
    atomic_store(&ready, 1);
    atomic_flag_clear(&taken);
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    atomic_flag_test_and_set(&taken);
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, wait_for, (void *)i);
    pthread_create(&threads[3], NULL, count, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++)
        if (seen[i] != COUNTS) return 1;
    return 0;
}
