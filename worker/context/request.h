/* Contexts as documents: a question in JSON, its answer in JSON (docs/records.md: CONTEXT).
 *
 *   {"threads": [{"name": "T1", "at": "queue.c:40", "reading": "waiting"}], "others": true,
 *    "without": ["must-held"], "wake": "any", "steps": 10, "orders": "every", "replay_runs": 2000}
 *
 * `at` is FILE:LINE[:COLUMN], where FILE is the end of a path, or @FUNCTION:N, the N-th instruction
 * of a function from 0. Several functions or parts of one may stand in one line: then any of them.
 *
 * The answer's "together" is `never` (proved, "assuming" what it says), `reached` (a run of the
 * interpreter from the program's entry gets there; "replay" has its inputs and steps) or `not
 * refuted`. */
#ifndef FT_CONTEXT_REQUEST_H
#define FT_CONTEXT_REQUEST_H

#include <jansson.h>

#include "base/memory.h"
#include "context/context.h"

/* FT_USAGE: the question names the wrong thing, and the message says which. *answer: a new
 * reference. should_stop may be NULL. */
ft_status ft_context_request(const ft_program *program, const json_t *question,
                             bool (*should_stop)(void *context), void *context, json_t **answer,
                             ft_error *err) FT_MUST_CHECK;

/* A run from the entry that gets the threads to their places (replay.c). */
typedef struct ft_context_replay {
    FT_VEC(uint64_t) steps;     /* thread, then variant, of each */
    FT_VEC(uint64_t) inputs;    /* in the order in which they are read */
    FT_VEC(const char *) names; /* of the inputs; the program's */
    uint64_t runs;              /* that were tried */
} ft_context_replay;
bool ft_context_find(const ft_program *program, const ft_context_options *options, uint64_t runs,
                     ft_context_replay *found);
void ft_context_replay_release(ft_context_replay *replay);

#endif
