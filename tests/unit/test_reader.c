/* What all formats share: detection, lines and their limits, chunks, compressed files. */
#include "trace_support.h"

#include <unistd.h>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

/* ---- reading ---- */

static const char TINY[] = "T1|w(x)|1\nT2|r(x)|2\n";

static void assert_refused(const void *data, size_t length, ft_status expected, uint64_t line,
                           uint64_t column, const char *words)
{
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    assert_int_equal(ft_trace_read_memory(data, length, &trace, &err), expected);
    assert_int_equal(err.line, line);
    assert_int_equal(err.column, column);
    if (!strstr(err.message, words)) fail_msg("no \"%s\" in \"%s\"", words, err.message);
    assert_null(trace);
}

static void test_detection(void **state)
{
    (void)state;
    static const char junk[] = "\x7f"
                               "ELF\x02\x01\x01\x00\x00|(|,";
    assert_refused("", 0, FT_INPUT, 1, 1, "empty");
    assert_refused(" \n\n", 3, FT_INPUT, 1, 1, "empty");
    assert_refused(junk, sizeof junk - 1, FT_INPUT, 1, 1, "binary");
    assert_refused("hello world\n", 12, FT_INPUT, 1, 1, "not a trace");
    assert_refused("\x1f\x8b\x08\x00", 4, FT_INPUT, 1, 1, "gzip");
    ft_trace *trace = read_text(TINY, sizeof TINY - 1);
    assert_int_equal(trace->format, FT_FORMAT_STD);
    assert_int_equal(trace->n_events, 2);
    ft_trace_free(trace);
}

static void test_line_ends(void **state)
{
    (void)state;
    static const char marked[] = "\xef\xbb\xbfT1|w(x)|1\r\nT2|r(x)|2";
    ft_trace *trace = read_text(marked, sizeof marked - 1);
    assert_int_equal(trace->n_events, 2);
    assert_string_equal(ft_trace_thread_name(trace, 0), "T1");
    assert_string_equal(ft_trace_location_text(trace, trace->loc[0]), "1");
    ft_trace_free(trace);
}

static void test_long_line(void **state)
{
    (void)state;
    size_t length = sizeof TINY - 1 + FT_READER_MAX_LINE + 1;
    char *text = ft_alloc(length);
    memcpy(text, TINY, sizeof TINY - 1);
    memset(text + sizeof TINY - 1, 'x', FT_READER_MAX_LINE + 1);
    assert_refused(text, length, FT_LIMIT, 3, FT_READER_MAX_LINE + 1, "longer");
    /* The same fed without end: the reader stops after the limit. */
    ft_reader *reader = ft_reader_new();
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_reader_feed(reader, TINY, sizeof TINY - 1, &err);
    size_t fed = 0;
    for (; status == FT_OK && fed < 3 * (size_t)FT_READER_MAX_LINE; fed += 4096)
        status = ft_reader_feed(reader, text + sizeof TINY, 4096, &err);
    assert_int_equal(status, FT_LIMIT);
    assert_true(fed <= FT_READER_MAX_LINE + 2 * 4096);
    ft_error again = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    assert_int_equal(ft_reader_feed(reader, "x", 1, &again), FT_LIMIT);
    assert_string_equal(again.message, err.message);
    assert_int_equal(ft_reader_finish(reader, &trace, NULL), FT_LIMIT);
    ft_reader_free(reader);
    free(text);
}

static void test_any_chunks(void **state)
{
    (void)state;
    ft_trace *whole = finish_trace(random_builder(11, 300));
    ft_strbuf text = {0};
    assert_int_equal(ft_ndjson_write(whole, append_to, &text, NULL), FT_OK);
    for (size_t size = 1; size < 6000; size = size * 3 + 1) {
        ft_reader *reader = ft_reader_new();
        ft_trace *trace = NULL;
        for (size_t at = 0; at < text.len; at += size) {
            size_t piece = text.len - at < size ? text.len - at : size;
            assert_int_equal(ft_reader_feed(reader, text.text + at, piece, NULL), FT_OK);
        }
        assert_int_equal(ft_reader_finish(reader, &trace, NULL), FT_OK);
        assert_same_trace(whole, trace, ~(unsigned)FT_FLAG_SYNTHETIC);
        ft_trace_free(trace);
        ft_reader_free(reader);
    }
    ft_strbuf_release(&text);
    ft_trace_free(whole);
}

/* ---- files ---- */

static ft_status read_as_file(const void *data, size_t length, ft_trace **trace, ft_error *err)
{
    char path[] = "/tmp/foretell-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, length), (ssize_t)length);
    close(fd);
    *err = FT_ERROR_INIT;
    *trace = NULL;
    ft_status status = ft_trace_read_file(path, trace, err);
    unlink(path);
    return status;
}

static size_t gzip(const void *data, size_t length, unsigned char *out, size_t room)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)length;
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static void test_gzip_file(void **state)
{
    (void)state;
    unsigned char packed[512] = {0};
    ft_error err;
    ft_trace *trace;
    size_t first = gzip(TINY, 10, packed, 200);
    size_t both = first + gzip(TINY + 10, sizeof TINY - 11, packed + first, 200);
    assert_int_equal(read_as_file(packed, both, &trace, &err), FT_OK);
    assert_int_equal(trace->n_events, 2);
    ft_trace_free(trace);
    assert_int_equal(read_as_file(packed, both + 100, &trace, &err), FT_OK); /* padded */
    ft_trace_free(trace);
    for (size_t cut = 3; cut < both; cut++) {
        if (cut == first) continue; /* a whole file of its own */
        assert_int_equal(read_as_file(packed, cut, &trace, &err), FT_INPUT);
        assert_non_null(strstr(err.message, "gzip stream is cut short"));
        assert_true(err.has_offset && err.offset == cut);
    }
    packed[both - 6] ^= 1; /* the last member's checksum */
    assert_int_equal(read_as_file(packed, both, &trace, &err), FT_INPUT);
    assert_non_null(strstr(err.message, "damaged"));
}

