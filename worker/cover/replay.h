/* Whether a refuted certificate can be seen in the interpreter: a run from the program's entry,
 * under the set, that comes to the certificate's epoch and schedule and goes wrong there. Of the
 * kinds that are failures of the program, the run is a witness as well (program/witness/witness.h),
 * which the interpreter judges without the set. */
#ifndef FT_COVER_REPLAY_H
#define FT_COVER_REPLAY_H

#include "cover/certify.h"
#include "cover/question.h"
#include "cover/reach.h"
#include "cover/translate.h"

/* What is to be shown. */
typedef struct cover_replay_of {
    const cover_world *world;
    ft_schedule_set *set;
    cover_certificate_kind kind;
    cover_subject subject;
    const cover_input *model; /* n of the world: those that refute the certificate */
    size_t n;
} cover_replay_of;

/* Must the interpreter show a certificate of the entry that the solver refutes? */
bool cover_replay_is_needed(const cover_replay_of *of);
/* A certificate of the entry, with the model. The run; NULL: it does not show it. */
cover_shown *cover_replay_at_entry(const cover_replay_of *of);
/* With inputs of a chain (reach.h), those that are not given being 0. */
cover_shown *cover_replay_given(const cover_replay_of *of, const cover_given *given, size_t n);
/* A certificate of a later epoch: tries inputs, those of the model among them. */
cover_shown *cover_replay_by_trial(const cover_replay_of *of);

/* By input of the set; the caller frees it. */
uint64_t *cover_model_of_set(cover_translation *translation, const cover_input *model, size_t n);

#endif
