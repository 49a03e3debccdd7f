#include "symbolic/state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolic/internal.h"

#ifdef FT_FAULTS
sym_fault_kind sym_fault = SYM_FAULT_NONE;
#endif

static const char *const ENDS[FT_SYM_ENDS] = {
#define FT_ROW(symbol, name, meaning) [FT_SYM_##symbol] = name,
    FT_SYM_END_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_sym_end_name(ft_sym_end end)
{
    FT_REQUIRE(end < FT_SYM_ENDS);
    return ENDS[end];
}

/* ---- the world ---- */

enum { FUNCTIONS = 1 << 20, FUNCTION_SIZE = 16 };

static void place_functions(ft_sym_world *w)
{
    const ft_program *p = w->program;
    w->function_base = ft_calloc(p->symbols.len + 1, sizeof *w->function_base);
    for (size_t i = 0; i < p->functions.len; i++) {
        const ft_function *f = &p->functions.data[i];
        w->function_base[f->symbol] = FUNCTIONS + FUNCTION_SIZE * i;
        ft_map_put(&w->functions, w->function_base[f->symbol], f->symbol);
        for (size_t k = 0; k < f->instructions.len; k++)
            w->has_inputs |= f->instructions.data[k].code == FT_CODE_INPUT;
    }
}

ft_sym_world *ft_sym_world_new(const ft_program *program, const ft_sym_options *options)
{
    FT_REQUIRE(program);
    ft_sym_world *w = ft_calloc(1, sizeof *w);
    w->program = program;
    if (options) w->options = *options;
    if (!w->options.max_instructions) w->options.max_instructions = 10000000;
    if (!w->options.max_bytes) w->options.max_bytes = UINT64_C(256) << 20;
    if (!w->options.max_threads) w->options.max_threads = FT_SYM_THREADS;
    if (!w->options.solver_ms) w->options.solver_ms = 2000;
    FT_REQUIRE(w->options.max_threads <= FT_SYM_THREADS);
    w->pool = ft_term_pool_new();
    w->path = sym_path_new(w->pool, w->options.solver_ms);
    place_functions(w);
    return w;
}

void ft_sym_world_free(ft_sym_world *w)
{
    if (!w) return;
    sym_path_free(w->path);
    ft_term_pool_free(w->pool);
    ft_map_release(&w->functions);
    ft_map_release(&w->symbols);
    ft_map_release(&w->widths);
    ft_intern_release(&w->places);
    sym_free_lives(w);
    ft_vec_release(&w->inputs);
    ft_vec_release(&w->scratch);
    free(w->function_base);
    free(w);
}

ft_sym_counts ft_sym_world_counts(const ft_sym_world *w)
{
    ft_sym_counts counts = sym_path_counts(w->path);
    counts.concretised = w->concretised;
    return counts;
}

typedef struct naming {
    const ft_sym_world *w;
    char name[160];
} naming;

static const char *name_of(void *context, ft_symbol symbol)
{
    naming *n = context;
    const sym_input *in = &n->w->inputs.data[symbol];
    if (in->thread == FT_NO_ID) return n->w->places.names[in->name];
    snprintf(n->name, sizeof n->name, "%.100s.%" PRIu32 ".%" PRIu32, sym_input_name(n->w, in->name),
             in->thread, in->n);
    return n->name;
}

bool ft_sym_world_open(const ft_sym_world *w, size_t n, ft_strbuf *text)
{
    uint32_t count;
    naming names = {.w = w};
    ft_scope scope = {.name = name_of, .context = &names};
    const ft_term *conditions = sym_path_open(w->path, n, &count);
    for (uint32_t i = 0; conditions && i < count; i++) {
        if (i) ft_strbuf_puts(text, " ");
        ft_term_print(w->pool, conditions[i], &scope, text);
    }
    return conditions != NULL;
}

bool ft_sym_world_has_inputs(const ft_sym_world *w)
{
    return w->has_inputs;
}

/* ---- errors and places ---- */

const ft_instruction *sym_instruction(const ft_sym_state *m, uint32_t t)
{
    const sym_thread *th = sym_thread_of(m, t);
    if (!th->frames.len) return NULL;
    const frame *f = &th->frames.data[th->frames.len - 1];
    return &f->function->instructions.data[f->at];
}

ft_sym_place sym_place(const ft_sym_state *m, uint32_t t)
{
    const sym_thread *th = sym_thread_of(m, t);
    if (!th->frames.len) return (ft_sym_place){FT_NO_SYMBOL, 0};
    const frame *f = &th->frames.data[th->frames.len - 1];
    return (ft_sym_place){f->function->symbol, f->at};
}

bool sym_fail(ft_sym_state *m, uint32_t t, ft_program_error kind, const char *format, ...)
{
    ft_sym_error e = {.kind = kind, .thread = t, .place = sym_place(m, t)};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e.message, sizeof e.message, format, arguments);
    va_end(arguments);
    if (kind == FT_ERROR_LIMIT) {
        m->end = FT_SYM_STOPPED;
        m->error = e;
    } else {
        sym_thread_of(m, t)->failing = true;
        sym_thread_of(m, t)->error = e;
    }
    return false;
}

