/* Turns, objects and places; and the calls of threads, conditions, barriers and once. */
#include "constrained/constrained.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"

enum { SPINS = 200, LONGEST_DELAY = 50000 /* ns */ };

bool ft_rt_constrained;
ft_rt_constrained_run ft_rt_c;

static pthread_key_t key;
static __thread ft_rt_follower *self;

/* ---- sleeping */

long ft_rt_c_futex(uint32_t *word, int operation, uint32_t value, const struct timespec *limit)
{
    return syscall(SYS_futex, word, operation, value, limit, NULL, 0);
}

static void wake_all(void)
{
    for (uint32_t t = 0; t < ft_rt_c.schedule->n_threads; t++)
        ft_rt_c_futex(&ft_rt_c.threads[t].done, FUTEX_WAKE, INT32_MAX, NULL);
    ft_rt_c_futex(&ft_rt_c.head->begun, FUTEX_WAKE, INT32_MAX, NULL);
}

bool ft_rt_c_await(const ft_constrained_edge *edge)
{
    const struct timespec look = {.tv_nsec = 50000000};
    ft_constrained_thread *t = &ft_rt_c.threads[edge->thread];
    for (uint32_t spins = 0;; spins++) {
        uint32_t done = __atomic_load_n(&t->done, __ATOMIC_ACQUIRE);
        if (done >= edge->n) return true;
        if (ft_rt_c_is_free()) return false;
        if (spins < SPINS) continue;
        __atomic_store_n(&t->sleeps, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&t->done, __ATOMIC_SEQ_CST) == done)
            ft_rt_c_futex(&t->done, FUTEX_WAIT, done, &look);
    }
}

static void delay(void)
{
    if (!ft_rt_c.head->delays) return;
    self->random = self->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    const struct timespec pause = {.tv_nsec = (long)((self->random >> 33) % LONGEST_DELAY)};
    if (self->random >> 62) syscall(SYS_nanosleep, &pause, NULL);
}

static bool is_in_program(const void *pc)
{
    return (uintptr_t)pc >= ft_rt_c.base && (uintptr_t)pc < ft_rt_c.end;
}

/* ---- leaving the schedule */

static void say(ft_constrained_outcome outcome)
{
    static const char *const texts[FT_CONSTRAINED_OUTCOMES] = {
#define FT_ROW(symbol, meaning) meaning,
        FT_CONSTRAINED_OUTCOME_TABLE(FT_ROW)
#undef FT_ROW
    };
    ft_rt_say(texts[outcome]);
}

