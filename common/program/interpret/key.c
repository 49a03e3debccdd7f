/* A state as bytes, for those who ask whether two are equal. */
#include "program/interpret/internal.h"

static void number(ft_strbuf *out, uint64_t n)
{
    ft_strbuf_add(out, (const char *)&n, sizeof n);
}

static void add_object(const memory_object *o, ft_strbuf *out)
{
    number(out, o->base);
    number(out, o->size << 1 | o->freed);
    if (o->freed) return;
    ft_strbuf_add(out, (const char *)o->bytes, o->size);
    for (uint64_t i = 0; i < o->size / 8; i++) number(out, o->pointees ? o->pointees[i] : 0);
}

static void add_sync(const sync_object *s, ft_strbuf *out)
{
    number(out, s->address);
    number(out, (uint64_t)s->kind << 16 | (uint64_t)s->mutex_kind << 8 | s->destroyed);
    number(out, s->owner);
    number(out, s->count);
    number(out, s->total);
    number(out, s->readers);
    number(out, s->waiters);
    number(out, s->notified);
    for (int t = 0; t < FT_INTERPRETER_THREADS; t++)
        if (s->reads[t]) number(out, (uint64_t)t << 32 | s->reads[t]);
}

static void add_thread(const interpreted_thread *t, ft_strbuf *out)
{
    const bool flags[] = {t->exists, t->begun,   t->failing, t->ended,   t->detached, t->joined,
                          t->second, t->circles, t->stands,  t->outcome, t->returned};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) number(out, flags[i]);
    number(out, t->next_base);
    number(out, t->finishes);
    number(out, t->result.bits);
    number(out, t->stack.len);
    number(out, t->frames.len);
    for (size_t i = 0; i < t->frames.len; i++) {
        const frame *f = &t->frames.data[i];
        number(out, f->function->symbol);
        number(out, f->at);
        number(out, f->objects);
        number(out, f->once);
    }
    for (size_t i = 0; i < t->values.len; i++) {
        number(out, t->values.data[i].bits);
        number(out, t->values.data[i].object);
    }
}

/* Synchronisation objects may be met in any order. */
static void add_syncs(const ft_interpreter *m, ft_strbuf *out)
{
    uint64_t last = 0;
    for (size_t n = 0; n < m->syncs.len; n++) {
        const sync_object *next = NULL;
        for (size_t i = 0; i < m->syncs.len; i++) {
            const sync_object *s = &m->syncs.data[i];
            if ((!n || s->address > last) && (!next || s->address < next->address)) next = s;
        }
        assert(next); /* addresses differ */
        add_sync(next, out);
        last = next->address;
    }
}

void ft_interpreter_state_bytes(const ft_interpreter *m, ft_strbuf *out)
{
    FT_REQUIRE(m && out);
    number(out, (uint64_t)m->state);
    number(out, (uint64_t)(int64_t)m->exit_code);
    number(out, m->section);
    number(out, m->objects.len);
    for (size_t i = 0; i < m->objects.len; i++) add_object(&m->objects.data[i], out);
    add_syncs(m, out);
    for (size_t i = 0; i < m->threads.len; i++) add_thread(&m->threads.data[i], out);
}
