/* The Foretell NDJSON reader: docs/trace-format.md is its specification. */
#include <stdlib.h>
#include <string.h>

#include "trace/json_line.h"
#include "trace/reader.h"
#include "trace/reader_ndjson.h"

/* ---- members --------------------------------------------------------------------------------- */

#define K(kind) ((uint64_t)1 << FT_EVENT_##kind)
#define ANY     (((uint64_t)1 << FT_EVENT_KINDS) - 1)
#define ACCESS  (K(READ) | K(WRITE) | K(ASSIGN) | K(ASSUME) | K(ASSERT) | K(IF))
#define PLAIN   (K(READ) | K(WRITE) | K(RMW))
#define TAKE    (K(ACQUIRE) | K(ACQUIRE_SHARED))
#define ON_LOCK (TAKE | K(RELEASE) | K(TRY_FAILED) | K(TRY_FAILED_SHARED))
#define WAITS   (TAKE | K(WAIT) | K(JOIN) | K(COND_WAKE) | K(BARRIER_LEAVE) | K(ONCE_PASS))
#define TRIES   (TAKE | K(WAIT) | K(COND_WAKE) | K(JOIN) | K(RMW))
#define ON_COND (K(COND_WAIT) | K(COND_WAKE) | K(SIGNAL) | K(BROADCAST))

/*  symbol, name, kinds that may have it, required there */
#define MEMBER_TABLE(X)                                                                            \
    X(THREAD, "thread", ANY, true)                                                                 \
    X(KIND, "kind", ANY, true)                                                                     \
    X(VARIABLE, "variable", PLAIN, true)                                                           \
    X(VALUE, "value", PLAIN, false)                                                                \
    X(RESULT, "result", K(RMW), false)                                                             \
    X(ATOMIC, "atomic", ACCESS, false)                                                             \
    X(EXTERNAL, "external", K(WRITE) | K(ALLOC), false)                                            \
    X(IGNORED, "ignored", K(READ) | K(RMW) | K(ASSIGN) | K(ASSUME), false)                         \
    X(GUARD, "guard", K(ASSIGN), false)                                                            \
    X(SET, "set", K(ASSIGN), true)                                                                 \
    X(TERM, "term", K(ASSUME) | K(ASSERT) | K(IF), true)                                           \
    X(LOCK, "lock", ON_LOCK, true)                                                                 \
    X(CONDITION, "condition", K(ACQUIRE) | K(RELEASE), false)                                      \
    X(TRY, "try", TRIES, false)                                                                    \
    X(COND, "cond", ON_COND, true)                                                                 \
    X(TIMEOUT, "timeout", K(COND_WAKE), false)                                                     \
    X(BLOCKED, "blocked", WAITS, false)                                                            \
    X(BARRIER, "barrier", K(BARRIER_ARRIVE) | K(BARRIER_LEAVE), true)                              \
    X(ONCE, "once", K(ONCE_BEGIN) | K(ONCE_END) | K(ONCE_PASS), true)                              \
    X(BLOCK, "block", K(ALLOC) | K(FREE), true)                                                    \
    X(SEMAPHORE, "semaphore", K(WAIT) | K(POST), true)                                             \
    X(CHILD, "child", K(FORK) | K(JOIN), true)                                                     \
    X(EDGE, "edge", K(EDGE_OUT) | K(EDGE_IN), true)                                                \
    X(LOC, "loc", ANY, false)                                                                      \
    X(FUNCTION, "function", ANY, false)                                                            \
    X(AT, "at", ANY, false)                                                                        \
    X(CONTEXT, "context", ANY, false)

typedef enum member {
#define ROW(symbol, name, kinds, required) MEMBER_##symbol,
    MEMBER_TABLE(ROW)
#undef ROW
        MEMBERS
} member;

static const struct {
    const char *name;
    uint64_t kinds;
    bool required;
} MEMBER[MEMBERS] = {
#define ROW(symbol, name, kinds, required) [MEMBER_##symbol] = {name, kinds, required},
    MEMBER_TABLE(ROW)
#undef ROW
};

