/* Instructions about synchronisation and memory, by the program's flavour. */
#include "oracle/program.h"

/* In a program that may tell what its threads wait for: a wait that may have no end, with whatever
 * the thread holds or has begun. */
static void add_hurdle(ft_program *program, uint32_t percent)
{
    if (program->tells && ft_program_percent(program, percent))
        ft_program_add(program, FT_EVENT_WAIT, 0);
}

/* ---- locks ---- */

static bool may_take(const ft_program *program, uint32_t lock, bool shared)
{
    if (!program->held[lock] || program->lock_kind[lock] == FT_LOCK_RECURSIVE) return true;
    return shared && program->held_shared[lock];
}

static ft_instruction *take(ft_program *program, uint32_t lock, bool shared)
{
    if (!program->held[lock]) program->held_shared[lock] = shared;
    program->held[lock]++;
    return ft_program_add(program, shared ? FT_EVENT_ACQUIRE_SHARED : FT_EVENT_ACQUIRE, lock);
}

static void give_back(ft_program *program, uint32_t lock)
{
    ft_program_add(program, FT_EVENT_RELEASE, lock);
    program->held[lock]--;
}

static bool is_shared(ft_program *program, uint32_t lock)
{
    return ft_lock_kind_has_readers(program->lock_kind[lock]) &&
           ft_program_percent(program, program->tells ? 60 : 45);
}

/* What goes wrong with locks without anybody waiting. */
static void add_lock_error(ft_program *program, uint32_t lock)
{
    bool checks = program->lock_kind[lock] == FT_LOCK_ERROR_CHECKING;
    bool refuses = program->held[lock] && program->lock_kind[lock] != FT_LOCK_RECURSIVE;
    if (program->arms && (checks || !refuses))
        ft_program_add_data(program); /* an arm gives back what it takes, and nothing else */
    else if (checks && program->held[lock] && ft_program_percent(program, 60))
        ft_program_add(program, FT_EVENT_ACQUIRE, lock);
    else if (refuses && !(ft_lock_kind_has_readers(program->lock_kind[lock])))
        ft_program_add(program, FT_EVENT_ACQUIRE, lock)->flags = FT_FLAG_TRY;
    else if (!program->held[lock])
        ft_program_add(program, FT_EVENT_RELEASE, lock);
}

/* Two or three locks, one inside the other. */
static void add_nest(ft_program *program)
{
    uint32_t order[FT_PROGRAM_LOCKS] = {0, 1, 2}, n = program->n_locks;
    if (!ft_program_percent(program, program->ordered))
        for (uint32_t i = n; i-- > 1;) {
            uint32_t k = ft_program_below(program, i + 1), swap = order[i];
            order[i] = order[k];
            order[k] = swap;
        }
    uint32_t taken[1 + FT_PROGRAM_LOCKS], depth = 0;
    if (n > 2 && ft_program_percent(program, program->guarded) && may_take(program, 0, false)) {
        take(program, 0, false);
        taken[depth++] = 0;
    }
    for (uint32_t i = 0; i < n && depth < 3; i++) {
        bool shared = is_shared(program, order[i]);
        if (program->held[order[i]] || ft_program_percent(program, 10)) continue;
        take(program, order[i], shared);
        taken[depth++] = order[i];
        if (ft_program_percent(program, 15)) ft_program_add_data(program);
    }
    if (ft_program_percent(program, 40)) ft_program_add_data(program);
    if (depth) add_hurdle(program, 25);
    if (depth && ft_program_percent(program, 8)) add_lock_error(program, taken[depth - 1]);
    while (depth) give_back(program, taken[--depth]);
}

/* if (trylock(l)) { ...; unlock(l) } */
static void add_attempt(ft_program *program)
{
    uint32_t lock = ft_program_below(program, program->n_locks), t = program->thread;
    /* A shared attempt fails only against a writer: rare, so tried often. */
    bool shared =
        ft_lock_kind_has_readers(program->lock_kind[lock]) && ft_program_percent(program, 85);
    if (program->held[lock]) {
        add_lock_error(program, lock);
        return;
    }
    take(program, lock, shared)->flags = FT_FLAG_TRY;
    uint32_t from = program->n_ops[t];
    ft_program_add_data(program);
    give_back(program, lock);
    program->ops[t][from - 1].skip = program->n_ops[t] - from;
}

static void add_shared_section(ft_program *program)
{
    uint32_t lock = ft_program_below(program, program->n_locks);
    bool shared = is_shared(program, lock);
    if (!may_take(program, lock, shared)) {
        add_lock_error(program, lock);
        return;
    }
    take(program, lock, shared);
    ft_program_add_data(program);
    if (!shared) add_hurdle(program, 50);
    if (shared && ft_program_percent(program, 15)) {
        take(program, lock, true);
        give_back(program, lock);
    }
    bool writes = !shared && ft_lock_kind_has_readers(program->lock_kind[lock]);
    if (writes && ft_program_percent(program, 25)) /* fails against its own thread */
        ft_program_add(program, FT_EVENT_ACQUIRE_SHARED, lock)->flags = FT_FLAG_TRY;
    give_back(program, lock);
    if (ft_program_percent(program, 4)) add_lock_error(program, lock);
}

