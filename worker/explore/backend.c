#include "explore/backend.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/concrete.h"

struct ft_backend {
    const ft_program *program;
    ft_backend_options options;
    ft_concrete *concrete;
    ft_x_executor executor; /* over the concrete one */
    ft_x_executor inner;
    FT_VEC(ft_input_value) inputs; /* of the newest run; names are the program's */
    FT_VEC(const char *) zeros;
    bool cut;
};

static const ft_given_input *given(const ft_backend *b, const char *name)
{
    for (size_t i = 0; i < b->options.n_inputs; i++)
        if (strcmp(b->options.inputs[i].name, name) == 0) return &b->options.inputs[i];
    return NULL;
}

static void note_zero(ft_backend *b, const char *name)
{
    size_t at = 0;
    while (at < b->zeros.len && strcmp(b->zeros.data[at], name) < 0) at++;
    if (at < b->zeros.len && strcmp(b->zeros.data[at], name) == 0) return;
    ft_vec_push(&b->zeros, name);
    for (size_t i = b->zeros.len - 1; i > at; i--) b->zeros.data[i] = b->zeros.data[i - 1];
    b->zeros.data[at] = name;
}

static bool read_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    ft_backend *b = context;
    const ft_given_input *g = given(b, name);
    if (!g) note_zero(b, name);
    *value = (g ? g->value : 0) & ft_width_mask(width);
    ft_vec_push(&b->inputs, (ft_input_value){(char *)(uintptr_t)name, width, *value});
    return true;
}

static ft_status start(void *context, uint32_t slot, const ft_x_task *task, ft_error *err)
{
    ft_backend *b = context;
    b->inputs.len = 0;
    return b->inner.start(b->inner.context, slot, task, err);
}

static ft_status finish(void *context, uint32_t *slot, ft_x_run *run, ft_error *err)
{
    ft_backend *b = context;
    ft_status status = b->inner.finish(b->inner.context, slot, run, err);
    if (status == FT_OK && run->end == FT_X_CUT) b->cut = true;
    return status;
}

ft_backend *ft_backend_new(const ft_program *program, const ft_backend_options *options)
{
    FT_REQUIRE(program && options);
    ft_backend *b = ft_calloc(1, sizeof *b);
    b->program = program;
    b->options = *options;
    ft_interpreter_options interpreter = {.races = true, .input = read_input, .context = b};
    b->concrete = ft_concrete_new(program, &interpreter, options->max_steps);
    b->inner = ft_concrete_executor(b->concrete);
    b->executor = b->inner;
    b->executor.context = b;
    b->executor.start = start;
    b->executor.finish = finish;
    return b;
}

void ft_backend_free(ft_backend *backend)
{
    if (!backend) return;
    ft_concrete_free(backend->concrete);
    ft_vec_release(&backend->inputs);
    ft_vec_release(&backend->zeros);
    free(backend);
}

const ft_x_executor *ft_backend_executor(const ft_backend *backend)
{
    return &backend->executor;
}

static void take_run(const ft_backend *b, ft_execution *x)
{
    size_t n;
    const ft_x_pick *steps = ft_concrete_steps(b->concrete, &n);
    for (size_t i = 0; i < n; i++)
        ft_vec_push(&x->schedule, (ft_schedule_step){steps[i].thread, steps[i].variant});
    for (size_t i = 0; i < b->inputs.len; i++) {
        ft_input_value v = b->inputs.data[i];
        v.name = ft_strdup(v.name);
        ft_vec_push(&x->inputs, v);
    }
}

bool ft_backend_failure(const ft_backend *backend, const ft_x_run *run, int32_t expected,
                        ft_execution *execution, ft_interpreter_error *error)
{
    ft_concrete_result r = ft_concrete_result_of(run->result);
    bool failed = r.state == FT_INTERPRETER_FAILED;
    if (!failed && (r.state != FT_INTERPRETER_EXITED || r.exit_code == expected)) return false;
    *error = (ft_interpreter_error){.kind = FT_ERROR_NONE};
    if (failed) *error = *ft_concrete_error(backend->concrete);
    execution->error = error->kind;
    execution->thread = error->thread;
    execution->exit_code = failed ? 0 : r.exit_code;
    take_run(backend, execution);
    return true;
}

const char *ft_backend_left_open(const ft_backend *backend)
{
    (void)backend;
    return NULL;
}

bool ft_backend_bounded(const ft_backend *backend)
{
    return backend->cut;
}

size_t ft_backend_zeros(const ft_backend *backend, const char *const **names)
{
    *names = backend->zeros.data;
    return backend->zeros.len;
}

bool ft_backend_inputs_open(const ft_backend *backend)
{
    (void)backend;
    return false;
}
