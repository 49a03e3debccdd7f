/* Locks that code without hooks keeps for itself: a library's own queue or table, whose content
 * nobody sees. Such sections stay in the order of the run, since what one puts in the next one may
 * find: each comes after those of other threads that came before it.
 *
 * A lock is one of these if all that is done to it is done by code without hooks, and no access of
 * the program was seen between an acquire and its release: a library may also hand out locks for
 * what is the program's (uv_mutex_lock). */
#ifndef FT_RECORD_MAKER_HIDDEN_H
#define FT_RECORD_MAKER_HIDDEN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ft_hidden ft_hidden;

ft_hidden *ft_hidden_new(void);
void ft_hidden_free(ft_hidden *hidden); /* accepts NULL */

/* First pass, in the order of the log: that thread acquires or releases the lock, an object of the
 * log. hooked: in code with hooks. shared: readers may hold it together. */
void ft_hidden_acquire(ft_hidden *hidden, uint32_t thread, uint64_t lock, bool hooked);
void ft_hidden_release(ft_hidden *hidden, uint32_t thread, uint64_t lock, bool hooked, bool shared);
/* Does the thread hold any that may be hidden? */
bool ft_hidden_holds(const ft_hidden *hidden, uint32_t thread);
/* First pass: the thread made an access in code with hooks. */
void ft_hidden_access(ft_hidden *hidden, uint32_t thread);

/* Behind the first pass: is it such a lock, of several threads? */
bool ft_hidden_is(const ft_hidden *hidden, uint64_t lock);
/* Second pass, once for each release of any lock, in their order: does a thread that acquires the
 * lock later come after it? */
bool ft_hidden_hands_on(ft_hidden *hidden, uint64_t lock);

#endif
