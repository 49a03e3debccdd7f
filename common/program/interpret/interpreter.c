#include "program/interpret/interpreter.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/interpret/internal.h"
#include "program/loops.h"

static const char *const STATES[FT_INTERPRETER_STATES] = {
#define FT_ROW(symbol, name, meaning) [FT_INTERPRETER_##symbol] = name,
    FT_INTERPRETER_STATE_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_interpreter_state_name(ft_interpreter_state state)
{
    FT_REQUIRE(state < FT_INTERPRETER_STATES);
    return STATES[state];
}

/* ---- errors and places ---- */

const ft_instruction *ft_interpreter_instruction(const ft_interpreter *m, uint32_t t)
{
    const interpreted_thread *th = &m->threads.data[t];
    if (!th->frames.len) return NULL;
    const frame *f = &th->frames.data[th->frames.len - 1];
    return &f->function->instructions.data[f->at];
}

ft_interpreter_place ft_interpreter_place_of(const ft_interpreter *m, uint32_t t)
{
    const interpreted_thread *th = &m->threads.data[t];
    if (!th->frames.len) return (ft_interpreter_place){FT_NO_SYMBOL, 0};
    const frame *f = &th->frames.data[th->frames.len - 1];
    return (ft_interpreter_place){f->function->symbol, f->at};
}

bool ft_interpreter_fail(ft_interpreter *m, uint32_t t, ft_program_error kind, const char *format,
                         ...)
{
    ft_interpreter_error *e = &m->error;
    *e = (ft_interpreter_error){.kind = kind,
                                .thread = t,
                                .place = ft_interpreter_place_of(m, t),
                                .other = {FT_NO_SYMBOL, 0}};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e->message, sizeof e->message, format, arguments);
    va_end(arguments);
    if (kind == FT_ERROR_LIMIT)
        m->state = FT_INTERPRETER_STOPPED;
    else
        m->threads.data[t].failing = true, m->threads.data[t].error = *e;
    return false;
}

bool ft_interpreter_error_at(ft_interpreter *m, uint32_t t, uint64_t address)
{
    assert(m->threads.data[t].failing && m->error.thread == t);
    m->error.address = address;
    m->threads.data[t].error = m->error;
    return false;
}

/* ---- a new interpreter ---- */

enum { FUNCTIONS = 1 << 20, FUNCTION_SIZE = 16 };

static void place_functions(ft_interpreter *m)
{
    const ft_program *p = m->program;
    m->function_base = ft_calloc(p->symbols.len + 1, sizeof *m->function_base);
    for (size_t i = 0; i < p->functions.len; i++) {
        uint32_t symbol = p->functions.data[i].symbol;
        m->function_base[symbol] = FUNCTIONS + FUNCTION_SIZE * i;
        ft_map_put(&m->functions, m->function_base[symbol], symbol);
    }
}

void ft_interpreter_fill_object(ft_interpreter *m, uint32_t number, const ft_object *o)
{
    const ft_program *p = m->program;
    memory_object *to = &m->objects.data[number];
    for (uint32_t i = 0; i < o->n_initial; i++) {
        const ft_initial *part = &p->initials.data[o->initial + i];
        if (part->symbol == FT_NO_SYMBOL) {
            memcpy(to->bytes + part->offset, p->texts.names[part->text],
                   p->texts.lengths[part->text]);
            continue;
        }
        const ft_program_symbol *s = &p->symbols.data[part->symbol];
        bool function = s->kind == FT_FUNCTION;
        uint32_t of = function ? 0 : m->globals[s->index] + 1;
        uint64_t base = function ? m->function_base[part->symbol] : m->objects.data[of - 1].base;
        uint64_t bits = base + part->addend;
        for (int k = 0; k < 8; k++)
            to->bytes[part->offset + (uint64_t)k] = (unsigned char)(bits >> 8 * k);
        if (!to->pointees) to->pointees = ft_calloc(to->size / 8 + 1, sizeof *to->pointees);
        if (part->offset % 8 == 0) to->pointees[part->offset / 8] = of;
    }
}

