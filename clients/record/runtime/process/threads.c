/* Threads: their creation, join and end; and the start and end of the recording. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "annotations/annotations.h"
#include "constrained/constrained.h"
#include "exploring/exploring.h"
#include "files/files.h"
#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "memory/memory.h"
#include "process/process.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "sync/sync.h"
#include "trace/event.h"

#define CODE __builtin_return_address(0)

enum { ROUNDS = 4 }; /* of key destructors: the last one is behind all that the thread still does */

static pthread_key_t end_key;
static bool has_end_key;

static void log_begin(void)
{
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t size = 0;
    FT_REQUIRE(ft_rt_self && ft_rt_self->inside);
    assert(!ft_rt_self->stack_end); /* it begins once */
    /* The call may wait for malloc's lock, held by a thread that forks and handles a signal. */
    ft_rt_lend(ft_rt_self);
    if (!FT_REAL(pthread_getattr_np)(pthread_self(), &attributes)) {
        pthread_attr_getstack(&attributes, &stack, &size);
        pthread_attr_destroy(&attributes);
    }
    ft_rt_take_back(ft_rt_self);
    ft_rt_self->stack_end = (uintptr_t)stack + size;
    FT_RT_LOG(BEGIN, (uintptr_t)stack, size);
}

/* Bytes of the creator's stack that the new thread gets a pointer to and may copy whole. The gaps
 * of a structure there hold values that earlier calls left on the stack. */
enum { SHOWN = 256 };

static void show(const ft_rt_thread *self, const void *argument)
{
    uintptr_t from = (uintptr_t)argument, here = (uintptr_t)__builtin_frame_address(0);
    if (from < here || from >= self->stack_end) return;
    size_t n = self->stack_end - from;
    ft_rt_log_bytes(FT_RAW_SHOWN, from, argument, n < SHOWN ? n : SHOWN);
}

/* A signal that arrives while the recorder does not know the thread would run its handler
 * unrecorded: all are blocked then. */
static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &all, before);
}

/* The C library reuses the stack of a detached thread as soon as the kernel is done with the
 * thread, which is a moment after its END. Until then no other thread begins or ends, so that
 * stacks are reused in the same order in every run. */
static void await_ends(void)
{
    enum { PAUSE = 20000 /* ns */, LONGEST = 5000 /* pauses */ };
    static uint32_t first = 1; /* all threads before it are gone; main stays visible */
    const struct timespec pause = {.tv_nsec = PAUSE};
    ft_rt_thread *t;
    for (uint32_t i = first, waits = 0; (t = ft_rt_thread_at(i)); i++) {
        if (t->gone || t->state != FT_RT_DONE || !t->tid) continue;
        while (!syscall(SYS_tgkill, syscall(SYS_getpid), t->tid, 0) && waits++ < LONGEST)
            syscall(SYS_nanosleep, &pause, NULL);
        t->gone = true;
    }
    while ((t = ft_rt_thread_at(first)) && t->gone) first++;
}

/* A thread that tries to join goes on depending on whether the other runs: the try came before its
 * end. */
static void tell_running(const ft_rt_thread *child, uint64_t flags, uint64_t site)
{
    FT_RT_LOG(CHANNEL, flags, FT_RAW_CHANNEL_OF(FT_RAW_CHANNEL_RUNS, (uint64_t)child->id), site);
}

static int found_running(ft_rt_thread *child, uint32_t site, int error)
{
    tell_running(child, FT_RAW_CHANNEL_OUT, site);
    child->tried = site;
    return error;
}

static void end_thread(void *round)
{
    uintptr_t n = (uintptr_t)round;
    if (n < ROUNDS) {
        pthread_setspecific(end_key, (void *)(n + 1));
        return;
    }
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    assert(n == ROUNDS);
    if (ft_rt_following) ft_rt_follow_end(self);
    ft_rt_mutexes_abandon(self);
    if (self->tried) tell_running(self, FT_RAW_CHANNEL_IN, self->tried);
    ft_rt_log(FT_RAW_END, NULL, 0);
    if (ft_rt_signals_handled()) block_signals(NULL);
    await_ends();
    ft_rt_thread_done(self);
    ft_rt_self = NULL;
}

static bool wants_blocked(const pthread_attr_t *attributes)
{
    sigset_t own;
    return ft_rt_signals_handled() &&
           !(attributes && !pthread_attr_getsigmask_np(attributes, &own));
}

static void *run_thread(void *argument)
{
    ft_rt_thread *self = argument;
    assert(self->start && self->inside);
    ft_rt_thread_starts(self);
    if (self->masked) FT_REAL(pthread_sigmask)(SIG_SETMASK, &self->mask, NULL);
    log_begin();
    pthread_setspecific(end_key, (void *)1);
    if (ft_rt_following) ft_rt_follow_begins(self);
    ft_rt_leave(self);
    return self->start(self->argument);
}

