/* Random terms: the evaluator and the simplifier against a second evaluator and against Z3. */
#include "term_support.h"

/* ---- random terms against a second evaluator and against Z3 ---- */

static uint64_t seed = 42;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static unsigned below(unsigned n)
{
    return (unsigned)(next_random() >> 33) % n;
}

enum { MAX_NODES = 64, MAX_KIDS = 3 };
typedef struct tree {
    const char *op; /* NULL: variable, "": literal */
    ft_sort sort;
    unsigned variable, n, high, low;
    uint64_t bits;
    const struct tree *kids[MAX_KIDS];
} tree;

static const struct {
    const char *op;
    char result, argument; /* b, i: Bool, Int; v: BitVec of the result's or any width */
    unsigned least, most;
} RANDOM_OPS[] = {
    {"not", 'b', 'b', 1, 1},      {"and", 'b', 'b', 1, 3},         {"or", 'b', 'b', 1, 3},
    {"xor", 'b', 'b', 2, 3},      {"=>", 'b', 'b', 2, 3},          {"=", 'b', 'i', 2, 3},
    {"=", 'b', 'b', 2, 3},        {"=", 'b', 'v', 2, 3},           {"distinct", 'b', 'i', 2, 3},
    {"distinct", 'b', 'v', 2, 3}, {"distinct", 'b', 'b', 2, 3},    {"<", 'b', 'i', 2, 3},
    {"<=", 'b', 'i', 2, 3},       {">", 'b', 'i', 2, 3},           {">=", 'b', 'i', 2, 3},
    {"bvult", 'b', 'v', 2, 2},    {"bvule", 'b', 'v', 2, 2},       {"bvugt", 'b', 'v', 2, 2},
    {"bvuge", 'b', 'v', 2, 2},    {"bvslt", 'b', 'v', 2, 2},       {"bvsle", 'b', 'v', 2, 2},
    {"bvsgt", 'b', 'v', 2, 2},    {"bvsge", 'b', 'v', 2, 2},       {"+", 'i', 'i', 1, 3},
    {"-", 'i', 'i', 1, 3},        {"*", 'i', 'i', 1, 3},           {"div", 'i', 'i', 2, 3},
    {"mod", 'i', 'i', 2, 2},      {"abs", 'i', 'i', 1, 1},         {"bvnot", 'v', 'v', 1, 1},
    {"bvneg", 'v', 'v', 1, 1},    {"bvadd", 'v', 'v', 2, 3},       {"bvsub", 'v', 'v', 2, 2},
    {"bvmul", 'v', 'v', 2, 3},    {"bvudiv", 'v', 'v', 2, 2},      {"bvurem", 'v', 'v', 2, 2},
    {"bvsdiv", 'v', 'v', 2, 2},   {"bvsrem", 'v', 'v', 2, 2},      {"bvand", 'v', 'v', 2, 3},
    {"bvor", 'v', 'v', 2, 3},     {"bvxor", 'v', 'v', 2, 3},       {"bvshl", 'v', 'v', 2, 2},
    {"bvlshr", 'v', 'v', 2, 2},   {"bvashr", 'v', 'v', 2, 2},      {"ite", '?', '?', 3, 3},
    {"extract", 'v', '?', 1, 1},  {"zero_extend", 'v', '?', 1, 1}, {"sign_extend", 'v', '?', 1, 1},
    {"concat", 'v', '?', 2, 2},
};
enum { N_RANDOM_OPS = sizeof RANDOM_OPS / sizeof *RANDOM_OPS };

static const ft_sort WIDTHS[] = {{FT_SORT_BITVEC, 8}, {FT_SORT_BITVEC, 5}, {FT_SORT_BITVEC, 64}};

static uint64_t mask(ft_sort sort)
{
    return sort.width == 64 ? UINT64_MAX : ((uint64_t)1 << sort.width) - 1;
}

static uint64_t random_bits(ft_sort sort)
{
    static const uint64_t INTS[] = {0,
                                    1,
                                    2,
                                    3,
                                    7,
                                    (uint64_t)-1,
                                    (uint64_t)-2,
                                    (uint64_t)-5,
                                    INT64_MAX,
                                    (uint64_t)INT64_MIN,
                                    1u << 31};
    if (sort.kind == FT_SORT_BOOL) return below(2);
    if (sort.kind == FT_SORT_INT) return INTS[below(below(2) ? 8 : 11)];
    uint64_t edge[] = {0, 1, mask(sort), (uint64_t)1 << (sort.width - 1), 3};
    return below(3) ? edge[below(5)] & mask(sort) : next_random() & mask(sort);
}

