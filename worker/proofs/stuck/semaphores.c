/* The semaphores that a thread can wait for forever, by the units that all threads posted and took.
 *
 * For each thread there are the places where it may rest, each with the units that it has added to
 * every semaphore up to there and the one that it waits for. Thread by thread all sums are listed
 * that some choice of places comes to; what is waited for has to be at 0 in the end, and nothing is
 * below. Semaphores that no thread has both of, nor by way of others, are summed up apart. */
#include "proofs/stuck/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/partition.h"

enum { SEMAPHORES = 4, MOST_SUMS = 1000000, MOST_WORK = 30000000, MOST_SEMAPHORES = 64 };

typedef struct sum {
    int32_t units[SEMAPHORES];
    uint32_t waits; /* a bit for each semaphore that somebody waits for */
} sum;

/* A set: each sum in `all` once. */
typedef struct sums {
    FT_VEC(sum) all;
    ft_map places; /* hash -> index in all, of the first with that hash; others behind it */
} sums;

/* Semaphores that are summed up together. */
typedef struct family {
    uint32_t n;
    uint32_t all[SEMAPHORES];
} family;

/* Its number there; SEMAPHORES: it is none of them. */
static uint32_t number_in(const family *f, uint32_t semaphore)
{
    uint32_t i = 0;
    while (i < f->n && f->all[i] != semaphore) i++;
    return i < f->n ? i : SEMAPHORES;
}

static bool is_same(const sum *a, const sum *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* False: there are too many. */
static bool add(sums *set, const sum *s)
{
    for (uint64_t key = ft_hash_bytes(s, sizeof *s, 5);; key++) {
        bool inserted;
        uint64_t *slot = ft_map_slot(&set->places, key, set->all.len, &inserted);
        if (inserted) ft_vec_push(&set->all, *s);
        if (inserted || is_same(&set->all.data[*slot], s)) return set->all.len <= MOST_SUMS;
    }
}

static void release(sums *set)
{
    ft_vec_release(&set->all);
    ft_map_release(&set->places);
}

/* Where the thread may rest; false: there are too many places. */
static bool find_places(const ft_stuck *s, const family *f, uint32_t thread, sums *places)
{
    const ft_order *order = s->order;
    sum now = {0};
    bool few = !ft_stuck_may_be_unstarted(s, thread) || add(places, &now);
    for (uint32_t i = order->thread_start[thread]; few && i < order->thread_start[thread + 1];
         i++) {
        uint32_t e = order->thread_events[i];
        uint8_t kind = s->trace->kind[e];
        bool waits = kind == FT_EVENT_WAIT, posts = kind == FT_EVENT_POST;
        uint32_t number = waits || posts ? number_in(f, s->trace->object[e]) : SEMAPHORES;
        sum here = now;
        assert(number < f->n || number == SEMAPHORES);
        if (waits && number < SEMAPHORES) here.waits = 1u << number;
        if (ft_stuck_possible(s, e)) few = add(places, &here);
        if (number < SEMAPHORES) now.units[number] += posts ? 1 : -1;
    }
    return few && add(places, &now);
}

static sum plus(const sum *a, const sum *b)
{
    sum both = {.waits = a->waits | b->waits};
    for (int i = 0; i < SEMAPHORES; i++) both.units[i] = a->units[i] + b->units[i];
    return both;
}

/* Every sum of one of each; false: there are too many to look at. */
static bool add_up(sums *all, const sums *places, uint64_t *work)
{
    sums next = {0};
    bool few = true;
    for (size_t i = 0; few && i < all->all.len; i++)
        for (size_t k = 0; few && k < places->all.len; k++) {
            sum both = plus(&all->all.data[i], &places->all.data[k]);
            few = ++*work <= MOST_WORK && add(&next, &both);
        }
    release(all);
    *all = next;
    return few;
}

/* The sums of all threads, from what the semaphores begin with. */
static bool sum_up(const ft_stuck *s, const family *f, sums *all)
{
    uint64_t work = 0;
    bool few = true;
    sum initial = {0};
    for (uint32_t i = 0; i < f->n; i++)
        initial.units[i] = (int32_t)s->trace->semaphore_initial[f->all[i]];
    add(all, &initial);
    for (uint32_t t = 0; few && t < s->order->n_threads; t++) {
        sums places = {0};
        few = find_places(s, f, t, &places) && add_up(all, &places, &work);
        release(&places);
    }
    return few;
}

static bool is_possible(const sum *s, uint32_t n)
{
    FT_REQUIRE(n <= SEMAPHORES);
    for (uint32_t i = 0; i < n; i++)
        if (s->units[i] < 0 || (s->waits >> i & 1 && s->units[i] > 0)) return false;
    return true;
}

static bool are_small(const ft_trace *trace, const family *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (trace->semaphore_initial[f->all[i]] > INT32_MAX / 2) return false;
    return true;
}

/* ---- families */

/* A partition. */
static uint32_t *tie(const ft_stuck *s)
{
    uint32_t *tied = ft_partition_new(s->trace->semaphores.len);
    for (uint32_t t = 0; t < s->order->n_threads; t++) {
        uint32_t first = FT_NO_ID;
        for (uint32_t i = s->order->thread_start[t]; i < s->order->thread_start[t + 1]; i++) {
            uint32_t e = s->order->thread_events[i];
            bool its = s->trace->kind[e] == FT_EVENT_WAIT || s->trace->kind[e] == FT_EVENT_POST;
            if (!its) continue;
            if (first == FT_NO_ID) first = s->trace->object[e];
            ft_partition_join(tied, s->trace->object[e], first);
        }
    }
    return tied;
}

/* Those of that root; false: they are too many. */
static bool gather(const ft_stuck *s, uint32_t *tied, uint32_t root, family *f)
{
    *f = (family){.n = 0};
    for (uint32_t i = 0; i < s->trace->semaphores.len; i++) {
        if (ft_partition_root(tied, i) != root) continue;
        if (f->n == SEMAPHORES) return false;
        f->all[f->n++] = i;
    }
    return true;
}

static void sum_up_family(ft_stuck *s, const family *f)
{
    assert(f->n > 0);
    sums all = {0};
    uint32_t waits = 0;
    if (are_small(s->trace, f) && sum_up(s, f, &all)) {
        for (size_t i = 0; i < all.all.len; i++)
            if (is_possible(&all.all.data[i], f->n)) waits |= all.all.data[i].waits;
        for (uint32_t i = 0; i < f->n; i++) s->waited[f->all[i]] = waits >> i & 1;
    }
    release(&all);
}

void ft_stuck_sum_up(ft_stuck *s)
{
    uint32_t n = s->trace->semaphores.len;
    family f;
    s->waited = ft_alloc((size_t)n + 1);
    memset(s->waited, true, (size_t)n + 1);
    uint32_t *tied = n <= MOST_SEMAPHORES ? tie(s) : NULL;
    for (uint32_t i = 0; tied && i < n; i++)
        if (ft_partition_root(tied, i) == i && gather(s, tied, i, &f)) sum_up_family(s, &f);
    free(tied);
}
