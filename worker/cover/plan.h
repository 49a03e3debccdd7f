/* Covering schedules as a job (docs/records.md). The plan finds the set, or reads the one that the
 * job has, and names its certificates: a subproblem each, which any worker answers by itself.
 *
 * Beside the members of a plan it has "set", which goes to whoever answers: the text of the set, or
 * true where the job has one. Certificates of one schedule follow each other in the plan, as they
 * are found together: a worker that gets several of them follows the schedule once. */
#ifndef FT_COVER_PLAN_H
#define FT_COVER_PLAN_H

#include <jansson.h>

#include "base/status.h"

struct ft_program;

/* The most bytes of a set that a job makes or checks: it goes to workers in one message. */
#define FT_COVER_SET_MOST (6u << 20)

/* PLAN of the job (its "cover" is the question of cover/request.h); new reference. The search takes
 * a share of the job's time. FT_USAGE, FT_INPUT: as ft_cover_request. FT_LIMIT: the set is too
 * large. */
ft_status ft_cover_plan(const struct ft_program *program, const json_t *spec, json_t **plan,
                        ft_error *err) FT_MUST_CHECK;

/* Answers certificates of one job. Borrows the program. */
typedef struct ft_cover_solver ft_cover_solver;
/* set: that of the plan; NULL: the job's own. FT_INPUT: it is not one of the program. */
ft_status ft_cover_solver_new(const struct ft_program *program, const json_t *spec, const char *set,
                              ft_cover_solver **solver, ft_error *err) FT_MUST_CHECK;
void ft_cover_solver_free(ft_cover_solver *solver); /* accepts NULL */
/* RECORD of the certificate with this key (report/certificates.h); new reference. FT_INPUT: the set
 * has no such certificate. */
ft_status ft_cover_solve(ft_cover_solver *solver, const char *key, json_t **record,
                         ft_error *err) FT_MUST_CHECK;

#endif