static const tree *grow(ft_arena *arena, ft_sort sort, unsigned depth);

static tree *leaf(ft_arena *arena, ft_sort sort)
{
    tree *t = ft_arena_alloc(arena, sizeof *t);
    *t = (tree){.sort = sort};
    unsigned at = below(N_PLAIN);
    for (unsigned i = 0; i < N_PLAIN; i++, at = (at + 1) % N_PLAIN) {
        if (!ft_sort_equal(VARIABLES[at].sort, sort) || below(3) == 0) continue;
        t->variable = at;
        return t;
    }
    t->op = "";
    t->bits = random_bits(sort);
    return t;
}

/* concat, extract and extensions, when the result's width allows: false otherwise */
static bool grow_resized(ft_arena *arena, tree *t, unsigned depth)
{
    unsigned width = t->sort.width;
    if (strcmp(t->op, "extract") == 0) {
        ft_sort from = WIDTHS[below(3)];
        if (from.width < width) return false;
        t->low = below(from.width - width + 1u);
        t->high = t->low + width - 1;
        t->kids[0] = grow(arena, from, depth);
        return true;
    }
    if (width < 2) return false;
    unsigned part = 1 + below(width - 1);
    t->high = width - part;
    t->kids[0] = grow(arena, (ft_sort){FT_SORT_BITVEC, (uint8_t)part}, depth);
    if (t->n == 2) t->kids[1] = grow(arena, (ft_sort){FT_SORT_BITVEC, (uint8_t)t->high}, depth);
    return true;
}

static const tree *grow(ft_arena *arena, ft_sort sort, unsigned depth)
{
    static const char KINDS[] = {'b', 'i', 'v'};
    if (depth == 0 || below(5) == 0) return leaf(arena, sort);
    for (;;) {
        unsigned k = below(N_RANDOM_OPS);
        if (RANDOM_OPS[k].result != '?' && RANDOM_OPS[k].result != KINDS[sort.kind]) continue;
        tree *t = ft_arena_alloc(arena, sizeof *t);
        *t = (tree){.op = RANDOM_OPS[k].op, .sort = sort};
        t->n = RANDOM_OPS[k].least + below(RANDOM_OPS[k].most - RANDOM_OPS[k].least + 1);
        if (RANDOM_OPS[k].result == '?') {
            t->kids[0] = grow(arena, BOOL, depth - 1);
            t->kids[1] = grow(arena, sort, depth - 1);
            t->kids[2] = below(4) ? grow(arena, sort, depth - 1) : t->kids[1];
            return t;
        }
        if (RANDOM_OPS[k].argument == '?') {
            if (!grow_resized(arena, t, depth - 1)) continue;
            return t;
        }
        ft_sort argument = RANDOM_OPS[k].argument == 'b'   ? BOOL
                           : RANDOM_OPS[k].argument == 'i' ? INT
                           : sort.kind == FT_SORT_BITVEC   ? sort
                                                           : WIDTHS[below(3)];
        for (unsigned i = 0; i < t->n; i++)
            t->kids[i] = i && below(6) == 0 ? t->kids[0] : grow(arena, argument, depth - 1);
        return t;
    }
}

static void write_tree(const tree *t, ft_strbuf *out)
{
    if (!t->op) {
        ft_strbuf_puts(out, VARIABLES[t->variable].name);
        return;
    }
    if (!*t->op) {
        ft_value_print((ft_value){t->sort, t->bits}, out);
        return;
    }
    if (strcmp(t->op, "extract") == 0)
        ft_strbuf_printf(out, "((_ extract %u %u)", t->high, t->low);
    else if (strstr(t->op, "_extend"))
        ft_strbuf_printf(out, "((_ %s %u)", t->op, t->high);
    else
        ft_strbuf_printf(out, "(%s", t->op);
    for (unsigned i = 0; i < t->n; i++) {
        ft_strbuf_puts(out, " ");
        write_tree(t->kids[i], out);
    }
    ft_strbuf_puts(out, ")");
}

/* The second evaluator: all symbols known; wide integers; returns the status. */
typedef __int128 wide;

static ft_eval_status in_range(wide value, uint64_t *out)
{
    *out = (uint64_t)value;
    return value < INT64_MIN || value > INT64_MAX ? FT_EVAL_OVERFLOW : FT_EVAL_OK;
}

