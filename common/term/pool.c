#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "term/internal.h"

ft_term_pool *ft_term_pool_new(void)
{
    ft_term_pool *pool = ft_calloc(1, sizeof *pool);
    ft_vec_push(&pool->nodes, (ft_pool_node){0});
    return pool;
}

void ft_term_pool_free(ft_term_pool *pool)
{
    if (!pool) return;
    FT_CHECK(ft_term_pool_is_sound(pool));
    ft_vec_release(&pool->nodes);
    ft_vec_release(&pool->children);
    free(pool->slots);
    free(pool);
}

uint32_t ft_term_pool_count(const ft_term_pool *pool)
{
    return (uint32_t)(pool->nodes.len - 1);
}

static bool is_indexed(ft_op op)
{
    return op == FT_OP_EXTRACT || op == FT_OP_ZERO_EXTEND || op == FT_OP_SIGN_EXTEND;
}

ft_term_node ft_term_get(const ft_term_pool *pool, ft_term term)
{
    FT_REQUIRE(term != FT_NO_TERM && term < pool->nodes.len);
    const ft_pool_node *node = ft_pool_at(pool, term);
    ft_term_node view = {.op = (ft_op)node->op, .sort = node->sort, .n_children = node->n_children};
    if (node->n_children) view.children = pool->children.data + node->first;
    if (view.op == FT_OP_LITERAL) view.bits = node->bits;
    if (view.op == FT_OP_SYMBOL) view.symbol = (ft_symbol)node->bits;
    if (is_indexed(view.op)) {
        view.index[0] = (uint32_t)(node->bits >> 32);
        view.index[1] = (uint32_t)node->bits;
    }
    return view;
}

ft_sort ft_term_sort(const ft_term_pool *pool, ft_term term)
{
    FT_REQUIRE(term != FT_NO_TERM && term < pool->nodes.len);
    return ft_pool_at(pool, term)->sort;
}

static uint64_t payload(const ft_term_node *node)
{
    if (node->op == FT_OP_LITERAL) return node->bits;
    if (node->op == FT_OP_SYMBOL) return node->symbol;
    return (uint64_t)node->index[0] << 32 | node->index[1];
}

static uint64_t hash_node(uint64_t bits, ft_op op, ft_sort sort, const ft_term *children,
                          uint32_t n_children)
{
    uint64_t seed = ft_hash_u64(
        bits ^ ((uint64_t)op << 56 | (uint64_t)sort.kind << 48 | (uint64_t)sort.width << 40));
    return n_children ? ft_hash_bytes(children, n_children * sizeof *children, seed) : seed;
}

static bool same_node(const ft_term_pool *pool, ft_term term, const ft_term_node *node)
{
    const ft_pool_node *old = ft_pool_at(pool, term);
    return old->op == node->op && ft_sort_equal(old->sort, node->sort) &&
           old->bits == payload(node) && old->n_children == node->n_children &&
           (!node->n_children || memcmp(pool->children.data + old->first, node->children,
                                        node->n_children * sizeof *node->children) == 0);
}

/* The slot of a node: its term's, or the free one where it belongs. */
static size_t slot_of(const ft_term_pool *pool, const ft_term_node *node)
{
    assert(pool->nodes.len <= pool->slots_cap); /* node 0 has no slot: one is free */
    size_t i = hash_node(payload(node), node->op, node->sort, node->children, node->n_children) &
               (pool->slots_cap - 1);
    while (pool->slots[i] && !same_node(pool, pool->slots[i], node))
        i = (i + 1) & (pool->slots_cap - 1);
    return i;
}

static void rehash(ft_term_pool *pool)
{
    FT_CHECK(ft_term_pool_is_sound(pool));
    pool->slots_cap = pool->slots_cap ? pool->slots_cap * 2 : 64;
    free(pool->slots);
    pool->slots = ft_calloc(pool->slots_cap, sizeof *pool->slots);
    for (ft_term term = 1; term < pool->nodes.len; term++) {
        const ft_pool_node *node = ft_pool_at(pool, term);
        const ft_term *children = node->n_children ? pool->children.data + node->first : NULL;
        size_t i = hash_node(node->bits, (ft_op)node->op, node->sort, children, node->n_children) &
                   (pool->slots_cap - 1);
        while (pool->slots[i]) i = (i + 1) & (pool->slots_cap - 1);
        pool->slots[i] = term;
    }
}

static bool literal_bits(const ft_term_pool *pool, ft_term term, uint64_t *bits)
{
    *bits = ft_pool_at(pool, term)->bits;
    return ft_pool_is_literal(pool, term);
}

/* Whether the operator itself can neither be undefined nor overflow. */
static bool own_total(const ft_term_pool *pool, const ft_term_node *node)
{
    uint64_t divisor;
    switch (node->op) {
    case FT_OP_ADD:
    case FT_OP_SUB:
    case FT_OP_MUL:
    case FT_OP_ABS:
        return false;
    case FT_OP_DIV:
        return literal_bits(pool, node->children[1], &divisor) && divisor + 1 > 1;
    case FT_OP_MOD:
    case FT_OP_BVUDIV:
    case FT_OP_BVUREM:
    case FT_OP_BVSDIV:
    case FT_OP_BVSREM:
        return literal_bits(pool, node->children[1], &divisor) && divisor != 0;
    default:
        return true;
    }
}

static ft_pool_node stored(const ft_term_pool *pool, const ft_term_node *node)
{
    ft_pool_node result = {.op = (uint8_t)node->op,
                           .sort = node->sort,
                           .n_children = node->n_children,
                           .first = (uint32_t)pool->children.len,
                           .size = 1,
                           .bits = payload(node),
                           .total = own_total(pool, node)};
    for (uint32_t i = 0; i < node->n_children; i++) {
        assert(node->children[i] != FT_NO_TERM);
        const ft_pool_node *child = ft_pool_at(pool, node->children[i]);
        if (child->depth >= result.depth) result.depth = child->depth + 1;
        if (__builtin_add_overflow(result.size, child->size, &result.size))
            result.size = UINT32_MAX;
        result.total = result.total && child->total;
    }
    return result;
}

