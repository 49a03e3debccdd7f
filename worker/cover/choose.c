#include "cover/choose.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "report/certificates.h"

/* A search that takes longer is ended, so that its schedules get their certificates. */
#define SHARE_OF_SEARCH (2.0 / 3)
/* Of the time that is left: one of several searches; certificates that only compare sets. */
#define SHARE_OF_ONE   (1.0 / 2)
#define SHARE_OF_FEW   (1.0 / 4)
#define SHARE_OF_DOUBT (1.0 / 4)

static void allow(cover_asked *a, double share)
{
    double now = ft_now_ms();
    a->until = now + (a->end - now) * share;
}

static cover_search_options options_of(const cover_asked *a, cover_epochs epochs)
{
    return (cover_search_options){.world = a->world, .max_entries = a->entries, .epochs = epochs};
}

void cover_choice_release(cover_choice *c)
{
    ft_schedule_set_free(c->set);
    json_decref(c->certificates);
    *c = (cover_choice){0};
}

static ft_status search(cover_asked *a, const cover_search_options *options, double share,
                        cover_choice *made, ft_error *err)
{
    allow(a, share);
    return cover_search(a->program, options, &made->set, &made->counts, err);
}

/* Are the six certificates proved? No time, no proof. */
static ft_status is_proved(cover_asked *a, double share, cover_choice *c, bool *proved,
                           ft_error *err)
{
    size_t i;
    const json_t *one;
    allow(a, share);
    *proved = true;
    ft_status status = cover_asked_certify(a, c->set, NULL, &c->certificates, err);
    json_array_foreach(c->certificates, i, one)
    {
        const char *check = json_string_value(json_object_get(one, "check"));
        const char *answer = json_string_value(json_object_get(one, "answer"));
        bool needed = false;
        for (int k = 0; k < COVER_CHECK_FAILURE; k++)
            needed |= strcmp(check, cover_certificate_name((cover_certificate_kind)k)) == 0;
        if (needed && strcmp(answer, cover_answer_name(COVER_PROVED)) != 0) *proved = false;
    }
    return status;
}

/* One epoch, where it covers every input. */
static bool search_one(cover_asked *a, cover_choice *one, char *reason, size_t most)
{
    enum { ENTRIES = 2000, OPERATIONS = 2000 };
    ft_error own = FT_ERROR_INIT;
    cover_search_options options = options_of(a, COVER_EPOCHS_ONE);
    options.gives_up = true;
    if (!options.max_entries || options.max_entries > ENTRIES) options.max_entries = ENTRIES;
    options.world.max_operations = OPERATIONS;
    ft_status status = search(a, &options, SHARE_OF_ONE, one, &own);
    if (status == FT_OK && !one->counts.open) return true;
    snprintf(reason, most, "%s", status == FT_OK ? one->counts.reason : own.message);
    cover_choice_release(one);
    return false;
}

/* Takes over `better`. */
static void replace(cover_choice *c, cover_choice *better)
{
    cover_choice_release(c);
    *c = *better;
    *better = (cover_choice){0};
}

/* Epochs at markers leave inputs uncovered, or unproved. */
static ft_status compare(cover_asked *a, bool alone, cover_choice *c, ft_error *err)
{
    cover_choice one = {0};
    char why[480];
    bool proved = false;
    ft_status status = FT_OK;
    uint64_t open = c->counts.open;
    if (!search_one(a, &one, why, sizeof why)) {
        snprintf(c->taken, sizeof c->taken,
                 "epochs end at markers; one epoch does not cover every input: %s", why);
        return FT_OK;
    }
    if (!open) status = is_proved(a, alone ? 1 : SHARE_OF_DOUBT, &one, &proved, err);
    bool better = open || proved || one.counts.schedules < c->counts.schedules;
    if (status == FT_OK && better) replace(c, &one);
    if (open)
        snprintf(c->taken, sizeof c->taken,
                 "one epoch: it covers every input, and epochs that end at markers leave %llu %s "
                 "of inputs",
                 (unsigned long long)open, open == 1 ? "class" : "classes");
    else
        snprintf(c->taken, sizeof c->taken, "%s: %s",
                 better ? "one epoch" : "epochs end at markers",
                 proved   ? "its certificates hold, those of epochs that end at markers do not"
                 : better ? "it has fewer schedules, and neither set has all certificates"
                          : "one epoch has as many schedules, and neither set all certificates");
    cover_choice_release(&one);
    return status;
}

static ft_status search_markers(cover_asked *a, bool alone, const char *few, cover_choice *c,
                                ft_error *err)
{
    ft_error own = FT_ERROR_INIT;
    cover_search_options options = options_of(a, COVER_EPOCHS_MARKERS);
    bool proved = false;
    ft_status status = search(a, &options, SHARE_OF_ONE, c, &own);
    if (status != FT_OK) { /* markers cover nothing */
        char why[480];
        if (!search_one(a, c, why, sizeof why)) return ft_error_set(err, status, "%s", own.message);
        snprintf(c->taken, sizeof c->taken,
                 "one epoch: epochs that end at markers cover nothing: %.400s", own.message);
        return FT_OK;
    }
    snprintf(c->taken, sizeof c->taken, "epochs end at markers; one epoch is not small: %s", few);
    if (c->counts.epochs < 2 && !c->counts.open) return FT_OK;
    if (!c->counts.open) status = is_proved(a, alone ? 1 : SHARE_OF_DOUBT, c, &proved, err);
    return status == FT_OK && !proved ? compare(a, alone, c, err) : status;
}

ft_status cover_choose(cover_asked *a, bool alone, cover_choice *c, ft_error *err)
{
    FT_REQUIRE(a && !a->set && c);
    *c = (cover_choice){0};
    ft_error few = FT_ERROR_INIT;
    ft_status status;
    if (a->epochs != COVER_EPOCHS_AUTO || !cover_has_markers(a->program)) {
        cover_search_options options = options_of(a, a->epochs);
        status = search(a, &options, SHARE_OF_SEARCH, c, err);
    } else {
        cover_search_options options = options_of(a, COVER_EPOCHS_ONE);
        allow(a, SHARE_OF_FEW);
        status = cover_search_few(a->program, &options, &c->set, &c->counts, &few);
        if (status == FT_OK)
            snprintf(c->taken, sizeof c->taken,
                     "one epoch: it covers every input with few schedules");
        else
            status = search_markers(a, alone, few.message, c, err);
    }
    a->until = a->end;
    if (status != FT_OK) cover_choice_release(c);
    return status;
}
