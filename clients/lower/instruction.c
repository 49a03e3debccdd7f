#include <string.h>

#include "internal.h"

typedef ft_status lowerer(lowering *l, LLVMValueRef in, bool *ended);

static ft_status operand(lowering *l, LLVMValueRef in, unsigned i, ft_operand *o)
{
    return lower_operand(l, LLVMGetOperand(in, i), o);
}

/* ---- arithmetic ---- */

static const uint8_t BINARY[] = {
    [LLVMAdd] = FT_CODE_ADD,   [LLVMSub] = FT_CODE_SUB,   [LLVMMul] = FT_CODE_MUL,
    [LLVMUDiv] = FT_CODE_UDIV, [LLVMSDiv] = FT_CODE_SDIV, [LLVMURem] = FT_CODE_UREM,
    [LLVMSRem] = FT_CODE_SREM, [LLVMAnd] = FT_CODE_AND,   [LLVMOr] = FT_CODE_OR,
    [LLVMXor] = FT_CODE_XOR,   [LLVMShl] = FT_CODE_SHL,   [LLVMLShr] = FT_CODE_LSHR,
    [LLVMAShr] = FT_CODE_ASHR, [LLVMFAdd] = FT_CODE_FADD, [LLVMFSub] = FT_CODE_FSUB,
    [LLVMFMul] = FT_CODE_FMUL, [LLVMFDiv] = FT_CODE_FDIV, [LLVMFRem] = FT_CODE_FREM,
};

static ft_status binary(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand a, b;
    LOWER_TRY(operand(l, in, 0, &a));
    LOWER_TRY(operand(l, in, 1, &b));
    lower_is(l, in, lower_emit2(l, BINARY[LLVMGetInstructionOpcode(in)], a.width, a, b));
    return FT_OK;
}

static ft_status negate(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand a;
    LOWER_TRY(operand(l, in, 0, &a));
    ft_operand sign = ft_operand_literal(a.width, UINT64_C(1) << (a.width - 1));
    lower_is(l, in, lower_emit2(l, FT_CODE_XOR, a.width, a, sign));
    return FT_OK;
}

static const struct {
    uint8_t code;
    bool swaps;
} COMPARE[] = {
    [LLVMIntEQ] = {FT_CODE_EQ, false},   [LLVMIntNE] = {FT_CODE_NE, false},
    [LLVMIntUGT] = {FT_CODE_ULT, true},  [LLVMIntUGE] = {FT_CODE_ULE, true},
    [LLVMIntULT] = {FT_CODE_ULT, false}, [LLVMIntULE] = {FT_CODE_ULE, false},
    [LLVMIntSGT] = {FT_CODE_SLT, true},  [LLVMIntSGE] = {FT_CODE_SLE, true},
    [LLVMIntSLT] = {FT_CODE_SLT, false}, [LLVMIntSLE] = {FT_CODE_SLE, false},
};

static ft_status compare(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand a, b;
    LLVMIntPredicate p = LLVMGetICmpPredicate(in);
    bool swaps = COMPARE[p].swaps;
    LOWER_TRY(operand(l, in, swaps ? 1 : 0, &a));
    LOWER_TRY(operand(l, in, swaps ? 0 : 1, &b));
    lower_is(l, in, lower_emit2(l, COMPARE[p].code, a.width, a, b));
    return FT_OK;
}

static ft_status compare_floats(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    return lower_float_compare(l, in);
}

static const uint8_t CASTS[] = {
    [LLVMZExt] = FT_CODE_ZEXT,   [LLVMSExt] = FT_CODE_SEXT,   [LLVMTrunc] = FT_CODE_TRUNC,
    [LLVMFPToSI] = FT_CODE_FTOS, [LLVMFPToUI] = FT_CODE_FTOU, [LLVMSIToFP] = FT_CODE_STOF,
    [LLVMUIToFP] = FT_CODE_UTOF, [LLVMFPExt] = FT_CODE_FTOF,  [LLVMFPTrunc] = FT_CODE_FTOF,
};

static ft_status cast(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand a;
    uint8_t width;
    LOWER_TRY(operand(l, in, 0, &a));
    if (!lower_width(l, LLVMTypeOf(in), &width))
        return lower_fail(l, "a cast to a type that is not lowered");
    lower_is(l, in, lower_emit1(l, CASTS[LLVMGetInstructionOpcode(in)], width, a));
    return FT_OK;
}

