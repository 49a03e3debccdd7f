#include <inttypes.h>
#include <string.h>

#include "program/interpret/internal.h"

/* Error numbers of Linux, which programs compare with. */
enum { NOT_OWNER = 1, AGAIN = 11, BUSY = 16, DEADLOCKS = 35, TIMED_OUT = 110 };

typedef struct step {
    ft_interpreter *m;
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

static interpreted_thread *thread_of(const step *s)
{
    return &s->m->threads.data[s->t];
}

static word operand(const step *s, uint32_t i)
{
    return ft_run_operand(s->m, s->t, s->in, i);
}

static bool result(step *s, int64_t bits)
{
    ft_run_result(s->m, s->t, s->in, (uint64_t)bits, 0);
    return true;
}

static bool misuse(step *s, const char *what)
{
    return ft_interpreter_fail(s->m, s->t, FT_ERROR_MISUSE, "%s", what);
}

static void acquire(step *s, const vector_clock *from)
{
    ft_race_join(&thread_of(s)->clock, from);
}

static void release_into(step *s, vector_clock *into)
{
    ft_race_join(into, &thread_of(s)->clock);
    ft_race_tick(s->m, s->t);
}

/* ---- mutexes ---- */

static bool take(step *s)
{
    acquire(s, &s->s->released);
    s->s->owner = s->t + 1;
    s->s->count = 1;
    return result(s, 0);
}

static bool retake(step *s)
{
    if (s->s->mutex_kind == FT_MUTEX_RECURSIVE) return s->s->count++, result(s, 0);
    return result(s, s->in->code == FT_CODE_TRY_LOCK ? BUSY : DEADLOCKS);
}

static bool lock(step *s)
{
    if (s->variant) return result(s, TIMED_OUT);
    return s->s->owner == s->t + 1 ? retake(s) : take(s);
}

static bool try_lock(step *s)
{
    if (s->s->owner == s->t + 1) return retake(s);
    return s->s->owner ? result(s, BUSY) : take(s);
}

static bool unlock(step *s)
{
    if (s->s->owner != s->t + 1) {
        if (s->s->mutex_kind != FT_MUTEX_NORMAL) return result(s, NOT_OWNER);
        return misuse(s, "the thread unlocks a mutex that it does not hold");
    }
    if (--s->s->count == 0) {
        release_into(s, &s->s->released);
        s->s->owner = 0;
    }
    return result(s, 0);
}

/* ---- read-write locks ---- */

static bool take_to_read(step *s)
{
    if (s->s->owner == s->t + 1) return result(s, DEADLOCKS);
    acquire(s, &s->s->written);
    s->s->readers |= bit(s->t);
    s->s->reads[s->t]++;
    return result(s, 0);
}

static bool take_to_write(step *s)
{
    if (s->s->owner == s->t + 1) return result(s, DEADLOCKS);
    acquire(s, &s->s->released);
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
    sync_object *l = s->s;
    if (l->owner == s->t + 1) {
        ft_race_join(&l->written, &thread_of(s)->clock);
        release_into(s, &l->released);
        l->owner = 0;
        return result(s, 0);
    }
    if (!(l->readers & bit(s->t)))
        return misuse(s, "the thread unlocks a read-write lock that it does not hold");
    release_into(s, &l->released);
    if (--l->reads[s->t] == 0) l->readers &= ~bit(s->t);
    return result(s, 0);
}

/* ---- condition variables ---- */

static sync_object *sync_of(ft_interpreter *m, uint32_t t, word address, uint8_t kind, bool access);

static bool wait_begins(step *s, sync_object *mutex)
{
    if (mutex->owner != s->t + 1)
        return misuse(s, "the thread waits with a mutex that it does not hold");
    if (mutex->count > 1) return misuse(s, "the thread waits with a mutex that it holds twice");
    release_into(s, &mutex->released);
    mutex->owner = 0;
    mutex->count = 0;
    s->s->waiters |= bit(s->t);
    s->stays = true;
    return true;
}

static bool wait_ends(step *s, sync_object *mutex)
{
    s->s->waiters &= ~bit(s->t);
    s->s->notified &= ~bit(s->t);
    acquire(s, &mutex->released);
    mutex->owner = s->t + 1;
    mutex->count = 1;
    return result(s, s->variant ? TIMED_OUT : 0);
}

static bool wait(step *s)
{
    uint64_t condition = s->s->address;
    sync_object *mutex = sync_of(s->m, s->t, operand(s, 1), SYNC_MUTEX, true);
    if (!mutex) return false;
    uint64_t number;
    ft_map_get(&s->m->sync_at, condition, &number);
    s->s = &s->m->syncs.data[number]; /* the second may have moved the first */
    return thread_of(s)->second ? wait_ends(s, mutex) : wait_begins(s, mutex);
}

/* The waiter stands still; it has the notifier's past behind itself from now on. */
static void notify(step *s, uint64_t waiters)
{
    for (uint32_t t = 0; t < s->m->threads.len; t++)
        if (waiters & bit(t)) ft_race_join(&s->m->threads.data[t].clock, &thread_of(s)->clock);
    s->s->waiters &= ~waiters;
    s->s->notified |= waiters;
    ft_race_tick(s->m, s->t);
}

static bool signal_one(step *s)
{
    if (s->variant) notify(s, bit((uint32_t)s->variant - 1));
    return true;
}

static bool broadcast(step *s)
{
    notify(s, s->s->waiters);
    return true;
}

/* ---- semaphores, barriers, once ---- */

static bool sem_take(step *s)
{
    if (s->variant) return result(s, TIMED_OUT);
    acquire(s, &s->s->released);
    s->s->count--;
    return result(s, 0);
}

static bool sem_try(step *s)
{
    return s->s->count ? sem_take(s) : result(s, AGAIN);
}

static bool sem_post(step *s)
{
    release_into(s, &s->s->released);
    s->s->count++;
    return result(s, 0);
}

static bool sem_count(step *s)
{
    return result(s, (int64_t)s->s->count);
}

static void open_barrier(step *s)
{
    sync_object *b = s->s;
    for (uint32_t t = 0; t < s->m->threads.len; t++)
        if (b->waiters & bit(t)) ft_race_join(&s->m->threads.data[t].clock, &b->released);
    b->notified |= b->waiters;
    b->waiters = 0;
    b->count = 0;
    memset(&b->released, 0, sizeof b->released);
}

static bool barrier_wait(step *s)
{
    interpreted_thread *t = thread_of(s);
    if (t->second) {
        s->s->notified &= ~bit(s->t);
        return result(s, t->outcome ? -1 : 0);
    }
    release_into(s, &s->s->released);
    s->s->waiters |= bit(s->t);
    t->outcome = ++s->s->count == s->s->total;
    if (t->outcome) open_barrier(s);
    s->stays = true;
    return true;
}

static bool once(step *s)
{
    acquire(s, &s->s->released);
    if (s->s->count) return true;
    uint64_t flag = s->s->address;
    const ft_function *f = ft_run_function_at(s->m, s->t, operand(s, 1), 0, NULL, 0);
    if (!f) return false;
    s->s->owner = s->t + 1;
    interpreted_thread *t = thread_of(s);
    t->frames.data[t->frames.len - 1].at++;
    ft_run_call(s->m, s->t, f, NULL, 0, flag);
    s->stays = true;
    return true;
}

/* ---- made and destroyed ---- */

static bool init(step *s)
{
    if (s->s->owner || s->s->waiters || s->s->readers)
        return misuse(s, "the object is in use and is initialised again");
    uint64_t address = s->s->address;
    uint8_t kind = s->s->kind;
    *s->s = (sync_object){.address = address, .kind = kind, .mutex_kind = s->in->attribute};
    if (kind == SYNC_SEMAPHORE) s->s->count = operand(s, 1).bits;
    if (kind == SYNC_BARRIER) s->s->total = operand(s, 1).bits;
    if (kind == SYNC_BARRIER && !s->s->total) return misuse(s, "a barrier of no threads");
    return true;
}

/* Does a thread wait at the object? */
static bool is_waited_for(const step *s)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    ft_interpreter_operation o;
    for (uint32_t t = 0; t < s->m->threads.len; t++)
        if (t != s->t && ft_interpreter_stands_before(s->m, t, &o) && o.object == s->s->address &&
            ft_instruction_row_of(o.code)->effect == FT_EFFECT_VISIBLE &&
            !ft_sync_choices(s->m, t, variants))
            return true;
    return false;
}

