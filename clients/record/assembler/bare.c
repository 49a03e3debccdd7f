#include "bare.h"

#include <limits.h>

#include "base/contract.h"
#include "text.h"

static bool branches(ft_asm_text t)
{
    return ft_asm_is_label(t) || ft_asm_begins(t, "j") || ft_asm_begins(t, "ret");
}

/* Of functions that are built for --symbolic all accesses have calls of that. */
static bool is_symbolic(ft_asm_text call)
{
    return ft_asm_has(call, "ft_sym_");
}

/* How many accesses the call is for. */
static unsigned calls_for(ft_asm_text call)
{
    static const char *const kinds[] = {"read", "write"};
    static const char hook[] = "__tsan_";
    const char *at = memmem(call.at, call.n, hook, strlen(hook));
    FT_REQUIRE(at); /* a call of the sanitizer */
    ft_asm_text t = {at + strlen(hook), (size_t)(call.at + call.n - at) - strlen(hook)};
    if (ft_asm_begins(t, "unaligned_")) t = (ft_asm_text){t.at + 10, t.n - 10};
    if (ft_asm_has(t, "_range")) return UINT_MAX / 2;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!ft_asm_begins(t, kinds[i])) continue;
        t = (ft_asm_text){t.at + strlen(kinds[i]), t.n - strlen(kinds[i])};
        return ft_asm_begins(t, "16") ? 2 : 1;
    }
    return 0;
}

static bool copies(ft_asm_text t)
{
    return ft_asm_begins(t, "rep movsq") || ft_asm_begins(t, "rep;movsq");
}

/* Of the frame, or of what is never written: tables that the compiler or the linker made. */
static bool is_private(ft_asm_text memory)
{
    return ft_asm_has(memory, "(%rsp") || ft_asm_has(memory, "(%rbp") || ft_asm_has(memory, "@") ||
           ft_asm_begins(memory, ".L");
}

/* A push of eight bytes of memory. */
static ft_asm_instruction pushed(ft_asm_text t)
{
    ft_asm_instruction i = {.access = FT_ASM_NONE};
    ft_asm_text memory = ft_asm_bare_line((ft_asm_text){t.at + 5, t.n - 5});
    if (memory.n && *memory.at != '%' && *memory.at != '$')
        i = (ft_asm_instruction){.access = FT_ASM_READ, .size = 8, .memory = memory};
    return i;
}

/* Does the line access memory that other threads may use? */
static bool accesses(ft_asm_text t, ft_asm_instruction *i)
{
    *i = ft_asm_begins(t, "pushq") ? pushed(t) : ft_asm_understand(t);
    return i->access != FT_ASM_NONE && !is_private(i->memory);
}

void ft_asm_bare_see(ft_asm_bare *b, ft_asm_text line)
{
    ft_asm_text t = ft_asm_bare_line(line);
    if (ft_asm_begins(t, ".type")) b->hooked = false;
    ft_asm_instruction i;
    bool enters = ft_asm_begins(t, "call") && ft_asm_has(t, "__tsan_func_entry");
    if (enters) b->hooked = true;
    if (ft_asm_begins(t, "call") && is_symbolic(t)) b->hooked = false;
    if (branches(t)) {
        b->behind = false;
        b->expected = 0;
    } else if (ft_asm_begins(t, "call") && (enters || !ft_asm_has(t, "__tsan_"))) {
        b->behind = !enters;
        b->expected = 0;
    } else if (ft_asm_begins(t, "call")) {
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
        ft_asm_text t = ft_asm_bare_line((ft_asm_text){rest.at, n});
        ft_asm_instruction i;
        if (ft_asm_begins(t, "call"))
            return !expected && !ft_asm_has(t, "__tsan_") && !is_symbolic(t);
        if (branches(t) || ft_asm_begins(t, ".size")) return false;
        if (expected && t.n && *t.at != '.' && accesses(t, &i)) expected--;
        rest = (ft_asm_text){rest.at + n, rest.n - n};
    }
    return false;
}

bool ft_asm_bare_is(const ft_asm_bare *b, ft_asm_text line, ft_asm_text rest, ft_asm_instruction *i)
{
    ft_asm_text t = ft_asm_bare_line(line);
    *i = (ft_asm_instruction){.access = FT_ASM_NONE};
    if (!b->hooked) return false;
    if (copies(t)) return !b->expected && (b->behind || is_before_call(rest, 0));
    if (!ft_asm_begins(t, "pushq") && !ft_asm_begins(t, "mov")) return false;
    if (!accesses(t, i)) return false;
    return i->access == FT_ASM_READ ? is_before_call(rest, b->expected) : b->behind && !b->expected;
}
