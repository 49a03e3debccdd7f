/* Two threads use an object of a library without hooks (counted_lock.c), which calls them back
 * under its own lock; who drops the object last destroys the lock. */
#include <pthread.h>
#include <stddef.h>

struct counted *counted_new(int references);
void counted_use(struct counted *c, void (*use)(long *), long *uses);
void counted_drop(struct counted *c);

static struct counted *object;
static long uses[2];

static void count(long *n)
{
    ++*n;
}

static void *work(void *n)
{
    counted_use(object, count, n);
    counted_drop(object);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    object = counted_new(2);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &uses[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    return uses[0] + uses[1] != 2;
}
