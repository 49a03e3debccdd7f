#include "store/subtrees.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/node.h"
#include "wire/wire.h"

/* Names of tasks (worker/explore/parts.c) that are not subtrees: one beside them, which the end
 * need not wait for, and the end. */
#define LEVELS "levels"
#define END    "end"

/* A task goes to its worker in one message. */
#define NAMES_MOST (4u << 20)
#define NAME_MOST  (FT_WIRE_MAX_PAYLOAD - (4u << 20))

/* A job's exploration while a transaction changes it. */
typedef struct exploration {
    const char *job;
    int64_t n; /* of the job */
    int64_t round, made, open, done;
    json_t *state;
    int64_t ready;   /* more (or less) tasks of the job */
    int64_t dropped; /* likewise of those that a server's death gave back */
    json_t *gone;    /* NULL: nobody asks */
} exploration;

static json_t *parse(ft_span text)
{
    return text.at ? json_loadb(text.at, text.length, 0, NULL) : NULL;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* No other transaction changes it at the same time. */
static ft_status load(ft_sql *sql, exploration *x, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(
        sql, &statement, err,
        FT_DIALECTS("SELECT round, made, open, done, state FROM explorations WHERE job = ?1",
                    "SELECT round, made, open, done, state FROM explorations WHERE job = ?1 "
                    "FOR UPDATE"),
        "i", x->n);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (!row) return ft_error_set(err, FT_INTERNAL, "job %s is not an exploration", x->job);
    x->round = ft_sql_int(statement, 0);
    x->made = ft_sql_int(statement, 1);
    x->open = ft_sql_int(statement, 2);
    x->done = ft_sql_int(statement, 3);
    status = ft_store_parse(statement, 4, &x->state, err);
    return status == FT_OK ? ft_sql_next(sql, statement, &row, err) : status;
}

static ft_status save(ft_sql *sql, const exploration *x, ft_error *err)
{
    char *state = ft_store_dump(x->state);
    assert(x->open >= 0 && x->made >= x->open);
    ft_status status =
        ft_sql_run(sql, NULL, err,
                   "UPDATE explorations SET round = ?2, made = ?3, open = ?4, done = ?5, state = "
                   "?6 WHERE job = ?1",
                   "iiiiit", x->n, x->round, x->made, x->open, x->done, (const char *)state);
    free(state);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err,
                      "UPDATE jobs SET ready = ready + ?2, dropped = dropped + ?3, updated = ?4, "
                      "revision = revision + 1 WHERE id = ?1",
                      "tiii", x->job, x->ready, x->dropped, ft_sql_now(sql));
}

static ft_status add_task(ft_sql *sql, exploration *x, const char *name, ft_error *err)
{
    int64_t id = FT_TASK_ID(x->n, FT_SUBTREE_FIRST + x->made);
    if (strlen(name) > NAME_MOST)
        return ft_error_set(err, FT_INPUT, "a part of an exploration has too long a name");
    if (x->made >= FT_SUBTREES_MOST)
        return ft_error_set(err, FT_LIMIT, "the job has more than %lld subtrees",
                            (long long)FT_SUBTREES_MOST);
    ft_status status = ft_sql_run(sql, NULL, err, "INSERT INTO subtrees (id, name) VALUES (?1, ?2)",
                                  "it", id, name);
    if (status == FT_OK)
        status =
            ft_sql_run(sql, NULL, err, "INSERT INTO tasks (id, alone) VALUES (?1, 1)", "i", id);
    x->made++;
    x->ready++;
    x->open += strcmp(name, LEVELS) != 0 && strcmp(name, END) != 0;
    return status;
}

