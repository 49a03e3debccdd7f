#include "store/move.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/internal.h"

#define ROWS      500 /* in a transaction */
#define COLUMNS   24  /* of a table, at most */
#define IN_USE_MS 15000
#define SQLITE    "sqlite:"

/* ---- Tables ---------------------------------------------------------------------------------- */

/* In an order in which no row refers to a later one. Columns with their kinds (ft_value); the first
 * `keys` are the key, in whose order rows are read. `n` of traces is SQLite's rowid. */
typedef struct table {
    const char *name;
    int keys;
    const char *columns;
    const char *numbered; /* the column that the database counts up; NULL: none */
} table;

static const table TABLES[] = {
    {"blobs", 1, "id i,created i", "id"},
    {"blob_chunks", 1, "id i,blob i,seq i,data b,digest t", "id"},
    {"traces", 1, "n i,hash t,blob i,meta t,bytes i,stored_bytes i,created i", "n"},
    {"trace_projects", 2, "trace t,project t", NULL},
    {"trace_summaries", 1, "trace t,version i,summary t,created i", NULL},
    {"jobs", 1,
     "n i,id t,trace t,name t,spec t,state t,model t,plan t,error t,tasks i,open i,ready i,"
     "verdicts i,revision i,created i,updated i,finished i,project t,priority i,spent_ms i,"
     "dropped i,next i,last i",
     "n"},
    {"entries", 1, "id i,list t", NULL},
    {"cubes", 1, "id i,parent i,cube t,verdict t,record t", NULL},
    {"explorations", 1, "job i,round i,made i,open i,done i,state t", NULL},
    {"subtrees", 1, "id i,name t", NULL},
    {"schedule_sets", 1, "job i,text t", NULL},
    {"explored_keys", 2, "job i,key t", NULL},
    {"leases", 1, "token i,job i,low i,high i,open i,expires i", NULL},
    {"tasks", 1, "id i,state t,token i,attempts i,alone i,due i,dropped i", NULL},
    {"verdicts", 1,
     "id i,job i,n i,task i,check t,verdict t,property i,count i,pairs i,created i,record t,"
     "fingerprint t,witness b",
     "id"},
    {"tallies", 3, "job t,check t,verdict t,count i,solved i,sliced i,encoded i,records i", NULL},
    {"deaths", 1, "id i,job t,task i,attempt i,at i,worker i,pid i,death t,message t,log t", "id"},
    {"reviews", 1,
     "id i,project t,fingerprint t,state t,reason t,check t,message t,first_seen i,first_job t,"
     "last_seen i,last_job t,jobs i",
     "id"},
    {"tokens", 1,
     "id t,hash t,name t,scopes t,projects t,rate i,max_upload i,created i,expires i,revoked i",
     NULL},
    {"audit", 1, "id i,at i,token t,peer t,action t,outcome t", "id"},
    {"idempotency_keys", 2, "project t,key t,body t,job t,created i", NULL},
    {"project_limits", 1,
     "project t,jobs i,workers i,bytes i,seconds i,memory_mb i,retain_days i,retain_bytes i", NULL},
    {"project_usage", 2, "project t,day i,ms i", NULL},
    {"webhooks", 1, "project t,url t,secret t,created i,changed i", NULL},
    {"job_webhooks", 1, "job t,url t", NULL},
    {"deliveries", 1,
     "n i,id t,job t,project t,url t,body t,state t,attempts i,due i,status i,error t,created i,"
     "ended i",
     "n"},
};
#define TABLE_COUNT (sizeof TABLES / sizeof *TABLES)

/* A database and its statements for one table. */
typedef struct side {
    ft_sql sql;
    int lock; /* of its state folder; -1: none */
    ft_strbuf select, first, last, insert;
} side;

/* The columns read of a row. */
typedef struct row {
    ft_value values[COLUMNS];
    char *copies[COLUMNS];
} row;

typedef struct columns {
    char names[COLUMNS][32], kinds[COLUMNS + 1];
    int count;
} columns;

