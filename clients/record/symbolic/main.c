/* foretell-instrument: puts the recorder's calls into a program's bitcode, for recordings with
 * terms (foretell-cc --symbolic). Between the compiler's front end and its back end:
 *
 *   foretell-instrument IN.bc OUT.bc */
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Transforms/Utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pass.h"

static int fail(const char *file, char *message)
{
    fprintf(stderr, "foretell-instrument: %s: %s\n", file, message ? message : "cannot be read");
    LLVMDisposeMessage(message);
    return 2;
}

static LLVMModuleRef read_module(LLVMContextRef context, const char *path)
{
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef module = NULL;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        fail(path, message);
        return NULL;
    }
    if (LLVMParseBitcodeInContext2(context, buffer, &module)) {
        fail(path, NULL);
        module = NULL;
    }
    LLVMDisposeMemoryBuffer(buffer);
    return module;
}

/* Variables that nobody takes the address of become values: they are no memory that is shared. */
static void promote(LLVMModuleRef module)
{
    LLVMPassManagerRef passes = LLVMCreatePassManager();
    LLVMAddPromoteMemoryToRegisterPass(passes);
    LLVMRunPassManager(passes, module);
    LLVMDisposePassManager(passes);
}

static bool is_ours(LLVMValueRef function)
{
    static const char *const prefixes[] = {"ft_sym_", "__tsan_", "__llvm_gcov"};
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i]))) return true;
    return false;
}

static bool has_attribute(LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(function, (unsigned)LLVMAttributeFunctionIndex, kind) !=
           NULL;
}

static bool is_instrumented(LLVMValueRef function)
{
    return !LLVMIsDeclaration(function) && !is_ours(function) &&
           !has_attribute(function, "naked") &&
           !has_attribute(function, "disable_sanitizer_instrumentation") &&
           LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage;
}

typedef FT_VEC(LLVMValueRef) value_list;

/* The functions that take node numbers, told to the runtime before the program's own constructors.
 * A library's run before the program's, and so before the runtime's: they begin the recording. */
static void add_constructor(ft_pass *p, const value_list *functions)
{
    unsigned n = (unsigned)functions->len;
    LLVMValueRef *pointers = ft_calloc(n + 1, sizeof *pointers);
    for (unsigned i = 0; i < n; i++) pointers[i] = LLVMConstBitCast(functions->data[i], p->pointer);
    LLVMValueRef table =
        LLVMAddGlobal(p->module, LLVMArrayType(p->pointer, n), "foretell.functions");
    LLVMSetInitializer(table, LLVMConstArray(p->pointer, pointers, n));
    LLVMSetLinkage(table, LLVMInternalLinkage);
    LLVMTypeRef type = LLVMFunctionType(p->none, NULL, 0, false);
    LLVMValueRef constructor = LLVMAddFunction(p->module, "foretell.register", type);
    LLVMSetLinkage(constructor, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(p->builder,
                             LLVMAppendBasicBlockInContext(p->context, constructor, ""));
    LLVMSetCurrentDebugLocation2(p->builder, NULL);
    ft_pass_call(p, FT_CALLEE_INIT, NULL);
    ft_pass_call(p, FT_CALLEE_REGISTER,
                 (LLVMValueRef[]){ft_pass_address(p, table), ft_pass_long(p, n)});
    LLVMBuildRetVoid(p->builder);
    LLVMValueRef start = LLVMAddGlobal(p->module, LLVMTypeOf(constructor), "foretell.start");
    LLVMSetInitializer(start, constructor);
    LLVMSetLinkage(start, LLVMInternalLinkage);
    LLVMSetSection(start, ".init_array.00102");
    free(pointers);
}

static void add_mark(ft_pass *p)
{
    LLVMValueRef mark = LLVMAddGlobal(p->module, p->word, FT_SYM_MARK);
    LLVMSetInitializer(mark, ft_pass_int(p, 1));
    LLVMSetLinkage(mark, LLVMWeakODRLinkage);
    LLVMSetGlobalConstant(mark, true);
}

static void instrument(LLVMContextRef context, LLVMModuleRef module)
{
    ft_pass p = {.module = module,
                 .context = context,
                 .layout = LLVMGetModuleDataLayout(module),
                 .builder = LLVMCreateBuilderInContext(context),
                 .none = LLVMVoidTypeInContext(context),
                 .byte = LLVMInt8TypeInContext(context),
                 .word = LLVMInt32TypeInContext(context),
                 .wide = LLVMInt64TypeInContext(context)};
    value_list functions = {0};
    p.pointer = LLVMPointerType(p.byte, 0);
    p.zero = LLVMConstInt(p.word, 0, false);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (is_instrumented(f)) ft_vec_push(&functions, f);
    for (size_t i = 0; i < functions.len; i++) ft_pass_function(&p, functions.data[i]);
    add_constructor(&p, &functions);
    add_mark(&p);
    ft_vec_release(&functions);
    ft_vec_release(&p.ids);
    ft_vec_release(&p.frame);
    LLVMDisposeBuilder(p.builder);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: foretell-instrument IN.bc OUT.bc\n", stderr);
        return 2;
    }
    char *message = NULL;
    int code = 0;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = read_module(context, argv[1]);
    if (!module) return 2;
    promote(module);
    instrument(context, module);
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
        code = fail(argv[1], message);
    else if (LLVMDisposeMessage(message), LLVMWriteBitcodeToFile(module, argv[2])) {
        fprintf(stderr, "foretell-instrument: %s: cannot be written\n", argv[2]);
        code = 2;
    }
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return code;
}
