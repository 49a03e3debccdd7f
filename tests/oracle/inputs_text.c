#include "oracle/inputs_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

uint32_t ft_inputs_draw(inputs_text *to, uint32_t n)
{
    to->random = to->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((to->random >> 33) % n);
}

void ft_inputs_put(inputs_text *to, const char *format, ...)
{
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    FT_REQUIRE(length >= 0 && (size_t)length < sizeof line);
    ft_strbuf_printf(&to->p->text, "    %s\n", line);
}

void ft_inputs_label(inputs_text *to, uint32_t n)
{
    ft_strbuf_printf(&to->p->text, "  l%" PRIu32 ":\n", n);
}

uint32_t ft_inputs_fresh(inputs_text *to)
{
    return ++to->next;
}
