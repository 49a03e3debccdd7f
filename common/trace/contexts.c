#include "base/contract.h"
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
    FT_REQUIRE(parent < trace->n_contexts && loc < trace->n_locations);
    uint32_t depth = trace->contexts[parent].depth + 1;
    if (depth > FT_CONTEXT_MAX_DEPTH) return parent;
    bool inserted;
    uint64_t *known =
        ft_map_slot(&b->contexts, (uint64_t)parent << 32 | loc, trace->n_contexts, &inserted);
    assert(*known <= trace->n_contexts);
    if (!inserted) return (uint32_t)*known;
    return add_context(b, (ft_context){.parent = parent, .loc = loc, .depth = depth});
}

void ft_builder_in_context(ft_builder *b, uint32_t context)
{
    FT_REQUIRE(context == FT_NO_CONTEXT || context < b->trace->n_contexts);
    b->context = context;
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

void ft_trace_add_note(ft_trace *trace, const char *code, const char *text)
{
    FT_REQUIRE(code && text);
    trace->notes = ft_realloc(trace->notes, trace->n_notes + 1u, sizeof *trace->notes);
    uint32_t at = trace->n_notes++; /* they ascend by code */
    for (; at && strcmp(trace->notes[at - 1].code, code) > 0; at--)
        trace->notes[at] = trace->notes[at - 1];
    trace->notes[at] = (ft_note){.code = ft_arena_strndup(trace->arena, code, strlen(code)),
                                 .event = FT_NO_EVENT,
                                 .count = 1,
                                 .text = ft_arena_strndup(trace->arena, text, strlen(text))};
}

void ft_trace_set_command(ft_trace *trace, const char *const *words, size_t count)
{
    FT_REQUIRE(words || !count);
    trace->n_command = 0;
    for (size_t i = 0; i < count; i++)
        if (!ft_builder_text_is_clean(words[i], strlen(words[i]))) return;
    for (size_t i = 0; i < count; i++) add_word(trace, words[i], strlen(words[i]));
}

void ft_builder_commands(ft_builder *b, const char *const *words, size_t count)
{
    ft_trace_set_command(b->trace, words, count);
}

/* ---- what is no candidate -------------------------------------------------------------------- */

static bool has(const ft_map *map, uint32_t key)
{
    return map->len && ft_map_get(map, key, NULL);
}

void ft_builder_aside(ft_builder *b, bool aside)
{
    b->aside = aside;
}

void ft_builder_benign(ft_builder *b, uint32_t shared)
{
    FT_REQUIRE(shared < b->trace->shared.len);
    ft_map_put(&b->benign, shared, 1);
}

void ft_builder_benign_place(ft_builder *b, uint32_t loc)
{
    FT_REQUIRE(loc < b->trace->n_locations);
    ft_map_put(&b->benign_places, loc, 1);
}

void ft_builder_benign_call(ft_builder *b, uint32_t context)
{
    FT_REQUIRE(context < b->trace->n_contexts);
    ft_map_put(&b->benign_calls, context, 1);
}

bool ft_builder_is_benign_call(const ft_builder *b, uint32_t context)
{
    return has(&b->benign_calls, context);
}

bool ft_builder_has_no_flags(const ft_builder *b)
{
    return !b->aside && !b->benign.len && !b->benign_places.len && !b->benign_calls.len;
}

uint8_t ft_builder_access_flags(const ft_builder *b, uint32_t shared, uint32_t loc,
                                uint32_t context)
{
    bool aside = b->aside || has(&b->benign, shared) || has(&b->benign_places, loc) ||
                 has(&b->benign_calls, context);
    return aside ? FT_FLAG_SYNTHETIC : 0;
}

uint8_t ft_builder_aside_flag(const ft_builder *b, ft_event_kind kind, uint32_t object,
                              uint32_t loc)
{
    uint8_t flags = b->aside ? FT_FLAG_SYNTHETIC : 0;
    if (!ft_event_kind_may_stand_aside(kind) || ft_builder_has_no_flags(b)) return 0;
    if (ft_event_kind_object(kind) == FT_OBJECT_VARIABLE)
        return ft_builder_access_flags(b, object, loc, b->context);
    assert(object < b->trace->n_actions);
    const ft_action *action = &b->trace->actions[object];
    for (uint32_t i = 0; i < action->n_accesses; i++) {
        flags = ft_builder_access_flags(b, action->accesses[i].variable, loc, b->context);
        if (!flags) break; /* one that may be part of a finding is enough */
    }
    return flags;
}