/* All are made before any is filled, since they may hold each other's addresses. */
static bool make_globals(ft_interpreter *m)
{
    const ft_program *p = m->program;
    m->globals = ft_calloc(p->objects.len + 1, sizeof *m->globals);
    for (size_t i = 0; i < p->objects.len; i++) {
        const ft_object *o = &p->objects.data[i];
        if (o->by_thread) continue;
        if (!ft_memory_fits(m, 0, o->size)) return false;
        m->globals[i] = ft_memory_new(m, &m->next_global, o->size, o->align);
        m->objects.data[m->globals[i]].constant = o->constant;
    }
    for (size_t i = 0; i < p->objects.len; i++)
        if (!p->objects.data[i].by_thread)
            ft_interpreter_fill_object(m, m->globals[i], &p->objects.data[i]);
    return true;
}

static void start_main(ft_interpreter *m)
{
    uint32_t symbol = ft_intern_find(&m->program->names, "main", 4);
    const ft_function *f = ft_program_function(m->program, symbol);
    word zeros[2] = {{0, 0}, {0, 0}};
    m->threads.data[0].next_base = UINT64_C(1) << 40;
    m->threads.data[0].clock.of[0] = 1;
    if (ft_run_thread_objects(m, 0)) ft_run_call(m, 0, f, zeros, f->blocks.data[0].n_parameters, 0);
}

static void set_options(ft_interpreter *m, const ft_interpreter_options *options)
{
    if (options) m->options = *options;
    if (!m->options.max_steps) m->options.max_steps = 10000000;
    if (!m->options.max_bytes) m->options.max_bytes = UINT64_C(256) << 20;
    if (!m->options.max_threads) m->options.max_threads = FT_INTERPRETER_THREADS;
    FT_REQUIRE(m->options.max_threads <= FT_INTERPRETER_THREADS);
}

ft_interpreter *ft_interpreter_new(const ft_program *program, const ft_interpreter_options *options)
{
    FT_REQUIRE(program);
    ft_interpreter *m = ft_calloc(1, sizeof *m);
    m->program = program;
    m->next_global = UINT64_C(1) << 32;
    set_options(m, options);
    ft_vec_push(&m->threads, (interpreted_thread){.exists = true});
    place_functions(m);
    if (make_globals(m)) start_main(m);
    return m;
}

static void release_thread(interpreted_thread *t)
{
    ft_vec_release(&t->frames);
    ft_vec_release(&t->values);
    ft_vec_release(&t->stack);
    free(t->own);
}

void ft_interpreter_free(ft_interpreter *interpreter)
{
    if (!interpreter) return;
    for (size_t i = 0; i < interpreter->objects.len; i++)
        ft_memory_release(&interpreter->objects.data[i]);
    for (size_t i = 0; i < interpreter->threads.len; i++)
        release_thread(&interpreter->threads.data[i]);
    ft_vec_release(&interpreter->objects);
    ft_vec_release(&interpreter->threads);
    ft_vec_release(&interpreter->syncs);
    ft_vec_release(&interpreter->releases);
    ft_vec_release(&interpreter->many);
    ft_vec_release(&interpreter->inputs);
    ft_map_release(&interpreter->sync_at);
    ft_map_release(&interpreter->release_at);
    ft_map_release(&interpreter->functions);
    free(interpreter->globals);
    free(interpreter->function_base);
    free(interpreter);
}

/* ---- a copy ---- */

static void *copied(const void *from, size_t n)
{
    if (!from) return NULL;
    void *to = ft_alloc(n ? n : 1);
    memcpy(to, from, n);
    return to;
}

#define COPY_VEC(to, from)                                                                         \
    ((to)->data = (from)->len ? copied((from)->data, (from)->len * sizeof *(from)->data) : NULL,   \
     (to)->len = (from)->len, (to)->cap = (from)->len)

