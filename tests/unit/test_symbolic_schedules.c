/* Symbolic exploration against the oracle of schedules: a random program in which inputs decide
 * branches has, explored with its inputs open, the classes that brute force finds by semantics of
 * its own. FT_SEEDS=N and FT_SEED_START=N make longer runs. */
#include "symbolic_support.h"

#include "oracle/schedules_text.h"

enum { LIMIT = 1500, DEFAULT_SEEDS = 1500 };

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static bool has(const schedule_program *p, ft_x_kind kind)
{
    for (uint32_t t = 0; t < p->n_threads; t++)
        for (uint32_t i = 0; i < p->length[t]; i++)
            if (p->code[t][i].kind == kind) return true;
    return false;
}

static void compare(uint64_t seed, const schedule_program *p, const char *text,
                    const schedule_classes *want)
{
    explored x = symbolic_explore(text, &(ft_symbolic_options){.races = true});
    /* The end of the process depends on everything but choices here, and beginnings are actions. A
     * swap that fails is a write (symbolic.h), so that there may be more classes. */
    bool exits = has(p, FT_X_EXIT), swaps = has(p, FT_X_SWAP);
    bool equal = x.counts.classes == want->classes && x.counts.stuck == want->stuck;
    if (exits) equal = x.counts.classes > 0;
    if (swaps && !exits)
        equal = x.counts.classes >= want->classes && !x.counts.stuck == !want->stuck;
    bool good = equal && x.finished && !x.wrong && !x.more.unknown && !x.counts.infeasible;
    if (good) return;
    fail_msg("seed %llu: %s, %llu classes, %llu stuck; the oracle has %llu, %llu; %llu infeasible, "
             "%llu wrong\n%s",
             (unsigned long long)seed, x.finished ? "finished" : "not finished",
             (unsigned long long)x.counts.classes, (unsigned long long)x.counts.stuck,
             (unsigned long long)want->classes, (unsigned long long)want->stuck,
             (unsigned long long)x.counts.infeasible, (unsigned long long)x.wrong, text);
}

static void test_classes(void **state)
{
    (void)state;
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1);
    uint64_t compared = 0, stuck = 0, classes = 0;
    for (uint64_t seed = start; seed < start + n; seed++) {
        schedule_program p = ft_schedules_random(seed);
        schedule_classes want = {0};
        ft_strbuf text = {0};
        if (ft_schedules_text_open(&p, &text) && ft_schedules_enumerate(&p, LIMIT, &want)) {
            compare(seed, &p, text.text, &want);
            compared++;
            stuck += want.stuck > 0;
            classes += want.classes;
        }
        ft_schedules_release(&want);
        ft_strbuf_release(&text);
    }
    printf("%llu programs compared (%llu get stuck), %llu classes\n", (unsigned long long)compared,
           (unsigned long long)stuck, (unsigned long long)classes);
    assert_true(n < 500 || compared > n / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_classes)};
    return cmocka_run_group_tests_name("symbolic_schedules", tests, NULL, NULL);
}
