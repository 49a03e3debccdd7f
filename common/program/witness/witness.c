#include "program/witness/witness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/binary.h"
#include "program/witness/internal.h"

void ft_execution_release(ft_execution *execution)
{
    for (size_t i = 0; i < execution->inputs.len; i++) free(execution->inputs.data[i].name);
    ft_vec_release(&execution->inputs);
    ft_vec_release(&execution->schedule);
    ft_vec_release(&execution->points);
}

/* ---- points ---- */

ft_program *ft_program_numbered(const ft_program *program)
{
    ft_error err = FT_ERROR_INIT;
    ft_strbuf bytes = {0};
    ft_program *copy = NULL;
    ft_program_write_binary(program, &bytes);
    ft_status status = ft_program_read_binary(bytes.text, bytes.len, &copy, &err);
    ft_strbuf_release(&bytes);
    assert(status == FT_OK && copy); /* what is written reads back */
    (void)status;
    return copy;
}

static const ft_instruction *instruction_at(const ft_program *p, ft_interpreter_place place)
{
    const ft_function *f =
        place.function < p->symbols.len ? ft_program_function(p, place.function) : NULL;
    bool there = f && place.instruction < f->instructions.len;
    return there ? &f->instructions.data[place.instruction] : NULL;
}

bool ft_instruction_is_range(const ft_instruction *instruction)
{
    return instruction->code == FT_CODE_COPY || instruction->code == FT_CODE_MOVE ||
           instruction->code == FT_CODE_FILL;
}

bool ft_program_can_be_point(const ft_program *program, ft_interpreter_place place, bool section)
{
    const ft_instruction *in = instruction_at(program, place);
    bool access = in && (in->code == FT_CODE_LOAD || in->code == FT_CODE_STORE);
    if (in && section && ft_instruction_is_range(in)) return true;
    return access && (in->width == 8 || in->width == 16 || in->width == 32 || in->width == 64);
}

static int by_place(ft_interpreter_place a, ft_interpreter_place b)
{
    if (a.function != b.function) return a.function < b.function ? -1 : 1;
    return (a.instruction > b.instruction) - (a.instruction < b.instruction);
}

bool ft_points_add(ft_points *points, ft_point point)
{
    size_t at = 0;
    while (at < points->len && by_place(points->data[at].place, point.place) < 0) at++;
    if (at < points->len && by_place(points->data[at].place, point.place) == 0) {
        bool more = point.section && !points->data[at].section;
        points->data[at].section |= point.section;
        return more;
    }
    ft_vec_push(points, point);
    for (size_t i = points->len - 1; i > at; i--) points->data[i] = points->data[i - 1];
    points->data[at] = point;
    return true;
}

static const ft_point *point_at(const ft_points *points, ft_interpreter_place place)
{
    for (size_t i = 0; i < points->len; i++)
        if (by_place(points->data[i].place, place) == 0) return &points->data[i];
    return NULL;
}

bool ft_points_original(const ft_points *points, ft_interpreter_place *place)
{
    uint32_t added = 0;
    for (size_t i = 0; i < points->len; i++) {
        const ft_point *p = &points->data[i];
        if (p->place.function != place->function || !p->section) continue;
        uint32_t begin = p->place.instruction + added; /* of its section */
        if (place->instruction < begin) break;
        if (place->instruction == begin || place->instruction == begin + 2) return false;
        added += 2;
        if (place->instruction == begin + 1) {
            place->instruction = p->place.instruction;
            return true;
        }
    }
    place->instruction -= added;
    return true;
}

static void set_relaxed(ft_instruction *in)
{
    in->code = in->code == FT_CODE_LOAD ? FT_CODE_ATOMIC_LOAD : FT_CODE_ATOMIC_STORE;
    in->attribute = FT_ORDER_RELAXED;
}

static void put(ft_function *f, ft_instruction in)
{
    ft_vec_push(&f->instructions, in);
}

/* Puts a section around the access. */
static void put_section(ft_function *f, const ft_instruction *access)
{
    ft_instruction begin = {.code = FT_CODE_ATOMIC_BEGIN,
                            .result = FT_NO_REGISTER,
                            .position = access->position},
                   end = begin;
    end.code = FT_CODE_ATOMIC_END;
    put(f, begin);
    put(f, *access);
    put(f, end);
}

/* Makes the instructions of the function anew, block by block. */
static void add_points(ft_function *f, const ft_points *points)
{
    ft_function old = *f;
    f->instructions.data = NULL;
    f->instructions.len = f->instructions.cap = 0;
    for (size_t b = 0; b < f->blocks.len; b++) {
        ft_block *block = &f->blocks.data[b];
        uint32_t first = block->instructions, n = block->n_instructions;
        block->instructions = (uint32_t)f->instructions.len;
        for (uint32_t i = first; i < first + n; i++) {
            ft_instruction in = old.instructions.data[i];
            const ft_point *p = point_at(points, (ft_interpreter_place){f->symbol, i});
            if (p && !p->section) set_relaxed(&in);
            if (p && p->section)
                put_section(f, &in);
            else
                put(f, in);
        }
        block->n_instructions = (uint32_t)f->instructions.len - block->instructions;
    }
    ft_vec_release(&old.instructions);
}