static columns columns_of(const table *t)
{
    columns c = {.count = 0};
    for (const char *at = t->columns; *at;) {
        size_t length = strcspn(at, " ");
        assert(c.count < COLUMNS && length < sizeof c.names[0]);
        snprintf(c.names[c.count], sizeof c.names[0], "%.*s", (int)length, at);
        c.kinds[c.count++] = at[length + 1];
        at += length + 2;
        at += *at == ',';
    }
    return c;
}

static bool is_rowid(const side *s, const table *t, int column)
{
    return !s->sql.driver->shared && column == 0 && strcmp(t->name, "traces") == 0;
}

static void put_name(const side *s, const table *t, const columns *c, int i, ft_strbuf *out)
{
    ft_strbuf_printf(out, is_rowid(s, t, i) ? "rowid" : "\"%s\"", c->names[i]);
}

static void put_names(const side *s, const table *t, const columns *c, int count, bool ordered,
                      ft_strbuf *out)
{
    for (int i = 0; i < count; i++) {
        if (i > 0) ft_strbuf_puts(out, ", ");
        put_name(s, t, c, i, out);
        /* Bytes decide, as they do in SQLite. */
        if (ordered && c->kinds[i] == 't' && s->sql.driver->shared)
            ft_strbuf_puts(out, " COLLATE \"C\"");
    }
}

static void put_parameters(int count, ft_strbuf *out)
{
    for (int i = 0; i < count; i++) ft_strbuf_printf(out, "%s?%d", i > 0 ? ", " : "", i + 1);
}

/* select: behind a key; first: from the beginning; last: the greatest key. */
static void prepare_side(side *s, const table *t, const columns *c)
{
    ft_strbuf names = {0}, keys = {0};
    put_names(s, t, c, c->count, false, &names);
    put_names(s, t, c, t->keys, true, &keys);
    ft_strbuf_printf(&s->first, "SELECT %s FROM %s ORDER BY %s LIMIT %d", names.text, t->name,
                     keys.text, ROWS);
    ft_strbuf_printf(&s->select, "SELECT %s FROM %s WHERE (%s) > (", names.text, t->name,
                     keys.text);
    put_parameters(t->keys, &s->select);
    ft_strbuf_printf(&s->select, ") ORDER BY %s LIMIT %d", keys.text, ROWS);
    ft_strbuf_printf(&s->insert, "INSERT INTO %s (%s) VALUES (", t->name, names.text);
    put_parameters(c->count, &s->insert);
    ft_strbuf_puts(&s->insert, ")");
    ft_strbuf_printf(&s->last, "SELECT %s FROM %s ORDER BY ", names.text, t->name);
    for (int i = 0; i < t->keys; i++) {
        if (i > 0) ft_strbuf_puts(&s->last, ", ");
        put_name(s, t, c, i, &s->last);
        bool text = c->kinds[i] == 't' && s->sql.driver->shared;
        ft_strbuf_puts(&s->last, text ? " COLLATE \"C\" DESC" : " DESC");
    }
    ft_strbuf_puts(&s->last, " LIMIT 1");
    ft_strbuf_release(&names);
    ft_strbuf_release(&keys);
}

