/* Proofs that a thread does not wait forever (claim.h, STUCK). A final state is one in which
 * no thread can go on. A claim is refuted where no final state has its event next, by
 * properties that all final states have:
 *
 *   progress  a thread is at an event that may have to wait, or at its end. Any other event that is
 *             next is executed, with all that it needs (hard order, tied reads).
 *   locks     an acquire waits only where a thread that holds its lock may be at rest. A lock that
 *             no thread holds while it waits never makes another thread wait forever.
 *   wake-ups  a thread that a broadcast finds asleep (or a signal, where all waiters are of one
 *             thread) is not asleep in the end. The waiter must be known to come first: by hard
 *             order, or because its section reads a value that the signal's section overwrites.
 *   counts    a semaphore with a waiter has the count 0. The count is the sum of what all threads
 *             posted and took up to their places: all sums over the places where each may be at
 *             rest are listed.
 *   levels    a variable under a lock is the sum of the threads' changes up to their places. A
 *             thread that sleeps because it found a count at 0 or a flag set shows that the value
 *             is still the same, where every change comes with a signal (flow.c).
 *   states    where values decide whose turn it is, the sections of a lock have few states: all of
 *             them are visited (states.c).
 *
 * Solvers are poor at the last three: the question which wait takes which unit, or which read
 * returns which of many equal values, has as many answers as there are permutations, though the sum
 * is the same for all. Nothing is refuted in traces with branches, in broken traces, or beyond the
 * limits of the analyses.
 *
 * Imports: causality, problem, proofs, common/base. */
#ifndef FT_PROOFS_STUCK_H
#define FT_PROOFS_STUCK_H

#include "causality/causality.h"
#include "problem/problem.h"

typedef struct ft_stuck ft_stuck;

/* `problem`, `causality` and all that they point to must outlive it. */
ft_stuck *ft_stuck_new(const ft_problem *problem, const ft_causality *causality);
void ft_stuck_free(ft_stuck *stuck); /* accepts NULL */

/* Is there no final state with the claim's event next and blocked? Claims of other kinds are never
 * refuted. */
bool ft_stuck_refutes(ft_stuck *stuck, const ft_claim *claim);

/* Do the states of a lock with conditions show that no schedule has the claim's threads at their
 * places at once? RACE, CO_ENABLED, DEADLOCK, ATOMICITY, AFTER_FREE; UNINITIALISED,
 * where the write that the run has before is executed then. Claims of other kinds are never
 * refuted. */
bool ft_stuck_keeps_apart(ft_stuck *stuck, const ft_claim *claim);

#endif
