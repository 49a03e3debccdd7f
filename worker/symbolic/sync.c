#include <inttypes.h>
#include <string.h>

#include "symbolic/internal.h"

/* Linux's error numbers. */
enum { NOT_OWNER = 1, AGAIN = 11, BUSY = 16, DEADLOCKS = 35, TIMED_OUT = 110 };

typedef struct step {
    ft_sym_state *m;
    uint32_t t;
    const ft_instruction *in;
    uint64_t variant;
    sync_object *s; /* of the first operand, where the row has a kind */
    bool stays;
} step;

static uint64_t bit(uint32_t t)
{
    return UINT64_C(1) << t;
}

static sym_thread *thread_of(const step *s)
{
    return sym_thread_of(s->m, s->t);
}

static bool result(step *s, int64_t bits)
{
    sym_result(s->m, s->t, s->in, sym_number((uint64_t)bits));
    return true;
}

static bool misuse(step *s, const char *what)
{
    return sym_fail(s->m, s->t, FT_ERROR_MISUSE, "%s", what);
}

sync_object *sym_sync_at(const ft_sym_state *m, uint64_t address)
{
    for (size_t i = 0; i < m->syncs.len; i++)
        if (m->syncs.data[i].address == address) return &m->syncs.data[i];
    return NULL;
}

/* ---- operands ---- */

/* Bits of the operands that have to be numbers. */
static uint8_t needs(ft_code code)
{
    switch (code) {
    case FT_CODE_ATOMIC_STORE:
        return 2;
    case FT_CODE_FENCE:
    case FT_CODE_YIELD:
    case FT_CODE_EXIT:
    case FT_CODE_ATOMIC_BEGIN:
    case FT_CODE_ATOMIC_END:
        return 0;
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
    case FT_CODE_SEM_INIT:
    case FT_CODE_BARRIER_INIT:
    case FT_CODE_ONCE:
        return 3;
    default:
        return 1;
    }
}

bool sym_sync_ready(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    uint64_t bits;
    const ft_operand *all = &m->threads.data[t]
                                 .frames.data[m->threads.data[t].frames.len - 1]
                                 .function->operands.data[in->operands];
    for (uint32_t i = 0; i < in->n_operands && i < 2; i++)
        if (needs((ft_code)in->code) >> i & 1 &&
            !sym_decide_value(m, t, sym_operand(m, t, in, i), all[i].width, &bits))
            return false;
    return in->code != FT_CODE_EXIT ||
           sym_decide_exit(m, t, sym_operand(m, t, in, 0), all[0].width);
}

/* The k-th of those that were terms was the k-th that was decided. */
uint64_t sym_sync_operand(const ft_sym_state *m, uint32_t t, const ft_instruction *in, uint32_t i)
{
    uint32_t k = 0;
    value v = sym_operand(m, t, in, i);
    if (!v.term) return v.bits;
    for (uint32_t before = 0; before < i; before++)
        k += needs((ft_code)in->code) >> before & 1 && sym_operand(m, t, in, before).term;
    const decisions *d = &sym_thread_of(m, t)->decided;
    return k < d->n ? d->of[k] : 0;
}

static uint64_t number(const step *s, uint32_t i)
{
    return sym_sync_operand(s->m, s->t, s->in, i);
}

void sym_sync_settle(ft_sym_state *m, uint32_t t)
{
    const sym_thread *th = sym_thread_of(m, t);
    const ft_instruction *in = sym_instruction(m, t);
    const frame *f = &th->frames.data[th->frames.len - 1];
    uint64_t bits[2] = {0, 0};
    for (uint32_t i = 0; i < in->n_operands && i < 2; i++) bits[i] = sym_sync_operand(m, t, in, i);
    for (uint32_t i = 0; i < in->n_operands && i < 2; i++) {
        const ft_operand *o = &f->function->operands.data[in->operands + i];
        if (o->kind != FT_OPERAND_REGISTER || !(needs((ft_code)in->code) >> i & 1)) continue;
        value *v = &th->values.data[f->registers + o->index];
        if (v->term) v->bits = bits[i];
        v->term = FT_NO_TERM;
    }
}

static value address(const step *s, uint32_t i)
{
    return (value){.bits = number(s, i), .object = sym_operand(s->m, s->t, s->in, i).object};
}

