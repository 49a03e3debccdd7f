#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "trace/binary_out.h"

enum {
    LONGEST = 5,
    SLACK = 7,
    CHUNK = 64,
    PART = 8,
    NO_OBJECT = FT_OBJECT_NONE,
    NO_DATA = FT_BINARY_DATA
};

/* As ft_put_varint does, for 35 bits, without a branch that no processor foresees; up to SLACK
 * bytes behind it are written too. */
static inline unsigned char *put_delta(unsigned char *at, uint32_t value, uint32_t before)
{
    uint64_t code = ft_zigzag((int64_t)value - (int64_t)before);
    unsigned more = (63 - (unsigned)__builtin_clzll(code | 1)) / 7;
    uint64_t spread = (code & 0x7F) | (code & 0x7F << 7) << 1 | (code & 0x7F << 14) << 2 |
                      (code & 0x7F << 21) << 3 | (code & UINT64_C(0x7F) << 28) << 4;
    spread |= UINT64_C(0x80808080) & ((UINT64_C(1) << 8 * more) - 1);
    spread = htole64(spread);
    memcpy(at, &spread, sizeof spread);
    return at + more + 1;
}

static inline uint32_t small_delta(uint32_t value, uint32_t before)
{
    uint32_t delta = value - before;
    return delta << 1 ^ (uint32_t)((int32_t)delta >> 31);
}

/* Most differences take one byte: so many of nothing else are made in loops that compilers make
 * vectors of. False: it is something else, and nothing was put. */
static inline bool put_small(const uint32_t *values, uint32_t n, uint32_t before, unsigned char *at)
{
    uint32_t seen = values[0] | before, coded[CHUNK];
    coded[0] = small_delta(values[0], before);
    for (uint32_t k = 1; k < n; k++) {
        coded[k] = small_delta(values[k], values[k - 1]);
        seen |= values[k];
    }
    seen = seen >> 31 << 7;
    for (uint32_t k = 0; k < n; k++) seen |= coded[k];
    for (uint32_t k = 0; k < n; k++) at[k] = (unsigned char)coded[k];
    return seen < 128;
}

static unsigned char *put_each(unsigned char *at, const uint32_t *values, uint32_t n, uint32_t last)
{
    for (uint32_t i = 0; i < n; i++) {
        at = put_delta(at, values[i], last);
        last = values[i];
    }
    return at;
}

/* Less than a chunk: what a thread does in a critical section. */
static unsigned char *put_few(unsigned char *at, const uint32_t *values, uint32_t n, uint32_t last)
{
    uint32_t i = 0;
    for (; n - i >= PART && put_small(values + i, PART, last, at); i += PART) {
        at += PART;
        last = values[i + PART - 1];
    }
    return put_each(at, values + i, n - i, last);
}

/* All of them, one after the other. */
static unsigned char *put_all(unsigned char *at, const uint32_t *values, uint32_t n, uint32_t last)
{
    uint32_t i = 0;
    for (; n - i >= CHUNK; i += CHUNK) {
        if (put_small(values + i, CHUNK, last, at))
            at += CHUNK;
        else
            at = put_each(at, values + i, CHUNK, last);
        last = values[i + CHUNK - 1];
    }
    return put_few(at, values + i, n - i, last);
}

/* ---- the six columns ------------------------------------------------------------------------- */

static bool has_flags(const ft_binary_rows *r)
{
    uint8_t seen = 0;
    for (uint32_t i = 0; i < r->n; i++) seen |= r->flags[i];
    return seen;
}

static unsigned char *put_kinds(const ft_binary_rows *r, unsigned char *at)
{
    if (has_flags(r))
        for (uint32_t i = 0; i < r->n; i++)
            at[i] = (unsigned char)(r->kind[i] | (r->flags[i] ? FT_BINARY_HAS_FLAGS : 0));
    else
        memcpy(at, r->kind, r->n);
    return at + r->n;
}

static unsigned char *put_flags(const ft_binary_rows *r, unsigned char *at)
{
    if (!has_flags(r)) return at;
    for (uint32_t i = 0; i < r->n; i++) {
        *at = r->flags[i];
        at += r->flags[i] != 0;
    }
    return at;
}

/* One thread goes on for many events. */
static unsigned char *put_threads(const ft_binary_rows *r, unsigned char *at)
{
    uint32_t last = 0;
    for (uint32_t i = 0, n; i < r->n; i += n) {
        at = put_delta(at, r->thread[i], last);
        last = r->thread[i];
        for (n = 1; i + n < r->n && r->thread[i + n] == last;) n++;
        memset(at, 0, n - 1);
        at += n - 1;
    }
    return at;
}

/* How many events from the first on are plain accesses. */
static uint32_t accesses(const uint8_t *kinds, uint32_t n)
{
    uint32_t i = 0;
    for (; i + CHUNK <= n; i += CHUNK) {
        uint8_t seen = 0;
        for (uint32_t k = 0; k < CHUNK; k++) seen |= kinds[i + k];
        if (seen > FT_EVENT_WRITE) break;
    }
    while (i < n && kinds[i] <= FT_EVENT_WRITE) i++;
    return i;
}

_Static_assert(FT_EVENT_READ == 0 && FT_EVENT_WRITE == 1, "plain accesses are kinds up to WRITE");

