/* Signal handlers of the program. While its thread is in the runtime a handler waits until the
 * thread leaves; a thread that waits for others wakes up for it. So handlers run as code of the
 * program, with the baton, and their events are recorded as their thread's. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "assembly/assembly.h"
#include "exploring/exploring.h"
#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "process/process.h"
#include "raw/inputs.h"
#include "replay/needs.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "state/writes.h"
#include "world/world.h"

enum { LATE = 32 };

enum { SIGNALS = 65 };
static struct sigaction handlers[SIGNALS]; /* as the program has set them */
static uint32_t n_handled;                 /* signals that have had one */

typedef struct late {
    int number;
    siginfo_t info;
} late;

/* Those of a thread that wait; none where its `signals` says so. Filled by the thread itself, in
 * the trampoline. By the thread's number, and not in its own memory: that takes the room of its
 * stack, which may be as small as the system lets it be. */
typedef struct waiting {
    volatile sig_atomic_t n;
    late all[LATE];
} waiting;

static waiting *waiting_of_all;

static waiting *waiting_of(const ft_rt_thread *thread)
{
    assert(waiting_of_all && thread->id < FT_RT_THREADS);
    return &waiting_of_all[thread->id];
}

static uint64_t bit_of(int number)
{
    FT_REQUIRE(number > 0 && number < SIGNALS);
    return 1ULL << (number - 1);
}

/* If the thread's own instruction is the cause, the thread cannot go on before the handler. */
static bool is_fault(int number, const siginfo_t *info)
{
    bool kind = number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
                number == SIGTRAP;
    return kind && info && info->si_code > 0;
}