/* Between pointers, and between pointers and integers. */
static ft_status same_bits(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand a;
    uint8_t width;
    LOWER_TRY(operand(l, in, 0, &a));
    if (!lower_width(l, LLVMTypeOf(in), &width))
        return lower_fail(l, "a cast to a type that is not lowered");
    lower_is(l, in, lower_resize(l, a, width));
    return FT_OK;
}

static ft_status choose(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand o[3];
    for (unsigned i = 0; i < 3; i++) LOWER_TRY(operand(l, in, i, &o[i]));
    lower_is(l, in,
             lower_emit(l, (ft_instruction){.code = FT_CODE_SELECT, .width = o[1].width}, o, 3));
    return FT_OK;
}

/* ---- memory ---- */

static uint8_t exponent(unsigned align)
{
    uint8_t e = 0;
    while (align > 1) align /= 2, e++;
    return e;
}

static ft_status make_room(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand n, size = ft_operand_literal(64, lower_size(l, LLVMGetAllocatedType(in)));
    LOWER_TRY(operand(l, in, 0, &n));
    n = lower_resize(l, n, 64);
    if (n.kind == FT_OPERAND_LITERAL)
        size.value *= n.value;
    else
        size = lower_emit2(l, FT_CODE_MUL, 64, n, size);
    ft_instruction stack = {.code = FT_CODE_STACK, .attribute = exponent(LLVMGetAlignment(in))};
    lower_is(l, in, lower_emit(l, stack, &size, 1));
    return FT_OK;
}

ft_status lower_order(lowering *l, LLVMValueRef in, uint8_t *order)
{
    switch (LLVMGetOrdering(in)) {
    case LLVMAtomicOrderingUnordered:
    case LLVMAtomicOrderingMonotonic:
        *order = FT_ORDER_RELAXED;
        break;
    case LLVMAtomicOrderingAcquire:
        *order = FT_ORDER_ACQUIRE;
        break;
    case LLVMAtomicOrderingRelease:
        *order = FT_ORDER_RELEASE;
        break;
    case LLVMAtomicOrderingAcquireRelease:
        *order = FT_ORDER_BOTH;
        break;
    case LLVMAtomicOrderingSequentiallyConsistent:
        *order = FT_ORDER_SEQUENTIAL;
        break;
    default:
        return lower_fail(l, "an atomic without an order");
    }
    return FT_OK;
}

static ft_status load(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand address;
    ft_instruction made = {.code = FT_CODE_LOAD};
    LOWER_TRY(operand(l, in, 0, &address));
    if (lower_is_aggregate(LLVMTypeOf(in))) return lower_aggregate_load(l, in, address), FT_OK;
    if (!lower_width(l, LLVMTypeOf(in), &made.width))
        return lower_fail(l, "a load of a vector or an integer of more than 64 bits");
    if (LLVMGetOrdering(in) != LLVMAtomicOrderingNotAtomic) {
        made.code = FT_CODE_ATOMIC_LOAD;
        LOWER_TRY(lower_order(l, in, &made.attribute));
    }
    lower_is(l, in, lower_emit(l, made, &address, 1));
    return FT_OK;
}

static ft_status store(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand o[2];
    ft_instruction made = {.code = FT_CODE_STORE};
    LOWER_TRY(operand(l, in, 1, &o[1]));
    if (lower_is_aggregate(LLVMTypeOf(LLVMGetOperand(in, 0))))
        return lower_aggregate_store(l, LLVMGetOperand(in, 0), o[1]);
    LOWER_TRY(operand(l, in, 0, &o[0]));
    made.width = o[0].width;
    if (LLVMGetOrdering(in) != LLVMAtomicOrderingNotAtomic) {
        made.code = FT_CODE_ATOMIC_STORE;
        LOWER_TRY(lower_order(l, in, &made.attribute));
    }
    lower_emit(l, made, o, 2);
    return FT_OK;
}

/* address + index * size */
static ft_operand add_scaled(lowering *l, ft_operand address, ft_operand index, uint64_t size)
{
    if (index.width < 64) index = lower_emit1(l, FT_CODE_SEXT, 64, index);
    if (size != 1) index = lower_emit2(l, FT_CODE_MUL, 64, index, ft_operand_literal(64, size));
    return lower_emit2(l, FT_CODE_ADD, 64, address, index);
}

