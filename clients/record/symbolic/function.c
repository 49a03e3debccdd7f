/* One function: each instruction in an order in which operands come before their uses. */
#include <string.h>

#include "base/contract.h"
#include "pass.h"

typedef FT_VEC(LLVMBasicBlockRef) block_list;
typedef FT_VEC(LLVMValueRef) value_list;

/* ---- reverse postorder */

typedef struct visit {
    LLVMBasicBlockRef block;
    unsigned next;
} visit;

static bool see(ft_map *seen, LLVMBasicBlockRef block)
{
    bool inserted;
    ft_map_slot(seen, (uintptr_t)block, 1, &inserted);
    return inserted;
}

static void find_postorder(LLVMBasicBlockRef entry, block_list *out)
{
    ft_map seen = {0};
    FT_VEC(visit) open = {0};
    see(&seen, entry);
    ft_vec_push(&open, (visit){entry, 0});
    while (open.len) {
        visit *top = &open.data[open.len - 1];
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(top->block);
        assert(terminator && top->next <= LLVMGetNumSuccessors(terminator));
        if (top->next == LLVMGetNumSuccessors(terminator)) {
            ft_vec_push(out, top->block);
            open.len--;
            continue;
        }
        LLVMBasicBlockRef next = LLVMGetSuccessor(terminator, top->next++);
        if (see(&seen, next)) ft_vec_push(&open, (visit){next, 0});
    }
    ft_map_release(&seen);
    ft_vec_release(&open);
}

static void find_instructions(ft_pass *p, value_list *out)
{
    block_list blocks = {0};
    find_postorder(p->entry, &blocks);
    for (size_t i = blocks.len; i-- > 0;)
        for (LLVMValueRef at = LLVMGetFirstInstruction(blocks.data[i]); at;
             at = LLVMGetNextInstruction(at))
            ft_vec_push(out, at);
    ft_vec_release(&blocks);
}

/* ---- operators */

static ft_sym_operation binary_of(LLVMOpcode opcode)
{
    static const struct {
        LLVMOpcode opcode;
        ft_sym_operation operation;
    } table[] = {
        {LLVMAdd, FT_SYM_ADD},   {LLVMSub, FT_SYM_SUB},   {LLVMMul, FT_SYM_MUL},
        {LLVMUDiv, FT_SYM_UDIV}, {LLVMSDiv, FT_SYM_SDIV}, {LLVMURem, FT_SYM_UREM},
        {LLVMSRem, FT_SYM_SREM}, {LLVMShl, FT_SYM_SHL},   {LLVMLShr, FT_SYM_LSHR},
        {LLVMAShr, FT_SYM_ASHR}, {LLVMAnd, FT_SYM_AND},   {LLVMOr, FT_SYM_OR},
        {LLVMXor, FT_SYM_XOR},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].opcode == opcode) return table[i].operation;
    return FT_SYM_NOTHING;
}

static ft_sym_operation comparison_of(LLVMIntPredicate predicate)
{
    static const struct {
        LLVMIntPredicate predicate;
        ft_sym_operation operation;
    } table[] = {
        {LLVMIntEQ, FT_SYM_EQ},   {LLVMIntNE, FT_SYM_NE},   {LLVMIntUGT, FT_SYM_UGT},
        {LLVMIntUGE, FT_SYM_UGE}, {LLVMIntULT, FT_SYM_ULT}, {LLVMIntULE, FT_SYM_ULE},
        {LLVMIntSGT, FT_SYM_SGT}, {LLVMIntSGE, FT_SYM_SGE}, {LLVMIntSLT, FT_SYM_SLT},
        {LLVMIntSLE, FT_SYM_SLE},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].predicate == predicate) return table[i].operation;
    return FT_SYM_NOTHING;
}

