#include <stdlib.h>
#include <string.h>

#include "symbolic/internal.h"

#define COPY_VEC(to, from)                                                                         \
    do {                                                                                           \
        ft_vec_reserve((to), (from)->len + 1);                                                     \
        if ((from)->len) memcpy((to)->data, (from)->data, (from)->len * sizeof *(from)->data);     \
        (to)->len = (from)->len;                                                                   \
    } while (0)

static held held_by(const sync_object *s, uint32_t t)
{
    return (held){s->address, s->owner == t + 1 ? s->count + 1 : 0, s->reads[t]};
}

static void note_held(const ft_sym_state *m, uint32_t t, ft_sym_mark *k)
{
    for (size_t i = 0; i < m->syncs.len; i++) {
        held h = held_by(&m->syncs.data[i], t);
        if (h.count || h.reads) ft_vec_push(&k->held, h);
    }
    k->section = m->section == t + 1;
}

static bool holds_the_same(const ft_sym_mark *k, const ft_sym_state *m, uint32_t t)
{
    size_t at = 0;
    for (size_t i = 0; i < m->syncs.len; i++) {
        held h = held_by(&m->syncs.data[i], t);
        if (!h.count && !h.reads) continue;
        const held *was = at < k->held.len ? &k->held.data[at++] : NULL;
        if (!was || was->address != h.address || was->count != h.count || was->reads != h.reads)
            return false;
    }
    return at == k->held.len && k->section == (m->section == t + 1);
}

ft_sym_mark *ft_sym_mark_new(const ft_sym_state *m, uint32_t t)
{
    const sym_thread *th = sym_thread_of(m, t);
    ft_sym_mark *k = ft_calloc(1, sizeof *k);
    k->refs = 1;
    COPY_VEC(&k->frames, &th->frames);
    COPY_VEC(&k->values, &th->values);
    COPY_VEC(&k->stack, &th->stack);
    COPY_VEC(&k->inputs, &th->inputs);
    k->contents = ft_calloc(th->stack.len + 1, sizeof(content *));
    for (size_t i = 0; i < th->stack.len; i++)
        k->contents[i] = sym_content_share(m->objects.data[th->stack.data[i]].content);
    k->decided = th->decided;
    k->changes = th->changes;
    k->finishes = th->finishes;
    k->begun = th->begun;
    k->second = th->second;
    k->returned = th->returned;
    note_held(m, t, k);
    return k;
}

ft_sym_mark *ft_sym_mark_share(ft_sym_mark *k)
{
    if (k) k->refs++;
    return k;
}

void ft_sym_mark_free(ft_sym_mark *k)
{
    if (!k || --k->refs) return;
    for (size_t i = 0; i < k->stack.len; i++) sym_content_drop(k->contents[i]);
    free(k->contents);
    ft_vec_release(&k->held);
    ft_vec_release(&k->frames);
    ft_vec_release(&k->values);
    ft_vec_release(&k->stack);
    ft_vec_release(&k->inputs);
    free(k);
}

static bool is_equal_frame(const frame *a, const frame *b)
{
    return a->function == b->function && a->at == b->at && a->registers == b->registers &&
           a->objects == b->objects && a->once == b->once;
}

static bool is_equal_value(const value *a, const value *b)
{
    return a->term == b->term && a->object == b->object && (a->term || a->bits == b->bits);
}

static bool has_registers(const ft_sym_mark *k, const sym_thread *th)
{
    for (size_t i = k->frames.len; i-- > 0;) /* the innermost differs first */
        if (!is_equal_frame(&k->frames.data[i], &th->frames.data[i])) return false;
    for (size_t i = k->values.len; i-- > 0 && !sym_fault_is(SYM_FAULT_MARK_VALUES);)
        if (!is_equal_value(&k->values.data[i], &th->values.data[i])) return false;
    return true;
}

static bool has_inputs(const ft_sym_mark *k, const sym_thread *th)
{
    if (k->inputs.len != th->inputs.len) return false;
    for (size_t i = 0; i < k->inputs.len; i++)
        if (k->inputs.data[i].n != th->inputs.data[i].n) return false;
    return true;
}

static bool has_decided(const ft_sym_mark *k, const sym_thread *th)
{
    if (k->decided.n != th->decided.n) return false;
    for (uint32_t i = 0; i < k->decided.n; i++)
        if (k->decided.of[i] != th->decided.of[i]) return false;
    return true;
}

static bool has_stack(const ft_sym_mark *k, const ft_sym_state *m, const sym_thread *th)
{
    for (size_t i = 0; i < k->stack.len; i++)
        if (k->stack.data[i] != th->stack.data[i] ||
            !sym_content_is_equal(k->contents[i], m->objects.data[th->stack.data[i]].content))
            return false;
    return true;
}

bool ft_sym_is_at(const ft_sym_state *m, uint32_t t, const ft_sym_mark *k)
{
    const sym_thread *th = sym_thread_of(m, t);
    bool same = th->frames.len == k->frames.len && th->values.len == k->values.len &&
                th->stack.len == k->stack.len && th->changes == k->changes &&
                th->finishes == k->finishes && th->begun == k->begun && th->second == k->second &&
                th->returned == k->returned && !th->failing && !th->ended && !th->open;
    return same && has_registers(k, th) && has_decided(k, th) && has_inputs(k, th) &&
           has_stack(k, m, th) && holds_the_same(k, m, t);
}

uint64_t ft_sym_changes(const ft_sym_state *m, uint32_t t)
{
    return sym_thread_of(m, t)->changes;
}
