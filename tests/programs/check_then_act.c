/* A pointer is checked and then used without the lock that its owner clears it under. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 7;
static int *item = &stock;
static int sold;

static void *seller(void *unused)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    if (item) sold += *item;
    pthread_mutex_unlock(&lock);
#else
    if (item) sold += *item;
#endif
    return unused;
}

static void *owner(void *unused)
{
    pthread_mutex_lock(&lock);
    item = NULL;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, seller, NULL);
    pthread_create(&threads[1], NULL, owner, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
