#include "modular/atoms.h"

#include <stdlib.h>

#include "base/contract.h"

enum { MOST_CONSTANTS = 12 };

/* ---- constants ---- */

static void add_constant(mod_constants *c, uint8_t width, uint64_t bits)
{
    for (size_t i = 0; i < c->of[width].len; i++)
        if (c->of[width].data[i] == bits) return;
    if (c->of[width].len < MOST_CONSTANTS) ft_vec_push(&c->of[width], bits);
}

static void add_of_term(mod_constants *c, const modular *m, ft_map *seen, ft_term term)
{
    bool fresh;
    mod_terms open = {0};
    if (term == FT_NO_TERM) return;
    ft_vec_push(&open, term);
    while (open.len) {
        ft_term t = open.data[--open.len];
        ft_map_slot(seen, t, 0, &fresh);
        if (!fresh) continue;
        ft_term_node node = ft_term_get(m->pool, t);
        if (node.op == FT_OP_LITERAL && node.sort.kind == FT_SORT_BITVEC)
            add_constant(c, node.sort.width, node.bits);
        c->is_signed |= node.op >= FT_OP_BVSLT && node.op <= FT_OP_BVSGE;
        c->is_unsigned |= node.op >= FT_OP_BVULT && node.op <= FT_OP_BVUGE;
        for (uint32_t i = 0; i < node.n_children; i++) ft_vec_push(&open, node.children[i]);
    }
    ft_vec_release(&open);
}

static void add_of_outcome(mod_constants *c, const modular *m, ft_map *seen, const mod_outcome *o)
{
    add_of_term(c, m, seen, o->guard);
    add_of_term(c, m, seen, o->argument);
    for (size_t i = 0; i < o->slots.len; i++) add_of_term(c, m, seen, o->slots.data[i]);
    for (size_t i = 0; i < o->updates.len; i++) add_of_term(c, m, seen, o->updates.data[i].term);
}

void mod_constants_init(mod_constants *c, const modular *m)
{
    ft_map seen = {0};
    for (uint8_t width = 1; width < MOD_WIDTHS; width++) {
        add_constant(c, width, 0);
        add_constant(c, width, 1);
    }
    for (size_t i = 0; i < m->cells.len; i++)
        add_constant(c, m->cells.data[i].width, m->cells.data[i].initial);
    for (size_t i = 0; i < m->locations.len; i++)
        for (size_t k = 0; k < m->locations.data[i].outcomes.len; k++)
            add_of_outcome(c, m, &seen, &m->locations.data[i].outcomes.data[k]);
    c->is_unsigned |= !c->is_signed;
    ft_map_release(&seen);
}

void mod_constants_release(mod_constants *c)
{
    for (uint8_t width = 1; width < MOD_WIDTHS; width++) ft_vec_release(&c->of[width]);
}

/* ---- relations ---- */

static int64_t as_signed(uint64_t bits, uint8_t width)
{
    return (int64_t)(bits << (64 - width)) >> (64 - width);
}

static bool holds(mod_relation r, uint8_t width, uint64_t x, uint64_t y)
{
    switch (r) {
    case MOD_EQ:
        return x == y;
    case MOD_NE:
        return x != y;
    case MOD_ULE:
        return x <= y;
    case MOD_UGE:
        return x >= y;
    case MOD_SLE:
        return as_signed(x, width) <= as_signed(y, width);
    case MOD_SGE:
        return as_signed(x, width) >= as_signed(y, width);
    case MOD_AFTER:
        return x == ((y + 1) & ft_width_mask(width));
    case MOD_BEFORE:
        return y == ((x + 1) & ft_width_mask(width));
    case MOD_RELATIONS:
        break;
    }
    return false;
}

ft_term mod_atom_term(modular *m, const mod_invariant *v, const mod_atom *a, const ft_term *terms)
{
    uint8_t width = v->variables.data[a->x].width;
    ft_term x = terms[a->x], y = a->constant ? mod_literal(m, width, a->bits) : terms[a->y];
    ft_term one = mod_literal(m, width, 1);
    switch ((mod_relation)a->relation) {
    case MOD_EQ:
        return mod_apply(m, FT_OP_EQ, x, y);
    case MOD_NE:
        return mod_apply(m, FT_OP_NOT, mod_apply(m, FT_OP_EQ, x, y), FT_NO_TERM);
    case MOD_ULE:
        return mod_apply(m, FT_OP_BVULE, x, y);
    case MOD_UGE:
        return mod_apply(m, FT_OP_BVUGE, x, y);
    case MOD_SLE:
        return mod_apply(m, FT_OP_BVSLE, x, y);
    case MOD_SGE:
        return mod_apply(m, FT_OP_BVSGE, x, y);
    case MOD_AFTER:
        return mod_apply(m, FT_OP_EQ, x, mod_apply(m, FT_OP_BVADD, y, one));
    case MOD_BEFORE:
        return mod_apply(m, FT_OP_EQ, y, mod_apply(m, FT_OP_BVADD, x, one));
    case MOD_RELATIONS:
        break;
    }
    return FT_NO_TERM;
}