/* ---- a new state ---- */

void sym_fill(ft_sym_state *m, uint32_t number, const ft_object *o)
{
    const ft_program *p = m->world->program;
    for (uint32_t i = 0; i < o->n_initial; i++) {
        const ft_initial *part = &p->initials.data[o->initial + i];
        if (part->symbol == FT_NO_SYMBOL) {
            sym_write_number(m, number, part->offset, p->texts.names[part->text],
                             p->texts.lengths[part->text]);
            continue;
        }
        const ft_program_symbol *s = &p->symbols.data[part->symbol];
        bool function = s->kind == FT_FUNCTION;
        uint32_t of = function ? 0 : m->globals[s->index] + 1;
        uint64_t bits = part->addend + (function ? m->world->function_base[part->symbol]
                                                 : m->objects.data[of - 1].base);
        unsigned char bytes[8];
        for (int k = 0; k < 8; k++) bytes[k] = (unsigned char)(bits >> 8 * k);
        sym_write_number(m, number, part->offset, bytes, 8);
        if (part->offset % 8 == 0) sym_set_pointee(m, number, part->offset, of);
    }
}

bool sym_make_globals(ft_sym_state *m)
{
    const ft_program *p = m->world->program;
    m->globals = ft_calloc(p->objects.len + 1, sizeof *m->globals);
    for (size_t i = 0; i < p->objects.len; i++) {
        const ft_object *o = &p->objects.data[i];
        if (o->by_thread) continue;
        if (!sym_fits(m, 0, o->size)) return false;
        m->globals[i] = sym_object_new(m, &m->next_global, o->size, o->align);
        m->objects.data[m->globals[i]].constant = o->constant;
    }
    for (size_t i = 0; i < p->objects.len; i++)
        if (!p->objects.data[i].by_thread) sym_fill(m, m->globals[i], &p->objects.data[i]);
    return true;
}

ft_sym_state *ft_sym_new(ft_sym_world *world)
{
    FT_REQUIRE(world);
    ft_sym_state *m = ft_calloc(1, sizeof *m);
    m->world = world;
    m->next_global = UINT64_C(1) << 32;
    ft_vec_push(&m->threads, (sym_thread){.exists = true, .next_base = UINT64_C(1) << 40});
    uint32_t symbol = ft_intern_find(&world->program->names, "main", 4);
    const ft_function *f = ft_program_function(world->program, symbol);
    value zeros[2] = {{0}, {0}};
    if (sym_make_globals(m) && sym_thread_objects(m, 0))
        sym_call(m, 0, f, zeros, f->blocks.data[0].n_parameters, 0);
    return m;
}

void sym_thread_release(sym_thread *th)
{
    ft_vec_release(&th->frames);
    ft_vec_release(&th->values);
    ft_vec_release(&th->stack);
    ft_vec_release(&th->inputs);
    free(th->own);
    free(th->open);
}

