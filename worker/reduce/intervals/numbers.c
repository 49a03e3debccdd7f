#include "reduce/intervals/numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "reduce/intervals/evaluate.h"

enum { BOTH = FT_WRAPS_UNSIGNED | FT_WRAPS_SIGNED };

/* Nodes of the components: terms, then shared variables, then locals. */
typedef struct finding {
    const ft_intervals *intervals;
    const ft_trace *trace;
    const ft_term_pool *pool;
    uint32_t n_terms, n_shared, n_locals;
    uint32_t *parent;
    uint8_t *refused; /* of a component's root: views that it leaves, FT_WRAPS_* */
    bool *adds;       /* likewise: it has a sum or product */
    bool *visited;    /* [terms] */
    ft_range *state;  /* of all variables where the event at hand is executed */
    ft_range *ever;   /* likewise wherever it is */
    uint32_t *shared_slot, *local_slot;
    ft_term_ranges seen;
    ft_evaluation evaluation;
} finding;

/* ---- components ------------------------------------------------------------------------------ */

static uint32_t root_of(finding *f, uint32_t node)
{
    while (f->parent[node] != node) {
        f->parent[node] = f->parent[f->parent[node]];
        node = f->parent[node];
    }
    return node;
}

static void refuse(finding *f, uint32_t node, unsigned views)
{
    f->refused[root_of(f, node)] |= (uint8_t)views;
}

static void unite(finding *f, uint32_t a, uint32_t b)
{
    a = root_of(f, a);
    b = root_of(f, b);
    if (a == b) return;
    f->parent[b] = a;
    f->refused[a] |= f->refused[b];
    f->adds[a] |= f->adds[b];
}

static uint32_t node_of(const finding *f, ft_symbol symbol)
{
    uint32_t first = f->n_terms + (FT_SYM_IS_LOCAL(symbol) ? f->n_shared : 0);
    return first + FT_SYM_INDEX(symbol);
}

static bool is_bits(const finding *f, ft_term term)
{
    return ft_term_sort(f->pool, term).kind == FT_SORT_BITVEC;
}

/* ---- operators ------------------------------------------------------------------------------- */

static bool is_literal(const finding *f, ft_term term)
{
    return ft_term_get(f->pool, term).op == FT_OP_LITERAL;
}

/* Views in which the operator's Int is not the BitVec's. */
static unsigned refused_by(const finding *f, ft_term term, const ft_term_node *node)
{
    unsigned unknowns = 0;
    bool negative = false;
    for (uint32_t i = 0; i < node->n_children; i++) {
        unknowns += !is_literal(f, node->children[i]);
        negative |= f->seen.range[node->children[i]].low < 0;
    }
    switch (node->op) {
    case FT_OP_BVADD:
    case FT_OP_BVSUB:
    case FT_OP_BVNEG:
        return f->seen.wraps[term];
    case FT_OP_BVMUL:
        return unknowns > 1 ? BOTH : f->seen.wraps[term];
    case FT_OP_ITE:
    case FT_OP_EQ:
    case FT_OP_DISTINCT:
    case FT_OP_LITERAL:
    case FT_OP_SYMBOL:
        return 0;
    case FT_OP_ZERO_EXTEND:
        return negative ? FT_WRAPS_SIGNED : 0;
    case FT_OP_SIGN_EXTEND:
        return negative ? FT_WRAPS_UNSIGNED : 0;
    default:
        if (node->op >= FT_OP_BVULT && node->op <= FT_OP_BVUGE)
            return negative ? FT_WRAPS_SIGNED : 0;
        if (node->op >= FT_OP_BVSLT && node->op <= FT_OP_BVSGE)
            return negative ? FT_WRAPS_UNSIGNED : 0;
        return BOTH;
    }
}

static bool is_sum(ft_op op)
{
    return op == FT_OP_BVADD || op == FT_OP_BVSUB || op == FT_OP_BVMUL || op == FT_OP_BVNEG;
}

