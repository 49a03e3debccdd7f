/* Calls and returns: node numbers for arguments and results where both sides know of them. */
#include <string.h>

#include "pass.h"

enum { FIXED = 8 }; /* ft_sym_call's `how` (runtime/annotations/symbolic.c) */

/* Functions of the C library by what their effects on the program depend on. What is not here may
 * look at everything. Those that the runtime stands in front of look at addresses. */
static const char *const sees_nothing[] = {"printf", "puts",    "putchar", "perror",
                                           "fflush", "vprintf", NULL};
/* The stream is the first argument, or the last one. */
static const char *const prints_first[] = {"fprintf", "vfprintf", NULL};
static const char *const prints_last[] = {"fputs", "fputc", "putc", "fwrite", NULL};
static const char *const sees_values[] = {"malloc",
                                          "calloc",
                                          "free",
                                          "aligned_alloc",
                                          "memalign",
                                          "posix_memalign",
                                          "sleep",
                                          "usleep",
                                          "nanosleep",
                                          "clock_nanosleep",
                                          "sched_yield",
                                          "exit",
                                          "_exit",
                                          "abort",
                                          "rand",
                                          "srand",
                                          "random",
                                          "srandom",
                                          "time",
                                          "clock",
                                          "clock_gettime",
                                          "gettimeofday",
                                          "getpid",
                                          "gettid",
                                          "abs",
                                          "labs",
                                          "llabs",
                                          "toupper",
                                          "tolower",
                                          "__ctype_b_loc",
                                          "__ctype_toupper_loc",
                                          "__ctype_tolower_loc",
                                          "sqrt",
                                          "pow",
                                          "floor",
                                          "ceil",
                                          "round",
                                          "_ZNSt6chrono3_V212steady_clock3nowEv",
                                          "_ZNSt6chrono3_V212system_clock3nowEv",
                                          "__cxa_allocate_exception",
                                          "__cxa_free_exception",
                                          "__cxa_end_catch",
                                          "foretell_atomic_begin",
                                          "foretell_atomic_end",
                                          "foretell_assert_failed",
                                          "__assert_fail",
                                          "__errno_location",
                                          "close",
                                          "fclose",
                                          "_Znwm",
                                          "_Znam",
                                          "_ZdlPv",
                                          "_ZdaPv",
                                          "_ZdlPvm",
                                          "_ZdaPvm",
                                          NULL};
static const char *const value_prefixes[] = {"pthread_", "sem_",      "mtx_",         "cnd_",
                                             "thrd_",    "call_once", "__cxa_guard_", NULL};

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names)) return true;
    return false;
}

static bool begins_with_one_of(const char *name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (!strncmp(name, *prefixes, strlen(*prefixes))) return true;
    return false;
}

/* Nobody reads that back. A file, or a stream into memory, the program may read itself. */
static bool is_standard_output(LLVMValueRef stream)
{
    size_t length;
    if (!LLVMIsALoadInst(stream)) return false;
    const char *name = LLVMGetValueName2(LLVMGetOperand(stream, 0), &length);
    return !strcmp(name, "stdout") || !strcmp(name, "stderr");
}

static bool only_prints(LLVMValueRef instruction, const char *name)
{
    unsigned n = LLVMGetNumArgOperands(instruction);
    if (LLVMGetFirstUse(instruction)) return false;
    if (is_one_of(name, sees_nothing)) return true;
    bool first = is_one_of(name, prints_first), last = is_one_of(name, prints_last);
    return n && (first || last) &&
           is_standard_output(LLVMGetOperand(instruction, first ? 0 : n - 1));
}

static ft_sym_effect effect_of(LLVMValueRef instruction, const char *name)
{
    if (!name) return FT_SYM_SEES_MEMORY;
    if (only_prints(instruction, name)) return FT_SYM_SEES_NOTHING;
    /* Its result is a text whose length is an argument. */
    if (!strcmp(name, "pthread_getname_np")) return FT_SYM_SEES_MEMORY;
    bool values = is_one_of(name, sees_values) || begins_with_one_of(name, value_prefixes);
    return values ? FT_SYM_SEES_VALUES : FT_SYM_SEES_MEMORY;
}

