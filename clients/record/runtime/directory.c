/* Directories: what is in them is read as it is by now, but their descriptors have numbers as
 * others do. */
#include <dirent.h>

#include "input.h"

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
    if (!ft_rt_input_begin(&in, FT_INPUT_OPENDIR, CODE)) return FT_REAL(opendir)(path);
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
        self->inside = false; /* what it frees is recorded */
    }
    return FT_REAL(closedir)(directory);
}
