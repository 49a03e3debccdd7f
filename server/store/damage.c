/* Violations whose witness cannot be read any more: nobody can check them, so they are no findings.
 * Stored content stays as it is. */
#include <string.h>

#include "store/internal.h"

static void add_to(json_t *object, const char *name, json_int_t more)
{
    json_int_t count = json_integer_value(json_object_get(object, name));
    json_object_set_new(object, name, json_integer(count + more));
}

void ft_store_record_damaged(json_t *record, const char *why, json_t *damaged)
{
    static const char *const CLAIMS[] = {"status", "witness", "review", "replay"};
    const char *key = json_string_value(json_object_get(record, "key"));
    for (size_t i = 0; i < sizeof CLAIMS / sizeof *CLAIMS; i++) json_object_del(record, CLAIMS[i]);
    json_object_set_new(record, "verdict", json_string(ft_verdict_name(FT_VERDICT_ERROR)));
    json_object_set_new(record, "message",
                        json_sprintf("%s is undecided: %s", key ? key : "a finding", why));
    json_object_set_new(
        record, "reason",
        json_pack("{s:s, s:s}", "pass", ft_reason_name(FT_REASON_DAMAGED), "text", why));
    json_array_append_new(damaged, json_pack("{s:O, s:O?, s:s}", "finding",
                                             json_object_get(record, "finding"), "property",
                                             json_object_get(record, "property"), "why", why));
}

static json_int_t damaged_of(const json_t *damaged, json_int_t property)
{
    json_int_t count = 0;
    size_t i;
    json_t *one;
    json_array_foreach(damaged, i, one)
    {
        const json_t *its = json_object_get(one, "property");
        count += its && json_integer_value(its) == property;
    }
    return count;
}

/* A property is violated as long as one violation of it can be checked. */
static ft_status settle_property(ft_sql *sql, const char *job, json_t *report, const json_t *record,
                                 ft_error *err)
{
    const json_t *index = json_object_get(record, "property");
    json_t *line =
        json_array_get(json_object_get(report, "properties"), (size_t)json_integer_value(index));
    int64_t all = 0;
    if (!index || !line) return FT_OK;
    ft_status status =
        ft_sql_number(sql, &all, NULL, err,
                      "SELECT count(*) FROM verdicts WHERE job = " FT_JOB_N " AND property = "
                      "?2 AND verdict = 'violation'",
                      "ti", job, (int64_t)json_integer_value(index));
    if (status != FT_OK ||
        damaged_of(json_object_get(report, "damaged"), json_integer_value(index)) < all)
        return status;
    json_object_set(line, "verdict", json_object_get(record, "verdict"));
    json_object_set(line, "reason", json_object_get(record, "reason"));
    return FT_OK;
}

ft_status ft_store_report_damaged(ft_sql *sql, const char *job, json_t *report,
                                  const json_t *record, ft_error *err)
{
    const char *check = json_string_value(json_object_get(record, "check"));
    json_t *counts = json_object_get(json_object_get(report, "checks"), check ? check : "");
    json_int_t count = json_integer_value(json_object_get(record, "count"));
    if (counts) {
        add_to(counts, ft_verdict_name(FT_VERDICT_VIOLATION), -count);
        add_to(counts, ft_verdict_name(FT_VERDICT_ERROR), count);
    }
    return settle_property(sql, job, report, record, err);
}

void ft_store_damage_note(json_t *report)
{
    size_t count = json_array_size(json_object_get(report, "damaged"));
    if (count == 0) return;
    json_array_append_new(
        json_object_get(report, "notes"),
        json_pack("{s:s, s:n, s:I, s:s}", "code", "damaged-witness", "event", "count",
                  (json_int_t)count, "text",
                  "stored witnesses are damaged: their findings are reported as errors"));
}
