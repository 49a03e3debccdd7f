/* The check and the sale are one section. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int stock = 1;
static void *buy(void *a)
{
    pthread_mutex_lock(&m);
    if (stock > 0) stock--;
    pthread_mutex_unlock(&m);
    return a;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, buy, 0);
    buy(0);
    pthread_join(t, 0);
    assert(stock >= 0);
    return 0;
}