static ft_operand add_constant(lowering *l, ft_operand address, uint64_t offset)
{
    if (!offset) return address;
    if (address.kind == FT_OPERAND_ADDRESS) return address.value += offset, address;
    return lower_emit2(l, FT_CODE_ADD, 64, address, ft_operand_literal(64, offset));
}

static ft_status element_address(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand address, index;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(in);
    uint64_t constant = 0;
    LOWER_TRY(operand(l, in, 0, &address));
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(in); i++) {
        LLVMValueRef v = LLVMGetOperand(in, i);
        bool field = i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind;
        if (field) {
            unsigned at = (unsigned)LLVMConstIntGetZExtValue(v);
            constant += LLVMOffsetOfElement(l->layout, type, at);
            type = LLVMStructGetTypeAtIndex(type, at);
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        uint64_t size = lower_size(l, type);
        if (LLVMIsAConstantInt(v)) {
            constant += (uint64_t)LLVMConstIntGetSExtValue(v) * size;
            continue;
        }
        LOWER_TRY(lower_operand(l, v, &index));
        address = add_scaled(l, address, index, size);
    }
    address = add_constant(l, address, constant);
    lower_is(l, in, address);
    return FT_OK;
}

/* ---- atomics ---- */

static const int8_t UPDATES[] = {
    [LLVMAtomicRMWBinOpXchg] = FT_UPDATE_EXCHANGE, [LLVMAtomicRMWBinOpAdd] = FT_UPDATE_ADD,
    [LLVMAtomicRMWBinOpSub] = FT_UPDATE_SUB,       [LLVMAtomicRMWBinOpAnd] = FT_UPDATE_AND,
    [LLVMAtomicRMWBinOpNand] = FT_UPDATE_NAND,     [LLVMAtomicRMWBinOpOr] = FT_UPDATE_OR,
    [LLVMAtomicRMWBinOpXor] = FT_UPDATE_XOR,       [LLVMAtomicRMWBinOpMax] = FT_UPDATE_SMAX,
    [LLVMAtomicRMWBinOpMin] = FT_UPDATE_SMIN,      [LLVMAtomicRMWBinOpUMax] = FT_UPDATE_UMAX,
    [LLVMAtomicRMWBinOpUMin] = FT_UPDATE_UMIN,
};

static ft_status update(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand o[2];
    unsigned kind = LLVMGetAtomicRMWBinOp(in);
    ft_instruction made = {.code = FT_CODE_ATOMIC_UPDATE};
    LOWER_TRY(operand(l, in, 0, &o[0]));
    LOWER_TRY(operand(l, in, 1, &o[1]));
    LOWER_TRY(lower_order(l, in, &made.order));
    if (kind >= sizeof UPDATES) return lower_fail(l, "an atomic update of floats");
    made.attribute = (uint8_t)UPDATES[kind];
    made.width = o[1].width;
    lower_is(l, in, lower_emit(l, made, o, 2));
    return FT_OK;
}

static ft_status swap(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    ft_operand o[3];
    ft_instruction made = {.code = FT_CODE_ATOMIC_SWAP};
    for (unsigned i = 0; i < 3; i++) LOWER_TRY(operand(l, in, i, &o[i]));
    made.width = o[1].width;
    /* The stronger of the two orders; the failure's is never stronger where C11 is followed. */
    switch (LLVMGetCmpXchgSuccessOrdering(in)) {
    case LLVMAtomicOrderingMonotonic:
        made.attribute = FT_ORDER_RELAXED;
        break;
    case LLVMAtomicOrderingAcquire:
        made.attribute = FT_ORDER_ACQUIRE;
        break;
    case LLVMAtomicOrderingRelease:
        made.attribute = FT_ORDER_RELEASE;
        break;
    case LLVMAtomicOrderingAcquireRelease:
        made.attribute = FT_ORDER_BOTH;
        break;
    default:
        made.attribute = FT_ORDER_SEQUENTIAL;
        break;
    }
    lower_is(l, in, lower_emit(l, made, o, 3)); /* of the pair {old, whether equal}: old */
    return FT_OK;
}