static const char *name_of_external(LLVMValueRef callee)
{
    size_t length;
    if (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee)) return NULL;
    return LLVMGetValueName2(callee, &length);
}

/* ---- intrinsics */

static bool is_intrinsic(LLVMValueRef callee)
{
    return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee);
}

static void intrinsic(ft_pass *p, LLVMValueRef instruction, LLVMValueRef callee)
{
    static const char *const harmless[] = {"llvm.dbg.",
                                           "llvm.lifetime.",
                                           "llvm.assume",
                                           "llvm.stack",
                                           "llvm.va_",
                                           "llvm.eh.",
                                           "llvm.trap",
                                           "llvm.debugtrap",
                                           "llvm.donothing",
                                           "llvm.prefetch",
                                           "llvm.frameaddress",
                                           "llvm.returnaddress",
                                           "llvm.is.constant",
                                           "llvm.objectsize",
                                           "llvm.experimental.noalias",
                                           "llvm.invariant.",
                                           NULL};
    static const char *const same[] = {"llvm.expect.", "llvm.launder.", "llvm.strip.invariant",
                                       "llvm.ssa.copy", NULL};
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    if (!strncmp(name, "llvm.stackrestore", 17)) ft_pass_shrink_stack(p, instruction);
    if (begins_with_one_of(name, harmless)) return;
    if (begins_with_one_of(name, same)) {
        ft_pass_set(p, instruction, ft_pass_node(p, LLVMGetOperand(instruction, 0)));
        return;
    }
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(instruction));
    bool floating = kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
    ft_pass_pin_operands(p, instruction, floating ? FT_SYM_FLOAT_REASON : FT_SYM_OPERATION_REASON);
}

/* ---- arguments */

static bool points_to_program(LLVMValueRef argument)
{
    if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind) return false;
    if (LLVMIsAFunction(argument) || LLVMIsNull(argument)) return false;
    while (LLVMIsAConstantExpr(argument)) argument = LLVMGetOperand(argument, 0);
    return !LLVMIsAGlobalVariable(argument) || !LLVMIsGlobalConstant(argument);
}

static LLVMValueRef element(ft_pass *p, LLVMValueRef array, LLVMTypeRef type, unsigned i)
{
    LLVMValueRef index = ft_pass_int(p, i);
    return LLVMBuildInBoundsGEP2(p->builder, type, array, &index, 1, "");
}

static LLVMValueRef array_in_entry(ft_pass *p, LLVMTypeRef type, const char *name)
{
    LLVMTypeRef all = LLVMArrayType(type, FT_PASS_ARGUMENTS);
    LLVMValueRef memory = ft_pass_in_entry(p, all, name);
    LLVMValueRef next = LLVMGetNextInstruction(memory);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(p->context);
    LLVMPositionBuilderBefore(builder, next);
    LLVMValueRef first = LLVMBuildBitCast(builder, memory, LLVMPointerType(type, 0), "");
    LLVMDisposeBuilder(builder);
    return first;
}

static void hand_over(ft_pass *p, LLVMValueRef instruction, unsigned n)
{
    if (!p->call_ids) {
        p->call_ids = array_in_entry(p, p->word, "ft.ids");
        p->call_values = array_in_entry(p, p->wide, "ft.values");
    }
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef argument = LLVMGetOperand(instruction, i), node = ft_pass_node(p, argument);
        LLVMBuildStore(p->builder, node, element(p, p->call_ids, p->word, i));
        if (node == p->zero) continue;
        LLVMBuildStore(p->builder, ft_pass_word(p, argument),
                       element(p, p->call_values, p->wide, i));
    }
}

