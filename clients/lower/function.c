#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- values ---- */

static uint32_t id_of(lowering *l, LLVMValueRef value)
{
    bool fresh;
    uint64_t *id = ft_map_slot(&l->ids, (uintptr_t)value, l->values.len, &fresh);
    if (fresh) ft_vec_push(&l->values, (ft_operand){.kind = LOWER_LATER, .index = (uint32_t)*id});
    return (uint32_t)*id;
}

void lower_is(lowering *l, LLVMValueRef value, ft_operand operand)
{
    uint32_t id = id_of(l, value);
    assert(l->values.data[id].kind == LOWER_LATER);
    l->values.data[id] = operand;
}

static ft_status constant(lowering *l, LLVMValueRef value, ft_operand *operand)
{
    uint8_t width;
    uint32_t symbol;
    uint64_t offset;
    LLVMTypeRef type = LLVMTypeOf(value);
    if (!lower_width(l, type, &width) || !width)
        return lower_fail(l, "a constant of a type that is not lowered (a struct or a vector)");
    if (LLVMIsAConstantFP(value)) {
        LLVMBool lost;
        double d = LLVMConstRealGetDouble(value, &lost);
        float f = (float)d;
        uint64_t bits = 0;
        memcpy(&bits, width == 32 ? (void *)&f : (void *)&d, width / 8);
        return *operand = ft_operand_literal(width, bits), FT_OK;
    }
    LOWER_TRY(lower_constant_address(l, value, &symbol, &offset));
    if (symbol == FT_NO_SYMBOL) return *operand = ft_operand_literal(width, offset), FT_OK;
    *operand = ft_operand_address(symbol, offset);
    return width == 64 ? FT_OK : lower_fail(l, "an address in %u bits", width);
}

ft_status lower_operand(lowering *l, LLVMValueRef value, ft_operand *operand)
{
    if (LLVMIsConstant(value)) return constant(l, value, operand);
    *operand = l->values.data[id_of(l, value)];
    if (operand->kind != LOWER_LATER) return FT_OK;
    uint8_t width;
    if (!lower_width(l, LLVMTypeOf(value), &width) || !width)
        return lower_fail(l, "a value of a type that is not lowered (a struct or a vector)");
    operand->width = width;
    return FT_OK;
}

/* ---- appending ---- */

static ft_position position_of(lowering *l)
{
    unsigned length = 0;
    if (!l->instruction || !LLVMInstructionGetDebugLoc(l->instruction))
        return (ft_position){FT_NO_FILE, 0, 0};
    const char *file = LLVMGetDebugLocFilename(l->instruction, &length);
    uint32_t number = ft_intern_add(&l->program->files, file, length);
    return (ft_position){number, LLVMGetDebugLocLine(l->instruction),
                         LLVMGetDebugLocColumn(l->instruction)};
}

/* The name of the LLVM value, where no other register has it. */
static const char *free_name(const lowering *l, const char *sign, LLVMValueRef value)
{
    size_t length = 0;
    const char *name = value ? LLVMGetValueName2(value, &length) : NULL;
    if (!length || memchr(name, '\0', length)) return NULL;
    ft_strbuf full = {0};
    ft_strbuf_puts(&full, sign);
    ft_strbuf_add(&full, name, length);
    bool used = ft_intern_find(&l->function->names, full.text, full.len) != FT_NO_ID;
    ft_strbuf_release(&full);
    return used ? NULL : name;
}

ft_operand lower_emit(lowering *l, ft_instruction in, const ft_operand *operands, uint32_t n)
{
    uint8_t width = ft_instruction_result_width(&in);
    in.result = FT_NO_REGISTER;
    in.position = position_of(l);
    if (width)
        in.result = ft_function_add_register(l->function, free_name(l, "%", l->instruction), width);
    ft_function_add(l->function, &in, operands, n);
    return width ? ft_operand_register(l->function, in.result) : ft_operand_literal(64, 0);
}

ft_operand lower_emit2(lowering *l, ft_code code, uint8_t width, ft_operand a, ft_operand b)
{
    ft_operand both[2] = {a, b};
    return lower_emit(l, (ft_instruction){.code = (uint8_t)code, .width = width}, both, 2);
}

ft_operand lower_emit1(lowering *l, ft_code code, uint8_t width, ft_operand a)
{
    return lower_emit(l, (ft_instruction){.code = (uint8_t)code, .width = width}, &a, 1);
}

