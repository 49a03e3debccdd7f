#include "unit/reader_check.h"

#include <stdio.h>

#define V1 "{\"format\":\"foretell\",\"version\":1,"
/* Everything declared; `l` mutex, `r` recursive, `z` without initial value. */
#define HEAD                                                                                       \
    V1 "\"threads\":[\"T1\",\"T2\"],"                                                              \
       "\"variables\":{\"x\":{\"sort\":\"Int\",\"init\":0},\"y\":-3,\"z\":\"Int\",\"b\":true,"     \
       "\"v\":{\"sort\":\"(_ BitVec 8)\",\"init\":\"#x0f\"}},"                                     \
       "\"locals\":{\"a\":\"Int\",\"c\":{\"sort\":\"Int\",\"init\":7},\"w\":\"(_ BitVec 8)\"},"    \
       "\"locks\":{\"l\":\"mutex\",\"r\":\"recursive\"},\"semaphores\":{\"s\":2}}\n"
#define T1 "{\"thread\":\"T1\",\"kind\":"
#define T2 "{\"thread\":\"T2\",\"kind\":"

static void test_declarations(void **state)
{
    (void)state;
    ft_trace *t = reader_accept(HEAD T1 "\"begin\"}\n", 0);
    assert_int_equal(t->format, FT_FORMAT_NDJSON);
    assert_int_equal(t->threads.len, 2);
    assert_int_equal(t->shared.len, 5);
    assert_int_equal(t->locals.len, 3);
    assert_int_equal((int64_t)t->values[t->shared_info[1].initial].bits, -3);
    assert_int_equal(t->shared_info[2].initial, FT_NO_VALUE);
    assert_int_equal(t->shared_info[3].sort.kind, FT_SORT_BOOL);
    assert_int_equal(t->values[t->shared_info[4].initial].bits, 15);
    assert_int_equal(t->shared_info[4].sort.width, 8);
    assert_int_equal(t->values[t->local_info[1].initial].bits, 7);
    assert_int_equal(t->lock_kind[0], FT_LOCK_MUTEX);
    assert_int_equal(t->lock_kind[1], FT_LOCK_RECURSIVE);
    assert_int_equal(t->semaphore_initial[0], 2);
    ft_trace_free(t);
}

static const char EVERY_KIND[] = HEAD T1
    "\"begin\"}\n" T1 "\"fork\",\"child\":\"T2\"}\n" T1
    "\"read\",\"variable\":\"x\",\"value\":0,\"loc\":\"a.c:3\",\"function\":\"main\"}\n\n" T1
    "\"write\",\"variable\":\"z\"}\n" T1
    "\"write\",\"value\":\"-5\",\"variable\":\"x\",\"atomic\":true}\n" T1 "\"tx-begin\"}\n" T1
    "\"assign\",\"set\":{\"a\":\"(+ x 1)\",\"y\":9,\"b\":false}}\r\n" T1
    "\"assign\",\"guard\":\"(> a 0)\",\"set\":{\"v\":\"(bvadd v #x01)\"}}\n" T1
    "\"tx-end\"}\n   \n" T1 "\"assume\",\"term\":\"(= c 7)\"}\n" T1
    "\"acquire\",\"lock\":\"l\"}\n" T1 "\"release\",\"lock\":\"l\",\"condition\":true}\n" T1
    "\"acquire\",\"lock\":\"l\",\"condition\":true}\n" T1 "\"release\",\"lock\":\"l\"}\n" T1
    "\"wait\",\"semaphore\":\"s\"}\n" T1 "\"post\",\"semaphore\":\"s\"}\n" T1
    "\"edge-out\",\"edge\":\"e 1\"}\n" T2 "\"edge-in\",\"edge\":\"e 1\"}\n" T2
    "\"assert\",\"term\":\"b\"}\n" T2 "\"end\"}\n" T1 "\"join\",\"child\":\"T2\"}";

