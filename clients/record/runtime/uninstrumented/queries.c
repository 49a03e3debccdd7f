/* Functions of the C library that answer questions about users, hosts, files, terminals, threads
 * and the system. As in results.c, a thread that reads an answer must find the thread that asked
 * for it. A function that takes long, or allocates, answers into memory of the runtime first: other
 * threads may go on meanwhile. */
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <getopt.h>
#include <glob.h>
#include <grp.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <pty.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "libc/libc.h"
#include "uninstrumented/uninstrumented.h"

enum { RANGES = 6 };

size_t __real_strlen(const char *s);

/* Programs have functions of their own by such names, which do something else: those are called,
 * and nothing is looked at. What may be a pointer of theirs is none of the C library's ints here.
 */
#define UNLESS_THEIRS(name, ...)                                                                   \
    if (!ft_rt_is_own((const void *)(uintptr_t)__real_##name)) return __real_##name(__VA_ARGS__)

/* A function that leaves `left` where it did not fail. */
#define ANSWERS(result, name, parameters, arguments, good, left)                                   \
    WRAP(result, name, parameters)                                                                 \
    {                                                                                              \
        if (!ft_rt_is_own((const void *)(uintptr_t)__real_##name)) return __real_##name arguments; \
        ft_rt_settle(RANGES);                                                                      \
        result got = __real_##name arguments;                                                      \
        int error = errno;                                                                         \
        ft_rt_settle(RANGES);                                                                      \
        if (good) left;                                                                            \
        errno = error;                                                                             \
        return got;                                                                                \
    }
#define ONE(to)        whole((to), sizeof *(to), CODE)
#define SOME(to, size) whole((to), (size), CODE)

static void whole(void *to, size_t size, const void *pc)
{
    if (to) writes(to, size, pc);
}

static void text(char *to, const void *pc)
{
    if (to) writes(to, __real_strlen(to) + 1, pc);
}

/* The usual one: 0 says that it did not fail, and there is one answer. */
#define ANSWERS_ONE(name, parameters, arguments, to)                                               \
    ANSWERS(int, name, parameters, arguments, !got, ONE(to))

/* ---- threads and their attributes */

ANSWERS_ONE(pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end), key)

#define ATTRIBUTE(name, of, type)                                                                  \
    ANSWERS_ONE(name, (const of *attributes, type *to), (attributes, to), to)
ATTRIBUTE(pthread_attr_getdetachstate, pthread_attr_t, int)
ATTRIBUTE(pthread_attr_getstacksize, pthread_attr_t, size_t)
ATTRIBUTE(pthread_attr_getguardsize, pthread_attr_t, size_t)
ATTRIBUTE(pthread_attr_getschedpolicy, pthread_attr_t, int)
ATTRIBUTE(pthread_attr_getschedparam, pthread_attr_t, struct sched_param)
ATTRIBUTE(pthread_attr_getinheritsched, pthread_attr_t, int)
ATTRIBUTE(pthread_mutexattr_gettype, pthread_mutexattr_t, int)
ATTRIBUTE(pthread_mutexattr_getprotocol, pthread_mutexattr_t, int)
ATTRIBUTE(pthread_mutexattr_getpshared, pthread_mutexattr_t, int)
ATTRIBUTE(pthread_mutexattr_getrobust, pthread_mutexattr_t, int)
ATTRIBUTE(pthread_rwlockattr_getpshared, pthread_rwlockattr_t, int)
ATTRIBUTE(pthread_condattr_getclock, pthread_condattr_t, clockid_t)

ANSWERS(int, pthread_attr_getstack, (const pthread_attr_t *attributes, void **stack, size_t *size),
        (attributes, stack, size), !got, (ONE(stack), ONE(size)))
ANSWERS_ONE(pthread_getattr_np, (pthread_t thread, pthread_attr_t *to), (thread, to), to)
ANSWERS(int, pthread_getname_np, (pthread_t thread, char *to, size_t room), (thread, to, room),
        !got, text(to, CODE))
ANSWERS(int, pthread_getschedparam, (pthread_t thread, int *policy, struct sched_param *to),
        (thread, policy, to), !got, (ONE(policy), ONE(to)))
ANSWERS_ONE(pthread_getcpuclockid, (pthread_t thread, clockid_t *to), (thread, to), to)
ANSWERS_ONE(pthread_setcancelstate, (int state, int *old), (state, old), old)
ANSWERS_ONE(pthread_setcanceltype, (int type, int *old), (type, old), old)

/* ---- the system */

ANSWERS_ONE(clock_getres, (clockid_t clock, struct timespec *to), (clock, to), to)
ANSWERS_ONE(getitimer, (__itimer_which_t which, struct itimerval *to), (which, to), to)
ANSWERS_ONE(timer_gettime, (timer_t timer, struct itimerspec *to), (timer, to), to)
ANSWERS_ONE(sysinfo, (struct sysinfo * to), (to), to)
ANSWERS_ONE(sched_getparam, (pid_t pid, struct sched_param *to), (pid, to), to)
ANSWERS(int, getloadavg, (double *to, long n), (to, n), got > 0, SOME(to, (size_t)got * sizeof *to))
ANSWERS(int, getgroups, (int n, gid_t *to), (n, to), n &&got > 0,
        SOME(to, (size_t)got * sizeof *to))
ANSWERS(int, getresuid, (uid_t * real, uid_t *effective, uid_t *saved), (real, effective, saved),
        !got, (ONE(real), ONE(effective), ONE(saved)))
ANSWERS(int, getresgid, (gid_t * real, gid_t *effective, gid_t *saved), (real, effective, saved),
        !got, (ONE(real), ONE(effective), ONE(saved)))
ANSWERS(size_t, confstr, (int name, char *to, size_t room), (name, to, room), got &&room,
        SOME(to, least(got, room)))
ANSWERS(int, backtrace, (void **to, long room), (to, room), got > 0,
        SOME(to, (size_t)got * sizeof *to))
ANSWERS(int, dladdr, (const void *address, Dl_info *to), (address, to), got, ONE(to))

/* The kernel's sets are shorter than the C library's. */
enum { SIGNAL_SET = 8 };
#define SETS(name) ANSWERS(int, name, (sigset_t * to), (to), !got, SOME(to, SIGNAL_SET))
SETS(sigpending)
SETS(sigemptyset)
SETS(sigfillset)
#define CHANGES(name)                                                                              \
    ANSWERS(int, name, (sigset_t * to, int number), (to, number), !got, SOME(to, SIGNAL_SET))
CHANGES(sigaddset)
CHANGES(sigdelset)

/* ---- files and terminals */

ANSWERS_ONE(statfs, (const char *path, struct statfs *to), (path, to), to)
ANSWERS_ONE(fstatfs, (int fd, struct statfs *to), (fd, to), to)
ANSWERS_ONE(statvfs, (const char *restrict path, struct statvfs *restrict to), (path, to), to)
ANSWERS_ONE(fstatvfs, (int fd, struct statvfs *to), (fd, to), to)
ANSWERS_ONE(statx,
            (int folder, const char *restrict path, int flags, unsigned mask,
             struct statx *restrict to),
            (folder, path, flags, mask, to), to)
ANSWERS(ssize_t, readlinkat,
        (int folder, const char *restrict path, char *restrict to, size_t room),
        (folder, path, to, room), got > 0, SOME(to, (size_t)got))
ANSWERS_ONE(fgetpos, (FILE *restrict stream, fpos_t *restrict to), (stream, to), to)
ANSWERS_ONE(tcgetattr, (int fd, struct termios *to), (fd, to), to)
ANSWERS(int, ttyname_r, (int fd, char *to, size_t room), (fd, to, room), !got, text(to, CODE))
ANSWERS(int, openpty,
        (int *one, int *other, char *name, const struct termios *how, const struct winsize *size),
        (one, other, name, how, size), !got, (ONE(one), ONE(other), text(name, CODE)))

static void pieces(const struct iovec *v, int n, ssize_t got, const void *pc)
{
    size_t left = got > 0 ? (size_t)got : 0;
    ft_rt_settle((uint32_t)n + 1);
    for (int i = 0; i < n && left; i++) {
        size_t here = least(v[i].iov_len, left);
        writes(v[i].iov_base, here, pc);
        left -= here;
    }
}
ANSWERS(ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t from), (fd, v, n, from),
        got > 0, pieces(v, n, got, CODE))

/* ---- the words of the command line */

static void word_taken(const void *pc)
{
    writes(&optind, sizeof optind, pc);
    writes(&optarg, sizeof optarg, pc);
    writes(&optopt, sizeof optopt, pc);
}

ANSWERS(int, getopt, (long n, char *const *words, const char *options), (n, words, options), true,
        word_taken(CODE))

#define LONG_OPTIONS(name)                                                                         \
    WRAP(int, name,                                                                                \
         (int n, char *const *words, const char *options, const struct option *all, int *index))   \
    {                                                                                              \
        UNLESS_THEIRS(name, n, words, options, all, index);                                        \
        int at = -1;                                                                               \
        ft_rt_settle(RANGES);                                                                      \
        int got = __real_##name(n, words, options, all, &at);                                      \
        word_taken(CODE);                                                                          \
        if (at < 0) return got;                                                                    \
        if (!got && all[at].flag) ONE(all[at].flag);                                               \
        if (index) {                                                                               \
            ONE(index);                                                                            \
            *index = at;                                                                           \
        }                                                                                          \
        return got;                                                                                \
    }
LONG_OPTIONS(getopt_long)
LONG_OPTIONS(getopt_long_only)

/* ---- users and groups: the texts lie in the room that was given */

#define LOOKS_UP(name, type, key, what)                                                            \
    ANSWERS(int, name, (key, struct type * to, char *texts, size_t room, struct type **found),     \
            (what, to, texts, room, found), true,                                                  \
            (ONE(found), *found ? (ONE(to), SOME(texts, room)) : (void)0))
LOOKS_UP(getpwuid_r, passwd, uid_t id, id)
LOOKS_UP(getpwnam_r, passwd, const char *name, name)
LOOKS_UP(getgrgid_r, group, gid_t id, id)
LOOKS_UP(getgrnam_r, group, const char *name, name)

/* ---- hosts */

static void address_found(struct addrinfo *a, const void *pc)
{
    ft_rt_settle(RANGES);
    writes(a, sizeof *a, pc);
    if (a->ai_addr) writes(a->ai_addr, a->ai_addrlen, pc);
    text(a->ai_canonname, pc);
}

WRAP(int, getaddrinfo,
     (const char *restrict host, const char *restrict service,
      const struct addrinfo *restrict hints, struct addrinfo **restrict to))
{
    UNLESS_THEIRS(getaddrinfo, host, service, hints, to);
    struct addrinfo *found = NULL;
    int got = __real_getaddrinfo(host, service, hints, &found), error = errno;
    for (struct addrinfo *a = found; a && !got; a = a->ai_next) address_found(a, CODE);
    if (!got) {
        ONE(to);
        *to = found;
    }
    errno = error;
    return got;
}

ANSWERS(int, getnameinfo,
        (const struct sockaddr *restrict address, socklen_t length, char *restrict host,
         socklen_t host_room, char *restrict service, socklen_t service_room, int flags),
        (address, length, host, host_room, service, service_room, flags), !got,
        (host_room ? text(host, CODE) : (void)0, service_room ? text(service, CODE) : (void)0))

WRAP(int, inet_aton, (const char *from, struct in_addr *to))
{
    UNLESS_THEIRS(inet_aton, from, to);
    ft_rt_settle(RANGES);
    reads(from, __real_strlen(from) + 1, CODE);
    int got = __real_inet_aton(from, to);
    if (got) ONE(to);
    return got;
}

ANSWERS(char *, if_indextoname, (unsigned index, char *to), (index, to), got, text(to, CODE))

static void interface_found(struct ifaddrs *a, const void *pc)
{
    ft_rt_settle(RANGES);
    writes(a, sizeof *a, pc);
    text(a->ifa_name, pc);
}

WRAP(int, getifaddrs, (struct ifaddrs * *to))
{
    UNLESS_THEIRS(getifaddrs, to);
    struct ifaddrs *found = NULL;
    int got = __real_getifaddrs(&found), error = errno;
    for (struct ifaddrs *a = found; a && !got; a = a->ifa_next) interface_found(a, CODE);
    if (!got) {
        ONE(to);
        *to = found;
    }
    errno = error;
    return got;
}

/* ---- folders */

WRAP(int, scandir,
     (const char *restrict path, struct dirent ***restrict to, int (*wanted)(const struct dirent *),
      int (*compare)(const struct dirent **, const struct dirent **)))
{
    UNLESS_THEIRS(scandir, path, to, wanted, compare);
    struct dirent **all = NULL;
    int n = __real_scandir(path, &all, wanted, compare), error = errno;
    if (n >= 0) {
        ft_rt_settle((uint32_t)n + RANGES);
        for (int i = 0; i < n; i++) writes(all[i], all[i]->d_reclen, CODE);
        SOME(all, (size_t)n * sizeof *all);
        ONE(to);
        *to = all;
    }
    errno = error;
    return n;
}

WRAP(int, glob,
     (const char *restrict pattern, long flags, int (*failed)(const char *, int),
      glob_t *restrict to))
{
    UNLESS_THEIRS(glob, pattern, flags, failed, to);
    glob_t found = *to;
    int got = __real_glob(pattern, flags, failed, &found), error = errno;
    size_t first = flags & GLOB_DOOFFS ? found.gl_offs : 0;
    if (!got) {
        ft_rt_settle((uint32_t)found.gl_pathc + RANGES);
        for (size_t i = 0; i < found.gl_pathc; i++) text(found.gl_pathv[first + i], CODE);
        SOME(found.gl_pathv, (first + found.gl_pathc + 1) * sizeof *found.gl_pathv);
    }
    ONE(to);
    *to = found;
    errno = error;
    return got;
}
