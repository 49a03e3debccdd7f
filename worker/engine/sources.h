/* The source lines that a trace holds, in a record: readers of the record have neither the trace
 * nor the source. */
#ifndef FT_ENGINE_SOURCES_H
#define FT_ENGINE_SOURCES_H

#include <jansson.h>

#include "trace/trace.h"

/* Sets "line", what stands where event e is; nothing where that is not known. */
void ft_sources_add_line(const ft_trace *trace, uint32_t e, json_t *json);

/* Adds the paths of the files that the events and their calls are in to `sources`: {"file.c":
 * "/src/app/file.c"}. Of a name that two files have it says null. */
void ft_sources_add(const ft_trace *trace, const uint32_t *events, uint32_t count, json_t *sources);

#endif