static void test_every_kind(void **state)
{
    (void)state;
    size_t pieces[] = {0, 1, 7, 4096};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        ft_trace *t = reader_accept(EVERY_KIND, pieces[i]);
        reader_expect_events(t, "T1 begin\nT1 fork T2\nT1 read x = 0\nT1 write z\n"
                                "T1 atomic write x = (- 5)\nT1 tx-begin\n"
                                "T1 a := (+ x 1), y := 9, b := false\n"
                                "T1 v := (bvadd v #x01) if (> a 0)\nT1 tx-end\nT1 assume (= c 7)\n"
                                "T1 acquire l\nT1 release l\nT1 acquire l\nT1 release l\n"
                                "T1 wait s\nT1 post s\nT1 edge-out e 1\nT2 edge-in e 1\n"
                                "T2 assert b\nT2 end\nT1 join T2\n");
        assert_string_equal(ft_trace_location_text(t, t->loc[2]), "a.c:3");
        assert_string_equal(t->locations[t->loc[2]].function, "main");
        assert_int_equal(t->loc[3], FT_NO_LOC);
        assert_int_equal(t->flags[10] & FT_FLAG_CONDITION, 0);
        assert_int_equal(t->flags[11] & FT_FLAG_CONDITION, FT_FLAG_CONDITION);
        assert_int_equal(t->flags[12] & FT_FLAG_CONDITION, FT_FLAG_CONDITION);
        ft_trace_free(t);
    }
}

static void test_escapes(void **state)
{
    (void)state;
    ft_trace *t = reader_accept(
        V1 "\"threads\":[\"\\u00e9\\ud83d\\ude00\\\"\"],\"variables\":{\"x\":\"Int\"}}\n"
           "{\"\\u0074hread\":\"\xc3\xa9\xf0\x9f\x98\x80\\\"\",\"kind\":\"re\\u0061d\","
           "\"variable\":\"x\",\"loc\":\"a\\/b\\\\c\"}",
        0);
    assert_string_equal(t->threads.names[0], "\xc3\xa9\xf0\x9f\x98\x80\"");
    assert_string_equal(ft_trace_location_text(t, t->loc[0]), "a/b\\c");
    ft_trace_free(t);
}

static void test_not_json(void **state)
{
    (void)state;
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",\"value\":@@NaN}", "NaN");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",\"value\":@@1.5}", "integers");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",\"value\":@@1e3}", "integers");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",\"value\":@@01}", "begin with 0");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",\"value\":@@-}", "number");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",\"value\":@@+1}", "JSON value");
    reader_refuse(HEAD T1 "\"begin\"} @@x", "after the JSON value");
    reader_refuse(HEAD T1 "\"begin\"@@", "line ends");
    reader_refuse(HEAD T1 "\"begin\",@@}", "member name");
    reader_refuse(HEAD T1 "\"begin\" @@:1}", "expected ','");
    reader_refuse(HEAD "{\"thread\" @@\"T1\"}", "expected ':'");
    reader_refuse(HEAD T1 "@@\"begin}", "not closed");
    reader_refuse(HEAD T1 "\"beg@@\\in\"}", "escape");
    reader_refuse(HEAD T1 "\"beg@@\\u00g0in\"}", "escape");
    reader_refuse(HEAD T1 "\"beg@@\\ud800in\"}", "escape");
    reader_refuse(HEAD T1 "\"beg@@\\udc00in\"}", "escape");
    reader_refuse(HEAD T1 "\"begin@@\\u0000\"}", "NUL");
    reader_refuse(HEAD T1 "\"begin@@\xff\"}", "UTF-8");
    reader_refuse(HEAD T1 "\"begin@@\xc0\xaf\"}", "UTF-8");
    reader_refuse(HEAD T1 "\"begin@@\xed\xa0\x80\"}", "UTF-8");
    reader_refuse(HEAD T1 "\"begin@@\xf4\x90\x80\x80\"}", "UTF-8");
    reader_refuse(HEAD T1 "\"begin@@\xe2\x82\"}", "UTF-8");
    reader_refuse(HEAD "@@[1]", "object on every line");
    reader_refuse(HEAD "@@null", "object on every line");
}