static bool destroy(step *s)
{
    if (s->s->owner || s->s->waiters || s->s->readers || is_waited_for(s))
        return misuse(s, "the object is in use and is destroyed");
    s->s->destroyed = true;
    return true;
}

/* ---- threads ---- */

/* The new thread has its creator's past. */
static void start_thread(step *s, uint32_t number)
{
    ft_interpreter *m = s->m;
    while (m->threads.len <= number) ft_vec_push(&m->threads, (interpreted_thread){0});
    interpreted_thread *t = &m->threads.data[number];
    t->exists = true;
    t->clock = thread_of(s)->clock;
    t->clock.of[number] = 1;
    t->next_base = (uint64_t)(number + 1) << 40;
}

static bool create(step *s)
{
    static const uint8_t WIDTHS[1] = {64};
    ft_interpreter *m = s->m;
    word argument = operand(s, 1);
    const ft_function *f = ft_run_function_at(m, s->t, operand(s, 0), 64, WIDTHS, 1);
    if (!f) return false;
    uint64_t child = s->variant ? s->variant - 1 : m->threads.len;
    FT_REQUIRE(child >= m->threads.len || !m->threads.data[child].exists);
    if (child >= m->options.max_threads)
        return ft_interpreter_fail(m, s->t, FT_ERROR_LIMIT,
                                   "the program has more than %" PRIu32 " threads",
                                   m->options.max_threads);
    start_thread(s, (uint32_t)child);
    if (!ft_run_thread_objects(m, (uint32_t)child)) return false;
    ft_run_call(m, (uint32_t)child, f, &argument, 1, 0);
    ft_race_tick(m, s->t);
    return result(s, (int64_t)child);
}

