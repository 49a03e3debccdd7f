/* Mutexes whose initialiser says that they are recursive or checking
 * (PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP and its kin, std::recursive_mutex). The kind is a member
 * of glibc's struct __pthread_mutex_s; the language knows it by mutex_init alone. So a call of that
 * comes behind each place that writes the member: at the beginning of main for global variables,
 * behind the store of a constant, and behind the copy of an object that has such constants. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { KIND_MEMBER = 4, NORMAL = 0, RECURSIVE = 1, CHECKING = 2 };

/* A mutex of that kind at an offset in some object. */
typedef struct kind_at {
    LLVMValueRef object; /* the local variable, where locals are searched */
    uint64_t offset;
    uint64_t kind;
} kind_at;

typedef FT_VEC(kind_at) kinds;

typedef struct making {
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    kinds locals; /* of the function at hand */
} making;

/* Types of several files that have one name get numbers behind it. */
static bool is_mutex(LLVMTypeRef type)
{
    static const char NAME[] = "struct.__pthread_mutex_s";
    const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
    return name && strncmp(name, NAME, sizeof NAME - 1) == 0 &&
           LLVMCountStructElementTypes(type) > KIND_MEMBER;
}

/* The kind that a number stands for; NORMAL for all that need no call. */
static uint64_t kind_of(LLVMValueRef value)
{
    uint64_t kind = LLVMIsAConstantInt(value) ? LLVMConstIntGetZExtValue(value) : NORMAL;
    return kind == RECURSIVE || kind == CHECKING ? kind : NORMAL;
}

/* ---- constants ---- */

static uint64_t offset_of(const making *m, LLVMTypeRef type, uint64_t index)
{
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind)
        return LLVMOffsetOfElement(m->layout, type, (unsigned)index);
    return index * LLVMABISizeOfType(m->layout, LLVMGetElementType(type));
}

static void find_in_constant(const making *m, LLVMValueRef constant, uint64_t offset, kinds *all)
{
    if (!LLVMIsAConstantStruct(constant) && !LLVMIsAConstantArray(constant)) return;
    LLVMTypeRef type = LLVMTypeOf(constant);
    if (is_mutex(type)) {
        kind_at found = {NULL, offset, kind_of(LLVMGetOperand(constant, KIND_MEMBER))};
        if (found.kind != NORMAL) ft_vec_push(all, found);
        return;
    }
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(constant); i++)
        find_in_constant(m, LLVMGetOperand(constant, i), offset + offset_of(m, type, i), all);
}

/* ---- addresses ---- */

static LLVMTypeRef part_of(LLVMTypeRef type, uint64_t index)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind
               ? LLVMStructGetTypeAtIndex(type, (unsigned)index)
               : LLVMGetElementType(type);
}

static bool is_gep(LLVMValueRef value)
{
    return LLVMIsAGetElementPtrInst(value) ||
           (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMGetElementPtr);
}

static bool is_cast(LLVMValueRef value)
{
    return LLVMIsABitCastInst(value) ||
           (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMBitCast);
}

/* Adds what the indices of a GEP skip; false: that is not constant. */
static bool skipped_by(const making *m, LLVMValueRef gep, uint64_t *offset)
{
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(gep, 0)));
    unsigned n = (unsigned)LLVMGetNumOperands(gep);
    for (unsigned i = 1; i < n; i++) {
        if (!LLVMIsAConstantInt(LLVMGetOperand(gep, i))) return false;
        uint64_t index = LLVMConstIntGetZExtValue(LLVMGetOperand(gep, i));
        if (i == 1) {
            *offset += index * LLVMABISizeOfType(m->layout, type);
            continue;
        }
        *offset += offset_of(m, type, index);
        type = part_of(type, index);
    }
    return true;
}

/* The object that an address is in, and where. */
static LLVMValueRef object_of(const making *m, LLVMValueRef address, uint64_t *offset)
{
    while (is_cast(address) || (is_gep(address) && skipped_by(m, address, offset)))
        address = LLVMGetOperand(address, 0);
    return address;
}

/* The type of the mutex whose kind is at the address; NULL: that is not what the address names. */
static LLVMTypeRef mutex_of_kind(LLVMValueRef address)
{
    if (!is_gep(address)) return NULL;
    unsigned n = (unsigned)LLVMGetNumOperands(address);
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(address, 0)));
    for (unsigned i = 2; i < n - 1; i++) {
        LLVMValueRef index = LLVMGetOperand(address, i); /* a struct's is always constant */
        type = part_of(type, LLVMIsAConstantInt(index) ? LLVMConstIntGetZExtValue(index) : 0);
    }
    LLVMValueRef last = LLVMGetOperand(address, n - 1);
    bool is = n > 2 && is_mutex(type) && LLVMConstIntGetZExtValue(last) == KIND_MEMBER;
    return is ? type : NULL;
}

/* ---- calls ---- */

static LLVMTypeRef byte_pointer(const making *m)
{
    return LLVMPointerType(LLVMInt8TypeInContext(LLVMGetModuleContext(m->module)), 0);
}

