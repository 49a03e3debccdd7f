/* Structs and arrays as values. */
#include <string.h>

#include "internal.h"

bool lower_is_aggregate(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind;
}

/* Does the instruction make one that needs an object? The others are parts of pairs that
 * instructions of the language give (lower_checked, swaps). */
static bool makes_object(LLVMValueRef in)
{
    if (!lower_is_aggregate(LLVMTypeOf(in))) return false;
    if (LLVMIsACallInst(in)) {
        LLVMValueRef function = LLVMGetCalledValue(in);
        return !LLVMIsAFunction(function) || strncmp(LLVMGetValueName(function), "llvm.", 5) != 0;
    }
    return LLVMIsALoadInst(in) || LLVMIsAInsertValueInst(in);
}

void lower_aggregates(lowering *l)
{
    enum { ALIGNMENT = 4 };
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(l->value); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!makes_object(i)) continue;
            ft_operand size = ft_operand_literal(64, lower_size(l, LLVMTypeOf(i)));
            ft_instruction stack = {.code = FT_CODE_STACK, .attribute = ALIGNMENT};
            l->instruction = i;
            lower_is(l, i, lower_emit(l, stack, &size, 1));
        }
    l->instruction = NULL;
}

static ft_operand at(lowering *l, ft_operand base, uint64_t offset)
{
    return offset ? lower_emit2(l, FT_CODE_ADD, 64, base, ft_operand_literal(64, offset)) : base;
}

static uint64_t offset_in(const lowering *l, LLVMTypeRef type, unsigned i)
{
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind) return LLVMOffsetOfElement(l->layout, type, i);
    return i * lower_size(l, LLVMGetElementType(type));
}

static LLVMTypeRef type_in(LLVMTypeRef type, unsigned i)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMStructGetTypeAtIndex(type, i)
                                                       : LLVMGetElementType(type);
}

static void copy(lowering *l, ft_operand to, ft_operand from, uint64_t size)
{
    ft_operand three[3] = {to, from, ft_operand_literal(64, size)};
    lower_emit(l, (ft_instruction){.code = FT_CODE_COPY}, three, 3);
}

static ft_status store_constant(lowering *l, LLVMValueRef constant, ft_operand to)
{
    LLVMTypeRef type = LLVMTypeOf(constant);
    if (LLVMIsUndef(constant)) return FT_OK;
    if (!lower_is_aggregate(type)) {
        ft_operand value;
        LOWER_TRY(lower_operand(l, constant, &value));
        lower_emit2(l, FT_CODE_STORE, value.width, value, to);
        return FT_OK;
    }
    if (LLVMIsNull(constant)) {
        ft_operand three[3] = {to, ft_operand_literal(8, 0),
                               ft_operand_literal(64, lower_size(l, type))};
        lower_emit(l, (ft_instruction){.code = FT_CODE_FILL}, three, 3);
        return FT_OK;
    }
    if (LLVMIsAConstantDataSequential(constant))
        return lower_fail(l, "a constant array as a value");
    for (int i = 0; i < LLVMGetNumOperands(constant); i++)
        LOWER_TRY(store_constant(l, LLVMGetOperand(constant, (unsigned)i),
                                 at(l, to, offset_in(l, type, (unsigned)i))));
    return FT_OK;
}

ft_status lower_aggregate_store(lowering *l, LLVMValueRef value, ft_operand to)
{
    ft_operand from;
    if (LLVMIsConstant(value)) return store_constant(l, value, to);
    LOWER_TRY(lower_operand(l, value, &from));
    copy(l, to, from, lower_size(l, LLVMTypeOf(value)));
    return FT_OK;
}

static ft_operand object_of(lowering *l, LLVMValueRef in)
{
    ft_operand object = {0};
    ft_status status = lower_operand(l, in, &object);
    assert(status == FT_OK && object.kind != LOWER_LATER);
    (void)status;
    return object;
}

void lower_aggregate_load(lowering *l, LLVMValueRef in, ft_operand from)
{
    copy(l, object_of(l, in), from, lower_size(l, LLVMTypeOf(in)));
}

ft_operand lower_aggregate_object(lowering *l, LLVMValueRef call)
{
    return object_of(l, call);
}

/* The part that an extraction or insertion is about. */
static LLVMTypeRef find_part(const lowering *l, LLVMValueRef in, uint64_t *offset)
{
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(in, 0));
    *offset = 0;
    for (unsigned i = 0; i < LLVMGetNumIndices(in); i++) {
        unsigned index = LLVMGetIndices(in)[i];
        *offset += offset_in(l, type, index);
        type = type_in(type, index);
    }
    return type;
}

ft_status lower_aggregate_extract(lowering *l, LLVMValueRef in)
{
    ft_operand of;
    uint64_t offset;
    uint8_t width;
    LLVMTypeRef type = find_part(l, in, &offset);
    if (LLVMIsConstant(LLVMGetOperand(in, 0))) return lower_fail(l, "a part of a constant struct");
    LOWER_TRY(lower_operand(l, LLVMGetOperand(in, 0), &of));
    of = at(l, of, offset);
    if (lower_is_aggregate(type)) return lower_is(l, in, of), FT_OK;
    if (!lower_width(l, type, &width)) return lower_fail(l, "a part of a struct that is no value");
    return lower_is(l, in, lower_emit1(l, FT_CODE_LOAD, width, of)), FT_OK;
}

ft_status lower_aggregate_insert(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand value, object = object_of(l, in);
    uint64_t offset;
    LLVMTypeRef type = find_part(l, in, &offset);
    LOWER_TRY(lower_aggregate_store(l, LLVMGetOperand(in, 0), object));
    if (lower_is_aggregate(type))
        return lower_aggregate_store(l, LLVMGetOperand(in, 1), at(l, object, offset));
    LOWER_TRY(lower_operand(l, LLVMGetOperand(in, 1), &value));
    lower_emit2(l, FT_CODE_STORE, value.width, value, at(l, object, offset));
    return FT_OK;
}
