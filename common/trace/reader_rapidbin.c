/* RAPID's binary form ("RapidBin"): a header of 18 bytes (threads 2, locks 4, variables 4, events
 * 8), then 8 bytes an event. It has no magic number.
 * All numbers are big endian, and the top bit of each is a sign that is never set. From the top an
 * event is 15 bits of location, 34 of object (a lock, variable or thread, by the operation), 4 of
 * operation and 10 of thread. Numbers become names as RAPID's converter to STD makes them: T1, V7,
 * L3. docs/trace-format.md. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "trace/builder_internal.h"
#include "trace/reader.h"
#include "trace/std_events.h"

enum {
    HEADER = 18,
    EVENT = 8,
    THREAD_BITS = 10,
    OP_BITS = 4,
    OBJECT_BITS = 34,
    EVENTS_AT = 10 /* in the header */
};

typedef struct rapidbin {
    ft_builder *builder; /* not owned */
    ft_std *events;
    unsigned char part[HEADER]; /* the header or an event that has not come whole */
    size_t n_part;
    uint64_t offset;      /* of `part` in the input */
    uint64_t total, done; /* events; total 0: the header has not come yet */
} rapidbin;

typedef struct fields {
    uint32_t thread, op, location;
    uint64_t object;
} fields;

static uint64_t big_endian(const unsigned char *bytes, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++) value = value << 8 | bytes[i];
    return value;
}

static fields split(uint64_t event)
{
    fields f;
    f.thread = event & ((1u << THREAD_BITS) - 1);
    f.op = event >> THREAD_BITS & ((1u << OP_BITS) - 1);
    f.object = event >> (THREAD_BITS + OP_BITS) & ((UINT64_C(1) << OBJECT_BITS) - 1);
    f.location = (uint32_t)(event >> (THREAD_BITS + OP_BITS + OBJECT_BITS));
    return f;
}

/* ---- detection ------------------------------------------------------------------------------- */

static bool is_event(uint64_t event)
{
    return event >> 63 == 0 && split(event).op < FT_STD_OPS;
}

static bool is_header(const unsigned char *bytes)
{
    uint64_t threads = big_endian(bytes, 2), events = big_endian(bytes + EVENTS_AT, 8);
    return threads && threads <= 1u << THREAD_BITS && !(bytes[2] & 0x80) && !(bytes[6] & 0x80) &&
           events && events < FT_NO_EVENT;
}

/* Without a magic number: a possible header, and every event in the head is possible too. */
static bool rapidbin_detect(const char *head, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)head;
    if (length < HEADER + EVENT || !is_header(bytes)) return false;
    uint64_t events = big_endian(bytes + EVENTS_AT, 8);
    if (length > HEADER && (length - HEADER) / EVENT > events) return false;
    for (size_t at = HEADER; at + EVENT <= length; at += EVENT)
        if (!is_event(big_endian(bytes + at, EVENT))) return false;
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

static size_t name_text(char *text, size_t room, char prefix, uint64_t number)
{
    int length = snprintf(text, room, "%c%" PRIu64, prefix, number);
    assert(length > 0 && (size_t)length < room);
    return (size_t)length;
}

/* The id that ft_std_add wants. */
static uint32_t object_id(rapidbin *r, const ft_std_op *op, uint64_t number)
{
    char text[24];
    size_t length;
    if (op->of == FT_OBJECT_THREAD) {
        length = name_text(text, sizeof text, 'T', number);
        return ft_std_thread(r->events, text, length);
    }
    if (op->of == FT_OBJECT_VARIABLE) {
        length = name_text(text, sizeof text, 'V', number);
        return ft_builder_shared(r->builder, text, length, FT_INT_SORT);
    }
    if (op->of == FT_OBJECT_LOCK) {
        length = name_text(text, sizeof text, 'L', number);
        return ft_builder_lock(r->builder, text, length, FT_LOCK_RECURSIVE);
    }
    return 0;
}

