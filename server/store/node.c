#include "store/node.h"

#include <stdlib.h>
#include <unistd.h>

#include "store/internal.h"

/* Milliseconds since 1970, by the database's clock. */
#define CLOCK                 "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
#define ONLY_SHARED(postgres) FT_DIALECTS("SELECT 0", postgres)

ft_status ft_node_register(ft_sql *sql, ft_error *err)
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0) name[0] = '\0';
    ft_status status = ft_sql_begin(sql, err);
    if (status == FT_OK)
        status = ft_sql_number(sql, &sql->epoch, NULL, err,
                               "UPDATE counters SET epoch = epoch + 1 RETURNING epoch", "");
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            FT_DIALECTS("SELECT ?1, ?2, ?3",
                                        "INSERT INTO nodes (epoch, name, pid, started, seen) "
                                        "VALUES (?1, ?2, ?3, " CLOCK ", " CLOCK ")"),
                            "iti", sql->epoch, (const char *)name, (int64_t)getpid());
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            ONLY_SHARED("DELETE FROM nodes WHERE seen < " CLOCK " - 86400000"), "");
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            ONLY_SHARED("DELETE FROM blobs WHERE id NOT IN (SELECT blob FROM "
                                        "traces) AND created < " CLOCK " - 86400000"),
                            "");
    if (status == FT_OK) status = ft_sql_commit(sql, err);
    if (status == FT_OK)
        sql->token = sql->epoch << 32;
    else
        ft_sql_rollback(sql);
    return status;
}

ft_status ft_node_leave(ft_sql *sql, ft_error *err)
{
    ft_status status = ft_sql_begin(sql, err);
    if (status == FT_OK) status = ft_store_leases_return(sql, err);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            FT_DIALECTS("SELECT ?1", "DELETE FROM blobs WHERE node = ?1 AND id "
                                                     "NOT IN (SELECT blob FROM traces)"),
                            "i", sql->epoch);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            FT_DIALECTS("SELECT ?1", "DELETE FROM nodes WHERE epoch = ?1"), "i",
                            sql->epoch);
    if (status == FT_OK) status = ft_sql_commit(sql, err);
    if (status != FT_OK) ft_sql_rollback(sql);
    return status;
}

ft_status ft_node_mark(ft_sql *sql, int64_t mark, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     FT_DIALECTS("SELECT ?1, ?2", "UPDATE nodes SET mark = ?2, seen = " CLOCK
                                                  " WHERE epoch = ?1 RETURNING "
                                                  "seen, (SELECT version FROM schema_version)"),
                     "ii", sql->epoch, mark);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (!row) {
        sql->fault = FT_SQL_LOST;
        sql->epoch = 0;
        return ft_error_set(err, FT_IO, "the database does not know this node any more");
    }
    sql->ahead += ft_sql_int(statement, 0) - ft_sql_now(sql);
    int64_t version = ft_sql_int(statement, 1);
    if (version > ft_migration_count()) return ft_migration_refused(version, err);
    return ft_sql_next(sql, statement, &row, err);
}

ft_status ft_node_marked(ft_sql *sql, int64_t mark, bool *committed, ft_error *err)
{
    int64_t last = 0;
    bool found;
    ft_status status = ft_sql_number(
        sql, &last, &found, err,
        FT_DIALECTS("SELECT ?1", "SELECT mark FROM nodes WHERE epoch = ?1"), "i", sql->epoch);
    *committed = status == FT_OK && found && last == mark;
    return status;
}

/* In the order of their numbers, so that no two nodes wait for each other. */
ft_status ft_node_lock_jobs(ft_sql *sql, const json_t *ids, const json_t *numbers, ft_error *err)
{
    char *by_id = ft_store_dump(ids), *by_number = ft_store_dump(numbers);
    ft_status status = ft_sql_run(
        sql, NULL, err,
        FT_DIALECTS(
            "SELECT ?1, ?2",
            "SELECT n FROM jobs WHERE n IN (SELECT j.n FROM jobs j JOIN "
            "json_array_elements_text(?1::json) AS v ON j.id = v UNION ALL SELECT v::bigint "
            "FROM json_array_elements_text(?2::json) AS v) ORDER BY n FOR NO KEY UPDATE"),
        "tt", (const char *)by_id, (const char *)by_number);
    free(by_id);
    free(by_number);
    return status;
}

ft_status ft_node_tell(ft_sql *sql, const json_t *change, ft_error *err)
{
    if (!sql->driver->shared) return FT_OK;
    json_t *news = json_copy((json_t *)(uintptr_t)change);
    json_object_set_new(news, "node", json_integer((json_int_t)sql->epoch));
    char *text = ft_store_dump(news);
    ft_status status =
        ft_sql_run(sql, NULL, err, FT_DIALECTS("SELECT ?1", "SELECT pg_notify('foretell', ?1)"),
                   "t", (const char *)text);
    free(text);
    json_decref(news);
    return status;
}