/* Behind the head of the input, where control characters already say that it is no text at all. */
static void test_control_bytes(void **state)
{
    (void)state;
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, HEAD);
    for (int i = 0; i < 5000; i++) ft_strbuf_puts(&text, "\n");
    size_t head = text.len;
    ft_strbuf_puts(&text, T1 "\"begin@@\x01\"}");
    reader_refuse(text.text, "control character 0x01");
    text.len = head;
    ft_strbuf_puts(&text, T1 "\"begin\"?}");
    size_t at = text.len - 2;
    text.text[at] = '\0';
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    assert_int_equal(ft_trace_read_memory(text.text, text.len, &trace, &err), FT_INPUT);
    assert_int_equal(err.line, 5002);
    assert_int_equal(err.column, at - head + 1);
    ft_strbuf_release(&text);
}

static void test_nesting(void **state)
{
    (void)state;
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, HEAD T1 "\"begin\",\"loc\":");
    for (int i = 0; i < FT_READER_MAX_DEPTH - 1; i++) ft_strbuf_puts(&text, "[");
    ft_strbuf_puts(&text, "@@");
    for (int i = 0; i < 100000; i++) ft_strbuf_puts(&text, "[");
    reader_refuse(text.text, "nested");
    ft_strbuf_release(&text);
    reader_refuse(HEAD T1 "\"begin\",\"loc\":@@[[[[[[[[]]]]]]]]}", "location");
}

static void test_header_errors(void **state)
{
    (void)state;
    reader_refuse("{@@\"thread\":\"T1\",\"kind\":\"begin\"}\n", "unknown member");
    reader_refuse("@@{\"version\":1,\"threads\":[\"T1\"]}\n", "first line must be the header");
    reader_refuse("{\"format\":@@\"other\",\"version\":1,\"threads\":[\"T1\"]}\n", "foretell");
    reader_refuse("{\"format\":\"foretell\",\"version\":@@2,\"threads\":[\"T1\"]}\n", "version");
    reader_refuse("{\"format\":\"foretell\",\"version\":@@\"1\",\"threads\":[\"T1\"]}\n",
                  "version");
    reader_refuse("@@{\"format\":\"foretell\",\"threads\":[\"T1\"]}\n", "version");
    reader_refuse("@@" V1 "\"locks\":{}}\n", "threads");
    reader_refuse(V1 "\"threads\":@@\"T1\"}\n", "list");
    reader_refuse(V1 "\"threads\":@@[]}\n", "empty");
    reader_refuse(V1 "\"threads\":[@@1]}\n", "thread name");
    reader_refuse(V1 "\"threads\":[@@\"\"]}\n", "thread name");
    reader_refuse(V1 "\"threads\":[@@\"a\\nb\"]}\n", "control");
    reader_refuse(V1 "\"threads\":[@@\"a\\u0085b\"]}\n", "control");
    reader_refuse(V1 "\"threads\":[\"T1\",@@\"T1\"]}\n", "twice");
    reader_refuse(V1 "\"threads\":[\"T1\"],@@\"threads\":[\"T2\"]}\n", "duplicate");
    reader_refuse(V1 "\"threads\":[\"T1\"],@@\"thread\":[\"T2\"]}\n", "unknown member");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"variables\":@@[\"x\"]}\n", "object");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"variables\":{\"x\":0,@@\"x\":0}}\n", "twice");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"locals\":{@@\"x\":0},\"variables\":{\"x\":0}}\n",
                  "twice");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"variables\":{\"x\":@@null}}\n", "sort");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"variables\":{\"x\":@@\"Real\"}}\n", "Real");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"variables\":{\"x\":@@\"(_ BitVec 65)\"}}\n", "65");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"variables\":{\"x\":@@{\"init\":0}}}\n", "sort");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"variables\":{\"x\":{\"sort\":@@3}}}\n", "sort");
    reader_refuse(V1
                  "\"threads\":[\"T1\"],\"variables\":{\"x\":{\"sort\":\"Int\",@@\"Init\":0}}}\n",
                  "unknown member");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"variables\":"
                     "{\"x\":{\"sort\":\"Bool\",\"init\":@@0}}}\n",
                  "Bool");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"variables\":"
                     "{\"x\":{\"sort\":\"(_ BitVec 8)\",\"init\":@@256}}}\n",
                  "BitVec 8");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"variables\":{\"x\":@@9223372036854775808}}\n", "Int");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"locks\":{\"l\":@@\"spin\"}}\n", "mutex");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"semaphores\":{\"s\":@@-1}}\n", "semaphore");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"semaphores\":{\"s\":@@4294967296}}\n", "semaphore");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"semaphores\":{\"s\":@@\"0\"}}\n", "semaphore");
    reader_refuse("@@" V1 "\"threads\":[\"T1\"]}", "no events");
}

