/* Which epochs a set gets when the question leaves that open (`--epochs auto`).
 *
 * One epoch, if that covers every input with few schedules. Else epochs that end at markers; and
 * where these leave inputs uncovered, or certificates unproved, one epoch again without the bound
 * on few. The better set is taken: one that covers every input before one that does not, then one
 * whose six certificates are proved, then the one with fewer schedules. Each search has at most
 * half of the time that is left. */
#ifndef FT_COVER_CHOOSE_H
#define FT_COVER_CHOOSE_H

#include "cover/request.h"

typedef struct cover_choice {
    ft_schedule_set *set;
    cover_search_counts counts; /* of its search */
    char taken[640];            /* which epochs, and why; "": there was no choice */
    json_t *certificates;       /* of the set, as cover_asked_certify has them; NULL: none yet */
} cover_choice;

/* Searches. `alone`: nobody else certifies the set, so that the time until the end is for that;
 * else certificates that decide have a share of it. Release the choice where it is FT_OK. Errors:
 * as cover_search. */
ft_status cover_choose(cover_asked *asked, bool alone, cover_choice *choice,
                       ft_error *err) FT_MUST_CHECK;
void cover_choice_release(cover_choice *choice);

#endif
