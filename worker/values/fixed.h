/* Fixed events: under `ctp`, symbolic reads and writes that have the value of the observed run
 * wherever all threads are at rest.
 *
 * At rest, a thread is next at an event that may wait, or at its end. So behind each read that it
 * has executed it has also executed the assumes that follow before the next such event, and the
 * read returned a value that satisfies them. With that, the values that variables can hold are the
 * least fixpoint of what writes make of them. In
 *
 *     while (items == 0) wait(some);  items--;        while (items > 0) wait(none);  items++;
 *
 * items is 0 or 1, so the one that goes on finds 1 and the other one 0, as they did in the run.
 * Under a lock that all writers hold, a thread that reads again finds what it found before. The
 * proofs about stuck threads (proofs/stuck/) then know the amounts that threads add to `items`.
 *
 * Cost. Rounds over all writes until nothing is new; a variable with more than a few values has
 * any. */
#ifndef FT_VALUES_FIXED_H
#define FT_VALUES_FIXED_H

#include "values/chain.h"

/* [events] a bit each, event e's is bit e % 64 of word e / 64; owned by the caller. writes: all
 * of the trace. NULL: not under ctp, nothing is symbolic, the trace has branches, or it is too
 * long. */
uint64_t *ft_fixed_find(const ft_problem *problem, const ft_writes *writes);

#endif
