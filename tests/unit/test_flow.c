/* Control flow, pointers and effects of programs: on random functions against the definitions,
 * written anew over paths; on random programs with pointers against what the interpreter does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow_random.h"
#include "program/endless.h"
#include "program/flow/pointers.h"
#include "program/interpret/interpreter.h"
#include "program/text.h"

static ft_program *read_program(const char *text)
{
    ft_error err = FT_ERROR_INIT;
    ft_program *p = NULL;
    if (ft_program_read_text(text, strlen(text), &p, &err) != FT_OK)
        fail_msg("%s\n%s", err.message, text);
    return p;
}

/* ---- control flow ---- */

enum { BLOCKS = 9 };

typedef struct shape {
    uint32_t n, degree[BLOCKS], to[BLOCKS][2];
} shape;

static shape random_shape(flow_random *r)
{
    shape s = {.n = 2 + flow_random_below(r, BLOCKS - 1)};
    for (uint32_t b = 0; b < s.n; b++) {
        s.degree[b] = flow_random_below(r, 8) ? 1 + flow_random_below(r, 2) : 0;
        for (uint32_t i = 0; i < 2; i++) s.to[b][i] = 1 + flow_random_below(r, s.n - 1);
    }
    return s;
}

static ft_program *program_of(const shape *s)
{
    ft_strbuf out = {0};
    ft_strbuf_printf(&out, "program 1\nfunction @main() -> i32 {\n");
    for (uint32_t b = 0; b < s->n; b++) {
        ft_strbuf_printf(&out, "  b%u:\n", b);
        if (b == 0) ft_strbuf_printf(&out, "    %%c = input \"c\" i1\n");
        if (s->degree[b] == 0) ft_strbuf_printf(&out, "    return i32 0\n");
        if (s->degree[b] == 1) ft_strbuf_printf(&out, "    jump b%u\n", s->to[b][0]);
        if (s->degree[b] == 2)
            ft_strbuf_printf(&out, "    branch %%c, b%u, b%u\n", s->to[b][0], s->to[b][1]);
    }
    ft_strbuf_printf(&out, "}\n");
    ft_program *p = read_program(ft_strbuf_text(&out));
    ft_strbuf_release(&out);
    return p;
}

/* Does a path of at least one edge lead from a to b, not entering `without`? b = n: the end. */
static bool path(const shape *s, uint32_t a, uint32_t b, uint32_t without)
{
    bool seen[BLOCKS + 1] = {false};
    uint32_t stack[64], n = 0;
    stack[n++] = a;
    for (bool first = true; n; first = false) {
        uint32_t x = stack[--n];
        if (!first && x == b) return true;
        if (s->degree[x] == 0 && b == s->n) return true;
        for (uint32_t i = 0; i < s->degree[x]; i++) {
            uint32_t y = s->to[x][i];
            if (y == b && y != without) return true;
            if (y == without || seen[y]) continue;
            seen[y] = true;
            stack[n++] = y;
        }
    }
    return false;
}

static bool postdominates(const shape *s, uint32_t a, uint32_t b)
{
    return a == b || !path(s, b, s->n, a);
}

static bool all_end(const shape *s)
{
    for (uint32_t b = 0; b < s->n; b++)
        if (!path(s, b, s->n, UINT32_MAX)) return false;
    return true;
}

static bool controls(const shape *s, uint32_t branch, uint32_t block)
{
    if (s->degree[branch] < 2 || (block != branch && postdominates(s, block, branch))) return false;
    for (uint32_t i = 0; i < 2; i++)
        if (postdominates(s, block, s->to[branch][i])) return true;
    return false;
}

static void compare_join(const shape *s, const ft_graph *g, uint32_t b)
{
    for (uint32_t a = 0; a < s->n; a++) {
        bool strict = a != b && postdominates(s, a, b);
        bool nearest = strict;
        for (uint32_t c = 0; c < s->n && nearest; c++)
            if (c != a && c != b && postdominates(s, c, b)) nearest = postdominates(s, c, a);
        if (nearest) assert_int_equal(g->join[b], a);
        if (strict) assert_int_not_equal(g->join[b], FT_NO_BLOCK);
    }
}

