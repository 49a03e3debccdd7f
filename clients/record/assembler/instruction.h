/* The memory accesses of an x86-64 instruction, from its text in AT&T syntax. */
#ifndef FT_ASSEMBLER_INSTRUCTION_H
#define FT_ASSEMBLER_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>

/*  symbol    of the hook before it */
#define FT_ASM_ACCESS_TABLE(X)                                                                     \
    X(NONE, "")                                                                                    \
    X(READ, "read")                                                                                \
    X(WRITE, "write")                                                                              \
    X(UPDATE, "update")                                                                            \
    X(COMPARE, "compare")
typedef enum ft_asm_access {
#define FT_ASM_ENUM(symbol, hook) FT_ASM_##symbol,
    FT_ASM_ACCESS_TABLE(FT_ASM_ENUM)
#undef FT_ASM_ENUM
} ft_asm_access;

/* A part of somebody else's text. */
typedef struct ft_asm_text {
    const char *at;
    size_t n;
} ft_asm_text;

typedef struct ft_asm_instruction {
    ft_asm_access access; /* NONE: of no memory that other threads may have, or it is not known */
    unsigned size;        /* bytes: 1, 2, 4, 8 or 16 */
    ft_asm_text memory;   /* the operand: displacement(base,index,scale) */
    ft_asm_text bit;      /* the register that counts bits from there on; n == 0: none */
    bool orders;          /* it is locked, or an exchange: it orders threads */
    bool plain;           /* the hook's caller says so: the access is none of an atomic */
    bool clock;           /* it reads the processor's clock into eax and edx */
} ft_asm_instruction;

/* Of one statement without labels and comments. An instruction that orders threads and whose access
 * is NONE is one that nobody here understands, but for memory of the thread's own. */
ft_asm_instruction ft_asm_understand(ft_asm_text statement);

/* One that may stand as a statement of its own before the instruction: lock, rep, fs. */
bool ft_asm_is_prefix(ft_asm_text word);

/* 0: no integer register. */
unsigned ft_asm_register_size(ft_asm_text name);

#endif
