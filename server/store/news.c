/* Queries that watchers of jobs repeat. */
#include <stdlib.h>

#include "base/memory.h"
#include "store/internal.h"

static ft_status add_record(ft_statement *statement, const char *job, json_t *records,
                            ft_error *err)
{
    json_t *record;
    ft_status status = ft_store_parse(statement, 0, &record, err);
    if (status != FT_OK) return status;
    json_int_t n = ft_sql_int(statement, 1);
    json_object_del(record, "witness");
    json_object_set_new(record, "finding", json_sprintf("%s-%lld", job, (long long)n));
    json_array_append_new(records, json_pack("{s:I, s:o}", "n", n, "record", record));
    return FT_OK;
}

static ft_status run_news(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    bool row, more = false;
    json_t *snapshot = NULL, *records = json_array();
    ft_status status = ft_store_snapshot(sql, request->job, &snapshot, err);
    if (status == FT_OK) {
        status = ft_sql_start(sql, &statement, err,
                              "SELECT record, n FROM verdicts WHERE job = " FT_JOB_N " AND n > ?2 "
                              "AND (?3 <> 0 OR verdict <> 'safe') ORDER BY n LIMIT ?4 + 1",
                              "tiii", (const char *)request->job, request->task,
                              (int64_t)request->safe, (int64_t)request->limit);
    }
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        more = json_array_size(records) == request->limit;
        if (more) break;
        status = add_record(statement, request->job, records, err);
    }
    if (status != FT_OK) {
        json_decref(snapshot);
        json_decref(records);
        return status;
    }
    request->result =
        json_pack("{s:o, s:o, s:b}", "job", snapshot, "records", records, "more", more);
    return FT_OK;
}

void ft_store_job_news(ft_store *store, const char *job, int64_t after, uint32_t limit, bool safe,
                       ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_news, false, done, data);
    request->job = ft_strdup(job);
    request->task = after;
    request->limit = limit;
    request->safe = safe;
    ft_store_send(store, request);
}
