/* Programs as data: functions, blocks and instructions over bit-vectors and byte-addressed objects
 * (the language: instruction.h). A program is made by the reader of its text or its binary form, or
 * by a compiler's front end through the functions below; then it is validated and no longer
 * changes.
 *
 *   instruction.h  the instructions and their meaning      text.h      text form
 *   validate.h     what a program must satisfy             binary.h    binary form and its hash
 *
 * A symbol is a name that operands refer to: an object or a function. A register belongs to its
 * function, has a width, and is assigned by one instruction or is a parameter of one block; the
 * parameters of a function are those of its first block. Every block ends in an instruction that
 * leaves it (ft_code_ends_block).
 *
 * All numbers are indices into the tables beside them. Imports: base. */
#ifndef FT_PROGRAM_PROGRAM_H
#define FT_PROGRAM_PROGRAM_H

#include "base/map.h"
#include "base/memory.h"
#include "program/instruction.h"

#define FT_NO_REGISTER UINT32_MAX
#define FT_NO_SYMBOL   UINT32_MAX
#define FT_NO_FILE     UINT32_MAX

/* Limits of what a program may hold, so that a small file cannot ask for all memory. */
enum {
    FT_PROGRAM_MAX_OBJECT = 1 << 28, /* bytes of one object */
    FT_PROGRAM_MAX_ITEMS = 1 << 24   /* functions, registers, blocks, instructions, operands */
};

typedef enum ft_operand_kind {
    FT_OPERAND_REGISTER,
    FT_OPERAND_LITERAL,
    FT_OPERAND_ADDRESS
} ft_operand_kind;

typedef struct ft_operand {
    uint8_t kind;   /* ft_operand_kind */
    uint8_t width;  /* bits; of an ADDRESS 64 */
    uint32_t index; /* REGISTER: which; ADDRESS: the symbol */
    uint64_t value; /* LITERAL: the bits, zero above the width; ADDRESS: added to it */
} ft_operand;

/* Where control goes on, with the operands that the block's parameters get. */
typedef struct ft_target {
    uint32_t block;
    uint32_t operands, n_operands; /* in the function's operands */
    uint64_t value;                /* of SWITCH, but for its first target */
} ft_target;

/* Where the source has it; file FT_NO_FILE: unknown. Line and column from 1, column 0: unknown. */
typedef struct ft_position {
    uint32_t file, line, column;
} ft_position;

typedef struct ft_instruction {
    uint8_t code;                  /* ft_code */
    uint8_t width;                 /* written after the name; 0: none */
    uint8_t attribute, order;      /* the value of the attribute; of atomic_update also the order */
    uint32_t result;               /* a register, or FT_NO_REGISTER */
    uint32_t operands, n_operands; /* in the function's operands */
    uint32_t targets, n_targets;   /* in the function's targets */
    uint32_t extra;                /* TEXT: in the program's texts; FUNCTION: the symbol */
    ft_position position;
} ft_instruction;

typedef struct ft_block {
    uint32_t name;                         /* in the function's names */
    uint32_t parameters, n_parameters;     /* consecutive registers */
    uint32_t instructions, n_instructions; /* in the function's instructions */
} ft_block;

typedef struct ft_register {
    uint32_t name; /* in the function's names */
    uint8_t width;
} ft_register;

/* What the source calls the content of a register: from before the instruction on, the variable has
 * the register's value, until the register or the variable gets another one. Such notes mean
 * nothing to an execution (flow/variables.h reads them). */
typedef struct ft_variable_note {
    uint32_t instruction; /* in the function's instructions */
    uint32_t reg;         /* FT_NO_REGISTER: no register has its value */
    bool address;         /* it lies in memory, from the register's value on */
    uint32_t name;        /* in the program's texts */
    ft_position position; /* of its declaration */
} ft_variable_note;

