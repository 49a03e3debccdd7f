/* Strings, characters, memory and numbers. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "foretell.h"

/* ---- memory ---- */

void *malloc(size_t size)
{
    return __foretell_alloc(size);
}

void free(void *memory)
{
    __foretell_free(memory);
}

void *calloc(size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) return NULL;
    return __foretell_alloc(n * size); /* bytes that were never written are 0 */
}

void *realloc(void *memory, size_t size)
{
    if (!memory) return __foretell_alloc(size);
    if (!size) {
        __foretell_free(memory);
        return NULL;
    }
    size_t old = __foretell_size(memory);
    unsigned char *made = __foretell_alloc(size);
    memcpy(made, memory, old < size ? old : size);
    __foretell_free(memory);
    return made;
}

void *reallocarray(void *memory, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) return NULL;
    return realloc(memory, n * size);
}

/* Objects of a thread come one behind the other, at multiples of 16 and with a gap between them. So
 * an object of the right size, which is freed again, leads to an address that is more aligned. */
void *__foretell_alloc_aligned(size_t align, size_t size)
{
    enum { STEP = 16 };
    if (align <= STEP) return __foretell_alloc(size);
    char *first = __foretell_alloc(1), *second = __foretell_alloc(1);
    uintptr_t behind_third = (uintptr_t)second + 2 * (size_t)(second - first);
    char *third = __foretell_alloc(1 + (-behind_third & (align - 1)));
    void *made = __foretell_alloc(size);
    __foretell_free(first);
    __foretell_free(second);
    __foretell_free(third);
    if ((uintptr_t)made & (align - 1)) __assert_fail("memory is not aligned", "", 0, "");
    return made;
}

void *aligned_alloc(size_t align, size_t size)
{
    return __foretell_alloc_aligned(align, size);
}

void *memalign(size_t align, size_t size)
{
    return __foretell_alloc_aligned(align, size);
}

int posix_memalign(void **to, size_t align, size_t size)
{
    if (!align || align % sizeof(void *) || (align & (align - 1))) return EINVAL;
    *to = __foretell_alloc_aligned(align, size);
    return 0;
}

size_t malloc_usable_size(void *memory)
{
    return memory ? __foretell_size(memory) : 0;
}

void bzero(void *memory, size_t n)
{
    __foretell_fill(memory, 0, n);
}

void explicit_bzero(void *memory, size_t n)
{
    __foretell_fill(memory, 0, n);
}

void bcopy(const void *from, void *to, size_t n)
{
    __foretell_move(to, from, n);
}

void *memcpy(void *to, const void *from, size_t n)
{
    __foretell_copy(to, from, n);
    return to;
}

void *memmove(void *to, const void *from, size_t n)
{
    __foretell_move(to, from, n);
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    __foretell_fill(to, (unsigned char)byte, n);
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

void *memchr(const void *of, int byte, size_t n)
{
    const unsigned char *x = of;
    for (size_t i = 0; i < n; i++)
        if (x[i] == (unsigned char)byte) return (void *)&x[i];
    return NULL;
}

/* ---- strings ---- */

size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

size_t strnlen(const char *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n]) n++;
    return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (x != y) return x < y ? -1 : 1;
        if (!x) return 0;
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strcpy(char *to, const char *from)
{
    size_t i = 0;
    do to[i] = from[i];
    while (from[i++]);
    return to;
}

char *strncpy(char *to, const char *from, size_t n)
{
    size_t i = 0;
    for (; i < n && from[i]; i++) to[i] = from[i];
    for (; i < n; i++) to[i] = '\0';
    return to;
}

char *strcat(char *to, const char *from)
{
    strcpy(to + strlen(to), from);
    return to;
}

char *strncat(char *to, const char *from, size_t n)
{
    size_t length = strlen(to), i = 0;
    for (; i < n && from[i]; i++) to[length + i] = from[i];
    to[length + i] = '\0';
    return to;
}

char *stpcpy(char *to, const char *from)
{
    return strcpy(to, from) + strlen(from);
}

/* How many characters from the start on are in the set, or are not. */
static size_t span(const char *s, const char *set, int in)
{
    size_t n = 0;
    while (s[n] && (strchr(set, s[n]) != NULL) == in) n++;
    return n;
}

size_t strspn(const char *s, const char *set)
{
    return span(s, set, 1);
}

size_t strcspn(const char *s, const char *set)
{
    return span(s, set, 0);
}

