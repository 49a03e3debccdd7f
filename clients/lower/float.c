#include "internal.h"

/* LLVM's predicates: those of ordered operands are false for NaN, unordered ones true. Each is a
 * comparison of the language or a combination of two. */
typedef struct comparison {
    ft_code first, second; /* second FT_CODES: none */
    bool swaps[2];         /* the operands */
    bool negates;          /* the result */
} comparison;

static const comparison COMPARISONS[] = {
    [LLVMRealOEQ] = {FT_CODE_FEQ, FT_CODES, {false, false}, false},
    [LLVMRealOGT] = {FT_CODE_FLT, FT_CODES, {true, false}, false},
    [LLVMRealOGE] = {FT_CODE_FLE, FT_CODES, {true, false}, false},
    [LLVMRealOLT] = {FT_CODE_FLT, FT_CODES, {false, false}, false},
    [LLVMRealOLE] = {FT_CODE_FLE, FT_CODES, {false, false}, false},
    [LLVMRealONE] = {FT_CODE_FLT, FT_CODE_FLT, {false, true}, false},
    [LLVMRealORD] = {FT_CODE_FNAN, FT_CODES, {false, false}, true},
    [LLVMRealUNO] = {FT_CODE_FNAN, FT_CODES, {false, false}, false},
    [LLVMRealUEQ] = {FT_CODE_FEQ, FT_CODE_FNAN, {false, false}, false},
    [LLVMRealUGT] = {FT_CODE_FLE, FT_CODES, {false, false}, true},
    [LLVMRealUGE] = {FT_CODE_FLT, FT_CODES, {false, false}, true},
    [LLVMRealULT] = {FT_CODE_FLE, FT_CODES, {true, false}, true},
    [LLVMRealULE] = {FT_CODE_FLT, FT_CODES, {true, false}, true},
    [LLVMRealUNE] = {FT_CODE_FEQ, FT_CODES, {false, false}, true},
};

static ft_operand compare(lowering *l, ft_code code, bool swaps, ft_operand a, ft_operand b)
{
    return lower_emit2(l, code, a.width, swaps ? b : a, swaps ? a : b);
}

ft_status lower_float_compare(lowering *l, LLVMValueRef instruction)
{
    ft_operand a, b;
    LLVMRealPredicate p = LLVMGetFCmpPredicate(instruction);
    LOWER_TRY(lower_operand(l, LLVMGetOperand(instruction, 0), &a));
    LOWER_TRY(lower_operand(l, LLVMGetOperand(instruction, 1), &b));
    if (p == LLVMRealPredicateFalse || p == LLVMRealPredicateTrue)
        return lower_is(l, instruction, ft_operand_literal(1, p == LLVMRealPredicateTrue)), FT_OK;
    const comparison *c = &COMPARISONS[p];
    ft_operand r = compare(l, c->first, c->swaps[0], a, b);
    if (c->second != FT_CODES)
        r = lower_emit2(l, FT_CODE_OR, 1, r, compare(l, c->second, c->swaps[1], a, b));
    if (c->negates) r = lower_emit2(l, FT_CODE_XOR, 1, r, ft_operand_literal(1, 1));
    lower_is(l, instruction, r);
    return FT_OK;
}
