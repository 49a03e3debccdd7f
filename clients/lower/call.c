#include <string.h>

#include "internal.h"

/* Lowers a call of a known function. */
typedef ft_status caller(lowering *l, LLVMValueRef call, const char *name, bool *ended);

static unsigned count(LLVMValueRef call)
{
    return LLVMGetNumArgOperands(call);
}

static ft_status argument(lowering *l, LLVMValueRef call, unsigned i, ft_operand *o)
{
    if (i >= count(call)) return lower_fail(l, "a call with too few arguments");
    return lower_operand(l, LLVMGetOperand(call, i), o);
}

static ft_status sized_argument(lowering *l, LLVMValueRef call, unsigned i, uint8_t width,
                                ft_operand *o)
{
    LOWER_TRY(argument(l, call, i, o));
    *o = lower_resize(l, *o, width);
    return FT_OK;
}

/* A result that nobody needs is 0. */
static ft_status call_nothing(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)name, (void)ended;
    uint8_t width;
    if (lower_width(l, LLVMTypeOf(call), &width) && width)
        lower_is(l, call, ft_operand_literal(width, 0));
    return FT_OK;
}

/* ---- functions that end something ---- */

static void fail_with(lowering *l, const char *text, size_t length, bool *ended)
{
    ft_instruction fail = {.code = FT_CODE_FAIL, .extra = lower_text(l, text, length)};
    lower_emit(l, fail, NULL, 0);
    *ended = true;
}

static ft_status call_error(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)call;
    fail_with(l, name, strlen(name), ended);
    return FT_OK;
}

/* libstdc++'s functions that throw, as _ZSt20__throw_length_errorPKc: "throw_length_error". */
static ft_status call_thrown(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)call;
    const char *word = strstr(name, "throw_");
    fail_with(l, word, strspn(word, "abcdefghijklmnopqrstuvwxyz_"), ended);
    return FT_OK;
}

static ft_status call_assert_fail(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    const char *text;
    size_t length;
    if (!count(call) || !lower_string(LLVMGetOperand(call, 0), &text, &length))
        text = name, length = strlen(name);
    fail_with(l, text, length, ended);
    return FT_OK;
}

static ft_status call_assume(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)name, (void)ended;
    ft_operand a;
    LOWER_TRY(argument(l, call, 0, &a));
    a = lower_emit2(l, FT_CODE_NE, a.width, a, ft_operand_literal(a.width, 0));
    lower_emit1(l, FT_CODE_ASSUME, 0, a);
    return FT_OK;
}

/* assert(condition) as a function, without its header; TOOL_assert(condition, "text") */
static ft_status call_assert(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)ended;
    const char *text = name;
    size_t length = strlen(name);
    ft_operand a;
    LOWER_TRY(argument(l, call, 0, &a));
    if (count(call) > 1 && !lower_string(LLVMGetOperand(call, 1), &text, &length))
        text = name, length = strlen(name);
    a = lower_emit2(l, FT_CODE_NE, a.width, a, ft_operand_literal(a.width, 0));
    ft_instruction made = {.code = FT_CODE_ASSERT, .extra = lower_text(l, text, length)};
    lower_emit(l, made, &a, 1);
    return call_nothing(l, call, name, ended);
}

/* ---- inputs ---- */

static ft_status call_nondet(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)ended;
    const char *last = strrchr(name, '_') + 1;
    ft_instruction input = {.code = FT_CODE_INPUT, .extra = lower_text(l, last, strlen(last))};
    if (!lower_width(l, LLVMTypeOf(call), &input.width) || !input.width)
        return lower_fail(l, "an input of a type that is not lowered");
    lower_is(l, call, lower_emit(l, input, NULL, 0));
    return FT_OK;
}

/* foretell_input(&x, sizeof x, "name") */
static ft_status call_input(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)name, (void)ended;
    const char *text;
    size_t length;
    ft_operand to;
    LOWER_TRY(argument(l, call, 0, &to));
    LLVMValueRef size = LLVMGetOperand(call, 1);
    uint64_t bytes = LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
    if (bytes < 1 || bytes > 8 || !lower_string(LLVMGetOperand(call, 2), &text, &length))
        return lower_fail(l,
                          "foretell_input needs a size of 1 to 8 bytes and a name, both constant");
    ft_instruction input = {
        .code = FT_CODE_INPUT, .width = (uint8_t)(8 * bytes), .extra = lower_text(l, text, length)};
    ft_operand value = lower_emit(l, input, NULL, 0);
    lower_emit2(l, FT_CODE_STORE, input.width, value, to);
    return FT_OK;
}

