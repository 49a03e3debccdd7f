#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/closest.h"
#include "base/contract.h"
#include "help.h"
#include "options.h"

#define BIT(command)    (1u << FT_COMMAND_##command)
#define JOB_COMMANDS    (BIT(CHECK) | BIT(SUBMIT) | BIT(TEST))
#define VIEW_COMMANDS   (BIT(CHECK) | BIT(SHOW) | BIT(TEST))
#define REPORT_COMMANDS (VIEW_COMMANDS | BIT(EXPLORE))
/* Those, and questions about programs, whose answers have reports. */
#define ANSWER_COMMANDS (REPORT_COMMANDS | BIT(CONTEXT) | BIT(COVER))
#define RECORD_COMMANDS (BIT(RECORD) | BIT(TEST))
#define LOWERS          (BIT(LOWER) | BIT(EXPLORE) | BIT(VERIFY))
#define SOURCE_COMMANDS (LOWERS | BIT(CONTEXT) | BIT(COVER))
#define INPUT_COMMANDS  (RECORD_COMMANDS | BIT(EXPLORE) | BIT(REPLAY) | BIT(RUN))
#define NET_COMMANDS                                                                               \
    (BIT(CHECK) | BIT(SUBMIT) | BIT(JOBS) | BIT(SHOW) | BIT(CANCEL) | BIT(WITNESS) | BIT(VERIFY) | \
     BIT(DIFF) | BIT(REVIEW) | BIT(REPLAY) | BIT(TOP) | BIT(TEST) | BIT(INTERVALS) | BIT(EXPLORE))
#define JSON_COMMANDS                                                                              \
    (BIT(CHECK) | BIT(SUBMIT) | BIT(JOBS) | BIT(SHOW) | BIT(VERIFY) | BIT(STATS) | BIT(DIFF) |     \
     BIT(REVIEW) | BIT(REPLAY) | BIT(TOP) | BIT(TEST) | BIT(INTERVALS) | BIT(EXPLORE) |            \
     BIT(CONTEXT) | BIT(COVER))

typedef enum value_kind {
    VALUE_NONE,
    VALUE_TEXT,
    VALUE_TEXTS,
    VALUE_NUMBER,
    VALUE_COUNT, /* may be 0; the member is the number + 1 */
    VALUE_CHECKS,
    VALUE_FAIL_ON
} value_kind;

typedef struct option_row {
    const char *name; /* without the dashes */
    char letter;      /* short form or 0 */
    value_kind kind;
    const char *value;   /* placeholder in the help, NULL for flags */
    const char *choices; /* "a|b": what a VALUE_TEXT may be, NULL: anything */
    size_t offset;       /* of the member of ft_options */
    unsigned commands;   /* bits of the commands that take it */
    const char *doc;
} option_row;

#define FT_FORMAT_CHOICES "text|json|sarif|junit|gitlab|github|html|markdown"
#define MEMBER(name)      offsetof(ft_options, name)

