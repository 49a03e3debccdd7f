/* usage: spins LOCK N: N threads, each with one section under a lock that spins; or `sequence': one
 * writer and N - 1 readers of a sequence lock. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static atomic_int word, ticket, serving, sequence, first, second;
static int sections;
static const char *what;

static void take(void)
{
    int free = 0;
    if (!strcmp(what, "swap"))
        while (!atomic_compare_exchange_strong(&word, &free, 1)) free = 0;
    if (!strcmp(what, "exchange"))
        while (atomic_exchange(&word, 1)) continue;
    if (strcmp(what, "ticket") != 0) return;
    int mine = atomic_fetch_add(&ticket, 1);
    while (atomic_load(&serving) != mine) continue;
}

static void give(void)
{
    if (!strcmp(what, "ticket"))
        atomic_fetch_add(&serving, 1);
    else
        atomic_store(&word, 0);
}

static void *section(void *unused)
{
    take();
    sections++;
    give();
    return unused;
}

static void *write_both(void *unused)
{
    atomic_fetch_add(&sequence, 1);
    atomic_store(&first, 1);
    atomic_store(&second, 1);
    atomic_fetch_add(&sequence, 1);
    return unused;
}

static void *read_both(void *unused)
{
    int before, one, two;
    do {
        while ((before = atomic_load(&sequence)) & 1) continue;
        one = atomic_load(&first);
        two = atomic_load(&second);
    } while (atomic_load(&sequence) != before);
    assert(one == two);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[8];
    what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 2;
    bool locks = strcmp(what, "sequence") != 0;
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, locks ? section : i ? read_both : write_both, NULL);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    assert(!locks || sections == n);
    return 0;
}
