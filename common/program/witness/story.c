/* An execution for readers: its steps with values, and the accesses that the claim is about. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/binary.h"
#include "program/witness/internal.h"

/* Plain accesses to objects that two threads use, and that one writes, are steps. Of more than
 * MOST_STEPS the last FULL_STEPS are described one by one, and the others as stretches of one
 * thread; of more than MOST_EVENTS the first half is left out. */
enum { STACK = 64, MOST_STEPS = 1000, FULL_STEPS = 200, MOST_EVENTS = 200000 };

typedef struct held {
    uint64_t address;
    bool shared;
} held;

typedef struct telling {
    ft_followed f; /* the first member: the context of accesses */
    const ft_program *p;
    FT_VEC(uint64_t) users; /* by object: bits of threads */
    FT_VEC(bool) written;
    bool counting; /* the first pass */
    json_t *steps;
    json_int_t events;
    FT_VEC(held) locks[FT_INTERPRETER_THREADS];
    json_t *sources;
    ft_operations operations;
} telling;

/* ---- names and places ---- */

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *thread_name(uint32_t t)
{
    return t ? json_sprintf("T%" PRIu32, t) : json_string("main");
}

/* "queue+8"; memory that was allocated has the number of its object. */
static void name_address(const telling *s, uint64_t address, ft_strbuf *out)
{
    ft_interpreter_location l;
    if (!ft_interpreter_locate(s->f.m, address, &l)) {
        ft_strbuf_printf(out, "0x%" PRIx64, address);
        return;
    }
    if (l.symbol == FT_NO_SYMBOL)
        ft_strbuf_printf(out, "%s#%" PRIu32, l.heap ? "heap" : "stack", l.object);
    else
        ft_strbuf_puts(out, ft_program_symbol_name(s->p, l.symbol));
    if (l.offset) ft_strbuf_printf(out, "+%" PRIu64, l.offset);
}

static json_t *address_name(const telling *s, uint64_t address)
{
    ft_strbuf name = {0};
    name_address(s, address, &name);
    json_t *json = json_string(ft_strbuf_text(&name));
    ft_strbuf_release(&name);
    return json ? json : json_string("?");
}

static const ft_instruction *instruction_of(const telling *s, ft_interpreter_place place)
{
    return &ft_program_function(s->f.program, place.function)->instructions.data[place.instruction];
}

