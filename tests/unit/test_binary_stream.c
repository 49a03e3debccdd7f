/* A trace that is written while it is made reads back as the one that is finished first; accesses
 * that are appended many at once are those that are appended one by one. */
#include "trace_support.h"

#include "trace/binary.h"
#include "trace/binary_stream.h"
#include "trace/builder_internal.h"

enum { SEEDS = 6, STEPS = 21000, RUNNERS = 3, MANY = 600 };

typedef struct maker {
    ft_builder *builder;
    uint64_t random;
    bool at_once; /* plain accesses go in by rows */
    uint32_t held[RUNNERS];
    uint32_t steps[RUNNERS];
    uint32_t context;
} maker;

static uint32_t declared(maker *m, const char *what, uint32_t number)
{
    char name[32];
    size_t length = (size_t)snprintf(name, sizeof name, "%s%u", what, number);
    if (what[0] == 'x') return ft_builder_shared(m->builder, name, length, FT_INT_SORT);
    if (what[0] == 'l') return ft_builder_lock(m->builder, name, length, FT_LOCK_RECURSIVE);
    if (what[0] == 'e') return ft_builder_edge(m->builder, name, length);
    return ft_builder_location(m->builder, name, length, number % 3 ? "work" : NULL, 4);
}

/* Few and many, small and large: differences of every length. */
static uint32_t random_variable(maker *m)
{
    return declared(m, "x", rnd(&m->random, 4) ? rnd(&m->random, 3) : rnd(&m->random, 20000));
}

static uint32_t random_integer(maker *m)
{
    static const int64_t around[] = {0, -(INT64_C(1) << 16), (INT64_C(1) << 23) - 70000,
                                     INT64_MIN + 200, INT64_MAX - 200};
    int64_t value = around[rnd(&m->random, 5)] + rnd(&m->random, 200) - 100;
    return ft_builder_value(m->builder, (ft_value){.sort = FT_INT_SORT, .bits = (uint64_t)value});
}

typedef struct access {
    ft_event_kind kind;
    uint32_t variable, loc, value;
} access;

static void put_rows(maker *m, uint32_t t, const access *list, uint32_t n)
{
    for (uint32_t at = 0, now; at < n; at += now) {
        ft_builder_rows rows = ft_builder_room(m->builder);
        assert_true(rows.n > 0);
        now = rows.n < n - at ? rows.n : n - at;
        for (uint32_t i = 0; i < now; i++) {
            const access *a = &list[at + i];
            rows.kind[i] = (uint8_t)a->kind;
            rows.flags[i] = ft_builder_access_flags(m->builder, a->variable, a->loc, m->context);
            rows.thread[i] = (uint16_t)t;
            rows.object[i] = a->variable;
            rows.loc[i] = a->loc;
            rows.data[i] = a->value;
            rows.hook[i] = ++m->steps[t];
            rows.context[i] = m->context;
        }
        ft_builder_append(m->builder, now);
    }
}

static void put_singly(maker *m, uint32_t t, const access *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ft_builder_hook(m->builder, ++m->steps[t]);
        ft_builder_in_context(m->builder, m->context);
        ft_builder_event(m->builder, list[i].kind, t, list[i].variable, list[i].loc, list[i].value,
                         0);
    }
}

static void put_accesses(maker *m, uint32_t t)
{
    access list[MANY];
    uint32_t n = 1 + rnd(&m->random, rnd(&m->random, 3) ? 5 : MANY);
    for (uint32_t i = 0; i < n; i++)
        list[i] = (access){rnd(&m->random, 2) ? FT_EVENT_READ : FT_EVENT_WRITE, random_variable(m),
                           rnd(&m->random, 9) ? declared(m, "f.c:", rnd(&m->random, 300)) : 0,
                           random_integer(m)};
    (m->at_once ? put_rows : put_singly)(m, t, list, n);
}

