#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/endless.h"
#include "program/interpret/internal.h"
#include "program/loops.h"

/* ---- operands and results ---- */

static frame *top(const ft_interpreter *m, uint32_t t)
{
    const interpreted_thread *th = &m->threads.data[t];
    assert(th->frames.len);
    return &th->frames.data[th->frames.len - 1];
}

static word *registers(const ft_interpreter *m, uint32_t t)
{
    return m->threads.data[t].values.data + top(m, t)->registers;
}

word ft_run_address_of(const ft_interpreter *m, uint32_t t, uint32_t symbol)
{
    const ft_program_symbol *s = &m->program->symbols.data[symbol];
    if (s->kind == FT_FUNCTION) return (word){m->function_base[symbol], 0};
    bool own = m->program->objects.data[s->index].by_thread;
    uint32_t number = own ? m->threads.data[t].own[s->index] : m->globals[s->index] + 1;
    return (word){m->objects.data[number - 1].base, number};
}

static word content(const ft_interpreter *m, uint32_t t, const ft_operand *o)
{
    switch ((ft_operand_kind)o->kind) {
    case FT_OPERAND_REGISTER:
        return registers(m, t)[o->index];
    case FT_OPERAND_LITERAL:
        return (word){o->value, 0};
    case FT_OPERAND_ADDRESS:
        break;
    }
    word base = ft_run_address_of(m, t, o->index);
    return (word){base.bits + o->value, base.object};
}

word ft_run_operand(const ft_interpreter *m, uint32_t t, const ft_instruction *in, uint32_t i)
{
    FT_REQUIRE(i < in->n_operands);
    return content(m, t, &top(m, t)->function->operands.data[in->operands + i]);
}

void ft_run_result(ft_interpreter *m, uint32_t t, const ft_instruction *in, uint64_t bits,
                   uint32_t object)
{
    if (in->result == FT_NO_REGISTER) return;
    uint8_t width = top(m, t)->function->registers.data[in->result].width;
    registers(m, t)[in->result] = (word){bits & ft_width_mask(width), object};
}

/* ---- calls ---- */

bool ft_run_thread_objects(ft_interpreter *m, uint32_t t)
{
    const ft_program *p = m->program;
    m->threads.data[t].own = ft_calloc(p->objects.len + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < p->objects.len; i++) {
        const ft_object *o = &p->objects.data[i];
        if (!o->by_thread) continue;
        if (!ft_memory_fits(m, t, o->size)) return false;
        uint32_t number = ft_memory_new(m, &m->threads.data[t].next_base, o->size, o->align);
        ft_interpreter_fill_object(m, number, o);
        m->threads.data[t].own[i] = number + 1;
    }
    return true;
}

void ft_run_call(ft_interpreter *m, uint32_t t, const ft_function *f, const word *arguments,
                 uint32_t n, uint64_t once)
{
    interpreted_thread *th = &m->threads.data[t];
    const ft_block *entry = &f->blocks.data[0];
    FT_REQUIRE(n == entry->n_parameters);
    size_t base = th->values.len, need = base + f->registers.len;
    ft_vec_reserve(&th->values, need);
    if (f->registers.len) memset(th->values.data + base, 0, f->registers.len * sizeof(word));
    th->values.len = need;
    for (uint32_t i = 0; i < n; i++) th->values.data[base + entry->parameters + i] = arguments[i];
    ft_vec_push(&th->frames,
                (frame){f, entry->instructions, (uint32_t)base, (uint32_t)th->stack.len, once});
}

const ft_function *ft_run_function_at(ft_interpreter *m, uint32_t t, word address, uint8_t result,
                                      const uint8_t *widths, uint32_t n)
{
    uint64_t symbol;
    const ft_function *f = NULL;
    if (ft_map_get(&m->functions, address.bits, &symbol))
        f = ft_program_function(m->program, (uint32_t)symbol);
    bool fits = f && f->result == result && f->blocks.data[0].n_parameters == n;
    for (uint32_t i = 0; fits && i < n; i++)
        fits = f->registers.data[f->blocks.data[0].parameters + i].width == widths[i];
    if (fits) return f;
    ft_interpreter_fail(m, t, FT_ERROR_BAD_CALL, "%s at 0x%" PRIx64,
                        f ? "a function with other parameters or another result is"
                          : "no function is",
                        address.bits);
    return NULL;
}