/* The statements go before their texts do. */
static void release_side(side *s)
{
    ft_sql_forget(&s->sql);
    ft_strbuf_release(&s->select);
    ft_strbuf_release(&s->first);
    ft_strbuf_release(&s->last);
    ft_strbuf_release(&s->insert);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void free_row(row *r)
{
    for (int i = 0; i < COLUMNS; i++) free(r->copies[i]);
    *r = (row){.copies = {NULL}};
}

static void take_column(ft_statement *statement, int i, char kind, row *r)
{
    ft_value *value = &r->values[i];
    *value = (ft_value){.kind = ft_sql_null(statement, i) ? 'n' : kind};
    if (value->kind == 'n') return;
    if (kind == 'i') {
        value->number = ft_sql_int(statement, i);
        return;
    }
    const void *bytes = ft_sql_bytes(statement, i, &value->length);
    r->copies[i] = ft_alloc(value->length + 1);
    if (value->length > 0) memcpy(r->copies[i], bytes, value->length);
    value->bytes = r->copies[i];
}

static void take_row(ft_statement *statement, const columns *c, row *r)
{
    free_row(r);
    for (int i = 0; i < c->count; i++) take_column(statement, i, c->kinds[i], r);
}

static bool same_value(const ft_value *a, const ft_value *b)
{
    if (a->kind != b->kind) return false;
    if (a->kind == 'n') return true;
    if (a->kind == 'i') return a->number == b->number;
    return a->length == b->length && (a->length == 0 || memcmp(a->bytes, b->bytes, a->length) == 0);
}

/* The rows behind a key (NULL: the first ones). */
static ft_status start_rows(side *s, const table *t, const columns *c, const row *behind,
                            ft_statement **statement, ft_error *err)
{
    char format[COLUMNS + 1];
    if (!behind) return ft_sql_start(&s->sql, statement, err, s->first.text, "");
    snprintf(format, sizeof format, "%.*s", t->keys, c->kinds);
    return ft_sql_start_values(&s->sql, statement, err, s->select.text, format, behind->values);
}

/* ---- Copying --------------------------------------------------------------------------------- */

typedef struct moving {
    side from, to;
    ft_move_report report;
    void *data;
} moving;

/* *more: there may be others behind the last one, which is in `behind`. */
static ft_status copy_some(moving *m, const table *t, const columns *c, row *behind, bool *begun,
                           int64_t *copied, bool *more, ft_error *err)
{
    ft_statement *rows, *insert;
    row its = {.copies = {NULL}}; /* the key that the statement reads from stays in `behind` */
    bool there = true, ignored;
    int count = 0;
    ft_status status = start_rows(&m->from, t, c, *begun ? behind : NULL, &rows, err);
    if (status == FT_OK) status = ft_sql_begin(&m->to.sql, err);
    while (status == FT_OK && there) {
        status = ft_sql_next(&m->from.sql, rows, &there, err);
        if (status != FT_OK || !there) break;
        take_row(rows, c, &its);
        count++;
        status =
            ft_sql_start_values(&m->to.sql, &insert, err, m->to.insert.text, c->kinds, its.values);
        if (status == FT_OK) status = ft_sql_next(&m->to.sql, insert, &ignored, err);
    }
    if (status == FT_OK) status = ft_sql_commit(&m->to.sql, err);
    if (status != FT_OK) ft_sql_rollback(&m->to.sql);
    ft_sql_reset(&m->from.sql);
    if (count > 0) {
        free_row(behind);
        *behind = its;
        *begun = true;
    }
    *copied += count;
    *more = count == ROWS;
    return status;
}

/* Where an earlier run stopped. */
static ft_status find_last(moving *m, const columns *c, row *behind, bool *begun, ft_error *err)
{
    ft_statement *statement;
    ft_status status = ft_sql_start(&m->to.sql, &statement, err, m->to.last.text, "");
    if (status == FT_OK) status = ft_sql_next(&m->to.sql, statement, begun, err);
    if (status == FT_OK && *begun) take_row(statement, c, behind);
    ft_sql_reset(&m->to.sql);
    return status;
}

static ft_status copy_table(moving *m, const table *t, const columns *c, ft_error *err)
{
    row behind = {.copies = {NULL}};
    bool begun = false, more = true;
    int64_t copied = 0;
    ft_status status = find_last(m, c, &behind, &begun, err);
    while (status == FT_OK && more)
        status = copy_some(m, t, c, &behind, &begun, &copied, &more, err);
    free_row(&behind);
    if (status == FT_OK) m->report(m->data, t->name, "copied", copied);
    return status;
}

/* ---- Checking -------------------------------------------------------------------------------- */

static ft_status differs(const table *t, const columns *c, const row *r, ft_error *err)
{
    ft_strbuf key = {0};
    for (int i = 0; i < t->keys; i++) {
        const ft_value *value = &r->values[i];
        ft_strbuf_printf(&key, "%s%s ", i > 0 ? ", " : "", c->names[i]);
        if (value->kind == 'i')
            ft_strbuf_printf(&key, "%lld", (long long)value->number);
        else
            ft_strbuf_printf(&key, "%.64s", (const char *)(value->bytes ? value->bytes : ""));
    }
    ft_status status = ft_error_set(err, FT_IO,
                                    "%s: the row with %s differs: empty the new database and move "
                                    "the store again",
                                    t->name, ft_strbuf_text(&key));
    ft_strbuf_release(&key);
    return status;
}

/* The next rows of both, side by side; *count: of them. */
static ft_status compare_some(moving *m, const table *t, const columns *c, row *a, bool begun,
                              int *count, ft_error *err)
{
    ft_statement *ours, *theirs;
    row b = {.copies = {NULL}}, key = *a; /* which the statements read from */
    bool here = true, there = true;
    *count = 0;
    *a = (row){.copies = {NULL}};
    ft_status status = start_rows(&m->to, t, c, begun ? &key : NULL, &theirs, err);
    if (status == FT_OK) status = start_rows(&m->from, t, c, begun ? &key : NULL, &ours, err);
    while (status == FT_OK) {
        status = ft_sql_next(&m->from.sql, ours, &here, err);
        if (status == FT_OK) status = ft_sql_next(&m->to.sql, theirs, &there, err);
        if (status != FT_OK || (!here && !there)) break;
        if (there) take_row(theirs, c, &b);
        if (here) take_row(ours, c, a);
        ++*count;
        bool same = here == there;
        for (int i = 0; i < c->count && same; i++) same = same_value(&a->values[i], &b.values[i]);
        if (!same) status = differs(t, c, here ? a : &b, err);
    }
    ft_sql_reset(&m->from.sql);
    ft_sql_reset(&m->to.sql);
    free_row(&b);
    free_row(&key);
    return status;
}

static ft_status compare_table(moving *m, const table *t, const columns *c, ft_error *err)
{
    row last = {.copies = {NULL}};
    int64_t compared = 0;
    int count = ROWS;
    ft_status status = FT_OK;
    while (status == FT_OK && count == ROWS) {
        status = compare_some(m, t, c, &last, compared > 0, &count, err);
        compared += count;
    }
    free_row(&last);
    if (status == FT_OK) m->report(m->data, t->name, "compared", compared);
    return status;
}

static ft_status each_table(moving *m,
                            ft_status (*act)(moving *, const table *, const columns *, ft_error *),
                            ft_error *err)
{
    ft_status status = FT_OK;
    for (size_t i = 0; i < TABLE_COUNT && status == FT_OK; i++) {
        const columns c = columns_of(&TABLES[i]);
        prepare_side(&m->from, &TABLES[i], &c);
        prepare_side(&m->to, &TABLES[i], &c);
        status = act(m, &TABLES[i], &c, err);
        release_side(&m->from);
        release_side(&m->to);
    }
    return status;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

/* Rows came with their numbers; new ones are to have later ones. SQLite sees to that itself. */
static ft_status count_on(side *s, ft_error *err)
{
    ft_status status = FT_OK;
    for (size_t i = 0; i < TABLE_COUNT && status == FT_OK && s->sql.driver->shared; i++) {
        const table *t = &TABLES[i];
        ft_strbuf text = {0};
        if (!t->numbered) continue;
        ft_strbuf_printf(&text,
                         "SELECT setval(pg_get_serial_sequence('%s', '%s'), "
                         "(SELECT coalesce(max(%s), 0) + 1 FROM %s), false)",
                         t->name, t->numbered, t->numbered, t->name);
        status = ft_sql_script(&s->sql, text.text, err);
        ft_strbuf_release(&text);
    }
    return status;
}

/* So that no token of the old store is ever given out by the new one. */
static ft_status copy_epoch(moving *m, ft_error *err)
{
    int64_t epoch = 0;
    ft_status status =
        ft_sql_number(&m->from.sql, &epoch, NULL, err, "SELECT epoch FROM counters", "");
    if (status != FT_OK) return status;
    return ft_sql_run(&m->to.sql, NULL, err,
                      "UPDATE counters SET epoch = CASE WHEN epoch > ?1 THEN epoch ELSE ?1 END",
                      "i", epoch);
}

static ft_status set_version(side *s, int64_t version, ft_error *err)
{
    char text[80];
    const char *format = s->sql.driver->shared ? "UPDATE schema_version SET version = %lld"
                                               : "PRAGMA user_version = %lld";
    snprintf(text, sizeof text, format, (long long)version);
    return ft_sql_script(&s->sql, text, err);
}

static ft_status check_unused(side *s, const char *which, ft_error *err)
{
    int64_t nodes = 0;
    if (!s->sql.driver->shared) return FT_OK;
    ft_status status =
        ft_sql_number(&s->sql, &nodes, NULL, err, "SELECT count(*) FROM nodes WHERE seen > ?1", "i",
                      ft_sql_now(&s->sql) - IN_USE_MS);
    if (status != FT_OK || nodes == 0) return status;
    return ft_error_set(err, FT_CONFLICT, "--%s: %lld nodes use the database: stop them first",
                        which, (long long)nodes);
}

/* FT_CONFLICT unless an earlier move left it, or nothing is in it. */
static ft_status check_target(side *s, ft_error *err)
{
    int64_t rows = 0;
    ft_status status =
        ft_sql_number(&s->sql, &rows, NULL, err,
                      "SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM blobs) + "
                      "(SELECT count(*) FROM tokens) + (SELECT count(*) FROM audit)",
                      "");
    if (status == FT_OK && rows > 0)
        return ft_error_set(err, FT_CONFLICT, "--to: there is a store in the database already");
    return status;
}

static ft_status open_place(side *s, const char *place, const char *which, ft_error *err)
{
    ft_status status;
    s->lock = -1;
    if (ft_sql_is_address(place)) return ft_sql_open(&s->sql, place, err);
    if (strncmp(place, SQLITE, sizeof SQLITE - 1) != 0)
        return ft_error_set(err, FT_USAGE,
                            "--%s: \"%.64s\" is not a store: use sqlite:FOLDER or postgresql://...",
                            which, place);
    const char *folder = place + sizeof SQLITE - 1;
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/foretell.db", folder);
    bool there = access(path.text, F_OK) == 0;
    if (!there && strcmp(which, "from") == 0)
        status = ft_error_set(err, FT_NOT_FOUND, "--from: there is no database %s", path.text);
    else
        status = ft_store_lock_folder(folder, 0, &s->lock, err);
    if (status == FT_OK) status = ft_sql_open(&s->sql, path.text, err);
    ft_strbuf_release(&path);
    return status;
}

/* Also one that an earlier move left. */
static ft_status open_target(side *s, const char *place, ft_error *err)
{
    int64_t version = 0;
    ft_status status = open_place(s, place, "to", err);
    if (status == FT_OK) status = ft_sql_version(&s->sql, &version, err);
    if (status != FT_OK || version == FT_MIGRATION_MOVING + ft_migration_count()) return status;
    status = ft_sql_migrate(&s->sql, err);
    if (status == FT_OK) status = check_unused(s, "to", err);
    if (status == FT_OK) status = check_target(s, err);
    return status == FT_OK ? set_version(s, FT_MIGRATION_MOVING + ft_migration_count(), err)
                           : status;
}

static ft_status open_source(side *s, const char *place, ft_error *err)
{
    ft_status status = open_place(s, place, "from", err);
    if (status == FT_OK) status = ft_sql_migrate(&s->sql, err);
    return status == FT_OK ? check_unused(s, "from", err) : status;
}

static void close_place(side *s)
{
    ft_sql_close(&s->sql);
    if (s->lock >= 0) close(s->lock);
}

ft_status ft_store_move(const char *from, const char *to, ft_move_report report, void *data,
                        ft_error *err)
{
    moving m = {.from = {.lock = -1}, .to = {.lock = -1}, .report = report, .data = data};
    ft_status status = open_source(&m.from, from, err);
    if (status == FT_OK) status = open_target(&m.to, to, err);
    if (status == FT_OK) status = each_table(&m, copy_table, err);
    if (status == FT_OK) status = copy_epoch(&m, err);
    if (status == FT_OK) status = count_on(&m.to, err);
    if (status == FT_OK) status = each_table(&m, compare_table, err);
    if (status == FT_OK) status = set_version(&m.to, ft_migration_count(), err);
    close_place(&m.from);
    close_place(&m.to);
    return status;
}
