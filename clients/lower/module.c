#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "program/validate.h"

/* ---- errors ---- */

ft_status lower_fail(lowering *l, const char *format, ...)
{
    char what[300];
    const char *file = NULL;
    unsigned length = 0, line = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (l->instruction && LLVMInstructionGetDebugLoc(l->instruction)) {
        file = LLVMGetDebugLocFilename(l->instruction, &length);
        line = LLVMGetDebugLocLine(l->instruction);
    }
    char place[300] = "";
    const char *function = l->value ? LLVMGetValueName(l->value) : NULL;
    if (file) snprintf(place, sizeof place, "%.*s:%u: ", (int)length, file, line);
    return ft_error_set(l->err, FT_UNSUPPORTED, "%s%s%s%s%s", place, function ? "in '" : "",
                        function ? function : "", function ? "': " : "", what);
}

/* ---- types ---- */

uint64_t lower_size(const lowering *l, LLVMTypeRef type)
{
    return LLVMABISizeOfType(l->layout, type);
}

bool lower_width(const lowering *l, LLVMTypeRef type, uint8_t *width)
{
    uint64_t size;
    switch (LLVMGetTypeKind(type)) {
    case LLVMVoidTypeKind:
        return *width = 0, true;
    case LLVMFloatTypeKind:
        return *width = 32, true;
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind:
        return *width = 64, true;
    case LLVMIntegerTypeKind:
        break;
    case LLVMVectorTypeKind: /* two floats of a struct, for one: moved about, and nothing else */
        size = LLVMSizeOfTypeInBits(l->layout, type);
        *width = (uint8_t)size;
        return size <= 64;
    default:
        return false;
    }
    unsigned bits = LLVMGetIntTypeWidth(type);
    *width = (uint8_t)bits;
    return bits <= 64;
}

/* ---- symbols and texts ---- */

static void want(lowering *l, LLVMValueRef global)
{
    bool fresh;
    ft_map_slot(&l->seen, (uintptr_t)global, 1, &fresh);
    if (fresh) ft_vec_push(&l->wanted, global);
}

uint32_t lower_symbol(lowering *l, LLVMValueRef global)
{
    size_t length;
    const char *name = LLVMGetValueName2(global, &length);
    want(l, global);
    return ft_program_symbol_named(l->program, name, length);
}

uint32_t lower_as(lowering *l, LLVMValueRef function, LLVMTypeRef type)
{
    if (LLVMGlobalGetValueType(function) == type) return lower_symbol(l, function);
    for (size_t i = 0; i < l->thunks.len; i++)
        if (l->thunks.data[i].function == function && l->thunks.data[i].type == type)
            return l->thunks.data[i].symbol;
    ft_strbuf name = {0};
    ft_strbuf_printf(&name, "%s.as.%zu", LLVMGetValueName(function), l->thunks.len);
    uint32_t symbol = ft_program_symbol_named(l->program, name.text, name.len);
    ft_strbuf_release(&name);
    ft_vec_push(&l->thunks, (lower_thunk){symbol, function, type});
    lower_symbol(l, function);
    return symbol;
}

uint32_t lower_text(lowering *l, const char *text, size_t length)
{
    return ft_intern_add(&l->program->texts, text, length);
}

static LLVMValueRef base_of(LLVMValueRef pointer)
{
    while (LLVMIsAConstantExpr(pointer) && (LLVMGetConstOpcode(pointer) == LLVMGetElementPtr ||
                                            LLVMGetConstOpcode(pointer) == LLVMBitCast))
        pointer = LLVMGetOperand(pointer, 0);
    return pointer;
}

bool lower_string(LLVMValueRef pointer, const char **text, size_t *length)
{
    LLVMValueRef global = base_of(pointer);
    if (!LLVMIsAGlobalVariable(global) || !LLVMIsGlobalConstant(global)) return false;
    LLVMValueRef content = LLVMGetInitializer(global);
    if (!content || !LLVMIsAConstantDataSequential(content) || !LLVMIsConstantString(content))
        return false;
    *text = LLVMGetAsString(content, length);
    *length = strnlen(*text, *length);
    return true;
}

/* ---- constant addresses ---- */

static ft_status constant_offset(lowering *l, LLVMValueRef gep, uint64_t *offset)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    int n = LLVMGetNumOperands(gep);
    *offset = 0;
    for (int i = 1; i < n; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
        if (!LLVMIsAConstantInt(index)) return lower_fail(l, "an address with an unknown index");
        int64_t at = LLVMConstIntGetSExtValue(index);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            *offset += LLVMOffsetOfElement(l->layout, type, (unsigned)at);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)at);
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        *offset += (uint64_t)at * lower_size(l, type);
    }
    return FT_OK;
}

