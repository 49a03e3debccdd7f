#include <stdlib.h>
#include <string.h>

#include "maker/annotations/annotations.h"
#include "maker/maker_internal.h"
#include "raw/schedule.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void ft_maker_hash(ft_maker_module *module)
{
    if (!module->hashed && !ft_record_hash(module->path, module->hash)) module->hash[0] = 0;
    module->hashed = true;
}

uint32_t ft_maker_module_id(ft_maker *m, ft_maker_module *from)
{
    if (from->id) return from->id - 1;
    const char *name = base_name(from->path);
    ft_maker_hash(from);
    ft_builder_module(m->builder, name, strlen(name), from->hash, strlen(from->hash));
    from->id = ft_builder_peek(m->builder)->n_modules;
    return from->id - 1;
}

/* Modules do not overlap. */
ft_maker_module *ft_maker_module_at(const ft_maker *m, uint64_t pc)
{
    ft_maker_module *best = NULL;
    for (size_t i = 0; i < m->modules.len; i++) {
        ft_maker_module *one = &m->modules.data[i];
        if (one->base <= pc && (!best || one->base > best->base)) best = one;
    }
    return best;
}

static bool is_own_code(const ft_maker *m, uint64_t pc)
{
    const ft_maker_module *from = ft_maker_module_at(m, pc);
    return from && ft_schedule_is_c_library(from->path, strlen(from->path));
}

bool ft_maker_is_own_memory(ft_maker *m, uint64_t site)
{
    if (site >= m->sites.len) return false;
    while (m->own_memory.len < m->sites.len) ft_vec_push(&m->own_memory, 0);
    uint8_t *known = &m->own_memory.data[site];
    if (!*known) *known = is_own_code(m, m->sites.data[site]) ? 2 : 1;
    return *known == 2;
}

void ft_maker_keep_site(ft_maker *m, uint64_t pc, uint32_t loc)
{
    ft_maker_module *best = ft_maker_module_at(m, pc);
    if (!best) return;
    uint32_t id = ft_maker_module_id(m, best);
    ft_builder_site(m->builder,
                    (ft_code_site){.module = id, .offset = pc - best->base, .loc = loc});
}

/* The builder's location of the code there, and what its source says. */
static uint32_t look_up(ft_maker *m, uint64_t pc)
{
    ft_strbuf place = {0};
    ft_code_place at;
    uint32_t loc = FT_NO_LOC;
    if (ft_symbols_place(m->symbols, pc, &place, &at)) {
        loc = ft_builder_location(m->builder, place.text, place.len, at.function,
                                  at.function ? strlen(at.function) : 0);
        ft_source_lines_tell(m->lines, m->builder, loc, &at, ft_maker_module_at(m, pc)->path);
    }
    ft_strbuf_release(&place);
    return loc;
}

/* Several sites may be one place: what it does differs. */
static uint32_t find_location(ft_maker *m, uint64_t pc)
{
    bool inserted;
    uint64_t *known = ft_map_slot(&m->code, pc, FT_NO_LOC, &inserted);
    if (!inserted) return (uint32_t)*known;
    *known = look_up(m, pc);
    if (*known) ft_maker_keep_site(m, pc, (uint32_t)*known);
    if (*known) ft_maker_note_location(m, pc, (uint32_t)*known);
    if (ft_annotations_is_known(&ft_builder_peek(m->builder)->locations[*known]))
        ft_builder_benign_place(m->builder, (uint32_t)*known);
    return (uint32_t)*known;
}

uint32_t ft_maker_location(ft_maker *m, uint64_t site)
{
    while (m->locations.len < m->sites.len) ft_vec_push(&m->locations, 0);
    if (site >= m->sites.len) return FT_NO_LOC;
    uint32_t *known = &m->locations.data[site];
    if (!*known) *known = find_location(m, m->sites.data[site]) + 1;
    return *known - 1;
}

/* Of code that is no site: branches. */
uint32_t ft_maker_location_at(void *context, uint64_t pc)
{
    ft_maker *m = context;
    bool inserted;
    uint64_t *known = ft_map_slot(&m->places, pc, FT_NO_LOC, &inserted);
    if (inserted) *known = look_up(m, pc);
    return (uint32_t)*known;
}

static const char *place_of(ft_maker *m, uint64_t site)
{
    uint32_t loc = ft_maker_location(m, site); /* first: it may move them */
    const char *text = ft_builder_peek(m->builder)->locations[loc].text;
    return text ? text : "?";
}

