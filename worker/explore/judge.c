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

/* The run knows nothing of races: a thread that met one ends the process at once. */
static void end_at_race(trial *j)
{
    ft_interpreter_operation o;
    ft_x_pick pick = {.thread = (uint16_t)j->thread};
    if (ft_interpreter_state_of(j->m) == FT_INTERPRETER_GOING &&
        ft_interpreter_stands_before(j->m, j->thread, &o) && o.code == FT_CODE_FAIL &&
        ft_interpreter_error_of(j->m)->kind == FT_ERROR_RACE && can_step(j, &pick))
        step(j, pick);
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

static bool step_along(trial *j, const ft_x_pick *pick, bool *shut_out)
{
    bool good = can_step(j, pick);
    if (good)
        step(j, *pick);
    else
        *shut_out = good = fails_in_section(j);
    end_at_race(j);
    return good;
}

/* The interpreter's steps, the first first; the caller frees them. */
static taken **steps_of(const running *r, size_t *n)
{
    size_t all = 0, k;
    for (taken *x = r->newest; x; x = x->before) all += x->step.thread != UINT16_MAX;
    taken **steps = ft_alloc((all + 1) * sizeof *steps);
    k = *n = all;
    for (taken *x = r->newest; x; x = x->before)
        if (x->step.thread != UINT16_MAX) steps[--k] = x;
    return steps;
}

/* The beginning of the atomic section that a thread is in at the end; NULL: none. */
static const taken *open_section(const running *r)
{
    uint32_t holder = ft_sym_section(r->m);
    const taken *x = holder ? r->last[holder - 1] : NULL;
    while (x && !(x->action.operation.kind == FT_X_LOCK && x->action.operation.object == SECTIONS))
        x = x->own;
    return x;
}

static bool has_cause(const taken *x, const taken *cause)
{
    uint32_t t = cause->action.thread;
    return t < x->width && x->clock[t] >= cause->clock[t];
}

/* True: all steps were possible, as far as the interpreter went on. A section that its thread does
 * not end keeps the others out there: it begins when they have done all that they do without it. */
static bool follow(trial *j, bool *shut_out)
{
    size_t n;
    taken **all = steps_of(j->r, &n);
    const taken *section = open_section(j->r);
    bool good = true;
    for (size_t i = 0; i < 2 * n && good && ft_interpreter_state_of(j->m) == FT_INTERPRETER_GOING;
         i++) {
        const taken *x = all[i % n];
        bool late = section && has_cause(x, section);
        if (late == (i >= n)) good = step_along(j, &x->step, shut_out);
    }
    free(all);
    return good;
}

static uint64_t packed(const ft_interpreter *m)
{
    ft_judgement j = {.state = ft_interpreter_state_of(m)};
    bool error = j.state == FT_INTERPRETER_FAILED || j.state == FT_INTERPRETER_STOPPED;
    if (error) j.error = ft_interpreter_error_of(m)->kind;
    if (j.state == FT_INTERPRETER_EXITED) j.exit_code = ft_interpreter_exit_code(m);
    return ft_judgement_pack(j);
}

/* Does some thread go round for ever? */
static bool is_live_lock(running *r)
{
    ft_sym_operation o;
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++)
        if (ft_running_poll(r, t) || (ft_sym_stands_before(r->m, t, &o) && o.circles)) return true;
    return false;
}

static bool is_equal(running *r, ft_interpreter *m, bool stuck)
{
    ft_program_error still = is_live_lock(r) ? FT_ERROR_LIVE_LOCK : FT_ERROR_DEADLOCK;
    ft_interpreter_state state = stuck ? ft_interpreter_settle(m) : ft_interpreter_state_of(m);
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
        if (stuck)
            return state == FT_INTERPRETER_FAILED &&
                   (e->kind == still ||
                    (e->kind == FT_ERROR_DEADLOCK && ft_running_may_poll_on(r)));
        return state == FT_INTERPRETER_EXITED;
    }
}

static void begin(trial *j, running *r)
{
    ft_symbolic *c = r->c;
    *j = (trial){.r = r};
    ft_interpreter_options options = {.races = c->options.races,
                                      .max_steps = c->options.max_instructions,
                                      .max_bytes = c->options.max_bytes,
                                      .max_threads = c->options.max_threads,
                                      .input = read_input,
                                      .context = j};
    c->inputs.len = c->picks.len = 0;
    j->m = ft_interpreter_new(c->program, &options);
}

static bool has_race(const trial *j)
{
    return ft_interpreter_state_of(j->m) == FT_INTERPRETER_FAILED &&
           ft_interpreter_error_of(j->m)->kind == FT_ERROR_RACE;
}

static void end(trial *j, uint64_t *result)
{
    j->r->c->error = *ft_interpreter_error_of(j->m);
    *result = packed(j->m);
    ft_interpreter_free(j->m);
    ft_vec_release(&j->read);
}