static void add_locks(ft_program *program)
{
    uint32_t pick = ft_program_below(program, 100);
    if (pick < 55)
        add_nest(program);
    else if (pick < 75)
        add_attempt(program);
    else
        add_shared_section(program);
}

/* ---- conditions ---- */

#define FLAG_VARIABLE 0

static uint32_t mutex_of(const ft_program *program, uint32_t condition)
{
    return program->rich ? condition % program->n_locks : 0;
}

/* lock(l); if (!flag) wait(c, l); ...; unlock(l) */
static void add_waiter(ft_program *program)
{
    uint32_t c = ft_program_below(program, program->n_conditions), t = program->thread;
    uint32_t mutex = mutex_of(program, c);
    uint32_t tested = 0;
    bool branch = false;
    bool locks = !program->held[mutex] && ft_program_percent(program, 95);
    if (locks) take(program, mutex, false);
    bool tests = ft_program_percent(program, program->careful);
    if (tests && program->branches) branch = ft_program_begin_if_zero(program, FLAG_VARIABLE);
    if (tests && !branch) {
        ft_program_add_access(program, FLAG_VARIABLE, false);
        tested = program->n_ops[t];
        program->ops[t][tested - 1].tests = true;
    }
    bool early =
        locks && ft_program_percent(program, 15); /* the mutex is back before the wake-up */
    bool timed = ft_program_percent(program, 15);
    ft_program_add(program, FT_EVENT_COND_WAIT, c);
    if (locks) ft_program_add(program, FT_EVENT_RELEASE, mutex)->flags = FT_FLAG_CONDITION;
    if (early) ft_program_add(program, FT_EVENT_ACQUIRE, mutex)->flags = FT_FLAG_CONDITION;
    ft_program_add(program, FT_EVENT_COND_WAKE, c)->timed = timed;
    if (locks && !early)
        ft_program_add(program, FT_EVENT_ACQUIRE, mutex)->flags = FT_FLAG_CONDITION;
    if (tested) program->ops[t][tested - 1].skip = program->n_ops[t] - tested;
    if (branch) ft_program_end_if(program);
    if (ft_program_percent(program, 40)) ft_program_add_data(program);
    if (locks) give_back(program, mutex);
}

/* lock(l); flag = 1; signal(c); unlock(l), or some of it. */
static void add_signaller(ft_program *program)
{
    uint32_t c = ft_program_below(program, program->n_conditions), mutex = mutex_of(program, c);
    bool locks = !program->held[mutex] && ft_program_percent(program, program->careful / 2 + 40);
    bool late = ft_program_percent(program, 20);
    if (locks) take(program, mutex, false);
    if (ft_program_percent(program, program->careful)) {
        ft_program_add_access(program, FLAG_VARIABLE, true);
        program->ops[program->thread][program->n_ops[program->thread] - 1].bits = 1;
    }
    if (locks && late) give_back(program, mutex);
    bool all = ft_program_percent(program, 30);
    ft_program_add(program, all ? FT_EVENT_BROADCAST : FT_EVENT_SIGNAL, c);
    if (locks && !late) give_back(program, mutex);
    if (ft_program_percent(program, 15)) ft_program_add_data(program);
}

/* The last thread signals, the first one waits, those between do either. */
static void add_conditions(ft_program *program)
{
    bool last = program->thread + 1 == program->n_threads;
    bool waits = program->thread == 0 || (!last && ft_program_percent(program, 65));
    if (waits && ft_program_percent(program, 85))
        add_waiter(program);
    else
        add_signaller(program);
}

/* ---- semaphores ---- */

/* Mostly a unit taken is given back; data in between, if any. Some would not have waited for it. */
static void add_unit(ft_program *program)
{
    uint32_t s = ft_program_below(program, program->n_semaphores);
    uint8_t flags = ft_program_percent(program, 15) ? FT_FLAG_TRY : 0;
    if (ft_program_percent(program, 75)) ft_program_add(program, FT_EVENT_WAIT, s)->flags = flags;
    if (ft_program_percent(program, 50)) ft_program_add_data(program);
    if (ft_program_percent(program, 30) && program->n_semaphores > 1) {
        ft_program_add(program, FT_EVENT_WAIT, !s);
        ft_program_add(program, FT_EVENT_POST, !s);
    }
    if (ft_program_percent(program, 85)) ft_program_add(program, FT_EVENT_POST, s);
}

/* ---- barriers and once ---- */

/* The first one more often, so that threads meet there. */
static uint32_t some_lock(ft_program *program)
{
    if (!program->n_locks || ft_program_percent(program, 50)) return 0;
    return ft_program_below(program, program->n_locks);
}