/* ---- mutexes ---- */

static bool take(step *s)
{
    assert(!s->s->owner);
    s->s->owner = s->t + 1;
    s->s->count = 1;
    return result(s, 0);
}

static bool retake(step *s)
{
    bool again = s->s->mutex_kind == FT_MUTEX_RECURSIVE ||
                 (s->s->mutex_kind == FT_MUTEX_CHECKING && sym_fault_is(SYM_FAULT_CHECKING));
    if (again) return s->s->count++, result(s, 0);
    return result(s, s->in->code == FT_CODE_TRY_LOCK ? BUSY : DEADLOCKS);
}

static bool lock(step *s)
{
    if (s->variant && !sym_fault_is(SYM_FAULT_TIMED_WAITS)) return result(s, TIMED_OUT);
    return s->s->owner == s->t + 1 ? retake(s) : take(s);
}

static bool try_lock(step *s)
{
    if (s->s->owner == s->t + 1) return retake(s);
    return s->s->owner && !sym_fault_is(SYM_FAULT_TRY_TAKES) ? result(s, BUSY) : take(s);
}

static bool unlock(step *s)
{
    bool strange = s->s->owner != s->t + 1 && !sym_fault_is(SYM_FAULT_STRANGER);
    if (sym_fault_is(SYM_FAULT_RETAKE_FREES)) s->s->count = 1;
    if (strange && s->s->mutex_kind != FT_MUTEX_NORMAL) return result(s, NOT_OWNER);
    if (strange) return misuse(s, "the thread unlocks a mutex that it does not hold");
    assert(s->s->count);
    if (--s->s->count == 0) s->s->owner = 0;
    return result(s, 0);
}

/* ---- read-write locks ---- */

static bool take_to_read(step *s)
{
    if (s->s->owner == s->t + 1) return result(s, DEADLOCKS);
    if (s->s->reads[s->t] == UINT8_MAX)
        return sym_fail(s->m, s->t, FT_ERROR_LIMIT, "a lock is held to read 255 times");
    s->s->readers |= bit(s->t);
    s->s->reads[s->t]++;
    return result(s, 0);
}

static bool take_to_write(step *s)
{
    if (s->s->owner == s->t + 1) return result(s, DEADLOCKS);
    assert(!s->s->owner && !s->s->readers);
    s->s->owner = s->t + 1;
    return result(s, 0);
}

static bool try_read(step *s)
{
    return s->s->owner ? result(s, BUSY) : take_to_read(s);
}

static bool try_write(step *s)
{
    return s->s->owner || s->s->readers ? result(s, BUSY) : take_to_write(s);
}

static bool rw_unlock(step *s)
{
    if (s->s->owner == s->t + 1) {
        s->s->owner = 0;
        return result(s, 0);
    }
    if (!(s->s->readers & bit(s->t)))
        return misuse(s, "the thread unlocks a read-write lock that it does not hold");
    if (sym_fault_is(SYM_FAULT_READ_AGAIN)) s->s->reads[s->t] = 1;
    if (--s->s->reads[s->t] == 0) s->s->readers &= ~bit(s->t);
    return result(s, 0);
}

/* ---- condition variables ---- */

static sync_object *sync_of(ft_sym_state *m, uint32_t t, uint64_t address, uint8_t kind, bool made);

static bool wait_begins(step *s, sync_object *mutex)
{
    if (mutex->owner != s->t + 1)
        return misuse(s, "the thread waits with a mutex that it does not hold");
    if (mutex->count > 1) return misuse(s, "the thread waits with a mutex that it holds twice");
    if (!sym_fault_is(SYM_FAULT_WAIT_HOLDS)) mutex->owner = 0;
    mutex->count = 0;
    s->s->waiters |= bit(s->t);
    s->stays = true;
    return true;
}

static bool wait(step *s)
{
    uint64_t condition = s->s->address;
    sync_object *mutex = sync_of(s->m, s->t, number(s, 1), SYNC_MUTEX, true);
    if (!mutex) return false;
    s->s = sym_sync_at(s->m, condition); /* the second may have moved the first */
    if (!thread_of(s)->second) return wait_begins(s, mutex);
    s->s->waiters &= ~bit(s->t);
    s->s->notified &= ~bit(s->t);
    mutex->owner = sym_fault_is(SYM_FAULT_WAIT_FREE) ? 0 : s->t + 1;
    mutex->count = 1;
    return result(s, s->variant ? TIMED_OUT : 0);
}

