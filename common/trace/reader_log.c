/* The comma-separated logs of the race-prediction literature: `thread,OP,object,location,number`
 * (docs/trace-format.md says what is made of each operation).
 *
 * Two things are not in the log where they happened. A thread that waits on a monitor gives it back
 * and takes it again without a word: both are put in. A WAITJOIN may come before its SIGNALJOIN:
 * the edge's target is emitted where it is logged (the builder moves it), but only once it is known
 * that the SIGNALJOIN exists, so events are held back from an early WAITJOIN on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/builder_internal.h"
#include "trace/json_line.h"
#include "trace/reader.h"

typedef enum op {
    OP_READ,
    OP_WRITE,
    OP_LOCK,
    OP_UNLOCK,
    OP_SIGNAL,
    OP_WAIT,
    OP_SIGNALJOIN,
    OP_WAITJOIN,
    OP_SIGNALNOTIFY,
    OP_WAITNOTIFY
} op;

static const struct {
    const char *name;
    op op;
} OPS[] = {{"RD", OP_READ},
           {"READ", OP_READ},
           {"WR", OP_WRITE},
           {"WRITE", OP_WRITE},
           {"LK", OP_LOCK},
           {"LOCK", OP_LOCK},
           {"UK", OP_UNLOCK},
           {"UNLOCK", OP_UNLOCK},
           {"SIG", OP_SIGNAL},
           {"SIGNAL", OP_SIGNAL},
           {"WT", OP_WAIT},
           {"WAIT", OP_WAIT},
           {"SIGNALJOIN", OP_SIGNALJOIN},
           {"WAITJOIN", OP_WAITJOIN},
           {"SIGNALNOTIFY", OP_SIGNALNOTIFY},
           {"WAITNOTIFY", OP_WAITNOTIFY}};
enum { N_OPS = sizeof OPS / sizeof *OPS };
#define OP_NAMES                                                                                   \
    "RD, WR, LK, UK, SIG, WT, READ, WRITE, LOCK, UNLOCK, SIGNAL, WAIT, SIGNALJOIN, WAITJOIN, "     \
    "SIGNALNOTIFY or WAITNOTIFY"

enum { THREAD, OP, OBJECT, LOCATION, NUMBER, FIELDS };
static const char *const FIELD_NAMES[FIELDS] = {"a thread", "an operation", "an object",
                                                "a location or nil", "a number"};

typedef struct holding {
    uint32_t lock, depth;
} holding;

typedef struct worker {
    FT_VEC(holding) held; /* in the order taken */
    bool waiting;         /* on a monitor */
    uint32_t object;      /* what it waits on: index of `objects` */
    holding monitor;      /* what it takes again; depth 0: nothing */
    uint64_t since;       /* line of the WAITNOTIFY */
    uint32_t edge;        /* of the notify that wakes it, FT_NO_ID: none so far */
    uint64_t edge_line;
} worker;

/* What was signalled last on an object, for each of the three pairs of operations. */
typedef struct object {
    uint32_t signal; /* edge, FT_NO_ID: none */
    uint32_t join;   /* likewise */
    bool join_used;  /* by a WAITJOIN */
} object;

/* A WAITJOIN that came before its SIGNALJOIN. */
typedef struct early {
    uint32_t object;
    uint32_t edge; /* FT_NO_ID: not known yet */
} early;

typedef struct record {
    uint32_t thread, object, loc; /* object of an edge-in with `early`: index of `earlies` */
    uint8_t kind, flags;
    bool early;
} record;

typedef struct journal {
    ft_builder *builder; /* not owned */
    ft_intern names;     /* of synchronisation objects */
    FT_VEC(object) objects;
    FT_VEC(worker) workers;   /* by thread */
    FT_VEC(uint32_t) waiters; /* threads that wait on a monitor, first come first */
    FT_VEC(record) held_back;
    FT_VEC(early) earlies;
    size_t open_earlies; /* without an edge; events are held back while there are any */
} journal;

