/* Arithmetic on integers, inline: where the code is known, a case of it is left (quick.c). For the
 * files of this folder alone. */
#ifndef FT_PROGRAM_INTERPRET_INTEGER_H
#define FT_PROGRAM_INTERPRET_INTEGER_H

#include "program/program.h"

static inline int64_t sign_extend(uint64_t bits, uint8_t width)
{
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

static inline ft_program_error divide(ft_code code, uint8_t width, uint64_t a, uint64_t b,
                                      uint64_t *r)
{
    if (!b) return FT_ERROR_DIVISION;
    if (code == FT_CODE_UDIV) return *r = a / b, FT_ERROR_NONE;
    if (code == FT_CODE_UREM) return *r = a % b, FT_ERROR_NONE;
    int64_t x = sign_extend(a, width), y = sign_extend(b, width);
    bool least = a == UINT64_C(1) << (width - 1);
    if (least && y == -1) return FT_ERROR_DIVISION;
    *r = (uint64_t)(code == FT_CODE_SDIV ? x / y : x % y);
    return FT_ERROR_NONE;
}

static inline ft_program_error shift(ft_code code, uint8_t width, uint64_t a, uint64_t b,
                                     uint64_t *r)
{
    if (b >= width) return FT_ERROR_SHIFT;
    if (code == FT_CODE_SHL)
        *r = a << b;
    else if (code == FT_CODE_LSHR)
        *r = a >> b;
    else
        *r = (uint64_t)(sign_extend(a, width) >> b);
    return FT_ERROR_NONE;
}

static inline bool compare(ft_code code, uint8_t width, uint64_t a, uint64_t b)
{
    int64_t x = sign_extend(a, width), y = sign_extend(b, width);
    switch (code) {
    case FT_CODE_EQ:
        return a == b;
    case FT_CODE_NE:
        return a != b;
    case FT_CODE_ULT:
        return a < b;
    case FT_CODE_ULE:
        return a <= b;
    case FT_CODE_SLT:
        return x < y;
    default:
        return x <= y;
    }
}

static inline bool is_of_integers(ft_code code)
{
    return code < FT_CODE_FADD || code > FT_CODE_FNAN;
}

/* a and b have the width; an error, or FT_ERROR_NONE. */
static inline ft_program_error integer_binary(ft_code code, uint8_t width, uint64_t a, uint64_t b,
                                              uint64_t *r)
{
    ft_program_error error = FT_ERROR_NONE;
    switch (code) {
    case FT_CODE_ADD:
        *r = a + b;
        break;
    case FT_CODE_SUB:
        *r = a - b;
        break;
    case FT_CODE_MUL:
        *r = a * b;
        break;
    case FT_CODE_AND:
        *r = a & b;
        break;
    case FT_CODE_OR:
        *r = a | b;
        break;
    case FT_CODE_XOR:
        *r = a ^ b;
        break;
    case FT_CODE_UDIV:
    case FT_CODE_SDIV:
    case FT_CODE_UREM:
    case FT_CODE_SREM:
        error = divide(code, width, a, b, r);
        break;
    case FT_CODE_SHL:
    case FT_CODE_LSHR:
    case FT_CODE_ASHR:
        error = shift(code, width, a, b, r);
        break;
    default:
        return *r = compare(code, width, a, b), FT_ERROR_NONE;
    }
    if (error == FT_ERROR_NONE) *r &= ft_width_mask(width);
    return error;
}

#endif
