/* The binary trace format: exact round trips, cut files, damaged files. */
#include "trace_support.h"

#include <zlib.h>

#include "oracle/generate.h"
#include "trace/binary.h"
#include "verdict/checker.h"

enum { SEEDS = 400 };

static ft_strbuf written(const ft_trace *trace)
{
    ft_strbuf bytes = {0};
    ft_error err = FT_ERROR_INIT;
    if (ft_binary_write(trace, append_to, &bytes, &err) != FT_OK) fail_msg("%s", err.message);
    return bytes;
}

static ft_status read_bytes(const void *data, size_t length, ft_trace **trace, ft_error *err)
{
    *trace = NULL;
    *err = FT_ERROR_INIT;
    return ft_trace_read_memory(data, length, trace, err);
}

/* Equal in everything that ft_trace shows, numbers of ids included. */
static void assert_identical(const ft_trace *a, const ft_trace *b)
{
    size_t n = a->n_events;
    assert_same_trace(a, b, ~0u);
    assert_memory_equal(a->kind, b->kind, n * sizeof *a->kind);
    assert_memory_equal(a->flags, b->flags, n * sizeof *a->flags);
    assert_memory_equal(a->thread, b->thread, n * sizeof *a->thread);
    assert_memory_equal(a->object, b->object, n * sizeof *a->object);
    assert_memory_equal(a->loc, b->loc, n * sizeof *a->loc);
    assert_memory_equal(a->data, b->data, n * sizeof *a->data);
    assert_same_names(&a->edges, &b->edges);
    assert_int_equal(a->n_values, b->n_values);
    assert_int_equal(a->n_locations, b->n_locations);
    assert_int_equal(a->n_actions, b->n_actions);
    assert_int_equal(a->n_notes, b->n_notes);
    for (uint32_t i = 0; i < a->n_notes; i++) {
        assert_string_equal(a->notes[i].code, b->notes[i].code);
        assert_string_equal(a->notes[i].text, b->notes[i].text);
        assert_int_equal(a->notes[i].event, b->notes[i].event);
        assert_int_equal(a->notes[i].count, b->notes[i].count);
    }
    for (uint32_t i = 0; i < a->n_actions; i++) {
        const ft_action *x = &a->actions[i], *y = &b->actions[i];
        assert_int_equal(x->n_accesses, y->n_accesses);
        for (uint32_t k = 0; k < x->n_accesses; k++) {
            assert_int_equal(x->accesses[k].variable, y->accesses[k].variable);
            assert_int_equal(x->accesses[k].write, y->accesses[k].write);
            assert_int_equal(x->accesses[k].in_guard, y->accesses[k].in_guard);
        }
    }
    assert_int_equal(a->format, b->format);
    assert_int_equal(a->broken, b->broken);
    assert_string_equal(text_or(a->broken_text), text_or(b->broken_text));
}

static ft_trace *random_finished(uint64_t seed, uint32_t steps)
{
    ft_trace *trace = finish_trace(random_builder(seed, steps));
    for (uint32_t e = 0; e < trace->n_events; e++) /* as ft_observe_run leaves it */
        if (trace->kind[e] == FT_EVENT_ASSERT && e % 3 == 0) trace->flags[e] |= FT_FLAG_FAILED;
    if (seed % 3 == 0) {
        trace->broken = trace->n_events / 2;
        trace->broken_text = ft_arena_printf(trace->arena, "seed %u", (unsigned)seed);
    }
    if (seed % 2) trace->shared_info[seed % VARIABLES].initial = FT_NO_VALUE;
    return trace;
}

