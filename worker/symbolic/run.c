#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/endless.h"
#include "symbolic/internal.h"

/* ---- operands and results ---- */

static frame *top(const ft_sym_state *m, uint32_t t)
{
    const sym_thread *th = sym_thread_of(m, t);
    assert(th->frames.len);
    return &th->frames.data[th->frames.len - 1];
}

static value *registers(const ft_sym_state *m, uint32_t t)
{
    return sym_thread_of(m, t)->values.data + top(m, t)->registers;
}

static value address_of(const ft_sym_state *m, uint32_t t, uint32_t symbol)
{
    const ft_program *p = m->world->program;
    const ft_program_symbol *s = &p->symbols.data[symbol];
    if (s->kind == FT_FUNCTION) return sym_number(m->world->function_base[symbol]);
    bool own = p->objects.data[s->index].by_thread;
    uint32_t number = own ? sym_thread_of(m, t)->own[s->index] : m->globals[s->index] + 1;
    return (value){.bits = m->objects.data[number - 1].base, .object = number};
}

static value content_of(const ft_sym_state *m, uint32_t t, const ft_operand *o)
{
    if (o->kind == FT_OPERAND_REGISTER) return registers(m, t)[o->index];
    if (o->kind == FT_OPERAND_LITERAL) return sym_number(o->value);
    value base = address_of(m, t, o->index);
    base.bits += o->value;
    return base;
}

value sym_operand(const ft_sym_state *m, uint32_t t, const ft_instruction *in, uint32_t i)
{
    FT_REQUIRE(i < in->n_operands);
    return content_of(m, t, &top(m, t)->function->operands.data[in->operands + i]);
}

static uint8_t width_of(const ft_sym_state *m, uint32_t t, const ft_instruction *in, uint32_t i)
{
    return top(m, t)->function->operands.data[in->operands + i].width;
}

void sym_result(ft_sym_state *m, uint32_t t, const ft_instruction *in, value v)
{
    if (in->result == FT_NO_REGISTER) return;
    assert(in->result < top(m, t)->function->registers.len);
    if (!v.term) v.bits &= ft_width_mask(top(m, t)->function->registers.data[in->result].width);
    registers(m, t)[in->result] = v;
}

/* ---- calls ---- */

bool sym_thread_objects(ft_sym_state *m, uint32_t t)
{
    const ft_program *p = m->world->program;
    sym_thread_of(m, t)->own = ft_calloc(p->objects.len + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < p->objects.len; i++) {
        const ft_object *o = &p->objects.data[i];
        if (!o->by_thread) continue;
        if (!sym_fits(m, t, o->size)) return false;
        uint32_t number = sym_object_new(m, &sym_thread_of(m, t)->next_base, o->size, o->align);
        sym_fill(m, number, o);
        sym_thread_of(m, t)->own[i] = number + 1;
    }
    return true;
}

void sym_call(ft_sym_state *m, uint32_t t, const ft_function *f, const value *arguments, uint32_t n,
              uint64_t once)
{
    sym_thread *th = sym_thread_of(m, t);
    const ft_block *entry = &f->blocks.data[0];
    FT_REQUIRE(n == entry->n_parameters);
    size_t base = th->values.len, need = base + f->registers.len;
    ft_vec_reserve(&th->values, need);
    if (f->registers.len) memset(th->values.data + base, 0, f->registers.len * sizeof(value));
    th->values.len = need;
    for (uint32_t i = 0; i < n; i++) th->values.data[base + entry->parameters + i] = arguments[i];
    ft_vec_push(&th->frames,
                (frame){f, entry->instructions, (uint32_t)base, (uint32_t)th->stack.len, once});
}

