/* usage: signals WHAT: a thread waits for signals that others send.
 *   threads   two threads send it one signal each: either may be first
 *   process   the process gets one, which all threads block
 *   merged    two equal signals may be one
 *   limit     sigtimedwait: none comes
 *   handler   one that would be handled in another thread: refused */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *what;
static pthread_t waiter;
static sigset_t all;
static int got[2];

static int is(const char *name)
{
    return !strcmp(what, name);
}

static void *wait_for_them(void *unused)
{
    struct timespec t = {.tv_sec = 1};
    siginfo_t info;
    if (is("limit")) {
        assert(sigtimedwait(&all, &info, &t) < 0 && errno == EAGAIN);
        return unused;
    }
    for (int i = 0; i < (is("threads") ? 2 : 1); i++) assert(!sigwait(&all, &got[i]));
    if (is("merged")) {
        int more = sigtimedwait(&all, NULL, &t);
        assert(more == SIGUSR1 || (more < 0 && errno == EAGAIN));
    }
    return unused;
}

static void *send_one(void *number)
{
    assert(!pthread_kill(waiter, *(int *)number));
    return NULL;
}

static void ignore(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    static int numbers[] = {SIGUSR1, SIGUSR2};
    pthread_t senders[2];
    if (argc < 2) return 2;
    what = argv[1];
    sigemptyset(&all);
    sigaddset(&all, SIGUSR1);
    sigaddset(&all, SIGUSR2);
    if (is("merged")) numbers[1] = SIGUSR1;
    if (is("handler")) signal(SIGUSR1, ignore);
    if (!is("handler")) pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_create(&waiter, NULL, wait_for_them, NULL);
    int n = is("threads") || is("merged") ? 2 : is("handler");
    for (int i = 0; i < n; i++) pthread_create(&senders[i], NULL, send_one, &numbers[i]);
    for (int i = 0; i < n; i++) pthread_join(senders[i], NULL);
    if (is("process")) assert(!kill(getpid(), SIGUSR2));
    pthread_join(waiter, NULL);
    if (is("threads")) assert(got[0] + got[1] == SIGUSR1 + SIGUSR2);
    return 0;
}
