/* Calls on paths and on what a file is but for its content. Most are an exploration's business
 * alone (world/world.h): a recording and a replay do them as they are. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include "accesses/accesses.h"
#include "files/files.h"
#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "libc/libc.h"
#include "memory/memory.h"
#include "raw/inputs.h"
#include "state/thread.h"
#include "world/world.h"

#define CODE __builtin_return_address(0)

/* Names that the C library makes up: they are those of the recording, and so are the files. */
static int made_up(ft_rt_input *in, char *name, int flags)
{
    ft_rt_input_own(in, name, strlen(name));
    ft_rt_fd_made(in, (int)in->result,
                  in->fed ? FT_REAL(open)(name, O_RDWR | O_CREAT | flags, 0600) : -1);
    ft_rt_fd_set((int)in->result, FT_RT_FD_FILE);
    const void *pc = in->pc;
    int fd = (int)ft_rt_input_end(in);
    ft_rt_write_range(name, strlen(name) + 1, pc);
    return fd;
}

#define MAKES_UP(name, parameters, arguments, ending, flags)                                       \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        FT_RT_EXPLORED(ft_rt_world_mkstemp(path, ending, flags, CODE));                            \
        if (!ft_rt_input_begin(&in, FT_INPUT_MKSTEMP, CODE)) return FT_REAL(name) arguments;       \
        if (!in.fed) ft_rt_input_did(&in, ft_rt_fd_apart(FT_REAL(name) arguments));                \
        return made_up(&in, path, flags);                                                          \
    }
MAKES_UP(mkstemp, (char *path), (path), 0, 0)
MAKES_UP(mkstemp64, (char *path), (path), 0, 0)
MAKES_UP(mkostemp, (char *path, int flags), (path, flags), 0, flags)
MAKES_UP(mkostemp64, (char *path, int flags), (path, flags), 0, flags)
MAKES_UP(mkstemps, (char *path, int ending), (path, ending), ending, 0)
MAKES_UP(mkstemps64, (char *path, int ending), (path, ending), ending, 0)
MAKES_UP(mkostemps, (char *path, int ending, int flags), (path, ending, flags), ending, flags)
MAKES_UP(mkostemps64, (char *path, int ending, int flags), (path, ending, flags), ending, flags)

#define CHANGES(type, name, parameters, arguments, explored)                                       \
    type name parameters                                                                           \
    {                                                                                              \
        FT_RT_EXPLORED(explored);                                                                  \
        return FT_REAL(name) arguments;                                                            \
    }

/* ---- content: the file may be mapped */

#define SIZES(name, type)                                                                          \
    int name(const char *path, type size)                                                          \
    {                                                                                              \
        FT_RT_EXPLORED(ft_rt_world_truncate(path, size, CODE));                                    \
        ft_rt_memory_may_go();                                                                     \
        return FT_REAL(name)(path, size);                                                          \
    }
SIZES(truncate, off_t)
SIZES(truncate64, off64_t)

/* ---- permissions, owners, times */

CHANGES(int, chmod, (const char *path, mode_t mode), (path, mode),
        ft_rt_world_chmod(AT_FDCWD, path, mode, CODE))
CHANGES(int, fchmodat, (int folder, const char *path, mode_t mode, int flags),
        (folder, path, mode, flags), ft_rt_world_chmod(folder, path, mode, CODE))
CHANGES(mode_t, umask, (mode_t mask), (mask), ft_rt_world_umask(mask))
CHANGES(int, fchmod, (int fd, mode_t mode), (fd, mode), ft_rt_world_fchmod(fd, mode))

#define LEFT(name, parameters, arguments, folder, path)                                            \
    CHANGES(int, name, parameters, arguments, ft_rt_world_changes_nothing(folder, path, CODE))
LEFT(chown, (const char *path, uid_t user, gid_t group), (path, user, group), AT_FDCWD, path)
LEFT(lchown, (const char *path, uid_t user, gid_t group), (path, user, group), AT_FDCWD, path)
LEFT(fchown, (int fd, uid_t user, gid_t group), (fd, user, group), fd, NULL)
LEFT(fchownat, (int folder, const char *path, uid_t user, gid_t group, int flags),
     (folder, path, user, group, flags), folder, path)
LEFT(utimensat, (int folder, const char *path, const struct timespec times[2], int flags),
     (folder, path, times, flags), folder, path)
LEFT(futimens, (int fd, const struct timespec times[2]), (fd, times), fd, NULL)
LEFT(utimes, (const char *path, const struct timeval times[2]), (path, times), AT_FDCWD, path)
LEFT(lutimes, (const char *path, const struct timeval times[2]), (path, times), AT_FDCWD, path)
LEFT(futimes, (int fd, const struct timeval times[2]), (fd, times), fd, NULL)
LEFT(utime, (const char *path, const struct utimbuf *times), (path, times), AT_FDCWD, path)

/* ---- names */

CHANGES(int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
        (a, from, b, to, flags),
        flags ? (errno = EINVAL, -1) : ft_rt_world_rename(a, from, b, to, CODE))
CHANGES(int, linkat, (int a, const char *from, int b, const char *to, int flags),
        (a, from, b, to, flags), ft_rt_world_link(a, from, b, to, CODE))
CHANGES(int, symlinkat, (const char *target, int folder, const char *path), (target, folder, path),
        ft_rt_world_symlink(target, folder, path, CODE))
CHANGES(int, faccessat, (int folder, const char *path, int mode, int flags),
        (folder, path, mode, flags), ft_rt_world_access(folder, path, mode, flags, CODE))

static int refused(const char *name, const void *pc)
{
    ft_rt_world_refuse(FT_RT_WORLD_CHANGE, name, pc);
    return -1;
}
CHANGES(int, mkfifo, (const char *path, mode_t mode), (path, mode), refused("mkfifo", CODE))
CHANGES(int, mkfifoat, (int folder, const char *path, mode_t mode), (folder, path, mode),
        refused("mkfifoat", CODE))

/* ---- streams and checked forms of open */

CHANGES(FILE *, freopen, (const char *restrict path, const char *restrict mode, FILE *restrict to),
        (path, mode, to), ft_rt_world_freopen(path, mode, to, CODE))
CHANGES(FILE *, freopen64,
        (const char *restrict path, const char *restrict mode, FILE *restrict to), (path, mode, to),
        ft_rt_world_freopen(path, mode, to, CODE))
CHANGES(FILE *, tmpfile, (void), (), ft_rt_world_tmpfile())
CHANGES(FILE *, tmpfile64, (void), (), ft_rt_world_tmpfile())

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
CHANGES(int, __open_2, (const char *path, int flags), (path, flags), open(path, flags))
CHANGES(int, __open64_2, (const char *path, int flags), (path, flags), open(path, flags))
CHANGES(int, __openat_2, (int folder, const char *path, int flags), (folder, path, flags),
        openat(folder, path, flags))
CHANGES(int, __openat64_2, (int folder, const char *path, int flags), (folder, path, flags),
        openat(folder, path, flags))