/* The C library stores the handle before the new thread runs, which may read it. So it is a write
 * of the creator, before the fork. Its value is known once the thread exists; the new thread gets
 * no turn until the fork has its record. */
static void tell_handle(ft_rt_thread *self, pthread_t *handle, pthread_t made, const void *pc)
{
    self->address = (uintptr_t)handle; /* replaying: this is the step at which it may stand */
    self->size = sizeof *handle;
    *handle = made;
    ft_rt_log_access(FT_RAW_FORM_WRITE, pc, (uintptr_t)handle, sizeof *handle, (int64_t)made, 0);
}

/* As behind a call there. The C++ library starts its threads by a function of its own. */
static uint32_t site_of_function(const void *function)
{
    return !function || ft_rt_is_own(function) ? 0 : ft_rt_site((const char *)function + 1);
}

/* Registered with the first thread: what the program registers later comes before it. */
static void go_last(void)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    ft_rt_go_last(self);
    ft_rt_leave(self);
}

static void await_exit(void)
{
    static bool awaits;
    if (awaits || ft_rt_header->replay) return;
    awaits = true;
    atexit(go_last);
}

static int create(ft_rt_thread *self, pthread_t *handle, const pthread_attr_t *attributes,
                  void *(*start)(void *), void *argument, const void *function, const void *pc)
{
    uint32_t site = ft_rt_site(pc), starts = site_of_function(function);
    await_ends();
    await_exit();
    ft_rt_thread *child = ft_rt_thread_new();
    if (!child) {
        ft_rt_log_end(FT_RAW_END_THREADS);
        child = ft_rt_thread_new();
    }
    if (!child) return EAGAIN; /* so many at once, or replaying */
    assert(child != self && child->state == FT_RT_READY && child->parent == self->id);
    child->state = FT_RT_OUTSIDE;
    child->start = start;
    child->argument = argument;
    child->inside = true;
    child->masked = wants_blocked(attributes);
    ft_rt_log_variables(); /* so far there is one thread */
    show(self, argument);
    ft_rt_lend(self); /* the dynamic linker's lock */
    if (child->masked) block_signals(&child->mask);
    int result = FT_REAL(pthread_create)(&child->handle, attributes, run_thread, child);
    if (child->masked) FT_REAL(pthread_sigmask)(SIG_SETMASK, &child->mask, NULL);
    ft_rt_take_back(self);
    if (!result) tell_handle(self, handle, child->handle, pc);
    assert(child->state == FT_RT_OUTSIDE); /* no turn before its fork has a record */
    FT_RT_LOG(FORK, site, child->id);
    if (starts && !result) FT_RT_LOG(FUNCTION, starts, child->id);
    child->state = result ? FT_RT_DONE : FT_RT_READY;
    if (!result) ft_rt_may_end_turn(self);
    if (!result && ft_rt_following) ft_rt_follow_created(self, child);
    return result;
}

/* A forked process that creates threads is reported once. */
static bool is_child;

static int create_unrecorded(pthread_t *handle, const pthread_attr_t *attributes,
                             void *(*start)(void *), void *argument)
{
    int result = FT_REAL(pthread_create)(handle, attributes, start, argument);
    if (!result && __atomic_exchange_n(&is_child, false, __ATOMIC_RELAXED))
        __atomic_fetch_add(&ft_rt_header->forked, 1, __ATOMIC_RELAXED);
    return result;
}

int ft_rt_create_from(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                      void *argument, const void *function, const void *pc)
{
    FT_RT_EXPLORED(ft_rt_x_create(handle, attributes, start, argument, pc));
    int constrained;
    if (__builtin_expect(ft_rt_constrained, 0) &&
        ft_rt_c_create(handle, attributes, start, argument, &constrained, pc))
        return constrained;
    ft_rt_about_object((const void *)FT_RT_CREATES, pc);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return create_unrecorded(handle, attributes, start, argument);
    return FT_RT_END(create(self, handle, attributes, start, argument, function, pc));
}

int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    return ft_rt_create_from(handle, attributes, start, argument, (const void *)(uintptr_t)start,
                             CODE);
}

/* Waits until the thread is done in the model; the real join behind it returns soon. */
static int join(ft_rt_thread *self, pthread_t handle, void **result,
                const struct timespec *deadline, bool try, uint32_t site)
{
    ft_rt_thread *child = ft_rt_thread_of(handle);
    if (child && child != self) {
        self->asks = (ft_rt_request){FT_EVENT_JOIN, 0, child->id, site};
        while (child->state != FT_RT_DONE)
            if (!ft_rt_block(self, child, deadline)) return found_running(child, site, ETIMEDOUT);
        FT_RT_LOG(JOIN, site, child->id, try || deadline ? FT_FLAG_TRY : 0);
        ft_rt_fd_inherit(child->id, self->id);
    }
    return FT_REAL(pthread_join)(handle, result);
}

