#include "program/flow/loops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/strbuf.h"
#include "program/flow/graph.h"

typedef struct finding {
    const ft_program *program;
    const ft_function *function;
    uint32_t number; /* of the function */
    ft_graph graph;
    uint32_t *defined; /* by register: its instruction + 1; 0: a parameter */
    uint64_t *blocks;  /* of the loop at hand */
    uint64_t *taken;   /* blocks of loops that were found */
    ft_loops *loops;
} finding;

/* ---- places that are known ---- */

/* The value of a register that is computed from numbers alone. */
static bool constant(const finding *f, const ft_operand *o, int depth, uint64_t *bits)
{
    enum { DEEP = 4 };
    if (o->kind == FT_OPERAND_LITERAL) return *bits = o->value, true;
    if (o->kind != FT_OPERAND_REGISTER || !f->defined[o->index] || depth == DEEP) return false;
    const ft_instruction *in = &f->function->instructions.data[f->defined[o->index] - 1];
    const ft_operand *all = &f->function->operands.data[in->operands];
    uint64_t a, b;
    if (in->code == FT_CODE_ZEXT) return constant(f, &all[0], depth + 1, bits);
    if (in->code != FT_CODE_MUL || !constant(f, &all[0], depth + 1, &a) ||
        !constant(f, &all[1], depth + 1, &b))
        return false;
    *bits = a * b;
    return a < UINT32_MAX && b < UINT32_MAX;
}

/* Are n bytes there, whatever happened? Of an object of the stack, made outside of the loop. */
static bool is_known_place(const finding *f, const ft_operand *o, uint64_t n, bool writes)
{
    uint64_t size;
    if (o->kind == FT_OPERAND_ADDRESS) {
        const ft_program_symbol *s = &f->program->symbols.data[o->index];
        if (s->kind != FT_OBJECT) return false;
        const ft_object *x = &f->program->objects.data[s->index];
        return o->value <= x->size && n <= x->size - o->value && !(writes && x->constant);
    }
    if (o->kind != FT_OPERAND_REGISTER || !f->defined[o->index]) return false;
    const ft_instruction *in = &f->function->instructions.data[f->defined[o->index] - 1];
    return in->code == FT_CODE_STACK &&
           constant(f, &f->function->operands.data[in->operands], 0, &size) && n <= size;
}

static bool is_one_object(const ft_operand *a, const ft_operand *b)
{
    return a->kind == b->kind && a->index == b->index;
}

static uint64_t bytes_of(const ft_loop_cell *c)
{
    return (c->width + 7u) / 8;
}

static bool overlaps(const ft_loop_cell *a, const ft_loop_cell *b)
{
    return is_one_object(&a->base, &b->base) && a->base.value < b->base.value + bytes_of(b) &&
           b->base.value < a->base.value + bytes_of(a);
}

/* ---- instructions ---- */

static bool is_nonzero(const ft_operand *o)
{
    return o->kind == FT_OPERAND_LITERAL && o->value != 0;
}

/* Can the instruction be part of such a loop? Accesses are looked at elsewhere. */
static bool is_plain(const finding *f, const ft_instruction *in)
{
    const ft_operand *all = &f->function->operands.data[in->operands];
    switch ((ft_code)in->code) {
    case FT_CODE_ADD:
    case FT_CODE_SUB:
    case FT_CODE_MUL:
    case FT_CODE_AND:
    case FT_CODE_OR:
    case FT_CODE_XOR:
    case FT_CODE_EQ:
    case FT_CODE_NE:
    case FT_CODE_ULT:
    case FT_CODE_ULE:
    case FT_CODE_SLT:
    case FT_CODE_SLE:
    case FT_CODE_SELECT:
    case FT_CODE_ZEXT:
    case FT_CODE_SEXT:
    case FT_CODE_TRUNC:
    case FT_CODE_JUMP:
    case FT_CODE_BRANCH:
    case FT_CODE_SWITCH:
        return true;
    case FT_CODE_UDIV:
    case FT_CODE_UREM:
        return is_nonzero(&all[1]);
    case FT_CODE_SHL:
    case FT_CODE_LSHR:
    case FT_CODE_ASHR:
        return all[1].kind == FT_OPERAND_LITERAL && all[1].value < in->width;
    case FT_CODE_LOAD:
        return is_known_place(f, &all[0], (in->width + 7u) / 8, false);
    case FT_CODE_STORE:
        return is_known_place(f, &all[1], (in->width + 7u) / 8, true);
    default:
        return false;
    }
}

/* ---- cells ---- */