typedef struct event {
    ft_json_value object; /* the whole line */
    ft_json_value key[MEMBERS], value[MEMBERS];
    ft_event_kind kind;
    uint32_t thread, loc;
    uint8_t flags;
} event;

static const char *const MEMBER_NAMES[MEMBERS] = {
#define ROW(symbol, name, kinds, required) name,
    MEMBER_TABLE(ROW)
#undef ROW
};

static ft_status check_members(ndjson *s, const event *e, ft_error *err)
{
    const char *kind = ft_event_kind_name(e->kind);
    for (size_t i = 0; i < MEMBERS; i++) {
        bool present = e->value[i].type != FT_JSON_NONE;
        bool fits = MEMBER[i].kinds >> e->kind & 1;
        if (present && !fits)
            return ft_json_fail(&s->json, e->key[i].begin, err,
                                "member \"%s\" does not belong to an event of kind \"%s\"",
                                MEMBER[i].name, kind);
        if (!present && fits && MEMBER[i].required)
            return ft_json_fail(&s->json, e->object.begin, err,
                                "an event of kind \"%s\" needs the member \"%s\"", kind,
                                MEMBER[i].name);
    }
    return FT_OK;
}

static ft_status read_kind(ndjson *s, event *e, ft_error *err)
{
    const ft_json_value *value = &e->value[MEMBER_KIND];
    if (value->type == FT_JSON_NONE)
        return ft_json_fail(&s->json, e->object.begin, err, "an event needs the member \"kind\"");
    if (value->type == FT_JSON_STRING) {
        for (int kind = 0; kind < FT_EVENT_KINDS; kind++) {
            e->kind = (ft_event_kind)kind;
            if (ft_ndjson_is(value, ft_event_kind_name(e->kind))) return FT_OK;
        }
    }
    return ft_json_fail(&s->json, value->begin, err,
                        "unknown event kind %.*s: docs/trace-format.md lists them",
                        ft_ndjson_shown(value), s->json.text + value->begin);
}

/* A member that names something declared in the header. */
static ft_status find_name(ndjson *s, const ft_json_value *value, const ft_intern *table,
                           const char *what, const char *header_member, uint32_t *id, ft_error *err)
{
    ft_status status = ft_ndjson_name(s, value, what, err);
    if (status != FT_OK) return status;
    *id = ft_intern_find(table, value->text, value->length);
    if (*id != FT_NO_ID) return FT_OK;
    return ft_json_fail(&s->json, value->begin, err,
                        "undeclared %s %.*s: add it to \"%s\" in the header", what,
                        ft_ndjson_shown(value), s->json.text + value->begin, header_member);
}

static ft_status read_flag(ndjson *s, const ft_json_value *value, uint8_t flag, uint8_t *flags,
                           ft_error *err)
{
    if (value->type == FT_JSON_NONE || value->type == FT_JSON_FALSE) return FT_OK;
    if (value->type != FT_JSON_TRUE)
        return ft_json_fail(&s->json, value->begin, err, "expected true or false");
    *flags |= flag;
    return FT_OK;
}

