/* What tests of random programs with inputs share: the ends of the explorer's classes, as words of
 * the oracle (oracle/inputs.h). */
#ifndef FT_TESTS_SYMBOLIC_ENDS_H
#define FT_TESTS_SYMBOLIC_ENDS_H

#include <unistd.h>

#include "symbolic_support.h"

#include "oracle/inputs.h"

static inline uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Set by a test that wants differences: in a process of its own, which ends with 1 at the first. */
static bool symbolic_expects_differences;

static inline void complain(uint64_t seed, const inputs_program *p, const char *what)
{
    if (symbolic_expects_differences) _exit(1);
    fprintf(stderr, "seed %llu: %s\n%s", (unsigned long long)seed, what, p->text.text);
    fail();
}

static inline ft_program *program_of(uint64_t seed, const inputs_program *p)
{
    ft_error err = FT_ERROR_INIT;
    ft_program *program;
    char what[600];
    if (ft_program_read(p->text.text, p->text.len, &program, &err) == FT_OK) return program;
    snprintf(what, sizeof what, "line %u: %s", (unsigned)err.line, err.message);
    complain(seed, p, what);
    return NULL;
}

typedef struct classes {
    const inputs_program *p;
    const ft_program *program;
    ft_symbolic *symbolic;
    inputs_words words;
    bool wrong;
} classes;

/* The class's execution once more, to its end. */
static inline bool note_class(void *context, const ft_x_run *run, const ft_unfolding *u,
                              const ft_configuration *c)
{
    (void)u, (void)c;
    classes *x = context;
    ft_strbuf word = {0};
    ft_judgement said = ft_judgement_of(run->result);
    ft_symbolic_judged j = ft_symbolic_judged_of(x->symbolic);
    symbolic_feed feed = {j.inputs, j.n_inputs, 0, false};
    ft_interpreter_options options = {
        .races = true, .input = symbolic_next_input, .context = &feed};
    ft_interpreter *m = ft_interpreter_new(x->program, &options);
    for (size_t i = 0; i < j.n_steps && ft_interpreter_state_of(m) == FT_INTERPRETER_GOING; i++)
        ft_interpreter_step(m, j.steps[i].thread, j.steps[i].variant);
    if (run->end == FT_X_STUCK) ft_interpreter_settle(m);
    x->wrong = x->wrong || feed.strays || ft_interpreter_state_of(m) != said.state;
    if (said.state == FT_INTERPRETER_FAILED && said.error == FT_ERROR_RACE) x->words.races = true;
    ft_inputs_word(x->p, x->program, m, &word);
    if (word.len) ft_intern_add(&x->words.all, word.text, word.len);
    ft_strbuf_release(&word);
    ft_interpreter_free(m);
    return true;
}

/* A word that one has and the other has not; NULL: none. */
static inline const char *missing(const ft_intern *of, const ft_intern *in)
{
    for (uint32_t i = 0; i < of->len; i++)
        if (ft_intern_find(in, of->names[i], of->lengths[i]) == FT_NO_ID) return of->names[i];
    return NULL;
}

/* Threads that go round for ever are no ends of executions. */
static inline const char *missing_end(const ft_intern *of, const ft_intern *in)
{
    for (uint32_t i = 0; i < of->len; i++)
        if (strncmp(of->names[i], "live-lock", 9) != 0 &&
            ft_intern_find(in, of->names[i], of->lengths[i]) == FT_NO_ID)
            return of->names[i];
    return NULL;
}

#endif
