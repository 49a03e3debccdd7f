/* A handler counts under the lock that the code it interrupts may hold. In the recorded run it
 * comes where main holds nothing. Corrected, main blocks the signal while it holds the lock. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static pthread_t owner;

static void add(void)
{
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
}

static void handle(int number)
{
    (void)number;
    add();
}

static void *send(void *unused)
{
    pthread_kill(owner, SIGUSR2);
    return unused;
}

static void add_all(void)
{
#ifdef FIXED
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
#endif
    for (int i = 0; i < 3; i++) add();
#ifdef FIXED
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
#endif
}

int main(void)
{
    pthread_t sender;
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR2, &action, NULL);
    owner = pthread_self();
    pthread_create(&sender, NULL, send, NULL);
    add_all();
    pthread_join(sender, NULL);
    add_all();
    return count < 6;
}