/* A key that nobody had before. */
static ft_status add_key(ft_sql *sql, const exploration *x, const char *kind, ft_span key,
                         bool *is_new, ft_error *err)
{
    int64_t changed = 0;
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, kind);
    ft_strbuf_add(&text, key.at, key.length);
    ft_status status =
        ft_sql_run(sql, &changed, err,
                   "INSERT INTO explored_keys (job, key) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                   "it", x->n, ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    *is_new = changed == 1;
    return status;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static ft_status add_tasks(ft_sql *sql, exploration *x, const json_t *names, ft_error *err)
{
    size_t i;
    json_t *name;
    ft_status status = FT_OK;
    json_array_foreach((json_t *)(uintptr_t)names, i, name)
    {
        if (!json_is_string(name))
            return ft_error_set(err, FT_INPUT, "the name of a subtree is not a text");
        if (status == FT_OK) status = add_task(sql, x, json_string_value(name), err);
    }
    return status;
}

/* Those that are new become one task, unless they are long: they are few beside what it will hand
 * back. */
static ft_status add_proposals(ft_sql *sql, exploration *x, const json_t *proposals, ft_error *err)
{
    size_t i;
    json_t *one;
    ft_strbuf names = {0};
    ft_status status = FT_OK;
    json_array_foreach((json_t *)(uintptr_t)proposals, i, one)
    {
        bool is_new = false;
        const char *key = json_string_value(json_array_get(one, 0)),
                   *name = json_string_value(json_array_get(one, 1));
        if (!key || !name || !*name)
            status = ft_error_set(err, FT_INPUT, "a proposal lacks its key or its name");
        if (status == FT_OK)
            status = add_key(sql, x, "s", (ft_span){key, strlen(key)}, &is_new, err);
        if (status != FT_OK) break;
        if (is_new) ft_strbuf_printf(&names, "%s%s", names.len ? " " : "", name);
        if (names.len < NAMES_MOST) continue;
        status = add_task(sql, x, ft_strbuf_text(&names), err);
        ft_strbuf_clear(&names);
    }
    if (status == FT_OK && names.len) status = add_task(sql, x, ft_strbuf_text(&names), err);
    ft_strbuf_release(&names);
    return status;
}

#define OF_JOB "id BETWEEN ?1 AND ?2"

static ft_status end_leases(ft_sql *sql, const exploration *x, int64_t low, int64_t high,
                            ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT token FROM tasks WHERE token IS NOT NULL AND " OF_JOB
                                    " GROUP BY token",
                                    "ii", low, high);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        if (x->gone) json_array_append_new(x->gone, json_integer(ft_sql_int(statement, 0)));
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err,
                      "DELETE FROM leases WHERE token IN (SELECT token FROM tasks WHERE token IS "
                      "NOT NULL AND " OF_JOB ")",
                      "ii", low, high);
}

/* None of the job's subtrees is a task any more. A lease has one of them at most. */
static ft_status remove_tasks(ft_sql *sql, exploration *x, ft_error *err)
{
    int64_t low = FT_TASK_ID(x->n, FT_SUBTREE_FIRST), high = FT_TASK_ID(x->n, FT_TASK_MOST);
    int64_t ready = 0, dropped = 0;
    ft_status status = end_leases(sql, x, low, high, err);
    if (status == FT_OK)
        status = ft_sql_number(sql, &ready, NULL, err,
                               "SELECT count(*) FROM tasks WHERE state = 'ready' AND " OF_JOB, "ii",
                               low, high);
    if (status == FT_OK)
        status = ft_sql_number(
            sql, &dropped, NULL, err,
            "SELECT coalesce(sum(dropped), 0) FROM tasks WHERE state = 'ready' AND " OF_JOB, "ii",
            low, high);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "DELETE FROM tasks WHERE " OF_JOB, "ii", low, high);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "DELETE FROM subtrees WHERE " OF_JOB, "ii", low, high);
    x->ready -= ready;
    x->dropped -= dropped;
    x->open = 0;
    return status;
}

static ft_status remove_keys(ft_sql *sql, const exploration *x, ft_error *err)
{
    return ft_sql_run(sql, NULL, err, "DELETE FROM explored_keys WHERE job = ?1 AND key LIKE 's%'",
                      "i", x->n);
}