/* The innermost place that has a line: models of the C library have none. False: no place has. */
static bool line_of(const telling *s, uint32_t t, ft_interpreter_place *place)
{
    ft_interpreter_place all[STACK];
    uint32_t n = ft_interpreter_stack(s->f.m, t, all, STACK);
    for (uint32_t i = 0; i < n && i < STACK; i++) {
        *place = all[i];
        if (instruction_of(s, all[i])->position.file != FT_NO_FILE) return true;
    }
    if (n) *place = all[0];
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* FILE:LINE, with the file's name alone; the path goes to the sources. */
static json_t *location_of(telling *s, ft_interpreter_place place)
{
    ft_position at = instruction_of(s, place)->position;
    if (at.file == FT_NO_FILE) return json_null();
    const char *path = s->p->files.names[at.file], *name = base_name(path);
    const json_t *known = json_object_get(s->sources, name);
    bool other = known && (json_is_null(known) || strcmp(json_string_value(known), path) != 0);
    json_object_set_new(s->sources, name, other ? json_null() : json_string(path));
    return json_sprintf("%s:%" PRIu32, name, at.line);
}

static void add_place(telling *s, uint32_t t, json_t *step)
{
    ft_interpreter_place place;
    bool stands = ft_interpreter_stack(s->f.m, t, &place, 0) > 0;
    bool known = stands && line_of(s, t, &place);
    json_object_set_new(step, "location", known ? location_of(s, place) : json_null());
    json_object_set_new(step, "function",
                        stands ? text_or_null(ft_program_symbol_name(s->p, place.function))
                               : json_null());
}

/* ---- locks ---- */

static void take_note(telling *s, uint32_t t, uint64_t address)
{
    ft_interpreter_object o = ft_interpreter_object_at(s->f.m, address);
    bool shared = (o.readers >> t & 1) != 0, holds = o.owner == t + 1 || shared;
    for (size_t i = 0; i < s->locks[t].len; i++) {
        held *h = &s->locks[t].data[i];
        if (h->address != address) continue;
        if (!holds) *h = s->locks[t].data[--s->locks[t].len];
        return;
    }
    if (holds) ft_vec_push(&s->locks[t], (held){address, shared});
}

static void add_locks(const telling *s, uint32_t t, json_t *access)
{
    json_t *locks = json_array(), *shared = json_array();
    for (size_t i = 0; i < s->locks[t].len; i++) {
        const held *h = &s->locks[t].data[i];
        json_array_append_new(locks, address_name(s, h->address));
        if (h->shared) json_array_append_new(shared, address_name(s, h->address));
    }
    json_object_set_new(access, "locks", locks);
    if (json_array_size(shared)) json_object_set(access, "shared", shared);
    json_decref(shared);
}

/* ---- steps ---- */

static json_t *new_step(telling *s, uint32_t t, const char *kind)
{
    json_t *step = json_object();
    json_object_set_new(step, "event", json_integer(++s->events));
    json_object_set_new(step, "thread", thread_name(t));
    json_object_set_new(step, "kind", json_string(kind));
    json_object_set_new(step, "access", json_null());
    json_object_set_new(step, "value", json_null());
    add_place(s, t, step);
    return step;
}

/* text: "acquire m", or the kind alone. */
static void set_object(json_t *step, json_t *object)
{
    const char *kind = json_string_value(json_object_get(step, "kind"));
    const char *name = json_string_value(object);
    json_object_set_new(step, "text", name ? json_sprintf("%s %s", kind, name) : json_string(kind));
    json_object_set_new(step, "object", object);
}

static json_t *value_text(uint8_t width, uint64_t bits)
{
    if (!width) return json_null();
    return json_sprintf("%" PRId64, (int64_t)(bits << (64 - width)) >> (64 - width));
}

static void add_event(telling *s, json_t *step)
{
    json_array_append_new(s->steps, step);
    if (json_array_size(s->steps) <= MOST_EVENTS) return;
    json_t *kept = json_array();
    for (size_t i = MOST_EVENTS / 2; i < json_array_size(s->steps); i++)
        json_array_append(kept, json_array_get(s->steps, i));
    json_decref(s->steps);
    s->steps = kept;
}

static bool is_shared(const telling *s, uint32_t object)
{
    if (object >= s->users.len) return false;
    uint64_t users = s->users.data[object];
    return (users & (users - 1)) && s->written.data[object];
}

static bool is_of_freed(const ft_interpreter_error *e)
{
    return (e->kind == FT_ERROR_FREED || e->kind == FT_ERROR_DOUBLE_FREE) && e->address;
}

/* The access that a race, or an earlier free, keeps from being carried out is one of the object,
 * too. */
static void count_failing(telling *s, const ft_interpreter_error *e)
{
    ft_interpreter_location l;
    if (e->kind != FT_ERROR_RACE && !is_of_freed(e)) return;
    if (!ft_interpreter_locate(s->f.m, e->address, &l)) return;
    if (l.object >= s->users.len) return;
    s->users.data[l.object] = UINT64_MAX;
    s->written.data[l.object] = true;
}

static void count_access(telling *s, const ft_interpreter_access *a, uint32_t object)
{
    while (s->users.len <= object) {
        ft_vec_push(&s->users, 0);
        ft_vec_push(&s->written, false);
    }
    s->users.data[object] |= UINT64_C(1) << a->thread;
    s->written.data[object] |= a->writes;
}

static void on_access(void *context, const ft_interpreter_access *a)
{
    telling *s = context;
    ft_interpreter_location l;
    if (!ft_interpreter_locate(s->f.m, a->address, &l)) return;
    if (s->counting) {
        count_access(s, a, l.object);
        return;
    }
    if (!a->atomic && !is_shared(s, l.object)) return;
    json_t *step = new_step(s, a->thread, a->writes ? "write" : "read");
    set_object(step, address_name(s, a->address));
    json_object_set_new(step, "access", json_string(a->writes ? "write" : "read"));
    json_object_set_new(step, "value", value_text(a->width, a->value));
    add_locks(s, a->thread, step); /* these two until the document is made */
    json_object_set_new(step, "bytes",
                        json_pack("[I, I]", (json_int_t)a->address, (json_int_t)a->bytes));
    add_event(s, step);
}

/* How an operation is called, as events of traces are. NULL: by its instruction's name. */
static const char *const KINDS[FT_CODES][2] = {
    [FT_CODE_LOCK] = {"acquire", NULL},
    [FT_CODE_TRY_LOCK] = {"acquire", NULL},
    [FT_CODE_TIMED_LOCK] = {"acquire", NULL},
    [FT_CODE_UNLOCK] = {"release", NULL},
    [FT_CODE_READ_LOCK] = {"acquire-shared", NULL},
    [FT_CODE_WRITE_LOCK] = {"acquire", NULL},
    [FT_CODE_TRY_READ_LOCK] = {"acquire-shared", NULL},
    [FT_CODE_TRY_WRITE_LOCK] = {"acquire", NULL},
    [FT_CODE_RW_UNLOCK] = {"release", NULL},
    [FT_CODE_WAIT] = {"cond-wait", "cond-wake"},
    [FT_CODE_TIMED_WAIT] = {"cond-wait", "cond-wake"},
    [FT_CODE_SEM_WAIT] = {"wait", NULL},
    [FT_CODE_SEM_TRY] = {"wait", NULL},
    [FT_CODE_SEM_TIMED] = {"wait", NULL},
    [FT_CODE_SEM_POST] = {"post", NULL},
    [FT_CODE_BARRIER_WAIT] = {"barrier-arrive", "barrier-leave"},
    [FT_CODE_ONCE] = {"once-begin", "once-end"},
    [FT_CODE_CREATE] = {"fork", NULL},
    [FT_CODE_JOIN] = {"join", NULL},
};

static const char *kind_of(const ft_interpreter_operation *o)
{
    if (o->code == FT_CODES) return "begin";
    if (o->code == FT_CODE_FAIL) return "assert";
    const char *kind = KINDS[o->code][o->second ? 1 : 0];
    return kind ? kind : ft_instruction_row_of(o->code)->name;
}

static bool has_object(ft_code code)
{
    switch (code) {
    case FT_CODES:
    case FT_CODE_FAIL:
    case FT_CODE_FENCE:
    case FT_CODE_YIELD:
    case FT_CODE_ATOMIC_BEGIN:
    case FT_CODE_EXIT:
        return false;
    default:
        return ft_instruction_row_of(code)->effect == FT_EFFECT_VISIBLE;
    }
}

static json_t *object_of(const telling *s, const ft_interpreter_operation *o, uint64_t variant)
{
    if (o->code == FT_CODE_CREATE) return thread_name((uint32_t)(variant ? variant - 1 : 0));
    if (o->code == FT_CODE_JOIN || o->code == FT_CODE_DETACH)
        return thread_name((uint32_t)o->object);
    return has_object(o->code) ? address_name(s, o->object) : json_null();
}

static json_t *operation_step(telling *s, uint32_t t, const ft_interpreter_operation *o,
                              uint64_t variant)
{
    json_t *step = new_step(s, t, kind_of(o));
    set_object(step, object_of(s, o, variant));
    return step;
}

static bool is_atomic(ft_code code)
{
    return code == FT_CODE_ATOMIC_LOAD || code == FT_CODE_ATOMIC_STORE ||
           code == FT_CODE_ATOMIC_UPDATE || code == FT_CODE_ATOMIC_SWAP;
}

/* An attempt that failed is called so. */
static void mark_failed(telling *s, uint32_t t, const ft_interpreter_operation *o, uint64_t before,
                        json_t *step)
{
    ft_interpreter_object now = ft_interpreter_object_at(s->f.m, o->object);
    bool lock = o->code == FT_CODE_TRY_LOCK || o->code == FT_CODE_TIMED_LOCK ||
                o->code == FT_CODE_TRY_WRITE_LOCK;
    bool semaphore = o->code == FT_CODE_SEM_TRY || o->code == FT_CODE_SEM_TIMED;
    bool failed = (lock && now.owner != t + 1) ||
                  (o->code == FT_CODE_TRY_READ_LOCK && !(now.readers >> t & 1)) ||
                  (semaphore && now.count == before);
    if (!failed) return;
    json_object_set_new(step, "kind", json_string("try-failed"));
    set_object(step, address_name(s, o->object));
}

/* Accesses to atomics tell themselves. */
static ft_status tell_step(telling *s, size_t i, ft_error *err)
{
    ft_interpreter_operation o;
    const ft_schedule_step *at = &s->f.execution->schedule.data[i];
    bool stands = at->thread < ft_interpreter_thread_count(s->f.m) &&
                  ft_interpreter_stands_before(s->f.m, at->thread, &o);
    json_t *step = NULL;
    uint64_t before = 0;
    bool main_begins = stands && o.code == FT_CODES && at->thread == 0;
    if (stands && !main_begins && !is_atomic(o.code) && o.code != FT_CODE_FAIL &&
        o.code != FT_CODE_EXIT) {
        step = operation_step(s, at->thread, &o, at->variant);
        before = ft_interpreter_object_at(s->f.m, o.object).count;
        add_event(s, json_incref(step));
    }
    ft_operations_add(&s->operations, &s->f, at->thread, at->variant);
    ft_status status = ft_followed_step(&s->f, i, err);
    if (status == FT_OK && stands && has_object(o.code)) take_note(s, at->thread, o.object);
    if (status == FT_OK && (o.code == FT_CODE_WAIT || o.code == FT_CODE_TIMED_WAIT))
        take_note(s, at->thread, o.other);
    if (status == FT_OK && step) mark_failed(s, at->thread, &o, before, step);
    json_decref(step);
    return status;
}

/* ---- the claim's events ---- */

static json_t *access_of(telling *s, uint32_t t, const json_t *step, const char *word)
{
    json_t *access = json_object();
    static const char *const SAME[] = {"event", "thread", "object", "location", "function", "text"};
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++)
        json_object_set(access, SAME[i], json_object_get(step, SAME[i]));
    json_object_set_new(access, "access", json_string(word));
    json_t *locks = json_object_get(step, "locks");
    if (!locks) return add_locks(s, t, access), access;
    json_object_set(access, "locks", locks);
    if (json_object_get(step, "shared"))
        json_object_set(access, "shared", json_object_get(step, "shared"));
    return access;
}

