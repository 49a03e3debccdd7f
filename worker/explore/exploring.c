#include "explore/exploring.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/contract.h"
#include "explore/internal.h"
#include "program/binary.h"

enum {
    DEFAULT_MS = 300000,
    DEFAULT_STEPS = 10000,
    FEW_THREADS = 3,
    MOST_ROUNDS = 200,
    FEW_POLLS = 3,
    MORE_POLLS = 20
};

/* ---- programs ---- */

bool ft_explored_is_binary(const void *head, size_t length)
{
    return ft_program_is_binary(head, length);
}

ft_status ft_explored_read(const void *bytes, size_t length, ft_program **program, ft_error *err)
{
    return ft_program_read(bytes, length, program, err);
}

void ft_explored_write(const ft_program *program, ft_strbuf *out)
{
    ft_program_write_binary(program, out);
}

void ft_explored_free(ft_program *program)
{
    ft_program_free(program);
}

/* ---- the specification ---- */

static ft_status refuse_member(const char *member, const char *what, ft_error *err)
{
    return ft_error_set(err, FT_USAGE, "the job's member \"%s\" %s", member, what);
}

static ft_status read_number(const json_t *from, const char *member, uint64_t *number,
                             ft_error *err)
{
    const json_t *value = json_object_get(from, member);
    if (!value || json_is_null(value)) return FT_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return refuse_member(member, "is not a number", err);
    *number = (uint64_t)json_integer_value(value);
    return FT_OK;
}

static ft_status read_checks(const json_t *spec, ft_exploring *x, ft_error *err)
{
    const json_t *checks = json_object_get(spec, "checks");
    for (int c = 0; c < FT_CHECKS; c++) x->checks[c] = !checks && ft_exploring_has((ft_check)c);
    for (size_t i = 0; i < json_array_size(checks); i++) {
        ft_check check;
        const char *name = json_string_value(json_array_get(checks, i));
        if (!name || !ft_check_parse(name, &check) || !ft_exploring_has(check))
            return refuse_member("checks", "names a check that is not one of programs", err);
        x->checks[check] = true;
    }
    return FT_OK;
}

static ft_status read_inputs(const json_t *spec, ft_exploring *x, ft_error *err)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(spec, "inputs"), name, value)
    {
        if (!json_is_integer(value))
            return refuse_member("inputs", "has a value that is not an integer", err);
        ft_given_input given = {name, (uint64_t)json_integer_value(value)};
        ft_vec_push(&x->inputs, given);
    }
    return FT_OK;
}

static ft_status read_spec(const json_t *spec, ft_exploring *x, ft_error *err)
{
    uint64_t ms = DEFAULT_MS, preemptions = UINT32_MAX, steps = DEFAULT_STEPS, code = 0,
             iterations = 0, polls = 0;
    const json_t *explore = json_object_get(spec, "explore");
    ft_status status = read_checks(spec, x, err);
    if (status == FT_OK) status = read_inputs(spec, x, err);
    if (status == FT_OK) status = read_number(json_object_get(spec, "budget"), "job_ms", &ms, err);
    if (status == FT_OK) status = read_number(explore, "preemptions", &preemptions, err);
    if (status == FT_OK) status = read_number(explore, "runs", &x->max_runs, err);
    if (status == FT_OK) status = read_number(explore, "steps", &steps, err);
    if (status == FT_OK) status = read_number(explore, "iterations", &iterations, err);
    if (status == FT_OK) status = read_number(explore, "polls", &polls, err);
    if (status == FT_OK) status = read_number(explore, "expect_exit", &code, err);
    if (json_is_true(json_object_get(explore, "explain"))) x->explained = json_array();
    const json_t *cutoffs = json_object_get(explore, "cutoffs");
    x->cutoffs = json_is_true(cutoffs);
    x->may_cut_off = !json_is_boolean(cutoffs) && preemptions >= UINT32_MAX;
    x->preemptions = preemptions > UINT32_MAX ? UINT32_MAX : (uint32_t)preemptions;
    x->max_iterations = (uint32_t)iterations;
    x->polls = polls ? (uint32_t)polls : FEW_POLLS;
    x->more_polls = polls ? 0 : MORE_POLLS;
    x->expect_exit = (int32_t)code;
    x->max_steps = steps;
    x->seconds = x->hard_seconds = (double)ms / 1000 * 0.75; /* the rest: witnesses, the server */
    return status;
}

