/* The interval analysis of a trace for people to look at: the three graphs with their figures, and
 * the ranges of each event. */
#ifndef FT_ENGINE_INTERVALS_VIEW_H
#define FT_ENGINE_INTERVALS_VIEW_H

#include <jansson.h>

#include "trace/trace.h"

/* INTERVALS of docs/api.md without its "trace"; new reference. Where the analysis does not serve
 * the trace, or it is too large, "left_out" says so and the rest is empty. */
json_t *ft_intervals_view(const ft_trace *trace);

#endif
