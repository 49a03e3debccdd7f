#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "program/binary.h"

/* Numbers of the binary form, in the order of first use. */
typedef struct numbers {
    uint32_t *of; /* by number in memory: that in the form; FT_NO_ID: none yet */
    FT_VEC(uint32_t) used;
} numbers;

typedef struct writer {
    const ft_program *program;
    const ft_function *function;
    numbers texts, files;
    uint32_t *symbols;   /* by symbol: objects first, then functions */
    uint32_t *registers; /* of the function */
    ft_strbuf *out;
} writer;

static uint32_t *no_numbers(size_t n)
{
    uint32_t *of = ft_alloc((n + 1) * sizeof *of);
    for (size_t i = 0; i < n; i++) of[i] = FT_NO_ID;
    return of;
}

static uint32_t number_of(numbers *n, uint32_t index)
{
    if (n->of[index] == FT_NO_ID) {
        n->of[index] = (uint32_t)n->used.len;
        ft_vec_push(&n->used, index);
    }
    return n->of[index];
}

static void put(ft_strbuf *out, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    for (; value >= 128; value >>= 7) bytes[n++] = (char)(value | 128);
    bytes[n++] = (char)value;
    ft_strbuf_add(out, bytes, n);
}

static void put_string(ft_strbuf *out, const char *text, size_t length)
{
    put(out, length);
    ft_strbuf_add(out, text, length);
}

static void put_position(writer *w, ft_position at)
{
    bool known = at.file != FT_NO_FILE;
    put(w->out, known ? number_of(&w->files, at.file) + 1u : 0);
    if (!known) return;
    put(w->out, at.line);
    put(w->out, at.column);
}

static void put_operand(writer *w, const ft_operand *o)
{
    put(w->out, o->kind);
    switch ((ft_operand_kind)o->kind) {
    case FT_OPERAND_REGISTER:
        put(w->out, w->registers[o->index]);
        break;
    case FT_OPERAND_LITERAL:
        put(w->out, o->width);
        put(w->out, o->value);
        break;
    case FT_OPERAND_ADDRESS:
        put(w->out, w->symbols[o->index]);
        put(w->out, o->value);
        break;
    }
}

static void put_operands(writer *w, uint32_t first, uint32_t n)
{
    put(w->out, n);
    for (uint32_t i = 0; i < n; i++) put_operand(w, &w->function->operands.data[first + i]);
}

static void put_attribute(writer *w, const ft_instruction *in)
{
    switch ((ft_attribute_kind)ft_instruction_row_of(in->code)->attribute) {
    case FT_ATTRIBUTE_NONE:
        break;
    case FT_ATTRIBUTE_ALIGN:
    case FT_ATTRIBUTE_ORDER:
    case FT_ATTRIBUTE_MUTEX:
        put(w->out, in->attribute);
        break;
    case FT_ATTRIBUTE_UPDATE:
        put(w->out, in->attribute);
        put(w->out, in->order);
        break;
    case FT_ATTRIBUTE_TEXT:
        put(w->out, number_of(&w->texts, in->extra));
        break;
    case FT_ATTRIBUTE_FUNCTION:
        put(w->out, w->symbols[in->extra]);
        break;
    }
}

static void put_register(writer *w, uint32_t index)
{
    const char *name = ft_register_name(w->function, index);
    put_string(w->out, name, strlen(name));
}

static void put_instruction(writer *w, const ft_instruction *in)
{
    put(w->out, in->code);
    put_attribute(w, in);
    if (ft_code_has_width(in->code)) put(w->out, in->width);
    put(w->out, in->result != FT_NO_REGISTER);
    if (in->result != FT_NO_REGISTER) put_register(w, in->result);
    put_operands(w, in->operands, in->n_operands);
    put(w->out, in->n_targets);
    for (uint32_t i = 0; i < in->n_targets; i++) {
        const ft_target *t = &w->function->targets.data[in->targets + i];
        put(w->out, t->block);
        put(w->out, t->value);
        put_operands(w, t->operands, t->n_operands);
    }
    put_position(w, in->position);
}

/* Registers by the order of the blocks. */
static void number_registers(writer *w)
{
    const ft_function *f = w->function;
    uint32_t next = 0;
    w->registers = no_numbers(f->registers.len);
    for (size_t b = 0; b < f->blocks.len; b++) {
        const ft_block *block = &f->blocks.data[b];
        for (uint32_t i = 0; i < block->n_parameters; i++)
            w->registers[block->parameters + i] = next++;
        for (uint32_t i = 0; i < block->n_instructions; i++) {
            uint32_t result = f->instructions.data[block->instructions + i].result;
            if (result != FT_NO_REGISTER) w->registers[result] = next++;
        }
    }
}

