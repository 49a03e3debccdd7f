/* Functions of the C library that leave results in the program's memory (wrapper/wrapped.h).
 * Without a record other threads would take these for writes by an unknown writer. */
#include <arpa/inet.h>
#include <errno.h>
#include <iconv.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "accesses/accesses.h"
#include "libc/libc.h"
#include "uninstrumented/uninstrumented.h"

enum { RANGES = 6 }; /* no function here has more */

void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memchr(const void *s, int c, size_t n);
size_t __real_strlen(const char *s);
size_t __real_strspn(const char *s, const char *set);
size_t __real_strcspn(const char *s, const char *set);
size_t __real_wcslen(const wchar_t *s);

static void text(const char *s, const void *pc)
{
    reads(s, __real_strlen(s) + 1, pc);
}

static void wide_text(const wchar_t *s, const void *pc)
{
    reads(s, (__real_wcslen(s) + 1) * sizeof *s, pc);
}

/* ---- words of a text. A write's value is read at the next hook, so the function runs before the
 * first of several writes is recorded. */

/* Looks for the end of the word at its beginning; returns where it is to be cut, NULL: the text
 * ends there. */
static char *end_of_word(char *s, const char *set, const void *pc)
{
    size_t n = __real_strcspn(s, set);
    reads(s, n + 1, pc);
    return s[n] ? s + n : NULL;
}

WRAP(char *, strtok_r, (char *s, const char *set, char **rest))
{
    ft_rt_settle(RANGES);
    text(set, CODE);
    if (!s) reads(rest, sizeof *rest, CODE);
    char *from = s ? s : *rest;
    size_t before = from ? __real_strspn(from, set) : 0;
    if (before) reads(from, before, CODE);
    char *end = from ? end_of_word(from + before, set, CODE) : NULL;
    char *got = __real_strtok_r(s, set, rest);
    if (end) writes(end, 1, CODE);
    writes(rest, sizeof *rest, CODE);
    return got;
}

WRAP(char *, strsep, (char **rest, const char *set))
{
    ft_rt_settle(RANGES);
    reads(rest, sizeof *rest, CODE);
    if (!*rest) return NULL;
    text(set, CODE);
    char *end = end_of_word(*rest, set, CODE);
    char *got = __real_strsep(rest, set);
    if (end) writes(end, 1, CODE);
    writes(rest, sizeof *rest, CODE);
    return got;
}

/* ---- bytes */

WRAP(void *, memccpy, (void *to, const void *from, int last, size_t n))
{
    ft_rt_settle(RANGES);
    const char *found = __real_memchr(from, last, n);
    size_t seen = found ? (size_t)(found - (const char *)from) + 1 : n;
    reads(from, seen, CODE);
    writes(to, seen, CODE);
    return __real_memccpy(to, from, last, n);
}

WRAP(void *, memmem, (const void *s, size_t n, const void *part, size_t size))
{
    ft_rt_settle(RANGES);
    const char *found = __real_memmem(s, n, part, size);
    reads(part, size, CODE);
    reads(s, found ? (size_t)(found - (const char *)s) + size : n, CODE);
    return (void *)(uintptr_t)found;
}

WRAP(void, explicit_bzero, (void *to, size_t n))
{
    ft_rt_settle(RANGES);
    writes(to, n, CODE);
    __real_explicit_bzero(to, n);
}

/* ---- time */

#define TELLS_TIME(result, name, parameters, arguments, from, to)                                  \
    WRAP(result, name, parameters)                                                                 \
    {                                                                                              \
        ft_rt_settle(RANGES);                                                                      \
        reads(from, sizeof *from, CODE);                                                           \
        result got = __real_##name arguments;                                                      \
        if (got) writes(to, sizeof *to, CODE);                                                     \
        return got;                                                                                \
    }
TELLS_TIME(struct tm *, gmtime_r, (const time_t *t, struct tm *to), (t, to), t, to)
TELLS_TIME(struct tm *, localtime_r, (const time_t *t, struct tm *to), (t, to), t, to)