static void test_round_trips(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ft_trace *trace = random_finished(seed * 31, 10 + (uint32_t)seed % 90), *again;
        ft_strbuf bytes = written(trace);
        ft_error err;
        if (read_bytes(bytes.text, bytes.len, &again, &err) != FT_OK)
            fail_msg("seed %u: %s", (unsigned)seed, err.message);
        assert_identical(trace, again);
        ft_strbuf twice = written(again);
        assert_int_equal(twice.len, bytes.len);
        assert_memory_equal(twice.text, bytes.text, bytes.len);
        ft_strbuf_release(&bytes);
        ft_strbuf_release(&twice);
        ft_trace_free(again);
        ft_trace_free(trace);
    }
}

static void test_single_bytes(void **state)
{
    (void)state;
    ft_trace *trace = random_finished(5, 80), *again = NULL;
    ft_strbuf bytes = written(trace);
    ft_reader *reader = ft_reader_new();
    for (size_t i = 0; i < bytes.len; i++)
        assert_int_equal(ft_reader_feed(reader, bytes.text + i, 1, NULL), FT_OK);
    assert_int_equal(ft_reader_finish(reader, &again, NULL), FT_OK);
    assert_identical(trace, again);
    ft_reader_free(reader);
    ft_strbuf_release(&bytes);
    ft_trace_free(again);
    ft_trace_free(trace);
}

/* ---- flags ---- */

/* NDJSON does not tell a release that ingest put in from others. */
static unsigned told_apart(const ft_trace *trace, uint32_t e, bool ndjson)
{
    return ndjson && trace->kind[e] == FT_EVENT_RELEASE ? ~(unsigned)FT_FLAG_SYNTHETIC : ~0u;
}

static void assert_same_flags(uint64_t seed, const ft_trace *a, const char *text, size_t n)
{
    ft_trace *b;
    ft_error err;
    bool ndjson = *text == '{';
    if (read_bytes(text, n, &b, &err) != FT_OK)
        fail_msg("seed %u: %s", (unsigned)seed, err.message);
    ft_observe_run(b);
    assert_int_equal(a->n_events, b->n_events);
    for (uint32_t e = 0; e < a->n_events; e++)
        if (a->kind[e] != b->kind[e] ||
            ((a->flags[e] ^ b->flags[e]) & told_apart(a, e, ndjson)) != 0)
            fail_msg("seed %u, event %u, %s: flags %#x, then %#x", (unsigned)seed, e + 1,
                     ndjson ? "NDJSON" : "binary", a->flags[e], b->flags[e]);
    ft_trace_free(b);
}

/* What is no candidate, and what a thread was blocked at, say so in both formats. */
static void test_flags_survive(void **state)
{
    (void)state;
    uint32_t aside[FT_EVENT_KINDS] = {0}, blocked[FT_EVENT_KINDS] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        ft_trace *trace = ft_generate(seed);
        for (uint32_t e = 0; e < trace->n_events; e++) {
            aside[trace->kind[e]] += (trace->flags[e] & FT_FLAG_SYNTHETIC) != 0;
            blocked[trace->kind[e]] += ft_trace_is_blocked(trace, e);
        }
        ft_strbuf bytes = written(trace);
        assert_same_flags(seed, trace, bytes.text, bytes.len);
        ft_strbuf_release(&bytes);
        char *text = ft_oracle_dump(trace);
        if (!ft_oracle_reads_unborn(trace)) assert_same_flags(seed, trace, text, strlen(text));
        free(text);
        ft_trace_free(trace);
    }
    for (int k = 0; k < FT_EVENT_KINDS; k++)
        if (ft_event_kind_may_stand_aside((ft_event_kind)k)) assert_true(aside[k] > 0);
    assert_true(blocked[FT_EVENT_ACQUIRE] && blocked[FT_EVENT_WAIT] && blocked[FT_EVENT_JOIN]);
}

/* ---- a plain trace of several blocks ---- */