/* Structures that are passed by value are copied by the call itself, which no hook sees. */
static void pin_copies(ft_pass *p, LLVMValueRef instruction, unsigned n)
{
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    for (unsigned i = 0; i < n; i++) {
        LLVMAttributeRef by = LLVMGetCallSiteEnumAttribute(instruction, i + 1, byval);
        if (!by) continue;
        LLVMTypeRef type = LLVMGetTypeAttributeValue(by);
        ft_pass_call(p, FT_CALLEE_PIN_RANGE,
                     (LLVMValueRef[]){ft_pass_int(p, FT_SYM_WIDE_REASON),
                                      ft_pass_address(p, LLVMGetOperand(instruction, i)),
                                      ft_pass_long(p, ft_pass_size(p, type))});
    }
}

/* What a function that looks at no memory may still write: results that it gives by a pointer,
 * which may be what was there before. Locks and their kin are unions, and no results. */
static void pin_results(ft_pass *p, LLVMValueRef instruction, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef argument = LLVMGetOperand(instruction, i);
        if (!points_to_program(argument)) continue;
        LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(argument));
        LLVMTypeKind kind = LLVMGetTypeKind(type);
        const char *name = kind == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
        if (type == p->byte || !LLVMTypeIsSized(type) || (name && !strncmp(name, "union.", 6)))
            continue;
        ft_pass_call(p, FT_CALLEE_PIN_RANGE,
                     (LLVMValueRef[]){ft_pass_int(p, FT_SYM_MEMORY_REASON),
                                      ft_pass_address(p, argument),
                                      ft_pass_long(p, ft_pass_size(p, type))});
    }
}

/* ---- what code without instrumentation may look at: what its arguments point to */

/* Bytes of a number, or of one in an array; 0: it is something else. Inside of a structure that a
 * library has for itself there is nothing that the program reads. */
static uint64_t size_of_number(const ft_pass *p, LLVMTypeRef type)
{
    for (;;) {
        /* A variable that is initialised in part: first what is given, then zeros. */
        bool parts = LLVMGetTypeKind(type) == LLVMStructTypeKind && LLVMIsLiteralStruct(type) &&
                     LLVMCountStructElementTypes(type);
        if (!parts && LLVMGetTypeKind(type) != LLVMArrayTypeKind) break;
        type = parts ? LLVMStructGetTypeAtIndex(type, 0) : LLVMGetElementType(type);
    }
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    bool number =
        kind == LLVMIntegerTypeKind || kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
    return number ? ft_pass_size(p, type) : 0;
}

static LLVMTypeRef type_of_object(LLVMValueRef object)
{
    if (LLVMIsAGlobalVariable(object)) return LLVMGlobalGetValueType(object);
    if (!LLVMIsAAllocaInst(object)) return NULL;
    return LLVMIsConstant(LLVMGetOperand(object, 0)) ? LLVMGetAllocatedType(object) : NULL;
}

/* The pointer before all steps to members and casts. */
static LLVMValueRef base_of(LLVMValueRef pointer)
{
    for (;;) {
        bool plain = LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer);
        LLVMOpcode constant =
            LLVMIsAConstantExpr(pointer) ? LLVMGetConstOpcode(pointer) : (LLVMOpcode)0;
        if (!plain && constant != LLVMGetElementPtr && constant != LLVMBitCast) return pointer;
        pointer = LLVMGetOperand(pointer, 0);
    }
}

/* Does it point to numbers, both as it is and as what it was before? */
static bool points_to_numbers(const ft_pass *p, LLVMValueRef argument)
{
    if (!points_to_program(argument)) return false;
    LLVMValueRef base = base_of(argument);
    if (LLVMGetTypeKind(LLVMTypeOf(base)) != LLVMPointerTypeKind) return false;
    LLVMTypeRef object = type_of_object(base);
    if (!object) object = LLVMGetElementType(LLVMTypeOf(base));
    return size_of_number(p, object) && size_of_number(p, LLVMGetElementType(LLVMTypeOf(argument)));
}