static bool is_handler(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

const void *ft_rt_signals_handler(int number)
{
    const struct sigaction *h = &handlers[number];
    if (!is_handler(h)) return NULL;
    uintptr_t at = h->sa_flags & SA_SIGINFO ? (uintptr_t)h->sa_sigaction : (uintptr_t)h->sa_handler;
    return (const char *)at + 1; /* as behind a call */
}

/* The handler comes after the earlier events of the senders. */
static void take_signal(int number)
{
    const void *pc = ft_rt_signals_handler(number);
    if (!pc || !ft_rt_self) return;
    ft_rt_self->takes = true;
    ft_rt_thread *self = ft_rt_enter();
    if (self) ft_rt_signal_channel(number, true, pc);
    ft_rt_self->takes = false;
    if (self) ft_rt_leave(self);
}

static void call(int number, siginfo_t *info, void *context)
{
    struct sigaction *h = &handlers[number];
    take_signal(number);
    if (h->sa_flags & SA_SIGINFO)
        h->sa_sigaction(number, info, context);
    else if (h->sa_handler != SIG_IGN && h->sa_handler != SIG_DFL)
        h->sa_handler(number);
}

/* In the runtime, which touches the program's memory, or between the hooks of inline assembly. */
static void call_inside(ft_rt_thread *self, int number, siginfo_t *info, void *context)
{
    bool lent = self->lent;
    assert(self == ft_rt_self && self->inside);
    ft_rt_at_hand taken = ft_rt_take_at_hand();
    self->lent = self->inside = false;
    call(number, info, context);
    ft_rt_enter_within();
    self->lent = lent;
    if (taken.address && !ft_rt_put_at_hand(taken, context)) self->inside = false;
}

/* The handler may never return (siglongjmp). It finds the thread out of the runtime, and no pending
 * write that has not happened. */
static void call_at_fault(ft_rt_thread *self, int number, siginfo_t *info, void *context)
{
    ft_rt_pending taken = {.size = 0};
    if (self->inside) {
        call_inside(self, number, info, context);
        return;
    }
    bool writes = self->late.value || self->pending.size; /* recording */
    if (writes && ft_rt_enter_holding()) {
        taken = ft_rt_take_pending(self, (uintptr_t)info->si_addr);
        self->inside = false;
    }
    call(number, info, context);
    if (taken.size && ft_rt_enter_within()) ft_rt_put_pending(self, taken);
    self->inside = false;
}

/* The kernel chooses the thread that takes a signal of the process; in a replay the schedule
 * chooses. A stuck thread runs no handlers. */
static bool hand_over(const ft_rt_thread *self, int number, siginfo_t *info)
{
    if (info->si_code == SI_TKILL) return false;
    const ft_rt_thread *handler = ft_rt_replaying ? ft_rt_replay_handler(number) : NULL;
    int to = self->stuck ? ft_rt_other_tid(self) : handler && handler != self ? handler->tid : 0;
    return to && !syscall(SYS_rt_tgsigqueueinfo, syscall(SYS_getpid), to, number, info);
}

/* False: too many wait. */
static bool keep(ft_rt_thread *self, int number, const siginfo_t *info)
{
    waiting *w = waiting_of(self);
    if (!self->signals) w->n = 0;
    assert(w->n >= 0 && w->n <= LATE);
    if (w->n == LATE) return false;
    w->all[w->n] = (late){.number = number, .info = *info};
    w->n++;
    self->signals |= bit_of(number);
    return true;
}

static void trampoline(int number, siginfo_t *info, void *context)
{
    ft_rt_thread *self = ft_rt_self;
    int before = errno;
    bool fault = is_fault(number, info);
    if (self && !fault && hand_over(self, number, info)) {
        errno = before;
        return;
    }
    if (self) __atomic_add_fetch(&ft_rt_header->signals, 1, __ATOMIC_RELAXED);
    bool later = self && (self->inside || ft_rt_replaying || ft_rt_reads(context)) && !fault;
    if (later && keep(self, number, info)) {
        self->left = 1; /* a hook on its way may count it down: soon one goes the long way */
        if (self->parked) ft_rt_get_up(self);
    } else if (self && fault) {
        call_at_fault(self, number, info, context);
    } else {
        call(number, info, context);
    }
    errno = before;
}

/* The first waiting signal that is not blocked. Replaying: the first of the number that the
 * schedule has next, which may differ if the senders change places. */
static int first_due(const ft_rt_thread *self, const sigset_t *blocked)
{
    const waiting *w = waiting_of(self);
    int next = ft_rt_replaying ? ft_rt_replay_handles(self) : 0;
    if (ft_rt_replaying && !next) return LATE;
    for (int i = 0; i < w->n; i++) {
        int number = w->all[i].number;
        if (sigismember(blocked, number) != 1 && (!next || next == number)) return i;
    }
    return LATE;
}

static bool take(ft_rt_thread *self, const sigset_t *blocked, late *one)
{
    waiting *w = waiting_of(self);
    int at = first_due(self, blocked);
    if (at == LATE) return false;
    assert(at < w->n && w->n <= LATE);
    *one = w->all[at];
    w->n--;
    for (int i = at; i < w->n; i++) w->all[i] = w->all[i + 1];
    self->signals = 0;
    for (int i = 0; i < w->n; i++) self->signals |= bit_of(w->all[i].number);
    return true;
}

bool ft_rt_signal_waits(const ft_rt_thread *thread, int number)
{
    return number && thread->signals & bit_of(number);
}

bool ft_rt_signals_wait(void)
{
    const ft_rt_thread *self = ft_rt_self;
    sigset_t blocked;
    if (!self || !self->signals) return false;
    FT_REAL(pthread_sigmask)(SIG_SETMASK, NULL, &blocked);
    const waiting *w = waiting_of(self);
    for (int i = 0; i < w->n; i++)
        if (sigismember(&blocked, w->all[i].number) != 1) return true;
    return false;
}

bool ft_rt_signals_blocked(int number)
{
    sigset_t blocked;
    FT_REAL(pthread_sigmask)(SIG_SETMASK, NULL, &blocked);
    return sigismember(&blocked, number) == 1;
}

/* While a handler runs its signals are blocked, as the kernel would do. Those that arrive wait
 * until the handler that masks them has returned. */
bool ft_rt_signals_deliver(ft_rt_thread *self)
{
    late one;
    sigset_t all, before, during;
    bool restarts = true;
    if (!self->signals) return restarts;
    FT_REQUIRE(self == ft_rt_self && self->inside);
    sigfillset(&all);
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &all, &before);
    while (take(self, &before, &one)) {
        const struct sigaction *h = &handlers[one.number];
        sigorset(&during, &before, &h->sa_mask);
        if (!(h->sa_flags & SA_NODEFER)) sigaddset(&during, one.number);
        if (!(h->sa_flags & SA_RESTART)) restarts = false;
        self->inside = false;
        FT_REAL(pthread_sigmask)(SIG_SETMASK, &during, NULL);
        call(one.number, &one.info, NULL);
        FT_REAL(pthread_sigmask)(SIG_SETMASK, &all, NULL);
        ft_rt_enter_within();
    }
    assert(self->inside);
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
    return restarts;
}

bool ft_rt_signals_handled(void)
{
    return n_handled > 0;
}

/* The turn goes on: other threads may wait for the signal that is sent next. */
static void put_signal(int number, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter_call(pc);
    if (!self) return;
    ft_rt_signal_channel(number, false, pc);
    self->inside = false;
}

