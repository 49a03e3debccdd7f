/* What is published by atomics of 16 and 24 bytes, for which compilers call functions. Who does not
 * look at them first races; one who does, by a load, an exchange or a compare-and-swap, does not.
 */
#include <pthread.h>
#include <stdatomic.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Watomic-alignment" /* that is what this is about */
#endif

typedef struct pair {
    _Alignas(16) long first;
    long second;
} pair;

typedef struct triple {
    long first, second, third;
} triple;

static _Atomic pair head;
static _Atomic triple many;
static _Atomic __int128 count;
static int for_head, for_many, for_count, seen;

static void *publish(void *unused)
{
    pair two = {1, 2};
    triple three = {1, 2, 3};
    for_head = 1;
    atomic_store(&head, two);
    for_many = 1;
    atomic_store(&many, three);
    for_count = 1;
    atomic_fetch_add(&count, 1);
    return unused;
}

static int head_is_there(void)
{
    pair two = {1, 2}, other = {5, 6};
    return atomic_compare_exchange_strong(&head, &two, other);
}

static int many_are_there(void)
{
    triple three = atomic_load(&many), none = {0, 0, 0};
    if (three.third) three = atomic_exchange(&many, none);
    return three.third != 0;
}

static void *use(void *unused)
{
#ifdef FIXED
    while (!head_is_there()) continue;
    while (!many_are_there()) continue;
    while (!atomic_load(&count)) continue;
#else
    if (head_is_there()) seen++;
    if (many_are_there()) seen++;
#endif
    seen += for_head + for_many + for_count;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, publish, NULL);
    pthread_create(&threads[1], NULL, use, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
