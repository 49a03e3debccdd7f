#include "trace/std_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "trace/builder_internal.h"

#define OP(name, kind, class)                                                                      \
    {                                                                                              \
        name, sizeof name - 1, kind, (class) != FT_OBJECT_NONE, class                              \
    }
const ft_std_op FT_STD_OP[FT_STD_OPS] = {
    OP("acq", FT_EVENT_ACQUIRE, FT_OBJECT_LOCK), OP("rel", FT_EVENT_RELEASE, FT_OBJECT_LOCK),
    OP("r", FT_EVENT_READ, FT_OBJECT_VARIABLE),  OP("w", FT_EVENT_WRITE, FT_OBJECT_VARIABLE),
    OP("fork", FT_EVENT_FORK, FT_OBJECT_THREAD), OP("join", FT_EVENT_JOIN, FT_OBJECT_THREAD),
    OP("begin", FT_EVENT_BEGIN, FT_OBJECT_NONE), OP("end", FT_EVENT_END, FT_OBJECT_NONE),
    OP("req", FT_STD_REQUEST, FT_OBJECT_LOCK),   OP("branch", FT_STD_NOTHING, FT_OBJECT_NONE)};
#undef OP

typedef struct record {
    uint32_t kind : 8; /* ft_event_kind or FT_STD_* */
    uint32_t thread : 24;
    uint32_t object; /* builder's id; fork and join: a name in `names` */
    uint32_t loc;
} record;

/* The facts known about a thread name. Events are indices of `records`. */
typedef struct actor {
    uint32_t id;          /* builder's thread */
    uint32_t first, last; /* its own events, FT_NO_EVENT: it never acts */
    uint32_t body;        /* its first event that is not a begin, FT_NO_EVENT: none so far */
    uint32_t start;       /* its first event that is not an early begin, likewise */
    uint32_t fork;        /* the fork that starts it */
    uint32_t same_as;     /* name of the thread that this name means in a fork or join */
    uint32_t open;        /* transactions */
    uint32_t requested;   /* lock of a request that its thread's next event has to answer, or
                             FT_NO_ID */
    uint32_t request_loc;
    bool ended;  /* its latest event is an end, which stands for the thread's */
    bool joined; /* so it was not waiting when the run ended */
} actor;

/* Notes that are counted while events are given; a thread's name may stand between the two parts.
 */
enum {
    NOTE_SELF_FORK,
    NOTE_FORKED_TWICE,
    NOTE_UNOPENED,
    NOTE_BRACKETS,
    NOTE_EARLY_BEGIN,
    NOTE_UNANSWERED,
    LATE_NOTES
};
static const struct {
    const char *code, *before, *behind;
} LATE[LATE_NOTES] = {
    [NOTE_SELF_FORK] = {"self-fork", "thread \"", "\" forks or joins itself: left out"},
    [NOTE_FORKED_TWICE] = {"forked-twice", "thread \"",
                           "\" is forked more than once: the last fork before its first event "
                           "counts, the others are left out"},
    [NOTE_UNOPENED] = {"transaction-unopened", "an end without a begin: left out", ""},
    [NOTE_BRACKETS] = {"begin-end", "begin and end stand inside threads: taken as transactions",
                       ""},
    [NOTE_EARLY_BEGIN] = {"early-begin", "thread \"",
                          "\" begins before the fork that starts it: its begin is taken as the "
                          "thread's and comes behind that fork"},
    [NOTE_UNANSWERED] = {"request-unanswered", "thread \"",
                         "\" requests a lock and does not acquire it next, and no other thread "
                         "holds it in the end: the request is left out"}};

typedef struct late_note {
    uint32_t event, count;
    uint32_t place;   /* among the others, by when they came first */
    const char *name; /* of a thread, or "" */
} late_note;

/* The holder of a lock; if two threads hold it at once, the later one. */
typedef struct holder {
    uint32_t thread, depth;
} holder;