static bool notify(step *s, uint64_t waiters)
{
    FT_REQUIRE(!(waiters & ~s->s->waiters)); /* whoever is woken waits */
    if (sym_fault_is(SYM_FAULT_SIGNAL_LOST) && s->variant) return true;
    s->s->waiters &= ~waiters;
    s->s->notified |= waiters;
    return true;
}

static bool signal_one(step *s)
{
    return !s->variant || notify(s, bit((uint32_t)s->variant - 1));
}

static bool broadcast(step *s)
{
    uint64_t first = s->s->waiters & -s->s->waiters;
    return notify(s, sym_fault_is(SYM_FAULT_BROADCAST_ONE) ? first : s->s->waiters);
}

/* ---- semaphores, barriers, once ---- */

static bool sem_take(step *s)
{
    if (s->variant) return result(s, TIMED_OUT);
    assert(s->s->count);
    s->s->count--;
    return result(s, 0);
}

static bool sem_try(step *s)
{
    return s->s->count ? sem_take(s) : result(s, AGAIN);
}

static bool sem_post(step *s)
{
    s->s->count += !(s->s->count == 1 && sym_fault_is(SYM_FAULT_SEM_KEEPS));
    return result(s, 0);
}

static bool sem_count(step *s)
{
    return result(s, (int64_t)s->s->count);
}

static bool barrier_wait(step *s)
{
    sync_object *b = s->s;
    sym_thread *th = thread_of(s);
    if (th->second) {
        b->notified &= ~bit(s->t);
        return result(s, th->outcome || sym_fault_is(SYM_FAULT_BARRIER_RESULT) ? -1 : 0);
    }
    b->waiters |= bit(s->t);
    th->outcome = ++b->count == b->total || sym_fault_is(SYM_FAULT_BARRIER_EARLY);
    if (th->outcome) {
        b->notified |= b->waiters;
        b->waiters = 0;
        b->count = 0;
    }
    s->stays = true;
    return true;
}

static bool once(step *s)
{
    if (s->s->count && !sym_fault_is(SYM_FAULT_ONCE_TWICE)) return true;
    uint64_t flag = s->s->address;
    const ft_function *f = sym_function_at(s->m, s->t, number(s, 1), 0, NULL, 0);
    if (!f) return false;
    s->s->owner = s->t + 1;
    sym_thread *th = thread_of(s);
    th->frames.data[th->frames.len - 1].at++;
    sym_call(s->m, s->t, f, NULL, 0, flag);
    s->stays = true;
    return true;
}

/* ---- made and destroyed ---- */

static bool init(step *s)
{
    bool used = s->s->owner || s->s->waiters || s->s->readers;
    if (used && !sym_fault_is(SYM_FAULT_INIT_USED))
        return misuse(s, "the object is in use and is initialised again");
    sync_object made = {
        .address = s->s->address, .kind = s->s->kind, .mutex_kind = s->in->attribute};
    bool counts = made.kind == SYNC_SEMAPHORE && !sym_fault_is(SYM_FAULT_SEM_ZERO);
    if (counts) made.count = number(s, 1);
    if (made.kind == SYNC_BARRIER) made.total = number(s, 1);
    *s->s = made;
    if (made.kind == SYNC_BARRIER && !made.total) return misuse(s, "a barrier of no threads");
    return true;
}

static bool is_waited_for(const step *s)
{
    uint64_t variants[FT_SYM_THREADS];
    ft_sym_operation o;
    for (uint32_t t = 0; t < s->m->threads.len; t++)
        if (t != s->t && ft_sym_stands_before(s->m, t, &o) && !o.arms && !o.stands &&
            o.object == s->s->address && o.code < FT_CODES &&
            ft_instruction_row_of(o.code)->effect == FT_EFFECT_VISIBLE &&
            !sym_sync_choices(s->m, t, variants))
            return true;
    return false;
}

