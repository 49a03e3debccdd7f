#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolic/internal.h"

enum { GAP = 64, LOW = 4096, PLACES = 256 };

/* ---- pages ---- */

static void drop_page(page *p)
{
    if (!p) return;
    assert(p->refs);
    if (--p->refs) return;
    free(p->pointees);
    free(p->cells);
    free(p);
}

static void drop_content(content *c)
{
    if (!c) return;
    assert(c->refs);
    if (--c->refs) return;
    for (uint32_t i = 0; i < c->n; i++) drop_page(c->pages[i]);
    free(c);
}

content *sym_content_share(content *c)
{
    if (c) c->refs++;
    return c;
}

void sym_content_drop(content *c)
{
    drop_content(c);
}

void sym_object_drop(object *o)
{
    drop_content(o->content);
    o->content = NULL;
    o->is_printed = false;
}

/* Absent parts are all 0. */
static bool is_equal_part(const void *a, const void *b, size_t n)
{
    const unsigned char *one = a ? a : b, *other = a ? b : NULL;
    if (a == b) return true;
    if (other) return memcmp(one, other, n) == 0;
    for (size_t i = 0; i < n; i++)
        if (one[i]) return false;
    return true;
}

static bool is_equal_page(const page *a, const page *b)
{
    if (a == b) return true;
    uint32_t n = a ? a->size : b->size;
    return is_equal_part(a ? a->bytes : NULL, b ? b->bytes : NULL, n) &&
           is_equal_part(a ? a->pointees : NULL, b ? b->pointees : NULL,
                         n / 8 * sizeof(uint32_t)) &&
           is_equal_part(a ? a->cells : NULL, b ? b->cells : NULL, n * sizeof(cell));
}

bool sym_content_is_equal(const content *a, const content *b)
{
    if (a == b) return true;
    if (!a || !b || a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!is_equal_page(a->pages[i], b->pages[i])) return false;
    return true;
}

static content *new_content(uint32_t n)
{
    content *c = ft_calloc(1, sizeof *c + n * sizeof(page *));
    c->refs = 1;
    c->n = n;
    return c;
}

static page *new_page(uint32_t size)
{
    page *p = ft_calloc(1, sizeof *p + size);
    p->refs = 1;
    p->size = size;
    return p;
}

static void *copied(const void *from, size_t n)
{
    if (!from) return NULL;
    void *to = ft_alloc(n);
    memcpy(to, from, n);
    return to;
}

static page *own_page(page *from)
{
    if (from->refs == 1 || sym_fault_is(SYM_FAULT_SHARED_PAGE)) return from;
    page *p = copied(from, sizeof *p + from->size);
    p->refs = 1;
    p->pointees = sym_fault_is(SYM_FAULT_LOST_POINTEES)
                      ? NULL
                      : copied(from->pointees, from->size / 8 * sizeof *p->pointees);
    p->cells = copied(from->cells, from->size * sizeof *p->cells);
    from->refs--;
    return p;
}

static content *own_content(content *from)
{
    if (from->refs == 1 || sym_fault_is(SYM_FAULT_SHARED_CONTENT)) return from;
    content *c = new_content(from->n);
    for (uint32_t i = 0; i < c->n; i++)
        if ((c->pages[i] = from->pages[i])) c->pages[i]->refs++;
    from->refs--;
    return c;
}

static uint32_t page_size(const object *o, uint32_t number)
{
    uint64_t rest = (o->size + 7) / 8 * 8 - (uint64_t)number * PAGE;
    return rest < PAGE ? (uint32_t)rest : PAGE;
}

static object *object_of(const ft_sym_state *m, uint32_t number)
{
    assert(number && number <= m->objects.len);
    return &m->objects.data[number - 1];
}

static page *to_write(object *o, uint64_t offset)
{
    uint32_t n = (uint32_t)(offset / PAGE);
    FT_REQUIRE(o->content && n < o->content->n);
    o->content = own_content(o->content);
    page **p = &o->content->pages[n];
    *p = *p ? own_page(*p) : new_page(page_size(o, n));
    o->is_printed = (*p)->is_printed = false;
    return *p;
}

static const page *to_read(const object *o, uint64_t offset) /* NULL: zeros */
{
    FT_REQUIRE(o->content && offset / PAGE < o->content->n);
    return o->content->pages[offset / PAGE];
}

/* ---- objects ---- */

