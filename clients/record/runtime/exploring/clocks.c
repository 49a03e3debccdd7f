/* Happens-before of the run, by vector clocks: what a thread knows of the others, and what it
 * leaves at the objects. A plain read is ordered behind the write that it reads from (schedulable
 * happens-before: Mathur, Kini, Viswanathan, OOPSLA 2018), so that each race has a schedule in
 * which everything before it is as in this run. An atomic orders whatever memory order the program
 * gives it. */
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "rewinding/kept.h"

typedef uint32_t clock_of[FT_X_THREADS];

static clock_of threads[FT_X_THREADS];

/* What is left at an object; the second one is of readers, who are not ordered among each other. */
typedef struct left {
    uint32_t run; /* another one: nothing */
    clock_of by[2];
} left;

/* In memory that no rewind touches: it is large, and runs use little of it. */
static struct kept {
    uint32_t run;
    left objects[FT_EXPLORING_OBJECTS];
} * kept;

static uint32_t *at(uint32_t object, uint32_t by)
{
    left *l = &kept->objects[object];
    if (l->run != kept->run) *l = (left){.run = kept->run};
    return l->by[by];
}

uint32_t ft_rt_x_clock(uint32_t thread, uint32_t of)
{
    return threads[thread][of];
}

static void join(clock_of to, const clock_of from)
{
    for (uint32_t t = 0; t < ft_rt_x.slot->all_threads; t++)
        if (from[t] > to[t]) to[t] = from[t];
}

static void acquire(uint32_t thread, const clock_of from)
{
    join(threads[thread], from);
}

static void release(uint32_t thread, clock_of to)
{
    join(to, threads[thread]);
    threads[thread][thread]++;
}

static void on_condition(const ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    switch (o->kind) {
    case FT_X_WAIT:
        release(a->thread, at(o->other, 0));
        break;
    case FT_X_WAKE:
        acquire(a->thread, at(o->other, 0));
        if (a->variant == FT_X_IN_TIME) acquire(a->thread, at(o->object, 0));
        break;
    default:
        release(a->thread, at(o->object, 0));
    }
}

static void on_rwlock(const ft_x_action *a)
{
    uint32_t o = a->operation.object;
    switch (a->operation.kind) {
    case FT_X_QUEUE:
        break;
    case FT_X_READ_UNLOCK:
        release(a->thread, at(o, 1));
        break;
    case FT_X_WRITE_UNLOCK:
        release(a->thread, at(o, 0));
        break;
    case FT_X_WRITE_LOCK:
    case FT_X_TRY_WRITE_LOCK:
        acquire(a->thread, at(o, 1));
        acquire(a->thread, at(o, 0));
        break;
    default:
        acquire(a->thread, at(o, 0));
    }
}

static void on_atomic(const ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    bool reads = o->kind != FT_X_STORE || o->value2; /* an exchange */
    bool writes = o->kind != FT_X_LOAD && !(o->kind == FT_X_SWAP && !a->outcome);
    if (reads) acquire(a->thread, at(o->object, 0));
    if (writes) release(a->thread, at(o->object, 0));
}

static void on_thread(const ft_x_action *a)
{
    uint32_t other = a->operation.object;
    if (a->operation.kind == FT_X_CREATE)
        release(a->thread, threads[other]);
    else
        acquire(a->thread, threads[other]);
    if (!threads[other][other]) threads[other][other] = 1;
}

static bool only_releases(ft_x_kind kind)
{
    return kind == FT_X_UNLOCK || kind == FT_X_POST || kind == FT_X_ARRIVE ||
           kind == FT_X_ONCE_END || kind == FT_X_SEND || kind == FT_X_TRY_SEND ||
           kind == FT_X_CLOSE;
}

/* An attempt that failed, or a wait that ended by its limit, learns nothing. */
static bool failed(const ft_x_action *a)
{
    switch (a->operation.kind) {
    case FT_X_TRY_LOCK:
    case FT_X_TRY_TAKE:
    case FT_X_TRY_READ_LOCK:
    case FT_X_TRY_WRITE_LOCK:
    case FT_X_TRY_JOIN:
        return !a->outcome;
    case FT_X_LOCK:
    case FT_X_TAKE:
    case FT_X_READ_LOCK:
    case FT_X_WRITE_LOCK:
    case FT_X_JOIN:
        return a->variant == FT_X_TIMED_OUT;
    default:
        return a->operation.kind == FT_X_COUNT;
    }
}

void ft_rt_x_clock_step(const ft_x_action *a)
{
    uint32_t o = a->operation.object;
    if (failed(a) || !kept) return;
    switch (ft_x_kind_class((ft_x_kind)a->operation.kind)) {
    case FT_X_CONDITION:
        on_condition(a);
        break;
    case FT_X_RWLOCK:
        on_rwlock(a);
        break;
    case FT_X_ATOMIC:
        on_atomic(a);
        break;
    case FT_X_THREAD:
        on_thread(a);
        break;
    case FT_X_MUTEX:
    case FT_X_SEMAPHORE:
    case FT_X_BARRIER:
    case FT_X_ONCE:
    case FT_X_CHANNEL:
        if (only_releases((ft_x_kind)a->operation.kind))
            release(a->thread, at(o, 0));
        else
            acquire(a->thread, at(o, 0));
        break;
    case FT_X_NO_OBJECT:
    case FT_X_PROCESS:
    case FT_X_MEMORY:
        break;
    }
}

void ft_rt_x_clock_edge(uint32_t thread, uint32_t object, bool gives)
{
    if (!kept) return;
    if (gives)
        release(thread, at(object, 0));
    else
        acquire(thread, at(object, 0));
}

void ft_rt_x_clock_write(uint32_t thread, uint32_t to[FT_X_THREADS])
{
    for (uint32_t t = 0; t < ft_rt_x.slot->all_threads; t++) to[t] = threads[thread][t];
    threads[thread][thread]++;
}

void ft_rt_x_clock_read(uint32_t thread, const uint32_t from[FT_X_THREADS])
{
    acquire(thread, from);
}

bool ft_rt_x_clocks_begin(void)
{
    threads[0][0] = 1;
    if (!kept) kept = ft_rt_kept(sizeof *kept);
    return kept;
}

void ft_rt_x_clocks_new_run(void)
{
    if (kept) kept->run++;
}