static ft_map copied_map(const ft_map *from)
{
    return (ft_map){copied(from->keys, from->cap * sizeof *from->keys),
                    copied(from->values, from->cap * sizeof *from->values),
                    copied(from->full, from->cap * sizeof *from->full), from->len, from->cap};
}

static void copy_object(memory_object *o)
{
    o->bytes = copied(o->bytes, o->size);
    o->pointees = copied(o->pointees, (o->size / 8 + 1) * sizeof *o->pointees);
    o->shadow = copied(o->shadow, o->size * sizeof *o->shadow);
}

static void copy_thread(interpreted_thread *t, const interpreted_thread *from, size_t n_objects)
{
    COPY_VEC(&t->frames, &from->frames);
    COPY_VEC(&t->values, &from->values);
    COPY_VEC(&t->stack, &from->stack);
    t->own = copied(from->own, (n_objects + 1) * sizeof *t->own);
}

ft_interpreter *ft_interpreter_copy(const ft_interpreter *from)
{
    FT_REQUIRE(from);
    size_t n = from->program->objects.len;
    ft_interpreter *m = copied(from, sizeof *from);
    COPY_VEC(&m->objects, &from->objects);
    COPY_VEC(&m->threads, &from->threads);
    COPY_VEC(&m->syncs, &from->syncs);
    COPY_VEC(&m->releases, &from->releases);
    COPY_VEC(&m->many, &from->many);
    COPY_VEC(&m->inputs, &from->inputs);
    for (size_t i = 0; i < m->objects.len; i++) copy_object(&m->objects.data[i]);
    for (size_t i = 0; i < m->threads.len; i++)
        copy_thread(&m->threads.data[i], &from->threads.data[i], n);
    m->sync_at = copied_map(&from->sync_at);
    m->release_at = copied_map(&from->release_at);
    m->functions = copied_map(&from->functions);
    m->globals = copied(from->globals, (n + 1) * sizeof *m->globals);
    m->function_base =
        copied(from->function_base, (from->program->symbols.len + 1) * sizeof *m->function_base);
    return m;
}

/* ---- what a interpreter says ---- */

ft_interpreter_state ft_interpreter_state_of(const ft_interpreter *interpreter)
{
    return interpreter->state;
}

int32_t ft_interpreter_exit_code(const ft_interpreter *interpreter)
{
    return interpreter->exit_code;
}

const ft_interpreter_error *ft_interpreter_error_of(const ft_interpreter *interpreter)
{
    return &interpreter->error;
}

uint32_t ft_interpreter_thread_count(const ft_interpreter *interpreter)
{
    return (uint32_t)interpreter->threads.len;
}

uint64_t ft_interpreter_operand(const ft_interpreter *interpreter, uint32_t thread, uint32_t i)
{
    FT_REQUIRE(thread < interpreter->threads.len && interpreter->threads.data[thread].frames.len);
    return ft_run_operand(interpreter, thread, ft_interpreter_instruction(interpreter, thread), i)
        .bits;
}

ft_interpreter_object ft_interpreter_object_at(const ft_interpreter *interpreter, uint64_t address)
{
    uint64_t number;
    if (!ft_map_get(&interpreter->sync_at, address, &number)) return (ft_interpreter_object){0};
    const sync_object *s = &interpreter->syncs.data[number];
    return (ft_interpreter_object){s->owner,   s->count,   s->total,
                                   s->readers, s->waiters, s->mutex_kind};
}

uint64_t ft_interpreter_instructions(const ft_interpreter *interpreter)
{
    return interpreter->instructions;
}

uint64_t ft_interpreter_address(const ft_interpreter *interpreter, uint32_t symbol)
{
    const ft_object *o = ft_program_object(interpreter->program, symbol);
    FT_REQUIRE(o && !o->by_thread);
    return interpreter->objects.data[interpreter->globals[o - interpreter->program->objects.data]]
        .base;
}

