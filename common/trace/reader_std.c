/* RAPID STD: `thread|op(object)|location`, one event a line (docs/trace-format.md).
 *
 * The events are held back until the end: which thread a bare number means, which of several forks
 * starts a thread, and whether begin and end enclose threads or transactions can all be told only
 * from the whole trace. Where the builder gives its events away only so many are held back as it
 * has room for; they tell it for the rest, or turn out not to. */
#include <stdlib.h>
#include <string.h>

#include "trace/builder_internal.h"
#include "trace/json_line.h"
#include "trace/reader.h"

#define OP_TABLE(X)                                                                                \
    X("r", READ)                                                                                   \
    X("w", WRITE)                                                                                  \
    X("acq", ACQUIRE)                                                                              \
    X("rel", RELEASE)                                                                              \
    X("fork", FORK)                                                                                \
    X("join", JOIN)                                                                                \
    X("begin", BEGIN)                                                                              \
    X("end", END)
#define OP_NAMES "r, w, acq, rel, fork, join, begin or end"

static const struct {
    const char *name;
    ft_event_kind kind;
} OPS[] = {
#define ROW(name, symbol) {name, FT_EVENT_##symbol},
    OP_TABLE(ROW)
#undef ROW
};
enum { N_OPS = sizeof OPS / sizeof *OPS };

typedef struct record {
    uint32_t kind : 8; /* ft_event_kind */
    uint32_t thread : 24;
    uint32_t object; /* builder's id; fork and join: a name in `names` */
    uint32_t loc;
} record;
enum { MAX_NAMES = 1 << 24 };

/* What is known of a thread name. Events are indices of `records`. */
typedef struct actor {
    uint32_t id;          /* builder's thread */
    uint32_t first, last; /* its own events, FT_NO_EVENT: it never acts */
    uint32_t fork;        /* the fork that starts it */
    uint32_t same_as;     /* name of the thread that this name means in a fork or join */
    uint32_t open;        /* transactions */
    bool ended;           /* its latest event is an end, which stands for the thread's */
} actor;

/* What is put into the trace's notes at the end; a thread's name may stand between the two parts.
 */
enum { NOTE_SELF_FORK, NOTE_FORKED_TWICE, NOTE_UNOPENED, NOTE_BRACKETS, LATE_NOTES };
static const struct {
    const char *code, *before, *behind;
} LATE[LATE_NOTES] = {
    [NOTE_SELF_FORK] = {"self-fork", "thread \"", "\" forks or joins itself: left out"},
    [NOTE_FORKED_TWICE] = {"forked-twice", "thread \"",
                           "\" is forked more than once: the last fork before its first event "
                           "counts, the others are left out"},
    [NOTE_UNOPENED] = {"transaction-unopened", "an end without a begin: left out", ""},
    [NOTE_BRACKETS] = {"begin-end", "begin and end stand inside threads: taken as transactions",
                       ""}};

typedef struct late_note {
    uint32_t event, count;
    uint32_t place;   /* among the others, by when they came first */
    const char *name; /* of a thread, or "" */
} late_note;

typedef struct std {
    ft_builder *builder;       /* not owned */
    ft_intern names;           /* of threads: actors and children */
    FT_VEC(record) records;    /* held back */
    uint32_t n_records;        /* all so far */
    FT_VEC(actor) actors;      /* by name */
    FT_VEC(uint32_t) children; /* names in forks and joins, in the order of the first of them */
    bool live;                 /* nothing is held back any more */
    bool transactions;         /* begin and end enclose them; live: so it seemed */
    late_note notes[LATE_NOTES];
    uint32_t n_notes;
} std;

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct line {
    const char *text;
    size_t length;
    uint64_t number;
} line;

typedef struct slice {
    size_t begin, end;
} slice;

static ft_status fail(const line *l, size_t at, ft_error *err, const char *message)
{
    return ft_error_at(err, FT_INPUT, l->number, at + 1, "%s", message);
}

static size_t find_byte(const line *l, size_t from, char byte)
{
    const char *found = memchr(l->text + from, byte, l->length - from);
    return found ? (size_t)(found - l->text) : l->length;
}

