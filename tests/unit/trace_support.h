/* For the trace tests: random traces in which every event kind occurs, and comparing traces. */
#ifndef FT_TESTS_TRACE_SUPPORT_H
#define FT_TESTS_TRACE_SUPPORT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "trace/reader.h"

static inline uint32_t rnd(uint64_t *state, uint32_t below)
{
    *state += 0x9e3779b97f4a7c15u;
    return (uint32_t)(ft_hash_u64(*state) % below);
}

static inline ft_status append_to(void *context, const void *data, size_t length, ft_error *err)
{
    (void)err;
    ft_strbuf_add(context, data, length);
    return FT_OK;
}

static inline ft_term parse_term(ft_builder *b, const char *text)
{
    ft_scope scope = ft_trace_scope(ft_builder_peek(b));
    ft_error err = FT_ERROR_INIT;
    ft_term term = FT_NO_TERM;
    if (ft_term_parse(ft_builder_terms(b), text, strlen(text), &scope, &term, &err) != FT_OK)
        fail_msg("%s: %s", text, err.message);
    return term;
}

static inline ft_trace *finish_trace(ft_builder *b)
{
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    if (ft_builder_finish(b, &trace, &err) != FT_OK) fail_msg("%s", err.message);
    return trace;
}

static inline ft_trace *read_text(const char *text, size_t length)
{
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    if (ft_trace_read_memory(text, length, &trace, &err) != FT_OK)
        fail_msg("%llu:%llu: %s", (unsigned long long)err.line, (unsigned long long)err.column,
                 err.message);
    return trace;
}

/* ---- random traces ---- */

enum { THREADS = 5, VARIABLES = 3, LOCKS = 5, READ_WRITE_LOCK = 4, EDGES = 6 };

typedef struct random_trace {
    uint64_t seed;
    ft_builder *b;
    bool begun[THREADS], ended[THREADS], forked[THREADS];
    uint32_t open[THREADS], held[THREADS][LOCKS];
    bool out[EDGES], in[EDGES];
} random_trace;

static inline void declare_random(random_trace *r)
{
    static const ft_sort sorts[VARIABLES] = {
        {FT_SORT_INT, 0}, {FT_SORT_BOOL, 0}, {FT_SORT_BITVEC, 8}};
    static const char *const shared[] = {"x", "flag", "odd name"}, *const local[] = {"a", "p", "v"};
    for (uint32_t t = 0; t < THREADS; t++) {
        char name[16];
        ft_builder_thread(r->b, name, (size_t)snprintf(name, sizeof name, "T\xc3\xa9%u", t));
    }
    for (uint32_t i = 0; i < VARIABLES; i++) {
        uint32_t value = ft_builder_value(r->b, (ft_value){sorts[i], i});
        ft_builder_shared(r->b, shared[i], strlen(shared[i]), sorts[i]);
        ft_builder_shared_initial(r->b, i, value);
        ft_builder_local(r->b, local[i], strlen(local[i]), sorts[i]);
        ft_builder_local_initial(r->b, i, value);
    }
    ft_builder_lock(r->b, "m", 1, FT_LOCK_MUTEX);
    ft_builder_lock(r->b, "r", 1, FT_LOCK_RECURSIVE);
    ft_builder_lock(r->b, "r2", 2, FT_LOCK_RECURSIVE);
    ft_builder_lock(r->b, "e", 1, FT_LOCK_ERROR_CHECKING);
    ft_builder_lock(r->b, "w", 1, FT_LOCK_READ_WRITE);
    ft_builder_semaphore(r->b, "s", 1, 2);
    ft_builder_condition(r->b, "c", 1);
    ft_builder_barrier(r->b, "b", 1, 3);
    ft_builder_once(r->b, "o", 1);
    ft_builder_block(r->b, "k", 1, (const uint32_t[]){2, 0, 2}, 3);
}

