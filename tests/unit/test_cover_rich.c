/* Schedule sets of random programs with everything that programs as data have (oracle/mini_rich.h)
 * against brute force: the set covers every input, every run under it follows it, and what each
 * certificate says is so. Of mutated sets each that brute force finds wrong is refuted.
 *
 * FT_SEEDS=N FT_SEED_START=N: which programs. */
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
#include "oracle/mini_rich.h"
#include "unit/cover_merged.h"
#include "unit/cover_mutations.h"

typedef struct totals {
    constrained_counts runs;
    unsigned sets, open, racy, failing, stuck, answers[COVER_CERTIFICATES][3];
} totals;

static void print_all(const ft_schedule_set *set, const cover_certificates *found, const char *text)
{
    ft_strbuf out = {0};
    ft_schedule_set_print(set, &out);
    printf("%s\n%s\n", text, out.text);
    ft_strbuf_release(&out);
    for (size_t i = 0; i < found->all.len; i++) {
        const cover_certificate *c = &found->all.data[i];
        if (c->answer == COVER_PROVED) continue;
        print_message("%s of schedule %d: %s: %s;", cover_certificate_name(c->kind),
                      (int)c->schedule + 1, cover_answer_name(c->answer), c->text);
        for (uint32_t k = 0; k < c->n_inputs && c->inputs; k++)
            print_message(" %u", (unsigned)c->inputs[k]);
        print_message("\n");
    }
}

/* Why the certificates contradict brute force, of a set that the search made; NULL: they do not. */
static const char *contradiction(const cover_certificates *found, const constrained_fault *fault)
{
    cover_answer of[COVER_CERTIFICATES];
    for (int k = 0; k < COVER_CERTIFICATES; k++)
        of[k] = cover_certificates_answer(found, (cover_certificate_kind)k);
    if (fault->races && of[COVER_CHECK_RACE] == COVER_PROVED) return "a race is not seen";
    if (fault->deadlocks && of[COVER_CHECK_DEADLOCK] == COVER_PROVED)
        return "a deadlock is not seen";
    if (fault->races) return NULL; /* nothing is known of the rest */
    if (of[COVER_CHECK_RACE] == COVER_REFUTED) return "a race that does not happen";
    if (fault->fails && of[COVER_CHECK_FAILURE] == COVER_PROVED) return "a failure is not seen";
    if (!fault->fails && of[COVER_CHECK_FAILURE] == COVER_REFUTED)
        return "a failure that does not happen";
    if (of[COVER_CHECK_COVER] == COVER_REFUTED || of[COVER_CHECK_SCHEDULE] == COVER_REFUTED ||
        of[COVER_CHECK_ORDER] == COVER_REFUTED || of[COVER_CHECK_CLOSED] == COVER_REFUTED)
        return "a certificate of a good set is refuted";
    return NULL;
}

static ft_schedule_set *search(const ft_program *p, uint64_t seed, cover_search_counts *searched)
{
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    cover_search_options options = {.world = {.prefix = seed % 3 != 0, .seed = seed}};
    options.world.order = seed % 5 == 0   ? COVER_ORDER_SEED
                          : seed % 2 == 0 ? COVER_ORDER_TRACE
                                          : COVER_ORDER_THREAD;
    if (cover_search(p, &options, &set, searched, &err) != FT_OK)
        fail_msg("seed %u: %s", (unsigned)seed, err.message);
    return set;
}

static cover_certificates certify(const ft_program *p, ft_schedule_set *set)
{
    cover_certify_options options = {.max_leaves = 3000};
    cover_certificates found = {0};
    ft_error err = FT_ERROR_INIT;
    if (cover_certify(p, set, &options, &found, &err) != FT_OK) fail_msg("%s", err.message);
    check_merged(p, set, &found);
    return found;
}

/* Of a search that was not cut short every certificate has an answer. */
static const char *missing(const cover_certificates *found)
{
    for (int k = 0; k < COVER_CHECK_FAILURE; k++)
        if (cover_certificates_answer(found, (cover_certificate_kind)k) == COVER_UNKNOWN)
            return "a certificate is unknown";
    return NULL;
}

static void count(totals *all, const cover_search_counts *searched, const constrained_fault *fault,
                  const cover_certificates *found)
{
    all->sets++;
    all->open += searched->open > 0;
    all->racy += fault->races;
    all->failing += fault->fails;
    all->stuck += fault->deadlocks;
    for (int k = 0; k < COVER_CERTIFICATES; k++)
        all->answers[k][cover_certificates_answer(found, (cover_certificate_kind)k)]++;
}

