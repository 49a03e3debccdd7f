/* Standstills: final states in which nobody goes on (claim.h, STUCK). Refutes claims that there is
 * no such state for, by what all of them have in common:
 *
 *   progress  a thread rests where something may keep it waiting, or at its end. So whoever is next
 *             at anything else has executed it, with all that it needs (hard order, tied reads),
 *             and may be at rest no earlier than behind it.
 *   locks     an acquire waits only where a thread that holds its lock may be at rest; a lock that
 *             no thread waits with keeps nobody waiting in the end.
 *   wake-ups  whom a broadcast finds asleep (or a signal, where all waiters are of one thread) is
 *             not asleep in the end. That the waiter was there first has to be known: by hard
 *             order, or since the waiter's section read what the other one's overwrites.
 *   counts    a semaphore that is waited for in the end is at 0. Its count is what all threads gave
 *             and took up to where they rest: over all places where each may rest, the sums that
 *             are possible say whether any of them leaves a waiter.
 *
 *   levels    what a variable under a lock comes to is the sum of what the threads did to it up to
 *             where they rest; who sleeps, since it found a count at 0 or a flag set, says that
 *             it still is so, where no change goes without a signal (flow.c).
 *
 *   states    where values say whose turn it is, the states that the sections of a lock come to are
 *             few: all of them are visited (states.c).
 *
 * It is the last three that solvers are poor at: which wait takes which unit, which read returns
 * which of many equal values has as many answers as there are permutations, and how many units
 * there are does not depend on it. Nothing is refuted in traces with branches, in broken ones, and
 * behind the limits of what is looked at.
 *
 * Imports: causality, problem, proofs, common/base. */
#ifndef FT_PROOFS_STUCK_H
#define FT_PROOFS_STUCK_H

#include "causality/causality.h"
#include "problem/problem.h"

typedef struct ft_stuck ft_stuck;

/* What both point to must outlive it. */
ft_stuck *ft_stuck_new(const ft_problem *problem, const ft_causality *causality);
void ft_stuck_free(ft_stuck *standstill); /* accepts NULL */

/* Is there no standstill with the claim's event next and blocked? Claims of other kinds are never
 * refuted. */
bool ft_stuck_refutes(ft_stuck *standstill, const ft_claim *claim);

/* Has no schedule the threads of the claim at their places at once, as far as the states of some
 * lock with conditions say? RACE, CO_ENABLED, DEADLOCK, ATOMICITY, AFTER_FREE; UNINITIALISED,
 * where the write that the run has before is executed then. Claims of other kinds are never
 * refuted. */
bool ft_stuck_keeps_apart(ft_stuck *standstill, const ft_claim *claim);

#endif