static ft_status through_cast(lowering *l, LLVMValueRef cast, uint32_t *symbol, uint64_t *offset)
{
    LLVMValueRef of = LLVMGetOperand(cast, 0);
    LLVMTypeRef type = LLVMTypeOf(cast);
    bool function = LLVMIsAFunction(of) && LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
                    LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMFunctionTypeKind;
    if (!function) return lower_constant_address(l, of, symbol, offset);
    *symbol = lower_as(l, of, LLVMGetElementType(type));
    *offset = 0;
    return FT_OK;
}

/* Of numbers anything that an address is computed with; of an address and a number sums. */
static ft_status constant_sum(lowering *l, LLVMValueRef c, uint32_t *symbol, uint64_t *offset)
{
    uint32_t other;
    uint64_t b;
    LLVMOpcode code = LLVMGetConstOpcode(c);
    LOWER_TRY(lower_constant_address(l, LLVMGetOperand(c, 0), symbol, offset));
    LOWER_TRY(lower_constant_address(l, LLVMGetOperand(c, 1), &other, &b));
    bool numbers = *symbol == FT_NO_SYMBOL && other == FT_NO_SYMBOL;
    if (code == LLVMAdd && (*symbol == FT_NO_SYMBOL || other == FT_NO_SYMBOL)) {
        if (other != FT_NO_SYMBOL) *symbol = other;
        *offset += b;
    } else if (code == LLVMSub && (other == FT_NO_SYMBOL || other == *symbol)) {
        if (other == *symbol) *symbol = FT_NO_SYMBOL;
        *offset -= b;
    } else if (code == LLVMMul && numbers) {
        *offset *= b;
    } else if (code == LLVMAnd && numbers) {
        *offset &= b;
    } else if (code == LLVMOr && numbers) {
        *offset |= b;
    } else if (code == LLVMShl && numbers && b < 64) {
        *offset <<= b;
    } else {
        return lower_fail(l, "a constant expression that is not lowered yet");
    }
    return FT_OK;
}

static bool holds(LLVMIntPredicate predicate, uint64_t a, uint64_t b)
{
    switch (predicate) {
    case LLVMIntEQ:
        return a == b;
    case LLVMIntNE:
        return a != b;
    case LLVMIntUGT:
        return a > b;
    case LLVMIntUGE:
        return a >= b;
    case LLVMIntULT:
        return a < b;
    default:
        return a <= b;
    }
}

/* Is the address one of a byte of its object, and not behind its end? */
static bool is_inside(const lowering *l, LLVMValueRef pointer, uint64_t offset)
{
    LLVMValueRef global = base_of(pointer);
    if (LLVMIsAFunction(global)) return !offset;
    return LLVMIsAGlobalVariable(global) && offset < lower_size(l, LLVMGlobalGetValueType(global));
}

/* Of two places of one object by their offsets; places in two objects are different, and not
 * NULL. */
static ft_status constant_comparison(lowering *l, LLVMValueRef c, uint32_t *symbol,
                                     uint64_t *offset)
{
    uint32_t other;
    uint64_t b;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(c);
    LOWER_TRY(lower_constant_address(l, LLVMGetOperand(c, 0), symbol, offset));
    LOWER_TRY(lower_constant_address(l, LLVMGetOperand(c, 1), &other, &b));
    bool equality = predicate == LLVMIntEQ || predicate == LLVMIntNE;
    bool ordered = equality || (predicate >= LLVMIntUGT && predicate <= LLVMIntULE);
    bool known = *symbol == FT_NO_SYMBOL ? !*offset : is_inside(l, LLVMGetOperand(c, 0), *offset);
    known &= other == FT_NO_SYMBOL ? !b : is_inside(l, LLVMGetOperand(c, 1), b);
    if (!ordered || (other != *symbol && !(equality && known)))
        return lower_fail(l, "a constant expression that is not lowered yet");
    *offset = other == *symbol ? holds(predicate, *offset, b) : predicate == LLVMIntNE;
    *symbol = FT_NO_SYMBOL;
    return FT_OK;
}