static void test_event_members(void **state)
{
    (void)state;
    reader_refuse(HEAD "@@{\"kind\":\"begin\"}", "thread");
    reader_refuse(HEAD "@@{\"thread\":\"T1\"}", "kind");
    reader_refuse(HEAD T1 "@@\"raed\",\"variable\":\"x\"}", "unknown event kind \"raed\"");
    reader_refuse(HEAD T1 "@@7,\"variable\":\"x\"}", "unknown event kind");
    reader_refuse(HEAD "@@" T1 "\"read\"}", "variable");
    reader_refuse(HEAD "@@" T1 "\"assign\"}", "set");
    reader_refuse(HEAD "@@" T1 "\"assert\"}", "term");
    reader_refuse(HEAD "@@" T1 "\"acquire\"}", "lock");
    reader_refuse(HEAD "@@" T1 "\"post\"}", "semaphore");
    reader_refuse(HEAD "@@" T1 "\"fork\"}", "child");
    reader_refuse(HEAD "@@" T1 "\"edge-out\"}", "edge");
    reader_refuse(HEAD T1 "\"begin\",@@\"lock\":\"l\"}", "does not belong");
    reader_refuse(HEAD T1 "\"acquire\",\"lock\":\"l\",@@\"atomic\":true}", "does not belong");
    reader_refuse(HEAD T1 "\"begin\",@@\"Loc\":\"a.c\"}", "unknown member \"Loc\"");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",@@\"variable\":\"x\"}", "duplicate");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",@@\"vari\\u0061ble\":\"x\"}", "duplicate");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",\"atomic\":@@1}", "true or false");
    reader_refuse(HEAD T1 "\"begin\",@@\"function\":\"f\"}", "loc");
    reader_refuse(HEAD T1 "\"begin\",\"loc\":@@3}", "location");
    reader_refuse(HEAD T1 "\"begin\",\"loc\":@@\"\"}", "location");
}

static void test_undeclared(void **state)
{
    (void)state;
    reader_refuse(HEAD "{\"thread\":@@\"T3\",\"kind\":\"begin\"}", "undeclared thread \"T3\"");
    reader_refuse(HEAD "{\"kind\":\"begin\",\"thread\":@@1}", "thread");
    reader_refuse(HEAD T1 "\"read\",\"variable\":@@\"q\"}", "undeclared variable \"q\"");
    reader_refuse(HEAD T1 "\"read\",\"variable\":@@\"a\"}", "undeclared variable \"a\"");
    reader_refuse(HEAD T1 "\"acquire\",\"lock\":@@\"x\"}", "undeclared lock");
    reader_refuse(HEAD T1 "\"wait\",\"semaphore\":@@\"l\"}", "undeclared semaphore");
    reader_refuse(HEAD T1 "\"fork\",\"child\":@@\"T9\"}", "undeclared thread");
    reader_refuse(HEAD T1 "\"assign\",\"set\":{@@\"q\":0}}", "undeclared variable");
    reader_refuse(HEAD T1 "\"assert\",\"term\":\"(= @@q 0)\"}", "undeclared variable");
}