ft_term ft_pool_intern(ft_term_pool *pool, const ft_term_node *node)
{
    FT_REQUIRE(node->op < FT_OP_COUNT && (node->children || node->n_children == 0));
    assert(ft_sort_is_sound(node->sort));
    assert(!pool->children.data || node->children < pool->children.data ||
           node->children >= pool->children.data + pool->children.cap);
    FT_CHECK(ft_term_is_well_sorted(pool, node));
    if (pool->nodes.len * 4 >= pool->slots_cap * 3) rehash(pool);
    size_t i = slot_of(pool, node);
    if (pool->slots[i]) return pool->slots[i];
    assert(pool->nodes.len < UINT32_MAX && pool->children.len < UINT32_MAX - node->n_children);
    ft_pool_node fresh = stored(pool, node);
    for (uint32_t k = 0; k < node->n_children; k++) ft_vec_push(&pool->children, node->children[k]);
    ft_term term = (ft_term)pool->nodes.len;
    ft_vec_push(&pool->nodes, fresh);
    pool->slots[i] = term;
    return term;
}

/* Operands before the term, sorts right, and what is kept of the operands as they give it. */
static bool node_is_sound(const ft_term_pool *pool, ft_term term)
{
    const ft_pool_node *kept = ft_pool_at(pool, term);
    ft_term_node node = ft_term_get(pool, term);
    if (kept->op >= FT_OP_COUNT || (size_t)kept->first + kept->n_children > pool->children.len)
        return false;
    for (uint32_t i = 0; i < node.n_children; i++)
        if (node.children[i] == FT_NO_TERM || node.children[i] >= term) return false;
    if (node.op == FT_OP_LITERAL && !ft_value_is_sound((ft_value){node.sort, node.bits}))
        return false;
    ft_pool_node again = stored(pool, &node);
    return ft_sort_is_sound(node.sort) && ft_term_is_well_sorted(pool, &node) &&
           again.depth == kept->depth && again.size == kept->size && again.total == kept->total &&
           again.bits == kept->bits;
}

bool ft_term_pool_is_sound(const ft_term_pool *pool)
{
    size_t used = 0;
    if (pool->nodes.len == 0 || pool->nodes.data[FT_NO_TERM].op != FT_OP_LITERAL) return false;
    for (size_t i = 0; i < pool->slots_cap; i++) used += pool->slots[i] != FT_NO_TERM;
    if (used != pool->nodes.len - 1) return false;
    for (ft_term term = 1; term < pool->nodes.len; term++) {
        ft_term_node node = ft_term_get(pool, term);
        if (!node_is_sound(pool, term) || pool->slots[slot_of(pool, &node)] != term) return false;
    }
    return true;
}

ft_term ft_term_literal(ft_term_pool *pool, ft_value value)
{
    FT_REQUIRE(pool);
    assert(ft_value_is_sound(value));
    ft_term_node node = {.op = FT_OP_LITERAL, .sort = value.sort, .bits = value.bits};
    return ft_pool_intern(pool, &node);
}

ft_term ft_term_symbol(ft_term_pool *pool, ft_symbol symbol, ft_sort sort)
{
    FT_REQUIRE(pool && ft_sort_is_sound(sort));
    ft_term_node node = {.op = FT_OP_SYMBOL, .sort = sort, .symbol = symbol};
    return ft_pool_intern(pool, &node);
}

static int compare_terms(const void *a, const void *b)
{
    ft_term left = *(const ft_term *)a, right = *(const ft_term *)b;
    return (left > right) - (left < right);
}

static void keep_distinct(ft_term_list *list)
{
    size_t kept = 0;
    qsort(list->data, list->len, sizeof *list->data, compare_terms);
    for (size_t i = 0; i < list->len; i++)
        if (i == 0 || list->data[i] != list->data[i - 1]) list->data[kept++] = list->data[i];
    list->len = kept;
}

void ft_term_reach(const ft_term_pool *pool, ft_term term, ft_term_list *list)
{
    enum { SMALL = 64 }; /* up to this, visiting a shared child again is cheaper than a map */
    FT_REQUIRE(term != FT_NO_TERM);
    bool small = ft_pool_at(pool, term)->size <= SMALL;
    ft_map seen = {0};
    list->len = 0;
    ft_vec_push(list, term);
    for (size_t i = 0; i < list->len; i++) {
        const ft_pool_node *node = ft_pool_at(pool, list->data[i]);
        for (uint32_t k = 0; k < node->n_children; k++) {
            ft_term child = pool->children.data[node->first + k];
            bool inserted = true;
            if (!small) ft_map_slot(&seen, child, 0, &inserted);
            if (inserted) ft_vec_push(list, child);
        }
    }
    ft_map_release(&seen);
    keep_distinct(list);
    assert(list->len > 0 && list->data[list->len - 1] == term);
}

void ft_term_symbols(const ft_term_pool *pool, ft_term term,
                     void (*visit)(void *context, ft_symbol symbol), void *context)
{
    FT_REQUIRE(visit);
    ft_term_list list = {0};
    ft_term_reach(pool, term, &list);
    for (size_t i = 0; i < list.len; i++) {
        const ft_pool_node *node = ft_pool_at(pool, list.data[i]);
        if (node->op == FT_OP_SYMBOL) visit(context, (ft_symbol)node->bits);
    }
    ft_vec_release(&list);
}
