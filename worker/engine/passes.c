#include "engine/passes.h"

#include "base/contract.h"

#ifdef FT_FAULTS
int ft_pass_fault = FT_NO_PASS;
#endif

/* ---- passes that refute ---------------------------------------------------------------------- */

static bool stuck(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    (void)cycle;
    if (ft_stuck_refutes(ft_analyses_stuck(a), claim)) return true;
    bool symbolic = ft_analyses_problem(a)->model == FT_MODEL_CTP;
    return symbolic && ft_stuck_refutes(ft_analyses_resting(a), claim);
}

static bool exclusion(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    (void)cycle;
    return ft_exclusion_refutes(ft_analyses_exclusion(a), claim);
}

/* Causality gives the better reason, a cycle to read; but a graph for each of 40,000 claims takes
 * 20 s, and sums of what threads did less than one. */
static bool exclusion_first(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    return !ft_causality_refutes_at_once(ft_analyses_causality(a), claim) &&
           exclusion(a, claim, cycle);
}

static bool causality(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    return ft_causality_refutes(ft_analyses_causality(a), claim, cycle);
}

/* A look at the clocks costs nothing beside a closure, and knows more of allocations. */
static bool written(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    (void)cycle;
    const ft_writes *writes = ft_analyses_writes(a);
    return ft_causality_writes_before(ft_analyses_causality(a), claim, writes->first,
                                      writes->events);
}

static bool closure(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    (void)cycle;
    if (ft_causality_covers(ft_analyses_causality(a), claim)) return false;
    return ft_prefix_refutes(ft_analyses_prefix(a), ft_analyses_problem(a)->model, claim);
}

static bool swap(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    (void)cycle;
    const ft_writes *writes = ft_analyses_writes(a);
    return ft_causality_swap_misses(ft_analyses_causality(a), claim, writes->first, writes->events);
}

static bool apart(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    (void)cycle;
    return ft_stuck_keeps_apart(ft_analyses_stuck(a), claim);
}

static bool chain(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    (void)cycle;
    return ft_chain_proves(ft_analyses_problem(a), ft_analyses_writes(a), claim);
}

static bool domain(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    (void)cycle;
    ft_domains *domains = ft_analyses_domains(a);
    return domains && ft_domains_prove(domains, claim);
}

/* On a trace that is too large, over the claim's own cone, if it is much smaller. */
static bool interval(ft_analyses *a, const ft_claim *claim, ft_causality_edges *cycle)
{
    (void)cycle;
    ft_intervals_options limits = ft_intervals_limits();
    ft_problem *p = ft_analyses_problem(a);
    const ft_intervals *intervals = ft_analyses_intervals(a);
    limits.cut = &ft_analyses_cuts(a)->claim;
    if (intervals) {
        *limits.cut = FT_INTERVALS_CUT_NONE;
        return ft_intervals_prove(intervals, claim, &limits, NULL);
    }
    if (p->trace->n_events > FT_INTERVALS_EVENTS) {
        *limits.cut = FT_INTERVALS_CUT_EVENTS;
        return false;
    }
    if (ft_analyses_cuts(a)->trace == FT_INTERVALS_CUT_FINITE) {
        *limits.cut = FT_INTERVALS_CUT_FINITE;
        return false;
    }
    limits.cone = ft_analyses_cone(a);
    uint32_t events = ft_cone_compute(p, claim, ft_analyses_cone(a));
    if (events > limits.most_steps || events > p->trace->n_events / 2) {
        *limits.cut = ft_analyses_cuts(a)->trace;
        return false;
    }
    return ft_intervals_prove_alone(p, claim, &limits, NULL);
}

void ft_pass_explain_interval(ft_analyses *a, const ft_claim *claim, ft_strbuf *out)
{
    ft_intervals_options limits = ft_intervals_limits();
    const ft_intervals *intervals = ft_analyses_intervals(a);
    limits.cone = intervals ? NULL : ft_analyses_cone(a);
    bool proved = intervals ? ft_intervals_prove(intervals, claim, &limits, out)
                            : ft_intervals_prove_alone(ft_analyses_problem(a), claim, &limits, out);
    (void)proved; /* it was, a moment ago */
}

