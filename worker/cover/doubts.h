/* Certificates of later epochs that the solver refutes from a state which runs may not have there:
 * each is refuted once a run from the program's entry shows it, and unknown until then. Runs are
 * looked for by chains of epochs (reach.h), and where those leave something open by trial. */
#ifndef FT_COVER_DOUBTS_H
#define FT_COVER_DOUBTS_H

#include "cover/replay.h"

typedef struct cover_doubt {
    cover_replay_of of;
    size_t number;          /* of the certificate */
    const char *text;       /* what refutes it */
    ft_sym_place places[2]; /* n_places, that the text is about */
    uint8_t n_places;
} cover_doubt;

/* As kept until then. */
typedef struct cover_kept_doubt {
    cover_doubt doubt;
    char *text;
    ft_term condition; /* of the search for runs */
    cover_model model;
    cover_shown *shown; /* the run, once it is found; then the certificate's */
} cover_kept_doubt;
/* Embedded: `options` are those of the world; the rest zero. */
typedef struct cover_doubts {
    cover_world_options options;
    cover_reach *reach; /* NULL: nothing needed it yet */
    FT_VEC(cover_kept_doubt) all;
} cover_doubts;

/* The condition is one of the world's, at its epoch at hand. Text and model are copied. */
void cover_doubts_add(cover_doubts *doubts, const cover_doubt *doubt, ft_term condition);
/* Looks for runs; the certificates that one shows are refuted then. */
void cover_doubts_settle(cover_doubts *doubts, cover_certificates *certificates);
void cover_doubts_release(cover_doubts *doubts);

#endif