ft_status ft_exploring_begin(ft_exploring *x, const json_t *spec, ft_error *err)
{
    x->began = ft_exploring_now();
    ft_status status = read_spec(spec, x, err);
    for (int c = 0; c < FT_CHECKS; c++) x->wants_points |= x->checks[c] && c != FT_CHECK_RACE;
    return status;
}

/* ---- one round: the search, with the points that there are ---- */

double ft_exploring_now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* The address of the load or store; NULL: it is not that of a global. */
static const ft_operand *global_of(const ft_function *f, const ft_instruction *in)
{
    if (in->code != FT_CODE_LOAD && in->code != FT_CODE_STORE) return NULL;
    const ft_operand *o = &f->operands.data[in->operands + (in->code == FT_CODE_STORE ? 1 : 0)];
    return o->kind == FT_OPERAND_ADDRESS ? o : NULL;
}

/* All accesses to the same global: a plain one beside points would be left out of their order. */
static void add_same(ft_exploring *x, ft_interpreter_place place)
{
    const ft_function *own = ft_program_function(x->program, place.function);
    const ft_operand *to = global_of(own, &own->instructions.data[place.instruction]);
    for (size_t i = 0; i < x->program->functions.len && to; i++) {
        const ft_function *f = &x->program->functions.data[i];
        for (uint32_t k = 0; k < f->instructions.len; k++) {
            const ft_operand *o = global_of(f, &f->instructions.data[k]);
            ft_interpreter_place at = {f->symbol, k};
            if (o && o->index == to->index && o->value == to->value &&
                ft_program_can_be_point(x->program, at, false))
                ft_points_add(&x->fresh, (ft_point){at, false});
        }
    }
}

/* The instruction of the program without points; NULL: it is one of a point's section. */
static const ft_instruction *original_at(const ft_exploring *x, ft_interpreter_place place)
{
    if (place.function == FT_NO_SYMBOL || !ft_points_original(&x->points, &place)) return NULL;
    return &ft_program_function(x->program, place.function)->instructions.data[place.instruction];
}

/* Do the accesses of a race use different parts of memory? As atomics they would not fit. */
static bool differ(const ft_exploring *x, const ft_interpreter_error *e)
{
    const ft_instruction *a = original_at(x, e->place), *b = original_at(x, e->other);
    if (!a || !b) return false;
    return a->width != b->width || ft_instruction_is_range(a) || ft_instruction_is_range(b);
}

/* A point that changes many bytes at once, which the program does not. */
static bool has_ranges(const ft_exploring *x)
{
    for (size_t i = 0; i < x->points.len; i++) {
        const ft_point *p = &x->points.data[i];
        const ft_function *f = ft_program_function(x->program, p->place.function);
        if (ft_instruction_is_range(&f->instructions.data[p->place.instruction])) return true;
    }
    return false;
}

/* Points of the next round. */
static bool add_point(ft_exploring *x, ft_interpreter_place place, bool section)
{
    bool original = ft_points_original(&x->points, &place);
    if (!original || !ft_program_can_be_point(x->program, place, section)) return false;
    return ft_points_add(&x->fresh, (ft_point){place, section});
}

/* True: the search begins anew, with further points. */
static bool note_race(ft_exploring *x, const ft_interpreter_error *e)
{
    if (!x->wants_points) return x->left_aside = true, false;
    bool section = e->in_section || e->other_in_section || differ(x, e), made = false;
    if (!e->in_section) made = add_point(x, e->place, section);
    if (!e->other_in_section && e->other.function != FT_NO_SYMBOL)
        made |= add_point(x, e->other, section);
    if (!made) x->left_aside = true;
    return made;
}

static void say(ft_exploring *x)
{
    enum { EVERY_SO_MANY = 64 };
    if (x->progress && x->progress->say && x->runs % EVERY_SO_MANY == 0)
        x->progress->say(x->progress->context, x->runs, x->classes, x->failures.len);
}

static size_t failed_attempts(const ft_x_run *run)
{
    static const bool ATTEMPTS[FT_X_KINDS] = {[FT_X_TRY_LOCK] = true,
                                              [FT_X_TRY_READ_LOCK] = true,
                                              [FT_X_TRY_WRITE_LOCK] = true,
                                              [FT_X_TRY_TAKE] = true,
                                              [FT_X_SWAP] = true};
    size_t n = 0;
    for (size_t i = 0; i < run->steps.len; i++) {
        const ft_x_action *a = &run->steps.data[i];
        n += ATTEMPTS[a->operation.kind] && !a->outcome;
    }
    return n;
}

