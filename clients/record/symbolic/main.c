/* foretell-instrument: puts the recorder's calls into a program's bitcode, for recordings with
 * terms (foretell-cc --symbolic). Between the compiler's front end and its back end:
 *
 *   foretell-instrument IN.bc OUT.bc */
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Comdat.h>
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

/* ---- the functions that take node numbers are listed in a section of their own */

#define LIST "foretell_functions"

/* The linker may take another definition for a weak one, and that may have no instrumentation. So
 * such a function is listed by a name that stands for this definition alone. */
static LLVMValueRef own_name(ft_pass *p, LLVMValueRef function)
{
    LLVMLinkage linkage = LLVMGetLinkage(function);
    bool weak = linkage == LLVMWeakAnyLinkage || linkage == LLVMWeakODRLinkage ||
                linkage == LLVMLinkOnceAnyLinkage || linkage == LLVMLinkOnceODRLinkage;
    if (!weak) return function;
    LLVMValueRef name =
        LLVMAddAlias2(p->module, LLVMGlobalGetValueType(function), 0, function, "foretell.own");
    LLVMSetLinkage(name, LLVMPrivateLinkage);
    return name;
}

/* With an inline function whose code the linker drops, its entry goes too. */
static void list(ft_pass *p, LLVMValueRef function)
{
    LLVMValueRef entry = LLVMAddGlobal(p->module, p->pointer, "foretell.function");
    LLVMComdatRef group = LLVMGetComdat(function);
    LLVMSetInitializer(entry, LLVMConstBitCast(own_name(p, function), p->pointer));
    LLVMSetLinkage(entry, LLVMPrivateLinkage);
    LLVMSetSection(entry, LIST);
    if (group) LLVMSetComdat(entry, group);
}

/* Where the list of this program, or library, begins or ends, as the linker knows. */
static LLVMValueRef edge_of_list(ft_pass *p, const char *name)
{
    LLVMValueRef edge = LLVMAddGlobal(p->module, p->pointer, name);
    LLVMSetVisibility(edge, LLVMHiddenVisibility);
    return ft_pass_address(p, edge);
}

/* One for all objects of a program, or of a library, tells the runtime the list before the
 * program's own constructors. A library's runs before the program's, and so before the runtime's:
 * it begins the recording. */
static void add_constructor(ft_pass *p)
{
    static const char *const name = "foretell.register";
    LLVMComdatRef group = LLVMGetOrInsertComdat(p->module, name);
    LLVMTypeRef type = LLVMFunctionType(p->none, NULL, 0, false);
    LLVMValueRef constructor = LLVMAddFunction(p->module, name, type);
    LLVMSetLinkage(constructor, LLVMLinkOnceODRLinkage);
    LLVMSetVisibility(constructor, LLVMHiddenVisibility);
    LLVMSetComdat(constructor, group);
    LLVMPositionBuilderAtEnd(p->builder,
                             LLVMAppendBasicBlockInContext(p->context, constructor, ""));
    LLVMSetCurrentDebugLocation2(p->builder, NULL);
    ft_pass_call(p, FT_CALLEE_INIT, NULL);
    ft_pass_call(
        p, FT_CALLEE_REGISTER,
        (LLVMValueRef[]){edge_of_list(p, "__start_" LIST), edge_of_list(p, "__stop_" LIST)});
    LLVMBuildRetVoid(p->builder);
    LLVMValueRef start = LLVMAddGlobal(p->module, LLVMTypeOf(constructor), "foretell.start");
    LLVMSetInitializer(start, constructor);
    LLVMSetLinkage(start, LLVMInternalLinkage);
    LLVMSetSection(start, ".init_array.00102");
    LLVMSetComdat(start, group);
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
    for (size_t i = 0; i < functions.len; i++) list(&p, functions.data[i]);
    if (functions.len) add_constructor(&p);
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
