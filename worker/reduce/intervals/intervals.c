#include "reduce/intervals/intervals.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/contract.h"

enum { MOST_STEPS = 3000, MOST_WORK = 4000000, MOST_MS = 50 };

ft_intervals_options ft_intervals_limits(void)
{
    return (ft_intervals_options){.most_steps = MOST_STEPS, .work = MOST_WORK, .ms = MOST_MS};
}

static bool analyse(ft_intervals *v, const ft_intervals_options *options, double deadline)
{
    const ft_stepping_options cut = {.cone = options->cone,
                                     .probes = options->probes,
                                     .n_probes = options->n_probes,
                                     .most = options->most_steps};
    v->steps = ft_stepping_new(v->problem, &cut);
    if (!v->steps) return false;
    const ft_transactions_options pairs = {.kind = FT_MAT_FEASIBLE, .work = options->work};
    v->transactions = ft_transactions_new(v->steps, &pairs);
    if (!v->transactions) return false;
    v->graph = ft_graph_new(v->transactions);
    const ft_ranges_options walk = {.kind = FT_PROPAGATE_POSITIONS,
                                    .lookahead = 1,
                                    .work = options->work,
                                    .deadline = deadline};
    v->ranges = ft_ranges_new(v->graph, options->probes, options->n_probes, &walk);
    return v->ranges;
}

ft_intervals *ft_intervals_new(const ft_problem *problem, const ft_intervals_options *options)
{
    FT_REQUIRE(problem && options);
    if (problem->model != FT_MODEL_CTP) return NULL;
    double start = ft_now_ms();
    ft_intervals *v = ft_calloc(1, sizeof *v);
    v->problem = problem;
    bool whole = analyse(v, options, start + options->ms);
    v->ms = ft_now_ms() - start;
    if (whole) return v;
    ft_intervals_free(v);
    return NULL;
}

void ft_intervals_free(ft_intervals *v)
{
    if (!v) return;
    ft_ranges_free(v->ranges);
    ft_graph_free(v->graph);
    ft_transactions_free(v->transactions);
    ft_stepping_free(v->steps);
    free(v);
}

bool ft_intervals_access(const ft_intervals *v, uint32_t e, uint32_t i, ft_range *range)
{
    FT_REQUIRE(v && range);
    if (!ft_stepping_has(v->steps, e)) return false;
    *range = ft_ranges_access(v->ranges, e, i);
    return !ft_range_is_empty(*range);
}

bool ft_intervals_hold(const ft_intervals *v, uint32_t assertion)
{
    return ft_stepping_has(v->steps, assertion) &&
           ft_ranges_condition(v->ranges, assertion).low > 0;
}

/* A condition is a read of its own. */
static bool prove_condition(const ft_intervals *v, const ft_claim *claim,
                            const ft_intervals_options *options)
{
    const ft_probe probe = {claim->events[0], claim->condition};
    ft_intervals_options with = *options;
    with.probes = &probe;
    with.n_probes = 1;
    if (!ft_stepping_has(v->steps, claim->events[0])) return false;
    ft_intervals *own = ft_intervals_new(v->problem, &with);
    bool proved = own && own->ranges->probes.data[0].low > 0;
    ft_intervals_free(own);
    return proved;
}

bool ft_intervals_prove(const ft_intervals *v, const ft_claim *claim,
                        const ft_intervals_options *options)
{
    FT_REQUIRE(v && claim && options);
    if (claim->kind == FT_CLAIM_ASSERTION) return ft_intervals_hold(v, claim->events[0]);
    return claim->kind == FT_CLAIM_CONDITION && prove_condition(v, claim, options);
}
