/* Summaries of traces. */
#include <stdlib.h>

#include "base/memory.h"
#include "store/internal.h"

static ft_status run_summary(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    bool row;
    json_t *summary = NULL;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT coalesce(s.summary, 'null') FROM traces t LEFT JOIN trace_summaries s "
                     "ON s.trace = t.hash AND s.version = ?2 WHERE t.hash = ?1",
                     "ti", (const char *)request->job, (int64_t)request->limit);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (!row) return ft_error_set(err, FT_NOT_FOUND, "no trace %.64s", request->job);
    status = ft_store_parse(statement, 0, &summary, err);
    if (status == FT_OK) request->result = json_pack("{s:o}", "summary", summary);
    return status;
}

void ft_store_summary(ft_store *store, const char *trace, int version, ft_store_done done,
                      void *data)
{
    ft_request *request = ft_store_request(run_summary, false, done, data);
    request->job = ft_strdup(trace);
    request->limit = (uint32_t)version;
    ft_store_send(store, request);
}

static ft_status run_save(ft_sql *sql, ft_request *request, ft_error *err)
{
    char *text = ft_store_dump(request->json);
    request->result = json_object();
    ft_status status = ft_sql_run(sql, NULL, err,
                                  "INSERT INTO trace_summaries (trace, version, summary, created) "
                                  "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (trace) DO UPDATE SET "
                                  "version = excluded.version, summary = excluded.summary, "
                                  "created = excluded.created",
                                  "titi", (const char *)request->job, (int64_t)request->limit,
                                  (const char *)text, ft_sql_now(sql));
    free(text);
    return status;
}

void ft_store_summary_save(ft_store *store, const char *trace, int version, const json_t *summary,
                           ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_save, true, done, data);
    request->job = ft_strdup(trace);
    request->limit = (uint32_t)version;
    request->json = json_deep_copy(summary);
    ft_store_send(store, request);
}
