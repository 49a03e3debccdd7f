/* Names and locations of the trace, declared in its builder when they are first needed. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory_name.h"
#include "maker/names/names.h"
#include "maker/symbols/file_hash.h"
#include "maker/symbols/value_types.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void ft_names_init(ft_names *names, const ft_raw_log *log, const ft_inventory *inventory,
                   const ft_cells *cells)
{
    FT_REQUIRE(log && inventory && cells);
    *names =
        (ft_names){.log = log, .inventory = inventory, .cells = cells, .context = FT_NO_CONTEXT};
    names->symbols = ft_symbols_new();
    names->lines = ft_source_lines_new();
}

void ft_names_release(ft_names *names)
{
    ft_symbols_free(names->symbols);
    ft_source_lines_free(names->lines);
    ft_stacks_free(names->stacks);
    ft_vec_release(&names->modules);
    ft_vec_release(&names->properties);
    ft_vec_release(&names->locations);
    ft_vec_release(&names->library_locations);
    ft_vec_release(&names->threads);
    ft_vec_release(&names->children);
    ft_vec_release(&names->objects);
    ft_map_release(&names->code);
    ft_map_release(&names->places);
    ft_map_release(&names->callers);
    ft_map_release(&names->placed);
    ft_map_release(&names->shown);
    ft_map_release(&names->uses);
}

static void find_hash(ft_names *names, size_t module)
{
    ft_module_names *of = &names->modules.data[module];
    const char *path = names->inventory->modules.data[module].path;
    if (!of->hashed && !ft_record_hash(path, of->hash)) of->hash[0] = 0;
    of->hashed = true;
}

void ft_names_add_module(ft_names *names)
{
    size_t module = names->modules.len;
    FT_REQUIRE(module + 1 == names->inventory->modules.len);
    const ft_inventory_module *one = &names->inventory->modules.data[module];
    ft_symbols_module(names->symbols, one->path, one->base);
    ft_vec_push(&names->modules, (ft_module_names){0});
    /* The trace always has the executable's hash: it is computed while the program still runs. */
    if (!module) find_hash(names, module);
}

static uint32_t location_of(void *names, uint64_t site)
{
    return ft_names_location(names, site);
}

void ft_names_start(ft_names *names, ft_builder *builder)
{
    FT_REQUIRE(builder && !names->builder);
    assert(names->modules.len == names->inventory->modules.len);
    names->builder = builder;
    for (size_t t = 0; t < names->inventory->parents.len; t++) {
        ft_vec_push(&names->threads, 0);
        ft_vec_push(&names->children, 0);
    }
    for (size_t o = 0; o < names->inventory->objects.len; o++) ft_vec_push(&names->objects, 0);
    names->stacks = ft_stacks_new(builder, location_of, names);
}

uint32_t ft_names_module(ft_names *names, const ft_inventory_module *module)
{
    size_t index = (size_t)(module - names->inventory->modules.data);
    FT_REQUIRE(index < names->modules.len && names->builder);
    ft_module_names *of = &names->modules.data[index];
    if (of->id) return of->id - 1;
    const char *name = base_name(module->path);
    find_hash(names, index);
    ft_builder_module(names->builder, name, strlen(name), of->hash, strlen(of->hash));
    of->id = ft_builder_peek(names->builder)->n_modules;
    return of->id - 1;
}

void ft_names_keep_site(ft_names *names, uint64_t pc, uint32_t loc)
{
    const ft_inventory_module *best = ft_inventory_module_at(names->inventory, pc);
    if (!best) return;
    assert(best->base <= pc);
    uint32_t id = ft_names_module(names, best);
    ft_builder_site(names->builder,
                    (ft_code_site){.module = id, .offset = pc - best->base, .loc = loc});
}

/* The builder's location of the code there, and what its source says. */
static uint32_t look_up(ft_names *names, uint64_t pc)
{
    ft_strbuf place = {0};
    ft_code_place at;
    uint32_t loc = FT_NO_LOC;
    if (ft_symbols_place(names->symbols, pc, &place, &at)) {
        loc = ft_builder_location(names->builder, place.text, place.len, at.function,
                                  at.function ? strlen(at.function) : 0);
        ft_source_lines_tell(names->lines, names->builder, loc, &at,
                             ft_inventory_module_at(names->inventory, pc)->path);
    }
    ft_strbuf_release(&place);
    return loc;
}

