#include "cover/control.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory.h"
#include "cover/faults.h"

bool cover_code_synchronises(ft_code code)
{
    if (code == FT_CODE_END) return true;
    return ft_instruction_row_of(code)->effect == FT_EFFECT_VISIBLE && code != FT_CODE_FENCE &&
           code != FT_CODE_YIELD && code != FT_CODE_EXIT;
}

static const ft_function *function_at(const cover_control *c, uint32_t f)
{
    return &c->program->functions.data[f];
}

static bool is_main(const cover_control *c, uint32_t f)
{
    return strcmp(ft_program_symbol_name(c->program, function_at(c, f)->symbol), "main") == 0;
}

bool cover_is_exit(const cover_control *c, uint32_t f, const ft_instruction *in)
{
    return in->code == FT_CODE_EXIT || in->code == FT_CODE_FAIL ||
           in->code == FT_CODE_UNREACHABLE ||
           (in->code == FT_CODE_RETURN &&
            (is_main(c, f) || cover_fault_is(COVER_FAULT_RETURN_EXITS)));
}

/* ---- functions ---- */

static bool synchronises_itself(const ft_function *f)
{
    for (size_t i = 0; i < f->instructions.len; i++)
        if (cover_code_synchronises((ft_code)f->instructions.data[i].code)) return true;
    return false;
}

static void find_synchronising(cover_control *c)
{
    uint32_t n = (uint32_t)c->program->functions.len;
    c->synchronises = ft_calloc(n + 1, sizeof *c->synchronises);
    for (uint32_t f = 0; f < n; f++)
        for (uint32_t g = 0; g < n && !c->synchronises[f]; g++)
            c->synchronises[f] = ft_bits_has(ft_flow_effects(c->flow, f)->callees, g) &&
                                 synchronises_itself(function_at(c, g));
}

/* ---- instructions that may fail ---- */

/* Does the constant address, or the stack object that the register is, hold n bytes that the
 * access is allowed to? */
static bool holds(const cover_control *c, const ft_function *f, const uint32_t *defined,
                  const ft_operand *at, uint64_t n, bool writes)
{
    if (at->kind == FT_OPERAND_ADDRESS) {
        const ft_object *o = ft_program_object(c->program, at->index);
        bool allowed = o && !(writes && o->constant);
        return allowed && at->value <= o->size && n <= o->size - at->value;
    }
    if (at->kind != FT_OPERAND_REGISTER || defined[at->index] == FT_NO_ID) return false;
    const ft_instruction *made = &f->instructions.data[defined[at->index]];
    const ft_operand *size = &f->operands.data[made->operands];
    return made->code == FT_CODE_STACK && size->kind == FT_OPERAND_LITERAL && n <= size->value;
}

static bool divides(const ft_instruction *in, const ft_operand *by)
{
    bool overflows = in->code == FT_CODE_SDIV || in->code == FT_CODE_SREM;
    bool minus_one = by->value == ft_width_mask(in->width);
    return by->kind == FT_OPERAND_LITERAL && by->value && !(overflows && minus_one);
}

static bool instruction_fails(const cover_control *c, const ft_function *f, const uint32_t *defined,
                              const ft_instruction *in)
{
    const ft_operand *all = f->operands.data + in->operands;
    uint64_t n = (in->width + 7u) / 8;
    switch (in->code) {
    case FT_CODE_UDIV:
    case FT_CODE_SDIV:
    case FT_CODE_UREM:
    case FT_CODE_SREM:
        return !divides(in, &all[1]);
    case FT_CODE_SHL:
    case FT_CODE_LSHR:
    case FT_CODE_ASHR:
        return all[1].kind != FT_OPERAND_LITERAL || all[1].value >= in->width;
    case FT_CODE_LOAD:
        return !holds(c, f, defined, &all[0], n, false);
    case FT_CODE_STORE:
        return !holds(c, f, defined, &all[1], n, true);
    case FT_CODE_ASSERT:
    case FT_CODE_COPY:
    case FT_CODE_MOVE:
    case FT_CODE_FILL:
    case FT_CODE_FREE:
    case FT_CODE_OUTPUT:
    case FT_CODE_FTOS:
    case FT_CODE_FTOU:
    case FT_CODE_CALL_AT:
        return true;
    default:
        return false;
    }
}