/* Frees the stack objects that the frame made. */
static void free_stack(ft_interpreter *m, uint32_t t, uint32_t keep)
{
    interpreted_thread *th = &m->threads.data[t];
    while (th->stack.len > keep) {
        memory_object *o = &m->objects.data[th->stack.data[--th->stack.len]];
        m->bytes -= o->size;
        o->freed = true;
        ft_memory_release(o);
    }
}

static bool end_thread(ft_interpreter *m, uint32_t t, word result)
{
    interpreted_thread *th = &m->threads.data[t];
    if (m->section == t + 1)
        return ft_interpreter_fail(m, t, FT_ERROR_MISUSE,
                                   "the thread ends within an atomic section");
    free_stack(m, t, 0);
    th->frames.len = 0;
    th->values.len = 0;
    th->result = result;
    th->ended = true;
    return true;
}

static bool leave_main(ft_interpreter *m, uint32_t t, word result)
{
    m->threads.data[t].returned = true;
    m->threads.data[t].exit_code = (int32_t)result.bits;
    return true;
}

/* ---- handlers: false: the thread does not go on ---- */

typedef bool handler(ft_interpreter *m, uint32_t t, const ft_instruction *in);

static bool go_on(ft_interpreter *m, uint32_t t)
{
    top(m, t)->at++;
    return true;
}

static bool arithmetic_fails(ft_interpreter *m, uint32_t t, ft_program_error error)
{
    return ft_interpreter_fail(m, t, error, "%s", ft_program_error_meaning(error));
}

uint32_t ft_run_object_of(ft_code code, word a, word b)
{
    bool keeps =
        code == FT_CODE_ADD || code == FT_CODE_SUB || code == FT_CODE_AND || code == FT_CODE_OR;
    return !keeps || (a.object && b.object) ? 0 : a.object + b.object;
}

static bool binary(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    word a = ft_run_operand(m, t, in, 0), b = ft_run_operand(m, t, in, 1);
    uint64_t r = 0;
    ft_program_error error = ft_value_binary(in->code, in->width, a.bits, b.bits, &r);
    if (error != FT_ERROR_NONE) return arithmetic_fails(m, t, error);
    ft_run_result(m, t, in, r, in->width == 64 ? ft_run_object_of(in->code, a, b) : 0);
    return go_on(m, t);
}

static bool unary(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    uint8_t from = top(m, t)->function->operands.data[in->operands].width;
    uint64_t r = 0;
    ft_program_error error =
        ft_value_unary(in->code, from, in->width, ft_run_operand(m, t, in, 0).bits, &r);
    if (error != FT_ERROR_NONE) return arithmetic_fails(m, t, error);
    ft_run_result(m, t, in, r, 0);
    return go_on(m, t);
}

static bool choose(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    word v = ft_run_operand(m, t, in, ft_run_operand(m, t, in, 0).bits ? 1 : 2);
    ft_run_result(m, t, in, v.bits, v.object);
    return go_on(m, t);
}

static bool make_object(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    interpreted_thread *th = &m->threads.data[t];
    uint64_t size = ft_run_operand(m, t, in, 0).bits;
    bool heap = in->code == FT_CODE_ALLOC;
    if (!ft_memory_fits(m, t, size)) return false;
    uint32_t number =
        ft_memory_new(m, &th->next_base, size, heap ? 16 : UINT64_C(1) << in->attribute);
    m->objects.data[number].heap = heap;
    m->objects.data[number].stack_of = heap ? 0 : t + 1;
    th->changes += heap;
    if (!heap) ft_vec_push(&th->stack, number);
    ft_run_result(m, t, in, m->objects.data[number].base, number + 1);
    return go_on(m, t);
}

static bool load(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    word v;
    if (!ft_memory_load(m, t, ft_run_operand(m, t, in, 0), in->width, &v)) return false;
    ft_run_result(m, t, in, v.bits, v.object);
    return go_on(m, t);
}

static bool store(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    word v = ft_run_operand(m, t, in, 0);
    return ft_memory_store(m, t, ft_run_operand(m, t, in, 1), in->width, v) && go_on(m, t);
}

