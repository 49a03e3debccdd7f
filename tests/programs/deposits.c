/* Two deposits, each in two critical sections that were meant to be one: both read the balance
 * before either writes it. What the second writes then is known from terms alone. FIXED: one
 * section. */
#include <foretell/annotate.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;

static void *deposit(void *amount)
{
    FORETELL_ATOMIC_BEGIN();
    pthread_mutex_lock(&lock);
    long seen = balance;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    balance = seen + (long)amount;
    pthread_mutex_unlock(&lock);
    FORETELL_ATOMIC_END();
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, deposit, (void *)(10 + 20 * i));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