static ft_status add_event(rapidbin *r, uint64_t event, ft_error *err)
{
    char text[24];
    fields f = split(event);
    if (!is_event(event))
        return ft_error_offset(err, FT_INPUT, r->offset,
                               "event %" PRIu64
                               " of this RapidBin trace has operation %u: 0 to %d are defined; "
                               "write the trace again, or convert it to RAPID STD",
                               r->done + 1, f.op, FT_STD_OPS - 1);
    const ft_std_op *op = &FT_STD_OP[f.op];
    uint32_t thread = ft_std_thread(r->events, text, name_text(text, sizeof text, 'T', f.thread));
    uint32_t object = object_id(r, op, f.object);
    if (op->of == FT_OBJECT_THREAD && object == FT_STD_THREADS)
        return ft_error_offset(err, FT_LIMIT, r->offset, "the trace has more than %u threads",
                               FT_STD_THREADS);
    if (op->of == FT_OBJECT_THREAD && object == thread)
        return ft_error_offset(err, FT_INPUT, r->offset,
                               "event %" PRIu64
                               " of this RapidBin trace forks or joins its own thread T%u: name "
                               "the other thread",
                               r->done + 1, f.thread);
    size_t length = (size_t)snprintf(text, sizeof text, "%u", f.location);
    ft_std_add(r->events, op, thread, object,
               ft_builder_location(r->builder, text, length, NULL, 0));
    r->done++;
    return FT_OK;
}

static ft_status too_long(const rapidbin *r, ft_error *err)
{
    return ft_error_offset(err, FT_INPUT, r->offset,
                           "the RapidBin trace goes on behind the %" PRIu64
                           " events of its header: correct the header, or cut the file there",
                           r->total);
}

static ft_status take_part(rapidbin *r, ft_error *err)
{
    if (!r->total) {
        r->total = big_endian(r->part + EVENTS_AT, 8);
        if (is_header(r->part)) return FT_OK;
        return ft_error_offset(err, FT_INPUT, 0,
                               "this is not the header of a RapidBin trace: the number of threads "
                               "is 1 to 1024, that of events at least 1");
    }
    if (r->done == r->total) return too_long(r, err);
    return add_event(r, big_endian(r->part, EVENT), err);
}

static ft_status rapidbin_chunk(void *state, const void *data, size_t length, ft_error *err)
{
    rapidbin *r = state;
    const unsigned char *bytes = data;
    while (length) {
        size_t whole = r->total ? EVENT : HEADER;
        assert(r->n_part < whole);
        size_t take = whole - r->n_part < length ? whole - r->n_part : length;
        memcpy(r->part + r->n_part, bytes, take);
        r->n_part += take;
        bytes += take;
        length -= take;
        if (r->n_part < whole) return FT_OK;
        ft_status status = take_part(r, err);
        if (status != FT_OK) return status;
        r->offset += whole;
        r->n_part = 0;
    }
    return FT_OK;
}

/* A trace that is cut short is the run up to there. */
static ft_status rapidbin_end(void *state, ft_error *err)
{
    rapidbin *r = state;
    if (r->n_part && r->done == r->total) return too_long(r, err);
    if (r->done < r->total)
        ft_builder_note(r->builder, "cut-short", FT_NO_EVENT,
                        "the RapidBin trace ends after %" PRIu64 " of the %" PRIu64
                        " events that its header announces",
                        r->done, r->total);
    ft_std_end(r->events);
    return FT_OK;
}

/* ---- the format ------------------------------------------------------------------------------ */

static void *rapidbin_open(ft_builder *builder)
{
    rapidbin *r = ft_calloc(1, sizeof *r);
    r->builder = builder;
    r->events = ft_std_new(builder);
    return r;
}

static void rapidbin_close(void *state)
{
    rapidbin *r = state;
    if (!r) return;
    ft_std_free(r->events);
    free(r);
}

const ft_format_reader ft_rapidbin_reader = {
    .format = FT_FORMAT_STD, /* the same events, written otherwise */
    .raw = true,
    .detect = rapidbin_detect,
    .open = rapidbin_open,
    .chunk = rapidbin_chunk,
    .end = rapidbin_end,
    .close = rapidbin_close,
};
