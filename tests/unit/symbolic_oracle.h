/* The oracle of random programs with inputs (oracle/inputs.h), for the test and for that of its
 * planted faults: the ends of the explorer's classes are those of brute force, and a symbolic state
 * whose inputs are given, as numbers or as conditions on terms, does step by step what the
 * interpreter does. */
#ifndef FT_TESTS_SYMBOLIC_ORACLE_H
#define FT_TESTS_SYMBOLIC_ORACLE_H

#include "symbolic/follow.h"
#include "symbolic_ends.h"

/* ---- ends */

typedef struct totals {
    uint64_t programs, skipped, racing, failing, stuck, inputs, schedules, classes, runs,
        infeasible, discarded, few, cut_off, cutoff_runs, cutoff_classes, codes[FT_CODES],
        errors[FT_PROGRAM_ERRORS];
} totals;

static inline void count_codes(const ft_program *program, totals *t)
{
    bool has[FT_CODES] = {false};
    for (size_t i = 0; i < program->functions.len; i++) {
        const ft_function *f = &program->functions.data[i];
        for (size_t k = 0; k < f->instructions.len; k++) has[f->instructions.data[k].code] = true;
    }
    for (int k = 0; k < FT_CODES; k++) t->codes[k] += has[k];
}

static inline void compare(uint64_t seed, const inputs_program *p, const ft_program *program,
                           const inputs_words *want, const ft_symbolic_options *options,
                           bool complete, totals *t)
{
    ft_error err = FT_ERROR_INIT;
    char what[700];
    classes x = {.p = p, .program = program, .symbolic = ft_symbolic_new(program, options)};
    ft_x_executor executor = ft_symbolic_executor(x.symbolic);
    ft_x_options search = {
        .on_class = note_class, .context = &x, .complete = complete, .cutoffs = options->cutoffs};
    ft_x_counts counts = {0};
    bool finished = false;
    if (ft_x_search(&executor, &search, &counts, &finished, &err) != FT_OK)
        complain(seed, p, err.message);
    ft_symbolic_counts more = ft_symbolic_counts_of(x.symbolic);
    snprintf(what, sizeof what,
             "%s, %u classes, %u strayed, %u bounded, %u unknown, %u disagreed%s",
             finished ? "finished" : "not finished", (unsigned)counts.classes,
             (unsigned)counts.strayed, (unsigned)more.bounded, (unsigned)more.unknown,
             (unsigned)more.disagreed, x.wrong ? ", a wrong inputs or steps" : "");
    bool whole = finished && !more.unknown;
    if (x.wrong || !(whole || want->races)) complain(seed, p, what); /* a race may lead astray */
    bool all = whole && !more.concretised;
    if (want->races ? all && !x.words.races : x.words.races)
        complain(seed, p, want->races ? "a race was missed" : "a race that is none");
    t->few += more.concretised > 0;
    const char *lost = all && !want->races ? missing(&want->all, &x.words.all) : NULL;
    const char *extra = want->races ? NULL : missing(&x.words.all, &want->all);
    if (lost || extra) {
        snprintf(what, sizeof what, "%s: %s", lost ? "missed" : "extra", lost ? lost : extra);
        complain(seed, p, what);
    }
    if (options->cutoffs) {
        t->cut_off += counts.cut_off;
        t->cutoff_runs += counts.runs;
        t->cutoff_classes += counts.classes;
        ft_inputs_release_words(&x.words);
        ft_symbolic_free(x.symbolic);
        return;
    }
    t->classes += counts.classes;
    t->runs += counts.runs;
    t->infeasible += counts.infeasible;
    t->discarded += counts.discarded;
    ft_inputs_release_words(&x.words);
    ft_symbolic_free(x.symbolic);
}

static inline void count_words(const inputs_words *words, totals *t)
{
    for (uint32_t i = 0; i < words->all.len; i++)
        for (int k = 1; k < FT_PROGRAM_ERRORS; k++) {
            const char *name = ft_program_error_name((ft_program_error)k);
            if (strncmp(words->all.names[i], name, strlen(name)) != 0) continue;
            t->errors[k]++;
            t->failing++;
            break;
        }
}

