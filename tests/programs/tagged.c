/* Atomics of 16 bytes: a pointer and a number that change together. With -DFIXED nothing is lost.
 * The argument chooses: lost   each thread loads the pair and stores the next one: a number is lost
 *   spin   a thread waits until the other one has stored; then the assertion of the order fails
 *   mixed  the second half is read by itself: not explored */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef struct pair {
    _Alignas(16) void *at;
    long number;
} pair;

static _Atomic pair head;
static int seen;

static void *push(void *at)
{
    pair now = atomic_load(&head), next = {at, now.number + 1};
#ifdef FIXED
    while (!atomic_compare_exchange_weak(&head, &now, next)) next.number = now.number + 1;
#else
    atomic_store(&head, next);
#endif
    return NULL;
}

static void *await(void *unused)
{
    pair now;
    while (!(now = atomic_load(&head)).at) continue;
#ifdef FIXED
    assert(now.number <= 2);
#else
    assert(now.number == 2);
#endif
    seen = 1;
    return unused;
}

static void *look(void *unused)
{
    seen = atomic_load((_Atomic long *)&((pair *)&head)->number) > 0;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    int n = 2;
    if (argc < 2) return 2;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, push, &threads[i]);
    if (!strcmp(argv[1], "spin")) pthread_create(&threads[n++], NULL, await, NULL);
    if (!strcmp(argv[1], "mixed")) pthread_create(&threads[n++], NULL, look, NULL);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    return !strcmp(argv[1], "lost") && atomic_load(&head).number != 2;
}
