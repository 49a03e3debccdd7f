#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/closest.h"
#include "base/contract.h"
#include "program/text.h"
#include "program/text_token.h"
#include "program/validate.h"

/* Registers and blocks may be named before they come. Until the function ends, operands and targets
 * hold the number of the name. */
typedef struct mention {
    uint32_t index;        /* of the register or block; FT_NO_ID: it has not come yet */
    uint64_t line, column; /* where it was named first */
} mention;

typedef struct names {
    ft_intern ids;
    FT_VEC(mention) mentions; /* by id */
} names;

typedef struct parameter {
    uint32_t id;
    uint8_t width;
} parameter;

typedef struct reader {
    ft_tokens tokens;
    ft_program *program;
    ft_function *function;        /* being read */
    names labels, registers;      /* of the function */
    FT_VEC(parameter) parameters; /* of the block that begins next */
    FT_VEC(ft_operand) operands;
    ft_error *err;
} reader;

#define TOKEN(r)     (&(r)->tokens.token)
#define FAIL(r, ...) ft_error_at((r)->err, FT_INPUT, TOKEN(r)->line, TOKEN(r)->column, __VA_ARGS__)
#define TRY(expression)                                                                            \
    do {                                                                                           \
        ft_status try_status = (expression);                                                       \
        if (try_status != FT_OK) return try_status;                                                \
    } while (0)

/* ---- tokens ---- */

static ft_status next(reader *r)
{
    return ft_tokens_next(&r->tokens);
}

static bool is_sign(reader *r, char sign)
{
    return TOKEN(r)->kind == FT_TOKEN_SIGN && TOKEN(r)->sign == sign;
}

static bool is_word(reader *r, const char *word)
{
    return TOKEN(r)->kind == FT_TOKEN_WORD && strcmp(TOKEN(r)->text.text, word) == 0;
}

static ft_status expect_sign(reader *r, char sign, const char *where)
{
    if (!is_sign(r, sign)) return FAIL(r, "a '%c' is missing %s", sign, where);
    return next(r);
}

static ft_status expect_number(reader *r, const char *what, uint64_t most, uint64_t *value)
{
    if (TOKEN(r)->kind != FT_TOKEN_NUMBER) return FAIL(r, "%s is missing: a number", what);
    if (TOKEN(r)->number > most)
        return FAIL(r, "%s is %" PRIu64 ", but at most %" PRIu64 " is allowed", what,
                    TOKEN(r)->number, most);
    *value = TOKEN(r)->number;
    return next(r);
}

/* i1 to i64. */
static bool is_width(reader *r, uint8_t *width)
{
    const char *text = ft_strbuf_text(&TOKEN(r)->text);
    if (TOKEN(r)->kind != FT_TOKEN_WORD || text[0] != 'i' || !text[1]) return false;
    unsigned value = 0;
    for (const char *c = text + 1; *c; c++) {
        if (*c < '0' || *c > '9' || value > 64) return false;
        value = value * 10 + (unsigned)(*c - '0');
    }
    *width = (uint8_t)value;
    return value >= 1 && value <= 64;
}

static ft_status expect_width(reader *r, const char *where, uint8_t *width)
{
    if (!is_width(r, width)) return FAIL(r, "a width, i1 to i64, is missing %s", where);
    return next(r);
}

static ft_status position(reader *r, ft_position *at)
{
    *at = (ft_position){FT_NO_FILE, 0, 0};
    if (!is_sign(r, '!')) return FT_OK;
    uint64_t parts[3] = {0}, line = TOKEN(r)->line, column = TOKEN(r)->column;
    for (int i = 0; i < 3; i++) {
        TRY(next(r));
        if (i && !is_sign(r, ':')) return FAIL(r, "a position is written !file:line:column");
        if (i) TRY(next(r));
        if (TOKEN(r)->kind != FT_TOKEN_NUMBER || TOKEN(r)->number >= FT_NO_FILE)
            return FAIL(r, "a position is written !file:line:column");
        parts[i] = TOKEN(r)->number;
    }
    if (parts[0] >= r->program->files.len)
        return ft_error_at(r->err, FT_INPUT, line, column,
                           "there is no file %" PRIu64 ": a 'file' line before must name it",
                           parts[0]);
    *at = (ft_position){(uint32_t)parts[0], (uint32_t)parts[1], (uint32_t)parts[2]};
    return next(r);
}