static void test_values(void **state)
{
    (void)state;
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",\"value\":@@true}", "Int");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",\"value\":@@null}", "Int");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"x\",\"value\":@@9223372036854775808}", "Int");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"b\",\"value\":@@1}", "Bool");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"v\",\"value\":@@\"#x0ff\"}", "BitVec 8");
    reader_refuse(HEAD T1 "\"read\",\"variable\":\"v\",\"value\":@@256}", "BitVec 8");
    ft_trace *t =
        reader_accept(HEAD T1 "\"read\",\"variable\":\"v\",\"value\":255}\n" T1
                              "\"read\",\"variable\":\"x\",\"value\":-9223372036854775808}",
                      0);
    assert_int_equal(t->values[t->data[0]].bits, 255);
    assert_true((int64_t)t->values[t->data[1]].bits == INT64_MIN);
    ft_trace_free(t);
}

static void test_terms(void **state)
{
    (void)state;
    reader_refuse(HEAD T1 "\"assert\",\"term\":\"(= x @@b)\"}", "");
    reader_refuse(HEAD T1 "\"assert\",\"term\":\"@@(+ x 1)\"}", "Bool");
    reader_refuse(HEAD T1 "\"assert\",\"term\":@@1}", "Bool");
    reader_refuse(HEAD T1 "\"assert\",\"term\":@@[]}", "Bool");
    reader_refuse(HEAD T1 "\"assign\",\"guard\":\"@@x\",\"set\":{\"x\":0}}", "Bool");
    reader_refuse(HEAD T1 "\"assign\",\"set\":{\"x\":\"@@b\"}}", "the target has sort Int");
    reader_refuse(HEAD T1 "\"assign\",\"set\":{\"b\":@@0}}", "Bool");
    reader_refuse(HEAD T1 "\"assign\",\"set\":{\"x\":0,@@\"x\":1}}", "duplicate target");
    reader_refuse(HEAD T1 "\"assign\",\"set\":@@[]}", "object");
    /* An escape before the error shifts the column in the line, not in the term. */
    reader_refuse(HEAD T1 "\"assert\",\"term\":\"(\\u003d x @@q)\"}", "undeclared");
    reader_refuse(HEAD T1 "\"assert\",\"term\":\"(= @@z 0)\"}", "initial value");
    reader_refuse(V1
                  "\"threads\":[\"T1\"],\"locals\":{\"a\":{\"sort\":\"Int\",\"init\":null}}}\n" T1
                  "\"assume\",\"term\":\"(= @@a 0)\"}",
                  "assign it first");
    reader_refuse(HEAD T1 "\"assign\",\"set\":{@@\"z\":0}}", "initial value");
}

static ft_status append(void *context, const void *bytes, size_t n, ft_error *err)
{
    (void)err;
    ft_strbuf_add(context, bytes, n);
    return FT_OK;
}

/* A variable in a term whose initial value is said to be unknown; written and read again. */
static void test_unknown_initial(void **state)
{
    static const char text[] =
        V1 "\"threads\":[\"T1\"],\"variables\":{\"u\":{\"sort\":\"Int\",\"init\":null},\"v\":"
           "\"Int\"}}\n" T1 "\"write\",\"variable\":\"u\",\"value\":3}\n" T1
           "\"assume\",\"term\":\"(= u 3)\"}\n";
    ft_strbuf again = {0};
    ft_error err = FT_ERROR_INIT;
    (void)state;
    ft_trace *trace = reader_accept(text, 0);
    assert_int_equal(trace->shared_info[0].initial, FT_NO_VALUE);
    assert_int_equal(ft_ndjson_write(trace, append, &again, &err), FT_OK);
    assert_non_null(strstr(ft_strbuf_text(&again), "\"u\":{\"sort\":\"Int\",\"init\":null}"));
    assert_non_null(strstr(ft_strbuf_text(&again), "\"v\":{\"sort\":\"Int\"}"));
    ft_trace_free(reader_accept(ft_strbuf_text(&again), 0));
    ft_trace_free(trace);
    ft_strbuf_release(&again);
}