static bool destroy(step *s)
{
    bool used = s->s->owner || s->s->waiters || s->s->readers || is_waited_for(s);
    if (used && !sym_fault_is(SYM_FAULT_DESTROY_USED))
        return misuse(s, "the object is in use and is destroyed");
    s->s->destroyed = true;
    return true;
}

/* ---- threads ---- */

static void start_thread(ft_sym_state *m, uint32_t n)
{
    while (m->threads.len <= n) ft_vec_push(&m->threads, (sym_thread){0});
    sym_thread *th = sym_thread_of(m, n);
    th->exists = true;
    th->next_base = (uint64_t)(n + 1) << 40;
}

static bool create(step *s)
{
    static const uint8_t WIDTHS[1] = {64};
    ft_sym_state *m = s->m;
    value argument = sym_operand(m, s->t, s->in, 1);
    const ft_function *f = sym_function_at(m, s->t, number(s, 0), 64, WIDTHS, 1);
    if (!f) return false;
    uint64_t child = s->variant ? s->variant - 1 : m->threads.len;
    FT_REQUIRE(child >= m->threads.len || !m->threads.data[child].exists);
    if (child >= m->world->options.max_threads)
        return sym_fail(m, s->t, FT_ERROR_LIMIT, "the program has more than %" PRIu32 " threads",
                        m->world->options.max_threads);
    start_thread(m, (uint32_t)child);
    if (!sym_thread_objects(m, (uint32_t)child)) return false;
    sym_call(m, (uint32_t)child, f, &argument, 1, 0);
    uint32_t handle = m->world->options.handles ? SYM_HANDLE | (uint32_t)(child + 1) : 0;
    sym_result(m, s->t, s->in, (value){.bits = child, .object = handle});
    return true;
}

static bool is_joinable(const ft_sym_state *m, uint32_t t, uint64_t other)
{
    if (other >= m->threads.len || other == t) return false;
    const sym_thread *o = &m->threads.data[other];
    bool detached = o->detached && !sym_fault_is(SYM_FAULT_DETACHED);
    return o->exists && !detached && !o->joined;
}

/* In an epoch that began in the middle a number that is not a handle may be an old one. */
static bool is_handle(step *s)
{
    value v = sym_operand(s->m, s->t, s->in, 0);
    if (!s->m->old || v.object & SYM_HANDLE) return true;
    return sym_fail(s->m, s->t, FT_ERROR_LIMIT, "the thread's handle was kept as a number");
}

static bool join(step *s)
{
    uint64_t other = number(s, 0);
    if (!is_handle(s)) return false;
    if (!is_joinable(s->m, s->t, other))
        return misuse(s, "the thread cannot be joined: it is detached, joined or does not exist");
    sym_thread *o = sym_thread_of(s->m, (uint32_t)other);
    assert(o->ended);
    o->joined = !sym_fault_is(SYM_FAULT_JOIN_TWICE);
    value result = sym_fault_is(SYM_FAULT_JOIN_RESULT) ? sym_number(0) : o->result;
    sym_result(s->m, s->t, s->in, result);
    return true;
}

static bool detach(step *s)
{
    uint64_t other = number(s, 0);
    bool self = other == s->t && !thread_of(s)->detached;
    if (!is_handle(s)) return false;
    if (!self && !is_joinable(s->m, s->t, other))
        return misuse(s, "the thread cannot be detached: it is detached, joined or does not exist");
    s->m->threads.data[other].detached = true;
    return true;
}

static bool nothing(step *s)
{
    (void)s;
    return true;
}

static bool exit_process(step *s)
{
    s->m->exit_code = sym_operand(s->m, s->t, s->in, 0);
    s->m->end = FT_SYM_EXITED;
    return true;
}

static bool begin_section(step *s)
{
    if (s->m->section) return misuse(s, "an atomic section begins within another one");
    s->m->section = s->t + 1;
    return true;
}

static bool end_section(step *s)
{
    if (s->m->section != s->t + 1) return misuse(s, "the thread is not in an atomic section");
    s->m->section = 0;
    return true;
}

/* ---- atomics ---- */

static bool is_aligned(step *s, value a)
{
    if (a.bits % (s->in->width / 8u) == 0) return true;
    return sym_fail(s->m, s->t, FT_ERROR_ALIGNMENT, "0x%" PRIx64 " is not a multiple of %u", a.bits,
                    s->in->width / 8u);
}

