/* The server-worker protocol: frames, their decoder and the blocking ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "wire/scan.h"
#include "wire/wire.h"

static void test_table(void **state)
{
    (void)state;
    assert_string_equal(ft_wire_name(FT_WIRE_DATA_END), "data-end");
    assert_true(ft_wire_is_json(FT_WIRE_HELLO));
    assert_false(ft_wire_is_json(FT_WIRE_DATA));
    assert_true(ft_wire_ends(FT_WIRE_SOLVED));
    assert_false(ft_wire_ends(FT_WIRE_VERDICT));
}

static void test_header(void **state)
{
    static const unsigned char EXPECTED[] = {0x56, 0x34, 0x12, 0, FT_WIRE_DATA, 0, 0, 0};
    unsigned char header[FT_WIRE_HEADER];
    (void)state;
    ft_wire_header(header, FT_WIRE_DATA, 0x123456);
    assert_memory_equal(header, EXPECTED, sizeof header);
}

/* Three frames: JSON, empty, bytes. */
static void add_frames(ft_strbuf *out)
{
    json_t *json = json_pack("{s:i,s:s}", "token", 7, "text", "a\n\xc3\xa4");
    ft_wire_frame_json(out, FT_WIRE_PROGRESS, json);
    ft_wire_frame_bytes(out, FT_WIRE_DATA_END, NULL, 0);
    ft_wire_frame_bytes(out, FT_WIRE_DATA, "\0\1\2", 3);
    json_decref(json);
}

static void check_frame(const ft_wire_frame *frame, unsigned number)
{
    json_t *json;
    switch (number) {
    case 0:
        assert_int_equal(frame->type, FT_WIRE_PROGRESS);
        assert_int_equal(ft_wire_json(frame, &json, NULL), FT_OK);
        assert_int_equal(json_integer_value(json_object_get(json, "token")), 7);
        assert_string_equal(json_string_value(json_object_get(json, "text")), "a\n\xc3\xa4");
        json_decref(json);
        break;
    case 1:
        assert_int_equal(frame->type, FT_WIRE_DATA_END);
        assert_int_equal(frame->length, 0);
        break;
    default:
        assert_int_equal(frame->type, FT_WIRE_DATA);
        assert_int_equal(frame->length, 3);
        assert_memory_equal(frame->payload, "\0\1\2", 3);
    }
}

/* Every chunk size from one byte to all at once. */
static void test_decoder(void **state)
{
    ft_strbuf stream = {0};
    (void)state;
    add_frames(&stream);
    for (size_t chunk = 1; chunk <= stream.len; chunk++) {
        ft_wire_decoder decoder = {0};
        unsigned frames = 0;
        for (size_t at = 0; at < stream.len; at += chunk) {
            size_t length = stream.len - at < chunk ? stream.len - at : chunk;
            ft_wire_decoder_feed(&decoder, stream.text + at, length);
            for (;;) {
                ft_wire_frame frame;
                bool have = true;
                assert_int_equal(ft_wire_decoder_next(&decoder, &frame, &have, NULL), FT_OK);
                if (!have) break;
                check_frame(&frame, frames++);
            }
        }
        assert_int_equal(frames, 3);
        ft_wire_decoder_release(&decoder);
    }
    ft_strbuf_release(&stream);
}

static void expect_bad(const unsigned char header[FT_WIRE_HEADER], const char *part)
{
    ft_wire_decoder decoder = {0};
    ft_wire_frame frame;
    ft_error err = FT_ERROR_INIT;
    bool have = false;
    for (int i = 0; i < FT_WIRE_HEADER; i++) {
        assert_int_equal(ft_wire_decoder_next(&decoder, &frame, &have, &err), FT_OK);
        assert_false(have);
        ft_wire_decoder_feed(&decoder, header + i, 1);
    }
    assert_int_equal(ft_wire_decoder_next(&decoder, &frame, &have, &err), FT_INPUT);
    assert_non_null(strstr(err.message, part));
    ft_wire_decoder_release(&decoder);
}

