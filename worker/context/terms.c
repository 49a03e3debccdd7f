#include <stdlib.h>

#include "context/internal.h"

bool ctx_uses(const ctx *c, ft_context_pass pass)
{
    return !(c->options.without >> pass & 1);
}

/* ---- terms ---- */

ft_term ctx_apply(ctx *c, ft_op op, const ft_term *kids, uint32_t n)
{
    ft_term made = FT_NO_TERM;
    ft_status status = ft_term_apply(c->pool, op, kids, n, NULL, &made, NULL);
    assert(status == FT_OK); /* sorts are ours */
    (void)status;
    return made;
}

static ft_term indexed(ctx *c, ft_op op, ft_term kid, uint32_t high, uint32_t low)
{
    ft_term made = FT_NO_TERM;
    uint32_t index[2] = {high, low};
    ft_status status = ft_term_apply(c->pool, op, &kid, 1, index, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

ft_term ctx_two(ctx *c, ft_op op, ft_term a, ft_term b)
{
    ft_term kids[2] = {a, b};
    return ctx_apply(c, op, kids, 2);
}

ft_term ctx_not(ctx *c, ft_term a)
{
    return ctx_apply(c, FT_OP_NOT, &a, 1);
}

ft_term ctx_literal(ctx *c, uint8_t width, uint64_t bits)
{
    ft_sort sort = width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
    return ft_term_literal(c->pool, (ft_value){sort, bits & ft_width_mask(width)});
}

ft_term ctx_choice(ctx *c, ft_term condition, ft_term a, ft_term b)
{
    ft_term kids[3] = {condition, a, b};
    return a == b ? a : ctx_apply(c, FT_OP_ITE, kids, 3);
}

ft_term ctx_equal(ctx *c, ft_term a, ft_term b)
{
    return a == b ? ctx_literal(c, 1, 1) : ctx_two(c, FT_OP_EQ, a, b);
}

bool ctx_is_literal(const ctx *c, ft_term t, uint64_t *bits)
{
    ft_term_node n = ft_term_get(c->pool, t);
    *bits = n.bits;
    return n.op == FT_OP_LITERAL;
}

void ctx_split(const ctx *c, ft_term t, ft_term *base, uint64_t *offset)
{
    uint64_t bits;
    ft_term_node n = ft_term_get(c->pool, t);
    *base = t;
    *offset = 0;
    if (n.op == FT_OP_LITERAL) {
        *base = FT_NO_TERM;
        *offset = n.bits;
    } else if (n.op == FT_OP_BVADD && n.n_children == 2 &&
               ctx_is_literal(c, n.children[1], &bits)) {
        *base = n.children[0];
        *offset = bits;
    }
}

/* Sums keep their number behind: (bvadd x n). */
static ft_term sum(ctx *c, uint8_t width, ft_term a, ft_term b)
{
    ft_term x, y;
    uint64_t n, m;
    ctx_split(c, a, &x, &n);
    ctx_split(c, b, &y, &m);
    ft_term number = ctx_literal(c, width, n + m);
    if (!x && !y) return number;
    ft_term base = !x ? y : !y ? x : ctx_two(c, FT_OP_BVADD, x < y ? x : y, x < y ? y : x);
    return ctx_two(c, FT_OP_BVADD, base, number);
}

/* A Bool as a BitVec of one bit, and back. */
static ft_term bit_of(ctx *c, ft_term t)
{
    ft_sort one = {FT_SORT_BITVEC, 1};
    return ctx_choice(c, t, ft_term_literal(c->pool, (ft_value){one, 1}),
                      ft_term_literal(c->pool, (ft_value){one, 0}));
}

static ft_term truth_of(ctx *c, ft_term t)
{
    ft_sort one = {FT_SORT_BITVEC, 1};
    return ctx_two(c, FT_OP_EQ, t, ft_term_literal(c->pool, (ft_value){one, 1}));
}

static ft_term resize(ctx *c, ft_code code, uint8_t from, uint8_t to, ft_term t)
{
    if (from == 1) {
        uint64_t one = code == FT_CODE_SEXT ? UINT64_MAX : 1;
        return ctx_choice(c, t, ctx_literal(c, to, one), ctx_literal(c, to, 0));
    }
    if (code == FT_CODE_TRUNC) {
        ft_term part = indexed(c, FT_OP_EXTRACT, t, to - 1u, 0);
        return to == 1 ? truth_of(c, part) : part;
    }
    return indexed(c, code == FT_CODE_ZEXT ? FT_OP_ZERO_EXTEND : FT_OP_SIGN_EXTEND, t,
                   (uint32_t)to - from, 0);
}

static const uint8_t OPERATORS[FT_CODES] = {
    [FT_CODE_MUL] = FT_OP_BVMUL,   [FT_CODE_UDIV] = FT_OP_BVUDIV, [FT_CODE_SDIV] = FT_OP_BVSDIV,
    [FT_CODE_UREM] = FT_OP_BVUREM, [FT_CODE_SREM] = FT_OP_BVSREM, [FT_CODE_AND] = FT_OP_BVAND,
    [FT_CODE_OR] = FT_OP_BVOR,     [FT_CODE_XOR] = FT_OP_BVXOR,   [FT_CODE_SHL] = FT_OP_BVSHL,
    [FT_CODE_LSHR] = FT_OP_BVLSHR, [FT_CODE_ASHR] = FT_OP_BVASHR, [FT_CODE_ULT] = FT_OP_BVULT,
    [FT_CODE_ULE] = FT_OP_BVULE,   [FT_CODE_SLT] = FT_OP_BVSLT,   [FT_CODE_SLE] = FT_OP_BVSLE,
};

static const uint8_t LOGIC[FT_CODES] = {
    [FT_CODE_AND] = FT_OP_AND, [FT_CODE_MUL] = FT_OP_AND, [FT_CODE_OR] = FT_OP_OR,
    [FT_CODE_XOR] = FT_OP_XOR, [FT_CODE_ADD] = FT_OP_XOR, [FT_CODE_SUB] = FT_OP_XOR};

/* A division by a term that may be 0 has no value that a term could stand for. */
static bool may_be_undefined(const ctx *c, ft_code code, ft_term divisor)
{
    uint64_t bits;
    if (code < FT_CODE_UDIV || code > FT_CODE_SREM) return false;
    return !ctx_is_literal(c, divisor, &bits) || !bits;
}

static ft_term binary(ctx *c, ft_code code, uint8_t width, ft_term a, ft_term b)
{
    bool compares = code >= FT_CODE_EQ && code <= FT_CODE_SLE;
    if (code == FT_CODE_EQ) return ctx_equal(c, a, b);
    if (code == FT_CODE_NE) return ctx_not(c, ctx_equal(c, a, b));
    if (width == 1 && LOGIC[code]) return ctx_two(c, (ft_op)LOGIC[code], a, b);
    if (width == 1 && !OPERATORS[code]) return FT_NO_TERM;
    if (width == 1) {
        ft_term t = ctx_two(c, (ft_op)OPERATORS[code], bit_of(c, a), bit_of(c, b));
        return compares ? t : truth_of(c, t);
    }
    if (code == FT_CODE_ADD) return sum(c, width, a, b);
    if (code == FT_CODE_SUB) {
        uint64_t bits;
        if (ctx_is_literal(c, b, &bits)) return sum(c, width, a, ctx_literal(c, width, -bits));
        return a == b ? ctx_literal(c, width, 0) : ctx_two(c, FT_OP_BVSUB, a, b);
    }
    return OPERATORS[code] ? ctx_two(c, (ft_op)OPERATORS[code], a, b) : FT_NO_TERM;
}

ft_term ctx_compute(ctx *c, const ft_instruction *in, const ft_term *operands,
                    const uint8_t *widths)
{
    ft_code code = (ft_code)in->code;
    if (code == FT_CODE_SELECT) return ctx_choice(c, operands[0], operands[1], operands[2]);
    if (code >= FT_CODE_ZEXT && code <= FT_CODE_TRUNC)
        return resize(c, code, widths[0], in->width, operands[0]);
    if (code > FT_CODE_SLE || may_be_undefined(c, code, operands[1])) return FT_NO_TERM;
    return binary(c, code, in->width, operands[0], operands[1]);
}

/* ---- nodes and symbols ---- */

static uint64_t key_of(ft_map *map, const uint32_t *words, uint32_t n, uint64_t fresh,
                       bool (*is)(const ctx *c, uint64_t index, const uint32_t *words), ctx *c,
                       bool *inserted)
{
    for (uint64_t key = ft_hash_bytes(words, n * sizeof *words, 7);; key++) {
        uint64_t *slot = ft_map_slot(map, key, fresh, inserted);
        if (*inserted || is(c, *slot, words)) return *slot;
    }
}

static bool is_node(const ctx *c, uint64_t index, const uint32_t *words)
{
    const ctx_place *n = &c->nodes.data[index];
    return n->parent == words[0] && n->label == words[1] && n->function == words[2] &&
           n->call == words[3];
}

static uint32_t intern_node(ctx *c, uint32_t parent, uint32_t label, uint32_t function,
                            uint32_t call, bool *fresh)
{
    uint32_t words[4] = {parent, label, function, call};
    uint32_t n = (uint32_t)key_of(&c->nodes_by_key, words, 4, c->nodes.len, is_node, c, fresh);
    if (*fresh) {
        ft_vec_push(&c->nodes, (ctx_place){parent, label, function, call, NO_NODE, n});
        if (parent != NO_NODE) c->nodes.data[n].root = c->nodes.data[parent].root;
    }
    return n;
}

uint32_t ctx_root_node(ctx *c, uint32_t label, uint32_t function)
{
    bool fresh;
    uint32_t n = intern_node(c, NO_NODE, label, function, 0, &fresh);
    const ctx_thread_function *r = ctx_root_of(c, function);
    if (fresh && !label) c->nodes.data[n].canonical = n;
    if (fresh && label && !(label & CTX_OPEN) && r && r->most <= 1) {
        uint32_t shared = ctx_root_node(c, 0, function);
        c->nodes.data[n].canonical = shared;
    }
    return n;
}

uint32_t ctx_node(ctx *c, uint32_t parent, uint32_t function, uint32_t call)
{
    bool fresh;
    uint32_t n = intern_node(c, parent, c->nodes.data[parent].label, function, call, &fresh);
    uint32_t above = c->nodes.data[parent].canonical, in = c->nodes.data[parent].function;
    if (!fresh || above == NO_NODE) return n;
    if (ctx_in_circle(c, in, c->place_of[in][call])) return n;
    uint32_t shared = above == parent ? n : ctx_node(c, above, function, call);
    c->nodes.data[n].canonical = shared;
    return n;
}

static bool is_symbol(const ctx *c, uint64_t index, const uint32_t *words)
{
    const ctx_unknown *s = &c->symbols.data[index];
    return s->node == words[0] && s->kind == words[1] && s->index == words[2];
}

static ft_term term_of(ctx *c, ft_symbol s)
{
    uint8_t width = c->symbols.data[s].width;
    ft_sort sort = width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
    return ft_term_symbol(c->pool, s, sort);
}

ft_term ctx_symbol(ctx *c, uint32_t node, uint32_t kind, uint32_t index, uint8_t width)
{
    bool fresh;
    uint32_t words[3] = {node, kind, index};
    ft_symbol s =
        (ft_symbol)key_of(&c->symbols_by_key, words, 3, c->symbols.len, is_symbol, c, &fresh);
    if (fresh) {
        ft_vec_push(&c->symbols, (ctx_unknown){node, kind, index, width});
        sym_path_declare(c->path, s, width);
    }
    return term_of(c, s);
}

/* The node that names the register's symbol. */
static uint32_t naming(const ctx *c, uint32_t n, uint32_t index)
{
    const ctx_place *at = &c->nodes.data[n];
    uint32_t block = c->block_of[at->function][index];
    for (uint32_t i = 0; i < n && ctx_fault_is(CTX_FAULT_SAME_SYMBOL); i++)
        if (c->nodes.data[i].function == at->function) return i;
    if (at->canonical == NO_NODE || ctx_in_circle(c, at->function, block)) return n;
    return at->canonical;
}

ft_term ctx_register(ctx *c, uint32_t node, uint32_t index)
{
    const ft_function *f = &c->program->functions.data[c->nodes.data[node].function];
    return ctx_symbol(c, naming(c, node, index), SYMBOL_REGISTER, index,
                      f->registers.data[index].width);
}

bool ctx_register_symbol(ctx *c, uint32_t node, uint32_t index, ft_symbol *symbol)
{
    uint64_t at;
    uint32_t words[3] = {naming(c, node, index), SYMBOL_REGISTER, index};
    for (uint64_t key = ft_hash_bytes(words, sizeof words, 7);
         ft_map_get(&c->symbols_by_key, key, &at); key++)
        if (is_symbol(c, at, words)) return *symbol = (ft_symbol)at, true;
    return false;
}

ft_term ctx_fresh(ctx *c, uint8_t width)
{
    return ctx_symbol(c, NO_NODE, SYMBOL_FRESH, c->fresh++, width);
}

/* ---- which symbols a term has ---- */

static void list_symbol(void *context, ft_symbol s)
{
    ctx *c = context;
    ft_vec_push(&c->listed, s);
}

static const listing *listing_of(ctx *c, ft_term t)
{
    bool fresh;
    uint64_t at = *ft_map_slot(&c->listings, t, c->listed_of.len, &fresh);
    if (!fresh) return &c->listed_of.data[at];
    uint64_t size = 1;
    ft_term_node n = ft_term_get(c->pool, t);
    ft_vec_push(&c->listed_of, (listing){0});
    for (uint32_t i = 0; i < n.n_children; i++) size += listing_of(c, n.children[i])->size;
    listing l = {(uint32_t)c->listed.len, 0, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size};
    ft_term_symbols(c->pool, t, list_symbol, c);
    l.n = (uint32_t)c->listed.len - l.first;
    c->listed_of.data[at] = l;
    return &c->listed_of.data[at];
}

bool ctx_mentions(ctx *c, ft_term t, ft_symbol symbol)
{
    if (!t) return false;
    const listing *l = listing_of(c, t);
    for (uint32_t i = 0; i < l->n; i++)
        if (c->listed.data[l->first + i] == symbol) return true;
    return false;
}

/* Is a symbol of a node that the call at `call` of the node leads to in the term? */
bool ctx_mentions_below(ctx *c, ft_term t, uint32_t of, uint32_t call)
{
    if (!t) return false;
    uint32_t shared = c->nodes.data[of].canonical;
    const listing *l = listing_of(c, t);
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t n = c->symbols.data[c->listed.data[l->first + i]].node;
        while (n != NO_NODE) {
            const ctx_place *at = &c->nodes.data[n];
            if (at->parent != NO_NODE && at->call == call &&
                (at->parent == of || at->parent == shared))
                return true;
            n = at->parent;
        }
    }
    return false;
}

uint32_t ctx_size(ctx *c, ft_term t)
{
    return listing_of(c, t)->size;
}
