#include "base/contract.h"
#include "modular/steps.h"

/* ---- symbols ---- */

typedef enum symbol_kind { OF_CELL, OF_SLOT, FRESH } symbol_kind;

static ft_term symbol_term(modular *m, symbol_kind kind, uint32_t role, uint8_t width,
                           uint32_t number)
{
    bool fresh;
    FT_REQUIRE(number < UINT32_MAX && role < MOD_ROLES && width >= 1 && width <= 64);
    uint64_t key = (uint64_t)number << 16 | (uint64_t)width << 8 | role << 4 | kind;
    uint64_t symbol = *ft_map_slot(&m->by_symbol, key, m->symbols.len, &fresh);
    if (fresh) ft_vec_push(&m->symbols, (mod_symbol){width});
    if (width == 1) return mod_bit(m, ft_term_symbol(m->pool, (ft_symbol)symbol, FT_BOOL_SORT));
    return ft_term_symbol(m->pool, (ft_symbol)symbol, (ft_sort){FT_SORT_BITVEC, width});
}

ft_term mod_cell_term(modular *m, uint32_t cell)
{
    return symbol_term(m, OF_CELL, 0, m->cells.data[cell].width, cell);
}

ft_term mod_slot_term(modular *m, uint32_t role, uint8_t width, uint32_t slot)
{
    return symbol_term(m, OF_SLOT, role, width, slot);
}

ft_term mod_fresh(modular *m, mod_run *run, uint8_t width)
{
    return symbol_term(m, FRESH, 0, width, run->fresh++);
}

/* ---- terms ---- */

ft_term mod_literal(modular *m, uint8_t width, uint64_t bits)
{
    return ft_term_literal(m->pool,
                           (ft_value){{FT_SORT_BITVEC, width}, bits & ft_width_mask(width)});
}

static ft_term apply(modular *m, ft_op op, const ft_term *kids, uint32_t n, uint32_t high,
                     uint32_t low)
{
    uint32_t index[2] = {high, low};
    ft_term made = FT_NO_TERM;
    ft_status status = ft_term_apply(m->pool, op, kids, n, index, &made, NULL);
    assert(status == FT_OK); /* sorts are ours */
    (void)status;
    return made;
}

ft_term mod_choose(modular *m, ft_term truth, ft_term a, ft_term b)
{
    ft_term kids[3] = {truth, a, b};
    return apply(m, FT_OP_ITE, kids, 3, 0, 0);
}

ft_term mod_low(modular *m, ft_term a, uint8_t width)
{
    return apply(m, FT_OP_EXTRACT, &a, 1, width - 1u, 0);
}

bool mod_is_literal(const modular *m, ft_term term, uint64_t *bits)
{
    ft_term_node node = ft_term_get(m->pool, term);
    *bits = node.bits;
    return node.op == FT_OP_LITERAL;
}

/* Equality with a literal, looking through a choice of literals. */
static ft_term equal(modular *m, ft_term a, ft_term b)
{
    uint64_t n, yes, no;
    ft_term kids[2] = {a, b};
    ft_term_node node = ft_term_get(m->pool, a);
    if (node.op == FT_OP_ITE && mod_is_literal(m, b, &n)) {
        ft_term c = node.children[0];
        if (mod_is_literal(m, node.children[1], &yes) && mod_is_literal(m, node.children[2], &no)) {
            bool is = yes == n, is_not = no == n;
            if (is == is_not) return ft_term_literal(m->pool, (ft_value){FT_BOOL_SORT, is});
            return is ? c : mod_apply(m, FT_OP_NOT, c, FT_NO_TERM);
        }
    }
    return apply(m, FT_OP_EQ, kids, 2, 0, 0);
}

ft_term mod_apply(modular *m, ft_op op, ft_term a, ft_term b)
{
    ft_term kids[2] = {a, b};
    uint64_t bits;
    if (op == FT_OP_EQ) return mod_is_literal(m, a, &bits) ? equal(m, b, a) : equal(m, a, b);
    return apply(m, op, kids, b == FT_NO_TERM ? 1 : 2, 0, 0);
}

ft_term mod_truth(modular *m, ft_term bit)
{
    uint64_t bits;
    if (mod_is_literal(m, bit, &bits))
        return ft_term_literal(m->pool, (ft_value){FT_BOOL_SORT, bits & 1});
    return mod_apply(m, FT_OP_EQ, bit, mod_literal(m, 1, 1));
}

ft_term mod_bit(modular *m, ft_term truth)
{
    uint64_t bits;
    if (mod_is_literal(m, truth, &bits)) return mod_literal(m, 1, bits);
    return mod_choose(m, truth, mod_literal(m, 1, 1), mod_literal(m, 1, 0));
}

mod_value mod_of(ft_term term)
{
    return (mod_value){.kind = MOD_NUMBER, .term = term};
}

