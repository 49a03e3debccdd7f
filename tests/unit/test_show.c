/* What people read: values by their types, terms infix, events with the program's own names; and
 * that types and assertions survive each way of keeping a trace. */
#include "term/infix.h"
#include "term/type.h"
#include "trace/binary.h"
#include "trace/reader.h"
#include "trace/show.h"
#include "trace_support.h"

/* ---- values ---------------------------------------------------------------------------------- */

#define BITS(width) ((ft_sort){FT_SORT_BITVEC, (width)})

static void values_look_like_their_types(void **state)
{
    static const struct {
        ft_type type;
        ft_sort sort;
        uint64_t bits;
        const char *text;
    } CASES[] = {
        {FT_TYPE_NONE, {FT_SORT_BITVEC, 64}, 100, "100"},
        {FT_TYPE_NONE, {FT_SORT_BITVEC, 32}, 0xffffffec, "-20"},
        {FT_TYPE_NONE, {FT_SORT_BITVEC, 1}, 1, "1"},
        {FT_TYPE_NONE, {FT_SORT_INT, 0}, (uint64_t)-3, "-3"},
        {FT_TYPE_NONE, {FT_SORT_INT, 0}, 999999999999, "999999999999"},
        {FT_TYPE_NONE, {FT_SORT_INT, 0}, 0x7ffff7d8a000, "0x7ffff7d8a000"},
        {FT_TYPE_INT8, {FT_SORT_INT, 0}, 200, "-56"},
        {FT_TYPE_UINT8, {FT_SORT_INT, 0}, (uint64_t)-56, "200"},
        {FT_TYPE_UINT32, {FT_SORT_BITVEC, 32}, 0xffffffff, "4294967295"},
        {FT_TYPE_INT64, {FT_SORT_BITVEC, 64}, UINT64_MAX, "-1"},
        {FT_TYPE_UINT64, {FT_SORT_INT, 0}, UINT64_MAX, "18446744073709551615"},
        /* a part of a variable has the width of its sort */
        {FT_TYPE_UINT32, {FT_SORT_BITVEC, 8}, 0xff, "255"},
        {FT_TYPE_BOOL, {FT_SORT_INT, 0}, 1, "true"},
        {FT_TYPE_BOOL, {FT_SORT_BITVEC, 8}, 0, "false"},
        {FT_TYPE_BOOL, {FT_SORT_BITVEC, 8}, 3, "3"},
        {FT_TYPE_NONE, {FT_SORT_BOOL, 0}, 1, "true"},
        {FT_TYPE_CHAR, {FT_SORT_INT, 0}, 'a', "'a'"},
        {FT_TYPE_CHAR, {FT_SORT_INT, 0}, '\'', "'\\''"},
        {FT_TYPE_CHAR, {FT_SORT_BITVEC, 8}, 0xff, "-1"},
        {FT_TYPE_POINTER, {FT_SORT_INT, 0}, 0, "NULL"},
        {FT_TYPE_POINTER, {FT_SORT_BITVEC, 64}, 0x55d0a2c0, "0x55d0a2c0"},
        /* memory that was given out before */
        {FT_TYPE_POINTER, {FT_SORT_INT, 0}, 0x0002000055d0a2c0, "0x55d0a2c0#3"},
        {FT_TYPE_POINTER, {FT_SORT_INT, 0}, UINT64_MAX, "0xffffffffffffffff"},
        {FT_TYPE_FLAGS32, {FT_SORT_INT, 0}, 0x80000001, "0x80000001"},
        {FT_TYPE_FLAGS8, {FT_SORT_BITVEC, 8}, 0, "0"},
        {FT_TYPE_FLOAT64, {FT_SORT_INT, 0}, 0x4004000000000000, "2.5"},
        {FT_TYPE_FLOAT64, {FT_SORT_BITVEC, 64}, 0x3fb999999999999a, "0.1"},
        {FT_TYPE_FLOAT64, {FT_SORT_BITVEC, 64}, 0xbff0000000000000, "-1.0"},
        {FT_TYPE_FLOAT32, {FT_SORT_BITVEC, 32}, 0x3dcccccd, "0.1"},
        {FT_TYPE_FLOAT64, {FT_SORT_BITVEC, 64}, 0x7ff0000000000000, "inf"},
        {FT_TYPE_FLOAT64, {FT_SORT_BITVEC, 8}, 0x40, "0x40"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_strbuf out = {0};
        ft_type_print(CASES[i].type, (ft_value){CASES[i].sort, CASES[i].bits}, &out);
        if (strcmp(ft_strbuf_text(&out), CASES[i].text) != 0)
            fail_msg("%s %llx: expected %s, got %s", ft_type_name(CASES[i].type),
                     (unsigned long long)CASES[i].bits, CASES[i].text, ft_strbuf_text(&out));
        ft_strbuf_release(&out);
    }
}

static void types_have_names(void **state)
{
    (void)state;
    for (int i = FT_TYPE_NONE + 1; i < FT_TYPES; i++) {
        ft_type type = FT_TYPE_NONE;
        const char *name = ft_type_name((ft_type)i);
        assert_true(ft_type_parse(name, strlen(name), &type));
        assert_int_equal(type, i);
        assert_int_equal(ft_type_of(ft_type_look(type), ft_type_bits(type)), type);
    }
    ft_type type = FT_TYPE_CHAR;
    assert_false(ft_type_parse("", 0, &type));
    assert_false(ft_type_parse("int", 3, &type));
    assert_int_equal(type, FT_TYPE_CHAR);
    assert_int_equal(ft_type_of(FT_LOOK_FLOAT, 16), FT_TYPE_NONE);
}

/* ---- terms ----------------------------------------------------------------------------------- */

#define HEADER                                                                                     \
    "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"T\"],\"variables\":{"                   \
    "\"a\":0,\"b\":0,\"c\":0,\"p\":true,\"q\":true,"                                               \
    "\"i\":{\"sort\":\"(_ BitVec 32)\",\"init\":0,\"type\":\"int32\"},"                            \
    "\"u\":{\"sort\":\"(_ BitVec 32)\",\"init\":0,\"type\":\"uint32\"},"                           \
    "\"w\":{\"sort\":\"(_ BitVec 32)\",\"init\":0},"                                               \
    "\"l\":{\"sort\":\"(_ BitVec 64)\",\"init\":0,\"type\":\"int64\"},"                            \
    "\"m\":{\"sort\":\"(_ BitVec 32)\",\"init\":0,\"type\":\"flags32\"},"                          \
    "\"z\":{\"sort\":\"(_ BitVec 8)\",\"init\":0,\"type\":\"char\"},"                              \
    "\"o\":{\"sort\":\"(_ BitVec 8)\",\"init\":0,\"type\":\"bool\"},"                              \
    "\"s.next\":{\"sort\":\"(_ BitVec 64)\",\"init\":0,\"type\":\"pointer\"}}"

static ft_trace *read_trace(const char *text)
{
    return read_text(text, strlen(text));
}

/* The last event's text. */
static char *shown(const ft_trace *trace)
{
    ft_strbuf out = {0};
    ft_show *show = ft_show_new(trace);
    ft_show_event(show, trace->n_events - 1, &out);
    ft_show_free(show);
    return ft_strbuf_take(&out);
}

static void terms_are_infix(void **state)
{
    static const char *const CASES[][2] = {
        {"(= (+ 90 a 120) 300)", "90 + a + 120 == 300"},
        {"(= (- a (- b c)) (- (- a b) c))", "a - (b - c) == a - b - c"},
        {"(= (* a (+ b c)) (+ (* a b) c))", "a * (b + c) == a * b + c"},
        {"(= (* a (div b c)) (div (* a b) c))", "a * (b / c) == a * b / c"},
        {"(= (mod a 2) (- a))", "a % 2 == -a"},
        {"(= (- (- a)) (- (+ a b)))", "-(-a) == -(a + b)"},
        {"(= (+ a (- 5)) (- b (- 5)))", "a - 5 == b + 5"},
        {"(> (abs a) 3)", "abs(a) > 3"},
        {"(not (< a b))", "a >= b"},
        {"(not (= a b))", "a != b"},
        {"(not (distinct a b))", "a == b"},
        {"(distinct a b c)", "distinct(a, b, c)"},
        {"(not p)", "!p"},
        {"(not (and p q))", "!(p && q)"},
        {"(and p (or q (< a b)) (not q))", "p && (q || a < b) && !q"},
        {"(or (and p q) (xor p q))", "p && q || p != q"},
        {"(=> (< a b) (and p q))", "a >= b || p && q"},
        {"(=> p q)", "!p || q"},
        {"(= (< a b) p)", "(a < b) == p"},
        {"(= (ite p a (ite q b c)) 1)", "(p ? a : q ? b : c) == 1"},
        {"(bvslt i #xffffffec)", "i < -20"},
        {"(bvult i #xffffffec)", "i < 4294967276"},
        {"(= u #xffffffec)", "u == 4294967276"},
        {"(= w #xffffffec)", "w == -20"},
        {"(= (bvadd i #xffffffec) i)", "i - 20 == i"},
        {"(= (bvsub u #xffffffec) u)", "u + 20 == u"},
        {"(= (bvand m #x00000010) #x00000000)", "(m & 0x10) == 0"},
        {"(= (bvor w #x00000010) w)", "(w | 0x10) == w"},
        {"(= (bvxor (bvand w u) (bvor w u)) w)", "(w & u ^ (w | u)) == w"},
        {"(= (bvshl w #x00000003) (bvlshr (bvadd w u) #x00000001))", "w << 3 == w + u >> 1"},
        {"(= (bvnot w) (bvneg w))", "~w == -w"},
        {"(= z #x61)", "z == 'a'"},
        {"(= o #x00)", "o == false"},
        {"(= s.next #x0000000000000000)", "s.next == NULL"},
        {"(= s.next #x000055d0a2c00010)", "s.next == 0x55d0a2c00010"},
        {"(bvsgt l ((_ sign_extend 32) i))", "l > i"},
        {"(= ((_ extract 31 0) ((_ sign_extend 32) i)) i)", "i == i"},
        {"(= ((_ extract 7 0) w) z)", "(uint8_t)w == z"},
        {"(= ((_ extract 15 8) i) z)", "(int8_t)(i >> 8) == z"},
        {"(= ((_ extract 11 4) w) ((_ extract 7 0) w))", "(int8_t)(w >> 4) == (int8_t)w"},
        {"(= ((_ extract 2 0) w) #b101)", "bits(w, 2, 0) == -3"},
        {"(= (concat z o) #x0001)", "concat(z, o) == 1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_strbuf text = {0};
        ft_strbuf_printf(&text, "%s}\n{\"thread\":\"T\",\"kind\":\"assume\",\"term\":\"%s\"}\n",
                         HEADER, CASES[i][0]);
        ft_trace *trace = read_trace(text.text);
        char *got = shown(trace);
        if (strncmp(got, "assume ", 7) != 0 || strcmp(got + 7, CASES[i][1]) != 0)
            fail_msg("%s: expected `%s', got `%s'", CASES[i][0], CASES[i][1], got);
        free(got);
        ft_trace_free(trace);
        ft_strbuf_release(&text);
    }
}

/* A term as large as a screen ends, however much is behind it. */
static void long_terms_end(void **state)
{
    ft_strbuf text = {0};
    (void)state;
    ft_strbuf_printf(&text, "%s}\n{\"thread\":\"T\",\"kind\":\"assume\",\"term\":\"(= 0 ", HEADER);
    for (int i = 0; i < 100; i++) ft_strbuf_puts(&text, "(* a (+ b ");
    ft_strbuf_puts(&text, "c");
    for (int i = 0; i < 200; i++) ft_strbuf_puts(&text, ")");
    ft_strbuf_puts(&text, ")\"}\n");
    ft_trace *trace = read_trace(text.text);
    char *got = shown(trace);
    assert_non_null(strstr(got, "..."));
    assert_in_range(strlen(got), 600, 1000);
    free(got);
    ft_trace_free(trace);
    ft_strbuf_release(&text);
}

/* ---- events ---------------------------------------------------------------------------------- */

#define RECORDED                                                                                   \
    ",\"locals\":{\"r1\":\"(_ BitVec 64)\",\"r2\":\"(_ BitVec 64)\"},"                             \
    "\"modules\":[{\"name\":\"a.out\"}],"                                                          \
    "\"assertions\":[{\"loc\":\"a.c:9\",\"function\":\"f\",\"expression\":\"s == 300\"}]}\n"

#define EVENT(kind, rest) "{\"thread\":\"T\",\"kind\":\"" kind "\"," rest "}\n"
#define READ(local, from) EVENT("assign", "\"set\":{\"" local "\":\"" from "\"},\"loc\":\"a.c:3\"")

static void events_have_the_names_of_the_program(void **state)
{
    static const char *const CASES[][2] = {
        {READ("r1", "l"), "read l"},
        {READ("r1", "l") EVENT("assign", "\"set\":{\"l\":\"(bvadd r1 #x000000000000000a)\"}"),
         "write l (l + 10)"},
        {READ("r1", "l") READ("r2", "(bvadd r1 r1)")
             EVENT("assume", "\"term\":\"(bvslt (bvmul r2 r1) #x0000000000000014)\""),
         "assume (l + l) * l < 20"},
        {READ("r1", "s.next") EVENT("assume", "\"term\":\"(= r1 #x0000000000000000)\""),
         "assume s.next == NULL"},
        {READ("r1", "l") EVENT("assert", "\"term\":\"(= r1 #x000000000000012c)\""),
         "assert(l == 300)"},
        {READ("r1", "l") EVENT("assert", "\"term\":\"(= r1 #x000000000000012c)\","
                                         "\"loc\":\"a.c:9\",\"function\":\"f\""),
         "assert(s == 300)"},
        {EVENT("assign", "\"set\":{\"r1\":\"l\",\"l\":\"(bvadd l #x0000000000000001)\"},"
                         "\"atomic\":true"),
         "atomic l := l + 1"},
        {EVENT("assign", "\"guard\":\"(= l #x0000000000000001)\","
                         "\"set\":{\"l\":\"#x0000000000000002\"}"),
         "l := 2 if l == 1"},
        {EVENT("write", "\"variable\":\"l\",\"value\":\"#xffffffffffffffff\""), "write l = -1"},
        {EVENT("read", "\"variable\":\"u\""), "read u"},
        {EVENT("rmw", "\"variable\":\"u\",\"value\":\"#xffffffff\",\"result\":\"#x00000000\""),
         "rmw u = 4294967295 -> 0"},
        {EVENT("write", "\"variable\":\"m\",\"value\":\"#x00000011\",\"external\":true"),
         "external write m = 0x11"},
        {"{\"thread\":\"T\",\"kind\":\"end\"}\n", "end"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_strbuf text = {0};
        ft_strbuf_printf(&text, "%s%s%s", HEADER, RECORDED, CASES[i][0]);
        ft_trace *trace = read_trace(text.text);
        char *got = shown(trace);
        if (strcmp(got, CASES[i][1]) != 0)
            fail_msg("%s: expected `%s', got `%s'", CASES[i][0], CASES[i][1], got);
        free(got);
        ft_trace_free(trace);
        ft_strbuf_release(&text);
    }
}

/* A person who names a local wants to see it. */
static void locals_of_other_traces_keep_their_names(void **state)
{
    (void)state;
    ft_trace *trace =
        read_trace(HEADER ",\"locals\":{\"n\":\"Int\"}}\n"
                          "{\"thread\":\"T\",\"kind\":\"assign\",\"set\":{\"n\":\"a\"}}\n"
                          "{\"thread\":\"T\",\"kind\":\"assign\",\"set\":{\"a\":\"(+ n 1)\"}}\n");
    char *got = shown(trace);
    assert_string_equal(got, "a := n + 1");
    free(got);
    ft_trace_free(trace);
}

/* In the schedule at hand an access may have another value than in the run. */
static void steps_have_room_for_the_value(void **state)
{
    (void)state;
    ft_trace *trace =
        read_trace(HEADER RECORDED READ("r1", "l")
                       EVENT("assign", "\"set\":{\"l\":\"(bvadd r1 #x000000000000000a)\"}")
                           EVENT("read", "\"variable\":\"a\",\"value\":1"));
    static const char *const TEXTS[] = {"read l", "write l (l + 10)", "read a"};
    ft_show *show = ft_show_new(trace);
    for (uint32_t e = 0; e < 3; e++) {
        ft_strbuf out = {0};
        ft_show_step(show, e, &out);
        assert_string_equal(ft_strbuf_text(&out), TEXTS[e]);
        ft_strbuf_release(&out);
    }
    ft_show_free(show);
    ft_trace_free(trace);
}

static void conditions_say_what_makes_them_false(void **state)
{
    (void)state;
    ft_trace *trace = read_trace(HEADER RECORDED READ("r1", "l") READ("r2", "l") EVENT(
        "assert", "\"term\":\"(= (bvadd r1 r2) #x000000000000012c)\""));
    ft_symbol_value values[] = {{FT_SYM_LOCAL(0), true, {BITS(64), 110}},
                                {FT_SYM_LOCAL(1), true, {BITS(64), 210}}};
    ft_show *show = ft_show_new(trace);
    ft_strbuf out = {0};
    ft_show_values(show, 2, ft_trace_action(trace, 2)->guard, values, 2, &out);
    assert_string_equal(ft_strbuf_text(&out),
                        " with l at a.c:3 = 110, l at a.c:3 = 210 (320 == 300)");
    ft_strbuf_clear(&out);
    values[0].known = values[1].known = false;
    ft_show_values(show, 2, ft_trace_action(trace, 2)->guard, values, 2, &out);
    assert_string_equal(ft_strbuf_text(&out), "");
    ft_strbuf_release(&out);
    ft_show_free(show);
    ft_trace_free(trace);
}

/* ---- keeping --------------------------------------------------------------------------------- */

static void check_kept(const ft_trace *trace)
{
    uint32_t found = 0;
    assert_int_equal(trace->shared_info[ft_intern_find(&trace->shared, "m", 1)].type,
                     FT_TYPE_FLAGS32);
    assert_int_equal(trace->shared_info[ft_intern_find(&trace->shared, "a", 1)].type, FT_TYPE_NONE);
    assert_int_equal(trace->n_asserting, 1);
    for (uint32_t i = 1; i < trace->n_locations; i++) {
        if (!trace->locations[i].asserted) continue;
        assert_string_equal(trace->locations[i].asserted, "s == 300");
        assert_string_equal(trace->locations[i].text, "a.c:9");
        found++;
    }
    assert_int_equal(found, 1);
}

typedef ft_status writer(const ft_trace *trace, ft_sink sink, void *context, ft_error *err);

static void types_and_assertions_are_kept(void **state)
{
    writer *const writers[] = {ft_binary_write, ft_ndjson_write};
    (void)state;
    ft_trace *trace = read_trace(HEADER RECORDED READ("r1", "l") EVENT(
        "assert", "\"term\":\"(= r1 l)\",\"loc\":\"a.c:9\",\"function\":\"f\""));
    check_kept(trace);
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        ft_strbuf out = {0};
        ft_error err = FT_ERROR_INIT;
        assert_int_equal(writers[i](trace, append_to, &out, &err), FT_OK);
        ft_trace *again = read_text(out.text, out.len);
        check_kept(again);
        ft_trace_free(again);
        ft_strbuf_release(&out);
    }
    ft_trace_free(trace);
}

/* Two assertions in one line: nobody knows which of them an event is. */
static void two_assertions_of_one_place_are_none(void **state)
{
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_NDJSON);
    uint32_t t = ft_builder_thread(b, "T", 1), loc = ft_builder_location(b, "a.c:1", 5, NULL, 0);
    ft_builder_assertion(b, loc, "x", 1);
    ft_builder_assertion(b, loc, "x", 1);
    assert_int_equal(ft_builder_peek(b)->n_asserting, 1);
    ft_builder_assertion(b, loc, "y", 1);
    ft_builder_assertion(b, loc, "x", 1);
    assert_null(ft_builder_peek(b)->locations[loc].asserted);
    assert_int_equal(ft_builder_peek(b)->n_asserting, 0);
    ft_builder_event(b, FT_EVENT_BEGIN, t, 0, loc, FT_NO_VALUE, 0);
    ft_trace_free(finish_trace(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_look_like_their_types),
        cmocka_unit_test(types_have_names),
        cmocka_unit_test(terms_are_infix),
        cmocka_unit_test(long_terms_end),
        cmocka_unit_test(events_have_the_names_of_the_program),
        cmocka_unit_test(locals_of_other_traces_keep_their_names),
        cmocka_unit_test(steps_have_room_for_the_value),
        cmocka_unit_test(conditions_say_what_makes_them_false),
        cmocka_unit_test(types_and_assertions_are_kept),
        cmocka_unit_test(two_assertions_of_one_place_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
