/* Double-checked locking with a plain flag. FIXED: pthread_once. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int made, value;

static void make(void)
{
    value = 42;
    made = 1;
}

static int get(void)
{
#ifdef FIXED
    pthread_once(&once, make);
#else
    (void)once;
    if (!made) {
        pthread_mutex_lock(&lock);
        if (!made) make();
        pthread_mutex_unlock(&lock);
    }
#endif
    (void)lock;
    return value;
}

static void *use(void *unused)
{
    (void)unused;
    return get() == 42 ? NULL : &lock;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
