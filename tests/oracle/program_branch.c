/* Ifs and their conditions. */
#include <assert.h>

#include "oracle/program.h"

static ft_instruction *begin_if(ft_program *program)
{
    ft_instruction *op = ft_program_add(program, FT_EVENT_IF, 0);
    program->n_ifs++;
    program->arms++;
    return op;
}

/* Is there a variable whose value the trace always knows? */
static bool known(const ft_program *program, uint32_t variable)
{
    return program->grade != FT_GRADE_OBSERVED && program->declared[variable] &&
           !program->plain[variable];
}

/* 1 + a variable for the condition to be about, shared ones first. */
static uint32_t some_variable(ft_program *program)
{
    if (program->n_locals && ft_program_percent(program, 35))
        return 1 + program->n_shared + ft_program_below(program, program->n_locals);
    uint32_t v = ft_program_below(program, program->n_shared);
    for (uint32_t i = 0; i < program->n_shared; i++)
        if (known(program, (v + i) % program->n_shared)) return 1 + (v + i) % program->n_shared;
    return 0;
}

/* The condition of a trace without values is a constant: it says which way the run went. */
bool ft_program_begin_if(ft_program *program)
{
    bool symbolic = program->grade == FT_GRADE_SYMBOLIC || program->grade == FT_GRADE_MIXED;
    bool random = symbolic && ft_program_percent(program, 40);
    ft_term guard = ft_term_literal(ft_builder_terms(program->builder),
                                    (ft_value){FT_BOOL_SORT, ft_program_below(program, 2)});
    uint32_t pinned = random ? 0 : some_variable(program);
    if (program->n_ifs == FT_PROGRAM_IFS || program->n_ops[program->thread] > FT_PROGRAM_OPS / 2)
        return false;
    if (random) guard = ft_program_condition(program, false);
    ft_instruction *op = begin_if(program);
    op->guard = guard;
    op->pinned = pinned;
    return true;
}

bool ft_program_begin_if_zero(ft_program *program, uint32_t variable)
{
    ft_term_pool *pool = ft_builder_terms(program->builder);
    ft_sort sort = program->shared_sort[variable];
    ft_term sides[2] = {ft_term_symbol(pool, FT_SYM_SHARED(variable), sort),
                        ft_term_literal(pool, (ft_value){sort, 0})};
    ft_error err = FT_ERROR_INIT;
    if (program->n_ifs == FT_PROGRAM_IFS || !known(program, variable)) return false;
    ft_instruction *op = begin_if(program);
    ft_status status = ft_term_apply(pool, FT_OP_EQ, sides, 2, NULL, &op->guard, &err);
    assert(status == FT_OK);
    return true;
}

void ft_program_end_if(ft_program *program)
{
    ft_program_add(program, FT_EVENT_END_IF, 0);
    program->arms--;
}
