#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void ft_strbuf_release(ft_strbuf *buf)
{
    free(buf->text);
    *buf = (ft_strbuf){0};
}

void ft_strbuf_clear(ft_strbuf *buf)
{
    buf->len = 0;
    if (buf->text) buf->text[0] = 0;
}

static void reserve(ft_strbuf *buf, size_t extra)
{
    buf->text = ft_vec_grow(buf->text, &buf->cap, buf->len + extra + 1, 1);
}

void ft_strbuf_add(ft_strbuf *buf, const char *text, size_t length)
{
    reserve(buf, length);
    memcpy(buf->text + buf->len, text, length);
    buf->len += length;
    buf->text[buf->len] = 0;
}

void ft_strbuf_puts(ft_strbuf *buf, const char *text)
{
    ft_strbuf_add(buf, text, strlen(text));
}

void ft_strbuf_printf(ft_strbuf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length > 0) {
        reserve(buf, (size_t)length);
        vsnprintf(buf->text + buf->len, (size_t)length + 1, format, again);
        buf->len += (size_t)length;
    }
    va_end(again);
}

const char *ft_strbuf_text(const ft_strbuf *buf)
{
    return buf->text ? buf->text : "";
}

char *ft_strbuf_take(ft_strbuf *buf)
{
    char *text = buf->text ? buf->text : ft_strdup("");
    *buf = (ft_strbuf){0};
    return text;
}