static bool load(step *s)
{
    value v, at = address(s, 0);
    if (!is_aligned(s, at) || !sym_load(s->m, s->t, at, s->in->width, &v)) return false;
    sym_result(s->m, s->t, s->in, v);
    return true;
}

static bool put(step *s, value at, value v)
{
    where w;
    if (!sym_find_store(s->m, s->t, at, s->in->width, v, &w)) return false;
    sym_store_at(s->m, s->t, &w, s->in->width, v);
    return true;
}

static bool store(step *s)
{
    value at = address(s, 1);
    return is_aligned(s, at) && put(s, at, sym_operand(s->m, s->t, s->in, 0));
}

static bool update(step *s)
{
    uint8_t width = s->in->width;
    value before, at = address(s, 0), x = sym_operand(s->m, s->t, s->in, 1);
    if (!is_aligned(s, at) || !sym_load(s->m, s->t, at, width, &before)) return false;
    value after = sym_update(s->m->world, (ft_update)s->in->attribute, width, before, x);
    after.object = 0;
    if (s->in->attribute == FT_UPDATE_EXCHANGE)
        after.object = x.object;
    else if (!before.object != !x.object)
        after.object = before.object + x.object;
    if (!put(s, at, after)) return false;
    sym_result(s->m, s->t, s->in, sym_fault_is(SYM_FAULT_UPDATE_NEW) ? after : before);
    return true;
}

/* Where terms decide, the new content is a choice; addresses that it may be keep no object then. */
static bool swap(step *s)
{
    uint8_t width = s->in->width;
    value before, at = address(s, 0), expected = sym_operand(s->m, s->t, s->in, 1);
    value wanted = sym_operand(s->m, s->t, s->in, 2);
    if (!is_aligned(s, at) || !sym_load(s->m, s->t, at, width, &before)) return false;
    value equal = sym_binary(s->m->world, FT_CODE_EQ, width, before, expected);
    if (sym_fault_is(SYM_FAULT_SWAP_ALWAYS)) equal = sym_number(1);
    value after = before;
    if (equal.term) {
        after = sym_choice(s->m->world, equal.term, wanted, before, width);
        after.object = wanted.object == before.object ? before.object : 0;
    } else if (equal.bits) {
        after = wanted;
    }
    if ((equal.term || equal.bits) && !put(s, at, after)) return false;
    sym_result(s->m, s->t, s->in, before);
    return true;
}

/* ---- all of them ---- */

typedef struct row {
    bool (*step)(step *s);
    uint8_t kind;
    bool made; /* may be used before init */
} row;

