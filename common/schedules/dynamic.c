#include "schedules/dynamic.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

bool ft_schedule_is_tree(const ft_schedule_set *set, uint32_t epoch)
{
    for (size_t i = 0; i < set->inputs.len; i++)
        if (set->inputs.data[i].epoch == epoch && set->inputs.data[i].dynamic) return true;
    return false;
}

/* ---- what is possible ---- */

typedef struct asked {
    const ft_schedule_set *set;
    ft_schedule_value value;
    void *context;
    uint32_t missing; /* an input that is not dynamic and not known, + 1 */
} asked;

static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    asked *a = context;
    const ft_schedule_input *in = &a->set->inputs.data[symbol];
    uint64_t bits;
    if (!a->value(a->context, in, ft_schedule_text_of(a->set, in->name),
                  ft_schedule_text_of(a->set, in->thread), &bits)) {
        if (!in->dynamic) a->missing = symbol + 1;
        return false;
    }
    value->sort = in->width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, in->width};
    value->bits = bits & ft_width_mask(in->width);
    return true;
}

static ft_status missing(const asked *a, const ft_epoch *e, ft_error *err)
{
    const ft_schedule_input *in = &a->set->inputs.data[a->missing - 1];
    return ft_error_set(
        err, FT_NOT_FOUND, "the selector of epoch %s needs value %u of '%s', which is not given",
        ft_schedule_text_of(a->set, e->name), in->n, ft_schedule_text_of(a->set, in->name));
}

ft_status ft_schedule_possible(const ft_schedule_set *set, uint32_t epoch, ft_schedule_value value,
                               void *context, bool *possible, ft_error *err)
{
    FT_REQUIRE(epoch < set->epochs.len && value && possible);
    const ft_epoch *e = &set->epochs.data[epoch];
    asked a = {set, value, context, 0};
    bool *reached = ft_calloc(e->choices.len, sizeof *reached); /* children stand behind */
    memset(possible, 0, e->schedules.len * sizeof *possible);
    reached[0] = true;
    for (size_t i = 0; i < e->choices.len; i++) {
        const ft_choice *c = &e->choices.data[i];
        if (!reached[i]) continue;
        if (c->term == FT_NO_TERM) {
            if (c->schedule != FT_NO_SCHEDULE) possible[c->schedule] = true;
            continue;
        }
        ft_value holds = {.bits = 0};
        ft_eval_status status = ft_term_eval(set->pool, c->term, look_up, &a, &holds);
        bool open = status == FT_EVAL_UNKNOWN, yes = status == FT_EVAL_OK && holds.bits;
        if (open && a.missing) break;
        a.missing = 0;
        reached[c->yes] = open || yes;
        reached[c->no] = open || !yes; /* undefined: does not hold */
    }
    free(reached);
    return a.missing ? missing(&a, e, err) : FT_OK;
}

/* ---- the same as a condition ---- */

static ft_term combine(ft_term_pool *pool, ft_op op, ft_term a, ft_term b)
{
    ft_term kids[2] = {a, b}, made = FT_NO_TERM;
    ft_status status = ft_term_apply(pool, op, kids, op == FT_OP_NOT ? 1 : 2, NULL, &made, NULL);
    assert(status == FT_OK);
    (void)status;
    return made;
}

typedef struct knowing {
    const bool *known;
    bool all;
} knowing;

static void note_symbol(void *context, ft_symbol symbol)
{
    knowing *k = context;
    k->all = k->all && k->known[symbol];
}

/* From the leaves up, as ft_schedule_condition; of what is not known both ways are open. */
ft_term ft_schedule_possible_condition(ft_schedule_set *set, uint32_t epoch, uint32_t schedule,
                                       const bool *known)
{
    FT_REQUIRE(epoch < set->epochs.len && known);
    const ft_epoch *e = &set->epochs.data[epoch];
    ft_term *of = ft_alloc((e->choices.len + 1) * sizeof *of);
    for (size_t i = e->choices.len; i-- > 0;) {
        const ft_choice *c = &e->choices.data[i];
        if (c->term == FT_NO_TERM) {
            of[i] = ft_term_literal(set->pool, (ft_value){FT_BOOL_SORT, c->schedule == schedule});
            continue;
        }
        knowing k = {known, true};
        ft_term_symbols(set->pool, c->term, note_symbol, &k);
        ft_term yes = of[c->yes], no = of[c->no];
        if (k.all) {
            yes = combine(set->pool, FT_OP_AND, c->term, yes);
            no = combine(set->pool, FT_OP_AND, combine(set->pool, FT_OP_NOT, c->term, FT_NO_TERM),
                         no);
        }
        of[i] = combine(set->pool, FT_OP_OR, yes, no);
    }
    ft_term condition = of[0];
    free(of);
    return condition;
}

/* ---- nodes ---- */

static uint32_t thread_of(const ft_schedule *s, uint32_t name)
{
    for (uint32_t t = 0; t < s->threads.len; t++)
        if (s->threads.data[t] == name) return t;
    return FT_NO_ID;
}

uint32_t ft_schedule_node_of(const ft_schedule *s, uint32_t name, uint32_t number)
{
    uint32_t thread = thread_of(s, name);
    FT_REQUIRE(number);
    for (uint32_t i = 0; i < s->nodes.len && thread != FT_NO_ID; i++)
        if (s->nodes.data[i].thread == thread && !--number) return i;
    return FT_NO_ID;
}

static uint32_t number_of(const ft_schedule *s, uint32_t node)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < node; i++) n += s->nodes.data[i].thread == s->nodes.data[node].thread;
    return n;
}

/* Does each node before a's have its like before b's? */
static bool edges_agree(const ft_schedule *a, const ft_node *x, const ft_schedule *b,
                        const ft_node *y)
{
    if (x->n_edges != y->n_edges) return false;
    for (uint32_t i = 0; i < x->n_edges; i++) {
        uint32_t from = a->edges.data[x->edges + i];
        uint32_t like =
            ft_schedule_node_of(b, a->threads.data[a->nodes.data[from].thread], number_of(a, from));
        bool found = false;
        for (uint32_t k = 0; k < y->n_edges; k++) found |= b->edges.data[y->edges + k] == like;
        if (!found) return false;
    }
    return true;
}

static uint32_t text_of(uint32_t number, const uint32_t *texts)
{
    return number == FT_NO_ID ? FT_NO_ID : texts[number];
}

bool ft_schedules_agree(const ft_schedule *a, const ft_schedule *b, uint32_t thread,
                        uint32_t number)
{
    uint32_t i = ft_schedule_node_of(a, thread, number), k = ft_schedule_node_of(b, thread, number);
    if (i == FT_NO_ID || k == FT_NO_ID) return i == k;
    const ft_node *x = &a->nodes.data[i], *y = &b->nodes.data[k];
    return x->kind == y->kind && x->timed_out == y->timed_out && x->function == y->function &&
           x->instruction == y->instruction && x->file == y->file && x->line == y->line &&
           x->column == y->column &&
           text_of(x->object, a->objects.data) == text_of(y->object, b->objects.data) &&
           text_of(x->other, a->objects.data) == text_of(y->other, b->objects.data) &&
           text_of(x->peer, a->threads.data) == text_of(y->peer, b->threads.data) &&
           edges_agree(a, x, b, y);
}