static uint32_t symbol_here(reader *r)
{
    return ft_program_symbol_named(r->program, TOKEN(r)->text.text, TOKEN(r)->text.len);
}

/* @name or @name+5 */
static ft_status address(reader *r, uint32_t *symbol, uint64_t *addend)
{
    if (TOKEN(r)->kind != FT_TOKEN_SYMBOL) return FAIL(r, "a symbol, @name, is missing");
    *symbol = symbol_here(r);
    *addend = 0;
    TRY(next(r));
    const char *text = r->tokens.text;
    bool sum = TOKEN(r)->kind == FT_TOKEN_NUMBER &&
               strchr("+-", text[r->tokens.line_start + TOKEN(r)->column - 1]);
    if (sum) *addend = TOKEN(r)->number;
    return sum ? next(r) : FT_OK;
}

/* ---- operands ---- */

static uint32_t mentioned(reader *r, names *n)
{
    uint32_t id = ft_intern_add(&n->ids, ft_strbuf_text(&TOKEN(r)->text), TOKEN(r)->text.len);
    if (id == n->mentions.len)
        ft_vec_push(&n->mentions, (mention){FT_NO_ID, TOKEN(r)->line, TOKEN(r)->column});
    return id;
}

static void release_names(names *n)
{
    ft_intern_release(&n->ids);
    ft_vec_release(&n->mentions);
}

/* width 0: a literal says its own. */
static ft_status literal(reader *r, uint8_t width, ft_operand *operand)
{
    if (!width) TRY(expect_width(r, "before the literal", &width));
    if (TOKEN(r)->kind != FT_TOKEN_NUMBER) return FAIL(r, "an operand is missing");
    uint64_t value = TOKEN(r)->number, above = value & ~ft_width_mask(width);
    bool negative = above == ~ft_width_mask(width) && value >> (width - 1) & 1;
    if (above && !negative) return FAIL(r, "the literal does not fit into %u bits", width);
    *operand = ft_operand_literal(width, value);
    return next(r);
}

static ft_status operand(reader *r, uint8_t width, ft_operand *o)
{
    if (TOKEN(r)->kind == FT_TOKEN_REGISTER) {
        *o = (ft_operand){FT_OPERAND_REGISTER, 0, mentioned(r, &r->registers), 0};
        return next(r);
    }
    if (TOKEN(r)->kind != FT_TOKEN_SYMBOL) return literal(r, width, o);
    uint32_t symbol = FT_NO_SYMBOL;
    uint64_t addend = 0;
    TRY(address(r, &symbol, &addend));
    *o = ft_operand_address(symbol, addend);
    return FT_OK;
}

static ft_status add_operand(reader *r, uint8_t width)
{
    ft_operand o;
    TRY(operand(r, width, &o));
    if (r->operands.len >= FT_PROGRAM_MAX_ITEMS) return FAIL(r, "too many operands");
    ft_vec_push(&r->operands, o);
    return FT_OK;
}

/* (a, b, ...), or nothing. */
static ft_status arguments(reader *r)
{
    if (!is_sign(r, '(')) return FT_OK;
    TRY(next(r));
    while (!is_sign(r, ')')) {
        TRY(add_operand(r, 0));
        if (!is_sign(r, ')')) TRY(expect_sign(r, ',', "between the arguments"));
    }
    return next(r);
}

static bool starts_operand(reader *r)
{
    uint8_t width;
    return TOKEN(r)->kind == FT_TOKEN_REGISTER || TOKEN(r)->kind == FT_TOKEN_SYMBOL ||
           TOKEN(r)->kind == FT_TOKEN_NUMBER || is_width(r, &width);
}

