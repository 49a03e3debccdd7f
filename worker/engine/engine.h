/* The analysis engine: plans a job over a trace and decides its subproblems.
 *
 * A plan is deterministic: any worker that plans the same job over the same trace numbers the same
 * subproblems the same way, so a subproblem travels as its number and key.
 *
 * Imports: candidate, causality, encode, order, problem, proofs, proofs/stuck, reduce,
 * reduce/intervals, solve, values, witness, common/base, common/report, common/trace,
 * common/verdict. */
#ifndef FT_ENGINE_H
#define FT_ENGINE_H

#include <jansson.h>

#include "trace/trace.h"
#include "verdict/claim.h"

typedef struct ft_engine ft_engine;

/* Of longer traces the model `maximal` takes as many minutes for some candidates as `observed`
 * takes seconds: they have `observed`, and what it refutes is looked at once more, for a time that
 * is small beside that, under `maximal`; the record says under which model it was decided. All the
 * time that it needs `maximal` has where it is asked for. */
#define FT_ENGINE_MAXIMAL 20000 /* events */

/* The models a trace supports, least precise first, and the default (the most precise one, see
 * FT_ENGINE_MAXIMAL).
 *   observed: always. maximal: every read and write has a value, given or computed. ctp: likewise,
 *   and at least one event is symbolic, and so are those in arms that the run did not take (writes
 *   with a value apart). */
void ft_engine_models(const ft_trace *trace, bool supported[FT_MODELS], ft_model *initial);

/* META of docs/records.md for a fresh trace (after ft_observe_run). New reference. */
json_t *ft_engine_trace_meta(const ft_trace *trace, const char *trace_hash);

/* The same of a trace that nobody keeps (verdict/intake.h): its tables and so many events; valued,
 * symbolic: order/run.h. */
json_t *ft_engine_tables_meta(const ft_trace *trace, uint32_t n_events, bool valued, bool symbolic,
                              const char *trace_hash);

/* Opens an engine for one job (JOB of docs/records.md). The trace must outlive the engine; its
 * term pool grows (conditions of properties). FT_USAGE: the spec is malformed or asks for what the
 * trace does not support; the message names the member. */
ft_status ft_engine_new(ft_trace *trace, const char *trace_hash, const json_t *spec,
                        ft_engine **engine, ft_error *err) FT_MUST_CHECK;
void ft_engine_free(ft_engine *engine); /* accepts NULL */

/* PLAN of docs/records.md. New reference. */
ft_status ft_engine_plan(ft_engine *engine, json_t **plan, ft_error *err) FT_MUST_CHECK;

/* Decides one subproblem of the plan (made first if needed); RECORD of docs/records.md. `key` (may
 * be NULL) must be the subproblem's. A budget that ran out is a record with verdict unknown, a
 * witness that the checker refuses one with verdict error; neither is a failure of this call. */
ft_status ft_engine_solve(ft_engine *engine, uint32_t subproblem, const char *key, json_t **record,
                          ft_error *err) FT_MUST_CHECK;

/* How much of a subproblem. */
typedef struct ft_engine_part {
    const json_t *cube; /* CUBE of engine/cubes.h: of its schedules only those; NULL: all */
    uint32_t split_ms;  /* if it takes longer: a record with verdict unknown and with "cubes", an
                           array of CUBEs that have all of its schedules together, at least two;
                           where there is nothing to split by its whole budget is used. 0: never.
                           A cube is not split */
} ft_engine_part;
/* The same of a part. A violation is one of the whole. */
ft_status ft_engine_solve_part(ft_engine *engine, uint32_t subproblem, const char *key,
                               const ft_engine_part *part, json_t **record,
                               ft_error *err) FT_MUST_CHECK;

/* Decides a single claim without the pruning passes: solver and checker alone. witness (may be
 * NULL) is filled on FT_VERDICT_VIOLATION; release it. For tests and benchmarks. */
ft_status ft_engine_decide(ft_engine *engine, const ft_claim *claim, ft_verdict *verdict,
                           ft_reason *reason, ft_witness *witness, ft_error *err) FT_MUST_CHECK;

/* Takes the trace, of a job with the model `maximal`, for a long one whose model nobody chose.
 * Before the plan; for tests. */
void ft_engine_take_for_long(ft_engine *engine);

#endif