ft_operand lower_resize(lowering *l, ft_operand value, uint8_t width)
{
    if (value.width == width) return value;
    return lower_emit1(l, value.width < width ? FT_CODE_ZEXT : FT_CODE_TRUNC, width, value);
}

/* ---- targets ---- */

static LLVMValueRef incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
    unsigned n = LLVMCountIncoming(phi);
    for (unsigned i = 0; i < n; i++)
        if (LLVMGetIncomingBlock(phi, i) == from) return LLVMGetIncomingValue(phi, i);
    return NULL;
}

ft_status lower_target(lowering *l, LLVMBasicBlockRef from, LLVMBasicBlockRef to, uint64_t value)
{
    uint64_t index;
    FT_VEC(ft_operand) arguments = {0};
    ft_status status = FT_OK;
    bool known = ft_map_get(&l->blocks, (uintptr_t)to, &index);
    assert(known);
    (void)known;
    for (LLVMValueRef i = LLVMGetFirstInstruction(to); i && LLVMIsAPHINode(i) && status == FT_OK;
         i = LLVMGetNextInstruction(i)) {
        ft_operand o;
        status = lower_operand(l, incoming(i, from), &o);
        if (status == FT_OK) ft_vec_push(&arguments, o);
    }
    if (status == FT_OK)
        ft_function_add_target(l->function, (uint32_t)index, value, arguments.data,
                               (uint32_t)arguments.len);
    ft_vec_release(&arguments);
    return status;
}

/* ---- functions ---- */

static ft_status add_parameter(lowering *l, LLVMValueRef value)
{
    uint8_t width;
    if (!lower_width(l, LLVMTypeOf(value), &width) || !width)
        return lower_fail(l, "a parameter or variable of a type that is not lowered (a struct, a "
                             "vector, or an integer of more than 64 bits)");
    uint32_t index = ft_function_add_parameter(l->function, free_name(l, "%", value), width);
    lower_is(l, value, ft_operand_register(l->function, index));
    return FT_OK;
}

/* Functions with such a name run as one atomic section (SV-COMP's rules). */
static bool is_atomic(const char *name)
{
    static const char PREFIX[] = "__VERIFIER_atomic_";
    const char *rest = name + sizeof PREFIX - 1;
    return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 && strcmp(rest, "begin") != 0 &&
           strcmp(rest, "end") != 0;
}

static ft_status lower_block(lowering *l, LLVMBasicBlockRef block, bool entry)
{
    bool ended = false;
    ft_function_add_block(l->function, free_name(l, ":", LLVMBasicBlockAsValue(block)));
    if (entry && lower_is_aggregate(LLVMGetReturnType(LLVMGlobalGetValueType(l->value))))
        l->result =
            ft_operand_register(l->function, ft_function_add_parameter(l->function, NULL, 64));
    for (unsigned i = 0; entry && i < LLVMCountParams(l->value); i++)
        LOWER_TRY(add_parameter(l, LLVMGetParam(l->value, i)));
    if (entry && lower_is_variadic(LLVMGlobalGetValueType(l->value)))
        l->more =
            ft_operand_register(l->function, ft_function_add_parameter(l->function, NULL, 64));
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    for (; i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
        l->instruction = i;
        LOWER_TRY(add_parameter(l, i));
    }
    l->instruction = NULL;
    if (entry && l->atomic) lower_emit(l, (ft_instruction){.code = FT_CODE_ATOMIC_BEGIN}, NULL, 0);
    if (entry) lower_aggregates(l);
    for (; i && !ended; i = LLVMGetNextInstruction(i)) {
        l->instruction = i;
        LOWER_TRY(lower_instruction(l, i, &ended));
    }
    return FT_OK;
}

static ft_status number_blocks(lowering *l)
{
    uint64_t n = 0;
    ft_map_release(&l->blocks);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(l->value); b; b = LLVMGetNextBasicBlock(b))
        ft_map_put(&l->blocks, (uintptr_t)b, n++);
    return FT_OK;
}

static void resolve_one(const lowering *l, ft_operand *o)
{
    if (o->kind != LOWER_LATER) return;
    ft_operand made = l->values.data[o->index];
    while (made.kind == LOWER_LATER && made.index != l->values.data[made.index].index)
        made = l->values.data[made.index]; /* another name for a later value */
    /* A value that only unreachable code makes. */
    *o = made.kind == LOWER_LATER ? ft_operand_literal(o->width, 0) : made;
}