const ft_function *sym_function_at(ft_sym_state *m, uint32_t t, uint64_t address, uint8_t result,
                                   const uint8_t *widths, uint32_t n)
{
    uint64_t symbol;
    const ft_function *f = NULL;
    if (ft_map_get(&m->world->functions, address, &symbol))
        f = ft_program_function(m->world->program, (uint32_t)symbol);
    bool fits = f && f->result == result && f->blocks.data[0].n_parameters == n;
    for (uint32_t i = 0; fits && i < n; i++)
        fits = f->registers.data[f->blocks.data[0].parameters + i].width == widths[i];
    if (fits) return f;
    sym_fail(m, t, FT_ERROR_BAD_CALL, "no function of these parameters is at 0x%" PRIx64, address);
    return NULL;
}

static void free_stack(ft_sym_state *m, uint32_t t, uint32_t keep)
{
    sym_thread *th = sym_thread_of(m, t);
    while (th->stack.len > keep && !sym_fault_is(SYM_FAULT_STACK_STAYS)) {
        object *o = &m->objects.data[th->stack.data[--th->stack.len]];
        assert(m->bytes >= o->size && o->stack_of == t + 1);
        m->bytes -= o->size;
        o->freed = true;
        sym_object_drop(o);
    }
}

static bool end_thread(ft_sym_state *m, uint32_t t, value result)
{
    sym_thread *th = sym_thread_of(m, t);
    if (m->section == t + 1)
        return sym_fail(m, t, FT_ERROR_MISUSE, "the thread ends within an atomic section");
    free_stack(m, t, 0);
    th->frames.len = 0;
    th->values.len = 0;
    th->result = result;
    th->ended = true;
    return false;
}

/* ---- handlers: false: the thread does not go on, or not yet ---- */

typedef bool handler(ft_sym_state *m, uint32_t t, const ft_instruction *in);

static bool go_on(ft_sym_state *m, uint32_t t)
{
    top(m, t)->at++;
    return true;
}

static bool goes_wrong(ft_sym_state *m, uint32_t t, ft_program_error error)
{
    return sym_fail(m, t, error, "%s", ft_program_error_meaning(error));
}

static uint32_t object_of(ft_code code, value a, value b)
{
    bool keeps =
        code == FT_CODE_ADD || code == FT_CODE_SUB || code == FT_CODE_AND || code == FT_CODE_OR;
    return !keeps || (a.object && b.object) ? 0 : a.object + b.object;
}

static bool binary(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    value a = sym_operand(m, t, in, 0), b = sym_operand(m, t, in, 1);
    bool wrong, right;
    ft_code code = (ft_code)in->code;
    ft_term when = sym_goes_wrong(m->world, code, in->width, a, b, &wrong);
    if (when) {
        if (!sym_decide_truth(m, t, sym_not(m->world, when), &right)) return false;
        wrong = !right;
    }
    bool shifts = code == FT_CODE_SHL || code == FT_CODE_LSHR || code == FT_CODE_ASHR;
    if (wrong) return goes_wrong(m, t, shifts ? FT_ERROR_SHIFT : FT_ERROR_DIVISION);
    value r = sym_binary(m->world, code, in->width, a, b);
    r.object = in->width == 64 ? object_of(code, a, b) : 0;
    sym_result(m, t, in, r);
    return go_on(m, t);
}

static bool unary(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    value a = sym_operand(m, t, in, 0);
    sym_result(m, t, in,
               sym_unary(m->world, (ft_code)in->code, width_of(m, t, in, 0), in->width, a));
    return go_on(m, t);
}

static bool float_operation(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    uint64_t bits[2] = {0, 0}, r;
    uint8_t from = width_of(m, t, in, 0);
    for (uint32_t i = 0; i < in->n_operands; i++)
        if (!sym_decide_value(m, t, sym_operand(m, t, in, i), from, &bits[i])) return false;
    if (!sym_float((ft_code)in->code, from, in->width, bits[0], bits[1], &r))
        return goes_wrong(m, t, FT_ERROR_CONVERSION);
    sym_result(m, t, in, sym_number(r));
    return go_on(m, t);
}

