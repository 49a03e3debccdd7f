/* Subtrees: the tasks that an exploration is shared out as (schema 0012; common/explore/subtree.h).
 *
 * The plan, and each task after it, gives back what it found, what it counted, and tasks for what
 * it left. All of that is one transaction with the task's end, so that a task whose worker dies has
 * changed nothing. What several tasks may come to, a finding or a subtree that they propose, has a
 * key, and counts once. Further points at which threads change (EXPLORED of docs/records.md) begin
 * the search anew, in another round. When no task is left a last one has the verdicts of the rest,
 * which is a subproblem of each check: those are open until then. For server/store alone. */
#ifndef FT_STORE_SUBTREES_H
#define FT_STORE_SUBTREES_H

#include "store/cubes.h"

#define FT_SUBTREES_MOST ((int64_t)1 << 26) /* of a job */

/* The result of a task, as spans of its text; at NULL: it has no such member. */
typedef struct ft_part {
    const char *job;
    int64_t task;
    uint64_t token;
    ft_span explored, subtrees, proposals, notes;
    bool anew; /* the search begins anew */
    bool ends; /* its records are those of the rest, one a subproblem */
    const ft_results *records;
} ft_part;

/* After the plan was stored: a job over a program with its first subtrees, if there are any. */
ft_status ft_subtrees_begin(ft_sql *sql, const ft_part *part, ft_error *err) FT_MUST_CHECK;
/* The result of a task: *applied unless it is not leased under the token any more. Tokens of leases
 * that are over are added to `gone`, an array. FT_INPUT: it is not the result of one. */
ft_status ft_subtrees_take(ft_sql *sql, const ft_part *part, bool *applied, json_t *gone,
                           ft_error *err) FT_MUST_CHECK;
/* The task is no longer one: workers die on it. What it would have found is left open, for that
 * reason. */
ft_status ft_subtrees_give_up(ft_sql *sql, const char *job, int64_t task, const char *text,
                              ft_error *err) FT_MUST_CHECK;
/* Half of the job's time is over: a task for the first levels of preemptions, so that something is
 * said of all executions; later rounds have one from their beginning. *applied: they were not
 * complete, and no node has asked for them before. */
ft_status ft_subtrees_add_levels(ft_sql *sql, const char *job, bool *applied,
                                 ft_error *err) FT_MUST_CHECK;
/* None of the subtrees is a task any more, since the job's time is over; what was done gets its
 * word. *applied: there were some. */
ft_status ft_subtrees_close(ft_sql *sql, const char *job, bool *applied, json_t *gone,
                            ft_error *err) FT_MUST_CHECK;
/* Is it the task with the verdicts of the rest? */
ft_status ft_subtrees_is_end(ft_sql *sql, int64_t task, bool *is, ft_error *err) FT_MUST_CHECK;
/* The name of a task's subtrees as a JSON string, added to the text. */
ft_status ft_subtrees_name(ft_sql *sql, int64_t task, ft_strbuf *text, ft_error *err) FT_MUST_CHECK;
/* EXPLORED as a text; NULL: the job is not an exploration. */
ft_status ft_subtrees_state(ft_sql *sql, int64_t job, char **state, ft_error *err) FT_MUST_CHECK;
/* {"subtrees": {"done", "open"}, "rounds", "classes", "runs"} of a job; NULL: it is not an
 * exploration, or not planned. */
ft_status ft_subtrees_progress(ft_sql *sql, const char *job, json_t **progress,
                               ft_error *err) FT_MUST_CHECK;
/* The job has ended: only its sums stay. */
ft_status ft_subtrees_drop(ft_sql *sql, const char *job, ft_error *err) FT_MUST_CHECK;
/* Nor they: the job goes. */
ft_status ft_subtrees_forget(ft_sql *sql, const char *job, ft_error *err) FT_MUST_CHECK;

#endif
