/* Watches: what a thread that polls waits for.
 *
 * A *round* is what a thread does from one visit of a place to the next: attempts alone, which read
 * (load, plain read that is an action, compare and swap that fails, try-lock that fails, ...) and
 * change nothing. A round that leaves the thread as it was is *fruitless*: with the same results it
 * would do the same again, for ever. The executor then has the thread stand before AWAIT with the
 * round's attempts, and no run spins: it is enabled where an attempt would turn out otherwise than
 * it did.
 *
 * Nothing is lost. A fruitless round changes neither the thread nor an object, so every execution
 * without the round is one too, and whatever the thread can read later it reads in its next round.
 * Where nobody else can go on and no attempt would turn out otherwise, the program is in a
 * live-lock: the run ends STUCK with an AWAIT pending.
 *
 * A thread that counts its rounds, or changes otherwise, stands before LINGER after some rounds
 * with equal results: it waits in the same way, and may also go on *late*, where no thread can do
 * anything else. That is no longer every schedule.
 *
 * A call that waits for one of several channels (poll, select) stands before READY: the attempts
 * are TESTs of the channels that found them not ready.
 *
 * Equal watches have equal numbers, in every process. The executor makes them; they only grow.
 * Thread-safe. */
#ifndef FT_EXPLORE_WATCH_H
#define FT_EXPLORE_WATCH_H

#include <stddef.h>

#include "explore/action.h"

typedef struct ft_x_attempt {
    ft_x_operation operation;
    /* of an atomic: the value that was there; of a READ: how many writes there were; else the
     * outcome */
    int64_t result;
} ft_x_attempt;

typedef struct ft_x_watches ft_x_watches;

ft_x_watches *ft_x_watches_new(void);
void ft_x_watches_free(ft_x_watches *w);

/* The operation (AWAIT, READY or LINGER) that watches the attempts; of none it is never enabled,
 * but late. */
ft_x_operation ft_x_watch(ft_x_watches *w, ft_x_kind kind, const ft_x_attempt *attempts, size_t n);
/* The attempts of the operation, *n of them; the watches'. */
const ft_x_attempt *ft_x_watched(const ft_x_watches *w, const ft_x_operation *poll, size_t *n);

/* Does the operation watch the object? It may say so of one that it does not watch (of more than 64
 * objects), never the other way. */
static inline bool ft_x_watches_object(const ft_x_operation *poll, uint32_t object)
{
    return (uint64_t)poll->value2 >> object % 64 & 1;
}

#endif
