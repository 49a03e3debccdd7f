/* Printing, and reading of text by format. A stream is its descriptor. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"
#include "foretell.h"

FILE *stdin = (FILE *)0;
FILE *stdout = (FILE *)1;
FILE *stderr = (FILE *)2;

typedef struct sink {
    int descriptor;
    char *to;
    size_t most, n;
} sink;

static void put_bytes(sink *s, const char *bytes, size_t n)
{
    if (!s->to) __foretell_output(s->descriptor, bytes, n);
    for (size_t i = 0; s->to && i < n; i++)
        if (s->n + i + 1 < s->most) s->to[s->n + i] = bytes[i];
    s->n += n;
}

static void put_times(sink *s, char c, int n)
{
    for (; n > 0; n--) put_bytes(s, &c, 1);
}

typedef struct format {
    int left, zero, plus, space, alternate, width, precision, bytes;
} format;

static const char *read_format(const char *t, format *f, const unsigned long **arguments)
{
    for (;; t++) {
        if (*t == '-')
            f->left = 1;
        else if (*t == '0')
            f->zero = 1;
        else if (*t == '+')
            f->plus = 1;
        else if (*t == ' ')
            f->space = 1;
        else if (*t == '#')
            f->alternate = 1;
        else
            break;
    }
    if (*t == '*') {
        f->width = (int)*(*arguments)++;
        if (f->width < 0) f->left = 1, f->width = -f->width;
        t++;
    }
    for (; *t >= '0' && *t <= '9'; t++) f->width = f->width * 10 + (*t - '0');
    f->precision = -1;
    if (*t == '.') {
        f->precision = 0;
        if (*++t == '*') f->precision = (int)*(*arguments)++, t++;
        for (; *t >= '0' && *t <= '9'; t++) f->precision = f->precision * 10 + (*t - '0');
    }
    f->bytes = 4;
    for (;; t++) {
        if (*t == 'l' || *t == 'z' || *t == 'j' || *t == 't')
            f->bytes = 8;
        else if (*t == 'h')
            f->bytes = f->bytes == 2 ? 1 : 2;
        else
            return t;
    }
}

static void put_padded(sink *s, const format *f, const char *sign, const char *digits, int n)
{
    int signs = (int)strlen(sign), zeros = f->precision > n ? f->precision - n : 0;
    int room = f->width - signs - zeros - n;
    int fills = f->zero && !f->left && f->precision < 0;
    if (!f->left && !fills) put_times(s, ' ', room);
    put_bytes(s, sign, (size_t)signs);
    if (fills) put_times(s, '0', room);
    put_times(s, '0', zeros);
    put_bytes(s, digits, (size_t)n);
    if (f->left) put_times(s, ' ', room);
}

/* Digits are counted by comparing with powers, and written without a branch: if inputs decide the
 * value, comparisons are easy questions for the solver, and quotients are not. */
static int count_digits(unsigned long value, unsigned base)
{
    int n = 1;
    for (unsigned long power = base; value >= power; power *= base) {
        n++;
        if (power > (unsigned long)-1 / base) break;
    }
    return n;
}

static void put_number(sink *s, const format *f, unsigned long value, unsigned base, int upper,
                       const char *sign)
{
    char digits[24];
    int n = f->precision == 0 && !value ? 0 : count_digits(value, base);
    for (int i = n - 1; i >= 0; i--) {
        unsigned d = (unsigned)(value % base);
        digits[i] =
            (char)('0' + d + (unsigned)(d > 9) * (unsigned)((upper ? 'A' : 'a') - 10 - '0'));
        value /= base;
    }
    put_padded(s, f, sign, digits, n);
}

/* The 0 that %#o asks for is a digit: the precision counts it. */
static void put_octal(sink *s, const format *f, unsigned long value)
{
    int n = value ? count_digits(value, 8) : 0;
    int leads = f->alternate && f->precision <= n && (value || !f->precision);
    put_number(s, f, value, 8, 0, leads ? "0" : "");
}

