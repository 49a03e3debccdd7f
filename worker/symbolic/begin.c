#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbolic/epoch.h"
#include "symbolic/internal.h"

/* ---- the key ---- */

static void print_address(const ft_sym_state *m, uint64_t address, ft_strbuf *key)
{
    uint32_t number;
    if (!ft_sym_object_around(m, address, &number)) return ft_strbuf_puts(key, "?");
    ft_strbuf_printf(key, "%" PRIu32 "+%" PRIu64, number, address - m->objects.data[number].base);
}

/* Which object an address is of, and where in it; nothing of a number. */
static void print_pointer(const ft_sym_state *m, value v, ft_strbuf *key)
{
    if (!v.object) return;
    if (v.object & SYM_HANDLE) return ft_strbuf_printf(key, "=T%" PRIu32, sym_handle(v));
    ft_strbuf_printf(key, "=%" PRIu32 "+%" PRIu64, v.object,
                     v.bits - m->objects.data[v.object - 1].base);
}

static void print_thread(const ft_sym_state *m, uint32_t t, ft_strbuf *key)
{
    const sym_thread *th = sym_thread_of(m, t);
    ft_strbuf_printf(key, "\nT%" PRIu32, t);
    if (!th->exists) return ft_strbuf_puts(key, " none");
    if (th->detached) ft_strbuf_puts(key, " detached");
    if (th->ended) {
        ft_strbuf_puts(key, " ended");
        return print_pointer(m, th->result, key);
    }
    ft_strbuf_printf(key, " %d %d ", th->second, th->outcome);
    for (size_t i = 0; i < th->frames.len; i++) {
        const frame *f = &th->frames.data[i];
        ft_strbuf_printf(key, " %" PRIu32 ":%" PRIu32 "/%" PRIu32, f->function->symbol, f->at,
                         f->objects);
    }
    for (size_t i = 0; i < th->stack.len; i++) {
        const object *o = &m->objects.data[th->stack.data[i]];
        ft_strbuf_printf(key, " s%" PRIu32 ":%" PRIu64, o->maker.instruction, o->size);
    }
    for (size_t i = 0; i < th->values.len; i++) {
        if (!th->values.data[i].object) continue;
        ft_strbuf_printf(key, " r%zu", i);
        print_pointer(m, th->values.data[i], key);
    }
}

static void print_sync(const ft_sym_state *m, const sync_object *s, ft_strbuf *key)
{
    ft_strbuf_puts(key, "\nS");
    print_address(m, s->address, key);
    ft_strbuf_printf(key, " %u %u %d %" PRIu32, s->kind, s->mutex_kind, s->destroyed, s->owner);
    ft_strbuf_printf(key, " %" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIx64 " %" PRIx64, s->count,
                     s->total, s->readers, s->waiters, s->notified);
    for (uint32_t t = 0; s->readers && t < m->threads.len; t++)
        ft_strbuf_printf(key, ",%u", s->reads[t]);
}

static void print_object(const ft_sym_state *m, uint32_t number, ft_strbuf *key)
{
    const object *o = &m->objects.data[number];
    if (o->heap) ft_strbuf_printf(key, "\nH%" PRIu64, o->size);
    if (o->constant || !o->content) return;
    for (uint32_t p = 0; p < o->content->n; p++) {
        const page *own = o->content->pages[p];
        for (uint32_t k = 0; own && own->pointees && k < own->size / 8; k++) {
            if (!own->pointees[k]) continue;
            uint64_t at = (uint64_t)p * PAGE + k * 8;
            ft_strbuf_printf(key, "\nP%" PRIu32 "+%" PRIu64, number, at);
            print_pointer(m, sym_cell(m, number, at, 64), key);
        }
    }
}

void ft_sym_key(const ft_sym_state *m, ft_strbuf *key)
{
    for (uint32_t t = 0; t < m->threads.len; t++) print_thread(m, t, key);
    for (size_t i = 0; i < m->syncs.len; i++) print_sync(m, &m->syncs.data[i], key);
    for (uint32_t i = 0; i < m->objects.len; i++) print_object(m, i, key);
}