static ft_status constant_expression(lowering *l, LLVMValueRef c, uint32_t *symbol,
                                     uint64_t *offset)
{
    uint64_t inner = 0;
    switch (LLVMGetConstOpcode(c)) {
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
        return through_cast(l, c, symbol, offset);
    case LLVMGetElementPtr:
        LOWER_TRY(lower_constant_address(l, LLVMGetOperand(c, 0), symbol, offset));
        LOWER_TRY(constant_offset(l, c, &inner));
        *offset += inner;
        return FT_OK;
    case LLVMTrunc:
    case LLVMZExt:
        LOWER_TRY(lower_constant_address(l, LLVMGetOperand(c, 0), symbol, offset));
        if (*symbol != FT_NO_SYMBOL) break;
        *offset &= ft_width_mask((uint8_t)LLVMGetIntTypeWidth(LLVMTypeOf(c)));
        return FT_OK;
    case LLVMICmp:
        return constant_comparison(l, c, symbol, offset);
    default:
        if (LLVMGetNumOperands(c) == 2) return constant_sum(l, c, symbol, offset);
    }
    return lower_fail(l, "a constant expression that is not lowered yet");
}

ft_status lower_constant_address(lowering *l, LLVMValueRef constant, uint32_t *symbol,
                                 uint64_t *offset)
{
    *symbol = FT_NO_SYMBOL;
    *offset = 0;
    if (LLVMIsAFunction(constant) || LLVMIsAGlobalVariable(constant))
        return *symbol = lower_symbol(l, constant), FT_OK;
    if (LLVMIsAConstantInt(constant)) return *offset = LLVMConstIntGetZExtValue(constant), FT_OK;
    if (LLVMIsAConstantExpr(constant)) return constant_expression(l, constant, symbol, offset);
    if (LLVMIsAGlobalAlias(constant))
        return lower_constant_address(l, LLVMAliasGetAliasee(constant), symbol, offset);
    if (!LLVMIsNull(constant) && !LLVMIsUndef(constant))
        return lower_fail(l, "a constant of a type that is not lowered");
    return FT_OK;
}

/* ---- the first content of globals ---- */

typedef struct content {
    lowering *l;
    unsigned char *bytes;
    bool zero; /* no byte was written that is not 0 */
    FT_VEC(ft_initial) addresses;
} content;

static void put_bytes(content *c, uint64_t at, uint64_t bits, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) c->bytes[at + i] = (unsigned char)(bits >> (8 * i));
    if (bits) c->zero = false;
}

static ft_status fill(content *c, LLVMValueRef value, uint64_t at);

static ft_status fill_pointer(content *c, LLVMValueRef value, uint64_t at)
{
    ft_initial part = {.offset = at};
    LOWER_TRY(lower_constant_address(c->l, value, &part.symbol, &part.addend));
    if (part.symbol == FT_NO_SYMBOL)
        put_bytes(c, at, part.addend, 8);
    else
        ft_vec_push(&c->addresses, part);
    return FT_OK;
}

static ft_status fill_elements(content *c, LLVMValueRef value, uint64_t at)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    bool is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
    uint64_t size = is_struct ? 0 : lower_size(c->l, LLVMGetElementType(type));
    int n = LLVMGetNumOperands(value);
    for (int i = 0; i < n; i++) {
        uint64_t offset =
            is_struct ? LLVMOffsetOfElement(c->l->layout, type, (unsigned)i) : (uint64_t)i * size;
        LOWER_TRY(fill(c, LLVMGetOperand(value, (unsigned)i), at + offset));
    }
    return FT_OK;
}

static ft_status fill_sequence(content *c, LLVMValueRef value, uint64_t at)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    uint64_t size = lower_size(c->l, LLVMGetElementType(type));
    unsigned n = LLVMGetArrayLength(type);
    for (unsigned i = 0; i < n; i++)
        LOWER_TRY(fill(c, LLVMGetElementAsConstant(value, i), at + i * size));
    return FT_OK;
}

static uint64_t float_bits(LLVMValueRef value)
{
    LLVMBool lost;
    double d = LLVMConstRealGetDouble(value, &lost);
    float f = (float)d;
    uint64_t bits = 0;
    bool is_float = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMFloatTypeKind;
    memcpy(&bits, is_float ? (void *)&f : (void *)&d, is_float ? sizeof f : sizeof d);
    return bits;
}

static ft_status fill(content *c, LLVMValueRef value, uint64_t at)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMIsNull(value) || LLVMIsUndef(value)) return FT_OK;
    if (LLVMIsAConstantDataSequential(value)) return fill_sequence(c, value, at);
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        if (LLVMIsAConstantExpr(value)) return fill_pointer(c, value, at);
        if (LLVMGetIntTypeWidth(type) > 64) break;
        return put_bytes(c, at, LLVMConstIntGetZExtValue(value), lower_size(c->l, type)), FT_OK;
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
        return put_bytes(c, at, float_bits(value), lower_size(c->l, type)), FT_OK;
    case LLVMPointerTypeKind:
        return fill_pointer(c, value, at);
    case LLVMStructTypeKind:
    case LLVMArrayTypeKind:
        return fill_elements(c, value, at);
    default:
        break;
    }
    return lower_fail(c->l, "a constant of a type that is not lowered yet");
}

