/* The oracle of random programs whose threads poll (oracle/inputs.h), for the test and for that of
 * planted faults: ends and live-locks are those of brute force over all states. */
#ifndef FT_TESTS_SYMBOLIC_POLLS_H
#define FT_TESTS_SYMBOLIC_POLLS_H

#include "symbolic_ends.h"

enum { POLLED_STATES = 4000 };

typedef struct polled_classes {
    const inputs_program *p;
    const ft_program *program;
    ft_symbolic *symbolic;
    inputs_words words;
    uint64_t live_locks;
    bool wrong;
} polled_classes;

/* The class's execution once more, to its end. */
static inline bool note_polled(void *context, const ft_x_run *run, const ft_unfolding *u,
                               const ft_configuration *c)
{
    (void)u, (void)c;
    polled_classes *x = context;
    ft_strbuf word = {0};
    ft_judgement said = ft_judgement_of(run->result);
    ft_symbolic_judged j = ft_symbolic_judged_of(x->symbolic);
    symbolic_feed feed = {j.inputs, j.n_inputs, 0, false};
    ft_interpreter_options options = {.input = symbolic_next_input, .context = &feed};
    ft_interpreter *m = ft_interpreter_new(x->program, &options);
    for (size_t i = 0; i < j.n_steps && ft_interpreter_state_of(m) == FT_INTERPRETER_GOING; i++)
        ft_interpreter_step(m, j.steps[i].thread, j.steps[i].variant);
    if (run->end == FT_X_STUCK) ft_interpreter_settle(m);
    x->wrong = x->wrong || feed.strays || ft_interpreter_state_of(m) != said.state;
    x->live_locks += said.state == FT_INTERPRETER_FAILED && said.error == FT_ERROR_LIVE_LOCK;
    ft_inputs_word(x->p, x->program, m, &word);
    if (word.len) ft_intern_add(&x->words.all, word.text, word.len);
    ft_strbuf_release(&word);
    ft_interpreter_free(m);
    return true;
}

typedef struct polled_totals {
    uint64_t programs, skipped, states, classes, ends, live_locks, lingering, refused, open;
} polled_totals;

/* False: what atomics hold cannot be followed. */
static inline bool compare_polled(uint64_t seed, const inputs_program *p, const ft_program *program,
                                  const inputs_words *want, const ft_symbolic_options *options,
                                  polled_totals *t)
{
    ft_error err = FT_ERROR_INIT;
    char what[700];
    polled_classes x = {.p = p, .program = program, .symbolic = ft_symbolic_new(program, options)};
    ft_x_executor executor = ft_symbolic_executor(x.symbolic);
    ft_x_options search = {.on_class = note_polled,
                           .context = &x,
                           .complete = seed % 4 == 0,
                           .max_runs = options->values || !p->n_inputs ? 200000 : 300};
    ft_x_counts counts = {0};
    bool finished = false;
    ft_status status = ft_x_search(&executor, &search, &counts, &finished, &err);
    ft_symbolic_counts more = ft_symbolic_counts_of(x.symbolic);
    bool follows = status != FT_UNSUPPORTED && !counts.strayed;
    snprintf(what, sizeof what, "%s, %u classes, %u strayed, %u bounded, %u unknown, %s",
             finished ? "finished" : "not finished", (unsigned)counts.classes,
             (unsigned)counts.strayed, (unsigned)more.bounded, (unsigned)more.unknown, err.message);
    /* swaps count as writes there, and never end */
    bool spins = !options->values && p->n_inputs && (counts.cut || counts.runs >= search.max_runs);
    bool whole = status == FT_OK && finished && !more.unknown && !x.wrong;
    if (follows && !whole && !spins) complain(seed, p, what);
    bool all = whole && !counts.lingering;
    const char *lost = all ? missing(&want->all, &x.words.all) : NULL;
    const char *extra = missing(&x.words.all, &want->all);
    if (follows && (lost || extra)) {
        snprintf(what, sizeof what, "%s: %s", lost ? "missed" : "extra", lost ? lost : extra);
        complain(seed, p, what);
    }
    t->classes += counts.classes;
    t->live_locks += x.live_locks;
    t->lingering += counts.lingering;
    t->refused += !follows;
    t->open += follows && p->n_inputs;
    ft_inputs_release_words(&x.words);
    ft_symbolic_free(x.symbolic);
    return follows;
}

static inline void compare_polls(uint64_t seed, polled_totals *t)
{
    inputs_program p;
    inputs_words want;
    ft_inputs_random_polls(seed, &p);
    ft_program *program = symbolic_program(p.text.text);
    if (ft_inputs_states(&p, program, POLLED_STATES, &want)) {
        ft_symbolic_options options = {
            .values = true, .max_steps = 400, .snapshot_bytes = seed % 3 ? 0 : 1};
        (void)compare_polled(seed, &p, program, &want, &options, t);
        options.values = false;
        if (p.n_inputs && !compare_polled(seed, &p, program, &want, &options, t))
            complain(seed, &p, "not followed");
        t->programs++;
        t->states += want.schedules;
        t->ends += want.all.len;
    } else {
        t->skipped++;
    }
    ft_inputs_release_words(&want);
    ft_program_free(program);
    ft_inputs_release(&p);
}

#endif
