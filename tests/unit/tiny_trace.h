/* A tiny language for traces in tests, one statement a line:
 *
 *   var x 0 | var x | local a 0 | mutex l | rec l | chk l | rw l declarations (values are Int, or
 *   sem s 1 | cond c | bar b 2 | once o | block m x y            with `var x 0 8` BitVec 8;
 *                                                                chk: error-checking)
 *   T1: r x [5] | ra x [5] | w x [5] | wa x [5]                  plain accesses; ..a: atomic
 *   T1: [atomic] x := (+ a 1), y := 2 if (> x 0)                 guarded assignment
 *   T1: assume (> x 0) | T1: assert (> x 0)
 *   T1: if (> x 0) | T1: else | T1: end-if
 *   T1: acq l | rel l | wait s | post s | fork T2 | join T2 | out e | in e | begin | end | tx | xt
 *   T1: acqs l | try l | trys l | nope l | nopes l               ..s: shared; nope: a failed try
 *   T1: cwait c | relc l | cwake c | late c | acqc l | sig c | bro c     late: cond-wake, timed out
 *   T1: arr b | leave b | obeg o | oend o | pass o | rmw x [0 1] | alloc m | free m
 *
 * An event may end in " @location". A mistake in the text ends the test. */
#ifndef TINY_TRACE_H
#define TINY_TRACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/trace.h"

typedef struct tiny_words {
    char *word[8];
    size_t count;
} tiny_words;

static inline tiny_words tiny_split(char *line)
{
    tiny_words words = {0};
    char *rest = line, *word;
    while (words.count < 8 && (word = strsep(&rest, " ")))
        if (*word) words.word[words.count++] = word;
    return words;
}

static inline ft_term tiny_term(ft_builder *b, const char *text)
{
    ft_error err = FT_ERROR_INIT;
    ft_term term = FT_NO_TERM;
    ft_scope scope = ft_trace_scope(ft_builder_peek(b));
    if (ft_term_parse(ft_builder_terms(b), text, strlen(text), &scope, &term, &err))
        fail_msg("term %s: %s", text, err.message);
    return term;
}

static inline uint32_t tiny_value_of(ft_builder *b, const char *text, ft_sort sort)
{
    ft_error err = FT_ERROR_INIT;
    ft_value value = {0};
    if (!text) return FT_NO_VALUE;
    if (sort.kind == FT_SORT_BITVEC)
        return ft_builder_value(b, (ft_value){sort, strtoull(text, NULL, 10)});
    if (ft_value_parse(text, strlen(text), FT_INT_SORT, &value, &err))
        fail_msg("value %s: %s", text, err.message);
    return ft_builder_value(b, value);
}

static inline uint32_t tiny_value(ft_builder *b, const char *text)
{
    return tiny_value_of(b, text, FT_INT_SORT);
}

static inline void tiny_block(ft_builder *b, const tiny_words *w)
{
    uint32_t cells[8], count = 0;
    for (size_t i = 2; i < w->count; i++, count++) {
        cells[count] = ft_intern_find(&ft_builder_peek(b)->shared, w->word[i], strlen(w->word[i]));
        assert_int_not_equal(cells[count], FT_NO_ID);
    }
    ft_builder_block(b, w->word[1], strlen(w->word[1]), cells, count);
}

static inline void tiny_declare(ft_builder *b, char *line)
{
    tiny_words w = tiny_split(line);
    const char *name = w.word[1], *number = w.count > 2 ? w.word[2] : NULL;
    size_t length = strlen(name);
    ft_sort sort = FT_INT_SORT;
    if (w.count > 3) sort = (ft_sort){FT_SORT_BITVEC, (uint8_t)strtoul(w.word[3], NULL, 10)};
    if (strcmp(w.word[0], "var") == 0)
        ft_builder_shared_initial(b, ft_builder_shared(b, name, length, sort),
                                  tiny_value_of(b, number, sort));
    else if (strcmp(w.word[0], "local") == 0)
        ft_builder_local_initial(b, ft_builder_local(b, name, length, sort),
                                 tiny_value_of(b, number, sort));
    else if (strcmp(w.word[0], "mutex") == 0)
        ft_builder_lock(b, name, length, FT_LOCK_MUTEX);
    else if (strcmp(w.word[0], "rec") == 0)
        ft_builder_lock(b, name, length, FT_LOCK_RECURSIVE);
    else if (strcmp(w.word[0], "chk") == 0)
        ft_builder_lock(b, name, length, FT_LOCK_ERROR_CHECKING);
    else if (strcmp(w.word[0], "rw") == 0)
        ft_builder_lock(b, name, length, FT_LOCK_READ_WRITE);
    else if (strcmp(w.word[0], "cond") == 0)
        ft_builder_condition(b, name, length);
    else if (strcmp(w.word[0], "once") == 0)
        ft_builder_once(b, name, length);
    else if (strcmp(w.word[0], "block") == 0)
        tiny_block(b, &w);
    else if (strcmp(w.word[0], "bar") == 0)
        ft_builder_barrier(b, name, length, (uint32_t)strtoul(number, NULL, 10));
    else if (strcmp(w.word[0], "sem") == 0)
        ft_builder_semaphore(b, name, length, (uint32_t)strtoul(number, NULL, 10));
    else
        fail_msg("declaration %s", w.word[0]);
}

