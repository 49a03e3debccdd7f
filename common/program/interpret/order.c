/* The order of accesses as bytes: vector clocks count for ever, but later races depend only on how
 * clocks compare with accesses that may still race. */
#include <stdlib.h>

#include "program/interpret/internal.h"

typedef FT_VEC(uint32_t) marks;

typedef struct writer {
    const ft_interpreter *m;
    ft_strbuf *out;
    marks of[FT_INTERPRETER_THREADS]; /* by thread: the counts that clocks are compared with */
} writer;

static void number(writer *w, uint64_t n)
{
    ft_strbuf_add(w->out, (const char *)&n, sizeof n);
}

static bool is_live(const interpreted_thread *t)
{
    return t->exists && !t->ended;
}

/* Do all threads that may still access anything have it behind themselves? New threads have what
 * their makers have. */
static bool is_settled(const ft_interpreter *m, uint32_t thread, const epoch *e)
{
    for (size_t t = 0; t < m->threads.len; t++)
        if (is_live(&m->threads.data[t]) && m->threads.data[t].clock.of[thread] < e->clock)
            return false;
    return true;
}

/* The access of the kind that the thread did last; NULL: none, or it cannot race any more. */
static const epoch *open_access(const ft_interpreter *m, const accesses *a, uint32_t thread)
{
    const epoch *e = a->thread == thread ? &a->last : NULL;
    if (a->many) e = &m->many.data[(size_t)(a->many - 1) * FT_INTERPRETER_THREADS + thread];
    return e && e->clock && !is_settled(m, thread, e) ? e : NULL;
}

/* ---- the counts */

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void add_mark(writer *w, uint32_t thread, uint32_t clock)
{
    marks *all = &w->of[thread];
    if (!all->len || all->data[all->len - 1] != clock) ft_vec_push(all, clock);
}

static void mark_shadow(writer *w, const shadow *s)
{
    for (int k = 0; k < ACCESS_KINDS; k++)
        for (uint32_t t = 0; t < w->m->threads.len; t++) {
            const epoch *e = open_access(w->m, &s->of[k], t);
            if (e) add_mark(w, t, e->clock);
        }
}

static bool has_shadow(const memory_object *o)
{
    return !o->freed && o->shadow;
}

static void add_marks(writer *w)
{
    for (size_t i = 0; i < w->m->objects.len; i++) {
        const memory_object *o = &w->m->objects.data[i];
        for (uint64_t at = 0; has_shadow(o) && at < o->size; at++) mark_shadow(w, &o->shadow[at]);
    }
    for (uint32_t t = 0; t < w->m->threads.len; t++) /* its next accesses */
        if (is_live(&w->m->threads.data[t])) add_mark(w, t, w->m->threads.data[t].clock.of[t]);
    for (int t = 0; t < FT_INTERPRETER_THREADS; t++) {
        marks *all = &w->of[t];
        size_t kept = 0;
        if (all->len) qsort(all->data, all->len, sizeof *all->data, by_size);
        for (size_t i = 0; i < all->len; i++)
            if (!kept || all->data[kept - 1] != all->data[i]) all->data[kept++] = all->data[i];
        all->len = kept;
    }
}

/* How many of the counts the clock has reached. */
static uint64_t rank(const writer *w, uint32_t thread, uint32_t clock)
{
    uint64_t n = 0;
    while (n < w->of[thread].len && w->of[thread].data[n] <= clock) n++;
    return n;
}

/* ---- written */

static void write_clock(writer *w, const vector_clock *c)
{
    for (uint32_t t = 0; t < FT_INTERPRETER_THREADS; t++) {
        uint64_t n = rank(w, t, c->of[t]);
        if (n) number(w, (uint64_t)t << 32 | n);
    }
    number(w, UINT64_MAX);
}

static void write_shadow(writer *w, const shadow *s)
{
    for (int k = 0; k < ACCESS_KINDS; k++) {
        number(w, s->of[k].many != 0);
        for (uint32_t t = 0; t < w->m->threads.len; t++) {
            const epoch *e = open_access(w->m, &s->of[k], t);
            if (!e) continue;
            number(w, (uint64_t)t << 33 | rank(w, t, e->clock) << 1 | e->in_section);
            number(w, (uint64_t)e->place.function << 32 | e->place.instruction);
        }
        number(w, UINT64_MAX);
    }
}

static void write_threads(writer *w)
{
    for (size_t t = 0; t < w->m->threads.len; t++) {
        const interpreted_thread *th = &w->m->threads.data[t];
        bool nobodys = th->ended && (th->joined || th->detached);
        number(w, th->exists && !nobodys);
        if (!th->exists || nobodys) continue;
        write_clock(w, &th->clock);
        write_clock(w, &th->pending);
        write_clock(w, &th->fenced);
    }
}

/* Objects are met in any order. */
static void write_objects(writer *w)
{
    const ft_interpreter *m = w->m;
    uint64_t last = 0;
    for (bool any = true, first = true; any; first = false) {
        uint64_t least = 0;
        any = false;
        for (size_t i = 0; i < m->syncs.len + m->releases.len; i++) {
            uint64_t at = i < m->syncs.len ? m->syncs.data[i].address
                                           : m->releases.data[i - m->syncs.len].address;
            if ((first || at > last) && (!any || at < least)) least = at, any = true;
        }
        if (!any) break;
        last = least;
        number(w, last);
        for (size_t i = 0; i < m->syncs.len; i++)
            if (m->syncs.data[i].address == last) {
                write_clock(w, &m->syncs.data[i].released);
                write_clock(w, &m->syncs.data[i].written);
            }
        for (size_t i = 0; i < m->releases.len; i++)
            if (m->releases.data[i].address == last) write_clock(w, &m->releases.data[i].clock);
    }
}

static bool has_open_access(const ft_interpreter *m, const shadow *s)
{
    for (int k = 0; k < ACCESS_KINDS; k++)
        for (uint32_t t = 0; t < m->threads.len; t++)
            if (open_access(m, &s->of[k], t)) return true;
    return false;
}

static const memory_object *next_object(const ft_interpreter *m, const memory_object *behind)
{
    const memory_object *next = NULL;
    for (size_t i = 0; i < m->objects.len; i++) {
        const memory_object *o = &m->objects.data[i];
        if (has_shadow(o) && (!behind || o->base > behind->base) && (!next || o->base < next->base))
            next = o;
    }
    return next;
}

void ft_interpreter_order_bytes(const ft_interpreter *m, ft_strbuf *out)
{
    FT_REQUIRE(m && out);
    writer w = {.m = m, .out = out};
    add_marks(&w);
    write_threads(&w);
    write_objects(&w);
    for (const memory_object *o = next_object(m, NULL); o; o = next_object(m, o))
        for (uint64_t at = 0; at < o->size; at++)
            if (has_open_access(m, &o->shadow[at])) {
                number(&w, o->base + at);
                write_shadow(&w, &o->shadow[at]);
            }
    for (int t = 0; t < FT_INTERPRETER_THREADS; t++) ft_vec_release(&w.of[t]);
}
