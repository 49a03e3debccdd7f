#include "program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/strbuf.h"

ft_program *ft_program_new(void)
{
    return ft_calloc(1, sizeof(ft_program));
}

static void release_function(ft_function *f)
{
    ft_intern_release(&f->names);
    ft_vec_release(&f->registers);
    ft_vec_release(&f->blocks);
    ft_vec_release(&f->instructions);
    ft_vec_release(&f->operands);
    ft_vec_release(&f->targets);
    ft_vec_release(&f->variables);
}

void ft_program_free(ft_program *program)
{
    if (!program) return;
    for (size_t i = 0; i < program->functions.len; i++)
        release_function(&program->functions.data[i]);
    ft_vec_release(&program->functions);
    ft_vec_release(&program->objects);
    ft_vec_release(&program->initials);
    ft_vec_release(&program->symbols);
    ft_intern_release(&program->names);
    ft_intern_release(&program->texts);
    ft_intern_release(&program->files);
    free(program);
}

uint32_t ft_program_symbol_named(ft_program *program, const char *name, size_t length)
{
    FT_REQUIRE(program && name);
    uint32_t symbol = ft_intern_add(&program->names, name, length);
    if (symbol == program->symbols.len)
        ft_vec_push(&program->symbols, (ft_program_symbol){FT_UNDEFINED, 0});
    assert(symbol < program->symbols.len);
    return symbol;
}

const char *ft_program_symbol_name(const ft_program *program, uint32_t symbol)
{
    FT_REQUIRE(symbol < program->symbols.len);
    return program->names.names[symbol];
}

static void define(ft_program *program, uint32_t symbol, ft_symbol_kind kind, size_t index)
{
    FT_REQUIRE(symbol < program->symbols.len);
    FT_REQUIRE(program->symbols.data[symbol].kind == FT_UNDEFINED);
    program->symbols.data[symbol] = (ft_program_symbol){(uint8_t)kind, (uint32_t)index};
}

ft_object *ft_program_add_object(ft_program *program, uint32_t symbol)
{
    define(program, symbol, FT_OBJECT, program->objects.len);
    ft_vec_push(&program->objects, (ft_object){.symbol = symbol,
                                               .align = 1,
                                               .position = {FT_NO_FILE, 0, 0},
                                               .initial = (uint32_t)program->initials.len});
    return &program->objects.data[program->objects.len - 1];
}

ft_function *ft_program_add_function(ft_program *program, uint32_t symbol)
{
    define(program, symbol, FT_FUNCTION, program->functions.len);
    ft_vec_push(&program->functions, (ft_function){.symbol = symbol});
    return &program->functions.data[program->functions.len - 1];
}

const ft_function *ft_program_function(const ft_program *program, uint32_t symbol)
{
    FT_REQUIRE(symbol < program->symbols.len);
    const ft_program_symbol *s = &program->symbols.data[symbol];
    return s->kind == FT_FUNCTION ? &program->functions.data[s->index] : NULL;
}

const ft_object *ft_program_object(const ft_program *program, uint32_t symbol)
{
    FT_REQUIRE(symbol < program->symbols.len);
    const ft_program_symbol *s = &program->symbols.data[symbol];
    return s->kind == FT_OBJECT ? &program->objects.data[s->index] : NULL;
}

/* Registers and blocks have names of their own: the sign before the name tells them apart. */
static uint32_t intern_new(ft_function *f, const char *sign, const char *name)
{
    ft_strbuf full = {0};
    ft_strbuf_puts(&full, sign);
    ft_strbuf_puts(&full, name);
    uint32_t known = f->names.len;
    uint32_t id = ft_intern_add(&f->names, full.text, full.len);
    ft_strbuf_release(&full);
    return id == known ? id : FT_NO_ID;
}

static uint32_t intern_made_up(ft_function *f, const char *sign, size_t number)
{
    char name[32];
    for (;; number++) {
        snprintf(name, sizeof name, "%s%zu", *sign == ':' ? "b" : "", number);
        uint32_t id = intern_new(f, sign, name);
        if (id != FT_NO_ID) return id;
    }
}