bool sym_fits(ft_sym_state *m, uint32_t t, uint64_t size)
{
    uint64_t most = m->world->options.max_bytes;
    if (size <= most && m->bytes + size <= most) return true;
    return sym_fail(m, t, FT_ERROR_LIMIT, "the program's objects take more than %" PRIu64 " bytes",
                    most);
}

uint32_t sym_object_new(ft_sym_state *m, uint64_t *next_base, uint64_t size, uint64_t align)
{
    FT_REQUIRE((align & (align - 1)) == 0);
    if (align < 16) align = 16;
    object o = {.base = (*next_base + align - 1) & ~(align - 1), .size = size};
    o.content = new_content((uint32_t)((size + PAGE - 1) / PAGE));
    *next_base = o.base + size + GAP;
    m->bytes += size;
    ft_vec_push(&m->objects, o);
    return (uint32_t)m->objects.len - 1;
}

static void forget_pointees(object *o, uint64_t offset, uint64_t n)
{
    if (sym_fault_is(SYM_FAULT_OLD_POINTEE)) return;
    for (uint64_t i = offset / 8; n && i <= (offset + n - 1) / 8; i++) {
        const page *p = to_read(o, i * 8);
        if (p && p->pointees && p->pointees[i * 8 % PAGE / 8])
            to_write(o, i * 8)->pointees[i * 8 % PAGE / 8] = 0;
    }
}

static uint32_t pointee_at(const object *o, uint64_t offset)
{
    const page *p = to_read(o, offset);
    return p && p->pointees ? p->pointees[offset % PAGE / 8] : 0;
}

static void set_pointee(object *o, uint64_t offset, uint32_t pointee)
{
    if (pointee_at(o, offset) == pointee) return;
    page *p = to_write(o, offset);
    if (!p->pointees) p->pointees = ft_calloc(p->size / 8, sizeof *p->pointees);
    p->pointees[offset % PAGE / 8] = pointee;
}

void sym_set_pointee(ft_sym_state *m, uint32_t number, uint64_t offset, uint32_t pointee)
{
    set_pointee(&m->objects.data[number], offset, pointee);
}

/* A thread's own stack is part of its state. */
static void changes(ft_sym_state *m, uint32_t t, const object *o)
{
    sym_thread_of(m, t)->changes += o->stack_of != t + 1;
}

/* ---- bytes ---- */

static uint8_t byte_at(const object *o, uint64_t offset, cell *c)
{
    const page *p = to_read(o, offset);
    *c = p && p->cells ? p->cells[offset % PAGE] : (cell){FT_NO_TERM, 0};
    return p ? p->bytes[offset % PAGE] : 0;
}

static void put_byte(object *o, uint64_t offset, uint8_t byte, cell c)
{
    page *p = to_write(o, offset);
    p->bytes[offset % PAGE] = byte;
    if (!c.term && (!p->cells || sym_fault_is(SYM_FAULT_OLD_TERM))) return;
    if (!p->cells) p->cells = ft_calloc(p->size, sizeof *p->cells);
    p->cells[offset % PAGE] = c;
}

void sym_write_number(ft_sym_state *m, uint32_t number, uint64_t offset, const void *bytes,
                      uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        put_byte(&m->objects.data[number], offset + i, ((const uint8_t *)bytes)[i],
                 (cell){FT_NO_TERM, 0});
}

static ft_term byte_term(ft_sym_world *w, uint8_t byte, cell c)
{
    if (!c.term) return sym_literal(w, 8, byte);
    return sym_extract(w, c.term, 8 * c.part + 7, 8 * c.part);
}

/* n bytes (1 to 8) as a term of 8 n bits, or a number. */
static value join_bytes(ft_sym_world *w, const uint8_t *bytes, const cell *cells, uint32_t n)
{
    uint64_t bits = 0;
    bool numbers = true, straight = cells[0].term != FT_NO_TERM;
    for (uint32_t i = 0; i < n; i++) {
        bits |= (uint64_t)bytes[i] << 8 * i;
        numbers = numbers && !cells[i].term;
        straight = straight && cells[i].term == cells[0].term && cells[i].part == cells[0].part + i;
    }
    if (numbers) return sym_number(bits);
    uint8_t width = (uint8_t)(8 * n);
    if (straight) {
        uint32_t low = 8 * cells[0].part;
        return sym_of_bits(w, sym_extract(w, cells[0].term, low + width - 1u, low), width);
    }
    ft_term all = byte_term(w, bytes[0], cells[0]);
    for (uint32_t i = 1; i < n; i++) {
        ft_term both[2] = {byte_term(w, bytes[i], cells[i]), all};
        if (sym_fault_is(SYM_FAULT_BYTE_ORDER)) both[1] = both[0], both[0] = all;
        all = sym_apply(w, FT_OP_CONCAT, both, 2, 0, 0);
    }
    return sym_of_bits(w, all, width);
}

