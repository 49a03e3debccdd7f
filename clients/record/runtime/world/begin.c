/* The begin and the end of a run, as far as the kernel's descriptors are concerned: those that were
 * open at the first choice become the run's own. A copy of the process has the same open files as
 * the others, and with them one position. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exploring/needs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "raw/exploring.h"
#include "rewinding/syscalls.h"
#include "world/overlay.h"

enum { FILES = 256, LARGEST = 64 << 20, PATH = 32 };

static struct file {
    int fd, flags;
    int aside;     /* the file, out of the program's way */
    bool copied;   /* it is written: a run has a copy of it, in memory */
    uint32_t node; /* of the overlay + 1; 0: none */
    off_t at;
} files[FILES];
static uint32_t n_files;
static bool outside[FILES]; /* by number: it leads outside */
static bool keeps_output;   /* standard output is the explorer's, which wants what is written */
static int output = -1;     /* a memory file that it goes to, out of the program's way */

bool ft_rt_world_is_outside(int fd)
{
    return fd >= 0 && fd < FILES && outside[fd];
}

/* ---- at the first choice: the files step aside, and each run opens them anew under their numbers
 */

void ft_rt_world_path_of(char path[PATH], int fd)
{
    static const char BEGIN[] = "/proc/self/fd/";
    char digits[12];
    size_t n = 0, at = 0;
    for (; BEGIN[at]; at++) path[at] = BEGIN[at];
    do digits[n++] = (char)('0' + fd % 10);
    while ((fd /= 10));
    while (n) path[at++] = digits[--n];
    path[at] = 0;
}

static bool is_memory_device(const struct stat *about)
{
    return S_ISCHR(about->st_mode) && about->st_rdev >> 8 == 1;
}

static bool leads_outside(const struct stat *about)
{
    return S_ISFIFO(about->st_mode) || S_ISSOCK(about->st_mode) ||
           (S_ISCHR(about->st_mode) && !is_memory_device(about));
}

/* Output to this descriptor is discarded, and it has no input. */
static void drop(int fd)
{
    int nothing = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
    if (nothing < 0) return;
    syscall(SYS_dup3, nothing, fd, 0);
    syscall(SYS_close, nothing);
}

/* Memory files without a name are the recorder's. */
static bool is_of_runtime(int fd)
{
    char path[PATH], name[PATH];
    static const char MEMORY[] = "/memfd:";
    ft_rt_world_path_of(path, fd);
    ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, path, name, sizeof name);
    return n >= (ssize_t)sizeof MEMORY - 1 && !memcmp(name, MEMORY, sizeof MEMORY - 1);
}

static void step_aside(int fd, const struct stat *about)
{
    struct file f = {
        .fd = fd, .flags = FT_REAL(fcntl)(fd, F_GETFL), .node = ft_rt_world_node_of(fd)};
    f.copied = !f.node && (f.flags & O_ACCMODE) != O_RDONLY;
    if (f.copied && about->st_size > LARGEST)
        ft_rt_x_refuse("a file of more than 64 MiB is open for writing", NULL);
    if (n_files == FILES) ft_rt_x_refuse("more than 256 open files", NULL);
    f.at = FT_REAL(lseek)(fd, 0, SEEK_CUR);
    f.aside = FT_REAL(fcntl)(fd, F_DUPFD_CLOEXEC, FT_RT_WORLD_ASIDE);
    if (f.aside < 0) ft_rt_x_refuse("a limit of less than 1,000 open files", NULL);
    syscall(SYS_close, fd);
    files[n_files++] = f;
}

/* The program has not put another file there. */
static bool is_given_output(int fd, const struct stat *about, bool keeps)
{
    bool is_output = fd == STDOUT_FILENO || fd == STDERR_FILENO;
    return is_output && !(keeps && S_ISREG(about->st_mode));
}

