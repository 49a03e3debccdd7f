#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/flow/variables.h"
#include "symbolic/epoch.h"
#include "symbolic/internal.h"

static const uint8_t SYNC_KINDS[FT_EPOCH_SYNC_KINDS] = {
    [FT_EPOCH_SYNC_MUTEX] = SYNC_MUTEX,         [FT_EPOCH_SYNC_RWLOCK] = SYNC_RWLOCK,
    [FT_EPOCH_SYNC_CONDITION] = SYNC_CONDITION, [FT_EPOCH_SYNC_SEMAPHORE] = SYNC_SEMAPHORE,
    [FT_EPOCH_SYNC_BARRIER] = SYNC_BARRIER,     [FT_EPOCH_SYNC_ONCE] = SYNC_ONCE,
};

/* ---- a beginning as an epoch ---- */

typedef struct writing {
    const ft_sym_state *m;
    ft_sym_state *first; /* the program's start, for the first content of memory */
    ft_schedule_set *set;
    ft_epoch *epoch;
    uint32_t number; /* of the epoch */
    ft_term init;    /* which unknowns are equal; FT_NO_TERM: none */
} writing;

static uint32_t take_text(writing *w, ft_strbuf *text)
{
    uint32_t number = ft_schedule_text(w->set, text->text);
    ft_strbuf_release(text);
    return number;
}

static ft_schedule_place written_place(writing *w, const frame *f)
{
    const ft_program *p = w->m->world->program;
    const ft_position *at = &f->function->instructions.data[f->at].position;
    ft_schedule_place place = {
        .function = ft_schedule_text(w->set, ft_program_symbol_name(p, f->function->symbol)),
        .instruction = f->at,
        .file = FT_NO_ID};
    if (at->file == FT_NO_FILE) return place;
    place.file = ft_schedule_text(w->set, p->files.names[at->file]);
    place.line = at->line;
    place.column = at->column;
    return place;
}

static void write_standing(writing *w, uint32_t t)
{
    const sym_thread *th = sym_thread_of(w->m, t);
    ft_standing s = {
        .kind = FT_STANDING_ENDED, .detached = th->detached, .last = th->second && th->outcome};
    ft_sym_operation o;
    ft_node_kind kind;
    if (ft_sym_stands_before(w->m, t, &o) && ft_node_kind_of(o.code, o.second, &kind))
        s.kind = (uint8_t)kind;
    for (size_t i = th->frames.len; i-- > 0;)
        ft_vec_push(&s.calls, written_place(w, &th->frames.data[i]));
    ft_vec_push(&w->epoch->stands, s);
}

static void write_object(writing *w, uint32_t number)
{
    ft_strbuf place = {0};
    sym_object_place(w->m, number, &place);
    ft_vec_push(&w->epoch->objects, (ft_epoch_object){.name = take_text(w, &place),
                                                      .size = w->m->objects.data[number].size});
}

/* The text of an address: of a thread's handle the thread. */
static uint32_t written_address(writing *w, value v)
{
    ft_strbuf text = {0};
    if (v.object & SYM_HANDLE) {
        ft_strbuf_printf(&text, "thread:%" PRIu32, sym_handle(v));
        return take_text(w, &text);
    }
    sym_object_place(w->m, v.object - 1, &text);
    ft_strbuf_printf(&text, "+%" PRIu64, v.bits - w->m->objects.data[v.object - 1].base);
    return take_text(w, &text);
}

/* An unknown that has another place's symbol is equal to that. */
static void note_equal(writing *w, const char *place, uint8_t width, value v)
{
    ft_sym_world *world = w->m->world;
    if (ft_term_get(world->pool, v.term).op != FT_OP_SYMBOL) return;
    ft_sort sort = width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
    ft_term own = ft_term_symbol(world->pool, ft_sym_world_unknown(world, place, width), sort);
    if (own == v.term) return;
    ft_term both[2] = {own, v.term};
    ft_term equal = sym_apply(world, FT_OP_EQ, both, 2, 0, 0);
    w->init = w->init ? sym_and(world, w->init, equal) : equal;
}