static ft_trace *plain_trace(uint32_t events)
{
    ft_builder *b = ft_builder_new(FT_FORMAT_STD);
    uint64_t seed = 42;
    for (uint32_t i = 0; i < events; i++) {
        char name[24];
        size_t length = (size_t)snprintf(name, sizeof name, "T%u", rnd(&seed, 16));
        uint32_t thread = ft_builder_thread(b, name, length);
        length = (size_t)snprintf(name, sizeof name, "x%u", rnd(&seed, 1 + rnd(&seed, 5000)));
        uint32_t x = ft_builder_shared(b, name, length, FT_INT_SORT);
        length = (size_t)snprintf(name, sizeof name, "file.c:%u", rnd(&seed, 3000));
        uint32_t loc = ft_builder_location(b, name, length, NULL, 0);
        ft_builder_event(b, rnd(&seed, 2) ? FT_EVENT_READ : FT_EVENT_WRITE, thread, x, loc,
                         FT_NO_VALUE, 0);
    }
    return finish_trace(b);
}

/* Raw and stored bytes of the event blocks. */
static void measure(const ft_strbuf *bytes, size_t *raw, size_t *stored, uint32_t *blocks)
{
    const unsigned char *at = (const unsigned char *)bytes->text + FT_BINARY_HEADER;
    const unsigned char *end = (const unsigned char *)bytes->text + bytes->len;
    while (at < end) {
        if (at[0] == FT_BINARY_FRAME_EVENTS) {
            *raw += ft_get_u32(at + 8);
            *stored += ft_get_u32(at + 4);
            ++*blocks;
        }
        at += FT_BINARY_FRAME + ft_get_u32(at + 4);
    }
}

static void test_size(void **state)
{
    (void)state;
    enum { EVENTS = 200000 };
    ft_trace *trace = plain_trace(EVENTS), *again;
    ft_strbuf bytes = written(trace);
    ft_error err;
    size_t raw = 0, stored = 0;
    uint32_t blocks = 0;
    measure(&bytes, &raw, &stored, &blocks);
    assert_int_equal(blocks, 4);
    assert_true(raw < 8 * (size_t)EVENTS);
    assert_true(stored < raw);
    assert_int_equal(read_bytes(bytes.text, bytes.len, &again, &err), FT_OK);
    assert_identical(trace, again);
    ft_trace_free(again);

    /* Cut in the third block: two are whole. */
    size_t keep = bytes.len - stored / 3;
    assert_int_equal(read_bytes(bytes.text, keep, &again, &err), FT_OK);
    assert_int_equal(again->n_events, 2 * FT_BINARY_BLOCK);
    for (uint32_t e = 0; e < again->n_events; e += 997) assert_same_event(trace, e, again, e, ~0u);
    ft_trace_free(again);
    ft_strbuf_release(&bytes);
    ft_trace_free(trace);
}

/* ---- cut and damaged files ---- */

static bool has_note(const ft_trace *trace, const char *code)
{
    for (uint32_t i = 0; i < trace->n_notes; i++)
        if (strcmp(trace->notes[i].code, code) == 0) return true;
    return false;
}

static void test_every_cut(void **state)
{
    (void)state;
    ft_trace *trace = random_finished(9, 60), *again;
    ft_strbuf bytes = written(trace);
    ft_error err;
    uint32_t whole = 0;
    for (size_t length = 4; length < bytes.len; length++) {
        ft_status status = read_bytes(bytes.text, length, &again, &err);
        if (status == FT_OK) {
            assert_true(has_note(again, "cut-short"));
            assert_same_trace(trace, again, ~(unsigned)FT_FLAG_FAILED);
            ft_trace_free(again);
            whole++;
        } else {
            assert_int_equal(status, FT_INPUT);
            assert_int_equal(whole, 0); /* only before the events are whole */
            assert_true(err.has_offset && err.offset == length);
        }
    }
    assert_true(whole > 0);
    ft_strbuf_release(&bytes);
    ft_trace_free(trace);
}