static uint32_t name_new(ft_function *f, const char *sign, const char *name, size_t number)
{
    uint32_t id = name ? intern_new(f, sign, name) : intern_made_up(f, sign, number);
    FT_REQUIRE(id != FT_NO_ID); /* the name is not in use */
    return id;
}

uint32_t ft_function_add_register(ft_function *function, const char *name, uint8_t width)
{
    FT_REQUIRE(function && width >= 1 && width <= 64);
    uint32_t number = (uint32_t)function->registers.len;
    uint32_t id = name_new(function, "%", name, number);
    ft_vec_push(&function->registers, (ft_register){id, width});
    return number;
}

uint32_t ft_function_add_block(ft_function *function, const char *name)
{
    FT_REQUIRE(function);
    uint32_t number = (uint32_t)function->blocks.len;
    uint32_t id = name_new(function, ":", name, number);
    ft_vec_push(&function->blocks, (ft_block){id, (uint32_t)function->registers.len, 0,
                                              (uint32_t)function->instructions.len, 0});
    return number;
}

static ft_block *newest(ft_function *function)
{
    FT_REQUIRE(function && function->blocks.len);
    return &function->blocks.data[function->blocks.len - 1];
}

uint32_t ft_function_add_parameter(ft_function *function, const char *name, uint8_t width)
{
    ft_block *block = newest(function);
    FT_REQUIRE(!block->n_instructions &&
               block->parameters + block->n_parameters == function->registers.len);
    block->n_parameters++;
    return ft_function_add_register(function, name, width);
}

static uint32_t add_operands(ft_function *f, const ft_operand *operands, uint32_t n)
{
    uint32_t first = (uint32_t)f->operands.len;
    for (uint32_t i = 0; i < n; i++) ft_vec_push(&f->operands, operands[i]);
    return first;
}

void ft_function_add(ft_function *function, const ft_instruction *instruction,
                     const ft_operand *operands, uint32_t n_operands)
{
    FT_REQUIRE(instruction && (operands || !n_operands));
    ft_block *block = newest(function);
    ft_instruction added = *instruction;
    added.operands = add_operands(function, operands, n_operands);
    added.n_operands = n_operands;
    added.targets = (uint32_t)function->targets.len;
    added.n_targets = 0;
    ft_vec_push(&function->instructions, added);
    block->n_instructions++;
}

void ft_function_add_target(ft_function *function, uint32_t block, uint64_t value,
                            const ft_operand *operands, uint32_t n_operands)
{
    FT_REQUIRE(function && function->instructions.len);
    ft_instruction *last = &function->instructions.data[function->instructions.len - 1];
    uint32_t first = add_operands(function, operands, n_operands);
    ft_vec_push(&function->targets, (ft_target){block, first, n_operands, value});
    last->n_targets++;
}

ft_operand ft_operand_literal(uint8_t width, uint64_t value)
{
    FT_REQUIRE(width >= 1 && width <= 64);
    return (ft_operand){FT_OPERAND_LITERAL, width, 0, value & ft_width_mask(width)};
}

ft_operand ft_operand_register(const ft_function *function, uint32_t index)
{
    FT_REQUIRE(index < function->registers.len);
    return (ft_operand){FT_OPERAND_REGISTER, function->registers.data[index].width, index, 0};
}

ft_operand ft_operand_address(uint32_t symbol, uint64_t addend)
{
    return (ft_operand){FT_OPERAND_ADDRESS, 64, symbol, addend};
}

const char *ft_register_name(const ft_function *function, uint32_t index)
{
    FT_REQUIRE(index < function->registers.len);
    return function->names.names[function->registers.data[index].name] + 1;
}

const char *ft_block_name(const ft_function *function, uint32_t index)
{
    FT_REQUIRE(index < function->blocks.len);
    return function->names.names[function->blocks.data[index].name] + 1;
}

uint8_t ft_letter_width(char letter, uint8_t width)
{
    switch (letter) {
    case 'w':
        return width;
    case 'b':
        return 1;
    case 'c':
        return 8;
    case 'i':
        return 32;
    case 'a':
        return 64;
    default:
        return 0;
    }
}

uint8_t ft_instruction_result_width(const ft_instruction *instruction)
{
    char letter = ft_instruction_row_of(instruction->code)->result;
    return letter == 'v' ? instruction->width : ft_letter_width(letter, instruction->width);
}