/* The content of a place. Unknowns are symbols of the set. */
static void write_value(writing *w, ft_strbuf *place, uint8_t width, value v)
{
    if (v.term && !v.object) {
        note_equal(w, place->text, width, v);
        (void)ft_schedule_add_symbol(w->set, w->number, place->text, NULL, 0, width);
        return ft_strbuf_release(place);
    }
    ft_epoch_cell made = {.width = width, .address = FT_NO_ID, .bits = v.object ? 0 : v.bits};
    made.place = take_text(w, place);
    if (v.object) made.address = written_address(w, v);
    ft_vec_push(&w->epoch->cells, made);
}

/* What the object holds before the program runs; NULL: zeros. */
static const object *first_of(const writing *w, uint32_t number)
{
    ft_sym_made made = ft_sym_object_made(w->m, number);
    if (made.symbol == FT_NO_SYMBOL) return NULL;
    uint32_t index = w->m->world->program->symbols.data[made.symbol].index;
    uint32_t first = made.thread == FT_NO_ID ? w->first->globals[index]
                                             : w->first->threads.data[0].own[index] - 1;
    return &w->first->objects.data[first];
}

static bool is_first(const writing *w, uint32_t number, const object *first, uint64_t at,
                     uint8_t width)
{
    value own = sym_cell(w->m, number, at, width), then = sym_number(0);
    if (first) then = sym_cell(w->first, (uint32_t)(first - w->first->objects.data), at, width);
    return own.term == then.term && own.bits == then.bits && own.object == then.object;
}

/* The width of the cell that begins there: of an address or an unknown its own. */
static uint8_t width_at(const writing *w, uint32_t number, uint64_t at)
{
    const object *o = &w->m->objects.data[number];
    if (at % 8 == 0 && at + 8 <= o->size && sym_cell(w->m, number, at, 64).object) return 64;
    value byte = sym_cell(w->m, number, at, 8);
    for (uint8_t width = 64; byte.term && width > 8; width /= 2) {
        if (at % (width / 8u) || at + width / 8u > o->size) continue;
        value v = sym_cell(w->m, number, at, width);
        if (v.term && ft_term_get(w->m->world->pool, v.term).op == FT_OP_SYMBOL) return width;
    }
    return 8;
}

static void write_memory(writing *w, uint32_t number)
{
    const object *o = &w->m->objects.data[number], *first = first_of(w, number);
    if (o->constant || !o->content || (first && first->content == o->content)) return;
    for (uint64_t at = 0; at < o->size;) {
        uint8_t width = width_at(w, number, at);
        if (!is_first(w, number, first, at, width)) {
            ft_strbuf place = {0};
            sym_object_place(w->m, number, &place);
            ft_strbuf_printf(&place, "+%" PRIu64, at);
            write_value(w, &place, width, sym_cell(w->m, number, at, width));
        }
        at += width / 8u;
    }
}

static void write_registers(writing *w, uint32_t t)
{
    const sym_thread *th = sym_thread_of(w->m, t);
    if (th->ended && (th->result.term || th->result.object || th->result.bits)) {
        ft_strbuf place = {0};
        ft_strbuf_printf(&place, "%" PRIu32 "/result", t);
        write_value(w, &place, 64, th->result);
    }
    for (size_t d = 0; d < th->frames.len; d++) {
        const frame *f = &th->frames.data[d];
        for (uint32_t i = 0; i < f->function->registers.len; i++) {
            value v = th->values.data[f->registers + i];
            if (!v.term && !v.object && !v.bits) continue;
            ft_strbuf place = {0};
            ft_strbuf_printf(&place, "%" PRIu32 "/%zu%%%s", t, d, ft_register_name(f->function, i));
            write_value(w, &place, f->function->registers.data[i].width, v);
        }
    }
}

/* ---- variables of the source ---- */

static bool has_object(const writing *w, uint32_t name)
{
    for (size_t i = 0; i < w->epoch->objects.len; i++)
        if (w->epoch->objects.data[i].name == name) return true;
    return false;
}

