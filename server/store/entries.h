/* The plans' entries for their subproblems (docs/records.md, "plan"), as their texts. */
#ifndef FT_STORE_ENTRIES_H
#define FT_STORE_ENTRIES_H

#include "base/strbuf.h"
#include "store/sql.h"
#include "wire/scan.h"

#define FT_ENTRIES_ROW 16 /* entries of a row */

/* A task has a number in its job: 0 is the plan, 1, 2, ... are subproblems 0, 1, ... of the plan.
 */
#define FT_TASK_BITS       28
#define FT_TASK_NUMBERS    "268435455" /* in SQL: the number of an id is id & this */
#define FT_TASK_MOST       ((int64_t)268435455)
#define FT_TASK_ID(n, i)   ((int64_t)(n) << FT_TASK_BITS | (int64_t)(i)) /* n: jobs.n */
#define FT_TASK_JOB(id)    ((id) >> FT_TASK_BITS)
#define FT_TASK_NUMBER(id) ((id)&FT_TASK_MOST)

typedef struct ft_entry {
    ft_span text, check, key;
} ft_entry;

/* The row that was read last: tasks are asked for one after the other. Zero-initialise. */
typedef struct ft_entries {
    int64_t first; /* id; 0: none was read */
    size_t count;
    ft_strbuf list;
    ft_span items[FT_ENTRIES_ROW];
} ft_entries;
void ft_entries_release(ft_entries *entries);

/* Of a subproblem's task, or of one of its cubes; valid until the next one is asked for.
 * FT_INTERNAL: there is none. */
ft_status ft_entries_find(ft_sql *sql, ft_entries *entries, int64_t task, ft_entry *entry,
                          ft_error *err) FT_MUST_CHECK;
/* Stores those of a job's plan, which are subproblems first, first + 1, ...: a text of at most
 * FT_ENTRIES_ROW values with commas between; in place of what a plan before had there. */
ft_status ft_entries_add(ft_sql *sql, int64_t job, int64_t first, ft_span values,
                         ft_error *err) FT_MUST_CHECK;

#endif
