/* The conversions of a scanf format are parsed here a second time: the C library does not tell
 * which of its arguments it wrote. */
#include "files/scan.h"

#include <string.h>
#include <wchar.h>

typedef enum width { PLAIN, CHAR, SHORT, LONG, LONGER } width;

static width width_of(const char **at)
{
    const char *c = *at;
    width w = PLAIN;
    if (*c == 'h') {
        w = c[1] == 'h' ? CHAR : SHORT;
        *at += w == CHAR ? 2 : 1;
    } else if (*c && strchr("ljztLq", *c)) {
        w = c[0] == 'L' || c[0] == 'q' || (c[0] == 'l' && c[1] == 'l') ? LONGER : LONG;
        *at += c[0] == 'l' && c[1] == 'l' ? 2 : 1;
    }
    return w;
}

static size_t integer(width w)
{
    static const size_t sizes[] = {sizeof(int), sizeof(char), sizeof(short), sizeof(long),
                                   sizeof(long long)};
    return sizes[w];
}

static size_t real(width w)
{
    return w == LONGER ? sizeof(long double) : w == LONG ? sizeof(double) : sizeof(float);
}

static const char *behind_set(const char *at)
{
    if (*at == '^') at++;
    if (*at == ']') at++;
    while (*at && *at != ']') at++;
    return *at ? at + 1 : at;
}

static size_t number(const char **at)
{
    size_t n = 0;
    while (**at >= '0' && **at <= '9') n = n * 10 + (size_t)(*(*at)++ - '0');
    return n;
}

/* The directive behind the '%'; true: it has a result. */
static bool directive(ft_scan *s, ft_scanned *r)
{
    bool drops = *s->at == '*';
    if (drops) s->at++;
    size_t most = number(&s->at);
    if (*s->at == 'm') r->allocated = true, s->at++;
    width w = width_of(&s->at);
    char c = *s->at;
    if (!c) return false;
    s->at++;
    if (c == '[') s->at = behind_set(s->at);
    if (c == '%' || drops) return false;
    r->wide = c == 'S' || c == 'C' || (w >= LONG && strchr("sc[", c));
    r->counts = c != 'n';
    if (strchr("diouxXn", c))
        r->size = integer(w);
    else if (strchr("aAeEfFgG", c))
        r->size = real(w);
    else if (c == 'p')
        r->size = sizeof(void *);
    else if (c == 'c' || c == 'C')
        r->size = (most ? most : 1) * (r->wide ? sizeof(wchar_t) : 1);
    return true;
}

static bool is_numbered(const char *at)
{
    number(&at);
    return *at == '$';
}

bool ft_scan_next(ft_scan *s, ft_scanned *r)
{
    for (;;) {
        while (*s->at && *s->at != '%') s->at++;
        if (!*s->at++) return false;
        if (is_numbered(s->at)) return false;
        *r = (ft_scanned){.memory = NULL};
        if (!directive(s, r)) continue;
        r->memory = va_arg(s->arguments, void *);
        return true;
    }
}