static void put_other(maker *m, uint32_t t)
{
    uint32_t what = rnd(&m->random, 6), loc = declared(m, "g.c:", rnd(&m->random, 50));
    ft_builder_hook(m->builder, what == 5 ? 0 : ++m->steps[t]);
    ft_builder_in_context(m->builder, m->context);
    if (what < 2)
        ft_builder_event(m->builder, FT_EVENT_ACQUIRE, t, declared(m, "l", rnd(&m->random, 3)), loc,
                         0, 0);
    else if (what < 4)
        ft_builder_event(m->builder, FT_EVENT_RELEASE, t, declared(m, "l", rnd(&m->random, 3)), loc,
                         0, 0);
    else if (what == 4)
        ft_builder_update(m->builder, t, random_variable(m), loc, random_integer(m),
                          random_integer(m), rnd(&m->random, 2) == 0);
    else
        ft_builder_event(m->builder, rnd(&m->random, 2) ? FT_EVENT_EDGE_OUT : FT_EVENT_EDGE_IN, t,
                         declared(m, "e", rnd(&m->random, 40)), loc, 0, 0);
}

static void make(ft_builder *b, uint64_t seed, bool at_once)
{
    maker m = {.builder = b, .random = seed * 77 + 1, .at_once = at_once};
    for (uint32_t t = 0; t < RUNNERS; t++) ft_builder_thread(b, (char[]){(char)('A' + t)}, 1);
    ft_builder_module(b, "program", 7, "", 0);
    ft_builder_inputs(b, "inputs", 6);
    for (uint32_t made = 0; made < STEPS;) {
        uint32_t t = rnd(&m.random, RUNNERS);
        if (!rnd(&m.random, 300)) ft_builder_benign(b, random_variable(&m)); /* from here on */
        if (!rnd(&m.random, 50))
            m.context = rnd(&m.random, 4)
                            ? ft_builder_context(b, m.context, declared(&m, "f.c:", 7))
                            : FT_NO_CONTEXT;
        uint32_t before = m.steps[0] + m.steps[1] + m.steps[2];
        if (rnd(&m.random, 5))
            put_accesses(&m, t);
        else
            put_other(&m, t);
        made += m.steps[0] + m.steps[1] + m.steps[2] - before;
    }
    ft_builder_note(b, "end", 1u << 31, "of the test");
}

static ft_trace *read_back(const ft_strbuf *bytes)
{
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    if (ft_trace_read_memory(bytes->text, bytes->len, &trace, &err)) fail_msg("%s", err.message);
    return trace;
}

static void assert_same_numbers(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    assert_non_null(a);
    assert_non_null(b);
    assert_memory_equal(a, b, n * sizeof *a);
}

static void assert_same_notes(const ft_trace *a, const ft_trace *b)
{
    assert_int_equal(a->n_notes, b->n_notes);
    for (uint32_t i = 0; i < a->n_notes; i++) {
        uint32_t k = 0;
        while (k < b->n_notes && strcmp(a->notes[i].code, b->notes[k].code)) k++;
        assert_true(k < b->n_notes);
        assert_int_equal(a->notes[i].event, b->notes[k].event);
        assert_int_equal(a->notes[i].count, b->notes[k].count);
        assert_string_equal(a->notes[i].text, b->notes[k].text);
    }
}

static void test_same_as_finished(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ft_strbuf bytes = {0};
        ft_error err = FT_ERROR_INIT;
        uint32_t n = 0;
        ft_builder *whole = ft_builder_new(FT_FORMAT_BINARY);
        make(whole, seed, seed % 2);
        ft_trace *expected = finish_trace(whole);
        ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
        ft_binary_stream *stream = ft_binary_stream_open(b, append_to, &bytes);
        make(b, seed, seed % 2 == 0);
        assert_true(ft_builder_peek(b)->n_events < STEPS); /* it has not all of them any more */
        if (ft_binary_stream_close(stream, &n, &err)) fail_msg("%s", err.message);
        ft_builder_free(b);
        ft_trace *got = read_back(&bytes);
        assert_true(n > FT_BINARY_BLOCK / 4 && n <= got->n_events); /* with implied releases */
        assert_same_trace(expected, got, ~0u);
        assert_same_numbers(expected->hook, got->hook, got->n_events);
        assert_same_numbers(expected->context, got->context, got->n_events);
        assert_same_notes(expected, got);
        ft_trace_free(got);
        ft_trace_free(expected);
        ft_strbuf_release(&bytes);
    }
}