/* Of addresses of different objects the choice is a branch. */
static bool choose(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    value c = sym_operand(m, t, in, 0), a = sym_operand(m, t, in, 1), b = sym_operand(m, t, in, 2);
    bool first = c.bits;
    value v;
    if (sym_fault_is(SYM_FAULT_FIRST_OBJECT)) b.object = a.object;
    if (c.term && a.object == b.object) {
        v = sym_choice(m->world, c.term, a, b, in->width);
        v.object = a.object;
    } else {
        if (c.term && !sym_decide_truth(m, t, c.term, &first)) return false;
        v = first ? a : b;
    }
    sym_result(m, t, in, v);
    return go_on(m, t);
}

static ft_term is_at_most(ft_sym_state *m, value size, uint64_t most)
{
    return sym_truth(m->world, sym_binary(m->world, FT_CODE_ULE, 64, size, sym_number(most)));
}

/* Of a size that inputs decide: an object as large as it may be at most, which ends at the size. */
static bool size_of(ft_sym_state *m, uint32_t t, value size, uint64_t *most)
{
    static const uint64_t LARGEST[] = {1024, 256, 64, 16};
    bool fits;
    *most = size.bits;
    if (!size.term) return sym_fits(m, t, size.bits);
    if (!sym_decide_truth(m, t, is_at_most(m, size, LARGEST[0]), &fits)) return false;
    if (!fits)
        return sym_fail(m, t, FT_ERROR_LIMIT,
                        "an object whose size inputs decide has more than %" PRIu64 " bytes",
                        LARGEST[0]);
    for (size_t i = 0; i < sizeof LARGEST / sizeof *LARGEST; i++)
        if (!i || sym_is_implied(m, t, is_at_most(m, size, LARGEST[i]))) *most = LARGEST[i];
    return sym_fits(m, t, *most);
}

static bool make_object(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    uint64_t size;
    bool heap = in->code == FT_CODE_ALLOC;
    value bytes = sym_operand(m, t, in, 0);
    if (!size_of(m, t, bytes, &size)) return false;
    sym_thread *th = sym_thread_of(m, t);
    uint32_t number =
        sym_object_new(m, &th->next_base, size, heap ? 16 : UINT64_C(1) << in->attribute);
    m->objects.data[number].bytes = bytes.term;
    m->objects.data[number].heap = heap;
    m->objects.data[number].stack_of = heap ? 0 : t + 1;
    m->objects.data[number].maker = sym_place(m, t);
    th->changes += heap;
    if (!heap) ft_vec_push(&th->stack, number);
    sym_note(m, &(ft_sym_note){.kind = FT_SYM_MADE, .thread = t, .object = number});
    sym_result(m, t, in, (value){.bits = m->objects.data[number].base, .object = number + 1});
    return go_on(m, t);
}

static bool load(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    value v;
    if (!sym_load(m, t, sym_operand(m, t, in, 0), in->width, &v)) return false;
    sym_result(m, t, in, v);
    return go_on(m, t);
}

static bool store(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    where w;
    value v = sym_operand(m, t, in, 0);
    if (!sym_find_store(m, t, sym_operand(m, t, in, 1), in->width, v, &w)) return false;
    sym_store_at(m, t, &w, in->width, v);
    return go_on(m, t);
}

static bool copy(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    uint64_t n;
    value to = sym_operand(m, t, in, 0), from = sym_operand(m, t, in, 1);
    return sym_decide_value(m, t, sym_operand(m, t, in, 2), 64, &n) &&
           sym_copy(m, t, to, from, n, in->code == FT_CODE_MOVE) && go_on(m, t);
}

static bool fill(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    uint64_t n;
    value to = sym_operand(m, t, in, 0), byte = sym_operand(m, t, in, 1);
    return sym_decide_value(m, t, sym_operand(m, t, in, 2), 64, &n) &&
           sym_fill_bytes(m, t, to, byte, n) && go_on(m, t);
}

static bool free_object(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    return sym_free_object(m, t, sym_operand(m, t, in, 0)) && go_on(m, t);
}