/* The variable that the register has the value of, or that its object is. */
static void write_local(writing *w, uint32_t t, size_t d, uint32_t reg,
                        const ft_variable_note *note)
{
    const ft_program *p = w->m->world->program;
    const sym_thread *th = sym_thread_of(w->m, t);
    const frame *f = &th->frames.data[d];
    value v = th->values.data[f->registers + reg];
    bool has_content = v.term || v.object || v.bits;
    if (note->position.file == FT_NO_FILE || (!note->address && !has_content)) return;
    ft_strbuf place = {0};
    ft_strbuf_printf(&place, "%s%" PRIu32 "/%zu%%%s", note->address ? "stack:" : "", t, d,
                     ft_register_name(f->function, reg));
    bool there = !note->address || has_object(w, ft_schedule_text(w->set, place.text));
    if (note->address) ft_strbuf_puts(&place, "+0");
    ft_epoch_local made = {.name = ft_schedule_text(w->set, p->texts.names[note->name]),
                           .file = ft_schedule_text(w->set, p->files.names[note->position.file]),
                           .line = note->position.line};
    if (there) made.place = ft_schedule_text(w->set, place.text);
    if (there) ft_vec_push(&w->epoch->locals, made);
    ft_strbuf_release(&place);
}

static void write_locals(writing *w, uint32_t t)
{
    const sym_thread *th = sym_thread_of(w->m, t);
    for (size_t d = 0; d < th->frames.len; d++) {
        const frame *f = &th->frames.data[d];
        uint32_t n = (uint32_t)f->function->registers.len;
        uint32_t *notes = ft_alloc((n + 1) * sizeof *notes);
        ft_variables_before(f->function, f->at, notes);
        for (uint32_t i = 0; i < n; i++)
            if (notes[i] != FT_NO_ID)
                write_local(w, t, d, i, &f->function->variables.data[notes[i]]);
        free(notes);
    }
}

static void write_sync(writing *w, const sync_object *s)
{
    uint32_t number;
    ft_strbuf place = {0};
    ft_epoch_sync made = {.mutex = s->mutex_kind,
                          .destroyed = s->destroyed,
                          .owner = s->owner ? s->owner - 1 : FT_NO_ID,
                          .count = s->count,
                          .total = s->total,
                          .notified = s->notified};
    if (!ft_sym_object_around(w->m, s->address, &number)) return;
    while (SYNC_KINDS[made.kind] != s->kind) made.kind++;
    sym_object_place(w->m, number, &place);
    ft_strbuf_printf(&place, "+%" PRIu64, s->address - w->m->objects.data[number].base);
    made.place = take_text(w, &place);
    memcpy(made.reads, s->reads, sizeof made.reads);
    *(s->kind == SYNC_BARRIER ? &made.arrived : &made.waiters) = s->waiters;
    if (s->kind == SYNC_BARRIER) made.count = 0;
    ft_vec_push(&w->epoch->syncs, made);
}

ft_term ft_sym_write_epoch(const ft_sym_state *m, ft_schedule_set *set, uint32_t number,
                           ft_epoch *epoch)
{
    FT_REQUIRE(m && set && epoch && number);
    writing w = {
        .m = m, .first = ft_sym_new(m->world), .set = set, .epoch = epoch, .number = number};
    for (uint32_t t = 0; t < m->threads.len; t++) write_standing(&w, t);
    for (uint32_t i = 0; i < m->objects.len; i++)
        if (m->objects.data[i].heap || m->objects.data[i].stack_of) write_object(&w, i);
    for (uint32_t i = 0; i < m->objects.len; i++) write_memory(&w, i);
    for (uint32_t t = 0; t < m->threads.len; t++) write_registers(&w, t);
    for (size_t i = 0; i < m->syncs.len; i++) write_sync(&w, &m->syncs.data[i]);
    for (uint32_t t = 0; t < m->threads.len; t++) write_locals(&w, t);
    ft_sym_free(w.first);
    return w.init;
}

/* ---- an epoch as a beginning ---- */

typedef struct reading {
    ft_sym_state *m;
    const ft_schedule_set *set;
    const ft_epoch *epoch;
    ft_error *err;
} reading;

static const char *text_of(const reading *r, uint32_t text)
{
    return ft_schedule_text_of(r->set, text);
}

static ft_status not_there(const reading *r, const char *what)
{
    return ft_error_set(r->err, FT_INPUT, "epoch %s: the program has no such thing as '%s'",
                        text_of(r, r->epoch->name), what);
}