static ft_status operands(reader *r, const ft_instruction *in)
{
    const char *letters = ft_instruction_row_of(in->code)->operands;
    if (in->code == FT_CODE_CALL) return arguments(r);
    if (in->code == FT_CODE_CALL_AT) {
        TRY(add_operand(r, 64));
        return arguments(r);
    }
    if (in->code == FT_CODE_RETURN) return starts_operand(r) ? add_operand(r, 0) : FT_OK;
    for (int i = 0; letters[i]; i++) {
        if (i) TRY(expect_sign(r, ',', "between the operands"));
        TRY(add_operand(r, ft_letter_width(letters[i], in->width)));
    }
    return FT_OK;
}

/* ---- attributes ---- */

static ft_status order(reader *r, uint8_t *value)
{
    ft_order found;
    if (TOKEN(r)->kind != FT_TOKEN_WORD || !ft_order_named(TOKEN(r)->text.text, &found))
        return FAIL(r, "a memory order is missing: relaxed, acquire, release, acq_rel or seq_cst");
    *value = (uint8_t)found;
    return next(r);
}

static ft_status update(reader *r, ft_instruction *in)
{
    ft_update found;
    if (TOKEN(r)->kind != FT_TOKEN_WORD || !ft_update_named(TOKEN(r)->text.text, &found))
        return FAIL(r, "the kind of update is missing: exchange, add, sub, and, or, xor, nand, "
                       "smax, smin, umax or umin");
    in->attribute = (uint8_t)found;
    TRY(next(r));
    return order(r, &in->order);
}

static ft_status align(reader *r, uint8_t *exponent)
{
    uint64_t value = 0;
    TRY(expect_number(r, "the alignment", 4096, &value));
    if (!value || value & (value - 1)) return FAIL(r, "an alignment is a power of two up to 4096");
    for (*exponent = 0; value > 1; value /= 2) ++*exponent;
    return FT_OK;
}

static ft_status mutex_kind(reader *r, uint8_t *kind)
{
    ft_mutex_kind found;
    if (TOKEN(r)->kind != FT_TOKEN_WORD || !ft_mutex_kind_named(TOKEN(r)->text.text, &found))
        return FAIL(r, "the kind of mutex is missing: normal, recursive or checking");
    *kind = (uint8_t)found;
    return next(r);
}

static ft_status quoted_text(reader *r, uint32_t *text)
{
    if (TOKEN(r)->kind != FT_TOKEN_STRING) return FAIL(r, "a text in quotes is missing");
    *text = ft_intern_add(&r->program->texts, ft_strbuf_text(&TOKEN(r)->text), TOKEN(r)->text.len);
    return next(r);
}

static ft_status attribute(reader *r, ft_instruction *in)
{
    switch ((ft_attribute_kind)ft_instruction_row_of(in->code)->attribute) {
    case FT_ATTRIBUTE_NONE:
    case FT_ATTRIBUTE_FUNCTION:
        break;
    case FT_ATTRIBUTE_ALIGN:
        return align(r, &in->attribute);
    case FT_ATTRIBUTE_ORDER:
        return order(r, &in->attribute);
    case FT_ATTRIBUTE_UPDATE:
        return update(r, in);
    case FT_ATTRIBUTE_MUTEX:
        return mutex_kind(r, &in->attribute);
    case FT_ATTRIBUTE_TEXT:
        return quoted_text(r, &in->extra);
    }
    return FT_OK;
}

/* ---- blocks and targets ---- */

static bool is_label(reader *r)
{
    return TOKEN(r)->kind == FT_TOKEN_WORD || TOKEN(r)->kind == FT_TOKEN_STRING;
}

static bool has_zero(reader *r)
{
    return memchr(ft_strbuf_text(&TOKEN(r)->text), '\0', TOKEN(r)->text.len) != NULL;
}

static ft_status label_here(reader *r, uint32_t *id)
{
    if (!is_label(r) || !TOKEN(r)->text.len || has_zero(r))
        return FAIL(r, "the label of a block is missing");
    *id = mentioned(r, &r->labels);
    return next(r);
}

