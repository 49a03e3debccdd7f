/* An SQLite VFS whose files are in this process's memory: a fork has the whole disk, as of its
 * moment, for itself. Files are known by the last part of their name. For one thread. */
#ifndef FT_TESTS_MEMORY_VFS_H
#define FT_TESTS_MEMORY_VFS_H

#include <stddef.h>

void ft_memory_vfs_install(void); /* becomes the default */
void ft_memory_vfs_remove(void);

void ft_memory_vfs_clear(void); /* there are no files any more */
void ft_memory_vfs_put(const char *name, const void *bytes, size_t length);
/* Whoever had files open has died: locks and shared memory are gone, what was written is there. */
void ft_memory_vfs_crash(void);

#endif
