#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "program/binary.h"
#include "program/text.h"
#include "program/validate.h"

typedef struct cursor {
    const unsigned char *bytes;
    size_t length, at;
    ft_program *program;
    ft_function *function;
    uint32_t n_objects, n_symbols; /* that the form announces */
    FT_VEC(ft_operand) operands;
    ft_error *err;
} cursor;

#define FAIL(c, ...) ft_error_offset((c)->err, FT_INPUT, (c)->at, __VA_ARGS__)
#define TRY(expression)                                                                            \
    do {                                                                                           \
        ft_status try_status = (expression);                                                       \
        if (try_status != FT_OK) return try_status;                                                \
    } while (0)

bool ft_program_is_binary(const void *head, size_t length)
{
    size_t magic = strlen(FT_PROGRAM_MAGIC);
    return length >= magic && memcmp(head, FT_PROGRAM_MAGIC, magic) == 0;
}

/* ---- numbers and strings ---- */

static ft_status get(cursor *c, uint64_t most, uint64_t *value)
{
    uint64_t result = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (c->at >= c->length) return FAIL(c, "the program is cut short");
        uint64_t byte = c->bytes[c->at];
        if (shift == 63 && byte > 1) return FAIL(c, "a number is too large");
        c->at++;
        result |= (byte & 127) << shift;
        if (byte < 128) break;
    }
    if (result > most)
        return FAIL(c, "%" PRIu64 " is out of range: at most %" PRIu64 " here", result, most);
    *value = result;
    return FT_OK;
}

static ft_status get_u32(cursor *c, uint64_t most, uint32_t *value)
{
    uint64_t number = 0;
    TRY(get(c, most, &number));
    *value = (uint32_t)number;
    return FT_OK;
}

static ft_status get_u8(cursor *c, uint64_t most, uint8_t *value)
{
    uint64_t number = 0;
    TRY(get(c, most, &number));
    *value = (uint8_t)number;
    return FT_OK;
}

/* How many follow, of at least one byte each. */
static ft_status get_count(cursor *c, uint32_t *n)
{
    uint64_t left = c->length - c->at;
    return get_u32(c, left < FT_PROGRAM_MAX_ITEMS ? left : FT_PROGRAM_MAX_ITEMS, n);
}

static ft_status get_string(cursor *c, const char **text, size_t *length)
{
    uint64_t n = 0;
    TRY(get(c, c->length - c->at, &n));
    *text = (const char *)c->bytes + c->at;
    *length = (size_t)n;
    if (n > c->length - c->at) return FAIL(c, "the program is cut short");
    c->at += (size_t)n;
    return FT_OK;
}

/* The name of a register or block, not in use; caller frees. */
static ft_status get_name(cursor *c, const char *sign, char **name)
{
    const char *text;
    size_t length;
    TRY(get_string(c, &text, &length));
    if (!length || memchr(text, '\0', length)) return FAIL(c, "a name is empty or has a zero");
    ft_strbuf full = {0};
    ft_strbuf_puts(&full, sign);
    ft_strbuf_add(&full, text, length);
    bool used = ft_intern_find(&c->function->names, full.text, full.len) != FT_NO_ID;
    ft_strbuf_release(&full);
    if (used) return FAIL(c, "the name %.*s comes twice", (int)(length < 80 ? length : 80), text);
    *name = ft_strndup(text, length);
    return FT_OK;
}

static ft_status get_position(cursor *c, ft_position *at)
{
    uint32_t file = 0;
    *at = (ft_position){FT_NO_FILE, 0, 0};
    TRY(get_u32(c, c->program->files.len, &file));
    if (!file) return FT_OK;
    at->file = file - 1;
    TRY(get_u32(c, UINT32_MAX, &at->line));
    return get_u32(c, UINT32_MAX, &at->column);
}

/* ---- instructions ---- */

/* Symbols are objects, then functions; their names come with their definitions. */
static ft_status get_symbol(cursor *c, uint32_t *symbol)
{
    if (!c->n_symbols) return FAIL(c, "no symbol is defined");
    return get_u32(c, c->n_symbols - 1, symbol);
}