static unsigned char *put_objects(const ft_binary_rows *r, unsigned char *at)
{
    uint32_t last[FT_OBJECT_CLASSES] = {0};
    for (uint32_t i = 0, n; i < r->n; i++) {
        if ((n = accesses(r->kind + i, r->n - i))) {
            at = put_all(at, r->object + i, n, last[FT_OBJECT_VARIABLE]);
            i += n;
            last[FT_OBJECT_VARIABLE] = r->object[i - 1];
            if (i == r->n) break;
        }
        ft_object_class class = ft_event_kind_object(r->kind[i]);
        if (class == FT_OBJECT_NONE) continue;
        at = put_delta(at, r->object[i], last[class]);
        last[class] = r->object[i];
    }
    return at;
}

static unsigned char *put_places(const ft_binary_rows *r, unsigned char *at)
{
    return put_all(at, r->loc, r->n, 0);
}

static int data_class(ft_event_kind kind)
{
    if (kind == FT_EVENT_ASSIGN || kind == FT_EVENT_ASSUME || kind == FT_EVENT_ASSERT ||
        kind == FT_EVENT_IF)
        return FT_BINARY_ACTION;
    if (kind == FT_EVENT_RMW) return FT_BINARY_UPDATE;
    return ft_event_kind_object(kind) == FT_OBJECT_VARIABLE ? FT_BINARY_VALUE : NO_DATA;
}

static unsigned char *put_data(const ft_binary_rows *r, unsigned char *at)
{
    uint32_t last[FT_BINARY_DATA] = {0};
    for (uint32_t i = 0, n; i < r->n; i++) {
        if ((n = accesses(r->kind + i, r->n - i))) {
            at = put_all(at, r->data + i, n, last[FT_BINARY_VALUE]);
            i += n;
            last[FT_BINARY_VALUE] = r->data[i - 1];
            if (i == r->n) break;
        }
        int class = data_class(r->kind[i]);
        if (class == NO_DATA) continue;
        at = put_delta(at, r->data[i], last[class]);
        last[class] = r->data[i];
    }
    return at;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void put_number(ft_strbuf *raw, uint64_t number)
{
    unsigned char bytes[FT_BINARY_VARINT];
    ft_strbuf_add(raw, (const char *)bytes, (size_t)(ft_put_varint(bytes, number) - bytes));
}

static void end_frame(ft_binary_columns *c, ft_binary_frame type, ft_binary_out *out)
{
    assert(c->raw.len);
    ft_binary_out_frame(out, type, c->raw.text, c->raw.len);
    ft_strbuf_clear(&c->raw);
}

static void put_block(ft_binary_columns *c, const ft_binary_rows *rows, ft_binary_out *out)
{
    static unsigned char *(*const columns[])(const ft_binary_rows *, unsigned char *) = {
        put_kinds, put_flags, put_threads, put_objects, put_places, put_data};
    _Static_assert(sizeof columns / sizeof *columns == FT_BINARY_COLUMNS, "binary.h");
    assert(rows->n <= FT_BINARY_BLOCK && !c->raw.len);
    put_number(&c->raw, rows->first);
    put_number(&c->raw, rows->n);
    for (int i = 0; i < FT_BINARY_COLUMNS; i++) {
        size_t length = (size_t)(columns[i](rows, c->column) - c->column);
        assert(length <= (size_t)rows->n * LONGEST);
        put_number(&c->raw, length);
        ft_strbuf_add(&c->raw, (const char *)c->column, length);
    }
    end_frame(c, FT_BINARY_FRAME_EVENTS, out);
}

/* A number for each event, as the difference from that of its thread's last event. */
static void put_numbers(ft_binary_columns *c, const ft_binary_rows *rows, ft_binary_frame type,
                        const uint32_t *numbers, ft_binary_out *out)
{
    unsigned char *at = c->column;
    if (!numbers) return;
    memset(c->last, 0, c->n_threads * sizeof *c->last);
    for (uint32_t i = 0; i < rows->n;) {
        assert(rows->thread[i] < c->n_threads);
        uint32_t from = i, *last = &c->last[rows->thread[i]];
        while (i < rows->n && rows->thread[i] == rows->thread[from]) i++;
        at = put_all(at, numbers + from, i - from, *last);
        *last = numbers[i - 1];
    }
    put_number(&c->raw, rows->first);
    put_number(&c->raw, rows->n);
    ft_strbuf_add(&c->raw, (const char *)c->column, (size_t)(at - c->column));
    end_frame(c, type, out);
}

void ft_binary_columns_put(ft_binary_columns *c, const ft_binary_rows *rows, uint32_t n_threads,
                           ft_binary_out *out)
{
    FT_REQUIRE(rows->n <= FT_BINARY_BLOCK && out);
    if (!rows->n) return;
    if (!c->column) c->column = ft_alloc((size_t)FT_BINARY_BLOCK * LONGEST + SLACK);
    if (n_threads > c->n_threads) c->last = ft_realloc(c->last, n_threads, sizeof *c->last);
    if (n_threads > c->n_threads) c->n_threads = n_threads;
    put_block(c, rows, out);
    put_numbers(c, rows, FT_BINARY_FRAME_HOOKS, rows->hook, out);
    put_numbers(c, rows, FT_BINARY_FRAME_EVENT_CONTEXTS, rows->context, out);
}

void ft_binary_columns_release(ft_binary_columns *c)
{
    free(c->column);
    free(c->last);
    ft_strbuf_release(&c->raw);
}
