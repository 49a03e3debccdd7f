#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory.h"
#include "context/request.h"
#include "program/binary.h"
#include "program/interpret/interpreter.h"

enum { MOST_STEPS = 2000, THREADS = FT_INTERPRETER_THREADS };

/* ---- the program with a stop before each place ---- */

/* A run stops before visible instructions alone; so a `yield` stands before each place. */
typedef struct stops {
    ft_program *program;
    ft_context_point at[FT_CONTEXT_THREADS][FT_CONTEXT_POINTS];
    ft_context_point calls[FT_CONTEXT_THREADS][FT_CONTEXT_POINTS];
} stops;

static bool is_place(const ft_context_options *o, uint32_t f, uint32_t i)
{
    for (uint32_t t = 0; t < o->n; t++)
        for (uint32_t p = 0; p < o->threads[t].n; p++)
            if (o->threads[t].points[p].function == f && o->threads[t].points[p].instruction == i)
                return o->threads[t].reading == FT_CONTEXT_BEFORE;
    return false;
}

/* The instruction is `now`; a stop stands before it where one was added. */
static void note_place(stops *s, const ft_context_options *o, uint32_t f, uint32_t i, uint32_t now,
                       bool added)
{
    for (uint32_t t = 0; t < o->n; t++)
        for (uint32_t p = 0; p < o->threads[t].n; p++) {
            if (o->threads[t].points[p].function == f && o->threads[t].points[p].instruction == i)
                s->at[t][p] = (ft_context_point){f, now - added};
            if (o->threads[t].calls[p].function == f && o->threads[t].calls[p].instruction == i)
                s->calls[t][p] = (ft_context_point){f, now};
        }
}

static void add_stops(stops *s, const ft_context_options *o, uint32_t f)
{
    ft_function *function = &s->program->functions.data[f];
    FT_VEC(ft_instruction) all = {0};
    ft_instruction stop = {.code = FT_CODE_YIELD, .result = FT_NO_REGISTER};
    for (uint32_t b = 0; b < function->blocks.len; b++) {
        ft_block *block = &function->blocks.data[b];
        uint32_t first = (uint32_t)all.len;
        for (uint32_t i = 0; i < block->n_instructions; i++) {
            uint32_t number = block->instructions + i;
            const ft_instruction *in = &function->instructions.data[number];
            stop.position = in->position;
            bool stands = ft_instruction_row_of((ft_code)in->code)->effect == FT_EFFECT_VISIBLE;
            bool added = is_place(o, f, number) && !stands;
            if (added) ft_vec_push(&all, stop);
            note_place(s, o, f, number, (uint32_t)all.len, added);
            ft_vec_push(&all, *in);
        }
        block->instructions = first;
        block->n_instructions = (uint32_t)all.len - first;
    }
    ft_vec_release(&function->instructions);
    function->instructions.data = all.data;
    function->instructions.len = all.len;
    function->instructions.cap = all.cap;
}

/* ---- random runs ---- */

typedef struct seeking {
    const ft_context_options *options;
    const stops *stops;
    ft_context_replay *found;
    uint64_t random;
} seeking;

static uint64_t draw(seeking *s, uint64_t bound)
{
    s->random ^= s->random >> 12;
    s->random ^= s->random << 25;
    s->random ^= s->random >> 27;
    return (s->random * UINT64_C(0x2545f4914f6cdd1d) >> 33) % bound;
}

/* Small numbers mostly: loops that they bound end soon. */
static bool give_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    seeking *s = context;
    uint64_t kind = draw(s, 8);
    *value = kind < 6 ? draw(s, 5) : kind == 6 ? draw(s, UINT64_C(1) << 31) : UINT64_MAX;
    *value &= ft_width_mask(width);
    ft_vec_push(&s->found->inputs, *value);
    ft_vec_push(&s->found->names, name);
    return true;
}

static bool leads_through(const seeking *s, const ft_interpreter *m, uint32_t thread,
                          ft_context_point call)
{
    ft_interpreter_place stack[64];
    uint32_t n = ft_interpreter_stack(m, thread, stack, 64);
    for (uint32_t i = 0; i < n && i < 64; i++)
        if (s->stops->program->symbols.data[stack[i].function].index == call.function &&
            stack[i].instruction == call.instruction)
            return true;
    return false;
}

