#include "store/sql.h"

#include <stdarg.h>
#include <string.h>

#include "base/contract.h"

bool ft_sql_is_address(const char *place)
{
    return strncmp(place, "postgresql://", 13) == 0 || strncmp(place, "postgres://", 11) == 0;
}

ft_status ft_sql_open(ft_sql *sql, const char *place, ft_error *err)
{
    sql->driver = ft_sql_is_address(place) ? &ft_driver_postgres : &ft_driver_sqlite;
    return sql->driver->open(sql, place, err);
}

ft_status ft_sql_open_existing(ft_sql *sql, const char *place, ft_error *err)
{
    sql->driver = ft_sql_is_address(place) ? &ft_driver_postgres : &ft_driver_sqlite;
    return sql->driver->open_existing(sql, place, err);
}

ft_status ft_sql_version(ft_sql *sql, int64_t *version, ft_error *err)
{
    return sql->driver->version(sql, version, err);
}

ft_status ft_sql_migrate(ft_sql *sql, ft_error *err)
{
    return sql->driver->migrate(sql, err);
}

void ft_sql_forget(ft_sql *sql)
{
    for (size_t i = 0; i < sql->cached; i++) sql->driver->finalize(sql->cache[i].statement);
    sql->cached = 0;
}

void ft_sql_close(ft_sql *sql)
{
    if (!sql->driver) return;
    ft_sql_forget(sql);
    sql->driver->close(sql);
}

ft_status ft_sql_failed(const ft_sql *sql, const char *what, ft_error *err)
{
    return sql->driver->failed(sql, what, err);
}

/* ---- Statements ------------------------------------------------------------------------------ */

/* The driver's part of a literal. */
static const char *dialect(const ft_sql *sql, const char *text)
{
    if (text[0] != '\1') return text;
    return sql->driver == &ft_driver_sqlite ? text + 1 : text + strlen(text) + 1;
}

ft_status ft_sql_script(ft_sql *sql, const char *script, ft_error *err)
{
    return sql->driver->script(sql, dialect(sql, script), err);
}

static ft_status prepare(ft_sql *sql, const char *text, const char *format,
                         ft_statement **statement, ft_error *err)
{
    for (size_t i = 0; i < sql->cached; i++) {
        if (sql->cache[i].text != text) continue;
        *statement = sql->cache[i].statement;
        sql->driver->reset(sql, *statement);
        return FT_OK;
    }
    assert(sql->cached < FT_SQL_STATEMENTS);
    ft_status status = sql->driver->prepare(sql, dialect(sql, text), format, statement, err);
    if (status != FT_OK) return status;
    (*statement)->sql = sql;
    sql->cache[sql->cached].text = text;
    sql->cache[sql->cached++].statement = *statement;
    return FT_OK;
}

static ft_value value_of(char kind, va_list *args)
{
    ft_value value = {.kind = kind == 's' ? 't' : kind == 'B' ? 'b' : kind};
    if (kind == 'i') {
        value.number = va_arg(*args, int64_t);
        return value;
    }
    assert(kind == 't' || kind == 's' || kind == 'b' || kind == 'B');
    value.bytes = va_arg(*args, const void *);
    if (kind == 't')
        value.length = value.bytes ? strlen(value.bytes) : 0;
    else
        value.length = va_arg(*args, size_t);
    bool null = kind == 'B' ? value.length == 0 : kind != 'b' && !value.bytes;
    if (null) value.kind = 'n';
    if (!null && !value.bytes) value.bytes = "";
    return value;
}

static ft_status start(ft_sql *sql, ft_statement **statement, ft_error *err, const char *text,
                       const char *format, va_list *args)
{
    ft_value values[FT_SQL_ARGUMENTS];
    size_t count = strlen(format);
    FT_REQUIRE(count <= FT_SQL_ARGUMENTS);
    ft_status status = prepare(sql, text, format, statement, err);
    if (status != FT_OK) return status;
    for (size_t i = 0; i < count; i++) values[i] = value_of(format[i], args);
    return sql->driver->bind(sql, *statement, values, count, err);
}

ft_status ft_sql_start(ft_sql *sql, ft_statement **statement, ft_error *err, const char *text,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ft_status status = start(sql, statement, err, text, format, &args);
    va_end(args);
    return status;
}

ft_status ft_sql_start_values(ft_sql *sql, ft_statement **statement, ft_error *err,
                              const char *text, const char *format, const ft_value *values)
{
    ft_status status = prepare(sql, text, format, statement, err);
    if (status != FT_OK) return status;
    return sql->driver->bind(sql, *statement, values, strlen(format), err);
}