static bool size(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    where w;
    value address = sym_operand(m, t, in, 0);
    if (!sym_find(m, t, address, 0, false, &w)) return false;
    value at = w.offset ? (value){.term = w.offset} : sym_number(w.at);
    const object *o = &m->objects.data[w.object - 1];
    value all = o->bytes ? (value){.term = o->bytes} : sym_number(o->size);
    sym_result(m, t, in, sym_binary(m->world, FT_CODE_SUB, 64, all, at));
    return go_on(m, t);
}

/* ---- control ---- */

static uint32_t function_number(const ft_sym_state *m, const ft_function *f)
{
    return (uint32_t)(f - m->world->program->functions.data);
}

/* Any value, by a name of its own. */
static value any_of(ft_sym_state *m, uint32_t t, uint32_t number, uint8_t width)
{
    ft_symbol symbol = sym_symbol(m, t, FT_LOOP_NAME | number, width);
    ft_sort sort = width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, width};
    return (value){.term = ft_term_symbol(m->world->pool, symbol, sort)};
}

static bool define_cell(ft_sym_state *m, uint32_t t, uint32_t number)
{
    const ft_loop_cell *c = &m->world->options.loops->cells.data[number];
    value any = any_of(m, t, number, c->width);
    where w;
    if (c->reg != FT_NO_REGISTER) {
        registers(m, t)[c->reg] = any;
        return true;
    }
    if (!sym_find_store(m, t, content_of(m, t, &c->base), c->width, any, &w)) return false;
    sym_store_at(m, t, &w, c->width, any);
    return true;
}

static bool enter(ft_sym_state *m, uint32_t t, const ft_target *target);

/* Takes the loop at whose header the thread is as a function: its cells have any values. */
static bool skip_loop(ft_sym_state *m, uint32_t t, const ft_loop *l)
{
    const ft_loops *all = m->world->options.loops;
    const ft_function *f = top(m, t)->function;
    const ft_block *from = &f->blocks.data[l->exit_block];
    value read;
    top(m, t)->at = from->instructions + from->n_instructions - 1;
    sym_note(m, &(ft_sym_note){.kind = FT_SYM_AT,
                               .thread = t,
                               .depth = (uint32_t)sym_thread_of(m, t)->frames.len,
                               .place = sym_place(m, t)});
    sym_note(m, &(ft_sym_note){
                    .kind = FT_SYM_LOOP, .thread = t, .object = (uint32_t)(l - all->all.data)});
    for (uint32_t i = l->reads; i < l->reads + l->n_reads; i++) {
        const ft_loop_cell *c = &all->reads.data[i];
        if (!sym_load(m, t, content_of(m, t, &c->base), c->width, &read)) return false;
    }
    for (uint32_t i = l->cells; i < l->cells + l->n_cells; i++)
        if (!define_cell(m, t, i)) return false;
    return enter(m, t, &f->targets.data[l->exit]);
}

static bool enter(ft_sym_state *m, uint32_t t, const ft_target *target)
{
    frame *f = top(m, t);
    assert(target->block < f->function->blocks.len);
    const ft_block *block = &f->function->blocks.data[target->block];
    value few[8], *v = target->n_operands > 8 ? ft_alloc(target->n_operands * sizeof *v) : few;
    for (uint32_t i = 0; i < target->n_operands; i++)
        v[i] = content_of(m, t, &f->function->operands.data[target->operands + i]);
    if (target->n_operands)
        memcpy(registers(m, t) + block->parameters, v, target->n_operands * sizeof *v);
    if (v != few) free(v);
    f->at = block->instructions;
    uint32_t number = (uint32_t)(target - f->function->targets.data);
    sym_note(m, &(ft_sym_note){.kind = FT_SYM_TARGET, .thread = t, .target = number});
    const ft_loop *loop =
        ft_loop_at(m->world->options.loops, function_number(m, f->function), target->block);
    return !loop || skip_loop(m, t, loop);
}

static const ft_target *targets(const ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    return &top(m, t)->function->targets.data[in->targets];
}