static void compare_side(const shape *s, const ft_function *f, const ft_graph *g, uint32_t b)
{
    uint64_t side[1];
    for (uint32_t i = 0; i < s->degree[b] && s->degree[b] == 2; i++) {
        ft_graph_side(g, f, b, s->to[b][i], side);
        for (uint32_t c = 0; c < s->n; c++) {
            bool in = s->to[b][i] != g->join[b] && c != g->join[b] &&
                      (c == s->to[b][i] || path(s, s->to[b][i], c, g->join[b]));
            assert_int_equal(ft_bits_has(side, c), in);
        }
    }
}

/* The first block begins with an input, and is no target; nothing else does harm but a return. */
static void compare_endless(const shape *s, const ft_function *f, uint32_t a)
{
    bool endless = !path(s, a, s->n, UINT32_MAX);
    const ft_block *b = &f->blocks.data[a];
    uint32_t last = b->instructions + b->n_instructions - 1;
    assert_int_equal(ft_program_is_endless(f, b->instructions), a != 0 && endless);
    assert_int_equal(ft_program_is_endless(f, last), endless);
}

static void control_flow_is_that_of_paths(void **state)
{
    (void)state;
    flow_random r;
    r.state = 11;
    for (uint32_t round = 0; round < 3000; round++) {
        shape s = random_shape(&r);
        ft_program *p = program_of(&s);
        const ft_function *f = &p->functions.data[0];
        ft_graph g;
        ft_graph_init(&g, f);
        bool ends = all_end(&s);
        for (uint32_t a = 0; a < s.n; a++) {
            for (uint32_t b = 0; b < s.n; b++) {
                assert_int_equal(ft_graph_leads(&g, a, b), path(&s, a, b, UINT32_MAX));
                if (!ends) continue;
                assert_int_equal(ft_graph_postdominates(&g, a, b), postdominates(&s, a, b));
                assert_int_equal(ft_graph_controls(&g, f, a, b), controls(&s, a, b));
            }
            compare_endless(&s, f, a);
            if (ends) compare_join(&s, &g, a);
            if (ends) compare_side(&s, f, &g, a);
        }
        ft_graph_release(&g);
        ft_program_free(p);
    }
}

static void a_loop_without_end_has_a_postdominator(void **state)
{
    (void)state;
    shape s = {4, {2, 1, 1, 0}, {{1, 3}, {2, 0}, {1, 0}, {0, 0}}};
    ft_program *p = program_of(&s);
    uint64_t blocks[1];
    ft_graph g;
    ft_graph_init(&g, &p->functions.data[0]);
    assert_int_equal(g.join[1], 2);
    assert_int_equal(g.join[2], FT_NO_BLOCK);
    assert_int_equal(g.join[0], FT_NO_BLOCK);
    assert_true(ft_graph_loop(&g, &p->functions.data[0], 1, blocks));
    assert_int_equal(blocks[0], 6);
    assert_false(ft_graph_loop(&g, &p->functions.data[0], 2, blocks));
    ft_graph_release(&g);
    ft_program_free(p);
}

