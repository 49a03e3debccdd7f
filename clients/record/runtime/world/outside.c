/* Calls that leave the program: an exploration makes thousands of runs, and nothing may leave it
 * more often than in one. */
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "world/world.h"

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
    size_t at = add(text, 0, name);
    at = add(text, at, " ");
    add(text, at, WHAT[call]);
    ft_rt_x_refuse(text, pc);
}

static bool may_be_read(int fd)
{
    enum { MEMORY_DEVICES = 1 };
    struct stat about;
    if (FT_REAL(fstat)(fd, &about)) return true; /* the call says what is wrong */
    return S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) ||
           (S_ISCHR(about.st_mode) && major(about.st_rdev) == MEMORY_DEVICES);
}

void ft_rt_world_reads(int fd, const char *name, const void *pc)
{
    if (ft_rt_world_runs() && !may_be_read(fd)) ft_rt_world_refuse(FT_RT_WORLD_INPUT, name, pc);
}

void ft_rt_world_sleeps(const char *name, int ms, const void *pc)
{
    if (ft_rt_world_runs() && ms < 0) ft_rt_world_refuse(FT_RT_WORLD_KERNEL, name, pc);
}
