/* Which variable of the source a register has the value of: on random functions against all states
 * that some way through the function leads to, taken one by one. FT_SEEDS functions (default:
 * 3000), from FT_SEED_START. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "flow_random.h"
#include "program/flow/graph.h"
#include "program/flow/variables.h"
#include "program/text.h"

enum { MOST_BLOCKS = 6, NAMES = 3, REGISTERS = 64, NONE = REGISTERS };

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- random functions: each block has a parameter, and every register is known everywhere, as no
 * instruction reads one but those of notes */

static void random_block(flow_random *r, uint32_t b, uint32_t blocks, ft_strbuf *out)
{
    uint32_t lines = flow_random_below(r, 6);
    ft_strbuf_printf(out, b ? "  b%u(%%p%u: i64):\n" : "  b%u:\n", b, b);
    for (uint32_t i = 0; i < lines; i++) {
        uint32_t of = flow_random_below(r, blocks), variable = flow_random_below(r, NAMES);
        switch (flow_random_below(r, 4)) {
        case 0:
            ft_strbuf_printf(out, "    %%r%u.%u = add i64 0, 0\n", b, i);
            break;
        case 1:
            ft_strbuf_printf(out, "    variable \"v%u\" nowhere !0:%u:0\n", variable, variable);
            break;
        case 2:
            ft_strbuf_printf(out, "    variable \"v%u\" %%x%u !0:%u:0\n", variable, of, variable);
            break;
        default:
            if (!of) of = 1;
            ft_strbuf_printf(out, "    variable \"v%u\" %%p%u !0:%u:0\n", variable, of, variable);
        }
    }
    ft_strbuf_printf(out, "    %%x%u = add i64 0, 0\n", b);
}

static void random_exit(flow_random *r, uint32_t blocks, ft_strbuf *out)
{
    uint32_t a = 1 + flow_random_below(r, blocks - 1), b = 1 + flow_random_below(r, blocks - 1);
    switch (flow_random_below(r, 5)) {
    case 0:
        ft_strbuf_puts(out, "    return i32 0\n");
        break;
    case 1:
        ft_strbuf_printf(out, "    jump b%u(i64 0)\n", a);
        break;
    default:
        ft_strbuf_printf(out, "    branch 1, b%u(i64 0), b%u(i64 0)\n", a, b);
    }
}

static ft_program *random_program(flow_random *r)
{
    ft_strbuf out = {0};
    ft_error err = FT_ERROR_INIT;
    ft_program *p = NULL;
    uint32_t blocks = 2 + flow_random_below(r, MOST_BLOCKS - 1);
    ft_strbuf_puts(&out, "program 1\nfile \"f.c\"\nfunction @main() -> i32 {\n");
    for (uint32_t b = 0; b < blocks; b++) {
        random_block(r, b, blocks, &out);
        random_exit(r, blocks, &out);
    }
    ft_strbuf_puts(&out, "}\n");
    if (ft_program_read_text(out.text, out.len, &p, &err) != FT_OK)
        fail_msg("%s\n%s", err.message, out.text);
    ft_strbuf_release(&out);
    return p;
}

/* ---- all states of one variable: the register that has its value, or NONE */

typedef struct states {
    const ft_function *f;
    uint32_t name;                               /* of the variable */
    bool in[MOST_BLOCKS + 1][REGISTERS + 1];     /* at a block's begin */
    bool before[MOST_BLOCKS * 8][REGISTERS + 1]; /* before an instruction, behind its notes */
} states;

static uint32_t go_through(states *s, uint32_t b, uint32_t has)
{
    const ft_block *block = &s->f->blocks.data[b];
    if (block->n_parameters && has == block->parameters) has = NONE;
    for (uint32_t i = 0; i < block->n_instructions; i++) {
        uint32_t at = block->instructions + i;
        for (size_t n = 0; n < s->f->variables.len; n++) {
            const ft_variable_note *v = &s->f->variables.data[n];
            if (v->instruction == at && v->name == s->name)
                has = v->reg == FT_NO_REGISTER ? NONE : v->reg;
        }
        s->before[at][has] = true;
        if (s->f->instructions.data[at].result == has) has = NONE;
    }
    return has;
}