/* Nothing is left but the word for it. */
static ft_status go_to_end(ft_sql *sql, exploration *x, ft_error *err)
{
    ft_status status = remove_tasks(sql, x, err);
    return status == FT_OK ? add_task(sql, x, END, err) : status;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static void add_counts(json_t *to, const json_t *more)
{
    const char *name;
    json_t *n;
    json_object_foreach((json_t *)(uintptr_t)more, name, n)
    {
        json_int_t sum = json_integer_value(json_object_get(to, name)) + json_integer_value(n);
        json_object_set_new(to, name, json_integer(sum));
    }
}

static void add_flags(json_t *to, const json_t *more)
{
    const char *name;
    json_t *flag;
    json_object_foreach((json_t *)(uintptr_t)more, name, flag) if (json_is_true(flag))
        json_object_set(to, name, flag);
}

/* The better ones. */
static void take_levels(json_t *state, json_t *levels)
{
    const json_t *old = json_object_get(state, "levels");
    bool every = json_is_true(json_object_get(levels, "every"));
    json_int_t complete = json_integer_value(json_object_get(levels, "complete"));
    if (!levels || (!every && complete < json_integer_value(json_object_get(old, "complete"))))
        return;
    json_object_set(state, "levels", levels);
}

/* Of two lists of which one begins as the other does: whether that is so. */
static bool is_beginning(const json_t *a, const json_t *b)
{
    for (size_t i = 0; i < json_array_size(a) && i < json_array_size(b); i++)
        if (!json_equal(json_array_get(a, i), json_array_get(b, i))) return false;
    return true;
}

static void add_sums(json_t *state, const json_t *explored)
{
    json_t *threads = json_object_get(explored, "threads");
    add_counts(json_object_get(state, "counts"), json_object_get(explored, "counts"));
    add_flags(json_object_get(state, "flags"), json_object_get(explored, "flags"));
    take_levels(state, json_object_get(explored, "levels"));
    if (json_array_size(threads) > json_array_size(json_object_get(state, "threads")))
        json_object_set(state, "threads", threads);
    static const char *const WORDS[] = {"open", "lingers",
                                        "bound"}; /* of the first that has some */
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (!json_object_get(state, WORDS[i]) && json_object_get(explored, WORDS[i]))
            json_object_set(state, WORDS[i], json_object_get(explored, WORDS[i]));
}

static ft_status read_explored(ft_span text, json_t **explored, ft_error *err)
{
    *explored = parse(text);
    if (json_is_object(json_object_get(*explored, "counts")) &&
        json_is_object(json_object_get(*explored, "flags")))
        return FT_OK;
    json_decref(*explored);
    *explored = NULL;
    return ft_error_set(err, FT_INPUT, "a part of an exploration lacks what it counted");
}

/* ---- Findings -------------------------------------------------------------------------------- */

static ft_status take_record(ft_results *to, const ft_results *from, size_t i, int64_t task,
                             ft_error *err)
{
    const ft_result *result = &from->items[i];
    const ft_record record = ft_results_record(from, i);
    const ft_span text = {from->bytes.text + result->at, result->length};
    return ft_results_take(to, task, &record, text, from->bytes.text + result->witness_at,
                           result->witness_length, err);
}

/* Each is a candidate more. */
static ft_status count_candidates(ft_sql *sql, const char *job, const ft_results *found,
                                  ft_error *err)
{
    json_t *plan = NULL;
    ft_status status = ft_store_plan_read(sql, job, &plan, err);
    if (status != FT_OK) return status;
    json_t *candidates = json_object_get(plan, "candidates");
    for (size_t i = 0; i < found->count; i++) {
        const char *name = ft_check_name(found->items[i].record.check);
        json_int_t n = json_integer_value(json_object_get(candidates, name));
        json_object_set_new(candidates, name,
                            json_integer(n + (json_int_t)found->items[i].record.count));
    }
    status = ft_store_plan_write(sql, job, plan, err);
    json_decref(plan);
    return status;
}

/* Those that no other task had. */
static ft_status add_findings(ft_sql *sql, const exploration *x, const ft_results *records,
                              ft_error *err)
{
    ft_results found = {.items = NULL};
    ft_status status = FT_OK;
    for (size_t i = 0; i < records->count && status == FT_OK; i++) {
        bool is_new = false;
        status = add_key(sql, x, "f", ft_results_record(records, i).key, &is_new, err);
        if (status == FT_OK && is_new) status = take_record(&found, records, i, 0, err);
    }
    if (status == FT_OK && found.count)
        status = ft_store_verdicts_add(sql, x->job, &found, found.count, err);
    if (status == FT_OK && found.count) status = count_candidates(sql, x->job, &found, err);
    ft_results_release(&found);
    return status;
}

static ft_status note_findings(ft_sql *sql, const exploration *x, const ft_results *records,
                               ft_error *err)
{
    ft_status status = FT_OK;
    for (size_t i = 0; i < records->count && status == FT_OK; i++) {
        bool is_new;
        status = add_key(sql, x, "f", ft_results_record(records, i).key, &is_new, err);
    }
    return status;
}

/* ---- The plan -------------------------------------------------------------------------------- */

/* The subproblems wait for the end. */
static ft_status set_rests_aside(ft_sql *sql, exploration *x, ft_error *err)
{
    ft_job_row row;
    ft_status status = ft_store_job_row(sql, x->job, &row, err);
    for (int64_t i = row.next; i <= row.last && status == FT_OK; i++)
        status = ft_sql_run(sql, NULL, err, "INSERT INTO tasks (id, alone) VALUES (?1, 2)", "i",
                            FT_TASK_ID(row.n, i));
    x->ready -= row.last - row.next + 1;
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "UPDATE jobs SET next = last + 1 WHERE id = ?1", "t", x->job);
}