static uint32_t register_named(const ft_function *f, const char *name, size_t length)
{
    for (uint32_t i = 0; i < f->registers.len; i++) {
        const char *own = ft_register_name(f, i);
        if (strlen(own) == length && memcmp(own, name, length) == 0) return i;
    }
    return FT_NO_REGISTER;
}

static ft_status read_call(reading *r, uint32_t t, const ft_schedule_place *place)
{
    const ft_program *p = r->m->world->program;
    sym_thread *th = sym_thread_of(r->m, t);
    const char *name = text_of(r, place->function);
    uint32_t symbol = ft_intern_find(&p->names, name, strlen(name));
    const ft_function *f = symbol == FT_NO_ID ? NULL : ft_program_function(p, symbol);
    if (!f || place->instruction >= f->instructions.len) return not_there(r, name);
    frame made = {.function = f,
                  .at = place->instruction,
                  .registers = (uint32_t)th->values.len,
                  .objects = (uint32_t)th->stack.len};
    for (size_t i = 0; i < f->registers.len; i++) ft_vec_push(&th->values, (value){0});
    ft_vec_push(&th->frames, made);
    return FT_OK;
}

static ft_sym_place maker_of(const ft_function *f, const ft_state_place *p)
{
    uint32_t result = register_named(f, p->name, p->length), i = 0;
    while (i < f->instructions.len && (f->instructions.data[i].code != FT_CODE_STACK ||
                                       f->instructions.data[i].result != result))
        i++;
    return (ft_sym_place){i < f->instructions.len ? f->symbol : FT_NO_SYMBOL, i};
}

/* "stack:1/2%...": is the object's name one of that frame? */
static bool is_of_frame(const char *name, uint32_t t, uint32_t depth)
{
    static const char STACK[] = "stack:";
    char *rest;
    if (strncmp(name, STACK, sizeof STACK - 1) != 0) return false;
    if (strtoul(name + sizeof STACK - 1, &rest, 10) != t || *rest != '/') return false;
    return strtoul(rest + 1, &rest, 10) == depth && *rest == '%';
}

/* The stack objects of a frame, which is the newest of its thread. */
static ft_status read_stack(reading *r, uint32_t t, uint32_t depth, uint64_t *next_base)
{
    const ft_epoch *e = r->epoch;
    const ft_function *f = sym_thread_of(r->m, t)->frames.data[depth].function;
    for (size_t i = 0; i < e->objects.len; i++) {
        ft_state_place p;
        ft_strbuf text = {0};
        if (!is_of_frame(text_of(r, e->objects.data[i].name), t, depth)) continue;
        ft_strbuf_printf(&text, "%s+0", text_of(r, e->objects.data[i].name));
        bool own = ft_state_place_read(text.text, &p) && p.kind == FT_STATE_STACK &&
                   p.thread == t && p.frame == depth;
        ft_sym_place maker = own ? maker_of(f, &p) : (ft_sym_place){0, 0};
        ft_strbuf_release(&text);
        if (!own) continue;
        if (maker.function == FT_NO_SYMBOL || e->objects.data[i].freed)
            return not_there(r, text_of(r, e->objects.data[i].name));
        uint64_t align = UINT64_C(1) << f->instructions.data[maker.instruction].attribute;
        uint32_t number = sym_object_new(r->m, next_base, e->objects.data[i].size, align);
        r->m->objects.data[number].stack_of = t + 1;
        r->m->objects.data[number].maker = maker;
        ft_vec_push(&sym_thread_of(r->m, t)->stack, number);
    }
    return FT_OK;
}

static ft_status read_calls(reading *r, uint32_t t)
{
    const ft_standing *s = &r->epoch->stands.data[t];
    ft_status status = FT_OK;
    for (size_t i = s->calls.len; i-- > 0 && status == FT_OK;) {
        status = read_call(r, t, &s->calls.data[i]);
        uint64_t next = sym_thread_of(r->m, t)->next_base;
        if (status == FT_OK) status = read_stack(r, t, (uint32_t)(s->calls.len - 1 - i), &next);
        sym_thread_of(r->m, t)->next_base = next;
    }
    return status;
}

