#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/memory.h"
#include "store/migrations.h"
#include "store/sql.h"

#define SPILL_BYTES 120000 /* SQLite writes them in one piece, which must be below 128 KiB */

typedef struct prepared {
    ft_statement head;
    sqlite3_stmt *statement;
} prepared;

static sqlite3 *db_of(const ft_sql *sql)
{
    return sql->connection;
}

static sqlite3_stmt *raw(const ft_statement *statement)
{
    return ((const prepared *)statement)->statement;
}

/* SQLite tells a full disk as SQLITE_FULL, a full quota and a file that cannot be made as an error
 * of the system's. */
static ft_status status_of(sqlite3 *db)
{
    int code = sqlite3_errcode(db) & 0xff;
    if (code == SQLITE_FULL) return FT_FULL;
    bool system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
    return system ? ft_status_from_errno(sqlite3_system_errno(db)) : FT_IO;
}

static ft_status failed_at(const ft_sql *sql, const char *what, ft_error *err)
{
    ft_status status = status_of(db_of(sql));
    if (status == FT_FULL) what = "the store's disk is full: free some space, then try again";
    return ft_error_set(err, status, "%s: %s", what, sqlite3_errmsg(db_of(sql)));
}

static ft_status failed(const ft_sql *sql, ft_error *err)
{
    return failed_at(sql, "the store failed", err);
}

static ft_status script(ft_sql *sql, const char *text, ft_error *err)
{
    if (sqlite3_exec(db_of(sql), text, NULL, NULL, NULL) != SQLITE_OK) return failed(sql, err);
    return FT_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Statistics of memory cost a lock at each allocation; what a statement would undo is small, and in
 * a file it costs more than the statement. Refused once SQLite is in use, which does no harm. */
static void configure(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, SPILL_BYTES);
}

static ft_status open_and_set(ft_sql *sql, const char *path, ft_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    sqlite3 *db = NULL;
    int opened = sqlite3_open_v2(path, &db, flags, NULL);
    sql->connection = db;
    if (opened != SQLITE_OK) {
        return ft_error_set(err, FT_IO, "cannot open the database %s: %s", path,
                            sqlite3_errmsg(db));
    }
    sqlite3_busy_timeout(db, 5000);
    /* secure_delete and trusted_schema: the content is other people's. */
    if (sqlite3_exec(db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
                     "PRAGMA trusted_schema=OFF; PRAGMA cache_size=-16384;"
                     "PRAGMA wal_autocheckpoint=4000;",
                     NULL, NULL, NULL) != SQLITE_OK) {
        return ft_error_set(err, FT_IO, "%s is not usable as a database: %s", path,
                            sqlite3_errmsg(db));
    }
    return FT_OK;
}

/* A new file is its owner's alone, whatever folder it is in: traces and secrets are in it. What
 * SQLite puts beside it has its mode. */
static ft_status open_file(ft_sql *sql, const char *path, ft_error *err)
{
    configure();
    mode_t mask = umask(0077);
    ft_status status = open_and_set(sql, path, err);
    umask(mask);
    return status;
}

static ft_status open_existing(ft_sql *sql, const char *path, ft_error *err)
{
    sqlite3 *db = NULL;
    if (access(path, R_OK | W_OK) != 0)
        return ft_error_set(err, FT_NOT_FOUND, "cannot use %s: %s", path, strerror(errno));
    int opened = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    sql->connection = db;
    if (opened != SQLITE_OK)
        return ft_error_set(err, FT_IO, "cannot open %s: %s", path, sqlite3_errmsg(db));
    sqlite3_busy_timeout(db, 5000);
    return FT_OK;
}

static void close_file(ft_sql *sql)
{
    int closed = sqlite3_close(db_of(sql));
    assert(closed == SQLITE_OK); /* else a statement is not finalised */
    (void)closed;
    sql->connection = NULL;
}

/* ---- The schema ------------------------------------------------------------------------------ */

static bool in_transaction(const ft_sql *sql)
{
    return !sqlite3_get_autocommit(db_of(sql));
}

static void roll_back(ft_sql *sql)
{
    if (in_transaction(sql)) sqlite3_exec(db_of(sql), "ROLLBACK", NULL, NULL, NULL);
}

static ft_status read_version(ft_sql *sql, int64_t *version, ft_error *err)
{
    return ft_sql_number(sql, version, NULL, err, "PRAGMA user_version", "");
}

static ft_status apply(ft_sql *sql, const char *migration, int version, ft_error *err)
{
    char raise[64];
    snprintf(raise, sizeof raise, "PRAGMA user_version = %d", version);
    ft_status status = script(sql, "BEGIN IMMEDIATE", err);
    if (status != FT_OK) return status;
    status = script(sql, migration, err);
    if (status == FT_OK) status = script(sql, raise, err);
    if (status == FT_OK) status = script(sql, "COMMIT", err);
    if (status != FT_OK) roll_back(sql);
    return status;
}

