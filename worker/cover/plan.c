#include "cover/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "cover/request.h"
#include "report/certificates.h"
#include "verdict/names.h"

/* Of a subproblem's time, that its certificates may take. */
static const double SUBJECT_SHARE = 0.8;
enum { DEFAULT_SUBPROBLEM_MS = 20000 };

static json_int_t budget_of(const json_t *spec, const char *member)
{
    return json_integer_value(json_object_get(json_object_get(spec, "budget"), member));
}

/* ---- the plan ---- */

static json_t *question_of(const json_t *spec)
{
    json_t *question = json_copy(json_object_get(spec, "cover"));
    json_int_t ms = budget_of(spec, "job_ms");
    if (!question) question = json_object();
    if (ms > 0) json_object_set_new(question, "seconds", json_real((double)ms / 1000));
    return question;
}

static void add_subject(const ft_schedule_set *set, cover_subject subject, json_t *subproblems)
{
    cover_certificate_kind kinds[COVER_CERTIFICATES];
    uint32_t n = cover_subject_kinds(subject, kinds);
    const ft_epoch *epoch = &set->epochs.data[subject.epoch];
    const char *schedule = NULL;
    if (subject.schedule != FT_NO_SCHEDULE)
        schedule = ft_schedule_text_of(set, epoch->schedules.data[subject.schedule].name);
    for (uint32_t i = 0; i < n; i++) {
        char *key = ft_certificate_key(cover_certificate_name(kinds[i]),
                                       ft_schedule_text_of(set, epoch->name), schedule);
        json_array_append_new(subproblems, json_pack("{s:I, s:s, s:s, s:i, s:s}", "subproblem",
                                                     (json_int_t)json_array_size(subproblems),
                                                     "check", ft_check_name(FT_CHECK_CERTIFICATE),
                                                     "key", key, "pairs", 1, "scope", "program"));
        free(key);
    }
}

static json_t *subproblems_of(const ft_schedule_set *set)
{
    json_t *all = json_array();
    for (uint32_t e = 0; e < set->epochs.len; e++) {
        for (uint32_t s = 0; s < set->epochs.data[e].schedules.len; s++)
            add_subject(set, (cover_subject){e, s}, all);
        add_subject(set, (cover_subject){e, FT_NO_SCHEDULE}, all);
    }
    return all;
}

static json_t *plan_of(const cover_asked *a, const ft_schedule_set *set, json_t *answer)
{
    json_t *text = json_object_get(answer, "set"), *subproblems = subproblems_of(set);
    json_int_t n = (json_int_t)json_array_size(subproblems);
    return json_pack("{s:s, s:o, s:{s:I}, s:[], s:o, s:o}", "model", "ctp", "notes",
                     ft_certificates_notes(answer), "candidates",
                     ft_check_name(FT_CHECK_CERTIFICATE), n, "records", "subproblems", subproblems,
                     "set", a->set ? json_true() : json_incref(text));
}

static ft_status check_size(const json_t *answer, ft_error *err)
{
    size_t length = json_string_length(json_object_get(answer, "set"));
    if (length <= FT_COVER_SET_MOST) return FT_OK;
    return ft_error_set(err, FT_LIMIT,
                        "the schedule set has %zu bytes, a job's has %u at most; search for fewer "
                        "classes (\"entries\"), or use `foretell cover`, which has no such limit",
                        length, FT_COVER_SET_MOST);
}

ft_status ft_cover_plan(const struct ft_program *program, const json_t *spec, json_t **plan,
                        ft_error *err)
{
    FT_REQUIRE(program && plan);
    cover_asked a;
    ft_schedule_set *set = NULL;
    json_t *question = question_of(spec), *answer = json_object();
    ft_status status = cover_asked_read(&a, program, question, err);
    if (status == FT_OK) status = cover_asked_find(&a, &set, answer, NULL, err);
    if (status == FT_OK) status = check_size(answer, err);
    if (status == FT_OK) *plan = plan_of(&a, set, answer);
    cover_asked_release(&a);
    ft_schedule_set_free(set);
    json_decref(answer);
    json_decref(question);
    return status;
}

