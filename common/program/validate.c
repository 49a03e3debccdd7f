#include "program/validate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "program/dominators.h"
#include "program/text.h"

typedef struct place {
    uint32_t block, index; /* of the instruction in the function; parameters: the block's first */
} place;

typedef struct validator {
    const ft_program *program;
    const ft_function *function;
    const ft_instruction *instruction;
    uint32_t block;
    place *assigned; /* by register; block FT_NO_BLOCK: never */
    ft_dominators dominators;
    ft_error *err;
} validator;

#define TRY(expression)                                                                            \
    do {                                                                                           \
        ft_status try_status = (expression);                                                       \
        if (try_status != FT_OK) return try_status;                                                \
    } while (0)

/* The error with the function, the block and the instruction before it. */
static ft_status FT_PRINTF(2, 3) fail(const validator *v, const char *format, ...)
{
    ft_strbuf text = {0};
    char what[240];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    ft_strbuf_printf(&text, "@%s", ft_program_symbol_name(v->program, v->function->symbol));
    if (v->block != FT_NO_BLOCK)
        ft_strbuf_printf(&text, ", block %s", ft_block_name(v->function, v->block));
    if (v->instruction) {
        ft_strbuf_puts(&text, ", '");
        ft_instruction_print(v->program, v->function, v->instruction, &text);
        ft_strbuf_puts(&text, "'");
    }
    ft_status status = ft_error_set(v->err, FT_INPUT, "%.200s: %s", text.text, what);
    ft_strbuf_release(&text);
    return status;
}

/* ---- operands ---- */

static ft_status check_symbol(const validator *v, uint32_t symbol)
{
    if (v->program->symbols.data[symbol].kind == FT_UNDEFINED)
        return fail(v, "@%s is not defined", ft_program_symbol_name(v->program, symbol));
    return FT_OK;
}

static ft_status check_assigned(const validator *v, uint32_t index, uint32_t at)
{
    place p = v->assigned[index];
    if (p.block == FT_NO_BLOCK)
        return fail(v, "%%%s is never assigned", ft_register_name(v->function, index));
    if (!ft_is_reached(&v->dominators, v->block)) return FT_OK;
    bool before =
        ft_is_reached(&v->dominators, p.block) &&
        (p.block == v->block ? p.index <= at : ft_dominates(&v->dominators, p.block, v->block));
    if (!before)
        return fail(v, "%%%s is not assigned on every way to here",
                    ft_register_name(v->function, index));
    return FT_OK;
}

static ft_status check_operand(const validator *v, const ft_operand *o, uint8_t width, uint32_t at)
{
    if (width && o->width != width)
        return fail(v, "an operand has %u bits where %u are needed", o->width, width);
    if (o->kind == FT_OPERAND_REGISTER) return check_assigned(v, o->index, at);
    return o->kind == FT_OPERAND_ADDRESS ? check_symbol(v, o->index) : FT_OK;
}

static const ft_operand *operand(const validator *v, uint32_t i)
{
    return &v->function->operands.data[v->instruction->operands + i];
}

static ft_status check_letters(const validator *v, const char *letters, uint32_t at)
{
    const ft_instruction *in = v->instruction;
    bool any = strchr(letters, '*') != NULL;
    uint32_t fixed = (uint32_t)strlen(letters) - (any ? 2 : 0);
    if (any ? in->n_operands < fixed : in->n_operands != fixed)
        return fail(v, "it has %" PRIu32 " operands, but needs %" PRIu32, in->n_operands, fixed);
    for (uint32_t i = 0; i < in->n_operands; i++) {
        char letter = i < fixed ? letters[i] : letters[fixed];
        TRY(check_operand(v, operand(v, i), ft_letter_width(letter, in->width), at));
    }
    return FT_OK;
}

/* ---- widths of single instructions ---- */

static bool is_float(uint8_t width)
{
    return width == 32 || width == 64;
}

static bool is_atomic(uint8_t width)
{
    return width == 8 || width == 16 || width == 32 || width == 64;
}

