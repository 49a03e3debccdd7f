#include <inttypes.h>
#include <string.h>

#include "base/contract.h"
#include "program/text.h"

static bool is_plain(const char *name)
{
    if (!*name) return false;
    for (const char *c = name; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (!letter && !(*c >= '0' && *c <= '9') && !strchr("_.$", *c)) return false;
    }
    return true;
}

static void put_quoted(ft_strbuf *out, const char *text, size_t length)
{
    ft_strbuf_puts(out, "\"");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\')
            ft_strbuf_printf(out, "\\%02x", c);
        else
            ft_strbuf_add(out, &text[i], 1);
    }
    ft_strbuf_puts(out, "\"");
}

static void put_name(ft_strbuf *out, const char *sign, const char *name)
{
    ft_strbuf_puts(out, sign);
    if (is_plain(name))
        ft_strbuf_puts(out, name);
    else
        put_quoted(out, name, strlen(name));
}

/* A block's name has no sign before it: it is quoted where it looks like a number or a width. */
static void put_label(ft_strbuf *out, const char *name)
{
    bool width = name[0] == 'i' && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1);
    if (is_plain(name) && !width && !strchr("0123456789", *name))
        ft_strbuf_puts(out, name);
    else
        put_quoted(out, name, strlen(name));
}

static void put_text(const ft_program *p, uint32_t text, ft_strbuf *out)
{
    put_quoted(out, p->texts.names[text], p->texts.lengths[text]);
}

static void put_position(ft_position at, ft_strbuf *out)
{
    if (at.file != FT_NO_FILE)
        ft_strbuf_printf(out, " !%" PRIu32 ":%" PRIu32 ":%" PRIu32, at.file, at.line, at.column);
}

static void put_address(const ft_program *p, uint32_t symbol, uint64_t addend, ft_strbuf *out)
{
    put_name(out, "@", ft_program_symbol_name(p, symbol));
    if ((int64_t)addend > 0) ft_strbuf_puts(out, "+");
    if (addend) ft_strbuf_printf(out, "%" PRId64, (int64_t)addend);
}

static void put_literal(ft_operand o, ft_strbuf *out)
{
    uint64_t negative = ft_width_mask(o.width) - o.value + 1;
    bool high = o.width > 1 && o.value >> (o.width - 1);
    if (high && negative <= 4096)
        ft_strbuf_printf(out, "-%" PRIu64, negative);
    else
        ft_strbuf_printf(out, o.value < 65536 ? "%" PRIu64 : "0x%" PRIx64, o.value);
}

static void put_operand(const ft_program *p, const ft_function *f, ft_operand o, bool width,
                        ft_strbuf *out)
{
    if (o.kind == FT_OPERAND_REGISTER) {
        put_name(out, "%", ft_register_name(f, o.index));
    } else if (o.kind == FT_OPERAND_ADDRESS) {
        put_address(p, o.index, o.value, out);
    } else {
        if (width) ft_strbuf_printf(out, "i%u ", o.width);
        put_literal(o, out);
    }
}

static void put_list(const ft_program *p, const ft_function *f, uint32_t first, uint32_t n,
                     ft_strbuf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i) ft_strbuf_puts(out, ", ");
        put_operand(p, f, f->operands.data[first + i], true, out);
    }
}

static void put_target(const ft_program *p, const ft_function *f, const ft_target *t,
                       ft_strbuf *out)
{
    put_label(out, ft_block_name(f, t->block));
    if (!t->n_operands) return;
    ft_strbuf_puts(out, "(");
    put_list(p, f, t->operands, t->n_operands, out);
    ft_strbuf_puts(out, ")");
}

static void put_attribute(const ft_program *p, const ft_instruction *in, ft_strbuf *out)
{
    switch ((ft_attribute_kind)ft_instruction_row_of(in->code)->attribute) {
    case FT_ATTRIBUTE_NONE:
        break;
    case FT_ATTRIBUTE_ALIGN:
        ft_strbuf_printf(out, " %u", 1u << in->attribute);
        break;
    case FT_ATTRIBUTE_ORDER:
        ft_strbuf_printf(out, " %s", ft_order_name(in->attribute));
        break;
    case FT_ATTRIBUTE_UPDATE:
        ft_strbuf_printf(out, " %s %s", ft_update_name(in->attribute), ft_order_name(in->order));
        break;
    case FT_ATTRIBUTE_MUTEX:
        ft_strbuf_printf(out, " %s", ft_mutex_kind_name(in->attribute));
        break;
    case FT_ATTRIBUTE_TEXT:
        ft_strbuf_puts(out, " ");
        put_text(p, in->extra, out);
        break;
    case FT_ATTRIBUTE_FUNCTION:
        break; /* behind the width */
    }
}

/* Of a call: the function or its address, and the arguments in parentheses. */
static void put_call(const ft_program *p, const ft_function *f, const ft_instruction *in,
                     ft_strbuf *out)
{
    uint32_t skip = in->code == FT_CODE_CALL_AT;
    ft_strbuf_puts(out, " ");
    if (skip)
        put_operand(p, f, f->operands.data[in->operands], false, out);
    else
        put_address(p, in->extra, 0, out);
    ft_strbuf_puts(out, "(");
    put_list(p, f, in->operands + skip, in->n_operands - skip, out);
    ft_strbuf_puts(out, ")");
}

