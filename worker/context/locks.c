#include <string.h>

#include "context/internal.h"

/* Locks on paths. A lock that no step has used may be held by a STRANGER: a thread that is not in
 * the context, or one of it of which that is not known. */
enum { NOT_OWNER = 1, BUSY = 16, DEADLOCKS = 35, TIMED_OUT = 110 };

/* How often: UNKNOWN is once or more. */
enum { UNKNOWN = UINT8_MAX };

/* The condition under which a lock that no step has used yet may be held; others than threads of
 * the context: always. */
static ft_term may_be_held(exploration *x, ft_term at, const uint64_t *objects)
{
    ctx *c = x->c;
    ft_term any = ctx_literal(c, 1, 0), always = ctx_literal(c, 1, 1);
    if (c->options.others || !ctx_uses(c, FT_CONTEXT_MAY_HELD) || ctx_is_left_locked(c, objects))
        return always;
    for (uint32_t u = 0; u < x->from->n; u++) {
        const env *e = &x->from->threads[u].env;
        if (e->may_any || ft_bits_meet(e->may_objects, objects, ft_flow_words(c->flow)))
            return always;
        for (size_t i = 0; i < e->may.len; i++)
            if (!ctx_are_apart(c, at, objects, 1, e->may.data[i].at, e->may.data[i].objects, 1))
                any = ctx_two(c, FT_OP_OR, any, ctx_equal(c, at, e->may.data[i].at));
    }
    return any;
}

static bool finish(exploration *x, xstate *s, uint32_t t, const ft_instruction *in, uint64_t result)
{
    x_result(s, t, in, ctx_literal(x->c, 32, result));
    return true;
}

void x_wake(xstate *s)
{
    for (uint32_t t = 0; t < s->n; t++)
        if (s->threads[t].status == BLOCKED) s->threads[t].status = RUNS;
}

bool x_block(xstate *s, uint32_t t)
{
    s->threads[t].status = BLOCKED;
    return false;
}

/* Another time, or one time less: both may be where it is not known how often. */
static uint8_t once_more(uint8_t n)
{
    return n >= UNKNOWN - 1 ? UNKNOWN : n + 1;
}

static bool once_less(exploration *x, xstate *s, uint8_t *n)
{
    uint32_t arm = 0;
    ft_term arms[2] = {ctx_literal(x->c, 1, 1), ctx_literal(x->c, 1, 1)};
    if (*n == UNKNOWN && !x_decide(x, s, arms, 2, &arm)) return false;
    if (ctx_fault_is(CTX_FAULT_GIVEN_BACK)) *n = 1;
    *n = *n == UNKNOWN ? (arm ? UNKNOWN : 0) : *n - 1;
    return true;
}

/* *found: a copy of the address's newest cell, which the caller changes and pushes once everything
 * is decided. *used: there is one; else the copy is free. */
static bool find_cell(exploration *x, xstate *s, const cell *list, ft_term at,
                      const uint64_t *objects, cell *found, bool *used)
{
    const cell *w;
    if (!x_find(x, s, list, at, objects, &w)) return false;
    *found = w ? *w : (cell){.holder = FREE};
    found->at = at;
    found->objects = objects;
    *used = w != NULL;
    return true;
}

/* ---- mutexes ---- */

static bool find_mutex(exploration *x, xstate *s, ft_term at, const uint64_t *objects, cell *lock)
{
    bool used;
    uint32_t arm;
    if (!find_cell(x, s, s->locks, at, objects, lock, &used)) return false;
    if (used) return true;
    ft_term arms[2] = {ctx_literal(x->c, 1, 1), may_be_held(x, at, objects)};
    if (ctx_fault_is(CTX_FAULT_FOUND_FREE)) arms[1] = ctx_literal(x->c, 1, 0);
    if (!x_decide(x, s, arms, 2, &arm)) return false;
    lock->count = arm ? UNKNOWN : 0;
    lock->holder = arm ? STRANGER : FREE;
    return true;
}

static void take_mutex(exploration *x, xstate *s, uint32_t t, cell *lock)
{
    lock->count = lock->holder == FREE ? 1 : once_more(lock->count);
    lock->holder = t + 1;
    x_push(x, &s->locks, *lock);
}

bool x_take(exploration *x, xstate *s, uint32_t t, ft_term at, const uint64_t *objects)
{
    cell lock;
    if (!find_mutex(x, s, at, objects, &lock)) return false;
    if (lock.holder == FREE) return take_mutex(x, s, t, &lock), true;
    x_push(x, &s->locks, lock);
    return x_block(s, t);
}

