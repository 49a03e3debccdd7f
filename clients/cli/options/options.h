/* The command line of `foretell`: commands, options, exit codes and their texts.
 *
 * Commands and options are tables (commands.c, options.c). Parsing, --help, the manual, the manual
 * page and the shells' completions all come from them; help.h has what reads the tables. Parsing
 * fills an ft_options, which each command then gets. Data goes to standard output, messages and
 * progress go to standard error.
 *
 * Imports: common/base, common/verdict. */
#ifndef FT_CLI_OPTIONS_H
#define FT_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "verdict/names.h"

/*  symbol      code  meaning */
#define FT_EXIT_TABLE(X)                                                                           \
    X(CLEAN, 0, "clean: every candidate is safe, or the command succeeded")                        \
    X(FINDINGS, 1, "findings: at least one violation; for `verify`, a refused witness")            \
    X(INPUT, 2, "usage or input: a wrong option, an unreadable or malformed file")                 \
    X(INCOMPLETE, 3, "incomplete: no violation, but a candidate is unknown, bounded or an error")  \
    X(SERVER, 4, "server or network: no answer, or an answer that is not Foretell's")

typedef enum ft_exit {
#define FT_ROW(symbol, code, meaning) FT_EXIT_##symbol = code,
    FT_EXIT_TABLE(FT_ROW)
#undef FT_ROW
} ft_exit;

/* The worse of two exit codes, for several files: 4, 2, 1, 3, 0 from worst to best. A broken input
 * or server is worst because it hides the findings that the other files would have had. */
ft_exit ft_exit_worse(ft_exit a, ft_exit b);

/*  symbol   name       arguments            min  max (0: any number)  one line */
#define FT_COMMAND_TABLE(X)                                                                        \
    X(TEST, "test", "[--] PROGRAM ARGS", 1, 0,                                                     \
      "record a run of a program, predict its bugs and reproduce them")                            \
    X(CHECK, "check", "FILE...", 1, 0, "predict bugs from traces and print them")                  \
    X(SUBMIT, "submit", "FILE", 1, 1,                                                              \
      "upload a trace, start a job on a server and print its name")                                \
    X(JOBS, "jobs", "", 0, 0, "list the jobs of a server")                                         \
    X(TOP, "top", "", 0, 0, "watch a server: its queue, workers and jobs")                         \
    X(SHOW, "show", "JOB", 1, 1, "print the findings of a job")                                    \
    X(CANCEL, "cancel", "JOB", 1, 1, "cancel a job")                                               \
    X(WITNESS, "witness", "FINDING", 1, 1, "fetch the witness file of a finding")                  \
    X(VERIFY, "verify", "WITNESS [TRACE|PROGRAM]", 1, 0,                                           \
      "check a witness step by step on its trace or program")                                      \
    X(CONVERT, "convert", "IN [OUT]", 1, 2, "rewrite a trace in another format")                   \
    X(DIFF, "diff", "JOB JOB", 2, 2, "compare the findings of two jobs")                           \
    X(REVIEW, "review", "[FINGERPRINT]", 0, 1,                                                     \
      "list a project's findings, or record a decision about one")                                 \
    X(MERGE, "merge", "FILE FILE...", 2, 0, "join traces of several runs into one with branches")  \
    X(STATS, "stats", "FILE", 1, 1, "count what is in a trace: events, threads, locks, locations") \
    X(INTERVALS, "intervals", "FILE", 1, 1,                                                        \
      "print the ranges of values of a trace's events, and its transaction graph")                 \
    X(EXPLORE, "explore", "[--] PROGRAM ARGS", 1, 0,                                               \
      "run a program through every schedule of its synchronisation")                               \
    X(LOWER, "lower", "FILE... -o PROGRAM", 1, 0,                                                  \
      "compile C and C++ sources to a program as data, for explore")                               \
    X(CONTEXT, "context", "PROGRAM --at THREAD=FILE:LINE...", 1, 0,                                \
      "ask whether threads of a program can be at places in its middle together")                  \
    X(COVER, "cover", "PROGRAM [-o SET]", 1, 0,                                                    \
      "find schedules that cover every input of a program, and prove it under them")               \
    X(RECORD, "record", "[--] PROGRAM ARGS", 1, 0, "run a program and record a trace of it")       \
    X(REPLAY, "replay", "WITNESS [TRACE] -- PROGRAM ARGS", 2, 0,                                   \
      "run a recorded program through a witness, up to its bug")                                   \
    X(RUN, "run", "--schedules SET [--] PROGRAM ARGS", 1, 0,                                       \
      "run a program under a set of schedules")                                                    \
    X(MANUAL, "manual", "[PAGE]", 0, 1, "print the reference of all commands and options")         \
    X(COMPLETION, "completion", "SHELL", 1, 1, "print completions for bash, zsh or fish")          \
    X(VERSION, "version", "", 0, 0, "print the version")

typedef enum ft_command {
#define FT_ROW(symbol, name, arguments, min, max, line) FT_COMMAND_##symbol,
    FT_COMMAND_TABLE(FT_ROW)
#undef FT_ROW
        FT_COMMANDS
} ft_command;

