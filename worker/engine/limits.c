#include "engine/limits.h"

#include <string.h>

#include "base/contract.h"

/* A wait for a lock, semaphore or thread whose limit passed is one of these, too. */
static bool may_be_late(const ft_trace *trace, uint32_t e)
{
    static const bool KINDS[FT_EVENT_KINDS] = {[FT_EVENT_TRY_FAILED] = true,
                                               [FT_EVENT_TRY_FAILED_SHARED] = true,
                                               [FT_EVENT_EDGE_IN] = true,
                                               [FT_EVENT_EDGE_OUT] = true};
    bool wake = trace->kind[e] == FT_EVENT_COND_WAKE && trace->flags[e] & FT_FLAG_FAILED;
    return wake || KINDS[trace->kind[e]];
}

/* Notes end with the location. */
static bool is_of(const ft_note *note, const char *location)
{
    size_t n = strlen(note->text), m = strlen(location);
    return strcmp(note->code, FT_NOTE_LIMIT) == 0 && n > m && note->text[n - m - 1] == ' ' &&
           strcmp(note->text + n - m, location) == 0;
}

static void add(json_t *limits, const char *text)
{
    size_t index;
    json_t *limit;
    json_array_foreach(limits, index, limit)
    {
        if (strcmp(json_string_value(limit), text) == 0) return;
    }
    json_array_append_new(limits, json_string(text));
}

json_t *ft_limits_of(const ft_trace *trace, const ft_witness *witness)
{
    json_t *limits = json_array();
    for (uint32_t n = 0; n < trace->n_notes; n++) {
        const ft_note *note = &trace->notes[n];
        if (strcmp(note->code, FT_NOTE_LIMIT) != 0) continue;
        for (uint32_t i = 0; i < witness->n_steps; i++) {
            uint32_t e = witness->steps[i];
            FT_REQUIRE(e < trace->n_events);
            if (!may_be_late(trace, e) || trace->loc[e] == FT_NO_LOC) continue;
            if (!is_of(note, ft_trace_location_text(trace, trace->loc[e]))) continue;
            add(limits, note->text);
            break;
        }
    }
    if (json_array_size(limits)) return limits;
    json_decref(limits);
    return NULL;
}
