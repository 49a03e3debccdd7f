/* Schedules that are foreseen (schedules/foresee.h) against random runs under the set. */
#ifndef FT_TESTS_FORESEEN_H
#define FT_TESTS_FORESEEN_H

#include "schedules/constrained.h"

typedef struct foreseen_counts {
    uint32_t inputs, runs, epochs;
    uint32_t endless; /* inputs with which nothing is foreseen, for it has no end within a bound */
} foreseen_counts;

/* Of a set whose certificates hold: with random inputs, runs whose threads take random turns have
 * the schedules that are foreseen, in their order. In the entry they follow that schedule alone, as
 * a native run does. NULL: so it is; else what is not so. */
const char *foreseen_check(const ft_program *program, const ft_schedule_set *set, uint64_t seed,
                           foreseen_counts *counts);

#endif