static value read_at(const ft_sym_state *m, const object *o, uint64_t at, uint8_t width)
{
    uint8_t bytes[8];
    cell cells[8];
    uint32_t n = (width + 7u) / 8;
    for (uint32_t i = 0; i < n; i++) bytes[i] = byte_at(o, at + i, &cells[i]);
    value v = join_bytes(m->world, bytes, cells, n);
    if (!v.term) v.bits &= ft_width_mask(width);
    if (v.term && width != 8 * n)
        v = sym_unary(m->world, FT_CODE_TRUNC, (uint8_t)(8 * n), width, v);
    if (width == 64 && at % 8 == 0) v.object = pointee_at(o, at);
    return v;
}

static bool holds_bytes(const object *o, uint64_t at, uint32_t n, uint64_t bits, ft_term term)
{
    for (uint32_t i = 0; i < n; i++) {
        cell c;
        uint8_t byte = byte_at(o, at + i, &c);
        if (c.term != term || (term ? c.part != i : byte != (uint8_t)(bits >> 8 * i))) return false;
    }
    return true;
}

/* Does the store leave all as it is? */
static bool holds(const object *o, uint64_t at, uint8_t width, uint32_t n, uint64_t bits, value v)
{
    if (!holds_bytes(o, at, n, bits, v.term)) return false;
    bool whole = width == 64 && at % 8 == 0;
    for (uint64_t i = at / 8; i <= (at + n - 1) / 8; i++)
        if (pointee_at(o, i * 8) != (whole ? v.object : 0)) return false;
    return true;
}

static void write_at(ft_sym_state *m, uint32_t t, object *o, uint64_t at, uint8_t width, value v)
{
    uint32_t n = (width + 7u) / 8;
    uint64_t bits = v.bits;
    if (v.term && width != 8 * n) {
        value whole = sym_unary(m->world, FT_CODE_ZEXT, width, (uint8_t)(8 * n), v);
        v.term = whole.term;
        bits = whole.bits;
    }
    if (holds(o, at, width, n, bits, v)) return;
    changes(m, t, o);
    forget_pointees(o, at, n);
    for (uint32_t i = 0; i < n; i++)
        put_byte(o, at + i, (uint8_t)(v.term ? 0 : bits >> 8 * i),
                 v.term ? (cell){v.term, i} : (cell){FT_NO_TERM, 0});
    if (width == 64 && at % 8 == 0 && v.object) set_pointee(o, at, v.object);
}

value sym_cell(const ft_sym_state *m, uint32_t number, uint64_t at, uint8_t width)
{
    return read_at(m, &m->objects.data[number], at, width);
}

void sym_set_cell(ft_sym_state *m, uint32_t number, uint64_t at, uint8_t width, value v)
{
    object *o = &m->objects.data[number];
    uint32_t n = (width + 7u) / 8;
    forget_pointees(o, at, n);
    for (uint32_t i = 0; i < n; i++)
        put_byte(o, at + i, (uint8_t)(v.term ? 0 : v.bits >> 8 * i),
                 v.term ? (cell){v.term, i} : (cell){FT_NO_TERM, 0});
    if (width == 64 && at % 8 == 0 && v.object) set_pointee(o, at, v.object);
}

/* ---- where an access is ---- */

static uint32_t object_around(const ft_sym_state *m, uint64_t address)
{
    for (uint32_t i = 0; i < m->objects.len; i++) {
        const object *o = &m->objects.data[i];
        if (address >= o->base && address - o->base < (o->size ? o->size : 1)) return i + 1;
    }
    return 0;
}

/* Of an object whose size inputs decide: n bytes at the offset. */
static bool is_inside_open(ft_sym_state *m, uint32_t t, const object *o, value offset, uint64_t n,
                           bool *inside)
{
    ft_sym_world *w = m->world;
    value size = {.term = o->bytes};
    if (sym_fault_is(SYM_FAULT_OPEN_SIZE)) return *inside = true;
    value some = sym_binary(w, FT_CODE_ULE, 64, sym_number(n), size);
    value rest = sym_binary(w, FT_CODE_SUB, 64, size, sym_number(n));
    value fits = sym_binary(w, FT_CODE_ULE, 64, offset, rest);
    return sym_decide_truth(m, t, sym_and(w, sym_truth(w, some), sym_truth(w, fits)), inside);
}

