#include "store/cubes.h"

#include <string.h>

#include "store/internal.h"

ft_span ft_cubes_of(ft_span record)
{
    ft_scan_member of[] = {{.name = "cubes"}};
    if (ft_scan_object(record.at, record.length, of, 1, NULL) != FT_OK) return (ft_span){NULL, 0};
    return of[0].value;
}

/* ---- Splitting ------------------------------------------------------------------------------- */

static ft_status add_cube(ft_sql *sql, int64_t id, int64_t parent, ft_span cube, ft_error *err)
{
    ft_status status =
        ft_sql_run(sql, NULL, err, "INSERT INTO cubes (id, parent, cube) VALUES (?1, ?2, ?3)",
                   "iis", id, parent, cube.at, cube.length);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "INSERT INTO tasks (id, alone) VALUES (?1, 1)", "i", id);
}

static ft_status add_cubes(ft_sql *sql, int64_t parent, ft_span cubes, ft_cube_counts *counts,
                           ft_error *err)
{
    int64_t first = FT_TASK_ID(FT_TASK_JOB(parent), FT_CUBE_FIRST), next = 0, count = 0;
    ft_span one;
    ft_status status =
        ft_sql_number(sql, &next, NULL, err,
                      "SELECT coalesce(max(id) + 1, ?1) FROM cubes WHERE id BETWEEN ?1 AND ?2",
                      "ii", first, FT_TASK_ID(FT_TASK_JOB(parent), FT_TASK_MOST));
    for (; status == FT_OK && count < FT_CUBES_MOST && ft_scan_next(&cubes, &one); count++)
        status = add_cube(sql, next + count, parent, one, err);
    if (status == FT_OK && (count < 2 || ft_scan_next(&cubes, &one)))
        return ft_error_set(err, FT_INPUT, "a record's cubes are too few or too many");
    counts->ready += count;
    return status;
}

ft_status ft_cubes_split(ft_sql *sql, int64_t task, uint64_t token, ft_span cubes, bool *applied,
                         ft_cube_counts *counts, ft_error *err)
{
    int64_t changed = 0;
    FT_REQUIRE(!ft_task_is_cube(task) && FT_TASK_NUMBER(task) > 0);
    ft_status status = ft_sql_run(sql, &changed, err,
                                  "UPDATE tasks SET state = 'ready', token = NULL, alone = 2 "
                                  "WHERE id = ?1 AND token = ?2",
                                  "ii", task, (int64_t)token);
    *applied = status == FT_OK && changed == 1;
    return *applied ? add_cubes(sql, task, cubes, counts, err) : status;
}

/* ---- Results --------------------------------------------------------------------------------- */

ft_status ft_cubes_parent(ft_sql *sql, int64_t task, int64_t *parent, ft_strbuf *cube,
                          ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT parent, cube FROM cubes WHERE id = ?1", "i", task);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    if (!row) return ft_error_set(err, FT_INTERNAL, "task %lld is not a cube's", (long long)task);
    *parent = ft_sql_int(statement, 0);
    if (cube) ft_strbuf_puts(cube, ft_sql_text(statement, 1));
    return ft_sql_next(sql, statement, &row, err);
}

/* The gravest of its cubes' records. */
static ft_status take_gravest(ft_sql *sql, int64_t parent, ft_results *decided, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(
        sql, &statement, err,
        "SELECT record FROM cubes WHERE parent = ?1 ORDER BY CASE verdict WHEN 'error' THEN 0 "
        "WHEN 'unknown' THEN 1 WHEN 'bounded' THEN 2 ELSE 3 END, id LIMIT 1",
        "i", parent);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK) return status;
    assert(row);
    const char *text = ft_sql_text(statement, 0);
    return ft_results_add(decided, parent, text, strlen(text), NULL, 0, err);
}

static ft_status note(ft_sql *sql, int64_t task, int64_t parent, ft_verdict verdict, ft_span record,
                      int64_t *open, ft_error *err)
{
    ft_status status =
        ft_sql_run(sql, NULL, err, "UPDATE cubes SET verdict = ?2, record = ?3 WHERE id = ?1",
                   "its", task, ft_verdict_name(verdict), record.at, record.length);
    if (status != FT_OK) return status;
    return ft_sql_number(sql, open, NULL, err,
                         "SELECT count(*) FROM cubes WHERE parent = ?1 AND verdict IS NULL", "i",
                         parent);
}

