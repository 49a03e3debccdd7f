/* syscall(): calls that the program makes by number.
 *
 * futex: C++20 waits on atomics, latches, barriers, and locks of the program's own. The atomic
 * accesses around them order the threads, so a wait is not an event. Whether it slept or came too
 * late depends on the schedule, and the code after it looks at its result. The hook therefore
 * always returns what a futex may always return, that it was woken; the waiter checks again.
 *
 * Calls for which there is a function (FT_SYSCALL_TABLE): as where the function is called. Any
 * other call is a use of an object that is not known (inputs/channels.h), unless
 * FT_SYSCALL_APART_TABLE names it.
 *
 * New processes: unrecorded, as after fork(). */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "libc/contract.h"
#include "memory/memory.h"
#include "process/process.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "world/world.h"

enum { ARGUMENTS = 6, OPERATION = 1, VALUE = 2, TIMEOUT = 3 };
enum { BORROWS = CLONE_VM | CLONE_VFORK }; /* the memory, until the child is another program */

long __wrap_syscall(long number, ...);

static bool is_wait(long number, const long *a)
{
    int operation = (int)a[OPERATION] & FUTEX_CMD_MASK;
    return number == SYS_futex && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

static long plain(long number, const long *a)
{
    return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* The clock of an absolute time limit. */
static clockid_t clock_of(const long *a)
{
    return a[OPERATION] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

static bool is_absolute(const long *a)
{
    return ((int)a[OPERATION] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
}

/* With a seed: its time limit passes at once. */
static bool is_over(const ft_rt_thread *self, const long *a)
{
    const struct timespec *limit = (const struct timespec *)a[TIMEOUT];
    if (!limit) return false;
    int64_t ns = limit->tv_sec * INT64_C(1000000000) + limit->tv_nsec;
    if (is_absolute(a)) {
        struct timespec deadline = ft_rt_deadline(clock_of(a), limit);
        ns = ft_rt_time_left(&deadline);
    }
    return ft_rt_time_passes(self, ns);
}

/* The call, until a time of the program's. */
static long sleep_on(long number, const long *a)
{
    long real[ARGUMENTS];
    struct timespec until;
    memcpy(real, a, sizeof real);
    if (a[TIMEOUT] && is_absolute(a)) {
        until = ft_rt_machine_time(clock_of(a), (const struct timespec *)a[TIMEOUT]);
        real[TIMEOUT] = (long)&until;
    }
    return plain(number, real);
}

/* If a schedule or inputs are followed, the waiter's next read of the memory decides when it goes
 * on. */
static long wait_on(ft_rt_thread *self, long number, const long *a)
{
    if (ft_rt_replaying || ft_rt_feed_records()) {
        if (!ft_rt_replaying) ft_rt_yield(self);
        ft_rt_leave(self);
        return 0;
    }
    assert(!ft_rt_replaying && self == ft_rt_self);
    if (is_over(self, a)) {
        ft_rt_leave(self);
        errno = ETIMEDOUT;
        return -1;
    }
    ft_rt_outside(self);
    long result = sleep_on(number, a);
    return result < 0 && (errno == EAGAIN || (errno == EINTR && !a[TIMEOUT])) ? 0 : result;
}

/* A recording that follows an order: the order has the result of the call. */
static bool is_followed(const long *a, long *result, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter_call(pc);
    if (!self) return false;
    ft_rt_followed done = ft_rt_follow_futex();
    ft_rt_leave(self);
    *result = is_wait(SYS_futex, a) ? 0 : a[VALUE];
    if (done == FT_RT_FOLLOWED_LATE) *result = -1, errno = ETIMEDOUT;
    return done != FT_RT_NOT_FOLLOWED;
}

/* After the call that made a process, in both processes. */
static long forked(long result)
{
    if (!result) ft_rt_in_child();
    return result;
}

/* A child that borrows the parent's memory gets its own, as with vfork() (children.c). A thread, or
 * a child on another stack, does not return to this C function. */
static bool makes_process(uint64_t *flags, uint64_t stack)
{
    if ((*flags & BORROWS) == BORROWS && !stack) *flags &= ~(uint64_t)BORROWS;
    return !(*flags & CLONE_VM);
}

static long clone_by_flags(const long *a)
{
    uint64_t flags = (uint64_t)a[0];
    ft_rt_give_away(__builtin_return_address(0));
    if (!makes_process(&flags, (uint64_t)a[1])) return plain(SYS_clone, a);
    return forked(syscall(SYS_clone, flags, a[1], a[2], a[3], a[4]));
}

static long clone_by_structure(const long *a)
{
    struct clone_args copy;
    size_t size = (size_t)a[1];
    if (!a[0] || size < CLONE_ARGS_SIZE_VER0 || size > sizeof copy) return plain(SYS_clone3, a);
    memcpy(&copy, (const void *)a[0], size);
    uint64_t flags = copy.flags;
    ft_rt_give_away(__builtin_return_address(0));
    if (!makes_process(&flags, copy.stack)) return plain(SYS_clone3, a);
    copy.flags = flags;
    return forked(syscall(SYS_clone3, &copy, size));
}

/* True: it makes a process or a thread, and has. */
static bool is_clone(long number, const long *a, long *result)
{
    if (number == SYS_fork || number == SYS_vfork)
        *result = fork();
    else if (number == SYS_clone)
        *result = clone_by_flags(a);
    else if (number == SYS_clone3)
        *result = clone_by_structure(a);
    else
        return false;
    return true;
}

/* ---- calls for which there is a function: each row is that call */

#define INT(i)  ((int)a[i])
#define SIZE(i) ((size_t)a[i])
#define AT(i)   ((void *)a[i])
#define FT_SYSCALL_TABLE(X)                                                                        \
    X(gettid, gettid())                                                                            \
    X(tgkill, tgkill(INT(0), INT(1), INT(2)))                                                      \
    X(kill, kill(INT(0), INT(1)))                                                                  \
    X(getrandom, getrandom(AT(0), SIZE(1), (unsigned)a[2]))                                        \
    X(clock_gettime, clock_gettime(INT(0), AT(1)))                                                 \
    X(gettimeofday, gettimeofday(AT(0), AT(1)))                                                    \
    X(nanosleep, nanosleep(AT(0), AT(1)))                                                          \
    X(sched_yield, sched_yield())                                                                  \
    X(open, open(AT(0), INT(1), (mode_t)a[2]))                                                     \
    X(openat, openat(INT(0), AT(1), INT(2), (mode_t)a[3]))                                         \
    X(creat, creat(AT(0), (mode_t)a[1]))                                                           \
    X(close, close(INT(0)))                                                                        \
    X(read, read(INT(0), AT(1), SIZE(2)))                                                          \
    X(pread64, pread(INT(0), AT(1), SIZE(2), a[3]))                                                \
    X(readv, readv(INT(0), AT(1), INT(2)))                                                         \
    X(write, write(INT(0), AT(1), SIZE(2)))                                                        \
    X(pwrite64, pwrite(INT(0), AT(1), SIZE(2), a[3]))                                              \
    X(writev, writev(INT(0), AT(1), INT(2)))                                                       \
    X(lseek, lseek(INT(0), a[1], INT(2)))                                                          \
    X(dup, dup(INT(0)))                                                                            \
    X(dup2, dup2(INT(0), INT(1)))                                                                  \
    X(dup3, dup3(INT(0), INT(1), INT(2)))                                                          \
    X(fcntl, fcntl(INT(0), INT(1), a[2]))                                                          \
    X(ioctl, ioctl(INT(0), (unsigned long)a[1], a[2]))                                             \
    X(flock, flock(INT(0), INT(1)))                                                                \
    X(access, access(AT(0), INT(1)))                                                               \
    X(unlink, unlink(AT(0)))                                                                       \
    X(unlinkat, unlinkat(INT(0), AT(1), INT(2)))                                                   \
    X(rename, rename(AT(0), AT(1)))                                                                \
    X(renameat, renameat(INT(0), AT(1), INT(2), AT(3)))                                            \
    X(link, link(AT(0), AT(1)))                                                                    \
    X(symlink, symlink(AT(0), AT(1)))                                                              \
    X(mkdir, mkdir(AT(0), (mode_t)a[1]))                                                           \
    X(mkdirat, mkdirat(INT(0), AT(1), (mode_t)a[2]))                                               \
    X(rmdir, rmdir(AT(0)))                                                                         \
    X(ftruncate, ftruncate(INT(0), a[1]))                                                          \
    X(pipe, pipe(AT(0)))                                                                           \
    X(pipe2, pipe2(AT(0), INT(1)))                                                                 \
    X(eventfd, eventfd((unsigned)a[0], 0))                                                         \
    X(eventfd2, eventfd((unsigned)a[0], INT(1)))                                                   \
    X(timerfd_create, timerfd_create(INT(0), INT(1)))                                              \
    X(timerfd_settime, timerfd_settime(INT(0), INT(1), AT(2), AT(3)))                              \
    X(timerfd_gettime, timerfd_gettime(INT(0), AT(1)))                                             \
    X(signalfd, signalfd(INT(0), AT(1), 0))                                                        \
    X(signalfd4, signalfd(INT(0), AT(1), INT(3)))                                                  \
    X(inotify_init, inotify_init())                                                                \
    X(inotify_init1, inotify_init1(INT(0)))                                                        \
    X(fanotify_init, fanotify_init((unsigned)a[0], (unsigned)a[1]))                                \
    X(memfd_create, memfd_create(AT(0), (unsigned)a[1]))                                           \
    X(epoll_create, epoll_create(INT(0)))                                                          \
    X(epoll_create1, epoll_create1(INT(0)))                                                        \
    X(epoll_ctl, epoll_ctl(INT(0), INT(1), INT(2), AT(3)))                                         \
    X(epoll_wait, epoll_wait(INT(0), AT(1), INT(2), INT(3)))                                       \
    X(epoll_pwait, epoll_pwait(INT(0), AT(1), INT(2), INT(3), AT(4)))                              \
    X(poll, poll(AT(0), (nfds_t)a[1], INT(2)))                                                     \
    X(ppoll, ppoll(AT(0), (nfds_t)a[1], AT(2), AT(3)))                                             \
    X(select, select(INT(0), AT(1), AT(2), AT(3), AT(4)))                                          \
    X(socket, socket(INT(0), INT(1), INT(2)))                                                      \
    X(socketpair, socketpair(INT(0), INT(1), INT(2), AT(3)))                                       \
    X(bind, bind(INT(0), AT(1), (socklen_t)a[2]))                                                  \
    X(listen, listen(INT(0), INT(1)))                                                              \
    X(connect, connect(INT(0), AT(1), (socklen_t)a[2]))                                            \
    X(accept, accept(INT(0), AT(1), AT(2)))                                                        \
    X(accept4, accept4(INT(0), AT(1), AT(2), INT(3)))                                              \
    X(shutdown, shutdown(INT(0), INT(1)))                                                          \
    X(getsockname, getsockname(INT(0), AT(1), AT(2)))                                              \
    X(getpeername, getpeername(INT(0), AT(1), AT(2)))                                              \
    X(getsockopt, getsockopt(INT(0), INT(1), INT(2), AT(3), AT(4)))                                \
    X(setsockopt, setsockopt(INT(0), INT(1), INT(2), AT(3), (socklen_t)a[4]))                      \
    X(recvfrom, recvfrom(INT(0), AT(1), SIZE(2), INT(3), AT(4), AT(5)))                            \
    X(recvmsg, recvmsg(INT(0), AT(1), INT(2)))                                                     \
    X(recvmmsg, recvmmsg(INT(0), AT(1), (unsigned)a[2], INT(3), AT(4)))                            \
    X(sendto, sendto(INT(0), AT(1), SIZE(2), INT(3), AT(4), (socklen_t)a[5]))                      \
    X(sendmsg, sendmsg(INT(0), AT(1), INT(2)))                                                     \
    X(sendmmsg, sendmmsg(INT(0), AT(1), (unsigned)a[2], INT(3)))                                   \
    X(sendfile, sendfile(INT(0), INT(1), AT(2), SIZE(3)))                                          \
    X(splice, splice(INT(0), AT(1), INT(2), AT(3), SIZE(4), (unsigned)a[5]))                       \
    X(tee, tee(INT(0), INT(1), SIZE(2), (unsigned)a[3]))                                           \
    X(vmsplice, vmsplice(INT(0), AT(1), SIZE(2), (unsigned)a[3]))                                  \
    X(copy_file_range, copy_file_range(INT(0), AT(1), INT(2), AT(3), SIZE(4), (unsigned)a[5]))     \
    X(process_vm_writev,                                                                           \
      process_vm_writev(INT(0), AT(1), SIZE(2), AT(3), SIZE(4), (unsigned long)a[5]))              \
    X(mq_timedsend, mq_timedsend(INT(0), AT(1), SIZE(2), (unsigned)a[3], AT(4)))                   \
    X(mq_timedreceive, mq_timedreceive(INT(0), AT(1), SIZE(2), AT(3), AT(4)))                      \
    X(semop, semop(INT(0), AT(1), SIZE(2)))                                                        \
    X(semtimedop, semtimedop(INT(0), AT(1), SIZE(2), AT(3)))                                       \
    X(msgsnd, msgsnd(INT(0), AT(1), SIZE(2), INT(3)))                                              \
    X(msgrcv, msgrcv(INT(0), AT(1), SIZE(2), a[3], INT(4)))                                        \
    X(wait4, wait4(INT(0), AT(1), INT(2), AT(3)))                                                  \
    X(waitid, waitid((idtype_t)a[0], (id_t)a[1], AT(2), INT(3)))                                   \
    X(rt_sigtimedwait, sigtimedwait(AT(0), AT(1), AT(2)))

/* Calls that neither give something to other threads nor take something from them. */
#define FT_SYSCALL_APART_TABLE(X)                                                                  \
    X(futex)                                                                                       \
    X(getpid)                                                                                      \
    X(getppid)                                                                                     \
    X(getuid)                                                                                      \
    X(geteuid)                                                                                     \
    X(getgid)                                                                                      \
    X(getegid)                                                                                     \
    X(getpgid)                                                                                     \
    X(getsid)                                                                                      \
    X(sched_getaffinity)                                                                           \
    X(sched_setaffinity)                                                                           \
    X(sched_getscheduler)                                                                          \
    X(sched_setscheduler)                                                                          \
    X(sched_getparam)                                                                              \
    X(sched_setparam)                                                                              \
    X(sched_getattr)                                                                               \
    X(sched_setattr)                                                                               \
    X(getcpu)                                                                                      \
    X(membarrier)                                                                                  \
    X(madvise)                                                                                     \
    X(mmap)                                                                                        \
    X(munmap)                                                                                      \
    X(mprotect)                                                                                    \
    X(mremap)                                                                                      \
    X(mlock)                                                                                       \
    X(mincore)                                                                                     \
    X(mbind)                                                                                       \
    X(set_mempolicy)                                                                               \
    X(get_mempolicy)                                                                               \
    X(exit)                                                                                        \
    X(exit_group)                                                                                  \
    X(prctl)                                                                                       \
    X(arch_prctl)                                                                                  \
    X(capget)                                                                                      \
    X(capset)                                                                                      \
    X(prlimit64)                                                                                   \
    X(getrlimit)                                                                                   \
    X(setrlimit)                                                                                   \
    X(getrusage)                                                                                   \
    X(times)                                                                                       \
    X(sysinfo)                                                                                     \
    X(uname)                                                                                       \
    X(getpriority)                                                                                 \
    X(setpriority)                                                                                 \
    X(ioprio_get)                                                                                  \
    X(ioprio_set)                                                                                  \
    X(seccomp)                                                                                     \
    X(personality)                                                                                 \
    X(rt_sigaction)                                                                                \
    X(rt_sigprocmask)                                                                              \
    X(rt_sigreturn)                                                                                \
    X(set_robust_list)                                                                             \
    X(get_robust_list)                                                                             \
    X(set_tid_address)                                                                             \
    X(clock_getres)                                                                                \
    X(umask)                                                                                       \
    X(execve)                                                                                      \
    X(execveat)

#define FT_ROW(name, call)                                                                         \
    static long call_##name(const long *a)                                                         \
    {                                                                                              \
        (void)a;                                                                                   \
        return (long)(call);                                                                       \
    }
FT_SYSCALL_TABLE(FT_ROW)
#undef FT_ROW

/* True: there is a function for it here, and it is done. */
static bool is_function(long number, const long *a, long *result)
{
    static const struct {
        long number;
        long (*call)(const long *a);
    } rows[] = {
#define FT_ROW(name, call) {SYS_##name, call_##name},
        FT_SYSCALL_TABLE(FT_ROW)
#undef FT_ROW
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].number != number) continue;
        *result = rows[i].call(a);
        return true;
    }
    return false;
}

static bool is_apart(long number)
{
    static const long numbers[] = {
#define FT_ROW(name) SYS_##name,
        FT_SYSCALL_APART_TABLE(FT_ROW)
#undef FT_ROW
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i] == number) return true;
    return false;
}

/* The recorder does not know the call: it may give something to another thread, and take something
 * from one. */
static long unknown(long number, const long *a, const void *pc)
{
    ft_rt_thread *self = is_apart(number) ? NULL : ft_rt_enter();
    if (!self) return plain(number, a);
    ft_rt_unknown_out(pc);
    ft_rt_outside(self);
    long result = plain(number, a);
    int error = errno;
    if (ft_rt_enter()) {
        ft_rt_unknown_in(pc);
        ft_rt_leave(self);
    }
    errno = error;
    return result;
}

long __wrap_syscall(long number, ...)
{
    const void *pc = __builtin_return_address(0);
    long a[ARGUMENTS];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < ARGUMENTS; i++) a[i] = va_arg(rest, long);
    va_end(rest);
    long result;
    if (is_function(number, a, &result)) return result;
    if (ft_rt_world_runs() && number == SYS_futex && ft_rt_x_futex(a, &result, pc)) return result;
    ft_rt_world_calls(number, pc);
    ft_rt_memory_may_go();
    if (is_clone(number, a, &result)) return result;
    if (ft_rt_following && number == SYS_futex && is_followed(a, &result, pc)) return result;
    ft_rt_thread *self = is_wait(number, a) ? ft_rt_enter() : NULL;
    return self ? wait_on(self, number, a) : unknown(number, a, pc);
}
