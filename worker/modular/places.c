#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "modular/steps.h"

/* ---- objects ---- */

uint32_t mod_object_of(modular *m, const mod_object *object)
{
    const uint32_t key[] = {object->origin, object->symbol, object->function, object->instruction,
                            object->depth};
    uint32_t id = ft_intern_add(&m->object_keys, (const char *)key, sizeof key);
    if (id == m->objects.len) ft_vec_push(&m->objects, *object);
    assert(id < m->objects.len);
    return id;
}

void mod_open(modular *m, uint32_t object)
{
    mod_object *o = &m->objects.data[object];
    if (o->open || o->origin == MOD_CONSTANT) return;
    o->open = m->anew = true;
}

static const mod_object *object_of(const modular *m, mod_value address)
{
    return address.kind == MOD_ADDRESS ? &m->objects.data[address.index] : NULL;
}

bool mod_is_shared(const modular *m, mod_value address)
{
    const mod_object *o = object_of(m, address);
    return o && o->origin == MOD_GLOBAL && !o->open;
}

/* ---- first contents ---- */

static void note_uses(modular *m, const ft_function *f, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const ft_operand *o = &f->operands.data[first + i];
        if (o->kind == FT_OPERAND_ADDRESS) m->fixed[o->index] = false;
    }
}

/* A global whose address is used by loads alone. */
void mod_find_fixed(modular *m)
{
    size_t n = m->program->symbols.len;
    m->fixed = ft_alloc(n + 1);
    memset(m->fixed, true, n + 1);
    for (size_t i = 0; i < m->program->initials.len; i++)
        if (m->program->initials.data[i].symbol != FT_NO_SYMBOL)
            m->fixed[m->program->initials.data[i].symbol] = false;
    for (size_t i = 0; i < m->program->functions.len; i++) {
        const ft_function *f = &m->program->functions.data[i];
        for (size_t k = 0; k < f->instructions.len; k++) {
            const ft_instruction *in = &f->instructions.data[k];
            bool loads = in->code == FT_CODE_LOAD || in->code == FT_CODE_ATOMIC_LOAD;
            if (mod_fault_is(MOD_FAULT_ONLY_READ)) loads |= in->code == FT_CODE_STORE;
            if (!loads) note_uses(m, f, in->operands, in->n_operands);
            for (uint32_t t = 0; t < in->n_targets; t++) {
                const ft_target *target = &f->targets.data[in->targets + t];
                note_uses(m, f, target->operands, target->n_operands);
            }
        }
    }
}

/* The bound on threads of `foretell lower --threads`: a proof is for any number of them. */
static bool is_bound_on_threads(const modular *m, const ft_object *o)
{
    return strcmp(ft_program_symbol_name(m->program, o->symbol), "foretell_most_threads") == 0;
}

/* The number that the bytes make; false: an address is among them. */
static bool initial_bits(const modular *m, const ft_object *o, uint64_t offset, uint32_t bytes,
                         uint64_t *bits, const ft_initial **address)
{
    *bits = 0;
    if (is_bound_on_threads(m, o)) return true;
    for (uint32_t i = 0; i < o->n_initial; i++) {
        const ft_initial *part = &m->program->initials.data[o->initial + i];
        bool is_address = part->symbol != FT_NO_SYMBOL;
        uint64_t size = is_address ? 8 : m->program->texts.lengths[part->text];
        if (part->offset + size <= offset || offset + bytes <= part->offset) continue;
        if (is_address) return *address = part, false;
        const char *text = m->program->texts.names[part->text];
        for (uint64_t k = 0; k < size; k++) {
            uint64_t at = part->offset + k;
            if (at >= offset && at < offset + bytes)
                *bits |= (uint64_t)(uint8_t)text[k] << (at - offset) * 8;
        }
    }
    return true;
}

mod_value mod_symbol_value(modular *m, uint32_t symbol, uint64_t addend)
{
    const ft_object *o = ft_program_object(m->program, symbol);
    if (!o) return (mod_value){.kind = MOD_FUNCTION, .index = symbol, .offset = addend};
    mod_object made = {.origin = o->by_thread                      ? MOD_BY_THREAD
                                 : o->constant || m->fixed[symbol] ? MOD_CONSTANT
                                                                   : MOD_GLOBAL,
                       .symbol = symbol,
                       .size = o->size};
    return (mod_value){.kind = MOD_ADDRESS, .index = mod_object_of(m, &made), .offset = addend};
}