/* The calls around the place, but for those of models. */
static void add_stack(telling *s, uint32_t t, json_t *access)
{
    ft_interpreter_place all[STACK];
    enum { MOST = 12 };
    json_t *frames = json_array();
    uint32_t n = ft_interpreter_stack(s->f.m, t, all, STACK);
    bool innermost = true;
    for (uint32_t i = 0; i < n && i < STACK && json_array_size(frames) < MOST; i++) {
        if (instruction_of(s, all[i])->position.file == FT_NO_FILE) continue;
        json_t *frame = json_object();
        json_object_set_new(frame, "function",
                            text_or_null(ft_program_symbol_name(s->p, all[i].function)));
        json_object_set_new(frame, "location", location_of(s, all[i]));
        if (!innermost) json_array_append(frames, frame);
        innermost = false;
        json_decref(frame);
    }
    if (json_array_size(frames)) json_object_set(access, "stack", frames);
    json_decref(frames);
}

static const char *text_of(const json_t *json, const char *member)
{
    return json_string_value(json_object_get(json, member));
}

/* THREAD at FILE:LINE in FUNCTION */
static void say_place(const json_t *access, ft_strbuf *out)
{
    const char *location = text_of(access, "location"), *function = text_of(access, "function");
    ft_strbuf_puts(out, text_of(access, "thread"));
    if (location) ft_strbuf_printf(out, " at %s", location);
    if (function) ft_strbuf_printf(out, " in %s", function);
}

