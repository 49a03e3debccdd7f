/* Cutoffs of programs with open inputs against brute force: the search that does not go on from a
 * state that it met before comes to every end that a random program has under all interleavings and
 * inputs, and finds a race where some execution has one; also where threads go round without end.
 * FT_SEEDS=N and FT_SEED_START=N make longer runs. */
#include "symbolic_ends.h"

#include "explore/forest.h"

enum { LIMIT = 6000, STATES = 1500, MOST_RUNS = 600, DEFAULT_SEEDS = 80 };

typedef struct totals {
    uint64_t programs, skipped, unfinished, racing, ends, runs, plain_runs, cut_off;
} totals;

typedef struct way {
    bool cutoffs, complete, races;
    uint32_t later, events; /* of the forest's grain; 0: its own */
} way;

/* Executions that come to no end may race, too. */
static bool note_run(void *context, const ft_x_run *run)
{
    classes *x = context;
    x->words.races = x->words.races || ft_symbolic_races(run);
    return true;
}

/* False: it takes too many runs. */
static bool search(uint64_t seed, classes *x, const way *w, ft_x_counts *counts)
{
    ft_error err = FT_ERROR_INIT;
    char what[300];
    bool finished = false;
    ft_symbolic_options own = {.races = w->races,
                               .cutoffs = w->cutoffs,
                               .max_steps = 80,
                               .snapshot_bytes = seed % 3 ? 0 : 1};
    x->symbolic = ft_symbolic_new(x->program, &own);
    ft_x_executor executor = ft_symbolic_executor(x->symbolic);
    ft_x_options options = {.on_run = note_run,
                            .on_class = note_class,
                            .context = x,
                            .cutoffs = w->cutoffs,
                            .complete = w->complete,
                            .max_runs = MOST_RUNS};
    ft_status status;
    if (w->complete) {
        status = ft_x_search(&executor, &options, counts, &finished, &err);
    } else {
        ft_x_forest *f = ft_x_forest_new(&executor, &options, counts);
        if (w->later) ft_x_forest_grain(f, 1, w->later, w->events);
        status = ft_x_forest_run(f, &finished, &err);
        ft_x_forest_free(f);
    }
    if (status != FT_OK) complain(seed, x->p, err.message);
    ft_symbolic_counts more = ft_symbolic_counts_of(x->symbolic);
    snprintf(what, sizeof what, "%s: %u strayed, %u unknown, %u disagreed%s",
             w->cutoffs ? "with cutoffs" : "without cutoffs", (unsigned)counts->strayed,
             (unsigned)more.unknown, (unsigned)more.disagreed, x->wrong ? ", wrong steps" : "");
    if (w->cutoffs && !x->words.races && (x->wrong || counts->strayed || more.unknown))
        complain(seed, x->p, what);
    ft_symbolic_free(x->symbolic);
    return finished || x->words.races;
}

/* Threads that go round for ever are no ends of executions. */
static const char *missing_end(const ft_intern *of, const ft_intern *in)
{
    for (uint32_t i = 0; i < of->len; i++)
        if (strncmp(of->names[i], "live-lock", 9) != 0 &&
            ft_intern_find(in, of->names[i], of->lengths[i]) == FT_NO_ID)
            return of->names[i];
    return NULL;
}

static void expect(uint64_t seed, const inputs_program *p, const inputs_words *want,
                   const inputs_words *got, const way *w)
{
    char what[700];
    if (w->races && want->races != got->races)
        complain(seed, p, want->races ? "a race is missed" : "a race that is none");
    if (w->races && want->races) return; /* it may end an execution before its end */
    const char *lost = missing_end(&want->all, &got->all),
               *extra = missing_end(&got->all, &want->all);
    if (!lost && !extra) return;
    snprintf(what, sizeof what, "%s: %s", lost ? "missed" : "extra", lost ? lost : extra);
    complain(seed, p, what);
}

