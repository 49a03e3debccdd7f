/* String and memory functions of the C library: the program's own calls are linked to these
 * (--wrap, list in wrapper/wrapped.h). Each records as much as the function needs to look at, and
 * no more. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "accesses/accesses.h"
#include "libc/libc.h"
#include "memory/memory.h"
#include "uninstrumented/uninstrumented.h"

void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__real_memset(void *to, int byte, size_t n);
size_t __real_strlen(const char *s);
size_t __real_strnlen(const char *s, size_t most);
long __real_strtol(const char *s, char **end, int base);

/* No function here has more than four. */
static void settle(void)
{
    ft_rt_settle(4);
}

static void text(const char *s, const void *pc)
{
    reads(s, __real_strlen(s) + 1, pc);
}

/* As far as a search in at most n bytes looks. */
static void up_to(const void *s, const void *found, size_t n, const void *pc)
{
    reads(s, found ? (size_t)((const char *)found - (const char *)s) + 1 : n, pc);
}

static size_t same(const char *a, const char *b, size_t most, bool stops)
{
    size_t i = 0;
    while (i < most && a[i] == b[i] && !(stops && !a[i])) i++;
    return i < most ? i + 1 : most;
}

static size_t alike(const char *a, const char *b, size_t most)
{
    size_t i = 0;
    while (i < most && tolower((unsigned char)a[i]) == tolower((unsigned char)b[i]) && a[i]) i++;
    return i < most ? i + 1 : most;
}

/* ---- bytes */

WRAP(int, memcmp, (const void *a, const void *b, size_t n))
{
    settle();
    size_t seen = same(a, b, n, false);
    reads(a, seen, CODE);
    reads(b, seen, CODE);
    return __real_memcmp(a, b, n);
}

WRAP(int, bcmp, (const void *a, const void *b, size_t n))
{
    settle();
    size_t seen = same(a, b, n, false);
    reads(a, seen, CODE);
    reads(b, seen, CODE);
    return __real_memcmp(a, b, n);
}

WRAP(void *, memchr, (const void *s, int c, size_t n))
{
    settle();
    void *found = __real_memchr(s, c, n);
    up_to(s, found, n, CODE);
    return found;
}

WRAP(void *, memrchr, (const void *s, int c, size_t n))
{
    settle();
    const char *found = __real_memrchr(s, c, n);
    const char *from = found ? found : s;
    reads(from, n - (size_t)(from - (const char *)s), CODE);
    return (void *)(uintptr_t)found;
}

WRAP(void *, mempcpy, (void *to, const void *from, size_t n))
{
    settle();
    reads(from, n, CODE);
    writes(to, n, CODE);
    return __real_mempcpy(to, from, n);
}

WRAP(void, bcopy, (const void *from, void *to, size_t n))
{
    settle();
    reads(from, n, CODE);
    writes(to, n, CODE);
    __real_memmove(to, from, n);
}

WRAP(void, bzero, (void *to, size_t n))
{
    settle();
    writes(to, n, CODE);
    __real_memset(to, 0, n);
}

/* ---- texts that are read */

WRAP(size_t, strlen, (const char *s))
{
    settle();
    size_t n = __real_strlen(s);
    reads(s, n + 1, CODE);
    return n;
}

WRAP(size_t, strnlen, (const char *s, size_t most))
{
    settle();
    size_t n = __real_strnlen(s, most);
    reads(s, least(n + 1, most), CODE);
    return n;
}

#define COMPARES(name, parameters, arguments, seen)                                                \
    WRAP(int, name, parameters)                                                                    \
    {                                                                                              \
        settle();                                                                                  \
        size_t n_seen = seen;                                                                      \
        reads(a, n_seen, CODE);                                                                    \
        reads(b, n_seen, CODE);                                                                    \
        return __real_##name arguments;                                                            \
    }
COMPARES(strcmp, (const char *a, const char *b), (a, b), same(a, b, SIZE_MAX, true))
COMPARES(strncmp, (const char *a, const char *b, size_t n), (a, b, n), same(a, b, n, true))
COMPARES(strcasecmp, (const char *a, const char *b), (a, b), alike(a, b, SIZE_MAX))
COMPARES(strncasecmp, (const char *a, const char *b, size_t n), (a, b, n), alike(a, b, n))

WRAP(char *, strchr, (const char *s, int c))
{
    settle();
    char *found = __real_strchr(s, c);
    up_to(s, found, found ? 0 : __real_strlen(s) + 1, CODE);
    return found;
}

WRAP(char *, strchrnul, (const char *s, int c))
{
    settle();
    char *found = __real_strchrnul(s, c);
    up_to(s, found, 0, CODE);
    return found;
}

WRAP(char *, strrchr, (const char *s, int c))
{
    settle();
    text(s, CODE);
    return __real_strrchr(s, c);
}

#define READS_TWO(result, name, parameters, arguments, a, b)                                       \
    WRAP(result, name, parameters)                                                                 \
    {                                                                                              \
        settle();                                                                                  \
        text(a, CODE);                                                                             \
        text(b, CODE);                                                                             \
        return __real_##name arguments;                                                            \
    }
READS_TWO(char *, strstr, (const char *s, const char *part), (s, part), s, part)
READS_TWO(size_t, strspn, (const char *s, const char *set), (s, set), s, set)
READS_TWO(size_t, strcspn, (const char *s, const char *set), (s, set), s, set)
READS_TWO(char *, strpbrk, (const char *s, const char *set), (s, set), s, set)