/* Which widths an instruction takes beside what its row says. */
typedef enum demand {
    ANY,
    WIDER,
    NARROWER,
    FLOAT,
    TO_FLOAT,
    FROM_FLOAT,
    OTHER_FLOAT,
    ATOMIC
} demand;
static const uint8_t DEMANDS[FT_CODES] = {
    [FT_CODE_ZEXT] = WIDER,          [FT_CODE_SEXT] = WIDER,
    [FT_CODE_TRUNC] = NARROWER,      [FT_CODE_FADD] = FLOAT,
    [FT_CODE_FSUB] = FLOAT,          [FT_CODE_FMUL] = FLOAT,
    [FT_CODE_FDIV] = FLOAT,          [FT_CODE_FREM] = FLOAT,
    [FT_CODE_FEQ] = FLOAT,           [FT_CODE_FLT] = FLOAT,
    [FT_CODE_FLE] = FLOAT,           [FT_CODE_FNAN] = FLOAT,
    [FT_CODE_FTOS] = FROM_FLOAT,     [FT_CODE_FTOU] = FROM_FLOAT,
    [FT_CODE_STOF] = TO_FLOAT,       [FT_CODE_UTOF] = TO_FLOAT,
    [FT_CODE_FTOF] = OTHER_FLOAT,    [FT_CODE_ATOMIC_LOAD] = ATOMIC,
    [FT_CODE_ATOMIC_STORE] = ATOMIC, [FT_CODE_ATOMIC_UPDATE] = ATOMIC,
    [FT_CODE_ATOMIC_SWAP] = ATOMIC,
};

static ft_status check_widths(const validator *v)
{
    const ft_instruction *in = v->instruction;
    uint8_t width = in->width, of = in->n_operands ? operand(v, 0)->width : 0;
    bool good = true;
    switch ((demand)DEMANDS[in->code]) {
    case ANY:
        break;
    case WIDER:
        good = of < width;
        break;
    case NARROWER:
        good = of > width;
        break;
    case FLOAT:
    case TO_FLOAT:
        good = is_float(width);
        break;
    case FROM_FLOAT:
        good = is_float(of);
        break;
    case OTHER_FLOAT:
        good = is_float(width) && is_float(of) && width != of;
        break;
    case ATOMIC:
        good = is_atomic(width);
        break;
    }
    return good ? FT_OK
                : fail(v, "the widths, %u and %u bits, do not fit the instruction", width, of);
}

/* ---- calls, returns and targets ---- */

static ft_status check_arguments(const validator *v, const ft_block *block, uint32_t first,
                                 uint32_t n, uint32_t at)
{
    if (n != block->n_parameters)
        return fail(v, "%" PRIu32 " arguments are given, but %" PRIu32 " are needed", n,
                    block->n_parameters);
    for (uint32_t i = 0; i < n; i++) {
        const ft_function *f = v->function;
        TRY(check_operand(v, &f->operands.data[first + i],
                          f->registers.data[block->parameters + i].width, at));
    }
    return FT_OK;
}

static ft_status check_call(const validator *v)
{
    const ft_instruction *in = v->instruction;
    const ft_function *f = ft_program_function(v->program, in->extra);
    if (!f) return fail(v, "@%s is not a function", ft_program_symbol_name(v->program, in->extra));
    if (!f->blocks.len || in->n_operands != f->blocks.data[0].n_parameters ||
        in->width != f->result)
        return fail(v, "the function has other parameters or another result");
    for (uint32_t i = 0; i < in->n_operands; i++)
        if (operand(v, i)->width != f->registers.data[f->blocks.data[0].parameters + i].width)
            return fail(v, "argument %" PRIu32 " has the wrong width", i + 1);
    return FT_OK;
}

static ft_status check_return(const validator *v)
{
    const ft_instruction *in = v->instruction;
    uint8_t width = in->n_operands ? operand(v, 0)->width : 0;
    if (in->n_operands > 1 || width != v->function->result)
        return fail(v, "the function's result has %u bits", v->function->result);
    return FT_OK;
}

