#include "schedules/arrival.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

#define TRY(expression)                                                                            \
    do {                                                                                           \
        ft_status try_status = (expression);                                                       \
        if (try_status != FT_OK) return try_status;                                                \
    } while (0)

static const ft_epoch *epoch_of(const ft_arrival *a)
{
    return &a->set->epochs.data[a->epoch];
}

static const char *text_of(const ft_arrival *a, uint32_t text)
{
    return ft_schedule_text_of(a->set, text);
}

/* ---- places ---- */

static uint32_t symbol_named(const ft_arrival *a, const ft_state_place *p)
{
    uint32_t symbol = ft_intern_find(&a->program->names, p->name, p->length);
    return symbol == FT_NO_ID ? FT_NO_SYMBOL : symbol;
}

/* The register of the place's frame; false: there is none. */
static bool register_at(const ft_arrival *a, const ft_state_place *p, uint32_t *index)
{
    enum { MOST = 64 };
    ft_interpreter_place places[MOST];
    uint32_t thread = a->threads[p->thread];
    uint32_t n = ft_interpreter_stack(a->interpreter, thread, places, MOST);
    if (n > MOST || p->frame >= n) return false;
    const ft_function *f = ft_program_function(a->program, places[n - 1 - p->frame].function);
    for (uint32_t r = 0; r < f->registers.len; r++) {
        const char *name = ft_register_name(f, r);
        if (strlen(name) == p->length && strncmp(name, p->name, p->length) == 0)
            return *index = r, true;
    }
    return false;
}

/* Which of the epoch's objects the place is in; FT_NO_ID: in none. */
static uint32_t object_number(const ft_arrival *a, const char *place)
{
    const char *plus = strrchr(place, '+');
    const ft_epoch *e = epoch_of(a);
    for (uint32_t i = 0; plus && i < e->objects.len; i++) {
        const char *name = text_of(a, e->objects.data[i].name);
        if (strlen(name) == (size_t)(plus - place) &&
            strncmp(name, place, (size_t)(plus - place)) == 0)
            return i;
    }
    return FT_NO_ID;
}

static bool address_of(const ft_arrival *a, const char *text, uint64_t *address)
{
    ft_state_place p;
    uint32_t handle;
    if (ft_state_handle_read(text, &handle)) return *address = a->threads[handle], true;
    if (!ft_state_place_read(text, &p) || !ft_state_place_is_memory(&p)) return false;
    if (p.kind == FT_STATE_HEAP || p.kind == FT_STATE_STACK) {
        uint32_t object = object_number(a, text);
        if (object == FT_NO_ID || !a->objects[object]) return false;
        *address = a->objects[object] + p.offset;
        return true;
    }
    uint32_t symbol = symbol_named(a, &p);
    uint32_t thread = p.kind == FT_STATE_OWN ? a->threads[p.thread] : 0;
    if (symbol == FT_NO_SYMBOL || a->program->symbols.data[symbol].kind == FT_UNDEFINED)
        return false;
    const ft_object *o = ft_program_object(a->program, symbol);
    if ((o && o->by_thread) != (p.kind == FT_STATE_OWN)) return false;
    *address = ft_interpreter_symbol_address(a->interpreter, thread, symbol) + p.offset;
    return *address != p.offset;
}

bool ft_arrival_read(const ft_arrival *a, const char *place, uint8_t width, uint64_t *bits)
{
    ft_state_place p;
    uint32_t index;
    uint64_t address;
    unsigned char bytes[8] = {0};
    if (!ft_state_place_read(place, &p)) return false;
    if (p.kind == FT_STATE_REGISTER) {
        if (!register_at(a, &p, &index)) return false;
        *bits = ft_interpreter_register(a->interpreter, a->threads[p.thread], p.frame, index) &
                ft_width_mask(width);
        return true;
    }
    if (p.kind == FT_STATE_RESULT)
        return ft_interpreter_result(a->interpreter, a->threads[p.thread], bits);
    if (!address_of(a, place, &address) ||
        !ft_interpreter_read(a->interpreter, address, (width + 7u) / 8, bytes))
        return false;
    *bits = 0;
    for (unsigned i = 0; i < (width + 7u) / 8; i++) *bits |= (uint64_t)bytes[i] << 8 * i;
    *bits &= ft_width_mask(width);
    return true;
}