/* Puts in what was named before it was made. */
static ft_status resolve(lowering *l)
{
    ft_function *f = l->function;
    for (size_t i = 0; i < f->operands.len; i++) resolve_one(l, &f->operands.data[i]);
    for (size_t i = 0; i < f->variables.len; i++) {
        ft_variable_note *v = &f->variables.data[i];
        resolve_one(l, &l->noted.data[i]);
        bool in_register = l->noted.data[i].kind == FT_OPERAND_REGISTER;
        v->reg = in_register ? l->noted.data[i].index : FT_NO_REGISTER;
        v->address = v->address && in_register;
    }
    return FT_OK;
}

static void begin(lowering *l, uint32_t symbol, uint8_t result)
{
    l->function = ft_program_add_function(l->program, symbol);
    l->function->result = result;
    l->instruction = NULL;
    ft_map_release(&l->ids);
    l->values.len = l->noted.len = 0;
}

ft_status lower_function(lowering *l, LLVMValueRef function)
{
    uint8_t result = 0;
    const char *name = LLVMGetValueName(function);
    if (LLVMIsDeclaration(function))
        return lower_fail(l,
                          "the function '%s' is not in the files that were given, and has no "
                          "model",
                          name);
    LLVMTypeRef type = LLVMGlobalGetValueType(function);
    l->value = function;
    if (!lower_is_aggregate(LLVMGetReturnType(type)) &&
        !lower_width(l, LLVMGetReturnType(type), &result))
        return lower_fail(l, "it returns a vector or an integer of more than 64 bits");
    begin(l, lower_symbol(l, function), result);
    l->atomic = is_atomic(name);
    LOWER_TRY(number_blocks(l));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        LOWER_TRY(lower_block(l, b, b == LLVMGetEntryBasicBlock(function)));
    return resolve(l);
}

/* ---- thunks: %r = call @f(as many of the parameters as it takes); return it ---- */

static void thunk_call(lowering *l, LLVMValueRef function, uint8_t inner, ft_operand *r)
{
    FT_VEC(ft_operand) arguments = {0};
    const ft_block *entry = &l->function->blocks.data[0];
    uint32_t have = entry->n_parameters, first = entry->parameters;
    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
        uint8_t width = 64;
        lower_width(l, LLVMTypeOf(LLVMGetParam(function, i)), &width);
        ft_operand o =
            i < have ? ft_operand_register(l->function, first + i) : ft_operand_literal(width, 0);
        ft_vec_push(&arguments, lower_resize(l, o, width));
    }
    ft_instruction call = {
        .code = FT_CODE_CALL, .width = inner, .extra = lower_symbol(l, function)};
    *r = lower_emit(l, call, arguments.data, (uint32_t)arguments.len);
    ft_vec_release(&arguments);
}

ft_status lower_thunk_body(lowering *l, const lower_thunk *thunk)
{
    uint8_t outer, inner, width;
    lower_thunk t = *thunk;
    LLVMTypeRef of = LLVMGlobalGetValueType(t.function);
    l->value = t.function;
    if (!lower_width(l, LLVMGetReturnType(t.type), &outer) ||
        !lower_width(l, LLVMGetReturnType(of), &inner))
        return lower_fail(l, "it returns a struct, and is called as another function");
    begin(l, t.symbol, outer);
    l->atomic = false;
    ft_function_add_block(l->function, NULL);
    unsigned n = LLVMCountParamTypes(t.type);
    LLVMTypeRef *types = ft_alloc((n + 1) * sizeof(LLVMTypeRef));
    LLVMGetParamTypes(t.type, types);
    for (unsigned i = 0; i < n; i++) {
        if (!lower_width(l, types[i], &width) || !width) width = 64;
        ft_function_add_parameter(l->function, NULL, width);
    }
    free(types);
    ft_operand r;
    thunk_call(l, t.function, inner, &r);
    if (outer) r = inner ? lower_resize(l, r, outer) : ft_operand_literal(outer, 0);
    lower_emit(l, (ft_instruction){.code = FT_CODE_RETURN}, &r, outer ? 1 : 0);
    return FT_OK;
}
