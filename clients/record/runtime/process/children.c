/* Child processes. A forked process runs unrecorded (ft_rt_in_child). A child that shared the
 * parent's memory until it calls exec would not, so vfork is fork here. A started program gets all
 * processors that this one was given (scheduling/processor.c). */
#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "inputs/channels.h"
#include "libc/libc.h"
#include "memory/memory.h"
#include "process/process.h"
#include "raw/raw.h"
#include "scheduling/scheduling.h"
#include "state/object.h"
#include "state/thread.h"
#include "sync/sync.h"
#include "world/world.h"

enum { ARGUMENTS = 1024 };

/* Before a process begins: it gets the descriptors, and can end. */
static void give_away(bool all, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    if (all) ft_rt_fd_escape_all();
    ft_rt_child_begins(pc);
    self->inside = false; /* the turn goes on until the call */
}

void ft_rt_give_away(const void *pc)
{
    give_away(true, pc);
}

/* ---- locks that a forked process waits for: another thread may hold them when it is forked, and
 * nobody gives them back there */

static struct {
    const void *code; /* of the fork that begins */
    uint32_t forks;
    const ft_rt_thread *forker; /* in the child: the thread that it is a copy of */
} forked;

void ft_rt_fork_prepare(void)
{
    if (!forked.code) return;
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    forked.forker = self;
    uint64_t channel = FT_RAW_CHANNEL_OF(FT_RAW_CHANNEL_FORKS, (uint64_t)++forked.forks);
    FT_RT_LOG(CHANNEL, FT_RAW_CHANNEL_OUT, channel, ft_rt_site(forked.code));
    forked.code = NULL;
    self->inside = false;
}

/* Locks that the child made anew are its own. */
enum { MADE = 64 };
static const void *made[MADE];
static uint32_t n_made;

void ft_rt_child_makes(const void *lock)
{
    made[n_made++ % MADE] = lock;
}

static bool is_its_own(const void *lock, const ft_rt_object *o)
{
    if (n_made > MADE || (o && o->owner && o->owner == forked.forker)) return true;
    for (uint32_t i = 0; i < n_made; i++)
        if (made[i] == lock) return true;
    return false;
}

static bool is_known(uint32_t n, const void *lock, uint32_t shared)
{
    for (uint32_t i = 0; i < n && i < FT_RAW_WANTS; i++) {
        const ft_raw_want *w = &ft_rt_header->wants[i];
        if (w->process == forked.forks && w->address == (uintptr_t)lock && w->shared == shared)
            return true;
    }
    return false;
}

void ft_rt_child_wants(ft_raw_class class, const void *lock, bool shared, const void *pc)
{
    const ft_rt_object *o = ft_rt_object_known(class, lock);
    if (!forked.forks || is_its_own(lock, o)) return;
    uint32_t n = __atomic_load_n(&ft_rt_header->n_wants, __ATOMIC_RELAXED);
    if (n >= FT_RAW_WANTS || is_known(n, lock, shared)) return;
    n = __atomic_fetch_add(&ft_rt_header->n_wants, 1, __ATOMIC_RELAXED);
    if (n >= FT_RAW_WANTS) return;
    ft_raw_want *want = &ft_rt_header->wants[n];
    *want = (ft_raw_want){.process = forked.forks,
                          .object = o ? o->id : FT_RAW_UNUSED,
                          .class = class,
                          .shared = shared,
                          .address = (uintptr_t)lock,
                          .code = (uintptr_t)pc};
    __atomic_store_n(&want->written, 1, __ATOMIC_RELEASE);
}

extern const char __executable_start, _end;

/* A lock that no thread had used when the process was forked is known by its address: a variable's
 * stays the same, other memory may hold another lock by now. */
static uint32_t object_of(const ft_raw_want *want)
{
    if (want->object != FT_RAW_UNUSED) return want->object;
    uintptr_t from = (uintptr_t)&__executable_start, to = (uintptr_t)&_end;
    if (want->address < from || want->address >= to) return FT_RAW_UNUSED;
    const void *lock = (const void *)(uintptr_t)want->address;
    const ft_rt_object *o = ft_rt_object_known((ft_raw_class)want->class, lock);
    return o ? o->id : FT_RAW_UNUSED;
}

