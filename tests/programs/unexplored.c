/* usage: unexplored WHAT: programs that an exploration cannot do, or that do not end.
 *   endless     a thread goes on for ever, without an action
 *   forks       a thread starts processes without end
 *   exec        a thread becomes another program
 *   many        a hundred threads
 *   flaky       which lock is taken depends on the processor's own clock
 *   long        many schedules, so that there is time to kill the explorer
 *   cancel      a thread cancels another one */
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

static const char *what;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile int goes_on = 1;

static int is(const char *name)
{
    return !strcmp(what, name);
}

static void lock(int i)
{
    pthread_mutex_lock(&locks[i]);
    pthread_mutex_unlock(&locks[i]);
}

static void *run(void *unused)
{
    if (is("endless"))
        while (goes_on) continue;
    while (is("forks")) fork();
    if (is("exec")) execlp("true", "true", NULL);
    if (is("flaky")) lock(__rdtsc() >> 6 & 1);
    for (int i = 0; i < 8 && is("long"); i++) lock(i % 2);
    lock(0);
    return unused;
}

int main(int argc, char **argv)
{
    enum { MANY = 100 };
    pthread_t threads[MANY];
    if (argc < 2) return 2;
    what = argv[1];
    int n = is("many") ? MANY : is("long") ? 4 : 2;
    for (int i = 0; i < n; i++) pthread_create(&threads[i], NULL, run, NULL);
    if (is("cancel")) pthread_cancel(threads[0]);
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    return 0;
}