static ft_status target(reader *r, uint64_t value)
{
    uint32_t id = FT_NO_ID;
    TRY(label_here(r, &id));
    r->operands.len = 0;
    TRY(arguments(r));
    ft_function_add_target(r->function, id, value, r->operands.data, (uint32_t)r->operands.len);
    return FT_OK;
}

static ft_status cases(reader *r, uint8_t width)
{
    TRY(expect_sign(r, ',', "before the first target"));
    TRY(target(r, 0));
    while (is_sign(r, ',')) {
        ft_operand value;
        TRY(next(r));
        TRY(literal(r, width, &value));
        TRY(expect_sign(r, ':', "behind the value"));
        TRY(target(r, value.value));
    }
    return FT_OK;
}

static ft_status targets(reader *r, const ft_instruction *in)
{
    if (in->code == FT_CODE_JUMP) return target(r, 0);
    if (in->code == FT_CODE_SWITCH) return cases(r, in->width);
    if (in->code != FT_CODE_BRANCH) return FT_OK;
    for (int i = 0; i < 2; i++) {
        TRY(expect_sign(r, ',', "before the target"));
        TRY(target(r, 0));
    }
    return FT_OK;
}

/* The name of a new register, in the token. */
static ft_status new_name(reader *r, uint32_t *id)
{
    *id = mentioned(r, &r->registers);
    mention *m = &r->registers.mentions.data[*id];
    if (m->index != FT_NO_ID)
        return FAIL(r, "the register %%%s is assigned for the second time", TOKEN(r)->text.text);
    if (r->function->registers.len >= FT_PROGRAM_MAX_ITEMS) return FAIL(r, "too many registers");
    m->index = UINT32_MAX - 1; /* taken; its number follows */
    return FT_OK;
}

static const char *register_name(reader *r, uint32_t id)
{
    return r->registers.ids.names[id];
}

/* ---- instructions ---- */

static ft_status unknown_instruction(reader *r, const ft_token *word)
{
    const char *name = word->text.text;
    ft_closest c = {.word = name};
    for (int i = 0; i < FT_CODES; i++)
        ft_closest_offer(&c, ft_instruction_row_of((ft_code)i)->name);
    return ft_error_at(r->err, FT_INPUT, word->line, word->column,
                       "'%s' is not an instruction%s%s%s", name, c.name ? "; did you mean '" : "",
                       c.name ? c.name : "", c.name ? "'?" : "");
}

static ft_status width(reader *r, ft_instruction *in)
{
    bool call = in->code == FT_CODE_CALL || in->code == FT_CODE_CALL_AT;
    if (!ft_code_has_width(in->code)) return FT_OK;
    if (call && !is_width(r, &in->width)) return FT_OK;
    TRY(expect_width(r, "behind the instruction's name", &in->width));
    return FT_OK;
}

static ft_status callee(reader *r, ft_instruction *in)
{
    if (in->code != FT_CODE_CALL) return FT_OK;
    if (TOKEN(r)->kind != FT_TOKEN_SYMBOL) return FAIL(r, "the function's name is missing");
    in->extra = symbol_here(r);
    return next(r);
}

/* A result may be left out. */
static ft_status result(reader *r, ft_instruction *in, uint32_t id)
{
    uint8_t bits = ft_instruction_result_width(in);
    if (id == FT_NO_ID) return FT_OK;
    if (!bits) return FAIL(r, "the instruction has no result");
    in->result = ft_function_add_register(r->function, register_name(r, id), bits);
    r->registers.mentions.data[id].index = in->result;
    return FT_OK;
}

