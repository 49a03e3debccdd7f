/* Private to the term module: the pool's nodes, and the functions that its files share.
 *
 * A pool is hash-consed: `slots` is an open-addressing table over the nodes, and no two nodes are
 * equal in operator, sort, payload and children. */
#ifndef FT_TERM_INTERNAL_H
#define FT_TERM_INTERNAL_H

#include "base/contract.h"
#include "base/memory.h"
#include "term/term.h"

typedef struct ft_pool_node {
    uint8_t op;
    bool total; /* defined and within 64 bits, whatever the values of its symbols */
    ft_sort sort;
    uint32_t n_children;
    uint32_t first; /* offset of the children in the pool's `children` */
    uint32_t depth; /* 0 for leaves */
    uint32_t size;  /* nodes when written out as a tree; saturates */
    uint64_t bits;  /* literal's bits, symbol, or both indices of an indexed operator */
} ft_pool_node;

struct ft_term_pool {
    FT_VEC(ft_pool_node) nodes; /* [0] is FT_NO_TERM */
    FT_VEC(ft_term) children;
    uint32_t *slots; /* hash slots: term, 0 when free */
    size_t slots_cap;
};

/* The reader refuses terms that have more nodes than this as a tree. */
#define FT_TERM_MAX_SIZE (1u << 20)

/* The term of a sort-checked node, without simplification. node->children may not point into the
 * pool, which moves when it grows. */
ft_term ft_pool_intern(ft_term_pool *pool, const ft_term_node *node);

static inline const ft_pool_node *ft_pool_at(const ft_term_pool *pool, ft_term term)
{
    assert(term < pool->nodes.len);
    return &pool->nodes.data[term];
}
static inline bool ft_pool_is_literal(const ft_term_pool *pool, ft_term term)
{
    return ft_pool_at(pool, term)->op == FT_OP_LITERAL;
}

/* ft_term_apply that also names the culprit of a sort error: the 1-based argument at fault, 0 for
 * the operator or its indices. */
ft_status ft_term_apply_at(ft_term_pool *pool, ft_op op, const ft_term *children,
                           uint32_t n_children, const uint32_t *index, ft_term *term,
                           uint32_t *culprit, ft_error *err) FT_MUST_CHECK;

/* A simpler term of the same sort that equals the node in value, definedness and overflow, else the
 * node's own term. kids backs node->children and may be changed. */
ft_term ft_term_simplify(ft_term_pool *pool, ft_term_node *node, ft_term *kids);

/* Evaluates a node that may be absent from the pool; its children are in it. */
ft_eval_status ft_term_eval_node(const ft_term_pool *pool, const ft_term_node *node,
                                 ft_lookup lookup, void *context, ft_value *value);

/* The distinct terms below and including `term`, ascending: children before parents. */
typedef FT_VEC(ft_term) ft_term_list;
void ft_term_reach(const ft_term_pool *pool, ft_term term, ft_term_list *list);

/* Whether the operator, applied to these operands, has this sort. */
bool ft_term_is_well_sorted(const ft_term_pool *pool, const ft_term_node *node);

/* A kind, with a width of 1 to 64 for a BitVec and 0 for the others; bits that the sort allows. */
static inline bool ft_sort_is_sound(ft_sort sort)
{
    if (sort.kind == FT_SORT_BITVEC) return sort.width >= 1 && sort.width <= 64;
    return sort.kind <= FT_SORT_BITVEC && sort.width == 0;
}
bool ft_value_is_sound(ft_value value);

/* Reads the digits of a decimal, #x or #b literal into *bits; false: no digits, another character,
 * or more than 64 bits. */
bool ft_term_digits(const char *digits, size_t length, unsigned radix, uint64_t *bits);

static inline uint64_t ft_bits_mask(unsigned width)
{
    return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

enum { FT_SORT_TEXT = 24 };
const char *ft_sort_text(ft_sort sort, char buffer[FT_SORT_TEXT]);

#endif
