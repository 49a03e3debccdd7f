/* From a witness of a program to the order of actions that a native build follows (raw/follow.h):
 * operations become entries, and PATH:LINE the code that the build has for that line. */
#include <stdlib.h>
#include <string.h>

#include "explore/action.h"
#include "maker/symbols/line_ranges.h"
#include "program/instruction.h"
#include "programs/programs.h"
#include "raw/follow.h"

typedef struct order {
    const json_t *witness;
    FT_VEC(ft_follow_entry) entries;
    FT_VEC(ft_follow_actor) actors;
    FT_VEC(ft_follow_range) ranges;
    FT_VEC(ft_follow_input) inputs;
    FT_VEC(ft_source_line) lines; /* by place - 1 */
    FT_VEC(ft_follow_place) places;
    uint32_t objects;
    ft_entry_steps *steps;
    const char *program;
} order;

/* ---- operations. Those without a row have no hook in a native program. */

static const struct {
    ft_code code;
    bool second;
    uint32_t kind, hook;
} ROWS[] = {
    {FT_CODE_LOCK, false, FT_X_LOCK, FT_FOLLOW_CALL},
    {FT_CODE_TRY_LOCK, false, FT_X_TRY_LOCK, FT_FOLLOW_CALL},
    {FT_CODE_TIMED_LOCK, false, FT_X_LOCK, FT_FOLLOW_CALL},
    {FT_CODE_UNLOCK, false, FT_X_UNLOCK, FT_FOLLOW_CALL},
    {FT_CODE_MUTEX_INIT, false, FT_X_NONE, FT_FOLLOW_CALL},
    {FT_CODE_MUTEX_DESTROY, false, FT_X_NONE, FT_FOLLOW_CALL},
    {FT_CODE_RW_INIT, false, FT_X_NONE, FT_FOLLOW_CALL},
    {FT_CODE_RW_DESTROY, false, FT_X_NONE, FT_FOLLOW_CALL},
    {FT_CODE_READ_LOCK, false, FT_X_READ_LOCK, FT_FOLLOW_CALL},
    {FT_CODE_WRITE_LOCK, false, FT_X_WRITE_LOCK, FT_FOLLOW_CALL},
    {FT_CODE_TRY_READ_LOCK, false, FT_X_TRY_READ_LOCK, FT_FOLLOW_CALL},
    {FT_CODE_TRY_WRITE_LOCK, false, FT_X_TRY_WRITE_LOCK, FT_FOLLOW_CALL},
    {FT_CODE_RW_UNLOCK, false, FT_X_READ_UNLOCK, FT_FOLLOW_CALL},
    {FT_CODE_COND_INIT, false, FT_X_NONE, FT_FOLLOW_CALL},
    {FT_CODE_COND_DESTROY, false, FT_X_NONE, FT_FOLLOW_CALL},
    {FT_CODE_WAIT, false, FT_X_WAIT, FT_FOLLOW_CALL},
    {FT_CODE_WAIT, true, FT_X_WAKE, FT_FOLLOW_CALL},
    {FT_CODE_TIMED_WAIT, false, FT_X_WAIT, FT_FOLLOW_CALL},
    {FT_CODE_TIMED_WAIT, true, FT_X_WAKE, FT_FOLLOW_CALL},
    {FT_CODE_SIGNAL, false, FT_X_SIGNAL, FT_FOLLOW_CALL},
    {FT_CODE_BROADCAST, false, FT_X_BROADCAST, FT_FOLLOW_CALL},
    {FT_CODE_SEM_INIT, false, FT_X_NONE, FT_FOLLOW_CALL},
    {FT_CODE_SEM_DESTROY, false, FT_X_NONE, FT_FOLLOW_CALL},
    {FT_CODE_SEM_WAIT, false, FT_X_TAKE, FT_FOLLOW_CALL},
    {FT_CODE_SEM_TRY, false, FT_X_TRY_TAKE, FT_FOLLOW_CALL},
    {FT_CODE_SEM_TIMED, false, FT_X_TAKE, FT_FOLLOW_CALL},
    {FT_CODE_SEM_POST, false, FT_X_POST, FT_FOLLOW_CALL},
    {FT_CODE_SEM_COUNT, false, FT_X_COUNT, FT_FOLLOW_CALL},
    {FT_CODE_BARRIER_INIT, false, FT_X_NONE, FT_FOLLOW_CALL},
    {FT_CODE_BARRIER_DESTROY, false, FT_X_NONE, FT_FOLLOW_CALL},
    {FT_CODE_BARRIER_WAIT, false, FT_X_ARRIVE, FT_FOLLOW_CALL},
    {FT_CODE_BARRIER_WAIT, true, FT_X_LEAVE, FT_FOLLOW_CALL},
    {FT_CODE_ONCE, false, FT_X_ONCE_BEGIN, FT_FOLLOW_CALL},
    {FT_CODE_ONCE, true, FT_X_ONCE_END, FT_FOLLOW_CALL},
    {FT_CODE_CREATE, false, FT_X_CREATE, FT_FOLLOW_CALL},
    {FT_CODE_JOIN, false, FT_X_JOIN, FT_FOLLOW_CALL},
    {FT_CODE_LOAD, false, FT_X_READ, FT_FOLLOW_READ},
    {FT_CODE_STORE, false, FT_X_WRITE, FT_FOLLOW_WRITE},
    {FT_CODE_ATOMIC_LOAD, false, FT_X_LOAD, FT_FOLLOW_ATOMIC},
    {FT_CODE_ATOMIC_STORE, false, FT_X_STORE, FT_FOLLOW_ATOMIC},
    {FT_CODE_ATOMIC_UPDATE, false, FT_X_UPDATE, FT_FOLLOW_ATOMIC},
    {FT_CODE_ATOMIC_SWAP, false, FT_X_SWAP, FT_FOLLOW_ATOMIC},
    {FT_CODE_EXIT, false, FT_X_EXIT, FT_FOLLOW_CALL},
    {FT_CODE_FAIL, false, FT_X_EXIT, FT_FOLLOW_ANY_HOOK},
};

