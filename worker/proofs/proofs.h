/* Proofs: passes that refute a claim by what all schedules have in common, without a solver.
 *
 * A proof looks at sums and states that hold in every schedule, where a solver would have to try
 * each permutation. levels.h has integers that the sections of one lock change; exclusion.h uses
 * them to show that two threads are not at their places at once; tokens.h shows the same by units
 * of semaphores. proofs/stuck/ shows that a thread does not wait forever. A proof may miss a claim
 * that no schedule reaches; it never refutes one that some schedule reaches.
 *
 * Imports: order, problem, common/base. */
#ifndef FT_PROOFS_H
#define FT_PROOFS_H

#include "proofs/exclusion.h"
#include "proofs/levels.h"
#include "proofs/tokens.h"

#endif