static const option_row rows[] = {
    /* the job */
    {"check", 0, VALUE_CHECKS, "LIST", NULL, MEMBER(checks), JOB_COMMANDS,
     "the kinds of bugs to look for, separated by commas or repeated: race, atomicity, "
     "assertion, lock, deadlock, order, failure (default: all; none if only --property is "
     "given)"},
    {"model", 0, VALUE_TEXT, "M", "auto|observed|maximal|ctp|control", MEMBER(model), JOB_COMMANDS,
     "the values that a read may return in another schedule: observed (as in the run), maximal "
     "(any value where the thread has not read another one), ctp (computed from terms), control "
     "(any; findings are only possible), or auto (default: the most precise model that the "
     "trace supports; observed for long traces)"},
    {"context-bound", 0, VALUE_TEXT, "N", NULL, MEMBER(context_bound), JOB_COMMANDS,
     "consider only schedules of at most N context switches; auto: 1, 2, ... until a bug is "
     "found or proved absent for every number (default: no bound)"},
    {"wakeups", 0, VALUE_TEXT, "W", "any|observed|spurious", MEMBER(wakeups), JOB_COMMANDS,
     "the signals that may wake a waiter of a condition variable in another schedule: any (any "
     "signal, the default), observed (the signal that woke it in the run) or spurious (also "
     "none at all, as POSIX allows)"},
    {"per", 0, VALUE_TEXT, "UNIT", "location|event", MEMBER(per), JOB_COMMANDS,
     "count candidates by source location or by event (default: location)"},
    {"property", 0, VALUE_TEXTS, "FILE", NULL, MEMBER(properties), JOB_COMMANDS,
     "a JSON file with one property or an array of properties to check; may be repeated"},
    {"ignore", 0, VALUE_TEXTS, "LOCATION", NULL, MEMBER(ignored), JOB_COMMANDS,
     "ignore candidates at this source location (FILE:LINE); may be repeated"},
    {"encoding", 0, VALUE_TEXT, "E", "default|literal", MEMBER(encoding), JOB_COMMANDS,
     "default, or literal: the encoding exactly as in the paper, for comparison"},
    {"solver", 0, VALUE_TEXT, "S", "auto|z3|order", MEMBER(solver), JOB_COMMANDS,
     "the solver for candidates that cheaper passes leave undecided: order (the project's own), "
     "z3, or auto (order where it can decide, else z3; default: auto)"},
    {"without", 0, VALUE_TEXTS, "PASS", NULL, MEMBER(without), JOB_COMMANDS,
     "leave out this pass (docs/engine.md), for comparison; may be repeated"},
    {"budget", 0, VALUE_NUMBER, "SECONDS", NULL, MEMBER(budget), JOB_COMMANDS,
     "time limit of the whole job (default: the server's, 300)"},
    {"subproblem-budget", 0, VALUE_NUMBER, "SECONDS", NULL, MEMBER(subproblem_budget), JOB_COMMANDS,
     "time limit of one candidate (default: the server's, 20)"},
    {"memory", 0, VALUE_NUMBER, "MIB", NULL, MEMBER(memory), JOB_COMMANDS,
     "memory limit of a worker for one candidate, in MiB; a candidate that needs more is "
     "unknown (default: the server's)"},
    {"name", 0, VALUE_TEXT, "TEXT", NULL, MEMBER(name), JOB_COMMANDS,
     "the name of the job in lists (default: the name of the file or program)"},
    {"priority", 0, VALUE_TEXT, "N", NULL, MEMBER(priority), JOB_COMMANDS,
     "from -100 to 100: jobs of a project with a higher priority run first (default: 0)"},
    {"detach", 0, VALUE_NONE, NULL, NULL, MEMBER(detach), BIT(CHECK) | BIT(TEST),
     "if interrupted, leave the job running on the server instead of cancelling it"},
    {"workers", 0, VALUE_NUMBER, "N", NULL, MEMBER(workers), BIT(CHECK) | BIT(TEST),
     "number of worker processes of the private server (default: one per core)"},
    {"workers", 0, VALUE_NUMBER, "N", NULL, MEMBER(workers), BIT(EXPLORE),
     "runs at once (default: one per core); the findings do not depend on it where the search ends "
     "by itself or by --runs"},
    {"project", 0, VALUE_TEXT, "NAME", NULL, MEMBER(project), JOB_COMMANDS | BIT(REVIEW),
     "the project that the findings belong to; the server keeps reviews and the first and last "
     "date of a finding by project (default: \"default\")"},
    {"webhook", 0, VALUE_TEXT, "URL", NULL, MEMBER(webhook), BIT(SUBMIT),
     "notify this URL when the job has ended; the project needs a webhook secret "
     "(docs/running.md)"},
    {"interval", 0, VALUE_NUMBER, "SECONDS", NULL, MEMBER(interval), BIT(TOP),
     "seconds between refreshes (default: 2)"},
    {"once", 0, VALUE_NONE, NULL, NULL, MEMBER(once), BIT(TOP), "print the state once and exit"},
    /* the report */
    {"format", 'f', VALUE_TEXT, "F", FT_FORMAT_CHOICES, MEMBER(format), ANSWER_COMMANDS,
     "the format of the findings: text (default), json, sarif, junit, gitlab, github, html or "
     "markdown"},
    {"report", 0, VALUE_TEXTS, "F=FILE", NULL, MEMBER(reports), ANSWER_COMMANDS,
     "also write the findings to FILE in format F; may be repeated"},
    {"color", 0, VALUE_TEXT, "WHEN", "auto|always|never", MEMBER(color), REPORT_COMMANDS | BIT(TOP),
     "when to use colours: auto (default: on a terminal, unless NO_COLOR is set), always or "
     "never"},
    {"source-root", 0, VALUE_TEXT, "DIR", NULL, MEMBER(source_root), ANSWER_COMMANDS,
     "read source lines from the files under DIR instead of the recording, and obey comments "
     "\"foretell: ignore CHECK -- REASON\" in them"},
    {"program", 0, VALUE_TEXT, "PROGRAM", NULL, MEMBER(program), VIEW_COMMANDS,
     "the recorded program as data, or its source: data races and deadlocks are asked of all its "
     "runs (`foretell context`), and a proof that their places are never held together is printed "
     "beside the finding"},
    {"baseline", 0, VALUE_TEXTS, "FILE", NULL, MEMBER(baselines), ANSWER_COMMANDS,
     "known findings, which do not count for the exit code: a JSON report or a list of "
     "fingerprints; may be repeated"},
    {"write-baseline", 0, VALUE_TEXT, "FILE", NULL, MEMBER(write_baseline), ANSWER_COMMANDS,
     "write the findings to FILE, as a baseline for later runs"},
    {"new-since", 0, VALUE_TEXT, "JOB", NULL, MEMBER(new_since), VIEW_COMMANDS,
     "findings of this earlier job are known, as with --baseline"},
    {"suppressions", 0, VALUE_TEXTS, "FILE", NULL, MEMBER(suppressions), ANSWER_COMMANDS,
     "ignore the findings that FILE lists with a reason and an expiry date (docs/findings.md); "
     "may be repeated"},
    {"fail-on", 0, VALUE_FAIL_ON, "LIST", NULL, MEMBER(fail_on), ANSWER_COMMANDS,
     "the checks whose findings give exit code 1, separated by commas, or all (default), or none"},
    {"fail-on-new", 0, VALUE_NONE, NULL, NULL, MEMBER(fail_on_new), VIEW_COMMANDS,
     "findings that the server has seen in an earlier job of the project do not count for the "
     "exit code"},
    {"state", 0, VALUE_TEXT, "STATE", "open|confirmed|false|fixed", MEMBER(state), BIT(REVIEW),
     "record this decision about the finding: open, confirmed, false (not a bug) or fixed"},
    {"reason", 0, VALUE_TEXT, "TEXT", NULL, MEMBER(reason), BIT(REVIEW),
     "the reason for the decision, shown beside it"},
    {"witness-dir", 0, VALUE_TEXT, "DIR", NULL, MEMBER(witness_dir), REPORT_COMMANDS | BIT(COVER),
     "write the witness file of each listed finding into this folder"},
    {"show-safe", 0, VALUE_NONE, NULL, NULL, MEMBER(show_safe), VIEW_COMMANDS,
     "also list the candidates that were proved safe, with the reasons"},
    {"apart", 0, VALUE_NONE, NULL, NULL, MEMBER(apart), VIEW_COMMANDS,
     "list the findings that are set apart (docs/findings.md), and count them like the others"},
    {"explain", 0, VALUE_NONE, NULL, NULL, MEMBER(explain), VIEW_COMMANDS,
     "print which pass decided each candidate, its cost, and how many candidates each pass left"},
    {"full", 0, VALUE_NONE, NULL, NULL, MEMBER(full), VIEW_COMMANDS,
     "print every step of a schedule; do not fold runs of steps of one thread"},
    {"schedules", 0, VALUE_TEXT, "SET", NULL, MEMBER(schedules), BIT(RUN),
     "the file with the set of schedules"},
    {"program", 0, VALUE_TEXT, "FILE", NULL, MEMBER(program), BIT(RUN),
     "the program that the set is of, as data or its C source; needed by a set that --loops "
     "summarise made: it is executed as data to find what its loops compute"},
    {"uncovered", 0, VALUE_TEXT, "HOW", "stop|free", MEMBER(uncovered), BIT(RUN),
     "inputs that no schedule covers, and a step that the schedule does not have: stop (end with "
     "exit code 3, the default) or free (report it and go on without a schedule)"},
    {"delays", 0, VALUE_NUMBER, "SEED", NULL, MEMBER(delays), BIT(RUN),
     "make random delays at synchronisation, and check the order of all operations afterwards"},
    {"quiet", 'q', VALUE_NONE, NULL, NULL, MEMBER(quiet), BIT(RUN),
     "do not print which schedule the inputs select"},
    {"quiet", 'q', VALUE_NONE, NULL, NULL, MEMBER(quiet), REPORT_COMMANDS | RECORD_COMMANDS,
     "print only the summary line, and no progress"},
    {"wait", 0, VALUE_NONE, NULL, NULL, MEMBER(wait), BIT(SHOW), "wait until the job has ended"},
    {"output", 'o', VALUE_TEXT, "FILE", NULL, MEMBER(output),
     BIT(WITNESS) | BIT(CONVERT) | BIT(MERGE) | BIT(CHECK) | BIT(SHOW),
     "the file to write (default: standard output)"},
    {"output", 'o', VALUE_TEXT, "FILE", NULL, MEMBER(output), BIT(RECORD),
     "the trace file to write"},
    {"output", 'o', VALUE_TEXT, "FILE", NULL, MEMBER(output), BIT(REPLAY),
     "of a witness of a program: keep the recording of the run, a trace, in this file"},
    {"output", 'o', VALUE_TEXT, "DIR", NULL, MEMBER(output), BIT(TEST) | BIT(EXPLORE),
     "the folder for traces and witnesses (default: a new folder in TMPDIR, which is kept if "
     "there is a finding)"},
    {"output", 'o', VALUE_TEXT, "PROGRAM", NULL, MEMBER(output), BIT(LOWER),
     "the file to write; - is standard output"},
    {"text", 0, VALUE_NONE, NULL, NULL, MEMBER(text), BIT(LOWER),
     "write the program as text, to read; else binary"},
    {"include", 'I', VALUE_TEXTS, "DIR", NULL, MEMBER(includes), SOURCE_COMMANDS,
     "the compiler's: look for headers in this folder; may be repeated"},
    {"define", 'D', VALUE_TEXTS, "NAME[=VALUE]", NULL, MEMBER(defines), SOURCE_COMMANDS,
     "the compiler's: define this macro; may be repeated"},
    {"undefine", 'U', VALUE_TEXTS, "NAME", NULL, MEMBER(undefines), SOURCE_COMMANDS,
     "the compiler's: undefine this macro; may be repeated"},
    {"threads", 0, VALUE_NUMBER, "N", NULL, MEMBER(threads), LOWERS,
     "of sources: a thread that would start more than N others goes no further, and nothing is "
     "called "
     "safe (default: no bound, but 3 where there are more than 64 threads)"},
    {"std", 0, VALUE_TEXT, "STANDARD", NULL, MEMBER(standard), SOURCE_COMMANDS,
     "the compiler's: the language standard, also written -std=c11 (default: the compiler's)"},
    {"to", 0, VALUE_TEXT, "FORMAT", "ndjson|binary", MEMBER(to),
     BIT(CONVERT) | BIT(MERGE) | BIT(RECORD),
     "the format to write: ndjson or binary (default: by the file's name: .ndjson, .jsonl and "
     ".json are ndjson, .ftb and .bin are binary)"},
    /* contexts */
    {"at", 0, VALUE_TEXTS, "THREAD=PLACE", NULL, MEMBER(places), BIT(CONTEXT),
     "the thread, by a name of your own, is before the place: FILE:LINE, FILE:LINE:COLUMN or "
     "@FUNCTION:N; with \",waiting\" or \",woken\" behind it the thread waits in the blocking "
     "operation there, or has been woken and is not through; repeated for each thread"},
    {"threads", 0, VALUE_TEXT, "WHICH", "named|any", MEMBER(other_threads), BIT(CONTEXT),
     "named: no other threads exist at that moment; any: others may (default)"},
    {"without", 0, VALUE_TEXTS, "PASS", NULL, MEMBER(without), BIT(CONTEXT),
     "leave out this pass (docs/contexts.md), for comparison; may be repeated"},
    {"steps", 0, VALUE_NUMBER, "N", NULL, MEMBER(steps), BIT(CONTEXT),
     "also count the paths of up to N branches that begin there, and those that fail or get stuck"},
    {"orders", 0, VALUE_TEXT, "WHICH", "every|fixed", MEMBER(orders), BIT(CONTEXT),
     "count paths with every order of the threads too (default), or in a fixed order alone"},
    {"wake", 0, VALUE_TEXT, "WHICH", "any|fifo", MEMBER(wake), BIT(CONTEXT),
     "the waiter that a signal wakes on these paths: any (default), or fifo: the first"},
    {"tries", 0, VALUE_COUNT, "N", NULL, MEMBER(tries), BIT(CONTEXT),
     "look for a run from the entry that gets there, in N random ones (default: 2000)"},
    /* covering schedules */
    {"output", 'o', VALUE_TEXT, "SET", NULL, MEMBER(output), BIT(COVER),
     "write the schedule set to SET instead of printing it"},
    {"check", 0, VALUE_TEXT, "SET", NULL, MEMBER(schedule_set), BIT(COVER),
     "search nothing: check this schedule set against the program"},
    {"order", 0, VALUE_TEXT, "ORDER", NULL, MEMBER(schedule_order), BIT(COVER),
     "the schedule that is preferred: thread: a thread runs as long as it can (default); trace: "
     "threads take turns; seed: at random, from --seed; else a file: the order of a witness of the "
     "program that `explore` found, of a recorded run of it, or of a schedule set"},
    {"seed", 0, VALUE_NUMBER, "N", NULL, MEMBER(seed), BIT(COVER), "the seed of --order seed"},
    {"dynamic", 0, VALUE_TEXTS, "NAME", NULL, MEMBER(dynamic), BIT(COVER),
     "this input is not known when the program begins, only when its thread has read it: schedules "
     "part there; '*': all inputs; may be repeated"},
    {"epochs", 0, VALUE_TEXT, "HOW", "auto|one|markers", MEMBER(epochs), BIT(COVER),
     "one: schedules of the whole program; markers: of stretches that end in loops that "
     "synchronise "
     "(needed for loops without a bound); auto: one, unless that needs many or long schedules "
     "(default)"},
    {"loops", 0, VALUE_TEXT, "HOW", "unroll|summarise", MEMBER(loops), BIT(COVER),
     "loops without synchronisation: unroll: execute them (default); summarise: take those that "
     "cannot fail as functions of which nothing is known but that they end: their values are known "
     "when the thread has left the loop"},
    {"no-prefix", 0, VALUE_NONE, NULL, NULL, MEMBER(no_prefix), BIT(COVER),
     "schedules for every way in which the process ends, each with one graph; else a run may end "
     "the process before its schedule is carried out"},
    {"entries", 0, VALUE_NUMBER, "N", NULL, MEMBER(entries), BIT(COVER),
     "look for N classes of inputs at most (default: 10000)"},
    {"budget", 0, VALUE_NUMBER, "SECONDS", NULL, MEMBER(budget), BIT(COVER),
     "time for the search and the certificates (default: 60)"},
    {"smt", 0, VALUE_TEXT, "FOLDER", NULL, MEMBER(smt), BIT(COVER),
     "write each certificate's question as an SMT-LIB file, whose answer must be unsat"},
    /* exploring */
    {"explore", 0, VALUE_COUNT, "SECONDS", NULL, MEMBER(explore_seconds), BIT(TEST),
     "explore further schedules of PROGRAM for at most this time, 0: do not (default: 10)"},
    {"check", 0, VALUE_CHECKS, "LIST", NULL, MEMBER(checks), BIT(EXPLORE),
     "of sources and programs: the kinds of bugs to look for, separated by commas or repeated: "
     "race, assertion, lock, deadlock, order, failure (default: all)"},
    {"explain", 0, VALUE_NONE, NULL, NULL, MEMBER(explain), BIT(EXPLORE),
     "of sources and programs: also print what the exploration counted, which bounds cut "
     "executions, and the questions that the solver left open"},
    {"input", 0, VALUE_TEXTS, "NAME=VALUE", NULL, MEMBER(inputs), INPUT_COMMANDS,
     "the value of this input of the program (foretell_input), whenever it is read; may be "
     "repeated. Of `explore`, sources and programs as data have the others open; else they are 0"},
    {"preemptions", 0, VALUE_COUNT, "N", NULL, MEMBER(preemptions), BIT(EXPLORE),
     "stop when every schedule with at most N preemptions was run (default: all schedules)"},
    {"budget", 0, VALUE_NUMBER, "SECONDS", NULL, MEMBER(explore_budget), BIT(EXPLORE),
     "another name of --explore-budget"},
    {"explore-budget", 0, VALUE_NUMBER, "SECONDS", NULL, MEMBER(explore_budget), BIT(EXPLORE),
     "time limit of the exploration (default: 60)"},
    {"runs", 0, VALUE_NUMBER, "R", NULL, MEMBER(runs), BIT(EXPLORE),
     "make at most R runs (default: no bound)"},
    {"seed", 0, VALUE_NUMBER, "N", NULL, MEMBER(seed), BIT(EXPLORE),
     "choose the random schedules by N, where there are too many to run all of them"},
    {"steps", 0, VALUE_NUMBER, "N", NULL, MEMBER(steps), BIT(EXPLORE),
     "end a run after N actions, as bounded (default: 10000)"},
    {"iterations", 0, VALUE_NUMBER, "N", NULL, MEMBER(iterations), BIT(EXPLORE),
     "of sources and programs: end an execution, as bounded, where a thread takes one way of a "
     "condition on open inputs more than N times (default: no bound)"},
    {"polls", 0, VALUE_NUMBER, "N", NULL, MEMBER(polls), BIT(EXPLORE),
     "a loop that polls and counts its tries makes N rounds in vain before it waits for others "
     "(default: 3, then up to 20 where rounds were left out)"},
    {"cutoffs", 0, VALUE_TEXT, "WHEN", "yes|no", MEMBER(cutoffs), BIT(EXPLORE),
     "of sources and programs: yes: do not go on from a state that was met before; no: always do "
     "(default: yes where executions do not end)"},
    {"early-limits", 0, VALUE_TEXT, "WHEN", "yes|no", MEMBER(early_limits), BIT(EXPLORE),
     "yes: time limits may pass while other threads could go on (default); "
     "no: only where no thread can"},
    {"oracle", 0, VALUE_TEXT, "CMD", NULL, MEMBER(oracle), BIT(EXPLORE) | BIT(TEST),
     "a shell command that gets what an explored run wrote to standard output as its standard "
     "input; an exit code other than 0 is a finding. It runs once for each different output"},
    {"deterministic", 0, VALUE_NONE, NULL, NULL, MEMBER(deterministic), BIT(EXPLORE) | BIT(TEST),
     "explored runs that pass and write different things to standard output are a finding "
     "(default: their number is printed)"},
    {"resume", 0, VALUE_TEXT, "FILE", NULL, MEMBER(resume), BIT(EXPLORE),
     "go on with the exploration that left FILE, and leave there what is not explored when this "
     "one "
     "ends; FILE need not be there yet, and is deleted when nothing is left"},
    {"races-only-reported", 0, VALUE_NONE, NULL, NULL, MEMBER(races_only_reported), BIT(EXPLORE),
     "end when the synchronisation is explored: the accesses of data races do not become "
     "scheduling "
     "points"},
    {"wakeups", 0, VALUE_TEXT, "W", "signals|spurious", MEMBER(wakeups), BIT(EXPLORE),
     "who may wake a waiter of a condition variable: signals (default), or spurious: also nobody, "
     "as POSIX allows"},
    {"timeout", 0, VALUE_NUMBER, "SECONDS", NULL, MEMBER(timeout), BIT(EXPLORE),
     "end a run that does no action for this time, as a hang (default: 5)"},
    {"expect-exit", 0, VALUE_NUMBER, "CODE", NULL, MEMBER(expect_exit), BIT(EXPLORE),
     "the exit code of a run that does not fail; any other one is a finding (default: 0)"},
    /* the run */
    {"seed", 0, VALUE_NUMBER, "N", NULL, MEMBER(seed), RECORD_COMMANDS,
     "choose the next thread and the length of its turn at random, in the same way for the same "
     "N (default: threads take turns in order)"},
    {"turn", 0, VALUE_NUMBER, "K", NULL, MEMBER(turn), RECORD_COMMANDS,
     "number of accesses after which the next thread runs (default: 1000)"},
    {"annotations", 0, VALUE_TEXT, "FILE", NULL, MEMBER(annotations), RECORD_COMMANDS,
     "a file that lists accesses to ignore, and functions that run in a fixed order "
     "(docs/record.md)"},
    {"unordered-hand-overs", 0, VALUE_NONE, NULL, NULL, MEMBER(unordered_hand_overs),
     RECORD_COMMANDS,
     "do not order threads between which uninstrumented code hands over memory (default: the "
     "receiver is ordered after all earlier uses of that memory)"},
    {"runs", 0, VALUE_NUMBER, "R", NULL, MEMBER(runs), RECORD_COMMANDS,
     "run the program R times with different seeds and turns: the traces of FILE run.ftb are "
     "run.1.ftb, run.2.ftb, ...; FILE may be a folder, which is created"},
    {"inputs-of", 0, VALUE_TEXT, "TRACE", NULL, MEMBER(inputs_of), RECORD_COMMANDS,
     "feed the program the inputs of this recording of it: another run of the same test, or the "
     "same run if --seed and --turn are the same"},
    {"limit", 0, VALUE_NUMBER, "MIB", NULL, MEMBER(limit), RECORD_COMMANDS,
     "the size at which the recording ends, in MiB; the program continues (default: 4096)"},
    {"timeout", 0, VALUE_NUMBER, "SECONDS", NULL, MEMBER(timeout), RECORD_COMMANDS,
     "end a run of the program after this time and report it as a hang; the trace is kept "
     "(default: 60 for test, no limit for record)"},
    {"expect-exit", 0, VALUE_NUMBER, "CODE", NULL, MEMBER(expect_exit), RECORD_COMMANDS,
     "the exit code of a run that does not fail; any other one is a finding (default: 0)"},
    {"exit-code", 0, VALUE_NONE, NULL, NULL, MEMBER(exit_code), BIT(RECORD),
     "if there is a trace, exit with the program's exit code (128 + N after signal N), as make "
     "and ctest expect (default: 0); of several runs, the first that is not 0"},
    {"live-inputs", 0, VALUE_NONE, NULL, NULL, MEMBER(live_inputs), BIT(REPLAY) | BIT(TEST),
     "let the replayed program read files, sockets and the time itself; do not feed it the "
     "recorded inputs"},
    {"symbolic", 0, VALUE_NONE, NULL, NULL, MEMBER(symbolic), RECORD_COMMANDS,
     "also record the terms of computed values, for the model ctp; the program must be built "
     "with foretell-cc --symbolic"},
    {"stop", 0, VALUE_NONE, NULL, NULL, MEMBER(stop), BIT(REPLAY),
     "stop the program when it reaches the bug (default: it continues, and may crash)"},
    {"no-replay", 0, VALUE_NONE, NULL, NULL, MEMBER(no_replay), BIT(TEST),
     "do not run the program again to reproduce the findings"},
    {"deadline", 0, VALUE_NUMBER, "SECONDS", NULL, MEMBER(deadline), BIT(REPLAY) | BIT(TEST),
     "stop a replayed program that makes no progress for this time (a sleep and processor time "
     "are progress), or that still runs this long after the end of the schedule (default: 20; "
     "for test 2; test replays findings for 60 seconds in all, and tries candidates that the "
     "recorded values rule out for 60 seconds in all)"},
    {"json", 0, VALUE_NONE, NULL, NULL, MEMBER(json), JSON_COMMANDS, "print JSON instead of text"},
    {"dot", 0, VALUE_NONE, NULL, NULL, MEMBER(dot), BIT(INTERVALS),
     "print the graph for Graphviz instead of text"},
    {"server", 0, VALUE_TEXT, "URL", NULL, MEMBER(server), NET_COMMANDS,
     "the server: http://HOST:PORT, https://HOST or unix:PATH (default: FORETELL_SERVER)"},
    {"help", 'h', VALUE_NONE, NULL, NULL, MEMBER(help), ~0u, "print this help"},
};