/* std::make_exception_ptr of any type, whose result goes to the address that is the first argument:
 * what the exception is does not matter (models/futures.c). Compiled without exceptions, the
 * header's function would make none. */
static ft_status call_make_exception(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)name, (void)ended;
    ft_operand to;
    LLVMValueRef model = LLVMGetNamedFunction(l->module, "__foretell_make_exception");
    assert(model);
    LOWER_TRY(argument(l, call, 0, &to));
    ft_instruction made = {.code = FT_CODE_CALL, .extra = lower_symbol(l, model)};
    lower_emit(l, made, &to, 1);
    return FT_OK;
}

/* ---- LLVM's own ---- */

static ft_status call_same(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)name, (void)ended;
    ft_operand a;
    LOWER_TRY(argument(l, call, 0, &a));
    lower_is(l, call, a);
    return FT_OK;
}

static ft_status call_memory(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)ended;
    ft_operand o[3];
    bool fills = strncmp(name, "llvm.memset", 11) == 0;
    bool moves = strncmp(name, "llvm.memmove", 12) == 0;
    for (unsigned i = 0; i < 3; i++) LOWER_TRY(argument(l, call, i, &o[i]));
    o[2] = lower_resize(l, o[2], 64);
    ft_code code = fills ? FT_CODE_FILL : moves ? FT_CODE_MOVE : FT_CODE_COPY;
    lower_emit(l, (ft_instruction){.code = (uint8_t)code}, o, 3);
    return FT_OK;
}

/* Counts of bits and the like: a model gets the arguments as 64 bits, and the width. */
static const struct {
    const char *name, *model;
} MODELLED[] = {{"llvm.ctlz.", "model_leading_zeros"}, {"llvm.cttz.", "model_trailing_zeros"},
                {"llvm.ctpop.", "model_count_ones"},   {"llvm.bswap.", "model_swap_bytes"},
                {"llvm.bitreverse.", "model_reverse"}, {"llvm.fshl.", "model_shift_left"},
                {"llvm.fshr.", "model_shift_right"},   {"llvm.abs.", "model_magnitude"},
                {"llvm.uadd.sat.", "model_add_most"},  {"llvm.usub.sat.", "model_subtract_least"}};

static ft_status call_model(lowering *l, LLVMValueRef call, const char *model, ft_operand *r)
{
    ft_operand o[4];
    uint32_t n = 0;
    LLVMValueRef function = LLVMGetNamedFunction(l->module, model);
    assert(function && LLVMCountParams(function) < 5);
    uint8_t width = 0;
    lower_width(l, LLVMTypeOf(LLVMGetOperand(call, 0)), &width);
    if (!width || width > 64) return lower_fail(l, "an integer of more than 64 bits, or a vector");
    for (; n + 1 < LLVMCountParams(function); n++) LOWER_TRY(sized_argument(l, call, n, 64, &o[n]));
    o[n++] = ft_operand_literal(64, width);
    ft_instruction made = {.code = FT_CODE_CALL, .width = 64, .extra = lower_symbol(l, function)};
    *r = lower_emit(l, made, o, n);
    return FT_OK;
}

static ft_status call_modelled(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)ended;
    uint8_t width;
    ft_operand r;
    size_t i = 0;
    while (strncmp(name, MODELLED[i].name, strlen(MODELLED[i].name)) != 0) i++;
    LOWER_TRY(call_model(l, call, MODELLED[i].model, &r));
    if (!lower_width(l, LLVMTypeOf(call), &width)) return lower_fail(l, "a vector");
    lower_is(l, call, lower_resize(l, r, width));
    return FT_OK;
}

