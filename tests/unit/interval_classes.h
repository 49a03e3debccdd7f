/* Classes of complete interleavings by brute force: two interleavings are of one class if every two
 * steps that conflict come in the same order. For programs of assignments and mutexes, and without
 * ranges: the steps' accesses say all. */
#ifndef INTERVAL_CLASSES_H
#define INTERVAL_CLASSES_H

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "reduce/intervals/transactions.h"

enum { CLASS_THREADS = 4, CLASS_WORDS = 4, CLASS_STEPS = 24 };

/* A bit for each pair of steps that conflict: the second one came first. */
typedef struct class_key {
    uint64_t bits[CLASS_WORDS];
} class_key;

typedef FT_VEC(class_key) class_list;

typedef struct classes {
    const ft_stepping *steps;
    const ft_transactions *transactions; /* NULL: any switch */
    class_list found;                    /* one for each complete interleaving, or class */
    uint32_t pair[CLASS_THREADS][CLASS_STEPS][CLASS_THREADS][CLASS_STEPS]; /* + 1 */
    uint32_t n_pairs;
    bool count_all; /* do not merge what is the same */
    ft_map seen;
    bool too_many;
} classes;

typedef struct class_state {
    uint32_t at[CLASS_THREADS];
    uint32_t last;
    class_key key;
} class_state;

static inline uint64_t class_hash(const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t h = 1469598103934665603u;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211u, h ^= h >> 29;
    return h | 1;
}

static inline bool class_may_switch(const classes *c, const class_state *s, uint32_t to)
{
    if (!c->transactions || s->last == to || s->last == CLASS_THREADS) return true;
    for (size_t k = 0; k < c->transactions->switches.len; k++) {
        const ft_switch *w = &c->transactions->switches.data[k];
        if (w->from == s->last && w->from_state == s->at[s->last] && w->to == to &&
            w->to_state == s->at[to])
            return true;
    }
    return false;
}

/* Does another thread hold a lock that is held behind thread i's next step? */
static inline bool class_may_step(const classes *c, const class_state *s, uint32_t i)
{
    const ft_stepping *steps = c->steps;
    if (s->at[i] >= steps->threads[i].n) return false;
    for (uint32_t j = 0; j < steps->n_threads; j++)
        if (j != i && (!ft_stepping_compatible(steps, i, s->at[i] + 1, j, s->at[j]) ||
                       steps->threads[i].needs[s->at[i] * steps->n_threads + j] > s->at[j]))
            return false;
    return true;
}

static inline void class_walk(classes *c, const class_state *s)
{
    const ft_stepping *steps = c->steps;
    bool complete = true, fresh;
    if (!c->count_all) {
        ft_map_slot(&c->seen, class_hash(s, sizeof *s), 1, &fresh);
        if (!fresh) return;
    }
    for (uint32_t i = 0; i < steps->n_threads; i++) complete &= s->at[i] == steps->threads[i].n;
    if (complete) ft_vec_push(&c->found, s->key);
    c->too_many |= c->found.len > 200000;
    for (uint32_t i = 0; i < steps->n_threads && !c->too_many; i++) {
        if (!class_may_step(c, s, i) || !class_may_switch(c, s, i)) continue;
        class_state next = *s;
        for (uint32_t j = 0; j < steps->n_threads; j++)
            for (uint32_t q = 0; j > i && q < s->at[j]; q++) {
                uint32_t pair = c->pair[i][s->at[i]][j][q];
                if (pair) next.key.bits[(pair - 1) / 64] |= (uint64_t)1 << (pair - 1) % 64;
            }
        next.at[i]++;
        next.last = c->transactions ? i : CLASS_THREADS;
        class_walk(c, &next);
    }
}

static inline int class_order(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(class_key));
}

/* False: too many pairs, steps or interleavings. count_all: each interleaving of the switches. */
static inline bool classes_find(classes *c, const ft_stepping *steps,
                                const ft_transactions *transactions, bool count_all)
{
    memset(c, 0, sizeof *c);
    c->steps = steps;
    c->transactions = transactions;
    c->count_all = count_all;
    if (steps->n_threads > CLASS_THREADS) return false;
    for (uint32_t i = 0; i < steps->n_threads; i++)
        if (steps->threads[i].n > CLASS_STEPS) return false;
    for (uint32_t i = 0; i < steps->n_threads; i++)
        for (uint32_t j = i + 1; j < steps->n_threads; j++)
            for (uint32_t p = 0; p < steps->threads[i].n; p++)
                for (uint32_t q = 0; q < steps->threads[j].n; q++)
                    if (ft_stepping_conflict(steps, i, p, j, q)) c->pair[i][p][j][q] = ++c->n_pairs;
    if (c->n_pairs > CLASS_WORDS * 64) return false;
    class_state start = {.last = CLASS_THREADS};
    class_walk(c, &start);
    if (c->found.len) qsort(c->found.data, c->found.len, sizeof *c->found.data, class_order);
    ft_map_release(&c->seen);
    return !c->too_many;
}

static inline void classes_release(classes *c)
{
    ft_vec_release(&c->found);
}

/* How many distinct ones there are; *most: the most of one. */
static inline uint32_t classes_count(const classes *c, uint32_t *most)
{
    uint32_t n = 0, run = 0;
    *most = 0;
    for (size_t k = 0; k < c->found.len; k++) {
        bool same = k && class_order(&c->found.data[k - 1], &c->found.data[k]) == 0;
        run = same ? run + 1 : 1;
        n += !same;
        if (run > *most) *most = run;
    }
    return n;
}

#endif