static unsigned long cut(unsigned long value, int bytes, int sign)
{
    int shift = 64 - 8 * bytes;
    return sign ? (unsigned long)((long)(value << shift) >> shift) : value << shift >> shift;
}

static void put_signed(sink *s, const format *f, unsigned long argument)
{
    long value = (long)cut(argument, f->bytes, 1);
    const char *sign = value < 0 ? "-" : f->plus ? "+" : f->space ? " " : "";
    put_number(s, f, value < 0 ? 0 - (unsigned long)value : (unsigned long)value, 10, 0, sign);
}

static void put_text(sink *s, const format *f, const char *text)
{
    if (!text) text = f->precision >= 0 && f->precision < 6 ? "" : "(null)"; /* as glibc does */
    size_t n = f->precision >= 0 ? strnlen(text, (size_t)f->precision) : strlen(text);
    if (!f->left) put_times(s, ' ', f->width - (int)n);
    put_bytes(s, text, n);
    if (f->left) put_times(s, ' ', f->width - (int)n);
}

/* A number in decimal: digits of `d` before the point and behind it, zeros that it does not have,
 * and what follows. */
typedef struct decimal_text {
    const decimal *d;
    int whole;              /* digits before the point, those that `d` does not have are 0 */
    int part, leads, taken; /* behind it: all, zeros at their beginning, and those of `d` */
    char exponent[6];
} decimal_text;

static void put_decimal(sink *s, const format *f, const char *sign, const decimal_text *t)
{
    const decimal *d = t->d;
    int point = t->part > 0 || f->alternate, from = t->whole < d->n ? t->whole : d->n;
    int signs = (int)strlen(sign), exponent = (int)strlen(t->exponent);
    int whole = t->whole > 0 ? t->whole : 1;
    int room = f->width - signs - whole - point - t->part - exponent;
    int fills = f->zero && !f->left;
    if (from < 0) from = 0;
    if (!f->left && !fills) put_times(s, ' ', room);
    put_bytes(s, sign, (size_t)signs);
    if (fills) put_times(s, '0', room);
    put_bytes(s, d->digits, (size_t)from);
    put_times(s, '0', whole - from);
    if (point) put_bytes(s, ".", 1);
    put_times(s, '0', t->leads);
    put_bytes(s, d->digits + from, (size_t)t->taken);
    put_times(s, '0', t->part - t->leads - t->taken);
    put_bytes(s, t->exponent, (size_t)exponent);
    if (f->left) put_times(s, ' ', room);
}

static void write_exponent(char *to, int value, int upper)
{
    int n = 0, size = value < 0 ? -value : value;
    to[n++] = upper ? 'E' : 'e';
    to[n++] = value < 0 ? '-' : '+';
    if (size >= 100) to[n++] = (char)('0' + size / 100);
    to[n++] = (char)('0' + size / 10 % 10);
    to[n++] = (char)('0' + size % 10);
    to[n] = '\0';
}

/* The part has `part` digits: as many of the number's as there are. */
static void take_part(decimal_text *t, int part)
{
    int left = t->d->n - (t->whole > 0 ? t->whole : 0);
    t->part = part;
    t->leads = t->whole < 0 ? -t->whole : 0;
    if (t->leads > part) t->leads = part;
    t->taken = part - t->leads;
    if (t->taken > left) t->taken = left > 0 ? left : 0;
}

static int is_zero(const decimal *d)
{
    return d->digits[0] == '0';
}