ft_status ft_cubes_take(ft_sql *sql, const ft_results *results, size_t index, ft_results *decided,
                        ft_cube_counts *counts, ft_error *err)
{
    const ft_result *result = &results->items[index];
    const ft_record record = ft_results_record(results, index);
    const ft_span text = {results->bytes.text + result->at, result->length};
    int64_t parent = 0, open = 0;
    bool violation = record.verdict == FT_VERDICT_VIOLATION;
    ft_status status = ft_cubes_parent(sql, result->task, &parent, NULL, err);
    if (status == FT_OK && !violation)
        status = note(sql, result->task, parent, record.verdict, text, &open, err);
    if (status != FT_OK || open > 0) return status;
    if (violation)
        status =
            ft_results_take(decided, parent, &record, text,
                            results->bytes.text + result->witness_at, result->witness_length, err);
    else
        status = take_gravest(sql, parent, decided, err);
    return status == FT_OK ? ft_cubes_settle(sql, parent, counts, err) : status;
}

/* ---- The end --------------------------------------------------------------------------------- */

#define OF_PARENT "id IN (SELECT id FROM cubes WHERE parent = ?1)"

/* The leases of its cubes lose them. */
static ft_status end_leases(ft_sql *sql, int64_t parent, json_t *gone, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(sql, &statement, err,
                                    "SELECT token FROM tasks WHERE token IS NOT NULL AND " OF_PARENT
                                    " GROUP BY token",
                                    "i", parent);
    while (status == FT_OK && (status = ft_sql_next(sql, statement, &row, err)) == FT_OK && row)
        json_array_append_new(gone, json_integer(ft_sql_int(statement, 0)));
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err,
                            "UPDATE leases SET open = open - (SELECT count(*) FROM tasks t WHERE "
                            "t.token = leases.token AND t." OF_PARENT ") WHERE token IN "
                            "(SELECT token FROM tasks WHERE token IS NOT NULL AND " OF_PARENT ")",
                            "i", parent);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err,
                      "DELETE FROM leases WHERE open = 0 AND token IN (SELECT token FROM tasks "
                      "WHERE token IS NOT NULL AND " OF_PARENT ")",
                      "i", parent);
}

static ft_status count_ready(ft_sql *sql, int64_t parent, ft_cube_counts *counts, ft_error *err)
{
    int64_t ready = 0, dropped = 0;
    ft_status status = ft_sql_number(
        sql, &ready, NULL, err, "SELECT count(*) FROM tasks WHERE state = 'ready' AND " OF_PARENT,
        "i", parent);
    if (status == FT_OK)
        status = ft_sql_number(sql, &dropped, NULL, err,
                               "SELECT coalesce(sum(dropped), 0) FROM tasks WHERE state = 'ready' "
                               "AND " OF_PARENT,
                               "i", parent);
    counts->ready -= ready;
    counts->dropped -= dropped;
    return status;
}

ft_status ft_cubes_settle(ft_sql *sql, int64_t parent, ft_cube_counts *counts, ft_error *err)
{
    int64_t changed = 0;
    ft_status status = end_leases(sql, parent, counts->gone, err);
    if (status == FT_OK) status = count_ready(sql, parent, counts, err);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "DELETE FROM tasks WHERE " OF_PARENT, "i", parent);
    if (status == FT_OK)
        status = ft_sql_run(sql, NULL, err, "DELETE FROM cubes WHERE parent = ?1", "i", parent);
    if (status == FT_OK)
        status = ft_sql_run(sql, &changed, err, "DELETE FROM tasks WHERE id = ?1 AND alone = 2",
                            "i", parent);
    assert(status != FT_OK || changed == 1);
    return status;
}

ft_status ft_cubes_count(ft_sql *sql, const char *job, const ft_cube_counts *counts, ft_error *err)
{
    if (counts->ready == 0 && counts->dropped == 0) return FT_OK;
    return ft_sql_run(sql, NULL, err,
                      "UPDATE jobs SET ready = ready + ?2, dropped = dropped + ?3 WHERE id = ?1",
                      "tii", job, counts->ready, counts->dropped);
}

ft_status ft_cubes_drop(ft_sql *sql, const char *job, ft_error *err)
{
    ft_status status = ft_sql_run(
        sql, NULL, err,
        "DELETE FROM tasks WHERE id " FT_JOB_TASKS " AND (id & " FT_CUBE_BIT ") <> 0", "t", job);
    if (status != FT_OK) return status;
    return ft_sql_run(sql, NULL, err, "DELETE FROM cubes WHERE id " FT_JOB_TASKS, "t", job);
}