/* The object reaches to the last ')' of its field; it may hold anything else, '|' included, so the
 * field ends at the first ")|" or with the line. */
static ft_status split_object(const line *l, size_t open, slice *object, size_t *field_end,
                              ft_error *err)
{
    object->begin = open + 1;
    for (size_t at = open + 1; at < l->length; at++) {
        if (l->text[at] != ')' || (at + 1 < l->length && l->text[at + 1] != '|')) continue;
        object->end = at;
        *field_end = at + 1;
        return FT_OK;
    }
    return fail(l, l->length, err, "expected ')' after the operation's object");
}

static ft_status split_op(const line *l, size_t begin, slice *op, slice *object, size_t *field_end,
                          ft_error *err)
{
    size_t open = find_byte(l, begin, '('), bar = find_byte(l, begin, '|');
    op->begin = begin;
    if (open < bar) {
        op->end = open;
        return split_object(l, open, object, field_end, err);
    }
    op->end = *field_end = bar;
    *object = (slice){bar, bar};
    return FT_OK;
}

static ft_status find_op(const line *l, slice op, ft_event_kind *kind, ft_error *err)
{
    for (size_t i = 0; i < N_OPS; i++) {
        if (strlen(OPS[i].name) != op.end - op.begin ||
            memcmp(OPS[i].name, l->text + op.begin, op.end - op.begin) != 0)
            continue;
        *kind = OPS[i].kind;
        return FT_OK;
    }
    return fail(l, op.begin, err, "unknown operation: expected " OP_NAMES);
}

/* The third field; what follows it (RAPID sometimes writes a fourth) is ignored. */
static uint32_t location(std *s, const line *l, size_t field_end)
{
    if (field_end == l->length) return FT_NO_LOC;
    size_t end = find_byte(l, field_end + 1, '|');
    if (end == field_end + 1) return FT_NO_LOC;
    return ft_builder_location(s->builder, l->text + field_end + 1, end - field_end - 1, NULL, 0);
}

static uint32_t add_name(std *s, const char *text, size_t length)
{
    uint32_t name = ft_intern_add(&s->names, text, length);
    if (name == s->actors.len)
        ft_vec_push(&s->actors, (actor){.id = FT_NO_ID,
                                        .first = FT_NO_EVENT,
                                        .last = FT_NO_EVENT,
                                        .fork = FT_NO_EVENT,
                                        .same_as = FT_NO_ID});
    return name;
}

static ft_status name_of(std *s, const line *l, slice at, uint32_t *name, ft_error *err)
{
    *name = add_name(s, l->text + at.begin, at.end - at.begin);
    if (*name < MAX_NAMES) return FT_OK;
    return ft_error_at(err, FT_LIMIT, l->number, at.begin + 1, "too many threads");
}

static uint32_t declare_object(std *s, const line *l, ft_event_kind kind, slice object)
{
    const char *text = l->text + object.begin;
    size_t length = object.end - object.begin;
    if (ft_event_kind_object(kind) == FT_OBJECT_VARIABLE)
        return ft_builder_shared(s->builder, text, length, FT_INT_SORT);
    if (ft_event_kind_object(kind) == FT_OBJECT_LOCK)
        return ft_builder_lock(s->builder, text, length, FT_LOCK_RECURSIVE);
    return 0;
}

static void give_live(std *s, const record *r);
static void go_live(std *s);

static void add(std *s, record r)
{
    uint32_t i = s->n_records++;
    actor *a = &s->actors.data[r.thread];
    a->last = i;
    if (a->first == FT_NO_EVENT) a->first = i;
    if (s->live) {
        give_live(s, &r);
        return;
    }
    ft_vec_push(&s->records, r);
    if (s->builder->flush && s->records.len > s->builder->event_cap) go_live(s);
}

