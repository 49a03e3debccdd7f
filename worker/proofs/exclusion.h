/* Exclusion by the values that sections of a lock found: a `busy` flag, a count of readers beside a
 * writer's flag, reference counts. Refutes claims that two threads are at their places at once,
 * outside of the lock. An atomic access is a section of its own: spin locks, atomic counts.
 *
 * Let A and B be the last sections of one lock that the two threads have been in, A the earlier
 * one. When B read a level (levels.h), A's thread had made all its changes up to its place; when A
 * read one, B's thread had made only its changes before B; and every other thread had made the
 * changes of some prefix. Where no such prefixes add up to the value that was read, A did not come
 * before B. It did not either where A left a value that no change finds, and B found another one.
 * The claim is refuted where B cannot have come before A for the same reasons.
 *
 * The proof does not depend on which of many equal writes a read returned: for a solver that has as
 * many answers as there are rounds, for each of the threads.
 *
 * Cost. A pass over the trace for up to FT_LEVELS_MOST variables, when a claim first needs them; a
 * claim: k log n for k threads with n changes each, for every access of the two sections. */
#ifndef FT_PROOFS_EXCLUSION_H
#define FT_PROOFS_EXCLUSION_H

#include "problem/problem.h"

typedef struct ft_exclusion ft_exclusion;

/* `problem` and all that it points to must outlive it. */
ft_exclusion *ft_exclusion_new(const ft_problem *problem);
void ft_exclusion_free(ft_exclusion *exclusion); /* accepts NULL */

/* Does no schedule reach the claim? RACE, CO_ENABLED, DEADLOCK, ATOMICITY, AFTER_FREE. Claims of
 * other kinds are never refuted, nor claims in traces with branches, in broken traces, or beyond
 * the limits of the analysis. */
bool ft_exclusion_refutes(ft_exclusion *exclusion, const ft_claim *claim);

#endif
