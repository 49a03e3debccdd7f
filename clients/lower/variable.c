/* Variables of the source: after the promotion of locals clang's debug information says of each
 * value that a variable gets which one it is. */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "internal.h"

/* Is the value, or the address, the variable's as it is, and as a whole? */
static bool is_plain(LLVMValueRef expression)
{
    char *text = LLVMPrintValueToString(expression);
    bool plain = strstr(text, "!DIExpression()") != NULL;
    LLVMDisposeMessage(text);
    return plain;
}

/* The value that the metadata wraps; NULL: it is not one. */
static LLVMValueRef wrapped(LLVMValueRef metadata)
{
    LLVMMetadataKind kind = LLVMGetMetadataKind(LLVMValueAsMetadata(metadata));
    LLVMValueRef value = NULL;
    if (kind == LLVMLocalAsMetadataMetadataKind) LLVMGetMDNodeOperands(metadata, &value);
    return value;
}

/* Operands of a DILocalVariable: its scope, name, file, type and annotations. */
static const char *name_of(LLVMValueRef variable, unsigned *length)
{
    enum { NAME = 1, MOST = 16 };
    LLVMValueRef operands[MOST];
    unsigned n = LLVMGetMDNodeNumOperands(variable);
    if (n <= NAME || n > MOST) return NULL;
    LLVMGetMDNodeOperands(variable, operands);
    return operands[NAME] ? LLVMGetMDString(operands[NAME], length) : NULL;
}

static ft_position declared_at(lowering *l, LLVMValueRef variable)
{
    unsigned length = 0;
    LLVMMetadataRef v = LLVMValueAsMetadata(variable), file = LLVMDIVariableGetFile(v);
    const char *name = file ? LLVMDIFileGetFilename(file, &length) : NULL;
    if (!length) return (ft_position){FT_NO_FILE, 0, 0};
    return (ft_position){ft_intern_add(&l->program->files, name, length), LLVMDIVariableGetLine(v),
                         0};
}

ft_status lower_variable(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)ended;
    LLVMValueRef variable = LLVMGetOperand(call, 1), value = wrapped(LLVMGetOperand(call, 0));
    unsigned length = 0;
    uint8_t width;
    const char *own = name_of(variable, &length);
    ft_operand has = ft_operand_literal(64, 0);
    if (!own || !length) return FT_OK;
    bool known = value && is_plain(LLVMGetOperand(call, 2)) &&
                 lower_width(l, LLVMTypeOf(value), &width) && width;
    if (known) LOWER_TRY(lower_operand(l, value, &has));
    ft_variable_note note = {.instruction = (uint32_t)l->function->instructions.len,
                             .reg = FT_NO_REGISTER,
                             .address = strcmp(name, "llvm.dbg.declare") == 0,
                             .name = lower_text(l, own, length),
                             .position = declared_at(l, variable)};
    ft_vec_push(&l->function->variables, note);
    ft_vec_push(&l->noted, has);
    return FT_OK;
}