static const row ROWS[FT_CODES] = {
    [FT_CODE_ATOMIC_LOAD] = {load, SYNC_NEW, false},
    [FT_CODE_ATOMIC_STORE] = {store, SYNC_NEW, false},
    [FT_CODE_ATOMIC_UPDATE] = {update, SYNC_NEW, false},
    [FT_CODE_ATOMIC_SWAP] = {swap, SYNC_NEW, false},
    [FT_CODE_FENCE] = {nothing, SYNC_NEW, false},
    [FT_CODE_CREATE] = {create, SYNC_NEW, false},
    [FT_CODE_JOIN] = {join, SYNC_NEW, false},
    [FT_CODE_DETACH] = {detach, SYNC_NEW, false},
    [FT_CODE_YIELD] = {nothing, SYNC_NEW, false},
    [FT_CODE_MUTEX_INIT] = {init, SYNC_MUTEX, true},
    [FT_CODE_MUTEX_DESTROY] = {destroy, SYNC_MUTEX, true},
    [FT_CODE_LOCK] = {lock, SYNC_MUTEX, true},
    [FT_CODE_TRY_LOCK] = {try_lock, SYNC_MUTEX, true},
    [FT_CODE_TIMED_LOCK] = {lock, SYNC_MUTEX, true},
    [FT_CODE_UNLOCK] = {unlock, SYNC_MUTEX, true},
    [FT_CODE_RW_INIT] = {init, SYNC_RWLOCK, true},
    [FT_CODE_RW_DESTROY] = {destroy, SYNC_RWLOCK, true},
    [FT_CODE_READ_LOCK] = {take_to_read, SYNC_RWLOCK, true},
    [FT_CODE_WRITE_LOCK] = {take_to_write, SYNC_RWLOCK, true},
    [FT_CODE_TRY_READ_LOCK] = {try_read, SYNC_RWLOCK, true},
    [FT_CODE_TRY_WRITE_LOCK] = {try_write, SYNC_RWLOCK, true},
    [FT_CODE_RW_UNLOCK] = {rw_unlock, SYNC_RWLOCK, true},
    [FT_CODE_COND_INIT] = {init, SYNC_CONDITION, true},
    [FT_CODE_COND_DESTROY] = {destroy, SYNC_CONDITION, true},
    [FT_CODE_WAIT] = {wait, SYNC_CONDITION, true},
    [FT_CODE_TIMED_WAIT] = {wait, SYNC_CONDITION, true},
    [FT_CODE_SIGNAL] = {signal_one, SYNC_CONDITION, true},
    [FT_CODE_BROADCAST] = {broadcast, SYNC_CONDITION, true},
    [FT_CODE_SEM_INIT] = {init, SYNC_SEMAPHORE, true},
    [FT_CODE_SEM_DESTROY] = {destroy, SYNC_SEMAPHORE, false},
    [FT_CODE_SEM_WAIT] = {sem_take, SYNC_SEMAPHORE, false},
    [FT_CODE_SEM_TRY] = {sem_try, SYNC_SEMAPHORE, false},
    [FT_CODE_SEM_TIMED] = {sem_take, SYNC_SEMAPHORE, false},
    [FT_CODE_SEM_POST] = {sem_post, SYNC_SEMAPHORE, false},
    [FT_CODE_SEM_COUNT] = {sem_count, SYNC_SEMAPHORE, false},
    [FT_CODE_BARRIER_INIT] = {init, SYNC_BARRIER, true},
    [FT_CODE_BARRIER_DESTROY] = {destroy, SYNC_BARRIER, false},
    [FT_CODE_BARRIER_WAIT] = {barrier_wait, SYNC_BARRIER, false},
    [FT_CODE_ONCE] = {once, SYNC_ONCE, true},
    [FT_CODE_ATOMIC_BEGIN] = {begin_section, SYNC_NEW, false},
    [FT_CODE_ATOMIC_END] = {end_section, SYNC_NEW, false},
    [FT_CODE_EXIT] = {exit_process, SYNC_NEW, false},
};

static sync_object *sync_of(ft_sym_state *m, uint32_t t, uint64_t address, uint8_t kind, bool made)
{
    sync_object *s = sym_sync_at(m, address);
    if (!s) {
        ft_vec_push(&m->syncs, (sync_object){.address = address});
        s = &m->syncs.data[m->syncs.len - 1];
    }
    if (s->kind == SYNC_NEW && made) s->kind = kind;
    if (s->kind == kind && !s->destroyed) return s;
    sym_fail(m, t, FT_ERROR_MISUSE, "%s",
             s->destroyed          ? "the object was destroyed"
             : s->kind == SYNC_NEW ? "the object was not initialised"
                                   : "the object is one of another kind");
    return NULL;
}

static void forget_unused(ft_sym_state *m, uint64_t address)
{
    sync_object *s = sym_sync_at(m, address);
    if (!s || s->owner || s->waiters || s->readers) return;
    s->kind = SYNC_NEW;
    s->destroyed = false;
}

static bool find_object(step *s, const row *r)
{
    where w;
    value at = address(s, 0);
    if (!sym_find(s->m, s->t, at, 1, false, &w)) return false;
    if (r->step == init) forget_unused(s->m, at.bits);
    s->s = sync_of(s->m, s->t, at.bits, r->kind, r->made);
    return s->s != NULL;
}

bool sym_sync_step(ft_sym_state *m, uint32_t t, uint64_t variant, bool *stays)
{
    const ft_instruction *in = sym_instruction(m, t);
    const row *r = &ROWS[in->code];
    assert(r->step);
    step s = {.m = m, .t = t, .in = in, .variant = variant};
    if (r->kind != SYNC_NEW && !find_object(&s, r)) return false;
    bool good = r->step(&s);
    *stays = s.stays;
    return good;
}

/* ---- choices ---- */

