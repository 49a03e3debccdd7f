#include "trace/trace.h"

#include "base/contract.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const FORMATS[FT_FORMATS] = {
#define FT_FORMAT_ROW(symbol, name, doc) [FT_FORMAT_##symbol] = name,
    FT_FORMAT_TABLE(FT_FORMAT_ROW)
#undef FT_FORMAT_ROW
};

static const char *const LOCK_KINDS[FT_LOCK_KINDS] = {
#define FT_LOCK_KIND_ROW(symbol, name) [FT_LOCK_##symbol] = name,
    FT_LOCK_KIND_TABLE(FT_LOCK_KIND_ROW)
#undef FT_LOCK_KIND_ROW
};

const char *ft_format_name(ft_format format)
{
    FT_REQUIRE(format < FT_FORMATS);
    return FORMATS[format];
}

const char *ft_lock_kind_name(ft_lock_kind kind)
{
    FT_REQUIRE(kind < FT_LOCK_KINDS);
    return LOCK_KINDS[kind];
}

bool ft_lock_kind_has_readers(ft_lock_kind kind)
{
    FT_REQUIRE(kind < FT_LOCK_KINDS);
    return kind == FT_LOCK_READ_WRITE || kind == FT_LOCK_WRITER_PREFERRING;
}

static void free_events(ft_trace *trace)
{
    free(trace->kind);
    free(trace->flags);
    free(trace->thread);
    free(trace->object);
    free(trace->loc);
    free(trace->data);
    free(trace->path);
    free(trace->hook);
    free(trace->context);
    free(trace->modules);
    free(trace->sites);
    free(trace->contexts);
    free(trace->command);
    free(trace->inputs);
    free(trace->paths);
}

static void free_tables(ft_trace *trace)
{
    ft_intern *tables[] = {&trace->threads,    &trace->shared, &trace->locals,     &trace->locks,
                           &trace->semaphores, &trace->edges,  &trace->conditions, &trace->barriers,
                           &trace->onces,      &trace->blocks};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) ft_intern_release(tables[i]);
    free(trace->shared_info);
    free(trace->local_info);
    free(trace->lock_kind);
    free(trace->semaphore_initial);
    free(trace->barrier_count);
    free(trace->block_cells);
    free(trace->updates);
    free(trace->locations);
    free(trace->sourced);
    free(trace->asserting);
    free(trace->values);
    free(trace->actions);
    free(trace->notes);
}

void ft_trace_free(ft_trace *trace)
{
    if (!trace) return;
    free_events(trace);
    free_tables(trace);
    ft_term_pool_free(trace->terms);
    ft_arena_free(trace->arena);
    free(trace);
}

bool ft_trace_is_symbolic_event(const ft_trace *trace, uint32_t e)
{
    assert(e < trace->n_events);
    uint8_t kind = trace->kind[e];
    return kind == FT_EVENT_ASSIGN || kind == FT_EVENT_ASSUME || kind == FT_EVENT_ASSERT ||
           kind == FT_EVENT_IF;
}

bool ft_trace_is_blocked(const ft_trace *trace, uint32_t e)
{
    FT_REQUIRE(e < trace->n_events);
    return (trace->flags[e] & FT_FLAG_BLOCKED) && ft_event_kind_waits(trace->kind[e]);
}

void ft_trace_find_cut(const ft_trace *trace, bool *cut)
{
    for (uint32_t t = 0; t < trace->threads.len; t++) cut[t] = false;
    for (uint32_t e = 0; e < trace->n_events; e++) {
        if (trace->kind[e] == FT_EVENT_BEGIN) cut[trace->thread[e]] = true;
        if (trace->kind[e] == FT_EVENT_END) cut[trace->thread[e]] = false;
    }
}

uint32_t ft_trace_path(const ft_trace *trace, uint32_t e)
{
    assert(e < trace->n_events);
    return trace->path ? trace->path[e] : 0;
}

uint32_t ft_trace_arm(const ft_trace *trace, uint32_t e, bool taken)
{
    FT_REQUIRE(e < trace->n_events && trace->kind[e] == FT_EVENT_IF);
    uint32_t low = 0, high = trace->n_paths / 2; /* the if is among those in [low, high) */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (trace->paths[2 * middle + 1].branch <= e)
            low = middle;
        else
            high = middle;
    }
    assert(trace->n_paths && trace->paths[2 * low + 1].branch == e);
    return 2 * low + (taken ? 1 : 2);
}

const ft_action *ft_trace_action(const ft_trace *trace, uint32_t e)
{
    return ft_trace_is_symbolic_event(trace, e) ? &trace->actions[trace->data[e]] : NULL;
}