static bool find_failing_of(cover_control *c, uint32_t number)
{
    const ft_function *f = function_at(c, number);
    uint32_t *defined = ft_alloc((f->registers.len + 1) * sizeof *defined);
    bool any = false;
    for (size_t i = 0; i < f->registers.len; i++) defined[i] = FT_NO_ID;
    for (uint32_t i = 0; i < f->instructions.len; i++)
        if (f->instructions.data[i].result != FT_NO_REGISTER)
            defined[f->instructions.data[i].result] = i;
    c->may_fail[number] = ft_calloc(f->instructions.len + 1, sizeof **c->may_fail);
    for (uint32_t i = 0; i < f->instructions.len; i++) {
        bool fails = instruction_fails(c, f, defined, &f->instructions.data[i]);
        c->may_fail[number][i] = fails;
        any |= fails;
    }
    free(defined);
    return any;
}

static void find_failing(cover_control *c)
{
    uint32_t n = (uint32_t)c->program->functions.len;
    bool *own = ft_calloc(n + 1, sizeof *own);
    c->may_fail = ft_calloc(n + 1, sizeof *c->may_fail);
    c->fails = ft_calloc(n + 1, sizeof *c->fails);
    for (uint32_t f = 0; f < n; f++) own[f] = find_failing_of(c, f);
    for (uint32_t f = 0; f < n; f++)
        for (uint32_t g = 0; g < n; g++)
            c->fails[f] |= own[g] && ft_bits_has(ft_flow_effects(c->flow, f)->callees, g);
    free(own);
}

/* How control leaves an instruction. */
typedef enum way { GOES_ON, SYNCHRONISES, EXITS, LEAVES } way;

static bool is_call(const ft_instruction *in)
{
    return in->code == FT_CODE_CALL || in->code == FT_CODE_CALL_AT;
}

static way call_goes(const cover_control *c, uint32_t f, uint32_t i)
{
    uint32_t n;
    const uint32_t *targets = ft_flow_targets(c->flow, f, i, &n);
    bool exits = n > 0;
    for (uint32_t k = 0; k < n; k++) {
        if (c->synchronises[targets[k]] && !c->must_exit[targets[k]]) return SYNCHRONISES;
        exits = exits && c->must_exit[targets[k]];
    }
    return exits ? EXITS : GOES_ON;
}

static way block_goes(const cover_control *c, uint32_t f, uint32_t block)
{
    const ft_function *function = function_at(c, f);
    const ft_block *b = &function->blocks.data[block];
    for (uint32_t i = b->instructions; i < b->instructions + b->n_instructions; i++) {
        const ft_instruction *in = &function->instructions.data[i];
        if (cover_is_exit(c, f, in)) return EXITS;
        if (cover_code_synchronises((ft_code)in->code)) return SYNCHRONISES;
        way w = is_call(in) ? call_goes(c, f, i) : GOES_ON;
        if (w != GOES_ON) return w;
        if (in->code == FT_CODE_RETURN) return LEAVES;
    }
    return GOES_ON;
}

/* ---- blocks that must exit ---- */

static bool must_exit(const cover_control *c, uint32_t f, uint32_t from)
{
    const ft_function *function = function_at(c, f);
    uint32_t n = (uint32_t)function->blocks.len;
    bool *seen = ft_calloc(n, sizeof *seen), exits = false, good = true;
    FT_VEC(uint32_t) stack = {0};
    ft_vec_push(&stack, from);
    while (stack.len && good) {
        uint32_t block = stack.data[--stack.len], n_targets;
        if (seen[block]) continue;
        seen[block] = true;
        way w = block_goes(c, f, block);
        good = w == EXITS || w == GOES_ON;
        exits |= w == EXITS;
        if (w != GOES_ON) continue;
        const ft_target *targets = ft_block_targets(function, block, &n_targets);
        for (uint32_t i = 0; i < n_targets; i++) ft_vec_push(&stack, targets[i].block);
    }
    ft_vec_release(&stack);
    free(seen);
    return good && exits;
}