#define PRINTS_TIME(name, type, seen)                                                              \
    WRAP(char *, name, (const type *t, char *to))                                                  \
    {                                                                                              \
        ft_rt_settle(RANGES);                                                                      \
        reads(t, seen, CODE);                                                                      \
        char *got = __real_##name(t, to);                                                          \
        if (got) writes(to, __real_strlen(to) + 1, CODE);                                          \
        return got;                                                                                \
    }
PRINTS_TIME(asctime_r, struct tm, offsetof(struct tm, tm_yday))
PRINTS_TIME(ctime_r, time_t, sizeof *t)

/* Which day of the week and of the year it is they do not ask. */
#define MAKES_TIME(name)                                                                           \
    WRAP(time_t, name, (struct tm * t))                                                            \
    {                                                                                              \
        ft_rt_settle(RANGES);                                                                      \
        reads(t, offsetof(struct tm, tm_wday), CODE);                                              \
        reads(&t->tm_isdst, sizeof t->tm_isdst, CODE);                                             \
        time_t got = __real_##name(t);                                                             \
        writes(t, sizeof *t, CODE);                                                                \
        return got;                                                                                \
    }
MAKES_TIME(mktime)
MAKES_TIME(timegm)

WRAP(size_t, strftime, (char *to, size_t room, const char *format, const struct tm *t))
{
    ft_rt_settle(RANGES);
    text(format, CODE);
    reads(t, sizeof *t, CODE);
    size_t n = __real_strftime(to, room, format, t);
    if (n) writes(to, n + 1, CODE);
    return n;
}

WRAP(char *, strptime, (const char *s, const char *format, struct tm *to))
{
    ft_rt_settle(RANGES);
    char *end = __real_strptime(s, format, to);
    text(format, CODE);
    reads(s, end ? (size_t)(end - s) + 1 : 1, CODE);
    writes(to, sizeof *to, CODE);
    return end;
}

/* ---- addresses, paths, errors */

WRAP(const char *, inet_ntop, (int family, const void *from, char *to, socklen_t room))
{
    ft_rt_settle(RANGES);
    reads(from, family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr), CODE);
    const char *got = __real_inet_ntop(family, from, to, room);
    if (got) writes(to, __real_strlen(to) + 1, CODE);
    return got;
}

WRAP(int, inet_pton, (int family, const char *from, void *to))
{
    ft_rt_settle(RANGES);
    text(from, CODE);
    int got = __real_inet_pton(family, from, to);
    size_t size = family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
    if (got == 1) writes(to, size, CODE);
    return got;
}

/* A program of plain POSIX has this one. */
WRAP(int, __xpg_strerror_r, (int number, char *to, size_t room))
{
    ft_rt_settle(RANGES);
    int got = __real___xpg_strerror_r(number, to, room);
    if (room) writes(to, __real_strlen(to) + 1, CODE);
    return got;
}

WRAP(size_t, regerror, (int error, const regex_t *r, char *to, size_t room))
{
    ft_rt_settle(RANGES);
    size_t n = __real_regerror(error, r, to, room);
    if (room) writes(to, least(n, room), CODE);
    return n;
}

WRAP(int, regcomp, (regex_t * to, const char *pattern, int flags))
{
    int got = __real_regcomp(to, pattern, flags);
    ft_rt_settle(RANGES);
    text(pattern, CODE);
    writes(to, sizeof *to, CODE);
    return got;
}

WRAP(char *, strerror_r, (int number, char *to, size_t room))
{
    ft_rt_settle(RANGES);
    char *got = __real_strerror_r(number, to, room);
    if (got == to && room) writes(to, __real_strlen(to) + 1, CODE);
    return got;
}