static void test_zstd_file(void **state)
{
    (void)state;
    unsigned char packed[512];
    ft_error err;
    ft_trace *trace;
    size_t first = ZSTD_compress(packed, 256, TINY, 10, 3);
    size_t both = first + ZSTD_compress(packed + first, 256, TINY + 10, sizeof TINY - 11, 3);
    assert_int_equal(read_as_file(packed, both, &trace, &err), FT_OK);
    assert_int_equal(trace->n_events, 2);
    ft_trace_free(trace);
    for (size_t cut = 5; cut < both; cut++) {
        if (cut == first) continue;
        assert_int_equal(read_as_file(packed, cut, &trace, &err), FT_INPUT);
        assert_non_null(strstr(err.message, "zstd stream is cut short"));
    }
}

static size_t xz(const void *data, size_t length, unsigned char *out, size_t room)
{
    size_t at = 0;
    assert_int_equal(
        lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, data, length, out, &at, room), LZMA_OK);
    return at;
}

static void test_xz_file(void **state)
{
    (void)state;
    unsigned char packed[512];
    ft_error err;
    ft_trace *trace;
    size_t first = xz(TINY, 10, packed, 256);
    size_t both = first + xz(TINY + 10, sizeof TINY - 11, packed + first, 256);
    assert_int_equal(read_as_file(packed, both, &trace, &err), FT_OK);
    assert_int_equal(trace->n_events, 2);
    ft_trace_free(trace);
    for (size_t cut = 7; cut < both; cut++) {
        if (cut == first) continue;
        assert_int_equal(read_as_file(packed, cut, &trace, &err), FT_INPUT);
        assert_non_null(strstr(err.message, "xz stream is cut short"));
        assert_true(err.has_offset && err.offset == cut);
    }
    packed[first - 10] ^= 1;
    assert_int_equal(read_as_file(packed, both, &trace, &err), FT_INPUT);
    assert_non_null(strstr(err.message, "the xz stream is damaged"));
}

static void test_large_gzip_file(void **state)
{
    (void)state;
    ft_strbuf text = {0}; /* several output buffers from one input buffer */
    while (text.len < (3u << 18)) ft_strbuf_puts(&text, TINY);
    unsigned char *packed = ft_alloc(1 << 18);
    size_t length = gzip(text.text, text.len, packed, 1 << 18);
    ft_error err;
    ft_trace *trace;
    assert_int_equal(read_as_file(packed, length, &trace, &err), FT_OK);
    assert_int_equal(trace->n_events, 2 * text.len / (sizeof TINY - 1));
    ft_trace_free(trace);
    free(packed);
    ft_strbuf_release(&text);
}

/* Comments are no part of what a format is detected by, however long they are. */
static void test_comments_first(void **state)
{
    (void)state;
    for (uint32_t lines = 0; lines < 2000; lines = 2 * lines + 1) {
        ft_strbuf text = {0};
        for (uint32_t i = 0; i < lines; i++) ft_strbuf_puts(&text, "# 1,2|3 {\n  // [,]\n\n");
        ft_strbuf_puts(&text, TINY);
        ft_trace *trace = read_text(text.text, text.len);
        assert_int_equal(trace->n_events, 2);
        ft_trace_free(trace);
        ft_strbuf_puts(&text, "?");
        ft_strbuf_release(&text);
    }
    assert_refused("# only this\n", 12, FT_INPUT, 1, 1, "the input is empty");
    assert_refused("# this, then\n\nhello\n", 20, FT_INPUT, 3, 1, "not a trace");
    assert_refused("\xfd\x37zXZ\0..", 8, FT_INPUT, 1, 1, "still compressed with xz");
}

static void test_missing_file(void **state)
{
    (void)state;
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    assert_int_equal(ft_trace_read_file("/nonexistent/trace", &trace, &err), FT_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nonexistent/trace"));
    err = FT_ERROR_INIT;
    assert_int_equal(ft_trace_read_file("/tmp", &trace, &err), FT_USAGE);
    assert_non_null(strstr(err.message, "directory"));
}

/* A table that is longer than a line may be goes on in further lines. */
static void test_ndjson_long_table(void **state)
{
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_STD);
    char name[1000];
    memset(name, 'n', sizeof name);
    for (uint32_t i = 0; i < 1100; i++) {
        int length = snprintf(name, 12, "%u", i);
        name[length] = 'n';
        ft_builder_shared(b, name, sizeof name, FT_INT_SORT);
    }
    ft_builder_event(b, FT_EVENT_BEGIN, ft_builder_thread(b, "T", 1), 0, 0, 0, 0);
    ft_trace *trace = finish_trace(b);
    ft_strbuf text = {0};
    assert_int_equal(ft_ndjson_write(trace, append_to, &text, NULL), FT_OK);
    assert_true(text.len > FT_READER_MAX_LINE);
    ft_trace *back = read_text(text.text, text.len);
    assert_int_equal(back->shared.len, trace->shared.len);
    ft_trace_free(back);
    ft_strbuf_release(&text);
    ft_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_detection),         cmocka_unit_test(test_line_ends),
        cmocka_unit_test(test_long_line),         cmocka_unit_test(test_any_chunks),
        cmocka_unit_test(test_gzip_file),         cmocka_unit_test(test_zstd_file),
        cmocka_unit_test(test_xz_file),           cmocka_unit_test(test_comments_first),
        cmocka_unit_test(test_large_gzip_file),   cmocka_unit_test(test_missing_file),
        cmocka_unit_test(test_ndjson_long_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
