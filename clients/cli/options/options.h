/* The `foretell` command line: its commands, options and exit codes.
 *
 * Commands and options are tables (command.c, option.c), from which parsing, --help and the manuals
 * (help.h) come. Data goes to standard output, messages and progress to standard error. */
#ifndef FT_CLI_CLI_H
#define FT_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "verdict/names.h"

/*  symbol      code  meaning */
#define FT_EXIT_TABLE(X)                                                                           \
    X(CLEAN, 0, "clean: every candidate is safe, or the command did what it was asked")            \
    X(FINDINGS, 1, "findings: at least one violation; for `verify`, a witness that is refused")    \
    X(INPUT, 2, "usage or input: a wrong option, an unreadable or malformed file")                 \
    X(INCOMPLETE, 3, "incomplete: no violation, but something is unknown, bounded or an error")    \
    X(SERVER, 4, "server or network: no answer, or an answer that is not Foretell's")

typedef enum ft_exit {
#define FT_ROW(symbol, code, meaning) FT_EXIT_##symbol = code,
    FT_EXIT_TABLE(FT_ROW)
#undef FT_ROW
} ft_exit;

/* The worse of two exit codes where several files are checked: 4, 2, 1, 3, 0 from worst to best. A
 * broken input or server comes first since it hides what the other files would have said. */
ft_exit ft_exit_worse(ft_exit a, ft_exit b);

/*  symbol   name       arguments            min  max (0: any number)  one line */
#define FT_COMMAND_TABLE(X)                                                                        \
    X(TEST, "test", "[--] PROGRAM ARGS", 1, 0,                                                     \
      "record a run of a program, check it and bring about what is found")                         \
    X(CHECK, "check", "FILE...", 1, 0, "predict bugs from traces and print them")                  \
    X(SUBMIT, "submit", "FILE", 1, 1,                                                              \
      "upload a trace, start a job on a server and print its name")                                \
    X(JOBS, "jobs", "", 0, 0, "list the jobs of a server")                                         \
    X(TOP, "top", "", 0, 0, "watch a server: its queue, workers and jobs")                         \
    X(SHOW, "show", "JOB", 1, 1, "print the findings of a job")                                    \
    X(CANCEL, "cancel", "JOB", 1, 1, "cancel a job")                                               \
    X(WITNESS, "witness", "FINDING", 1, 1, "fetch the witness file of a finding")                  \
    X(VERIFY, "verify", "WITNESS [TRACE]", 1, 2, "execute a witness step by step, here")           \
    X(CONVERT, "convert", "IN [OUT]", 1, 2, "rewrite a trace in another format")                   \
    X(DIFF, "diff", "JOB JOB", 2, 2, "compare the findings of two jobs")                           \
    X(REVIEW, "review", "[FINGERPRINT]", 0, 1,                                                     \
      "list a project's findings, or say what one of them is")                                     \
    X(MERGE, "merge", "FILE FILE...", 2, 0, "join traces of several runs into one with branches")  \
    X(STATS, "stats", "FILE", 1, 1, "say what is in a trace")                                      \
    X(RECORD, "record", "[--] PROGRAM ARGS", 1, 0, "run a program and record a trace of it")       \
    X(REPLAY, "replay", "WITNESS [TRACE] -- PROGRAM ARGS", 2, 0,                                   \
      "drive a recorded program through a witness, until the bug shows")                           \
    X(MANUAL, "manual", "[PAGE]", 0, 1, "print all of this as Markdown or as a manual page")       \
    X(COMPLETION, "completion", "SHELL", 1, 1, "print completions for bash, zsh or fish")          \
    X(VERSION, "version", "", 0, 0, "print the version")

typedef enum ft_command {
#define FT_ROW(symbol, name, arguments, min, max, line) FT_COMMAND_##symbol,
    FT_COMMAND_TABLE(FT_ROW)
#undef FT_ROW
        FT_COMMANDS
} ft_command;

typedef FT_VEC(const char *) ft_texts;

/* What a command line said. Texts are borrowed from argv and NULL where the option was not given,
 * numbers are 0 then; embedded: ft_options_release. */
