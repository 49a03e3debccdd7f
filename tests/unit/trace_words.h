/* For the trace tests: a small language for traces, "T1 acquire m;T2 write x", and what is asserted
 * of them. */
#ifndef FT_TESTS_TRACE_WORDS_H
#define FT_TESTS_TRACE_WORDS_H

#include "trace_support.h"

#include "trace/builder_internal.h"

static inline void add_word_event(ft_builder *b, char *text)
{
    char *thread = strsep(&text, " "), *kind_name = strsep(&text, " ");
    char *object = strsep(&text, " "), *extra = strsep(&text, " ");
    ft_event_kind kind;
    assert_true(ft_event_kind_parse(kind_name, &kind));
    uint32_t id = 0, t = ft_builder_thread(b, thread, strlen(thread));
    size_t length = object ? strlen(object) : 0;
    switch (ft_event_kind_object(kind)) {
    case FT_OBJECT_VARIABLE:
        id = ft_builder_shared(b, object, length, FT_INT_SORT);
        break;
    case FT_OBJECT_LOCK: /* m...: mutex, e...: error-checking, w...: read-write, else recursive */
        id = ft_builder_lock(b, object, length,
                             object[0] == 'm'   ? FT_LOCK_MUTEX
                             : object[0] == 'e' ? FT_LOCK_ERROR_CHECKING
                             : object[0] == 'w' ? FT_LOCK_READ_WRITE
                                                : FT_LOCK_RECURSIVE);
        break;
    case FT_OBJECT_SEMAPHORE:
        id = ft_builder_semaphore(b, object, length, 0);
        break;
    case FT_OBJECT_THREAD:
        id = ft_builder_thread(b, object, length);
        break;
    case FT_OBJECT_EDGE:
        id = ft_builder_edge(b, object, length);
        break;
    case FT_OBJECT_CONDITION:
        id = ft_builder_condition(b, object, length);
        break;
    case FT_OBJECT_BARRIER:
        id = ft_builder_barrier(b, object, length, 2);
        break;
    case FT_OBJECT_ONCE:
        id = ft_builder_once(b, object, length);
        break;
    case FT_OBJECT_BLOCK:
        id = ft_builder_block(b, object, length, NULL, 0);
        break;
    case FT_OBJECT_NONE:
    case FT_OBJECT_CLASSES:
        break;
    }
    uint8_t flags = !extra ? 0 : strcmp(extra, "try") == 0 ? FT_FLAG_TRY : FT_FLAG_CONDITION;
    ft_builder_event(b, kind, t, id, 0, 0, flags);
}

static inline ft_trace *trace_of(const char *program)
{
    ft_builder *b = ft_builder_new(FT_FORMAT_STD);
    char *copy = ft_strdup(program), *rest = copy, *part;
    while ((part = strsep(&rest, ";")) != NULL) add_word_event(b, part);
    free(copy);
    return finish_trace(b);
}

/* The trace in the same language; inner lock operations in (), strangers with !, synthetic with *.
 */
static inline void assert_becomes(const char *program, const char *expected)
{
    ft_trace *trace = trace_of(program);
    ft_strbuf text = {0};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        uint8_t flags = trace->flags[e];
        ft_strbuf_printf(&text, "%s%s%s ", e ? "; " : "", flags & FT_FLAG_NESTED ? "(" : "",
                         ft_trace_thread_name(trace, trace->thread[e]));
        ft_trace_print_event(trace, e, &text);
        ft_strbuf_printf(&text, "%s%s%s", flags & FT_FLAG_NESTED ? ")" : "",
                         flags & FT_FLAG_STRANGER ? "!" : "", flags & FT_FLAG_SYNTHETIC ? "*" : "");
    }
    assert_string_equal(ft_strbuf_text(&text), expected);
    ft_strbuf_release(&text);
    ft_trace_free(trace);
}

static inline void assert_unchanged(const char *program)
{
    ft_trace *trace = trace_of(program);
    ft_strbuf text = {0};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_strbuf_printf(&text, "%s%s ", e ? ";" : "",
                         ft_trace_thread_name(trace, trace->thread[e]));
        ft_trace_print_event(trace, e, &text);
        assert_int_equal(trace->flags[e], 0);
    }
    assert_string_equal(ft_strbuf_text(&text), program);
    ft_strbuf_release(&text);
    ft_trace_free(trace);
}

static inline const ft_note *find_note(const ft_trace *trace, const char *code)
{
    for (uint32_t i = 0; i < trace->n_notes; i++)
        if (strcmp(trace->notes[i].code, code) == 0) return &trace->notes[i];
    return NULL;
}

static inline void assert_note(const char *program, const char *code, uint32_t event,
                               uint32_t count)
{
    ft_trace *trace = trace_of(program);
    const ft_note *note = find_note(trace, code);
    assert_non_null(note);
    assert_int_equal(note->event, event);
    assert_int_equal(note->count, count);
    assert_true(strlen(note->text) > 10);
    ft_trace_free(trace);
}

static inline void assert_access(const ft_access *access, uint32_t variable, bool write,
                                 bool in_guard)
{
    assert_int_equal(access->variable, variable);
    assert_int_equal(access->write, write);
    assert_int_equal(access->in_guard, in_guard);
}

static inline void assert_prints(const ft_trace *trace, uint32_t e, const char *expected)
{
    ft_strbuf text = {0};
    ft_trace_print_event(trace, e, &text);
    assert_string_equal(ft_strbuf_text(&text), expected);
    ft_strbuf_release(&text);
}

#endif