/* ---- invariants ---- */

static void add_slots(mod_invariant *v, const modular *m, uint8_t who, uint32_t location)
{
    const mod_location *l = &m->locations.data[location];
    for (uint32_t i = 0; i < l->widths.len; i++)
        ft_vec_push(&v->variables, (mod_variable){who, l->widths.data[i], i});
}

void mod_invariant_init(mod_invariant *v, const modular *m, uint32_t first, uint32_t second)
{
    FT_REQUIRE(!v->variables.len && !v->reached);
    for (uint32_t i = 0; i < m->cells.len; i++)
        ft_vec_push(&v->variables, (mod_variable){0, m->cells.data[i].width, i});
    add_slots(v, m, 1, first);
    if (second != MOD_NOWHERE) add_slots(v, m, 2, second);
}

void mod_invariant_release(mod_invariant *v)
{
    ft_vec_release(&v->variables);
    ft_vec_release(&v->atoms);
    ft_vec_release(&v->needed);
}

static void add_where_true(mod_invariant *v, const mod_constants *c, mod_atom a, uint64_t x,
                           uint64_t y)
{
    if (!c->is_unsigned && (a.relation == MOD_ULE || a.relation == MOD_UGE)) return;
    if (!c->is_signed && (a.relation == MOD_SLE || a.relation == MOD_SGE)) return;
    if (holds((mod_relation)a.relation, v->variables.data[a.x].width, x, y))
        ft_vec_push(&v->atoms, a);
}

static void add_atoms(mod_invariant *v, const mod_constants *c, const uint64_t *values)
{
    for (uint32_t x = 0; x < v->variables.len; x++) {
        uint8_t width = v->variables.data[x].width;
        for (uint8_t r = 0; r <= (width > 1 ? MOD_SGE : MOD_EQ); r++)
            for (size_t i = 0; i < c->of[width].len; i++)
                add_where_true(v, c, (mod_atom){r, true, x, 0, c->of[width].data[i]}, values[x],
                               c->of[width].data[i]);
        for (uint32_t y = x + 1; y < v->variables.len; y++)
            for (uint8_t r = 0; r <= (width > 1 ? MOD_BEFORE : MOD_NE); r++)
                if (v->variables.data[y].width == width)
                    add_where_true(v, c, (mod_atom){r, false, x, y, 0}, values[x], values[y]);
    }
}

static bool is_order(uint8_t r)
{
    return r == MOD_ULE || r == MOD_UGE || r == MOD_SLE || r == MOD_SGE;
}

/* Does the atom b, which is kept, imply a? */
static bool implies(const mod_invariant *v, const mod_atom *b, const mod_atom *a)
{
    uint8_t width = v->variables.data[a->x].width;
    if (a->constant != b->constant || a->x != b->x) return false;
    if (!a->constant) return a->y == b->y && b->relation == MOD_EQ && is_order(a->relation);
    if (b->relation == MOD_EQ) return a->relation != MOD_EQ || a->bits == b->bits;
    return a->relation == b->relation && is_order(a->relation) && a->bits != b->bits &&
           holds((mod_relation)a->relation, width, b->bits, a->bits);
}

static bool is_fixed(const mod_invariant *v, uint32_t x)
{
    for (size_t i = 0; i < v->atoms.len; i++) {
        const mod_atom *a = &v->atoms.data[i];
        if (a->constant && a->x == x && a->relation == MOD_EQ) return true;
    }
    return false;
}

static void choose_needed(mod_invariant *v)
{
    v->needed.len = 0;
    for (uint32_t i = 0; i < v->atoms.len; i++) {
        const mod_atom *a = &v->atoms.data[i];
        bool implied = !a->constant && is_fixed(v, a->x) && is_fixed(v, a->y);
        for (size_t k = 0; k < v->atoms.len && !implied; k++)
            implied = k != i && implies(v, &v->atoms.data[k], a);
        if (!implied) ft_vec_push(&v->needed, i);
    }
}

bool mod_invariant_take(mod_invariant *v, const mod_constants *c, const uint64_t *values)
{
    size_t kept = 0, before = v->atoms.len;
    if (!v->reached) {
        v->reached = true;
        add_atoms(v, c, values);
    } else {
        for (size_t i = 0; i < before; i++) {
            const mod_atom a = v->atoms.data[i];
            uint8_t width = v->variables.data[a.x].width;
            uint64_t y = a.constant ? a.bits : values[a.y];
            if (holds((mod_relation)a.relation, width, values[a.x], y)) v->atoms.data[kept++] = a;
        }
        if (kept == before) return false;
        v->atoms.len = kept;
    }
    v->version++;
    choose_needed(v);
    return true;
}