static ft_status add_record(std *s, const line *l, uint32_t thread, ft_event_kind kind,
                            slice object, size_t field_end, ft_error *err)
{
    ft_object_class class = ft_event_kind_object(kind);
    uint32_t id;
    if (class != FT_OBJECT_NONE && object.begin == object.end)
        return fail(l, object.begin, err, "expected an object in parentheses: op(object)");
    if (class == FT_OBJECT_THREAD) {
        ft_status status = name_of(s, l, object, &id, err);
        if (status != FT_OK) return status;
        if (id == thread) return fail(l, object.begin, err, "a thread cannot fork or join itself");
    } else {
        id = declare_object(s, l, kind, object);
    }
    if (s->n_records == FT_NO_EVENT)
        return ft_error_at(err, FT_LIMIT, l->number, 1, "too many events");
    add(s, (record){.kind = kind & 0xff,
                    .thread = thread & (MAX_NAMES - 1),
                    .object = id,
                    .loc = location(s, l, field_end)});
    return FT_OK;
}

static ft_status std_line(void *state, const char *text, size_t length, uint64_t number,
                          ft_error *err)
{
    std *s = state;
    if (length && text[length - 1] == '\r') length--;
    if (ft_json_blank(text, length)) return FT_OK;
    ft_status status = ft_line_check(text, length, number, err);
    if (status != FT_OK) return status;
    line l = {text, length, number};
    slice thread = {0, find_byte(&l, 0, '|')}, op = {0, 0}, object = {0, 0};
    size_t field_end = 0;
    uint32_t name = 0;
    ft_event_kind kind = FT_EVENT_READ;
    if (thread.end == length)
        return fail(&l, length, err, "expected '|' after the thread: thread|op(object)|location");
    if (thread.end == 0) return fail(&l, 0, err, "expected a thread name before '|'");
    status = split_op(&l, thread.end + 1, &op, &object, &field_end, err);
    if (status == FT_OK) status = find_op(&l, op, &kind, err);
    if (status == FT_OK) status = name_of(s, &l, thread, &name, err);
    if (status == FT_OK) status = add_record(s, &l, name, kind, object, field_end, err);
    return status;
}

/* ---- thread names ---------------------------------------------------------------------------- */

