/* A context as a job: from its specification to a plan that has no candidates, and the answer among
 * its notes (docs/records.md).
 *
 * `struct ft_program` is that of program/program.h, which this header leaves out: names of its
 * language are names of traces as well. */
#ifndef FT_CONTEXT_PLAN_H
#define FT_CONTEXT_PLAN_H

#include <jansson.h>

#include "base/status.h"

struct ft_program;

/* PLAN of the job (its "context" is the question of context/request.h); new reference. FT_USAGE:
 * the question names the wrong thing. */
ft_status ft_context_plan(const struct ft_program *program, const json_t *spec, json_t **plan,
                          ft_error *err) FT_MUST_CHECK;

#endif
