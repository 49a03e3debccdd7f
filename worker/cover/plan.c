#include "cover/plan.h"

#include <stdlib.h>

#include "base/contract.h"
#include "cover/request.h"

static const char *member(const json_t *of, const char *name)
{
    const char *text = json_string_value(json_object_get(of, name));
    return text ? text : "";
}

static void add_note(json_t *notes, const char *code, json_t *text)
{
    json_array_append_new(notes, json_pack("{s:s, s:o}", "code", code, "text", text));
}

/* In the words of `foretell cover`: one note a certificate, then what is concluded. */
static json_t *notes_of(const json_t *answer)
{
    size_t i;
    const json_t *row;
    json_t *notes = json_array();
    char *whole = json_dumps(answer, JSON_COMPACT);
    add_note(notes, "cover",
             json_string(json_is_true(json_object_get(answer, "proved"))
                             ? "all six certificates hold: every input is covered"
                             : "not all six certificates hold: nothing is concluded from the set"));
    json_array_foreach(json_object_get(answer, "checks"), i, row)
    {
        add_note(notes, "cover",
                 json_sprintf("%s: %s", member(row, "check"), member(row, "answer")));
    }
    add_note(notes, "cover-answer", json_string(whole));
    free(whole);
    return notes;
}

/* The question with the time that the job has, less a tenth to end in: of a job that is late there
 * is no answer at all. */
static json_t *question_of(const json_t *spec)
{
    json_t *question = json_copy(json_object_get(spec, "cover"));
    json_int_t ms = json_integer_value(json_object_get(json_object_get(spec, "budget"), "job_ms"));
    if (ms > 0) json_object_set_new(question, "seconds", json_real((double)ms * 0.0009));
    return question;
}

ft_status ft_cover_plan(const struct ft_program *program, const json_t *spec, json_t **plan,
                        ft_error *err)
{
    FT_REQUIRE(program && plan);
    json_t *answer = NULL, *question = question_of(spec);
    ft_status status = ft_cover_request(program, question, &answer, err);
    json_decref(question);
    if (status != FT_OK) return status;
    *plan = json_pack("{s:s, s:o, s:{}, s:[], s:[]}", "model", "ctp", "notes", notes_of(answer),
                      "candidates", "records", "subproblems");
    json_decref(answer);
    return FT_OK;
}
