/* Loaded into foretelld by LD_PRELOAD: it counts the calls that change something and ends the
 * process at the one that its test names, fails allocations and writes by countdown, fills the
 * disk, moves the wall clock. Its workers run without it. */
#include "service/torture/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static ft_shim *shim;

__attribute__((constructor)) static void attach(void)
{
    const char *path = getenv(FT_SHIM_ENVIRONMENT);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    unsetenv("LD_PRELOAD");
    if (fd < 0) return;
    void *map = mmap(NULL, sizeof *shim, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map != MAP_FAILED) shim = map;
}

/* ---- Places to die at ------------------------------------------------------------------------ */

static void pass(uint64_t place)
{
    if (atomic_load_explicit(&shim->kill_at, memory_order_relaxed) != place) return;
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* Before a call; the number of the place after it. */
static uint64_t enter(void)
{
    if (!shim) return 0;
    uint64_t n = atomic_fetch_add(&shim->calls, 1) + 1;
    pass(2 * n);
    return 2 * n + 1;
}

static long leave(uint64_t place, long result)
{
    int code = errno;
    if (shim) pass(place);
    errno = code;
    return result;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

/* True at the countdown's end and for `more` calls after it. */
static bool strike(_Atomic int64_t *countdown, _Atomic int64_t *more)
{
    if (!shim || atomic_load_explicit(countdown, memory_order_relaxed) <= 0) return false;
    if (atomic_fetch_sub(countdown, 1) != 1) return false;
    atomic_fetch_add(&shim->failed, 1);
    if (atomic_load(more) > 0) {
        atomic_fetch_sub(more, 1);
        atomic_store(countdown, 1);
    }
    return true;
}

static bool is_file(int fd)
{
    struct stat info;
    return syscall(SYS_fstat, fd, &info) == 0 && S_ISREG(info.st_mode);
}

/* Whether the write to the file fails; else *length may have become less. */
static bool write_fails(int fd, size_t *length, off_t end)
{
    if (!shim || !is_file(fd)) return false;
    atomic_fetch_add(&shim->writes, 1);
    struct stat info;
    if (atomic_load(&shim->disk_full) && syscall(SYS_fstat, fd, &info) == 0 &&
        (end < 0 || end > info.st_size)) {
        atomic_fetch_add(&shim->failed, 1);
        errno = ENOSPC;
        return true;
    }
    if (!strike(&shim->fail_write, &shim->fail_writes)) return false;
    uint64_t turn = atomic_load(&shim->failed) % 3;
    if (turn == 0 && *length > 1) {
        *length /= 2;
        return false;
    }
    errno = turn == 1 ? EIO : ENOSPC;
    return true;
}

static bool sync_fails(void)
{
    if (!shim) return false;
    atomic_fetch_add(&shim->writes, 1);
    if (!strike(&shim->fail_write, &shim->fail_writes)) return false;
    errno = EIO;
    return true;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

ssize_t write(int fd, const void *bytes, size_t length)
{
    uint64_t place = enter();
    if (write_fails(fd, &length, -1)) return -1;
    return leave(place, syscall(SYS_write, fd, bytes, length));
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at)
{
    uint64_t place = enter();
    if (write_fails(fd, &length, at + (off_t)length)) return -1;
    return leave(place, syscall(SYS_pwrite64, fd, bytes, length, at));
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    return pwrite64(fd, bytes, length, at);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    uint64_t place = enter();
    return leave(place, syscall(SYS_writev, fd, pieces, count));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    uint64_t place = enter();
    return leave(place, syscall(SYS_sendmsg, fd, message, flags));
}

ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
    uint64_t place = enter();
    return leave(place, syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0));
}

int fsync(int fd)
{
    uint64_t place = enter();
    if (sync_fails()) return -1;
    return (int)leave(place, syscall(SYS_fsync, fd));
}

int fdatasync(int fd)
{
    uint64_t place = enter();
    if (sync_fails()) return -1;
    return (int)leave(place, syscall(SYS_fdatasync, fd));
}

int ftruncate64(int fd, off64_t length)
{
    uint64_t place = enter();
    size_t grows = 1;
    if (write_fails(fd, &grows, length)) return -1;
    return (int)leave(place, syscall(SYS_ftruncate, fd, length));
}

int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

static int open_any(int folder, const char *path, int flags, va_list args)
{
    bool makes = (flags & (O_CREAT | O_TMPFILE)) != 0;
    mode_t mode = makes ? va_arg(args, mode_t) : 0;
    uint64_t place = makes ? enter() : 0;
    long fd = syscall(SYS_openat, folder, path, flags, mode);
    return (int)(makes ? leave(place, fd) : fd);
}

#define OPEN(folder)                                                                               \
    va_list args;                                                                                  \
    va_start(args, flags);                                                                         \
    int fd = open_any(folder, path, flags, args);                                                  \
    va_end(args);                                                                                  \
    return fd;

int open64(const char *path, int flags, ...)
{
    OPEN(AT_FDCWD)
}

int open(const char *path, int flags, ...)
{
    OPEN(AT_FDCWD)
}

int openat64(int folder, const char *path, int flags, ...)
{
    OPEN(folder)
}

int unlink(const char *path)
{
    uint64_t place = enter();
    return (int)leave(place, syscall(SYS_unlink, path));
}

int rename(const char *from, const char *to)
{
    uint64_t place = enter();
    return (int)leave(place, syscall(SYS_rename, from, to));
}

int mkdir(const char *path, mode_t mode)
{
    uint64_t place = enter();
    return (int)leave(place, syscall(SYS_mkdir, path, mode));
}

int kill(pid_t process, int number)
{
    uint64_t place = enter();
    return (int)leave(place, syscall(SYS_kill, process, number));
}

/* ---- Statements ------------------------------------------------------------------------------ */

typedef struct pg_conn pg_conn;
typedef struct pg_result pg_result;
#define NAMES 1024 /* of prepared statements: "s<number>" */

/* FNV-1a of a statement's text: its site. */
static uint64_t site_of(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash ? hash : 1;
}

static _Atomic uint64_t sites[NAMES]; /* of the prepared ones */

static size_t slot_of(const char *name)
{
    return (size_t)strtoul(name + (*name != '\0'), NULL, 10) % NAMES;
}

static void note_site(uint64_t site)
{
    for (size_t i = 0; i < FT_SHIM_SITES; i++) {
        uint64_t none = 0;
        if (atomic_load(&shim->sites[i]) == site) return;
        if (atomic_compare_exchange_strong(&shim->sites[i], &none, site) || none == site) return;
    }
}

/* Before (turn 0) and after (turn 1) a call for a statement. */
static void pass_site(uint64_t site, unsigned turn)
{
    if (!shim) return;
    if (turn == 0) note_site(site);
    if (atomic_load(&shim->kill_site) != site || atomic_load(&shim->kill_turn) != turn) return;
    if (atomic_fetch_sub(&shim->kill_pass, 1) > 1) return;
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

#define REAL(function) ((__typeof__(&(function)))(uintptr_t)dlsym(RTLD_NEXT, #function))

pg_result *PQexec(pg_conn *conn, const char *text);
pg_result *PQexec(pg_conn *conn, const char *text)
{
    pass_site(site_of(text), 0);
    pg_result *result = REAL(PQexec)(conn, text);
    pass_site(site_of(text), 1);
    return result;
}

pg_result *PQprepare(pg_conn *conn, const char *name, const char *text, int count,
                     const unsigned *types);
pg_result *PQprepare(pg_conn *conn, const char *name, const char *text, int count,
                     const unsigned *types)
{
    atomic_store(&sites[slot_of(name)], site_of(text));
    return REAL(PQprepare)(conn, name, text, count, types);
}

int PQsendQueryPrepared(pg_conn *conn, const char *name, int count, const char *const *values,
                        const int *lengths, const int *formats, int format);
int PQsendQueryPrepared(pg_conn *conn, const char *name, int count, const char *const *values,
                        const int *lengths, const int *formats, int format)
{
    uint64_t site = atomic_load(&sites[slot_of(name)]);
    pass_site(site, 0);
    int sent = REAL(PQsendQueryPrepared)(conn, name, count, values, lengths, formats, format);
    pass_site(site, 1);
    return sent;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static bool alloc_fails(void)
{
    if (!shim) return false;
    atomic_fetch_add_explicit(&shim->allocs, 1, memory_order_relaxed);
    if (!strike(&shim->fail_alloc, &shim->fail_allocs)) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return alloc_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return alloc_fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return alloc_fails() ? NULL : __libc_realloc(block, size);
}

/* ---- Time ------------------------------------------------------------------------------------ */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, clock, now);
    if (result != 0 || !shim || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return (int)result;
    int64_t ms = atomic_load_explicit(&shim->clock_ms, memory_order_relaxed);
    int64_t nanoseconds = now->tv_nsec + ms % 1000 * 1000000;
    now->tv_sec += ms / 1000 + (nanoseconds >= 1000000000) - (nanoseconds < 0);
    now->tv_nsec = (nanoseconds + 1000000000) % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return result;
}

time_t time(time_t *to)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
