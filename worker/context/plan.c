#include "context/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "context/request.h"
#include "report/contexts.h"
#include "verdict/names.h"

enum { DEFAULT_MS = 60000 };
/* Of a job's time: the rest is there to end in, since of a job that is late there is no answer. */
static const double usable = 0.9;

static bool is_late(void *context)
{
    return ft_now_ms() > *(const double *)context;
}

static void add_note(json_t *notes, json_t *text)
{
    json_array_append_new(notes, json_pack("{s:s, s:o}", "code", "context", "text", text));
}

static const char *member(const json_t *of, const char *name)
{
    const char *text = json_string_value(json_object_get(of, name));
    return text ? text : "";
}

static void note_paths(json_t *notes, const json_t *answer, const char *which, const char *words)
{
    const json_t *paths = json_object_get(answer, which), *failure;
    if (!paths) return;
    add_note(notes,
             json_sprintf("paths, threads in %s: %lld%s, %lld of them stuck, %lld failing", words,
                          (long long)json_integer_value(json_object_get(paths, "paths")),
                          json_is_true(json_object_get(paths, "complete")) ? "" : " or more",
                          (long long)json_integer_value(json_object_get(paths, "stuck")),
                          (long long)json_integer_value(json_object_get(paths, "failing"))));
    failure = json_object_get(paths, "failure");
    if (failure) add_note(notes, json_sprintf("not refuted: %s", member(failure, "message")));
}

static json_t *notes_of(const json_t *answer)
{
    json_t *notes = json_array();
    const char *together = member(answer, "together");
    bool never = strcmp(together, "never") == 0;
    char *whole = json_dumps(answer, JSON_COMPACT);
    if (never)
        add_note(notes, json_sprintf("together: never: %s; assuming that %s",
                                     member(answer, "reason"), member(answer, "assuming")));
    else
        add_note(notes, json_sprintf("together: %s", together));
    note_paths(notes, answer, "fixed_order", "a fixed order");
    note_paths(notes, answer, "every_order", "every order");
    json_array_append_new(notes, json_pack("{s:s, s:s}", "code", "context-answer", "text", whole));
    free(whole);
    return notes;
}

ft_status ft_context_plan(const struct ft_program *program, const json_t *spec, json_t **plan,
                          ft_error *err)
{
    json_t *answer = NULL;
    json_int_t ms = json_integer_value(json_object_get(json_object_get(spec, "budget"), "job_ms"));
    double end = ft_now_ms() + usable * (double)(ms > 0 ? ms : DEFAULT_MS);
    ft_status status =
        ft_context_request(program, json_object_get(spec, "context"), is_late, &end, &answer, err);
    if (status != FT_OK) return status;
    *plan = json_pack("{s:s, s:o, s:{s:i}, s:[o], s:[]}", "model", "ctp", "notes", notes_of(answer),
                      "candidates", ft_check_name(FT_CHECK_CONTEXT), 1, "records",
                      ft_context_record(answer), "subproblems");
    json_decref(answer);
    return FT_OK;
}