char *strpbrk(const char *s, const char *set)
{
    s += strcspn(s, set);
    return *s ? (char *)s : NULL;
}

char *strtok_r(char *s, const char *set, char **rest)
{
    if (!s) s = *rest;
    s += strspn(s, set);
    char *end = s + strcspn(s, set);
    *rest = *end ? end + 1 : end;
    if (s == end) return NULL;
    *end = '\0';
    return s;
}

char *strtok(char *s, const char *set)
{
    static char *rest;
    return strtok_r(s, set, &rest);
}

int strncasecmp(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int x = tolower((unsigned char)a[i]), y = tolower((unsigned char)b[i]);
        if (x != y || !x) return x - y;
    }
    return 0;
}

int strcasecmp(const char *a, const char *b)
{
    return strncasecmp(a, b, SIZE_MAX);
}

char *strchr(const char *s, int c)
{
    for (;; s++) {
        if (*s == (char)c) return (char *)s;
        if (!*s) return NULL;
    }
}

char *strrchr(const char *s, int c)
{
    const char *found = NULL;
    for (;; s++) {
        if (*s == (char)c) found = s;
        if (!*s) return (char *)found;
    }
}

char *strstr(const char *s, const char *part)
{
    size_t n = strlen(part);
    for (; strncmp(s, part, n) != 0; s++)
        if (!*s) return NULL;
    return (char *)s;
}

/* The locale is C, also the environment's. */
char *strchrnul(const char *s, int c)
{
    while (*s && *s != (char)c) s++;
    return (char *)s;
}

char *index(const char *s, int c)
{
    return strchr(s, c);
}

char *rindex(const char *s, int c)
{
    return strrchr(s, c);
}

char *strcasestr(const char *s, const char *part)
{
    size_t n = strlen(part);
    for (; strncasecmp(s, part, n) != 0; s++)
        if (!*s) return NULL;
    return (char *)s;
}

void *mempcpy(void *to, const void *from, size_t n)
{
    return (char *)memcpy(to, from, n) + n;
}

void *memccpy(void *restrict to, const void *restrict from, int byte, size_t n)
{
    const unsigned char *end = memchr(from, byte, n);
    size_t copied = end ? (size_t)(end - (const unsigned char *)from) + 1 : n;
    memcpy(to, from, copied);
    return end ? (char *)to + copied : NULL;
}

void *memrchr(const void *of, int byte, size_t n)
{
    const unsigned char *s = of;
    while (n--)
        if (s[n] == (unsigned char)byte) return (void *)(s + n);
    return NULL;
}

int bcmp(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n);
}

int strcoll(const char *a, const char *b)
{
    return strcmp(a, b);
}

char *setlocale(int category, const char *locale)
{
    static char c[] = "C";
    (void)category;
    int known = !locale || !*locale || !strcmp(locale, "C") || !strcmp(locale, "POSIX");
    return known ? c : NULL;
}

char *strdup(const char *s)
{
    char *made = __foretell_alloc(strlen(s) + 1);
    return strcpy(made, s);
}

char *strndup(const char *s, size_t most)
{
    size_t n = strnlen(s, most);
    char *made = __foretell_alloc(n + 1);
    memcpy(made, s, n);
    made[n] = '\0';
    return made;
}

char *strsep(char **at, const char *ends)
{
    char *token = *at;
    if (!token) return NULL;
    char *end = token + span(token, ends, 0);
    *at = *end ? end + 1 : NULL;
    *end = '\0';
    return token;
}

/* ---- characters of the "C" locale ---- */

/* Programs call the functions of <ctype.h> (compile.c leaves out its macros): comparisons, for an
 * unknown character goes through a table place by place. Without branches. */
#define BETWEEN(c, first, last) ((unsigned)(c) - (first) <= (last) - (first) + 0U)
#define IS_UPPER(c)             BETWEEN(c, 'A', 'Z')
#define IS_LOWER(c)             BETWEEN(c, 'a', 'z')
#define IS_ALPHA(c)             (IS_UPPER(c) | IS_LOWER(c))
#define IS_DIGIT(c)             BETWEEN(c, '0', '9')
#define IS_XDIGIT(c)            (IS_DIGIT(c) | BETWEEN(c, 'A', 'F') | BETWEEN(c, 'a', 'f'))
#define IS_ALNUM(c)             (IS_ALPHA(c) | IS_DIGIT(c))
#define IS_GRAPH(c)             BETWEEN(c, ' ' + 1, 126)
#define IS_PRINT(c)             BETWEEN(c, ' ', 126)
#define IS_PUNCT(c)             (IS_GRAPH(c) & !IS_ALNUM(c))
#define IS_BLANK(c)             (((c) == ' ') | ((c) == '\t'))
#define IS_SPACE(c)             (((c) == ' ') | BETWEEN(c, '\t', '\r'))
#define IS_CNTRL(c)             (BETWEEN(c, 0, ' ' - 1) | ((c) == 127))

