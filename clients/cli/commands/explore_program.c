/* Explores sources and programs as data: lowers, uploads, and prints the report of the job. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "findings/findings.h"
#include "programs/programs.h"
#include "recorded/recorded.h"
#include "remote/remote.h"
#include "terminal/terminal.h"

enum { DEFAULT_BUDGET = 60 };

typedef struct exploring {
    const ft_options *options;
    const char *shown; /* the first file */
    char *path;        /* of the program */
    FILE *lowered;     /* NULL: the argument is a program already */
    json_t *spec;
    ft_remote remote;
    ft_emit emit;
    ft_progress progress;
    char *job;
    bool ended;
} exploring;

/* ---- what the argument is ---- */

/* Behind "--" stands a program that runs natively. */
bool ft_explores_program(const ft_options *options)
{
    const char *first = options->arguments.data[0];
    return options->before > 0 && (ft_lowering_takes(first) || ft_lowering_made(first));
}

/* ---- the job ---- */

static ft_status set_input(const char *text, json_t *inputs, ft_error *err)
{
    char *name = NULL;
    long long value = 0;
    ft_status status = ft_input_setting(text, &name, &value, err);
    if (status == FT_OK) json_object_set_new(inputs, name, json_integer(value));
    free(name);
    return status;
}

static void set_count(json_t *to, const char *member, uint32_t number)
{
    if (number) json_object_set_new(to, member, json_integer(number));
}

static json_t *explore_of(const ft_options *o)
{
    json_t *explore = json_object();
    if (o->preemptions)
        json_object_set_new(explore, "preemptions", json_integer(o->preemptions - 1));
    set_count(explore, "runs", o->runs);
    set_count(explore, "steps", o->steps);
    set_count(explore, "iterations", o->iterations);
    set_count(explore, "polls", o->polls);
    if (o->cutoffs)
        json_object_set_new(explore, "cutoffs", json_boolean(strcmp(o->cutoffs, "yes") == 0));
    if (o->explain) json_object_set_new(explore, "explain", json_true());
    set_count(explore, "expect_exit", o->expect_exit);
    return explore;
}

static ft_status make_spec(exploring *x, ft_error *err)
{
    const ft_options *o = x->options;
    if (o->oracle || o->deterministic)
        return ft_error_set(err, FT_USAGE,
                            "--oracle and --deterministic are of native programs: sources and "
                            "programs as data have assertions and exit codes");
    json_t *inputs = json_object(), *checks = json_array();
    uint32_t seconds = o->explore_budget ? o->explore_budget : DEFAULT_BUDGET;
    ft_status status = FT_OK;
    for (size_t i = 0; i < o->inputs.len && status == FT_OK; i++)
        status = set_input(o->inputs.data[i], inputs, err);
    for (unsigned c = 0; c < FT_CHECKS; c++)
        if (o->checks[c]) json_array_append_new(checks, json_string(ft_check_name((ft_check)c)));
    x->spec = json_pack("{s:n, s:o, s:{s:I}}", "program", "explore", explore_of(o), "budget",
                        "job_ms", (json_int_t)seconds * 1000);
    if (json_object_size(inputs)) json_object_set(x->spec, "inputs", inputs);
    if (o->any_check) json_object_set(x->spec, "checks", checks);
    json_decref(inputs);
    json_decref(checks);
    return status;
}

/* ---- the program ---- */

/* Several arguments are sources of one program. */
static ft_status find_program(exploring *x, ft_error *err)
{
    const ft_texts *files = &x->options->arguments;
    x->shown = files->data[0];
    if (!ft_lowering_takes(x->shown)) {
        if (files->len > 1)
            return ft_error_set(err, FT_USAGE, "give one program, or sources of one");
        x->path = ft_strdup(x->shown);
        return FT_OK;
    }
    x->lowered = tmpfile();
    if (!x->lowered)
        return ft_error_set(err, FT_IO, "a temporary file cannot be made: %s", strerror(errno));
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "/proc/self/fd/%d", fileno(x->lowered));
    x->path = ft_strbuf_take(&path);
    return ft_lowering_run(x->options, NULL, x->lowered, err);
}

