/* The time limits of waits that must pass in a witness's schedule. The recorder notes each limit
 * that passed in the run (FT_NOTE_LIMIT). */
#ifndef FT_ENGINE_LIMITS_H
#define FT_ENGINE_LIMITS_H

#include <jansson.h>

#include "trace/trace.h"
#include "verdict/checker.h"

/* ["the time limit of 2 s at a.c:8"...], each once; NULL: none of the steps is the end of a wait by
 * its limit. A new reference. */
json_t *ft_limits_of(const ft_trace *trace, const ft_witness *witness);

#endif