#undef isupper
#undef islower
#undef isalpha
#undef isdigit
#undef isxdigit
#undef isalnum
#undef isgraph
#undef isprint
#undef ispunct
#undef isblank
#undef isspace
#undef iscntrl
#define CLASS(name, is, bit)                                                                       \
    int name(int c)                                                                                \
    {                                                                                              \
        return is(c) ? bit : 0;                                                                    \
    }
CLASS(isupper, IS_UPPER, _ISupper)
CLASS(islower, IS_LOWER, _ISlower)
CLASS(isalpha, IS_ALPHA, _ISalpha)
CLASS(isdigit, IS_DIGIT, _ISdigit)
CLASS(isxdigit, IS_XDIGIT, _ISxdigit)
CLASS(isalnum, IS_ALNUM, _ISalnum)
CLASS(isgraph, IS_GRAPH, _ISgraph)
CLASS(isprint, IS_PRINT, _ISprint)
CLASS(ispunct, IS_PUNCT, _ISpunct)
CLASS(isblank, IS_BLANK, _ISblank)
CLASS(isspace, IS_SPACE, _ISspace)
CLASS(iscntrl, IS_CNTRL, _IScntrl)

int tolower(int c)
{
    return c + (IS_UPPER(c) ? 'a' - 'A' : 0);
}

int toupper(int c)
{
    return c - (IS_LOWER(c) ? 'a' - 'A' : 0);
}

/* The bits by which programs that were compiled elsewhere look characters up, for -128 to 255: a
 * constant, so that nothing has to be synchronised. */
#define BITS(c)                                                                                    \
    (_ISupper * IS_UPPER(c) | _ISlower * IS_LOWER(c) | _ISalpha * IS_ALPHA(c) |                    \
     _ISdigit * IS_DIGIT(c) | _ISxdigit * IS_XDIGIT(c) | _ISalnum * IS_ALNUM(c) |                  \
     _ISgraph * IS_GRAPH(c) | _ISprint * IS_PRINT(c) | _ISpunct * IS_PUNCT(c) |                    \
     _ISblank * IS_BLANK(c) | _ISspace * IS_SPACE(c) | _IScntrl * IS_CNTRL(c))
#define FOUR(c)    BITS(c), BITS((c) + 1), BITS((c) + 2), BITS((c) + 3)
#define SIXTEEN(c) FOUR(c), FOUR((c) + 4), FOUR((c) + 8), FOUR((c) + 12)
#define MANY(c)    SIXTEEN(c), SIXTEEN((c) + 16), SIXTEEN((c) + 32), SIXTEEN((c) + 48)
static const unsigned short classes[384] = {MANY(-128), MANY(-64), MANY(0),
                                            MANY(64),   MANY(128), MANY(192)};
static const unsigned short *middle = classes + 128;

const unsigned short **__ctype_b_loc(void)
{
    return &middle;
}

/* ---- numbers ---- */

int ffs(int n)
{
    for (int i = 0; i < 32; i++)
        if ((unsigned)n >> i & 1) return i + 1;
    return 0;
}

int abs(int n)
{
    return n < 0 ? -n : n;
}

long labs(long n)
{
    return n < 0 ? -n : n;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)tolower(c);
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

/* The number without its sign; *over: it has more than 64 bits. That is computed without a branch,
 * so that text that inputs decide makes no more paths. */
static unsigned long magnitude(const char **s, int base, int *negative, int *over)
{
    const char *t = *s;
    unsigned long value = 0;
    while (*t == ' ' || (*t >= '\t' && *t <= '\r')) t++;
    *negative = *t == '-';
    if (*t == '-' || *t == '+') t++;
    int prefix = t[0] == '0' && tolower(t[1]) == 'x' && digit_of(t[2]) < 16;
    if ((base == 0 || base == 16) && prefix) t += 2, base = 16;
    if (base == 0) base = t[0] == '0' ? 8 : 10;
    unsigned long by = (unsigned long)base, most = ULONG_MAX / by, rest = ULONG_MAX % by;
    const char *first = t;
    for (*over = 0; digit_of(*t) < base; t++) {
        unsigned long digit = (unsigned long)digit_of(*t);
        *over |= (value > most) | ((value == most) & (digit > rest));
        value = value * by + digit;
    }
    if (t != first) *s = t;
    return value;
}