static bool is_joinable(const ft_interpreter *m, uint32_t t, uint64_t other)
{
    if (other >= m->threads.len || other == t) return false;
    const interpreted_thread *o = &m->threads.data[other];
    return o->exists && !o->detached && !o->joined;
}

static bool join(step *s)
{
    uint64_t other = operand(s, 0).bits;
    if (!is_joinable(s->m, s->t, other))
        return misuse(s, "the thread cannot be joined: it is detached, joined or does not exist");
    interpreted_thread *o = &s->m->threads.data[other];
    o->joined = true;
    acquire(s, &o->clock);
    ft_run_result(s->m, s->t, s->in, o->result.bits, o->result.object);
    return true;
}

static bool detach(step *s)
{
    uint64_t other = operand(s, 0).bits;
    bool self = other == s->t && !thread_of(s)->detached;
    if (!self && !is_joinable(s->m, s->t, other))
        return misuse(s, "the thread cannot be detached: it is detached, joined or does not exist");
    s->m->threads.data[other].detached = true;
    return true;
}

static bool yield(step *s)
{
    (void)s;
    return true;
}

static bool exit_process(step *s)
{
    s->m->exit_code = (int32_t)operand(s, 0).bits;
    s->m->state = FT_INTERPRETER_EXITED;
    return true;
}

static bool begin_section(step *s)
{
    if (s->m->section) return misuse(s, "an atomic section begins within another one");
    acquire(s, &ft_race_release_at(s->m, 0)->clock);
    s->m->section = s->t + 1;
    return true;
}

/* ---- atomics ---- */

static bool is_aligned(step *s, word address)
{
    if (address.bits % (s->in->width / 8u) == 0) return true;
    return ft_interpreter_fail(s->m, s->t, FT_ERROR_ALIGNMENT,
                               "0x%" PRIx64 " is not a multiple of %u", address.bits,
                               s->in->width / 8u);
}

static void read_order(step *s, uint64_t address, ft_order order)
{
    const vector_clock *sequence = &ft_race_release_at(s->m, address)->clock;
    ft_race_join(&thread_of(s)->pending, sequence);
    if (ft_order_acquires(order)) acquire(s, sequence);
}

static bool load(step *s)
{
    word v, address = operand(s, 0);
    if (!is_aligned(s, address) || !ft_memory_load(s->m, s->t, address, s->in->width, &v))
        return false;
    read_order(s, address.bits, s->in->attribute);
    ft_run_result(s->m, s->t, s->in, v.bits, v.object);
    return true;
}

/* follows: the write continues the release sequence. */
static void write_order(step *s, uint64_t address, ft_order order, bool follows)
{
    vector_clock *sequence = &ft_race_release_at(s->m, address)->clock;
    interpreted_thread *t = thread_of(s);
    if (!follows) memset(sequence, 0, sizeof *sequence);
    ft_race_join(sequence, ft_order_releases(order) ? &t->clock : &t->fenced);
    ft_race_tick(s->m, s->t);
}

