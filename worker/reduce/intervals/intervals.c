#include "reduce/intervals/intervals.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/contract.h"
#include "problem/faults.h"

enum { MOST_STEPS = 3000, MOST_WORK = 4000000, MOST_MS = 50 };

ft_intervals_options ft_intervals_limits(void)
{
    return (ft_intervals_options){.most_steps = MOST_STEPS,
                                  .work = MOST_WORK,
                                  .ms = MOST_MS,
                                  .kind = FT_MAT_FEASIBLE,
                                  .propagation = FT_PROPAGATE_POSITIONS};
}

const char *ft_intervals_cut_words(ft_intervals_cut cut)
{
    static const char *const words[FT_INTERVALS_CUTS] = {
#define FT_ROW(symbol, words) [FT_INTERVALS_CUT_##symbol] = words,
        FT_INTERVALS_CUT_TABLE(FT_ROW)
#undef FT_ROW
    };
    FT_REQUIRE((unsigned)cut < FT_INTERVALS_CUTS);
    return words[cut];
}

static ft_intervals_cut analyse(ft_intervals *v, const ft_intervals_options *options,
                                double deadline)
{
    const ft_stepping_options cut = {.cone = options->cone,
                                     .probes = options->probes,
                                     .n_probes = options->n_probes,
                                     .most = options->most_steps};
    v->steps = ft_stepping_new(v->problem, &cut);
    if (!v->steps) return FT_INTERVALS_CUT_STEPS;
    /* A propagation along so many transactions would be too much. */
    const ft_transactions_options pairs = {.kind = options->kind, .work = options->work / 100};
    v->transactions = ft_transactions_new(v->steps, &pairs);
    if (!v->transactions) return FT_INTERVALS_CUT_TRANSACTIONS;
    v->graph = ft_graph_new(v->transactions);
    const ft_ranges_options walk = {
        .kind = options->propagation, .lookahead = 1, .work = options->work, .deadline = deadline};
    v->ranges = ft_ranges_new(v->graph, options->probes, options->n_probes, &walk);
    if (v->ranges) return FT_INTERVALS_CUT_NONE;
    return ft_now_ms() > deadline ? FT_INTERVALS_CUT_TIME : FT_INTERVALS_CUT_WORK;
}

ft_intervals *ft_intervals_new(const ft_problem *problem, const ft_intervals_options *options)
{
    FT_REQUIRE(problem && options);
    if (options->cut) *options->cut = FT_INTERVALS_CUT_NONE;
    if (problem->model != FT_MODEL_CTP || ft_fault_any()) return NULL;
    double start = ft_now_ms();
    ft_intervals *v = ft_calloc(1, sizeof *v);
    v->problem = problem;
    ft_intervals_cut cut = analyse(v, options, start + options->ms);
    v->ms = ft_now_ms() - start;
    if (options->cut) *options->cut = cut;
    if (cut == FT_INTERVALS_CUT_NONE) return v;
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

/* ---- sources --------------------------------------------------------------------------------- */

static bool written_range(const ft_intervals *v, uint32_t w, uint32_t variable, ft_range *range)
{
    const ft_problem *p = v->problem;
    if (w != FT_NO_EVENT)
        return ft_intervals_access(v, w, ft_run_find_access(p->trace, w, variable, true), range);
    ft_vid vid = ft_run_initial_vid(p->run, variable);
    if (!FT_VID_IS_KNOWN(vid)) return false;
    *range = ft_range_single(
        (ft_value){p->trace->shared_info[variable].sort, ft_run_value(p->run, vid).bits});
    return true;
}

bool ft_intervals_may_read(const ft_problem *problem, uint32_t e, uint32_t i, uint32_t w)
{
    const ft_intervals *v = problem->intervals;
    ft_range read, written;
    ft_access scratch;
    uint32_t count;
    if (!ft_problem_allows(problem, e, i, w)) return false;
    if (!v || !ft_intervals_access(v, e, i, &read)) return true;
    uint32_t variable = ft_trace_accesses(problem->trace, e, &scratch, &count)[i].variable;
    if (!written_range(v, w, variable, &written)) return true;
    ft_sort sort = problem->trace->shared_info[variable].sort;
    return !ft_range_is_empty(ft_range_meet(sort, read, written));
}

/* ---- proofs ---------------------------------------------------------------------------------- */

typedef struct explanation {
    const ft_intervals *v;
    ft_strbuf *out;
    const ft_range *ranges; /* by symbol; NULL: those of the assertion */
    uint32_t assertion, number;
} explanation;

static void add_symbol(void *context, ft_symbol symbol)
{
    explanation *x = context;
    const ft_trace *trace = x->v->problem->trace;
    const ft_variable *info = FT_SYM_IS_LOCAL(symbol) ? trace->local_info : trace->shared_info;
    ft_scope scope = ft_trace_scope(trace);
    ft_range range =
        x->ranges ? x->ranges[x->number] : ft_ranges_symbol(x->v->ranges, x->assertion, x->number);
    x->number++;
    ft_strbuf_printf(x->out, "%s%s in ", x->out->len ? ", " : "",
                     scope.name(scope.context, symbol));
    ft_range_print(info[FT_SYM_INDEX(symbol)].sort, range, x->out);
}

static void explain(const ft_intervals *v, ft_term term, uint32_t assertion, const ft_range *ranges,
                    ft_strbuf *out)
{
    explanation x = {.v = v, .out = out, .ranges = ranges, .assertion = assertion};
    if (out) ft_term_symbols(v->problem->trace->terms, term, add_symbol, &x);
}

static bool prove_assertion(const ft_intervals *v, uint32_t e, ft_strbuf *why)
{
    if (!ft_stepping_has(v->steps, e) || ft_ranges_condition(v->ranges, e).low <= 0) return false;
    explain(v, ft_trace_action(v->problem->trace, e)->guard, e, NULL, why);
    return true;
}

/* A condition is a read of its own. */
static bool prove_condition(const ft_problem *problem, const ft_claim *claim,
                            const ft_intervals_options *options, ft_strbuf *why)
{
    const ft_probe probe = {claim->events[0], claim->condition};
    ft_intervals_options with = *options;
    with.probes = &probe;
    with.n_probes = 1;
    ft_intervals *own = ft_intervals_new(problem, &with);
    bool proved =
        own && ft_stepping_has(own->steps, claim->events[0]) && own->ranges->probes.data[0].low > 0;
    if (proved) explain(own, claim->condition, 0, own->ranges->probe_symbols.data, why);
    ft_intervals_free(own);
    return proved;
}

bool ft_intervals_prove(const ft_intervals *v, const ft_claim *claim,
                        const ft_intervals_options *options, ft_strbuf *why)
{
    FT_REQUIRE(v && claim && options);
    if (claim->kind == FT_CLAIM_ASSERTION) return prove_assertion(v, claim->events[0], why);
    return claim->kind == FT_CLAIM_CONDITION && prove_condition(v->problem, claim, options, why);
}

bool ft_intervals_prove_alone(const ft_problem *problem, const ft_claim *claim,
                              const ft_intervals_options *options, ft_strbuf *why)
{
    if (claim->kind == FT_CLAIM_CONDITION) return prove_condition(problem, claim, options, why);
    if (claim->kind != FT_CLAIM_ASSERTION) return false;
    ft_intervals *own = ft_intervals_new(problem, options);
    bool proved = own && prove_assertion(own, claim->events[0], why);
    ft_intervals_free(own);
    return proved;
}