static bool has_byte(const json_t *step, uint64_t address)
{
    const json_t *bytes = json_object_get(step, "bytes");
    uint64_t first = (uint64_t)json_integer_value(json_array_get(bytes, 0));
    return bytes && address - first < (uint64_t)json_integer_value(json_array_get(bytes, 1));
}

/* The latest access of another thread to the byte, on the line of the access with which the failing
 * one races. */
static json_t *find_other(telling *s, const ft_interpreter_error *e)
{
    ft_strbuf location = {0};
    ft_position at = {.file = FT_NO_FILE};
    if (e->other.function != FT_NO_SYMBOL) at = instruction_of(s, e->other)->position;
    if (at.file != FT_NO_FILE)
        ft_strbuf_printf(&location, "%s:%" PRIu32, base_name(s->p->files.names[at.file]), at.line);
    json_t *own = thread_name(e->thread), *found = NULL;
    for (size_t i = json_array_size(s->steps); i-- > 0 && !found;) {
        json_t *step = json_array_get(s->steps, i);
        const char *where = text_of(step, "location");
        bool other = !json_equal(json_object_get(step, "thread"), own) &&
                     json_is_string(json_object_get(step, "access"));
        bool there =
            at.file == FT_NO_FILE || (where && strcmp(where, ft_strbuf_text(&location)) == 0);
        if (other && there && has_byte(step, e->address)) found = step;
    }
    json_decref(own);
    ft_strbuf_release(&location);
    return found;
}