static void binary(ft_pass *p, LLVMValueRef instruction, ft_sym_operation operation)
{
    LLVMValueRef a = LLVMGetOperand(instruction, 0), b = LLVMGetOperand(instruction, 1);
    unsigned width = ft_pass_width(LLVMTypeOf(a));
    if (ft_pass_is_concrete(p, a) && ft_pass_is_concrete(p, b)) return;
    if (!width || !operation) {
        ft_pass_pin_operands(p, instruction, FT_SYM_OPERATION_REASON);
        return;
    }
    ft_pass_set(p, instruction,
                ft_pass_call(p, FT_CALLEE_BINARY,
                             (LLVMValueRef[]){ft_pass_int(p, operation), ft_pass_int(p, width),
                                              ft_pass_node(p, a), ft_pass_node(p, b),
                                              ft_pass_word(p, a), ft_pass_word(p, b)}));
}

static void cast(ft_pass *p, LLVMValueRef instruction, ft_sym_operation widening)
{
    LLVMValueRef value = LLVMGetOperand(instruction, 0), node = ft_pass_node(p, value);
    if (node == p->zero) return;
    unsigned from = ft_pass_width(LLVMTypeOf(value)), to = ft_pass_width(LLVMTypeOf(instruction));
    if (!from || !to) {
        ft_pass_pin(p, value, FT_SYM_WIDE_REASON);
        return;
    }
    if (from != to)
        node = ft_pass_call(p, FT_CALLEE_CAST,
                            (LLVMValueRef[]){ft_pass_int(p, to < from ? FT_SYM_TRUNC : widening),
                                             ft_pass_int(p, from), ft_pass_int(p, to), node});
    ft_pass_set(p, instruction, node);
}

static void choose(ft_pass *p, LLVMValueRef instruction)
{
    LLVMValueRef c = LLVMGetOperand(instruction, 0), a = LLVMGetOperand(instruction, 1),
                 b = LLVMGetOperand(instruction, 2);
    unsigned width = ft_pass_width(LLVMTypeOf(instruction));
    if (!width || !ft_pass_width(LLVMTypeOf(c))) {
        ft_pass_pin_operands(p, instruction, FT_SYM_WIDE_REASON);
        return;
    }
    if (ft_pass_is_concrete(p, c) && ft_pass_is_concrete(p, a) && ft_pass_is_concrete(p, b)) return;
    ft_pass_set(
        p, instruction,
        ft_pass_call(p, FT_CALLEE_SELECT,
                     (LLVMValueRef[]){ft_pass_int(p, width), ft_pass_node(p, c), ft_pass_node(p, a),
                                      ft_pass_node(p, b), ft_pass_word(p, c), ft_pass_word(p, a),
                                      ft_pass_word(p, b)}));
}

/* ---- addresses */

typedef struct address {
    LLVMValueRef node, value;
    uint64_t constant;
} address;

static void add_index(ft_pass *p, address *a, LLVMValueRef index, uint64_t stride)
{
    if (LLVMIsAConstantInt(index)) {
        a->constant += (uint64_t)LLVMConstIntGetSExtValue(index) * stride;
        return;
    }
    LLVMValueRef node = ft_pass_node(p, index);
    unsigned width = ft_pass_width(LLVMTypeOf(index));
    if (node != p->zero && width < 64)
        node = ft_pass_call(p, FT_CALLEE_CAST,
                            (LLVMValueRef[]){ft_pass_int(p, FT_SYM_SEXT), ft_pass_int(p, width),
                                             ft_pass_int(p, 64), node});
    LLVMValueRef value = LLVMBuildIntCast2(p->builder, index, p->wide, true, "");
    a->node =
        ft_pass_call(p, FT_CALLEE_INDEX,
                     (LLVMValueRef[]){a->node, node, a->value, value, ft_pass_long(p, stride)});
    LLVMValueRef offset = LLVMBuildMul(p->builder, value, ft_pass_long(p, stride), "");
    a->value = LLVMBuildAdd(p->builder, a->value, offset, "");
}

static void add_constant(ft_pass *p, address *a)
{
    if (!a->constant) return;
    a->node = ft_pass_call(p, FT_CALLEE_INDEX,
                           (LLVMValueRef[]){a->node, p->zero, a->value,
                                            ft_pass_long(p, a->constant), ft_pass_long(p, 1)});
}

static bool has_symbolic_operand(const ft_pass *p, LLVMValueRef instruction)
{
    int n = LLVMGetNumOperands(instruction);
    for (int i = 0; i < n; i++)
        if (!ft_pass_is_concrete(p, LLVMGetOperand(instruction, (unsigned)i))) return true;
    return false;
}

