/* Decimal digits of doubles, by long arithmetic in base 10^9. */
#include "decimal.h"

enum { BASE = 1000000000, LIMB_DIGITS = 9 };
/* By how much a limb can be multiplied, and divided without a rest that is not whole, at once. */
enum { MOST_DOUBLINGS = 29, MOST_HALVINGS = 9 };

typedef struct number {
    unsigned limbs[DECIMAL_LIMBS]; /* the most significant first */
    int first, end;                /* those of them that may not be 0 */
} number;

static void multiply(number *x, int by)
{
    unsigned long carry = 0;
    for (int i = x->end - 1; i >= x->first; i--) {
        unsigned long v = ((unsigned long)x->limbs[i] << by) + carry;
        x->limbs[i] = (unsigned)(v % BASE);
        carry = v / BASE;
    }
    if (carry) x->limbs[--x->first] = (unsigned)carry;
}

static void divide(number *x, int by)
{
    unsigned rest = 0, unit = (unsigned)BASE >> by;
    for (int i = x->first; i < x->end; i++) {
        unsigned v = x->limbs[i];
        x->limbs[i] = (v >> by) + rest;
        rest = (v & ((1u << by) - 1)) * unit;
    }
    if (rest) x->limbs[x->end++] = rest;
    if (!x->limbs[x->first] && x->first + 1 < x->end) x->first++;
}

static void put_digits(const number *x, decimal *to)
{
    int skips = 1;
    to->n = 0;
    to->point = (DECIMAL_WHOLE - x->first) * LIMB_DIGITS;
    for (int i = x->first; i < x->end || i < DECIMAL_WHOLE; i++) {
        unsigned limb = i < x->end ? x->limbs[i] : 0;
        for (unsigned unit = BASE / 10; unit; unit /= 10) {
            char digit = (char)('0' + limb / unit % 10);
            if (skips && digit == '0') {
                to->point--;
                continue;
            }
            skips = 0;
            to->digits[to->n++] = digit;
        }
    }
    if (skips) to->digits[to->n++] = '0', to->point = 1;
}

void model_decimal(unsigned long bits, decimal *to)
{
    number x;
    int exponent = (int)(bits >> 52 & 2047);
    unsigned long mantissa = bits & ((1ul << 52) - 1);
    if (exponent)
        mantissa |= 1ul << 52;
    else
        exponent = 1;
    exponent -= 1075;
    x.first = DECIMAL_WHOLE - 2;
    x.end = DECIMAL_WHOLE;
    x.limbs[x.first] = (unsigned)(mantissa / BASE);
    x.limbs[x.first + 1] = (unsigned)(mantissa % BASE);
    for (int by; exponent > 0; exponent -= by) {
        by = exponent < MOST_DOUBLINGS ? exponent : MOST_DOUBLINGS;
        multiply(&x, by);
    }
    for (int by; exponent < 0; exponent += by) {
        by = -exponent < MOST_HALVINGS ? -exponent : MOST_HALVINGS;
        divide(&x, by);
    }
    put_digits(&x, to);
}

/* Is the part that goes more than half of the last digit that stays, or half of an odd one? */
static int goes_up(const decimal *d, int kept)
{
    if (kept < 0 || kept >= d->n) return 0;
    if (d->digits[kept] != '5') return d->digits[kept] > '5';
    for (int i = kept + 1; i < d->n; i++)
        if (d->digits[i] != '0') return 1;
    return kept > 0 && (d->digits[kept - 1] & 1);
}

void model_decimal_round(decimal *d, int kept)
{
    int up = goes_up(d, kept);
    if (kept >= d->n) return;
    d->n = kept > 0 ? kept : 0;
    for (int i = d->n; up && i-- > 0;) {
        up = d->digits[i] == '9';
        d->digits[i] = up ? '0' : (char)(d->digits[i] + 1);
    }
    if (!up && d->n) return;
    /* All nines, which are zeros now, or nothing is left. */
    for (int i = d->n; i-- > 0;) d->digits[i + 1] = d->digits[i];
    d->digits[0] = up ? '1' : '0';
    d->n++;
    d->point = up ? d->point + 1 : 1;
}
