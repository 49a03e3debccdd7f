/* Certificates of merged paths (cover/merge.c, symbolic/meet.h) against brute force, on random
 * programs with loops that do not synchronise, and on mutations of their sets: what is proved of
 * merged paths is so. Loops are summarised behind their first round, so that programs of few inputs
 * come to it. FT_SEEDS=N, FT_SEED_START=N: which random programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cover/certify.h"
#include "cover/search.h"
#include "cover_seeds.h"
#include "oracle/constrained.h"
#include "oracle/mini.h"
#include "oracle/mini_random.h"
#include "unit/cover_mutations.h"

typedef struct tally {
    unsigned sets, wrong, proved, unknown;
    uint64_t met, summarised;
    unsigned with_met, with_loops; /* sets of which some certificate is proved of merged paths */
} tally;

/* Of the set, which brute force has judged: is a certificate proved that does not hold? */
static const char *contradiction(const cover_certificates *found, const constrained_fault *fault)
{
    cover_answer of[COVER_CERTIFICATES];
    for (int k = 0; k < COVER_CERTIFICATES; k++)
        of[k] = cover_certificates_answer(found, (cover_certificate_kind)k);
    if (fault->races) return of[COVER_CHECK_RACE] == COVER_PROVED ? "a race is not seen" : NULL;
    if (of[COVER_CHECK_RACE] != COVER_PROVED) return NULL; /* nothing is concluded */
    if (fault->deadlocks && !fault->what && of[COVER_CHECK_DEADLOCK] == COVER_PROVED)
        return "a deadlock is not seen";
    if (fault->fails && cover_certificates_hold(found) && of[COVER_CHECK_FAILURE] == COVER_PROVED)
        return "a failure is not seen";
    if (fault->what && cover_certificates_hold(found)) return "a wrong set has its certificates";
    return NULL;
}

static void count(const cover_certificates *found, tally *t)
{
    bool any = false;
    for (int k = 0; k < COVER_CERTIFICATES; k++) {
        cover_answer answer = cover_certificates_answer(found, (cover_certificate_kind)k);
        t->proved += answer == COVER_PROVED;
        t->unknown += answer == COVER_UNKNOWN;
        any |= answer == COVER_PROVED && k != COVER_CHECK_COVER && k != COVER_CHECK_ORDER;
    }
    t->met += found->merged.met;
    t->summarised += found->merged.summarised;
    t->with_met += any && found->merged.met;
    t->with_loops += any && found->merged.summarised;
}

/* A question that asks too often is cut: the same on every machine. */
static bool should_stop(void *context)
{
    enum { MOST = 6000 };
    return ++*(unsigned *)context > MOST;
}

static void check(const ft_program *p, ft_schedule_set *set, const char *text, tally *t)
{
    unsigned asked = 0;
    cover_certify_options options = {.world = {.should_stop = should_stop, .context = &asked},
                                     .max_leaves = 1,
                                     .merged_rounds = 1};
    cover_certificates found = {0};
    constrained_counts runs = {0};
    ft_error err = FT_ERROR_INIT;
    constrained_fault fault = constrained_check(p, set, &runs);
    if (cover_certify(p, set, &options, &found, &err) != FT_OK) fail_msg("%s", err.message);
    const char *wrong = contradiction(&found, &fault);
    if (wrong) {
        ft_strbuf out = {0};
        ft_schedule_set_print(set, &out);
        printf("%s\n%s", text, out.text);
        ft_strbuf_release(&out);
        fail_msg("%s; brute force: %s", wrong, fault.what ? fault.what : "right");
    }
    t->sets++;
    t->wrong += fault.what || fault.races || fault.fails || fault.deadlocks;
    count(&found, t);
    cover_certificates_release(&found);
}

static ft_schedule_set *search(const ft_program *p, uint64_t seed, bool *open)
{
    unsigned asked = 0;
    cover_search_options options = {.world = {.prefix = seed % 3 != 0,
                                              .order = (cover_order)(seed % COVER_ORDERS),
                                              .seed = 3,
                                              .should_stop = should_stop,
                                              .context = &asked},
                                    .max_entries = 60};
    cover_search_counts counts;
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    if (cover_search(p, &options, &set, &counts, &err) != FT_OK) fail_msg("%s", err.message);
    *open = counts.open > 0;
    return set;
}

static void check_seed(uint64_t seed, tally *t)
{
    ft_strbuf text = {0};
    ft_error err = FT_ERROR_INIT;
    bool open;

    mini_features features = mini_random_features(seed);
    dice d = {seed};
    features.rounds = true;
    mini_random(seed, features, &text);
    ft_program *p = mini_program(text.text);
    ft_schedule_set *set = search(p, seed, &open);
    if (!open) check(p, set, text.text, t);
    ft_schedule_set_free(set);
    for (int i = 0; i < 3 && !open; i++) {
        set = search(p, seed, &open);
        if (MUTATIONS[roll(&d, N_MUTATIONS)](set, &d) &&
            ft_schedule_set_validate(set, &err) == FT_OK)
            check(p, set, text.text, t);
        ft_schedule_set_free(set);
    }
    ft_program_free(p);
    ft_strbuf_release(&text);
}

static void test_cover_merge(void **state)
{
    (void)state;
    uint64_t first = number("FT_SEED_START", 1), n = usual(60, 6);
    tally t = {0};
    for (uint64_t seed = first; seed < first + n; seed++) check_seed(seed, &t);
    print_message("%u sets, %u of them wrong; %u answers proved, %u unknown; ways met %u times, %u "
                  "loops were summarised; proofs of such paths in %u and %u sets\n",
                  t.sets, t.wrong, t.proved, t.unknown, (unsigned)t.met, (unsigned)t.summarised,
                  t.with_met, t.with_loops);
    assert_true(n < 40 || (t.with_met >= n / 2 && t.with_loops >= n / 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cover_merge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