static void test_every_damage(void **state)
{
    (void)state;
    ft_trace *trace = random_finished(10, 60), *again;
    ft_strbuf bytes = written(trace);
    ft_error err;
    uint32_t cuts = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        if (i == 5 || i == 6) continue; /* canonical or not, and the source: no checksum */
        bytes.text[i] = (char)(bytes.text[i] ^ (1 << (i % 8)));
        ft_status status = read_bytes(bytes.text, bytes.len, &again, &err);
        if (status == FT_OK) { /* a length that reaches past the end looks like a cut */
            assert_true(has_note(again, "cut-short"));
            assert_same_trace(trace, again, ~(unsigned)FT_FLAG_FAILED);
            ft_trace_free(again);
            cuts++;
        } else {
            assert_null(again);
            assert_true(status == FT_INPUT || status == FT_UNSUPPORTED);
            if (i >= FT_BINARY_HEADER) assert_true(err.has_offset && err.offset <= bytes.len);
        }
        bytes.text[i] = (char)(bytes.text[i] ^ (1 << (i % 8)));
    }
    assert_true(cuts < 10);
    ft_strbuf_add(&bytes, "x", 1);
    assert_int_equal(read_bytes(bytes.text, bytes.len, &again, &err), FT_INPUT);
    ft_strbuf_release(&bytes);
    ft_trace_free(trace);
}

/* ---- files made by hand ---- */

typedef struct maker {
    ft_strbuf bytes;
} maker;

static void make_header(maker *m, unsigned char version, unsigned char flags)
{
    const unsigned char head[FT_BINARY_HEADER] = {
        'F', 'T', 'R', 'C', version, flags, FT_FORMAT_BINARY};
    ft_strbuf_add(&m->bytes, (const char *)head, sizeof head);
}

static void make_frame(maker *m, unsigned char type, const void *payload, size_t length)
{
    unsigned char head[FT_BINARY_FRAME] = {type};
    ft_put_u32(head + 4, (uint32_t)length);
    ft_put_u32(head + 8, (uint32_t)length);
    ft_put_u32(head + 12, (uint32_t)crc32(crc32(0, head, 12), payload, (uInt)length));
    ft_strbuf_add(&m->bytes, (const char *)head, sizeof head);
    ft_strbuf_add(&m->bytes, payload, length);
}

#define FRAME(m, type, text) make_frame(m, FT_BINARY_FRAME_##type, text, sizeof(text) - 1)

/* T1 takes the mutex l and gives it back twice; no END frame yet. */
static void make_start(maker *m, unsigned char flags)
{
    make_header(m, FT_BINARY_VERSION, flags);
    FRAME(m, KINDS,
          "\x07"
          "acquire"
          "\x07"
          "release"
          "\x06"
          "future"
          "\x04"
          "read");
    FRAME(m, THREADS, "\x02T1");
    FRAME(m, LOCKS, "\x01l\x00");
    FRAME(m, SHARED,
          "\x01x\x01\x00\x00"
          "\x01y\x02\x08\x00");
}

static ft_status read_made(maker *m, ft_trace **trace, ft_error *err)
{
    ft_status status = read_bytes(m->bytes.text, m->bytes.len, trace, err);
    ft_strbuf_release(&m->bytes);
    return status;
}

/* first, count, kinds, flags, threads, objects, places, data */
#define LOCK_EVENTS                                                                                \
    "\x00\x03"                                                                                     \
    "\x03\x00\x01\x01"                                                                             \
    "\x00"                                                                                         \
    "\x03\x00\x00\x00"                                                                             \
    "\x03\x00\x00\x00"                                                                             \
    "\x03\x00\x00\x00"                                                                             \
    "\x00"

static void test_recorded(void **state)
{
    (void)state;
    maker m = {{0}};
    ft_trace *trace;
    ft_error err;
    make_start(&m, 0);
    FRAME(&m, EVENTS, LOCK_EVENTS);
    FRAME(&m, END, "\x03");
    assert_int_equal(read_made(&m, &trace, &err), FT_OK);
    assert_int_equal(trace->n_events, 3);
    assert_int_equal(trace->flags[1], 0);
    assert_int_equal(trace->flags[2], FT_FLAG_STRANGER); /* normalised, being no canonical trace */
    assert_true(has_note(trace, "stranger-release"));
    ft_trace_free(trace);
}

