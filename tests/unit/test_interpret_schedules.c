/* The interpreter against the oracle of schedules: a random program, written in the language and
 * explored through the interpreter, has as many classes and as many stuck ones as brute force finds
 * by semantics of its own. FT_SEEDS=N and FT_SEED_START=N make longer runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "explore/search.h"
#include "explore/symbolic.h"
#include "oracle/schedules_text.h"
#include "program/binary.h"

enum { LIMIT = 1500, DEFAULT_SEEDS = 1500 };

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void complain(uint64_t seed, const ft_strbuf *text, const char *what)
{
    fprintf(stderr, "seed %llu: %s\n%s", (unsigned long long)seed, what, text->text);
    fail();
}

static bool note_result(void *context, const ft_x_run *run, const ft_unfolding *u,
                        const ft_configuration *c)
{
    (void)u, (void)c;
    ft_judgement r = ft_judgement_of(run->result);
    bool stuck = r.state == FT_INTERPRETER_FAILED && r.error == FT_ERROR_DEADLOCK;
    if (!stuck && r.state != FT_INTERPRETER_EXITED) *(ft_judgement *)context = r;
    return true;
}

/* The end of the process depends on everything, and the beginnings of threads are actions here. */
static bool has_exit(const schedule_program *p)
{
    for (uint32_t t = 0; t < p->n_threads; t++)
        for (uint32_t i = 0; i < p->length[t]; i++)
            if (p->code[t][i].kind == FT_X_EXIT) return true;
    return false;
}

static bool agrees(const ft_x_counts *got, const schedule_classes *want, bool exits)
{
    if (exits) return got->classes >= want->classes && !got->stuck == !want->stuck;
    return got->classes == want->classes && got->stuck == want->stuck;
}

static void explore(uint64_t seed, const ft_strbuf *text, const schedule_classes *want, bool exits)
{
    ft_error err = FT_ERROR_INIT;
    ft_program *program;
    char what[600];
    if (ft_program_read(text->text, text->len, &program, &err) != FT_OK)
        complain(seed, text, err.message);
    ft_symbolic *symbolic = ft_symbolic_new(program, &(ft_symbolic_options){.races = true});
    ft_x_executor executor = ft_symbolic_executor(symbolic);
    ft_judgement other = {FT_INTERPRETER_EXITED, FT_ERROR_NONE, 0};
    ft_x_options options = {.on_class = note_result, .context = &other};
    ft_x_counts counts;
    bool finished = false;
    if (ft_x_search(&executor, &options, &counts, &finished, &err) != FT_OK)
        complain(seed, text, err.message);
    snprintf(what, sizeof what, "%llu classes, %llu stuck; the oracle has %llu, %llu; %s, %s",
             (unsigned long long)counts.classes, (unsigned long long)counts.stuck,
             (unsigned long long)want->classes, (unsigned long long)want->stuck,
             finished ? "finished" : "not finished", ft_program_error_name(other.error));
    if (!finished || !agrees(&counts, want, exits) || other.error) complain(seed, text, what);
    ft_symbolic_free(symbolic);
    ft_program_free(program);
}

static void test_classes(void **state)
{
    (void)state;
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1);
    uint64_t compared = 0, stuck = 0;
    for (uint64_t seed = start; seed < start + n; seed++) {
        schedule_program p = ft_schedules_random(seed);
        schedule_classes want = {0};
        ft_strbuf text = {0};
        if (ft_schedules_text(&p, &text) && ft_schedules_enumerate(&p, LIMIT, &want)) {
            explore(seed, &text, &want, has_exit(&p));
            compared++;
            stuck += want.stuck > 0;
        }
        ft_schedules_release(&want);
        ft_strbuf_release(&text);
    }
    printf("%llu programs compared, %llu of them get stuck\n", (unsigned long long)compared,
           (unsigned long long)stuck);
    assert_true(n < 200 || (compared > n / 8 && stuck > n / 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_classes)};
    return cmocka_run_group_tests_name("interpret_schedules", tests, NULL, NULL);
}