static ft_status read_place(ndjson *s, event *e, ft_error *err)
{
    ft_status status = ft_ndjson_location(s, &e->value[MEMBER_LOC], &e->key[MEMBER_FUNCTION],
                                          &e->value[MEMBER_FUNCTION], &e->loc, err);
    if (status != FT_OK) return status;
    return ft_ndjson_step(s, &e->value[MEMBER_AT], &e->value[MEMBER_CONTEXT], err);
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* Why resolve() refused a name, so that the message can say more than "unknown". */
typedef enum refusal { REFUSED_UNDECLARED, REFUSED_NO_INIT, REFUSED_UNASSIGNED } refusal;

typedef struct resolver {
    ndjson *s;
    uint32_t thread;
    bool refused;
    refusal why;
} resolver;

static bool refuse(resolver *r, refusal why)
{
    r->refused = true;
    r->why = why;
    return false;
}

/* Terms may use a variable if its initial value is given, or given as unknown. */
static bool may_be_in_terms(const variable *shared)
{
    return shared->has_initial || shared->unknown;
}

static bool resolve(void *context, const char *name, size_t length, ft_symbol *symbol,
                    ft_sort *sort)
{
    resolver *r = context;
    const ft_trace *tables = ft_builder_peek(r->s->builder);
    uint32_t id = ft_intern_find(&tables->shared, name, length);
    if (id != FT_NO_ID) {
        if (!may_be_in_terms(&r->s->shared.data[id])) return refuse(r, REFUSED_NO_INIT);
        *symbol = FT_SYM_SHARED(id);
        *sort = r->s->shared.data[id].sort;
        return true;
    }
    id = ft_intern_find(&tables->locals, name, length);
    if (id == FT_NO_ID) return refuse(r, REFUSED_UNDECLARED);
    if (!r->s->locals.data[id].has_initial && !ft_ndjson_is_assigned(r->s, r->thread, id))
        return refuse(r, REFUSED_UNASSIGNED);
    *symbol = FT_SYM_LOCAL(id);
    *sort = r->s->locals.data[id].sort;
    return true;
}

static const char *symbol_name(void *context, ft_symbol symbol)
{
    const ft_trace *tables = ft_builder_peek(((resolver *)context)->s->builder);
    const ft_intern *table = FT_SYM_IS_LOCAL(symbol) ? &tables->locals : &tables->shared;
    return table->names[FT_SYM_INDEX(symbol)];
}

static const char *refusal_text(const resolver *r, const char *otherwise)
{
    if (!r->refused) return otherwise;
    switch (r->why) {
    case REFUSED_UNDECLARED:
        return "undeclared variable: add it to \"variables\" or \"locals\" in the header";
    case REFUSED_NO_INIT:
        return "a shared variable in a term needs an initial value: add \"init\" to its "
               "declaration in the header (null: it is not known)";
    case REFUSED_UNASSIGNED:
        return "this local is read before the thread assigned it on every path: assign it first or "
               "add \"init\" to its declaration";
    }
    return otherwise;
}

static ft_status parse_term(ndjson *s, const event *e, const ft_json_value *value, ft_term *term,
                            ft_error *err)
{
    resolver r = {.s = s, .thread = e->thread};
    ft_scope scope = {.resolve = resolve, .name = symbol_name, .context = &r};
    ft_error inner = FT_ERROR_INIT;
    ft_status status = ft_term_parse(ft_builder_terms(s->builder), value->text, value->length,
                                     &scope, term, &inner);
    if (status == FT_OK) return FT_OK;
    uint64_t column = ft_json_column(&s->json, value, inner.column ? inner.column - 1 : 0);
    return ft_error_at(err, status, s->json.number, column, "%s", refusal_text(&r, inner.message));
}

/* A term of the given sort, from a term string or a plain JSON literal. */
static ft_status read_term(ndjson *s, const event *e, const ft_json_value *value, ft_sort sort,
                           const char *what, ft_term *term, ft_error *err)
{
    ft_term_pool *pool = ft_builder_terms(s->builder);
    if (value->type != FT_JSON_STRING) {
        ft_value literal;
        ft_status status = ft_ndjson_value(s, value, sort, &literal, err);
        if (status == FT_OK) *term = ft_term_literal(pool, literal);
        return status;
    }
    ft_status status = parse_term(s, e, value, term, err);
    if (status != FT_OK) return status;
    ft_sort found = ft_term_sort(pool, *term);
    if (ft_sort_equal(found, sort)) return FT_OK;
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, "the term has sort ");
    ft_sort_print(found, &text);
    ft_strbuf_printf(&text, " but %s has sort ", what);
    ft_sort_print(sort, &text);
    status = ft_json_fail(&s->json, value->begin + 1, err, "%s", text.text);
    ft_strbuf_release(&text);
    return status;
}

/* ---- assign, assume, assert ------------------------------------------------------------------ */

