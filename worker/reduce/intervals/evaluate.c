#include "reduce/intervals/evaluate.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/memory.h"
#include "ranges/faults.h"

void ft_evaluation_init(ft_evaluation *v, const ft_term_pool *pool, const ft_range_domain *domain,
                        ft_term_ranges *seen)
{
    size_t n = (size_t)ft_term_pool_count(pool) + 1;
    *v = (ft_evaluation){.pool = pool, .domain = domain, .seen = seen, .now = 1};
    v->memo = ft_alloc(n * sizeof *v->memo);
    v->stamp = ft_calloc(n, sizeof *v->stamp);
}

void ft_evaluation_release(ft_evaluation *v)
{
    free(v->memo);
    free(v->stamp);
}

void ft_evaluation_move(ft_evaluation *v, ft_range *state)
{
    v->state = state;
    v->now++;
    assert(v->now != 0); /* a work budget ends before this turns over */
}

static uint32_t slot_of(const ft_evaluation *v, ft_symbol symbol)
{
    return FT_SYM_IS_LOCAL(symbol) ? v->local_slot[FT_SYM_INDEX(symbol)]
                                   : v->shared_slot[FT_SYM_INDEX(symbol)];
}

static ft_range evaluate_node(ft_evaluation *v, ft_term term, const ft_term_node *node)
{
    ft_range few[8], *children = few;
    unsigned wraps = 0;
    if (node->op == FT_OP_LITERAL) return v->domain->single((ft_value){node->sort, node->bits});
    if (node->op == FT_OP_SYMBOL) {
        uint32_t slot = slot_of(v, node->symbol);
        return slot == FT_NO_SLOT ? v->domain->any(node->sort) : v->state[slot];
    }
    if (node->n_children > 8) children = ft_alloc(node->n_children * sizeof *children);
    for (uint32_t i = 0; i < node->n_children; i++) children[i] = ft_evaluate(v, node->children[i]);
    ft_range result = v->domain->apply(v->pool, node, children, &wraps);
    if (children != few) free(children);
    if (v->seen) v->seen->wraps[term] |= (uint8_t)wraps;
    return result;
}