static void test_bad_headers(void **state)
{
    (void)state;
    expect_bad((const unsigned char[]){1, 0, 0, 0, FT_WIRE_TYPES, 0, 0, 0}, "is not a frame type");
    expect_bad((const unsigned char[]){1, 0, 0, 0, 255, 0, 0, 0}, "is not a frame type");
    expect_bad((const unsigned char[]){1, 0, 0, 0, FT_WIRE_DATA, 1, 0, 0}, "padding");
    expect_bad((const unsigned char[]){1, 0, 0, 0, FT_WIRE_DATA, 0, 1, 0}, "padding");
    expect_bad((const unsigned char[]){1, 0, 0, 0, FT_WIRE_DATA, 0, 0, 9}, "padding");
    expect_bad((const unsigned char[]){1, 0, 0, 1, FT_WIRE_DATA, 0, 0, 0}, "16777217");
    expect_bad((const unsigned char[]){255, 255, 255, 255, FT_WIRE_DATA, 0, 0, 0}, "4294967295");
}

static void test_largest(void **state)
{
    ft_wire_decoder decoder = {0};
    ft_wire_frame frame;
    ft_strbuf stream = {0};
    bool have = false;
    char *block = ft_calloc(FT_WIRE_MAX_PAYLOAD, 1);
    (void)state;
    block[FT_WIRE_MAX_PAYLOAD - 1] = 'z';
    ft_wire_frame_bytes(&stream, FT_WIRE_DATA, block, FT_WIRE_MAX_PAYLOAD);
    ft_wire_decoder_feed(&decoder, stream.text, stream.len - 1);
    assert_int_equal(ft_wire_decoder_next(&decoder, &frame, &have, NULL), FT_OK);
    assert_false(have);
    ft_wire_decoder_feed(&decoder, stream.text + stream.len - 1, 1);
    assert_int_equal(ft_wire_decoder_next(&decoder, &frame, &have, NULL), FT_OK);
    assert_true(have);
    assert_int_equal(frame.length, FT_WIRE_MAX_PAYLOAD);
    assert_int_equal(frame.payload[frame.length - 1], 'z');
    assert_int_equal(ft_wire_write(-1, FT_WIRE_DATA, block, (size_t)FT_WIRE_MAX_PAYLOAD + 1, NULL),
                     FT_LIMIT);
    free(block);
    ft_strbuf_release(&stream);
    ft_wire_decoder_release(&decoder);
}

static void test_bad_json(void **state)
{
    static const char *const BAD[] = {
        "", "{", "[]", "7", "{\"a\":1,\"a\":2}", "{\"a\":NaN}", "{} {}", "{\"a\":\"\xff\"}"};
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ft_wire_frame frame = {FT_WIRE_PLAN, (const unsigned char *)BAD[i], strlen(BAD[i])};
        ft_error err = FT_ERROR_INIT;
        json_t *json = NULL;
        assert_int_equal(ft_wire_json(&frame, &json, &err), FT_INPUT);
        assert_null(json);
        assert_non_null(strstr(err.message, "plan"));
    }
}

static void test_descriptors(void **state)
{
    int ends[2];
    ft_wire_decoder decoder = {0};
    bool eof = true;
    json_t *json = json_pack("{s:i,s:s}", "token", 7, "text", "a\n\xc3\xa4");
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(ft_wire_write_json(ends[1], FT_WIRE_PROGRESS, json, NULL), FT_OK);
    assert_int_equal(ft_wire_write(ends[1], FT_WIRE_DATA_END, NULL, 0, NULL), FT_OK);
    assert_int_equal(ft_wire_write(ends[1], FT_WIRE_DATA, "\0\1\2", 3, NULL), FT_OK);
    close(ends[1]);
    for (unsigned i = 0; i < 3; i++) {
        ft_wire_frame frame;
        assert_int_equal(ft_wire_read(ends[0], &decoder, &frame, &eof, NULL), FT_OK);
        assert_false(eof);
        check_frame(&frame, i);
    }
    ft_wire_frame none;
    assert_int_equal(ft_wire_read(ends[0], &decoder, &none, &eof, NULL), FT_OK);
    assert_true(eof);
    close(ends[0]);
    json_decref(json);
    ft_wire_decoder_release(&decoder);
}

/* Cut anywhere but between frames, the stream's end is an error. */
static void test_truncated(void **state)
{
    ft_strbuf stream = {0};
    (void)state;
    ft_wire_frame_bytes(&stream, FT_WIRE_DATA, "abc", 3);
    for (size_t cut = 1; cut < stream.len; cut++) {
        int ends[2];
        bool eof = false;
        ft_wire_decoder decoder = {0};
        ft_wire_frame frame;
        ft_error err = FT_ERROR_INIT;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], stream.text, cut), cut);
        close(ends[1]);
        assert_int_equal(ft_wire_read(ends[0], &decoder, &frame, &eof, &err), FT_INPUT);
        assert_non_null(strstr(err.message, "ends within a frame"));
        close(ends[0]);
        ft_wire_decoder_release(&decoder);
    }
    ft_strbuf_release(&stream);
}