/* The declaration of an assignment's target; NULL: refused. */
static variable *find_target(ndjson *s, const ft_json_value *key, ft_symbol *target, ft_error *err)
{
    const ft_trace *tables = ft_builder_peek(s->builder);
    uint32_t id = ft_intern_find(&tables->shared, key->text, key->length);
    if (id != FT_NO_ID) {
        *target = FT_SYM_SHARED(id);
        if (may_be_in_terms(&s->shared.data[id])) return &s->shared.data[id];
        ft_json_fail(
            &s->json, key->begin, err,
            "a shared variable of a symbolic event needs an initial value: add \"init\" to "
            "its declaration in the header (null: it is not known)");
        return NULL;
    }
    id = ft_intern_find(&tables->locals, key->text, key->length);
    *target = FT_SYM_LOCAL(id);
    if (id != FT_NO_ID) return &s->locals.data[id];
    ft_json_fail(&s->json, key->begin, err,
                 "undeclared variable %.*s: add it to \"variables\" or \"locals\" in the header",
                 ft_ndjson_shown(key), s->json.text + key->begin);
    return NULL;
}

static ft_status read_assignment(ndjson *s, const event *e, const ft_json_value *key,
                                 const ft_json_value *value, ft_error *err)
{
    ft_assignment one;
    variable *info = find_target(s, key, &one.target, err);
    if (!info) return FT_INPUT;
    if (info->set_line == s->json.number)
        return ft_json_fail(&s->json, key->begin, err, "duplicate target %.*s in \"set\"",
                            ft_ndjson_shown(key), s->json.text + key->begin);
    info->set_line = s->json.number;
    ft_status status = read_term(s, e, value, info->sort, "the target", &one.term, err);
    if (status == FT_OK) ft_vec_push(&s->assignments, one);
    return status;
}

/* The right-hand sides are all read in the state before the event, so locals count as assigned
 * only once all of them are known. A guard that fails stops the thread: behind the event its
 * targets are assigned, guard or not. */
static ft_status read_set(ndjson *s, const event *e, ft_error *err)
{
    const ft_json_value *set = &e->value[MEMBER_SET];
    if (set->type != FT_JSON_OBJECT)
        return ft_json_fail(&s->json, set->begin, err,
                            "\"set\" must be an object: {\"x\": \"(+ x 1)\"}");
    ft_json_value key, value;
    ft_json_cursor cursor = ft_json_enter(set);
    s->assignments.len = 0;
    while (ft_json_next_member(&s->json, &cursor, &key, &value)) {
        ft_status status = read_assignment(s, e, &key, &value, err);
        if (status != FT_OK) return status;
    }
    for (size_t i = 0; i < s->assignments.len; i++) {
        ft_symbol target = s->assignments.data[i].target;
        if (FT_SYM_IS_LOCAL(target)) ft_ndjson_assign_local(s, e->thread, FT_SYM_INDEX(target));
    }
    return FT_OK;
}

static ft_status read_action(ndjson *s, const event *e, ft_error *err)
{
    ft_term guard = FT_NO_TERM;
    bool assign = e->kind == FT_EVENT_ASSIGN;
    const ft_json_value *term = &e->value[assign ? MEMBER_GUARD : MEMBER_TERM];
    ft_status status = FT_OK;
    s->assignments.len = 0;
    if (term->type != FT_JSON_NONE)
        status = read_term(s, e, term, FT_BOOL_SORT, "a condition", &guard, err);
    if (status == FT_OK && assign) status = read_set(s, e, err);
    if (status != FT_OK) return status;
    ft_builder_aside(s->builder, e->flags & FT_FLAG_SYNTHETIC);
    ft_builder_action(s->builder, e->kind, e->thread, e->loc, guard, s->assignments.data,
                      (uint32_t)s->assignments.len, e->flags);
    return FT_OK;
}

/* ---- events with an object ------------------------------------------------------------------- */