/* Behind the name: reads the rest, and adds it. id: the result's name; FT_NO_ID: none. */
static ft_status instruction(reader *r, ft_code code, uint32_t id)
{
    ft_instruction in = {.code = (uint8_t)code, .result = FT_NO_REGISTER};
    TRY(attribute(r, &in));
    TRY(width(r, &in));
    TRY(callee(r, &in));
    r->operands.len = 0;
    TRY(operands(r, &in));
    TRY(result(r, &in, id));
    if (r->function->instructions.len >= FT_PROGRAM_MAX_ITEMS)
        return FAIL(r, "too many instructions");
    ft_function_add(r->function, &in, r->operands.data, (uint32_t)r->operands.len);
    TRY(targets(r, &in));
    size_t last = r->function->instructions.len - 1;
    return position(r, &r->function->instructions.data[last].position);
}

/* %name = instruction */
static ft_status assignment(reader *r)
{
    uint32_t id = FT_NO_ID;
    ft_code code;
    TRY(new_name(r, &id));
    TRY(next(r));
    TRY(expect_sign(r, '=', "behind the register"));
    if (TOKEN(r)->kind != FT_TOKEN_WORD) return FAIL(r, "the name of an instruction is missing");
    if (!ft_code_named(TOKEN(r)->text.text, &code)) return unknown_instruction(r, TOKEN(r));
    TRY(next(r));
    return instruction(r, code, id);
}

/* ---- functions ---- */

static ft_status one_parameter(reader *r)
{
    parameter p;
    if (TOKEN(r)->kind != FT_TOKEN_REGISTER) return FAIL(r, "a parameter is missing: %%name: iN");
    TRY(new_name(r, &p.id));
    TRY(next(r));
    TRY(expect_sign(r, ':', "behind the parameter"));
    TRY(expect_width(r, "behind the parameter", &p.width));
    ft_vec_push(&r->parameters, p);
    return FT_OK;
}

static ft_status parameters(reader *r)
{
    r->parameters.len = 0;
    TRY(expect_sign(r, '(', "before the parameters"));
    while (!is_sign(r, ')')) {
        TRY(one_parameter(r));
        if (!is_sign(r, ')')) TRY(expect_sign(r, ',', "between the parameters"));
    }
    return next(r);
}

/* Behind the label. The first block has the function's parameters. */
static ft_status block(reader *r, uint32_t id)
{
    const char *name = r->labels.ids.names[id];
    if (r->labels.mentions.data[id].index != FT_NO_ID)
        return FAIL(r, "the block '%s' comes for the second time", name);
    if (r->function->blocks.len && is_sign(r, '(')) TRY(parameters(r));
    if (r->function->blocks.len >= FT_PROGRAM_MAX_ITEMS) return FAIL(r, "too many blocks");
    r->labels.mentions.data[id].index = ft_function_add_block(r->function, name);
    for (size_t i = 0; i < r->parameters.len; i++) {
        const parameter *p = &r->parameters.data[i];
        r->registers.mentions.data[p->id].index =
            ft_function_add_parameter(r->function, register_name(r, p->id), p->width);
    }
    r->parameters.len = 0;
    return expect_sign(r, ':', "behind the block's label");
}

/* Behind the word: it is a label if a ':' or parameters follow. */
static ft_status labelled(reader *r, const ft_token *word)
{
    uint32_t id = ft_intern_add(&r->labels.ids, word->text.text, word->text.len);
    if (id == r->labels.mentions.len)
        ft_vec_push(&r->labels.mentions, (mention){FT_NO_ID, word->line, word->column});
    return block(r, id);
}

/* Behind the word `variable`. */
static ft_status variable(reader *r)
{
    ft_variable_note v = {.instruction = (uint32_t)r->function->instructions.len,
                          .reg = FT_NO_REGISTER};
    if (TOKEN(r)->kind != FT_TOKEN_STRING)
        return FAIL(r, "the variable's name in quotes is missing");
    TRY(quoted_text(r, &v.name));
    v.address = is_word(r, "at");
    if (v.address) TRY(next(r));
    if (TOKEN(r)->kind == FT_TOKEN_REGISTER)
        v.reg = mentioned(r, &r->registers);
    else if (v.address || !is_word(r, "nowhere"))
        return FAIL(r, "a register is missing, or the word 'nowhere'");
    TRY(next(r));
    TRY(position(r, &v.position));
    if (r->function->variables.len >= FT_PROGRAM_MAX_ITEMS) return FAIL(r, "too many variables");
    ft_vec_push(&r->function->variables, v);
    return FT_OK;
}

