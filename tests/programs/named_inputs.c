/* Two withdrawals of an amount that is an input: more than half of the balance overdraws it in some
 * schedule. Corrected (-DFIXED): check and withdrawal are one section. With an argument the program
 * only prints its inputs. */
#include <assert.h>
#include <foretell/input.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100, amount;

static void *withdraw(void *unused)
{
    pthread_mutex_lock(&lock);
    int enough = balance >= amount;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (enough) balance -= amount;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    unsigned char tag = 0;
    long wide[2] = {7, 7};
    foretell_input(&amount, sizeof amount, "amount");
    foretell_input(&tag, sizeof tag, "tag");
    foretell_input(wide, sizeof wide, "wide");
    printf("%d %d %ld %ld\n", amount, tag, wide[0], wide[1]);
    fflush(stdout);
    if (argc > 1 && argv[1][0]) return 0;
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, withdraw, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(balance >= 0);
    return 0;
}