void ft_sym_free(ft_sym_state *m)
{
    if (!m) return;
    for (size_t i = 0; i < m->objects.len; i++) sym_object_drop(&m->objects.data[i]);
    for (size_t i = 0; i < m->threads.len; i++) sym_thread_release(&m->threads.data[i]);
    ft_vec_release(&m->objects);
    ft_vec_release(&m->threads);
    ft_vec_release(&m->syncs);
    ft_vec_release(&m->constraints);
    ft_vec_release(&m->inputs);
    ft_vec_release(&m->accesses);
    free(m->globals);
    free(m);
}

/* ---- a copy ---- */

static void *copied(const void *from, size_t n)
{
    if (!from) return NULL;
    void *to = ft_alloc(n ? n : 1);
    memcpy(to, from, n);
    return to;
}

#define COPY_VEC(v)                                                                                \
    ((v)->data = (v)->len ? copied((v)->data, (v)->len * sizeof *(v)->data) : NULL,                \
     (v)->cap = (v)->len)

static void copy_thread(sym_thread *th, size_t n_objects)
{
    COPY_VEC(&th->frames);
    COPY_VEC(&th->values);
    COPY_VEC(&th->stack);
    COPY_VEC(&th->inputs);
    th->own = copied(th->own, (n_objects + 1) * sizeof *th->own);
    th->open = copied(th->open, sizeof *th->open);
}

ft_sym_state *ft_sym_copy(const ft_sym_state *from)
{
    FT_REQUIRE(from);
    size_t n = from->world->program->objects.len;
    ft_sym_state *m = copied(from, sizeof *from);
    COPY_VEC(&m->objects);
    COPY_VEC(&m->threads);
    COPY_VEC(&m->syncs);
    COPY_VEC(&m->constraints);
    COPY_VEC(&m->inputs);
    COPY_VEC(&m->accesses);
    for (size_t i = 0; i < m->objects.len; i++) (void)sym_content_share(m->objects.data[i].content);
    for (size_t i = 0; i < m->threads.len; i++) copy_thread(&m->threads.data[i], n);
    m->globals = copied(m->globals, (n + 1) * sizeof *m->globals);
    return m;
}

static size_t content_bytes(const content *c)
{
    size_t n = c ? sizeof *c + c->n * sizeof(page *) : 0;
    for (uint32_t i = 0; c && i < c->n; i++) {
        const page *p = c->pages[i];
        if (!p) continue;
        n += (sizeof *p + p->size + (p->pointees ? p->size / 2 : 0) +
              (p->cells ? p->size * sizeof(cell) : 0)) /
             p->refs;
    }
    return c ? n / c->refs : 0;
}

size_t ft_sym_bytes(const ft_sym_state *m)
{
    size_t n = sizeof *m + m->objects.len * sizeof(object) + m->syncs.len * sizeof(sync_object) +
               m->constraints.len * sizeof(constraint) + m->inputs.len * sizeof(uint64_t) +
               m->world->program->objects.len * sizeof(uint32_t);
    for (size_t i = 0; i < m->objects.len; i++) n += content_bytes(m->objects.data[i].content);
    for (size_t i = 0; i < m->threads.len; i++) {
        const sym_thread *th = &m->threads.data[i];
        n += sizeof *th + th->frames.len * sizeof(frame) + th->values.len * sizeof(value) +
             th->stack.len * sizeof(uint32_t) + (th->open ? sizeof *th->open : 0);
    }
    return n;
}

/* ---- what a state says ---- */

ft_sym_end ft_sym_end_of(const ft_sym_state *m)
{
    return m->end;
}

const ft_sym_error *ft_sym_error_of(const ft_sym_state *m)
{
    return &m->error;
}

uint32_t ft_sym_thread_count(const ft_sym_state *m)
{
    return (uint32_t)m->threads.len;
}

bool ft_sym_is_unknown(const ft_sym_state *m)
{
    return m->unknown;
}

bool ft_sym_is_discarded(const ft_sym_state *m)
{
    if (m->end == FT_SYM_EXITED || m->end == FT_SYM_FAILED) return false;
    for (size_t t = 0; t < m->threads.len; t++)
        if (m->threads.data[t].stands) return true;
    return false;
}

bool ft_sym_is_detached(const ft_sym_state *m, uint32_t t)
{
    return sym_thread_of(m, t)->detached;
}