typedef struct line {
    const char *text;
    uint64_t number;
    size_t begin[FIELDS], end[FIELDS];
    op op;
    uint32_t thread, loc;
} line;

/* ---- splitting a line ------------------------------------------------------------------------ */

static ft_status expected(const line *l, int field, size_t at, ft_error *err)
{
    return ft_error_at(err, FT_INPUT, l->number, at + 1,
                       "expected %s here: thread,OP,object,location,number", FIELD_NAMES[field]);
}

/* The location may hold commas: the number is behind the last one. */
static ft_status split(line *l, size_t length, ft_error *err)
{
    size_t at = 0;
    for (int field = THREAD; field < NUMBER; field++) {
        const char *comma = at <= length ? memchr(l->text + at, ',', length - at) : NULL;
        if (!comma && field == LOCATION && at < length)
            return ft_error_at(err, FT_INPUT, l->number, length + 1,
                               "expected a comma and the number after the location");
        if (!comma) return expected(l, at < length ? field + 1 : field, length, err);
        l->begin[field] = at;
        l->end[field] = (size_t)(comma - l->text);
        at = l->end[field] + 1;
    }
    const char *last = memrchr(l->text, ',', length);
    l->end[LOCATION] = (size_t)(last - l->text);
    l->begin[NUMBER] = l->end[LOCATION] + 1;
    l->end[NUMBER] = length;
    for (int field = THREAD; field < FIELDS; field++)
        if (l->begin[field] == l->end[field]) return expected(l, field, l->begin[field], err);
    return FT_OK;
}

static ft_status check_number(const line *l, ft_error *err)
{
    size_t at = l->begin[NUMBER];
    if (l->text[at] == '-' && at + 1 < l->end[NUMBER]) at++;
    for (; at < l->end[NUMBER]; at++)
        if (l->text[at] < '0' || l->text[at] > '9')
            return expected(l, NUMBER, l->begin[NUMBER], err);
    return FT_OK;
}

static bool field_is(const line *l, int field, const char *text)
{
    size_t length = l->end[field] - l->begin[field];
    return strlen(text) == length && memcmp(text, l->text + l->begin[field], length) == 0;
}

static ft_status find_op(line *l, ft_error *err)
{
    for (size_t i = 0; i < N_OPS; i++) {
        if (!field_is(l, OP, OPS[i].name)) continue;
        l->op = OPS[i].op;
        return FT_OK;
    }
    return ft_error_at(err, FT_INPUT, l->number, l->begin[OP] + 1,
                       "unknown operation: expected " OP_NAMES);
}

static size_t field_length(const line *l, int field)
{
    return l->end[field] - l->begin[field];
}

static void find_thread(journal *s, line *l)
{
    l->thread = ft_builder_thread(s->builder, l->text + l->begin[THREAD], field_length(l, THREAD));
    while (s->workers.len <= l->thread) ft_vec_push(&s->workers, (worker){0});
    bool nil = field_is(l, LOCATION, "nil");
    l->loc = nil ? FT_NO_LOC
                 : ft_builder_location(s->builder, l->text + l->begin[LOCATION],
                                       field_length(l, LOCATION), NULL, 0);
}

/* ---- emission -------------------------------------------------------------------------------- */

static uint32_t next_event(const journal *s)
{
    return ft_builder_count(s->builder) + (uint32_t)s->held_back.len;
}

static void put(journal *s, const record *r)
{
    ft_builder_event(s->builder, (ft_event_kind)r->kind, r->thread, r->object, r->loc, FT_NO_VALUE,
                     r->flags);
}

static void emit(journal *s, record r)
{
    if (s->open_earlies)
        ft_vec_push(&s->held_back, r);
    else
        put(s, &r);
}

static void emit_simple(journal *s, const line *l, ft_event_kind kind, uint32_t id)
{
    emit(s, (record){.thread = l->thread, .object = id, .loc = l->loc, .kind = (uint8_t)kind});
}

