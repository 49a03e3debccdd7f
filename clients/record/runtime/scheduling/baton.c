/* The baton: turns, blocking and waking. Its lock is held only for moments, its runner holds the
 * baton from hook to hook without a lock. */
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/hot.h"
#include "log/log.h"
#include "log/needs.h"
#include "scheduling/baton.h"
#include "scheduling/needs.h"
#include "state/thread.h"
#include "trace/event.h"

enum { STAY, GO, ASLEEP }; /* ft_rt_thread.go */

__thread ft_rt_thread *ft_rt_self;

struct ft_rt_baton ft_rt_baton;

static long futex(uint32_t *word, int operation, uint32_t value)
{
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

void ft_rt_baton_lock(void)
{
    uint32_t seen = 0;
    if (__atomic_compare_exchange_n(&ft_rt_baton.lock, &seen, 1, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(&ft_rt_baton.lock, 2, __ATOMIC_ACQUIRE))
        futex(&ft_rt_baton.lock, FUTEX_WAIT_PRIVATE, 2);
}

/* The woken thread may run at once, in place of the waker, and should not find the lock held. */
void ft_rt_baton_unlock(void)
{
    ft_rt_thread *sleeper = ft_rt_baton.sleeper;
    FT_REQUIRE(ft_rt_baton.lock);
    FT_CHECK(ft_rt_baton_is_sound());
    ft_rt_baton.sleeper = NULL;
    if (__atomic_exchange_n(&ft_rt_baton.lock, 0, __ATOMIC_RELEASE) == 2)
        futex(&ft_rt_baton.lock, FUTEX_WAKE_PRIVATE, 1);
    if (sleeper) futex(&sleeper->go, FUTEX_WAKE_PRIVATE, 1);
}

bool ft_rt_baton_is_sound(void)
{
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        const ft_rt_thread *t = &ft_rt_baton.threads[i];
        if (t->id != i || t->state > FT_RT_DONE) return false;
        if (t->state == FT_RT_RUNNING && t != ft_rt_baton.runner) return false;
        if (t->state == FT_RT_BLOCKED && !t->waits_for) return false;
    }
    return !ft_rt_baton.runner || ft_rt_baton.runner->state == FT_RT_RUNNING;
}

static uint64_t next_random(void) /* xorshift64 */
{
    assert(ft_rt_baton.random); /* 0 has no other successor */
    ft_rt_baton.random ^= ft_rt_baton.random << 13;
    ft_rt_baton.random ^= ft_rt_baton.random >> 7;
    ft_rt_baton.random ^= ft_rt_baton.random << 17;
    return ft_rt_baton.random;
}

/* In turns of one length, threads that each try to take the lock of the other, and give up their
 * own when that fails (std::lock), may do so in step forever. After so many turns the lengths
 * differ. */
enum { IN_STEP = 1 << 16, LENGTHS = 8 };

/* With every other pair of seeds half of the turns are short, so that other threads come between
 * the steps of threads that do little. The other seeds have long turns alone, so that long
 * computations are not interrupted in all runs. */
static uint32_t random_length(uint32_t longest)
{
    enum { SHORT = 16, MIXED = 2 };
    assert(longest);
    bool is_short = (ft_rt_header->seed & MIXED) && longest > SHORT && next_random() % 2;
    return 1 + (uint32_t)(next_random() % (is_short ? SHORT : longest));
}

static uint32_t turn_length(void)
{
    static uint32_t turns;
    uint32_t longest = ft_rt_header->turn ? ft_rt_header->turn : 1;
    if (ft_rt_baton.random) return random_length(longest);
    if (ft_rt_replaying || turns < IN_STEP) {
        turns += !ft_rt_replaying;
        return longest;
    }
    return longest + (++turns * 0x9E3779B1u >> 16) % LENGTHS;
}

/* With one of eight seeds a thread goes on until it waits, and then the one that was made last
 * does: threads that wait for something are there before those that bring it. Now and then it is
 * another one's turn, so that a thread that polls does not go on alone. */
enum { FAIR = 8 };
static bool prefers_latest(void)
{
    enum { SEEDS = 8, LATEST = 4 };
    return ft_rt_baton.random && ft_rt_header->seed % SEEDS == LATEST;
}

/* After a step that makes another thread ready, with a seed: the turn ends at the next hook, or
 * goes on. */
void ft_rt_may_end_turn(ft_rt_thread *self)
{
    FT_REQUIRE(self == ft_rt_self);
    assert(self->state == FT_RT_RUNNING);
    if (ft_rt_replaying || !ft_rt_baton.random) return;
    if (prefers_latest()) return;
    ft_rt_baton_lock();
    if (next_random() % 2) self->left = 0;
    ft_rt_baton_unlock();
}

/* A loop that waits for an atomic fills the log with its reads (32 million for some frames of a
 * video, where each thread of a decoder waits for the one above it). It reads no other value before
 * another thread has had a turn. A thread that reads an atomic now and then and works in between
 * has turns that are not much shorter. */
void ft_rt_may_spin(ft_rt_thread *self, uintptr_t address, int64_t value)
{
    enum { TIMES = 32, BETWEEN = 10 };
    ft_rt_spin *s = &self->spin;
    int64_t hooks = s->left - self->left;
    bool again = s->address == address && s->value == value && hooks >= 0 && hooks <= BETWEEN;
    *s = (ft_rt_spin){address, value, self->left, again ? s->times + 1 : 0};
    if (s->times < TIMES || self->left < 1) return;
    s->times = 0;
    self->left = 1; /* which the hook at hand takes */
}

/* The thread that waits for the others to go first, as long as it does; else NULL. */
static const ft_rt_thread *last_one(void)
{
    struct timespec now;
    if (!ft_rt_baton.last) return NULL;
    FT_REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
    return ft_rt_is_past(&ft_rt_baton.until, &now) ? NULL : ft_rt_baton.last;
}

/* A ready thread: the next one after `from`; with a seed, any. */
static ft_rt_thread *pick(uint32_t from)
{
    if (ft_rt_replaying) {
        ft_rt_thread *next = ft_rt_replay_next();
        if (ft_rt_replaying) return next; /* else the schedule has just ended */
    }
    if (ft_rt_following) {
        ft_rt_thread *next = ft_rt_follow_next();
        if (next || ft_rt_following) return next;
    }
    uint32_t n = ft_rt_baton.n_threads, start = from + 1;
    if (ft_rt_baton.random) start = (uint32_t)(next_random() % n);
    const ft_rt_thread *last = last_one();
    bool latest = last ? ft_rt_baton.order == FT_RT_LATEST_FIRST
                       : prefers_latest() && next_random() % FAIR != 0;
    for (uint32_t i = 0; i < n; i++) {
        ft_rt_thread *t = &ft_rt_baton.threads[latest ? n - 1 - i : (start + i) % n];
        if (t->state == FT_RT_READY && t != last) return t;
    }
    return last && last->state == FT_RT_READY ? ft_rt_baton.last : NULL;
}

/* The previous holder has given the baton up: at most one thread is FT_RT_RUNNING. */
static void grant(ft_rt_thread *t)
{
    assert(t->state == FT_RT_READY || t->state == FT_RT_OUTSIDE);
    assert(!ft_rt_baton.runner || ft_rt_baton.runner->state != FT_RT_RUNNING);
    t->state = FT_RT_RUNNING;
    t->left = turn_length();
    assert(t->left > 0);
    ft_rt_hot = FT_RT_NO_THREAD;
    __atomic_store_n(&ft_rt_baton.runner, t, __ATOMIC_RELEASE);
    bool sleeps = __atomic_exchange_n(&t->go, GO, __ATOMIC_ACQ_REL) == ASLEEP;
    if (ft_rt_baton.sleeper && sleeps) futex(&ft_rt_baton.sleeper->go, FUTEX_WAKE_PRIVATE, 1);
    if (sleeps) ft_rt_baton.sleeper = t;
}

static void wake(ft_rt_thread *thread);

/* A thread that is blocked gets up for its handlers when its turn comes. */
void ft_rt_get_up(ft_rt_thread *self)
{
    ft_rt_baton_lock();
    bool due = !ft_rt_replaying || ft_rt_signal_waits(self, ft_rt_replay_handles(self));
    if (self->state == FT_RT_BLOCKED && !self->stuck && due) {
        self->interrupted = true;
        self->state = FT_RT_READY;
        if (!ft_rt_baton.runner) ft_rt_baton_pass_on(self->id);
    }
    ft_rt_baton_unlock();
}

static bool try_to_go(ft_rt_thread *self)
{
    uint32_t seen = GO;
    return __atomic_compare_exchange_n(&self->go, &seen, STAY, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void wait_for_baton(ft_rt_thread *self)
{
    FT_REQUIRE(self == ft_rt_self);
    assert(self->inside && !self->lent); /* so the watchdog does not take it away at once */
    self->parked = true;                 /* from here on signals get it up themselves */
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
    assert(self->state == FT_RT_RUNNING);
    ft_rt_processor_follow(self);
    if (ft_rt_signals_wait()) self->left = 0; /* the next hook goes the long way */
}

bool ft_rt_is_past(const struct timespec *deadline, const struct timespec *now)
{
    if (now->tv_sec != deadline->tv_sec) return now->tv_sec > deadline->tv_sec;
    return now->tv_nsec >= deadline->tv_nsec;
}

/* A recording that is fed has no real time limits: if no thread can go on, the first limit counts
 * as passed. So the same recording comes out each time. */
static bool end_first_wait(void)
{
    ft_rt_thread *first = NULL;
    assert(!ft_rt_baton.runner || ft_rt_baton.runner->state != FT_RT_RUNNING);
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        ft_rt_thread *t = &ft_rt_baton.threads[i];
        if (t->state == FT_RT_OUTSIDE) return false;
        if (t->state != FT_RT_BLOCKED || !t->timed) continue;
        if (!first || ft_rt_is_past(&first->deadline, &t->deadline)) first = t;
    }
    if (!first) return false;
    first->timed_out = true;
    wake(first);
    return true;
}

static bool is_starved(void)
{
    bool starved = false;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++)
        starved |= ft_rt_feed_starves(&ft_rt_baton.threads[i]);
    return starved;
}

void ft_rt_baton_pass_on(uint32_t from)
{
    FT_REQUIRE(ft_rt_baton.lock);
    FT_REQUIRE(from < ft_rt_baton.n_threads);
    ft_rt_thread *next = pick(from);
    if (!next && ft_rt_feed_records() && end_first_wait()) next = pick(from);
    if (next) {
        grant(next);
        return;
    }
    ft_rt_hot = FT_RT_NO_THREAD;
    __atomic_store_n(&ft_rt_baton.runner, NULL, __ATOMIC_RELEASE);
    if (ft_rt_replaying || !ft_rt_is_deadlock()) return;
    if (is_starved()) {
        ft_rt_log_requests();
        ft_rt_feed_ends();
    }
    if (!ft_rt_signals_handled()) ft_rt_end_deadlocked();
}

/* With the lock held; gives it back, returns with the ft_rt_baton. */
static void come_back(ft_rt_thread *self)
{
    if (!ft_rt_baton.runner && !ft_rt_replaying) {
        grant(self);
    } else {
        self->state = FT_RT_READY;
        if (!ft_rt_baton.runner) ft_rt_baton_pass_on(self->id);
    }
    ft_rt_baton_unlock();
    wait_for_baton(self);
}

void ft_rt_thread_starts(ft_rt_thread *self)
{
    assert(!ft_rt_self && !self->tid);
    ft_rt_self = self;
    self->tid = (int)syscall(SYS_gettid);
    wait_for_baton(self);
}

static void take_baton(ft_rt_thread *self)
{
    ft_rt_baton_lock();
    if (ft_rt_baton.runner == self)
        ft_rt_baton_unlock();
    else
        come_back(self);
}

/* Replaying: runs the handlers that the schedule has here, as soon as their signals arrive. A
 * signal that a handler masks is handled when that handler has returned. */
static void handle_due(ft_rt_thread *self)
{
    const struct timespec moment = {.tv_nsec = FT_RT_MS / 10};
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
    if (__atomic_load_n(&ft_rt_baton.runner, __ATOMIC_ACQUIRE) != self) take_baton(self);
    assert(self->state == FT_RT_RUNNING);
    ft_rt_baton.hooks++;
    if (ft_rt_replaying) {
        ft_rt_end_look(self);
        handle_due(self);
        ft_rt_turn(self, true);
        self->kind = FT_RT_ANY;
        self->pc = NULL;
        self->size = 0;
    }
    if (ft_rt_following) ft_rt_follow_hook(self);
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
    FT_REQUIRE(self == ft_rt_self && self->inside);
    assert(!self->lent && self->state == FT_RT_RUNNING);
    __atomic_store_n(&self->lent, true, __ATOMIC_RELEASE);
}

void ft_rt_take_back(ft_rt_thread *self)
{
    __atomic_store_n(&self->lent, false, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* as in ft_rt_enter_holding */
    if (__atomic_load_n(&ft_rt_baton.runner, __ATOMIC_ACQUIRE) != self) take_baton(self);
    assert(self->state == FT_RT_RUNNING);
}

void ft_rt_turn(ft_rt_thread *self, bool hook)
{
    FT_REQUIRE(self == ft_rt_self && self->inside);
    while (ft_rt_replaying && !ft_rt_replay_may(self, hook)) {
        ft_rt_baton_lock();
        self->state = FT_RT_READY;
        ft_rt_baton_pass_on(self->id);
        ft_rt_baton_unlock();
        wait_for_baton(self);
    }
}

void ft_rt_give_way(ft_rt_thread *self)
{
    FT_REQUIRE(self == ft_rt_self && self->inside);
    ft_rt_baton_lock();
    self->state = FT_RT_READY;
    ft_rt_baton_pass_on(self->id);
    ft_rt_baton_unlock();
    wait_for_baton(self);
}

void ft_rt_go_on(ft_rt_thread *self)
{
    ft_rt_flush(self);
    ft_sym_flush();
    bool later = self->postpones && ft_rt_header->seed && !ft_rt_header->replay;
    self->postpones = false;
    if (self->signals && !self->takes && !later) ft_rt_signals_deliver(self);
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
    FT_REQUIRE(self == ft_rt_self && self->inside);
    assert(self->state == FT_RT_RUNNING);
    if (ft_rt_replaying) ft_rt_turn(self, false);
    if (self->left) self->left--;
    if (!self->left) ft_rt_yield(self);
    self->inside = false;
}

void ft_rt_yield(ft_rt_thread *self)
{
    if (ft_rt_replaying || ft_rt_following) return;
    FT_REQUIRE(self == ft_rt_self && self->inside);
    ft_rt_baton_lock();
    assert(ft_rt_baton.runner == self && self->state == FT_RT_RUNNING);
    ft_rt_log_due();
    ft_rt_end_due();
    self->state = FT_RT_READY;
    ft_rt_thread *next = pick(self->id);
    if (next == self) {
        self->state = FT_RT_RUNNING;
        self->left = turn_length();
        if (self->signals) self->left = 0; /* the next hook goes the long way */
        ft_rt_baton_unlock();
        return;
    }
    assert(next); /* the thread itself is ready */
    grant(next);
    ft_rt_baton_unlock();
    wait_for_baton(self);
}

/* A thread that is woken while its handler runs stays woken. A handler that waits itself overwrites
 * the reason of the wait: the thread is then ready after the handler, whether its time limit has
 * passed or not, and checks again. */
static void handle(ft_rt_thread *self)
{
    ft_rt_request asks = self->asks;
    uint64_t since = self->waits_since;
    bool restarts = ft_rt_signals_deliver(self);
    self->asks = asks;
    if (self->waits_since != since) self->timed_out = false;
    self->interrupted = false;
    self->broke_off = self->waits_for != NULL;
    self->restarts = restarts;
}

bool ft_rt_block(ft_rt_thread *self, const void *what, const struct timespec *deadline)
{
    FT_REQUIRE(self == ft_rt_self && self->inside);
    FT_REQUIRE(what);
    int64_t limit = deadline ? ft_rt_time_left(deadline) : 0;
    if (deadline && ft_rt_time_passes(self, limit)) {
        self->broke_off = false;
        ft_rt_log_expired(self, limit);
        return false;
    }
    ft_rt_baton_lock();
    assert(ft_rt_baton.runner == self && self->state == FT_RT_RUNNING);
    self->interrupted = false; /* this wait may be a handler's; its end makes the thread ready */
    self->state = FT_RT_BLOCKED;
    self->waits_for = what;
    self->waits_since = ft_rt_baton.waits++;
    self->tries++;
    self->timed = deadline != NULL;
    self->timed_out = false;
    if (deadline) self->deadline = *deadline;
    if (!ft_rt_signals_handled()) ft_rt_log_stuck(self);
    ft_rt_baton_pass_on(self->id);
    ft_rt_baton_unlock();
    wait_for_baton(self);
    if (ft_rt_following) ft_rt_follow_resumed(self);
    self->broke_off = false;
    if (self->interrupted) handle(self);
    assert(self->state == FT_RT_RUNNING && self->inside);
    self->waits_for = NULL;
    if (ft_rt_baton.starved == self) ft_rt_baton.starved = NULL;
    if (self->timed_out) ft_rt_log_expired(self, limit);
    return !self->timed_out;
}

static void wake(ft_rt_thread *thread)
{
    assert(thread->state == FT_RT_BLOCKED || thread->interrupted);
    if (!thread->interrupted) thread->state = FT_RT_READY;
    thread->waits_for = NULL;
}

void ft_rt_wake(ft_rt_thread *thread, bool timed_out)
{
    FT_REQUIRE(ft_rt_baton.lock);
    FT_REQUIRE(!timed_out || thread->timed);
    thread->timed_out = timed_out;
    wake(thread);
}

/* By another thread. In a replay its wait may still end by its time limit, if it did so in the run.
 */
static void rouse(ft_rt_thread *thread)
{
    if (ft_rt_replaying && thread->timed) thread->timed_out = ft_rt_replay_times_out(thread);
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
    ft_rt_baton_lock();
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        ft_rt_thread *t = &ft_rt_baton.threads[i];
        if (!waits(t, what)) continue;
        rouse(t);
        if (t->tries <= PATIENCE) continue;
        ft_rt_baton.starved = t;
        ft_rt_baton.missed = what;
    }
    ft_rt_baton_unlock();
}

void ft_rt_behind_starved(ft_rt_thread *self, const void *what)
{
    while (!ft_rt_replaying && !ft_rt_following && ft_rt_baton.missed == what &&
           ft_rt_baton.starved && ft_rt_baton.starved != self &&
           ft_rt_baton.starved->state == FT_RT_READY)
        ft_rt_yield(self);
}

static ft_rt_thread *longest_waiter(const void *what)
{
    ft_rt_thread *first = NULL;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        ft_rt_thread *t = &ft_rt_baton.threads[i];
        if (waits(t, what) && (!first || t->waits_since < first->waits_since)) first = t;
    }
    return first;
}

