/* Loads, stores, atomic operations, ranges. */
#include <stdio.h>
#include <string.h>

#include "base/contract.h"
#include "pass.h"

enum { SEQUENTIALLY_CONSISTENT = 5, FUNCTION_NAME = 64 };

/* Is the value an address inside of a variable whose name begins with one of these? */
static bool is_inside(LLVMValueRef value, const char *const *prefixes, size_t n)
{
    size_t length;
    while (LLVMIsAGetElementPtrInst(value) || LLVMIsABitCastInst(value) ||
           LLVMIsAConstantExpr(value)) {
        if (LLVMGetNumOperands(value) == 0) return false;
        value = LLVMGetOperand(value, 0);
    }
    if (!LLVMIsAGlobalVariable(value)) return false;
    const char *name = LLVMGetValueName2(value, &length);
    for (size_t i = 0; i < n; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return true;
    return false;
}

/* What the compiler counts executions in (--coverage, -fprofile-...): without hooks, as it is for
 * its own sanitizer. */
static bool is_counter(LLVMValueRef pointer)
{
    static const char *const prefixes[] = {"__llvm_gcov", "__llvm_gcda", "__profc_"};
    return is_inside(pointer, prefixes, sizeof prefixes / sizeof *prefixes);
}

/* A table of virtual functions (Itanium C++ ABI: of a class, and of one under construction). */
static bool is_virtual_table(LLVMValueRef value)
{
    static const char *const prefixes[] = {"_ZTV", "_ZTC"};
    return LLVMIsAConstantExpr(value) &&
           is_inside(value, prefixes, sizeof prefixes / sizeof *prefixes);
}

/* Memory that the hooks can name: not relative to a segment register. */
static bool is_ordinary(LLVMValueRef pointer)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == 0 && !is_counter(pointer);
}

/* The node as it lies in memory: a bit takes a byte. */
static LLVMValueRef in_memory(ft_pass *p, LLVMValueRef value)
{
    LLVMValueRef node = ft_pass_node(p, value);
    if (node == p->zero || ft_pass_width(LLVMTypeOf(value)) != 1) return node;
    return ft_pass_call(
        p, FT_CALLEE_CAST,
        (LLVMValueRef[]){ft_pass_int(p, FT_SYM_ZEXT), ft_pass_int(p, 1), ft_pass_int(p, 8), node});
}

static LLVMValueRef out_of_memory(ft_pass *p, LLVMValueRef node, unsigned width)
{
    if (width != 1) return node;
    return ft_pass_call(
        p, FT_CALLEE_CAST,
        (LLVMValueRef[]){ft_pass_int(p, FT_SYM_TRUNC), ft_pass_int(p, 8), ft_pass_int(p, 1), node});
}

/* Does every bit of the value lie in a byte of its own memory? */
static bool fills_memory(const ft_pass *p, LLVMTypeRef type)
{
    unsigned width = ft_pass_width(type);
    return width == 1 || (width && width == 8 * ft_pass_size(p, type));
}

static void load(ft_pass *p, LLVMValueRef instruction)
{
    LLVMValueRef pointer = LLVMGetOperand(instruction, 0);
    LLVMTypeRef type = LLVMTypeOf(instruction);
    if (!is_ordinary(pointer)) return;
    LLVMValueRef arguments[] = {ft_pass_address(p, pointer), ft_pass_long(p, ft_pass_size(p, type)),
                                ft_pass_node(p, pointer)};
    if (!fills_memory(p, type)) {
        ft_pass_call(p, FT_CALLEE_LOAD_PLAIN, arguments);
        return;
    }
    LLVMValueRef node = ft_pass_call(p, FT_CALLEE_LOAD, arguments);
    unsigned width = ft_pass_width(type);
    if (width == 1) ft_pass_behind(p, instruction);
    ft_pass_set(p, instruction, out_of_memory(p, node, width));
}

static void store(ft_pass *p, LLVMValueRef instruction)
{
    LLVMValueRef value = LLVMGetOperand(instruction, 0), pointer = LLVMGetOperand(instruction, 1);
    LLVMTypeRef type = LLVMTypeOf(value);
    if (!is_ordinary(pointer)) return;
    if (is_virtual_table(value)) {
        ft_pass_call(p, FT_CALLEE_STORE_TABLE,
                     (LLVMValueRef[]){ft_pass_address(p, pointer), ft_pass_address(p, value),
                                      ft_pass_node(p, pointer)});
        return;
    }
    bool fills = fills_memory(p, type);
    if (!fills) ft_pass_pin(p, value, FT_SYM_WIDE_REASON);
    LLVMValueRef node = fills ? in_memory(p, value) : p->zero;
    assert(ft_pass_size(p, type));
    ft_pass_call(p, FT_CALLEE_STORE,
                 (LLVMValueRef[]){ft_pass_address(p, pointer),
                                  ft_pass_long(p, ft_pass_size(p, type)), ft_pass_node(p, pointer),
                                  node});
}

