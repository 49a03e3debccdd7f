/* Mutations of schedule sets for the tests of certificates: of entries, edges, nodes, conditions
 * and of what an epoch says of its beginning. Each may leave a set that is right. */
#ifndef FT_TESTS_COVER_MUTATIONS_H
#define FT_TESTS_COVER_MUTATIONS_H

#include "schedules/schedules.h"

typedef struct dice {
    uint64_t state;
} dice;

static uint32_t roll(dice *d, size_t n)
{
    d->state = d->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n ? (uint32_t)((d->state >> 33) % n) : 0;
}

static bool drop_edge(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    ft_schedule *s = &e->schedules.data[roll(d, e->schedules.len)];
    for (int tries = 0; tries < 30 && s->nodes.len; tries++) {
        ft_node *n = &s->nodes.data[roll(d, s->nodes.len)];
        if (!n->n_edges) continue;
        uint32_t *edges = s->edges.data + n->edges;
        edges[roll(d, n->n_edges)] = edges[n->n_edges - 1];
        n->n_edges--;
        return true;
    }
    return false;
}

static bool swap_leaves(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    ft_choice *a = &e->choices.data[roll(d, e->choices.len)];
    ft_choice *b = &e->choices.data[roll(d, e->choices.len)];
    if (a->term || b->term || a->schedule == b->schedule) return false;
    uint32_t schedule = a->schedule;
    a->schedule = b->schedule;
    b->schedule = schedule;
    return true;
}

static bool widen_leaf(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    ft_choice *a = &e->choices.data[roll(d, e->choices.len)];
    if (a->term || e->schedules.len < 2) return false;
    a->schedule = roll(d, e->schedules.len);
    return true;
}

static bool uncover_leaf(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    ft_choice *a = &e->choices.data[roll(d, e->choices.len)];
    if (a->term) return false;
    a->schedule = FT_NO_SCHEDULE;
    return true;
}

static bool drop_last_node(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    ft_schedule *s = &e->schedules.data[roll(d, e->schedules.len)];
    if (s->nodes.len < 2) return false;
    s->nodes.len -= 1 + roll(d, 2);
    return true;
}

static bool change_object(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    ft_schedule *s = &e->schedules.data[roll(d, e->schedules.len)];
    ft_node *n = &s->nodes.data[roll(d, s->nodes.len)];
    if (n->object == FT_NO_ID || s->objects.len < 2) return false;
    n->object = roll(d, s->objects.len);
    return true;
}

static bool change_place(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    ft_schedule *s = &e->schedules.data[roll(d, e->schedules.len)];
    ft_node *n = &s->nodes.data[roll(d, s->nodes.len)];
    if (n->function == FT_NO_ID) return false;
    n->instruction++;
    return true;
}

static bool change_waiter(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    ft_schedule *s = &e->schedules.data[roll(d, e->schedules.len)];
    for (size_t i = 0; i < s->nodes.len; i++) {
        if (s->nodes.data[i].kind != FT_NODE_SIGNAL) continue;
        uint32_t peer = s->nodes.data[i].peer;
        s->nodes.data[i].peer = peer == FT_NO_ID ? roll(d, s->threads.len) : FT_NO_ID;
        return true;
    }
    return false;
}

/* An order that the path did not have. */
static bool add_edge(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    ft_schedule *s = &e->schedules.data[roll(d, e->schedules.len)];
    for (int tries = 0; tries < 30 && s->nodes.len > 1; tries++) {
        uint32_t to = 1 + roll(d, s->nodes.len - 1), from = roll(d, to);
        ft_node *n = &s->nodes.data[to];
        if (s->nodes.data[from].thread == n->thread) continue;
        uint32_t first = (uint32_t)s->edges.len;
        for (uint32_t k = 0; k < n->n_edges; k++) {
            uint32_t edge = s->edges.data[n->edges + k];
            ft_vec_push(&s->edges, edge);
        }
        ft_vec_push(&s->edges, from);
        n->edges = first;
        n->n_edges++;
        return true;
    }
    return false;
}

/* A choice that is not a leaf; NULL: there is none. */
static ft_choice *any_choice(ft_epoch *e, dice *d)
{
    if (!e->choices.data[0].term) return NULL;
    for (;;) {
        ft_choice *c = &e->choices.data[roll(d, e->choices.len)];
        if (c->term) return c;
    }
}

static bool negate_condition(ft_schedule_set *set, dice *d)
{
    ft_choice *c = any_choice(&set->epochs.data[0], d);
    if (!c) return false;
    return ft_term_apply(set->pool, FT_OP_NOT, &c->term, 1, NULL, &c->term, NULL) == FT_OK;
}

/* Another condition at a place of the tree. */
static bool change_condition(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    ft_choice *a = any_choice(e, d), *b = any_choice(e, d);
    if (!a || a->term == b->term) return false;
    a->term = b->term;
    return true;
}

/* The epoch claims to begin with inputs of the root's condition only, and covers no other. */
static bool narrow_init(ft_schedule_set *set, dice *d)
{
    ft_epoch *e = &set->epochs.data[0];
    (void)d;
    if (!e->choices.data[0].term) return false;
    e->init = e->choices.data[0].term;
    for (size_t i = e->choices.data[0].no; i < e->choices.len; i++)
        if (!e->choices.data[i].term) e->choices.data[i].schedule = FT_NO_SCHEDULE;
    return true;
}

static bool (*const MUTATIONS[])(ft_schedule_set *set, dice *d) = {
    drop_edge,    swap_leaves,   widen_leaf, uncover_leaf,     drop_last_node,   change_object,
    change_place, change_waiter, add_edge,   negate_condition, change_condition, narrow_init,
};
enum { N_MUTATIONS = sizeof MUTATIONS / sizeof MUTATIONS[0] };

#endif
