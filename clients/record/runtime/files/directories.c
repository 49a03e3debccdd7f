/* Directories: opendir, and calls on names (unlink, rename, mkdir). Their content is read as it is,
 * also in a replay, but their descriptors are numbered like others. A replay repeats the calls on
 * names and returns the recorded results. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "libc/libc.h"
#include "raw/inputs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "world/world.h"

#define CODE __builtin_return_address(0)

/* The C library has no call for it; the number is the first that its structure has. */
static void number(ft_rt_input *in, DIR *directory)
{
    int *own = (int *)(void *)directory;
    if (*own != dirfd(directory)) return;
    if (!in->fed) in->result = *own = ft_rt_fd_apart(*own);
    *own = ft_rt_fd_numbered(in, (int)in->result, *own);
}

DIR *opendir(const char *path)
{
    ft_rt_input in;
    FT_RT_EXPLORED(ft_rt_world_lists(path, CODE) ? FT_REAL(opendir)(path) : NULL);
    if (!ft_rt_input_begin(&in, FT_INPUT_OPENDIR, CODE)) return FT_REAL(opendir)(path);
    ft_rt_names_in(CODE);
    ft_rt_input_outside(&in, false);
    DIR *directory = FT_REAL(opendir)(path);
    if (directory && in.fed && in.result < 0) {
        FT_REAL(closedir)(directory);
        directory = NULL;
    }
    if (in.fed)
        ft_rt_enter();
    else
        ft_rt_input_did(&in, directory ? dirfd(directory) : -1);
    if (directory) number(&in, directory);
    ft_rt_input_end(&in);
    return directory;
}

int closedir(DIR *directory)
{
    ft_rt_thread *self = ft_rt_enter();
    if (self) {
        ft_rt_fd_close(dirfd(directory), CODE);
        self->inside = false; /* the call's frees are recorded */
    }
    return FT_REAL(closedir)(directory);
}

/* ---- names */

/* Whether the name is there decides the result. */
#define NAMES(call, name, parameters, arguments, made, explored)                                   \
    int name parameters                                                                            \
    {                                                                                              \
        ft_rt_input in;                                                                            \
        FT_RT_EXPLORED(explored);                                                                  \
        if (!ft_rt_input_begin(&in, FT_INPUT_##call, CODE)) return FT_REAL(name) arguments;        \
        ft_rt_name_in(made, CODE);                                                                 \
        ft_rt_name_out(made, CODE);                                                                \
        int real = FT_REAL(name) arguments;                                                        \
        if (!in.fed) ft_rt_input_did(&in, real);                                                   \
        return (int)ft_rt_input_end(&in);                                                          \
    }
NAMES(UNLINK, unlink, (const char *path), (path), path, ft_rt_world_unlink(AT_FDCWD, path, CODE))
NAMES(UNLINK, unlinkat, (int folder, const char *path, int flags), (folder, path, flags), path,
      (flags & AT_REMOVEDIR ? ft_rt_world_rmdir : ft_rt_world_unlink)(folder, path, CODE))
NAMES(UNLINK, remove, (const char *path), (path), path, ft_rt_world_remove(path, CODE))
NAMES(RENAME, rename, (const char *from, const char *to), (from, to), to,
      ft_rt_world_rename(AT_FDCWD, from, AT_FDCWD, to, CODE))
NAMES(RENAME, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), to,
      ft_rt_world_rename(a, from, b, to, CODE))
NAMES(LINK, link, (const char *from, const char *to), (from, to), to,
      ft_rt_world_link(AT_FDCWD, from, AT_FDCWD, to, CODE))
NAMES(LINK, symlink, (const char *from, const char *to), (from, to), to,
      ft_rt_world_symlink(from, AT_FDCWD, to, CODE))
NAMES(MKDIR, mkdir, (const char *path, mode_t mode), (path, mode), path,
      ft_rt_world_mkdir(AT_FDCWD, path, mode, CODE))
NAMES(MKDIR, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), path,
      ft_rt_world_mkdir(folder, path, mode, CODE))
NAMES(RMDIR, rmdir, (const char *path), (path), path, ft_rt_world_rmdir(AT_FDCWD, path, CODE))

/* Its name is the one of the recording. */
char *mkdtemp(char *path)
{
    ft_rt_input in;
    FT_RT_EXPLORED(ft_rt_world_mkdtemp(path, CODE));
    if (!ft_rt_input_begin(&in, FT_INPUT_MKDTEMP, CODE)) return FT_REAL(mkdtemp)(path);
    if (!in.fed) ft_rt_input_did(&in, FT_REAL(mkdtemp)(path) ? 0 : -1);
    ft_rt_input_own(&in, path, strlen(path));
    if (in.fed && !in.result) FT_REAL(mkdir)(path, S_IRWXU);
    bool made = !ft_rt_input_end(&in);
    ft_rt_write_range(path, strlen(path) + 1, CODE);
    return made ? path : NULL;
}