/* ---- atomic operations: the sanitizer's functions do them, in the step that is recorded */

static LLVMTypeRef atomic_type(const ft_pass *p, LLVMTypeRef type)
{
    unsigned width = ft_pass_width(type);
    bool known = width == 8 || width == 16 || width == 32 || width == 64;
    return known ? LLVMIntTypeInContext(p->context, width) : NULL;
}

static LLVMValueRef as_integer(ft_pass *p, LLVMValueRef value, LLVMTypeRef type)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(p->builder, value, type, "");
    return LLVMBuildBitCast(p->builder, value, type, "");
}

static LLVMValueRef as_type(ft_pass *p, LLVMValueRef value, LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(p->builder, value, type, "");
    return LLVMBuildBitCast(p->builder, value, type, "");
}

/* __tsan_atomic32_load(pointer, values..., orders...) */
static LLVMValueRef call_atomic(ft_pass *p, const char *name, LLVMTypeRef type, LLVMTypeRef result,
                                LLVMValueRef pointer, const LLVMValueRef *values, unsigned n,
                                unsigned orders)
{
    char function[FUNCTION_NAME];
    LLVMValueRef arguments[5];
    LLVMTypeRef types[5];
    unsigned count = 0;
    snprintf(function, sizeof function, "__tsan_atomic%u_%s", LLVMGetIntTypeWidth(type), name);
    arguments[count++] = LLVMBuildBitCast(p->builder, pointer, LLVMPointerType(type, 0), "");
    for (unsigned i = 0; i < n; i++) arguments[count++] = values[i];
    for (unsigned i = 0; i < orders; i++)
        arguments[count++] = ft_pass_int(p, SEQUENTIALLY_CONSISTENT);
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef signature = LLVMFunctionType(result, types, count, false);
    LLVMValueRef callee = LLVMGetNamedFunction(p->module, function);
    if (!callee) callee = LLVMAddFunction(p->module, function, signature);
    return LLVMBuildCall2(p->builder, signature, callee, arguments, count, "");
}

static void replace(ft_pass *p, LLVMValueRef instruction, LLVMValueRef value, LLVMValueRef node)
{
    LLVMReplaceAllUsesWith(instruction, value);
    LLVMInstructionEraseFromParent(instruction);
    ft_pass_set(p, value, node);
}

/* One that no hook is for: it keeps its place among all of that memory. Nobody comes between the
 * second call and what follows it. */
void ft_pass_keep_order(ft_pass *p, LLVMValueRef instruction, LLVMValueRef pointer, uint64_t size)
{
    LLVMValueRef address = ft_pass_address(p, pointer);
    ft_pass_pin_operands(p, instruction, FT_SYM_WIDE_REASON);
    if (size)
        ft_pass_call(
            p, FT_CALLEE_PIN_RANGE,
            (LLVMValueRef[]){ft_pass_int(p, FT_SYM_WIDE_REASON), address, ft_pass_long(p, size)});
    ft_pass_call(p, FT_CALLEE_BEFORE, &address);
    ft_pass_call(p, FT_CALLEE_AFTER, &address);
}

/* Of a function's static object of C++: that read is none (runtime/sync/once.c). */
static bool is_guard(LLVMValueRef pointer)
{
    static const char mangled[] = "_ZGV"; /* the C++ ABI of Itanium, 5.1.4.4 */
    size_t n;
    if (LLVMIsAConstantExpr(pointer) && LLVMGetConstOpcode(pointer) == LLVMBitCast)
        pointer = LLVMGetOperand(pointer, 0);
    const char *name = LLVMIsAGlobalVariable(pointer) ? LLVMGetValueName2(pointer, &n) : "";
    return !strncmp(name, mangled, sizeof mangled - 1);
}