static void flush(journal *s)
{
    for (size_t i = 0; i < s->held_back.len; i++) {
        record r = s->held_back.data[i];
        if (r.early) r.object = s->earlies.data[r.object].edge;
        if (r.object != FT_NO_ID) put(s, &r);
    }
    s->held_back.len = 0;
    s->earlies.len = 0;
}

/* A fresh edge for every signal: "SIGNAL 923270 (line 4)". */
static uint32_t new_edge(journal *s, const line *l)
{
    ft_strbuf name = {0};
    ft_strbuf_add(&name, l->text + l->begin[OP], field_length(l, OP));
    ft_strbuf_puts(&name, " ");
    ft_strbuf_add(&name, l->text + l->begin[OBJECT], field_length(l, OBJECT));
    ft_strbuf_printf(&name, " (line %" PRIu64 ")", l->number);
    uint32_t edge = ft_builder_edge(s->builder, name.text, name.len);
    ft_strbuf_release(&name);
    emit_simple(s, l, FT_EVENT_EDGE_OUT, edge);
    return edge;
}

static uint32_t find_object(journal *s, const line *l)
{
    uint32_t id = ft_intern_add(&s->names, l->text + l->begin[OBJECT], field_length(l, OBJECT));
    if (id == s->objects.len)
        ft_vec_push(&s->objects, (object){.signal = FT_NO_ID, .join = FT_NO_ID});
    return id;
}

/* ---- accesses and locks ---------------------------------------------------------------------- */

static void do_access(journal *s, const line *l)
{
    uint32_t id = ft_builder_shared(s->builder, l->text + l->begin[OBJECT], field_length(l, OBJECT),
                                    FT_INT_SORT);
    emit_simple(s, l, l->op == OP_READ ? FT_EVENT_READ : FT_EVENT_WRITE, id);
}

static holding *find_holding(worker *w, uint32_t lock)
{
    for (size_t i = 0; i < w->held.len; i++)
        if (w->held.data[i].lock == lock) return &w->held.data[i];
    return NULL;
}

static void drop_holding(worker *w, holding *h)
{
    size_t behind = w->held.len - 1 - (size_t)(h - w->held.data);
    memmove(h, h + 1, behind * sizeof *h);
    w->held.len--;
}

static void do_lock(journal *s, const line *l)
{
    worker *w = &s->workers.data[l->thread];
    uint32_t lock = ft_builder_lock(s->builder, l->text + l->begin[OBJECT], field_length(l, OBJECT),
                                    FT_LOCK_RECURSIVE);
    holding *h = find_holding(w, lock);
    bool acquire = l->op == OP_LOCK;
    if (h) {
        h->depth += acquire ? 1 : UINT32_MAX;
        if (!h->depth) drop_holding(w, h);
    } else if (acquire) {
        ft_vec_push(&w->held, (holding){.lock = lock, .depth = 1});
    }
    emit_simple(s, l, acquire ? FT_EVENT_ACQUIRE : FT_EVENT_RELEASE, lock);
}

/* ---- signal and wait ------------------------------------------------------------------------- */

static void do_signal(journal *s, const line *l)
{
    uint32_t id = find_object(s, l);
    s->objects.data[id].signal = new_edge(s, l);
}

static void do_wait(journal *s, const line *l)
{
    uint32_t id = find_object(s, l), edge = s->objects.data[id].signal;
    if (edge != FT_NO_ID)
        emit_simple(s, l, FT_EVENT_EDGE_IN, edge);
    else
        ft_builder_note(s->builder, "wait-without-signal", next_event(s),
                        "line %" PRIu64
                        ": WAIT on %.*s, which nobody signalled before: no order assumed",
                        l->number, (int)field_length(l, OBJECT), l->text + l->begin[OBJECT]);
}

/* Gives the early WAITJOINs of the object their edge. */
static void fulfil(journal *s, uint32_t id)
{
    object *o = &s->objects.data[id];
    for (size_t i = 0; i < s->earlies.len; i++) {
        early *e = &s->earlies.data[i];
        if (e->object != id || e->edge != FT_NO_ID) continue;
        e->edge = o->join;
        o->join_used = true;
        s->open_earlies--;
    }
}

