#include "program/dominators.h"

#include <stdlib.h>

#include "base/contract.h"

typedef struct walk {
    uint32_t block, next; /* the next of its targets */
} walk;

/* The targets of the block's last instruction. */
static const ft_target *leaves(const ft_function *f, uint32_t block, uint32_t *n)
{
    const ft_block *b = &f->blocks.data[block];
    *n = 0;
    if (!b->n_instructions) return NULL;
    const ft_instruction *last = &f->instructions.data[b->instructions + b->n_instructions - 1];
    *n = last->n_targets;
    return *n ? &f->targets.data[last->targets] : NULL;
}

/* Fills `post` with the reached blocks in postorder; returns how many. */
static uint32_t postorder(const ft_function *f, uint32_t *post)
{
    uint32_t n_blocks = (uint32_t)f->blocks.len, done = 0;
    bool *seen = ft_calloc(n_blocks, sizeof *seen);
    FT_VEC(walk) stack = {0};
    ft_vec_push(&stack, (walk){0, 0});
    seen[0] = true;
    while (stack.len) {
        walk *w = &stack.data[stack.len - 1];
        uint32_t n;
        const ft_target *targets = leaves(f, w->block, &n);
        if (w->next == n) {
            post[done++] = w->block;
            stack.len--;
            continue;
        }
        uint32_t block = targets[w->next++].block;
        if (!seen[block]) {
            seen[block] = true;
            ft_vec_push(&stack, (walk){block, 0});
        }
    }
    ft_vec_release(&stack);
    free(seen);
    return done;
}

static uint32_t meet(const ft_dominators *d, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (d->order[a] > d->order[b]) a = d->parent[a];
        while (d->order[b] > d->order[a]) b = d->parent[b];
    }
    return a;
}

/* Hands the block's dominator on to its targets; true: one of theirs changed. */
static bool pass_on(ft_dominators *d, const ft_function *f, uint32_t block)
{
    uint32_t n;
    bool changed = false;
    const ft_target *targets = leaves(f, block, &n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = targets[i].block, old = d->parent[to];
        if (to == 0) continue;
        d->parent[to] = old == FT_NO_BLOCK ? block : meet(d, old, block);
        changed |= d->parent[to] != old;
    }
    return changed;
}

/* Numbers the tree so that a subtree is a stretch: sizes from below, then places from above. */
static void number(ft_dominators *d, const uint32_t *post, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) d->to[post[i]] = 1;
    for (uint32_t i = 0; i + 1 < n; i++) d->to[d->parent[post[i]]] += d->to[post[i]];
    uint32_t *used = ft_calloc(d->n, sizeof *used);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t block = post[i], parent = d->parent[block];
        d->from[block] = i + 1 == n ? 0 : d->from[parent] + 1 + used[parent];
        if (i + 1 < n) used[parent] += d->to[block];
    }
    for (uint32_t i = 0; i < n; i++) d->to[post[i]] += d->from[post[i]];
    free(used);
}

void ft_dominators_init(ft_dominators *dominators, const ft_function *function)
{
    FT_REQUIRE(dominators && function && function->blocks.len);
    ft_dominators *d = dominators;
    d->n = (uint32_t)function->blocks.len;
    uint32_t **all[] = {&d->parent, &d->order, &d->from, &d->to};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        *all[k] = ft_alloc(d->n * sizeof **all[k]);
        for (uint32_t i = 0; i < d->n; i++) (*all[k])[i] = FT_NO_BLOCK;
    }
    uint32_t *post = ft_alloc(d->n * sizeof *post);
    uint32_t n = postorder(function, post);
    for (uint32_t i = 0; i < n; i++) d->order[post[i]] = n - 1 - i;
    d->parent[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = n; i-- > 0;) changed |= pass_on(d, function, post[i]);
    }
    number(d, post, n);
    free(post);
}

void ft_dominators_release(ft_dominators *dominators)
{
    free(dominators->parent);
    free(dominators->order);
    free(dominators->from);
    free(dominators->to);
}

bool ft_is_reached(const ft_dominators *dominators, uint32_t block)
{
    FT_REQUIRE(block < dominators->n);
    return dominators->order[block] != FT_NO_BLOCK;
}

bool ft_dominates(const ft_dominators *dominators, uint32_t a, uint32_t b)
{
    FT_REQUIRE(ft_is_reached(dominators, a) && ft_is_reached(dominators, b));
    return dominators->from[a] <= dominators->from[b] && dominators->to[b] <= dominators->to[a];
}
