/* The order that the search prefers because an execution has it (`--order FILE`): that of a witness
 * of the program (program/witness/witness.h), or those of a schedule set, of which each path
 * prefers the one that the set selects for its inputs.
 *
 * An operation is known by its thread's name and its number in its thread, among those of the kinds
 * that the execution has: a recording has no initialisations, and a set that was made from one
 * has none, either. Operations of other kinds come with what follows them. So where a path departs
 * from the execution (a branch goes elsewhere, the set is of an earlier version of the program) the
 * order of the rest is preferred still. A thread whose operations are used up comes last. */
#ifndef FT_COVER_PREFER_H
#define FT_COVER_PREFER_H

#include "cover/run.h"

typedef struct cover_wish {
    uint64_t at;    /* lower: earlier. UINT64_MAX: the execution does not have the operation */
    uint32_t peer;  /* of a signal: the thread that it wakes, a number of the world, or FT_NO_ID */
    bool timed_out; /* of a timed operation: its time is up */
} cover_wish;

/* From the text of a witness or of a set; the caller frees it. FT_INPUT: it is neither, or a
 * witness that the program, which outlives it, does not follow. */
ft_status cover_preference_read(const ft_program *program, const char *text, size_t length,
                                cover_preference **preference, ft_error *err) FT_MUST_CHECK;
void cover_preference_free(cover_preference *preference); /* accepts NULL */

/* Before a path, of which `state` is the beginning, with inputs at hand. */
void cover_preference_begin(cover_preference *preference, cover_world *world,
                            const ft_sym_state *state);
/* The thread has done an operation of the path. NULL is accepted. */
void cover_preference_note(cover_preference *preference, uint32_t thread, ft_node_kind kind);
/* Of the thread's next operation. NULL: nothing is preferred. */
cover_wish cover_preference_of(const cover_preference *preference, uint32_t thread);

#endif