/* Children of sort BitVec are in one component, with the term where it is a BitVec. */
static void add_term(finding *f, ft_term term)
{
    if (f->visited[term]) return;
    f->visited[term] = true;
    ft_term_node node = ft_term_get(f->pool, term);
    uint32_t at = UINT32_MAX;
    if (is_bits(f, term)) at = term;
    if (node.op == FT_OP_SYMBOL && is_bits(f, term)) unite(f, term, node_of(f, node.symbol));
    for (uint32_t i = 0; i < node.n_children; i++) {
        add_term(f, node.children[i]);
        if (!is_bits(f, node.children[i])) continue;
        if (at == UINT32_MAX) at = node.children[i];
        if (!is_literal(f, node.children[i])) unite(f, at, node.children[i]);
    }
    if (at == UINT32_MAX) return;
    refuse(f, at, refused_by(f, term, &node));
    f->adds[root_of(f, at)] |= is_sum(node.op);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* The ranges that terms have where reads are anything in theirs: what an encoding can tell. */
static void evaluate(finding *f, const ft_action *action)
{
    ft_evaluation_move(&f->evaluation, f->state);
    if (action->guard != FT_NO_TERM) ft_evaluate(&f->evaluation, action->guard);
    for (uint32_t k = 0; k < action->n_assignments; k++)
        ft_evaluate(&f->evaluation, action->assignments[k].term);
}

static void read_shared(finding *f, uint32_t e, const ft_action *action)
{
    for (uint32_t i = 0; i < action->n_accesses; i++) {
        uint32_t v = action->accesses[i].variable;
        ft_range *slot = &f->state[f->shared_slot[v]];
        if (!action->accesses[i].write && !ft_intervals_access(f->intervals, e, i, slot))
            *slot = ft_range_any(f->trace->shared_info[v].sort);
    }
}

/* In an arm the local may keep what it was. */
static void assign_locals(finding *f, uint32_t e, const ft_action *action)
{
    for (uint32_t k = 0; k < action->n_assignments; k++) {
        ft_symbol target = action->assignments[k].target;
        if (!FT_SYM_IS_LOCAL(target)) continue;
        ft_sort sort = f->trace->local_info[FT_SYM_INDEX(target)].sort;
        ft_range range = f->seen.range[action->assignments[k].term];
        ft_range *slot = &f->state[f->local_slot[FT_SYM_INDEX(target)]];
        if (ft_range_is_empty(range)) range = ft_range_any(sort);
        *slot = ft_trace_path(f->trace, e) ? ft_range_join(sort, *slot, range) : range;
    }
}

static void remember(finding *f, const ft_action *action)
{
    for (uint32_t k = 0; k < action->n_assignments; k++) {
        ft_symbol target = action->assignments[k].target;
        bool local = FT_SYM_IS_LOCAL(target);
        uint32_t slot = (local ? f->local_slot : f->shared_slot)[FT_SYM_INDEX(target)];
        ft_sort sort =
            (local ? f->trace->local_info : f->trace->shared_info)[FT_SYM_INDEX(target)].sort;
        f->ever[slot] =
            ft_range_join(sort, f->ever[slot], f->seen.range[action->assignments[k].term]);
    }
}

static void begin_thread(finding *f)
{
    for (uint32_t l = 0; l < f->n_locals; l++) {
        const ft_variable *info = &f->trace->local_info[l];
        f->state[f->local_slot[l]] =
            info->initial == FT_NO_VALUE
                ? ft_range_any(info->sort)
                : ft_range_single((ft_value){info->sort, f->trace->values[info->initial].bits});
    }
}

static void remember_plain(finding *f, uint32_t e)
{
    const ft_run *run = f->intervals->problem->run;
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(f->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = accesses[i].variable;
        ft_sort sort = f->trace->shared_info[v].sort;
        ft_vid vid = ft_run_vid(run, e, i);
        if (accesses[i].write && FT_VID_IS_KNOWN(vid))
            f->ever[v] = ft_range_join(
                sort, f->ever[v], ft_range_single((ft_value){sort, ft_run_value(run, vid).bits}));
    }
}

/* Before anything is assigned. */
static void begin(finding *f)
{
    const ft_run *run = f->intervals->problem->run;
    begin_thread(f);
    for (uint32_t v = 0; v < f->n_shared; v++) {
        ft_sort sort = f->trace->shared_info[v].sort;
        ft_vid vid = ft_run_initial_vid(run, v);
        f->state[v] = FT_VID_IS_KNOWN(vid)
                          ? ft_range_single((ft_value){sort, ft_run_value(run, vid).bits})
                          : ft_range_any(sort);
    }
    memcpy(f->ever, f->state, (f->n_shared + f->n_locals) * sizeof *f->ever);
}

static void evaluate_threads(finding *f)
{
    const ft_order *order = f->intervals->problem->order;
    for (uint32_t t = 0; t < f->trace->threads.len; t++) {
        begin_thread(f);
        for (uint32_t k = order->thread_start[t]; k < order->thread_start[t + 1]; k++) {
            uint32_t e = order->thread_events[k];
            const ft_action *action = ft_trace_action(f->trace, e);
            if (!action) remember_plain(f, e);
            if (!action) continue;
            read_shared(f, e, action);
            evaluate(f, action);
            assign_locals(f, e, action);
            remember(f, action);
        }
    }
}

/* The condition of a claim may read any value of a variable. */
static void evaluate_claims(finding *f)
{
    const ft_problem *p = f->intervals->problem;
    ft_evaluation_move(&f->evaluation, f->ever);
    for (uint32_t k = 0; k < p->n_conditions; k++) ft_evaluate(&f->evaluation, p->conditions[k]);
    for (uint32_t e = 0; e < f->trace->n_events; e++)
        if (f->trace->kind[e] == FT_EVENT_ASSERT && ft_trace_action(f->trace, e))
            ft_evaluate(&f->evaluation, ft_trace_action(f->trace, e)->guard);
}

static void add_action(finding *f, const ft_action *action)
{
    if (action->guard != FT_NO_TERM) add_term(f, action->guard);
    for (uint32_t k = 0; k < action->n_assignments; k++) {
        ft_term term = action->assignments[k].term;
        add_term(f, term);
        if (is_bits(f, term) && !is_literal(f, term))
            unite(f, node_of(f, action->assignments[k].target), term);
    }
}

/* A value that nobody knows is bits. */
static void add_plain(finding *f, uint32_t e)
{
    ft_access scratch;
    uint32_t count;
    const ft_access *accesses = ft_trace_accesses(f->trace, e, &scratch, &count);
    for (uint32_t i = 0; i < count; i++)
        if (accesses[i].write && !FT_VID_IS_KNOWN(ft_run_vid(f->intervals->problem->run, e, i)))
            refuse(f, node_of(f, FT_SYM_SHARED(accesses[i].variable)), BOTH);
}

static void add_events(finding *f)
{
    const ft_run *run = f->intervals->problem->run;
    for (uint32_t v = 0; v < f->n_shared; v++)
        if (!FT_VID_IS_KNOWN(ft_run_initial_vid(run, v)))
            refuse(f, node_of(f, FT_SYM_SHARED(v)), BOTH);
    for (uint32_t l = 0; l < f->n_locals; l++)
        if (f->trace->local_info[l].initial == FT_NO_VALUE)
            refuse(f, node_of(f, FT_SYM_LOCAL(l)), BOTH);
    for (uint32_t k = 0; k < f->intervals->problem->n_conditions; k++)
        add_term(f, f->intervals->problem->conditions[k]);
    for (uint32_t e = 0; e < f->trace->n_events; e++) {
        const ft_action *action = ft_trace_action(f->trace, e);
        if (action)
            add_action(f, action);
        else
            add_plain(f, e);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static uint32_t *count_up(uint32_t n, uint32_t from)
{
    uint32_t *numbers = ft_alloc(((size_t)n + 1) * sizeof *numbers);
    for (uint32_t i = 0; i < n; i++) numbers[i] = from + i;
    return numbers;
}

static void open_finding(finding *f, const ft_intervals *intervals)
{
    const ft_trace *trace = intervals->problem->trace;
    *f = (finding){.intervals = intervals,
                   .trace = trace,
                   .pool = trace->terms,
                   .n_terms = (uint32_t)ft_term_pool_count(trace->terms) + 1,
                   .n_shared = trace->shared.len,
                   .n_locals = trace->locals.len};
    uint32_t variables = f->n_shared + f->n_locals, n = f->n_terms + variables;
    f->parent = count_up(n, 0);
    f->refused = ft_calloc(n, 1);
    f->adds = ft_calloc(n, sizeof *f->adds);
    f->visited = ft_calloc(f->n_terms, sizeof *f->visited);
    f->state = ft_calloc((size_t)variables + 1, sizeof *f->state);
    f->ever = ft_calloc((size_t)variables + 1, sizeof *f->ever);
    f->shared_slot = count_up(f->n_shared, 0);
    f->local_slot = count_up(f->n_locals, f->n_shared);
    f->seen.range = ft_alloc(f->n_terms * sizeof *f->seen.range);
    f->seen.wraps = ft_calloc(f->n_terms, 1);
    for (uint32_t t = 0; t < f->n_terms; t++) f->seen.range[t] = ft_range_empty();
    ft_evaluation_init(&f->evaluation, f->pool, ft_intervals_domain(), &f->seen);
    f->evaluation.shared_slot = f->shared_slot;
    f->evaluation.local_slot = f->local_slot;
}

static void close_finding(finding *f)
{
    ft_evaluation_release(&f->evaluation);
    free(f->seen.range);
    free(f->seen.wraps);
    free(f->shared_slot);
    free(f->local_slot);
    free(f->state);
    free(f->ever);
    free(f->visited);
    free(f->adds);
    free(f->refused);
    free(f->parent);
}

static ft_number number_of(finding *f, uint32_t variable)
{
    uint32_t root = root_of(f, node_of(f, FT_SYM_SHARED(variable)));
    if (f->trace->shared_info[variable].sort.kind != FT_SORT_BITVEC || !f->adds[root])
        return FT_NUMBER_BITS;
    if (!(f->refused[root] & FT_WRAPS_UNSIGNED)) return FT_NUMBER_UNSIGNED;
    return f->refused[root] & FT_WRAPS_SIGNED ? FT_NUMBER_BITS : FT_NUMBER_SIGNED;
}

ft_numbers *ft_numbers_new(const ft_intervals *intervals)
{
    FT_REQUIRE(intervals);
    finding f;
    open_finding(&f, intervals);
    begin(&f);
    evaluate_threads(&f);
    evaluate_claims(&f);
    add_events(&f);
    ft_numbers *numbers = ft_calloc(1, sizeof *numbers);
    numbers->intervals = intervals;
    numbers->shared = ft_calloc((size_t)f.n_shared + 1, 1);
    for (uint32_t v = 0; v < f.n_shared; v++) numbers->shared[v] = (uint8_t)number_of(&f, v);
    close_finding(&f);
    return numbers;
}

void ft_numbers_free(ft_numbers *numbers)
{
    if (!numbers) return;
    free(numbers->shared);
    free(numbers);
}

ft_number ft_numbers_shared(const ft_numbers *numbers, uint32_t variable)
{
    FT_REQUIRE(numbers && variable < numbers->intervals->problem->trace->shared.len);
    return (ft_number)numbers->shared[variable];
}
