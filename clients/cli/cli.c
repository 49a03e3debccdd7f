#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options/help.h"
#include "options/options.h"
#include "terminal/signals.h"

/* For --help: what it does, as running text, and examples, one a line. */
static const struct {
    ft_exit (*run)(const ft_options *options);
    const char *details, *examples;
} texts[FT_COMMANDS] = {
    [FT_COMMAND_TEST] =
        {ft_run_test,
         "PROGRAM was built with foretell-cc or foretell-c++ in place of the compiler. It runs as "
         "in "
         "`record`, once or --runs times; what `check` finds in the traces is printed; then the "
         "program runs again through the schedule of each finding, ten at most, up to where the "
         "bug "
         "is, and what came of it is printed. The program's own output in these runs is dropped; "
         "what else it does it does again (--no-replay). Traces and witnesses stay for `replay` "
         "where there is a finding. Exit codes as of `check`.",
         "foretell test ./test --case 3\n"
         "foretell test --runs 20 ./test\n"
         "foretell test -o found/ --symbolic --check assertion ./test\n"},
    [FT_COMMAND_CHECK] =
        {ft_run_check,
         "Uploads each FILE (\"-\" is standard input; gzip and zstd files go up as they are, xz "
         "files decoded), runs "
         "the checks and prints every bug that another schedule of the same events hits, with that "
         "schedule. Without --server and FORETELL_SERVER, a private daemon is started for the "
         "command and taken down after it. --json prints one report, or {\"reports\": [...]} for "
         "several files. A file that cannot be read does not keep the others from being checked. "
         "Findings that a baseline, a suppression or a review knows do not count for the exit code "
         "(docs/findings.md).",
         "foretell check bank.ndjson\n"
         "foretell check --format html -o report.html bank.ndjson\n"
         "foretell check --report sarif=out.sarif --report junit=out.xml bank.ndjson\n"
         "foretell check --write-baseline known.txt bank.ndjson\n"
         "foretell check --baseline known.txt --suppressions ignore.txt bank.ndjson\n"
         "foretell check --check race --model observed --per event --json run.std\n"
         "foretell check --property properties.json --witness-dir found/ bank.ndjson\n"
         "zcat run.log.gz | foretell check --budget 60 -\n"},
    [FT_COMMAND_SUBMIT] =
        {ft_run_submit,
         "Prints the job's URL and does not wait for it. `foretell show --wait JOB` waits.",
         "foretell submit --server http://127.0.0.1:7411 bank.ndjson\n"
         "job=$(foretell submit --name nightly run.ndjson.zst)\n"},
    [FT_COMMAND_JOBS] = {ft_run_jobs, "Newest first, one line each.",
                         "foretell jobs --server unix:/run/foretell/foretelld.sock\n"
                         "foretell jobs --json\n"},
    [FT_COMMAND_TOP] =
        {ft_run_top,
         "Drawn anew every two seconds, until q or Ctrl-C; any other key draws at once. Jobs at "
         "work come first. In a pipe, and with --once, plain text without colours; --json prints "
         "one line for each look: {\"stats\": GET /v1/stats, \"workers\": [...], \"jobs\": [...]}.",
         "foretell top --server http://127.0.0.1:7411\n"
         "foretell top --once\n"
         "foretell top --json --interval 10 | jq .stats.now.queued\n"},
    [FT_COMMAND_SHOW] =
        {ft_run_show,
         "JOB is what `submit` and `jobs` print: the job's name or its URL, which names the server "
         "as well where neither --server nor FORETELL_SERVER does. While the job runs, "
         "the findings so far are printed and the exit code is 3 unless there are some.",
         "foretell show 61f3c0de61f3c0de\n"
         "foretell show --format markdown 61f3c0de61f3c0de >>$GITHUB_STEP_SUMMARY\n"
         "foretell show --new-since 61f3c0de61f3c0de 7a04b1ff7a04b1ff\n"
         "foretell show --wait --json http://127.0.0.1:7411/v1/jobs/61f3c0de61f3c0de\n"},
    [FT_COMMAND_CANCEL] =
        {ft_run_cancel,
         "Prints the state in which the job has ended, which may have been before. What was "
         "decided until then stays; the rest stays pending.",
         "foretell cancel 61f3c0de61f3c0de\n"},
    [FT_COMMAND_WITNESS] = {ft_run_witness,
                            "FINDING is the name that `show` prints beside the finding.",
                            "foretell witness 61f3c0de61f3c0de-12 -o witness.json\n"},
    [FT_COMMAND_VERIFY] =
        {ft_run_verify,
         "Executes the witness on the trace with the independent checker, in this process: every "
         "step must be possible where it stands, and the violation must be there at the end. TRACE "
         "is the file that was checked; without it, the stored trace is fetched from the server. "
         "Exit codes: 0 confirmed, 1 refused (the message names the step), 2 not the witness's "
         "trace or unreadable, 3 undecidable (a value that the trace does not give).",
         "foretell verify found/bank.ndjson.1.json bank.ndjson\n"
         "foretell witness 61f3c0de61f3c0de-12 | foretell verify - bank.ndjson\n"},
    [FT_COMMAND_CONVERT] =
        {ft_run_convert,
         "Reads any format (detected by content; gzip, zstd and xz files as well) and writes "
         "Foretell NDJSON "
         "or Foretell binary. \"-\" is standard input or output. OUT may also be given with -o; "
         "without both, the trace goes to standard output, in the format of --to.",
         "foretell convert run.std run.ndjson\n"
         "foretell convert run.std -o run.ndjson\n"
         "foretell convert --to binary - - <run.log >run.ftb\n"},
    [FT_COMMAND_MERGE] =
        {ft_run_merge,
         "The FILEs are symbolic traces of one program that went different ways. Where a thread's "
         "runs part at an assume, the assume becomes an if with both ways as its arms, until they "
         "meet again at the same source locations. What the checks find in the result may mix ways "
         "that no single run went. The first run is the observed one. Runs whose events differ "
         "without a branch are refused, with the thread and the locations. The first FILE may have "
         "branches already. Without -o, NDJSON goes to standard output.",
         "foretell merge zero.ndjson one.ndjson -o both.ndjson\n"
         "foretell merge run-*.ndjson -o all.ndjson\n"},
    [FT_COMMAND_STATS] =
        {ft_run_stats,
         "Events by kind and thread, shared cells, locks, the locations that most events come "
         "from, the bytes that an event takes, and what the reader had to assume.",
         "foretell stats bank.ndjson\n"
         "foretell stats --json run.std | jq .kinds\n"},
    [FT_COMMAND_RECORD] =
        {ft_run_record,
         "PROGRAM was built with foretell-cc or foretell-c++ in place of the compiler. One thread "
         "runs at a time; what the threads read, wrote and synchronised on becomes the trace FILE, "
         "less what no two threads ever touched. The trace is whole also where the program "
         "crashed, was killed or deadlocked. --seed gives another interleaving of the same test, "
         "--runs many of them; `check` of all their traces tells each finding once. Where FILE is "
         "\"-\" the trace goes to standard output, and what the program prints there to standard "
         "error. Signals to this command go on to PROGRAM; a second one of SIGINT, SIGQUIT, "
         "SIGTERM and SIGHUP kills it. There is a trace all the same.",
         "CC=foretell-cc make && foretell record -o run.ftb -- ./test\n"
         "foretell record -o run.ndjson --seed 7 --turn 20 ./test --case 3\n"
         "foretell record -o run.ftb --runs 20 ./test && foretell check run.*.ftb\n"
         "foretell record -o - ./test | foretell check -\n"},
    [FT_COMMAND_REPLAY] =
        {ft_run_replay,
         "PROGRAM is the very build that was recorded, with the same arguments and input. Its "
         "threads are driven through the schedule of the witness, what they come to is compared "
         "with the trace at every step, and at the end they stand at the bug; then the program "
         "runs on freely. TRACE is the file that was checked; without it, the stored trace is "
         "fetched from the server. NAME=VALUE words before PROGRAM are set in its environment. "
         "Signals go on to it as in `record`. "
         "Exit codes: 0 the violation was reached, 1 the run diverged "
         "(the message says where first), 2 another build, not the witness's trace, or unreadable, "
         "3 no progress.",
         "foretell check --witness-dir found/ run.ftb\n"
         "foretell replay found/run.ftb.1.json run.ftb -- ./test --case 3\n"},
    [FT_COMMAND_DIFF] =
        {ft_run_diff,
         "Findings are the same when their fingerprints are (docs/findings.md). Exit codes: 0 when "
         "the second job has no finding that the first one has not, 1 when it has.",
         "foretell diff 61f3c0de61f3c0de 7a04b1ff7a04b1ff\n"
         "foretell diff --json $before $after | jq .new\n"},
    [FT_COMMAND_REVIEW] =
        {ft_run_review,
         "Without --state, the project's findings are listed with their states and when they were "
         "first and last seen. A finding that is false does not count for exit codes any more; a "
         "fixed one that comes back is open again.",
         "foretell review --project app\n"
         "foretell review --project app 0123456789abcdef --state false --reason 'joined by "
         "hand'\n"},
    [FT_COMMAND_MANUAL] = {ft_run_manual,
                           "docs/cli.md is this text; with PAGE \"man\", docs/man/foretell.1.",
                           "foretell manual >docs/cli.md\n"
                           "foretell manual man | man -l -\n"},
    [FT_COMMAND_COMPLETION] =
        {ft_run_completion, "SHELL is bash, zsh or fish.",
         "source <(foretell completion bash)\n"
         "foretell completion fish >~/.config/fish/completions/foretell.fish\n"},
    [FT_COMMAND_VERSION] = {ft_run_version, "", "foretell version\n"},
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
    {"FORETELL_SERVER", "the server, where --server is not given"},
    {"FORETELL_TOKEN", "its access token, where it wants one"},
    {"NO_COLOR", "no colours, even on a terminal"},
    {"TMPDIR", "where the private daemon of `check` keeps its state (default: /tmp)"},
};

