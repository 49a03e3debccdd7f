#include "term/infix.h"

#include <assert.h>
#include <string.h>

#include "base/contract.h"
#include "term/internal.h"

enum {
    MOST_TEXT = 600, /* characters, then the rest is "..." */
    MOST_DEPTH = 16, /* how far down a look is searched */
    SMALL = 1 << 16  /* larger constants that are added are no negative numbers by chance */
};

/* How an application is written. */
typedef enum shape { NAMED, BINARY, COMPARES, PREFIXED, SPECIAL } shape;

typedef struct notation {
    const char *sign;    /* "+"; of NAMED: the function's name */
    const char *negated; /* COMPARES: the opposite comparison */
    uint8_t shape, rank, look;
} notation;

#define ANY FT_LOOK_NONE

static const notation NOTATIONS[FT_OP_COUNT] = {
    [FT_OP_NOT] = {"!", NULL, SPECIAL, FT_RANK_PREFIX, ANY},
    [FT_OP_AND] = {"&&", NULL, BINARY, FT_RANK_AND, ANY},
    [FT_OP_OR] = {"||", NULL, BINARY, FT_RANK_OR, ANY},
    [FT_OP_XOR] = {"!=", "==", COMPARES, FT_RANK_EQUALITY, ANY},
    [FT_OP_IMPLIES] = {"||", NULL, SPECIAL, FT_RANK_OR, ANY},
    [FT_OP_ITE] = {"?", NULL, SPECIAL, FT_RANK_CHOICE, ANY},
    [FT_OP_EQ] = {"==", "!=", COMPARES, FT_RANK_EQUALITY, ANY},
    [FT_OP_DISTINCT] = {"!=", "==", SPECIAL, FT_RANK_EQUALITY, ANY},
    [FT_OP_ADD] = {"+", NULL, BINARY, FT_RANK_SUM, ANY},
    [FT_OP_SUB] = {"-", NULL, BINARY, FT_RANK_SUM, ANY},
    [FT_OP_MUL] = {"*", NULL, BINARY, FT_RANK_PRODUCT, ANY},
    [FT_OP_DIV] = {"/", NULL, BINARY, FT_RANK_PRODUCT, ANY},
    [FT_OP_MOD] = {"%", NULL, BINARY, FT_RANK_PRODUCT, ANY},
    [FT_OP_ABS] = {"abs", NULL, NAMED, FT_RANK_ATOM, ANY},
    [FT_OP_LT] = {"<", ">=", COMPARES, FT_RANK_ORDER, ANY},
    [FT_OP_LE] = {"<=", ">", COMPARES, FT_RANK_ORDER, ANY},
    [FT_OP_GT] = {">", "<=", COMPARES, FT_RANK_ORDER, ANY},
    [FT_OP_GE] = {">=", "<", COMPARES, FT_RANK_ORDER, ANY},
    [FT_OP_BVNOT] = {"~", NULL, PREFIXED, FT_RANK_PREFIX, FT_LOOK_FLAGS},
    [FT_OP_BVNEG] = {"-", NULL, PREFIXED, FT_RANK_PREFIX, ANY},
    [FT_OP_BVADD] = {"+", NULL, BINARY, FT_RANK_SUM, ANY},
    [FT_OP_BVSUB] = {"-", NULL, BINARY, FT_RANK_SUM, ANY},
    [FT_OP_BVMUL] = {"*", NULL, BINARY, FT_RANK_PRODUCT, ANY},
    [FT_OP_BVUDIV] = {"/", NULL, BINARY, FT_RANK_PRODUCT, FT_LOOK_UNSIGNED},
    [FT_OP_BVUREM] = {"%", NULL, BINARY, FT_RANK_PRODUCT, FT_LOOK_UNSIGNED},
    [FT_OP_BVSDIV] = {"/", NULL, BINARY, FT_RANK_PRODUCT, FT_LOOK_SIGNED},
    [FT_OP_BVSREM] = {"%", NULL, BINARY, FT_RANK_PRODUCT, FT_LOOK_SIGNED},
    [FT_OP_BVAND] = {"&", NULL, BINARY, FT_RANK_BIT_AND, FT_LOOK_FLAGS},
    [FT_OP_BVOR] = {"|", NULL, BINARY, FT_RANK_BIT_OR, FT_LOOK_FLAGS},
    [FT_OP_BVXOR] = {"^", NULL, BINARY, FT_RANK_BIT_XOR, FT_LOOK_FLAGS},
    [FT_OP_BVSHL] = {"<<", NULL, BINARY, FT_RANK_SHIFT, FT_LOOK_UNSIGNED},
    [FT_OP_BVLSHR] = {">>", NULL, BINARY, FT_RANK_SHIFT, FT_LOOK_UNSIGNED},
    [FT_OP_BVASHR] = {">>", NULL, BINARY, FT_RANK_SHIFT, FT_LOOK_SIGNED},
    [FT_OP_BVULT] = {"<", ">=", COMPARES, FT_RANK_ORDER, FT_LOOK_UNSIGNED},
    [FT_OP_BVULE] = {"<=", ">", COMPARES, FT_RANK_ORDER, FT_LOOK_UNSIGNED},
    [FT_OP_BVUGT] = {">", "<=", COMPARES, FT_RANK_ORDER, FT_LOOK_UNSIGNED},
    [FT_OP_BVUGE] = {">=", "<", COMPARES, FT_RANK_ORDER, FT_LOOK_UNSIGNED},
    [FT_OP_BVSLT] = {"<", ">=", COMPARES, FT_RANK_ORDER, FT_LOOK_SIGNED},
    [FT_OP_BVSLE] = {"<=", ">", COMPARES, FT_RANK_ORDER, FT_LOOK_SIGNED},
    [FT_OP_BVSGT] = {">", "<=", COMPARES, FT_RANK_ORDER, FT_LOOK_SIGNED},
    [FT_OP_BVSGE] = {">=", "<", COMPARES, FT_RANK_ORDER, FT_LOOK_SIGNED},
    [FT_OP_CONCAT] = {"concat", NULL, NAMED, FT_RANK_ATOM, ANY},
    [FT_OP_EXTRACT] = {"bits", NULL, SPECIAL, FT_RANK_ATOM, ANY},
    [FT_OP_ZERO_EXTEND] = {"", NULL, SPECIAL, FT_RANK_ATOM, FT_LOOK_UNSIGNED},
    [FT_OP_SIGN_EXTEND] = {"", NULL, SPECIAL, FT_RANK_ATOM, FT_LOOK_SIGNED},
};