#define N_ROWS (sizeof rows / sizeof rows[0])

/* A row is used by its offset, without its type: what must hold of each of them. A value is named
 * exactly where one is taken, and a command has each name and letter once. */
static bool is_sound(const option_row *row)
{
    bool flag = row->kind == VALUE_NONE;
    size_t size = flag                        ? sizeof(bool)
                  : row->kind == VALUE_NUMBER ? sizeof(uint32_t)
                  : row->kind == VALUE_COUNT  ? sizeof(uint32_t)
                                              : sizeof(char *);
    if (row->kind == VALUE_CHECKS || row->kind == VALUE_FAIL_ON) size = sizeof(bool);
    if (flag != !row->value || (row->choices && row->kind != VALUE_TEXT)) return false;
    return row->commands && *row->doc && row->offset % size == 0 &&
           row->offset + size <= sizeof(ft_options);
}

static bool rows_are_sound(void)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!is_sound(&rows[i])) return false;
        for (size_t k = 0; k < i; k++) {
            bool same = strcmp(rows[i].name, rows[k].name) == 0 ||
                        (rows[i].letter && rows[i].letter == rows[k].letter);
            if (same && rows[i].commands & rows[k].commands) return false;
        }
    }
    return true;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = choices; at && length > 0; at = strchr(at, '|')) {
        if (*at == '|') at++;
        if (strncmp(at, text, length) == 0 && (at[length] == '|' || !at[length])) return true;
    }
    return false;
}

