/* Planted faults (the table of some faults.h), each of which a test must notice: for the tests of
 * that. A fault is tried in a process of its own, which ends badly where it is noticed; fault 0 is
 * none, and is not noticed. FT_FAULT=NAME: try that one. */
#ifndef FT_TESTS_PLANTED_H
#define FT_TESTS_PLANTED_H

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Plants the fault; returns if nothing notices it. */
typedef void planted_attempt(int fault);

static bool is_noticed(planted_attempt *attempt, int fault)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        signal(SIGSEGV, SIG_DFL);
        attempt(fault);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void each_is_noticed(const char *const names[], int n, planted_attempt *attempt)
{
    const char *only = getenv("FT_FAULT");
    unsigned missed = 0;
    for (int f = 0; f < n; f++) {
        if (only && strcmp(only, names[f]) != 0) continue;
        bool noticed = is_noticed(attempt, f);
        if (noticed == (f != 0)) continue;
        print_message("%s: %s\n", names[f], noticed ? "noticed without a fault" : "MISSED");
        missed++;
    }
    assert_int_equal(missed, 0);
}

#endif