mod_value mod_bare(ft_term term)
{
    return (mod_value){.kind = MOD_NUMBER, .bare = true, .term = term};
}

ft_term mod_number(modular *m, mod_run *run, mod_value v, uint8_t width)
{
    if (v.kind != MOD_NUMBER && mod_fault_is(MOD_FAULT_ADDRESS_NUMBER))
        return mod_literal(m, width, 1 << 20);
    return v.kind == MOD_NUMBER ? v.term : mod_fresh(m, run, width);
}

void mod_assume(modular *m, mod_run *run, ft_term truth)
{
    uint64_t bits;
    if (mod_is_literal(m, truth, &bits) && bits) return;
    run->guard = run->guard == FT_NO_TERM ? truth : mod_apply(m, FT_OP_AND, run->guard, truth);
}

/* ---- addresses ---- */

/* Two addresses of objects that differ are different numbers, within the objects and at their ends
 * (instruction.h: 64 addresses between objects belong to none). */
static bool is_within(const modular *m, mod_value v)
{
    const mod_object *o = &m->objects.data[v.index];
    bool inside = v.offset <= o->size || mod_fault_is(MOD_FAULT_OUTSIDE);
    return o->origin != MOD_HEAP && !o->open && inside;
}

/* The address a number of bytes away that is not known. A constant cannot be opened: nothing knows
 * the address. */
static mod_value somewhere(modular *m, mod_run *run, mod_value base)
{
    if (mod_fault_is(MOD_FAULT_STAYS_THERE)) return base;
    if (m->objects.data[base.index].origin == MOD_CONSTANT && !mod_fault_is(MOD_FAULT_FIRST_PLACE))
        return mod_of(mod_fresh(m, run, 64));
    mod_open(m, base.index);
    return base;
}

/* -1: not known. */
static int same_address(const modular *m, mod_value a, mod_value b)
{
    enum { LEAST_ADDRESS = 4096 };
    uint64_t bits;
    if (a.kind == MOD_NUMBER) {
        mod_value c = a;
        a = b, b = c;
    }
    if (b.kind == MOD_NUMBER) {
        bool low = mod_is_literal(m, b.term, &bits) && bits < LEAST_ADDRESS;
        bool apart =
            (a.kind == MOD_FUNCTION && !a.offset) || (a.kind == MOD_ADDRESS && is_within(m, a));
        return low && apart ? 0 : -1;
    }
    if (a.kind != b.kind || a.kind == MOD_THREAD) return -1;
    if (a.kind == MOD_FUNCTION) {
        bool behind = (a.offset || b.offset) && !mod_fault_is(MOD_FAULT_FUNCTION_PLACE);
        return behind ? -1 : a.index == b.index;
    }
    if (!is_within(m, a) || !is_within(m, b)) return -1;
    if (a.index != b.index || a.offset != b.offset) return 0;
    /* a function called again has memory of its own, which an old address is not in */
    bool again = m->objects.data[a.index].origin == MOD_STACK;
    return again && !mod_fault_is(MOD_FAULT_SAME_CALL) ? -1 : 1;
}

static mod_value on_addresses(modular *m, mod_run *run, const ft_instruction *in,
                              const mod_value *v)
{
    uint64_t bits;
    int same;
    switch (in->code) {
    case FT_CODE_EQ:
    case FT_CODE_NE:
        same = same_address(m, v[0], v[1]);
        if (same < 0) break;
        return mod_of(mod_literal(m, 1, (uint64_t)(in->code == FT_CODE_EQ ? same : !same)));
    case FT_CODE_ADD:
    case FT_CODE_SUB: {
        bool first = v[0].kind == MOD_ADDRESS;
        mod_value base = v[first ? 0 : 1], by = v[first ? 1 : 0];
        if (base.kind != MOD_ADDRESS || by.kind != MOD_NUMBER) break;
        if (in->code == FT_CODE_SUB && !first) break;
        if (!by.bare && !mod_fault_is(MOD_FAULT_SUM_KEEPS)) break;
        if (!mod_is_literal(m, by.term, &bits)) return somewhere(m, run, base);
        base.offset += in->code == FT_CODE_ADD ? bits : 0 - bits;
        return base;
    }
    default:
        break;
    }
    return mod_of(mod_fresh(m, run, ft_instruction_result_width(in)));
}

/* ---- numbers ---- */