bool ft_running_judge(running *r, bool stuck, uint64_t *result)
{
    trial j;
    bool shut_out = false;
    begin(&j, r);
    bool good = follow(&j, &shut_out);
    ft_interpreter_state state = ft_interpreter_state_of(j.m);
    bool fails = shut_out && state == FT_INTERPRETER_FAILED;
    good = has_race(&j) || fails || (good && is_equal(r, j.m, stuck));
    r->c->counts.disagreed += !good && state != FT_INTERPRETER_STOPPED;
    end(&j, result);
    return good;
}

bool ft_running_races_along(running *r, uint64_t *result, bool *races)
{
    trial j;
    bool shut_out = false;
    uint64_t own;
    begin(&j, r);
    bool good = follow(&j, &shut_out);
    ft_interpreter_state state = ft_interpreter_state_of(j.m);
    bool stuck =
        state == FT_INTERPRETER_FAILED && ft_interpreter_error_of(j.m)->kind == FT_ERROR_DEADLOCK;
    *races = has_race(&j); /* a bound may cut a run that has come to its end */
    good = *races || (good && !shut_out && (stuck || state == FT_INTERPRETER_GOING));
    r->c->counts.disagreed += !good && state != FT_INTERPRETER_STOPPED;
    end(&j, &own);
    if (*races) *result = own;
    return good;
}

bool ft_running_order(running *r, ft_strbuf *bytes)
{
    trial j;
    bool shut_out = false;
    ft_symbolic *c = r->c, judged = *c;
    memset(&c->inputs, 0, sizeof c->inputs);
    memset(&c->picks, 0, sizeof c->picks);
    begin(&j, r);
    bool good =
        follow(&j, &shut_out) && !shut_out && ft_interpreter_state_of(j.m) == FT_INTERPRETER_GOING;
    if (good) ft_interpreter_order_bytes(j.m, bytes);
    ft_interpreter_free(j.m);
    ft_vec_release(&j.read);
    ft_vec_release(&c->inputs);
    ft_vec_release(&c->picks);
    c->inputs.data = judged.inputs.data;
    c->inputs.len = judged.inputs.len;
    c->inputs.cap = judged.inputs.cap;
    c->picks.data = judged.picks.data;
    c->picks.len = judged.picks.len;
    c->picks.cap = judged.picks.cap;
    return good;
}

bool ft_running_is_stuck(running *r)
{
    trial j;
    uint64_t result;
    bool shut_out = false;
    begin(&j, r);
    bool good = follow(&j, &shut_out) && ft_interpreter_settle(j.m) == FT_INTERPRETER_GOING;
    end(&j, &result);
    return !good;
}

/* ---- runs that an assumption discards ---- */

/* The newest step of each thread that stands at a failed assumption: there it ends. */
static bool is_last(const running *r, const taken *x)
{
    ft_sym_operation o;
    uint32_t t = x->action.thread;
    if (!ft_sym_stands_before(r->m, t, &o) || !o.stands) return false;
    const taken *newest = r->last[t];
    while (newest && newest->step.thread == UINT16_MAX) newest = newest->own;
    return newest == x;
}

/* Is the step one that has such a step among its causes? */
static bool is_behind(taken *const *all, const bool *last, size_t n, const taken *x)
{
    for (size_t i = 0; i < n; i++)
        if (last[i] && has_cause(x, all[i])) return true;
    return false;
}

/* Everything else, then the k-th step, which ends at the assumption, or before at a race. */
static bool races_before(running *r, taken *const *all, const bool *last, size_t n, size_t k,
                         uint64_t *result)
{
    trial j;
    bool shut_out = false, good = true;
    begin(&j, r);
    for (size_t i = 0; i <= n && good && ft_interpreter_state_of(j.m) == FT_INTERPRETER_GOING; i++)
        if (i == n || !is_behind(all, last, n, all[i]))
            good = step_along(&j, &all[i == n ? k : i]->step, &shut_out);
    bool races = has_race(&j);
    end(&j, result);
    return races;
}

/* A thread that stands at the assumption did what comes before it, so threads that it made, or let
 * go on, may race. */
static bool races_along(running *r, uint64_t *result)
{
    trial j;
    bool shut_out = false;
    begin(&j, r);
    bool races = follow(&j, &shut_out) && has_race(&j);
    end(&j, result);
    return races;
}

bool ft_running_races_before(running *r, uint64_t *result)
{
    size_t n;
    bool races = races_along(r, result);
    taken **all = steps_of(r, &n);
    bool *last = ft_calloc(n + 1, sizeof *last);
    for (size_t i = 0; i < n; i++) last[i] = is_last(r, all[i]);
    for (size_t k = 0; k < n && !races; k++)
        races = last[k] && races_before(r, all, last, n, k, result);
    free(last);
    free(all);
    return races;
}