static void element_pointer(ft_pass *p, LLVMValueRef instruction)
{
    if (!has_symbolic_operand(p, instruction)) return;
    if (!ft_pass_width(LLVMTypeOf(instruction))) {
        ft_pass_pin_operands(p, instruction, FT_SYM_WIDE_REASON);
        return;
    }
    LLVMValueRef base = LLVMGetOperand(instruction, 0);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(instruction);
    address a = {ft_pass_node(p, base), ft_pass_word(p, base), 0};
    int n = LLVMGetNumOperands(instruction);
    for (int i = 1; i < n; i++) {
        LLVMValueRef index = LLVMGetOperand(instruction, (unsigned)i);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            unsigned member = (unsigned)LLVMConstIntGetZExtValue(index);
            a.constant += LLVMOffsetOfElement(p->layout, type, member);
            type = LLVMStructGetTypeAtIndex(type, member);
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        add_index(p, &a, index, LLVMABISizeOfType(p->layout, type));
    }
    add_constant(p, &a);
    ft_pass_set(p, instruction, a.node);
}

static void forget(ft_pass *p, LLVMValueRef memory)
{
    LLVMTypeRef type = LLVMGetAllocatedType(memory);
    LLVMValueRef n = LLVMGetOperand(memory, 0);
    LLVMValueRef count = LLVMBuildIntCast2(p->builder, n, p->wide, false, "");
    LLVMValueRef size =
        LLVMBuildMul(p->builder, count, ft_pass_long(p, LLVMABISizeOfType(p->layout, type)), "");
    ft_pass_call(p, FT_CALLEE_FORGET, (LLVMValueRef[]){ft_pass_address(p, memory), size});
}

/* Is it there whenever the function runs? Other memory of the stack has a size that varies. */
static bool is_in_frame(const ft_pass *p, LLVMValueRef memory)
{
    bool always = LLVMGetInstructionParent(memory) == p->entry;
    return always && LLVMIsConstant(LLVMGetOperand(memory, 0));
}

static void allocate(ft_pass *p, LLVMValueRef instruction)
{
    ft_pass_pin(p, LLVMGetOperand(instruction, 0), FT_SYM_SIZE_REASON);
    ft_pass_behind(p, instruction);
    forget(p, instruction);
    if (is_in_frame(p, instruction)) ft_vec_push(&p->frame, instruction);
}

/* One that returns a pointer; `argument`, an i32, may be NULL. */
static LLVMValueRef call_intrinsic(ft_pass *p, const char *name, LLVMValueRef argument)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name)), n = argument ? 1 : 0;
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(p->module, id, &p->pointer, n);
    LLVMTypeRef type = LLVMFunctionType(p->pointer, &p->word, n, false);
    return LLVMBuildCall2(p->builder, type, callee, &argument, n, "");
}

/* The stack's memory between its top and what stands above it. */
static void forget_below(ft_pass *p, LLVMValueRef end)
{
    LLVMValueRef top = call_intrinsic(p, "llvm.stacksave", NULL);
    LLVMValueRef size = LLVMBuildSub(p->builder, ft_pass_word(p, end), ft_pass_word(p, top), "");
    ft_pass_call(p, FT_CALLEE_FORGET, (LLVMValueRef[]){top, size});
}

void ft_pass_shrink_stack(ft_pass *p, LLVMValueRef restore)
{
    forget_below(p, LLVMGetOperand(restore, 0));
}

static void forget_frame(ft_pass *p)
{
    for (size_t i = 0; i < p->frame.len; i++) forget(p, p->frame.data[i]);
    if (p->grows) forget_below(p, call_intrinsic(p, "llvm.frameaddress", ft_pass_int(p, 0)));
}

/* ---- branches */

