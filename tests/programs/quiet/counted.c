/* Counts that are atomics: one that two threads add to and one that they change by
 * compare-and-swap, twice in one critical section; and one of references that its maker sets,
 * before another thread takes and drops one, and drops its own in the same section. -DSTORES: the
 * other thread stores to them instead, and what was added is lost. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct object {
    int references, content;
} object;
static pthread_mutex_t sections = PTHREAD_MUTEX_INITIALIZER, making = PTHREAD_MUTEX_INITIALIZER;
static atomic_int added, swapped;

static void count(void)
{
    int value = atomic_load(&swapped);
    while (!atomic_compare_exchange_weak(&swapped, &value, value + 2)) {
    }
    atomic_fetch_add(&added, 2);
}

static void drop(object *o)
{
    if (__atomic_sub_fetch(&o->references, 1, __ATOMIC_SEQ_CST) == 0) free(o);
}

static void *twice(void *unused)
{
    pthread_mutex_lock(&sections);
    count();
    count();
    pthread_mutex_unlock(&sections);
    return unused;
}

static void *once(void *made)
{
    object *o = made;
#ifdef STORES
    atomic_store(&swapped, 1);
    atomic_store(&added, 1);
    __atomic_store_n(&o->references, 2, __ATOMIC_SEQ_CST);
#else
    count();
    __atomic_add_fetch(&o->references, 1, __ATOMIC_SEQ_CST);
    drop(o);
#endif
    drop(o);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, twice, NULL);
    pthread_mutex_lock(&making);
    object *o = malloc(sizeof *o);
    o->references = 2;
    pthread_create(&b, NULL, once, o);
    drop(o);
    pthread_mutex_unlock(&making);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
