/* Every planted fault of proofs for any number of threads (modular/faults.h) makes a proof of a
 * program by hand that fails, or of a random one: so the programs hold each rule. A fault is tried
 * in a process of its own, which ends at the first such proof. FT_SEEDS=N: give a fault up after so
 * many random programs; FT_FAULT=NAME: try that one. */
#include "symbolic_ends.h"

#include "modular/faults.h"
#include "modular/modular.h"
#include "modular_cases.h"
#include "modular_programs.h"
#include "planted.h"

enum { DEFAULT_SEEDS = 60, MOST_STATES = 3000 };

static const char *const NAMES[MOD_FAULTS] = {
#define FT_ROW(symbol, doc) #symbol,
    FT_MODULAR_FAULT_TABLE(FT_ROW)
#undef FT_ROW
};

static bool is_proved(const ft_program *program)
{
    ft_strbuf why = {0};
    ft_modular_options options = {.seconds = 5};
    ft_modular_answer answer = ft_modular_prove(program, &options, &why);
    ft_strbuf_release(&why);
    return answer == FT_MODULAR_PROVED;
}

static bool fails(const inputs_words *words)
{
    for (uint32_t i = 0; i < words->all.len; i++)
        if (strncmp(words->all.names[i], "assertion", 9) == 0) return true;
    return false;
}

static void try_case(size_t n)
{
    inputs_program p = {.n_threads = 1};
    ft_strbuf_printf(&p.text, "program 1\n%s", CASES[n].text);
    ft_program *program = program_of(n, &p);
    if (is_proved(program)) _exit(1);
    ft_inputs_release(&p);
    ft_program_free(program);
}

static void try_random(uint64_t seed)
{
    inputs_program p;
    inputs_words words;
    make_program(seed, seed % 2, &p);
    ft_program *program = program_of(seed, &p);
    (void)ft_inputs_states(&p, program, MOST_STATES, &words);
    if (fails(&words) && is_proved(program)) _exit(1);
    ft_inputs_release_words(&words);
    ft_inputs_release(&p);
    ft_program_free(program);
}

/* Ends badly where a program that fails is proved, or a contract does not hold. */
static void attempt(int fault)
{
    uint64_t seeds = number("FT_SEEDS", DEFAULT_SEEDS);
    mod_fault = (mod_fault_kind)fault;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (!CASES[i].proved) try_case(i);
    for (uint64_t seed = 1; seed <= seeds; seed++) try_random(seed);
}

static void test_modular_faults_are_noticed(void **state)
{
    (void)state;
    each_is_noticed(NAMES, MOD_FAULTS, attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_modular_faults_are_noticed)};
    return cmocka_run_group_tests_name("modular_faults", tests, NULL, NULL);
}