static void name_cell(const finding *f, const ft_loop *l, ft_loop_cell *c)
{
    ft_strbuf name = {0};
    const ft_function *fn = f->function;
    const ft_block *b = &fn->blocks.data[l->header];
    const ft_position *at = &fn->instructions.data[b->instructions].position;
    if (at->file != FT_NO_FILE)
        ft_strbuf_printf(&name, "%s:%u ", f->program->files.names[at->file], at->line);
    ft_strbuf_printf(&name, "@%s %s ", ft_program_symbol_name(f->program, fn->symbol),
                     ft_block_name(fn, l->header));
    if (c->reg != FT_NO_REGISTER)
        ft_strbuf_printf(&name, "%%%s", ft_register_name(fn, c->reg));
    else if (c->base.kind == FT_OPERAND_ADDRESS)
        ft_strbuf_printf(&name, "@%s+%" PRIu64, ft_program_symbol_name(f->program, c->base.index),
                         c->base.value);
    else
        ft_strbuf_printf(&name, "*%%%s", ft_register_name(fn, c->base.index));
    c->name = ft_strbuf_take(&name);
}

/* False: another cell overlaps it in part. */
static bool add_memory(finding *f, ft_loop *l, const ft_operand *base, uint8_t width)
{
    ft_loop_cell c = {.reg = FT_NO_REGISTER, .base = *base, .width = width};
    for (uint32_t i = l->cells; i < f->loops->cells.len; i++) {
        const ft_loop_cell *x = &f->loops->cells.data[i];
        if (x->reg != FT_NO_REGISTER || !overlaps(x, &c)) continue;
        return x->base.value == c.base.value && x->width == c.width;
    }
    name_cell(f, l, &c);
    ft_vec_push(&f->loops->cells, c);
    return true;
}

static bool add_accesses(finding *f, ft_loop *l)
{
    for (uint32_t b = 0; b < f->graph.n; b++) {
        const ft_block *block = &f->function->blocks.data[b];
        uint32_t end = block->instructions + block->n_instructions;
        for (uint32_t i = block->instructions; i < end && ft_bits_has(f->blocks, b); i++) {
            const ft_instruction *in = &f->function->instructions.data[i];
            const ft_operand *all = &f->function->operands.data[in->operands];
            if (!is_plain(f, in)) return false;
            if (in->code == FT_CODE_LOAD)
                ft_vec_push(
                    &f->loops->reads,
                    ((ft_loop_cell){.reg = FT_NO_REGISTER, .base = all[0], .width = in->width}));
            if (in->code == FT_CODE_STORE && !add_memory(f, l, &all[1], in->width)) return false;
        }
    }
    return true;
}

static uint32_t block_of(const finding *f, uint32_t instruction)
{
    uint32_t b = 0;
    while (instruction >=
           f->function->blocks.data[b].instructions + f->function->blocks.data[b].n_instructions)
        b++;
    return b;
}

/* Is the register one that the loop defines? */
static bool is_of_loop(const finding *f, uint32_t reg)
{
    if (f->defined[reg]) return ft_bits_has(f->blocks, block_of(f, f->defined[reg] - 1));
    for (uint32_t b = 0; b < f->graph.n; b++) {
        const ft_block *block = &f->function->blocks.data[b];
        if (reg >= block->parameters && reg < block->parameters + block->n_parameters)
            return ft_bits_has(f->blocks, b);
    }
    return false;
}

static void note_use(finding *f, ft_loop *l, const ft_operand *o)
{
    if (o->kind != FT_OPERAND_REGISTER || !is_of_loop(f, o->index)) return;
    for (uint32_t i = l->cells; i < f->loops->cells.len; i++)
        if (f->loops->cells.data[i].reg == o->index) return;
    ft_loop_cell c = {.reg = o->index, .width = f->function->registers.data[o->index].width};
    name_cell(f, l, &c);
    ft_vec_push(&f->loops->cells, c);
}

static void note_target(finding *f, ft_loop *l, uint32_t target)
{
    const ft_target *t = &f->function->targets.data[target];
    for (uint32_t k = 0; k < t->n_operands; k++)
        note_use(f, l, &f->function->operands.data[t->operands + k]);
}

/* What is used behind the loop, and on the way out of it. */
static void add_registers(finding *f, ft_loop *l)
{
    note_target(f, l, l->exit);
    for (uint32_t b = 0; b < f->graph.n; b++) {
        const ft_block *block = &f->function->blocks.data[b];
        uint32_t end = block->instructions + block->n_instructions;
        for (uint32_t i = block->instructions; i < end && !ft_bits_has(f->blocks, b); i++) {
            const ft_instruction *in = &f->function->instructions.data[i];
            for (uint32_t k = 0; k < in->n_operands; k++)
                note_use(f, l, &f->function->operands.data[in->operands + k]);
            for (uint32_t k = 0; k < in->n_targets; k++) note_target(f, l, in->targets + k);
        }
    }
}

