#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "store/cache.h"
#include "store/internal.h"

/* ---- Reading --------------------------------------------------------------------------------- */

static ft_status read_meta(ft_sql *sql, const char *hash, json_t **meta, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err,
                     "SELECT meta, created, stored_bytes FROM traces WHERE hash = ?1", "t", hash);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (!row) return ft_error_set(err, FT_NOT_FOUND, "no trace %s", hash);
    status = ft_store_parse(statement, 0, meta, err);
    if (status != FT_OK) return status;
    json_object_set_new(*meta, "created", ft_store_time(ft_sql_int(statement, 1)));
    json_object_set_new(*meta, "stored_bytes", json_integer(ft_sql_int(statement, 2)));
    return FT_OK;
}

static ft_status run_trace(ft_sql *sql, ft_request *request, ft_error *err)
{
    return read_meta(sql, request->job, &request->result, err);
}

void ft_store_trace(ft_store *store, const char *hash, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_trace, false, done, data);
    request->job = ft_strdup(hash);
    ft_store_send(store, request);
}

#define OF_PART                                                                                    \
    "NOT EXISTS (SELECT 1 FROM blob_chunks n WHERE n.blob = c.blob AND n.seq = c.seq + 1) "        \
    "FROM traces t JOIN blob_chunks c ON c.blob = t.blob WHERE t.hash = ?1 AND c.seq = ?2"

static ft_status read_row(ft_sql *sql, const ft_request *request, const char *text,
                          ft_statement **statement, ft_error *err)
{
    bool row;
    ft_status status =
        ft_sql_start(sql, statement, err, text, "ti", request->job, (int64_t)request->seq);
    if (status == FT_OK) status = ft_sql_next(sql, *statement, &row, err);
    if (status != FT_OK || row) return status;
    return ft_error_set(err, FT_NOT_FOUND, "no trace %s, or no part %u of it", request->job,
                        request->seq);
}

/* *found: the node has a copy of what the database has. */
static ft_status find_kept(ft_sql *sql, ft_request *request, bool *found, ft_error *err)
{
    ft_statement *statement;
    bool damaged = false;
    ft_status status = read_row(sql, request, "SELECT c.digest, " OF_PART, &statement, err);
    if (status != FT_OK || ft_sql_null(statement, 0)) return status;
    void *bytes = ft_cache_read(sql->kept, ft_sql_text(statement, 0), &request->length, &damaged);
    sql->parts.damaged += damaged;
    if (!bytes) return FT_OK;
    free(request->bytes);
    request->bytes = bytes;
    request->last = ft_sql_int(statement, 1) != 0;
    sql->parts.kept++;
    *found = true;
    return FT_OK;
}

/* Between machines; workers notice damage in a file on this one. */
static ft_status check_part(ft_sql *sql, const ft_request *request, const char *digest,
                            ft_error *err)
{
    char hex[FT_DIGEST_HEX + 1];
    if (!sql->driver->shared) return FT_OK;
    ft_digest_of(request->bytes, request->length, hex);
    if (strcmp(hex, digest) != 0)
        return ft_error_set(err, FT_INTERNAL,
                            "part %u of %s is damaged: restore the database from a back-up",
                            request->seq, request->job);
    if (sql->kept) ft_cache_write(sql->kept, digest, request->bytes, request->length);
    return FT_OK;
}

static ft_status fetch(ft_sql *sql, ft_request *request, ft_error *err)
{
    ft_statement *statement;
    ft_status status = read_row(sql, request, "SELECT c.data, c.digest, " OF_PART, &statement, err);
    if (status != FT_OK) return status;
    const void *bytes = ft_sql_bytes(statement, 0, &request->length);
    free(request->bytes); /* of an earlier try */
    request->bytes = ft_alloc(request->length + 1);
    if (request->length > 0) memcpy(request->bytes, bytes, request->length);
    request->last = ft_sql_int(statement, 2) != 0;
    sql->parts.fetched++;
    return ft_sql_null(statement, 1) ? FT_OK
                                     : check_part(sql, request, ft_sql_text(statement, 1), err);
}

static ft_status run_chunk(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool found = false;
    ft_status status = sql->kept ? find_kept(sql, request, &found, err) : FT_OK;
    return status == FT_OK && !found ? fetch(sql, request, err) : status;
}

void ft_store_trace_chunk(ft_store *store, const char *hash, uint32_t seq, ft_store_chunk_done done,
                          void *data)
{
    ft_request *request = ft_store_request(run_chunk, false, NULL, data);
    request->chunk_done = done;
    request->job = ft_strdup(hash);
    request->seq = seq;
    ft_store_send(store, request);
}