typedef struct ft_function {
    uint32_t symbol;
    uint8_t result;  /* width; 0: returns nothing */
    ft_intern names; /* of registers and blocks */
    FT_VEC(ft_register) registers;
    FT_VEC(ft_block) blocks; /* the first is the entry; its parameters are the function's */
    FT_VEC(ft_instruction) instructions;
    FT_VEC(ft_operand) operands;
    FT_VEC(ft_target) targets;
    FT_VEC(ft_variable_note) variables; /* by instruction */
} ft_function;

/* A part of an object's first content: bytes, or the address of a symbol (8 bytes). */
typedef struct ft_initial {
    uint64_t offset;
    uint32_t symbol; /* FT_NO_SYMBOL: bytes */
    uint32_t text;   /* bytes: in the program's texts */
    uint64_t addend; /* address */
} ft_initial;

typedef struct ft_object {
    uint32_t symbol;
    uint64_t size;
    uint32_t align; /* a power of two */
    bool constant;  /* a write is an error */
    bool by_thread; /* each thread has its own; no `initial` refers to it */
    ft_position position;
    uint32_t initial, n_initial; /* in the program's initials; ascending, apart; else zero */
} ft_object;

typedef enum ft_symbol_kind { FT_UNDEFINED, FT_OBJECT, FT_FUNCTION } ft_symbol_kind;

typedef struct ft_program_symbol {
    uint8_t kind;   /* ft_symbol_kind */
    uint32_t index; /* in objects or functions */
} ft_program_symbol;

typedef struct ft_program {
    ft_intern names; /* of symbols, by their numbers, without the @ */
    FT_VEC(ft_program_symbol) symbols;
    ft_intern texts; /* messages, names of inputs, bytes; each once */
    ft_intern files;
    FT_VEC(ft_object) objects;
    FT_VEC(ft_initial) initials;
    FT_VEC(ft_function) functions;
} ft_program;

ft_program *ft_program_new(void);
void ft_program_free(ft_program *program); /* accepts NULL */

/* The symbol of that name, undefined so far if it is new. */
uint32_t ft_program_symbol_named(ft_program *program, const char *name, size_t length);
const char *ft_program_symbol_name(const ft_program *program, uint32_t symbol);
/* Defines an undefined symbol. The pointer is valid until the next one is added. */
ft_object *ft_program_add_object(ft_program *program, uint32_t symbol);
ft_function *ft_program_add_function(ft_program *program, uint32_t symbol);
/* The function or object of the symbol; NULL if it is none. */
const ft_function *ft_program_function(const ft_program *program, uint32_t symbol);
const ft_object *ft_program_object(const ft_program *program, uint32_t symbol);

/* A new register with the name, which must not be in use; NULL: one is made up. */
uint32_t ft_function_add_register(ft_function *function, const char *name, uint8_t width);
/* A new block, to which the instructions that follow belong. Its parameters are added next. */
uint32_t ft_function_add_block(ft_function *function, const char *name);
/* The next parameter of the newest block, which has no instruction yet. */
uint32_t ft_function_add_parameter(ft_function *function, const char *name, uint8_t width);
/* Appends to the newest block. Operands and targets are copied. */
void ft_function_add(ft_function *function, const ft_instruction *instruction,
                     const ft_operand *operands, uint32_t n_operands);
/* A target of the newest instruction. */
void ft_function_add_target(ft_function *function, uint32_t block, uint64_t value,
                            const ft_operand *operands, uint32_t n_operands);

ft_operand ft_operand_literal(uint8_t width, uint64_t value); /* cut to the width */
ft_operand ft_operand_register(const ft_function *function, uint32_t index);
ft_operand ft_operand_address(uint32_t symbol, uint64_t addend);

const char *ft_register_name(const ft_function *function, uint32_t index);
const char *ft_block_name(const ft_function *function, uint32_t index);

/* The width that a letter of instruction.h asks for, where `width` is the instruction's; 0: any. */
uint8_t ft_letter_width(char letter, uint8_t width);
uint8_t ft_instruction_result_width(const ft_instruction *instruction); /* 0: no result */

/* The low `width` bits set, 1 to 64. */
static inline uint64_t ft_width_mask(uint8_t width)
{
    return UINT64_MAX >> (64 - width);
}

#endif
