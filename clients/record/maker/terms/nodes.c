/* Nodes: the results of the program's operations, each a term beside its value in the run. */
#include "base/contract.h"
#include "maker/terms/terms_internal.h"

enum { DEEPEST = 48, LARGEST = 400, MAX_DEPTH = 255 };

static uint64_t mask_of(unsigned width)
{
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static int64_t as_signed(uint64_t value, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((value ^ sign) - sign);
}

static ft_sort sort_of(unsigned width)
{
    return width == 1 ? FT_BOOL_SORT : (ft_sort){.kind = FT_SORT_BITVEC, .width = (uint8_t)width};
}

ft_node ft_node_constant(unsigned width, uint64_t value)
{
    FT_REQUIRE(width && width < FT_WIDTHS);
    return (ft_node){FT_NO_TERM, (uint8_t)width, value & mask_of(width)};
}

static ft_term literal(ft_terms *t, ft_sort sort, uint64_t value)
{
    return ft_term_literal(t->pool, (ft_value){.sort = sort, .bits = value});
}

/* A term that an assume holds to its value counts as that constant from there on. */
static bool is_constant(const ft_terms *t, ft_node node)
{
    return !node.term || ft_terms_is_held(t, node.term);
}

ft_term ft_node_term(ft_terms *t, ft_node node)
{
    if (is_constant(t, node)) return literal(t, sort_of(node.width), node.value);
    return node.term;
}

static ft_term apply(ft_terms *t, ft_op op, const ft_term *children, uint32_t n, uint32_t high,
                     uint32_t low)
{
    uint32_t index[2] = {high, low};
    ft_term term = FT_NO_TERM;
    ft_error error = FT_ERROR_INIT;
    ft_status status = ft_term_apply(t->pool, op, children, n, index, &term, &error);
    assert(status == FT_OK); /* the children's sorts fit */
    (void)status;
    return term;
}

#define APPLY(t, op, ...)                                                                          \
    apply(t, op, (const ft_term[]){__VA_ARGS__},                                                   \
          sizeof((const ft_term[]){__VA_ARGS__}) / sizeof(ft_term), 0, 0)

/* Depth and size of the term and of all before it. */
static void measure(ft_terms *t, ft_term term)
{
    while (t->depths.len <= term) {
        uint32_t depth = 0, size = 1;
        if (t->depths.len) {
            ft_term_node node = ft_term_get(t->pool, (ft_term)t->depths.len);
            for (uint32_t i = 0; i < node.n_children; i++) {
                uint32_t below = t->depths.data[node.children[i]] + 1u;
                if (below > depth) depth = below;
                size += t->sizes.data[node.children[i]];
                if (size > LARGEST * LARGEST) size = LARGEST * LARGEST;
            }
        }
        ft_vec_push(&t->depths, (uint8_t)(depth > MAX_DEPTH ? MAX_DEPTH : depth));
        ft_vec_push(&t->sizes, size);
    }
}

static void name_local(unsigned width, uint32_t number, ft_strbuf *name)
{
    ft_strbuf_printf(name, "r%u", number);
    if (width != 32) ft_strbuf_printf(name, ".%u", width);
}

ft_node ft_node_local(ft_terms *t, unsigned width, uint64_t value, ft_symbol *symbol)
{
    FT_REQUIRE(width && width < FT_WIDTHS);
    uint32_t number = t->actor->locals[width]++;
    assert(number <= t->ids[width].len);
    if (number == t->ids[width].len) {
        ft_strbuf name = {0};
        name_local(width, number + 1, &name);
        ft_vec_push(&t->ids[width],
                    ft_builder_local(t->builder, name.text, name.len, sort_of(width)));
        ft_strbuf_release(&name);
    }
    uint32_t id = t->ids[width].data[number];
    while (t->actor->values.len <= id) ft_vec_push(&t->actor->values, 0);
    t->actor->values.data[id] = value & mask_of(width);
    *symbol = FT_SYM_LOCAL(id);
    ft_term term = ft_term_symbol(t->pool, *symbol, sort_of(width));
    return (ft_node){term, (uint8_t)width, value & mask_of(width)};
}

/* A large term gets a name: a local that is assigned now. */
static ft_node name_term(ft_terms *t, ft_node node)
{
    if (!ft_terms_agrees(t, node.term, node.value)) {
        ft_terms_disagrees(t, node.term);
        return ft_node_constant(node.width, node.value);
    }
    ft_assignment assignment = {.term = node.term};
    ft_node name = ft_node_local(t, node.width, node.value, &assignment.target);
    ft_terms_assign(t, FT_NO_TERM, &assignment, 1, 0, 0);
    return name;
}

ft_node ft_node_small(ft_terms *t, ft_node node)
{
    if (!node.term) return node;
    measure(t, node.term);
    bool small = t->depths.data[node.term] < DEEPEST / 2 && t->sizes.data[node.term] < LARGEST / 2;
    return small ? node : name_term(t, node);
}

bool ft_node_is_sound(const ft_terms *t, ft_node node)
{
    ft_sort sort = sort_of(node.width), found = node.term ? ft_term_sort(t->pool, node.term) : sort;
    bool fits = found.kind == sort.kind && (node.width == 1 || found.width == sort.width);
    return node.width && fits && !(node.value & ~mask_of(node.width));
}

static ft_node node_of(ft_terms *t, unsigned width, ft_term term, uint64_t value)
{
    ft_node node = {term, (uint8_t)width, value & mask_of(width)};
    FT_CHECK(ft_node_is_sound(t, (ft_node){term, (uint8_t)width, value & mask_of(width)}));
    if (!term || ft_term_get(t->pool, term).op == FT_OP_LITERAL)
        return ft_node_constant(width, value);
    measure(t, term);
    if (t->depths.data[term] < DEEPEST && t->sizes.data[term] < LARGEST) return node;
    return name_term(t, node);
}

/* ---- binary operators */

static const ft_op operators[] = {
#define FT_ROW(symbol, operator) [FT_SYM_##symbol] = FT_OP_##operator,
    FT_SYM_BINARY_TABLE(FT_ROW)
#undef FT_ROW
};

static bool is_comparison(ft_sym_operation operation)
{
    return operation >= FT_SYM_EQ && operation < FT_SYM_BINARIES;
}

/* The processor takes the amount of a shift modulo its width; the program does not ask for more. */
static uint64_t shifted(ft_sym_operation operation, uint64_t x, uint64_t y, unsigned width)
{
    uint64_t n = y & (width > 32 ? 63 : 31);
    if (operation == FT_SYM_SHL) return x << n;
    if (operation == FT_SYM_LSHR) return x >> n;
    return (uint64_t)(as_signed(x, width) >> n);
}

static uint64_t divided(ft_sym_operation operation, uint64_t x, uint64_t y, unsigned width)
{
    int64_t a = as_signed(x, width), b = as_signed(y, width);
    if (!y) return 0;
    if (operation == FT_SYM_UDIV) return x / y;
    if (operation == FT_SYM_UREM) return x % y;
    if (b == -1) return operation == FT_SYM_SDIV ? -x : 0;
    return (uint64_t)(operation == FT_SYM_SDIV ? a / b : a % b);
}

static uint64_t compute(ft_sym_operation operation, uint64_t x, uint64_t y, unsigned width)
{
    int64_t a = as_signed(x, width), b = as_signed(y, width);
    const uint64_t results[] = {
        [FT_SYM_ADD] = x + y,
        [FT_SYM_SUB] = x - y,
        [FT_SYM_MUL] = x * y,
        [FT_SYM_AND] = x & y,
        [FT_SYM_OR] = x | y,
        [FT_SYM_XOR] = x ^ y,
        [FT_SYM_EQ] = x == y,
        [FT_SYM_NE] = x != y,
        [FT_SYM_UGT] = x > y,
        [FT_SYM_UGE] = x >= y,
        [FT_SYM_ULT] = x<y, [FT_SYM_ULE] = x <= y, [FT_SYM_SGT] = a> b,
        [FT_SYM_SGE] = a >= b,
        [FT_SYM_SLT] = a < b,
        [FT_SYM_SLE] = a <= b,
    };
    if (operation >= FT_SYM_UDIV && operation <= FT_SYM_SREM)
        return divided(operation, x, y, width);
    if (operation >= FT_SYM_SHL && operation <= FT_SYM_ASHR) return shifted(operation, x, y, width);
    return results[operation];
}

static ft_term bit_of(ft_terms *t, ft_term boolean)
{
    ft_sort bit = {.kind = FT_SORT_BITVEC, .width = 1};
    return APPLY(t, FT_OP_ITE, boolean, literal(t, bit, 1), literal(t, bit, 0));
}

static ft_term boolean_of(ft_terms *t, ft_term bit)
{
    return APPLY(t, FT_OP_EQ, bit, literal(t, (ft_sort){.kind = FT_SORT_BITVEC, .width = 1}, 1));
}

static ft_term of_booleans(ft_terms *t, ft_sym_operation operation, ft_term a, ft_term b)
{
    static const ft_op direct[FT_SYM_BINARIES] = {
        [FT_SYM_ADD] = FT_OP_XOR, [FT_SYM_SUB] = FT_OP_XOR, [FT_SYM_XOR] = FT_OP_XOR,
        [FT_SYM_NE] = FT_OP_XOR,  [FT_SYM_AND] = FT_OP_AND, [FT_SYM_MUL] = FT_OP_AND,
        [FT_SYM_OR] = FT_OP_OR,   [FT_SYM_EQ] = FT_OP_EQ,
    };
    if (direct[operation]) return APPLY(t, direct[operation], a, b);
    ft_term made = APPLY(t, operators[operation], bit_of(t, a), bit_of(t, b));
    return is_comparison(operation) ? made : boolean_of(t, made);
}

static void assume_term(ft_terms *t, ft_term condition)
{
    ft_terms_assume(t, (ft_node){condition, 1, 1}, true);
}

/* Assumes that the operation is defined: the program is not followed into a division by zero, an
 * overflow of it, or a shift beyond the width. */
static void assume_defined(ft_terms *t, ft_sym_operation operation, unsigned width, ft_node a,
                           ft_node b)
{
    ft_sort sort = sort_of(width);
    if (width == 1) return;
    if (operation >= FT_SYM_SHL && operation <= FT_SYM_ASHR && !is_constant(t, b)) {
        if (b.value < width)
            assume_term(t, APPLY(t, FT_OP_BVULT, b.term, literal(t, sort, width)));
        else
            ft_terms_hold(t, b, FT_SYM_OPERATION_REASON);
    }
    if (operation < FT_SYM_UDIV || operation > FT_SYM_SREM) return;
    if (!is_constant(t, b)) assume_term(t, APPLY(t, FT_OP_DISTINCT, b.term, literal(t, sort, 0)));
    if (operation != FT_SYM_SDIV && operation != FT_SYM_SREM) return;
    ft_term lowest = literal(t, sort, UINT64_C(1) << (width - 1));
    ft_term minus = literal(t, sort, mask_of(width));
    ft_term first = APPLY(t, FT_OP_DISTINCT, ft_node_term(t, a), lowest),
            second = APPLY(t, FT_OP_DISTINCT, ft_node_term(t, b), minus);
    assume_term(t, APPLY(t, FT_OP_OR, first, second));
}

ft_node ft_node_binary(ft_terms *t, ft_sym_operation operation, unsigned width, ft_node a,
                       ft_node b)
{
    FT_REQUIRE(operation && operation < FT_SYM_BINARIES);
    FT_REQUIRE(a.width == width && b.width == width);
    unsigned result = is_comparison(operation) ? 1 : width;
    uint64_t value = compute(operation, a.value, b.value, width);
    if (is_constant(t, a) && is_constant(t, b)) return ft_node_constant(result, value);
    assume_defined(t, operation, width, a, b);
    ft_term x = ft_node_term(t, a), y = ft_node_term(t, b);
    ft_term term =
        width == 1 ? of_booleans(t, operation, x, y) : APPLY(t, operators[operation], x, y);
    return node_of(t, result, term, value);
}

/* ---- the others */

ft_node ft_node_cast(ft_terms *t, ft_sym_operation operation, unsigned from, unsigned to, ft_node a)
{
    FT_REQUIRE(a.width == from && to && to < FT_WIDTHS);
    uint64_t value = operation == FT_SYM_SEXT ? (uint64_t)as_signed(a.value, from) : a.value;
    if (is_constant(t, a)) return ft_node_constant(to, value);
    ft_term term = a.term;
    uint64_t one = operation == FT_SYM_SEXT ? mask_of(to) : 1;
    if (from == 1)
        term = APPLY(t, FT_OP_ITE, term, literal(t, sort_of(to), one), literal(t, sort_of(to), 0));
    else if (to == 1)
        term = boolean_of(t, apply(t, FT_OP_EXTRACT, &term, 1, 0, 0));
    else if (to < from)
        term = apply(t, FT_OP_EXTRACT, &term, 1, to - 1, 0);
    else
        term = apply(t, operation == FT_SYM_SEXT ? FT_OP_SIGN_EXTEND : FT_OP_ZERO_EXTEND, &term, 1,
                     to - from, 0);
    return node_of(t, to, term, value);
}

ft_node ft_node_choice(ft_terms *t, unsigned width, ft_node c, ft_node a, ft_node b)
{
    FT_REQUIRE(c.width == 1 && a.width == width && b.width == width);
    uint64_t value = c.value ? a.value : b.value;
    if (is_constant(t, c)) return c.value ? a : b;
    ft_term x = ft_node_term(t, a), y = ft_node_term(t, b);
    return node_of(t, width, APPLY(t, FT_OP_ITE, c.term, x, y), value);
}

ft_node ft_node_index(ft_terms *t, ft_node base, ft_node index, uint64_t stride)
{
    ft_node offset = ft_node_binary(t, FT_SYM_MUL, 64, index, ft_node_constant(64, stride));
    return ft_node_binary(t, FT_SYM_ADD, 64, base, offset);
}

/* ---- lanes */

ft_lane ft_node_lane(const ft_terms *t, ft_node node, uint32_t byte)
{
    uint64_t value = byte < 8 ? node.value >> (8 * byte) : 0;
    return (ft_lane){.term = node.term,
                     .index = (uint8_t)byte,
                     .value = (uint8_t)value,
                     .thread = (uint16_t)t->place.number};
}

/* How many lanes from the first on are one stretch of one term, or constants. */
static uint32_t stretch(const ft_lane *lanes, uint32_t n)
{
    uint32_t length = 1;
    while (length < n && lanes[length].term == lanes[0].term &&
           (!lanes[0].term || lanes[length].index == lanes[0].index + length))
        length++;
    return length;
}

static ft_term term_of_stretch(ft_terms *t, const ft_lane *lanes, uint32_t n, uint64_t value)
{
    ft_sort sort = {.kind = FT_SORT_BITVEC, .width = (uint8_t)(8 * n)};
    if (!lanes[0].term) return literal(t, sort, value & mask_of(8 * n));
    if (ft_term_sort(t->pool, lanes[0].term).width == 8 * n) return lanes[0].term;
    uint32_t low = 8u * lanes[0].index;
    assert(low + 8 * n <= ft_term_sort(t->pool, lanes[0].term).width);
    return apply(t, FT_OP_EXTRACT, &lanes[0].term, 1, low + 8 * n - 1, low);
}

ft_node ft_node_of_lanes(ft_terms *t, const ft_lane *lanes, uint32_t n)
{
    FT_REQUIRE(n && n <= 8);
    uint64_t value = 0;
    ft_term term = FT_NO_TERM;
    bool symbolic = false;
    for (uint32_t i = 0; i < n; i++) {
        value |= (uint64_t)lanes[i].value << (8 * i);
        symbolic |= lanes[i].term != FT_NO_TERM;
    }
    if (!symbolic) return ft_node_constant(8 * n, value);
    for (uint32_t i = 0, length; i < n; i += length) {
        length = stretch(&lanes[i], n - i);
        ft_term part = term_of_stretch(t, &lanes[i], length, value >> (8 * i));
        term = term ? APPLY(t, FT_OP_CONCAT, part, term) : part;
    }
    return node_of(t, 8 * n, term, value);
}
