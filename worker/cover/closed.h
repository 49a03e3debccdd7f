/* check-closed: a run of a schedule that goes on in another epoch arrives at that epoch: each of
 * its threads stands where the epoch says, what is not content is as it says (symbolic/epoch.h),
 * and the content is what it knows. Then its Init holds wherever it begins, by induction over
 * epochs, and every other certificate may begin with it (notes on Bergan, §2). */
#ifndef FT_COVER_CLOSED_H
#define FT_COVER_CLOSED_H

#include "cover/translate.h"

typedef struct cover_closed {
    cover_world *world;
    ft_schedule_set *set;
    ft_sym_state **beginnings; /* by epoch of the set; of the entry NULL */
} cover_closed;

/* FT_INPUT: an epoch of the set is not one of the program. Release it in any case. */
ft_status cover_closed_init(cover_closed *closed, cover_world *world, ft_schedule_set *set,
                            ft_error *err) FT_MUST_CHECK;
void cover_closed_release(cover_closed *closed);

/* Compares the state at the end of a run of the schedule with the next epoch. Calls `outside` with
 * the conditions under which it is not there. FT_UNSUPPORTED: the state cannot be compared.
 * *arrival, which the caller frees: the state as one of that epoch, or NULL, if it is none under
 * any condition; arrival may be NULL. */
ft_status cover_closed_check(const cover_closed *closed, const ft_schedule *schedule,
                             const ft_sym_state *state,
                             void (*outside)(void *context, ft_term condition, const char *what),
                             void *context, ft_sym_state **arrival, ft_error *err) FT_MUST_CHECK;

#endif
