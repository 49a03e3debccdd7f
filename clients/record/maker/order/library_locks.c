#include "maker/order/library_locks.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/memory.h"

#define NOBODY UINT32_MAX

typedef struct lock {
    bool used;
    bool open;         /* instrumented code operates on it or under it: not a library lock */
    bool several;      /* threads */
    uint32_t releaser; /* the last one's thread, NOBODY */
    uint32_t release;  /* number of that release, over all locks */
} lock;

/* The locks that a thread holds and that may still be library locks. */
typedef FT_VEC(uint64_t) holding;

struct ft_library_locks {
    FT_VEC(lock) locks;     /* by object */
    FT_VEC(holding) held;   /* by thread */
    FT_VEC(uint8_t) handed; /* by release: another thread acquired the lock next */
    size_t followed;        /* releases, in the second pass */
};

ft_library_locks *ft_library_locks_new(void)
{
    return ft_calloc(1, sizeof(ft_library_locks));
}

void ft_library_locks_free(ft_library_locks *locks)
{
    if (!locks) return;
    for (size_t t = 0; t < locks->held.len; t++) ft_vec_release(&locks->held.data[t]);
    ft_vec_release(&locks->held);
    ft_vec_release(&locks->locks);
    ft_vec_release(&locks->handed);
    free(locks);
}

static lock *lock_of(ft_library_locks *locks, uint64_t id)
{
    while (locks->locks.len <= id) ft_vec_push(&locks->locks, (lock){.releaser = NOBODY});
    return &locks->locks.data[id];
}

static holding *held_by(ft_library_locks *locks, uint32_t thread)
{
    while (locks->held.len <= thread) ft_vec_push(&locks->held, (holding){0});
    return &locks->held.data[thread];
}

void ft_library_locks_acquire(ft_library_locks *locks, uint32_t thread, uint64_t id, bool hooked)
{
    lock *l = lock_of(locks, id);
    l->used = true;
    l->open |= hooked;
    if (l->releaser != NOBODY && l->releaser != thread) {
        assert(l->release < locks->handed.len);
        l->several = true;
        locks->handed.data[l->release] = 1;
    }
    if (!l->open) ft_vec_push(held_by(locks, thread), id);
}

void ft_library_locks_release(ft_library_locks *locks, uint32_t thread, uint64_t id, bool hooked,
                              bool shared)
{
    lock *l = lock_of(locks, id);
    holding *held = held_by(locks, thread);
    l->open |= hooked;
    l->releaser = thread;
    l->release = (uint32_t)locks->handed.len;
    ft_vec_push(&locks->handed, shared);
    for (size_t i = held->len; i-- > 0;) {
        if (held->data[i] != id) continue;
        held->data[i] = held->data[--held->len];
        return;
    }
}

bool ft_library_locks_holds(const ft_library_locks *locks, uint32_t thread)
{
    return thread < locks->held.len && locks->held.data[thread].len;
}

void ft_library_locks_access(ft_library_locks *locks, uint32_t thread)
{
    if (!ft_library_locks_holds(locks, thread)) return;
    holding *held = &locks->held.data[thread];
    assert(held->data[0] < locks->locks.len);
    for (size_t i = 0; i < held->len; i++) locks->locks.data[held->data[i]].open = true;
    held->len = 0;
}

bool ft_library_locks_is(const ft_library_locks *locks, uint64_t id)
{
    if (id >= locks->locks.len) return false;
    const lock *l = &locks->locks.data[id];
    return l->used && l->several && !l->open;
}

bool ft_library_locks_hands_on(ft_library_locks *locks, uint64_t id)
{
    size_t release = locks->followed++;
    assert(release < locks->handed.len);
    return locks->handed.data[release] && ft_library_locks_is(locks, id);
}