static ft_status take_checks(ft_options *options, const char *text, ft_error *err)
{
    options->any_check = true;
    while (*text) {
        size_t length = strcspn(text, ",");
        char *word = ft_strndup(text, length);
        ft_check check = FT_CHECK_PROPERTY;
        bool known = ft_check_parse(word, &check) && check < FT_CHECKS_NAMED;
        if (!known) {
            ft_error_set(err, FT_USAGE,
                         "'%s' is not a check: --check takes race, atomicity, assertion, "
                         "lock, deadlock, order, failure",
                         word);
            free(word);
            return FT_USAGE;
        }
        free(word);
        options->checks[check] = true;
        text += length + (text[length] == ',');
    }
    return FT_OK;
}

static ft_status take_fail_on(ft_options *options, const char *text, ft_error *err)
{
    bool all = strcmp(text, "all") == 0, none = strcmp(text, "none") == 0;
    if (!options->any_fail_on || all || none)
        for (unsigned i = 0; i < FT_CHECKS; i++) options->fail_on[i] = all;
    options->any_fail_on = true;
    while (!all && !none && *text) {
        size_t length = strcspn(text, ",");
        char *word = ft_strndup(text, length);
        ft_check check;
        bool known = ft_check_parse(word, &check);
        if (known) options->fail_on[check] = true;
        if (!known)
            ft_error_set(err, FT_USAGE,
                         "'%s' is not a check: --fail-on takes race, atomicity, assertion, lock, "
                         "deadlock, order, failure, property, certificate, context, all or none",
                         word);
        free(word);
        if (!known) return FT_USAGE;
        text += length + (text[length] == ',');
    }
    return FT_OK;
}