static void expect_round_trip(const ft_error *err)
{
    ft_error back = FT_ERROR_INIT;
    json_t *json = ft_wire_error_to_json(err);
    ft_wire_error_from_json(json, &back);
    assert_int_equal(back.code, err->code);
    assert_int_equal(back.line, err->line);
    assert_int_equal(back.column, err->column);
    assert_int_equal(back.has_offset, err->has_offset);
    assert_int_equal(back.offset, err->offset);
    assert_string_equal(back.message, err->message);
    json_decref(json);
}

static void test_errors(void **state)
{
    ft_error err = FT_ERROR_INIT, other = FT_ERROR_INIT, foreign = FT_ERROR_INIT;
    (void)state;
    ft_error_at(&err, FT_INPUT, 3, 14, "unknown variable `%s'", "foo");
    expect_round_trip(&err);
    ft_error_offset(&other, FT_LIMIT, 0, "too long");
    expect_round_trip(&other);

    json_t *json = json_object();
    ft_wire_error_from_json(json, &foreign);
    assert_int_equal(foreign.code, FT_INTERNAL);
    assert_true(foreign.message[0]);
    ft_wire_error_from_json(json, &err); /* the first error wins */
    assert_int_equal(err.code, FT_INPUT);
    json_decref(json);

    ft_error bytes = FT_ERROR_INIT;
    ft_error_set(&bytes, FT_INPUT, "name `\xff'");
    json = ft_wire_error_to_json(&bytes);
    assert_string_equal(json_string_value(json_object_get(json, "message")), "name `?'");
    json_decref(json);
}

/* ---- scanning ---- */

static const char *const GOOD[] = {
    "{}",
    " { \"a\" : [ 1, -2.5e+10, 0.1E-300, true, false, null, \"\", {} , [] ] } ",
    "{\"a\":\"\\u00e9\\ud83d\\ude00\\n\\/\\\\\\\"\",\"b\":\"\xc3\xa9\xf0\x9f\x98\x80\"}",
    "{\"a\":999999999999999999,\"a2\":{\"a\":1}}",
};

/* What is no JSON, and what some readers of JSON refuse. */
static const char *const BAD[] = {
    "",
    "[]",
    "1",
    "{",
    "{}x",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{,}",
    "{a:1}",
    "{'a':1}",
    "{\"a\":01}",
    "{\"a\":1.}",
    "{\"a\":.5}",
    "{\"a\":-}",
    "{\"a\":1e}",
    "{\"a\":+1}",
    "{\"a\":NaN}",
    "{\"a\":1000000000000000000}",
    "{\"a\":1e400}",
    "{\"a\":tru}",
    "{\"a\":[1,]}",
    "{\"a\":[1}",
    "{\"a\":\"}",
    "{\"a\":\"\\x\"}",
    "{\"a\":\"\\u12\"}",
    "{\"a\":\"\\u0000\"}",
    "{\"a\":\"\\ud83d\"}",
    "{\"a\":\"\\ude00\"}",
    "{\"a\":\"\n\"}",
    "{\"a\":\"\x80\"}",
    "{\"a\":\"\xc0\xaf\"}",
    "{\"a\":\"\xed\xa0\x80\"}",
    "{\"a\":\"\xf4\x90\x80\x80\"}",
    "{\"a\":\"\xe2\x82\"}",
    "{\"a\":1,\"a\":2}",
    "{\"\\u0061\":1}",
};

static void append(char *text, char c)
{
    size_t length = strlen(text);
    text[length] = c;
    text[length + 1] = '\0';
}

static ft_status scan(const char *text, size_t length)
{
    ft_scan_member a = {.name = "a"};
    return ft_scan_object(text, length, &a, 1, NULL);
}

static void test_scan(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        if (scan(GOOD[i], strlen(GOOD[i])) != FT_OK) fail_msg("refused: %s", GOOD[i]);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        if (scan(BAD[i], strlen(BAD[i])) == FT_OK) fail_msg("accepted: %s", BAD[i]);
    for (int deep = 0; deep < 2; deep++) {
        char text[1024] = "{\"a\":";
        int depth = FT_SCAN_DEPTH - 1 + deep;
        for (int i = 0; i < depth; i++) append(text, '[');
        for (int i = 0; i < depth; i++) append(text, ']');
        append(text, '}');
        assert_int_equal(scan(text, strlen(text)), deep ? FT_INPUT : FT_OK);
    }
}

