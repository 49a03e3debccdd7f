/* What the tests of the trace readers share. */
#ifndef READER_CHECK_H
#define READER_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/reader.h"

/* Reads the text in pieces of `piece` bytes (0: at once); ends the test unless it is a trace. */
static inline ft_trace *reader_accept(const char *text, size_t piece)
{
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    size_t length = strlen(text);
    ft_reader *reader = ft_reader_new();
    ft_status status = FT_OK;
    for (size_t at = 0; status == FT_OK && at < length;) {
        size_t take = piece && piece < length - at ? piece : length - at;
        status = ft_reader_feed(reader, text + at, take, &err);
        at += take;
    }
    if (status == FT_OK) status = ft_reader_finish(reader, &trace, &err);
    ft_reader_free(reader);
    if (status != FT_OK)
        fail_msg("line %llu, column %llu: %s\n%s", (unsigned long long)err.line,
                 (unsigned long long)err.column, err.message, text);
    return trace;
}

/* Reads a text in which "@@" marks the place of the error, and checks that place (the mark itself
 * is taken out) and that the message contains `words`. */
static inline void reader_refuse(const char *marked, const char *words)
{
    const char *mark = strstr(marked, "@@");
    assert_non_null(mark);
    size_t before = (size_t)(mark - marked);
    char *text = ft_strdup(marked);
    memmove(text + before, mark + 2, strlen(mark + 2) + 1);
    uint64_t line = 1, column = 1;
    for (size_t i = 0; i < before; i++) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    ft_status status = ft_trace_read_memory(text, strlen(text), &trace, &err);
    if (status == FT_OK) fail_msg("accepted: %s", marked);
    if (err.line != line || err.column != column || !strstr(err.message, words))
        fail_msg("expected %llu:%llu ...%s..., found %llu:%llu %s\n%s", (unsigned long long)line,
                 (unsigned long long)column, words, (unsigned long long)err.line,
                 (unsigned long long)err.column, err.message, marked);
    assert_int_equal(status, FT_INPUT);
    assert_null(trace);
    free(text);
}

/* The whole trace as text, one event a line: "T1 read x = 0". */
static inline void reader_expect_events(const ft_trace *trace, const char *expected)
{
    ft_strbuf out = {0};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_strbuf_printf(&out, "%s ", ft_trace_thread_name(trace, trace->thread[e]));
        ft_trace_print_event(trace, e, &out);
        ft_strbuf_puts(&out, "\n");
    }
    assert_string_equal(ft_strbuf_text(&out), expected);
    ft_strbuf_release(&out);
}

/* How often the note was made, 0: never. */
static inline uint32_t reader_note(const ft_trace *trace, const char *code)
{
    for (uint32_t i = 0; i < trace->n_notes; i++)
        if (strcmp(trace->notes[i].code, code) == 0) return trace->notes[i].count;
    return 0;
}

#endif