static ft_status take_number(uint32_t *number, const option_row *row, const char *text,
                             ft_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    bool digits = *text >= '0' && *text <= '9' && *end == '\0';
    if (!digits || errno || value == 0 || value > 1000000)
        return ft_error_set(err, FT_USAGE, "--%s takes a whole number from 1 to 1000000, not '%s'",
                            row->name, text);
    *number = (uint32_t)value;
    return FT_OK;
}

static ft_status take_count(uint32_t *count, const option_row *row, const char *text, ft_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    bool digits = *text >= '0' && *text <= '9' && *end == '\0';
    if (!digits || errno || value > 1000000)
        return ft_error_set(err, FT_USAGE, "--%s takes a whole number from 0 to 1000000, not '%s'",
                            row->name, text);
    *count = (uint32_t)value + 1;
    return FT_OK;
}

static ft_status take_text(const char **member, const option_row *row, const char *text,
                           ft_error *err)
{
    if (row->choices && !is_choice(row->choices, text))
        return ft_error_set(err, FT_USAGE, "--%s takes %s, not '%s'", row->name, row->choices,
                            text);
    *member = text;
    return FT_OK;
}

static ft_status apply(ft_options *options, const option_row *row, const char *value, ft_error *err)
{
    void *member = (char *)options + row->offset;
    FT_REQUIRE((row->kind == VALUE_NONE) == !value);
    switch (row->kind) {
    case VALUE_NONE:
        *(bool *)member = true;
        return FT_OK;
    case VALUE_TEXT:
        return take_text(member, row, value, err);
    case VALUE_TEXTS:
        ft_vec_push((ft_texts *)member, value);
        return FT_OK;
    case VALUE_NUMBER:
        return take_number(member, row, value, err);
    case VALUE_COUNT:
        return take_count(member, row, value, err);
    case VALUE_CHECKS:
        return take_checks(options, value, err);
    case VALUE_FAIL_ON:
        return take_fail_on(options, value, err);
    }
    return FT_OK;
}

