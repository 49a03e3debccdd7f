#include "explore/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"

typedef struct watch {
    ft_x_attempt *attempts;
    size_t n;
} watch;

struct ft_x_watches {
    pthread_mutex_t *mutex;
    FT_VEC(watch) watches;
    ft_map by_number; /* -> index in watches */
};

ft_x_watches *ft_x_watches_new(void)
{
    ft_x_watches *w = ft_calloc(1, sizeof *w);
    w->mutex = ft_alloc(sizeof *w->mutex);
    pthread_mutex_init(w->mutex, NULL);
    return w;
}

void ft_x_watches_free(ft_x_watches *w)
{
    if (!w) return;
    for (size_t i = 0; i < w->watches.len; i++) free(w->watches.data[i].attempts);
    pthread_mutex_destroy(w->mutex);
    free(w->mutex);
    ft_vec_release(&w->watches);
    ft_map_release(&w->by_number);
    free(w);
}

static bool is_equal(const ft_x_attempt *a, const ft_x_attempt *b)
{
    const ft_x_operation *x = &a->operation, *y = &b->operation;
    return x->kind == y->kind && x->object == y->object && x->other == y->other &&
           x->value == y->value && x->value2 == y->value2 && a->result == b->result;
}

static bool is_same(const ft_x_watches *w, size_t number, const ft_x_attempt *attempts, size_t n)
{
    const watch *x = &w->watches.data[number];
    if (x->n != n) return false;
    for (size_t i = 0; i < n; i++)
        if (!is_equal(&x->attempts[i], &attempts[i])) return false;
    return true;
}

static uint64_t hash(const ft_x_attempt *a, uint64_t seed)
{
    const ft_x_operation *o = &a->operation;
    const uint64_t words[] = {o->kind, (uint64_t)o->object << 32 | o->other, (uint64_t)o->value,
                              (uint64_t)o->value2, (uint64_t)a->result};
    return ft_hash_bytes(words, sizeof words, seed);
}

/* A hash, so that it is the same in every process. */
static uint64_t number_of(ft_x_watches *w, const ft_x_attempt *attempts, size_t n)
{
    uint64_t number = n;
    for (size_t i = 0; i < n; i++) number = hash(&attempts[i], number);
    for (;; number++) {
        bool inserted;
        number &= INT64_MAX;
        uint64_t *slot = ft_map_slot(&w->by_number, number, w->watches.len, &inserted);
        if (!inserted && is_same(w, (size_t)*slot, attempts, n)) return number;
        if (!inserted) continue;
        watch made = {.attempts = ft_calloc(n + 1, sizeof *attempts), .n = n};
        for (size_t i = 0; i < n; i++) made.attempts[i] = attempts[i];
        ft_vec_push(&w->watches, made);
        return number;
    }
}

ft_x_operation ft_x_watch(ft_x_watches *w, ft_x_kind kind, const ft_x_attempt *attempts, size_t n)
{
    FT_REQUIRE(kind == FT_X_AWAIT || kind == FT_X_READY || kind == FT_X_LINGER);
    uint64_t objects = 0;
    for (size_t i = 0; i < n; i++) objects |= UINT64_C(1) << attempts[i].operation.object % 64;
    pthread_mutex_lock(w->mutex);
    uint64_t number = number_of(w, attempts, n);
    pthread_mutex_unlock(w->mutex);
    return (ft_x_operation){
        .kind = (uint16_t)kind, .value = (int64_t)number, .value2 = (int64_t)objects};
}

const ft_x_attempt *ft_x_watched(const ft_x_watches *w, const ft_x_operation *poll, size_t *n)
{
    uint64_t at = 0;
    FT_REQUIRE(w);
    pthread_mutex_lock(w->mutex);
    bool known = ft_map_get(&w->by_number, (uint64_t)poll->value, &at);
    FT_REQUIRE(known);
    watch x = w->watches.data[at];
    pthread_mutex_unlock(w->mutex);
    *n = x.n;
    return x.attempts;
}
