#include "program/endless.h"

#include <stdlib.h>

#include "base/contract.h"

static bool is_harmless(ft_code code)
{
    static const bool HARMLESS[FT_CODES] = {
        [FT_CODE_ADD] = true,    [FT_CODE_SUB] = true,  [FT_CODE_MUL] = true,
        [FT_CODE_AND] = true,    [FT_CODE_OR] = true,   [FT_CODE_XOR] = true,
        [FT_CODE_EQ] = true,     [FT_CODE_NE] = true,   [FT_CODE_ULT] = true,
        [FT_CODE_ULE] = true,    [FT_CODE_SLT] = true,  [FT_CODE_SLE] = true,
        [FT_CODE_ZEXT] = true,   [FT_CODE_SEXT] = true, [FT_CODE_TRUNC] = true,
        [FT_CODE_SELECT] = true, [FT_CODE_JUMP] = true, [FT_CODE_BRANCH] = true,
        [FT_CODE_SWITCH] = true,
    };
    return HARMLESS[code];
}

/* From the instruction to the block's end. */
static bool is_block_harmless(const ft_function *f, const ft_block *b, uint32_t from)
{
    for (uint32_t i = from; i < b->instructions + b->n_instructions; i++)
        if (!is_harmless((ft_code)f->instructions.data[i].code)) return false;
    return true;
}

bool ft_program_is_endless(const ft_function *function, uint32_t instruction)
{
    const ft_function *f = function;
    FT_REQUIRE(instruction < f->instructions.len);
    uint32_t *open = ft_alloc((f->blocks.len + 1) * sizeof *open), n = 1;
    bool *known = ft_calloc(f->blocks.len, sizeof *known);
    const ft_block *b = f->blocks.data;
    while (instruction - b->instructions >= b->n_instructions) b++;
    open[0] = (uint32_t)(b - f->blocks.data);
    bool harmless = is_block_harmless(f, b, instruction);
    known[open[0]] = is_block_harmless(f, b, b->instructions); /* else a way back decides */
    while (n && harmless) {
        b = &f->blocks.data[open[--n]];
        const ft_instruction *last = &f->instructions.data[b->instructions + b->n_instructions - 1];
        for (uint32_t i = 0; i < last->n_targets && harmless; i++) {
            uint32_t to = f->targets.data[last->targets + i].block;
            if (known[to]) continue;
            const ft_block *next = &f->blocks.data[to];
            harmless = is_block_harmless(f, next, next->instructions);
            known[to] = true;
            open[n++] = to;
        }
    }
    free(open);
    free(known);
    return harmless;
}