typedef FT_VEC(const char *) ft_texts;

/* A parsed command line. An option that was not given is NULL, 0 or false. Texts are borrowed from
 * argv. Embedded: ft_options_release. */
typedef struct ft_options {
    ft_command command;
    bool help;          /* --help: print the command's help, do nothing */
    ft_texts arguments; /* all words that are not options, in order */
    size_t before;      /* number of arguments before a "--"; all of them without one */
    /* the job: what to look for, and how */
    bool checks[FT_CHECKS]; /* --check */
    bool any_check;         /* --check was given */
    const char *model, *per, *encoding, *solver, *context_bound, *wakeups;
    ft_texts properties;        /* --property files */
    ft_texts ignored;           /* --ignore locations */
    ft_texts without;           /* --without passes */
    uint32_t budget;            /* seconds for the job; 0 here and below: the server's default */
    uint32_t subproblem_budget; /* seconds for one subproblem */
    uint32_t memory;            /* MiB of a worker for one subproblem */
    const char *name, *priority, *webhook;
    const char *project; /* NULL: the server's default project */
    /* the report: what is printed, and what counts for the exit code */
    const char *format, *color, *source_root;
    const char *output;         /* NULL: standard output */
    ft_texts reports;           /* --report, FORMAT=FILE */
    ft_texts baselines;         /* --baseline files */
    ft_texts suppressions;      /* --suppressions files */
    const char *program;        /* --program: sources or program as data of the recorded one */
    const char *write_baseline; /* the file to write */
    const char *new_since;      /* a job */
    const char *witness_dir;
    bool fail_on[FT_CHECKS]; /* --fail-on */
    bool any_fail_on;        /* --fail-on was given */
    bool json, dot, show_safe, apart, explain, quiet, full, wait, fail_on_new;
    /* the server */
    const char *server; /* --server, else FORETELL_SERVER, else NULL */
    uint32_t workers;   /* of the private server, 0: its default */
    bool detach;
    /* record */
    uint32_t seed, turn, runs;
    uint32_t limit;       /* MiB */
    uint32_t timeout;     /* seconds for a run of the program, 0: no limit; of `test`: 0: its own */
    uint32_t expect_exit; /* the exit code of a run that is as it should be */
    const char *annotations, *inputs_of;
    /* Not options: `explore` has a run recorded under an order of actions (raw/follow.h); *followed
     * is how far the run did, *went_wrong whether it failed. */
    const ft_strbuf *follow;
    struct ft_follow *followed;
    bool *went_wrong;
    const struct ft_output_judge *judge; /* of that run's output (exploring/oracle.h) */
    struct ft_run_end *run_end; /* `replay` of a program's witness: how it ended; it is shown */
    bool symbolic, exit_code;
    bool report_follows; /* set by `test`: a report follows the program's own output */
    bool varied; /* set by `test`: after a short first run more follow, each in another schedule */
    bool one_test; /* set by `test`: the traces are runs of one test, and clean ones share a line */
    /* explore; counts are the number + 1, 0: not given */
    uint32_t preemptions, explore_seconds;
    uint32_t explore_budget; /* seconds */
    uint32_t polls, steps, iterations;
    const char *early_limits;
    const char *cutoffs; /* yes or no; NULL: where executions do not end */
    const char *resume;  /* a file from which an exploration goes on */
    const char *oracle;  /* a command */
    bool deterministic;
    bool races_only_reported; /* their accesses do not become scheduling points */
    /* lower */
    ft_texts inputs;                       /* --input NAME=VALUE */
    const char *loops;                     /* --loops */
    ft_texts dynamic;                      /* --dynamic NAME */
    ft_texts includes, defines, undefines; /* -I, -D, -U */
    const char *standard;                  /* -std */
    uint32_t threads;                      /* that a thread may start */
    bool text;
    /* context */
    ft_texts places;           /* --at THREAD=PLACE */
    const char *other_threads; /* --threads named|any */
    const char *wake, *orders;
    uint32_t tries; /* runs from the entry, + 1; 0: not given */
    /* cover */
    const char *schedule_order, *schedule_set, *smt;
    uint32_t entries;
    const char *epochs;
    bool no_prefix;
    /* replay */
    uint32_t deadline; /* seconds */
    bool stop, live_inputs, unordered_hand_overs;
    bool no_replay; /* of `test` */
    /* run */
    const char *schedules, *uncovered;
    uint32_t delays;
    /* others */
    const char *to;             /* the format of `convert`, `merge` and `record` */
    const char *state, *reason; /* of `review` */
    uint32_t interval;          /* of `top`, seconds */
    bool once;                  /* of `top` */
} ft_options;

/* Parses argv[1..]. FT_USAGE: the message names the wrong word. The options are to be released
 * whatever the status. */
ft_status ft_options_parse(int argc, char **argv, ft_options *options, ft_error *err) FT_MUST_CHECK;
void ft_options_release(ft_options *options);
/* Is the output a text for people, not a document for programs? */
bool ft_options_are_for_people(const ft_options *options);

#endif