static bool copy(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    word to = ft_run_operand(m, t, in, 0), from = ft_run_operand(m, t, in, 1);
    uint64_t n = ft_run_operand(m, t, in, 2).bits;
    return ft_memory_copy(m, t, to, from, n, in->code == FT_CODE_MOVE) && go_on(m, t);
}

static bool fill(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    uint8_t byte = (uint8_t)ft_run_operand(m, t, in, 1).bits;
    uint64_t n = ft_run_operand(m, t, in, 2).bits;
    return ft_memory_fill(m, t, ft_run_operand(m, t, in, 0), byte, n) && go_on(m, t);
}

static bool free_object(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    return ft_memory_free(m, t, ft_run_operand(m, t, in, 0)) && go_on(m, t);
}

static bool size(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    uint64_t bytes;
    if (!ft_memory_size(m, t, ft_run_operand(m, t, in, 0), &bytes)) return false;
    ft_run_result(m, t, in, bytes, 0);
    return go_on(m, t);
}

/* ---- control ---- */

/* What the cells of a loop hold when the thread leaves it. */
static void note_cells(ft_interpreter *m, uint32_t t, const ft_loop *l)
{
    for (uint32_t i = l->cells; i < l->cells + l->n_cells; i++) {
        const ft_loop_cell *c = &m->options.loops->cells.data[i];
        uint64_t bits = 0;
        if (c->reg != FT_NO_REGISTER)
            bits = registers(m, t)[c->reg].bits;
        else
            (void)ft_interpreter_read(m, content(m, t, &c->base).bits, (c->width + 7u) / 8, &bits);
        ft_vec_push(&m->inputs,
                    ((input_read){t, FT_LOOP_NAME | i, bits & ft_width_mask(c->width)}));
    }
}

/* Parameters get their arguments at once: one may be another's. */
static bool enter(ft_interpreter *m, uint32_t t, const ft_target *target)
{
    frame *f = top(m, t);
    const ft_loop *loop =
        ft_loop_left(m->options.loops, (uint32_t)(f->function - m->program->functions.data),
                     (uint32_t)(target - f->function->targets.data));
    if (loop) note_cells(m, t, loop);
    const ft_block *block = &f->function->blocks.data[target->block];
    word few[8], *v = target->n_operands > 8 ? ft_alloc(target->n_operands * sizeof *v) : few;
    for (uint32_t i = 0; i < target->n_operands; i++)
        v[i] = content(m, t, &f->function->operands.data[target->operands + i]);
    if (target->n_operands)
        memcpy(registers(m, t) + block->parameters, v, target->n_operands * sizeof *v);
    if (v != few) free(v);
    f->at = block->instructions;
    return true;
}

static const ft_target *targets(const ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    return &top(m, t)->function->targets.data[in->targets];
}

static bool jump(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    return enter(m, t, targets(m, t, in));
}

static bool branch(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    return enter(m, t, targets(m, t, in) + (ft_run_operand(m, t, in, 0).bits ? 0 : 1));
}

static bool choose_case(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    uint64_t v = ft_run_operand(m, t, in, 0).bits;
    const ft_target *all = targets(m, t, in);
    uint32_t i = 1;
    while (i < in->n_targets && all[i].value != v) i++;
    return enter(m, t, &all[i < in->n_targets ? i : 0]);
}

static bool return_once(ft_interpreter *m, uint32_t t, uint64_t flag)
{
    m->threads.data[t].finishes = flag;
    return false;
}

static bool give_back(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    interpreted_thread *th = &m->threads.data[t];
    word v = in->n_operands ? ft_run_operand(m, t, in, 0) : (word){0, 0};
    frame left = *top(m, t);
    if (th->frames.len == 1) return t ? (end_thread(m, t, v), false) : (leave_main(m, t, v), false);
    free_stack(m, t, left.objects);
    th->values.len = left.registers;
    th->frames.len--;
    if (left.once) return return_once(m, t, left.once);
    ft_run_result(m, t, ft_interpreter_instruction(m, t), v.bits, v.object);
    return go_on(m, t);
}

static bool unreachable(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    (void)in;
    return arithmetic_fails(m, t, FT_ERROR_UNREACHABLE);
}

enum { MOST_ARGUMENTS = 255, MOST_FRAMES = 100000 };

