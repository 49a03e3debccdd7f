/* The grade that makes no process for a run: rewinding (rewinding/rewinding.h). A server for each
 * slot copies the process that stands at its first choice; the copy serves run after run, until
 * one ends it or leaves something behind that copying memory does not take back. Then the next copy
 * goes on. */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exploring/needs.h"
#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "rewinding/kept.h"
#include "rewinding/rewinding.h"

enum { RESERVE = 8, TRIED = 16, DEARER = 2 };

/* Rewound, like the threads themselves. */
static ft_rt_context *contexts[FT_X_THREADS];
static uint32_t made; /* contexts, in this run */

/* Outlives the runs. */
static struct kept {
    ft_exploring_slot *slot; /* of the run at hand */
    const uint32_t *moves;   /* its steps */
    uint64_t runs;
    uint32_t reserve;      /* contexts that were made before the first run */
    uint32_t signal_stack; /* the one in use: ft_rt_x_crashed */
} * kept;

/* ---- turns */

/* The only kernel thread has one stack for signals, and a thread that crashed stands on it: the
 * others get another one. */
static void begin_turn(void)
{
    if (kept->signal_stack == ft_rt_x_crashed) return;
    kept->signal_stack = ft_rt_x_crashed;
    ft_rt_x_failures_thread(ft_rt_x_crashed);
}

static void *run_context(void *argument)
{
    begin_turn();
    return ft_rt_x_thread_begins(argument);
}

/* A context beyond the reserve costs a kernel thread in each run: the next process has more. */
static void note_made(void)
{
    uint32_t *wanted = &ft_rt_x_header->rewinding.reserve, more = kept->reserve * 2;
    if (++made <= kept->reserve || kept->reserve == FT_RT_CONTEXTS) return;
    if (more > FT_RT_CONTEXTS) more = FT_RT_CONTEXTS;
    if (more > *wanted) *wanted = more;
    ft_rt_rewinding_spoil("it creates more threads than there were in reserve");
}

static int create(ft_rt_x_thread *thread, const pthread_attr_t *attributes)
{
    bool foreign = false;
    int error = ft_rt_context_make(&contexts[thread->number], &thread->handle, attributes,
                                   run_context, thread, &foreign);
    if (foreign) ft_rt_rewinding_spoil("it creates a thread with a very large stack");
    note_made();
    return error;
}

static void hand_over(ft_rt_x_thread *from, ft_rt_x_thread *to)
{
    FT_REQUIRE(from != to);
    ft_rt_context_switch(contexts[from->number], contexts[to->number]);
    begin_turn();
}

static void leave(ft_rt_x_thread *from, ft_rt_x_thread *to)
{
    FT_REQUIRE(from != to);
    if (from->number) ft_rt_context_ends(contexts[from->number]);
    ft_rt_context_switch(contexts[from->number], contexts[to->number]);
    __builtin_unreachable();
}

static int join(ft_rt_x_thread *thread, void **result)
{
    return ft_rt_context_join(thread->handle, result);
}

static int detach(ft_rt_x_thread *thread)
{
    return thread->number ? ft_rt_context_detach(thread->handle)
                          : FT_REAL(pthread_detach)(thread->handle);
}

/* ---- runs */

/* From the next run on each is a process of its own. */
void ft_rt_x_fall_back(const char *why)
{
    ft_exploring_header *h = ft_rt_x_header;
    if (!h->why[0]) ft_rt_x_copy_text(h->why, sizeof h->why, why);
    __atomic_store_n(&h->grade, FT_EXPLORING_FORK, __ATOMIC_RELEASE);
}

static void run_ended(void)
{
    kept->runs++;
    if (!kept->slot->is_complete) ft_rt_world_empties_output();
    ft_rt_x_report(kept->slot, 0);
}

/* Where most processes serve one run alone, nothing is gained. */
static void note_spoilt(const char *why)
{
    ft_exploring_header *h = ft_rt_x_header;
    uint64_t runs = __atomic_add_fetch(&h->rewinding.runs, kept->runs, __ATOMIC_RELAXED);
    if (!h->rewinding.why[0]) ft_rt_x_copy_text(h->rewinding.why, sizeof h->rewinding.why, why);
    uint64_t spoilt = __atomic_add_fetch(&h->rewinding.spoilt, 1, __ATOMIC_RELAXED);
    if (spoilt >= TRIED && runs < spoilt * 2) ft_rt_x_fall_back(why);
}

/* Copying much memory back may take longer than to copy the process, whose memory is copied only
 * where it is written. */
static void note_cost(void)
{
    const ft_exploring_header *h = ft_rt_x_header;
    uint64_t fork = __atomic_load_n(&h->rewinding.fork_ns, __ATOMIC_RELAXED);
    if (kept->runs != TRIED || ft_rt_rewinding_cost() < fork * DEARER) return;
    ft_rt_x_fall_back("copying its memory back takes longer than to copy the process");
    syscall(SYS_exit_group, 0);
}

static void next_run(const char *spoilt)
{
    if (spoilt) {
        note_spoilt(spoilt);
        syscall(SYS_exit_group, 0);
    }
    note_cost();
    kept->slot = ft_rt_x_await_task();
    if (!kept->slot) syscall(SYS_exit_group, 0);
    kept->moves = &kept->slot->n_steps;
}

/* Never called: the exploration's own handlers are there already (failures.c). */
static void crashed(int number, const siginfo_t *info)
{
    (void)number;
    (void)info;
}

static void hung(void)
{
    kept->slot->hangs = 1;
    ft_rt_rewinding_end();
}

/* In a copy of the process. Returns once for each run. */
static const char *begin(ft_exploring_slot *s)
{
    kept = ft_rt_kept(sizeof *kept);
    if (!kept) return "there is no memory for it (ulimit -v)";
    kept->slot = s;
    kept->moves = &s->n_steps;
    kept->reserve = ft_rt_x_header->rewinding.reserve;
    if (kept->reserve < RESERVE) kept->reserve = RESERVE;
    contexts[0] = ft_rt_rewinding_first();
    ft_rt_world_opens_output();
    uint32_t patience = ft_rt_x_header->options.patience_ms;
    const ft_rt_rewinding_calls calls = {run_ended,
                                         next_run,
                                         crashed,
                                         hung,
                                         &kept->moves,
                                         .patience_ms = patience ? patience : UINT32_MAX,
                                         .reserve = kept->reserve,
                                         .track = true};
    return ft_rt_rewinding_start(&calls);
}

/* The server has taken the task already for a copy that makes one run. */
static ft_exploring_slot *serve(void)
{
    ft_exploring_slot *s = ft_rt_x_serve_copies();
    bool once = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == FT_EXPLORING_RUNNING;
    const char *why = once ? NULL : begin(s);
    if (!once && !why) return kept->slot;
    if (why) {
        ft_rt_x_fall_back(why);
        s = ft_rt_x_await_task();
        if (!s) syscall(SYS_exit_group, 0);
    }
    ft_rt_x_grade_used = &ft_rt_x_grade_fork;
    return s;
}

const ft_rt_x_grade ft_rt_x_grade_rewind = {.serve = serve,
                                            .create = create,
                                            .hand_over = hand_over,
                                            .leave = leave,
                                            .join = join,
                                            .detach = detach,
                                            .end_run = ft_rt_rewinding_end};