/* ---- places ---- */

/* In place of the number of a thread's value: what it has returned. */
#define RESULT UINT64_MAX

static value *value_at(const ft_sym_state *m, uint32_t t, uint64_t i)
{
    sym_thread *th = &m->threads.data[t];
    FT_REQUIRE(i == RESULT ? th->ended : i < th->values.len);
    return i == RESULT ? &th->result : &th->values.data[i];
}

static void print_register(const ft_sym_state *m, uint32_t t, uint64_t i, ft_strbuf *place,
                           uint8_t *width)
{
    const sym_thread *th = sym_thread_of(m, t);
    size_t d = th->frames.len;
    *width = 64;
    if (i == RESULT) return ft_strbuf_printf(place, "%" PRIu32 "/result", t);
    while (th->frames.data[d - 1].registers > i) d--;
    const frame *f = &th->frames.data[d - 1];
    uint32_t number = (uint32_t)(i - f->registers);
    *width = f->function->registers.data[number].width;
    ft_strbuf_printf(place, "%" PRIu32 "/%zu%%%s", t, d - 1, ft_register_name(f->function, number));
}

static value unknown(ft_sym_world *w, const char *place, uint8_t width)
{
    ft_sort sort = width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
    return (value){.term = ft_term_symbol(w->pool, ft_sym_world_unknown(w, place, width), sort)};
}

static void print_cell(const ft_sym_state *m, uint32_t number, uint64_t at, ft_strbuf *place)
{
    sym_object_place(m, number, place);
    ft_strbuf_printf(place, "+%" PRIu64, at);
}

uint32_t sym_cell_size(const ft_sym_state *m, const object *o, uint64_t byte)
{
    uint64_t seen;
    for (uint32_t n = 1; n <= 8; n *= 2) {
        uint64_t at = byte / n * n;
        if (at + n <= o->size && ft_map_get(&m->world->widths, sym_width_key(o, at), &seen) &&
            seen & n)
            return n;
    }
    return 1;
}

static bool has_address(const ft_sym_state *m, uint32_t number, uint64_t at)
{
    return sym_cell(m, number, at / 8 * 8, 64).object != 0;
}

/* ---- bytes of a beginning and of an arrival ---- */

typedef void on_byte(void *context, uint32_t number, uint64_t at);

/* Calls `on` for each byte of an object's memory that may not be as in the other state: which has
 * another page there. */
static void visit_pages(const ft_sym_state *m, const ft_sym_state *other, uint32_t number,
                        on_byte *on, void *context)
{
    const object *a = &m->objects.data[number], *b = &other->objects.data[number];
    if (a->constant || a->content == b->content || !a->content || !b->content) return;
    for (uint32_t p = 0; p < a->content->n; p++) {
        if (a->content->pages[p] == b->content->pages[p]) continue;
        for (uint64_t k = 0; k < PAGE && (uint64_t)p * PAGE + k < a->size; k++)
            on(context, number, (uint64_t)p * PAGE + k);
    }
}

/* ---- unknowns: places that have equal contents in all arrivals share a symbol ---- */

typedef struct holder {
    uint32_t thread; /* of a register; FT_NO_ID: in memory */
    uint32_t object;
    uint64_t at; /* register: in the thread's values, or RESULT */
    uint8_t width;
    value own, new; /* in the beginning, in the arrival */
} holder;

typedef FT_VEC(holder) holders;

static value in_holder(const ft_sym_state *m, const holder *h)
{
    if (h->thread == FT_NO_ID) return sym_cell(m, h->object, h->at, h->width);
    return *value_at(m, h->thread, h->at);
}

static void print_holder(const ft_sym_state *m, const holder *h, ft_strbuf *place)
{
    uint8_t width;
    if (h->thread == FT_NO_ID)
        print_cell(m, h->object, h->at, place);
    else
        print_register(m, h->thread, h->at, place, &width);
}

