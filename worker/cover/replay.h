/* Whether inputs that refute a certificate do so in the interpreter, under the schedule. */
#ifndef FT_COVER_REPLAY_H
#define FT_COVER_REPLAY_H

#include "cover/certify.h"
#include "cover/question.h"
#include "cover/translate.h"
#include "schedules/constrained.h"

typedef struct cover_replayed {
    bool needs; /* the certificate is not refuted unless the interpreter shows it */
    bool shows;
} cover_replayed;

/* A certificate of a later epoch begins with more states than there are: it is refuted only if a
 * run from the entry, under the set, shows the same. Several inputs are tried, those of the model
 * among them. */
cover_replayed cover_replay_from_entry(cover_world *world, ft_schedule_set *set,
                                       cover_certificate_kind kind, const cover_input *model,
                                       size_t n);
/* schedule: NULL of check-cover. */
cover_replayed cover_replay(cover_world *world, ft_schedule_set *set, const ft_schedule *schedule,
                            cover_certificate_kind kind, const cover_input *model, size_t n);
/* By input of the set; the caller frees it. */
uint64_t *cover_model_of_set(cover_translation *translation, const cover_input *model, size_t n);

#endif