/* ---- loops ---- */

/* The one edge that leaves the loop; false: there are more, or none. */
static bool find_exit(const finding *f, ft_loop *l)
{
    uint32_t exits = 0;
    for (uint32_t b = 0; b < f->graph.n; b++) {
        uint32_t n;
        const ft_target *targets = ft_block_targets(f->function, b, &n);
        for (uint32_t i = 0; i < n && ft_bits_has(f->blocks, b); i++) {
            if (ft_bits_has(f->blocks, targets[i].block)) continue;
            l->exit = (uint32_t)(&targets[i] - f->function->targets.data);
            l->exit_block = b;
            exits++;
        }
    }
    return exits == 1;
}

static bool is_taken(const finding *f)
{
    for (uint32_t w = 0; w < f->graph.words; w++)
        if (f->taken[w] & f->blocks[w]) return true;
    return false;
}

static void cut(ft_loops *loops, const ft_loop *l)
{
    while (loops->cells.len > l->cells) free(loops->cells.data[--loops->cells.len].name);
    loops->reads.len = l->reads;
}

/* A name that an input of the program has, or another cell, means nothing. */
static bool has_own_names(const finding *f, const ft_loop *l)
{
    for (uint32_t i = l->cells; i < f->loops->cells.len; i++) {
        const char *name = f->loops->cells.data[i].name;
        if (ft_intern_find(&f->program->texts, name, strlen(name)) != FT_NO_ID ||
            ft_loop_cell_named(f->loops, name) != (FT_LOOP_NAME | i))
            return false;
    }
    return true;
}

static void try_loop(finding *f, uint32_t header)
{
    ft_loops *loops = f->loops;
    ft_loop l = {.function = f->number,
                 .header = header,
                 .cells = (uint32_t)loops->cells.len,
                 .reads = (uint32_t)loops->reads.len};
    if (!ft_graph_loop(&f->graph, f->function, header, f->blocks) || is_taken(f)) return;
    bool good = header != 0 && find_exit(f, &l) && add_accesses(f, &l);
    if (good) add_registers(f, &l);
    if (!good || !has_own_names(f, &l)) return cut(loops, &l);
    l.n_cells = (uint32_t)loops->cells.len - l.cells;
    l.n_reads = (uint32_t)loops->reads.len - l.reads;
    for (uint32_t w = 0; w < f->graph.words; w++) f->taken[w] |= f->blocks[w];
    ft_map_put(&loops->by_header, (uint64_t)f->number << 32 | header, loops->all.len);
    ft_map_put(&loops->by_exit, (uint64_t)f->number << 32 | l.exit, loops->all.len);
    ft_vec_push(&loops->all, l);
}

/* Outer loops first: the header of an outer one comes first in reverse postorder. */
static void find_in(finding *f)
{
    const ft_function *fn = f->function;
    ft_graph_init(&f->graph, fn);
    f->defined = ft_calloc(fn->registers.len + 1, sizeof *f->defined);
    f->blocks = ft_calloc(f->graph.words + 1, sizeof *f->blocks);
    f->taken = ft_calloc(f->graph.words + 1, sizeof *f->taken);
    for (uint32_t i = 0; i < fn->instructions.len; i++)
        if (fn->instructions.data[i].result != FT_NO_REGISTER)
            f->defined[fn->instructions.data[i].result] = i + 1;
    for (uint32_t order = 0; order < f->graph.n; order++)
        for (uint32_t b = 0; b < f->graph.n; b++)
            if (ft_is_reached(&f->graph.dominators, b) && f->graph.dominators.order[b] == order)
                try_loop(f, b);
    free(f->defined);
    free(f->blocks);
    free(f->taken);
    ft_graph_release(&f->graph);
}

ft_loops *ft_loops_find(const ft_program *program)
{
    FT_REQUIRE(program);
    ft_loops *loops = ft_calloc(1, sizeof *loops);
    for (uint32_t i = 0; i < program->functions.len; i++) {
        finding f = {.program = program,
                     .function = &program->functions.data[i],
                     .number = i,
                     .loops = loops};
        find_in(&f);
    }
    return loops;
}

void ft_loops_free(ft_loops *loops)
{
    if (!loops) return;
    for (size_t i = 0; i < loops->cells.len; i++) free(loops->cells.data[i].name);
    ft_vec_release(&loops->cells);
    ft_vec_release(&loops->reads);
    ft_vec_release(&loops->all);
    ft_map_release(&loops->by_header);
    ft_map_release(&loops->by_exit);
    free(loops);
}
