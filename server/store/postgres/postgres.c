/* The driver: one connection, prepared statements, results as text.
 *
 * Statements are sent in libpq's pipeline mode: those of which nobody asks anything are not waited
 * for. Their outcome is read with that of the next one whose rows or number of changes are wanted,
 * at the end of a request, and before a commit: in a transaction what fails makes the rest of it
 * fail as well. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/contract.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "store/migrations.h"
#include "store/postgres/link.h"

/* Types of arguments and results (catalog/pg_type_d.h). */
#define BYTEA 17
#define INT8  20
#define TEXT  25

typedef struct link {
    PGconn *conn;
    char *address;
    unsigned named; /* statements so far: names are never used twice */
    unsigned sent;  /* statements whose outcome has not been read */
    ft_socket *socket;
    ft_strbuf message;
} link;

typedef struct prepared {
    ft_statement head;
    char name[16];
    Oid types[FT_SQL_ARGUMENTS];
    int arguments;
    PGresult *result; /* NULL: not run since its arguments were bound */
    int row;          /* the one that is read */
    int64_t changed;
    bool begins, commits;
    char numbers[FT_SQL_ARGUMENTS][24];
    const char *values[FT_SQL_ARGUMENTS];
    int lengths[FT_SQL_ARGUMENTS], formats[FT_SQL_ARGUMENTS];
    unsigned char *bytes[FT_SQL_ARGUMENTS]; /* of columns, to be freed */
} prepared;

static link *link_of(const ft_sql *sql)
{
    return sql->connection;
}

static int64_t monotonic_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Classes and codes of errors after which the same may succeed: on the same connection, or on
 * another one. */
static const struct {
    const char *state;
    ft_sql_fault fault;
} FAULTS[] = {
    {"40001", FT_SQL_CONFLICT}, {"40P01", FT_SQL_CONFLICT}, {"23505", FT_SQL_CONFLICT},
    {"23503", FT_SQL_CONFLICT}, {"55P03", FT_SQL_CONFLICT}, {"25P03", FT_SQL_LOST},
    {"25006", FT_SQL_LOST},     {"57P", FT_SQL_LOST},       {"08", FT_SQL_LOST},
};
/* Of a failure of libpq itself, such as for want of memory: what it has read of the answers is not
 * known, whatever it says of the connection. */
#define CLIENT_FAILED "08000"

static ft_sql_fault fault_of(const PGconn *conn, const char *state)
{
    if (PQstatus(conn) != CONNECTION_OK) return FT_SQL_LOST;
    for (size_t i = 0; state && i < sizeof FAULTS / sizeof *FAULTS; i++)
        if (strncmp(state, FAULTS[i].state, strlen(FAULTS[i].state)) == 0) return FAULTS[i].fault;
    return FT_SQL_SOUND;
}

/* Keeps the message: the first line, as the others may quote arguments. */
static void note(ft_sql *sql, const char *message, const char *state)
{
    link *l = link_of(sql);
    ft_strbuf_clear(&l->message);
    ft_strbuf_add(&l->message, message, strcspn(message, "\n"));
    if (l->message.len == 0) ft_strbuf_puts(&l->message, "libpq gives no reason (out of memory?)");
    if (state && strncmp(state, "53100", 5) == 0) ft_strbuf_puts(&l->message, " (disk full)");
    ft_sql_fault fault = fault_of(l->conn, state);
    if (sql->fault != FT_SQL_LOST && fault != FT_SQL_SOUND) sql->fault = fault;
}

static ft_status failed(const ft_sql *sql, const char *what, ft_error *err)
{
    const char *message = ft_strbuf_text(&link_of(sql)->message);
    bool full = strstr(message, "(disk full)") != NULL;
    return ft_error_set(err, full ? FT_FULL : FT_IO, "%s: %s", what, message);
}

static ft_status refuse(ft_sql *sql, PGresult *result, ft_error *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    note(sql, primary ? primary : PQerrorMessage(link_of(sql)->conn),
         state ? state : CLIENT_FAILED);
    PQclear(result);
    return failed(sql, "the store failed", err);
}

static bool is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* ---- The pipeline ---------------------------------------------------------------------------- */

#define SENT_MOST 256 /* statements: neither side's buffers must fill up */