void ft_rt_wake_first(const void *what)
{
    ft_rt_baton_lock();
    ft_rt_thread *first = ft_rt_replaying   ? ft_rt_replay_waiter(what)
                          : ft_rt_following ? ft_rt_follow_waiter(what)
                                            : NULL;
    if (!first) first = longest_waiter(what);
    if (first) rouse(first);
    ft_rt_baton_unlock();
}

void ft_rt_outside(ft_rt_thread *self)
{
    FT_REQUIRE(self == ft_rt_self && self->inside);
    ft_rt_signals_deliver(self);
    ft_rt_baton_lock();
    assert(ft_rt_baton.runner == self && self->state == FT_RT_RUNNING);
    self->state = FT_RT_OUTSIDE;
    ft_rt_baton_pass_on(self->id);
    ft_rt_baton_unlock();
    self->inside = false;
}

/* Is it done, and no other thread on its way back from a wait for it? */
static bool is_left(const ft_rt_thread *thread)
{
    if (thread->state != FT_RT_DONE) return false;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        const ft_rt_thread *t = &ft_rt_baton.threads[i];
        bool joins = t->asks.kind == FT_EVENT_JOIN && t->asks.target == thread->id;
        if (joins && t->state != FT_RT_DONE && t->state != FT_RT_RUNNING) return false;
    }
    return true;
}