/* An element of `operations`, or one of `standing` from its second on. */
typedef struct operation {
    const char *name;
    bool second;
    uint32_t object, place;
} operation;

static bool read_operation(const order *o, const json_t *json, size_t first, operation *op)
{
    json_int_t second = json_integer_value(json_array_get(json, first + 1)),
               object = json_integer_value(json_array_get(json, first + 2)),
               place = json_integer_value(json_array_get(json, first + 3));
    op->name = json_string_value(json_array_get(json, first));
    op->second = second == 1;
    op->object = (uint32_t)object;
    op->place = (uint32_t)place;
    return op->name && object >= 0 && object < FT_FOLLOW_NONE && place >= 0 &&
           (size_t)place <= o->lines.len;
}

/* False: a native program has no hook there. */
static bool find_row(const operation *op, uint32_t *kind, uint32_t *hook)
{
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        if (ROWS[i].second != op->second) continue;
        if (strcmp(ft_instruction_row_of(ROWS[i].code)->name, op->name) != 0) continue;
        *kind = ROWS[i].kind;
        *hook = ROWS[i].hook;
        return true;
    }
    return false;
}

static bool is(const operation *op, const char *name)
{
    return strcmp(op->name, name) == 0;
}

static ft_follow_place place_at(const order *o, uint32_t place)
{
    return place ? o->places.data[place - 1] : (ft_follow_place){.module = FT_FOLLOW_NONE};
}

/* ---- places */

/* The C++ library's headers have calls of several lines, which compilers place differently. */
enum { STATEMENT = 3 };

static ft_status read_places(order *o, ft_error *err)
{
    const json_t *all = json_object_get(o->witness, "places");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const char *text = json_string_value(json_array_get(all, i));
        const char *colon = text ? strrchr(text, ':') : NULL;
        const char *slash = text ? strrchr(text, '/') : NULL;
        if (!colon)
            return ft_error_set(err, FT_INPUT,
                                "the witness's member \"places\" is wrong at its "
                                "element %zu",
                                i);
        const char *name = slash && slash < colon ? slash + 1 : text;
        uint32_t line = (uint32_t)strtoul(colon + 1, NULL, 10);
        bool of_system = strncmp(text, "/usr/", 5) == 0;
        ft_vec_push(&o->lines, (ft_source_line){.file = ft_strndup(name, (size_t)(colon - name)),
                                                .line = line,
                                                .last = line + (of_system ? STATEMENT : 0)});
    }
    return FT_OK;
}

static ft_status find_code(order *o, const char *program, ft_error *err)
{
    ft_status status = ft_line_ranges_find(program, o->lines.data, o->lines.len, err);
    for (size_t i = 0; i < o->lines.len && status == FT_OK; i++) {
        const ft_line_ranges *code = &o->lines.data[i].code;
        ft_follow_place place = {.module = code->len ? 0 : FT_FOLLOW_NONE,
                                 .first = (uint32_t)o->ranges.len,
                                 .n = (uint32_t)code->len};
        for (size_t r = 0; r < code->len; r++)
            ft_vec_push(&o->ranges, (ft_follow_range){code->data[r].from, code->data[r].to});
        ft_vec_push(&o->places, place);
    }
    return status;
}