bool ft_interpreter_read(const ft_interpreter *interpreter, uint64_t address, size_t n, void *bytes)
{
    for (size_t i = 0; i < interpreter->objects.len; i++) {
        const memory_object *o = &interpreter->objects.data[i];
        if (o->freed || address < o->base || address - o->base > o->size) continue;
        if (n > o->size - (address - o->base)) return false;
        memcpy(bytes, o->bytes + (address - o->base), n);
        return true;
    }
    return false;
}

uint32_t ft_interpreter_stack(const ft_interpreter *interpreter, uint32_t thread,
                              ft_interpreter_place *places, uint32_t room)
{
    FT_REQUIRE(thread < interpreter->threads.len);
    const interpreted_thread *th = &interpreter->threads.data[thread];
    uint32_t n = (uint32_t)th->frames.len;
    for (uint32_t i = 0; i < n && i < room; i++) {
        const frame *f = &th->frames.data[n - 1 - i];
        places[i] = (ft_interpreter_place){f->function->symbol, f->at};
    }
    return n;
}

uint64_t ft_interpreter_register(const ft_interpreter *interpreter, uint32_t thread, uint32_t depth,
                                 uint32_t index)
{
    FT_REQUIRE(thread < interpreter->threads.len);
    const interpreted_thread *t = &interpreter->threads.data[thread];
    FT_REQUIRE(depth < t->frames.len);
    FT_REQUIRE(index < t->frames.data[depth].function->registers.len);
    return t->values.data[t->frames.data[depth].registers + index].bits;
}

uint64_t ft_interpreter_symbol_address(const ft_interpreter *interpreter, uint32_t thread,
                                       uint32_t symbol)
{
    FT_REQUIRE(thread < interpreter->threads.len);
    const ft_object *o = ft_program_object(interpreter->program, symbol);
    if (o && o->by_thread && !interpreter->threads.data[thread].own) return 0;
    return ft_run_address_of(interpreter, thread, symbol).bits;
}

uint32_t ft_interpreter_objects(const ft_interpreter *interpreter)
{
    return (uint32_t)interpreter->objects.len;
}

uint32_t ft_interpreter_syncs(const ft_interpreter *interpreter)
{
    return (uint32_t)interpreter->syncs.len;
}

uint64_t ft_interpreter_sync_address(const ft_interpreter *interpreter, uint32_t n)
{
    FT_REQUIRE(n < interpreter->syncs.len);
    return interpreter->syncs.data[n].address;
}

bool ft_interpreter_result(const ft_interpreter *interpreter, uint32_t thread, uint64_t *result)
{
    if (thread >= interpreter->threads.len || !interpreter->threads.data[thread].ended)
        return false;
    return *result = interpreter->threads.data[thread].result.bits, true;
}

bool ft_interpreter_is_unjoinable(const ft_interpreter *interpreter, uint32_t thread)
{
    FT_REQUIRE(thread < interpreter->threads.len);
    const interpreted_thread *t = &interpreter->threads.data[thread];
    return t->joined || t->detached;
}

static uint32_t symbol_of(const ft_interpreter *m, uint32_t number)
{
    const ft_program *p = m->program;
    for (uint32_t i = 0; i < p->objects.len; i++) {
        bool own = p->objects.data[i].by_thread;
        for (size_t t = 0; own && t < m->threads.len; t++)
            if (m->threads.data[t].own && m->threads.data[t].own[i] == number + 1)
                return p->objects.data[i].symbol;
        if (!own && m->globals[i] == number) return p->objects.data[i].symbol;
    }
    return FT_NO_SYMBOL;
}