/* Does memory at that offset know the object of an address that is stored there? */
static bool keeps_object(uint64_t offset)
{
    return offset % 8 == 0 || mod_fault_is(MOD_FAULT_ODD_PLACES);
}

static mod_value initial_value(modular *m, mod_run *run, const mod_object *object, uint64_t offset,
                               uint8_t width)
{
    uint64_t bits;
    const ft_initial *part = NULL;
    const ft_object *o = ft_program_object(m->program, object->symbol);
    if (initial_bits(m, o, offset, (width + 7u) / 8, &bits, &part))
        return mod_bare(mod_literal(m, width, bits));
    if (part->offset == offset && keeps_object(offset) && width == 64)
        return mod_symbol_value(m, part->symbol, part->addend);
    return mod_of(mod_fresh(m, run, width));
}

/* ---- cells ---- */

static bool overlap(const mod_cell *a, const mod_cell *b)
{
    return a->object == b->object && a->offset < b->offset + (b->width + 7u) / 8 &&
           b->offset < a->offset + (a->width + 7u) / 8;
}

static bool is_same(const mod_cell *a, const mod_cell *b)
{
    return a->object == b->object && a->offset == b->offset && a->width == b->width &&
           a->content == b->content;
}

/* Bytes with parts in common, or bytes of a synchronisation object. */
static bool excludes(const mod_cell *a, const mod_cell *b)
{
    if (mod_fault_is(MOD_FAULT_OVERLAPS)) return false;
    bool both_bytes = a->content == MOD_BYTES && b->content == MOD_BYTES;
    if (a->content != MOD_BYTES && b->content != MOD_BYTES) return false;
    return overlap(a, b) && (!both_bytes || !is_same(a, b));
}

static uint64_t first_content(modular *m, const mod_object *o, const mod_cell *c)
{
    uint64_t bits = 0;
    const ft_initial *part = NULL;
    const ft_object *own = ft_program_object(m->program, o->symbol);
    if (c->content == MOD_BYTES)
        (void)initial_bits(m, own, c->offset, (c->width + 7u) / 8, &bits, &part);
    return bits & ft_width_mask(c->width);
}

/* A global's cell; MOD_NOWHERE: its object became open. */
static uint32_t cell_of(modular *m, mod_cell wanted)
{
    for (uint32_t i = 0; i < m->cells.len; i++) {
        if (is_same(&m->cells.data[i], &wanted)) return i;
        if (!excludes(&m->cells.data[i], &wanted)) continue;
        mod_open(m, wanted.object);
        return MOD_NOWHERE;
    }
    const mod_object *o = &m->objects.data[wanted.object];
    uint64_t bits;
    const ft_initial *part = NULL;
    bool is_number = wanted.content != MOD_BYTES ||
                     initial_bits(m, ft_program_object(m->program, o->symbol), wanted.offset,
                                  (wanted.width + 7u) / 8, &bits, &part);
    bool is_odd = wanted.content != MOD_BYTES && /* a kind of its own, perhaps */
                  ft_program_object(m->program, o->symbol)->n_initial > 0;
    if (!is_number || is_odd) return mod_open(m, wanted.object), MOD_NOWHERE;
    wanted.initial = first_content(m, o, &wanted);
    ft_vec_push(&m->cells, wanted);
    return (uint32_t)m->cells.len - 1;
}

static ft_term cell_now(modular *m, const mod_run *run, uint32_t cell)
{
    for (size_t i = 0; i < run->updates.len; i++)
        if (run->updates.data[i].cell == cell) return run->updates.data[i].term;
    return mod_cell_term(m, cell);
}

static void update(mod_run *run, uint32_t cell, ft_term term)
{
    for (size_t i = 0; i < run->updates.len; i++)
        if (run->updates.data[i].cell == cell) {
            run->updates.data[i].term = term;
            return;
        }
    ft_vec_push(&run->updates, (mod_update){cell, term});
}

/* ---- loads and stores ---- */

typedef enum place { ERROR, ANYWHERE, OPEN, OWN, SHARED, FIXED } place;

static place place_of(const modular *m, mod_value address, uint8_t width)
{
    enum { LEAST_ADDRESS = 4096 };
    uint64_t bits;
    const mod_object *o = object_of(m, address);
    if (address.kind == MOD_NUMBER && mod_is_literal(m, address.term, &bits) &&
        bits < LEAST_ADDRESS)
        return ERROR;
    if (address.kind == MOD_FUNCTION) return ERROR;
    if (!o) return ANYWHERE;
    if (o->open || o->origin == MOD_HEAP) return OPEN;
    if (address.offset > o->size || o->size - address.offset < (width + 7u) / 8) return ERROR;
    if (o->origin == MOD_GLOBAL) return SHARED;
    return o->origin == MOD_CONSTANT ? FIXED : OWN;
}