static bool is_inside(ft_sym_state *m, uint32_t t, const object *o, value address, uint64_t n,
                      where *w)
{
    bool inside;
    w->at = address.bits - o->base;
    w->offset = FT_NO_TERM;
    uint64_t behind = sym_fault_is(SYM_FAULT_ANY_PLACE); /* bytes of others that count as its own */
    bool near = n <= o->size && (address.term || w->at <= o->size - n + behind);
    if (!address.term && !(o->bytes && near)) {
        inside = near;
    } else if (o->bytes && near) {
        value base = sym_number(o->base);
        value offset = sym_binary(m->world, FT_CODE_SUB, 64, address, base);
        if (offset.term) w->offset = sym_bits(m->world, offset, 64);
        if (!is_inside_open(m, t, o, offset, n, &inside)) return false;
        if (!offset.term) w->at = offset.bits;
    } else {
        if (n > o->size) {
            inside = false;
        } else {
            value offset = sym_binary(m->world, FT_CODE_SUB, 64, address, sym_number(o->base));
            w->offset = sym_bits(m->world, offset, 64);
            value most = sym_number(o->size - n);
            value fits = sym_binary(m->world, FT_CODE_ULE, 64, offset, most);
            if (sym_fault_is(SYM_FAULT_UNKNOWN_INSIDE)) fits = sym_number(1);
            if (!sym_decide_truth(m, t, sym_truth(m->world, fits), &inside)) return false;
            if (!offset.term) w->at = offset.bits, w->offset = FT_NO_TERM;
            if (inside && !most.bits) w->at = 0, w->offset = FT_NO_TERM;
        }
    }
    if (inside) return true;
    return sym_fail(m, t, FT_ERROR_BOUNDS,
                    "an access of %" PRIu64 " bytes is outside of an object of %" PRIu64, n,
                    o->size);
}

bool sym_find(ft_sym_state *m, uint32_t t, value address, uint64_t n, bool writes, where *w)
{
    *w = (where){0};
    if (address.object & SYM_HANDLE) address.object = 0;
    if (address.term && !address.object) {
        if (!sym_decide_value(m, t, address, 64, &address.bits)) return false;
        address.term = FT_NO_TERM;
    }
    w->object = address.object ? address.object : object_around(m, address.bits);
    if (!w->object)
        return sym_fail(m, t, address.bits < LOW ? FT_ERROR_NULL_ACCESS : FT_ERROR_BOUNDS,
                        "no object is at the address 0x%" PRIx64, address.bits);
    const object *o = object_of(m, w->object);
    if (o->freed && !sym_fault_is(SYM_FAULT_FREED))
        return sym_fail(m, t, FT_ERROR_FREED, "the object was freed");
    if (!is_inside(m, t, o, address, n, w)) return false;
    if (writes && o->constant && n && !sym_fault_is(SYM_FAULT_CONSTANT))
        return sym_fail(m, t, FT_ERROR_CONSTANT, "the object is constant");
    return true;
}

/* The places that the offset can be, apart by *apart: *first, and up to what holds n bytes. */
static uint64_t places(const ft_sym_state *m, const where *w, uint64_t n, uint64_t *first,
                       uint64_t *apart)
{
    uint64_t rest, size = object_of(m, w->object)->size;
    unsigned k = sym_multiple(m->world->pool, w->offset, &rest);
    k += sym_fault_is(SYM_FAULT_PLACES_APART);
    *apart = k >= 32 ? UINT64_C(1) << 32 : UINT64_C(1) << k;
    *first = rest % *apart;
    return *first > size - n ? 0 : (size - n - *first) / *apart + 1;
}

static bool has_pointees(const object *o, uint64_t first, uint64_t apart, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = first + i * apart;
        if (at % 8 == 0 && pointee_at(o, at)) return true;
    }
    return false;
}

