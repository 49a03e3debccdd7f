#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/running.h"

/* How often a thread has read an input. */
typedef struct times {
    const char *name;
    uint32_t thread, n;
} times;

typedef struct trial {
    running *r;
    ft_interpreter *m;
    uint32_t thread; /* that is stepping */
    FT_VEC(times) read;
} trial;

static uint32_t times_read(trial *j, const char *name)
{
    for (size_t i = 0; i < j->read.len; i++) {
        times *x = &j->read.data[i];
        if (x->thread == j->thread && x->name == name) return x->n++;
    }
    ft_vec_push(&j->read, (times){name, j->thread, 1});
    return 0;
}

static bool read_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    trial *j = context;
    const ft_symbolic_options *o = &j->r->c->options;
    if (!(o->input && o->input(o->context, name, width, value)) &&
        !ft_sym_input(j->r->m, j->thread, name, times_read(j, name), value))
        *value = 0;
    *value &= ft_width_mask(width);
    ft_vec_push(&j->r->c->inputs, (ft_symbolic_input){name, *value, width});
    return true;
}

static bool can_step(const trial *j, const ft_x_pick *pick)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    if (pick->thread >= ft_interpreter_thread_count(j->m)) return false;
    uint32_t n = ft_interpreter_choices(j->m, pick->thread, variants);
    ft_interpreter_operation o;
    bool creates = ft_interpreter_stands_before(j->m, pick->thread, &o) && o.code == FT_CODE_CREATE;
    for (uint32_t i = 0; i < n; i++)
        if (creates || variants[i] == pick->variant) return true;
    return false;
}

static void step(trial *j, ft_x_pick pick)
{
    j->thread = pick.thread;
    ft_vec_push(&j->r->c->picks, pick);
    ft_interpreter_step(j->m, pick.thread, pick.variant);
}

/* A thread that failed within an atomic section keeps the others out until it has ended the
 * process; in the run they went on. */
static bool fails_in_section(trial *j)
{
    ft_interpreter_operation o;
    uint32_t n = ft_interpreter_thread_count(j->m);
    for (uint32_t t = 0; t < n; t++) {
        if (!ft_interpreter_stands_before(j->m, t, &o) || o.code != FT_CODE_FAIL) continue;
        ft_x_pick pick = {.thread = (uint16_t)t};
        if (can_step(j, &pick)) return step(j, pick), true;
    }
    return false;
}

/* True: all steps were possible, as far as the interpreter went on. */
static bool follow(trial *j, bool *shut_out)
{
    size_t n = 0;
    running *r = j->r;
    taken **all = ft_alloc((r->newest ? r->newest->depth : 0) * sizeof *all + 1);
    for (taken *x = r->newest; x; x = x->before)
        if (x->step.thread != UINT16_MAX) all[n++] = x;
    bool good = true;
    while (n && good && ft_interpreter_state_of(j->m) == FT_INTERPRETER_GOING) {
        const ft_x_pick *pick = &all[--n]->step;
        good = can_step(j, pick);
        if (good)
            step(j, *pick);
        else
            *shut_out = good = fails_in_section(j);
    }
    free(all);
    return good;
}

static uint64_t packed(const ft_interpreter *m)
{
    ft_interpreter_state state = ft_interpreter_state_of(m);
    bool error = state == FT_INTERPRETER_FAILED || state == FT_INTERPRETER_STOPPED;
    uint64_t code = state == FT_INTERPRETER_EXITED ? (uint32_t)ft_interpreter_exit_code(m) : 0;
    return (uint64_t)state | (uint64_t)(error ? ft_interpreter_error_of(m)->kind : 0) << 8 |
           code << 32;
}

static bool is_equal(const running *r, const ft_interpreter *m, bool stuck)
{
    ft_interpreter_state state = ft_interpreter_state_of(m);
    const ft_interpreter_error *e = ft_interpreter_error_of(m);
    const ft_sym_error *own = ft_sym_error_of(r->m);
    switch (ft_sym_end_of(r->m)) {
    case FT_SYM_FAILED:
        return state == FT_INTERPRETER_FAILED && e->kind == own->kind &&
               e->place.function == own->place.function &&
               e->place.instruction == own->place.instruction;
    case FT_SYM_EXITED:
        return state == FT_INTERPRETER_EXITED &&
               ft_interpreter_exit_code(m) == ft_sym_exit_code(r->m);
    default:
        if (stuck) return state == FT_INTERPRETER_FAILED && e->kind == FT_ERROR_DEADLOCK;
        return state == FT_INTERPRETER_EXITED;
    }
}

bool ft_running_judge(running *r, bool stuck, uint64_t *result)
{
    ft_symbolic *c = r->c;
    trial j = {.r = r};
    bool shut_out = false;
    ft_interpreter_options options = {.races = c->options.races,
                                      .max_steps = c->options.max_instructions,
                                      .max_bytes = c->options.max_bytes,
                                      .max_threads = c->options.max_threads,
                                      .input = read_input,
                                      .context = &j};
    c->inputs.len = c->picks.len = 0;
    j.m = ft_interpreter_new(c->program, &options);
    bool good = follow(&j, &shut_out);
    ft_interpreter_state state = ft_interpreter_state_of(j.m);
    c->error = *ft_interpreter_error_of(j.m);
    bool race = state == FT_INTERPRETER_FAILED && c->error.kind == FT_ERROR_RACE;
    bool fails = shut_out && state == FT_INTERPRETER_FAILED;
    if (state != FT_INTERPRETER_STOPPED) {
        good = race || fails || (good && is_equal(r, j.m, stuck));
        c->counts.disagreed += !good;
    } else {
        good = false;
    }
    *result = packed(j.m);
    ft_interpreter_free(j.m);
    ft_vec_release(&j.read);
    return good;
}
