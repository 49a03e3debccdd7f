#include <stdlib.h>

#include "base/memory.h"
#include "store/internal.h"

/* ?3: ",a,b,", null: every project. */
#define VISIBLE                                                                                    \
    "(?3 IS NULL OR EXISTS (SELECT 1 FROM trace_projects p WHERE p.trace = hash "                  \
    "AND instr(?3, ',' || p.project || ',') > 0)) "

/* Programs are stored where traces are, and not listed. In the texts of META a quoted name has
 * backslashes, so this is the member alone. */
#define A_TRACE "meta NOT LIKE '%\"format\":\"program\"%' AND "

/* Traces are numbered as they come. */
#define LISTED(number)                                                                             \
    "SELECT meta, created, stored_bytes, " number " FROM traces WHERE " number                     \
    " < ?1 AND " A_TRACE VISIBLE "ORDER BY " number " DESC LIMIT ?2"
#define MORE(number)                                                                               \
    "SELECT EXISTS (SELECT 1 FROM traces WHERE " number " < ?1 AND ?2 <> 0 AND " A_TRACE VISIBLE ")"

static ft_status list_rows(ft_sql *sql, ft_statement *statement, json_t *traces, int64_t *last,
                           ft_error *err)
{
    bool row;
    ft_status status;
    while ((status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row) {
        json_t *meta;
        status = ft_store_parse(statement, 0, &meta, err);
        if (status != FT_OK) return status;
        json_object_del(meta, "notes");
        json_object_set_new(meta, "created", ft_store_time(ft_sql_int(statement, 1)));
        json_object_set_new(meta, "stored_bytes", json_integer(ft_sql_int(statement, 2)));
        json_array_append_new(traces, meta);
        *last = ft_sql_int(statement, 3);
    }
    return status;
}

static ft_status run_traces(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    int64_t before, last = 0, more = 0;
    ft_status status = ft_store_cursor(request->third, INT64_MAX, &before, err);
    if (status != FT_OK) return status;
    json_t *traces = json_array();
    request->result = json_pack("{s:o}", "traces", traces);
    status = ft_sql_start(sql, &statement, err, FT_DIALECTS(LISTED("rowid"), LISTED("n")), "iit",
                          before, request->limit ? (int64_t)request->limit : INT64_MAX,
                          (const char *)request->other);
    if (status == FT_OK) status = list_rows(sql, statement, traces, &last, err);
    if (status == FT_OK)
        status = ft_sql_number(sql, &more, NULL, err, FT_DIALECTS(MORE("rowid"), MORE("n")), "iit",
                               last, (int64_t)1, (const char *)request->other);
    if (status != FT_OK) return status;
    json_object_set_new(request->result, "next",
                        more ? json_sprintf("%lld", (long long)last) : json_null());
    return FT_OK;
}

void ft_store_traces(ft_store *store, ft_store_page page, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_traces, false, done, data);
    request->other = page.projects ? ft_strdup(page.projects) : NULL;
    request->third = page.cursor ? ft_strdup(page.cursor) : NULL;
    request->limit = page.limit;
    ft_store_send(store, request);
}