/* Several sites may share an address: they differ in what they do there. */
static uint32_t find_location(ft_names *names, uint64_t pc)
{
    bool inserted;
    uint64_t *known = ft_map_slot(&names->code, pc, FT_NO_LOC, &inserted);
    if (!inserted) return (uint32_t)*known;
    *known = look_up(names, pc);
    if (*known) ft_names_keep_site(names, pc, (uint32_t)*known);
    if (*known) ft_names_note_location(names, pc, (uint32_t)*known);
    if (ft_annotations_is_known(&ft_builder_peek(names->builder)->locations[*known]))
        ft_builder_benign_place(names->builder, (uint32_t)*known);
    return (uint32_t)*known;
}

uint32_t ft_names_location(ft_names *names, uint64_t site)
{
    while (names->locations.len < names->inventory->sites.len) ft_vec_push(&names->locations, 0);
    if (site >= names->inventory->sites.len) return FT_NO_LOC;
    uint32_t *known = &names->locations.data[site];
    if (!*known) *known = find_location(names, names->inventory->sites.data[site]) + 1;
    assert(*known <= ft_builder_peek(names->builder)->n_locations);
    return *known - 1;
}

/* Of code that is no site: branches. */
uint32_t ft_names_location_at(void *context, uint64_t pc)
{
    ft_names *names = context;
    bool inserted;
    uint64_t *known = ft_map_slot(&names->places, pc, FT_NO_LOC, &inserted);
    if (inserted) *known = look_up(names, pc);
    return (uint32_t)*known;
}

static const char *place_of(ft_names *names, uint64_t site)
{
    uint32_t loc = ft_names_location(names, site); /* first: it may move them */
    const char *text = ft_builder_peek(names->builder)->locations[loc].text;
    return text ? text : "?";
}

/* The name, made unique by a number behind it where it is taken, or has the hash of one that is. */
static void unique(ft_names *names, ft_strbuf *name)
{
    assert(name->len);
    uint64_t *uses = ft_map_slot(&names->uses, ft_hash_bytes(name->text, name->len, 0), 0, NULL);
    if ((*uses)++) ft_strbuf_printf(name, "#%llu", (unsigned long long)*uses);
}

/* "main", its children "T1", "T2", the children of T1 "T1.1", ...: the same in every run in which
 * every thread creates its own children in the same order. */
uint32_t ft_names_thread(ft_names *names, uint32_t t)
{
    FT_REQUIRE(t < names->threads.len);
    if (names->threads.data[t]) return names->threads.data[t] - 1;
    ft_strbuf name = {0};
    if (t) {
        assert(names->inventory->parents.data[t] < t);
        uint32_t parent = names->inventory->parents.data[t], id = ft_names_thread(names, parent);
        const char *above = ft_builder_peek(names->builder)->threads.names[id];
        uint32_t n = ++names->children.data[parent];
        if (parent)
            ft_strbuf_printf(&name, "%s.%u", above, n);
        else
            ft_strbuf_printf(&name, "T%u", n);
    } else {
        ft_strbuf_puts(&name, "main");
    }
    uint32_t id = ft_builder_thread(names->builder, name.text, name.len);
    assert(id + 1 == ft_builder_peek(names->builder)->threads.len); /* no other has the name */
    names->threads.data[t] = id + 1;
    ft_strbuf_release(&name);
    return id;
}

/* There may be as many names as cells: too many for a formatted print of each. */
static void add_number(ft_strbuf *name, uint64_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    ft_strbuf_add(name, digits + at, sizeof digits - at);
}

/* A variable on a stack. */
static bool name_local(ft_names *names, uint64_t address, uint32_t frame, ft_strbuf *name,
                       ft_type *type)
{
    if (!frame) return false;
    const ft_raw_frame *its = &names->inventory->frames.data[frame - 1];
    return ft_symbols_local(names->symbols, names->inventory->sites.data[its->site], its->address,
                            address, name, type);
}

/* The C++ library allocates more than the line says: nodes, control blocks. */
static bool name_member(ft_names *names, uint32_t allocation, uint64_t offset, ft_strbuf *name,
                        ft_type *type)
{
    uint32_t site = names->inventory->allocations.data[allocation].site,
             loc = ft_names_location(names, site);
    const char *asks =
        ft_source_lines_statement(names->lines, ft_builder_peek(names->builder), loc);
    if (!asks || names->inventory->allocations.data[allocation].of_library) return false;
    return ft_symbols_block(names->symbols, names->inventory->sites.data[site], asks,
                            ft_cells_extent_of(names->cells, allocation).size, offset, name, type);
}