/* Functions of math.h that the compiler has as its own: the models of these names. */
static const struct {
    const char *name, *of_double, *of_float;
} MATHS[] = {{"llvm.floor.", "floor", "floorf"}, {"llvm.ceil.", "ceil", "ceilf"},
             {"llvm.trunc.", "trunc", "truncf"}, {"llvm.round.", "round", "roundf"},
             {"llvm.sqrt.", "sqrt", "sqrtf"},    {"llvm.minnum.", "fmin", "fminf"},
             {"llvm.maxnum.", "fmax", "fmaxf"},  {"llvm.copysign.", "copysign", "copysignf"}};

static ft_status call_math(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)ended;
    ft_operand o[2];
    uint32_t n = (uint32_t)LLVMGetNumArgOperands(call);
    uint8_t width = 0;
    size_t i = 0;
    while (strncmp(name, MATHS[i].name, strlen(MATHS[i].name)) != 0) i++;
    if (!lower_width(l, LLVMTypeOf(call), &width) || width > 64)
        return lower_fail(l, "a long double, or a vector");
    assert(n <= 2 && (width == 32 || width == 64));
    for (uint32_t k = 0; k < n; k++) LOWER_TRY(argument(l, call, k, &o[k]));
    LLVMValueRef function =
        LLVMGetNamedFunction(l->module, width == 32 ? MATHS[i].of_float : MATHS[i].of_double);
    assert(function);
    ft_instruction made = {.code = FT_CODE_CALL, .width = width};
    made.extra = lower_symbol(l, function);
    lower_is(l, call, lower_emit(l, made, o, n));
    return FT_OK;
}

/* The pair {result, whether it overflows} is made where its parts are taken. */
static ft_status call_checked(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)l, (void)call, (void)name, (void)ended;
    return FT_OK;
}

ft_status lower_checked(lowering *l, LLVMValueRef call, bool overflows, ft_operand *r)
{
    const char *name = LLVMGetValueName(LLVMGetCalledValue(call)) + strlen("llvm.");
    static const struct {
        const char *name;
        ft_code code;
        const char *model;
    } ROWS[] = {{"sadd", FT_CODE_ADD, "model_sadd_overflows"},
                {"uadd", FT_CODE_ADD, "model_uadd_overflows"},
                {"ssub", FT_CODE_SUB, "model_ssub_overflows"},
                {"usub", FT_CODE_SUB, "model_usub_overflows"},
                {"smul", FT_CODE_MUL, "model_smul_overflows"},
                {"umul", FT_CODE_MUL, "model_umul_overflows"}};
    ft_operand a, b;
    size_t i = 0;
    while (strncmp(name, ROWS[i].name, 4) != 0) i++;
    if (overflows) {
        LOWER_TRY(call_model(l, call, ROWS[i].model, r));
        *r = lower_resize(l, *r, 1);
        return FT_OK;
    }
    LOWER_TRY(argument(l, call, 0, &a));
    LOWER_TRY(argument(l, call, 1, &b));
    *r = lower_emit2(l, ROWS[i].code, a.width, a, b);
    return FT_OK;
}

static ft_status call_fabs(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)name, (void)ended;
    ft_operand a;
    LOWER_TRY(argument(l, call, 0, &a));
    ft_operand rest = ft_operand_literal(a.width, ft_width_mask((uint8_t)(a.width - 1)));
    lower_is(l, call, lower_emit2(l, FT_CODE_AND, a.width, a, rest));
    return FT_OK;
}

/* smax, smin, umax, umin */
static ft_status call_extreme(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)ended;
    ft_operand a, b;
    bool sign = name[5] == 's', most = name[7] == 'a';
    LOWER_TRY(argument(l, call, 0, &a));
    LOWER_TRY(argument(l, call, 1, &b));
    ft_operand less = lower_emit2(l, sign ? FT_CODE_SLT : FT_CODE_ULT, a.width, a, b);
    ft_operand three[3] = {less, most ? b : a, most ? a : b};
    ft_instruction select = {.code = FT_CODE_SELECT, .width = a.width};
    lower_is(l, call, lower_emit(l, select, three, 3));
    return FT_OK;
}

/* ---- printing: the arguments behind the format go to the model as an array */

typedef struct printer {
    const char *name, *model;
    unsigned fixed;          /* arguments up to the format; they go to the model first */
    bool descriptor;         /* the model's first argument is 1 */
    bool list;               /* the others are in a va_list */
    const char *conversions; /* that the model has */
} printer;