static void test_locals(void **state)
{
    (void)state;
    reader_refuse(HEAD T1 "\"assert\",\"term\":\"(= @@a 0)\"}", "before the thread assigned it");
    /* Assigned by another thread: each has its own. */
    reader_refuse(HEAD T1 "\"assign\",\"set\":{\"a\":1}}\n" T2 "\"assert\",\"term\":\"(= @@a 1)\"}",
                  "before the thread assigned it");
    /* Assigned by the same event: right-hand sides are read before. */
    reader_refuse(HEAD T1 "\"assign\",\"set\":{\"a\":1,\"x\":\"@@a\"}}",
                  "before the thread assigned it");
    ft_trace *t = reader_accept(HEAD T1 "\"assign\",\"guard\":\"b\",\"set\":{\"a\":1}}\n" T1
                                        "\"assert\",\"term\":\"(= a c)\"}",
                                0);
    reader_expect_events(t, "T1 a := 1 if b\nT1 assert (= a c)\n");
    ft_trace_free(t);
}

static void test_order_of_events(void **state)
{
    (void)state;
    reader_refuse(HEAD T1 "\"fork\",\"child\":@@\"T1\"}", "itself");
    reader_refuse(HEAD T1 "\"join\",\"child\":@@\"T1\"}", "itself");
    reader_refuse(HEAD T1 "\"fork\",\"child\":\"T2\"}\n" T1 "\"fork\",\"child\":@@\"T2\"}",
                  "second time");
    reader_refuse(HEAD T1 "\"begin\"}\n" T1 "@@\"begin\"}", "first event");
    reader_refuse(HEAD T1 "\"end\"}\n@@" T1 "\"tx-begin\"}", "ended");
    reader_refuse(HEAD T1 "\"tx-begin\"}\n" T2 "@@\"tx-end\"}", "tx-begin");
    reader_refuse(HEAD T1 "\"edge-out\",\"edge\":\"e\"}\n" T1 "\"edge-out\",\"edge\":@@\"e\"}",
                  "edge-out already");
}

static void test_edge_without_source(void **state)
{
    (void)state;
    reader_refuse(HEAD T1 "\"edge-in\",\"edge\":@@\"e\"}\n" T2 "\"edge-in\",\"edge\":\"e\"}",
                  "no edge-out");
}

#define SYNC                                                                                       \
    V1 "\"threads\":[\"T1\",\"T2\"],\"variables\":{\"x\":0,\"y\":\"Int\"},"                        \
       "\"locks\":{\"m\":\"mutex\",\"e\":\"error-checking\",\"w\":\"read-write\"},"                \
       "\"conditions\":[\"c\"],\"barriers\":{\"b\":2},\"onces\":[\"o\"],"                          \
       "\"blocks\":{\"k\":[\"y\",\"x\",\"y\"]}}\n"

static const char EVERY_SYNC[] = SYNC T1
    "\"acquire-shared\",\"lock\":\"w\"}\n" T1 "\"acquire-shared\",\"lock\":\"w\",\"try\":true}\n" T2
    "\"try-failed\",\"lock\":\"w\"}\n" T1 "\"release\",\"lock\":\"w\"}\n" T1
    "\"release\",\"lock\":\"w\"}\n" T2 "\"acquire\",\"lock\":\"w\",\"try\":true}\n" T1
    "\"try-failed-shared\",\"lock\":\"w\"}\n" T2 "\"release\",\"lock\":\"w\"}\n" T1
    "\"acquire\",\"lock\":\"m\",\"try\":false}\n" T1 "\"cond-wait\",\"cond\":\"c\"}\n" T1
    "\"release\",\"lock\":\"m\",\"condition\":true}\n" T2 "\"signal\",\"cond\":\"c\"}\n" T2
    "\"broadcast\",\"cond\":\"c\"}\n" T1 "\"cond-wake\",\"cond\":\"c\",\"timeout\":true}\n" T1
    "\"acquire\",\"lock\":\"m\",\"condition\":true}\n" T1
    "\"barrier-arrive\",\"barrier\":\"b\"}\n" T2 "\"barrier-arrive\",\"barrier\":\"b\"}\n" T1
    "\"barrier-leave\",\"barrier\":\"b\"}\n" T1 "\"once-begin\",\"once\":\"o\"}\n" T1
    "\"once-end\",\"once\":\"o\"}\n" T2 "\"once-pass\",\"once\":\"o\"}\n" T1
    "\"alloc\",\"block\":\"k\"}\n" T1 "\"rmw\",\"variable\":\"x\",\"value\":0,\"result\":-1}\n" T1
    "\"rmw\",\"variable\":\"x\",\"result\":4}\n" T1 "\"free\",\"block\":\"k\"}";

