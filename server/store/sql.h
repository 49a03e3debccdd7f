/* SQL in the store's terms: a connection to a database, prepared statements found again by their
 * text, and arguments bound by a format. For server/store alone; all functions run on the store's
 * thread (or before it starts).
 *
 * A driver (sqlite/, postgres/) does what differs between databases. Statements are written in what
 * both databases understand: parameters are ?1, ?2, ..., truth values as arguments are compared
 * with 0. Where they must differ, both texts stand side by side in FT_DIALECTS. */
#ifndef FT_STORE_SQL_H
#define FT_STORE_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define FT_SQL_STATEMENTS 256
#define FT_SQL_ARGUMENTS  24 /* of a statement, at most */

/* One literal of two texts: the first byte says so, a zero byte stands between them. */
#define FT_DIALECTS(sqlite, postgres) "\1" sqlite "\0" postgres

typedef struct ft_sql ft_sql;
typedef struct ft_statement ft_statement;
typedef struct ft_listener ft_listener;
struct ft_cache;

/* An argument: kind i (number), t (text), b (bytes) or n (null). */
typedef struct ft_value {
    char kind;
    int64_t number;
    const void *bytes;
    size_t length;
} ft_value;

/* Functions that fail set err; FT_IO: the database failed, FT_FULL: its disk is full. */
typedef struct ft_driver {
    bool shared; /* other processes write to the database too */
    ft_status (*open)(ft_sql *sql, const char *place, ft_error *err);
    /* The same where there must be one (FT_NOT_FOUND). */
    ft_status (*open_existing)(ft_sql *sql, const char *place, ft_error *err);
    ft_status (*reconnect)(ft_sql *sql, ft_error *err); /* of a shared one */
    void (*close)(ft_sql *sql);                         /* accepts one that failed to open */
    void (*cut)(ft_sql *sql); /* of a shared one, from any thread: nothing waits for an answer */
    /* text: this driver's of FT_DIALECTS. format: the kinds of the arguments. */
    ft_status (*prepare)(ft_sql *sql, const char *text, const char *format,
                         ft_statement **statement, ft_error *err);
    ft_status (*bind)(ft_sql *sql, ft_statement *statement, const ft_value *values, size_t count,
                      ft_error *err);
    ft_status (*step)(ft_sql *sql, ft_statement *statement, bool *row, ft_error *err);
    /* Runs a statement whose rows and changes nobody asks for; its failure may come later, with
     * that of another one, from settle at the latest. Both NULL: step is as good. */
    ft_status (*run)(ft_sql *sql, ft_statement *statement, ft_error *err);
    ft_status (*settle)(ft_sql *sql, ft_error *err);
    int64_t (*changed)(ft_sql *sql, const ft_statement *statement);
    void (*reset)(ft_sql *sql, ft_statement *statement);
    void (*finalize)(ft_statement *statement);
    ft_status (*script)(ft_sql *sql, const char *script, ft_error *err);
    ft_status (*failed)(const ft_sql *sql, const char *what, ft_error *err);
    bool (*in_transaction)(const ft_sql *sql);
    void (*rollback)(ft_sql *sql); /* also of a transaction that failed */
    /* The schema's version; raising it is part of a migration's transaction. */
    ft_status (*version)(ft_sql *sql, int64_t *version, ft_error *err);
    ft_status (*migrate)(ft_sql *sql, ft_error *err);                  /* ft_store_migrate */
    ft_status (*check)(ft_sql *sql, const char *place, ft_error *err); /* its own of its files */
    int64_t (*now)(ft_sql *sql);
    const char *(*text)(ft_statement *statement, int column);
    bool (*null)(ft_statement *statement, int column);
    int64_t (*integer)(ft_statement *statement, int column);
    const void *(*bytes)(ft_statement *statement, int column, size_t *length);
    /* Of a shared one: calls heard, on a thread of its own, with each text of pg_notify, and with
     * NULL where some may have been missed, first of all. unlisten accepts NULL. */
    ft_status (*listen)(const char *address, void (*heard)(void *data, const char *text),
                        void *data, ft_listener **listener, ft_error *err);
    void (*unlisten)(ft_listener *listener);
} ft_driver;

/* Of a database that others write to: what the last failure means. */
typedef enum ft_sql_fault {
    FT_SQL_SOUND,
    FT_SQL_LOST,    /* the connection; after a commit was sent, nobody knows what became of it */
    FT_SQL_CONFLICT /* with another transaction: the same again may succeed */
} ft_sql_fault;

extern const ft_driver ft_driver_sqlite, ft_driver_postgres;

/* The head of each driver's own. */
struct ft_statement {
    ft_sql *sql;
};