static bool call_with(ft_interpreter *m, uint32_t t, const ft_function *f, const ft_instruction *in,
                      uint32_t skip)
{
    word v[MOST_ARGUMENTS];
    uint32_t n = in->n_operands - skip;
    if (n > MOST_ARGUMENTS || m->threads.data[t].frames.len >= MOST_FRAMES)
        return ft_interpreter_fail(m, t, FT_ERROR_LIMIT, "more than %d arguments, or %d calls deep",
                                   MOST_ARGUMENTS, MOST_FRAMES);
    for (uint32_t i = 0; i < n; i++) v[i] = ft_run_operand(m, t, in, i + skip);
    ft_run_call(m, t, f, v, n, 0);
    return true;
}

static bool call(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    return call_with(m, t, ft_program_function(m->program, in->extra), in, 0);
}

static bool call_at(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    uint8_t widths[MOST_ARGUMENTS];
    const ft_operand *o = &top(m, t)->function->operands.data[in->operands];
    uint32_t n = in->n_operands - 1;
    for (uint32_t i = 0; i < n && i < MOST_ARGUMENTS; i++) widths[i] = o[i + 1].width;
    if (n > MOST_ARGUMENTS) return call_with(m, t, NULL, in, 1);
    const ft_function *f =
        ft_run_function_at(m, t, ft_run_operand(m, t, in, 0), in->width, widths, n);
    return f && call_with(m, t, f, in, 1);
}

/* ---- threads and the world ---- */

static bool self(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    ft_run_result(m, t, in, t, 0);
    return go_on(m, t);
}

static bool end(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    end_thread(m, t, ft_run_operand(m, t, in, 0));
    return false;
}

static bool end_section(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    (void)in;
    if (m->section != t + 1)
        return ft_interpreter_fail(m, t, FT_ERROR_MISUSE, "the thread is not in an atomic section");
    m->section = 0;
    ft_race_join(&ft_race_release_at(m, 0)->clock, &m->threads.data[t].clock);
    ft_race_tick(m, t);
    return go_on(m, t);
}

static bool input(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    m->threads.data[t].changes++;
    uint64_t bits = 0;
    const char *name = m->program->texts.names[in->extra];
    if (m->options.input && !m->options.input(m->options.context, name, in->width, &bits)) bits = 0;
    ft_vec_push(&m->inputs, (input_read){t, in->extra, bits & ft_width_mask(in->width)});
    ft_run_result(m, t, in, bits, 0);
    return go_on(m, t);
}

static bool assume(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    if (ft_run_operand(m, t, in, 0).bits) return go_on(m, t);
    m->threads.data[t].stands = true;
    return false;
}

static bool fail(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    return ft_interpreter_fail(m, t, FT_ERROR_ASSERTION, "%s", m->program->texts.names[in->extra]);
}

static bool check(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    return ft_run_operand(m, t, in, 0).bits ? go_on(m, t) : fail(m, t, in);
}

static bool output(ft_interpreter *m, uint32_t t, const ft_instruction *in)
{
    uint64_t offset, n = ft_run_operand(m, t, in, 2).bits;
    memory_object *o = ft_memory_at(m, t, ft_run_operand(m, t, in, 1), n, &offset);
    if (!o || (m->options.races && !ft_race_access(m, t, o, offset, n, PLAIN_READ))) return false;
    int32_t descriptor = (int32_t)ft_run_operand(m, t, in, 0).bits;
    if (m->options.output) m->options.output(m->options.context, descriptor, o->bytes + offset, n);
    return go_on(m, t);
}