static bool jump(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    return enter(m, t, targets(m, t, in));
}

static bool branch_off(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    value c = sym_operand(m, t, in, 0);
    bool first = c.bits;
    if (c.term && !sym_decide_truth(m, t, c.term, &first)) return false;
    return enter(m, t, targets(m, t, in) + (first ? 0 : 1));
}

/* The arms of a switch: one a target, whatever its number of values; the first is the rest. */
static uint32_t arms_of(ft_sym_state *m, const ft_target *all, uint32_t n, ft_term bits,
                        ft_term arms[FT_SYM_ARMS], uint32_t target[FT_SYM_ARMS])
{
    ft_sym_world *w = m->world;
    uint32_t many = 1;
    arms[0] = sym_truth(w, sym_number(1));
    target[0] = 0;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t k = 1;
        ft_term is = sym_is(w, bits, all[i].value);
        while (k < many && (all[target[k]].block != all[i].block || all[i].n_operands ||
                            all[target[k]].n_operands))
            k++;
        if (k == FT_SYM_ARMS) return 0;
        ft_term either[2] = {k < many ? arms[k] : is, is};
        arms[k] = k < many ? sym_apply(w, FT_OP_OR, either, 2, 0, 0) : is;
        if (k == many) target[many++] = i;
        if (!sym_fault_is(SYM_FAULT_SWITCH_REST)) arms[0] = sym_and(w, arms[0], sym_not(w, is));
    }
    return many;
}

static bool choose_case(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    value v = sym_operand(m, t, in, 0);
    const ft_target *all = targets(m, t, in);
    ft_term arms[FT_SYM_ARMS];
    uint32_t target[FT_SYM_ARMS], arm, i = 1;
    if (v.term) {
        uint32_t n = arms_of(m, all, in->n_targets, sym_bits(m->world, v, in->width), arms, target);
        if (!n) return sym_fail(m, t, FT_ERROR_LIMIT, "a switch of an input has too many targets");
        if (!sym_decide(m, t, arms, n, &arm)) return false;
        return enter(m, t, &all[target[arm]]);
    }
    while (i < in->n_targets && all[i].value != v.bits) i++;
    return enter(m, t, &all[i < in->n_targets ? i : 0]);
}

static bool leave_main(ft_sym_state *m, uint32_t t, value v)
{
    sym_thread_of(m, t)->returned = true;
    sym_thread_of(m, t)->exit_code = v;
    return false;
}

static bool give_back(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    sym_thread *th = sym_thread_of(m, t);
    value v = in->n_operands ? sym_operand(m, t, in, 0) : sym_number(0);
    frame left = *top(m, t);
    if (th->frames.len == 1 && t) return end_thread(m, t, v);
    if (th->frames.len == 1)
        return sym_decide_exit(m, t, v, in->n_operands ? width_of(m, t, in, 0) : 0) &&
               leave_main(m, t, v);
    free_stack(m, t, left.objects);
    th->values.len = left.registers;
    th->frames.len--;
    if (left.once) {
        th->finishes = left.once;
        return false;
    }
    sym_result(m, t, sym_instruction(m, t), v);
    return go_on(m, t);
}

static bool unreachable(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    (void)in;
    return goes_wrong(m, t, FT_ERROR_UNREACHABLE);
}

enum { MOST_ARGUMENTS = 255, MOST_FRAMES = 100000 };

static bool call_with(ft_sym_state *m, uint32_t t, const ft_function *f, const ft_instruction *in,
                      uint32_t skip)
{
    value v[MOST_ARGUMENTS];
    uint32_t n = in->n_operands - skip;
    if (n > MOST_ARGUMENTS || sym_thread_of(m, t)->frames.len >= MOST_FRAMES)
        return sym_fail(m, t, FT_ERROR_LIMIT, "more than %d arguments, or %d calls deep",
                        MOST_ARGUMENTS, MOST_FRAMES);
    for (uint32_t i = 0; i < n; i++) v[i] = sym_operand(m, t, in, i + skip);
    sym_call(m, t, f, v, n, 0);
    return true;
}