static void look_behind(ft_pass *p, LLVMValueRef callee, LLVMValueRef argument)
{
    LLVMValueRef base = base_of(argument), null = LLVMConstNull(p->pointer);
    LLVMTypeRef object = type_of_object(base);
    uint64_t size = size_of_number(p, LLVMGetElementType(LLVMTypeOf(argument)));
    ft_pass_call(p, FT_CALLEE_LOOK,
                 (LLVMValueRef[]){ft_pass_address(p, callee), ft_pass_address(p, argument),
                                  ft_pass_long(p, size), object ? ft_pass_address(p, base) : null,
                                  ft_pass_long(p, object ? ft_pass_size(p, object) : 0)});
}

static bool is_string(LLVMValueRef argument)
{
    static const char *const prefixes[] = {"class.std::__cxx11::basic_string", NULL};
    size_t n = strlen(prefixes[0]);
    if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind) return false;
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(argument));
    const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
    return name && begins_with_one_of(name, prefixes) && (!name[n] || name[n] == '.');
}

static void look_at_memory(ft_pass *p, LLVMValueRef instruction, LLVMValueRef callee, unsigned n)
{
    /* Those of the compiler; and the string's own, which are accesses where the runtime sees them.
     */
    static const char *const others[] = {"__cxa_", "__atomic_", "_ZNSt7__cxx1112basic_string",
                                         "_ZNKSt7__cxx1112basic_string", NULL};
    const char *name = name_of_external(callee); /* NULL: defined here, or any */
    if (name ? begins_with_one_of(name, others) : LLVMIsAFunction(callee) != NULL) return;
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef argument = LLVMGetOperand(instruction, i);
        if (is_string(argument))
            ft_pass_call(
                p, FT_CALLEE_LOOK_STRING,
                (LLVMValueRef[]){ft_pass_address(p, callee), ft_pass_address(p, argument)});
        else if (points_to_numbers(p, argument))
            look_behind(p, callee, argument);
    }
}

typedef struct arguments {
    unsigned n, handed, fixed; /* handed over: the first ones */
    bool symbolic;
} arguments;

static arguments look_at(ft_pass *p, LLVMValueRef instruction)
{
    LLVMTypeRef type = LLVMGetCalledFunctionType(instruction);
    arguments a = {.n = LLVMGetNumArgOperands(instruction)};
    a.handed = a.n < FT_PASS_ARGUMENTS ? a.n : FT_PASS_ARGUMENTS;
    a.fixed = LLVMIsFunctionVarArg(type) ? LLVMCountParamTypes(type) : a.handed;
    if (a.fixed > a.handed) a.fixed = a.handed;
    for (unsigned i = 0; i < a.n; i++) {
        LLVMValueRef argument = LLVMGetOperand(instruction, i);
        a.symbolic |= i < a.handed && !ft_pass_is_concrete(p, argument);
        if (i >= a.handed) ft_pass_pin(p, argument, FT_SYM_CALL_REASON);
    }
    return a;
}

static bool is_last(LLVMValueRef instruction)
{
    LLVMValueRef next = LLVMGetNextInstruction(instruction);
    return LLVMIsAUnreachableInst(next) || LLVMGetInstructionOpcode(next) == LLVMRet;
}

/* One that may be the last step says in its text alone whether it must be; the text of an
 * instruction takes a walk over the whole module. */
bool ft_pass_must_be_tail(LLVMValueRef instruction)
{
    if (!LLVMIsACallInst(instruction) || !LLVMIsTailCall(instruction)) return false;
    char *text = LLVMPrintValueToString(instruction);
    bool must = strstr(text, "musttail call") != NULL;
    LLVMDisposeMessage(text);
    return must;
}

/* A call that must be the function's last step leaves the result where it is. */
static bool is_tail(LLVMValueRef instruction)
{
    return ft_pass_must_be_tail(instruction) && is_last(instruction);
}

