#include "context/internal.h"

enum { MOST_PENDING = 64 };

void x_push(exploration *x, const cell **list, cell made)
{
    cell *c = ft_arena_alloc(x->arena, sizeof *c);
    *c = made;
    c->before = *list;
    *list = c;
}

/* What a list says of a place: the writes that may be of it, newest first. */
typedef struct found {
    const cell *pending[MOST_PENDING];
    uint32_t n;
    ft_term value; /* of a write that is of it; else FT_NO_TERM */
    bool lost;     /* a write may have changed it in a way that is not followed */
} found;

static void look(const ctx *c, const cell *list, ft_term at, uint8_t width, const uint64_t *objects,
                 found *f)
{
    uint64_t bytes = (width + 7u) / 8;
    for (const cell *w = list; w && !f->value && !f->lost; w = w->before) {
        if (!w->width) {
            f->lost = ft_bits_meet(w->objects, objects, ft_flow_words(c->flow));
            continue;
        }
        if (ctx_are_apart(c, w->at, w->objects, (w->width + 7u) / 8, at, objects, bytes)) continue;
        if (w->width != width || f->n == MOST_PENDING)
            f->lost = true;
        else if (w->at == at)
            f->value = w->value;
        else
            f->pending[f->n++] = w;
    }
}

ft_term x_load(exploration *x, xstate *s, ft_term at, uint8_t width, const uint64_t *objects)
{
    found f = {.n = 0};
    if (!ctx_fault_is(CTX_FAULT_OLD_VALUE)) look(x->c, s->memory, at, width, objects, &f);
    bool lost = f.lost;
    if (!f.value && !f.lost) look(x->c, s->seen, at, width, objects, &f);
    if (!f.value) f.value = ctx_fresh(x->c, width);
    if (lost || f.lost) { /* anything; from now on the same */
        x_push(x, &s->memory,
               (cell){.at = at, .value = f.value, .width = width, .objects = objects});
        return f.value;
    }
    ft_term v = f.value;
    for (uint32_t i = f.n; i-- > 0;)
        v = ctx_choice(x->c, ctx_equal(x->c, at, f.pending[i]->at), f.pending[i]->value, v);
    if (ctx_size(x->c, v) > 4000) v = ctx_fresh(x->c, width);
    x_push(x, &s->memory, (cell){.at = at, .value = v, .width = width, .objects = objects});
    return v;
}

void x_store(exploration *x, xstate *s, ft_term at, uint8_t width, ft_term v,
             const uint64_t *objects)
{
    x_push(x, &s->memory, (cell){.at = at, .value = v, .width = width, .objects = objects});
}

/* The one object that the address was computed from; NULL: there is none, or several. */
static const ft_object *object_of(const ctx *c, ft_term at, const uint64_t *objects)
{
    ft_term base;
    uint64_t offset;
    const ft_object *only = NULL;
    ctx_split(c, at, &base, &offset);
    if (offset < UINT64_C(1) << 32) return NULL; /* no known address is part of it */
    for (uint32_t a = 0; a < ft_flow_abstracts(c->flow); a++) {
        const ft_abstract *o = ft_flow_abstract(c->flow, a);
        if (!ft_bits_has(objects, a)) continue;
        if (only || o->kind != FT_ABSTRACT_GLOBAL) return NULL;
        only = &c->program->objects.data[o->index];
    }
    return only && !only->by_thread ? only : NULL;
}

bool x_inside(exploration *x, xstate *s, ft_term at, uint64_t bytes, const uint64_t *objects)
{
    ctx *c = x->c;
    uint64_t bits;
    uint32_t arm;
    if (ctx_is_literal(c, at, &bits) && bits < 4096) {
        x_fail(x, s, "an access at an address below 4096");
        return false;
    }
    const ft_object *o = object_of(c, at, objects);
    if (!o) return true;
    ft_instruction sub = {.code = FT_CODE_SUB, .width = 64};
    ft_term both[2] = {at, ctx_literal(c, 64, c->base[o->symbol])};
    ft_term offset = ctx_compute(c, &sub, both, NULL), arms[2];
    arms[0] = bytes > o->size
                  ? ctx_literal(c, 1, 0)
                  : ctx_two(c, FT_OP_BVULE, offset, ctx_literal(c, 64, o->size - bytes));
    arms[1] = ctx_not(c, arms[0]);
    if (!x_decide(x, s, arms, 2, &arm)) return false;
    if (arm) x_fail(x, s, "an access outside of its object");
    return !arm;
}