static ft_status lost(ft_sql *sql, ft_error *err)
{
    link *l = link_of(sql);
    l->sent = 0;
    note(sql, PQerrorMessage(l->conn), CLIENT_FAILED);
    return failed(sql, "the store failed", err);
}

/* The result of one statement, and the end of its results. */
static PGresult *next_result(PGconn *conn)
{
    PGresult *result = PQgetResult(conn), *end;
    while (result && (end = PQgetResult(conn)) != NULL) PQclear(end);
    return result;
}

/* The first failure is the reason for the others. */
static ft_status read_sent(ft_sql *sql, PGresult **last, ft_error *err)
{
    link *l = link_of(sql);
    ft_status status = FT_OK;
    *last = NULL;
    for (; l->sent > 0; l->sent--) {
        PGresult *result = next_result(l->conn);
        if (!result) return status == FT_OK ? lost(sql, err) : status;
        bool good = is_good(result);
        if (status == FT_OK && !good) {
            status = refuse(sql, result, err);
            continue;
        }
        if (l->sent == 1 && good && status == FT_OK)
            *last = result;
        else
            PQclear(result);
    }
    return status;
}

/* Reads what is behind; *last is the outcome of the last statement. */
static ft_status catch_up(ft_sql *sql, PGresult **last, ft_error *err)
{
    link *l = link_of(sql);
    *last = NULL;
    if (l->sent == 0) return FT_OK;
    if (!PQpipelineSync(l->conn)) return lost(sql, err);
    ft_status status = read_sent(sql, last, err);
    PGresult *end = PQgetResult(l->conn);
    if (PQresultStatus(end) != PGRES_PIPELINE_SYNC && status == FT_OK) {
        PQclear(*last);
        *last = NULL;
        status = lost(sql, err);
    }
    PQclear(end);
    l->sent = 0;
    return status;
}

static ft_status settle(ft_sql *sql, ft_error *err)
{
    PGresult *last;
    ft_status status = catch_up(sql, &last, err);
    PQclear(last);
    return status;
}

/* For what the pipeline has no room for. A failure of what was sent before counts as its own. */
static ft_status leave_pipeline(ft_sql *sql, ft_error *err)
{
    link *l = link_of(sql);
    if (PQpipelineStatus(l->conn) == PQ_PIPELINE_OFF) return FT_OK;
    ft_status status = settle(sql, err);
    if (!PQexitPipelineMode(l->conn) && status == FT_OK) return lost(sql, err);
    return status;
}

