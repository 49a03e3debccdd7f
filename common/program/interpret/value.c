#include <math.h>
#include <string.h>

#include "program/interpret/integer.h"
#include "program/interpret/internal.h"

/* ---- floats ---- */

static double to_double(uint8_t width, uint64_t bits)
{
    double d;
    float f;
    uint32_t low = (uint32_t)bits;
    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &low, sizeof f);
    return width == 64 ? d : (double)f;
}

static uint64_t from_double(uint8_t width, double d)
{
    uint64_t bits;
    uint32_t low;
    float f = (float)d;
    memcpy(&bits, &d, sizeof bits);
    memcpy(&low, &f, sizeof low);
    return width == 64 ? bits : low;
}

/* A sum, product or quotient of two floats that was rounded to double and then to float is rounded
 * as if at once: double has more than twice the digits and two. */
static uint64_t float_binary(ft_code code, uint8_t width, double a, double b)
{
    switch (code) {
    case FT_CODE_FADD:
        return from_double(width, a + b);
    case FT_CODE_FSUB:
        return from_double(width, a - b);
    case FT_CODE_FMUL:
        return from_double(width, a * b);
    case FT_CODE_FDIV:
        return from_double(width, a / b);
    case FT_CODE_FREM:
        return from_double(width, fmod(a, b));
    case FT_CODE_FEQ:
        return a == b;
    case FT_CODE_FLT:
        return a < b;
    case FT_CODE_FLE:
        return a <= b;
    default:
        return isnan(a) || isnan(b);
    }
}

static ft_program_error to_integer(ft_code code, uint8_t width, double a, uint64_t *r)
{
    double t = trunc(a);
    bool sign = code == FT_CODE_FTOS;
    double above = ldexp(1, sign ? width - 1 : width), below = sign ? -above : 0;
    if (isnan(a) || t >= above || t < below) return FT_ERROR_CONVERSION;
    *r = sign ? (uint64_t)(int64_t)t : (uint64_t)t;
    return FT_ERROR_NONE;
}

/* From 64 bits to float at once, else it would be rounded twice. */
static uint64_t from_integer(ft_code code, uint8_t from, uint8_t width, uint64_t a)
{
    int64_t x = sign_extend(a, from);
    bool sign = code == FT_CODE_STOF;
    if (width == 64) return from_double(64, sign ? (double)x : (double)a);
    float f = sign ? (float)x : (float)a;
    uint32_t low;
    memcpy(&low, &f, sizeof low);
    return low;
}

/* ---- instructions ---- */

ft_program_error ft_value_binary(ft_code code, uint8_t width, uint64_t a, uint64_t b, uint64_t *r)
{
    if (is_of_integers(code)) return integer_binary(code, width, a, b, r);
    *r = float_binary(code, width, to_double(width, a), to_double(width, b));
    return FT_ERROR_NONE;
}

ft_program_error ft_value_unary(ft_code code, uint8_t from, uint8_t width, uint64_t a, uint64_t *r)
{
    ft_program_error error = FT_ERROR_NONE;
    switch (code) {
    case FT_CODE_SEXT:
        *r = (uint64_t)sign_extend(a, from);
        break;
    case FT_CODE_FTOS:
    case FT_CODE_FTOU:
        error = to_integer(code, width, to_double(from, a), r);
        break;
    case FT_CODE_STOF:
    case FT_CODE_UTOF:
        *r = from_integer(code, from, width, a);
        break;
    case FT_CODE_FTOF:
        *r = from_double(width, to_double(from, a));
        break;
    default:
        *r = a;
        break; /* zext, trunc */
    }
    if (error == FT_ERROR_NONE) *r &= ft_width_mask(width);
    return error;
}

uint64_t ft_value_update(ft_update update, uint8_t width, uint64_t v, uint64_t x)
{
    int64_t s = sign_extend(v, width), y = sign_extend(x, width);
    uint64_t r = 0;
    switch (update) {
    case FT_UPDATE_EXCHANGE:
        r = x;
        break;
    case FT_UPDATE_ADD:
        r = v + x;
        break;
    case FT_UPDATE_SUB:
        r = v - x;
        break;
    case FT_UPDATE_AND:
        r = v & x;
        break;
    case FT_UPDATE_OR:
        r = v | x;
        break;
    case FT_UPDATE_XOR:
        r = v ^ x;
        break;
    case FT_UPDATE_NAND:
        r = ~(v & x);
        break;
    case FT_UPDATE_SMAX:
        r = s > y ? v : x;
        break;
    case FT_UPDATE_SMIN:
        r = s < y ? v : x;
        break;
    case FT_UPDATE_UMAX:
        r = v > x ? v : x;
        break;
    case FT_UPDATE_UMIN:
        r = v < x ? v : x;
        break;
    case FT_UPDATES:
        break;
    }
    return r & ft_width_mask(width);
}
