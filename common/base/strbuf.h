/* A growable string or byte buffer.
 *
 * text[0 .. len) is the content, and a NUL byte follows it once something was added. Users read the
 * fields; they change them through these functions alone. */
#ifndef FT_BASE_STRBUF_H
#define FT_BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Embedded: zero-initialise, then ft_strbuf_release. `text` is NULL while nothing was added. */
typedef struct ft_strbuf {
    char *text;
    size_t len, cap;
} ft_strbuf;

void ft_strbuf_release(ft_strbuf *buf);
void ft_strbuf_clear(ft_strbuf *buf);               /* keeps the memory */
void ft_strbuf_cut(ft_strbuf *buf, size_t length);  /* keeps the first `length` bytes */
void ft_strbuf_drop(ft_strbuf *buf, size_t length); /* removes the first `length` bytes */
/* `text` may not point into the buffer, which moves when it grows. */
void ft_strbuf_add(ft_strbuf *buf, const char *text, size_t length);
void ft_strbuf_puts(ft_strbuf *buf, const char *text);
void ft_strbuf_printf(ft_strbuf *buf, const char *format, ...) FT_PRINTF(2, 3);
const char *ft_strbuf_text(const ft_strbuf *buf); /* "" while empty */
char *ft_strbuf_take(ft_strbuf *buf);             /* heap text, caller frees; buf is empty after */

/* The invariant, in constant time: the NUL byte is where `len` says, within the capacity. */
bool ft_strbuf_is_sound(const ft_strbuf *buf);

#endif