/* The value of a variable's sort in a member that may be missing. */
static ft_status read_value(ndjson *s, const ft_json_value *given, uint32_t variable_id,
                            uint32_t *id, ft_error *err)
{
    ft_value value;
    *id = FT_NO_VALUE;
    if (given->type == FT_JSON_NONE) return FT_OK;
    ft_status status = ft_ndjson_value(s, given, s->shared.data[variable_id].sort, &value, err);
    if (status == FT_OK) *id = ft_builder_value(s->builder, value);
    return status;
}

static ft_status read_access(ndjson *s, const event *e, ft_error *err)
{
    uint32_t variable_id, value_id, result_id;
    ft_status status =
        find_name(s, &e->value[MEMBER_VARIABLE], &ft_builder_peek(s->builder)->shared, "variable",
                  "variables", &variable_id, err);
    if (status == FT_OK)
        status = read_value(s, &e->value[MEMBER_VALUE], variable_id, &value_id, err);
    if (status == FT_OK)
        status = read_value(s, &e->value[MEMBER_RESULT], variable_id, &result_id, err);
    if (status != FT_OK) return status;
    ft_builder_aside(s->builder, e->flags & FT_FLAG_SYNTHETIC);
    if (e->kind == FT_EVENT_RMW)
        ft_builder_update(s->builder, e->thread, variable_id, e->loc, value_id, result_id,
                          e->flags & FT_FLAG_TRY);
    else
        ft_builder_event(s->builder, e->kind, e->thread, variable_id, e->loc, value_id, e->flags);
    return FT_OK;
}

static ft_status read_lock(ndjson *s, const event *e, uint32_t *id, ft_error *err)
{
    const ft_json_value *value = &e->value[MEMBER_LOCK];
    const ft_trace *tables = ft_builder_peek(s->builder);
    ft_status status = find_name(s, value, &tables->locks, "lock", "locks", id, err);
    bool shared = e->kind == FT_EVENT_ACQUIRE_SHARED || e->kind == FT_EVENT_TRY_FAILED_SHARED;
    if (status != FT_OK || !shared) return status;
    if (ft_lock_kind_has_readers((ft_lock_kind)tables->lock_kind[*id])) return FT_OK;
    return ft_json_fail(&s->json, value->begin, err,
                        "lock %.*s is not a read-write lock: it cannot be taken for reading",
                        ft_ndjson_shown(value), s->json.text + value->begin);
}

static ft_status read_child(ndjson *s, const event *e, uint32_t *child, ft_error *err)
{
    const ft_json_value *value = &e->value[MEMBER_CHILD];
    ft_status status =
        find_name(s, value, &ft_builder_peek(s->builder)->threads, "thread", "threads", child, err);
    if (status != FT_OK) return status;
    if (*child == e->thread)
        return ft_json_fail(&s->json, value->begin, err, "a thread cannot %s itself",
                            ft_event_kind_name(e->kind));
    if (e->kind == FT_EVENT_JOIN) return FT_OK;
    if (s->threads.data[*child].forked)
        return ft_json_fail(&s->json, value->begin, err, "thread %.*s is forked a second time",
                            ft_ndjson_shown(value), s->json.text + value->begin);
    s->threads.data[*child].forked = true;
    return FT_OK;
}

static ft_status read_edge(ndjson *s, const event *e, uint32_t *id, ft_error *err)
{
    const ft_json_value *value = &e->value[MEMBER_EDGE];
    ft_status status = ft_ndjson_name(s, value, "edge", err);
    if (status != FT_OK) return status;
    *id = ft_builder_edge(s->builder, value->text, value->length);
    while (s->edges.len <= *id) ft_vec_push(&s->edges, (edge){0});
    edge *known = &s->edges.data[*id];
    if (e->kind == FT_EVENT_EDGE_IN) {
        if (!known->in_line) {
            known->in_line = s->json.number;
            known->in_column = value->begin + 1;
        }
        return FT_OK;
    }
    if (known->out)
        return ft_json_fail(&s->json, value->begin, err,
                            "edge %.*s has an edge-out already: one name, one source",
                            ft_ndjson_shown(value), s->json.text + value->begin);
    known->out = true;
    return FT_OK;
}

