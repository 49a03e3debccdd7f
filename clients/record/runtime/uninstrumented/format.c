/* printf and its family. The C library reads the texts among their arguments without hooks, so each
 * is recorded here before the call. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "accesses/accesses.h"
#include "libc/libc.h"
#include "memory/memory.h"
#include "uninstrumented/uninstrumented.h"

size_t __real_wcslen(const wchar_t *s);
size_t __real_strlen(const char *s);
size_t __real_strnlen(const char *s, size_t most);
int __real_vsnprintf(char *to, size_t room, const char *format, va_list arguments);
int __real_vfprintf(FILE *to, const char *format, va_list arguments);
int __real_vdprintf(int to, const char *format, va_list arguments);

typedef struct directives {
    const char *at; /* in the format */
    va_list arguments;
} directives;

typedef struct directive {
    long most;  /* bytes of a text, -1: all of it */
    int longer; /* 1 after "l" and the like, 2 after "L" */
    char what;
} directive;

/* Digits, or "*" for an argument. */
static long number(directives *d)
{
    long n = 0;
    if (*d->at == '*') {
        d->at++;
        return va_arg(d->arguments, int);
    }
    while (*d->at >= '0' && *d->at <= '9') n = n * 10 + (*d->at++ - '0');
    return n;
}

static int longer(directives *d)
{
    int most = 0;
    for (; *d->at && strchr("hlqLjzZt", *d->at); d->at++) {
        if (*d->at == 'L') most = 2;
        if (*d->at != 'L' && *d->at != 'h') most = 1;
    }
    return most;
}

/* The next one; false: there is none, or arguments are numbered. */
static bool next(directives *d, directive *one)
{
    d->at = strchr(d->at, '%');
    if (!d->at) return false;
    d->at++;
    d->at += strspn(d->at, "-+ #0'I");
    number(d);
    if (*d->at == '$') return false;
    one->most = -1;
    if (*d->at == '.') {
        d->at++;
        one->most = number(d);
    }
    one->longer = longer(d);
    one->what = *d->at;
    if (one->what) d->at++;
    return one->what;
}

/* The argument of any directive but a text; false: it is none that is known. */
static bool pass(directives *d, const directive *one)
{
    if (one->what == 'm' || one->what == '%') return true;
    if (strchr("eEfFgGaA", one->what)) {
        if (one->longer == 2)
            (void)va_arg(d->arguments, long double);
        else
            (void)va_arg(d->arguments, double);
    } else if (strchr("diouxXcC", one->what)) {
        if (one->longer)
            (void)va_arg(d->arguments, long);
        else
            (void)va_arg(d->arguments, int);
    } else if (strchr("pn", one->what)) {
        (void)va_arg(d->arguments, void *);
    } else {
        return false;
    }
    return true;
}

static void read_text(const void *text, const directive *one, const void *pc)
{
    if (!text) return;
    if (one->what == 'S' || one->longer) {
        if (one->most < 0) reads(text, (__real_wcslen(text) + 1) * sizeof(wchar_t), pc);
        return;
    }
    size_t most = (size_t)one->most;
    size_t seen = one->most < 0 ? __real_strlen(text) + 1 : __real_strnlen(text, most);
    reads(text, one->most < 0 ? seen : least(seen + 1, most), pc);
}

static uint32_t count_texts(const char *format)
{
    uint32_t n = 0;
    for (; (format = strchr(format, '%')); format++) n++;
    return n;
}

/* Reads the texts; no other thread runs until they are printed. */
static void read_texts(const char *format, va_list arguments, const void *pc)
{
    enum { OTHERS = 4 };
    directives d = {.at = format};
    directive one;
    if (!is_programs() || !format) return;
    ft_rt_settle(OTHERS + count_texts(format));
    va_copy(d.arguments, arguments);
    while (next(&d, &one)) {
        if (one.what == 's' || one.what == 'S')
            read_text(va_arg(d.arguments, const void *), &one, pc);
        else if (!pass(&d, &one))
            break;
    }
    va_end(d.arguments);
}

/* ---- into memory */

static int printed(char *to, size_t room, const char *format, va_list arguments, const void *pc)
{
    read_texts(format, arguments, pc);
    int n = __real_vsnprintf(to, room, format, arguments);
    size_t all = n >= 0 ? (size_t)n + 1 : 0;
    if (to) writes(to, least(all, room), pc);
    return n;
}

WRAP(int, vsnprintf, (char *to, size_t room, const char *format, va_list arguments))
{
    return printed(to, room, format, arguments, CODE);
}

WRAP(int, vsprintf, (char *to, const char *format, va_list arguments))
{
    return printed(to, SIZE_MAX, format, arguments, CODE);
}

WRAP(int, snprintf, (char *to, size_t room, const char *format, ...))
{
    va_list arguments;
    va_start(arguments, format);
    int n = printed(to, room, format, arguments, CODE);
    va_end(arguments);
    return n;
}

WRAP(int, sprintf, (char *to, const char *format, ...))
{
    va_list arguments;
    va_start(arguments, format);
    int n = printed(to, SIZE_MAX, format, arguments, CODE);
    va_end(arguments);
    return n;
}

/* ---- into memory of their own */

static int printed_anew(char **to, const char *format, va_list arguments, const void *pc)
{
    va_list again;
    va_copy(again, arguments);
    int n = __real_vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t room = (size_t)n + 1;
    char *made = n < 0 ? NULL : ft_rt_given(ft_rt_libc()->malloc(room), room, pc);
    if (!made) return -1;
    printed(made, room, format, arguments, pc);
    writes(to, sizeof *to, pc);
    *to = made;
    return n;
}

WRAP(int, vasprintf, (char **to, const char *format, va_list arguments))
{
    return printed_anew(to, format, arguments, CODE);
}

WRAP(int, asprintf, (char **to, const char *format, ...))
{
    va_list arguments;
    va_start(arguments, format);
    int n = printed_anew(to, format, arguments, CODE);
    va_end(arguments);
    return n;
}

/* ---- into streams */

WRAP(int, vfprintf, (FILE * to, const char *format, va_list arguments))
{
    read_texts(format, arguments, CODE);
    return __real_vfprintf(to, format, arguments);
}

WRAP(int, vprintf, (const char *format, va_list arguments))
{
    read_texts(format, arguments, CODE);
    return __real_vfprintf(stdout, format, arguments);
}

WRAP(int, vdprintf, (int to, const char *format, va_list arguments))
{
    read_texts(format, arguments, CODE);
    return __real_vdprintf(to, format, arguments);
}

WRAP(int, fprintf, (FILE * to, const char *format, ...))
{
    va_list arguments;
    va_start(arguments, format);
    read_texts(format, arguments, CODE);
    int n = __real_vfprintf(to, format, arguments);
    va_end(arguments);
    return n;
}

WRAP(int, printf, (const char *format, ...))
{
    va_list arguments;
    va_start(arguments, format);
    read_texts(format, arguments, CODE);
    int n = __real_vfprintf(stdout, format, arguments);
    va_end(arguments);
    return n;
}

WRAP(int, dprintf, (int to, const char *format, ...))
{
    va_list arguments;
    va_start(arguments, format);
    read_texts(format, arguments, CODE);
    int n = __real_vdprintf(to, format, arguments);
    va_end(arguments);
    return n;
}