/* ---- objects ---- */

/* A register or a cell holds the address of something in the object. */
static bool find_by(ft_arrival *a, const char *place, const char *address)
{
    ft_state_place p;
    ft_interpreter_location at;
    uint64_t bits;
    uint32_t object = object_number(a, address);
    if (object == FT_NO_ID || a->objects[object] || !ft_state_place_read(address, &p)) return false;
    if (!ft_arrival_read(a, place, 64, &bits)) return false;
    if (!ft_interpreter_locate(a->interpreter, bits - p.offset, &at)) return false;
    a->objects[object] = bits - p.offset;
    return true;
}

static bool find_by_register(ft_arrival *a, uint32_t object)
{
    ft_strbuf address = {0};
    const char *name = text_of(a, epoch_of(a)->objects.data[object].name);
    bool found = false;
    ft_strbuf_printf(&address, "%s+0", name);
    if (strncmp(name, "stack:", 6) == 0 && !strchr(name, '#'))
        found = find_by(a, name + 6, address.text);
    ft_strbuf_release(&address);
    return found;
}

void ft_arrival_init(ft_arrival *a, const ft_program *program, const ft_schedule_set *set,
                     uint32_t epoch, const ft_interpreter *interpreter, const uint32_t *threads)
{
    FT_REQUIRE(epoch && epoch < set->epochs.len);
    *a = (ft_arrival){.set = set, .epoch = epoch, .program = program, .interpreter = interpreter};
    const ft_epoch *e = epoch_of(a);
    memcpy(a->threads, threads, e->stands.len * sizeof *threads);
    a->objects = ft_calloc(e->objects.len + 1, sizeof *a->objects);
    for (uint32_t i = 0; i < e->objects.len; i++) (void)find_by_register(a, i);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < e->cells.len; i++) {
            const ft_epoch_cell *cell = &e->cells.data[i];
            if (cell->address != FT_NO_ID)
                more |= find_by(a, text_of(a, cell->place), text_of(a, cell->address));
        }
    }
}

void ft_arrival_release(ft_arrival *a)
{
    free(a->objects);
}

/* ---- where threads stand ---- */

static bool stands_at(const ft_arrival *a, uint32_t thread, const ft_standing *at)
{
    enum { MOST = 64 };
    ft_interpreter_place places[MOST];
    uint32_t n = ft_interpreter_stack(a->interpreter, thread, places, MOST);
    if (n > MOST || n != at->calls.len) return false;
    for (uint32_t i = 0; i < n; i++) {
        const ft_schedule_place *p = &at->calls.data[i];
        if (places[i].instruction != p->instruction ||
            strcmp(ft_program_symbol_name(a->program, places[i].function),
                   text_of(a, p->function)) != 0)
            return false;
    }
    return true;
}

static bool is_kind(const ft_interpreter_operation *o, uint8_t kind)
{
    ft_node_kind found;
    if (o->code == FT_CODES) return kind == FT_NODE_BEGIN;
    if (o->code == FT_CODE_FAIL) return kind == FT_NODE_EXIT;
    return ft_node_kind_of(o->code, o->second, &found) && found == kind;
}

static bool is_standing(const ft_arrival *a, uint32_t number, const ft_standing *at)
{
    ft_interpreter_operation o;
    uint32_t thread = a->threads[number];
    bool ended = !ft_interpreter_stands_before(a->interpreter, thread, &o);
    if (at->kind == FT_STANDING_ENDED) return ended;
    return !ended && is_kind(&o, at->kind) && stands_at(a, thread, at);
}