/* Once the recording has ended a thread may have the place of one before it: the program goes on,
 * however many it creates. Its first thread keeps its place. */
static ft_rt_thread *taken_over(void)
{
    static uint32_t last;
    if (ft_rt_logging || ft_rt_replaying) return NULL;
    for (uint32_t i = 1; i < ft_rt_baton.n_threads; i++) {
        last = last % (ft_rt_baton.n_threads - 1) + 1;
        ft_rt_thread *t = &ft_rt_baton.threads[last];
        if (!is_left(t)) continue;
        assert(t != ft_rt_baton.runner && t != ft_rt_self);
        *t = (ft_rt_thread){.id = last};
        return t;
    }
    return NULL;
}

static ft_rt_thread *another(void)
{
    if (ft_rt_baton.n_threads == FT_RT_THREADS) return taken_over();
    assert(ft_rt_baton.n_threads < FT_RT_THREADS);
    ft_rt_thread *t = &ft_rt_baton.threads[ft_rt_baton.n_threads];
    assert(!t->tid && t->state != FT_RT_RUNNING);
    t->id = ft_rt_baton.n_threads;
    __atomic_store_n(&ft_rt_baton.n_threads, ft_rt_baton.n_threads + 1, __ATOMIC_RELEASE);
    ft_rt_header->threads = ft_rt_baton.n_threads;
    return t;
}

