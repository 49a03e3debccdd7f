/* Under a lock of its own one thread reads twice what another lock guards; another one changes it
 * in between. Each time it reads what is there. -DLOSES: it writes what the first read said, and
 * the change of the other one is lost. */
#include <pthread.h>

static pthread_mutex_t node = PTHREAD_MUTEX_INITIALIZER, queue = PTHREAD_MUTEX_INITIALIZER;
static int length;

static int look(void)
{
    pthread_mutex_lock(&queue);
    int now = length;
    pthread_mutex_unlock(&queue);
    return now;
}

static void set(int now)
{
    pthread_mutex_lock(&queue);
    length = now;
    pthread_mutex_unlock(&queue);
}

static void *reader(void *unused)
{
    pthread_mutex_lock(&node);
    int was = look();
#ifdef LOSES
    set(was + 1);
#else
    if (was < 4) look();
#endif
    pthread_mutex_unlock(&node);
    return unused;
}

static void *writer(void *unused)
{
    set(8);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, reader, NULL);
    pthread_create(&threads[1], NULL, writer, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