ft_program *ft_program_with_points(const ft_program *numbered, const ft_points *points)
{
    ft_program *p = ft_program_numbered(numbered);
    for (size_t i = 0; i < p->functions.len; i++)
        for (size_t k = 0; k < points->len; k++)
            if (points->data[k].place.function == p->functions.data[i].symbol) {
                add_points(&p->functions.data[i], points);
                break;
            }
    return p;
}

/* ---- following ---- */

/* The next input; a witness that has too few of them gives zeros and does not hold. */
static bool next_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    ft_followed *f = context;
    if (f->inputs == f->execution->inputs.len) return f->strayed = true, false;
    const ft_input_value *input = &f->execution->inputs.data[f->inputs++];
    ft_vec_push(&f->readers, f->thread);
    if (strcmp(input->name, name) != 0) f->strayed = true;
    *value = input->value & ft_width_mask(width);
    return true;
}

void ft_followed_begin(ft_followed *f, const ft_program *numbered, const ft_execution *execution,
                       void (*access)(void *context, const ft_interpreter_access *access))
{
    *f = (ft_followed){.execution = execution,
                       .program = ft_program_with_points(numbered, &execution->points)};
    ft_interpreter_options options = {
        .races = true, .input = next_input, .access = access, .context = f};
    f->m = ft_interpreter_new(f->program, &options);
    f->made[0] = true;
}

void ft_followed_release(ft_followed *f)
{
    ft_interpreter_free(f->m);
    ft_program_free(f->program);
    ft_vec_release(&f->readers);
}

static bool creates(const ft_followed *f, const ft_schedule_step *s)
{
    ft_interpreter_operation o;
    return ft_interpreter_stands_before(f->m, s->thread, &o) && o.code == FT_CODE_CREATE;
}

/* A variant of `create` that is the number of no thread yet. */
static bool new_thread(const ft_followed *f, const ft_schedule_step *s)
{
    return s->variant && s->variant <= FT_INTERPRETER_THREADS && !f->made[s->variant - 1] &&
           creates(f, s);
}

static void note_new(ft_followed *f, const ft_schedule_step *s)
{
    uint64_t n = s->variant ? s->variant - 1 : ft_interpreter_thread_count(f->m);
    if (creates(f, s) && n < FT_INTERPRETER_THREADS) f->made[n] = true;
}

ft_status ft_followed_step(ft_followed *f, size_t step, ft_error *err)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    const ft_schedule_step *s = &f->execution->schedule.data[step];
    if (ft_interpreter_state_of(f->m) != FT_INTERPRETER_GOING)
        return ft_error_set(err, FT_INPUT, "the execution has ended before step %zu", step + 1);
    if (s->thread >= ft_interpreter_thread_count(f->m))
        return ft_error_set(err, FT_INPUT, "there is no thread %" PRIu32 " at step %zu", s->thread,
                            step + 1);
    uint32_t n = ft_interpreter_choices(f->m, s->thread, variants);
    bool possible = n && new_thread(f, s);
    for (uint32_t i = 0; i < n; i++) possible |= variants[i] == s->variant;
    if (!possible)
        return ft_error_set(err, FT_INPUT, "thread %" PRIu32 " cannot go on so at step %zu",
                            s->thread, step + 1);
    note_new(f, s);
    f->thread = s->thread;
    ft_interpreter_step(f->m, s->thread, s->variant);
    return FT_OK;
}

bool ft_followed_stands_still(ft_program_error error)
{
    return error == FT_ERROR_DEADLOCK || error == FT_ERROR_LIVE_LOCK;
}

/* What the claim wants beyond the kind of the error: the thread, but where no single thread has
 * it. */
static bool is_claimed(const ft_execution *x, const ft_interpreter_error *e)
{
    return x->error == e->kind && (ft_followed_stands_still(e->kind) || x->thread == e->thread);
}

ft_status ft_followed_end(const ft_followed *f, ft_error *err)
{
    const ft_execution *x = f->execution;
    ft_interpreter_state state = x->error == FT_ERROR_LIVE_LOCK ? ft_interpreter_settle(f->m)
                                                                : ft_interpreter_state_of(f->m);
    const ft_interpreter_error *e = ft_interpreter_error_of(f->m);
    if (f->strayed || f->inputs != x->inputs.len)
        return ft_error_set(err, FT_INPUT, "the program reads other inputs than the witness has");
    if (x->error != FT_ERROR_NONE && state == FT_INTERPRETER_FAILED && is_claimed(x, e))
        return FT_OK;
    if (x->error == FT_ERROR_NONE && state == FT_INTERPRETER_EXITED &&
        ft_interpreter_exit_code(f->m) == x->exit_code)
        return FT_OK;
    return ft_error_set(err, FT_INPUT, "the schedule ends differently: %s%s%s",
                        ft_interpreter_state_name(state),
                        state == FT_INTERPRETER_FAILED ? " by " : "",
                        state == FT_INTERPRETER_FAILED ? ft_program_error_name(e->kind) : "");
}

ft_status ft_execution_check(const ft_program *numbered, const ft_execution *execution,
                             ft_error *err)
{
    ft_followed f;
    ft_status status = FT_OK;
    ft_followed_begin(&f, numbered, execution, NULL);
    for (size_t i = 0; i < execution->schedule.len && status == FT_OK; i++)
        status = ft_followed_step(&f, i, err);
    if (status == FT_OK) status = ft_followed_end(&f, err);
    ft_followed_release(&f);
    return status;
}