static const char *called_name(LLVMValueRef call)
{
    LLVMValueRef function = LLVMGetCalledValue(call);
    return LLVMIsAFunction(function) ? LLVMGetValueName(function) : "";
}

static ft_status extract(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    LLVMValueRef of = LLVMGetOperand(in, 0);
    uint64_t id;
    if (LLVMIsACallInst(of) && strncmp(called_name(of), "llvm.", 5) == 0) {
        ft_operand part;
        LOWER_TRY(lower_checked(l, of, LLVMGetIndices(in)[0] == 1, &part));
        return lower_is(l, in, part), FT_OK;
    }
    if (!LLVMIsAAtomicCmpXchgInst(of)) return lower_aggregate_extract(l, in);
    bool known = ft_map_get(&l->ids, (uintptr_t)of, &id);
    assert(known);
    (void)known;
    ft_operand old = l->values.data[id], expected;
    if (LLVMGetIndices(in)[0] == 0) return lower_is(l, in, old), FT_OK;
    LOWER_TRY(operand(l, of, 1, &expected));
    lower_is(l, in, lower_emit2(l, FT_CODE_EQ, old.width, old, expected));
    return FT_OK;
}

static ft_status fence(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)ended;
    static const struct {
        const char *word;
        uint8_t order;
    } ORDERS[] = {{" acquire", FT_ORDER_ACQUIRE},
                  {" release", FT_ORDER_RELEASE},
                  {" acq_rel", FT_ORDER_BOTH},
                  {" seq_cst", FT_ORDER_SEQUENTIAL}};
    char *text = LLVMPrintValueToString(in); /* LLVM's C API has no other way to a fence's order */
    bool signal = strstr(text, "\"singlethread\"") != NULL;
    size_t i = 0;
    while (i < sizeof ORDERS / sizeof ORDERS[0] && !strstr(text, ORDERS[i].word)) i++;
    LLVMDisposeMessage(text);
    if (signal) return FT_OK; /* it orders a thread and its signal handlers */
    if (i == sizeof ORDERS / sizeof ORDERS[0]) return lower_fail(l, "a fence without an order");
    lower_emit(l, (ft_instruction){.code = FT_CODE_FENCE, .attribute = ORDERS[i].order}, NULL, 0);
    return FT_OK;
}

/* ---- control ---- */

static ft_status branch(lowering *l, LLVMValueRef in, bool *ended)
{
    ft_operand condition;
    LLVMBasicBlockRef from = LLVMGetInstructionParent(in);
    *ended = true;
    if (!LLVMIsConditional(in)) {
        lower_emit(l, (ft_instruction){.code = FT_CODE_JUMP}, NULL, 0);
        return lower_target(l, from, LLVMGetSuccessor(in, 0), 0);
    }
    LOWER_TRY(lower_operand(l, LLVMGetCondition(in), &condition));
    lower_emit(l, (ft_instruction){.code = FT_CODE_BRANCH}, &condition, 1);
    LOWER_TRY(lower_target(l, from, LLVMGetSuccessor(in, 0), 0));
    return lower_target(l, from, LLVMGetSuccessor(in, 1), 0);
}

static ft_status choose_case(lowering *l, LLVMValueRef in, bool *ended)
{
    ft_operand value;
    LLVMBasicBlockRef from = LLVMGetInstructionParent(in);
    *ended = true;
    LOWER_TRY(operand(l, in, 0, &value));
    lower_emit(l, (ft_instruction){.code = FT_CODE_SWITCH, .width = value.width}, &value, 1);
    LOWER_TRY(lower_target(l, from, LLVMGetSwitchDefaultDest(in), 0));
    for (unsigned i = 1; i < LLVMGetNumSuccessors(in); i++) {
        LLVMValueRef is = LLVMGetOperand(in, 2 * i);
        LOWER_TRY(lower_target(l, from, LLVMGetSuccessor(in, i), LLVMConstIntGetZExtValue(is)));
    }
    return FT_OK;
}

static ft_status give_back(lowering *l, LLVMValueRef in, bool *ended)
{
    ft_operand value;
    int n = LLVMGetNumOperands(in);
    *ended = true;
    if (n && lower_is_aggregate(LLVMTypeOf(LLVMGetOperand(in, 0)))) {
        LOWER_TRY(lower_aggregate_store(l, LLVMGetOperand(in, 0), l->result));
        n = 0;
    }
    if (n) LOWER_TRY(operand(l, in, 0, &value));
    if (l->atomic) lower_emit(l, (ft_instruction){.code = FT_CODE_ATOMIC_END}, NULL, 0);
    lower_emit(l, (ft_instruction){.code = FT_CODE_RETURN}, &value, n ? 1 : 0);
    return FT_OK;
}