static bool is_result(const ft_arrival *a, uint32_t place, uint32_t thread)
{
    ft_state_place p;
    return ft_state_place_read(text_of(a, place), &p) && p.kind == FT_STATE_RESULT &&
           p.thread == thread;
}

/* Does the epoch say what the thread has returned? */
static bool lists_result(const ft_arrival *a, uint32_t thread)
{
    const ft_epoch *e = epoch_of(a);
    for (size_t i = 0; i < e->cells.len; i++)
        if (is_result(a, e->cells.data[i].place, thread)) return true;
    for (size_t i = 0; i < a->set->inputs.len; i++) {
        const ft_schedule_input *in = &a->set->inputs.data[i];
        if (in->epoch == a->epoch && !in->n && is_result(a, in->name, thread)) return true;
    }
    return false;
}

/* A thread that may be joined has returned 0, unless the epoch says something else. */
static ft_status check_results(const ft_arrival *a, ft_error *err)
{
    const ft_epoch *e = epoch_of(a);
    for (uint32_t i = 0; i < e->stands.len; i++) {
        uint64_t result;
        const ft_standing *s = &e->stands.data[i];
        if (s->kind != FT_STANDING_ENDED || s->detached || lists_result(a, i)) continue;
        if (ft_interpreter_result(a->interpreter, a->threads[i], &result) && result)
            return ft_error_set(err, FT_INPUT, "thread %u of epoch %s has another result", i,
                                text_of(a, e->name));
    }
    return FT_OK;
}

static ft_status check_stands(const ft_arrival *a, ft_error *err)
{
    const ft_epoch *e = epoch_of(a);
    for (uint32_t i = 0; i < e->stands.len; i++)
        if (!is_standing(a, i, &e->stands.data[i]))
            return ft_error_set(err, FT_INPUT, "thread %u of epoch %s stands at another place", i,
                                text_of(a, e->name));
    return FT_OK;
}

/* ---- memory ---- */

/* Bytes of an object that lines of the epoch say something of. */
typedef struct covered {
    uint64_t address, size;
    unsigned char *bytes;
} covered;

static void cover(const ft_arrival *a, covered *c, uint32_t place, uint8_t width)
{
    uint64_t address;
    if (!address_of(a, text_of(a, place), &address) || address < c->address) return;
    for (uint64_t i = 0; i < (width + 7u) / 8; i++)
        if (address - c->address + i < c->size) c->bytes[address - c->address + i] = 1;
}

static void cover_all(const ft_arrival *a, covered *c)
{
    const ft_epoch *e = epoch_of(a);
    for (size_t i = 0; i < e->cells.len; i++)
        cover(a, c, e->cells.data[i].place, e->cells.data[i].width);
    for (size_t i = 0; i < a->set->inputs.len; i++) {
        const ft_schedule_input *in = &a->set->inputs.data[i];
        if (in->epoch == a->epoch && !in->n) cover(a, c, in->name, in->width);
    }
}

/* All else is as in `first`, or zero where that is NULL. */
static bool rest_is(const ft_arrival *a, uint64_t address, uint64_t size, const char *first)
{
    covered c = {.address = address, .size = size, .bytes = ft_calloc(size + 1, 1)};
    char *now = ft_calloc(size + 1, 1);
    bool same = !size || ft_interpreter_read(a->interpreter, address, size, now);
    cover_all(a, &c);
    for (uint64_t i = 0; i < size && same; i++)
        same = c.bytes[i] || now[i] == (first ? first[i] : 0);
    free(now);
    free(c.bytes);
    return same;
}

