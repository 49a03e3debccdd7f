/* Both see one item left, and both take it. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int stock = 1;
static int left(void)
{
    pthread_mutex_lock(&m);
    int n = stock;
    pthread_mutex_unlock(&m);
    return n;
}
static void take(void)
{
    pthread_mutex_lock(&m);
    stock--;
    pthread_mutex_unlock(&m);
}
static void *buy(void *a)
{
    if (left() > 0) take();
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