static wide to_wide(uint64_t bits, ft_sort sort)
{
    if (sort.kind == FT_SORT_INT) return (int64_t)bits;
    return (wide)bits - (bits >> (sort.width - 1) & 1 ? (wide)1 << sort.width : 0);
}

static wide floor_mod(wide a, wide b)
{
    wide size = b < 0 ? -b : b, rest = a % size;
    return rest < 0 ? rest + size : rest;
}

#define IS(name) (strcmp(op, name) == 0)

static ft_eval_status reference_int(const char *op, uint64_t x, uint64_t y, uint64_t *out)
{
    wide a = to_wide(x, INT), b = to_wide(y, INT);
    if ((IS("div") || IS("mod")) && b == 0) return FT_EVAL_UNDEFINED;
    if (IS("+")) return in_range(a + b, out);
    if (IS("-")) return in_range(a - b, out);
    if (IS("*")) return in_range(a * b, out);
    if (IS("mod")) return in_range(floor_mod(a, b), out);
    return in_range((a - floor_mod(a, b)) / b, out);
}

static ft_eval_status reference_bits(const char *op, uint64_t x, uint64_t y, ft_sort sort,
                                     uint64_t *out)
{
    wide a = to_wide(x, sort), b = to_wide(y, sort), power = 1;
    bool divides = IS("bvudiv") || IS("bvurem") || IS("bvsdiv") || IS("bvsrem");
    if (divides && y == 0) return FT_EVAL_UNDEFINED;
    for (uint64_t i = 0; i < y && i < 64; i++) power *= 2;
    wide result = IS("bvadd")    ? a + b
                  : IS("bvsub")  ? a - b
                  : IS("bvmul")  ? (wide)((unsigned __int128)a * (unsigned __int128)b)
                  : IS("bvudiv") ? (wide)(x / y)
                  : IS("bvurem") ? (wide)(x % y)
                  : IS("bvsdiv") ? a / b
                  : IS("bvsrem") ? a % b
                  : IS("bvand")  ? (a & b)
                  : IS("bvor")   ? (a | b)
                  : IS("bvxor")  ? (a ^ b)
                  : IS("bvshl")  ? (wide)((unsigned __int128)x * (unsigned __int128)power)
                  : IS("bvlshr") ? (wide)x / power
                                 : (a - floor_mod(a, power)) / power;
    *out = (uint64_t)result & mask(sort);
    return FT_EVAL_OK;
}

static bool reference_compare(const char *op, uint64_t x, uint64_t y, ft_sort sort)
{
    bool is_signed = sort.kind == FT_SORT_INT || strncmp(op, "bvs", 3) == 0;
    wide a = is_signed ? to_wide(x, sort) : (wide)x, b = is_signed ? to_wide(y, sort) : (wide)y;
    if (IS("=")) return x == y;
    if (IS("<") || IS("bvult") || IS("bvslt")) return a < b;
    if (IS("<=") || IS("bvule") || IS("bvsle")) return a <= b;
    if (IS(">") || IS("bvugt") || IS("bvsgt")) return a > b;
    return a >= b;
}

static bool reference_bool(const char *op, const uint64_t *v, unsigned n, ft_sort sort)
{
    bool all = true, any = false, odd = false, implied = v[n - 1], distinct = true, chain = true;
    for (unsigned i = 0; i < n; i++) {
        all = all && v[i];
        any = any || v[i];
        odd = odd != (bool)v[i];
        for (unsigned k = 0; k < i; k++) distinct = distinct && v[i] != v[k];
        if (i + 1 < n) chain = chain && reference_compare(op, v[i], v[i + 1], sort);
    }
    for (unsigned i = n - 1; i-- > 0;) implied = !v[i] || implied;
    return IS("not")        ? !v[0]
           : IS("and")      ? all
           : IS("or")       ? any
           : IS("xor")      ? odd
           : IS("=>")       ? implied
           : IS("distinct") ? distinct
                            : chain;
}

static ft_eval_status reference(const tree *t, const assignment *a, uint64_t *out);

static ft_eval_status reference_unary(const tree *t, uint64_t v, uint64_t *out)
{
    const char *op = t->op;
    ft_sort from = t->kids[0]->sort;
    if (IS("abs")) return in_range(to_wide(v, INT) < 0 ? -to_wide(v, INT) : to_wide(v, INT), out);
    if (IS("-")) return in_range(-to_wide(v, INT), out);
    *out = v;
    if (IS("bvnot")) *out = ~v;
    if (IS("bvneg")) *out = (uint64_t)-to_wide(v, from);
    if (IS("extract")) *out = v >> t->low;
    if (IS("sign_extend")) *out = (uint64_t)to_wide(v, from);
    if (t->sort.kind == FT_SORT_BITVEC) *out &= mask(t->sort);
    return FT_EVAL_OK;
}

