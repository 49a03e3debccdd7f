/* An SQLite VFS over the default one that counts what is asked of files and makes the n-th fail,
 * and that knows what a loss of power would leave of them: writes not synchronised may be missing,
 * or there in part, in any combination. Safe for several threads. */
#ifndef FT_TESTS_FAULT_VFS_H
#define FT_TESTS_FAULT_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void ft_fault_vfs_install(void); /* becomes the default */
void ft_fault_vfs_remove(void);

/* The n-th operation from now on fails: opening, reading (also short), writing (half of it, or a
 * full disk, by turns), synchronising, truncating, deleting, mapping shared memory. 0: none. stays:
 * every one after it as well. Counts anew. */
void ft_fault_vfs_fail(uint64_t nth, bool stays);
void ft_fault_vfs_fill(bool full);  /* until it is not: the disk has no room for any write */
uint64_t ft_fault_vfs_count(void);  /* operations since */
uint64_t ft_fault_vfs_struck(void); /* failures since */

/* Keeps what each file below the folder would have after a loss of power, and calls `each` before
 * every operation that changes a file (on the thread that does it); NULL: no more, and forgets. */
void ft_fault_vfs_watch(const char *folder, void (*each)(void *data), void *data);
/* Within `each`: what would be left, file by file. seed 0: all that was not synchronised is lost;
 * 1: nothing is; else each write, or some sectors of it, by chance. */
void ft_fault_vfs_cut(uint32_t seed,
                      void (*put)(const char *name, const void *bytes, size_t length));

#endif
