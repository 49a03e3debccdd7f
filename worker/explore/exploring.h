/* Exploring a program as a job: from its specification to a plan with verdicts (docs/records.md).
 *
 * A plan has the candidates of each check: one for each bug that was found, and one for the rest of
 * the executions. The rest is `safe` only where every schedule and every input was executed, no
 * data race was left aside, no bound cut a run and nothing was unknown; `bounded` where bounds that
 * the job names cut runs; else `unknown`. Each bug was executed once more by the interpreter, with
 * its inputs and schedule, before it gets a record (program/witness/witness.h).
 *
 * Data races are findings. Where a job looks for more than races, their accesses become points at
 * which threads change, and the search begins anew: so what is said holds for the interleavings of
 * the accesses as well.
 *
 * `struct ft_program` is that of program/program.h, which this header leaves out: names of its
 * language are names of traces as well. */
#ifndef FT_WORKER_EXPLORE_EXPLORING_H
#define FT_WORKER_EXPLORE_EXPLORING_H

#include <jansson.h>
#include <stdint.h>

#include "base/strbuf.h"

struct ft_program;

/* Do the bytes begin as a program's binary form does? */
bool ft_explored_is_binary(const void *head, size_t length);
/* Reads either form; the caller frees it. FT_INPUT with the place. */
ft_status ft_explored_read(const void *bytes, size_t length, struct ft_program **program,
                           ft_error *err) FT_MUST_CHECK;
void ft_explored_write(const struct ft_program *program, ft_strbuf *out); /* the binary form */
void ft_explored_free(struct ft_program *program);                        /* accepts NULL */

/* Progress for people who wait; asked for now and then. */
typedef struct ft_exploring_progress {
    void (*say)(void *context, uint64_t runs, uint64_t classes, uint64_t found);
    void *context;
} ft_exploring_progress;

/* How a job is shared out. A plan that takes longer than soft_ms ends early and names the subtrees
 * (explore/subtree.h) that are open; so does a part. Zero: nobody else would search them. */
typedef struct ft_exploring_share {
    uint32_t soft_ms;
    uint64_t soft_runs; /* the same after so many executions; 0: no bound */
    uint32_t parts;     /* tasks that are handed back at most, each with some subtrees */
} ft_exploring_share;

/* PLAN of the job (JOB of docs/records.md with "program"); new reference. FT_USAGE: the
 * specification asks for what there is not; FT_UNSUPPORTED: the program has what is not explored,
 * with the place. The program is as its binary form numbers it. progress may be NULL. */
ft_status ft_exploring_plan(const struct ft_program *program, const json_t *spec,
                            ft_exploring_share share, const ft_exploring_progress *progress,
                            json_t **plan, ft_error *err) FT_MUST_CHECK;
/* One of the tasks that were handed back: its result, in the form of a plan. `explored`: EXPLORED
 * of docs/records.md, which the results before it add up to. FT_INPUT: one of both is not what this
 * program's tasks are. */
ft_status ft_exploring_part(const struct ft_program *program, const json_t *spec,
                            const json_t *explored, const char *task, ft_exploring_share share,
                            const ft_exploring_progress *progress, json_t **result,
                            ft_error *err) FT_MUST_CHECK;

/* META of docs/records.md, without its sizes; new reference. */
json_t *ft_explored_meta(const struct ft_program *program, const char *hash);

#endif