/* A register's width is known when its function has been read. */
static ft_status get_operand(cursor *c, ft_operand *o)
{
    uint64_t kind = 0, value = 0;
    TRY(get(c, FT_OPERAND_ADDRESS, &kind));
    *o = (ft_operand){.kind = (uint8_t)kind};
    switch ((ft_operand_kind)kind) {
    case FT_OPERAND_REGISTER:
        return get_u32(c, FT_PROGRAM_MAX_ITEMS, &o->index);
    case FT_OPERAND_LITERAL:
        TRY(get_u8(c, 64, &o->width));
        if (!o->width) return FAIL(c, "a literal of no bits");
        TRY(get(c, ft_width_mask(o->width), &value));
        o->value = value;
        return FT_OK;
    case FT_OPERAND_ADDRESS:
        break;
    }
    o->width = 64;
    TRY(get_symbol(c, &o->index));
    return get(c, UINT64_MAX, &o->value);
}

static ft_status get_operands(cursor *c)
{
    uint32_t n = 0;
    TRY(get_count(c, &n));
    c->operands.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        ft_operand o;
        TRY(get_operand(c, &o));
        ft_vec_push(&c->operands, o);
    }
    return FT_OK;
}

static ft_status get_attribute(cursor *c, ft_instruction *in)
{
    switch ((ft_attribute_kind)ft_instruction_row_of(in->code)->attribute) {
    case FT_ATTRIBUTE_NONE:
        break;
    case FT_ATTRIBUTE_ALIGN:
        return get_u8(c, 12, &in->attribute);
    case FT_ATTRIBUTE_ORDER:
        return get_u8(c, FT_ORDERS - 1, &in->attribute);
    case FT_ATTRIBUTE_MUTEX:
        return get_u8(c, FT_MUTEXES - 1, &in->attribute);
    case FT_ATTRIBUTE_UPDATE:
        TRY(get_u8(c, FT_UPDATES - 1, &in->attribute));
        return get_u8(c, FT_ORDERS - 1, &in->order);
    case FT_ATTRIBUTE_TEXT:
        if (!c->program->texts.len) return FAIL(c, "there is no text");
        return get_u32(c, c->program->texts.len - 1, &in->extra);
    case FT_ATTRIBUTE_FUNCTION:
        return get_symbol(c, &in->extra);
    }
    return FT_OK;
}

static ft_status get_result(cursor *c, ft_instruction *in)
{
    uint64_t has = 0;
    char *name = NULL;
    TRY(get(c, 1, &has));
    if (!has) return FT_OK;
    uint8_t width = ft_instruction_result_width(in);
    if (!width) return FAIL(c, "the instruction has no result");
    TRY(get_name(c, "%", &name));
    in->result = ft_function_add_register(c->function, name, width);
    free(name);
    return FT_OK;
}

static ft_status get_target(cursor *c)
{
    uint32_t block = 0;
    uint64_t value = 0;
    TRY(get_u32(c, FT_PROGRAM_MAX_ITEMS, &block));
    TRY(get(c, UINT64_MAX, &value));
    TRY(get_operands(c));
    ft_function_add_target(c->function, block, value, c->operands.data, (uint32_t)c->operands.len);
    return FT_OK;
}

static ft_status get_instruction(cursor *c)
{
    ft_instruction in = {.result = FT_NO_REGISTER};
    uint32_t n_targets = 0;
    TRY(get_u8(c, FT_CODES - 1, &in.code));
    TRY(get_attribute(c, &in));
    if (ft_code_has_width(in.code)) TRY(get_u8(c, 64, &in.width));
    TRY(get_result(c, &in));
    TRY(get_operands(c));
    ft_function_add(c->function, &in, c->operands.data, (uint32_t)c->operands.len);
    TRY(get_count(c, &n_targets));
    for (uint32_t i = 0; i < n_targets; i++) TRY(get_target(c));
    size_t last = c->function->instructions.len - 1;
    return get_position(c, &c->function->instructions.data[last].position);
}

/* ---- functions and objects ---- */

