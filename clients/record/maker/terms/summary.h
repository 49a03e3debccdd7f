/* The summary of a recording with terms, for people and `--json`. */
#ifndef FT_RECORD_TERMS_SUMMARY_H
#define FT_RECORD_TERMS_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "raw/terms.h"

typedef struct ft_record_terms {
    bool on;           /* it was made with --symbolic */
    bool damaged;      /* its TERMS records do not fit together */
    uint64_t assigned; /* events that are assignments */
    uint64_t assumed;  /* branches and values held */
    uint64_t asserted;
    uint64_t held[FT_SYM_REASONS]; /* values that fell back to the one in the run, by reason */
    uint64_t wrong; /* terms that did not give the value that the program had, and were dropped */
} ft_record_terms;
const char *ft_record_held_reason(unsigned reason); /* for people */

#endif
