#include <string.h>

#include "base/contract.h"
#include "pass.h"

static const struct {
    const char *name, *signature;
} callees[] = {
#define FT_ROW(symbol, name, signature) {name, signature},
    FT_CALLEE_TABLE(FT_ROW)
#undef FT_ROW
};

static LLVMTypeRef type_of(const ft_pass *p, char letter)
{
    return letter == 'v' ? p->none : letter == 'i' ? p->word : letter == 'l' ? p->wide : p->pointer;
}

static LLVMTypeRef type_of_callee(const ft_pass *p, ft_callee callee, unsigned *n)
{
    const char *signature = callees[callee].signature;
    LLVMTypeRef parameters[8];
    *n = (unsigned)strlen(signature) - 1;
    assert(*n <= sizeof parameters / sizeof *parameters);
    for (unsigned i = 0; i < *n; i++) parameters[i] = type_of(p, signature[i + 1]);
    return LLVMFunctionType(type_of(p, signature[0]), parameters, *n, false);
}

LLVMValueRef ft_pass_call(ft_pass *p, ft_callee callee, const LLVMValueRef *arguments)
{
    FT_REQUIRE(callee < FT_CALLEES);
    unsigned n;
    LLVMValueRef copies[8];
    LLVMTypeRef type = type_of_callee(p, callee, &n);
    LLVMValueRef function = LLVMGetNamedFunction(p->module, callees[callee].name);
    if (!function) function = LLVMAddFunction(p->module, callees[callee].name, type);
    for (unsigned i = 0; i < n; i++) {
        assert(LLVMTypeOf(arguments[i]) == type_of(p, callees[callee].signature[i + 1]));
        copies[i] = arguments[i];
    }
    return LLVMBuildCall2(p->builder, type, function, copies, n, "");
}

unsigned ft_pass_width(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMIntegerTypeKind)
        return LLVMGetIntTypeWidth(type) <= 64 ? LLVMGetIntTypeWidth(type) : 0;
    if (kind == LLVMPointerTypeKind) return LLVMGetPointerAddressSpace(type) == 0 ? 64 : 0;
    return kind == LLVMDoubleTypeKind ? 64 : kind == LLVMFloatTypeKind ? 32 : 0;
}

uint64_t ft_pass_size(const ft_pass *p, LLVMTypeRef type)
{
    return LLVMStoreSizeOfType(p->layout, type);
}

LLVMValueRef ft_pass_node(const ft_pass *p, LLVMValueRef value)
{
    uint64_t index;
    if (!ft_map_get(&p->nodes, (uintptr_t)value, &index)) return p->zero;
    assert(index < p->ids.len);
    return p->ids.data[index];
}

bool ft_pass_is_concrete(const ft_pass *p, LLVMValueRef value)
{
    return ft_pass_node(p, value) == p->zero;
}

void ft_pass_set(ft_pass *p, LLVMValueRef value, LLVMValueRef node)
{
    FT_REQUIRE(LLVMTypeOf(node) == p->word);
    if (node == p->zero) return;
    ft_map_put(&p->nodes, (uintptr_t)value, p->ids.len);
    ft_vec_push(&p->ids, node);
}

LLVMValueRef ft_pass_word(ft_pass *p, LLVMValueRef value)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));
    if (kind == LLVMPointerTypeKind) return LLVMBuildPtrToInt(p->builder, value, p->wide, "");
    if (kind == LLVMDoubleTypeKind) return LLVMBuildBitCast(p->builder, value, p->wide, "");
    if (kind == LLVMFloatTypeKind) value = LLVMBuildBitCast(p->builder, value, p->word, "");
    if (!ft_pass_width(LLVMTypeOf(value))) return ft_pass_long(p, 0);
    return LLVMBuildZExtOrBitCast(p->builder, value, p->wide, "");
}

LLVMValueRef ft_pass_address(ft_pass *p, LLVMValueRef value)
{
    return LLVMBuildBitCast(p->builder, value, p->pointer, "");
}

LLVMValueRef ft_pass_int(const ft_pass *p, uint64_t value)
{
    return LLVMConstInt(p->word, value, false);
}

LLVMValueRef ft_pass_long(const ft_pass *p, uint64_t value)
{
    return LLVMConstInt(p->wide, value, false);
}

void ft_pass_pin(ft_pass *p, LLVMValueRef value, ft_sym_reason reason)
{
    FT_REQUIRE(reason < FT_SYM_REASONS);
    if (ft_pass_is_concrete(p, value)) return;
    ft_pass_call(
        p, FT_CALLEE_PIN,
        (LLVMValueRef[]){ft_pass_int(p, reason), ft_pass_node(p, value), ft_pass_word(p, value)});
}

void ft_pass_pin_operands(ft_pass *p, LLVMValueRef instruction, ft_sym_reason reason)
{
    int n = LLVMGetNumOperands(instruction);
    for (int i = 0; i < n; i++) ft_pass_pin(p, LLVMGetOperand(instruction, (unsigned)i), reason);
}

void ft_pass_behind(ft_pass *p, LLVMValueRef instruction)
{
    LLVMValueRef next = LLVMGetNextInstruction(instruction);
    FT_REQUIRE(next); /* not a terminator */
    LLVMPositionBuilderBefore(p->builder, next);
    LLVMSetCurrentDebugLocation2(p->builder, LLVMInstructionGetDebugLoc(instruction));
}

LLVMValueRef ft_pass_in_entry(ft_pass *p, LLVMTypeRef type, const char *name)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(p->context);
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(p->entry));
    LLVMValueRef memory = LLVMBuildAlloca(builder, type, name);
    LLVMDisposeBuilder(builder);
    return memory;
}