static void add_holder(const ft_sym_state *m, const ft_sym_state *arrival, holder h, holders *all)
{
    h.own = arrival == m ? sym_number(0) : in_holder(m, &h);
    h.new = in_holder(arrival, &h);
    ft_vec_push(all, h);
}

/* The bytes of the unknown that begins there; of a part of one 1. */
static uint32_t unknown_size(const ft_sym_state *m, uint32_t number, uint64_t at)
{
    const object *o = &m->objects.data[number];
    for (uint32_t n = 8; n > 1; n /= 2) {
        if (at % n || at + n > o->size) continue;
        value v = sym_cell(m, number, at, (uint8_t)(8 * n));
        if (v.term && ft_term_get(m->world->pool, v.term).op == FT_OP_SYMBOL) return n;
    }
    return 1;
}

static bool is_same_page(const ft_sym_state *m, const ft_sym_state *arrival, uint32_t number,
                         uint64_t at)
{
    const page *a = m->objects.data[number].content->pages[at / PAGE];
    const page *b = arrival->objects.data[number].content->pages[at / PAGE];
    return a == b && (!a || !a->cells);
}

/* Cells that are unknown, or that are not the number that the arrival has. An arrival itself: those
 * that are terms. */
static void list_cells(const ft_sym_state *m, const ft_sym_state *arrival, uint32_t number,
                       holders *all)
{
    const object *o = &m->objects.data[number];
    if (o->constant || !o->content) return;
    for (uint64_t at = 0; at < o->size;) {
        if (at % PAGE == 0 && is_same_page(m, arrival, number, at)) {
            at += PAGE;
            continue;
        }
        value own = sym_cell(m, number, at, 8), new = sym_cell(arrival, number, at, 8);
        bool known = has_address(m, number, at) || (!own.term && !new.term &&own.bits == new.bits);
        uint32_t n = 1;
        if (!known) {
            n = own.term && m != arrival ? unknown_size(m, number, at) : sym_cell_size(m, o, at);
            at = at / n * n;
            add_holder(m, arrival, (holder){FT_NO_ID, number, at, (uint8_t)(8 * n), {0}, {0}}, all);
        }
        at += n;
    }
}

static void list_registers(const ft_sym_state *m, const ft_sym_state *arrival, uint32_t t,
                           holders *all)
{
    const sym_thread *th = sym_thread_of(m, t);
    for (size_t d = 0; d < th->frames.len; d++) {
        const frame *f = &th->frames.data[d];
        for (uint32_t i = 0; i < f->function->registers.len; i++) {
            value own = th->values.data[f->registers + i];
            value new = sym_thread_of(arrival, t)->values.data[f->registers + i];
            if (own.object || (!own.term && !new.term &&own.bits == new.bits)) continue;
            add_holder(
                m, arrival,
                (holder){t, 0, f->registers + i, f->function->registers.data[i].width, {0}, {0}},
                all);
        }
    }
}

static void list_result(const ft_sym_state *m, const ft_sym_state *arrival, uint32_t t,
                        holders *all)
{
    if (!m->threads.data[t].ended) return;
    value own = *value_at(m, t, RESULT), new = *value_at(arrival, t, RESULT);
    if (own.object || (!own.term && !new.term &&own.bits == new.bits)) return;
    add_holder(m, arrival, (holder){t, 0, RESULT, 64, {0}, {0}}, all);
}

static uint64_t class_of(const holder *h)
{
    const uint64_t words[] = {h->width, h->own.term, h->own.term ? 0 : h->own.bits, h->new.term,
                              h->new.term ? 0 : h->new.bits};
    return ft_hash_bytes(words, sizeof words, 17);
}

