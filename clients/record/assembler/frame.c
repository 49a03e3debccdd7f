#include "frame.h"

#include "text.h"

/* How a line uses addresses in the frame. */
typedef enum use {
    NOTHING,
    TAKES, /* puts one into rdi */
    MOVES, /* adds to what is in rdi */
    ASKS,  /* a call of the sanitizer for a read or write at rdi */
    LEAVES /* may have it go elsewhere, or the text is not what clang writes */
} use;

static bool is_access_call(ft_asm_text t)
{
    static const char hook[] = "__tsan_";
    const char *at = memmem(t.at, t.n, hook, strlen(hook));
    if (!at) return false;
    at += strlen(hook);
    ft_asm_text name = {at, (size_t)(t.at + t.n - at)};
    if (ft_asm_begins(name, "unaligned_")) name = (ft_asm_text){at + 10, name.n - 10};
    bool access = ft_asm_begins(name, "read") || ft_asm_begins(name, "write");
    return access && !ft_asm_has(name, "range") && !ft_asm_has(name, "pc");
}

/* A load of an address: leaq -8(%rbp), %rdi. */
static use use_of_address(ft_asm_text t, bool in_rdi)
{
    bool frame = ft_asm_has(t, "(%rbp");
    if (ft_asm_has(t, "(%rsp") || ft_asm_has(t, "(%rbx")) return LEAVES;
    if (!frame) return in_rdi && ft_asm_has(t, "%rdi") ? LEAVES : NOTHING;
    if (ft_asm_ends(t, "%rsp")) return NOTHING; /* back to where the frame ends */
    return ft_asm_ends(t, "%rdi") && !ft_asm_has(t, "(%rbp,") ? TAKES : LEAVES;
}

/* How long the instruction is with its first operand: up to a comma that stands in no brackets. */
static size_t first_operand_end(ft_asm_text t)
{
    bool inside = false;
    for (size_t i = 0; i < t.n; i++) {
        if (t.at[i] == ',' && !inside) return i;
        inside = t.at[i] == '(' || (inside && t.at[i] != ')');
    }
    return t.n;
}

/* The frame's registers as they are, but for those that begin and end a function. */
static bool copies_base(ft_asm_text t)
{
    static const char *const usual[] = {"pushq\t%rbp", "popq\t%rbp", "movq\t%rsp, %rbp",
                                        "movq\t%rbp, %rsp"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (t.n == strlen(usual[i]) && ft_asm_begins(t, usual[i])) return false;
    ft_asm_text source = {t.at, first_operand_end(t)};
    return ft_asm_ends(source, "%rbp") || ft_asm_ends(source, "%rsp");
}

static bool is_flow(ft_asm_text t)
{
    return (ft_asm_ends(t, ":") && !ft_asm_begins(t, ".Ltmp")) || ft_asm_begins(t, "j") ||
           ft_asm_begins(t, "ret");
}

static use use_of(ft_asm_text t, bool in_rdi)
{
    if (!t.n || (*t.at == '.' && !ft_asm_ends(t, ":"))) return NOTHING;
    if (ft_asm_begins(t, "lea")) return use_of_address(t, in_rdi);
    if (ft_asm_begins(t, "call")) return is_access_call(t) ? ASKS : in_rdi ? LEAVES : NOTHING;
    if (copies_base(t)) return LEAVES;
    if (!in_rdi) return NOTHING;
    if (is_flow(t)) return LEAVES;
    bool adds = ft_asm_begins(t, "add") || ft_asm_begins(t, "sub");
    if (adds && ft_asm_ends(t, ", %rdi")) return MOVES;
    return ft_asm_has(t, "%rdi") || ft_asm_has(t, "%edi") ? LEAVES : NOTHING;
}

static bool follow(bool in_rdi, use does)
{
    return does == TAKES || (in_rdi && does != ASKS);
}

void ft_asm_frame_begin(ft_asm_frame *frame, ft_asm_text text)
{
    bool in_rdi = false;
    *frame = (ft_asm_frame){.is_private = false};
    while (text.n) {
        const char *end = memchr(text.at, '\n', text.n);
        size_t n = end ? (size_t)(end - text.at) + 1 : text.n;
        if (ft_asm_begins(text, "\t#APP") || ft_asm_begins(text, "#APP")) return;
        ft_asm_text t = ft_asm_bare_line((ft_asm_text){text.at, n});
        if (ft_asm_begins(t, ".size")) {
            frame->is_private = true;
            return;
        }
        use does = use_of(t, in_rdi);
        if (does == LEAVES || (does == TAKES && in_rdi)) return;
        in_rdi = follow(in_rdi, does);
        text = (ft_asm_text){text.at + n, text.n - n};
    }
}

bool ft_asm_frame_drops(ft_asm_frame *frame, ft_asm_text line)
{
    use does = use_of(ft_asm_bare_line(line), frame->in_rdi);
    bool drops = frame->is_private && frame->in_rdi && does == ASKS;
    frame->in_rdi = follow(frame->in_rdi, does);
    return drops;
}