bool ft_interpreter_locate(const ft_interpreter *interpreter, uint64_t address,
                           ft_interpreter_location *location)
{
    for (uint32_t i = 0; i < interpreter->objects.len; i++) {
        const memory_object *o = &interpreter->objects.data[i];
        if (address < o->base || address - o->base >= (o->size ? o->size : 1)) continue;
        *location = (ft_interpreter_location){.object = i,
                                              .symbol = symbol_of(interpreter, i),
                                              .heap = o->heap,
                                              .offset = address - o->base,
                                              .size = o->size};
        return true;
    }
    return false;
}

static void name_objects(const ft_interpreter *m, uint32_t t, const ft_instruction *in,
                         ft_interpreter_operation *o)
{
    uint64_t first = in->n_operands ? ft_run_operand(m, t, in, 0).bits : 0;
    uint64_t second = in->n_operands > 1 ? ft_run_operand(m, t, in, 1).bits : 0;
    bool apart = in->code == FT_CODE_EXIT || in->code == FT_CODE_CREATE;
    o->object = in->code == FT_CODE_ATOMIC_STORE ? second : apart ? 0 : first;
    if (apart) o->other = first;
    if (in->code == FT_CODE_WAIT || in->code == FT_CODE_TIMED_WAIT) o->other = second;
}

bool ft_interpreter_stands_before(const ft_interpreter *interpreter, uint32_t thread,
                                  ft_interpreter_operation *operation)
{
    FT_REQUIRE(thread < interpreter->threads.len && operation);
    const interpreted_thread *th = &interpreter->threads.data[thread];
    *operation = (ft_interpreter_operation){.code = FT_CODES,
                                            .place = ft_interpreter_place_of(interpreter, thread)};
    if (th->ended || !th->exists) return false;
    if (th->failing) operation->code = FT_CODE_FAIL;
    if (!th->begun || th->failing || th->stands) return true;
    if (th->circles) {
        operation->code = ft_interpreter_instruction(interpreter, thread)->code;
    } else if (th->returned) {
        operation->code = FT_CODE_EXIT;
        operation->other = (uint32_t)th->exit_code;
    } else if (th->finishes) {
        operation->code = FT_CODE_ONCE;
        operation->second = true;
        operation->object = th->finishes;
    } else {
        const ft_instruction *in = ft_interpreter_instruction(interpreter, thread);
        operation->code = in->code;
        operation->second = th->second;
        operation->waits = th->second && ft_sync_waits(interpreter, thread);
        name_objects(interpreter, thread, in, operation);
    }
    return true;
}

uint32_t ft_interpreter_choices(const ft_interpreter *interpreter, uint32_t thread,
                                uint64_t variants[FT_INTERPRETER_THREADS])
{
    FT_REQUIRE(thread < interpreter->threads.len);
    const interpreted_thread *th = &interpreter->threads.data[thread];
    bool shut_out = interpreter->section && interpreter->section != thread + 1;
    bool goes = th->exists && !th->ended && !th->stands && !th->circles && !shut_out;
    if (interpreter->state != FT_INTERPRETER_GOING || !goes) return 0;
    if (!th->begun || th->failing || th->returned || th->finishes) return variants[0] = 0, 1;
    return ft_sync_choices(interpreter, thread, variants);
}

uint32_t ft_interpreter_reads(const ft_interpreter *interpreter)
{
    return (uint32_t)interpreter->inputs.len;
}

bool ft_interpreter_input(const ft_interpreter *interpreter, uint32_t skip, uint32_t thread,
                          const char *name, uint32_t n, uint64_t *value)
{
    uint32_t text = ft_intern_find(&interpreter->program->texts, name, strlen(name));
    if (text == FT_NO_ID) text = ft_loop_cell_named(interpreter->options.loops, name);
    for (size_t i = skip; i < interpreter->inputs.len && text != FT_NO_ID; i++) {
        const input_read *read = &interpreter->inputs.data[i];
        if (read->thread == thread && read->name == text && !--n) return *value = read->value, true;
    }
    return false;
}

/* ---- steps ---- */