/* The name, made unique by a number behind it where it is taken, or has the hash of one that is. */
static void unique(ft_maker *m, ft_strbuf *name)
{
    uint64_t *uses = ft_map_slot(&m->uses, ft_hash_bytes(name->text, name->len, 0), 0, NULL);
    if ((*uses)++) ft_strbuf_printf(name, "#%llu", (unsigned long long)*uses);
}

/* "main", its children "T1", "T2", the children of T1 "T1.1", ...: the same in every run in which
 * every thread creates its own children in the same order. */
uint32_t ft_maker_thread(ft_maker *m, uint32_t t)
{
    if (m->threads.data[t]) return m->threads.data[t] - 1;
    ft_strbuf name = {0};
    if (t) {
        uint32_t parent = m->parents.data[t], id = ft_maker_thread(m, parent);
        const char *above = ft_builder_peek(m->builder)->threads.names[id];
        uint32_t n = ++m->children.data[parent];
        if (parent)
            ft_strbuf_printf(&name, "%s.%u", above, n);
        else
            ft_strbuf_printf(&name, "T%u", n);
    } else {
        ft_strbuf_puts(&name, "main");
    }
    uint32_t id = ft_builder_thread(m->builder, name.text, name.len);
    m->threads.data[t] = id + 1;
    ft_strbuf_release(&name);
    return id;
}

/* There may be as many names as cells: nothing is formatted. */
static void add_number(ft_strbuf *name, uint64_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    ft_strbuf_add(name, digits + at, sizeof digits - at);
}

/* What lies on a stack. */
static bool name_local(ft_maker *m, uint64_t address, uint32_t frame, ft_strbuf *name)
{
    if (!frame) return false;
    const ft_raw_frame *its = &m->frames.data[frame - 1];
    return ft_symbols_local(m->symbols, m->sites.data[its->site], its->address, address, name);
}

/* The C++ library asks for more than what the line tells of: nodes, control blocks. */
static bool name_member(ft_maker *m, uint32_t allocation, uint64_t offset, ft_strbuf *name)
{
    uint32_t site = m->makers.data[allocation], loc = ft_maker_location(m, site);
    const char *asks = ft_source_lines_statement(m->lines, ft_builder_peek(m->builder), loc);
    if (!asks || m->of_library.data[allocation]) return false;
    return ft_symbols_block(m->symbols, m->sites.data[site], asks,
                            ft_cells_extent_of(m->cells, allocation).size, offset, name);
}

static void name_inside(ft_maker *m, uint32_t allocation, uint64_t offset, ft_strbuf *name)
{
    if (name_member(m, allocation, offset, name) || !offset) return;
    ft_strbuf_puts(name, "+");
    add_number(name, offset);
}

static void name_memory(ft_maker *m, uint64_t address, uint32_t allocation, uint64_t start,
                        uint32_t frame, const char *kind, ft_strbuf *name)
{
    if (allocation != FT_NO_ALLOCATION && allocation < m->makers.len) {
        ft_strbuf_puts(name, "heap(");
        ft_strbuf_puts(name, place_of(m, m->makers.data[allocation]));
        ft_strbuf_puts(name, ")");
        name_inside(m, allocation, address - start, name);
    } else if (!ft_symbols_variable(m->symbols, address, name) &&
               !name_local(m, address, frame, name)) {
        ft_strbuf_printf(name, "%s(0x%llx)", kind, (unsigned long long)address);
    }
    unique(m, name);
}

static void name_cell(ft_maker *m, uint32_t c, ft_strbuf *name)
{
    const ft_cell *cell = ft_cells_get(m->cells, c);
    ft_strbuf_clear(name);
    name_memory(m, cell->address, cell->allocation, cell->allocated_at, cell->frame, "memory",
                name);
    ft_value initial = ft_maker_value(m, c, cell->initial, 0);
    uint32_t id = ft_builder_shared(m->builder, name->text, name->len, initial.sort);
    if (cell->has_initial && !cell->left_over)
        ft_builder_shared_initial(m->builder, id, ft_builder_value(m->builder, initial));
    if (cell->has_initial)
        m->shadows[c] = (ft_maker_shadow){.content = FT_CONTENT_KNOWN, .value = cell->initial};
    m->shadows[c].variable = id;
    bool heap = cell->allocation != FT_NO_ALLOCATION && !cell->ordered;
    m->shadows[c].guarded = heap && !ft_cells_extent_of(m->cells, cell->allocation).stack;
    if (m->shadows[c].guarded && cell->owner < m->actors.len)
        m->actors.data[cell->owner].gives = true;
}