void ft_rt_world_look(void)
{
    bool keeps = ft_rt_x_keeps_output();
    ft_rt_world_umask(ft_rt_world_umask(0)); /* asked for before runs */
    ft_rt_world_first_mask();
    for (int fd = 0; fd < FILES; fd++) {
        struct stat about;
        if (FT_REAL(fstat)(fd, &about)) continue;
        if (is_given_output(fd, &about, keeps)) {
            keeps_output |= keeps && fd == STDOUT_FILENO && is_memory_device(&about);
            continue;
        }
        outside[fd] = leads_outside(&about);
        if (outside[fd]) drop(fd);
        bool own = ft_rt_world_node_of(fd) || !is_of_runtime(fd);
        if (S_ISREG(about.st_mode) && own) step_aside(fd, &about);
    }
}

/* ---- at the begin of a run */

static int reopen(int fd, int flags)
{
    char path[PATH];
    ft_rt_world_path_of(path, fd);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

/* It may be open for writing alone. */
static int copy_of(const struct file *f)
{
    char bytes[1 << 14];
    int copy = (int)syscall(SYS_memfd_create, "foretell", 0);
    int from = reopen(f->aside, O_RDONLY | O_CLOEXEC);
    if (from < 0) ft_rt_x_refuse("a file that is written, and may not be read", NULL);
    for (ssize_t n; copy >= 0 && (n = syscall(SYS_read, from, bytes, sizeof bytes)) > 0;)
        if (syscall(SYS_write, copy, bytes, n) != n) break;
    syscall(SYS_close, from);
    if (copy >= 0) FT_REAL(fcntl)(copy, F_SETFL, f->flags);
    return copy;
}

/* The descriptor gets that number, which is free. */
static void number(int fd, int wanted)
{
    if (fd == wanted) return;
    int got = fd < 0 ? -1 : (int)syscall(SYS_fcntl, fd, F_DUPFD, wanted);
    if (got != wanted) ft_rt_x_refuse("an open file cannot be opened again for each run", NULL);
    syscall(SYS_close, fd);
}

void ft_rt_world_opens_output(void)
{
    if (!keeps_output) return;
    syscall(SYS_close, STDOUT_FILENO);
    number((int)syscall(SYS_memfd_create, "foretell-output", 0), STDOUT_FILENO);
    output = FT_REAL(fcntl)(STDOUT_FILENO, F_DUPFD_CLOEXEC, FT_RT_WORLD_ASIDE);
    if (output < 0) output = STDOUT_FILENO;
}

/* The run's own content of what the program wrote before. */
static void copy_nodes(void)
{
    for (uint32_t i = 0; i < ft_rt_world_nodes(); i++) {
        ft_rt_world_node *node = ft_rt_world_node_at(i);
        if (node->kind == FT_RT_WORLD_FILE) node->fd = ft_rt_world_copy_content(node->fd);
    }
}

void ft_rt_world_begins(void)
{
    if (output < 0) ft_rt_world_opens_output();
    copy_nodes();
    for (uint32_t i = 0; i < n_files; i++) {
        const struct file *f = &files[i];
        int kept = f->flags & ~(O_CREAT | O_EXCL | O_TRUNC);
        int from = f->node ? ft_rt_world_node_at(f->node - 1)->fd : f->aside;
        number(f->copied ? copy_of(f) : reopen(from, kept), f->fd);
        FT_REAL(lseek)(f->fd, f->at, SEEK_SET);
    }
}

/* ---- at the end of a run */

void ft_rt_world_empties_output(void)
{
    if (output < 0) return;
    syscall(SYS_ftruncate, output, 0);
    syscall(SYS_lseek, output, 0, SEEK_SET);
}

static void take_output(void)
{
    size_t room, n = 0, size = (size_t)syscall(SYS_lseek, output, 0, SEEK_END);
    char *to = ft_rt_x_output(&room);
    if (!size) return;
    for (ssize_t got; n < room && (got = syscall(SYS_pread64, output, to + n, room - n, n)) > 0;)
        n += (size_t)got;
    ft_rt_x_output_is(size);
    ft_rt_world_empties_output();
}

void ft_rt_world_ends(bool flushes)
{
    if (output < 0) return;
    if (flushes && !ftrylockfile(stdout)) {
        FT_REAL(fflush)(stdout);
        funlockfile(stdout);
    }
    bool watched = ft_rt_syscalls_watch(false);
    take_output();
    ft_rt_syscalls_watch(watched);
}