static inline void compare_program(uint64_t seed, const inputs_program *p, uint64_t limit,
                                   totals *t)
{
    inputs_words want;
    inputs_values values;
    ft_program *program = program_of(seed, p);
    count_codes(program, t);
    if (ft_inputs_enumerate(p, program, limit, &want)) {
        ft_symbolic_options options = {.races = true, .snapshot_bytes = seed % 3 ? 0 : 1};
        compare(seed, p, program, &want, &options, seed % 4 == 0, t);
        options.cutoffs = true;
        compare(seed, p, program, &want, &options, seed % 4 == 0, t);
        t->programs++;
        t->racing += want.races;
        t->schedules += want.schedules;
        for (uint64_t k = 0; ft_inputs_combination(p, k, &values); k++) t->inputs++;
        count_words(&want, t);
    } else {
        t->skipped++;
    }
    ft_inputs_release_words(&want);
    ft_program_free(program);
}

static inline void compare_seed(uint64_t seed, uint64_t limit, totals *t)
{
    inputs_program p;
    ft_inputs_random(seed, &p);
    compare_program(seed, &p, limit, t);
    ft_inputs_release(&p);
}

/* ---- step by step */

typedef struct pair {
    const inputs_program *p;
    const ft_program *program;
    ft_interpreter *m;
    ft_sym_state *s;
    uint32_t steps[FT_SYM_THREADS];
    uint64_t random, seed;
} pair;

static inline uint32_t draw(pair *x, uint32_t n)
{
    x->random = x->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((x->random >> 33) % n);
}

static inline void take_step(pair *x, uint32_t t, uint64_t variant)
{
    ft_sym_clock clock = {{0}};
    clock.of[t] = ++x->steps[t];
    ft_sym_step(x->s, t, variant, &clock);
}

/* The end of an atomic section is an operation of its own in the state. */
static inline void both_step(pair *x, uint32_t t, uint64_t variant)
{
    ft_sym_operation o;
    ft_interpreter_step(x->m, t, variant);
    take_step(x, t, variant);
    while (ft_sym_end_of(x->s) == FT_SYM_GOING && ft_sym_stands_before(x->s, t, &o) &&
           o.code == FT_CODE_ATOMIC_END)
        take_step(x, t, 0);
}

static inline const char *differs_at(const pair *x, uint32_t t)
{
    ft_interpreter_operation a;
    ft_sym_operation b;
    uint64_t one[FT_SYM_THREADS], other[FT_SYM_THREADS];
    bool stands = ft_interpreter_stands_before(x->m, t, &a);
    if (stands != ft_sym_stands_before(x->s, t, &b)) return "whether a thread has ended";
    if (!stands) return NULL;
    if (b.arms) return "a branch, though all inputs are given";
    if (a.code != b.code || a.second != b.second || a.waits != b.waits || a.object != b.object ||
        (a.other != b.other && a.code != FT_CODE_EXIT) || a.place.function != b.place.function ||
        a.place.instruction != b.place.instruction)
        return "an operation";
    if (ft_sym_section(x->s)) return NULL; /* the interpreter keeps the others out */
    uint32_t n = ft_interpreter_choices(x->m, t, one);
    if (n != ft_sym_choices(x->s, t, other) || memcmp(one, other, n * sizeof *one) != 0)
        return "the choices";
    return NULL;
}

static inline const char *memory_differs(const pair *x)
{
    for (size_t i = 0; i < x->program->objects.len; i++) {
        const ft_object *o = &x->program->objects.data[i];
        unsigned char one[64], other[64];
        if (o->by_thread || o->size > sizeof one) continue;
        uint64_t at = ft_interpreter_address(x->m, o->symbol);
        if (!ft_interpreter_read(x->m, at, o->size, one) ||
            !ft_sym_read_now(x->s, at, o->size, other) || memcmp(one, other, o->size) != 0)
            return "the memory of an object";
    }
    return NULL;
}

