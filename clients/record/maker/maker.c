#include "maker/maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "maker/cells.h"
#include "maker/symbols.h"
#include "raw/schedule.h"

typedef struct object {
    ft_raw_class class;
    uint64_t address, kind;
    uint32_t id; /* in the builder, once it is used */
    bool declared;
} object;

typedef struct module {
    char *path;
    uint64_t base;
    uint32_t id; /* in the builder + 1, once it is used */
} module;

typedef struct block {
    uint32_t id; /* in the builder, FT_NO_ID: none of its cells is shared */
    bool alive;
} block;

/* What is known of a cell's content while the log is followed. */
typedef enum content { CONTENT_UNSEEN, CONTENT_KNOWN, CONTENT_LOST } content;

typedef struct shadow {
    content content;
    int64_t value;
    uint64_t touched; /* the record that touched it last, 0: none */
    uint32_t toucher; /* the thread that touched it, MANY: several */
} shadow;

enum { MANY = UINT16_MAX + 1, CHUNK = 1 << 14 };

/* A thread in the second pass. */
typedef struct actor {
    uint64_t ran; /* its last record */
    bool ended;
    uint32_t last_edge; /* the edge out of its end, FT_NO_ID: none */
    uint32_t steps;     /* so far (raw.h) */
    uint32_t swapped;   /* 2, 1: accesses still to come whose hooks came in the other order */
} actor;

typedef struct maker {
    ft_raw_log *log;
    ft_cells *cells;
    ft_symbols *symbols;
    ft_builder *builder;
    ft_record_summary *summary;
    FT_VEC(module) modules;
    FT_VEC(uint64_t) sites;     /* return addresses */
    FT_VEC(uint32_t) locations; /* by site, 0: not looked up yet */
    FT_VEC(object) objects;
    FT_VEC(uint32_t) parents; /* by thread */
    FT_VEC(uint32_t) children;
    FT_VEC(uint32_t) threads; /* by thread: builder's id + 1 */
    FT_VEC(actor) actors;     /* by thread */
    ft_map ordered;           /* reader << 16 | other -> the record up to which they are ordered */
    uint32_t n_edges;
    FT_VEC(uint64_t) born;      /* by allocation: its record */
    FT_VEC(uint32_t) makers;    /* by allocation: its site */
    FT_VEC(block) blocks;       /* by allocation */
    ft_map live;                /* address -> allocation */
    FT_VEC(uint32_t) variables; /* by cell */
    shadow *shadows;            /* by cell */
    ft_intern names;
    FT_VEC(uint32_t) uses; /* by name */
    uint32_t n_allocations;
    uint64_t now;  /* number of the record */
    uint32_t step; /* which the record is (step_of) */
} maker;

/* ---- first pass: what is there */

static void meet_thread(maker *m, uint32_t child, uint32_t parent)
{
    while (m->parents.len <= child) {
        ft_vec_push(&m->parents, 0);
        ft_vec_push(&m->children, 0);
        ft_vec_push(&m->threads, 0);
        ft_vec_push(&m->actors, (actor){.last_edge = FT_NO_ID});
    }
    m->parents.data[child] = parent;
}

static void meet(maker *m, const ft_raw_record *r)
{
    char *path;
    const uint64_t *o = r->operands;
    switch (r->operation) {
    case FT_RAW_MODULE:
        path = ft_strndup((const char *)r->text, r->length);
        ft_symbols_module(m->symbols, path, o[0]);
        ft_vec_push(&m->modules, (module){.path = path, .base = o[0]});
        break;
    case FT_RAW_SITE:
        ft_vec_push(&m->sites, o[0]);
        break;
    case FT_RAW_FORK:
        meet_thread(m, (uint32_t)o[1], r->thread);
        break;
    case FT_RAW_ALLOC:
        ft_vec_push(&m->makers, (uint32_t)o[0]);
        break;
    case FT_RAW_OBJECT:
        ft_vec_push(&m->objects,
                    (object){.class = (ft_raw_class)o[0], .address = o[1], .kind = o[2]});
        break;
    case FT_RAW_UNSEEN:
        m->summary->unseen++;
        break;
    case FT_RAW_NOTHING:
    case FT_RAW_TURN:
    case FT_RAW_BEGIN:
    case FT_RAW_END:
    case FT_RAW_JOIN:
    case FT_RAW_SYNC:
    case FT_RAW_MARK:
    case FT_RAW_ZERO:
    case FT_RAW_MEMORY:
    case FT_RAW_FREE:
    case FT_RAW_FAILED:
    case FT_RAW_SWAPPED:
    case FT_RAW_OPERATIONS:
        break;
    }
}

