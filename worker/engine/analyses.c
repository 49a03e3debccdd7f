#include "engine/analyses.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/memory.h"

enum { SCOPE_TRACE, SCOPE_MODEL };

struct ft_analyses {
    ft_problem *problem;
    ft_analyses *trace; /* has those of scope TRACE: these themselves, or another model's */
    bool open[FT_ANALYSES], opening[FT_ANALYSES];
    void *state[FT_ANALYSES];
    bool small;
    uint8_t *cone; /* NULL: never asked for */
    ft_interval_cuts cuts;
    ft_problem at_rest; /* of RESTING */
    uint64_t *fixed;
};

/* ---- open and release ------------------------------------------------------------------------ */

static void *open_checker(ft_analyses *a)
{
    return ft_checker_new(a->problem->trace);
}

static void *open_prefix(ft_analyses *a)
{
    return ft_prefix_new(a->problem->trace, a->problem->order, a->problem->run);
}

static void *open_writes(ft_analyses *a)
{
    ft_writes *writes = ft_calloc(1, sizeof *writes);
    ft_writes_init(writes, a->problem->trace);
    return writes;
}

static void *open_causality(ft_analyses *a)
{
    return ft_causality_new(a->problem, FT_CAUSALITY_ALL);
}

static void *open_stuck(ft_analyses *a)
{
    return ft_stuck_new(a->problem, ft_analyses_causality(a));
}

static void *open_resting(ft_analyses *a)
{
    a->fixed = ft_fixed_find(a->problem, ft_analyses_writes(a));
    a->at_rest = *a->problem;
    a->at_rest.fixed = a->fixed;
    return ft_stuck_new(&a->at_rest, ft_analyses_causality(a));
}

static void *open_exclusion(ft_analyses *a)
{
    return ft_exclusion_new(a->problem);
}

static void *open_domains(ft_analyses *a)
{
    ft_domains *domains = ft_domains_new(a->problem, ft_analyses_writes(a));
    a->problem->domains = domains;
    return domains;
}

/* Every read has a set: the own solver decides by its tables, mostly sooner than ranges are found.
 */
static bool are_finite(ft_analyses *a)
{
    const ft_trace *trace = a->problem->trace;
    const ft_domains *domains = ft_analyses_domains(a);
    for (uint32_t e = 0; domains && e < trace->n_events; e++) {
        const ft_action *action = ft_trace_action(trace, e);
        for (uint32_t i = 0; action && i < action->n_accesses; i++) {
            if (action->accesses[i].write) continue;
            const ft_domain *set = ft_domains_read(domains, e, i);
            if (!set || set->any) return false;
        }
    }
    return domains;
}

static void *open_intervals(ft_analyses *a)
{
    ft_intervals_options limits = ft_intervals_limits();
    limits.cut = &a->cuts.trace;
    if (a->problem->solver != FT_SOLVER_Z3 && are_finite(a)) {
        a->cuts.trace = FT_INTERVALS_CUT_FINITE;
        return NULL;
    }
    return ft_intervals_new(a->problem, &limits);
}

static void *open_numbers(ft_analyses *a)
{
    const ft_intervals *intervals = ft_analyses_intervals(a);
    return intervals ? ft_numbers_new(intervals) : NULL;
}

static void *open_windows(ft_analyses *a)
{
    return ft_windows_new(a->problem);
}

static void *open_schedules(ft_analyses *a)
{
    return ft_schedules_new(a->problem);
}

static void *open_order_base(ft_analyses *a)
{
    FT_REQUIRE(a->problem->solver == FT_SOLVER_ORDER);
    return ft_decider_new(a->problem, NULL);
}

static void *open_z3_base(ft_analyses *a)
{
    FT_REQUIRE(a->problem->solver == FT_SOLVER_Z3);
    return ft_decider_new(a->problem, NULL);
}

/* release_NAME: no more than freed. */
#define FT_FREED(name, free_state)                                                                 \
    static void release_##name(ft_analyses *a, void *state)                                        \
    {                                                                                              \
        (void)a;                                                                                   \
        free_state(state);                                                                         \
    }
FT_FREED(checker, ft_checker_free)
FT_FREED(prefix, ft_prefix_free)
FT_FREED(stuck, ft_stuck_free)
FT_FREED(exclusion, ft_exclusion_free)
FT_FREED(windows, ft_windows_free)
FT_FREED(schedules, ft_schedules_free)
FT_FREED(order_base, ft_decider_free)
FT_FREED(z3_base, ft_decider_free)
#undef FT_FREED

static void release_resting(ft_analyses *a, void *state)
{
    ft_stuck_free(state);
    free(a->fixed);
    a->fixed = NULL;
}