static bool call(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    return call_with(m, t, ft_program_function(m->world->program, in->extra), in, 0);
}

static bool call_at(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    uint8_t widths[MOST_ARGUMENTS];
    uint64_t address;
    uint32_t n = in->n_operands - 1;
    for (uint32_t i = 0; i < n && i < MOST_ARGUMENTS; i++) widths[i] = width_of(m, t, in, i + 1);
    if (n > MOST_ARGUMENTS) return call_with(m, t, NULL, in, 1);
    value at = sym_operand(m, t, in, 0);
    if (!sym_decide_value(m, t, at, 64, &address)) return false;
    if (at.term && sym_fault_is(SYM_FAULT_SAME_FUNCTION))
        address = m->world->function_base[m->world->program->functions.data[0].symbol];
    const ft_function *f = sym_function_at(m, t, address, in->width, widths, n);
    return f && call_with(m, t, f, in, 1);
}

/* ---- threads and the world ---- */

static bool self(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    uint32_t handle = m->world->options.handles ? SYM_HANDLE | (t + 1) : 0;
    sym_result(m, t, in, (value){.bits = t, .object = handle});
    return go_on(m, t);
}

static bool end(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    return end_thread(m, t, sym_operand(m, t, in, 0));
}

static bool input(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    const ft_sym_options *o = &m->world->options;
    uint64_t bits;
    if (o->max_inputs && m->reads == o->max_inputs)
        return sym_fail(m, t, FT_ERROR_LIMIT, "the program reads more than %" PRIu32 " inputs",
                        o->max_inputs);
    m->reads++;
    if (o->input &&
        o->input(o->context, m->world->program->texts.names[in->extra], in->width, &bits)) {
        sym_result(m, t, in, sym_number(bits & ft_width_mask(in->width)));
        return go_on(m, t);
    }
    ft_symbol symbol = sym_symbol(m, t, in->extra, in->width);
    ft_sort sort = in->width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, in->width};
    sym_result(m, t, in, (value){.term = ft_term_symbol(m->world->pool, symbol, sort)});
    return go_on(m, t);
}

static bool assume(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    value c = sym_operand(m, t, in, 0);
    bool holds = c.bits;
    if (c.term && !sym_decide_truth(m, t, c.term, &holds)) return false;
    if (holds || sym_fault_is(SYM_FAULT_ASSUMED)) return go_on(m, t);
    sym_thread_of(m, t)->stands = true;
    return false;
}

static bool fail(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    return sym_fail(m, t, FT_ERROR_ASSERTION, "%s", m->world->program->texts.names[in->extra]);
}

static bool check(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    value c = sym_operand(m, t, in, 0);
    bool holds = c.bits;
    if (c.term && sym_fault_is(SYM_FAULT_ASSERTED)) return go_on(m, t);
    if (c.term && !sym_decide_truth(m, t, c.term, &holds)) return false;
    return holds ? go_on(m, t) : fail(m, t, in);
}

static bool output(ft_sym_state *m, uint32_t t, const ft_instruction *in)
{
    uint64_t n;
    return sym_decide_value(m, t, sym_operand(m, t, in, 2), 64, &n) &&
           sym_find_output(m, t, sym_operand(m, t, in, 1), n) && go_on(m, t);
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
    [FT_CODE_FADD] = float_operation,
    [FT_CODE_FSUB] = float_operation,
    [FT_CODE_FMUL] = float_operation,
    [FT_CODE_FDIV] = float_operation,
    [FT_CODE_FREM] = float_operation,
    [FT_CODE_FEQ] = float_operation,
    [FT_CODE_FLT] = float_operation,
    [FT_CODE_FLE] = float_operation,
    [FT_CODE_FNAN] = float_operation,
    [FT_CODE_FTOS] = float_operation,
    [FT_CODE_FTOU] = float_operation,
    [FT_CODE_STOF] = float_operation,
    [FT_CODE_UTOF] = float_operation,
    [FT_CODE_FTOF] = float_operation,
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
    [FT_CODE_BRANCH] = branch_off,
    [FT_CODE_SWITCH] = choose_case,
    [FT_CODE_RETURN] = give_back,
    [FT_CODE_UNREACHABLE] = unreachable,
    [FT_CODE_CALL] = call,
    [FT_CODE_CALL_AT] = call_at,
    [FT_CODE_SELF] = self,
    [FT_CODE_END] = end,
    [FT_CODE_INPUT] = input,
    [FT_CODE_ASSUME] = assume,
    [FT_CODE_ASSERT] = check,
    [FT_CODE_FAIL] = fail,
    [FT_CODE_OUTPUT] = output,
};

