/* Replays a witness of a program in the native build of its source. The run is a recording that
 * follows the witness's schedule and has its inputs. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "programs/programs.h"
#include "raw/follow.h"
#include "recorded/recorded.h"
#include "replay.h"
#include "terminal/terminal.h"

enum { SECONDS = 20, LONG_TURN = 1 << 30 };

typedef struct replay {
    const ft_options *options;
    const json_t *witness;
    char *const *argv;
    const char *claim;
    ft_strbuf order;
    ft_entry_steps steps;
    ft_follow followed;
    ft_run_end end;
} replay;

/* ---- the run */

/* Beside the temporary files, or where -o wants it. */
static char *trace_path(const ft_options *options, bool *made)
{
    const char *folder = getenv("TMPDIR");
    *made = !options->output;
    if (options->output) return ft_strdup(options->output);
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/foretell-replay-XXXXXX", folder && *folder ? folder : "/tmp");
    char *text = ft_strbuf_take(&path);
    int fd = mkstemp(text);
    if (fd >= 0) close(fd);
    return text;
}

static ft_exit run(replay *r)
{
    bool made;
    char *path = trace_path(r->options, &made);
    uint32_t seconds = r->options->deadline ? r->options->deadline : SECONDS;
    ft_options one = {.command = FT_COMMAND_RECORD,
                      .output = path,
                      .name = "the run followed the schedule of a witness of the program's source",
                      .turn = LONG_TURN,
                      .timeout = r->options->timeout ? r->options->timeout : seconds,
                      .quiet = true,
                      .to = "binary",
                      .inputs = r->options->inputs,
                      .follow = &r->order,
                      .followed = &r->followed,
                      .run_end = &r->end};
    for (size_t i = 0; r->argv[i]; i++) ft_vec_push(&one.arguments, r->argv[i]);
    ft_exit code = ft_run_record(&one);
    ft_vec_release(&one.arguments);
    if (made) unlink(path);
    free(path);
    return code;
}

/* ---- what came of it */

static bool is_claim(const replay *r, const char *kind)
{
    return strcmp(r->claim, kind) == 0;
}

static bool is_done(const replay *r)
{
    return !r->followed.diverged && r->followed.at == r->steps.len;
}

/* The failure itself, where the native program has one; else its thread is where the error is. */
static bool is_reached(const replay *r)
{
    int status = r->end.status;
    const json_t *code = json_object_get(json_object_get(r->witness, "claim"), "code");
    if (is_claim(r, "assertion"))
        return r->end.end == FT_RAW_END_ASSERT ||
               (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    if (is_claim(r, "deadlock")) return r->end.end == FT_RAW_END_DEADLOCK;
    if (is_claim(r, "exit-code"))
        return is_done(r) && WIFEXITED(status) &&
               WEXITSTATUS(status) == (json_integer_value(code) & 0xFF);
    return is_done(r) || (WIFSIGNALED(status) && !is_claim(r, "race"));
}

static void print_reached(const replay *r, ft_strbuf *out)
{
    if (is_claim(r, "assertion"))
        ft_strbuf_puts(out, "the assertion failed");
    else if (is_claim(r, "deadlock"))
        ft_strbuf_puts(out, "every thread waits");
    else if (is_claim(r, "race"))
        ft_strbuf_puts(out, "the thread is at its access, after the other one without an order");
    else if (is_claim(r, "exit-code"))
        ft_strbuf_puts(out, "the program ended with that code");
    else
        ft_strbuf_puts(out, "the thread is where the error is");
}

static void print_divergence(const replay *r, ft_strbuf *out)
{
    char place[300] = "?";
    uint32_t at = r->followed.at;
    if (at >= r->steps.len) {
        ft_strbuf_puts(out, "the program followed the schedule, and did not fail");
        return;
    }
    uint32_t step = r->steps.data[at];
    const json_t *thread =
        json_array_get(json_array_get(json_object_get(r->witness, "schedule"), step), 0);
    (void)ft_witness_place(r->witness, step, place, sizeof place);
    ft_strbuf_printf(out,
                     "thread %" JSON_INTEGER_FORMAT " did not come to step %u of the schedule "
                     "(%s)",
                     json_integer_value(thread), step + 1, place);
}

static void print_json(const replay *r, bool reached, const ft_strbuf *text, const ft_strbuf *end)
{
    json_t *out = json_pack("{s:b, s:s, s:s, s:s, s:I}", "replayed", reached, "claim", r->claim,
                            "text", ft_strbuf_text(text), "end", ft_strbuf_text(end), "steps",
                            (json_int_t)r->followed.at);
    json_dumpf(out, stdout, JSON_INDENT(1));
    fputs("\n", stdout);
    json_decref(out);
}

static ft_exit report(const replay *r, ft_strbuf *said)
{
    bool reached = is_reached(r), late = !reached && r->end.late;
    ft_strbuf text = {0}, end = {0};
    if (reached)
        print_reached(r, &text);
    else
        print_divergence(r, &text);
    ft_failure_tell(&r->end, &end);
    if (r->options->json) print_json(r, reached, &text, &end);
    if (reached)
        ft_strbuf_printf(said, "replayed: %s: ", r->claim);
    else
        ft_strbuf_puts(said, late ? "no progress: " : "diverged: ");
    ft_strbuf_printf(said, "%s; the program: %s", ft_strbuf_text(&text), ft_strbuf_text(&end));
    ft_strbuf_release(&text);
    ft_strbuf_release(&end);
    return reached ? FT_EXIT_CLEAN : late ? FT_EXIT_INCOMPLETE : FT_EXIT_FINDINGS;
}

ft_exit ft_replay_program(const ft_options *options, const json_t *witness, char *const *argv,
                          bool silent, ft_strbuf *said)
{
    ft_error err = FT_ERROR_INIT;
    replay r = {.options = options, .witness = witness, .argv = argv};
    r.claim = json_string_value(json_object_get(json_object_get(witness, "claim"), "kind"));
    char *program = ft_program_find(argv[0]);
    ft_status status = FT_OK;
    (void)silent;
    if (!r.claim) status = ft_error_set(&err, FT_INPUT, "the witness has no claim");
    if (!status && !program) status = ft_error_set(&err, FT_USAGE, "%s cannot be found", argv[0]);
    if (!status && options->stop)
        status = ft_error_set(&err, FT_USAGE, "--stop is for witnesses of traces: leave it out");
    if (!status) status = ft_witness_order(witness, program, &r.order, &r.steps, &err);
    ft_exit code = status ? ft_fail(options->arguments.data[0], &err) : run(&r);
    if (!status && code == FT_EXIT_CLEAN) code = report(&r, said);
    ft_strbuf_release(&r.order);
    ft_vec_release(&r.steps);
    free(program);
    return code;
}
