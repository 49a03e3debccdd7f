/* Terms between the pool of a world, whose symbols are open inputs and unknowns (symbolic/epoch.h),
 * and the pool of a schedule set, whose symbols are those of one epoch of the set. */
#ifndef FT_COVER_TRANSLATE_H
#define FT_COVER_TRANSLATE_H

#include "cover/run.h"

typedef struct cover_translation {
    cover_world *world;
    ft_schedule_set *set;
    uint32_t epoch;              /* whose symbols they are */
    const ft_sym_state *arrival; /* NULL, or unknowns in the world are the contents that it has */
    ft_map to_set, to_world;     /* terms that were translated */
    ft_map inputs;               /* the world's symbol -> the set's input */
} cover_translation;

void cover_translation_release(cover_translation *translation);
/* Adds inputs to the set as it needs them. */
ft_term cover_to_set(cover_translation *translation, ft_term term);
/* FT_NO_TERM: the program does not read an input of the term, or its thread has no number. */
ft_term cover_to_world(cover_translation *translation, ft_term term);

/* A copy in `to`, which may be the same pool, with what `symbol` gives for symbols; FT_NO_TERM: it
 * gave none for one of them. `done` has the copies of terms that were made with the same function
 * before. */
ft_term cover_copy_term(const ft_term_pool *from, ft_term_pool *to, ft_map *done,
                        ft_term (*symbol)(void *context, const ft_term_node *node), void *context,
                        ft_term term);

#endif
