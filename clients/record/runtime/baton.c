#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hot.h"
#include "runtime.h"
#include "trace/event.h"

/* Exit status of a program that deadlocked while it was recorded. */
enum { DEADLOCKED = 88, WATCH_MS = 5, MS = 1000000, STALL_S = 3, SPIN_MS = 1000 };

enum { STAY, GO, ASLEEP }; /* ft_rt_thread.go */

__thread ft_rt_thread *ft_rt_self;

static struct {
    uint32_t lock; /* futex: 0 free, 1 held, 2 held and waited for */
    ft_rt_thread *runner;
    ft_rt_thread *sleeper; /* has been granted the baton and is to be woken when the lock is free */
    ft_rt_thread *threads;
    uint32_t n_threads;
    uint64_t waits;        /* ever, for their order */
    uint64_t random;       /* state; 0: round robin */
    uint64_t hooks;        /* on the long way */
    bool due;              /* a deadlock of some threads is to be logged */
    ft_rt_thread *starved; /* was woken and found what it waited for gone, time and again; */
    const void *missed;    /* that; NULL: nobody was */
} baton;

static long futex(uint32_t *word, int operation, uint32_t value)
{
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void lock(void)
{
    uint32_t seen = 0;
    if (__atomic_compare_exchange_n(&baton.lock, &seen, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&baton.lock, 2, __ATOMIC_ACQUIRE))
        futex(&baton.lock, FUTEX_WAIT_PRIVATE, 2);
}

/* Who is woken may run at once, in the place of the waker, and should not meet the lock then. */
static void unlock(void)
{
    ft_rt_thread *sleeper = baton.sleeper;
    baton.sleeper = NULL;
    if (__atomic_exchange_n(&baton.lock, 0, __ATOMIC_RELEASE) == 2)
        futex(&baton.lock, FUTEX_WAKE_PRIVATE, 1);
    if (sleeper) futex(&sleeper->go, FUTEX_WAKE_PRIVATE, 1);
}

static uint64_t next_random(void) /* xorshift64 */
{
    baton.random ^= baton.random << 13;
    baton.random ^= baton.random >> 7;
    baton.random ^= baton.random << 17;
    return baton.random;
}

static uint32_t turn_length(void)
{
    uint32_t longest = ft_rt_header->turn ? ft_rt_header->turn : 1;
    return baton.random ? 1 + (uint32_t)(next_random() % longest) : longest;
}

/* A ready thread: the next one behind `from`, with a seed any. */
static ft_rt_thread *pick(uint32_t from)
{
    if (ft_rt_replaying) {
        ft_rt_thread *next = ft_rt_replay_next();
        if (ft_rt_replaying) return next; /* else the schedule has just ended */
    }
    uint32_t n = baton.n_threads, start = from + 1;
    if (baton.random) start = (uint32_t)(next_random() % n);
    for (uint32_t i = 0; i < n; i++) {
        ft_rt_thread *t = &baton.threads[(start + i) % n];
        if (t->state == FT_RT_READY) return t;
    }
    return NULL;
}

static void grant(ft_rt_thread *t)
{
    t->state = FT_RT_RUNNING;
    t->left = turn_length();
    ft_rt_hot = FT_RT_NO_THREAD;
    __atomic_store_n(&baton.runner, t, __ATOMIC_RELEASE);
    bool sleeps = __atomic_exchange_n(&t->go, GO, __ATOMIC_ACQ_REL) == ASLEEP;
    if (baton.sleeper && sleeps) futex(&baton.sleeper->go, FUTEX_WAKE_PRIVATE, 1);
    if (sleeps) baton.sleeper = t;
}

static void pass_on(uint32_t from);
static void wake(ft_rt_thread *thread);

/* A thread that is blocked gets up for its handlers when its turn comes. */
void ft_rt_get_up(ft_rt_thread *self)
{
    lock();
    bool due = !ft_rt_replaying || ft_rt_signal_waits(self, ft_rt_replay_handles(self));
    if (self->state == FT_RT_BLOCKED && !self->stuck && due) {
        self->interrupted = true;
        self->state = FT_RT_READY;
        if (!baton.runner) pass_on(self->id);
    }
    unlock();
}

static bool try_to_go(ft_rt_thread *self)
{
    uint32_t seen = GO;
    return __atomic_compare_exchange_n(&self->go, &seen, STAY, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void wait_for_baton(ft_rt_thread *self)
{
    self->parked = true; /* from here on signals get it up themselves */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (ft_rt_signals_wait()) {
        self->parked = false;
        ft_rt_get_up(self);
        self->parked = true;
    }
    for (uint32_t seen = STAY; !try_to_go(self); seen = STAY) {
        __atomic_compare_exchange_n(&self->go, &seen, ASLEEP, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
        futex(&self->go, FUTEX_WAIT_PRIVATE, ASLEEP);
    }
    self->parked = false;
    ft_rt_processor_follow(self);
    if (ft_rt_signals_wait()) self->left = 0; /* the next hook goes the long way */
}

/* Nobody is ready: fine while somebody is outside or waits with a deadline. */
static bool is_deadlock(void)
{
    bool blocked = false;
    for (uint32_t i = 0; i < baton.n_threads; i++) {
        const ft_rt_thread *t = &baton.threads[i];
        if (t->state == FT_RT_BLOCKED && !t->timed) blocked = true;
        if (t->state != FT_RT_BLOCKED && t->state != FT_RT_DONE) return false;
        if (t->state == FT_RT_BLOCKED && t->timed) return false;
    }
    return blocked;
}

static bool is_past(const struct timespec *deadline, const struct timespec *now)
{
    if (now->tv_sec != deadline->tv_sec) return now->tv_sec > deadline->tv_sec;
    return now->tv_nsec >= deadline->tv_nsec;
}

/* With the inputs of another run, time passes where nobody goes on otherwise: the same recording
 * comes out each time. */
static bool end_first_wait(void)
{
    ft_rt_thread *first = NULL;
    for (uint32_t i = 0; i < baton.n_threads; i++) {
        ft_rt_thread *t = &baton.threads[i];
        if (t->state == FT_RT_OUTSIDE) return false;
        if (t->state != FT_RT_BLOCKED || !t->timed) continue;
        if (!first || is_past(&first->deadline, &t->deadline)) first = t;
    }
    if (!first) return false;
    first->timed_out = true;
    wake(first);
    return true;
}

static bool is_starved(void)
{
    bool starved = false;
    for (uint32_t i = 0; i < baton.n_threads; i++) starved |= ft_rt_feed_starves(&baton.threads[i]);
    return starved;
}

/* So that the trace has the deadlock: the thread's request, in its own name. */
static void log_request(ft_rt_thread *t)
{
    ft_rt_thread *self = ft_rt_self;
    if (t->stuck) return;
    ft_rt_self = t;
    FT_RT_LOG(BLOCKED, t->asks.kind, t->asks.flags, t->asks.target, t->asks.site);
    ft_rt_self = self;
    t->stuck = true;
}

static void log_requests(void)
{
    for (uint32_t i = 0; i < baton.n_threads; i++) {
        ft_rt_thread *t = &baton.threads[i];
        if (t->state == FT_RT_BLOCKED && !ft_rt_feed_starves(t)) log_request(t);
    }
}

/* Who alone could let it go on: it joins that thread, or that one has the mutex; NULL: others too.
 */
static ft_rt_thread *holder(const ft_rt_thread *t)
{
    if (t->state != FT_RT_BLOCKED || t->timed || ft_rt_feed_starves(t)) return NULL;
    if (t->asks.kind == FT_EVENT_JOIN) return &baton.threads[t->asks.target];
    if (t->asks.kind != FT_EVENT_ACQUIRE) return NULL;
    const ft_rt_object *o = t->waits_for;
    return o->class == FT_RAW_CLASS_MUTEX ? o->owner : NULL;
}

static bool is_in_cycle(const ft_rt_thread *t)
{
    const ft_rt_thread *at = holder(t);
    for (uint32_t i = 0; at && at != t && i < baton.n_threads; i++) at = holder(at);
    return at == t;
}

static bool is_stuck(const ft_rt_thread *t)
{
    const ft_rt_thread *by = holder(t);
    return !t->stuck && by && (by->stuck || is_in_cycle(t));
}

/* A deadlock of some threads while others go on is in the trace as soon as it is there; those
 * that wait for its threads are stuck too. */
static void log_stuck(ft_rt_thread *self)
{
    if (ft_rt_header->replay || !is_stuck(self)) return;
    ft_rt_hot = FT_RT_NO_THREAD;
    for (ft_rt_thread *t = self; t && !t->stuck; t = holder(t)) log_request(t);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < baton.n_threads; i++) {
            ft_rt_thread *t = &baton.threads[i];
            const ft_rt_thread *by = holder(t);
            if (t->stuck || !by || !by->stuck) continue;
            log_request(t);
            more = true;
        }
    }
}

/* With handlers, one of them could do anything, and is waited for a while: the watchdog says how
 * long. By the thread with the baton, or the watchdog where no thread has it. */
static void log_due(void)
{
    for (uint32_t i = 0; baton.due && i < baton.n_threads; i++) log_stuck(&baton.threads[i]);
    baton.due = false;
}

void ft_rt_log_deadlocks(void)
{
    lock();
    baton.due = true;
    log_due();
    unlock();
}

static void end_deadlocked(void)
{
    if (ft_rt_header->replay) ft_rt_replay_deadlock();
    ft_rt_say("deadlock: every thread waits for another one");
    log_requests();
    ft_rt_log_end(FT_RAW_END_DEADLOCK);
    _exit(DEADLOCKED);
}

/* With the lock held: the baton goes to whoever is ready. */
static void pass_on(uint32_t from)
{
    ft_rt_thread *next = pick(from);
    if (!next && ft_rt_feed_records() && end_first_wait()) next = pick(from);
    if (next) {
        grant(next);
        return;
    }
    ft_rt_hot = FT_RT_NO_THREAD;
    __atomic_store_n(&baton.runner, NULL, __ATOMIC_RELEASE);
    if (ft_rt_replaying || !is_deadlock()) return;
    if (is_starved()) {
        log_requests();
        ft_rt_feed_ends();
    }
    if (!ft_rt_signals_handled()) end_deadlocked();
}

/* With the lock held; gives it back, returns with the baton. */
static void come_back(ft_rt_thread *self)
{
    if (!baton.runner && !ft_rt_replaying) {
        grant(self);
    } else {
        self->state = FT_RT_READY;
        if (!baton.runner) pass_on(self->id);
    }
    unlock();
    wait_for_baton(self);
}

void ft_rt_thread_starts(ft_rt_thread *self)
{
    ft_rt_self = self;
    self->tid = (int)syscall(SYS_gettid);
    wait_for_baton(self);
}

static void take_baton(ft_rt_thread *self)
{
    lock();
    if (baton.runner == self)
        unlock();
    else
        come_back(self);
}

/* Replaying: runs the handlers that the schedule has here, as soon as their signals are there. What
 * a handler masks comes when that one is done. */
static void handle_due(ft_rt_thread *self)
{
    const struct timespec moment = {.tv_nsec = MS / 10};
    int number = 0;
    uint32_t kind = self->kind;
    const void *pc = self->pc;
    while (ft_rt_replaying && !self->takes && (number = ft_rt_replay_handles(self)) &&
           !ft_rt_signals_blocked(number)) {
        ft_rt_turn(self, false);
        self->kind = FT_RT_ANY;
        self->pc = NULL;
        if (ft_rt_signal_waits(self, number))
            ft_rt_signals_deliver(self);
        else
            syscall(SYS_nanosleep, &moment, NULL);
        self->kind = kind;
        self->pc = pc;
    }
}

ft_rt_thread *ft_rt_enter_holding(void)
{
    ft_rt_thread *self = ft_rt_self;
    if (!self || self->inside) return NULL;
    __atomic_store_n(&self->inside, true, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* the watchdog has the other half: steal() */
    if (__atomic_load_n(&baton.runner, __ATOMIC_ACQUIRE) != self) take_baton(self);
    baton.hooks++;
    if (ft_rt_replaying) {
        handle_due(self);
        ft_rt_turn(self, true);
        self->kind = FT_RT_ANY;
        self->pc = NULL;
        self->size = 0;
    }
    return self;
}

ft_rt_thread *ft_rt_enter_within(void)
{
    ft_rt_thread *self = ft_rt_self;
    if (!self || self->inside) return NULL;
    self->inside = true;
    ft_rt_take_back(self);
    ft_rt_flush(self);
    return self;
}

void ft_rt_lend(ft_rt_thread *self)
{
    __atomic_store_n(&self->lent, true, __ATOMIC_RELEASE);
}

void ft_rt_take_back(ft_rt_thread *self)
{
    __atomic_store_n(&self->lent, false, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* as in ft_rt_enter_holding */
    if (__atomic_load_n(&baton.runner, __ATOMIC_ACQUIRE) != self) take_baton(self);
}

void ft_rt_turn(ft_rt_thread *self, bool hook)
{
    while (ft_rt_replaying && !ft_rt_replay_may(self, hook)) {
        lock();
        self->state = FT_RT_READY;
        pass_on(self->id);
        unlock();
        wait_for_baton(self);
    }
}

void ft_rt_go_on(ft_rt_thread *self)
{
    ft_rt_flush(self);
    ft_sym_flush();
    if (self->signals && !self->takes) ft_rt_signals_deliver(self);
    if (!self->left) ft_rt_yield(self);
}

ft_rt_thread *ft_rt_enter(void)
{
    ft_rt_thread *self = ft_rt_enter_holding();
    if (self) ft_rt_go_on(self);
    return self;
}

void ft_rt_leave(ft_rt_thread *self)
{
    if (ft_rt_replaying) ft_rt_turn(self, false);
    if (self->left) self->left--;
    if (!self->left) ft_rt_yield(self);
    self->inside = false;
}

void ft_rt_yield(ft_rt_thread *self)
{
    if (ft_rt_replaying) return;
    lock();
    log_due();
    self->state = FT_RT_READY;
    ft_rt_thread *next = pick(self->id);
    if (next == self) {
        self->state = FT_RT_RUNNING;
        self->left = turn_length();
        if (self->signals) self->left = 0; /* the next hook goes the long way */
        unlock();
        return;
    }
    grant(next);
    unlock();
    wait_for_baton(self);
}

/* Whoever wakes it meanwhile wakes it for good. A handler that waits itself forgets what for. */
static void handle(ft_rt_thread *self)
{
    bool restarts = ft_rt_signals_deliver(self);
    self->interrupted = false;
    self->broke_off = self->waits_for != NULL;
    self->restarts = restarts;
}

bool ft_rt_block(ft_rt_thread *self, const void *what, const struct timespec *deadline)
{
    lock();
    self->state = FT_RT_BLOCKED;
    self->waits_for = what;
    self->waits_since = baton.waits++;
    self->tries++;
    self->timed = deadline != NULL;
    self->timed_out = false;
    if (deadline) self->deadline = *deadline;
    if (!ft_rt_signals_handled()) log_stuck(self);
    pass_on(self->id);
    unlock();
    wait_for_baton(self);
    self->broke_off = false;
    if (self->interrupted) handle(self);
    self->waits_for = NULL;
    if (baton.starved == self) baton.starved = NULL;
    return !self->timed_out;
}

static void wake(ft_rt_thread *thread)
{
    if (!thread->interrupted) thread->state = FT_RT_READY;
    thread->waits_for = NULL;
}

void ft_rt_wake(ft_rt_thread *thread, bool timed_out)
{
    thread->timed_out = timed_out;
    wake(thread);
}

static bool waits(const ft_rt_thread *thread, const void *what)
{
    bool blocked = thread->state == FT_RT_BLOCKED || thread->interrupted;
    return blocked && thread->waits_for == what;
}

void ft_rt_wake_all(const void *what)
{
    enum { PATIENCE = 3 };
    lock();
    for (uint32_t i = 0; i < baton.n_threads; i++) {
        ft_rt_thread *t = &baton.threads[i];
        if (!waits(t, what)) continue;
        wake(t);
        if (t->tries <= PATIENCE) continue;
        baton.starved = t;
        baton.missed = what;
    }
    unlock();
}

void ft_rt_behind_starved(ft_rt_thread *self, const void *what)
{
    while (!ft_rt_replaying && baton.missed == what && baton.starved && baton.starved != self &&
           baton.starved->state == FT_RT_READY)
        ft_rt_yield(self);
}

static ft_rt_thread *longest_waiter(const void *what)
{
    ft_rt_thread *first = NULL;
    for (uint32_t i = 0; i < baton.n_threads; i++) {
        ft_rt_thread *t = &baton.threads[i];
        if (waits(t, what) && (!first || t->waits_since < first->waits_since)) first = t;
    }
    return first;
}

void ft_rt_wake_first(const void *what)
{
    lock();
    ft_rt_thread *first = ft_rt_replaying ? ft_rt_replay_waiter(what) : NULL;
    if (!first) first = longest_waiter(what);
    if (first) wake(first);
    unlock();
}

void ft_rt_outside(ft_rt_thread *self)
{
    ft_rt_signals_deliver(self);
    lock();
    self->state = FT_RT_OUTSIDE;
    pass_on(self->id);
    unlock();
    self->inside = false;
}

ft_rt_thread *ft_rt_thread_new(void)
{
    lock();
    ft_rt_thread *t = NULL;
    if (baton.n_threads < FT_RT_THREADS) {
        t = &baton.threads[baton.n_threads];
        t->id = baton.n_threads;
        t->state = FT_RT_READY;
        t->processor = ft_rt_self ? ft_rt_self->processor : FT_RT_ANYWHERE;
        __atomic_store_n(&baton.n_threads, baton.n_threads + 1, __ATOMIC_RELEASE);
        ft_rt_header->threads = baton.n_threads;
        if (ft_rt_self) {
            t->parent = ft_rt_self->id;
            t->number = ++ft_rt_self->children;
        }
        if (ft_rt_header->replay || ft_rt_header->feed) ft_rt_replay_born(t, ft_rt_self);
    }
    unlock();
    return t;
}

ft_rt_thread *ft_rt_thread_of(pthread_t handle)
{
    for (uint32_t i = baton.n_threads; i-- > 0;)
        if (pthread_equal(baton.threads[i].handle, handle)) return &baton.threads[i];
    return NULL;
}

ft_rt_thread *ft_rt_thread_at(uint32_t id)
{
    return id < baton.n_threads ? &baton.threads[id] : NULL;
}

void ft_rt_thread_done(ft_rt_thread *self)
{
    lock();
    self->state = FT_RT_DONE;
    for (uint32_t i = 0; i < baton.n_threads; i++)
        if (waits(&baton.threads[i], self)) wake(&baton.threads[i]);
    pass_on(self->id);
    unlock();
}

int ft_rt_other_tid(const ft_rt_thread *self)
{
    for (uint32_t i = 0; i < baton.n_threads; i++) {
        const ft_rt_thread *t = &baton.threads[i];
        if (t != self && t->tid && t->state != FT_RT_DONE && !t->stuck) return t->tid;
    }
    return 0;
}

/* ---- the watchdog */

/* True if the kernel has the thread asleep. */
static bool sleeps(int tid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    const char *state = strrchr(text, ')'); /* the name before it may hold anything */
    return state && state[1] && (state[2] == 'S' || state[2] == 'D');
}

static void end_timed_waits(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (uint32_t i = 0; i < baton.n_threads; i++) {
        ft_rt_thread *t = &baton.threads[i];
        if (t->state != FT_RT_BLOCKED || !t->timed || !is_past(&t->deadline, &now)) continue;
        t->timed_out = true;
        wake(t);
    }
}

/* In the runtime, where the baton is not taken from it. */
static bool is_at_work(const ft_rt_thread *t)
{
    return __atomic_load_n(&t->inside, __ATOMIC_SEQ_CST) &&
           !__atomic_load_n(&t->lent, __ATOMIC_SEQ_CST);
}

/* Takes the baton away; false where its runner came to a hook at this very moment, or has come to
 * one since it had that many events left. The runner says that it is inside and then looks whether
 * it still has the baton, without a fence: the barrier here, on all cores, stands for it. */
static bool steal(ft_rt_thread *runner, uint32_t left)
{
    __atomic_store_n(&ft_rt_hot, FT_RT_NO_THREAD, __ATOMIC_SEQ_CST);
    __atomic_store_n(&baton.runner, NULL, __ATOMIC_SEQ_CST);
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    if (!is_at_work(runner) && runner->left == left) return true;
    __atomic_store_n(&baton.runner, runner, __ATOMIC_SEQ_CST);
    return false;
}

/* By which the watchdog sees a runner move. */
typedef struct seen {
    const ft_rt_thread *runner;
    uint64_t hooks;
    uint32_t left;
    int64_t used; /* processor time when it moved, in ms; -1: not looked at yet */
} seen;

static int64_t used_by(const ft_rt_thread *t)
{
    struct timespec used;
    clockid_t clock = (clockid_t)(~(unsigned)t->tid << 3 | 6); /* the kernel's name of it */
    return clock_gettime(clock, &used) ? 0 : (int64_t)used.tv_sec * 1000 + used.tv_nsec / MS;
}

/* It waits in a loop without an access that we see (inline assembly) for what others do, or
 * computes for long in code without hooks. Its last access is done. */
static bool spins(const ft_rt_thread *runner, seen *s)
{
    int64_t used = used_by(runner);
    if (s->used < 0) s->used = used;
    return used - s->used >= SPIN_MS;
}

/* A runner that sleeps in a call that nobody told us of is outside, and so is one that spins. */
static void take_from_sleeper(seen *before)
{
    ft_rt_thread *runner = baton.runner;
    seen now = {runner, baton.hooks, runner ? runner->left : 0, -1};
    bool moved =
        now.runner != before->runner || now.hooks != before->hooks || now.left != before->left;
    if (moved) *before = now;
    if (moved || !runner || !runner->tid || is_at_work(runner)) return;
    if (!sleeps(runner->tid) && !spins(runner, before)) return;
    if (!steal(runner, now.left)) return;
    ft_rt_self = runner; /* whose records these are */
    ft_rt_flush(runner);
    FT_RT_LOG(UNSEEN, runner->id);
    ft_rt_self = NULL;
    runner->state = FT_RT_OUTSIDE;
    pass_on(runner->id);
}

typedef struct stall {
    time_t since; /* 0: somebody goes on */
    bool told;
    uint64_t which; /* waits, of those that wait for each other */
} stall;

/* Each waits for a mutex or an end, and whoever could give it waits too: a handler, which runs and
 * then waits on, gives none of that. */
static bool is_for_ever(void)
{
    for (uint32_t i = 0; i < baton.n_threads; i++) {
        const ft_rt_thread *at = &baton.threads[i];
        if (at->state != FT_RT_BLOCKED) continue;
        for (uint32_t n = 0; at && n < baton.n_threads; n++) at = holder(at);
        if (!at) return false;
    }
    return true;
}

/* Nobody but handlers could let a thread go on, and has not for a while. */
static void look_at_stall(stall *s)
{
    struct timespec now;
    if (baton.runner || ft_rt_replaying || !is_deadlock()) {
        s->since = 0;
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!s->since) *s = (stall){.since = now.tv_sec};
    if (s->told || now.tv_sec - s->since <= STALL_S) return;
    s->told = true;
    if (is_for_ever())
        end_deadlocked();
    else
        ft_rt_stall_tell(baton.threads, baton.n_threads, STALL_S);
}

/* Some wait for each other, and no handler has ended that for a while. */
static void look_at_cycles(stall *s)
{
    struct timespec now;
    uint64_t which = 0;
    for (uint32_t i = 0; i < baton.n_threads; i++)
        if (is_stuck(&baton.threads[i])) which += baton.threads[i].waits_since + 1;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!which || which != s->which) *s = (stall){.since = now.tv_sec, .which = which};
    if (!which || ft_rt_header->replay || now.tv_sec - s->since <= STALL_S) return;
    baton.due = true;
    if (!baton.runner) log_due();
}

/* Main's thread too: the process goes on until all have ended. */
static bool are_done(void)
{
    for (uint32_t i = 0; i < baton.n_threads; i++)
        if (baton.threads[i].state != FT_RT_DONE) return false;
    return true;
}

static void *watch(void *unused)
{
    seen before = {0};
    stall stalled = {.since = 0}, cycles = {.since = 0};
    (void)unused;
    for (bool ended = false; !ended;) {
        struct timespec pause = {.tv_nsec = (long)WATCH_MS * MS};
        syscall(SYS_nanosleep, &pause, NULL);
        lock();
        if (ft_rt_header->replay) ft_rt_replay_watch();
        if (!ft_rt_replaying && !ft_rt_feed_records()) end_timed_waits();
        take_from_sleeper(&before);
        if (!baton.runner) pass_on(0);
        ft_rt_processor_watch(baton.runner);
        look_at_stall(&stalled);
        if (ft_rt_signals_handled()) look_at_cycles(&cycles);
        ended = are_done();
        unlock();
    }
    return NULL; /* as the process's last thread, which ends it */
}

/* The small stack is none where the program's thread-local memory, which lies in it too, is large.
 */
static bool start_watchdog(void)
{
    pthread_t watchdog;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    size_t usual = 0;
    pthread_attr_getstacksize(&attributes, &usual);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    int code = FT_REAL(pthread_create)(&watchdog, &attributes, watch, NULL);
    if (code && !pthread_attr_setstacksize(&attributes, usual))
        code = FT_REAL(pthread_create)(&watchdog, &attributes, watch, NULL);
    pthread_attr_destroy(&attributes);
    return code == 0;
}

void ft_rt_baton_start(void)
{
    baton.threads = ft_rt_map(FT_RT_THREADS * sizeof *baton.threads);
    baton.random = ft_rt_header->seed;
    ft_rt_processor_start();
    ft_rt_thread *self = ft_rt_thread_new();
    self->tid = (int)syscall(SYS_gettid);
    self->handle = pthread_self();
    self->state = FT_RT_RUNNING;
    self->left = turn_length();
    baton.runner = self;
    ft_rt_self = self;
    self->inside = true;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0)) {
        ft_rt_say("this kernel has no membarrier: threads that sleep will stop all others");
        self->inside = false;
        return;
    }
    sigset_t all, before; /* the process's signals are for the program's threads */
    sigfillset(&all);
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &all, &before);
    if (!start_watchdog()) ft_rt_say("no watchdog thread: calls that sleep will stop all threads");
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
    self->inside = false;
}