/* "list.c:40", "list.c:40 for main.c:12" (base/memory_name.h). */
static void add_allocation(ft_names *names, uint32_t allocation, ft_strbuf *name)
{
    const ft_inventory_allocation *at = &names->inventory->allocations.data[allocation];
    ft_strbuf_puts(name, place_of(names, at->site));
    if (!at->called_at) return;
    ft_strbuf_puts(name, FT_MEMORY_FOR);
    ft_strbuf_puts(name, place_of(names, at->called_at));
}

static void name_inside(ft_names *names, uint32_t allocation, uint64_t offset, ft_strbuf *name,
                        ft_type *type)
{
    if (name_member(names, allocation, offset, name, type) || !offset) return;
    ft_strbuf_puts(name, "+");
    add_number(name, offset);
}

/* The type of the value that begins there, as far as it is known. */
static ft_type name_memory(ft_names *names, uint64_t address, uint32_t allocation, uint64_t start,
                           uint32_t frame, const char *kind, ft_strbuf *name)
{
    ft_type type = FT_TYPE_NONE;
    if (allocation != FT_NO_ALLOCATION && allocation < names->inventory->allocations.len) {
        ft_strbuf_puts(name, "heap(");
        add_allocation(names, allocation, name);
        ft_strbuf_puts(name, ")");
        name_inside(names, allocation, address - start, name, &type);
    } else if (!ft_symbols_variable(names->symbols, address, name, &type) &&
               !name_local(names, address, frame, name, &type)) {
        ft_strbuf_printf(name, "%s(0x%llx)", kind, (unsigned long long)address);
    }
    type = ft_value_types_named(type, ft_strbuf_text(name));
    unique(names, name);
    return type;
}

ft_type ft_names_add_cell(ft_names *names, const ft_cell *cell, ft_strbuf *name)
{
    ft_type type = name_memory(names, cell->address, cell->allocation, cell->allocated_at,
                               cell->frame, "memory", name);
    return ft_type_bits(type) == 8 * cell->size ? type : FT_TYPE_NONE;
}

void ft_names_add_block(ft_names *names, uint32_t allocation, ft_strbuf *name)
{
    FT_REQUIRE(allocation < names->inventory->allocations.len);
    ft_strbuf_puts(name, "block(");
    add_allocation(names, allocation, name);
    ft_strbuf_puts(name, ")");
    unique(names, name);
}

static ft_lock_kind lock_kind(const ft_inventory_object *o)
{
    static const ft_lock_kind kinds[] = {FT_LOCK_MUTEX, FT_LOCK_RECURSIVE, FT_LOCK_ERROR_CHECKING,
                                         FT_LOCK_MUTEX};
    if (o->class != FT_RAW_CLASS_RWLOCK) return kinds[o->kind & 3];
    return o->kind == FT_RAW_RWLOCK_WRITERS ? FT_LOCK_WRITER_PREFERRING : FT_LOCK_READ_WRITE;
}

static uint32_t declare(ft_names *names, const ft_inventory_object *o, const char *name, size_t n)
{
    switch (o->class) {
    case FT_RAW_CLASS_MUTEX:
    case FT_RAW_CLASS_RWLOCK:
        return ft_builder_lock(names->builder, name, n, lock_kind(o));
    case FT_RAW_CLASS_CONDITION:
        return ft_builder_condition(names->builder, name, n);
    case FT_RAW_CLASS_SEMAPHORE:
        return ft_builder_semaphore(names->builder, name, n, (uint32_t)o->kind);
    case FT_RAW_CLASS_BARRIER:
        return ft_builder_barrier(names->builder, name, n, (uint32_t)o->kind);
    case FT_RAW_CLASS_ONCE:
        return ft_builder_once(names->builder, name, n);
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

const char *ft_names_class(ft_raw_class class)
{
    return class_names[class];
}

uint32_t ft_names_object(ft_names *names, uint64_t object)
{
    FT_REQUIRE(object < names->objects.len);
    const ft_inventory_object *o = &names->inventory->objects.data[object];
    if (names->objects.data[object]) return names->objects.data[object] - 1;
    ft_strbuf name = {0};
    name_memory(names, o->address, o->allocation, o->address - o->offset, o->frame,
                class_names[o->class], &name);
    uint32_t id = declare(names, o, name.text, name.len);
    assert(id < UINT32_MAX);
    names->objects.data[object] = id + 1;
    ft_strbuf_release(&name);
    return id;
}