/* %f, %e and %g, exactly. */
static void put_finite(sink *s, const format *f, char kind, unsigned long bits, const char *sign)
{
    int upper = kind < 'a', form = kind | 32, precision = f->precision < 0 ? 6 : f->precision;
    decimal d;
    decimal_text t = {.d = &d};
    model_decimal(bits, &d);
    if (form == 'g' && !precision) precision = 1;
    if (form == 'f')
        model_decimal_round(&d, d.point + precision);
    else
        model_decimal_round(&d, form == 'e' ? precision + 1 : precision);
    int exponent = is_zero(&d) ? 0 : d.point - 1, plain = form == 'f';
    if (form == 'g') {
        plain = exponent >= -4 && exponent < precision;
        precision = plain ? precision - 1 - exponent : precision - 1;
    }
    t.whole = plain ? d.point : 1;
    if (!plain) write_exponent(t.exponent, exponent, upper);
    if (form == 'g' && !f->alternate) {
        while (d.n > 1 && d.digits[d.n - 1] == '0') d.n--;
        int shown = d.n - t.whole;
        if (is_zero(&d) || shown < 0) shown = 0;
        if (precision > shown) precision = shown;
    }
    take_part(&t, precision);
    put_decimal(s, f, sign, &t);
}

static void put_float(sink *s, const format *f, char kind, unsigned long bits)
{
    unsigned long magnitude = bits << 1 >> 1, infinite = 2047ul << 52;
    const char *sign = bits >> 63 ? "-" : f->plus ? "+" : f->space ? " " : "";
    if (magnitude < infinite) {
        put_finite(s, f, kind, magnitude, sign);
        return;
    }
    format text = *f;
    text.zero = 0;
    text.precision = -1;
    const char *word = magnitude > infinite ? "nannNAN" : "infiINF";
    put_padded(s, &text, sign, kind < 'a' ? word + 4 : word, 3);
}

static void put_one(sink *s, char kind, const format *f, unsigned long argument)
{
    format pointer = {.bytes = 8, .width = f->width, .left = f->left, .precision = -1};
    format character = {.width = f->width, .left = f->left, .precision = -1};
    char c = (char)argument;
    unsigned long value = cut(argument, f->bytes, 0);
    switch (kind) {
    case 'd':
    case 'i':
        put_signed(s, f, argument);
        break;
    case 'u':
        put_number(s, f, value, 10, 0, "");
        break;
    case 'x':
        put_number(s, f, value, 16, 0, f->alternate && value ? "0x" : "");
        break;
    case 'X':
        put_number(s, f, value, 16, 1, f->alternate && value ? "0X" : "");
        break;
    case 'o':
        put_octal(s, f, value);
        break;
    case 'p':
        if (argument)
            put_number(s, &pointer, argument, 16, 0, "0x");
        else
            put_text(s, &pointer, "(nil)");
        break;
    case 'f':
    case 'e':
    case 'g':
    case 'F':
    case 'E':
    case 'G':
        put_float(s, f, kind, argument);
        break;
    case 's':
        put_text(s, f, (const char *)argument);
        break;
    case 'c':
        put_padded(s, &character, "", &c, 1);
        break;
    default:
        put_bytes(s, &kind, 1);
    }
}

static int print_to(sink *s, const char *t, const unsigned long *arguments)
{
    while (*t) {
        size_t plain = 0;
        while (t[plain] && t[plain] != '%') plain++;
        if (plain) put_bytes(s, t, plain);
        t += plain;
        if (!*t) break;
        if (*++t == '%') {
            put_bytes(s, t++, 1);
            continue;
        }
        format f = {0};
        t = read_format(t, &f, &arguments);
        put_one(s, *t++, &f, *arguments++);
    }
    return (int)s->n;
}

int __foretell_print(long descriptor, const char *text, const unsigned long *arguments)
{
    sink s = {.descriptor = (int)descriptor};
    return print_to(&s, text, arguments);
}

int __foretell_format_most(char *to, size_t most, const char *text, const unsigned long *arguments)
{
    char none[1];
    sink s = {.to = to ? to : none, .most = to ? most : 0};
    print_to(&s, text, arguments);
    if (s.most) s.to[s.n < s.most ? s.n : s.most - 1] = '\0';
    return (int)s.n;
}

int __foretell_format(char *to, const char *text, const unsigned long *arguments)
{
    return __foretell_format_most(to, SIZE_MAX, text, arguments);
}