static inline void tiny_assign(ft_builder *b, uint32_t thread, uint32_t loc, char *text)
{
    ft_assignment assignments[4];
    uint32_t count = 0;
    ft_scope scope = ft_trace_scope(ft_builder_peek(b));
    size_t skip = strncmp(text, "atomic ", 7) == 0 ? 7 : 0;
    char *guard = strstr(text, " if "), *rest = text + skip, *one;
    if (guard) *guard = 0;
    while ((one = strsep(&rest, ","))) {
        char *term = strstr(one, " := ");
        ft_sort sort;
        assert_non_null(term);
        *term = 0;
        one += *one == ' ';
        assert_true(
            scope.resolve(scope.context, one, strlen(one), &assignments[count].target, &sort));
        assignments[count++].term = tiny_term(b, term + 4);
    }
    ft_builder_action(b, FT_EVENT_ASSIGN, thread, loc, guard ? tiny_term(b, guard + 4) : FT_NO_TERM,
                      assignments, count, skip ? FT_FLAG_ATOMIC : 0);
}

static inline uint32_t tiny_object(ft_builder *b, ft_object_class class, const char *name)
{
    const ft_trace *trace = ft_builder_peek(b);
    size_t length = name ? strlen(name) : 0;
    switch (class) {
    case FT_OBJECT_VARIABLE:
        return ft_intern_find(&trace->shared, name, length);
    case FT_OBJECT_LOCK:
        return ft_intern_find(&trace->locks, name, length);
    case FT_OBJECT_SEMAPHORE:
        return ft_intern_find(&trace->semaphores, name, length);
    case FT_OBJECT_THREAD:
        return ft_builder_thread(b, name, length);
    case FT_OBJECT_EDGE:
        return ft_builder_edge(b, name, length);
    case FT_OBJECT_CONDITION:
        return ft_intern_find(&trace->conditions, name, length);
    case FT_OBJECT_BARRIER:
        return ft_intern_find(&trace->barriers, name, length);
    case FT_OBJECT_ONCE:
        return ft_intern_find(&trace->onces, name, length);
    case FT_OBJECT_BLOCK:
        return ft_intern_find(&trace->blocks, name, length);
    case FT_OBJECT_NONE:
    case FT_OBJECT_CLASSES:
        break;
    }
    return 0;
}

