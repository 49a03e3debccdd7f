#include "base/strbuf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory.h"

bool ft_strbuf_is_sound(const ft_strbuf *buf)
{
    if (!buf->text) return buf->len == 0 && buf->cap == 0;
    return buf->len < buf->cap && buf->text[buf->len] == 0;
}

void ft_strbuf_release(ft_strbuf *buf)
{
    FT_REQUIRE(buf);
    assert(ft_strbuf_is_sound(buf));
    free(buf->text);
    *buf = (ft_strbuf){0};
}

void ft_strbuf_clear(ft_strbuf *buf)
{
    ft_strbuf_cut(buf, 0);
}

void ft_strbuf_cut(ft_strbuf *buf, size_t length)
{
    FT_REQUIRE(length <= buf->len);
    if (!buf->text) return;
    buf->len = length;
    buf->text[length] = 0;
}

void ft_strbuf_drop(ft_strbuf *buf, size_t length)
{
    FT_REQUIRE(length <= buf->len);
    if (length == 0) return;
    memmove(buf->text, buf->text + length, buf->len - length);
    ft_strbuf_cut(buf, buf->len - length);
}

/* Room for `extra` bytes and the NUL. */
static void reserve(ft_strbuf *buf, size_t extra)
{
    assert(extra < SIZE_MAX - buf->len);
    buf->text = ft_vec_grow(buf->text, &buf->cap, buf->len + extra + 1, 1);
    assert(buf->len + extra < buf->cap);
}

void ft_strbuf_add(ft_strbuf *buf, const char *text, size_t length)
{
    FT_REQUIRE(buf && (text || length == 0));
    assert(!buf->text || text < buf->text || text >= buf->text + buf->cap);
    reserve(buf, length);
    if (length) memcpy(buf->text + buf->len, text, length);
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
    assert(length >= 0); /* negative: the format itself is wrong */
    if (length > 0) {
        reserve(buf, (size_t)length);
        vsnprintf(buf->text + buf->len, (size_t)length + 1, format, again);
        buf->len += (size_t)length;
    }
    va_end(again);
}

const char *ft_strbuf_text(const ft_strbuf *buf)
{
    assert(ft_strbuf_is_sound(buf));
    return buf->text ? buf->text : "";
}

char *ft_strbuf_take(ft_strbuf *buf)
{
    assert(ft_strbuf_is_sound(buf));
    char *text = buf->text ? buf->text : ft_strdup("");
    *buf = (ft_strbuf){0};
    return text;
}
