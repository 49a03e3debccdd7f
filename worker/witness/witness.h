/* Witnesses: schedules that reach a claim, found without a solver and made readable.
 *
 * prefix.h takes the least prefix in observed order; it also refutes claims whose prefix contains
 * their own events. schedule.h orders the least members of races and triplets in plain traces.
 * delay.h runs the observed order with one thread delayed. relinearise.h gives a schedule fewer
 * context switches, and minimise.h drops the events that the violation does not need. The
 * independent checker (common/verdict/checker.h) confirms every schedule that is found here.
 *
 * Imports: order, problem, common/base, common/verdict. */
#ifndef FT_WITNESS_H
#define FT_WITNESS_H

#include "witness/delay.h"
#include "witness/minimise.h"
#include "witness/prefix.h"
#include "witness/relinearise.h"
#include "witness/schedule.h"

#endif
