/* Finds the loops of a program that can be taken as uninterpreted functions (program/loops.h).
 *
 * Such a loop is natural, the outermost of its kind, and has one edge out of it. It has no call, no
 * visible instruction, nothing that can fail (no division by what may be zero, no access at a place
 * that it computes) and makes no object. What it defines and what is used behind it is a cell; so
 * is all memory that it writes. Cells of memory are apart from each other. */
#ifndef FT_PROGRAM_FLOW_LOOPS_H
#define FT_PROGRAM_FLOW_LOOPS_H

#include "program/loops.h"

/* Of a valid program, which outlives them. */
ft_loops *ft_loops_find(const ft_program *program);
void ft_loops_free(ft_loops *loops); /* accepts NULL */

#endif