static inline uint32_t random_location(random_trace *r)
{
    static const char *const functions[] = {NULL, "main", "say \"hi\""};
    char text[32];
    if (rnd(&r->seed, 4) == 0) return FT_NO_LOC;
    int length = snprintf(text, sizeof text, "dir\\file.c:%u", rnd(&r->seed, 40));
    const char *function = functions[rnd(&r->seed, 3)];
    return ft_builder_location(r->b, text, (size_t)length, function,
                               function ? strlen(function) : 0);
}

static inline void random_assign(random_trace *r, uint32_t thread, uint32_t loc)
{
    static const char *const guards[] = {"(> x a)", "(and flag (not p))", "(bvult v |odd name|)"};
    static const char *const terms[] = {"(+ x (* 2 a))", "(or flag (= x 3))",
                                        "(bvadd |odd name| ((_ extract 7 0) (concat v v)))"};
    ft_assignment set[VARIABLES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < VARIABLES; i++)
        if (rnd(&r->seed, 2))
            set[n++] = (ft_assignment){rnd(&r->seed, 2) ? FT_SYM_SHARED(i) : FT_SYM_LOCAL(i),
                                       parse_term(r->b, terms[i])};
    ft_term guard = rnd(&r->seed, 2) ? parse_term(r->b, guards[rnd(&r->seed, 3)]) : FT_NO_TERM;
    ft_builder_action(r->b, FT_EVENT_ASSIGN, thread, loc, guard, set, n, 0);
}

static inline void random_condition(random_trace *r, ft_event_kind kind, uint32_t t, uint32_t loc)
{
    static const char *const terms[] = {"(distinct x a 7)", "flag",
                                        "(=> p (bvsle ((_ sign_extend 8) v) #x0102))"};
    ft_builder_action(r->b, kind, t, loc, parse_term(r->b, terms[rnd(&r->seed, 3)]), NULL, 0,
                      rnd(&r->seed, 2) ? FT_FLAG_ATOMIC : 0);
}

static inline uint32_t random_value(random_trace *r, uint32_t variable)
{
    ft_sort sort = ft_builder_peek(r->b)->shared_info[variable].sort;
    uint64_t bits = sort.kind == FT_SORT_INT    ? (uint64_t)-5 + rnd(&r->seed, 11)
                    : sort.kind == FT_SORT_BOOL ? rnd(&r->seed, 2)
                                                : rnd(&r->seed, 256);
    return rnd(&r->seed, 5) ? ft_builder_value(r->b, (ft_value){sort, bits}) : FT_NO_VALUE;
}

static inline void random_access(random_trace *r, ft_event_kind kind, uint32_t t, uint32_t loc)
{
    uint32_t variable = rnd(&r->seed, VARIABLES), value = random_value(r, variable);
    if (kind == FT_EVENT_RMW)
        ft_builder_update(r->b, t, variable, loc, value, random_value(r, variable),
                          rnd(&r->seed, 2) == 0);
    else
        ft_builder_event(r->b, kind, t, variable, loc, value,
                         rnd(&r->seed, 3) == 0 ? FT_FLAG_ATOMIC : 0);
}

static inline bool is_shared_kind(ft_event_kind kind)
{
    return kind == FT_EVENT_ACQUIRE_SHARED || kind == FT_EVENT_TRY_FAILED_SHARED;
}

/* Flags that fit the kind, now and then. */
static inline uint8_t random_flags(random_trace *r, ft_event_kind kind)
{
    bool acquire = kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_ACQUIRE_SHARED;
    bool whole = kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_RELEASE;
    unsigned flags = whole && rnd(&r->seed, 6) == 0 ? FT_FLAG_CONDITION : 0;
    if (acquire && !flags && rnd(&r->seed, 6) == 0) flags = FT_FLAG_TRY;
    bool waits = kind == FT_EVENT_WAIT || kind == FT_EVENT_COND_WAKE || kind == FT_EVENT_JOIN;
    if (waits && rnd(&r->seed, 6) == 0) flags = FT_FLAG_TRY;
    if (kind == FT_EVENT_COND_WAKE && rnd(&r->seed, 3) == 0) flags = FT_FLAG_FAILED;
    return (uint8_t)flags;
}