/* ---- threads and steps. Actors have the witness's numbers of threads. */

static void add_actor(order *o, uint32_t number, uint32_t parent)
{
    uint32_t child = 1;
    for (size_t i = 0; i < o->actors.len; i++) child += o->actors.data[i].parent == parent;
    ft_follow_actor none = {.parent = FT_FOLLOW_NONE - 1, .place = {.module = FT_FOLLOW_NONE}};
    while (o->actors.len <= number) ft_vec_push(&o->actors, none);
    o->actors.data[number].parent = parent;
    o->actors.data[number].child = parent == FT_FOLLOW_NONE ? 0 : child;
}

/* Was the error the operation's before, which has the place's hook? */
static bool is_by_operation(const order *o, const ft_follow_entry *e, size_t step)
{
    if (!o->entries.len) return false;
    const ft_follow_entry *last = &o->entries.data[o->entries.len - 1];
    return o->steps->data[o->steps->len - 1] + 1 == step && last->actor == e->actor &&
           last->kind != FT_FOLLOW_BEGIN && last->place.n && last->place.first == e->place.first;
}

static ft_status add_entry(order *o, uint32_t thread, uint64_t variant, const operation *op,
                           size_t step, ft_error *err)
{
    ft_follow_entry e = {.actor = thread, .place = place_at(o, op->place)};
    bool of_thread = is(op, "create") || is(op, "join");
    const char *claim =
        json_string_value(json_object_get(json_object_get(o->witness, "claim"), "kind"));
    if (is(op, "create")) add_actor(o, op->object, thread);
    if (is(op, "begin") && thread == 0) return FT_OK;
    if (is(op, "begin"))
        e.kind = FT_FOLLOW_BEGIN;
    else if (!find_row(op, &e.kind, &e.hook) || (!op->place && e.kind != FT_X_EXIT))
        return FT_OK;
    if (is(op, "exit")) e.place.module = FT_FOLLOW_NONE; /* behind all that exit() does */
    bool race = claim && strcmp(claim, "race") == 0;
    if (is(op, "fail") && race) e.hook = FT_FOLLOW_ACCESS;
    if (is(op, "fail") && !race && is_by_operation(o, &e, step)) return FT_OK;
    if (e.kind == FT_X_SIGNAL || e.kind == FT_X_WAKE) e.variant = (uint32_t)variant;
    if (!of_thread) e.object = op->object;
    if (e.object > o->objects) o->objects = e.object;
    bool needs_code = e.kind < FT_X_KINDS && e.kind != FT_X_EXIT;
    if (needs_code && e.place.module == FT_FOLLOW_NONE)
        return ft_error_set(err, FT_INPUT,
                            "%s has no code for %s:%u: build it from the same source", o->program,
                            o->lines.data[op->place - 1].file, o->lines.data[op->place - 1].line);
    ft_vec_push(&o->entries, e);
    ft_vec_push(o->steps, (uint32_t)step);
    return FT_OK;
}

static ft_status wrong_step(ft_error *err, size_t i)
{
    return ft_error_set(err, FT_INPUT, "the witness is wrong at step %zu of its schedule", i + 1);
}

static ft_status read_steps(order *o, ft_error *err)
{
    const json_t *schedule = json_object_get(o->witness, "schedule"),
                 *operations = json_object_get(o->witness, "operations");
    if (!json_is_array(operations) || json_array_size(operations) != json_array_size(schedule))
        return ft_error_set(err, FT_INPUT,
                            "the witness has no operations: make it again with this version");
    for (size_t i = 0; i < json_array_size(schedule); i++) {
        const json_t *step = json_array_get(schedule, i);
        json_int_t thread = json_integer_value(json_array_get(step, 0)),
                   variant = json_integer_value(json_array_get(step, 1));
        operation op;
        if (thread < 0 || (size_t)thread >= o->actors.len || variant < 0) return wrong_step(err, i);
        if (!read_operation(o, json_array_get(operations, i), 0, &op)) return wrong_step(err, i);
        if (is(&op, "create") && op.object >= FT_X_THREADS) return wrong_step(err, i);
        ft_status status = add_entry(o, (uint32_t)thread, (uint64_t)variant, &op, i, err);
        if (status) return status;
    }
    return FT_OK;
}

