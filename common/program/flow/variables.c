#include "program/flow/variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "program/flow/graph.h"

/* What a variable has: a note's number, or one of these. */
#define UNSEEN  (UINT32_MAX - 1)
#define NOTHING UINT32_MAX

typedef struct finding {
    const ft_function *f;
    uint32_t *variable; /* by note: the number of its variable */
    uint32_t n;         /* variables */
    uint32_t *in;       /* by block and variable: at the block's begin */
} finding;

static bool is_same(const ft_variable_note *a, const ft_variable_note *b)
{
    return a->name == b->name && a->position.file == b->position.file &&
           a->position.line == b->position.line && a->position.column == b->position.column;
}

static void number_variables(finding *x)
{
    const ft_function *f = x->f;
    for (uint32_t i = 0; i < f->variables.len; i++) {
        uint32_t k = 0;
        while (k < i && !is_same(&f->variables.data[k], &f->variables.data[i])) k++;
        x->variable[i] = k < i ? x->variable[k] : x->n++;
    }
}

/* The register gets another value. */
static void assign(const finding *x, uint32_t *state, uint32_t reg)
{
    for (uint32_t v = 0; v < x->n; v++)
        if (state[v] < UNSEEN && x->f->variables.data[state[v]].reg == reg) state[v] = NOTHING;
}

/* The first note at the instruction, or behind it. */
static uint32_t first_note(const ft_function *f, uint32_t instruction)
{
    uint32_t low = 0, high = (uint32_t)f->variables.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->variables.data[middle].instruction < instruction)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From the block's begin to before instruction `to`, with the notes there. */
static void go_through(const finding *x, uint32_t block, uint32_t to, uint32_t *state)
{
    const ft_function *f = x->f;
    const ft_block *b = &f->blocks.data[block];
    uint32_t note = first_note(f, b->instructions);
    for (uint32_t i = 0; i < b->n_parameters; i++) assign(x, state, b->parameters + i);
    for (uint32_t at = b->instructions;; at++) {
        for (; note < f->variables.len && f->variables.data[note].instruction == at; note++) {
            const ft_variable_note *v = &f->variables.data[note];
            if (!v->address) state[x->variable[note]] = v->reg == FT_NO_REGISTER ? NOTHING : note;
        }
        if (at >= to) return;
        if (f->instructions.data[at].result != FT_NO_REGISTER)
            assign(x, state, f->instructions.data[at].result);
    }
}

/* Two notes of one register say the same. */
static bool meet(const finding *x, uint32_t *to, const uint32_t *from)
{
    bool changed = false;
    for (uint32_t v = 0; v < x->n; v++) {
        uint32_t old = to[v], other = from[v];
        if (old == other || old == NOTHING || other == UNSEEN) continue;
        bool same = old < UNSEEN && other < UNSEEN &&
                    x->f->variables.data[old].reg == x->f->variables.data[other].reg;
        if (same) continue;
        to[v] = old == UNSEEN ? other : NOTHING;
        changed = true;
    }
    return changed;
}

static void fill_in(const finding *x)
{
    const ft_function *f = x->f;
    uint32_t *out = ft_alloc((x->n + 1) * sizeof *out), n;
    for (size_t i = 0; i < f->blocks.len * x->n; i++) x->in[i] = i < x->n ? NOTHING : UNSEEN;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < f->blocks.len; b++) {
            if (x->in[(size_t)b * x->n] == UNSEEN) continue; /* no way leads there, so far */
            const ft_block *block = &f->blocks.data[b];
            const ft_target *targets = ft_block_targets(f, b, &n);
            memcpy(out, x->in + (size_t)b * x->n, x->n * sizeof *out);
            go_through(x, b, block->instructions + block->n_instructions - 1, out);
            for (uint32_t k = 0; k < n; k++)
                changed |= meet(x, x->in + (size_t)targets[k].block * x->n, out);
        }
    }
    free(out);
}

static uint32_t block_around(const ft_function *f, uint32_t at)
{
    uint32_t b = 0;
    while (at - f->blocks.data[b].instructions >= f->blocks.data[b].n_instructions) b++;
    return b;
}

void ft_variables_before(const ft_function *function, uint32_t instruction, uint32_t *notes)
{
    FT_REQUIRE(instruction < function->instructions.len);
    const ft_function *f = function;
    finding x = {.f = f};
    for (size_t i = 0; i < f->registers.len; i++) notes[i] = FT_NO_ID;
    if (!f->variables.len) return;
    x.variable = ft_alloc(f->variables.len * sizeof *x.variable);
    number_variables(&x);
    x.in = ft_alloc((f->blocks.len * x.n + 1) * sizeof *x.in);
    fill_in(&x);
    uint32_t block = block_around(f, instruction), *state = x.in + (size_t)block * x.n;
    bool reached = *state != UNSEEN;
    go_through(&x, block, instruction, state);
    for (uint32_t v = 0; v < x.n && reached; v++)
        if (state[v] < UNSEEN) notes[f->variables.data[state[v]].reg] = state[v];
    for (uint32_t i = 0; i < f->variables.len; i++)
        if (f->variables.data[i].address) notes[f->variables.data[i].reg] = i;
    free(x.variable);
    free(x.in);
}