/* Does the thread stand before what the epoch says? */
static ft_status check_standing(reading *r, uint32_t t)
{
    const ft_standing *s = &r->epoch->stands.data[t];
    sym_thread *th = sym_thread_of(r->m, t);
    ft_node_kind kind;
    const ft_instruction *in = sym_instruction(r->m, t);
    if (s->kind == FT_STANDING_ENDED) return FT_OK;
    th->second = in && ft_node_row_of((ft_node_kind)s->kind)->second;
    th->outcome = s->last;
    bool good = in && ft_node_kind_of((ft_code)in->code, th->second, &kind) && kind == s->kind;
    for (size_t d = 0; d + 1 < th->frames.len; d++) {
        const frame *f = &th->frames.data[d];
        ft_code code = (ft_code)f->function->instructions.data[f->at].code;
        good = good && (code == FT_CODE_CALL || code == FT_CODE_CALL_AT);
    }
    return good ? FT_OK : not_there(r, "where a thread stands");
}

static ft_status read_threads(reading *r)
{
    ft_sym_state *m = r->m;
    const ft_epoch *e = r->epoch;
    for (uint32_t t = 0; t < e->stands.len; t++) {
        bool ended = e->stands.data[t].kind == FT_STANDING_ENDED;
        ft_vec_push(&m->threads, (sym_thread){.exists = true,
                                              .begun = true,
                                              .ended = ended,
                                              .detached = e->stands.data[t].detached,
                                              .next_base = (uint64_t)(t + 1) << 40});
        if (!sym_thread_objects(m, t)) return not_there(r, "so large an object");
    }
    uint64_t old = UINT64_C(1) << 39;
    for (size_t i = 0; i < e->objects.len; i++) {
        if (strncmp(text_of(r, e->objects.data[i].name), "heap:", 5) != 0) continue;
        uint32_t number = sym_object_new(m, &old, e->objects.data[i].size, 16);
        m->objects.data[number].heap = true;
        m->objects.data[number].maker = (ft_sym_place){FT_NO_SYMBOL, 0};
        if (e->objects.data[i].freed) return not_there(r, text_of(r, e->objects.data[i].name));
    }
    ft_status status = FT_OK;
    for (uint32_t t = 0; t < e->stands.len && status == FT_OK; t++) {
        status = read_calls(r, t);
        if (status == FT_OK) status = check_standing(r, t);
    }
    return status;
}

/* ---- places ---- */

typedef struct spot {
    value *in_register; /* or a thread's result; NULL: in memory */
    uint32_t object;
    uint64_t at;
} spot;

static bool find_register(const ft_sym_state *m, const ft_state_place *p, uint8_t width, spot *s)
{
    if (p->thread >= m->threads.len) return false;
    const sym_thread *th = sym_thread_of(m, p->thread);
    if (p->frame >= th->frames.len) return false;
    const frame *f = &th->frames.data[p->frame];
    uint32_t i = register_named(f->function, p->name, p->length);
    if (i == FT_NO_REGISTER || f->function->registers.data[i].width != width) return false;
    s->in_register = &th->values.data[f->registers + i];
    return true;
}

static bool find_result(const ft_sym_state *m, const ft_state_place *p, uint8_t width, spot *s)
{
    if (p->thread >= m->threads.len || width != 64) return false;
    s->in_register = &m->threads.data[p->thread].result;
    return m->threads.data[p->thread].ended;
}

/* Is the printed name, with the place's offset, the text? Releases the name. */
static bool is_text(ft_strbuf *name, const ft_state_place *p, const char *text)
{
    ft_strbuf_printf(name, "+%" PRIu64, p->offset);
    bool same = strcmp(name->text, text) == 0;
    ft_strbuf_release(name);
    return same;
}

static bool find_on_stack(const ft_sym_state *m, const char *text, const ft_state_place *p, spot *s)
{
    if (p->thread >= m->threads.len) return false;
    const sym_thread *th = sym_thread_of(m, p->thread);
    if (p->frame >= th->frames.len) return false;
    bool last = p->frame + 1 == th->frames.len;
    size_t end = last ? th->stack.len : th->frames.data[p->frame + 1].objects;
    for (size_t i = th->frames.data[p->frame].objects; i < end; i++) {
        ft_strbuf own = {0};
        sym_stack_place(m, p->thread, i, &own);
        s->object = th->stack.data[i];
        if (is_text(&own, p, text)) return true;
    }
    return false;
}

