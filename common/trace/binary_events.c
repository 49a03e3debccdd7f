#include "base/contract.h"
#include "trace/binary_internal.h"

enum { KINDS, FLAGS, THREADS, OBJECTS, PLACES, DATA };

typedef struct block {
    ft_binary_cursor column[FT_BINARY_COLUMNS];
    uint64_t thread, place, object[FT_OBJECT_CLASSES], data[FT_BINARY_DATA]; /* last ones */
    bool bad; /* a column ends too early */
} block;

/* An id written as the difference from the last one. */
static uint64_t next_id(block *b, int column, uint64_t *last)
{
    uint64_t delta = (uint64_t)ft_unzigzag(ft_binary_cursor_varint(&b->column[column], &b->bad));
    return *last += delta;
}

static unsigned next_byte(block *b, int column)
{
    ft_binary_cursor *c = &b->column[column];
    if (c->at < c->end) return *c->at++;
    b->bad = true;
    return 0;
}

/* The flags that make sense on an event of a kind. */
static unsigned allowed_flags(ft_event_kind kind, bool branches)
{
    unsigned allowed = FT_FLAG_ATOMIC | FT_FLAG_CONDITION;
    if (kind == FT_EVENT_ASSERT || kind == FT_EVENT_COND_WAKE) allowed |= FT_FLAG_FAILED;
    if (kind == FT_EVENT_ACQUIRE) allowed |= FT_FLAG_NESTED | FT_FLAG_STRANGER | FT_FLAG_TRY;
    if (kind == FT_EVENT_ACQUIRE_SHARED) allowed |= FT_FLAG_NESTED | FT_FLAG_TRY;
    bool tries = kind == FT_EVENT_WAIT || kind == FT_EVENT_COND_WAKE || kind == FT_EVENT_JOIN ||
                 kind == FT_EVENT_RMW;
    if (tries) allowed |= FT_FLAG_TRY;
    if (kind == FT_EVENT_RELEASE) allowed |= FT_FLAG_NESTED | FT_FLAG_STRANGER | FT_FLAG_SYNTHETIC;
    if (ft_event_kind_may_stand_aside(kind) || kind == FT_EVENT_ALLOC) allowed |= FT_FLAG_SYNTHETIC;
    if (branches) allowed |= FT_FLAG_PASSED;
    return allowed;
}

static bool object_exists(const ft_trace *trace, ft_object_class object, uint64_t id)
{
    switch (object) {
    case FT_OBJECT_VARIABLE:
        return id < trace->shared.len;
    case FT_OBJECT_LOCK:
        return id < trace->locks.len;
    case FT_OBJECT_SEMAPHORE:
        return id < trace->semaphores.len;
    case FT_OBJECT_THREAD:
        return id < trace->threads.len;
    case FT_OBJECT_EDGE:
        return id < trace->edges.len;
    case FT_OBJECT_CONDITION:
        return id < trace->conditions.len;
    case FT_OBJECT_BARRIER:
        return id < trace->barriers.len;
    case FT_OBJECT_ONCE:
        return id < trace->onces.len;
    case FT_OBJECT_BLOCK:
        return id < trace->blocks.len;
    case FT_OBJECT_NONE:
    case FT_OBJECT_CLASSES:
        break;
    }
    return id == 0;
}

/* The kind's requirements beyond its object and flags. */
static bool kind_fits(const ft_trace *trace, ft_event_kind kind, uint64_t object, unsigned flags)
{
    bool shared = kind == FT_EVENT_ACQUIRE_SHARED || kind == FT_EVENT_TRY_FAILED_SHARED;
    assert(!shared || object < trace->locks.len); /* object_exists was asked first */
    if (shared && !ft_lock_kind_has_readers((ft_lock_kind)trace->lock_kind[object])) return false;
    return kind != FT_EVENT_RMW || flags & FT_FLAG_ATOMIC;
}

static bool update_fits(const ft_trace *trace, uint64_t variable, uint64_t update)
{
    return update < trace->n_updates && trace->updates[update].accesses[0].variable == variable;
}

static bool action_fits(const ft_binary_state *r, ft_event_kind kind, uint64_t number)
{
    if (number >= r->actions.len) return false;
    assert(r->actions.data[number] < r->trace->n_actions);
    const ft_action *action = &r->trace->actions[r->actions.data[number]];
    return kind == FT_EVENT_ASSIGN || (action->guard != FT_NO_TERM && !action->n_assignments);
}

