/* How a run ended, as the interpreter executed it: what ft_x_run.result means for executors of
 * programs. */
#ifndef FT_WORKER_EXPLORE_JUDGEMENT_H
#define FT_WORKER_EXPLORE_JUDGEMENT_H

#include "program/interpret/interpreter.h"

typedef struct ft_judgement {
    ft_interpreter_state state; /* GOING: cut */
    ft_program_error error;     /* FAILED, STOPPED */
    int32_t exit_code;          /* EXITED */
} ft_judgement;

static inline uint64_t ft_judgement_pack(ft_judgement j)
{
    return (uint64_t)j.state | (uint64_t)j.error << 8 | (uint64_t)(uint32_t)j.exit_code << 32;
}

static inline ft_judgement ft_judgement_of(uint64_t result)
{
    return (ft_judgement){(ft_interpreter_state)(result & 255),
                          (ft_program_error)(result >> 8 & 255), (int32_t)(result >> 32)};
}

#endif
