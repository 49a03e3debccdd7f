/* The slice of a path (Bergan §3.3; notes, §2): which of its decisions any input must share with it
 * so that the path's synchronisation is possible, and the same, for that input.
 *
 * The trace is walked backward with one set of live locations for all threads (registers, bytes,
 * threads' results, how often an input was read) and a head for each thread, the next instruction
 * of the slice. Heads from the start: every operation, the instruction that ends the process, and
 * the operation at which a thread stands. A branch is kept if
 *   1. the head of its thread depends on it by control, or
 *   2. a side that was not taken may write a live location, or
 *   3. a side that was not taken may synchronise.
 * What an instruction of the slice decides beside (which object an address means, which object is
 * locked) is kept like a branch. A store through an address that is not constant is in the slice
 * where it may write a live location. */
#ifndef FT_COVER_SLICE_H
#define FT_COVER_SLICE_H

#include "cover/trace.h"

typedef FT_VEC(ft_term) cover_terms;

/* The conditions that are kept, in the path's order, each once. */
void cover_slice(const ft_sym_state *state, const cover_trace *trace, cover_terms *kept);
/* Did the path take a side that must end the process, or on which the execution does not count,
 * where another side does not? */
bool cover_is_premature(const cover_trace *trace);

#endif
