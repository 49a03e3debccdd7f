/* Library locks: locks that uninstrumented code keeps for itself, such as around a library's own
 * queue or table, whose content the log does not have. Their sections stay in the order of the run,
 * since a section may find what an earlier one put in: each is ordered after those of other threads
 * before it.
 *
 * A lock is a library lock if uninstrumented code alone operates on it and the log has no access by
 * instrumented code between an acquire and its release: a library may also hand out locks that
 * protect the program's memory (uv_mutex_lock). */
#ifndef FT_RECORD_MAKER_LIBRARY_LOCKS_H
#define FT_RECORD_MAKER_LIBRARY_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ft_library_locks ft_library_locks;

ft_library_locks *ft_library_locks_new(void);
void ft_library_locks_free(ft_library_locks *locks); /* accepts NULL */

/* First pass, in the order of the log: the thread acquires or releases that object of the log.
 * hooked: in instrumented code. shared: several readers may hold it. */
void ft_library_locks_acquire(ft_library_locks *locks, uint32_t thread, uint64_t lock, bool hooked);
void ft_library_locks_release(ft_library_locks *locks, uint32_t thread, uint64_t lock, bool hooked,
                              bool shared);
/* Does the thread hold a lock that may still be a library lock? */
bool ft_library_locks_holds(const ft_library_locks *locks, uint32_t thread);
/* First pass: instrumented code of the thread accessed memory: the locks it holds are the
 * program's. */
void ft_library_locks_access(ft_library_locks *locks, uint32_t thread);

/* After the first pass: is it a library lock that several threads used? */
bool ft_library_locks_is(const ft_library_locks *locks, uint64_t lock);
/* Second pass, once for each release of any lock, in the order of the log: does another thread
 * acquire that library lock later, so that it is ordered after this release? */
bool ft_library_locks_hands_on(ft_library_locks *locks, uint64_t lock);

#endif