static void leave_schedule(ft_constrained_outcome outcome, ft_constrained_operation found,
                           const void *pc)
{
    uint32_t before = FT_CONSTRAINED_RUNNING_OUTCOME, nobody = 0;
    const ft_constrained_thread *t = &ft_rt_c.threads[self->thread];
    if (__atomic_compare_exchange_n(&ft_rt_c.head->outcome, &before, outcome, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        ft_rt_c.head->thread = self->thread;
        ft_rt_c.head->node = t->done < t->n ? t->first + t->done : FT_CONSTRAINED_NONE;
        ft_rt_c.head->found = found;
        ft_rt_c.head->pc = is_in_program(pc) ? (uintptr_t)pc - ft_rt_c.base : 0;
        if (ft_rt_c.head->stops) say(outcome);
    }
    if (ft_rt_c.head->stops) {
        syscall(SYS_exit_group, FT_CONSTRAINED_STOPPED);
        __builtin_unreachable();
    }
    if (__atomic_compare_exchange_n(&ft_rt_c.left, &nobody, 1, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        wake_all();
}

void ft_rt_c_uncovered(ft_constrained_outcome outcome)
{
    self->thread = 0; /* its number in the next epoch is none of the schedule at hand */
    leave_schedule(outcome, FT_CONSTRAINED_OPERATIONS, NULL);
}

/* ---- matching */

static bool is_there(const ft_constrained_node *n, const void *pc)
{
    uintptr_t at = (uintptr_t)pc - 1 - ft_rt_c.base;
    if (!n->n_ranges || !is_in_program(pc)) return true;
    for (uint32_t i = 0; i < n->n_ranges; i++) {
        const ft_constrained_range *r = &ft_rt_c.all.ranges[n->first_range + i];
        if (at >= r->from && at < r->to) return true;
    }
    return false;
}

/* A schedule names the 8-byte cell of an atomic operation: its object is any address in there. */
static bool is_same(uint32_t operation, uintptr_t known, uintptr_t address)
{
    enum { CELL = 8 };
    bool atomic =
        operation >= FT_CONSTRAINED_LOAD_OPERATION && operation <= FT_CONSTRAINED_SWAP_OPERATION;
    uintptr_t apart = known < address ? address - known : known - address;
    return apart < (atomic ? CELL : 1);
}

/* The operations on one object are ordered, so that no two threads bind one name at once. */
static bool is_object(const ft_constrained_node *n, uintptr_t address)
{
    if (!n->object || !address) return true;
    uintptr_t *bound = &ft_rt_c.bound[n->object];
    uintptr_t known = __atomic_load_n(bound, __ATOMIC_ACQUIRE);
    if (known) return is_same(n->operation, known, address);
    for (uint32_t o = 1; o <= ft_rt_c.head->objects; o++)
        if (__atomic_load_n(&ft_rt_c.bound[o], __ATOMIC_RELAXED) == address) return false;
    __atomic_store_n(bound, address, __ATOMIC_RELEASE);
    return true;
}

/* NULL: its nodes are used up. */
static ft_constrained_node *next_node(void)
{
    const ft_constrained_thread *t = &ft_rt_c.threads[self->thread];
    return t->done < t->n ? &ft_rt_c.all.nodes[t->first + t->done] : NULL;
}

static bool matches(const ft_constrained_node *n, ft_constrained_operation operation,
                    const void *pc)
{
    ft_constrained_outcome wrong = FT_CONSTRAINED_RUNNING_OUTCOME;
    if (!n)
        wrong = FT_CONSTRAINED_MORE_OUTCOME;
    else if (n->operation != operation)
        wrong = FT_CONSTRAINED_KIND_OUTCOME;
    else if (!is_there(n, pc))
        wrong = FT_CONSTRAINED_PLACE_OUTCOME;
    if (!wrong) return true;
    leave_schedule(wrong, operation, pc);
    return false;
}

/* Does another thread's node end the process? */
static bool ends_elsewhere(void)
{
    const ft_constrained_schedule *s = ft_rt_c.schedule;
    for (uint32_t i = 0; i < s->n_threads; i++) {
        const ft_constrained_thread *t = &ft_rt_c.threads[i];
        if (i != self->thread && t->n &&
            ft_rt_c.all.nodes[t->first + t->n - 1].operation == FT_CONSTRAINED_EXIT_OPERATION)
            return true;
    }
    return false;
}

/* The thread's nodes are used up: it stands still until the process ends. */
static void await_exit(void)
{
    const struct timespec look = {.tv_nsec = 50000000};
    uint32_t begun = __atomic_load_n(&ft_rt_c.head->begun, __ATOMIC_ACQUIRE);
    while (!ft_rt_c_is_free()) ft_rt_c_futex(&ft_rt_c.head->begun, FUTEX_WAIT, begun, &look);
}

/* Can a thread wait forever before the operation? */
static bool may_wait(ft_constrained_operation operation)
{
    static const bool waits[FT_CONSTRAINED_OPERATIONS] = {
        [FT_CONSTRAINED_JOIN_OPERATION] = true,      [FT_CONSTRAINED_LOCK_OPERATION] = true,
        [FT_CONSTRAINED_READ_LOCK_OPERATION] = true, [FT_CONSTRAINED_WRITE_LOCK_OPERATION] = true,
        [FT_CONSTRAINED_WAKE_OPERATION] = true,      [FT_CONSTRAINED_TAKE_OPERATION] = true,
        [FT_CONSTRAINED_LEAVE_OPERATION] = true,     [FT_CONSTRAINED_ONCE_OPERATION] = true};
    return waits[operation];
}

/* The schedule ends with threads that wait: the thread stands still, and the last one that comes to
 * its wait ends the run. */
static void wait_forever(ft_constrained_operation operation, const void *pc)
{
    uint32_t n = __atomic_add_fetch(&ft_rt_c.arrived, 1, __ATOMIC_ACQ_REL);
    if (n == ft_rt_c.schedule->awaited)
        leave_schedule(FT_CONSTRAINED_BLOCKED_OUTCOME, operation, pc);
    else
        await_exit();
}

bool ft_rt_c_enter(ft_constrained_operation operation, const volatile void *object, const void *pc)
{
    if (!self || self->open || ft_rt_c_is_free()) return false;
    delay();
    ft_constrained_node *n = next_node();
    while (!n && ft_rt_c.schedule->next != FT_CONSTRAINED_NONE) {
        if (!ft_rt_c_arrive(self, pc)) return false;
        n = next_node();
    }
    if (!n && ends_elsewhere()) return await_exit(), false;
    if (!n && ft_rt_c.schedule->awaited && may_wait(operation))
        return wait_forever(operation, pc), false;
    if (!matches(n, operation, pc)) return false;
    for (uint32_t i = 0; i < n->n_edges; i++)
        if (!ft_rt_c_await(&ft_rt_c.all.edges[n->first_edge + i])) return false;
    if (is_object(n, (uintptr_t)object)) return self->open = true;
    leave_schedule(FT_CONSTRAINED_OBJECT_OUTCOME, operation, pc);
    return false;
}

void ft_rt_c_leave(void)
{
    ft_constrained_thread *t = &ft_rt_c.threads[self->thread];
    FT_REQUIRE(self->open && t->done < t->n);
    if (ft_rt_c.head->notes)
        ft_rt_c.all.nodes[t->first + t->done].when =
            __atomic_add_fetch(&ft_rt_c.head->clock, 1, __ATOMIC_SEQ_CST);
    self->open = false;
    __atomic_store_n(&t->done, t->done + 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&t->sleeps, __ATOMIC_SEQ_CST)) return;
    __atomic_store_n(&t->sleeps, 0, __ATOMIC_SEQ_CST);
    ft_rt_c_futex(&t->done, FUTEX_WAKE, INT32_MAX, NULL);
}

bool ft_rt_c_times_out(void)
{
    FT_REQUIRE(self->open);
    return next_node()->timed_out;
}

/* ---- conditions, barriers, once */

bool ft_rt_c_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int *result, const void *pc)
{
    if (!ft_rt_c_enter(FT_CONSTRAINED_WAIT_OPERATION, condition, pc)) return false;
    FT_REAL(pthread_mutex_unlock)(mutex);
    ft_rt_c_leave();
    bool woken = ft_rt_c_enter(FT_CONSTRAINED_WAKE_OPERATION, condition, pc);
    *result = woken && ft_rt_c_times_out() ? ETIMEDOUT : 0;
    FT_REAL(pthread_mutex_lock)(mutex);
    if (woken) ft_rt_c_leave();
    return true; /* not woken: as if by a spurious wake-up */
}

bool ft_rt_c_barrier(pthread_barrier_t *barrier, int *result, const void *pc)
{
    if (!ft_rt_c_enter(FT_CONSTRAINED_ARRIVE_OPERATION, barrier, pc)) return false;
    ft_rt_c_leave();
    if (!ft_rt_c_enter(FT_CONSTRAINED_LEAVE_OPERATION, barrier, pc)) return false;
    *result = ft_rt_c_times_out() ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
    ft_rt_c_leave();
    return true;
}

/* The thread's innermost call; the initialiser may call once, too. */
typedef struct once_call {
    void (*initialise)(void);
    bool done;
} once_call;

static __thread once_call *calling;

static void initialise_now(void)
{
    once_call *call = calling;
    call->initialise();
    call->done = true;
}

bool ft_rt_c_once(pthread_once_t *once, void (*initialise)(void), const void *pc)
{
    if (!is_in_program(pc)) return false; /* the unwinder's, say, where a thread exits */
    if (!ft_rt_c_enter(FT_CONSTRAINED_ONCE_OPERATION, once, pc)) return false;
    ft_rt_c_leave();
    once_call call = {.initialise = initialise}, *outer = calling;
    calling = &call;
    FT_REAL(pthread_once)(once, initialise_now);
    calling = outer;
    if (call.done && ft_rt_c_enter(FT_CONSTRAINED_ONCE_DONE_OPERATION, once, pc)) ft_rt_c_leave();
    return true;
}

/* ---- threads */

static void pass(ft_constrained_operation operation)
{
    if (ft_rt_c_enter(operation, NULL, NULL)) ft_rt_c_leave();
}

static void end_thread(void *round)
{
    enum { ROUNDS = 3 };
    uintptr_t n = (uintptr_t)round;
    if (n < ROUNDS) {
        pthread_setspecific(key, (void *)(n + 1));
        return;
    }
    if (self) pass(FT_CONSTRAINED_END_OPERATION);
    self = NULL;
}

static void *run(void *argument)
{
    self = argument;
    pthread_setspecific(key, (void *)1);
    pass(FT_CONSTRAINED_BEGIN_OPERATION);
    void *result = self->start(self->argument);
    self->result = (uintptr_t)result;
    self->returned = true;
    return result;
}

/* A child is its thread of the schedule before it runs. */
static ft_rt_follower *new_follower(uint32_t thread)
{
    for (uint32_t i = 0;; i = (i + 1) % FT_RT_C_FOLLOWERS) {
        uint32_t nobody = 0;
        ft_rt_follower *f = &ft_rt_c.followers[i];
        if (!__atomic_compare_exchange_n(&f->used, &nobody, 1, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            continue;
        __atomic_store_n(&ft_rt_c.at[thread], f, __ATOMIC_RELEASE);
        return f;
    }
}

bool ft_rt_c_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                    void *argument, int *result, const void *pc)
{
    if (!ft_rt_c_enter(FT_CONSTRAINED_CREATE_OPERATION, NULL, pc)) return false;
    uint32_t peer = next_node()->peer;
    self->created++;
    if (peer >= ft_rt_c.schedule->n_threads || ft_rt_c.threads[peer].parent != self->thread ||
        ft_rt_c.threads[peer].nth != self->created) {
        self->open = false;
        leave_schedule(FT_CONSTRAINED_THREAD_OUTCOME, FT_CONSTRAINED_CREATE_OPERATION, pc);
        return false;
    }
    ft_rt_follower *child = new_follower(peer);
    *child = (ft_rt_follower){.used = 1,
                              .thread = peer,
                              .random = ft_rt_c.head->delays * (peer + 2),
                              .start = start,
                              .argument = argument};
    *result = FT_REAL(pthread_create)(&child->handle, attributes, run, child);
    __atomic_store_n(&child->known, !*result, __ATOMIC_RELEASE);
    *handle = child->handle;
    ft_rt_c_leave();
    return true;
}

static bool is_peer(uint32_t peer, pthread_t handle)
{
    if (peer >= ft_rt_c.schedule->n_threads) return false;
    const ft_rt_follower *f = __atomic_load_n(&ft_rt_c.at[peer], __ATOMIC_ACQUIRE);
    return f && __atomic_load_n(&f->known, __ATOMIC_ACQUIRE) && pthread_equal(f->handle, handle);
}

bool ft_rt_c_join(pthread_t handle, void **result, int *error, const void *pc)
{
    if (!ft_rt_c_enter(FT_CONSTRAINED_JOIN_OPERATION, NULL, pc)) return false;
    if (!is_peer(next_node()->peer, handle)) {
        self->open = false;
        leave_schedule(FT_CONSTRAINED_THREAD_OUTCOME, FT_CONSTRAINED_JOIN_OPERATION, pc);
        return false;
    }
    *error = FT_REAL(pthread_join)(handle, result);
    ft_rt_c_leave();
    return true;
}

/* ---- the start and the end */

static int find_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (*info->dlpi_name) return 0;
    ft_rt_c.base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > ft_rt_c.end) ft_rt_c.end = end;
    }
    return 1;
}