static char *first_content(const ft_arrival *a, const ft_object *o)
{
    const ft_program *p = a->program;
    char *bytes = ft_calloc(o->size + 1, 1);
    for (uint32_t i = 0; i < o->n_initial; i++) {
        const ft_initial *part = &p->initials.data[o->initial + i];
        if (part->symbol == FT_NO_SYMBOL) {
            memcpy(bytes + part->offset, p->texts.names[part->text], p->texts.lengths[part->text]);
            continue;
        }
        uint64_t bits =
            ft_interpreter_symbol_address(a->interpreter, 0, part->symbol) + part->addend;
        for (unsigned k = 0; k < 8; k++) bytes[part->offset + k] = (char)(bits >> 8 * k);
    }
    return bytes;
}

/* One that is not made yet has its first content when it is. */
static bool object_is(const ft_arrival *a, const ft_object *o, uint32_t thread)
{
    uint64_t address = ft_interpreter_symbol_address(a->interpreter, thread, o->symbol);
    char *first = first_content(a, o);
    bool same = !address || rest_is(a, address, o->size, first);
    free(first);
    return same;
}

static ft_status check_objects(const ft_arrival *a, ft_error *err)
{
    const ft_epoch *e = epoch_of(a);
    for (size_t i = 0; i < a->program->objects.len; i++) {
        const ft_object *o = &a->program->objects.data[i];
        for (uint32_t t = 0; t < (o->by_thread ? e->stands.len : 1) && !o->constant; t++) {
            bool ended = o->by_thread && e->stands.data[t].kind == FT_STANDING_ENDED;
            if (!ended && !object_is(a, o, o->by_thread ? a->threads[t] : 0))
                return ft_error_set(
                    err, FT_INPUT, "epoch %s: @%s has other content than at the start",
                    text_of(a, e->name), ft_program_symbol_name(a->program, o->symbol));
        }
    }
    return FT_OK;
}

/* Those of the heap and the stack: as large, and zero where nothing is said. */
static ft_status check_made(const ft_arrival *a, ft_error *err)
{
    const ft_epoch *e = epoch_of(a);
    for (size_t i = 0; i < e->objects.len; i++) {
        ft_interpreter_location at;
        if (!a->objects[i]) continue;
        bool there = ft_interpreter_locate(a->interpreter, a->objects[i], &at);
        bool same =
            there && at.symbol == FT_NO_SYMBOL && !at.offset && at.size == e->objects.data[i].size;
        for (size_t k = 0; k < i; k++) same = same && a->objects[k] != a->objects[i];
        unsigned char byte;
        bool freed =
            there && at.size && !ft_interpreter_read(a->interpreter, a->objects[i], 1, &byte);
        same = same && freed == e->objects.data[i].freed;
        if (!same || (!freed && !rest_is(a, a->objects[i], at.size, NULL)))
            return ft_error_set(err, FT_INPUT, "epoch %s: %s is another object",
                                text_of(a, e->name), text_of(a, e->objects.data[i].name));
    }
    return FT_OK;
}

static ft_status check_cells(const ft_arrival *a, ft_error *err)
{
    const ft_epoch *e = epoch_of(a);
    for (size_t i = 0; i < e->cells.len; i++) {
        const ft_epoch_cell *cell = &e->cells.data[i];
        uint64_t bits, wanted = cell->bits;
        bool known = cell->address == FT_NO_ID || address_of(a, text_of(a, cell->address), &wanted);
        if (!known || !ft_arrival_read(a, text_of(a, cell->place), cell->width, &bits) ||
            bits != wanted)
            return ft_error_set(err, FT_INPUT, "epoch %s: %s has another content",
                                text_of(a, e->name), text_of(a, cell->place));
    }
    return FT_OK;
}

/* ---- synchronisation objects ---- */

/* Bits by thread of the epoch, as bits by the interpreter's. */
static uint64_t renamed(const ft_arrival *a, uint64_t bits)
{
    uint64_t made = 0;
    for (uint32_t t = 0; t < epoch_of(a)->stands.len; t++)
        if (bits >> t & 1) made |= UINT64_C(1) << a->threads[t];
    return made;
}