/* Did a run come to no end, or to a late one? Its states may come again: threads that back off from
 * each other's locks can do so any number of times, and each time makes further classes. */
static bool goes_round(const ft_exploring *x, const ft_x_run *run)
{
    enum { MANY_ATTEMPTS = 32 };
    if (!x->may_cut_off || x->cutoffs) return false;
    bool endless = run->end == FT_X_CUT && run->steps.len >= x->max_steps;
    return endless || failed_attempts(run) >= MANY_ATTEMPTS;
}

/* A subtree's name is as long as its execution, and there are about as many of them: a search over
 * long ones is not shared out, but begins anew to go on for the whole time. */
static bool is_to_go_alone(ft_exploring *x, const ft_x_run *run)
{
    enum { LONG = 2000 };
    if (!x->may_go_alone || run->steps.len <= LONG) return false;
    x->may_go_alone = false;
    x->share.soft_ms = 0;
    x->seconds = x->hard_seconds;
    return true;
}

/* Would main make more threads, if there were not a bound on them? Those that wait, or go round,
 * could wait for that. */
static bool waits_for_bound(const ft_exploring *x, const ft_x_run *run,
                            const ft_interpreter_error *e)
{
    static const char NAME[] = "__foretell_no_further";
    if (!x->few_threads && !ft_exploring_bounds_threads(x->program)) return false;
    if (e->kind == FT_ERROR_LIVE_LOCK) return run->pending[0].kind == FT_X_LOCK;
    return e->kind == FT_ERROR_DEADLOCK && e->thread == 0 &&
           strcmp(ft_program_symbol_name(x->program, e->place.function), NAME) == 0;
}

bool ft_exploring_on_run(void *context, const ft_x_run *run)
{
    ft_exploring *x = context;
    ft_execution failed = {0};
    ft_interpreter_error error;
    if (x->anew) return false; /* of a step of the plan that follows */
    x->runs++;
    say(x);
    if (goes_round(x, run)) return x->cutoffs = x->anew = true, false;
    if (is_to_go_alone(x, run)) return x->anew = true, false;
    if (!ft_backend_failure(x->backend, run, x->expect_exit, &failed, &error)) return true;
    ft_interpreter_place place = error.place;
    if (error.kind == FT_ERROR_MISUSE && !ft_points_original(&x->points, &place)) {
        x->left_aside = true; /* a point of a section is within one too: no fault of the program */
        ft_execution_release(&failed);
        return true;
    }
    if (waits_for_bound(x, run, &error)) return ft_execution_release(&failed), true;
    ft_exploring_note(x, run, &failed, &error);
    bool anew = error.kind == FT_ERROR_RACE && note_race(x, &error);
    ft_execution_release(&failed);
    x->anew |= anew;
    return !anew;
}

bool ft_exploring_on_class(void *context, const ft_x_run *run, const ft_unfolding *u,
                           const ft_configuration *c)
{
    (void)run, (void)u, (void)c;
    ft_exploring *x = context;
    x->classes++;
    return true;
}

bool ft_exploring_should_stop(void *context)
{
    const ft_exploring *x = context;
    return x->anew || ft_exploring_now() - x->began > x->seconds ||
           (x->share.soft_runs && x->runs >= x->share.soft_runs);
}

bool ft_exploring_must_stop(void *context)
{
    const ft_exploring *x = context;
    return ft_exploring_now() - x->began > x->hard_seconds;
}

ft_program *ft_exploring_open(ft_exploring *x)
{
    for (size_t i = 0; i < x->fresh.len; i++) ft_points_add(&x->points, x->fresh.data[i]);
    ft_program *program = ft_program_with_points(x->program, &x->points);
    if (x->few_threads) (void)ft_exploring_bound_threads(program, x->few_threads);
    ft_backend_options options = {.expect_exit = x->expect_exit,
                                  .inputs = x->inputs.data,
                                  .n_inputs = x->inputs.len,
                                  .max_steps = x->max_steps,
                                  .max_iterations = x->max_iterations,
                                  .makers = x->makers.data,
                                  .n_makers = x->makers.len,
                                  .polls = x->polls,
                                  .values = !x->counted,
                                  .cutoffs = x->cutoffs,
                                  .should_stop = ft_exploring_must_stop,
                                  .context = x};
    x->anew = false;
    x->left_aside = has_ranges(x);
    x->classes = 0;
    x->backend = ft_backend_new(program, &options);
    return program;
}

