/* What recorded programs' traces have beside events: contexts, steps, modules, sites, the command,
 * inputs, and events that the run did not come past. */
#include "reader_check.h"

#include "trace/trace.h"

#define HEAD                                                                                       \
    "{\"format\":\"foretell\",\"version\":1,\"threads\":[\"main\",\"T1\"],\"variables\":{\"x\":0}" \
    ","                                                                                            \
    "\"locks\":{\"l\":\"mutex\"}}\n"
#define CONTEXTS                                                                                   \
    "{\"contexts\":[{\"loc\":\"m.c:9\",\"function\":\"main\"},"                                    \
    "{\"parent\":1,\"loc\":\"w.c:7\",\"function\":\"work\"}]}\n"
#define SOURCES                                                                                    \
    "{\"sources\":[{\"loc\":\"w.c:7\",\"function\":\"work\",\"path\":\"/src/app/w.c\",\"line\":"   \
    "\"x = "                                                                                       \
    "\\\"\\u00e4\\\";\"},{\"loc\":\"m.c:9\",\"function\":\"main\",\"path\":\"/src/m.c\"}]}\n"
#define FORK "{\"thread\":\"main\",\"kind\":\"fork\",\"child\":\"T1\",\"context\":1,\"at\":1}\n"
#define WRITE                                                                                      \
    "{\"thread\":\"T1\",\"kind\":\"write\",\"variable\":\"x\",\"value\":1,\"context\":2,\"at\":3}" \
    "\n"

static const char WHOLE[] = HEAD CONTEXTS SOURCES
    "{\"modules\":[{\"name\":\"a.out\",\"sha256\":"
    "\"d841c6852994850a70bc9341428af97f64d4456678ca6a2dd5783c4ce0067860\"},{\"name\":\"libx.so\"}],"
    "\"sites\":[{\"module\":1,\"offset\":17595,\"loc\":\"w.c:7\",\"function\":\"work\"},"
    "{\"module\":0,\"offset\":4}],\"command\":[\"./a.out\",\"it's\",\"\"],\"inputs\":\"AAEC\"}\n"
    "{\"inputs\":\"/w==\"}\n" FORK WRITE
    "{\"thread\":\"main\",\"kind\":\"join\",\"child\":\"T1\",\"at\":2,\"blocked\":true}\n"
    "{\"thread\":\"T1\",\"kind\":\"acquire\",\"lock\":\"l\",\"at\":4,\"blocked\":true}\n";

static ft_trace *read_all(const char *data, size_t length)
{
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    ft_reader *reader = ft_reader_new();
    ft_reader_keep_inputs(reader);
    if (ft_reader_feed(reader, data, length, &err) || ft_reader_finish(reader, &trace, &err))
        fail_msg("line %llu: %s", (unsigned long long)err.line, err.message);
    ft_reader_free(reader);
    return trace;
}

static ft_status append(void *context, const void *data, size_t length, ft_error *err)
{
    (void)err;
    ft_strbuf_add(context, data, length);
    return FT_OK;
}

static ft_trace *rewritten(const ft_trace *trace, bool binary)
{
    ft_strbuf text = {0};
    assert_int_equal((binary ? ft_binary_write : ft_ndjson_write)(trace, append, &text, NULL),
                     FT_OK);
    ft_trace *again = read_all(text.text, text.len);
    ft_strbuf_release(&text);
    return again;
}

static const char *place(const ft_trace *trace, uint32_t loc)
{
    const char *text = ft_trace_location_text(trace, loc);
    return text ? text : "";
}