/* The joining thread stores the result, after the join. */
static int joined(int result, void **to, void *value, const void *pc)
{
    if (result || !to) return result;
    ft_rt_write_range(to, sizeof *to, pc);
    *to = value;
    return 0;
}

int ft_rt_join(pthread_t handle, void **result, const void *pc)
{
    void *value;
    FT_RT_EXPLORED(ft_rt_x_join(handle, result, false, FT_RT_X_NO_LIMIT, pc));
    int constrained;
    if (__builtin_expect(ft_rt_constrained, 0) && ft_rt_c_join(handle, result, &constrained, pc))
        return constrained;
    ft_rt_about_object((const void *)FT_RT_JOINS, pc);
    FT_RT_POSTPONE();
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return FT_REAL(pthread_join)(handle, result);
    int error = FT_RT_END(join(self, handle, &value, NULL, false, ft_rt_site(pc)));
    return joined(error, result, value, pc);
}

int pthread_join(pthread_t handle, void **result)
{
    return ft_rt_join(handle, result, CODE);
}

int pthread_tryjoin_np(pthread_t handle, void **result)
{
    FT_RT_EXPLORED(ft_rt_x_join(handle, result, true, FT_RT_X_NO_LIMIT, CODE));
    FT_RT_HOOK(pthread_tryjoin_np, handle, result);
    ft_rt_thread *child = ft_rt_thread_of(handle);
    if (child && child->state != FT_RT_DONE)
        return FT_RT_END(found_running(child, FT_RT_SITE, EBUSY));
    void *value;
    int error = FT_RT_END(join(self, handle, &value, NULL, true, FT_RT_SITE));
    return joined(error, result, value, CODE);
}

int pthread_timedjoin_np(pthread_t handle, void **result, const struct timespec *until)
{
    FT_RT_EXPLORED(
        ft_rt_x_join(handle, result, false, ft_rt_x_limit_until(CLOCK_REALTIME, until), CODE));
    FT_RT_HOOK(pthread_timedjoin_np, handle, result, until);
    struct timespec deadline = ft_rt_deadline(CLOCK_REALTIME, until);
    void *value;
    int error = FT_RT_END(join(self, handle, &value, &deadline, false, FT_RT_SITE));
    return joined(error, result, value, CODE);
}

int pthread_clockjoin_np(pthread_t handle, void **result, clockid_t clock,
                         const struct timespec *until)
{
    FT_RT_EXPLORED(ft_rt_x_join(handle, result, false, ft_rt_x_limit_until(clock, until), CODE));
    FT_RT_HOOK(pthread_clockjoin_np, handle, result, clock, until);
    struct timespec deadline = ft_rt_deadline(clock, until);
    void *value;
    int error = FT_RT_END(join(self, handle, &value, &deadline, false, FT_RT_SITE));
    return joined(error, result, value, CODE);
}

int pthread_detach(pthread_t handle)
{
    FT_RT_EXPLORED(ft_rt_x_detach(handle));
    return FT_REAL(pthread_detach)(handle);
}

int pthread_setname_np(pthread_t handle, const char *name)
{
    FT_RT_EXPLORED(ft_rt_x_set_name(name));
    return FT_REAL(pthread_setname_np)(handle, name);
}

int pthread_cancel(pthread_t handle)
{
    if (ft_rt_exploring && ft_rt_x_self) ft_rt_x_refuse("pthread_cancel", CODE);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return FT_REAL(pthread_cancel)(handle);
    ft_rt_say("pthread_cancel is not recorded: the call is refused (ENOSYS)");
    ft_rt_header->refused++;
    return FT_RT_END(ENOSYS);
}

/* ---- C11's threads wrap pthread's; the C library calls its own functions, not the hooks */

typedef struct coat {
    thrd_start_t start;
    void *argument;
} coat;

static void *run_coat(void *argument)
{
    coat *c = argument, copy = *c;
    free(c);
    return (void *)(intptr_t)copy.start(copy.argument);
}

int thrd_create(thrd_t *handle, thrd_start_t start, void *argument)
{
    coat *c = malloc(sizeof *c);
    if (!c) return thrd_nomem;
    *c = (coat){.start = start, .argument = argument};
    if (!ft_rt_create_from(handle, NULL, run_coat, c, (const void *)(uintptr_t)start, CODE))
        return thrd_success;
    free(c);
    return thrd_error;
}

int thrd_join(thrd_t handle, int *result)
{
    void *value;
    if (ft_rt_join(handle, &value, CODE)) return thrd_error;
    if (!result) return thrd_success;
    ft_rt_write_range(result, sizeof *result, CODE);
    *result = (int)(intptr_t)value;
    return thrd_success;
}

