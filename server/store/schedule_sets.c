#include "store/schedule_sets.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/certificates.h"
#include "store/internal.h"

static const char ANSWER[] = "cover-answer";

ft_status ft_schedule_sets_add(ft_sql *sql, int64_t job, ft_span set, ft_error *err)
{
    return ft_sql_run(sql, NULL, err, "INSERT INTO schedule_sets (job, text) VALUES (?1, ?2)", "is",
                      job, set.at, set.length);
}

ft_status ft_schedule_sets_give(ft_sql *sql, int64_t job, json_t *lease, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT text FROM schedule_sets WHERE job = ?1", "i", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK || !row) return status;
    json_object_set_new(lease, "set", json_string_nocheck(ft_sql_text(statement, 0)));
    return ft_sql_next(sql, statement, &row, err);
}

/* ---- The end --------------------------------------------------------------------------------- */

static ft_status is_there(ft_sql *sql, const char *job, bool *there, ft_error *err)
{
    int64_t one = 0;
    return ft_sql_number(sql, &one, there, err, "SELECT 1 FROM schedule_sets WHERE job = " FT_JOB_N,
                         "t", job);
}

/* In the order of the plan, whichever was answered first. */
static ft_status read_certificates(ft_sql *sql, const char *job, json_t *all, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT record FROM verdicts WHERE job = " FT_JOB_N
                                    " AND task IS NOT NULL ORDER BY task",
                                    "t", job);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        json_t *record = NULL;
        status = ft_store_parse(statement, 0, &record, err);
        if (status == FT_OK) json_array_append_new(all, ft_certificate_of(record));
        json_decref(record);
    }
    return status;
}

/* What the plan's note has of it; a new reference, or NULL. */
static json_t *answer_of(const json_t *plan)
{
    size_t i;
    const json_t *note;
    json_array_foreach(json_object_get(plan, "notes"), i, note)
    {
        const char *code = json_string_value(json_object_get(note, "code"));
        const char *text = json_string_value(json_object_get(note, "text"));
        if (code && text && strcmp(code, ANSWER) == 0) return json_loads(text, 0, NULL);
    }
    return NULL;
}

static ft_status conclude(ft_sql *sql, const char *job, ft_error *err)
{
    json_t *plan = NULL, *certificates = json_array();
    ft_status status = read_certificates(sql, job, certificates, err);
    if (status == FT_OK) status = ft_store_plan_read(sql, job, &plan, err);
    json_t *answer = status == FT_OK ? answer_of(plan) : NULL;
    if (json_is_object(answer)) {
        ft_certificates_conclude(answer, certificates);
        json_object_set_new(plan, "notes", ft_certificates_notes(answer));
        status = ft_store_plan_write(sql, job, plan, err);
    }
    json_decref(answer);
    json_decref(plan);
    json_decref(certificates);
    return status;
}

ft_status ft_schedule_sets_end(ft_sql *sql, const char *job, bool done, ft_error *err)
{
    bool there = false;
    ft_status status = is_there(sql, job, &there, err);
    if (status != FT_OK || !there) return status;
    if (done) status = conclude(sql, job, err);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "DELETE FROM schedule_sets WHERE job = " FT_JOB_N, "t", job);
}
