/* Calls that leave the program: an exploration makes thousands of runs, and nothing may leave it
 * more often than in one. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "world/overlay.h"

enum { TEXT = 128 };

static const char *const WHAT[FT_RT_WORLD_CALLS] = {
#define FT_ROW(symbol, doc, done) doc,
    FT_RT_WORLD_TABLE(FT_ROW)
#undef FT_ROW
};

static size_t add(char *text, size_t at, const char *part)
{
    while (*part && at + 1 < TEXT) text[at++] = *part++;
    text[at] = 0;
    return at;
}

void ft_rt_world_refuse(ft_rt_world_call call, const char *name, const void *pc)
{
    char text[TEXT];
    FT_REQUIRE(call < FT_RT_WORLD_CALLS);
    if (!ft_rt_world_runs()) return;
    bool begins = !ft_rt_x_has_begun() && !ft_rt_world_has_made() && !ft_rt_world_nodes();
    if (call == FT_RT_WORLD_PROCESS && begins) return;
    size_t at = add(text, 0, name);
    at = add(text, at, " ");
    add(text, at, WHAT[call]);
    ft_rt_x_refuse(text, pc);
}

static bool may_be_read(int fd)
{
    enum { MEMORY_DEVICES = 1, RANDOM = 8, URANDOM = 9 };
    struct stat about;
    if (ft_rt_world_is_outside(fd)) return false;
    if (FT_REAL(fstat)(fd, &about)) return true; /* the call says what is wrong */
    return S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) ||
           (S_ISCHR(about.st_mode) && major(about.st_rdev) == MEMORY_DEVICES &&
            minor(about.st_rdev) != RANDOM && minor(about.st_rdev) != URANDOM);
}

/* Standard input that is gone when it was read: the explorer takes it, and begins anew. */
static bool is_passing_input(int fd)
{
    struct stat about;
    if (fd != STDIN_FILENO) return false;
    if (ft_rt_x_has_begun()) return ft_rt_world_is_outside(fd);
    return !FT_REAL(fstat)(fd, &about) && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

void ft_rt_world_reads(int fd, const char *name, const void *pc)
{
    if (!ft_rt_world_runs()) return;
    if (is_passing_input(fd)) ft_rt_x_asks_input();
    if (!ft_rt_x_has_begun()) return;
    if (ft_rt_world_node_of(fd))
        ft_rt_world_reads_file(fd, pc);
    else if (!may_be_read(fd))
        ft_rt_world_refuse(FT_RT_WORLD_INPUT, name, pc);
}

/* Bytes in the stream's buffer were received before. */
void ft_rt_world_streams(const FILE *from, const char *name, const void *pc)
{
    if (ft_rt_world_runs() && from->_IO_read_ptr == from->_IO_read_end && from->_fileno >= 0)
        ft_rt_world_reads(from->_fileno, name, pc);
}

void ft_rt_world_sleeps(const char *name, int ms, const void *pc)
{
    if (ft_rt_world_runs() && ms < 0) ft_rt_world_refuse(FT_RT_WORLD_KERNEL, name, pc);
}

void ft_rt_world_signals(pid_t to, const char *name, const void *pc)
{
    if (ft_rt_world_runs() && to != ft_rt_x_pid()) ft_rt_world_refuse(FT_RT_WORLD_SIGNAL, name, pc);
}

int ft_rt_world_maps(int protection, int flags, int fd, const char *name, const void *pc)
{
    bool shares = (flags & MAP_TYPE) == MAP_SHARED || (flags & MAP_TYPE) == MAP_SHARED_VALIDATE;
    bool file = !(flags & MAP_ANONYMOUS);
    if (!ft_rt_world_runs()) return flags;
    if (file && ft_rt_world_node_of(fd)) ft_rt_world_refuse(FT_RT_WORLD_MAPPED, name, pc);
    if (!shares) return flags;
    if (file && protection & PROT_WRITE) ft_rt_world_refuse(FT_RT_WORLD_SHARED, name, pc);
    return (flags & ~MAP_TYPE) | MAP_PRIVATE;
}

/* That ask, or concern the calling thread's own memory and processor. */
static bool is_harmless(long number)
{
    static const long NUMBERS[] = {SYS_gettid,          SYS_getpid,
                                   SYS_getppid,         SYS_getcpu,
                                   SYS_getuid,          SYS_geteuid,
                                   SYS_getgid,          SYS_getegid,
                                   SYS_membarrier,      SYS_madvise,
                                   SYS_mprotect,        SYS_prctl,
                                   SYS_sched_yield,     SYS_sched_getaffinity,
                                   SYS_set_robust_list, SYS_uname,
                                   SYS_sysinfo,         SYS_sched_setaffinity,
                                   SYS_getrusage,       SYS_clock_getres};
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        if (NUMBERS[i] == number) return true;
    return false;
}

void ft_rt_world_calls(long number, const void *pc)
{
    char name[] = "syscall(...)";
    if (!ft_rt_world_runs() || is_harmless(number)) return;
    name[8] = (char)('0' + number / 100 % 10);
    name[9] = (char)('0' + number / 10 % 10);
    name[10] = (char)('0' + number % 10);
    ft_rt_world_refuse(FT_RT_WORLD_UNKNOWN, name, pc);
}
