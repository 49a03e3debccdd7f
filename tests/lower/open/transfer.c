/* assertion: a balance is read in one section and written in another one: a transfer of any amount
 * but 0 loses the other one. */
#include "open.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int from[2] = {100, 100}, to, amount;

static void *transfer(void *who)
{
    int *account = &from[(long)who];
    pthread_mutex_lock(&lock);
    *account -= amount;
    int balance = to;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    to = balance + amount;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    foretell_input(&amount, sizeof amount, "amount");
    if (amount < 0 || amount > 100) return 0;
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, transfer, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(from[0] + from[1] + to == 200);
    return 0;
}