/* The call in a block where an assertion goes that fails; NULL: it is no such block. */
static LLVMValueRef failing_call(LLVMBasicBlockRef block)
{
    static const char *const names[] = {"foretell_assert_failed", "__assert_fail"};
    for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at)) {
        size_t length;
        LLVMValueRef callee =
            LLVMIsACallInst(at) || LLVMIsAInvokeInst(at) ? LLVMGetCalledValue(at) : NULL;
        for (size_t i = 0; callee && i < sizeof names / sizeof *names; i++)
            if (!strcmp(LLVMGetValueName2(callee, &length), names[i])) return at;
    }
    return NULL;
}

static bool fails(LLVMBasicBlockRef block)
{
    return failing_call(block) != NULL;
}

/* The source text of the assertion there; null if several assertions share the call. */
static LLVMValueRef expression_of(ft_pass *p, LLVMBasicBlockRef block)
{
    LLVMValueRef text = LLVMGetOperand(failing_call(block), 0);
    return LLVMIsConstant(text) ? ft_pass_address(p, text) : LLVMConstNull(p->pointer);
}

/* That a condition holds is asserted in the source by `block`, where it goes if it does not. */
static void assert_that(ft_pass *p, LLVMValueRef node, LLVMValueRef holds, LLVMBasicBlockRef block)
{
    ft_pass_call(p, FT_CALLEE_ASSERT, (LLVMValueRef[]){node, holds, expression_of(p, block)});
}

/* `a && b` is two branches that may fail, so it is two assertions, one after the other. */
static void branch(ft_pass *p, LLVMValueRef instruction)
{
    if (!LLVMIsConditional(instruction)) return;
    LLVMValueRef condition = LLVMGetCondition(instruction), node = ft_pass_node(p, condition);
    LLVMValueRef value = LLVMBuildZExt(p->builder, condition, p->word, "");
    if (fails(LLVMGetSuccessor(instruction, 1))) {
        assert_that(p, node, value, LLVMGetSuccessor(instruction, 1));
    } else if (fails(LLVMGetSuccessor(instruction, 0))) {
        LLVMValueRef one = ft_pass_int(p, 1), wide = LLVMBuildZExt(p->builder, value, p->wide, "");
        node = ft_pass_call(p, FT_CALLEE_BINARY,
                            (LLVMValueRef[]){ft_pass_int(p, FT_SYM_XOR), one, node, p->zero, wide,
                                             ft_pass_long(p, 1)});
        assert_that(p, node, LLVMBuildXor(p->builder, value, one, ""),
                    LLVMGetSuccessor(instruction, 0));
    } else if (node != p->zero) {
        ft_pass_call(p, FT_CALLEE_BRANCH, (LLVMValueRef[]){node, value});
    }
}

enum { MANY_CASES = 64 };

/* One bit: its node, and what it is in the run, as 64 bits. */
typedef struct bit {
    LLVMValueRef node, value;
} bit;

static bit is_case(ft_pass *p, LLVMValueRef value, LLVMValueRef of)
{
    unsigned width = ft_pass_width(LLVMTypeOf(value));
    LLVMValueRef same = LLVMBuildICmp(p->builder, LLVMIntEQ, value, of, ""), node = p->zero;
    if (width)
        node =
            ft_pass_call(p, FT_CALLEE_BINARY,
                         (LLVMValueRef[]){ft_pass_int(p, FT_SYM_EQ), ft_pass_int(p, width),
                                          ft_pass_node(p, value), p->zero, ft_pass_word(p, value),
                                          ft_pass_long(p, LLVMConstIntGetZExtValue(of))});
    return (bit){node, LLVMBuildZExt(p->builder, same, p->wide, "")};
}

static bit join(ft_pass *p, ft_sym_operation operation, bit a, bit b)
{
    LLVMValueRef value = operation == FT_SYM_OR ? LLVMBuildOr(p->builder, a.value, b.value, "")
                                                : LLVMBuildXor(p->builder, a.value, b.value, "");
    LLVMValueRef node = ft_pass_call(p, FT_CALLEE_BINARY,
                                     (LLVMValueRef[]){ft_pass_int(p, operation), ft_pass_int(p, 1),
                                                      a.node, b.node, a.value, b.value});
    return (bit){node, value};
}

/* Where cases, or the default, are failing assertions: that the value is one of those that go on,
 * or none of those that fail. */