/* An unknown place stays one where a choice can stand for it; else it is forked. */
static bool settle_place(ft_sym_state *m, uint32_t t, uint8_t width, uint32_t pointee, bool writes,
                         where *w)
{
    uint64_t first, apart, n = (width + 7u) / 8;
    if (!w->offset) return true;
    uint64_t many = places(m, w, n, &first, &apart);
    const object *o = object_of(m, w->object);
    bool chooses = many && many <= PLACES && (!writes || apart >= n) && !pointee &&
                   !(width == 64 && has_pointees(o, first, apart, many));
    if (chooses && writes) /* what points there now may not be found again */
        for (uint64_t i = 0; i < many && chooses; i++)
            for (uint64_t k = 0; k < n && chooses; k++)
                chooses = !pointee_at(o, (first + i * apart + k) / 8 * 8);
    if (chooses) return true;
    if (!sym_decide_value(m, t, (value){.term = w->offset}, 64, &w->at)) return false;
    w->offset = FT_NO_TERM;
    return true;
}

value sym_load_at(const ft_sym_state *m, const where *w, uint8_t width)
{
    const object *o = object_of(m, w->object);
    if (!w->offset) return read_at(m, o, w->at, width);
    uint64_t first, apart, many = places(m, w, (width + 7u) / 8, &first, &apart);
    assert(many); /* else it would not be inside, or have been forked */
    value v = read_at(m, o, first, width);
    for (uint64_t i = 1; i < many && !sym_fault_is(SYM_FAULT_FIRST_PLACE); i++) {
        uint64_t at = first + i * apart;
        v = sym_choice(m->world, sym_is(m->world, w->offset, at), read_at(m, o, at, width), v,
                       width);
    }
    return v;
}

void sym_store_at(ft_sym_state *m, uint32_t t, const where *w, uint8_t width, value stored)
{
    object *o = object_of(m, w->object);
    if (!w->offset) {
        write_at(m, t, o, w->at, width, stored);
        return;
    }
    uint64_t first, apart, many = places(m, w, (width + 7u) / 8, &first, &apart);
    assert(many && apart >= (width + 7u) / 8); /* else one place would overwrite the next */
    for (uint64_t i = 0; i < many; i++) {
        uint64_t at = first + i * apart;
        if (i && sym_fault_is(SYM_FAULT_STRONG_STORE)) break;
        value v = sym_choice(m->world, sym_is(m->world, w->offset, at), stored,
                             read_at(m, o, at, width), width);
        v.object = 0;
        write_at(m, t, o, at, width, v);
    }
}

/* Of objects that are not globals all of one size are one: their numbers change. */
uint64_t sym_width_key(const object *o, uint64_t at)
{
    bool global = o->base < UINT64_C(1) << 39;
    uint64_t words[] = {global ? o->base : o->size, global ? 2 : o->heap, at};
    return ft_hash_bytes(words, sizeof words, 5);
}

/* For those who follow: which cells a place has. */
static void learn_width(const ft_sym_state *m, const object *o, uint64_t at, uint64_t n)
{
    if (n > 8 || (n & (n - 1)) || at % n) return;
    *ft_map_slot(&m->world->widths, sym_width_key(o, at), 0, NULL) |= n;
}

/* Notes the use of the object by the thread; an unknown place counts as the whole object. */
static void note(ft_sym_state *m, uint32_t t, const where *w, uint64_t n, bool writes)
{
    object *o = object_of(m, w->object);
    if (writes)
        o->written |= UINT64_C(1) << t;
    else
        o->read |= UINT64_C(1) << t;
    if (w->offset) ft_vec_push(&m->accesses, (access){t, w->object, w->offset, n, writes});
    if (m->world->options.follow && !w->offset && n) learn_width(m, o, w->at, n);
    sym_note(m, &(ft_sym_note){.kind = FT_SYM_ACCESS,
                               .thread = t,
                               .object = w->object - 1,
                               .writes = writes,
                               .at = w->at,
                               .n = n,
                               .term = w->offset});
}

bool sym_load(ft_sym_state *m, uint32_t t, value address, uint8_t width, value *result)
{
    where w;
    if (!sym_find(m, t, address, (width + 7u) / 8, false, &w) ||
        !settle_place(m, t, width, 0, false, &w))
        return false;
    note(m, t, &w, (width + 7u) / 8, false);
    *result = sym_load_at(m, &w, width);
    return true;
}

bool sym_find_store(ft_sym_state *m, uint32_t t, value address, uint8_t width, value stored,
                    where *w)
{
    if (!sym_find(m, t, address, (width + 7u) / 8, true, w) ||
        !settle_place(m, t, width, stored.object, true, w))
        return false;
    note(m, t, w, (width + 7u) / 8, true);
    return true;
}

