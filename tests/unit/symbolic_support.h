/* What tests of programs with open inputs share: explore a program's text by the symbolic executor,
 * count what its classes ended in, and execute each finding again from its inputs and steps. */
#ifndef FT_TESTS_SYMBOLIC_SUPPORT_H
#define FT_TESTS_SYMBOLIC_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explore/search.h"
#include "explore/symbolic.h"
#include "program/binary.h"

typedef struct explored {
    const ft_program *program;
    ft_symbolic *symbolic;
    ft_x_counts counts;
    ft_symbolic_counts more;
    bool finished;
    uint64_t errors[FT_PROGRAM_ERRORS]; /* classes that end in each */
    uint64_t codes;                     /* classes that exit with a code other than 0 */
    uint64_t wrong;                     /* findings that a second execution does not show */
    uint64_t least[8], most[8];         /* over the failing classes: the first inputs */
} explored;

static inline ft_program *symbolic_program(const char *text)
{
    ft_error err = FT_ERROR_INIT;
    ft_program *program;
    if (ft_program_read(text, strlen(text), &program, &err) != FT_OK)
        fail_msg("line %u: %s\n%s", (unsigned)err.line, err.message, text);
    return program;
}

typedef struct symbolic_feed {
    const ft_symbolic_input *inputs;
    size_t n, at;
    bool strays;
} symbolic_feed;

static inline bool symbolic_next_input(void *context, const char *name, uint8_t width, uint64_t *v)
{
    symbolic_feed *f = context;
    f->strays = f->strays || f->at == f->n || f->inputs[f->at].width != width ||
                strcmp(f->inputs[f->at].name, name) != 0;
    *v = f->strays ? 0 : f->inputs[f->at++].value;
    return true;
}

/* Does the interpreter end as said when it gets the inputs one after the other? */
static inline bool symbolic_repeats(const ft_program *p, const ft_symbolic_judged *j,
                                    const ft_judgement *said)
{
    symbolic_feed feed = {j->inputs, j->n_inputs, 0, false};
    ft_interpreter_options options = {
        .races = true, .input = symbolic_next_input, .context = &feed};
    ft_interpreter *m = ft_interpreter_new(p, &options);
    for (size_t i = 0; i < j->n_steps && ft_interpreter_state_of(m) == FT_INTERPRETER_GOING; i++)
        ft_interpreter_step(m, j->steps[i].thread, j->steps[i].variant);
    ft_interpreter_state state = ft_interpreter_state_of(m);
    bool good = !feed.strays && state == said->state;
    if (good && state == FT_INTERPRETER_FAILED)
        good = ft_interpreter_error_of(m)->kind == said->error;
    if (good && state == FT_INTERPRETER_EXITED)
        good = ft_interpreter_exit_code(m) == said->exit_code;
    ft_interpreter_free(m);
    return good;
}

static inline bool symbolic_note(void *context, const ft_x_run *run, const ft_unfolding *u,
                                 const ft_configuration *c)
{
    (void)u, (void)c;
    explored *x = context;
    ft_judgement r = ft_judgement_of(run->result);
    ft_symbolic_judged j = ft_symbolic_judged_of(x->symbolic);
    bool fails = r.state == FT_INTERPRETER_FAILED;
    if (fails) x->errors[r.error]++;
    if (r.state == FT_INTERPRETER_EXITED && r.exit_code) x->codes++;
    x->wrong += !symbolic_repeats(x->program, &j, &r);
    for (size_t i = 0; fails && i < j.n_inputs && i < 8; i++) {
        uint64_t v = j.inputs[i].value;
        if (v > x->most[i]) x->most[i] = v;
        if (v < x->least[i]) x->least[i] = v;
    }
    return true;
}

static inline explored symbolic_explore_program(const ft_program *program,
                                                const ft_symbolic_options *options)
{
    ft_error err = FT_ERROR_INIT;
    explored x = {.program = program, .symbolic = ft_symbolic_new(program, options)};
    memset(x.least, 0xff, sizeof x.least);
    ft_x_executor executor = ft_symbolic_executor(x.symbolic);
    ft_x_options search = {.on_class = symbolic_note, .context = &x, .max_runs = 200000};
    if (ft_x_search(&executor, &search, &x.counts, &x.finished, &err) != FT_OK)
        fail_msg("%s", err.message);
    x.more = ft_symbolic_counts_of(x.symbolic);
    ft_symbolic_free(x.symbolic);
    return x;
}

static inline explored symbolic_explore(const char *text, const ft_symbolic_options *options)
{
    ft_program *program = symbolic_program(text);
    explored x = symbolic_explore_program(program, options);
    ft_program_free(program);
    x.program = NULL;
    return x;
}

#endif
