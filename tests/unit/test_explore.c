/* The search over schedules against brute force: on random programs it finds every maximal
 * configuration once, whatever the alternatives, the number of runs at once and their order.
 * FT_SEEDS=N and FT_SEED_START=N in the environment make longer runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explore/levels.h"
#include "explore/search.h"
#include "oracle/schedules.h"

enum { LIMIT = 3000, DEFAULT_SEEDS = 2500, N_WAYS = 5 };

typedef struct collected {
    const schedule_program *p;
    ft_intern names;
    uint64_t twice, wrong;
} collected;

static bool collect(void *context, const ft_x_run *run, const ft_unfolding *u,
                    const ft_configuration *c)
{
    (void)u, (void)c;
    collected *all = context;
    uint32_t before = all->names.len;
    char *name = ft_schedules_name(all->p, run->steps.data, run->steps.len);
    if (name) ft_intern_add(&all->names, name, strlen(name));
    if (!name)
        all->wrong++;
    else
        all->twice += all->names.len == before;
    free(name);
    return true;
}

typedef struct way {
    const char *name;
    bool complete, generic;
    uint32_t width;
} way;

static const way WAYS[N_WAYS] = {{"partial alternatives", false, false, 1},
                                 {"complete alternatives", true, false, 1},
                                 {"partial alternatives, 5 runs at once", false, false, 5},
                                 {"complete alternatives, 5 runs at once", true, false, 5},
                                 {"the generic rule alone", false, true, 1}};

typedef struct totals {
    uint64_t programs, classes, stuck, skipped, runs[N_WAYS], redundant[N_WAYS], levels[3],
        kinds[FT_X_KINDS];
} totals;

static void complain(uint64_t seed, const schedule_program *p, const way *w, const char *text)
{
    ft_strbuf code = {0};
    ft_schedules_print(p, &code);
    fprintf(stderr, "seed %llu, %s: %s\n%s", (unsigned long long)seed, w->name, text,
            ft_strbuf_text(&code));
    ft_strbuf_release(&code);
    fail();
}

static void compare(uint64_t seed, const schedule_program *p, const schedule_classes *want, int i,
                    totals *t)
{
    const way *w = &WAYS[i];
    char text[300];
    bool finished = false;
    ft_error err = FT_ERROR_INIT;
    ft_x_counts counts;
    collected got = {.p = p};
    schedule_executor *executor = ft_schedules_executor(p, w->width, seed);
    ft_x_executor interface = ft_schedules_interface(executor);
    ft_x_options options = {.complete = w->complete,
                            .generic = w->generic,
                            .on_class = collect,
                            .context = &got,
                            .max_runs = 50 * want->classes + 1000};
    ft_status status = ft_x_search(&interface, &options, &counts, &finished, &err);
    if (status != FT_OK) complain(seed, p, w, err.message);
    snprintf(text, sizeof text,
             "expected %u classes (%u stuck), got %u (%u stuck), %u twice, %u wrong, %s",
             (unsigned)want->classes, (unsigned)want->stuck, (unsigned)got.names.len,
             (unsigned)counts.stuck, (unsigned)got.twice, (unsigned)got.wrong,
             finished ? "finished" : "not finished");
    if (!finished || got.names.len != want->classes || got.twice || got.wrong ||
        counts.stuck != want->stuck)
        complain(seed, p, w, text);
    for (uint32_t n = 0; n < got.names.len; n++)
        if (ft_intern_find(&want->names, got.names.names[n], got.names.lengths[n]) == FT_NO_ID)
            complain(seed, p, w, "a class that the oracle does not have");
    t->runs[i] += counts.runs;
    t->redundant[i] += counts.redundant;
    ft_intern_release(&got.names);
    ft_schedules_executor_free(executor);
}

/* Each level has the classes that plain enumeration with as many preemptions has. */
static void compare_levels(uint64_t seed, const schedule_program *p, const schedule_classes *all,
                           totals *t)
{
    static const way WAY = {"levels", false, false, 3};
    char text[200];
    ft_error err = FT_ERROR_INIT;
    for (uint32_t level = 0; level < 3; level++) {
        ft_x_counts counts;
        ft_x_levels_result result;
        ft_intern want = {0};
        collected got = {.p = p};
        if (ft_schedules_count(p, level, 20000, &want) == UINT64_MAX)
            return ft_intern_release(&want);
        schedule_executor *executor = ft_schedules_executor(p, WAY.width, seed);
        ft_x_executor interface = ft_schedules_interface(executor);
        ft_x_options options = {.on_class = collect, .context = &got};
        if (ft_x_levels_all(&interface, &options, level, &counts, &result, &err) != FT_OK)
            complain(seed, p, &WAY, err.message);
        snprintf(text, sizeof text, "level %u: expected %u classes, got %u, %u levels complete",
                 level, want.len, got.names.len, result.complete);
        bool whole = result.complete == level + 1 || result.all;
        if (got.names.len != want.len || got.twice || got.wrong || !whole ||
            (result.all && want.len != all->classes))
            complain(seed, p, &WAY, text);
        t->levels[level] += want.len;
        ft_intern_release(&want);
        ft_intern_release(&got.names);
        ft_schedules_executor_free(executor);
    }
}

static void compare_seed(uint64_t seed, totals *t)
{
    schedule_program p = ft_schedules_random(seed);
    schedule_classes want;
    if (!ft_schedules_enumerate(&p, LIMIT, &want)) {
        t->skipped++;
        ft_schedules_release(&want);
        return;
    }
    t->programs++;
    t->classes += want.classes;
    t->stuck += want.stuck;
    for (uint32_t k = 0; k < p.n_threads; k++)
        for (uint32_t i = 0; i < p.length[k]; i++)
            if (p.code[k][i].kind < FT_X_KINDS) t->kinds[p.code[k][i].kind]++;
    for (int i = 0; i < N_WAYS; i++) compare(seed, &p, &want, i, t);
    compare_levels(seed, &p, &want, t);
    ft_schedules_release(&want);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void test_every_class_once(void **state)
{
    (void)state;
    totals t = {0};
    uint64_t start = from_environment("FT_SEED_START", 1),
             seeds = from_environment("FT_SEEDS", DEFAULT_SEEDS);
    for (uint64_t seed = start; seed < start + seeds; seed++) compare_seed(seed, &t);
    print_message("%u programs, %u classes (%u stuck), %u programs too large\n",
                  (unsigned)t.programs, (unsigned)t.classes, (unsigned)t.stuck,
                  (unsigned)t.skipped);
    for (int i = 0; i < N_WAYS; i++)
        print_message("%s: %u runs, %u redundant (%.1f %%)\n", WAYS[i].name, (unsigned)t.runs[i],
                      (unsigned)t.redundant[i],
                      100 * (double)t.redundant[i] / (double)(t.runs[i] + 1));
    print_message("levels 0, 1, 2: %u, %u, %u classes\n", (unsigned)t.levels[0],
                  (unsigned)t.levels[1], (unsigned)t.levels[2]);
    assert_int_equal(t.redundant[1], 0);
    assert_true(10 * t.redundant[0] <= t.runs[0]);
    if (seeds < DEFAULT_SEEDS) return;
    assert_true(t.programs > seeds / 2 && t.stuck > seeds / 10);
    for (int k = FT_X_CHOOSE; k < FT_X_KINDS; k++)
        if (k != FT_X_STEP && k != FT_X_AWAIT && k != FT_X_LINGER && k != FT_X_BRANCH &&
            t.kinds[k] < 20) /* BRANCH: test_symbolic_schedules */
            fail_msg("few: %s", ft_x_kind_name((ft_x_kind)k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_class_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