static const option_row *find_option(const char *name, size_t length, ft_command command)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        bool named = strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0;
        if (named && (rows[i].commands >> command & 1)) return &rows[i];
    }
    return NULL;
}

static const option_row *find_letter(char letter, ft_command command)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].letter == letter && (rows[i].commands >> command & 1)) return &rows[i];
    return NULL;
}

static const char *closest_option(ft_command command, const char *word)
{
    ft_closest closest = {.word = word};
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].commands >> command & 1) ft_closest_offer(&closest, rows[i].name);
    return closest.name;
}

static ft_status unknown_option(const ft_options *options, const char *word, ft_error *err)
{
    const char *command = ft_command_name(options->command);
    const char *closest = word[1] == '-' ? closest_option(options->command, word + 2) : NULL;
    if (!closest)
        return ft_error_set(err, FT_USAGE, "'%s' is not an option of %s: see foretell %s --help",
                            word, command, command);
    return ft_error_set(err, FT_USAGE, "'%s' is not an option of %s; did you mean '--%s'?", word,
                        command, closest);
}

/* `given`: the value that stands in the same word, NULL: it is the next word. */
static ft_status take_value(int argc, char **argv, int *at, const option_row *row,
                            const char *given, ft_options *options, ft_error *err)
{
    FT_REQUIRE(row->value && *at < argc);
    const char *value = given ? given : *at + 1 < argc ? argv[++*at] : NULL;
    if (!value || !*value)
        return ft_error_set(err, FT_USAGE, "--%s needs a value: %s", row->name, row->value);
    return apply(options, row, value, err);
}

