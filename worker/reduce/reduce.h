/* Reduction: the part of the trace that a claim is decided over.
 *
 * The cone (cone.h) is the set of events that can matter to the claim: deciding over it is exact.
 * A window (window.h) is the end of the run after a cut, as a trace of its own: small however long
 * the trace is. A strict window finds witnesses, a relaxed one refutes.
 *
 * Imports: problem, reduce/intervals, common/base. */
#ifndef FT_REDUCE_H
#define FT_REDUCE_H

#include "reduce/cone.h"
#include "reduce/window.h"

#endif
