#include "bare.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

static bool begins(ft_asm_text t, const char *word)
{
    return t.n >= strlen(word) && !memcmp(t.at, word, strlen(word));
}

static bool has(ft_asm_text t, const char *part)
{
    return memmem(t.at, t.n, part, strlen(part)) != NULL;
}

/* Without the comment behind it. */
static ft_asm_text trimmed(ft_asm_text t)
{
    const char *comment = t.n ? memchr(t.at, '#', t.n) : NULL;
    if (comment) t.n = (size_t)(comment - t.at);
    for (; t.n && isspace((unsigned char)*t.at); t.at++) t.n--;
    while (t.n && isspace((unsigned char)t.at[t.n - 1])) t.n--;
    return t;
}

/* One that others may come to: those of debug information and exceptions mark places alone. */
static bool is_label(ft_asm_text t)
{
    static const char *const marks[] = {".LV", ".LB", ".LE", ".Ltmp"};
    bool label = t.n && t.at[t.n - 1] == ':';
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) label &= !begins(t, marks[i]);
    return label;
}

static bool branches(ft_asm_text t)
{
    return is_label(t) || begins(t, "j") || begins(t, "ret");
}

/* Of functions that are built for --symbolic all accesses have calls of that. */
static bool is_symbolic(ft_asm_text call)
{
    return has(call, "ft_sym_");
}

/* How many accesses the call is for. */
static unsigned calls_for(ft_asm_text call)
{
    static const char *const kinds[] = {"read", "write"};
    static const char hook[] = "__tsan_";
    const char *at = memmem(call.at, call.n, hook, strlen(hook));
    ft_asm_text t = {at + strlen(hook), (size_t)(call.at + call.n - at) - strlen(hook)};
    if (begins(t, "unaligned_")) t = (ft_asm_text){t.at + 10, t.n - 10};
    if (has(t, "_range")) return UINT_MAX / 2;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!begins(t, kinds[i])) continue;
        t = (ft_asm_text){t.at + strlen(kinds[i]), t.n - strlen(kinds[i])};
        return begins(t, "16") ? 2 : 1;
    }
    return 0;
}

static bool copies(ft_asm_text t)
{
    return begins(t, "rep movsq") || begins(t, "rep;movsq");
}

/* Of the frame, or of what is never written: tables that the compiler or the linker made. */
static bool is_private(ft_asm_text memory)
{
    return has(memory, "(%rsp") || has(memory, "(%rbp") || has(memory, "@") || begins(memory, ".L");
}

/* A push of eight bytes of memory. */
static ft_asm_instruction pushed(ft_asm_text t)
{
    ft_asm_instruction i = {.access = FT_ASM_NONE};
    ft_asm_text memory = trimmed((ft_asm_text){t.at + 5, t.n - 5});
    if (memory.n && *memory.at != '%' && *memory.at != '$')
        i = (ft_asm_instruction){.access = FT_ASM_READ, .size = 8, .memory = memory};
    return i;
}

/* What the line does to memory that others may have. */
static bool accesses(ft_asm_text t, ft_asm_instruction *i)
{
    *i = begins(t, "pushq") ? pushed(t) : ft_asm_understand(t);
    return i->access != FT_ASM_NONE && !is_private(i->memory);
}

void ft_asm_bare_see(ft_asm_bare *b, ft_asm_text line)
{
    ft_asm_text t = trimmed(line);
    if (begins(t, ".type")) b->hooked = false;
    ft_asm_instruction i;
    bool enters = begins(t, "call") && has(t, "__tsan_func_entry");
    if (enters) b->hooked = true;
    if (begins(t, "call") && is_symbolic(t)) b->hooked = false;
    if (branches(t)) {
        b->behind = false;
        b->expected = 0;
    } else if (begins(t, "call") && (enters || !has(t, "__tsan_"))) {
        b->behind = !enters;
        b->expected = 0;
    } else if (begins(t, "call")) {
        b->behind = false;
        if (b->expected < UINT_MAX / 2) b->expected += calls_for(t);
    } else if (b->expected && t.n && *t.at != '.' && accesses(t, &i)) {
        b->expected--;
    }
}

/* Is the next call, nothing that branches before it, another function's, and do more accesses come
 * before it than are expected? Which of them is the bare one nobody can tell: they may have changed
 * places. */
static bool is_before_call(ft_asm_text rest, unsigned expected)
{
    while (rest.n) {
        const char *end = memchr(rest.at, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.at) + 1 : rest.n;
        ft_asm_text t = trimmed((ft_asm_text){rest.at, n});
        ft_asm_instruction i;
        if (begins(t, "call")) return !expected && !has(t, "__tsan_") && !is_symbolic(t);
        if (branches(t) || begins(t, ".size")) return false;
        if (expected && t.n && *t.at != '.' && accesses(t, &i)) expected--;
        rest = (ft_asm_text){rest.at + n, rest.n - n};
    }
    return false;
}

bool ft_asm_bare_is(const ft_asm_bare *b, ft_asm_text line, ft_asm_text rest, ft_asm_instruction *i)
{
    ft_asm_text t = trimmed(line);
    *i = (ft_asm_instruction){.access = FT_ASM_NONE};
    if (!b->hooked) return false;
    if (copies(t)) return !b->expected && (b->behind || is_before_call(rest, 0));
    if (!begins(t, "pushq") && !begins(t, "mov")) return false;
    if (!accesses(t, i)) return false;
    return i->access == FT_ASM_READ ? is_before_call(rest, b->expected) : b->behind && !b->expected;
}