static void finish_once(ft_interpreter *m, uint32_t t)
{
    uint64_t number = 0;
    bool known = ft_map_get(&m->sync_at, m->threads.data[t].finishes, &number);
    assert(known);
    (void)known;
    sync_object *s = &m->syncs.data[number];
    s->count = 1;
    s->owner = 0;
    ft_race_join(&s->released, &m->threads.data[t].clock);
    ft_race_tick(m, t);
    m->threads.data[t].finishes = 0;
}

/* Carries the operation out; false: the thread does not run on. */
static bool carry_out(ft_interpreter *m, uint32_t t, uint64_t variant)
{
    interpreted_thread *th = &m->threads.data[t];
    if (th->failing) {
        m->state = FT_INTERPRETER_FAILED;
        m->error = th->error;
        return false;
    }
    if (!th->begun) return th->begun = true;
    if (th->returned) {
        m->state = FT_INTERPRETER_EXITED;
        m->exit_code = th->exit_code;
        return false;
    }
    if (th->finishes) return finish_once(m, t), true;
    assert(th->frames.len);
    bool stays = false, once = ft_interpreter_instruction(m, t)->code == FT_CODE_ONCE;
    m->instructions++;
    if (!ft_sync_step(m, t, variant, &stays) || m->state != FT_INTERPRETER_GOING) return false;
    th = &m->threads.data[t];       /* a new thread may have moved it */
    if (stays && once) return true; /* in the function that it calls */
    th->second = stays;
    if (!stays) th->frames.data[th->frames.len - 1].at++;
    return !stays;
}

static bool has_choice(const ft_interpreter *m)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    for (uint32_t t = 0; t < m->threads.len; t++)
        if (ft_interpreter_choices(m, t, variants)) return true;
    return false;
}

static void stop_at(ft_interpreter *m, uint32_t t, ft_program_error error)
{
    ft_interpreter_fail(m, t, error, "%s",
                        error == FT_ERROR_DEADLOCK
                            ? "the thread waits, and no thread can go on"
                            : "the thread goes round in circles, and no thread changes that");
    m->threads.data[t].failing = false; /* it waits still */
    m->state = FT_INTERPRETER_FAILED;
}

/* Then those that wait could wait for what the thread would do if the assumption held. */
static bool some_stands(const ft_interpreter *m)
{
    for (size_t t = 0; t < m->threads.len; t++)
        if (m->threads.data[t].stands) return true;
    return false;
}

/* No thread can go on: all have ended, or those that have not wait forever. */
static void stop(ft_interpreter *m)
{
    if (some_stands(m)) {
        m->state = FT_INTERPRETER_DISCARDED;
        return;
    }
    uint32_t n = (uint32_t)m->threads.len, waits = n;
    for (uint32_t t = n; t-- > 0;) {
        const interpreted_thread *th = &m->threads.data[t];
        if (!th->exists || th->ended) continue;
        if (th->circles) return stop_at(m, t, FT_ERROR_LIVE_LOCK);
        waits = t;
    }
    if (waits < n)
        stop_at(m, waits, FT_ERROR_DEADLOCK);
    else
        m->state = FT_INTERPRETER_EXITED;
}

ft_interpreter_state ft_interpreter_step(ft_interpreter *interpreter, uint32_t thread,
                                         uint64_t variant)
{
    FT_REQUIRE(interpreter && interpreter->state == FT_INTERPRETER_GOING &&
               thread < interpreter->threads.len);
    if (carry_out(interpreter, thread, variant)) ft_run(interpreter, thread);
    if (interpreter->state == FT_INTERPRETER_GOING && !has_choice(interpreter)) stop(interpreter);
    return interpreter->state;
}

/* ---- live-locks ---- */

static bool no_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    (void)name, (void)width, (void)value;
    return *(bool *)context = true, false;
}