ft_rt_thread *ft_rt_thread_new(void)
{
    ft_rt_baton_lock();
    ft_rt_thread *t = another();
    if (t) {
        t->state = FT_RT_READY;
        t->processor = ft_rt_self ? ft_rt_self->processor : FT_RT_ANYWHERE;
        if (ft_rt_self) {
            t->parent = ft_rt_self->id;
            t->number = ++ft_rt_self->children;
        }
        if (ft_rt_header->replay || ft_rt_header->feed) ft_rt_replay_born(t, ft_rt_self);
        if (ft_rt_header->follow) ft_rt_follow_born(t, ft_rt_self);
    }
    ft_rt_baton_unlock();
    return t;
}

/* Handles are used again once a thread was joined: it is the one that is not done, else the last.
 */
ft_rt_thread *ft_rt_thread_of(pthread_t handle)
{
    ft_rt_thread *done = NULL;
    for (uint32_t i = ft_rt_baton.n_threads; i-- > 0;) {
        ft_rt_thread *t = &ft_rt_baton.threads[i];
        if (!pthread_equal(t->handle, handle)) continue;
        if (t->state != FT_RT_DONE) return t;
        if (!done) done = t;
    }
    return done;
}

ft_rt_thread *ft_rt_thread_at(uint32_t id)
{
    return id < ft_rt_baton.n_threads ? &ft_rt_baton.threads[id] : NULL;
}

