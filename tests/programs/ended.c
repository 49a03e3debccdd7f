/* A count without its lock, behind a signal from outside, as it ends servers; its handler is for
 * two. Once it may come, the process's number is in the file that the program is given. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t ended;
static int count;

static void end(int number)
{
    ended = number;
}

static void *add(void *unused)
{
    count++;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t t;
    signal(SIGHUP, end);
    signal(SIGTERM, end);
    pthread_create(&t, NULL, add, NULL);
    if (argc > 1) dprintf(open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600), "%d\n", (int)getpid());
    while (!ended) poll(NULL, 0, 1000);
    add(NULL);
    pthread_join(t, NULL);
    return count != 2 || ended != SIGTERM;
}