#define PRINTS "diuxXopfFeEgGsc"
#define SCANS  "diuxsc"

static const printer PRINTERS[] = {
    {"printf", "__foretell_print", 1, true, false, PRINTS},
    {"fprintf", "__foretell_print", 2, false, false, PRINTS},
    {"dprintf", "__foretell_print", 2, false, false, PRINTS},
    {"sprintf", "__foretell_format", 2, false, false, PRINTS},
    {"snprintf", "__foretell_format_most", 3, false, false, PRINTS},
    {"asprintf", "__foretell_format_new", 2, false, false, PRINTS},
    {"vprintf", "__foretell_print", 1, true, true, PRINTS},
    {"vfprintf", "__foretell_print", 2, false, true, PRINTS},
    {"vdprintf", "__foretell_print", 2, false, true, PRINTS},
    {"vsprintf", "__foretell_format", 2, false, true, PRINTS},
    {"vsnprintf", "__foretell_format_most", 3, false, true, PRINTS},
    {"vasprintf", "__foretell_format_new", 2, false, true, PRINTS},
    {"sscanf", "__foretell_scan", 2, false, false, SCANS},
    {"__isoc99_sscanf", "__foretell_scan", 2, false, false, SCANS},
};

static const printer *printer_of(const char *name)
{
    for (size_t i = 0; i < sizeof PRINTERS / sizeof PRINTERS[0]; i++)
        if (strcmp(PRINTERS[i].name, name) == 0) return &PRINTERS[i];
    return NULL;
}

/* A conversion that the model lacks would print, or read, something else. */
static ft_status check_format(lowering *l, LLVMValueRef call, const printer *p)
{
    const char *text;
    size_t length;
    if (!lower_string(LLVMGetOperand(call, p->fixed - 1), &text, &length)) return FT_OK;
    const char *end = text + length;
    bool prints = strcmp(p->conversions, PRINTS) == 0;
    while ((text = memchr(text, '%', (size_t)(end - text)))) {
        const char *from = text++;
        if (text < end && *text == '%') {
            text++;
            continue;
        }
        while (text < end && strchr(prints ? "-0+ #123456789.*hlzjt" : "hlz", *text)) text++;
        bool wide = text < end && (*text == 's' || *text == 'c') && text[-1] == 'l';
        bool known = text < end && strchr(p->conversions, *text) && !wide;
        int shown = (int)(text < end ? text + 1 - from : text - from);
        if (!known) return lower_fail(l, "the conversion '%.*s' of '%s'", shown, from, p->name);
    }
    return FT_OK;
}

static ft_status call_printer(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    (void)ended;
    const printer *p = printer_of(name);
    ft_operand o[5];
    uint32_t n = 0;
    LLVMValueRef model = LLVMGetNamedFunction(l->module, p->model);
    assert(model);
    LOWER_TRY(check_format(l, call, p));
    if (p->descriptor) o[n++] = ft_operand_literal(64, 1);
    for (unsigned i = 0; i < p->fixed; i++) LOWER_TRY(sized_argument(l, call, i, 64, &o[n++]));
    if (p->list) {
        LOWER_TRY(sized_argument(l, call, p->fixed, 64, &o[n]));
        o[n] = lower_va_array(l, o[n]);
    } else {
        LOWER_TRY(lower_pack(l, call, p->fixed, &o[n]));
    }
    n++;
    ft_instruction made = {.code = FT_CODE_CALL, .width = 32, .extra = lower_symbol(l, model)};
    lower_is(l, call, lower_emit(l, made, o, n));
    return FT_OK;
}

/* ---- the language's instructions, which models call as __foretell_NAME or
 * __foretell_mutex_init_KIND ---- */

static bool instruction_named(const char *name, ft_instruction *in)
{
    static const char MUTEX[] = "mutex_init_";
    ft_code code;
    ft_mutex_kind kind;
    if (strncmp(name, MUTEX, sizeof MUTEX - 1) == 0 &&
        ft_mutex_kind_named(name + sizeof MUTEX - 1, &kind)) {
        *in = (ft_instruction){.code = FT_CODE_MUTEX_INIT, .attribute = (uint8_t)kind};
        return true;
    }
    if (!ft_code_named(name, &code)) return false;
    *in = (ft_instruction){.code = (uint8_t)code};
    return true;
}

