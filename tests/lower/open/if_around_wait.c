/* assertion: `if' where `while' belongs around a wait: of two consumers one finds nothing where one
 * item comes twice. */
#include "open.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int items, size;

static void *consume(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (items < size) pthread_cond_wait(&some, &lock);
#else
    if (items < size) pthread_cond_wait(&some, &lock);
#endif
    assert(items >= size);
    items -= size;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    foretell_input(&size, sizeof size, "size");
    if (size < 1 || size > 1000) return 0;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, consume, 0);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items += size;
        pthread_cond_broadcast(&some);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
