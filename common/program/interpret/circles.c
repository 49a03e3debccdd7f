/* Threads that go round in circles. */
#include <stdlib.h>
#include <string.h>

#include "program/interpret/internal.h"

/* A thread's own: where it is in each function, its registers, what is on its stack. */
struct circle {
    FT_VEC(frame) frames;
    FT_VEC(word) values;
    FT_VEC(uint32_t) stack;
    unsigned char *bytes; /* of the stack's objects, one behind the other */
    uint64_t changes;
    bool begun, second, returned;
    uint64_t finishes;
};

#define COPY_VEC(to, from)                                                                         \
    do {                                                                                           \
        ft_vec_reserve((to), (from)->len + 1);                                                     \
        if ((from)->len) memcpy((to)->data, (from)->data, (from)->len * sizeof *(from)->data);     \
        (to)->len = (from)->len;                                                                   \
    } while (0)

circle *ft_circle_new(const ft_interpreter *m, uint32_t t)
{
    const interpreted_thread *th = &m->threads.data[t];
    circle *c = ft_calloc(1, sizeof *c);
    size_t size = 0;
    COPY_VEC(&c->frames, &th->frames);
    COPY_VEC(&c->values, &th->values);
    COPY_VEC(&c->stack, &th->stack);
    for (size_t i = 0; i < th->stack.len; i++) size += m->objects.data[th->stack.data[i]].size;
    c->bytes = ft_alloc(size + 1);
    size = 0;
    for (size_t i = 0; i < th->stack.len; i++) {
        const memory_object *o = &m->objects.data[th->stack.data[i]];
        memcpy(c->bytes + size, o->bytes, o->size);
        size += o->size;
    }
    c->changes = th->changes;
    c->begun = th->begun;
    c->second = th->second;
    c->returned = th->returned;
    c->finishes = th->finishes;
    return c;
}

void ft_circle_free(circle *c)
{
    if (!c) return;
    ft_vec_release(&c->frames);
    ft_vec_release(&c->values);
    ft_vec_release(&c->stack);
    free(c->bytes);
    free(c);
}

static bool is_equal_frame(const frame *a, const frame *b)
{
    return a->function == b->function && a->at == b->at && a->registers == b->registers &&
           a->objects == b->objects && a->once == b->once;
}

static bool is_equal_word(word a, word b)
{
    return a.bits == b.bits && a.object == b.object;
}

static bool has_stack(const circle *c, const ft_interpreter *m, const interpreted_thread *th)
{
    size_t at = 0;
    for (size_t i = 0; i < c->stack.len; i++) {
        if (c->stack.data[i] != th->stack.data[i]) return false;
        const memory_object *o = &m->objects.data[th->stack.data[i]];
        if (memcmp(c->bytes + at, o->bytes, o->size) != 0) return false;
        at += o->size;
    }
    return true;
}

bool ft_circle_is_closed(const circle *c, const ft_interpreter *m, uint32_t t)
{
    const interpreted_thread *th = &m->threads.data[t];
    size_t n = c->frames.len;
    if (th->frames.len != n || th->changes != c->changes || th->values.len != c->values.len ||
        th->stack.len != c->stack.len || th->begun != c->begun || th->second != c->second ||
        th->returned != c->returned || th->finishes != c->finishes || th->failing || th->ended)
        return false;
    for (size_t i = n; i-- > 0;) /* the innermost differs first */
        if (!is_equal_frame(&c->frames.data[i], &th->frames.data[i])) return false;
    for (size_t i = c->values.len; i-- > 0;)
        if (!is_equal_word(c->values.data[i], th->values.data[i])) return false;
    return has_stack(c, m, th);
}

/* ---- what is not the thread's own */

static bool is_equal_object(const memory_object *a, const memory_object *b)
{
    return a->freed == b->freed &&
           (a->freed || !a->size || memcmp(a->bytes, b->bytes, a->size) == 0);
}

static bool is_equal_sync(const sync_object *a, const sync_object *b)
{
    return a->kind == b->kind && a->mutex_kind == b->mutex_kind && a->destroyed == b->destroyed &&
           a->owner == b->owner && a->count == b->count && a->total == b->total &&
           a->readers == b->readers && a->waiters == b->waiters && a->notified == b->notified &&
           memcmp(a->reads, b->reads, sizeof a->reads) == 0;
}

static bool is_unused(const sync_object *s)
{
    return !s->owner && !s->count && !s->total && !s->readers && !s->waiters && !s->destroyed;
}

bool ft_circle_keeps(const ft_interpreter *m, const ft_interpreter *as)
{
    if (m->threads.len != as->threads.len) return false;
    for (size_t i = 0; i < m->objects.len; i++) {
        const memory_object *o = &m->objects.data[i];
        bool known = i < as->objects.len;
        if (!o->stack_of && !(known && is_equal_object(o, &as->objects.data[i]))) return false;
    }
    return true;
}

bool ft_circle_leaves(const ft_interpreter *m, const ft_interpreter *as, uint32_t t)
{
    if (m->threads.len != as->threads.len || m->section != as->section) return false;
    for (size_t i = 0; i < m->threads.len; i++)
        if (m->threads.data[i].joined != as->threads.data[i].joined ||
            m->threads.data[i].detached != as->threads.data[i].detached)
            return false;
    for (size_t i = 0; i < m->objects.len; i++) {
        const memory_object *o = &m->objects.data[i];
        bool own = o->stack_of == t + 1;
        if (i >= as->objects.len ? !own : !own && !is_equal_object(o, &as->objects.data[i]))
            return false;
    }
    for (size_t i = 0; i < m->syncs.len; i++) {
        const sync_object *s = &m->syncs.data[i];
        if (i < as->syncs.len ? !is_equal_sync(s, &as->syncs.data[i]) : !is_unused(s)) return false;
    }
    return true;
}
