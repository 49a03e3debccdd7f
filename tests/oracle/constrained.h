/* Schedule sets against brute force: every input of a few bits, every run that the set allows, in
 * the interpreter. */
#ifndef FT_TESTS_CONSTRAINED_H
#define FT_TESTS_CONSTRAINED_H

#include "schedules/constrained.h"

/* What is wrong with a set, and for which inputs. */
typedef struct constrained_fault {
    const char *what; /* NULL: nothing */
    char why[480];    /* OUTSIDE and UNCOVERED: more of it */
    uint64_t inputs[8];
    uint32_t epoch, schedule;
    bool races;            /* a run was not free of races, so that nothing is known */
    bool fails, deadlocks; /* a run has ended with an error; threads were left that all wait */
} constrained_fault;

typedef struct constrained_counts {
    uint64_t inputs, epochs, runs, ends[FT_CONSTRAINED_ENDS];
} constrained_counts;

/* Every input of the program (its `input` instructions; a thread that reads one again gets the
 * other value of its lowest bit): a schedule is selected, each run under it ends as it, or, with
 * prefixes, by the end of the process before, and operations on one object come in the schedule's
 * order. So does each run of each later epoch, from every state in which it begins (100 of an
 * input). The first fault. */
constrained_fault constrained_check(const ft_program *program, const ft_schedule_set *set,
                                    constrained_counts *counts);

#endif
