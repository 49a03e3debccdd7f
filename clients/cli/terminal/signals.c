#include "base/contract.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

static void note(int number, siginfo_t *info, void *context);

#define NOTED                                                                                      \
    {                                                                                              \
        .sa_sigaction = note, .sa_flags = SA_SIGINFO                                               \
    }
/* The handling of each signal. A pipe that nobody reads and a file that is too long (ulimit -f) are
 * errors of the call that writes; how a child ended is lost where SIGCHLD is ignored. */
static const struct {
    int number;
    struct sigaction action;
} signals[] = {
    {SIGINT, NOTED},
    {SIGQUIT, NOTED},
    {SIGTERM, NOTED},
    {SIGHUP, NOTED},
    {SIGPIPE, {.sa_handler = SIG_IGN}},
    {SIGXFSZ, {.sa_handler = SIG_IGN}},
    {SIGCHLD, {.sa_handler = SIG_DFL}},
};
/* Signals that people and supervisors send a program they started; the real-time signals too. Not
 * the clocks of SIGPROF and SIGVTALRM: a profiler of ours sets them. */
static const int words[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGURG, SIGWINCH, SIGIO, SIGPWR};
#define N(array) (sizeof array / sizeof array[0])

static volatile sig_atomic_t caught, aside, count, typed;
static volatile sig_atomic_t waiting[NSIG]; /* by number: a word that nobody took yet */
static struct sigaction before[NSIG];       /* of what is handled: a child gets that again */
static bool handled[NSIG];
static int ends[2] = {-1, -1};
static bool catches, relays, is_aside;

static void note(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    (void)context;
    if (!caught) caught = number;
    if (!count++) typed = info->si_code == SI_KERNEL;
    ssize_t ignored = write(ends[1], "!", 1);
    (void)ignored;
    errno = saved;
}

/* The terminal sends SIGWINCH to the whole group, so it needs no relay. */
static void keep(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code != SI_KERNEL) waiting[number] = 1;
}

static void handle(int number, struct sigaction action)
{
    FT_REQUIRE(number > 0 && number < NSIG);
    sigemptyset(&action.sa_mask);
    if (!sigaction(number, &action, handled[number] ? NULL : &before[number]))
        handled[number] = true;
}

static bool is_ignored(int number)
{
    struct sigaction now;
    return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

/* Without a pipe the signals keep their default effect: an interruption then leaves a folder in
 * TMPDIR behind, the daemon still ends with its parent. nohup holds; SIGINT and SIGQUIT are ignored
 * where a script starts us in the background, and who sends them all the same means us. */
void ft_signals_catch(void)
{
    if (catches) return;
    catches = true;
    bool piped = !pipe2(ends, O_CLOEXEC | O_NONBLOCK);
    for (size_t i = 0; i < N(signals); i++) {
        int number = signals[i].number;
        struct sigaction action = signals[i].action;
        bool noted = action.sa_flags & SA_SIGINFO, held = number == SIGHUP && is_ignored(number);
        if (!noted || (piped && !held)) handle(number, action);
    }
}

/* No call of ours fails for a word to another. */
void ft_signals_relay(void)
{
    ft_signals_catch();
    if (relays) return;
    relays = true;
    assert(catches && SIGRTMAX < NSIG); /* `waiting` and `before` have a place for each */
    struct sigaction kept = {.sa_sigaction = keep, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (size_t i = 0; i < N(words); i++) handle(words[i], kept);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++) handle(number, kept);
}

int ft_signals_take(void)
{
    for (int number = 1; number < NSIG; number++) {
        if (!waiting[number]) continue;
        waiting[number] = 0;
        return number;
    }
    return 0;
}

int ft_signals_caught(void)
{
    return caught;
}

bool ft_signals_typed(void)
{
    return typed;
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
    FT_REQUIRE(!is_aside); /* the one set aside before would be lost */
    is_aside = true;
    aside = caught;
    caught = 0;
    while (read(ends[0], &byte, 1) == 1) continue;
}

void ft_signals_bring_back(void)
{
    FT_REQUIRE(is_aside);
    is_aside = false;
    if (!caught) caught = aside;
    aside = 0;
}

void ft_signals_default(void)
{
    for (int number = 1; number < NSIG; number++)
        if (handled[number]) sigaction(number, &before[number], NULL);
}

void ft_signals_forget(void)
{
    if (caught == SIGINT) caught = 0;
}

/* SIGQUIT asks for a core: of the program, which may have left one where ours would be. */
void ft_signals_reraise(void)
{
    if (!caught) return;
    prctl(PR_SET_DUMPABLE, 0);
    handle(caught, (struct sigaction){.sa_handler = SIG_DFL});
    raise(caught);
}