void ft_rt_log_wants(void)
{
    uint32_t n = __atomic_load_n(&ft_rt_header->n_wants, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n && i < FT_RAW_WANTS; i++) {
        const ft_raw_want *want = &ft_rt_header->wants[i];
        if (!__atomic_load_n(&want->written, __ATOMIC_ACQUIRE)) continue;
        uint32_t object = object_of(want);
        if (object >= FT_RAW_FORKS / 2) continue;
        uint64_t number = want->process * FT_RAW_FORKS + object * UINT64_C(2) + want->shared;
        FT_RT_LOG(CHANNEL, FT_RAW_CHANNEL_OUT, FT_RAW_CHANNEL_OF(FT_RAW_CHANNEL_WANTS, number),
                  ft_rt_site((const void *)(uintptr_t)want->code));
    }
}

pid_t fork(void)
{
    ft_rt_world_refuse(FT_RT_WORLD_PROCESS, "fork", __builtin_return_address(0));
    forked.code = ft_rt_self ? __builtin_return_address(0) : NULL;
    give_away(true, __builtin_return_address(0));
    return FT_REAL(fork)();
}

pid_t vfork(void)
{
    return fork();
}

/* fork() without the handlers of pthread_atfork, which the recorder uses. */
pid_t _Fork(void)
{
    ft_rt_world_refuse(FT_RT_WORLD_PROCESS, "_Fork", __builtin_return_address(0));
    give_away(true, __builtin_return_address(0));
    pid_t child = FT_REAL(_Fork)();
    if (!child) ft_rt_in_child();
    return child;
}

typedef struct beginning {
    int (*run)(void *);
    void *argument;
    bool shares; /* its parent's memory, and waits */
} beginning;

static int begin(void *context)
{
    beginning b = *(beginning *)context;
    if (b.shares)
        ft_rt_self = NULL;
    else
        ft_rt_in_child();
    return b.run(b.argument);
}

/* A child that shares memory with its parent shares this thread's thread-local memory too, unless
 * it gets its own. Its events look like the parent's if the parent goes on. */
int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
    ft_rt_world_refuse(FT_RT_WORLD_PROCESS, "clone", __builtin_return_address(0));
    va_list rest;
    va_start(rest, argument);
    void *parent_tid = va_arg(rest, void *), *own = va_arg(rest, void *);
    void *tid = va_arg(rest, void *);
    va_end(rest);
    ft_rt_thread *self = ft_rt_self;
    bool shares = flags & CLONE_VM && !(flags & CLONE_SETTLS);
    if (!self || !run || (flags & CLONE_VM && !shares))
        return FT_REAL(clone)(run, stack, flags, argument, parent_tid, own, tid);
    if (shares && !(flags & CLONE_VFORK)) {
        ft_rt_say(
            "clone() with CLONE_VM and without CLONE_SETTLS cannot be recorded: the call fails "
            "with ENOSYS");
        errno = ENOSYS;
        return -1;
    }
    beginning b = {run, argument, shares};
    ft_rt_memory_may_go();
    give_away(true, __builtin_return_address(0));
    ft_rt_processor_leave();
    int child = FT_REAL(clone)(begin, stack, flags, &b, parent_tid, own, tid);
    ft_rt_self = self;
    ft_rt_processor_return();
    return child;
}

static void end_of_child(ft_rt_thread *self, const void *pc)
{
    if (!self || !ft_rt_enter()) return;
    ft_rt_unknown_in(pc);
    ft_rt_leave(self);
}

/* The recording ends here, unless the call fails. */
#define BECOMES(name, parameters, arguments)                                                       \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_world_refuse(FT_RT_WORLD_PROCESS, #name, __builtin_return_address(0));               \
        bool ours = ft_rt_self && ft_rt_logging;                                                   \
        if (ours) ft_rt_header->end = FT_RAW_END_EXEC;                                             \
        ft_rt_processor_leave();                                                                   \
        int result = FT_REAL(name) arguments;                                                      \
        ft_rt_processor_return();                                                                  \
        if (ours) ft_rt_header->end = FT_RAW_END_OPEN;                                             \
        return result;                                                                             \
    }
