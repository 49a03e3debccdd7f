/* Data is published by atomics of other kinds: the largest of two, and more than 8 bytes. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Watomic-alignment" /* that is what this is about */
#endif

typedef struct both {
    _Alignas(16) long first;
    long second;
} both;
typedef struct three {
    long first, second, third;
} three;

static int level;
static _Atomic both pair;
static _Atomic three many;
static int for_level, for_pair, for_many;

static void *writer(void *unused)
{
    both two = {1, 2};
    three all = {1, 2, 3};
    for_level = 7;
    __atomic_fetch_max(&level, 5, __ATOMIC_SEQ_CST);
    for_pair = 7;
    atomic_store(&pair, two);
    for_many = 7;
    atomic_store(&many, all);
    return unused;
}

static void *reader(void *unused)
{
    both two = atomic_load(&pair);
    three all = atomic_load(&many);
    if (__atomic_fetch_max(&level, 1, __ATOMIC_SEQ_CST) == 5) assert(for_level == 7);
    if (two.first == 1) assert(for_pair == 7);
    if (all.first == 1) assert(for_many == 7);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, reader, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
