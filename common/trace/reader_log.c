/* The comma-separated logs of the race-prediction literature: `thread,OP,object,location,number`,
 * of which the last two may be missing (docs/trace-format.md says what is made of each operation).
 *
 * Two things are not in the log where they happened. A thread that waits on a monitor gives it back
 * and takes it again without a word: both are put in. A WAIT or WAITJOIN may come before its
 * signal: the edge's target is emitted where it is logged (the builder moves it), but only once it
 * is known that the signal exists, so events are held back from an early one on. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
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
static const char *const FIELD_NAMES[FIELDS] = {"thread", "operation", "object",
                                                "location (nil: none)", "number"};
#define EXAMPLE                                                                                    \
    "thread,OP,object,location,number, for example 1,WR,7,a.c:3,1; the last two may be missing"

typedef struct holding {
    uint32_t lock, depth;
} holding;

typedef struct worker {
    FT_VEC(holding) held; /* in the order taken */
    bool waiting;         /* on a monitor */
    uint32_t object;      /* what it waits on: index of `objects` */
    holding monitor;      /* what it takes again; depth 0: nothing */
    size_t early;         /* its early WAIT: index of `earlies` plus 1; 0: none is open */
    uint64_t since;       /* line of the WAITNOTIFY */
    uint32_t edge;        /* of the notify that wakes it, FT_NO_ID: none so far */
    uint64_t edge_line;
} worker;

/* The last signal on an object, for each of the three pairs of operations. */
typedef struct object {
    uint32_t signal; /* edge, FT_NO_ID: none */
    uint32_t join;   /* likewise */
    bool join_used;  /* by a WAITJOIN */
    size_t early[2]; /* the latest early WAIT, WAITJOIN: index of `earlies` plus 1 */
    uint64_t round;  /* journal.round that `early` is of; of another one it is empty */
} object;

/* A WAITJOIN that came before its SIGNALJOIN, or a WAIT that came before its SIGNAL. */
typedef struct early {
    uint32_t object, thread;
    uint32_t edge; /* FT_NO_ID: not known yet, or there is none */
    uint64_t line;
    size_t next; /* the one before on the object, of the same kind: index plus 1 */
    bool join, open;
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
    uint64_t round;      /* how often they were given up to here */
    ft_map consumed;     /* thread and object -> the edge of the latest signal that it waited for */
} journal;

typedef struct line {
    const char *text;
    uint64_t number;
    size_t begin[FIELDS], end[FIELDS];
    int fields; /* that it has: 3 to 5 */
    op op;
    uint32_t thread, loc;
} line;

/* ---- splitting a line ------------------------------------------------------------------------ */

static ft_status missing(const line *l, int field, size_t at, ft_error *err)
{
    return ft_error_at(err, FT_INPUT, l->number, at + 1, "the %s is missing: write " EXAMPLE,
                       FIELD_NAMES[field]);
}

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static void trim(line *l)
{
    for (int field = THREAD; field < FIELDS; field++) {
        size_t *begin = &l->begin[field], *end = &l->end[field];
        while (*begin < *end && is_blank(l->text[*begin])) ++*begin;
        while (*begin < *end && is_blank(l->text[*end - 1])) --*end;
    }
}

/* The location may hold commas: the number is behind the last one. A line of three fields has
 * neither, one of four no number. */
static ft_status split(line *l, size_t length, ft_error *err)
{
    size_t at = 0;
    int field = THREAD;
    for (; field <= LOCATION; field++) {
        const char *comma = at < length ? memchr(l->text + at, ',', length - at) : NULL;
        l->begin[field] = at;
        l->end[field] = comma ? (size_t)(comma - l->text) : length;
        if (!comma) break;
        at = l->end[field] + 1;
    }
    int last = field;
    if (field > LOCATION) {
        const char *comma = memrchr(l->text, ',', length);
        l->end[LOCATION] = (size_t)(comma - l->text);
        l->begin[NUMBER] = l->end[LOCATION] + 1;
        l->end[NUMBER] = length;
        last = NUMBER;
    }
    l->fields = last + 1;
    trim(l);
    if (last == THREAD)
        return ft_error_at(err, FT_INPUT, l->number, length + 1,
                           memchr(l->text, '|', length)
                               ? "this line has '|' and no comma, as RAPID STD has, but the trace "
                                 "began as a log: write " EXAMPLE
                               : "this line has no comma: write " EXAMPLE
                                 "; a comment begins with # or //");
    if (last < OBJECT) return missing(l, last + 1, length, err);
    for (field = THREAD; field <= last; field++)
        if (l->begin[field] == l->end[field]) return missing(l, field, l->begin[field], err);
    return FT_OK;
}