bool sym_find_output(ft_sym_state *m, uint32_t t, value address, uint64_t n)
{
    where w;
    if (!sym_find(m, t, address, n, false, &w)) return false;
    note(m, t, &w, n, false);
    return true;
}

/* ---- ranges ---- */

/* Like sym_find, at a place that is a number. */
static bool find_range(ft_sym_state *m, uint32_t t, value address, uint64_t n, bool writes,
                       where *w)
{
    if (address.term) {
        if (!sym_decide_value(m, t, address, 64, &address.bits)) return false;
        address.term = FT_NO_TERM;
    }
    return sym_find(m, t, address, n, writes, w);
}

typedef struct taken {
    uint8_t byte;
    cell c;
} taken;

static void copy_bytes(object *to, uint64_t at, const object *from, uint64_t of, uint64_t n)
{
    taken *all = ft_alloc((n ? n : 1) * sizeof *all);
    uint64_t first = (8 - at % 8) % 8, cells = n < first ? 0 : (n - first) / 8;
    uint32_t *kept = NULL;
    for (uint64_t i = 0; i < n; i++) all[i].byte = byte_at(from, of + i, &all[i].c);
    if (at % 8 == of % 8 && cells) {
        kept = ft_alloc(cells * sizeof *kept);
        for (uint64_t i = 0; i < cells; i++) kept[i] = pointee_at(from, of + first + 8 * i);
    }
    forget_pointees(to, at, n);
    for (uint64_t i = 0; i < n; i++) put_byte(to, at + i, all[i].byte, all[i].c);
    for (uint64_t i = 0; kept && i < cells; i++)
        if (kept[i]) set_pointee(to, at + first + 8 * i, kept[i]);
    free(kept);
    free(all);
}

bool sym_copy(ft_sym_state *m, uint32_t t, value to, value from, uint64_t n, bool overlap)
{
    where source, target;
    if (!find_range(m, t, from, n, false, &source) || !find_range(m, t, to, n, true, &target))
        return false;
    uint64_t apart = target.at > source.at ? target.at - source.at : source.at - target.at;
    overlap = overlap || sym_fault_is(SYM_FAULT_COPY_OVERLAPS);
    if (!overlap && source.object == target.object && apart && apart < n)
        return sym_fail(m, t, FT_ERROR_OVERLAP,
                        "%" PRIu64 " bytes are copied over a distance of %" PRIu64, n, apart);
    note(m, t, &source, n, false);
    note(m, t, &target, n, true);
    changes(m, t, object_of(m, target.object));
    copy_bytes(object_of(m, target.object), target.at, object_of(m, source.object), source.at, n);
    return true;
}

bool sym_fill_bytes(ft_sym_state *m, uint32_t t, value to, value byte, uint64_t n)
{
    where w;
    if (!find_range(m, t, to, n, true, &w)) return false;
    note(m, t, &w, n, true);
    object *o = object_of(m, w.object);
    changes(m, t, o);
    forget_pointees(o, w.at, n);
    for (uint64_t i = 0; i < n; i++)
        put_byte(o, w.at + i, (uint8_t)byte.bits, (cell){byte.term, 0});
    return true;
}

bool sym_free_object(ft_sym_state *m, uint32_t t, value address)
{
    uint64_t at;
    if (!sym_decide_value(m, t, address, 64, &at)) return false;
    if (!at) return true;
    if (address.object & SYM_HANDLE) address.object = 0;
    uint32_t number = address.object ? address.object : object_around(m, at);
    object *o = number ? object_of(m, number) : NULL;
    bool whole = o && (at == o->base || sym_fault_is(SYM_FAULT_FREED_PART));
    if (!o || !o->heap || !whole)
        return sym_fail(m, t, FT_ERROR_BAD_FREE, "0x%" PRIx64 " is not what alloc returned", at);
    if (o->freed && sym_fault_is(SYM_FAULT_FREED_TWICE)) return true;
    if (o->freed) return sym_fail(m, t, FT_ERROR_DOUBLE_FREE, "the object was freed before");
    note(m, t, &(where){number, 0, FT_NO_TERM}, o->size, true);
    o->freed = true;
    changes(m, t, o);
    assert(m->bytes >= o->size);
    m->bytes -= o->size;
    sym_object_drop(o);
    return true;
}
