/* The inside of the lowering, for the files of this folder alone. */
#ifndef FT_LOWER_INTERNAL_H
#define FT_LOWER_INTERNAL_H

#include "base/contract.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "lower.h"

/* An operand of this kind names a value by its number, until the function ends. */
enum { LOWER_LATER = 255 };

/* A function that makes another one callable with other parameters or another result. */
typedef struct lower_thunk {
    uint32_t symbol;
    LLVMValueRef function;
    LLVMTypeRef type;
} lower_thunk;

typedef struct lowering {
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    ft_program *program;
    FT_VEC(LLVMValueRef) wanted; /* functions and globals that are referred to, each once */
    ft_map seen;                 /* of `wanted`: address -> 1 */
    FT_VEC(lower_thunk) thunks;
    /* the function being lowered */
    LLVMValueRef value;
    ft_function *function;
    ft_map ids;                /* LLVM value -> its number here */
    FT_VEC(ft_operand) values; /* by that number; kind LOWER_LATER: not made yet */
    ft_map blocks;             /* LLVM block -> index */
    ft_operand more;           /* of a variadic function: its array of arguments (varargs.c) */
    ft_operand result;         /* of one that gives a struct back: where it goes (aggregate.c) */
    FT_VEC(ft_operand) noted;  /* by note of a variable: what has its value */
    bool atomic;               /* an atomic section from its begin to its end */
    LLVMValueRef instruction;  /* for errors */
    ft_error *err;
} lowering;

#define LOWER_TRY(expression)                                                                      \
    do {                                                                                           \
        ft_status try_status = (expression);                                                       \
        if (try_status != FT_OK) return try_status;                                                \
    } while (0)

/* ---- module.c */
/* An error with the function and the place of the running instruction. */
ft_status lower_fail(lowering *l, const char *format, ...) FT_PRINTF(2, 3);
uint32_t lower_symbol(lowering *l, LLVMValueRef global); /* and has it lowered, too */
/* The symbol of a function as one of another type. */
uint32_t lower_as(lowering *l, LLVMValueRef function, LLVMTypeRef type);
uint64_t lower_size(const lowering *l, LLVMTypeRef type);
/* The width of values of the type; 0: void. False: it has none (structs, vectors, ...). */
bool lower_width(const lowering *l, LLVMTypeRef type, uint8_t *width);
uint32_t lower_text(lowering *l, const char *text, size_t length);
/* The text that the constant pointer points to; false: it is not known. */
bool lower_string(LLVMValueRef pointer, const char **text, size_t *length);
/* base + offset of a constant address; *symbol FT_NO_SYMBOL: a number. */
ft_status lower_constant_address(lowering *l, LLVMValueRef constant, uint32_t *symbol,
                                 uint64_t *offset);

/* ---- entry.c */
/* The frame of main: constructors before it, functions given to `atexit` after it. */
void lower_frame_main(LLVMModuleRef module);
/* The program, without the models, gives destructors that run where threads end: of thread-specific
 * values or of thread-local objects of C++. */
bool lower_has_thread_ends(LLVMModuleRef module);
/* Has threads run them; the models are linked. */
void lower_run_thread_ends(LLVMModuleRef module);

/* ---- mutexes.c */
/* A call of mutex_init for each mutex whose initialiser says that it is no normal one. */
void lower_make_mutexes(LLVMModuleRef module);

/* ---- function.c */
ft_status lower_function(lowering *l, LLVMValueRef function);
ft_status lower_thunk_body(lowering *l, const lower_thunk *thunk);
ft_status lower_operand(lowering *l, LLVMValueRef value, ft_operand *operand);
/* Appends the instruction, with a new register if it has a result, which is returned. The place is
 * that of the running LLVM instruction, and its name, unless the name is in use. */
ft_operand lower_emit(lowering *l, ft_instruction in, const ft_operand *operands, uint32_t n);
ft_operand lower_emit2(lowering *l, ft_code code, uint8_t width, ft_operand a, ft_operand b);
ft_operand lower_emit1(lowering *l, ft_code code, uint8_t width, ft_operand a);
/* zext or trunc to the width. */
ft_operand lower_resize(lowering *l, ft_operand value, uint8_t width);
/* The value is the operand. */
void lower_is(lowering *l, LLVMValueRef value, ft_operand operand);
/* Adds the target to the newest instruction, with the arguments of its phis. */
ft_status lower_target(lowering *l, LLVMBasicBlockRef from, LLVMBasicBlockRef to, uint64_t value);

/* ---- instruction.c, float.c, call.c. *ended: the block ends here */
ft_status lower_instruction(lowering *l, LLVMValueRef instruction, bool *ended);
ft_status lower_float_compare(lowering *l, LLVMValueRef instruction);
ft_status lower_call(lowering *l, LLVMValueRef call, bool *ended);
/* ---- aggregate.c: a struct or array that is a value, as clang gives structs of up to 16 bytes
 * back, is an object of the stack, made at the function's beginning and written where the value is
 * made; the operand is its address. A function that gives one back gets the address as its first
 * argument. */
bool lower_is_aggregate(LLVMTypeRef type);
/* Makes the objects for all such values of the function. */
void lower_aggregates(lowering *l);
/* Writes the value to an address, or what is at the address to the object of a load. */
ft_status lower_aggregate_store(lowering *l, LLVMValueRef value, ft_operand to);
void lower_aggregate_load(lowering *l, LLVMValueRef load, ft_operand from);
ft_operand lower_aggregate_object(lowering *l, LLVMValueRef call);
ft_status lower_aggregate_extract(lowering *l, LLVMValueRef in);
ft_status lower_aggregate_insert(lowering *l, LLVMValueRef in, bool *ended);

/* ---- varargs.c: the arguments behind the named ones go into an array of 8 bytes each, whose
 * address is one more argument. Code that clang makes for va_arg finds them there, as in the memory
 * where the calling convention has those that do not fit into registers. */
bool lower_is_variadic(LLVMTypeRef function); /* has named parameters, and may have more */
/* The array of the call's arguments from that one on. */
ft_status lower_pack(lowering *l, LLVMValueRef call, unsigned from, ft_operand *array);
ft_status lower_va_start(lowering *l, LLVMValueRef call, const char *name, bool *ended);
ft_status lower_va_copy(lowering *l, LLVMValueRef call, const char *name, bool *ended);
/* The array that a va_list is at, for models of vprintf and its kin. */
ft_operand lower_va_array(lowering *l, ft_operand list);

/* ---- variable.c: which variable of the source has which value, by clang's debug information */
ft_status lower_variable(lowering *l, LLVMValueRef call, const char *name, bool *ended);

/* A part of what a call of llvm.*.with.overflow gives. */
ft_status lower_checked(lowering *l, LLVMValueRef call, bool overflows, ft_operand *result);
ft_status lower_order(lowering *l, LLVMValueRef instruction, uint8_t *order);

#endif