typedef struct printing {
    const ft_term_pool *pool;
    const ft_infix *names;
    ft_strbuf *out;
    size_t limit; /* of out->len */
} printing;

/* ---- looks ----------------------------------------------------------------------------------- */

static ft_look look_of(const printing *p, ft_term term, unsigned depth);

/* Of the operands of an operator: what the first that is known is. */
static ft_look look_of_operands(const printing *p, const ft_term_node *node, unsigned depth)
{
    for (uint32_t i = node->op == FT_OP_ITE; i < node->n_children; i++) {
        ft_look look = look_of(p, node->children[i], depth);
        if (look != FT_LOOK_NONE) return look;
    }
    return FT_LOOK_NONE;
}

static ft_look look_of(const printing *p, ft_term term, unsigned depth)
{
    ft_term_node node = ft_term_get(p->pool, term);
    if (node.op == FT_OP_SYMBOL) return p->names->look(p->names->context, node.symbol);
    if (node.op == FT_OP_LITERAL || depth == MOST_DEPTH || node.sort.kind == FT_SORT_BOOL)
        return FT_LOOK_NONE;
    ft_look look = look_of_operands(p, &node, depth + 1);
    return look == FT_LOOK_NONE ? (ft_look)NOTATIONS[node.op].look : look;
}

ft_look ft_infix_look(const ft_term_pool *pool, ft_term term, const ft_infix *names)
{
    printing p = {.pool = pool, .names = names};
    return look_of(&p, term, 0);
}

/* How literals among the operands look. Flags and a sign of the operator's go before what the
 * variables' types say: the operator is what the program computes with. */