static bool store(step *s)
{
    word address = operand(s, 1);
    if (!is_aligned(s, address) ||
        !ft_memory_store(s->m, s->t, address, s->in->width, operand(s, 0)))
        return false;
    write_order(s, address.bits, s->in->attribute, false);
    return true;
}

static bool update(step *s)
{
    uint8_t width = s->in->width;
    word before, address = operand(s, 0), x = operand(s, 1);
    if (!is_aligned(s, address) || !ft_memory_load(s->m, s->t, address, width, &before))
        return false;
    word after = {ft_value_update(s->in->attribute, width, before.bits, x.bits), 0};
    if (s->in->attribute == FT_UPDATE_EXCHANGE)
        after.object = x.object;
    else if (!before.object != !x.object)
        after.object = before.object + x.object;
    if (!ft_memory_store(s->m, s->t, address, width, after)) return false;
    read_order(s, address.bits, s->in->order);
    write_order(s, address.bits, s->in->order, true);
    ft_run_result(s->m, s->t, s->in, before.bits, before.object);
    return true;
}

static bool swap(step *s)
{
    word before, address = operand(s, 0);
    if (!is_aligned(s, address) || !ft_memory_load(s->m, s->t, address, s->in->width, &before))
        return false;
    bool equal = before.bits == operand(s, 1).bits;
    if (equal && !ft_memory_store(s->m, s->t, address, s->in->width, operand(s, 2))) return false;
    read_order(s, address.bits, s->in->attribute);
    if (equal) write_order(s, address.bits, s->in->attribute, true);
    ft_run_result(s->m, s->t, s->in, before.bits, before.object);
    return true;
}

static bool fence(step *s)
{
    interpreted_thread *t = thread_of(s);
    if (ft_order_acquires(s->in->attribute)) ft_race_join(&t->clock, &t->pending);
    if (ft_order_releases(s->in->attribute)) t->fenced = t->clock;
    ft_race_tick(s->m, s->t);
    return true;
}

/* ---- all of them ---- */

/* kind: of the object at the first operand; SYNC_NEW: it is none. made: may be used before init. */
typedef struct row {
    bool (*step)(step *s);
    uint8_t kind;
    bool made, changes; /* changes: init and destroy, which nothing else may overlap */
} row;