static void check_whole(const ft_trace *t)
{
    static const unsigned char INPUTS[] = {0, 1, 2, 255};
    assert_int_equal(t->n_events, 4);
    assert_int_equal(t->n_contexts, 3);
    assert_int_equal(t->contexts[2].parent, 1);
    assert_int_equal(t->contexts[2].depth, 2);
    assert_string_equal(place(t, t->contexts[2].loc), "w.c:7");
    assert_string_equal(t->locations[t->contexts[1].loc].function, "main");
    assert_int_equal(t->context[0], 1);
    assert_int_equal(t->context[1], 2);
    assert_int_equal(t->context[2], 0);
    assert_int_equal(t->hook[1], 3);
    assert_int_equal(t->n_modules, 2);
    assert_string_equal(t->modules[0].name, "a.out");
    assert_int_equal(strlen(t->modules[0].hash), 64);
    assert_string_equal(t->modules[1].hash, "");
    assert_int_equal(t->n_sites, 2);
    assert_int_equal(t->sites[0].module, 1);
    assert_int_equal(t->sites[0].offset, 17595);
    assert_string_equal(place(t, t->sites[0].loc), "w.c:7");
    assert_int_equal(t->sites[1].loc, FT_NO_LOC);
    const ft_location *work = &t->locations[t->contexts[2].loc],
                      *made = &t->locations[t->contexts[1].loc];
    assert_int_equal(t->n_sourced, 2);
    assert_string_equal(work->path, "/src/app/w.c");
    assert_string_equal(work->line, "x = \"\xc3\xa4\";");
    assert_string_equal(made->path, "/src/m.c");
    assert_null(made->line);
    assert_int_equal(t->n_command, 3);
    assert_string_equal(t->command[1], "it's");
    assert_string_equal(t->command[2], "");
    assert_int_equal(t->n_inputs, sizeof INPUTS);
    assert_memory_equal(t->inputs, INPUTS, sizeof INPUTS);
    assert_false(ft_trace_is_blocked(t, 1));
    assert_true(ft_trace_is_blocked(t, 2));
    assert_true(ft_trace_is_blocked(t, 3));
}

static void test_round_trips(void **state)
{
    (void)state;
    ft_trace *first = read_all(WHOLE, strlen(WHOLE));
    check_whole(first);
    for (int binary = 0; binary <= 1; binary++) {
        ft_trace *once = rewritten(first, binary), *twice = rewritten(once, !binary);
        check_whole(once);
        check_whole(twice);
        ft_trace_free(once);
        ft_trace_free(twice);
    }
    ft_trace_free(first);
}

/* Tables too long for one line go on in the next ones. */
static void test_long_tables(void **state)
{
    (void)state;
    enum { MANY = 60000 };
    ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    uint32_t cells[MANY], context = FT_NO_CONTEXT;
    ft_builder_thread(b, "main", 4);
    for (uint32_t i = 0; i < MANY; i++) {
        ft_strbuf name = {0};
        ft_strbuf_printf(&name, "heap(allocator.c:%u)+8", i);
        cells[i] = ft_builder_shared(b, name.text, name.len, FT_INT_SORT);
        context = ft_builder_context(b, i % 1000 ? context : FT_NO_CONTEXT,
                                     ft_builder_location(b, name.text, name.len, "f", 1));
        ft_strbuf_release(&name);
    }
    uint32_t block = ft_builder_block(b, "m", 1, cells, MANY);
    ft_builder_in_context(b, context);
    ft_builder_event(b, FT_EVENT_ALLOC, 0, block, FT_NO_LOC, FT_NO_VALUE, 0);
    assert_int_equal(ft_builder_finish(b, &trace, &err), FT_OK);
    ft_trace *again = rewritten(trace, false);
    assert_int_equal(again->shared.len, MANY);
    assert_string_equal(again->shared.names[MANY - 1], trace->shared.names[MANY - 1]);
    assert_int_equal(again->block_cells[0].count, MANY);
    assert_int_equal(again->n_contexts, trace->n_contexts);
    assert_int_equal(again->contexts[again->context[0]].depth, 1000);
    ft_trace_free(again);
    ft_trace_free(trace);
}

