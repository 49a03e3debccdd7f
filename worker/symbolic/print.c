/* States as bytes and as fingerprints, for those who ask whether two are equal. Objects are named
 * by their addresses, which do not depend on the schedule. */
#include <stdlib.h>

#include "symbolic/cutoff_faults.h"
#include "symbolic/internal.h"

#ifdef FT_FAULTS
ft_sym_fault_kind ft_sym_fault = FT_SYM_FAULT_NONE;
#endif

static void number(ft_strbuf *out, uint64_t n)
{
    ft_strbuf_add(out, (const char *)&n, sizeof n);
}

/* ---- contents ---- */

static uint64_t base_of(const ft_sym_state *m, uint32_t pointee)
{
    return pointee ? m->objects.data[pointee - 1].base : 0;
}

static void add_page(const ft_sym_state *m, const page *p, uint64_t at, ft_strbuf *out)
{
    for (uint32_t i = 0; i < p->size; i++) {
        cell c = p->cells ? p->cells[i] : (cell){FT_NO_TERM, 0};
        if (!p->bytes[i] && !c.term) continue;
        number(out, (at + i) << 8 | p->bytes[i]);
        number(out, (uint64_t)c.term << 32 | c.part);
    }
    number(out, UINT64_MAX);
    for (uint32_t i = 0; p->pointees && i < p->size / 8; i++) {
        if (!p->pointees[i]) continue;
        number(out, at + i * 8);
        number(out, base_of(m, p->pointees[i]));
    }
    number(out, UINT64_MAX);
}

static bool is_zero(const page *p)
{
    for (uint32_t i = 0; i < p->size; i++)
        if (p->bytes[i] || (p->cells && p->cells[i].term) || (p->pointees && p->pointees[i / 8]))
            return false;
    return true;
}

static void add_content(const ft_sym_state *m, const content *c, ft_strbuf *out)
{
    for (uint32_t i = 0; c && i < c->n; i++)
        if (c->pages[i] && !is_zero(c->pages[i])) add_page(m, c->pages[i], (uint64_t)i * PAGE, out);
    number(out, UINT64_MAX);
}

static void add_object(const ft_sym_state *m, const object *o, ft_strbuf *out)
{
    number(out, o->base);
    number(out, o->size << 3 | (uint64_t)o->freed << 2 | (uint64_t)o->constant << 1 | o->heap);
    if (o->freed) return;
    number(out, (uint64_t)o->bytes << 32 | o->stack_of);
    number(out, m->world->has_inputs ? o->read : 0);
    number(out, m->world->has_inputs ? o->written : 0);
    add_content(m, o->content, out);
}

/* ---- threads ---- */

static void add_value(const ft_sym_state *m, value v, ft_strbuf *out)
{
    number(out, v.term ? 0 : v.bits);
    number(out, v.term);
    number(out, base_of(m, v.object));
}

static void add_frame(const frame *f, ft_strbuf *out)
{
    number(out, (uint64_t)f->function->symbol << 32 | f->at);
    number(out, (uint64_t)f->registers << 32 | f->objects);
    number(out, f->once);
}

static void add_read(const read_count *r, ft_strbuf *out)
{
    number(out, (uint64_t)r->name << 32 | r->n);
}

static void add_decisions(const decisions *d, ft_strbuf *out)
{
    number(out, d->n);
    for (uint32_t i = 0; i < d->n; i++) number(out, d->of[i]);
}

/* What only its own steps change, but for its memory. */
static void add_thread(const ft_sym_state *m, const sym_thread *th, ft_strbuf *out)
{
    const bool flags[] = {th->begun,  th->failing, th->ended,  th->returned,
                          th->stands, th->circles, th->second, th->outcome};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) number(out, flags[i]);
    number(out, th->next_base);
    number(out, th->finishes);
    number(out, th->failing ? (uint64_t)th->error.kind + 1 : 0);
    add_value(m, th->result, out);
    add_value(m, th->exit_code, out);
    number(out, th->frames.len);
    for (size_t i = 0; i < th->frames.len; i++) add_frame(&th->frames.data[i], out);
    number(out, th->values.len);
    for (size_t i = 0; i < th->values.len; i++) add_value(m, th->values.data[i], out);
    number(out, th->stack.len);
    for (size_t i = 0; i < th->stack.len; i++) number(out, m->objects.data[th->stack.data[i]].base);
    number(out, th->inputs.len);
    for (size_t i = 0; i < th->inputs.len; i++) add_read(&th->inputs.data[i], out);
    add_decisions(&th->decided, out);
    number(out, th->open ? th->open->n : 0);
    for (uint32_t i = 0; th->open && i < th->open->n; i++) {
        number(out, th->open->term[i]);
        number(out, th->open->answer[i]);
    }
}

