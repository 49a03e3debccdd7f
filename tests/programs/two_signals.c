/* Two signals, each of which keeps the other one out, wait for a thread that waits for a lock.
 * Their handlers run one behind the other, before the thread goes on, and none gets lost, whenever
 * the thread begins. What they count is read without the lock. MASKED: the thread blocks them while
 * it has the lock; those that came before are handled before. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int inside, handled, seen;

static void handle(int number)
{
    if (inside) abort();
    inside = number;
    handled++;
    inside = 0;
}

static void *wait_at_gate(void *unused)
{
#ifdef MASKED
    sigset_t both, before;
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &both, &before);
    inside = -1;
#endif
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
#ifdef MASKED
    inside = 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
    if (handled != 2) abort();
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    pthread_mutex_lock(&gate);
    pthread_create(&thread, NULL, wait_at_gate, NULL);
    pthread_kill(thread, SIGUSR1);
    pthread_kill(thread, SIGUSR2);
    pthread_mutex_unlock(&gate);
    seen = handled;
    pthread_join(thread, NULL);
    return 0;
}
