/* use-after-free: the count is lowered in one section and looked at in another one. */
#include <stdlib.h>

#include "open.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct counted {
    int references;
} * object;

static void *put(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    int last = --object->references == 0;
#else
    object->references--;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int last = object->references == 0;
#endif
    pthread_mutex_unlock(&lock);
    if (last) free(object);
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    int more;
    foretell_input(&more, sizeof more, "more");
    if (more < 0 || more > 1000) return 0;
    object = calloc(1, sizeof *object);
    if (!object) return 0;
    object->references = 2 + more;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, put, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
