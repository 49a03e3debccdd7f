/* Under a lock of its own one thread counts twice in what another lock guards; another one counts
 * in between. Nobody said that the two belong together. */
#include <pthread.h>

static pthread_mutex_t node = PTHREAD_MUTEX_INITIALIZER, queue = PTHREAD_MUTEX_INITIALIZER;
static int length;

static void push(void)
{
    pthread_mutex_lock(&queue);
    length++;
    pthread_mutex_unlock(&queue);
}

static void *pusher(void *unused)
{
    for (int i = 0; i < 8; i++) push();
    return unused;
}

static void *merger(void *unused)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&node);
        push();
        push();
        pthread_mutex_unlock(&node);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, merger, NULL);
    pthread_create(&threads[1], NULL, pusher, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return length == 16 ? 0 : 1;
}