static ft_status first_pass(maker *m, ft_error *err)
{
    ft_raw_record r;
    ft_error damage = FT_ERROR_INIT;
    meet_thread(m, 0, 0);
    while (ft_raw_log_next(m->log, &r, &damage)) {
        if (r.access)
            m->summary->accesses++;
        else
            meet(m, &r);
        ft_cells_count(m->cells, &r);
    }
    if (damage.code != FT_OK) *err = damage;
    return damage.code;
}

/* ---- names */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static uint32_t module_id(maker *m, module *from)
{
    if (from->id) return from->id - 1;
    const char *name = base_name(from->path);
    char hash[FT_DIGEST_HEX + 1];
    if (!ft_record_hash(from->path, hash)) hash[0] = 0;
    ft_builder_module(m->builder, name, strlen(name), hash, strlen(hash));
    from->id = ft_builder_peek(m->builder)->n_modules;
    return from->id - 1;
}

/* Modules do not overlap. */
static module *module_at(const maker *m, uint64_t pc)
{
    module *best = NULL;
    for (size_t i = 0; i < m->modules.len; i++) {
        module *one = &m->modules.data[i];
        if (one->base <= pc && (!best || one->base > best->base)) best = one;
    }
    return best;
}

/* Says to which location the code there belongs. */
static void keep_site(maker *m, uint64_t pc, uint32_t loc)
{
    module *best = module_at(m, pc);
    if (!best) return;
    uint32_t id = module_id(m, best);
    ft_builder_site(m->builder,
                    (ft_code_site){.module = id, .offset = pc - best->base, .loc = loc});
}

static uint32_t location(maker *m, uint64_t site)
{
    while (m->locations.len < m->sites.len) ft_vec_push(&m->locations, 0);
    if (site >= m->sites.len) return FT_NO_LOC;
    uint32_t *known = &m->locations.data[site];
    if (*known) return *known;
    ft_strbuf place = {0};
    const char *function = NULL;
    if (ft_symbols_place(m->symbols, m->sites.data[site], &place, &function))
        *known = ft_builder_location(m->builder, place.text, place.len, function,
                                     function ? strlen(function) : 0);
    if (*known) keep_site(m, m->sites.data[site], *known);
    ft_strbuf_release(&place);
    return *known;
}

static const char *place_of(maker *m, uint64_t site)
{
    const char *text = ft_builder_peek(m->builder)->locations[location(m, site)].text;
    return text ? text : "?";
}

/* The name, made unique by a number behind it where it is taken. */
static void unique(maker *m, ft_strbuf *name)
{
    uint32_t n = ft_intern_add(&m->names, name->text, name->len);
    while (m->uses.len <= n) ft_vec_push(&m->uses, 0);
    if (m->uses.data[n]++) ft_strbuf_printf(name, "#%u", m->uses.data[n]);
}

/* "main", its children "T1", "T2", the children of T1 "T1.1", ...: the same in every run in which
 * every thread creates its own children in the same order. */