static void take_result(ft_pass *p, LLVMValueRef instruction, LLVMValueRef call)
{
    if (LLVMIsAInvokeInst(instruction)) {
        LLVMBasicBlockRef block = LLVMGetNormalDest(instruction);
        LLVMValueRef first = LLVMGetFirstInstruction(block);
        while (LLVMIsAPHINode(first)) first = LLVMGetNextInstruction(first);
        LLVMPositionBuilderBefore(p->builder, first);
        LLVMSetCurrentDebugLocation2(p->builder, LLVMInstructionGetDebugLoc(instruction));
    } else {
        if (LLVMIsAUnreachableInst(LLVMGetNextInstruction(instruction))) return;
        ft_pass_behind(p, instruction);
    }
    LLVMValueRef node = ft_pass_call(p, FT_CALLEE_RESULT, &call);
    if (ft_pass_width(LLVMTypeOf(instruction))) ft_pass_set(p, instruction, node);
}

/* libatomic's, for what the processor has no instruction for: the atomic is its first pointer. */
static void keep_atomic_order(ft_pass *p, LLVMValueRef instruction)
{
    unsigned i = 0, n = LLVMGetNumArgOperands(instruction);
    while (i < n && !points_to_program(LLVMGetOperand(instruction, i))) i++;
    if (i < n) ft_pass_keep_order(p, instruction, LLVMGetOperand(instruction, i), 0);
}

static void call(ft_pass *p, LLVMValueRef instruction, LLVMValueRef callee)
{
    const char *name = name_of_external(callee);
    if (name && !strncmp(name, "__atomic_", 9)) keep_atomic_order(p, instruction);
    pin_copies(p, instruction, LLVMGetNumArgOperands(instruction));
    ft_pass_pin(p, callee, FT_SYM_ADDRESS_REASON);
    arguments a = look_at(p, instruction);
    if (a.symbolic) hand_over(p, instruction, a.handed);
    ft_sym_effect effect = effect_of(instruction, name);
    if (effect == FT_SYM_SEES_VALUES) pin_results(p, instruction, a.n);
    unsigned how = (unsigned)effect | a.fixed << FIXED;
    LLVMValueRef null = LLVMConstNull(p->pointer);
    LLVMValueRef known = ft_pass_call(
        p, FT_CALLEE_CALL,
        (LLVMValueRef[]){ft_pass_address(p, callee), ft_pass_int(p, a.symbolic ? a.handed : 0),
                         a.symbolic ? ft_pass_address(p, p->call_ids) : null,
                         a.symbolic ? ft_pass_address(p, p->call_values) : null,
                         ft_pass_int(p, how)});
    if (effect == FT_SYM_SEES_MEMORY) look_at_memory(p, instruction, callee, a.n);
    if (!is_tail(instruction)) take_result(p, instruction, known);
}

static void assembly(ft_pass *p, LLVMValueRef instruction)
{
    bool pointers = false;
    unsigned n = LLVMGetNumArgOperands(instruction);
    for (unsigned i = 0; i < n; i++) {
        ft_pass_pin(p, LLVMGetOperand(instruction, i), FT_SYM_ASSEMBLY_REASON);
        pointers |= points_to_program(LLVMGetOperand(instruction, i));
    }
    if (!pointers) return;
    LLVMValueRef reason = ft_pass_int(p, FT_SYM_ASSEMBLY_REASON);
    ft_pass_call(p, FT_CALLEE_PIN_MEMORY, &reason);
}

bool ft_pass_calls(ft_pass *p, LLVMValueRef instruction)
{
    bool plain = LLVMIsACallInst(instruction) != NULL;
    if (!plain && !LLVMIsAInvokeInst(instruction)) {
        if (LLVMGetInstructionOpcode(instruction) != LLVMCallBr) return false;
        ft_pass_pin_operands(p, instruction, FT_SYM_ASSEMBLY_REASON);
        return true;
    }
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    if (LLVMIsAInlineAsm(callee))
        assembly(p, instruction);
    else if (plain && ft_pass_range(p, instruction))
        return true;
    else if (is_intrinsic(callee))
        intrinsic(p, instruction, callee);
    else
        call(p, instruction, callee);
    return true;
}

/* ---- the block behind an invoke */

