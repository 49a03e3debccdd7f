#include "engine/sources.h"

#include <stdlib.h>
#include <string.h>

#include "engine/calls.h"
#include "report/report.h"

void ft_sources_add_line(const ft_trace *trace, uint32_t e, json_t *json)
{
    const char *line = trace->locations[trace->loc[e]].line;
    if (line) json_object_set_new(json, "line", json_string(line));
}

static void add_location(const ft_trace *trace, uint32_t loc, json_t *sources)
{
    const ft_location *location = &trace->locations[loc];
    ft_place place;
    if (!location->path || !ft_place_parse(location->text, &place)) return;
    const json_t *known = json_object_get(sources, place.file);
    const char *path = json_string_value(known);
    if (!known)
        json_object_set_new(sources, place.file, json_string(location->path));
    else if (path && strcmp(path, location->path) != 0)
        json_object_set_new(sources, place.file, json_null());
    free(place.file);
}

void ft_sources_add(const ft_trace *trace, const uint32_t *events, uint32_t count, json_t *sources)
{
    if (!trace->n_sourced) return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = trace->context ? trace->context[events[i]] : FT_NO_CONTEXT;
        add_location(trace, trace->loc[events[i]], sources);
        for (int n = 0; n < FT_CALLS_MAX && at != FT_NO_CONTEXT; n++) {
            add_location(trace, trace->contexts[at].loc, sources);
            at = trace->contexts[at].parent;
        }
    }
}
