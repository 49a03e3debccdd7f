/* Two deposits, each in two critical sections that were meant to be one: the second section stores
 * what the first one saw. That one deposit is lost then, only the values say: found under
 * `--symbolic`. FIXED: one section. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static void *deposit(void *unused)
{
    pthread_mutex_lock(&lock);
    int seen = balance;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    balance = seen + 30;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, deposit, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert(balance == 160);
    return 0;
}