static ft_eval_status reference_strict(const tree *t, const uint64_t *v, uint64_t *out)
{
    const char *op = t->op;
    if (t->sort.kind == FT_SORT_BOOL) {
        *out = reference_bool(op, v, t->n, t->kids[0]->sort);
        return FT_EVAL_OK;
    }
    if (t->n == 1) return reference_unary(t, v[0], out);
    if (IS("concat")) {
        *out = v[0] << t->kids[1]->sort.width | v[1];
        return FT_EVAL_OK;
    }
    *out = v[0];
    ft_eval_status status = FT_EVAL_OK;
    for (unsigned i = 1; i < t->n; i++) {
        /* after an overflow only a division by zero still matters */
        uint64_t next;
        ft_eval_status step = t->sort.kind == FT_SORT_INT
                                  ? reference_int(op, *out, v[i], &next)
                                  : reference_bits(op, *out, v[i], t->sort, &next);
        if (step == FT_EVAL_UNDEFINED) return step;
        if (step == FT_EVAL_OVERFLOW) status = step;
        *out = next;
    }
    return status;
}

static ft_eval_status reference(const tree *t, const assignment *a, uint64_t *out)
{
    uint64_t v[MAX_KIDS] = {0};
    ft_eval_status worst = FT_EVAL_OK;
    if (!t->op) {
        *out = a->bits[t->variable];
        return FT_EVAL_OK;
    }
    if (!*t->op) {
        *out = t->bits;
        return FT_EVAL_OK;
    }
    if (strcmp(t->op, "ite") == 0) {
        worst = reference(t->kids[0], a, v);
        return worst ? worst : reference(t->kids[v[0] ? 1 : 2], a, out);
    }
    bool zero_divisor = false,
         division = strstr("div mod", t->op) || strstr(t->op, "div") || strstr(t->op, "rem");
    for (unsigned i = 0; i < t->n; i++) {
        ft_eval_status status = reference(t->kids[i], a, &v[i]);
        if (status == FT_EVAL_UNDEFINED || worst == FT_EVAL_OK) worst = status;
        if (division && i && status == FT_EVAL_OK && v[i] == 0) zero_divisor = true;
    }
    if (zero_divisor) return FT_EVAL_UNDEFINED;
    return worst ? worst : reference_strict(t, v, out);
}

static void random_assignment(assignment *a, const assignment *fixed)
{
    for (unsigned i = 0; i < N_VARIABLES; i++) {
        bool keep = fixed && fixed->have[i];
        a->bits[i] = keep ? fixed->bits[i] : random_bits(VARIABLES[i].sort);
        a->have[i] = true;
    }
}

static void random_root(ft_arena *arena, const tree **root, ft_strbuf *text)
{
    static const ft_sort SORTS[] = {{FT_SORT_BOOL, 0},   {FT_SORT_BOOL, 0},   {FT_SORT_INT, 0},
                                    {FT_SORT_BITVEC, 8}, {FT_SORT_BITVEC, 5}, {FT_SORT_BITVEC, 64}};
    *root = grow(arena, SORTS[below(6)], 1 + below(4));
    ft_strbuf_clear(text);
    write_tree(*root, text);
}

/* Complete assignments: status and value are the reference's. */
static void test_random_known(void **state)
{
    unsigned by_status[4] = {0};
    ft_strbuf text = {0}, again = {0};
    (void)state;
    for (int round = 0; round < 20000; round++) {
        ft_arena *arena = ft_arena_new();
        const tree *root;
        random_root(arena, &root, &text);
        ft_term term = parse(ft_strbuf_text(&text));
        assert_true(ft_sort_equal(ft_term_sort(pool, term), root->sort));
        for (int i = 0; i < 4; i++) {
            assignment a;
            uint64_t bits = 0;
            ft_value value = {{0, 0}, 0};
            random_assignment(&a, NULL);
            ft_eval_status wanted = reference(root, &a, &bits);
            ft_eval_status status = ft_term_eval(pool, term, look_up, &a, &value);
            by_status[wanted]++;
            if (status != wanted || (status == FT_EVAL_OK && value.bits != bits))
                fail_msg("%s: %d %llx, reference %d %llx", ft_strbuf_text(&text), status,
                         (unsigned long long)value.bits, wanted, (unsigned long long)bits);
        }
        ft_strbuf_clear(&again);
        ft_term_print(pool, term, &SCOPE, &again);
        assert_int_equal(parse(ft_strbuf_text(&again)), term);
        ft_arena_free(arena);
    }
    assert_true(by_status[FT_EVAL_OK] > 20000);
    assert_true(by_status[FT_EVAL_UNDEFINED] > 5000);
    assert_true(by_status[FT_EVAL_OVERFLOW] > 1000);
    ft_strbuf_release(&text);
    ft_strbuf_release(&again);
}