static const char *word_of(const telling *s, const ft_interpreter_error *e)
{
    switch ((ft_code)instruction_of(s, e->place)->code) {
    case FT_CODE_COPY:
    case FT_CODE_MOVE:
        return e->writes ? "write" : "read";
    case FT_CODE_LOAD:
    case FT_CODE_ATOMIC_LOAD:
    case FT_CODE_OUTPUT:
        return "read";
    default:
        return "write";
    }
}

/* The step that the error keeps from being carried out. */
static json_t *failing_step(telling *s, const ft_interpreter_error *e)
{
    bool race = e->kind == FT_ERROR_RACE;
    json_t *step = new_step(s, e->thread, race ? word_of(s, e) : "assert");
    if (race) json_object_set(step, "access", json_object_get(step, "kind"));
    json_object_set_new(step, "object", json_null());
    json_object_set_new(step, "text", json_string(race ? word_of(s, e) : e->message));
    return step;
}

static void claim(json_t *events, const json_t *step)
{
    json_array_append(events, json_object_get(step, "event"));
}

/* Uses of synchronisation objects are no accesses of a step: the latest one by another thread. */
static void say_earlier_use(const telling *s, const ft_interpreter_error *e, ft_strbuf *message)
{
    json_t *own = thread_name(e->thread), *name = address_name(s, e->address);
    for (size_t i = json_array_size(s->steps); i-- > 0;) {
        const json_t *step = json_array_get(s->steps, i);
        if (json_equal(json_object_get(step, "thread"), own) ||
            !json_equal(json_object_get(step, "object"), name))
            continue;
        ft_strbuf_printf(message, " races with %s by ", text_of(step, "text"));
        say_place(step, message);
        break;
    }
    json_decref(own);
    json_decref(name);
}

static void tell_race(telling *s, const ft_interpreter_error *e, ft_story *story, json_t *final,
                      json_t *events)
{
    json_t *own = failing_step(s, e), *other = find_other(s, e);
    const char *object = other ? text_of(other, "object") : NULL;
    if (object) set_object(own, json_string(object));
    bool both = strcmp(text_of(own, "kind"), "write") == 0 &&
                (!other || strcmp(text_of(other, "access"), "write") == 0);
    story->kind = both ? "write-write" : "read-write";
    story->object = object ? ft_strdup(object) : NULL;
    json_t *access = access_of(s, e->thread, own, text_of(own, "kind"));
    add_stack(s, e->thread, access);
    ft_strbuf message = {0};
    ft_strbuf_printf(&message, "%s of %s by ", text_of(own, "kind"), object ? object : "memory");
    say_place(access, &message);
    if (other) {
        claim(events, other);
        json_t *first = access_of(s, e->thread, other, text_of(other, "access"));
        ft_strbuf_printf(&message, " races with %s by ", text_of(other, "access"));
        say_place(first, &message);
        json_array_append_new(story->accesses, first);
    } else {
        say_earlier_use(s, e, &message);
    }
    claim(events, own);
    json_array_append_new(story->accesses, access);
    json_array_append_new(final, own);
    story->message = ft_strbuf_take(&message);
}

/* The latest step that concerns freed memory is the one that freed it. */
static void say_free(const telling *s, const ft_interpreter_error *e, ft_strbuf *message)
{
    for (size_t i = json_array_size(s->steps); i-- > 0 && is_of_freed(e);) {
        const json_t *step = json_array_get(s->steps, i);
        if (!has_byte(step, e->address)) continue;
        ft_strbuf_puts(message, " by ");
        say_place(step, message);
        return;
    }
}

static void tell_failure(telling *s, const ft_interpreter_error *e, ft_story *story, json_t *final,
                         json_t *events)
{
    json_t *step = failing_step(s, e), *access = access_of(s, e->thread, step, "assert");
    ft_strbuf message = {0};
    bool assertion = e->kind == FT_ERROR_ASSERTION;
    add_stack(s, e->thread, access);
    if (assertion) ft_strbuf_printf(&message, "\"%s\" fails by ", e->message);
    say_place(access, &message);
    if (!assertion) ft_strbuf_printf(&message, ": %s", e->message);
    say_free(s, e, &message);
    story->message = ft_strbuf_take(&message);
    story->kind = ft_program_error_name(e->kind);
    claim(events, step);
    json_array_append_new(story->accesses, access);
    json_array_append_new(final, step);
}

