/* Schedule sets of random programs with everything that programs as data have (oracle/mini_rich.h)
 * against brute force: the set covers every input, every run under it follows it, and what each
 * certificate says is so.
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
#include "oracle/constrained.h"
#include "oracle/mini.h"
#include "oracle/mini_rich.h"

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

typedef struct counts {
    constrained_counts runs;
    unsigned sets, open, racy, failing, stuck, answers[COVER_CERTIFICATES][3];
} counts;

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

static void check(uint64_t seed, counts *all)
{
    ft_strbuf text = {0};
    ft_error err = FT_ERROR_INIT;
    cover_search_options options = {.world = {.prefix = seed % 3 != 0,
                                              .order = (cover_order)(seed % COVER_ORDER_SEED + 0),
                                              .seed = seed}};
    cover_search_counts searched;
    ft_schedule_set *set = NULL;
    if (seed % 5 == 0) options.world.order = COVER_ORDER_SEED;
    mini_rich(seed, &text);
    if (getenv("FT_SEED_PRINT")) print_message("%u: %s\n", (unsigned)seed, text.text);
    ft_program *p = mini_program(text.text);
    if (cover_search(p, &options, &set, &searched, &err) != FT_OK)
        fail_msg("seed %u: %s\n%s", (unsigned)seed, err.message, text.text);
    constrained_fault fault = constrained_check(p, set, &all->runs);
    cover_certify_options certify = {.max_leaves = 3000};
    cover_certificates found = {0};
    if (cover_certify(p, set, &certify, &found, &err) != FT_OK) fail_msg("%s", err.message);
    const char *wrong = fault.what && !fault.races ? fault.what : NULL;
    if (!wrong && !searched.open) wrong = contradiction(&found, &fault);
    if (searched.open && fault.what && !strcmp(fault.what, "no schedule covers the inputs"))
        wrong = NULL;
    if (wrong) {
        print_all(set, &found, text.text);
        fail_msg("seed %u, inputs %u %u %u, schedule s%u: %s", (unsigned)seed,
                 (unsigned)fault.inputs[0], (unsigned)fault.inputs[1], (unsigned)fault.inputs[2],
                 fault.schedule + 1, wrong);
    }
    for (int k = 0; k < COVER_CERTIFICATES && getenv("FT_UNKNOWN"); k++)
        if (cover_certificates_answer(&found, (cover_certificate_kind)k) == COVER_UNKNOWN) {
            print_message("seed %u: unknown\n", (unsigned)seed);
            print_all(set, &found, text.text);
        }
    all->sets++;
    all->open += searched.open > 0;
    all->racy += fault.races;
    all->failing += fault.fails;
    all->stuck += fault.deadlocks;
    for (int k = 0; k < COVER_CERTIFICATES; k++)
        all->answers[k][cover_certificates_answer(&found, (cover_certificate_kind)k)]++;
    cover_certificates_release(&found);
    ft_schedule_set_free(set);
    ft_program_free(p);
    ft_strbuf_release(&text);
}

static void test_cover_rich(void **state)
{
    (void)state;
    uint64_t first = number("FT_SEED_START", 1), n = number("FT_SEEDS", 200);
    counts all = {0};
    for (uint64_t seed = first; seed < first + n; seed++) check(seed, &all);
    print_message("sets %u, open %u, racy %u, failing %u, stuck %u; inputs %u, runs %u\n", all.sets,
                  all.open, all.racy, all.failing, all.stuck, (unsigned)all.runs.inputs,
                  (unsigned)all.runs.runs);
    for (int k = 0; k < COVER_CERTIFICATES; k++)
        print_message("  %-15s proved %u, refuted %u, unknown %u\n",
                      cover_certificate_name((cover_certificate_kind)k), all.answers[k][0],
                      all.answers[k][1], all.answers[k][2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cover_rich)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