static ft_status script(ft_sql *sql, const char *text, ft_error *err)
{
    ft_status status = leave_pipeline(sql, err);
    if (status != FT_OK) return status;
    PGresult *result = PQexec(link_of(sql)->conn, text);
    if (!is_good(result)) return refuse(sql, result, err);
    PQclear(result);
    return FT_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void ignore_notice(void *data, const char *message)
{
    (void)data;
    (void)message;
}

/* Refuses an address with a password: lists of processes and logs would show it. */
static ft_status check_address(const char *address, ft_error *err)
{
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(address, &why);
    if (!options) {
        ft_error_set(err, FT_USAGE,
                     "the address of the database is malformed: use "
                     "postgresql://USER@HOST/DATABASE");
        PQfreemem(why);
        return FT_USAGE;
    }
    bool secret = false;
    for (const PQconninfoOption *o = options; o->keyword; o++)
        secret = secret || (o->val && strstr(o->keyword, "password") == o->keyword);
    PQconninfoFree(options);
    if (!secret) return FT_OK;
    return ft_error_set(err, FT_USAGE,
                        "the address of the database has a password: put it into a password file "
                        "(PGPASSFILE) or a service file (PGSERVICEFILE)");
}

/* PGPASSWORD, which workers must not inherit. Set before there are threads. */
static char *password;

static void take_password(void)
{
    char *value = getenv("PGPASSWORD");
    if (!value || !*value) return;
    free(password);
    password = ft_strdup(value);
    memset(value, 0, strlen(value)); /* /proc shows it too */
    unsetenv("PGPASSWORD");
}

/* A partition must not look like a slow database for long. The address overrides these. */
PGconn *ft_postgres_dial(const char *address)
{
    const struct {
        const char *key, *value;
    } settings[] = {
        {"connect_timeout", "5"},    {"tcp_user_timeout", "10000"},
        {"keepalives_idle", "5"},    {"keepalives_interval", "2"},
        {"keepalives_count", "3"},   {"fallback_application_name", "foretelld"},
        {"password", password},      {"dbname", address},
        {"client_encoding", "UTF8"},
    };
    enum { COUNT = sizeof settings / sizeof *settings };
    const char *keys[COUNT + 1] = {NULL}, *values[COUNT + 1] = {NULL};
    for (size_t i = 0; i < COUNT; i++) {
        keys[i] = settings[i].key;
        values[i] = settings[i].value;
    }
    return PQconnectdbParams(keys, values, 1);
}

/* An answered request is durable, whatever the database's default. A node that was stopped in a
 * transaction must not hold its locks for ever. */
static const char SESSION[] =
    "SET client_min_messages = error; SET bytea_output = hex; SET standard_conforming_strings = on;"
    "SET idle_in_transaction_session_timeout = 10000; SET lock_timeout = 30000;"
    "SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'";

static ft_status read_clock(ft_sql *sql, ft_error *err)
{
    int64_t now = 0, before = monotonic_ms();
    ft_status status = ft_sql_number(
        sql, &now, NULL, err, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint", "");
    if (status == FT_OK) sql->ahead = now - before;
    return status;
}

static void cut(ft_sql *sql)
{
    ft_socket_cut(link_of(sql)->socket);
}

static ft_status connect_now(ft_sql *sql, ft_error *err)
{
    link *l = link_of(sql);
    ft_sql_forget(sql);
    ft_socket_set(l->socket, -1);
    PQfinish(l->conn);
    l->conn = ft_postgres_dial(l->address);
    l->sent = 0;
    ft_socket_set(l->socket, PQsocket(l->conn));
    if (PQstatus(l->conn) != CONNECTION_OK) {
        note(sql, PQerrorMessage(l->conn), NULL);
        return failed(sql, "cannot connect to the database", err);
    }
    PQsetNoticeProcessor(l->conn, ignore_notice, NULL);
    ft_status status = script(sql, SESSION, err);
    return status == FT_OK ? read_clock(sql, err) : status;
}

static ft_status open_address(ft_sql *sql, const char *address, ft_error *err)
{
    ft_status status = check_address(address, err);
    if (status != FT_OK) return status;
    link *l = ft_calloc(1, sizeof *l);
    take_password();
    l->address = ft_strdup(address);
    l->socket = ft_socket_new();
    sql->connection = l;
    return connect_now(sql, err);
}

static ft_status reconnect(ft_sql *sql, ft_error *err)
{
    return connect_now(sql, err);
}

static void close_link(ft_sql *sql)
{
    link *l = link_of(sql);
    if (!l) return;
    ft_socket_set(l->socket, -1);
    PQfinish(l->conn);
    ft_socket_free(l->socket);
    free(l->address);
    ft_strbuf_release(&l->message);
    free(l);
    sql->connection = NULL;
}

/* ---- The schema ------------------------------------------------------------------------------ */

static bool in_transaction(const ft_sql *sql)
{
    PGTransactionStatusType status = PQtransactionStatus(link_of(sql)->conn);
    bool began = link_of(sql)->sent > 0 && status != PQTRANS_UNKNOWN;
    return began || status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

/* Where that fails, a new connection must do it: the next commit would commit what should go. */
static void roll_back(ft_sql *sql)
{
    ft_error err = FT_ERROR_INIT;
    PGconn *conn = link_of(sql)->conn;
    (void)!leave_pipeline(sql, &err);
    if (in_transaction(sql)) PQclear(PQexec(conn, "ROLLBACK"));
    if (PQtransactionStatus(conn) != PQTRANS_IDLE) (void)!lost(sql, &err);
}

static ft_status read_version(ft_sql *sql, int64_t *version, ft_error *err)
{
    int64_t there = 0;
    *version = 0;
    ft_status status = ft_sql_number(sql, &there, NULL, err,
                                     "SELECT to_regclass('schema_version') IS NOT NULL", "");
    if (status != FT_OK || !there) return status;
    return ft_sql_number(sql, version, NULL, err, "SELECT version FROM schema_version", "");
}

static ft_status apply_from(ft_sql *sql, int64_t version, ft_error *err)
{
    ft_status status = FT_OK;
    int64_t next = version < FT_POSTGRES_FIRST ? FT_POSTGRES_FIRST : version + 1;
    for (int64_t i = next; i <= ft_migration_count() && status == FT_OK; i++)
        status = script(sql, ft_postgres_migrations[i - FT_POSTGRES_FIRST], err);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "UPDATE schema_version SET version = ?1", "i",
                      (int64_t)ft_migration_count());
}

/* Nodes that start together wait for the first of them. */
static ft_status migrate(ft_sql *sql, ft_error *err)
{
    int64_t version = 0;
    ft_status status = ft_sql_begin(sql, err);
    if (status == FT_OK) status = ft_sql_lock(sql, "schema", "foretell", err);
    if (status == FT_OK) status = read_version(sql, &version, err);
    if (status == FT_OK && version > ft_migration_count())
        status = ft_migration_refused(version, err);
    if (status == FT_OK && version < ft_migration_count()) status = apply_from(sql, version, err);
    if (status == FT_OK) return ft_sql_commit(sql, err);
    ft_sql_rollback(sql);
    return status;
}

/* Its pages are the database's own matter. */
static ft_status check(ft_sql *sql, const char *place, ft_error *err)
{
    (void)sql;
    (void)place;
    (void)err;
    return FT_OK;
}

/* ---- Statements ------------------------------------------------------------------------------ */

static prepared *of(ft_statement *statement)
{
    return (prepared *)statement;
}

static void reset(ft_sql *sql, ft_statement *statement)
{
    prepared *p = of(statement);
    (void)sql;
    if (!p->result) return;
    for (int i = 0; i < FT_SQL_ARGUMENTS; i++) {
        PQfreemem(p->bytes[i]);
        p->bytes[i] = NULL;
    }
    PQclear(p->result);
    p->result = NULL;
}

/* ?1 is $1 here. */
static void translate(const char *text, ft_strbuf *out)
{
    for (const char *at = text; *at; at++) {
        bool parameter = *at == '?' && at[1] >= '1' && at[1] <= '9';
        ft_strbuf_add(out, parameter ? "$" : at, 1);
    }
}

static Oid type_of(char kind)
{
    return kind == 'i' ? INT8 : kind == 'b' || kind == 'B' ? BYTEA : TEXT;
}

static ft_status prepare(ft_sql *sql, const char *text, const char *format,
                         ft_statement **statement, ft_error *err)
{
    link *l = link_of(sql);
    ft_strbuf own = {0};
    prepared *p = ft_calloc(1, sizeof *p);
    snprintf(p->name, sizeof p->name, "s%u", l->named++);
    p->arguments = (int)strlen(format);
    ft_status status = leave_pipeline(sql, err);
    if (status != FT_OK) {
        free(p);
        return status;
    }
    p->commits = strcmp(text, "COMMIT") == 0;
    p->begins = strncmp(text, "BEGIN", 5) == 0;
    for (int i = 0; i < p->arguments; i++) p->types[i] = type_of(format[i]);
    translate(text, &own);
    PGresult *result = PQprepare(l->conn, p->name, own.text, p->arguments, p->types);
    ft_strbuf_release(&own);
    if (!is_good(result)) {
        free(p);
        return refuse(sql, result, err);
    }
    PQclear(result);
    *statement = &p->head;
    return FT_OK;
}

static void finalize(ft_statement *statement)
{
    reset(NULL, statement);
    free(statement);
}

static void bind_one(prepared *p, int index, const ft_value *value)
{
    p->formats[index] = value->kind == 'b';
    p->lengths[index] = (int)value->length;
    p->values[index] = value->bytes;
    if (value->kind == 'n') p->values[index] = NULL;
    if (value->kind != 'i') return;
    snprintf(p->numbers[index], sizeof p->numbers[index], "%lld", (long long)value->number);
    p->values[index] = p->numbers[index];
}

/* libpq takes texts with a zero byte at their end: those that lack it are handed over as binary,
 * which for a text is the same bytes. */
static ft_status bind(ft_sql *sql, ft_statement *statement, const ft_value *values, size_t count,
                      ft_error *err)
{
    (void)sql;
    (void)err;
    prepared *p = of(statement);
    assert((int)count == p->arguments);
    for (size_t i = 0; i < count; i++) {
        bind_one(p, (int)i, &values[i]);
        if (values[i].kind == 't') p->formats[i] = 1;
    }
    return FT_OK;
}

static ft_status dispatch(ft_sql *sql, const prepared *p, ft_error *err)
{
    link *l = link_of(sql);
    ft_status status = l->sent >= SENT_MOST ? settle(sql, err) : FT_OK;
    if (status != FT_OK) return status;
    bool on = PQpipelineStatus(l->conn) != PQ_PIPELINE_OFF || PQenterPipelineMode(l->conn);
    if (!on ||
        !PQsendQueryPrepared(l->conn, p->name, p->arguments, p->values, p->lengths, p->formats, 0))
        return lost(sql, err);
    l->sent++;
    return FT_OK;
}

static ft_status execute(ft_sql *sql, prepared *p, ft_error *err)
{
    PGresult *result;
    ft_status status = dispatch(sql, p, err);
    if (status == FT_OK) status = catch_up(sql, &result, err);
    if (status != FT_OK) return status;
    /* A transaction that failed is not committed, which is no error to the database. */
    if (p->commits && strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        PQclear(result);
        note(sql, "the transaction was rolled back", NULL);
        return failed(sql, "the store failed", err);
    }
    p->result = result;
    p->row = -1;
    p->changed = strtoll(PQcmdTuples(result), NULL, 10);
    return FT_OK;
}

/* The result is not used. Outside of a transaction the statement is done when this returns. */
static ft_status run(ft_sql *sql, ft_statement *statement, ft_error *err)
{
    prepared *p = of(statement);
    if (!p->commits && (p->begins || in_transaction(sql))) return dispatch(sql, p, err);
    ft_status status = execute(sql, p, err);
    reset(sql, statement);
    return status;
}

static ft_status step(ft_sql *sql, ft_statement *statement, bool *row, ft_error *err)
{
    prepared *p = of(statement);
    ft_status status = p->result ? FT_OK : execute(sql, p, err);
    if (status != FT_OK) return status;
    for (int i = 0; i < FT_SQL_ARGUMENTS; i++) {
        PQfreemem(p->bytes[i]);
        p->bytes[i] = NULL;
    }
    *row = ++p->row < PQntuples(p->result);
    return FT_OK;
}

static int64_t changed(ft_sql *sql, const ft_statement *statement)
{
    (void)sql;
    return ((const prepared *)statement)->changed;
}

static int64_t now(ft_sql *sql)
{
    return monotonic_ms() + sql->ahead;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static const char *text_of(ft_statement *statement, int column)
{
    const prepared *p = of(statement);
    return PQgetvalue(p->result, p->row, column);
}

static bool is_null(ft_statement *statement, int column)
{
    const prepared *p = of(statement);
    return PQgetisnull(p->result, p->row, column) != 0;
}

static int64_t integer_of(ft_statement *statement, int column)
{
    const char *text = text_of(statement, column);
    return *text == 't' ? 1 : strtoll(text, NULL, 10);
}

static const void *bytes_of(ft_statement *statement, int column, size_t *length)
{
    prepared *p = of(statement);
    *length = 0;
    if (is_null(statement, column)) return NULL;
    if (PQftype(p->result, column) != BYTEA) {
        *length = (size_t)PQgetlength(p->result, p->row, column);
        return text_of(statement, column);
    }
    assert(column < FT_SQL_ARGUMENTS);
    PQfreemem(p->bytes[column]);
    p->bytes[column] = PQunescapeBytea((const unsigned char *)text_of(statement, column), length);
    if (!p->bytes[column]) statement->sql->lost = true;
    return p->bytes[column];
}

const ft_driver ft_driver_postgres = {
    .shared = true,
    .open = open_address,
    .open_existing = open_address,
    .reconnect = reconnect,
    .close = close_link,
    .cut = cut,
    .prepare = prepare,
    .bind = bind,
    .step = step,
    .run = run,
    .settle = settle,
    .changed = changed,
    .reset = reset,
    .finalize = finalize,
    .script = script,
    .failed = failed,
    .in_transaction = in_transaction,
    .rollback = roll_back,
    .version = read_version,
    .migrate = migrate,
    .check = check,
    .now = now,
    .text = text_of,
    .null = is_null,
    .integer = integer_of,
    .bytes = bytes_of,
    .listen = ft_postgres_listen,
    .unlisten = ft_postgres_unlisten,
};