static ft_status insert_row(ft_sql *sql, const exploration *x, ft_error *err)
{
    return ft_sql_run(sql, NULL, err,
                      "INSERT INTO explorations (job, round, made, open, done, state) VALUES (?1, "
                      "1, 0, 0, 1, '')",
                      "i", x->n);
}

ft_status ft_subtrees_begin(ft_sql *sql, const ft_part *part, ft_error *err)
{
    exploration x = {.job = part->job, .n = FT_TASK_JOB(part->task), .round = 1, .done = 1};
    json_t *subtrees = parse(part->subtrees);
    ft_status status = read_explored(part->explored, &x.state, err);
    if (status == FT_OK) status = insert_row(sql, &x, err);
    if (status == FT_OK && json_array_size(subtrees)) {
        status = note_findings(sql, &x, part->records, err);
        if (status == FT_OK) status = set_rests_aside(sql, &x, err);
        if (status == FT_OK) status = add_tasks(sql, &x, subtrees, err);
    }
    if (status == FT_OK) status = save(sql, &x, err);
    json_decref(subtrees);
    json_decref(x.state);
    return status;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Another task has numbered threads otherwise meanwhile: this one is done again, with its numbers.
 */
static ft_status do_again(ft_sql *sql, exploration *x, int64_t task, ft_error *err)
{
    x->ready++;
    return ft_sql_run(sql, NULL, err, "INSERT INTO tasks (id, alone) VALUES (?1, 1)", "i", task);
}

static ft_status read_name(ft_sql *sql, int64_t task, json_t **name, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status =
        ft_sql_start(sql, &statement, err, "SELECT name FROM subtrees WHERE id = ?1", "i", task);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (!row)
        return ft_error_set(err, FT_INTERNAL, "task %lld is not a subtree's", (long long)task);
    *name = json_string(ft_sql_text(statement, 0));
    return ft_sql_next(sql, statement, &row, err);
}

/* The task's own row goes. */
static ft_status close_task(ft_sql *sql, exploration *x, int64_t task, ft_error *err)
{
    json_t *name = NULL;
    ft_status status = read_name(sql, task, &name, err);
    if (status != FT_OK) return status;
    const char *text = json_string_value(name);
    bool counts = strcmp(text, LEVELS) != 0 && strcmp(text, END) != 0;
    json_decref(name);
    x->open -= counts;
    x->done += counts;
    return ft_sql_run(sql, NULL, err, "DELETE FROM subtrees WHERE id = ?1", "i", task);
}

static ft_status begin_anew(ft_sql *sql, exploration *x, json_t *explored, const json_t *subtrees,
                            ft_error *err)
{
    json_decref(x->state);
    x->state = json_incref(explored);
    x->round++;
    x->done = 0;
    int64_t levels = 0;
    ft_status status = ft_sql_number(
        sql, &levels, NULL, err,
        "SELECT count(*) FROM explored_keys WHERE job = ?1 AND key = '" LEVELS "'", "i", x->n);
    if (status == FT_OK) status = remove_tasks(sql, x, err);
    if (status == FT_OK) status = remove_keys(sql, x, err);
    if (status == FT_OK && levels) status = add_task(sql, x, LEVELS, err);
    return status == FT_OK ? add_tasks(sql, x, subtrees, err) : status;
}

static ft_status go_on(ft_sql *sql, exploration *x, const json_t *explored, const json_t *subtrees,
                       const json_t *proposals, ft_error *err)
{
    add_sums(x->state, explored);
    ft_status status = add_tasks(sql, x, subtrees, err);
    if (status == FT_OK) status = add_proposals(sql, x, proposals, err);
    bool every = json_is_true(json_object_get(json_object_get(x->state, "levels"), "every"));
    if (status == FT_OK && (every || x->open == 0)) status = go_to_end(sql, x, err);
    return status;
}

static ft_status take_part(ft_sql *sql, const ft_part *part, exploration *x, json_t *explored,
                           ft_error *err)
{
    json_t *subtrees = parse(part->subtrees), *proposals = parse(part->proposals);
    ft_status status = add_findings(sql, x, part->records, err);
    if (status == FT_OK) status = close_task(sql, x, part->task, err);
    if (status == FT_OK)
        status = part->anew ? begin_anew(sql, x, explored, subtrees, err)
                            : go_on(sql, x, explored, subtrees, proposals, err);
    json_decref(subtrees);
    json_decref(proposals);
    return status;
}

/* The records are the subproblems', in their order. */
static ft_status rests_of(ft_sql *sql, const exploration *x, const ft_results *records,
                          ft_results *rests, ft_error *err)
{
    ft_entries entries = {.first = 0};
    ft_status status = FT_OK;
    for (size_t i = 0; i < records->count && status == FT_OK; i++) {
        ft_entry entry;
        int64_t task = FT_TASK_ID(x->n, i + 1);
        const ft_record record = ft_results_record(records, i);
        status = ft_entries_find(sql, &entries, task, &entry, err);
        if (status == FT_OK) status = ft_record_check_entry(&record, entry.check, entry.key, err);
        if (status == FT_OK) status = take_record(rests, records, i, task, err);
    }
    ft_entries_release(&entries);
    return status;
}

static ft_status set_notes(ft_sql *sql, const char *job, ft_span notes, ft_error *err)
{
    json_t *plan = NULL, *list = parse(notes);
    ft_status status = ft_store_plan_read(sql, job, &plan, err);
    if (status == FT_OK && json_is_array(list)) {
        json_object_set(plan, "notes", list);
        status = ft_store_plan_write(sql, job, plan, err);
    }
    json_decref(plan);
    json_decref(list);
    return status;
}

static ft_status take_rests(ft_sql *sql, const ft_part *part, exploration *x, ft_error *err)
{
    int64_t removed = 0;
    ft_results rests = {.items = NULL};
    ft_status status = rests_of(sql, x, part->records, &rests, err);
    if (status == FT_OK)
        status = ft_sql_run(sql, &removed, err,
                            "DELETE FROM tasks WHERE alone = 2 AND id BETWEEN ?1 AND ?2", "ii",
                            FT_TASK_ID(x->n, 1), FT_TASK_ID(x->n, FT_CUBE_FIRST - 1));
    if (status == FT_OK && removed != (int64_t)rests.count)
        status = ft_error_set(err, FT_INPUT, "the end of an exploration has %zu verdicts, not %lld",
                              rests.count, (long long)removed);
    if (status == FT_OK) status = ft_store_verdicts_add(sql, x->job, &rests, rests.count, err);
    if (status == FT_OK) status = set_notes(sql, x->job, part->notes, err);
    if (status == FT_OK) status = close_task(sql, x, part->task, err);
    if (status == FT_OK) status = save(sql, x, err);
    if (status == FT_OK) status = ft_store_task_count_down(sql, x->job, removed, err);
    ft_results_release(&rests);
    return status;
}

static ft_status take_explored(ft_sql *sql, const ft_part *part, exploration *x, ft_error *err)
{
    json_t *explored = NULL;
    ft_status status = read_explored(part->explored, &explored, err);
    if (status != FT_OK) return status;
    bool alike =
        is_beginning(json_object_get(explored, "threads"), json_object_get(x->state, "threads"));
    status = alike ? take_part(sql, part, x, explored, err) : do_again(sql, x, part->task, err);
    json_decref(explored);
    return status == FT_OK ? save(sql, x, err) : status;
}

ft_status ft_subtrees_take(ft_sql *sql, const ft_part *part, bool *applied, json_t *gone,
                           ft_error *err)
{
    exploration x = {.job = part->job, .n = FT_TASK_JOB(part->task), .gone = gone};
    FT_REQUIRE(ft_task_is_subtree(part->task));
    ft_status status = ft_store_task_end(sql, part->task, part->token, FT_TASK_DONE, applied, err);
    if (status != FT_OK || !*applied) return status;
    status = load(sql, &x, err);
    if (status == FT_OK)
        status = part->ends ? take_rests(sql, part, &x, err) : take_explored(sql, part, &x, err);
    json_decref(x.state);
    return status;
}

/* ---- Out of time ----------------------------------------------------------------------------- */

/* The exploration of a job that is at its subtrees; *is: it has some that are open. */
static ft_status load_open(ft_sql *sql, exploration *x, bool *is, ft_error *err)
{
    ft_job_row row;
    *is = false;
    ft_status status = ft_store_job_row(sql, x->job, &row, err);
    if (status != FT_OK || row.state != FT_JOB_SOLVING) return status;
    x->n = row.n;
    status = load(sql, x, err);
    *is = status == FT_OK && x->open > 0;
    return status;
}

ft_status ft_subtrees_add_levels(ft_sql *sql, const char *job, bool *applied, ft_error *err)
{
    enum { FIRST = 3 };
    exploration x = {.job = job};
    ft_status status = load_open(sql, &x, applied, err);
    const json_t *levels = json_object_get(x.state, "levels");
    if (json_integer_value(json_object_get(levels, "complete")) >= FIRST) *applied = false;
    if (status == FT_OK && *applied)
        status = add_key(sql, &x, LEVELS, (ft_span){"", 0}, applied, err);
    if (status == FT_OK && *applied) status = add_task(sql, &x, LEVELS, err);
    if (status == FT_OK && *applied) status = save(sql, &x, err);
    json_decref(x.state);
    return status;
}

ft_status ft_subtrees_close(ft_sql *sql, const char *job, bool *applied, json_t *gone,
                            ft_error *err)
{
    exploration x = {.job = job, .gone = gone};
    ft_status status = load_open(sql, &x, applied, err);
    if (*applied) {
        json_object_set_new(json_object_get(x.state, "flags"), "cut_short", json_true());
        status = go_to_end(sql, &x, err);
    }
    if (*applied && status == FT_OK) status = save(sql, &x, err);
    json_decref(x.state);
    return status;
}

static ft_status run_close(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool applied = false;
    json_t *gone = json_array();
    ft_status status = request->last ? ft_subtrees_close(sql, request->job, &applied, gone, err)
                                     : ft_subtrees_add_levels(sql, request->job, &applied, err);
    if (status == FT_OK)
        status = ft_store_read_change(sql, request->job, applied, &request->result, err);
    if (status == FT_OK) json_object_set(request->result, "gone", gone);
    if (status == FT_OK && applied) status = ft_node_tell(sql, request->result, err);
    json_decref(gone);
    return status;
}

void ft_store_job_close(ft_store *store, const char *job, bool all, ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_close, true, done, data);
    request->job = ft_strdup(job);
    request->last = all;
    ft_store_send(store, request);
}

