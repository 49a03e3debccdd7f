/* Cubes: parts of a subproblem that took long, each a task of its own (schema 0010). The subproblem
 * has its verdict with the first violation of a cube, or when all of its cubes have theirs; it is
 * one open task of its job until then. For server/store alone. */
#ifndef FT_STORE_CUBES_H
#define FT_STORE_CUBES_H

#include <jansson.h>

#include "store/entries.h"
#include "store/results.h"

#define FT_CUBE_FIRST ((int64_t)1 << 27) /* the least number of a cube's task */
#define FT_CUBE_BIT   "134217728"        /* in SQL: of its id */
#define FT_CUBES_MOST 64                 /* of a subproblem */
/* Tasks of subtrees (subtrees.h) have that bit, too, and numbers from here on. */
#define FT_SUBTREE_FIRST (FT_CUBE_FIRST | (int64_t)1 << 26)

static inline bool ft_task_is_subtree(int64_t task)
{
    return FT_TASK_NUMBER(task) >= FT_SUBTREE_FIRST;
}

static inline bool ft_task_is_cube(int64_t task)
{
    return FT_TASK_NUMBER(task) >= FT_CUBE_FIRST && !ft_task_is_subtree(task);
}

/* Changes of a job's ready tasks in a transaction. */
typedef struct ft_cube_counts {
    int64_t ready, dropped; /* more (or less) of them */
    json_t *gone;           /* an array, the caller's: tokens of leases that ended with a parent */
} ft_cube_counts;

/* The member "cubes" of a worker's record: an array; at NULL: it has none. */
ft_span ft_cubes_of(ft_span record);
/* Splits the task that is leased under the token: *applied. FT_INPUT: they are not 2 to
 * FT_CUBES_MOST cubes. */
ft_status ft_cubes_split(ft_sql *sql, int64_t task, uint64_t token, ft_span cubes, bool *applied,
                         ft_cube_counts *counts, ft_error *err) FT_MUST_CHECK;
/* The task of a cube's subproblem, with its CUBE (may be NULL) added to the text. FT_INTERNAL: it
 * is not a cube's. */
ft_status ft_cubes_parent(ft_sql *sql, int64_t task, int64_t *parent, ft_strbuf *cube,
                          ft_error *err) FT_MUST_CHECK;
/* The index-th of the results is a cube's whose task has ended. What its subproblem has as its
 * verdict now is added to `decided`, if it has one. */
ft_status ft_cubes_take(ft_sql *sql, const ft_results *results, size_t index, ft_results *decided,
                        ft_cube_counts *counts, ft_error *err) FT_MUST_CHECK;
/* The subproblem has its verdict: it and its cubes are no tasks any more. */
ft_status ft_cubes_settle(ft_sql *sql, int64_t parent, ft_cube_counts *counts,
                          ft_error *err) FT_MUST_CHECK;
/* Adds the counts to the job's. */
ft_status ft_cubes_count(ft_sql *sql, const char *job, const ft_cube_counts *counts,
                         ft_error *err) FT_MUST_CHECK;
/* The job has none any more: its subproblems are tasks as they were. */
ft_status ft_cubes_drop(ft_sql *sql, const char *job, ft_error *err) FT_MUST_CHECK;

#endif