struct ft_std {
    ft_builder *builder;       /* not owned */
    ft_intern names;           /* of threads: actors and children */
    FT_VEC(record) records;    /* held back */
    uint32_t n_records;        /* all so far */
    FT_VEC(actor) actors;      /* by name */
    FT_VEC(uint32_t) children; /* names in forks and joins, in the order of the first of them */
    FT_VEC(holder) holders;    /* by lock */
    bool live;                 /* nothing is held back any more */
    bool transactions;         /* begin and end enclose them; live: so it seemed */
    late_note notes[LATE_NOTES];
    uint32_t n_notes;
};

/* ---- notes ----------------------------------------------------------------------------------- */

static void note(ft_std *s, int code, uint32_t event, const char *name)
{
    if (s->notes[code].count++) return;
    s->notes[code] = (late_note){event, 1, s->n_notes++, name};
}

/* ---- requests -------------------------------------------------------------------------------- */

static void follow_lock(ft_std *s, const record *r)
{
    assert(r->object < s->builder->trace->locks.len);
    while (s->holders.len <= r->object) ft_vec_push(&s->holders, (holder){0});
    holder *h = &s->holders.data[r->object];
    bool own = h->depth && h->thread == r->thread;
    if (r->kind == FT_EVENT_ACQUIRE)
        *h = (holder){r->thread, own ? h->depth + 1 : 1};
    else if (r->kind == FT_EVENT_RELEASE && own)
        h->depth--;
}