static void find_states(states *s)
{
    uint32_t n;
    s->in[0][NONE] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < s->f->blocks.len; b++)
            for (uint32_t has = 0; has <= NONE; has++) {
                if (!s->in[b][has]) continue;
                uint32_t then = go_through(s, b, has);
                const ft_target *targets = ft_block_targets(s->f, b, &n);
                for (uint32_t k = 0; k < n; k++) {
                    changed |= !s->in[targets[k].block][then];
                    s->in[targets[k].block][then] = true;
                }
            }
    }
}

/* The register that has the variable's value on every way to the instruction; NONE: none has. */
static uint32_t always(const states *s, uint32_t at)
{
    uint32_t found = NONE, n = 0;
    for (uint32_t has = 0; has <= NONE; has++)
        if (s->before[at][has]) found = has, n++;
    return n == 1 ? found : (uint32_t)NONE;
}

static void compare(const ft_program *p, uint64_t seed, uint32_t *found)
{
    const ft_function *f = &p->functions.data[0];
    uint32_t notes[REGISTERS];
    states *all = calloc(NAMES, sizeof *all);
    assert_true(f->registers.len <= REGISTERS && f->instructions.len <= MOST_BLOCKS * 8);
    for (uint32_t v = 0; v < NAMES; v++) {
        char name[8];
        int length = snprintf(name, sizeof name, "v%u", v);
        all[v].f = f;
        all[v].name = ft_intern_find(&p->texts, name, (size_t)length);
        find_states(&all[v]);
    }
    for (uint32_t at = 0; at < f->instructions.len; at++) {
        ft_variables_before(f, at, notes);
        for (uint32_t reg = 0; reg < f->registers.len; reg++) {
            bool any = false, right = notes[reg] == FT_NO_ID;
            for (uint32_t v = 0; v < NAMES; v++) {
                bool has = always(&all[v], at) == reg;
                any |= has;
                right |= has && notes[reg] != FT_NO_ID &&
                         f->variables.data[notes[reg]].name == all[v].name;
            }
            *found += any;
            if (!right || any != (notes[reg] != FT_NO_ID))
                fail_msg("seed %llu, instruction %u, register %u", (unsigned long long)seed, at,
                         reg);
        }
    }
    free(all);
}

static void registers_have_what_every_way_gives_them(void **state)
{
    (void)state;
    uint64_t first = number("FT_SEED_START", 1), seeds = number("FT_SEEDS", 3000);
    uint32_t found = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        flow_random r = {seed * UINT64_C(0x9e3779b97f4a7c15) | 1};
        ft_program *p = random_program(&r);
        compare(p, seed, &found);
        ft_program_free(p);
    }
    assert_true(found > seeds / 2);
}

/* The variable of a loop is its register in each round, and not the one of the round before. */
static void a_register_of_the_last_round_is_not_the_variable(void **state)
{
    (void)state;
    ft_error err = FT_ERROR_INIT;
    ft_program *p = NULL;
    const char *text = "program 1\nfile \"f.c\"\nfunction @main() -> i32 {\n"
                       "  b0:\n    jump b1(i32 0)\n"
                       "  b1(%i: i32):\n    variable \"i\" %i !0:3:0\n    yield\n"
                       "    %j = add i32 %i, 1\n    variable \"last\" %i !0:2:0\n    yield\n"
                       "    variable \"i\" %j !0:3:0\n    jump b1(%j)\n}\n";
    uint32_t notes[2];
    assert_int_equal(ft_program_read_text(text, strlen(text), &p, &err), FT_OK);
    const ft_function *f = &p->functions.data[0];
    ft_variables_before(f, 1, notes);
    assert_int_equal(notes[0], 0); /* i, and not last */
    assert_int_equal(notes[1], FT_NO_ID);
    ft_variables_before(f, 4, notes);
    assert_int_equal(notes[0], 1); /* last alone */
    assert_int_equal(notes[1], 2);
    ft_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_have_what_every_way_gives_them),
        cmocka_unit_test(a_register_of_the_last_round_is_not_the_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
