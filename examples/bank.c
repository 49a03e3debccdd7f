/* The program behind bank.ndjson. Every access is under the lock, yet a transfer reads the balance
 * in one critical section and writes it in another. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t bank = PTHREAD_MUTEX_INITIALIZER;
static long checking, savings;

static void *transfer(void *argument)
{
    long amount = *(long *)argument;
    pthread_mutex_lock(&bank);
    long balance = checking;
    pthread_mutex_unlock(&bank);
    if (balance < amount) return NULL;
    pthread_mutex_lock(&bank);
    checking = balance - amount;
    savings += amount;
    pthread_mutex_unlock(&bank);
    return NULL;
}

int main(void)
{
    pthread_t alice, bob;
    long thirty = 30, twenty = 20;
    checking = 100;
    savings = 50;
    pthread_create(&alice, NULL, transfer, &thirty);
    pthread_create(&bob, NULL, transfer, &twenty);
    pthread_join(alice, NULL);
    pthread_join(bob, NULL);
    pthread_mutex_lock(&bank);
    long sum = checking + savings;
    pthread_mutex_unlock(&bank);
    assert(sum == 150);
    return 0;
}
