/* A growable string, always NUL-terminated once something was added. */
#ifndef FT_BASE_STRBUF_H
#define FT_BASE_STRBUF_H

#include <stddef.h>

#include "base/status.h"

/* Embedded: zero-initialise, then ft_strbuf_release. `text` is NULL while nothing was added. */
typedef struct ft_strbuf {
    char *text;
    size_t len, cap;
} ft_strbuf;

void ft_strbuf_release(ft_strbuf *buf);
void ft_strbuf_clear(ft_strbuf *buf); /* keeps the memory */
void ft_strbuf_add(ft_strbuf *buf, const char *text, size_t length);
void ft_strbuf_puts(ft_strbuf *buf, const char *text);
void ft_strbuf_printf(ft_strbuf *buf, const char *format, ...) FT_PRINTF(2, 3);
const char *ft_strbuf_text(const ft_strbuf *buf); /* "" while empty */
char *ft_strbuf_take(ft_strbuf *buf);             /* heap text, caller frees; buf is empty after */

#endif
