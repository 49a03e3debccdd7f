/* syscall(): calls that the program makes by number.
 *
 * futex: C++20 waits on atomics, latches, barriers, and locks of the program's own. The atomic
 * accesses around them order the threads, so a wait is not an event. Whether it slept or came too
 * late depends on the schedule, and the code after it looks at its result. The hook therefore
 * always returns what a futex may always return, that it was woken; the waiter checks again.
 *
 * Time, random numbers, numbers of threads: as where the function is called.
 *
 * New processes: unrecorded, as after fork(). */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "libc/contract.h"
#include "memory/memory.h"
#include "process/process.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

enum { ARGUMENTS = 6, OPERATION = 1, TIMEOUT = 3 };
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
    ft_rt_outside(self);
    long result = plain(number, a);
    return result < 0 && (errno == EAGAIN || (errno == EINTR && !a[TIMEOUT])) ? 0 : result;
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
    if (!makes_process(&flags, copy.stack)) return plain(SYS_clone3, a);
    copy.flags = flags;
    return forked(syscall(SYS_clone3, &copy, size));
}

/* True: it makes a process or a thread, and has. */
static bool is_clone(long number, const long *a, long *result)
{
    if (number == SYS_fork)
        *result = forked(syscall(SYS_fork));
    else if (number == SYS_vfork)
        *result = fork();
    else if (number == SYS_clone)
        *result = clone_by_flags(a);
    else if (number == SYS_clone3)
        *result = clone_by_structure(a);
    else
        return false;
    return true;
}

/* True: there is a function for it here, and it is done. */
static bool is_function(long number, const long *a, long *result)
{
    if (number == SYS_gettid)
        *result = gettid();
    else if (number == SYS_tgkill)
        *result = tgkill((pid_t)a[0], (pid_t)a[1], (int)a[2]);
    else if (number == SYS_getrandom)
        *result = getrandom((void *)a[0], (size_t)a[1], (unsigned)a[2]);
    else if (number == SYS_clock_gettime)
        *result = clock_gettime((clockid_t)a[0], (struct timespec *)a[1]);
    else if (number == SYS_gettimeofday)
        *result = gettimeofday((struct timeval *)a[0], (void *)a[1]);
    else
        return false;
    return true;
}

long __wrap_syscall(long number, ...)
{
    long a[ARGUMENTS];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < ARGUMENTS; i++) a[i] = va_arg(rest, long);
    va_end(rest);
    long result;
    if (is_function(number, a, &result)) return result;
    ft_rt_memory_may_go();
    if (is_clone(number, a, &result)) return result;
    ft_rt_thread *self = is_wait(number, a) ? ft_rt_enter() : NULL;
    return self ? wait_on(self, number, a) : plain(number, a);
}