#define N_ENVIRONMENT (sizeof environment / sizeof environment[0])

const char *ft_command_name(ft_command command)
{
    return commands[command].name;
}

const char *ft_command_arguments(ft_command command)
{
    return commands[command].arguments;
}

const char *ft_command_line(ft_command command)
{
    return commands[command].line;
}

const char *ft_command_details(ft_command command)
{
    return texts[command].details;
}

const char *ft_command_examples(ft_command command)
{
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

static ft_exit print_text(void (*write)(ft_strbuf *out))
{
    ft_strbuf text = {0};
    write(&text);
    fputs(ft_strbuf_text(&text), stdout);
    ft_strbuf_release(&text);
    return FT_EXIT_CLEAN;
}

ft_exit ft_run_manual(const ft_options *options)
{
    const char *page = options->arguments.len ? options->arguments.data[0] : "markdown";
    if (strcmp(page, "man") == 0) return print_text(ft_help_page);
    if (strcmp(page, "markdown") == 0) return print_text(ft_help_manual);
    fprintf(stderr, "foretell: there are the pages markdown and man, not '%s'\n", page);
    return FT_EXIT_INPUT;
}

ft_exit ft_run_version(const ft_options *options)
{
    (void)options;
    printf("foretell %s\n", FT_VERSION);
    return FT_EXIT_CLEAN;
}

ft_exit ft_exit_worse(ft_exit a, ft_exit b)
{
    static const int badness[] = {
        [FT_EXIT_CLEAN] = 0, [FT_EXIT_INCOMPLETE] = 1, [FT_EXIT_FINDINGS] = 2,
        [FT_EXIT_INPUT] = 3, [FT_EXIT_SERVER] = 4,
    };
    if (a > FT_EXIT_SERVER) return a; /* a recorded program's own */
    return badness[a] >= badness[b] ? a : b;
}

void ft_print_error(const char *file, const ft_error *err)
{
    if (ft_signals_caught()) return;
    if (!file) {
        fprintf(stderr, "foretell: %s\n", err->message);
    } else if (err->line) {
        fprintf(stderr, "%s:%llu:%llu: %s\n", file, (unsigned long long)err->line,
                (unsigned long long)(err->column ? err->column : 1), err->message);
    } else if (err->has_offset) {
        fprintf(stderr, "%s: byte %llu: %s\n", file, (unsigned long long)err->offset, err->message);
    } else {
        fprintf(stderr, "%s: %s\n", file, err->message);
    }
}

ft_exit ft_exit_of(const ft_error *err)
{
    return (ft_exit)ft_status_exit_code(err->code);
}

static bool is_word(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static ft_exit run(const ft_options *options)
{
    if (!options->help) return texts[options->command].run(options);
    ft_strbuf help = {0};
    ft_help_command(options->command, &help);
    fputs(ft_strbuf_text(&help), stdout);
    ft_strbuf_release(&help);
    return FT_EXIT_CLEAN;
}

/* What is opened must not become a standard stream that the caller closed; to use such a one goes
 * on being an error. */
static void hold_standard_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) < 0) return;
}

