/* A trace as a whole, for people to look at: its threads, locks, variables and locations, and which
 * threads were at work when. */
#ifndef FT_ENGINE_SUMMARY_H
#define FT_ENGINE_SUMMARY_H

#include <jansson.h>

#include "trace/trace.h"

#define FT_SUMMARY_THREADS 1000
#define FT_SUMMARY_LIST    200 /* locks, variables, locations: the hottest */
#define FT_SUMMARY_ROWS    64  /* of the timeline */
#define FT_SUMMARY_COLUMNS 200

/* SUMMARY of docs/api.md without its "trace"; new reference. */
json_t *ft_summary_new(const ft_trace *trace);

#endif