uint32_t ft_sym_section(const ft_sym_state *m)
{
    return m->section;
}

static uint64_t eval(const ft_sym_state *m, value v)
{
    if (!v.term) return v.bits;
    return sym_path_eval(m->world->path, v.term, m->inputs.data, m->inputs.len);
}

int32_t ft_sym_exit_code(const ft_sym_state *m)
{
    return (int32_t)eval(m, m->exit_code);
}

bool ft_sym_input(const ft_sym_state *m, uint32_t t, const char *name, uint32_t n, uint64_t *bits)
{
    const ft_sym_world *w = m->world;
    for (size_t i = 0; i < w->inputs.len; i++) {
        const sym_input *in = &w->inputs.data[i];
        if (in->thread != t || in->n != n || strcmp(sym_input_name(w, in->name), name) != 0)
            continue;
        *bits = i < m->inputs.len ? m->inputs.data[i] : 0;
        return true;
    }
    return false;
}

ft_sym_object ft_sym_object_at(const ft_sym_state *m, uint64_t address)
{
    const sync_object *s = sym_sync_at(m, address);
    if (!s) return (ft_sym_object){0};
    return (ft_sym_object){s->owner,   s->count,   s->total,
                           s->readers, s->waiters, (ft_mutex_kind)s->mutex_kind};
}

bool ft_sym_operand(const ft_sym_state *m, uint32_t t, uint32_t i, uint64_t *bits)
{
    const ft_instruction *in = sym_instruction(m, t);
    value v = sym_operand(m, t, in, i);
    *bits = v.bits;
    return !v.term;
}

static bool read_bytes(const ft_sym_state *m, uint64_t address, size_t n, bool now,
                       unsigned char *bytes)
{
    for (uint32_t i = 0; i < m->objects.len; i++) {
        const object *o = &m->objects.data[i];
        if (o->freed || address < o->base || address - o->base > o->size) continue;
        uint64_t at = address - o->base;
        if (n > o->size - at) return false;
        for (size_t k = 0; k < n; k++) {
            value v = sym_load_at(m, &(where){i + 1, at + k, FT_NO_TERM}, 8);
            if (v.term && !now) return false;
            bytes[k] = (unsigned char)eval(m, v);
        }
        return true;
    }
    return false;
}

bool ft_sym_read(const ft_sym_state *m, uint64_t address, size_t n, void *bytes)
{
    return read_bytes(m, address, n, false, bytes);
}

bool ft_sym_read_now(const ft_sym_state *m, uint64_t address, size_t n, void *bytes)
{
    return read_bytes(m, address, n, true, bytes);
}

static void name_objects(const ft_sym_state *m, uint32_t t, const ft_instruction *in,
                         ft_sym_operation *o)
{
    uint64_t first = in->n_operands ? sym_sync_operand(m, t, in, 0) : 0;
    uint64_t second = in->n_operands > 1 ? sym_sync_operand(m, t, in, 1) : 0;
    bool apart = in->code == FT_CODE_EXIT || in->code == FT_CODE_CREATE;
    o->object = in->code == FT_CODE_ATOMIC_STORE ? second : apart ? 0 : first;
    if (apart) o->other = sym_operand(m, t, in, 0).term && in->code == FT_CODE_EXIT ? 0 : first;
    if (in->code == FT_CODE_WAIT || in->code == FT_CODE_TIMED_WAIT) o->other = second;
}

bool ft_sym_stands_before(const ft_sym_state *m, uint32_t t, ft_sym_operation *operation)
{
    const sym_thread *th = sym_thread_of(m, t);
    *operation = (ft_sym_operation){.code = FT_CODES, .place = sym_place(m, t)};
    if (th->ended || !th->exists) return false;
    operation->stands = th->stands;
    operation->circles = th->circles;
    if (th->circles) return operation->code = (ft_code)sym_instruction(m, t)->code, true;
    if (th->open) {
        operation->code = (ft_code)sym_instruction(m, t)->code;
        operation->arms = th->open->n;
        return true;
    }
    if (th->failing) operation->code = FT_CODE_FAIL;
    if (!th->begun || th->failing || th->stands) return true;
    if (th->returned) {
        operation->code = FT_CODE_EXIT;
        operation->other = (uint32_t)th->exit_code.bits;
    } else if (th->finishes) {
        operation->code = FT_CODE_ONCE;
        operation->second = true;
        operation->object = th->finishes;
    } else {
        const ft_instruction *in = sym_instruction(m, t);
        operation->code = (ft_code)in->code;
        operation->second = th->second;
        operation->waits = th->second && sym_sync_waits(m, t);
        name_objects(m, t, in, operation);
    }
    return true;
}

