#include "program/flow/pointers.h"

#include <stdlib.h>
#include <string.h>

#include "program/flow/internal.h"

/* ---- abstract objects ---- */

/* A function that does nothing but return what its `alloc` makes: the number of the alloc. */
static bool is_maker(const ft_function *f)
{
    if (f->blocks.len != 1 || f->instructions.len != 2) return false;
    const ft_instruction *made = &f->instructions.data[0], *left = &f->instructions.data[1];
    if (made->code != FT_CODE_ALLOC || left->code != FT_CODE_RETURN || !left->n_operands)
        return false;
    const ft_operand *o = &f->operands.data[left->operands];
    return o->kind == FT_OPERAND_REGISTER && o->index == made->result;
}

static bool makes(const ft_flow *flow, const ft_instruction *in)
{
    if (in->code == FT_CODE_STACK || in->code == FT_CODE_ALLOC) return true;
    const ft_function *callee =
        in->code == FT_CODE_CALL ? ft_program_function(flow->program, in->extra) : NULL;
    return callee && in->result != FT_NO_REGISTER && is_maker(callee);
}

static void find_makers(ft_flow *flow, uint32_t f)
{
    const ft_function *function = flow_function(flow, f);
    flow->made[f] = ft_calloc(function->instructions.len + 1, sizeof **flow->made);
    for (uint32_t i = 0; i < function->instructions.len; i++) {
        const ft_instruction *in = &function->instructions.data[i];
        flow->made[f][i] = FT_NO_ABSTRACT;
        if (!makes(flow, in)) continue;
        flow->made[f][i] = (uint32_t)flow->abstracts.len;
        ft_abstract made = {in->code == FT_CODE_STACK ? FT_ABSTRACT_STACK : FT_ABSTRACT_HEAP,
                            UINT32_MAX, f, i};
        ft_vec_push(&flow->abstracts, made);
    }
}

static void number_abstracts(ft_flow *flow)
{
    for (uint32_t o = 0; o < flow->n_objects; o++)
        ft_vec_push(&flow->abstracts, (ft_abstract){FT_ABSTRACT_GLOBAL, o, 0, 0});
    for (uint32_t f = 0; f < flow->n_functions; f++)
        ft_vec_push(&flow->abstracts, (ft_abstract){FT_ABSTRACT_FUNCTION, f, 0, 0});
    flow->made = ft_calloc(flow->n_functions + 1, sizeof *flow->made);
    for (uint32_t f = 0; f < flow->n_functions; f++) find_makers(flow, f);
    flow->words = ft_bits_words((uint32_t)flow->abstracts.len);
}

static void number_nodes(ft_flow *flow)
{
    uint32_t n = 0;
    flow->registers = ft_calloc(flow->n_functions + 1, sizeof *flow->registers);
    for (uint32_t f = 0; f < flow->n_functions; f++) {
        flow->registers[f] = n;
        n += (uint32_t)flow_function(flow, f)->registers.len;
    }
    flow->contents = n;
    flow->results = n + (uint32_t)flow->abstracts.len;
    flow->joined = flow->results + flow->n_functions;
    flow->n_nodes = flow->joined + 1;
    flow->nodes = ft_calloc((size_t)flow->n_nodes * flow->words, sizeof *flow->nodes);
    uint32_t symbols = (uint32_t)flow->program->symbols.len;
    flow->constants = ft_calloc((size_t)(symbols + 1) * flow->words, sizeof *flow->constants);
    for (uint32_t s = 0; s < symbols; s++) {
        uint32_t a = ft_flow_global(flow, s);
        if (a != FT_NO_ABSTRACT) ft_bits_add(flow->constants + (size_t)s * flow->words, a);
    }
}

uint32_t ft_flow_global(const ft_flow *flow, uint32_t symbol)
{
    const ft_program_symbol *s = &flow->program->symbols.data[symbol];
    if (s->kind == FT_OBJECT) return s->index;
    return s->kind == FT_FUNCTION ? flow->n_objects + s->index : FT_NO_ABSTRACT;
}

/* ---- constraints, applied until nothing changes ---- */

static const uint64_t *content_of(const ft_flow *flow, uint32_t f, const ft_operand *o)
{
    if (o->kind == FT_OPERAND_REGISTER) return flow_node(flow, flow->registers[f] + o->index);
    return flow->constants +
           (size_t)(o->kind == FT_OPERAND_ADDRESS ? o->index : flow->program->symbols.len) *
               flow->words;
}

