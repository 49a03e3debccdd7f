#include "oracle/program.h"

#include <stdio.h>
#include <stdlib.h>

#include <assert.h>

/* Terms are written as text and parsed: that exercises the reader as well. */
typedef struct writer {
    ft_program *program;
    ft_strbuf text;
    bool plain;
} writer;

static void write_term(writer *w, ft_sort sort, uint32_t depth);

static const char *const shared_names[FT_PROGRAM_SHARED] = {"x", "y", "z"};
static const char *const local_names[FT_PROGRAM_LOCALS] = {"a", "b"};

static bool write_variable(writer *w, ft_sort sort)
{
    const char *found[FT_PROGRAM_SHARED + FT_PROGRAM_LOCALS];
    uint32_t n = 0;
    const ft_program *p = w->program;
    for (uint32_t v = 0; v < p->n_shared; v++)
        if (ft_sort_equal(p->shared_sort[v], sort) && (w->plain || !p->plain[v]))
            found[n++] = shared_names[v];
    for (uint32_t v = 0; v < p->n_locals; v++)
        if (ft_sort_equal(p->local_sort[v], sort)) found[n++] = local_names[v];
    if (!n) return false;
    ft_strbuf_puts(&w->text, found[ft_program_below(w->program, n)]);
    return true;
}

static void write_literal(writer *w, ft_sort sort)
{
    uint32_t pick = ft_program_below(w->program, 4);
    if (sort.kind == FT_SORT_BOOL)
        ft_strbuf_puts(&w->text, pick < 2 ? "true" : "false");
    else if (sort.kind == FT_SORT_INT)
        ft_strbuf_printf(&w->text, "%s", pick == 3 ? "(- 1)" : pick == 2 ? "2" : pick ? "1" : "0");
    else
        ft_strbuf_printf(&w->text, "(_ bv%u %u)", sort.width > 1 ? pick : pick / 2, sort.width);
}

static void write_leaf(writer *w, ft_sort sort)
{
    bool literal = ft_program_percent(w->program, 30);
    if (literal || !write_variable(w, sort)) write_literal(w, sort);
}

static void write_application(writer *w, const char *op, ft_sort argument, uint32_t arguments,
                              uint32_t depth)
{
    ft_strbuf_printf(&w->text, "(%s", op);
    for (uint32_t i = 0; i < arguments; i++) {
        ft_strbuf_puts(&w->text, " ");
        write_term(w, argument, depth);
    }
    ft_strbuf_puts(&w->text, ")");
}

/* Mostly a small constant divisor: products of unknowns are not what is tested here. */
static void write_division(writer *w, const char *op)
{
    ft_strbuf_printf(&w->text, "(%s ", op);
    write_leaf(w, FT_INT_SORT);
    ft_strbuf_puts(&w->text, " ");
    bool literal = ft_program_percent(w->program, 60);
    if (literal || !write_variable(w, FT_INT_SORT)) ft_strbuf_puts(&w->text, "2");
    ft_strbuf_puts(&w->text, ")");
}

static void write_choice(writer *w, ft_sort sort, uint32_t depth)
{
    ft_strbuf_puts(&w->text, "(ite ");
    write_term(w, FT_BOOL_SORT, depth);
    ft_strbuf_puts(&w->text, " ");
    write_term(w, sort, depth);
    ft_strbuf_puts(&w->text, " ");
    write_term(w, sort, depth);
    ft_strbuf_puts(&w->text, ")");
}

static void write_int(writer *w, uint32_t depth)
{
    static const char *const ops[] = {"+", "+", "+", "-", "-", "div", "mod"};
    uint32_t pick = ft_program_below(w->program, 9);
    if (pick < 5)
        write_application(w, ops[pick], FT_INT_SORT, 2, depth);
    else if (pick < 7)
        write_division(w, ops[pick]);
    else if (pick == 7)
        write_application(w, "abs", FT_INT_SORT, 1, depth);
    else
        write_choice(w, FT_INT_SORT, depth);
}