static void do_signal_join(journal *s, const line *l)
{
    uint32_t id = find_object(s, l);
    s->objects.data[id].join = new_edge(s, l);
    s->objects.data[id].join_used = false;
    if (!s->open_earlies) return;
    fulfil(s, id);
    if (!s->open_earlies) flush(s);
}

static void do_wait_join(journal *s, const line *l)
{
    uint32_t id = find_object(s, l);
    object *o = &s->objects.data[id];
    if (o->join != FT_NO_ID && !o->join_used) {
        o->join_used = true;
        emit_simple(s, l, FT_EVENT_EDGE_IN, o->join);
        return;
    }
    s->open_earlies++;
    emit(s, (record){.thread = l->thread,
                     .object = (uint32_t)s->earlies.len,
                     .loc = l->loc,
                     .kind = FT_EVENT_EDGE_IN,
                     .early = true});
    ft_vec_push(&s->earlies, (early){.object = id, .edge = FT_NO_ID});
}

/* A WAITJOIN that never met a SIGNALJOIN of its own: another join of the same thread, or a log that
 * was cut short. */
static void settle_earlies(journal *s)
{
    for (size_t i = 0; i < s->earlies.len; i++) {
        early *e = &s->earlies.data[i];
        if (e->edge != FT_NO_ID) continue;
        e->edge = s->objects.data[e->object].join;
        if (e->edge == FT_NO_ID)
            ft_builder_note(s->builder, "join-without-signal", FT_NO_EVENT,
                            "WAITJOIN on %s, which no SIGNALJOIN names: no order assumed",
                            s->names.names[e->object]);
    }
    flush(s);
    s->open_earlies = 0;
}

/* ---- monitors -------------------------------------------------------------------------------- */

/* The innermost lock is the monitor: the object of a WAITNOTIFY is not the lock's. One release with
 * FT_FLAG_CONDITION gives up a recursive lock however deep it is held, one such acquire restores
 * it. */
static void do_wait_notify(journal *s, const line *l)
{
    worker *w = &s->workers.data[l->thread];
    w->waiting = true;
    w->object = find_object(s, l);
    w->since = l->number;
    w->edge = FT_NO_ID;
    w->monitor = (holding){0};
    ft_vec_push(&s->waiters, l->thread);
    if (!w->held.len) {
        ft_builder_note(s->builder, "wait-without-monitor", next_event(s),
                        "line %" PRIu64
                        ": WAITNOTIFY by a thread that holds no lock: nothing is released",
                        l->number);
        return;
    }
    w->monitor = w->held.data[--w->held.len];
    ft_builder_note(s->builder, "condition-wait", next_event(s),
                    "WAITNOTIFY: its thread's innermost lock is released there and taken again "
                    "just before the thread's next event");
    emit(s, (record){.thread = l->thread,
                     .object = w->monitor.lock,
                     .loc = l->loc,
                     .kind = FT_EVENT_RELEASE,
                     .flags = FT_FLAG_CONDITION});
}

/* A notify wakes at most one thread: the one that has waited longest. */
static void do_notify(journal *s, const line *l)
{
    uint32_t id = find_object(s, l), edge = new_edge(s, l);
    for (size_t i = 0; i < s->waiters.len; i++) {
        worker *w = &s->workers.data[s->waiters.data[i]];
        if (w->object != id || w->edge != FT_NO_ID) continue;
        w->edge = edge;
        w->edge_line = l->number;
        return;
    }
}

/* The waiter that acts was woken; if the notify went to one that waited longer but sleeps on, it
 * was this one that it woke. */
static void steal_notify(journal *s, worker *w)
{
    for (size_t i = 0; i < s->waiters.len; i++) {
        worker *other = &s->workers.data[s->waiters.data[i]];
        if (other == w || other->object != w->object || other->edge == FT_NO_ID ||
            other->edge_line < w->since)
            continue;
        w->edge = other->edge;
        other->edge = FT_NO_ID;
        return;
    }
    ft_builder_note(s->builder, "wake-without-notify", next_event(s),
                    "a thread goes on after a WAITNOTIFY without a SIGNALNOTIFY of its own: no "
                    "order assumed");
}

