/* What a program does before main and after it. Constructors (llvm.global_ctors) are called at the
 * beginning of main by priority, destructors and `exit` at its return. Where the program gives
 * destructors of what threads have for themselves, threads end by models/ends.c. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

typedef struct structor {
    uint64_t priority;
    unsigned number;
    LLVMValueRef function;
} structor;

typedef FT_VEC(structor) structors;

static int by_priority(const void *a, const void *b)
{
    const structor *x = a, *y = b;
    if (x->priority != y->priority) return x->priority < y->priority ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Of a list {priority, function, object}, in order. */
static structors read_list(LLVMModuleRef module, const char *name)
{
    structors all = {0};
    LLVMValueRef global = LLVMGetNamedGlobal(module, name);
    LLVMValueRef list = global ? LLVMGetInitializer(global) : NULL;
    unsigned n = list && LLVMIsAConstantArray(list) ? (unsigned)LLVMGetNumOperands(list) : 0;
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef row = LLVMGetOperand(list, i), function = LLVMGetOperand(row, 1);
        if (!LLVMIsAFunction(function)) continue;
        structor s = {LLVMConstIntGetZExtValue(LLVMGetOperand(row, 0)), i, function};
        ft_vec_push(&all, s);
    }
    if (all.len) qsort(all.data, all.len, sizeof *all.data, by_priority);
    return all;
}

static void call(LLVMBuilderRef builder, LLVMValueRef function, LLVMValueRef argument)
{
    LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, &argument, argument ? 1 : 0,
                   "");
}

/* The function is called somewhere, by the program or by the models. */
static bool is_used(LLVMModuleRef module, const char *name)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, name);
    return function && LLVMGetFirstUse(function);
}

/* Destructors are given to atexit first, so that they come last. */
static void call_before(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef entry,
                        const structors *before, const structors *after)
{
    LLVMBasicBlockRef block = LLVMGetEntryBasicBlock(entry);
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(block));
    for (size_t i = 0; i < after->len; i++)
        call(builder, LLVMGetNamedFunction(module, "atexit"), after->data[i].function);
    for (size_t i = 0; i < before->len; i++) call(builder, before->data[i].function, NULL);
}

static void call_at_return(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef entry)
{
    LLVMValueRef end = LLVMGetNamedFunction(module, "exit");
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(entry); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(b);
        if (!last || !LLVMIsAReturnInst(last) || !LLVMGetNumOperands(last)) continue;
        LLVMPositionBuilderBefore(builder, last);
        call(builder, end, LLVMGetOperand(last, 0));
    }
}

/* Where nothing is to be called at the end, `exit` stays the one instruction that it is. */
static void use_handlers(LLVMModuleRef module)
{
    LLVMValueRef plain = LLVMGetNamedFunction(module, "exit");
    LLVMValueRef all = LLVMGetNamedFunction(module, "exit_with_handlers");
    assert(plain && all);
    LLVMReplaceAllUsesWith(plain, all);
    LLVMSetValueName2(plain, "exit_alone", 10);
    LLVMSetValueName2(all, "exit", 4);
}

/* The program is called with its name alone: argc is 1. */
static void give_arguments(LLVMModuleRef module, LLVMValueRef entry)
{
    unsigned n = LLVMCountParams(entry);
    LLVMValueRef names = LLVMGetNamedGlobal(module, "program_arguments");
    assert(names);
    if (n > 0 && LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(entry, 0))) == LLVMIntegerTypeKind)
        LLVMReplaceAllUsesWith(LLVMGetParam(entry, 0),
                               LLVMConstInt(LLVMTypeOf(LLVMGetParam(entry, 0)), 1, false));
    if (n > 1 && LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(entry, 1))) == LLVMPointerTypeKind)
        LLVMReplaceAllUsesWith(LLVMGetParam(entry, 1),
                               LLVMConstBitCast(names, LLVMTypeOf(LLVMGetParam(entry, 1))));
}

void lower_frame_main(LLVMModuleRef module)
{
    LLVMValueRef entry = LLVMGetNamedFunction(module, "main");
    if (!entry || LLVMIsDeclaration(entry)) return;
    give_arguments(module, entry);
    structors before = read_list(module, "llvm.global_ctors");
    structors after = read_list(module, "llvm.global_dtors");
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    if (before.len || after.len) call_before(builder, module, entry, &before, &after);
    if (is_used(module, "atexit") || is_used(module, "__cxa_atexit") ||
        is_used(module, "__cxa_thread_atexit")) {
        use_handlers(module);
        call_at_return(builder, module, entry);
    }
    LLVMDisposeBuilder(builder);
    ft_vec_release(&before);
    ft_vec_release(&after);
}

/* A use of the function other than a call that gives no destructor. */
static bool gives_destructor(LLVMModuleRef module, const char *name, unsigned argument)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, name);
    for (LLVMUseRef u = function ? LLVMGetFirstUse(function) : NULL; u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        bool none = LLVMIsACallInst(user) && LLVMGetNumArgOperands(user) > argument &&
                    LLVMIsNull(LLVMGetOperand(user, argument));
        if (!none) return true;
    }
    return false;
}

bool lower_has_thread_ends(LLVMModuleRef module)
{
    return gives_destructor(module, "pthread_key_create", 1) ||
           gives_destructor(module, "tss_create", 1) ||
           gives_destructor(module, "__cxa_thread_atexit", 0);
}

static void set_number(LLVMModuleRef module, const char *name, unsigned value)
{
    LLVMValueRef global = LLVMGetNamedGlobal(module, name);
    FT_REQUIRE(global);
    LLVMSetInitializer(global, LLVMConstInt(LLVMGlobalGetValueType(global), value, false));
}

void lower_run_thread_ends(LLVMModuleRef module)
{
    set_number(module, "foretell_thread_ends", 1);
}

void ft_lower_bound_threads(LLVMModuleRef module, unsigned most)
{
    set_number(module, "foretell_most_threads", most);
}