static uint32_t thread(maker *m, uint32_t t)
{
    if (m->threads.data[t]) return m->threads.data[t] - 1;
    ft_strbuf name = {0};
    if (t) {
        uint32_t parent = m->parents.data[t], id = thread(m, parent);
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

static void name_memory(maker *m, uint64_t address, uint32_t allocation, uint64_t start,
                        const char *kind, ft_strbuf *name)
{
    if (allocation != FT_NO_ALLOCATION && allocation < m->makers.len) {
        ft_strbuf_printf(name, "heap(%s)", place_of(m, m->makers.data[allocation]));
        if (address != start)
            ft_strbuf_printf(name, "+%llu", (unsigned long long)(address - start));
    } else if (!ft_symbols_variable(m->symbols, address, name)) {
        ft_strbuf_printf(name, "%s(0x%llx)", kind, (unsigned long long)address);
    }
    unique(m, name);
}

static ft_value int_value(int64_t value)
{
    return (ft_value){.sort = FT_INT_SORT, .bits = (uint64_t)value};
}

static void name_cell(maker *m, uint32_t c)
{
    ft_strbuf name = {0};
    const ft_cell *cell = ft_cells_get(m->cells, c);
    name_memory(m, cell->address, cell->allocation, cell->allocated_at, "memory", &name);
    uint32_t id = ft_builder_shared(m->builder, name.text, name.len, FT_INT_SORT);
    if (cell->has_initial) {
        ft_builder_shared_initial(m->builder, id,
                                  ft_builder_value(m->builder, int_value(cell->initial)));
        m->shadows[c] = (shadow){CONTENT_KNOWN, cell->initial, 0, 0};
    }
    ft_vec_push(&m->variables, id);
    ft_strbuf_release(&name);
}

typedef FT_VEC(uint32_t) members_of;

/* Cells are numbered by first access: those of one allocation need not lie together. */
static void name_blocks(maker *m)
{
    uint32_t n = ft_cells_count_of(m->cells);
    members_of *members = ft_calloc(m->makers.len + 1, sizeof *members);
    for (uint32_t c = 0; c < n; c++) {
        uint32_t a = ft_cells_get(m->cells, c)->allocation;
        if (a != FT_NO_ALLOCATION) ft_vec_push(&members[a], m->variables.data[c]);
    }
    for (size_t a = 0; a < m->makers.len; a++) {
        block b = {.id = FT_NO_ID};
        if (members[a].len) {
            ft_strbuf name = {0};
            ft_strbuf_printf(&name, "block(%s)", place_of(m, m->makers.data[a]));
            unique(m, &name);
            b.id = ft_builder_block(m->builder, name.text, name.len, members[a].data,
                                    (uint32_t)members[a].len);
            ft_strbuf_release(&name);
        }
        ft_vec_push(&m->blocks, b);
        ft_vec_release(&members[a]);
    }
    free(members);
}

/* ---- second pass: events */

static void event(maker *m, ft_event_kind kind, const ft_raw_record *r, uint32_t id, uint64_t site,
                  uint32_t value, uint8_t flags)
{
    ft_builder_event(m->builder, kind, thread(m, r->thread), id, location(m, site), value, flags);
}

static ft_lock_kind lock_kind(const object *o)
{
    static const ft_lock_kind kinds[] = {FT_LOCK_MUTEX, FT_LOCK_RECURSIVE, FT_LOCK_ERROR_CHECKING,
                                         FT_LOCK_MUTEX};
    return o->class == FT_RAW_CLASS_RWLOCK ? FT_LOCK_READ_WRITE : kinds[o->kind & 3];
}

static uint32_t declare(maker *m, const object *o, const char *name, size_t n)
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

static uint32_t object_id(maker *m, uint64_t index)
{
    object *o = &m->objects.data[index];
    if (o->declared) return o->id;
    ft_strbuf name = {0};
    name_memory(m, o->address, FT_NO_ALLOCATION, 0, class_names[o->class], &name);
    o->id = declare(m, o, name.text, name.len);
    o->declared = true;
    ft_strbuf_release(&name);
    return o->id;
}

static int64_t slice(const ft_raw_record *r, const ft_cell *cell, int64_t value)
{
    uint64_t bits = (uint64_t)value >> (8 * (cell->address - r->address));
    uint32_t shift = 64 - 8 * cell->size;
    return (int64_t)(bits << shift) >> shift;
}

/* What the record says of the cell's content; false: nothing. */
static bool content_of(const ft_raw_record *r, const ft_cell *cell, bool written, int64_t *value)
{
    if (r->size <= 8 && !r->text) {
        *value = slice(r, cell, written && r->form == FT_RAW_FORM_UPDATE ? r->written : r->value);
        return true;
    }
    uint64_t offset = cell->address - r->address;
    if (offset + cell->size > r->length) return false;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < cell->size; i++) bits |= (uint64_t)r->text[offset + i] << (8 * i);
    uint32_t shift = 64 - 8 * cell->size;
    *value = (int64_t)(bits << shift) >> shift;
    return true;
}

static uint32_t new_edge(maker *m)
{
    ft_strbuf name = {0};
    ft_strbuf_printf(&name, "external %u", ++m->n_edges);
    uint32_t id = ft_builder_edge(m->builder, name.text, name.len);
    ft_strbuf_release(&name);
    return id;
}

static void edge_event(maker *m, ft_event_kind kind, uint32_t t, uint32_t edge)
{
    ft_builder_hook(m->builder, 0);
    ft_builder_event(m->builder, kind, thread(m, t), edge, FT_NO_LOC, FT_NO_VALUE, 0);
    ft_builder_hook(m->builder, m->step);
}

/* What `other` did so far stays before what `reader` does from now on. */
static void order_after(maker *m, uint32_t reader, uint32_t other)
{
    actor *a = &m->actors.data[other];
    uint64_t *known = ft_map_slot(&m->ordered, (uint64_t)reader << 16 | other, 0, NULL);
    if (*known >= a->ran || (a->ended && a->last_edge == FT_NO_ID)) return;
    *known = m->now;
    uint32_t edge = a->ended ? a->last_edge : new_edge(m);
    if (!a->ended) edge_event(m, FT_EVENT_EDGE_OUT, other, edge);
    edge_event(m, FT_EVENT_EDGE_IN, reader, edge);
}

/* Code without hooks wrote the cell since it was touched last. In a thread's own memory it was its
 * own code; else nobody knows, so every thread that ran since then stays before the read. */
static void external_write(maker *m, uint32_t c, uint32_t reader, int64_t value)
{
    const ft_cell *cell = ft_cells_get(m->cells, c);
    const shadow *s = &m->shadows[c];
    uint64_t since = s->touched;
    bool own = cell->owner == reader && (!s->touched || s->toucher == reader);
    if (cell->allocation != FT_NO_ALLOCATION && m->born.data[cell->allocation] > since)
        since = m->born.data[cell->allocation];
    for (uint32_t t = 0; t < m->actors.len && !own; t++)
        if (t != reader && m->actors.data[t].ran > since) order_after(m, reader, t);
    ft_builder_hook(m->builder, 0);
    ft_builder_event(m->builder, FT_EVENT_WRITE, thread(m, reader), m->variables.data[c], FT_NO_LOC,
                     ft_builder_value(m->builder, int_value(value)), FT_FLAG_SYNTHETIC);
    ft_builder_hook(m->builder, m->step);
    m->summary->external++;
}

static void touch(maker *m, uint32_t c, uint32_t t, content now, int64_t value)
{
    const shadow *s = &m->shadows[c];
    uint32_t toucher = !s->touched || s->toucher == t ? t : MANY;
    m->shadows[c] = (shadow){now, value, m->now, toucher};
}

/* The value of a read as the trace has it, after the external write that explains it where no
 * write of the trace does. Memory outside the heap that is read first began with that value. */
static uint32_t read_value(maker *m, uint32_t c, const ft_raw_record *r, bool known, int64_t value)
{
    const shadow *s = &m->shadows[c];
    if (!known) return FT_NO_VALUE;
    bool heap = ft_cells_get(m->cells, c)->allocation != FT_NO_ALLOCATION;
    bool explained =
        s->content == CONTENT_KNOWN ? s->value == value : s->content == CONTENT_UNSEEN && !heap;
    if (!explained) external_write(m, c, r->thread, value);
    touch(m, c, r->thread, CONTENT_KNOWN, value);
    return ft_builder_value(m->builder, int_value(value));
}

static uint32_t write_value(maker *m, uint32_t c, const ft_raw_record *r, bool known, int64_t value)
{
    touch(m, c, r->thread, known ? CONTENT_KNOWN : CONTENT_LOST, value);
    return known ? ft_builder_value(m->builder, int_value(value)) : FT_NO_VALUE;
}

static void cell_events(maker *m, const ft_raw_record *r, uint32_t c)
{
    const ft_cell *cell = ft_cells_get(m->cells, c);
    int64_t value = 0, written = 0;
    bool known = content_of(r, cell, false, &value);
    bool update = r->form == FT_RAW_FORM_UPDATE;
    bool atomic = r->form != FT_RAW_FORM_READ && r->form != FT_RAW_FORM_WRITE;
    uint8_t flags = atomic ? FT_FLAG_ATOMIC : 0;
    uint32_t id = m->variables.data[c];
    m->summary->kept++;
    if (update) {
        content_of(r, cell, true, &written);
        uint32_t old = read_value(m, c, r, known, value),
                 made = write_value(m, c, r, known, written);
        ft_builder_update(m->builder, thread(m, r->thread), id, location(m, r->site), old, made);
    } else if (r->form == FT_RAW_FORM_READ || r->form == FT_RAW_FORM_ATOMIC_READ) {
        event(m, FT_EVENT_READ, r, id, r->site, read_value(m, c, r, known, value), flags);
    } else {
        event(m, FT_EVENT_WRITE, r, id, r->site, write_value(m, c, r, known, value), flags);
    }
}

static void access_events(maker *m, const ft_raw_record *r)
{
    for (uint64_t at = r->address, end = r->address + r->size; at < end;) {
        uint32_t skip, c = ft_cells_at(m->cells, at, &skip);
        if (c != FT_NO_CELL) {
            cell_events(m, r, c);
            skip = ft_cells_get(m->cells, c)->size;
        }
        at += skip;
    }
}

static void allocate(maker *m, const ft_raw_record *r)
{
    uint32_t index = m->n_allocations++;
    block *b = &m->blocks.data[index];
    ft_map_put(&m->live, r->operands[1], index);
    ft_vec_push(&m->born, m->now);
    if (b->id == FT_NO_ID) return;
    b->alive = true;
    event(m, FT_EVENT_ALLOC, r, b->id, r->operands[0], FT_NO_VALUE, 0);
}

static void release(maker *m, const ft_raw_record *r)
{
    uint64_t index;
    if (!ft_map_get(&m->live, r->operands[1], &index)) return;
    const block *b = &m->blocks.data[index];
    if (b->id != FT_NO_ID) event(m, FT_EVENT_FREE, r, b->id, r->operands[0], FT_NO_VALUE, 0);
}

/* An assertion that failed in the run: false, whatever it said. */
static void failed(maker *m, const ft_raw_record *r)
{
    ft_term never =
        ft_term_literal(ft_builder_terms(m->builder), (ft_value){.sort = FT_BOOL_SORT, .bits = 0});
    ft_builder_action(m->builder, FT_EVENT_ASSERT, thread(m, r->thread),
                      location(m, r->operands[0]), never, NULL, 0, FT_FLAG_FAILED);
}

static void end_thread(maker *m, const ft_raw_record *r)
{
    actor *a = &m->actors.data[r->thread];
    if (ft_cells_late(m->cells, r->thread)) {
        a->last_edge = new_edge(m);
        edge_event(m, FT_EVENT_EDGE_OUT, r->thread, a->last_edge);
    }
    event(m, FT_EVENT_END, r, 0, UINT64_MAX, FT_NO_VALUE, 0);
    a->ended = true;
}

static void follow(maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    switch (r->operation) {
    case FT_RAW_FORK:
        event(m, FT_EVENT_FORK, r, thread(m, (uint32_t)o[1]), o[0], FT_NO_VALUE, 0);
        break;
    case FT_RAW_JOIN:
        event(m, FT_EVENT_JOIN, r, thread(m, (uint32_t)o[1]), o[0], FT_NO_VALUE, 0);
        break;
    case FT_RAW_BEGIN:
        event(m, FT_EVENT_BEGIN, r, 0, UINT64_MAX, FT_NO_VALUE, 0);
        break;
    case FT_RAW_END:
        end_thread(m, r);
        break;
    case FT_RAW_SYNC:
        event(m, (ft_event_kind)o[0], r, object_id(m, o[2]), o[3], FT_NO_VALUE, (uint8_t)o[1]);
        break;
    case FT_RAW_MARK:
        event(m, (ft_event_kind)o[0], r, 0, o[1], FT_NO_VALUE, 0);
        break;
    case FT_RAW_ALLOC:
        allocate(m, r);
        break;
    case FT_RAW_FREE:
        release(m, r);
        break;
    case FT_RAW_FAILED:
        failed(m, r);
        break;
    case FT_RAW_NOTHING:
    case FT_RAW_MODULE:
    case FT_RAW_SITE:
    case FT_RAW_TURN:
    case FT_RAW_OBJECT:
    case FT_RAW_ZERO:
    case FT_RAW_MEMORY:
    case FT_RAW_UNSEEN:
    case FT_RAW_SWAPPED:
    case FT_RAW_OPERATIONS:
        break;
    }
}

static bool is_own_memory(const maker *m, uint64_t site)
{
    static const char *const own[] = {FT_SCHEDULE_OWN_LIBRARIES};
    const module *from = site < m->sites.len ? module_at(m, m->sites.data[site]) : NULL;
    for (size_t i = 0; from && i < sizeof own / sizeof *own; i++)
        if (!strncmp(base_name(from->path), own[i], strlen(own[i]))) return true;
    return false;
}

/* Which of its thread's steps, in the order of the hooks, the record is; 0: none. */
static uint32_t step_of(maker *m, const ft_raw_record *r)
{
    bool memory = !r->access && (r->operation == FT_RAW_ALLOC || r->operation == FT_RAW_FREE);
    if (memory && is_own_memory(m, r->operands[0])) return 0;
    actor *a = &m->actors.data[r->thread];
    if (!r->access && r->operation == FT_RAW_SWAPPED) a->swapped = 2;
    if (!r->access && !(FT_RAW_STEPS >> r->operation & 1)) return 0;
    a->steps++;
    if (!a->swapped) return a->steps;
    return a->swapped-- == 2 ? a->steps + 1 : a->steps - 1;
}

static void second_pass(maker *m)
{
    ft_raw_record r;
    uint32_t n = ft_cells_count_of(m->cells);
    m->shadows = ft_calloc(n + 1, sizeof *m->shadows);
    if (m->modules.len) module_id(m, &m->modules.data[0]);
    for (uint32_t c = 0; c < n; c++) name_cell(m, c);
    name_blocks(m);
    ft_raw_log_rewind(m->log);
    while (m->now++, ft_raw_log_next(m->log, &r, NULL)) {
        ft_cells_follow(m->cells, &r);
        m->actors.data[r.thread].ran = m->now;
        m->step = step_of(m, &r);
        ft_builder_hook(m->builder, m->step);
        if (r.access)
            access_events(m, &r);
        else
            follow(m, &r);
    }
}

static void summarise(maker *m)
{
    const ft_raw_header *header = ft_raw_log_header(m->log);
    m->summary->bytes = header->used;
    m->summary->granules = ft_cells_granules(m->cells);
    m->summary->cells = ft_cells_count_of(m->cells);
    m->summary->threads = header->threads;
    m->summary->ignored = header->ignored;
    m->summary->end = header->end;
}

static void release_maker(maker *m)
{
    ft_raw_log_close(m->log);
    ft_cells_free(m->cells);
    ft_symbols_free(m->symbols);
    for (size_t i = 0; i < m->modules.len; i++) free(m->modules.data[i].path);
    ft_vec_release(&m->modules);
    ft_vec_release(&m->sites);
    ft_vec_release(&m->locations);
    ft_vec_release(&m->objects);
    ft_vec_release(&m->parents);
    ft_vec_release(&m->children);
    ft_vec_release(&m->threads);
    ft_vec_release(&m->actors);
    ft_map_release(&m->ordered);
    ft_vec_release(&m->born);
    ft_vec_release(&m->makers);
    ft_vec_release(&m->blocks);
    ft_vec_release(&m->variables);
    ft_vec_release(&m->uses);
    ft_map_release(&m->live);
    ft_intern_release(&m->names);
    free(m->shadows);
}

bool ft_record_hash(const char *path, char hash[FT_DIGEST_HEX + 1])
{
    unsigned char bytes[CHUNK];
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    ft_digest digest;
    ft_digest_init(&digest);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        ft_digest_update(&digest, bytes, n);
    bool whole = !ferror(file);
    fclose(file);
    ft_digest_hex(&digest, hash);
    return whole;
}

ft_status ft_record_make(const char *path, ft_trace **trace, ft_record_summary *summary,
                         ft_error *err)
{
    *summary = (ft_record_summary){0};
    maker m = {.summary = summary};
    ft_status status = ft_raw_log_open(path, &m.log, err);
    if (status != FT_OK) return status;
    m.cells = ft_cells_new();
    m.symbols = ft_symbols_new();
    status = first_pass(&m, err);
    if (status == FT_OK) {
        ft_cells_settle(m.cells);
        m.builder = ft_builder_new(FT_FORMAT_BINARY);
        second_pass(&m);
        summarise(&m);
        status = ft_builder_finish(m.builder, trace, err);
    }
    release_maker(&m);
    return status;
}