/* Another process acts on the signal: it may end, or send something. */
static int to_process(pid_t to, int number, const void *pc)
{
    ft_rt_thread *self = ft_rt_process(to) == FT_REAL(getpid)() ? NULL : ft_rt_enter();
    if (!self) return number;
    ft_rt_unknown_out(pc);
    self->inside = false;
    return number;
}

static int set_handler(int number, const struct sigaction *restrict action,
                       struct sigaction *restrict old)
{
    struct sigaction mine, before = {.sa_flags = 0};
    bool known = ft_rt_self && number > 0 && number < SIGNALS;
    if (!known) return FT_REAL(sigaction)(number, action, old);
    if (action) {
        mine = *action;
        if (is_handler(action)) {
            mine.sa_sigaction = trampoline;
            mine.sa_flags |= SA_SIGINFO;
        }
    }
    struct sigaction was = handlers[number];
    if (action && is_handler(action)) handlers[number] = *action; /* before the first can come */
    int result = FT_REAL(sigaction)(number, action ? &mine : NULL, &before);
    if (result) {
        handlers[number] = was;
        return result;
    }
    bool ours = before.sa_flags & SA_SIGINFO && before.sa_sigaction == trampoline;
    if (action && is_handler(action) && !ours) n_handled++;
    if (action && !is_handler(action) && ours) n_handled--;
    if (old) *old = ours ? was : before;
    return 0;
}

#define CODE __builtin_return_address(0)

int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old)
{
    struct sigaction was;
    if (action && is_handler(action)) put_signal(number, CODE);
    int result = set_handler(number, action, old ? &was : NULL);
    if (result || !old) return result;
    ft_rt_write_range(old, sizeof *old, CODE);
    *old = was;
    return 0;
}

static sighandler_t set_simply(int number, sighandler_t handler, int flags, const void *pc)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&action.sa_mask);
    if (is_handler(&action)) put_signal(number, pc);
    if (set_handler(number, &action, &old)) return SIG_ERR;
    return old.sa_handler;
}

sighandler_t signal(int number, sighandler_t handler)
{
    if (!ft_rt_self) return FT_REAL(signal)(number, handler);
    return set_simply(number, handler, SA_RESTART, CODE);
}

/* signal() in programs of strict C or POSIX: the handler is reset after one signal. */
sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return set_simply(number, handler, (int)SA_RESETHAND | SA_NODEFER, CODE);
}

sighandler_t sysv_signal(int number, sighandler_t handler) __attribute__((alias("__sysv_signal")));

/* Signals that arrived before they are blocked are handled before. */
static void handle_waiting(void)
{
    ft_rt_thread *self = ft_rt_self && ft_rt_self->signals ? ft_rt_enter() : NULL;
    if (self) ft_rt_leave(self);
}

/* As many bytes as the kernel's mask has. */
static void give_mask(sigset_t *to, const sigset_t *from, const void *pc)
{
    enum { SIZE = 8 };
    if (!to) return;
    ft_rt_write_range(to, SIZE, pc);
    memcpy(to, from, SIZE);
}

int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    sigset_t was;
    if (set) handle_waiting();
    int result = FT_REAL(pthread_sigmask)(how, set, old ? &was : NULL);
    ft_rt_world_masked();
    if (!result) give_mask(old, &was, CODE);
    return result;
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    sigset_t was;
    if (set) handle_waiting();
    int result = FT_REAL(sigprocmask)(how, set, old ? &was : NULL);
    ft_rt_world_masked();
    if (!result) give_mask(old, &was, CODE);
    return result;
}

/* ---- the start: the process that starts the program may have it ignore or block signals */

static bool is_ignored(int number)
{
    struct sigaction now;
    return !FT_REAL(sigaction)(number, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
           now.sa_handler == SIG_IGN;
}

static void ignore(int number, bool wanted)
{
    struct sigaction action = {.sa_handler = wanted ? SIG_IGN : SIG_DFL};
    if (is_ignored(number) != wanted) FT_REAL(sigaction)(number, &action, NULL);
}

void ft_rt_signals_start(void)
{
    ft_rt_input in;
    sigset_t blocked;
    uint64_t ignored = 0, masked = 0;
    waiting_of_all = ft_rt_map(FT_RT_THREADS * sizeof *waiting_of_all);
    if (!ft_rt_input_begin(&in, FT_INPUT_SIGNALS, NULL)) return;
    FT_REAL(pthread_sigmask)(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < SIGNALS; number++) {
        ignored |= (uint64_t)is_ignored(number) << (number - 1);
        masked |= (uint64_t)(sigismember(&blocked, number) == 1) << (number - 1);
    }
    if (!in.fed) ft_rt_input_did(&in, 0);
    ignored = ft_rt_input_number(&in, ignored);
    masked = ft_rt_input_number(&in, masked);
    for (int number = 1; in.fed && number < SIGNALS; number++) {
        ignore(number, ignored >> (number - 1) & 1);
        (masked >> (number - 1) & 1 ? sigaddset : sigdelset)(&blocked, number);
    }
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &blocked, NULL);
    ft_rt_environment_keep(&in);
    ft_rt_input_end(&in);
}

