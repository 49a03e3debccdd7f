/* What the tests of cutoffs of programs share: searches of a random program with cutoffs and
 * without against brute force. */
#ifndef FT_TESTS_SYMBOLIC_CUTOFFS_H
#define FT_TESTS_SYMBOLIC_CUTOFFS_H

#include "symbolic_ends.h"

#include "explore/forest.h"

enum { LIMIT = 6000, STATES = 1500, MOST_RUNS = 600 };

typedef struct totals {
    uint64_t programs, skipped, unfinished, racing, ends, runs, plain_runs, cut_off;
} totals;

typedef struct way {
    bool cutoffs, complete, races;
    uint32_t later, events; /* of the forest's grain; 0: its own */
} way;

/* The first thing that is wrong with the program at hand; empty: nothing. */
static char cutoffs_why[700];

static inline void cutoffs_wrong(const char *what)
{
    if (!*cutoffs_why) snprintf(cutoffs_why, sizeof cutoffs_why, "%s", what);
}

/* Executions that come to no end may race, too. */
static inline bool cutoffs_note_run(void *context, const ft_x_run *run)
{
    classes *x = context;
    x->words.races = x->words.races || ft_symbolic_races(run);
    return true;
}

/* False: it takes too many runs. */
static inline bool cutoffs_search(uint64_t seed, classes *x, const way *w, ft_x_counts *counts)
{
    ft_error err = FT_ERROR_INIT;
    char what[300];
    bool finished = false;
    ft_symbolic_options own = {.races = w->races,
                               .cutoffs = true, /* also where the search makes no use of them */
                               .max_steps = 80,
                               .snapshot_bytes = seed % 3 ? 0 : 1};
    x->symbolic = ft_symbolic_new(x->program, &own);
    ft_x_executor executor = ft_symbolic_executor(x->symbolic);
    ft_x_options options = {.on_run = cutoffs_note_run,
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
    if (status != FT_OK) cutoffs_wrong(err.message);
    ft_symbolic_counts more = ft_symbolic_counts_of(x->symbolic);
    snprintf(what, sizeof what, "%s: %u strayed, %u unknown, %u disagreed%s",
             w->cutoffs ? "with cutoffs" : "without cutoffs", (unsigned)counts->strayed,
             (unsigned)more.unknown, (unsigned)more.disagreed, x->wrong ? ", wrong steps" : "");
    if (w->cutoffs && !x->words.races && (x->wrong || counts->strayed || more.unknown))
        cutoffs_wrong(what);
    ft_symbolic_free(x->symbolic);
    return finished || x->words.races;
}

static inline void cutoffs_expect(const inputs_words *want, const inputs_words *got, const way *w)
{
    char what[700];
    if (w->races && want->races != got->races)
        cutoffs_wrong(want->races ? "a race is missed" : "a race that is none");
    if (w->races && want->races) return; /* it may end an execution before its end */
    const char *lost = missing_end(&want->all, &got->all),
               *extra = missing_end(&got->all, &want->all);
    if (!lost && !extra) return;
    snprintf(what, sizeof what, "%s: %s", lost ? "missed" : "extra", lost ? lost : extra);
    cutoffs_wrong(what);
}

static inline void cutoffs_compare(uint64_t seed, const inputs_program *p,
                                   const ft_program *program, const inputs_words *want,
                                   bool endless, totals *t)
{
    const way ways[] = {{true, false, !endless, 0, 0},
                        {true, true, !endless, 0, 0},
                        {true, false, !endless, 2, 60},
                        {false, false, !endless, 0, 0}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways - endless; i++) {
        classes x = {.p = p, .program = program};
        ft_x_counts counts = {0};
        bool whole = cutoffs_search(seed, &x, &ways[i], &counts);
        if (whole) cutoffs_expect(want, &x.words, &ways[i]);
        t->unfinished += !whole && !i;
        if (whole && !i) t->runs += counts.runs;
        if (whole && !i) t->cut_off += counts.cut_off;
        if (whole && !ways[i].cutoffs) t->plain_runs += counts.runs;
        ft_inputs_release_words(&x.words);
    }
}

/* Programs that show what belongs to a state: without it a search with cutoffs misses an end or a
 * race. */
static const char *const CUTOFFS_CASES[] = {
    /* @t2 may have had the mutex before @t1 or behind it. Either way both come to one state, where
     * @t2 has read 1 from @a1; but only in one way its read of @g0 is ordered with the write, and
     * that it reads is for @t3 to decide. */
    "function @t1(%argument: i64) -> i64 {\n  start:\n    lock @m0\n    store i8 1, @g0\n"
    "    unlock @m0\n    atomic_store relaxed i8 1, @a1\n    return i64 0\n}\n"
    "function @t2(%argument: i64) -> i64 {\n  start:\n    lock @m0\n    unlock @m0\n"
    "    %seen = atomic_load relaxed i8 @a1\n    %go = atomic_load relaxed i8 @a0\n"
    "    %both = and i8 %seen, %go\n    %yes = eq i8 %both, 1\n    branch %yes, look, done\n"
    "  look:\n    %x = load i8 @g0\n    jump done\n  done:\n    return i64 0\n}\n"
    "function @t3(%argument: i64) -> i64 {\n  start:\n    atomic_store relaxed i8 1, @a0\n"
    "    return i64 0\n}\n",
    /* The same with the threads in another order. */
    "function @t2(%argument: i64) -> i64 {\n  start:\n    lock @m0\n    store i8 1, @g0\n"
    "    unlock @m0\n    atomic_store relaxed i8 1, @a1\n    return i64 0\n}\n"
    "function @t1(%argument: i64) -> i64 {\n  start:\n    lock @m0\n    unlock @m0\n"
    "    %seen = atomic_load relaxed i8 @a1\n    %go = atomic_load relaxed i8 @a0\n"
    "    %both = and i8 %seen, %go\n    %yes = eq i8 %both, 1\n    branch %yes, look, done\n"
    "  look:\n    %x = load i8 @g0\n    jump done\n  done:\n    return i64 0\n}\n"
    "function @t3(%argument: i64) -> i64 {\n  start:\n    atomic_store relaxed i8 1, @a0\n"
    "    return i64 0\n}\n",
    /* Which way the input chose shows only later. */
    "function @t1(%argument: i64) -> i64 {\n  start:\n    %in = load i8 @in\n"
    "    %one = eq i8 %in, 1\n    branch %one, l1, l2\n  l1:\n    jump l3\n  l2:\n    jump l3\n"
    "  l3:\n    lock @m0\n    unlock @m0\n    branch %one, l4, l5\n  l4:\n"
    "    assert \"not one\" 0\n    jump l5\n  l5:\n    return i64 0\n}\n"
    "function @t2(%argument: i64) -> i64 {\n  start:\n    return i64 0\n}\n"
    "function @t3(%argument: i64) -> i64 {\n  start:\n    return i64 0\n}\n",
    /* Which of two waiters was notified. */
    "function @t1(%argument: i64) -> i64 {\n  start:\n    lock @m0\n    %n = load i8 @g0\n"
    "    %more = add i8 %n, 1\n    store i8 %more, @g0\n    %w = wait @c, @m0\n"
    "    %both = load i8 @g0\n    unlock @m0\n    %good = ne i8 %both, 2\n"
    "    assert \"never the first\" %good\n    return i64 0\n}\n"
    "function @t2(%argument: i64) -> i64 {\n  start:\n    lock @m0\n    %n = load i8 @g0\n"
    "    %more = add i8 %n, 1\n    store i8 %more, @g0\n    %w = wait @c, @m0\n"
    "    %both = load i8 @g0\n    unlock @m0\n    %good = ne i8 %both, 2\n"
    "    assert \"never the second\" %good\n    return i64 0\n}\n"
    "function @t3(%argument: i64) -> i64 {\n  start:\n    lock @m0\n    signal @c\n    unlock @m0\n"
    "    return i64 0\n}\n",
    /* Who wrote last. */
    "function @t1(%argument: i64) -> i64 {\n  start:\n    lock @m0\n    store i8 1, @g0\n"
    "    unlock @m0\n    return i64 0\n}\n"
    "function @t2(%argument: i64) -> i64 {\n  start:\n    lock @m0\n    store i8 2, @g0\n"
    "    unlock @m0\n    return i64 0\n}\n"
    "function @t3(%argument: i64) -> i64 {\n  start:\n    return i64 0\n}\n",
};
enum { CUTOFFS_N_CASES = sizeof CUTOFFS_CASES / sizeof *CUTOFFS_CASES, CUTOFFS_PLACES = 8 };

/* Two threads that race in each of their rounds, of which there is no end. */
static const char CUTOFFS_ENDLESS_RACE[] =
    "function @t1(%argument: i64) -> i64 {\n  start:\n    jump top\n  top:\n    store i8 1, @s\n"
    "    lock @m0\n    %x = load i8 @g0\n    %y = xor i8 %x, 1\n    store i8 %y, @g0\n"
    "    unlock @m0\n    jump top\n}\n"
    "function @t2(%argument: i64) -> i64 {\n  start:\n    jump top\n  top:\n    lock @m1\n"
    "    %x = load i8 @g1\n    %y = xor i8 %x, 1\n    store i8 %y, @g1\n    store i8 1, @s\n"
    "    unlock @m1\n    jump top\n}\n"
    "function @t3(%argument: i64) -> i64 {\n  start:\n    return i64 0\n}\n";

/* Objects are elsewhere at each place, and threads have other numbers, so that the order of
 * configurations is another one. */
static inline void cutoffs_case_program(const char *functions, uint32_t place, inputs_program *p)
{
    *p = (inputs_program){.n_threads = 4, .n_inputs = 1, .bits = {1}};
    char *turned = ft_strdup(functions);
    for (char *at = turned; (at = strstr(at, "@t")); at++)
        at[2] = (char)('1' + (at[2] - '1' + (int)place) % 3);
    ft_inputs_cycles(p, place, turned);
    free(turned);
}

static inline bool cutoffs_of_case(size_t i, uint32_t place, totals *t)
{
    inputs_program p;
    inputs_words want = {0};
    *cutoffs_why = 0;
    cutoffs_case_program(CUTOFFS_CASES[i], place, &p);
    ft_program *program = program_of(i, &p);
    if (!ft_inputs_enumerate(&p, program, 100 * LIMIT, &want)) cutoffs_wrong("too large");
    cutoffs_compare(i, &p, program, &want, false, t);
    ft_inputs_release_words(&want);
    ft_program_free(program);
    ft_inputs_release(&p);
    return !*cutoffs_why;
}

static inline bool cutoffs_of_endless_race(void)
{
    inputs_program p;
    ft_x_counts counts = {0};
    *cutoffs_why = 0;
    cutoffs_case_program(CUTOFFS_ENDLESS_RACE, 0, &p);
    ft_program *program = program_of(0, &p);
    classes x = {.p = &p, .program = program};
    (void)cutoffs_search(1, &x, &(way){.races = true, .cutoffs = true}, &counts);
    if (!x.words.races) cutoffs_wrong("the endless race is missed");
    ft_inputs_release_words(&x.words);
    ft_program_free(program);
    ft_inputs_release(&p);
    return !*cutoffs_why;
}

/* All ends, and where threads come to an end races, too. False: cutoffs_why. */
static inline bool cutoffs_of_seed(uint64_t seed, bool endless, totals *t)
{
    inputs_program p;
    inputs_words want = {0};
    *cutoffs_why = 0;
    ft_inputs_random_cycles(seed, endless, !endless && seed % 3 == 0, &p);
    ft_program *program = program_of(seed, &p);
    bool all = endless ? ft_inputs_states(&p, program, STATES, &want)
                       : ft_inputs_enumerate(&p, program, LIMIT, &want);
    if (all) cutoffs_compare(seed, &p, program, &want, endless, t);
    t->programs += all;
    t->skipped += !all;
    t->racing += all && want.races;
    t->ends += want.all.len;
    ft_inputs_release_words(&want);
    ft_program_free(program);
    ft_inputs_release(&p);
    return !*cutoffs_why;
}

/* Where a search without cutoffs comes to a race before it has made all its runs, one with cutoffs
 * that ends does; what it finds is judged by the interpreter. */
static inline bool cutoffs_races_of_seed(uint64_t seed, totals *t)
{
    inputs_program p;
    *cutoffs_why = 0;
    ft_inputs_random_cycles(seed, true, true, &p);
    ft_program *program = program_of(seed, &p);
    classes x = {.p = &p, .program = program}, plain = x;
    ft_x_counts counts = {0}, more = {0};
    bool whole = cutoffs_search(seed, &x, &(way){.races = true, .cutoffs = true}, &counts);
    if (whole) (void)cutoffs_search(seed, &plain, &(way){.races = true}, &more);
    if (whole && plain.words.races && !x.words.races) cutoffs_wrong("a race is missed");
    t->programs += whole;
    t->racing += whole && x.words.races;
    t->cut_off += whole ? counts.cut_off : 0;
    ft_inputs_release_words(&x.words);
    ft_inputs_release_words(&plain.words);
    ft_program_free(program);
    ft_inputs_release(&p);
    return !*cutoffs_why;
}

#endif