static void put_operands(const ft_program *p, const ft_function *f, const ft_instruction *in,
                         ft_strbuf *out)
{
    const char *letters = ft_instruction_row_of(in->code)->operands;
    size_t known = strlen(letters);
    for (uint32_t i = 0; i < in->n_operands; i++) { /* in messages it may have too many */
        ft_strbuf_puts(out, i ? ", " : " ");
        bool any = i >= known || letters[i] == 'v';
        put_operand(p, f, f->operands.data[in->operands + i], any, out);
    }
    for (uint32_t i = 0; i < in->n_targets; i++) {
        const ft_target *t = &f->targets.data[in->targets + i];
        ft_strbuf_puts(out, i || in->n_operands ? ", " : " ");
        if (in->code == FT_CODE_SWITCH && i) {
            put_literal(ft_operand_literal(in->width, t->value), out);
            ft_strbuf_puts(out, ": ");
        }
        put_target(p, f, t, out);
    }
}

void ft_instruction_print(const ft_program *program, const ft_function *function,
                          const ft_instruction *instruction, ft_strbuf *out)
{
    FT_REQUIRE(program && function && instruction && out);
    const ft_instruction *in = instruction;
    if (in->result != FT_NO_REGISTER) {
        put_name(out, "%", ft_register_name(function, in->result));
        ft_strbuf_puts(out, " = ");
    }
    ft_strbuf_puts(out, ft_instruction_row_of(in->code)->name);
    put_attribute(program, in, out);
    if (in->width) ft_strbuf_printf(out, " i%u", in->width);
    if (in->code == FT_CODE_CALL || in->code == FT_CODE_CALL_AT)
        put_call(program, function, in, out);
    else
        put_operands(program, function, in, out);
}

static void put_parameters(const ft_function *f, const ft_block *b, ft_strbuf *out)
{
    ft_strbuf_puts(out, "(");
    for (uint32_t i = 0; i < b->n_parameters; i++) {
        if (i) ft_strbuf_puts(out, ", ");
        put_name(out, "%", ft_register_name(f, b->parameters + i));
        ft_strbuf_printf(out, ": i%u", f->registers.data[b->parameters + i].width);
    }
    ft_strbuf_puts(out, ")");
}

static void put_variable(const ft_program *p, const ft_function *f, const ft_variable_note *v,
                         ft_strbuf *out)
{
    ft_strbuf_puts(out, "    variable ");
    put_text(p, v->name, out);
    ft_strbuf_puts(out, v->address ? " at" : "");
    if (v->reg == FT_NO_REGISTER)
        ft_strbuf_puts(out, " nowhere");
    else
        ft_strbuf_puts(out, " "), put_name(out, "%", ft_register_name(f, v->reg));
    put_position(v->position, out);
    ft_strbuf_puts(out, "\n");
}

/* *next: the first of the function's notes that is not printed. */
static void put_block(const ft_program *p, const ft_function *f, uint32_t index, size_t *next,
                      ft_strbuf *out)
{
    const ft_block *b = &f->blocks.data[index];
    ft_strbuf_puts(out, "  ");
    put_label(out, ft_block_name(f, index));
    if (index && b->n_parameters) put_parameters(f, b, out);
    ft_strbuf_puts(out, ":\n");
    for (uint32_t i = 0; i < b->n_instructions; i++) {
        const ft_instruction *in = &f->instructions.data[b->instructions + i];
        for (; *next < f->variables.len; ++*next) {
            if (f->variables.data[*next].instruction != b->instructions + i) break;
            put_variable(p, f, &f->variables.data[*next], out);
        }
        ft_strbuf_puts(out, "    ");
        ft_instruction_print(p, f, in, out);
        put_position(in->position, out);
        ft_strbuf_puts(out, "\n");
    }
}

static void put_function(const ft_program *p, const ft_function *f, ft_strbuf *out)
{
    put_name(out, "function @", ft_program_symbol_name(p, f->symbol));
    put_parameters(f, &f->blocks.data[0], out);
    if (f->result) ft_strbuf_printf(out, " -> i%u", f->result);
    ft_strbuf_puts(out, " {\n");
    size_t next = 0;
    for (uint32_t i = 0; i < f->blocks.len; i++) put_block(p, f, i, &next, out);
    ft_strbuf_puts(out, "}\n");
}

static void put_initials(const ft_program *p, const ft_object *o, ft_strbuf *out)
{
    ft_strbuf_puts(out, " {");
    for (uint32_t i = 0; i < o->n_initial; i++) {
        const ft_initial *part = &p->initials.data[o->initial + i];
        ft_strbuf_printf(out, " %" PRIu64 ": ", part->offset);
        if (part->symbol == FT_NO_SYMBOL)
            put_text(p, part->text, out);
        else
            put_address(p, part->symbol, part->addend, out);
    }
    ft_strbuf_puts(out, " }");
}

static void put_object(const ft_program *p, const ft_object *o, ft_strbuf *out)
{
    put_name(out, "object @", ft_program_symbol_name(p, o->symbol));
    ft_strbuf_printf(out, " %" PRIu64, o->size);
    if (o->align != 1) ft_strbuf_printf(out, " align %" PRIu32, o->align);
    if (o->constant) ft_strbuf_puts(out, " constant");
    if (o->by_thread) ft_strbuf_puts(out, " thread");
    put_position(o->position, out);
    if (o->n_initial) put_initials(p, o, out);
    ft_strbuf_puts(out, "\n");
}

void ft_program_print(const ft_program *program, ft_strbuf *out)
{
    FT_REQUIRE(program && out);
    ft_strbuf_puts(out, "program 1\n");
    for (uint32_t i = 0; i < program->files.len; i++) {
        ft_strbuf_puts(out, "file ");
        put_quoted(out, program->files.names[i], program->files.lengths[i]);
        ft_strbuf_puts(out, "\n");
    }
    for (size_t i = 0; i < program->objects.len; i++)
        put_object(program, &program->objects.data[i], out);
    for (size_t i = 0; i < program->functions.len; i++)
        put_function(program, &program->functions.data[i], out);
}
