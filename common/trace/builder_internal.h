/* Inside of the builder: what builder.c, normalise.c and the binary reader share. Not for others.
 */
#ifndef FT_TRACE_BUILDER_INTERNAL_H
#define FT_TRACE_BUILDER_INTERNAL_H

#include "trace/trace.h"

enum { FT_VALUE_SORTS = 2 + 64 }; /* Bool, Int, BitVec 1 .. 64 */

struct ft_builder {
    ft_trace *trace;
    bool canonical;      /* events are normalised already: ft_builder_finish only checks that */
    ft_error failure;    /* first limit passed; reported by ft_builder_finish */
    uint32_t max_events; /* 2^32 - 2, less in tests */
    uint32_t counts[FT_EVENT_KINDS]; /* events so far, by kind */
    size_t event_cap, shared_cap, local_cap, lock_cap, semaphore_cap, location_cap, value_cap,
        action_cap, note_cap, barrier_cap, block_cap, update_cap, module_cap, site_cap,
        contexts_cap, inputs_cap, sourced_cap, asserting_cap;
    bool keep_inputs;
    uint32_t hook, context;       /* of the events that come next */
    bool aside;                   /* ft_builder_aside */
    ft_map benign;                /* variable -> 1: ft_builder_benign */
    ft_map benign_places;         /* location -> 1: ft_builder_benign_place */
    ft_map benign_calls;          /* context -> 1: ft_builder_benign_call */
    bool any_blocked;             /* FT_FLAG_BLOCKED */
    bool *stopped;                /* [threads] by an event with that flag; NULL: not asked yet */
    void (*flush)(void *context); /* NULL: the trace keeps all events (ft_builder_flush_to) */
    void *flush_context;
    uint32_t flushed;      /* events that the trace has no more */
    bool flowing;          /* it was flushed */
    bool says_canonical;   /* so does the head of its file; it may be cut short */
    bool needs_all;        /* ft_builder_need_all */
    ft_map contexts;       /* parent << 32 | location to its number */
    uint32_t *value_slots; /* hash slots: value id, 0 when free; not of small integers */
    size_t value_slot_cap;
    uint32_t n_large;                 /* values in them */
    uint32_t **small_values;          /* the ids of small integers (builder_values.c) */
    uint32_t n_chunks, end_of_chunks; /* of them: that are there; behind the last */
    uint32_t *location_slots;         /* hash slots: location id, 0 when free */
    size_t location_slot_cap;
    ft_intern texts; /* of functions, paths; the arena's copy is in text_of */
    const char **text_of;
    size_t text_cap;
    ft_map actions;        /* hash of an action's content to its index */
    ft_map updates;        /* hash of an update's content to its index */
    uint64_t *access_seen; /* per shared variable: last action that read or wrote it */
    size_t access_cap;
    uint64_t access_serial;
    ft_strbuf scratch;
};

/* Interns the body of a symbolic event; returns its index in trace->actions. */
uint32_t ft_builder_intern_action(ft_builder *builder, ft_term guard,
                                  const ft_assignment *assignments, uint32_t n_assignments);

/* Interns what an rmw event does; returns its index in trace->updates. */
uint32_t ft_builder_intern_update(ft_builder *builder, uint32_t variable, uint32_t read,
                                  uint32_t written);

/* Appends an event as it stands, `data` as in ft_trace and any flags. Returns its index. */
uint32_t ft_builder_raw_event(ft_builder *builder, ft_event_kind kind, uint32_t thread,
                              uint32_t object, uint32_t loc, uint32_t data, uint8_t flags);

/* Says of an event that is there which step made it. */
void ft_builder_set_hook(ft_builder *builder, uint32_t e, uint32_t hook);

/* Says of an event that is there in which context it was done. */
void ft_builder_set_context(ft_builder *builder, uint32_t e, uint32_t context);

/* FT_FLAG_SYNTHETIC for an event that is no candidate, else 0. object: an access's variable, of a
 * symbolic event its action. */
uint8_t ft_builder_aside_flag(const ft_builder *builder, ft_event_kind kind, uint32_t object,
                              uint32_t loc);

/* True for UTF-8 without control characters: what the builder takes as it is. Anything else it
 * escapes. */
bool ft_builder_text_is_clean(const char *text, size_t length);

/* Like ft_builder_note with a given count and a text that is no format. */
void ft_builder_add_note(ft_builder *builder, const char *code, uint32_t event, uint32_t count,
                         const char *text);

void ft_builder_release_values(ft_builder *builder);

/* Gives back what the arrays of the events have too much. */
void ft_builder_shrink(ft_builder *builder);

/* Nothing may come after an event that its thread did not come past: FT_INPUT. */
ft_status ft_builder_check_blocked(ft_builder *builder, ft_error *err) FT_MUST_CHECK;

/* From now on, before the first event, the trace keeps `block` events at most: when these are
 * there, `flush` is called and may take the arrays of the events, putting others of that size in
 * their place; then they are forgotten. Once that was done the builder cannot be finished. */
void ft_builder_flush_to(ft_builder *builder, void (*flush)(void *context), void *context,
                         uint32_t block);
/* Does so now, with fewer. */
void ft_builder_flush(ft_builder *builder);
/* What was read goes beyond what can be done with events that are gone: who takes them away has to
 * begin again and leave them. */
void ft_builder_need_all(ft_builder *builder);
/* The note of normalise_waits.c, for so many events. */
void ft_builder_note_waits(ft_builder *builder, uint32_t first, uint32_t count);
/* Notes may speak of an event that the reader was about to add, and that never came. */
void ft_builder_clamp_notes(ft_builder *builder);

/* Normalises the events (trace.h, ft_builder_finish). FT_LIMIT when implied releases do not fit. */
ft_status ft_builder_normalise(ft_builder *builder, ft_error *err) FT_MUST_CHECK;

/* Normalising, condition waits (normalise_waits.c): cond-wait, release, then cond-wake and acquire
 * of that lock in either order, without another event of the thread between: the release and the
 * acquire get FT_FLAG_CONDITION. */
void ft_builder_mark_waits(ft_builder *builder);

/* Fills trace->path and paths once the events are normalised. FT_INPUT, FT_LIMIT: branch.h. */
ft_status ft_builder_find_paths(ft_builder *builder, ft_error *err) FT_MUST_CHECK;

/* FT_INPUT when the nested and stranger flags are not those that normalising gives, or a release is
 * missing: a trace that says it is canonical and is not. */
ft_status ft_builder_check_canonical(ft_builder *builder, ft_error *err) FT_MUST_CHECK;

#endif