const ft_access *ft_trace_accesses(const ft_trace *trace, uint32_t e, ft_access *scratch,
                                   uint32_t *count)
{
    const ft_action *action = ft_trace_action(trace, e);
    if (action) {
        *count = action->n_accesses;
        return action->accesses;
    }
    if (trace->kind[e] == FT_EVENT_RMW) {
        assert(trace->data[e] < trace->n_updates);
        *count = 2;
        return trace->updates[trace->data[e]].accesses;
    }
    bool write = trace->kind[e] == FT_EVENT_WRITE;
    *count = write || trace->kind[e] == FT_EVENT_READ ? 1 : 0;
    *scratch = (ft_access){.variable = trace->object[e], .write = write};
    return scratch;
}

bool ft_trace_compares(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_RMW && (trace->flags[e] & FT_FLAG_TRY) &&
           trace->updates[trace->data[e]].read != FT_NO_VALUE;
}

bool ft_trace_failed_swap(const ft_trace *trace, uint32_t e)
{
    const ft_action *action = ft_trace_action(trace, e);
    if (trace->kind[e] != FT_EVENT_ASSIGN || !(trace->flags[e] & FT_FLAG_ATOMIC)) return false;
    if (action->guard == FT_NO_TERM) return false;
    for (uint32_t i = 0; i < action->n_assignments; i++)
        if (!FT_SYM_IS_LOCAL(action->assignments[i].target)) return false;
    return true;
}

bool ft_trace_reaches_one_of(const ft_trace *trace, uint32_t e)
{
    if (trace->kind[e] != FT_EVENT_ASSIGN || !(trace->flags[e] & FT_FLAG_ATOMIC)) return false;
    const ft_action *action = ft_trace_action(trace, e);
    for (uint32_t i = 1; i < action->n_accesses; i++)
        if (action->accesses[i].variable != action->accesses[0].variable) return true;
    return false;
}

const char *ft_trace_thread_name(const ft_trace *trace, uint32_t thread)
{
    assert(thread < trace->threads.len);
    return trace->threads.names[thread];
}

const char *ft_trace_location_text(const ft_trace *trace, uint32_t loc)
{
    assert(loc < trace->n_locations);
    return loc == FT_NO_LOC ? NULL : trace->locations[loc].text;
}

static const ft_intern *object_table(const ft_trace *trace, ft_object_class object)
{
    switch (object) {
    case FT_OBJECT_VARIABLE:
        return &trace->shared;
    case FT_OBJECT_LOCK:
        return &trace->locks;
    case FT_OBJECT_SEMAPHORE:
        return &trace->semaphores;
    case FT_OBJECT_THREAD:
        return &trace->threads;
    case FT_OBJECT_EDGE:
        return &trace->edges;
    case FT_OBJECT_CONDITION:
        return &trace->conditions;
    case FT_OBJECT_BARRIER:
        return &trace->barriers;
    case FT_OBJECT_ONCE:
        return &trace->onces;
    case FT_OBJECT_BLOCK:
        return &trace->blocks;
    case FT_OBJECT_NONE:
    case FT_OBJECT_CLASSES:
        break;
    }
    return NULL;
}

const char *ft_trace_object_name(const ft_trace *trace, uint32_t e)
{
    assert(e < trace->n_events);
    const ft_intern *table = object_table(trace, ft_event_kind_object(trace->kind[e]));
    assert(!table || trace->object[e] < table->len);
    return table ? table->names[trace->object[e]] : NULL;
}

static bool resolve_name(void *context, const char *name, size_t length, ft_symbol *symbol,
                         ft_sort *sort)
{
    const ft_trace *trace = context;
    uint32_t id = ft_intern_find(&trace->shared, name, length);
    if (id != FT_NO_ID) {
        *symbol = FT_SYM_SHARED(id);
        *sort = trace->shared_info[id].sort;
        return true;
    }
    id = ft_intern_find(&trace->locals, name, length);
    if (id == FT_NO_ID) return false;
    *symbol = FT_SYM_LOCAL(id);
    *sort = trace->local_info[id].sort;
    return true;
}

static const char *symbol_name(void *context, ft_symbol symbol)
{
    const ft_trace *trace = context;
    uint32_t id = FT_SYM_INDEX(symbol);
    assert(id < (FT_SYM_IS_LOCAL(symbol) ? trace->locals.len : trace->shared.len));
    return FT_SYM_IS_LOCAL(symbol) ? trace->locals.names[id] : trace->shared.names[id];
}

ft_scope ft_trace_scope(const ft_trace *trace)
{
    return (ft_scope){.resolve = resolve_name, .name = symbol_name, .context = (void *)trace};
}

const ft_note *ft_trace_failure(const ft_trace *trace)
{
    for (uint32_t i = 0; i < trace->n_notes; i++)
        if (strncmp(trace->notes[i].code, FT_NOTE_FAILURE, strlen(FT_NOTE_FAILURE)) == 0)
            return &trace->notes[i];
    return NULL;
}

uint32_t ft_trace_failure_event(const ft_trace *trace)
{
    const ft_note *note = ft_trace_failure(trace);
    FT_REQUIRE(note && trace->n_events);
    return note->event < trace->n_events ? note->event : trace->n_events - 1;
}