static const row ROWS[FT_CODES] = {
    [FT_CODE_ATOMIC_LOAD] = {load, SYNC_NEW, false, false},
    [FT_CODE_ATOMIC_STORE] = {store, SYNC_NEW, false, false},
    [FT_CODE_ATOMIC_UPDATE] = {update, SYNC_NEW, false, false},
    [FT_CODE_ATOMIC_SWAP] = {swap, SYNC_NEW, false, false},
    [FT_CODE_FENCE] = {fence, SYNC_NEW, false, false},
    [FT_CODE_CREATE] = {create, SYNC_NEW, false, false},
    [FT_CODE_JOIN] = {join, SYNC_NEW, false, false},
    [FT_CODE_DETACH] = {detach, SYNC_NEW, false, false},
    [FT_CODE_YIELD] = {yield, SYNC_NEW, false, false},
    [FT_CODE_MUTEX_INIT] = {init, SYNC_MUTEX, true, true},
    [FT_CODE_MUTEX_DESTROY] = {destroy, SYNC_MUTEX, true, true},
    [FT_CODE_LOCK] = {lock, SYNC_MUTEX, true, false},
    [FT_CODE_TRY_LOCK] = {try_lock, SYNC_MUTEX, true, false},
    [FT_CODE_TIMED_LOCK] = {lock, SYNC_MUTEX, true, false},
    [FT_CODE_UNLOCK] = {unlock, SYNC_MUTEX, true, false},
    [FT_CODE_RW_INIT] = {init, SYNC_RWLOCK, true, true},
    [FT_CODE_RW_DESTROY] = {destroy, SYNC_RWLOCK, true, true},
    [FT_CODE_READ_LOCK] = {take_to_read, SYNC_RWLOCK, true, false},
    [FT_CODE_WRITE_LOCK] = {take_to_write, SYNC_RWLOCK, true, false},
    [FT_CODE_TRY_READ_LOCK] = {try_read, SYNC_RWLOCK, true, false},
    [FT_CODE_TRY_WRITE_LOCK] = {try_write, SYNC_RWLOCK, true, false},
    [FT_CODE_RW_UNLOCK] = {rw_unlock, SYNC_RWLOCK, true, false},
    [FT_CODE_COND_INIT] = {init, SYNC_CONDITION, true, true},
    [FT_CODE_COND_DESTROY] = {destroy, SYNC_CONDITION, true, true},
    [FT_CODE_WAIT] = {wait, SYNC_CONDITION, true, false},
    [FT_CODE_TIMED_WAIT] = {wait, SYNC_CONDITION, true, false},
    [FT_CODE_SIGNAL] = {signal_one, SYNC_CONDITION, true, false},
    [FT_CODE_BROADCAST] = {broadcast, SYNC_CONDITION, true, false},
    [FT_CODE_SEM_INIT] = {init, SYNC_SEMAPHORE, true, true},
    [FT_CODE_SEM_DESTROY] = {destroy, SYNC_SEMAPHORE, false, true},
    [FT_CODE_SEM_WAIT] = {sem_take, SYNC_SEMAPHORE, false, false},
    [FT_CODE_SEM_TRY] = {sem_try, SYNC_SEMAPHORE, false, false},
    [FT_CODE_SEM_TIMED] = {sem_take, SYNC_SEMAPHORE, false, false},
    [FT_CODE_SEM_POST] = {sem_post, SYNC_SEMAPHORE, false, false},
    [FT_CODE_SEM_COUNT] = {sem_count, SYNC_SEMAPHORE, false, false},
    [FT_CODE_BARRIER_INIT] = {init, SYNC_BARRIER, true, true},
    [FT_CODE_BARRIER_DESTROY] = {destroy, SYNC_BARRIER, false, true},
    [FT_CODE_BARRIER_WAIT] = {barrier_wait, SYNC_BARRIER, false, false},
    [FT_CODE_ONCE] = {once, SYNC_ONCE, true, false},
    [FT_CODE_ATOMIC_BEGIN] = {begin_section, SYNC_NEW, false, false},
    [FT_CODE_EXIT] = {exit_process, SYNC_NEW, false, false},
};

/* The object at the address; NULL: none yet. */
static const sync_object *look_at(const ft_interpreter *m, uint64_t address)
{
    uint64_t number;
    return ft_map_get(&m->sync_at, address, &number) ? &m->syncs.data[number] : NULL;
}

/* The object of the kind at the address, made if it is new; NULL: an error ended the execution. */
static sync_object *sync_of(ft_interpreter *m, uint32_t t, word address, uint8_t kind, bool made)
{
    bool fresh;
    uint64_t *number = ft_map_slot(&m->sync_at, address.bits, m->syncs.len, &fresh);
    if (fresh) ft_vec_push(&m->syncs, (sync_object){.address = address.bits});
    sync_object *s = &m->syncs.data[*number];
    if (s->kind == SYNC_NEW && made) s->kind = kind;
    if (s->kind == kind && !s->destroyed) return s;
    ft_interpreter_fail(m, t, FT_ERROR_MISUSE, "%s",
                        s->destroyed          ? "the object was destroyed"
                        : s->kind == SYNC_NEW ? "the object was not initialised"
                                              : "the object is one of another kind");
    return NULL;
}

/* The memory of a synchronisation object: initialising and destroying it writes, using it is
 * ordered with them. */
static bool touches(ft_interpreter *m, uint32_t t, word address, bool changes)
{
    uint64_t offset;
    memory_object *o = ft_memory_at(m, t, address, 1, &offset);
    if (!o || !m->options.races) return o != NULL;
    return ft_race_access(m, t, o, offset, 1, changes ? PLAIN_WRITE : ATOMIC_READ);
}

/* An object that nothing uses may be initialised as another one, and after it was destroyed. */
static void forget_unused(ft_interpreter *m, uint64_t address)
{
    uint64_t number;
    if (!ft_map_get(&m->sync_at, address, &number)) return;
    sync_object *s = &m->syncs.data[number];
    if (s->owner || s->waiters || s->readers) return;
    s->kind = SYNC_NEW;
    s->destroyed = false;
}

static bool find_object(step *s, const row *r)
{
    word address = operand(s, 0);
    if (!touches(s->m, s->t, address, r->changes)) return false;
    if (r->step == init) forget_unused(s->m, address.bits);
    s->s = sync_of(s->m, s->t, address, r->kind, r->made);
    return s->s != NULL;
}

