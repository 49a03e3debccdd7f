/* SQLite in the store's terms: a connection, prepared statements found again by their text, and
 * arguments bound by a format. For server/store alone; all functions run on the store's thread (or
 * before it starts). */
#ifndef FT_STORE_SQL_H
#define FT_STORE_SQL_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define FT_SQL_STATEMENTS 256

typedef struct ft_sql {
    sqlite3 *db;
    struct {
        const char *text; /* a string literal */
        sqlite3_stmt *statement;
    } cache[FT_SQL_STATEMENTS];
    size_t cached;
    int64_t token; /* the last fencing token given out: the epoch of this run in its upper half */
    bool lost;     /* a column's text, for want of memory; see ft_sql_end */
} ft_sql;

/* Opens the file with the pragmas of the store. FT_IO: not usable, or no database. */
ft_status ft_sql_open(ft_sql *sql, const char *path, ft_error *err) FT_MUST_CHECK;
void ft_sql_close(ft_sql *sql); /* accepts one that failed to open */

/* Brings the schema up to the last of `migrations` (NULL-ended), each in a transaction of its own
 * that also raises user_version. FT_UNSUPPORTED: the file is newer. */
ft_status ft_sql_migrate(ft_sql *sql, const char *const *migrations, ft_error *err) FT_MUST_CHECK;

/* The statement of `text` (a literal), reset, with its parameters ?1, ?2, ... bound to the
 * arguments that `format` lists: i int64_t, t const char * (NULL: null), s const char * and size_t,
 * b const void * and size_t.
 * Texts and bytes must stay until the statement is done. */
ft_status ft_sql_start(ft_sql *sql, sqlite3_stmt **statement, ft_error *err, const char *text,
                       const char *format, ...) FT_MUST_CHECK;
/* *row: whether there is one (else the statement is reset). */
ft_status ft_sql_next(ft_sql *sql, sqlite3_stmt *statement, bool *row, ft_error *err) FT_MUST_CHECK;
/* Runs a statement that gives no rows; *changed (may be NULL) is the number of rows it changed. */
ft_status ft_sql_run(ft_sql *sql, int64_t *changed, ft_error *err, const char *text,
                     const char *format, ...) FT_MUST_CHECK;
/* The first column of the first row; *found (may be NULL, then no row is FT_INTERNAL). */
ft_status ft_sql_number(ft_sql *sql, int64_t *value, bool *found, ft_error *err, const char *text,
                        const char *format, ...) FT_MUST_CHECK;
/* Runs a text of statements without arguments or rows. */
ft_status ft_sql_script(ft_sql *sql, const char *script, ft_error *err) FT_MUST_CHECK;

/* What SQLite said last. FT_FULL: the disk is full; else FT_IO, "<what>: <its message>". */
ft_status ft_sql_failed(const ft_sql *sql, const char *what, ft_error *err);

/* Resets every statement: ends the reads that a failing request left open. */
void ft_sql_reset(ft_sql *sql);
/* The same for one that went well. FT_IO: the memory for a column's text was not to be had since
 * the last reset (ft_sql_text was "" then). */
ft_status ft_sql_end(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
bool ft_sql_in_transaction(const ft_sql *sql);

/* A column as text, "" when null; valid until the next step. */
const char *ft_sql_text(sqlite3_stmt *statement, int column);
bool ft_sql_null(sqlite3_stmt *statement, int column);
int64_t ft_sql_int(sqlite3_stmt *statement, int column);

#endif