/* asprintf */
int __foretell_format_new(char **to, const char *text, const unsigned long *arguments)
{
    int n = __foretell_format_most(NULL, 0, text, arguments);
    *to = __foretell_alloc((size_t)n + 1);
    return __foretell_format(*to, text, arguments);
}

static int descriptor_of(FILE *stream)
{
    return (int)(long)stream;
}

int fputs(const char *text, FILE *stream)
{
    __foretell_output(descriptor_of(stream), text, strlen(text));
    return 1;
}

int puts(const char *text)
{
    fputs(text, stdout);
    fputs("\n", stdout);
    return 1;
}

int fputc(int c, FILE *stream)
{
    char byte = (char)c;
    __foretell_output(descriptor_of(stream), &byte, 1);
    return (unsigned char)c;
}

#undef putc
#undef putchar
int putc(int c, FILE *stream)
{
    return fputc(c, stream);
}

int putchar(int c)
{
    return fputc(c, stdout);
}

size_t fwrite(const void *bytes, size_t size, size_t n, FILE *stream)
{
    __foretell_output(descriptor_of(stream), bytes, size * n);
    return size ? n : 0;
}

ssize_t write(int descriptor, const void *bytes, size_t n)
{
    __foretell_output(descriptor, bytes, n);
    return (ssize_t)n;
}

int fflush(FILE *stream)
{
    (void)stream;
    return 0;
}

int setvbuf(FILE *stream, char *buffer, int mode, size_t size)
{
    (void)stream, (void)buffer, (void)mode, (void)size;
    return 0;
}

void perror(const char *text)
{
    fputs(text, stderr);
    fputs(": error\n", stderr);
}

/* ---- reading: sscanf, with numbers, characters and words */

static int is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void put_scanned(void *to, unsigned long value, int bytes)
{
    __foretell_copy(to, &value, (size_t)bytes);
}

static int scan_number(const char **at, char kind, int bytes, void *to)
{
    char *end;
    int base = kind == 'x' ? 16 : kind == 'i' ? 0 : 10;
    int sign = kind == 'd' || kind == 'i';
    unsigned long value = sign ? (unsigned long)strtol(*at, &end, base) : strtoul(*at, &end, base);
    if (end == *at) return 0;
    put_scanned(to, value, bytes);
    *at = end;
    return 1;
}

static int scan_word(const char **at, char *to)
{
    size_t n = 0;
    while ((*at)[n] && !is_blank((*at)[n])) n++;
    if (!n) return 0;
    for (size_t i = 0; i < n; i++) to[i] = (*at)[i];
    to[n] = '\0';
    *at += n;
    return 1;
}

int __foretell_scan(const char *text, const char *format, const unsigned long *arguments)
{
    int read = 0;
    const char *at = text;
    for (const char *f = format; *f; f++) {
        int bytes = 4, done;
        int percent = f[0] == '%' && f[1] == '%';
        if (percent || is_blank(*f))
            while (is_blank(*at)) at++;
        if (is_blank(*f)) continue;
        if (percent || *f != '%') {
            f += percent;
            if (!*at) return read ? read : EOF;
            if (*at++ != *f) return read;
            continue;
        }
        for (f++; *f == 'l' || *f == 'h' || *f == 'z'; f++) bytes = *f == 'h' ? bytes / 2 : 8;
        if (*f != 'c')
            while (is_blank(*at)) at++;
        if (!*at) return read ? read : EOF;
        void *to = (void *)arguments[read];
        if (*f == 'c')
            *(char *)to = *at++, done = 1;
        else if (*f == 's')
            done = scan_word(&at, to);
        else
            done = scan_number(&at, *f, bytes, to);
        if (!done) return read;
        read++;
    }
    return read;
}

/* For programs that take its address, as std::to_string does: a call of it is lowered to the model
 * that has the arguments as an array (call.c), and so is this one. */
int vsnprintf(char *to, size_t most, const char *format, va_list list)
{
    return vsnprintf(to, most, format, list);
}