void x_give_back(exploration *x, xstate *s, ft_term at, const uint64_t *objects)
{
    x_push(x, &s->locks, (cell){.at = at, .objects = objects, .holder = FREE});
    x_wake(s);
}

static bool may_be_own(const cell *lock, uint32_t t)
{
    return lock->holder == t + 1 || lock->holder == STRANGER;
}

/* A mutex that is held, perhaps by the thread itself: it waits or is refused, counts, or gets an
 * error, by the kind of the mutex. */
static bool lock_held(exploration *x, xstate *s, uint32_t t, const ft_instruction *in, cell *lock)
{
    enum { REFUSED, COUNTS, ERROR };
    uint32_t arm = REFUSED;
    bool own = may_be_own(lock, t);
    ft_term arms[3] = {
        ctx_literal(x->c, 1, 1), ctx_literal(x->c, 1, own && x->c->recursive_mutexes),
        ctx_literal(x->c, 1, own && x->c->checking_mutexes && in->code != FT_CODE_TRY_LOCK)};
    if (!x_decide(x, s, arms, 3, &arm)) return false;
    if (arm == COUNTS) return take_mutex(x, s, t, lock), finish(x, s, t, in, 0);
    if (arm == ERROR) lock->holder = t + 1;
    x_push(x, &s->locks, *lock);
    if (arm == ERROR) return finish(x, s, t, in, DEADLOCKS);
    if (in->code == FT_CODE_LOCK) return x_block(s, t);
    return finish(x, s, t, in, in->code == FT_CODE_TIMED_LOCK ? TIMED_OUT : BUSY);
}

/* Where mutexes are of several kinds an unlock may leave the mutex held, or be refused. */
static bool unlock_kind(exploration *x, xstate *s, uint32_t t, const ft_instruction *in, cell *lock)
{
    uint32_t arm = !may_be_own(lock, t);
    ft_term arms[2] = {ctx_literal(x->c, 1, 1), ctx_literal(x->c, 1, 1)};
    if (lock->holder == STRANGER && !x_decide(x, s, arms, 2, &arm)) return false;
    if (!arm && !once_less(x, s, &lock->count)) return false;
    if (!arm) lock->holder = lock->count ? t + 1 : FREE;
    x_push(x, &s->locks, *lock);
    if (!arm && !lock->count) x_wake(s);
    return finish(x, s, t, in, arm ? NOT_OWNER : 0);
}

bool x_mutex(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    cell lock;
    ft_term at = x_operand(x, s, t, in, 0);
    const uint64_t *objects = x_objects(x, s, t, in, 0);
    bool kinds = x->c->recursive_mutexes || x->c->checking_mutexes;
    if (in->code == FT_CODE_UNLOCK && !kinds) {
        x_give_back(x, s, at, objects);
        return finish(x, s, t, in, 0);
    }
    if (!find_mutex(x, s, at, objects, &lock)) return false;
    if (in->code == FT_CODE_UNLOCK) return unlock_kind(x, s, t, in, &lock);
    if (lock.holder != FREE) return lock_held(x, s, t, in, &lock);
    take_mutex(x, s, t, &lock);
    return finish(x, s, t, in, 0);
}

/* ---- read-write locks ---- */

static uint8_t reads_of(const cell *lock, uint32_t t)
{
    return lock->reads ? lock->reads[t] : 0;
}

static void set_reads(exploration *x, cell *lock, uint32_t t, uint8_t n)
{
    uint8_t *all = ft_arena_alloc(x->arena, MOST_RUNNING + 1);
    if (lock->reads)
        memcpy(all, lock->reads, MOST_RUNNING + 1);
    else
        memset(all, 0, MOST_RUNNING + 1);
    all[t] = n;
    lock->reads = all;
}

void x_hold_to_read(exploration *x, cell *lock, uint32_t t)
{
    set_reads(x, lock, t, UNKNOWN);
    set_reads(x, lock, MOST_RUNNING, UNKNOWN); /* and so may others */
}

static bool find_rw(exploration *x, xstate *s, ft_term at, const uint64_t *objects, cell *lock)
{
    bool used;
    uint32_t arm;
    uint64_t bits;
    if (!find_cell(x, s, s->rw_locks, at, objects, lock, &used)) return false;
    if (used) return true;
    ft_term arms[2] = {ctx_literal(x->c, 1, 1), may_be_held(x, at, objects)};
    if (!x_decide(x, s, arms, 2, &arm)) return false;
    if (arm) lock->holder = STRANGER;
    if (!arm && !(ctx_is_literal(x->c, arms[1], &bits) && !bits))
        set_reads(x, lock, MOST_RUNNING, UNKNOWN);
    return true;
}