static void follow_request(ft_std *s, const record *r)
{
    assert(r->thread < s->actors.len);
    actor *a = &s->actors.data[r->thread];
    bool answers = r->kind == FT_EVENT_ACQUIRE && r->object == a->requested;
    if (a->requested != FT_NO_ID && !answers)
        note(s, NOTE_UNANSWERED, FT_NO_EVENT, s->names.names[r->thread]);
    a->requested = r->kind == FT_STD_REQUEST ? r->object : FT_NO_ID;
    a->request_loc = r->loc;
    if (r->kind == FT_EVENT_JOIN) s->actors.data[r->object].joined = true;
    if (r->kind == FT_EVENT_ACQUIRE || r->kind == FT_EVENT_RELEASE) follow_lock(s, r);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static uint32_t add_name(ft_std *s, const char *text, size_t length)
{
    uint32_t name = ft_intern_add(&s->names, text, length);
    if (name == s->actors.len)
        ft_vec_push(&s->actors, (actor){.id = FT_NO_ID,
                                        .first = FT_NO_EVENT,
                                        .last = FT_NO_EVENT,
                                        .body = FT_NO_EVENT,
                                        .start = FT_NO_EVENT,
                                        .fork = FT_NO_EVENT,
                                        .same_as = FT_NO_ID,
                                        .requested = FT_NO_ID});
    return name;
}

uint32_t ft_std_thread(ft_std *std, const char *name, size_t length)
{
    FT_REQUIRE(std && name);
    uint32_t number = add_name(std, name, length);
    return number < FT_STD_THREADS ? number : FT_STD_THREADS;
}

bool ft_std_has_room(const ft_std *std)
{
    return std->n_records < FT_NO_EVENT;
}

static void give_live(ft_std *s, const record *r);
static void go_live(ft_std *s);

static void add(ft_std *s, record r)
{
    assert(s->live || s->records.len == s->n_records);
    uint32_t i = s->n_records++;
    actor *a = &s->actors.data[r.thread];
    a->last = i;
    if (a->first == FT_NO_EVENT) a->first = i;
    if (a->body == FT_NO_EVENT && r.kind != FT_EVENT_BEGIN) a->body = i;
    if (s->live) {
        give_live(s, &r);
        return;
    }
    ft_vec_push(&s->records, r);
    if (s->builder->flush && s->records.len > s->builder->event_cap) go_live(s);
}

void ft_std_add(ft_std *std, const ft_std_op *op, uint32_t thread, uint32_t object, uint32_t loc)
{
    FT_REQUIRE(std && op && thread < std->actors.len && ft_std_has_room(std));
    FT_REQUIRE(op->of != FT_OBJECT_THREAD || (object < std->actors.len && object != thread));
    record r = {.kind = op->kind & 0xff,
                .thread = thread & (FT_STD_THREADS - 1),
                .object = object,
                .loc = loc};
    follow_request(std, &r);
    add(std, r);
}

/* ---- thread names ---------------------------------------------------------------------------- */

static bool all_digits(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static bool acts(const ft_std *s, uint32_t name)
{
    return name != FT_NO_ID && s->actors.data[name].first != FT_NO_EVENT;
}

static bool is_prefixed(const char *text)
{
    return text[0] == 'T' && all_digits(text + 1);
}

/* The other spelling of a name: 151 for T151 and T151 for 151; false: it has none. */
static bool respell(const ft_std *s, uint32_t name, ft_strbuf *other)
{
    const char *text = s->names.names[name];
    bool prefixed = is_prefixed(text);
    if (!prefixed && !all_digits(text)) return false;
    ft_strbuf_printf(other, "%s%s", prefixed ? "" : "T", text + prefixed);
    return true;
}

/* The name with that spelling; FT_NO_ID: not in the trace. */
static uint32_t twin(const ft_std *s, uint32_t name)
{
    ft_strbuf spelled = {0};
    uint32_t found = FT_NO_ID;
    if (respell(s, name, &spelled)) found = ft_intern_find(&s->names, spelled.text, spelled.len);
    ft_strbuf_release(&spelled);
    return found;
}

/* A name in a fork or join, seen with the whole trace known: by which name does that thread act? */
static uint32_t meant_by(ft_std *s, uint32_t name, uint32_t event)
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
static uint32_t likely_by(ft_std *s, uint32_t name)
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

static bool has_child(const record *r)
{
    return r->kind == FT_EVENT_FORK || r->kind == FT_EVENT_JOIN;
}

static void note_child(ft_std *s, const record *r)
{
    if (!has_child(r)) return;
    if (s->actors.data[r->object].same_as != FT_NO_ID) return;
    s->actors.data[r->object].same_as = r->object;
    ft_vec_push(&s->children, r->object);
    if (!s->live) return;
    uint32_t likely = likely_by(s, r->object);
    s->actors.data[r->object].same_as = likely;
}

static void resolve_names(ft_std *s)
{
    for (uint32_t i = 0; i < s->records.len; i++) note_child(s, &s->records.data[i]);
    for (size_t i = 0; i < s->children.len; i++) {
        uint32_t name = s->children.data[i], meant = meant_by(s, name, FT_NO_EVENT);
        if (s->live && s->actors.data[name].same_as != meant) ft_builder_need_all(s->builder);
        s->actors.data[name].same_as = meant;
    }
}

/* ---- forks and early begins ------------------------------------------------------------------ */

/* The last fork before a thread's first event is the one that starts it: a tracer that logs a fork
 * twice (a wrapper and what it wraps) logs the real one last. Where there is none before it, begins
 * do not count as events: they may be logged before the fork. */
static void choose_fork(actor *child, uint32_t i)
{
    bool before = i < child->first;
    bool early = child->fork > child->first && i < child->body;
    if (child->fork == FT_NO_EVENT || before || early) child->fork = i;
}

/* A begin by a thread that did nothing else yet, before the fork that starts it. */
static bool is_early_begin(const ft_std *s, const record *r, uint32_t i)
{
    const actor *a = &s->actors.data[r->thread];
    return r->kind == FT_EVENT_BEGIN && a->fork != FT_NO_EVENT && i < a->fork && a->fork < a->body;
}

static bool begins_early(const actor *a)
{
    return a->fork != FT_NO_EVENT && a->first < a->fork && a->fork < a->body;
}

static void choose_forks(ft_std *s)
{
    for (uint32_t i = 0; i < s->records.len; i++) {
        const record *r = &s->records.data[i];
        if (r->kind == FT_EVENT_FORK)
            choose_fork(&s->actors.data[s->actors.data[r->object].same_as], i);
    }
    for (uint32_t i = 0; i < s->records.len; i++) {
        const record *r = &s->records.data[i];
        actor *a = &s->actors.data[r->thread];
        if (a->start == FT_NO_EVENT && !is_early_begin(s, r, i)) a->start = i;
    }
}

/* ---- emission -------------------------------------------------------------------------------- */

/* RAPID's tools write begin and end around atomic blocks, others around whole threads. */
static bool encloses_transactions(const ft_std *s)
{
    for (uint32_t i = 0; i < s->records.len; i++) {
        const record *r = &s->records.data[i];
        const actor *a = &s->actors.data[r->thread];
        if ((r->kind == FT_EVENT_BEGIN && a->start != i && !is_early_begin(s, r, i)) ||
            (r->kind == FT_EVENT_END && a->last != i))
            return true;
    }
    return false;
}

static uint32_t thread_id(ft_std *s, uint32_t name)
{
    actor *a = &s->actors.data[name];
    if (a->id == FT_NO_ID)
        a->id = ft_builder_thread(s->builder, s->names.names[name], s->names.lengths[name]);
    return a->id;
}

static uint32_t emit(ft_std *s, const record *r, ft_event_kind kind, uint32_t object)
{
    return ft_builder_event(s->builder, kind, thread_id(s, r->thread), object, r->loc, FT_NO_VALUE,
                            0);
}

/* The begin that a thread logged before its fork, unless another one comes behind it. */
static void begin_behind_fork(ft_std *s, uint32_t child)
{
    const actor *a = &s->actors.data[child];
    if (!begins_early(a)) return;
    bool again = a->start != FT_NO_EVENT && a->start < a->body;
    note(s, NOTE_EARLY_BEGIN, ft_builder_count(s->builder), s->names.names[child]);
    if (again || s->transactions) return;
    ft_builder_event(s->builder, FT_EVENT_BEGIN, thread_id(s, child), 0, FT_NO_LOC, FT_NO_VALUE, 0);
}

static void emit_child(ft_std *s, const record *r, uint32_t i, uint32_t event)
{
    uint32_t child = s->actors.data[r->object].same_as;
    if (child == r->thread)
        note(s, NOTE_SELF_FORK, event, s->names.names[child]);
    else if (r->kind == FT_EVENT_FORK && s->actors.data[child].fork != i)
        note(s, NOTE_FORKED_TWICE, event, s->names.names[child]);
    else
        emit(s, r, (ft_event_kind)r->kind, thread_id(s, child));
    if (r->kind == FT_EVENT_FORK && s->actors.data[child].fork == i) begin_behind_fork(s, child);
}

static void emit_bracket(ft_std *s, const record *r, uint32_t i, uint32_t event)
{
    actor *a = &s->actors.data[r->thread];
    if (is_early_begin(s, r, i)) return;
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

static void give(ft_std *s, const record *r, uint32_t i)
{
    uint32_t event = ft_builder_count(s->builder); /* the next one */
    thread_id(s, r->thread); /* threads are numbered as they act, before their children */
    if (has_child(r))
        emit_child(s, r, i, event);
    else if (r->kind == FT_EVENT_BEGIN || r->kind == FT_EVENT_END)
        emit_bracket(s, r, i, event);
    else if (r->kind < FT_EVENT_KINDS)
        emit(s, r, (ft_event_kind)r->kind, r->object);
}

static void give_all(ft_std *s)
{
    choose_forks(s);
    s->transactions = encloses_transactions(s);
    for (uint32_t i = 0; i < s->records.len; i++) give(s, &s->records.data[i], i);
}

/* ---- without the whole trace ------------------------------------------------------------------
 */

static void go_live(ft_std *s)
{
    assert(!s->live);
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
static bool is_inside(ft_std *s, const record *r, uint32_t i)
{
    actor *a = &s->actors.data[r->thread];
    bool inside = a->ended || (r->kind == FT_EVENT_BEGIN && (a->start != i || begins_early(a)));
    a->ended = r->kind == FT_EVENT_END;
    return inside;
}

static void fork_live(ft_std *s, const record *r, uint32_t i)
{
    actor *child = &s->actors.data[s->actors.data[r->object].same_as];
    bool begun = child->first != FT_NO_EVENT, only = begun && child->body == FT_NO_EVENT;
    if (child->fork == FT_NO_EVENT && !only)
        child->fork = i;
    else if (!begun || only)
        ft_builder_need_all(s->builder); /* it is this fork that counts */
}

static void give_live(ft_std *s, const record *r)
{
    uint32_t i = s->n_records - 1;
    actor *a = &s->actors.data[r->thread];
    if (a->start == FT_NO_EVENT) a->start = i;
    if (!s->transactions && is_inside(s, r, i)) ft_builder_need_all(s->builder);
    note_child(s, r);
    if (r->kind == FT_EVENT_FORK) fork_live(s, r, i);
    give(s, r, i);
}

/* ---- the end -----------------------------------------------------------------------------------
 */

static void put_note(ft_std *s, int code)
{
    const late_note *one = &s->notes[code];
    ft_builder_note(s->builder, LATE[code].code, one->event, "%s%s%s", LATE[code].before, one->name,
                    LATE[code].behind);
    ft_builder_add_note(s->builder, LATE[code].code, one->event, one->count - 1, "");
}

static void put_notes(ft_std *s)
{
    for (uint32_t place = 0; place < s->n_notes; place++)
        for (int code = 0; code < LATE_NOTES; code++)
            if (s->notes[code].count && s->notes[code].place == place) put_note(s, code);
}

/* Whether the run ended with the thread waiting for what it requested last. Where nobody holds the
 * lock the trace was cut off between the request and the acquire. */
static bool still_waits(const ft_std *s, uint32_t name)
{
    const actor *a = &s->actors.data[name];
    if (a->requested == FT_NO_ID || a->joined || a->requested >= s->holders.len) return false;
    const holder *h = &s->holders.data[a->requested];
    return h->depth && h->thread != name;
}

static void join_names(ft_std *s)
{
    for (size_t i = 0; i < s->children.len; i++) {
        uint32_t name = s->children.data[i];
        if (s->actors.data[name].joined) s->actors.data[s->actors.data[name].same_as].joined = true;
    }
}

typedef struct pending {
    uint32_t event, name;
} pending;

static int by_event(const void *a, const void *b)
{
    const pending *x = a, *y = b;
    return (x->event > y->event) - (x->event < y->event);
}

static void settle_request(ft_std *s, uint32_t name)
{
    const actor *a = &s->actors.data[name];
    if (still_waits(s, name))
        ft_builder_event(s->builder, FT_EVENT_ACQUIRE, thread_id(s, name), a->requested,
                         a->request_loc, FT_NO_VALUE, FT_FLAG_BLOCKED);
    else
        note(s, NOTE_UNANSWERED, FT_NO_EVENT, s->names.names[name]);
}

/* In the order of the requests: how names are numbered depends on what was held back. */
static void settle_requests(ft_std *s)
{
    FT_VEC(pending) open = {0};
    join_names(s);
    for (uint32_t name = 0; name < s->actors.len; name++)
        if (s->actors.data[name].requested != FT_NO_ID)
            ft_vec_push(&open, (pending){s->actors.data[name].last, name});
    if (open.len) qsort(open.data, open.len, sizeof *open.data, by_event);
    for (size_t i = 0; i < open.len; i++) settle_request(s, open.data[i].name);
    ft_vec_release(&open);
}

void ft_std_end(ft_std *std)
{
    FT_REQUIRE(std);
    resolve_names(std);
    if (!std->live) give_all(std);
    settle_requests(std);
    put_notes(std);
}

/* ---- life ------------------------------------------------------------------------------------ */

ft_std *ft_std_new(ft_builder *builder)
{
    FT_REQUIRE(builder);
    ft_std *std = ft_calloc(1, sizeof *std);
    std->builder = builder;
    return std;
}

void ft_std_free(ft_std *std)
{
    if (!std) return;
    ft_intern_release(&std->names);
    ft_vec_release(&std->records);
    ft_vec_release(&std->actors);
    ft_vec_release(&std->children);
    ft_vec_release(&std->holders);
    free(std);
}