static bool map(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return false;
    bool known = !FT_REAL(fstat)(fd, &about) && (size_t)about.st_size >= sizeof *ft_rt_c.head;
    void *at = known ? mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                     : MAP_FAILED;
    close(fd);
    if (at == MAP_FAILED) return false;
    ft_constrained_header *head = at;
    if (!memcmp(head->magic, FT_CONSTRAINED_MAGIC, sizeof head->magic) && !head->taken &&
        head->bytes == (uint64_t)about.st_size) {
        ft_rt_c.head = head;
        return true;
    }
    munmap(at, (size_t)about.st_size);
    return false;
}

static void in_child(void)
{
    ft_rt_constrained = false;
    self = NULL;
}

bool ft_rt_c_open(void)
{
    const char *path = getenv(FT_CONSTRAINED_VARIABLE);
    if (!path || !map(path)) return false;
    ft_rt_c.all = ft_constrained_tables_of(ft_rt_c.head);
    ft_rt_c.bound = ft_rt_map((ft_rt_c.head->objects + 1) * sizeof *ft_rt_c.bound);
    dl_iterate_phdr(find_program, NULL);
    if (ft_rt_c.head->locals) ft_rt_c_frames_open();
    if (pthread_key_create(&key, end_thread)) return false;
    pthread_atfork(NULL, NULL, in_child);
    ft_rt_c.head->taken = 1;
    ft_rt_c_install(ft_rt_c.head->first);
    self = new_follower(0);
    *self = (ft_rt_follower){
        .used = 1, .random = ft_rt_c.head->delays * 2, .handle = pthread_self(), .known = true};
    pthread_setspecific(key, (void *)1); /* it may leave by pthread_exit */
    ft_rt_constrained = true;
    pass(FT_CONSTRAINED_BEGIN_OPERATION);
    return true;
}

/* By the thread's node for it, or, where the schedules allow it, before. */
static void end_process(void)
{
    const ft_constrained_node *n = next_node();
    bool goes_on = !n && ft_rt_c.schedule->next != FT_CONSTRAINED_NONE;
    bool ends = goes_on || (n && n->operation == FT_CONSTRAINED_EXIT_OPERATION);
    if (ends && !ft_rt_c.head->prefix)
        pass(FT_CONSTRAINED_EXIT_OPERATION);
    else if (!ends && !ft_rt_c.head->prefix)
        leave_schedule(FT_CONSTRAINED_EARLY_OUTCOME, FT_CONSTRAINED_EXIT_OPERATION, NULL);
}

/* The end of the process. A thread that has ended is the last one: all have carried out their
 * nodes. */
void ft_rt_c_exit(void)
{
    uint32_t before = FT_CONSTRAINED_RUNNING_OUTCOME;
    if (!ft_rt_constrained || ft_rt_c_is_free()) return;
    if (self) end_process();
    __atomic_compare_exchange_n(&ft_rt_c.head->outcome, &before, FT_CONSTRAINED_FOLLOWED_OUTCOME,
                                false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    ft_rt_constrained = false;
}