static void atomic_load(ft_pass *p, LLVMValueRef instruction, LLVMTypeRef type)
{
    LLVMValueRef pointer = LLVMGetOperand(instruction, 0), node = p->zero;
    if (!is_guard(pointer))
        node = ft_pass_call(p, FT_CALLEE_ATOMIC_LOAD,
                            (LLVMValueRef[]){ft_pass_address(p, pointer),
                                             ft_pass_long(p, ft_pass_size(p, type)),
                                             ft_pass_node(p, pointer)});
    LLVMValueRef value = call_atomic(p, "load", type, type, pointer, NULL, 0, 1);
    replace(p, instruction, as_type(p, value, LLVMTypeOf(instruction)), node);
}

static void atomic_store(ft_pass *p, LLVMValueRef instruction, LLVMTypeRef type)
{
    LLVMValueRef value = LLVMGetOperand(instruction, 0), pointer = LLVMGetOperand(instruction, 1);
    ft_pass_call(p, FT_CALLEE_ATOMIC_STORE,
                 (LLVMValueRef[]){ft_pass_address(p, pointer),
                                  ft_pass_long(p, ft_pass_size(p, type)), ft_pass_node(p, pointer),
                                  ft_pass_node(p, value)});
    value = as_integer(p, value, type);
    call_atomic(p, "store", type, p->none, pointer, &value, 1, 1);
    LLVMInstructionEraseFromParent(instruction);
}

typedef struct update {
    LLVMAtomicRMWBinOp operation;
    const char *name;
    ft_sym_operation node;
} update;

static const update *update_of(LLVMValueRef instruction)
{
    static const update table[] = {
        {LLVMAtomicRMWBinOpXchg, "exchange", FT_SYM_EXCHANGE},
        {LLVMAtomicRMWBinOpAdd, "fetch_add", FT_SYM_ADD},
        {LLVMAtomicRMWBinOpSub, "fetch_sub", FT_SYM_SUB},
        {LLVMAtomicRMWBinOpAnd, "fetch_and", FT_SYM_AND},
        {LLVMAtomicRMWBinOpNand, "fetch_nand", FT_SYM_NAND},
        {LLVMAtomicRMWBinOpOr, "fetch_or", FT_SYM_OR},
        {LLVMAtomicRMWBinOpXor, "fetch_xor", FT_SYM_XOR},
        {LLVMAtomicRMWBinOpMax, "fetch_max", FT_SYM_MAX},
        {LLVMAtomicRMWBinOpMin, "fetch_min", FT_SYM_MIN},
        {LLVMAtomicRMWBinOpUMax, "fetch_umax", FT_SYM_UMAX},
        {LLVMAtomicRMWBinOpUMin, "fetch_umin", FT_SYM_UMIN},
    };
    LLVMAtomicRMWBinOp operation = LLVMGetAtomicRMWBinOp(instruction);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].operation == operation) return &table[i];
    return NULL;
}

static void atomic_update(ft_pass *p, LLVMValueRef instruction)
{
    LLVMValueRef pointer = LLVMGetOperand(instruction, 0), value = LLVMGetOperand(instruction, 1);
    LLVMTypeRef type = atomic_type(p, LLVMTypeOf(value));
    const update *u = update_of(instruction);
    if (!type || !u) {
        ft_pass_keep_order(p, instruction, pointer, ft_pass_size(p, LLVMTypeOf(value)));
        return;
    }
    LLVMValueRef node = ft_pass_call(
        p, FT_CALLEE_ATOMIC_UPDATE,
        (LLVMValueRef[]){ft_pass_address(p, pointer), ft_pass_long(p, ft_pass_size(p, type)),
                         ft_pass_node(p, pointer), ft_pass_int(p, u->node), ft_pass_node(p, value),
                         ft_pass_word(p, value)});
    value = as_integer(p, value, type);
    LLVMValueRef old = call_atomic(p, u->name, type, type, pointer, &value, 1, 1);
    replace(p, instruction, as_type(p, old, LLVMTypeOf(instruction)), node);
}

