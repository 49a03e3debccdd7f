#include "program/arrivals.h"

enum { DEEP = 4 }; /* calls that hand the result on */

static bool is_used(const ft_program *p, const ft_function *f, uint32_t reg, int depth);

static bool is_address_taken(const ft_program *p, uint32_t symbol)
{
    for (size_t i = 0; i < p->initials.len; i++)
        if (p->initials.data[i].symbol == symbol) return true;
    for (size_t i = 0; i < p->functions.len; i++) {
        const ft_function *f = &p->functions.data[i];
        for (size_t k = 0; k < f->operands.len; k++)
            if (f->operands.data[k].kind == FT_OPERAND_ADDRESS &&
                f->operands.data[k].index == symbol)
                return true;
    }
    return false;
}

/* Is what the function returns used by some call of it? */
static bool is_result_used(const ft_program *p, uint32_t symbol, int depth)
{
    if (depth == DEEP || is_address_taken(p, symbol)) return true;
    for (size_t i = 0; i < p->functions.len; i++) {
        const ft_function *f = &p->functions.data[i];
        for (size_t k = 0; k < f->instructions.len; k++) {
            const ft_instruction *in = &f->instructions.data[k];
            if (in->code == FT_CODE_CALL && in->extra == symbol && in->result != FT_NO_REGISTER &&
                is_used(p, f, in->result, depth + 1))
                return true;
        }
    }
    return false;
}

static bool has_operand(const ft_function *f, uint32_t first, uint32_t n, uint32_t reg)
{
    for (uint32_t i = first; i < first + n; i++)
        if (f->operands.data[i].kind == FT_OPERAND_REGISTER && f->operands.data[i].index == reg)
            return true;
    return false;
}

static bool is_used(const ft_program *p, const ft_function *f, uint32_t reg, int depth)
{
    bool returned = false;
    for (size_t k = 0; k < f->instructions.len; k++) {
        const ft_instruction *in = &f->instructions.data[k];
        if (!has_operand(f, in->operands, in->n_operands, reg)) continue;
        if (in->code != FT_CODE_RETURN) return true;
        returned = true;
    }
    for (size_t k = 0; k < f->targets.len; k++)
        if (has_operand(f, f->targets.data[k].operands, f->targets.data[k].n_operands, reg))
            return true;
    return returned && is_result_used(p, f->symbol, depth);
}

bool ft_program_orders_arrivals(const ft_program *p)
{
    for (size_t i = 0; i < p->functions.len; i++) {
        const ft_function *f = &p->functions.data[i];
        for (size_t k = 0; k < f->instructions.len; k++) {
            const ft_instruction *in = &f->instructions.data[k];
            if (in->code == FT_CODE_BARRIER_WAIT && in->result != FT_NO_REGISTER &&
                is_used(p, f, in->result, 0))
                return true;
        }
    }
    return false;
}
