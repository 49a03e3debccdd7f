/* Calls that sleep: the thread is outside meanwhile, and others run. The watchdog finds all other
 * calls, only later. */
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"

/*  result, name, parameters, arguments */
#define CALLS(X)                                                                                   \
    X(int, nanosleep, (const struct timespec *t, struct timespec *left), (t, left))                \
    X(int, clock_nanosleep,                                                                        \
      (clockid_t c, int flags, const struct timespec *t, struct timespec *left),                   \
      (c, flags, t, left))                                                                         \
    X(int, usleep, (useconds_t us), (us))                                                          \
    X(unsigned, sleep, (unsigned s), (s))                                                          \
    X(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms))                            \
    X(int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t))   \
    X(int, epoll_wait, (int fd, struct epoll_event *events, int n, int ms), (fd, events, n, ms))   \
    X(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))                                    \
    X(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags))                  \
    X(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))                     \
    X(int, accept, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n))                         \
    X(int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags))      \
    X(int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n))                   \
    X(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))               \
    X(pid_t, wait, (int *status), (status))

#define CALL(result, name, parameters, arguments)                                                  \
    result name parameters                                                                         \
    {                                                                                              \
        ft_rt_thread *self = ft_rt_enter();                                                        \
        if (self) ft_rt_outside(self);                                                             \
        return FT_REAL(name) arguments;                                                            \
    }
CALLS(CALL)

int sched_yield(void)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return FT_REAL(sched_yield)();
    ft_rt_yield(self);
    ft_rt_leave(self);
    return 0;
}