/* ---- sending signals, and arming timers that send them */

#define SENDS(number, name, parameters, arguments)                                                 \
    int name parameters                                                                            \
    {                                                                                              \
        put_signal((number), CODE);                                                                \
        return FT_REAL(name) arguments;                                                            \
    }
int pthread_kill(pthread_t to, int number)
{
    FT_RT_EXPLORED(ft_rt_world_pthread_kill(to, number, CODE));
    put_signal(number, CODE);
    return FT_REAL(pthread_kill)(to, number);
}

SENDS(number, pthread_sigqueue, (pthread_t to, int number, const union sigval value),
      (to, number, value))
int kill(pid_t to, int number)
{
    ft_rt_world_signals(to, "kill", CODE);
    FT_RT_EXPLORED(ft_rt_world_signal_process(number, "kill", CODE));
    put_signal(to_process(to, number, CODE), CODE);
    return FT_REAL(kill)(ft_rt_process(to), number);
}

int raise(int number)
{
    FT_RT_EXPLORED(ft_rt_world_raise(number, CODE));
    return FT_REAL(raise)(number);
}

SENDS(number, tgkill, (pid_t process, pid_t to, int number),
      (ft_rt_process(process), ft_rt_task(to), number))
SENDS((ft_rt_world_signals(to, "sigqueue", CODE), to_process(to, number, CODE)), sigqueue,
      (pid_t to, int number, const union sigval value), (ft_rt_process(to), number, value))
int setitimer(__itimer_which_t which, const struct itimerval *restrict when,
              struct itimerval *restrict old)
{
    static const int numbers[] = {
        [ITIMER_REAL] = SIGALRM, [ITIMER_VIRTUAL] = SIGVTALRM, [ITIMER_PROF] = SIGPROF};
    struct itimerval was;
    ft_rt_world_refuse(FT_RT_WORLD_TIMER, "setitimer", CODE);
    ft_rt_timers = true;
    if ((unsigned)which < sizeof numbers / sizeof *numbers) put_signal(numbers[which], CODE);
    int result = FT_REAL(setitimer)(which, when, old ? &was : NULL);
    if (result || !old) return result;
    ft_rt_write_range(old, sizeof *old, CODE);
    *old = was;
    return 0;
}

unsigned alarm(unsigned seconds)
{
    if (seconds) ft_rt_world_refuse(FT_RT_WORLD_TIMER, "alarm", CODE);
    put_signal(SIGALRM, CODE);
    ft_rt_timers = true;
    return FT_REAL(alarm)(seconds);
}

/* ---- waiting for signals: the thread is outside, and comes after the sender then */

static void begin_wait(const void *pc)
{
    ft_rt_thread *self = ft_rt_enter_call(pc);
    if (self) ft_rt_outside(self);
}

static void end_wait(int number, const void *pc)
{
    int before = errno;
    ft_rt_thread *self = number > 0 ? ft_rt_enter() : NULL;
    if (self) {
        ft_rt_signal_taken(number, pc);
        ft_rt_leave(self);
    }
    errno = before;
}

int sigwait(const sigset_t *restrict set, int *restrict number)
{
    int came;
    FT_RT_EXPLORED((came = ft_rt_world_signal_wait(set, -1, NULL, CODE), *number = came, 0));
    begin_wait(CODE);
    int result = FT_REAL(sigwait)(set, &came);
    end_wait(result ? 0 : came, CODE);
    if (result) return result;
    ft_rt_write_range(number, sizeof *number, CODE);
    *number = came;
    return 0;
}

int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
    FT_RT_EXPLORED(ft_rt_world_signal_wait(set, -1, info, CODE));
    begin_wait(CODE);
    int number = FT_REAL(sigwaitinfo)(set, info);
    end_wait(number, CODE);
    if (number > 0 && info) ft_rt_write_range(info, sizeof *info, CODE);
    return number;
}

int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                 const struct timespec *restrict time)
{
    FT_RT_EXPLORED(ft_rt_world_signal_wait(
        set, time ? (int)(time->tv_sec * 1000 + time->tv_nsec / 1000000) : -1, info, CODE));
    begin_wait(CODE);
    int number = FT_REAL(sigtimedwait)(set, info, time);
    end_wait(number, CODE);
    if (number > 0 && info) ft_rt_write_range(info, sizeof *info, CODE);
    return number;
}