WRAP(int, regexec, (const regex_t *r, const char *s, size_t n, regmatch_t *to, int flags))
{
    ft_rt_settle(RANGES);
    if (!(flags & REG_STARTEND)) text(s, CODE);
    int got = __real_regexec(r, s, n, to, flags);
    if (!got && !r->no_sub && n) writes(to, n * sizeof *to, CODE);
    return got;
}

/* ---- numbers */

WRAP(int, rand_r, (unsigned *seed))
{
    ft_rt_settle(RANGES);
    reads(seed, sizeof *seed, CODE);
    writes(seed, sizeof *seed, CODE);
    return __real_rand_r(seed);
}

WRAP(double, modf, (double of, double *whole))
{
    ft_rt_settle(RANGES);
    writes(whole, sizeof *whole, CODE);
    return __real_modf(of, whole);
}

WRAP(double, frexp, (double of, int *exponent))
{
    ft_rt_settle(RANGES);
    writes(exponent, sizeof *exponent, CODE);
    return __real_frexp(of, exponent);
}

WRAP(float, modff, (float of, float *whole))
{
    ft_rt_settle(RANGES);
    writes(whole, sizeof *whole, CODE);
    return __real_modff(of, whole);
}

WRAP(float, frexpf, (float of, int *exponent))
{
    ft_rt_settle(RANGES);
    writes(exponent, sizeof *exponent, CODE);
    return __real_frexpf(of, exponent);
}

#define DRAWS(result, name)                                                                        \
    WRAP(result, name, (unsigned short seed[3]))                                                   \
    {                                                                                              \
        ft_rt_settle(RANGES);                                                                      \
        reads(seed, 3 * sizeof *seed, CODE);                                                       \
        writes(seed, 3 * sizeof *seed, CODE);                                                      \
        return __real_##name(seed);                                                                \
    }
DRAWS(double, erand48)
DRAWS(long, nrand48)
DRAWS(long, jrand48)

/* ---- tables. The comparisons are the program's own. */

WRAP(void *, lsearch,
     (const void *key, void *base, size_t *n, size_t size,
      int (*compare)(const void *, const void *)))
{
    if (!ft_rt_is_own((const void *)(uintptr_t)__real_lsearch))
        return __real_lsearch(key, base, n, size, compare);
    void *found = lfind(key, base, n, size, compare);
    if (found) return found;
    ft_rt_settle(RANGES);
    char *to = (char *)base + *n * size;
    reads(key, size, CODE);
    writes(to, size, CODE);
    __real_memcpy(to, key, size);
    writes(n, sizeof *n, CODE);
    ++*n;
    return to;
}

/* ---- from one encoding to another */

WRAP(size_t, iconv, (iconv_t how, char **from, size_t *n, char **to, size_t *room))
{
    char *first = from ? *from : NULL, *begin = to ? *to : NULL;
    ft_rt_settle(RANGES);
    size_t got = __real_iconv(how, from, n, to, room);
    int error = errno;
    if (first) reads(first, (size_t)(*from - first), CODE);
    if (begin) writes(begin, (size_t)(*to - begin), CODE);
    if (first) writes(from, sizeof *from, CODE);
    if (first) writes(n, sizeof *n, CODE);
    if (begin) writes(to, sizeof *to, CODE);
    if (begin) writes(room, sizeof *room, CODE);
    errno = error;
    return got;
}

/* ---- wide characters */

WRAP(int, mbtowc, (wchar_t * to, const char *from, size_t n))
{
    ft_rt_settle(RANGES);
    int got = __real_mbtowc(to, from, n);
    if (from && got >= 0) reads(from, got ? (size_t)got : 1, CODE);
    if (from && got >= 0 && to) writes(to, sizeof *to, CODE);
    return got;
}

WRAP(size_t, mbrtowc, (wchar_t * to, const char *from, size_t n, mbstate_t *state))
{
    ft_rt_settle(RANGES);
    size_t got = __real_mbrtowc(to, from, n, state);
    bool some = from && got <= n;
    if (some) reads(from, got ? got : 1, CODE);
    if (some && to) writes(to, sizeof *to, CODE);
    if (state) writes(state, sizeof *state, CODE);
    return got;
}

