#include "unit/reader_check.h"

enum { ACQ, REL, R, W, FORK, JOIN, BEGIN, END, REQ, BRANCH };

typedef struct file {
    unsigned char bytes[4096];
    size_t length;
} file;

static void put(file *f, uint64_t value, size_t n)
{
    for (size_t i = n; i-- > 0;) f->bytes[f->length++] = (unsigned char)(value >> 8 * i);
}

static void put_event(file *f, uint32_t thread, uint32_t op, uint64_t object, uint64_t location)
{
    put(f, location << 48 | object << 14 | op << 10 | thread, 8);
}

static file begin(uint32_t events)
{
    file f = {.length = 0};
    put(&f, 2, 2);
    put(&f, 1, 4);
    put(&f, 2, 4);
    put(&f, events, 8);
    return f;
}

static ft_status read_file(const file *f, size_t piece, ft_trace **trace, ft_error *err)
{
    *err = FT_ERROR_INIT;
    *trace = NULL;
    ft_reader *reader = ft_reader_new();
    ft_status status = FT_OK;
    for (size_t at = 0; status == FT_OK && at < f->length; at += piece)
        status = ft_reader_feed(reader, f->bytes + at,
                                piece < f->length - at ? piece : f->length - at, err);
    if (status == FT_OK) status = ft_reader_finish(reader, trace, err);
    ft_reader_free(reader);
    return status;
}

static file every_op(void)
{
    file f = begin(10);
    put_event(&f, 0, FORK, 1, 5);
    put_event(&f, 0, REQ, 3, 6);
    put_event(&f, 0, ACQ, 3, 6);
    put_event(&f, 0, W, 17179869183u, 32767);
    put_event(&f, 0, REL, 3, 8);
    put_event(&f, 1, BEGIN, 0, 9);
    put_event(&f, 1, BRANCH, 0, 10);
    put_event(&f, 1, R, 2, 11);
    put_event(&f, 1, END, 0, 12);
    put_event(&f, 0, JOIN, 1, 13);
    return f;
}

static void test_every_op(void **state)
{
    (void)state;
    file f = every_op();
    for (size_t piece = 1; piece <= f.length; piece += 7) {
        ft_error err;
        ft_trace *t;
        if (read_file(&f, piece, &t, &err) != FT_OK) fail_msg("%s", err.message);
        reader_expect_events(t, "T0 fork T1\nT0 acquire L3\nT0 write V17179869183\n"
                                "T0 release L3\nT1 begin\nT1 read V2\nT1 end\nT0 join T1\n");
        assert_string_equal(ft_trace_location_text(t, t->loc[2]), "32767");
        assert_int_equal(t->n_notes, 0);
        ft_trace_free(t);
    }
}

static void test_cut_short(void **state)
{
    (void)state;
    file f = every_op();
    ft_error err;
    ft_trace *t;
    f.length -= 9;
    assert_int_equal(read_file(&f, 4096, &t, &err), FT_OK);
    assert_int_equal(t->n_events, 6);
    assert_int_equal(reader_note(t, "cut-short"), 1);
    ft_trace_free(t);
}

static void expect_refused(const file *f, uint64_t offset, const char *words)
{
    ft_error err;
    ft_trace *t;
    assert_int_equal(read_file(f, 4096, &t, &err), FT_INPUT);
    if (!strstr(err.message, words) || !err.has_offset || err.offset != offset)
        fail_msg("expected %s at %u, found %s at %u", words, (unsigned)offset, err.message,
                 (unsigned)err.offset);
}

static void test_refused(void **state)
{
    (void)state;
    file f = begin(100); /* and the head shows more */
    while (f.length < 4090) put_event(&f, 0, W, 1, 1);
    ft_error err;
    ft_trace *t;
    assert_int_equal(read_file(&f, 4096, &t, &err), FT_INPUT);
    assert_non_null(strstr(err.message, "binary data"));
    file own = begin(2);
    put_event(&own, 1, W, 1, 1);
    put_event(&own, 1, FORK, 1, 1);
    expect_refused(&own, 26, "its own thread T1");
    file longer = begin(1);
    put_event(&longer, 1, W, 1, 1);
    longer.bytes[longer.length++] = 0;
    expect_refused(&longer, 26, "goes on behind the 1 events");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_op),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