static ft_status get_parameter(cursor *c)
{
    char *name = NULL;
    uint8_t width = 0;
    TRY(get_name(c, "%", &name));
    ft_status status = get_u8(c, 64, &width);
    if (status == FT_OK && !width) status = FAIL(c, "a parameter of no bits");
    if (status == FT_OK) ft_function_add_parameter(c->function, name, width);
    free(name);
    return status;
}

static ft_status get_block(cursor *c)
{
    char *name = NULL;
    uint32_t n = 0;
    TRY(get_name(c, ":", &name));
    ft_function_add_block(c->function, name);
    free(name);
    TRY(get_count(c, &n));
    for (uint32_t i = 0; i < n; i++) TRY(get_parameter(c));
    TRY(get_count(c, &n));
    for (uint32_t i = 0; i < n; i++) TRY(get_instruction(c));
    return FT_OK;
}

/* Numbers of registers and blocks were only known to be small; widths were not known. */
static ft_status resolve(cursor *c)
{
    ft_function *f = c->function;
    for (size_t i = 0; i < f->targets.len; i++)
        if (f->targets.data[i].block >= f->blocks.len) return FAIL(c, "a target is not a block");
    for (size_t i = 0; i < f->operands.len; i++) {
        ft_operand *o = &f->operands.data[i];
        if (o->kind != FT_OPERAND_REGISTER) continue;
        if (o->index >= f->registers.len) return FAIL(c, "an operand is not a register");
        *o = ft_operand_register(f, o->index);
    }
    return FT_OK;
}

/* The names of symbols were made up, so that operands could refer to them. */
static ft_status get_symbol_name(cursor *c, ft_intern *names)
{
    const char *text;
    size_t length;
    TRY(get_string(c, &text, &length));
    if (!length || memchr(text, '\0', length)) return FAIL(c, "a name is empty or has a zero");
    uint32_t known = names->len;
    if (ft_intern_add(names, text, length) != known) return FAIL(c, "a name comes twice");
    return FT_OK;
}

static ft_status get_function(cursor *c, uint32_t symbol, ft_intern *names)
{
    uint32_t n = 0;
    TRY(get_symbol_name(c, names));
    c->function = ft_program_add_function(c->program, symbol);
    TRY(get_u8(c, 64, &c->function->result));
    TRY(get_count(c, &n));
    for (uint32_t i = 0; i < n; i++) TRY(get_block(c));
    return resolve(c);
}

static ft_status get_variable(cursor *c)
{
    uint32_t function = 0, reg = 0;
    uint8_t address = 0;
    ft_variable_note v = {0};
    if (!c->program->functions.len || !c->program->texts.len)
        return FAIL(c, "bytes follow the program");
    TRY(get_u32(c, c->program->functions.len - 1, &function));
    ft_function *f = &c->program->functions.data[function];
    TRY(get_u32(c, FT_PROGRAM_MAX_ITEMS, &v.instruction));
    TRY(get_u32(c, f->registers.len, &reg));
    TRY(get_u8(c, reg ? 1 : 0, &address));
    TRY(get_u32(c, c->program->texts.len - 1, &v.name));
    TRY(get_position(c, &v.position));
    v.reg = reg ? reg - 1 : FT_NO_REGISTER;
    v.address = address;
    ft_vec_push(&f->variables, v);
    return FT_OK;
}

static ft_status get_variables(cursor *c)
{
    uint32_t n = 0;
    if (c->at == c->length) return FT_OK;
    TRY(get_count(c, &n));
    for (uint32_t i = 0; i < n; i++) TRY(get_variable(c));
    if (!n || c->at != c->length) return FAIL(c, "bytes follow the program");
    return FT_OK;
}

static ft_status get_initial(cursor *c)
{
    ft_initial part = {.symbol = FT_NO_SYMBOL};
    uint32_t symbol = 0;
    TRY(get(c, FT_PROGRAM_MAX_OBJECT, &part.offset));
    TRY(get_u32(c, c->n_symbols, &symbol));
    if (symbol) {
        part.symbol = symbol - 1;
        TRY(get(c, UINT64_MAX, &part.addend));
    } else {
        if (!c->program->texts.len) return FAIL(c, "there is no text");
        TRY(get_u32(c, c->program->texts.len - 1, &part.text));
    }
    ft_vec_push(&c->program->initials, part);
    return FT_OK;
}

