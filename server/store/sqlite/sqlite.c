#include "store/sql.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/contract.h"

#define SPILL_BYTES 120000 /* SQLite writes them in one piece, which must be below 128 KiB */

/* SQLite tells a full disk as SQLITE_FULL, a full quota and a file that cannot be made as an error
 * of the system's. */
static ft_status status_of(sqlite3 *db)
{
    int code = sqlite3_errcode(db) & 0xff;
    if (code == SQLITE_FULL) return FT_FULL;
    bool system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
    return system ? ft_status_from_errno(sqlite3_system_errno(db)) : FT_IO;
}

ft_status ft_sql_failed(const ft_sql *sql, const char *what, ft_error *err)
{
    ft_status status = status_of(sql->db);
    if (status == FT_FULL) what = "the store's disk is full: free some space, then try again";
    return ft_error_set(err, status, "%s: %s", what, sqlite3_errmsg(sql->db));
}

static ft_status failed(const ft_sql *sql, ft_error *err)
{
    return ft_sql_failed(sql, "the store failed", err);
}

ft_status ft_sql_script(ft_sql *sql, const char *script, ft_error *err)
{
    if (sqlite3_exec(sql->db, script, NULL, NULL, NULL) != SQLITE_OK) return failed(sql, err);
    return FT_OK;
}

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
    if (sqlite3_open_v2(path, &sql->db, flags, NULL) != SQLITE_OK) {
        return ft_error_set(err, FT_IO, "cannot open the database %s: %s", path,
                            sqlite3_errmsg(sql->db));
    }
    sqlite3_busy_timeout(sql->db, 5000);
    /* secure_delete and trusted_schema: the content is other people's. */
    if (sqlite3_exec(sql->db,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
                     "PRAGMA trusted_schema=OFF; PRAGMA cache_size=-16384;"
                     "PRAGMA wal_autocheckpoint=4000;",
                     NULL, NULL, NULL) != SQLITE_OK) {
        return ft_error_set(err, FT_IO, "%s is not usable as a database: %s", path,
                            sqlite3_errmsg(sql->db));
    }
    return FT_OK;
}

/* A new file is its owner's alone, whatever folder it is in: traces and secrets are in it. What
 * SQLite puts beside it has its mode. */
ft_status ft_sql_open(ft_sql *sql, const char *path, ft_error *err)
{
    configure();
    mode_t mask = umask(0077);
    ft_status status = open_and_set(sql, path, err);
    umask(mask);
    return status;
}

void ft_sql_close(ft_sql *sql)
{
    for (size_t i = 0; i < sql->cached; i++) sqlite3_finalize(sql->cache[i].statement);
    sql->cached = 0;
    int closed = sqlite3_close(sql->db);
    assert(closed == SQLITE_OK); /* else a statement is not finalised */
    (void)closed;
    sql->db = NULL;
}

