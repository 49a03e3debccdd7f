/* Covering schedules as a job: from its specification to a plan that has no candidates, and the
 * answer among its notes (docs/records.md). */
#ifndef FT_COVER_PLAN_H
#define FT_COVER_PLAN_H

#include <jansson.h>

#include "base/status.h"

struct ft_program;

/* PLAN of the job (its "cover" is the question of cover/request.h, whose seconds are
 * nine tenths of the job's budget); new reference. FT_USAGE, FT_INPUT: as ft_cover_request. */
ft_status ft_cover_plan(const struct ft_program *program, const json_t *spec, json_t **plan,
                        ft_error *err) FT_MUST_CHECK;

#endif
