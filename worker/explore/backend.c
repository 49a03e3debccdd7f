#include "explore/backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

struct ft_backend {
    ft_backend_options options;
    ft_symbolic *symbolic;
    ft_x_executor executor;
    char left_open[160];
    ft_strbuf lingers;
};

/* Inputs that are not given are open. */
static bool read_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    const ft_backend *b = context;
    for (size_t i = 0; i < b->options.n_inputs; i++) {
        if (strcmp(b->options.inputs[i].name, name) != 0) continue;
        *value = b->options.inputs[i].value & ft_width_mask(width);
        return true;
    }
    return false;
}

static bool should_stop(void *context)
{
    const ft_backend *b = context;
    return b->options.should_stop && b->options.should_stop(b->options.context);
}

ft_backend *ft_backend_new(const ft_program *program, const ft_backend_options *options)
{
    FT_REQUIRE(program && options);
    ft_backend *b = ft_calloc(1, sizeof *b);
    b->options = *options;
    ft_symbolic_options symbolic = {.races = true,
                                    .max_steps = options->max_steps,
                                    .max_iterations = options->max_iterations,
                                    .expect_exit = options->expect_exit,
                                    .polls = options->polls,
                                    .values = options->values,
                                    .cutoffs = options->cutoffs,
                                    .input = read_input,
                                    .should_stop = should_stop,
                                    .context = b};
    b->symbolic = ft_symbolic_new(program, &symbolic);
    ft_symbolic_number(b->symbolic, options->makers, options->n_makers);
    b->executor = ft_symbolic_executor(b->symbolic);
    return b;
}

void ft_backend_free(ft_backend *backend)
{
    if (!backend) return;
    ft_symbolic_free(backend->symbolic);
    ft_strbuf_release(&backend->lingers);
    free(backend);
}

const ft_x_executor *ft_backend_executor(const ft_backend *backend)
{
    return &backend->executor;
}

static void take_run(const ft_symbolic_judged *judged, ft_execution *x)
{
    for (size_t i = 0; i < judged->n_steps; i++)
        ft_vec_push(&x->schedule,
                    (ft_schedule_step){judged->steps[i].thread, judged->steps[i].variant});
    for (size_t i = 0; i < judged->n_inputs; i++) {
        const ft_symbolic_input *in = &judged->inputs[i];
        ft_vec_push(&x->inputs, (ft_input_value){ft_strdup(in->name), in->width, in->value});
    }
}

bool ft_backend_failure(const ft_backend *backend, const ft_x_run *run, int32_t expected,
                        ft_execution *execution, ft_interpreter_error *error)
{
    bool raced = run->end == FT_X_CUT && ft_symbolic_races(run);
    if (run->end != FT_X_DONE && run->end != FT_X_STUCK && !raced) return false;
    ft_judgement r = ft_judgement_of(run->result);
    bool failed = r.state == FT_INTERPRETER_FAILED;
    if (!failed && (r.state != FT_INTERPRETER_EXITED || r.exit_code == expected)) return false;
    ft_symbolic_judged judged = ft_symbolic_judged_of(backend->symbolic);
    *error = (ft_interpreter_error){.kind = FT_ERROR_NONE};
    if (failed) *error = *judged.error;
    execution->error = error->kind;
    execution->thread = error->thread;
    execution->exit_code = failed ? 0 : r.exit_code;
    take_run(&judged, execution);
    return true;
}

const char *ft_backend_left_open(ft_backend *backend)
{
    ft_strbuf place = {0};
    ft_symbolic_counts n = ft_symbolic_counts_of(backend->symbolic);
    bool overlaps = ft_symbolic_overlaps(backend->symbolic, &place);
    if (overlaps)
        snprintf(backend->left_open, sizeof backend->left_open,
                 "%.100s: atomic instructions use parts of each other's memory",
                 ft_strbuf_text(&place));
    else if (n.unknown)
        snprintf(backend->left_open, sizeof backend->left_open,
                 "%" PRIu64 " executions could not be decided (%" PRIu64
                 " questions that the solver left open, %" PRIu64 " that the interpreter denied)",
                 n.unknown, n.solver_unknown, n.disagreed);
    else if (n.concretised)
        snprintf(backend->left_open, sizeof backend->left_open,
                 "of %" PRIu64 " values that depend on inputs only a few were tried",
                 n.concretised);
    ft_strbuf_release(&place);
    return overlaps || n.unknown || n.concretised ? backend->left_open : NULL;
}

const ft_symbolic_maker *ft_backend_makers(const ft_backend *backend, size_t *n)
{
    return ft_symbolic_makers(backend->symbolic, n);
}

bool ft_backend_bounded(const ft_backend *backend)
{
    return ft_symbolic_counts_of(backend->symbolic).bounded > 0;
}

const char *ft_backend_bound(const ft_backend *backend)
{
    size_t n;
    const char *first = NULL;
    const ft_symbolic_cut *cuts = ft_symbolic_cuts(backend->symbolic, &n);
    for (size_t i = 0; i < n; i++)
        if (!first || strcmp(cuts[i].reason, first) < 0) first = cuts[i].reason;
    return first;
}

bool ft_backend_has_too_many_threads(const ft_backend *backend)
{
    return ft_symbolic_has_too_many_threads(backend->symbolic);
}

const char *ft_backend_lingers(ft_backend *backend)
{
    ft_strbuf_release(&backend->lingers);
    bool lingers = ft_symbolic_lingers(backend->symbolic, &backend->lingers);
    return lingers ? ft_strbuf_text(&backend->lingers) : NULL;
}

void ft_backend_explain(const ft_backend *backend, void (*line)(void *context, const char *text),
                        void *context)
{
    enum { MOST_QUESTIONS = 3, MOST_TEXT = 2000 };
    size_t n;
    ft_strbuf text = {0};
    ft_symbolic_counts k = ft_symbolic_counts_of(backend->symbolic);
    const ft_symbolic_cut *cuts = ft_symbolic_cuts(backend->symbolic, &n);
    ft_strbuf_printf(&text,
                     "%" PRIu64 " steps, %" PRIu64 " of them again behind %" PRIu64
                     " snapshots; %" PRIu64 " conditions on inputs; %" PRIu64 " questions: %" PRIu64
                     " answered by others, %" PRIu64 " solved, %" PRIu64 " left open; %" PRIu64
                     " values of which only a few were tried",
                     k.steps, k.replayed, k.snapshots, k.branches, k.questions, k.cached, k.solved,
                     k.solver_unknown, k.concretised);
    line(context, ft_strbuf_text(&text));
    for (size_t i = 0; i < n; i++) {
        ft_strbuf_clear(&text);
        ft_strbuf_printf(&text, "%" PRIu64 " executions were cut: %s", cuts[i].runs,
                         cuts[i].reason);
        line(context, ft_strbuf_text(&text));
    }
    for (size_t i = 0; i < MOST_QUESTIONS; i++) {
        ft_strbuf_clear(&text);
        ft_strbuf_puts(&text, "left open: ");
        if (!ft_symbolic_open(backend->symbolic, i, &text)) break;
        if (text.len > MOST_TEXT) ft_strbuf_cut(&text, MOST_TEXT);
        line(context, ft_strbuf_text(&text));
    }
    ft_strbuf_release(&text);
}
