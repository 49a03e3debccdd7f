/* Exclusion by what sections of a lock found: a flag `busy`, a count of readers beside a flag of
 * the writer, references that are counted. Refutes claims that two threads are at their places at
 * once, outside of the lock. An atomic access is a section of its own: spin locks, atomic counts.
 *
 * Let A and B be the last sections of one lock that the two threads have been in by then, and A the
 * earlier one. While B found what it found of a level (levels.h), A's thread had done all that it
 * did to it and nothing since; while A did, B's thread had done no more than what it did before B;
 * and every other thread what some prefix of it does. Where no such prefixes add up to what was
 * found, A did not come before B; nor where A left what no change finds, and B found something
 * else. The claim is refuted where it cannot have been the other way round either.
 *
 * Which of many equal writes a read has returned plays no part in it: for a solver there are as
 * many answers to that as there are rounds, for each of the threads.
 *
 * Cost. A pass over the trace for up to FT_LEVELS_MOST variables, when a claim needs to know of
 * them; a claim: k log n for k threads and n changes of each, for what the sections looked at. */
#ifndef FT_PROOFS_EXCLUSION_H
#define FT_PROOFS_EXCLUSION_H

#include "problem/problem.h"

typedef struct ft_exclusion ft_exclusion;

/* What `problem` points to must outlive it. */
ft_exclusion *ft_exclusion_new(const ft_problem *problem);
void ft_exclusion_free(ft_exclusion *exclusion); /* accepts NULL */

/* Is there no schedule that reaches it? RACE, CO_ENABLED, DEADLOCK, ATOMICITY, AFTER_FREE; claims
 * of other kinds are never refuted, nor any in traces with branches, in broken ones, and behind the
 * limits of what is looked at. */
bool ft_exclusion_refutes(ft_exclusion *exclusion, const ft_claim *claim);

#endif