/* Does a thread hold it to read? Both where it is not known. */
static bool are_readers(exploration *x, xstate *s, cell *lock, uint32_t *some)
{
    ft_term arms[2] = {ctx_literal(x->c, 1, 1), ctx_literal(x->c, 1, 1)};
    *some = 0;
    for (uint32_t t = 0; t < MOST_RUNNING; t++) *some |= reads_of(lock, t) > 0;
    if (*some || !reads_of(lock, MOST_RUNNING)) return true;
    if (!x_decide(x, s, arms, 2, some)) return false;
    if (!*some) set_reads(x, lock, MOST_RUNNING, 0);
    return true;
}

static bool rw_unlock(exploration *x, xstate *s, uint32_t t, const ft_instruction *in, cell *lock)
{
    uint8_t n = reads_of(lock, t);
    if (lock->holder == FREE && n) {
        if (!once_less(x, s, &n)) return false;
        set_reads(x, lock, t, n);
    }
    lock->holder = FREE; /* nobody else may give it back */
    x_push(x, &s->rw_locks, *lock);
    x_wake(s);
    return finish(x, s, t, in, 0);
}

/* It is held by another thread, or by the thread itself to write. */
static bool rw_held(exploration *x, xstate *s, uint32_t t, const ft_instruction *in, cell *lock)
{
    bool tries = in->code == FT_CODE_TRY_READ_LOCK || in->code == FT_CODE_TRY_WRITE_LOCK;
    uint32_t arm = 0;
    ft_term arms[2] = {ctx_literal(x->c, 1, lock->holder != t + 1),
                       ctx_literal(x->c, 1, may_be_own(lock, t))};
    if (!tries && !x_decide(x, s, arms, 2, &arm)) return false;
    x_push(x, &s->rw_locks, *lock);
    if (tries) return finish(x, s, t, in, BUSY);
    return arm ? finish(x, s, t, in, DEADLOCKS) : x_block(s, t);
}

bool x_rw_lock(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    cell lock;
    uint32_t some = 0;
    bool writes = in->code == FT_CODE_WRITE_LOCK || in->code == FT_CODE_TRY_WRITE_LOCK;
    ft_term at = x_operand(x, s, t, in, 0);
    if (!find_rw(x, s, at, x_objects(x, s, t, in, 0), &lock)) return false;
    if (in->code == FT_CODE_RW_UNLOCK) return rw_unlock(x, s, t, in, &lock);
    bool excludes = writes || ctx_fault_is(CTX_FAULT_ONE_READER);
    if (excludes && lock.holder == FREE && !are_readers(x, s, &lock, &some)) return false;
    if (lock.holder != FREE || some) return rw_held(x, s, t, in, &lock);
    if (writes)
        lock.holder = t + 1;
    else
        set_reads(x, &lock, t, once_more(reads_of(&lock, t)));
    x_push(x, &s->rw_locks, lock);
    return finish(x, s, t, in, 0);
}

/* ---- once ---- */

/* Of a flag that no step has used both is possible: that it is done, and that it is not. */
static bool find_once(exploration *x, xstate *s, ft_term at, const uint64_t *objects, cell *flag)
{
    bool used;
    uint32_t arm;
    ft_term arms[2] = {ctx_literal(x->c, 1, 1), ctx_literal(x->c, 1, 1)};
    if (!find_cell(x, s, s->onces, at, objects, flag, &used)) return false;
    if (used) return true;
    if (ctx_fault_is(CTX_FAULT_ONCE_DONE)) arms[0] = ctx_literal(x->c, 1, 0);
    if (!x_decide(x, s, arms, 2, &arm)) return false;
    flag->holder = arm ? DONE : FREE;
    return true;
}

bool x_once(exploration *x, xstate *s, uint32_t t, const ft_instruction *in)
{
    cell flag;
    uint32_t function;
    if (!find_once(x, s, x_operand(x, s, t, in, 0), x_objects(x, s, t, in, 0), &flag)) return false;
    if (flag.holder == FREE && !x_target(x, s, t, in, 1, &function)) return false;
    bool calls = flag.holder == FREE;
    if (calls) flag.holder = t + 1;
    x_push(x, &s->onces, flag);
    if (flag.holder == DONE) return true;
    if (!calls) return x_block(s, t);
    x_enter(x, s, t, function, NULL, 0);
    return false;
}

void x_once_done(exploration *x, xstate *s, ft_term at, const uint64_t *objects)
{
    x_push(x, &s->onces, (cell){.at = at, .objects = objects, .holder = DONE});
    x_wake(s);
}