WRAP(size_t, wcrtomb, (char *to, wchar_t from, mbstate_t *state))
{
    ft_rt_settle(RANGES);
    size_t got = __real_wcrtomb(to, from, state);
    if (to && got != SIZE_MAX) writes(to, got, CODE);
    if (state) writes(state, sizeof *state, CODE);
    return got;
}

WRAP(size_t, wcslen, (const wchar_t *s))
{
    ft_rt_settle(RANGES);
    size_t n = __real_wcslen(s);
    reads(s, (n + 1) * sizeof *s, CODE);
    return n;
}

#define PARSES(result, name, parameters, arguments)                                                \
    WRAP(result, name, parameters)                                                                 \
    {                                                                                              \
        ft_rt_settle(RANGES);                                                                      \
        wchar_t *behind;                                                                           \
        result value = __real_##name arguments;                                                    \
        reads(s, (size_t)(behind - s + 1) * sizeof *s, CODE);                                      \
        if (end) {                                                                                 \
            writes(end, sizeof *end, CODE);                                                        \
            *end = behind;                                                                         \
        }                                                                                          \
        return value;                                                                              \
    }
PARSES(long, wcstol, (const wchar_t *s, wchar_t **end, int base), (s, &behind, base))
PARSES(unsigned long, wcstoul, (const wchar_t *s, wchar_t **end, int base), (s, &behind, base))
PARSES(double, wcstod, (const wchar_t *s, wchar_t **end), (s, &behind))

WRAP(wchar_t *, wcscpy, (wchar_t * to, const wchar_t *from))
{
    ft_rt_settle(RANGES);
    wide_text(from, CODE);
    writes(to, (__real_wcslen(from) + 1) * sizeof *to, CODE);
    return __real_wcscpy(to, from);
}

WRAP(wchar_t *, wcscat, (wchar_t * to, const wchar_t *from))
{
    ft_rt_settle(RANGES);
    wide_text(to, CODE);
    wide_text(from, CODE);
    writes(to + __real_wcslen(to), (__real_wcslen(from) + 1) * sizeof *to, CODE);
    return __real_wcscat(to, from);
}

WRAP(wchar_t *, wmemcpy, (wchar_t * to, const wchar_t *from, size_t n))
{
    ft_rt_settle(RANGES);
    reads(from, n * sizeof *from, CODE);
    writes(to, n * sizeof *to, CODE);
    return __real_wmemcpy(to, from, n);
}

WRAP(int, vswprintf, (wchar_t * to, size_t room, const wchar_t *format, va_list arguments))
{
    ft_rt_settle(RANGES);
    int n = __real_vswprintf(to, room, format, arguments);
    if (n >= 0) writes(to, ((size_t)n + 1) * sizeof *to, CODE);
    return n;
}

WRAP(int, swprintf, (wchar_t * to, size_t room, const wchar_t *format, ...))
{
    va_list arguments;
    va_start(arguments, format);
    ft_rt_settle(RANGES);
    int n = __real_vswprintf(to, room, format, arguments);
    if (n >= 0) writes(to, ((size_t)n + 1) * sizeof *to, CODE);
    va_end(arguments);
    return n;
}

WRAP(size_t, mbstowcs, (wchar_t * to, const char *from, size_t room))
{
    ft_rt_settle(RANGES);
    text(from, CODE);
    size_t n = __real_mbstowcs(to, from, room);
    if (to && n != SIZE_MAX) writes(to, least(n + 1, room) * sizeof *to, CODE);
    return n;
}

WRAP(size_t, wcstombs, (char *to, const wchar_t *from, size_t room))
{
    ft_rt_settle(RANGES);
    wide_text(from, CODE);
    size_t n = __real_wcstombs(to, from, room);
    if (to && n != SIZE_MAX) writes(to, least(n + 1, room), CODE);
    return n;
}