static ft_status apply(ft_sql *sql, const char *migration, int version, ft_error *err)
{
    char raise[64];
    snprintf(raise, sizeof raise, "PRAGMA user_version = %d", version);
    ft_status status = ft_sql_script(sql, "BEGIN IMMEDIATE", err);
    if (status != FT_OK) return status;
    status = ft_sql_script(sql, migration, err);
    if (status == FT_OK) status = ft_sql_script(sql, raise, err);
    if (status == FT_OK) status = ft_sql_script(sql, "COMMIT", err);
    if (status != FT_OK && ft_sql_in_transaction(sql))
        sqlite3_exec(sql->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

ft_status ft_sql_migrate(ft_sql *sql, const char *const *migrations, ft_error *err)
{
    int known = 0;
    while (migrations[known]) known++;
    int64_t version = 0;
    ft_status status = ft_sql_number(sql, &version, NULL, err, "PRAGMA user_version", "");
    if (status != FT_OK) return status;
    if (version < 0 || version > known) {
        return ft_error_set(err, FT_UNSUPPORTED,
                            "the database has schema version %lld; this program supports up to %d: "
                            "use the foretelld that wrote it, or a newer one",
                            (long long)version, known);
    }
    for (int i = (int)version; i < known && status == FT_OK; i++)
        status = apply(sql, migrations[i], i + 1, err);
    return status;
}

/* A column's text that could not be had shows nowhere else. */
static void note_reset(ft_sql *sql, sqlite3_stmt *statement)
{
    if (sqlite3_reset(statement) == SQLITE_NOMEM) sql->lost = true;
}

static ft_status prepare(ft_sql *sql, const char *text, sqlite3_stmt **statement, ft_error *err)
{
    for (size_t i = 0; i < sql->cached; i++) {
        if (sql->cache[i].text != text) continue;
        FT_CHECK(strcmp(sqlite3_sql(sql->cache[i].statement), text) == 0); /* text is a literal */
        *statement = sql->cache[i].statement;
        note_reset(sql, *statement);
        return FT_OK;
    }
    assert(sql->cached < FT_SQL_STATEMENTS);
    if (sqlite3_prepare_v3(sql->db, text, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) !=
        SQLITE_OK)
        return failed(sql, err);
    sql->cache[sql->cached].text = text;
    sql->cache[sql->cached++].statement = *statement;
    return FT_OK;
}

static int bind_one(sqlite3_stmt *statement, int index, char kind, va_list *args)
{
    if (kind == 'i') return sqlite3_bind_int64(statement, index, va_arg(*args, int64_t));
    if (kind == 't') {
        const char *text = va_arg(*args, const char *);
        if (!text) return sqlite3_bind_null(statement, index);
        return sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
    }
    if (kind == 's') {
        const char *text = va_arg(*args, const char *);
        size_t size = va_arg(*args, size_t);
        return sqlite3_bind_text64(statement, index, text, size, SQLITE_STATIC, SQLITE_UTF8);
    }
    assert(kind == 'b');
    const void *bytes = va_arg(*args, const void *);
    size_t length = va_arg(*args, size_t);
    return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", length, SQLITE_STATIC);
}

static ft_status start(ft_sql *sql, sqlite3_stmt **statement, ft_error *err, const char *text,
                       const char *format, va_list *args)
{
    ft_status status = prepare(sql, text, statement, err);
    if (status != FT_OK) return status;
    assert((size_t)sqlite3_bind_parameter_count(*statement) == strlen(format));
    sqlite3_clear_bindings(*statement);
    for (int i = 0; format[i]; i++)
        if (bind_one(*statement, i + 1, format[i], args) != SQLITE_OK) return failed(sql, err);
    return FT_OK;
}

ft_status ft_sql_start(ft_sql *sql, sqlite3_stmt **statement, ft_error *err, const char *text,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ft_status status = start(sql, statement, err, text, format, &args);
    va_end(args);
    return status;
}

ft_status ft_sql_next(ft_sql *sql, sqlite3_stmt *statement, bool *row, ft_error *err)
{
    FT_REQUIRE(statement && row);
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE) return failed(sql, err);
    *row = result == SQLITE_ROW;
    if (!*row) note_reset(sql, statement);
    return FT_OK;
}

ft_status ft_sql_run(ft_sql *sql, int64_t *changed, ft_error *err, const char *text,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sqlite3_stmt *statement;
    ft_status status = start(sql, &statement, err, text, format, &args);
    va_end(args);
    if (status != FT_OK) return status;
    if (sqlite3_step(statement) != SQLITE_DONE) return failed(sql, err);
    sqlite3_reset(statement);
    if (changed) *changed = sqlite3_changes64(sql->db);
    return FT_OK;
}

ft_status ft_sql_number(ft_sql *sql, int64_t *value, bool *found, ft_error *err, const char *text,
                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sqlite3_stmt *statement;
    ft_status status = start(sql, &statement, err, text, format, &args);
    va_end(args);
    if (status != FT_OK) return status;
    int result = sqlite3_step(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE) return failed(sql, err);
    if (result == SQLITE_DONE && !found)
        return ft_error_set(err, FT_INTERNAL, "the store lacks a row that it must have");
    if (result == SQLITE_ROW) *value = sqlite3_column_int64(statement, 0);
    if (found) *found = result == SQLITE_ROW;
    note_reset(sql, statement);
    return FT_OK;
}

void ft_sql_reset(ft_sql *sql)
{
    for (size_t i = 0; i < sql->cached; i++) sqlite3_reset(sql->cache[i].statement);
    sql->lost = false;
}

ft_status ft_sql_end(ft_sql *sql, ft_error *err)
{
    for (size_t i = 0; i < sql->cached; i++) note_reset(sql, sql->cache[i].statement);
    bool lost = sql->lost;
    sql->lost = false;
    return lost ? ft_error_set(err, FT_IO, "the store failed: out of memory") : FT_OK;
}

bool ft_sql_in_transaction(const ft_sql *sql)
{
    return !sqlite3_get_autocommit(sql->db);
}

const char *ft_sql_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text ? (const char *)text : "";
}

bool ft_sql_null(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

int64_t ft_sql_int(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_int64(statement, column);
}