/* The program that findings' commands name: of sources it is kept beside the witnesses. */
static ft_status keep_program(exploring *x, ft_error *err)
{
    const char *folder = x->options->witness_dir;
    char part[65536];
    if (!x->lowered || !folder || access(folder, F_OK)) return FT_OK; /* no finding, no folder */
    ft_strbuf path = {0};
    const char *slash = strrchr(x->shown, '/');
    ft_strbuf_printf(&path, "%s/%s.program", folder, slash ? slash + 1 : x->shown);
    FILE *to = fopen(ft_strbuf_text(&path), "we");
    rewind(x->lowered);
    bool good = to != NULL;
    for (size_t n; good && (n = fread(part, 1, sizeof part, x->lowered)) > 0;)
        good = fwrite(part, 1, n, to) == n;
    if (to && fclose(to)) good = false;
    ft_status status = good ? FT_OK
                            : ft_error_set(err, FT_USAGE, "%s cannot be written: %s",
                                           ft_strbuf_text(&path), strerror(errno));
    ft_strbuf_release(&path);
    return status;
}

/* ---- the whole ---- */

/* Where the lines of sources are looked for: names in a program are those that the compiler got. */
static char *folder_of(const char *path)
{
    const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
    return slash ? ft_strndup(path, (size_t)(slash - path) + (slash == path)) : ft_strdup(".");
}

static ft_status run_job(exploring *x, ft_exit *code, ft_error *err)
{
    char *program = NULL;
    ft_status status =
        ft_job_upload(&x->remote, x->spec, x->path, x->shown, &x->progress, &program, err);
    if (!status) status = ft_job_start(&x->remote, x->spec, program, x->shown, &x->job, err);
    if (!status) status = ft_job_wait(&x->remote, x->job, x->shown, &x->progress, err);
    ft_progress_end(&x->progress);
    x->ended = status == FT_OK;
    if (!status) status = ft_emit_job(&x->emit, &x->remote, x->job, x->shown, 1, code, err);
    if (!status && !ft_signals_caught()) status = ft_emit_end(&x->emit, err);
    if (!status) status = keep_program(x, err);
    free(program);
    return status;
}

static ft_status explore(exploring *x, ft_exit *code, const char **file, ft_error *err)
{
    ft_status status = make_spec(x, err);
    if (!status) status = find_program(x, err);
    if (!status) status = ft_remote_open(x->options, true, &x->remote, err);
    if (!status) status = ft_emit_open(&x->emit, x->options, &x->remote, false, file, err);
    if (!status) {
        *file = x->shown;
        status = run_job(x, code, err);
    }
    if (ft_signals_caught() && x->job && !x->ended && !x->remote.daemon)
        ft_job_cancel(&x->remote, x->job);
    return status;
}

static void release(exploring *x)
{
    ft_emit_release(&x->emit);
    ft_remote_close(&x->remote);
    ft_progress_release(&x->progress);
    json_decref(x->spec);
    if (x->lowered) fclose(x->lowered);
    free(x->path);
    free(x->job);
}

ft_exit ft_run_explore_program(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_options with_root = *options;
    exploring x = {.options = &with_root};
    char *root = folder_of(options->arguments.data[0]);
    if (!with_root.source_root) with_root.source_root = root;
    const char *file = NULL;
    ft_exit code = FT_EXIT_CLEAN;
    ft_progress_init(&x.progress, options->quiet);
    ft_status status = explore(&x, &code, &file, &err);
    ft_progress_end(&x.progress);
    bool told = status == FT_INPUT && !err.message[0]; /* foretell-lower has said why */
    if (told)
        code = FT_EXIT_INPUT;
    else if (status)
        code = ft_fail(file, &err);
    release(&x);
    free(root);
    return code;
}
