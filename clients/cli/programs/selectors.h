/* The selectors of later epochs for a native program (raw/constrained.h): choices over terms, whose
 * inputs are numbers by now, and whose unknowns are cells of the program's memory. One that depends
 * on what loops compute is none: which schedule it takes is foreseen. */
#ifndef FT_CLI_SELECTORS_H
#define FT_CLI_SELECTORS_H

#include "base/memory.h"
#include "raw/constrained.h"
#include "schedules/schedules.h"

typedef struct ft_selectors {
    FT_VEC(ft_constrained_term) terms;
    FT_VEC(ft_constrained_local) locals;
    FT_VEC(ft_constrained_number) kids;
    FT_VEC(ft_constrained_choice) choices;
    FT_VEC(ft_constrained_epoch) epochs; /* by epoch of the set; that of the entry is empty */
} ft_selectors;

typedef struct ft_selectors_from {
    const ft_schedule_set *set;
    const char *program;     /* its file */
    ft_schedule_value value; /* of inputs */
    void *context;
    const uint32_t *first; /* by epoch: the number of its first schedule in the program's file */
} ft_selectors_from;

/* Appends the selectors of all epochs behind the entry. Embedded, to be zero-initialised; released
 * also on failure. FT_INPUT: a selector needs what the program cannot read when it runs, the error
 * names the place and the epoch; FT_UNSUPPORTED: a term is not one over bit-vectors. */
ft_status ft_selectors_make(ft_selectors *selectors, const ft_selectors_from *from,
                            ft_error *err) FT_MUST_CHECK;
void ft_selectors_release(ft_selectors *selectors);

#endif