/* ---- its subproblems ---- */

struct ft_cover_solver {
    cover_asked asked;
    json_t *question;
    ft_schedule_set *set;
    double ms; /* of a subject */
    cover_subject subject;
    json_t *certificates; /* of it; NULL: there is none */
};

ft_status ft_cover_solver_new(const struct ft_program *program, const json_t *spec, const char *set,
                              ft_cover_solver **solver, ft_error *err)
{
    FT_REQUIRE(program && solver);
    json_int_t ms = budget_of(spec, "subproblem_ms");
    ft_cover_solver *s = ft_calloc(1, sizeof *s);
    json_t *answer = json_object();
    s->question = question_of(spec);
    if (set) json_object_set_new(s->question, "set", json_string(set));
    s->ms = (double)(ms > 0 ? ms : DEFAULT_SUBPROBLEM_MS) * SUBJECT_SHARE;
    ft_status status = cover_asked_read(&s->asked, program, s->question, err);
    if (status == FT_OK && !s->asked.set)
        status = ft_error_set(err, FT_INPUT, "a certificate needs a schedule set");
    if (status == FT_OK) status = cover_asked_find(&s->asked, &s->set, answer, NULL, err);
    json_decref(answer);
    if (status == FT_OK)
        *solver = s;
    else
        ft_cover_solver_free(s);
    return status;
}

void ft_cover_solver_free(ft_cover_solver *s)
{
    if (!s) return;
    cover_asked_release(&s->asked);
    ft_schedule_set_free(s->set);
    json_decref(s->question);
    json_decref(s->certificates);
    free(s);
}

static bool is_named(const ft_schedule_set *set, uint32_t text, const json_t *name)
{
    return json_is_string(name) &&
           strcmp(ft_schedule_text_of(set, text), json_string_value(name)) == 0;
}

/* False: the set has none of that name. */
static bool find_subject(const ft_schedule_set *set, const json_t *named, cover_subject *subject)
{
    const json_t *schedule = json_object_get(named, "schedule");
    uint32_t e = 0, i = 0;
    while (e < set->epochs.len &&
           !is_named(set, set->epochs.data[e].name, json_object_get(named, "epoch")))
        e++;
    if (e == set->epochs.len) return false;
    const ft_epoch *epoch = &set->epochs.data[e];
    while (schedule && i < epoch->schedules.len &&
           !is_named(set, epoch->schedules.data[i].name, schedule))
        i++;
    *subject = (cover_subject){e, schedule ? i : FT_NO_SCHEDULE};
    return !schedule || i < epoch->schedules.len;
}

static ft_status certify(ft_cover_solver *s, cover_subject subject, ft_error *err)
{
    bool same = subject.epoch == s->subject.epoch && subject.schedule == s->subject.schedule;
    if (s->certificates && same) return FT_OK;
    json_decref(s->certificates);
    s->certificates = NULL;
    s->subject = subject;
    s->asked.until = ft_now_ms() + s->ms;
    return cover_asked_certify(&s->asked, s->set, &subject, &s->certificates, err);
}

/* The one of its kind among those of the subject; borrowed. */
static const json_t *certificate_of(const ft_cover_solver *s, const json_t *named)
{
    size_t i;
    const json_t *one;
    json_array_foreach(s->certificates, i, one)
    {
        if (json_equal(json_object_get(one, "check"), json_object_get(named, "check"))) return one;
    }
    return NULL;
}

ft_status ft_cover_solve(ft_cover_solver *s, const char *key, json_t **record, ft_error *err)
{
    FT_REQUIRE(s && key && record);
    cover_subject subject;
    json_t *named = ft_certificate_named(key);
    const json_t *found = NULL;
    ft_status status = FT_OK;
    if (find_subject(s->set, named, &subject)) {
        status = certify(s, subject, err);
        if (status == FT_OK) found = certificate_of(s, named);
    }
    if (found)
        *record = ft_certificate_record(found);
    else if (status == FT_OK)
        status = ft_error_set(err, FT_INPUT, "the set has no certificate %.200s", key);
    json_decref(named);
    return status;
}