static ft_status migrate(ft_sql *sql, ft_error *err)
{
    int64_t version = 0;
    const int known = ft_migration_count();
    ft_status status = read_version(sql, &version, err);
    if (status != FT_OK) return status;
    if (version < 0 || version > known) return ft_migration_refused(version, err);
    for (int i = (int)version; i < known && status == FT_OK; i++)
        status = apply(sql, ft_migrations[i], i + 1, err);
    return status;
}

/* "ok" is the only row of a sound database. */
static ft_status check_pages(ft_sql *sql, const char *file, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(sql, &statement, err, "PRAGMA integrity_check(1)", "");
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (!row || strcmp(ft_sql_text(statement, 0), "ok") != 0)
        return ft_error_set(err, FT_IO, "%s is damaged: %.200s", file,
                            row ? ft_sql_text(statement, 0) : "no answer");
    status = ft_sql_start(sql, &statement, err, "PRAGMA foreign_key_check", "");
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status == FT_OK && row)
        return ft_error_set(err, FT_IO, "%s is damaged: a row of %.64s refers to a missing row",
                            file, ft_sql_text(statement, 0));
    return status;
}

/* ---- Statements ------------------------------------------------------------------------------ */

/* A column's text that could not be had shows nowhere else. */
static void reset(ft_sql *sql, ft_statement *statement)
{
    if (sqlite3_reset(raw(statement)) == SQLITE_NOMEM) sql->lost = true;
}

static ft_status prepare(ft_sql *sql, const char *text, const char *format,
                         ft_statement **statement, ft_error *err)
{
    sqlite3_stmt *made;
    if (sqlite3_prepare_v3(db_of(sql), text, -1, SQLITE_PREPARE_PERSISTENT, &made, NULL) !=
        SQLITE_OK)
        return failed(sql, err);
    assert((size_t)sqlite3_bind_parameter_count(made) == strlen(format));
    (void)format;
    prepared *p = ft_calloc(1, sizeof *p);
    p->statement = made;
    *statement = &p->head;
    return FT_OK;
}

static void finalize(ft_statement *statement)
{
    sqlite3_finalize(raw(statement));
    free(statement);
}

static int bind_one(sqlite3_stmt *statement, int index, const ft_value *value)
{
    if (value->kind == 'i') return sqlite3_bind_int64(statement, index, value->number);
    if (value->kind == 'n') return sqlite3_bind_null(statement, index);
    if (value->kind == 't')
        return sqlite3_bind_text64(statement, index, value->bytes, value->length, SQLITE_STATIC,
                                   SQLITE_UTF8);
    assert(value->kind == 'b');
    return sqlite3_bind_blob64(statement, index, value->bytes, value->length, SQLITE_STATIC);
}

static ft_status bind(ft_sql *sql, ft_statement *statement, const ft_value *values, size_t count,
                      ft_error *err)
{
    sqlite3_clear_bindings(raw(statement));
    for (size_t i = 0; i < count; i++)
        if (bind_one(raw(statement), (int)i + 1, &values[i]) != SQLITE_OK) return failed(sql, err);
    return FT_OK;
}

static ft_status step(ft_sql *sql, ft_statement *statement, bool *row, ft_error *err)
{
    int result = sqlite3_step(raw(statement));
    if (result != SQLITE_ROW && result != SQLITE_DONE) return failed(sql, err);
    *row = result == SQLITE_ROW;
    return FT_OK;
}

static int64_t changed(ft_sql *sql, const ft_statement *statement)
{
    (void)statement;
    return sqlite3_changes64(db_of(sql));
}

static int64_t now(ft_sql *sql)
{
    (void)sql;
    struct timeval time;
    gettimeofday(&time, NULL);
    return (int64_t)time.tv_sec * 1000 + time.tv_usec / 1000;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static const char *text_of(ft_statement *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(raw(statement), column);
    if (text) return (const char *)text;
    if (sqlite3_errcode(db_of(statement->sql)) == SQLITE_NOMEM) statement->sql->lost = true;
    return "";
}

static bool is_null(ft_statement *statement, int column)
{
    return sqlite3_column_type(raw(statement), column) == SQLITE_NULL;
}

static int64_t integer_of(ft_statement *statement, int column)
{
    return sqlite3_column_int64(raw(statement), column);
}

static const void *bytes_of(ft_statement *statement, int column, size_t *length)
{
    const void *bytes = sqlite3_column_blob(raw(statement), column);
    *length = (size_t)sqlite3_column_bytes(raw(statement), column);
    return bytes;
}

const ft_driver ft_driver_sqlite = {
    .open = open_file,
    .open_existing = open_existing,
    .close = close_file,
    .prepare = prepare,
    .bind = bind,
    .step = step,
    .changed = changed,
    .reset = reset,
    .finalize = finalize,
    .script = script,
    .failed = failed_at,
    .in_transaction = in_transaction,
    .rollback = roll_back,
    .version = read_version,
    .migrate = migrate,
    .check = check_pages,
    .now = now,
    .text = text_of,
    .null = is_null,
    .integer = integer_of,
    .bytes = bytes_of,
};