static bool find_object(const ft_sym_state *m, const char *text, const ft_state_place *p, spot *s)
{
    bool heap = p->kind == FT_STATE_HEAP;
    s->at = p->offset;
    if (p->kind == FT_STATE_STACK) return find_on_stack(m, text, p, s);
    for (s->object = 0; s->object < m->objects.len; s->object++) {
        const object *o = &m->objects.data[s->object];
        ft_strbuf own = {0};
        if (o->stack_of || o->heap != heap) continue;
        sym_object_place(m, s->object, &own);
        if (is_text(&own, p, text)) return true;
    }
    return false;
}

static bool find_spot(const ft_sym_state *m, const char *text, uint8_t width, spot *s)
{
    ft_state_place p;
    *s = (spot){0};
    if (!ft_state_place_read(text, &p)) return false;
    if (p.kind == FT_STATE_REGISTER) return find_register(m, &p, width, s);
    if (p.kind == FT_STATE_RESULT) return find_result(m, &p, width, s);
    if (!find_object(m, text, &p, s)) return false;
    const object *o = &m->objects.data[s->object];
    return o->content && s->at <= o->size && (width + 7u) / 8 <= o->size - s->at;
}

static void put(ft_sym_state *m, const spot *s, uint8_t width, value v)
{
    if (s->in_register)
        *s->in_register = v;
    else
        sym_set_cell(m, s->object, s->at, width, v);
}

static bool read_address(const ft_sym_state *m, const char *text, value *v)
{
    ft_state_place p;
    spot s;
    uint32_t thread;
    if (ft_state_handle_read(text, &thread)) {
        *v = (value){.bits = thread, .object = SYM_HANDLE | (thread + 1)};
        return thread < m->threads.len;
    }
    if (!ft_state_place_read(text, &p) || !ft_state_place_is_memory(&p) ||
        !find_object(m, text, &p, &s))
        return false;
    *v = (value){.bits = m->objects.data[s.object].base + p.offset, .object = s.object + 1};
    return true;
}

static ft_status read_cells(reading *r)
{
    spot s;
    for (size_t i = 0; i < r->epoch->cells.len; i++) {
        const ft_epoch_cell *from = &r->epoch->cells.data[i];
        value v = sym_number(from->bits);
        if (!find_spot(r->m, text_of(r, from->place), from->width, &s))
            return not_there(r, text_of(r, from->place));
        if (from->address != FT_NO_ID && !read_address(r->m, text_of(r, from->address), &v))
            return not_there(r, text_of(r, from->address));
        put(r->m, &s, from->width, v);
    }
    return FT_OK;
}

static ft_status read_unknowns(reading *r)
{
    spot s;
    uint32_t number = (uint32_t)(r->epoch - r->set->epochs.data);
    for (size_t i = 0; i < r->set->inputs.len; i++) {
        const ft_schedule_input *in = &r->set->inputs.data[i];
        const char *place = text_of(r, in->name);
        if (in->n || in->epoch != number) continue;
        if (!find_spot(r->m, place, in->width, &s)) return not_there(r, place);
        ft_symbol symbol = ft_sym_world_unknown(r->m->world, place, in->width);
        ft_sort sort = in->width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, in->width};
        put(r->m, &s, in->width, (value){.term = ft_term_symbol(r->m->world->pool, symbol, sort)});
    }
    return FT_OK;
}