#define PARSES(result, name, parameters, arguments)                                                \
    WRAP(result, name, parameters)                                                                 \
    {                                                                                              \
        settle();                                                                                  \
        char *behind;                                                                              \
        result value = __real_##name arguments;                                                    \
        up_to(s, behind, 0, CODE);                                                                 \
        if (end) {                                                                                 \
            writes(end, sizeof *end, CODE);                                                        \
            *end = behind;                                                                         \
        }                                                                                          \
        return value;                                                                              \
    }
PARSES(long, strtol, (const char *s, char **end, int base), (s, &behind, base))
PARSES(unsigned long, strtoul, (const char *s, char **end, int base), (s, &behind, base))
PARSES(long long, strtoll, (const char *s, char **end, int base), (s, &behind, base))
PARSES(unsigned long long, strtoull, (const char *s, char **end, int base), (s, &behind, base))
PARSES(double, strtod, (const char *s, char **end), (s, &behind))
PARSES(intmax_t, strtoimax, (const char *s, char **end, int base), (s, &behind, base))
PARSES(uintmax_t, strtoumax, (const char *s, char **end, int base), (s, &behind, base))
PARSES(long double, strtold, (const char *s, char **end), (s, &behind))
PARSES(float, strtof, (const char *s, char **end), (s, &behind))

#define PARSES_ALL(result, name, call)                                                             \
    WRAP(result, name, (const char *s))                                                            \
    {                                                                                              \
        settle();                                                                                  \
        char *behind;                                                                              \
        result value = (result)call;                                                               \
        up_to(s, behind, 0, CODE);                                                                 \
        return value;                                                                              \
    }
PARSES_ALL(int, atoi, __real_strtol(s, &behind, 10))
PARSES_ALL(long, atol, __real_strtol(s, &behind, 10))
PARSES_ALL(long long, atoll, __real_strtoll(s, &behind, 10))
PARSES_ALL(double, atof, __real_strtod(s, &behind))

/* ---- texts that are written */

#define COPIES(name, parameters, arguments, from, read, to, written)                               \
    WRAP(char *, name, parameters)                                                                 \
    {                                                                                              \
        settle();                                                                                  \
        size_t n_read = read, n_written = written;                                                 \
        reads(from, n_read, CODE);                                                                 \
        writes(to, n_written, CODE);                                                               \
        return __real_##name arguments;                                                            \
    }
COPIES(strcpy, (char *to, const char *from), (to, from), from, __real_strlen(from) + 1, to, n_read)
COPIES(stpcpy, (char *to, const char *from), (to, from), from, __real_strlen(from) + 1, to, n_read)
COPIES(strncpy, (char *to, const char *from, size_t n), (to, from, n), from,
       least(__real_strnlen(from, n) + 1, n), to, n)
COPIES(stpncpy, (char *to, const char *from, size_t n), (to, from, n), from,
       least(__real_strnlen(from, n) + 1, n), to, n)

WRAP(char *, strcat, (char *to, const char *from))
{
    settle();
    size_t n = __real_strlen(from) + 1;
    text(to, CODE);
    reads(from, n, CODE);
    writes(to + __real_strlen(to), n, CODE);
    return __real_strcat(to, from);
}

WRAP(char *, strncat, (char *to, const char *from, size_t most))
{
    settle();
    size_t n = __real_strnlen(from, most);
    text(to, CODE);
    reads(from, least(n + 1, most), CODE);
    writes(to + __real_strlen(to), n + 1, CODE);
    return __real_strncat(to, from, most);
}

static char *copied(const char *from, size_t n, const void *pc)
{
    char *to = ft_rt_given(ft_rt_libc()->malloc(n + 1), n + 1, pc);
    if (!to) return NULL;
    writes(to, n + 1, pc);
    __real_memcpy(to, from, n);
    to[n] = 0;
    return to;
}

WRAP(char *, strdup, (const char *s))
{
    settle();
    text(s, CODE);
    return copied(s, __real_strlen(s), CODE);
}

WRAP(char *, strndup, (const char *s, size_t most))
{
    settle();
    size_t n = __real_strnlen(s, most);
    reads(s, least(n + 1, most), CODE);
    return copied(s, n, CODE);
}

WRAP(char *, realpath, (const char *path, char *to))
{
    char found[PATH_MAX];
    settle();
    text(path, CODE);
    if (!__real_realpath(path, found)) return NULL;
    size_t n = __real_strlen(found);
    if (!to) return copied(found, n, CODE);
    writes(to, n + 1, CODE);
    return __real_memcpy(to, found, n + 1);
}

/* ---- streams */

WRAP(size_t, fwrite, (const void *from, size_t size, size_t n, FILE *to))
{
    settle();
    if (is_programs()) ft_rt_read_outgoing(from, size * n, CODE);
    return __real_fwrite(from, size, n, to);
}

WRAP(int, fputs, (const char *s, FILE *to))
{
    settle();
    text(s, CODE);
    return __real_fputs(s, to);
}

WRAP(int, puts, (const char *s))
{
    settle();
    text(s, CODE);
    return __real_puts(s);
}

/* ---- sorting: the comparisons are the program's own, the moves are not seen one by one */

typedef int (*comparison)(const void *, const void *);

WRAP(void, qsort, (void *base, size_t n, size_t size, comparison compare))
{
    settle();
    reads(base, n * size, CODE);
    __real_qsort(base, n, size, compare);
    writes(base, n * size, CODE);
}