/* Letters may stand together, the value of the last one too: -qo FILE, -oFILE. */
static ft_status take_letters(int argc, char **argv, int *at, ft_options *options, ft_error *err)
{
    const char *word = argv[*at];
    for (const char *letter = word + 1; *letter; letter++) {
        const option_row *row = find_letter(*letter, options->command);
        if (!row) return unknown_option(options, word, err);
        if (row->value)
            return take_value(argc, argv, at, row, letter[1] ? letter + 1 : NULL, options, err);
        ft_status status = apply(options, row, NULL, err);
        if (status) return status;
    }
    return FT_OK;
}

/* Handles argv[*at], which begins with a dash, and its value. */
static ft_status take_option(int argc, char **argv, int *at, ft_options *options, ft_error *err)
{
    const char *word = argv[*at], *equals = strchr(word, '=');
    bool compilers = strncmp(word, "-std=", 5) == 0 && find_option("std", 3, options->command);
    if (word[1] != '-' && !compilers) return take_letters(argc, argv, at, options, err);
    const char *name = word + (compilers ? 1 : 2);
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const option_row *row = find_option(name, length, options->command);
    if (!row) return unknown_option(options, word, err);
    if (row->value)
        return take_value(argc, argv, at, row, equals ? equals + 1 : NULL, options, err);
    if (equals) return ft_error_set(err, FT_USAGE, "--%s takes no value", row->name);
    return apply(options, row, NULL, err);
}

