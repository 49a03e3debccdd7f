#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "commands.h"
#include "files/files.h"
#include "maker/maker.h"
#include "maker/replay/plan.h"
#include "programs/programs.h"
#include "raw/raw.h"
#include "recorded/recorded.h"
#include "remote/remote.h"
#include "replay.h"
#include "terminal/terminal.h"
#include "verdict/checker.h"

enum { DEFAULT_SECONDS = 20 };

/* Everything about one replay. */
typedef struct replay {
    const ft_options *options;
    char *const *argv; /* the program and its arguments */
    char *program;     /* its file */
    ft_trace *trace;
    ft_witness witness;
    ft_plan plan;
    int status; /* the program's wait status */
    ft_schedule run;
    bool silent;
    ft_strbuf *said;
    bool open_line; /* the last that the program printed */
    bool within; /* the recorded inputs may be other ones in this schedule: the program reads itself
                  */
} replay;

/* ---- running it */

static ft_status make_file(replay *r, ft_program_file *file, ft_error *err)
{
    const char *folder = getenv("TMPDIR");
    ft_strbuf name = {0}, content = {0};
    r->plan.head.seconds = r->options->deadline ? r->options->deadline : DEFAULT_SECONDS;
    r->plan.head.stop = r->options->stop;
    if (r->options->live_inputs || r->within) r->plan.head.feed = 0;
    unsigned char page[FT_RAW_PAGE] = {0};
    ft_raw_header header = {.turn = 1, .replay = 1};
    memcpy(header.magic, FT_RAW_MAGIC, sizeof header.magic);
    ft_plan_print(&r->plan, &content);
    header.limit = FT_RAW_PAGE + content.len;
    assert(sizeof header <= sizeof page); /* the schedule stands behind one page */
    memcpy(page, &header, sizeof header);
    ft_strbuf_printf(&name, "%s/foretell-replay-XXXXXX", folder && *folder ? folder : "/tmp");
    errno = 0;
    bool made = ft_program_file_make(ft_strbuf_text(&name), file);
    bool ok = made && write(file->fd, page, sizeof page) == (ssize_t)sizeof page &&
              write(file->fd, content.text, content.len) == (ssize_t)content.len;
    if (!ok)
        ft_error_set(err, FT_USAGE, "%s: cannot write the schedule: %s", ft_strbuf_text(&name),
                     strerror(errno ? errno : ENOSPC));
    if (!ok && made) ft_program_file_release(file);
    ft_strbuf_release(&name);
    ft_strbuf_release(&content);
    return ok ? FT_OK : FT_USAGE;
}