static void test_refused(void **state)
{
    (void)state;
    reader_refuse(HEAD "{\"contexts\":[{\"parent\":@@1,\"loc\":\"a.c:1\"}]}\n" FORK,
                  "not declared");
    reader_refuse(HEAD "{\"contexts\":[{\"loc\":\"a\"},@@{\"loc\":\"a\"}]}\n" FORK, "twice");
    reader_refuse(HEAD "{\"contexts\":@@{}}\n" FORK, "list of objects");
    reader_refuse(HEAD "{\"contexts\":[@@1]}\n" FORK, "list of objects");
    reader_refuse(HEAD "{\"contexts\":[{@@\"where\":\"a\"}]}\n" FORK, "unknown member");
    reader_refuse(HEAD "{\"thread\":\"main\",\"kind\":\"begin\",\"context\":@@1}", "not declared");
    reader_refuse(HEAD "{\"thread\":\"main\",\"kind\":\"begin\",\"at\":@@-1}", "integer");
    reader_refuse(HEAD "{\"sites\":[{\"module\":@@0,\"offset\":1}]}\n", "not declared");
    reader_refuse(HEAD "{\"sites\":[@@{\"offset\":1}]}\n", "needs the member");
    reader_refuse(HEAD "{\"sources\":[@@{\"path\":\"/a.c\"}]}\n", "needs the member");
    reader_refuse(HEAD "{\"sources\":[@@{\"loc\":\"a.c:1\"}]}\n", "needs the member");
    reader_refuse(HEAD "{\"sources\":[{\"loc\":\"a.c:1\",\"path\":@@7}]}\n", "string");
    reader_refuse(HEAD SOURCES "{\"sources\":[@@{\"loc\":\"m.c:9\",\"function\":\"main\",\"path\":"
                               "\"/b.c\"}]}\n",
                  "already");
    reader_refuse(HEAD "{\"modules\":[{\"name\":\"a\",\"sha256\":@@\"12\"}]}\n", "SHA-256");
    reader_refuse(HEAD "{\"command\":@@\"ls\"}\n", "list of words");
    reader_refuse(HEAD "{\"inputs\":@@\"AAE\"}\n", "base64");
    reader_refuse(HEAD "{\"inputs\":@@\"AA==AAEC\"}\n", "base64");
    reader_refuse(HEAD "{\"inputs\":@@\"A*==\"}\n", "base64");
    reader_refuse(HEAD "{\"threads\":[\"T9\"],@@\"version\":1}\n", "first line");
    reader_refuse(HEAD "{\"threads\":[@@\"T1\"]}\n", "twice");
    reader_refuse(HEAD "{\"thread\":\"main\",\"kind\":\"begin\",@@\"blocked\":true}", "belong");
    reader_refuse(HEAD CONTEXTS FORK
                  "{\"thread\":\"T1\",\"kind\":\"acquire\",\"lock\":\"l\",\"blocked\":true}\n"
                  "@@" WRITE,
                  "blocked for ever");
}

/* A stack is as deep as its program's recursion, and no deeper than the limit. */
static void test_deep(void **state)
{
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_BINARY);
    uint32_t loc = ft_builder_location(b, "f.c:1", 5, "f", 1), context = FT_NO_CONTEXT;
    for (uint32_t i = 0; i < FT_CONTEXT_MAX_DEPTH; i++) {
        uint32_t deeper = ft_builder_context(b, context, loc);
        assert_int_equal(deeper, ft_builder_context(b, context, loc));
        assert_int_not_equal(deeper, context);
        context = deeper;
    }
    assert_int_equal(ft_builder_context(b, context, loc), context);
    ft_builder_free(b);
}

/* A section of a thread that was blocked implies no release, and a join that was is not moved. */
static void test_blocked_stays(void **state)
{
    (void)state;
    static const char TEXT[] =
        HEAD "{\"thread\":\"main\",\"kind\":\"fork\",\"child\":\"T1\"}\n"
             "{\"thread\":\"main\",\"kind\":\"acquire\",\"lock\":\"l\"}\n"
             "{\"thread\":\"main\",\"kind\":\"join\",\"child\":\"T1\",\"blocked\":true}\n"
             "{\"thread\":\"T1\",\"kind\":\"write\",\"variable\":\"x\",\"value\":1}\n"
             "{\"thread\":\"T1\",\"kind\":\"acquire\",\"lock\":\"l\",\"blocked\":true}\n";
    ft_trace *t = reader_accept(TEXT, 0);
    assert_int_equal(t->n_events, 5);
    assert_int_equal(t->kind[2], FT_EVENT_JOIN);
    assert_int_equal(t->n_notes, 1); /* the section that is never closed */
    ft_trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),   cmocka_unit_test(test_long_tables),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_deep),
        cmocka_unit_test(test_blocked_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
