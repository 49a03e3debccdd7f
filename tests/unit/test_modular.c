/* Proofs for any number of threads (worker/modular) against brute force: where one says that no
 * assertion fails, none does in any state of the program, with its few threads. Programs by hand
 * say what is proved, and what must not be. FT_SEEDS=N and FT_SEED_START=N make longer runs. */
#include "symbolic_ends.h"

#include "modular/modular.h"
#include "modular_cases.h"
#include "modular_programs.h"

enum { DEFAULT_SEEDS = 60, MOST_STATES = 8000 };

/* ---- comparison ---- */

typedef struct totals {
    uint32_t programs, failing, proved, refused, open;
} totals;

static bool fails(const inputs_words *words)
{
    for (uint32_t i = 0; i < words->all.len; i++)
        if (strncmp(words->all.names[i], "assertion", 9) == 0) return true;
    return false;
}

static void compare(uint64_t seed, inputs_program *p, totals *t)
{
    inputs_words words;
    ft_strbuf why = {0};
    ft_program *program = program_of(seed, p);
    ft_modular_options options = {.seconds = 2};
    bool whole = ft_inputs_states(p, program, MOST_STATES, &words), failing = fails(&words);
    if (whole || failing) {
        ft_modular_answer answer = ft_modular_prove(program, &options, &why);
        t->programs++;
        t->failing += failing;
        t->proved += answer == FT_MODULAR_PROVED;
        t->refused += answer == FT_MODULAR_REFUSED;
        t->open += answer == FT_MODULAR_OPEN;
        if (failing && answer == FT_MODULAR_PROVED)
            complain(seed, p, "proved, and an assertion fails");
    }
    ft_strbuf_release(&why);
    ft_inputs_release_words(&words);
    ft_program_free(program);
}

static void report(const char *what, const totals *t)
{
    print_message("%s: %u programs, %u fail, %u proved, %u refused, %u open\n", what, t->programs,
                  t->failing, t->proved, t->refused, t->open);
}

static void compare_programs(bool rich)
{
    totals t = {0};
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        inputs_program p;
        make_program(seed, rich, &p);
        compare(seed, &p, &t);
        ft_inputs_release(&p);
    }
    report(rich ? "rich" : "own", &t);
    assert_true(n < DEFAULT_SEEDS || (t.proved > n / 20 && t.failing > n / 20));
}

static void test_random_programs(void **state)
{
    (void)state;
    compare_programs(false);
}

static void test_rich_programs(void **state)
{
    (void)state;
    compare_programs(true);
}

/* All instructions, of which most are refused. */
static void test_programs_of_others(void **state)
{
    (void)state;
    totals t = {0};
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS) / 4 + 1, start = number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        inputs_program p;
        ft_inputs_random_polls(seed, &p);
        compare(seed, &p, &t);
        ft_inputs_release(&p);
        ft_inputs_random_cycles(seed, seed % 2, false, &p);
        compare(seed, &p, &t);
        ft_inputs_release(&p);
    }
    report("others", &t);
}

/* ---- by hand ---- */

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        inputs_program p = {.n_threads = 1};
        ft_strbuf why = {0};
        ft_strbuf_printf(&p.text, "program 1\n%s", CASES[i].text);
        ft_program *program = program_of(i, &p);
        ft_modular_options options = {.seconds = 60};
        ft_modular_answer answer = ft_modular_prove(program, &options, &why);
        if ((answer == FT_MODULAR_PROVED) != CASES[i].proved)
            fail_msg("%s: %s", CASES[i].what, ft_strbuf_text(&why));
        ft_strbuf_release(&why);
        ft_inputs_release(&p);
        ft_program_free(program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_random_programs),
        cmocka_unit_test(test_rich_programs),
        cmocka_unit_test(test_programs_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
