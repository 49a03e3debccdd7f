/* exit-code: each thread reads a counter in one section and writes it, raised by the amount, in
 * another one; the program ends with 1 where an addition is lost. */
#include "open.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned counter, amount;

static void *add(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    unsigned old = counter;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    counter = old + amount;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    foretell_input(&amount, sizeof amount, "amount");
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return counter != amount + amount;
}