static const char *waiting_kind(ft_code code)
{
    switch (code) {
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
        return "lost-wakeup";
    case FT_CODE_SEM_WAIT:
        return "semaphore";
    case FT_CODE_BARRIER_WAIT:
        return "barrier";
    case FT_CODE_JOIN:
        return "join";
    default:
        return "cycle";
    }
}

/* Of threads that wait for others to do something. */
static bool waits(ft_code code)
{
    switch (code) {
    case FT_CODE_LOCK:
    case FT_CODE_READ_LOCK:
    case FT_CODE_WRITE_LOCK:
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
    case FT_CODE_SEM_WAIT:
    case FT_CODE_BARRIER_WAIT:
    case FT_CODE_ONCE:
    case FT_CODE_JOIN:
    case FT_CODE_ATOMIC_BEGIN:
        return true;
    default:
        return false;
    }
}

/* Threads that wait for a lock of another are the finding; else for what nobody will do; joins
 * alone only where nothing else waits. Of a live-lock those that go round. */
static unsigned rank_of(const telling *s, ft_code code)
{
    const char *kind = waiting_kind(code);
    if (s->f.execution->error == FT_ERROR_LIVE_LOCK) return waits(code) ? 2 : 0;
    return strcmp(kind, "join") == 0 ? 2 : strcmp(kind, "cycle") == 0 ? 1 : 0;
}

static void tell_waiting(telling *s, uint32_t t, const ft_interpreter_operation *o, bool chosen,
                         ft_story *story, json_t *final, json_t *events)
{
    json_t *step = operation_step(s, t, o, 0);
    if (!chosen) {
        json_t *waiter = json_object();
        static const char *const SAME[] = {"event", "thread", "location", "function", "text"};
        for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++)
            json_object_set(waiter, SAME[i], json_object_get(step, SAME[i]));
        json_array_append_new(story->waiting, waiter);
        json_decref(step);
        return;
    }
    json_t *access = access_of(s, t, step, kind_of(o));
    add_stack(s, t, access);
    claim(events, step);
    json_array_append_new(story->accesses, access);
    json_array_append_new(final, step);
}

/* The threads of which none goes on. */
static void tell_standing(telling *s, ft_story *story, json_t *final, json_t *events)
{
    enum { MOST = 3 };
    bool circles = s->f.execution->error == FT_ERROR_LIVE_LOCK;
    ft_interpreter_operation o;
    unsigned best = 3;
    uint32_t n = ft_interpreter_thread_count(s->f.m);
    for (uint32_t t = 0; t < n; t++)
        if (ft_interpreter_stands_before(s->f.m, t, &o) && rank_of(s, o.code) < best) {
            best = rank_of(s, o.code);
            story->kind =
                circles ? ft_program_error_name(FT_ERROR_LIVE_LOCK) : waiting_kind(o.code);
        }
    for (uint32_t t = 0; t < n; t++) {
        if (!ft_interpreter_stands_before(s->f.m, t, &o)) continue;
        bool chosen = rank_of(s, o.code) == best && json_array_size(story->accesses) < MOST;
        tell_waiting(s, t, &o, chosen, story, final, events);
    }
    ft_strbuf message = {0};
    for (size_t i = 0; i < json_array_size(story->accesses); i++) {
        const json_t *access = json_array_get(story->accesses, i);
        const char *object = text_of(access, "object");
        ft_strbuf_printf(&message, "%s%s %s", i ? ", " : "", text_of(access, "thread"),
                         circles ? "goes round" : "waits");
        if (object) ft_strbuf_printf(&message, circles ? " on %s" : " for %s", object);
        if (text_of(access, "location"))
            ft_strbuf_printf(&message, " at %s", text_of(access, "location"));
        if (!story->object && object) story->object = ft_strdup(object);
    }
    ft_strbuf_puts(&message,
                   circles ? ", and no thread changes that" : ", and no thread can go on");
    story->message = ft_strbuf_take(&message);
}