static handler *const HANDLERS[FT_CODES] = {
    [FT_CODE_ADD] = binary,
    [FT_CODE_SUB] = binary,
    [FT_CODE_MUL] = binary,
    [FT_CODE_UDIV] = binary,
    [FT_CODE_SDIV] = binary,
    [FT_CODE_UREM] = binary,
    [FT_CODE_SREM] = binary,
    [FT_CODE_AND] = binary,
    [FT_CODE_OR] = binary,
    [FT_CODE_XOR] = binary,
    [FT_CODE_SHL] = binary,
    [FT_CODE_LSHR] = binary,
    [FT_CODE_ASHR] = binary,
    [FT_CODE_EQ] = binary,
    [FT_CODE_NE] = binary,
    [FT_CODE_ULT] = binary,
    [FT_CODE_ULE] = binary,
    [FT_CODE_SLT] = binary,
    [FT_CODE_SLE] = binary,
    [FT_CODE_SELECT] = choose,
    [FT_CODE_ZEXT] = unary,
    [FT_CODE_SEXT] = unary,
    [FT_CODE_TRUNC] = unary,
    [FT_CODE_FADD] = binary,
    [FT_CODE_FSUB] = binary,
    [FT_CODE_FMUL] = binary,
    [FT_CODE_FDIV] = binary,
    [FT_CODE_FREM] = binary,
    [FT_CODE_FEQ] = binary,
    [FT_CODE_FLT] = binary,
    [FT_CODE_FLE] = binary,
    [FT_CODE_FNAN] = binary,
    [FT_CODE_FTOS] = unary,
    [FT_CODE_FTOU] = unary,
    [FT_CODE_STOF] = unary,
    [FT_CODE_UTOF] = unary,
    [FT_CODE_FTOF] = unary,
    [FT_CODE_STACK] = make_object,
    [FT_CODE_LOAD] = load,
    [FT_CODE_STORE] = store,
    [FT_CODE_COPY] = copy,
    [FT_CODE_MOVE] = copy,
    [FT_CODE_FILL] = fill,
    [FT_CODE_ALLOC] = make_object,
    [FT_CODE_FREE] = free_object,
    [FT_CODE_SIZE] = size,
    [FT_CODE_JUMP] = jump,
    [FT_CODE_BRANCH] = branch,
    [FT_CODE_SWITCH] = choose_case,
    [FT_CODE_RETURN] = give_back,
    [FT_CODE_UNREACHABLE] = unreachable,
    [FT_CODE_CALL] = call,
    [FT_CODE_CALL_AT] = call_at,
    [FT_CODE_SELF] = self,
    [FT_CODE_END] = end,
    [FT_CODE_ATOMIC_END] = end_section,
    [FT_CODE_INPUT] = input,
    [FT_CODE_ASSUME] = assume,
    [FT_CODE_ASSERT] = check,
    [FT_CODE_FAIL] = fail,
    [FT_CODE_OUTPUT] = output,
};

static void is_over(ft_interpreter *m, uint32_t t)
{
    ft_interpreter_fail(m, t, FT_ERROR_LIMIT, "a step takes more than %" PRIu64 " instructions",
                        m->options.max_steps);
}

/* So many instructions; false: the thread does not run on. */
static bool run_some(ft_interpreter *m, uint32_t t, uint64_t left)
{
    for (; left; left--) {
        if (!m->options.loops) left -= ft_run_quick(m, t, left);
        if (!left) break;
        const ft_instruction *in = ft_interpreter_instruction(m, t);
        handler *h = HANDLERS[in->code];
        if (!h) return false; /* visible */
        m->instructions++;
        if (!h(m, t, in)) return false;
    }
    return true;
}

/* The same; does the thread come back to where it is now, or to places like it for ever? */
static bool run_watched(ft_interpreter *m, uint32_t t, uint64_t left)
{
    if (ft_program_is_endless(top(m, t)->function, top(m, t)->at)) {
        m->threads.data[t].circles = true;
        return false;
    }
    circle *c = ft_circle_new(m, t);
    bool goes = true;
    for (; goes && left; left--) {
        const ft_instruction *in = ft_interpreter_instruction(m, t);
        handler *h = HANDLERS[in->code];
        m->instructions += h != NULL;
        goes = h && h(m, t, in); /* else visible */
        if (goes && ft_circle_is_closed(c, m, t)) {
            m->threads.data[t].circles = true;
            goes = false;
        }
    }
    ft_circle_free(c);
    return goes;
}

/* A step that takes long may go round in circles: now and then it is watched for a while, each time
 * for longer, so that it is seen whatever came before and however long it is. */
void ft_run(ft_interpreter *m, uint32_t t)
{
    enum { FIRST = 4096, SHARE = 16 };
    uint64_t left = m->options.max_steps;
    for (uint64_t some = FIRST;; some *= 2) {
        uint64_t n = some < left ? some : left;
        if (!run_some(m, t, n)) return;
        left -= n;
        n = some / SHARE < left ? some / SHARE : left;
        if (!run_watched(m, t, n)) return;
        left -= n;
        if (!left) {
            if (HANDLERS[ft_interpreter_instruction(m, t)->code]) is_over(m, t);
            return;
        }
    }
}