static const uint8_t OPS[FT_CODES] = {
    [FT_CODE_ADD] = FT_OP_BVADD,   [FT_CODE_SUB] = FT_OP_BVSUB,   [FT_CODE_MUL] = FT_OP_BVMUL,
    [FT_CODE_UDIV] = FT_OP_BVUDIV, [FT_CODE_SDIV] = FT_OP_BVSDIV, [FT_CODE_UREM] = FT_OP_BVUREM,
    [FT_CODE_SREM] = FT_OP_BVSREM, [FT_CODE_AND] = FT_OP_BVAND,   [FT_CODE_OR] = FT_OP_BVOR,
    [FT_CODE_XOR] = FT_OP_BVXOR,   [FT_CODE_SHL] = FT_OP_BVSHL,   [FT_CODE_LSHR] = FT_OP_BVLSHR,
    [FT_CODE_ASHR] = FT_OP_BVASHR, [FT_CODE_EQ] = FT_OP_EQ,       [FT_CODE_NE] = FT_OP_DISTINCT,
    [FT_CODE_ULT] = FT_OP_BVULT,   [FT_CODE_ULE] = FT_OP_BVULE,   [FT_CODE_SLT] = FT_OP_BVSLT,
    [FT_CODE_SLE] = FT_OP_BVSLE,
};

static ft_term cast(modular *m, const ft_instruction *in, ft_term a, uint8_t from)
{
    uint32_t more = in->width > from ? (uint32_t)in->width - from : 0;
    if (in->code == FT_CODE_TRUNC) return mod_low(m, a, in->width);
    if (from == 1) {
        uint64_t set = in->code == FT_CODE_SEXT ? UINT64_MAX : 1;
        return mod_choose(m, mod_truth(m, a), mod_literal(m, in->width, set),
                          mod_literal(m, in->width, 0));
    }
    return apply(m, in->code == FT_CODE_SEXT ? FT_OP_SIGN_EXTEND : FT_OP_ZERO_EXTEND, &a, 1, more,
                 0);
}

bool mod_divides(ft_code code)
{
    return code == FT_CODE_UDIV || code == FT_CODE_SDIV || code == FT_CODE_UREM ||
           code == FT_CODE_SREM;
}

/* May the result have the object of an operand? */
static bool passes_object(ft_code code)
{
    return code == FT_CODE_ADD || code == FT_CODE_SUB || code == FT_CODE_AND || code == FT_CODE_OR;
}

/* Bits as truth values, so that terms stay small. */
static ft_term logic(modular *m, ft_code code, ft_term a, ft_term b)
{
    ft_op op = code == FT_CODE_AND ? FT_OP_AND : code == FT_CODE_OR ? FT_OP_OR : FT_OP_XOR;
    return mod_bit(m, mod_apply(m, op, mod_truth(m, a), mod_truth(m, b)));
}

static mod_value two_numbers(modular *m, const ft_instruction *in, ft_term a, ft_term b)
{
    ft_op op = (ft_op)OPS[in->code];
    ft_code code = (ft_code)in->code;
    bool is_bit = in->width == 1;
    if (is_bit && (code == FT_CODE_AND || code == FT_CODE_OR || code == FT_CODE_XOR))
        return mod_of(logic(m, code, a, b));
    uint64_t bits;
    if (mod_divides(code) && mod_is_literal(m, b, &bits) && !bits)
        return (mod_value){.kind = MOD_NOTHING};
    if (code == FT_CODE_NE) {
        ft_term same = mod_apply(m, FT_OP_EQ, a, b);
        return mod_of(mod_bit(m, mod_apply(m, FT_OP_NOT, same, FT_NO_TERM)));
    }
    ft_term made = mod_apply(m, op, a, b);
    return mod_of(ft_term_sort(m->pool, made).kind == FT_SORT_BOOL ? mod_bit(m, made) : made);
}

mod_value mod_compute(modular *m, mod_run *run, const ft_instruction *in, const mod_value *v,
                      const uint8_t *widths)
{
    uint8_t width = ft_instruction_result_width(in);
    bool numbers = true;
    for (uint32_t i = 0; i < in->n_operands && i < 3; i++) numbers &= v[i].kind == MOD_NUMBER;
    if (in->code == FT_CODE_ZEXT || in->code == FT_CODE_SEXT || in->code == FT_CODE_TRUNC) {
        ft_term a = mod_number(m, run, v[0], widths[0]);
        return mod_bare(cast(m, in, a, widths[0]));
    }
    if (in->code == FT_CODE_SELECT) {
        ft_term c = mod_truth(m, v[0].kind == MOD_NUMBER ? v[0].term : mod_fresh(m, run, 1));
        ft_term made = mod_choose(m, c, mod_number(m, run, v[1], in->width),
                                  mod_number(m, run, v[2], in->width));
        return v[1].bare && v[2].bare ? mod_bare(made) : mod_of(made);
    }
    if (!OPS[in->code]) return mod_of(mod_fresh(m, run, width)); /* floats */
    if (!numbers) return on_addresses(m, run, in, v);
    mod_value made = two_numbers(m, in, v[0].term, v[1].term);
    made.bare = (v[0].bare && v[1].bare) || !passes_object((ft_code)in->code);
    return made;
}