static void leave_waiters(journal *s, uint32_t thread)
{
    size_t i = 0;
    while (s->waiters.data[i] != thread) i++;
    memmove(&s->waiters.data[i], &s->waiters.data[i + 1],
            (s->waiters.len - 1 - i) * sizeof *s->waiters.data);
    s->waiters.len--;
}

/* Before a waiting thread's next event: it was woken and has its monitor again. */
static void wake(journal *s, uint32_t thread)
{
    worker *w = &s->workers.data[thread];
    if (!w->waiting) return;
    if (w->edge == FT_NO_ID) steal_notify(s, w);
    leave_waiters(s, thread);
    w->waiting = false;
    if (w->edge != FT_NO_ID)
        emit(s, (record){.thread = thread, .object = w->edge, .kind = FT_EVENT_EDGE_IN});
    if (!w->monitor.depth) return;
    ft_vec_push(&w->held, w->monitor);
    emit(s, (record){.thread = thread,
                     .object = w->monitor.lock,
                     .kind = FT_EVENT_ACQUIRE,
                     .flags = FT_FLAG_CONDITION});
}

/* ---- the format ------------------------------------------------------------------------------ */

static void do_line(journal *s, const line *l)
{
    wake(s, l->thread);
    switch (l->op) {
    case OP_READ:
    case OP_WRITE:
        do_access(s, l);
        return;
    case OP_LOCK:
    case OP_UNLOCK:
        do_lock(s, l);
        return;
    case OP_SIGNAL:
        do_signal(s, l);
        return;
    case OP_WAIT:
        do_wait(s, l);
        return;
    case OP_SIGNALJOIN:
        do_signal_join(s, l);
        return;
    case OP_WAITJOIN:
        do_wait_join(s, l);
        return;
    case OP_SIGNALNOTIFY:
        do_notify(s, l);
        return;
    case OP_WAITNOTIFY:
        do_wait_notify(s, l);
        return;
    }
}

static ft_status log_line(void *state, const char *text, size_t length, uint64_t number,
                          ft_error *err)
{
    journal *s = state;
    if (length && text[length - 1] == '\r') length--;
    if (ft_json_blank(text, length)) return FT_OK;
    line l = {.text = text, .number = number};
    ft_status status = ft_line_check(text, length, number, err);
    if (status == FT_OK) status = split(&l, length, err);
    if (status == FT_OK) status = find_op(&l, err);
    if (status == FT_OK) status = check_number(&l, err);
    if (status != FT_OK) return status;
    find_thread(s, &l);
    do_line(s, &l);
    return FT_OK;
}

static ft_status log_end(void *state, ft_error *err)
{
    (void)err;
    settle_earlies(state);
    return FT_OK;
}

static bool log_detect(const char *head, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        if (head[at] == ',') return true;
        if (head[at] == '|' || head[at] == '{' || head[at] == '[' || head[at] == '\0') return false;
    }
    return false;
}

static void *log_open(ft_builder *builder)
{
    journal *s = ft_calloc(1, sizeof *s);
    s->builder = builder;
    return s;
}

static void log_close(void *state)
{
    journal *s = state;
    if (!s) return;
    for (size_t i = 0; i < s->workers.len; i++) ft_vec_release(&s->workers.data[i].held);
    ft_intern_release(&s->names);
    ft_vec_release(&s->objects);
    ft_vec_release(&s->workers);
    ft_vec_release(&s->waiters);
    ft_vec_release(&s->held_back);
    ft_vec_release(&s->earlies);
    free(s);
}

const ft_format_reader ft_log_reader = {
    .format = FT_FORMAT_LOG,
    .detect = log_detect,
    .open = log_open,
    .line = log_line,
    .end = log_end,
    .close = log_close,
};