static ft_status check_number(const line *l, ft_error *err)
{
    if (l->fields <= NUMBER) return FT_OK;
    size_t at = l->begin[NUMBER];
    if (l->text[at] == '-' && at + 1 < l->end[NUMBER]) at++;
    for (; at < l->end[NUMBER]; at++)
        if (l->text[at] < '0' || l->text[at] > '9')
            return ft_error_at(err, FT_INPUT, l->number, l->begin[NUMBER] + 1,
                               "the last of five fields is the sequence number, and this is not an "
                               "integer: write " EXAMPLE);
    return FT_OK;
}

static bool field_is(const line *l, int field, const char *text)
{
    size_t length = l->end[field] - l->begin[field];
    return strlen(text) == length && memcmp(text, l->text + l->begin[field], length) == 0;
}

static size_t field_length(const line *l, int field)
{
    return l->end[field] - l->begin[field];
}

static ft_status find_op(line *l, ft_error *err)
{
    for (size_t i = 0; i < N_OPS; i++) {
        if (!field_is(l, OP, OPS[i].name)) continue;
        l->op = OPS[i].op;
        return FT_OK;
    }
    enum { SHOWN = 32 };
    size_t length = field_length(l, OP), shown = length < SHOWN ? length : (size_t)SHOWN;
    const char *text = l->text + l->begin[OP];
    while (shown && shown < length && ((unsigned char)text[shown] & 0xc0) == 0x80) shown--;
    return ft_error_at(err, FT_INPUT, l->number, l->begin[OP] + 1,
                       "unknown operation '%.*s': use " OP_NAMES, (int)shown, text);
}