static uint32_t one(uint64_t variants[FT_SYM_THREADS], uint64_t variant)
{
    variants[0] = variant;
    return 1;
}

static uint32_t unless(bool waits, uint64_t variants[FT_SYM_THREADS])
{
    return waits ? 0 : one(variants, 0);
}

static bool is_held_by_other(const sync_object *s, uint32_t t)
{
    if (sym_fault_is(SYM_FAULT_HELD_TWICE)) return false;
    return s && s->owner && (s->owner != t + 1 || s->mutex_kind == FT_MUTEX_NORMAL);
}

static uint32_t wait_choices(const ft_sym_state *m, uint32_t t, const ft_instruction *in,
                             const sync_object *c, uint64_t variants[FT_SYM_THREADS])
{
    const sync_object *mutex = sym_sync_at(m, sym_sync_operand(m, t, in, 1));
    if (!c || (mutex && mutex->owner)) return 0;
    if (c->notified & bit(t) || sym_fault_is(SYM_FAULT_SPURIOUS)) return one(variants, 0);
    return in->code == FT_CODE_TIMED_WAIT ? one(variants, 1) : 0;
}

bool sym_sync_waits(const ft_sym_state *m, uint32_t t)
{
    const sync_object *s = sym_sync_at(m, sym_sync_operand(m, t, sym_instruction(m, t), 0));
    return s && s->kind == SYNC_CONDITION && s->waiters & bit(t);
}

static uint32_t signal_choices(const sync_object *s, uint64_t variants[FT_SYM_THREADS])
{
    uint32_t n = 0;
    for (uint32_t t = 0; s && t < FT_SYM_THREADS; t++)
        if (s->waiters & bit(t)) variants[n++] = t + 1;
    return n ? n : one(variants, 0);
}

uint32_t sym_sync_choices(const ft_sym_state *m, uint32_t t, uint64_t variants[FT_SYM_THREADS])
{
    const ft_instruction *in = sym_instruction(m, t);
    const row *r = &ROWS[in->code];
    bool numbers = needs((ft_code)in->code) & 1 && in->n_operands;
    uint64_t first = numbers ? sym_sync_operand(m, t, in, 0) : 0;
    const sync_object *s = r->kind != SYNC_NEW ? sym_sync_at(m, first) : NULL;
    if (s && (s->destroyed || (s->kind != SYNC_NEW && s->kind != r->kind)))
        return one(variants, 0); /* an error */
    switch (in->code) {
    case FT_CODE_LOCK:
        return unless(is_held_by_other(s, t), variants);
    case FT_CODE_TIMED_LOCK:
        return one(variants, is_held_by_other(s, t));
    case FT_CODE_READ_LOCK:
        return unless(s && (s->owner || (sym_fault_is(SYM_FAULT_READERS_EXCLUDE) && s->readers)) &&
                          s->owner != t + 1,
                      variants);
    case FT_CODE_WRITE_LOCK:
        return unless(s && s->owner != t + 1 &&
                          (s->owner || (s->readers && !sym_fault_is(SYM_FAULT_WRITER_ENTERS))),
                      variants);
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
        return sym_thread_of(m, t)->second ? wait_choices(m, t, in, s, variants) : one(variants, 0);
    case FT_CODE_SIGNAL:
        return signal_choices(s, variants);
    case FT_CODE_SEM_WAIT:
        return unless(s && s->kind == SYNC_SEMAPHORE && !s->count &&
                          !sym_fault_is(SYM_FAULT_SEM_BELOW),
                      variants);
    case FT_CODE_SEM_TIMED:
        return one(variants, s && s->kind == SYNC_SEMAPHORE && !s->count);
    case FT_CODE_BARRIER_WAIT:
        return unless(sym_thread_of(m, t)->second && !(s && s->notified & bit(t)), variants);
    case FT_CODE_ONCE:
        return unless(s && s->owner, variants);
    case FT_CODE_JOIN:
        return unless(is_joinable(m, t, first) && !m->threads.data[first].ended &&
                          !sym_fault_is(SYM_FAULT_JOIN_EARLY),
                      variants);
    case FT_CODE_ATOMIC_BEGIN:
        return unless(m->section && m->section != t + 1, variants);
    default:
        return one(variants, 0);
    }
}
