/* Markers: places of a program at which epochs may end (Bergan §3.2.2; figure 3.2 with the notes'
 * corrections). A thread that has come to a marker stops before its next operation.
 *
 * Every loop that may synchronise has one on each way round, so that an epoch has boundedly many
 * operations. Loops are visited from the inside, callees before callers. A marker is the first
 * instruction of a loop's body, so that a loop that may run zero times does not cover the loop
 * around it. None is placed in
 *   - a loop with a marker on each way round, directly or in what it calls,
 *   - a loop that synchronises by waits for conditions alone (it goes round only when it is woken,
 *     and the loops that wake have markers), or by creating alone, or by joining alone (the threads
 *     of a program are bounded; a loop that does both is not).
 * A loop with a barrier on each way round has its marker behind the barrier. A function that calls
 * itself and synchronises has one at its beginning.
 *
 * Explicit ones: an atomic access to the object COVER_MARKER_OBJECT is one, at which the thread
 * stops (foretell_marker() of foretell.h). */
#ifndef FT_COVER_MARKERS_H
#define FT_COVER_MARKERS_H

#include "base/map.h"
#include "program/flow/pointers.h"

#define COVER_MARKER_OBJECT "foretell_marker_cell"

typedef struct cover_marker {
    uint32_t function, instruction; /* the function's index */
} cover_marker;

typedef struct cover_markers {
    FT_VEC(cover_marker) all; /* ascending */
    ft_map places;            /* function's index and instruction */
} cover_markers;

void cover_markers_init(cover_markers *markers, const ft_flow *flow); /* finds them */
void cover_markers_release(cover_markers *markers);
bool cover_is_marker(const cover_markers *markers, uint32_t function, uint32_t instruction);

#endif