/* mutex_init of that kind at address + skipped, where the builder stands. */
static void make(const making *m, LLVMValueRef address, int64_t skipped, uint64_t kind)
{
    const char *name =
        kind == RECURSIVE ? "__foretell_mutex_init_recursive" : "__foretell_mutex_init_checking";
    LLVMValueRef function = LLVMGetNamedFunction(m->module, name);
    FT_REQUIRE(function); /* the models call both */
    LLVMContextRef context = LLVMGetModuleContext(m->module);
    LLVMValueRef bytes = LLVMBuildBitCast(m->builder, address, byte_pointer(m), "");
    LLVMValueRef by = LLVMConstInt(LLVMInt64TypeInContext(context), (uint64_t)skipped, true);
    LLVMValueRef mutex =
        LLVMBuildGEP2(m->builder, LLVMInt8TypeInContext(context), bytes, &by, 1, "");
    LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(function), function, &mutex, 1, "");
}

static void make_globals(const making *m)
{
    LLVMValueRef entry = LLVMGetNamedFunction(m->module, "main");
    if (!entry || LLVMIsDeclaration(entry)) return;
    kinds found = {0};
    LLVMPositionBuilderBefore(m->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(entry)));
    LLVMSetCurrentDebugLocation2(m->builder, NULL);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->module); g; g = LLVMGetNextGlobal(g)) {
        LLVMValueRef first = LLVMGetInitializer(g);
        if (!first || LLVMIsGlobalConstant(g) || LLVMIsThreadLocal(g)) continue;
        found.len = 0;
        find_in_constant(m, first, 0, &found);
        for (size_t i = 0; i < found.len; i++)
            make(m, g, (int64_t)found.data[i].offset, found.data[i].kind);
    }
    ft_vec_release(&found);
}

static void stand_behind(const making *m, LLVMValueRef instruction)
{
    LLVMPositionBuilderBefore(m->builder, LLVMGetNextInstruction(instruction));
    LLVMSetCurrentDebugLocation2(m->builder, LLVMInstructionGetDebugLoc(instruction));
}

static void follow_store(making *m, LLVMValueRef store)
{
    LLVMValueRef address = LLVMGetOperand(store, 1);
    LLVMTypeRef mutex = mutex_of_kind(address);
    uint64_t kind = kind_of(LLVMGetOperand(store, 0)), offset = 0;
    if (!mutex || kind == NORMAL) return;
    uint64_t member = LLVMOffsetOfElement(m->layout, mutex, KIND_MEMBER);
    LLVMValueRef object = object_of(m, address, &offset);
    kind_at local = {object, offset - member, kind};
    if (LLVMIsAAllocaInst(object)) ft_vec_push(&m->locals, local);
    stand_behind(m, store);
    make(m, address, -(int64_t)member, kind);
}

/* Copies of a constant, or of a local variable that holds one. */
static void follow_copy(making *m, LLVMValueRef copy)
{
    LLVMValueRef length = LLVMGetOperand(copy, 2);
    uint64_t from = 0;
    LLVMValueRef object = object_of(m, LLVMGetOperand(copy, 1), &from);
    if (!LLVMIsAConstantInt(length)) return;
    uint64_t end = from + LLVMConstIntGetZExtValue(length);
    kinds found = {0};
    if (LLVMIsAGlobalVariable(object) && LLVMIsGlobalConstant(object) && LLVMGetInitializer(object))
        find_in_constant(m, LLVMGetInitializer(object), 0, &found);
    for (size_t i = 0; i < m->locals.len; i++)
        if (m->locals.data[i].object == object) ft_vec_push(&found, m->locals.data[i]);
    stand_behind(m, copy);
    for (size_t i = 0; i < found.len; i++)
        if (found.data[i].offset >= from && found.data[i].offset < end)
            make(m, LLVMGetOperand(copy, 0), (int64_t)(found.data[i].offset - from),
                 found.data[i].kind);
    ft_vec_release(&found);
}

static bool is_copy(LLVMValueRef in)
{
    LLVMValueRef called = LLVMIsACallInst(in) ? LLVMGetCalledValue(in) : NULL;
    size_t length;
    const char *name = called && LLVMIsAFunction(called) ? LLVMGetValueName2(called, &length) : "";
    return strncmp(name, "llvm.memcpy.", 12) == 0 || strncmp(name, "llvm.memmove.", 13) == 0;
}

static void follow_function(making *m, LLVMValueRef function)
{
    m->locals.len = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
            if (LLVMIsAStoreInst(in)) follow_store(m, in);
            if (is_copy(in)) follow_copy(m, in);
        }
}

void lower_make_mutexes(LLVMModuleRef module)
{
    making m = {.module = module,
                .layout = LLVMGetModuleDataLayout(module),
                .builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module))};
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        follow_function(&m, f);
    make_globals(&m);
    LLVMDisposeBuilder(m.builder);
    ft_vec_release(&m.locals);
}