static void assert_made_fails(maker *m, ft_status expected, const char *words)
{
    ft_trace *trace;
    ft_error err;
    ft_status status = read_made(m, &trace, &err);
    if (!strstr(err.message, words)) fail_msg("no \"%s\" in \"%s\"", words, err.message);
    assert_int_equal(status, expected);
    assert_null(trace);
}

static void test_not_canonical(void **state)
{
    (void)state;
    maker m = {{0}};
    make_start(&m, FT_BINARY_CANONICAL);
    FRAME(&m, EVENTS, LOCK_EVENTS);
    FRAME(&m, END, "\x03");
    assert_made_fails(&m, FT_INPUT, "event 3");
    make_header(&m, FT_BINARY_VERSION + 1, 0);
    FRAME(&m, END, "\x00");
    assert_made_fails(&m, FT_UNSUPPORTED, "version 2");
}

#define FAILS(code, words, type, payload)                                                          \
    do {                                                                                           \
        maker m_ = {{0}};                                                                          \
        make_start(&m_, 0);                                                                        \
        FRAME(&m_, type, payload);                                                                 \
        assert_made_fails(&m_, code, words);                                                       \
    } while (0)

static void test_validation(void **state)
{
    (void)state;
    FAILS(FT_INPUT, "twice", THREADS, "\x02T1");
    FAILS(FT_INPUT, "middle of a text", THREADS, "\x09T2");
    FAILS(FT_INPUT, "UTF-8", THREADS, "\x02T\xff");
    FAILS(FT_INPUT, "middle of a number", THREADS, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02");
    FAILS(FT_INPUT, "sort is malformed", SHARED, "\x01z\x02\x41\x00");
    FAILS(FT_INPUT, "value 3 does not exist", SHARED, "\x01z\x01\x00\x03");
    FAILS(FT_INPUT, "lock kind", LOCKS, "\x01k\x07");
    FAILS(FT_INPUT, "more bits", VALUES, "\x02\x04\x10");
    FAILS(FT_INPUT, "variable 9", TERMS, "\x01\x12");
    FAILS(FT_INPUT, "not declared", TERMS, "\x05\x00");
    FAILS(FT_INPUT, "term 1 does not exist", ACTIONS, "\x01\x00");
    FAILS(FT_INPUT, "block of events is missing", EVENTS, "\x01\x00\x00\x00\x00\x00\x00\x00");
    FAILS(FT_INPUT, "holds too much", EVENTS, "\x00\x00\x01\x00\x00\x00\x00\x00\x00");
    FAILS(FT_INPUT, "kind 9", EVENTS, "\x00\x01\x01\x09\x00\x01\x00\x00\x01\x00\x00");
    FAILS(FT_UNSUPPORTED, "does not know", EVENTS, "\x00\x01\x01\x02\x00\x01\x00\x00\x01\x00\x00");
    FAILS(FT_INPUT, "event 1", EVENTS, "\x00\x01\x01\x00\x00\x01\x02\x01\x00\x01\x00\x00");
    FAILS(FT_INPUT, "event 1", EVENTS, "\x00\x01\x01\x00\x00\x01\x00\x01\x02\x01\x00\x00");
    FAILS(FT_INPUT, "event 1", EVENTS, "\x00\x01\x01\x00\x00\x01\x00\x01\x00\x01\x02\x00");
    FAILS(FT_INPUT, "event 1", EVENTS, "\x00\x01\x01\x80\x01\x04\x01\x00\x01\x00\x01\x00\x00");
    FAILS(FT_INPUT, "event 1", EVENTS, "\x00\x01\x01\x03\x00\x01\x00\x01\x00\x01\x00\x01\x02");
    FAILS(FT_INPUT, "has 0", END, "\x01");
    FAILS(FT_INPUT, "no events", END, "\x00");
    FAILS(FT_INPUT, "before its first events", EDGES,
          "\x01"
          "e");
}

static void test_frame_limits(void **state)
{
    (void)state;
    maker m = {{0}};
    make_start(&m, 0);
    unsigned char head[FT_BINARY_FRAME] = {FT_BINARY_FRAME_EVENTS};
    ft_put_u32(head + 4, FT_BINARY_MAX_FRAME + 1);
    ft_put_u32(head + 8, FT_BINARY_MAX_FRAME + 1);
    ft_strbuf_add(&m.bytes, (const char *)head, sizeof head);
    assert_made_fails(&m, FT_INPUT, "head is malformed"); /* before the payload is waited for */
}

/* A chain of negations deeper than any reader makes: recursion elsewhere relies on the limit. */
static void test_deep_terms(void **state)
{
    (void)state;
    maker m = {{0}};
    ft_strbuf terms = {0};
    make_start(&m, 0);
    FRAME(&m, OPERATORS,
          "\x01+"
          "\x01-");
    ft_strbuf_add(&terms, "\x01\x00", 2);
    for (int i = 0; i < FT_TERM_MAX_DEPTH + 1; i++)
        ft_strbuf_add(&terms, i % 2 ? "\x03\x02\x01\x01" : "\x02\x02\x01\x01", 4);
    make_frame(&m, FT_BINARY_FRAME_TERMS, terms.text, terms.len);
    ft_strbuf_release(&terms);
    assert_made_fails(&m, FT_LIMIT, "nested");
}

/* ---- frames and kinds of later days ---- */

#define SYNC_KINDS                                                                                 \
    "\x03rmw"                                                                                      \
    "\x0e"                                                                                         \
    "acquire-shared"                                                                               \
    "\x05"                                                                                         \
    "alloc"

/* One event: its kind with a flag, thread 0, an object, no place, data where there is a length. */
#define ONE_EVENT(kind, flag, object, data)                                                        \
    "\x00\x01\x01" kind "\x01" flag "\x01\x00\x01" object "\x01\x00" data

/* T1, mutex l, read-write lock w, Int x and y, the value 1. */
static void make_sync(maker *m)
{
    make_header(m, FT_BINARY_VERSION, 0);
    FRAME(m, KINDS, SYNC_KINDS);
    FRAME(m, THREADS, "\x02T1");
    FRAME(m, LOCKS, "\x01l\x00\x01w\x03");
    FRAME(m, VALUES, "\x01\x00\x02");
    FRAME(m, SHARED,
          "\x01x\x01\x00\x00\x01y\x01\x00\x00\x01"
          "b\x00\x00\x00");
}

static void test_sync_frames(void **state)
{
    (void)state;
    maker m = {{0}};
    ft_trace *trace;
    ft_error err;
    make_sync(&m);
    FRAME(&m, UPDATES, "\x01\x00\x01\x00\x01\x00");
    FRAME(&m, CONDITIONS,
          "\x01"
          "c\x01"
          "d");
    FRAME(&m, BARRIERS,
          "\x01"
          "b\x03");
    FRAME(&m, ONCES, "\x01o");
    FRAME(&m, BLOCKS,
          "\x01k\x02\x00\x02\x01"
          "e\x00");
    FRAME(&m, EVENTS, ONE_EVENT("\x80", "\x01", "\x00", "\x01\x02"));
    FRAME(&m, END, "\x01");
    assert_int_equal(read_made(&m, &trace, &err), FT_OK);
    assert_int_equal(trace->conditions.len, 2);
    assert_int_equal(trace->barrier_count[0], 3);
    assert_string_equal(trace->onces.names[0], "o");
    assert_int_equal(trace->block_cells[0].count, 2);
    assert_int_equal(trace->block_cells[0].variables[1], 2);
    assert_int_equal(trace->block_cells[1].count, 0);
    assert_int_equal(trace->updates[trace->data[0]].read, 1);
    assert_int_equal(trace->updates[trace->data[0]].written, FT_NO_VALUE);
    ft_trace_free(trace);
}

static void test_bad_sync_frames(void **state)
{
    (void)state;
    static const struct {
        unsigned char type;
        const char *payload;
        size_t length;
        const char *words;
    } FRAMES[] = {
#define BAD(type, payload, words) {FT_BINARY_FRAME_##type, payload, sizeof(payload) - 1, words}
        BAD(CONDITIONS,
            "\x01"
            "c\x01"
            "c",
            "declared twice"),
        BAD(BARRIERS,
            "\x01"
            "b\x00",
            "count is 0"),
        BAD(BARRIERS,
            "\x01"
            "b",
            "middle of a number"),
        BAD(ONCES, "\x01o\x01o", "declared twice"),
        BAD(BLOCKS, "\x01k\x04\x00\x01\x01\x01", "block size 4 does not exist"),
        BAD(BLOCKS, "\x01k\x02\x01\x00", "not ascending"),
        BAD(BLOCKS, "\x01k\x02\x02\x02", "not ascending"),
        BAD(BLOCKS, "\x01k\x01\x03", "variable 3 does not exist"),
        BAD(SITES, "\x00\x00\x00", "module 0 does not exist"),
        BAD(MODULES, "\x01m", "middle of a number"),
        BAD(HOOKS, "\x00\x01\x02", "not before them"),
        BAD(HOOKS, "\x01\x00", "not before them"),
        BAD(UPDATES, "\x00\x01\x01\x00\x01\x01", "an update is declared twice"),
        BAD(UPDATES, "\x03\x00\x00", "variable 3 does not exist"),
        BAD(UPDATES, "\x00\x02\x00", "value 2 does not exist"),
        BAD(UPDATES, "\x02\x01\x00", "not of its variable's sort"),
        BAD(UPDATES, "\x02\x00\x01", "not of its variable's sort"),
        /* rmw: not atomic, no such update, another variable's; shared on a mutex; no block */
        BAD(EVENTS, ONE_EVENT("\x80", "\x00", "\x00", "\x01\x00"), "malformed"),
        BAD(EVENTS, ONE_EVENT("\x80", "\x01", "\x00", "\x01\x00"), "malformed"),
        BAD(EVENTS, ONE_EVENT("\x81", "\x40", "\x00", "\x00"), "malformed"),
        BAD(EVENTS, ONE_EVENT("\x81", "\x10", "\x02", "\x00"), "malformed"),
        BAD(EVENTS, ONE_EVENT("\x82", "\x00", "\x00", "\x00"), "malformed"),
#undef BAD
    };
    for (size_t i = 0; i < sizeof FRAMES / sizeof *FRAMES; i++) {
        maker m = {{0}};
        make_sync(&m);
        make_frame(&m, FRAMES[i].type, FRAMES[i].payload, FRAMES[i].length);
        assert_made_fails(&m, FT_INPUT, FRAMES[i].words);
    }
    maker m = {{0}};
    make_sync(&m);
    FRAME(&m, UPDATES, "\x01\x01\x01");
    FRAME(&m, EVENTS, ONE_EVENT("\x80", "\x01", "\x00", "\x01\x00"));
    assert_made_fails(&m, FT_INPUT, "malformed"); /* the update is of y, the event of x */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),   cmocka_unit_test(test_single_bytes),
        cmocka_unit_test(test_size),          cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_every_damage),  cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_not_canonical), cmocka_unit_test(test_validation),
        cmocka_unit_test(test_frame_limits),  cmocka_unit_test(test_deep_terms),
        cmocka_unit_test(test_sync_frames),   cmocka_unit_test(test_bad_sync_frames),
        cmocka_unit_test(test_flags_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
