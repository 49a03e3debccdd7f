/* A deposit in two critical sections that were meant to be one: what happens to the account in
 * between is undone. FIXED: one section. */
#include <foretell/annotate.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static void *deposit(void *unused)
{
    FORETELL_ATOMIC_BEGIN();
    pthread_mutex_lock(&lock);
    int seen = balance;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    balance = seen + 30;
    pthread_mutex_unlock(&lock);
    FORETELL_ATOMIC_END();
    return unused;
}

static void *seize(void *unused)
{
    pthread_mutex_lock(&lock);
    balance = 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, deposit, NULL);
    pthread_create(&threads[1], NULL, seize, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
