/* Functions with a variable number of arguments. */
#include "internal.h"

/* A va_list of the x86-64 calling convention. With both offsets at their ends no argument is left
 * in the registers' area, so that va_arg takes the next one from OVERFLOW. */
enum { GENERAL = 0, FLOATING = 4, OVERFLOW = 8, SAVED = 16, LIST_BYTES = 24 };
enum { GENERAL_END = 48, FLOATING_END = 176, SLOT = 8 };

bool lower_is_variadic(LLVMTypeRef function)
{
    return LLVMIsFunctionVarArg(function) && LLVMCountParamTypes(function);
}

static ft_operand at(lowering *l, ft_operand base, uint64_t offset)
{
    return offset ? lower_emit2(l, FT_CODE_ADD, 64, base, ft_operand_literal(64, offset)) : base;
}

static bool is_struct(LLVMValueRef call, unsigned i)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    return LLVMGetCallSiteEnumAttribute(call, i + 1, kind) != NULL;
}

ft_status lower_pack(lowering *l, LLVMValueRef call, unsigned from, ft_operand *array)
{
    unsigned all = LLVMGetNumArgOperands(call), n = all > from ? all - from : 0;
    ft_operand size = ft_operand_literal(64, SLOT * (uint64_t)(n + 1));
    *array = lower_emit(l, (ft_instruction){.code = FT_CODE_STACK, .attribute = 3}, &size, 1);
    for (unsigned i = 0; i < n; i++) {
        ft_operand value;
        if (is_struct(call, from + i))
            return lower_fail(l, "a large struct among a variable number of arguments");
        LOWER_TRY(lower_operand(l, LLVMGetOperand(call, from + i), &value));
        value = lower_resize(l, value, 64);
        lower_emit2(l, FT_CODE_STORE, 64, value, at(l, *array, SLOT * (uint64_t)i));
    }
    return FT_OK;
}

ft_status lower_va_start(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)name, (void)ended;
    ft_operand list;
    if (!lower_is_variadic(LLVMGlobalGetValueType(l->value)))
        return lower_fail(l, "va_start without a named parameter");
    LOWER_TRY(lower_operand(l, LLVMGetOperand(call, 0), &list));
    lower_emit2(l, FT_CODE_STORE, 32, ft_operand_literal(32, GENERAL_END), at(l, list, GENERAL));
    lower_emit2(l, FT_CODE_STORE, 32, ft_operand_literal(32, FLOATING_END), at(l, list, FLOATING));
    lower_emit2(l, FT_CODE_STORE, 64, l->more, at(l, list, OVERFLOW));
    lower_emit2(l, FT_CODE_STORE, 64, ft_operand_literal(64, 0), at(l, list, SAVED));
    return FT_OK;
}

ft_status lower_va_copy(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)name, (void)ended;
    ft_operand parts[3] = {{0}, {0}, ft_operand_literal(64, LIST_BYTES)};
    for (unsigned i = 0; i < 2; i++)
        LOWER_TRY(lower_operand(l, LLVMGetOperand(call, i), &parts[i]));
    lower_emit(l, (ft_instruction){.code = FT_CODE_COPY}, parts, 3);
    return FT_OK;
}

ft_operand lower_va_array(lowering *l, ft_operand list)
{
    return lower_emit1(l, FT_CODE_LOAD, 64, at(l, list, OVERFLOW));
}
