#include "store/check.h"

#include "store/cubes.h"
#include "store/store.h"

/* In SQL: the ids of the job j's tasks, and how many of its subproblems somebody has had. */
#define TASKS_OF_J  "BETWEEN j.n << 28 AND (j.n << 28) + " FT_TASK_NUMBERS
#define LEASED_OF_J "(tasks - 1 - (last - next + 1))"
#define OPEN_OF_J                                                                                  \
    "(SELECT count(*) FROM tasks WHERE id " TASKS_OF_J                                             \
    " AND kind = 'solve' AND (id & " FT_CUBE_BIT ") = 0 AND state IN ('ready', 'leased'))"
#define DECIDED_OF_J "(SELECT count(*) FROM verdicts v WHERE v.job = j.n AND task IS NOT NULL)"
#define WORK_OF_J                                                                                  \
    "next <= last OR EXISTS (SELECT 1 FROM tasks WHERE id " TASKS_OF_J                             \
    " AND state IN ('ready', 'leased'))"

#define COVERED(candidates)                                                                        \
    "SELECT count(*) FROM jobs j WHERE state = 'done' AND coalesce((" candidates "), 0) <> "       \
    "(SELECT coalesce(sum(count), 0) FROM tallies WHERE job = j.id)"

/* Counts the rows that break it. */
typedef struct invariant {
    const char *what, *text;
} invariant;

static const invariant INVARIANTS[] = {
    {"jobs with finished subproblems without a verdict",
     "SELECT count(*) FROM jobs j WHERE state IN ('solving', 'done') AND " LEASED_OF_J
     " <> " OPEN_OF_J " + " DECIDED_OF_J},
    {"abandoned subproblems without a verdict",
     "SELECT count(*) FROM tasks t WHERE kind = 'solve' AND state = 'poisoned' "
     "AND NOT EXISTS (SELECT 1 FROM verdicts WHERE task = t.id)"},
    {"verdicts of subproblems that are not finished",
     "SELECT count(*) FROM verdicts v JOIN jobs j ON j.n = v.job LEFT JOIN tasks t ON t.id = "
     "v.task "
     "WHERE t.state IN ('ready', 'leased') OR (v.task & " FT_TASK_NUMBERS ") >= j.next"},
    {"verdicts in another job than their subproblem",
     "SELECT count(*) FROM verdicts WHERE task >> 28 <> job"},
    {"open tasks of jobs that have ended",
     "SELECT (SELECT count(*) FROM tasks t JOIN jobs j ON j.n = t.job "
     "WHERE j.finished IS NOT NULL AND t.state IN ('ready', 'leased')) + (SELECT count(*) FROM "
     "jobs WHERE finished IS NOT NULL AND state IN ('solving', 'done') AND next <= last)"},
    {"tasks of no job", "SELECT count(*) FROM tasks WHERE job NOT IN (SELECT n FROM jobs)"},
    {"cubes without a task or a subproblem that is split",
     "SELECT (SELECT count(*) FROM cubes c WHERE (verdict IS NULL) <> EXISTS (SELECT 1 FROM tasks "
     "WHERE id = c.id) OR NOT EXISTS (SELECT 1 FROM tasks WHERE id = c.parent AND alone = 2)) + "
     "(SELECT count(*) FROM tasks t WHERE (t.id & " FT_CUBE_BIT ") <> 0 AND t.state <> 'cancelled' "
     "AND NOT EXISTS (SELECT 1 FROM cubes WHERE id = t.id) AND NOT EXISTS (SELECT 1 FROM subtrees "
     "WHERE id = t.id)) + (SELECT count(*) FROM tasks t WHERE "
     "alone = 2 AND state = 'ready' AND NOT EXISTS (SELECT 1 FROM cubes WHERE parent = t.id) "
     "AND NOT EXISTS (SELECT 1 FROM subtrees WHERE id >> 28 = t.job))"},
    {"subtrees without a task, or not counted by their exploration",
     "SELECT (SELECT count(*) FROM subtrees s WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE id = "
     "s.id)) + (SELECT count(*) FROM explorations x WHERE open <> (SELECT count(*) FROM subtrees s "
     "WHERE s.id >> 28 = x.job AND name <> 'levels' AND name <> 'end'))"},
    {"leases whose tasks differ from their range",
     "SELECT (SELECT count(*) FROM leases l WHERE open <> (SELECT count(*) FROM tasks "
     "WHERE id BETWEEN l.low AND l.high AND token = l.token)) + "
     "(SELECT count(*) FROM tasks WHERE state = 'leased' AND token NOT IN "
     "(SELECT token FROM leases))"},
    {"unfinished jobs without tasks",
     "SELECT count(*) FROM jobs j WHERE finished IS NULL AND NOT (" WORK_OF_J ")"},
    {"jobs whose verdicts are not numbered 1, 2, ...",
     "SELECT count(*) FROM jobs j WHERE verdicts <> (SELECT count(*) FROM verdicts v "
     "WHERE v.job = j.n) OR verdicts <> (SELECT coalesce(max(n), 0) FROM verdicts v "
     "WHERE v.job = j.n)"},
    {"tallies that differ from the sum of the verdicts",
     "SELECT count(*) FROM (SELECT job, \"check\", verdict, count, records FROM tallies EXCEPT "
     "SELECT j.id, \"check\", verdict, sum(count), count(*) FROM verdicts v JOIN jobs j "
     "ON j.n = v.job GROUP BY 1, 2, 3) AS off"},
    {"verdicts that no tally counts",
     "SELECT count(*) FROM (SELECT j.id, \"check\", verdict FROM verdicts v JOIN jobs j "
     "ON j.n = v.job EXCEPT SELECT job, \"check\", verdict FROM tallies) AS off"},
    {"jobs done whose verdicts do not cover every candidate",
     FT_DIALECTS(COVERED("SELECT sum(value) FROM json_each(j.plan, '$.candidates')"),
                 COVERED("SELECT sum(value::bigint) FROM json_each_text(j.plan::json -> "
                         "'candidates')"))},
    {"traces with missing rows",
     "SELECT count(*) FROM traces t WHERE stored_bytes <> "
     "(SELECT coalesce(sum(length(data)), 0) FROM blob_chunks WHERE blob = t.blob) OR "
     "(SELECT count(*) <> max(seq) + 1 FROM blob_chunks WHERE blob = t.blob)"},
};