static ft_status check_cases(const validator *v)
{
    const ft_instruction *in = v->instruction;
    const ft_target *t = &v->function->targets.data[in->targets];
    if (!in->n_targets) return fail(v, "a switch needs a target");
    ft_map seen = {0};
    bool fresh = true;
    for (uint32_t i = 1; i < in->n_targets && fresh; i++) ft_map_slot(&seen, t[i].value, 1, &fresh);
    ft_map_release(&seen);
    return fresh ? FT_OK : fail(v, "a value comes twice");
}

static ft_status check_targets(const validator *v, uint32_t at)
{
    const ft_instruction *in = v->instruction;
    uint32_t need = in->code == FT_CODE_JUMP ? 1 : in->code == FT_CODE_BRANCH ? 2 : 0;
    if (in->code == FT_CODE_SWITCH)
        TRY(check_cases(v));
    else if (in->n_targets != need)
        return fail(v, "it has %" PRIu32 " targets, but needs %" PRIu32, in->n_targets, need);
    for (uint32_t i = 0; i < in->n_targets; i++) {
        const ft_target *t = &v->function->targets.data[in->targets + i];
        if (t->block == 0) return fail(v, "the function's first block is a target");
        TRY(check_arguments(v, &v->function->blocks.data[t->block], t->operands, t->n_operands,
                            at));
    }
    return FT_OK;
}

static ft_status check_instruction(const validator *v, uint32_t at)
{
    const ft_instruction *in = v->instruction;
    const ft_instruction_row *row = ft_instruction_row_of(in->code);
    bool call = in->code == FT_CODE_CALL || in->code == FT_CODE_CALL_AT;
    if (ft_code_has_width(in->code) && !in->width && !call) return fail(v, "its width is missing");
    TRY(check_letters(v, row->operands, at));
    TRY(check_widths(v));
    if (in->code == FT_CODE_CALL) TRY(check_call(v));
    if (in->code == FT_CODE_RETURN) TRY(check_return(v));
    uint8_t width = ft_instruction_result_width(in);
    if (in->result != FT_NO_REGISTER && v->function->registers.data[in->result].width != width)
        return fail(v, "its result has %u bits", width);
    return check_targets(v, at);
}

/* ---- functions ---- */

static ft_status assign(validator *v, uint32_t index, place where)
{
    if (v->assigned[index].block != FT_NO_BLOCK)
        return fail(v, "%%%s is assigned twice", ft_register_name(v->function, index));
    v->assigned[index] = where;
    return FT_OK;
}

static ft_status note_block(validator *v, const ft_block *b)
{
    for (uint32_t i = 0; i < b->n_parameters; i++)
        TRY(assign(v, b->parameters + i, (place){v->block, b->instructions}));
    if (!b->n_instructions) return fail(v, "the block has no instruction");
    for (uint32_t i = 0; i < b->n_instructions; i++) {
        v->instruction = &v->function->instructions.data[b->instructions + i];
        bool last = i + 1 == b->n_instructions;
        if (ft_code_ends_block(v->instruction->code) != last)
            return fail(v, last ? "a block must end in an instruction that leaves it"
                                : "the block goes on behind an instruction that leaves it");
        uint32_t result = v->instruction->result;
        if (result != FT_NO_REGISTER)
            TRY(assign(v, result, (place){v->block, b->instructions + i + 1}));
    }
    v->instruction = NULL;
    return FT_OK;
}

/* Fills `assigned`. */
static ft_status note_assigned(validator *v)
{
    for (size_t i = 0; i < v->function->registers.len; i++)
        v->assigned[i] = (place){FT_NO_BLOCK, 0};
    for (v->block = 0; v->block < v->function->blocks.len; v->block++)
        TRY(note_block(v, &v->function->blocks.data[v->block]));
    return FT_OK;
}

static ft_status check_blocks(validator *v)
{
    for (v->block = 0; v->block < v->function->blocks.len; v->block++) {
        const ft_block *b = &v->function->blocks.data[v->block];
        for (uint32_t i = 0; i < b->n_instructions; i++) {
            v->instruction = &v->function->instructions.data[b->instructions + i];
            TRY(check_instruction(v, b->instructions + i));
        }
        v->instruction = NULL;
    }
    return FT_OK;
}