static ft_look literal_look(const printing *p, const ft_term_node *node, ft_look around)
{
    ft_look own = (ft_look)NOTATIONS[node->op].look, look = look_of_operands(p, node, 0);
    bool sign = own == FT_LOOK_SIGNED || own == FT_LOOK_UNSIGNED;
    bool number = look == FT_LOOK_NONE || look == FT_LOOK_SIGNED || look == FT_LOOK_UNSIGNED;
    if (own == FT_LOOK_FLAGS || (sign && number)) return own;
    return look == FT_LOOK_NONE ? around : look;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print(const printing *p, ft_term term, ft_look look, ft_rank rank);

static void put(const printing *p, const char *text)
{
    ft_strbuf_puts(p->out, text);
}

/* -5 as an operand of `-` would be read as two signs. */
static void print_literal(const printing *p, const ft_term_node *node, ft_look look, ft_rank rank)
{
    ft_strbuf text = {0};
    ft_look_print(look, (ft_value){node->sort, node->bits}, &text);
    bool enclosed = text.text[0] == '-' && rank > FT_RANK_PREFIX;
    ft_strbuf_printf(p->out, enclosed ? "(%s)" : "%s", text.text);
    ft_strbuf_release(&text);
}

/* Is the summand a small negative number? `a + -20` is printed as `a - 20`. */
static bool is_negative(const printing *p, ft_term term, ft_look look, ft_value *positive)
{
    ft_term_node node = ft_term_get(p->pool, term);
    unsigned width = node.sort.kind == FT_SORT_BITVEC ? node.sort.width : 64;
    if (node.op != FT_OP_LITERAL || width < 8 || look == FT_LOOK_FLAGS) return false;
    uint64_t minus = (0 - node.bits) & ft_bits_mask(width);
    *positive = (ft_value){node.sort, minus};
    return node.bits >> (width - 1) && minus < SMALL && minus < ft_bits_mask(width) / 2;
}

/* One operand behind the first one, with its sign in front of it. */
static void print_further(const printing *p, const ft_term_node *node, uint32_t i, ft_look look)
{
    const notation *n = &NOTATIONS[node->op];
    bool adds = node->op == FT_OP_ADD || node->op == FT_OP_BVADD,
         subtracts = node->op == FT_OP_SUB || node->op == FT_OP_BVSUB;
    bool shifts = n->rank == FT_RANK_SHIFT;
    ft_value positive;
    ft_term child = node->children[i];
    if ((adds || subtracts) && is_negative(p, child, look, &positive)) {
        put(p, adds ? " - " : " + ");
        ft_look_print(FT_LOOK_UNSIGNED, positive, p->out);
        return;
    }
    ft_strbuf_printf(p->out, " %s ", n->sign);
    bool same = ft_term_get(p->pool, child).op == node->op && !subtracts && !shifts;
    print(p, child, shifts ? FT_LOOK_UNSIGNED : look, same ? n->rank : n->rank + 1);
}

static void print_binary(const printing *p, const ft_term_node *node, ft_look around)
{
    const notation *n = &NOTATIONS[node->op];
    ft_look look = literal_look(p, node, around);
    if (node->n_children == 1) {
        put(p, n->sign);
        print(p, node->children[0], look, FT_RANK_ATOM);
        return;
    }
    print(p, node->children[0], look, n->rank);
    for (uint32_t i = 1; i < node->n_children; i++) print_further(p, node, i, look);
}

static void print_comparison(const printing *p, const ft_term_node *node, const char *sign)
{
    /* Comparisons of comparisons have parentheses: what C makes of `a < b == c` few know. */
    ft_rank inner = FT_RANK_SHIFT;
    ft_look look = literal_look(p, node, FT_LOOK_NONE);
    assert(node->n_children == 2);
    print(p, node->children[0], look, inner);
    ft_strbuf_printf(p->out, " %s ", sign);
    print(p, node->children[1], look, inner);
}

static void print_call(const printing *p, const char *name, const ft_term_node *node, ft_look look)
{
    ft_strbuf_printf(p->out, "%s(", name);
    for (uint32_t i = 0; i < node->n_children; i++) {
        if (i) put(p, ", ");
        print(p, node->children[i], look, FT_RANK_CHOICE);
    }
    put(p, ")");
}

/* Comparisons have an opposite; everything else gets a `!`. */
static const char *opposite(const printing *p, ft_term term)
{
    ft_term_node node = ft_term_get(p->pool, term);
    return node.n_children == 2 ? NOTATIONS[node.op].negated : NULL;
}

static ft_rank rank_of_negation(const printing *p, ft_term term)
{
    return opposite(p, term) ? (ft_rank)NOTATIONS[ft_term_get(p->pool, term).op].rank
                             : FT_RANK_PREFIX;
}

static void print_negation(const printing *p, ft_term term)
{
    ft_term_node node = ft_term_get(p->pool, term);
    const char *sign = opposite(p, term);
    if (sign) {
        print_comparison(p, &node, sign);
        return;
    }
    put(p, "!");
    print(p, term, FT_LOOK_NONE, FT_RANK_ATOM);
}

static void print_implication(const printing *p, const ft_term_node *node)
{
    bool enclosed = rank_of_negation(p, node->children[0]) < FT_RANK_OR;
    put(p, enclosed ? "(" : "");
    print_negation(p, node->children[0]);
    put(p, enclosed ? ") || " : " || ");
    print(p, node->children[1], FT_LOOK_NONE, FT_RANK_OR);
}

static void print_choice(const printing *p, const ft_term_node *node, ft_look around)
{
    ft_look look = literal_look(p, node, around);
    print(p, node->children[0], FT_LOOK_NONE, FT_RANK_OR);
    put(p, " ? ");
    print(p, node->children[1], look, FT_RANK_CHOICE);
    put(p, " : ");
    print(p, node->children[2], look, FT_RANK_CHOICE);
}

/* ---- conversions ----------------------------------------------------------------------------- */

static bool is_extension(const ft_term_node *node)
{
    return node->op == FT_OP_ZERO_EXTEND || node->op == FT_OP_SIGN_EXTEND;
}

/* The term itself or, of one that only changes its width, what is below: its value is the same. */
static ft_term without_conversion(const printing *p, ft_term term)
{
    for (;;) {
        ft_term_node node = ft_term_get(p->pool, term);
        if (is_extension(&node)) {
            term = node.children[0];
            continue;
        }
        if (node.op != FT_OP_EXTRACT || node.index[1]) return term;
        ft_term_node inner = ft_term_get(p->pool, node.children[0]);
        if (!is_extension(&inner)) return term;
        ft_term below = inner.children[0];
        if (ft_term_sort(p->pool, below).width > node.sort.width) return term;
        term = below;
    }
}

/* `(uint8_t)(x >> 8)`, or `bits(x, 11, 4)` of other widths. */
static void print_extract(const printing *p, const ft_term_node *node, ft_look look)
{
    unsigned width = node->sort.width, low = node->index[1];
    if (width != 8 && width != 16 && width != 32) {
        put(p, "bits(");
        print(p, node->children[0], look, FT_RANK_CHOICE);
        ft_strbuf_printf(p->out, ", %u, %u)", node->index[0], low);
        return;
    }
    bool sign = look == FT_LOOK_SIGNED || look == FT_LOOK_NONE;
    ft_strbuf_printf(p->out, "(%sint%u_t)%s", sign ? "" : "u", width, low ? "(" : "");
    print(p, node->children[0], look, low ? FT_RANK_SHIFT : FT_RANK_PREFIX);
    if (low) ft_strbuf_printf(p->out, " >> %u)", low);
}

static void print_special(const printing *p, const ft_term_node *node, ft_look look)
{
    switch ((unsigned)node->op) {
    case FT_OP_NOT:
        print_negation(p, node->children[0]);
        return;
    case FT_OP_IMPLIES:
        print_implication(p, node);
        return;
    case FT_OP_ITE:
        print_choice(p, node, look);
        return;
    case FT_OP_DISTINCT:
        if (node->n_children == 2)
            print_comparison(p, node, "!=");
        else
            print_call(p, "distinct", node, look);
        return;
    default:
        print_extract(p, node, look);
    }
}

static ft_rank rank_of(const printing *p, const ft_term_node *node)
{
    if (node->op == FT_OP_NOT) return rank_of_negation(p, node->children[0]);
    if (node->op == FT_OP_EXTRACT) {
        unsigned width = node->sort.width;
        return width == 8 || width == 16 || width == 32 ? FT_RANK_PREFIX : FT_RANK_ATOM;
    }
    if (node->op == FT_OP_DISTINCT && node->n_children != 2) return FT_RANK_ATOM;
    return node->n_children == 1 && NOTATIONS[node->op].shape == BINARY
               ? FT_RANK_PREFIX
               : (ft_rank)NOTATIONS[node->op].rank;
}

static void print_application(const printing *p, const ft_term_node *node, ft_look look)
{
    const notation *n = &NOTATIONS[node->op];
    switch ((shape)n->shape) {
    case NAMED:
        print_call(p, n->sign, node, look);
        return;
    case BINARY:
        print_binary(p, node, look);
        return;
    case COMPARES:
        print_comparison(p, node, n->sign);
        return;
    case PREFIXED:
        put(p, n->sign);
        print(p, node->children[0], look, FT_RANK_ATOM);
        return;
    case SPECIAL:
        print_special(p, node, look);
        return;
    }
}

static void print(const printing *p, ft_term term, ft_look look, ft_rank rank)
{
    if (p->out->len >= p->limit) {
        put(p, "...");
        return;
    }
    ft_term_node node = ft_term_get(p->pool, without_conversion(p, term));
    if (node.op == FT_OP_LITERAL) {
        print_literal(p, &node, look, rank);
        return;
    }
    if (node.op == FT_OP_SYMBOL) {
        p->names->name(p->names->context, node.symbol, rank, p->out);
        return;
    }
    bool enclosed = rank_of(p, &node) < rank;
    if (enclosed) put(p, "(");
    print_application(p, &node, look);
    if (enclosed) put(p, ")");
}

void ft_infix_print(const ft_term_pool *pool, ft_term term, const ft_infix *names, ft_rank rank,
                    ft_strbuf *out)
{
    FT_REQUIRE(pool && names && out);
    FT_REQUIRE(term != FT_NO_TERM && term <= ft_term_pool_count(pool));
    printing p = {.pool = pool, .names = names, .out = out, .limit = out->len + MOST_TEXT};
    print(&p, term, FT_LOOK_NONE, rank);
}

const char *ft_infix_comparison(const ft_term_pool *pool, ft_term term, bool negated)
{
    FT_REQUIRE(term != FT_NO_TERM && term <= ft_term_pool_count(pool));
    ft_term_node node = ft_term_get(pool, term);
    if (node.n_children != 2 || !NOTATIONS[node.op].negated) return NULL;
    return negated ? NOTATIONS[node.op].negated : NOTATIONS[node.op].sign;
}