static void tell_exit(telling *s, const ft_execution *x, ft_story *story, json_t *final,
                      json_t *events)
{
    uint32_t t = x->schedule.len ? x->schedule.data[x->schedule.len - 1].thread : 0;
    json_t *step = new_step(s, t, "exit");
    set_object(step, json_null());
    json_object_set_new(step, "text", json_sprintf("exit with code %" PRId32, x->exit_code));
    json_t *access = access_of(s, t, step, "exit");
    story->kind = "exit-code";
    ft_strbuf message = {0};
    ft_strbuf_printf(&message, "the program ends with exit code %" PRId32, x->exit_code);
    story->message = ft_strbuf_take(&message);
    claim(events, step);
    json_array_append_new(story->accesses, access);
    json_array_append_new(final, step);
}

static void tell_end(telling *s, ft_story *story, json_t *final, json_t *events)
{
    const ft_interpreter_error *e = ft_interpreter_error_of(s->f.m);
    const ft_execution *x = s->f.execution;
    if (x->error == FT_ERROR_NONE)
        tell_exit(s, x, story, final, events);
    else if (x->error == FT_ERROR_RACE)
        tell_race(s, e, story, final, events);
    else if (ft_followed_stands_still(x->error))
        tell_standing(s, story, final, events);
    else
        tell_failure(s, e, story, final, events);
}

/* ---- the document ---- */

/* Each with the thread that reads it. */
static json_t *inputs_json(const telling *s)
{
    const ft_execution *x = s->f.execution;
    json_t *all = json_array();
    for (size_t i = 0; i < x->inputs.len; i++) {
        const ft_input_value *v = &x->inputs.data[i];
        json_array_append_new(all, json_pack("{s:s, s:i, s:o, s:o}", "name", v->name, "width",
                                             (int)v->width, "value", value_text(v->width, v->value),
                                             "thread", thread_name(s->f.readers.data[i])));
    }
    return all;
}

static json_t *schedule_json(const ft_execution *x)
{
    json_t *all = json_array();
    for (size_t i = 0; i < x->schedule.len; i++) {
        const ft_schedule_step *s = &x->schedule.data[i];
        json_array_append_new(all, json_pack("[i, I]", (int)s->thread, (json_int_t)s->variant));
    }
    return all;
}

static json_t *points_json(const telling *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->f.execution->points.len; i++) {
        const ft_point *p = &s->f.execution->points.data[i];
        json_t *point = json_pack("[s, i]", ft_program_symbol_name(s->p, p->place.function),
                                  (int)p->place.instruction);
        if (p->section) json_array_append_new(point, json_string("section"));
        json_array_append_new(all, point);
    }
    return all;
}

static int switches_in(const json_t *steps, const json_t *final)
{
    int n = 0;
    const json_t *last = NULL;
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *thread = json_object_get(json_array_get(steps, i), "thread");
        if (last && !json_equal(last, thread)) n++;
        last = thread;
    }
    const json_t *end = json_object_get(json_array_get(final, 0), "thread");
    return n + (last && end && !json_equal(last, end));
}

static bool is_claimed(const json_t *events, const json_t *step)
{
    for (size_t i = 0; i < json_array_size(events); i++)
        if (json_equal(json_array_get(events, i), json_object_get(step, "event"))) return true;
    return false;
}

/* Adds the step to the stretch that ends before it, if that is one of its thread. */
static bool is_continued(json_t *stretch, const json_t *step)
{
    json_t *steps = json_object_get(stretch, "steps");
    if (!steps || !json_equal(json_object_get(stretch, "thread"), json_object_get(step, "thread")))
        return false;
    json_object_set(stretch, "until", json_object_get(step, "event"));
    json_integer_set(steps, json_integer_value(steps) + 1);
    return true;
}

static json_t *described(json_t *steps, const json_t *events)
{
    size_t n = json_array_size(steps), from = n > MOST_STEPS ? n - FULL_STEPS : 0;
    json_t *made = json_array(), *last = NULL;
    for (size_t i = 0; i < n; i++) {
        json_t *step = json_array_get(steps, i);
        bool whole = i >= from || is_claimed(events, step);
        json_object_del(step, "locks");
        json_object_del(step, "shared");
        json_object_del(step, "bytes");
        if (!whole && last && is_continued(last, step)) continue;
        last = whole ? NULL
                     : json_pack("{s:O, s:O, s:O, s:i}", "event", json_object_get(step, "event"),
                                 "thread", json_object_get(step, "thread"), "until",
                                 json_object_get(step, "event"), "steps", 1);
        json_array_append(made, whole ? step : last);
        if (last) json_decref(last);
    }
    return made;
}