static bool sync_is(const ft_arrival *a, const ft_epoch_sync *s, const ft_interpreter_object *o)
{
    uint32_t owner = s->owner == FT_NO_ID ? 0 : a->threads[s->owner] + 1;
    uint64_t readers = 0;
    for (uint32_t t = 0; t < FT_SCHEDULE_THREADS; t++) readers |= (uint64_t)(s->reads[t] > 0) << t;
    if (s->kind == FT_EPOCH_SYNC_BARRIER)
        return o->total == s->total && o->waiters == renamed(a, s->arrived);
    if (s->kind == FT_EPOCH_SYNC_CONDITION) return o->waiters == renamed(a, s->waiters);
    return o->owner == owner && o->count == s->count && o->readers == renamed(a, readers);
}

static ft_status check_syncs(const ft_arrival *a, ft_error *err)
{
    const ft_epoch *e = epoch_of(a);
    for (uint32_t i = 0; i < ft_interpreter_syncs(a->interpreter); i++) {
        uint64_t address = ft_interpreter_sync_address(a->interpreter, i), at;
        ft_interpreter_object o = ft_interpreter_object_at(a->interpreter, address);
        bool named = false;
        for (size_t k = 0; k < e->syncs.len && !named; k++)
            named = address_of(a, text_of(a, e->syncs.data[k].place), &at) && at == address;
        if (!named && (o.owner || o.readers || o.waiters || o.count))
            return ft_error_set(
                err, FT_INPUT, "epoch %s: a synchronisation object is in use that it does not have",
                text_of(a, e->name));
    }
    for (size_t k = 0; k < e->syncs.len; k++) {
        const ft_epoch_sync *s = &e->syncs.data[k];
        uint64_t at;
        ft_interpreter_object o = {0};
        if (address_of(a, text_of(a, s->place), &at))
            o = ft_interpreter_object_at(a->interpreter, at);
        if (!sync_is(a, s, &o))
            return ft_error_set(err, FT_INPUT, "epoch %s: %s is in another state",
                                text_of(a, e->name), text_of(a, s->place));
    }
    return FT_OK;
}

/* ---- conditions ---- */

typedef struct asked {
    const ft_arrival *arrival;
    ft_schedule_value value;
    void *context;
} asked;

static bool value_of(void *context, const ft_schedule_input *in, const char *name,
                     const char *thread, uint64_t *value)
{
    const asked *ask = context;
    if (!in->n) return ft_arrival_read(ask->arrival, name, in->width, value);
    return ask->value && ask->value(ask->context, in, name, thread, value);
}

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const asked *ask = context;
    const ft_schedule_set *set = ask->arrival->set;
    const ft_schedule_input *in = &set->inputs.data[symbol];
    uint64_t bits;
    if (!value_of(context, in, ft_schedule_text_of(set, in->name),
                  ft_schedule_text_of(set, in->thread), &bits))
        return false;
    value->sort = in->width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, in->width};
    value->bits = bits & ft_width_mask(in->width);
    return true;
}

ft_status ft_arrival_check(const ft_arrival *a, ft_schedule_value value, void *context,
                           ft_error *err)
{
    const ft_epoch *e = epoch_of(a);
    asked ask = {a, value, context};
    ft_value holds = {.bits = 1};
    TRY(check_stands(a, err));
    TRY(check_results(a, err));
    TRY(check_cells(a, err));
    TRY(check_objects(a, err));
    TRY(check_made(a, err));
    TRY(check_syncs(a, err));
    if (e->init != FT_NO_TERM &&
        (ft_term_eval(a->set->pool, e->init, look_up, &ask, &holds) != FT_EVAL_OK || !holds.bits))
        return ft_error_set(err, FT_INPUT, "epoch %s: its init does not hold", text_of(a, e->name));
    return FT_OK;
}

ft_status ft_arrival_select(const ft_arrival *a, ft_schedule_value value, void *context,
                            uint32_t *schedule, ft_error *err)
{
    asked ask = {a, value, context};
    return ft_schedule_select(a->set, a->epoch, value_of, &ask, schedule, err);
}
