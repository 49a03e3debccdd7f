/* Waits for content that nobody can send: every thread waits for another thread, or in a system
 * call for a pipe, socket pair or event descriptor that this process alone has. No handler, timer,
 * child or other process can change that, so the run is ended like any other deadlock. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "scheduling/baton.h"
#include "scheduling/kernel.h"
#include "scheduling/needs.h"
#include "state/thread.h"

enum { FOR_S = 1, OF_THE_RUNTIME = 1 /* the watchdog */ };

/* All threads of the process are the recorder's: each one has a folder in /proc/self/task. */
static bool knows_all_threads(void)
{
    struct stat folder;
    uint32_t known = OF_THE_RUNTIME;
    if (stat("/proc/self/task", &folder)) return false;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++)
        known += ft_rt_baton.threads[i].state != FT_RT_DONE;
    return folder.st_nlink <= known + 2;
}

/* By the kernel's name of it: a timer's descriptor gets content by itself, and a name in the file
 * system may be opened by another process. */
static bool is_own(int fd)
{
    static const char *const names[] = {"pipe:[", "socket:[", "anon_inode:[eventfd]"};
    char path[64], name[64] = "";
    if (!ft_rt_fd_is_own(fd)) return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, name, sizeof name - 1);
    for (size_t i = 0; n > 0 && i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i]))) return true;
    return false;
}

/* *outside: the thread waits in a system call: for content, or for a futex of its own process. */
static bool waits_for_ever(const ft_rt_thread *t, bool *outside)
{
    int fds[FT_RT_CALL_FDS];
    if (t->state == FT_RT_DONE) return true;
    if (t->state == FT_RT_BLOCKED) return !t->timed;
    if (t->state != FT_RT_OUTSIDE || !t->tid) return false;
    int n = ft_rt_kernel_waits(t->tid, fds);
    for (int i = 0; i < n; i++)
        if (!is_own(fds[i])) return false;
    bool waits = n > 0 || ft_rt_kernel_call(t->tid) == FT_RT_CALL_WAIT;
    *outside |= waits;
    return waits;
}

static bool all_wait(void)
{
    bool outside = false;
    if (ft_rt_baton.runner || !ft_rt_is_closed()) return false;
    for (uint32_t i = 0; i < ft_rt_baton.n_threads; i++)
        if (!waits_for_ever(&ft_rt_baton.threads[i], &outside)) return false;
    return outside && knows_all_threads();
}

void ft_rt_look_at_waits(ft_rt_stall *s)
{
    struct timespec now;
    FT_REQUIRE(ft_rt_baton.lock);
    if (!all_wait()) {
        s->since = 0;
        return;
    }
    FT_REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
    if (!s->since) s->since = now.tv_sec;
    if (now.tv_sec - s->since > FOR_S) ft_rt_end_overdue(FT_RAW_END_ENDLESS);
}
