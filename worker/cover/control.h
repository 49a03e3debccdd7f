/* Control flow as slices need it: which sides of a branch may synchronise, which of them must end
 * the process before they do, and what depends on a branch.
 *
 * With `prefix`, a side that must end the process before any synchronisation is left out of the
 * graph (Bergan §3.4, prefix schedules), so what comes behind it does not depend on the branch. A
 * thread's return is never such a side, a return from @main is.
 *
 * Imports: symbolic, common/base, common/program, common/program/flow, common/program/witness,
 * common/report, common/schedules, common/verdict. */
#ifndef FT_COVER_CONTROL_H
#define FT_COVER_CONTROL_H

#include "cover/markers.h"
#include "program/loops.h"

typedef struct cover_blocks {
    uint32_t n, words;
    bool *must_exit; /* by block: its beginning leads to the process's end before it synchronises */
    uint64_t *after; /* n sets: blocks that follow, without the sides that are left out */
    uint64_t *post;  /* n sets: blocks on each path from the block's end, and the block itself */
    uint32_t *join;  /* the closest of them; n: the function's end */
} cover_blocks;

typedef struct cover_control {
    const ft_program *program;
    const ft_flow *flow;
    const cover_markers *markers; /* NULL: none */
    const ft_loops *loops;        /* that are taken as functions; NULL: none */
    bool prefix;
    bool *synchronises; /* by function: it, or what it calls */
    bool *must_exit;    /* by function: its entry does */
    bool *fails;        /* by function: an instruction of it, or of what it calls, may fail */
    bool **may_fail;    /* by function and instruction: its operands decide whether it does */
    cover_blocks *functions;
    uint32_t **block_of; /* by function and instruction */
} cover_control;

void cover_control_init(cover_control *control, const ft_flow *flow, const cover_markers *markers,
                        bool prefix);
void cover_control_release(cover_control *control);

/* Is the instruction an operation that schedules order (schedules.h), or the thread's end? */
bool cover_code_synchronises(ft_code code);
bool cover_is_exit(const cover_control *control, uint32_t function, const ft_instruction *in);
/* Does the head, an instruction of the same function that the path came to behind the branch, need
 * the branch to go as it did? `same`: the head is that branch itself. */
bool cover_controls(const cover_control *control, uint32_t function, uint32_t branch_block,
                    uint32_t head_block, bool same);
/* The blocks of the side that begins at `target`, up to where the branch's sides meet. */
void cover_side(const cover_control *control, uint32_t function, uint32_t branch_block,
                uint32_t target, uint64_t *side);
/* May the blocks synchronise, come to a marker (or, without `prefix`, end the process)? */
bool cover_may_synchronise(const cover_control *control, uint32_t function, const uint64_t *side);

#endif
