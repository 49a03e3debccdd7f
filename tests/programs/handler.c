/* A signal handler adds to a list that another thread reads under a lock, which no handler could
 * take. The corrected one has a thread that waits for the signal; what stands before the kill is
 * before what it does. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static struct {
    int n;
    char text[4][8];
} list;
static const char *name;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(const char *text)
{
    strcpy(list.text[list.n % 4], text);
    list.n++;
}

#ifdef FIXED
static void *wait_for_signal(void *set)
{
    int number;
    sigwait(set, &number);
    pthread_mutex_lock(&lock);
    add(name);
    pthread_mutex_unlock(&lock);
    return NULL;
}
#else
static void handle(int number)
{
    (void)number;
    add(name);
}
#endif

static void *count(void *unused)
{
    pthread_mutex_lock(&lock);
    long n = list.n;
    pthread_mutex_unlock(&lock);
    (void)unused;
    return (void *)n;
}

int main(void)
{
    pthread_t counter;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
#ifdef FIXED
    pthread_t waiter;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&waiter, NULL, wait_for_signal, &set);
#else
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
#endif
    pthread_create(&counter, NULL, count, NULL);
    name = "usr1";
    kill(getpid(), SIGUSR1);
#ifdef FIXED
    pthread_join(waiter, NULL);
#endif
    pthread_join(counter, NULL);
    return list.n != 1;
}