static uint64_t touched_by_others(const sym_thread *th)
{
    return (uint64_t)th->exists << 2 | (uint64_t)th->detached << 1 | th->joined;
}

/* ---- synchronisation objects ---- */

static void add_sync(const sync_object *s, ft_strbuf *out)
{
    number(out, s->address);
    number(out, (uint64_t)s->kind << 16 | (uint64_t)s->mutex_kind << 8 | s->destroyed);
    number(out, s->owner);
    number(out, s->count);
    number(out, s->total);
    number(out, s->waiters);
    number(out, s->notified);
    number(out, s->arrived);
    for (uint32_t t = 0; t < FT_SYM_THREADS; t++)
        if (s->readers >> t & 1) number(out, (uint64_t)t << 8 | s->reads[t]);
    number(out, UINT64_MAX);
}

/* ---- a state as bytes ---- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Indices by address. */
typedef struct placed {
    uint64_t address, index;
} placed;

static int by_address(const void *a, const void *b)
{
    return by_number(&((const placed *)a)->address, &((const placed *)b)->address);
}

static void add_objects(const ft_sym_state *m, ft_strbuf *out)
{
    FT_VEC(placed) all = {0};
    for (size_t i = 0; i < m->objects.len; i++)
        ft_vec_push(&all, (placed){m->objects.data[i].base, i});
    if (all.len) qsort(all.data, all.len, sizeof *all.data, by_address);
    for (size_t i = 0; i < all.len; i++) add_object(m, &m->objects.data[all.data[i].index], out);
    number(out, UINT64_MAX);
    ft_vec_release(&all);
}

static void add_syncs(const ft_sym_state *m, ft_strbuf *out)
{
    FT_VEC(placed) all = {0};
    for (size_t i = 0; i < m->syncs.len; i++)
        ft_vec_push(&all, (placed){m->syncs.data[i].address, i});
    if (all.len) qsort(all.data, all.len, sizeof *all.data, by_address);
    for (size_t i = 0; i < all.len; i++) add_sync(&m->syncs.data[all.data[i].index], out);
    number(out, UINT64_MAX);
    ft_vec_release(&all);
}

static void add_constraints(const ft_sym_state *m, ft_strbuf *out)
{
    FT_VEC(uint64_t) terms = {0};
    for (size_t i = 0; i < m->constraints.len; i++)
        ft_vec_push(&terms, m->constraints.data[i].term);
    if (terms.len) qsort(terms.data, terms.len, sizeof *terms.data, by_number);
    for (size_t i = 0; i < terms.len; i++)
        if (!i || terms.data[i] != terms.data[i - 1]) number(out, terms.data[i]);
    number(out, UINT64_MAX);
    ft_vec_release(&terms);
}

bool ft_sym_state_bytes(const ft_sym_state *m, ft_strbuf *out)
{
    if (m->end != FT_SYM_GOING || m->unknown || m->accesses.len) return false;
    for (size_t t = 0; t < m->threads.len; t++)
        if (m->threads.data[t].stands) return false;
    number(out, m->section);
    number(out, m->bytes);
    number(out, m->world->options.max_inputs ? m->reads : 0);
    number(out, m->threads.len);
    for (size_t t = 0; t < m->threads.len; t++) {
        number(out, touched_by_others(&m->threads.data[t]));
        if (!ft_sym_fault_is(FT_SYM_FAULT_NO_REGISTERS)) add_thread(m, &m->threads.data[t], out);
    }
    if (!ft_sym_fault_is(FT_SYM_FAULT_NO_MEMORY)) add_objects(m, out);
    add_syncs(m, out);
    if (!ft_sym_fault_is(FT_SYM_FAULT_NO_CONDITIONS)) add_constraints(m, out);
    return true;
}

/* ---- fingerprints ---- */

static uint64_t fragment(uint64_t kind, uint64_t at, uint64_t what)
{
    if (!what) return 0;
    return ft_hash_u64(ft_hash_u64(at << 4 ^ kind) ^ what * UINT64_C(0x9E3779B97F4A7C15));
}

enum { BYTE, TERM, POINTEE, OBJECT, THREAD, JOINED, SYNC, READER, WAITER, CONSTRAINT, SECTION };

static uint64_t print_of_page(const ft_sym_state *m, page *p, uint64_t base)
{
    if (p->is_printed) return p->print;
    p->print = 0;
    for (uint32_t i = 0; i < p->size; i++) {
        p->print ^= fragment(BYTE, base + i, p->bytes[i]);
        if (p->cells && p->cells[i].term)
            p->print ^=
                fragment(TERM, base + i, (uint64_t)p->cells[i].term << 8 | p->cells[i].part);
    }
    for (uint32_t i = 0; p->pointees && i < p->size / 8; i++)
        p->print ^= fragment(POINTEE, base + i, base_of(m, p->pointees[i]));
    p->is_printed = true;
    return p->print;
}

