#include "cover/doubts.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

void cover_doubts_add(cover_doubts *d, const cover_doubt *doubt, ft_term condition)
{
    FT_REQUIRE(d && doubt && doubt->of.subject.epoch);
    ft_error err = FT_ERROR_INIT;
    const cover_replay_of *of = &doubt->of;
    if (!d->reach &&
        cover_reach_new(of->world->program, of->set, &d->options, &d->reach, &err) != FT_OK)
        return;
    cover_kept_doubt kept = {.doubt = *doubt,
                             .text = ft_strdup(doubt->text),
                             .condition = cover_reach_import(d->reach, of->world, condition)};
    for (size_t i = 0; i < of->n; i++) ft_vec_push(&kept.model, of->model[i]);
    kept.doubt.of.model = kept.model.data;
    ft_vec_push(&d->all, kept);
}

static bool try_inputs(void *context, const cover_given *given, size_t n)
{
    cover_kept_doubt *kept = context;
    return (kept->shown = cover_replay_given(&kept->doubt.of, given, n)) != NULL;
}

/* A loop that reads shared memory comes back as it was, unless another thread writes that. */
static bool may_race(const cover_certificates *found, const cover_subject *subject)
{
    for (size_t i = 0; i < found->all.len; i++) {
        const cover_certificate *x = &found->all.data[i];
        if (x->kind == COVER_CHECK_RACE && x->answer != COVER_PROVED &&
            x->epoch == subject->epoch && x->schedule == subject->schedule)
            return true;
    }
    return false;
}

static void refute(cover_certificate *x, cover_kept_doubt *kept)
{
    free(x->text);
    x->text = kept->text;
    kept->text = NULL;
    x->answer = COVER_REFUTED;
    x->unconfirmed = false;
    free(x->inputs); /* of another state than the run's */
    x->inputs = NULL;
    x->shown = kept->shown;
    memcpy(x->places, kept->doubt.places, sizeof x->places);
    x->n_places = kept->doubt.n_places;
}

void cover_doubts_settle(cover_doubts *d, cover_certificates *found)
{
    FT_REQUIRE(d && found);
    for (size_t i = 0; i < d->all.len; i++) {
        cover_kept_doubt *kept = &d->all.data[i];
        const cover_replay_of *of = &kept->doubt.of;
        cover_goal goal = {of->subject.epoch, kept->condition, try_inputs, kept};
        if (of->kind == COVER_CHECK_DIVERGENCE && may_race(found, &of->subject)) continue;
        if (cover_reach_search(d->reach, &goal) == COVER_OPEN && !kept->shown)
            kept->shown = cover_replay_by_trial(of);
        if (kept->shown) refute(&found->all.data[kept->doubt.number], kept);
    }
}

void cover_doubts_release(cover_doubts *d)
{
    for (size_t i = 0; i < d->all.len; i++) {
        free(d->all.data[i].text);
        ft_vec_release(&d->all.data[i].model);
    }
    ft_vec_release(&d->all);
    cover_reach_free(d->reach);
}
