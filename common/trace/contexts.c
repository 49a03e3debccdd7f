#include "trace/builder_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint32_t add_context(ft_builder *b, ft_context context)
{
    ft_trace *trace = b->trace;
    trace->contexts = ft_vec_grow(trace->contexts, &b->contexts_cap, trace->n_contexts + 1u,
                                  sizeof *trace->contexts);
    trace->contexts[trace->n_contexts] = context;
    return trace->n_contexts++;
}

uint32_t ft_builder_context(ft_builder *b, uint32_t parent, uint32_t loc)
{
    const ft_trace *trace = b->trace;
    if (!trace->n_contexts) add_context(b, (ft_context){.depth = 0});
    assert(parent < trace->n_contexts && loc < trace->n_locations);
    uint32_t depth = trace->contexts[parent].depth + 1;
    if (depth > FT_CONTEXT_MAX_DEPTH) return parent;
    bool inserted;
    uint64_t *known =
        ft_map_slot(&b->contexts, (uint64_t)parent << 32 | loc, trace->n_contexts, &inserted);
    if (!inserted) return (uint32_t)*known;
    return add_context(b, (ft_context){.parent = parent, .loc = loc, .depth = depth});
}

void ft_builder_in_context(ft_builder *b, uint32_t context)
{
    assert(context == FT_NO_CONTEXT || context < b->trace->n_contexts);
    b->context = context;
}

/* The array is there once an event has a context; those before it have none. */
void ft_builder_set_context(ft_builder *b, uint32_t e, uint32_t context)
{
    ft_trace *trace = b->trace;
    if (!trace->context && context == FT_NO_CONTEXT) return;
    size_t old = b->context_cap;
    trace->context =
        ft_vec_grow(trace->context, &b->context_cap, trace->n_events, sizeof *trace->context);
    if (old < b->context_cap)
        memset(trace->context + old, 0, (b->context_cap - old) * sizeof *trace->context);
    trace->context[e] = context;
}

static void add_word(ft_trace *trace, const char *word, size_t length)
{
    size_t size = (trace->n_command + (size_t)1) * sizeof *trace->command;
    trace->command = ft_realloc(trace->command, size, 1);
    trace->command[trace->n_command++] = ft_arena_strndup(trace->arena, word, length);
}

void ft_builder_command(ft_builder *b, const char *word, size_t length)
{
    add_word(b->trace, word, length);
}

void ft_trace_set_command(ft_trace *trace, const char *const *words, size_t count)
{
    trace->n_command = 0;
    for (size_t i = 0; i < count; i++)
        if (!ft_builder_text_is_clean(words[i], strlen(words[i]))) return;
    for (size_t i = 0; i < count; i++) add_word(trace, words[i], strlen(words[i]));
}

/* ---- what is no candidate -------------------------------------------------------------------- */

void ft_builder_aside(ft_builder *b, bool aside)
{
    b->aside = aside;
}

void ft_builder_benign(ft_builder *b, uint32_t shared)
{
    assert(shared < b->trace->shared.len);
    ft_map_put(&b->benign, shared, 1);
}

uint8_t ft_builder_aside_flag(const ft_builder *b, ft_event_kind kind, uint32_t object)
{
    if (ft_event_kind_object(kind) != FT_OBJECT_VARIABLE) return 0;
    if (b->aside || (b->benign.len && ft_map_get(&b->benign, object, NULL)))
        return FT_FLAG_SYNTHETIC;
    return 0;
}