/* NULL: equal. *over: the execution has ended. */
static inline const char *differs(const pair *x, bool *over)
{
    ft_interpreter_state state = ft_interpreter_state_of(x->m);
    const ft_interpreter_error *e = ft_interpreter_error_of(x->m);
    const ft_sym_error *f = ft_sym_error_of(x->s);
    bool stuck = state == FT_INTERPRETER_FAILED && e->kind == FT_ERROR_DEADLOCK;
    *over = state != FT_INTERPRETER_GOING;
    if (state == FT_INTERPRETER_DISCARDED)
        return ft_sym_is_discarded(x->s) ? NULL : "an assumption";
    if (state == FT_INTERPRETER_FAILED && !stuck)
        return ft_sym_end_of(x->s) == FT_SYM_FAILED && e->kind == f->kind &&
                       e->place.instruction == f->place.instruction
                   ? NULL
                   : "an error";
    if (state == FT_INTERPRETER_EXITED &&
        (ft_sym_end_of(x->s) == FT_SYM_EXITED ? ft_sym_exit_code(x->s) : 0) !=
            ft_interpreter_exit_code(x->m))
        return "the exit code";
    const char *what = memory_differs(x);
    for (uint32_t t = 0; !what && !*over && t < ft_interpreter_thread_count(x->m); t++)
        what = differs_at(x, t);
    return what;
}

static inline bool pick(pair *x, uint32_t *t, uint64_t *variant)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    uint32_t n = ft_interpreter_thread_count(x->m), first = draw(x, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t many = ft_interpreter_choices(x->m, *t = (first + i) % n, variants);
        if (many) return *variant = variants[draw(x, many)], true;
    }
    return false;
}

static inline uint64_t walk(pair *x)
{
    bool over = false;
    uint64_t n = 0, variant;
    uint32_t t;
    ft_sym_state *shares = NULL; /* a copy, so that memory is shared */
    const char *what = differs(x, &over);
    while (!what && !over && pick(x, &t, &variant)) {
        ft_sym_free(shares);
        shares = ft_sym_copy(x->s);
        both_step(x, t, variant);
        what = differs(x, &over);
        n++;
    }
    ft_sym_free(shares);
    if (what) complain(x->seed, x->p, what);
    return n;
}

/* The input is open, and there is a condition that it has the value. */
static inline void assume_input(pair *x, ft_sym_world *world, uint32_t thread, uint32_t k,
                                uint64_t bits)
{
    const char name[] = {(char)('a' + k), 0};
    uint8_t width = (uint8_t)x->p->bits[k];
    ft_symbol symbol = ft_sym_world_symbol(world, thread, name, 0, width);
    if (symbol == FT_NO_ID) return;
    ft_term_pool *pool = ft_sym_world_pool(world);
    ft_sort sort = width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
    ft_term sides[2] = {ft_term_symbol(pool, symbol, sort),
                        ft_term_literal(pool, (ft_value){sort, bits})},
            equal = FT_NO_TERM;
    assert_int_equal(ft_term_apply(pool, FT_OP_EQ, sides, 2, NULL, &equal, NULL), FT_OK);
    assert_int_equal(ft_sym_assume(x->s, equal), FT_ANSWER_SAT);
}

static inline void assume_inputs(pair *x, ft_sym_world *world, const inputs_values *values)
{
    for (uint32_t k = 0; k < x->p->n_inputs; k++)
        for (uint32_t t = 0; t < x->p->n_threads; t++) assume_input(x, world, t, k, values->of[k]);
}

static inline uint64_t walks_of(uint64_t seed, const inputs_program *p, bool open, uint64_t *copies)
{
    inputs_values values;
    uint64_t steps = 0;
    ft_program *program = program_of(seed, p);
    for (uint64_t k = 0; ft_inputs_combination(p, k * 5, &values) && k < 4; k++) {
        ft_interpreter_options given = {.input = ft_inputs_give, .context = &values};
        ft_sym_options numbers = {.input = ft_inputs_give, .context = &values};
        ft_sym_world *world = ft_sym_world_new(program, open ? NULL : &numbers);
        pair x = {.p = p,
                  .program = program,
                  .m = ft_interpreter_new(program, &given),
                  .s = ft_sym_new(world),
                  .random = seed * 31 + k,
                  .seed = seed};
        if (open) assume_inputs(&x, world, &values);
        ft_interpreter *m = ft_interpreter_copy(x.m);
        ft_sym_state *s = ft_sym_copy(x.s); /* is as it was, whatever the other one does */
        steps += walk(&x);
        ft_interpreter_free(x.m);
        ft_sym_free(x.s);
        x.m = m;
        x.s = s;
        memset(x.steps, 0, sizeof x.steps);
        steps += walk(&x);
        ++*copies;
        ft_interpreter_free(x.m);
        ft_sym_free(x.s);
        ft_sym_world_free(world);
    }
    ft_program_free(program);
    return steps;
}

#endif