/* What an initialiser may wait for: a lock, a unit, its own child. */
static void add_initialiser(ft_program *program)
{
    uint32_t lock = some_lock(program);
    bool locks = program->n_locks && may_take(program, lock, false);
    bool joins = program->forks && program->thread == 0 && program->next_join < program->n_threads;
    locks = locks && ft_program_percent(program, 70);
    if (locks) take(program, lock, false);
    if (!locks || ft_program_percent(program, 30)) ft_program_add_data(program);
    add_hurdle(program, 70);
    if (locks) give_back(program, lock);
    if (!joins || !ft_program_percent(program, 25)) return;
    uint8_t flags = ft_program_percent(program, 15) ? FT_FLAG_TRY : 0;
    ft_program_add(program, FT_EVENT_JOIN, program->next_join++)->flags = flags;
}

/* Some come to it with a lock. */
static void add_once(ft_program *program)
{
    uint32_t t = program->thread;
    uint32_t lock = some_lock(program);
    bool locks =
        program->n_locks && ft_program_percent(program, 60) && may_take(program, lock, false);
    if (locks) take(program, lock, false);
    ft_program_add(program, FT_EVENT_ONCE_BEGIN, 0);
    uint32_t from = program->n_ops[t];
    add_initialiser(program);
    ft_program_add(program, FT_EVENT_ONCE_END, 0);
    program->ops[t][from - 1].skip = program->n_ops[t] - from;
    if (locks) give_back(program, lock);
}

static void add_phase(ft_program *program)
{
    if (ft_program_percent(program, program->tells ? 75 : 45)) {
        add_once(program);
        return;
    }
    ft_program_add(program, FT_EVENT_BARRIER_ARRIVE, 0);
    if (ft_program_percent(program, 5)) ft_program_add_data(program);
    ft_program_add(program, FT_EVENT_BARRIER_LEAVE, 0);
}

/* ---- memory ---- */

static uint32_t some_block(ft_program *program)
{
    return program->n_blocks > 1 && ft_program_percent(program, 40);
}

static void add_memory(ft_program *program)
{
    uint32_t pick = ft_program_below(program, 100);
    if (pick < 25 && !program->tidy)
        ft_program_add(program, FT_EVENT_FREE, some_block(program));
    else if (pick < 37 && !program->tidy)
        ft_program_add(program, FT_EVENT_ALLOC, some_block(program));
    else if (pick < 60 && program->n_semaphores)
        ft_program_add(program, program->thread ? FT_EVENT_WAIT : FT_EVENT_POST, 0);
    else
        ft_program_add_access(program, 0, program->thread == 0 || pick > 90);
}

void ft_program_add_first(ft_program *program)
{
    for (uint32_t k = 0; program->tidy && k < program->n_blocks; k++)
        ft_program_add(program, FT_EVENT_ALLOC, k);
}

void ft_program_add_last(ft_program *program)
{
    for (uint32_t k = 0; program->tidy && k < program->n_blocks; k++)
        ft_program_add(program, FT_EVENT_FREE, k);
}

void ft_program_add_to_arm(ft_program *program)
{
    uint32_t pick = ft_program_below(program, 100);
    if (pick < 35 && program->n_locks)
        add_attempt(program);
    else if (pick < 50 && program->n_conditions)
        ft_program_add(program, pick < 40 ? FT_EVENT_SIGNAL : FT_EVENT_BROADCAST, 0);
    else if (pick < (program->n_blocks ? 60u : 75u) && program->n_locals)
        ft_program_add_local(program);
    else if (pick < 90 && program->n_blocks)
        ft_program_add(program, pick < 72 ? FT_EVENT_FREE : FT_EVENT_ALLOC, some_block(program));
    else
        ft_program_add_update(program, ft_program_below(program, program->n_shared));
}

bool ft_program_add_special(ft_program *program)
{
    static void (*const kinds[])(ft_program *) = {
        [FT_FLAVOUR_LOCKS] = add_locks,     [FT_FLAVOUR_CONDITIONS] = add_conditions,
        [FT_FLAVOUR_SEMAPHORES] = add_unit, [FT_FLAVOUR_BARRIERS] = add_phase,
        [FT_FLAVOUR_MEMORY] = add_memory,
    };
    ft_flavour flavour = program->flavour;
    if (flavour == FT_FLAVOUR_DATA) return false;
    if (flavour == FT_FLAVOUR_BARRIERS && program->arms) return false;
    if (flavour == FT_FLAVOUR_ANY)
        flavour = (ft_flavour)(FT_FLAVOUR_LOCKS +
                               ft_program_below(program, FT_FLAVOUR_ANY - FT_FLAVOUR_LOCKS));
    if (flavour == FT_FLAVOUR_BARRIERS && program->arms) flavour = FT_FLAVOUR_MEMORY;
    kinds[flavour](program);
    return true;
}