/* Gives each class the symbol of its first place; true: some content changes. */
static bool make_unknown(ft_sym_state *m, const holders *all)
{
    ft_map first = {0};
    bool changed = false;
    for (size_t i = 0; i < all->len; i++) {
        const holder *h = &all->data[i];
        ft_strbuf place = {0};
        uint64_t number = *ft_map_slot(&first, class_of(h), i, NULL);
        print_holder(m, &all->data[number], &place);
        value v = unknown(m->world, place.text, h->width);
        ft_strbuf_release(&place);
        changed |= v.term != in_holder(m, h).term;
        if (h->thread == FT_NO_ID)
            sym_set_cell(m, h->object, h->at, h->width, v);
        else
            *value_at(m, h->thread, h->at) = v;
    }
    ft_map_release(&first);
    return changed;
}

bool ft_sym_widen(ft_sym_state *m, const ft_sym_state *arrival)
{
    holders all = {0};
    FT_REQUIRE(m->objects.len == arrival->objects.len && m->threads.len == arrival->threads.len);
    for (uint32_t i = 0; i < m->objects.len; i++) list_cells(m, arrival, i, &all);
    for (uint32_t t = 0; t < m->threads.len; t++) {
        list_registers(m, arrival, t, &all);
        list_result(m, arrival, t, &all);
    }
    bool changed = make_unknown(m, &all);
    ft_vec_release(&all);
    return changed;
}

/* ---- a beginning from an arrival ---- */

void ft_sym_begin(ft_sym_state *m)
{
    (void)ft_sym_widen(m, m);
}

/* ---- does an arrival have the content that a beginning knows? ---- */

typedef struct comparing {
    const ft_sym_state *beginning, *arrival;
    void (*differs)(void *context, ft_term condition, const char *place);
    void *context;
} comparing;

/* The condition under which the value is not the number; FT_NO_TERM: never. */
static ft_term differs_if(ft_sym_world *w, value v, uint64_t bits, uint8_t width)
{
    if (!v.term) return v.bits == bits ? FT_NO_TERM : sym_truth(w, sym_number(1));
    ft_term is = sym_is(w, sym_bits(w, v, width), bits);
    return is == sym_truth(w, sym_number(1)) ? FT_NO_TERM : sym_not(w, is);
}

static void compare_byte(void *context, uint32_t number, uint64_t at)
{
    const comparing *c = context;
    value own = sym_cell(c->beginning, number, at, 8);
    if (own.term || has_address(c->beginning, number, at)) return;
    value new = sym_cell(c->arrival, number, at, 8);
    ft_term condition = differs_if(c->beginning->world, new, own.bits, 8);
    if (!condition) return;
    ft_strbuf place = {0};
    print_cell(c->beginning, number, at, &place);
    c->differs(c->context, condition, place.text);
    ft_strbuf_release(&place);
}

static void compare_register(const comparing *c, uint32_t t, uint64_t i)
{
    const value *own = value_at(c->beginning, t, i);
    if (own->term || own->object) return;
    ft_strbuf place = {0};
    uint8_t width;
    print_register(c->beginning, t, i, &place, &width);
    ft_term condition =
        differs_if(c->beginning->world, *value_at(c->arrival, t, i), own->bits, width);
    if (condition) c->differs(c->context, condition, place.text);
    ft_strbuf_release(&place);
}

void ft_sym_differs(const ft_sym_state *beginning, const ft_sym_state *arrival,
                    void (*differs)(void *context, ft_term condition, const char *place),
                    void *context)
{
    comparing c = {beginning, arrival, differs, context};
    FT_REQUIRE(beginning->objects.len == arrival->objects.len);
    for (uint32_t i = 0; i < beginning->objects.len; i++)
        visit_pages(beginning, arrival, i, compare_byte, &c);
    for (uint32_t t = 0; t < beginning->threads.len; t++) {
        for (size_t i = 0; i < beginning->threads.data[t].values.len; i++)
            compare_register(&c, t, i);
        if (beginning->threads.data[t].ended) compare_register(&c, t, RESULT);
    }
}
