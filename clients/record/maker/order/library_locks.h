/* Locks that code without hooks keeps for itself: a library's own queue or table, whose content
 * nobody sees. Such sections stay in the order of the run, since what one puts in the next one may
 * find: each comes after those of other threads that came before it.
 *
 * A lock is one of these if all that is done to it is done by code without hooks, and no access of
 * the program was seen between an acquire and its release: a library may also hand out locks for
 * what is the program's (uv_mutex_lock). */
#ifndef FT_RECORD_MAKER_LIBRARY_LOCKS_H
#define FT_RECORD_MAKER_LIBRARY_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ft_library_locks ft_library_locks;

ft_library_locks *ft_library_locks_new(void);
void ft_library_locks_free(ft_library_locks *locks); /* accepts NULL */

/* First pass, in the order of the log: that thread acquires or releases the lock, an object of the
 * log. hooked: in code with hooks. shared: readers may hold it together. */
void ft_library_locks_acquire(ft_library_locks *locks, uint32_t thread, uint64_t lock, bool hooked);
void ft_library_locks_release(ft_library_locks *locks, uint32_t thread, uint64_t lock, bool hooked,
                              bool shared);
/* Does the thread hold any that may be locks? */
bool ft_library_locks_holds(const ft_library_locks *locks, uint32_t thread);
/* First pass: the thread made an access in code with hooks. */
void ft_library_locks_access(ft_library_locks *locks, uint32_t thread);

/* Behind the first pass: is it such a lock, of several threads? */
bool ft_library_locks_is(const ft_library_locks *locks, uint64_t lock);
/* Second pass, once for each release of any lock, in their order: does a thread that acquires the
 * lock later come after it? */
bool ft_library_locks_hands_on(ft_library_locks *locks, uint64_t lock);

#endif
