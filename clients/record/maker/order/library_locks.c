#include "maker/order/library_locks.h"

#include <stdlib.h>

#include "base/memory.h"

#define NOBODY UINT32_MAX

typedef struct lock {
    bool used;
    bool open;         /* the program has a part in it */
    bool several;      /* threads */
    uint32_t releaser; /* the last one's thread, NOBODY */
    uint32_t release;  /* its number */
} lock;

/* What a thread holds of locks that may be hidden. */
typedef FT_VEC(uint64_t) holding;

struct ft_hidden {
    FT_VEC(lock) locks;     /* by object */
    FT_VEC(holding) held;   /* by thread */
    FT_VEC(uint8_t) handed; /* by release: another thread acquired the lock next */
    size_t followed;        /* releases, in the second pass */
};

ft_hidden *ft_hidden_new(void)
{
    return ft_calloc(1, sizeof(ft_hidden));
}

void ft_hidden_free(ft_hidden *hidden)
{
    if (!hidden) return;
    for (size_t t = 0; t < hidden->held.len; t++) ft_vec_release(&hidden->held.data[t]);
    ft_vec_release(&hidden->held);
    ft_vec_release(&hidden->locks);
    ft_vec_release(&hidden->handed);
    free(hidden);
}

static lock *lock_of(ft_hidden *hidden, uint64_t id)
{
    while (hidden->locks.len <= id) ft_vec_push(&hidden->locks, (lock){.releaser = NOBODY});
    return &hidden->locks.data[id];
}

static holding *held_by(ft_hidden *hidden, uint32_t thread)
{
    while (hidden->held.len <= thread) ft_vec_push(&hidden->held, (holding){0});
    return &hidden->held.data[thread];
}

void ft_hidden_acquire(ft_hidden *hidden, uint32_t thread, uint64_t id, bool hooked)
{
    lock *l = lock_of(hidden, id);
    l->used = true;
    l->open |= hooked;
    if (l->releaser != NOBODY && l->releaser != thread) {
        l->several = true;
        hidden->handed.data[l->release] = 1;
    }
    if (!l->open) ft_vec_push(held_by(hidden, thread), id);
}

void ft_hidden_release(ft_hidden *hidden, uint32_t thread, uint64_t id, bool hooked, bool shared)
{
    lock *l = lock_of(hidden, id);
    holding *held = held_by(hidden, thread);
    l->open |= hooked;
    l->releaser = thread;
    l->release = (uint32_t)hidden->handed.len;
    ft_vec_push(&hidden->handed, shared);
    for (size_t i = held->len; i-- > 0;) {
        if (held->data[i] != id) continue;
        held->data[i] = held->data[--held->len];
        return;
    }
}

bool ft_hidden_holds(const ft_hidden *hidden, uint32_t thread)
{
    return thread < hidden->held.len && hidden->held.data[thread].len;
}

void ft_hidden_access(ft_hidden *hidden, uint32_t thread)
{
    if (!ft_hidden_holds(hidden, thread)) return;
    holding *held = &hidden->held.data[thread];
    for (size_t i = 0; i < held->len; i++) hidden->locks.data[held->data[i]].open = true;
    held->len = 0;
}

bool ft_hidden_is(const ft_hidden *hidden, uint64_t id)
{
    if (id >= hidden->locks.len) return false;
    const lock *l = &hidden->locks.data[id];
    return l->used && l->several && !l->open;
}

bool ft_hidden_hands_on(ft_hidden *hidden, uint64_t id)
{
    size_t release = hidden->followed++;
    return release < hidden->handed.len && hidden->handed.data[release] && ft_hidden_is(hidden, id);
}