/* ---- Changing -------------------------------------------------------------------------------- */

static ft_status run_blob_new(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t blob = 0;
    ft_status status = ft_sql_number(
        sql, &blob, NULL, err,
        FT_DIALECTS("INSERT INTO blobs (created) SELECT ?1 WHERE ?2 IS NOT NULL RETURNING id",
                    "INSERT INTO blobs (created, node) VALUES (?1, ?2) RETURNING id"),
        "ii", ft_sql_now(sql), sql->epoch);
    if (status == FT_OK) request->result = json_pack("{s:I}", "blob", (json_int_t)blob);
    return status;
}

void ft_store_blob_new(ft_store *store, ft_store_done done, void *data)
{
    ft_store_send(store, ft_store_request(run_blob_new, true, done, data));
}

static ft_status run_blob_add(ft_sql *sql, ft_request *request, ft_error *err)
{
    char digest[FT_DIGEST_HEX + 1];
    ft_digest_of(request->bytes, request->length, digest);
    request->result = json_object();
    return ft_sql_run(sql, NULL, err,
                      "INSERT INTO blob_chunks (blob, seq, data, digest) VALUES (?1, ?2, ?3, ?4)",
                      "iibt", request->blob, (int64_t)request->seq, (const void *)request->bytes,
                      request->length, (const char *)digest);
}

void ft_store_blob_add(ft_store *store, int64_t blob, uint32_t seq, const void *bytes,
                       size_t length, ft_store_done done, void *data)
{
    assert(length <= FT_STORE_CHUNK);
    ft_request *request = ft_store_request(run_blob_add, true, done, data);
    request->blob = blob;
    request->seq = seq;
    request->bytes = ft_alloc(length + 1);
    memcpy(request->bytes, bytes, length);
    request->length = length;
    ft_store_send(store, request);
}

static ft_status drop_blob(ft_sql *sql, int64_t blob, ft_error *err)
{
    return ft_sql_run(sql, NULL, err,
                      "DELETE FROM blobs WHERE id = ?1 AND id NOT IN (SELECT blob FROM traces)",
                      "i", blob);
}

static ft_status run_blob_drop(ft_sql *sql, ft_request *request, ft_error *err)
{
    request->result = json_object();
    return drop_blob(sql, request->blob, err);
}

void ft_store_blob_drop(ft_store *store, int64_t blob, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_blob_drop, true, done, data);
    request->blob = blob;
    ft_store_send(store, request);
}

static ft_status run_blob_commit(ft_sql *sql, ft_request *request, ft_error *err)
{
    int64_t rows, stored, created;
    ft_status status =
        ft_sql_number(sql, &rows, NULL, err, "SELECT count(*) FROM blob_chunks WHERE blob = ?1",
                      "i", request->blob);
    if (status == FT_OK && rows != request->seq)
        status = ft_error_set(err, FT_IO, "the store lacks a part of the upload");
    if (status == FT_OK) {
        status =
            ft_sql_number(sql, &stored, NULL, err,
                          "SELECT coalesce(sum(length(data)), 0) FROM blob_chunks WHERE blob = ?1",
                          "i", request->blob);
    }
    if (status != FT_OK) return status;
    char *meta = ft_store_dump(request->json);
    json_int_t bytes = json_integer_value(json_object_get(request->json, "bytes"));
    status = ft_sql_run(sql, &created, err,
                        "INSERT INTO traces (hash, blob, meta, bytes, stored_bytes, created) "
                        "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (hash) DO NOTHING",
                        "titiii", request->job, request->blob, meta, (int64_t)bytes, stored,
                        ft_sql_now(sql));
    free(meta);
    if (status == FT_OK && created == 0) status = drop_blob(sql, request->blob, err);
    json_t *kept = NULL;
    if (status == FT_OK) status = read_meta(sql, request->job, &kept, err);
    if (status == FT_OK)
        request->result = json_pack("{s:b, s:o}", "created", created != 0, "meta", kept);
    return status;
}

void ft_store_blob_commit(ft_store *store, int64_t blob, uint32_t rows, const char *hash,
                          const json_t *meta, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_blob_commit, true, done, data);
    request->blob = blob;
    request->seq = rows;
    request->job = ft_strdup(hash);
    request->json = json_deep_copy(meta);
    ft_store_send(store, request);
}
