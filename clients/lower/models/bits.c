/* LLVM's intrinsic functions on integers: each gets values of 64 bits, zero above the width. */
#include "foretell.h"

typedef unsigned long bits;

static bits mask(bits width)
{
    return width == 64 ? ~0ul : (1ul << width) - 1;
}

static long sign(bits v, bits width)
{
    bits top = 1ul << (width - 1);
    return (long)((v ^ top) - top);
}

bits model_leading_zeros(bits v, bits unused, bits width)
{
    bits n = 0;
    while (n < width && !(v >> (width - 1 - n) & 1)) n++;
    return n;
}

bits model_trailing_zeros(bits v, bits unused, bits width)
{
    bits n = 0;
    while (n < width && !(v >> n & 1)) n++;
    return n;
}

bits model_count_ones(bits v, bits width)
{
    bits n = 0;
    for (; v; v &= v - 1) n++;
    return n;
}

bits model_swap_bytes(bits v, bits width)
{
    bits r = 0;
    for (bits i = 0; i < width; i += 8) r = r << 8 | (v >> i & 255);
    return r;
}

bits model_reverse(bits v, bits width)
{
    bits r = 0;
    for (bits i = 0; i < width; i++) r = r << 1 | (v >> i & 1);
    return r;
}

/* The upper (or lower) half of the two, one behind the other, shifted. */
bits model_shift_left(bits a, bits b, bits by, bits width)
{
    by %= width;
    return by ? a << by | b >> (width - by) : a;
}

bits model_shift_right(bits a, bits b, bits by, bits width)
{
    by %= width;
    return by ? a << (width - by) | b >> by : b;
}

bits model_magnitude(bits v, bits unused, bits width)
{
    return v >> (width - 1) & 1 ? 0 - v : v;
}

bits model_add_most(bits a, bits b, bits width)
{
    bits sum = (a + b) & mask(width);
    return sum < a ? mask(width) : sum;
}

bits model_subtract_least(bits a, bits b, bits width)
{
    return a < b ? 0 : a - b;
}

/* ---- do they overflow? */

bits model_uadd_overflows(bits a, bits b, bits width)
{
    return ((a + b) & mask(width)) < a;
}

bits model_usub_overflows(bits a, bits b, bits width)
{
    return a < b;
}

bits model_umul_overflows(bits a, bits b, bits width)
{
    return a && b > mask(width) / a;
}

bits model_sadd_overflows(bits a, bits b, bits width)
{
    bits sum = a + b;
    return ((a ^ sum) & (b ^ sum)) >> (width - 1) & 1;
}

bits model_ssub_overflows(bits a, bits b, bits width)
{
    bits difference = a - b;
    return ((a ^ b) & (a ^ difference)) >> (width - 1) & 1;
}

bits model_smul_overflows(bits a, bits b, bits width)
{
    long x = sign(a, width), y = sign(b, width);
    bits magnitude = x < 0 ? 0 - (bits)x : (bits)x, other = y < 0 ? 0 - (bits)y : (bits)y;
    bits most = (1ul << (width - 1)) - ((x < 0) == (y < 0));
    return magnitude && other > most / magnitude;
}