static ft_status unreachable(lowering *l, LLVMValueRef in, bool *ended)
{
    (void)in;
    *ended = true;
    lower_emit(l, (ft_instruction){.code = FT_CODE_UNREACHABLE}, NULL, 0);
    return FT_OK;
}

/* ---- all ---- */

static lowerer *const LOWERERS[] = {
    [LLVMAdd] = binary,
    [LLVMSub] = binary,
    [LLVMMul] = binary,
    [LLVMUDiv] = binary,
    [LLVMSDiv] = binary,
    [LLVMURem] = binary,
    [LLVMSRem] = binary,
    [LLVMAnd] = binary,
    [LLVMOr] = binary,
    [LLVMXor] = binary,
    [LLVMShl] = binary,
    [LLVMLShr] = binary,
    [LLVMAShr] = binary,
    [LLVMFAdd] = binary,
    [LLVMFSub] = binary,
    [LLVMFMul] = binary,
    [LLVMFDiv] = binary,
    [LLVMFRem] = binary,
    [LLVMFNeg] = negate,
    [LLVMICmp] = compare,
    [LLVMFCmp] = compare_floats,
    [LLVMZExt] = cast,
    [LLVMSExt] = cast,
    [LLVMTrunc] = cast,
    [LLVMFPToSI] = cast,
    [LLVMFPToUI] = cast,
    [LLVMSIToFP] = cast,
    [LLVMUIToFP] = cast,
    [LLVMFPExt] = cast,
    [LLVMFPTrunc] = cast,
    [LLVMBitCast] = same_bits,
    [LLVMPtrToInt] = same_bits,
    [LLVMIntToPtr] = same_bits,
    [LLVMFreeze] = same_bits,
    [LLVMSelect] = choose,
    [LLVMAlloca] = make_room,
    [LLVMLoad] = load,
    [LLVMStore] = store,
    [LLVMGetElementPtr] = element_address,
    [LLVMAtomicRMW] = update,
    [LLVMAtomicCmpXchg] = swap,
    [LLVMExtractValue] = extract,
    [LLVMInsertValue] = lower_aggregate_insert,
    [LLVMFence] = fence,
    [LLVMBr] = branch,
    [LLVMSwitch] = choose_case,
    [LLVMRet] = give_back,
    [LLVMUnreachable] = unreachable,
    [LLVMCall] = lower_call,
};

static bool is_vector(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMVectorTypeKind || kind == LLVMScalableVectorTypeKind;
}

/* Only these treat vectors as so many bits; intrinsics compute with their parts. */
static bool takes_vectors(LLVMValueRef in)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(in);
    if (opcode == LLVMCall) {
        LLVMValueRef function = LLVMGetCalledValue(in);
        return !LLVMIsAFunction(function) || !LLVMGetIntrinsicID(function);
    }
    return opcode == LLVMLoad || opcode == LLVMStore || opcode == LLVMRet ||
           opcode == LLVMBitCast || opcode == LLVMExtractValue || opcode == LLVMInsertValue ||
           opcode == LLVMAlloca;
}

static bool has_vector(LLVMValueRef in)
{
    bool found = is_vector(LLVMTypeOf(in));
    for (int i = 0; i < LLVMGetNumOperands(in); i++)
        found |= is_vector(LLVMTypeOf(LLVMGetOperand(in, (unsigned)i)));
    return found;
}

ft_status lower_instruction(lowering *l, LLVMValueRef instruction, bool *ended)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    bool known = (size_t)opcode < sizeof LOWERERS / sizeof LOWERERS[0] && LOWERERS[opcode];
    if (known && !takes_vectors(instruction) && has_vector(instruction))
        return lower_fail(l, "a computation with vectors");
    if (known) return LOWERERS[opcode](l, instruction, ended);
    char *text = LLVMPrintValueToString(instruction);
    ft_status status = lower_fail(l, "an instruction that is not lowered:%.150s", text);
    LLVMDisposeMessage(text);
    return status;
}