#define OF_TALLY                                                                                   \
    "FROM verdicts v WHERE v.job = j.n AND v.\"check\" = t.\"check\" AND v.verdict = t.verdict"

/* The same of the jobs that have not ended, which is what a crash can have caught: their number
 * bounds what is read, not the size of the database. */
static const invariant IN_FLIGHT[] = {
    {"jobs with finished subproblems without a verdict",
     "SELECT count(*) FROM jobs j WHERE finished IS NULL AND state = 'solving' AND " LEASED_OF_J
     " <> " OPEN_OF_J " + " DECIDED_OF_J},
    {"verdicts of subproblems that are not finished",
     "SELECT count(*) FROM jobs j JOIN verdicts v ON v.job = j.n LEFT JOIN tasks t "
     "ON t.id = v.task WHERE j.finished IS NULL AND (t.state IN ('ready', 'leased') "
     "OR (v.task & " FT_TASK_NUMBERS ") >= j.next)"},
    {"unfinished jobs without tasks",
     "SELECT count(*) FROM jobs j WHERE finished IS NULL AND NOT (" WORK_OF_J ")"},
    {"jobs whose verdicts are not numbered 1, 2, ...",
     "SELECT count(*) FROM jobs j WHERE finished IS NULL AND (verdicts <> (SELECT count(*) FROM "
     "verdicts v WHERE v.job = j.n) OR verdicts <> (SELECT coalesce(max(n), 0) FROM verdicts v "
     "WHERE v.job = j.n))"},
    {"tallies that differ from the sum of the verdicts",
     "SELECT count(*) FROM jobs j JOIN tallies t ON t.job = j.id WHERE j.finished IS NULL AND "
     "(t.count <> (SELECT coalesce(sum(count), 0) " OF_TALLY ") OR "
     "t.records <> (SELECT count(*) " OF_TALLY "))"},
};

static ft_status check_invariants(ft_sql *sql, const invariant *all, size_t n, const char *file,
                                  ft_error *err)
{
    for (size_t i = 0; i < n; i++) {
        int64_t broken = 0;
        ft_status status = ft_sql_number(sql, &broken, NULL, err, all[i].text, "");
        if (status != FT_OK) return status;
        if (broken > 0)
            return ft_error_set(err, FT_IO, "%s is damaged: %lld %s", file, (long long)broken,
                                all[i].what);
    }
    return FT_OK;
}

static ft_status check_all(ft_sql *sql, const char *file, ft_error *err)
{
    /* All of it as of one moment, also beside a daemon. */
    ft_status status = ft_sql_begin_reading(sql, err);
    if (status == FT_OK) status = sql->driver->check(sql, file, err);
    if (status == FT_OK)
        status =
            check_invariants(sql, INVARIANTS, sizeof INVARIANTS / sizeof *INVARIANTS, file, err);
    ft_sql_rollback(sql);
    return status;
}

ft_status ft_store_check_in_flight(ft_sql *sql, const char *file, ft_error *err)
{
    return check_invariants(sql, IN_FLIGHT, sizeof IN_FLIGHT / sizeof *IN_FLIGHT, file, err);
}

ft_status ft_store_check_version(ft_sql *sql, const char *file, ft_error *err)
{
    int64_t version = 0;
    const int own = ft_store_schema_version();
    ft_status status = ft_sql_version(sql, &version, err);
    if (status != FT_OK || version == own) return status;
    return ft_error_set(err, FT_UNSUPPORTED, "%s has schema version %lld; this program has %d: %s",
                        file, (long long)version, own,
                        version < own ? "start a daemon of this version on it first, or use the "
                                        "program that wrote it"
                                      : "use the program that wrote it");
}

ft_status ft_store_check_file(const char *file, ft_error *err)
{
    ft_sql sql = {.driver = NULL};
    ft_status status = ft_sql_open_existing(&sql, file, err);
    if (status == FT_OK) status = ft_store_check_version(&sql, file, err);
    if (status == FT_OK) status = check_all(&sql, file, err);
    ft_sql_close(&sql);
    return status;
}
