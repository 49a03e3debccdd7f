/* foretell-worker: confines itself, then answers the requests on its standard input. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/memory.h"
#include "serve/local.h"
#include "serve/sandbox.h"
#include "serve/serve.h"
#include "solve/session.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { EXIT_PROTOCOL = 2, DEFAULT_MEMORY_MB = 8192 };

/* The confinement that is required. */
typedef enum sandbox { SANDBOX_TRY, SANDBOX_REQUIRE, SANDBOX_OFF } sandbox;
static const char *const SANDBOXES[] = {"try", "require", "off"};

static const char HELP[] =
    "usage: foretell-worker [--memory-mb N] [--sandbox MODE] [--context|--cover]\n"
    "\n"
    "The analysis engine of Foretell as a process: reads requests from standard input and\n"
    "answers on standard output. foretelld starts it; users need not start it.\n"
    "\n"
    "  --memory-mb N   address space limit in MiB (default 8192)\n"
    "  --sandbox MODE  try (default: where the kernel supports it), require or off\n"
    "  --context       answer one question about a context (`foretell context`) and end: a line\n"
    "                  of JSON and a program on standard input, JSON on standard output\n"
    "  --cover         likewise, about schedules that cover a program (`foretell cover`)\n"
    "  --help          this text\n"
    "  --version       the version\n"
    "\n"
    "Exit codes: 0 end of input, 2 usage, protocol error or failed self-test, 86 out of memory.\n";

static bool parse_memory(const char *text, rlim_t *bytes)
{
    char *end;
    errno = 0;
    unsigned long long megabytes = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9') return false;
    if (megabytes < 64 || megabytes > 1u << 24) return false;
    *bytes = (rlim_t)megabytes << 20;
    return true;
}

static bool parse_sandbox(const char *text, sandbox *mode)
{
    for (size_t i = 0; i < sizeof SANDBOXES / sizeof *SANDBOXES; i++) {
        if (strcmp(SANDBOXES[i], text) != 0) continue;
        *mode = (sandbox)i;
        return true;
    }
    return false;
}

static bool limit(const char *what, int resource, rlim_t value)
{
    struct rlimit old, fresh = {value, value};
    if (getrlimit((__rlimit_resource_t)resource, &old) == 0 && old.rlim_max < value)
        fresh.rlim_cur = fresh.rlim_max = old.rlim_max;
    if (setrlimit((__rlimit_resource_t)resource, &fresh) == 0) return true;
    fprintf(stderr, "foretell-worker: cannot limit %s: %s\n", what, strerror(errno));
    return false;
}

/* Traces are untrusted. No descriptor beyond the three standard ones can be opened, so there is no
 * file and no socket to reach; sanitizers need both address space and /proc. */
static bool confine(rlim_t memory, sandbox mode)
{
    ft_error err = FT_ERROR_INIT;
    /* Where standard error is a file, the size limit must not end the process. */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    /* A terminal's signals are for the server, which ends its workers. */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        fprintf(stderr, "foretell-worker: prctl: %s\n", strerror(errno));
        return false;
    }
    bool wanted = mode != SANDBOX_OFF && !SANITIZED;
    /* A kernel without Landlock is common, and the limit leaves no descriptor for a file. */
    if (wanted && ft_sandbox_files(&err) != FT_OK) err = FT_ERROR_INIT;
    bool limited = limit("core dumps", RLIMIT_CORE, 0) && limit("file sizes", RLIMIT_FSIZE, 0) &&
                   (SANITIZED || (limit("memory", RLIMIT_AS, memory) &&
                                  limit("descriptors", RLIMIT_NOFILE, STDERR_FILENO + 1)));
    if (!limited || !wanted || ft_sandbox_calls(&err) == FT_OK) return limited;
    fprintf(stderr, "foretell-worker: %s\n", err.message);
    return mode == SANDBOX_TRY;
}

int main(int argc, char **argv)
{
    static const struct option OPTIONS[] = {{"memory-mb", required_argument, NULL, 'm'},
                                            {"sandbox", required_argument, NULL, 's'},
                                            {"context", no_argument, NULL, 'c'},
                                            {"cover", no_argument, NULL, 'o'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    json_set_alloc_funcs(ft_alloc, free); /* jansson's callers do not check for failures */
    sandbox mode = SANDBOX_TRY;
    rlim_t memory = (rlim_t)DEFAULT_MEMORY_MB << 20;
    ft_error err = FT_ERROR_INIT;
    int (*answer)(void) = NULL; /* one question */
    for (int option; (option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1;) {
        if (option == 'h') return fputs(HELP, stdout) == EOF;
        if (option == 'v') return puts("foretell-worker " FT_VERSION) == EOF;
        if (option == 'm' && parse_memory(optarg, &memory)) continue;
        if (option == 'c' || option == 'o') {
            answer = option == 'c' ? ft_local_context : ft_local_cover;
            continue;
        }
        if (option == 's' && parse_sandbox(optarg, &mode)) continue;
        if (option == 's')
            fputs("foretell-worker: --sandbox must be try, require or off\n", stderr);
        if (option == 'm')
            fputs("foretell-worker: --memory-mb must be from 64 to 16777216\n", stderr);
        return EXIT_PROTOCOL;
    }
    if (optind < argc) {
        fprintf(stderr, "foretell-worker: unexpected argument `%s'; see --help\n", argv[optind]);
        return EXIT_PROTOCOL;
    }
    if (!confine(memory, mode)) return EXIT_PROTOCOL;
    assert(mode != SANDBOX_REQUIRE || SANITIZED || ft_sandbox_filters_calls());
    if (answer) return answer();
    /* Other kinds are tested where they are first opened: most jobs never need them. */
    if (ft_session_self_test(FT_SESSION_ORDER, &err) == FT_OK &&
        ft_worker_serve(STDIN_FILENO, STDOUT_FILENO, &err) == FT_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, "foretell-worker: %s\n", err.message);
    return EXIT_PROTOCOL;
}