static void put_block(writer *w, uint32_t index)
{
    const ft_block *b = &w->function->blocks.data[index];
    const char *name = ft_block_name(w->function, index);
    put_string(w->out, name, strlen(name));
    put(w->out, b->n_parameters);
    for (uint32_t i = 0; i < b->n_parameters; i++) {
        put_register(w, b->parameters + i);
        put(w->out, w->function->registers.data[b->parameters + i].width);
    }
    put(w->out, b->n_instructions);
    for (uint32_t i = 0; i < b->n_instructions; i++)
        put_instruction(w, &w->function->instructions.data[b->instructions + i]);
}

static void put_symbol_name(writer *w, uint32_t symbol)
{
    put_string(w->out, w->program->names.names[symbol], w->program->names.lengths[symbol]);
}

static void put_function(writer *w, const ft_function *f)
{
    w->function = f;
    number_registers(w);
    put_symbol_name(w, f->symbol);
    put(w->out, f->result);
    put(w->out, f->blocks.len);
    for (uint32_t i = 0; i < f->blocks.len; i++) put_block(w, i);
    free(w->registers);
}

/* Behind all else, so that a program without any is as it was before there were any. */
static void put_variables(writer *w)
{
    size_t n = 0;
    const ft_program *p = w->program;
    for (size_t f = 0; f < p->functions.len; f++) n += p->functions.data[f].variables.len;
    if (n) put(w->out, n);
    for (size_t f = 0; f < p->functions.len; f++) {
        w->function = &p->functions.data[f];
        number_registers(w);
        for (size_t i = 0; i < w->function->variables.len; i++) {
            const ft_variable_note *v = &w->function->variables.data[i];
            put(w->out, f);
            put(w->out, v->instruction);
            put(w->out, v->reg == FT_NO_REGISTER ? 0 : w->registers[v->reg] + UINT64_C(1));
            put(w->out, v->address);
            put(w->out, number_of(&w->texts, v->name));
            put_position(w, v->position);
        }
        free(w->registers);
    }
}

static void put_object(writer *w, const ft_object *o)
{
    put_symbol_name(w, o->symbol);
    put(w->out, o->size);
    put(w->out, o->align);
    put(w->out, (o->constant ? 1u : 0u) | (o->by_thread ? 2u : 0u));
    put_position(w, o->position);
    put(w->out, o->n_initial);
    for (uint32_t i = 0; i < o->n_initial; i++) {
        const ft_initial *part = &w->program->initials.data[o->initial + i];
        bool bytes = part->symbol == FT_NO_SYMBOL;
        put(w->out, part->offset);
        put(w->out, bytes ? 0 : w->symbols[part->symbol] + 1u);
        put(w->out, bytes ? number_of(&w->texts, part->text) : part->addend);
    }
}

static void number_symbols(writer *w)
{
    const ft_program *p = w->program;
    uint32_t n = 0;
    w->symbols = no_numbers(p->symbols.len);
    for (size_t i = 0; i < p->objects.len; i++) w->symbols[p->objects.data[i].symbol] = n++;
    for (size_t i = 0; i < p->functions.len; i++) w->symbols[p->functions.data[i].symbol] = n++;
}

static void put_table(ft_strbuf *out, const ft_intern *names, const numbers *n)
{
    put(out, n->used.len);
    for (size_t i = 0; i < n->used.len; i++)
        put_string(out, names->names[n->used.data[i]], names->lengths[n->used.data[i]]);
}

void ft_program_write_binary(const ft_program *program, ft_strbuf *out)
{
    FT_REQUIRE(program && out);
    ft_strbuf body = {0};
    writer w = {.program = program,
                .texts = {.of = no_numbers(program->texts.len)},
                .files = {.of = no_numbers(program->files.len)},
                .out = &body};
    number_symbols(&w);
    put(&body, program->objects.len);
    put(&body, program->functions.len);
    for (size_t i = 0; i < program->objects.len; i++) put_object(&w, &program->objects.data[i]);
    for (size_t i = 0; i < program->functions.len; i++)
        put_function(&w, &program->functions.data[i]);
    put_variables(&w);
    ft_strbuf_puts(out, FT_PROGRAM_MAGIC);
    put_table(out, &program->files, &w.files);
    put_table(out, &program->texts, &w.texts);
    ft_strbuf_add(out, body.text, body.len);
    ft_strbuf_release(&body);
    ft_vec_release(&w.texts.used);
    ft_vec_release(&w.files.used);
    free(w.texts.of);
    free(w.files.of);
    free(w.symbols);
}

void ft_program_hash(const ft_program *program, char hex[FT_DIGEST_HEX + 1])
{
    ft_strbuf bytes = {0};
    ft_digest digest;
    ft_program_write_binary(program, &bytes);
    ft_digest_init(&digest);
    ft_digest_update(&digest, bytes.text, bytes.len);
    ft_digest_hex(&digest, hex);
    ft_strbuf_release(&bytes);
}
