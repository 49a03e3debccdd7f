#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static void note(int number);

/* What is done with them, and what was before: a child gets that again. A pipe that nobody reads
 * and a file that is too long (ulimit -f) are errors of the call that writes; how a child ended is
 * lost where SIGCHLD is ignored. */
static struct {
    int number;
    void (*handler)(int);
    struct sigaction before;
} signals[] = {
    {.number = SIGINT, .handler = note},     {.number = SIGTERM, .handler = note},
    {.number = SIGHUP, .handler = note},     {.number = SIGPIPE, .handler = SIG_IGN},
    {.number = SIGXFSZ, .handler = SIG_IGN}, {.number = SIGCHLD, .handler = SIG_DFL},
};
#define N_SIGNALS (sizeof signals / sizeof signals[0])

static volatile sig_atomic_t caught, aside, count;
static int ends[2] = {-1, -1};
static bool catches;

static void note(int number)
{
    int saved = errno;
    if (!caught) caught = number;
    count++;
    ssize_t ignored = write(ends[1], "!", 1);
    (void)ignored;
    errno = saved;
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* Without a pipe the signals keep their default effect: an interruption then leaves a folder in
 * TMPDIR behind, the daemon still ends with its parent. nohup holds; SIGINT is ignored where a
 * script starts us in the background, and who sends it all the same means us. */
void ft_signals_catch(void)
{
    if (catches) return;
    catches = true;
    bool piped = !pipe2(ends, O_CLOEXEC | O_NONBLOCK);
    for (size_t i = 0; i < N_SIGNALS; i++) {
        sigaction(signals[i].number, NULL, &signals[i].before);
        bool ignored = signals[i].number == SIGHUP && signals[i].before.sa_handler == SIG_IGN;
        bool noted = signals[i].handler == note;
        if (!noted || (piped && !ignored)) handle(signals[i].number, signals[i].handler);
    }
}

int ft_signals_caught(void)
{
    return caught;
}

unsigned ft_signals_count(void)
{
    return (unsigned)count;
}

int ft_signals_fd(void)
{
    return ends[0];
}

void ft_signals_set_aside(void)
{
    char byte;
    aside = caught;
    caught = 0;
    while (read(ends[0], &byte, 1) == 1) continue;
}

void ft_signals_bring_back(void)
{
    if (!caught) caught = aside;
    aside = 0;
}

void ft_signals_default(void)
{
    for (size_t i = 0; catches && i < N_SIGNALS; i++)
        sigaction(signals[i].number, &signals[i].before, NULL);
}

void ft_signals_forget(void)
{
    if (caught == SIGINT) caught = 0;
}

void ft_signals_reraise(void)
{
    if (!caught) return;
    handle(caught, SIG_DFL);
    raise(caught);
}
