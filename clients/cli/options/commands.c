/* The texts of the commands, the exit codes and the environment variables. */
#include "base/contract.h"
#include "help.h"

/* For --help: what a command does, as running text, and examples, one a line. */
static const struct {
    const char *details, *examples;
} texts[FT_COMMANDS] = {
    [FT_COMMAND_TEST] =
        {"PROGRAM is built with foretell-cc or foretell-c++ in place of the compiler. "
         "`test` does four things. It records five runs of PROGRAM in different "
         "schedules, as `record` does: one if that takes a second, if standard input is a pipe "
         "that it reads, or with --seed, --turn or --inputs-of; --runs chooses. It prints what "
         "`check` predicts from the traces. It explores further schedules for ten seconds, as "
         "`explore` does. It runs "
         "PROGRAM again through the schedule of each finding, at most ten, and prints "
         "whether the bug was reproduced. Races, deadlocks and uses after free that only "
         "the recorded values or waits rule out are tried in the program too (see "
         "docs/record.md): that takes at most a minute, and those that the program "
         "reaches are findings. The output "
         "of PROGRAM in these repeated runs is discarded; its other effects happen "
         "again (--no-replay avoids them). If there is a finding, traces and witnesses "
         "are kept for `replay`. The exit codes are those of `check`.",
         "foretell test ./test --case 3\n"
         "foretell test --runs 20 ./test\n"
         "foretell test -o found/ --symbolic --check assertion ./test\n"},
    [FT_COMMAND_CHECK] =
        {"Uploads each FILE (\"-\" is standard input; gzip and zstd files are uploaded "
         "as they are, xz files decoded), runs the checks and prints every bug that another "
         "schedule of "
         "the same events hits, with that schedule. Without --server and "
         "FORETELL_SERVER, a private server is started for the command and stopped "
         "after it. --json prints one report, or {\"reports\": [...]} for several "
         "files. If one file cannot be read, the others are still checked. Findings "
         "that a baseline, a suppression or a review marks as known do not count for "
         "the exit code (docs/findings.md).",
         "foretell check bank.ndjson\n"
         "foretell check --format html -o report.html bank.ndjson\n"
         "foretell check --report sarif=out.sarif --report junit=out.xml bank.ndjson\n"
         "foretell check --write-baseline known.txt bank.ndjson\n"
         "foretell check --baseline known.txt --suppressions ignore.txt bank.ndjson\n"
         "foretell check --check race --model observed --per event --json run.std\n"
         "foretell check --property properties.json --witness-dir found/ bank.ndjson\n"
         "zcat run.log.gz | foretell check --budget 60 -\n"},
    [FT_COMMAND_SUBMIT] =
        {"Prints the URL of the job and does not wait for it; `foretell show --wait "
         "JOB` does.",
         "foretell submit --server http://127.0.0.1:7411 bank.ndjson\n"
         "job=$(foretell submit --name nightly run.ndjson.zst)\n"},
    [FT_COMMAND_JOBS] = {"One line for each job, the newest first.",
                         "foretell jobs --server unix:/run/foretell/foretelld.sock\n"
                         "foretell jobs --json\n"},
    [FT_COMMAND_TOP] = {"Refreshes every two seconds until q or Ctrl-C; any other key refreshes at "
                        "once. Running jobs come first. In a pipe, and with --once, the output is "
                        "plain text without colours; --json prints one line for each refresh: "
                        "{\"stats\": GET /v1/stats, \"workers\": [...], \"jobs\": [...]}.",
                        "foretell top --server http://127.0.0.1:7411\n"
                        "foretell top --once\n"
                        "foretell top --json --interval 10 | jq .stats.now.queued\n"},
    [FT_COMMAND_SHOW] =
        {"JOB is the name or URL that `submit` and `jobs` print. A URL also names the "
         "server, if neither --server nor FORETELL_SERVER is given. While the job is "
         "running, the findings so far are printed; the exit code is then 3, or 1 if "
         "there are findings.",
         "foretell show 61f3c0de61f3c0de\n"
         "foretell show --format markdown 61f3c0de61f3c0de >>$GITHUB_STEP_SUMMARY\n"
         "foretell show --new-since 61f3c0de61f3c0de 7a04b1ff7a04b1ff\n"
         "foretell show --wait --json http://127.0.0.1:7411/v1/jobs/61f3c0de61f3c0de\n"},
    [FT_COMMAND_CANCEL] =
        {"Prints the state in which the job ended, which may be an earlier state such "
         "as done. Verdicts that were decided before stay; all others stay pending.",
         "foretell cancel 61f3c0de61f3c0de\n"},
    [FT_COMMAND_WITNESS] = {"FINDING is the name that `show --json` prints with the finding.",
                            "foretell witness 61f3c0de61f3c0de-12 -o witness.json\n"},
    [FT_COMMAND_VERIFY] =
        {"Executes the witness on the trace with the independent checker, in this "
         "process: each step must be possible where it stands, and the violation must "
         "be there at the end. TRACE is the file that was checked; without it, the "
         "trace is fetched from the server. The witness of a program that was explored is executed "
         "by the interpreter, on PROGRAM or its sources. Exit codes: 0 confirmed, 1 refused (the "
         "message names the step), 2 another trace or an unreadable file, 3 undecidable "
         "(a value that the trace does not have).",
         "foretell verify found/bank.ndjson.1.json bank.ndjson\n"
         "foretell witness 61f3c0de61f3c0de-12 | foretell verify - bank.ndjson\n"
         "foretell verify found/queue.c.1.json queue.c\n"},
    [FT_COMMAND_CONVERT] =
        {"Reads any format (detected by content; gzip, zstd and xz files too) and writes Foretell "
         "NDJSON or Foretell binary. \"-\" is standard input or output. The output may "
         "also be named with -o; if neither is given, it is standard output, and --to "
         "is needed.",
         "foretell convert run.std run.ndjson\n"
         "foretell convert run.std -o run.ndjson\n"
         "foretell convert --to binary - - <run.log >run.ftb\n"},
    [FT_COMMAND_DIFF] =
        {"Findings are the same if their fingerprints are (docs/findings.md). Exit "
         "codes: 0 if every finding of the second job is one of the first job too, else "
         "1.",
         "foretell diff 61f3c0de61f3c0de 7a04b1ff7a04b1ff\n"
         "foretell diff --json $before $after | jq .new\n"},
    [FT_COMMAND_REVIEW] =
        {"Lists the findings of a project with their states and the dates on which they "
         "were first and last seen; with FINGERPRINT, only that one; with --state, "
         "records a decision about it. A false finding no longer counts for exit codes. "
         "A fixed finding that comes back is open again.",
         "foretell review --project app\n"
         "foretell review --project app 0123456789abcdef --state false --reason 'joined by "
         "hand'\n"},
    [FT_COMMAND_MERGE] =
        {"The FILEs are symbolic traces of one program that took different branches. "
         "Where the runs of a thread part at an assume, the assume becomes an if with "
         "both ways as its arms, up to the source locations where they meet again. A "
         "finding in the result may mix branches that no single run took. The first run "
         "is the observed one; the first FILE may have branches already. Runs whose "
         "events differ without a branch are refused, with the thread and the "
         "locations. Without -o, NDJSON goes to standard output.",
         "foretell merge zero.ndjson one.ndjson -o both.ndjson\n"
         "foretell merge run-*.ndjson -o all.ndjson\n"},
    [FT_COMMAND_STATS] =
        {"Prints the events by kind and by thread, the number of shared cells and "
         "locks, the locations with the most events, the bytes that an event takes, and "
         "the assumptions that the reader made.",
         "foretell stats bank.ndjson\n"
         "foretell stats --json run.std | jq .kinds\n"},
    [FT_COMMAND_INTERVALS] =
        {"The values that each event reads, writes and assigns in any schedule of the "
         "trace, as bounds, by propagation over transaction sequence graphs "
         "(docs/intervals.md). For traces with terms. --dot prints the graph of feasible "
         "transactions for Graphviz: solid edges are transactions, dashed ones switches.",
         "foretell intervals bank.ndjson\n"
         "foretell intervals --dot bank.ndjson | dot -Tsvg >bank.svg\n"},
    [FT_COMMAND_RECORD] =
        {"PROGRAM is built with foretell-cc or foretell-c++ in place of the compiler. "
         "One thread runs at a time. The trace FILE holds the reads, writes and "
         "synchronisation of the threads, without memory that only one thread used. It "
         "is complete even if the program crashes, is killed or deadlocks. --seed gives "
         "another interleaving of the same test, --runs many of them; `check` of all "
         "their traces reports each finding once. If FILE is \"-\", the trace goes to "
         "standard output, and the program's standard output to standard error. Signals "
         "to this command are passed on to PROGRAM; a second SIGINT, SIGQUIT, SIGTERM "
         "or SIGHUP kills it, and the trace is still written.",
         "CC=foretell-cc make && foretell record -o run.ftb -- ./test\n"
         "foretell record -o run.ndjson --seed 7 --turn 20 ./test --case 3\n"
         "foretell record -o run.ftb --runs 20 ./test && foretell check run.*.ftb\n"
         "foretell record -o - ./test | foretell check -\n"},
    [FT_COMMAND_EXPLORE] =
        {"PROGRAM is built with foretell-cc or foretell-c++ in place of the compiler. `explore` "
         "runs "
         "it through every schedule of its synchronisation, up to equivalence: first without "
         "preemptions, then with one, two and so on, then all; and where the time is up before, "
         "through random ones. A run fails by an assertion, a signal, an exit code other than "
         "--expect-exit, a deadlock, a live-lock, a hang or an error of a lock; with --oracle or "
         "--deterministic also by its output. Of each failure "
         "the run with the fewest preemptions is recorded again under the same schedule, and "
         "reported with a witness for `replay`. Data races are findings too, one for each pair of "
         "places; where the synchronisation has been explored, their accesses become points at "
         "which "
         "threads change (--races-only-reported: they do not). The "
         "output of PROGRAM is discarded. Exit codes: 0 nothing was found and the exploration "
         "ended by itself, 1 findings, 2 PROGRAM cannot be explored, 3 nothing was found until the "
         "time or --runs was over. If PROGRAM is a source file (.c, .cpp, ...) or a program as "
         "data "
         "(`foretell lower`), it runs in an interpreter, on a worker, and further arguments are "
         "sources of the same program (docs/programs.md). A native program of such a name stands "
         "behind --.",
         "foretell explore -- ./test --case 3\n"
         "foretell explore --preemptions 2 --explore-budget 600 ./test\n"
         "foretell explore --json --runs 10000 ./test\n"
         "foretell explore --oracle 'diff - expected.txt' ./test\n"
         "foretell explore --deterministic ./test\n"
         "foretell explore -I include --input limit=3 queue.c\n"},
    [FT_COMMAND_COVER] =
        {"PROGRAM is a program as data or the C and C++ sources of one, as for `lower`. Finds a "
         "small set of schedules of its synchronisation so that every input has one, and a "
         "decision "
         "tree that selects it. Then proves, or refutes with inputs, what conclusions from the set "
         "rest on: that it covers every input, that the program follows it, and that data races, "
         "deadlocks and failures do not happen under it. Each proof is one question to a solver "
         "(--smt). Exit codes: 0 everything is proved, 1 something is refuted or diverges, 3 "
         "something is "
         "unknown (docs/schedules.md).",
         "foretell cover queue.c -o queue.schedules\n"
         "foretell cover --check queue.schedules queue.c --smt questions\n"},
    [FT_COMMAND_CONTEXT] =
        {"PROGRAM is a program as data or the C and C++ sources of one, as for `lower`. Asks "
         "whether the threads can be at their places at the same moment, in any run: never (a "
         "proof, with its reason), reached (a run from the program's entry gets there; its inputs "
         "and schedule are printed), or not refuted. With --steps, also what the threads can do "
         "from there, over memory of which no more is known than what every path to the places "
         "leaves. Assumes that the program has no data race. Exit codes: 0 never, 1 reached, 3 not "
         "refuted (docs/contexts.md).",
         "foretell context queue.c --at T1=queue.c:40 --at T2=queue.c:77\n"
         "foretell context queue.c --threads named --steps 10 --at A=queue.c:40,waiting --at "
         "B=queue.c:52\n"},
    [FT_COMMAND_LOWER] =
        {"Compiles FILEs (C, C++ and LLVM 14 bitcode, .bc and .ll) with clang 14, links them with "
         "models of the C library, and writes what main can reach as a program as data "
         "(docs/programs.md). Only `lower` needs LLVM: servers and workers take the program. What "
         "cannot be lowered (inline assembly, exceptions, vectors, functions without a model) is "
         "an error that names the function and the place.",
         "foretell lower queue.c -o queue.program\n"
         "foretell lower -std=c11 -DN=4 -I include main.c queue.c -o queue.program\n"
         "foretell lower --text queue.cpp -o - | less\n"},
    [FT_COMMAND_REPLAY] =
        {"PROGRAM is the same build that was recorded, with the same arguments and "
         "input. Its threads follow the schedule of the witness, each step is compared "
         "with the trace, and at the end the threads are at the bug; from there the "
         "program runs freely. TRACE is the file that was checked; without it, the "
         "trace is fetched from the server. Words NAME=VALUE before PROGRAM are set in "
         "its environment. Signals are passed on as in `record`. Exit codes: 0 the "
         "violation was reached, 1 the run diverged (the message names the first "
         "difference), 2 another build, another trace or an unreadable file, 3 no "
         "progress. The witness of a source that was explored (`foretell explore queue.c`) drives "
         "the program that foretell-cc -g built from that source: its inputs and its schedule, "
         "matched by thread, operation, object and FILE:LINE, lead to the failure.",
         "foretell check --witness-dir found/ run.ftb\n"
         "foretell replay found/queue.c.1.json -- ./queue\n"
         "foretell replay found/run.ftb.1.json run.ftb -- ./test --case 3\n"},
    [FT_COMMAND_RUN] =
        {"PROGRAM is built with foretell-cc -g (or foretell-cc --light, which leaves out all but "
         "the calls of synchronisation) from the source of the set. The inputs (--input, or "
         "FORETELL_INPUTS in the environment) select a schedule; each synchronisation of the "
         "program matches its next node there by thread, operation, object and FILE:LINE, and "
         "waits for the nodes before it. Threads run in parallel otherwise. The exit code is the "
         "program's; 3 if no schedule covers the inputs or the program did something else.",
         "foretell run --schedules queue.schedules --input n=3 -- ./queue\n"
         "foretell run --schedules queue.schedules --uncovered free -- ./queue\n"},
    [FT_COMMAND_MANUAL] = {"PAGE is markdown (default: the reference in docs/cli.md) or man "
                           "(docs/man/foretell.1).",
                           "foretell manual | less\n"
                           "foretell manual man | man -l -\n"},
    [FT_COMMAND_COMPLETION] =
        {"SHELL is bash, zsh or fish.",
         "source <(foretell completion bash)\n"
         "foretell completion fish >~/.config/fish/completions/foretell.fish\n"},
    [FT_COMMAND_VERSION] = {"", "foretell version\n"},
};