static bool has_other_predecessors(LLVMBasicBlockRef block)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
    return use && LLVMGetNextUse(use);
}

static void take_edge(ft_pass *p, LLVMValueRef phi, LLVMBasicBlockRef from, LLVMBasicBlockRef by)
{
    LLVMPositionBuilderBefore(p->builder, phi);
    LLVMValueRef copy = LLVMBuildPhi(p->builder, LLVMTypeOf(phi), "");
    unsigned n = LLVMCountIncoming(phi);
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
        if (block == from) block = by;
        LLVMAddIncoming(copy, &value, &block, 1);
    }
    LLVMReplaceAllUsesWith(phi, copy);
    LLVMInstructionEraseFromParent(phi);
}

static void split(ft_pass *p, LLVMValueRef invoke)
{
    LLVMBasicBlockRef goes_on = LLVMGetNormalDest(invoke);
    LLVMBasicBlockRef from = LLVMGetInstructionParent(invoke);
    if (!has_other_predecessors(goes_on)) return;
    LLVMBasicBlockRef between = LLVMInsertBasicBlockInContext(p->context, goes_on, "");
    for (LLVMValueRef at = LLVMGetFirstInstruction(goes_on); LLVMIsAPHINode(at);) {
        LLVMValueRef next = LLVMGetNextInstruction(at);
        take_edge(p, at, from, between);
        at = next;
    }
    LLVMSetNormalDest(invoke, between);
    LLVMPositionBuilderAtEnd(p->builder, between);
    LLVMSetCurrentDebugLocation2(p->builder, LLVMInstructionGetDebugLoc(invoke));
    LLVMBuildBr(p->builder, goes_on);
}

void ft_pass_split_invokes(ft_pass *p)
{
    FT_VEC(LLVMValueRef) invokes = {0};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(p->function); b; b = LLVMGetNextBasicBlock(b))
        if (LLVMGetBasicBlockTerminator(b) && LLVMIsAInvokeInst(LLVMGetBasicBlockTerminator(b)))
            ft_vec_push(&invokes, LLVMGetBasicBlockTerminator(b));
    for (size_t i = 0; i < invokes.len; i++) split(p, invokes.data[i]);
    ft_vec_release(&invokes);
}

/* ---- the function's own arguments */

static void take_argument(ft_pass *p, unsigned i)
{
    LLVMValueRef parameter = LLVMGetParam(p->function, i);
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAttributeRef by = LLVMGetEnumAttributeAtIndex(p->function, i + 1, byval);
    if (by) {
        LLVMTypeRef type = LLVMGetTypeAttributeValue(by);
        ft_pass_call(p, FT_CALLEE_FORGET,
                     (LLVMValueRef[]){ft_pass_address(p, parameter),
                                      ft_pass_long(p, ft_pass_size(p, type))});
    } else if (i < FT_PASS_ARGUMENTS && ft_pass_width(LLVMTypeOf(parameter))) {
        LLVMValueRef words =
            LLVMBuildBitCast(p->builder, p->arguments, LLVMPointerType(p->word, 0), "");
        ft_pass_set(p, parameter,
                    LLVMBuildLoad2(p->builder, p->word, element(p, words, p->word, i), ""));
    }
}

void ft_pass_begin_function(ft_pass *p)
{
    unsigned n = LLVMCountParams(p->function);
    unsigned handed = n < FT_PASS_ARGUMENTS ? n : FT_PASS_ARGUMENTS;
    LLVMValueRef zero = ft_pass_int(p, 0);
    LLVMValueRef caller = ft_pass_call(p, FT_CALLEE_RETURN_ADDRESS, &zero);
    ft_pass_call(p, FT_CALLEE_FUNC_ENTRY, &caller);
    p->arguments =
        ft_pass_call(p, FT_CALLEE_BEGIN,
                     (LLVMValueRef[]){ft_pass_address(p, p->function), ft_pass_int(p, handed)});
    for (unsigned i = 0; i < n; i++) take_argument(p, i);
}
