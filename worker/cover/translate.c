#include "cover/translate.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "symbolic/epoch.h"

void cover_translation_release(cover_translation *t)
{
    ft_map_release(&t->to_set);
    ft_map_release(&t->to_world);
    ft_map_release(&t->inputs);
}

/* ---- symbols ---- */

static bool is_unknown(const ft_sym_name *in)
{
    return in->thread == FT_NO_ID;
}

static ft_symbol known_input(const cover_translation *t, const ft_sym_name *in, const char *thread)
{
    const ft_schedule_set *set = t->set;
    for (uint32_t i = 0; i < set->inputs.len; i++) {
        const ft_schedule_input *x = &set->inputs.data[i];
        if (x->epoch == t->epoch && x->n == (is_unknown(in) ? 0 : in->n + 1) &&
            x->width == in->width && strcmp(ft_schedule_text_of(set, x->name), in->name) == 0 &&
            (is_unknown(in) || strcmp(ft_schedule_text_of(set, x->thread), thread) == 0))
            return i;
    }
    return FT_NO_ID;
}

static ft_symbol set_symbol(cover_translation *t, ft_symbol symbol)
{
    bool fresh;
    uint64_t *slot = ft_map_slot(&t->inputs, symbol, 0, &fresh);
    if (!fresh) return (ft_symbol)*slot;
    ft_sym_name in = ft_sym_world_input(t->world->world, symbol);
    ft_strbuf thread = {0};
    ft_strbuf_puts(&thread, "");
    if (!is_unknown(&in)) cover_world_thread_name(t->world, in.thread, &thread);
    ft_symbol made = known_input(t, &in, thread.text);
    if (made == FT_NO_ID) {
        made =
            ft_schedule_add_symbol(t->set, t->epoch, in.name, is_unknown(&in) ? NULL : thread.text,
                                   is_unknown(&in) ? 0 : in.n + 1, in.width);
        t->set->inputs.data[made].dynamic =
            !is_unknown(&in) && (in.loop || cover_world_is_dynamic(t->world, in.name));
        t->set->inputs.data[made].loop = in.loop;
    }
    ft_strbuf_release(&thread);
    *ft_map_slot(&t->inputs, symbol, 0, NULL) = made;
    return made;
}

static ft_symbol world_symbol(cover_translation *t, ft_symbol symbol)
{
    const ft_schedule_input *in = &t->set->inputs.data[symbol];
    const char *name = ft_schedule_text_of(t->set, in->name);
    if (in->epoch != t->epoch) return FT_NO_ID;
    if (!in->n) return ft_sym_world_unknown(t->world->world, name, in->width);
    uint32_t thread = cover_world_thread(t->world, ft_schedule_text_of(t->set, in->thread));
    if (thread == FT_NO_ID) return FT_NO_ID;
    return ft_sym_world_symbol(t->world->world, thread, name, in->n - 1, in->width);
}

/* ---- terms: children first ---- */

typedef struct copying {
    const ft_term_pool *from;
    ft_term_pool *to;
    ft_map *done; /* 0: it cannot be copied */
    ft_term (*symbol)(void *context, const ft_term_node *node);
    void *context;
    FT_VEC(ft_term) stack;
    FT_VEC(ft_term) kids;
} copying;

static ft_term copy_node(copying *c, ft_term term)
{
    ft_term_node node = ft_term_get(c->from, term);
    if (node.op == FT_OP_LITERAL) return ft_term_literal(c->to, (ft_value){node.sort, node.bits});
    if (node.op == FT_OP_SYMBOL) return c->symbol(c->context, &node);
    c->kids.len = 0;
    for (uint32_t i = 0; i < node.n_children; i++) {
        uint64_t kid = 0;
        ft_map_get(c->done, node.children[i], &kid);
        if (!kid) return FT_NO_TERM;
        ft_vec_push(&c->kids, (ft_term)kid);
    }
    ft_term made = FT_NO_TERM;
    ft_status status =
        ft_term_apply(c->to, node.op, c->kids.data, (uint32_t)c->kids.len, node.index, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

static bool push_children(copying *c, ft_term term)
{
    ft_term_node node = ft_term_get(c->from, term);
    bool all = true;
    for (uint32_t i = 0; i < node.n_children; i++) {
        if (ft_map_get(c->done, node.children[i], NULL)) continue;
        ft_vec_push(&c->stack, node.children[i]);
        all = false;
    }
    return all;
}

ft_term cover_copy_term(const ft_term_pool *from, ft_term_pool *to, ft_map *done,
                        ft_term (*symbol)(void *context, const ft_term_node *node), void *context,
                        ft_term term)
{
    FT_REQUIRE(from && to && done && symbol && term != FT_NO_TERM);
    copying c = {.from = from, .to = to, .done = done, .symbol = symbol, .context = context};
    ft_vec_push(&c.stack, term);
    while (c.stack.len) {
        ft_term at = c.stack.data[c.stack.len - 1];
        if (!ft_map_get(done, at, NULL)) {
            if (!push_children(&c, at)) continue;
            ft_term made = copy_node(&c, at);
            ft_map_put(done, at, made);
        }
        c.stack.len--;
    }
    uint64_t made = 0;
    ft_map_get(done, term, &made);
    ft_vec_release(&c.stack);
    ft_vec_release(&c.kids);
    return (ft_term)made;
}

/* ---- between a world and a set ---- */

static ft_term to_set(void *context, const ft_term_node *node)
{
    cover_translation *t = context;
    return ft_term_symbol(t->set->pool, set_symbol(t, node->symbol), node->sort);
}

static ft_term to_world(void *context, const ft_term_node *node)
{
    cover_translation *t = context;
    const ft_schedule_input *in = &t->set->inputs.data[node->symbol];
    if (t->arrival && !in->n) /* an unknown whose content is wanted */
        return ft_sym_content(t->arrival, ft_schedule_text_of(t->set, in->name), in->width);
    ft_symbol symbol = world_symbol(t, node->symbol);
    return symbol == FT_NO_ID ? FT_NO_TERM : ft_term_symbol(t->world->pool, symbol, node->sort);
}

ft_term cover_to_set(cover_translation *t, ft_term term)
{
    return cover_copy_term(t->world->pool, t->set->pool, &t->to_set, to_set, t, term);
}

ft_term cover_to_world(cover_translation *t, ft_term term)
{
    return cover_copy_term(t->set->pool, t->world->pool, &t->to_world, to_world, t, term);
}