static ft_status read_back(replay *r, const ft_program_file *file, ft_error *err)
{
    ft_raw_header header;
    if (pread(file->fd, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        pread(file->fd, &r->run, sizeof r->run, FT_RAW_PAGE) != (ssize_t)sizeof r->run)
        return ft_error_set(err, FT_IO, "the schedule cannot be read back");
    r->open_line = header.open_line;
    if (!header.started) return ft_program_absent(r->argv[0], r->status, &header, err);
    return ft_libraries_check_loaded(r->trace, file->fd, FT_RAW_PAGE, err);
}

static ft_status run(replay *r, ft_error *err)
{
    ft_program_file file;
    ft_status status = make_file(r, &file, err);
    if (status) return status;
    int out = r->options->json ? STDERR_FILENO : STDOUT_FILENO; /* the document stands alone */
    bool late = false;
    ft_program_way way = {.out = out,
                          .silent = r->silent,
                          .patience = r->plan.head.seconds,
                          .seconds = r->options->timeout,
                          .late = &late};
    status = ft_program_execute(r->argv, &file, way, &r->status, err);
    if (!status) status = read_back(r, &file, err);
    ft_program_file_release(&file);
    return status;
}

/* ---- what came of it */

static void say_reached(const replay *r, ft_strbuf *out)
{
    static const char *const texts[FT_CLAIM_KINDS] = {
        [FT_CLAIM_RACE] = "both threads are at the accesses of the race",
        [FT_CLAIM_ASSERTION] = "the assertion failed",
        [FT_CLAIM_CONDITION] = "the thread is where the condition is false",
        [FT_CLAIM_ATOMICITY] =
            "the first two accesses ran in the order of the violation, and the third is next",
        [FT_CLAIM_CO_ENABLED] = "both threads are there at once",
        [FT_CLAIM_BEFORE] = "the thread came there first",
        [FT_CLAIM_LOCK_ERROR] = "the thread is at the lock error",
        [FT_CLAIM_DEADLOCK] = "the threads of the cycle are blocked",
        [FT_CLAIM_STUCK] = "every thread is stuck",
        [FT_CLAIM_AFTER_FREE] = "the thread is at the use of freed memory",
        [FT_CLAIM_UNINITIALISED] = "the thread is at the read of memory that was never written",
        [FT_CLAIM_FAILURE] = "the thread is where it was last seen before the run failed",
    };
    assert(r->witness.claim.kind < FT_CLAIM_KINDS && texts[r->witness.claim.kind]);
    ft_strbuf_puts(out, texts[r->witness.claim.kind]);
}

static void say_end(const replay *r, ft_strbuf *out)
{
    bool reached = r->run.outcome == FT_SCHEDULE_REACHED_OUTCOME;
    if (reached && r->options->stop)
        ft_strbuf_puts(out, "stopped there");
    else if (r->run.ended == FT_SCHEDULE_LATE)
        ft_strbuf_printf(out, "still ran after %u seconds and was stopped", r->run.seconds);
    else if (r->run.ended == FT_SCHEDULE_STARVED)
        ft_strbuf_puts(out, "was stopped after the schedule, where each thread waited for another "
                            "one or for input that the recording does not have");
    else
        ft_program_end(r->status, out);
    bool well = !r->run.ended && WIFEXITED(r->status) && !WEXITSTATUS(r->status);
    if (reached && r->run.outside && !r->options->stop && !well)
        ft_strbuf_puts(out, " (after the schedule the replayed program has no input from outside: "
                            "its end neither confirms nor refutes the bug)");
}

/* NAME=VALUE, as before the command of a shell. */
static bool is_setting(const char *word)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char more[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return strspn(word, letters) && word[strspn(word, more)] == '=';
}

/* The usual reason why a run goes another way. The program itself may be named otherwise. */
static void say_arguments(const replay *r)
{
    const char **then = r->trace->command;
    uint32_t n = 0, m = r->trace->n_command;
    while (m && is_setting(*then)) then++, m--;
    while (r->argv[n]) n++;
    bool same = n == m;
    for (uint32_t i = 1; same && i < n; i++) same = !strcmp(r->argv[i], then[i]);
    if (same || !m) return;
    fputs("foretell: the program was recorded with other arguments:", stderr);
    for (uint32_t i = 0; i < r->trace->n_command; i++) fprintf(stderr, " %s", r->trace->command[i]);
    fputs("\n", stderr);
}

static void print_json(const replay *r, bool reached, const ft_strbuf *text, const ft_strbuf *end)
{
    json_t *out = json_pack("{s:b, s:s, s:s, s:s, s:I}", "replayed", reached, "claim",
                            ft_claim_kind_name(r->witness.claim.kind), "text", ft_strbuf_text(text),
                            "end", ft_strbuf_text(end), "steps", (json_int_t)r->run.at);
    json_dumpf(out, stdout, JSON_INDENT(1));
    fputs("\n", stdout);
    json_decref(out);
}

static ft_exit report(const replay *r)
{
    bool reached = r->run.outcome == FT_SCHEDULE_REACHED_OUTCOME;
    bool late = r->run.outcome == FT_SCHEDULE_TIME_OUTCOME;
    bool over = r->run.outcome == FT_SCHEDULE_RUNNING_OUTCOME; /* often this is the bug */
    ft_strbuf text = {0}, end = {0};
    if (reached)
        say_reached(r, &text);
    else
        ft_plan_explain(&r->plan, r->trace, r->program, &r->run, &text);
    say_end(r, &end);
    if (r->options->json) print_json(r, reached, &text, &end);
    if (reached)
        ft_strbuf_printf(r->said, "replayed: %s: ", ft_claim_kind_name(r->witness.claim.kind));
    else
        ft_strbuf_puts(r->said, late ? "no progress: " : "diverged: ");
    ft_strbuf_puts(r->said, ft_strbuf_text(&text));
    if (r->within) ft_strbuf_puts(r->said, " (with live inputs: threads pass each other content)");
    if (reached || over) ft_strbuf_printf(r->said, "; the program: %s", ft_strbuf_text(&end));
    if (!reached && !r->silent) say_arguments(r);
    ft_strbuf_release(&text);
    ft_strbuf_release(&end);
    return reached ? FT_EXIT_CLEAN : late ? FT_EXIT_INCOMPLETE : FT_EXIT_FINDINGS;
}

static ft_exit follow(replay *r)
{
    ft_error err = FT_ERROR_INIT;
    const char *witness = r->options->arguments.data[0];
    if (ft_plan_make(r->trace, &r->witness, &r->plan, &err)) return ft_fail(witness, &err);
    r->within =
        r->witness.model == FT_MODEL_CONTROL && ft_plan_takes_from_within(r->trace, &r->witness);
    if (ft_build_check(r->trace, r->argv[0], &r->program, &err) || run(r, &err))
        return ft_fail(NULL, &err);
    return report(r);
}

static ft_exit prepare(replay *r, const json_t *json)
{
    ft_error err = FT_ERROR_INIT;
    const ft_options *options = r->options;
    const char *path = options->arguments.data[0];
    const char *trace_path = options->before == 2 ? options->arguments.data[1] : NULL;
    if (ft_job_trace(options, json, trace_path, &r->trace, &err)) return ft_fail(trace_path, &err);
    ft_observe_run(r->trace);
    if (ft_witness_from_json(json, r->trace, &r->witness, &err)) return ft_fail(path, &err);
    return follow(r);
}

/* For the program. */
static void set(const char *word)
{
    FT_REQUIRE(is_setting(word));
    char *name = ft_strndup(word, strcspn(word, "="));
    setenv(name, strchr(word, '=') + 1, 1);
    free(name);
}

ft_exit ft_run_replay(const ft_options *options)
{
    ft_strbuf said = {0};
    ft_exit code = ft_replay(options, false, &said, NULL);
    if (said.len && !options->json) printf("%s\n", ft_strbuf_text(&said));
    ft_strbuf_release(&said);
    return code;
}

ft_exit ft_replay(const ft_options *options, bool silent, ft_strbuf *said, bool *outside)
{
    ft_error err = FT_ERROR_INIT;
    json_t *json = NULL;
    size_t n = options->arguments.len, before = options->before, first = before;
    ft_signals_relay();
    while (first < n && is_setting(options->arguments.data[first])) first++;
    if (before < 1 || before > 2 || first >= n) {
        ft_error_set(&err, FT_USAGE, "usage: foretell replay WITNESS [TRACE] -- PROGRAM ARGS");
        return ft_fail(NULL, &err);
    }
    if (ft_inputs_give(&options->inputs, &err)) return ft_fail(NULL, &err);
    if (ft_input_json(options->arguments.data[0], &json, &err))
        return ft_fail(options->arguments.data[0], &err);
    for (size_t i = before; i < first; i++) set(options->arguments.data[i]);
    char **argv = ft_calloc(n - first + 1, sizeof *argv);
    for (size_t i = first; i < n; i++) argv[i - first] = ft_strdup(options->arguments.data[i]);
    assert(argv[0] && !argv[n - first]);
    if (ft_witness_is_of_program(json)) {
        ft_exit program = ft_replay_program(options, json, argv, silent, said);
        for (size_t i = 0; argv[i]; i++) free(argv[i]);
        free(argv);
        json_decref(json);
        return program;
    }
    replay r = {.options = options, .argv = argv, .silent = silent, .said = said};
    ft_exit code = prepare(&r, json);
    if (outside) *outside = r.run.outside;
    if (r.open_line && !silent && !options->json) fputs("\n", stdout);
    for (size_t i = 0; argv[i]; i++) free(argv[i]);
    free(argv);
    free(r.program);
    ft_plan_release(&r.plan);
    ft_witness_release(&r.witness);
    ft_trace_free(r.trace);
    json_decref(json);
    return code;
}
