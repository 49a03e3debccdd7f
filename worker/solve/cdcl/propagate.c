#include "base/contract.h"
#include "solve/cdcl/internal.h"

void ft_cdcl_assign(ft_cdcl *s, ft_code p, uint32_t reason)
{
    uint32_t v = FT_VARIABLE(p);
    assert(v > 0 && s->value[p] == 0);
    s->value[p] = 1;
    s->value[FT_NOT(p)] = -1;
    s->level[v] = ft_current_level(s);
    s->reason[v] = reason;
    s->position[v] = (uint32_t)s->trail.len;
    ft_vec_push(&s->trail, p);
    for (uint32_t i = s->limited[p]; i; i = s->limit_links.data[i].next)
        s->limits.data[s->limit_links.data[i].what].holding++;
}

static void unassign(ft_cdcl *s, ft_code p)
{
    assert(s->value[p] > 0 && s->position[FT_VARIABLE(p)] == s->trail.len);
    s->value[p] = s->value[FT_NOT(p)] = 0;
    s->phase[FT_VARIABLE(p)] = FT_NEGATIVE(p) ? -1 : 1;
    ft_cdcl_heap_reopen(s, FT_VARIABLE(p));
    for (uint32_t i = s->limited[p]; i; i = s->limit_links.data[i].next)
        s->limits.data[s->limit_links.data[i].what].holding--;
}

/* ---- levels ---- */

void ft_cdcl_open_level(ft_cdcl *s)
{
    uint32_t edges = s->graph ? ft_order_graph_edges(s->graph) : 0;
    ft_vec_push(&s->levels,
                (ft_level){(uint32_t)s->trail.len, edges, (uint32_t)s->pending.len, s->head});
}

/* A clause stays pending as long as its support is false. Where the support became false at a level
 * that is undone now, the literal's list makes the clause pending again later. */
static void keep_pending(ft_cdcl *s, uint32_t from)
{
    size_t kept = from;
    for (size_t i = from; i < s->pending.len; i++) {
        ft_code support = s->arena.data[s->pending.data[i] + FT_SUPPORT];
        if (support == 0 || s->value[support] < 0) s->pending.data[kept++] = s->pending.data[i];
    }
    s->pending.len = kept;
}

void ft_cdcl_back(ft_cdcl *s, uint32_t level)
{
    if (ft_current_level(s) <= level) return;
    ft_level to = s->levels.data[level];
    assert(to.trail <= s->trail.len && to.pending <= s->pending.len);
    while (s->trail.len > to.trail) unassign(s, s->trail.data[--s->trail.len]);
    s->levels.len = level;
    if (s->propagated > to.trail) s->propagated = to.trail;
    if (s->ordered > to.trail) s->ordered = to.trail;
    if (s->graph) ft_order_graph_undo(s->graph, to.edges);
    keep_pending(s, to.pending);
    s->head = to.head;
    assert(s->head <= s->pending.len && s->ordered <= s->propagated);
}

/* ---- watches and supports ---- */

void ft_cdcl_watch(ft_cdcl *s, ft_code p, ft_cdcl_watcher w)
{
    ft_watch_list *list = &s->watches[FT_NOT(p)];
    if (list->len == list->cap) {
        list->cap = list->cap ? 2 * list->cap : 4;
        list->data = ft_realloc(list->data, list->cap, sizeof *list->data);
    }
    list->data[list->len++] = w;
}

static void give_support(ft_cdcl *s, uint32_t clause, ft_code support)
{
    uint32_t *words = s->arena.data + clause, v = FT_VARIABLE(support);
    assert(ft_is_default(s, support));
    words[FT_SUPPORT] = support;
    words[FT_NEXT_SUPPORTED] = s->supported[v];
    s->supported[v] = clause;
}

void ft_cdcl_support(ft_cdcl *s, uint32_t clause)
{
    const uint32_t *words = s->arena.data + clause;
    ft_code best = 0;
    uint32_t latest = 0;
    for (uint32_t i = 0; i < words[FT_SIZE]; i++) {
        ft_code p = words[FT_HEAD + i];
        if (!ft_is_default(s, p)) continue;
        uint32_t until = s->value[p] < 0 ? s->level[FT_VARIABLE(p)] : UINT32_MAX;
        if (best && until <= latest) continue;
        best = p;
        latest = until;
    }
    if (best) give_support(s, clause, best);
    if (!best || s->value[best] < 0) ft_vec_push(&s->pending, clause);
}

/* p, now true, is the negation of these clauses' support. A clause that is satisfied is so at this
 * level or a lower one, and stays satisfied as long as p is true. */
static void replace_supports(ft_cdcl *s, ft_code p)
{
    uint32_t *link = &s->supported[FT_VARIABLE(p)];
    while (*link) {
        uint32_t clause = *link, *words = s->arena.data + clause;
        ft_code other = 0;
        bool satisfied = false;
        for (uint32_t i = 0; i < words[FT_SIZE] && !satisfied; i++) {
            ft_code q = words[FT_HEAD + i];
            satisfied = s->value[q] > 0;
            if (!other && s->value[q] == 0 && ft_is_default(s, q)) other = q;
        }
        if (!satisfied && other) {
            *link = words[FT_NEXT_SUPPORTED];
            give_support(s, clause, other);
            continue;
        }
        if (!satisfied) ft_vec_push(&s->pending, clause);
        link = &words[FT_NEXT_SUPPORTED];
    }
}