/* A copy that nobody follows, and that reads no input. */
static ft_interpreter *copy_alone(const ft_interpreter *m, bool *reads)
{
    ft_interpreter *alone = ft_interpreter_copy(m);
    alone->options = (ft_interpreter_options){.max_steps = m->options.max_steps,
                                              .max_bytes = m->options.max_bytes,
                                              .max_threads = m->options.max_threads,
                                              .input = no_input,
                                              .context = reads};
    return alone;
}

/* Does the thread, alone, come back to where it stands, and change nothing on the way? */
static bool goes_round(const ft_interpreter *m, uint32_t t)
{
    enum { MOST = 1000 };
    uint64_t variants[FT_INTERPRETER_THREADS];
    bool reads = false, closed = false, same = true;
    ft_interpreter *alone = copy_alone(m, &reads);
    circle *c = ft_circle_new(m, t);
    for (int i = 0; i < MOST && same && !closed && !reads; i++) {
        if (ft_interpreter_choices(alone, t, variants) != 1) break;
        ft_interpreter_step(alone, t, variants[0]);
        same = alone->state == FT_INTERPRETER_GOING && ft_circle_leaves(alone, m, t);
        closed = same && ft_circle_is_closed(c, alone, t);
    }
    ft_circle_free(c);
    ft_interpreter_free(alone);
    return closed && !reads;
}

/* All states that the threads come to from here, each once. */
typedef struct reached {
    FT_VEC(ft_interpreter *) states;
    ft_intern keys;
    bool reads; /* some thread read an input */
} reached;

static void add_state(reached *r, ft_interpreter *m)
{
    ft_strbuf key = {0};
    uint32_t before = r->keys.len;
    ft_interpreter_state_bytes(m, &key);
    ft_intern_add(&r->keys, key.text, key.len);
    ft_strbuf_release(&key);
    if (r->keys.len > before)
        ft_vec_push(&r->states, m);
    else
        ft_interpreter_free(m);
}

static void add_next(reached *r, const ft_interpreter *m)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    for (uint32_t t = 0; t < m->threads.len; t++) {
        uint32_t n = ft_interpreter_choices(m, t, variants);
        for (uint32_t i = 0; i < n; i++) {
            ft_interpreter *next = copy_alone(m, &r->reads);
            ft_interpreter_step(next, t, variants[i]);
            add_state(r, next);
        }
    }
}

/* Does nothing end, and no memory change, whatever the threads do from here on? They may take locks
 * and give them back. */
static bool rounds_never_end(const ft_interpreter *m)
{
    enum { MOST = 2000 };
    reached r = {0};
    bool same = true;
    add_state(&r, copy_alone(m, &r.reads));
    for (size_t i = 0; i < r.states.len && same; i++) {
        const ft_interpreter *at = r.states.data[i];
        same = at->state == FT_INTERPRETER_GOING && !r.reads && i < MOST && ft_circle_keeps(at, m);
        if (same) add_next(&r, at);
    }
    for (size_t i = 0; i < r.states.len; i++) ft_interpreter_free(r.states.data[i]);
    ft_vec_release(&r.states);
    ft_intern_release(&r.keys);
    return same && !r.reads;
}

ft_interpreter_state ft_interpreter_settle(ft_interpreter *interpreter)
{
    int never = -1; /* not known */
    uint64_t variants[FT_INTERPRETER_THREADS];
    uint32_t n = (uint32_t)interpreter->threads.len, first = n;
    if (interpreter->state != FT_INTERPRETER_GOING) return interpreter->state;
    for (uint32_t t = n; t-- > 0;) {
        if (!ft_interpreter_choices(interpreter, t, variants)) continue;
        if (never < 0 && !goes_round(interpreter, t)) never = rounds_never_end(interpreter);
        if (!never) return interpreter->state;
        first = t;
    }
    if (first < n && some_stands(interpreter))
        interpreter->state = FT_INTERPRETER_DISCARDED;
    else if (first < n)
        stop_at(interpreter, first, FT_ERROR_LIVE_LOCK);
    return interpreter->state;
}
