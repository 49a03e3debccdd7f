/* Analyses: what passes know about the trace, made once and shared by all of them.
 *
 * An analysis is opened when the first pass asks for it, because most jobs need few of them and
 * some take seconds. Those of scope TRACE hold for every model; those of scope MODEL are closed
 * with the engine of that model (wider.c). To add one: a row here and its open and release
 * functions in analyses.c. */
#ifndef FT_ENGINE_ANALYSES_H
#define FT_ENGINE_ANALYSES_H

#include "causality/causality.h"
#include "encode/decide.h"
#include "proofs/proofs.h"
#include "proofs/stuck/stuck.h"
#include "reduce/intervals/numbers.h"
#include "reduce/reduce.h"
#include "values/values.h"
#include "verdict/checker.h"
#include "witness/witness.h"

/*  symbol, name, type, scope, purpose */
#define FT_ANALYSIS_TABLE(X)                                                                       \
    X(CHECKER, checker, ft_checker, TRACE, "executes the observed run, then each witness")         \
    X(PREFIX, prefix, ft_prefix, TRACE, "least prefixes in observed order")                        \
    X(WRITES, writes, ft_writes, TRACE, "writes by variable")                                      \
    X(CAUSALITY, causality, ft_causality, MODEL, "causality graphs of claims")                     \
    X(STUCK, stuck, ft_stuck, MODEL, "final states in which every thread waits")                   \
    X(RESTING, resting, ft_stuck, MODEL, "the same, knowing the events that are fixed at rest")    \
    X(EXCLUSION, exclusion, ft_exclusion, MODEL, "levels of variables and units of semaphores")    \
    X(DOMAINS, domains, ft_domains, MODEL, "finite sets of values; NULL where there are none")     \
    X(INTERVALS, intervals, ft_intervals, MODEL,                                                   \
      "ranges of what events read and write; NULL where they are left out")                        \
    X(NUMBERS, numbers, ft_numbers, MODEL,                                                         \
      "bit-vectors that are Ints for Z3; NULL where intervals are left out")                       \
    X(WINDOWS, windows, ft_windows, MODEL, "ends of the run behind a cut")                         \
    X(SCHEDULES, schedules, ft_schedules, MODEL, "least schedules of plain traces")                \
    X(ORDER_BASE, order_base, ft_decider, MODEL, "the encoded trace, for the own solver")          \
    X(Z3_BASE, z3_base, ft_decider, MODEL, "the encoded trace, for Z3")

typedef enum ft_analysis {
#define FT_ROW(symbol, name, type, scope, purpose) FT_ANALYSIS_##symbol,
    FT_ANALYSIS_TABLE(FT_ROW)
#undef FT_ROW
        FT_ANALYSES
} ft_analysis;

typedef struct ft_analyses ft_analyses;

/* Events and possible read sources of a small trace, at most. */
#define FT_SHARED_EVENTS  3000u
#define FT_SHARED_SOURCES 60000u

/* The problem must outlive the analyses; DOMAINS sets its `domains`. trace (may be NULL) has those
 * of scope TRACE and outlives the new ones; NULL: the new ones have their own. */
ft_analyses *ft_analyses_new(ft_problem *problem, ft_analyses *trace);
void ft_analyses_free(ft_analyses *analyses); /* accepts NULL */

/* Opened by the first call. */
#define FT_ROW(symbol, name, type, scope, purpose) type *ft_analyses_##name(ft_analyses *analyses);
FT_ANALYSIS_TABLE(FT_ROW)
#undef FT_ROW

/* The next call opens it anew; for a problem that has changed. */
void ft_analyses_close(ft_analyses *analyses, ft_analysis which);

ft_problem *ft_analyses_problem(const ft_analyses *analyses);

/* Why intervals were left out; NONE: they were not. */
typedef struct ft_interval_cuts {
    ft_intervals_cut trace; /* INTERVALS */
    ft_intervals_cut claim; /* likewise, and those of the cone of the claim that was asked last */
} ft_interval_cuts;
ft_interval_cuts *ft_analyses_cuts(ft_analyses *analyses);

/* Is the trace small enough for one encoding that serves all claims by assumptions? Beyond, each
 * claim gets its own, of its cone: a query of the shared one pays for the rest of the trace. */
bool ft_analyses_is_small(const ft_analyses *analyses);
/* [events], scratch for one cone. */
uint8_t *ft_analyses_cone(ft_analyses *analyses);

#endif