/* Unknown symbols: what is said must hold whatever they are. */
static void test_random_unknown(void **state)
{
    unsigned decided = 0, undecided = 0;
    ft_strbuf text = {0};
    (void)state;
    for (int round = 0; round < 20000; round++) {
        ft_arena *arena = ft_arena_new();
        const tree *root;
        assignment part;
        ft_value value = {{0, 0}, 0};
        random_root(arena, &root, &text);
        ft_term term = parse(ft_strbuf_text(&text));
        random_assignment(&part, NULL);
        for (unsigned i = 0; i < N_VARIABLES; i++) part.have[i] = below(3) > 0;
        ft_eval_status status = ft_term_eval(pool, term, look_up, &part, &value);
        *(status == FT_EVAL_UNKNOWN ? &undecided : &decided) += 1;
        for (int i = 0; i < 8 && status != FT_EVAL_UNKNOWN; i++) {
            assignment full;
            uint64_t bits = 0;
            random_assignment(&full, &part);
            ft_eval_status whole = reference(root, &full, &bits);
            /* Ints are mathematical: a completion that the evaluator cannot compute says nothing */
            if (whole == FT_EVAL_OVERFLOW) continue;
            if (status == FT_EVAL_OVERFLOW && whole == FT_EVAL_UNDEFINED) continue;
            if (whole != status || (whole == FT_EVAL_OK && bits != value.bits))
                fail_msg("%s: %d %llx, one completion %d %llx", ft_strbuf_text(&text), status,
                         (unsigned long long)value.bits, whole, (unsigned long long)bits);
        }
        ft_arena_free(arena);
    }
    assert_true(decided > 4000 && undecided > 4000);
    ft_strbuf_release(&text);
}

/* (let ((x 3) ...) (= TERM VALUE)) must simplify to true in Z3. */
static bool z3_agrees(Z3_context z3, const char *term, const assignment *a, ft_value value)
{
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, "(assert (let (");
    for (unsigned i = 0; i < N_PLAIN; i++) {
        ft_strbuf_printf(&text, "(%s ", VARIABLES[i].name);
        ft_value_print((ft_value){VARIABLES[i].sort, a->bits[i]}, &text);
        ft_strbuf_puts(&text, ")");
    }
    ft_strbuf_printf(&text, ") (= %s ", term);
    ft_value_print(value, &text);
    ft_strbuf_puts(&text, ")))");
    Z3_ast_vector parsed =
        Z3_parse_smtlib2_string(z3, ft_strbuf_text(&text), 0, NULL, NULL, 0, NULL, NULL);
    Z3_ast_vector_inc_ref(z3, parsed);
    bool agrees =
        Z3_ast_vector_size(z3, parsed) == 1 &&
        Z3_get_bool_value(z3, Z3_simplify(z3, Z3_ast_vector_get(z3, parsed, 0))) == Z3_L_TRUE;
    Z3_ast_vector_dec_ref(z3, parsed);
    ft_strbuf_release(&text);
    return agrees;
}

static void test_random_z3(void **state)
{
    Z3_config config = Z3_mk_config();
    Z3_context z3 = Z3_mk_context(config);
    unsigned compared = 0;
    ft_strbuf text = {0};
    (void)state;
    Z3_del_config(config);
    for (int round = 0; round < 1500; round++) {
        ft_arena *arena = ft_arena_new();
        const tree *root;
        assignment a;
        ft_value value;
        random_root(arena, &root, &text);
        random_assignment(&a, NULL);
        ft_term term = parse(ft_strbuf_text(&text));
        if (ft_term_eval(pool, term, look_up, &a, &value) == FT_EVAL_OK) {
            compared++;
            if (!z3_agrees(z3, ft_strbuf_text(&text), &a, value))
                fail_msg("Z3 disagrees on %s", ft_strbuf_text(&text));
        }
        ft_arena_free(arena);
    }
    assert_true(compared > 500);
    ft_strbuf_release(&text);
    Z3_del_context(z3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_random_known),
        TEST(test_random_unknown),
        TEST(test_random_z3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