struct ft_sql {
    const ft_driver *driver;
    void *connection; /* the driver's */
    struct {
        const char *text; /* a string literal */
        ft_statement *statement;
    } cache[FT_SQL_STATEMENTS];
    size_t cached;
    int64_t epoch;         /* of this run: the upper half of its fencing tokens */
    int64_t token;         /* the last fencing token given out */
    struct ft_cache *kept; /* parts of traces (cache.h); NULL: none */
    struct {
        uint64_t fetched; /* from the database */
        uint64_t kept;    /* copies used instead */
        uint64_t damaged; /* copies that were not used */
    } parts;              /* of traces and programs, since start */
    int64_t mark;         /* of the last transaction that wrote; see node.h */
    int64_t ahead;        /* milliseconds of a shared database's clock before the monotonic one */
    ft_sql_fault fault;
    bool refused; /* its schema is newer than this program */
    bool lost;    /* a column's text, for want of memory; see ft_sql_end */
};

/* Opens the database at a place: a file, or postgresql://... FT_IO: not usable, or no database.
 * FT_USAGE: the address is malformed, or has a password. */
ft_status ft_sql_open(ft_sql *sql, const char *place, ft_error *err) FT_MUST_CHECK;
/* The same where there must be one (FT_NOT_FOUND), as it is. */
ft_status ft_sql_open_existing(ft_sql *sql, const char *place, ft_error *err) FT_MUST_CHECK;
/* The schema's version; brings it up to this program's (FT_UNSUPPORTED: it is newer). */
ft_status ft_sql_version(ft_sql *sql, int64_t *version, ft_error *err) FT_MUST_CHECK;
ft_status ft_sql_migrate(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
void ft_sql_close(ft_sql *sql); /* accepts one that failed to open */
/* Forgets the prepared statements, as their connection is gone. */
void ft_sql_forget(ft_sql *sql);

/* Whether a place is the address of a PostgreSQL database. */
bool ft_sql_is_address(const char *place);

/* The statement of `text` (a literal), reset, with its parameters ?1, ?2, ... bound to the
 * arguments that `format` lists: i int64_t, t const char * (NULL: null), s const char * and size_t,
 * b const void * and size_t, B the same (length 0: null).
 * Texts and bytes must stay until the statement is done. */
ft_status ft_sql_start(ft_sql *sql, ft_statement **statement, ft_error *err, const char *text,
                       const char *format, ...) FT_MUST_CHECK;
/* The same with arguments as values, of these kinds or null; `text` must stay, and not change,
 * until ft_sql_forget. */
ft_status ft_sql_start_values(ft_sql *sql, ft_statement **statement, ft_error *err,
                              const char *text, const char *format,
                              const ft_value *values) FT_MUST_CHECK;
/* *row: whether there is one (else the statement is reset). */
ft_status ft_sql_next(ft_sql *sql, ft_statement *statement, bool *row, ft_error *err) FT_MUST_CHECK;
/* Runs a statement that gives no rows; *changed (may be NULL) is the number of rows it changed. In
 * a transaction, with NULL, its failure may come from a later statement (ft_driver, run). */
ft_status ft_sql_run(ft_sql *sql, int64_t *changed, ft_error *err, const char *text,
                     const char *format, ...) FT_MUST_CHECK;
/* The first column of the first row; *found (may be NULL, then no row is FT_INTERNAL). */
ft_status ft_sql_number(ft_sql *sql, int64_t *value, bool *found, ft_error *err, const char *text,
                        const char *format, ...) FT_MUST_CHECK;
/* Runs a text of statements without arguments or rows. */
ft_status ft_sql_script(ft_sql *sql, const char *script, ft_error *err) FT_MUST_CHECK;

/* The database's last error. FT_FULL: the disk is full; else FT_IO, "<what>: <its message>". */
ft_status ft_sql_failed(const ft_sql *sql, const char *what, ft_error *err);

/* A transaction that writes: in SQLite nobody else writes meanwhile. */
ft_status ft_sql_begin(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
/* One that reads, all of it as of one moment. */
ft_status ft_sql_begin_reading(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
/* Until the transaction ends nobody else has this lock: what is counted stays as it is. Nothing
 * where nobody else writes anyway. */
ft_status ft_sql_lock(ft_sql *sql, const char *what, const char *name, ft_error *err) FT_MUST_CHECK;
ft_status ft_sql_commit(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
void ft_sql_rollback(ft_sql *sql); /* nothing without a transaction */

/* Waits for the outcome of all that was run: its failure, or FT_OK. */
ft_status ft_sql_settle(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
/* Resets every statement: ends the reads that a failing request left open. */
void ft_sql_reset(ft_sql *sql);
/* The same for one that went well. FT_IO: the memory for a column's text was not to be had since
 * the last reset (ft_sql_text was "" then). */
ft_status ft_sql_end(ft_sql *sql, ft_error *err) FT_MUST_CHECK;
bool ft_sql_in_transaction(const ft_sql *sql);

/* Milliseconds since 1970 by the clock that all users of the database share: its own, or the
 * machine's where nobody else uses it. */
int64_t ft_sql_now(ft_sql *sql);

/* A column as text, "" when null; valid until the next step. */
const char *ft_sql_text(ft_statement *statement, int column);
bool ft_sql_null(ft_statement *statement, int column);
int64_t ft_sql_int(ft_statement *statement, int column); /* a truth value: 0 or 1 */
/* As bytes, NULL when null; likewise. */
const void *ft_sql_bytes(ft_statement *statement, int column, size_t *length);

#endif
