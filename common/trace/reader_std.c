/* RAPID STD: `thread|op(object)|location`, one event a line (docs/trace-format.md). */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "trace/builder_internal.h"
#include "trace/json_line.h"
#include "trace/reader.h"
#include "trace/std_events.h"

typedef struct std {
    ft_builder *builder; /* not owned */
    ft_std *events;
} std;

#define EXAMPLE "thread|op(object)|location, for example T1|w(x)|12"

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct line {
    const char *text;
    size_t length;
    uint64_t number;
} line;

typedef struct slice {
    size_t begin, end;
} slice;

static ft_status fail(const line *l, size_t at, ft_error *err, const char *message)
{
    return ft_error_at(err, FT_INPUT, l->number, at + 1, "%s", message);
}

static size_t find_byte(const line *l, size_t from, char byte)
{
    const char *found = memchr(l->text + from, byte, l->length - from);
    return found ? (size_t)(found - l->text) : l->length;
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static size_t behind_blanks(const line *l, size_t at)
{
    while (at < l->length && is_blank(l->text[at])) at++;
    return at;
}

/* Without the blanks around it. */
static slice trimmed(const line *l, slice part)
{
    while (part.begin < part.end && is_blank(l->text[part.begin])) part.begin++;
    while (part.begin < part.end && is_blank(l->text[part.end - 1])) part.end--;
    return part;
}

/* The object reaches to the last ')' of its field; it may hold anything else, '|' included, so the
 * field ends at the first ")|", blanks between them aside, or with the line. */
static ft_status split_object(const line *l, size_t open, slice *object, size_t *field_end,
                              ft_error *err)
{
    object->begin = open + 1;
    for (size_t at = open + 1; at < l->length; at++) {
        if (l->text[at] != ')') continue;
        size_t end = behind_blanks(l, at + 1);
        if (end < l->length && l->text[end] != '|') continue;
        object->end = at;
        *field_end = end;
        return FT_OK;
    }
    return fail(l, l->length, err,
                "the object's ')' is missing, or something stands between it and the next '|': "
                "write " EXAMPLE);
}

static ft_status split_op(const line *l, size_t begin, slice *op, slice *object, size_t *field_end,
                          ft_error *err)
{
    size_t open = find_byte(l, begin, '('), bar = find_byte(l, begin, '|');
    if (open < bar) {
        *op = trimmed(l, (slice){begin, open});
        return split_object(l, open, object, field_end, err);
    }
    *op = trimmed(l, (slice){begin, bar});
    *field_end = bar;
    *object = (slice){op->end, op->end};
    return FT_OK;
}

static ft_status unknown_op(const line *l, slice op, ft_error *err)
{
    enum { SHOWN = 32 }; /* bytes; less where that would cut a character */
    size_t length = op.end - op.begin, shown = length < SHOWN ? length : (size_t)SHOWN;
    while (shown && shown < length && ((unsigned char)l->text[op.begin + shown] & 0xc0) == 0x80)
        shown--;
    if (!length)
        return fail(l, op.begin, err, "the operation after '|' is missing: write " EXAMPLE);
    return ft_error_at(err, FT_INPUT, l->number, op.begin + 1,
                       "unknown operation '%.*s': use " FT_STD_OP_NAMES, (int)shown,
                       l->text + op.begin);
}

static ft_status find_op(const line *l, slice op, const ft_std_op **found, ft_error *err)
{
    const char *name = l->text + op.begin;
    size_t length = op.end - op.begin;
    for (size_t i = 0; i < FT_STD_OPS; i++) {
        if (FT_STD_OP[i].length != length || memcmp(FT_STD_OP[i].name, name, length) != 0) continue;
        *found = &FT_STD_OP[i];
        return FT_OK;
    }
    return unknown_op(l, op, err);
}

/* The third field; what follows it (RAPID sometimes writes a fourth) is ignored. */
static uint32_t location(std *s, const line *l, size_t field_end)
{
    if (field_end == l->length) return FT_NO_LOC;
    size_t end = find_byte(l, field_end + 1, '|');
    assert(l->text[field_end] == '|' && field_end < end);
    slice text = trimmed(l, (slice){field_end + 1, end});
    if (text.begin == text.end) return FT_NO_LOC;
    return ft_builder_location(s->builder, l->text + text.begin, text.end - text.begin, NULL, 0);
}

static ft_status name_of(std *s, const line *l, slice at, uint32_t *name, ft_error *err)
{
    *name = ft_std_thread(s->events, l->text + at.begin, at.end - at.begin);
    if (*name < FT_STD_THREADS) return FT_OK;
    return ft_error_at(err, FT_LIMIT, l->number, at.begin + 1, "the trace has more than %u threads",
                       FT_STD_THREADS);
}

static uint32_t declare_object(std *s, const line *l, const ft_std_op *op, slice object)
{
    const char *text = l->text + object.begin;
    size_t length = object.end - object.begin;
    if (op->of == FT_OBJECT_VARIABLE)
        return ft_builder_shared(s->builder, text, length, FT_INT_SORT);
    if (op->of == FT_OBJECT_LOCK)
        return ft_builder_lock(s->builder, text, length, FT_LOCK_RECURSIVE);
    return 0;
}

static ft_status add_event(std *s, const line *l, uint32_t thread, const ft_std_op *op,
                           slice object, size_t field_end, ft_error *err)
{
    uint32_t id;
    if (op->has_object && object.begin == object.end)
        return fail(l, object.begin, err,
                    "the operation has no object in parentheses: write " EXAMPLE);
    if (op->of == FT_OBJECT_THREAD) {
        ft_status status = name_of(s, l, object, &id, err);
        if (status != FT_OK) return status;
        if (id == thread)
            return fail(l, object.begin, err,
                        "a thread cannot fork or join itself: name the other thread");
    } else {
        id = declare_object(s, l, op, object);
    }
    if (!ft_std_has_room(s->events))
        return ft_error_at(err, FT_LIMIT, l->number, 1, "the trace has more than %u events",
                           FT_NO_EVENT);
    ft_std_add(s->events, op, thread, id, location(s, l, field_end));
    return FT_OK;
}

static ft_status no_bar(const line *l, ft_error *err)
{
    return fail(l, l->length, err,
                find_byte(l, 0, ',') < l->length
                    ? "this line has commas and no '|', as a log has, but the trace began as RAPID "
                      "STD: write " EXAMPLE
                    : "this line has no '|': write " EXAMPLE "; a comment begins with # or //");
}

static ft_status std_line(void *state, const char *text, size_t length, uint64_t number,
                          ft_error *err)
{
    std *s = state;
    FT_REQUIRE(number);
    if (length && text[length - 1] == '\r') length--;
    if (ft_json_blank(text, length) || ft_line_is_comment(text, length)) return FT_OK;
    ft_status status = ft_line_check(text, length, number, err);
    if (status != FT_OK) return status;
    line l = {text, length, number};
    size_t bar = find_byte(&l, 0, '|'), field_end = 0;
    slice thread = trimmed(&l, (slice){0, bar}), op = {0, 0}, object = {0, 0};
    uint32_t name = 0;
    const ft_std_op *found = NULL;
    if (bar == length) return no_bar(&l, err);
    if (thread.begin == thread.end)
        return fail(&l, 0, err, "the thread before the first '|' is missing: write " EXAMPLE);
    status = split_op(&l, bar + 1, &op, &object, &field_end, err);
    if (status == FT_OK) status = find_op(&l, op, &found, err);
    if (status == FT_OK) status = name_of(s, &l, thread, &name, err);
    if (status == FT_OK) status = add_event(s, &l, name, found, object, field_end, err);
    return status;
}

static ft_status std_end(void *state, ft_error *err)
{
    std *s = state;
    (void)err;
    ft_std_end(s->events);
    return FT_OK;
}

/* ---- the format ------------------------------------------------------------------------------ */

/* Between the formats without a header the first separator decides; what is wrong with the line is
 * then reported as an error of that format. */
static bool std_detect(const char *head, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        if (head[at] == '|') return true;
        if (head[at] == ',' || head[at] == '{' || head[at] == '[' || head[at] == '\0') return false;
    }
    return false;
}

static void *std_open(ft_builder *builder)
{
    std *s = ft_calloc(1, sizeof *s);
    *s = (std){builder, ft_std_new(builder)};
    return s;
}

static void std_close(void *state)
{
    std *s = state;
    if (!s) return;
    ft_std_free(s->events);
    free(s);
}

const ft_format_reader ft_std_reader = {
    .format = FT_FORMAT_STD,
    .detect = std_detect,
    .open = std_open,
    .line = std_line,
    .end = std_end,
    .close = std_close,
};