/* Whoever reads may stop reading (`| head`): that is no failure. */
static bool is_reader_gone(void)
{
    struct pollfd end = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&end, 1, 0) > 0 && (end.revents & POLLERR) != 0;
}

static ft_exit end_output(ft_exit code)
{
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (!lost || is_reader_gone() || ft_signals_caught()) return code;
    fprintf(stderr, "foretell: standard output cannot be written\n");
    return ft_exit_worse(code, FT_EXIT_INPUT);
}

int ft_cli_main(int argc, char **argv)
{
    char help[] = "--help", *of_command[] = {argv[0], argc == 3 ? argv[2] : NULL, help, NULL};
    hold_standard_streams();
    if (argc == 2 && (is_word(argv[1], "--help", "-h") || is_word(argv[1], "help", "help")))
        return (int)end_output(print_text(ft_help_overview));
    if (argc == 2 && is_word(argv[1], "--version", "-V"))
        return (int)end_output(ft_run_version(NULL));
    if (argc == 3 && is_word(argv[1], "help", "help")) argv = of_command;
    ft_options options;
    ft_error err = FT_ERROR_INIT;
    ft_exit code = FT_EXIT_INPUT;
    ft_status status = ft_options_parse(argc, argv, &options, &err);
    if (status)
        ft_print_error(NULL, &err);
    else
        code = run(&options);
    ft_options_release(&options);
    code = end_output(code);
    ft_signals_reraise();
    return (int)code;
}
