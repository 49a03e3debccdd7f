/* Inside of foretell-instrument: what its files share.
 *
 * Imports: raw, common/base. */
#ifndef FT_SYMBOLIC_PASS_H
#define FT_SYMBOLIC_PASS_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "raw/terms.h"

/* The runtime's functions (runtime/annotations/symbolic.c) and the sanitizer's that the runtime has
 * too. Signature: the result, then the parameters; v void, i 32 bits, l 64 bits, p pointer. symbol,
 * name, signature */
#define FT_CALLEE_TABLE(X)                                                                         \
    X(BINARY, "ft_sym_binary", "iiiiill")                                                          \
    X(CAST, "ft_sym_cast", "iiiii")                                                                \
    X(SELECT, "ft_sym_select", "iiiiilll")                                                         \
    X(INDEX, "ft_sym_index", "iiilll")                                                             \
    X(BRANCH, "ft_sym_branch", "vii")                                                              \
    X(SWITCH, "ft_sym_switch", "viilpi")                                                           \
    X(ASSERT, "ft_sym_assert", "viip")                                                             \
    X(PIN, "ft_sym_pin", "viil")                                                                   \
    X(PIN_MEMORY, "ft_sym_pin_memory", "vi")                                                       \
    X(PIN_RANGE, "ft_sym_pin_range", "vipl")                                                       \
    X(FORGET, "ft_sym_forget", "vpl")                                                              \
    X(LOAD, "ft_sym_load", "ipli")                                                                 \
    X(LOAD_PLAIN, "ft_sym_load_plain", "vpli")                                                     \
    X(STORE, "ft_sym_store", "vplii")                                                              \
    X(STORE_TABLE, "ft_sym_store_table", "vppi")                                                   \
    X(ATOMIC_LOAD, "ft_sym_atomic_load", "ipli")                                                   \
    X(ATOMIC_STORE, "ft_sym_atomic_store", "vplii")                                                \
    X(ATOMIC_UPDATE, "ft_sym_atomic_update", "ipliiil")                                            \
    X(ATOMIC_COMPARE, "ft_sym_atomic_compare", "ipliilil")                                         \
    X(MEMCPY, "ft_sym_memcpy", "pppliii")                                                          \
    X(MEMMOVE, "ft_sym_memmove", "pppliii")                                                        \
    X(MEMSET, "ft_sym_memset", "ppiliii")                                                          \
    X(REGISTER, "ft_sym_register", "vpp")                                                          \
    X(CALL, "ft_sym_call", "ipippi")                                                               \
    X(LOOK, "ft_sym_look", "vpplpl")                                                               \
    X(LOOK_STRING, "ft_sym_look_string", "vpp")                                                    \
    X(RESULT, "ft_sym_result", "ii")                                                               \
    X(BEGIN, "ft_sym_begin", "ppi")                                                                \
    X(RETURN, "ft_sym_return", "vpil")                                                             \
    X(BEFORE, "foretell_happens_before", "vp")                                                     \
    X(AFTER, "foretell_happens_after", "vp")                                                       \
    X(INIT, "__tsan_init", "v")                                                                    \
    X(FUNC_ENTRY, "__tsan_func_entry", "vp")                                                       \
    X(FUNC_EXIT, "__tsan_func_exit", "v")                                                          \
    X(RETURN_ADDRESS, "llvm.returnaddress", "pi")
typedef enum ft_callee {
#define FT_ROW(symbol, name, signature) FT_CALLEE_##symbol,
    FT_CALLEE_TABLE(FT_ROW)
#undef FT_ROW
        FT_CALLEES
} ft_callee;

enum { FT_PASS_ARGUMENTS = 32 }; /* whose nodes are handed over; the rest is held to its values */

typedef struct ft_pass {
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    LLVMTypeRef none, byte, word, wide, pointer; /* void, i8, i32, i64, i8* */
    LLVMValueRef zero;                           /* of i32: no node */
    /* of the function at hand */
    LLVMValueRef function;
    ft_map nodes;                       /* value -> index in ids */
    FT_VEC(LLVMValueRef) ids;           /* its node, an i32 */
    LLVMValueRef arguments;             /* what ft_sym_begin returned */
    LLVMValueRef call_ids, call_values; /* arrays for the arguments of a call; NULL: not yet */
    FT_VEC(LLVMValueRef) frame;         /* its memory: gone when it returns */
    bool grows;                         /* has memory on the stack whose size varies */
    LLVMBasicBlockRef entry;
} ft_pass;

/* ---- pass.c */
LLVMValueRef ft_pass_call(ft_pass *p, ft_callee callee, const LLVMValueRef *arguments);
/* Bits of a type whose values have nodes: integers up to 64 bits, pointers, float and double; 0:
 * none. */
unsigned ft_pass_width(LLVMTypeRef type);
uint64_t ft_pass_size(const ft_pass *p, LLVMTypeRef type); /* bytes that a store of it writes */
LLVMValueRef ft_pass_node(const ft_pass *p, LLVMValueRef value); /* p->zero: has none */
bool ft_pass_is_concrete(const ft_pass *p, LLVMValueRef value);
void ft_pass_set(ft_pass *p, LLVMValueRef value, LLVMValueRef node);
LLVMValueRef ft_pass_word(ft_pass *p, LLVMValueRef value);    /* its bits as an i64 */
LLVMValueRef ft_pass_address(ft_pass *p, LLVMValueRef value); /* as an i8* */
LLVMValueRef ft_pass_int(const ft_pass *p, uint64_t value);   /* an i32 */
LLVMValueRef ft_pass_long(const ft_pass *p, uint64_t value);  /* an i64 */
void ft_pass_pin(ft_pass *p, LLVMValueRef value, ft_sym_reason reason);
void ft_pass_pin_operands(ft_pass *p, LLVMValueRef instruction, ft_sym_reason reason);
/* Where the next calls go: right behind an instruction, with its source location. */
void ft_pass_behind(ft_pass *p, LLVMValueRef instruction);
LLVMValueRef ft_pass_in_entry(ft_pass *p, LLVMTypeRef type, const char *name); /* an alloca */

/* ---- memory.c: the instruction is handled if it is one of these */
bool ft_pass_memory(ft_pass *p, LLVMValueRef instruction);
/* memcpy, memmove, memset, as intrinsics or by name */
bool ft_pass_range(ft_pass *p, LLVMValueRef instruction);

/* Before an atomic access to `size` bytes (0: not known) that is not recorded: all those to that
 * memory come in the order of the run. */
void ft_pass_keep_order(ft_pass *p, LLVMValueRef instruction, LLVMValueRef pointer, uint64_t size);

/* ---- calls.c */
bool ft_pass_calls(ft_pass *p, LLVMValueRef instruction);
bool ft_pass_must_be_tail(LLVMValueRef instruction); /* musttail */
/* Every invoke gets a block of its own where it goes on. */
void ft_pass_split_invokes(ft_pass *p);
void ft_pass_begin_function(ft_pass *p);

/* ---- function.c */
void ft_pass_function(ft_pass *p, LLVMValueRef function);
/* Before llvm.stackrestore: what it gives back has no content any more. */
void ft_pass_shrink_stack(ft_pass *p, LLVMValueRef restore);

#endif