static bool stands_at(const seeking *s, const ft_interpreter *m, uint32_t thread, uint32_t t)
{
    ft_interpreter_operation op;
    uint64_t variants[THREADS];
    const ft_program *p = s->stops->program;
    const ft_context_thread *named = &s->options->threads[t];
    if (!ft_interpreter_stands_before(m, thread, &op) || op.code == FT_CODE_FAIL) return false;
    bool can = ft_interpreter_choices(m, thread, variants) > 0;
    bool barrier = op.code == FT_CODE_BARRIER_WAIT;
    uint8_t reading = FT_CONTEXT_BEFORE;
    if (op.second) reading = op.waits || (barrier && !can) ? FT_CONTEXT_WAITING : FT_CONTEXT_WOKEN;
    if (!op.second && !can && named->reading == FT_CONTEXT_WAITING) reading = FT_CONTEXT_WAITING;
    if (reading != named->reading) return false;
    for (uint32_t k = 0; k < named->n; k++)
        if (p->symbols.data[op.place.function].index == s->stops->at[t][k].function &&
            op.place.instruction == s->stops->at[t][k].instruction &&
            (named->calls[k].function == FT_NO_CALL ||
             leads_through(s, m, thread, s->stops->calls[t][k])))
            return true;
    return false;
}

/* Gives the named threads, from t on, threads of the run; those in `taken` are given. */
static bool assign(const seeking *s, const ft_interpreter *m, uint32_t t, uint64_t taken)
{
    ft_interpreter_operation op;
    uint32_t n = ft_interpreter_thread_count(m);
    if (t == s->options->n) {
        for (uint32_t i = 0; i < n && !s->options->others; i++)
            if (!(taken >> i & 1) && ft_interpreter_stands_before(m, i, &op)) return false;
        return true;
    }
    for (uint32_t i = 0; i < n && i < THREADS; i++)
        if (!(taken >> i & 1) && stands_at(s, m, i, t) &&
            assign(s, m, t + 1, taken | UINT64_C(1) << i))
            return true;
    return false;
}

/* A thread that stands at a place mostly waits for the others. */
static bool is_there(const seeking *s, const ft_interpreter *m, uint32_t thread)
{
    for (uint32_t t = 0; t < s->options->n; t++)
        if (stands_at(s, m, thread, t)) return true;
    return false;
}

static bool step(seeking *s, ft_interpreter *m)
{
    uint64_t variants[THREADS];
    uint32_t able[THREADS], n = 0, leaving[THREADS], k = 0;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m) && t < THREADS; t++) {
        if (!ft_interpreter_choices(m, t, variants)) continue;
        if (is_there(s, m, t))
            leaving[k++] = t;
        else
            able[n++] = t;
    }
    if (!n || (k && draw(s, 10) == 0)) memcpy(able, leaving, (n = k) * sizeof *able);
    if (!n) return false;
    uint32_t t = able[draw(s, n)];
    uint64_t variant = variants[draw(s, ft_interpreter_choices(m, t, variants))];
    ft_vec_push(&s->found->steps, t);
    ft_vec_push(&s->found->steps, variant);
    return ft_interpreter_step(m, t, variant) == FT_INTERPRETER_GOING;
}

static bool run_once(seeking *s)
{
    bool there = false, on = true;
    ft_interpreter_options options = {.input = give_input, .context = s, .max_steps = 100000};
    s->found->steps.len = s->found->inputs.len = s->found->names.len = 0;
    ft_interpreter *m = ft_interpreter_new(s->stops->program, &options);
    for (uint32_t i = 0; i < MOST_STEPS && on && !there; i++) {
        there = assign(s, m, 0, 0);
        if (!there) on = step(s, m);
    }
    if (!on && ft_interpreter_state_of(m) == FT_INTERPRETER_FAILED &&
        ft_interpreter_error_of(m)->kind == FT_ERROR_DEADLOCK)
        there = assign(s, m, 0, 0); /* threads that wait forever stand there */
    ft_interpreter_free(m);
    return there;
}

static bool should_stop(const ft_context_options *o)
{
    return o->should_stop && o->should_stop(o->context);
}

bool ft_context_find(const ft_program *program, const ft_context_options *options, uint64_t runs,
                     ft_context_replay *found)
{
    ft_strbuf text = {0};
    ft_error err = FT_ERROR_INIT;
    stops s = {0};
    bool there = false;
    ft_program_write_binary(program, &text); /* a copy that may be changed */
    ft_status status = ft_program_read_binary(text.text, text.len, &s.program, &err);
    ft_strbuf_release(&text);
    *found = (ft_context_replay){0};
    if (status != FT_OK) return false;
    for (uint32_t f = 0; f < s.program->functions.len; f++) add_stops(&s, options, f);
    seeking k = {options, &s, found, UINT64_C(0x9e3779b97f4a7c15)};
    while (!there && found->runs < runs && !should_stop(options)) {
        found->runs++;
        there = run_once(&k);
    }
    for (size_t i = 0; i < found->names.len; i++) {
        uint32_t name = ft_intern_find(&program->texts, found->names.data[i],
                                       (uint32_t)strlen(found->names.data[i]));
        found->names.data[i] = name == FT_NO_ID ? "" : program->texts.names[name];
    }
    ft_program_free(s.program);
    return there;
}

void ft_context_replay_release(ft_context_replay *replay)
{
    ft_vec_release(&replay->steps);
    ft_vec_release(&replay->inputs);
    ft_vec_release(&replay->names);
}