static void assert_cases(ft_pass *p, LLVMValueRef instruction)
{
    LLVMValueRef value = LLVMGetOperand(instruction, 0);
    unsigned n = LLVMGetNumSuccessors(instruction); /* the first one is the default */
    bool otherwise = fails(LLVMGetSuccessor(instruction, 0)), any = otherwise;
    bit listed = {p->zero, ft_pass_long(p, 0)}, one = {p->zero, ft_pass_long(p, 1)};
    for (unsigned i = 1; i < n; i++) any |= fails(LLVMGetSuccessor(instruction, i));
    if (!any || n > MANY_CASES + 1) return;
    for (unsigned i = 1; i < n; i++)
        if (fails(LLVMGetSuccessor(instruction, i)) != otherwise)
            listed =
                join(p, FT_SYM_OR, listed, is_case(p, value, LLVMGetOperand(instruction, 2 * i)));
    bit holds = otherwise ? listed : join(p, FT_SYM_XOR, listed, one);
    LLVMBasicBlockRef failing = LLVMGetSuccessor(instruction, 0);
    for (unsigned i = 1; i < n && !fails(failing); i++) failing = LLVMGetSuccessor(instruction, i);
    assert_that(p, holds.node, LLVMBuildTrunc(p->builder, holds.value, p->word, ""), failing);
}

static void choose_case(ft_pass *p, LLVMValueRef instruction)
{
    LLVMValueRef value = LLVMGetOperand(instruction, 0), cases[MANY_CASES];
    unsigned n = (unsigned)LLVMGetNumOperands(instruction) / 2 - 1;
    unsigned width = ft_pass_width(LLVMTypeOf(value));
    assert_cases(p, instruction);
    if (!width || n > MANY_CASES || !n) {
        ft_pass_pin(p, value, FT_SYM_SWITCH_REASON);
        return;
    }
    if (ft_pass_is_concrete(p, value)) return;
    for (unsigned i = 0; i < n; i++)
        cases[i] =
            ft_pass_long(p, LLVMConstIntGetZExtValue(LLVMGetOperand(instruction, 2 * i + 2)));
    LLVMValueRef table = LLVMAddGlobal(p->module, LLVMArrayType(p->wide, n), "foretell.cases");
    LLVMSetInitializer(table, LLVMConstArray(p->wide, cases, n));
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(table, true);
    ft_pass_call(p, FT_CALLEE_SWITCH,
                 (LLVMValueRef[]){ft_pass_node(p, value), ft_pass_int(p, width),
                                  ft_pass_word(p, value), ft_pass_address(p, table),
                                  ft_pass_int(p, n)});
}

static void leave(ft_pass *p, LLVMValueRef instruction)
{
    LLVMValueRef before = LLVMGetPreviousInstruction(instruction);
    LLVMValueRef value = LLVMGetNumOperands(instruction) ? LLVMGetOperand(instruction, 0) : NULL;
    if (before && ft_pass_must_be_tail(before)) return;
    forget_frame(p);
    LLVMValueRef node = value ? ft_pass_node(p, value) : p->zero;
    LLVMValueRef word = node == p->zero ? ft_pass_long(p, 0) : ft_pass_word(p, value);
    ft_pass_call(p, FT_CALLEE_RETURN, (LLVMValueRef[]){p->arguments, node, word});
    ft_pass_call(p, FT_CALLEE_FUNC_EXIT, NULL);
}

/* ---- phis: their nodes first, what comes in when all values have theirs */

static void begin_phi(ft_pass *p, LLVMValueRef instruction)
{
    if (!ft_pass_width(LLVMTypeOf(instruction))) return;
    ft_pass_set(p, instruction, LLVMBuildPhi(p->builder, p->word, ""));
}

static void end_phi(ft_pass *p, LLVMValueRef instruction)
{
    LLVMValueRef node = ft_pass_node(p, instruction);
    if (node == p->zero) return;
    unsigned n = LLVMCountIncoming(instruction);
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef in = ft_pass_node(p, LLVMGetIncomingValue(instruction, i));
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(instruction, i);
        LLVMAddIncoming(node, &in, &from, 1);
    }
}