static void check(uint64_t seed, totals *all)
{
    ft_strbuf text = {0};
    cover_search_counts searched;
    mini_rich(seed, &text);
    ft_program *p = mini_program(text.text);
    ft_schedule_set *set = search(p, seed, &searched);
    constrained_fault fault = constrained_check(p, set, &all->runs);
    cover_certificates found = certify(p, set);
    const char *wrong = fault.what && !fault.races ? fault.what : NULL;
    if (!wrong) wrong = contradiction(&found, &fault);
    if (!wrong) wrong = missing(&found);
    if (wrong && !searched.open) {
        print_all(set, &found, text.text);
        fail_msg("seed %u, inputs %u %u %u, schedule s%u: %s", (unsigned)seed,
                 (unsigned)fault.inputs[0], (unsigned)fault.inputs[1], (unsigned)fault.inputs[2],
                 fault.schedule + 1, wrong);
    }
    count(all, &searched, &fault, &found);
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
    ft_strbuf_release(&text);
}

static void test_cover_rich(void **state)
{
    (void)state;
    uint64_t first = number("FT_SEED_START", 1), n = usual(100, 3);
    totals all = {0};
    for (uint64_t seed = first; seed < first + n; seed++) check(seed, &all);
    print_message("sets %u, open %u, racy %u, failing %u, stuck %u; inputs %u, runs %u\n", all.sets,
                  all.open, all.racy, all.failing, all.stuck, (unsigned)all.runs.inputs,
                  (unsigned)all.runs.runs);
    for (int k = 0; k < COVER_CERTIFICATES; k++)
        print_message("  %-15s proved %u, refuted %u, unknown %u\n",
                      cover_certificate_name((cover_certificate_kind)k), all.answers[k][0],
                      all.answers[k][1], all.answers[k][2]);
}

/* ---- mutated sets ---- */

typedef struct mutated {
    unsigned sets, wrong, refuted, of[N_MUTATIONS][2];
} mutated;

static bool is_refuted(const cover_certificates *found)
{
    for (int k = 0; k < COVER_CHECK_FAILURE; k++)
        if (cover_certificates_answer(found, (cover_certificate_kind)k) == COVER_REFUTED)
            return true;
    return false;
}

static void check_mutated(const ft_program *p, ft_schedule_set *set, const char *text, int kind,
                          mutated *counts)
{
    constrained_counts runs = {0};
    constrained_fault fault = constrained_check(p, set, &runs);
    counts->sets++;
    counts->of[kind][0]++;
    if (!fault.what && !fault.races) return;
    cover_certificates found = certify(p, set);
    counts->wrong++;
    counts->of[kind][1]++;
    if (is_refuted(&found)) {
        counts->refuted++;
    } else {
        print_all(set, &found, text);
        fail_msg("mutation %d is wrong (%s; inputs %u %u %u) and is not refuted", kind,
                 fault.what ? fault.what : "races", (unsigned)fault.inputs[0],
                 (unsigned)fault.inputs[1], (unsigned)fault.inputs[2]);
    }
    cover_certificates_release(&found);
}

static void mutate(uint64_t seed, mutated *counts)
{
    ft_strbuf text = {0};
    dice d = {seed};
    mini_rich(seed, &text);
    ft_program *p = mini_program(text.text);
    for (int k = 0; k < N_MUTATIONS; k++) {
        cover_search_counts searched;
        ft_error err = FT_ERROR_INIT;
        ft_schedule_set *set = search(p, seed, &searched);
        if (!searched.open && MUTATIONS[k](set, &d) && ft_schedule_set_validate(set, &err) == FT_OK)
            check_mutated(p, set, text.text, k, counts);
        ft_schedule_set_free(set);
    }
    ft_program_free(p);
    ft_strbuf_release(&text);
}

static void test_cover_rich_mutations(void **state)
{
    (void)state;
    uint64_t first = number("FT_SEED_START", 1), n = usual(60, 3) / 4;
    mutated counts = {0};
    for (uint64_t seed = first; seed < first + n; seed++) mutate(seed, &counts);
    print_message("mutated sets %u, wrong %u, refuted %u\n", counts.sets, counts.wrong,
                  counts.refuted);
    for (int k = 0; k < N_MUTATIONS; k++)
        print_message("  mutation %d: %u, wrong %u\n", k, counts.of[k][0], counts.of[k][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cover_rich),
                                       cmocka_unit_test(test_cover_rich_mutations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
