/* All threads of the program on one processor. Only one of them runs at a time. Handing the baton
 * to a thread that sleeps on another processor takes 6 us and more, on the same one a switch of 1
 * to 2 us. With turns of 1000 accesses a tight loop takes half of the time (tests/bench/record).
 *
 * Another process may want that processor too. The threads are then let free for a moment, to run
 * where the kernel puts them, and afterwards stay where one of them was put. A thread that asks for
 * its processors, or starts a process, has those that the program was given. */
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "scheduling/baton.h"
#include "state/thread.h"

/* Where threads are placed, if this is not the number of a processor: */
enum {
    ANYWHERE = FT_RT_ANYWHERE,
    CHOOSE = -2, /* where the next one to go on is */
    NEVER = -3   /* as ANYWHERE, from now on */
};
/* Counted in looks of the watchdog: the least time between two moves, and the time that threads are
 * free. */
enum { PATIENCE = 20, FREE = 2 };
enum { NS = 1000000000, PROCESSORS = 16384, WORD = 8 * sizeof(unsigned long) };

static struct {
    unsigned long all[PROCESSORS / WORD]; /* that the program was given */
    long bytes;                           /* of them that the kernel knows */
    int where;
    unsigned looks;             /* since that changed */
    bool busy;                  /* a thread had the baton at the last look */
    struct timespec wall, used; /* then */
} place = {.where = NEVER};

static bool allow(int tid, const unsigned long *processors)
{
    int before = errno; /* the program's */
    bool may = syscall(SYS_sched_setaffinity, tid, place.bytes, processors) == 0;
    errno = before;
    return may;
}

static bool allow_one(int processor)
{
    unsigned long one[PROCESSORS / WORD] = {0};
    if (processor < 0 || processor >= PROCESSORS) return false;
    one[processor / (int)WORD] = 1UL << processor % (int)WORD;
    return allow(0, one);
}

void ft_rt_processor_start(void)
{
    size_t n = 0;
    place.bytes = syscall(SYS_sched_getaffinity, 0, sizeof place.all, place.all);
    if (place.bytes <= 0) return;
    for (size_t i = 0; i < PROCESSORS / WORD; i++) n += (size_t)__builtin_popcountl(place.all[i]);
    assert(n >= 1 && n <= PROCESSORS);
    if (n > 1) place.where = CHOOSE;
}

static int where(void)
{
    return __atomic_load_n(&place.where, __ATOMIC_RELAXED);
}

static void belong(int to)
{
    __atomic_store_n(&place.where, to, __ATOMIC_RELAXED);
}

void ft_rt_processor_follow(ft_rt_thread *self)
{
    int to = where();
    FT_REQUIRE(self == ft_rt_self); /* the kernel is asked for the calling thread */
    if (to == CHOOSE) belong(to = FT_REAL(sched_getcpu)());
    if (to == self->processor || to == NEVER || self->leaves) return;
    if (to == ANYWHERE ? !allow(0, place.all) : !allow_one(to)) belong(NEVER);
    self->processor = to;
}

static void set_free(ft_rt_thread *t)
{
    if (t && t->processor != ANYWHERE && allow(t->tid, place.all)) t->processor = ANYWHERE;
}

void ft_rt_processor_in_child(void)
{
    if (where() != NEVER) allow(0, place.all);
    belong(NEVER);
}

static int64_t since(struct timespec *before, clockid_t clock)
{
    struct timespec last = *before;
    clock_gettime(clock, before);
    return (int64_t)(before->tv_sec - last.tv_sec) * NS + (before->tv_nsec - last.tv_nsec);
}

void ft_rt_processor_watch(ft_rt_thread *runner)
{
    int64_t wall = since(&place.wall, CLOCK_MONOTONIC);
    int64_t used = since(&place.used, CLOCK_PROCESS_CPUTIME_ID);
    bool was_busy = place.busy;
    assert(!runner || runner->state == FT_RT_RUNNING);
    place.busy = runner != NULL;
    place.looks++;
    if (where() == ANYWHERE && place.looks >= FREE) {
        belong(CHOOSE);
        place.looks = 0;
    } else if (where() >= 0 && place.looks >= PATIENCE && was_busy && runner &&
               used < wall / 4 * 3) {
        belong(ANYWHERE);
        set_free(runner);
        place.looks = 0;
    }
}

void ft_rt_processor_leave(void)
{
    if (where() == NEVER || !ft_rt_self) return;
    ft_rt_self->leaves = true;
    set_free(ft_rt_self);
}

void ft_rt_processor_return(void)
{
    if (ft_rt_self) ft_rt_self->leaves = false;
}

void ft_rt_processor_show(ft_rt_thread *t)
{
    if (where() != NEVER) set_free(t);
}

void ft_rt_processor_give_up(void)
{
    if (where() == NEVER) return;
    belong(NEVER);
    for (uint32_t i = 0; ft_rt_thread_at(i); i++) set_free(ft_rt_thread_at(i));
}