static bool all_digits(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static bool acts(const std *s, uint32_t name)
{
    return name != FT_NO_ID && s->actors.data[name].first != FT_NO_EVENT;
}

static bool is_prefixed(const char *text)
{
    return text[0] == 'T' && all_digits(text + 1);
}

/* The other spelling of a name: 151 for T151 and T151 for 151; false: it has none. */
static bool respell(const std *s, uint32_t name, ft_strbuf *other)
{
    const char *text = s->names.names[name];
    bool prefixed = is_prefixed(text);
    if (!prefixed && !all_digits(text)) return false;
    ft_strbuf_printf(other, "%s%s", prefixed ? "" : "T", text + prefixed);
    return true;
}

/* The name with that spelling; FT_NO_ID: not in the trace. */
static uint32_t twin(const std *s, uint32_t name)
{
    ft_strbuf spelled = {0};
    uint32_t found = FT_NO_ID;
    if (respell(s, name, &spelled)) found = ft_intern_find(&s->names, spelled.text, spelled.len);
    ft_strbuf_release(&spelled);
    return found;
}

/* A name in a fork or join, seen with the whole trace known: by which name does that thread act? */
static uint32_t meant_by(std *s, uint32_t name, uint32_t event)
{
    const char *text = s->names.names[name];
    uint32_t other = twin(s, name);
    if (acts(s, other) && !acts(s, name)) {
        ft_builder_note(s->builder, "thread-name", event,
                        "fork or join of \"%s\", under which name no thread acts: taken as thread "
                        "\"%s\"",
                        text, s->names.names[other]);
        return other;
    }
    if (acts(s, other) && all_digits(text))
        ft_builder_note(s->builder, "thread-name-ambiguous", event,
                        "both \"%s\" and \"%s\" act: taken as two threads", text,
                        s->names.names[other]);
    else if (!acts(s, name))
        ft_builder_note(s->builder, "thread-silent", event,
                        "fork or join of \"%s\", which has no events: taken as a thread of its own",
                        text);
    return name;
}

/* Likewise, with its beginning known: threads are spelled one way. */
static uint32_t likely_by(std *s, uint32_t name)
{
    uint32_t other = twin(s, name);
    bool prefixed = is_prefixed(s->names.names[name]), like = false, unlike = false;
    if (acts(s, name)) return name;
    if (acts(s, other)) return other;
    for (uint32_t i = 0; i < s->actors.len; i++) {
        if (!acts(s, i)) continue;
        like |= is_prefixed(s->names.names[i]) == prefixed;
        unlike |= is_prefixed(s->names.names[i]) != prefixed;
    }
    ft_strbuf spelled = {0};
    if (!like && unlike && respell(s, name, &spelled))
        name = add_name(s, spelled.text, spelled.len);
    ft_strbuf_release(&spelled);
    return name;
}

static void note_child(std *s, const record *r)
{
    if (ft_event_kind_object(r->kind) != FT_OBJECT_THREAD) return;
    if (s->actors.data[r->object].same_as != FT_NO_ID) return;
    s->actors.data[r->object].same_as = r->object;
    ft_vec_push(&s->children, r->object);
    if (!s->live) return;
    uint32_t likely = likely_by(s, r->object);
    s->actors.data[r->object].same_as = likely;
}

static void resolve_names(std *s)
{
    for (uint32_t i = 0; i < s->records.len; i++) note_child(s, &s->records.data[i]);
    for (size_t i = 0; i < s->children.len; i++) {
        uint32_t name = s->children.data[i], meant = meant_by(s, name, FT_NO_EVENT);
        if (s->live && s->actors.data[name].same_as != meant) ft_builder_need_all(s->builder);
        s->actors.data[name].same_as = meant;
    }
}

/* The last fork before a thread's first event is the one that starts it: a tracer that logs a fork
 * twice (a wrapper and what it wraps) logs the real one last. */
static void choose_forks(std *s)
{
    for (uint32_t i = 0; i < s->records.len; i++) {
        const record *r = &s->records.data[i];
        if (r->kind != FT_EVENT_FORK) continue;
        actor *child = &s->actors.data[s->actors.data[r->object].same_as];
        if (child->fork == FT_NO_EVENT || i < child->first) child->fork = i;
    }
}

/* ---- emission -------------------------------------------------------------------------------- */

/* RAPID's tools write begin and end around atomic blocks, others around whole threads. */
static bool encloses_transactions(const std *s)
{
    for (uint32_t i = 0; i < s->records.len; i++) {
        const record *r = &s->records.data[i];
        const actor *a = &s->actors.data[r->thread];
        if ((r->kind == FT_EVENT_BEGIN && a->first != i) ||
            (r->kind == FT_EVENT_END && a->last != i))
            return true;
    }
    return false;
}

static uint32_t thread_id(std *s, uint32_t name)
{
    actor *a = &s->actors.data[name];
    if (a->id == FT_NO_ID)
        a->id = ft_builder_thread(s->builder, s->names.names[name], s->names.lengths[name]);
    return a->id;
}

static uint32_t emit(std *s, const record *r, ft_event_kind kind, uint32_t object)
{
    return ft_builder_event(s->builder, kind, thread_id(s, r->thread), object, r->loc, FT_NO_VALUE,
                            0);
}

static void note(std *s, int code, uint32_t event, const char *name)
{
    if (s->notes[code].count++) return;
    s->notes[code] = (late_note){event, 1, s->n_notes++, name};
}

static void emit_child(std *s, const record *r, uint32_t i, uint32_t event)
{
    uint32_t child = s->actors.data[r->object].same_as;
    if (child == r->thread)
        note(s, NOTE_SELF_FORK, event, s->names.names[child]);
    else if (r->kind == FT_EVENT_FORK && s->actors.data[child].fork != i)
        note(s, NOTE_FORKED_TWICE, event, s->names.names[child]);
    else
        emit(s, r, (ft_event_kind)r->kind, thread_id(s, child));
}

static void emit_bracket(std *s, const record *r, uint32_t event)
{
    actor *a = &s->actors.data[r->thread];
    if (!s->transactions) {
        emit(s, r, (ft_event_kind)r->kind, 0);
        return;
    }
    if (r->kind == FT_EVENT_END && !a->open) {
        note(s, NOTE_UNOPENED, event, "");
        return;
    }
    bool begin = r->kind == FT_EVENT_BEGIN;
    a->open += begin ? 1 : UINT32_MAX;
    uint32_t e = emit(s, r, begin ? FT_EVENT_TX_BEGIN : FT_EVENT_TX_END, 0);
    note(s, NOTE_BRACKETS, e, "");
}

static void give(std *s, const record *r, uint32_t i)
{
    uint32_t event = ft_builder_count(s->builder); /* the next one */
    thread_id(s, r->thread); /* threads are numbered as they act, before their children */
    if (ft_event_kind_object(r->kind) == FT_OBJECT_THREAD)
        emit_child(s, r, i, event);
    else if (r->kind == FT_EVENT_BEGIN || r->kind == FT_EVENT_END)
        emit_bracket(s, r, event);
    else
        emit(s, r, (ft_event_kind)r->kind, r->object);
}

static void give_all(std *s)
{
    s->transactions = encloses_transactions(s);
    choose_forks(s);
    for (uint32_t i = 0; i < s->records.len; i++) give(s, &s->records.data[i], i);
}

/* ---- without the whole trace ------------------------------------------------------------------
 */

static void go_live(std *s)
{
    s->live = true;
    for (uint32_t i = 0; i < s->records.len; i++) {
        const record *r = &s->records.data[i];
        note_child(s, r);
        s->actors.data[r->thread].ended = r->kind == FT_EVENT_END;
    }
    give_all(s);
    ft_vec_release(&s->records);
}

/* Whether a begin or end says that they all enclose transactions, or the event behind an end does.
 */
static bool is_inside(std *s, const record *r, uint32_t i)
{
    actor *a = &s->actors.data[r->thread];
    bool inside = a->ended || (r->kind == FT_EVENT_BEGIN && a->first != i);
    a->ended = r->kind == FT_EVENT_END;
    return inside;
}

static void fork_live(std *s, const record *r, uint32_t i)
{
    actor *child = &s->actors.data[s->actors.data[r->object].same_as];
    if (child->fork == FT_NO_EVENT)
        child->fork = i;
    else if (child->first == FT_NO_EVENT)
        ft_builder_need_all(s->builder); /* it is this fork that counts */
}

static void give_live(std *s, const record *r)
{
    uint32_t i = s->n_records - 1;
    if (!s->transactions && is_inside(s, r, i)) ft_builder_need_all(s->builder);
    note_child(s, r);
    if (r->kind == FT_EVENT_FORK) fork_live(s, r, i);
    give(s, r, i);
}

/* ---- the end -----------------------------------------------------------------------------------
 */

static void put_note(std *s, int code)
{
    const late_note *one = &s->notes[code];
    ft_builder_note(s->builder, LATE[code].code, one->event, "%s%s%s", LATE[code].before, one->name,
                    LATE[code].behind);
    ft_builder_add_note(s->builder, LATE[code].code, one->event, one->count - 1, "");
}

static void put_notes(std *s)
{
    for (uint32_t place = 0; place < s->n_notes; place++)
        for (int code = 0; code < LATE_NOTES; code++)
            if (s->notes[code].count && s->notes[code].place == place) put_note(s, code);
}

static ft_status std_end(void *state, ft_error *err)
{
    std *s = state;
    (void)err;
    resolve_names(s);
    if (!s->live) give_all(s);
    put_notes(s);
    return FT_OK;
}

/* ---- the format ------------------------------------------------------------------------------ */

/* Between the formats without a header the first separator decides; what is wrong with the line is
 * then reported as an error of that format. */
static bool std_detect(const char *head, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        if (head[at] == '|') return true;
        if (head[at] == ',' || head[at] == '{' || head[at] == '[' || head[at] == '\0') return false;
    }
    return false;
}

static void *std_open(ft_builder *builder)
{
    std *s = ft_calloc(1, sizeof *s);
    s->builder = builder;
    return s;
}

static void std_close(void *state)
{
    std *s = state;
    if (!s) return;
    ft_intern_release(&s->names);
    ft_vec_release(&s->records);
    ft_vec_release(&s->actors);
    ft_vec_release(&s->children);
    free(s);
}

const ft_format_reader ft_std_reader = {
    .format = FT_FORMAT_STD,
    .detect = std_detect,
    .open = std_open,
    .line = std_line,
    .end = std_end,
    .close = std_close,
};
