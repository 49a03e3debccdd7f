/* Random small traces for differential tests: a random program is run under a random scheduler, so
 * the trace is a feasible observed run. The same seed gives the same trace on every machine. */
#ifndef FT_TEST_GENERATE_H
#define FT_TEST_GENERATE_H

#include "oracle/oracle.h"

/* How much the trace knows. */
typedef enum ft_grade {
    FT_GRADE_SYMBOLIC, /* guarded assignments, assume, assert; some valued reads and writes */
    FT_GRADE_VALUED,   /* reads and writes with values */
    FT_GRADE_OBSERVED, /* reads and writes without values */
    FT_GRADE_MIXED     /* all of these in one trace */
} ft_grade;

typedef struct ft_random {
    uint64_t state;
} ft_random;
void ft_random_init(ft_random *random, uint64_t seed);
uint32_t ft_random_below(ft_random *random, uint32_t bound); /* bound > 0 */
bool ft_random_percent(ft_random *random, uint32_t percent);

/* The trace of a seed, after ft_observe_run (whose opinion is left for the caller to check). */
ft_trace *ft_generate(uint64_t seed);
ft_grade ft_generate_grade(uint64_t seed);

/* Up to `max` random properties over the trace's locations and variables; returns how many. */
uint32_t ft_generate_properties(ft_trace *trace, uint64_t seed, ft_oracle_property *properties,
                                uint32_t max);

#endif