static ft_status after_word(reader *r, const ft_token *word)
{
    ft_code code;
    if (word->kind == FT_TOKEN_STRING || is_sign(r, ':') || is_sign(r, '('))
        return labelled(r, word);
    if (!r->function->blocks.len)
        return FAIL(r, "a function begins with the label of its first block");
    if (strcmp(word->text.text, "variable") == 0) return variable(r);
    if (!ft_code_named(word->text.text, &code)) return unknown_instruction(r, word);
    return instruction(r, code, FT_NO_ID);
}

/* A line that begins with a word: a block's label, or an instruction without result. */
static ft_status word_line(reader *r)
{
    if (!TOKEN(r)->text.len || has_zero(r)) return FAIL(r, "a block's label is missing");
    ft_token word = *TOKEN(r);
    TOKEN(r)->text = (ft_strbuf){0}; /* `word` has it now */
    ft_status status = next(r);
    if (status == FT_OK) status = after_word(r, &word);
    ft_strbuf_release(&word.text);
    return status;
}

static ft_status body(reader *r)
{
    while (!is_sign(r, '}')) {
        if (TOKEN(r)->kind == FT_TOKEN_REGISTER && r->function->blocks.len)
            TRY(assignment(r));
        else if (is_label(r))
            TRY(word_line(r));
        else
            return FAIL(r, "an instruction, a block's label or '}' is missing");
    }
    if (!r->function->blocks.len) return FAIL(r, "a function needs a block");
    return next(r);
}

static ft_status all_came(reader *r, const names *n, const char *what)
{
    for (size_t i = 0; i < n->mentions.len; i++) {
        const mention *m = &n->mentions.data[i];
        if (m->index == FT_NO_ID)
            return ft_error_at(r->err, FT_INPUT, m->line, m->column, "the function has no %s%s",
                               what, n->ids.names[i]);
    }
    return FT_OK;
}

static ft_status resolve(reader *r)
{
    ft_function *f = r->function;
    TRY(all_came(r, &r->labels, "block "));
    TRY(all_came(r, &r->registers, "register %"));
    for (size_t i = 0; i < f->targets.len; i++) {
        ft_target *t = &f->targets.data[i];
        t->block = r->labels.mentions.data[t->block].index;
    }
    for (size_t i = 0; i < f->operands.len; i++) {
        ft_operand *o = &f->operands.data[i];
        if (o->kind == FT_OPERAND_REGISTER)
            *o = ft_operand_register(f, r->registers.mentions.data[o->index].index);
    }
    for (size_t i = 0; i < f->variables.len; i++) {
        ft_variable_note *v = &f->variables.data[i];
        if (v->reg != FT_NO_REGISTER) v->reg = r->registers.mentions.data[v->reg].index;
    }
    return FT_OK;
}

static ft_status defined_symbol(reader *r, uint32_t *symbol)
{
    if (TOKEN(r)->kind != FT_TOKEN_SYMBOL) return FAIL(r, "a name, @name, is missing");
    *symbol = symbol_here(r);
    if (r->program->symbols.data[*symbol].kind != FT_UNDEFINED)
        return FAIL(r, "@%s is defined for the second time", TOKEN(r)->text.text);
    return next(r);
}

static ft_status function(reader *r)
{
    uint32_t symbol = FT_NO_SYMBOL;
    TRY(defined_symbol(r, &symbol));
    r->function = ft_program_add_function(r->program, symbol);
    release_names(&r->labels);
    release_names(&r->registers);
    TRY(parameters(r));
    if (TOKEN(r)->kind == FT_TOKEN_ARROW) {
        TRY(next(r));
        TRY(expect_width(r, "behind the ->", &r->function->result));
    }
    TRY(expect_sign(r, '{', "before the function's blocks"));
    TRY(body(r));
    return resolve(r);
}

/* ---- objects and files ---- */