/* A part, as wide as `sort`, of something wider. */
static void write_part(writer *w, ft_sort sort, uint32_t depth)
{
    static const uint8_t widths[] = {1, 3, 8, 8};
    static const char *const extends[] = {"zero_extend", "sign_extend"};
    uint32_t more = widths[ft_program_below(w->program, 4)];
    if (sort.width + more > 64) more = 64u - sort.width;
    uint32_t low = ft_program_below(w->program, more + 1);
    ft_strbuf_printf(&w->text, "((_ extract %u %u) (", low + sort.width - 1, low);
    if (more && ft_program_percent(w->program, 50)) {
        ft_sort other = {FT_SORT_BITVEC, (uint8_t)more};
        bool first = ft_program_percent(w->program, 50);
        ft_strbuf_puts(&w->text, "concat ");
        write_term(w, first ? other : sort, depth);
        ft_strbuf_puts(&w->text, " ");
        write_term(w, first ? sort : other, depth);
    } else {
        ft_strbuf_printf(&w->text, "(_ %s %u) ", extends[ft_program_below(w->program, 2)], more);
        write_term(w, sort, depth);
    }
    ft_strbuf_puts(&w->text, "))");
}

static void write_bits(writer *w, ft_sort sort, uint32_t depth)
{
    if (w->program->wide && ft_program_percent(w->program, 50)) {
        (ft_program_percent(w->program, 30) ? write_choice : write_part)(w, sort, depth);
        return;
    }
    static const char *const ops[] = {"bvadd",  "bvadd",  "bvsub",  "bvand",  "bvor",
                                      "bvxor",  "bvmul",  "bvshl",  "bvudiv", "bvurem",
                                      "bvsdiv", "bvsrem", "bvlshr", "bvashr"};
    uint32_t pick = ft_program_below(w->program, 16);
    if (pick < 14)
        write_application(w, ops[pick], sort, 2, depth);
    else
        write_application(w, pick == 14 ? "bvnot" : "bvneg", sort, 1, depth);
}

/* What conditions have beside comparisons. */
static void write_connective(writer *w, uint32_t depth)
{
    static const char *const ops[] = {"xor", "=>", "distinct"};
    uint32_t pick = ft_program_below(w->program, 4);
    if (pick == 3)
        write_choice(w, FT_BOOL_SORT, depth);
    else
        write_application(w, ops[pick], FT_BOOL_SORT, 2, depth);
}

static void write_bool(writer *w, uint32_t depth)
{
    if (w->program->wide && depth > 0 && ft_program_percent(w->program, 25)) {
        write_connective(w, depth - 1);
        return;
    }
    static const char *const ints[] = {"<", "<=", ">", ">=", "="};
    static const char *const bits[] = {"bvult", "bvsle", "=", "bvuge", "bvsgt"};
    ft_sort sort = FT_INT_SORT;
    for (uint32_t v = 0; v < w->program->n_shared; v++)
        if (ft_program_percent(w->program, 40)) sort = w->program->shared_sort[v];
    uint32_t pick = ft_program_below(w->program, 5);
    if (sort.kind == FT_SORT_INT)
        write_application(w, ints[pick], sort, 2, depth);
    else if (sort.kind == FT_SORT_BITVEC)
        write_application(w, bits[pick], sort, 2, depth);
    else if (pick == 0 && depth > 0)
        write_application(w, "and", sort, 2, depth);
    else if (pick == 1)
        write_application(w, "=", sort, 2, depth);
    else
        write_application(w, pick == 2 ? "not" : "or", sort, pick == 2 ? 1 : 2, depth);
}

static void write_term(writer *w, ft_sort sort, uint32_t depth)
{
    if (depth == 0 || ft_program_percent(w->program, 35)) {
        write_leaf(w, sort);
        return;
    }
    if (sort.kind == FT_SORT_INT)
        write_int(w, depth - 1);
    else if (sort.kind == FT_SORT_BITVEC)
        write_bits(w, sort, depth - 1);
    else
        write_bool(w, depth - 1);
}

static ft_term parse(ft_program *program, ft_strbuf *text)
{
    ft_error err = FT_ERROR_INIT;
    ft_scope scope = ft_trace_scope(ft_builder_peek(program->builder));
    ft_term term = FT_NO_TERM;
    ft_status status = ft_term_parse(ft_builder_terms(program->builder), ft_strbuf_text(text),
                                     text->len, &scope, &term, &err);
    if (status != FT_OK) fprintf(stderr, "%s: %s\n", ft_strbuf_text(text), err.message);
    assert(status == FT_OK);
    ft_strbuf_release(text);
    return term;
}

ft_term ft_program_term(ft_program *program, ft_sort sort)
{
    writer w = {program, {0}, false};
    write_term(&w, sort, ft_program_percent(program, 25) ? 2 : 1);
    return parse(program, &w.text);
}

ft_term ft_program_condition(ft_program *program, bool plain)
{
    writer w = {program, {0}, plain};
    write_bool(&w, ft_program_percent(program, 25) ? 1 : 0);
    return parse(program, &w.text);
}
