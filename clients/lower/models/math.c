/* Functions of <math.h> whose results are exact, or rounded once: by their bits, so that they are
 * those of the processor. */
#include "foretell.h"

typedef unsigned long bits;

enum { FRACTION = 52, BIAS = 1023, MOST_EXPONENT = 2047 };
static const bits SIGN = 1ul << 63, HIDDEN = 1ul << FRACTION;

static bits bits_of(double x)
{
    bits b;
    __builtin_memcpy(&b, &x, sizeof b);
    return b;
}

static double double_of(bits b)
{
    double x;
    __builtin_memcpy(&x, &b, sizeof x);
    return x;
}

static int exponent_of(bits b)
{
    return (int)(b >> FRACTION & MOST_EXPONENT);
}

static int is_nan(double x)
{
    return x != x;
}

static int is_infinite(double x)
{
    return (bits_of(x) & ~SIGN) == (bits)MOST_EXPONENT << FRACTION;
}

/* ---- whole numbers ---- */

double trunc(double x)
{
    bits b = bits_of(x);
    int whole = exponent_of(b) - BIAS; /* bits of the fraction that count */
    if (whole < 0) return double_of(b & SIGN);
    if (whole >= FRACTION) return x;
    return double_of(b & ~((HIDDEN >> whole) - 1));
}

double floor(double x)
{
    double t = trunc(x);
    return t > x ? t - 1 : t;
}

double ceil(double x)
{
    double t = trunc(x);
    return t < x ? t + 1 : t;
}

double round(double x)
{
    double t = trunc(x), rest = x - t;
    if (rest >= 0.5) return t + 1;
    if (rest <= -0.5) return t - 1;
    return t;
}

/* ---- signs and comparisons ---- */

double fabs(double x)
{
    return double_of(bits_of(x) & ~SIGN);
}

double copysign(double x, double sign)
{
    return double_of((bits_of(x) & ~SIGN) | (bits_of(sign) & SIGN));
}

double fmin(double a, double b)
{
    if (is_nan(a)) return b;
    return b < a ? b : a;
}

double fmax(double a, double b)
{
    if (is_nan(a)) return b;
    return b > a ? b : a;
}

/* ---- rests and roots ---- */

/* The mantissa of a finite number that is not 0, with its first bit at FRACTION, and the exponent
 * of its last one. */
static bits mantissa_of(bits b, int *exponent)
{
    bits m = b & (HIDDEN - 1);
    int e = exponent_of(b);
    if (e)
        m |= HIDDEN;
    else
        for (e = 1; !(m & HIDDEN); e--) m <<= 1;
    *exponent = e - BIAS - FRACTION;
    return m;
}

/* m * 2^exponent, which a double has exactly. */
static double scaled(bits m, int exponent, bits sign)
{
    int e = exponent + BIAS + FRACTION;
    if (!m) return double_of(sign);
    while (!(m & HIDDEN)) m <<= 1, e--;
    for (; e < 1; e++) m >>= 1;
    return double_of(sign | (m & HIDDEN ? (bits)e << FRACTION : 0) | (m & (HIDDEN - 1)));
}

double fmod(double x, double y)
{
    if (is_nan(x) || is_nan(y) || is_infinite(x) || y == 0) return (x * y) / (x * y);
    if (is_infinite(y) || x == 0) return x;
    int ex, ey;
    bits m = mantissa_of(bits_of(x), &ex), by = mantissa_of(bits_of(y), &ey);
    if (ex < ey) return x;
    for (;; ex--, m <<= 1) {
        if (m >= by) m -= by;
        if (ex == ey || !m) break;
    }
    return scaled(m, ey, bits_of(x) & SIGN);
}

/* Bit by bit: two bits of the radicand for one of the root, and one more to round by. */
double sqrt(double x)
{
    if (is_nan(x) || x == 0 || (is_infinite(x) && x > 0)) return x;
    if (x < 0) return (x - x) / (x - x);
    int exponent;
    bits m = mantissa_of(bits_of(x), &exponent), root = 0, rest = 0;
    if (exponent & 1) m <<= 1, exponent--;
    enum { ROOT_BITS = FRACTION + 2, RADICAND_BITS = FRACTION + 2 };
    for (int i = 0; i < ROOT_BITS; i++) {
        int at = RADICAND_BITS - 2 - 2 * i; /* behind the last bit there are zeros */
        rest = rest << 2 | (at >= 0 ? m >> at & 3 : 0);
        bits taken = root << 2 | 1;
        root <<= 1;
        if (rest >= taken) rest -= taken, root |= 1;
    }
    root = (root + 1) >> 1; /* the last bit and a rest are never exactly a half */
    return scaled(root, (exponent - FRACTION) / 2, 0);
}

/* ---- float: each result of a double's function is a float, or is rounded once more without harm
 */

float truncf(float x)
{
    return (float)trunc(x);
}
float floorf(float x)
{
    return (float)floor(x);
}
float ceilf(float x)
{
    return (float)ceil(x);
}
float roundf(float x)
{
    return (float)round(x);
}
float fabsf(float x)
{
    return (float)fabs(x);
}
float copysignf(float x, float sign)
{
    return (float)copysign(x, sign);
}
float fminf(float a, float b)
{
    return (float)fmin(a, b);
}
float fmaxf(float a, float b)
{
    return (float)fmax(a, b);
}
float fmodf(float x, float y)
{
    return (float)fmod(x, y);
}
float sqrtf(float x)
{
    return (float)sqrt(x);
}
