/* Compare-and-swaps that fail in other schedules, and write nothing there: a lock of one word that
 * its owner reads as plain memory, and a message that its sender makes ready in two steps under a
 * mutex, while the receiver takes it without. -DLATE: the lock's word is read by who gave it back.
 */
#include <pthread.h>
#include <sched.h>

enum { FREE, TAKEN };                /* word */
enum { NONE, IN_THE_MAKING, READY }; /* message */
static pthread_mutex_t senders = PTHREAD_MUTEX_INITIALIZER;
static int word, owned, message;

static int swap(int *place, int old, int new)
{
#ifdef ASSEMBLY
    int found;
    __asm__ __volatile__("lock; cmpxchg %2, %1"
                         : "=a"(found), "+m"(*place)
                         : "r"(new), "0"(old)
                         : "memory", "cc");
    return found == old;
#else
    return __atomic_compare_exchange_n(place, &old, new, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
#endif
}

static int own(void)
{
    while (!swap(&word, FREE, TAKEN)) sched_yield();
    int seen = word;
    owned++;
    __atomic_store_n(&word, FREE, __ATOMIC_RELEASE);
#ifdef LATE
    seen = word;
#endif
    return seen;
}

static void send(void)
{
    pthread_mutex_lock(&senders);
    if (__atomic_load_n(&message, __ATOMIC_RELAXED) == NONE && swap(&message, NONE, IN_THE_MAKING))
        swap(&message, IN_THE_MAKING, READY);
    pthread_mutex_unlock(&senders);
}

static void *work(void *unused)
{
    for (int i = 0; i < 2; i++) {
        own();
        send();
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 6; i++) {
        swap(&message, READY, NONE);
        sched_yield();
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return owned != 4;
}