static mod_value own_value(modular *m, mod_run *run, const mod_cell *cell)
{
    for (size_t i = 0; i < run->locals.len; i++) {
        const mod_local *l = &run->locals.data[i];
        if (is_same(&l->cell, cell)) return l->value;
        if (!overlap(&l->cell, cell) || mod_fault_is(MOD_FAULT_OWN_OVERLAPS)) continue;
        mod_open(m, cell->object);
        return mod_of(mod_fresh(m, run, cell->width));
    }
    const mod_object *o = &m->objects.data[cell->object];
    if (o->origin == MOD_STACK) return mod_bare(mod_literal(m, cell->width, 0));
    return initial_value(m, run, o, cell->offset, cell->width);
}

bool mod_load(modular *m, mod_run *run, mod_value address, uint8_t width, mod_value *value)
{
    mod_cell cell = {
        .object = address.index, .offset = address.offset, .width = width, .content = MOD_BYTES};
    uint32_t known;
    switch (place_of(m, address, width)) {
    case ERROR:
        return false;
    case OWN:
        return *value = own_value(m, run, &cell), true;
    case FIXED:
        *value = initial_value(m, run, &m->objects.data[address.index], address.offset, width);
        return true;
    case SHARED:
        known = cell_of(m, cell);
        if (known == MOD_NOWHERE) break;
        return *value = mod_of(cell_now(m, run, known)), true;
    case ANYWHERE:
    case OPEN:
        break;
    }
    if (mod_fault_is(MOD_FAULT_READ_ZERO)) return *value = mod_of(mod_literal(m, width, 0)), true;
    return *value = mod_of(mod_fresh(m, run, width)), true;
}

static void put_own(modular *m, mod_run *run, const mod_cell *cell, mod_value value)
{
    if (value.kind == MOD_ADDRESS && !keeps_object(cell->offset))
        value = mod_of(mod_fresh(m, run, cell->width));
    for (size_t i = 0; i < run->locals.len; i++) {
        mod_local *l = &run->locals.data[i];
        if (is_same(&l->cell, cell)) {
            l->value = value;
            return;
        }
        if (overlap(&l->cell, cell) && !mod_fault_is(MOD_FAULT_OWN_OVERLAPS))
            mod_open(m, cell->object);
    }
    ft_vec_push(&run->locals, (mod_local){*cell, value});
}

bool mod_store(modular *m, mod_run *run, mod_value address, uint8_t width, mod_value value)
{
    mod_cell cell = {
        .object = address.index, .offset = address.offset, .width = width, .content = MOD_BYTES};
    uint32_t known;
    switch (place_of(m, address, width)) {
    case ERROR:
    case FIXED:
        return false;
    case ANYWHERE:
        if (mod_fault_is(MOD_FAULT_COMPUTED_WRITE)) return true;
        return mod_refuse(m, "a write to a place that is computed"), false;
    case OWN:
        return put_own(m, run, &cell, value), true;
    case SHARED:
        known = cell_of(m, cell);
        if (known != MOD_NOWHERE) update(run, known, mod_number(m, run, value, width));
        return true;
    case OPEN:
        break;
    }
    return true;
}

/* ---- synchronisation objects ---- */

static uint32_t sync_cell(modular *m, mod_value address, mod_content content)
{
    if (!mod_is_shared(m, address)) return MOD_NOWHERE;
    return cell_of(m, (mod_cell){.object = address.index,
                                 .offset = address.offset,
                                 .width = 32,
                                 .content = (uint8_t)content});
}

bool mod_sync_get(modular *m, mod_run *run, mod_value address, mod_content content, ft_term *term)
{
    uint32_t cell = sync_cell(m, address, content);
    if (cell == MOD_NOWHERE) return false;
    *term = cell_now(m, run, cell);
    return true;
}

/* A mutex at a computed place may be one that is followed. */
void mod_sync_put(modular *m, mod_run *run, mod_value address, mod_content content, ft_term term)
{
    uint32_t cell = sync_cell(m, address, content);
    if (cell != MOD_NOWHERE)
        update(run, cell, term);
    else if (address.kind != MOD_ADDRESS && !mod_fault_is(MOD_FAULT_COMPUTED_LOCK))
        mod_refuse(m, "a synchronisation object at a place that is computed");
}
