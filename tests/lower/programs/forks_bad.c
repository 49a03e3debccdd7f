/* Three philosophers, each takes the left fork first. */
#include <pthread.h>
static pthread_mutex_t f[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                               PTHREAD_MUTEX_INITIALIZER};
static void *eat(void *a)
{
    long i = (long)a;
    pthread_mutex_lock(&f[i]);
    pthread_mutex_lock(&f[(i + 1) % 3]);
    pthread_mutex_unlock(&f[(i + 1) % 3]);
    pthread_mutex_unlock(&f[i]);
    return 0;
}
int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, eat, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
