/* usage: waits WHAT: main joins a thread that waits for content of a descriptor.
 *
 *   nobody   that only the two of them could send: they wait for ever
 *   polled   likewise, in a poll of two descriptors
 *   handler  that a signal handler sends after a while
 *   child    that a child process sends after a while
 *   timer    of a timer, after a while
 *   input    of the standard input */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { WHILE_S = 4 };

static int ends[2];

static void *take(void *fd)
{
    char content[8];
    assert(read(*(int *)fd, content, sizeof content) > 0);
    return NULL;
}

static void *look(void *unused)
{
    struct pollfd both[] = {{.fd = ends[0], .events = POLLIN},
                            {.fd = eventfd(0, 0), .events = POLLIN}};
    (void)unused;
    assert(poll(both, 2, -1) > 0);
    return NULL;
}

static void send_late(int number)
{
    (void)number;
    assert(write(ends[1], "x", 1) == 1);
}

static void begin(const char *what)
{
    static const struct itimerspec once = {.it_value = {.tv_sec = WHILE_S}};
    if (!strcmp(what, "handler")) {
        signal(SIGALRM, send_late);
        alarm(WHILE_S);
    } else if (!strcmp(what, "child")) {
        if (!fork()) {
            sleep(WHILE_S);
            send_late(0);
            _exit(0);
        }
    } else if (!strcmp(what, "timer")) {
        ends[0] = timerfd_create(CLOCK_MONOTONIC, 0);
        timerfd_settime(ends[0], 0, &once, NULL);
    } else if (!strcmp(what, "input")) {
        ends[0] = 0;
    }
}

int main(int n, char **words)
{
    pthread_t waiter;
    assert(n == 2 && !pipe(ends));
    begin(words[1]);
    assert(!pthread_create(&waiter, NULL, strcmp(words[1], "polled") ? take : look, &ends[0]));
    pthread_join(waiter, NULL);
    return 0;
}
