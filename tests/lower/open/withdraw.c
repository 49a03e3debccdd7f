/* assertion: the balance is checked in one section and lowered in another one; two withdrawals of
 * one amount overdraw it where the amount is more than half of it. */
#include "open.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100, amount;

static void *withdraw(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    int enough = balance >= amount;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (enough) balance -= amount;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    foretell_input(&amount, sizeof amount, "amount");
    if (amount < 0 || amount > 100) return 0;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, withdraw, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(balance >= 0);
    return 0;
}
