/* assertion: an amount that inputs decide is printed, at any length and with its sign, before it is
 * compared: printing costs few questions of the solver. */
#include <stdio.h>

#include "open.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int amount, total;

static void *pay(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    total += amount / 2;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t payer;
    foretell_input(&amount, sizeof amount, "amount");
    pthread_create(&payer, NULL, pay, NULL);
    pthread_mutex_lock(&lock);
    total += amount - amount / 2;
    pthread_mutex_unlock(&lock);
    pthread_join(payer, NULL);
    printf("%d of %x\n", total, (unsigned)amount);
    assert(total == amount);
#ifndef FIXED
    assert(total != 70000);
#endif
    return 0;
}