static ft_status get_object(cursor *c, uint32_t symbol, ft_intern *names)
{
    uint64_t flags = 0;
    TRY(get_symbol_name(c, names));
    ft_object *o = ft_program_add_object(c->program, symbol);
    TRY(get(c, FT_PROGRAM_MAX_OBJECT, &o->size));
    TRY(get_u32(c, 4096, &o->align));
    if (!o->align || o->align & (o->align - 1)) return FAIL(c, "an alignment is a power of two");
    TRY(get(c, 3, &flags));
    o->constant = flags & 1;
    o->by_thread = flags & 2;
    TRY(get_position(c, &o->position));
    uint32_t n = 0;
    TRY(get_count(c, &n));
    for (; o->n_initial < n; o->n_initial++) TRY(get_initial(c));
    return FT_OK;
}

/* ---- programs ---- */

static ft_status get_table(cursor *c, ft_intern *table)
{
    uint32_t n = 0;
    TRY(get_count(c, &n));
    for (uint32_t i = 0; i < n; i++) {
        const char *text;
        size_t length;
        TRY(get_string(c, &text, &length));
        if (ft_intern_add(table, text, length) != i) return FAIL(c, "a text comes twice");
    }
    return FT_OK;
}

static ft_status get_definitions(cursor *c, ft_intern *names)
{
    for (uint32_t i = 0; i < c->n_symbols; i++)
        TRY(i < c->n_objects ? get_object(c, i, names) : get_function(c, i, names));
    return get_variables(c);
}

static void make_symbols(cursor *c)
{
    for (uint32_t i = 0; i < c->n_symbols; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "%" PRIu32, i);
        ft_program_symbol_named(c->program, name, (size_t)length);
    }
}

static ft_status get_program(cursor *c)
{
    uint32_t n_functions = 0;
    ft_intern names = {0};
    if (!ft_program_is_binary(c->bytes, c->length)) return FAIL(c, "this is not a program");
    c->at = strlen(FT_PROGRAM_MAGIC);
    TRY(get_table(c, &c->program->files));
    TRY(get_table(c, &c->program->texts));
    TRY(get_count(c, &c->n_objects));
    TRY(get_count(c, &n_functions));
    c->n_symbols = c->n_objects + n_functions;
    make_symbols(c);
    ft_status status = get_definitions(c, &names);
    ft_intern made_up = c->program->names;
    c->program->names = names;
    ft_intern_release(&made_up);
    return status;
}

/* Is what was read written just so? */
static ft_status check_canonical(const cursor *c)
{
    ft_strbuf again = {0};
    ft_program_write_binary(c->program, &again);
    bool same = again.len == c->length && memcmp(again.text, c->bytes, c->length) == 0;
    ft_strbuf_release(&again);
    if (!same)
        return ft_error_set(c->err, FT_INPUT,
                            "the bytes are not the program's binary form: its "
                            "numbers or tables are in another order");
    return FT_OK;
}

ft_status ft_program_read_binary(const void *bytes, size_t length, ft_program **program,
                                 ft_error *err)
{
    FT_REQUIRE(program && (bytes || !length));
    cursor c = {.bytes = bytes, .length = length, .program = ft_program_new(), .err = err};
    ft_status status = get_program(&c);
    if (status == FT_OK) status = ft_program_validate(c.program, err);
    if (status == FT_OK) status = check_canonical(&c);
    ft_vec_release(&c.operands);
    if (status == FT_OK)
        *program = c.program;
    else
        ft_program_free(c.program);
    return status;
}

ft_status ft_program_read(const void *bytes, size_t length, ft_program **program, ft_error *err)
{
    return ft_program_is_binary(bytes, length) ? ft_program_read_binary(bytes, length, program, err)
                                               : ft_program_read_text(bytes, length, program, err);
}