static ft_status read_object(ndjson *s, const event *e, uint32_t *id, ft_error *err)
{
    const ft_trace *tables = ft_builder_peek(s->builder);
    *id = 0;
    switch (ft_event_kind_object(e->kind)) {
    case FT_OBJECT_LOCK:
        return read_lock(s, e, id, err);
    case FT_OBJECT_SEMAPHORE:
        return find_name(s, &e->value[MEMBER_SEMAPHORE], &tables->semaphores, "semaphore",
                         "semaphores", id, err);
    case FT_OBJECT_THREAD:
        return read_child(s, e, id, err);
    case FT_OBJECT_EDGE:
        return read_edge(s, e, id, err);
    case FT_OBJECT_CONDITION:
        return find_name(s, &e->value[MEMBER_COND], &tables->conditions, "condition variable",
                         "conditions", id, err);
    case FT_OBJECT_BARRIER:
        return find_name(s, &e->value[MEMBER_BARRIER], &tables->barriers, "barrier", "barriers", id,
                         err);
    case FT_OBJECT_ONCE:
        return find_name(s, &e->value[MEMBER_ONCE], &tables->onces, "once object", "onces", id,
                         err);
    case FT_OBJECT_BLOCK:
        return find_name(s, &e->value[MEMBER_BLOCK], &tables->blocks, "block", "blocks", id, err);
    case FT_OBJECT_NONE:
    case FT_OBJECT_VARIABLE:
    case FT_OBJECT_CLASSES:
        break;
    }
    return FT_OK;
}

/* ---- what a thread may do in which order ----------------------------------------------------- */

static ft_status check_thread(ndjson *s, const event *e, ft_error *err)
{
    thread *t = &s->threads.data[e->thread];
    size_t at = e->value[MEMBER_KIND].begin;
    if (t->blocked)
        return ft_json_fail(&s->json, e->object.begin, err,
                            "the thread was blocked for ever at an event before");
    if (t->ended)
        return ft_json_fail(&s->json, e->object.begin, err, "the thread has ended already");
    if (e->kind == FT_EVENT_BEGIN && t->acted)
        return ft_json_fail(&s->json, at, err, "\"begin\" must be the first event of its thread");
    if (e->kind == FT_EVENT_TX_END && !t->open_transactions)
        return ft_json_fail(&s->json, at, err, "\"tx-end\" without an open \"tx-begin\"");
    t->acted = true;
    t->ended = e->kind == FT_EVENT_END;
    if (e->kind == FT_EVENT_TX_BEGIN) t->open_transactions++;
    if (e->kind == FT_EVENT_TX_END) t->open_transactions--;
    return FT_OK;
}

static ft_status read_event_head(ndjson *s, event *e, ft_error *err)
{
    static const struct {
        member member;
        uint8_t flag;
    } FLAGS[] = {{MEMBER_ATOMIC, FT_FLAG_ATOMIC},     {MEMBER_EXTERNAL, FT_FLAG_SYNTHETIC},
                 {MEMBER_IGNORED, FT_FLAG_SYNTHETIC}, {MEMBER_CONDITION, FT_FLAG_CONDITION},
                 {MEMBER_TRY, FT_FLAG_TRY},           {MEMBER_BLOCKED, FT_FLAG_BLOCKED},
                 {MEMBER_TIMEOUT, FT_FLAG_FAILED}};
    ft_status status =
        ft_ndjson_members(s, &e->object, MEMBER_NAMES, MEMBERS, e->key, e->value, err);
    if (status == FT_OK) status = read_kind(s, e, err);
    if (status == FT_OK) status = check_members(s, e, err);
    if (status == FT_OK)
        status = find_name(s, &e->value[MEMBER_THREAD], &ft_builder_peek(s->builder)->threads,
                           "thread", "threads", &e->thread, err);
    if (status == FT_OK) status = check_thread(s, e, err);
    if (status == FT_OK) status = read_place(s, e, err);
    for (size_t i = 0; status == FT_OK && i < sizeof FLAGS / sizeof *FLAGS; i++)
        status = read_flag(s, &e->value[FLAGS[i].member], FLAGS[i].flag, &e->flags, err);
    if (status == FT_OK && ft_event_kind_waits(e->kind) && e->flags & FT_FLAG_BLOCKED)
        s->threads.data[e->thread].blocked = true;
    return status;
}