static void compare(uint64_t seed, const inputs_program *p, const ft_program *program,
                    const inputs_words *want, bool endless, totals *t)
{
    const way ways[] = {{true, false, !endless, 0, 0},
                        {true, true, !endless, 0, 0},
                        {true, false, !endless, 2, 60},
                        {false, false, !endless, 0, 0}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways - endless; i++) {
        classes x = {.p = p, .program = program};
        ft_x_counts counts = {0};
        bool whole = search(seed, &x, &ways[i], &counts);
        if (whole) expect(seed, p, want, &x.words, &ways[i]);
        t->unfinished += !whole && !i;
        if (whole && !i) t->runs += counts.runs;
        if (whole && !i) t->cut_off += counts.cut_off;
        if (whole && !ways[i].cutoffs) t->plain_runs += counts.runs;
        ft_inputs_release_words(&x.words);
    }
}

static void check(bool endless)
{
    totals t = {0};
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + n; seed++) {
        inputs_program p;
        inputs_words want = {0};
        ft_inputs_random_cycles(seed, endless, !endless && seed % 3 == 0, &p);
        ft_program *program = program_of(seed, &p);
        bool all = endless ? ft_inputs_states(&p, program, STATES, &want)
                           : ft_inputs_enumerate(&p, program, LIMIT, &want);
        if (all) {
            compare(seed, &p, program, &want, endless, &t);
            t.programs++;
            t.racing += want.races;
            t.ends += want.all.len;
        } else {
            t.skipped++;
        }
        ft_inputs_release_words(&want);
        ft_program_free(program);
        ft_inputs_release(&p);
    }
    print_message("%u programs (%u race, %u too large, %u searches too long), %u ends; %u runs (%u "
                  "cut off), %u without cutoffs\n",
                  (unsigned)t.programs, (unsigned)t.racing, (unsigned)t.skipped,
                  (unsigned)t.unfinished, (unsigned)t.ends, (unsigned)t.runs, (unsigned)t.cut_off,
                  (unsigned)t.plain_runs);
    assert_true(n < DEFAULT_SEEDS || (t.programs > n / 3 && t.cut_off > n / 20));
}

static void test_programs_that_end(void **state)
{
    (void)state;
    check(false);
}

static void test_programs_without_end(void **state)
{
    (void)state;
    check(true);
}

/* Where a search without cutoffs comes to a race before it has made all its runs, one with cutoffs
 * that ends does; what it finds is judged by the interpreter. */
static void test_races_without_end(void **state)
{
    (void)state;
    uint64_t n = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1), racing = 0,
             whole = 0, cut_off = 0;
    for (uint64_t seed = start; seed < start + n; seed++) {
        inputs_program p;
        ft_inputs_random_cycles(seed, true, true, &p);
        ft_program *program = program_of(seed, &p);
        classes x = {.p = &p, .program = program}, plain = x;
        ft_x_counts counts = {0}, more = {0};
        (void)search(seed, &plain, &(way){.races = true}, &more);
        if (search(seed, &x, &(way){.races = true, .cutoffs = true}, &counts)) {
            if (plain.words.races && !x.words.races) complain(seed, &p, "a race is missed");
            whole++;
            racing += x.words.races;
            cut_off += counts.cut_off;
        }
        ft_inputs_release_words(&x.words);
        ft_inputs_release_words(&plain.words);
        ft_program_free(program);
        ft_inputs_release(&p);
    }
    print_message("%u programs, %u race, %u runs cut off\n", (unsigned)whole, (unsigned)racing,
                  (unsigned)cut_off);
    assert_true(n < DEFAULT_SEEDS || (whole > n / 2 && racing > n / 10 && racing < whole));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs_that_end),
                                       cmocka_unit_test(test_programs_without_end),
                                       cmocka_unit_test(test_races_without_end)};
    return cmocka_run_group_tests_name("symbolic_cutoffs", tests, NULL, NULL);
}