static ft_status check_variables(validator *v)
{
    const ft_function *f = v->function;
    uint32_t at = 0;
    v->block = FT_NO_BLOCK;
    for (size_t i = 0; i < f->variables.len; i++) {
        const ft_variable_note *n = &f->variables.data[i];
        if (n->instruction < at || n->instruction >= f->instructions.len)
            return fail(v, "its variables are not in the order of its instructions");
        at = n->instruction;
        if (n->address && f->registers.data[n->reg].width != 64)
            return fail(v, "%%%s is not an address", ft_register_name(f, n->reg));
    }
    return FT_OK;
}

static ft_status check_function(const ft_program *program, const ft_function *f, ft_error *err)
{
    validator v = {.program = program, .function = f, .block = FT_NO_BLOCK, .err = err};
    if (!f->blocks.len) return fail(&v, "the function has no block");
    v.assigned = ft_alloc((f->registers.len + 1) * sizeof *v.assigned);
    ft_status status = note_assigned(&v);
    if (status == FT_OK) {
        ft_dominators_init(&v.dominators, f);
        status = check_blocks(&v);
        ft_dominators_release(&v.dominators);
    }
    free(v.assigned);
    if (status == FT_OK) status = check_variables(&v);
    return status;
}

/* ---- objects ---- */

static ft_status check_initial(const ft_program *p, const ft_object *o, const ft_initial *part,
                               uint64_t *end, ft_error *err)
{
    const char *name = ft_program_symbol_name(p, o->symbol);
    bool bytes = part->symbol == FT_NO_SYMBOL;
    uint64_t length = bytes ? p->texts.lengths[part->text] : 8;
    if (part->offset < *end)
        return ft_error_set(err, FT_INPUT, "object @%s: its first contents overlap at %" PRIu64,
                            name, part->offset);
    if (part->offset > o->size || length > o->size - part->offset)
        return ft_error_set(err, FT_INPUT,
                            "object @%s: its first contents at %" PRIu64 " go beyond its %" PRIu64
                            " bytes",
                            name, part->offset, o->size);
    *end = part->offset + length;
    if (bytes) return FT_OK;
    const char *of = ft_program_symbol_name(p, part->symbol);
    if (p->symbols.data[part->symbol].kind == FT_UNDEFINED)
        return ft_error_set(err, FT_INPUT, "object @%s: @%s is not defined", name, of);
    const ft_object *to = ft_program_object(p, part->symbol);
    if (to && to->by_thread)
        return ft_error_set(err, FT_INPUT, "object @%s: @%s has an address in each thread", name,
                            of);
    return FT_OK;
}

static ft_status check_object(const ft_program *p, const ft_object *o, ft_error *err)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < o->n_initial; i++)
        TRY(check_initial(p, o, &p->initials.data[o->initial + i], &end, err));
    return FT_OK;
}

/* ---- programs ---- */

static bool is_main(const ft_function *f)
{
    const ft_block *entry = &f->blocks.data[0];
    const ft_register *parameters = f->registers.data + entry->parameters;
    bool two = entry->n_parameters == 2 && parameters[0].width == 32 && parameters[1].width == 64;
    return (f->result == 0 || f->result == 32) && (two || !entry->n_parameters);
}

static ft_status check_main(const ft_program *p, ft_error *err)
{
    uint32_t symbol = ft_intern_find(&p->names, "main", 4);
    const ft_function *f = symbol == FT_NO_ID ? NULL : ft_program_function(p, symbol);
    if (!f) return ft_error_set(err, FT_INPUT, "the program has no function @main");
    if (!is_main(f))
        return ft_error_set(err, FT_INPUT,
                            "@main must have the parameters () or (i32, i64) and "
                            "return i32 or nothing");
    return FT_OK;
}

ft_status ft_program_validate(const ft_program *program, ft_error *err)
{
    FT_REQUIRE(program);
    for (size_t i = 0; i < program->objects.len; i++)
        TRY(check_object(program, &program->objects.data[i], err));
    for (size_t i = 0; i < program->functions.len; i++)
        TRY(check_function(program, &program->functions.data[i], err));
    return check_main(program, err);
}
