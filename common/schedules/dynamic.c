#include "schedules/dynamic.h"

#include "base/contract.h"

bool ft_schedule_is_tree(const ft_schedule_set *set, uint32_t epoch)
{
    for (size_t i = 0; i < set->inputs.len; i++)
        if (set->inputs.data[i].epoch == epoch && set->inputs.data[i].dynamic) return true;
    return false;
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

bool ft_schedules_go_on_alike(const ft_schedule *a, const ft_schedule *b)
{
    bool goes_on = a->end == FT_SCHEDULE_EPOCH;
    if (goes_on != (b->end == FT_SCHEDULE_EPOCH)) return false;
    if (!goes_on) return true;
    bool same = a->next == b->next && a->bound.len == b->bound.len;
    for (size_t i = 0; same && i < a->bound.len; i++)
        same = a->threads.data[a->bound.data[i]] == b->threads.data[b->bound.data[i]];
    return same;
}