/* The pair that the instruction returns has the old value's node: its first member's. */
static void atomic_compare(ft_pass *p, LLVMValueRef instruction)
{
    LLVMValueRef pointer = LLVMGetOperand(instruction, 0);
    LLVMValueRef expected = LLVMGetOperand(instruction, 1),
                 desired = LLVMGetOperand(instruction, 2);
    LLVMTypeRef kind = LLVMTypeOf(expected), type = atomic_type(p, kind);
    if (!type) {
        ft_pass_keep_order(p, instruction, pointer, ft_pass_size(p, kind));
        return;
    }
    LLVMValueRef node = ft_pass_call(
        p, FT_CALLEE_ATOMIC_COMPARE,
        (LLVMValueRef[]){ft_pass_address(p, pointer), ft_pass_long(p, ft_pass_size(p, type)),
                         ft_pass_node(p, pointer), ft_pass_node(p, expected),
                         ft_pass_word(p, expected), ft_pass_node(p, desired),
                         ft_pass_word(p, desired)});
    LLVMValueRef values[] = {as_integer(p, expected, type), as_integer(p, desired, type)};
    LLVMValueRef old = call_atomic(p, "compare_exchange_val", type, type, pointer, values, 2, 2);
    LLVMValueRef done = LLVMBuildICmp(p->builder, LLVMIntEQ, old, values[0], "");
    LLVMValueRef pair = LLVMGetUndef(LLVMTypeOf(instruction));
    pair = LLVMBuildInsertValue(p->builder, pair, as_type(p, old, kind), 0, "");
    pair = LLVMBuildInsertValue(p->builder, pair, done, 1, "");
    replace(p, instruction, pair, node);
}

static bool is_atomic(LLVMValueRef instruction)
{
    return LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic;
}

bool ft_pass_memory(ft_pass *p, LLVMValueRef instruction)
{
    LLVMTypeRef whole, type;
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMLoad:
        whole = LLVMTypeOf(instruction);
        type = atomic_type(p, whole);
        if (!is_atomic(instruction))
            load(p, instruction);
        else if (type)
            atomic_load(p, instruction, type);
        else
            ft_pass_keep_order(p, instruction, LLVMGetOperand(instruction, 0),
                               ft_pass_size(p, whole));
        return true;
    case LLVMStore:
        whole = LLVMTypeOf(LLVMGetOperand(instruction, 0));
        type = atomic_type(p, whole);
        if (!is_atomic(instruction))
            store(p, instruction);
        else if (type)
            atomic_store(p, instruction, type);
        else
            ft_pass_keep_order(p, instruction, LLVMGetOperand(instruction, 1),
                               ft_pass_size(p, whole));
        return true;
    case LLVMAtomicRMW:
        atomic_update(p, instruction);
        return true;
    case LLVMAtomicCmpXchg:
        atomic_compare(p, instruction);
        return true;
    default:
        return false;
    }
}

/* ---- ranges */

static bool is_call_of(LLVMValueRef instruction, const char *name)
{
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    size_t length;
    if (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee)) return false;
    const char *text = LLVMGetValueName2(callee, &length);
    return strcmp(text, name) == 0 && LLVMGetNumArgOperands(instruction) == 3;
}

bool ft_pass_range(ft_pass *p, LLVMValueRef instruction)
{
    bool copy = LLVMIsAMemCpyInst(instruction) || is_call_of(instruction, "memcpy");
    bool move = LLVMIsAMemMoveInst(instruction) || is_call_of(instruction, "memmove");
    bool set = LLVMIsAMemSetInst(instruction) || is_call_of(instruction, "memset");
    if (!copy && !move && !set) return false;
    LLVMValueRef to = LLVMGetOperand(instruction, 0), from = LLVMGetOperand(instruction, 1),
                 size = LLVMGetOperand(instruction, 2);
    LLVMValueRef what =
        set ? LLVMBuildIntCast2(p->builder, from, p->word, false, "") : ft_pass_address(p, from);
    LLVMValueRef node = ft_pass_node(p, from);
    if (set && node != p->zero && ft_pass_width(LLVMTypeOf(from)) != 8)
        node = ft_pass_call(p, FT_CALLEE_CAST,
                            (LLVMValueRef[]){ft_pass_int(p, FT_SYM_TRUNC), ft_pass_int(p, 32),
                                             ft_pass_int(p, 8), node});
    ft_callee callee = copy ? FT_CALLEE_MEMCPY : move ? FT_CALLEE_MEMMOVE : FT_CALLEE_MEMSET;
    LLVMValueRef result =
        ft_pass_call(p, callee,
                     (LLVMValueRef[]){ft_pass_address(p, to), what, ft_pass_word(p, size),
                                      ft_pass_node(p, to), node, ft_pass_node(p, size)});
    if (LLVMGetTypeKind(LLVMTypeOf(instruction)) == LLVMPointerTypeKind)
        LLVMReplaceAllUsesWith(instruction,
                               LLVMBuildBitCast(p->builder, result, LLVMTypeOf(instruction), ""));
    LLVMInstructionEraseFromParent(instruction);
    return true;
}