static uint64_t print_of_object(const ft_sym_state *m, object *o)
{
    if (o->is_printed) return o->print;
    o->print = fragment(OBJECT, o->base, o->size << 1 | o->freed);
    for (uint32_t i = 0; o->content && i < o->content->n; i++)
        if (o->content->pages[i])
            o->print ^= print_of_page(m, o->content->pages[i], o->base + (uint64_t)i * PAGE);
    o->is_printed = true;
    return o->print;
}

static uint64_t print_of_thread(ft_sym_state *m, uint32_t t)
{
    sym_thread *th = sym_thread_of(m, t);
    uint64_t others = fragment(JOINED, t, touched_by_others(th));
    if (th->is_printed) return th->print ^ others;
    ft_strbuf bytes = {0};
    add_thread(m, th, &bytes);
    th->print = fragment(THREAD, t, ft_hash_bytes(bytes.text, bytes.len, 17));
    th->is_printed = true;
    ft_strbuf_release(&bytes);
    return th->print ^ others;
}

/* Bit by bit, where several threads may change the object in any order. */
static uint64_t print_of_sync(const sync_object *s)
{
    const uint64_t words[] = {s->kind, s->mutex_kind, s->destroyed, s->owner, s->count, s->total};
    uint64_t print = fragment(SYNC, s->address, ft_hash_bytes(words, sizeof words, 19));
    for (uint32_t t = 0; t < FT_SYM_THREADS; t++) {
        uint64_t waits = (s->waiters >> t & 1) << 1 | (s->notified >> t & 1);
        if (s->readers >> t & 1)
            print ^= fragment(READER, s->address, (uint64_t)t << 8 | s->reads[t]);
        if (waits) print ^= fragment(WAITER, s->address, (uint64_t)t << 2 | waits);
    }
    return print;
}

uint64_t ft_sym_print(ft_sym_state *m)
{
    uint64_t print = fragment(SECTION, m->end, m->section + 1);
    bool memory = !ft_sym_fault_is(FT_SYM_FAULT_NO_MEMORY),
         registers = !ft_sym_fault_is(FT_SYM_FAULT_NO_REGISTERS),
         conditions = !ft_sym_fault_is(FT_SYM_FAULT_NO_CONDITIONS);
    for (size_t i = 0; i < m->objects.len && memory; i++)
        print ^= print_of_object(m, &m->objects.data[i]);
    for (uint32_t t = 0; t < m->threads.len && registers; t++)
        if (m->threads.data[t].exists) print ^= print_of_thread(m, t);
    for (size_t i = 0; i < m->syncs.len; i++) print ^= print_of_sync(&m->syncs.data[i]);
    for (size_t i = 0; i < m->constraints.len && conditions; i++)
        print ^= fragment(CONSTRAINT, m->constraints.data[i].term, 1);
    return print;
}

/* ---- conditions ---- */

size_t ft_sym_conditions(const ft_sym_state *m)
{
    return m->constraints.len;
}

ft_sym_condition ft_sym_condition_of(const ft_sym_state *m, size_t i)
{
    FT_REQUIRE(i < m->constraints.len);
    const constraint *c = &m->constraints.data[i];
    return (ft_sym_condition){c->term, c->thread, c->step};
}

/* ---- places where a thread was ---- */

void ft_sym_mark_bytes(const ft_sym_state *m, uint32_t t, const ft_sym_mark *k, ft_strbuf *out)
{
    number(out, k != NULL);
    if (!k) return;
    number(out, k->frames.len);
    for (size_t i = 0; i < k->frames.len; i++) add_frame(&k->frames.data[i], out);
    number(out, k->values.len);
    for (size_t i = 0; i < k->values.len; i++) add_value(m, k->values.data[i], out);
    number(out, k->stack.len);
    for (size_t i = 0; i < k->stack.len; i++) {
        number(out, m->objects.data[k->stack.data[i]].base);
        add_content(m, k->contents[i], out);
    }
    number(out, k->inputs.len);
    for (size_t i = 0; i < k->inputs.len; i++) add_read(&k->inputs.data[i], out);
    add_decisions(&k->decided, out);
    number(out, sym_thread_of(m, t)->changes - k->changes);
    number(out, k->finishes);
    number(out, (uint64_t)k->section << 3 | (uint64_t)k->begun << 2 | (uint64_t)k->second << 1 |
                    k->returned);
    for (size_t i = 0; i < k->held.len; i++) {
        number(out, k->held.data[i].address);
        number(out, k->held.data[i].count << 8 | k->held.data[i].reads);
    }
    number(out, UINT64_MAX);
}