static void a_loop_of_arithmetic_alone_is_endless(void **state)
{
    static const struct {
        const char *body; /* of a loop, behind an instruction that is asked about */
        bool endless;
    } CASES[] = {
        {"jump l(%y)", true},
        {"%z = mul i32 %y, 3 jump l(%z)", true},
        {"%z = udiv i32 %y, %x jump l(%z)", false}, /* it may fail */
        {"store i32 %y, @g jump l(%y)", false},     /* others see it */
        {"%z = load i32 @g jump l(%z)", false},     /* others change it */
        {"%z = input \"z\" i32 jump l(%z)", false},
        {"%z = call i32 @f(%y) jump l(%z)", false},
        {"yield jump l(%y)", false},
        {"%c = eq i32 %y, 9 branch %c, out, l(%y)", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (uint32_t at = 0; at < 2; at++) {
            ft_strbuf out = {0};
            ft_strbuf_printf(&out,
                             "program 1\nobject @g 4 align 4\n"
                             "function @f(%%a: i32) -> i32 {\n b: return %%a\n}\n"
                             "function @main() -> i32 {\n b: jump l(i32 0)\n l(%%x: i32):\n"
                             " %%y = add i32 %%x, 1\n %s\n out: return i32 0\n}\n",
                             CASES[i].body);
            ft_program *p = read_program(ft_strbuf_text(&out));
            const ft_function *f = &p->functions.data[1];
            uint32_t from = at ? (uint32_t)f->instructions.len - 2 : f->blocks.data[1].instructions;
            assert_int_equal(ft_program_is_endless(f, from), CASES[i].endless);
            ft_program_free(p);
            ft_strbuf_release(&out);
        }
}

/* ---- pointers ---- */

enum { LINES = 14 };

static void random_line(flow_random *r, ft_strbuf *out, uint32_t i)
{
    char x[24], y[24];
    snprintf(x, sizeof x, "%%p%u", flow_random_below(r, i));
    snprintf(y, sizeof y, "%%p%u", flow_random_below(r, i));
    switch (flow_random_below(r, 9)) {
    case 0:
        ft_strbuf_printf(out, "    %%p%u = add i64 @g%u, 0\n", i, flow_random_below(r, 3));
        break;
    case 1:
        ft_strbuf_printf(out, "    %%p%u = alloc 16\n", i);
        break;
    case 2:
        ft_strbuf_printf(out, "    %%p%u = stack 8 16\n", i);
        break;
    case 3:
        ft_strbuf_printf(out, "    store i64 %s, %s\n    %%p%u = add i64 %s, 8\n", x, y, i, x);
        break;
    case 4:
        ft_strbuf_printf(out, "    copy %s, @g2, 16\n    %%p%u = load i64 %s\n", x, i, x);
        break;
    case 5:
        ft_strbuf_printf(out, "    %%c%u = input \"c\" i1\n    %%p%u = select i64 %%c%u, %s, %s\n",
                         i, i, i, x, y);
        break;
    case 6:
        ft_strbuf_printf(out, "    %%p%u = call i64 @pass(%s, %s)\n", i, x, y);
        break;
    case 7: /* byte by byte, through an integer */
        ft_strbuf_printf(
            out,
            "    %%h%u = trunc i32 %s\n    %%l%u = zext i64 %%h%u\n    %%t%u = lshr i64 "
            "%s, 32\n    %%s%u = shl i64 %%t%u, 32\n    %%p%u = or i64 %%s%u, %%l%u\n",
            i, x, i, i, i, x, i, i, i, i, i);
        break;
    default:
        ft_strbuf_printf(out, "    %%p%u = load i64 %s\n", i, x);
    }
}

static ft_program *random_pointers(flow_random *r)
{
    ft_strbuf out = {0};
    ft_strbuf_printf(
        &out, "program 1\nobject @g0 16 align 8 { 0: @g1 8: @g2 }\nobject @g1 16 align 8\n"
              "object @g2 16 align 8 { 0: @g1 8: @inner }\nfunction @inner(%%a: i64, %%b: "
              "i64) -> i64 {\n  b0:\n    store i64 %%b, %%a\n    return %%a\n}\n"
              "function @pass(%%a: i64, %%b: i64) -> i64 {\n  b0:\n    %%f = load i64 "
              "@g2+8\n    %%is = eq i64 %%f, @inner\n    branch %%is, b1, b2\n  b1:\n    %%r = "
              "call_at i64 %%f(%%a, %%b)\n    return %%r\n  b2:\n    return %%b\n}\n"
              "function @main() -> i32 {\n  b0:\n    %%p0 = add i64 @g0, 0\n");
    for (uint32_t i = 1; i < LINES; i++) random_line(r, &out, i);
    ft_strbuf_printf(&out, "    return i32 0\n}\n");
    ft_program *p = read_program(ft_strbuf_text(&out));
    ft_strbuf_release(&out);
    return p;
}

typedef struct watched {
    const ft_flow *flow;
    ft_interpreter *m;
    uint64_t *bits;
    flow_random *random;
    uint32_t accesses;
} watched;

static bool give(void *context, const char *name, uint8_t width, uint64_t *value)
{
    (void)name;
    (void)width;
    *value = flow_random_below(((watched *)context)->random, 2);
    return true;
}

/* The object that was accessed is among those of the instruction and of the function. */
static void see(void *context, const ft_interpreter_access *a)
{
    watched *w = context;
    ft_interpreter_location at;
    const ft_program *p = ft_flow_program(w->flow);
    uint32_t f = p->symbols.data[a->place.function].index;
    assert_true(ft_interpreter_locate(w->m, a->address, &at));
    ft_flow_accesses(w->flow, f, a->place.instruction, a->writes, w->bits);
    const ft_effects *e = ft_flow_effects(w->flow, f);
    bool found = false;
    for (uint32_t i = 0; i < ft_flow_abstracts(w->flow); i++) {
        const ft_abstract *o = ft_flow_abstract(w->flow, i);
        bool is = at.symbol == FT_NO_SYMBOL
                      ? o->kind == (at.heap ? FT_ABSTRACT_HEAP : FT_ABSTRACT_STACK)
                      : ft_flow_global(w->flow, at.symbol) == i;
        found |= is && ft_bits_has(w->bits, i) && ft_bits_has(a->writes ? e->writes : e->reads, i);
    }
    assert_true(found);
    w->accesses++;
}

static void accesses_are_where_pointers_point(void **state)
{
    (void)state;
    flow_random r;
    uint32_t accesses = 0;
    r.state = 12;
    for (uint32_t round = 0; round < 3000; round++) {
        ft_program *p = random_pointers(&r);
        watched w = {.flow = ft_flow_new(p), .random = &r};
        w.bits = calloc(ft_flow_words(w.flow), sizeof *w.bits);
        ft_interpreter_options options = {.input = give, .access = see, .context = &w};
        w.m = ft_interpreter_new(p, &options);
        uint64_t variants[FT_INTERPRETER_THREADS];
        while (ft_interpreter_state_of(w.m) == FT_INTERPRETER_GOING) {
            assert_true(ft_interpreter_choices(w.m, 0, variants) > 0);
            (void)ft_interpreter_step(w.m, 0, variants[0]);
        }
        accesses += w.accesses;
        ft_interpreter_free(w.m);
        free(w.bits);
        ft_flow_free((ft_flow *)w.flow);
        ft_program_free(p);
    }
    assert_true(accesses > 10000);
}

static void effects_go_through_calls(void **state)
{
    (void)state;
    ft_program *p = read_program(
        "program 1\nobject @m 40 align 8\nobject @g 8 align 8\nobject @f 8 align 8 { 0: @down }\n"
        "function @down() {\n  b0:\n    lock @m\n    store i64 1, @g\n    unlock @m\n    "
        "return\n}\n"
        "function @up() {\n  b0:\n    %f = load i64 @f\n    call_at %f()\n    return\n}\n"
        "function @plain(%n: i64) {\n  b0:\n    %z = eq i64 %n, 0\n    branch %z, b1, b2\n"
        "  b1:\n    return\n  b2:\n    %k = sub i64 %n, 1\n    call @plain(%k)\n    return\n}\n"
        "function @worker(%a: i64) -> i64 {\n  b0:\n    call @up()\n    return i64 0\n}\n"
        "function @main() -> i32 {\n  b0:\n    %t = create @worker, 0\n    call @plain(i64 3)\n"
        "    return i32 0\n}\n");
    ft_flow *flow = ft_flow_new(p);
    const ft_effects *down = ft_flow_effects(flow, 0), *up = ft_flow_effects(flow, 1);
    const ft_effects *plain = ft_flow_effects(flow, 2), *main_ = ft_flow_effects(flow, 4);
    assert_true(down->synchronises && down->releases && up->synchronises && up->releases);
    assert_true(ft_bits_has(up->writes, 1) && !ft_bits_has(up->writes, 0));
    assert_true(plain->recursive && !plain->synchronises && !up->recursive);
    assert_true(main_->creates && main_->synchronises && !ft_bits_has(main_->writes, 1));
    uint32_t n;
    const uint32_t *targets = ft_flow_targets(flow, 4, 0, &n);
    assert_int_equal(n, 1);
    assert_int_equal(targets[0], 3);
    ft_flow_free(flow);
    ft_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_flow_is_that_of_paths),
        cmocka_unit_test(a_loop_without_end_has_a_postdominator),
        cmocka_unit_test(a_loop_of_arithmetic_alone_is_endless),
        cmocka_unit_test(accesses_are_where_pointers_point),
        cmocka_unit_test(effects_go_through_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