static ft_status call_instruction(lowering *l, LLVMValueRef call, const char *name, bool *ended)
{
    ft_instruction in;
    ft_operand o[4];
    if (!instruction_named(name + strlen("__foretell_"), &in))
        return lower_fail(l, "'%s' is not an instruction", name);
    const char *letters = ft_instruction_row_of(in.code)->operands;
    uint32_t n = (uint32_t)strlen(letters);
    for (uint32_t i = 0; i < n; i++)
        LOWER_TRY(sized_argument(l, call, i, ft_letter_width(letters[i], 0), &o[i]));
    ft_operand result = lower_emit(l, in, o, n);
    uint8_t width;
    *ended = ft_code_ends_block(in.code);
    if (lower_width(l, LLVMTypeOf(call), &width) && width && !*ended)
        lower_is(l, call, lower_resize(l, result, width));
    return FT_OK;
}

/* ---- known functions, by name or the beginning of the name ---- */

static const struct {
    const char *name;
    bool begins;
    caller *call;
} KNOWN[] = {
    {"__assert_fail", false, call_assert_fail},
    {"abort", false, call_error},
    {"reach_error", false, call_error},
    {"__VERIFIER_error", false, call_error},
    {"__VERIFIER_assume", false, call_assume},
    {"assume_abort_if_not", false, call_assume},
    {"__VERIFIER_nondet_", true, call_nondet},
    {"__CPROVER_assume", false, call_assume},
    {"__ESBMC_assume", false, call_assume},
    {"__CPROVER_assert", false, call_assert},
    {"__ESBMC_assert", false, call_assert},
    {"foretell_input", false, call_input},
    {"llvm.dbg.declare", false, lower_variable},
    {"llvm.dbg.value", false, lower_variable},
    {"llvm.dbg.", true, call_nothing},
    {"llvm.lifetime.", true, call_nothing},
    {"llvm.assume", false, call_nothing},
    {"llvm.invariant.", true, call_nothing},
    {"llvm.x86.sse2.pause", false, call_nothing},
    {"llvm.stacksave", true, call_nothing},
    {"llvm.stackrestore", true, call_nothing},
    {"llvm.expect.", true, call_same},
    {"llvm.is.constant.", true, call_nothing},
    {"llvm.memcpy.", true, call_memory},
    {"llvm.memmove.", true, call_memory},
    {"llvm.memset.", true, call_memory},
    {"llvm.fabs.", true, call_fabs},
    {"llvm.smax.", true, call_extreme},
    {"llvm.smin.", true, call_extreme},
    {"llvm.umax.", true, call_extreme},
    {"llvm.umin.", true, call_extreme},
    {"_ZSt9terminatev", false, call_error},
    {"_ZSt18make_exception_ptrI", true, call_make_exception},
    {"llvm.ctlz.", true, call_modelled},
    {"llvm.cttz.", true, call_modelled},
    {"llvm.ctpop.", true, call_modelled},
    {"llvm.bswap.", true, call_modelled},
    {"llvm.bitreverse.", true, call_modelled},
    {"llvm.fshl.", true, call_modelled},
    {"llvm.fshr.", true, call_modelled},
    {"llvm.abs.", true, call_modelled},
    {"llvm.uadd.sat.", true, call_modelled},
    {"llvm.usub.sat.", true, call_modelled},
    {"llvm.floor.", true, call_math},
    {"llvm.ceil.", true, call_math},
    {"llvm.trunc.", true, call_math},
    {"llvm.round.", true, call_math},
    {"llvm.sqrt.", true, call_math},
    {"llvm.minnum.", true, call_math},
    {"llvm.maxnum.", true, call_math},
    {"llvm.copysign.", true, call_math},
    {"llvm.sadd.with", true, call_checked},
    {"llvm.uadd.with", true, call_checked},
    {"llvm.ssub.with", true, call_checked},
    {"llvm.usub.with", true, call_checked},
    {"llvm.smul.with", true, call_checked},
    {"llvm.umul.with", true, call_checked},
    {"llvm.trap", false, call_error},
    {"printf", false, call_printer},
    {"fprintf", false, call_printer},
    {"dprintf", false, call_printer},
    {"sscanf", false, call_printer},
    {"__isoc99_sscanf", false, call_printer},
    {"sprintf", false, call_printer},
    {"snprintf", false, call_printer},
    {"asprintf", false, call_printer},
    {"vasprintf", false, call_printer},
    {"vprintf", false, call_printer},
    {"vfprintf", false, call_printer},
    {"vdprintf", false, call_printer},
    {"vsprintf", false, call_printer},
    {"vsnprintf", false, call_printer},
    {"llvm.va_start", false, lower_va_start},
    {"llvm.va_end", false, call_nothing},
    {"llvm.va_copy", false, lower_va_copy},
};