/* Where threads stand at the end; the thread of the error has its entry. */
static ft_status read_standing(order *o, ft_error *err)
{
    const json_t *all = json_object_get(o->witness, "standing");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i);
        json_int_t thread = json_integer_value(json_array_get(one, 0));
        operation op;
        uint32_t kind;
        if (thread < 0 || (size_t)thread >= o->actors.len || !read_operation(o, one, 1, &op))
            return ft_error_set(err, FT_INPUT,
                                "the witness's member \"standing\" is wrong at its "
                                "element %zu",
                                i);
        ft_follow_actor *a = &o->actors.data[thread];
        a->idle = is(&op, "begin");
        if (!op.second && !is(&op, "fail") && find_row(&op, &kind, &a->hook))
            a->place = place_at(o, op.place);
    }
    return FT_OK;
}

static uint32_t thread_called(const char *name)
{
    return name && name[0] == 'T' ? (uint32_t)strtoul(name + 1, NULL, 10) : 0;
}

static ft_status read_inputs(order *o, ft_error *err)
{
    const json_t *all = json_object_get(o->witness, "inputs");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i);
        const char *name = json_string_value(json_object_get(one, "name"));
        const char *value = json_string_value(json_object_get(one, "value"));
        if (!name || !value)
            return ft_error_set(err, FT_INPUT,
                                "the witness's member \"inputs\" is wrong at its "
                                "element %zu",
                                i);
        ft_follow_input input = {
            .actor = thread_called(json_string_value(json_object_get(one, "thread"))),
            .value = (uint64_t)strtoll(value, NULL, 10)};
        size_t length = strnlen(name, sizeof input.name - 1);
        memcpy(input.name, name, length);
        ft_vec_push(&o->inputs, input);
    }
    return FT_OK;
}

/* ---- the whole */

static void print(const order *o, ft_strbuf *out)
{
    ft_follow_module program = {{0}};
    ft_follow head = {.entries = (uint32_t)o->entries.len,
                      .actors = (uint32_t)o->actors.len,
                      .modules = 1,
                      .ranges = (uint32_t)o->ranges.len,
                      .inputs = (uint32_t)o->inputs.len,
                      .objects = o->objects};
    const struct {
        const void *data;
        size_t size;
    } parts[] = {{&head, sizeof head},
                 {o->entries.data, o->entries.len * sizeof *o->entries.data},
                 {o->actors.data, o->actors.len * sizeof *o->actors.data},
                 {&program, sizeof program},
                 {o->ranges.data, o->ranges.len * sizeof *o->ranges.data},
                 {o->inputs.data, o->inputs.len * sizeof *o->inputs.data}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].size) ft_strbuf_add(out, parts[i].data, parts[i].size);
}

static void release(order *o)
{
    for (size_t i = 0; i < o->lines.len; i++) {
        free((char *)(uintptr_t)o->lines.data[i].file);
        ft_vec_release(&o->lines.data[i].code);
    }
    ft_vec_release(&o->lines);
    ft_vec_release(&o->places);
    ft_vec_release(&o->entries);
    ft_vec_release(&o->actors);
    ft_vec_release(&o->ranges);
    ft_vec_release(&o->inputs);
}

ft_status ft_witness_order(const json_t *witness, const char *program, ft_strbuf *out,
                           ft_entry_steps *steps, ft_error *err)
{
    order o = {.witness = witness, .steps = steps, .program = program};
    add_actor(&o, 0, FT_FOLLOW_NONE);
    ft_status status = read_places(&o, err);
    if (status == FT_OK) status = find_code(&o, program, err);
    if (status == FT_OK) status = read_steps(&o, err);
    if (status == FT_OK) status = read_standing(&o, err);
    if (status == FT_OK) status = read_inputs(&o, err);
    if (status == FT_OK) print(&o, out);
    release(&o);
    return status;
}

bool ft_witness_place(const json_t *witness, size_t step, char *out, size_t room)
{
    const json_t *one = json_array_get(json_object_get(witness, "operations"), step);
    json_int_t place = json_integer_value(json_array_get(one, 3));
    const char *text = place > 0 ? json_string_value(json_array_get(
                                       json_object_get(witness, "places"), (size_t)place - 1))
                                 : NULL;
    const char *slash = text ? strrchr(text, '/') : NULL;
    const char *name = json_string_value(json_array_get(one, 0));
    if (!name) return false;
    int n = snprintf(out, room, "%s at %s", name, text ? slash ? slash + 1 : text : "?");
    return n > 0 && (size_t)n < room;
}