static const uint64_t *operand(const ft_flow *flow, uint32_t f, const ft_instruction *in,
                               uint32_t i)
{
    return content_of(flow, f, &flow_function(flow, f)->operands.data[in->operands + i]);
}

static void flow_into(ft_flow *flow, uint32_t node, const uint64_t *from)
{
    flow->changed |= ft_bits_join(flow_node(flow, node), from, flow->words);
}

static void flow_to_result(ft_flow *flow, uint32_t f, const ft_instruction *in,
                           const uint64_t *from)
{
    if (in->result != FT_NO_REGISTER) flow_into(flow, flow->registers[f] + in->result, from);
}

static void read_from(ft_flow *flow, uint32_t f, const ft_instruction *in, const uint64_t *at)
{
    for (uint32_t a = 0; a < flow->abstracts.len; a++)
        if (ft_bits_has(at, a)) flow_to_result(flow, f, in, flow_node(flow, flow->contents + a));
}

static void write_to(ft_flow *flow, const uint64_t *at, const uint64_t *what)
{
    for (uint32_t a = 0; a < flow->abstracts.len; a++)
        if (ft_bits_has(at, a)) flow_into(flow, flow->contents + a, what);
}

static void copy_between(ft_flow *flow, const uint64_t *to, const uint64_t *from)
{
    for (uint32_t a = 0; a < flow->abstracts.len; a++)
        if (ft_bits_has(from, a)) write_to(flow, to, flow_node(flow, flow->contents + a));
}

/* Calls the function with the operands from `skip` on. */
static void enter(ft_flow *flow, uint32_t f, const ft_instruction *in, uint32_t skip,
                  uint32_t callee)
{
    const ft_block *entry = &flow_function(flow, callee)->blocks.data[0];
    for (uint32_t i = skip; i < in->n_operands && i - skip < entry->n_parameters; i++)
        flow_into(flow, flow->registers[callee] + entry->parameters + i - skip,
                  operand(flow, f, in, i));
}

static bool takes(const ft_function *callee, const ft_function *f, const ft_instruction *in)
{
    const ft_block *entry = &callee->blocks.data[0];
    if (callee->result != in->width || entry->n_parameters + 1 != in->n_operands) return false;
    for (uint32_t i = 0; i < entry->n_parameters; i++)
        if (callee->registers.data[entry->parameters + i].width !=
            f->operands.data[in->operands + 1 + i].width)
            return false;
    return true;
}

/* May the instruction, whose address operand points there, reach the function? */
static bool may_reach(const ft_flow *flow, uint32_t f, const ft_instruction *in, uint32_t callee)
{
    const ft_function *c = flow_function(flow, callee);
    switch (in->code) {
    case FT_CODE_CALL_AT:
        return takes(c, flow_function(flow, f), in);
    case FT_CODE_CREATE:
        return c->result == 64 && c->blocks.data[0].n_parameters == 1;
    default: /* once */
        return !c->result && !c->blocks.data[0].n_parameters;
    }
}

static void call(ft_flow *flow, uint32_t f, const ft_instruction *in, uint32_t callee)
{
    if (in->code == FT_CODE_ONCE) return;
    enter(flow, f, in, in->code == FT_CODE_CALL ? 0 : 1, callee);
    const uint64_t *result = flow_node(flow, flow->results + callee);
    if (in->code == FT_CODE_CREATE)
        flow_into(flow, flow->joined, result);
    else
        flow_to_result(flow, f, in, result);
}

static void call_all(ft_flow *flow, uint32_t f, const ft_instruction *in)
{
    if (in->code == FT_CODE_CALL) {
        call(flow, f, in, flow->program->symbols.data[in->extra].index);
        return;
    }
    const uint64_t *at = operand(flow, f, in, in->code == FT_CODE_ONCE ? 1 : 0);
    for (uint32_t c = 0; c < flow->n_functions; c++)
        if (ft_bits_has(at, flow->n_objects + c) && may_reach(flow, f, in, c)) call(flow, f, in, c);
}

