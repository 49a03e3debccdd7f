/* Contexts: lowers sources, asks a worker of this process about the context, and prints its answer
 * (docs/contexts.md). */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "findings/findings.h"
#include "programs/programs.h"
#include "report/contexts.h"
#include "terminal/terminal.h"

/* ---- the question ---- */

/* NAME=PLACE[,READING] */
static ft_status add_thread(const char *text, json_t *threads, ft_error *err)
{
    const char *equals = strchr(text, '='), *comma = strrchr(text, ',');
    if (!equals || equals == text || !equals[1] || (comma && comma < equals))
        return ft_error_set(err, FT_USAGE,
                            "--at takes THREAD=FILE:LINE, such as T1=queue.c:40, not '%s'", text);
    size_t n = comma ? (size_t)(comma - equals - 1) : strlen(equals + 1);
    json_t *thread = json_object();
    json_object_set_new(thread, "name", json_stringn(text, (size_t)(equals - text)));
    json_object_set_new(thread, "at", json_stringn(equals + 1, n));
    if (comma) json_object_set_new(thread, "reading", json_string(comma + 1));
    json_array_append_new(threads, thread);
    return FT_OK;
}

static ft_status make_question(const ft_options *o, json_t **question, ft_error *err)
{
    json_t *threads = json_array(), *without = json_array();
    ft_status status = FT_OK;
    if (!o->places.len)
        status = ft_error_set(err, FT_USAGE, "a context needs places; give --at T1=FILE:LINE");
    for (size_t i = 0; i < o->places.len && status == FT_OK; i++)
        status = add_thread(o->places.data[i], threads, err);
    for (size_t i = 0; i < o->without.len; i++)
        json_array_append_new(without, json_string(o->without.data[i]));
    *question = json_pack("{s:o, s:o, s:b}", "threads", threads, "without", without, "others",
                          !o->other_threads || strcmp(o->other_threads, "named") != 0);
    if (o->steps) json_object_set_new(*question, "steps", json_integer(o->steps));
    if (o->wake) json_object_set_new(*question, "wake", json_string(o->wake));
    if (o->orders) json_object_set_new(*question, "orders", json_string(o->orders));
    if (o->tries)
        json_object_set_new(*question, "replay_runs", json_integer((json_int_t)o->tries - 1));
    return status;
}

/* ---- the text ---- */

static const char *member(const json_t *of, const char *name)
{
    const char *text = json_string_value(json_object_get(of, name));
    return text ? text : "";
}

static json_int_t number(const json_t *of, const char *name)
{
    return json_integer_value(json_object_get(of, name));
}

static void print_place(const json_t *place)
{
    if (json_object_get(place, "file"))
        printf("%s:%lld (%s)", member(place, "file"), (long long)number(place, "line"),
               member(place, "function"));
    else
        printf("@%s:%lld", member(place, "function"), (long long)number(place, "instruction"));
}

static void print_threads(const json_t *answer)
{
    size_t i;
    json_t *thread, *threads = json_object_get(answer, "threads");
    json_array_foreach(threads, i, thread)
    {
        printf("%s %s ", member(thread, "name"), member(thread, "reading"));
        print_place(json_array_get(json_object_get(thread, "places"), 0));
        putchar('\n');
    }
    puts(json_is_true(json_object_get(answer, "others"))
             ? "other threads may exist; assuming that the program has no data race"
             : "no other threads exist; assuming that the program has no data race");
}

static void print_list(const char *before, const json_t *names, const char *behind)
{
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        printf("%s%s", i ? ", " : before, json_string_value(name));
    }
    if (json_array_size(names)) fputs(behind, stdout);
}

static void print_paths(const json_t *answer, const char *which, const char *words)
{
    const json_t *paths = json_object_get(answer, which);
    const json_t *failure = json_object_get(paths, "failure");
    if (!paths) return;
    printf("%s: %lld%s, %lld of them stuck, %lld failing", words, (long long)number(paths, "paths"),
           json_is_true(json_object_get(paths, "complete")) ? "" : " or more",
           (long long)number(paths, "stuck"), (long long)number(paths, "failing"));
    print_list("; steps of ", json_object_get(paths, "moving"), "");
    putchar('\n');
    if (!failure) return;
    fputs("  not refuted: ", stdout);
    print_place(failure);
    printf(": %s\n", member(failure, "message"));
}