/* Names that a program may well have for a function of its own. */
static const struct {
    const char *name;
    bool begins;
    caller *call;
} KNOWN_UNLESS_GIVEN[] = {
    {"assert", false, call_assert},
    {"assume", false, call_assume},
    {"nondet_", true, call_nondet},
};

static caller *unless_given(LLVMValueRef function, const char *name)
{
    if (!LLVMIsDeclaration(function)) return NULL;
    for (size_t i = 0; i < sizeof KNOWN_UNLESS_GIVEN / sizeof KNOWN_UNLESS_GIVEN[0]; i++) {
        const char *known = KNOWN_UNLESS_GIVEN[i].name;
        size_t n = KNOWN_UNLESS_GIVEN[i].begins ? strlen(known) : strlen(name) + 1;
        if (strncmp(name, known, n) == 0) return KNOWN_UNLESS_GIVEN[i].call;
    }
    return NULL;
}

static caller *known_call(lowering *l, LLVMValueRef function, const char *name)
{
    bool model = strncmp(name, "__foretell_", 11) == 0 && LLVMIsDeclaration(function);
    if (model) return call_instruction;
    bool thrown = strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_");
    if (thrown && LLVMIsDeclaration(function)) return call_thrown;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        size_t n = KNOWN[i].begins ? strlen(KNOWN[i].name) : strlen(name) + 1;
        if (strncmp(name, KNOWN[i].name, n) == 0) return KNOWN[i].call;
    }
    (void)l;
    return unless_given(function, name);
}

/* ---- other functions ---- */

/* Streams print in the form that they have from the start (models/streams.c): their objects hold no
 * width, no flags and no state that such a function of libstdc++'s headers could read. */
static bool has_stream_state(const char *name)
{
    static const char *const CLASSES[] = {"_ZNSt8ios_base", "_ZNKSt8ios_base", "_ZNSt9basic_ios",
                                          "_ZNKSt9basic_ios"};
    static const char MODELLED_CLASS[] = "_ZNSt8ios_base4Init";
    if (strncmp(name, MODELLED_CLASS, strlen(MODELLED_CLASS)) == 0) return false;
    for (size_t i = 0; i < sizeof CLASSES / sizeof CLASSES[0]; i++)
        if (strncmp(name, CLASSES[i], strlen(CLASSES[i])) == 0) return true;
    return false;
}

/* set_value_at_thread_exit and its kin of std::promise and std::packaged_task. */
static bool is_at_thread_exit(const char *name)
{
    bool member =
        strncmp(name, "_ZNSt7promiseI", 14) == 0 || strncmp(name, "_ZNSt13packaged_taskI", 21) == 0;
    return member && strstr(name, "_at_thread_exitE");
}

/* A struct that is handed over by value is copied for the callee. */
static ft_status copy_struct(lowering *l, LLVMValueRef call, unsigned i, ft_operand *o)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAttributeRef byval = LLVMGetCallSiteEnumAttribute(call, i + 1, kind);
    if (!byval) return FT_OK;
    ft_operand size = ft_operand_literal(64, lower_size(l, LLVMGetTypeAttributeValue(byval)));
    ft_instruction stack = {.code = FT_CODE_STACK, .attribute = 4};
    ft_operand parts[3] = {lower_emit(l, stack, &size, 1), *o, size};
    lower_emit(l, (ft_instruction){.code = FT_CODE_COPY}, parts, 3);
    *o = parts[0];
    return FT_OK;
}

/* function NULL: called by its address. Where a call does not fit the function's parameters, as
 * without a prototype, arguments are cut, added as 0 or left out. */