static bool is_over(ft_sym_state *m, uint32_t t)
{
    return sym_fail(m, t, FT_ERROR_LIMIT, "a step takes more than %" PRIu64 " instructions",
                    m->world->options.max_instructions);
}

/* Asked after so many instructions, and after each one that the solver was needed for. */
static bool should_stop(const ft_sym_state *m)
{
    enum { EVERY = 4096 };
    ft_sym_world *w = m->world;
    uint64_t solved = sym_path_counts(w->path).solved;
    bool asked = solved != w->solved;
    w->solved = solved;
    return w->options.should_stop && (asked || m->instructions % EVERY == 0) &&
           w->options.should_stop(w->options.context);
}

/* False: the thread does not run on. */
static bool run_one(ft_sym_state *m, uint32_t t)
{
    const ft_instruction *in = sym_instruction(m, t);
    handler *h = HANDLERS[in->code];
    sym_thread_of(m, t)->decided.asked = 0;
    sym_note(m, &(ft_sym_note){.kind = FT_SYM_AT,
                               .thread = t,
                               .depth = (uint32_t)sym_thread_of(m, t)->frames.len,
                               .place = sym_place(m, t)});
    if (!h) { /* visible: it stands before it when all that it needs is a number */
        (void)sym_sync_ready(m, t, in);
        return false;
    }
    if (should_stop(m)) return is_over(m, t);
    m->instructions++;
    if (!h(m, t, in)) return false;
    sym_thread_of(m, t)->decided.n = 0;
    return true;
}

/* A long step: looks for circles, which begin behind any number of instructions and are of any
 * length (Brent 1980: the state that is compared is taken anew after 2^k instructions), and for
 * places that lead nowhere else, whose states may all differ. */
static void run_long(ft_sym_state *m, uint32_t t, uint64_t left)
{
    ft_sym_mark *mark = NULL;
    for (uint64_t done = 0, next = 0;; left--, done++) {
        if (!left && !is_over(m, t)) break;
        if (mark && ft_sym_is_at(m, t, mark)) {
            sym_thread_of(m, t)->circles = true;
            break;
        }
        if (done == next) {
            ft_sym_mark_free(mark);
            mark = ft_sym_mark_new(m, t);
            next = 2 * next + 1;
            if (ft_program_is_endless(top(m, t)->function, top(m, t)->at)) {
                sym_thread_of(m, t)->circles = true;
                break;
            }
        }
        if (!run_one(m, t)) break;
    }
    ft_sym_mark_free(mark);
}

void sym_run(ft_sym_state *m, uint32_t t)
{
    enum { SHORT = 2048 };
    uint64_t most = m->world->options.max_instructions, few = most < SHORT ? most : SHORT;
    for (uint64_t left = few; left; left--)
        if (!run_one(m, t)) return;
    run_long(m, t, most - few);
}

void sym_do_again(ft_sym_state *m, uint32_t t, uint32_t instruction)
{
    uint32_t at = top(m, t)->at;
    top(m, t)->at = instruction;
    const ft_instruction *in = sym_instruction(m, t);
    bool done = HANDLERS[in->code](m, t, in);
    assert(done);
    (void)done;
    top(m, t)->at = at;
}
