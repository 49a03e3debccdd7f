/* A library's object with a lock and a count of references: the last one that drops it destroys the
 * lock. Built without hooks. */
#include <pthread.h>
#include <stdlib.h>

struct counted {
    pthread_rwlock_t lock;
    int references;
};

struct counted *counted_new(int references);
void counted_use(struct counted *c, void (*use)(long *), long *uses);
void counted_drop(struct counted *c);

struct counted *counted_new(int references)
{
    struct counted *c = malloc(sizeof *c);
    if (!c || pthread_rwlock_init(&c->lock, NULL)) abort();
    c->references = references;
    return c;
}

void counted_use(struct counted *c, void (*use)(long *), long *uses)
{
    pthread_rwlock_wrlock(&c->lock);
    use(uses);
    pthread_rwlock_unlock(&c->lock);
}

void counted_drop(struct counted *c)
{
    if (__atomic_sub_fetch(&c->references, 1, __ATOMIC_ACQ_REL)) return;
    pthread_rwlock_destroy(&c->lock);
    free(c);
}
