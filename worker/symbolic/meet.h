/* States that meet: two executions that a thread has come to the same instruction in, on different
 * ways, become one state (Kuznetsov et al. 2012, state merging), or one that stands for all rounds
 * of a loop.
 *
 * States are *alike* if they differ by content alone: numbers and terms in memory and in the
 * thread's registers, and the conditions of the ways. Not by which object an address is of, by what
 * other threads hold, by synchronisation objects, or by how many inputs were read. */
#ifndef FT_SYMBOLIC_MEET_H
#define FT_SYMBOLIC_MEET_H

#include "symbolic/follow.h"

/* Makes states comparable: the thread's registers that are never read again lose their content. The
 * thread stands before an operation or a branch. */
void ft_sym_forget(ft_sym_state *state, uint32_t thread);
/* The thread has made all steps since the states were one. */
bool ft_sym_is_alike(const ft_sym_state *a, const ft_sym_state *b, uint32_t thread);
/* Which is in an earlier round of its loops, by what they count where it is a number: below 0, `a`;
 * 0: no difference is seen. States of different rounds had better not be merged. */
int ft_sym_compare_rounds(const ft_sym_state *a, const ft_sym_state *b, uint32_t thread);
/* Makes `a` stand for both ways, which are alike. Content that differs is a choice by ways[0], the
 * condition under which an execution has come a's way; ways[1] is that of b's, and no execution
 * satisfies both. `ways` NULL: it is an unknown, and the conditions are forgotten. A branch at
 * which they stand is stood before anew. */
void ft_sym_merge(ft_sym_state *a, const ft_sym_state *b, uint32_t thread, const ft_term *ways);
/* Makes `a` stand for `b` as well, which is alike and has come from it in a round of a loop:
 * content that differs becomes an unknown, but for what is one already, whose symbol is `first` or
 * newer. True: some did. The branch is not stood before anew. */
bool ft_sym_generalise(ft_sym_state *a, const ft_sym_state *b, uint32_t thread, ft_symbol first);
/* Keeps the first n conditions, so that the state stands for more executions. */
void ft_sym_forget_conditions(ft_sym_state *state, size_t n);
/* Decides the branch before which the thread stands anew. */
void ft_sym_decide_again(ft_sym_state *state, uint32_t thread);

/* The condition of an arm of the branch that the thread stands before. */
ft_term ft_sym_arm(const ft_sym_state *state, uint32_t thread, uint32_t arm);
/* Instructions that the execution has carried out. */
uint64_t ft_sym_progress(const ft_sym_state *state);

#endif