int thrd_detach(thrd_t handle)
{
    return pthread_detach(handle) ? thrd_error : thrd_success;
}

int tss_create(tss_t *key, tss_dtor_t end)
{
    tss_t made;
    if (pthread_key_create(&made, end)) return thrd_error;
    ft_rt_write_range(key, sizeof *key, CODE);
    *key = made;
    return thrd_success;
}

int thrd_sleep(const struct timespec *t, struct timespec *left)
{
    int result = nanosleep(t, left);
    return result ? (errno == EINTR ? -1 : -2) : 0;
}

void thrd_yield(void)
{
    sched_yield();
}

/* ---- start and end */

static void finish(void);

void ft_rt_in_child(void)
{
    is_child = ft_rt_logging || is_child;
    ft_rt_forked = true;
    ft_rt_self = NULL;
    ft_rt_logging = false;
    ft_rt_replaying = ft_rt_following = false;
    ft_rt_feeding = false;
    ft_rt_processor_in_child();
}

bool ft_rt_processes, ft_rt_timers, ft_rt_forked;

static void in_parent(void)
{
    ft_rt_processes = true;
}

/* False: the log has no room for the first records. */
static bool record(void)
{
    assert(!ft_rt_header->replay && !ft_rt_logging);
    enum { REBUILD = 2 };
    ft_rt_header->built = ft_sym_built();
    if (ft_rt_header->symbolic && !ft_rt_header->built) {
        ft_rt_header->end = FT_RAW_END_REBUILD;
        _exit(REBUILD);
    }
    ft_rt_log_begin();
    if (ft_rt_header->symbolic) ft_sym_start();
    ft_rt_log_modules();
    ft_rt_log_arguments();
    return ft_rt_logging;
}

static bool begin(void)
{
    unsigned char *log = (unsigned char *)ft_rt_header;
    if (ft_rt_header->replay) {
        ft_rt_replaying = true;
        ft_rt_replay_start(log + FT_RAW_PAGE);
        return true;
    }
    if (ft_rt_header->feed) ft_rt_replay_start(log + ft_rt_header->limit);
    if (ft_rt_header->follow) ft_rt_follow_start(log + ft_rt_header->limit + ft_rt_header->feed);
    return record();
}

static void start(void)
{
    static bool tried;
    if (tried) return;
    tried = true;
    ft_rt_real_start();
    if (ft_rt_x_open() || ft_rt_c_open()) {
        at_quick_exit(finish);
        return;
    }
    if (!ft_rt_log_open() || !begin()) return;
    ft_rt_stdio_start();
    ft_rt_fd_begin();
    has_end_key = !pthread_key_create(&end_key, end_thread);
    if (!has_end_key)
        ft_rt_say(
            "the program uses all thread keys (pthread_key_create): the ends of threads are not "
            "recorded");
    pthread_atfork(ft_rt_fork_prepare, in_parent, ft_rt_in_child);
    at_quick_exit(finish);
    ft_rt_baton_start();
    assert(ft_rt_self && !ft_rt_self->id && ft_rt_self->state == FT_RT_RUNNING);
    ft_rt_self->inside = true;
    log_begin();
    pthread_setspecific(end_key, (void *)1);
    ft_rt_self->inside = false;
    ft_rt_signals_start();
}

void __tsan_init(void);
void __tsan_init(void)
{
    start();
    ft_rt_libraries_begin(__builtin_return_address(0)); /* before their own code runs */
}

__attribute__((constructor(101))) static void start_early(void)
{
    start();
}

/* Runs after all that the program registered itself. */
__attribute__((destructor(101))) static void finish(void)
{
    if (ft_rt_exploring) ft_rt_x_finish();
    ft_rt_c_exit();
    ft_rt_thread *self = ft_rt_enter();
    if (self && ft_rt_following) ft_rt_follow_exit(self);
    if (self) ft_rt_log_wants(), ft_rt_log_deadlocks(), ft_rt_log_open_line();
    ft_rt_log_end(FT_RAW_END_EXIT); /* without a thread: main's ended, and then all others */
    ft_rt_replay_exit();
    if (self) ft_rt_leave(self);
}

void _exit(int code)
{
    ft_rt_x_exit(code);
    ft_rt_c_exit();
    ft_rt_thread *self = ft_rt_enter();
    if (self && ft_rt_following) ft_rt_follow_exit(self);
    if (self)
        ft_rt_log_wants(), ft_rt_log_deadlocks(), ft_rt_log_end(FT_RAW_END_EXIT),
            ft_rt_replay_exit();
    syscall(SYS_exit_group, code);
    __builtin_unreachable();
}

void _Exit(int code)
{
    _exit(code);
}