static void print_replay(const json_t *answer)
{
    size_t i;
    json_t *input, *step, *replay = json_object_get(answer, "replay");
    json_array_foreach(json_object_get(replay, "inputs"), i, input)
    {
        printf("  input %s = %lld\n", member(input, "name"), (long long)number(input, "value"));
    }
    fputs("  threads in turn:", stdout);
    json_array_foreach(json_object_get(replay, "steps"), i, step)
    {
        printf(" %lld", (long long)json_integer_value(json_array_get(step, 0)));
    }
    putchar('\n');
}

static void print_answer(const json_t *answer)
{
    const char *together = member(answer, "together");
    print_threads(answer);
    printf("together: %s\n", together);
    if (strcmp(together, "never") == 0) {
        printf("  %s", member(answer, "reason"));
        print_list(" (", json_object_get(answer, "passes"), ")");
        putchar('\n');
    }
    if (json_object_get(answer, "note")) printf("  %s\n", member(answer, "note"));
    if (strcmp(together, "not refuted") == 0)
        printf("  %lld of %lld ways to get there are refuted; %lld runs from the entry did not get "
               "there\n",
               (long long)number(answer, "refuted"), (long long)number(answer, "ways"),
               (long long)number(answer, "replay_runs"));
    if (json_object_get(answer, "replay")) print_replay(answer);
    print_paths(answer, "fixed_order", "paths, threads in a fixed order");
    print_paths(answer, "every_order", "paths, threads in every order");
}

static ft_exit code_of(const json_t *answer)
{
    const char *together = member(answer, "together");
    if (strcmp(together, "never") == 0) return FT_EXIT_CLEAN;
    return strcmp(together, "reached") == 0 ? FT_EXIT_FINDINGS : FT_EXIT_INCOMPLETE;
}

/* ---- the whole ---- */

static ft_status ask(const ft_options *o, json_t **answer, const char **file, ft_error *err)
{
    json_t *question = NULL;
    ft_status status = make_question(o, &question, err);
    *file = status ? NULL : o->arguments.data[0];
    if (status == FT_OK) status = ft_worker_ask(o, "--context", question, answer, err);
    json_decref(question);
    const char *wrong = json_string_value(json_object_get(*answer, "error"));
    if (status == FT_OK && wrong) status = ft_error_set(err, FT_INPUT, "%s", wrong);
    return status;
}

static void print(const ft_options *o, const json_t *answer)
{
    if (o->json) {
        json_dumpf(answer, stdout, JSON_INDENT(2));
        putchar('\n');
    } else if (ft_emit_is_text(o)) {
        print_answer(answer);
    }
}

/* The formats that other commands have; *code is theirs then: known findings do not count. */
static ft_status report(const ft_options *o, const json_t *answer, ft_exit *code, const char **file,
                        ft_error *err)
{
    if (!ft_emit_is_wanted(o)) return FT_OK;
    json_t *records = json_pack("[o]", ft_context_record(answer)), *notes = json_array();
    json_t *made = ft_report_of_records(answer, ft_check_name(FT_CHECK_CONTEXT), 1, records, notes);
    ft_status status = ft_emit_answer(o, made, o->arguments.data[0], code, file, err);
    json_decref(made);
    json_decref(records);
    json_decref(notes);
    return status;
}

ft_exit ft_run_context(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    json_t *answer = NULL;
    const char *file = NULL;
    ft_status status = ask(options, &answer, &file, &err);
    ft_exit code = status ? FT_EXIT_INPUT : code_of(answer);
    if (status == FT_OK) print(options, answer);
    if (status == FT_OK) status = report(options, answer, &code, &file, &err);
    if (status && (status != FT_INPUT || err.message[0]))
        code = ft_fail(file, &err); /* else foretell-lower has said why */
    json_decref(answer);
    return code;
}
