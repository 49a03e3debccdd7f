/* The checker of a finished trace (trace.h, ft_trace_is_sound). */
#include <string.h>

#include "trace/trace.h"

static uint32_t object_count(const ft_trace *trace, ft_object_class class)
{
    const uint32_t counts[FT_OBJECT_CLASSES] = {[FT_OBJECT_NONE] = 1,
                                                [FT_OBJECT_VARIABLE] = trace->shared.len,
                                                [FT_OBJECT_LOCK] = trace->locks.len,
                                                [FT_OBJECT_SEMAPHORE] = trace->semaphores.len,
                                                [FT_OBJECT_THREAD] = trace->threads.len,
                                                [FT_OBJECT_EDGE] = trace->edges.len,
                                                [FT_OBJECT_CONDITION] = trace->conditions.len,
                                                [FT_OBJECT_BARRIER] = trace->barriers.len,
                                                [FT_OBJECT_ONCE] = trace->onces.len,
                                                [FT_OBJECT_BLOCK] = trace->blocks.len};
    return counts[class];
}

static uint32_t data_limit(const ft_trace *trace, uint32_t e)
{
    if (ft_trace_is_symbolic_event(trace, e)) return trace->n_actions;
    if (trace->kind[e] == FT_EVENT_RMW) return trace->n_updates;
    bool access = trace->kind[e] == FT_EVENT_READ || trace->kind[e] == FT_EVENT_WRITE;
    return access ? trace->n_values : 1;
}

static bool event_is_sound(const ft_trace *trace, uint32_t e)
{
    if (trace->kind[e] >= FT_EVENT_KINDS || trace->thread[e] >= trace->threads.len) return false;
    ft_object_class class = ft_event_kind_object((ft_event_kind)trace->kind[e]);
    if (trace->object[e] >= object_count(trace, class)) return false;
    if (trace->loc[e] >= trace->n_locations || trace->data[e] >= data_limit(trace, e)) return false;
    if (trace->context && trace->context[e] && trace->context[e] >= trace->n_contexts) return false;
    return !trace->path || trace->path[e] < trace->n_paths;
}

/* Nested and without effect are two things; both are of locks alone. */
static bool flags_are_sound(const ft_trace *trace, uint32_t e)
{
    const uint8_t both = FT_FLAG_NESTED | FT_FLAG_STRANGER;
    uint8_t flags = trace->flags[e];
    if (!(flags & both)) return true;
    bool lock = ft_event_kind_object((ft_event_kind)trace->kind[e]) == FT_OBJECT_LOCK;
    return lock && (flags & both) != both;
}

static bool variables_are_sound(const ft_trace *trace, const ft_variable *info, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++)
        if (info[v].initial >= trace->n_values) return false;
    return true;
}

static bool blocks_are_sound(const ft_trace *trace)
{
    for (uint32_t b = 0; b < trace->blocks.len; b++) {
        const ft_block_cells *cells = &trace->block_cells[b];
        for (uint32_t i = 0; i < cells->count; i++) {
            if (cells->variables[i] >= trace->shared.len) return false;
            if (i && cells->variables[i - 1] >= cells->variables[i]) return false;
        }
    }
    return true;
}

static bool tables_are_sound(const ft_trace *trace)
{
    for (uint32_t l = 0; l < trace->locks.len; l++)
        if (trace->lock_kind[l] >= FT_LOCK_KINDS) return false;
    for (uint32_t b = 0; b < trace->barriers.len; b++)
        if (!trace->barrier_count[b]) return false;
    for (uint32_t i = 0; i < trace->n_sites; i++)
        if (trace->sites[i].module >= trace->n_modules || trace->sites[i].loc >= trace->n_locations)
            return false;
    return variables_are_sound(trace, trace->shared_info, trace->shared.len) &&
           variables_are_sound(trace, trace->local_info, trace->locals.len) &&
           blocks_are_sound(trace);
}

static bool contexts_are_sound(const ft_trace *trace)
{
    for (uint32_t c = 1; c < trace->n_contexts; c++) {
        const ft_context *context = &trace->contexts[c];
        if (context->parent >= c || context->loc >= trace->n_locations) return false;
        if (context->depth != trace->contexts[context->parent].depth + 1) return false;
    }
    return true;
}

static bool paths_are_sound(const ft_trace *trace)
{
    for (uint32_t p = 1; p < trace->n_paths; p++) {
        const ft_path *path = &trace->paths[p];
        if (path->parent >= p || path->branch >= trace->n_events) return false;
        if (trace->kind[path->branch] != FT_EVENT_IF || path->taken != (p % 2 == 1)) return false;
    }
    return !trace->n_paths || trace->n_paths % 2 == 1;
}

static bool notes_are_sound(const ft_trace *trace)
{
    for (uint32_t i = 0; i < trace->n_notes; i++) {
        const ft_note *note = &trace->notes[i];
        if (!note->count || (note->event >= trace->n_events && note->event != FT_NO_EVENT))
            return false;
        if (i && strcmp(trace->notes[i - 1].code, note->code) > 0) return false;
    }
    return true;
}

bool ft_trace_is_sound(const ft_trace *trace)
{
    if (!trace->n_events || !trace->n_locations || !trace->n_values) return false;
    if (trace->threads.len > UINT16_MAX) return false;
    if (trace->broken != FT_NO_EVENT && trace->broken >= trace->n_events) return false;
    for (uint32_t e = 0; e < trace->n_events; e++)
        if (!event_is_sound(trace, e) || !flags_are_sound(trace, e)) return false;
    return tables_are_sound(trace) && contexts_are_sound(trace) && paths_are_sound(trace) &&
           notes_are_sound(trace);
}
