/* The decimal digits of a double, all of them: what printf's %f, %e and %g are made of. */
#ifndef FT_MODELS_DECIMAL_H
#define FT_MODELS_DECIMAL_H

/* A double is a sum of powers of two, so its expansion ends: at most 309 digits stand before the
 * point and 1,074 behind it. `room` is of limbs with nine digits each. */
enum { DECIMAL_WHOLE = 36, DECIMAL_LIMBS = DECIMAL_WHOLE + 120, DECIMAL_ROOM = 9 * DECIMAL_LIMBS };

typedef struct decimal {
    char digits[DECIMAL_ROOM + 1]; /* '0' to '9'; the first is not 0, unless the number is */
    int n;
    int point; /* how many of them stand before the point; may be negative */
} decimal;

/* The magnitude of a finite double, by its bits. */
void model_decimal(unsigned long bits, decimal *to);
/* Keeps that many digits, 0 and less included: rounded to nearest, halves to even. */
void model_decimal_round(decimal *d, int kept);

#endif
