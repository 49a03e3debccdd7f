/* Findings of a run, asked of all runs of the program as data. */
#include <errno.h>
#include <string.h>

#include "findings.h"
#include "programs/programs.h"
#include "terminal/terminal.h"
#include "verdict/names.h"

enum { MOST_ASKED = 50 }; /* of a report: each starts a worker */

/* Findings that are about threads at places at one moment. */
static bool is_about_places(const json_t *record)
{
    ft_check check;
    return ft_check_parse(ft_json_text(record, "check", ""), &check) &&
           (check == FT_CHECK_RACE || check == FT_CHECK_DEADLOCK);
}

/* NULL: the accesses are not those of several threads with a location each. */
static json_t *question_of(const json_t *record)
{
    size_t i;
    const json_t *access;
    bool whole = true;
    json_t *threads = json_array(), *names = json_object();
    json_array_foreach(json_object_get(record, "accesses"), i, access)
    {
        const char *location = ft_json_text(access, "location", NULL),
                   *thread = ft_json_text(access, "thread", "");
        whole = whole && location && !json_object_get(names, thread);
        json_object_set_new(names, thread, json_true());
        if (whole)
            json_array_append_new(threads, json_pack("{s:s, s:s}", "name", thread, "at", location));
    }
    json_decref(names);
    if (whole && json_array_size(threads) > 1)
        return json_pack("{s:o, s:b, s:i}", "threads", threads, "others", true, "replay_runs", 0);
    json_decref(threads);
    return NULL;
}

/* The message is what every format has. */
static void add_words(json_t *record, const json_t *context)
{
    const char *message = ft_json_text(record, "message", NULL);
    if (!message || strcmp(ft_json_text(context, "together", ""), "never") != 0) return;
    json_object_set_new(
        record, "message",
        json_sprintf("%s; but no run of the program as data has these places together: %s, "
                     "assuming that %s: look at whether that holds in the recorded program",
                     message, ft_json_text(context, "reason", "?"),
                     ft_json_text(context, "assuming", "?")));
}

static void copy_member(const json_t *from, const char *name, json_t *to)
{
    json_t *value = json_object_get(from, name);
    if (value) json_object_set(to, name, value);
}

static ft_status ask(const ft_options *program, json_t *record, ft_error *err)
{
    json_t *question = question_of(record), *answer = NULL;
    if (!question) return FT_OK;
    ft_status status = ft_worker_ask(program, "--context", question, &answer, err);
    json_decref(question);
    if (status == FT_OK) {
        static const char *const MEMBERS[] = {"together", "reason", "passes", "assuming"};
        const char *wrong = ft_json_text(answer, "error", NULL);
        json_t *context = json_object();
        for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++)
            copy_member(answer, MEMBERS[i], context);
        if (wrong) {
            json_object_set_new(context, "together", json_string("unknown"));
            json_object_set_new(context, "reason", json_string(wrong));
        }
        json_object_set_new(record, "context", context);
        add_words(record, context);
    }
    json_decref(answer);
    return status;
}

static bool is_asked(const json_t *findings)
{
    size_t i;
    const json_t *record;
    json_array_foreach((json_t *)(uintptr_t)findings, i, record)
    {
        if (is_about_places(record)) return true;
    }
    return false;
}

/* Sources are lowered once. foretell-lower has said why it cannot. */
static ft_status lower(ft_options *program, FILE **file, ft_strbuf *path, ft_error *err)
{
    const char *source = program->arguments.data[0];
    if (!ft_lowering_takes(source)) return FT_OK;
    *file = tmpfile();
    if (!*file)
        return ft_error_set(err, FT_IO, "a temporary file cannot be made: %s", strerror(errno));
    ft_status status = ft_lowering_run(program, NULL, *file, err);
    if (status == FT_INPUT && !err->message[0]) {
        *err = (ft_error)FT_ERROR_INIT;
        return ft_error_set(err, FT_INPUT, "--program %.300s cannot be lowered", source);
    }
    ft_strbuf_printf(path, "/proc/self/fd/%d", fileno(*file));
    program->arguments.data[0] = path->text;
    return status;
}

ft_status ft_findings_ask(const ft_options *options, const json_t *findings, size_t *asked,
                          ft_error *err)
{
    size_t i;
    json_t *record;
    FILE *file = NULL;
    ft_strbuf path = {0};
    ft_options program = *options;
    if (!options->program || !is_asked(findings)) return FT_OK;
    program.arguments = (ft_texts){0};
    ft_vec_push(&program.arguments, (char *)(uintptr_t)options->program);
    ft_status status = lower(&program, &file, &path, err);
    json_array_foreach(findings, i, record)
    {
        if (status != FT_OK || *asked == MOST_ASKED || !is_about_places(record)) continue;
        ++*asked;
        status = ask(&program, record, err);
    }
    ft_vec_release(&program.arguments);
    ft_strbuf_release(&path);
    if (file) fclose(file);
    return status;
}