/* ---- */

static void take_member(ft_pass *p, LLVMValueRef instruction)
{
    bool first = LLVMGetNumIndices(instruction) == 1 && LLVMGetIndices(instruction)[0] == 0;
    if (first) ft_pass_set(p, instruction, ft_pass_node(p, LLVMGetOperand(instruction, 0)));
}

static bool is_floating(LLVMOpcode opcode)
{
    static const LLVMOpcode all[] = {LLVMFNeg,   LLVMFAdd,    LLVMFSub,   LLVMFMul,   LLVMFDiv,
                                     LLVMFRem,   LLVMFCmp,    LLVMFPToUI, LLVMFPToSI, LLVMUIToFP,
                                     LLVMSIToFP, LLVMFPTrunc, LLVMFPExt};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == opcode) return true;
    return false;
}

static void compute(ft_pass *p, LLVMValueRef instruction, LLVMOpcode opcode)
{
    switch (opcode) {
    case LLVMPHI:
        begin_phi(p, instruction);
        break;
    case LLVMICmp:
        binary(p, instruction, comparison_of(LLVMGetICmpPredicate(instruction)));
        break;
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMFreeze:
        cast(p, instruction, FT_SYM_ZEXT);
        break;
    case LLVMSExt:
        cast(p, instruction, FT_SYM_SEXT);
        break;
    case LLVMSelect:
        choose(p, instruction);
        break;
    case LLVMGetElementPtr:
        element_pointer(p, instruction);
        break;
    case LLVMAlloca:
        allocate(p, instruction);
        break;
    case LLVMBr:
        branch(p, instruction);
        break;
    case LLVMSwitch:
        choose_case(p, instruction);
        break;
    case LLVMRet:
        leave(p, instruction);
        break;
    case LLVMResume:
        forget_frame(p);
        ft_pass_call(p, FT_CALLEE_FUNC_EXIT, NULL);
        break;
    case LLVMExtractValue:
        take_member(p, instruction);
        break;
    default:
        if (binary_of(opcode))
            binary(p, instruction, binary_of(opcode));
        else
            ft_pass_pin_operands(p, instruction,
                                 is_floating(opcode) ? FT_SYM_FLOAT_REASON : FT_SYM_WIDE_REASON);
    }
}

static void handle(ft_pass *p, LLVMValueRef instruction)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    LLVMPositionBuilderBefore(p->builder, instruction);
    if (ft_pass_memory(p, instruction) || ft_pass_calls(p, instruction)) return;
    compute(p, instruction, opcode);
}

static bool grows_stack(const ft_pass *p, const value_list *instructions)
{
    for (size_t i = 0; i < instructions->len; i++) {
        LLVMValueRef at = instructions->data[i];
        if (LLVMIsAAllocaInst(at) && !is_in_frame(p, at)) return true;
    }
    return false;
}

/* Behind the allocas of the first block. */
static void place_begin(ft_pass *p)
{
    LLVMValueRef at = LLVMGetFirstInstruction(p->entry);
    while (LLVMIsAAllocaInst(at)) at = LLVMGetNextInstruction(at);
    LLVMPositionBuilderBefore(p->builder, at);
    ft_pass_begin_function(p);
}

void ft_pass_function(ft_pass *p, LLVMValueRef function)
{
    value_list instructions = {0}, phis = {0};
    p->function = function;
    p->entry = LLVMGetEntryBasicBlock(function);
    p->call_ids = p->call_values = NULL;
    ft_pass_split_invokes(p);
    find_instructions(p, &instructions);
    p->grows = grows_stack(p, &instructions);
    place_begin(p);
    for (size_t i = 0; i < instructions.len; i++) {
        if (LLVMIsAPHINode(instructions.data[i])) ft_vec_push(&phis, instructions.data[i]);
        handle(p, instructions.data[i]);
    }
    for (size_t i = 0; i < phis.len; i++) end_phi(p, phis.data[i]);
    ft_vec_release(&instructions);
    ft_vec_release(&phis);
    ft_map_release(&p->nodes);
    p->nodes = (ft_map){0};
    p->ids.len = 0;
    p->frame.len = 0;
}