void ft_maker_name_cells(ft_maker *m)
{
    uint32_t n = ft_cells_count_of(m->cells);
    m->shadows = ft_calloc(n + 1, sizeof *m->shadows);
    m->heap_size = ft_cells_heap(m->cells, &m->heap);
    ft_strbuf name = {0};
    for (uint32_t c = 0; c < n; c++)
        if (!ft_cells_get(m->cells, c)->ordered) name_cell(m, c, &name);
    ft_strbuf_release(&name);
}

void ft_maker_name_cell(ft_maker *m, uint32_t c)
{
    ft_strbuf name = {0};
    name_cell(m, c, &name);
    ft_strbuf_release(&name);
}

typedef FT_VEC(uint32_t) members_of;

/* Cells are numbered by first access: those of one allocation need not lie together. */
void ft_maker_name_blocks(ft_maker *m)
{
    uint32_t n = ft_cells_count_of(m->cells);
    members_of *members = ft_calloc(m->makers.len + 1, sizeof *members);
    for (uint32_t c = 0; c < n; c++) {
        const ft_cell *cell = ft_cells_get(m->cells, c);
        uint32_t a = cell->ordered ? FT_NO_ALLOCATION : cell->allocation;
        if (a != FT_NO_ALLOCATION) ft_vec_push(&members[a], m->shadows[c].variable);
    }
    for (size_t a = 0; a < m->makers.len; a++) {
        ft_maker_block b = {.id = FT_NO_ID};
        if (members[a].len) {
            ft_strbuf name = {0};
            ft_strbuf_printf(&name, "block(%s)", place_of(m, m->makers.data[a]));
            unique(m, &name);
            b.id = ft_builder_block(m->builder, name.text, name.len, members[a].data,
                                    (uint32_t)members[a].len);
            ft_strbuf_release(&name);
            ft_vec_push(&m->used, (ft_maker_use){0});
        }
        ft_vec_push(&m->blocks, b);
        ft_vec_release(&members[a]);
    }
    free(members);
}

/* Where the trace has something that a pointer may lead to. */
void ft_maker_know_lives(ft_maker *m)
{
    size_t n = m->makers.len;
    bool *known = ft_calloc(n + 1, sizeof *known);
    for (size_t a = 0; a < n; a++) known[a] = m->blocks.data[a].id != FT_NO_ID;
    for (size_t o = 0; o < m->objects.len; o++) {
        uint32_t a = m->objects.data[o].allocation;
        if (a < n) known[a] = true;
    }
    for (uint32_t a = 0; a < n; a++) {
        ft_cells_extent at = ft_cells_extent_of(m->cells, a);
        if (known[a] || (at.stack && at.size)) ft_lives_add(&m->lives, at.address, at.size);
    }
    ft_lives_settle(&m->lives);
    free(known);
}

static ft_lock_kind lock_kind(const ft_maker_object *o)
{
    static const ft_lock_kind kinds[] = {FT_LOCK_MUTEX, FT_LOCK_RECURSIVE, FT_LOCK_ERROR_CHECKING,
                                         FT_LOCK_MUTEX};
    return o->class == FT_RAW_CLASS_RWLOCK ? FT_LOCK_READ_WRITE : kinds[o->kind & 3];
}

static uint32_t declare(ft_maker *m, const ft_maker_object *o, const char *name, size_t n)
{
    switch (o->class) {
    case FT_RAW_CLASS_MUTEX:
    case FT_RAW_CLASS_RWLOCK:
        return ft_builder_lock(m->builder, name, n, lock_kind(o));
    case FT_RAW_CLASS_CONDITION:
        return ft_builder_condition(m->builder, name, n);
    case FT_RAW_CLASS_SEMAPHORE:
        return ft_builder_semaphore(m->builder, name, n, (uint32_t)o->kind);
    case FT_RAW_CLASS_BARRIER:
        return ft_builder_barrier(m->builder, name, n, (uint32_t)o->kind);
    case FT_RAW_CLASS_ONCE:
        return ft_builder_once(m->builder, name, n);
    case FT_RAW_CLASSES:
        break;
    }
    return 0;
}

static const char *const class_names[] = {
#define FT_RAW_ROW(symbol, name) name,
    FT_RAW_CLASS_TABLE(FT_RAW_ROW)
#undef FT_RAW_ROW
};

const char *ft_maker_class_name(ft_raw_class class)
{
    return class_names[class];
}

uint32_t ft_maker_object_id(ft_maker *m, uint64_t index)
{
    ft_maker_object *o = &m->objects.data[index];
    if (o->declared) return o->id;
    ft_strbuf name = {0};
    name_memory(m, o->address, o->allocation, o->address - o->offset, o->frame,
                class_names[o->class], &name);
    o->id = declare(m, o, name.text, name.len);
    o->declared = true;
    ft_strbuf_release(&name);
    return o->id;
}