static int by_address(const void *a, const void *b)
{
    const sync_object *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static ft_status read_syncs(reading *r)
{
    spot s;
    for (size_t i = 0; i < r->epoch->syncs.len; i++) {
        const ft_epoch_sync *from = &r->epoch->syncs.data[i];
        if (!find_spot(r->m, text_of(r, from->place), 8, &s) || s.in_register)
            return not_there(r, text_of(r, from->place));
        sync_object made = {.address = r->m->objects.data[s.object].base + s.at,
                            .kind = SYNC_KINDS[from->kind],
                            .mutex_kind = from->mutex,
                            .destroyed = from->destroyed,
                            .owner = from->owner == FT_NO_ID ? 0 : from->owner + 1,
                            .count = from->count,
                            .total = from->total,
                            .waiters = from->waiters | from->arrived,
                            .notified = from->notified};
        if (from->kind == FT_EPOCH_SYNC_BARRIER)
            made.count = (uint64_t)__builtin_popcountll(from->arrived);
        memcpy(made.reads, from->reads, sizeof made.reads);
        for (uint32_t t = 0; t < FT_SCHEDULE_THREADS; t++)
            if (from->reads[t]) made.readers |= UINT64_C(1) << t;
        ft_vec_push(&r->m->syncs, made);
    }
    if (r->m->syncs.len)
        qsort(r->m->syncs.data, r->m->syncs.len, sizeof *r->m->syncs.data, by_address);
    return FT_OK;
}

static bool is_note(const reading *r, const ft_epoch_local *l, const ft_variable_note *note,
                    bool address)
{
    const ft_program *p = r->m->world->program;
    return note->address == address && note->position.file != FT_NO_FILE &&
           note->position.line == l->line &&
           strcmp(p->files.names[note->position.file], text_of(r, l->file)) == 0 &&
           strcmp(p->texts.names[note->name], text_of(r, l->name)) == 0;
}

/* Has the register that variable's value, or its address? */
static bool is_local(const reading *r, const ft_epoch_local *l)
{
    ft_state_place p;
    bool known = ft_state_place_read(text_of(r, l->place), &p);
    if (!known || p.thread >= r->m->threads.len) return false;
    const sym_thread *th = sym_thread_of(r->m, p.thread);
    if (p.frame >= th->frames.len) return false;
    const frame *f = &th->frames.data[p.frame];
    uint32_t reg = register_named(f->function, p.name, p.length);
    if (reg == FT_NO_REGISTER) return false;
    uint32_t *notes = ft_alloc((f->function->registers.len + 1) * sizeof *notes);
    ft_variables_before(f->function, f->at, notes);
    bool good = notes[reg] != FT_NO_ID &&
                is_note(r, l, &f->function->variables.data[notes[reg]], p.kind == FT_STATE_STACK);
    free(notes);
    return good;
}

static ft_status read_locals(reading *r)
{
    for (size_t i = 0; i < r->epoch->locals.len; i++)
        if (!is_local(r, &r->epoch->locals.data[i]))
            return ft_error_set(r->err, FT_INPUT, "epoch %s: '%s' is not the variable %s there",
                                text_of(r, r->epoch->name),
                                text_of(r, r->epoch->locals.data[i].place),
                                text_of(r, r->epoch->locals.data[i].name));
    return FT_OK;
}

ft_status ft_sym_read_epoch(ft_sym_world *world, const ft_schedule_set *set, uint32_t epoch,
                            ft_sym_state **beginning, ft_error *err)
{
    FT_REQUIRE(world && set && epoch < set->epochs.len && beginning);
    reading r = {
        .m = ft_calloc(1, sizeof *r.m), .set = set, .epoch = &set->epochs.data[epoch], .err = err};
    r.m->world = world;
    r.m->next_global = UINT64_C(1) << 32;
    ft_status status = sym_make_globals(r.m) ? FT_OK : not_there(&r, "so large an object");
    if (status == FT_OK) status = read_threads(&r);
    if (status == FT_OK) status = read_cells(&r);
    if (status == FT_OK) status = read_unknowns(&r);
    if (status == FT_OK) status = read_syncs(&r);
    if (status == FT_OK) status = read_locals(&r);
    r.m->old = (uint32_t)r.m->objects.len;
    if (status == FT_OK)
        *beginning = r.m;
    else
        ft_sym_free(r.m);
    return status;
}

ft_term ft_sym_content(const ft_sym_state *m, const char *place, uint8_t width)
{
    spot s;
    if (!find_spot(m, place, width, &s)) return FT_NO_TERM;
    value v = s.in_register ? *s.in_register : sym_cell(m, s.object, s.at, width);
    return width == 1 ? sym_truth(m->world, v) : sym_bits(m->world, v, width);
}