bool ft_sync_step(ft_interpreter *m, uint32_t t, uint64_t variant, bool *stays)
{
    const ft_instruction *in = ft_interpreter_instruction(m, t);
    const row *r = &ROWS[in->code];
    assert(r->step);
    step s = {.m = m, .t = t, .in = in, .variant = variant};
    if (r->kind != SYNC_NEW && !find_object(&s, r)) return false;
    bool good = r->step(&s);
    *stays = s.stays;
    return good;
}

/* ---- choices ---- */

static uint32_t one(uint64_t variants[FT_INTERPRETER_THREADS], uint64_t variant)
{
    variants[0] = variant;
    return 1;
}

static bool is_held_by_other(const sync_object *s, uint32_t t)
{
    return s && s->owner && (s->owner != t + 1 || s->mutex_kind == FT_MUTEX_NORMAL);
}

static uint32_t wait_choices(const ft_interpreter *m, uint32_t t, const ft_instruction *in,
                             uint64_t variants[FT_INTERPRETER_THREADS])
{
    const sync_object *c = look_at(m, ft_run_operand(m, t, in, 0).bits);
    const sync_object *mutex = look_at(m, ft_run_operand(m, t, in, 1).bits);
    if (!c || (mutex && mutex->owner)) return 0;
    if (c->notified & bit(t)) return one(variants, 0);
    return in->code == FT_CODE_TIMED_WAIT ? one(variants, 1) : 0;
}

bool ft_sync_waits(const ft_interpreter *m, uint32_t t)
{
    const ft_instruction *in = ft_interpreter_instruction(m, t);
    const sync_object *s = look_at(m, ft_run_operand(m, t, in, 0).bits);
    return s && s->kind == SYNC_CONDITION && s->waiters & bit(t);
}

static uint32_t signal_choices(const sync_object *s, uint64_t variants[FT_INTERPRETER_THREADS])
{
    uint32_t n = 0;
    for (uint32_t t = 0; s && t < FT_INTERPRETER_THREADS; t++)
        if (s->waiters & bit(t)) variants[n++] = t + 1;
    return n ? n : one(variants, 0);
}

static bool waits_for_thread(const ft_interpreter *m, uint32_t t, uint64_t other)
{
    return is_joinable(m, t, other) && !m->threads.data[other].ended;
}

static uint32_t unless(bool waits, uint64_t variants[FT_INTERPRETER_THREADS])
{
    return waits ? 0 : one(variants, 0);
}

uint32_t ft_sync_choices(const ft_interpreter *m, uint32_t t,
                         uint64_t variants[FT_INTERPRETER_THREADS])
{
    const ft_instruction *in = ft_interpreter_instruction(m, t);
    uint64_t first = in->n_operands ? ft_run_operand(m, t, in, 0).bits : 0;
    const sync_object *s = ROWS[in->code].kind != SYNC_NEW ? look_at(m, first) : NULL;
    bool wrong = s && (s->destroyed || (s->kind != SYNC_NEW && s->kind != ROWS[in->code].kind));
    if (wrong) return one(variants, 0); /* the step is an error */
    switch (in->code) {
    case FT_CODE_LOCK:
        return unless(is_held_by_other(s, t), variants);
    case FT_CODE_TIMED_LOCK:
        return one(variants, is_held_by_other(s, t));
    case FT_CODE_READ_LOCK:
        return unless(s && s->owner && s->owner != t + 1, variants);
    case FT_CODE_WRITE_LOCK:
        return unless(s && s->owner != t + 1 && (s->owner || s->readers), variants);
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
        return m->threads.data[t].second ? wait_choices(m, t, in, variants) : one(variants, 0);
    case FT_CODE_SIGNAL:
        return signal_choices(s, variants);
    case FT_CODE_SEM_WAIT:
        return unless(s && s->kind == SYNC_SEMAPHORE && !s->count, variants);
    case FT_CODE_SEM_TIMED:
        return one(variants, s && s->kind == SYNC_SEMAPHORE && !s->count);
    case FT_CODE_BARRIER_WAIT:
        return unless(m->threads.data[t].second && !(s->notified & bit(t)), variants);
    case FT_CODE_ONCE:
        return unless(s && s->owner, variants);
    case FT_CODE_JOIN:
        return unless(waits_for_thread(m, t, first), variants);
    default:
        return one(variants, 0);
    }
}