static const struct {
    const char *name, *arguments, *line;
} commands[] = {
#define FT_ROW(symbol, name, arguments, min, max, line) {name, arguments, line},
    FT_COMMAND_TABLE(FT_ROW)
#undef FT_ROW
};

static const struct {
    int code;
    const char *meaning;
} exits[] = {
#define FT_ROW(symbol, code, meaning) {code, meaning},
    FT_EXIT_TABLE(FT_ROW)
#undef FT_ROW
};

#define N_EXITS (sizeof exits / sizeof exits[0])

static const struct {
    const char *name, *meaning;
} environment[] = {
    {"FORETELL_SERVER", "the server to use, if --server is not given"},
    {"FORETELL_TOKEN", "the access token to send to a server that requires one"},
    {"NO_COLOR", "no colours, even on a terminal"},
    {"TMPDIR",
     "the folder for temporary files and for the state of a private server (default: /tmp)"},
};

#define N_ENVIRONMENT (sizeof environment / sizeof environment[0])

const char *ft_command_name(ft_command command)
{
    FT_REQUIRE(command < FT_COMMANDS);
    return commands[command].name;
}

const char *ft_command_arguments(ft_command command)
{
    FT_REQUIRE(command < FT_COMMANDS);
    return commands[command].arguments;
}

const char *ft_command_line(ft_command command)
{
    FT_REQUIRE(command < FT_COMMANDS);
    return commands[command].line;
}

const char *ft_command_details(ft_command command)
{
    FT_REQUIRE(command < FT_COMMANDS);
    return texts[command].details;
}

const char *ft_command_examples(ft_command command)
{
    FT_REQUIRE(command < FT_COMMANDS);
    return texts[command].examples;
}

const char *ft_environment_name(size_t index, const char **meaning)
{
    if (index >= N_ENVIRONMENT) return NULL;
    *meaning = environment[index].meaning;
    return environment[index].name;
}

const char *ft_exit_meaning(size_t index, int *code)
{
    if (index >= N_EXITS) return NULL;
    *code = exits[index].code;
    return exits[index].meaning;
}