static void find_thread(journal *s, line *l)
{
    l->thread = ft_builder_thread(s->builder, l->text + l->begin[THREAD], field_length(l, THREAD));
    while (s->workers.len <= l->thread) ft_vec_push(&s->workers, (worker){0});
    bool nil = l->fields <= LOCATION || field_is(l, LOCATION, "nil");
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

static void note_early(journal *s, const early *e)
{
    const char *name = s->names.names[e->object];
    if (e->join)
        ft_builder_note(s->builder, "join-without-signal", FT_NO_EVENT,
                        "WAITJOIN on %s, which no SIGNALJOIN names: no order assumed", name);
    else
        ft_builder_note(s->builder, "wait-without-signal", ft_builder_count(s->builder),
                        "line %" PRIu64
                        ": WAIT on %s, which nobody signalled before, nor before the thread's next "
                        "event: no order assumed",
                        e->line, name);
}

static void put_early(journal *s, record r)
{
    assert(r.early && r.object < s->earlies.len);
    const early *e = &s->earlies.data[r.object];
    r.object = e->edge;
    if (e->edge == FT_NO_ID)
        note_early(s, e);
    else
        put(s, &r);
}

static void flush(journal *s)
{
    assert(!s->open_earlies);
    for (size_t i = 0; i < s->held_back.len; i++) {
        if (s->held_back.data[i].early)
            put_early(s, s->held_back.data[i]);
        else
            put(s, &s->held_back.data[i]);
    }
    s->held_back.len = 0;
    s->earlies.len = 0;
    s->round++;
}

/* The early one has its edge, or no hope of one. */
static void close_early(journal *s, early *e, uint32_t edge)
{
    assert(e->open && s->open_earlies);
    e->edge = edge;
    e->open = false;
    if (!e->join) s->workers.data[e->thread].early = 0;
    if (--s->open_earlies == 0) flush(s);
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
    assert(h >= w->held.data && h < w->held.data + w->held.len);
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

/* The list of the object's early ones; an older round's is emptied. */
static size_t *early_list(journal *s, uint32_t id, bool join)
{
    object *o = &s->objects.data[id];
    if (o->round != s->round) o->early[false] = o->early[true] = 0;
    o->round = s->round;
    return &o->early[join];
}

static void hold_early(journal *s, const line *l, uint32_t id, bool join)
{
    s->open_earlies++;
    emit(s, (record){.thread = l->thread,
                     .object = (uint32_t)s->earlies.len,
                     .loc = l->loc,
                     .kind = FT_EVENT_EDGE_IN,
                     .early = true});
    size_t *list = early_list(s, id, join);
    ft_vec_push(&s->earlies, (early){.object = id,
                                     .thread = l->thread,
                                     .edge = FT_NO_ID,
                                     .line = l->number,
                                     .next = *list,
                                     .join = join,
                                     .open = true});
    *list = s->earlies.len;
}

static uint64_t *consumed(journal *s, uint32_t thread, uint32_t id)
{
    bool inserted;
    return ft_map_slot(&s->consumed, (uint64_t)thread << 32 | id, FT_NO_ID, &inserted);
}

/* Gives the object's early ones of a kind their edge: all of them, since one signal may start many
 * threads. */
static void fulfil(journal *s, uint32_t id, bool join, uint32_t edge)
{
    size_t *list = early_list(s, id, join), at = *list;
    *list = 0;
    while (at) {
        early *e = &s->earlies.data[at - 1];
        at = e->next;
        if (!e->open) continue;
        assert(e->object == id && e->join == join);
        if (!join) *consumed(s, e->thread, id) = edge;
        if (join) s->objects.data[id].join_used = true;
        close_early(s, e, edge); /* after the last open one the list is gone */
        if (!s->open_earlies) return;
    }
}

static void do_signal(journal *s, const line *l)
{
    uint32_t id = find_object(s, l), edge = new_edge(s, l);
    s->objects.data[id].signal = edge;
    fulfil(s, id, false, edge);
}

/* The latest earlier signal, unless its thread waited for that one already: then, as without any,
 * the signal may be logged later. */
static void do_wait(journal *s, const line *l)
{
    uint32_t id = find_object(s, l), edge = s->objects.data[id].signal;
    uint64_t *latest = consumed(s, l->thread, id);
    if (edge != FT_NO_ID && *latest != edge) {
        *latest = edge;
        emit_simple(s, l, FT_EVENT_EDGE_IN, edge);
        return;
    }
    hold_early(s, l, id, false);
    s->workers.data[l->thread].early = s->earlies.len;
}

/* Before the next event of a thread: it did not wait for what is signalled later. */
static void settle_wait(journal *s, uint32_t thread)
{
    size_t index = s->workers.data[thread].early;
    if (!index) return;
    early *e = &s->earlies.data[index - 1];
    assert(e->thread == thread && !e->join);
    close_early(s, e, s->objects.data[e->object].signal);
}

static void do_signal_join(journal *s, const line *l)
{
    uint32_t id = find_object(s, l), edge = new_edge(s, l);
    s->objects.data[id].join = edge;
    s->objects.data[id].join_used = false;
    fulfil(s, id, true, edge);
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
    hold_early(s, l, id, true);
}

/* At the end: a WAITJOIN that never met a SIGNALJOIN of its own is another join of the same thread,
 * or the log was cut short. */
static void settle_earlies(journal *s)
{
    for (size_t i = 0; s->open_earlies && i < s->earlies.len; i++) {
        early *e = &s->earlies.data[i];
        if (!e->open) continue;
        const object *o = &s->objects.data[e->object];
        close_early(s, e, e->join ? o->join : o->signal);
    }
    assert(!s->held_back.len);
}

/* ---- monitors -------------------------------------------------------------------------------- */

/* The innermost lock is the monitor: the object of a WAITNOTIFY is not the lock's. One release with
 * FT_FLAG_CONDITION gives up a recursive lock however deep it is held, one such acquire restores
 * it. */
static void do_wait_notify(journal *s, const line *l)
{
    worker *w = &s->workers.data[l->thread];
    assert(!w->waiting && !w->early); /* settled before its next event */
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
    assert(i < s->waiters.len);
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
    settle_wait(s, l->thread);
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
    FT_REQUIRE(number);
    if (length && text[length - 1] == '\r') length--;
    if (ft_json_blank(text, length) || ft_line_is_comment(text, length)) return FT_OK;
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
    ft_map_release(&s->consumed);
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