unsigned long strtoul(const char *s, char **end, int base)
{
    int negative, over;
    const char *at = s;
    unsigned long value = magnitude(&at, base, &negative, &over);
    if (end) *end = (char *)at;
    if (over) errno = ERANGE;
    if (over) return ULONG_MAX;
    return negative ? 0 - value : value;
}

long strtol(const char *s, char **end, int base)
{
    int negative, over;
    const char *at = s;
    unsigned long value = magnitude(&at, base, &negative, &over);
    if (end) *end = (char *)at;
    if (over || value > (unsigned long)LONG_MAX + (unsigned long)negative) {
        errno = ERANGE;
        return negative ? LONG_MIN : LONG_MAX;
    }
    return (long)(negative ? 0 - value : value);
}

unsigned long long strtoull(const char *s, char **end, int base)
{
    return strtoul(s, end, base);
}

long long strtoll(const char *s, char **end, int base)
{
    return strtol(s, end, base);
}

long long atoll(const char *s)
{
    return strtol(s, NULL, 10);
}

long long llabs(long long n)
{
    return n < 0 ? -n : n;
}

intmax_t imaxabs(intmax_t n)
{
    return n < 0 ? -n : n;
}

lldiv_t lldiv(long long n, long long by)
{
    return (lldiv_t){n / by, n % by};
}

div_t div(int n, int by)
{
    return (div_t){n / by, n % by};
}

ldiv_t ldiv(long n, long by)
{
    return (ldiv_t){n / by, n % by};
}

int atoi(const char *s)
{
    return (int)strtol(s, NULL, 10);
}

long atol(const char *s)
{
    return strtol(s, NULL, 10);
}

static void exchange(unsigned char *a, unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char kept = b[i];
        b[i] = a[i];
        a[i] = kept;
    }
}

/* Insertion, which is as stable as glibc's merge sort. */
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    unsigned char *all = base;
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k && compare(all + (k - 1) * size, all + k * size) > 0; k--)
            exchange(all + (k - 1) * size, all + k * size, size);
}

void qsort_r(void *base, size_t n, size_t size, int (*compare)(const void *, const void *, void *),
             void *argument)
{
    unsigned char *all = base;
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k && compare(all + (k - 1) * size, all + k * size, argument) > 0; k--)
            exchange(all + (k - 1) * size, all + k * size, size);
}

void *bsearch(const void *key, const void *base, size_t n, size_t size,
              int (*compare)(const void *, const void *))
{
    size_t from = 0, to = n;
    while (from < to) {
        size_t middle_one = from + (to - from) / 2;
        const unsigned char *at = (const unsigned char *)base + middle_one * size;
        int order = compare(key, at);
        if (!order) return (void *)at;
        if (order < 0)
            to = middle_one;
        else
            from = middle_one + 1;
    }
    return NULL;
}

void exit(int code)
{
    __foretell_exit(code);
}

void _exit(int code)
{
    __foretell_exit(code);
}

void _Exit(int code)
{
    __foretell_exit(code);
}

char *program_arguments[2] = {"program", NULL};

/* ---- functions that are called at the end, the last one first */

enum { HANDLERS = 64 };
static struct handler {
    void (*plain)(void), (*function)(void *);
    void *argument;
} handlers[HANDLERS];
static int n_handlers;
void *__dso_handle;

static int add_handler(struct handler added)
{
    __foretell_atomic_begin();
    int full = n_handlers == HANDLERS;
    if (!full) handlers[n_handlers++] = added;
    __foretell_atomic_end();
    return full;
}

int atexit(void (*function)(void))
{
    return add_handler((struct handler){function, NULL, NULL});
}

int __cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    (void)library;
    return add_handler((struct handler){NULL, function, argument});
}

/* Takes the place of `exit` where one of the two above is used, or a thread-local object is to be
 * destroyed. */
void exit_with_handlers(int code)
{
    __foretell_end_objects();
    for (;;) {
        __foretell_atomic_begin();
        struct handler last = {NULL, NULL, NULL};
        if (n_handlers) last = handlers[--n_handlers];
        __foretell_atomic_end();
        if (last.plain)
            last.plain();
        else if (last.function)
            last.function(last.argument);
        else
            __foretell_exit(code);
    }
}
