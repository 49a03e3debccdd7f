/* Dominators of a function's blocks (Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm,
 * figure 3): a block dominates another if every way from the entry to the other goes through it. */
#ifndef FT_PROGRAM_DOMINATORS_H
#define FT_PROGRAM_DOMINATORS_H

#include "program/program.h"

typedef struct ft_dominators {
    uint32_t *parent;    /* by block: its immediate dominator; of the entry itself */
    uint32_t *order;     /* by block: its number in reverse postorder; FT_NO_BLOCK: not reached */
    uint32_t *from, *to; /* by block: the stretch of its subtree in the tree of dominators */
    uint32_t n;
} ft_dominators;

#define FT_NO_BLOCK UINT32_MAX

/* Targets must be in range. Freed by the caller with release. */
void ft_dominators_init(ft_dominators *dominators, const ft_function *function);
void ft_dominators_release(ft_dominators *dominators);
bool ft_is_reached(const ft_dominators *dominators, uint32_t block);
/* Both are reached. A block dominates itself. */
bool ft_dominates(const ft_dominators *dominators, uint32_t a, uint32_t b);

#endif