static void keep_makers(ft_exploring *x)
{
    size_t n;
    const ft_symbolic_maker *makers = ft_backend_makers(x->backend, &n);
    for (size_t i = x->makers.len; i < n && i + 1 < FT_X_THREADS; i++)
        ft_vec_push(&x->makers, makers[i]);
}

void ft_exploring_close(ft_exploring *x, ft_program *program)
{
    ft_exploring_take_facts(x);
    keep_makers(x);
    ft_backend_free(x->backend);
    x->backend = NULL;
    ft_program_free(program);
}

/* May what the plan leaves be searched by others? A bound on runs or preemptions is one search's.
 */
static bool is_shared(const ft_exploring *x)
{
    return x->share.soft_ms && x->share.parts && x->preemptions == FT_X_ALL_PREEMPTIONS &&
           !x->max_runs;
}

/* What a round left is of no use to the next one, or nobody else goes on with it. */
static bool drops_rest(void *context)
{
    const ft_exploring *x = context;
    return x->anew || !is_shared(x);
}

static ft_status explore_once(ft_exploring *x, ft_error *err)
{
    enum { MOST_BYTES = 1 << 30 };
    double left = x->seconds - (ft_exploring_now() - x->began);
    ft_program *program = ft_exploring_open(x);
    ft_x_rest_release(&x->rest);
    ft_x_plan plan = {.preemptions = x->preemptions,
                      .max_runs = x->max_runs,
                      .seconds = left > 0.1 ? left : 0.1,
                      .rest = is_shared(x) ? &x->rest : NULL,
                      .cutoffs = x->cutoffs,
                      .max_bytes = MOST_BYTES,
                      .on_run = ft_exploring_on_run,
                      .on_class = ft_exploring_on_class,
                      .should_stop = ft_exploring_should_stop,
                      .drops_rest = drops_rest,
                      .context = x};
    ft_status status = ft_x_explore(ft_backend_executor(x->backend), &plan, &x->outcome, err);
    ft_exploring_close(x, program);
    return status;
}

/* An error that ends the exploration is reported; earlier findings stay valid. */
static void leave_open(ft_exploring *x, const ft_error *err)
{
    free(x->open);
    x->open = ft_strdup(err->message);
    x->anew = false;
}

/* Where plain accesses beside points are not taken, all of the same globals become points. Races
 * between those are not looked for any more. False: there is nothing to add. */
static bool widen(ft_exploring *x)
{
    size_t before = x->fresh.len;
    for (size_t i = 0; i < x->points.len; i++)
        if (!x->points.data[i].section) add_same(x, x->points.data[i].place);
    if (x->fresh.len == before) return false;
    return x->widened = true;
}

/* Where inputs, or plain writes that they decide about, make what atomics hold. */
static bool count_writes(ft_exploring *x)
{
    if (x->counted || !ft_exploring_has_inputs(x->program)) return false;
    return x->counted = true;
}

/* Points that the next round has, since races were found in this one: what stood in the way may be
 * one of them. */
static bool has_fresh_points(const ft_exploring *x)
{
    return x->fresh.len > x->points.len;
}

/* A program with more threads than the search takes has bugs that few of them have, too. */
static bool bound_threads(ft_exploring *x)
{
    if (!x->too_many_threads || x->few_threads) return false;
    ft_program *tried = ft_program_with_points(x->program, &x->points);
    if (ft_exploring_bound_threads(tried, FEW_THREADS)) x->few_threads = FEW_THREADS;
    ft_program_free(tried);
    return x->few_threads > 0;
}

void ft_exploring_give_way(ft_exploring *x, ft_error *err)
{
    if (bound_threads(x) || has_fresh_points(x) || count_writes(x) || widen(x))
        x->anew = true;
    else
        leave_open(x, err);
    *err = (ft_error)FT_ERROR_INIT;
}

static bool has_time(const ft_exploring *x)
{
    return ft_exploring_now() - x->began < x->seconds;
}

