/* Use after free that takes place in the run itself and goes well there: of a part of the block
 * that nobody had used before. With FIXED who takes the block has it alone. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct buffer {
    long links[8]; /* where the heap may keep something once it is free */
    int used, unused;
} buffer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static buffer *shared;

static buffer *take(void)
{
    pthread_mutex_lock(&lock);
    buffer *taken = shared;
#ifdef FIXED
    shared = NULL;
#endif
    pthread_mutex_unlock(&lock);
    return taken;
}

static void *end(void *unused)
{
    free(take());
    return unused;
}

static void *use(void *unused)
{
    buffer *taken = take();
    if (taken) taken->unused = 1;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    shared = calloc(1, sizeof *shared);
    if (!shared) abort();
    pthread_create(&threads[0], NULL, end, NULL);
    pthread_create(&threads[1], NULL, use, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
