/* Values: what reads and variables can hold in any schedule, found without a solver.
 *
 * Two analyses under the model `ctp`. chain.h adds up increments that commute: the sum does not
 * depend on their order. domain.h follows the finite sets of values that flow through the program's
 * terms. Both prove assertions; the encodings use the sets as the choices that a read has.
 *
 * Imports: problem, common/base. */
#ifndef FT_VALUES_H
#define FT_VALUES_H

#include "values/chain.h"
#include "values/domain.h"

#endif