static void test_synchronisation(void **state)
{
    (void)state;
    ft_trace *t = reader_accept(EVERY_SYNC, 0);
    reader_expect_events(
        t, "T1 acquire-shared w\nT1 try-acquire-shared w\nT2 try-failed w\nT1 release w\n"
           "T1 release w\nT2 try-acquire w\nT1 try-failed-shared w\nT2 release w\nT1 acquire m\n"
           "T1 cond-wait c\nT1 release m\nT2 signal c\nT2 broadcast c\n"
           "T1 cond-wake c (timeout)\nT1 acquire m\nT1 barrier-arrive b\nT2 barrier-arrive b\n"
           "T1 barrier-leave b\nT1 once-begin o\nT1 once-end o\nT2 once-pass o\nT1 alloc k\n"
           "T1 rmw x = 0 -> (- 1)\nT1 rmw x = ? -> 4\nT1 free k\n");
    assert_int_equal(t->lock_kind[1], FT_LOCK_ERROR_CHECKING);
    assert_int_equal(t->lock_kind[2], FT_LOCK_READ_WRITE);
    assert_int_equal(t->barrier_count[0], 2);
    assert_int_equal(t->block_cells[0].count, 2);
    assert_int_equal(t->flags[1], FT_FLAG_NESTED | FT_FLAG_TRY);
    assert_int_equal(t->flags[5], FT_FLAG_TRY);
    assert_int_equal(t->flags[8], 0);
    assert_int_equal(t->flags[13], FT_FLAG_FAILED);
    assert_int_equal(t->flags[22], FT_FLAG_ATOMIC);
    assert_int_equal(t->n_notes, 1); /* m is never released */
    ft_trace_free(t);
}