/* ---- Giving up ------------------------------------------------------------------------------- */

ft_status ft_subtrees_is_end(ft_sql *sql, int64_t task, bool *is, ft_error *err)
{
    json_t *name = NULL;
    ft_status status = read_name(sql, task, &name, err);
    if (status == FT_OK) *is = strcmp(json_string_value(name), END) == 0;
    json_decref(name);
    return status;
}

/* Without the reason the verdict would be `bounded`: there is one also where the text, cut to some
 * length, ends within a character. */
static void leave_open(exploration *x, const char *text)
{
    json_object_set_new(json_object_get(x->state, "flags"), "incomplete", json_true());
    if (json_object_get(x->state, "open")) return;
    json_t *why = json_sprintf("a part of the executions was given up: %s", text);
    if (!why) why = json_string("a part of the executions was given up");
    json_object_set_new(x->state, "open", why);
}

ft_status ft_subtrees_give_up(ft_sql *sql, const char *job, int64_t task, const char *text,
                              ft_error *err)
{
    exploration x = {.job = job, .n = FT_TASK_JOB(task)};
    ft_status status = ft_sql_run(sql, NULL, err, "DELETE FROM tasks WHERE id = ?1", "i", task);
    if (status == FT_OK) status = load(sql, &x, err);
    int64_t open = x.open;
    if (status == FT_OK) status = close_task(sql, &x, task, err);
    if (status == FT_OK && x.open < open) leave_open(&x, text);
    if (status == FT_OK && x.open == 0 && open > 0) status = go_to_end(sql, &x, err);
    if (status == FT_OK) status = save(sql, &x, err);
    json_decref(x.state);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

ft_status ft_subtrees_name(ft_sql *sql, int64_t task, ft_strbuf *text, ft_error *err)
{
    json_t *name = NULL;
    ft_status status = read_name(sql, task, &name, err);
    if (status != FT_OK) return status;
    char *dumped = json_dumps(name, JSON_ENCODE_ANY);
    ft_strbuf_puts(text, dumped);
    free(dumped);
    json_decref(name);
    return FT_OK;
}

ft_status ft_subtrees_state(ft_sql *sql, int64_t job, char **state, ft_error *err)
{
    ft_statement *statement;
    bool row;
    *state = NULL;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT state FROM explorations WHERE job = ?1", "i", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK || !row) return status;
    *state = ft_strdup(ft_sql_text(statement, 0));
    return ft_sql_next(sql, statement, &row, err);
}

ft_status ft_subtrees_progress(ft_sql *sql, const char *job, json_t **progress, ft_error *err)
{
    ft_statement *statement;
    bool row;
    json_t *state = NULL;
    *progress = NULL;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT state, done, open, round FROM explorations WHERE job "
                                    "= " FT_JOB_N,
                                    "t", job);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK || !row) return status;
    status = ft_store_parse(statement, 0, &state, err);
    if (status != FT_OK) return status;
    const json_t *counts = json_object_get(state, "counts");
    *progress = json_pack("{s:{s:I, s:I}, s:I, s:I, s:I}", "subtrees", "done",
                          (json_int_t)ft_sql_int(statement, 1), "open",
                          (json_int_t)ft_sql_int(statement, 2), "rounds",
                          (json_int_t)ft_sql_int(statement, 3), "classes",
                          json_integer_value(json_object_get(counts, "classes")), "runs",
                          json_integer_value(json_object_get(counts, "runs")));
    json_decref(state);
    return ft_sql_next(sql, statement, &row, err);
}

/* ---- The end --------------------------------------------------------------------------------- */

ft_status ft_subtrees_drop(ft_sql *sql, const char *job, ft_error *err)
{
    ft_status status =
        ft_sql_run(sql, NULL, err, "DELETE FROM subtrees WHERE id " FT_JOB_TASKS, "t", job);
    if (status == FT_OK)
        status =
            ft_sql_run(sql, NULL, err, "DELETE FROM explored_keys WHERE job = " FT_JOB_N, "t", job);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "UPDATE explorations SET open = 0 WHERE job = " FT_JOB_N, "t",
                      job);
}

ft_status ft_subtrees_forget(ft_sql *sql, const char *job, ft_error *err)
{
    return ft_sql_run(sql, NULL, err, "DELETE FROM explorations WHERE job = " FT_JOB_N, "t", job);
}