uint32_t ft_sym_choices(const ft_sym_state *m, uint32_t t, uint64_t variants[FT_SYM_THREADS])
{
    const sym_thread *th = sym_thread_of(m, t);
    if (!th->exists || th->ended || th->stands || th->circles || m->end == FT_SYM_STOPPED ||
        m->end == FT_SYM_INFEASIBLE)
        return 0;
    if (th->open) {
        for (uint32_t i = 0; i < th->open->n; i++) variants[i] = i;
        return th->open->n;
    }
    if (m->end != FT_SYM_GOING) return 0;
    if (!th->begun || th->failing || th->returned || th->finishes) return variants[0] = 0, 1;
    return sym_sync_choices(m, t, variants);
}

/* ---- steps ---- */

static void finish_once(ft_sym_state *m, uint32_t t)
{
    sync_object *s = sym_sync_at(m, sym_thread_of(m, t)->finishes);
    assert(s && s->owner == t + 1);
    s->count = 1;
    s->owner = 0;
    sym_thread_of(m, t)->finishes = 0;
}

static bool carry_out_visible(ft_sym_state *m, uint32_t t, uint64_t variant)
{
    bool stays = false, once = sym_instruction(m, t)->code == FT_CODE_ONCE;
    m->instructions++;
    bool good = sym_sync_step(m, t, variant, &stays);
    sym_thread *th = sym_thread_of(m, t); /* a new thread may have moved it */
    if (!stays || once) th->decided.n = 0;
    if (!good || m->end != FT_SYM_GOING) return false;
    if (stays && once) return true;
    th->second = stays;
    if (!stays) th->frames.data[th->frames.len - 1].at++;
    return !stays;
}

/* False: the thread does not run on. */
static bool carry_out(ft_sym_state *m, uint32_t t, uint64_t variant)
{
    sym_thread *th = sym_thread_of(m, t);
    if (th->open) return sym_take_arm(m, t, variant);
    if (th->failing) {
        m->end = FT_SYM_FAILED;
        m->error = th->error;
        return false;
    }
    if (!th->begun) return th->begun = true;
    if (th->returned) {
        m->end = FT_SYM_EXITED;
        m->exit_code = th->exit_code;
        return false;
    }
    if (th->finishes) return finish_once(m, t), true;
    return carry_out_visible(m, t, variant);
}

ft_sym_end ft_sym_step(ft_sym_state *m, uint32_t t, uint64_t variant, const ft_sym_clock *clock)
{
    FT_REQUIRE(m && clock && t < m->threads.len);
    sym_thread *th = sym_thread_of(m, t);
    th->steps++;
    th->clock = *clock;
    assert(clock->of[t] == th->steps);
    th->is_printed = false;
    if (carry_out(m, t, variant)) sym_run(m, t);
    return m->end;
}

void ft_sym_pass(ft_sym_state *m, uint32_t t, const ft_sym_clock *clock)
{
    sym_thread *th = sym_thread_of(m, t);
    th->steps++;
    th->clock = *clock;
    assert(clock->of[t] == th->steps);
}

ft_sym_place ft_sym_source(const ft_sym_state *m, uint32_t t)
{
    const sym_thread *th = sym_thread_of(m, t);
    for (size_t i = th->frames.len; i-- > 0;) {
        const frame *f = &th->frames.data[i];
        if (f->function->instructions.data[f->at].position.file != FT_NO_FILE)
            return (ft_sym_place){f->function->symbol, f->at};
    }
    return sym_place(m, t);
}