static bool (*const REFUTES[FT_PASSES])(ft_analyses *a, const ft_claim *claim,
                                        ft_causality_edges *cycle) = {
    [FT_PASS_STUCK] = stuck,         [FT_PASS_EXCLUSION_FIRST] = exclusion_first,
    [FT_PASS_CAUSALITY] = causality, [FT_PASS_WRITTEN] = written,
    [FT_PASS_CLOSURE] = closure,     [FT_PASS_SWAP] = swap,
    [FT_PASS_EXCLUSION] = exclusion, [FT_PASS_APART] = apart,
    [FT_PASS_CHAIN] = chain,         [FT_PASS_DOMAIN] = domain,
    [FT_PASS_INTERVAL] = interval,
};

/* ---- the rows -------------------------------------------------------------------------------- */

static const ft_pass PASSES[FT_PASSES] = {
#define FT_ROW(symbol, name, stage, effect, reason, claims, models, traces, from, share, file,     \
               doc)                                                                                \
    [FT_PASS_##symbol] = {name,                                                                    \
                          file,                                                                    \
                          doc,                                                                     \
                          FT_STAGE_##stage,                                                        \
                          FT_EFFECT_##effect,                                                      \
                          reason,                                                                  \
                          FT_CLAIMS_##claims,                                                      \
                          FT_MODELS_##models,                                                      \
                          FT_TRACES_##traces,                                                      \
                          from,                                                                    \
                          share},
    FT_PASS_TABLE(FT_ROW)
#undef FT_ROW
};

bool ft_passes_are_sound(void)
{
    for (int p = 0; p < FT_PASSES; p++) {
        const ft_pass *row = &PASSES[p];
        bool refutes = row->effect == FT_EFFECT_REFUTES && row->stage == FT_STAGE_JUDGE;
        if (p > 0 && row->stage < PASSES[p - 1].stage) return false;
        if (refutes != (REFUTES[p] != NULL)) return false;
        if (refutes && row->reason == FT_REASONS) return false;
        if (row->share == 0 || row->share > 100 || !row->claims || !row->models) return false;
    }
    return true;
}

const ft_pass *ft_pass_get(ft_pass_id pass)
{
    FT_REQUIRE(pass < FT_PASSES);
    return &PASSES[pass];
}

bool ft_pass_is_optional(ft_pass_id pass)
{
    const ft_pass *row = ft_pass_get(pass);
    bool judges = row->stage == FT_STAGE_JUDGE && row->effect == FT_EFFECT_REFUTES;
    return judges || (row->stage == FT_STAGE_SOLVE && row->effect == FT_EFFECT_NARROWS);
}

static bool any(const ft_analyses *a)
{
    (void)a;
    return true;
}

static bool has_conditions(const ft_analyses *a)
{
    return ft_analyses_problem(a)->trace->conditions.len > 0;
}

static bool is_long(const ft_analyses *a)
{
    return !ft_analyses_is_small(a);
}

static bool (*const TRACES[FT_TRACE_SETS])(const ft_analyses *analyses) = {
    [FT_TRACES_ANY] = any,
    [FT_TRACES_CONDITIONS] = has_conditions,
    [FT_TRACES_SMALL] = ft_analyses_is_small,
    [FT_TRACES_LONG] = is_long,
};

bool ft_pass_serves(ft_pass_id pass, const ft_analyses *analyses, const ft_claim *claim)
{
    const ft_pass *row = ft_pass_get(pass);
    return (row->claims >> claim->kind & 1u) &&
           (row->models >> ft_analyses_problem(analyses)->model & 1u) &&
           TRACES[row->traces](analyses);
}

bool ft_pass_refutes_claim(ft_pass_id pass, ft_analyses *analyses, const ft_claim *claim,
                           ft_causality_edges *cycle)
{
    FT_REQUIRE(pass < FT_PASSES && claim);
    assert(REFUTES[pass]);
    assert(ft_pass_serves(pass, analyses, claim)); /* its proof holds for no other claim or model */
#ifdef FT_FAULTS
    if (ft_pass_fault == (int)pass) return true;
#endif
    return REFUTES[pass](analyses, claim, cycle);
}