/* Whatever is done to a text, the scanner accepts nothing that the parser refuses. */
static void test_scan_is_strict(void **state)
{
    static const char TEXT[] =
        "{\"k\":[1,-2.5e3,\"\\u00e9\xc3\xa9\"],\"m\":{\"n\":null,\"t\":true}}";
    static const char BYTES[] = "{}[],:\"\\u0e-.1 \x80\xc3\xed\n";
    (void)state;
    unsigned accepted = 0;
    for (size_t i = 0; i < sizeof TEXT - 1; i++)
        for (size_t k = 0; k < sizeof BYTES - 1; k++) {
            char text[sizeof TEXT];
            memcpy(text, TEXT, sizeof TEXT);
            text[i] = BYTES[k];
            if (ft_scan_object(text, sizeof TEXT - 1, NULL, 0, NULL) != FT_OK) continue;
            json_t *parsed = json_loadb(text, sizeof TEXT - 1, 0, NULL);
            if (!parsed) fail_msg("only the scanner accepts %s", text);
            json_decref(parsed);
            accepted++;
        }
    assert_true(accepted > 50);
}

static void test_scan_finds(void **state)
{
    static const char TEXT[] = "{\"z\":{\"a\":9},\"a\":-7,\"o\":{\"in\":\"x\\ny\",\"r\":1.5}}";
    ft_scan_member inner[] = {{.name = "in"}, {.name = "r"}};
    ft_scan_member of[] = {{.name = "a"}, {"o", inner, 2, {NULL, 0}}, {.name = "none"}};
    int64_t number = 0;
    double real = 0;
    char word[8];
    (void)state;
    assert_int_equal(ft_scan_object(TEXT, sizeof TEXT - 1, of, 3, NULL), FT_OK);
    assert_true(ft_scan_integer(of[0].value, &number));
    assert_int_equal(number, -7);
    assert_null(of[2].value.at);
    assert_true(ft_scan_equals(inner[0].value, "x\ny"));
    assert_false(ft_scan_equals(inner[0].value, "x"));
    assert_false(ft_scan_word(inner[0].value, word, sizeof word));
    assert_true(ft_scan_number(inner[1].value, &real));
    assert_true(real > 1.4 && real < 1.6);
    assert_false(ft_scan_integer(inner[1].value, &number));
    const ft_span digits = {"1234567890123456789012345678901234567890.5", 42};
    assert_false(ft_scan_integer(digits, &number)); /* a real that no int64_t holds */
    const ft_span plain = {"\"x\"", 3}, escaped = {"\"\\u0078\"", 8}, other = {"\"y\"", 3};
    assert_true(ft_scan_same(plain, escaped) && ft_scan_same(escaped, plain));
    assert_false(ft_scan_same(plain, other) || ft_scan_same(escaped, other));
}

/* Element after element, as text; what is no list, or ends too early, has no more of them. */
static void test_scan_lists(void **state)
{
    (void)state;
    static const struct {
        const char *list, *elements;
    } CASES[] = {
        {"[1, \"a,]\" ,[2,[3]],{\"x\":[4]}]", "1;\"a,]\";[2,[3]];{\"x\":[4]};"},
        {"[]", ""},
        {" [ ] ", ""},
        {"[null]", "null;"},
        {"[1,2", "1;2;"},
        {"[1,", "1;"},
        {"[", ""},
        {"{}", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_strbuf got = {0};
        ft_span rest = {CASES[i].list, strlen(CASES[i].list)}, element;
        while (ft_scan_next(&rest, &element)) {
            ft_strbuf_add(&got, element.at, element.length);
            ft_strbuf_puts(&got, ";");
        }
        assert_string_equal(ft_strbuf_text(&got), CASES[i].elements);
        assert_false(ft_scan_next(&rest, &element));
        ft_strbuf_release(&got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),          cmocka_unit_test(test_scan),
        cmocka_unit_test(test_scan_is_strict), cmocka_unit_test(test_scan_finds),
        cmocka_unit_test(test_scan_lists),     cmocka_unit_test(test_header),
        cmocka_unit_test(test_decoder),        cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_largest),        cmocka_unit_test(test_bad_json),
        cmocka_unit_test(test_descriptors),    cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