static void event_item(ft_binary_state *r, block *b)
{
    const ft_trace *trace = r->trace;
    unsigned code = next_byte(b, KINDS);
    unsigned flags = code & FT_BINARY_HAS_FLAGS ? next_byte(b, FLAGS) : 0;
    code &= ~(unsigned)FT_BINARY_HAS_FLAGS;
    if (code >= r->n_kinds) {
        FT_BINARY_FAIL(r, FT_INPUT, "event kind %u is not declared", code);
        return;
    }
    if (r->kinds[code] == FT_BINARY_BAD_CODE) {
        FT_BINARY_FAIL(r, FT_UNSUPPORTED, "an event is of a kind that this version does not know");
        return;
    }
    ft_event_kind kind = (ft_event_kind)r->kinds[code];
    ft_object_class class = ft_event_kind_object(kind);
    bool symbolic = kind == FT_EVENT_ASSIGN || kind == FT_EVENT_ASSUME || kind == FT_EVENT_ASSERT ||
                    kind == FT_EVENT_IF;
    bool access = class == FT_OBJECT_VARIABLE, update = kind == FT_EVENT_RMW;
    int column = symbolic ? FT_BINARY_ACTION : update ? FT_BINARY_UPDATE : FT_BINARY_VALUE;
    uint64_t thread = next_id(b, THREADS, &b->thread);
    uint64_t object = class == FT_OBJECT_NONE ? 0 : next_id(b, OBJECTS, &b->object[class]);
    uint64_t place = next_id(b, PLACES, &b->place);
    uint64_t data = symbolic || access ? next_id(b, DATA, &b->data[column]) : 0;
    bool valid = !b->bad && thread < trace->threads.len && object_exists(trace, class, object) &&
                 place < trace->n_locations &&
                 !(flags & ~allowed_flags(kind, r->builder->counts[FT_EVENT_IF])) &&
                 kind_fits(trace, kind, object, flags) &&
                 (!access || update || ft_binary_value_fits(trace, object, data)) &&
                 (!update || update_fits(trace, object, data)) &&
                 (!symbolic || action_fits(r, kind, data));
    if (!valid) {
        FT_BINARY_FAIL(r, FT_INPUT,
                       "event %u is malformed: it names something that is not declared",
                       ft_builder_count(r->builder) + 1);
        return;
    }
    if (symbolic) data = r->actions.data[data];
    ft_builder_raw_event(r->builder, kind, (uint32_t)thread, (uint32_t)object, (uint32_t)place,
                         (uint32_t)data, (uint8_t)flags);
}

/* A block stays with what follows it and is of its events. */
static void make_room(ft_binary_state *r, uint32_t count)
{
    ft_builder *b = r->builder;
    if (b->flush && b->trace->n_events && b->trace->n_events + (size_t)count > b->event_cap)
        ft_builder_flush(b);
}

void ft_binary_events_frame(ft_binary_state *r)
{
    block b = {.bad = false};
    uint64_t first = ft_binary_varint(r);
    uint32_t count = ft_binary_below(r, FT_BINARY_BLOCK + 1, "block size");
    if (first != ft_builder_count(r->builder))
        FT_BINARY_FAIL(r, FT_INPUT, "a block of events is missing");
    make_room(r, count);
    for (int i = 0; i < FT_BINARY_COLUMNS; i++) {
        uint64_t length = ft_binary_varint(r);
        const unsigned char *bytes = (const unsigned char *)ft_binary_bytes(r, length);
        if (r->status != FT_OK) return;
        b.column[i] = (ft_binary_cursor){.at = bytes, .end = bytes + length};
    }
    for (uint32_t i = 0; i < count && r->status == FT_OK; i++) event_item(r, &b);
    for (int i = 0; i < FT_BINARY_COLUMNS; i++)
        if (b.column[i].at != b.column[i].end)
            FT_BINARY_FAIL(r, FT_INPUT, "a block holds too much");
    if (r->builder->failure.code != FT_OK)
        FT_BINARY_FAIL(r, r->builder->failure.code, "%s", r->builder->failure.message);
    r->n_blocks += count > 0;
}

/* A number below `limit` for each of the events before. */
static void get_numbers(ft_binary_state *r, const char *what, uint64_t limit,
                        void (*set)(ft_builder *, uint32_t, uint32_t))
{
    uint64_t first = ft_binary_varint(r), count = ft_binary_varint(r);
    uint32_t n_events = ft_builder_count(r->builder), gone = r->builder->flushed;
    if (r->status == FT_OK && (first > n_events || count > n_events - first))
        FT_BINARY_FAIL(r, FT_INPUT, "%ss of events that are not before them", what);
    if (r->status == FT_OK && first < gone) {
        ft_builder_need_all(r->builder);
        r->c.at = r->c.end;
        return;
    }
    r->numbers.len = 0;
    for (uint32_t t = 0; t < r->trace->threads.len; t++) ft_vec_push(&r->numbers, 0);
    for (uint64_t i = 0; i < count && r->status == FT_OK; i++) {
        uint32_t e = (uint32_t)(first + i) - gone;
        assert(e < r->trace->n_events);
        uint32_t *number = &r->numbers.data[r->trace->thread[e]];
        uint64_t next = *number + (uint64_t)ft_unzigzag(ft_binary_varint(r));
        if (r->status == FT_OK && next >= limit)
            FT_BINARY_FAIL(r, FT_INPUT, "a %s's number is out of range", what);
        *number = (uint32_t)next;
        if (r->status == FT_OK) set(r->builder, e, *number);
    }
}

void ft_binary_hooks_frame(ft_binary_state *r)
{
    get_numbers(r, "hook", UINT32_MAX + 1ull, ft_builder_set_hook);
}

void ft_binary_event_contexts_frame(ft_binary_state *r)
{
    uint32_t count = r->trace->n_contexts;
    get_numbers(r, "context", count ? count : 1, ft_builder_set_context);
}