typedef struct ft_options {
    ft_command command;
    bool help;          /* --help: print the command's help, do nothing */
    ft_texts arguments; /* what is no option, in order */
    size_t before;      /* arguments before a "--"; all of them without one */
    /* the job: what is looked for, and how */
    bool checks[FT_CHECKS]; /* --check */
    bool any_check;         /* --check was given */
    const char *model, *per, *encoding, *solver, *context_bound, *wakeups;
    ft_texts properties;        /* --property files */
    ft_texts ignored;           /* --ignore locations */
    uint32_t budget;            /* seconds for the job; 0: the server's default, as below */
    uint32_t subproblem_budget; /* seconds for one subproblem */
    uint32_t memory;            /* MiB of a worker at the job */
    const char *name, *priority, *webhook;
    const char *project; /* NULL: the server's default one */
    /* what is printed of it, and what counts */
    const char *format, *color, *source_root;
    const char *output;         /* NULL: standard output */
    ft_texts reports;           /* --report, FORMAT=FILE */
    ft_texts baselines;         /* --baseline files */
    ft_texts suppressions;      /* --suppressions files */
    const char *write_baseline; /* the file to write */
    const char *new_since;      /* a job */
    const char *witness_dir;
    bool fail_on[FT_CHECKS]; /* --fail-on */
    bool any_fail_on;        /* --fail-on was given */
    bool json, show_safe, apart, explain, quiet, full, wait, fail_on_new;
    /* the server */
    const char *server; /* --server, else FORETELL_SERVER, else NULL */
    uint32_t workers;   /* of the private daemon, 0: its default */
    bool detach;
    /* record */
    uint32_t seed, turn, runs;
    uint32_t limit; /* MiB */
    const char *annotations, *inputs_of;
    bool symbolic, exit_code;
    bool report_follows; /* set by `test`: on standard output, behind what the program prints there
                          */
    /* replay */
    uint32_t deadline; /* seconds */
    bool stop, live_inputs, unordered_hand_overs;
    bool no_replay; /* of `test` */
    /* others */
    const char *to;             /* the format of `convert`, `merge` and `record` */
    const char *state, *reason; /* of `review` */
    uint32_t interval;          /* of `top`, seconds */
    bool once;                  /* of `top` */
} ft_options;

/* Parses argv[1..]. FT_USAGE: the message says what is wrong. options is to be released whatever
 * the status. */
ft_status ft_options_parse(int argc, char **argv, ft_options *options, ft_error *err) FT_MUST_CHECK;
void ft_options_release(ft_options *options);
/* What goes to standard output is text, no document. */
bool ft_options_are_for_people(const ft_options *options);

/* The commands. Each prints its own errors. */
ft_exit ft_run_test(const ft_options *options);
ft_exit ft_run_check(const ft_options *options);
ft_exit ft_run_submit(const ft_options *options);
ft_exit ft_run_jobs(const ft_options *options);
ft_exit ft_run_show(const ft_options *options);
ft_exit ft_run_cancel(const ft_options *options);
ft_exit ft_run_witness(const ft_options *options);
ft_exit ft_run_verify(const ft_options *options);
ft_exit ft_run_convert(const ft_options *options);
ft_exit ft_run_merge(const ft_options *options);
ft_exit ft_run_diff(const ft_options *options);
ft_exit ft_run_review(const ft_options *options);
ft_exit ft_run_completion(const ft_options *options);
ft_exit ft_run_stats(const ft_options *options);
ft_exit ft_run_record(const ft_options *options);
ft_exit ft_run_replay(const ft_options *options);
ft_exit ft_run_manual(const ft_options *options);
ft_exit ft_run_top(const ft_options *options);
ft_exit ft_run_version(const ft_options *options);

/* The whole program but for main's own lines. */
int ft_cli_main(int argc, char **argv);

/* "FILE:LINE:COLUMN: text" on standard error, as far as the place is known; `file` may be NULL. */
void ft_print_error(const char *file, const ft_error *err);
ft_exit ft_exit_of(const ft_error *err);

#endif
