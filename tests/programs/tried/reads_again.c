/* A read-write lock that prefers writers. A reader that takes it once more waits behind a writer
 * that waits, and the writer waits for the reader. Corrected, the reader takes it once. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int table[2];

static int entry(int i)
{
#ifndef FIXED
    pthread_rwlock_rdlock(&table_lock);
#endif
    int value = table[i];
#ifndef FIXED
    pthread_rwlock_unlock(&table_lock);
#endif
    return value;
}

static void *sum(void *unused)
{
    pthread_rwlock_rdlock(&table_lock);
    int both = entry(0) + entry(1);
    pthread_rwlock_unlock(&table_lock);
    return both == 2 ? unused : NULL;
}

static void *change(void *unused)
{
    pthread_rwlock_wrlock(&table_lock);
    table[0] = table[1] = 1;
    pthread_rwlock_unlock(&table_lock);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, i == 1 ? change : sum, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return 0;
}