static ft_status lower_arguments(lowering *l, LLVMValueRef call, LLVMValueRef function,
                                 ft_operand *o, uint32_t *n)
{
    unsigned wanted = count(call);
    if (function)
        wanted = LLVMCountParams(function);
    else if (lower_is_variadic(LLVMGetCalledFunctionType(call)))
        wanted = LLVMCountParamTypes(LLVMGetCalledFunctionType(call));
    for (unsigned i = 0; i < wanted; i++) {
        uint8_t width = 64;
        if (function && !lower_width(l, LLVMTypeOf(LLVMGetParam(function, i)), &width))
            return lower_fail(l, "an argument that is a struct, a vector or too wide an integer");
        o[*n] = ft_operand_literal(width, 0);
        if (i < count(call)) {
            LOWER_TRY(argument(l, call, i, &o[*n]));
            LOWER_TRY(copy_struct(l, call, i, &o[*n]));
            if (function) o[*n] = lower_resize(l, o[*n], width);
        }
        ++*n;
    }
    return FT_OK;
}

enum { MOST_ARGUMENTS = 64 };

static ft_status plain_call(lowering *l, LLVMValueRef call, LLVMValueRef function)
{
    ft_operand o[MOST_ARGUMENTS + 2];
    uint32_t n = 0;
    uint8_t result = 0, width;
    ft_instruction made = {.code = FT_CODE_CALL};
    bool aggregate = lower_is_aggregate(LLVMTypeOf(call));
    LLVMTypeRef type =
        function ? LLVMGlobalGetValueType(function) : LLVMGetCalledFunctionType(call);
    if (count(call) >= MOST_ARGUMENTS || (function && LLVMCountParams(function) >= MOST_ARGUMENTS))
        return lower_fail(l, "a call with more than %d arguments", MOST_ARGUMENTS - 1);
    if (!aggregate && !lower_width(l, LLVMTypeOf(call), &result))
        return lower_fail(l, "a vector or an integer of more than 64 bits as a result");
    made.width = result;
    if (function) {
        LLVMTypeRef given = LLVMGetReturnType(LLVMGlobalGetValueType(function));
        if (lower_is_aggregate(given) != aggregate ||
            (!aggregate && !lower_width(l, given, &made.width)))
            return lower_fail(l, "a call of '%s' as a function with another result",
                              LLVMGetValueName(function));
        made.extra = lower_symbol(l, function);
    } else {
        made.code = FT_CODE_CALL_AT;
        LOWER_TRY(lower_operand(l, LLVMGetCalledValue(call), &o[n++]));
    }
    if (aggregate) o[n++] = lower_aggregate_object(l, call);
    LOWER_TRY(lower_arguments(l, call, function, o, &n));
    if (lower_is_variadic(type)) LOWER_TRY(lower_pack(l, call, LLVMCountParamTypes(type), &o[n++]));
    ft_operand r = lower_emit(l, made, o, n);
    width = made.width;
    if (result)
        lower_is(l, call, width ? lower_resize(l, r, result) : ft_operand_literal(result, 0));
    return FT_OK;
}

static LLVMValueRef called_function(LLVMValueRef call)
{
    LLVMValueRef of = LLVMGetCalledValue(call);
    while (LLVMIsAConstantExpr(of) && LLVMGetConstOpcode(of) == LLVMBitCast)
        of = LLVMGetOperand(of, 0);
    return LLVMIsAFunction(of) ? of : NULL;
}

ft_status lower_call(lowering *l, LLVMValueRef call, bool *ended)
{
    LLVMValueRef function = called_function(call);
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(call))) return lower_fail(l, "inline assembly");
    if (!function) return plain_call(l, call, NULL);
    const char *name = LLVMGetValueName(function);
    caller *known = known_call(l, function, name);
    if (known) return known(l, call, name, ended);
    if (has_stream_state(name))
        return lower_fail(
            l,
            "'%s' is about a stream's width, precision, flags or state, which have no "
            "model",
            name);
    if (LLVMIsDeclaration(function) || is_at_thread_exit(name))
        return lower_fail(l,
                          "the function '%s' is not in the files that were given, and has no "
                          "model",
                          name);
    return plain_call(l, call, function);
}
