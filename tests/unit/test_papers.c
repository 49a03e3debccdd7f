/* The papers' programs, small enough for the oracle: every verdict of the engine is the oracle's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/programs/programs.h"
#include "oracle/compare.h"

typedef ft_trace *(*maker)(const ft_program_shape *shape);

/* What the oracle must say of a program at all: a repaired one has no violation of its check, a
 * broken one has some. */
typedef struct expectation {
    ft_check check;
    uint32_t violations;
} expectation;

typedef struct small {
    const char *name;
    maker make;
    ft_program_shape shape;
    expectation most; /* of the most precise model; check FT_CHECKS: nothing is said */
} small;

#define ANY                                                                                        \
    {                                                                                              \
        FT_CHECKS, 0                                                                               \
    }

static const small SMALL[] = {
    {"banking, correct", ft_program_banking, {3, 0, 1, 0}, {FT_CHECK_ASSERTION, 0}},
    {"banking, broken", ft_program_banking, {3, 0, 1, 1}, {FT_CHECK_ASSERTION, 1}},
    {"indexer, joined", ft_program_indexer, {2, 4, 2, 0}, {FT_CHECK_ASSERTION, 0}},
    {"indexer, not joined", ft_program_indexer, {3, 3, 1, 1}, {FT_CHECK_ASSERTION, 1}},
    {"indexer, full", ft_program_indexer, {2, 4, 2, 1}, {FT_CHECK_ASSERTION, 1}},
    {"atom001", ft_program_atom001, {2, 0, 0, 0}, {FT_CHECK_ATOMICITY, 1}},
    {"atom001a", ft_program_atom001, {2, 0, 0, 1}, {FT_CHECK_ATOMICITY, 0}},
    {"atom002", ft_program_atom002, {2, 2, 0, 0}, {FT_CHECK_ATOMICITY, 6}},
    {"atom002a", ft_program_atom002, {2, 2, 0, 1}, {FT_CHECK_ATOMICITY, 0}},
    {"bank-av", ft_program_bank, {2, 0, 0, 0}, {FT_CHECK_ATOMICITY, 8}},
    {"bank-sav", ft_program_bank, {2, 0, 0, 1}, {FT_CHECK_ATOMICITY, 4}},
    {"bank-nav", ft_program_bank, {2, 0, 0, 2}, {FT_CHECK_ATOMICITY, 0}},
    {"bank-av, three", ft_program_bank, {3, 0, 0, 0}, {FT_CHECK_ATOMICITY, 12}},
    {"buffer, correct", ft_program_buffer, {2, 2, 2, 0}, {FT_CHECK_ASSERTION, 0}},
    {"buffer, broken", ft_program_buffer, {2, 2, 2, 1}, {FT_CHECK_ASSERTION, 1}},
    {"buffer, one slot", ft_program_buffer, {4, 1, 1, 0}, {FT_CHECK_ASSERTION, 0}},
    {"philosophers", ft_program_philosophers, {2, 0, 1, 0}, {FT_CHECK_RACE, 0}},
    {"philosophers, left first", ft_program_philosophers, {3, 0, 1, 1}, {FT_CHECK_RACE, 0}},
    {"barrier", ft_program_barrier, {2, 0, 2, 0}, {FT_CHECK_RACE, 0}},
    {"barrier, broken", ft_program_barrier, {2, 0, 2, 1}, {FT_CHECK_ASSERTION, 2}},
    {"barrier of the system", ft_program_barrier, {3, 0, 2, 2}, {FT_CHECK_RACE, 0}},
    {"account, correct", ft_program_account, {2, 0, 0, 0}, {FT_CHECK_ASSERTION, 0}},
    {"account, broken", ft_program_account, {2, 0, 0, 1}, {FT_CHECK_ASSERTION, 1}},
    {"elevator", ft_program_elevator, {2, 2, 4, 0}, {FT_CHECK_RACE, 0}},
    {"tsp", ft_program_tsp, {2, 1, 1, 0}, ANY},
    {"tsp, checked again", ft_program_tsp, {2, 1, 1, 1}, ANY},
    {"sync", ft_program_sync, {3, 0, 2, 0}, {FT_CHECK_RACE, 0}},
    {"nested", ft_program_nested, {2, 0, 0, 0}, {FT_CHECK_RACE, 0}},
    {"nested, one after the other", ft_program_nested, {2, 0, 0, 1}, {FT_CHECK_RACE, 1}},
    {"agent, correct", ft_program_agent, {2, 0, 1, 0}, {FT_CHECK_RACE, 0}},
    {"agent, broken", ft_program_agent, {2, 0, 1, 1}, {FT_CHECK_RACE, 2}},
    {"pool", ft_program_pool, {2, 1, 0, 0}, {FT_CHECK_RACE, 0}},
    {"pool, given back early", ft_program_pool, {2, 1, 0, 1}, {FT_CHECK_RACE, 1}},
    {"token", ft_program_token, {2, 0, 1, 0}, {FT_CHECK_RACE, 0}},
    {"token, read again", ft_program_token, {2, 0, 1, 1}, {FT_CHECK_RACE, 1}},
};

static uint32_t violated(const ft_trace *trace, ft_model model, ft_check check)
{
    ft_oracle_job job = {.model = model};
    ft_oracle_result result;
    uint32_t count = 0;
    job.checks[check] = true;
    ft_oracle_enumerate(trace, &job, &result);
    for (size_t i = 0; i < result.answers.len; i++) count += result.answers.data[i].violated;
    ft_oracle_release(&result);
    return count;
}

static void expect(const small *program, const ft_trace *trace)
{
    bool concrete = program->make == ft_program_elevator || program->make == ft_program_tsp;
    if (program->most.check == FT_CHECKS) return;
    uint32_t found =
        violated(trace, concrete ? FT_MODEL_MAXIMAL : FT_MODEL_CTP, program->most.check);
    if (found != program->most.violations)
        fail_msg("%s: the oracle finds %u violations of %s, not %u", program->name, found,
                 ft_check_name(program->most.check), program->most.violations);
}

static void test_against_the_oracle(void **state)
{
    (void)state;
    unsigned wanted = 1u << FT_COMPARE_EVENTS | 1u << FT_COMPARE_LOCATIONS |
                      1u << FT_COMPARE_LITERAL | 1u << FT_COMPARE_DECIDE |
                      1u << FT_COMPARE_INCLUSION;
    for (size_t i = 0; i < sizeof SMALL / sizeof *SMALL; i++) {
        ft_strbuf why = {0};
        ft_trace *trace = SMALL[i].make(&SMALL[i].shape);
        expect(&SMALL[i], trace);
        bool ok = ft_compare_trace(trace, wanted, &why);
        if (!ok) fail_msg("%s: %s", SMALL[i].name, ft_strbuf_text(&why));
        ft_strbuf_release(&why);
        ft_trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_the_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