static bool find_command(const char *name, ft_command *command)
{
    for (unsigned i = 0; i < FT_COMMANDS; i++)
        if (strcmp(ft_command_name((ft_command)i), name) == 0) {
            *command = (ft_command)i;
            return true;
        }
    return false;
}

static ft_status unknown_command(const char *word, ft_error *err)
{
    ft_closest closest = {.word = word};
    for (unsigned i = 0; i < FT_COMMANDS; i++)
        ft_closest_offer(&closest, ft_command_name((ft_command)i));
    if (!closest.name)
        return ft_error_set(err, FT_USAGE, "'%s' is not a command: see foretell --help", word);
    return ft_error_set(err, FT_USAGE, "'%s' is not a command; did you mean '%s'?", word,
                        closest.name);
}

static ft_status check_arguments(const ft_options *options, ft_error *err)
{
    static const struct {
        const char *text;
        size_t min, max;
    } shapes[] = {
#define FT_ROW(symbol, name, arguments, min, max, line) {arguments, min, max},
        FT_COMMAND_TABLE(FT_ROW)
#undef FT_ROW
    };
    size_t given = options->arguments.len, min = shapes[options->command].min,
           max = shapes[options->command].max;
    const char *text = shapes[options->command].text;
    bool too_many = max ? given > max : !*text && given > 0;
    if (!options->help && (given < min || too_many))
        return ft_error_set(err, FT_USAGE, "%s: usage: foretell %s [OPTION]...%s%s",
                            too_many ? "too many arguments" : "an argument is missing",
                            ft_command_name(options->command), *text ? " " : "", text);
    return FT_OK;
}

ft_status ft_options_parse(int argc, char **argv, ft_options *options, ft_error *err)
{
    FT_CHECK(rows_are_sound());
    *options = (ft_options){.command = FT_COMMANDS};
    if (argc < 2) return ft_error_set(err, FT_USAGE, "a command is missing: see foretell --help");
    if (!find_command(argv[1], &options->command)) return unknown_command(argv[1], err);
    bool only_arguments = false;
    for (int i = 2; i < argc; i++) {
        const char *word = argv[i];
        if (only_arguments || word[0] != '-' || !word[1]) {
            ft_vec_push(&options->arguments, word);
            /* Arguments behind the program's name are the program's, as with env and nice. */
            if ((RECORD_COMMANDS | BIT(RUN)) >> options->command & 1) only_arguments = true;
        } else if (strcmp(word, "--") == 0) {
            only_arguments = true;
            options->before = options->arguments.len;
        } else {
            ft_status status = take_option(argc, argv, &i, options, err);
            if (status) return status;
        }
    }
    if (!only_arguments) options->before = options->arguments.len;
    assert(options->before <= options->arguments.len);
    if (!options->server) options->server = getenv("FORETELL_SERVER");
    if (options->server && !*options->server) options->server = NULL;
    return check_arguments(options, err);
}

bool ft_options_are_for_people(const ft_options *options)
{
    return !options->json && (!options->format || strcmp(options->format, "text") == 0);
}

void ft_options_release(ft_options *options)
{
    ft_vec_release(&options->arguments);
    ft_vec_release(&options->properties);
    ft_vec_release(&options->ignored);
    ft_vec_release(&options->reports);
    ft_vec_release(&options->baselines);
    ft_vec_release(&options->suppressions);
    ft_vec_release(&options->without);
    ft_vec_release(&options->inputs);
    ft_vec_release(&options->places);
    ft_vec_release(&options->includes);
    ft_vec_release(&options->defines);
    ft_vec_release(&options->undefines);
    ft_vec_release(&options->dynamic);
}

bool ft_options_at(ft_command command, size_t index, ft_option_row *row)
{
    unsigned wanted = command == FT_COMMANDS ? ~0u : 1u << command;
    FT_REQUIRE(command <= FT_COMMANDS);
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!(rows[i].commands & wanted) || index-- > 0) continue;
        *row = (ft_option_row){rows[i].name,    rows[i].letter,   rows[i].value,
                               rows[i].choices, rows[i].commands, rows[i].doc};
        return true;
    }
    return false;
}