static void find_exiting(cover_control *c)
{
    uint32_t n = (uint32_t)c->program->functions.len;
    c->must_exit = ft_calloc(n + 1, sizeof *c->must_exit);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t f = 0; f < n; f++) {
            if (c->must_exit[f] || is_main(c, f) || !must_exit(c, f, 0)) continue;
            c->must_exit[f] = changed = true;
        }
    }
}

/* ---- postdominators ---- */

static void add_edges(const cover_control *c, uint32_t f, cover_blocks *b)
{
    const ft_function *function = function_at(c, f);
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t n, kept = 0;
        const ft_target *targets = ft_block_targets(function, i, &n);
        for (uint32_t k = 0; k < n; k++) kept += !b->must_exit[targets[k].block];
        for (uint32_t k = 0; k < n; k++)
            if (!c->prefix || !kept || !b->must_exit[targets[k].block])
                ft_bits_add(b->after + (size_t)i * b->words, targets[k].block);
    }
}

/* Which blocks lead to the end; those without a following one do. */
static bool all_end(const cover_blocks *b, const bool *edge, bool *ends, uint32_t *last)
{
    for (uint32_t i = 0; i < b->n; i++)
        ends[i] = edge[i] || ft_bits_empty(b->after + (size_t)i * b->words, b->words);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < b->n; i++)
            for (uint32_t k = 0; k < b->n && !ends[i]; k++)
                if (ends[k] && ft_bits_has(b->after + (size_t)i * b->words, k))
                    ends[i] = changed = true;
    }
    for (*last = b->n; (*last)-- > 0;)
        if (!ends[*last]) return false;
    return true;
}

static bool narrow(cover_blocks *b, const bool *edge, uint32_t i, uint64_t *meet)
{
    const uint64_t *after = b->after + (size_t)i * b->words;
    bool none = edge[i] || ft_bits_empty(after, b->words);
    memset(meet, none ? 0 : 255, b->words * sizeof *meet);
    for (uint32_t k = 0; k < b->n && !none; k++)
        for (uint32_t w = 0; ft_bits_has(after, k) && w < b->words; w++)
            meet[w] &= b->post[(size_t)k * b->words + w];
    ft_bits_add(meet, i);
    uint64_t *own = b->post + (size_t)i * b->words;
    bool changed = memcmp(own, meet, b->words * sizeof *meet) != 0;
    memcpy(own, meet, b->words * sizeof *meet);
    return changed;
}

static uint32_t count(const uint64_t *bits, uint32_t words)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < words; w++) n += (uint32_t)__builtin_popcountll(bits[w]);
    return n;
}

/* Of the blocks that postdominate it, the one that most others postdominate in turn. */
static uint32_t join_of(const cover_blocks *b, uint32_t block)
{
    uint32_t best = b->n, most = 0;
    for (uint32_t k = 0; k < b->n; k++) {
        if (k == block || !ft_bits_has(b->post + (size_t)block * b->words, k)) continue;
        uint32_t own = count(b->post + (size_t)k * b->words, b->words);
        if (own > most) best = k, most = own;
    }
    return best;
}

static void find_postdominators(cover_blocks *b)
{
    bool *edge = ft_calloc(b->n, sizeof *edge), *ends = ft_calloc(b->n, sizeof *ends);
    uint64_t *meet = ft_calloc(b->words, sizeof *meet);
    uint32_t last;
    while (!all_end(b, edge, ends, &last)) edge[last] = true;
    memset(b->post, 255, (size_t)b->n * b->words * sizeof *b->post);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = b->n; i-- > 0;) changed |= narrow(b, edge, i, meet);
    }
    for (uint32_t i = 0; i < b->n; i++) b->join[i] = join_of(b, i);
    free(meet);
    free(ends);
    free(edge);
}

static void init_blocks(cover_control *c, uint32_t f)
{
    const ft_function *function = function_at(c, f);
    cover_blocks *b = &c->functions[f];
    b->n = (uint32_t)function->blocks.len;
    b->words = ft_bits_words(b->n);
    b->must_exit = ft_calloc(b->n, sizeof *b->must_exit);
    b->after = ft_calloc((size_t)b->n * b->words, sizeof *b->after);
    b->post = ft_calloc((size_t)b->n * b->words, sizeof *b->post);
    b->join = ft_calloc(b->n, sizeof *b->join);
    for (uint32_t i = 0; i < b->n; i++) b->must_exit[i] = must_exit(c, f, i);
    add_edges(c, f, b);
    find_postdominators(b);
    c->block_of[f] = ft_calloc(function->instructions.len + 1, sizeof **c->block_of);
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t k = 0; k < function->blocks.data[i].n_instructions; k++)
            c->block_of[f][function->blocks.data[i].instructions + k] = i;
}