static inline void tiny_plain(ft_builder *b, uint32_t thread, uint32_t loc, char *text)
{
    static const struct {
        const char *word;
        ft_event_kind kind;
        uint8_t flags;
    } KINDS[] = {{"r", FT_EVENT_READ, 0},
                 {"ra", FT_EVENT_READ, FT_FLAG_ATOMIC},
                 {"w", FT_EVENT_WRITE, 0},
                 {"wa", FT_EVENT_WRITE, FT_FLAG_ATOMIC},
                 {"acq", FT_EVENT_ACQUIRE, 0},
                 {"rel", FT_EVENT_RELEASE, 0},
                 {"wait", FT_EVENT_WAIT, 0},
                 {"post", FT_EVENT_POST, 0},
                 {"fork", FT_EVENT_FORK, 0},
                 {"join", FT_EVENT_JOIN, 0},
                 {"twait", FT_EVENT_WAIT, FT_FLAG_TRY},
                 {"tjoin", FT_EVENT_JOIN, FT_FLAG_TRY},
                 {"twake", FT_EVENT_COND_WAKE, FT_FLAG_TRY},
                 {"out", FT_EVENT_EDGE_OUT, 0},
                 {"in", FT_EVENT_EDGE_IN, 0},
                 {"begin", FT_EVENT_BEGIN, 0},
                 {"end", FT_EVENT_END, 0},
                 {"tx", FT_EVENT_TX_BEGIN, 0},
                 {"xt", FT_EVENT_TX_END, 0},
                 {"acqs", FT_EVENT_ACQUIRE_SHARED, 0},
                 {"try", FT_EVENT_ACQUIRE, FT_FLAG_TRY},
                 {"trys", FT_EVENT_ACQUIRE_SHARED, FT_FLAG_TRY},
                 {"nope", FT_EVENT_TRY_FAILED, 0},
                 {"nopes", FT_EVENT_TRY_FAILED_SHARED, 0},
                 {"cwait", FT_EVENT_COND_WAIT, 0},
                 {"relc", FT_EVENT_RELEASE, FT_FLAG_CONDITION},
                 {"cwake", FT_EVENT_COND_WAKE, 0},
                 {"late", FT_EVENT_COND_WAKE, FT_FLAG_FAILED},
                 {"acqc", FT_EVENT_ACQUIRE, FT_FLAG_CONDITION},
                 {"sig", FT_EVENT_SIGNAL, 0},
                 {"bro", FT_EVENT_BROADCAST, 0},
                 {"arr", FT_EVENT_BARRIER_ARRIVE, 0},
                 {"leave", FT_EVENT_BARRIER_LEAVE, 0},
                 {"obeg", FT_EVENT_ONCE_BEGIN, 0},
                 {"oend", FT_EVENT_ONCE_END, 0},
                 {"pass", FT_EVENT_ONCE_PASS, 0},
                 {"alloc", FT_EVENT_ALLOC, 0},
                 {"free", FT_EVENT_FREE, 0},
                 {"else", FT_EVENT_ELSE, 0},
                 {"end-if", FT_EVENT_END_IF, 0}};
    tiny_words w = tiny_split(text);
    if (strcmp(w.word[0], "rmw") == 0) {
        ft_builder_update(b, thread, tiny_object(b, FT_OBJECT_VARIABLE, w.word[1]), loc,
                          tiny_value(b, w.count > 2 ? w.word[2] : NULL),
                          tiny_value(b, w.count > 3 ? w.word[3] : NULL), false);
        return;
    }
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(KINDS[i].word, w.word[0]) != 0) continue;
        uint32_t object = tiny_object(b, ft_event_kind_object(KINDS[i].kind), w.word[1]);
        assert_int_not_equal(object, FT_NO_ID);
        ft_builder_event(b, KINDS[i].kind, thread, object, loc,
                         tiny_value(b, w.count > 2 ? w.word[2] : NULL), KINDS[i].flags);
        return;
    }
    fail_msg("event %s", w.word[0]);
}

static inline void tiny_event(ft_builder *b, char *line)
{
    char *text = strstr(line, ": "), *at = strstr(line, " @");
    *text = 0;
    text += 2;
    uint32_t thread = ft_builder_thread(b, line, strlen(line)), loc = FT_NO_LOC;
    if (at) *at = 0;
    if (at) loc = ft_builder_location(b, at + 2, strlen(at + 2), NULL, 0);
    if (strncmp(text, "assume ", 7) == 0)
        ft_builder_action(b, FT_EVENT_ASSUME, thread, loc, tiny_term(b, text + 7), NULL, 0, 0);
    else if (strncmp(text, "assert ", 7) == 0)
        ft_builder_action(b, FT_EVENT_ASSERT, thread, loc, tiny_term(b, text + 7), NULL, 0, 0);
    else if (strncmp(text, "if ", 3) == 0)
        ft_builder_action(b, FT_EVENT_IF, thread, loc, tiny_term(b, text + 3), NULL, 0, 0);
    else if (strstr(text, ":="))
        tiny_assign(b, thread, loc, text);
    else
        tiny_plain(b, thread, loc, text);
}

static inline ft_trace *tiny_trace(const char *text)
{
    ft_builder *b = ft_builder_new(FT_FORMAT_NDJSON);
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    char *copy = ft_strdup(text), *rest = copy, *line;
    while ((line = strsep(&rest, "\n"))) {
        if (!*line) continue;
        if (strstr(line, ": "))
            tiny_event(b, line);
        else
            tiny_declare(b, line);
    }
    free(copy);
    if (ft_builder_finish(b, &trace, &err)) fail_msg("%s", err.message);
    return trace;
}

/* 1-based event numbers of `text`; returns how many there are. */
static inline uint32_t tiny_numbers(const char *text, uint32_t *events, uint32_t most)
{
    uint32_t count = 0;
    char *end;
    for (;;) {
        unsigned long number = strtoul(text, &end, 10);
        if (end == text) return count;
        assert_true(count < most);
        events[count++] = (uint32_t)number - 1;
        text = end;
    }
}

#endif
