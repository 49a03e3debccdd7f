#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int caught_signals[] = {SIGINT, SIGTERM, SIGHUP};
#define N_CAUGHT (sizeof caught_signals / sizeof caught_signals[0])

static volatile sig_atomic_t caught, aside;
static int ends[2] = {-1, -1};

static void note(int number)
{
    int saved = errno;
    if (!caught) caught = number;
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
 * TMPDIR behind, the daemon still ends with its parent. */
void ft_signals_catch(void)
{
    handle(SIGPIPE, SIG_IGN);
    if (ends[0] >= 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK)) return;
    for (size_t i = 0; i < N_CAUGHT; i++) handle(caught_signals[i], note);
}

int ft_signals_caught(void)
{
    return caught;
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
    handle(SIGPIPE, SIG_DFL);
    for (size_t i = 0; i < N_CAUGHT; i++) handle(caught_signals[i], SIG_DFL);
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
