/* Values: what reads and variables can hold in any schedule, found without a solver.
 *
 * Three analyses under the model `ctp`. chain.h adds up increments that commute: the sum does not
 * depend on their order. domain.h follows the finite sets of values that flow through the program's
 * terms. Both prove assertions; the encodings use the sets as the choices that a read has. fixed.h
 * finds the accesses whose value is that of the run wherever all threads are at rest, for the
 * proofs about stuck threads.
 *
 * Imports: problem, common/base, common/term. */
#ifndef FT_VALUES_H
#define FT_VALUES_H

#include "values/chain.h"
#include "values/domain.h"
#include "values/fixed.h"

#endif
