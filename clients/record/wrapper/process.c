#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"

static volatile sig_atomic_t caught;
static volatile pid_t child;

void ft_process_die(const char *message)
{
    fprintf(stderr, "foretell-cc: %s\n", message);
    exit(2);
}

static void note(int number)
{
    caught = number;
    if (child > 0) kill(child, number);
}

void ft_process_catch(void)
{
    static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction before, action = {.sa_handler = note};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN) sigaction(numbers[i], &action, NULL);
    }
}

void ft_process_reraise(void)
{
    if (!caught) return;
    signal(caught, SIG_DFL);
    raise(caught);
}

static _Noreturn void become(const ft_command *command)
{
    execvp(command->data[0], (char **)command->data);
    fprintf(stderr, "foretell-cc: %s: %s%s\n", command->data[0], strerror(errno),
            strstr(command->data[0], "instrument")
                ? " (--symbolic was not built: it needs llvm-14-dev)"
                : " (set FORETELL_CC and FORETELL_CXX)");
    _exit(2);
}

int ft_process_run(const ft_command *command)
{
    int status;
    FT_REQUIRE(command->n > 0);
    assert(!child); /* one at a time: a signal is passed on to that one */
    if (caught) return 2;
    child = fork();
    if (child < 0) ft_process_die("cannot start another program");
    if (!child) become(command);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) ft_process_die("the program that it started is gone");
    child = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