ft_range ft_evaluate(ft_evaluation *v, ft_term term)
{
    if (v->stamp[term] == v->now) return v->memo[term];
    ft_term_node node = ft_term_get(v->pool, term);
    ft_range result = evaluate_node(v, term, &node);
    v->memo[term] = result;
    v->stamp[term] = v->now;
    if (v->seen) v->seen->range[term] = v->domain->join(node.sort, v->seen->range[term], result);
    return result;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static bool limit(ft_evaluation *v, ft_term term, ft_range range)
{
    ft_term_node node = ft_term_get(v->pool, term);
    if (node.op != FT_OP_SYMBOL) return true;
    uint32_t slot = slot_of(v, node.symbol);
    if (slot == FT_NO_SLOT) return true;
    v->state[slot] = v->domain->meet(node.sort, v->state[slot], range);
    return !v->domain->is_empty(v->state[slot]);
}

static bool limit_equal(ft_evaluation *v, ft_term a, ft_term b)
{
    ft_range of_a = ft_evaluate(v, a), of_b = ft_evaluate(v, b);
    return limit(v, a, of_b) && limit(v, b, of_a);
}

/* An Int that is not the constant at the end of its range. */
static bool limit_unequal(ft_evaluation *v, ft_term a, ft_term b)
{
    ft_range of_a = ft_evaluate(v, a), of_b = ft_evaluate(v, b);
    if (ft_term_sort(v->pool, a).kind != FT_SORT_INT || !ft_range_is_single(of_b)) return true;
    ft_range rest = ft_range_any(FT_INT_SORT);
    if (of_a.low == of_b.low) rest.low = of_b.low + 1;
    if (of_a.high == of_b.high) rest.high = of_b.high - 1;
    return limit(v, a, rest);
}

typedef struct comparison {
    bool is_unsigned, strict, exchanged;
} comparison;

static bool compares(ft_op op, comparison *c)
{
    bool ints = op >= FT_OP_LT && op <= FT_OP_GE;
    bool bits = op >= FT_OP_BVULT && op <= FT_OP_BVSGE;
    if (!ints && !bits) return false;
    unsigned kind = ints ? op - FT_OP_LT : (op - FT_OP_BVULT) % 4;
    *c = (comparison){bits && op < FT_OP_BVSLT, kind % 2 == 0, kind >= 2};
    return true;
}

/* first <= second, or first < second. */
static bool limit_unsigned(ft_evaluation *v, ft_term first, ft_term second, bool strict)
{
    ft_sort sort = ft_term_sort(v->pool, first);
    ft_range a = ft_evaluate(v, first), b = ft_evaluate(v, second), any = ft_range_any(sort);
    if (strict && (b.uhigh == 0 || a.ulow == any.uhigh)) return false;
    return limit(v, first, ft_range_unsigned(sort, 0, b.uhigh - strict)) &&
           limit(v, second, ft_range_unsigned(sort, a.ulow + strict, any.uhigh));
}

static bool limit_signed(ft_evaluation *v, ft_term first, ft_term second, bool strict)
{
    ft_sort sort = ft_term_sort(v->pool, first);
    ft_range a = ft_evaluate(v, first), b = ft_evaluate(v, second), any = ft_range_any(sort);
    bool open = sort.kind == FT_SORT_INT, top = open && b.high == INT64_MAX,
         bottom = open && a.low == INT64_MIN;
    if (strict && !open && (b.high == any.low || a.low == any.high)) return false;
    ft_range below = any, above = any;
    below.high = top || (strict && b.high == INT64_MIN) ? b.high : b.high - strict;
    above.low = bottom || (strict && a.low == INT64_MAX) ? a.low : a.low + strict;
    if (!open) {
        below = ft_range_signed(sort, below.low, below.high);
        above = ft_range_signed(sort, above.low, above.high);
    }
    return limit(v, first, below) && limit(v, second, above);
}

static bool refine_comparison(ft_evaluation *v, const ft_term_node *node, comparison c, bool value)
{
    if (node->n_children != 2) return true;
    ft_term first = node->children[c.exchanged], second = node->children[!c.exchanged];
    bool strict = c.strict || ft_interval_fault_is(FT_INTERVAL_FAULT_REFINE_STRICT);
    if (!value) {
        ft_term other = first;
        first = second;
        second = other;
        strict = !c.strict;
    }
    return c.is_unsigned ? limit_unsigned(v, first, second, strict)
                         : limit_signed(v, first, second, strict);
}

static bool refine_all(ft_evaluation *v, const ft_term_node *node, bool value)
{
    for (uint32_t i = 0; i < node->n_children; i++) {
        bool premise = node->op == FT_OP_IMPLIES && i + 1 < node->n_children;
        if (!ft_refine(v, node->children[i], value != premise)) return false;
    }
    return true;
}

static bool refine_node(ft_evaluation *v, ft_term condition, const ft_term_node *node, bool value)
{
    comparison c;
    bool equal = node->op == FT_OP_EQ ? value : !value;
    if (node->op == FT_OP_NOT) return ft_refine(v, node->children[0], !value);
    if (node->op == FT_OP_AND) return !value || refine_all(v, node, true);
    if (node->op == FT_OP_OR || node->op == FT_OP_IMPLIES)
        return value || refine_all(v, node, false);
    if (node->op == FT_OP_SYMBOL)
        return limit(v, condition, ft_range_single((ft_value){FT_BOOL_SORT, value}));
    if (compares(node->op, &c)) return refine_comparison(v, node, c, value);
    if ((node->op != FT_OP_EQ && node->op != FT_OP_DISTINCT) || node->n_children != 2) return true;
    if (equal) return limit_equal(v, node->children[0], node->children[1]);
    return limit_unequal(v, node->children[0], node->children[1]) &&
           limit_unequal(v, node->children[1], node->children[0]);
}

bool ft_refine(ft_evaluation *v, ft_term condition, bool value)
{
    if (ft_interval_fault_is(FT_INTERVAL_FAULT_REFINE_NOT)) value = true;
    ft_range now = ft_evaluate(v, condition);
    if (value ? now.high < 1 : now.low > 0) return false; /* an empty range too */
    ft_term_node node = ft_term_get(v->pool, condition);
    bool possible = refine_node(v, condition, &node, value);
    ft_evaluation_move(v, v->state);
    return possible;
}