static void pass_arguments(ft_flow *flow, uint32_t f, const ft_instruction *in)
{
    const ft_function *function = flow_function(flow, f);
    for (uint32_t t = 0; t < in->n_targets; t++) {
        const ft_target *target = &function->targets.data[in->targets + t];
        const ft_block *block = &function->blocks.data[target->block];
        for (uint32_t i = 0; i < target->n_operands; i++)
            flow_into(flow, flow->registers[f] + block->parameters + i,
                      content_of(flow, f, &function->operands.data[target->operands + i]));
    }
}

/* Comparisons make no addresses, and neither do sizes, floats and inputs. */
static bool computes(ft_code code)
{
    return code <= FT_CODE_ASHR || (code >= FT_CODE_SELECT && code <= FT_CODE_TRUNC);
}

static void apply(ft_flow *flow, uint32_t f, uint32_t number)
{
    const ft_instruction *in = &flow_function(flow, f)->instructions.data[number];
    uint32_t made = flow->made[f][number];
    if (made != FT_NO_ABSTRACT) {
        flow->changed |= ft_bits_add(flow_node(flow, flow->registers[f] + in->result), made);
        return;
    }
    switch (in->code) {
    case FT_CODE_LOAD:
    case FT_CODE_ATOMIC_LOAD:
        read_from(flow, f, in, operand(flow, f, in, 0));
        break;
    case FT_CODE_STORE:
    case FT_CODE_ATOMIC_STORE:
        write_to(flow, operand(flow, f, in, 1), operand(flow, f, in, 0));
        break;
    case FT_CODE_ATOMIC_UPDATE:
        read_from(flow, f, in, operand(flow, f, in, 0));
        write_to(flow, operand(flow, f, in, 0), operand(flow, f, in, 1));
        break;
    case FT_CODE_ATOMIC_SWAP:
        read_from(flow, f, in, operand(flow, f, in, 0));
        write_to(flow, operand(flow, f, in, 0), operand(flow, f, in, 2));
        break;
    case FT_CODE_COPY:
    case FT_CODE_MOVE:
        copy_between(flow, operand(flow, f, in, 0), operand(flow, f, in, 1));
        break;
    case FT_CODE_FILL:
        write_to(flow, operand(flow, f, in, 0), operand(flow, f, in, 1));
        break;
    case FT_CODE_CALL:
    case FT_CODE_CALL_AT:
    case FT_CODE_CREATE:
    case FT_CODE_ONCE:
        call_all(flow, f, in);
        break;
    case FT_CODE_RETURN:
        if (in->n_operands) flow_into(flow, flow->results + f, operand(flow, f, in, 0));
        break;
    case FT_CODE_END:
        flow_into(flow, flow->joined, operand(flow, f, in, 0));
        break;
    case FT_CODE_JOIN:
        flow_to_result(flow, f, in, flow_node(flow, flow->joined));
        break;
    default:
        for (uint32_t i = 0; i < in->n_operands && computes((ft_code)in->code); i++)
            flow_to_result(flow, f, in, operand(flow, f, in, i));
    }
    pass_arguments(flow, f, in);
}

static void fill_initials(ft_flow *flow)
{
    const ft_program *p = flow->program;
    for (uint32_t o = 0; o < flow->n_objects; o++)
        for (uint32_t i = 0; i < p->objects.data[o].n_initial; i++) {
            const ft_initial *initial = &p->initials.data[p->objects.data[o].initial + i];
            if (initial->symbol != FT_NO_SYMBOL)
                flow_into(flow, flow->contents + o,
                          flow->constants + (size_t)initial->symbol * flow->words);
        }
}

static void solve(ft_flow *flow)
{
    fill_initials(flow);
    for (flow->changed = true; flow->changed;) {
        flow->changed = false;
        for (uint32_t f = 0; f < flow->n_functions; f++)
            for (uint32_t i = 0; i < flow_function(flow, f)->instructions.len; i++)
                apply(flow, f, i);
    }
}

/* ---- calls ---- */