static ft_status initial(reader *r)
{
    ft_initial part = {.symbol = FT_NO_SYMBOL};
    TRY(expect_number(r, "the offset", FT_PROGRAM_MAX_OBJECT, &part.offset));
    TRY(expect_sign(r, ':', "behind the offset"));
    if (TOKEN(r)->kind == FT_TOKEN_STRING)
        TRY(quoted_text(r, &part.text));
    else
        TRY(address(r, &part.symbol, &part.addend));
    ft_vec_push(&r->program->initials, part);
    return FT_OK;
}

static ft_status initials(reader *r, ft_object *o)
{
    if (!is_sign(r, '{')) return FT_OK;
    TRY(next(r));
    for (; !is_sign(r, '}'); o->n_initial++) TRY(initial(r));
    return next(r);
}

static ft_status object_words(reader *r, ft_object *o)
{
    for (;;) {
        if (is_word(r, "align")) {
            uint8_t exponent = 0;
            TRY(next(r));
            TRY(align(r, &exponent));
            o->align = 1u << exponent;
        } else if (is_word(r, "constant")) {
            o->constant = true;
            TRY(next(r));
        } else if (is_word(r, "thread")) {
            o->by_thread = true;
            TRY(next(r));
        } else {
            return FT_OK;
        }
    }
}

static ft_status object(reader *r)
{
    uint32_t symbol = FT_NO_SYMBOL;
    TRY(defined_symbol(r, &symbol));
    ft_object *o = ft_program_add_object(r->program, symbol);
    TRY(expect_number(r, "the size", FT_PROGRAM_MAX_OBJECT, &o->size));
    TRY(object_words(r, o));
    TRY(position(r, &o->position));
    return initials(r, o);
}

static ft_status file(reader *r)
{
    if (TOKEN(r)->kind != FT_TOKEN_STRING) return FAIL(r, "a file's name in quotes is missing");
    uint32_t known = r->program->files.len;
    if (ft_intern_add(&r->program->files, ft_strbuf_text(&TOKEN(r)->text), TOKEN(r)->text.len) !=
        known)
        return FAIL(r, "the file is named for the second time");
    return next(r);
}

/* ---- programs ---- */

static ft_status head(reader *r)
{
    TRY(next(r));
    if (!is_word(r, "program")) return FAIL(r, "a program begins with 'program 1'");
    TRY(next(r));
    if (TOKEN(r)->kind != FT_TOKEN_NUMBER || TOKEN(r)->number != 1)
        return FAIL(r, "this version of Foretell reads 'program 1' alone");
    return next(r);
}

static const struct {
    const char *word;
    ft_status (*read)(reader *r);
} ITEMS[] = {{"file", file}, {"object", object}, {"function", function}};
enum { N_ITEMS = sizeof ITEMS / sizeof ITEMS[0] };

static ft_status items(reader *r)
{
    TRY(head(r));
    while (TOKEN(r)->kind != FT_TOKEN_END) {
        int i = 0;
        while (i < N_ITEMS && !is_word(r, ITEMS[i].word)) i++;
        if (i == N_ITEMS) return FAIL(r, "'file', 'object' or 'function' is missing");
        TRY(next(r));
        TRY(ITEMS[i].read(r));
    }
    return FT_OK;
}

ft_status ft_program_read_text(const char *text, size_t length, ft_program **program, ft_error *err)
{
    FT_REQUIRE(program && (text || !length));
    ft_error own = FT_ERROR_INIT;
    reader r = {.program = ft_program_new(), .err = err ? err : &own};
    ft_tokens_init(&r.tokens, text, length, r.err);
    ft_status status = items(&r);
    if (status == FT_OK) status = ft_program_validate(r.program, r.err);
    ft_tokens_release(&r.tokens);
    release_names(&r.labels);
    release_names(&r.registers);
    ft_vec_release(&r.parameters);
    ft_vec_release(&r.operands);
    if (status == FT_OK)
        *program = r.program;
    else
        ft_program_free(r.program);
    return status;
}