/* ---- propagation ---- */

static bool propagate_binaries(ft_cdcl *s, ft_code p)
{
    for (uint32_t i = s->implied[p]; i; i = s->binaries.data[i].next) {
        ft_code q = s->binaries.data[i].what;
        if (s->value[q] > 0) continue;
        if (s->value[q] == 0) {
            ft_cdcl_assign(s, q, FT_BY_BINARY | FT_NOT(p));
            continue;
        }
        s->conflict.len = 0;
        ft_vec_push(&s->conflict, q);
        ft_vec_push(&s->conflict, FT_NOT(p));
        return false;
    }
    return true;
}

static bool limit_broken(ft_cdcl *s, const ft_cdcl_limit *limit)
{
    s->conflict.len = 0;
    for (uint32_t i = 0; i < limit->count; i++) {
        ft_code q = s->limit_literals.data[limit->first + i];
        if (s->value[q] > 0) ft_vec_push(&s->conflict, FT_NOT(q));
    }
    assert(s->conflict.len == limit->holding);
    return false;
}

static bool propagate_limits(ft_cdcl *s, ft_code p)
{
    for (uint32_t i = s->limited[p]; i; i = s->limit_links.data[i].next) {
        uint32_t number = s->limit_links.data[i].what;
        const ft_cdcl_limit *limit = &s->limits.data[number];
        if (limit->holding > limit->k) return limit_broken(s, limit);
        if (limit->holding < limit->k) continue;
        for (uint32_t k = 0; k < limit->count; k++) {
            ft_code q = s->limit_literals.data[limit->first + k];
            if (s->value[q] == 0) ft_cdcl_assign(s, FT_NOT(q), FT_BY_LIMIT | number);
        }
    }
    return true;
}

/* Finds another literal to watch in place of the second, which is false. */
static bool move_watch(ft_cdcl *s, uint32_t clause, uint32_t *literals)
{
    uint32_t size = s->arena.data[clause + FT_SIZE];
    for (uint32_t k = 2; k < size; k++) {
        ft_code p = literals[k];
        if (s->value[p] < 0) continue;
        literals[k] = literals[1];
        literals[1] = p;
        ft_cdcl_watch(s, p, (ft_cdcl_watcher){clause, literals[0]});
        return true;
    }
    return false;
}

static bool propagate_watches(ft_cdcl *s, ft_code p)
{
    ft_watch_list *list = &s->watches[p];
    uint32_t kept = 0, i = 0;
    bool fine = true;
    s->work += list->len;
    while (i < list->len && fine) {
        ft_cdcl_watcher w = list->data[i++];
        if (s->value[w.blocker] > 0) {
            list->data[kept++] = w;
            continue;
        }
        uint32_t *literals = s->arena.data + w.clause + FT_HEAD;
        assert(literals[0] == FT_NOT(p) || literals[1] == FT_NOT(p));
        if (literals[0] == FT_NOT(p)) {
            literals[0] = literals[1];
            literals[1] = FT_NOT(p);
        }
        if (s->value[literals[0]] <= 0 && move_watch(s, w.clause, literals)) continue;
        list->data[kept++] = (ft_cdcl_watcher){w.clause, literals[0]};
        if (s->value[literals[0]] == 0) ft_cdcl_assign(s, literals[0], w.clause);
        if (s->value[literals[0]] > 0) continue;
        s->conflict.len = 0;
        for (uint32_t k = 0; k < s->arena.data[w.clause + FT_SIZE]; k++)
            ft_vec_push(&s->conflict, literals[k]);
        fine = false;
    }
    while (i < list->len) list->data[kept++] = list->data[i++];
    assert(kept <= list->len);
    list->len = kept;
    return fine;
}

/* Adds the edge that the order atom's value means; the edge's label is the literal. */
static bool propagate_order(ft_cdcl *s, ft_code p)
{
    ft_cdcl_atom atom = s->atom[FT_VARIABLE(p)];
    if (atom.a == atom.b) return true;
    const uint32_t *labels;
    uint32_t count, from = FT_NEGATIVE(p) ? atom.a : atom.b, to = FT_NEGATIVE(p) ? atom.b : atom.a;
    if (ft_order_graph_add(s->graph, from, to, p, &labels, &count)) return true;
    s->conflict.len = 0;
    ft_vec_push(&s->conflict, FT_NOT(p));
    for (uint32_t i = 0; i < count; i++) ft_vec_push(&s->conflict, FT_NOT(labels[i]));
    return false;
}

bool ft_cdcl_propagate(ft_cdcl *s)
{
    for (;;) {
        while (s->propagated < s->trail.len) {
            ft_code p = s->trail.data[s->propagated++];
            if (!propagate_binaries(s, p) || !propagate_limits(s, p) || !propagate_watches(s, p))
                return false;
            if (!FT_NEGATIVE(p)) replace_supports(s, p);
        }
        if (s->ordered == s->trail.len) return true;
        if (!propagate_order(s, s->trail.data[s->ordered++])) return false;
    }
}
