/* Three philosophers, the last one takes the other fork first. */
#include <pthread.h>
static pthread_mutex_t f[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                               PTHREAD_MUTEX_INITIALIZER};
static void *eat(void *a)
{
    long i = (long)a, x = i == 2 ? 0 : i, y = i == 2 ? 2 : i + 1;
    pthread_mutex_lock(&f[x]);
    pthread_mutex_lock(&f[y]);
    pthread_mutex_unlock(&f[y]);
    pthread_mutex_unlock(&f[x]);
    return 0;
}
int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, eat, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