/* A loop that counts its rounds may give up after some more of them: where that ends soon. */
static bool wants_more_rounds(ft_exploring *x)
{
    bool ended = x->outcome.stop == FT_X_STOP_END && !x->anew;
    bool soon = ft_exploring_now() - x->began < x->seconds / 10;
    bool more = ended && soon && x->lingers && x->more_polls > x->polls;
    if (more) x->polls = x->more_polls;
    return more;
}

/* Atomics whose first content depends on what inputs decided do not repeat it. */
static bool strays(const ft_exploring *x)
{
    return x->outcome.total.strayed || x->outcome.tree.strayed;
}

/* Widening helps once: it is tried where the time is over as well. */
static ft_status explore(ft_exploring *x, ft_error *err)
{
    ft_status status = FT_OK;
    bool few = x->few_threads;
    for (uint32_t rounds = 0;; rounds++) {
        status = explore_once(x, err);
        if (status == FT_UNSUPPORTED) {
            ft_exploring_give_way(x, err);
            status = FT_OK;
            if (x->few_threads && !few && ft_exploring_prove(x)) return x->anew = false, FT_OK;
            few = x->few_threads;
            if (x->anew) continue;
        }
        if (status != FT_OK || rounds >= MOST_ROUNDS || !has_time(x)) return status;
        bool again = (strays(x) && count_writes(x)) || wants_more_rounds(x);
        if (!x->anew && !again) return status;
    }
}

/* ---- the whole ---- */

void ft_exploring_release(ft_exploring *x)
{
    for (size_t i = 0; i < x->failures.len; i++)
        ft_execution_release(&x->failures.data[i].execution);
    ft_vec_release(&x->failures);
    free(x->open);
    free(x->bound);
    free(x->lingers);
    json_decref(x->explained);
    ft_vec_release(&x->points);
    ft_vec_release(&x->fresh);
    ft_vec_release(&x->inputs);
    ft_vec_release(&x->makers);
    ft_x_rest_release(&x->rest);
}

/* Others go on where the search at hand is not at its end, and the job has time for that. */
static ft_status conclude(ft_exploring *x, json_t **plan, ft_error *err)
{
    bool shared = is_shared(x) && !x->open && !x->proof && ft_exploring_hands_back(x);
    if (!shared) {
        if (x->anew) x->left_aside = true;
        ft_status status = ft_exploring_conclude(x, plan, err);
        if (status == FT_OK) ft_exploring_sum_up(x, *plan);
        return status;
    }
    *plan = ft_exploring_found(x, true);
    ft_exploring_hand_back(x, &x->rest.open, NULL, *plan);
    return FT_OK;
}

ft_status ft_exploring_plan(const ft_program *program, const json_t *spec, ft_exploring_share share,
                            const ft_exploring_progress *progress, json_t **plan, ft_error *err)
{
    FT_REQUIRE(program && spec && plan);
    ft_exploring x = {.program = program, .progress = progress, .share = share};
    ft_status status = ft_exploring_begin(&x, spec, err);
    bool proved = status == FT_OK && ft_exploring_prove(&x);
    double soft = ft_exploring_now() - x.began + share.soft_ms / 1e3;
    if (is_shared(&x) && soft < x.seconds)
        x.seconds = soft;
    else
        x.share.soft_ms = 0;
    x.may_go_alone = x.share.soft_ms;
    if (status == FT_OK && !proved) status = explore(&x, err);
    if (status == FT_OK) status = conclude(&x, plan, err);
    ft_exploring_release(&x);
    return status;
}

json_t *ft_explored_meta(const ft_program *program, const char *hash)
{
    size_t instructions = 0;
    char name[FT_DIGEST_HEX + 1];
    json_t *inputs = json_array();
    for (size_t i = 0; i < program->functions.len; i++) {
        const ft_function *f = &program->functions.data[i];
        instructions += f->instructions.len;
        for (size_t k = 0; k < f->instructions.len; k++)
            if (f->instructions.data[k].code == FT_CODE_INPUT)
                ft_exploring_add_name(inputs, program->texts.names[f->instructions.data[k].extra]);
    }
    ft_program_hash(program, name);
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:o}", "trace", hash, "format", "program",
                     "program", name, "functions", (json_int_t)program->functions.len,
                     "instructions", (json_int_t)instructions, "objects",
                     (json_int_t)program->objects.len, "inputs", inputs);
}