static void release_writes(ft_analyses *a, void *state)
{
    (void)a;
    ft_writes_release(state);
    free(state);
}

static void release_causality(ft_analyses *a, void *state)
{
    if (a->problem->causality == state) a->problem->causality = NULL;
    ft_causality_free(state);
}

static void release_intervals(ft_analyses *a, void *state)
{
    if (a->problem->intervals == state) a->problem->intervals = NULL;
    if (a->problem->bounds == state) a->problem->bounds = NULL;
    if (a->problem->widths == state) a->problem->widths = NULL;
    ft_intervals_free(state);
}

static void release_numbers(ft_analyses *a, void *state)
{
    if (a->problem->numbers == state) a->problem->numbers = NULL;
    ft_numbers_free(state);
}

static void release_domains(ft_analyses *a, void *state)
{
    a->problem->domains = NULL;
    ft_domains_free(state);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    int scope;
    void *(*open)(ft_analyses *analyses);
    void (*release)(ft_analyses *analyses, void *state);
} ROWS[FT_ANALYSES] = {
#define FT_ROW(symbol, name, type, scope, purpose)                                                 \
    [FT_ANALYSIS_##symbol] = {SCOPE_##scope, open_##name, release_##name},
    FT_ANALYSIS_TABLE(FT_ROW)
#undef FT_ROW
};

/* Writes are counted first: each may be the source of each read of its variable. */
static bool is_small(const ft_problem *problem)
{
    const ft_trace *trace = problem->trace;
    if (trace->n_events > FT_SHARED_EVENTS) return false;
    uint64_t sources = 0;
    uint32_t *writes = ft_calloc((size_t)trace->shared.len + 1, sizeof *writes), count;
    ft_access scratch;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++) writes[accesses[i].variable] += accesses[i].write;
    }
    for (uint32_t e = 0; e < trace->n_events; e++) {
        const ft_access *accesses = ft_trace_accesses(trace, e, &scratch, &count);
        for (uint32_t i = 0; i < count; i++)
            if (!accesses[i].write)
                sources +=
                    problem->model == FT_MODEL_OBSERVED ? 1 : writes[accesses[i].variable] + 1;
    }
    free(writes);
    return sources <= FT_SHARED_SOURCES;
}

ft_analyses *ft_analyses_new(ft_problem *problem, ft_analyses *trace)
{
    FT_REQUIRE(!trace || trace->problem->trace == problem->trace);
    ft_analyses *a = ft_calloc(1, sizeof *a);
    a->problem = problem;
    a->trace = trace ? trace : a;
    a->small = is_small(problem);
    return a;
}

static void *get(ft_analyses *analyses, ft_analysis which)
{
    ft_analyses *a = ROWS[which].scope == SCOPE_TRACE ? analyses->trace : analyses;
    if (a->open[which]) return a->state[which];
    assert(!a->opening[which]); /* no analysis needs itself */
    a->opening[which] = true;
    a->state[which] = ROWS[which].open(a);
    a->opening[which] = false;
    a->open[which] = true;
    return a->state[which];
}

#define FT_ROW(symbol, name, type, scope, purpose)                                                 \
    type *ft_analyses_##name(ft_analyses *analyses)                                                \
    {                                                                                              \
        return get(analyses, FT_ANALYSIS_##symbol);                                                \
    }
FT_ANALYSIS_TABLE(FT_ROW)
#undef FT_ROW

void ft_analyses_close(ft_analyses *analyses, ft_analysis which)
{
    FT_REQUIRE(which < FT_ANALYSES);
    if (!analyses->open[which]) return;
    ROWS[which].release(analyses, analyses->state[which]);
    analyses->open[which] = false;
    analyses->state[which] = NULL;
}

/* Those that come later in the table are made from earlier ones. */
void ft_analyses_free(ft_analyses *analyses)
{
    if (!analyses) return;
    for (int which = FT_ANALYSES; which-- > 0;) ft_analyses_close(analyses, (ft_analysis)which);
    free(analyses->cone);
    free(analyses);
}

ft_problem *ft_analyses_problem(const ft_analyses *analyses)
{
    return analyses->problem;
}

ft_interval_cuts *ft_analyses_cuts(ft_analyses *analyses)
{
    return &analyses->cuts;
}

bool ft_analyses_is_small(const ft_analyses *analyses)
{
    return analyses->small;
}

uint8_t *ft_analyses_cone(ft_analyses *analyses)
{
    if (!analyses->cone) analyses->cone = ft_alloc(analyses->problem->trace->n_events);
    return analyses->cone;
}