static int by_offset(const void *a, const void *b)
{
    const ft_initial *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void add_bytes(content *c, ft_object *o, uint64_t from, uint64_t to)
{
    while (from < to && !c->bytes[from]) from++;
    while (to > from && !c->bytes[to - 1]) to--;
    if (from == to) return;
    uint32_t text = lower_text(c->l, (const char *)c->bytes + from, to - from);
    ft_vec_push(&c->l->program->initials, (ft_initial){from, FT_NO_SYMBOL, text, 0});
    o->n_initial++;
}

/* Addresses, and the bytes between them. */
static void add_initials(content *c, ft_object *o)
{
    uint64_t from = 0;
    o->initial = (uint32_t)c->l->program->initials.len;
    if (c->addresses.len)
        qsort(c->addresses.data, c->addresses.len, sizeof *c->addresses.data, by_offset);
    for (size_t i = 0; i < c->addresses.len; i++) {
        add_bytes(c, o, from, c->addresses.data[i].offset);
        ft_vec_push(&c->l->program->initials, c->addresses.data[i]);
        o->n_initial++;
        from = c->addresses.data[i].offset + 8;
    }
    if (!c->zero) add_bytes(c, o, from, o->size);
}

static ft_status lower_global(lowering *l, LLVMValueRef global)
{
    size_t length;
    const char *name = LLVMGetValueName2(global, &length);
    LLVMTypeRef type = LLVMGlobalGetValueType(global);
    LLVMValueRef first = LLVMGetInitializer(global);
    if (!first) return lower_fail(l, "the variable '%s' is not in the files that were given", name);
    uint64_t size = lower_size(l, type);
    if (size > FT_PROGRAM_MAX_OBJECT) return lower_fail(l, "the variable '%s' is too large", name);
    content c = {.l = l, .bytes = ft_calloc(size + 1, 1), .zero = true};
    ft_status status = fill(&c, first, 0);
    if (status == FT_OK) {
        ft_object *o =
            ft_program_add_object(l->program, ft_program_symbol_named(l->program, name, length));
        o->size = size;
        o->align = LLVMPreferredAlignmentOfGlobal(l->layout, global);
        o->constant = LLVMIsGlobalConstant(global);
        o->by_thread = LLVMIsThreadLocal(global);
        add_initials(&c, o);
    }
    ft_vec_release(&c.addresses);
    free(c.bytes);
    return status;
}

/* ---- the whole ---- */

static ft_status lower_wanted(lowering *l)
{
    size_t thunks = 0;
    for (size_t i = 0; i < l->wanted.len || thunks < l->thunks.len;) {
        l->value = l->instruction = NULL;
        if (i < l->wanted.len) {
            LLVMValueRef global = l->wanted.data[i++];
            bool function = LLVMIsAFunction(global);
            LOWER_TRY(function ? lower_function(l, global) : lower_global(l, global));
        } else {
            LOWER_TRY(lower_thunk_body(l, &l->thunks.data[thunks++]));
        }
    }
    return FT_OK;
}

static ft_status lower_from_main(lowering *l)
{
    LLVMValueRef entry = LLVMGetNamedFunction(l->module, "main");
    if (!entry || LLVMIsDeclaration(entry))
        return ft_error_set(l->err, FT_INPUT, "the files have no function 'main'");
    lower_symbol(l, entry);
    return lower_wanted(l);
}

ft_status ft_lower_module(LLVMModuleRef module, ft_program **program, ft_error *err)
{
    FT_REQUIRE(module && program);
    lowering l = {.module = module, .program = ft_program_new(), .err = err};
    l.layout = LLVMGetModuleDataLayout(module);
    ft_status status = lower_from_main(&l);
    if (status == FT_OK) status = ft_program_validate(l.program, err);
    ft_map_release(&l.seen);
    ft_map_release(&l.ids);
    ft_map_release(&l.blocks);
    ft_vec_release(&l.values);
    ft_vec_release(&l.noted);
    ft_vec_release(&l.wanted);
    ft_vec_release(&l.thunks);
    if (status == FT_OK)
        *program = l.program;
    else
        ft_program_free(l.program);
    return status;
}
