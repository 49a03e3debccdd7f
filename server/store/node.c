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
    if (status == FT_OK) /* of a store that was moved here: see schema 0011 */
        status = ft_sql_run(sql, NULL, err,
                            ONLY_SHARED("UPDATE blob_chunks SET digest = "
                                        "encode(sha256(data), 'hex') WHERE digest IS NULL"),
                            "");
    if (status == FT_OK) status = ft_sql_commit(sql, err);
    if (status == FT_OK)
        sql->token = sql->epoch << 32;
    else
        ft_sql_rollback(sql);
    return status;
}

/* ---- Beats ----------------------------------------------------------------------------------- */

#define SILENT_MS 60000 /* such nodes are not listed */

static json_t *node_row(ft_statement *statement, int64_t own, int64_t now)
{
    json_t *row = json_loads(ft_sql_text(statement, 5), 0, NULL);
    if (!json_is_object(row)) row = json_object();
    json_object_set_new(row, "node", json_integer(ft_sql_int(statement, 0)));
    json_object_set_new(row, "name", json_string(ft_sql_text(statement, 1)));
    json_object_set_new(row, "pid", json_integer(ft_sql_int(statement, 2)));
    json_object_set_new(row, "started", ft_store_time(ft_sql_int(statement, 3)));
    json_object_set_new(row, "seen", ft_store_time(ft_sql_int(statement, 4)));
    json_object_set_new(row, "silent_ms", json_integer(now - ft_sql_int(statement, 4)));
    json_object_set_new(row, "own", json_boolean(ft_sql_int(statement, 0) == own));
    return row;
}

static ft_status list_nodes(ft_sql *sql, json_t *list, ft_error *err)
{
    ft_statement *statement;
    bool row;
    int64_t now = ft_sql_now(sql);
    ft_status status = ft_sql_start(
        sql, &statement, err,
        "SELECT epoch, name, pid, started, seen, state FROM nodes WHERE seen > ?1 ORDER BY epoch",
        "i", now - SILENT_MS);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_array_append_new(list, node_row(statement, sql->epoch, now));
    return status;
}

/* One node at a time. */
static ft_status reap(ft_sql *sql, json_t **released, ft_error *err)
{
    int64_t may = 0;
    ft_status status = ft_sql_number(
        sql, &may, NULL, err,
        ONLY_SHARED("SELECT pg_try_advisory_xact_lock(hashtextextended('reaper', 0))"), "");
    if (status == FT_OK && may) status = ft_store_release_expired(sql, released, err);
    return status;
}

static ft_status beat_shared(ft_sql *sql, ft_request *request, ft_error *err)
{
    json_t *nodes = json_array(), *released = NULL;
    char *text = ft_store_dump(request->json);
    ft_status status = ft_sql_run(sql, NULL, err, "UPDATE nodes SET state = ?2 WHERE epoch = ?1",
                                  "it", sql->epoch, (const char *)text);
    free(text);
    if (status == FT_OK) status = reap(sql, &released, err);
    if (status == FT_OK) status = list_nodes(sql, nodes, err);
    request->result = json_pack("{s:o, s:o*}", "nodes", nodes, "released", released);
    return status;
}

static ft_status run_beat(ft_sql *sql, ft_request *request, ft_error *err)
{
    if (sql->driver->shared) return beat_shared(sql, request, err);
    json_t *own = json_copy(request->json);
    json_object_set_new(own, "own", json_true());
    json_object_set_new(own, "pid", json_integer((json_int_t)getpid()));
    request->result = json_pack("{s:[o]}", "nodes", own);
    return FT_OK;
}

void ft_store_beat(ft_store *store, json_t *state, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_beat, ft_store_is_shared(store), done, data);
    request->json = state;
    ft_store_send(store, request);
}

ft_status ft_node_leave(ft_sql *sql, ft_error *err)
{
    ft_status status = ft_sql_begin(sql, err);
    if (status == FT_OK) status = ft_store_leases_return(sql, err);
    if (status == FT_OK) status = ft_store_deliveries_return(sql, err);
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

/* Not for ever: somebody may go back to the older version. */
static ft_status refuse(ft_sql *sql, int64_t version, ft_error *err)
{
    ft_error why = FT_ERROR_INIT;
    (void)!ft_migration_refused(version, &why);
    sql->fault = FT_SQL_LOST;
    sql->refused = true;
    return ft_error_set(err, FT_IO, "%s", why.message);
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
    if (version > ft_migration_count()) return refuse(sql, version, err);
    return ft_sql_next(sql, statement, &row, err);
}

ft_status ft_node_look(ft_sql *sql, ft_error *err)
{
    int64_t version = 0;
    if (!sql->refused) return FT_OK;
    ft_status status = ft_sql_version(sql, &version, err);
    if (status == FT_OK && version > ft_migration_count()) status = refuse(sql, version, err);
    if (status == FT_OK) sql->refused = false;
    return status;
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