static void make_document(telling *s, ft_story *story, json_t *final, json_t *events)
{
    char hash[FT_DIGEST_HEX + 1];
    const ft_execution *x = s->f.execution;
    json_t *claimed =
        json_pack("{s:s, s:O}", "kind", x->error ? ft_program_error_name(x->error) : "exit-code",
                  "events", events);
    if (!x->error) json_object_set_new(claimed, "code", json_integer(x->exit_code));
    if (x->error && !ft_followed_stands_still(x->error))
        json_object_set_new(claimed, "thread", json_integer(x->thread));
    json_t *steps = described(s->steps, events);
    ft_program_hash(s->p, hash);
    story->witness =
        json_pack("{s:s, s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:O, s:O, s:i, s:i}", "format",
                  "foretell-witness", "version", 1, "program", hash, "model", "ctp", "memory", "sc",
                  "claim", claimed, "inputs", inputs_json(s), "schedule", schedule_json(x),
                  "points", points_json(s), "steps", steps, "final", final, "members",
                  (int)json_array_size(s->steps), "switches", switches_in(s->steps, final));
    json_object_set(story->witness, "operations", s->operations.steps);
    json_object_set(story->witness, "places", s->operations.places);
    json_object_set(story->witness, "standing", s->operations.standing);
    json_decref(steps);
}

/* The parts that every execution with the bug shares: its kind and places. */
static void make_key(ft_story *story)
{
    ft_strbuf key = {0};
    size_t n = json_array_size(story->accesses);
    const char *places[8] = {0};
    for (size_t i = 0; i < n && i < 8; i++) {
        const char *at = text_of(json_array_get(story->accesses, i), "location");
        places[i] = at ? at : "?";
        for (size_t k = i; k > 0 && strcmp(places[k], places[k - 1]) < 0; k--) {
            const char *other = places[k];
            places[k] = places[k - 1];
            places[k - 1] = other;
        }
    }
    ft_strbuf_puts(&key, story->kind);
    for (size_t i = 0; i < n && i < 8; i++) ft_strbuf_printf(&key, "|%s", places[i]);
    story->key = ft_strbuf_take(&key);
}

/* ---- the whole ---- */

static void release(telling *s)
{
    ft_followed_release(&s->f);
    ft_operations_release(&s->operations);
    ft_vec_release(&s->users);
    ft_vec_release(&s->written);
    for (int t = 0; t < FT_INTERPRETER_THREADS; t++) ft_vec_release(&s->locks[t]);
    json_decref(s->steps);
    json_decref(s->sources);
}

/* The first pass: which objects several threads use. */
static ft_status count_users(telling *s, const ft_program *numbered, const ft_execution *x,
                             ft_error *err)
{
    ft_status status = FT_OK;
    s->counting = true;
    ft_followed_begin(&s->f, numbered, x, on_access);
    for (size_t i = 0; i < x->schedule.len && status == FT_OK; i++)
        status = ft_followed_step(&s->f, i, err);
    if (status == FT_OK) status = ft_followed_end(&s->f, err);
    if (status == FT_OK) count_failing(s, ft_interpreter_error_of(s->f.m));
    ft_followed_release(&s->f);
    s->counting = false;
    return status;
}

ft_status ft_execution_tell(const ft_program *numbered, const ft_execution *execution,
                            ft_story *story, ft_error *err)
{
    telling s = {.steps = json_array(), .sources = json_object()};
    *story = (ft_story){.accesses = json_array(), .waiting = json_array()};
    ft_status status = count_users(&s, numbered, execution, err);
    ft_followed_begin(&s.f, numbered, execution, on_access);
    s.p = numbered;
    ft_operations_begin(&s.operations);
    for (size_t i = 0; i < execution->schedule.len && status == FT_OK; i++)
        status = tell_step(&s, i, err);
    if (status == FT_OK) {
        json_t *final = json_array(), *events = json_array();
        ft_operations_end(&s.operations, &s.f);
        tell_end(&s, story, final, events);
        make_document(&s, story, final, events);
        make_key(story);
        story->sources = json_incref(s.sources);
        json_decref(final);
        json_decref(events);
    }
    release(&s);
    if (status != FT_OK) ft_story_release(story);
    return status;
}

void ft_story_release(ft_story *story)
{
    json_decref(story->witness);
    json_decref(story->accesses);
    json_decref(story->waiting);
    json_decref(story->sources);
    free(story->message);
    free(story->object);
    free(story->key);
    *story = (ft_story){0};
}
