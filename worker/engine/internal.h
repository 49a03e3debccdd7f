/* Internals of the engine, shared by engine.c (life, plan) and the files beside it (subproblems).
 */
#ifndef FT_ENGINE_INTERNAL_H
#define FT_ENGINE_INTERNAL_H

#include "engine/cubes.h"
#include "engine/doubt.h"
#include "engine/engine.h"
#include "engine/passes.h"
#include "engine/record.h"

/* Refuted groups are listed one by one up to this many; beyond, one record per reason and lock. */
#define FT_LISTED_REFUTED 1000u

struct ft_engine {
    ft_trace *trace;
    char *trace_hash;
    ft_spec spec;
    ft_order *order;
    ft_run *run;
    ft_problem problem;
    FT_VEC(ft_term) conditions; /* of the properties */
    ft_slice *slice;            /* NULL: every read matters */
    ft_record_context context;
    ft_analyses *analyses;            /* for problem.model */
    ft_pass_tally tallies[FT_PASSES]; /* of the group at hand */
    bool narrowed;                    /* the sets of values have been cut to the ranges */
    ft_candidates *candidates;        /* NULL until planned */
    FT_VEC(uint32_t) subproblems;     /* group ids */
    ft_engine *wider;           /* wider.c; NULL until needed, and where nothing is asked of it */
    ft_doubt *doubt;            /* of a broken trace; NULL: it is not, or all is in doubt */
    ft_engine *relaxed;         /* of its relaxed trace; NULL until needed */
    uint32_t split_ms;          /* of the group at hand, past which it is split; 0: it is not */
    ft_cubes cubes;             /* of it, when its time was up */
    double looked_ms, wider_ms; /* that its groups took so far, by this one and by the wider one */
};

ft_status ft_engine_prepare(ft_engine *engine, ft_error *err) FT_MUST_CHECK; /* candidates */

/* All that is made for problem.model. trace: as for ft_analyses_new. */
void ft_engine_open_model(ft_engine *engine, ft_analyses *trace);
void ft_engine_release_model(ft_engine *engine);

/* Counts a question that the pass was asked at `start` (ft_now_ms). */
void ft_engine_tally(ft_engine *engine, ft_pass_id pass, bool decided, double start);
/* Counts a question that the pass left out, if it did. */
void ft_engine_tally_cut(ft_engine *engine, ft_pass_id pass, ft_intervals_cut cut);

/* The job leaves the pass out. */
static inline bool ft_engine_goes_without(const ft_engine *engine, ft_pass_id pass)
{
    return engine->spec.without >> pass & 1;
}

/* The decision on one claim. */
typedef struct ft_judgement {
    ft_verdict verdict;
    ft_reason reason;
    uint32_t bound; /* violation, bounded: context switches it was decided for, else FT_NO_BOUND */
    bool more;      /* none within the bound was found, and a larger one may have another answer */
    bool reduced;   /* violation: the witness is in its last form, and `minimised` says how */
    ft_minimised minimised;
    char text[200]; /* more than the reason says (cut to fit), or empty */
} ft_judgement;
ft_judgement ft_judgement_of(ft_verdict verdict, ft_reason reason); /* the rest empty */

/* claim.c: one claim, by the solvers and then the checker, until the deadline (ft_now_ms).
 * stats is added to. witness and reading are filled on a violation. */
ft_judgement ft_engine_solve_claim(ft_engine *engine, const ft_claim *claim, double deadline,
                                   ft_witness *witness, ft_reading *reading,
                                   ft_decide_stats *stats);

/* The checker has the last word on every witness. A refused one is released; err: why. */
ft_status ft_engine_confirm(ft_engine *engine, ft_witness *witness, ft_reading *reading,
                            ft_error *err);

/* window.c: races and atomicity over plain traces, exact however long the trace is. */
bool ft_engine_has_windows(ft_engine *engine, const ft_claim *claim);
/* share: percent of the time left that a window may take. */
ft_answer ft_engine_decide_in_windows(ft_engine *engine, const ft_question *question,
                                      uint32_t share, ft_witness *witness, ft_decide_stats *stats);

/* witness.c: witnesses in their last form, checked: reading is filled. Of claims that are
 * served. False: none, and nothing was touched. */
bool ft_engine_serves_schedules(ft_engine *engine, const ft_claim *claim);
bool ft_engine_accept(ft_engine *engine, const ft_claim *claim, uint32_t bound, ft_witness *witness,
                      ft_reading *reading, ft_minimised *minimised);
/* Of any claim's witness, checked or not; the old steps are freed. */
bool ft_engine_reduce(ft_engine *engine, ft_witness *witness, ft_reading *reading,
                      ft_minimised *minimised);

/* group.c: calls visit for each claim of the group that the plan left, but for what the cut
 * leaves out (NULL: nothing), until it is false. */
void ft_engine_each_claim(const ft_engine *engine, const ft_group *group, const ft_claim_cut *cut,
                          ft_claim_visit visit, void *context);

json_t *ft_engine_solve_group(ft_engine *engine, const ft_group *group);

/* wider.c: long traces, whose model nobody chose. What `observed` refutes, `maximal` is asked
 * for as well while that takes little time beside it. */
bool ft_engine_looks_wider(const ft_engine *engine); /* at any of its groups */
/* The engine to ask about a group that this one refuted; NULL: nobody. *ms: the milliseconds that
 * are left of the group's time, made those that it has. */
ft_engine *ft_engine_wider(ft_engine *engine, double *ms);

/* relaxed.c: broken traces. The engine of the relaxed trace, which refutes what is safe whatever
 * happened at the break; NULL: none. */
ft_engine *ft_engine_relaxed(ft_engine *engine);
void ft_engine_free_relaxed(ft_engine *engine);
/* The plan's refutations of the group hold whatever happened at the break. */
bool ft_engine_pruned_certainly(const ft_engine *engine, const ft_group *group);
/* Reasons of the plan that depend on the hard order alone, or on the lock that they name. */
bool ft_engine_is_certain_reason(const ft_engine *engine, ft_reason reason, uint32_t lock);
void ft_engine_free_wider(ft_engine *engine);

#endif