/* An object for the event, or false where the event would be unreadable as NDJSON. */
static inline bool random_object(random_trace *r, ft_event_kind kind, uint32_t t, uint32_t *id)
{
    switch (ft_event_kind_object(kind)) {
    case FT_OBJECT_LOCK:
        *id = is_shared_kind(kind) ? READ_WRITE_LOCK : rnd(&r->seed, LOCKS);
        return kind != FT_EVENT_RELEASE || r->held[t][*id] || rnd(&r->seed, 8) == 0;
    case FT_OBJECT_THREAD:
        *id = rnd(&r->seed, THREADS);
        if (*id == t || (kind == FT_EVENT_FORK && r->forked[*id])) return false;
        if (kind == FT_EVENT_FORK) r->forked[*id] = true;
        return true;
    case FT_OBJECT_EDGE:
        *id = rnd(&r->seed, EDGES);
        if (kind == FT_EVENT_EDGE_OUT && r->out[*id]) return false;
        *(kind == FT_EVENT_EDGE_OUT ? &r->out[*id] : &r->in[*id]) = true;
        return true;
    case FT_OBJECT_NONE:
    case FT_OBJECT_VARIABLE:
    case FT_OBJECT_SEMAPHORE:
    case FT_OBJECT_CONDITION:
    case FT_OBJECT_BARRIER:
    case FT_OBJECT_ONCE:
    case FT_OBJECT_BLOCK:
    case FT_OBJECT_CLASSES:
        break;
    }
    *id = 0;
    if (kind == FT_EVENT_TX_END && !r->open[t]) return false;
    if (kind == FT_EVENT_TX_BEGIN) r->open[t]++;
    if (kind == FT_EVENT_TX_END) r->open[t]--;
    if (kind == FT_EVENT_END) r->ended[t] = rnd(&r->seed, 4) == 0;
    return kind != FT_EVENT_END || r->ended[t];
}

static inline void random_event(random_trace *r)
{
    uint32_t t = rnd(&r->seed, THREADS), id = 0, loc;
    ft_event_kind kind = (ft_event_kind)rnd(&r->seed, FT_EVENT_KINDS);
    if (r->ended[t] || kind == FT_EVENT_IF || kind == FT_EVENT_ELSE || kind == FT_EVENT_END_IF)
        return;
    if (kind == FT_EVENT_BEGIN && r->begun[t]) kind = FT_EVENT_ACQUIRE;
    if (!random_object(r, kind, t, &id)) return;
    loc = random_location(r);
    r->begun[t] = true;
    if (kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_ACQUIRE_SHARED) r->held[t][id]++;
    if (kind == FT_EVENT_RELEASE && r->held[t][id]) r->held[t][id]--;
    if (ft_event_kind_object(kind) == FT_OBJECT_VARIABLE)
        random_access(r, kind, t, loc);
    else if (kind == FT_EVENT_ASSIGN)
        random_assign(r, t, loc);
    else if (kind == FT_EVENT_ASSUME || kind == FT_EVENT_ASSERT)
        random_condition(r, kind, t, loc);
    else if (ft_event_kind_object(kind) == FT_OBJECT_EDGE) {
        char name[8];
        int length = snprintf(name, sizeof name, "e%u", id);
        id = ft_builder_edge(r->b, name, (size_t)length);
        ft_builder_event(r->b, kind, t, id, loc, 0, 0);
    } else {
        ft_builder_event(r->b, kind, t, id, loc, 0, random_flags(r, kind));
    }
}

/* A builder with about `steps` random events: joins and edges out of order, locks never released,
 * released by strangers, taken while held, and so on. */
static inline ft_builder *random_builder(uint64_t seed, uint32_t steps)
{
    random_trace r = {.seed = seed, .b = ft_builder_new(FT_FORMAT_NDJSON)};
    declare_random(&r);
    for (uint32_t i = 0; i < steps; i++) random_event(&r);
    for (uint32_t e = 0; e < EDGES; e++) { /* an edge-in needs an edge-out somewhere */
        char name[8];
        int length = snprintf(name, sizeof name, "e%u", e);
        if (!r.in[e] || r.out[e]) continue;
        uint32_t t = 0;
        while (t < THREADS && r.ended[t]) t++;
        if (t == THREADS) t = ft_builder_thread(r.b, "extra", 5);
        ft_builder_event(r.b, FT_EVENT_EDGE_OUT, t, ft_builder_edge(r.b, name, (size_t)length), 0,
                         0, 0);
    }
    ft_builder_event(r.b, FT_EVENT_POST, ft_builder_thread(r.b, "last", 4), 0, FT_NO_LOC, 0, 0);
    return r.b;
}