ft_status ft_sql_next(ft_sql *sql, ft_statement *statement, bool *row, ft_error *err)
{
    FT_REQUIRE(statement && row);
    ft_status status = sql->driver->step(sql, statement, row, err);
    if (status == FT_OK && !*row) sql->driver->reset(sql, statement);
    return status;
}

ft_status ft_sql_run(ft_sql *sql, int64_t *changed, ft_error *err, const char *text,
                     const char *format, ...)
{
    va_list args;
    bool row;
    va_start(args, format);
    ft_statement *statement;
    ft_status status = start(sql, &statement, err, text, format, &args);
    va_end(args);
    if (status == FT_OK && !changed && sql->driver->run)
        return sql->driver->run(sql, statement, err);
    if (status == FT_OK) status = sql->driver->step(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (changed) *changed = sql->driver->changed(sql, statement);
    sql->driver->reset(sql, statement);
    return FT_OK;
}

ft_status ft_sql_number(ft_sql *sql, int64_t *value, bool *found, ft_error *err, const char *text,
                        const char *format, ...)
{
    va_list args;
    bool row = false;
    va_start(args, format);
    ft_statement *statement;
    ft_status status = start(sql, &statement, err, text, format, &args);
    va_end(args);
    if (status == FT_OK) status = sql->driver->step(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (!row && !found)
        return ft_error_set(err, FT_INTERNAL, "the store lacks a row that it must have");
    if (row) *value = ft_sql_int(statement, 0);
    if (found) *found = row;
    sql->driver->reset(sql, statement);
    return FT_OK;
}

ft_status ft_sql_settle(ft_sql *sql, ft_error *err)
{
    return sql->driver->settle ? sql->driver->settle(sql, err) : FT_OK;
}

void ft_sql_reset(ft_sql *sql)
{
    for (size_t i = 0; i < sql->cached; i++) sql->driver->reset(sql, sql->cache[i].statement);
    sql->lost = false;
}

ft_status ft_sql_end(ft_sql *sql, ft_error *err)
{
    for (size_t i = 0; i < sql->cached; i++) sql->driver->reset(sql, sql->cache[i].statement);
    bool lost = sql->lost;
    sql->lost = false;
    ft_status status = ft_sql_settle(sql, err);
    if (status != FT_OK) return status;
    return lost ? ft_error_set(err, FT_IO, "the store failed: out of memory") : FT_OK;
}

/* ---- Transactions ---------------------------------------------------------------------------- */

ft_status ft_sql_begin(ft_sql *sql, ft_error *err)
{
    return ft_sql_run(sql, NULL, err,
                      FT_DIALECTS("BEGIN IMMEDIATE", "BEGIN ISOLATION LEVEL READ COMMITTED"), "");
}

ft_status ft_sql_begin_reading(ft_sql *sql, ft_error *err)
{
    return ft_sql_run(sql, NULL, err,
                      FT_DIALECTS("BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), "");
}

ft_status ft_sql_lock(ft_sql *sql, const char *what, const char *name, ft_error *err)
{
    if (!sql->driver->shared) return FT_OK;
    return ft_sql_run(sql, NULL, err,
                      FT_DIALECTS("SELECT ?1, ?2", "SELECT pg_advisory_xact_lock("
                                                   "hashtextextended(?1 || ' ' || ?2, 0))"),
                      "tt", what, name);
}

ft_status ft_sql_commit(ft_sql *sql, ft_error *err)
{
    return ft_sql_run(sql, NULL, err, "COMMIT", "");
}

void ft_sql_rollback(ft_sql *sql)
{
    ft_sql_reset(sql);
    sql->driver->rollback(sql);
}

bool ft_sql_in_transaction(const ft_sql *sql)
{
    return sql->driver->in_transaction(sql);
}

int64_t ft_sql_now(ft_sql *sql)
{
    return sql->driver->now(sql);
}

/* ---- Columns --------------------------------------------------------------------------------- */

const char *ft_sql_text(ft_statement *statement, int column)
{
    return statement->sql->driver->text(statement, column);
}

bool ft_sql_null(ft_statement *statement, int column)
{
    return statement->sql->driver->null(statement, column);
}

int64_t ft_sql_int(ft_statement *statement, int column)
{
    return statement->sql->driver->integer(statement, column);
}

const void *ft_sql_bytes(ft_statement *statement, int column, size_t *length)
{
    return statement->sql->driver->bytes(statement, column, length);
}