static ft_status read_event(ndjson *s, const ft_json_value *object, ft_error *err)
{
    event e = {.object = *object};
    ft_status status = read_event_head(s, &e, err);
    if (status != FT_OK) return status;
    if (ft_event_kind_object(e.kind) == FT_OBJECT_VARIABLE) return read_access(s, &e, err);
    if (e.kind == FT_EVENT_ASSIGN || e.kind == FT_EVENT_ASSUME || e.kind == FT_EVENT_ASSERT)
        return read_action(s, &e, err);
    uint32_t id;
    status = read_object(s, &e, &id, err);
    if (status == FT_OK)
        status =
            ft_ndjson_branch(s, e.kind, e.thread, id, e.flags, e.value[MEMBER_KIND].begin, err);
    if (status != FT_OK) return status;
    if (e.kind == FT_EVENT_IF) return read_action(s, &e, err);
    ft_builder_event(s->builder, e.kind, e.thread, id, e.loc, FT_NO_VALUE, e.flags);
    return FT_OK;
}

/* ---- the format ------------------------------------------------------------------------------ */

static bool ndjson_detect(const char *head, size_t length)
{
    size_t at = 0;
    while (at < length && ft_json_blank(head + at, 1)) at++;
    return at < length && (head[at] == '{' || head[at] == '[');
}

static void *ndjson_open(ft_builder *builder)
{
    ndjson *s = ft_calloc(1, sizeof *s);
    s->builder = builder;
    return s;
}

static ft_status ndjson_line(void *state, const char *text, size_t length, uint64_t number,
                             ft_error *err)
{
    ndjson *s = state;
    ft_json_value value;
    s->last_line = number;
    if (ft_json_blank(text, length)) return FT_OK;
    ft_status status = ft_json_read(&s->json, text, length, number, &value, err);
    if (status != FT_OK) return status;
    if (value.type != FT_JSON_OBJECT)
        return ft_json_fail(&s->json, value.begin, err, "expected a JSON object on every line");
    if (!s->header) return ft_ndjson_header(s, &value, err);
    if (ft_ndjson_is_declaration(s, &value)) return ft_ndjson_declarations(s, &value, err);
    s->any_event = true;
    return read_event(s, &value, err);
}

static ft_status ndjson_end(void *state, ft_error *err)
{
    ndjson *s = state;
    if (!s->header)
        return ft_error_at(err, FT_INPUT, 1, 1,
                           "the header is missing: {\"format\":\"foretell\",\"version\":1,...}");
    if (!s->any_event)
        return ft_error_at(err, FT_INPUT, s->last_line, 1,
                           "the trace ends after its header: it has no events");
    for (uint32_t i = 0; i < s->edges.len; i++)
        if (s->edges.data[i].in_line && !s->edges.data[i].out)
            return ft_error_at(err, FT_INPUT, s->edges.data[i].in_line, s->edges.data[i].in_column,
                               "edge \"%s\" has an edge-in but no edge-out",
                               ft_builder_peek(s->builder)->edges.names[i]);
    return FT_OK;
}

static void ndjson_close(void *state)
{
    ndjson *s = state;
    if (!s) return;
    ft_json_release(&s->json);
    ft_vec_release(&s->shared);
    ft_vec_release(&s->locals);
    ft_vec_release(&s->threads);
    ft_vec_release(&s->edges);
    ft_vec_release(&s->assignments);
    ft_map_release(&s->assigned);
    ft_ndjson_release_branches(s);
    free(s);
}

const ft_format_reader ft_ndjson_reader = {
    .format = FT_FORMAT_NDJSON,
    .detect = ndjson_detect,
    .open = ndjson_open,
    .line = ndjson_line,
    .end = ndjson_end,
    .close = ndjson_close,
};
