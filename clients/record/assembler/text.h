/* Looks at lines of assembler text. */
#ifndef FT_ASSEMBLER_TEXT_H
#define FT_ASSEMBLER_TEXT_H

#include <ctype.h>
#include <string.h>

#include "instruction.h"

static inline bool ft_asm_begins(ft_asm_text t, const char *word)
{
    return t.n >= strlen(word) && !memcmp(t.at, word, strlen(word));
}

static inline bool ft_asm_has(ft_asm_text t, const char *part)
{
    return memmem(t.at, t.n, part, strlen(part)) != NULL;
}

static inline bool ft_asm_ends(ft_asm_text t, const char *word)
{
    size_t n = strlen(word);
    return t.n >= n && !memcmp(t.at + t.n - n, word, n);
}

/* A compiler's line without the comment behind it. */
static inline ft_asm_text ft_asm_bare_line(ft_asm_text t)
{
    const char *comment = t.n ? memchr(t.at, '#', t.n) : NULL;
    if (comment) t.n = (size_t)(comment - t.at);
    for (; t.n && isspace((unsigned char)*t.at); t.at++) t.n--;
    while (t.n && isspace((unsigned char)t.at[t.n - 1])) t.n--;
    return t;
}

/* One that others may come to: those of debug information and exceptions mark places alone. */
static inline bool ft_asm_is_label(ft_asm_text t)
{
    static const char *const marks[] = {".LV", ".LB", ".LE", ".Ltmp"};
    bool label = ft_asm_ends(t, ":");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) label &= !ft_asm_begins(t, marks[i]);
    return label;
}

#endif