static void list_targets(ft_flow *flow, uint32_t f, uint32_t number)
{
    const ft_instruction *in = &flow_function(flow, f)->instructions.data[number];
    bool calls =
        in->code == FT_CODE_CALL_AT || in->code == FT_CODE_CREATE || in->code == FT_CODE_ONCE;
    flow->first_target[f][number] = (uint32_t)flow->targets.len;
    if (in->code == FT_CODE_CALL)
        ft_vec_push(&flow->targets, flow->program->symbols.data[in->extra].index);
    const uint64_t *at = calls ? operand(flow, f, in, in->code == FT_CODE_ONCE ? 1 : 0) : NULL;
    for (uint32_t c = 0; calls && c < flow->n_functions; c++)
        if (ft_bits_has(at, flow->n_objects + c) && may_reach(flow, f, in, c))
            ft_vec_push(&flow->targets, c);
    flow->n_targets[f][number] = (uint32_t)flow->targets.len - flow->first_target[f][number];
}

static void find_targets(ft_flow *flow)
{
    flow->first_target = ft_calloc(flow->n_functions + 1, sizeof *flow->first_target);
    flow->n_targets = ft_calloc(flow->n_functions + 1, sizeof *flow->n_targets);
    for (uint32_t f = 0; f < flow->n_functions; f++) {
        uint32_t n = (uint32_t)flow_function(flow, f)->instructions.len;
        flow->first_target[f] = ft_calloc(n + 1, sizeof **flow->first_target);
        flow->n_targets[f] = ft_calloc(n + 1, sizeof **flow->n_targets);
        for (uint32_t i = 0; i < n; i++) list_targets(flow, f, i);
    }
}

/* ---- the whole ---- */

ft_flow *ft_flow_new(const ft_program *program)
{
    FT_REQUIRE(program);
    ft_flow *flow = ft_calloc(1, sizeof *flow);
    flow->program = program;
    flow->n_functions = (uint32_t)program->functions.len;
    flow->n_objects = (uint32_t)program->objects.len;
    number_abstracts(flow);
    number_nodes(flow);
    solve(flow);
    find_targets(flow);
    flow->graphs = ft_calloc(flow->n_functions + 1, sizeof *flow->graphs);
    for (uint32_t f = 0; f < flow->n_functions; f++)
        ft_graph_init(&flow->graphs[f], flow_function(flow, f));
    flow_find_effects(flow);
    return flow;
}

void ft_flow_free(ft_flow *flow)
{
    if (!flow) return;
    for (uint32_t f = 0; f < flow->n_functions; f++) {
        ft_graph_release(&flow->graphs[f]);
        free(flow->made[f]);
        free(flow->first_target[f]);
        free(flow->n_targets[f]);
    }
    flow_release_effects(flow);
    free(flow->graphs);
    free(flow->made);
    free(flow->first_target);
    free(flow->n_targets);
    free(flow->nodes);
    free(flow->registers);
    free(flow->constants);
    ft_vec_release(&flow->targets);
    ft_vec_release(&flow->abstracts);
    free(flow);
}

const ft_program *ft_flow_program(const ft_flow *flow)
{
    return flow->program;
}

const ft_graph *ft_flow_graph(const ft_flow *flow, uint32_t function)
{
    FT_REQUIRE(function < flow->n_functions);
    return &flow->graphs[function];
}

uint32_t ft_flow_abstracts(const ft_flow *flow)
{
    return (uint32_t)flow->abstracts.len;
}

uint32_t ft_flow_words(const ft_flow *flow)
{
    return flow->words;
}

const ft_abstract *ft_flow_abstract(const ft_flow *flow, uint32_t abstract)
{
    FT_REQUIRE(abstract < flow->abstracts.len);
    return &flow->abstracts.data[abstract];
}

uint32_t ft_flow_made_by(const ft_flow *flow, uint32_t function, uint32_t instruction)
{
    FT_REQUIRE(instruction < flow_function(flow, function)->instructions.len);
    return flow->made[function][instruction];
}

const uint64_t *ft_flow_points_to(const ft_flow *flow, uint32_t function, const ft_operand *operand)
{
    return content_of(flow, function, operand);
}

const uint64_t *ft_flow_content(const ft_flow *flow, uint32_t abstract)
{
    FT_REQUIRE(abstract < flow->abstracts.len);
    return flow_node(flow, flow->contents + abstract);
}

const uint32_t *ft_flow_targets(const ft_flow *flow, uint32_t function, uint32_t instruction,
                                uint32_t *n)
{
    FT_REQUIRE(instruction < flow_function(flow, function)->instructions.len);
    *n = flow->n_targets[function][instruction];
    return flow->targets.data + flow->first_target[function][instruction];
}