void cover_control_init(cover_control *control, const ft_flow *flow, const cover_markers *markers,
                        bool prefix)
{
    cover_control *c = control;
    *c = (cover_control){
        .program = ft_flow_program(flow), .flow = flow, .markers = markers, .prefix = prefix};
    uint32_t n = (uint32_t)c->program->functions.len;
    find_synchronising(c);
    find_failing(c);
    find_exiting(c);
    c->functions = ft_calloc(n + 1, sizeof *c->functions);
    c->block_of = ft_calloc(n + 1, sizeof *c->block_of);
    for (uint32_t f = 0; f < n; f++) init_blocks(c, f);
}

void cover_control_release(cover_control *c)
{
    for (size_t f = 0; c->functions && f < c->program->functions.len; f++) {
        free(c->functions[f].must_exit);
        free(c->functions[f].after);
        free(c->functions[f].post);
        free(c->functions[f].join);
        free(c->block_of[f]);
        free(c->may_fail[f]);
    }
    free(c->may_fail);
    free(c->fails);
    free(c->functions);
    free(c->block_of);
    free(c->synchronises);
    free(c->must_exit);
}

/* ---- questions ---- */

bool cover_controls(const cover_control *c, uint32_t f, uint32_t branch_block, uint32_t head_block,
                    bool same)
{
    const cover_blocks *b = &c->functions[f];
    const uint64_t *after = b->after + (size_t)branch_block * b->words;
    if (same) return false;
    for (uint32_t k = 0; k < b->n; k++)
        if (ft_bits_has(after, k) && !ft_bits_has(b->post + (size_t)k * b->words, head_block))
            return true;
    return false;
}

void cover_side(const cover_control *c, uint32_t f, uint32_t branch_block, uint32_t target,
                uint64_t *side)
{
    const cover_blocks *b = &c->functions[f];
    memset(side, 0, b->words * sizeof *side);
    FT_VEC(uint32_t) stack = {0};
    ft_vec_push(&stack, target);
    while (stack.len) {
        uint32_t block = stack.data[--stack.len];
        if (block == b->join[branch_block] || !ft_bits_add(side, block)) continue;
        for (uint32_t k = 0; k < b->n; k++)
            if (ft_bits_has(b->after + (size_t)block * b->words, k)) ft_vec_push(&stack, k);
    }
    ft_vec_release(&stack);
}

static bool instruction_may(const cover_control *c, uint32_t f, uint32_t i)
{
    const ft_instruction *in = &function_at(c, f)->instructions.data[i];
    if (c->markers && cover_is_marker(c->markers, f, i)) return true;
    if (cover_code_synchronises((ft_code)in->code) || cover_is_exit(c, f, in)) return true;
    if (!c->prefix && c->may_fail[f][i] && !cover_fault_is(COVER_FAULT_NO_FAIL)) return true;
    if (!is_call(in) || cover_fault_is(COVER_FAULT_NO_CALL_SYNC)) return false;
    uint32_t n;
    const uint32_t *targets = ft_flow_targets(c->flow, f, i, &n);
    for (uint32_t k = 0; k < n; k++)
        if (c->synchronises[targets[k]] || c->must_exit[targets[k]] ||
            (!c->prefix && (c->fails[targets[k]] || ft_flow_effects(c->flow, targets[k])->may_end)))
            return true;
    return false;
}

bool cover_may_synchronise(const cover_control *c, uint32_t f, const uint64_t *side)
{
    const ft_function *function = function_at(c, f);
    for (uint32_t k = 0; k < c->functions[f].n; k++) {
        const ft_block *b = &function->blocks.data[k];
        for (uint32_t i = 0; ft_bits_has(side, k) && i < b->n_instructions; i++)
            if (instruction_may(c, f, b->instructions + i)) return true;
    }
    return false;
}