void ft_rt_baton_done(ft_rt_thread *thread, bool runs)
{
    FT_REQUIRE(ft_rt_baton.lock);
    FT_REQUIRE(runs == (thread == ft_rt_baton.runner));
    assert(thread->state != FT_RT_DONE);
    thread->state = FT_RT_DONE;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++)
        if (waits(&ft_rt_baton.threads[i], thread)) wake(&ft_rt_baton.threads[i]);
    if (runs) ft_rt_baton_pass_on(thread->id);
}

void ft_rt_thread_done(ft_rt_thread *self)
{
    FT_REQUIRE(self == ft_rt_self && self->inside);
    ft_rt_baton_lock();
    ft_rt_baton_done(self, true);
    ft_rt_baton_unlock();
}

int ft_rt_other_tid(const ft_rt_thread *self)
{
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++) {
        const ft_rt_thread *t = &ft_rt_baton.threads[i];
        if (t != self && t->tid && t->state != FT_RT_DONE && !t->stuck) return t->tid;
    }
    return 0;
}

void ft_rt_baton_start(void)
{
    assert(!ft_rt_baton.threads && !ft_rt_self);
    ft_rt_baton.threads = ft_rt_map(FT_RT_THREADS * sizeof *ft_rt_baton.threads);
    ft_rt_baton.random = ft_rt_header->seed;
    ft_rt_processor_start();
    ft_rt_thread *self = ft_rt_thread_new();
    self->tid = (int)syscall(SYS_gettid);
    assert(self && !self->id);
    self->handle = pthread_self();
    self->state = FT_RT_RUNNING;
    self->left = turn_length();
    ft_rt_baton.runner = self;
    ft_rt_self = self;
    self->inside = true;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0)) {
        ft_rt_say("this kernel has no membarrier: a thread that sleeps stops all others");
        self->inside = false;
        return;
    }
    sigset_t all, before; /* the process's signals are for the program's threads */
    sigfillset(&all);
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &all, &before);
    if (!ft_rt_watchdog_start())
        ft_rt_say("the watchdog thread could not be created: a call that sleeps stops all threads");
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
    self->inside = false;
}