BECOMES(execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
BECOMES(execv, (const char *path, char *const argv[]), (path, argv))
BECOMES(execvp, (const char *file, char *const argv[]), (file, argv))
BECOMES(execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
BECOMES(fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))

/* The arguments up to a NULL; false: there are too many. *rest is behind it. */
static bool collect(const char *first, va_list *rest, char **argv)
{
    size_t n = 0;
    for (const char *one = first; one; one = va_arg(*rest, const char *)) {
        if (n == ARGUMENTS - 1) {
            errno = E2BIG;
            return false;
        }
        argv[n++] = (char *)(uintptr_t)one;
    }
    argv[n] = NULL;
    return true;
}

#define BECOMES_LISTED(name, call)                                                                 \
    int name(const char *path, const char *argument, ...)                                          \
    {                                                                                              \
        char *argv[ARGUMENTS];                                                                     \
        va_list rest;                                                                              \
        ft_rt_world_refuse(FT_RT_WORLD_PROCESS, #name, __builtin_return_address(0));               \
        va_start(rest, argument);                                                                  \
        int result = collect(argument, &rest, argv) ? call : -1;                                   \
        va_end(rest);                                                                              \
        return result;                                                                             \
    }
BECOMES_LISTED(execl, execv(path, argv))
BECOMES_LISTED(execlp, execvp(path, argv))
BECOMES_LISTED(execle, execve(path, argv, va_arg(rest, char *const *)))

#define STARTS(type, name, parameters, arguments)                                                  \
    type name parameters                                                                           \
    {                                                                                              \
        ft_rt_world_refuse(FT_RT_WORLD_PROCESS, #name, __builtin_return_address(0));               \
        ft_rt_processes = true;                                                                    \
        give_away(false, __builtin_return_address(0));                                             \
        ft_rt_processor_leave();                                                                   \
        type result = FT_REAL(name) arguments;                                                     \
        ft_rt_processor_return();                                                                  \
        return result;                                                                             \
    }
STARTS(FILE *, popen, (const char *command, const char *mode), (command, mode))

#define SPAWNS(name)                                                                               \
    int name(pid_t *restrict pid, const char *restrict path,                                       \
             const posix_spawn_file_actions_t *actions,                                            \
             const posix_spawnattr_t *restrict attributes, char *const argv[restrict],             \
             char *const envp[restrict])                                                           \
    {                                                                                              \
        pid_t child;                                                                               \
        ft_rt_world_refuse(FT_RT_WORLD_PROCESS, #name, __builtin_return_address(0));               \
        ft_rt_processes = true;                                                                    \
        give_away(true, __builtin_return_address(0));                                              \
        ft_rt_processor_leave();                                                                   \
        int result = FT_REAL(name)(&child, path, actions, attributes, argv, envp);                 \
        ft_rt_processor_return();                                                                  \
        if (result || !pid) return result;                                                         \
        ft_rt_write_range(pid, sizeof *pid, __builtin_return_address(0));                          \
        *pid = child;                                                                              \
        return 0;                                                                                  \
    }
SPAWNS(posix_spawn)
SPAWNS(posix_spawnp)

int system(const char *command)
{
    const void *pc = __builtin_return_address(0);
    ft_rt_world_refuse(FT_RT_WORLD_PROCESS, "system", pc);
    give_away(false, pc);
    ft_rt_thread *self = ft_rt_enter();
    if (self) ft_rt_outside(self);
    ft_rt_processor_leave();
    int result = FT_REAL(system)(command), error = errno;
    ft_rt_processor_return();
    end_of_child(self, pc);
    errno = error;
    return result;
}

/* The stream's output goes out now, and the process ends. */
int pclose(FILE *stream)
{
    const void *pc = __builtin_return_address(0);
    give_away(false, pc);
    ft_rt_thread *self = ft_rt_enter();
    if (self) ft_rt_fd_freed(stream->_fileno, pc);
    if (self) self->inside = false; /* the call's frees are recorded */
    int result = FT_REAL(pclose)(stream), error = errno;
    end_of_child(self, pc);
    errno = error;
    return result;
}