/* One event at every difference around what takes another byte. */
static void test_differences(void **state)
{
    static const uint32_t steps[] = {0, 1, 63, 64, 65, 127, 128, 8191, 8192, 8193, 19999};
    enum { N = 3000 };
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_NDJSON);
    maker m = {.builder = b, .random = 5};
    ft_builder_thread(b, "A", 1);
    for (uint32_t i = 0; i < 20000; i++) declared(&m, "x", i);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t step = i % 200 < 150 ? i % 3 : steps[rnd(&m.random, 11)]; /* whole chunks of one */
        ft_builder_event(b, FT_EVENT_READ, 0, step, 0, FT_NO_VALUE, 0);
    }
    ft_trace *trace = finish_trace(b);
    ft_strbuf bytes = {0};
    ft_error err = FT_ERROR_INIT;
    assert_int_equal(ft_binary_write(trace, append_to, &bytes, &err), FT_OK);
    ft_trace *got = read_back(&bytes);
    assert_memory_equal(trace->object, got->object, N * sizeof *got->object);
    ft_trace_free(got);
    ft_trace_free(trace);
    ft_strbuf_release(&bytes);
}

static ft_status refuse(void *context, const void *data, size_t length, ft_error *err)
{
    (void)data;
    size_t *left = context;
    if (length > *left) return ft_error_set(err, FT_IO, "the disk is full");
    *left -= length;
    return FT_OK;
}

static ft_status close_stream(ft_builder *b, ft_binary_stream *stream, ft_error *err)
{
    *err = FT_ERROR_INIT;
    ft_status status = ft_binary_stream_close(stream, NULL, err);
    ft_builder_free(b);
    return status;
}

static void test_failures(void **state)
{
    (void)state;
    ft_error err;
    ft_strbuf bytes = {0};
    ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
    ft_binary_stream *stream = ft_binary_stream_open(b, append_to, &bytes);
    assert_int_equal(close_stream(b, stream, &err), FT_INPUT); /* no events */

    size_t left = 30000;
    b = ft_builder_new(FT_FORMAT_BINARY);
    stream = ft_binary_stream_open(b, refuse, &left);
    make(b, 1, true);
    assert_int_equal(close_stream(b, stream, &err), FT_IO);
    assert_string_equal(err.message, "the disk is full");

    b = ft_builder_new(FT_FORMAT_BINARY);
    b->max_events = 2000;
    stream = ft_binary_stream_open(b, append_to, &bytes);
    ft_builder_thread(b, "A", 1);
    for (int i = 0; i < 2001; i++) ft_builder_event(b, FT_EVENT_BEGIN, 0, 0, 0, 0, 0);
    assert_int_equal(ft_builder_room(b).n, 0);
    assert_int_equal(close_stream(b, stream, &err), FT_LIMIT);

    b = ft_builder_new(FT_FORMAT_BINARY);
    stream = ft_binary_stream_open(b, append_to, &bytes);
    ft_builder_thread(b, "A", 1);
    uint32_t lock = ft_builder_lock(b, "l", 1, FT_LOCK_MUTEX);
    ft_builder_event(b, FT_EVENT_ACQUIRE, 0, lock, 0, 0, FT_FLAG_BLOCKED);
    for (int i = 0; i < 20000; i++) ft_builder_event(b, FT_EVENT_BEGIN, 0, 0, 0, 0, 0);
    assert_int_equal(close_stream(b, stream, &err), FT_INPUT); /* it went on */
    ft_strbuf_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_finished),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