static void test_synchronisation_errors(void **state)
{
    (void)state;
    reader_refuse(V1 "\"threads\":[\"T1\"],\"conditions\":@@{\"c\":0}}\n", "list of names");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"conditions\":[\"c\",@@\"c\"]}\n", "twice");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"onces\":[@@3]}\n", "name");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"onces\":[\"o\",@@\"o\"]}\n", "twice");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"barriers\":@@[\"b\"]}\n", "object");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"barriers\":{\"b\":@@0}}\n", "from 1 to");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"barriers\":{\"b\":@@\"2\"}}\n", "from 1 to");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"barriers\":{\"b\":1,@@\"b\":1}}\n", "twice");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"blocks\":{\"k\":@@\"x\"}}\n", "list");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"blocks\":{\"k\":[@@\"x\"]}}\n", "undeclared variable");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"blocks\":{\"k\":[@@1]}}\n", "variable");
    reader_refuse(V1 "\"threads\":[\"T1\"],\"blocks\":{\"k\":[],@@\"k\":[]}}\n", "twice");
    reader_refuse(SYNC T1 "\"acquire-shared\",\"lock\":@@\"m\"}", "not a read-write lock");
    reader_refuse(SYNC T1 "\"try-failed-shared\",\"lock\":@@\"e\"}", "not a read-write lock");
    reader_refuse(SYNC "@@" T1 "\"try-failed\"}", "needs the member \"lock\"");
    reader_refuse(SYNC "@@" T1 "\"cond-wake\"}", "needs the member \"cond\"");
    reader_refuse(SYNC T1 "\"signal\",\"cond\":@@\"m\"}", "undeclared condition variable");
    reader_refuse(SYNC T1 "\"barrier-leave\",\"barrier\":@@\"c\"}", "undeclared barrier");
    reader_refuse(SYNC T1 "\"once-pass\",\"once\":@@\"b\"}", "undeclared once object");
    reader_refuse(SYNC T1 "\"free\",\"block\":@@\"x\"}", "undeclared block");
    reader_refuse(SYNC T1 "\"rmw\",\"variable\":@@\"k\"}", "undeclared variable");
    reader_refuse(SYNC T1 "\"rmw\",\"variable\":\"x\",\"result\":@@true}", "Int");
    reader_refuse(SYNC T1 "\"rmw\",\"variable\":\"x\",@@\"atomic\":true}", "does not belong");
    reader_refuse(SYNC T1 "\"read\",\"variable\":\"x\",@@\"result\":1}", "does not belong");
    reader_refuse(SYNC T1 "\"release\",\"lock\":\"m\",@@\"try\":true}", "does not belong");
    reader_refuse(SYNC T1 "\"signal\",\"cond\":\"c\",@@\"timeout\":true}", "does not belong");
    reader_refuse(SYNC T1 "\"acquire-shared\",\"lock\":\"w\",@@\"condition\":true}",
                  "does not belong");
    reader_refuse(SYNC T1 "\"cond-wake\",\"cond\":\"c\",\"timeout\":@@1}", "true or false");
}

static void test_long_line(void **state)
{
    (void)state;
    ft_error err = FT_ERROR_INIT;
    ft_reader *reader = ft_reader_new();
    char *block = ft_alloc(1 << 16);
    memset(block, ' ', 1 << 16);
    ft_status status = ft_reader_feed(reader, HEAD, sizeof HEAD - 1, &err);
    size_t fed = 0;
    while (status == FT_OK && fed < 1u << 30) {
        status = ft_reader_feed(reader, block, 1 << 16, &err);
        fed += 1 << 16;
    }
    assert_int_equal(status, FT_LIMIT);
    assert_int_equal(err.line, 2);
    assert_true(fed <= 2 * FT_READER_MAX_LINE); /* the rest was never taken */
    free(block);
    ft_reader_free(reader);
}

static void test_examples(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t events, threads;
    } EXAMPLES[] = {{"fig1", 13, 2},        {"fig5", 8, 2},           {"fig7", 13, 2},
                    {"fig9a", 7, 2},        {"fig9b", 7, 2},          {"bank", 36, 3},
                    {"publish", 8, 3},      {"deadlock", 12, 3},      {"lost_wakeup", 7, 2},
                    {"rwlock", 17, 4},      {"use_after_free", 7, 2}, {"branch", 21, 3},
                    {"branch_run1", 13, 3}, {"branch_run2", 13, 3}};
    for (size_t i = 0; i < sizeof EXAMPLES / sizeof *EXAMPLES; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/examples/%s.ndjson", FT_SOURCE_DIR, EXAMPLES[i].name);
        ft_error err = FT_ERROR_INIT;
        ft_trace *trace = NULL;
        if (ft_trace_read_file(path, &trace, &err) != FT_OK) fail_msg("%s: %s", path, err.message);
        assert_int_equal(trace->n_events, EXAMPLES[i].events);
        assert_int_equal(trace->threads.len, EXAMPLES[i].threads);
        assert_int_equal(trace->n_notes, 0);
        ft_trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declarations),
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_not_json),
        cmocka_unit_test(test_control_bytes),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_header_errors),
        cmocka_unit_test(test_event_members),
        cmocka_unit_test(test_undeclared),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_unknown_initial),
        cmocka_unit_test(test_locals),
        cmocka_unit_test(test_order_of_events),
        cmocka_unit_test(test_edge_without_source),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_synchronisation),
        cmocka_unit_test(test_synchronisation_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