/* ---- comparing ---- */

static inline const char *text_or(const char *text)
{
    return text ? text : "(none)";
}

static inline void assert_same_names(const ft_intern *a, const ft_intern *b)
{
    assert_int_equal(a->len, b->len);
    for (uint32_t i = 0; i < a->len; i++) assert_string_equal(a->names[i], b->names[i]);
}

static inline void assert_same_event(const ft_trace *a, uint32_t i, const ft_trace *b, uint32_t j,
                                     unsigned flag_mask)
{
    ft_strbuf left = {0}, right = {0};
    const ft_location *p = &a->locations[a->loc[i]], *q = &b->locations[b->loc[j]];
    ft_trace_print_event(a, i, &left);
    ft_trace_print_event(b, j, &right);
    assert_string_equal(ft_strbuf_text(&left), ft_strbuf_text(&right));
    ft_strbuf_release(&left);
    ft_strbuf_release(&right);
    assert_int_equal(a->kind[i], b->kind[j]);
    assert_int_equal(a->flags[i] & flag_mask, b->flags[j] & flag_mask);
    assert_string_equal(ft_trace_thread_name(a, a->thread[i]),
                        ft_trace_thread_name(b, b->thread[j]));
    assert_string_equal(text_or(p->text), text_or(q->text));
    assert_string_equal(text_or(p->function), text_or(q->function));
}

/* Equal up to the numbering of locations, values, edges and terms. */
static inline void assert_same_trace(const ft_trace *a, const ft_trace *b, unsigned flag_mask)
{
    assert_same_names(&a->threads, &b->threads);
    assert_same_names(&a->shared, &b->shared);
    assert_same_names(&a->locals, &b->locals);
    assert_same_names(&a->locks, &b->locks);
    assert_same_names(&a->semaphores, &b->semaphores);
    assert_same_names(&a->conditions, &b->conditions);
    assert_same_names(&a->barriers, &b->barriers);
    assert_same_names(&a->onces, &b->onces);
    assert_same_names(&a->blocks, &b->blocks);
    assert_int_equal(a->edges.len, b->edges.len);
    for (uint32_t i = 0; i < a->shared.len; i++) {
        assert_true(ft_sort_equal(a->shared_info[i].sort, b->shared_info[i].sort));
        assert_true(ft_value_equal(a->values[a->shared_info[i].initial],
                                   b->values[b->shared_info[i].initial]));
    }
    for (uint32_t i = 0; i < a->locals.len; i++) {
        assert_true(ft_sort_equal(a->local_info[i].sort, b->local_info[i].sort));
        assert_true(ft_value_equal(a->values[a->local_info[i].initial],
                                   b->values[b->local_info[i].initial]));
    }
    assert_int_equal(a->n_events, b->n_events);
    assert_memory_equal(a->lock_kind, b->lock_kind, a->locks.len);
    assert_memory_equal(a->semaphore_initial, b->semaphore_initial,
                        a->semaphores.len * sizeof(uint32_t));
    for (uint32_t i = 0; i < a->barriers.len; i++)
        assert_int_equal(a->barrier_count[i], b->barrier_count[i]);
    for (uint32_t i = 0; i < a->blocks.len; i++) {
        assert_int_equal(a->block_cells[i].count, b->block_cells[i].count);
        for (uint32_t c = 0; c < a->block_cells[i].count; c++)
            assert_int_equal(a->block_cells[i].variables[c], b->block_cells[i].variables[c]);
    }
    for (uint32_t e = 0; e < a->n_events; e++) assert_same_event(a, e, b, e, flag_mask);
}

#endif
